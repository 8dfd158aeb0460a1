#include "cmd/fetch/flametree.h"

#include <stdlib.h>
#include <string.h>

#define QUAD 4 /* offset, total, self, name */

struct node {
	uint32_t frame, parent, depth;
	int64_t self, total;
};

struct tree {
	struct pp_arena *arena;
	struct node *nodes; /* [0] is the root; a parent before its children */
	size_t nodes_n, nodes_room;
	struct pp_intern *children; /* (parent, frame) → node - 1 */
	uint32_t depth;             /* of the deepest */
};

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the flame graph");
}

static uint32_t add_node(struct tree *tree, uint32_t parent, uint32_t frame)
{
	void *nodes = tree->nodes;

	if (tree->nodes_n >= PP_NONE - 1 ||
	    pp_arena_reserve(tree->arena, &nodes, &tree->nodes_room, tree->nodes_n + 1, sizeof(*tree->nodes)) != 0)
		return PP_NONE;
	tree->nodes = nodes;
	uint32_t index = (uint32_t)tree->nodes_n++, depth = index ? tree->nodes[parent].depth + 1 : 0;
	tree->nodes[index] = (struct node){.frame = frame, .parent = parent, .depth = depth};
	if (depth > tree->depth)
		tree->depth = depth;
	return index;
}

static uint32_t child_of(struct tree *tree, uint32_t parent, uint32_t frame)
{
	const uint32_t key[2] = {parent, frame};
	bool is_new;
	uint32_t index = pp_intern_put(tree->children, key, sizeof(key), &is_new);

	if (index == PP_NONE || !is_new)
		return index == PP_NONE ? PP_NONE : index + 1;
	return add_node(tree, parent, frame);
}

static int add_sample(struct tree *tree, const struct pp_profile *profile, const struct pp_frame_map *map, uint32_t sample,
                      int64_t value, struct pp_error *err)
{
	const struct pp_stack *stack = pp_sample_stack(profile, sample);
	uint32_t at = 0;

	for (uint32_t i = stack->n; i-- > 0 && at != PP_NONE;) {
		uint32_t location = stack->locations[i];
		for (uint32_t k = map->first[location + 1]; k-- > map->first[location] && at != PP_NONE;)
			at = child_of(tree, at, map->frame[k]);
	}
	if (at == PP_NONE)
		return no_memory(err);
	if (!pp_add_i64(tree->nodes[at].self, value, &tree->nodes[at].self))
		return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "a sum does not fit 64 bits");
	return 0;
}

/* Children come after their parents, so one pass from the end adds all up. */
static int add_up(struct tree *tree, struct pp_error *err)
{
	for (size_t i = tree->nodes_n; i-- > 0;) {
		struct node *node = &tree->nodes[i], *parent = &tree->nodes[node->parent];
		if (!pp_add_i64(node->total, node->self, &node->total) ||
		    (i > 0 && !pp_add_i64(parent->total, node->total, &parent->total)))
			return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "a sum does not fit 64 bits");
	}
	return 0;
}

/* ---- the levels ---- */

/* Nodes of a level by their parents' places, then by name. qsort has no context: the keys are in the elements. */
struct key {
	uint32_t node, parent_place, label_rank;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->parent_place != y->parent_place)
		return x->parent_place < y->parent_place ? -1 : 1;
	return (x->label_rank > y->label_rank) - (x->label_rank < y->label_rank);
}

struct ranked {
	struct pp_str label;
	uint32_t frame;
};

static int compare_labels(const void *a, const void *b)
{
	return pp_str_cmp(((const struct ranked *)a)->label, ((const struct ranked *)b)->label);
}

/* rank[frame]: the place of its label among all. */
static uint32_t *rank_frames(const struct pp_frames *frames, struct pp_arena *arena)
{
	uint32_t n = pp_frames_count(frames);
	struct ranked *sorted = pp_arena_alloc(arena, n * sizeof(*sorted));
	uint32_t *rank = pp_arena_alloc(arena, n * sizeof(*rank));

	if (!sorted || !rank)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = (struct ranked){pp_frames_label(frames, i), i};
	if (n > 0)
		qsort(sorted, n, sizeof(*sorted), compare_labels);
	for (uint32_t i = 0; i < n; i++)
		rank[sorted[i].frame] = i;
	return rank;
}

/* All nodes, level by level, each from left to right: keys[first[d] … first[d + 1]). */
static struct key *arrange(const struct tree *tree, const uint32_t *rank, size_t *first, struct pp_arena *arena)
{
	struct key *keys = pp_arena_alloc(arena, tree->nodes_n * sizeof(*keys));
	uint32_t *place = pp_arena_alloc(arena, tree->nodes_n * sizeof(*place));
	size_t *next = pp_arena_alloc(arena, ((size_t)tree->depth + 2) * sizeof(*next));

	if (!keys || !place || !next)
		return NULL;
	for (uint32_t d = 0; d < tree->depth + 2; d++)
		first[d] = 0;
	for (size_t i = 0; i < tree->nodes_n; i++)
		first[tree->nodes[i].depth + 1]++;
	for (uint32_t d = 0; d <= tree->depth; d++)
		first[d + 1] += first[d];
	memcpy(next, first, ((size_t)tree->depth + 2) * sizeof(*next));
	for (size_t i = 0; i < tree->nodes_n; i++)
		keys[next[tree->nodes[i].depth]++].node = (uint32_t)i;
	for (uint32_t d = 0; d <= tree->depth; d++) {
		for (size_t i = first[d]; i < first[d + 1]; i++) {
			const struct node *node = &tree->nodes[keys[i].node];
			keys[i].parent_place = d ? place[node->parent] : 0;
			keys[i].label_rank = d ? rank[node->frame] : 0;
		}
		qsort(keys + first[d], first[d + 1] - first[d], sizeof(*keys), compare_keys);
		for (size_t i = first[d]; i < first[d + 1]; i++)
			place[keys[i].node] = (uint32_t)(i - first[d]);
	}
	return keys;
}

/* Names are listed once, in the order of first use; name 0 is the root's. */
static int64_t name_of(Pyro__FlameGraph *graph, struct pp_intern *names, struct pp_str label, struct pp_arena *arena)
{
	bool is_new;
	uint32_t index = pp_intern_put(names, label.ptr, label.len, &is_new);

	if (index == PP_NONE)
		return -1;
	if (is_new && !(graph->names[graph->n_names++] = pp_arena_copy(arena, label.ptr, label.len)))
		return -1;
	return (int64_t)index;
}

static int write_level(const struct tree *tree, const struct pp_frames *frames, const struct key *keys, size_t n, int64_t *left,
                       struct pp_intern *names, Pyro__FlameGraph *graph, Pyro__Level *level, struct pp_error *err)
{
	int64_t edge = 0; /* the right end of the node before */

	pyro__level__init(level);
	level->values = pp_arena_alloc(tree->arena, n * QUAD * sizeof(*level->values));
	if (!level->values)
		return no_memory(err);
	for (size_t i = 0; i < n; i++) {
		const struct node *node = &tree->nodes[keys[i].node];
		bool is_root = keys[i].node == 0;
		/* Beside the sibling before it, else behind what the parent is itself: as servers do it. */
		bool beside = i > 0 && tree->nodes[keys[i - 1].node].parent == node->parent;
		int64_t at = is_root ? 0 : beside ? edge : left[node->parent] + tree->nodes[node->parent].self;
		int64_t name = name_of(graph, names, is_root ? PP_LIT("total") : pp_frames_label(frames, node->frame), tree->arena);
		if (name < 0)
			return no_memory(err);
		const int64_t quad[QUAD] = {at - edge, node->total, node->self, name};
		memcpy(level->values + level->n_values, quad, sizeof(quad));
		level->n_values += QUAD;
		left[keys[i].node] = at;
		edge = at + node->total;
		if (node->self > graph->max_self)
			graph->max_self = node->self;
	}
	return 0;
}

static const Pyro__FlameGraph *write_graph(const struct tree *tree, const struct pp_frames *frames, struct pp_intern *names,
                                           struct pp_error *err)
{
	struct pp_arena *arena = tree->arena;
	size_t levels_n = (size_t)tree->depth + 1;
	uint32_t *rank = rank_frames(frames, arena);
	size_t *first = pp_arena_alloc(arena, (levels_n + 1) * sizeof(*first));
	int64_t *left = pp_arena_alloc(arena, tree->nodes_n * sizeof(*left));
	Pyro__FlameGraph *graph = pp_arena_alloc(arena, sizeof(*graph));
	Pyro__Level *levels = pp_arena_alloc(arena, levels_n * sizeof(*levels));
	struct key *keys = rank && first ? arrange(tree, rank, first, arena) : NULL;

	if (!keys || !left || !graph || !levels)
		goto failed;
	pyro__flame_graph__init(graph);
	graph->total = tree->nodes[0].total;
	graph->names = pp_arena_alloc(arena, ((size_t)pp_frames_count(frames) + 1) * sizeof(*graph->names));
	graph->levels = pp_arena_alloc(arena, levels_n * sizeof(*graph->levels));
	if (!graph->names || !graph->levels)
		goto failed;
	for (size_t d = 0; d < levels_n; d++) {
		if (write_level(tree, frames, keys + first[d], first[d + 1] - first[d], left, names, graph, &levels[d], err) != 0)
			return NULL;
		graph->levels[graph->n_levels++] = &levels[d];
	}
	return graph;
failed:
	no_memory(err);
	return NULL;
}

const Pyro__FlameGraph *flametree_make(const struct pp_profile *profile, uint32_t column, struct pp_arena *arena,
                                       struct pp_error *err)
{
	struct tree tree = {.arena = arena, .children = pp_intern_new(arena)};
	struct pp_intern *names = pp_intern_new(arena);
	struct pp_frames *frames = pp_frames_new(PP_BY_FUNCTIONS, err);
	struct pp_frame_map map = {NULL, NULL, PP_NONE};
	const Pyro__FlameGraph *graph = NULL;
	int result = tree.children && names && frames ? 0 : no_memory(err);

	if (result == 0)
		result = pp_frames_map(frames, profile, &map, err);
	if (result == 0 && add_node(&tree, 0, 0) == PP_NONE)
		result = no_memory(err);
	for (uint32_t i = 0; result == 0 && i < profile->samples_n; i++)
		result = add_sample(&tree, profile, &map, i, pp_value(profile, i, column), err);
	if (result == 0)
		result = add_up(&tree, err);
	if (result == 0)
		graph = write_graph(&tree, frames, names, err);
	pp_frame_map_release(&map);
	pp_frames_free(frames);
	pp_intern_free(names);
	pp_intern_free(tree.children);
	return graph;
}
