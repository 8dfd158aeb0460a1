#include "libpprof/callgraph_private.h"

#include <stdlib.h>
#include <string.h>

/* Looking for redundant edges searches the graph once an edge. Steps of all searches together; what
 * is left when they are used up stays drawn. */
#define SEARCH_STEPS 50000000

/* In-edges by node, in the order of edges: those of node t are at[first[t] … first[t + 1]). */
struct incoming {
	uint32_t *first, *at, *queue;
	unsigned char *reached, *gone;
	uint64_t steps_left;
};

/* Whether from is reached, walking edges backwards from the edge's callee, without the edge. */
static bool is_redundant(const struct pp_callgraph *graph, struct incoming *in, uint32_t edge)
{
	uint32_t head = 0, tail = 0;

	memset(in->reached, 0, graph->nodes_n);
	in->queue[tail++] = graph->edges[edge].to;
	in->reached[graph->edges[edge].to] = 1;
	while (head < tail) {
		const uint32_t node = in->queue[head++];
		for (uint32_t i = in->first[node]; i < in->first[node + 1]; i++) {
			const uint32_t caller = graph->edges[in->at[i]].from;
			if (in->steps_left > 0)
				in->steps_left--;
			if (in->at[i] == edge || in->gone[in->at[i]] || in->reached[caller])
				continue;
			if (caller == graph->edges[edge].from)
				return true;
			in->reached[caller] = 1;
			in->queue[tail++] = caller;
		}
	}
	return false;
}

/* Residual edges that repeat a path that is drawn anyway go, the lightest first; nothing that is
 * heavier than a direct call of the same node goes. As the reference. */
static void mark_redundant(struct pp_callgraph *graph, struct incoming *in)
{
	for (uint32_t node = graph->nodes_n; node > 0; node--) {
		for (uint32_t i = in->first[node]; i > in->first[node - 1]; i--) {
			const uint32_t edge = in->at[i - 1];
			if (!graph->edges[edge].residual)
				break;
			if (in->steps_left < graph->nodes_n)
				return;
			in->steps_left -= graph->nodes_n;
			in->gone[edge] = is_redundant(graph, in, edge);
		}
	}
}

int pp_callgraph_remove_redundant(struct pp_callgraph *graph, struct pp_error *err)
{
	const size_t nodes = (size_t)graph->nodes_n + 2, edges = (size_t)graph->edges_n + 1;
	struct incoming in = {.steps_left = SEARCH_STEPS};
	uint32_t n = 0;
	int status = -1;

	in.first = calloc(nodes, sizeof *in.first);
	in.at = calloc(edges, sizeof *in.at);
	in.queue = calloc(nodes, sizeof *in.queue);
	in.reached = calloc(nodes, 1);
	in.gone = calloc(edges, 1);
	if (!in.first || !in.at || !in.queue || !in.reached || !in.gone) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a call graph");
		goto done;
	}
	/* A counting sort: first[t + 1] runs from the start to the end of t's edges. */
	for (uint32_t i = 0; i < graph->edges_n; i++)
		in.first[graph->edges[i].to + 2]++;
	for (uint32_t t = 2; t <= graph->nodes_n; t++)
		in.first[t] += in.first[t - 1];
	for (uint32_t i = 0; i < graph->edges_n; i++)
		in.at[in.first[graph->edges[i].to + 1]++] = i;
	mark_redundant(graph, &in);
	for (uint32_t i = 0; i < graph->edges_n; i++)
		if (!in.gone[i])
			graph->edges[n++] = graph->edges[i];
	graph->edges_n = n;
	status = 0;
done:
	free(in.first);
	free(in.at);
	free(in.queue);
	free(in.reached);
	free(in.gone);
	return status;
}
