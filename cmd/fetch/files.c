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

enum cli_status files_save(const char *path, const struct pp_buf *bytes, bool sync)
{
	char *partial = files_hidden(path, "partial");
	enum cli_status status = CLI_OK;

	if (!partial)
		return cli_no_memory();
	signal(SIGXFSZ, SIG_IGN); /* past the limit on file sizes, write() fails with a reason */
	int fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		status = failed("create", partial);
	} else {
		int result = write_fd(fd, bytes);
		if (result == 0 && sync)
			result = fsync(fd);
		int saved = errno;
		if (close(fd) != 0 || result != 0) {
			errno = result != 0 ? saved : errno;
			status = failed("write", partial);
		}
	}
	if (status == CLI_OK && rename(partial, path) != 0)
		status = failed("rename to", path);
	if (status != CLI_OK)
		unlink(partial);
	free(partial);
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
