/* Whether two sides can be compared, check by check. Private to the comparison. */
#ifndef PD_QUALIFY_H
#define PD_QUALIFY_H

#include "libdiff/compare.h"

/* Fills comparison->checks. Everything else of the comparison is complete. */
void pd_qualify(struct pd_comparison *comparison);

#endif
