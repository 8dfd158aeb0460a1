/* The difference of two groups as a profile: what `-diff_base` of the reference writes with -proto. Its
 * samples are those of the incident, and those of the baseline negated and labelled pprof::base=true,
 * so that both stay visible and nothing cancels before a reader adds up. Readers of pprof profiles,
 * the reference among them, take the label for what it is.
 *
 * Profiles are handed in one at a time, in any order: make a pp_merge, add each, finish it with
 * pp_merge_finish. What holds for a merge holds here: no byte depends on the order. */
#ifndef PD_SUBTRACT_H
#define PD_SUBTRACT_H

#include "libdiff/compare.h"

#define PD_BASE_KEY "pprof::base"
#define PD_BASE_VALUE "true"

/* Adds a profile of one side to a difference. Errors as of pp_merge_add. */
int pd_subtract_add(struct pp_merge *difference, enum pd_side side, const struct pp_profile *profile,
                    struct pp_error *err) PP_MUSTUSE;

#endif
