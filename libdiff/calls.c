#include "libdiff/calls.h"

#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 4000000 /* calls of a profile that are looked at, about: more would take as long as reading */
#define CALLS_MAX ((size_t)1 << 21) /* a side: 96 MiB */

/* What is known of one frame on one side. */
struct place {
	uint64_t self;
	int64_t start_line;
};

/* An open hash table of calls; one without weights is an empty slot. */
struct table {
	struct pd_call *slots;
	size_t n, capacity; /* capacity: a power of two, or 0 */
	struct place *places; /* by frame */
	size_t places_n;
	uint64_t total;
};

struct pd_calls {
	struct table side[2];
	bool overflowed;
	uint32_t *names; /* hashes, by frame */
	size_t names_n;
};

struct pd_calls *pd_calls_new(struct pp_error *err)
{
	struct pd_calls *calls = calloc(1, sizeof(*calls));
	if (!calls)
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for calls");
	return calls;
}

void pd_calls_free(struct pd_calls *calls)
{
	if (!calls)
		return;
	for (int side = 0; side < 2; side++) {
		free(calls->side[side].slots);
		free(calls->side[side].places);
	}
	free(calls->names);
	free(calls);
}

/* Sums that stop at the largest number do not depend on the order of adding. */
static void add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

static bool used(const struct pd_call *call)
{
	return (call->weight[0] | call->weight[1]) != 0;
}

static size_t slot_of(const struct table *table, uint32_t caller, uint32_t callee)
{
	uint64_t key = ((uint64_t)caller << 32 | callee) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(key >> 20) & (table->capacity - 1);
	while (used(&table->slots[i]) && (table->slots[i].caller != caller || table->slots[i].callee != callee))
		i = (i + 1) & (table->capacity - 1);
	return i;
}

static int grow(struct table *table, struct pp_error *err)
{
	struct table larger = *table;
	larger.capacity = table->capacity ? table->capacity * 2 : 1024;
	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for calls");
	for (size_t i = 0; i < table->capacity; i++)
		if (used(&table->slots[i]))
			larger.slots[slot_of(&larger, table->slots[i].caller, table->slots[i].callee)] = table->slots[i];
	free(table->slots);
	*table = larger;
	return 0;
}

int pd_calls_put(struct pd_calls *calls, int side, const struct pd_call *call, struct pp_error *err)
{
	struct table *table = &calls->side[side];
	if (!used(call))
		return 0;
	if ((table->n + 1) * 2 > table->capacity && table->n < CALLS_MAX && grow(table, err) != 0)
		return -1;
	struct pd_call *mine = &table->slots[slot_of(table, call->caller, call->callee)];
	if (!used(mine)) {
		if (table->n == CALLS_MAX) {
			calls->overflowed = true;
			return 0;
		}
		*mine = (struct pd_call){call->caller, call->callee, {0, 0}};
		table->n++;
	}
	for (int end = 0; end < 2; end++)
		add(&mine->weight[end], call->weight[end]);
	return 0;
}

/* Adds to a call, for those of both ends that are wanted. */
static int put(struct pd_calls *calls, int side, uint32_t caller, uint32_t callee, uint64_t weight,
               const unsigned char *wanted, struct pp_error *err)
{
	struct pd_call call = {caller, callee, {caller != PP_NONE && wanted[caller] ? weight : 0, wanted[callee] ? weight : 0}};
	return pd_calls_put(calls, side, &call, err);
}

static int reserve_places(struct table *table, size_t n, struct pp_error *err)
{
	if (n <= table->places_n)
		return 0;
	struct place *larger = realloc(table->places, n * sizeof(*larger));
	if (!larger)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for calls");
	memset(larger + table->places_n, 0, (n - table->places_n) * sizeof(*larger));
	table->places = larger;
	table->places_n = n;
	return 0;
}

int pd_calls_put_self(struct pd_calls *calls, int side, uint32_t frame, uint64_t self, struct pp_error *err)
{
	if (reserve_places(&calls->side[side], (size_t)frame + 1, err) != 0)
		return -1;
	add(&calls->side[side].places[frame].self, self);
	return 0;
}

void pd_calls_put_total(struct pd_calls *calls, int side, uint64_t total)
{
	add(&calls->side[side].total, total);
}

static int reserve_frames(struct pd_calls *calls, struct table *table, const struct pp_frames *frames, struct pp_error *err)
{
	size_t n = pp_frames_count(frames);
	if (reserve_places(table, n, err) != 0)
		return -1;
	if (n > calls->names_n) {
		uint32_t *larger = realloc(calls->names, n * sizeof(*larger));
		if (!larger)
			return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for calls");
		calls->names = larger;
		for (; calls->names_n < n; calls->names_n++) {
			struct pp_str label = pp_frames_label(frames, (uint32_t)calls->names_n);
			calls->names[calls->names_n] = (uint32_t)pp_hash64(label.ptr, label.len);
		}
	}
	return 0;
}

static void note_start_lines(struct table *table, const struct pp_profile *profile, const struct pp_frame_map *map)
{
	for (uint32_t l = 0; l < profile->locations_n; l++) {
		const struct pp_location *location = &profile->locations[l];
		for (uint32_t i = 0; i < location->lines_n; i++) {
			uint32_t function = profile->lines[location->line_first + i].function;
			int64_t line = function == PP_NONE ? 0 : profile->functions[function].start_line;
			int64_t *least = &table->places[map->frame[map->first[l] + i]].start_line;
			if (line > 0 && (*least == 0 || line < *least))
				*least = line;
		}
	}
}

/* What one location calls. A place in the code mostly calls one function, so the sum goes to the table
 * only when another follows. */
struct site {
	uint64_t weight;
	uint32_t callee;
};

/* Scratch for one profile, by location but for loads, which are by stack: sums of |value|. */
struct walk {
	const struct pp_profile *profile;
	const struct pp_frame_map *map;
	const unsigned char *frames;   /* those wanted */
	uint64_t one_of;               /* of so many stacks one is looked at */
	uint64_t *loads;
	unsigned char *wanted;         /* has a wanted frame */
	struct site *sites;
	uint64_t *inlined, *outermost; /* on how much cost it is, where it has several frames; and at the root */
};

static bool mark_wanted(struct walk *walk)
{
	const struct pp_frame_map *map = walk->map;
	bool any = false;
	for (uint32_t l = 0; l < walk->profile->locations_n; l++) {
		for (uint32_t f = map->first[l]; f < map->first[l + 1]; f++)
			walk->wanted[l] |= walk->frames[map->frame[f]];
		any |= walk->wanted[l];
	}
	return any;
}

/* Whether a stack stands for others: by the names of some of its frames, so that neither the order of
 * stacks nor addresses decide. */
static bool stands_for_others(const struct pd_calls *calls, const struct walk *walk, const struct pp_stack *stack)
{
	uint64_t hash = stack->n;
	if (walk->one_of == 1)
		return true;
	for (uint32_t part = 0; part < 4; part++) {
		uint32_t l = stack->locations[(uint64_t)(stack->n - 1) * part / 3];
		hash = (hash ^ calls->names[walk->map->frame[walk->map->first[l]]]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash % walk->one_of == 0;
}

static int note_call(struct pd_calls *calls, int side, const struct walk *walk, uint32_t caller, uint32_t callee,
                     uint64_t load, struct pp_error *err)
{
	const struct pp_frame_map *map = walk->map;
	struct site *site = &walk->sites[caller];
	uint32_t frame = map->frame[map->first[callee + 1] - 1];
	if (site->callee != frame && site->weight) {
		if (put(calls, side, map->frame[map->first[caller]], site->callee, site->weight, walk->frames, err) != 0)
			return -1;
		site->weight = 0;
	}
	site->callee = frame;
	add(&site->weight, load);
	return 0;
}

static int walk_stack(struct pd_calls *calls, int side, struct walk *walk, const struct pp_stack *stack, uint64_t load,
                      struct pp_error *err)
{
	uint32_t leaf = walk->map->frame[walk->map->first[stack->locations[0]]];
	bool below = false;
	if (walk->frames[leaf])
		add(&calls->side[side].places[leaf].self, load);
	for (uint32_t i = 0; i < stack->n; i++) {
		uint32_t l = stack->locations[i];
		bool wanted = walk->wanted[l];
		if (wanted && walk->profile->locations[l].lines_n > 1)
			add(&walk->inlined[l], load);
		if (i > 0 && (wanted || below) && note_call(calls, side, walk, l, stack->locations[i - 1], load, err) != 0)
			return -1;
		below = wanted;
	}
	add(&walk->outermost[stack->locations[stack->n - 1]], load);
	return 0;
}

static int walk_stacks(struct pd_calls *calls, int side, struct walk *walk, struct pp_error *err)
{
	for (uint32_t s = 0; s < walk->profile->stacks_n; s++) {
		const struct pp_stack *stack = &walk->profile->stacks[s];
		if (walk->loads[s] == 0 || stack->n == 0 || !stands_for_others(calls, walk, stack))
			continue;
		uint64_t load; /* of all for which it stands */
		if (__builtin_mul_overflow(walk->loads[s], walk->one_of, &load))
			load = UINT64_MAX;
		if (walk_stack(calls, side, walk, stack, load, err) != 0)
			return -1;
	}
	return 0;
}

/* What is left in the sites; and calls that were inlined, which are within one location. */
static int flush(struct pd_calls *calls, int side, const struct walk *walk, struct pp_error *err)
{
	const struct pp_frame_map *map = walk->map;
	for (uint32_t l = 0; l < walk->profile->locations_n; l++) {
		uint32_t first = map->first[l], end = map->first[l + 1];
		if (put(calls, side, map->frame[first], walk->sites[l].callee, walk->sites[l].weight, walk->frames, err) != 0 ||
		    put(calls, side, PP_NONE, map->frame[end - 1], walk->outermost[l], walk->frames, err) != 0)
			return -1;
		for (uint32_t f = first; f + 1 < end; f++)
			if (put(calls, side, map->frame[f + 1], map->frame[f], walk->inlined[l], walk->frames, err) != 0)
				return -1;
	}
	return 0;
}

/* The sums of stacks, and how many stacks there must be for one that is looked at. */
static void load_stacks(struct walk *walk, uint32_t column)
{
	const struct pp_profile *profile = walk->profile;
	uint64_t steps = 0;
	for (uint32_t s = 0; s < profile->samples_n; s++)
		add(&walk->loads[profile->sample_stack[s]], pp_abs_i64(pp_value(profile, s, column)));
	for (uint32_t s = 0; s < profile->stacks_n; s++)
		steps += profile->stacks[s].n;
	walk->one_of = steps / STEPS_MAX + 1;
}

int pd_calls_add(struct pd_calls *calls, int side, const struct pp_profile *profile, uint32_t column,
                 const struct pp_frames *frames, const struct pp_frame_map *map, uint64_t total,
                 const unsigned char *wanted, struct pp_error *err)
{
	size_t n = (size_t)profile->locations_n + 1;
	struct walk walk = {.profile = profile, .map = map, .frames = wanted};
	int status = -1;

	if (reserve_frames(calls, &calls->side[side], frames, err) != 0)
		return -1;
	add(&calls->side[side].total, total);
	note_start_lines(&calls->side[side], profile, map);
	walk.loads = calloc((size_t)profile->stacks_n + 1, sizeof(*walk.loads));
	walk.wanted = calloc(n, 1);
	walk.sites = calloc(n, sizeof(*walk.sites));
	walk.inlined = calloc(n, sizeof(*walk.inlined));
	walk.outermost = calloc(n, sizeof(*walk.outermost));
	if (!walk.loads || !walk.wanted || !walk.sites || !walk.inlined || !walk.outermost) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for calls");
	} else if (!mark_wanted(&walk)) {
		status = 0;
	} else {
		load_stacks(&walk, column);
		if (walk_stacks(calls, side, &walk, err) == 0 && flush(calls, side, &walk, err) == 0)
			status = 0;
	}
	free(walk.loads);
	free(walk.wanted);
	free(walk.sites);
	free(walk.inlined);
	free(walk.outermost);
	return status;
}

bool pd_calls_overflowed(const struct pd_calls *calls)
{
	return calls->overflowed;
}

uint64_t pd_calls_total(const struct pd_calls *calls, int side)
{
	return calls->side[side].total;
}

uint64_t pd_calls_self(const struct pd_calls *calls, int side, uint32_t frame)
{
	return frame < calls->side[side].places_n ? calls->side[side].places[frame].self : 0;
}

int64_t pd_calls_start_line(const struct pd_calls *calls, int side, uint32_t frame)
{
	return frame < calls->side[side].places_n ? calls->side[side].places[frame].start_line : 0;
}

bool pd_calls_next(const struct pd_calls *calls, int side, size_t *at, struct pd_call *call)
{
	const struct table *table = &calls->side[side];
	while (*at < table->capacity) {
		*call = table->slots[(*at)++];
		if (used(call))
			return true;
	}
	return false;
}
