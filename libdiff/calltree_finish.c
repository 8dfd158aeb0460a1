#include "libdiff/calltree_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libdiff/normalize.h"
#include "libdiff/significance.h"
#include "libdiff/hierarchy.h"

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a call tree");
}

/* ---- sums ---- */

struct sums {
	int64_t flat[2], cum[2]; /* as measured */
	double flat_count[2], cum_count[2];
};

static int add(int64_t *sum, int64_t value, const struct pd_comparison *c, struct pp_error *err)
{
	if (!pp_add_i64(*sum, value, sum))
		return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "a sum of %s does not fit 64 bits", c->type);
	return 0;
}

static int sum_up(const struct pd_calltree *tree, const struct pd_comparison *c, struct sums *sums, struct pp_error *err)
{
	for (size_t i = 0; i < c->replicates_n; i++) {
		const struct pd_replicate *r = &c->replicates[i];
		for (size_t k = 0; k < r->leaves_n; k++) {
			const struct pd_leaf *leaf = &r->leaves[k];
			struct sums *at = &sums[leaf->path];
			if (add(leaf->below ? &at->cum[r->side] : &at->flat[r->side], leaf->value, c, err) != 0)
				return -1;
			*(leaf->below ? &at->cum_count[r->side] : &at->flat_count[r->side]) += leaf->count;
		}
	}
	for (size_t i = tree->paths_n; i > 0; i--) {
		struct sums *at = &sums[i - 1];
		struct sums *caller = tree->paths[i - 1].parent == PP_NONE ? NULL : &sums[tree->paths[i - 1].parent];
		for (int side = 0; side < 2; side++) {
			if (add(&at->cum[side], at->flat[side], c, err) != 0 ||
			    (caller && add(&caller->cum[side], at->cum[side], c, err) != 0))
				return -1;
			at->cum_count[side] += at->flat_count[side];
			if (caller)
				caller->cum_count[side] += at->cum_count[side];
		}
	}
	return 0;
}

static bool has_cost(const struct sums *s, int side)
{
	return s->cum[side] != 0 || s->flat[side] != 0 || s->cum_count[side] > 0;
}

/* ---- rows ---- */

/* Renamed frames have a row under their new name that knows the other. */
static uint32_t *other_names(const struct pd_comparison *c)
{
	size_t n = pp_frames_count(c->frames);
	uint32_t *other = malloc((n + 1) * sizeof(*other));

	if (other)
		memset(other, 0xff, (n + 1) * sizeof(*other));
	for (size_t i = 0; other && i < c->identity.renames_n; i++)
		if (c->identity.renames[i].joined)
			other[c->identity.renames[i].frame] = c->identity.renames[i].other;
	return other;
}

static int set_row(struct pd_row *row, const struct pd_comparison *c, const struct sums *sums, uint32_t frame,
                   uint32_t other, struct pp_error *err)
{
	bool in_baseline = has_cost(sums, PD_BASELINE), in_incident = has_cost(sums, PD_INCIDENT);
	int64_t delta;

	*row = (struct pd_row){.frame = frame, .other = other};
	row->state = in_baseline && in_incident ? other == PP_NONE ? PD_COMMON : PD_RENAMED : in_incident ? PD_NEW : PD_GONE;
	for (int side = 0; side < 2; side++) {
		row->raw_flat[side] = sums->flat[side];
		row->raw_cum[side] = sums->cum[side];
		row->flat_count[side] = sums->flat_count[side];
		row->cum_count[side] = sums->cum_count[side];
		if (pd_normalized(c, (enum pd_side)side, sums->flat[side], &row->flat[side], err) != 0 ||
		    pd_normalized(c, (enum pd_side)side, sums->cum[side], &row->cum[side], err) != 0)
			return -1;
	}
	if (__builtin_sub_overflow(row->flat[1], row->flat[0], &delta) || __builtin_sub_overflow(row->cum[1], row->cum[0], &delta))
		return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "a difference of %s does not fit 64 bits", c->type);
	return 0;
}

/* ---- order ---- */

/* The tree under way to comparison->paths: by path of the tree unless said otherwise. */
struct maker {
	const struct pd_calltree *tree;
	struct pd_comparison *c;
	struct sums *sums;
	struct pd_row *rows;
	uint32_t *index;  /* in comparison->paths */
	uint32_t *other;  /* by frame: the other name of a renamed one */
};

struct ranked {
	const struct pp_frames *frames;
	uint64_t cum, flat; /* |delta| */
	uint32_t frame, path;
};

static int by_change(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->cum != b->cum)
		return a->cum > b->cum ? -1 : 1;
	if (a->flat != b->flat)
		return a->flat > b->flat ? -1 : 1;
	return pp_frames_cmp(a->frames, a->frame, b->frame);
}

/* The paths of one caller in the order that is printed: child[path] and child[paths_n] of none are the
 * first, next[path] those after it. */
static int list_children(const struct maker *m, uint32_t *child, uint32_t *next, struct pp_error *err)
{
	size_t paths_n = m->tree->paths_n, n = 0;
	struct ranked *ranked = malloc((paths_n + 1) * sizeof(*ranked));

	if (!ranked)
		return no_memory(err);
	for (size_t i = 0; i < paths_n; i++) {
		const struct pd_row *row = &m->rows[i];
		ranked[n++] = (struct ranked){m->c->frames, pp_abs_i64(row->cum[1] - row->cum[0]),
			                              pp_abs_i64(row->flat[1] - row->flat[0]), row->frame, (uint32_t)i};
	}
	qsort(ranked, n, sizeof(*ranked), by_change);
	memset(child, 0xff, (paths_n + 1) * sizeof(*child));
	for (size_t i = n; i > 0; i--) {
		uint32_t path = ranked[i - 1].path, parent = m->tree->paths[path].parent;
		uint32_t *head = &child[parent == PP_NONE ? paths_n : parent];
		next[path] = *head;
		*head = path;
	}
	free(ranked);
	return 0;
}

static void append_path(struct maker *m, uint32_t path)
{
	struct pd_comparison *c = m->c;
	uint32_t parent = m->tree->paths[path].parent;
	struct pd_path *made = &c->paths[c->paths_n];

	*made = (struct pd_path){.row = m->rows[path], .parent = parent == PP_NONE ? PP_NONE : m->index[parent], .q_within = NAN};
	made->depth = made->parent == PP_NONE ? 0 : c->paths[made->parent].depth + 1;
	m->index[path] = (uint32_t)c->paths_n++;
}

/* Fills comparison->paths in the order that compare.h promises. */
static int order_paths(struct maker *m, struct pp_error *err)
{
	size_t paths_n = m->tree->paths_n;
	uint32_t *child = malloc((paths_n + 1) * sizeof(*child)), *next = malloc((paths_n + 1) * sizeof(*next));
	int status = child && next ? list_children(m, child, next, err) : no_memory(err);

	for (uint32_t path = status == 0 ? child[paths_n] : PP_NONE; path != PP_NONE;) {
		append_path(m, path);
		if (child[path] != PP_NONE) {
			path = child[path];
			continue;
		}
		while (path != PP_NONE && next[path] == PP_NONE)
			path = m->tree->paths[path].parent;
		path = path == PP_NONE ? PP_NONE : next[path];
	}
	free(child);
	free(next);
	return status;
}

/* ---- tests ---- */

/* Paths as if they were the rows of a comparison of their own. */
struct tested {
	struct pd_comparison view; /* borrows all but its rows */
	struct pd_matrix matrix;   /* borrows all but flat and cum */
	uint32_t *parent;
	double *flat, *cum, *within; /* p, then q */
};

static void tested_release(struct tested *t)
{
	free(t->view.rows);
	free(t->matrix.flat);
	free(t->matrix.cum);
	free(t->parent);
	free(t->flat);
	free(t->cum);
	free(t->within);
}

static int view_paths(struct tested *t, const struct pd_comparison *c, struct pp_error *err)
{
	size_t n = c->paths_n + 1;

	t->view = *c;
	t->view.rows_n = c->paths_n;
	t->view.rows = malloc(n * sizeof(*t->view.rows));
	t->parent = malloc(n * sizeof(*t->parent));
	t->flat = malloc(n * sizeof(*t->flat));
	t->cum = malloc(n * sizeof(*t->cum));
	t->within = malloc(n * sizeof(*t->within));
	if (!t->view.rows || !t->parent || !t->flat || !t->cum || !t->within)
		return no_memory(err);
	for (size_t i = 0; i < c->paths_n; i++) {
		t->view.rows[i] = c->paths[i].row;
		t->parent[i] = c->paths[i].parent == PP_NONE ? PD_TREE_ROOT : c->paths[i].parent;
	}
	return 0;
}

/* The samples of one replicate by path, summed up to callers. */
static void fill_column(struct pd_matrix *matrix, const struct maker *m, size_t column, const struct pd_replicate *r)
{
	const struct pd_comparison *c = m->c;
	size_t stride = matrix->columns_n;
	double *flat = matrix->flat + column, *cum = matrix->cum + column;

	for (size_t k = 0; k < r->leaves_n; k++) {
		size_t cell = m->index[r->leaves[k].path] * stride;
		*(r->leaves[k].below ? &cum[cell] : &flat[cell]) += r->leaves[k].count;
	}
	for (size_t i = c->paths_n; i > 0; i--) {
		size_t cell = (i - 1) * stride;
		cum[cell] += flat[cell];
		if (c->paths[i - 1].parent != PP_NONE)
			cum[c->paths[i - 1].parent * stride] += cum[cell];
	}
}

static int make_matrix(struct tested *t, const struct maker *m, const struct pd_matrix *rows, struct pp_error *err)
{
	size_t cells = 0;

	t->matrix = *rows;
	t->matrix.rows_n = t->view.rows_n;
	t->matrix.flat = t->matrix.cum = NULL;
	if (pd_matrix_cells(t->matrix.rows_n, t->matrix.columns_n, &cells, err) != 0)
		return -1;
	t->matrix.flat = calloc(cells, sizeof(*t->matrix.flat));
	t->matrix.cum = calloc(cells, sizeof(*t->matrix.cum));
	if (!t->matrix.flat || !t->matrix.cum)
		return no_memory(err);
	for (size_t j = 0; j < t->matrix.columns_n; j++)
		fill_column(&t->matrix, m, j, &m->c->replicates[t->matrix.replicate[j]]);
	return 0;
}

/* Where a path calls nothing, its own cost and all of its cost are one question. */
static bool is_one_question(const struct pd_row *row)
{
	return row->flat_count[0] == row->cum_count[0] && row->flat_count[1] == row->cum_count[1];
}

static int correct(struct tested *t, const struct pd_comparison *c, struct pp_error *err)
{
	for (size_t i = 0; i < t->view.rows_n; i++) {
		const struct pd_row *row = &t->view.rows[i];
		t->cum[i] = row->p_cum;
		t->flat[i] = is_one_question(row) ? (double)NAN : row->p_flat;
	}
	if (pd_tree_q(t->parent, t->view.rows_n, c->any_p, t->flat, t->cum, t->within) != 0)
		return no_memory(err);
	return 0;
}

static void store_results(const struct tested *t, struct pd_comparison *c)
{
	for (size_t i = 0; i < t->view.rows_n; i++) {
		struct pd_path *path = &c->paths[i];
		path->row = t->view.rows[i];
		path->row.q_cum = t->cum[i];
		path->row.q_flat = is_one_question(&path->row) ? t->cum[i] : t->flat[i];
		path->q_within = t->within[i];
	}
}

/* Callees come after their callers, so whether anything below changed is known when a path's turn comes. */
static int find_deepest(struct pd_comparison *c, struct pp_error *err)
{
	bool *below = calloc(c->paths_n + 1, sizeof(*below));

	if (!below)
		return no_memory(err);
	for (size_t i = c->paths_n; i > 0; i--) {
		struct pd_path *path = &c->paths[i - 1];
		bool changed = path->row.q_flat < PD_CHANGED_Q || path->row.q_cum < PD_CHANGED_Q;
		path->deepest = changed && !below[i - 1];
		if (path->parent != PP_NONE)
			below[path->parent] |= changed || below[i - 1];
	}
	free(below);
	return 0;
}

static int test_paths(struct maker *m, const struct pd_matrix *rows, struct pp_error *err)
{
	struct tested t = {.parent = NULL};
	int status = -1;

	for (size_t i = 0; i < m->c->paths_n; i++)
		pd_row_untested(&m->c->paths[i].row);
	if (m->c->noise == PD_NOISE_UNKNOWN)
		return 0;
	if (view_paths(&t, m->c, err) == 0 && make_matrix(&t, m, rows, err) == 0 &&
	    pd_test_values(&t.view, &t.matrix, err) == 0 && correct(&t, m->c, err) == 0) {
		store_results(&t, m->c);
		status = find_deepest(m->c, err);
	}
	tested_release(&t);
	return status;
}

/* ---- all ---- */

static int make_rows(struct maker *m, struct pp_error *err)
{
	for (size_t i = 0; i < m->tree->paths_n; i++) {
		uint32_t frame = m->tree->paths[i].frame;
		if (set_row(&m->rows[i], m->c, &m->sums[i], frame, m->other[frame], err) != 0)
			return -1;
	}
	return 0;
}

int pd_calltree_finish(struct pd_calltree *tree, struct pd_comparison *c, const struct pd_matrix *rows, struct pp_error *err)
{
	if (ct_join_renamed(tree, c, err) != 0 || ct_prune_small(tree, c, err) != 0)
		return -1;
	size_t n = tree->paths_n + 1;
	struct maker m = {.tree = tree, .c = c};
	m.sums = calloc(n, sizeof(*m.sums));
	m.rows = malloc(n * sizeof(*m.rows));
	m.index = malloc(n * sizeof(*m.index));
	m.other = other_names(c);
	c->paths = malloc(n * sizeof(*c->paths));
	int status = m.sums && m.rows && m.index && m.other && c->paths ? 0 : no_memory(err);
	if (status == 0 && (sum_up(tree, c, m.sums, err) != 0 || make_rows(&m, err) != 0 || order_paths(&m, err) != 0 ||
	                    test_paths(&m, rows, err) != 0))
		status = -1;
	free(m.sums);
	free(m.rows);
	free(m.index);
	free(m.other);
	return status;
}
