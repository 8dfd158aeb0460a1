#include "libpprof/write.h"

#include <stdlib.h>
#include <string.h>

#include "libpprof/arena.h"
#include "libpprof/hash.h"
#include "libpprof/wire.h"

enum { FLUSH_BYTES = 64 * 1024, VARINT_MAX = 10 };

/* Encoded bytes of a message under construction. */
struct bytes {
	unsigned char *at;
	size_t n, capacity;
};

/* A label, ready to be put in the order of the reference's encoder. */
struct ordered_label {
	struct pp_str key;
	bool is_number;
	uint32_t place; /* in the sample's list */
};

struct writer {
	const struct pp_profile *p;
	struct pp_sink *sink;
	struct pp_error *err;
	bool failed;

	struct bytes out, record, part; /* the profile, a message of it, a message of that */

	struct pp_arena *arena;    /* of the table below */
	struct pp_intern *strings; /* the bytes of the strings used so far */
	uint32_t *numbers;         /* in the new table, by old index; PP_NONE: not used so far */
	uint32_t empty_number;     /* of a second empty string, or PP_NONE; see number_of_label_text */

	struct ordered_label *labels; /* scratch */
	size_t labels_capacity;
};

/* ---- bytes ---- */

static void fail_memory(struct writer *w)
{
	w->failed = true;
	pp_fail(w->err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
}

static bool room(struct writer *w, struct bytes *b, size_t n)
{
	size_t want, capacity = b->capacity ? b->capacity : 4096;
	unsigned char *moved;

	if (w->failed)
		return false;
	if (n <= b->capacity - b->n)
		return true;
	if (!pp_add_size(b->n, n, &want) || want > SIZE_MAX / 2) {
		fail_memory(w);
		return false;
	}
	while (capacity < want)
		capacity *= 2;
	moved = realloc(b->at, capacity);
	if (!moved) {
		fail_memory(w);
		return false;
	}
	b->at = moved;
	b->capacity = capacity;
	return true;
}

static void put_varint(struct writer *w, struct bytes *b, uint64_t value)
{
	if (room(w, b, VARINT_MAX))
		b->n += pp_put_varint(b->at + b->n, value);
}

static void put_raw(struct writer *w, struct bytes *b, const void *bytes, size_t n)
{
	if (!n || !room(w, b, n))
		return;
	memcpy(b->at + b->n, bytes, n);
	b->n += n;
}

/* A field that is written even when it is zero. */
static void put_always(struct writer *w, struct bytes *b, uint32_t field, uint64_t value)
{
	put_varint(w, b, (uint64_t)field << 3 | PP_VARINT);
	put_varint(w, b, value);
}

static void put_number(struct writer *w, struct bytes *b, uint32_t field, uint64_t value)
{
	if (value)
		put_always(w, b, field, value);
}

static void put_bytes(struct writer *w, struct bytes *b, uint32_t field, const void *bytes, size_t n)
{
	put_varint(w, b, (uint64_t)field << 3 | PP_BYTES);
	put_varint(w, b, n);
	put_raw(w, b, bytes, n);
}

/* Up to this many numbers of a repeated field are written one by one, as the reference does. */
enum { UNPACKED_MAX = 2 };

/* Puts the numbers that are in *packed, as varints, n of them; empties it. */
static void put_numbers(struct writer *w, struct bytes *b, uint32_t field, struct bytes *packed, size_t n)
{
	if (n > UNPACKED_MAX) {
		put_bytes(w, b, field, packed->at, packed->n);
	} else {
		for (size_t at = 0; at < packed->n;) {
			size_t end = at;

			while (packed->at[end++] & 0x80)
				;
			put_varint(w, b, (uint64_t)field << 3 | PP_VARINT);
			put_raw(w, b, packed->at + at, end - at);
			at = end;
		}
	}
	packed->n = 0;
}

static void flush(struct writer *w)
{
	if (!w->failed && pp_sink_bytes(w->sink, w->out.at, w->out.n, w->err))
		w->failed = true;
	w->out.n = 0;
}

/* Ends the record under construction: it becomes a field of the profile. */
static void put_record(struct writer *w, uint32_t field)
{
	put_bytes(w, &w->out, field, w->record.at, w->record.n);
	w->record.n = 0;
	if (w->out.n >= FLUSH_BYTES)
		flush(w);
}

/* ---- unknown fields ---- */

static int compare_place(const struct pp_unknown *u, enum pp_record record, uint32_t index, uint32_t label)
{
	if (u->record != record)
		return u->record < record ? -1 : 1;
	if (u->index != index)
		return u->index < index ? -1 : 1;
	return (u->label > label) - (u->label < label);
}

/* Puts what came with an element and is not known, as it came. */
static void put_unknown(struct writer *w, struct bytes *b, enum pp_record record, uint32_t index, uint32_t label)
{
	const struct pp_unknown *unknowns = w->p->unknowns;
	uint32_t low = 0, high = w->p->unknowns_n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_place(&unknowns[middle], record, index, label) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < w->p->unknowns_n && compare_place(&unknowns[low], record, index, label) == 0; low++)
		put_raw(w, b, unknowns[low].bytes.ptr, unknowns[low].bytes.len);
}

/* ---- strings, numbered by first use ---- */

static uint32_t number(struct writer *w, uint32_t string)
{
	struct pp_str bytes = w->p->strings[string];

	if (w->numbers[string] == PP_NONE && !w->failed) {
		uint32_t n = pp_intern_put(w->strings, bytes.ptr, bytes.len, NULL);

		if (n == PP_NONE) {
			fail_memory(w);
			return 0;
		}
		w->numbers[string] = n < w->empty_number ? n : n + 1;
	}
	return w->numbers[string];
}

/* A label is a text, and no number, by the index of its text not being 0. So an empty text needs an
 * empty string that is not the first one. */
static uint32_t number_of_label_text(struct writer *w, uint32_t string)
{
	if (string == 0 || w->p->strings[string].len)
		return number(w, string);
	if (w->empty_number == PP_NONE)
		w->empty_number = pp_intern_count(w->strings);
	return w->empty_number;
}

static void put_string(struct writer *w, struct bytes *b, uint32_t field, uint32_t string)
{
	put_number(w, b, field, number(w, string));
}

static void put_string_table(struct writer *w)
{
	for (uint32_t i = 0; i < pp_intern_count(w->strings); i++) {
		struct pp_str string = pp_intern_at(w->strings, i);

		if (i == w->empty_number)
			put_record(w, 6);
		put_raw(w, &w->record, string.ptr, string.len);
		put_record(w, 6);
	}
	if (pp_intern_count(w->strings) == w->empty_number)
		put_record(w, 6);
}

/* ---- records ---- */

static void put_sample_types(struct writer *w)
{
	for (uint32_t i = 0; i < w->p->sample_types_n; i++) {
		put_string(w, &w->record, 1, w->p->sample_types[i].type);
		put_string(w, &w->record, 2, w->p->sample_types[i].unit);
		put_unknown(w, &w->record, PP_RECORD_SAMPLE_TYPE, i, 0);
		put_record(w, 1);
	}
}

static int compare_labels(const void *a, const void *b)
{
	const struct ordered_label *x = a, *y = b;
	int order = (int)x->is_number - (int)y->is_number;

	if (!order)
		order = pp_str_cmp(x->key, y->key);
	return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* The labels of a list in the order of the reference: texts, then numbers, each by key, and in their
 * own order under one key. */
static const struct ordered_label *order_labels(struct writer *w, const struct pp_label_list *list)
{
	bool ordered = true;

	if (list->n > w->labels_capacity) {
		void *moved = realloc(w->labels, list->n * sizeof(*w->labels));

		if (!moved) {
			fail_memory(w);
			return NULL;
		}
		w->labels = moved;
		w->labels_capacity = list->n;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		const struct pp_label *label = &list->labels[i];

		w->labels[i] = (struct ordered_label){pp_string(w->p, label->key), label->str == 0, i};
		if (i && compare_labels(&w->labels[i - 1], &w->labels[i]) > 0)
			ordered = false;
	}
	if (!ordered)
		qsort(w->labels, list->n, sizeof(*w->labels), compare_labels);
	return w->labels;
}

static void put_labels(struct writer *w, uint32_t sample)
{
	const struct pp_label_list *list = pp_sample_labels(w->p, sample);
	const struct ordered_label *ordered = list->n ? order_labels(w, list) : NULL;

	for (uint32_t i = 0; i < list->n && !w->failed; i++) {
		const struct pp_label *label = &list->labels[ordered[i].place];

		put_string(w, &w->part, 1, label->key);
		put_number(w, &w->part, 2, number_of_label_text(w, label->str));
		put_number(w, &w->part, 3, (uint64_t)label->num);
		put_string(w, &w->part, 4, label->num_unit);
		put_unknown(w, &w->part, PP_RECORD_LABEL, sample, ordered[i].place);
		put_bytes(w, &w->record, 3, w->part.at, w->part.n);
		w->part.n = 0;
	}
}

static void put_samples(struct writer *w)
{
	const struct pp_profile *p = w->p;

	for (uint32_t s = 0; s < p->samples_n && !w->failed; s++) {
		const struct pp_stack *stack = pp_sample_stack(p, s);

		for (uint32_t i = 0; i < stack->n; i++)
			put_varint(w, &w->part, p->locations[stack->locations[i]].id);
		put_numbers(w, &w->record, 1, &w->part, stack->n);
		for (uint32_t column = 0; column < p->sample_types_n; column++)
			put_varint(w, &w->part, (uint64_t)pp_value(p, s, column));
		put_numbers(w, &w->record, 2, &w->part, p->sample_types_n);
		put_labels(w, s);
		put_unknown(w, &w->record, PP_RECORD_SAMPLE, s, 0);
		put_record(w, 2);
	}
}

static void put_mappings(struct writer *w)
{
	for (uint32_t i = 0; i < w->p->mappings_n; i++) {
		const struct pp_mapping *mapping = &w->p->mappings[i];

		put_number(w, &w->record, 1, mapping->id);
		put_number(w, &w->record, 2, mapping->start);
		put_number(w, &w->record, 3, mapping->limit);
		put_number(w, &w->record, 4, mapping->offset);
		put_string(w, &w->record, 5, mapping->filename);
		put_string(w, &w->record, 6, mapping->build_id);
		put_number(w, &w->record, 7, mapping->has_functions);
		put_number(w, &w->record, 8, mapping->has_filenames);
		put_number(w, &w->record, 9, mapping->has_line_numbers);
		put_number(w, &w->record, 10, mapping->has_inline_frames);
		put_unknown(w, &w->record, PP_RECORD_MAPPING, i, 0);
		put_record(w, 3);
	}
}

static void put_lines(struct writer *w, const struct pp_location *location)
{
	for (uint32_t i = location->line_first; i < location->line_first + location->lines_n; i++) {
		const struct pp_line *line = &w->p->lines[i];

		put_number(w, &w->part, 1, line->function == PP_NONE ? 0 : w->p->functions[line->function].id);
		put_number(w, &w->part, 2, (uint64_t)line->line);
		put_number(w, &w->part, 3, (uint64_t)line->column);
		put_unknown(w, &w->part, PP_RECORD_LINE, i, 0);
		put_bytes(w, &w->record, 4, w->part.at, w->part.n);
		w->part.n = 0;
	}
}

static void put_locations(struct writer *w)
{
	for (uint32_t i = 0; i < w->p->locations_n && !w->failed; i++) {
		const struct pp_location *location = &w->p->locations[i];

		put_number(w, &w->record, 1, location->id);
		if (location->mapping != PP_NONE)
			put_number(w, &w->record, 2, w->p->mappings[location->mapping].id);
		put_number(w, &w->record, 3, location->address);
		put_lines(w, location);
		put_number(w, &w->record, 5, location->is_folded);
		put_unknown(w, &w->record, PP_RECORD_LOCATION, i, 0);
		put_record(w, 4);
	}
}

static void put_functions(struct writer *w)
{
	for (uint32_t i = 0; i < w->p->functions_n && !w->failed; i++) {
		const struct pp_function *function = &w->p->functions[i];

		put_number(w, &w->record, 1, function->id);
		put_string(w, &w->record, 2, function->name);
		put_string(w, &w->record, 3, function->system_name);
		put_string(w, &w->record, 4, function->filename);
		put_number(w, &w->record, 5, (uint64_t)function->start_line);
		put_unknown(w, &w->record, PP_RECORD_FUNCTION, i, 0);
		put_record(w, 5);
	}
}

/* The strings of the last fields, which are used before the table of strings is written. */
static void number_header_strings(struct writer *w)
{
	const struct pp_profile *p = w->p;

	number(w, p->drop_frames);
	number(w, p->keep_frames);
	number(w, p->period_type.type);
	number(w, p->period_type.unit);
	for (uint32_t i = 0; i < p->comments_n; i++)
		number(w, p->comments[i]);
	number(w, p->default_sample_type);
	number(w, p->doc_url);
}

static void put_header(struct writer *w)
{
	const struct pp_profile *p = w->p;

	put_string(w, &w->out, 7, p->drop_frames);
	put_string(w, &w->out, 8, p->keep_frames);
	put_number(w, &w->out, 9, (uint64_t)p->time_ns);
	put_number(w, &w->out, 10, (uint64_t)p->duration_ns);
	put_string(w, &w->record, 1, p->period_type.type);
	put_string(w, &w->record, 2, p->period_type.unit);
	put_unknown(w, &w->record, PP_RECORD_PERIOD_TYPE, 0, 0);
	if (w->record.n)
		put_record(w, 11);
	put_number(w, &w->out, 12, (uint64_t)p->period);
	for (uint32_t i = 0; i < p->comments_n; i++)
		put_varint(w, &w->part, number(w, p->comments[i]));
	put_numbers(w, &w->out, 13, &w->part, p->comments_n);
	put_always(w, &w->out, 14, number(w, p->default_sample_type));
	put_string(w, &w->out, 15, p->doc_url);
	put_unknown(w, &w->out, PP_RECORD_PROFILE, 0, 0);
}

/* ---- the whole ---- */

static int start(struct writer *w)
{
	size_t bytes;

	w->empty_number = PP_NONE;
	w->arena = pp_arena_new(UINT64_MAX);
	w->strings = w->arena ? pp_intern_new(w->arena) : NULL;
	w->numbers = pp_mul_size(w->p->strings_n, sizeof(*w->numbers), &bytes) ? malloc(bytes) : NULL;
	if (!w->strings || !w->numbers) {
		fail_memory(w);
		return -1;
	}
	memset(w->numbers, 0xff, bytes); /* PP_NONE */
	number(w, 0);
	return w->failed ? -1 : 0;
}

static void stop(struct writer *w)
{
	pp_intern_free(w->strings);
	pp_arena_free(w->arena);
	free(w->numbers);
	free(w->labels);
	free(w->out.at);
	free(w->record.at);
	free(w->part.at);
}

int pp_write(const struct pp_profile *profile, struct pp_sink *sink, struct pp_error *err)
{
	struct writer w = {.p = profile, .sink = sink, .err = err};

	if (!start(&w)) {
		put_sample_types(&w);
		put_samples(&w);
		put_mappings(&w);
		put_locations(&w);
		put_functions(&w);
		number_header_strings(&w);
		put_string_table(&w);
		put_header(&w);
		flush(&w);
	}
	stop(&w);
	return w.failed ? -1 : 0;
}
