/* Recognises functions by their callers and callees, whatever they are called. Private to the comparison.
 *
 * After LLVM's matching of stale profiles (SampleProfileMatcher), carried over to call graphs of profiles:
 * only functions that one side lacks may match; callers and callees are compared as shares of the
 * function's cost, sum of the lesser by sum of the greater (weighted Jaccard); what was matched before
 * counts as the same neighbour; a match must be the best for both, by a margin. */
#ifndef PD_MATCH_H
#define PD_MATCH_H

#include "libdiff/calls.h"

struct pd_likeness {
	double score;                    /* of all below, 0 to 1; 0: not related at all */
	double callers, callees;         /* similarity of the neighbours' shares; callees include the function itself */
	double cost;                     /* the lesser share of the side's cost by the greater */
	double name;                     /* share of common three-letter pieces of the last part of the name */
	uint32_t callees_shared, callees_n; /* names that both call, and that either calls */
};

struct pd_pair {
	uint32_t frame[2]; /* by side */
	struct pd_likeness likeness;
};

struct pd_matcher;
/* wanted[side] has a byte a frame (frames_n): those that are to be compared. All is borrowed. NULL: no memory. */
struct pd_matcher *pd_matcher_new(const struct pd_calls *calls, const struct pp_frames *frames,
                                  const unsigned char *const wanted[2], size_t frames_n, struct pp_error *err) PP_MUSTUSE;
void pd_matcher_free(struct pd_matcher *matcher); /* NULL is fine */

/* How alike a baseline and an incident frame are. same[side][frame] is by what a neighbour is known on both sides. */
void pd_matcher_compare(struct pd_matcher *matcher, const uint32_t *const same[2], uint32_t baseline, uint32_t incident,
                        struct pd_likeness *likeness);

/* Pairs frames of two lists of at most PD_MATCH_MAX each: of those with a score of least and more, each
 * that is the best for both and better by a margin than the next for either. pairs has room for the
 * shorter list; exchanging the sides exchanges the frames of the pairs. */
#define PD_MATCH_MAX 256
int pd_matcher_pair(struct pd_matcher *matcher, const uint32_t *const same[2], const uint32_t *const list[2],
                    const size_t n[2], double least, struct pd_pair *pairs, size_t *pairs_n, struct pp_error *err) PP_MUSTUSE;

#endif
