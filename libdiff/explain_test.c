/* Whether a group's cost beyond what was expected is more than noise. */
#include "libdiff/explain_parts.h"
#include "libdiff/special.h"
#include "libdiff/stats.h"

#include <math.h>

#define SIDE_CV2 0.007 /* between sides, beyond what replicates of one side differ by */
#define LOAD_BEND 0.25 /* cost per request follows requests a second with a power of this size: caches, locks, neighbours */
#define P_MIN 1e-12    /* below, the statistic is Wald's */
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

/* The replicates of a side share its hour, its neighbours and its caches, which no difference between
 * replicates shows: the same code differs from side to side by this much more. The statistic behind p
 * shrinks as its standard error grows by that. */
static double between_sides_p(const struct pd_quasi_row *row, double cv2)
{
	double p = row->p > P_MIN ? row->p : P_MIN, t = pd_t_quantile(1 - p / 2, row->df);

	if (p == P_MIN)
		t = fmax(t, fabs(row->log_ratio) / row->log_ratio_se);
	t *= row->log_ratio_se / sqrt(row->log_ratio_se * row->log_ratio_se + cv2);
	return isnan(row->p) ? NAN : isinf(row->df) ? erfc(t / sqrt(2)) : t_p(t, row->df);
}

/* Squared variation of a group's cost per request between the sides, at equal code. */
static double side_cv2(const struct ex_fit *fit, const struct ex_group *group)
{
	double bend = fit->growth > 0 && isfinite(fit->growth) ? LOAD_BEND * log(fit->growth) : 0;

	return SIDE_CV2 + bend * bend + group->error_cv2;
}

static int test_groups(struct pd_explain *ex, struct ex_fit *fit, struct pp_error *err)
{
	struct cells cells = {.replicated = ex_replicated(ex)};
	struct pd_quasi_row *rows = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*rows), err);
	uint32_t *group_of = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*group_of), err);

	if (!rows || !group_of || make_cells(ex, fit, &cells, err))
		return -1;
	for (size_t g = 0; g < fit->groups_n; g++) {
		fit->groups[g].p = NAN;
		if (fit->groups[g].tested && fill_cells(ex, fit, g, &cells))
			group_of[cells.counts.frames_n++] = (uint32_t)g;
	}
	fit->quasi = (struct pd_quasi_fit){NAN, 0, INFINITY, 1};
	if (cells.counts.frames_n && pd_quasi_test(&cells.counts, ex->options.assumed_cv2, &fit->quasi, rows, err))
		return -1;
	for (size_t i = 0; i < cells.counts.frames_n; i++)
		fit->groups[group_of[i]].p = between_sides_p(&rows[i], side_cv2(fit, &fit->groups[group_of[i]]));
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

int ex_test(struct pd_explain *ex, struct ex_fit *fit, struct pp_error *err)
{
	double *p = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*p), err);
	double *q = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*q), err), total = 0;

	if (!p || !q)
		return -1;
	for (size_t g = 0; g < fit->groups_n; g++) {
		fit->groups[g].tested = fit->counted && fit->groups[g].count >= TEST_COUNT;
		measure_rise(ex, fit, g);
		total += fit->groups[g].incident;
	}
	if (test_groups(ex, fit, err))
		return -1;
	for (size_t g = 0; g < fit->groups_n; g++)
		p[g] = fit->groups[g].p;
	if (pd_bh(p, q, fit->groups_n))
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	for (size_t g = 0; g < fit->groups_n; g++) {
		struct ex_group *group = &fit->groups[g];
		group->q = q[g];
		group->rose = q[g] < ex->options.q && group->rise > 0 &&
		              group->rise >= ex->options.min_share * total;
	}
	return 0;
}
