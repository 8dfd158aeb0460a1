#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/samples.h"
#include "libpprof/samples_private.h"
#include "libpprof/tsv.h"

struct column {
	enum { COLUMN_VALUE, COLUMN_LABEL, COLUMN_NUMLABEL, COLUMN_STACK } kind;
	uint32_t key, unit; /* labels: strings */
	char *name;         /* as in the header, for messages */
};

struct reader {
	const struct pp_read_options *options;
	struct pp_error *err;
	struct pp_build *build;
	struct pp_text_frames frames;
	struct pp_arena *arena; /* of the columns */
	struct column *columns;
	struct pp_str *fields; /* of the row at hand, one a column */
	size_t columns_n;
	int64_t *values;
	struct pp_label *labels; /* of the row at hand */
	size_t labels_n, labels_capacity;
	uint64_t line, offset; /* of the row at hand */
};

static int no_memory(struct reader *r)
{
	return pp_fail(r->err, pp_arena_over(r->arena) ? PP_ELIMIT : PP_ENOMEM, PP_NO_OFFSET,
	               "the columns need more memory than there is");
}

/* Moves the reason for a field to where the field is. */
static int field_failed(struct reader *r, size_t column, const struct pp_error *why)
{
	return pp_fail(r->err, why->code, r->offset, "line %" PRIu64 ": %.80s: %s", r->line, r->columns[column].name, why->text);
}

static int unescape_string(struct reader *r, char *text, size_t n, uint32_t *string, struct pp_error *why)
{
	int64_t length = pp_unescape(text, n, 0, why);
	if (length < 0)
		return -1;
	*string = pp_build_string(r->build, (struct pp_str){text, (size_t)length});
	return 0;
}

/* ---- the header row ---- */

static bool starts_with(struct pp_str text, const char *prefix)
{
	size_t n = strlen(prefix);
	return text.len >= n && memcmp(text.ptr, prefix, n) == 0;
}

/* The last ':' at or behind from: what stands before it may hold more of them; PP's writer escapes those
 * behind it. n when there is none. */
static size_t last_colon(struct pp_str text, size_t from)
{
	for (size_t i = text.len; i > from; i--)
		if (text.ptr[i - 1] == ':')
			return i - 1;
	return text.len;
}

static int two_part_name(struct reader *r, struct pp_str name, size_t from, struct column *c, struct pp_error *why)
{
	size_t colon = last_colon(name, from);
	char *text = (char *)(uintptr_t)name.ptr; /* fields lie in the writable line */
	if (colon == name.len)
		return pp_fail(why, PP_EFORMAT, PP_NO_OFFSET,
		               "is not a column: those are TYPE:UNIT, label:KEY, numlabel:KEY:UNIT and, last, stack");
	if (unescape_string(r, text + colon + 1, name.len - colon - 1, &c->unit, why) < 0)
		return -1;
	return unescape_string(r, text + from, colon - from, &c->key, why);
}

static int parse_column(struct reader *r, struct pp_str name, struct column *c, struct pp_error *why)
{
	char *text = (char *)(uintptr_t)name.ptr;
	size_t label_n = strlen(PP_SAMPLES_LABEL);
	if (starts_with(name, PP_SAMPLES_LABEL)) {
		c->kind = COLUMN_LABEL;
		return unescape_string(r, text + label_n, name.len - label_n, &c->key, why);
	}
	if (starts_with(name, PP_SAMPLES_NUMLABEL)) {
		c->kind = COLUMN_NUMLABEL;
		return two_part_name(r, name, strlen(PP_SAMPLES_NUMLABEL), c, why);
	}
	c->kind = COLUMN_VALUE;
	if (two_part_name(r, name, 0, c, why) < 0)
		return -1;
	(void)pp_build_sample_type(r->build, (struct pp_value_type){c->key, c->unit});
	return 0;
}

static int read_header(struct reader *r, char *line, size_t n)
{
	size_t tabs = 0;
	for (size_t i = 0; i < n; i++)
		tabs += line[i] == '\t';
	r->columns_n = tabs + 1;
	if (r->columns_n > PP_SAMPLES_COLUMNS_MAX)
		return pp_fail(r->err, PP_ELIMIT, r->offset, "line 1: %zu columns, more than %d", r->columns_n,
		               PP_SAMPLES_COLUMNS_MAX);
	r->columns = pp_arena_alloc(r->arena, r->columns_n * sizeof(*r->columns));
	r->fields = pp_arena_alloc(r->arena, r->columns_n * sizeof(*r->fields));
	r->values = pp_arena_alloc(r->arena, r->columns_n * sizeof(*r->values));
	if (!r->columns || !r->fields || !r->values)
		return no_memory(r);
	memset(r->columns, 0, r->columns_n * sizeof(*r->columns));
	(void)pp_split_tabs(line, n, r->fields, r->columns_n);
	if (!pp_str_eq(r->fields[tabs], PP_LIT(PP_SAMPLES_STACK)))
		return pp_fail(r->err, PP_EFORMAT, r->offset, "line 1: the last column is not '" PP_SAMPLES_STACK "'");
	for (size_t i = 0; i <= tabs; i++) {
		struct pp_error why = PP_ERROR_INIT;
		struct column *c = &r->columns[i];
		c->name = pp_arena_copy(r->arena, r->fields[i].ptr, r->fields[i].len);
		if (!c->name)
			return no_memory(r);
		if (i == tabs)
			c->kind = COLUMN_STACK;
		else if (parse_column(r, r->fields[i], c, &why) < 0)
			return pp_fail(r->err, why.code, r->offset, "line 1: column '%.80s': %s", c->name, why.text);
	}
	return 0;
}

/* ---- rows ---- */

static int add_label(struct reader *r, const struct column *c, char *text, size_t n, struct pp_error *why)
{
	struct pp_label label = {.key = c->key};
	void *labels = r->labels;
	if (pp_arena_reserve(r->arena, &labels, &r->labels_capacity, r->labels_n + 1, sizeof(*r->labels)) < 0)
		return pp_fail(why, PP_ENOMEM, PP_NO_OFFSET, "no memory for labels");
	r->labels = labels;
	if (c->kind == COLUMN_LABEL) {
		if (unescape_string(r, text, n, &label.str, why) < 0)
			return -1;
	} else {
		label.num_unit = c->unit;
		if (!pp_parse_i64((struct pp_str){text, n}, &label.num))
			return pp_fail(why, PP_EFORMAT, PP_NO_OFFSET, "'%.*s' is not an integer of 64 bits",
			               (int)(n > 80 ? 80 : n), text);
	}
	r->labels[r->labels_n++] = label;
	return 0;
}

/* An empty field is no label; values of one key are joined by ';'. */
static int read_labels(struct reader *r, const struct column *c, struct pp_str field, struct pp_error *why)
{
	char *text = (char *)(uintptr_t)field.ptr, *end = text + field.len;
	while (field.len > 0) {
		char *semicolon = memchr(text, ';', (size_t)(end - text));
		if (add_label(r, c, text, (size_t)((semicolon ? semicolon : end) - text), why) < 0)
			return -1;
		if (!semicolon)
			break;
		text = semicolon + 1;
	}
	return 0;
}

static int parse_frame(char *text, size_t n, struct pp_text_frame *frame, struct pp_error *err)
{
	size_t file_n, name_n = pp_frame_place(text, n, &file_n);
	if (name_n < n) {
		char *file = text + name_n + 2;
		struct pp_str number = {file + file_n + 1, n - name_n - file_n - 4};
		if (!pp_parse_i64(number, &frame->line))
			return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line number '%.*s' does not fit 64 bits",
			               (int)(number.len > 80 ? 80 : number.len), number.ptr);
		int64_t length = pp_unescape(file, file_n, 0, err);
		if (length < 0)
			return -1;
		frame->file = (struct pp_str){file, (size_t)length};
	}
	int64_t length = pp_unescape(text, name_n, 0, err);
	if (length < 0)
		return -1;
	frame->name = (struct pp_str){text, (size_t)length};
	return 0;
}

static int read_fields(struct reader *r, uint32_t *stack)
{
	size_t values_n = 0;
	r->labels_n = 0;
	for (size_t i = 0; i < r->columns_n; i++) {
		struct pp_error why = PP_ERROR_INIT;
		const struct column *c = &r->columns[i];
		struct pp_str field = r->fields[i];
		char *text = (char *)(uintptr_t)field.ptr;
		int result = 0;
		if (c->kind == COLUMN_STACK)
			result = pp_text_stack(&r->frames, text, field.len, parse_frame, stack, &why);
		else if (c->kind != COLUMN_VALUE)
			result = read_labels(r, c, field, &why);
		else if (!pp_parse_i64(field, &r->values[values_n++]))
			result = pp_fail(&why, PP_EFORMAT, PP_NO_OFFSET, "'%.*s' is not an integer of 64 bits",
			                 (int)(field.len > 80 ? 80 : field.len), field.ptr);
		if (result < 0)
			return field_failed(r, i, &why);
	}
	return 0;
}

static int read_row(struct reader *r, char *line, size_t n)
{
	uint32_t stack;
	size_t fields_n;
	if (n == 0)
		return 0;
	fields_n = pp_split_tabs(line, n, r->fields, r->columns_n);
	if (fields_n != r->columns_n)
		return pp_fail(r->err, PP_EFORMAT, r->offset, "line %" PRIu64 ": %zu fields where the header has %zu",
		               r->line, fields_n, r->columns_n);
	if (read_fields(r, &stack) < 0)
		return -1;
	(void)pp_build_sample(r->build, stack, pp_build_label_list(r->build, r->labels, (uint32_t)r->labels_n), r->values);
	return 0;
}

/* A broken row is dropped and counted when lenient. */
static int read_row_as_asked(struct reader *r, char *line, size_t n)
{
	if (read_row(r, line, n) == 0)
		return pp_build_error(r->build) ? -1 : 0;
	if (r->options->strictness == PP_STRICT || r->err->code != PP_EFORMAT)
		return -1;
	*r->err = (struct pp_error)PP_ERROR_INIT;
	return pp_build_note(r->build, r->offset, "a row that cannot be read; dropped");
}

static int read_all(struct reader *r, struct pp_source *source)
{
	struct pp_lines *lines = pp_lines_new(source, &r->options->limits, r->err);
	char *line;
	size_t n;
	int more = lines ? pp_lines_next(lines, &line, &n, &r->offset, r->err) : -1;

	if (more == 0)
		more = pp_fail(r->err, PP_EFORMAT, 0, "empty input");
	if (more > 0 && read_header(r, line, n) < 0)
		more = -1;
	while (more > 0 && (more = pp_lines_next(lines, &line, &n, &r->offset, r->err)) > 0) {
		r->line = pp_lines_number(lines);
		if (read_row_as_asked(r, line, n) < 0)
			more = -1;
	}
	pp_lines_free(lines);
	return more;
}

struct pp_profile *pp_samples_read(struct pp_source *source, const struct pp_read_options *options,
                                   struct pp_error *err)
{
	struct reader r = {.options = options, .err = err};
	struct pp_profile *profile = NULL;

	r.build = pp_build_new(&options->limits, err);
	r.arena = pp_arena_new(options->limits.model_bytes);
	if (!r.build || !r.arena)
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to read samples");
	else if (pp_text_frames_init(&r.frames, r.build, &options->limits, err) == 0 &&
	         (read_all(&r, source) == 0 || pp_build_error(r.build)))
		profile = pp_build_finish(r.build, err);
	pp_text_frames_release(&r.frames);
	pp_arena_free(r.arena);
	pp_build_free(r.build);
	return profile;
}
