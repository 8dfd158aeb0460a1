#include "libpprof/message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/arena.h"
#include "libpprof/profile.pb-c.h"

/* protobuf-c may need some 55 times the size of a hostile record; no honest record needs this much. */
static const uint64_t BUDGET_BYTES = UINT64_C(256) << 20;

struct pp_message {
	struct pp_arena *arena; /* of the record decoded last */
	ProtobufCAllocator allocator;
};

static void *allocate(void *data, size_t n)
{
	struct pp_message *message = data;

	return pp_arena_alloc(message->arena, n);
}

static void leave(void *data, void *piece)
{
	(void)data;
	(void)piece; /* goes with the arena */
}

struct pp_message *pp_message_new(struct pp_error *err)
{
	struct pp_message *message = calloc(1, sizeof(*message));

	if (message)
		message->arena = pp_arena_new(BUDGET_BYTES);
	if (!message || !message->arena) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
		free(message);
		return NULL;
	}
	message->allocator = (ProtobufCAllocator){allocate, leave, message};
	return message;
}

void pp_message_free(struct pp_message *message)
{
	if (!message)
		return;
	pp_arena_free(message->arena);
	free(message);
}

/* Fills *err when a known field has another wire type than its descriptor wants. Returns the descriptor
 * of a nested message, else NULL. */
static const ProtobufCMessageDescriptor *check_field(const ProtobufCMessageDescriptor *descriptor,
                                                     const struct pp_field *field, struct pp_place place,
                                                     struct pp_error *err)
{
	const ProtobufCFieldDescriptor *known =
		protobuf_c_message_descriptor_get_field(descriptor, field->number);
	bool message;

	if (!known)
		return NULL;
	message = known->type == PROTOBUF_C_TYPE_MESSAGE;
	place.offset = field->offset;
	place.field = known->name;
	if (field->type != (message ? PP_BYTES : PP_VARINT))
		pp_place_fail(err, PP_EFORMAT, &place, "wire type %d, not %d", (int)field->type,
		              message ? PP_BYTES : PP_VARINT);
	return message ? known->descriptor : NULL;
}

/* The next field of a record that protobuf-c refused; false at its end, or with *err where it is broken. */
static bool next_field(struct pp_cursor *cursor, struct pp_field *field, struct pp_place place,
                       struct pp_error *err)
{
	const char *reason = "";
	int more = err->code == PP_OK ? pp_cursor_next(cursor, field, &reason) : 0;

	place.offset = field->offset;
	if (more < 0)
		pp_place_fail(err, PP_EFORMAT, &place, "%s", reason);
	return more > 0;
}

/* Says where a record that protobuf-c refused is wrong. The only messages in a record are a location's
 * lines. */
static void explain(const ProtobufCMessageDescriptor *descriptor, const struct pp_field *record,
                    const struct pp_place *place, struct pp_error *err)
{
	struct pp_cursor cursor = pp_cursor_of(record);
	struct pp_place line_place = *place;
	struct pp_field field = {.offset = record->offset}, line_field = field;

	line_place.inner = "line";
	line_place.inner_index = 0;
	while (next_field(&cursor, &field, *place, err)) {
		const ProtobufCMessageDescriptor *line = check_field(descriptor, &field, *place, err);
		struct pp_cursor inner;

		if (!line || err->code != PP_OK)
			continue;
		inner = pp_cursor_of(&field);
		while (next_field(&inner, &line_field, line_place, err))
			check_field(line, &line_field, line_place, err);
		line_place.inner_index++;
	}
	pp_place_fail(err, PP_EFORMAT, place, "cannot be decoded");
}

static ProtobufCMessage *unpack(struct pp_message *message, const ProtobufCMessageDescriptor *descriptor,
                                const struct pp_field *field, const struct pp_place *place,
                                struct pp_error *err)
{
	ProtobufCMessage *unpacked;

	if (field->type != PP_BYTES) {
		pp_place_fail(err, PP_EFORMAT, place, "wire type %d, not %d", (int)field->type, PP_BYTES);
		return NULL;
	}
	pp_arena_clear(message->arena);
	unpacked = protobuf_c_message_unpack(descriptor, &message->allocator, field->n, field->bytes);
	if (unpacked)
		return unpacked;
	if (pp_arena_over(message->arena))
		pp_place_fail(err, PP_ELIMIT, place, "decoding needs more than %" PRIu64 " bytes", BUDGET_BYTES);
	else
		explain(descriptor, field, place, err);
	return NULL;
}

/* Puts a message's unknown fields back into wire form. */
static int gather_unknown(struct pp_message *message, const ProtobufCMessage *from, struct pp_str *out,
                          struct pp_error *err)
{
	unsigned char tag[10];
	size_t n = 0;
	char *bytes, *at;

	*out = PP_LIT("");
	if (from->n_unknown_fields == 0)
		return 0;
	for (unsigned i = 0; i < from->n_unknown_fields; i++)
		n += sizeof(tag) + from->unknown_fields[i].len;
	bytes = at = pp_arena_alloc(message->arena, n);
	if (!bytes)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	for (unsigned i = 0; i < from->n_unknown_fields; i++) {
		const ProtobufCMessageUnknownField *field = &from->unknown_fields[i];
		size_t tag_n = pp_put_varint(tag, (uint64_t)field->tag << 3 | (unsigned)field->wire_type);

		if (field->tag == 0) /* no field has this number; protobuf-c lets it pass where it is padded */
			continue;
		memcpy(at, tag, tag_n);
		if (field->len)
			memcpy(at + tag_n, field->data, field->len);
		at += tag_n + field->len;
	}
	*out = (struct pp_str){bytes, (size_t)(at - bytes)};
	return 0;
}

int pp_message_value_type(struct pp_message *message, const struct pp_field *field, const struct pp_place *place,
                          struct pp_raw_value_type *out, struct pp_error *err)
{
	ProtobufCMessage *base = unpack(message, &pp__wire__value_type__descriptor, field, place, err);
	const Pp__Wire__ValueType *m = (const void *)base;

	if (!base)
		return -1;
	*out = (struct pp_raw_value_type){.type = m->type, .unit = m->unit};
	return gather_unknown(message, base, &out->unknown, err);
}

int pp_message_mapping(struct pp_message *message, const struct pp_field *field, const struct pp_place *place,
                       struct pp_raw_mapping *out, struct pp_error *err)
{
	ProtobufCMessage *base = unpack(message, &pp__wire__mapping__descriptor, field, place, err);
	const Pp__Wire__Mapping *m = (const void *)base;

	if (!base)
		return -1;
	*out = (struct pp_raw_mapping){
		.id = m->id,
		.start = m->memory_start,
		.limit = m->memory_limit,
		.offset = m->file_offset,
		.filename = m->filename,
		.build_id = m->build_id,
		.has_functions = m->has_functions,
		.has_filenames = m->has_filenames,
		.has_line_numbers = m->has_line_numbers,
		.has_inline_frames = m->has_inline_frames,
	};
	return gather_unknown(message, base, &out->unknown, err);
}

int pp_message_function(struct pp_message *message, const struct pp_field *field, const struct pp_place *place,
                        struct pp_raw_function *out, struct pp_error *err)
{
	ProtobufCMessage *base = unpack(message, &pp__wire__function__descriptor, field, place, err);
	const Pp__Wire__Function *m = (const void *)base;

	if (!base)
		return -1;
	*out = (struct pp_raw_function){
		.id = m->id,
		.name = m->name,
		.system_name = m->system_name,
		.filename = m->filename,
		.start_line = m->start_line,
	};
	return gather_unknown(message, base, &out->unknown, err);
}

static int copy_lines(struct pp_message *message, const Pp__Wire__Location *m, struct pp_raw_location *out,
                      struct pp_error *err)
{
	size_t bytes;
	struct pp_raw_line *lines;

	if (m->n_line == 0)
		return 0;
	lines = pp_mul_size(m->n_line, sizeof(*lines), &bytes) ? pp_arena_alloc(message->arena, bytes) : NULL;
	if (!lines || m->n_line > UINT32_MAX)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	for (size_t i = 0; i < m->n_line; i++) {
		const Pp__Wire__Line *line = m->line[i];

		lines[i] = (struct pp_raw_line){line->function_id, line->line, line->column, {NULL, 0}};
		if (gather_unknown(message, &line->base, &lines[i].unknown, err))
			return -1;
	}
	out->lines = lines;
	out->lines_n = (uint32_t)m->n_line;
	return 0;
}

int pp_message_location(struct pp_message *message, const struct pp_field *field, const struct pp_place *place,
                        struct pp_raw_location *out, struct pp_error *err)
{
	ProtobufCMessage *base = unpack(message, &pp__wire__location__descriptor, field, place, err);
	const Pp__Wire__Location *m = (const void *)base;

	if (!base)
		return -1;
	*out = (struct pp_raw_location){
		.id = m->id, .mapping_id = m->mapping_id, .address = m->address, .is_folded = m->is_folded};
	if (copy_lines(message, m, out, err))
		return -1;
	return gather_unknown(message, base, &out->unknown, err);
}
