/* The robust normalisations: how big each profile is, judged by the frames that stayed the same. Private to
 * the comparison. */
#ifndef PD_ROBUST_H
#define PD_ROBUST_H

#include "libdiff/matrix.h"

/* The size of each column of the matrix, in samples (not counted: values), by TMM or by the median of ratios,
 * over rows with at least min_count samples in all: of flat values, or of cumulative ones. The library of
 * cumulative values is the trunk of the call tree. Where sizes cannot be told
 * *reason says why and they are 0; else it is NULL. 0, or -1 with PP_ENOMEM. */
int pd_robust_sizes(const struct pd_matrix *matrix, enum pd_normalization which, bool cumulative, double min_count,
                    double *size, const char **reason, struct pp_error *err) PP_MUSTUSE;

#endif
