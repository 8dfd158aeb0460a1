#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cmd/fetch/selector.h"

static void braces_are_added_where_they_lack(void **state)
{
	(void)state;
	static const char *const texts[][2] = {
		{"{a=\"b\"}", "{a=\"b\"}"}, {"a=\"b\"", "{a=\"b\"}"}, {"", "{}"}, {"  {}", "{}"}, {"a=\"{\"", "{a=\"{\"}"},
	};

	for (size_t i = 0; i < PP_COUNT(texts); i++) {
		char *whole = selector_whole(texts[i][0]);
		assert_string_equal(whole, texts[i][1]);
		free(whole);
	}
}

static void matchers_are_added_and_quoted(void **state)
{
	(void)state;
	static const char *const texts[][4] = {
		{"{}", "pod", "shop-1", "{pod=\"shop-1\"}"},
		{"{ }", "pod", "", "{pod=\"\" }"},
		{"{a=\"b\",}", "pod", "x", "{pod=\"x\",a=\"b\",}"},
		{"{}", "service.name", "a\"b\\c\nd", "{\"service.name\"=\"a\\\"b\\\\c\\nd\"}"},
		{"{}", "1a", "x", "{\"1a\"=\"x\"}"},
	};

	for (size_t i = 0; i < PP_COUNT(texts); i++) {
		char *made = selector_with(texts[i][0], texts[i][1], texts[i][2]);
		assert_string_equal(made, texts[i][3]);
		free(made);
	}
}

static void types_have_parts_and_counts(void **state)
{
	(void)state;
	static const char *const pairs[][2] = {
		{"process_cpu:cpu:nanoseconds:cpu:nanoseconds", "process_cpu:samples:count:cpu:nanoseconds"},
		{"mutex:delay:nanoseconds:contentions:count", "mutex:contentions:count:contentions:count"},
		{"memory:inuse_space:bytes:space:bytes:delta", "memory:inuse_objects:count:space:bytes:delta"},
		{"memory:alloc_space:bytes:space:bytes", "memory:alloc_objects:count:space:bytes"},
	};
	bool failed;

	for (size_t i = 0; i < PP_COUNT(pairs); i++) {
		char *counts = type_of_counts(pairs[i][0], &failed);
		assert_string_equal(counts, pairs[i][1]);
		free(counts);
	}
	assert_null(type_of_counts("goroutine:goroutine:count:goroutine:count", &failed));
	assert_false(failed);
	assert_true(pp_str_eq(type_part("a:b:c:d:e:f", 4), PP_LIT("e")));
	assert_int_equal(type_check("a:b:c:d:e"), CLI_OK);
	assert_int_equal(type_check("::::"), CLI_OK);
	assert_int_equal(type_check("cpu"), CLI_USAGE);
	assert_int_equal(type_check("a:b:c:d:e:f:g"), CLI_USAGE);
	assert_int_equal(type_check(NULL), CLI_USAGE);
	assert_true(type_is_snapshot("memory:inuse_space:bytes:space:bytes"));
	assert_true(type_is_snapshot("goroutines:goroutine:count:goroutine:count"));
	assert_false(type_is_snapshot("process_cpu:cpu:nanoseconds:cpu:nanoseconds"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(braces_are_added_where_they_lack),
		cmocka_unit_test(matchers_are_added_and_quoted),
		cmocka_unit_test(types_have_parts_and_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
