/* The hot message: samples and their labels, walked by hand. */
#include <inttypes.h>

#include "libpprof/reader.h"

enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3, LABEL_NUM_UNIT = 4 };

/* Counts of what was gathered from the sample at hand. */
struct sample {
	struct pp_place place;
	uint32_t stack_n, values_n, labels_n;
};

static int wrong_type(struct pp_reader *r, struct pp_place place, const struct pp_field *field)
{
	place.offset = field->offset;
	return pp_place_fail(r->err, PP_EFORMAT, &place, "wire type %d does not fit this field", (int)field->type);
}

static int broken(struct pp_reader *r, struct pp_place place, const struct pp_field *field, const char *reason)
{
	place.offset = field->offset;
	return pp_place_fail(r->err, PP_EFORMAT, &place, "%s", reason);
}

/* limits.depth bounds all that one sample repeats: a location, a value or a label may be two bytes of the
 * file and many times that in memory. */
static int too_many(struct pp_reader *r, const struct sample *s, const char *field, const char *what)
{
	struct pp_place place = s->place;

	place.field = field;
	return pp_place_fail(r->err, PP_ELIMIT, &place, "more than %" PRIu32 " %s", r->options->limits.depth, what);
}

/* The indices of packed ids, to r->stack, which has room. */
static int add_locations(struct pp_reader *r, struct sample *s, struct pp_cursor *ids)
{
	struct pp_place place = s->place;
	uint64_t id, offset;

	place.field = "location_id";
	while (ids->at != ids->end) {
		const unsigned char *start = ids->at;
		uint32_t index;

		if (!pp_cursor_varint(ids, &id)) {
			place.offset = pp_cursor_offset(ids);
			return pp_place_fail(r->err, PP_EFORMAT, &place, "an element is not a varint");
		}
		if (s->stack_n >= r->options->limits.depth)
			return too_many(r, s, "location_id", "locations");
		index = pp_idmap_peek(&r->locations.ids, id);
		if (index == PP_NONE) {
			offset = ids->end_offset - (uint64_t)(ids->end - start);
			index = pp_reader_refer(r, &r->locations, id, offset, s->place.index, s->stack_n);
			if (index == PP_NONE)
				return -1;
		}
		r->stack[s->stack_n++] = index;
	}
	return 0;
}

/* Packed values, to r->values, which has room. */
static int add_values(struct pp_reader *r, struct sample *s, struct pp_cursor *values)
{
	struct pp_place place = s->place;
	uint64_t value;

	place.field = "value";
	while (values->at != values->end) {
		if (!pp_cursor_varint(values, &value)) {
			place.offset = pp_cursor_offset(values);
			return pp_place_fail(r->err, PP_EFORMAT, &place, "an element is not a varint");
		}
		if (s->values_n >= r->options->limits.depth)
			return too_many(r, s, "value", "values");
		r->values[s->values_n++] = (int64_t)value;
	}
	return 0;
}

/* The numbers of a repeated scalar: packed, or one element, whose bytes are what follows the tag. */
static struct pp_cursor scalars(const struct pp_field *field)
{
	struct pp_cursor one = {field->whole, field->whole + field->whole_n, field->offset + field->whole_n};
	uint64_t tag;

	if (field->type == PP_BYTES)
		return pp_cursor_of(field);
	(void)pp_cursor_varint(&one, &tag);
	return one;
}

/* How many elements there may be after those that are there: each has a byte, and none counts beyond the
 * limit. */
static size_t want(const struct pp_reader *r, uint32_t n, const struct pp_cursor *numbers)
{
	size_t more = (size_t)(numbers->end - numbers->at);
	size_t left = r->options->limits.depth - n;

	return n + (more < left ? more : left);
}

static int read_locations(struct pp_reader *r, struct sample *s, const struct pp_field *field)
{
	struct pp_cursor ids = scalars(field);
	void *moved = pp_reader_room(r, r->stack, &r->stack_room, want(r, s->stack_n, &ids), sizeof(*r->stack));

	if (!moved && r->err->code != PP_OK)
		return -1;
	r->stack = moved;
	return add_locations(r, s, &ids);
}

static int read_values(struct pp_reader *r, struct sample *s, const struct pp_field *field)
{
	struct pp_cursor values = scalars(field);
	void *moved = pp_reader_room(r, r->values, &r->values_room, want(r, s->values_n, &values),
	                             sizeof(*r->values));

	if (!moved && r->err->code != PP_OK)
		return -1;
	r->values = moved;
	return add_values(r, s, &values);
}

static int read_scalars(struct pp_reader *r, struct sample *s, const struct pp_field *field)
{
	struct pp_place place = s->place;
	bool locations = field->number == SAMPLE_LOCATION_ID;

	if (field->type == PP_VARINT || field->type == PP_BYTES)
		return locations ? read_locations(r, s, field) : read_values(r, s, field);
	place.field = locations ? "location_id" : "value";
	return wrong_type(r, place, field);
}

/* One field of a label; place is the label's. */
static int label_field(struct pp_reader *r, struct pp_label *label, struct pp_place place,
                       const struct pp_field *field)
{
	static const char *const names[] = {
		[LABEL_KEY] = "key", [LABEL_STR] = "str", [LABEL_NUM] = "num", [LABEL_NUM_UNIT] = "num_unit"};
	int64_t value = (int64_t)field->value;

	if (field->number >= PP_COUNT(names))
		return pp_buf_append(&r->label_unknown, field->whole, field->whole_n, r->err);
	place.field = names[field->number];
	if (field->type != PP_VARINT)
		return wrong_type(r, place, field);
	place.offset = field->offset;
	if (field->number == LABEL_KEY)
		label->key = pp_reader_string(r, value, &place);
	else if (field->number == LABEL_STR)
		label->str = pp_reader_string(r, value, &place);
	else if (field->number == LABEL_NUM)
		label->num = value;
	else
		label->num_unit = pp_reader_string(r, value, &place);
	return 0;
}

static int read_label(struct pp_reader *r, struct sample *s, const struct pp_field *field)
{
	struct pp_place place = s->place;
	struct pp_cursor cursor = pp_cursor_of(field);
	struct pp_label label = {0, 0, 0, 0};
	const char *reason = "";
	struct pp_field f;
	void *moved;
	int more;

	place.inner = "label";
	place.inner_index = s->labels_n;
	if (field->type != PP_BYTES)
		return wrong_type(r, place, field);
	if (s->labels_n >= r->options->limits.depth)
		return too_many(r, s, "label", "labels");
	r->label_unknown.n = 0;
	while ((more = pp_cursor_next(&cursor, &f, &reason)) > 0)
		if (label_field(r, &label, place, &f))
			return -1;
	if (more < 0)
		return broken(r, place, &f, reason);
	if (r->label_unknown.n &&
	    pp_build_unknown(r->build, PP_RECORD_LABEL, r->profile->samples_n, s->labels_n,
	                     (struct pp_str){r->label_unknown.bytes, r->label_unknown.n}))
		return -1;
	moved = pp_reader_room(r, r->labels, &r->labels_room, (size_t)s->labels_n + 1, sizeof(*r->labels));
	if (!moved)
		return -1;
	r->labels = moved;
	r->labels[s->labels_n++] = label;
	return 0;
}

static int read_sample(struct pp_reader *r, struct sample *s, const struct pp_field *field)
{
	struct pp_cursor cursor = pp_cursor_of(field);
	const char *reason = "";
	struct pp_field f;
	int more;

	r->unknown.n = 0;
	while ((more = pp_cursor_next(&cursor, &f, &reason)) > 0) {
		int status;

		switch (f.number) {
		case SAMPLE_LOCATION_ID:
		case SAMPLE_VALUE:
			status = read_scalars(r, s, &f);
			break;
		case SAMPLE_LABEL:
			status = read_label(r, s, &f);
			break;
		default:
			status = pp_buf_append(&r->unknown, f.whole, f.whole_n, r->err);
			break;
		}
		if (status)
			return -1;
	}
	return more < 0 ? broken(r, s->place, &f, reason) : 0;
}

void pp_reader_forget_rows(struct pp_reader *r)
{
	struct pp_profile *p = r->profile;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->unknowns_n; i++)
		if (p->unknowns[i].record != PP_RECORD_SAMPLE && p->unknowns[i].record != PP_RECORD_LABEL)
			p->unknowns[kept++] = p->unknowns[i];
	p->unknowns_n = kept;
	r->rows.n += p->samples_n;
	r->rows.first_offset = r->first_row_place.offset;
	p->samples_n = 0;
}

/* Does a lenient reader find that the rows so far are the broken ones, and not this? Once is enough: sample
 * types come before samples in all but made-up files. */
static bool rows_are_wrong(struct pp_reader *r, const struct sample *s)
{
	return pp_reader_lenient(r) && !r->rows_forgotten && s->values_n == r->sample_types_seen;
}

/* Do the values fit the rows before it? A sample that differs is remembered: whether it or they are
 * wrong is known when all sample types are. */
static bool row_fits(struct pp_reader *r, const struct sample *s)
{
	struct pp_place place = s->place;

	place.field = "value";
	if (!r->row_known) {
		r->row_known = true;
		r->row_n = s->values_n;
		r->first_row_place = place;
	}
	if (s->values_n == r->row_n)
		return true;
	if (rows_are_wrong(r, s)) {
		pp_reader_forget_rows(r);
		r->rows_forgotten = true;
		r->row_n = s->values_n;
		return true;
	}
	if (!r->row_differs) {
		r->row_differs = true;
		r->row_place = place;
		r->row_other_n = s->values_n;
	}
	return false;
}

static int keep_sample(struct pp_reader *r, const struct sample *s)
{
	uint32_t stack, labels;

	if (r->unknown.n && pp_build_unknown(r->build, PP_RECORD_SAMPLE, r->profile->samples_n, 0,
	                                     (struct pp_str){r->unknown.bytes, r->unknown.n}))
		return -1;
	stack = pp_build_stack(r->build, r->stack, s->stack_n);
	labels = s->labels_n ? pp_build_label_list(r->build, r->labels, s->labels_n) : 0;
	return pp_build_row(r->build, stack, labels, r->values, s->values_n) == PP_NONE ? -1 : 0;
}

int pp_reader_sample(struct pp_reader *r, const struct pp_field *field)
{
	struct sample s = {.place = {field->offset, "sample", r->samples_seen++, NULL, 0, NULL}};
	uint32_t unknowns_n = r->profile->unknowns_n;

	if (read_sample(r, &s, field))
		return -1;
	if (row_fits(r, &s))
		return keep_sample(r, &s);
	pp_dropped_add(&r->rows, field->offset);
	r->profile->unknowns_n = unknowns_n; /* those of its labels would become the next sample's */
	return 0;
}
