#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/unit.h"

static void test_find(void **state)
{
	static const struct {
		const char *name;
		enum pp_unit_family family;
		double factor;
	} known[] = {
		{"nanoseconds", PP_UNIT_TIME, 1}, {"ns", PP_UNIT_TIME, 1},          {"Microseconds", PP_UNIT_TIME, 1e3},
		{"\xce\xbcs", PP_UNIT_TIME, 1e3}, {"\xc2\xb5s", PP_UNIT_TIME, 1e3}, {"s", PP_UNIT_TIME, 1e9},
		{"secs", PP_UNIT_TIME, 1e9},      {"hrs", PP_UNIT_TIME, 3.6e12},    {"bytes", PP_UNIT_MEMORY, 1},
		{"kB", PP_UNIT_MEMORY, 1024},     {"megabytes", PP_UNIT_MEMORY, 1048576},
		{"GCU", PP_UNIT_GCU, 1e9},        {"nanogcu", PP_UNIT_GCU, 1},      {"count", PP_UNIT_NONE, 1},
		{"minutes", PP_UNIT_NONE, 1},     {"KiB", PP_UNIT_NONE, 1},         {"", PP_UNIT_NONE, 1},
		{"a name that is far too long to be a unit", PP_UNIT_NONE, 1},
	};
	double factor;

	(void)state;
	for (size_t i = 0; i < PP_COUNT(known); i++) {
		assert_int_equal(pp_unit_find(pp_str_of(known[i].name), &factor), known[i].family);
		assert_true(factor == known[i].factor);
	}
}

static void test_human(void **state)
{
	static const struct {
		int64_t value;
		const char *unit, *text;
	} cases[] = {
		{0, "nanoseconds", "0"},
		{1, "nanoseconds", "1ns"},
		{1500000000, "nanoseconds", "1.50s"},
		{-1500, "us", "-1.50ms"},
		{7200, "seconds", "2hrs"},
		{12939428, "bytes", "12.34MB"},
		{1024, "kB", "1MB"},
		{INT64_MIN, "bytes", "-8192PB"},
		{42, "count", "42"},
		{42, "", "42"},
		{42, "widgets", "42widgets"},
		{INT64_MIN, "count", "-9223372036854775808"},
		{5, "a unit with a name that has no place", "5"},
	};
	char out[32];

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++)
		assert_string_equal(pp_unit_human(out, sizeof out, cases[i].value, pp_str_of(cases[i].unit)),
		                    cases[i].text);
}

static void test_percent(void **state)
{
	char out[32];

	(void)state;
	assert_string_equal(pp_percent(out, sizeof out, 1, 8), "12.50%");
	assert_string_equal(pp_percent(out, sizeof out, -1, 8), "-12.50%");
	assert_string_equal(pp_percent(out, sizeof out, 9996, 10000), "100%");
	assert_string_equal(pp_percent(out, sizeof out, 9994, 10000), "99.94%");
	assert_string_equal(pp_percent(out, sizeof out, 1, 1000), "0.1%");
	assert_string_equal(pp_percent(out, sizeof out, 7, 123458296), "5.7e-06%");
	assert_string_equal(pp_percent(out, sizeof out, 0, 5), "0%");
	assert_string_equal(pp_percent(out, sizeof out, -5, 0), "0%");
	assert_string_equal(pp_percent(out, sizeof out, INT64_MIN, INT64_MAX), "-100%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_human),
		cmocka_unit_test(test_percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
