#include "cmd/labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- traces ---- */

enum { SAMPLE, KIND, NAME, VALUE, UNIT, TEXT, TRACE_COLUMNS };
const struct table_column labels_trace_columns[] = {
	[SAMPLE] = {"sample", "sample", TABLE_INTEGER, {0}, false},
	[KIND] = {"kind", "kind", TABLE_TEXT, {0}, false},
	[NAME] = {"name", "name", TABLE_TEXT, {0}, false},
	[VALUE] = {"value", "value", TABLE_DECIMAL, {0}, false},
	[UNIT] = {"unit", "unit", TABLE_TEXT, {0}, false},
	[TEXT] = {"text", "text", TABLE_TEXT, {0}, false},
};
const size_t labels_trace_columns_n = TRACE_COLUMNS;

struct tracer {
	const struct viewed *viewed;
	const struct view_rows *rows;
	const struct pp_frames *frames;
	const struct pp_frame_map *map;
	const struct pp_str *units; /* of label keys */
	struct pp_str unit, shown;  /* of samples; what they are shown in */
	struct table *table;
	int64_t number; /* of samples so far */
};

static int trace_row(struct tracer *tracer, const char *kind, struct pp_str name, struct pp_str value, struct pp_str unit,
                     struct pp_str text, struct pp_error *err)
{
	const union table_cell cells[TRACE_COLUMNS] = {
		[SAMPLE] = {.i = tracer->number}, [KIND] = {.text = pp_str_of(kind)}, [NAME] = {.text = name},
		[VALUE] = {.text = value},        [UNIT] = {.text = unit},            [TEXT] = {.text = text},
	};
	return table_row(tracer->table, cells, err);
}

static int trace_labels(struct tracer *tracer, const struct pp_label_list *list, struct pp_error *err)
{
	const struct pp_profile *p = tracer->viewed->profile;
	for (uint32_t i = 0; i < list->n; i++) {
		const struct pp_label *label = &list->labels[i];
		const struct pp_str key = pp_string(p, label->key);
		if (!pp_label_counts(label))
			continue;
		char number[32];
		snprintf(number, sizeof number, "%lld", (long long)label->num);
		if (label->str != 0 ? trace_row(tracer, "label", key, PP_LIT("0"), PP_LIT(""), pp_string(p, label->str), err) != 0
		                    : trace_row(tracer, "number", key, pp_str_of(number), tracer->units[label->key], PP_LIT(""), err) != 0)
			return -1;
	}
	return 0;
}

static int trace_stack(struct tracer *tracer, const struct pp_stack *stack, struct pp_error *err)
{
	const struct pp_frame_map *map = tracer->map;
	for (uint32_t i = 0; i < stack->n; i++) {
		const uint32_t location = stack->locations[i];
		for (uint32_t f = map->first[location]; f < map->first[location + 1]; f++)
			if (trace_row(tracer, "frame", pp_frames_label(tracer->frames, map->frame[f]), PP_LIT("0"), PP_LIT(""),
			              f + 1 < map->first[location + 1] ? PP_LIT("inline") : PP_LIT(""), err) != 0)
				return -1;
	}
	return 0;
}

static int trace_sample(struct tracer *tracer, uint32_t s, struct pp_error *err)
{
	const struct pp_profile *p = tracer->viewed->profile;
	const uint32_t column = tracer->viewed->column;
	const bool converted = tracer->shown.len > 0;
	int64_t value = pp_value(p, s, column);
	char number[64];
	if (tracer->rows->mean)
		value = view_mean(value, pp_value(p, s, 0));
	value = view_divided(tracer->rows, value);
	pp_unit_decimal(number, sizeof number, value, tracer->unit, converted ? tracer->shown : tracer->unit);
	tracer->number++;
	if (trace_row(tracer, "sample", pp_sample_type_name(p, column), pp_str_of(number),
	              converted ? tracer->shown : tracer->unit, PP_LIT(""), err) != 0 ||
	    trace_labels(tracer, pp_sample_labels(p, s), err) != 0)
		return -1;
	return trace_stack(tracer, pp_sample_stack(p, s), err);
}

int labels_print_traces(const struct viewed *viewed, const struct view_rows *rows, struct pp_str shown,
                        enum pp_granularity by, struct table *table, struct pp_error *err)
{
	const struct pp_profile *p = viewed->profile;
	struct pp_frame_map map = {NULL, NULL, PP_NONE};
	struct pp_str *units = NULL;
	struct pp_frames *frames = pp_frames_new(by, err);
	int status = -1;
	if (frames && pp_frames_map(frames, p, &map, err) == 0 && pp_label_units(p, &units, err) == 0) {
		struct tracer tracer = {viewed, rows, frames, &map, units, pp_sample_type_unit(p, viewed->column), shown, table, 0};
		status = 0;
		for (uint32_t s = 0; s < p->samples_n && status == 0; s++)
			status = trace_sample(&tracer, s, err);
	}
	free(units);
	pp_frame_map_release(&map);
	pp_frames_free(frames);
	return status;
}

/* ---- tags ---- */

/* What the samples with one label value add up to. */
struct tag {
	struct pp_str key, text, unit; /* text of a string; a number has none, and a unit */
	bool is_number;
	int64_t number;
	int64_t sum;
	int64_t key_sum;
};

enum { TAG_KEY, TAG_TEXT, TAG_UNIT, TAG_SUM, TAG_SHARE, TAG_KEY_SUM, TAG_KEY_SHARE };

void labels_tag_columns(const struct viewed *viewed, struct table_column columns[LABELS_TAG_COLUMNS])
{
	const struct pp_str unit = pp_sample_type_unit(viewed->profile, viewed->column);
	const struct table_column made[LABELS_TAG_COLUMNS] = {
		[TAG_KEY] = {"key", "key", TABLE_TEXT, {0}, false},
		[TAG_TEXT] = {"value", "value", TABLE_TEXT, {0}, false},
		[TAG_UNIT] = {"unit", "unit", TABLE_TEXT, {0}, false},
		[TAG_SUM] = {"sum", "sum", TABLE_INTEGER, unit, false},
		[TAG_SHARE] = {"share", "share", TABLE_SHARE, {0}, false},
		[TAG_KEY_SUM] = {"key_sum", "of key", TABLE_INTEGER, unit, false},
		[TAG_KEY_SHARE] = {"key_share", NULL, TABLE_SHARE, {0}, false},
	};
	memcpy(columns, made, sizeof made);
}

/* By key, text before numbers, then by what it is: equal values come together. */
static int compare_values(const void *left, const void *right)
{
	const struct tag *a = left, *b = right;
	int order = pp_str_cmp(a->key, b->key);
	if (order == 0)
		order = a->is_number - b->is_number;
	if (order == 0)
		order = (a->number > b->number) - (a->number < b->number);
	return order != 0 ? order : pp_str_cmp(a->text, b->text);
}

static int compare_tags(const void *left, const void *right)
{
	const struct tag *a = left, *b = right;
	const uint64_t a_size = pp_abs_i64(a->sum), b_size = pp_abs_i64(b->sum);
	int order = pp_str_cmp(a->key, b->key);
	if (order == 0)
		order = (a_size < b_size) - (a_size > b_size);
	return order != 0 ? order : compare_values(left, right);
}

/* Unites equal tags of the sorted list; the new length. Sums of values fit, once the total does. */
static size_t unite_tags(struct tag *tags, size_t n)
{
	size_t used = 0;
	for (size_t i = 0; i < n; i++)
		if (used > 0 && compare_values(&tags[used - 1], &tags[i]) == 0)
			tags[used - 1].sum += tags[i].sum;
		else
			tags[used++] = tags[i];
	for (size_t first = 0, end; first < used; first = end) {
		int64_t sum = 0;
		for (end = first; end < used && pp_str_eq(tags[end].key, tags[first].key); end++)
			sum += tags[end].sum;
		for (size_t i = first; i < end; i++)
			tags[i].key_sum = sum;
	}
	qsort(tags, used, sizeof *tags, compare_tags);
	return used;
}

/* What the samples of each label list add up to. */
static int sum_lists(const struct viewed *viewed, int64_t *sums, struct pp_error *err)
{
	const struct pp_profile *p = viewed->profile;
	int64_t total;
	if (pp_total(p, viewed->column, &total, err) != 0) /* for its check of the range */
		return -1;
	for (uint32_t s = 0; s < p->samples_n; s++)
		sums[p->sample_labels[s]] += pp_value(p, s, viewed->column);
	return 0;
}

static size_t collect_tags(const struct pp_profile *p, const int64_t *sums, const struct pp_str *units,
                           const unsigned char *used, struct tag *tags)
{
	size_t n = 0;
	for (uint32_t l = 0; l < p->label_lists_n; l++)
		for (uint32_t i = 0; used[l] && i < p->label_lists[l].n; i++) {
			const struct pp_label *label = &p->label_lists[l].labels[i];
			if (!pp_label_counts(label))
				continue;
			tags[n] = (struct tag){.key = pp_string(p, label->key), .text = PP_LIT(""), .unit = PP_LIT(""),
			                       .is_number = label->str == 0, .sum = sums[l]};
			if (label->str != 0) {
				tags[n].text = pp_string(p, label->str);
			} else {
				tags[n].number = label->num;
				tags[n].unit = units[label->key];
			}
			n++;
		}
	return n;
}

static int print_tag(const struct viewed *viewed, const struct view_rows *rows, const struct tag *tag,
                     struct table *table, struct pp_error *err)
{
	const double total = (double)view_total(viewed, rows->mean);
	char number[32];
	snprintf(number, sizeof number, "%lld", (long long)tag->number);
	const union table_cell cells[LABELS_TAG_COLUMNS] = {
		[TAG_KEY] = {.text = tag->key},
		[TAG_TEXT] = {.text = tag->is_number ? pp_str_of(number) : tag->text},
		[TAG_UNIT] = {.text = tag->unit},
		[TAG_SUM] = {.i = view_divided(rows, tag->sum)},
		[TAG_SHARE] = {.real = total != 0 ? (double)tag->sum / total : 0},
		[TAG_KEY_SUM] = {.i = view_divided(rows, tag->key_sum)},
		[TAG_KEY_SHARE] = {.real = total != 0 ? (double)tag->key_sum / total : 0},
	};
	return table_row(table, cells, err);
}

int labels_print_tags(const struct viewed *viewed, const struct view_rows *rows, struct table *table,
                      struct pp_error *err)
{
	const struct pp_profile *p = viewed->profile;
	int64_t *sums = calloc((size_t)p->label_lists_n + 1, sizeof *sums);
	unsigned char *used = calloc((size_t)p->label_lists_n + 1, 1);
	struct pp_str *units = NULL;
	struct tag *tags = NULL;
	size_t n = 0;
	int status = -1;
	for (uint32_t l = 0; l < p->label_lists_n; l++)
		n += p->label_lists[l].n;
	tags = malloc((n + 1) * sizeof *tags);
	if (!sums || !used || !tags) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for labels");
		goto done;
	}
	for (uint32_t s = 0; s < p->samples_n; s++)
		used[p->sample_labels[s]] = 1;
	if (sum_lists(viewed, sums, err) != 0 || pp_label_units(p, &units, err) != 0)
		goto done;
	n = collect_tags(p, sums, units, used, tags);
	qsort(tags, n, sizeof *tags, compare_values);
	n = unite_tags(tags, n);
	status = 0;
	for (size_t i = 0; i < n && status == 0; i++)
		status = print_tag(viewed, rows, &tags[i], table, err);
done:
	free(sums);
	free(used);
	free(units);
	free(tags);
	return status;
}

/* ---- comments ---- */

const struct table_column labels_comment_columns[] = {{"comment", "comment", TABLE_TEXT, {0}, false}};
const size_t labels_comment_columns_n = 1;

int labels_print_comments(const struct viewed *viewed, struct table *table, struct pp_error *err)
{
	const struct pp_profile *p = viewed->profile;
	for (uint32_t i = 0; i < p->comments_n; i++) {
		const union table_cell cell = {.text = pp_string(p, p->comments[i])};
		if (table_row(table, &cell, err) != 0)
			return -1;
	}
	return 0;
}
