#include "libpprof/sink.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pp_sink_bytes(struct pp_sink *sink, const void *bytes, size_t n, struct pp_error *err)
{
	return n ? sink->write(sink->context, bytes, n, err) : 0;
}

int pp_sink_str(struct pp_sink *sink, const char *text, struct pp_error *err)
{
	return pp_sink_bytes(sink, text, strlen(text), err);
}

int pp_sink_u64(struct pp_sink *sink, uint64_t value, struct pp_error *err)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	return pp_sink_bytes(sink, digits + at, sizeof(digits) - at, err);
}

int pp_sink_i64(struct pp_sink *sink, int64_t value, struct pp_error *err)
{
	if (value < 0 && pp_sink_bytes(sink, "-", 1, err))
		return -1;
	return pp_sink_u64(sink, pp_abs_i64(value), err);
}

int pp_sink_printf(struct pp_sink *sink, struct pp_error *err, const char *format, ...)
{
	char text[4096];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(text))
		return pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "a formatted text is longer than %zu bytes",
		               sizeof(text) - 1);
	return pp_sink_bytes(sink, text, (size_t)n, err);
}

void pp_buf_release(struct pp_buf *buf)
{
	free(buf->bytes);
	*buf = (struct pp_buf)PP_BUF_INIT;
}

int pp_buf_append(struct pp_buf *buf, const void *bytes, size_t n, struct pp_error *err)
{
	size_t need;

	if (!pp_add_size(buf->n, n, &need) || !pp_add_size(need, 1, &need))
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	if (need > buf->capacity) {
		size_t room = buf->capacity ? buf->capacity : 256;
		char *moved;

		while (room < need)
			room = room > SIZE_MAX / 2 ? need : room * 2;
		moved = realloc(buf->bytes, room);
		if (!moved)
			return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
		buf->bytes = moved;
		buf->capacity = room;
	}
	if (n)
		memcpy(buf->bytes + buf->n, bytes, n);
	buf->n += n;
	buf->bytes[buf->n] = '\0';
	return 0;
}

static int write_buf(void *context, const void *bytes, size_t n, struct pp_error *err)
{
	return pp_buf_append(context, bytes, n, err);
}

struct pp_sink pp_buf_sink(struct pp_buf *buf)
{
	return (struct pp_sink){write_buf, buf};
}
