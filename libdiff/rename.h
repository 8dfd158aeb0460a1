/* Who is who: which frames of the baseline and of the incident are one function under two names.
 * Private to the comparison.
 *
 * Equal names come first: only frames that one side lacks are looked at, but for closures whose numbers
 * were exchanged. Rules join pairs, one of each side. Where instances or clones of one function cannot
 * be told apart, all of them are folded into one. What is left may match by structure. */
#ifndef PD_RENAME_H
#define PD_RENAME_H

#include "libdiff/compare.h"
#include "libdiff/match.h"

/* What is known of every frame, and what is found. Arrays are by frame, frames_n long. */
struct pd_renames {
	const struct pp_frames *frames;
	const struct pd_calls *calls;
	size_t frames_n, groups_n;
	unsigned rules;
	double least_count;         /* samples on each side, to be recognised by structure */
	bool match, fold_matches;   /* by structure; and fold what is found so */
	const uint32_t *group;      /* frames with one canonical form; PP_NONE: none */
	const unsigned *applied;    /* rules that led to the canonical form */
	unsigned char *present[2];  /* has cost on this side */
	double *cost[2];            /* sums of |cum| */
	double total[2];            /* of the sides' |flat| */
	double *count[2];           /* samples; NULL: not measured */

	uint32_t *to[2];            /* out: the frame in whose row a side's frame is counted */
	uint32_t *fold_to;          /* out, by group: the frame into which all of the group go; PP_NONE */
	struct pd_rename *found;    /* out: for free() */
	size_t found_n, found_capacity;
};

/* Fills what is "out"; the arrays to and fold_to are the caller's. */
int pd_find_renames(struct pd_renames *renames, struct pp_error *err) PP_MUSTUSE;

#endif
