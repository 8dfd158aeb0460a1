/* Whether a group's cost beyond what was expected is more than noise. */
#include "libdiff/explain_parts.h"
#include "libdiff/stats.h"

#include <math.h>

#define ESTIMATED_Q 0.2 /* of the q asked for, where requests are estimated: that error is in no dispersion */
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

/* Samples observed and expected of a group, by side. */
struct sums {
	double o[2], e[2];
};

static struct sums group_sums(const struct pd_explain *ex, const struct ex_fit *fit, size_t g)
{
	struct sums sums = {{0, 0}, {0, 0}};

	for (size_t j = 0; j < fit->pods_n; j++) {
		enum pd_side side = ex->replicates[j].side;
		sums.o[side] += fit->observed[g * fit->pods_n + j] * fit->kappa[j];
		sums.e[side] += fit->expected[g * fit->pods_n + j] * fit->kappa[j] * fit->factor[j];
	}
	return sums;
}

/* Pearson's dispersion of a group around its two means. */
static double pearson(const struct pd_explain *ex, const struct ex_fit *fit, size_t g, const struct sums *sums)
{
	double chi2 = 0;

	for (size_t j = 0; j < fit->pods_n; j++) {
		enum pd_side side = ex->replicates[j].side;
		double e = fit->expected[g * fit->pods_n + j] * fit->kappa[j] * fit->factor[j];
		double mean = sums->e[side] > 0 ? sums->o[side] / sums->e[side] * e : 0;
		if (mean > 0)
			chi2 += pow(fit->observed[g * fit->pods_n + j] * fit->kappa[j] - mean, 2) / mean;
	}
	return chi2 / (double)(fit->pods_n - 2);
}

static double term(double o, double e, double pooled)
{
	return o > 0 ? o * log(o / e / pooled) : 0;
}

/* Quasi-likelihood F test of two means against one (McCullagh 1983; the dispersion is shrunk to the
 * median over groups as in Smyth 2004, with prior_df). */
static double f_test(const struct sums *s, double dispersion, double df)
{
	double pooled = (s->o[0] + s->o[1]) / (s->e[0] + s->e[1]);
	double deviance = 2 * (term(s->o[0], s->e[0], pooled) + term(s->o[1], s->e[1], pooled));
	double f = deviance > 0 ? deviance / dispersion : 0;

	return pd_beta_inc(df / 2, 0.5, df / (df + f));
}

/* Where replicates do not show the noise: Wald's test of the log ratio, with sampling noise and the
 * least variation between replicates that must be assumed. */
static double assumed_test(const struct pd_explain *ex, const struct sums *s)
{
	double ratio = log((s->o[1] + 0.5) / (s->e[1] + 0.5)) - log((s->o[0] + 0.5) / (s->e[0] + 0.5));
	double variance = 1 / (s->o[0] + 0.5) + 1 / (s->o[1] + 0.5) +
	                  ex->options.assumed_cv2 * (1 / (double)ex->side_n[0] + 1 / (double)ex->side_n[1]);

	return erfc(fabs(ratio) / sqrt(2 * variance));
}

static int dispersions(struct pd_explain *ex, struct ex_fit *fit, struct pp_error *err)
{
	double *values = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*values), err);
	size_t n = 0;

	if (!values)
		return -1;
	for (size_t g = 0; g < fit->groups_n; g++) {
		struct sums sums = group_sums(ex, fit, g);
		fit->groups[g].dispersion = pearson(ex, fit, g, &sums);
		if (fit->groups[g].tested)
			values[n++] = fit->groups[g].dispersion;
	}
	fit->dispersion = n ? ex_median(values, n) : 1;
	for (size_t g = 0; g < fit->groups_n; g++) {
		struct ex_group *group = &fit->groups[g];
		double df = (double)(fit->pods_n - 2), own = group->dispersion;
		group->dispersion = (fit->prior_df * fit->dispersion + df * group->dispersion) / (fit->prior_df + df);
		/* The error of estimated requests falls on the largest group of a label value alone. */
		if (fit->estimated && own > group->dispersion)
			group->dispersion = own;
		if (!(group->dispersion > 1))
			group->dispersion = 1;
	}
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
	bool replicated = ex->side_n[0] >= 2 && ex->side_n[1] >= 2;
	double *p = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*p), err);
	double *q = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*q), err), total = 0;

	if (!p || !q)
		return -1;
	for (size_t g = 0; g < fit->groups_n; g++) {
		fit->groups[g].tested = fit->counted && fit->groups[g].count >= TEST_COUNT;
		measure_rise(ex, fit, g);
		total += fit->groups[g].incident;
	}
	fit->dispersion = NAN;
	if (replicated && dispersions(ex, fit, err))
		return -1;
	for (size_t g = 0; g < fit->groups_n; g++) {
		struct sums sums = group_sums(ex, fit, g);
		p[g] = NAN;
		if (!fit->groups[g].tested || !(sums.e[0] > 0) || !(sums.e[1] > 0))
			continue;
		p[g] = replicated ? f_test(&sums, fit->groups[g].dispersion, fit->prior_df + (double)(fit->pods_n - 2))
		                  : assumed_test(ex, &sums);
	}
	if (pd_bh(p, q, fit->groups_n))
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	for (size_t g = 0; g < fit->groups_n; g++) {
		struct ex_group *group = &fit->groups[g];
		group->p = p[g];
		group->q = q[g];
		group->rose = q[g] < (fit->estimated ? ESTIMATED_Q : 1) * ex->options.q && group->rise > 0 && group->rise >= ex->options.min_share * total;
	}
	return 0;
}
