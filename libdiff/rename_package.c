/* Packages that moved: all functions of one are gone, and all of another are new, with the same names behind
 * the package's and the same callers and callees.
 *
 * What is found are pairs of packages, one that only the baseline has and one that only the incident has.
 * Pairs that replace the same root ("x.io/a" by "y.io/b", in "x.io/a/sub" too) are one family, judged together:
 * by how many names and how much of the cost they share, by whether another family could claim the same
 * packages, and, function by function, by callers and callees, all families taken for right until one is not. */
#include "libdiff/rename_package.h"

#include "libdiff/appframe.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_NAMES 3       /* that a family must share */
#define LEAST_COMMON 0.5    /* share of its cost, on each side, that is under shared names */
#define NAMES_ALONE 20      /* where callers and callees are not known: names, */
#define COMMON_ALONE 0.8    /* share of the cost under them, */
#define COST_ALONE 2        /* and how much the family's share of the side may differ */
#define RIVAL 2             /* a family shares so many times as many names as any other that wants its packages */
#define AGREEING 2.0 / 3    /* of the functions that are known well enough, so many have the same callers and callees */
#define ALIKE 0.35          /* similarity of callers, and of callees, from which on they are the same */
#define BEARERS_MAX 64      /* packages of a side with one name: a name that so many have tells little */
#define PAIRS_MAX (1u << 18)

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for renamed packages");
}

/* Room for n elements in *array, whatever it points to. */
static int reserve(struct rn_packages *p, void *array, size_t *capacity, size_t n, size_t bytes, struct pp_error *err)
{
	void *grown;
	memcpy(&grown, array, sizeof(grown));
	if (pp_arena_reserve(p->arena, &grown, capacity, n, bytes) != 0)
		return no_memory(err);
	memcpy(array, &grown, sizeof(grown));
	return 0;
}

/* ---- functions and their packages ---- */

unsigned rn_package_rules(const struct search *s)
{
	return rn_name_rules(s) & ~(1u << PD_RULE_GO_MODULE);
}

uint32_t rn_put_package(struct rn_packages *p, const char *text, size_t n, struct pp_error *err)
{
	bool is_new = false;
	uint32_t index = pp_intern_put(p->names, text, n, &is_new);
	if (index == PP_NONE || reserve(p, &p->packages, &p->packages_capacity, p->packages_n + 1, sizeof(*p->packages), err) != 0) {
		no_memory(err);
		return PP_NONE;
	}
	if (is_new)
		p->packages[p->packages_n++] = (struct package){.pair = PP_NONE};
	return index;
}

size_t rn_package_of_file(struct pp_str file, char out[RN_NAME_BYTES_MAX])
{
	if (file.len >= RN_NAME_BYTES_MAX)
		return 0;
	out[0] = '\0';
	if (file.len)
		memcpy(out + 1, file.ptr, file.len);
	return file.len + 1;
}

static int add_orphan(const struct search *s, struct rn_packages *p, uint32_t f, uint32_t package, struct pp_str rest,
                      struct pp_error *err)
{
	int side = s->r->present[PD_INCIDENT][f] ? PD_INCIDENT : PD_BASELINE;
	const char *copy = pp_arena_copy(p->arena, rest.ptr, rest.len);
	if (!copy || reserve(p, &p->orphans, &p->orphans_capacity, p->orphans_n + 1, sizeof(*p->orphans), err) != 0)
		return no_memory(err);
	p->orphans[p->orphans_n++] = (struct orphan){{copy, rest.len}, package, f, pp_frames_at(s->r->frames, f)->line, side};
	return 0;
}

/* What comes with the language stays where it is: a library that takes over from it is another one. */
static bool may_move(const struct pp_frame *frame)
{
	enum pd_frame_class class = pd_frame_classify(frame->name, frame->file, frame->mapping);
	return class != PD_FRAME_RUNTIME && class != PD_FRAME_COLLECTOR;
}

/* All packages with the sides that they are on, and the functions that may have moved with theirs. */
static int gather_functions(const struct search *s, struct rn_packages *p, struct pp_error *err)
{
	for (uint32_t f = 0; f < s->r->frames_n; f++) {
		const struct pp_frame *frame = pp_frames_at(s->r->frames, f);
		bool present[2] = {s->r->present[0][f], s->r->present[1][f]};
		unsigned applied;
		char by_file[RN_NAME_BYTES_MAX];
		if ((!present[0] && !present[1]) || frame->kind != PP_FRAME_CODE || frame->name.len == 0 ||
		    frame->name.len > RN_NAME_BYTES_MAX)
			continue;
		struct pp_str name = {p->scratch, pd_canonical(frame->name, frame->file, rn_package_rules(s), p->scratch, &applied)};
		size_t end = pd_package_end(name, frame->file), file_n = rn_package_of_file(frame->file, by_file);
		uint32_t package = end ? rn_put_package(p, name.ptr, end, err) : rn_put_package(p, by_file, file_n, err);
		if (package == PP_NONE)
			return -1;
		p->packages[package].sides |= (unsigned char)(present[0] | present[1] << 1);
		if ((end || frame->file.len) && present[0] != present[1] && may_move(frame) &&
		    add_orphan(s, p, f, package, (struct pp_str){name.ptr + end, name.len - end}, err) != 0)
			return -1;
	}
	size_t kept = 0;
	for (size_t i = 0; i < p->orphans_n; i++) {
		const struct orphan *o = &p->orphans[i];
		if (p->packages[o->package].sides != 1u << o->side)
			continue;
		p->packages[o->package].cost[o->side] += s->r->cost[o->side][o->frame];
		p->orphans[kept++] = *o;
	}
	p->orphans_n = kept;
	return 0;
}

/* ---- pairs and families ---- */

static int by_rest(const void *left, const void *right)
{
	const struct orphan *a = left, *b = right;
	int order = pp_str_cmp(a->rest, b->rest);
	if (order || (order = (a->line > b->line) - (a->line < b->line)) || (order = a->side - b->side))
		return order;
	return a->package != b->package ? (a->package < b->package ? -1 : 1) : (a->frame > b->frame) - (a->frame < b->frame);
}

static uint32_t family_of(struct rn_packages *p, uint32_t baseline, uint32_t incident, struct pp_error *err)
{
	struct pp_str a = pp_intern_at(p->names, baseline), b = pp_intern_at(p->names, incident);
	char *key = malloc(a.len + b.len + 1);
	uint32_t index = PP_NONE;
	bool is_new = false;
	if (key) {
		pd_package_roots(&a, &b);
		memcpy(key, a.ptr, a.len);
		key[a.len] = '\n'; /* no part of either; files begin with a NUL */
		memcpy(key + a.len + 1, b.ptr, b.len);
		index = pp_intern_put(p->roots, key, a.len + b.len + 1, &is_new);
		free(key);
	}
	if (index == PP_NONE || reserve(p, &p->families, &p->families_capacity, p->families_n + 1, sizeof(*p->families), err) != 0) {
		no_memory(err);
		return PP_NONE;
	}
	if (is_new)
		p->families[p->families_n++] = (struct family){0};
	return index;
}

int rn_pair_packages(struct rn_packages *p, uint32_t baseline, uint32_t incident, uint32_t family, struct pp_error *err)
{
	if (reserve(p, &p->pairs, &p->pairs_capacity, p->pairs_n + 1, sizeof(*p->pairs), err) != 0)
		return -1;
	p->pairs[p->pairs_n++] = (struct package_pair){.packages = {baseline, incident}, .family = family, .open = true};
	return 0;
}

/* Notes that two packages have a name in common. */
static int add_common(struct rn_packages *p, uint32_t baseline, uint32_t incident, const double cost[2], bool counts,
                      struct pp_error *err)
{
	uint32_t index;
	if (pd_pairs_put(&p->pair_ids, baseline, incident, p->pairs, sizeof(*p->pairs), &index, err) != 0)
		return -1;
	if (index == PP_NONE) {
		uint32_t family = family_of(p, baseline, incident, err);
		index = (uint32_t)p->pairs_n;
		if (family == PP_NONE || rn_pair_packages(p, baseline, incident, family, err) != 0)
			return -1;
	}
	p->pairs[index].names_n += counts;
	for (int side = 0; side < 2; side++)
		p->pairs[index].common[side] += cost[side];
	return 0;
}

/* Those of [from, to) that are of one package, from at on: their cost, and where they end. */
static size_t bearer(const struct search *s, const struct rn_packages *p, size_t at, size_t to, double *cost)
{
	const struct orphan *o = &p->orphans[at];
	for (*cost = 0; at < to && p->orphans[at].side == o->side && p->orphans[at].package == o->package; at++)
		*cost += s->r->cost[o->side][p->orphans[at].frame];
	return at;
}

static size_t bearers(const struct search *s, const struct rn_packages *p, size_t from, size_t to)
{
	size_t n = 0;
	double ignored;
	for (; from < to; n++)
		from = bearer(s, p, from, to, &ignored);
	return n;
}

/* One name: every package that had it with every package that has it. Baseline orphans come first. */
static int pair_bearers(const struct search *s, struct rn_packages *p, size_t from, size_t to, struct pp_error *err)
{
	static const char closure[] = "{closure}"; /* says no more than the function that holds it */
	struct pp_str rest = p->orphans[from].rest;
	bool counts = !(rest.len >= sizeof(closure) - 1 &&
	                memcmp(rest.ptr + rest.len - (sizeof(closure) - 1), closure, sizeof(closure) - 1) == 0);
	size_t middle = from;
	while (middle < to && p->orphans[middle].side == PD_BASELINE)
		middle++;
	if (middle == from || middle == to || bearers(s, p, from, middle) > BEARERS_MAX || bearers(s, p, middle, to) > BEARERS_MAX)
		return 0;
	double cost[2];
	for (size_t a = from, next_a; a < middle; a = next_a) {
		next_a = bearer(s, p, a, middle, &cost[0]);
		for (size_t b = middle, next_b; b < to; b = next_b) {
			next_b = bearer(s, p, b, to, &cost[1]);
			if (p->pairs_n < PAIRS_MAX && add_common(p, p->orphans[a].package, p->orphans[b].package, cost, counts, err) != 0)
				return -1;
		}
	}
	return 0;
}

static int pair_packages(const struct search *s, struct rn_packages *p, struct pp_error *err)
{
	if (p->orphans_n > 0) /* else there is no array either */
		qsort(p->orphans, p->orphans_n, sizeof(*p->orphans), by_rest);
	for (size_t from = 0, to; from < p->orphans_n; from = to) {
		for (to = from + 1; to < p->orphans_n && pp_str_eq(p->orphans[from].rest, p->orphans[to].rest) &&
		                    p->orphans[from].line == p->orphans[to].line;)
			to++;
		if (pair_bearers(s, p, from, to, err) != 0)
			return -1;
	}
	if (p->pairs_n == PAIRS_MAX)
		p->pairs_n = 0; /* not all were looked at: any of them might have a rival */
	return 0;
}

/* ---- which families are believed ---- */

/* What families share, over their open pairs or those of them that are kept. */
static void add_up(struct rn_packages *p, bool kept)
{
	for (size_t i = 0; i < p->families_n; i++)
		p->families[i] = (struct family){.accepted = false};
	for (size_t i = 0; i < p->pairs_n; i++) {
		const struct package_pair *pair = &p->pairs[i];
		struct family *family = &p->families[pair->family];
		if (!(kept ? pair->kept : pair->open))
			continue;
		family->names_n += pair->names_n;
		for (int side = 0; side < 2; side++) {
			family->common[side] += pair->common[side];
			family->cost[side] += p->packages[pair->packages[side]].cost[side];
		}
	}
}

/* Keeps the open pairs whose packages no other family claims with nearly as good a right. */
static int keep_unrivalled(struct rn_packages *p, struct pp_error *err)
{
	struct claim {
		uint32_t family;
		size_t best, second; /* shared names of the best family, and of the best other one */
	} *claims = calloc(p->packages_n + 1, sizeof(*claims));
	if (!claims)
		return no_memory(err);
	for (size_t i = 0; i < p->pairs_n; i++)
		for (int side = 0; side < 2 && p->pairs[i].open; side++) {
			struct claim *claim = &claims[p->pairs[i].packages[side]];
			uint32_t family = p->pairs[i].family;
			size_t n = p->families[family].names_n;
			if (n > claim->best)
				*claim = (struct claim){family, n, claim->best};
			else if (family != claim->family && n > claim->second)
				claim->second = n;
		}
	for (size_t i = 0; i < p->pairs_n; i++) {
		p->pairs[i].kept = p->pairs[i].open;
		for (int side = 0; side < 2; side++) {
			const struct claim *claim = &claims[p->pairs[i].packages[side]];
			p->pairs[i].kept &= claim->family == p->pairs[i].family && RIVAL * claim->second <= claim->best;
		}
	}
	free(claims);
	return 0;
}

/* Notes the kept pairs of accepted families with their packages. */
static void accept(struct rn_packages *p)
{
	for (size_t i = 0; i < p->packages_n; i++)
		p->packages[i].pair = PP_NONE;
	for (size_t i = 0; i < p->pairs_n; i++)
		for (int side = 0; side < 2 && p->pairs[i].kept && p->families[p->pairs[i].family].accepted; side++)
			p->packages[p->pairs[i].packages[side]].pair = (uint32_t)i;
}

/* Closes the pairs of accepted packages with others; whether there were any. */
static bool close_pairs(struct rn_packages *p)
{
	bool any = false;
	for (size_t i = 0; i < p->pairs_n; i++)
		for (int side = 0; side < 2 && p->pairs[i].open; side++) {
			uint32_t pair = p->packages[p->pairs[i].packages[side]].pair;
			p->pairs[i].open = pair == PP_NONE || pair == i;
			any |= !p->pairs[i].open;
		}
	return any;
}

/* Which families the names speak for. Once a package has found its own, it is no rival of others. */
static int choose_families(struct rn_packages *p, struct pp_error *err)
{
	do {
		add_up(p, false);
		if (keep_unrivalled(p, err) != 0)
			return -1;
		add_up(p, true);
		for (size_t i = 0; i < p->families_n; i++) {
			struct family *family = &p->families[i];
			family->accepted = family->names_n >= LEAST_NAMES && family->common[0] >= LEAST_COMMON * family->cost[0] &&
			                   family->common[1] >= LEAST_COMMON * family->cost[1];
		}
		accept(p);
	} while (close_pairs(p));
	return 0;
}

/* The name behind the package's as the profile has it. */
static struct pp_str raw_rest(const struct search *s, uint32_t frame)
{
	const struct pp_frame *f = pp_frames_at(s->r->frames, frame);
	size_t end = pd_package_end(f->name, f->file);
	return (struct pp_str){f->name.ptr + end, f->name.len - end};
}

/* In [from, to), the one function of each side of the pair of packages of orphan at: by canonical names, or, of
 * several closures, by their own. false: there are none, or several. */
static bool the_two(const struct search *s, const struct rn_packages *p, size_t from, size_t to, size_t at, uint32_t frame[2])
{
	uint32_t pair = p->packages[p->orphans[at].package].pair;
	struct pp_str raw = raw_rest(s, p->orphans[at].frame);
	for (int by_raw = 0; by_raw < 2; by_raw++) {
		size_t n[2] = {0, 0};
		for (size_t i = from; i < to; i++) {
			const struct orphan *o = &p->orphans[i];
			if (p->packages[o->package].pair != pair || (by_raw && !pp_str_eq(raw, raw_rest(s, o->frame))))
				continue;
			frame[o->side] = o->frame;
			n[o->side]++;
		}
		if (n[0] == 1 && n[1] == 1)
			return true;
	}
	return false;
}

/* By another rule, with another function. */
static bool joined_otherwise(const struct search *s, const uint32_t frame[2])
{
	return (s->joined[0][frame[0]] || s->joined[1][frame[1]]) && s->r->to[0][frame[0]] != frame[1];
}

static int suppose(const struct search *s, struct rn_packages *p, struct pp_error *err)
{
	for (size_t from = 0, to; from < p->orphans_n; from = to) {
		for (to = from + 1; to < p->orphans_n && pp_str_eq(p->orphans[from].rest, p->orphans[to].rest) &&
		                    p->orphans[from].line == p->orphans[to].line;)
			to++;
		for (size_t i = from; i < to && p->orphans[i].side == PD_BASELINE && to - from <= 2 * BEARERS_MAX; i++) {
			struct supposed both;
			uint32_t pair = p->packages[p->orphans[i].package].pair;
			if (pair == PP_NONE || !the_two(s, p, from, to, i, both.frame) || joined_otherwise(s, both.frame))
				continue;
			both.family = p->pairs[pair].family;
			if (reserve(p, &p->supposed, &p->supposed_capacity, p->supposed_n + 1, sizeof(*p->supposed), err) != 0)
				return -1;
			p->supposed[p->supposed_n++] = both;
		}
	}
	return 0;
}

/* Where no function is big enough to know its callers and callees: very many names, nearly all of the cost, and
 * about as much of it as before. */
static bool names_suffice(const struct family *family, const double total[2])
{
	double share[2];
	bool same = family->names_n >= NAMES_ALONE;
	for (int side = 0; side < 2; side++) {
		share[side] = total[side] > 0 ? family->cost[side] / total[side] : 0;
		same &= family->common[side] >= COMMON_ALONE * family->cost[side];
	}
	return same && share[0] <= COST_ALONE * share[1] && share[1] <= COST_ALONE * share[0];
}

/* Callers and callees, with what is supposed taken for true, until no family is refuted. */
static void verify(struct search *s, struct rn_packages *p)
{
	bool refuted;
	do {
		refuted = false;
		for (size_t i = 0; i < p->families_n; i++)
			p->families[i].known_n = p->families[i].agreeing_n = 0;
		for (size_t i = 0; i < p->supposed_n; i++)
			s->same[0][p->supposed[i].frame[0]] = p->families[p->supposed[i].family].accepted ? p->supposed[i].frame[1]
			                                      : s->r->to[0][p->supposed[i].frame[0]];
		for (size_t i = 0; i < p->supposed_n; i++) {
			struct pd_likeness likeness;
			struct family *family = &p->families[p->supposed[i].family];
			if (!rn_compare(s, p->supposed[i].frame[0], p->supposed[i].frame[1], &likeness) || likeness.cost <= 0)
				continue; /* too small for calls to be noted */
			family->known_n++;
			family->agreeing_n += likeness.callers >= ALIKE && likeness.callees >= ALIKE;
		}
		for (size_t i = 0; i < p->families_n; i++) {
			struct family *family = &p->families[i];
			if (!family->accepted || (family->known_n ? (double)family->agreeing_n >= AGREEING * (double)family->known_n
			                                          : names_suffice(family, s->r->total)))
				continue;
			family->accepted = false;
			refuted = true;
		}
	} while (refuted);
}

int rn_find_packages(struct search *s, struct rn_packages *p, struct pp_error *err)
{
	if (gather_functions(s, p, err) != 0 || pair_packages(s, p, err) != 0 || choose_families(p, err) != 0 || suppose(s, p, err) != 0)
		return -1;
	verify(s, p);
	accept(p);
	return 0;
}
