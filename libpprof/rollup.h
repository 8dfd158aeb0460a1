/* Aggregation: flat and cumulative sums per frame. flat is what a frame does itself (it is the leaf),
 * cumulative what happens in it and below, counted once a sample however often it recurs. */
#ifndef PP_ROLLUP_H
#define PP_ROLLUP_H

#include "libpprof/frame.h"
#include "libpprof/samplecount.h"

struct pp_rollup {
	uint32_t frames_n;   /* length of the arrays: the frame set's size when this was made */
	int64_t *flat, *cum; /* by frame, in the column's unit */
	double *flat_count, *cum_count; /* samples behind them; all 0 when not measured */
	int64_t total;       /* sum of |value|: what the reference's shares refer to */
	int64_t net;         /* sum of values: what flat adds up to */
	double total_count;
	bool negative;       /* some value is below 0 */
};

/* Rolls one column of a profile up over its frame map (made with pp_frames_map for this profile).
 * keep, if not NULL, has a byte a sample: rows with 0 are left out. PP_EOVERFLOW when a sum does not
 * fit 64 bits. Time is linear in the frames of the distinct stacks. */
int pp_rollup_make(const struct pp_profile *profile, const struct pp_frames *frames,
                   const struct pp_frame_map *map, uint32_t column,
                   const struct pp_count_rule *rule, const unsigned char *keep,
                   struct pp_rollup *rollup, struct pp_error *err) PP_MUSTUSE;
void pp_rollup_release(struct pp_rollup *rollup);

/* Frames with flat or cum not 0, ordered as the reference orders -top: |flat| descending, label,
 * |cum| descending (by_cum: |cum|, label, |flat|), then as pp_frames_cmp.
 * *order is malloc'ed, for free(). */
int pp_rollup_order(const struct pp_rollup *rollup, const struct pp_frames *frames, bool by_cum,
                    uint32_t **order, uint32_t *n, struct pp_error *err) PP_MUSTUSE;

#endif
