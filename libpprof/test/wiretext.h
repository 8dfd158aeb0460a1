/* Protobuf bytes from a readable text, so that a test shows the message it is about:
 *
 *   3:-1        field 3, a varint        2{1:7}     field 2, a message with a varint in it
 *   6"cpu"      field 6, bytes           1[1 300]   field 1, packed varints
 *   9#4 9#8     field 9, fixed 32 or 64  !0aff      bytes as they are, in hex
 *
 * Include after cmocka.h. */
#ifndef PP_TEST_WIRETEXT_H
#define PP_TEST_WIRETEXT_H

#include <stdlib.h>
#include <string.h>

#include "libpprof/wire.h"

struct wire_bytes {
	unsigned char at[4096];
	size_t n;
};

static inline void wire_put(struct wire_bytes *out, const void *bytes, size_t n)
{
	if (n > sizeof(out->at) - out->n)
		fail_msg("the message of this test is too long");
	memcpy(out->at + out->n, bytes, n);
	out->n += n;
}

static inline void wire_put_varint(struct wire_bytes *out, uint64_t value)
{
	unsigned char bytes[10];

	wire_put(out, bytes, pp_put_varint(bytes, value));
}

static inline uint64_t wire_number(const char **text)
{
	char *end;
	uint64_t value = **text == '-' ? (uint64_t)strtoll(*text, &end, 10) : strtoull(*text, &end, 10);

	if (end == *text)
		fail_msg("a number is missing at '%s'", *text);
	*text = end;
	return value;
}

static inline void wire_put_raw(struct wire_bytes *out, const char **text)
{
	static const char digits[] = "0123456789abcdef";
	const char *high, *low;

	while (**text && (high = strchr(digits, (*text)[0])) && (low = strchr(digits, (*text)[1]))) {
		wire_put(out, &(unsigned char){(unsigned char)((high - digits) << 4 | (low - digits))}, 1);
		*text += 2;
	}
}

/* From here on the text is consumed to its end or to the bracket that closes this level: where nested
 * levels stand, their bytes are gathered in place and then moved behind their length. */
static inline void wire_put_level(struct wire_bytes *out, const char **text)
{
	struct {
		size_t start;
		bool packed;
	} open[8];
	size_t depth = 0;

	for (; **text; (*text)++) {
		uint64_t number;

		if (**text == ' ')
			continue;
		if (**text == '}' || **text == ']') {
			size_t start = open[--depth].start, n = out->n - start;
			unsigned char length[10];
			size_t head = pp_put_varint(length, n);

			wire_put(out, length, head); /* makes sure of the room */
			memmove(out->at + start + head, out->at + start, n);
			memcpy(out->at + start, length, head);
			continue;
		}
		if (**text == '!') {
			(*text)++;
			wire_put_raw(out, text);
			(*text)--;
			continue;
		}
		number = wire_number(text);
		if (depth && open[depth - 1].packed) {
			wire_put_varint(out, number);
			(*text)--;
			continue;
		}
		switch (*(*text)++) {
		case ':':
			wire_put_varint(out, number << 3 | PP_VARINT);
			wire_put_varint(out, wire_number(text));
			(*text)--;
			break;
		case '#':
			wire_put_varint(out, number << 3 | (**text == '8' ? PP_FIXED64 : PP_FIXED32));
			wire_put(out, "\1\2\3\4\5\6\7\10", **text == '8' ? 8 : 4);
			break;
		case '"': {
			size_t n = strcspn(*text, "\"");

			wire_put_varint(out, number << 3 | PP_BYTES);
			wire_put_varint(out, n);
			wire_put(out, *text, n);
			*text += n;
			break;
		}
		case '{':
		case '[':
			wire_put_varint(out, number << 3 | PP_BYTES);
			open[depth].packed = (*text)[-1] == '[';
			open[depth++].start = out->n;
			(*text)--;
			break;
		default:
			fail_msg("not understood: '%s'", *text - 1);
		}
	}
	if (depth)
		fail_msg("a bracket is open");
}

/* Appends the bytes of a text. */
static inline void wire_add(struct wire_bytes *out, const char *text)
{
	wire_put_level(out, &text);
}

#endif
