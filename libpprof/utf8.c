#include "libpprof/utf8.h"

#include <stdint.h>

/* Well-formed sequences are those of the Unicode Standard, table 3-7. */
size_t pp_utf8_length(const char *bytes, size_t n)
{
	const unsigned char *b = (const unsigned char *)bytes;
	uint32_t code, least;
	size_t length;

	if (b[0] < 0x80)
		return 1;
	if (b[0] >= 0xc2 && b[0] < 0xe0) {
		length = 2;
		code = b[0] & 0x1fu;
		least = 0x80;
	} else if ((b[0] & 0xf0u) == 0xe0) {
		length = 3;
		code = b[0] & 0x0fu;
		least = 0x800;
	} else if (b[0] >= 0xf0 && b[0] < 0xf5) {
		length = 4;
		code = b[0] & 0x07u;
		least = 0x10000;
	} else {
		return 0;
	}
	if (length > n)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((b[i] & 0xc0u) != 0x80)
			return 0;
		code = code << 6 | (b[i] & 0x3fu);
	}
	if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return length;
}
