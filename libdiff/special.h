/* Special functions that C's mathematics does not have. */
#ifndef PD_SPECIAL_H
#define PD_SPECIAL_H

/* Derivatives of ln Gamma for x > 0 (recurrence up to 10, then the asymptotic series of DLMF 5.15). */
double pd_digamma(double x);
double pd_trigamma(double x);
double pd_tetragamma(double x);

/* x with trigamma(x) = y, y > 0, by Newton's method on 1/trigamma as Smyth (2004, "Linear models and
 * empirical Bayes methods", appendix) gives it. */
double pd_trigamma_inverse(double y);

/* Upper tail of the F distribution with 1 and df degrees of freedom (df may be INFINITY: chi-squared). */
double pd_f1_upper(double f, double df);

/* Quantile of Student's t for 0 < probability < 1; df > 0, may be INFINITY. */
double pd_t_quantile(double probability, double df);

#endif
