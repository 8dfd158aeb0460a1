/* Orders of rows that no order of files, ids or samples changes. Private to the comparison. */
#ifndef PD_ROWORDER_H
#define PD_ROWORDER_H

#include "libdiff/compare.h"

/* By what a row is: label, file, line, column, address, mapping; rows of any two comparisons. */
int pd_row_cmp(const struct pd_comparison *a, const struct pd_row *row, const struct pd_comparison *b,
               const struct pd_row *other);

int pd_sort_by_identity(struct pd_comparison *comparison, struct pp_error *err) PP_MUSTUSE;
/* |delta_flat| desc, |delta_cum| desc, then by identity. */
int pd_sort_by_change(struct pd_comparison *comparison, struct pp_error *err) PP_MUSTUSE;

#endif
