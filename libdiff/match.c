#include "libdiff/match.h"

#include <stdlib.h>
#include <string.h>

#define NEIGHBOURS_MAX 64      /* of a frame, by weight: what is below them says little */
#define SHARE_ONE (1u << 20)   /* shares are integers, so that sums do not depend on their order */
#define LEAST_SIMILARITY 0.35  /* of callers and of callees, each */
#define LEAST_COST 0.5         /* the lesser by the greater */
#define RELATED_NAMES 0.4      /* without a file or package in common, names must be this alike */
#define MARGIN 0.1
#define ITSELF (PP_NONE - 1)   /* stands for the function's own work among its callees */

struct neighbour {
	uint32_t frame;
	uint32_t share;
	uint64_t weight;
};

struct list {
	struct neighbour *at;
	size_t n;
};

/* One wanted frame of one side. */
struct known {
	struct list callers, callees;
	uint32_t cost;         /* share of the side */
	uint64_t pieces[16];   /* which three-letter pieces the name has, hashed */
};

struct pd_matcher {
	const struct pp_frames *frames;
	size_t frames_n;
	uint32_t *index[2];    /* by frame: of known, or PP_NONE */
	struct known *known[2];
	struct neighbour *neighbours;
	uint32_t *mark;        /* scratch by frame + 2: share in the first list */
};

/* ---- neighbours ---- */

static int compare_frames(const struct pp_frames *frames, uint32_t a, uint32_t b)
{
	if (a >= ITSELF || b >= ITSELF)
		return (a > b) - (a < b);
	return pp_frames_cmp(frames, a, b);
}

/* The heaviest first; sorting by names makes the cut the same whatever the order of profiles. */
struct sortable {
	const struct pp_frames *frames;
	struct neighbour neighbour;
};
static int by_weight(const void *left, const void *right)
{
	const struct sortable *a = left, *b = right;
	if (a->neighbour.weight != b->neighbour.weight)
		return a->neighbour.weight > b->neighbour.weight ? -1 : 1;
	return compare_frames(a->frames, a->neighbour.frame, b->neighbour.frame);
}

static uint32_t share_of(uint64_t weight, double sum)
{
	return sum > 0 ? (uint32_t)((double)weight / sum * SHARE_ONE) : 0;
}

/* Leaves the heaviest neighbours, as shares of all. Returns the sum of all. */
static int to_shares(const struct pp_frames *frames, struct list *list, uint64_t *sum, struct pp_error *err)
{
	struct sortable *sorted = malloc((list->n + 1) * sizeof(*sorted));
	if (!sorted)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to match functions");
	*sum = 0;
	for (size_t i = 0; i < list->n; i++) {
		sorted[i] = (struct sortable){frames, list->at[i]};
		if (__builtin_add_overflow(*sum, list->at[i].weight, sum))
			*sum = UINT64_MAX;
	}
	qsort(sorted, list->n, sizeof(*sorted), by_weight);
	list->n = list->n < NEIGHBOURS_MAX ? list->n : NEIGHBOURS_MAX;
	for (size_t i = 0; i < list->n; i++) {
		list->at[i] = sorted[i].neighbour;
		list->at[i].share = share_of(list->at[i].weight, (double)*sum);
	}
	free(sorted);
	return 0;
}

static void append(struct list *list, uint32_t frame, uint64_t weight)
{
	if (list->at)
		list->at[list->n] = (struct neighbour){.frame = frame, .weight = weight};
	list->n++;
}

/* One pass over the calls of a side; lists without memory are only counted. */
static void visit(struct pd_matcher *m, const struct pd_calls *calls, int side)
{
	struct pd_call call;
	size_t at = 0;
	while (pd_calls_next(calls, side, &at, &call)) {
		uint32_t caller = call.caller < m->frames_n ? m->index[side][call.caller] : PP_NONE;
		uint32_t callee = call.callee < m->frames_n ? m->index[side][call.callee] : PP_NONE;
		if (call.caller == call.callee)
			continue; /* recursion is the function's own business */
		if (caller != PP_NONE && call.weight[0])
			append(&m->known[side][caller].callees, call.callee, call.weight[0]);
		if (callee != PP_NONE && call.weight[1])
			append(&m->known[side][callee].callers, call.caller, call.weight[1]);
	}
	for (size_t f = 0; f < m->frames_n; f++) {
		uint64_t self = pd_calls_self(calls, side, (uint32_t)f);
		if (m->index[side][f] != PP_NONE && self)
			append(&m->known[side][m->index[side][f]].callees, ITSELF, self);
	}
}

/* ---- names ---- */

/* What follows the last slash: packages' paths are alike anyway. */
static struct pp_str last_part(struct pp_str name)
{
	for (size_t i = name.len; i > 0; i--)
		if (name.ptr[i - 1] == '/')
			return (struct pp_str){name.ptr + i, name.len - i};
	return name;
}

static void note_pieces(struct known *known, struct pp_str name)
{
	for (size_t i = 0; i + 3 <= name.len; i++) {
		unsigned char a = (unsigned char)name.ptr[i], b = (unsigned char)name.ptr[i + 1], c = (unsigned char)name.ptr[i + 2];
		uint32_t hash = (((uint32_t)a << 16 | (uint32_t)b << 8 | c) * UINT32_C(2654435761)) >> 22;
		known->pieces[hash / 64] |= UINT64_C(1) << (hash % 64);
	}
}

/* Dice's coefficient of two sets of pieces. */
static double name_likeness(const struct known *a, const struct known *b)
{
	int both = 0, all = 0;
	for (size_t i = 0; i < PP_COUNT(a->pieces); i++) {
		both += __builtin_popcountll(a->pieces[i] & b->pieces[i]);
		all += __builtin_popcountll(a->pieces[i]) + __builtin_popcountll(b->pieces[i]);
	}
	return all ? 2.0 * both / all : 0;
}

/* Up to the last dot or colon. */
static struct pp_str package_of(struct pp_str name)
{
	while (name.len > 0 && name.ptr[name.len - 1] != '.' && name.ptr[name.len - 1] != ':')
		name.len--;
	return name;
}

static bool related(const struct pp_frames *frames, uint32_t a, uint32_t b)
{
	const struct pp_frame *f = pp_frames_at(frames, a), *g = pp_frames_at(frames, b);
	struct pp_str package = package_of(f->name);
	return pp_str_eq(last_part(f->file), last_part(g->file)) ||
	       (package.len && pp_str_eq(package, package_of(g->name)));
}

/* ---- making ---- */

static int index_wanted(struct pd_matcher *m, int side, const unsigned char *wanted, struct pp_error *err)
{
	uint32_t n = 0;
	m->index[side] = malloc((m->frames_n + 1) * sizeof(*m->index[side]));
	for (size_t f = 0; m->index[side] && f < m->frames_n; f++)
		m->index[side][f] = wanted[f] ? n++ : PP_NONE;
	m->known[side] = calloc((size_t)n + 1, sizeof(*m->known[side]));
	if (!m->index[side] || !m->known[side])
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to match functions");
	for (size_t f = 0; f < m->frames_n; f++)
		if (m->index[side][f] != PP_NONE)
			note_pieces(&m->known[side][m->index[side][f]], last_part(pp_frames_at(m->frames, (uint32_t)f)->name));
	return 0;
}

static uint32_t known_n(const struct pd_matcher *m, int side)
{
	uint32_t n = 0;
	for (size_t f = 0; f < m->frames_n; f++)
		n += m->index[side][f] != PP_NONE;
	return n;
}

/* Hands out room for the lists that visit has counted, and empties them. */
static void hand_out(struct pd_matcher *m, int side, uint32_t n, struct neighbour **room)
{
	for (uint32_t k = 0; k < n; k++) {
		struct list *lists[] = {&m->known[side][k].callers, &m->known[side][k].callees};
		for (size_t i = 0; i < PP_COUNT(lists); i++) {
			lists[i]->at = *room;
			*room += lists[i]->n;
			lists[i]->n = 0;
		}
	}
}

static int finish_side(struct pd_matcher *m, const struct pd_calls *calls, int side, uint32_t n, struct pp_error *err)
{
	double total = (double)pd_calls_total(calls, side);
	for (uint32_t k = 0; k < n; k++) {
		struct known *known = &m->known[side][k];
		uint64_t cum, ignored;
		if (to_shares(m->frames, &known->callers, &cum, err) != 0 || to_shares(m->frames, &known->callees, &ignored, err) != 0)
			return -1;
		known->cost = share_of(cum, total > (double)cum ? total : (double)cum);
	}
	return 0;
}

struct pd_matcher *pd_matcher_new(const struct pd_calls *calls, const struct pp_frames *frames,
                                  const unsigned char *const wanted[2], size_t frames_n, struct pp_error *err)
{
	struct pd_matcher *m = calloc(1, sizeof(*m));
	size_t room = 1;
	if (!m)
		goto no_memory;
	m->frames = frames;
	m->frames_n = frames_n;
	m->mark = calloc(frames_n + 2, sizeof(*m->mark));
	if (!m->mark)
		goto no_memory;
	uint32_t n[2];
	for (int side = 0; side < 2; side++) {
		if (index_wanted(m, side, wanted[side], err) != 0)
			goto fail;
		n[side] = known_n(m, side);
		visit(m, calls, side);
		for (uint32_t k = 0; k < n[side]; k++)
			room += m->known[side][k].callers.n + m->known[side][k].callees.n;
	}
	struct neighbour *at = m->neighbours = malloc(room * sizeof(*m->neighbours));
	if (!at)
		goto no_memory;
	for (int side = 0; side < 2; side++) {
		hand_out(m, side, n[side], &at);
		visit(m, calls, side);
		if (finish_side(m, calls, side, n[side], err) != 0)
			goto fail;
	}
	return m;
no_memory:
	pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to match functions");
fail:
	pd_matcher_free(m);
	return NULL;
}

void pd_matcher_free(struct pd_matcher *m)
{
	if (!m)
		return;
	for (int side = 0; side < 2; side++) {
		free(m->index[side]);
		free(m->known[side]);
	}
	free(m->neighbours);
	free(m->mark);
	free(m);
}

/* ---- comparing ---- */

/* By what a neighbour is known on both sides; the two pseudo neighbours follow the frames. */
static size_t place_of(const struct pd_matcher *m, const uint32_t *same, uint32_t frame)
{
	return frame < m->frames_n ? same[frame] : frame == ITSELF ? m->frames_n : m->frames_n + 1;
}

static double similarity(struct pd_matcher *m, const uint32_t *const same[2], const struct list lists[2],
                         uint32_t *shared, uint32_t *all)
{
	uint64_t less = 0, more = 0, first = 0;
	*shared = 0;
	*all = 0;
	for (size_t i = 0; i < lists[0].n; i++) {
		uint32_t *mark = &m->mark[place_of(m, same[0], lists[0].at[i].frame)];
		*all += *mark == 0 && lists[0].at[i].frame < m->frames_n;
		*mark += lists[0].at[i].share;
		first += lists[0].at[i].share;
	}
	for (size_t i = 0; i < lists[1].n; i++) {
		size_t place = place_of(m, same[1], lists[1].at[i].frame);
		uint32_t common = m->mark[place] < lists[1].at[i].share ? m->mark[place] : lists[1].at[i].share;
		bool real = lists[1].at[i].frame < m->frames_n;
		*shared += real && common > 0;
		*all += real && common == 0;
		less += common;
		more += lists[1].at[i].share - common;
		m->mark[place] -= common; /* several neighbours may be known by one name */
	}
	for (size_t i = 0; i < lists[0].n; i++)
		m->mark[place_of(m, same[0], lists[0].at[i].frame)] = 0;
	more += first;
	return more ? (double)less / (double)more : 0;
}

void pd_matcher_compare(struct pd_matcher *m, const uint32_t *const same[2], uint32_t baseline, uint32_t incident,
                        struct pd_likeness *likeness)
{
	const struct known *a = &m->known[0][m->index[0][baseline]], *b = &m->known[1][m->index[1][incident]];
	uint32_t low = a->cost < b->cost ? a->cost : b->cost, high = a->cost < b->cost ? b->cost : a->cost, ignored[2];

	*likeness = (struct pd_likeness){.cost = high ? (double)low / high : 0, .name = name_likeness(a, b)};
	likeness->callers = similarity(m, same, (const struct list[2]){a->callers, b->callers}, &ignored[0], &ignored[1]);
	likeness->callees = similarity(m, same, (const struct list[2]){a->callees, b->callees}, &likeness->callees_shared,
	                               &likeness->callees_n);
	if (likeness->cost < LEAST_COST || likeness->callers < LEAST_SIMILARITY || likeness->callees < LEAST_SIMILARITY ||
	    (likeness->name < RELATED_NAMES && !related(m->frames, baseline, incident)))
		return;
	likeness->score = 0.4 * likeness->callers + 0.4 * likeness->callees + 0.1 * (likeness->name + likeness->cost);
}

/* The best and the second best of a row or column of scores. */
struct best {
	size_t at;
	double score, second;
};
static void offer(struct best *best, size_t at, double score)
{
	if (score > best->score) {
		best->second = best->score;
		best->score = score;
		best->at = at;
	} else if (score > best->second) {
		best->second = score;
	}
}

int pd_matcher_pair(struct pd_matcher *m, const uint32_t *const same[2], const uint32_t *const list[2],
                    const size_t n[2], double least, struct pd_pair *pairs, size_t *pairs_n, struct pp_error *err)
{
	struct pd_likeness *all = malloc((n[0] * n[1] + 1) * sizeof(*all));
	struct best *best = calloc(n[0] + n[1] + 1, sizeof(*best)); /* of the baseline's, then of the incident's */
	*pairs_n = 0;
	if (!all || !best) {
		free(all);
		free(best);
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to match functions");
	}
	for (size_t a = 0; a < n[0]; a++)
		for (size_t b = 0; b < n[1]; b++) {
			struct pd_likeness *likeness = &all[a * n[1] + b];
			pd_matcher_compare(m, same, list[0][a], list[1][b], likeness);
			offer(&best[a], b, likeness->score);
			offer(&best[n[0] + b], a, likeness->score);
		}
	for (size_t a = 0; a < n[0]; a++) {
		const struct best *mine = &best[a], *theirs = &best[n[0] + mine->at];
		if (mine->score >= least && theirs->at == a && theirs->score >= least && mine->score - mine->second >= MARGIN &&
		    theirs->score - theirs->second >= MARGIN)
			pairs[(*pairs_n)++] = (struct pd_pair){{list[0][a], list[1][mine->at]}, all[a * n[1] + mine->at]};
	}
	free(all);
	free(best);
	return 0;
}
