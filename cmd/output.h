/* Where a command's result goes: stdout, or a file that appears whole or not at all. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "cmd/cli.h"

struct output {
	const char *path; /* --output; NULL is stdout */
	bool force;       /* --force: a binary may go to a terminal */
	/* private */
	int fd;
	char *temporary, *final; /* the names before and after it is complete */
	struct pp_buf pending;
};
#define OUTPUT_INIT {NULL, false, -1, NULL, NULL, PP_BUF_INIT}
#define OUTPUT_OPTIONS(out)                                                                                \
	{"output", 'o', CLI_STRING, &(out)->path, "FILE", "write to FILE, whole or not at all", 0, 0, NULL}
#define OUTPUT_FORCE_OPTION(out)                                                                           \
	{"force", 'f', CLI_FLAG, &(out)->force, NULL, "write a binary even to a terminal", 0, 0, NULL}

/* Opens the destination. binary: refused on a terminal without --force. A file is written under a
 * temporary name in its folder; an existing file keeps its permissions and a symbolic link stays one;
 * devices and pipes are written in place. */
enum cli_status output_open(struct output *output, bool binary);
/* Buffered. Its failures name the destination: cli_report(NULL, err). */
struct pp_sink output_sink(struct output *output);
/* Writes a profile to it, gzip-packed unless raw. */
int output_profile(struct output *output, const struct pp_profile *profile, bool raw, struct pp_error *err) PP_MUSTUSE;
bool output_is_terminal(const struct output *output);

/* Ends the command: on CLI_OK or CLI_CHANGED flushes, syncs and renames (a file), or closes stdout and
 * checks it; otherwise removes what was begun. Returns status, or CLI_SYSTEM if finishing failed.
 * A closed pipe ends the process silently by SIGPIPE before it comes to this. */
enum cli_status output_finish(struct output *output, enum cli_status status);

#endif
