/* Lists (types, labels, series) over windows of any length: asked for in pieces where a server allows only shorter
 * windows. What comes back twice is for the caller to see. */
#ifndef FETCH_LISTS_H
#define FETCH_LISTS_H

#include "cmd/fetch/rpc.h"

struct lists {
	struct rpc_call *calls; /* one, or one a piece; all have answers after CLI_OK */
	size_t n;
};

/* Asks and waits. start and end are the fields of the request that pattern points to. Says what fails. Release in any case. */
enum cli_status lists_ask(struct server *server, const struct rpc_call *pattern, int64_t *start, int64_t *end,
                          struct lists *lists);
void lists_release(struct lists *lists);

/* The names of all answers, sorted, each once: of LabelNames and LabelValues, which have the same fields. Borrowed
 * names in a malloc'ed array; NULL without memory, said. */
char **lists_names(const struct lists *lists, size_t *n);

#endif
