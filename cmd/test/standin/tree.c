#include "cmd/test/standin/stacks.h"

#include <stdlib.h>

static uint32_t add_node(struct si_tree *tree, uint32_t parent, uint32_t key)
{
	if (pp_arena_reserve(tree->arena, (void **)&tree->nodes, &tree->capacity, tree->n + 1, sizeof(tree->nodes[0])) != 0)
		return PP_NONE;
	uint32_t at = (uint32_t)tree->n++;
	tree->nodes[at] = (struct si_node){.key = key, .parent = parent, .child = PP_NONE, .next = PP_NONE};
	if (parent != PP_NONE) {
		tree->nodes[at].next = tree->nodes[parent].child;
		tree->nodes[parent].child = at;
	}
	return at;
}

bool si_tree_new(struct si_tree *tree, struct pp_arena *arena)
{
	*tree = (struct si_tree){.arena = arena};
	return add_node(tree, PP_NONE, PP_NONE) == 0;
}

bool si_tree_add(struct si_tree *tree, const uint32_t *keys, size_t n, int64_t value)
{
	uint32_t at = 0;

	tree->nodes[0].total += value;
	for (size_t i = 0; i < n; i++) {
		uint32_t child = tree->nodes[at].child;
		while (child != PP_NONE && tree->nodes[child].key != keys[i])
			child = tree->nodes[child].next;
		if (child == PP_NONE)
			child = add_node(tree, at, keys[i]);
		if (child == PP_NONE)
			return false;
		at = child;
		tree->nodes[at].total += value;
	}
	tree->nodes[at].self += value;
	return true;
}

static int descending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? 1 : x > y ? -1 : 0;
}

int64_t si_tree_threshold(const struct si_tree *tree, int64_t max_nodes)
{
	if (max_nodes <= 0 || (uint64_t)max_nodes >= tree->n)
		return 0;
	int64_t *totals = malloc(tree->n * sizeof(totals[0]));
	if (!totals)
		return 0;
	for (size_t i = 0; i < tree->n; i++)
		totals[i] = tree->nodes[i].total;
	qsort(totals, tree->n, sizeof(totals[0]), descending);
	int64_t threshold = totals[max_nodes - 1];
	free(totals);
	return threshold;
}
