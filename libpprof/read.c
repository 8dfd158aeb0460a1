/* The outer walk over a profile: one top-level field at a time, each record handed to its owner. */
#include "libpprof/read.h"

#include <inttypes.h>
#include <stdlib.h>

#include "libpprof/hash.h"
#include "libpprof/reader.h"

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING_TABLE,
	PROFILE_DROP_FRAMES,
	PROFILE_KEEP_FRAMES,
	PROFILE_TIME_NANOS,
	PROFILE_DURATION_NANOS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_SAMPLE_TYPE,
	PROFILE_DOC_URL
};

uint32_t pp_reader_string(struct pp_reader *r, int64_t index, const struct pp_place *place)
{
	if ((uint64_t)index > r->largest_string) {
		r->largest_string = (uint64_t)index;
		r->largest_place = *place;
	}
	return index < 0 || index >= (int64_t)PP_NONE ? PP_NONE : (uint32_t)index;
}

void *pp_reader_room(struct pp_reader *r, void *array, size_t *room, size_t want, size_t element_bytes)
{
	size_t n = *room ? *room : 64, bytes;
	void *moved;

	if (want <= *room)
		return array;
	while (n < want)
		n = n > SIZE_MAX / 2 ? want : n * 2;
	moved = pp_mul_size(n, element_bytes, &bytes) ? realloc(array, bytes) : NULL;
	if (!moved) {
		pp_fail(r->err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
		return NULL;
	}
	*room = n;
	return moved;
}

/* Ids may cost many times their bytes in the file, and come before there is a model to charge. */
static int grow_referents(struct pp_reader *r, struct pp_referents *t, size_t want)
{
	const uint64_t id_bytes = sizeof(*t->references) + sizeof(*t->table) + 32; /* 32: in the idmap, at most */
	void *moved;

	if (want > r->options->limits.model_bytes / id_bytes)
		return pp_fail(r->err, PP_ELIMIT, pp_wire_offset(r->wire),
		               "%zu ids of %ss need more than %" PRIu64 " bytes", want, t->kind,
		               r->options->limits.model_bytes);
	moved = pp_reader_room(r, t->references, &t->references_n, want, sizeof(*t->references));
	if (!moved)
		return -1;
	t->references = moved;
	moved = pp_reader_room(r, t->table, &t->table_n, want, sizeof(*t->table));
	if (!moved)
		return -1;
	t->table = moved;
	return 0;
}

static void release_referents(struct pp_referents *t)
{
	pp_idmap_release(&t->ids);
	free(t->references);
	free(t->table);
}

uint32_t pp_reader_refer(struct pp_reader *r, struct pp_referents *referents, uint64_t id, uint64_t offset,
                         uint32_t owner, uint32_t position)
{
	bool is_new;
	uint32_t index = pp_idmap_put(&referents->ids, id, &is_new);

	if (index == PP_NONE) {
		pp_fail(r->err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
		return PP_NONE;
	}
	if (!is_new)
		return index;
	if (grow_referents(r, referents, (size_t)index + 1))
		return PP_NONE;
	referents->references[index] = (struct pp_reference){id, 0, offset, owner, position};
	referents->table[index] = PP_NONE;
	return index;
}

/* Makes room for the element of a definition: 1 when it is to be added, at *provisional; 0 when a
 * lenient reader passes over it; -1. */
static int define(struct pp_reader *r, struct pp_referents *referents, const struct pp_field *field,
                  struct pp_place place, uint64_t id, uint32_t *provisional)
{
	uint64_t hash = pp_hash64(field->bytes, field->n);
	struct pp_reference *reference;

	place.field = "id";
	if (id == 0) {
		pp_dropped_add(&referents->id_0, field->offset);
		return pp_reader_lenient(r) ? 0 : pp_place_fail(r->err, PP_EFORMAT, &place, "reserved id 0");
	}
	*provisional = pp_reader_refer(r, referents, id, field->offset, PP_NONE, 0);
	if (*provisional == PP_NONE)
		return -1;
	reference = &referents->references[*provisional];
	if (referents->table[*provisional] == PP_NONE) {
		reference->payload_hash = hash;
		return 1;
	}
	pp_dropped_add(&referents->repeated, field->offset);
	if (pp_reader_lenient(r) && reference->payload_hash == hash)
		return 0;
	return pp_place_fail(r->err, PP_EFORMAT, &place, "multiple %ss with same id %" PRIu64, referents->kind, id);
}

static int keep_unknown(struct pp_reader *r, enum pp_record record, uint32_t index, struct pp_str bytes)
{
	return bytes.len ? pp_build_unknown(r->build, record, index, 0, bytes) : 0;
}

static int read_sample_type(struct pp_reader *r, const struct pp_field *field)
{
	struct pp_place place = {field->offset, "sample_type", r->sample_types_seen++, NULL, 0, NULL};
	struct pp_raw_value_type raw;
	struct pp_value_type type;
	uint32_t index;

	if (r->types_then_strings && r->second_offset == PP_NO_OFFSET)
		r->second_offset = field->offset;
	if (pp_message_value_type(r->message, field, &place, &raw, r->err))
		return -1;
	place.field = "type";
	type.type = pp_reader_string(r, raw.type, &place);
	place.field = "unit";
	type.unit = pp_reader_string(r, raw.unit, &place);
	index = pp_build_sample_type(r->build, type);
	return index == PP_NONE ? -1 : keep_unknown(r, PP_RECORD_SAMPLE_TYPE, index, raw.unknown);
}

static int read_period_type(struct pp_reader *r, const struct pp_field *field)
{
	struct pp_place place = {field->offset, "period_type", PP_NONE, NULL, 0, NULL};
	struct pp_raw_value_type raw;

	if (pp_message_value_type(r->message, field, &place, &raw, r->err))
		return -1;
	place.field = "type";
	r->profile->period_type.type = pp_reader_string(r, raw.type, &place);
	place.field = "unit";
	r->profile->period_type.unit = pp_reader_string(r, raw.unit, &place);
	return keep_unknown(r, PP_RECORD_PERIOD_TYPE, 0, raw.unknown);
}

static int read_mapping(struct pp_reader *r, const struct pp_field *field)
{
	struct pp_place place = {field->offset, "mapping", r->mappings_seen++, NULL, 0, NULL};
	struct pp_raw_mapping raw;
	struct pp_mapping mapping;
	uint32_t provisional, index;
	int add;

	if (pp_message_mapping(r->message, field, &place, &raw, r->err))
		return -1;
	add = define(r, &r->mappings, field, place, raw.id, &provisional);
	if (add <= 0)
		return add;
	mapping = (struct pp_mapping){
		.id = raw.id,
		.start = raw.start,
		.limit = raw.limit,
		.offset = raw.offset,
		.has_functions = raw.has_functions,
		.has_filenames = raw.has_filenames,
		.has_line_numbers = raw.has_line_numbers,
		.has_inline_frames = raw.has_inline_frames,
	};
	place.field = "filename";
	mapping.filename = pp_reader_string(r, raw.filename, &place);
	place.field = "build_id";
	mapping.build_id = pp_reader_string(r, raw.build_id, &place);
	index = pp_build_mapping(r->build, &mapping);
	if (index == PP_NONE)
		return -1;
	r->mappings.table[provisional] = index;
	return keep_unknown(r, PP_RECORD_MAPPING, index, raw.unknown);
}

static int read_function(struct pp_reader *r, const struct pp_field *field)
{
	struct pp_place place = {field->offset, "function", r->functions_seen++, NULL, 0, NULL};
	struct pp_raw_function raw;
	struct pp_function function;
	uint32_t provisional, index;
	int add;

	if (pp_message_function(r->message, field, &place, &raw, r->err))
		return -1;
	add = define(r, &r->functions, field, place, raw.id, &provisional);
	if (add <= 0)
		return add;
	function = (struct pp_function){.id = raw.id, .start_line = raw.start_line};
	place.field = "name";
	function.name = pp_reader_string(r, raw.name, &place);
	place.field = "system_name";
	function.system_name = pp_reader_string(r, raw.system_name, &place);
	place.field = "filename";
	function.filename = pp_reader_string(r, raw.filename, &place);
	index = pp_build_function(r->build, &function);
	if (index == PP_NONE)
		return -1;
	r->functions.table[provisional] = index;
	return keep_unknown(r, PP_RECORD_FUNCTION, index, raw.unknown);
}

/* Copies the lines of a location to scratch, their functions by provisional index. */
static int convert_lines(struct pp_reader *r, const struct pp_raw_location *raw, uint64_t offset,
                         uint32_t location)
{
	void *moved = pp_reader_room(r, r->lines, &r->lines_room, raw->lines_n, sizeof(*r->lines));

	if (!moved && raw->lines_n)
		return -1;
	r->lines = moved;
	for (uint32_t i = 0; i < raw->lines_n; i++) {
		uint32_t function = pp_reader_refer(r, &r->functions, raw->lines[i].function_id, offset, location, i);

		if (function == PP_NONE)
			return -1;
		r->lines[i] = (struct pp_line){function, raw->lines[i].line, raw->lines[i].column};
	}
	return 0;
}

static int read_location(struct pp_reader *r, const struct pp_field *field)
{
	struct pp_place place = {field->offset, "location", r->locations_seen++, NULL, 0, NULL};
	struct pp_raw_location raw;
	struct pp_location location;
	uint32_t provisional, index;
	int add;

	if (pp_message_location(r->message, field, &place, &raw, r->err))
		return -1;
	add = define(r, &r->locations, field, place, raw.id, &provisional);
	if (add <= 0)
		return add;
	location = (struct pp_location){
		.id = raw.id, .address = raw.address, .is_folded = raw.is_folded, .mapping = PP_NONE};
	if (raw.mapping_id) {
		location.mapping = pp_reader_refer(r, &r->mappings, raw.mapping_id, field->offset, place.index, 0);
		if (location.mapping == PP_NONE)
			return -1;
	}
	if (convert_lines(r, &raw, field->offset, place.index))
		return -1;
	index = pp_build_location(r->build, &location, r->lines, raw.lines_n);
	if (index == PP_NONE)
		return -1;
	r->locations.table[provisional] = index;
	for (uint32_t i = 0; i < raw.lines_n; i++)
		if (keep_unknown(r, PP_RECORD_LINE, r->profile->locations[index].line_first + i, raw.lines[i].unknown))
			return -1;
	return keep_unknown(r, PP_RECORD_LOCATION, index, raw.unknown);
}

/* Every string table begins with "". After types, strings and again types, another "" is that of a second
 * profile. */
static void note_string(struct pp_reader *r, const struct pp_field *field)
{
	if (r->strings_seen == 0)
		r->types_then_strings = r->sample_types_seen > 0;
	else if (r->second_offset != PP_NO_OFFSET && field->n == 0)
		r->second_sure = true;
	r->strings_seen++;
}

static int read_string(struct pp_reader *r, const struct pp_field *field)
{
	struct pp_str bytes = {(const char *)field->bytes, field->n};
	bool first = r->strings_seen == 0;
	char text[80];

	note_string(r, field);
	if (first && bytes.len) {
		pp_printable(text, sizeof(text), bytes.ptr, bytes.len);
		if (!pp_reader_lenient(r))
			return pp_fail(r->err, PP_EFORMAT, field->offset, "string_table[0]: '%s', must be empty", text);
		if (pp_build_note(r->build, field->offset, "string_table[0] is '%s', taken as empty", text))
			return -1;
		bytes = PP_LIT("");
	}
	return pp_build_string_append(r->build, bytes) == PP_NONE ? -1 : 0;
}

static int read_time(struct pp_reader *r, const struct pp_field *field)
{
	if (r->profile->time_ns != 0) {
		if (r->second_offset == PP_NO_OFFSET)
			r->second_offset = field->offset;
		r->second_sure = true;
		return pp_fail(r->err, PP_EFORMAT, field->offset, "time_nanos: given twice");
	}
	r->profile->time_ns = (int64_t)field->value;
	return 0;
}

static int add_comment(struct pp_reader *r, uint64_t index, uint64_t offset)
{
	struct pp_place place = {offset, "comment", r->comments_seen++, NULL, 0, NULL};

	return pp_build_comment(r->build, pp_reader_string(r, (int64_t)index, &place));
}

static int read_comment(struct pp_reader *r, const struct pp_field *field)
{
	struct pp_cursor packed = pp_cursor_of(field);
	uint64_t value, offset;

	if (field->type == PP_VARINT)
		return add_comment(r, field->value, field->offset);
	while (packed.at != packed.end) {
		offset = pp_cursor_offset(&packed);
		if (!pp_cursor_varint(&packed, &value))
			return pp_fail(r->err, PP_EFORMAT, offset, "comment[%" PRIu32 "]: not a varint", r->comments_seen);
		if (add_comment(r, value, offset))
			return -1;
	}
	return 0;
}

/* Names and wire types of the top-level fields, by number. */
static const struct {
	const char *name;
	enum pp_wire_type type;
} known_fields[] = {
	[PROFILE_SAMPLE_TYPE] = {"sample_type", PP_BYTES},
	[PROFILE_SAMPLE] = {"sample", PP_BYTES},
	[PROFILE_MAPPING] = {"mapping", PP_BYTES},
	[PROFILE_LOCATION] = {"location", PP_BYTES},
	[PROFILE_FUNCTION] = {"function", PP_BYTES},
	[PROFILE_STRING_TABLE] = {"string_table", PP_BYTES},
	[PROFILE_DROP_FRAMES] = {"drop_frames", PP_VARINT},
	[PROFILE_KEEP_FRAMES] = {"keep_frames", PP_VARINT},
	[PROFILE_TIME_NANOS] = {"time_nanos", PP_VARINT},
	[PROFILE_DURATION_NANOS] = {"duration_nanos", PP_VARINT},
	[PROFILE_PERIOD_TYPE] = {"period_type", PP_BYTES},
	[PROFILE_PERIOD] = {"period", PP_VARINT},
	[PROFILE_COMMENT] = {"comment", PP_VARINT},
	[PROFILE_DEFAULT_SAMPLE_TYPE] = {"default_sample_type", PP_VARINT},
	[PROFILE_DOC_URL] = {"doc_url", PP_VARINT},
};

static int read_field(struct pp_reader *r, const struct pp_field *field)
{
	struct pp_profile *p = r->profile;
	struct pp_place place = {field->offset, "", PP_NONE, NULL, 0, NULL};

	if (field->number >= PP_COUNT(known_fields))
		return pp_build_unknown(r->build, PP_RECORD_PROFILE, 0, 0,
		                        (struct pp_str){(const char *)field->whole, field->whole_n});
	place.record = known_fields[field->number].name;
	if (field->type != known_fields[field->number].type &&
	    !(field->number == PROFILE_COMMENT && field->type == PP_BYTES))
		return pp_place_fail(r->err, PP_EFORMAT, &place, "wire type %d, not %d", (int)field->type,
		                     (int)known_fields[field->number].type);
	switch (field->number) {
	case PROFILE_SAMPLE_TYPE:
		return read_sample_type(r, field);
	case PROFILE_SAMPLE:
		return pp_reader_sample(r, field);
	case PROFILE_MAPPING:
		return read_mapping(r, field);
	case PROFILE_LOCATION:
		return read_location(r, field);
	case PROFILE_FUNCTION:
		return read_function(r, field);
	case PROFILE_STRING_TABLE:
		return read_string(r, field);
	case PROFILE_DROP_FRAMES:
		p->drop_frames = pp_reader_string(r, (int64_t)field->value, &place);
		return 0;
	case PROFILE_KEEP_FRAMES:
		p->keep_frames = pp_reader_string(r, (int64_t)field->value, &place);
		return 0;
	case PROFILE_TIME_NANOS:
		return read_time(r, field);
	case PROFILE_DURATION_NANOS:
		p->duration_ns = (int64_t)field->value;
		return 0;
	case PROFILE_PERIOD_TYPE:
		return read_period_type(r, field);
	case PROFILE_PERIOD:
		p->period = (int64_t)field->value;
		return 0;
	case PROFILE_COMMENT:
		return read_comment(r, field);
	case PROFILE_DEFAULT_SAMPLE_TYPE:
		p->default_sample_type = pp_reader_string(r, (int64_t)field->value, &place);
		return 0;
	default:
		p->doc_url = pp_reader_string(r, (int64_t)field->value, &place);
		return 0;
	}
}

static int read_fields(struct pp_reader *r)
{
	struct pp_field field;
	uint64_t fields_n = 0;
	int more;

	while ((more = pp_wire_next(r->wire, &field, r->err)) > 0) {
		fields_n++;
		if (read_field(r, &field))
			return -1;
	}
	if (more < 0) {
		if (r->options->strictness != PP_SALVAGE || !pp_wire_ended_early(r->wire) || fields_n == 0)
			return -1;
		*r->err = (struct pp_error)PP_ERROR_INIT;
		return pp_build_note(r->build, pp_wire_offset(r->wire),
		                     "the profile ends early: %" PRIu64 " complete fields were kept", fields_n);
	}
	if (fields_n == 0)
		return pp_fail(r->err, PP_EFORMAT, PP_NO_OFFSET, "empty input file");
	return 0;
}

/* Does the rest of a file that is refused hold the string table of a second profile? */
static bool second_follows(struct pp_reader *r)
{
	struct pp_error ignored = PP_ERROR_INIT;
	struct pp_field field;

	while (!r->second_sure && r->second_offset != PP_NO_OFFSET && pp_wire_next(r->wire, &field, &ignored) > 0)
		if (field.number == PROFILE_STRING_TABLE)
			note_string(r, &field);
	return r->second_sure;
}

static void release(struct pp_reader *r)
{
	pp_build_free(r->build);
	pp_wire_free(r->wire);
	pp_message_free(r->message);
	release_referents(&r->locations);
	release_referents(&r->functions);
	release_referents(&r->mappings);
	free(r->stack);
	free(r->values);
	free(r->labels);
	free(r->lines);
	pp_buf_release(&r->unknown);
	pp_buf_release(&r->label_unknown);
}

struct pp_profile *pp_read(struct pp_source *unpacked, const struct pp_read_options *options,
                           struct pp_error *err)
{
	struct pp_reader r = {
		.options = options,
		.err = err,
		.locations.kind = "location",
		.functions.kind = "function",
		.mappings.kind = "mapping",
		.second_offset = PP_NO_OFFSET,
	};
	struct pp_profile *profile = NULL;

	pp_idmap_init(&r.locations.ids);
	pp_idmap_init(&r.functions.ids);
	pp_idmap_init(&r.mappings.ids);
	r.build = pp_build_new(&options->limits, err);
	r.wire = r.build ? pp_wire_new(unpacked, &options->limits, err) : NULL;
	r.message = r.wire ? pp_message_new(err) : NULL;
	if (!r.message)
		goto done;
	r.profile = pp_build_profile(r.build);
	if (read_fields(&r) == 0 && pp_reader_resolve(&r) == 0)
		profile = pp_build_finish(r.build, err);
	if (!profile && err->code == PP_OK)
		*err = *pp_build_error(r.build);
	if (!profile && err->code == PP_EFORMAT && second_follows(&r)) {
		/* Any mistake is then the consequence of this one. */
		*err = (struct pp_error)PP_ERROR_INIT;
		pp_fail(err, PP_EFORMAT, r.second_offset,
		        "concatenated profiles detected: two profiles in one file, the second starts here");
	}
done:
	release(&r);
	return profile;
}
