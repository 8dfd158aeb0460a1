#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/regex.h"

static bool match(const char *pattern, bool anchored, const char *subject)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_regex *regex = pp_regex_new(pp_str_of(pattern), anchored, &err);
	bool matches = false;

	assert_string_equal(err.text, "");
	assert_non_null(regex);
	assert_int_equal(pp_regex_match(regex, pp_str_of(subject), &matches, &err), 0);
	pp_regex_free(regex);
	return matches;
}

static void test_search(void **state)
{
	(void)state;
	assert_true(match("lo+", false, "hello world"));
	assert_true(match("", false, ""));
	assert_true(match("^hello", false, "hello\nworld"));
	assert_false(match("^world", false, "hello\nworld"));
	assert_true(match("(?m)^world$", false, "hello\nworld\n"));
	assert_true(match("world$", false, "hello\nworld"));
	assert_false(match("world$", false, "hello world\n"));
	assert_false(match("o.w", false, "hello\nworld"));
	assert_true(match("(?s)o.w", false, "hello\nworld"));
	assert_true(match("(?i)HELLO", false, "hello"));
	assert_true(match("\\bb", false, "a b"));
	assert_false(match("\\bb", false, "ab"));
	assert_true(match("runtime\\.(mcall|gopark)", false, "runtime.gopark"));
	assert_true(match("x{2,3}y", false, "xxxy"));
	assert_true(match("x{,3}", false, "x{,3}"));
	assert_true(match("[[:alpha:]]+[^[:space:]]\\d", false, "ab7"));
	assert_true(match("[]a]", false, "]"));
	assert_true(match("\\Qa.b(\\E+", false, "a.b(("));
	assert_true(match("(?P<name>a)(?:b)??", false, "a"));
	assert_true(match("\\p{Greek}", false, "\xce\xbc"));
}

static void test_anchored(void **state)
{
	(void)state;
	assert_true(match("a|ab", true, "ab"));
	assert_false(match("a|b", true, "ab"));
	assert_false(match("malloc", true, "malloc\n"));
	assert_true(match("operator new.*", true, "operator new[]"));
	assert_false(match("malloc", true, "tcmalloc"));
	assert_false(match("(?m)^a$", true, "a\n"));
}

/* Each byte that is not UTF-8 is one U+FFFD. */
static void test_invalid_utf8_subject(void **state)
{
	(void)state;
	assert_true(match("a..b", true, "a\xff\xfe" "b"));
	assert_true(match("a\\x{FFFD}b", true, "a\xff" "b"));
	assert_true(match("\xc3\xa4.", true, "\xc3\xa4\xc3"));
	assert_false(match("a.b", true, "a\xff\xfe" "b"));
}

static void test_refusals(void **state)
{
	static const struct {
		const char *pattern, *part;
	} cases[] = {
		{"(?=a)", "position 0: look-ahead"},      {"a(?!b)", "position 1: look-ahead"},
		{"(?<=a)b", "look-behind"},               {"(?<!a)b", "look-behind"},
		{"(a)\\1", "position 3: back references"}, {"(?P=x)", "back references"},
		{"(?>a)", "atomic"},                      {"a++", "position 2: possessive"},
		{"a{2}+", "possessive"},                  {"a**", "a repeat of a repeat"},
		{"a??*", "a repeat of a repeat"},         {"(?R)", "recursion"},
		{"(?1)", "recursion"},                    {"(?(1)a)", "conditions"},
		{"(*ACCEPT)", "verbs"},                   {"(?#x)", "comments"},
		{"(?x)a b", "a flag"},                    {"\\Ka", "an escape that RE2 does not have"},
		{"[\\R]", "an escape"},                   {"a{1001}", "more than 1000"},
		{"[[:<:]]", "a class"},                   {"[a", "a class that does not end"},
		{"(a", "'(a': position 2: missing"},      {"a)", "position 2: unmatched"},
		{"*a", "position 0: quantifier"},         {"a\xff", "position 1: not UTF-8"},
	};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct pp_error err = PP_ERROR_INIT;
		assert_null(pp_regex_new(pp_str_of(cases[i].pattern), i % 2 == 0, &err));
		assert_int_equal(err.code, PP_EUSAGE);
		if (!strstr(err.text, cases[i].part))
			fail_msg("%s: %s", cases[i].pattern, err.text);
	}
}

static void test_long_pattern_is_refused(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	char *pattern = malloc(100000);

	(void)state;
	assert_non_null(pattern);
	memset(pattern, 'a', 100000);
	assert_null(pp_regex_new((struct pp_str){pattern, 100000}, false, &err));
	assert_int_equal(err.code, PP_EUSAGE);
	free(pattern);
}

/* Patterns that take a backtracking matcher for ever. Classes, so that no byte is known to be missing. */
static void test_no_blow_up(void **state)
{
	char subject[5001];

	(void)state;
	memset(subject, 'a', sizeof subject - 1);
	subject[sizeof subject - 1] = '\0';
	assert_false(match("(a*)*[bc]", false, subject));
	assert_false(match("(a|aa)+[bc]$", false, subject));
	assert_false(match("(.*)(.*)(.*)(.*)(.*)[bc]", true, subject));
}

static void test_too_many_states_is_a_limit(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_regex *regex = pp_regex_new(PP_LIT("(a?){900}(a?){900}(a?){900}b"), true, &err);
	char subject[3000];
	bool matches;

	(void)state;
	assert_non_null(regex);
	memset(subject, 'a', sizeof subject);
	subject[sizeof subject - 1] = 'b';
	assert_int_equal(pp_regex_match(regex, (struct pp_str){subject, sizeof subject}, &matches, &err), -1);
	assert_int_equal(err.code, PP_ELIMIT);
	pp_regex_free(regex);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_anchored),
		cmocka_unit_test(test_invalid_utf8_subject),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_long_pattern_is_refused),
		cmocka_unit_test(test_no_blow_up),
		cmocka_unit_test(test_too_many_states_is_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
