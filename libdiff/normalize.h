/* What the sides of a comparison are divided by. Private to the comparison. */
#ifndef PD_NORMALIZE_H
#define PD_NORMALIZE_H

#include "libdiff/matrix.h"

/* Fills comparison->factors, count_exposure and matrix->exposure from the replicates and the matrix. The robust
 * factors rest on frames with min_count samples. PP_EINCOMPAT when the normalisation in use does not apply. */
int pd_normalize(struct pd_comparison *comparison, struct pd_matrix *matrix, struct pp_error *err) PP_MUSTUSE;

/* A raw value of one side after the normalisation in use; PP_EOVERFLOW. */
int pd_normalized(const struct pd_comparison *comparison, enum pd_side side, int64_t raw, int64_t *value,
                  struct pp_error *err) PP_MUSTUSE;

#endif
