#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/test/readtext.h"

static void assert_note(const struct pp_profile *p, uint32_t index, uint64_t offset, uint64_t count, const char *text)
{
	assert_true(index < p->notes_n);
	assert_string_equal(p->notes[index].text, text);
	assert_int_equal(p->notes[index].offset, offset);
	assert_int_equal(p->notes[index].count, count);
}

/* ---- lenient: what is dropped, and how it is counted ---- */

static void broken_elements_are_dropped_and_counted(void **state)
{
	struct pp_profile *p;

	(void)state;
	p = read_text(TYPE "2{1[1 9 2] 2:1} 2{1[1 2] 2:2} 2{1[9 9] 2:3} 2{2:4}" LOCATION " 4{1:2}" FUNCTION STRINGS, PP_LENIENT);
	assert_int_equal(p->samples_n, 4);
	assert_int_equal(p->stacks_n, 2); /* equal without what is dropped */
	assert_int_equal(p->sample_stack[0], p->sample_stack[1]);
	assert_int_equal(p->sample_stack[2], p->sample_stack[3]);
	assert_int_equal(pp_sample_stack(p, 0)->n, 2);
	assert_int_equal(pp_sample_stack(p, 3)->n, 0);
	assert_int_equal(p->notes_n, 1);
	assert_note(p, 0, 11, 3, "frame dropped: its location does not exist");
	pp_profile_free(p);

	p = read_text(TYPE "2{1:1 2:1} 4{1:1 4{1:8} 4{1:1} 4{}} 4{2:1} 4{3:1} 5{2:3} 3{}" FUNCTION STRINGS, PP_LENIENT);
	assert_int_equal(p->lines_n, 3);
	assert_true(p->lines[0].function == PP_NONE && p->lines[1].function == 0 && p->lines[2].function == PP_NONE);
	assert_int_equal(p->notes_n, 4);
	assert_note(p, 0, 38, 1, "mapping dropped: its id is 0");
	assert_note(p, 1, 34, 1, "function dropped: its id is 0");
	assert_note(p, 2, 26, 2, "location dropped: its id is 0");
	assert_note(p, 3, 12, 2, "frame without a name: its function does not exist");
	pp_profile_free(p);

	p = read_text(TYPE "2{2:1} 2{2[1 2] 3{9:9} 9:9} 2{2:3 3{1:1}} 2{} " STRINGS, PP_LENIENT);
	assert_int_equal(p->samples_n, 2);
	assert_true(pp_value(p, 0, 0) == 1 && pp_value(p, 1, 0) == 3);
	assert_int_equal(p->unknowns_n, 0); /* those of the dropped sample are no other's */
	assert_note(p, 0, 10, 2, "sample dropped: its number of values is not that of the sample types");
	pp_profile_free(p);

	/* The first ones are wrong. */
	p = read_text(TYPE "2{2[1 2] 9:9 3{9:9}} 2{2[1 2]} 2{2:3 9:8} 2{2[4 5]}" STRINGS " 99:1", PP_LENIENT);
	assert_int_equal(p->samples_n, 1);
	assert_int_equal(pp_value(p, 0, 0), 3);
	assert_int_equal(p->unknowns_n, 2);
	assert_true(p->unknowns[1].record == PP_RECORD_SAMPLE && p->unknowns[1].index == 0);
	assert_memory_equal(p->unknowns[1].bytes.ptr, "\x48\x08", 2);
	assert_note(p, 0, 6, 3, "sample dropped: its number of values is not that of the sample types");
	pp_profile_free(p);

	p = read_text(TYPE "2{2[1 2] 9:9} 2{2[1 2]}" STRINGS, PP_LENIENT); /* all are */
	assert_true(p->samples_n == 0 && p->unknowns_n == 0);
	assert_note(p, 0, 6, 2, "sample dropped: its number of values is not that of the sample types");
	pp_profile_free(p);

	p = read_text(TYPE "6\"zero\n\" 6\"a\" 6\"b\" 2{2:1 3{1:1}}", PP_LENIENT);
	assert_int_equal(p->strings[0].len, 0);
	assert_string_equal(p->strings[pp_sample_labels(p, 0)->labels[0].key].ptr, "a");
	assert_note(p, 0, 6, 1, "string_table[0] is 'zero\\x0a', taken as empty");
	pp_profile_free(p);
}

static void string_indices_outside_the_table_are_not_given(void **state)
{
	struct pp_profile *p = read_text(
		"1{1:9 2:-1} 2{2:1 3{1:1 2:9}} 2{2:1 3{1:1 2:-1}} 2{2:1 3{1:1}} 2{2:1 3{1:9 4:77}} 3{1:1 5:9 6:9}"
		" 5{1:1 2:9 3:9 4:9} 7:9 8:9 11{1:9 2:9} 13:9 13:1 14:9 15:4294967295" STRINGS, PP_LENIENT);

	(void)state;
	assert_true(p->sample_types[0].type == 0 && p->sample_types[0].unit == 0);
	assert_int_equal(p->label_lists_n, 3); /* no labels, the key alone, an empty one */
	assert_int_equal(p->sample_labels[0], p->sample_labels[1]); /* equal lists are one list, still */
	assert_int_equal(p->sample_labels[0], p->sample_labels[2]);
	assert_int_equal(pp_sample_labels(p, 0)->labels[0].key, 1);
	assert_int_equal(pp_sample_labels(p, 0)->labels[0].str, 0);
	assert_int_equal(pp_sample_labels(p, 3)->labels[0].num_unit, 0);
	assert_true(p->mappings[0].filename == 0 && p->mappings[0].build_id == 0);
	assert_true(p->functions[0].name == 0 && p->functions[0].system_name == 0 && p->functions[0].filename == 0);
	assert_true(p->drop_frames == 0 && p->keep_frames == 0 && p->default_sample_type == 0 && p->doc_url == 0);
	assert_true(p->period_type.type == 0 && p->period_type.unit == 0);
	assert_true(p->comments[0] == 0 && p->comments[1] == 1);
	assert_int_equal(p->notes_n, 1);
	assert_note(p, 0, 0, 18, "string index outside the table, taken as not given");
	pp_profile_free(p);
}

static void identical_repetitions_are_dropped_and_others_refused(void **state)
{
	struct pp_profile *p = read_text("3{1:1 2:5} 3{1:1 2:5} 5{1:1 2:3} 5{1:1 2:3} 5{1:1 2:3}"
	                                 " 4{1:1 4{1:1}} 4{1:1 4{1:1}} " TYPE "2{1:1 2:1}" STRINGS, PP_LENIENT);

	(void)state;
	assert_true(p->mappings_n == 1 && p->functions_n == 1 && p->locations_n == 1 && p->lines_n == 1);
	assert_int_equal(p->notes_n, 3);
	assert_note(p, 0, 6, 1, "mapping dropped: an identical one has the same id");
	assert_note(p, 1, 18, 2, "function dropped: an identical one has the same id");
	assert_note(p, 2, 38, 1, "location dropped: an identical one has the same id");
	pp_profile_free(p);
	assert_refused("5{1:1 2:3} 5{1:1 2:4}" STRINGS, PP_LENIENT, 6, "function[1].id: multiple functions with same id 1");
	assert_refused("4{1:1} 4{1:1 3:4}" STRINGS, PP_LENIENT, 4, "location[1].id: multiple locations with same id 1");
}

static void lenient_still_refuses_what_is_no_profile(void **state)
{
	(void)state;
	assert_refused("1{1:0}", PP_LENIENT, PP_NO_OFFSET, "string_table: the profile has no string table");
	assert_refused("2{2:1}" STRINGS, PP_LENIENT, 0, "missing sample type information: there are samples but no sample_type");
	assert_refused(TYPE "!12", PP_LENIENT, 6, "the input ends inside a field, after 7 bytes");
	assert_refused("2{1#8}" STRINGS, PP_SALVAGE, 2, "sample[0].location_id: wire type 1 does not fit this field");
	assert_refused("!12", PP_SALVAGE, 0, "the input ends inside a field, after 1 bytes"); /* nothing to save */
}

/* ---- salvage ---- */

static void every_cut_keeps_what_is_complete(void **state)
{
	struct wire_bytes whole = {.n = 0};
	size_t samples_end[2], strings_at;

	(void)state;
	wire_add(&whole, TYPE "2{1[1 2] 2:1 3{1:4 2:5}}");
	samples_end[0] = whole.n;
	wire_add(&whole, "2{1:2 2:300}");
	samples_end[1] = whole.n;
	wire_add(&whole, "3{1:1 5:1}" LOCATION " 4{1:2 2:1}" FUNCTION);
	strings_at = whole.n;
	wire_add(&whole, STRINGS " 9:1234567 13[1 2]");
	for (size_t n = 1; n <= whole.n; n++) {
		struct wire_bytes cut = whole;
		struct pp_error err;
		struct pp_profile *p;
		size_t samples = (n >= samples_end[0]) + (n >= samples_end[1]);

		cut.n = n;
		p = read_bytes(&cut, PP_SALVAGE, NULL, &err);
		if (n < 6) {
			assert_null(p); /* not one field */
			continue;
		}
		assert_non_null(p);
		assert_int_equal(p->samples_n, samples);
		assert_true(p->strings_n >= 1 && (n < strings_at + 17 || p->strings_n == 6));
		if (n == whole.n)
			assert_int_equal(p->notes_n, 0);
		pp_profile_free(p);
		if (n < whole.n)
			pp_profile_free(read_bytes(&cut, PP_STRICT, NULL, &err)); /* whatever it says, it ends well */
	}
}

static void a_cut_is_noted(void **state)
{
	struct pp_profile *p = read_text(TYPE STRINGS " 2{2:1} !1205", PP_SALVAGE);

	(void)state;
	assert_int_equal(p->samples_n, 1);
	assert_int_equal(p->notes_n, 1);
	assert_note(p, 0, 27, 1, "the profile ends early: 8 complete fields were kept");
	pp_profile_free(p);
}

/* ---- what hostile input may cost ---- */

static void limits_are_enforced(void **state)
{
	static const struct {
		struct pp_limits limits;
		const char *text, *message;
		uint64_t offset;
	} cases[] = {
		{{.record_bytes = 99, .model_bytes = 1 << 20, .samples = 1, .depth = 9},
		 TYPE "2{2:1} 2{2:1}" STRINGS, "more than 1 samples", PP_NO_OFFSET},
		{{.record_bytes = 99, .model_bytes = 1 << 20, .samples = 9, .depth = 2},
		 TYPE "2{2:1} 2{1[1 2 3] 2:1}" STRINGS, "sample[1].location_id: more than 2 locations", 10},
		{{.record_bytes = 99, .model_bytes = 1 << 20, .samples = 9, .depth = 2},
		 TYPE "2{1:1 1:2 1:3 2:1}" STRINGS, "sample[0].location_id: more than 2 locations", 6},
		{{.record_bytes = 99, .model_bytes = 1 << 20, .samples = 9, .depth = 2},
		 TYPE "2{2[1 2] 2:3}" STRINGS, "sample[0].value: more than 2 values", 6},
		{{.record_bytes = 99, .model_bytes = 1 << 20, .samples = 9, .depth = 2},
		 TYPE "2{2:1 3{} 3{} 3{}}" STRINGS, "sample[0].label: more than 2 labels", 6},
		{{.record_bytes = 5, .model_bytes = 1 << 20, .samples = 9, .depth = 9},
		 TYPE STRINGS, "a field of 6 bytes is longer than 5", 0},
	};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct wire_bytes bytes = {.n = 0};
		struct pp_error err;

		wire_add(&bytes, cases[i].text);
		assert_null(read_bytes(&bytes, PP_SALVAGE, &cases[i].limits, &err));
		if (err.code != PP_ELIMIT || strcmp(err.text, cases[i].message) || err.offset != cases[i].offset)
			fail_msg("%s at %lld: '%s'", pp_code_name(err.code), (long long)err.offset, err.text);
	}
}

/* A text that is repeated until it needs more than 8000 bytes. */
static void assert_too_much(const char *head, const char *repeated, int times, const char *message)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct wire_bytes bytes = {.n = 0};
	struct pp_error err;

	limits.model_bytes = 8000;
	wire_add(&bytes, head);
	for (int i = 0; i < times; i++)
		wire_add(&bytes, repeated);
	assert_null(read_bytes(&bytes, PP_LENIENT, &limits, &err));
	assert_int_equal(err.code, PP_ELIMIT);
	if (!strstr(err.text, message))
		fail_msg("%s: '%s'", repeated, err.text);
}

static void memory_has_a_limit_whatever_takes_it(void **state)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct wire_bytes bytes = {.n = 0};
	struct pp_error err;
	char text[40];

	(void)state;
	assert_too_much(STRINGS, "6\"\"", 1000, "the model needs more than 8000 bytes");
	assert_too_much(STRINGS, "1{}", 1000, "the model needs more than 8000 bytes");
	assert_too_much(STRINGS, "2{}", 1500, "the model needs more than 8000 bytes");
	assert_too_much(STRINGS, "13[1 1 1 1]", 600, "the model needs more than 8000 bytes");
	assert_too_much(STRINGS, "17:1", 1000, "the model needs more than 8000 bytes");
	assert_too_much(STRINGS, "2{3{}3{}3{}3{}3{}3{}3{}3{}3{}3{}3{}} 2{3{9:1} 9:1}", 100,
	                "the model needs more than 8000 bytes");
	limits.model_bytes = 8000;
	wire_add(&bytes, TYPE "2{2:1}");
	for (unsigned i = 0; i < 200; i++) { /* ids that nothing defines, in samples that are dropped */
		snprintf(text, sizeof(text), "2{1:%u}", 4000000000u + i);
		wire_add(&bytes, text);
	}
	assert_null(read_bytes(&bytes, PP_LENIENT, &limits, &err));
	assert_int_equal(err.code, PP_ELIMIT);
	if (!strstr(err.text, "ids of locations need more than 8000 bytes"))
		fail_msg("'%s'", err.text);
	limits.model_bytes = 10;
	assert_null(read_bytes(&bytes, PP_LENIENT, &limits, &err));
	assert_int_equal(err.code, PP_ELIMIT);
}

static int64_t fail_read(void *context, void *buf, size_t n, struct pp_error *err)
{
	(void)context, (void)buf, (void)n;
	return pp_fail(err, PP_EIO, PP_NO_OFFSET, "input/output error");
}

static void a_source_that_fails_is_not_salvaged(void **state)
{
	struct pp_source source = {fail_read, NULL};
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;

	(void)state;
	options.strictness = PP_SALVAGE;
	assert_null(pp_read(&source, &options, &err));
	assert_int_equal(err.code, PP_EIO);
}

/* Whatever one byte becomes, reading ends with a profile whose references hold or with an error. */
static void no_byte_is_trusted(void **state)
{
	struct wire_bytes whole = {.n = 0};

	(void)state;
	wire_add(&whole, TYPE "2{1[1 2] 2:1 3{1:4 2:5} 3{1:4 3:8 4:2}} 2{1:2 2:300} 3{1:1 5:1}" LOCATION " 4{1:2 2:1}"
	         FUNCTION STRINGS " 9:1 13[1 2] 11{1:1}");
	for (size_t at = 0; at < whole.n; at++)
		for (unsigned value = 0; value < 256; value++)
			for (enum pp_strictness how = PP_STRICT; how <= PP_SALVAGE; how++) {
				struct wire_bytes bytes = whole;
				struct pp_error err;
				struct pp_profile *p;

				bytes.at[at] = (unsigned char)value;
				p = read_bytes(&bytes, how, NULL, &err);
				assert_true((p == NULL) == (err.code != PP_OK));
				assert_true(p || err.text[0]);
				pp_profile_free(p);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_elements_are_dropped_and_counted),
		cmocka_unit_test(string_indices_outside_the_table_are_not_given),
		cmocka_unit_test(identical_repetitions_are_dropped_and_others_refused),
		cmocka_unit_test(lenient_still_refuses_what_is_no_profile),
		cmocka_unit_test(every_cut_keeps_what_is_complete),
		cmocka_unit_test(a_cut_is_noted),
		cmocka_unit_test(limits_are_enforced),
		cmocka_unit_test(memory_has_a_limit_whatever_takes_it),
		cmocka_unit_test(a_source_that_fails_is_not_salvaged),
		cmocka_unit_test(no_byte_is_trusted),
	};

	return cmocka_run_group_tests_name("read leniently", tests, NULL, NULL);
}
