#include "libdiff/rename.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>


#define LEAST_SCORE 0.7       /* to be recognised by structure */
#define LEAST_COUNT 30.0      /* samples on each side, for that */
#define LEAST_SHARE 0.01      /* of the side's cost, where samples are not counted */
#define CONTRADICTS 0.2       /* similarity of callees below which two functions are not one */
#define SUPPORTS 0.5          /* and from which on, of callers too, they are taken for one */
#define SEEN 8.0              /* samples: not to see it on the other side by chance has p = e^-8 */
#define CLEARER 0.1           /* by how much exchanged closures must fit better than equal names */
#define ROUNDS 8              /* of matching: each knows the neighbours that those before have found */
#define MEMBERS_MAX PD_MATCH_MAX

/* Frames of one group, or of one name, by side; sorted by name. */
struct members {
	uint32_t only[2][MEMBERS_MAX]; /* that the other side lacks and that are not joined yet */
	size_t only_n[2];
	uint32_t both[MEMBERS_MAX];
	size_t both_n;
	bool too_many;
};

struct search {
	struct pd_renames *r;
	struct pd_matcher *matcher;    /* NULL: calls are not known */
	unsigned char *wanted[2];      /* by frame: the matcher knows it */
	unsigned char *joined[2];      /* by frame: is in some rename already */
	uint32_t *same[2];             /* as to, as it was when the pass began: the order of groups must not show */
	uint32_t *order;               /* frames, sorted for the pass at hand */
	size_t order_n;
	struct members *members;
};

/* ---- what is found ---- */

static int note(struct search *s, const struct pd_rename *rename, struct pp_error *err)
{
	struct pd_renames *r = s->r;
	if (r->found_n == r->found_capacity) {
		size_t capacity = r->found_capacity ? r->found_capacity * 2 : 16;
		struct pd_rename *larger = realloc(r->found, capacity * sizeof(*larger));
		if (!larger)
			return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for renamed functions");
		r->found = larger;
		r->found_capacity = capacity;
	}
	r->found[r->found_n++] = *rename;
	return 0;
}

static size_t canonical_key(const struct pp_frame *frame, unsigned rules, char *out)
{
	unsigned applied;
	size_t n = pd_canonical(frame->name, frame->file, rules, out, &applied);
	out[n++] = '\0';
	return n + pd_canonical_file(frame->file, rules, out + n, &applied);
}

/* The rules without which the two would not meet. */
static unsigned rules_needed(const struct search *s, uint32_t a, uint32_t b, unsigned rules)
{
	const struct pp_frame *f = pp_frames_at(s->r->frames, a), *g = pp_frames_at(s->r->frames, b);
	unsigned needed = pp_str_eq(f->file, g->file) ? 0 : 1u << PD_RULE_FILE, one = 0, other = 0;
	char *x = malloc(PD_CANONICAL_MAX(f->name.len) + f->file.len + 1), *y = malloc(PD_CANONICAL_MAX(g->name.len) + g->file.len + 1);
	if (x && y) {
		pd_canonical(f->name, f->file, rules, x, &one);
		pd_canonical(g->name, g->file, rules, y, &other);
		one |= other | (1u << PD_RULE_V8);
		for (unsigned bit = 1; bit && bit <= PD_RULES_ALL; bit <<= 1) {
			if (!(one & bit & rules))
				continue;
			size_t n = canonical_key(f, rules & ~bit, x), k = canonical_key(g, rules & ~bit, y);
			needed |= n == k && memcmp(x, y, n) == 0 ? 0 : bit;
		}
		/* A file that only lost its hash is no other file. */
		if (needed & (1u << PD_RULE_V8))
			needed &= ~(1u << PD_RULE_FILE);
	}
	free(x);
	free(y);
	return needed;
}

static int join(struct search *s, uint32_t baseline, uint32_t incident, unsigned rules, const struct pd_likeness *likeness,
                struct pp_error *err)
{
	struct pd_rename rename = {.frame = incident, .other = baseline, .rules = rules, .joined = true, .names_n = 2,
	                           .score = NAN, .callers = NAN, .callees = NAN};
	if (likeness) {
		rename.score = likeness->score;
		rename.callers = likeness->callers;
		rename.callees = likeness->callees;
		rename.callees_shared = likeness->callees_shared;
		rename.callees_n = likeness->callees_n;
	}
	rename.joined = rules || s->r->fold_matches;
	s->joined[0][baseline] = s->joined[1][incident] = 1;
	if (rename.joined)
		s->r->to[0][baseline] = incident;
	return note(s, &rename, err);
}

/* Only this side has it, and it is not joined yet. */
static bool is_orphan(const struct search *s, int side, uint32_t frame)
{
	return s->r->present[side][frame] && !s->r->present[!side][frame] && !s->joined[side][frame] &&
	       pp_frames_at(s->r->frames, frame)->kind == PP_FRAME_CODE;
}

/* ---- structure as evidence ---- */

/* Seen often enough on this side to say what it does. */
static bool enough(const struct search *s, int side, uint32_t frame)
{
	const struct pd_renames *r = s->r;
	return r->count[side] ? r->count[side][frame] >= LEAST_COUNT : r->cost[side][frame] >= LEAST_SHARE * r->total[side];
}

/* False when the matcher does not know them. */
static bool compare(const struct search *s, uint32_t baseline, uint32_t incident, struct pd_likeness *likeness)
{
	if (!s->matcher || !s->wanted[0][baseline] || !s->wanted[1][incident])
		return false;
	pd_matcher_compare(s->matcher, (const uint32_t *const[2]){s->same[0], s->same[1]}, baseline, incident, likeness);
	return true;
}

/* Whether two closures with different numbers can be one. Numbers are missing by chance in short
 * profiles, so something must speak for it: samples that cannot be missing by chance, or the line, or
 * what they do. */
static bool plausible(const struct search *s, uint32_t baseline, uint32_t incident)
{
	const struct pd_renames *r = s->r;
	struct pd_likeness likeness;
	bool known = compare(s, baseline, incident, &likeness);
	if (known && enough(s, 0, baseline) && enough(s, 1, incident) && likeness.callees < CONTRADICTS)
		return false;
	if (r->count[0] && r->count[0][baseline] >= SEEN && r->count[1][incident] >= SEEN)
		return true;
	int64_t line = pd_calls_start_line(r->calls, 0, baseline);
	if (line && line == pd_calls_start_line(r->calls, 1, incident))
		return true;
	return known && likeness.callees >= SUPPORTS && likeness.callers >= SUPPORTS;
}

/* Whether the two are one function by rules that say so. */
static bool only_folds(unsigned rules)
{
	for (int rule = 0; rule < PD_RULES_N; rule++)
		if ((rules & (1u << rule)) && rule != PD_RULE_FILE && !pd_rule_folds((enum pd_rule)rule))
			return false;
	return true;
}

/* ---- pairs within one group ---- */

static void take(uint32_t *list, size_t *n, uint32_t frame)
{
	size_t kept = 0;
	for (size_t i = 0; i < *n; i++)
		if (list[i] != frame)
			list[kept++] = list[i];
	*n = kept;
}

static int join_members(struct search *s, uint32_t baseline, uint32_t incident, unsigned rules,
                        const struct pd_likeness *likeness, struct pp_error *err)
{
	unsigned needed = rules_needed(s, baseline, incident, rules);
	take(s->members->only[0], &s->members->only_n[0], baseline);
	take(s->members->only[1], &s->members->only_n[1], incident);
	return join(s, baseline, incident, needed ? needed : 1u << PD_RULE_FILE, likeness, err);
}

struct by_line {
	int64_t line;
	uint32_t frame;
};
static int compare_lines(const void *left, const void *right)
{
	int64_t a = ((const struct by_line *)left)->line, b = ((const struct by_line *)right)->line;
	return (a > b) - (a < b);
}

/* Sorts frames of a side by where they begin; false when some do not say, or two begin at one line. */
static bool sort_by_line(const struct search *s, int side, const uint32_t *list, size_t n, struct by_line *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (struct by_line){pd_calls_start_line(s->r->calls, side, list[i]), list[i]};
	qsort(out, n, sizeof(*out), compare_lines);
	for (size_t i = 0; i < n; i++)
		if (out[i].line == 0 || (i > 0 && out[i].line == out[i - 1].line))
			return false;
	return true;
}

/* As many on both sides, all with lines: the order of the source. */
static int pair_by_lines(struct search *s, unsigned rules, struct pp_error *err)
{
	struct members *m = s->members;
	struct by_line lines[2][MEMBERS_MAX];
	size_t n = m->only_n[0];
	if (n != m->only_n[1] || !sort_by_line(s, 0, m->only[0], n, lines[0]) ||
	    !sort_by_line(s, 1, m->only[1], n, lines[1]))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!plausible(s, lines[0][i].frame, lines[1][i].frame))
			return 0;
	for (size_t i = 0; i < n; i++)
		if (join_members(s, lines[0][i].frame, lines[1][i].frame, rules, NULL, err) != 0)
			return -1;
	return 0;
}

/* Of a list, those that the matcher knows. */
static size_t known_of(const struct search *s, int side, const uint32_t *list, size_t n, uint32_t *out)
{
	size_t known = 0;
	for (size_t i = 0; i < n; i++)
		if (s->wanted[side][list[i]])
			out[known++] = list[i];
	return known;
}

static int pair_by_structure(struct search *s, unsigned rules, struct pp_error *err)
{
	struct members *m = s->members;
	uint32_t lists[2][MEMBERS_MAX];
	struct pd_pair pairs[MEMBERS_MAX];
	size_t pairs_n = 0, n[2];
	if (!s->matcher)
		return 0;
	for (int side = 0; side < 2; side++)
		n[side] = known_of(s, side, m->only[side], m->only_n[side], lists[side]);
	if (pd_matcher_pair(s->matcher, (const uint32_t *const[2]){s->same[0], s->same[1]},
	                    (const uint32_t *const[2]){lists[0], lists[1]}, n, LEAST_SCORE, pairs, &pairs_n, err) != 0)
		return -1;
	for (size_t i = 0; i < pairs_n; i++)
		if (join_members(s, pairs[i].frame[0], pairs[i].frame[1], rules, &pairs[i].likeness, err) != 0)
			return -1;
	return 0;
}

/* One of each side left: nothing else it could be. */
static int pair_the_last(struct search *s, unsigned rules, struct pp_error *err)
{
	struct members *m = s->members;
	if (m->only_n[0] != 1 || m->only_n[1] != 1)
		return 0;
	if (!only_folds(rules_needed(s, m->only[0][0], m->only[1][0], rules)) && !plausible(s, m->only[0][0], m->only[1][0]))
		return 0;
	return join_members(s, m->only[0][0], m->only[1][0], rules, NULL, err);
}

static int pair_members(struct search *s, unsigned rules, struct pp_error *err)
{
	if (s->members->only_n[0] == 0 || s->members->only_n[1] == 0)
		return 0;
	if (s->members->only_n[0] + s->members->only_n[1] > 2 &&
	    (pair_by_lines(s, rules, err) != 0 || pair_by_structure(s, rules, err) != 0))
		return -1;
	return pair_the_last(s, rules, err);
}

/* ---- folding a group ---- */

/* Whether all of the group, with those that both sides have, are to be one row: they are one function
 * by a rule that says so, and names alone cannot pair those that a side lacks. Clones and parts that only
 * one side has go to the function that they are of. */
static bool folds(const struct search *s, size_t from, size_t to, unsigned applied)
{
	const unsigned clones = 1u << PD_RULE_CPP_CLONES | 1u << PD_RULE_ELF | 1u << PD_RULE_LIBC_IFUNC;
	size_t only[2] = {0, 0}, both = 0;
	if (!only_folds(applied))
		return false;
	for (size_t i = from; i < to; i++) {
		uint32_t frame = s->order[i];
		if (s->joined[0][frame] || s->joined[1][frame])
			return false; /* is in another row */
		both += s->r->present[0][frame] && s->r->present[1][frame];
		only[0] += is_orphan(s, 0, frame);
		only[1] += is_orphan(s, 1, frame);
	}
	if (only[0] && only[1])
		return applied && only[0] + only[1] > 2;
	return applied && (applied & ~clones) == 0 && both > 0 && only[0] + only[1] > 0;
}

/* The frame with most cost on a side, the first by name of equals. */
static uint32_t heaviest(const struct search *s, int side, size_t from, size_t to)
{
	const double *cost = s->r->cost[side];
	uint32_t best = PP_NONE;
	for (size_t i = from; i < to; i++)
		if (s->r->present[side][s->order[i]] && (best == PP_NONE || cost[s->order[i]] > cost[best]))
			best = s->order[i];
	return best;
}

static int fold(struct search *s, size_t from, size_t to, unsigned applied, struct pp_error *err)
{
	struct pd_rename rename = {.frame = heaviest(s, 1, from, to), .other = heaviest(s, 0, from, to), .rules = applied,
	                           .joined = true, .names_n = to - from, .score = NAN, .callers = NAN, .callees = NAN};
	bool same = rename.other == rename.frame;
	for (size_t i = to; i-- > from;) {
		uint32_t frame = s->order[i];
		if (same && (is_orphan(s, 0, frame) || is_orphan(s, 1, frame)))
			rename.other = frame; /* what came or went with it */
		for (int side = 0; side < 2; side++) {
			s->r->to[side][frame] = rename.frame;
			s->joined[side][frame] = 1;
		}
	}
	s->r->fold_to[s->r->group[s->order[from]]] = rename.frame;
	return note(s, &rename, err);
}

/* ---- closures whose numbers were exchanged ---- */

static double fit(const struct search *s, uint32_t baseline, uint32_t incident)
{
	struct pd_likeness likeness;
	return compare(s, baseline, incident, &likeness) ? likeness.callers + likeness.callees : 0;
}

/* Closures of equal names on both sides that begin at the same lines, but under other names: the lines
 * are right if what the closures do agrees with them better than with the names. */
static int exchange_closures(struct search *s, unsigned rules, struct pp_error *err)
{
	struct members *m = s->members;
	struct by_line lines[2][MEMBERS_MAX];
	double by_name = 0, by_line = 0;
	bool moved = false;
	if (!s->matcher || m->both_n < 2 || m->only_n[0] || m->only_n[1] || !sort_by_line(s, 0, m->both, m->both_n, lines[0]) ||
	    !sort_by_line(s, 1, m->both, m->both_n, lines[1]))
		return 0;
	for (size_t i = 0; i < m->both_n; i++) {
		if (lines[0][i].line != lines[1][i].line)
			return 0;
		moved |= lines[0][i].frame != lines[1][i].frame;
		by_name += fit(s, m->both[i], m->both[i]);
		by_line += fit(s, lines[0][i].frame, lines[1][i].frame);
	}
	if (!moved || by_line < by_name + CLEARER * (double)m->both_n)
		return 0;
	for (size_t i = 0; i < m->both_n; i++)
		if (lines[0][i].frame != lines[1][i].frame &&
		    join(s, lines[0][i].frame, lines[1][i].frame, rules_needed(s, lines[0][i].frame, lines[1][i].frame, rules), NULL, err) != 0)
			return -1;
	return 0;
}

/* ---- passes ---- */

static void end_pass(struct search *s)
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

static void gather(struct search *s, size_t from, size_t to)
{
	struct members *m = s->members;
	m->only_n[0] = m->only_n[1] = m->both_n = 0;
	m->too_many = false;
	for (size_t i = from; i < to; i++) {
		uint32_t frame = s->order[i];
		for (int side = 0; side < 2; side++)
			if (is_orphan(s, side, frame))
				add_member(m->only[side], &m->only_n[side], frame, &m->too_many);
		if (s->r->present[0][frame] && s->r->present[1][frame])
			add_member(m->both, &m->both_n, frame, &m->too_many);
	}
}

/* Sorting by a key, then by the frame's own order: the order of profiles never shows. */
struct keyed {
	const struct pp_frames *frames;
	struct pp_str key;
	uint64_t number;
	uint32_t frame;
};
static int compare_keyed(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	int order = pp_str_cmp(a->key, b->key);
	return order ? order : pp_frames_cmp(a->frames, a->frame, b->frame);
}

static void sort_keyed(struct search *s, struct keyed *keyed)
{
	qsort(keyed, s->order_n, sizeof(*keyed), compare_keyed);
	for (size_t i = 0; i < s->order_n; i++)
		s->order[i] = keyed[i].frame;
}

static bool same_key(const struct keyed *a, const struct keyed *b)
{
	return a->number == b->number && pp_str_eq(a->key, b->key);
}

typedef int (*run_fn)(struct search *s, size_t from, size_t to, struct pp_error *err);

/* Calls fn for every run of equal keys. */
static int each_run(struct search *s, const struct keyed *keyed, run_fn fn, struct pp_error *err)
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
	unsigned applied = 0, rules = s->r->rules & ~(1u << PD_RULE_GO_INLINE);
	for (size_t i = from; i < to; i++)
		applied |= s->r->applied[s->order[i]];
	if (folds(s, from, to, applied))
		return fold(s, from, to, applied, err);
	gather(s, from, to);
	if (s->members->too_many)
		return 0;
	return exchange_closures(s, rules, err) != 0 ? -1 : pair_members(s, rules, err);
}

/* Frames that are one by the rules. */
static int join_groups(struct search *s, struct keyed *keyed, struct pp_error *err)
{
	s->order_n = 0;
	for (uint32_t f = 0; f < s->r->frames_n; f++)
		if (s->r->group[f] != PP_NONE && (s->r->present[0][f] || s->r->present[1][f]))
			keyed[s->order_n++] = (struct keyed){s->r->frames, {0}, s->r->group[f], f};
	sort_keyed(s, keyed);
	int status = each_run(s, keyed, join_group, err);
	end_pass(s);
	return status;
}

/* How many parts of two paths are the same, from the end. */
static size_t common_parts(struct pp_str a, struct pp_str b)
{
	size_t i = a.len, k = b.len, parts = 0;
	while (i > 0 && k > 0 && a.ptr[i - 1] == b.ptr[k - 1]) {
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
	gather(s, from, to);
	if (m->too_many || m->only_n[0] == 0 || m->only_n[1] == 0)
		return 0;
	was = *m;
	for (size_t i = 0; i < was.only_n[0]; i++) {
		uint32_t near = nearest(s, was.only[0][i], was.only[1], was.only_n[1]);
		if (near != PP_NONE && nearest(s, near, was.only[0], was.only_n[0]) == was.only[0][i] &&
		    join_members(s, was.only[0][i], near, 1u << PD_RULE_FILE, NULL, err) != 0)
			return -1;
	}
	if (m->both_n == 0 && m->only_n[0] == 1 && m->only_n[1] == 1 &&
	    qualified(pp_frames_at(s->r->frames, m->only[0][0])->name))
		return pair_the_last(s, 1u << PD_RULE_FILE, err);
	return 0;
}

static uint64_t hash_of_basename(struct pp_str path)
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
			uint64_t number = (uint64_t)frame->line ^ (by_base ? hash_of_basename(frame->file) : 0);
			if (frame->file.len && (s->r->present[0][f] || s->r->present[1][f]))
				keyed[s->order_n++] = (struct keyed){s->r->frames, frame->name, number, f};
		}
		sort_keyed(s, keyed);
		status = each_run(s, keyed, join_name, err);
	}
	end_pass(s);
	return status;
}

static int join_inlined_run(struct search *s, size_t from, size_t to, struct pp_error *err)
{
	gather(s, from, to);
	return s->members->too_many ? 0 : pair_members(s, s->r->rules, err);
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
		if (!(s->r->applied[f] & (1u << PD_RULE_GO_CLOSURE | 1u << PD_RULE_GO_WRAPPERS)) || (!is_orphan(s, 0, f) && !is_orphan(s, 1, f)))
			continue;
		char *key = pp_arena_alloc(arena, PD_CANONICAL_MAX(frame->name.len) + 1 + frame->file.len);
		status = key ? 0 : -1;
		if (key)
			keyed[s->order_n++] = (struct keyed){s->r->frames, {key, canonical_key(frame, s->r->rules, key)}, (uint64_t)frame->line, f};
	}
	if (status != 0)
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for renamed functions");
	if (status == 0) {
		sort_keyed(s, keyed);
		status = each_run(s, keyed, join_inlined_run, err);
	}
	pp_arena_free(arena);
	end_pass(s);
	return status;
}

/* ---- by structure ---- */

/* The orphans with most cost, in order of cost, then names. */
static size_t pick_orphans(struct search *s, int side, struct keyed *keyed, uint32_t *list)
{
	size_t n = 0;
	for (uint32_t f = 0; f < s->r->frames_n; f++)
		if (is_orphan(s, side, f) && s->wanted[side][f] && enough(s, side, f))
			keyed[n++] = (struct keyed){s->r->frames, {0}, UINT64_MAX - (uint64_t)fmin(s->r->cost[side][f], 1e19), f};
	qsort(keyed, n, sizeof(*keyed), compare_keyed);
	n = n < PD_MATCH_MAX ? n : PD_MATCH_MAX;
	for (size_t i = 0; i < n; i++)
		list[i] = keyed[i].frame;
	return n;
}

static int match_structure(struct search *s, struct keyed *keyed, struct pp_error *err)
{
	struct pd_pair pairs[PD_MATCH_MAX];
	uint32_t lists[2][PD_MATCH_MAX];
	size_t n[2], pairs_n = 1;
	if (!s->r->match || !s->matcher)
		return 0;
	for (int round = 0; round < ROUNDS && pairs_n > 0; round++) {
		for (int side = 0; side < 2; side++)
			n[side] = pick_orphans(s, side, keyed, lists[side]);
		if (pd_matcher_pair(s->matcher, (const uint32_t *const[2]){s->same[0], s->same[1]},
		                    (const uint32_t *const[2]){lists[0], lists[1]}, n, LEAST_SCORE, pairs, &pairs_n, err) != 0)
			return -1;
		for (size_t i = 0; i < pairs_n; i++) {
			if (join(s, pairs[i].frame[0], pairs[i].frame[1], 0, &pairs[i].likeness, err) != 0)
				return -1;
			s->same[0][pairs[i].frame[0]] = pairs[i].frame[1];
		}
	}
	return 0;
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
			                                             (is_orphan(s, side, f) && enough(s, side, f)));
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
			unmatched[0] |= is_orphan(&s, 0, f);
			unmatched[1] |= is_orphan(&s, 1, f);
		}
		end_pass(&s);
		bool both = unmatched[0] && unmatched[1];
		status = make_matcher(&s, err);
		if (status == 0 && both)
			status = join_files(&s, keyed, err);
		if (status == 0)
			status = join_groups(&s, keyed, err);
		if (status == 0 && both)
			status = join_inlined(&s, keyed, err);
		if (status == 0 && both)
			status = match_structure(&s, keyed, err);
	} else {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for renamed functions");
	}
	release(&s);
	free(keyed);
	return status;
}
