/* Stacks → what every frame, every path and every frame below the application costs.
 *
 * Work is linear in the frames of the stacks. Paths are kept for the stacks that cost most, as many as fit;
 * of the others only the function that they are charged to. Which they are depends on values alone, not on
 * the order of samples. */
#include "libdiff/explain_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PATH_FRAMES ((size_t)1 << 19)  /* of one profile, for whose stacks paths are kept */
#define BELOW_MAX ((size_t)1 << 20)    /* pairs of a function and a frame below it */
#define BELOW_DEPTH 12                 /* frames below a function, where no path is kept */

/* ---- contexts and what lies below them ---- */

static uint32_t context_put(struct pd_explain *ex, uint32_t parent, uint32_t frame, struct pp_error *err)
{
	uint32_t id;

	if (pp_arena_reserve(ex->arena, (void **)&ex->contexts, &ex->contexts_cap, ex->contexts_n + 1, sizeof(*ex->contexts))) {
		ex_no_memory(err);
		return PP_NONE;
	}
	if (pd_pairs_put(&ex->context_ids, parent, frame, ex->contexts, sizeof(*ex->contexts), &id, err))
		return PP_NONE;
	if (id != PP_NONE)
		return id;
	ex->contexts[ex->contexts_n] = (struct ex_context){parent, frame, {0, 0}};
	return (uint32_t)ex->contexts_n++;
}

static int below_add(struct pd_explain *ex, uint32_t owner, uint32_t frame, enum pd_side side, double value, uint32_t depth,
                     struct pp_error *err)
{
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
	ex->below[id].value[side] += value;
	ex->below[id].depth += fabs(value) * depth;
	return 0;
}

/* One profile being charged. */
struct charge {
	struct pd_explain *ex;
	enum pd_side side;
	const struct ex_map *map;
	int64_t *cum;          /* by frame */
	uint32_t *mark, *below_mark; /* by frame: the last stack + 1 that charged it, so that recursion counts once */
	uint32_t *short_context;     /* by frame: the context without a path; PP_NONE: not yet */
	uint32_t elsewhere;    /* the root of those; PP_NONE: not yet */
	uint32_t *frames, *outer; /* of one stack, root first */
	size_t frames_cap;
};

/* The frames of a stack, root first; -1 without memory. */
static int unroll(struct charge *charge, const struct pp_stack *stack, size_t *n, struct pp_error *err)
{
	const struct ex_map *map = charge->map;
	size_t want = 0;

	for (uint32_t i = 0; i < stack->n; i++)
		want += map->first[stack->locations[i] + 1] - map->first[stack->locations[i]];
	if (want > charge->frames_cap) {
		free(charge->frames);
		free(charge->outer);
		charge->frames_cap = want * 2;
		charge->frames = malloc(charge->frames_cap * sizeof(*charge->frames));
		charge->outer = malloc(charge->frames_cap * sizeof(*charge->outer));
		if (!charge->frames || !charge->outer)
			return ex_no_memory(err);
	}
	*n = 0;
	for (uint32_t i = stack->n; i-- > 0;)
		for (uint32_t k = map->first[stack->locations[i] + 1]; k-- > map->first[stack->locations[i]];)
			charge->outer[*n] = map->outer[k], charge->frames[(*n)++] = map->frame[k];
	return 0;
}

/* Where this function was entered first: recursion and closures called back by a library are within it. */
static size_t outermost(const uint32_t *frames, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (frames[i] == frames[at])
			return i;
	return at;
}

/* The frame that stands for the application frame at this place of a stack: itself; for a closure without a name
 * the function of the same file that called it, without a library in between, unless it is known to begin below
 * the closure; for one of a function that has returned, the function that this was inlined into. */
static size_t named(const struct charge *charge, size_t at)
{
	const struct ex_frame *all = charge->ex->frames, *closure = &all[charge->frames[at]];

	if (charge->outer[at] != PP_NONE && outermost(charge->frames, at) == at)
		for (size_t i = at; i-- > 0;)
			if (charge->frames[i] == charge->outer[at])
				return i;
	if (!closure->anonymous)
		return at;
	for (size_t i = at; i-- > 0;) {
		const struct ex_frame *frame = &all[charge->frames[i]];
		if (frame->class_ == PD_FRAME_LIBRARY || (frame->class_ == PD_FRAME_APP && strcmp(frame->file, closure->file) != 0))
			return at;
		if (frame->class_ == PD_FRAME_APP && !frame->anonymous)
			return closure->line > 0 && frame->line > closure->line ? at : i;
	}
	return at;
}

/* The context of a function alone, for stacks whose path is not kept. */
static uint32_t short_context(struct charge *charge, uint32_t owner, struct pp_error *err)
{
	if (charge->elsewhere == PP_NONE)
		charge->elsewhere = context_put(charge->ex, PP_NONE, EX_ELSEWHERE, err);
	if (charge->elsewhere != PP_NONE && charge->short_context[owner] == PP_NONE)
		charge->short_context[owner] = context_put(charge->ex, charge->elsewhere, owner, err);
	return charge->short_context[owner];
}

static uint32_t path_context(struct charge *charge, size_t app, struct pp_error *err)
{
	uint32_t context = PP_NONE;

	for (size_t i = 0; i <= app; i++) {
		if (i > 0 && charge->frames[i] == charge->frames[i - 1])
			continue;
		context = context_put(charge->ex, context, charge->frames[i], err);
		if (context == PP_NONE)
			break;
	}
	return context;
}

/* Charges the frames from `from` to the leaf to what lies below the owner. */
static int charge_below(struct charge *charge, uint32_t owner, size_t from, size_t n, int64_t value, uint32_t mark,
                        struct pp_error *err)
{
	for (size_t i = from; i < n; i++) {
		uint32_t frame = charge->frames[i];
		if (charge->below_mark[frame] == mark)
			continue;
		charge->below_mark[frame] = mark;
		if (frame != owner && below_add(charge->ex, owner, frame, charge->side, (double)value, (uint32_t)(i - from), err))
			return -1;
	}
	return 0;
}

/* A stack frame by frame: its context, with its path or without, and the frames below. */
static int charge_whole(struct charge *charge, const struct pp_stack *stack, int64_t value, uint32_t mark, bool path,
                        uint32_t *context, struct pp_error *err)
{
	struct pd_explain *ex = charge->ex;
	size_t n = 0, app, collector;

	if (unroll(charge, stack, &n, err))
		return -1;
	app = collector = n;
	for (size_t i = 0; i < n; i++) {
		enum pd_frame_class class_ = ex->frames[charge->frames[i]].class_;
		if (class_ == PD_FRAME_APP)
			app = i;
		if (class_ == PD_FRAME_COLLECTOR && collector == n)
			collector = i;
	}
	if (collector < n || app == n) {
		uint32_t owner = collector < n ? EX_COLLECTOR : EX_FRAMELESS;
		*context = context_put(ex, PP_NONE, owner, err);
		return *context == PP_NONE ? -1 : charge_below(charge, owner, collector < n ? collector : 0, n, value, mark, err);
	}
	app = outermost(charge->frames, named(charge, app));
	*context = path ? path_context(charge, app, err) : short_context(charge, charge->frames[app], err);
	if (*context == PP_NONE)
		return -1;
	return charge_below(charge, charge->frames[app], app + 1, n, value, mark, err);
}

/* A stack without its path, by the locations from the leaf to the deepest application frame alone. */
static int charge_short(struct charge *charge, const struct pp_stack *stack, uint32_t app, int64_t value, uint32_t mark,
                        uint32_t *context, struct pp_error *err)
{
	const struct ex_map *map = charge->map;
	const struct pd_explain *ex = charge->ex;
	uint32_t k = map->first[stack->locations[app]], below[BELOW_DEPTH], n = 0;

	while (ex->frames[map->frame[k]].class_ != PD_FRAME_APP)
		k++;
	uint32_t owner = map->frame[k];
	if (ex->frames[owner].anonymous || map->outer[k] != PP_NONE)
		return charge_whole(charge, stack, value, mark, false, context, err);
	for (uint32_t i = 0; i <= app && n < BELOW_DEPTH; i++) {
		uint32_t end = i == app ? k : map->first[stack->locations[i] + 1];
		for (uint32_t f = map->first[stack->locations[i]]; f < end && n < BELOW_DEPTH; f++)
			below[n++] = map->frame[f];
	}
	for (uint32_t i = 0; i < n; i++) {
		if (charge->below_mark[below[i]] == mark)
			continue;
		charge->below_mark[below[i]] = mark;
		if (below_add(charge->ex, owner, below[i], charge->side, (double)value, n - 1 - i, err))
			return -1;
	}
	*context = short_context(charge, owner, err);
	return *context == PP_NONE ? -1 : 0;
}

static unsigned magnitude(int64_t value)
{
	uint64_t v = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	unsigned bits = 0;

	for (; v; v >>= 1)
		bits++;
	return bits;
}

/* The least magnitude whose stacks keep their paths: from the largest down, as long as they fit. */
static unsigned least_kept(const struct pp_profile *p, const int64_t *value)
{
	size_t frames[65] = {0}, sum = 0;
	unsigned least = 65;

	for (uint32_t s = 0; s < p->stacks_n; s++)
		frames[magnitude(value[s])] += p->stacks[s].n;
	while (least > 1 && sum + frames[least - 1] <= PATH_FRAMES)
		sum += frames[--least];
	return least;
}

static int charge_stack(struct charge *charge, const struct pp_stack *stack, int64_t value, uint32_t mark, bool path,
                        uint32_t *context, unsigned *has_any, struct pp_error *err)
{
	const struct ex_map *map = charge->map;
	unsigned has = 0;
	uint32_t app = PP_NONE;

	for (uint32_t i = 0; i < stack->n; i++) {
		uint32_t location = stack->locations[i], end = map->first[location + 1];
		for (uint32_t k = map->first[location]; k < end; k++) {
			uint32_t frame = map->frame[k];
			if (charge->mark[frame] == mark)
				continue;
			charge->mark[frame] = mark;
			charge->cum[frame] += value;
		}
		has |= map->has[location];
		if (app == PP_NONE && (map->has[location] & EX_HAS_APP))
			app = i;
	}
	*has_any = has;
	if (path || app == PP_NONE || (has & EX_HAS_COLLECTOR))
		return charge_whole(charge, stack, value, mark, path, context, err);
	return charge_short(charge, stack, app, value, mark, context, err);
}

/* The sums of absolute values must fit: then no sum of a frame overflows on the way. */
static int check_range(const struct pp_profile *p, const int64_t *value, struct pp_error *err)
{
	int64_t sum = 0;

	for (uint32_t s = 0; s < p->stacks_n; s++)
		if (value[s] == INT64_MIN || !pp_add_i64(sum, value[s] < 0 ? -value[s] : value[s], &sum))
			return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the sum of the samples does not fit 64 bits");
	return 0;
}

static int add_cums(struct charge *charge, const struct pp_profile *p, const int64_t *value, struct pp_error *err)
{
	struct pd_explain *ex = charge->ex;
	bool fits = true;

	for (size_t f = 0; f < ex->frames_n; f++)
		fits = fits && pp_add_i64(ex->frames[f].cum[charge->side], charge->cum[f], &ex->frames[f].cum[charge->side]);
	for (uint32_t s = 0; s < p->stacks_n && fits; s++) {
		if (!p->stacks[s].n || !value[s])
			continue;
		struct ex_frame *leaf = &ex->frames[charge->map->frame[charge->map->first[p->stacks[s].locations[0]]]];
		fits = pp_add_i64(leaf->self[charge->side], value[s], &leaf->self[charge->side]);
	}
	return fits ? 0 : pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the sum of a function does not fit 64 bits");
}

int ex_charge(struct pd_explain *ex, enum pd_side side, const struct pp_profile *p, const struct ex_map *map,
              const int64_t *value, uint32_t *context, struct pp_error *err)
{
	struct charge charge = {.ex = ex, .side = side, .map = map, .elsewhere = PP_NONE};
	size_t n = ex->frames_n;
	unsigned least = least_kept(p, value);
	int rc = -1;

	charge.cum = calloc(n, sizeof(*charge.cum));
	charge.mark = calloc(n, sizeof(*charge.mark));
	charge.below_mark = calloc(n, sizeof(*charge.below_mark));
	charge.short_context = malloc(n * sizeof(*charge.short_context));
	if (!charge.cum || !charge.mark || !charge.below_mark || !charge.short_context) {
		ex_no_memory(err);
		goto done;
	}
	memset(charge.short_context, 0xff, n * sizeof(*charge.short_context)); /* PP_NONE */
	if (check_range(p, value, err))
		goto done;
	for (uint32_t s = 0; s < p->stacks_n; s++) {
		context[s] = PP_NONE;
		if (!value[s])
			continue;
		unsigned has;
		bool path = magnitude(value[s]) >= least;
		if (charge_stack(&charge, &p->stacks[s], value[s], s + 1, path, &context[s], &has, err))
			goto done;
		ex->contexts[context[s]].value[side] += (double)value[s];
		if (has & EX_HAS_CHANGED)
			ex->frames[ex->contexts[context[s]].frame].touched[side] += (double)value[s];
	}
	rc = add_cums(&charge, p, value, err);
done:
	free(charge.cum);
	free(charge.mark);
	free(charge.below_mark);
	free(charge.short_context);
	free(charge.frames);
	free(charge.outer);
	return rc;
}
