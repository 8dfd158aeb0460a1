/* What lies below the functions that samples belong to: the frames between them and the leaf. Many stacks end
 * alike, so sums of ends that were seen lately wait in a table. */
#include "libdiff/explain_parts.h"

#include <stdlib.h>
#include <string.h>

#define BELOW_MAX ((size_t)1 << 20) /* pairs of a function and a frame below it */
#define TAILS 2048                  /* a power of two */

/* The end of stacks from the function they belong to, and what is still to be charged below it. */
struct tail {
	int64_t value;
	uint64_t magnitude; /* sum of |value| */
	uint32_t n;         /* frames; 0: free */
	uint32_t frames[EX_TAIL_MAX];
};

struct ex_tails {
	struct pd_explain *ex;
	enum pd_side side;
	uint32_t *mark, stamp;    /* by frame: the last stack that charged it whole, so that recursion counts once */
	struct tail tails[TAILS]; /* by hash; a later one takes the place */
};

struct ex_tails *ex_tails_new(struct pd_explain *ex, enum pd_side side, struct pp_error *err)
{
	struct ex_tails *tails = calloc(1, sizeof(*tails));

	if (tails)
		tails->mark = calloc(ex->frames_n, sizeof(*tails->mark));
	if (!tails || !tails->mark) {
		ex_tails_free(tails);
		ex_no_memory(err);
		return NULL;
	}
	tails->ex = ex;
	tails->side = side;
	return tails;
}

void ex_tails_free(struct ex_tails *tails)
{
	if (!tails)
		return;
	free(tails->mark);
	free(tails);
}

static int pair_add(struct ex_tails *tails, uint32_t owner, uint32_t frame, int64_t value, uint64_t magnitude, size_t depth,
                    struct pp_error *err)
{
	struct pd_explain *ex = tails->ex;
	uint32_t id;

	if (ex->below_n >= BELOW_MAX)
		return 0;
	if (pp_arena_reserve(ex->arena, (void **)&ex->below, &ex->below_cap, ex->below_n + 1, sizeof(*ex->below)))
		return ex_no_memory(err);
	if (pd_pairs_put(&ex->below_ids, owner, frame, ex->below, sizeof(*ex->below), &id, err))
		return -1;
	if (id == PP_NONE) {
		id = (uint32_t)ex->below_n++;
		ex->below[id] = (struct ex_below){.owner = owner, .frame = frame};
	}
	ex->below[id].value[tails->side] += (double)value;
	ex->below[id].depth += (double)magnitude * (double)depth;
	return 0;
}

int ex_below_add(struct ex_tails *tails, uint32_t owner, const uint32_t *frames, size_t n, int64_t value, struct pp_error *err)
{
	tails->stamp++;
	for (size_t i = 0; i < n; i++) {
		if (tails->mark[frames[i]] == tails->stamp)
			continue;
		tails->mark[frames[i]] = tails->stamp;
		if (frames[i] != owner && pair_add(tails, owner, frames[i], value, pp_abs_i64(value), i, err))
			return -1;
	}
	return 0;
}

/* Charges the frames of a tail once each, by where they are nearest to the leaf. */
static int charge(struct ex_tails *tails, const struct tail *tail, int64_t value, uint64_t magnitude, struct pp_error *err)
{
	for (uint32_t i = tail->n - 1; i > 0; i--) {
		uint32_t frame = tail->frames[i], later = i + 1;
		while (later < tail->n && tail->frames[later] != frame)
			later++;
		if (later == tail->n && pair_add(tails, tail->frames[0], frame, value, magnitude, i - 1, err))
			return -1;
	}
	return 0;
}

static int settle(struct ex_tails *tails, struct tail *tail, struct pp_error *err)
{
	if (tail->magnitude && charge(tails, tail, tail->value, tail->magnitude, err))
		return -1;
	tail->value = 0;
	tail->magnitude = 0;
	return 0;
}

int ex_tails_add(struct ex_tails *tails, const uint32_t *frames, uint32_t n, int64_t value, struct pp_error *err)
{
	struct tail *tail = &tails->tails[pp_hash64(frames, n * sizeof(*frames)) & (TAILS - 1)];

	if (tail->n == n && memcmp(tail->frames, frames, n * sizeof(*frames)) == 0) {
		tail->value += value;
		tail->magnitude += pp_abs_i64(value);
		return 0;
	}
	if (settle(tails, tail, err))
		return -1;
	tail->n = n;
	memcpy(tail->frames, frames, n * sizeof(*frames));
	/* At once, so that pairs stand in the order of stacks, whatever takes the place of what. */
	return charge(tails, tail, value, pp_abs_i64(value), err);
}

int ex_tails_finish(struct ex_tails *tails, struct pp_error *err)
{
	for (size_t i = 0; i < TAILS; i++)
		if (settle(tails, &tails->tails[i], err))
			return -1;
	return 0;
}
