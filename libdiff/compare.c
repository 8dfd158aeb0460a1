#include "libdiff/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libdiff/calltree.h"
#include "libdiff/normalize.h"
#include "libdiff/qualify.h"
#include "libdiff/replicate.h"
#include "libdiff/roworder.h"
#include "libdiff/significance.h"

/* Of fewer samples nothing can be told, and dispersion is learned badly. */
#define MIN_COUNT_ALONE 10
#define MIN_COUNT_REPLICATES 20
/* Of all samples: big profiles have millions of paths that nobody would look at. */
#define LEAST_PATH_SHARE 1e-4

/* Labels by which exporters tell instances apart; the first that a profile has is taken. */
static const char *const instance_keys[] = {"pod", "instance", "hostname", "host"};

struct pd_compare {
	struct pd_options options;
	struct pd_comparison *result;
	size_t capacity; /* of result->replicates */
	struct pp_arena *arena;
	struct pp_intern *instances[2];
	struct pd_identify *identify;
	struct pd_calltree *tree; /* NULL: not wanted */
};

const char *pd_state_name(enum pd_state state)
{
	static const char *const names[] = {"common", "new", "gone", "renamed", "renamed?"};
	return names[state];
}

const char *pd_outcome_name(enum pd_outcome outcome)
{
	static const char *const names[] = {"pass", "warn", "refuse"};
	return names[outcome];
}

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the comparison");
}

struct pd_compare *pd_compare_new(const struct pd_options *options, struct pp_error *err)
{
	struct pd_compare *compare = calloc(1, sizeof(*compare));
	if (!compare)
		goto fail;
	compare->options = *options;
	compare->result = calloc(1, sizeof(*compare->result));
	compare->arena = pp_arena_new(options->limits.model_bytes);
	if (!compare->result || !compare->arena)
		goto fail;
	for (int side = 0; side < 2; side++)
		if (!(compare->instances[side] = pp_intern_new(compare->arena)))
			goto fail;
	compare->result->normalization = options->normalization;
	compare->result->frames = pp_frames_new(options->granularity, err);
	if (!compare->result->frames)
		goto fail;
	pp_frames_compare_builds(compare->result->frames);
	compare->identify = pd_identify_new(options, err);
	if (!compare->identify)
		goto fail;
	if (options->call_tree && !(compare->tree = pd_calltree_new(options->limits.model_bytes, err)))
		goto fail;
	return compare;
fail:
	no_memory(err);
	pd_compare_free(compare);
	return NULL;
}

void pd_compare_free(struct pd_compare *compare)
{
	if (!compare)
		return;
	pd_comparison_free(compare->result);
	pp_intern_free(compare->instances[0]);
	pp_intern_free(compare->instances[1]);
	pp_arena_free(compare->arena);
	pd_identify_free(compare->identify);
	pd_calltree_free(compare->tree);
	free(compare);
}

void pd_comparison_free(struct pd_comparison *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->replicates_n; i++)
		pd_replicate_release(&c->replicates[i]);
	free(c->replicates);
	free(c->type);
	free(c->unit);
	free(c->rows);
	free(c->paths);
	free(c->identity.renames);
	free(c->identity.counted_as[0]);
	free(c->identity.counted_as[1]);
	pp_frames_free(c->frames);
	free(c);
}

/* ---- adding a profile ---- */

static int find_column(const struct pd_compare *compare, const struct pp_profile *profile, uint32_t *column,
                       char **warning, struct pp_error *err)
{
	char text[400] = "";
	if (compare->options.lens) {
		*column = pp_sample_type_of_lens(profile, compare->options.lens);
		if (*column == PP_NONE)
			return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET, "has no sample type of lens '%s'",
			               compare->options.lens);
		return 0;
	}
	if (pp_sample_type_find(profile, compare->options.sample_type, column, text, sizeof(text), err) != 0)
		return -1;
	return text[0] && !(*warning = pd_copy(pp_str_of(text), err)) ? -1 : 0;
}

/* Profiles that measure different things are not compared: not of another sample type, not in another
 * kind of unit, not sampled by another event. One that does not say its period type is let pass. */
static int require_same_kind(const struct pd_comparison *c, const struct pd_replicate *new,
                             const struct pp_profile *profile, struct pp_error *err)
{
	if (c->replicates_n == 0)
		return 0;
	const struct pd_replicate *first = &c->replicates[0];
	char ignored[400];
	uint32_t column;
	struct pp_error missing = PP_ERROR_INIT;
	if (strcmp(new->type, first->type) != 0 &&
	    pp_sample_type_find(profile, first->type, &column, ignored, sizeof(ignored), &missing) == 0)
		return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET,
		               "its default sample type is %s/%s, and %s/%s that of '%s': name the one to compare",
		               new->type, new->unit, first->type, first->unit, first->name);
	double factor;
	enum pp_unit_family family = pp_unit_find(pp_str_of(new->unit), &factor);
	bool unit_fits = strcmp(new->unit, first->unit) == 0 ||
	                 (family != PP_UNIT_NONE && family == pp_unit_find(pp_str_of(first->unit), &factor));
	if (strcmp(new->type, first->type) != 0 || !unit_fits)
		return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET,
		               "sample type %s/%s cannot be compared with %s/%s of '%s'", new->type, new->unit,
		               first->type, first->unit, first->name);
	for (size_t i = 0; i < c->replicates_n; i++) {
		const struct pd_replicate *other = &c->replicates[i];
		if (new->period_type[0] && other->period_type[0] && strcmp(new->period_type, other->period_type) != 0)
			return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET,
			               "period type %s cannot be compared with %s of '%s'", new->period_type,
			               other->period_type, other->name);
	}
	return 0;
}

/* Remembers the values of the profile's instance label. */
static int note_instances(struct pd_compare *compare, enum pd_side side, const struct pp_profile *profile,
                          struct pp_error *err)
{
	for (size_t k = 0; k < PP_COUNT(instance_keys); k++) {
		bool found = false;
		for (uint32_t l = 0; l < profile->label_lists_n; l++) {
			const struct pp_label_list *list = &profile->label_lists[l];
			for (uint32_t i = 0; i < list->n; i++) {
				struct pp_str value = pp_string(profile, list->labels[i].str);
				if (value.len == 0 ||
				    !pp_str_eq(pp_string(profile, list->labels[i].key), pp_str_of(instance_keys[k])))
					continue;
				found = true;
				if (pp_intern_put(compare->instances[side], value.ptr, value.len, NULL) == PP_NONE)
					return no_memory(err);
			}
		}
		if (found)
			break;
	}
	return 0;
}

static int reserve_replicate(struct pd_compare *compare, struct pp_error *err)
{
	struct pd_comparison *c = compare->result;
	if (c->replicates_n < compare->capacity)
		return 0;
	size_t capacity = compare->capacity ? 2 * compare->capacity : 8;
	struct pd_replicate *grown = realloc(c->replicates, capacity * sizeof(*grown));
	if (!grown)
		return no_memory(err);
	c->replicates = grown;
	compare->capacity = capacity;
	return 0;
}

int pd_compare_add(struct pd_compare *compare, enum pd_side side, const char *name,
                   const struct pp_profile *profile, const struct pp_origin *origin, double exposure,
                   struct pp_error *err)
{
	struct pd_comparison *c = compare->result;
	struct pd_replicate new = {.side = side, .exposure = exposure};
	uint32_t column;

	if (origin)
		new.origin = *origin;
	if (reserve_replicate(compare, err) != 0 || find_column(compare, profile, &column, &new.type_warning, err) != 0 ||
	    !(new.name = pd_copy(pp_str_of(name), err)) ||
	    pd_replicate_make(&new, profile, column, c->frames, compare->identify, compare->tree, err) != 0 ||
	    require_same_kind(c, &new, profile, err) != 0 ||
	    note_instances(compare, side, profile, err) != 0) {
		pd_replicate_release(&new);
		return -1;
	}
	c->replicates[c->replicates_n++] = new;
	c->side_n[side]++;
	return 0;
}

void pd_compare_set_exposure(struct pd_compare *compare, size_t added, double exposure)
{
	compare->result->replicates[added].exposure = exposure;
}

/* ---- finishing ---- */

/* The contents decide before the names: what a sum is made of does not depend on what files are called. */
static int by_side_and_content(const void *left, const void *right)
{
	const struct pd_replicate *a = left, *b = right;
	if (a->side != b->side)
		return a->side == PD_BASELINE ? -1 : 1;
	int order = strcmp(a->origin.content_hash, b->origin.content_hash);
	return order ? order : strcmp(a->name, b->name);
}

static int require_both_sides(const struct pd_comparison *c, struct pp_error *err)
{
	uint64_t baseline_samples = 0;
	if (c->side_n[PD_BASELINE] == 0)
		return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET, "no baseline: no profile is given");
	if (c->side_n[PD_INCIDENT] == 0)
		return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET, "no incident: no profile is given");
	for (size_t i = 0; i < c->side_n[PD_BASELINE]; i++)
		baseline_samples += c->replicates[i].samples_n;
	if (baseline_samples == 0)
		return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET, "no baseline: '%s' has no samples",
		               c->replicates[0].name);
	return 0;
}

/* Brings all replicates to the finest unit among them. */
static int unify_units(struct pd_comparison *c, struct pp_error *err)
{
	const char *finest = c->replicates[0].unit;
	double least, factor;
	pp_unit_find(pp_str_of(finest), &least);
	for (size_t i = 1; i < c->replicates_n; i++) {
		const char *unit = c->replicates[i].unit;
		pp_unit_find(pp_str_of(unit), &factor);
		if (factor < least || (factor == least && strcmp(unit, finest) < 0)) {
			finest = unit;
			least = factor;
		}
	}
	c->type = pd_copy(pp_str_of(c->replicates[0].type), err);
	c->unit = pd_copy(pp_str_of(finest), err);
	if (!c->type || !c->unit)
		return -1;
	for (size_t i = 0; i < c->replicates_n; i++) {
		if (strcmp(c->replicates[i].unit, c->unit) == 0)
			continue;
		c->converted = true;
		if (pd_replicate_convert(&c->replicates[i], c->unit, err) != 0)
			return -1;
	}
	return 0;
}

static int add(int64_t *sum, int64_t value, const struct pd_comparison *c, struct pp_error *err)
{
	if (!pp_add_i64(*sum, value, sum))
		return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "a sum of %s does not fit 64 bits", c->type);
	return 0;
}

static int add_replicate(struct pd_comparison *c, const struct pd_replicate *r, struct pp_error *err)
{
	enum pd_side side = r->side;
	for (uint32_t f = 0; f < r->rollup.frames_n; f++) {
		struct pd_row *row = &c->rows[f];
		if (add(&row->raw_flat[side], r->rollup.flat[f], c, err) != 0 ||
		    add(&row->raw_cum[side], r->rollup.cum[f], c, err) != 0)
			return -1;
		row->flat_count[side] += r->rollup.flat_count[f];
		row->cum_count[side] += r->rollup.cum_count[f];
	}
	c->total_count[side] += r->rollup.total_count;
	c->counts_measured &= r->count_rule.method != PP_COUNT_NOT_MEASURED;
	return add(&c->raw_total[side], r->rollup.net, c, err);
}

static bool has_cost(const struct pd_row *row, enum pd_side side)
{
	return row->raw_flat[side] != 0 || row->raw_cum[side] != 0 || row->cum_count[side] > 0;
}

/* One row a frame that has cost on some side, with the sums as measured. */
static int join_rows(struct pd_comparison *c, struct pp_error *err)
{
	size_t frames_n = pp_frames_count(c->frames), kept = 0;
	c->rows = calloc(frames_n + 1, sizeof(*c->rows));
	if (!c->rows)
		return no_memory(err);
	c->counts_measured = true;
	for (size_t i = 0; i < c->replicates_n; i++)
		if (add_replicate(c, &c->replicates[i], err) != 0)
			return -1;
	for (size_t f = 0; f < frames_n; f++) {
		struct pd_row row = c->rows[f];
		bool in_baseline = has_cost(&row, PD_BASELINE), in_incident = has_cost(&row, PD_INCIDENT);
		if (!in_baseline && !in_incident)
			continue;
		row.frame = (uint32_t)f;
		row.other = PP_NONE;
		row.state = in_baseline && in_incident ? PD_COMMON : in_incident ? PD_NEW : PD_GONE;
		c->rows[kept++] = row;
	}
	c->rows_n = kept;
	return 0;
}

static int require_delta(const int64_t value[2], const struct pd_comparison *c, struct pp_error *err)
{
	int64_t delta;
	if (__builtin_sub_overflow(value[PD_INCIDENT], value[PD_BASELINE], &delta))
		return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "a difference of %s does not fit 64 bits", c->type);
	return 0;
}

static int scale_rows(struct pd_comparison *c, struct pp_error *err)
{
	for (size_t i = 0; i < c->rows_n; i++) {
		struct pd_row *row = &c->rows[i];
		for (int side = 0; side < 2; side++) {
			if (pd_normalized(c, (enum pd_side)side, row->raw_flat[side], &row->flat[side], err) != 0 ||
			    pd_normalized(c, (enum pd_side)side, row->raw_cum[side], &row->cum[side], err) != 0 ||
			    add(&c->total[side], row->flat[side], c, err) != 0)
				return -1;
		}
		if (require_delta(row->flat, c, err) != 0 || require_delta(row->cum, c, err) != 0)
			return -1;
	}
	return require_delta(c->total, c, err);
}

/* Normalises and tests. Sums of fractions depend on their order, so rows stand in one that no order of files or
 * samples changes. */
static int weigh_rows(struct pd_compare *compare, struct pp_error *err)
{
	struct pd_comparison *c = compare->result;
	struct pd_calltree *tree = compare->tree;
	size_t frames_n = pp_frames_count(c->frames);
	uint32_t *row_of = malloc((frames_n + 1) * sizeof(*row_of));
	struct pd_matrix matrix = {0};
	int status = row_of ? pd_sort_by_identity(c, err) : no_memory(err);

	c->path_min_count = c->counts_measured ? c->min_count : 0;
	if (c->counts_measured && compare->options.min_count <= 0)
		c->path_min_count = fmax(c->min_count, LEAST_PATH_SHARE * (c->total_count[0] + c->total_count[1]));
	for (size_t f = 0; f < frames_n && status == 0; f++)
		row_of[f] = PP_NONE;
	for (size_t i = 0; i < c->rows_n && status == 0; i++)
		row_of[c->rows[i].frame] = (uint32_t)i;
	if (status == 0 && (pd_matrix_make(&matrix, c, row_of, err) != 0 || pd_normalize(c, &matrix, err) != 0 ||
	                    scale_rows(c, err) != 0 || pd_test_rows(c, &matrix, err) != 0 ||
	                    (tree && pd_calltree_finish(tree, c, &matrix, err) != 0)))
		status = -1;
	pd_matrix_release(&matrix);
	free(row_of);
	return status;
}

struct pd_comparison *pd_compare_finish(struct pd_compare *compare, struct pp_error *err)
{
	struct pd_comparison *c = compare->result;

	c->min_count = compare->options.min_count;
	if (c->min_count <= 0)
		c->min_count = c->replicates_n > 2 ? MIN_COUNT_REPLICATES : MIN_COUNT_ALONE;
	if (c->replicates_n)
		qsort(c->replicates, c->replicates_n, sizeof(*c->replicates), by_side_and_content);
	if (require_both_sides(c, err) != 0 || unify_units(c, err) != 0 ||
	    pd_identify_finish(compare->identify, c, err) != 0 || join_rows(c, err) != 0 || pd_identify_mark(c, err) != 0 ||
	    weigh_rows(compare, err) != 0 || pd_sort_by_change(c, err) != 0)
		return NULL;
	for (int side = 0; side < 2; side++)
		c->instances_n[side] = pp_intern_count(compare->instances[side]);
	pd_qualify(c);
	compare->result = NULL;
	return c;
}
