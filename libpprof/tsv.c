#include "libpprof/tsv.h"

#include <stdlib.h>
#include <string.h>

#include "libpprof/utf8.h"

#define READ_BYTES 65536

static const char hex_digits[] = "0123456789abcdef";

size_t pp_hex_escape(unsigned char c, char out[PP_ESCAPE_MAX])
{
	out[0] = '\\';
	out[1] = 'x';
	out[2] = hex_digits[c >> 4];
	out[3] = hex_digits[c & 15];
	return PP_ESCAPE_MAX;
}

/* The escape of one byte that cannot stand for itself, in out. Returns its length. */
static size_t escape_of(unsigned char c, char out[PP_ESCAPE_MAX])
{
	out[0] = '\\';
	switch (c) {
	case '\t': out[1] = 't'; return 2;
	case '\n': out[1] = 'n'; return 2;
	case '\r': out[1] = 'r'; return 2;
	case '\\': out[1] = '\\'; return 2;
	default: return pp_hex_escape(c, out);
	}
}

int pp_escape(struct pp_sink *sink, struct pp_str bytes, char also, struct pp_error *err)
{
	size_t plain = 0, at = 0;
	while (at < bytes.len) {
		unsigned char c = (unsigned char)bytes.ptr[at];
		size_t run = 1;
		if (c >= 0x80)
			run = pp_utf8_length(bytes.ptr + at, bytes.len - at);
		else if (c < 0x20 || c == 0x7f || c == '\\' || (also != 0 && c == (unsigned char)also))
			run = 0;
		if (run > 0) {
			at += run;
			continue;
		}
		char text[PP_ESCAPE_MAX];
		if (pp_sink_bytes(sink, bytes.ptr + plain, at - plain, err) < 0 ||
		    pp_sink_bytes(sink, text, escape_of(c, text), err) < 0)
			return -1;
		plain = ++at;
	}
	return pp_sink_bytes(sink, bytes.ptr + plain, at - plain, err);
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int pp_hex_byte(const char *two)
{
	int high = hex_value(two[0]), low = high < 0 ? -1 : hex_value(two[1]);
	return low < 0 ? -1 : high * 16 + low;
}

/* The byte that the escape at text (a backslash, n bytes left) stands for, and its length; -1 for none. */
static int unescape_one(const char *text, size_t n, size_t *length)
{
	*length = 2;
	switch (n > 1 ? text[1] : 0) {
	case 't': return '\t';
	case 'n': return '\n';
	case 'r': return '\r';
	case '\\': return '\\';
	case 'x': *length = 4; return n >= 4 ? pp_hex_byte(text + 2) : -1;
	default: return -1;
	}
}

int64_t pp_unescape(char *bytes, size_t n, uint64_t offset, struct pp_error *err)
{
	size_t out = 0;
	for (size_t at = 0; at < n;) {
		unsigned char c = (unsigned char)bytes[at];
		if (c < 0x20 || c == 0x7f)
			return pp_fail(err, PP_EFORMAT, offset + at, "a control byte that is not escaped");
		if (c != '\\') {
			bytes[out++] = bytes[at++];
			continue;
		}
		size_t length;
		int value = unescape_one(bytes + at, n - at, &length);
		if (value < 0)
			return pp_fail(err, PP_EFORMAT, offset + at, "'%.*s' is not an escape",
			               (int)(n - at < length ? n - at : length), bytes + at);
		bytes[out++] = (char)value;
		at += length;
	}
	if (out < n)
		bytes[out] = '\0';
	return (int64_t)out;
}

struct pp_lines {
	struct pp_source *source;
	uint64_t line_bytes_max;
	char *buffer;
	size_t capacity;     /* one byte more is allocated, for the NUL after a last line */
	size_t begin, end;   /* of what is read and not yet returned */
	uint64_t base;       /* offset of buffer[0] in the input */
	uint64_t number;
	bool at_end;
};

struct pp_lines *pp_lines_new(struct pp_source *source, const struct pp_limits *limits, struct pp_error *err)
{
	struct pp_lines *lines = calloc(1, sizeof(*lines));
	char *buffer = malloc(READ_BYTES + 1);
	if (!lines || !buffer) {
		free(lines);
		free(buffer);
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to read lines");
		return NULL;
	}
	*lines = (struct pp_lines){.source = source, .line_bytes_max = limits->record_bytes,
	                           .buffer = buffer, .capacity = READ_BYTES};
	return lines;
}

void pp_lines_free(struct pp_lines *lines)
{
	if (!lines)
		return;
	free(lines->buffer);
	free(lines);
}

/* Reads more behind what is there, after making room for it. */
static int fill(struct pp_lines *lines, struct pp_error *err)
{
	size_t kept = lines->end - lines->begin;
	if (kept > lines->line_bytes_max)
		return pp_fail(err, PP_ELIMIT, lines->base + lines->begin, "line %llu: longer than %llu bytes",
		               (unsigned long long)lines->number + 1, (unsigned long long)lines->line_bytes_max);
	if (lines->begin > 0) {
		memmove(lines->buffer, lines->buffer + lines->begin, kept);
		lines->base += lines->begin;
		lines->begin = 0;
		lines->end = kept;
	}
	if (kept == lines->capacity) {
		char *larger = lines->capacity > SIZE_MAX / 4 ? NULL : realloc(lines->buffer, lines->capacity * 2 + 1);
		if (!larger)
			return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a line of %zu bytes", kept);
		lines->buffer = larger;
		lines->capacity *= 2;
	}
	int64_t got = lines->source->read(lines->source->context, lines->buffer + lines->end,
	                                  lines->capacity - lines->end, err);
	if (got < 0)
		return -1;
	lines->at_end = got == 0;
	lines->end += (size_t)got;
	return 0;
}

int pp_lines_next(struct pp_lines *lines, char **line, size_t *n, uint64_t *offset, struct pp_error *err)
{
	char *newline = NULL;
	size_t seen = 0;
	for (;;) {
		size_t have = lines->end - lines->begin;
		if (have > seen)
			newline = memchr(lines->buffer + lines->begin + seen, '\n', have - seen);
		if (newline || lines->at_end)
			break;
		seen = have;
		if (fill(lines, err) < 0)
			return -1;
	}
	if (!newline && lines->begin == lines->end)
		return 0;
	char *begin = lines->buffer + lines->begin, *end = newline ? newline : lines->buffer + lines->end;
	size_t length = (size_t)(end - begin);
	if (length > lines->line_bytes_max)
		return pp_fail(err, PP_ELIMIT, lines->base + lines->begin, "line %llu: longer than %llu bytes",
		               (unsigned long long)lines->number + 1, (unsigned long long)lines->line_bytes_max);
	*offset = lines->base + lines->begin;
	lines->begin += length + (newline ? 1 : 0);
	lines->number++;
	if (length > 0 && end[-1] == '\r')
		length--;
	begin[length] = '\0';
	*line = begin;
	*n = length;
	return 1;
}

uint64_t pp_lines_number(const struct pp_lines *lines)
{
	return lines->number;
}

size_t pp_split_tabs(char *line, size_t n, struct pp_str *fields, size_t fields_n)
{
	size_t count = 0, begin = 0;
	for (;;) {
		char *tab = memchr(line + begin, '\t', n - begin);
		size_t end = tab ? (size_t)(tab - line) : n;
		if (count < fields_n)
			fields[count] = (struct pp_str){line + begin, end - begin};
		count++;
		line[end] = '\0';
		if (!tab)
			return count;
		begin = end + 1;
	}
}

/* Digits of a magnitude: decimal, or hexadecimal after 0x. */
static bool parse_magnitude(const char *s, size_t n, uint64_t *value)
{
	unsigned base = 10;
	if (n > 2 && s[0] == '0' && s[1] == 'x') {
		base = 16;
		s += 2;
		n -= 2;
	}
	if (n == 0)
		return false;
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		int digit = hex_value(s[i]);
		if (digit < 0 || (unsigned)digit >= base || __builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)digit, &sum))
			return false;
	}
	*value = sum;
	return true;
}

bool pp_parse_i64(struct pp_str text, int64_t *value)
{
	bool negative = text.len > 0 && text.ptr[0] == '-';
	uint64_t magnitude;
	if (!parse_magnitude(text.ptr + negative, text.len - negative, &magnitude) ||
	    magnitude > (uint64_t)INT64_MAX + negative)
		return false;
	/* By way of unsigned, so that INT64_MIN needs no special case. */
	*value = (int64_t)(negative ? 0 - magnitude : magnitude);
	return true;
}

bool pp_parse_u64(struct pp_str text, uint64_t *value)
{
	return parse_magnitude(text.ptr, text.len, value);
}
