#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/legacy.h"

#define BUFFER_BYTES 65536

/* ---- bytes ---- */

/* Fills the buffer to at least want bytes as far as there are. */
static int fill(struct pp_legacy *l, size_t want)
{
	if (l->at > 0 && l->end - l->at < want) {
		memmove(l->buffer, l->buffer + l->at, l->end - l->at);
		l->end -= l->at;
		l->at = 0;
	}
	while (l->end - l->at < want && !l->at_end) {
		int64_t n = l->source->read(l->source->context, l->buffer + l->end, BUFFER_BYTES - l->end, l->err);
		if (n < 0)
			return -1;
		l->at_end = n == 0;
		l->end += (size_t)n;
	}
	return 0;
}

/* Gives the bytes up to the next newline at most, so that words can follow a line. */
static int64_t read_line_bytes(void *context, void *out, size_t n, struct pp_error *err)
{
	struct pp_legacy *l = context;
	(void)err;
	if (fill(l, 1) < 0)
		return -1;
	size_t have = l->end - l->at;
	if (have < n)
		n = have;
	const unsigned char *newline = n ? memchr(l->buffer + l->at, '\n', n) : NULL;
	if (newline)
		n = (size_t)(newline - (l->buffer + l->at)) + 1;
	memcpy(out, l->buffer + l->at, n);
	l->at += n;
	l->line_bytes += n;
	return (int64_t)n;
}

int pp_legacy_open(struct pp_legacy *l, struct pp_source *source)
{
	l->source = source;
	l->line_source = (struct pp_source){read_line_bytes, l};
	l->buffer = malloc(BUFFER_BYTES);
	if (!l->buffer)
		return pp_fail(l->err, PP_ENOMEM, PP_NO_OFFSET, "no memory to read a profile");
	l->lines = pp_lines_new(&l->line_source, &l->options->limits, l->err);
	return l->lines ? 0 : -1;
}

void pp_legacy_close(struct pp_legacy *l)
{
	pp_lines_free(l->lines);
	free(l->buffer);
}

int pp_legacy_next(struct pp_legacy *l)
{
	char *line;
	size_t n;
	uint64_t offset;
	int more = pp_lines_next(l->lines, &line, &n, &offset, l->err);
	l->line = (struct pp_str){"", 0};
	if (more <= 0)
		return more;
	l->line = pp_legacy_trim((struct pp_str){line, n});
	line[(size_t)(l->line.ptr - line) + l->line.len] = '\0';
	l->line_offset = offset + l->word_bytes;
	return 1;
}

int pp_legacy_word(struct pp_legacy *l, size_t size, bool big_endian, uint64_t *word, bool *cut)
{
	if (fill(l, size) < 0)
		return -1;
	if (l->end - l->at < size) {
		*cut = l->end > l->at;
		return 0;
	}
	*word = 0;
	for (size_t i = 0; i < size; i++)
		*word = *word << 8 | l->buffer[l->at + (big_endian ? i : size - 1 - i)];
	l->at += size;
	l->word_bytes += size;
	return 1;
}

int64_t pp_legacy_peek(struct pp_legacy *l, const unsigned char **bytes)
{
	if (fill(l, PP_SNIFF_BYTES) < 0)
		return -1;
	size_t n = l->end - l->at;
	*bytes = l->buffer + l->at;
	return (int64_t)(n < PP_SNIFF_BYTES ? n : PP_SNIFF_BYTES);
}

uint64_t pp_legacy_offset(const struct pp_legacy *l)
{
	return l->word_bytes + l->line_bytes;
}

/* ---- one line ---- */

int pp_legacy_fail(struct pp_legacy *l, enum pp_code code, const char *format, ...)
{
	char text[300];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return pp_fail(l->err, code, l->line_offset, "line %" PRIu64 ": %s", pp_lines_number(l->lines), text);
}

int pp_legacy_bad_line(struct pp_legacy *l, const char *reason)
{
	if (l->options->strictness == PP_STRICT)
		return pp_legacy_fail(l, PP_EFORMAT, "%s", reason);
	return pp_build_note(l->build, l->line_offset, "a line that cannot be read (%s); dropped", reason);
}

bool pp_legacy_blank(const struct pp_legacy *l)
{
	return l->line.len == 0 || l->line.ptr[0] == '#';
}

bool pp_legacy_begins(struct pp_str text, const char *prefix)
{
	size_t n = strlen(prefix);
	return text.len >= n && memcmp(text.ptr, prefix, n) == 0;
}

bool pp_legacy_holds(struct pp_str text, const char *part)
{
	size_t n = strlen(part);
	for (size_t i = 0; i + n <= text.len; i++)
		if (memcmp(text.ptr + i, part, n) == 0)
			return true;
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct pp_str pp_legacy_trim(struct pp_str text)
{
	while (text.len > 0 && is_blank(text.ptr[0]))
		text = (struct pp_str){text.ptr + 1, text.len - 1};
	while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
		text.len--;
	return text;
}

static void advance(struct pp_str *text, size_t n)
{
	*text = (struct pp_str){text->ptr + n, text->len - n};
}

bool pp_take(struct pp_str *text, const char *literal)
{
	if (!pp_legacy_begins(*text, literal))
		return false;
	advance(text, strlen(literal));
	return true;
}

bool pp_take_blanks(struct pp_str *text)
{
	size_t n = 0;
	while (n < text->len && is_blank(text->ptr[n]))
		n++;
	advance(text, n);
	return n > 0;
}

bool pp_take_number(struct pp_str *text, int64_t *value)
{
	size_t n = text->len > 0 && text->ptr[0] == '-';
	while (n < text->len && text->ptr[n] >= '0' && text->ptr[n] <= '9')
		n++;
	if (!pp_parse_i64((struct pp_str){text->ptr, n}, value))
		return false;
	advance(text, n);
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool pp_take_hex(struct pp_str *text, uint64_t *value)
{
	uint64_t sum = 0;
	size_t n = 0;
	for (int digit; n < text->len && (digit = hex_digit(text->ptr[n])) >= 0; n++) {
		if (sum >> 60)
			return false;
		sum = sum << 4 | (unsigned)digit;
	}
	if (n == 0)
		return false;
	*value = sum;
	advance(text, n);
	return true;
}

bool pp_take_word(struct pp_str *text, struct pp_str *word)
{
	size_t n = 0;
	while (n < text->len && !is_blank(text->ptr[n]))
		n++;
	*word = (struct pp_str){text->ptr, n};
	advance(text, n);
	return n > 0;
}
