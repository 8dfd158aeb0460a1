/* Cost that changed its place without a function taking over another's name: a function is gone and its caller costs as
 * much more, or one is new and its caller costs as much less. */
#include "libdiff/explain_parts.h"

#include <math.h>
#include <stdlib.h>

#define PAIR_COUNT 16.0    /* samples charged to a function that one side has: more than chance would lose */
#define CANDIDATES 200     /* a side, by cost */
#define RATIO_LOW 0.6      /* what its caller costs less or more, to what it costs */
#define RATIO_HIGH 1.7
#define ONE_CALLER 0.6     /* of a function's cost, to be its caller when it became part of that, or came out of it */

/* A function that only one side has. */
struct lone {
	const struct pd_explain *ex;
	uint32_t frame;
	double cost;
};
static int by_cost(const void *left, const void *right)
{
	const struct lone *a = left, *b = right;

	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return ex_frame_cmp(a->ex, a->frame, b->frame);
}

static bool takes_part(const struct ex_move *moves, size_t moves_n, uint32_t frame)
{
	for (size_t m = 0; m < moves_n; m++)
		if (moves[m].from == frame || moves[m].to == frame)
			return true;
	return false;
}

/* The largest application functions that only this side has. */
static size_t find_lone(const struct pd_explain *ex, enum pd_side side, const double *value, struct lone *list)
{
	double by_value = ex_count_by_value(ex, side);
	size_t n = 0;

	for (uint32_t f = EX_PSEUDO_N; f < ex->frames_n; f++)
		if (ex->frames[f].class_ == PD_FRAME_APP && ex->frames[f].cum[!side] == 0 && value[f] * by_value >= PAIR_COUNT)
			list[n++] = (struct lone){ex, f, (double)ex->frames[f].cum[side]};
	qsort(list, n, sizeof(*list), by_cost);
	return n < CANDIDATES ? n : CANDIDATES;
}

/* By frame: the application function that calls it in most of its cost on this side, or PP_NONE. The heaviest is what a
 * vote by weight leaves over (Boyer and Moore), if it has the majority. */
static int find_callers(struct pd_explain *ex, enum pd_side side, uint32_t *caller, struct pp_error *err)
{
	const double *cum = ex_context_cums(ex, side, err);
	double *votes = ex_alloc(ex->arena, ex->frames_n, sizeof(*votes), err);
	double *its = ex_alloc(ex->arena, ex->frames_n, sizeof(*its), err), *all = ex_alloc(ex->arena, ex->frames_n, sizeof(*all), err);

	if (!cum || !votes || !its || !all)
		return -1;
	for (uint32_t f = 0; f < ex->frames_n; f++)
		caller[f] = PP_NONE;
	for (size_t c = 0; c < ex->contexts_n; c++) {
		uint32_t f = ex->contexts[c].frame, by = ex->contexts[c].parent;
		by = by == PP_NONE ? PP_NONE : ex->contexts[by].frame;
		votes[f] += by == caller[f] ? cum[c] : -cum[c];
		if (votes[f] < 0) {
			votes[f] = -votes[f];
			caller[f] = by;
		}
	}
	for (size_t c = 0; c < ex->contexts_n; c++) {
		uint32_t f = ex->contexts[c].frame, by = ex->contexts[c].parent;
		all[f] += cum[c];
		its[f] += by != PP_NONE && ex->contexts[by].frame == caller[f] ? cum[c] : 0;
	}
	for (uint32_t f = 0; f < ex->frames_n; f++)
		if (caller[f] != PP_NONE && (its[f] < ONE_CALLER * all[f] || ex->frames[caller[f]].class_ != PD_FRAME_APP))
			caller[f] = PP_NONE;
	return 0;
}

/* Whether what is charged to a function went to its caller or came from there. */
static bool find_vertical(enum pd_side side, uint32_t frame, uint32_t caller, double *const value[2], double scale,
                          struct ex_move *move)
{
	if (caller == PP_NONE)
		return false;
	double cost = value[side][frame] * (side == PD_BASELINE ? scale : 1), gain = value[1][caller] - scale * value[0][caller];
	double ratio = (side == PD_BASELINE ? gain : -gain) / cost;
	if (!(ratio >= RATIO_LOW && ratio <= RATIO_HIGH))
		return false;
	*move = side == PD_BASELINE ? (struct ex_move){frame, caller, EX_INLINED, NULL, ratio, gain}
	                            : (struct ex_move){caller, frame, EX_EXTRACTED, NULL, ratio, cost};
	return true;
}

int ex_find_verticals(struct pd_explain *ex, double *const value[2], double scale, struct ex_move *moves, size_t *moves_n,
                      size_t most, struct pp_error *err)
{
	struct lone *list = ex_alloc(ex->arena, ex->frames_n, sizeof(*list), err);
	uint32_t *caller = ex_alloc(ex->arena, ex->frames_n, sizeof(*caller), err);

	if (!list || !caller)
		return -1;
	for (int side = 0; side < 2; side++) {
		size_t n = find_lone(ex, (enum pd_side)side, value[side], list);
		if (find_callers(ex, (enum pd_side)side, caller, err))
			return -1;
		for (size_t i = 0; i < n && *moves_n < most; i++) {
			struct ex_move move;
			if (find_vertical((enum pd_side)side, list[i].frame, caller[list[i].frame], value, scale, &move) &&
			    !takes_part(moves, *moves_n, move.from) && !takes_part(moves, *moves_n, move.to))
				moves[(*moves_n)++] = move;
		}
	}
	return 0;
}
