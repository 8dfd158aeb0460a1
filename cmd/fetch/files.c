#include "cmd/fetch/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum cli_status failed(const char *what, const char *path)
{
	cli_error("cannot %s '%s': %s", what, path, strerror(errno));
	return CLI_SYSTEM;
}

char *files_hidden(const char *path, const char *ending)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = strlen(path) + strlen(ending) + 3;
	char *out = malloc(n);

	if (out)
		snprintf(out, n, "%.*s.%s.%s", (int)(name - path), path, name, ending);
	return out;
}

static int write_fd(int fd, const struct pp_buf *bytes)
{
	for (size_t done = 0; done < bytes->n;) {
		ssize_t n = write(fd, bytes->bytes + done, bytes->n - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

/* Writes the file under its hidden name: *partial, malloc'ed, is NULL if there is none. */
static enum cli_status write_partial(const char *path, const struct pp_buf *bytes, bool sync, char **partial)
{
	enum cli_status status = CLI_OK;

	*partial = files_hidden(path, "partial");
	if (!*partial)
		return cli_no_memory();
	signal(SIGXFSZ, SIG_IGN); /* past the limit on file sizes, write() fails with a reason */
	int fd = open(*partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return failed("create", *partial);
	int result = write_fd(fd, bytes);
	if (result == 0 && sync)
		result = fsync(fd);
	int saved = errno;
	if (close(fd) != 0 || result != 0) {
		errno = result != 0 ? saved : errno;
		status = failed("write", *partial);
	}
	return status;
}

static enum cli_status place(const char *partial, const char *path)
{
	return rename(partial, path) == 0 ? CLI_OK : failed("rename to", path);
}

/* Removes what failure left, and frees the name. */
static void release(char *partial, enum cli_status status)
{
	if (partial && status != CLI_OK)
		unlink(partial);
	free(partial);
}

enum cli_status files_save(const char *path, const struct pp_buf *bytes, bool sync)
{
	char *partial;
	enum cli_status status = write_partial(path, bytes, sync, &partial);

	if (status == CLI_OK)
		status = place(partial, path);
	release(partial, status);
	return status;
}

enum cli_status files_save_with(const char *beside, const struct pp_buf *text, const char *path, const struct pp_buf *bytes, bool sync)
{
	char *partial[2] = {NULL, NULL};
	enum cli_status status = write_partial(beside, text, sync, &partial[0]);

	if (status == CLI_OK)
		status = write_partial(path, bytes, sync, &partial[1]);
	if (status == CLI_OK)
		status = place(partial[0], beside);
	if (status == CLI_OK && (status = place(partial[1], path)) != CLI_OK)
		unlink(beside);
	release(partial[0], status);
	release(partial[1], status);
	return status;
}

bool files_read(const char *path, struct pp_buf *bytes)
{
	struct pp_error err = PP_ERROR_INIT;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char chunk[65536];
	ssize_t n = -1;

	if (fd < 0)
		return false;
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		if (pp_buf_append(bytes, chunk, (size_t)n, &err) != 0)
			break;
	close(fd);
	return n == 0;
}

int files_hash(const struct pp_buf *bytes, char out[PP_CONTENT_HASH_N], struct pp_error *err)
{
	struct pp_content_hash *hash = pp_content_hash_new();

	if (!hash)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	pp_content_hash_add(hash, bytes->bytes, bytes->n);
	pp_content_hash_hex(hash, out);
	pp_content_hash_free(hash);
	return 0;
}
