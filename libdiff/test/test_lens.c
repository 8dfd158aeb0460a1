#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/lens.h"

static void ids_are_taken_apart(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	struct pd_lens lens;

	assert_int_equal(pd_lens_parse("process_cpu:cpu:nanoseconds:cpu:nanoseconds", &lens, &err), 0);
	assert_true(pp_str_eq(lens.name, PP_LIT("process_cpu")) && pp_str_eq(lens.period_unit, PP_LIT("nanoseconds")));
	assert_int_equal(lens.kind, PD_LENS_CPU);
	assert_int_equal(pd_lens_parse("inuse_space", &lens, &err), 0);
	assert_true(pp_str_eq(lens.type, PP_LIT("inuse_space")) && lens.name.len == 0);
	assert_int_equal(lens.kind, PD_LENS_INUSE);
	assert_int_equal(pd_lens_parse("cpu:nanoseconds", &lens, &err), -1);
	assert_int_equal(err.code, PP_EUSAGE);
	err = (struct pp_error)PP_ERROR_INIT;
	assert_int_equal(pd_lens_parse("a:b:c:d:e:f", &lens, &err), -1);
}

static void kinds_decide_what_is_a_snapshot(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum pd_lens_kind kind;
		bool snapshot;
	} cases[] = {
		{"memory:alloc_space:bytes:space:bytes", PD_LENS_ALLOC, false},
		{"memory:inuse_objects:count:space:bytes", PD_LENS_INUSE, true},
		{"mutex:delay:nanoseconds:mutex:count", PD_LENS_MUTEX, false},
		{"block:contentions:count:block:count", PD_LENS_BLOCK, false},
		{"goroutine:goroutine:count:goroutine:count", PD_LENS_GOROUTINE, true},
		{"wall:wall:nanoseconds:cpu:nanoseconds", PD_LENS_WALL, false},
		{"x:y:z:a:b", PD_LENS_OTHER, false},
	};

	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct pp_error err = PP_ERROR_INIT;
		struct pd_lens lens;
		assert_int_equal(pd_lens_parse(cases[i].text, &lens, &err), 0);
		assert_int_equal(lens.kind, cases[i].kind);
		assert_int_equal(pd_lens_snapshot(&lens), cases[i].snapshot);
		assert_true(strlen(pd_lens_limits(lens.kind)) > 20);
	}
}

/* A profile without samples: types "a:count", type and unit; a period type. */
static struct pp_profile *make(const char *type, const char *unit, const char *period, const char *period_unit)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = pp_build_new(&limits, &err);

	pp_build_sample_type(build, (struct pp_value_type){pp_build_string(build, PP_LIT("contentions")),
	                                                   pp_build_string(build, PP_LIT("count"))});
	pp_build_sample_type(build, (struct pp_value_type){pp_build_string(build, pp_str_of(type)),
	                                                   pp_build_string(build, pp_str_of(unit))});
	pp_build_profile(build)->period_type = (struct pp_value_type){pp_build_string(build, pp_str_of(period)),
	                                                              pp_build_string(build, pp_str_of(period_unit))};
	struct pp_profile *profile = pp_build_finish(build, &err);
	assert_non_null(profile);
	pp_build_free(build);
	return profile;
}

static enum pd_fit fit(const char *text, const char *file, const char *type, const char *unit, const char *period,
                       const char *period_unit, uint32_t *column)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pd_lens lens;
	struct pp_profile *profile = make(type, unit, period, period_unit);

	assert_int_equal(pd_lens_parse(text, &lens, &err), 0);
	enum pd_fit found = pd_lens_fit(&lens, profile, file, column);
	pp_profile_free(profile);
	return found;
}

static void profiles_fit_by_type_and_period(void **state)
{
	(void)state;
	static const char cpu[] = "process_cpu:cpu:nanoseconds:cpu:nanoseconds", mutex[] = "mutex:delay:nanoseconds:mutex:count";
	uint32_t column;

	assert_int_equal(fit(cpu, "p.cpu", "cpu", "nanoseconds", "cpu", "nanoseconds", &column), PD_FIT_YES);
	assert_int_equal(column, 1);
	assert_int_equal(fit(cpu, "p", "cpu", "microseconds", "cpu", "nanoseconds", &column), PD_FIT_OTHER_TYPE);
	assert_int_equal(fit(cpu, "p", "cpu", "nanoseconds", "wall", "nanoseconds", &column), PD_FIT_OTHER_PERIOD);
	assert_int_equal(fit(cpu, "p", "cpu", "nanoseconds", "", "", &column), PD_FIT_OTHER_PERIOD);
	assert_int_equal(fit("cpu", "p", "cpu", "nanoseconds", "", "", &column), PD_FIT_YES);
	/* Go does not say which of the two contention profiles it is. */
	assert_int_equal(fit(mutex, "p.mutex.pb.gz", "delay", "nanoseconds", "contentions", "count", &column), PD_FIT_YES);
	assert_int_equal(fit(mutex, "p.pb.gz", "delay", "nanoseconds", "contentions", "count", &column), PD_FIT_YES);
	assert_int_equal(fit(mutex, "p.block.pb.gz", "delay", "nanoseconds", "contentions", "count", &column), PD_FIT_OTHER_TYPE);
	assert_int_equal(fit(mutex, "blocker.pb.gz", "delay", "nanoseconds", "contentions", "count", &column), PD_FIT_YES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_taken_apart),
		cmocka_unit_test(kinds_decide_what_is_a_snapshot),
		cmocka_unit_test(profiles_fit_by_type_and_period),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
