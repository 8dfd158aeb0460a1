/* One profile reduced to what a comparison needs. Private to the comparison. */
#ifndef PD_REPLICATE_H
#define PD_REPLICATE_H

#include "libdiff/calltree.h"
#include "libdiff/identify.h"

/* Fills *replicate from a profile's column: strings, header, rollup over frames (which grows by the
 * profile's frames), and tells identify and tree (NULL: not wanted) of it. side, name, origin and exposure are
 * the caller's. Release it also on failure. */
int pd_replicate_make(struct pd_replicate *replicate, const struct pp_profile *profile, uint32_t column,
                      struct pp_frames *frames, struct pd_identify *identify, struct pd_calltree *tree,
                      struct pp_error *err) PP_MUSTUSE;
void pd_replicate_release(struct pd_replicate *replicate);

/* Converts the rollup's values to a finer unit of the same family; unit is copied. PP_EOVERFLOW. */
int pd_replicate_convert(struct pd_replicate *replicate, const char *unit, struct pp_error *err) PP_MUSTUSE;

/* What the samples of one stack add up to; no sum can overflow once the rollup is made. */
struct pd_stack_sum {
	int64_t value;
	double count; /* 0 where samples are not counted */
};
/* By stack, for free(); NULL without memory. */
struct pd_stack_sum *pd_stack_sums(const struct pp_profile *profile, uint32_t column, const struct pp_count_rule *rule);

/* A copy that free() releases; NULL with *err without memory. */
char *pd_copy(struct pp_str text, struct pp_error *err) PP_MUSTUSE;

#endif
