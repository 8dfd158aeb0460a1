#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/message.h"
#include "libpprof/test/wiretext.h"

static const struct pp_place place = {1000, "record", 3, NULL, 0, NULL};

/* The one field of a text, at offset 1000. */
static struct pp_field field_of(struct wire_bytes *bytes, const char *text)
{
	struct pp_cursor cursor;
	struct pp_field field;
	const char *reason;

	bytes->n = 0;
	wire_add(bytes, text);
	cursor = (struct pp_cursor){bytes->at, bytes->at + bytes->n, 1000 + bytes->n};
	assert_int_equal(pp_cursor_next(&cursor, &field, &reason), 1);
	return field;
}

static void assert_bytes(struct pp_str got, const char *text)
{
	struct wire_bytes want = {.n = 0};

	wire_add(&want, text);
	assert_int_equal(got.len, want.n);
	if (want.n)
		assert_memory_equal(got.ptr, want.at, want.n);
}

static void every_field_is_read(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_message *message = pp_message_new(&err);
	struct pp_raw_value_type type;
	struct pp_raw_mapping mapping;
	struct pp_raw_function function;
	struct pp_raw_location location;
	struct wire_bytes bytes;
	struct pp_field field;

	(void)state;
	field = field_of(&bytes, "1{1:-1 2:2}");
	assert_int_equal(pp_message_value_type(message, &field, &place, &type, &err), 0);
	assert_true(type.type == -1 && type.unit == 2);
	assert_int_equal(type.unknown.len, 0);

	field = field_of(&bytes, "3{1:-1 2:2 3:3 4:4 5:5 6:-6 7:1 8:0 9:1 10:1}");
	assert_int_equal(pp_message_mapping(message, &field, &place, &mapping, &err), 0);
	assert_true(mapping.id == UINT64_MAX && mapping.start == 2 && mapping.limit == 3 && mapping.offset == 4);
	assert_true(mapping.filename == 5 && mapping.build_id == -6);
	assert_true(mapping.has_functions && !mapping.has_filenames && mapping.has_line_numbers);
	assert_true(mapping.has_inline_frames);

	field = field_of(&bytes, "5{1:1 2:2 3:3 4:4 5:-5 5:-7}"); /* the last one wins */
	assert_int_equal(pp_message_function(message, &field, &place, &function, &err), 0);
	assert_true(function.id == 1 && function.name == 2 && function.system_name == 3 && function.filename == 4);
	assert_true(function.start_line == -7);

	field = field_of(&bytes, "4{1:1 4{1:7 2:-8 3:9} 2:2 3:-1 4{} 5:1}");
	assert_int_equal(pp_message_location(message, &field, &place, &location, &err), 0);
	assert_true(location.id == 1 && location.mapping_id == 2 && location.address == UINT64_MAX);
	assert_true(location.is_folded);
	assert_int_equal(location.lines_n, 2);
	assert_true(location.lines[0].function_id == 7 && location.lines[0].line == -8 && location.lines[0].column == 9);
	assert_true(location.lines[1].function_id == 0 && location.lines[1].line == 0);

	field = field_of(&bytes, "4{}"); /* nothing is left of the one before */
	assert_int_equal(pp_message_location(message, &field, &place, &location, &err), 0);
	assert_true(location.id == 0 && location.lines_n == 0 && !location.is_folded);
	pp_message_free(message);
	pp_message_free(NULL);
}

static void unknown_fields_come_back_as_they_were(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_message *message = pp_message_new(&err);
	struct pp_raw_location location;
	struct pp_raw_function function;
	struct wire_bytes bytes;
	struct pp_field field;

	(void)state;
	field = field_of(&bytes, "4{99\"x\" 1:1 4{1:7 50:-1 51#8} 100#4 6{1:1}}");
	assert_int_equal(pp_message_location(message, &field, &place, &location, &err), 0);
	assert_bytes(location.unknown, "99\"x\" 100#4 6{1:1}");
	assert_bytes(location.lines[0].unknown, "50:-1 51#8");
	field = field_of(&bytes, "5{1:1 536870911:5}");
	assert_int_equal(pp_message_function(message, &field, &place, &function, &err), 0);
	assert_bytes(function.unknown, "536870911:5");
	pp_message_free(message);
}

static void broken_records_are_explained(void **state)
{
	static const struct {
		const char *record;
		uint64_t offset;
		const char *text;
	} cases[] = {
		{"4:1", 1000, "record[3]: wire type 0, not 2"},
		{"4{1:1 2\"a\"}", 1004, "record[3].mapping_id: wire type 2, not 0"},
		{"4{1:1 3#8}", 1004, "record[3].address: wire type 1, not 0"},
		{"4{1:1 4:1}", 1004, "record[3].line: wire type 0, not 2"},
		{"4{1:1 4{1:1} 4{2#4}}", 1010, "record[3].line[1].line: wire type 5, not 0"},
		{"4{1:1 4{1:1 !0880}}", 1008, "record[3].line[0]: the value is not a varint"},
		{"4{1:1 !1aff}", 1004, "record[3]: the length is not a varint"},
		{"4{1:1 !1a05}", 1004, "record[3]: a field goes beyond the end of its message"},
		{"4{1:1 !0b}", 1004, "record[3]: the wire type is not one of 0, 1, 2, 5"},
	};
	struct pp_raw_location location;

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct pp_error err = PP_ERROR_INIT;
		struct pp_message *message = pp_message_new(&err);
		struct wire_bytes bytes;
		struct pp_field field = field_of(&bytes, cases[i].record);

		assert_int_equal(pp_message_location(message, &field, &place, &location, &err), -1);
		assert_int_equal(err.code, PP_EFORMAT);
		assert_string_equal(err.text, cases[i].text);
		assert_int_equal(err.offset, cases[i].offset);
		pp_message_free(message);
	}
}

static void a_record_of_millions_of_fields_is_over_the_limit(void **state)
{
	const size_t n = 32u << 20;
	unsigned char *bytes = malloc(n);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_message *message = pp_message_new(&err);
	struct pp_field field = {.number = 4, .type = PP_BYTES, .bytes = bytes, .n = n};
	struct pp_raw_location location;

	(void)state;
	for (size_t i = 0; i < n; i += 2)
		memcpy(bytes + i, "\x22\x00", 2); /* an empty line */
	assert_int_equal(pp_message_location(message, &field, &place, &location, &err), -1);
	assert_int_equal(err.code, PP_ELIMIT);
	pp_message_free(message);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_is_read),
		cmocka_unit_test(unknown_fields_come_back_as_they_were),
		cmocka_unit_test(broken_records_are_explained),
		cmocka_unit_test(a_record_of_millions_of_fields_is_over_the_limit),
	};

	return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
