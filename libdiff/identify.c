#include "libdiff/identify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libdiff/calls.h"
#include "libdiff/rename.h"
#include "libdiff/rename_groups.h"
#include "libdiff/replicate.h"

#define LEAST_COUNT 30.0        /* samples on each side, to be recognised by structure */
#define LEAST_CALLS_SHARE 0.002 /* of a profile's cost: for less, who calls whom is not noted */

struct pd_identify {
	enum pp_granularity granularity;
	unsigned rules;        /* those by which groups are made */
	unsigned all_rules;
	bool match, fold_matches;
	struct pp_arena *arena;
	struct pd_groups *groups;
	struct pd_calls *calls;
	uint32_t *group;       /* by frame: of keys, or PP_NONE */
	unsigned *applied;     /* by frame */
	unsigned char *seen;   /* by frame: bit 1 << side, where it has cost */
	size_t frames_n, group_capacity, applied_capacity, seen_capacity;
	struct made {
		uint32_t frames_n;
		unsigned applied;  /* by any of its frames */
	} *made;               /* by group */
	size_t made_n, made_capacity;
};

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to recognise renamed functions");
}

const char *pd_matched_name(enum pd_matched matched)
{
	static const char *const names[] = {"name", "rule", "structure", "unmatched"};
	return names[matched];
}

struct pd_identify *pd_identify_new(const struct pd_options *options, struct pp_error *err)
{
	struct pd_identify *identify = calloc(1, sizeof(*identify));
	if (!identify)
		goto fail;
	identify->granularity = options->granularity;
	identify->match = options->match;
	identify->fold_matches = options->fold_matches;
	identify->all_rules = options->rules;
	identify->rules = options->rules & ~(1u << PD_RULE_GO_INLINE);
	if (options->granularity == PP_BY_MAPPINGS || options->granularity == PP_BY_ADDRESSES) {
		identify->rules = identify->all_rules = 0; /* binaries are known by base names, addresses change anyway */
		identify->match = false;
	}
	if (options->granularity == PP_BY_LINES || options->granularity == PP_BY_COLUMNS)
		identify->match = false; /* a line has no callees of its own */
	identify->arena = pp_arena_new(options->limits.model_bytes);
	identify->groups = pd_groups_new(identify->rules, options->limits.model_bytes);
	identify->calls = pd_calls_new(err);
	if (identify->arena && identify->groups && identify->calls)
		return identify;
fail:
	no_memory(err);
	pd_identify_free(identify);
	return NULL;
}

void pd_identify_free(struct pd_identify *identify)
{
	if (!identify)
		return;
	pd_groups_free(identify->groups);
	pp_arena_free(identify->arena);
	pd_calls_free(identify->calls);
	free(identify);
}

/* ---- adding a profile ---- */

/* Puts the frames that are new to the set into their groups. */
static int group_frames(struct pd_identify *identify, const struct pp_frames *frames, struct pp_error *err)
{
	size_t n = pp_frames_count(frames);
	void *array = identify->group;
	if (pp_arena_reserve(identify->arena, &array, &identify->group_capacity, n, sizeof(*identify->group)) != 0)
		return no_memory(err);
	identify->group = array;
	array = identify->applied;
	if (pp_arena_reserve(identify->arena, &array, &identify->applied_capacity, n, sizeof(*identify->applied)) != 0)
		return no_memory(err);
	identify->applied = array;
	array = identify->seen;
	if (pp_arena_reserve(identify->arena, &array, &identify->seen_capacity, n, sizeof(*identify->seen)) != 0)
		return no_memory(err);
	identify->seen = array;
	for (; identify->frames_n < n; identify->frames_n++) {
		const struct pp_frame *frame = pp_frames_at(frames, (uint32_t)identify->frames_n);
		uint32_t *group = &identify->group[identify->frames_n];
		unsigned *applied = &identify->applied[identify->frames_n];
		identify->seen[identify->frames_n] = 0;
		if (pd_groups_put(identify->groups, frame, group, applied) != 0)
			return no_memory(err);
		if (*group == PP_NONE)
			continue;
		array = identify->made;
		if (pp_arena_reserve(identify->arena, &array, &identify->made_capacity, (size_t)*group + 1, sizeof(*identify->made)) != 0)
			return no_memory(err);
		identify->made = array;
		while (identify->made_n <= *group)
			identify->made[identify->made_n++] = (struct made){0};
		identify->made[*group].frames_n++;
		identify->made[*group].applied |= *applied;
	}
	return 0;
}

static bool only_folds(unsigned applied)
{
	for (int rule = 0; rule < PD_RULES_N; rule++)
		if ((applied & (1u << rule)) && !pd_rule_folds((enum pd_rule)rule))
			return false;
	return true;
}

/* Whether all rules that made the group add up what they bring together. */
static bool may_fold(const struct made *group)
{
	return group->frames_n > 1 && group->applied != 0 && only_folds(group->applied);
}

/* Marks the locations that have a frame of a group that may be folded. */
static bool mark_locations(const struct pd_identify *identify, const struct pp_profile *profile,
                           const struct pp_frame_map *map, unsigned char *marked)
{
	bool any = false;
	for (uint32_t l = 0; l < profile->locations_n; l++)
		for (uint32_t f = map->first[l]; f < map->first[l + 1]; f++) {
			uint32_t group = identify->group[map->frame[f]];
			marked[l] |= group != PP_NONE && may_fold(&identify->made[group]);
			any |= marked[l];
		}
	return any;
}

/* Scratch for one profile: which frames and groups the stack at hand has had, and the overlaps. */
struct overlapping {
	unsigned char *marked;      /* by location */
	uint32_t *frame_seen, *group_seen; /* the last stack that had it, plus 1 */
	struct pd_overlap *overlap; /* by group */
};

static void note_overlap(const struct pd_identify *identify, struct overlapping *o, uint32_t frame, uint32_t stamp,
                         const struct pd_stack_sum *load)
{
	uint32_t group = identify->group[frame];
	if (group == PP_NONE || o->frame_seen[frame] == stamp)
		return;
	o->frame_seen[frame] = stamp;
	if (o->group_seen[group] == stamp && may_fold(&identify->made[group])) {
		/* At most the depth of a stack times its load: a wrong sum would be refused where it is used. */
		if (!pp_add_i64(o->overlap[group].cum, load->value, &o->overlap[group].cum))
			o->overlap[group].cum = INT64_MAX;
		o->overlap[group].count += load->count;
	}
	o->group_seen[group] = stamp;
}

static int keep_overlaps(const struct pd_identify *identify, const struct overlapping *o, struct pd_replicate *replicate,
                         struct pp_error *err)
{
	size_t groups_n = pd_groups_count(identify->groups), n = 0;
	for (size_t g = 0; g < groups_n; g++)
		n += o->overlap[g].cum != 0 || o->overlap[g].count > 0;
	replicate->overlaps = malloc((n + 1) * sizeof(*replicate->overlaps));
	if (!replicate->overlaps)
		return no_memory(err);
	for (size_t g = 0; g < groups_n; g++)
		if (o->overlap[g].cum != 0 || o->overlap[g].count > 0)
			replicate->overlaps[replicate->overlaps_n++] = (struct pd_overlap){
				(uint32_t)g, o->overlap[g].cum, round(o->overlap[g].count * 1024) / 1024};
	return 0;
}

static int find_overlaps(const struct pd_identify *identify, struct pd_replicate *replicate, const struct pp_profile *profile,
                         uint32_t column, const struct pp_frame_map *map, struct pp_error *err)
{
	struct pd_stack_sum *loads = NULL;
	size_t groups_n = pd_groups_count(identify->groups);
	struct overlapping o = {.marked = calloc((size_t)profile->locations_n + 1, 1)};
	int status = -1;
	if (!o.marked)
		return no_memory(err);
	if (!mark_locations(identify, profile, map, o.marked)) {
		free(o.marked);
		return 0;
	}
	o.frame_seen = calloc(identify->frames_n + 1, sizeof(*o.frame_seen));
	o.group_seen = calloc(groups_n + 1, sizeof(*o.group_seen));
	o.overlap = calloc(groups_n + 1, sizeof(*o.overlap));
	loads = pd_stack_sums(profile, column, &replicate->count_rule);
	if (o.frame_seen && o.group_seen && o.overlap && loads) {
		for (uint32_t s = 0; s < profile->stacks_n; s++) {
			const struct pp_stack *stack = &profile->stacks[s];
			for (uint32_t i = 0; i < stack->n && (loads[s].value != 0 || loads[s].count > 0); i++) {
				uint32_t l = stack->locations[i];
				for (uint32_t f = map->first[l]; o.marked[l] && f < map->first[l + 1]; f++)
					note_overlap(identify, &o, map->frame[f], s + 1, &loads[s]);
			}
		}
		status = keep_overlaps(identify, &o, replicate, err);
	} else {
		no_memory(err);
	}
	free(o.marked);
	free(o.frame_seen);
	free(o.group_seen);
	free(o.overlap);
	free(loads);
	return status;
}

static bool may_be_exchanged(unsigned applied)
{
	for (int rule = 0; rule < PD_RULES_N; rule++)
		if ((applied & (1u << rule)) && pd_rule_needs_evidence((enum pd_rule)rule))
			return true;
	return false;
}

/* Calls matter of frames that one side lacks, and of closures, whose numbers may be exchanged. What the
 * other side is known to have is left out, so mostly only the side that comes first takes time. */
static int add_calls(struct pd_identify *identify, const struct pd_replicate *replicate, const struct pp_profile *profile,
                     uint32_t column, const struct pp_frames *frames, const struct pp_frame_map *map, struct pp_error *err)
{
	const struct pp_rollup *rollup = &replicate->rollup;
	unsigned char *wanted = calloc(identify->frames_n + 1, 1);
	if (!wanted)
		return no_memory(err);
	for (uint32_t f = 0; f < rollup->frames_n; f++) {
		bool lacking = !(identify->seen[f] & (1u << !replicate->side));
		wanted[f] = (lacking || may_be_exchanged(identify->applied[f])) &&
		            (double)pp_abs_i64(rollup->cum[f]) >= LEAST_CALLS_SHARE * (double)rollup->total;
		if (rollup->cum[f] != 0 || rollup->cum_count[f] > 0)
			identify->seen[f] |= (unsigned char)(1u << replicate->side);
	}
	int status = pd_calls_add(identify->calls, (int)replicate->side, profile, column, frames, map, (uint64_t)rollup->total,
	                          wanted, err);
	free(wanted);
	return status;
}

int pd_identify_add(struct pd_identify *identify, struct pd_replicate *replicate, const struct pp_profile *profile,
                    uint32_t column, const struct pp_frames *frames, const struct pp_frame_map *map, struct pp_error *err)
{
	if (identify->rules == 0 && !identify->match)
		return 0;
	if (group_frames(identify, frames, err) != 0 ||
	    add_calls(identify, replicate, profile, column, frames, map, err) != 0)
		return -1;
	return find_overlaps(identify, replicate, profile, column, map, err);
}

/* ---- joining ---- */

/* What every frame has cost on each side. */
static void note_presence(const struct pd_comparison *c, struct pd_renames *renames)
{
	for (size_t i = 0; i < c->replicates_n; i++) {
		const struct pp_rollup *rollup = &c->replicates[i].rollup;
		int side = (int)c->replicates[i].side;
		renames->total[side] += (double)rollup->total;
		for (uint32_t f = 0; f < rollup->frames_n; f++) {
			renames->present[side][f] |= rollup->flat[f] != 0 || rollup->cum[f] != 0 || rollup->cum_count[f] > 0;
			renames->cost[side][f] += (double)pp_abs_i64(rollup->cum[f]);
			if (renames->count[side])
				renames->count[side][f] += rollup->cum_count[f];
		}
	}
}

static int fold_overflow(const struct pd_comparison *c, struct pp_error *err)
{
	return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "a sum of %s does not fit 64 bits", c->type);
}

/* Moves the sums of one replicate to the frames that its frames are counted as. */
static int join_replicate(const struct pd_comparison *c, struct pd_replicate *replicate, const struct pd_renames *renames,
                          struct pp_error *err)
{
	const uint32_t *to = renames->to[replicate->side];
	struct pp_rollup *old = &replicate->rollup, new = *old;
	size_t n = renames->frames_n + 1;
	int status = -1;

	new.frames_n = (uint32_t)renames->frames_n;
	new.flat = calloc(n, sizeof(*new.flat));
	new.cum = calloc(n, sizeof(*new.cum));
	new.flat_count = calloc(n, sizeof(*new.flat_count));
	new.cum_count = calloc(n, sizeof(*new.cum_count));
	if (!new.flat || !new.cum || !new.flat_count || !new.cum_count) {
		no_memory(err);
		goto done;
	}
	for (uint32_t f = 0; f < old->frames_n; f++) {
		uint32_t t = to[f];
		if (!pp_add_i64(new.flat[t], old->flat[f], &new.flat[t]) || !pp_add_i64(new.cum[t], old->cum[f], &new.cum[t])) {
			fold_overflow(c, err);
			goto done;
		}
		new.flat_count[t] += old->flat_count[f];
		new.cum_count[t] += old->cum_count[f];
	}
	for (size_t i = 0; i < replicate->overlaps_n; i++) {
		const struct pd_overlap *overlap = &replicate->overlaps[i];
		uint32_t t = renames->fold_to[overlap->group];
		if (t == PP_NONE)
			continue;
		if (__builtin_sub_overflow(new.cum[t], overlap->cum, &new.cum[t])) {
			fold_overflow(c, err);
			goto done;
		}
		new.cum_count[t] = fmax(new.cum_count[t] - overlap->count, 0);
	}
	struct pp_rollup swap = *old;
	*old = new;
	new = swap;
	status = 0;
done:
	pp_rollup_release(&new);
	return status;
}

static int find_and_join(struct pd_comparison *c, struct pd_renames *renames, struct pp_error *err)
{
	note_presence(c, renames);
	if (pd_find_renames(renames, err) != 0)
		return -1;
	bool any = false;
	for (size_t i = 0; i < renames->found_n; i++)
		any |= renames->found[i].joined;
	for (size_t i = 0; i < c->replicates_n && any; i++)
		if (join_replicate(c, &c->replicates[i], renames, err) != 0)
			return -1;
	for (int side = 0; side < 2 && any; side++) {
		c->identity.counted_as[side] = renames->to[side];
		renames->to[side] = NULL;
	}
	c->identity.counted_as_n = any ? renames->frames_n : 0;
	c->identity.renames = renames->found;
	c->identity.renames_n = renames->found_n;
	renames->found = NULL;
	return 0;
}

int pd_identify_finish(struct pd_identify *identify, struct pd_comparison *c, struct pp_error *err)
{
	size_t n = identify->frames_n + 1;
	bool counted = true;
	struct pd_renames renames = {.frames = c->frames, .calls = identify->calls, .frames_n = identify->frames_n,
	                             .groups_n = pd_groups_count(identify->groups), .rules = identify->all_rules, .least_count = LEAST_COUNT,
	                             .match = identify->match, .fold_matches = identify->fold_matches,
	                             .group = identify->group, .applied = identify->applied};
	int status = -1;

	c->identity.rules = identify->all_rules;
	c->identity.match = identify->match;
	if (identify->rules == 0 && !identify->match)
		return 0;
	for (size_t i = 0; i < c->replicates_n; i++)
		counted &= c->replicates[i].count_rule.method != PP_COUNT_NOT_MEASURED;
	bool memory = (renames.fold_to = malloc((renames.groups_n + 1) * sizeof(*renames.fold_to)));
	for (int side = 0; side < 2; side++) {
		renames.present[side] = calloc(n, 1);
		renames.cost[side] = calloc(n, sizeof(*renames.cost[side]));
		renames.count[side] = counted ? calloc(n, sizeof(*renames.count[side])) : NULL;
		renames.to[side] = malloc(n * sizeof(*renames.to[side]));
		memory = memory && renames.present[side] && renames.cost[side] && renames.to[side] && (renames.count[side] || !counted);
	}
	status = memory ? find_and_join(c, &renames, err) : no_memory(err);
	for (int side = 0; side < 2; side++) {
		free(renames.present[side]);
		free(renames.cost[side]);
		free(renames.count[side]);
		free(renames.to[side]);
	}
	free(renames.fold_to);
	free(renames.found);
	return status;
}

/* ---- what the rows say ---- */

struct sortable {
	const struct pp_frames *frames;
	uint64_t cost;
	struct pd_rename rename;
};
static int by_cost(const void *left, const void *right)
{
	const struct sortable *a = left, *b = right;
	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	int order = pp_frames_cmp(a->frames, a->rename.frame, b->rename.frame);
	return order ? order : pp_frames_cmp(a->frames, a->rename.other, b->rename.other);
}

static int sort_renames(struct pd_comparison *c, struct pp_error *err)
{
	struct pd_identity *identity = &c->identity;
	struct sortable *sorted = malloc((identity->renames_n + 1) * sizeof(*sorted));
	if (!sorted)
		return no_memory(err);
	for (size_t i = 0; i < identity->renames_n; i++) {
		uint64_t a = pp_abs_i64(identity->renames[i].cum[0]), b = pp_abs_i64(identity->renames[i].cum[1]);
		sorted[i] = (struct sortable){c->frames, a > b ? a : b, identity->renames[i]};
	}
	qsort(sorted, identity->renames_n, sizeof(*sorted), by_cost);
	for (size_t i = 0; i < identity->renames_n; i++)
		identity->renames[i] = sorted[i].rename;
	free(sorted);
	return 0;
}

static void mark_rows(struct pd_comparison *c, struct pd_row *const *row_of)
{
	struct pd_identity *identity = &c->identity;
	for (size_t i = 0; i < identity->renames_n; i++) {
		struct pd_rename *rename = &identity->renames[i];
		struct pd_row *row = row_of[rename->frame], *other = row_of[rename->other];
		if (!rename->joined && other) {
			other->state = PD_MAYBE_RENAMED;
			other->other = rename->frame;
			rename->cum[PD_BASELINE] = other->raw_cum[PD_BASELINE];
		}
		if (row) {
			row->state = rename->joined ? PD_RENAMED : PD_MAYBE_RENAMED;
			row->other = rename->other;
			rename->cum[PD_INCIDENT] = row->raw_cum[PD_INCIDENT];
			if (rename->joined)
				rename->cum[PD_BASELINE] = row->raw_cum[PD_BASELINE];
		}
		for (int rule = 0; rule < PD_RULES_N; rule++)
			identity->applied[rule] += (rename->rules >> rule) & 1;
	}
}

/* By what means a row's frame was found on the other side. */
static enum pd_matched how_matched(const struct pd_row *row)
{
	static const enum pd_matched how[] = {[PD_COMMON] = PD_BY_NAME, [PD_NEW] = PD_UNMATCHED, [PD_GONE] = PD_UNMATCHED,
	                                      [PD_RENAMED] = PD_BY_RULE, [PD_MAYBE_RENAMED] = PD_BY_STRUCTURE};
	return how[row->state];
}

int pd_identify_mark(struct pd_comparison *c, struct pp_error *err)
{
	size_t n = (size_t)pp_frames_count(c->frames) + 1;
	struct pd_row **row_of = calloc(n, sizeof(*row_of));
	if (!row_of)
		return no_memory(err);
	for (size_t i = 0; i < c->rows_n; i++)
		row_of[c->rows[i].frame] = &c->rows[i];
	mark_rows(c, row_of);
	for (size_t i = 0; i < c->rows_n; i++)
		for (int side = 0; side < 2; side++)
			c->identity.cost[side][how_matched(&c->rows[i])] += (double)pp_abs_i64(c->rows[i].raw_flat[side]);
	free(row_of);
	return sort_renames(c, err);
}
