#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/error.h"

static void text_is_made_printable(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *shown;
	} cases[] = {
		{"", 0, ""},
		{"plain", 5, "plain"},
		{"a\tb\nc", 5, "a\\x09b\\x0ac"},
		{"\x1b[31m", 5, "\\x1b[31m"},
		{"nul\0in", 6, "nul\\x00in"},
		{"\x7f", 1, "\\x7f"},
		{"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5", 14, "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5"},
		{"\xc2\x9b" "31m", 5, "\\xc2\\x9b31m"},          /* a C1 control: CSI */
		{"\xc2\xa0", 2, "\xc2\xa0"},                      /* the first that is none */
		{"\xc0\xaf", 2, "\\xc0\\xaf"},                    /* over-long */
		{"\xe0\x80\xaf", 3, "\\xe0\\x80\\xaf"},           /* over-long */
		{"\xed\xa0\x80", 3, "\\xed\\xa0\\x80"},           /* a surrogate */
		{"\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"},  /* above U+10FFFF */
		{"\xe2\x82", 2, "\\xe2\\x82"},                    /* cut off */
		{"\xff", 1, "\\xff"},
		{"\x80", 1, "\\x80"},
	};
	char out[100];

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++)
		assert_string_equal(pp_printable(out, sizeof(out), cases[i].bytes, cases[i].n), cases[i].shown);
}

static void text_that_does_not_fit_is_cut(void **state)
{
	static const struct {
		size_t room;
		const char *bytes, *shown;
	} cases[] = {
		{1, "a", ""},          {2, "a", "a"},           {1, "", ""},
		{6, "abcde", "abcde"}, {6, "abcdef", "ab..."},  {4, "abcdef", "..."},
		{3, "abcdef", ".."},   {2, "abcdef", "."},      {8, "ab\n\n", "ab..."},
		{8, "a\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", "a\xe2\x82\xac..."}, /* never inside a character */
	};
	char out[16];

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		memset(out, '#', sizeof(out));
		pp_printable(out, cases[i].room, cases[i].bytes, strlen(cases[i].bytes));
		assert_string_equal(out, cases[i].shown);
		assert_int_equal(out[cases[i].room], '#');
	}
}

static void the_first_failure_wins(void **state)
{
	struct pp_error err = PP_ERROR_INIT;

	(void)state;
	assert_int_equal(pp_fail(&err, PP_ELIMIT, 7, "first %d\n", 1), -1);
	assert_int_equal(pp_fail(&err, PP_ENOMEM, 8, "second"), -1);
	assert_int_equal(err.code, PP_ELIMIT);
	assert_int_equal(err.offset, 7);
	assert_string_equal(err.text, "first 1\\x0a");
}

static void a_long_failure_is_cut_and_terminated(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	char name[1000];

	(void)state;
	memset(name, 1, sizeof(name)); /* each becomes four characters */
	name[sizeof(name) - 1] = '\0';
	pp_fail(&err, PP_EFORMAT, 0, "%s", name);
	assert_true(strlen(err.text) < sizeof(err.text));
	assert_string_equal(err.text + strlen(err.text) - 7, "\\x01...");
}

static void codes_have_names(void **state)
{
	(void)state;
	assert_string_equal(pp_code_name(PP_OK), "ok");
	assert_string_equal(pp_code_name(PP_EFORMAT), "format");
	assert_string_equal(pp_code_name(PP_EIO), "io");
	assert_string_equal(pp_code_name((enum pp_code)99), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_made_printable),
		cmocka_unit_test(text_that_does_not_fit_is_cut),
		cmocka_unit_test(the_first_failure_wins),
		cmocka_unit_test(a_long_failure_is_cut_and_terminated),
		cmocka_unit_test(codes_have_names),
	};

	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
