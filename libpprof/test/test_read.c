#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/test/readtext.h"

/* ---- what is read ---- */

static void every_field_reaches_the_model(void **state)
{
	struct pp_profile *p = read_text(
		TYPE "1{1:3 2:4} 2{1[20 10] 2[5 -6] 3{1:1 2:2} 3{1:1 3:-7 4:3}} 3{1:7 2:16 3:32 4:1 5:1 6:2 7:1 10:1}"
		" 4{1:10 2:7 3:17 4{1:30 2:5 3:6} 4{1:31 2:-1} 5:1} 4{1:20} 5{1:31 2:1 3:2 4:3 5:9} 5{1:30 2:4}" STRINGS
		" 7:1 8:2 9:-5 10:6 11{1:3 2:4} 12:7 13:1 13[2 3] 14:4 15:5", PP_STRICT);
	const struct pp_stack *stack = pp_sample_stack(p, 0);
	const struct pp_label_list *labels = pp_sample_labels(p, 0);

	(void)state;
	assert_int_equal(p->strings_n, 6);
	assert_string_equal(p->strings[5].ptr, "e");
	assert_int_equal(p->sample_types_n, 2);
	assert_true(p->sample_types[1].type == 3 && p->sample_types[1].unit == 4);
	assert_int_equal(p->samples_n, 1);
	assert_true(pp_value(p, 0, 0) == 5 && pp_value(p, 0, 1) == -6);
	assert_int_equal(stack->n, 2); /* leaf first, by index in the table and not by id */
	assert_true(stack->locations[0] == 1 && stack->locations[1] == 0);
	assert_int_equal(labels->n, 2);
	assert_true(labels->labels[0].key == 1 && labels->labels[0].str == 2);
	assert_true(labels->labels[1].key == 1 && labels->labels[1].str == 0 && labels->labels[1].num == -7);
	assert_int_equal(labels->labels[1].num_unit, 3);
	assert_int_equal(p->mappings_n, 1);
	assert_true(p->mappings[0].id == 7 && p->mappings[0].start == 16 && p->mappings[0].limit == 32);
	assert_true(p->mappings[0].offset == 1 && p->mappings[0].filename == 1 && p->mappings[0].build_id == 2);
	assert_true(p->mappings[0].has_functions && !p->mappings[0].has_filenames);
	assert_true(!p->mappings[0].has_line_numbers && p->mappings[0].has_inline_frames);
	assert_int_equal(p->locations_n, 2);
	assert_true(p->locations[0].id == 10 && p->locations[0].mapping == 0 && p->locations[0].address == 17);
	assert_true(p->locations[0].is_folded && p->locations[0].lines_n == 2 && p->locations[0].line_first == 0);
	assert_true(p->locations[1].mapping == PP_NONE && p->locations[1].lines_n == 0);
	assert_true(p->lines[0].function == 1 && p->lines[0].line == 5 && p->lines[0].column == 6);
	assert_true(p->lines[1].function == 0 && p->lines[1].line == -1);
	assert_int_equal(p->functions_n, 2);
	assert_true(p->functions[0].id == 31 && p->functions[0].name == 1 && p->functions[0].system_name == 2);
	assert_true(p->functions[0].filename == 3 && p->functions[0].start_line == 9);
	assert_true(p->drop_frames == 1 && p->keep_frames == 2 && p->time_ns == -5 && p->duration_ns == 6);
	assert_true(p->period_type.type == 3 && p->period_type.unit == 4 && p->period == 7);
	assert_int_equal(p->comments_n, 3);
	assert_true(p->comments[0] == 1 && p->comments[1] == 2 && p->comments[2] == 3);
	assert_true(p->default_sample_type == 4 && p->doc_url == 5);
	assert_int_equal(p->notes_n, 0);
	pp_profile_free(p);
}

static void repeated_numbers_are_packed_or_not_or_mixed(void **state)
{
	static const char *const samples[] = {
		"2{1[1 2 1] 2[5 6]}", "2{1:1 1:2 1:1 2:5 2:6}", "2{1:1 2[5] 1[2 1] 2:6}", "2{1[] 2[5 6] 1[1] 2[] 1[2 1]}",
		"2{1[1 2 1] 2{!05} 2:6}", "2{1{!810002} 1:1 2[5 6]}", /* 1 in two bytes */
	};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(samples); i++) {
		char text[200] = TYPE TYPE;
		struct pp_profile *p;

		strcat(strcat(text, samples[i]), " 4{1:2} 4{1:1}" STRINGS);
		p = read_text(text, PP_STRICT);
		assert_int_equal(p->stacks_n, 1);
		assert_int_equal(p->stacks[0].n, 3);
		assert_memory_equal(p->stacks[0].locations, ((const uint32_t[]){1, 0, 1}), 12);
		assert_true(pp_value(p, 0, 0) == 5 && pp_value(p, 0, 1) == 6);
		pp_profile_free(p);
	}
}

static void tables_come_in_any_order(void **state)
{
	static const char *const orders[] = {
		TYPE "2{1:1 2:5} 3{1:9}" LOCATION FUNCTION STRINGS,
		STRINGS FUNCTION LOCATION " 3{1:9} 2{1:1 2:5} " TYPE,
		"2{1:1 2:5} " TYPE STRINGS LOCATION FUNCTION " 3{1:9}",
		FUNCTION " 6\"\" 6\"a\" 2{1:1 2:5} 6\"b\" " TYPE " 6\"c\" 3{1:9}" LOCATION " 6\"d\" 6\"e\"",
	};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(orders); i++) {
		struct pp_profile *p = read_text(orders[i], PP_STRICT);

		assert_int_equal(p->samples_n, 1);
		assert_int_equal(pp_value(p, 0, 0), 5);
		assert_int_equal(p->lines[p->locations[pp_sample_stack(p, 0)->locations[0]].line_first].function, 0);
		assert_int_equal(p->functions[0].name, 3);
		assert_int_equal(p->mappings_n, 1);
		pp_profile_free(p);
	}
}

static void oddities_that_the_reference_reads_are_read(void **state)
{
	static const char *const texts[] = {
		TYPE STRINGS,                                         /* no samples */
		" 6\"\"",                                             /* no types and no samples */
		"9:0 9:5 6\"\"",                                      /* a time after none */
		TYPE "2{2:1}" STRINGS,                                /* an empty stack */
		TYPE "2{2:-1} 2{2:0}" STRINGS,                        /* negative and zero values */
		TYPE " 4{1:5 2:77}" STRINGS,                          /* a mapping that is not there */
		TYPE " 4{1:18446744073709551615} 2{1:18446744073709551615 2:1}" STRINGS,
		TYPE "2{2:1}" STRINGS " 6\"a\" 6\"\"",                /* a name twice */
		TYPE STRINGS " 6\"\xff\xfe\"",                        /* not UTF-8 */
		TYPE STRINGS " 7:1 7:2 12:1 12:3",                    /* the last wins */
	};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(texts); i++)
		pp_profile_free(read_text(texts[i], PP_STRICT));
}

static void sample_types_on_both_sides_of_the_samples(void **state)
{
	(void)state;
	for (enum pp_strictness how = PP_STRICT; how <= PP_SALVAGE; how++) {
		struct pp_profile *p = read_text(TYPE "2{2[1 2]} 2{2[3 4]} " TYPE STRINGS, how);

		assert_int_equal(p->samples_n, 2);
		assert_int_equal(pp_value(p, 1, 1), 4);
		pp_profile_free(p);
	}
}

static void labels_stay_as_they_are(void **state)
{
	struct pp_profile *p = read_text(TYPE "2{2:1 3{}} 2{2:1 3{1:1}} 2{2:1 3{} 3{}} 2{2:1} 2{2:1 3{}}" STRINGS, PP_STRICT);

	(void)state;
	assert_int_equal(pp_sample_labels(p, 0)->n, 1); /* all zero, and there */
	assert_int_equal(pp_sample_labels(p, 1)->labels[0].key, 1);
	assert_int_equal(pp_sample_labels(p, 2)->n, 2);
	assert_int_equal(pp_sample_labels(p, 3)->n, 0);
	assert_int_equal(p->sample_labels[3], 0);
	assert_int_equal(p->sample_labels[4], p->sample_labels[0]);
	assert_int_equal(p->label_lists_n, 4);
	pp_profile_free(p);
}

static void unknown_fields_are_carried(void **state)
{
	static const struct {
		enum pp_record record;
		uint32_t index, label;
		const char *bytes;
	} want[] = {
		{PP_RECORD_PROFILE, 0, 0, "99:1"},
		{PP_RECORD_PROFILE, 0, 0, "16\"x\""},
		{PP_RECORD_SAMPLE_TYPE, 0, 0, "9:1"},
		{PP_RECORD_PERIOD_TYPE, 0, 0, "9:2"},
		{PP_RECORD_SAMPLE, 1, 0, "9:3 10#4"},
		{PP_RECORD_LABEL, 1, 1, "9:4"},
		{PP_RECORD_MAPPING, 0, 0, "11:5"},
		{PP_RECORD_LOCATION, 0, 0, "9{1:6}"},
		{PP_RECORD_LINE, 1, 0, "9#8"},
		{PP_RECORD_FUNCTION, 0, 0, "9:7"},
	};
	struct pp_profile *p = read_text(
		"99:1 1{1:1 9:1 2:2} 2{2:1} 2{9:3 2:1 3{} 3{9:4} 10#4} 3{1:1 11:5} 4{1:1 9{1:6} 4{1:1} 4{1:1 9#8}} 16\"x\""
		" 5{1:1 9:7} 11{9:2}" STRINGS, PP_STRICT);

	(void)state;
	assert_int_equal(p->unknowns_n, PP_COUNT(want));
	for (size_t i = 0; i < PP_COUNT(want); i++) {
		struct wire_bytes bytes = {.n = 0};

		wire_add(&bytes, want[i].bytes);
		assert_int_equal(p->unknowns[i].record, want[i].record);
		assert_int_equal(p->unknowns[i].index, want[i].index);
		assert_int_equal(p->unknowns[i].label, want[i].label);
		assert_int_equal(p->unknowns[i].bytes.len, bytes.n);
		assert_memory_equal(p->unknowns[i].bytes.ptr, bytes.at, bytes.n);
	}
	pp_profile_free(p);
}

/* ---- what is refused, by the reference too ---- */

static void broken_profiles_are_refused_by_place_and_reason(void **state)
{
	static const struct {
		const char *text;
		uint64_t offset;
		const char *message;
	} cases[] = {
		{"", PP_NO_OFFSET, "empty input file"},
		/* wire */
		{"6\"\" !0b", 2, "not a profile: the wire type is not one of 0, 1, 2, 5"},
		{"6\"\" !00", 2, "not a profile: the field number is not valid"},
		{"6\"\" !4880", 2, "the input ends inside a field, after 4 bytes"},
		{"6\"\" !4a05", 2, "the input ends inside a field, after 4 bytes"},
		{"6\"\" 1:1", 2, "sample_type: wire type 0, not 2"},
		{"6\"\" 6:1", 2, "string_table: wire type 0, not 2"},
		{"6\"\" 9\"x\"", 2, "time_nanos: wire type 2, not 0"},
		{"6\"\" 13#4", 2, "comment: wire type 5, not 0"},
		{"6\"\" 13{!80}", 4, "comment[0]: not a varint"},
		{"6\"\" 1{1\"x\"}", 4, "sample_type[0].type: wire type 2, not 0"},
		{"6\"\" 11{2#8}", 4, "period_type.unit: wire type 1, not 0"},
		{"6\"\" 3{1:1} 3{1:2 5\"x\"}", 10, "mapping[1].filename: wire type 2, not 0"},
		{"6\"\" 5{1:1 5#4}", 6, "function[0].start_line: wire type 5, not 0"},
		{"6\"\" 4{1:1 4{1\"x\"}}", 8, "location[0].line[0].function_id: wire type 2, not 0"},
		{"6\"\" 2{} 2{1#8}", 6, "sample[1].location_id: wire type 1 does not fit this field"},
		{"6\"\" 2{2#4}", 4, "sample[0].value: wire type 5 does not fit this field"},
		{"6\"\" 2{3:1}", 4, "sample[0].label[0]: wire type 0 does not fit this field"},
		{"6\"\" 2{3{} 3{1\"x\"}}", 8, "sample[0].label[1].key: wire type 2 does not fit this field"},
		{"6\"\" 2{3{3#8}}", 6, "sample[0].label[0].num: wire type 1 does not fit this field"},
		{"6\"\" 2{1{!0180}}", 7, "sample[0].location_id: an element is not a varint"},
		{"6\"\" 2{2{!80808080808080808080}}", 6, "sample[0].value: an element is not a varint"},
		{"6\"\" 2{!0a05}", 4, "sample[0]: a field goes beyond the end of its message"},
		{"6\"\" 2{3{!08}}", 6, "sample[0].label[0]: the value is not a varint"},
		/* strings */
		{"1{1:0}", PP_NO_OFFSET, "string_table: the profile has no string table"},
		{"6\"x\n\"", 0, "string_table[0]: 'x\\x0a', must be empty"},
		{"1{1:9}" STRINGS, 0, "sample_type[0].type: string index 9 is outside the table of 6 strings"},
		{"1{2:6}" STRINGS, 0, "sample_type[0].unit: string index 6 is outside the table of 6 strings"},
		{"2{3{1:1} 3{2:-1}} " STRINGS, 8, "sample[0].label[1].str: string index -1 is outside the table of 6 strings"},
		{"2{3{1:4294967296}} " STRINGS, 4, "sample[0].label[0].key: string index 4294967296 is outside the table of 6 strings"},
		{"2{3{4:4294967295}} " STRINGS, 4, "sample[0].label[0].num_unit: string index 4294967295 is outside the table of 6 strings"},
		{"3{1:1 5:7}" STRINGS, 0, "mapping[0].filename: string index 7 is outside the table of 6 strings"},
		{"3{1:1 6:7}" STRINGS, 0, "mapping[0].build_id: string index 7 is outside the table of 6 strings"},
		{"5{1:1 2:7}" STRINGS, 0, "function[0].name: string index 7 is outside the table of 6 strings"},
		{"5{1:1 3:7}" STRINGS, 0, "function[0].system_name: string index 7 is outside the table of 6 strings"},
		{"5{1:1 4:7}" STRINGS, 0, "function[0].filename: string index 7 is outside the table of 6 strings"},
		{"7:7" STRINGS, 0, "drop_frames: string index 7 is outside the table of 6 strings"},
		{"8:7" STRINGS, 0, "keep_frames: string index 7 is outside the table of 6 strings"},
		{"11{1:7}" STRINGS, 0, "period_type.type: string index 7 is outside the table of 6 strings"},
		{"11{2:7}" STRINGS, 0, "period_type.unit: string index 7 is outside the table of 6 strings"},
		{"13:1 13[7]" STRINGS, 4, "comment[1]: string index 7 is outside the table of 6 strings"},
		{"14:7" STRINGS, 0, "default_sample_type: string index 7 is outside the table of 6 strings"},
		{"15:7" STRINGS, 0, "doc_url: string index 7 is outside the table of 6 strings"},
		/* types and values */
		{"2{2:1}" STRINGS, 0, "missing sample type information: there are samples but no sample_type"},
		{"2{}" STRINGS, 0, "missing sample type information: there are samples but no sample_type"},
		{TYPE "2{2:1} 2{2[1 2]}" STRINGS, 10, "sample[1].value: mismatch: sample has 2 values vs. 1 types"},
		{TYPE "2{2[1 2]}" STRINGS, 6, "sample[0].value: mismatch: sample has 2 values vs. 1 types"},
		{TYPE "2{2[1 2]} 2{2:1}" STRINGS, 6, "sample[0].value: mismatch: sample has 2 values vs. 1 types"},
		{TYPE "2{}" STRINGS, 6, "sample[0].value: mismatch: sample has 0 values vs. 1 types"},
		{"2{2:1} " TYPE TYPE STRINGS, 0, "sample[0].value: mismatch: sample has 1 values vs. 2 types"},
		/* ids */
		{TYPE "2{1[1 9] 2:1}" LOCATION FUNCTION STRINGS, 11, "sample[0].location_id[1]: no location has id 9"},
		{TYPE "2{1:1 1:0 2:1}" LOCATION FUNCTION STRINGS, 11, "sample[0].location_id[1]: no location has id 0"},
		{"4{1:5 4{1:1} 4{1:9}}" FUNCTION STRINGS, 0, "location[0].line[1].function_id: no function has id 9"},
		{"4{1:5 4{}}" FUNCTION STRINGS, 0, "location[0].line[0].function_id: no function has id 0"},
		{"3{1:1} 3{}" STRINGS, 4, "mapping[1].id: reserved id 0"},
		{"5{2:1}" STRINGS, 0, "function[0].id: reserved id 0"},
		{"4{3:1}" STRINGS, 0, "location[0].id: reserved id 0"},
		{"3{1:1} 3{1:2} 3{1:1}" STRINGS, 8, "mapping[2].id: multiple mappings with same id 1"},
		{"5{1:1 2:1} 5{1:1 2:2}" STRINGS, 6, "function[1].id: multiple functions with same id 1"},
		{"4{1:18446744073709551615} 4{1:18446744073709551615}" STRINGS, 13,
		 "location[1].id: multiple locations with same id 18446744073709551615"},
	};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++)
		assert_refused(cases[i].text, PP_STRICT, cases[i].offset, cases[i].message);
}

static void two_profiles_in_one_file_are_recognised(void **state)
{
#define SECOND "concatenated profiles detected: two profiles in one file, the second starts here"
	static const struct {
		const char *first, *second;
		bool at_time; /* all that tells is the time, given twice */
	} cases[] = {
		{TYPE "2{2:1}" STRINGS " 9:5", TYPE "2{2:1}" STRINGS " 9:5", false},
		{TYPE "2{2:1}" STRINGS, TYPE "2{2:1}" STRINGS, false},
		{TYPE TYPE "2{2[1 2]}" STRINGS, TYPE "2{2:1}" STRINGS, false},
		{TYPE "2{1:1 2:1}" LOCATION FUNCTION STRINGS, TYPE "2{1:1 2:1}" LOCATION FUNCTION STRINGS, false},
		{TYPE "2{1:1 2:1}" LOCATION FUNCTION STRINGS, TYPE TYPE "2{1:1 2[1 2]}" LOCATION FUNCTION STRINGS, false},
	};
	static const enum pp_strictness how[] = {PP_STRICT, PP_LENIENT, PP_SALVAGE};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++)
		for (size_t s = 0; s < PP_COUNT(how); s++) {
			struct wire_bytes bytes = {.n = 0};
			char text[500];

			wire_add(&bytes, cases[i].first);
			strcat(strcat(strcpy(text, cases[i].first), " "), cases[i].second);
			assert_refused(text, how[s], bytes.n, SECOND);
		}
	assert_refused("9:5" STRINGS " 9:6", PP_STRICT, 19, SECOND);
	/* Other mistakes of one profile whose strings come first, or in parts, are called what they are. */
	assert_refused(STRINGS " 1{1:1} 2{1:9 2:1}", PP_STRICT, 24, "sample[0].location_id[0]: no location has id 9");
	assert_refused("1{1:1}" STRINGS " 1{1:1} 2{2:1}", PP_STRICT, 25,
	               "sample[0].value: mismatch: sample has 1 values vs. 2 types");
#undef SECOND
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_reaches_the_model),
		cmocka_unit_test(repeated_numbers_are_packed_or_not_or_mixed),
		cmocka_unit_test(tables_come_in_any_order),
		cmocka_unit_test(oddities_that_the_reference_reads_are_read),
		cmocka_unit_test(sample_types_on_both_sides_of_the_samples),
		cmocka_unit_test(labels_stay_as_they_are),
		cmocka_unit_test(unknown_fields_are_carried),
		cmocka_unit_test(broken_profiles_are_refused_by_place_and_reason),
		cmocka_unit_test(two_profiles_in_one_file_are_recognised),
	};

	return cmocka_run_group_tests_name("read", tests, NULL, NULL);
}
