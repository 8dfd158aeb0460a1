/* Statistics over plain numbers: pure functions, no profile in sight. Each names its source. */
#ifndef PD_STATS_H
#define PD_STATS_H

#include <stddef.h>

/* Regularised incomplete beta function I_x(a, b), by Lentz's continued fraction (Numerical Recipes
 * §6.4 describes the method; DLMF 8.17.22). */
double pd_beta_inc(double a, double b, double x);

/* Exact conditional test of two Poisson rates (Przyborowski & Wilenski 1940): given n = a + b, under
 * equal rates b ~ Bin(n, eb / (ea + eb)). Two-sided, by summing all outcomes that are no more likely
 * than the one observed. counts are rounded down to whole samples; n = 0 gives 1. ea, eb > 0. */
double pd_poisson_ratio_p(double count_a, double exposure_a, double count_b, double exposure_b);

/* Clopper-Pearson interval (1934) of the rate ratio (b/eb)/(a/ea) at confidence 1 - alpha. *low may be
 * 0, *high INFINITY. */
void pd_poisson_ratio_ci(double count_a, double exposure_a, double count_b, double exposure_b,
                         double alpha, double *low, double *high);

/* Benjamini & Hochberg (1995) q-values of n p-values; NAN entries are left out of the count and stay
 * NAN. q may be p. Returns 0, or -1 without memory. */
int pd_bh(const double *p, double *q, size_t n);

#endif
