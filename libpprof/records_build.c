#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/records_private.h"
#include "libpprof/tsv.h"

/* Something that strict reading refuses and lenient reading drops and counts: -1 or 1. */
static int broken(struct pp_records_reader *r, const struct pp_row_place *place, const char *field, const char *what, uint64_t key)
{
	if (r->options->strictness == PP_STRICT)
		return pp_fail(r->err, PP_EFORMAT, place->offset, "line %" PRIu64 ": %s: no %s %" PRIu64,
		               place->line, field, what, key);
	return pp_build_note(r->build, place->offset, "%s: no such element; dropped", field) < 0 ? -1 : 1;
}

/* ---- sorting and finding ---- */

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = ((const struct pp_row_head *)a)->key, *y = ((const struct pp_row_head *)b)->key;
	for (int i = 0; i < 3; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static struct pp_row_head *at(const struct pp_row_table *t, size_t i)
{
	return (void *)((char *)t->rows + i * t->row_bytes);
}

static int sort(struct pp_records_reader *r, enum pp_row_kind kind)
{
	struct pp_row_table *t = &r->tables[kind];
	size_t i = 1;
	while (i < t->n && compare_keys(at(t, i - 1), at(t, i)) < 0)
		i++;
	if (i >= t->n)
		return 0;
	qsort(t->rows, t->n, t->row_bytes, compare_keys);
	for (i = 1; i < t->n; i++) {
		const struct pp_row_head *a = at(t, i - 1), *b = at(t, i);
		if (compare_keys(a, b) != 0)
			continue;
		const struct pp_row_place *later = a->place.line > b->place.line ? &a->place : &b->place;
		const struct pp_row_place *first = later == &a->place ? &b->place : &a->place;
		return pp_fail(r->err, PP_EFORMAT, later->offset, "line %" PRIu64 ": %s: line %" PRIu64
		               " has the same %s", later->line, pp_row_formats[kind].name, first->line,
		               kind == PP_ROW_UNKNOWN ? "record, element and part"
		               : kind == PP_ROW_LINE  ? "location and index"
		               : kind == PP_ROW_LABEL ? "sample and index" : "index");
	}
	return 0;
}

/* Where the row with this key went in the profile, or PP_NONE. */
static uint32_t built_of(const struct pp_records_reader *r, enum pp_row_kind kind, uint64_t key0, uint64_t key1)
{
	const struct pp_row_table *t = &r->tables[kind];
	const struct pp_row_head wanted = {.key = {key0, key1}};
	const struct pp_row_head *found = t->n ? bsearch(&wanted, t->rows, t->n, t->row_bytes, compare_keys) : NULL;
	return found ? found->built : PP_NONE;
}

/* Remembers that an id is the next of its table; ids of one table are distinct. */
static int add_id(struct pp_records_reader *r, struct pp_intern *ids, uint64_t id, const struct pp_row_head *head, const char *what)
{
	bool is_new;
	if (pp_intern_put(ids, &id, sizeof(id), &is_new) == PP_NONE)
		return pp_records_no_memory(r);
	return is_new ? 0 : pp_fail(r->err, PP_EFORMAT, head->place.offset, "line %" PRIu64 ": %s.id: multiple %ss with id %"
	                            PRIu64, head->place.line, what, what, id);
}

static uint32_t find_id(const struct pp_intern *ids, uint64_t id)
{
	return pp_intern_find(ids, &id, sizeof(id));
}

/* ---- building, each kind sorted by now ---- */

static int build_types_and_comments(struct pp_records_reader *r)
{
	for (size_t i = 0; i < r->tables[PP_ROW_SAMPLE_TYPE].n; i++) {
		struct pp_type_row *row = (void *)at(&r->tables[PP_ROW_SAMPLE_TYPE], i);
		row->head.built = pp_build_sample_type(r->build, row->type);
	}
	for (size_t i = 0; i < r->tables[PP_ROW_COMMENT].n; i++) {
		const struct pp_comment_row *row = (void *)at(&r->tables[PP_ROW_COMMENT], i);
		if (pp_build_comment(r->build, row->text) < 0)
			return -1;
	}
	return 0;
}

static int build_mappings_and_functions(struct pp_records_reader *r)
{
	for (size_t i = 0; i < r->tables[PP_ROW_MAPPING].n; i++) {
		const struct pp_mapping_row *row = (void *)at(&r->tables[PP_ROW_MAPPING], i);
		if (add_id(r, r->mapping_ids, row->mapping.id, &row->head, "mapping") < 0)
			return -1;
		(void)pp_build_mapping(r->build, &row->mapping);
	}
	for (size_t i = 0; i < r->tables[PP_ROW_FUNCTION].n; i++) {
		const struct pp_function_row *row = (void *)at(&r->tables[PP_ROW_FUNCTION], i);
		if (add_id(r, r->function_ids, row->function.id, &row->head, "function") < 0)
			return -1;
		(void)pp_build_function(r->build, &row->function);
	}
	return 0;
}

/* The rows of the lines of a location: sorted by location id, so they stand together. */
static size_t first_line_row(const struct pp_row_table *t, uint64_t location_id)
{
	size_t low = 0, high = t->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (at(t, middle)->key[0] < location_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int build_location(struct pp_records_reader *r, struct pp_location_row *row, struct pp_line *lines)
{
	const struct pp_row_table *t = &r->tables[PP_ROW_LINE];
	uint32_t built = pp_build_profile(r->build)->lines_n;
	size_t begin = first_line_row(t, row->location.id), end = begin;

	for (; end < t->n && at(t, end)->key[0] == row->location.id; end++) {
		struct pp_line_row *line = (void *)at(t, end);
		line->line.function = find_id(r->function_ids, line->function_id);
		if (line->line.function == PP_NONE &&
		    broken(r, &line->head.place, "line.function", "function has id", line->function_id) < 0)
			return -1;
		line->head.built = built++;
		lines[end - begin] = line->line;
	}
	/* As the reference: a mapping that is not there is no mapping. */
	row->location.mapping = find_id(r->mapping_ids, row->mapping_id);
	if (row->location.mapping == PP_NONE && row->mapping_id != 0 &&
	    pp_build_note(r->build, row->head.place.offset, "location.mapping: no mapping has that id") < 0)
		return -1;
	if (add_id(r, r->location_ids, row->location.id, &row->head, "location") < 0)
		return -1;
	(void)pp_build_location(r->build, &row->location, lines, (uint32_t)(end - begin));
	return 0;
}

static int build_locations(struct pp_records_reader *r)
{
	size_t lines_n = r->tables[PP_ROW_LINE].n, bytes;
	struct pp_line *lines = lines_n < PP_NONE && pp_mul_size(lines_n, sizeof(*lines), &bytes)
	                                ? pp_arena_alloc(r->arena, bytes) : NULL;
	if (!lines)
		return pp_records_no_memory(r);
	for (size_t i = 0; i < r->tables[PP_ROW_LOCATION].n; i++)
		if (build_location(r, (void *)at(&r->tables[PP_ROW_LOCATION], i), lines) < 0)
			return -1;
	for (size_t i = 0; i < lines_n; i++) {
		const struct pp_row_head *head = at(&r->tables[PP_ROW_LINE], i);
		if (head->built == PP_NONE && broken(r, &head->place, "line.location", "location has id", head->key[0]) < 0)
			return -1;
	}
	return 0;
}

/* The stack of a sample row: each distinct text is resolved once. */
static int resolve_stack(struct pp_records_reader *r, const struct pp_sample_row *row, uint32_t *stack)
{
	struct pp_str list = pp_records_list(pp_intern_at(r->stacks, row->stack)), element;
	size_t n = 0;

	*stack = r->stack_built[row->stack];
	if (*stack != PP_NONE)
		return 0;
	while (n <= r->options->limits.depth && pp_records_next(&list, &element)) {
		uint64_t id;
		void *locations = r->locations;
		if (!pp_parse_u64(element, &id))
			return pp_fail(r->err, PP_EFORMAT, row->head.place.offset, "line %" PRIu64
			               ": sample.locations[%zu]: is not an id", row->head.place.line, n);
		if (pp_arena_reserve(r->arena, &locations, &r->locations_capacity, n + 1, sizeof(*r->locations)) < 0)
			return pp_records_no_memory(r);
		r->locations = locations;
		r->locations[n] = find_id(r->location_ids, id);
		if (r->locations[n] != PP_NONE)
			n++;
		else if (broken(r, &row->head.place, "sample.locations", "location has id", id) < 0)
			return -1;
	}
	/* One too many of them is refused here. */
	*stack = r->stack_built[row->stack] = pp_build_stack(r->build, r->locations, (uint32_t)n);
	return 0;
}

/* The labels of a sample: rows from *next on, which moves behind them. */
static int resolve_labels(struct pp_records_reader *r, const struct pp_sample_row *row, size_t *next, struct pp_label *labels,
                          uint32_t *list)
{
	const struct pp_row_table *t = &r->tables[PP_ROW_LABEL];
	uint32_t n = 0;
	for (; *next < t->n && at(t, *next)->key[0] <= row->head.key[0]; ++*next) {
		struct pp_label_row *label = (void *)at(t, *next);
		if (label->head.key[0] < row->head.key[0]) {
			if (broken(r, &label->head.place, "label.sample", "sample has index", label->head.key[0]) < 0)
				return -1;
			continue;
		}
		label->head.built = n;
		labels[n++] = label->label;
	}
	*list = pp_build_label_list(r->build, labels, n);
	return 0;
}

static int build_sample(struct pp_records_reader *r, struct pp_sample_row *row, uint32_t list)
{
	struct pp_str numbers = pp_intern_at(r->values, row->values);
	size_t n = numbers.len / sizeof(int64_t), types_n = pp_build_profile(r->build)->sample_types_n;
	uint32_t stack = PP_NONE;

	if (n != types_n) {
		if (r->options->strictness == PP_STRICT)
			return pp_fail(r->err, PP_EFORMAT, row->head.place.offset,
			               "line %" PRIu64 ": sample.values: %zu values where there are %zu sample types",
			               row->head.place.line, n, types_n);
		return pp_build_note(r->build, row->head.place.offset,
		                     "sample.values: not one value a sample type; sample dropped");
	}
	if (resolve_stack(r, row, &stack) < 0)
		return -1;
	if (n)
		memcpy(r->numbers, numbers.ptr, numbers.len);
	row->head.built = pp_build_sample(r->build, stack, list, r->numbers);
	return 0;
}

static int build_samples(struct pp_records_reader *r)
{
	const struct pp_row_table *samples = &r->tables[PP_ROW_SAMPLE], *label_rows = &r->tables[PP_ROW_LABEL];
	size_t next_label = 0, bytes, stacks_n = pp_intern_count(r->stacks);
	struct pp_label *labels = label_rows->n < PP_NONE && pp_mul_size(label_rows->n, sizeof(*labels), &bytes)
	                                  ? pp_arena_alloc(r->arena, bytes) : NULL;

	r->stack_built = pp_arena_alloc(r->arena, stacks_n * sizeof(*r->stack_built));
	if (!labels || !r->stack_built)
		return pp_records_no_memory(r);
	memset(r->stack_built, 0xff, stacks_n * sizeof(*r->stack_built)); /* PP_NONE */
	for (size_t i = 0; i < samples->n; i++) {
		struct pp_sample_row *row = (void *)at(samples, i);
		uint32_t list;
		if (resolve_labels(r, row, &next_label, labels, &list) < 0 || build_sample(r, row, list) < 0)
			return -1;
		if (pp_build_error(r->build))
			return 0; /* finishing reports it */
	}
	for (; next_label < label_rows->n; next_label++) {
		const struct pp_row_head *head = at(label_rows, next_label);
		if (broken(r, &head->place, "label.sample", "sample has index", head->key[0]) < 0)
			return -1;
	}
	return 0;
}

/* The index in the profile of what an unknown row belongs to, or PP_NONE. */
static uint32_t owner_of(const struct pp_records_reader *r, enum pp_record record, uint64_t element, uint64_t part)
{
	switch (record) {
	case PP_RECORD_PROFILE:
	case PP_RECORD_PERIOD_TYPE: return 0;
	case PP_RECORD_SAMPLE_TYPE: return built_of(r, PP_ROW_SAMPLE_TYPE, element, 0);
	case PP_RECORD_SAMPLE:
	case PP_RECORD_LABEL: return built_of(r, PP_ROW_SAMPLE, element, 0);
	case PP_RECORD_MAPPING: return find_id(r->mapping_ids, element);
	case PP_RECORD_LOCATION: return find_id(r->location_ids, element);
	case PP_RECORD_LINE: return built_of(r, PP_ROW_LINE, element, part);
	case PP_RECORD_FUNCTION: return find_id(r->function_ids, element);
	}
	return PP_NONE;
}

static int build_unknowns(struct pp_records_reader *r)
{
	for (size_t i = 0; i < r->tables[PP_ROW_UNKNOWN].n; i++) {
		const struct pp_unknown_row *row = (void *)at(&r->tables[PP_ROW_UNKNOWN], i);
		enum pp_record record = (enum pp_record)row->head.key[0];
		uint64_t element = row->head.key[1], part = row->head.key[2];
		uint32_t owner = owner_of(r, record, element, part);
		uint32_t label = record == PP_RECORD_LABEL ? built_of(r, PP_ROW_LABEL, element, part) : 0;
		if (owner == PP_NONE || label == PP_NONE) {
			if (broken(r, &row->head.place, "unknown.element", "record is numbered", element) < 0)
				return -1;
			continue;
		}
		if (pp_build_unknown(r->build, record, owner, label, row->bytes) < 0)
			return -1;
	}
	return 0;
}

int pp_records_build(struct pp_records_reader *r)
{
	for (unsigned kind = 0; kind < PP_ROW_KINDS; kind++)
		if (sort(r, (enum pp_row_kind)kind) < 0)
			return -1;
	if (build_types_and_comments(r) < 0 || build_mappings_and_functions(r) < 0 || build_locations(r) < 0 ||
	    build_samples(r) < 0 || build_unknowns(r) < 0)
		return -1;
	return 0;
}

