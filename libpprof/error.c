#include "libpprof/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libpprof/utf8.h"

const char *pp_printable(char *out, size_t out_n, const char *bytes, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	size_t at = 0;
	size_t mark = 0; /* where "..." goes if the rest does not fit */

	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)bytes[i];
		size_t length = pp_utf8_length(bytes + i, n - i);
		/* U+0080 … U+009F are control characters, some of which terminals obey. */
		bool plain = length > 0 && c >= 0x20 && c != 0x7f &&
		             !(length == 2 && c == 0xc2 && (unsigned char)bytes[i + 1] < 0xa0);
		size_t need = plain ? length : 4;

		if (at + need + 1 > out_n) {
			memcpy(out + mark, "...", out_n - mark > 3 ? 4 : out_n - mark);
			out[out_n - 1] = '\0';
			return out;
		}
		if (plain) {
			memcpy(out + at, bytes + i, length);
			i += length;
		} else {
			out[at] = '\\';
			out[at + 1] = 'x';
			out[at + 2] = hex[c >> 4];
			out[at + 3] = hex[c & 15];
			i++;
		}
		at += need;
		if (at + 4 <= out_n)
			mark = at;
	}
	out[at] = '\0';
	return out;
}

int pp_fail(struct pp_error *err, enum pp_code code, uint64_t offset, const char *format, ...)
{
	char text[sizeof(err->text)];
	va_list args;
	int n;

	if (err->code != PP_OK)
		return -1;
	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n < 0)
		n = 0;
	if ((size_t)n >= sizeof(text))
		n = (int)sizeof(text) - 1;
	err->code = code;
	err->offset = offset;
	pp_printable(err->text, sizeof(err->text), text, (size_t)n);
	return -1;
}

const char *pp_code_name(enum pp_code code)
{
	static const char *const names[] = {
		[PP_OK] = "ok",         [PP_EFORMAT] = "format",     [PP_EUNSUPPORTED] = "unsupported",
		[PP_ELIMIT] = "limit",  [PP_EOVERFLOW] = "overflow", [PP_EINCOMPAT] = "incompatible",
		[PP_EUSAGE] = "usage",  [PP_ENOMEM] = "memory",      [PP_EIO] = "io",
	};

	return (size_t)code < PP_COUNT(names) ? names[code] : "unknown";
}
