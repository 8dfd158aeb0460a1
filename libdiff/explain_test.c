/* Whether a group's cost beyond what was expected is more than noise. */
#include "libdiff/explain_parts.h"
#include "libdiff/special.h"
#include "libdiff/stats.h"

#include <math.h>

#define SIDE_CV2 0.004 /* between sides, beyond what replicates of one side differ by: before the functions tell */
#define PRIOR_N 4.0    /* that is worth what so many functions without any sampling noise would tell */
#define CHI2_MEDIAN 0.45494 /* of one degree of freedom */
#define PRIOR_DF 10.0  /* degrees of freedom that replicates have at least, filled up by what is assumed of their variation */
#define COLLECTOR_CV2 0.01 /* a collector's share varies more, with how full the heap happens to be, */
#define FRAMELESS_CV2 0.04 /* and what no function asked for even more: idling, system calls, other threads */
#define LOAD_BEND 0.25 /* cost per request follows requests a second with a power of this size: caches, locks, neighbours */
#define CERTAIN_Z 1.645 /* normal quantile of the lower end of a one-sided 95 % interval */
#define P_MIN 1e-12    /* below, the statistic is Wald's */
#define MUCH_COUNT 750.0   /* samples of a side, from which on noise is learned well */
#define TEST_COUNT 20.0 /* samples on both sides together that a group needs for a test */

/* Two-sided p of t with df degrees of freedom (DLMF 8.17: I_x with x = df / (df + t²)). */
static double t_p(double t, double df)
{
	return pd_beta_inc(df / 2, 0.5, df / (df + t * t));
}

double ex_log_t(const double *a, size_t a_n, const double *b, size_t b_n)
{
	const double *side[2] = {a, b};
	size_t n[2] = {a_n, b_n};
	double mean[2] = {0, 0}, squares = 0;

	if (a_n < 2 || b_n < 2)
		return NAN;
	for (int s = 0; s < 2; s++) {
		for (size_t i = 0; i < n[s]; i++) {
			if (!(side[s][i] > 0))
				return NAN;
			mean[s] += log(side[s][i]) / (double)n[s];
		}
		for (size_t i = 0; i < n[s]; i++)
			squares += pow(log(side[s][i]) - mean[s], 2);
	}
	double df = (double)(a_n + b_n - 2), variance = squares / df * (1 / (double)a_n + 1 / (double)b_n);
	if (!(variance > 0))
		return mean[0] == mean[1] ? 1 : 0;
	return t_p((mean[1] - mean[0]) / sqrt(variance), df);
}

/* Counts and exposures of the groups to be tested, in the order of groups. Where replicates do not show
 * the noise, those of a side are one column, for the dispersion that must be assumed. */
struct cells {
	struct pd_counts counts;
	double *count, *exposure;
	unsigned char *incident;
	bool replicated;
};

#define EXPOSURE_MIN 1e-3 /* samples: no requests of this kind in a replicate, but the model wants a mean */

static int make_cells(struct pd_explain *ex, const struct ex_fit *fit, struct cells *cells, struct pp_error *err)
{
	size_t columns_n = cells->replicated ? fit->pods_n : 2;

	cells->count = ex_alloc(ex->arena, fit->groups_n * columns_n + 1, sizeof(double), err);
	cells->exposure = ex_alloc(ex->arena, fit->groups_n * columns_n + 1, sizeof(double), err);
	cells->incident = ex_alloc(ex->arena, columns_n, 1, err);
	if (!cells->count || !cells->exposure || !cells->incident)
		return -1;
	cells->counts = (struct pd_counts){0, columns_n, cells->count, cells->incident, cells->exposure, true};
	cells->incident[columns_n - 1] = 1;
	for (size_t j = 0; j < fit->pods_n && cells->replicated; j++)
		cells->incident[j] = ex->replicates[j].side == PD_INCIDENT;
	return 0;
}

/* False where a side expects nothing: then there is no test. */
static bool fill_cells(const struct pd_explain *ex, const struct ex_fit *fit, size_t g, struct cells *cells)
{
	double *count = cells->count + cells->counts.frames_n * cells->counts.columns_n;
	double *exposure = cells->exposure + cells->counts.frames_n * cells->counts.columns_n, expected[2] = {0, 0};

	for (size_t i = 0; i < cells->counts.columns_n; i++)
		count[i] = exposure[i] = 0;
	for (size_t j = 0; j < fit->pods_n; j++) {
		enum pd_side side = ex->replicates[j].side;
		size_t i = cells->replicated ? j : (size_t)side;
		double e = fit->expected[g * fit->pods_n + j] * fit->kappa[j] * fit->factor[j];
		count[i] += fit->observed[g * fit->pods_n + j] * fit->kappa[j];
		exposure[i] += e > EXPOSURE_MIN ? e : EXPOSURE_MIN;
		expected[side] += e;
	}
	return expected[0] > 0 && expected[1] > 0;
}

/* ---- what sides differ by at equal code ---- */

/* The replicates of a side share its hour, its neighbours and its caches, which no difference between
 * replicates shows: the same code differs from side to side by more. So do single replicates. How much
 * more is seen in what most functions differ by between the sides, beyond sampling and replicates. */

/* Squared variation of the ratio of the sides that is assumed of their replicates, where they do not show it. */
static double assumed_cv2(const struct pd_explain *ex)
{
	return ex->options.assumed_cv2 * (1 / (double)ex->side_n[0] + 1 / (double)ex->side_n[1]);
}

/* The squares of log ratios by their variances have this median when excess is added to each. */
static double median_square(const struct ex_fit *fit, double excess, double *squares)
{
	size_t n = 0;

	for (size_t g = 0; g < fit->groups_n; g++) {
		const struct ex_group *group = &fit->groups[g];
		if (group->frame >= EX_PSEUDO_N && group->base > 0 && !isnan(group->p))
			squares[n++] = group->log_ratio * group->log_ratio /
			               (group->log_ratio_se * group->log_ratio_se + group->error_cv2 + excess);
	}
	return ex_median(squares, n);
}

/* The squared variation beyond log_ratio_se that the functions' log ratios show, most of which have not
 * changed; drawn to what is assumed by the information that either has. */
static double excess_cv2(const struct ex_fit *fit, double assumed, double *squares)
{
	double low = 0, high = 1, known = 0, prior = PRIOR_N / (2 * assumed * assumed);

	for (size_t g = 0; g < fit->groups_n; g++) {
		const struct ex_group *group = &fit->groups[g];
		double variance = group->log_ratio_se * group->log_ratio_se + group->error_cv2 + assumed;
		if (group->frame >= EX_PSEUDO_N && group->base > 0 && !isnan(group->p))
			known += 1 / (2 * variance * variance);
	}
	if (median_square(fit, 0, squares) <= CHI2_MEDIAN)
		high = 0;
	while (high - low > 1e-6) {
		double middle = (low + high) / 2;
		if (median_square(fit, middle, squares) > CHI2_MEDIAN)
			low = middle;
		else
			high = middle;
	}
	return (prior * assumed + known * high) / (prior + known);
}

/* Squared variation of a group's cost per request between the sides, at equal code. */
static double side_cv2(const struct ex_fit *fit, const struct ex_group *group)
{
	double bend = fit->growth > 0 && isfinite(fit->growth) ? LOAD_BEND * log(fit->growth) : 0;

	return fit->side_cv2 + fit->factor_cv2 + bend * bend + group->error_cv2 +
	       (group->frame == EX_COLLECTOR ? COLLECTOR_CV2 : group->frame == EX_FRAMELESS ? FRAMELESS_CV2 : 0);
}

/* Where replicates, and all functions together, tell little of how much replicates vary, what is assumed of that counts
 * for the degrees of freedom that are missing. Returns the statistic: that of sampling alone, shrunk. */
static double fill_up(const struct pd_explain *ex, struct ex_group *group)
{
	double df = ex_replicated(ex) ? group->df : 0, variance = group->log_ratio_se * group->log_ratio_se;
	double assumed = group->sampling_cv2 + (ex_replicated(ex) ? assumed_cv2(ex) : 0), p = fmax(group->sampling_p, P_MIN);

	group->df = PRIOR_DF;
	group->log_ratio_se = sqrt((df * variance + (PRIOR_DF - df) * assumed) / PRIOR_DF);
	double t = pd_t_quantile(1 - p / 2, INFINITY) * sqrt(group->sampling_cv2) / group->log_ratio_se;
	return p > P_MIN ? t : fmax(t, fabs(group->log_ratio) / group->log_ratio_se);
}

/* p of a rise: the statistic behind the two-sided p of the replicates shrinks as its standard error grows by what sides
 * differ by. */
static double rise_p(const struct pd_explain *ex, struct ex_group *group, double cv2)
{
	double p = group->p > P_MIN ? group->p : P_MIN, t, se;

	if (isnan(group->p))
		return NAN;
	if (!ex_replicated(ex) || group->df < PRIOR_DF) {
		t = fill_up(ex, group);
	} else {
		t = pd_t_quantile(1 - p / 2, group->df);
		t = p == P_MIN ? fmax(t, fabs(group->log_ratio) / group->log_ratio_se) : t;
	}
	se = group->log_ratio_se;
	group->log_ratio_se = sqrt(se * se + cv2);
	t *= se / group->log_ratio_se;
	p = isinf(group->df) ? erfc(t / sqrt(2)) : t_p(t, group->df);
	return group->log_ratio > 0 ? p / 2 : 1 - p / 2;
}

/* The test for groups of the application, or for the pseudo groups: these beside the others, but the others without
 * them, as idling and collecting vary more than code does. By replicates, or for sampling noise alone. */
static int test_columns(struct pd_explain *ex, struct ex_fit *fit, bool pseudo, bool replicated, struct pp_error *err)
{
	struct cells cells = {.replicated = replicated};
	struct pd_quasi_row *rows = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*rows), err);
	uint32_t *group_of = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*group_of), err);
	struct pd_quasi_fit quasi = {NAN, 0, INFINITY, 1};

	if (!rows || !group_of || make_cells(ex, fit, &cells, err))
		return -1;
	for (size_t g = 0; g < fit->groups_n; g++)
		if ((pseudo || fit->groups[g].frame >= EX_PSEUDO_N) && fit->groups[g].tested && fill_cells(ex, fit, g, &cells))
			group_of[cells.counts.frames_n++] = (uint32_t)g;
	if (cells.counts.frames_n && pd_quasi_test(&cells.counts, 0, &quasi, rows, err))
		return -1;
	for (size_t i = 0; i < cells.counts.frames_n; i++) {
		struct ex_group *group = &fit->groups[group_of[i]];
		const struct pd_quasi_row *row = &rows[i];
		if (pseudo != (group->frame < EX_PSEUDO_N))
			continue;
		group->log_ratio = row->log_ratio;
		group->log_ratio_se = row->log_ratio_se;
		group->df = row->df;
		group->p = row->p;
		if (replicated)
			continue;
		group->sampling_p = row->p;
		group->sampling_cv2 = row->log_ratio_se * row->log_ratio_se;
	}
	if (!pseudo || isnan(fit->quasi.dispersion))
		fit->quasi = quasi;
	return 0;
}

static int test_groups(struct pd_explain *ex, struct ex_fit *fit, struct pp_error *err)
{
	double *squares = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*squares), err);

	for (size_t g = 0; g < fit->groups_n; g++)
		fit->groups[g].p = NAN;
	if (!squares)
		return -1;
	for (int pseudo = 0; pseudo < 2; pseudo++)
		if (test_columns(ex, fit, pseudo, false, err) || (ex_replicated(ex) && test_columns(ex, fit, pseudo, true, err)))
			return -1;
	fit->side_cv2 = excess_cv2(fit, SIDE_CV2 + (ex_replicated(ex) ? 0 : assumed_cv2(ex)), squares);
	for (size_t g = 0; g < fit->groups_n; g++)
		fit->groups[g].p = rise_p(ex, &fit->groups[g], side_cv2(fit, &fit->groups[g]));
	return 0;
}

/* Cost beyond expectation on the incident side, the baseline's own ratio taken out. */
static void measure_rise(const struct pd_explain *ex, struct ex_fit *fit, size_t g)
{
	struct ex_group *group = &fit->groups[g];
	double o[2] = {0, 0}, e[2] = {0, 0};

	for (size_t j = 0; j < fit->pods_n; j++) {
		o[ex->replicates[j].side] += fit->observed[g * fit->pods_n + j];
		e[ex->replicates[j].side] += fit->expected[g * fit->pods_n + j] * fit->factor[j];
	}
	double base = e[0] > 0 ? o[0] / e[0] : 0;
	group->expected = base * e[1];
	group->rise = o[1] - group->expected;
	group->ratio = group->expected > 0 ? o[1] / group->expected : INFINITY;
}

/* False discovery rates of rises. An incident is looked for where the cost is: p-values are weighted by what there is
 * to see of a group (Genovese, Roeder & Wasserman 2006), its samples' square root, the mean weight being 1. */
static int correct(const struct pd_explain *ex, struct ex_fit *fit, struct pp_error *err)
{
	double *p = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*p), err);
	double *weight = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*weight), err), sum = 0;
	size_t weighted_n = 0;

	if (!p || !weight)
		return -1;
	for (size_t g = 0; g < fit->groups_n; g++) {
		const struct ex_group *group = &fit->groups[g];
		weight[g] = isnan(group->p) || group->frame < EX_PSEUDO_N ? 0 : sqrt(group->count);
		weighted_n += weight[g] > 0;
		sum += weight[g];
	}
	for (size_t g = 0; g < fit->groups_n; g++) {
		double w = weight[g] > 0 ? weight[g] * (double)weighted_n / sum : 1;
		p[g] = fit->groups[g].p / w < 1 ? fit->groups[g].p / w : isnan(fit->groups[g].p) ? NAN : 1;
	}
	if (pd_bh(p, p, fit->groups_n))
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	for (size_t g = 0; g < fit->groups_n; g++)
		fit->groups[g].q = p[g];
	return 0;
}

/* The false discovery rate below which rises count: half where there is one replicate on a side or
 * what was served is estimated, and half where there are few samples. */
static double level(const struct pd_explain *ex, const struct ex_fit *fit)
{
	double count[2] = {0, 0};

	for (size_t j = 0; j < ex->replicates_n; j++)
		count[ex->replicates[j].side] += ex->replicates[j].count;
	double part = ex_replicated(ex) && !fit->estimated ? 1 : 2;
	return ex->options.q / (fmin(count[0], count[1]) >= MUCH_COUNT || !ex_replicated(ex) ? part : 2 * part);
}

int ex_test(struct pd_explain *ex, struct ex_fit *fit, struct pp_error *err)
{
	double total = 0;

	for (size_t g = 0; g < fit->groups_n; g++) {
		fit->groups[g].tested = fit->counted && fit->groups[g].count >= TEST_COUNT;
		measure_rise(ex, fit, g);
		total += fit->groups[g].incident;
	}
	if (test_groups(ex, fit, err) || correct(ex, fit, err))
		return -1;
	fit->level = level(ex, fit);
	for (size_t g = 0; g < fit->groups_n; g++) {
		struct ex_group *group = &fit->groups[g];
		group->certain = group->incident * -expm1(CERTAIN_Z * group->log_ratio_se - group->log_ratio);
		group->rose = group->q < fit->level && group->rise > 0 && group->rise >= ex->options.min_share * total;
	}
	return 0;
}
