#include "libdiff/normalize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libdiff/robust.h"

__extension__ typedef unsigned __int128 wide;

static const char *const names[PD_NORMALIZATIONS_N] = {"raw", "duration", "total", "exposure", "robust", "robust_median"};

const char *pd_normalization_name(enum pd_normalization normalization)
{
	return names[normalization];
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

/* Sizes are in samples; what a side is divided by is in values. */
static void robust_factor(const struct pd_matrix *m, const double *size, struct pd_factor *factor)
{
	for (size_t j = 0; j < m->columns_n; j++)
		if (m->total[j] > 0)
			factor->exposure[m->incident[j]] += size[j] * (m->cost[j] / m->total[j]);
}

/* Exposures as whole numbers of one unit, so that scaling is an exact fraction: nanoseconds and values
 * are whole, others are kept to a millionth. */
static int64_t whole_exposure(const struct pd_factor *factor, enum pd_side side)
{
	bool fine = factor->normalization >= PD_EXPOSURE && factor->exposure[0] + factor->exposure[1] < 4e12;
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

/* Samples that a unit of value is expected to give; NAN where that is not known. */
static double sampling_rate(const struct pd_replicate *replicate)
{
	double unit;
	pp_unit_find(pp_str_of(replicate->period_unit), &unit);
	if (replicate->period <= 0 || !counts_follow_period(replicate))
		return NAN;
	return 1 / ((double)replicate->period * unit);
}

/* Whether the profiles were sampled at known rates that differ. Equal ones must not count, so that equal
 * numbers give exactly 1:1. */
static bool rates_differ(const struct pd_comparison *c)
{
	double first = sampling_rate(&c->replicates[0]);
	bool differ = false;
	for (size_t i = 0; i < c->replicates_n; i++) {
		double rate = sampling_rate(&c->replicates[i]);
		if (isnan(rate))
			return false;
		differ |= fabs(rate - first) > 1e-9 * first;
	}
	return differ;
}

/* What the expected samples of a profile are proportional to. */
static double exposure_of(const struct pd_comparison *c, const struct pd_replicate *replicate, const double *size)
{
	switch (c->normalization) {
	case PD_DURATION:
		return (double)replicate->duration_ns;
	case PD_TOTAL:
		return replicate->rollup.total_count;
	case PD_EXPOSURE:
		return replicate->exposure;
	case PD_ROBUST:
	case PD_ROBUST_MEDIAN:
		return *size;
	default: /* the sums of the sides are compared */
		return 1 / (double)c->side_n[replicate->side];
	}
}

static void count_exposures(struct pd_comparison *c, struct pd_matrix *m, const double *size)
{
	bool of_counts = c->normalization == PD_TOTAL || c->normalization >= PD_ROBUST;
	bool differ = !of_counts && rates_differ(c);
	for (size_t j = 0; j < m->columns_n; j++) {
		const struct pd_replicate *replicate = &c->replicates[m->replicate[j]];
		m->exposure[j] = exposure_of(c, replicate, size + j) * (differ ? sampling_rate(replicate) : 1);
		m->cum_exposure[j] = m->exposure[j];
		c->count_exposure[replicate->side] += m->exposure[j];
	}
}

static int robust_factors(struct pd_comparison *c, const struct pd_matrix *m, double min_count, double *used_size,
                          struct pp_error *err)
{
	double *size = calloc(m->columns_n, sizeof(*size));
	int status = size ? 0 : pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for size factors");
	for (int which = PD_ROBUST; which <= PD_ROBUST_MEDIAN && status == 0; which++) {
		struct pd_factor *factor = &c->factors[which];
		status = pd_robust_sizes(m, (enum pd_normalization)which, false, min_count, size, &factor->reason, err);
		if (status == 0)
			robust_factor(m, size, factor);
		if (c->normalization == (enum pd_normalization)which)
			memcpy(used_size, size, m->columns_n * sizeof(*size));
	}
	free(size);
	return status;
}

/* Where cumulative values tell no sizes, those of flat ones stay. */
static int cumulative_exposures(const struct pd_comparison *c, struct pd_matrix *m, double min_count,
                                struct pp_error *err)
{
	const char *reason;
	double *size;
	int status;
	if (c->normalization < PD_ROBUST)
		return 0;
	if (!(size = calloc(m->columns_n, sizeof(*size))))
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for size factors");
	status = pd_robust_sizes(m, c->normalization, true, min_count, size, &reason, err);
	if (status == 0 && !reason)
		memcpy(m->cum_exposure, size, m->columns_n * sizeof(*size));
	free(size);
	return status;
}

int pd_normalize(struct pd_comparison *c, struct pd_matrix *m, struct pp_error *err)
{
	double min_count = c->counts_measured ? c->min_count : 0;
	double *size = calloc(m->columns_n, sizeof(*size));
	int status = size ? 0 : pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for size factors");

	for (size_t i = 0; i < PP_COUNT(c->factors); i++)
		c->factors[i] = (struct pd_factor){.normalization = (enum pd_normalization)i, .name = names[i]};
	c->factors[PD_ROBUST].name = "robust_tmm";
	c->factors[PD_RAW].exposure[0] = c->factors[PD_RAW].exposure[1] = 1;
	duration_factor(c, &c->factors[PD_DURATION]);
	total_factor(c, &c->factors[PD_TOTAL]);
	exposure_factor(c, &c->factors[PD_EXPOSURE]);
	if (status == 0)
		status = robust_factors(c, m, min_count, size, err);
	for (size_t i = 0; i < PP_COUNT(c->factors); i++)
		close_factor(&c->factors[i]);

	const struct pd_factor *used = &c->factors[c->normalization];
	if (status == 0 && !used->applies)
		status = pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET, "cannot normalise by %s: %s", names[c->normalization],
		                 used->reason);
	if (status == 0) {
		count_exposures(c, m, size);
		status = cumulative_exposures(c, m, min_count, err);
	}
	free(size);
	return status;
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
