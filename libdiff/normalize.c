#include "libdiff/normalize.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

static const char *const names[] = {"raw", "duration", "total", "exposure"};

const char *pd_normalization_name(enum pd_normalization normalization)
{
	return names[normalization];
}

int pd_normalization_find(const char *name)
{
	for (size_t i = 0; i < PP_COUNT(names); i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

bool pd_is_snapshot(const char *type)
{
	return strncmp(type, "inuse_", 6) == 0 || strcmp(type, "goroutine") == 0 ||
	       strcmp(type, "goroutines") == 0 || strcmp(type, "threadcreate") == 0;
}

static const char snapshot_reason[] = "a snapshot is a state, not a rate";

/* Adds whole numbers as such, so that their order cannot matter. */
static void add_exposure(struct pd_factor *factor, int64_t sum[2], enum pd_side side, int64_t value)
{
	if (!pp_add_i64(sum[side], value, &sum[side]))
		factor->reason = "an exposure does not fit 64 bits";
	factor->exposure[side] = (double)sum[side];
}

static void duration_factor(const struct pd_comparison *c, struct pd_factor *factor)
{
	int64_t sum[2] = {0, 0};
	if (pd_is_snapshot(c->type))
		factor->reason = snapshot_reason;
	for (size_t i = 0; i < c->replicates_n; i++) {
		const struct pd_replicate *replicate = &c->replicates[i];
		if (replicate->duration_ns <= 0)
			factor->reason = "a profile has no duration";
		add_exposure(factor, sum, replicate->side, replicate->duration_ns);
	}
}

static void total_factor(const struct pd_comparison *c, struct pd_factor *factor)
{
	int64_t sum[2] = {0, 0};
	for (size_t i = 0; i < c->replicates_n; i++)
		add_exposure(factor, sum, c->replicates[i].side, c->replicates[i].rollup.total);
	if (sum[0] == 0 || sum[1] == 0)
		factor->reason = "a side has no cost at all";
}

static void exposure_factor(const struct pd_comparison *c, struct pd_factor *factor)
{
	if (pd_is_snapshot(c->type))
		factor->reason = snapshot_reason;
	for (size_t i = 0; i < c->replicates_n; i++) {
		const struct pd_replicate *replicate = &c->replicates[i];
		if (!(replicate->exposure > 0) || isinf(replicate->exposure))
			factor->reason = "no exposure is given for a profile";
		factor->exposure[replicate->side] += replicate->exposure;
	}
}

/* Exposures as whole numbers of one unit, so that scaling is an exact fraction: nanoseconds and values
 * are whole, requests are kept to a millionth. */
static int64_t whole_exposure(const struct pd_factor *factor, enum pd_side side)
{
	bool fine = factor->normalization == PD_EXPOSURE && factor->exposure[0] + factor->exposure[1] < 4e12;
	return (int64_t)llround(factor->exposure[side] * (fine ? 1e6 : 1));
}

static void close_factor(struct pd_factor *factor)
{
	double sum = factor->exposure[0] + factor->exposure[1];
	if (!factor->reason && !(sum < 4e18))
		factor->reason = "an exposure does not fit 64 bits";
	if (!factor->reason && (whole_exposure(factor, 0) <= 0 || whole_exposure(factor, 1) <= 0))
		factor->reason = "an exposure is too small";
	factor->applies = !factor->reason;
	for (int side = 0; side < 2; side++)
		factor->scale[side] = factor->applies ? sum / 2 / factor->exposure[side] : NAN;
}

/* Whether a count of samples is proportional to value / period. */
static bool counts_follow_period(const struct pd_replicate *replicate)
{
	double factor;
	switch (replicate->count_rule.method) {
	case PP_COUNT_PERIOD:
	case PP_COUNT_HEAP:
		return true;
	case PP_COUNT_COLUMN:
		return pp_unit_find(pp_str_of(replicate->unit), &factor) != PP_UNIT_NONE &&
		       pp_unit_find(pp_str_of(replicate->unit), &factor) ==
		               pp_unit_find(pp_str_of(replicate->period_unit), &factor);
	default:
		return false;
	}
}

/* Samples a unit of value is expected to give, relative to the other side. */
static double sampling_rate(const struct pd_comparison *c, enum pd_side side)
{
	double sum = 0;
	for (size_t i = 0; i < c->replicates_n; i++) {
		const struct pd_replicate *replicate = &c->replicates[i];
		double unit;
		pp_unit_find(pp_str_of(replicate->period_unit), &unit);
		if (replicate->period <= 0 || !counts_follow_period(replicate))
			return NAN;
		if (replicate->side == side)
			sum += 1 / ((double)replicate->period * unit);
	}
	return sum / (double)c->side_n[side];
}

/* The same numbers on both sides must give exactly 1:1, so a rate counts only where the two differ. */
static void count_exposures(struct pd_comparison *c)
{
	const struct pd_factor *used = &c->factors[c->normalization];
	double rate[2] = {sampling_rate(c, PD_BASELINE), sampling_rate(c, PD_INCIDENT)};
	bool differ = fabs(rate[0] - rate[1]) > 1e-9 * rate[0]; /* false for NAN */
	for (int side = 0; side < 2; side++) {
		if (c->normalization == PD_TOTAL)
			c->count_exposure[side] = c->total_count[side];
		else
			c->count_exposure[side] = used->exposure[side] * (differ ? rate[side] : 1);
	}
}

int pd_normalize(struct pd_comparison *c, struct pp_error *err)
{
	for (size_t i = 0; i < PP_COUNT(c->factors); i++)
		c->factors[i] = (struct pd_factor){.normalization = (enum pd_normalization)i};
	c->factors[PD_RAW].exposure[0] = c->factors[PD_RAW].exposure[1] = 1;
	duration_factor(c, &c->factors[PD_DURATION]);
	total_factor(c, &c->factors[PD_TOTAL]);
	exposure_factor(c, &c->factors[PD_EXPOSURE]);
	for (size_t i = 0; i < PP_COUNT(c->factors); i++)
		close_factor(&c->factors[i]);

	const struct pd_factor *used = &c->factors[c->normalization];
	if (!used->applies)
		return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET, "cannot normalise by %s: %s",
		               names[c->normalization], used->reason);
	count_exposures(c);
	return 0;
}

int pd_normalized(const struct pd_comparison *c, enum pd_side side, int64_t raw, int64_t *value,
                  struct pp_error *err)
{
	if (c->normalization == PD_RAW) {
		*value = raw;
		return 0;
	}
	const struct pd_factor *used = &c->factors[c->normalization];
	wide mine = (wide)whole_exposure(used, side);
	wide both = mine + (wide)whole_exposure(used, side == PD_BASELINE ? PD_INCIDENT : PD_BASELINE);
	wide product = (wide)pp_abs_i64(raw) * both, divisor = 2 * mine;
	wide quotient = product / divisor, rest = product % divisor;
	quotient += rest >= divisor - rest;
	if (quotient > INT64_MAX)
		return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "a value normalised by %s does not fit 64 bits",
		               names[c->normalization]);
	*value = raw < 0 ? -(int64_t)quotient : (int64_t)quotient;
	return 0;
}
