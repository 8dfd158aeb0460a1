#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/build_private.h"

static struct pp_build *new_build(void)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = pp_build_new(&limits, &err);

	assert_non_null(build);
	return build;
}

static uint32_t text(struct pp_build *build, const char *s)
{
	return pp_build_string(build, pp_str_of(s));
}

/* One column and one location without a mapping or lines; returns the location. */
static uint32_t add_basics(struct pp_build *build)
{
	struct pp_location location = {.address = 16, .mapping = PP_NONE};

	pp_build_sample_type(build, (struct pp_value_type){text(build, "cpu"), text(build, "nanoseconds")});
	return pp_build_location(build, &location, NULL, 0);
}

/* finish must fail with this code, and the text must hold part. */
static void assert_refused(struct pp_build *build, enum pp_code code, const char *part)
{
	struct pp_error err = PP_ERROR_INIT;

	assert_null(pp_build_finish(build, &err));
	assert_int_equal(err.code, code);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
	pp_build_free(build);
}

static void an_empty_profile_has_the_empty_string_and_the_empty_list(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = new_build();
	struct pp_profile *p = pp_build_finish(build, &err);

	(void)state;
	assert_non_null(p);
	assert_int_equal(p->strings_n, 1);
	assert_int_equal(p->strings[0].len, 0);
	assert_int_equal(p->label_lists_n, 1);
	assert_int_equal(p->label_lists[0].n, 0);
	assert_int_equal(p->samples_n, 0);
	pp_build_free(build);
	pp_profile_free(p);
}

static void strings_are_interned_by_bytes(void **state)
{
	struct pp_build *build = new_build();
	struct pp_profile *p = pp_build_profile(build);
	uint32_t a = pp_build_string(build, (struct pp_str){"x\0y", 3});

	(void)state;
	assert_int_equal(pp_build_string(build, (struct pp_str){"x\0y", 3}), a);
	assert_int_not_equal(pp_build_string(build, (struct pp_str){"x\0z", 3}), a);
	assert_int_equal(pp_build_string(build, PP_LIT("")), 0);
	assert_memory_equal(p->strings[a].ptr, "x\0y", 4); /* with the NUL behind it */
	pp_build_free(build);
}

static void appended_strings_keep_their_duplicates(void **state)
{
	struct pp_build *build = new_build();

	(void)state;
	assert_int_equal(pp_build_string_append(build, PP_LIT("")), 0);
	assert_int_equal(pp_build_string_append(build, PP_LIT("a")), 1);
	assert_int_equal(pp_build_string_append(build, PP_LIT("a")), 2);
	assert_int_equal(pp_build_string_append(build, PP_LIT("")), 3);
	pp_build_free(build);

	build = new_build();
	assert_int_equal(pp_build_string_append(build, PP_LIT("a")), PP_NONE);
	assert_refused(build, PP_EFORMAT, "first string");
}

static void equal_stacks_and_label_lists_are_one(void **state)
{
	struct pp_build *build = new_build();
	struct pp_profile *p = pp_build_profile(build);
	const uint32_t one[] = {3, 1, 2}, other[] = {3, 1};
	struct pp_label x[2], y[2];

	(void)state;
	assert_int_equal(pp_build_stack(build, one, 3), 0);
	assert_int_equal(pp_build_stack(build, other, 2), 1);
	assert_int_equal(pp_build_stack(build, one, 3), 0);
	assert_int_equal(pp_build_stack(build, NULL, 0), 2);
	assert_int_equal(p->stacks_n, 3);
	assert_memory_equal(p->stacks[0].locations, one, sizeof(one));

	memset(x, 0x00, sizeof(x)); /* different padding must not matter */
	memset(y, 0xff, sizeof(y));
	x[0].key = y[0].key = 1, x[0].str = y[0].str = 2, x[0].num_unit = y[0].num_unit = 0, x[0].num = y[0].num = 0;
	x[1].key = y[1].key = 3, x[1].str = y[1].str = 0, x[1].num_unit = y[1].num_unit = 4, x[1].num = y[1].num = -5;
	assert_int_equal(pp_build_label_list(build, x, 2), 1);
	assert_int_equal(pp_build_label_list(build, y, 2), 1);
	assert_int_equal(pp_build_label_list(build, y, 1), 2);
	assert_int_equal(pp_build_label_list(build, NULL, 0), 0);
	assert_int_equal(p->label_lists[1].labels[1].num, -5);
	pp_build_free(build);
}

static void a_profile_holds_what_was_appended(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = new_build();
	struct pp_profile *p;
	struct pp_mapping mapping = {.start = 4096, .limit = 8192, .filename = text(build, "bin")};
	struct pp_function function = {.id = 70, .name = text(build, "f"), .start_line = 9};
	struct pp_location location = {.id = 5, .address = 4100, .mapping = 0, .line_first = 77, .lines_n = 77};
	struct pp_line lines[2] = {{0, 10, 3}, {0, -1, 0}};
	const int64_t values[2] = {5, -6};
	const uint32_t leaf = 1;

	(void)state;
	pp_build_sample_type(build, (struct pp_value_type){text(build, "n"), text(build, "count")});
	pp_build_sample_type(build, (struct pp_value_type){text(build, "t"), text(build, "ms")});
	/* Parts may name what comes later. */
	pp_build_sample(build, pp_build_stack(build, &leaf, 1), 0, values);
	assert_int_equal(pp_build_mapping(build, &mapping), 0);
	assert_int_equal(pp_build_location(build, &location, NULL, 0), 0);
	location.id = 2;
	assert_int_equal(pp_build_location(build, &location, lines, 2), 1);
	assert_int_equal(pp_build_function(build, &function), 0);
	assert_int_equal(pp_build_comment(build, text(build, "hello")), 0);
	pp_build_profile(build)->time_ns = 42;

	p = pp_build_finish(build, &err);
	pp_build_free(build);
	assert_non_null(p);
	assert_int_equal(p->mappings[0].id, 1);
	assert_int_equal(p->functions[0].id, 70);
	assert_int_equal(p->locations[0].id, 5);
	assert_int_equal(p->locations[1].line_first, 0);
	assert_int_equal(p->locations[1].lines_n, 2);
	assert_int_equal(p->lines[1].line, -1);
	assert_int_equal(pp_value(p, 0, 0), 5);
	assert_int_equal(pp_value(p, 0, 1), -6);
	assert_int_equal(pp_sample_stack(p, 0)->locations[0], 1);
	assert_string_equal(pp_string(p, p->comments[0]).ptr, "hello");
	assert_int_equal(p->time_ns, 42);
	pp_profile_free(p);
}

static void broken_references_are_named(void **state)
{
	struct pp_build *build = new_build();
	const uint32_t missing = 7;
	const int64_t value = 1;
	struct pp_function function = {.name = 99};
	struct pp_line line = {.function = 3};
	struct pp_location location = {.mapping = 2};
	struct pp_label label = {.key = 50};

	(void)state;
	add_basics(build);
	pp_build_stack(build, &missing, 1);
	assert_refused(build, PP_EFORMAT, "stack[0].location: no location has index 7");

	build = new_build();
	pp_build_function(build, &function);
	assert_refused(build, PP_EFORMAT, "function[0].name: no string has index 99");

	build = new_build();
	pp_build_location(build, &location, NULL, 0);
	assert_refused(build, PP_EFORMAT, "location[0].mapping: no mapping has index 2");

	build = new_build();
	location.mapping = PP_NONE;
	pp_build_location(build, &location, &line, 1);
	assert_refused(build, PP_EFORMAT, "line[0].function: no function has index 3");

	build = new_build();
	pp_build_label_list(build, &label, 1);
	assert_refused(build, PP_EFORMAT, "label_list[1].key: no string has index 50");

	build = new_build();
	add_basics(build);
	pp_build_sample(build, 4, 0, &value);
	assert_refused(build, PP_EFORMAT, "sample[0].stack: no stack has index 4");

	build = new_build();
	pp_build_sample(build, pp_build_stack(build, NULL, 0), 0, NULL);
	assert_refused(build, PP_EFORMAT, "no sample type");
}

static void ids_must_be_distinct(void **state)
{
	struct pp_build *build = new_build();
	struct pp_location location = {.mapping = PP_NONE};
	const uint64_t ids[] = {UINT64_MAX, 3, UINT64_C(1) << 40, 3};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(ids); i++) {
		location.id = ids[i];
		pp_build_location(build, &location, NULL, 0);
	}
	assert_refused(build, PP_EFORMAT, "multiple locations with same id: 3");
}

static void limits_hold_and_the_first_error_sticks(void **state)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build;
	const uint32_t stack[] = {0, 0, 0};
	const int64_t value = 1;

	(void)state;
	limits.depth = 2;
	build = pp_build_new(&limits, &err);
	add_basics(build);
	assert_null(pp_build_error(build));
	assert_int_equal(pp_build_stack(build, stack, 3), PP_NONE);
	assert_int_equal(pp_build_error(build)->code, PP_ELIMIT);
	assert_int_equal(text(build, "more"), PP_NONE);
	assert_int_equal(pp_build_comment(build, 0), -1);
	assert_refused(build, PP_ELIMIT, "3 locations");

	limits.samples = 1;
	build = pp_build_new(&limits, &err);
	add_basics(build);
	pp_build_stack(build, stack, 1);
	assert_int_equal(pp_build_sample(build, 0, 0, &value), 0);
	assert_int_equal(pp_build_sample(build, 0, 0, &value), PP_NONE);
	assert_refused(build, PP_ELIMIT, "more than 1 samples");

	limits.model_bytes = 100000;
	build = pp_build_new(&limits, &err);
	for (int64_t i = 0; i < 100000; i++)
		pp_build_string(build, (struct pp_str){(const char *)&i, sizeof(i)});
	assert_refused(build, PP_ELIMIT, "100000 bytes");
}

static void unknown_fields_are_sorted_by_place_and_stay_in_order(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = new_build();
	struct pp_profile *p;

	(void)state;
	pp_build_unknown(build, PP_RECORD_FUNCTION, 2, 0, PP_LIT("c"));
	pp_build_unknown(build, PP_RECORD_LABEL, 1, 1, PP_LIT("b"));
	pp_build_unknown(build, PP_RECORD_FUNCTION, 2, 0, PP_LIT("d"));
	pp_build_unknown(build, PP_RECORD_LABEL, 1, 0, PP_LIT("a"));
	p = pp_build_finish(build, &err);
	pp_build_free(build);
	assert_non_null(p);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(p->unknowns[i].bytes.ptr[0], 'a' + (int)i);
	pp_profile_free(p);
}

static void equal_notes_are_counted(void **state)
{
	struct pp_build *build = new_build();
	struct pp_profile *p = pp_build_profile(build);

	(void)state;
	pp_build_note(build, 10, "dropped a %s", "sample\n");
	pp_build_note(build, 20, "dropped a %s", "sample\n");
	pp_build_note(build, PP_NO_OFFSET, "other");
	assert_int_equal(p->notes_n, 2);
	assert_int_equal(p->notes[0].count, 2);
	assert_int_equal(p->notes[0].offset, 10);
	assert_string_equal(p->notes[0].text, "dropped a sample\\x0a");
	pp_build_free(build);
}

static void locations_can_be_renumbered(void **state)
{
	struct pp_build *build = new_build();
	struct pp_profile *p = pp_build_profile(build);
	const uint32_t a[] = {0, 1, 0}, b[] = {2}, new_index[] = {2, 0, 1};
	uint64_t dropped;

	(void)state;
	pp_build_stack(build, a, 3);
	pp_build_stack(build, b, 1);
	assert_int_equal(pp_build_remap_locations(build, new_index, &dropped), 0);
	assert_int_equal(dropped, 0);
	assert_int_equal(p->stacks[0].locations[0], 2);
	assert_int_equal(p->stacks[0].locations[1], 0);
	assert_int_equal(p->stacks[0].locations[2], 2);
	assert_int_equal(p->stacks[1].locations[0], 1);
	pp_build_free(build);
}

static void locations_that_are_not_there_are_cut_out(void **state)
{
	struct pp_build *build = new_build();
	struct pp_profile *p = pp_build_profile(build);
	const uint32_t a[] = {0, 1}, b[] = {1}, c[] = {0, 1, 0}, new_index[] = {PP_NONE, 0};
	const int64_t value = 1;
	uint64_t dropped;

	(void)state;
	pp_build_sample_type(build, (struct pp_value_type){0, 0});
	pp_build_sample(build, pp_build_stack(build, a, 2), 0, &value);
	pp_build_sample(build, pp_build_stack(build, b, 1), 0, &value);
	pp_build_sample(build, pp_build_stack(build, c, 3), 0, &value);
	assert_int_equal(pp_build_remap_locations(build, new_index, &dropped), 0);
	assert_int_equal(dropped, 3);
	assert_int_equal(p->stacks_n, 1);
	assert_int_equal(p->stacks[0].n, 1);
	assert_int_equal(p->stacks[0].locations[0], 0);
	assert_int_equal(p->sample_stack[0], 0);
	assert_int_equal(p->sample_stack[1], 0);
	assert_int_equal(p->sample_stack[2], 0);
	pp_build_free(build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_profile_has_the_empty_string_and_the_empty_list),
		cmocka_unit_test(strings_are_interned_by_bytes),
		cmocka_unit_test(appended_strings_keep_their_duplicates),
		cmocka_unit_test(equal_stacks_and_label_lists_are_one),
		cmocka_unit_test(a_profile_holds_what_was_appended),
		cmocka_unit_test(broken_references_are_named),
		cmocka_unit_test(ids_must_be_distinct),
		cmocka_unit_test(limits_hold_and_the_first_error_sticks),
		cmocka_unit_test(unknown_fields_are_sorted_by_place_and_stay_in_order),
		cmocka_unit_test(equal_notes_are_counted),
		cmocka_unit_test(locations_can_be_renumbered),
		cmocka_unit_test(locations_that_are_not_there_are_cut_out),
	};

	return cmocka_run_group_tests_name("build", tests, NULL, NULL);
}
