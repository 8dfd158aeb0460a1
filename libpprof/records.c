#include "libpprof/records.h"

#include <inttypes.h>
#include <stdio.h>

#include "libpprof/json.h"
#include "libpprof/records_private.h"
#include "libpprof/tsv.h"

const struct pp_row_format pp_row_formats[PP_ROW_KINDS] = {
	[PP_ROW_PROFILE] = {"profile", 9, {"time_ns", "duration_ns", "period_type", "period_unit", "period",
	                                   "default_sample_type", "drop_frames", "keep_frames", "doc_url"}},
	[PP_ROW_SAMPLE_TYPE] = {"sample_type", 3, {"index", "type", "unit"}},
	[PP_ROW_COMMENT] = {"comment", 2, {"index", "text"}},
	[PP_ROW_MAPPING] = {"mapping", 11, {"index", "id", "start", "limit", "offset", "filename", "build_id",
	                                    "has_functions", "has_filenames", "has_line_numbers",
	                                    "has_inline_frames"}},
	[PP_ROW_FUNCTION] = {"function", 6, {"index", "id", "name", "system_name", "filename", "start_line"}},
	[PP_ROW_LOCATION] = {"location", 5, {"index", "id", "mapping", "address", "is_folded"}},
	[PP_ROW_LINE] = {"line", 5, {"location", "index", "function", "line", "column"}},
	[PP_ROW_SAMPLE] = {"sample", 3, {"index", "locations", "values"}},
	[PP_ROW_LABEL] = {"label", 6, {"sample", "index", "key", "str", "num", "num_unit"}},
	[PP_ROW_UNKNOWN] = {"unknown", 4, {"record", "element", "part", "bytes"}},
};

const char *const pp_record_names[PP_RECORD_NAMES_N] = {
	[PP_RECORD_PROFILE] = "profile", [PP_RECORD_SAMPLE_TYPE] = "sample_type",
	[PP_RECORD_PERIOD_TYPE] = "period_type", [PP_RECORD_SAMPLE] = "sample",
	[PP_RECORD_LABEL] = "label", [PP_RECORD_MAPPING] = "mapping", [PP_RECORD_LOCATION] = "location",
	[PP_RECORD_LINE] = "line", [PP_RECORD_FUNCTION] = "function",
};

enum cell_kind {
	CELL_I64,
	CELL_U64,
	CELL_HEX,    /* an address */
	CELL_FLAG,
	CELL_STR,
	CELL_BYTES,  /* as hexadecimal digits */
	CELL_IDS,    /* of the locations of a stack */
	CELL_VALUES
};

struct cell {
	enum cell_kind kind;
	union {
		int64_t i64;
		uint64_t u64;
		struct pp_str str;
		const struct pp_stack *stack;
		const int64_t *values; /* one a sample type */
	} is;
};

struct writer {
	const struct pp_profile *p;
	struct pp_sink *sink;
	struct pp_error *err;
	bool json;
	bool row_seen; /* of the current kind */
};

static struct cell i64(int64_t value)
{
	return (struct cell){CELL_I64, {.i64 = value}};
}
static struct cell u64(uint64_t value)
{
	return (struct cell){CELL_U64, {.u64 = value}};
}
static struct cell hex(uint64_t value)
{
	return (struct cell){CELL_HEX, {.u64 = value}};
}
static struct cell flag(bool value)
{
	return (struct cell){CELL_FLAG, {.u64 = value}};
}
static struct cell str(const struct writer *w, uint32_t string)
{
	return (struct cell){CELL_STR, {.str = pp_string(w->p, string)}};
}

/* ---- rows as lines ---- */

static int hex_digits(struct writer *w, struct pp_str bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		char escape[PP_ESCAPE_MAX];
		pp_hex_escape((unsigned char)bytes.ptr[i], escape);
		if (pp_sink_bytes(w->sink, escape + 2, 2, w->err) < 0)
			return -1;
	}
	return 0;
}

static int list(struct writer *w, const struct cell *cell)
{
	uint32_t n = cell->kind == CELL_IDS ? cell->is.stack->n : w->p->sample_types_n;
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0 && pp_sink_bytes(w->sink, ",", 1, w->err) < 0)
			return -1;
		if (cell->kind == CELL_IDS
		            ? pp_sink_u64(w->sink, w->p->locations[cell->is.stack->locations[i]].id, w->err) < 0
		            : pp_sink_i64(w->sink, cell->is.values[i], w->err) < 0)
			return -1;
	}
	return 0;
}

static int text_cell(struct writer *w, const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_I64: return pp_sink_i64(w->sink, cell->is.i64, w->err);
	case CELL_U64:
	case CELL_FLAG: return pp_sink_u64(w->sink, cell->is.u64, w->err);
	case CELL_HEX: return pp_sink_printf(w->sink, w->err, "0x%" PRIx64, cell->is.u64);
	case CELL_STR: return pp_escape(w->sink, cell->is.str, 0, w->err);
	case CELL_BYTES: return hex_digits(w, cell->is.str);
	case CELL_IDS:
	case CELL_VALUES: return list(w, cell);
	}
	return 0;
}

static int header_line(struct writer *w, const struct pp_row_format *format)
{
	if (pp_sink_printf(w->sink, w->err, "#%s", format->name) < 0)
		return -1;
	for (unsigned i = 0; i < format->columns_n; i++)
		if (pp_sink_printf(w->sink, w->err, "\t%s", format->columns[i]) < 0)
			return -1;
	return pp_sink_str(w->sink, "\n", w->err);
}

static int text_row(struct writer *w, const struct pp_row_format *format, const struct cell *cells)
{
	if (!w->row_seen && header_line(w, format) < 0)
		return -1;
	if (pp_sink_str(w->sink, format->name, w->err) < 0)
		return -1;
	for (unsigned i = 0; i < format->columns_n; i++)
		if (pp_sink_bytes(w->sink, "\t", 1, w->err) < 0 || text_cell(w, &cells[i]) < 0)
			return -1;
	return pp_sink_str(w->sink, "\n", w->err);
}

/* ---- rows as JSON objects ---- */

/* JSON integers are read as signed 64 bits at best; a larger id goes out as a string of its digits. */
static void json_u64(struct pp_json *json, const char *key, uint64_t value)
{
	char digits[24];
	if (value <= INT64_MAX) {
		pp_json_i64(json, key, (int64_t)value);
		return;
	}
	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	pp_json_str(json, key, pp_str_of(digits));
}

static void json_list(const struct writer *w, struct pp_json *json, const char *key, const struct cell *cell)
{
	struct pp_json *array = pp_json_array();
	if (array && cell->kind == CELL_IDS)
		for (uint32_t i = 0; i < cell->is.stack->n; i++)
			json_u64(array, NULL, w->p->locations[cell->is.stack->locations[i]].id);
	else if (array)
		for (uint32_t i = 0; i < w->p->sample_types_n; i++)
			pp_json_i64(array, NULL, cell->is.values[i]);
	pp_json_add(json, key, array);
}

static int json_cell(struct writer *w, struct pp_json *json, const char *key, const struct cell *cell)
{
	char address[24];
	struct pp_buf digits = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&digits);
	struct writer to_buf = {.sink = &sink, .err = w->err};

	switch (cell->kind) {
	case CELL_I64: pp_json_i64(json, key, cell->is.i64); break;
	case CELL_U64: json_u64(json, key, cell->is.u64); break;
	case CELL_FLAG: pp_json_bool(json, key, cell->is.u64 != 0); break;
	case CELL_STR: pp_json_str(json, key, cell->is.str); break;
	case CELL_IDS:
	case CELL_VALUES: json_list(w, json, key, cell); break;
	case CELL_HEX:
		snprintf(address, sizeof(address), "0x%" PRIx64, cell->is.u64);
		pp_json_str(json, key, pp_str_of(address));
		break;
	case CELL_BYTES:
		if (hex_digits(&to_buf, cell->is.str) < 0)
			return -1;
		pp_json_str(json, key, (struct pp_str){digits.bytes, digits.n});
		pp_buf_release(&digits);
		break;
	}
	return 0;
}

static int json_row(struct writer *w, const struct pp_row_format *format, const struct cell *cells)
{
	struct pp_json *json = pp_json_object();
	int result = json ? 0 : pp_fail(w->err, PP_ENOMEM, PP_NO_OFFSET, "no memory for JSON");

	for (unsigned i = 0; result == 0 && i < format->columns_n; i++)
		result = json_cell(w, json, format->columns[i], &cells[i]);
	if (result == 0)
		result = pp_sink_str(w->sink, w->row_seen ? ",\n" : "\n", w->err);
	if (result == 0)
		result = pp_json_write(json, 0, w->sink, w->err);
	pp_json_free(json);
	return result;
}

static int row(struct writer *w, enum pp_row_kind kind, const struct cell *cells)
{
	const struct pp_row_format *format = &pp_row_formats[kind];
	int result = w->json ? json_row(w, format, cells) : text_row(w, format, cells);
	w->row_seen = true;
	return result;
}

/* ---- the rows of each kind ---- */

static int profile_rows(struct writer *w)
{
	const struct pp_profile *p = w->p;
	const struct cell cells[] = {
		i64(p->time_ns), i64(p->duration_ns), str(w, p->period_type.type), str(w, p->period_type.unit),
		i64(p->period), str(w, p->default_sample_type), str(w, p->drop_frames), str(w, p->keep_frames),
		str(w, p->doc_url),
	};
	return row(w, PP_ROW_PROFILE, cells);
}

static int sample_type_rows(struct writer *w)
{
	for (uint32_t i = 0; i < w->p->sample_types_n; i++) {
		const struct pp_value_type *t = &w->p->sample_types[i];
		const struct cell cells[] = {u64(i), str(w, t->type), str(w, t->unit)};
		if (row(w, PP_ROW_SAMPLE_TYPE, cells) < 0)
			return -1;
	}
	return 0;
}

static int comment_rows(struct writer *w)
{
	for (uint32_t i = 0; i < w->p->comments_n; i++) {
		const struct cell cells[] = {u64(i), str(w, w->p->comments[i])};
		if (row(w, PP_ROW_COMMENT, cells) < 0)
			return -1;
	}
	return 0;
}

static int mapping_rows(struct writer *w)
{
	for (uint32_t i = 0; i < w->p->mappings_n; i++) {
		const struct pp_mapping *m = &w->p->mappings[i];
		const struct cell cells[] = {
			u64(i), u64(m->id), hex(m->start), hex(m->limit), hex(m->offset), str(w, m->filename),
			str(w, m->build_id), flag(m->has_functions), flag(m->has_filenames),
			flag(m->has_line_numbers), flag(m->has_inline_frames),
		};
		if (row(w, PP_ROW_MAPPING, cells) < 0)
			return -1;
	}
	return 0;
}

static int function_rows(struct writer *w)
{
	for (uint32_t i = 0; i < w->p->functions_n; i++) {
		const struct pp_function *f = &w->p->functions[i];
		const struct cell cells[] = {u64(i), u64(f->id), str(w, f->name), str(w, f->system_name),
		                             str(w, f->filename), i64(f->start_line)};
		if (row(w, PP_ROW_FUNCTION, cells) < 0)
			return -1;
	}
	return 0;
}

static int location_rows(struct writer *w)
{
	for (uint32_t i = 0; i < w->p->locations_n; i++) {
		const struct pp_location *l = &w->p->locations[i];
		const struct cell cells[] = {
			u64(i), u64(l->id), u64(l->mapping == PP_NONE ? 0 : w->p->mappings[l->mapping].id),
			hex(l->address), flag(l->is_folded),
		};
		if (row(w, PP_ROW_LOCATION, cells) < 0)
			return -1;
	}
	return 0;
}

static int line_rows(struct writer *w)
{
	for (uint32_t i = 0; i < w->p->locations_n; i++) {
		const struct pp_location *l = &w->p->locations[i];
		for (uint32_t j = 0; j < l->lines_n; j++) {
			const struct pp_line *line = &w->p->lines[l->line_first + j];
			const struct cell cells[] = {
				u64(l->id), u64(j),
				u64(line->function == PP_NONE ? 0 : w->p->functions[line->function].id),
				i64(line->line), i64(line->column),
			};
			if (row(w, PP_ROW_LINE, cells) < 0)
				return -1;
		}
	}
	return 0;
}

static int sample_rows(struct writer *w)
{
	for (uint32_t s = 0; s < w->p->samples_n; s++) {
		const struct cell cells[] = {
			u64(s), {CELL_IDS, {.stack = pp_sample_stack(w->p, s)}},
			{CELL_VALUES, {.values = w->p->values + (size_t)s * w->p->sample_types_n}},
		};
		if (row(w, PP_ROW_SAMPLE, cells) < 0)
			return -1;
	}
	return 0;
}

static int label_rows(struct writer *w)
{
	for (uint32_t s = 0; s < w->p->samples_n; s++) {
		const struct pp_label_list *labels = pp_sample_labels(w->p, s);
		for (uint32_t i = 0; i < labels->n; i++) {
			const struct pp_label *l = &labels->labels[i];
			const struct cell cells[] = {u64(s), u64(i), str(w, l->key), str(w, l->str),
			                             i64(l->num), str(w, l->num_unit)};
			if (row(w, PP_ROW_LABEL, cells) < 0)
				return -1;
		}
	}
	return 0;
}

/* By what rows name the owner of an unknown field: an id where it has one, else its index. *location
 * moves along with the lines: unknown fields are sorted by line. */
static void owner_of(const struct pp_profile *p, const struct pp_unknown *u, uint32_t *location,
                     uint64_t *element, uint64_t *part)
{
	*element = u->index;
	*part = 0;
	switch (u->record) {
	case PP_RECORD_MAPPING: *element = p->mappings[u->index].id; break;
	case PP_RECORD_LOCATION: *element = p->locations[u->index].id; break;
	case PP_RECORD_FUNCTION: *element = p->functions[u->index].id; break;
	case PP_RECORD_LABEL: *part = u->label; break;
	case PP_RECORD_LINE:
		while (u->index - p->locations[*location].line_first >= p->locations[*location].lines_n)
			++*location;
		*element = p->locations[*location].id;
		*part = u->index - p->locations[*location].line_first;
		break;
	case PP_RECORD_PROFILE:
	case PP_RECORD_SAMPLE_TYPE:
	case PP_RECORD_PERIOD_TYPE:
	case PP_RECORD_SAMPLE: break;
	}
}

static bool same_owner(const struct pp_unknown *a, const struct pp_unknown *b)
{
	return a->record == b->record && a->index == b->index && a->label == b->label;
}

/* One row an owner, so that the order of rows does not matter. */
static int unknown_rows(struct writer *w)
{
	const struct pp_unknown *u = w->p->unknowns;
	uint32_t n = w->p->unknowns_n, location = 0;
	struct pp_buf bytes = PP_BUF_INIT;
	int result = 0;

	for (uint32_t i = 0, j; result == 0 && i < n; i = j) {
		uint64_t element, part;
		bytes.n = 0;
		for (j = i; result == 0 && j < n && same_owner(&u[i], &u[j]); j++)
			result = pp_buf_append(&bytes, u[j].bytes.ptr, u[j].bytes.len, w->err);
		if (result < 0)
			break;
		owner_of(w->p, &u[i], &location, &element, &part);
		const struct cell cells[] = {
			{CELL_STR, {.str = pp_str_of(pp_record_names[u[i].record])}}, u64(element), u64(part),
			{CELL_BYTES, {.str = {bytes.bytes, bytes.n}}},
		};
		result = row(w, PP_ROW_UNKNOWN, cells);
	}
	pp_buf_release(&bytes);
	return result;
}

static int (*const row_writers[PP_ROW_KINDS])(struct writer *) = {
	[PP_ROW_PROFILE] = profile_rows, [PP_ROW_SAMPLE_TYPE] = sample_type_rows,
	[PP_ROW_COMMENT] = comment_rows, [PP_ROW_MAPPING] = mapping_rows,
	[PP_ROW_FUNCTION] = function_rows, [PP_ROW_LOCATION] = location_rows, [PP_ROW_LINE] = line_rows,
	[PP_ROW_SAMPLE] = sample_rows, [PP_ROW_LABEL] = label_rows, [PP_ROW_UNKNOWN] = unknown_rows,
};

int pp_records_write(const struct pp_profile *profile, struct pp_sink *sink, struct pp_error *err)
{
	struct writer w = {.p = profile, .sink = sink, .err = err};
	if (pp_sink_str(sink, PP_RECORDS_MAGIC "\t" PP_RECORDS_VERSION "\n", err) < 0)
		return -1;
	for (unsigned kind = 0; kind < PP_ROW_KINDS; kind++) {
		w.row_seen = false;
		if (row_writers[kind](&w) < 0)
			return -1;
	}
	return 0;
}

int pp_records_write_json(const struct pp_profile *profile, struct pp_sink *sink, struct pp_error *err)
{
	struct writer w = {.p = profile, .sink = sink, .err = err, .json = true};
	for (unsigned kind = 0; kind < PP_ROW_KINDS; kind++) {
		w.row_seen = false;
		if (pp_sink_printf(sink, err, "%s\"%s\": [", kind == 0 ? "{" : ",\n", pp_row_formats[kind].name) < 0 ||
		    row_writers[kind](&w) < 0 || pp_sink_str(sink, "]", err) < 0)
			return -1;
	}
	return pp_sink_str(sink, "}\n", err);
}
