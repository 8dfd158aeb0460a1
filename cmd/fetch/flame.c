#include "cmd/fetch/flame.h"

#include <stdio.h>
#include <string.h>

/* A DOT text that has nodes: "N1 [". */
static bool has_nodes(const char *dot)
{
	for (const char *at = dot; (at = strchr(at, 'N')); at++) {
		size_t n = strspn(at + 1, "0123456789");
		if ((at == dot || at[-1] == '\n') && n > 0 && strncmp(at + 1 + n, " [", 2) == 0)
			return true;
	}
	return false;
}

/* What is wrong with a flame graph, or NULL: rows are fours of offset, total, self and an index of a name; the first row
 * is the whole. */
static const char *fault_of(const Pyro__FlameGraph *graph)
{
	int64_t whole = 0;

	for (size_t l = 0; l < graph->n_levels; l++) {
		const Pyro__Level *level = graph->levels[l];
		if (level->n_values % 4 != 0)
			return "a row of boxes ends early";
		for (size_t i = 0; i < level->n_values; i += 4) {
			const int64_t *box = &level->values[i];
			if (box[0] < 0 || box[1] < 0 || box[2] < 0)
				return "a negative number";
			if (box[3] < 0 || (uint64_t)box[3] >= graph->n_names)
				return "a box without a name";
			if (l == 0 && !pp_add_i64(whole, box[1], &whole))
				return "a total that does not fit 64 bits";
		}
	}
	return whole == graph->total ? NULL : "a total that is not that of its boxes";
}

static enum cli_status ask(struct server *server, const struct question *question, Pyro__ProfileFormat format, struct flame *flame)
{
	Pyro__SelectMergeStacktracesRequest *request = &flame->request;
	bool failed;

	scope_fill_stacktraces(question, format, request, &flame->stack, &failed);
	flame->graph = NULL;
	flame->dot = NULL;
	flame->call = (struct rpc_call){.method = "SelectMergeStacktraces", .request = &request->base,
	                                .response = &pyro__select_merge_stacktraces_response__descriptor};
	if (failed)
		return cli_no_memory();
	enum cli_status status = rpc_wait(server, &flame->call);
	if (status != CLI_OK)
		return status;
	const Pyro__SelectMergeStacktracesResponse *answer = (const void *)flame->call.answer;
	const char *fault = answer->flamegraph ? fault_of(answer->flamegraph) : NULL;
	if (fault) {
		snprintf(flame->call.why, sizeof(flame->call.why), "the flame graph holds %s", fault);
		return flame->call.outcome = CLI_FAILED;
	}
	if (answer->flamegraph && answer->flamegraph->total != 0)
		flame->graph = answer->flamegraph;
	if (has_nodes(answer->dot))
		flame->dot = answer->dot;
	return flame->graph || flame->dot ? CLI_OK : CLI_EMPTY;
}

enum cli_status flame_ask(struct server *server, const struct question *question, Pyro__ProfileFormat format, struct flame *flame)
{
	struct question earlier = *question;
	enum cli_status status = ask(server, question, format, flame);

	if (!rpc_is_border(&flame->call))
		return status;
	/* Where the server's storages meet, the window begins a millisecond earlier, if nothing is there. */
	flame_release(flame);
	earlier.window = (struct window){question->window.from_ms - 2, question->window.from_ms - 1};
	status = ask(server, &earlier, format, flame);
	flame_release(flame);
	if (status != CLI_EMPTY)
		return ask(server, question, format, flame);
	earlier.window = (struct window){question->window.from_ms - 1, question->window.to_ms};
	return ask(server, &earlier, format, flame);
}

void flame_release(struct flame *flame)
{
	rpc_release(&flame->call);
	scope_stack_release(&flame->stack);
}

static enum cli_status total_of(struct server *server, const struct question *question, int64_t *total, bool say)
{
	struct flame flame;
	enum cli_status status = flame_ask(server, question, PYRO__PROFILE_FORMAT__PROFILE_FORMAT_UNSPECIFIED, &flame);

	*total = flame.graph ? flame.graph->total : 0;
	if (say)
		rpc_report(&flame.call);
	flame_release(&flame);
	return status;
}

enum cli_status flame_total(struct server *server, const struct question *question, int64_t *total)
{
	return total_of(server, question, total, true);
}

/* Of a window that the server allows. */
static enum cli_status any_in(struct server *server, const char *selector, const struct window *window)
{
	Pyro__ProfileTypesRequest request;
	struct rpc_call call = {.method = "ProfileTypes", .request = &request.base, .response = &pyro__profile_types_response__descriptor};
	enum cli_status found = CLI_EMPTY;

	pyro__profile_types_request__init(&request);
	request.start = window->from_ms;
	request.end = window->to_ms;
	enum cli_status status = rpc_wait_from(server, &call, &request.start);
	const Pyro__ProfileTypesResponse *answer = status == CLI_OK ? (const void *)call.answer : NULL;
	for (size_t i = 0; answer && status == CLI_OK && found == CLI_EMPTY && i < answer->n_profile_types; i++) {
		struct question question = {.type = answer->profile_types[i]->id, .selector = selector ? selector : "{}",
		                            .window = *window, .max_nodes = 1};
		int64_t total;
		found = total_of(server, &question, &total, false);
	}
	rpc_release(&call);
	return status == CLI_OK ? found : status;
}

enum cli_status flame_any(struct server *server, const char *selector, const struct window *window)
{
	struct window piece = *window;
	enum cli_status status = CLI_EMPTY;

	/* The latest piece first: there is most likely something. */
	while (status == CLI_EMPTY && piece.to_ms >= window->from_ms) {
		piece.from_ms = window->from_ms;
		if (server->longest_ms && piece.to_ms - piece.from_ms >= server->longest_ms)
			piece.from_ms = piece.to_ms - server->longest_ms + 1;
		status = any_in(server, selector, &piece);
		piece.to_ms = piece.from_ms - 1;
	}
	return status;
}

struct pp_json *flame_json(const Pyro__FlameGraph *graph)
{
	return pbjson_object(&graph->base);
}
