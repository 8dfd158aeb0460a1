#include "libpprof/callgraph_private.h"

#include <stdlib.h>
#include <string.h>

/* A path: a frame at the end of another path, or at the root. */
struct path {
	uint32_t frame, parent; /* PP_NONE: at the root */
	bool inlined;           /* in every stack */
};

struct pp_graph_tree {
	struct path *paths; /* callers before callees */
	uint32_t paths_n, capacity;
	uint32_t *slots; /* hash of (parent, frame): index into paths plus 1, or 0 */
	size_t slots_n;  /* a power of 2 */
	uint32_t *leaf[2]; /* by stack of the side: its whole path; PP_NONE: has no value */
};

/* Profiles are hostile: inlined calls make a tree much larger than its file. This counts all that is held for a
 * path, up to the finished graph. */
enum { PATH_BYTES = 512 };

static uint32_t paths_max(void)
{
	const struct pp_limits limits = PP_LIMITS_DEFAULT;

	return (uint32_t)(limits.model_bytes / PATH_BYTES);
}

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a call tree");
}

static size_t slot_of(const struct pp_graph_tree *tree, uint32_t parent, uint32_t frame)
{
	size_t at = (size_t)(pp_graph_hash(parent, frame) >> 20) & (tree->slots_n - 1);

	while (tree->slots[at] != 0) {
		const struct path *path = &tree->paths[tree->slots[at] - 1];
		if (path->parent == parent && path->frame == frame)
			break;
		at = (at + 1) & (tree->slots_n - 1);
	}
	return at;
}

/* Room for one more path, with the hash at most half full. */
static int grow(struct pp_graph_tree *tree, struct pp_error *err)
{
	if (tree->paths_n < tree->capacity)
		return 0;
	if (tree->paths_n >= paths_max())
		return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "a call tree of more than %u paths", (unsigned)paths_max());
	const uint32_t capacity = tree->capacity > 0 ? tree->capacity * 2 : 512;
	struct path *paths = realloc(tree->paths, capacity * sizeof *paths);
	if (!paths)
		return no_memory(err);
	tree->paths = paths;
	uint32_t *slots = calloc((size_t)capacity * 2, sizeof *slots);
	if (!slots)
		return no_memory(err);
	free(tree->slots);
	tree->slots = slots;
	tree->slots_n = (size_t)capacity * 2;
	tree->capacity = capacity;
	for (uint32_t i = 0; i < tree->paths_n; i++)
		slots[slot_of(tree, paths[i].parent, paths[i].frame)] = i + 1;
	return 0;
}

/* Goes from a path to one that is a frame longer. */
static int extend(struct pp_graph_tree *tree, uint32_t *path, uint32_t frame, bool inlined, struct pp_error *err)
{
	if (grow(tree, err) != 0)
		return -1;
	const size_t at = slot_of(tree, *path, frame);
	if (tree->slots[at] == 0) {
		tree->paths[tree->paths_n++] = (struct path){frame, *path, true};
		tree->slots[at] = tree->paths_n;
	}
	*path = tree->slots[at] - 1;
	tree->paths[*path].inlined &= inlined;
	return 0;
}

static int add_stack(struct pp_graph_tree *tree, const struct pp_graph_side *side, uint32_t index, uint32_t *leaf,
                     struct pp_error *err)
{
	const struct pp_frame_map *map = side->map;
	const struct pp_stack *stack = &side->profile->stacks[index];

	*leaf = PP_NONE;
	if (stack->n == 0)
		return extend(tree, leaf, map->no_stack, false, err);
	for (uint32_t k = stack->n; k > 0; k--) {
		const uint32_t first = map->first[stack->locations[k - 1]];
		const uint32_t end = map->first[stack->locations[k - 1] + 1];
		for (uint32_t f = end; f > first; f--)
			if (extend(tree, leaf, map->frame[f - 1], f != end, err) != 0)
				return -1;
	}
	return 0;
}

static int add_side(struct pp_graph_maker *maker, size_t s, struct pp_error *err)
{
	const uint32_t stacks_n = maker->sides[s].profile->stacks_n;
	uint32_t *leaf = malloc(((size_t)stacks_n + 1) * sizeof *leaf);

	if (!leaf)
		return no_memory(err);
	maker->tree->leaf[s] = leaf;
	for (uint32_t i = 0; i < stacks_n; i++) {
		leaf[i] = PP_NONE;
		if (maker->used[s][i] && add_stack(maker->tree, &maker->sides[s], i, &leaf[i], err) != 0)
			return -1;
	}
	return 0;
}

int pp_graph_tree_make(struct pp_graph_maker *maker, struct pp_error *err)
{
	maker->tree = calloc(1, sizeof *maker->tree);
	if (!maker->tree)
		return no_memory(err);
	for (size_t s = 0; s < maker->sides_n; s++)
		if (add_side(maker, s, err) != 0)
			return -1;
	maker->places_n = maker->tree->paths_n;
	return 0;
}

void pp_graph_tree_free(struct pp_graph_tree *tree)
{
	if (!tree)
		return;
	free(tree->paths);
	free(tree->slots);
	free(tree->leaf[0]);
	free(tree->leaf[1]);
	free(tree);
}

uint32_t pp_graph_tree_frame(const struct pp_graph_tree *tree, uint32_t path)
{
	return tree->paths[path].frame;
}

uint32_t pp_graph_tree_parent(const struct pp_graph_tree *tree, uint32_t path)
{
	return tree->paths[path].parent;
}

uint32_t pp_graph_tree_leaf(const struct pp_graph_tree *tree, uint32_t stack)
{
	return tree->leaf[0][stack] == PP_NONE && tree->leaf[1] ? tree->leaf[1][stack] : tree->leaf[0][stack];
}

int pp_graph_tree_sort(const struct pp_graph_tree *tree, uint32_t *order, struct pp_error *err)
{
	const uint32_t n = tree->paths_n;
	uint32_t *child = malloc(((size_t)n + 1) * sizeof *child); /* by path: the first; of n: the first root */
	uint32_t *next = malloc(((size_t)n + 1) * sizeof *next);
	uint32_t done = 0;
	int status = 0;

	if (!child || !next) {
		status = no_memory(err);
		goto done;
	}
	memset(child, 0xff, ((size_t)n + 1) * sizeof *child);
	for (uint32_t i = n; i > 0; i--) {
		const uint32_t path = order[i - 1], parent = tree->paths[path].parent;
		uint32_t *head = &child[parent == PP_NONE ? n : parent];
		next[path] = *head;
		*head = path;
	}
	for (uint32_t path = child[n]; path != PP_NONE;) {
		order[done++] = path;
		if (child[path] != PP_NONE) {
			path = child[path];
			continue;
		}
		while (path != PP_NONE && next[path] == PP_NONE)
			path = tree->paths[path].parent;
		path = path == PP_NONE ? PP_NONE : next[path];
	}
done:
	free(child);
	free(next);
	return status;
}

/* No sum of loads can overflow: see load_side. */
void pp_graph_tree_roll(struct pp_graph_maker *maker, size_t s)
{
	const struct pp_graph_tree *tree = maker->tree;

	for (uint32_t i = 0; i < maker->sides[s].profile->stacks_n; i++)
		if (tree->leaf[s][i] != PP_NONE)
			maker->all[tree->leaf[s][i]].flat[s] += maker->load[s][i];
	for (uint32_t p = tree->paths_n; p > 0; p--) {
		struct pp_node *node = &maker->all[p - 1];
		node->cum[s] += node->flat[s];
		if (tree->paths[p - 1].parent != PP_NONE)
			maker->all[tree->paths[p - 1].parent].cum[s] += node->cum[s];
	}
}

/* The nearest kept path above a path, and how it is called from there. */
struct above {
	uint32_t path; /* PP_NONE: none */
	bool residual, inlined;
};

int pp_graph_tree_edges(struct pp_graph_maker *maker, struct pp_error *err)
{
	const struct pp_graph_tree *tree = maker->tree;
	struct above *above = malloc(((size_t)tree->paths_n + 1) * sizeof *above);

	if (!maker->edges)
		maker->edges = malloc(((size_t)tree->paths_n + 1) * sizeof *maker->edges);
	if (!above || !maker->edges) {
		free(above);
		return no_memory(err);
	}
	for (uint32_t p = 0; p < tree->paths_n; p++) {
		const struct path *path = &tree->paths[p];
		const struct pp_node *node = &maker->all[p];
		above[p] = (struct above){path->parent, false, path->inlined};
		if (path->parent != PP_NONE && !maker->kept[path->parent]) {
			above[p] = above[path->parent];
			above[p].residual = true;
			above[p].inlined &= path->inlined;
		}
		if (maker->kept[p] && above[p].path != PP_NONE)
			maker->edges[maker->edges_n++] = (struct pp_graph_edge){
				{above[p].path, p, {node->cum[0], node->cum[1]}, above[p].residual, above[p].inlined}, 0};
	}
	free(above);
	return 0;
}
