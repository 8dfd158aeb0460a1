/* Stacks → what every frame, every path and every frame below the application costs.
 *
 * Work is linear in the frames of the stacks. Paths are kept for the stacks that cost most, as many as fit;
 * of the others only the function that they are charged to. Which they are depends on values alone, not on
 * the order of samples. */
#include "libdiff/explain_parts.h"

#include <stdlib.h>
#include <string.h>

#define PATH_FRAMES ((size_t)1 << 19) /* of one profile, for whose stacks paths are kept */
#define NOWHERE SIZE_MAX

/* A frame of the profile being charged: small, as every frame of every stack comes here. */
struct tally {
	int64_t self, cum;
	uint32_t mark;          /* the last stack that charged it, plus 1, so that recursion counts once */
	uint32_t short_context; /* the context without a path; PP_NONE: not yet */
};

/* One profile being charged. */
struct charge {
	struct pd_explain *ex;
	enum pd_side side;
	const struct ex_map *map;
	struct tally *tallies; /* by frame */
	struct ex_tails *tails;
	uint32_t elsewhere;    /* the root of contexts without a path; PP_NONE: not yet */
	uint32_t *frames;      /* of one stack, root first */
	size_t frames_n, frames_cap;
	size_t app;            /* of these the deepest of the application; NOWHERE */
	uint32_t outer;        /* the function that this was inlined into, if it is a closure; PP_NONE */
	uint32_t has;          /* EX_APP and others: of any of them */
};

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

/* Where this function was entered first: recursion and closures called back by a library are within it. */
static size_t outermost(const uint32_t *frames, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (frames[i] == frames[at])
			return i;
	return at;
}

/* The frame that stands for the application frame at this place, its deepest, of a stack: itself; for a closure without a name
 * the function of the same file that called it, without a library in between, unless it is known to begin below
 * the closure; for one of a function that has returned, the function that this was inlined into. */
static size_t named(const struct charge *charge, size_t at)
{
	const struct ex_frame *all = charge->ex->frames, *closure = &all[charge->frames[at]];

	if (charge->outer != PP_NONE && outermost(charge->frames, at) == at)
		for (size_t i = at; i-- > 0;)
			if (charge->frames[i] == charge->outer)
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
	uint32_t *context = &charge->tallies[owner].short_context;

	if (charge->elsewhere == PP_NONE)
		charge->elsewhere = context_put(charge->ex, PP_NONE, EX_ELSEWHERE, err);
	if (charge->elsewhere != PP_NONE && *context == PP_NONE)
		*context = context_put(charge->ex, charge->elsewhere, owner, err);
	return *context;
}

static uint32_t path_context(const struct charge *charge, size_t app, struct pp_error *err)
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

/* ---- one stack ---- */

static int grow(struct charge *charge, struct pp_error *err)
{
	size_t room = charge->frames_cap ? charge->frames_cap * 2 : 1024;
	uint32_t *larger = realloc(charge->frames, room * sizeof(*larger));

	if (!larger)
		return ex_no_memory(err);
	charge->frames = larger;
	charge->frames_cap = room;
	return 0;
}

/* Unrolls a stack and charges its frames. */
static int charge_frames(struct charge *charge, const struct pp_stack *stack, int64_t value, uint32_t mark, struct pp_error *err)
{
	size_t n = 0, app = NOWHERE, inner = NOWHERE;
	uint32_t has = 0;

	for (uint32_t i = stack->n; i-- > 0;) {
		const uint32_t *code = &charge->map->codes[stack->locations[i]];
		for (code = *code & EX_RUN ? charge->map->runs + (*code & ~EX_RUN) : code;; code++) {
			uint32_t frame = *code >> EX_CODE_SHIFT;
			struct tally *tally = &charge->tallies[frame];
			if (n == charge->frames_cap && grow(charge, err))
				return -1;
			if (tally->mark != mark)
				tally->cum += value;
			tally->mark = mark;
			if (*code & EX_INNER) {
				inner = n;
				charge->outer = code[1];
			}
			app = *code & EX_APP ? n : app;
			has |= *code;
			charge->frames[n++] = frame;
			if (*code & EX_LAST)
				break;
			code += (*code & EX_INNER) != 0;
		}
	}
	charge->outer = inner == app && app != NOWHERE ? charge->outer : PP_NONE;
	charge->frames_n = n;
	charge->app = app;
	charge->has = has;
	return 0;
}

/* The end of the stack, from its deepest application frame on; the middle of a long one is left out. */
static int charge_tail(struct charge *charge, int64_t value, struct pp_error *err)
{
	const uint32_t *frames = charge->frames + charge->app;
	size_t n = charge->frames_n - charge->app;
	uint32_t tail[EX_TAIL_MAX];

	if (n == 1)
		return 0;
	if (n <= EX_TAIL_MAX)
		return ex_tails_add(charge->tails, frames, (uint32_t)n, value, err);
	tail[0] = *frames;
	memcpy(tail + 1, frames + n - (EX_TAIL_MAX - 1), (EX_TAIL_MAX - 1) * sizeof(*tail));
	return ex_tails_add(charge->tails, tail, EX_TAIL_MAX, value, err);
}

/* A stack that no application frame is to answer for: from the outermost frame of the collector, or whole. */
static int charge_rest(struct charge *charge, int64_t value, uint32_t *context, struct pp_error *err)
{
	const struct pd_explain *ex = charge->ex;
	uint32_t owner = charge->has & EX_COLLECTED ? EX_COLLECTOR : EX_FRAMELESS;
	size_t from = 0;

	while (owner == EX_COLLECTOR && ex->frames[charge->frames[from]].class_ != PD_FRAME_COLLECTOR)
		from++;
	*context = context_put(charge->ex, PP_NONE, owner, err);
	if (*context == PP_NONE)
		return -1;
	return ex_below_add(charge->tails, owner, charge->frames + from, charge->frames_n - from, value, err);
}

/* Finds the context of the stack, with its path or without, and charges what is below. */
static int charge_owner(struct charge *charge, int64_t value, bool path, uint32_t *context, struct pp_error *err)
{
	const uint32_t *frames = charge->frames;

	if ((charge->has & EX_COLLECTED) || charge->app == NOWHERE)
		return charge_rest(charge, value, context, err);
	if (!path && !charge->ex->frames[frames[charge->app]].anonymous && charge->outer == PP_NONE) {
		*context = short_context(charge, frames[charge->app], err);
		return *context == PP_NONE ? -1 : charge_tail(charge, value, err);
	}
	size_t app = outermost(frames, named(charge, charge->app));
	*context = path ? path_context(charge, app, err) : short_context(charge, frames[app], err);
	if (*context == PP_NONE)
		return -1;
	return ex_below_add(charge->tails, frames[app], frames + app + 1, charge->frames_n - app - 1, value, err);
}

static int charge_stack(struct charge *charge, const struct pp_stack *stack, int64_t value, uint32_t mark, bool path,
                        uint32_t *context, struct pp_error *err)
{
	struct pd_explain *ex = charge->ex;

	if (charge_frames(charge, stack, value, mark, err) || charge_owner(charge, value, path, context, err))
		return -1;
	if (charge->frames_n > 0)
		charge->tallies[charge->frames[charge->frames_n - 1]].self += value;
	ex->contexts[*context].value[charge->side] += (double)value;
	if (charge->has & EX_CHANGED)
		ex->frames[ex->contexts[*context].frame].touched[charge->side] += (double)value;
	return 0;
}

/* ---- one profile ---- */

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


/* The sums of absolute values must fit: then no sum of a frame overflows on the way. */
static int check_range(const struct pp_profile *p, const int64_t *value, struct pp_error *err)
{
	int64_t sum = 0;

	for (uint32_t s = 0; s < p->stacks_n; s++)
		if (value[s] == INT64_MIN || !pp_add_i64(sum, value[s] < 0 ? -value[s] : value[s], &sum))
			return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the sum of the samples does not fit 64 bits");
	return 0;
}

static int add_tallies(const struct charge *charge, struct pp_error *err)
{
	bool fits = true;

	for (size_t f = 0; f < charge->ex->frames_n && fits; f++) {
		struct ex_frame *frame = &charge->ex->frames[f];
		fits = pp_add_i64(frame->self[charge->side], charge->tallies[f].self, &frame->self[charge->side]) &&
		       pp_add_i64(frame->cum[charge->side], charge->tallies[f].cum, &frame->cum[charge->side]);
	}
	return fits ? 0 : pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the sum of a function does not fit 64 bits");
}

int ex_charge(struct pd_explain *ex, enum pd_side side, const struct pp_profile *p, const struct ex_map *map,
              const int64_t *value, uint32_t *context, struct pp_error *err)
{
	struct charge charge = {.ex = ex, .side = side, .map = map, .elsewhere = PP_NONE};
	unsigned least = least_kept(p, value);
	int rc = -1;

	charge.tails = ex_tails_new(ex, side, err);
	charge.tallies = calloc(ex->frames_n, sizeof(*charge.tallies));
	if (!charge.tails || !charge.tallies) {
		ex_no_memory(err);
		goto done;
	}
	for (size_t f = 0; f < ex->frames_n; f++)
		charge.tallies[f].short_context = PP_NONE;
	if (check_range(p, value, err))
		goto done;
	for (uint32_t s = 0; s < p->stacks_n; s++) {
		bool path = magnitude(value[s]) >= least;
		context[s] = PP_NONE;
		if (value[s] && charge_stack(&charge, &p->stacks[s], value[s], s + 1, path, &context[s], err))
			goto done;
	}
	if (ex_tails_finish(charge.tails, err) == 0)
		rc = add_tallies(&charge, err);
done:
	ex_tails_free(charge.tails);
	free(charge.tallies);
	free(charge.frames);
	return rc;
}
