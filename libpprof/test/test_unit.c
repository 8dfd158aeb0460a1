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

static void test_choose(void **state)
{
	static const struct {
		const char *from, *asked, *chosen; /* NULL: refused */
	} cases[] = {
		{"nanoseconds", "milliseconds", "ms"}, {"nanoseconds", "\xc2\xb5s", "us"}, {"bytes", "kb", "kB"},
		{"GCU", "nanogcu", "n*GCU"},           {"count", "count", "count"},        {"count", "ms", NULL},
		{"nanoseconds", "MB", NULL},           {"nanoseconds", "bogus", NULL},     {"bytes", "count", NULL},
		{"", "", NULL},                        {"widgets", "widget", NULL},        {"nanoseconds", "", NULL},
	};
	struct pp_str chosen;
	char out[100];

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		const int status = pp_unit_choose(pp_str_of(cases[i].from), pp_str_of(cases[i].asked), &chosen);
		assert_int_equal(status, cases[i].chosen ? 0 : -1);
		if (cases[i].chosen)
			assert_true(pp_str_eq(chosen, pp_str_of(cases[i].chosen)));
	}
	assert_string_equal(pp_unit_names(out, sizeof out, PP_LIT("seconds")), "ns, us, ms, s, hrs");
	assert_string_equal(pp_unit_names(out, sizeof out, PP_LIT("widgets")), "widgets");
	assert_string_equal(pp_unit_names(out, 8, PP_LIT("seconds")), "ns, us,");
}

static void test_decimal(void **state)
{
	static const struct {
		int64_t value;
		const char *from, *to, *text;
	} cases[] = {
		{123456789, "ns", "ms", "123.456789"},
		{-123456789, "ns", "s", "-0.123456789"},
		{1, "ns", "hrs", "0.000000000000277777777777778"},
		{1500, "ms", "ns", "1500000000"},
		{INT64_MAX, "bytes", "B", "9223372036854775807"},
		{INT64_MIN, "bytes", "B", "-9223372036854775808"},
		{999999999999999, "ns", "us", "999999999999.999"},
		{9999999999999996, "ns", "us", "10000000000000"},
		{512, "bytes", "kB", "0.5"},
		{1000000, "ns", "ms", "1"},
		{0, "ns", "hrs", "0"},
		{7, "count", "count", "7"},
		{1, "nanogcu", "P*GCU", "0.000000000000000000000001"},
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++)
		assert_string_equal(pp_unit_decimal(out, sizeof out, cases[i].value, pp_str_of(cases[i].from),
		                                    pp_str_of(cases[i].to)),
		                    cases[i].text);
	assert_string_equal(pp_unit_decimal_real(out, sizeof out, 1234567.891234, PP_LIT("ns"), PP_LIT("ms")),
	                    "1.234567891");
	assert_string_equal(pp_unit_decimal_real(out, sizeof out, -0.0, PP_LIT("ns"), PP_LIT("ms")), "0");
	assert_string_equal(pp_unit_decimal_real(out, sizeof out, 2.5, PP_LIT("count"), PP_LIT("count")), "2.5");
}

static void test_of_report(void **state)
{
	static const struct {
		int64_t least, total;
		const char *from, *unit;
	} cases[] = {
		{10, 65, "milliseconds", "ms"},
		{10, 5000, "milliseconds", "s"},     /* 1s is 100 times 10ms */
		{10, 1000, "milliseconds", "ms"},    /* 100 times the smallest is the total and not less */
		{1, 3600, "seconds", "s"},           /* 100s is no hour */
		{100, 720000, "seconds", "hrs"},
		{0, 3600, "seconds", "hrs"},
		{0, 0, "nanoseconds", "s"},
		{1, INT64_MAX, "nanoseconds", "ns"},
		{700, 11360276, "bytes", "kB"},
		{1, 1000, "count", "count"},
	};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		const struct pp_str unit = pp_unit_of_report(cases[i].least, cases[i].total, pp_str_of(cases[i].from));
		assert_true(pp_str_eq(unit, pp_str_of(cases[i].unit)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_human),
		cmocka_unit_test(test_percent),
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_decimal),
		cmocka_unit_test(test_of_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
