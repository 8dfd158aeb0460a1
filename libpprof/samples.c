#include "libpprof/samples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/hash.h"
#include "libpprof/json.h"
#include "libpprof/samples_private.h"
#include "libpprof/tsv.h"

/* Text of locations is kept for the next sample that names them, but not without bound. */
#define CACHE_BYTES (UINT64_C(256) << 20)
#define CACHE_LOCATION_BYTES 16384

/* ---- frames ---- */

/* What is printed for one line of a location: name, then suffix, then " (file:line)". */
struct frame_parts {
	struct pp_str name, file;
	char suffix[24];
	bool placed;
	int64_t line;
};

static struct pp_str base_name(struct pp_str path)
{
	for (size_t i = path.len; i > 0; i--)
		if (path.ptr[i - 1] == '/')
			return (struct pp_str){path.ptr + i, path.len - i};
	return path;
}

static void unsymbolized(const struct pp_profile *p, const struct pp_location *l, struct frame_parts *parts)
{
	const struct pp_mapping *m = l->mapping == PP_NONE ? NULL : &p->mappings[l->mapping];
	parts->name = m ? base_name(pp_string(p, m->filename)) : PP_LIT("");
	if (parts->name.len > 0)
		snprintf(parts->suffix, sizeof(parts->suffix), "+0x%" PRIx64, l->address - m->start + m->offset);
	else if (l->address != 0)
		snprintf(parts->suffix, sizeof(parts->suffix), "0x%" PRIx64, l->address);
	else
		parts->name = PP_LIT("??");
}

static void parts_of(const struct pp_profile *p, const struct pp_location *l, uint32_t line, bool lines,
                     struct frame_parts *parts)
{
	const struct pp_line *at = line < l->lines_n ? &p->lines[l->line_first + line] : NULL;
	const struct pp_function *f = at && at->function != PP_NONE ? &p->functions[at->function] : NULL;

	*parts = (struct frame_parts){.name = f ? pp_string(p, f->name) : PP_LIT("")};
	if (parts->name.len == 0) {
		unsymbolized(p, l, parts);
		return;
	}
	if (!lines)
		return;
	parts->file = pp_string(p, f->filename);
	parts->line = at->line;
	parts->placed = parts->file.len > 0 || at->line != 0;
}

int pp_view_frame(const struct pp_profile *profile, uint32_t location, uint32_t line, bool lines,
                  struct pp_buf *out, struct pp_error *err)
{
	struct pp_sink sink = pp_buf_sink(out);
	struct frame_parts parts;
	parts_of(profile, &profile->locations[location], line, lines, &parts);
	if (pp_buf_append(out, parts.name.ptr, parts.name.len, err) < 0 || pp_sink_str(&sink, parts.suffix, err) < 0)
		return -1;
	if (!parts.placed)
		return 0;
	if (pp_sink_str(&sink, " (", err) < 0 || pp_buf_append(out, parts.file.ptr, parts.file.len, err) < 0)
		return -1;
	return pp_sink_printf(&sink, err, ":%" PRId64 ")", parts.line);
}

size_t pp_frame_place(const char *text, size_t n, size_t *file_n)
{
	size_t at = n;
	if (n == 0 || text[--at] != ')')
		return n;
	size_t digits = at;
	while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
		at--;
	if (at == digits)
		return n;
	if (at > 0 && text[at - 1] == '-')
		at--;
	if (at == 0 || text[--at] != ':')
		return n;
	size_t colon = at;
	while (at > 1 && !(text[at - 2] == ' ' && text[at - 1] == '('))
		at--;
	if (at < 2)
		return n;
	*file_n = colon - at;
	return at - 2;
}

/* Escaped, with '(' as well, so that the last " (" of a frame is the one before its file. */
static int write_file(struct pp_sink *sink, struct pp_str file, struct pp_error *err)
{
	while (file.len > 0) {
		const char *paren = memchr(file.ptr, '(', file.len);
		size_t n = paren ? (size_t)(paren - file.ptr) : file.len;
		if (pp_escape(sink, (struct pp_str){file.ptr, n}, ';', err) < 0)
			return -1;
		if (!paren)
			return 0;
		if (pp_sink_str(sink, "\\x28", err) < 0)
			return -1;
		file = (struct pp_str){paren + 1, file.len - n - 1};
	}
	return 0;
}

static int write_parts(struct pp_sink *sink, const struct frame_parts *parts, struct pp_error *err)
{
	size_t file_n;
	struct pp_str name = parts->name;
	/* A name that looks like one with a place must not be taken apart when it is read. */
	bool deceptive = !parts->placed && !parts->suffix[0] && pp_frame_place(name.ptr, name.len, &file_n) < name.len;
	if (deceptive)
		name.len--;
	if (pp_escape(sink, name, ';', err) < 0 || pp_sink_str(sink, deceptive ? "\\x29" : parts->suffix, err) < 0)
		return -1;
	if (!parts->placed)
		return 0;
	if (pp_sink_str(sink, " (", err) < 0 || write_file(sink, parts->file, err) < 0)
		return -1;
	return pp_sink_printf(sink, err, ":%" PRId64 ")", parts->line);
}

/* ---- columns of labels ---- */

struct label_column {
	bool numeric;
	struct pp_str key, unit;
};

/* A label that the view shows, by what its column is called. */
struct label_name {
	uint32_t numeric, key, unit;
};

/* A value of the sample at hand: which column, and which of its labels. */
struct label_cell {
	uint32_t column, label;
};

struct cached_text {
	size_t at, n; /* n == 0: not there */
};

struct view {
	const struct pp_profile *p;
	const struct pp_samples_options *options;
	struct pp_sink *sink;
	struct pp_error *err;
	struct pp_arena *arena;
	struct pp_intern *names;  /* of struct label_name */
	uint32_t *column_of_name;
	struct label_column *columns;
	uint32_t columns_n;
	struct label_cell *cells; /* of the sample at hand, sorted by column */
	size_t cells_n, cells_capacity;
	struct cached_text *cached; /* by location */
	struct pp_buf cache;
	struct pp_buf scratch;
	struct pp_buf heads;        /* the names of all columns, NUL-terminated */
};

static int no_memory(struct view *v)
{
	return pp_fail(v->err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the samples view");
}

/* false: a label without any content, which the view (as the reference) drops. A file may give the
 * empty text as a value; a field of the view cannot. */
static bool name_of(const struct pp_profile *p, const struct pp_label *l, struct label_name *name)
{
	*name = (struct label_name){l->str == 0, l->key, l->str == 0 ? l->num_unit : 0};
	return l->str ? pp_string(p, l->str).len > 0 : l->num != 0 || l->num_unit != 0;
}

static int compare_columns(const struct label_column *a, const struct label_column *b)
{
	if (a->numeric != b->numeric)
		return a->numeric ? 1 : -1;
	int order = pp_str_cmp(a->key, b->key);
	return order ? order : pp_str_cmp(a->unit, b->unit);
}

static int compare_column_pointers(const void *a, const void *b)
{
	const struct label_column *x = *(const struct label_column *const *)a;
	const struct label_column *y = *(const struct label_column *const *)b;
	int order = compare_columns(x, y);
	return order ? order : (x > y) - (x < y);
}

static int collect_list(struct view *v, const struct pp_label_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		struct label_name name;
		if (name_of(v->p, &list->labels[i], &name) && pp_intern_put(v->names, &name, sizeof(name), NULL) == PP_NONE)
			return no_memory(v);
	}
	if (pp_intern_count(v->names) > PP_SAMPLES_LABELS_MAX)
		return pp_fail(v->err, PP_ELIMIT, PP_NO_OFFSET,
		               "more than %d label columns; the records view has no such limit", PP_SAMPLES_LABELS_MAX);
	return 0;
}

/* Of the lists that a sample has; each is looked at once. */
static int collect_names(struct view *v)
{
	bool *seen = pp_arena_alloc(v->arena, v->p->label_lists_n * sizeof(*seen));
	if (!seen)
		return no_memory(v);
	memset(seen, 0, v->p->label_lists_n * sizeof(*seen));
	for (uint32_t s = 0; s < v->p->samples_n; s++) {
		uint32_t list = v->p->sample_labels[s];
		if (!seen[list] && collect_list(v, &v->p->label_lists[list]) < 0)
			return -1;
		seen[list] = true;
	}
	return 0;
}

/* Names whose bytes are equal share a column; columns are sorted: text, then numeric, by key and unit. */
static int make_columns(struct view *v)
{
	uint32_t n = pp_intern_count(v->names);
	struct label_column *unsorted = pp_arena_alloc(v->arena, n * sizeof(*unsorted));
	struct label_column **order = pp_arena_alloc(v->arena, n * sizeof(*order));
	v->columns = pp_arena_alloc(v->arena, n * sizeof(*v->columns));
	v->column_of_name = pp_arena_alloc(v->arena, n * sizeof(*v->column_of_name));
	if (!unsorted || !order || !v->columns || !v->column_of_name)
		return no_memory(v);
	for (uint32_t i = 0; i < n; i++) {
		struct label_name name;
		memcpy(&name, pp_intern_at(v->names, i).ptr, sizeof(name));
		unsorted[i] = (struct label_column){name.numeric != 0, pp_string(v->p, name.key), pp_string(v->p, name.unit)};
		order[i] = &unsorted[i];
	}
	if (n > 1)
		qsort(order, n, sizeof(*order), compare_column_pointers);
	for (uint32_t i = 0; i < n; i++) {
		if (v->columns_n == 0 || compare_columns(&v->columns[v->columns_n - 1], order[i]) != 0)
			v->columns[v->columns_n++] = *order[i];
		v->column_of_name[order[i] - unsorted] = v->columns_n - 1;
	}
	return 0;
}

static int compare_cells(const void *a, const void *b)
{
	const struct label_cell *x = a, *y = b;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return (x->label > y->label) - (x->label < y->label);
}

static int collect_cells(struct view *v, const struct pp_label_list *list)
{
	void *cells = v->cells;
	if (pp_arena_reserve(v->arena, &cells, &v->cells_capacity, list->n, sizeof(*v->cells)) < 0)
		return no_memory(v);
	v->cells = cells;
	v->cells_n = 0;
	for (uint32_t i = 0; i < list->n; i++) {
		struct label_name name;
		if (name_of(v->p, &list->labels[i], &name))
			v->cells[v->cells_n++] = (struct label_cell){
				v->column_of_name[pp_intern_find(v->names, &name, sizeof(name))], i};
	}
	if (v->cells_n > 1)
		qsort(v->cells, v->cells_n, sizeof(*v->cells), compare_cells);
	return 0;
}

/* ---- names of columns ---- */

static bool starts_with(struct pp_str text, struct pp_str prefix)
{
	return text.len >= prefix.len && memcmp(text.ptr, prefix.ptr, prefix.len) == 0;
}

/* A sample type that would read as a label column has its first letter escaped. */
static int type_head(struct view *v, struct pp_sink *sink, const struct pp_value_type *t)
{
	struct pp_str type = pp_string(v->p, t->type);
	bool deceptive = pp_str_eq(type, PP_LIT("label")) || starts_with(type, PP_LIT(PP_SAMPLES_LABEL)) ||
	                 pp_str_eq(type, PP_LIT("numlabel")) || starts_with(type, PP_LIT(PP_SAMPLES_NUMLABEL));
	if (deceptive) {
		char escape[PP_ESCAPE_MAX];
		if (pp_sink_bytes(sink, escape, pp_hex_escape((unsigned char)type.ptr[0], escape), v->err) < 0)
			return -1;
		type = (struct pp_str){type.ptr + 1, type.len - 1};
	}
	if (pp_escape(sink, type, 0, v->err) < 0 || pp_sink_str(sink, ":", v->err) < 0)
		return -1;
	return pp_escape(sink, pp_string(v->p, t->unit), ':', v->err);
}

static int label_head(struct view *v, struct pp_sink *sink, const struct label_column *c)
{
	if (pp_sink_str(sink, c->numeric ? PP_SAMPLES_NUMLABEL : PP_SAMPLES_LABEL, v->err) < 0 ||
	    pp_escape(sink, c->key, 0, v->err) < 0)
		return -1;
	if (!c->numeric)
		return 0;
	return pp_sink_str(sink, ":", v->err) < 0 ? -1 : pp_escape(sink, c->unit, ':', v->err);
}

static int make_heads(struct view *v)
{
	struct pp_sink sink = pp_buf_sink(&v->heads);
	for (uint32_t i = 0; i < v->p->sample_types_n; i++)
		if (type_head(v, &sink, &v->p->sample_types[i]) < 0 || pp_sink_bytes(&sink, "", 1, v->err) < 0)
			return -1;
	for (uint32_t i = 0; i < v->columns_n; i++)
		if (label_head(v, &sink, &v->columns[i]) < 0 || pp_sink_bytes(&sink, "", 1, v->err) < 0)
			return -1;
	return 0;
}

/* ---- rows as lines ---- */

static int write_frame(struct view *v, struct pp_sink *sink, uint32_t location, uint32_t line)
{
	struct frame_parts parts;
	if (v->options->json) {
		v->scratch.n = 0;
		if (pp_view_frame(v->p, location, line, v->options->lines, &v->scratch, v->err) < 0)
			return -1;
		return pp_json_write_str((struct pp_str){v->scratch.bytes, v->scratch.n}, sink, v->err);
	}
	parts_of(v->p, &v->p->locations[location], line, v->options->lines, &parts);
	return write_parts(sink, &parts, v->err);
}

static int separate(struct view *v, struct pp_sink *sink)
{
	return pp_sink_str(sink, v->options->json ? ", " : ";", v->err);
}

/* The frames of a location, root first: its last line is the function that holds the others. */
static int write_frames(struct view *v, struct pp_sink *sink, uint32_t location)
{
	uint32_t n = v->p->locations[location].lines_n;
	for (uint32_t i = n ? n : 1; i-- > 0;)
		if (write_frame(v, sink, location, i) < 0 || (i > 0 && separate(v, sink) < 0))
			return -1;
	return 0;
}

/* By an upper bound: JSON writes a byte as six at most. */
static bool fits_cache(const struct view *v, const struct pp_location *l)
{
	size_t bytes = 64;
	for (uint32_t i = 0; i < l->lines_n && bytes <= CACHE_LOCATION_BYTES; i++) {
		uint32_t f = v->p->lines[l->line_first + i].function;
		bytes += 64;
		if (f != PP_NONE)
			bytes += 6 * (pp_string(v->p, v->p->functions[f].name).len +
			              pp_string(v->p, v->p->functions[f].filename).len);
	}
	if (l->mapping != PP_NONE)
		bytes += 6 * pp_string(v->p, v->p->mappings[l->mapping].filename).len;
	return bytes <= CACHE_LOCATION_BYTES && v->cache.n < CACHE_BYTES;
}

static int write_location(struct view *v, uint32_t location)
{
	struct cached_text *cached = &v->cached[location];
	const struct pp_location *l = &v->p->locations[location];
	if (cached->n == 0) {
		if (!fits_cache(v, l))
			return write_frames(v, v->sink, location);
		struct pp_sink sink = pp_buf_sink(&v->cache);
		cached->at = v->cache.n;
		if (write_frames(v, &sink, location) < 0)
			return -1;
		cached->n = v->cache.n - cached->at;
	}
	return pp_sink_bytes(v->sink, v->cache.bytes + cached->at, cached->n, v->err);
}

int pp_check_text_frames(const struct pp_profile *profile, const struct pp_stack *stack, struct pp_error *err)
{
	uint64_t frames = 0;
	for (uint32_t i = 0; i < stack->n; i++) {
		uint32_t lines_n = profile->locations[stack->locations[i]].lines_n;
		frames += lines_n ? lines_n : 1;
	}
	return frames <= PP_TEXT_FRAMES_MAX
	               ? 0 : pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "a stack of %" PRIu64 " frames, more than %d",
	                             frames, PP_TEXT_FRAMES_MAX);
}

static int write_stack(struct view *v, const struct pp_stack *stack)
{
	if (pp_check_text_frames(v->p, stack, v->err) < 0)
		return -1;
	for (uint32_t i = stack->n; i-- > 0;)
		if (write_location(v, stack->locations[i]) < 0 || (i > 0 && separate(v, v->sink) < 0))
			return -1;
	return 0;
}

/* The values of one column of the sample at hand; *k moves behind its cells. */
static int text_labels(struct view *v, const struct pp_label_list *list, uint32_t column, size_t *k)
{
	bool first = true;
	for (; *k < v->cells_n && v->cells[*k].column == column; ++*k, first = false) {
		const struct pp_label *l = &list->labels[v->cells[*k].label];
		if (!first && pp_sink_bytes(v->sink, ";", 1, v->err) < 0)
			return -1;
		if (l->str ? pp_escape(v->sink, pp_string(v->p, l->str), ';', v->err) < 0
		           : pp_sink_i64(v->sink, l->num, v->err) < 0)
			return -1;
	}
	return 0;
}

static int text_row(struct view *v, uint32_t s)
{
	const struct pp_label_list *list = pp_sample_labels(v->p, s);
	size_t k = 0;

	for (uint32_t i = 0; i < v->p->sample_types_n; i++)
		if (pp_sink_i64(v->sink, pp_value(v->p, s, i), v->err) < 0 || pp_sink_bytes(v->sink, "\t", 1, v->err) < 0)
			return -1;
	for (uint32_t i = 0; i < v->columns_n; i++)
		if (text_labels(v, list, i, &k) < 0 || pp_sink_bytes(v->sink, "\t", 1, v->err) < 0)
			return -1;
	if (write_stack(v, pp_sample_stack(v->p, s)) < 0)
		return -1;
	return pp_sink_bytes(v->sink, "\n", 1, v->err);
}

static int text_head(struct view *v)
{
	for (size_t at = 0; at < v->heads.n; at += strlen(v->heads.bytes + at) + 1)
		if (pp_sink_str(v->sink, v->heads.bytes + at, v->err) < 0 || pp_sink_bytes(v->sink, "\t", 1, v->err) < 0)
			return -1;
	return pp_sink_str(v->sink, PP_SAMPLES_STACK "\n", v->err);
}

/* ---- rows as JSON objects, written piece by piece, so that no row needs memory ---- */

static int json_key(struct view *v, const char **head)
{
	struct pp_str key = pp_str_of(*head);
	*head += key.len + 1;
	return pp_json_write_str(key, v->sink, v->err) < 0 ? -1 : pp_sink_str(v->sink, ": ", v->err);
}

static int json_labels(struct view *v, const struct pp_label_list *list, uint32_t column, size_t *k)
{
	size_t begin = *k, end = begin;
	while (end < v->cells_n && v->cells[end].column == column)
		end++;
	*k = end;
	if (begin == end)
		return pp_sink_str(v->sink, "null", v->err);
	if (end - begin > 1 && pp_sink_str(v->sink, "[", v->err) < 0)
		return -1;
	for (size_t i = begin; i < end; i++) {
		const struct pp_label *l = &list->labels[v->cells[i].label];
		if (i > begin && pp_sink_str(v->sink, ", ", v->err) < 0)
			return -1;
		if (l->str ? pp_json_write_str(pp_string(v->p, l->str), v->sink, v->err) < 0
		           : pp_sink_i64(v->sink, l->num, v->err) < 0)
			return -1;
	}
	return end - begin > 1 ? pp_sink_str(v->sink, "]", v->err) : 0;
}

static int json_row(struct view *v, uint32_t s)
{
	const struct pp_label_list *list = pp_sample_labels(v->p, s);
	const char *head = v->heads.bytes;
	size_t k = 0;

	if (pp_sink_str(v->sink, s > 0 ? ",\n{" : "\n{", v->err) < 0)
		return -1;
	for (uint32_t i = 0; i < v->p->sample_types_n; i++)
		if (json_key(v, &head) < 0 || pp_sink_i64(v->sink, pp_value(v->p, s, i), v->err) < 0 ||
		    pp_sink_str(v->sink, ", ", v->err) < 0)
			return -1;
	for (uint32_t i = 0; i < v->columns_n; i++)
		if (json_key(v, &head) < 0 || json_labels(v, list, i, &k) < 0 || pp_sink_str(v->sink, ", ", v->err) < 0)
			return -1;
	if (pp_sink_str(v->sink, "\"" PP_SAMPLES_STACK "\": [", v->err) < 0 || write_stack(v, pp_sample_stack(v->p, s)) < 0)
		return -1;
	return pp_sink_str(v->sink, "]}", v->err);
}

static int write_rows(struct view *v)
{
	bool json = v->options->json;
	if (json ? pp_sink_str(v->sink, "[", v->err) < 0 : text_head(v) < 0)
		return -1;
	for (uint32_t s = 0; s < v->p->samples_n; s++)
		if (collect_cells(v, pp_sample_labels(v->p, s)) < 0 || (json ? json_row(v, s) : text_row(v, s)) < 0)
			return -1;
	return json ? pp_sink_str(v->sink, "]\n", v->err) : 0;
}

int pp_samples_write(const struct pp_profile *profile, const struct pp_samples_options *options,
                     struct pp_sink *sink, struct pp_error *err)
{
	struct view v = {.p = profile, .options = options, .sink = sink, .err = err};
	int result = -1;

	v.arena = pp_arena_new(UINT64_MAX); /* what is kept follows the profile, which is bounded */
	v.names = v.arena ? pp_intern_new(v.arena) : NULL;
	v.cached = calloc((size_t)profile->locations_n + 1, sizeof(*v.cached));
	if (!v.names || !v.cached)
		no_memory(&v);
	else if (collect_names(&v) == 0 && make_columns(&v) == 0 && make_heads(&v) == 0)
		result = write_rows(&v);
	pp_buf_release(&v.cache);
	pp_buf_release(&v.scratch);
	pp_buf_release(&v.heads);
	free(v.cached);
	pp_intern_free(v.names);
	pp_arena_free(v.arena);
	return result;
}
