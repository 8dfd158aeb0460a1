#include "libdiff/replicate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *pd_copy(struct pp_str text, struct pp_error *err)
{
	char *copy = malloc(text.len + 1);
	if (!copy) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
		return NULL;
	}
	if (text.len)
		memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	return copy;
}

struct pd_stack_sum *pd_stack_sums(const struct pp_profile *profile, uint32_t column, const struct pp_count_rule *rule)
{
	bool counted = rule->method != PP_COUNT_NOT_MEASURED;
	struct pd_stack_sum *sums = calloc((size_t)profile->stacks_n + 1, sizeof(*sums));
	for (uint32_t s = 0; sums && s < profile->samples_n; s++) {
		sums[profile->sample_stack[s]].value += pp_value(profile, s, column);
		sums[profile->sample_stack[s]].count += counted ? pp_sample_count(profile, rule, s) : 0;
	}
	return sums;
}

/* Whether the sample's leaf has a function with a name. */
static bool leaf_is_named(const struct pp_profile *profile, uint32_t sample)
{
	const struct pp_stack *stack = pp_sample_stack(profile, sample);
	if (stack->n == 0)
		return false;
	const struct pp_location *leaf = &profile->locations[stack->locations[0]];
	if (leaf->lines_n == 0)
		return false;
	uint32_t function = profile->lines[leaf->line_first].function;
	return function != PP_NONE && pp_string(profile, profile->functions[function].name).len > 0;
}

static double symbolized_share(const struct pp_profile *profile, uint32_t column)
{
	double named = 0, all = 0; /* a share to print: rounding is below its digits */
	for (uint32_t s = 0; s < profile->samples_n; s++) {
		double cost = (double)pp_abs_i64(pp_value(profile, s, column));
		all += cost;
		if (cost > 0 && leaf_is_named(profile, s))
			named += cost;
	}
	return all > 0 ? named / all : NAN;
}

static bool has_inline_frames(const struct pp_profile *profile)
{
	for (uint32_t l = 0; l < profile->locations_n; l++)
		if (profile->locations[l].lines_n > 1)
			return true;
	return false;
}

/* Sums of counts must not depend on the order of files or samples. Go heap counts are fractions, so
 * they are kept to 1/1024 of a sample: such sums are exact. */
static void round_counts(double *counts, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		counts[i] = round(counts[i] * 1024) / 1024;
}

static int copy_header(struct pd_replicate *replicate, const struct pp_profile *profile, uint32_t column,
                       struct pp_error *err)
{
	replicate->time_ns = profile->time_ns;
	replicate->duration_ns = profile->duration_ns;
	replicate->period = profile->period;
	replicate->samples_n = profile->samples_n;
	replicate->type = pd_copy(pp_sample_type_name(profile, column), err);
	replicate->unit = pd_copy(pp_sample_type_unit(profile, column), err);
	replicate->period_type = pd_copy(pp_string(profile, profile->period_type.type), err);
	replicate->period_unit = pd_copy(pp_string(profile, profile->period_type.unit), err);
	return replicate->type && replicate->unit && replicate->period_type && replicate->period_unit ? 0 : -1;
}

int pd_replicate_make(struct pd_replicate *replicate, const struct pp_profile *profile, uint32_t column,
                      struct pp_frames *frames, struct pd_identify *identify, struct pd_calltree *tree,
                      struct pp_error *err)
{
	struct pp_frame_map map = {0};

	if (copy_header(replicate, profile, column, err) != 0)
		return -1;
	pp_count_rule_for(profile, column, &replicate->count_rule);
	replicate->symbolized_share = symbolized_share(profile, column);
	replicate->has_inline_frames = has_inline_frames(profile);
	if (pp_frames_map(frames, profile, &map, err) != 0)
		return -1;
	struct pp_rollup *rollup = &replicate->rollup;
	int status = pp_rollup_make(profile, frames, &map, column, &replicate->count_rule, NULL, rollup, err);
	if (status == 0)
		status = pd_identify_add(identify, replicate, profile, column, frames, &map, err);
	if (status == 0 && tree)
		status = pd_calltree_add(tree, replicate, profile, column, &map, err);
	pp_frame_map_release(&map);
	if (status != 0)
		return -1;
	round_counts(rollup->flat_count, rollup->frames_n);
	round_counts(rollup->cum_count, rollup->frames_n);
	round_counts(&rollup->total_count, 1);
	return 0;
}

void pd_replicate_release(struct pd_replicate *replicate)
{
	pp_rollup_release(&replicate->rollup);
	free(replicate->name);
	free(replicate->type);
	free(replicate->unit);
	free(replicate->period_type);
	free(replicate->period_unit);
	free(replicate->type_warning);
	free(replicate->overlaps);
	free(replicate->leaves);
}

static int multiply(int64_t *values, uint32_t n, int64_t factor, const char *unit, struct pp_error *err)
{
	for (uint32_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(values[i], factor, &values[i]))
			return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "a value does not fit 64 bits in %s", unit);
	return 0;
}

int pd_replicate_convert(struct pd_replicate *replicate, const char *unit, struct pp_error *err)
{
	double from, to;
	pp_unit_find(pp_str_of(replicate->unit), &from);
	pp_unit_find(pp_str_of(unit), &to);
	double ratio = from / to;
	if (!(ratio >= 1 && ratio < 9e18) || ratio != floor(ratio))
		return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET, "unit '%s' is no whole number of '%s'",
		               replicate->unit, unit);
	int64_t factor = (int64_t)ratio;
	struct pp_rollup *rollup = &replicate->rollup;
	if (multiply(rollup->flat, rollup->frames_n, factor, unit, err) != 0 ||
	    multiply(rollup->cum, rollup->frames_n, factor, unit, err) != 0 ||
	    multiply(&rollup->total, 1, factor, unit, err) != 0 || multiply(&rollup->net, 1, factor, unit, err) != 0)
		return -1;
	for (size_t i = 0; i < replicate->overlaps_n; i++)
		if (multiply(&replicate->overlaps[i].cum, 1, factor, unit, err) != 0)
			return -1;
	for (size_t i = 0; i < replicate->leaves_n; i++)
		if (multiply(&replicate->leaves[i].value, 1, factor, unit, err) != 0)
			return -1;
	char *copy = pd_copy(pp_str_of(unit), err);
	if (!copy)
		return -1;
	free(replicate->unit);
	replicate->unit = copy;
	return 0;
}
