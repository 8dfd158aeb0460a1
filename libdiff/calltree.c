#include "libdiff/calltree_parts.h"
#include "libdiff/replicate.h"

#include <math.h>
#include <stdlib.h>

/* What is held for a path while profiles are added, and for one that is a row up to the finished comparison: profiles
 * are hostile, and inlined calls make a tree much larger than its file. */
#define PATH_BYTES 64
#define ROW_BYTES 1024

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a call tree");
}

struct pd_calltree *pd_calltree_new(uint64_t max_bytes, struct pp_error *err)
{
	struct pd_calltree *tree = calloc(1, sizeof(*tree));
	if (!tree) {
		no_memory(err);
		return NULL;
	}
	tree->paths_max = max_bytes / PATH_BYTES < PP_NONE - 1 ? (size_t)(max_bytes / PATH_BYTES) : PP_NONE - 1;
	tree->rows_max = max_bytes / ROW_BYTES;
	return tree;
}

void pd_calltree_free(struct pd_calltree *tree)
{
	if (!tree)
		return;
	free(tree->paths);
	pd_pairs_release(&tree->pairs);
	free(tree);
}

/* ---- adding a profile ---- */

/* Goes from a path to the one that is a frame longer. */
static int extend(struct pd_calltree *tree, uint32_t *path, uint32_t frame, struct pp_error *err)
{
	uint32_t found;

	if (tree->paths_n == tree->capacity) {
		size_t capacity = tree->capacity ? 2 * tree->capacity : 1024;
		struct ct_path *grown = realloc(tree->paths, capacity * sizeof(*grown));
		if (!grown)
			return no_memory(err);
		tree->paths = grown;
		tree->capacity = capacity;
	}
	if (pd_pairs_put(&tree->pairs, *path, frame, tree->paths, sizeof(*tree->paths), &found, err) != 0)
		return -1;
	if (found == PP_NONE) {
		found = (uint32_t)tree->paths_n;
		tree->paths[tree->paths_n++] = (struct ct_path){*path, frame};
		if (tree->paths_n > tree->paths_max)
			return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "a call tree of more than %zu paths", tree->paths_max);
	}
	*path = found;
	return 0;
}

static int add_stack(struct pd_calltree *tree, const struct pp_stack *stack, const struct pp_frame_map *map,
                     uint32_t *path, struct pp_error *err)
{
	*path = PP_NONE;
	if (stack->n == 0)
		return extend(tree, path, map->no_stack, err);
	for (uint32_t k = stack->n; k > 0; k--) {
		uint32_t first = map->first[stack->locations[k - 1]];
		for (uint32_t f = map->first[stack->locations[k - 1] + 1]; f > first; f--)
			if (extend(tree, path, map->frame[f - 1], err) != 0)
				return -1;
	}
	return 0;
}

/* Stacks of different addresses may be one path: leaves of one path become one. */
static int by_path(const void *left, const void *right)
{
	const struct pd_leaf *a = left, *b = right;
	int order = (a->path > b->path) - (a->path < b->path);
	return order ? order : a->below - b->below;
}

static size_t unite_leaves(struct pd_leaf *leaves, size_t n)
{
	size_t kept = 0;

	qsort(leaves, n, sizeof(*leaves), by_path);
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && by_path(&leaves[kept - 1], &leaves[i]) == 0) {
			leaves[kept - 1].value += leaves[i].value;
			leaves[kept - 1].count += leaves[i].count;
		} else {
			leaves[kept++] = leaves[i];
		}
	}
	/* As the counts of rollups: sums of such fractions are exact, whatever their order. */
	for (size_t i = 0; i < kept; i++)
		leaves[i].count = round(leaves[i].count * 1024) / 1024;
	return kept;
}

int pd_calltree_add(struct pd_calltree *tree, struct pd_replicate *replicate, const struct pp_profile *profile,
                    uint32_t column, const struct pp_frame_map *map, struct pp_error *err)
{
	struct pd_stack_sum *sums = pd_stack_sums(profile, column, &replicate->count_rule);
	struct pd_leaf *leaves = calloc((size_t)profile->stacks_n + 1, sizeof(*leaves));
	int status = sums && leaves ? 0 : no_memory(err);
	size_t n = 0;

	replicate->leaves = leaves;
	for (uint32_t s = 0; s < profile->stacks_n && status == 0; s++) {
		struct pd_leaf leaf = {.value = sums[s].value, .count = sums[s].count};
		if (leaf.value == 0 && leaf.count == 0)
			continue;
		status = add_stack(tree, &profile->stacks[s], map, &leaf.path, err);
		leaves[n++] = leaf;
	}
	free(sums);
	if (status == 0)
		replicate->leaves_n = unite_leaves(leaves, n);
	return status;
}

/* ---- renamed frames are one ---- */

/* A path's index in `joined` after renaming, by side. Callers come before callees in both. */
static int rename_paths(const struct pd_calltree *tree, const uint32_t *counted_as, size_t counted_as_n,
                        struct pd_calltree *joined, uint32_t *to, struct pp_error *err)
{
	for (size_t i = 0; i < tree->paths_n; i++) {
		const struct ct_path *path = &tree->paths[i];
		uint32_t frame = counted_as && path->frame < counted_as_n ? counted_as[path->frame] : path->frame;
		to[i] = path->parent == PP_NONE ? PP_NONE : to[path->parent];
		if (extend(joined, &to[i], frame, err) != 0)
			return -1;
	}
	return 0;
}

static void replace(struct pd_calltree *tree, const struct pd_calltree *by)
{
	struct pd_calltree old = *tree;
	*tree = *by;
	free(old.paths);
	pd_pairs_release(&old.pairs);
}

int ct_join_renamed(struct pd_calltree *tree, struct pd_comparison *c, struct pp_error *err)
{
	if (!c->identity.counted_as[0] && !c->identity.counted_as[1])
		return 0;
	struct pd_calltree joined = {.paths_max = 2 * tree->paths_max, .rows_max = tree->rows_max};
	uint32_t *to[2] = {malloc((tree->paths_n + 1) * sizeof(*to[0])), malloc((tree->paths_n + 1) * sizeof(*to[0]))};
	int status = to[0] && to[1] ? 0 : no_memory(err);

	for (int side = 0; side < 2 && status == 0; side++)
		status = rename_paths(tree, c->identity.counted_as[side], c->identity.counted_as_n, &joined, to[side], err);
	for (size_t i = 0; i < c->replicates_n && status == 0; i++) {
		struct pd_replicate *r = &c->replicates[i];
		for (size_t k = 0; k < r->leaves_n; k++)
			r->leaves[k].path = to[r->side][r->leaves[k].path];
		r->leaves_n = unite_leaves(r->leaves, r->leaves_n);
	}
	free(to[0]);
	free(to[1]);
	replace(tree, &joined);
	return status;
}

/* ---- small paths ---- */

/* Samples of both sides at and below each path; where they are not counted, 1 for each leaf. */
static double *weigh_paths(const struct pd_calltree *tree, const struct pd_comparison *c)
{
	double *weight = calloc(tree->paths_n + 1, sizeof(*weight));

	for (size_t i = 0; weight && i < c->replicates_n; i++)
		for (size_t k = 0; k < c->replicates[i].leaves_n; k++) {
			const struct pd_leaf *leaf = &c->replicates[i].leaves[k];
			weight[leaf->path] += c->counts_measured ? leaf->count : 1;
		}
	for (size_t i = tree->paths_n; weight && i > 0; i--)
		if (tree->paths[i - 1].parent != PP_NONE)
			weight[tree->paths[i - 1].parent] += weight[i - 1];
	return weight;
}

/* Leaves of paths that went belong below the nearest caller that stayed; without one they are gone. */
static void move_leaves(struct pd_replicate *r, const uint32_t *to, const unsigned char *kept)
{
	size_t n = 0;

	for (size_t k = 0; k < r->leaves_n; k++) {
		struct pd_leaf leaf = r->leaves[k];
		leaf.below = !kept[leaf.path];
		leaf.path = to[leaf.path];
		if (leaf.path != PP_NONE)
			r->leaves[n++] = leaf;
	}
	r->leaves_n = unite_leaves(r->leaves, n);
}

int ct_prune_small(struct pd_calltree *tree, struct pd_comparison *c, struct pp_error *err)
{
	struct pd_calltree pruned = {.paths_max = tree->paths_max, .rows_max = tree->rows_max};
	double least = fmax(c->path_min_count, 1), *weight = weigh_paths(tree, c);
	uint32_t *to = malloc((tree->paths_n + 1) * sizeof(*to)); /* by path: its new index, or that of the caller that stayed */
	unsigned char *kept = calloc(tree->paths_n + 1, 1);
	int status = weight && to && kept ? 0 : no_memory(err);

	for (size_t i = 0; i < tree->paths_n && status == 0; i++) {
		const struct ct_path *path = &tree->paths[i];
		to[i] = path->parent == PP_NONE ? PP_NONE : to[path->parent];
		kept[i] = weight[i] >= least;
		if (kept[i])
			status = extend(&pruned, &to[i], path->frame, err);
		if (pruned.paths_n > pruned.rows_max)
			status = pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "a call tree with more than %zu paths to test", pruned.rows_max);
	}
	for (size_t i = 0; i < c->replicates_n && status == 0; i++)
		move_leaves(&c->replicates[i], to, kept);
	free(weight);
	free(to);
	free(kept);
	replace(tree, &pruned);
	return status;
}
