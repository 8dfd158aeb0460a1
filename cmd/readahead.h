/* Profiles read by several threads ahead of their use, handed out in the order of their names, so that
 * no number of threads changes what a command prints. */
#ifndef READAHEAD_H
#define READAHEAD_H

#include "cmd/input.h"

#define READAHEAD_THREADS_MAX 256
#define READAHEAD_OPTION(threads)                                                                          \
	{"threads", 0, CLI_COUNT, (threads), "N", "read so many profiles at once", 1, READAHEAD_THREADS_MAX, NULL}

struct readahead;

/* Begins to read the n names, at most `threads` of them ahead; names must stay until each has been taken.
 * With one thread each is read when it is taken. NULL after saying that memory or threads are lacking. */
struct readahead *readahead_new(const struct input *input, const char *const *names, size_t n, uint64_t threads) PP_MUSTUSE;
/* Also stops what has not been taken. NULL is fine. */
void readahead_free(struct readahead *ahead);

/* The next profile, as input_load gives it. */
struct pp_profile *readahead_take(struct readahead *ahead, bool keep_all, struct pp_origin *origin,
                                  enum cli_status *status);

#endif
