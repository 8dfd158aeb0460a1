#include "libdiff/rename_parts.h"

#include <stdlib.h>
#include <string.h>

#define PATH_SEEN 1024 /* bytes at the end of a path that are compared */

/* ---- passes ---- */

void rn_end_pass(struct search *s)
{
	for (int side = 0; side < 2; side++)
		memcpy(s->same[side], s->r->to[side], s->r->frames_n * sizeof(*s->same[side]));
}

static void add_member(uint32_t *list, size_t *n, uint32_t frame, bool *too_many)
{
	if (*n == MEMBERS_MAX)
		*too_many = true;
	else
		list[(*n)++] = frame;
}

void rn_gather(struct search *s, size_t from, size_t to)
{
	struct members *m = s->members;
	m->only_n[0] = m->only_n[1] = m->both_n = 0;
	m->too_many = false;
	for (size_t i = from; i < to; i++) {
		uint32_t frame = s->order[i];
		for (int side = 0; side < 2; side++)
			if (rn_is_orphan(s, side, frame))
				add_member(m->only[side], &m->only_n[side], frame, &m->too_many);
		if (s->r->present[0][frame] && s->r->present[1][frame])
			add_member(m->both, &m->both_n, frame, &m->too_many);
	}
}

void rn_sort_keyed(struct search *s, struct keyed *keyed)
{
	qsort(keyed, s->order_n, sizeof(*keyed), rn_compare_keyed);
	for (size_t i = 0; i < s->order_n; i++)
		s->order[i] = keyed[i].frame;
}

static bool same_key(const struct keyed *a, const struct keyed *b)
{
	return a->number == b->number && pp_str_eq(a->key, b->key);
}

int rn_each_run(struct search *s, const struct keyed *keyed, rn_run fn, struct pp_error *err)
{
	for (size_t from = 0, to; from < s->order_n; from = to) {
		for (to = from + 1; to < s->order_n && same_key(&keyed[from], &keyed[to]);)
			to++;
		if (to - from > 1 && fn(s, from, to, err) != 0)
			return -1;
	}
	return 0;
}

static int join_group(struct search *s, size_t from, size_t to, struct pp_error *err)
{
	unsigned applied = 0, rules = rn_name_rules(s);
	for (size_t i = from; i < to; i++)
		applied |= s->r->applied[s->order[i]];
	if (rn_folds(s, from, to, applied))
		return rn_fold(s, from, to, applied, err);
	rn_gather(s, from, to);
	if (s->members->too_many)
		return 0;
	return rn_exchange_closures(s, rules, err) != 0 ? -1 : rn_pair_members(s, rules, err);
}

/* Frames that are one by the rules. */
static int join_groups(struct search *s, struct keyed *keyed, struct pp_error *err)
{
	s->order_n = 0;
	for (uint32_t f = 0; f < s->r->frames_n; f++)
		if (s->r->group[f] != PP_NONE && (s->r->present[0][f] || s->r->present[1][f]))
			keyed[s->order_n++] = (struct keyed){s->r->frames, {0}, s->r->group[f], f};
	rn_sort_keyed(s, keyed);
	int status = rn_each_run(s, keyed, join_group, err);
	rn_end_pass(s);
	return status;
}

/* How many parts of two paths are the same, from the end. */
static size_t common_parts(struct pp_str a, struct pp_str b)
{
	size_t i = a.len, k = b.len, parts = 0, least = a.len > PATH_SEEN ? a.len - PATH_SEEN : 0;
	while (i > least && k > 0 && a.ptr[i - 1] == b.ptr[k - 1]) {
		i--, k--;
		parts += a.ptr[i] == '/';
	}
	bool a_part = i == 0 || a.ptr[i - 1] == '/', b_part = k == 0 || b.ptr[k - 1] == '/';
	return parts + (a_part && b_part && i < a.len && a.ptr[i] != '/');
}

/* The one frame of list whose path has most in common with that of frame; PP_NONE: none, or several. */
static uint32_t nearest(const struct search *s, uint32_t frame, const uint32_t *list, size_t n)
{
	size_t best = 0, times = 0;
	uint32_t found = PP_NONE;
	for (size_t i = 0; i < n; i++) {
		size_t parts = common_parts(pp_frames_at(s->r->frames, frame)->file, pp_frames_at(s->r->frames, list[i])->file);
		if (parts > best) {
			best = parts;
			times = 0;
		}
		times += parts == best && best > 0;
		found = parts == best && times == 1 ? list[i] : found;
	}
	return times == 1 ? found : PP_NONE;
}

static bool qualified(struct pp_str name)
{
	return name.len && (memchr(name.ptr, '.', name.len) || memchr(name.ptr, ':', name.len));
}

static int join_name(struct search *s, size_t from, size_t to, struct pp_error *err)
{
	struct members *m = s->members;
	struct members was;
	rn_gather(s, from, to);
	if (m->too_many || m->only_n[0] == 0 || m->only_n[1] == 0)
		return 0;
	was = *m;
	for (size_t i = 0; i < was.only_n[0]; i++) {
		uint32_t near = nearest(s, was.only[0][i], was.only[1], was.only_n[1]);
		if (near != PP_NONE && nearest(s, near, was.only[0], was.only_n[0]) == was.only[0][i] &&
		    rn_join_members(s, was.only[0][i], near, 1u << PD_RULE_FILE, NULL, err) != 0)
			return -1;
	}
	if (m->both_n == 0 && m->only_n[0] == 1 && m->only_n[1] == 1 &&
	    qualified(pp_frames_at(s->r->frames, m->only[0][0])->name))
		return rn_pair_the_last(s, 1u << PD_RULE_FILE, err);
	return 0;
}

uint64_t rn_hash_of_basename(struct pp_str path)
{
	size_t from = path.len;
	while (from > 0 && path.ptr[from - 1] != '/')
		from--;
	return pp_hash64(path.ptr + from, path.len - from);
}

/* The same name in another file: by the longest common end of the paths, then whatever the path. */
static int join_files(struct search *s, struct keyed *keyed, struct pp_error *err)
{
	int status = 0;
	for (int by_base = 1; by_base >= 0 && status == 0 && (s->r->rules & (1u << PD_RULE_FILE)); by_base--) {
		s->order_n = 0;
		for (uint32_t f = 0; f < s->r->frames_n; f++) {
			const struct pp_frame *frame = pp_frames_at(s->r->frames, f);
			uint64_t number = (uint64_t)frame->line ^ (by_base ? rn_hash_of_basename(frame->file) : 0);
			if (frame->file.len && (s->r->present[0][f] || s->r->present[1][f]))
				keyed[s->order_n++] = (struct keyed){s->r->frames, frame->name, number, f};
		}
		rn_sort_keyed(s, keyed);
		status = rn_each_run(s, keyed, join_name, err);
	}
	rn_end_pass(s);
	return status;
}

static int join_inlined_run(struct search *s, size_t from, size_t to, struct pp_error *err)
{
	rn_gather(s, from, to);
	return s->members->too_many ? 0 : rn_pair_members(s, s->r->rules, err);
}

/* Go's closures of inlined functions: what their names share says little, so only pairs of what is left. */
static int join_inlined(struct search *s, struct keyed *keyed, struct pp_error *err)
{
	if (!(s->r->rules & (1u << PD_RULE_GO_INLINE)))
		return 0;
	const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_arena *arena = pp_arena_new(limits.model_bytes);
	int status = arena ? 0 : -1;
	s->order_n = 0;
	for (uint32_t f = 0; status == 0 && f < s->r->frames_n; f++) {
		const struct pp_frame *frame = pp_frames_at(s->r->frames, f);
		bool closure = s->r->applied[f] & (1u << PD_RULE_GO_CLOSURE | 1u << PD_RULE_GO_WRAPPERS);
		if (!closure || (!rn_is_orphan(s, 0, f) && !rn_is_orphan(s, 1, f)))
			continue;
		char *key = pp_arena_alloc(arena, PD_CANONICAL_MAX(frame->name.len) + 1 + frame->file.len);
		status = key ? 0 : -1;
		if (key)
			keyed[s->order_n++] = (struct keyed){s->r->frames, {key, rn_canonical_key(frame, s->r->rules, key)},
			                                     (uint64_t)frame->line, f};
	}
	if (status != 0)
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for renamed functions");
	if (status == 0) {
		rn_sort_keyed(s, keyed);
		status = rn_each_run(s, keyed, join_inlined_run, err);
	}
	pp_arena_free(arena);
	rn_end_pass(s);
	return status;
}

/* ---- all together ---- */

/* The matcher looks at what a side lacks, where enough is known of it, and at groups of several. */
static int make_matcher(struct search *s, struct pp_error *err)
{
	struct pd_renames *r = s->r;
	uint32_t *size = calloc(r->groups_n + 1, sizeof(*size));
	if (!size)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for renamed functions");
	for (size_t f = 0; f < r->frames_n; f++)
		if (r->group[f] != PP_NONE && (r->present[0][f] || r->present[1][f]))
			size[r->group[f]]++;
	for (int side = 0; side < 2; side++)
		for (uint32_t f = 0; f < r->frames_n; f++)
			s->wanted[side][f] = r->present[side][f] && ((r->group[f] != PP_NONE && size[r->group[f]] > 1) ||
			                                             (rn_is_orphan(s, side, f) && rn_enough(s, side, f)));
	free(size);
	if (!r->calls || pd_calls_overflowed(r->calls))
		return 0;
	s->matcher = pd_matcher_new(r->calls, r->frames, (const unsigned char *const[2]){s->wanted[0], s->wanted[1]}, r->frames_n, err);
	return s->matcher ? 0 : -1;
}

static void release(struct search *s)
{
	pd_matcher_free(s->matcher);
	for (int side = 0; side < 2; side++) {
		free(s->wanted[side]);
		free(s->joined[side]);
		free(s->same[side]);
	}
	free(s->order);
	free(s->members);
}

int pd_find_renames(struct pd_renames *r, struct pp_error *err)
{
	struct search s = {.r = r};
	struct keyed *keyed = malloc((r->frames_n + 1) * sizeof(*keyed));
	bool memory = keyed && (s.order = malloc((r->frames_n + 1) * sizeof(*s.order))) &&
	              (s.members = malloc(sizeof(*s.members)));
	int status = -1;
	for (int side = 0; side < 2; side++) {
		s.wanted[side] = calloc(r->frames_n + 1, 1);
		s.joined[side] = calloc(r->frames_n + 1, 1);
		s.same[side] = malloc((r->frames_n + 1) * sizeof(*s.same[side]));
		memory = memory && s.wanted[side] && s.joined[side] && s.same[side];
		for (uint32_t f = 0; f < r->frames_n; f++)
			r->to[side][f] = f;
	}
	for (size_t g = 0; g < r->groups_n; g++)
		r->fold_to[g] = PP_NONE;
	if (memory) {
		bool unmatched[2] = {false, false};
		for (uint32_t f = 0; f < r->frames_n; f++) {
			unmatched[0] |= rn_is_orphan(&s, 0, f);
			unmatched[1] |= rn_is_orphan(&s, 1, f);
		}
		rn_end_pass(&s);
		bool both = unmatched[0] && unmatched[1];
		status = make_matcher(&s, err);
		if (status == 0 && both)
			status = join_files(&s, keyed, err);
		if (status == 0)
			status = join_groups(&s, keyed, err);
		if (status == 0 && both)
			status = rn_join_packages(&s, keyed, err);
		if (status == 0 && both)
			status = join_inlined(&s, keyed, err);
		if (status == 0 && both)
			status = rn_match_structure(&s, keyed, err);
	} else {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for renamed functions");
	}
	release(&s);
	free(keyed);
	return status;
}
