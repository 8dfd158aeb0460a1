#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/build_private.h"
#include "libpprof/write.h"

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

/* Finishes and writes; the bytes must be these. */
static void assert_writes(struct pp_build *build, const void *expected, size_t n)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *p = pp_build_finish(build, &err);
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&buf);

	pp_build_free(build);
	if (!p)
		fail_msg("%s", err.text);
	assert_int_equal(pp_write(p, &sink, &err), 0);
	assert_int_equal(buf.n, n);
	assert_memory_equal(buf.bytes, expected, n);
	pp_buf_release(&buf);
	pp_profile_free(p);
}
#define ASSERT_WRITES(build, literal) assert_writes(build, literal, sizeof(literal) - 1)

static void an_empty_profile_is_one_string_and_the_default_type(void **state)
{
	(void)state;
	ASSERT_WRITES(new_build(), "\x32\x00\x70\x00");
}

static void fields_go_by_number_and_strings_by_first_use(void **state)
{
	struct pp_build *build = new_build();
	struct pp_profile *p = pp_build_profile(build);
	struct pp_function function = {.id = 3, .start_line = 5};
	struct pp_mapping mapping = {.id = 2, .start = 1, .limit = 300, .offset = 4, .has_functions = true,
	                             .has_inline_frames = true};
	struct pp_location location = {.id = 9, .address = 128, .mapping = 0, .is_folded = true};
	struct pp_line line = {0, -1, 7};

	(void)state;
	/* Made in an order that is not the order of use. */
	p->doc_url = text(build, "U");
	p->default_sample_type = text(build, "T");
	pp_build_comment(build, text(build, "C"));
	p->period_type = (struct pp_value_type){text(build, "P"), text(build, "Q")};
	p->keep_frames = text(build, "K");
	p->drop_frames = text(build, "D");
	function.filename = text(build, "F");
	function.system_name = text(build, "S");
	function.name = text(build, "N");
	mapping.build_id = text(build, "B");
	mapping.filename = text(build, "M");
	p->time_ns = 1;
	p->duration_ns = 2;
	p->period = 3;
	pp_build_sample_type(build, (struct pp_value_type){text(build, "T"), text(build, "u")});
	pp_build_mapping(build, &mapping);
	pp_build_function(build, &function);
	pp_build_location(build, &location, &line, 1);
	ASSERT_WRITES(build,
	              "\x0a\x04\x08\x01\x10\x02"                                             /* sample type T u */
	              "\x1a\x11\x08\x02\x10\x01\x18\xac\x02\x20\x04\x28\x03\x30\x04\x38\x01\x50\x01" /* mapping */
	              "\x22\x1a\x08\x09\x10\x02\x18\x80\x01"                                 /* location */
	              "\x22\x0f\x08\x03\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x18\x07\x28\x01"
	              "\x2a\x0a\x08\x03\x10\x05\x18\x06\x20\x07\x28\x05"                     /* function */
	              "\x32\x00\x32\x01T\x32\x01u\x32\x01M\x32\x01" "B\x32\x01N\x32\x01S\x32\x01" "F"
	              "\x32\x01" "D\x32\x01K\x32\x01P\x32\x01Q\x32\x01" "C\x32\x01U"
	              "\x38\x08\x40\x09\x48\x01\x50\x02\x5a\x04\x08\x0a\x10\x0b\x60\x03\x68\x0c\x70\x01\x78\x0d");
}

static void three_and_more_numbers_are_packed(void **state)
{
	struct pp_build *build = new_build();
	struct pp_location location = {.mapping = PP_NONE};
	const int64_t values[3] = {0, 300, 1};
	const uint32_t stack[2] = {1, 0};

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		pp_build_sample_type(build, (struct pp_value_type){0, 0});
	location.id = 200;
	pp_build_location(build, &location, NULL, 0);
	location.id = 1;
	pp_build_location(build, &location, NULL, 0);
	pp_build_sample(build, pp_build_stack(build, stack, 2), 0, values);
	for (uint32_t i = 0; i < 3; i++)
		pp_build_comment(build, 0);
	ASSERT_WRITES(build, "\x0a\x00\x0a\x00\x0a\x00"
	                     "\x12\x0b\x08\x01\x08\xc8\x01\x12\x04\x00\xac\x02\x01"
	                     "\x22\x03\x08\xc8\x01\x22\x02\x08\x01\x32\x00\x6a\x03\x00\x00\x00\x70\x00");
}

static void labels_are_texts_then_numbers_by_key(void **state)
{
	struct pp_build *build = new_build();
	struct pp_label labels[6] = {
		{.key = text(build, "b"), .num = 1},
		{.key = text(build, "z"), .str = text(build, "y")},
		{.key = text(build, "a"), .num = 2, .num_unit = text(build, "u")},
		{.key = text(build, "b"), .str = text(build, "x")},
		{.key = text(build, "b"), .str = text(build, "w")},
		{.key = 0}, /* all zero: an empty message */
	};
	const int64_t value = 0;

	(void)state;
	pp_build_sample_type(build, (struct pp_value_type){0, 0});
	pp_build_sample(build, pp_build_stack(build, NULL, 0), pp_build_label_list(build, labels, 6), &value);
	ASSERT_WRITES(build, "\x0a\x00\x12\x24\x10\x00"
	                     "\x1a\x04\x08\x01\x10\x02\x1a\x04\x08\x01\x10\x03\x1a\x04\x08\x04\x10\x05"
	                     "\x1a\x00\x1a\x06\x08\x06\x18\x02\x20\x07\x1a\x04\x08\x01\x18\x01"
	                     "\x32\x00\x32\x01" "b\x32\x01x\x32\x01w\x32\x01z\x32\x01y\x32\x01" "a\x32\x01u\x70\x00");
}

static void an_empty_label_text_stays_a_text(void **state)
{
	struct pp_build *build = new_build();
	struct pp_label label;
	const int64_t value = 1;

	(void)state;
	pp_build_string_append(build, PP_LIT(""));
	label = (struct pp_label){.key = pp_build_string_append(build, PP_LIT("k")),
	                          .str = pp_build_string_append(build, PP_LIT(""))};
	pp_build_profile(build)->doc_url = pp_build_string_append(build, PP_LIT("u"));
	pp_build_sample_type(build, (struct pp_value_type){0, 2}); /* 2 is also "": the first one will do */
	pp_build_sample(build, pp_build_stack(build, NULL, 0), pp_build_label_list(build, &label, 1), &value);
	ASSERT_WRITES(build, "\x0a\x00\x12\x08\x10\x01\x1a\x04\x08\x01\x10\x02"
	                     "\x32\x00\x32\x01k\x32\x00\x32\x01u\x70\x00\x78\x03");
}

static void unknown_fields_come_back_behind_the_known_ones(void **state)
{
	struct pp_build *build = new_build();
	struct pp_mapping mapping = {0};
	struct pp_function function = {0};
	struct pp_location location = {.mapping = PP_NONE};
	struct pp_line lines[2] = {{0, 0, 0}, {0, 0, 0}};
	struct pp_label labels[2] = {{.num = 2}, {.num = 1}};
	const int64_t value = 1;

	(void)state;
	pp_build_sample_type(build, (struct pp_value_type){0, 0});
	pp_build_mapping(build, &mapping);
	pp_build_function(build, &function);
	pp_build_location(build, &location, lines, 2);
	pp_build_sample(build, pp_build_stack(build, NULL, 0), pp_build_label_list(build, labels, 2), &value);
	pp_build_unknown(build, PP_RECORD_PROFILE, 0, 0, PP_LIT("\x80\x01\x09"));
	pp_build_unknown(build, PP_RECORD_PERIOD_TYPE, 0, 0, PP_LIT("\x78\x08"));
	pp_build_unknown(build, PP_RECORD_SAMPLE_TYPE, 0, 0, PP_LIT("\x78\x01"));
	pp_build_unknown(build, PP_RECORD_SAMPLE, 0, 0, PP_LIT("\x78\x02"));
	pp_build_unknown(build, PP_RECORD_LABEL, 0, 1, PP_LIT("\x78\x03"));
	pp_build_unknown(build, PP_RECORD_MAPPING, 0, 0, PP_LIT("\x78\x04"));
	pp_build_unknown(build, PP_RECORD_LOCATION, 0, 0, PP_LIT("\x78\x05"));
	pp_build_unknown(build, PP_RECORD_LINE, 1, 0, PP_LIT("\x78\x06"));
	pp_build_unknown(build, PP_RECORD_FUNCTION, 0, 0, PP_LIT("\x78\x07"));
	ASSERT_WRITES(build, "\x0a\x02\x78\x01"
	                     "\x12\x0e\x10\x01\x1a\x02\x18\x02\x1a\x04\x18\x01\x78\x03\x78\x02"
	                     "\x1a\x04\x08\x01\x78\x04"
	                     "\x22\x0e\x08\x01\x22\x02\x08\x01\x22\x04\x08\x01\x78\x06\x78\x05"
	                     "\x2a\x04\x08\x01\x78\x07"
	                     "\x32\x00\x5a\x02\x78\x08\x70\x00\x80\x01\x09");
}

static int refuse(void *context, const void *bytes, size_t n, struct pp_error *err)
{
	(void)context, (void)bytes, (void)n;
	return pp_fail(err, PP_EIO, PP_NO_OFFSET, "no space left");
}

static void a_sink_that_fails_is_reported(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = new_build();
	struct pp_profile *p = pp_build_finish(build, &err);
	struct pp_sink sink = {refuse, NULL};

	(void)state;
	assert_int_equal(pp_write(p, &sink, &err), -1);
	assert_int_equal(err.code, PP_EIO);
	assert_string_equal(err.text, "no space left");
	pp_build_free(build);
	pp_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_profile_is_one_string_and_the_default_type),
		cmocka_unit_test(fields_go_by_number_and_strings_by_first_use),
		cmocka_unit_test(three_and_more_numbers_are_packed),
		cmocka_unit_test(labels_are_texts_then_numbers_by_key),
		cmocka_unit_test(an_empty_label_text_stays_a_text),
		cmocka_unit_test(unknown_fields_come_back_behind_the_known_ones),
		cmocka_unit_test(a_sink_that_fails_is_reported),
	};

	return cmocka_run_group_tests_name("write", tests, NULL, NULL);
}
