/* A profile as the result of a command: what is added to it at last, and how it is written. */
#ifndef PROFILEOUT_H
#define PROFILEOUT_H

#include "cmd/output.h"

struct profileout {
	struct output output;
	struct cli_list comments; /* further ones */
	bool raw;                 /* without gzip */
};
#define PROFILEOUT_INIT {OUTPUT_INIT, {NULL, 0}, false}
#define PROFILEOUT_OPTIONS(out)                                                                            \
	OUTPUT_OPTIONS(&(out)->output),                                                                    \
	OUTPUT_FORCE_OPTION(&(out)->output),                                                               \
	{"raw", 0, CLI_FLAG, &(out)->raw, NULL, "write without gzip", 0, 0, NULL},                         \
	{"add-comment", 0, CLI_LIST, &(out)->comments, "TEXT", "add a comment to the profile; repeatable", 0, 0, NULL}

/* Opens the destination, writes the profile with the comments, ends the command as output_finish does. Says what
 * fails. */
enum cli_status profileout_write(struct profileout *out, const struct pp_profile *profile, const struct pp_limits *limits);
void profileout_release(struct profileout *out);

#endif
