#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/build.h"
#include "libpprof/sampletype.h"

/* types: "type:unit" each, up to a NULL. */
static struct pp_profile *make(const char *const *types, const char *default_type)
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
	pp_build_profile(b)->default_sample_type = pp_build_string(b, pp_str_of(default_type));
	struct pp_profile *p = pp_build_finish(b, &err);
	pp_build_free(b);
	assert_non_null(p);
	return p;
}

static const char *const heap[] = {"alloc_objects:count", "alloc_space:bytes", "objects:count", "space:bytes", NULL};

static void expect(const char *default_type, const char *request, uint32_t wanted)
{
	struct pp_profile *p = make(heap, default_type);
	struct pp_error err = PP_ERROR_INIT;
	char warning[300];
	uint32_t column = PP_NONE;

	assert_int_equal(pp_sample_type_find(p, request, &column, warning, sizeof warning, &err), 0);
	assert_int_equal(column, wanted);
	assert_string_equal(warning, "");
	pp_profile_free(p);
}

static void test_find(void **state)
{
	(void)state;
	expect("", NULL, 3);
	expect("", "", 3);
	expect("alloc_space", NULL, 1);
	expect("", "alloc_objects", 0);
	expect("", "inuse_space", 3);
	expect("", "2", 2);
	expect("", "alloc_space:bytes", 1);
}

static void test_unknown_default_warns(void **state)
{
	struct pp_profile *p = make(heap, "nope");
	struct pp_error err = PP_ERROR_INIT;
	char warning[300];
	uint32_t column = PP_NONE;

	(void)state;
	assert_int_equal(pp_sample_type_find(p, NULL, &column, warning, sizeof warning, &err), 0);
	assert_int_equal(column, 3);
	assert_string_equal(warning, "default sample type 'nope' is not one of: alloc_objects, alloc_space, objects, "
	                             "space; the last is taken");
	pp_profile_free(p);
}

static void test_refusals(void **state)
{
	static const char *const none[] = {NULL};
	static const char *const requests[] = {"4", "99999999999999999999", "cpu", "alloc_space:count"};
	struct pp_profile *p = make(heap, "");
	char warning[300];
	uint32_t column = 77;

	(void)state;
	for (size_t i = 0; i < PP_COUNT(requests); i++) {
		struct pp_error err = PP_ERROR_INIT;
		assert_int_equal(pp_sample_type_find(p, requests[i], &column, warning, sizeof warning, &err), -1);
		assert_int_equal(err.code, PP_EUSAGE);
		assert_int_equal(column, 77);
	}
	pp_profile_free(p);
	p = make(none, "");
	struct pp_error err = PP_ERROR_INIT;
	assert_int_equal(pp_sample_type_find(p, NULL, &column, warning, sizeof warning, &err), -1);
	pp_profile_free(p);
}

static void test_lens(void **state)
{
	static const char *const cpu[] = {"samples:count", "cpu:nanoseconds", NULL};
	struct pp_profile *p = make(cpu, "");

	(void)state;
	assert_int_equal(pp_sample_type_of_lens(p, "process_cpu:cpu:nanoseconds:cpu:nanoseconds"), 1);
	assert_int_equal(pp_sample_type_of_lens(p, "process_cpu:samples:count:cpu:nanoseconds"), 0);
	assert_int_equal(pp_sample_type_of_lens(p, "process_cpu:cpu:count:cpu:nanoseconds"), PP_NONE);
	assert_int_equal(pp_sample_type_of_lens(p, "process_cpu:cpu:nanoseconds"), PP_NONE);
	assert_int_equal(pp_sample_type_of_lens(p, "a:cpu:nanoseconds:b:c:d"), PP_NONE);
	assert_int_equal(pp_sample_type_of_lens(p, ""), PP_NONE);
	pp_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_unknown_default_warns),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_lens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
