/* The memory map at the end of legacy profiles: lines of /proc/PID/maps, or brief ones
 *   START-END [PERMISSIONS] FILE [(@OFFSET)] [BUILD_ID]
 * Lines NAME=VALUE before them name what $NAME stands for in the rest. Lines of other kinds mean nothing. */
#include <stdlib.h>
#include <string.h>

#include "libpprof/legacy.h"

/* More names than any memory map has, so that what hostile ones cost stays linear. */
#define VARIABLES_MAX 16

struct variables {
	struct {
		struct pp_str name, value; /* name with its '$' */
	} list[VARIABLES_MAX];
	size_t n;
	char *text; /* the line at hand with values in place */
	size_t text_room;
};

bool pp_legacy_is_map_head(struct pp_str line)
{
	return pp_legacy_holds(line, "--- Memory map: ---") || pp_legacy_holds(line, "MAPPED_LIBRARIES:");
}

bool pp_legacy_is_section(struct pp_str line)
{
	return pp_legacy_begins(line, "---") || pp_legacy_is_map_head(line);
}

/* ---- lines ---- */

/* Cuts off "… file:line] " that a logging library wrote before the text. */
static struct pp_str without_log_prefix(struct pp_str line)
{
	size_t end = 0, digits;
	while (end < line.len && line.ptr[end] != '[' && line.ptr[end] != ']')
		end++;
	for (digits = end; digits > 0 && line.ptr[digits - 1] >= '0' && line.ptr[digits - 1] <= '9'; )
		digits--;
	if (end + 1 >= line.len || line.ptr[end] != ']' || digits == end || digits < 2 || line.ptr[digits - 1] != ':')
		return line;
	struct pp_str rest = {line.ptr + end + 1, line.len - end - 1};
	return pp_take_blanks(&rest) ? rest : line;
}

static const struct pp_str *find_variable(const struct variables *v, struct pp_str at, size_t *name_n)
{
	for (size_t i = 0; i < v->n; i++)
		if (at.len >= v->list[i].name.len && memcmp(at.ptr, v->list[i].name.ptr, v->list[i].name.len) == 0) {
			*name_n = v->list[i].name.len;
			return &v->list[i].value;
		}
	return NULL;
}

static int append(struct pp_legacy *l, struct variables *v, size_t *at, struct pp_str piece)
{
	if (*at + piece.len > l->options->limits.record_bytes)
		return pp_legacy_fail(l, PP_ELIMIT, "longer than is allowed, with the values of names in it");
	if (pp_legacy_room(l, &v->text, &v->text_room, *at + piece.len + 1, 1) < 0)
		return -1;
	memcpy(v->text + *at, piece.ptr, piece.len);
	*at += piece.len;
	v->text[*at] = '\0';
	return 0;
}

static int substitute(struct pp_legacy *l, struct variables *v, struct pp_str *line)
{
	size_t at = 0, name_n = 0;
	if (v->n == 0 || line->len == 0 || !memchr(line->ptr, '$', line->len))
		return 0;
	while (line->len > 0) {
		const struct pp_str *value = *line->ptr == '$' ? find_variable(v, *line, &name_n) : NULL;
		const char *dollar = memchr(line->ptr + 1, '$', line->len - 1);
		size_t n = value ? name_n : dollar ? (size_t)(dollar - line->ptr) : line->len;
		if (append(l, v, &at, value ? *value : (struct pp_str){line->ptr, n}) < 0)
			return -1;
		*line = (struct pp_str){line->ptr + n, line->len - n};
	}
	*line = (struct pp_str){v->text, at};
	return 0;
}

static int define(struct pp_legacy *l, struct variables *v, struct pp_str line)
{
	const char *equals = line.len ? memchr(line.ptr, '=', line.len) : NULL;
	if (!equals)
		return 0;
	if (v->n == VARIABLES_MAX)
		return pp_legacy_fail(l, PP_ELIMIT, "more than %d names in a memory map", VARIABLES_MAX);
	size_t n = (size_t)(equals - line.ptr);
	struct pp_str name = pp_legacy_trim((struct pp_str){line.ptr, n});
	char *dollar_name = pp_arena_alloc(l->arena, name.len + 1);
	struct pp_str value = pp_legacy_copy(l, pp_legacy_trim((struct pp_str){equals + 1, line.len - n - 1}));
	if (!dollar_name || !value.ptr)
		return pp_fail(l->err, PP_ELIMIT, PP_NO_OFFSET, "the memory map needs more memory than is allowed");
	dollar_name[0] = '$';
	memcpy(dollar_name + 1, name.ptr, name.len);
	v->list[v->n].name = (struct pp_str){dollar_name, name.len + 1};
	v->list[v->n++].value = value;
	return 0;
}

/* ---- entries ---- */

static bool take_hex(struct pp_str *text, uint64_t *value)
{
	pp_take(text, "0x");
	return pp_take_hex(text, value);
}

static bool take_range(struct pp_str *text, struct pp_legacy_mapping *m)
{
	pp_take_blanks(text);
	if (!take_hex(text, &m->start) || !(pp_take(text, "-") || pp_take_blanks(text)))
		return false;
	pp_take_blanks(text);
	if (!take_hex(text, &m->limit))
		return false;
	pp_take(text, ":");
	return text->len == 0 || *text->ptr == ' ' || *text->ptr == '\t';
}

static bool next_word(struct pp_str *text, struct pp_str *word)
{
	struct pp_str rest = *text;
	if (!pp_take_blanks(&rest) || !pp_take_word(&rest, word))
		return false;
	*text = rest;
	return true;
}

static bool take_permissions(struct pp_str *text, struct pp_str *permissions)
{
	struct pp_str rest = *text, word;
	if (!next_word(&rest, &word))
		return false;
	for (size_t i = 0; i < word.len; i++)
		if (!memchr("-rwxp", word.ptr[i], 5))
			return false;
	*permissions = word;
	*text = rest;
	return true;
}

static bool is_hex_word(struct pp_str word, uint64_t *value)
{
	return pp_take_hex(&word, value) && word.len == 0;
}

static bool is_device(struct pp_str word)
{
	uint64_t number;
	return pp_take_hex(&word, &number) && pp_take(&word, ":") && pp_take_hex(&word, &number) && word.len == 0;
}

/* "OFFSET MAJOR:MINOR INODE [FILE]" of /proc/PID/maps. */
static bool take_proc(struct pp_str text, struct pp_legacy_mapping *m)
{
	struct pp_str word;
	int64_t inode;
	uint64_t offset = 0;
	if (!next_word(&text, &word))
		return false;
	if (is_hex_word(word, &offset) && !next_word(&text, &word))
		return false;
	if (!is_device(word) || !next_word(&text, &word) || !pp_take_number(&word, &inode) || word.len > 0)
		return false;
	m->offset = offset;
	if (!next_word(&text, &m->file))
		m->file = (struct pp_str){"", 0};
	return true;
}

static void take_brief(struct pp_str text, struct pp_legacy_mapping *m)
{
	struct pp_str word, rest;
	uint64_t id;
	if (!next_word(&text, &m->file))
		return;
	rest = text;
	if (next_word(&rest, &word) && pp_take(&word, "(@") && pp_take_hex(&word, &m->offset) && pp_take(&word, ")"))
		text = rest;
	else
		m->offset = 0;
	if (!next_word(&text, &word))
		return;
	size_t n = 0;
	while (n < word.len && is_hex_word((struct pp_str){word.ptr + n, 1}, &id))
		n++;
	m->build_id = (struct pp_str){word.ptr, n};
}

/* Adds what the line maps, if that is code. False when it is not an entry. */
static bool read_entry(struct pp_legacy *l, struct pp_str line)
{
	struct pp_legacy_mapping m = {.file = {"", 0}, .build_id = {"", 0}};
	struct pp_str permissions = {"", 0};
	if (!take_range(&line, &m))
		return false;
	if (take_permissions(&line, &permissions) && !memchr(permissions.ptr, 'x', permissions.len))
		return true;
	if (!take_proc(line, &m))
		take_brief(line, &m);
	m.file = pp_legacy_copy(l, m.file);
	m.build_id = pp_legacy_copy(l, m.build_id);
	if (m.file.ptr && m.build_id.ptr &&
	    pp_legacy_room(l, &l->mappings, &l->mappings_room, l->mappings_n + 1, sizeof(m)) == 0)
		l->mappings[l->mappings_n++] = m;
	return true;
}

int pp_legacy_map(struct pp_legacy *l)
{
	struct variables v = {.n = 0};
	int more;
	while ((more = pp_legacy_next(l)) > 0) {
		struct pp_str line = without_log_prefix(l->line);
		if (substitute(l, &v, &line) < 0 || (!read_entry(l, line) && define(l, &v, line) < 0) || l->err->code)
			return -1;
	}
	return more;
}

int pp_legacy_find_map(struct pp_legacy *l)
{
	int more = 1;
	while (more > 0 && !pp_legacy_is_map_head(l->line))
		more = pp_legacy_next(l);
	return more <= 0 ? more : pp_legacy_map(l);
}

/* ---- tidying, as the reference does ---- */

/* Whether b goes on where a ends, as another part of the same file. */
static bool continues(const struct pp_legacy_mapping *a, const struct pp_legacy_mapping *b)
{
	if (a->file.len && b->file.len && !pp_str_eq(a->file, b->file))
		return false;
	if (a->build_id.len && b->build_id.len && !pp_str_eq(a->build_id, b->build_id))
		return false;
	return a->limit == b->start &&
	       (a->offset == 0 || b->offset == 0 || a->offset + (a->limit - a->start) == b->offset);
}

static void join_parts(struct pp_legacy *l)
{
	size_t n = 0;
	for (size_t i = 0; i < l->mappings_n; i++) {
		const struct pp_legacy_mapping *m = &l->mappings[i];
		struct pp_legacy_mapping *last = n ? &l->mappings[n - 1] : NULL;
		if (!last || !continues(last, m)) {
			l->mappings[n++] = *m;
			continue;
		}
		last->limit = m->limit;
		if (m->file.len)
			last->file = m->file;
		if (m->build_id.len)
			last->build_id = m->build_id;
	}
	l->mappings_n = n;
}

/* "….so", and "….so.1" or "….so_1" anywhere in the name. */
static bool is_library(struct pp_str file)
{
	for (size_t i = 0; i + 3 <= file.len; i++) {
		if (memcmp(file.ptr + i, ".so", 3) != 0)
			continue;
		if (i + 3 == file.len)
			return true;
		if (i + 4 < file.len && (file.ptr[i + 3] == '.' || file.ptr[i + 3] == '_') && file.ptr[i + 4] >= '0' &&
		    file.ptr[i + 4] <= '9')
			return true;
	}
	return false;
}

/* The first is the program, by convention. */
static void put_program_first(struct pp_legacy *l)
{
	for (size_t i = 0; i < l->mappings_n; i++) {
		struct pp_str file = pp_legacy_trim(l->mappings[i].file);
		if (file.len >= 9 && memcmp(file.ptr + file.len - 9, "(deleted)", 9) == 0)
			file = pp_legacy_trim((struct pp_str){file.ptr, file.len - 9});
		if (file.len == 0 || file.ptr[0] == '[' || is_library(file))
			continue;
		struct pp_legacy_mapping program = l->mappings[i];
		l->mappings[i] = l->mappings[0];
		l->mappings[0] = program;
		return;
	}
}

/* Some handlers report the program's text as they remapped it to huge pages. */
static void mend_program(struct pp_legacy *l)
{
	const uint64_t usual_start = 0x400000;
	struct pp_legacy_mapping *m = l->mappings;
	if (l->mappings_n > 1 && pp_legacy_begins(m[0].file, "/anon_hugepage") && m[0].limit == m[1].start) {
		memmove(m, m + 1, (l->mappings_n - 1) * sizeof(*m));
		l->mappings_n--;
	}
	if (l->mappings_n > 0 && m[0].start - m[0].offset == usual_start) {
		m[0].start = usual_start;
		m[0].offset = 0;
	}
}

/* ---- which mapping an address is in. Ranges may overlap: the first one in the map has it. ---- */

struct range {
	uint64_t begin, end; /* end not included */
	uint32_t mapping;
};

struct ranges {
	uint64_t *bounds; /* sorted */
	uint32_t *owner;  /* of bounds[i] … bounds[i + 1] - 1; PP_NONE: nobody */
	uint32_t *next;   /* the first segment at or behind i that may be free; scratch */
	size_t n;
};

static int compare_u64(const void *a, const void *b)
{
	uint64_t x, y;
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* The last bound that is not above the address; PP_NONE when there is none. */
static uint32_t segment_of(const struct ranges *r, uint64_t address)
{
	size_t low = 0, high = r->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (r->bounds[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (uint32_t)(low - 1) : PP_NONE;
}

static uint32_t next_free(const struct ranges *r, uint32_t i)
{
	while (r->next[i] != i) {
		r->next[i] = r->next[r->next[i]];
		i = r->next[i];
	}
	return i;
}

/* In the order of the map, each takes the segments that are still free. */
static int index_ranges(struct pp_legacy *l, const struct range *list, size_t list_n, struct ranges *r)
{
	size_t bytes;
	r->n = 0;
	if (list_n > UINT32_MAX / 2 - 1 || !pp_mul_size(2 * list_n + 1, sizeof(uint64_t), &bytes) ||
	    !(r->bounds = pp_arena_alloc(l->arena, bytes)) || !(r->owner = pp_arena_alloc(l->arena, bytes)) ||
	    !(r->next = pp_arena_alloc(l->arena, bytes)))
		return pp_fail(l->err, PP_ELIMIT, PP_NO_OFFSET, "the memory map needs more memory than is allowed");
	for (size_t i = 0; i < list_n; i++) {
		r->bounds[r->n++] = list[i].begin;
		r->bounds[r->n++] = list[i].end;
	}
	qsort(r->bounds, r->n, sizeof(*r->bounds), compare_u64);
	for (size_t i = 0; i <= r->n; i++) {
		r->owner[i] = PP_NONE;
		r->next[i] = (uint32_t)i;
	}
	for (size_t i = 0; i < list_n; i++) {
		uint32_t end = segment_of(r, list[i].end);
		for (uint32_t s = next_free(r, segment_of(r, list[i].begin)); s < end; s = next_free(r, s)) {
			r->owner[s] = list[i].mapping;
			r->next[s] = s + 1;
		}
	}
	return 0;
}

static uint32_t owner_of(const struct ranges *r, uint64_t address)
{
	uint32_t segment = segment_of(r, address);
	return segment == PP_NONE ? PP_NONE : r->owner[segment];
}

/* ranges[0]: what is mapped. ranges[1]: what lies before it in the file, down to offset 0; some
 * handlers leave that part out. */
static int index_mappings(struct pp_legacy *l, struct ranges ranges[2])
{
	struct range *list = pp_arena_alloc(l->arena, (l->mappings_n + 1) * sizeof(*list));
	if (!list)
		return pp_fail(l->err, PP_ELIMIT, PP_NO_OFFSET, "the memory map needs more memory than is allowed");
	for (int part = 0; part < 2; part++) {
		size_t n = 0;
		for (size_t i = 0; i < l->mappings_n; i++) {
			const struct pp_legacy_mapping *m = &l->mappings[i];
			struct range range = {part ? m->start - m->offset : m->start, part ? m->start : m->limit, (uint32_t)i};
			if (range.begin < range.end)
				list[n++] = range;
		}
		if (index_ranges(l, list, n, &ranges[part]) < 0)
			return -1;
	}
	return 0;
}

/* The mapping of what no mapping holds: all there is. Of a symbolized file, of the program. */
static int add_fake_mapping(struct pp_legacy *l, uint32_t *mapping)
{
	struct pp_legacy_mapping fake = {.limit = UINT64_MAX, .file = {"", 0}, .build_id = {"", 0}};
	if (*mapping != PP_NONE)
		return 0;
	if (l->symbols && l->mappings_n == 0)
		fake.file = l->symbols->binary;
	if (pp_legacy_room(l, &l->mappings, &l->mappings_room, l->mappings_n + 1, sizeof(fake)) < 0)
		return -1;
	*mapping = (uint32_t)l->mappings_n;
	l->mappings[l->mappings_n++] = fake;
	return 0;
}

int pp_legacy_assign_mappings(struct pp_legacy *l)
{
	struct ranges ranges[2];
	uint32_t fake = PP_NONE;
	join_parts(l);
	put_program_first(l);
	mend_program(l);
	if (index_mappings(l, ranges) < 0)
		return -1;
	for (uint32_t i = 0; i < pp_intern_count(l->addresses); i++) {
		struct pp_legacy_location *location = &l->locations[i];
		if (location->index == PP_NONE || location->address == 0 || (!l->has_addresses && location->lines_n > 0))
			continue;
		location->mapping = owner_of(&ranges[0], location->address);
		if (location->mapping == PP_NONE && (location->mapping = owner_of(&ranges[1], location->address)) != PP_NONE) {
			struct pp_legacy_mapping *m = &l->mappings[location->mapping];
			m->start -= m->offset;
			m->offset = 0;
		}
		if (location->mapping == PP_NONE && add_fake_mapping(l, &fake) < 0)
			return -1;
		if (location->mapping == PP_NONE)
			location->mapping = fake;
		if (location->lines_n > 0)
			l->mappings[location->mapping].named_n++;
		else
			l->mappings[location->mapping].unnamed_n++;
	}
	return 0;
}
