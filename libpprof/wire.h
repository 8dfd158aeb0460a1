/* The protobuf wire format by hand: tags, varints, fields. No allocation per field, no recursion. */
#ifndef PP_WIRE_H
#define PP_WIRE_H

#include "libpprof/error.h"
#include "libpprof/limits.h"
#include "libpprof/source.h"

enum pp_wire_type { PP_VARINT = 0, PP_FIXED64 = 1, PP_BYTES = 2, PP_FIXED32 = 5 };

struct pp_field {
	uint32_t number;
	enum pp_wire_type type;
	uint64_t offset;            /* of the tag in the input */
	uint64_t value;             /* VARINT, FIXED64, FIXED32 */
	const unsigned char *bytes; /* BYTES: the payload, else NULL */
	size_t n;
	uint64_t bytes_offset;      /* of the payload in the input */
	const unsigned char *whole; /* tag and payload as they stand, to carry what is not known */
	size_t whole_n;
};

/* Bytes in memory, of a message or of packed numbers, consumed from the front. */
struct pp_cursor {
	const unsigned char *at, *end;
	uint64_t end_offset; /* of end in the input */
};
static inline uint64_t pp_cursor_offset(const struct pp_cursor *cursor)
{
	return cursor->end_offset - (uint64_t)(cursor->end - cursor->at);
}
/* The payload of a BYTES field; nothing, of another. */
static inline struct pp_cursor pp_cursor_of(const struct pp_field *field)
{
	const unsigned char *end = field->n ? field->bytes + field->n : field->bytes;

	return (struct pp_cursor){field->bytes, end, field->bytes_offset + field->n};
}

/* A varint of at most 10 bytes, bits above 64 dropped as the reference drops them. False, and at unmoved,
 * when it is cut off or longer. */
bool pp_cursor_varint(struct pp_cursor *cursor, uint64_t *value);

/* The next field: 1, or 0 at the end, or -1 when it is broken: then *reason says how and field->offset
 * where. */
int pp_cursor_next(struct pp_cursor *cursor, struct pp_field *field, const char **reason);

/* Fields of a whole input, through a window that holds one at a time. */
struct pp_wire;
struct pp_wire *pp_wire_new(struct pp_source *source, const struct pp_limits *limits,
                            struct pp_error *err) PP_MUSTUSE;
void pp_wire_free(struct pp_wire *wire);
/* The next field, valid until the next call: 1, or 0 at the end, or -1 with PP_EFORMAT (the offset is the
 * field's), PP_ELIMIT for a field longer than limits.record_bytes, or what the source reports. */
int pp_wire_next(struct pp_wire *wire, struct pp_field *field, struct pp_error *err);
/* After a failure: the input ended inside a field, all before it was complete. */
bool pp_wire_ended_early(const struct pp_wire *wire);
uint64_t pp_wire_offset(const struct pp_wire *wire); /* bytes consumed so far */

/* Appends a varint to out (of at least 10 bytes) and returns its length. */
size_t pp_put_varint(unsigned char *out, uint64_t value);

#endif
