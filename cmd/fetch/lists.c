#include "cmd/fetch/lists.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/fetch/when.h"

#define PIECES_MAX 4000

static enum cli_status ask_piece(struct server *server, const struct rpc_call *pattern, int64_t *start, struct lists *lists)
{
	struct rpc_call *call = &lists->calls[lists->n++];

	*call = *pattern;
	return rpc_wait_from(server, call, start);
}

static enum cli_status ask_pieces(struct server *server, const struct rpc_call *pattern, int64_t *start, int64_t *end,
                                  struct lists *lists)
{
	const int64_t from = *start, to = *end;
	int64_t pieces = (to - from) / server->longest_ms + 1;
	enum cli_status status = CLI_OK;

	if (pieces > PIECES_MAX)
		return cli_usage("the window is too long for this server, which allows only short ones");
	lists->calls = calloc((size_t)pieces, sizeof(*lists->calls));
	if (!lists->calls)
		return cli_no_memory();
	for (int64_t i = 0; i < pieces && status == CLI_OK; i++) {
		*start = from + i * server->longest_ms;
		*end = to - *start >= server->longest_ms ? *start + server->longest_ms - 1 : to;
		status = ask_piece(server, pattern, start, lists);
	}
	*start = from;
	*end = to;
	return status;
}

enum cli_status lists_ask(struct server *server, const struct rpc_call *pattern, int64_t *start, int64_t *end,
                          struct lists *lists)
{
	enum cli_status status = CLI_OK;

	*lists = (struct lists){.calls = calloc(1, sizeof(*lists->calls))};
	if (!lists->calls)
		return cli_no_memory();
	if (!server->longest_ms) {
		status = ask_piece(server, pattern, start, lists);
		if (status != CLI_FAILED || !when_limit(lists->calls[0].why, &server->longest_ms)) {
			rpc_report(&lists->calls[0]);
			return status;
		}
	}
	lists_release(lists);
	status = ask_pieces(server, pattern, start, end, lists);
	if (status != CLI_OK && lists->n > 0)
		rpc_report(&lists->calls[lists->n - 1]);
	return status;
}

void lists_release(struct lists *lists)
{
	for (size_t i = 0; i < lists->n; i++)
		rpc_release(&lists->calls[i]);
	free(lists->calls);
	*lists = (struct lists){NULL, 0};
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in one answer of either kind. */
static char **names_of(const struct rpc_call *call, size_t *n)
{
	if (call->response == &pyro__label_values_response__descriptor) {
		const Pyro__LabelValuesResponse *values = (const void *)call->answer;
		*n = values->n_names;
		return values->names;
	}
	const Pyro__LabelNamesResponse *names = (const void *)call->answer;
	*n = names->n_names;
	return names->names;
}

char **lists_names(const struct lists *lists, size_t *n)
{
	size_t all = 0, kept = 0, some;

	for (size_t i = 0; i < lists->n; i++) {
		names_of(&lists->calls[i], &some);
		all += some;
	}
	char **names = malloc((all + 1) * sizeof(*names));
	if (!names) {
		cli_no_memory();
		return NULL;
	}
	all = 0;
	for (size_t i = 0; i < lists->n; i++) {
		char **from = names_of(&lists->calls[i], &some);
		for (size_t k = 0; k < some; k++)
			names[all++] = from[k];
	}
	qsort(names, all, sizeof(*names), compare_names);
	for (size_t i = 0; i < all; i++)
		if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0)
			names[kept++] = names[i];
	*n = kept;
	return names;
}
