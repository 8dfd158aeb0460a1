#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/build.h"
#include "libpprof/samplecount.h"

/* One sample; types are "type:unit", up to a NULL, with a value each. */
static struct pp_profile *make(const char *const *types, const int64_t *values, const char *period_type,
                               const char *period_unit, int64_t period)
{
	const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *b = pp_build_new(&limits, &err);

	for (; *types; types++) {
		const char *colon = strchr(*types, ':');
		const struct pp_str type = {*types, (size_t)(colon - *types)};
		pp_build_sample_type(b, (struct pp_value_type){pp_build_string(b, type),
		                                               pp_build_string(b, pp_str_of(colon + 1))});
	}
	pp_build_sample(b, pp_build_stack(b, NULL, 0), 0, values);
	pp_build_profile(b)->period_type.type = pp_build_string(b, pp_str_of(period_type));
	pp_build_profile(b)->period_type.unit = pp_build_string(b, pp_str_of(period_unit));
	pp_build_profile(b)->period = period;
	struct pp_profile *p = pp_build_finish(b, &err);
	pp_build_free(b);
	assert_non_null(p);
	return p;
}

/* The rule of a column of a profile (which is freed here), and the count of its sample. */
static void expect(struct pp_profile *p, uint32_t column, enum pp_count_method method, double count)
{
	struct pp_count_rule rule;

	pp_count_rule_for(p, column, &rule);
	assert_int_equal(rule.method, method);
	assert_non_null(rule.reason);
	assert_true(fabs(pp_sample_count(p, &rule, 0) - count) < 1e-4);
	pp_profile_free(p);
}

static void test_count_column(void **state)
{
	static const char *const cpu[] = {"samples:count", "cpu:nanoseconds", NULL};
	static const char *const delay[] = {"contentions:count", "delay:nanoseconds", NULL};
	static const int64_t values[] = {7, 70000000};

	(void)state;
	expect(make(cpu, values, "cpu", "nanoseconds", 10000000), 1, PP_COUNT_COLUMN, 7);
	expect(make(cpu, values, "cpu", "nanoseconds", 10000000), 0, PP_COUNT_SELF, 7);
	expect(make(delay, values, "contentions", "count", 1), 1, PP_COUNT_COLUMN, 7);
	expect(make(delay, values, "contentions", "count", 1), 0, PP_COUNT_SELF, 7);
}

static void test_period(void **state)
{
	static const char *const cpu[] = {"cpu:nanoseconds", NULL};
	static const char *const cycles[] = {"cycles:count", NULL};
	static const int64_t values[] = {70000000}, negative[] = {-70000000};

	(void)state;
	expect(make(cpu, values, "cpu", "nanoseconds", 10000000), 0, PP_COUNT_PERIOD, 7);
	expect(make(cpu, values, "cpu", "milliseconds", 10), 0, PP_COUNT_PERIOD, 7);
	expect(make(cpu, negative, "cpu", "nanoseconds", 10000000), 0, PP_COUNT_PERIOD, 0);
	expect(make(cycles, values, "cycles", "count", 1000000), 0, PP_COUNT_PERIOD, 70);
}

static void test_not_measured(void **state)
{
	static const char *const cpu[] = {"cpu:nanoseconds", NULL};
	static const char *const bytes[] = {"inuse_space:bytes", NULL};
	static const int64_t values[] = {70000000};

	(void)state;
	expect(make(cpu, values, "", "", 0), 0, PP_COUNT_NOT_MEASURED, 0);
	expect(make(cpu, values, "cpu", "nanoseconds", 0), 0, PP_COUNT_NOT_MEASURED, 0);
	expect(make(cpu, values, "wall", "nanoseconds", 10000000), 0, PP_COUNT_NOT_MEASURED, 0);
	/* Periods that exporters make up. */
	expect(make(cpu, values, "cpu", "nanoseconds", 1), 0, PP_COUNT_NOT_MEASURED, 0);
	expect(make(cpu, values, "cpu", "nanoseconds", 1000000000), 0, PP_COUNT_NOT_MEASURED, 0);
	expect(make(bytes, values, "space", "bytes", 524288), 0, PP_COUNT_NOT_MEASURED, 0);
}

static void test_heap(void **state)
{
	static const char *const heap[] = {"alloc_objects:count", "alloc_space:bytes", NULL};
	/* One hit on a 48-byte object at a rate of 512 KiB stands for 10923 objects. */
	static const int64_t small[] = {10923, 524304}, large[] = {3, 300000000}, empty[] = {0, 0};

	(void)state;
	expect(make(heap, small, "space", "bytes", 524288), 0, PP_COUNT_HEAP, 1);
	expect(make(heap, small, "space", "bytes", 524288), 1, PP_COUNT_HEAP, 1);
	expect(make(heap, large, "space", "bytes", 524288), 1, PP_COUNT_HEAP, 3);
	expect(make(heap, empty, "space", "bytes", 524288), 1, PP_COUNT_HEAP, 0);
	expect(make(heap, small, "space", "bytes", 0), 1, PP_COUNT_NOT_MEASURED, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count_column),
		cmocka_unit_test(test_period),
		cmocka_unit_test(test_not_measured),
		cmocka_unit_test(test_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
