#define _XOPEN_SOURCE 700 /* realpath() */

#include "cmd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLUSH_AT = 1 << 16, GZIP_LEVEL = 6 };

/* What a signal must remove: the temporary file of the one output under way. */
static char *volatile unfinished;

static void remove_and_die(int signal_number)
{
	if (unfinished)
		unlink(unfinished);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	signal(SIGXFSZ, SIG_IGN); /* past the limit on file sizes, write() fails with a reason */
	for (size_t i = 0; i < PP_COUNT(signals); i++) {
		struct sigaction old, act = {.sa_handler = remove_and_die};
		sigemptyset(&act.sa_mask);
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
	}
}

static const char *destination(const struct output *output)
{
	return output->path ? output->path : "standard output";
}

static int write_failed(const struct output *output, struct pp_error *err)
{
	return pp_fail(err, PP_EIO, PP_NO_OFFSET, output->path ? "cannot write '%s': %s" : "cannot write %s: %s",
	               destination(output), strerror(errno));
}

static enum cli_status open_failed(const struct output *output)
{
	cli_error("cannot write '%s': %s", output->path, strerror(errno));
	return CLI_SYSTEM;
}

/* Makes a temporary file beside `final` with the permissions that the finished file shall have. */
static enum cli_status open_temporary(struct output *output, const char *final, mode_t mode)
{
	static const char pattern[] = ".pprof-tools-XXXXXX";
	const char *slash = strrchr(final, '/');
	size_t folder_n = slash ? (size_t)(slash - final) + 1 : 0;
	output->temporary = malloc(folder_n + sizeof pattern);
	if (!output->temporary)
		return open_failed(output);
	memcpy(output->temporary, final, folder_n);
	memcpy(output->temporary + folder_n, pattern, sizeof pattern);
	catch_signals();
	output->fd = mkstemp(output->temporary);
	if (output->fd < 0) {
		free(output->temporary);
		output->temporary = NULL;
		return open_failed(output);
	}
	unfinished = output->temporary;
	fcntl(output->fd, F_SETFD, FD_CLOEXEC);
	if (fchmod(output->fd, mode) != 0)
		return open_failed(output);
	return CLI_OK;
}

static mode_t new_file_mode(void)
{
	mode_t mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static enum cli_status open_file(struct output *output)
{
	struct stat st;
	if (stat(output->path, &st) != 0) {
		if (errno != ENOENT)
			return open_failed(output);
		if (lstat(output->path, &st) == 0) {
			cli_error("cannot write '%s': symbolic link to nothing", output->path);
			return CLI_SYSTEM;
		}
		output->final = strdup(output->path);
		return output->final ? open_temporary(output, output->final, new_file_mode()) : open_failed(output);
	}
	if (!S_ISREG(st.st_mode)) {
		output->fd = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return output->fd < 0 ? open_failed(output) : CLI_OK;
	}
	/* A file that could not be written in place is not replaced either. */
	if (access(output->path, W_OK) != 0)
		return open_failed(output);
	output->final = realpath(output->path, NULL);
	return output->final ? open_temporary(output, output->final, st.st_mode & 0777) : open_failed(output);
}

enum cli_status output_open(struct output *output, bool binary)
{
	if (output->path && strcmp(output->path, "-") == 0)
		output->path = NULL;
	if (output->path) {
		enum cli_status status = open_file(output);
		if (status != CLI_OK)
			return output_finish(output, status);
	} else {
		output->fd = STDOUT_FILENO;
	}
	if (binary && !output->force && output_is_terminal(output))
		return output_finish(output, cli_usage("a profile is not text: use --output FILE, a pipe or --force"));
	return CLI_OK;
}

bool output_is_terminal(const struct output *output)
{
	return output->fd >= 0 && isatty(output->fd);
}

static int flush(struct output *output, struct pp_error *err)
{
	size_t done = 0;
	while (done < output->pending.n) {
		ssize_t n = write(output->fd, output->pending.bytes + done, output->pending.n - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return write_failed(output, err);
		done += (size_t)n;
	}
	output->pending.n = 0;
	return 0;
}

static int write_buffered(void *context, const void *bytes, size_t n, struct pp_error *err)
{
	struct output *output = context;
	if (pp_buf_append(&output->pending, bytes, n, err) != 0)
		return -1;
	return output->pending.n < FLUSH_AT ? 0 : flush(output, err);
}

struct pp_sink output_sink(struct output *output)
{
	return (struct pp_sink){write_buffered, output};
}

int output_profile(struct output *output, const struct pp_profile *profile, bool raw, struct pp_error *err)
{
	struct pp_sink sink = output_sink(output);
	if (raw)
		return pp_write(profile, &sink, err);
	struct pp_gz_writer *packer = pp_gz_writer_new(&sink, GZIP_LEVEL, err);
	if (!packer)
		return -1;
	struct pp_sink packed = pp_gz_writer_sink(packer);
	int result = pp_write(profile, &packed, err);
	if (result == 0)
		result = pp_gz_writer_finish(packer, err);
	pp_gz_writer_free(packer);
	return result;
}

/* Makes the result appear: all of it has reached the disk before the name does. */
static int complete(struct output *output, struct pp_error *err)
{
	if (flush(output, err) != 0)
		return -1;
	if (output->temporary && fsync(output->fd) != 0)
		return write_failed(output, err);
	int fd = output->fd;
	output->fd = -1;
	if (close(fd) != 0)
		return write_failed(output, err);
	if (output->temporary && rename(output->temporary, output->final) != 0)
		return write_failed(output, err);
	return 0;
}

static void clean_up(struct output *output, bool remove_temporary)
{
	if (output->temporary && remove_temporary)
		unlink(output->temporary);
	unfinished = NULL;
	if (output->fd > STDERR_FILENO)
		close(output->fd);
	output->fd = -1;
	free(output->temporary);
	free(output->final);
	output->temporary = output->final = NULL;
	pp_buf_release(&output->pending);
}

enum cli_status output_finish(struct output *output, enum cli_status status)
{
	struct pp_error err = PP_ERROR_INIT;
	bool done = false;
	if (output->fd >= 0 && (status == CLI_OK || status == CLI_CHANGED)) {
		done = complete(output, &err) == 0;
		if (!done)
			status = cli_report(NULL, &err);
	}
	clean_up(output, !done);
	return status;
}
