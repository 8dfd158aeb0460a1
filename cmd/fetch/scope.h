/* What is asked of a server, how it is narrowed down beyond its selector, and the proof that the server
 * obeyed: servers answer with everything, and 200, to what they do not know. */
#ifndef FETCH_SCOPE_H
#define FETCH_SCOPE_H

#include "cmd/fetch/rpc.h"
#include "cmd/fetch/when.h"

/* Ids and a function that nothing has: asked for, they must bring nothing. */
#define SCOPE_NO_PROFILE "00000000-0000-4000-8000-000000000000"
#define SCOPE_NO_SPAN "f1e2d3c4b5a69788"
#define SCOPE_NO_TRACE "f1e2d3c4b5a69788f1e2d3c4b5a69788"
#define SCOPE_NO_FUNCTION "pprof-fetch asks for a function that is not there"

struct scope {
	struct cli_list profiles, spans, traces; /* ids: a union */
	struct cli_list functions;               /* stacks that begin so, root first */
};
#define SCOPE_OPTIONS(s)                                                                                   \
	{"profile-id", 0, CLI_LIST, &(s)->profiles, "UUID", "only this profile; repeatable", 0, 0, NULL},    \
	{"span-id", 0, CLI_LIST, &(s)->spans, "HEX16", "only samples of this span; repeatable", 0, 0, NULL}, \
	{"trace-id", 0, CLI_LIST, &(s)->traces, "HEX32", "only samples of this trace; repeatable", 0, 0, NULL}, \
	{"stacktrace-selector", 0, CLI_LIST, &(s)->functions, "FUNCTION", "only stacks that begin so, root first; repeatable", 0, 0, NULL}

enum cli_status scope_check(const struct scope *scope); /* says mistakes */
bool scope_is_all(const struct scope *scope);
void scope_release(struct scope *scope);

/* A question for values of one type. All borrowed. */
struct question {
	const char *type, *selector; /* checked, whole */
	struct window window;
	struct scope scope;
	uint64_t max_nodes;          /* 0: as many as there are */
};

/* The functions of a scope as the message of a request, which borrows them. */
struct scope_stack {
	Pyro__StackTraceSelector selector;
	Pyro__Location *sites, **site_pointers;
};
/* NULL when no function is asked for, or without memory (*failed). Release in either case. */
Pyro__StackTraceSelector *scope_stack_make(const struct scope *scope, struct scope_stack *stack, bool *failed);
void scope_stack_release(struct scope_stack *stack);
/* A question of SelectMergeStacktraces, whole; all is borrowed from it and from stack. */
void scope_fill_stacktraces(const struct question *question, Pyro__ProfileFormat format, Pyro__SelectMergeStacktracesRequest *request,
                            struct scope_stack *stack, bool *failed);

/* Proves that an answer of scoped_total obeyed the question's scope. ask() gets the total of a question in the same way
 * as the answer was got: CLI_OK with *total, CLI_EMPTY, or a failure that it has said. For each part of the scope: the
 * same question with an id or function that nothing has instead must be empty; and the question without a
 * scope must not have less. CLI_UNSUPPORTED, said, when the server ignored it. */
typedef enum cli_status scope_ask(struct server *server, const struct question *question, int64_t *total);
enum cli_status scope_prove(struct server *server, const struct question *question, int64_t scoped_total, scope_ask *ask);

#endif
