/* The samples of every row in every replicate: what size factors and tests are computed from. Private to
 * the comparison. */
#ifndef PD_MATRIX_H
#define PD_MATRIX_H

#include "libdiff/compare.h"

/* Columns are ordered by content, not by side, so that sums over them do not depend on which side is which. */
struct pd_matrix {
	size_t rows_n, columns_n;
	double *flat, *cum;         /* [row * columns_n + column]: samples, or, not counted, values */
	double *total;              /* by column: of all samples or values, on any row */
	double *cost;               /* by column: of |value| */
	size_t *replicate;          /* of a column */
	unsigned char *incident;    /* of a column: is it of that side? */
	double *exposure;           /* by column: set by pd_normalize, of the normalisation in use */
	double *cum_exposure;       /* the same for tests of cumulative values: robust ones have sizes of their own */
	bool negative;              /* some value is */
};

/* From the replicates; row_of has a row (or PP_NONE) for each frame. PP_ELIMIT over some 40 million cells. */
int pd_matrix_make(struct pd_matrix *matrix, const struct pd_comparison *comparison, const uint32_t *row_of,
                   struct pp_error *err) PP_MUSTUSE;
/* How many cells that many rows and columns have. PP_ELIMIT, as above. */
int pd_matrix_cells(size_t rows_n, size_t columns_n, size_t *cells, struct pp_error *err) PP_MUSTUSE;
void pd_matrix_release(struct pd_matrix *matrix);

#endif
