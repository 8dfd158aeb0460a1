/* Difference in differences: what changed beyond the change of a control that the incident did not touch. */
#ifndef PD_CONTROL_H
#define PD_CONTROL_H

#include "libdiff/compare.h"

/* Fills the rows' flat_beyond and cum_beyond: the ratio incident/baseline over that of the control comparison,
 * with an interval from the standard errors of all four logarithms and the degrees of freedom of Welch and
 * Satterthwaite. same_baseline: the control was compared with this comparison's own baseline, which then
 * cancels. Rows that were not tested stay NAN; a row that the control lacks counts there as none of its
 * samples. Rows are the same by the name that they had on the baseline side, or else have on the incident side, so that
 * what was renamed here, there or in both is found. */
int pd_control_apply(struct pd_comparison *comparison, const struct pd_comparison *control, bool same_baseline,
                     struct pp_error *err) PP_MUSTUSE;

#endif
