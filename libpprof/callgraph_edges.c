#include <stdlib.h>
#include <string.h>

#include "libpprof/callgraph_private.h"

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a call graph");
}

static size_t slot_of(const struct pp_graph_maker *maker, uint32_t from, uint32_t to)
{
	size_t at = (size_t)(pp_graph_hash(from, to) >> 20) & (maker->slots_n - 1);

	while (maker->slots[at] != 0) {
		const struct pp_edge *e = &maker->edges[maker->slots[at] - 1].e;
		if (e->from == from && e->to == to)
			break;
		at = (at + 1) & (maker->slots_n - 1);
	}
	return at;
}

/* Room for one more edge, with the hash at most half full. */
static int grow_edges(struct pp_graph_maker *maker, struct pp_error *err)
{
	if (maker->edges_n < maker->edges_capacity)
		return 0;
	const size_t capacity = maker->edges_capacity > 0 ? maker->edges_capacity * 2 : 512;
	struct pp_graph_edge *edges = realloc(maker->edges, capacity * sizeof *edges);
	if (!edges)
		return no_memory(err);
	maker->edges = edges;
	uint32_t *slots = calloc(capacity * 2, sizeof *slots);
	if (!slots)
		return no_memory(err);
	free(maker->slots);
	maker->slots = slots;
	maker->slots_n = capacity * 2;
	maker->edges_capacity = capacity;
	for (size_t i = 0; i < maker->edges_n; i++)
		slots[slot_of(maker, edges[i].e.from, edges[i].e.to)] = (uint32_t)i + 1;
	return 0;
}

struct call {
	uint32_t from, to;
	bool residual, inlined;
};

static int count_edge(struct pp_graph_maker *maker, size_t s, const struct call *call, uint64_t stamp, int64_t load,
                      struct pp_error *err)
{
	if (maker->edges_n >= UINT32_MAX - 1)
		return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "a call graph with too many edges");
	if (grow_edges(maker, err) != 0)
		return -1;
	const size_t at = slot_of(maker, call->from, call->to);
	if (maker->slots[at] == 0) {
		maker->edges[maker->edges_n++] = (struct pp_graph_edge){{call->from, call->to, {0, 0}, false, true}, 0};
		maker->slots[at] = (uint32_t)maker->edges_n;
	}
	struct pp_graph_edge *edge = &maker->edges[maker->slots[at] - 1];
	if (edge->seen == stamp)
		return 0;
	edge->seen = stamp;
	edge->e.weight[s] += load;
	edge->e.residual |= call->residual;
	edge->e.inlined &= call->inlined;
	return 0;
}

/* Walks a stack from the root to the leaf over the kept frames. */
static int walk_stack(struct pp_graph_maker *maker, size_t s, uint32_t index, struct pp_error *err)
{
	const struct pp_frame_map *map = maker->sides[s].map;
	const struct pp_stack *stack = &maker->sides[s].profile->stacks[index];
	struct call call = {PP_NONE, PP_NONE, false, false};

	for (uint32_t k = stack->n; k > 0; k--) {
		const uint32_t first = map->first[stack->locations[k - 1]];
		const uint32_t end = map->first[stack->locations[k - 1] + 1];
		for (uint32_t f = end; f > first; f--) {
			call.to = map->frame[f - 1];
			if (!maker->kept[call.to]) {
				call.residual = true;
				continue;
			}
			call.inlined = f != end;
			if (call.from != PP_NONE && call.from != call.to &&
			    count_edge(maker, s, &call, pp_graph_stamp(maker, s, index), maker->load[s][index], err) != 0)
				return -1;
			call.from = call.to;
			call.residual = false;
		}
	}
	return 0;
}

/* Sorting needs the maker, and ISO C's qsort takes no context. */
struct sorted_edge {
	uint64_t weight;
	uint32_t from_rank, to_rank;
	struct pp_graph_edge edge;
};

static int compare_edges(const void *left, const void *right)
{
	const struct sorted_edge *a = left, *b = right;
	int order = (a->weight < b->weight) - (a->weight > b->weight);

	if (order == 0)
		order = (a->from_rank > b->from_rank) - (a->from_rank < b->from_rank);
	return order != 0 ? order : (a->to_rank > b->to_rank) - (a->to_rank < b->to_rank);
}

/* Puts edges into their order and leaves out those that came to nothing. The hash is void after. */
static int sort_edges(struct pp_graph_maker *maker, struct pp_error *err)
{
	struct sorted_edge *sorted = malloc((maker->edges_n + 1) * sizeof *sorted);
	size_t n = 0;

	if (!sorted)
		return no_memory(err);
	for (size_t i = 0; i < maker->edges_n; i++) {
		const struct pp_graph_edge *edge = &maker->edges[i];
		if (edge->e.weight[0] != 0 || edge->e.weight[1] != 0 || maker->options->order != PP_GRAPH_BY_IMPORTANCE)
			sorted[n++] = (struct sorted_edge){pp_graph_magnitude(maker, edge->e.weight), maker->rank[edge->e.from],
			                                   maker->rank[edge->e.to], *edge};
	}
	qsort(sorted, n, sizeof *sorted, compare_edges);
	for (size_t i = 0; i < n; i++)
		maker->edges[i] = sorted[i].edge;
	maker->edges_n = n;
	free(sorted);
	return 0;
}

int pp_graph_collect_edges(struct pp_graph_maker *maker, struct pp_error *err)
{
	maker->edges_n = 0;
	if (maker->tree)
		return pp_graph_tree_edges(maker, err) != 0 ? -1 : sort_edges(maker, err);
	if (maker->slots)
		memset(maker->slots, 0, maker->slots_n * sizeof *maker->slots);
	for (size_t s = 0; s < maker->sides_n; s++)
		for (uint32_t i = 0; i < maker->sides[s].profile->stacks_n; i++)
			if (maker->used[s][i] && walk_stack(maker, s, i, err) != 0)
				return -1;
	for (size_t i = 0; i < maker->edges_n; i++)
		for (size_t s = 0; s < maker->sides_n; s++)
			maker->edges[i].e.weight[s] = pp_graph_scaled(maker, s, maker->edges[i].e.weight[s]);
	return sort_edges(maker, err);
}
