/* Cost that changed its place without a function taking over another's name: a function is gone and its caller costs as
 * much more, or one is new and its caller costs as much less; or one that calls nothing of the application is gone, and its
 * caller calls a new one that costs as much. */
#include "libdiff/explain_parts.h"

#include <math.h>
#include <stdlib.h>

#define PAIR_COUNT 16.0    /* samples charged to a function that one side has: more than chance would lose */
#define CANDIDATES 200     /* a side, by cost */
#define RATIO_LOW 0.6      /* what its caller costs less or more, to what it costs */
#define RATIO_HIGH 1.7
#define MOVED_Z 3.0        /* standard errors of its caller's cost, that this must change by */
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

/* Whether a ratio of costs is about one, as far as so many samples can tell. */
static bool about_one(double ratio, double count_a, double count_b)
{
	double error = exp(sqrt(1 / (count_a + 0.5) + 1 / (count_b + 0.5)));

	return ratio * error >= RATIO_LOW && ratio / error <= RATIO_HIGH;
}

/* Whether what is charged to a function went to its caller or came from there. */
static bool find_vertical(const struct pd_explain *ex, enum pd_side side, uint32_t frame, uint32_t caller, double *const value[2],
                          double scale, struct ex_move *move)
{
	if (caller == PP_NONE)
		return false;
	double cost = value[side][frame] * (side == PD_BASELINE ? scale : 1), gain = value[1][caller] - scale * value[0][caller];
	double ratio = (side == PD_BASELINE ? gain : -gain) / cost;
	double counts = value[0][caller] * ex_count_by_value(ex, PD_BASELINE) + value[1][caller] * ex_count_by_value(ex, PD_INCIDENT);
	double moved = fabs(gain) * ex_count_by_value(ex, PD_INCIDENT);
	if (!(ratio > 0) || !about_one(ratio, value[side][frame] * ex_count_by_value(ex, side), counts) || moved < MOVED_Z * sqrt(counts))
		return false;
	*move = side == PD_BASELINE ? (struct ex_move){frame, caller, EX_INLINED, NULL, ratio, gain}
	                            : (struct ex_move){caller, frame, EX_EXTRACTED, NULL, ratio, cost};
	return true;
}

/* By frame: whether it calls another application function. */
static bool *find_inner(struct pd_explain *ex, struct pp_error *err)
{
	bool *inner = ex_alloc(ex->arena, ex->frames_n, sizeof(*inner), err);

	for (size_t c = 0; inner && c < ex->contexts_n; c++)
		for (uint32_t by = ex->contexts[c].parent; by != PP_NONE; by = ex->contexts[by].parent)
			if (ex->frames[ex->contexts[by].frame].class_ == PD_FRAME_APP && ex->contexts[by].frame != ex->contexts[c].frame) {
				inner[ex->contexts[by].frame] = true;
				break;
			}
	return inner;
}

/* Functions under one caller, of which one took the place of the other: the compiler may have inlined other things into
 * it, so that what is below them need not be alike. */
static int find_successors(struct pd_explain *ex, struct lone *const list[2], const size_t *n, uint32_t *const caller[2],
                           double scale, struct ex_move *moves, size_t *moves_n, size_t most, struct pp_error *err)
{
	const bool *inner = find_inner(ex, err);

	if (!inner)
		return -1;
	for (size_t a = 0; a < n[0]; a++)
		for (size_t b = 0; b < n[1] && *moves_n < most; b++) {
			uint32_t from = list[0][a].frame, to = list[1][b].frame;
			double ratio = list[1][b].cost / (list[0][a].cost * scale);
			if (inner[from] || inner[to] || caller[0][from] == PP_NONE || caller[0][from] != caller[1][to] ||
			    !(ratio >= RATIO_LOW && ratio <= RATIO_HIGH) || takes_part(moves, *moves_n, from) || takes_part(moves, *moves_n, to))
				continue;
			moves[(*moves_n)++] = (struct ex_move){from, to, EX_RENAMED, "has its caller, as it calls nothing of the application,", ratio,
			                                       list[1][b].cost};
		}
	return 0;
}

int ex_find_verticals(struct pd_explain *ex, double *const value[2], double scale, struct ex_move *moves, size_t *moves_n,
                      size_t most, struct pp_error *err)
{
	struct lone *list[2];
	uint32_t *caller[2];
	size_t n[2];

	for (int side = 0; side < 2; side++) {
		list[side] = ex_alloc(ex->arena, ex->frames_n, sizeof(**list), err);
		caller[side] = ex_alloc(ex->arena, ex->frames_n, sizeof(**caller), err);
		if (!list[side] || !caller[side] || find_callers(ex, (enum pd_side)side, caller[side], err))
			return -1;
		n[side] = find_lone(ex, (enum pd_side)side, value[side], list[side]);
	}
	if (find_successors(ex, list, n, caller, scale, moves, moves_n, most, err))
		return -1;
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < n[side] && *moves_n < most; i++) {
			uint32_t frame = list[side][i].frame;
			struct ex_move move;
			if (find_vertical(ex, (enum pd_side)side, frame, caller[side][frame], value, scale, &move) &&
			    !takes_part(moves, *moves_n, move.from) && !takes_part(moves, *moves_n, move.to))
				moves[(*moves_n)++] = move;
		}
	return 0;
}
