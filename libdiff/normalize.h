/* What the sides of a comparison are divided by. Private to the comparison. */
#ifndef PD_NORMALIZE_H
#define PD_NORMALIZE_H

#include "libdiff/compare.h"

/* Fills comparison->factors and count_exposure from the replicates, raw_total and total_count.
 * PP_EINCOMPAT when the normalisation in use does not apply. */
int pd_normalize(struct pd_comparison *comparison, struct pp_error *err) PP_MUSTUSE;

/* A raw value of one side after the normalisation in use; PP_EOVERFLOW. */
int pd_normalized(const struct pd_comparison *comparison, enum pd_side side, int64_t raw, int64_t *value,
                  struct pp_error *err) PP_MUSTUSE;

#endif
