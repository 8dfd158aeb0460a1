/* The test for replicates: counts of many frames in several profiles a side, over-dispersed because
 * machines, traffic and neighbours differ from pod to pod.
 *
 * Model: count ~ negative binomial with mean rate[side] * exposure and one dispersion for all frames, its
 * variance multiplied by a scale of the frame's own, shrunk towards what the frames have in common:
 * quasi-likelihood F test of Lund, Nettleton, McCarthy & Smyth (2012), as edgeR's glmQLFTest; the
 * dispersion by adjusted profile likelihood (McCarthy, Chen & Smyth 2012, Cox & Reid 1987), the shrinkage
 * by Smyth (2004). No p-value is smaller than the one that Poisson noise alone would give. */
#ifndef PD_QUASI_H
#define PD_QUASI_H

#include "libpprof/pprof.h"

struct pd_counts {
	size_t frames_n, columns_n;    /* a column is a profile */
	const double *count;           /* [frame * columns_n + column], not negative */
	const unsigned char *incident; /* by column: 0 baseline, 1 incident; both sides occur */
	const double *exposure;        /* > 0: what the mean is proportional to; by column, or, */
	bool exposure_by_frame;        /* if set, [frame * columns_n + column] */
};

struct pd_quasi_fit {
	double dispersion;  /* of the negative binomial: squared coefficient of variation between replicates */
	double residual_df; /* columns - 2 */
	double prior_df;    /* how much a frame's own scale is pulled to the common one; INFINITY: all the way */
	double prior_scale;
};

struct pd_quasi_row {
	double rate[2];      /* fitted, per unit of exposure */
	double exposure[2];  /* summed */
	double log_ratio;    /* ln of incident rate over baseline rate, half a count added to both sides */
	double log_rate_se[2]; /* standard errors of the two log rates; the ratio's is their root of squares */
	double log_ratio_se;
	double df;           /* of the standard error */
	double p;            /* two-sided; NAN when the frame has no count at all */
};

/* Fits and tests all frames; rows has frames_n elements. One profile a side leaves no degree of freedom:
 * then assumed_dispersion stands in, the scale is 1 and df INFINITY, and fit->residual_df is 0, so that the
 * caller can say so. 0, or -1 with PP_ENOMEM. */
int pd_quasi_test(const struct pd_counts *counts, double assumed_dispersion, struct pd_quasi_fit *fit,
                  struct pd_quasi_row *rows, struct pp_error *err) PP_MUSTUSE;

/* In what follows t is pd_t_quantile(1 - alpha / 2, row->df): few values of df occur, and finding it costs
 * more than all the rest. */

/* 1 - alpha interval of the rate ratio incident/baseline. */
void pd_quasi_ratio(const struct pd_quasi_row *row, double t, double *low, double *high);

/* 1 - alpha interval of the rate difference incident - baseline, from the intervals of the two rates by
 * the method of variance estimates recovery (Zou & Donner 2008). */
void pd_quasi_difference(const struct pd_quasi_row *row, double t, double *low, double *high);

/* The smallest rise of the rate, as a ratio above 1, that would be seen at level alpha with the probability
 * whose t quantile is t_power: exp((t + t_power) * se). */
double pd_quasi_detectable(const struct pd_quasi_row *row, double t, double t_power);

#endif
