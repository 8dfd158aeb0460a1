/* Pairs of frames that rules bring together, and what speaks for and against them. */
#include "libdiff/rename_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONTRADICTS 0.2  /* similarity of callees below which two functions are not one */
#define SUPPORTS 0.5     /* and from which on, of callers too, they are taken for one */
#define SEEN 8.0         /* samples: not to see it on the other side by chance has p = e^-8 */
#define CLEARER 0.1      /* by how much exchanged closures must fit better than equal names */
#define LEAST_SHARE 0.01 /* of the side's cost, where samples are not counted */

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

size_t rn_canonical_key(const struct pp_frame *frame, unsigned rules, char *out)
{
	unsigned applied;
	size_t n = pd_canonical(frame->name, frame->file, rules, out, &applied);
	out[n++] = '\0';
	return n + pd_canonical_file(frame->file, rules, out + n, &applied);
}

unsigned rn_name_rules(const struct search *s)
{
	return s->r->rules & ~(1u << PD_RULE_GO_INLINE);
}

/* What the two are compared by: the canonical key, or while packages are joined the canonical name with its
 * packages replaced, whatever the file. name is scratch. */
static size_t key_by(const struct search *s, int side, const struct pp_frame *frame, unsigned rules, char *name, char *out)
{
	unsigned applied;
	bool replaced;
	if (!s->packages || !(rules & (1u << PD_RULE_PACKAGE)))
		return rn_canonical_key(frame, rules, out);
	struct pp_str canonical = {name, pd_canonical(frame->name, frame->file, rules, name, &applied)};
	return rn_package_key(s->packages, side, canonical, frame->file, out, &replaced);
}

/* The rules without which the two would not meet. */
static unsigned rules_needed(const struct search *s, uint32_t baseline, uint32_t incident, unsigned rules)
{
	const struct pp_frame *f = pp_frames_at(s->r->frames, baseline), *g = pp_frames_at(s->r->frames, incident);
	size_t longer = f->name.len > g->name.len ? f->name.len : g->name.len, files = f->file.len + g->file.len;
	size_t room = PD_CANONICAL_MAX(longer), keys = RN_PACKAGE_KEY_MAX(room) + files + 1;
	unsigned needed = pp_str_eq(f->file, g->file) || s->packages ? 0 : 1u << PD_RULE_FILE, one = 0, other = 0;
	char *name = malloc(room), *x = malloc(keys), *y = malloc(keys);
	if (name && x && y) {
		pd_canonical(f->name, f->file, rules, x, &one);
		pd_canonical(g->name, g->file, rules, y, &other);
		one |= other | 1u << PD_RULE_V8 | (s->packages ? 1u << PD_RULE_PACKAGE : 0);
		for (unsigned bit = 1; bit && bit <= PD_RULES_ALL; bit <<= 1) {
			if (!(one & bit & rules))
				continue;
			size_t n = key_by(s, 0, f, rules & ~bit, name, x), k = key_by(s, 1, g, rules & ~bit, name, y);
			needed |= n == k && memcmp(x, y, n) == 0 ? 0 : bit;
		}
		/* A file that only lost its hash is no other file. */
		if (needed & (1u << PD_RULE_V8))
			needed &= ~(1u << PD_RULE_FILE);
	}
	free(name);
	free(x);
	free(y);
	return needed;
}

int rn_join(struct search *s, uint32_t baseline, uint32_t incident, unsigned rules, const struct pd_likeness *likeness,
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
bool rn_is_orphan(const struct search *s, int side, uint32_t frame)
{
	return s->r->present[side][frame] && !s->r->present[!side][frame] && !s->joined[side][frame] &&
	       pp_frames_at(s->r->frames, frame)->kind == PP_FRAME_CODE;
}

/* ---- structure as evidence ---- */

/* Seen often enough on this side to say what it does. */
bool rn_enough(const struct search *s, int side, uint32_t frame)
{
	const struct pd_renames *r = s->r;
	return r->count[side] ? r->count[side][frame] >= r->least_count : r->cost[side][frame] >= LEAST_SHARE * r->total[side];
}

/* False when the matcher does not know them. */
bool rn_compare(const struct search *s, uint32_t baseline, uint32_t incident, struct pd_likeness *likeness)
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
	bool known = rn_compare(s, baseline, incident, &likeness);
	if (known && rn_enough(s, 0, baseline) && rn_enough(s, 1, incident) && likeness.callees < CONTRADICTS)
		return false;
	if (r->count[0] && r->count[0][baseline] >= SEEN && r->count[1][incident] >= SEEN)
		return true;
	int64_t line = pd_calls_start_line(r->calls, 0, baseline);
	if (line && line == pd_calls_start_line(r->calls, 1, incident))
		return true;
	return known && likeness.callees >= SUPPORTS && likeness.callers >= SUPPORTS;
}

static bool needs_evidence(unsigned rules)
{
	for (int rule = 0; rule < PD_RULES_N; rule++)
		if ((rules & (1u << rule)) && pd_rule_needs_evidence((enum pd_rule)rule))
			return true;
	return false;
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

int rn_join_members(struct search *s, uint32_t baseline, uint32_t incident, unsigned rules,
                        const struct pd_likeness *likeness, struct pp_error *err)
{
	unsigned needed = rules_needed(s, baseline, incident, rules);
	take(s->members->only[0], &s->members->only_n[0], baseline);
	take(s->members->only[1], &s->members->only_n[1], incident);
	return rn_join(s, baseline, incident, needed ? needed : 1u << PD_RULE_FILE, likeness, err);
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
		if (rn_join_members(s, lines[0][i].frame, lines[1][i].frame, rules, NULL, err) != 0)
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
		if (rn_join_members(s, pairs[i].frame[0], pairs[i].frame[1], rules, &pairs[i].likeness, err) != 0)
			return -1;
	return 0;
}

/* One of each side left: nothing else it could be. */
int rn_pair_the_last(struct search *s, unsigned rules, struct pp_error *err)
{
	struct members *m = s->members;
	if (m->only_n[0] != 1 || m->only_n[1] != 1)
		return 0;
	if (needs_evidence(rules_needed(s, m->only[0][0], m->only[1][0], rules)) && !plausible(s, m->only[0][0], m->only[1][0]))
		return 0;
	return rn_join_members(s, m->only[0][0], m->only[1][0], rules, NULL, err);
}

int rn_pair_members(struct search *s, unsigned rules, struct pp_error *err)
{
	if (s->members->only_n[0] == 0 || s->members->only_n[1] == 0)
		return 0;
	if (s->members->only_n[0] + s->members->only_n[1] > 2 &&
	    (pair_by_lines(s, rules, err) != 0 || pair_by_structure(s, rules, err) != 0))
		return -1;
	return rn_pair_the_last(s, rules, err);
}

/* ---- folding a group ---- */

/* Whether all of the group, with those that both sides have, are to be one row: they are one function
 * by a rule that says so, and names alone cannot pair those that a side lacks. Clones and parts that only
 * one side has go to the function that they are of. */
bool rn_folds(const struct search *s, size_t from, size_t to, unsigned applied)
{
	const unsigned clones = 1u << PD_RULE_CPP_CLONES | 1u << PD_RULE_ELF | 1u << PD_RULE_LIBC_IFUNC;
	size_t only[2] = {0, 0}, both = 0;
	for (int rule = 0; rule < PD_RULES_N; rule++)
		if ((applied & (1u << rule)) && !pd_rule_folds((enum pd_rule)rule))
			return false;
	for (size_t i = from; i < to; i++) {
		uint32_t frame = s->order[i];
		if (s->joined[0][frame] || s->joined[1][frame])
			return false; /* is in another row */
		both += s->r->present[0][frame] && s->r->present[1][frame];
		only[0] += rn_is_orphan(s, 0, frame);
		only[1] += rn_is_orphan(s, 1, frame);
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

int rn_fold(struct search *s, size_t from, size_t to, unsigned applied, struct pp_error *err)
{
	struct pd_rename rename = {.frame = heaviest(s, 1, from, to), .other = heaviest(s, 0, from, to), .rules = applied,
	                           .joined = true, .names_n = to - from, .score = NAN, .callers = NAN, .callees = NAN};
	bool same = rename.other == rename.frame;
	for (size_t i = to; i-- > from;) {
		uint32_t frame = s->order[i];
		if (same && (rn_is_orphan(s, 0, frame) || rn_is_orphan(s, 1, frame)))
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
	return rn_compare(s, baseline, incident, &likeness) ? likeness.callers + likeness.callees : 0;
}

/* Closures of equal names on both sides that begin at the same lines, but under other names: the lines
 * are right if what the closures do agrees with them better than with the names. */
int rn_exchange_closures(struct search *s, unsigned rules, struct pp_error *err)
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
		    rn_join(s, lines[0][i].frame, lines[1][i].frame, rules_needed(s, lines[0][i].frame, lines[1][i].frame, rules), NULL, err) != 0)
			return -1;
	return 0;
}

/* ---- sorting ---- */

int rn_compare_keyed(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	int order = pp_str_cmp(a->key, b->key);
	return order ? order : pp_frames_cmp(a->frames, a->frame, b->frame);
}

