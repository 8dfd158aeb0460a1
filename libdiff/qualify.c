#include "libdiff/qualify.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Where a measured difference becomes worth a warning. */
#define SAMPLES_ENOUGH 100       /* a side; with fewer only very big changes show */
#define DURATIONS_DIFFER 0.10    /* of the longer side's sum */
#define SYMBOLIZED_ENOUGH 0.90   /* of a side's cost */
#define SYMBOLIZED_DIFFER 0.05   /* between the sides' shares */
#define COVERED_WELL 0.90        /* of a side's cost, on frames that both sides have */
#define COVERED_ENOUGH 0.70      /* below it on both sides no claim about frames is made (golang/go #70291 asks for such a gate) */

static const char *const side_names[] = {"baseline", "incident"};

static void check(struct pd_comparison *c, const char *name, enum pd_outcome outcome, const char *format, ...)
	PP_PRINTF(4, 5);
static void check(struct pd_comparison *c, const char *name, enum pd_outcome outcome, const char *format, ...)
{
	struct pd_check *new = &c->checks[c->checks_n++];
	char text[sizeof(new->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	new->name = name;
	new->outcome = outcome;
	pp_printable(new->text, sizeof(new->text), text, strlen(text));
}

static enum pd_outcome warn_if(bool condition)
{
	return condition ? PD_WARN : PD_PASS;
}

/* The profiles of a side, for loops: from first_of to end_of. */
static const struct pd_replicate *first_of(const struct pd_comparison *c, enum pd_side side)
{
	return c->replicates + (side == PD_INCIDENT ? c->side_n[PD_BASELINE] : 0);
}
static const struct pd_replicate *end_of(const struct pd_comparison *c, enum pd_side side)
{
	return first_of(c, side) + c->side_n[side];
}

static void check_sample_type(struct pd_comparison *c)
{
	for (size_t i = 0; i < c->replicates_n; i++) {
		if (c->replicates[i].type_warning) {
			check(c, "sample_type", PD_WARN, "%s: %s", c->type, c->replicates[i].type_warning);
			return;
		}
	}
	check(c, "sample_type", PD_PASS, "%s", c->type);
}

static void check_unit(struct pd_comparison *c)
{
	check(c, "unit", PD_PASS, c->converted ? "%s, to which other units were converted" : "%s", c->unit);
}

/* Whether all profiles have the same number; min and max of each side. */
struct range {
	int64_t min, max;
};
static struct range period_range(const struct pd_comparison *c, enum pd_side side)
{
	struct range range = {INT64_MAX, INT64_MIN};
	for (const struct pd_replicate *r = first_of(c, side); r < end_of(c, side); r++) {
		range.min = r->period < range.min ? r->period : range.min;
		range.max = r->period > range.max ? r->period : range.max;
	}
	return range;
}

static void check_period(struct pd_comparison *c)
{
	struct range a = period_range(c, PD_BASELINE), b = period_range(c, PD_INCIDENT);
	const char *unit = c->replicates[0].period_unit;
	if (a.min == a.max && b.min == b.max && a.min == b.min && a.min == 0)
		check(c, "period", PD_WARN, "not given");
	else if (a.min == a.max && b.min == b.max && a.min == b.min)
		check(c, "period", PD_PASS, "%lld %s", (long long)a.min, unit);
	else
		check(c, "period", PD_WARN,
		      "baseline %lld to %lld %s, incident %lld to %lld: the sides were sampled at different rates",
		      (long long)a.min, (long long)a.max, unit, (long long)b.min, (long long)b.max);
}

/* Different period types do not come this far, but a profile may not give its own. */
static void check_period_type(struct pd_comparison *c)
{
	size_t given = 0, at = 0;
	for (size_t i = 0; i < c->replicates_n; i++)
		if (c->replicates[i].period_type[0]) {
			given++;
			at = i;
		}
	const struct pd_replicate *r = &c->replicates[at];
	if (given == c->replicates_n)
		check(c, "period_type", PD_PASS, "%s in %s", r->period_type, r->period_unit);
	else if (given)
		check(c, "period_type", PD_WARN, "%s in %s, and not given by %zu of %zu profiles", r->period_type,
		      r->period_unit, c->replicates_n - given, c->replicates_n);
	else
		check(c, "period_type", PD_WARN, "not given");
}

static void check_durations(struct pd_comparison *c)
{
	double sum[2] = {0, 0};
	size_t missing = 0;
	for (size_t i = 0; i < c->replicates_n; i++) {
		missing += c->replicates[i].duration_ns <= 0;
		sum[c->replicates[i].side] += (double)c->replicates[i].duration_ns / 1e9;
	}
	if (pd_is_snapshot(c->type))
		check(c, "durations", PD_PASS, "do not matter: %s is a snapshot", c->type);
	else if (missing)
		check(c, "durations", PD_WARN, "not given by %zu of %zu profiles", missing, c->replicates_n);
	else
		check(c, "durations",
		      warn_if(c->normalization == PD_RAW &&
		              fabs(sum[0] - sum[1]) > DURATIONS_DIFFER * fmax(sum[0], sum[1])),
		      "baseline %.2f s, incident %.2f s in all", sum[0], sum[1]);
}

static void check_replicates(struct pd_comparison *c)
{
	size_t a = c->side_n[0], b = c->side_n[1];
	if (a < 2 || b < 2)
		check(c, "replicates", PD_WARN, "%zu against %zu profiles: nothing tells how much instances vary", a, b);
	else if (a != b && c->normalization == PD_RAW)
		check(c, "replicates", PD_WARN, "%zu against %zu profiles, and their sums are compared as they are", a, b);
	else
		check(c, "replicates", PD_PASS, "%zu against %zu profiles", a, b);
}

static void check_instances(struct pd_comparison *c)
{
	uint32_t a = c->instances_n[0], b = c->instances_n[1];
	if (!a && !b)
		check(c, "instances", PD_PASS, "not labelled; every profile may be one");
	else
		check(c, "instances", warn_if(a != b), "%lu against %lu labelled instances", (unsigned long)a,
		      (unsigned long)b);
}

/* Share of a side's cost that has names; NAN without cost. */
static double symbolized(const struct pd_comparison *c, enum pd_side side)
{
	double named = 0, all = 0;
	for (const struct pd_replicate *r = first_of(c, side); r < end_of(c, side); r++) {
		if (r->rollup.total == 0)
			continue;
		named += r->symbolized_share * (double)r->rollup.total;
		all += (double)r->rollup.total;
	}
	return all > 0 ? named / all : NAN;
}

static void check_symbolization(struct pd_comparison *c)
{
	double a = symbolized(c, PD_BASELINE), b = symbolized(c, PD_INCIDENT);
	if (isnan(a) || isnan(b))
		check(c, "symbolization", PD_WARN, "not measured: a side has no cost");
	else
		check(c, "symbolization",
		      warn_if(a < SYMBOLIZED_ENOUGH || b < SYMBOLIZED_ENOUGH || fabs(a - b) > SYMBOLIZED_DIFFER),
		      "%.1f%% of the baseline's cost and %.1f%% of the incident's has function names", 100 * a, 100 * b);
}

static void check_inline_frames(struct pd_comparison *c)
{
	size_t with[2] = {0, 0};
	for (size_t i = 0; i < c->replicates_n; i++)
		with[c->replicates[i].side] += c->replicates[i].has_inline_frames;
	bool differ = (with[0] > 0) != (with[1] > 0);
	check(c, "inline_frames", warn_if(differ), "in %zu of %zu baseline and %zu of %zu incident profiles%s",
	      with[0], c->side_n[0], with[1], c->side_n[1],
	      differ ? ": a function inlined on one side only looks like moved cost" : "");
}

/* New code that costs much leaves the baseline covered; names that do not match leave neither. What only
 * looks alike is not joined, so it does not count. */
static void check_coverage(struct pd_comparison *c)
{
	double share[2][PD_MATCHED_N], covered[2];
	for (int side = 0; side < 2; side++) {
		const double *cost = c->identity.cost[side];
		double all = cost[PD_BY_NAME] + cost[PD_BY_RULE] + cost[PD_BY_STRUCTURE] + cost[PD_UNMATCHED];
		if (all <= 0) {
			check(c, "coverage", PD_WARN, "not measured: a side has no cost");
			return;
		}
		for (int i = 0; i < PD_MATCHED_N; i++)
			share[side][i] = cost[i] / all;
		covered[side] = share[side][PD_BY_NAME] + share[side][PD_BY_RULE];
	}
	char renamed[120] = "";
	if (c->identity.renames_n)
		snprintf(renamed, sizeof(renamed), "; by rules %.1f%% and %.1f%%, renamed? %.1f%% and %.1f%%",
		         100 * share[0][PD_BY_RULE], 100 * share[1][PD_BY_RULE], 100 * share[0][PD_BY_STRUCTURE],
		         100 * share[1][PD_BY_STRUCTURE]);
	check(c, "coverage",
	      fmax(covered[0], covered[1]) < COVERED_ENOUGH ? PD_REFUSE : warn_if(fmin(covered[0], covered[1]) < COVERED_WELL),
	      "%.1f%% of the baseline's cost and %.1f%% of the incident's is on frames that both sides have%s",
	      100 * covered[0], 100 * covered[1], renamed);
}

static void check_counts(struct pd_comparison *c)
{
	const struct pd_replicate *shown = &c->replicates[0];
	for (size_t i = 0; i < c->replicates_n; i++)
		if (c->replicates[i].count_rule.method == PP_COUNT_NOT_MEASURED)
			shown = &c->replicates[i];
	if (c->counts_measured)
		check(c, "counts", warn_if(fmin(c->total_count[0], c->total_count[1]) < SAMPLES_ENOUGH),
		      "%.0f and %.0f samples: %s", c->total_count[0], c->total_count[1],
		      shown->count_rule.reason);
	else
		check(c, "counts", PD_WARN, "not measured, so nothing is tested: %s", shown->count_rule.reason);
}

/* Seconds, as ISO 8601 in UTC; no locale. */
static const char *utc(char out[32], int64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm tm;
	if (!gmtime_r(&seconds, &tm) || strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		return "an unreadable time";
	return out;
}

static void check_time_order(struct pd_comparison *c)
{
	int64_t first[2] = {INT64_MAX, INT64_MAX}, last[2] = {0, 0};
	for (size_t i = 0; i < c->replicates_n; i++) {
		const struct pd_replicate *r = &c->replicates[i];
		if (r->time_ns <= 0) {
			check(c, "time_order", PD_WARN, "unknown: a profile of the %s has no time", side_names[r->side]);
			return;
		}
		first[r->side] = r->time_ns < first[r->side] ? r->time_ns : first[r->side];
		last[r->side] = r->time_ns > last[r->side] ? r->time_ns : last[r->side];
	}
	char a[32], b[32];
	bool swapped = first[PD_BASELINE] > last[PD_INCIDENT];
	check(c, "time_order", warn_if(swapped), "baseline from %s, incident from %s%s", utc(a, first[0]),
	      utc(b, first[1]), swapped ? ": the baseline is newer than the incident" : "");
}

static void check_negative_values(struct pd_comparison *c)
{
	size_t with[2] = {0, 0};
	for (size_t i = 0; i < c->replicates_n; i++)
		with[c->replicates[i].side] += c->replicates[i].rollup.negative;
	if (with[0] || with[1])
		check(c, "negative_values", PD_WARN,
		      "in %zu of %zu baseline and %zu of %zu incident profiles: they are differences themselves",
		      with[0], c->side_n[0], with[1], c->side_n[1]);
	else
		check(c, "negative_values", PD_PASS, "none");
}

void pd_qualify(struct pd_comparison *c)
{
	c->checks_n = 0;
	check_sample_type(c);
	check_unit(c);
	check_period(c);
	check_period_type(c);
	check_durations(c);
	check_replicates(c);
	check_instances(c);
	check_symbolization(c);
	check_inline_frames(c);
	check_coverage(c);
	check_counts(c);
	check_time_order(c);
	check_negative_values(c);
}
