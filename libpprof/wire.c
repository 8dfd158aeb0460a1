#include "libpprof/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT_MAX = 10, WINDOW_MIN = 64 * 1024 };

bool pp_cursor_varint(struct pp_cursor *cursor, uint64_t *value)
{
	const unsigned char *at = cursor->at, *end = cursor->end;
	uint64_t sum = 0;

	if (end - at > VARINT_MAX)
		end = at + VARINT_MAX;
	for (unsigned shift = 0; at < end; shift += 7) {
		unsigned char byte = *at++;

		sum |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*value = sum;
			cursor->at = at;
			return true;
		}
	}
	return false;
}

static uint64_t little_endian(const unsigned char *bytes, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = n; i-- > 0;)
		sum = sum << 8 | bytes[i];
	return sum;
}

/* What a parse of one field came to. */
enum outcome { FIELD, CUT_OFF, BROKEN };

static bool take(struct pp_cursor *cursor, size_t n)
{
	if ((size_t)(cursor->end - cursor->at) < n)
		return false;
	cursor->at += n;
	return true;
}

/* Parses the field at the cursor, which moves only past a whole one. Else *reason says what is wrong, and
 * *need, for a field that is cut off, how many bytes it has in all as far as that can be told, else 0. */
static enum outcome parse(struct pp_cursor *cursor, struct pp_field *field, uint64_t *need, const char **reason)
{
	struct pp_cursor c = *cursor;
	uint64_t tag, length;
	size_t head;

	*need = 0;
	field->offset = pp_cursor_offset(&c);
	field->whole = c.at;
	if (!pp_cursor_varint(&c, &tag)) {
		*reason = "the tag is not a varint";
		return c.end - c.at < VARINT_MAX ? CUT_OFF : BROKEN;
	}
	if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3) {
		*reason = "the field number is not valid";
		return BROKEN;
	}
	field->number = (uint32_t)(tag >> 3);
	field->type = (enum pp_wire_type)(tag & 7);
	field->bytes = NULL;
	field->n = 0;
	field->value = 0;
	field->bytes_offset = 0;
	switch (tag & 7) {
	case PP_VARINT:
		*reason = "the value is not a varint";
		if (!pp_cursor_varint(&c, &field->value))
			return c.end - c.at < VARINT_MAX ? CUT_OFF : BROKEN;
		break;
	case PP_FIXED64:
	case PP_FIXED32: {
		size_t n = (tag & 7) == PP_FIXED64 ? 8 : 4;

		*reason = "the value is cut off";
		if (!take(&c, n))
			return CUT_OFF;
		field->value = little_endian(c.at - n, n);
		break;
	}
	case PP_BYTES:
		*reason = "the length is not a varint";
		if (!pp_cursor_varint(&c, &length))
			return c.end - c.at < VARINT_MAX ? CUT_OFF : BROKEN;
		*reason = "a field goes beyond the end of its message";
		head = (size_t)(c.at - cursor->at);
		if (length > (size_t)(c.end - c.at)) {
			*need = length > UINT64_MAX - head ? UINT64_MAX : length + head;
			return CUT_OFF;
		}
		field->bytes = c.at;
		field->n = (size_t)length;
		field->bytes_offset = pp_cursor_offset(&c);
		(void)take(&c, field->n);
		break;
	default:
		*reason = "the wire type is not one of 0, 1, 2, 5";
		return BROKEN;
	}
	field->whole_n = (size_t)(c.at - cursor->at);
	*cursor = c;
	return FIELD;
}

int pp_cursor_next(struct pp_cursor *cursor, struct pp_field *field, const char **reason)
{
	uint64_t need;

	if (cursor->at == cursor->end)
		return 0;
	return parse(cursor, field, &need, reason) == FIELD ? 1 : -1;
}

struct pp_wire {
	struct pp_source *source;
	struct pp_limits limits;
	unsigned char *window;
	size_t capacity;
	struct pp_cursor cursor; /* what of the window is not consumed */
	bool source_end, ended_early;
};

struct pp_wire *pp_wire_new(struct pp_source *source, const struct pp_limits *limits, struct pp_error *err)
{
	struct pp_wire *wire = calloc(1, sizeof(*wire));

	if (wire)
		wire->window = malloc(WINDOW_MIN);
	if (!wire || !wire->window) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
		free(wire);
		return NULL;
	}
	wire->source = source;
	wire->limits = *limits;
	wire->capacity = WINDOW_MIN;
	wire->cursor.at = wire->cursor.end = wire->window;
	return wire;
}

void pp_wire_free(struct pp_wire *wire)
{
	if (!wire)
		return;
	free(wire->window);
	free(wire);
}

/* Makes room behind what is in the window: first by dropping what is consumed, then by growing, so that
 * memory follows what has really arrived and a length that lies costs nothing. */
static int make_room(struct pp_wire *wire, struct pp_error *err)
{
	size_t left = (size_t)(wire->cursor.end - wire->cursor.at);

	if (wire->cursor.end < wire->window + wire->capacity)
		return 0;
	if (left)
		memmove(wire->window, wire->cursor.at, left);
	if (left == wire->capacity) {
		size_t room = wire->capacity * 2;
		unsigned char *moved = realloc(wire->window, room);

		if (!moved)
			return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
		wire->window = moved;
		wire->capacity = room;
	}
	wire->cursor.at = wire->window;
	wire->cursor.end = wire->window + left;
	return 0;
}

static int fill(struct pp_wire *wire, struct pp_error *err)
{
	int64_t got;
	unsigned char *end;

	if (make_room(wire, err))
		return -1;
	end = wire->window + (wire->cursor.end - wire->window);
	got = wire->source->read(wire->source->context, end, wire->capacity - (size_t)(end - wire->window), err);
	if (got < 0)
		return -1;
	if (got == 0)
		wire->source_end = true;
	wire->cursor.end += got;
	wire->cursor.end_offset += (uint64_t)got;
	return 0;
}

int pp_wire_next(struct pp_wire *wire, struct pp_field *field, struct pp_error *err)
{
	for (;;) {
		const char *reason = "";
		uint64_t need = 0;
		enum outcome outcome = CUT_OFF;

		if (wire->cursor.at != wire->cursor.end)
			outcome = parse(&wire->cursor, field, &need, &reason);
		else if (wire->source_end)
			return 0;
		if (outcome == FIELD) {
			if (field->whole_n <= wire->limits.record_bytes)
				return 1;
			need = field->whole_n;
		}
		if (outcome == BROKEN)
			return pp_fail(err, PP_EFORMAT, field->offset, "not a profile: %s", reason);
		if (need > wire->limits.record_bytes)
			return pp_fail(err, PP_ELIMIT, field->offset, "a field of %" PRIu64
			               " bytes is longer than %" PRIu64, need, wire->limits.record_bytes);
		if (wire->source_end) {
			wire->ended_early = true;
			return pp_fail(err, PP_EFORMAT, field->offset,
			               "the input ends inside a field, after %" PRIu64 " bytes",
			               wire->cursor.end_offset);
		}
		if (fill(wire, err))
			return -1;
	}
}

bool pp_wire_ended_early(const struct pp_wire *wire)
{
	return wire->ended_early;
}

uint64_t pp_wire_offset(const struct pp_wire *wire)
{
	return pp_cursor_offset(&wire->cursor);
}

size_t pp_put_varint(unsigned char *out, uint64_t value)
{
	size_t n = 0;

	while (value >= 0x80) {
		out[n++] = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	out[n++] = (unsigned char)value;
	return n;
}
