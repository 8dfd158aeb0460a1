#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/tsv.h"

static void assert_escapes(struct pp_str raw, char also, const char *text)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&buf);

	assert_int_equal(pp_escape(&sink, raw, also, &err), 0);
	assert_string_equal(buf.bytes ? buf.bytes : "", text);
	if (buf.bytes) {
		int64_t n = pp_unescape(buf.bytes, buf.n, 0, &err);
		assert_int_equal(n, raw.len);
		assert_memory_equal(buf.bytes, raw.ptr, raw.len);
	}
	pp_buf_release(&buf);
}

static void escapes_what_cannot_stand(void **state)
{
	(void)state;
	assert_escapes(PP_LIT(""), 0, "");
	assert_escapes(PP_LIT("main.f"), 0, "main.f");
	assert_escapes(PP_LIT("a\tb\nc\rd\\e"), 0, "a\\tb\\nc\\rd\\\\e");
	assert_escapes(PP_LIT("\0\x01\x7f"), 0, "\\x00\\x01\\x7f");
	assert_escapes(PP_LIT("a;b"), 0, "a;b");
	assert_escapes(PP_LIT("a;b"), ';', "a\\x3bb");
}

static void keeps_utf8_and_escapes_what_is_not(void **state)
{
	(void)state;
	assert_escapes(PP_LIT("h\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"), 0, "h\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
	assert_escapes(PP_LIT("\xff\xc3"), 0, "\\xff\\xc3");
	assert_escapes(PP_LIT("\xc0\x80"), 0, "\\xc0\\x80");         /* over-long */
	assert_escapes(PP_LIT("\xed\xa0\x80"), 0, "\\xed\\xa0\\x80"); /* surrogate */
	assert_escapes(PP_LIT("\xe2\x82;"), ';', "\\xe2\\x82\\x3b");
}

static void assert_no_escape(const char *text, uint64_t offset)
{
	struct pp_error err = PP_ERROR_INIT;
	char *copy = strdup(text);

	assert_int_equal(pp_unescape(copy, strlen(copy), 1000, &err), -1);
	assert_int_equal(err.code, PP_EFORMAT);
	assert_int_equal(err.offset, 1000 + offset);
	free(copy);
}

static void refuses_escapes_that_do_not_exist(void **state)
{
	(void)state;
	assert_no_escape("ab\\q", 2);
	assert_no_escape("\\", 0);
	assert_no_escape("a\\x4", 1);
	assert_no_escape("\\xg0", 0);
	assert_no_escape("abc\x01", 3);
	assert_no_escape("abc\x7f", 3);
}

/* A source that gives a byte at a time, so that every boundary is met. */
static int64_t read_byte(void *context, void *buf, size_t n, struct pp_error *err)
{
	struct pp_memory_source *memory = context;
	return n ? memory->source.read(memory->source.context, buf, 1, err) : 0;
}

static void reads_lines(void **state)
{
	static const char text[] = "one\n\ntwo\r\nthree";
	static const struct {
		const char *line;
		uint64_t offset;
	} expected[] = {{"one", 0}, {"", 4}, {"two", 5}, {"three", 10}};
	(void)state;

	for (int slow = 0; slow < 2; slow++) {
		struct pp_error err = PP_ERROR_INIT;
		struct pp_limits limits = PP_LIMITS_DEFAULT;
		struct pp_memory_source memory;
		pp_memory_source_init(&memory, text, sizeof(text) - 1);
		struct pp_source bytewise = {read_byte, &memory};
		struct pp_lines *lines = pp_lines_new(slow ? &bytewise : &memory.source, &limits, &err);
		char *line;
		size_t n;
		uint64_t offset;

		for (size_t i = 0; i < PP_COUNT(expected); i++) {
			assert_int_equal(pp_lines_next(lines, &line, &n, &offset, &err), 1);
			assert_string_equal(line, expected[i].line);
			assert_int_equal(n, strlen(expected[i].line));
			assert_int_equal(offset, expected[i].offset);
			assert_int_equal(pp_lines_number(lines), i + 1);
		}
		assert_int_equal(pp_lines_next(lines, &line, &n, &offset, &err), 0);
		pp_lines_free(lines);
	}
}

static void reads_lines_longer_than_its_buffer(void **state)
{
	size_t n = 300000;
	char *text = malloc(n + 2);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_memory_source memory;
	char *line;
	size_t line_n;
	uint64_t offset;
	(void)state;

	memset(text, 'x', n);
	memcpy(text + n, "\ny", 2);
	pp_memory_source_init(&memory, text, n + 2);
	struct pp_lines *lines = pp_lines_new(&memory.source, &limits, &err);
	assert_int_equal(pp_lines_next(lines, &line, &line_n, &offset, &err), 1);
	assert_int_equal(line_n, n);
	assert_int_equal(pp_lines_next(lines, &line, &line_n, &offset, &err), 1);
	assert_int_equal(offset, n + 1);
	assert_string_equal(line, "y");
	pp_lines_free(lines);

	limits.record_bytes = n - 1;
	pp_memory_source_init(&memory, text, n + 2);
	lines = pp_lines_new(&memory.source, &limits, &err);
	assert_int_equal(pp_lines_next(lines, &line, &line_n, &offset, &err), -1);
	assert_int_equal(err.code, PP_ELIMIT);
	assert_non_null(strstr(err.text, "line 1"));
	pp_lines_free(lines);
	free(text);
}

static void splits_at_tabs(void **state)
{
	char line[] = "a\t\tbc\t";
	struct pp_str fields[3];
	(void)state;

	assert_int_equal(pp_split_tabs(line, strlen(line), fields, 3), 4);
	assert_string_equal(fields[0].ptr, "a");
	assert_int_equal(fields[1].len, 0);
	assert_string_equal(fields[2].ptr, "bc");
	assert_int_equal(fields[2].len, 2);
}

static void parses_whole_numbers(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t value;
	} cases[] = {
		{"0", true, 0}, {"-1", true, -1}, {"0x1f", true, 31}, {"-0x10", true, -16},
		{"9223372036854775807", true, INT64_MAX}, {"-9223372036854775808", true, INT64_MIN},
		{"9223372036854775808", false, 0}, {"-9223372036854775809", false, 0}, {"", false, 0},
		{"-", false, 0}, {"+1", false, 0}, {" 1", false, 0}, {"1 ", false, 0}, {"1.0", false, 0},
		{"0x", false, 0}, {"1f", false, 0}, {"99999999999999999999999", false, 0},
	};
	uint64_t u;
	(void)state;

	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		int64_t value = 77;
		assert_int_equal(pp_parse_i64(pp_str_of(cases[i].text), &value), cases[i].ok);
		assert_int_equal(value, cases[i].ok ? cases[i].value : 77);
	}
	assert_true(pp_parse_u64(PP_LIT("18446744073709551615"), &u));
	assert_true(u == UINT64_MAX);
	assert_true(pp_parse_u64(PP_LIT("0xffffffffffffffff"), &u));
	assert_true(u == UINT64_MAX);
	assert_false(pp_parse_u64(PP_LIT("18446744073709551616"), &u));
	assert_false(pp_parse_u64(PP_LIT("-1"), &u));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_what_cannot_stand),
		cmocka_unit_test(keeps_utf8_and_escapes_what_is_not),
		cmocka_unit_test(refuses_escapes_that_do_not_exist),
		cmocka_unit_test(reads_lines),
		cmocka_unit_test(reads_lines_longer_than_its_buffer),
		cmocka_unit_test(splits_at_tabs),
		cmocka_unit_test(parses_whole_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
