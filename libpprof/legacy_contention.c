/* Waiting for locks: gperftools' contention, and Go's mutex and block profiles with debug=1. Attributes
 * "name = value", then "delay count @ addresses", where delays are cycles. */
#include <math.h>

#include "libpprof/legacy.h"

/* Splits "name = value". */
static bool split(struct pp_str line, struct pp_str *name, struct pp_str *value)
{
	for (size_t i = 0; i < line.len; i++) {
		if (line.ptr[i] != '=')
			continue;
		*name = pp_legacy_trim((struct pp_str){line.ptr, i});
		*value = pp_legacy_trim((struct pp_str){line.ptr + i + 1, line.len - i - 1});
		return true;
	}
	return false;
}

static int read_attribute(struct pp_legacy *l, struct pp_str name, struct pp_str text, int64_t *cycles_per_s)
{
	struct pp_profile *p = pp_build_profile(l->build);
	int64_t value = 0;
	bool is_rate = pp_str_eq(name, PP_LIT("cycles/second")), is_period = pp_str_eq(name, PP_LIT("sampling period"));
	bool is_time = pp_str_eq(name, PP_LIT("ms since reset"));
	if (pp_str_eq(name, PP_LIT("discarded samples")))
		return 0;
	if (!is_rate && !is_period && !is_time)
		return pp_legacy_bad_line(l, "an attribute that is not known");
	if (!pp_parse_i64(text, &value))
		return pp_legacy_bad_line(l, "not an integer of 64 bits");
	if (is_rate)
		*cycles_per_s = value;
	else if (is_period)
		p->period = value;
	else if (__builtin_mul_overflow(value, INT64_C(1000000), &p->duration_ns))
		return pp_legacy_fail(l, PP_EOVERFLOW, "the duration does not fit 64 bits");
	return 0;
}

/* Goes on to the first line that is not an attribute: 1, or 0 at the end. */
static int read_attributes(struct pp_legacy *l, int64_t *cycles_per_s)
{
	struct pp_str name, value;
	int more;
	while ((more = pp_legacy_next(l)) > 0) {
		if (pp_legacy_blank(l))
			continue;
		if (pp_legacy_is_section(l->line) || !split(l->line, &name, &value))
			break;
		if (read_attribute(l, name, value, cycles_per_s) < 0)
			return -1;
	}
	return more;
}

static int read_stack(struct pp_legacy *l, int64_t cycles_per_s)
{
	struct pp_str text = l->line;
	int64_t period = pp_build_profile(l->build)->period, delay, count;
	if (!pp_take_number(&text, &delay) || !pp_take_blanks(&text) || !pp_take_number(&text, &count) ||
	    !pp_take(&text, " @"))
		return pp_legacy_bad_line(l, "not 'delay count @ addresses'");
	if (period > 0) {
		/* In doubles and in this order, as the reference: equal to its last digit. */
		double ns = (double)delay * (double)period / ((double)cycles_per_s / 1e9);
		if (__builtin_mul_overflow(count, period, &count) || (cycles_per_s > 0 && !(fabs(ns) < 0x1p63)))
			return pp_legacy_fail(l, PP_EOVERFLOW, "the waiting that this stands for does not fit 64 bits");
		if (cycles_per_s > 0)
			delay = (int64_t)ns;
	}
	int result = pp_legacy_frames(l, text, true);
	const int64_t values[] = {count, delay};
	if (result == 0)
		result = pp_legacy_sample(l, values, NULL);
	return result < 0 ? -1 : 0;
}

int pp_legacy_contention(struct pp_legacy *l)
{
	static const char *const types[][2] = {{"contentions", "count"}, {"delay", "nanoseconds"}};
	int64_t cycles_per_s = 0;
	int more;
	do /* the head, which recognition has seen */
		more = pp_legacy_next(l);
	while (more > 0 && l->line.len == 0);
	pp_legacy_types(l, types, 2);
	pp_legacy_period(l, "contentions", "count", 1);
	if (more > 0)
		more = read_attributes(l, &cycles_per_s);
	while (more > 0 && !pp_legacy_is_section(l->line)) {
		int skipped = pp_legacy_skip(l);
		if (skipped < 0 || (skipped == 0 && read_stack(l, cycles_per_s) < 0))
			return -1;
		more = pp_legacy_next(l);
	}
	return more < 0 ? -1 : pp_legacy_find_map(l);
}
