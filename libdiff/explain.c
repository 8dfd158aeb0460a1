#include "libdiff/explain_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES ((uint64_t)8 << 30)

const char *pd_verdict_name(enum pd_verdict verdict)
{
	static const char *const names[] = {"code", "runtime", "moved", "mix", "load", "none", "inconclusive"};

	return names[verdict];
}

int ex_no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
}

void *ex_alloc(struct pp_arena *arena, size_t n, size_t bytes, struct pp_error *err)
{
	size_t size;
	void *block = pp_mul_size(n, bytes, &size) ? pp_arena_alloc(arena, size) : NULL;

	if (!block)
		ex_no_memory(err);
	else
		memset(block, 0, size);
	return block;
}

/* ---- one profile ---- */

/* Multiplies all that was added so far, as a profile came in a finer unit. */
static int rescale(struct pd_explain *ex, int64_t multiple, struct pp_error *err)
{
	bool fits = true;

	for (int side = 0; side < 2; side++) {
		fits = fits && pp_mul_i64(ex->total[side], multiple, &ex->total[side]);
		for (size_t s = 0; s < ex->slices_n; s++)
			ex->slices[s].cost[side] *= (double)multiple;
		for (size_t f = 0; f < ex->frames_n; f++)
			ex->frames[f].touched[side] *= (double)multiple;
		for (size_t f = 0; f < ex->frames_n; f++)
			fits = fits && pp_mul_i64(ex->frames[f].self[side], multiple, &ex->frames[f].self[side]) &&
			       pp_mul_i64(ex->frames[f].cum[side], multiple, &ex->frames[f].cum[side]);
		for (size_t c = 0; c < ex->contexts_n; c++)
			ex->contexts[c].value[side] *= (double)multiple;
		for (size_t b = 0; b < ex->below_n; b++)
			ex->below[b].value[side] *= (double)multiple;
	}
	for (size_t b = 0; b < ex->below_n; b++)
		ex->below[b].depth *= (double)multiple;
	for (size_t j = 0; j < ex->replicates_n; j++) {
		ex->replicates[j].value *= (double)multiple;
		for (size_t c = 0; c < ex->replicates[j].cells_n; c++)
			ex->replicates[j].cells[c].value *= (double)multiple;
	}
	return fits ? 0 : pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the sums do not fit 64 bits in the finest unit");
}

/* What the values of a profile are multiplied by, so that all are in the finest unit. */
static int unify_unit(struct pd_explain *ex, struct pp_str unit, int64_t *multiple, struct pp_error *err)
{
	double factor;

	pp_unit_find(unit, &factor);
	*multiple = 1;
	if (ex->replicates_n == 0)
		ex->unit_factor = factor;
	if (factor < ex->unit_factor && rescale(ex, llround(ex->unit_factor / factor), err))
		return -1;
	if (factor > ex->unit_factor)
		*multiple = llround(factor / ex->unit_factor);
	else
		ex->unit_factor = factor;
	return 0;
}

/* Values by stack, totals and counts. */
static int sum_samples(struct pd_explain *ex, struct ex_replicate *replicate, const struct pp_profile *p, uint32_t column,
                       int64_t multiple, int64_t *stack_value, struct pp_error *err)
{
	struct pp_count_rule rule;

	pp_count_rule_for(p, column, &rule);
	for (uint32_t s = 0; s < p->samples_n; s++) {
		int64_t value, *sum = &stack_value[p->sample_stack[s]], *total = &ex->total[replicate->side];
		if (!pp_mul_i64(pp_value(p, s, column), multiple, &value) || !pp_add_i64(*sum, value, sum) ||
		    !pp_add_i64(*total, value, total))
			return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the sum of the samples does not fit 64 bits");
		replicate->value += (double)value;
		if (value && rule.method != PP_COUNT_NOT_MEASURED)
			replicate->count += pp_sample_count(p, &rule, s);
	}
	return 0;
}

static int add_samples(struct pd_explain *ex, struct ex_replicate *replicate, const struct pp_profile *p, uint32_t column,
                       struct pp_error *err)
{
	struct ex_map map = {NULL, NULL};
	int64_t *stack_value = calloc((size_t)p->stacks_n + 1, sizeof(*stack_value)), multiple;
	uint32_t *context = malloc(((size_t)p->stacks_n + 1) * sizeof(*context));
	int rc = -1;

	if (!stack_value || !context)
		ex_no_memory(err);
	else if (unify_unit(ex, pp_sample_type_unit(p, column), &multiple, err) == 0 &&
	         sum_samples(ex, replicate, p, column, multiple, stack_value, err) == 0 &&
	         ex_map_locations(ex, p, &map, err) == 0 &&
	         ex_charge(ex, replicate->side, p, &map, stack_value, context, err) == 0)
		rc = ex_make_cells(ex, replicate, p, column, multiple, context, err) ||
		             ex_add_slices(ex, replicate->side, p, column, multiple, err)
		         ? -1
		         : 0;
	ex_map_release(&map);
	free(stack_value);
	free(context);
	return rc;
}

int pd_explain_add(struct pd_explain *ex, enum pd_side side, const struct pp_profile *profile, uint32_t column,
                   const struct pd_load_row *row, struct pp_error *err)
{
	if (pp_arena_reserve(ex->arena, (void **)&ex->replicates, &ex->replicates_cap, ex->replicates_n + 1,
	                     sizeof(*ex->replicates)))
		return ex_no_memory(err);
	struct ex_replicate *replicate = &ex->replicates[ex->replicates_n];
	*replicate = (struct ex_replicate){.side = side, .row = row};
	replicate->seconds = profile->duration_ns > 0 ? (double)profile->duration_ns / 1e9 : 0;
	if (row && row->window_s > 0)
		replicate->seconds = row->window_s;
	if (add_samples(ex, replicate, profile, column, err))
		return -1;
	ex->replicates_n++;
	ex->side_n[side]++;
	return 0;
}

/* ---- life ---- */

struct pd_explain *pd_explain_new(const struct pd_explain_options *options, struct pp_error *err)
{
	struct pp_arena *arena = pp_arena_new(ARENA_BYTES);
	struct pd_explain *ex = arena ? ex_alloc(arena, 1, sizeof(*ex), err) : NULL;

	if (!ex) {
		pp_arena_free(arena);
		ex_no_memory(err);
		return NULL;
	}
	ex->arena = arena;
	ex->options = *options;
	ex->frame_ids = pp_intern_new(arena);
	ex->function_ids = pp_intern_new(arena);
	ex->label_ids = pp_intern_new(arena);
	ex->slice_ids = pp_intern_new(arena);
	if (!ex->label_ids || !ex->frame_ids || !ex->function_ids || !ex->slice_ids) {
		ex_no_memory(err);
		goto failed;
	}
	if (options->app) {
		ex->app = pp_regex_new(pp_str_of(options->app), false, err);
		if (!ex->app)
			goto failed;
	}
	if (ex_new_frame(ex, "(garbage collection)", 20, pp_str_of(""), PD_FRAME_COLLECTOR, err) ||
	    ex_new_frame(ex, "(no application frame)", 22, pp_str_of(""), PD_FRAME_RUNTIME, err) ||
	    ex_new_frame(ex, "...", 3, pp_str_of(""), PD_FRAME_RUNTIME, err))
		goto failed;
	return ex;
failed:
	pd_explain_free(ex);
	return NULL;
}

void pd_explain_free(struct pd_explain *ex)
{
	if (!ex)
		return;
	pp_regex_free(ex->app);
	pp_intern_free(ex->frame_ids);
	pp_intern_free(ex->function_ids);
	pd_pairs_release(&ex->context_ids);
	pd_pairs_release(&ex->below_ids);
	pp_intern_free(ex->label_ids);
	pp_intern_free(ex->slice_ids);
	pp_arena_free(ex->arena);
}

void pd_explanation_free(struct pd_explanation *explanation)
{
	if (explanation)
		pp_arena_free(explanation->arena);
}
