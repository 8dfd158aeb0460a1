#include "libpprof/samplecount.h"

#include <math.h>

#include "libpprof/sampletype.h"
#include "libpprof/unit.h"

/* Which column of counts stands behind which value. */
static const struct pair {
	const char *value, *count;
} pairs[] = {
	{"cpu", "samples"},
	{"wall", "samples"},
	{"time", "samples"},
	{"cpu", "sample"},
	{"wall", "sample"},
	{"time", "sample"},
	{"delay", "contentions"},
	{"alloc_in_new_tlab_bytes", "alloc_in_new_tlab_objects"},
	{"alloc_outside_tlab_bytes", "alloc_outside_tlab_objects"},
	{"block_duration", "block_count"},
	{"mutex_duration", "mutex_count"},
	{"lock_duration", "lock_count"},
	{"cpu-time", "cpu-samples"},
	{"alloc-size", "alloc-samples"},
	{"lock_time", "lock_count"},
	{"alloc_size", "alloc_samples"},
};

/* Heap profiles that scale what they sampled up to what was allocated: bytes and objects. */
static const struct pair heap_pairs[] = {
	{"alloc_space", "alloc_objects"},
	{"inuse_space", "inuse_objects"},
	{"space", "objects"},
};

static bool type_is(const struct pp_profile *profile, uint32_t column, const char *type)
{
	return pp_str_eq(pp_sample_type_name(profile, column), pp_str_of(type));
}

static bool is_count(const struct pp_profile *profile, uint32_t column)
{
	return pp_str_eq(pp_sample_type_unit(profile, column), PP_LIT("count"));
}

static uint32_t find_column(const struct pp_profile *profile, const char *type)
{
	for (uint32_t c = 0; c < profile->sample_types_n; c++)
		if (type_is(profile, c, type))
			return c;
	return PP_NONE;
}

static uint32_t find_count_column(const struct pp_profile *profile, const char *type)
{
	const uint32_t c = find_column(profile, type);

	return c != PP_NONE && is_count(profile, c) ? c : PP_NONE;
}

/* The period in the unit of the column; 0 when it cannot be told. */
static double period_in(const struct pp_profile *profile, struct pp_str unit)
{
	const struct pp_str period_unit = pp_string(profile, profile->period_type.unit);
	double from, to;

	if (profile->period <= 0)
		return 0;
	if (pp_str_eq(period_unit, unit))
		return (double)profile->period;
	const enum pp_unit_family family = pp_unit_find(period_unit, &from);
	if (family == PP_UNIT_NONE || family != pp_unit_find(unit, &to))
		return 0;
	return (double)profile->period * from / to;
}

static void not_measured(struct pp_count_rule *rule, const char *reason)
{
	*rule = (struct pp_count_rule){PP_COUNT_NOT_MEASURED, PP_NONE, PP_NONE, 0, reason};
}

/* True when column belongs to a heap profile; *rule then says how to un-scale it, or why not. */
static bool heap_rule(const struct pp_profile *profile, uint32_t column, struct pp_count_rule *rule)
{
	for (size_t i = 0; i < PP_COUNT(heap_pairs); i++) {
		const bool bytes_asked = type_is(profile, column, heap_pairs[i].value);
		if (!bytes_asked && !(type_is(profile, column, heap_pairs[i].count) && is_count(profile, column)))
			continue;
		const uint32_t bytes = bytes_asked ? column : find_column(profile, heap_pairs[i].value);
		const uint32_t objects = bytes_asked ? find_count_column(profile, heap_pairs[i].count) : column;
		if (bytes == PP_NONE || objects == PP_NONE) {
			not_measured(rule, "a heap profile without both objects and bytes: hits cannot be told from sizes");
			return true;
		}
		const double period = period_in(profile, pp_sample_type_unit(profile, bytes));
		if (period <= 0)
			not_measured(rule, "the profile does not say how many bytes apart it sampled");
		else
			*rule = (struct pp_count_rule){PP_COUNT_HEAP, objects, bytes, period,
			                               "objects * (1 - exp(-size / period)): sampled allocations"};
		return true;
	}
	return false;
}

static uint32_t paired_count(const struct pp_profile *profile, uint32_t column)
{
	for (size_t i = 0; i < PP_COUNT(pairs); i++) {
		if (!type_is(profile, column, pairs[i].value))
			continue;
		const uint32_t count = find_count_column(profile, pairs[i].count);
		if (count != PP_NONE)
			return count;
	}
	return PP_NONE;
}

/* Exporters write a period that is not the sampling interval (1 ns, or 1 s beside values of 10 ms).
 * Nothing samples a million times a second, and no sample is worth less than one period. */
static bool period_is_interval(const struct pp_profile *profile, uint32_t column, double period)
{
	double factor;

	if (pp_unit_find(pp_sample_type_unit(profile, column), &factor) == PP_UNIT_TIME && period * factor < 1000)
		return false;
	for (uint32_t s = 0; s < profile->samples_n; s++) {
		const int64_t value = pp_value(profile, s, column);
		if (value != 0 && (double)pp_abs_i64(value) < period / 2)
			return false;
	}
	return true;
}

void pp_count_rule_for(const struct pp_profile *profile, uint32_t column, struct pp_count_rule *rule)
{
	const bool own_period = pp_str_eq(pp_string(profile, profile->period_type.type),
	                                  pp_sample_type_name(profile, column));
	const double period = own_period ? period_in(profile, pp_sample_type_unit(profile, column)) : 0;

	if (heap_rule(profile, column, rule))
		return;
	const uint32_t count = paired_count(profile, column);
	if (count != PP_NONE) {
		*rule = (struct pp_count_rule){PP_COUNT_COLUMN, count, PP_NONE, 0, "the column of counts beside the value"};
		return;
	}
	/* Hardware events are counts that come one sample a period. */
	if (is_count(profile, column) && period <= 1) {
		*rule = (struct pp_count_rule){PP_COUNT_SELF, column, PP_NONE, 0, "the value is a count"};
		return;
	}
	if (period > 0 && !period_is_interval(profile, column, period)) {
		not_measured(rule, "the period is not the sampling interval: the values do not fit it");
		return;
	}
	if (period > 0) {
		*rule = (struct pp_count_rule){PP_COUNT_PERIOD, column, PP_NONE, period, "value / period"};
		return;
	}
	not_measured(rule, own_period ? "the period is not given, and no column counts the samples"
	                              : "no column counts the samples, and the period is of another type");
}

/* A multiple of 2^-16: sums of such numbers are exact up to 2^37, so the order of rows never shows. */
static double quantize(double count)
{
	return nearbyint(count * 65536) / 65536;
}

double pp_sample_count(const struct pp_profile *profile, const struct pp_count_rule *rule, uint32_t sample)
{
	double value;

	if (rule->method == PP_COUNT_NOT_MEASURED)
		return 0;
	value = (double)pp_value(profile, sample, rule->column);
	if (value <= 0)
		return 0;
	if (rule->method == PP_COUNT_PERIOD)
		return quantize(value / rule->divisor);
	if (rule->method == PP_COUNT_HEAP) {
		/* Go scales hits up by 1 / (1 - exp(-size / period)), runtime/pprof scaleHeapSample. */
		const double bytes = (double)pp_value(profile, sample, rule->bytes_column);
		return bytes <= 0 ? 0 : quantize(value * -expm1(-bytes / value / rule->divisor));
	}
	return value;
}
