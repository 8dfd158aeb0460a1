/* Who calls whom on each side, how much is spent by each function itself, and where functions begin:
 * what a renamed function is recognised by. Private to the comparison. */
#ifndef PD_CALLS_H
#define PD_CALLS_H

#include "libpprof/pprof.h"

struct pd_calls;
struct pd_calls *pd_calls_new(struct pp_error *err) PP_MUSTUSE;
void pd_calls_free(struct pd_calls *calls); /* NULL is fine */

/* One call in a stack: of callee by caller (PP_NONE: by nobody, it is outermost), counted as often as it
 * is on a stack. weight[0] is what was seen of it where the caller was wanted, weight[1] where the callee was. */
struct pd_call {
	uint32_t caller, callee;
	uint64_t weight[2];
};

/* Adds one profile to a side (0, 1): the calls by and of frames that are wanted (a byte a
 * frame), and no others. Linear in the locations of the distinct stacks; with nothing wanted, in the
 * locations alone. total is the sum of all |values|. Of very large profiles some of the stacks stand for all: which, their names decide. */
int pd_calls_add(struct pd_calls *calls, int side, const struct pp_profile *profile, uint32_t column,
                 const struct pp_frames *frames, const struct pp_frame_map *map, uint64_t total,
                 const unsigned char *wanted, struct pp_error *err) PP_MUSTUSE;

/* The same from what is known of a side otherwise: one call with its weights, which are added; what a frame spends
 * itself; what all do. */
int pd_calls_put(struct pd_calls *calls, int side, const struct pd_call *call, struct pp_error *err) PP_MUSTUSE;
int pd_calls_put_self(struct pd_calls *calls, int side, uint32_t frame, uint64_t self, struct pp_error *err) PP_MUSTUSE;
void pd_calls_put_total(struct pd_calls *calls, int side, uint64_t total);

/* More calls than are kept came in: there is no saying who calls whom. */
bool pd_calls_overflowed(const struct pd_calls *calls);

/* All |values| of a side, and what the frame spends itself where it was wanted; in the units of the profiles. All sums stop at the largest number, so that the order of profiles does not matter. */
uint64_t pd_calls_total(const struct pd_calls *calls, int side);
uint64_t pd_calls_self(const struct pd_calls *calls, int side, uint32_t frame);
/* The least line at which a side's profiles have the function begin; 0: not given. */
int64_t pd_calls_start_line(const struct pd_calls *calls, int side, uint32_t frame);

/* The calls of a side, in no order, from *at = 0 on; false after the last. */
bool pd_calls_next(const struct pd_calls *calls, int side, size_t *at, struct pd_call *call);

#endif
