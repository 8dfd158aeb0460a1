/* Flame graphs: what a server sends unless something else is asked for. Function names only, cut to a number of
 * nodes; totals stay exact. */
#ifndef FETCH_FLAME_H
#define FETCH_FLAME_H

#include "cmd/fetch/scope.h"

struct flame {
	struct rpc_call call;
	Pyro__SelectMergeStacktracesRequest request;
	struct scope_stack stack;
	const Pyro__FlameGraph *graph; /* NULL when it is empty; lives in the call */
	const char *dot;               /* of flame_ask with DOT: the text, or NULL */
};

/* Asks and waits; format PYRO__PROFILE_FORMAT__PROFILE_FORMAT_UNSPECIFIED or _DOT. The outcome is CLI_OK, CLI_EMPTY, or a
 * failure, not yet said (rpc_report). Release in any case. */
enum cli_status flame_ask(struct server *server, const struct question *question, Pyro__ProfileFormat format, struct flame *flame);
void flame_release(struct flame *flame);

/* A scope_ask: says failures. */
enum cli_status flame_total(struct server *server, const struct question *question, int64_t *total);

/* Whether a window holds any profile: lists of types, labels and series come from stored blocks, which reach beyond
 * what was asked for. Asks for the types and for their totals, until one is not 0. CLI_OK, CLI_EMPTY, or a failure that is
 * not said. selector NULL: everything. */
enum cli_status flame_any(struct server *server, const char *selector, const struct window *window);

/* The graph as the published JSON has it, 64-bit numbers as strings; NULL without memory. */
struct pp_json *flame_json(const Pyro__FlameGraph *graph) PP_MUSTUSE;

#endif
