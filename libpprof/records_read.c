#include <inttypes.h>
#include <string.h>

#include "libpprof/records_private.h"
#include "libpprof/tsv.h"
#include "libpprof/wire.h"

int pp_records_no_memory(struct pp_records_reader *r)
{
	if (pp_arena_over(r->arena))
		return pp_fail(r->err, PP_ELIMIT, PP_NO_OFFSET, "the rows need more than %" PRIu64 " bytes",
		               r->options->limits.model_bytes);
	return pp_fail(r->err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the rows");
}

bool pp_records_next(struct pp_str *list, struct pp_str *element)
{
	if (!list->ptr)
		return false;
	const char *comma = memchr(list->ptr, ',', list->len);
	element->ptr = list->ptr;
	element->len = comma ? (size_t)(comma - list->ptr) : list->len;
	*list = comma ? (struct pp_str){comma + 1, list->len - element->len - 1} : (struct pp_str){NULL, 0};
	return true;
}

struct pp_str pp_records_list(struct pp_str field)
{
	return field.len ? field : (struct pp_str){NULL, 0};
}

/* ---- fields of the row at hand; column counts from 0 behind the kind ---- */

static int bad_field(struct pp_records_reader *r, unsigned column, const char *wanted)
{
	const struct pp_str *field = &r->fields[column + 1];
	return pp_fail(r->err, PP_EFORMAT, r->place.offset, "line %" PRIu64 ": %s.%s: '%.*s' is not %s", r->place.line,
	               r->format->name, r->format->columns[column], (int)(field->len > 80 ? 80 : field->len),
	               field->ptr, wanted);
}

static int get_u64(struct pp_records_reader *r, unsigned column, uint64_t *value)
{
	return pp_parse_u64(r->fields[column + 1], value) ? 0 : bad_field(r, column, "an unsigned integer");
}

static int get_i64(struct pp_records_reader *r, unsigned column, int64_t *value)
{
	return pp_parse_i64(r->fields[column + 1], value) ? 0 : bad_field(r, column, "an integer of 64 bits");
}

static int get_flag(struct pp_records_reader *r, unsigned column, bool *value)
{
	struct pp_str field = r->fields[column + 1];
	if (field.len != 1 || (field.ptr[0] != '0' && field.ptr[0] != '1'))
		return bad_field(r, column, "0 or 1");
	*value = field.ptr[0] == '1';
	return 0;
}

static int get_id(struct pp_records_reader *r, unsigned column, uint64_t *value)
{
	if (get_u64(r, column, value) < 0)
		return -1;
	return *value ? 0 : bad_field(r, column, "an id: 0 is reserved");
}

static int get_string(struct pp_records_reader *r, unsigned column, uint32_t *string)
{
	struct pp_str field = r->fields[column + 1];
	struct pp_error why = PP_ERROR_INIT;
	int64_t n = pp_unescape((char *)(uintptr_t)field.ptr, field.len, 0, &why); /* fields lie in the writable line */
	if (n < 0)
		return pp_fail(r->err, PP_EFORMAT, r->place.offset, "line %" PRIu64 ": %s.%s: %s", r->place.line,
		               r->format->name, r->format->columns[column], why.text);
	*string = pp_build_string(r->build, (struct pp_str){field.ptr, (size_t)n});
	return 0; /* a failure sticks to the builder */
}

/* Hexadecimal digits, turned into bytes in place. */
static int get_bytes(struct pp_records_reader *r, unsigned column, struct pp_str *bytes)
{
	struct pp_str field = r->fields[column + 1];
	char *out = (char *)(uintptr_t)field.ptr;
	if (field.len % 2 || field.len == 0)
		return bad_field(r, column, "pairs of hexadecimal digits");
	for (size_t i = 0; i + 1 < field.len; i += 2) {
		int byte = pp_hex_byte(field.ptr + i);
		if (byte < 0)
			return bad_field(r, column, "hexadecimal digits");
		out[i / 2] = (char)byte;
	}
	bytes->len = field.len / 2;
	bytes->ptr = pp_arena_copy(r->arena, out, bytes->len);
	return bytes->ptr ? 0 : pp_records_no_memory(r);
}

static int keep_text(struct pp_records_reader *r, struct pp_intern *table, struct pp_str text, uint32_t *index)
{
	*index = pp_intern_put(table, text.ptr, text.len, NULL);
	return *index == PP_NONE ? pp_records_no_memory(r) : 0;
}

/* ---- gathering ---- */

/* A new row of the kind at hand, cleared, placed here. */
static void *push(struct pp_records_reader *r, enum pp_row_kind kind, size_t row_bytes)
{
	struct pp_row_table *t = &r->tables[kind];
	t->row_bytes = row_bytes;
	if (t->n == t->capacity && pp_arena_reserve(r->arena, &t->rows, &t->capacity, t->n + 1, row_bytes) < 0) {
		pp_records_no_memory(r);
		return NULL;
	}
	struct pp_row_head *head = (void *)((char *)t->rows + t->n++ * row_bytes);
	memset(head, 0, row_bytes);
	head->place = r->place;
	head->built = PP_NONE;
	return head;
}

static int gather_profile(struct pp_records_reader *r)
{
	struct pp_profile *p = pp_build_profile(r->build);
	if (r->profile_seen)
		return pp_fail(r->err, PP_EFORMAT, r->place.offset, "line %" PRIu64 ": a second profile row", r->place.line);
	r->profile_seen = true;
	return get_i64(r, 0, &p->time_ns) || get_i64(r, 1, &p->duration_ns) ||
	       get_string(r, 2, &p->period_type.type) || get_string(r, 3, &p->period_type.unit) ||
	       get_i64(r, 4, &p->period) || get_string(r, 5, &p->default_sample_type) ||
	       get_string(r, 6, &p->drop_frames) || get_string(r, 7, &p->keep_frames) ||
	       get_string(r, 8, &p->doc_url) ? -1 : 0;
}

static int gather_sample_type(struct pp_records_reader *r)
{
	struct pp_type_row *row = push(r, PP_ROW_SAMPLE_TYPE, sizeof(*row));
	return !row || get_u64(r, 0, &row->head.key[0]) || get_string(r, 1, &row->type.type) ||
	       get_string(r, 2, &row->type.unit) ? -1 : 0;
}

static int gather_comment(struct pp_records_reader *r)
{
	struct pp_comment_row *row = push(r, PP_ROW_COMMENT, sizeof(*row));
	return !row || get_u64(r, 0, &row->head.key[0]) || get_string(r, 1, &row->text) ? -1 : 0;
}

static int gather_mapping(struct pp_records_reader *r)
{
	struct pp_mapping_row *row = push(r, PP_ROW_MAPPING, sizeof(*row));
	struct pp_mapping *m = row ? &row->mapping : NULL;
	return !row || get_u64(r, 0, &row->head.key[0]) || get_id(r, 1, &m->id) || get_u64(r, 2, &m->start) ||
	       get_u64(r, 3, &m->limit) || get_u64(r, 4, &m->offset) || get_string(r, 5, &m->filename) ||
	       get_string(r, 6, &m->build_id) || get_flag(r, 7, &m->has_functions) ||
	       get_flag(r, 8, &m->has_filenames) || get_flag(r, 9, &m->has_line_numbers) ||
	       get_flag(r, 10, &m->has_inline_frames) ? -1 : 0;
}

static int gather_function(struct pp_records_reader *r)
{
	struct pp_function_row *row = push(r, PP_ROW_FUNCTION, sizeof(*row));
	struct pp_function *f = row ? &row->function : NULL;
	return !row || get_u64(r, 0, &row->head.key[0]) || get_id(r, 1, &f->id) || get_string(r, 2, &f->name) ||
	       get_string(r, 3, &f->system_name) || get_string(r, 4, &f->filename) ||
	       get_i64(r, 5, &f->start_line) ? -1 : 0;
}

static int gather_location(struct pp_records_reader *r)
{
	struct pp_location_row *row = push(r, PP_ROW_LOCATION, sizeof(*row));
	struct pp_location *l = row ? &row->location : NULL;
	return !row || get_u64(r, 0, &row->head.key[0]) || get_id(r, 1, &l->id) || get_u64(r, 2, &row->mapping_id) ||
	       get_u64(r, 3, &l->address) || get_flag(r, 4, &l->is_folded) ? -1 : 0;
}

static int gather_line(struct pp_records_reader *r)
{
	struct pp_line_row *row = push(r, PP_ROW_LINE, sizeof(*row));
	return !row || get_id(r, 0, &row->head.key[0]) || get_u64(r, 1, &row->head.key[1]) ||
	       get_u64(r, 2, &row->function_id) || get_i64(r, 3, &row->line.line) ||
	       get_i64(r, 4, &row->line.column) ? -1 : 0;
}

static int gather_values(struct pp_records_reader *r, uint32_t *values)
{
	struct pp_str list = pp_records_list(r->fields[3]), element;
	size_t n = 0;
	while (pp_records_next(&list, &element)) {
		void *numbers = r->numbers;
		if (n == r->numbers_capacity && pp_arena_reserve(r->arena, &numbers, &r->numbers_capacity, n + 1,
		                                                 sizeof(*r->numbers)) < 0)
			return pp_records_no_memory(r);
		r->numbers = numbers;
		if (!pp_parse_i64(element, &r->numbers[n++]))
			return bad_field(r, 2, "a list of integers");
	}
	return keep_text(r, r->values, (struct pp_str){n ? (const char *)r->numbers : "", n * sizeof(*r->numbers)},
	                 values);
}

static int gather_sample(struct pp_records_reader *r)
{
	struct pp_sample_row *row = push(r, PP_ROW_SAMPLE, sizeof(*row));
	return !row || get_u64(r, 0, &row->head.key[0]) || keep_text(r, r->stacks, r->fields[2], &row->stack) ||
	       gather_values(r, &row->values) ? -1 : 0;
}

static int gather_label(struct pp_records_reader *r)
{
	struct pp_label_row *row = push(r, PP_ROW_LABEL, sizeof(*row));
	struct pp_label *l = row ? &row->label : NULL;
	return !row || get_u64(r, 0, &row->head.key[0]) || get_u64(r, 1, &row->head.key[1]) ||
	       get_string(r, 2, &l->key) || get_string(r, 3, &l->str) || get_i64(r, 4, &l->num) ||
	       get_string(r, 5, &l->num_unit) ? -1 : 0;
}

/* Fields of a record that are known are numbered from 1 without a gap; the bytes of an unknown row must be
 * whole fields of other numbers, for they are copied into what is written. */
static bool are_unknown_fields(enum pp_record record, struct pp_str bytes)
{
	static const uint32_t known[PP_RECORD_NAMES_N] = {
		[PP_RECORD_PROFILE] = 15, [PP_RECORD_SAMPLE_TYPE] = 2, [PP_RECORD_PERIOD_TYPE] = 2,
		[PP_RECORD_SAMPLE] = 3, [PP_RECORD_LABEL] = 4, [PP_RECORD_MAPPING] = 10,
		[PP_RECORD_LOCATION] = 5, [PP_RECORD_LINE] = 3, [PP_RECORD_FUNCTION] = 5,
	};
	const unsigned char *begin = (const unsigned char *)bytes.ptr;
	struct pp_cursor cursor = {begin, begin + bytes.len, bytes.len};
	struct pp_field field;
	const char *reason;
	int more;
	while ((more = pp_cursor_next(&cursor, &field, &reason)) > 0)
		if (field.number <= known[record])
			return false;
	return more == 0;
}

static int gather_unknown(struct pp_records_reader *r)
{
	struct pp_unknown_row *row = push(r, PP_ROW_UNKNOWN, sizeof(*row));
	if (!row)
		return -1;
	unsigned record = 0;
	while (record < PP_RECORD_NAMES_N && !pp_str_eq(r->fields[1], pp_str_of(pp_record_names[record])))
		record++;
	if (record == PP_RECORD_NAMES_N)
		return bad_field(r, 0, "a record that has unknown fields");
	row->head.key[0] = record;
	if (get_u64(r, 1, &row->head.key[1]) || get_u64(r, 2, &row->head.key[2]) || get_bytes(r, 3, &row->bytes))
		return -1;
	return are_unknown_fields((enum pp_record)record, row->bytes)
	               ? 0 : pp_fail(r->err, PP_EFORMAT, r->place.offset, "line %" PRIu64
	                             ": unknown.bytes: are not whole protobuf fields with unknown numbers", r->place.line);
}

static int (*const gather_row[PP_ROW_KINDS])(struct pp_records_reader *) = {
	[PP_ROW_PROFILE] = gather_profile, [PP_ROW_SAMPLE_TYPE] = gather_sample_type,
	[PP_ROW_COMMENT] = gather_comment, [PP_ROW_MAPPING] = gather_mapping,
	[PP_ROW_FUNCTION] = gather_function, [PP_ROW_LOCATION] = gather_location,
	[PP_ROW_LINE] = gather_line, [PP_ROW_SAMPLE] = gather_sample, [PP_ROW_LABEL] = gather_label,
	[PP_ROW_UNKNOWN] = gather_unknown,
};

static int gather_line_of_text(struct pp_records_reader *r, char *line, size_t n)
{
	if (n == 0 || line[0] == '#')
		return 0;
	size_t fields_n = pp_split_tabs(line, n, r->fields, PP_COUNT(r->fields));
	unsigned kind = 0;
	while (kind < PP_ROW_KINDS && !pp_str_eq(r->fields[0], pp_str_of(pp_row_formats[kind].name)))
		kind++;
	if (kind == PP_ROW_KINDS)
		return pp_fail(r->err, PP_EFORMAT, r->place.offset, "line %" PRIu64 ": '%.60s' is not a kind of row",
		               r->place.line, r->fields[0].ptr);
	r->format = &pp_row_formats[kind];
	if (fields_n < r->format->columns_n + 1)
		return pp_fail(r->err, PP_EFORMAT, r->place.offset, "line %" PRIu64 ": %s: the column %s is missing",
		               r->place.line, r->format->name, r->format->columns[fields_n - 1]);
	if (kind == PP_ROW_SAMPLE && r->tables[kind].n >= r->options->limits.samples)
		return pp_fail(r->err, PP_ELIMIT, r->place.offset, "line %" PRIu64 ": more than %" PRIu32 " samples",
		               r->place.line, r->options->limits.samples);
	if (gather_row[kind](r) < 0)
		return -1;
	const struct pp_error *sticky = pp_build_error(r->build);
	return sticky ? pp_fail(r->err, sticky->code, r->place.offset, "line %" PRIu64 ": %s", r->place.line, sticky->text) : 0;
}

static int check_magic(struct pp_str *fields, size_t fields_n, struct pp_error *err)
{
	if (fields_n < 2 || !pp_str_eq(fields[0], PP_LIT(PP_RECORDS_MAGIC)))
		return pp_fail(err, PP_EFORMAT, 0, "line 1: is not '" PP_RECORDS_MAGIC "', a tab and the version");
	if (!pp_str_eq(fields[1], PP_LIT(PP_RECORDS_VERSION)))
		return pp_fail(err, PP_EUNSUPPORTED, 0, "line 1: records of version '%.20s'; this version reads "
		               PP_RECORDS_VERSION, fields[1].ptr);
	return 0;
}

static int gather(struct pp_records_reader *r, struct pp_source *source)
{
	struct pp_lines *lines = pp_lines_new(source, &r->options->limits, r->err);
	char *line;
	size_t n;
	int more = lines ? pp_lines_next(lines, &line, &n, &r->place.offset, r->err) : -1;

	if (more == 0)
		more = pp_fail(r->err, PP_EFORMAT, 0, "empty input");
	if (more > 0 && check_magic(r->fields, pp_split_tabs(line, n, r->fields, 2), r->err) < 0)
		more = -1;
	while (more > 0 && (more = pp_lines_next(lines, &line, &n, &r->place.offset, r->err)) > 0) {
		r->place.line = pp_lines_number(lines);
		if (gather_line_of_text(r, line, n) < 0)
			more = -1;
	}
	pp_lines_free(lines);
	return more;
}

static int init(struct pp_records_reader *r)
{
	r->build = pp_build_new(&r->options->limits, r->err);
	r->arena = pp_arena_new(r->options->limits.model_bytes);
	if (!r->build || !r->arena)
		return pp_fail(r->err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the rows");
	r->stacks = pp_intern_new(r->arena);
	r->values = pp_intern_new(r->arena);
	r->mapping_ids = pp_intern_new(r->arena);
	r->function_ids = pp_intern_new(r->arena);
	r->location_ids = pp_intern_new(r->arena);
	return r->stacks && r->values && r->mapping_ids && r->function_ids && r->location_ids ? 0 : pp_records_no_memory(r);
}

struct pp_profile *pp_records_read(struct pp_source *source, const struct pp_read_options *options,
                                   struct pp_error *err)
{
	struct pp_records_reader r = {.options = options, .err = err};
	struct pp_profile *profile = NULL;

	if (init(&r) < 0 || gather(&r, source) < 0)
		goto done;
	/* What a builder reports is its own first failure, so it comes first. */
	if (pp_records_build(&r) < 0 && !pp_build_error(r.build))
		goto done;
	profile = pp_build_finish(r.build, err);
done:
	pp_intern_free(r.stacks);
	pp_intern_free(r.values);
	pp_intern_free(r.mapping_ids);
	pp_intern_free(r.function_ids);
	pp_intern_free(r.location_ids);
	pp_arena_free(r.arena);
	pp_build_free(r.build);
	return profile;
}
