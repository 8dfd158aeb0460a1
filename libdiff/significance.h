/* From counts to p, q and intervals, for every row of a comparison. Private to the comparison. */
#ifndef PD_SIGNIFICANCE_H
#define PD_SIGNIFICANCE_H

#include "libdiff/matrix.h"

/* Fills what the rows and the comparison say of noise; the values are normalised. Rows with fewer than
 * min_count samples in all are not tested. */
int pd_test_rows(struct pd_comparison *comparison, const struct pd_matrix *matrix, struct pp_error *err) PP_MUSTUSE;

/* The tests alone: p and intervals of the rows, no q. The rows are untested so far, and can be tested
 * (comparison->noise). */
int pd_test_values(struct pd_comparison *comparison, const struct pd_matrix *matrix, struct pp_error *err) PP_MUSTUSE;

/* Nothing is known of noise in this row. */
void pd_row_untested(struct pd_row *row);

/* q from the p-values of two families of n below one root (see compare.h); NAN stays. flat and cum hold p
 * and get q; *any_p gets the root's p. -1 without memory. */
int pd_hierarchical_q(double *flat, double *cum, size_t n, double *any_p);

#endif
