/* One factor a replicate for its machine: what most application functions cost there beside what was expected. */
#include "libdiff/explain_parts.h"

#include <math.h>

#define FACTOR_GROUPS 5   /* fewer groups than this give no factor */
#define FACTOR_COUNT 4.0  /* mean samples that a group needs to take part in it */
#define FACTOR_CV2 0.03   /* squared variation of a single function, so that none counts for much more than others */
#define BIWEIGHT 4.685    /* residuals, in standard deviations, from which on a function does not count */
#define STEPS 30

/* Counts of the groups that take part. */
struct part {
	double *observed, *expected, *log_ratio;
	size_t n;
};

static void take_part(const struct ex_fit *fit, size_t j, struct part *part)
{
	part->n = 0;
	for (size_t g = 0; g < fit->groups_n; g++) {
		double e = fit->expected[g * fit->pods_n + j] * fit->kappa[j];
		if (fit->groups[g].frame < EX_PSEUDO_N || !(fit->groups[g].base > 0) || e < FACTOR_COUNT)
			continue;
		part->expected[part->n] = e;
		part->observed[part->n] = fit->observed[g * fit->pods_n + j] * fit->kappa[j];
		part->log_ratio[part->n] = log((part->observed[part->n] + 0.5) / (e + 0.5));
		part->n++;
	}
}

/* The robust rate of observed to expected: counts with the variance of Poisson noise and FACTOR_CV2, Tukey's
 * biweight (Beaton & Tukey 1974), from the median of ratios (Anders & Huber 2010) on. *cv2 is its squared
 * relative standard error. */
static double robust_rate(const struct part *part, double *cv2)
{
	double rate = exp(ex_median(part->log_ratio, part->n)), information = 0;

	for (int step = 0; step < STEPS; step++) {
		double above = 0, below = 0;
		information = 0;
		for (size_t i = 0; i < part->n; i++) {
			double mean = rate * part->expected[i], spread = 1 + FACTOR_CV2 * mean;
			double r = (part->observed[i] - mean) / sqrt(mean * spread) / BIWEIGHT;
			double weight = fabs(r) < 1 ? (1 - r * r) * (1 - r * r) : 0;
			above += weight * part->observed[i] / spread;
			below += weight * part->expected[i] / spread;
			information += weight * mean / spread;
		}
		if (!(above > 0))
			break;
		rate = above / below;
	}
	*cv2 = information > 0 ? 1 / information : 0;
	return rate;
}

int ex_machine_factors(struct pd_explain *ex, struct ex_fit *fit, struct pp_error *err)
{
	struct part part = {.observed = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(double), err),
	                    .expected = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(double), err),
	                    .log_ratio = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(double), err)};

	if (!part.observed || !part.expected || !part.log_ratio)
		return -1;
	for (size_t j = 0; j < fit->pods_n; j++) {
		double n = (double)ex->side_n[ex->replicates[j].side], cv2 = 0;
		fit->factor[j] = 1;
		if (ex->options.snapshot)
			continue;
		take_part(fit, j, &part);
		if (part.n >= FACTOR_GROUPS)
			fit->factor[j] = robust_rate(&part, &cv2);
		fit->factor_cv2 += cv2 / (n * n);
	}
	return 0;
}
