/* Functions that changed their name: gone on one side, new on the other, with the same callers, the
 * same work below and about the same cost; or their place: gone or new, and their caller costs as much more or less. Cumulative cost decides: a renamed function may do nothing
 * itself. Weighted Jaccard similarity over neighbours, after LLVM's matching of stale profiles. */
#include "libdiff/explain_parts.h"

#include <math.h>
#include <stdlib.h>

#define CANDIDATES 200     /* a side, by cost */
#define MIN_COUNT 4.0      /* samples behind a candidate */
#define PAIR_COUNT 16.0    /* and behind both of a pair: seeing none of one of them by chance has p = e^-8 */
#define MIN_CALLERS 0.5    /* similarity of the shares of its callers */
#define MIN_CALLEES 0.35   /* and of what it does */
#define GROWTH_FUNCTIONS 5 /* that both sides have, each */
#define GROWTH_COUNT 8.0   /* with so many samples, to tell how much all grew */
#define RATIO_LOW 0.6      /* cost of the new to the old one, at equal exposure */
#define RATIO_HIGH 1.7
#define ONE_CALLER 0.6     /* of a function's cost, to be its caller when it became part of that, or came out of it */
#define SELF_FRAME PP_NONE /* stands for the function's own work among its callees */

struct neighbour {
	uint32_t frame;
	double share;
};

struct candidate {
	uint32_t frame;
	double cost; /* at the incident's exposure */
	double count;
	struct neighbour *callers, *callees;
	size_t callers_n, callees_n;
	bool taken;
};

static int by_frame(const void *a, const void *b)
{
	uint32_t x = ((const struct neighbour *)a)->frame, y = ((const struct neighbour *)b)->frame;

	return x < y ? -1 : x > y;
}

/* Sorts by frame, adds up equal ones, and makes shares of the sum. */
static size_t to_shares(struct neighbour *list, size_t n)
{
	size_t out = 0;
	double sum = 0;

	qsort(list, n, sizeof(*list), by_frame);
	for (size_t i = 0; i < n; i++) {
		sum += list[i].share;
		if (out > 0 && list[out - 1].frame == list[i].frame)
			list[out - 1].share += list[i].share;
		else
			list[out++] = list[i];
	}
	for (size_t i = 0; i < out && sum > 0; i++)
		list[i].share /= sum;
	return out;
}

static double similarity(const struct neighbour *a, size_t a_n, const struct neighbour *b, size_t b_n)
{
	double low = 0, high = 0;

	for (size_t i = 0, k = 0; i < a_n || k < b_n;) {
		double x = i < a_n ? a[i].share : 0, y = k < b_n ? b[k].share : 0;
		if (i < a_n && (k == b_n || a[i].frame < b[k].frame))
			y = 0, i++;
		else if (k < b_n && (i == a_n || b[k].frame < a[i].frame))
			x = 0, k++;
		else
			i++, k++;
		low += x < y ? x : y;
		high += x < y ? y : x;
	}
	return high > 0 ? low / high : 0;
}

/* Cumulative values of all contexts on one side. */
static double *context_cums(struct pd_explain *ex, enum pd_side side, struct pp_error *err)
{
	double *cum = ex_alloc(ex->arena, ex->contexts_n + 1, sizeof(*cum), err);

	for (size_t c = ex->contexts_n; cum && c-- > 0;) {
		cum[c] += ex->contexts[c].value[side];
		if (ex->contexts[c].parent != PP_NONE)
			cum[ex->contexts[c].parent] += cum[c];
	}
	return cum;
}

/* The largest application frames that only one side has. */
static size_t find_orphans(const struct pd_explain *ex, enum pd_side side, double scale, double count_by_value,
                           struct candidate *list)
{
	size_t n = 0;

	for (uint32_t f = EX_PSEUDO_N; f < ex->frames_n; f++) {
		const struct ex_frame *frame = &ex->frames[f];
		double cost = (double)frame->cum[side];
		if (frame->class_ != PD_FRAME_APP || frame->cum[!side] != 0 || cost * count_by_value < MIN_COUNT)
			continue;
		struct candidate candidate = {.frame = f, .cost = cost * (side == PD_BASELINE ? scale : 1), .count = cost * count_by_value};
		size_t at = n;
		while (at > 0 && (candidate.cost > list[at - 1].cost || (candidate.cost == list[at - 1].cost &&
		                                                         ex_frame_cmp(ex, f, list[at - 1].frame) < 0)))
			at--;
		if (at == CANDIDATES)
			continue;
		if (n < CANDIDATES)
			n++;
		for (size_t i = n - 1; i > at; i--)
			list[i] = list[i - 1];
		list[at] = candidate;
	}
	return n;
}

/* Which candidate a frame is: index + 1, or 0. */
static size_t candidate_of(const uint32_t *index, uint32_t frame)
{
	return frame == PP_NONE ? 0 : index[frame];
}

static void add_neighbour(struct neighbour *list, size_t *n, uint32_t frame, double value)
{
	if (list)
		list[*n] = (struct neighbour){frame, value};
	(*n)++;
}

/* One pass over contexts and what lies below them; with NULL lists it only counts. */
static void visit_neighbours(const struct pd_explain *ex, enum pd_side side, const double *cum, const uint32_t *index,
                             struct candidate *list)
{
	for (size_t c = 0; c < ex->contexts_n; c++) {
		const struct ex_context *context = &ex->contexts[c];
		size_t me = candidate_of(index, context->frame);
		uint32_t parent = context->parent == PP_NONE ? PP_NONE : ex->contexts[context->parent].frame;
		size_t caller = candidate_of(index, parent);
		if (cum[c] == 0)
			continue;
		if (me)
			add_neighbour(list[me - 1].callers, &list[me - 1].callers_n, parent, cum[c]);
		if (caller)
			add_neighbour(list[caller - 1].callees, &list[caller - 1].callees_n, context->frame, cum[c]);
	}
	for (size_t b = 0; b < ex->below_n; b++) {
		size_t owner = candidate_of(index, ex->below[b].owner);
		if (owner && ex->below[b].value[side] != 0)
			add_neighbour(list[owner - 1].callees, &list[owner - 1].callees_n, ex->below[b].frame, ex->below[b].value[side]);
	}
}

static int fill_neighbours(struct pd_explain *ex, enum pd_side side, struct candidate *list, size_t n, struct pp_error *err)
{
	double *cum = context_cums(ex, side, err);
	uint32_t *index = ex_alloc(ex->arena, ex->frames_n, sizeof(*index), err);

	if (!cum || !index)
		return -1;
	for (size_t i = 0; i < n; i++)
		index[list[i].frame] = (uint32_t)i + 1;
	visit_neighbours(ex, side, cum, index, list);
	for (size_t i = 0; i < n; i++) {
		list[i].callers = ex_alloc(ex->arena, list[i].callers_n + 1, sizeof(struct neighbour), err);
		list[i].callees = ex_alloc(ex->arena, list[i].callees_n + 2, sizeof(struct neighbour), err);
		if (!list[i].callers || !list[i].callees)
			return -1;
		list[i].callers_n = list[i].callees_n = 0;
	}
	visit_neighbours(ex, side, cum, index, list);
	for (size_t i = 0; i < n; i++) {
		if (ex->frames[list[i].frame].self[side])
			add_neighbour(list[i].callees, &list[i].callees_n, SELF_FRAME, (double)ex->frames[list[i].frame].self[side]);
		list[i].callers_n = to_shares(list[i].callers, list[i].callers_n);
		list[i].callees_n = to_shares(list[i].callees, list[i].callees_n);
	}
	return 0;
}

/* 0 when the two are not one function; else how alike they are. */
static double likeness(const struct candidate *gone, const struct candidate *appeared)
{
	double ratio = appeared->cost / gone->cost;
	double callers = similarity(gone->callers, gone->callers_n, appeared->callers, appeared->callers_n);
	double callees = similarity(gone->callees, gone->callees_n, appeared->callees, appeared->callees_n);

	if (gone->count + appeared->count < PAIR_COUNT || !(ratio >= RATIO_LOW && ratio <= RATIO_HIGH) || callers < MIN_CALLERS || callees < MIN_CALLEES)
		return 0;
	return callers + callees - fabs(log(ratio));
}

static double count_by_value(const struct pd_explain *ex, enum pd_side side)
{
	double count = 0, value = 0;

	for (size_t j = 0; j < ex->replicates_n; j++)
		if (ex->replicates[j].side == side)
			count += ex->replicates[j].count, value += ex->replicates[j].value;
	return value > 0 ? count / value : 0;
}

/* What is charged to each function on either side. */
static int charged(struct pd_explain *ex, double *value[2], struct pp_error *err)
{
	for (int side = 0; side < 2; side++) {
		value[side] = ex_alloc(ex->arena, ex->frames_n, sizeof(double), err);
		if (!value[side])
			return -1;
		for (size_t c = 0; c < ex->contexts_n; c++)
			value[side][ex->contexts[c].frame] += ex->contexts[c].value[side];
	}
	return 0;
}

/* By how much what most functions cost grew, as one that was only renamed did too: the median over those that both
 * sides have; where they are few, what exposure says. */
static int common_growth(struct pd_explain *ex, double *const value[2], double otherwise, double *growth, struct pp_error *err)
{
	double *ratios = ex_alloc(ex->arena, ex->frames_n, sizeof(*ratios), err);
	size_t n = 0;

	if (!ratios)
		return -1;
	for (uint32_t f = EX_PSEUDO_N; f < ex->frames_n; f++)
		if (value[0][f] * count_by_value(ex, PD_BASELINE) >= GROWTH_COUNT &&
		    value[1][f] * count_by_value(ex, PD_INCIDENT) >= GROWTH_COUNT)
			ratios[n++] = value[1][f] / value[0][f];
	*growth = n >= GROWTH_FUNCTIONS && !ex->options.snapshot ? ex_median(ratios, n) : otherwise;
	return 0;
}

/* The one application function that calls a candidate; PP_NONE: there is none. */
static uint32_t one_caller(const struct pd_explain *ex, const struct candidate *candidate)
{
	for (size_t i = 0; i < candidate->callers_n; i++)
		if (candidate->callers[i].share >= ONE_CALLER && candidate->callers[i].frame != PP_NONE &&
		    ex->frames[candidate->callers[i].frame].class_ == PD_FRAME_APP)
			return candidate->callers[i].frame;
	return PP_NONE;
}

/* Whether what is charged to a candidate, which only one side has, went to its caller or came from there. */
static bool find_vertical(const struct pd_explain *ex, enum pd_side side, const struct candidate *candidate,
                          double *const value[2], double scale, struct ex_move *move)
{
	uint32_t caller = one_caller(ex, candidate);
	double cost = value[side][candidate->frame] * (side == PD_BASELINE ? scale : 1);

	if (caller == PP_NONE || value[side][candidate->frame] * count_by_value(ex, side) < PAIR_COUNT)
		return false;
	double gain = value[1][caller] - scale * value[0][caller], ratio = (side == PD_BASELINE ? gain : -gain) / cost;
	if (!(ratio >= RATIO_LOW && ratio <= RATIO_HIGH))
		return false;
	*move = side == PD_BASELINE ? (struct ex_move){candidate->frame, caller, EX_INLINED, ratio, gain}
	                            : (struct ex_move){caller, candidate->frame, EX_EXTRACTED, ratio, cost};
	return true;
}

/* Functions that are gone or new without a counterpart. No function takes part in two moves. */
static void find_verticals(const struct pd_explain *ex, struct candidate *const lists[2], const size_t *n, double *const value[2],
                           double scale, struct ex_move *moves, size_t *moves_n)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < n[side] && *moves_n < CANDIDATES; i++) {
			struct ex_move move;
			bool used = lists[side][i].taken || !find_vertical(ex, (enum pd_side)side, &lists[side][i], value, scale, &move);
			for (size_t m = 0; m < *moves_n && !used; m++)
				used = moves[m].from == move.from || moves[m].to == move.to || moves[m].from == move.to ||
				       moves[m].to == move.from;
			if (!used)
				moves[(*moves_n)++] = move;
		}
}

int ex_find_moves(struct pd_explain *ex, double scale, struct ex_move **moves, size_t *moves_n, struct pp_error *err)
{
	struct candidate *lists[2];
	double *value[2];
	size_t n[2];

	if (charged(ex, value, err) || common_growth(ex, value, scale, &scale, err))
		return -1;
	*moves_n = 0;
	*moves = ex_alloc(ex->arena, CANDIDATES, sizeof(**moves), err);
	if (!*moves)
		return -1;
	for (int side = 0; side < 2; side++) {
		lists[side] = ex_alloc(ex->arena, CANDIDATES, sizeof(*lists[side]), err);
		if (!lists[side])
			return -1;
		n[side] = find_orphans(ex, (enum pd_side)side, scale, count_by_value(ex, (enum pd_side)side), lists[side]);
		if (fill_neighbours(ex, (enum pd_side)side, lists[side], n[side], err))
			return -1;
	}
	for (;;) {
		struct candidate *from = NULL, *to = NULL;
		double best = 0;
		for (size_t a = 0; a < n[0]; a++)
			for (size_t b = 0; b < n[1] && !lists[0][a].taken; b++) {
				double like = lists[1][b].taken ? 0 : likeness(&lists[0][a], &lists[1][b]);
				if (like > best)
					best = like, from = &lists[0][a], to = &lists[1][b];
			}
		if (!from)
			break;
		from->taken = to->taken = true;
		(*moves)[(*moves_n)++] = (struct ex_move){from->frame, to->frame, EX_RENAMED, to->cost / from->cost, to->cost};
	}
	find_verticals(ex, lists, n, value, scale, *moves, moves_n);
	return 0;
}
