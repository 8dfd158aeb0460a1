/* Joins the functions of packages that moved: those whose names are the same with packages replaced. */
#include "libdiff/rename_package.h"

#include <stdlib.h>
#include <string.h>

#define TOKEN_BYTES 5 /* stands for a package and the one that it became */

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for renamed packages");
}

/* ---- roots ---- */

/* Marks on which sides there are packages that begin with a root. */
static void look_for_roots(struct rn_packages *p)
{
	for (uint32_t i = 0; i < p->packages_n; i++) {
		struct pp_str text = pp_intern_at(p->names, i);
		for (size_t end = 1; end <= text.len; end++) {
			if (end < text.len && !pd_package_separator(text.ptr[end]))
				continue;
			uint32_t root = pp_intern_find(p->names, text.ptr, end);
			if (root != PP_NONE && p->packages[root].root)
				p->packages[root].sides |= p->packages[i].sides;
		}
	}
}

/* The roots of families stand for packages that no function was seen of, only its types: if all that begins
 * with the one is gone, and all that begins with the other is new. */
static int pair_roots(struct rn_packages *p, struct pp_error *err)
{
	size_t pairs_n = p->pairs_n, roots_n = 0;
	struct root {
		uint32_t packages[2], family;
	} *roots = malloc((pairs_n + 1) * sizeof(*roots));
	int status = roots ? 0 : no_memory(err);
	for (size_t i = 0; i < pairs_n && status == 0; i++) {
		struct pp_str text[2] = {pp_intern_at(p->names, p->pairs[i].packages[0]), pp_intern_at(p->names, p->pairs[i].packages[1])};
		struct root root = {.family = p->pairs[i].family};
		if (!p->pairs[i].kept || !p->families[root.family].accepted || text[0].ptr[0] == '\0' || text[1].ptr[0] == '\0')
			continue;
		pd_package_roots(&text[0], &text[1]);
		for (int side = 0; side < 2 && text[0].len && text[1].len && status == 0; side++) {
			root.packages[side] = rn_put_package(p, text[side].ptr, text[side].len, err);
			if (root.packages[side] == PP_NONE)
				status = -1;
			else
				p->packages[root.packages[side]].root = true;
		}
		if (text[0].len && text[1].len && status == 0)
			roots[roots_n++] = root;
	}
	if (status == 0)
		look_for_roots(p);
	for (size_t i = 0; i < roots_n && status == 0; i++) {
		struct package *a = &p->packages[roots[i].packages[0]], *b = &p->packages[roots[i].packages[1]];
		if (a->pair != PP_NONE || b->pair != PP_NONE || a->sides != 1 || b->sides != 2)
			continue;
		a->pair = b->pair = (uint32_t)p->pairs_n;
		status = rn_pair_packages(p, roots[i].packages[0], roots[i].packages[1], roots[i].family, err);
	}
	free(roots);
	return status;
}

/* ---- names with their packages replaced ---- */

static bool path_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_$-/.:\\~@%", c) || (unsigned char)c >= 0x80;
}

static size_t put_token(char *out, uint32_t pair)
{
	out[0] = 1;
	memcpy(out + 1, &pair, sizeof(pair));
	return TOKEN_BYTES;
}

/* The pair of the package that is text, on this side; PP_NONE: it did not move. */
static uint32_t moved(const struct rn_packages *p, int side, const char *text, size_t n)
{
	uint32_t index = pp_intern_find(p->names, text, n);
	uint32_t pair = index == PP_NONE ? PP_NONE : p->packages[index].pair;
	return pair != PP_NONE && p->pairs[pair].packages[side] == index ? pair : PP_NONE;
}

/* The longest start of a path of n bytes that is a package that moved: its length, or 0. */
static size_t moved_start(const struct rn_packages *p, int side, const char *path, size_t n, uint32_t *pair)
{
	for (size_t end = n; end > 0; end--) {
		if (end < n && !pd_package_separator(path[end]))
			continue;
		if ((*pair = moved(p, side, path, end)) != PP_NONE)
			return end;
	}
	return 0;
}

/* The package that a function belongs to; PP_NONE: none that is known. */
static uint32_t own_package(const struct rn_packages *p, struct pp_str name, struct pp_str file, size_t end)
{
	char by_file[RN_NAME_BYTES_MAX];
	size_t n = rn_package_of_file(file, by_file);
	return end ? pp_intern_find(p->names, name.ptr, end) : pp_intern_find(p->names, by_file, n);
}

size_t rn_package_key(const struct rn_packages *p, int side, struct pp_str name, struct pp_str file, char *out, bool *replaced)
{
	size_t n = 0, i = 0, own_end = pd_package_end(name, file);
	uint32_t own = own_package(p, name, file, own_end), pair = own == PP_NONE ? PP_NONE : p->packages[own].pair;
	bool stays = own != PP_NONE && p->packages[own].sides == 3;
	if (pair != PP_NONE && p->pairs[pair].packages[side] == own) {
		n = put_token(out, pair);
		i = own_end;
	}
	*replaced = n > 0;
	/* Also where it is named in arguments of types; but what is of a package that both sides have stays in it. */
	for (bool first = true; i < name.len; first = false) {
		size_t end = i, length = 0;
		while (end < name.len && path_byte(name.ptr[end]))
			end++;
		if ((!first || (i == 0 && !stays)) && (length = moved_start(p, side, name.ptr + i, end - i, &pair)) > 0) {
			n += put_token(out + n, pair);
			*replaced = true;
		}
		size_t rest = end > i ? end - i - length : 1;
		memcpy(out + n, name.ptr + i + length, rest);
		n += rest;
		i += length + rest;
	}
	return n;
}

/* ---- joining ---- */

static int join_run(struct search *s, size_t from, size_t to, struct pp_error *err)
{
	rn_gather(s, from, to);
	return s->members->too_many ? 0 : rn_pair_members(s, rn_package_rules(s), err);
}

/* Joins what has one name with packages replaced: as it stands in the profiles, then in canonical form; each
 * first in files of one name. */
static int join_by_key(struct search *s, struct keyed *keyed, const struct rn_packages *p, bool canonical, bool by_base,
                       struct pp_error *err)
{
	const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_arena *arena = pp_arena_new(limits.model_bytes);
	int status = arena ? 0 : no_memory(err);
	s->order_n = 0;
	for (uint32_t f = 0; status == 0 && f < s->r->frames_n; f++) {
		const struct pp_frame *frame = pp_frames_at(s->r->frames, f);
		int side = s->r->present[PD_INCIDENT][f] ? PD_INCIDENT : PD_BASELINE;
		unsigned applied;
		if (!rn_is_orphan(s, side, f) || frame->name.len > RN_NAME_BYTES_MAX)
			continue;
		struct pp_str name = frame->name;
		if (canonical)
			name = (struct pp_str){p->scratch, pd_canonical(frame->name, frame->file, rn_package_rules(s), p->scratch, &applied)};
		char *key = pp_arena_alloc(arena, RN_PACKAGE_KEY_MAX(name.len));
		if (!key) {
			status = no_memory(err);
			break;
		}
		bool replaced;
		size_t n = rn_package_key(p, side, name, frame->file, key, &replaced);
		if (replaced)
			keyed[s->order_n++] = (struct keyed){s->r->frames, {key, n},
			                                     (uint64_t)frame->line ^ (by_base ? rn_hash_of_basename(frame->file) : 0), f};
	}
	if (status == 0) {
		rn_sort_keyed(s, keyed);
		status = rn_each_run(s, keyed, join_run, err);
	}
	pp_arena_free(arena);
	rn_end_pass(s);
	return status;
}

static int join_all(struct search *s, struct keyed *keyed, struct rn_packages *p, struct pp_error *err)
{
	s->packages = p;
	int status = 0;
	for (int pass = 0; pass < 4 && status == 0; pass++)
		status = join_by_key(s, keyed, p, pass >= 2, pass % 2 == 0, err);
	s->packages = NULL;
	return status;
}

int rn_join_packages(struct search *s, struct keyed *keyed, struct pp_error *err)
{
	const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct rn_packages p = {.arena = NULL};
	int status = -1;
	if (!(s->r->rules & (1u << PD_RULE_PACKAGE)) || !s->matcher)
		return 0;
	p.arena = pp_arena_new(limits.model_bytes);
	p.scratch = malloc(PD_CANONICAL_MAX(RN_NAME_BYTES_MAX));
	if (!p.arena || !p.scratch || !(p.names = pp_intern_new(p.arena)) || !(p.roots = pp_intern_new(p.arena))) {
		no_memory(err);
		goto done;
	}
	if (rn_find_packages(s, &p, err) == 0 && pair_roots(&p, err) == 0)
		status = join_all(s, keyed, &p, err);
done:
	pp_intern_free(p.names);
	pp_intern_free(p.roots);
	pd_pairs_release(&p.pair_ids);
	pp_arena_free(p.arena);
	free(p.scratch);
	return status;
}
