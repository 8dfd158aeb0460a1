/* The hot message: samples and their labels, walked by hand. */
#include <stdlib.h>

#include "libpprof/reader.h"

enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3, LABEL_NUM_UNIT = 4 };

/* Counts of what was gathered from the sample at hand. */
struct sample {
	uint32_t index;
	uint64_t offset;
	uint32_t stack_n, labels_n;
	size_t values_n;
};

static int fail_memory(struct pp_reader *r)
{
	return pp_fail(r->err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
}

/* Room for one more element in a scratch array; NULL without memory. */
static void *grow(struct pp_reader *r, void *array, size_t *capacity, size_t n, size_t element_bytes)
{
	size_t room = *capacity ? *capacity * 2 : 64;
	void *moved;

	if (n < *capacity)
		return array;
	moved = realloc(array, room * element_bytes);
	if (!moved) {
		fail_memory(r);
		return NULL;
	}
	*capacity = room;
	return moved;
}

static int wrong_type(struct pp_reader *r, const struct pp_place *place, const struct pp_field *field)
{
	char text[PP_PLACE_TEXT];

	return pp_fail(r->err, PP_EFORMAT, field->offset, "%s: wire type %d does not fit this field",
	               pp_place_text(place, text), (int)field->type);
}

static int add_location(struct pp_reader *r, struct sample *s, uint64_t id, uint64_t offset)
{
	void *moved = grow(r, r->stack, &r->stack_capacity, s->stack_n, sizeof(*r->stack));
	uint32_t index;

	if (!moved)
		return -1;
	r->stack = moved;
	if (s->stack_n >= r->options->limits.depth)
		return pp_fail(r->err, PP_ELIMIT, offset, "sample[%u].location_id: more than %u locations",
		               (unsigned)s->index, (unsigned)r->options->limits.depth);
	index = pp_reader_refer(r, &r->locations, id, offset, s->index, s->stack_n);
	if (index == PP_NONE)
		return -1;
	r->stack[s->stack_n++] = index;
	return 0;
}

static int add_value(struct pp_reader *r, struct sample *s, uint64_t value)
{
	void *moved = grow(r, r->values, &r->values_capacity, s->values_n, sizeof(*r->values));

	if (!moved)
		return -1;
	r->values = moved;
	r->values[s->values_n++] = (int64_t)value;
	return 0;
}

/* A repeated scalar: packed, or one element. */
static int add_scalars(struct pp_reader *r, struct sample *s, const struct pp_field *field)
{
	bool locations = field->number == SAMPLE_LOCATION_ID;
	struct pp_place place = {field->offset, "sample", s->index, NULL, 0, locations ? "location_id" : "value"};
	struct pp_cursor packed = pp_cursor_of(field);
	uint64_t value, offset;

	if (field->type == PP_VARINT)
		return locations ? add_location(r, s, field->value, field->offset) : add_value(r, s, field->value);
	if (field->type != PP_BYTES)
		return wrong_type(r, &place, field);
	while (packed.at != packed.end) {
		offset = packed.offset;
		if (!pp_cursor_varint(&packed, &value))
			return pp_fail(r->err, PP_EFORMAT, offset, "sample[%u].%s: an element is not a varint",
			               (unsigned)s->index, place.field);
		if (locations ? add_location(r, s, value, offset) : add_value(r, s, value))
			return -1;
	}
	return 0;
}

static int keep_unknown(struct pp_reader *r, enum pp_record record, uint32_t label)
{
	uint32_t row = r->profile->samples_n; /* the row that this sample is about to become */
	struct pp_str bytes = {r->unknown.bytes, r->unknown.n};

	if (r->unknown.n == 0)
		return 0;
	r->unknown.n = 0;
	return pp_build_unknown(r->build, record, row, label, bytes);
}

static int add_label(struct pp_reader *r, struct sample *s, const struct pp_field *field)
{
	void *moved = grow(r, r->labels, &r->labels_capacity, s->labels_n, sizeof(*r->labels));
	struct pp_place place = {field->offset, "sample", s->index, "label", s->labels_n, ""};
	struct pp_cursor cursor = pp_cursor_of(field);
	struct pp_label label = {0, 0, 0, 0};
	struct pp_buf unknown = PP_BUF_INIT;
	struct pp_field f;
	int more, result = -1;

	if (!moved)
		return -1;
	r->labels = moved;
	if (field->type != PP_BYTES)
		return wrong_type(r, &place, field);
	while ((more = pp_cursor_next(&cursor, &f, "sample.label", r->err)) > 0) {
		place.offset = f.offset;
		if (f.number > LABEL_NUM_UNIT) {
			if (pp_buf_append(&unknown, f.whole, f.whole_n, r->err))
				goto done;
			continue;
		}
		if (f.type != PP_VARINT) {
			place.field = "field";
			wrong_type(r, &place, &f);
			goto done;
		}
		switch (f.number) {
		case LABEL_KEY:
			place.field = "key";
			label.key = pp_reader_string(r, (int64_t)f.value, &place);
			break;
		case LABEL_STR:
			place.field = "str";
			label.str = pp_reader_string(r, (int64_t)f.value, &place);
			break;
		case LABEL_NUM:
			label.num = (int64_t)f.value;
			break;
		case LABEL_NUM_UNIT:
			place.field = "num_unit";
			label.num_unit = pp_reader_string(r, (int64_t)f.value, &place);
			break;
		}
	}
	if (more < 0)
		goto done;
	if (unknown.n && pp_build_unknown(r->build, PP_RECORD_LABEL, r->profile->samples_n, s->labels_n,
	                                  (struct pp_str){unknown.bytes, unknown.n}))
		goto done;
	r->labels[s->labels_n++] = label;
	result = 0;
done:
	pp_buf_release(&unknown);
	return result;
}

/* Do the values fit the rows before it? A sample that differs is remembered: whether it or they are
 * wrong is known when all sample types are. */
static bool row_fits(struct pp_reader *r, const struct sample *s)
{
	struct pp_place place = {s->offset, "sample", s->index, NULL, 0, "value"};

	if (!r->row_known) {
		bool types_known = pp_reader_lenient(r) && r->sample_types_seen;

		r->row_known = true;
		r->row_n = types_known ? r->sample_types_seen : (uint32_t)s->values_n;
		r->first_row_place = place;
	}
	if (s->values_n == r->row_n)
		return true;
	if (!r->row_differs) {
		r->row_differs = true;
		r->row_place = place;
		r->row_other_n = s->values_n;
	}
	return false;
}

int pp_reader_sample(struct pp_reader *r, const struct pp_field *field)
{
	struct sample s = {.index = r->samples_seen++, .offset = field->offset};
	struct pp_cursor cursor = pp_cursor_of(field);
	struct pp_field f;
	uint32_t stack, labels;
	int more;

	r->unknown.n = 0;
	while ((more = pp_cursor_next(&cursor, &f, "sample", r->err)) > 0) {
		int status;

		switch (f.number) {
		case SAMPLE_LOCATION_ID:
		case SAMPLE_VALUE:
			status = add_scalars(r, &s, &f);
			break;
		case SAMPLE_LABEL:
			status = add_label(r, &s, &f);
			break;
		default:
			status = pp_buf_append(&r->unknown, f.whole, f.whole_n, r->err);
			break;
		}
		if (status)
			return -1;
	}
	if (more < 0)
		return -1;
	if (!row_fits(r, &s)) {
		if (!pp_reader_lenient(r))
			return 0; /* resolve.c reports it */
		return pp_build_note(r->build, s.offset, "sample dropped: its number of values is not that of "
		                     "the sample types");
	}
	if (keep_unknown(r, PP_RECORD_SAMPLE, 0))
		return -1;
	stack = pp_build_stack(r->build, r->stack, s.stack_n);
	labels = s.labels_n ? pp_build_label_list(r->build, r->labels, s.labels_n) : 0;
	return pp_build_row(r->build, stack, labels, r->values, (uint32_t)s.values_n) == PP_NONE ? -1 : 0;
}
