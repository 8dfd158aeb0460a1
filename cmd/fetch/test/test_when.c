#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/fetch/when.h"

static void durations_are_read(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ms;
	} good[] = {
		{"0", 0}, {"1s", 1000}, {"500ms", 500}, {"1h30m", 5400000}, {"1d", 86400000}, {"1w2d", 777600000}, {"1m1s1ms", 61001},
	};
	static const char *const bad[] = {"", "1", "h", "1.5h", "30m1h", "1h1h", "1x", "-1h", "99999999999y", " 1h", "1h "};
	int64_t ms;

	for (size_t i = 0; i < PP_COUNT(good); i++) {
		assert_true(when_duration(good[i].text, &ms));
		assert_int_equal(ms, good[i].ms);
	}
	for (size_t i = 0; i < PP_COUNT(bad); i++)
		if (when_duration(bad[i], &ms))
			fail_msg("'%s' is a duration of %lld ms", bad[i], (long long)ms);
}

static void limits_are_found_in_refusals(void **state)
{
	(void)state;
	int64_t ms;

	assert_true(when_limit("HTTP 400 invalid_argument: the query time range exceeds the limit "
	                       "(max_query_length, actual: 24h0m0.001s, limit: 1d)", &ms));
	assert_int_equal(ms, 86400000);
	assert_true(when_limit("(max_query_length, actual: 25h0m0s, limit: 12h30m)", &ms));
	assert_int_equal(ms, 45000000);
	assert_false(when_limit("max flamegraph nodes limit 1000 is greater than allowed 100", &ms));
	assert_false(when_limit("(max_query_length, actual: 25h0m0s, limit: )", &ms));
	assert_false(when_limit("(max_query_length, limit: 0)", &ms));
	assert_false(when_limit("(max_query_length, limit: 111111111111111111111111111111111111h)", &ms));
}

static void windows_are_read(void **state)
{
	(void)state;
	struct window window;

	assert_int_equal(when_window(&(struct when_options){"2026-11-30T22:00:00Z", "2026-11-30T23:30:00+00:30", NULL}, &window), CLI_OK);
	assert_int_equal(window.from_ms, INT64_C(1796076000000));
	assert_int_equal(window.to_ms, INT64_C(1796079600000));
	assert_int_equal(when_window(&(struct when_options){"1796076000.25", "1796079600", NULL}, &window), CLI_OK);
	assert_int_equal(window.from_ms, INT64_C(1796076000250));
	assert_int_equal(when_window(&(struct when_options){NULL, "1796079600", "90m"}, &window), CLI_OK);
	assert_int_equal(window.from_ms, INT64_C(1796074200000));
	assert_int_equal(when_window(&(struct when_options){"now-2h", "now", NULL}, &window), CLI_OK);
	assert_int_equal(window.to_ms - window.from_ms, 7200000);
	assert_int_equal(when_window(&(struct when_options){NULL, NULL, NULL}, &window), CLI_OK);
	assert_int_equal(window.to_ms - window.from_ms, 3600000);
}

static void mistakes_are_usage(void **state)
{
	(void)state;
	static const struct when_options bad[] = {
		{"now-1h", NULL, NULL}, {NULL, "now", NULL}, {"now-2h", "now-1h", "1h"}, {"now", "now-1h", NULL}, {"yesterday", "now", NULL},
		{"now-1q", "now", NULL}, {"now1h", "now", NULL}, {"1796076000000", "1796079600000", NULL}, {NULL, NULL, "0"}, {NULL, NULL, "1"},
		{"0", "1796079600", NULL}, {"1e3", "now", NULL}, {"nan", "now", NULL}, {"1.2.3", "now", NULL},
	};
	struct window window;

	for (size_t i = 0; i < PP_COUNT(bad); i++)
		if (when_window(&bad[i], &window) != CLI_USAGE)
			fail_msg("window %zu is taken", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_read),
		cmocka_unit_test(limits_are_found_in_refusals),
		cmocka_unit_test(windows_are_read),
		cmocka_unit_test(mistakes_are_usage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
