#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/test/wiretext.h"

static struct pp_cursor cursor_over(const struct wire_bytes *bytes)
{
	return (struct pp_cursor){bytes->at, bytes->at + bytes->n, 1000 + bytes->n}; /* begins at 1000 */
}

static void varints_hold_all_64_bits(void **state)
{
	static const struct {
		uint64_t value;
		size_t n;
	} cases[] = {
		{0, 1}, {1, 1}, {127, 1}, {128, 2}, {16383, 2}, {16384, 3}, {UINT32_MAX, 5},
		{INT64_MAX, 9}, {UINT64_C(1) << 63, 10}, {UINT64_MAX, 10},
	};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct wire_bytes bytes = {.n = 0};
		struct pp_cursor cursor;
		uint64_t value;

		wire_put_varint(&bytes, cases[i].value);
		assert_int_equal(bytes.n, cases[i].n);
		wire_put_varint(&bytes, 5);
		cursor = cursor_over(&bytes);
		assert_true(pp_cursor_varint(&cursor, &value));
		assert_true(value == cases[i].value);
		assert_int_equal(pp_cursor_offset(&cursor), 1000 + cases[i].n);
		assert_true(pp_cursor_varint(&cursor, &value));
		assert_int_equal(value, 5);
		assert_false(pp_cursor_varint(&cursor, &value)); /* the end */
	}
}

static void odd_varints_are_read_or_refused(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t value;
	} cases[] = {
		{"!8000", true, 0},                                       /* longer than it must be */
		{"!ffffffffffffffffff7f", true, UINT64_MAX},              /* bits above 64 are dropped */
		{"!80808080808080808002", true, 0},
		{"!8080808080808080808000", false, 0},                    /* eleven bytes */
		{"!80", false, 0},                                        /* cut off */
		{"!ffffffffffffffffff", false, 0},
	};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct wire_bytes bytes = {.n = 0};
		struct pp_cursor cursor;
		uint64_t value = 99;

		wire_add(&bytes, cases[i].text);
		cursor = cursor_over(&bytes);
		assert_int_equal(pp_cursor_varint(&cursor, &value), cases[i].good);
		if (cases[i].good)
			assert_true(value == cases[i].value);
		else
			assert_ptr_equal(cursor.at, bytes.at);
	}
}

static void fields_of_every_wire_type_are_read(void **state)
{
	struct wire_bytes bytes = {.n = 0};
	struct pp_cursor cursor;
	struct pp_field f;
	const char *reason;

	(void)state;
	wire_add(&bytes, "1:300 2\"text\" 3#4 4#8 536870911:-1 5\"\"");
	cursor = cursor_over(&bytes);
	assert_int_equal(pp_cursor_next(&cursor, &f, &reason), 1);
	assert_int_equal(f.number, 1);
	assert_int_equal(f.type, PP_VARINT);
	assert_int_equal(f.value, 300);
	assert_int_equal(f.offset, 1000);
	assert_int_equal(f.whole_n, 3);
	assert_ptr_equal(f.whole, bytes.at);
	assert_int_equal(pp_cursor_next(&cursor, &f, &reason), 1);
	assert_int_equal(f.type, PP_BYTES);
	assert_int_equal(f.offset, 1003);
	assert_int_equal(f.bytes_offset, 1005);
	assert_int_equal(f.n, 4);
	assert_memory_equal(f.bytes, "text", 4);
	assert_int_equal(f.whole_n, 6);
	assert_int_equal(pp_cursor_next(&cursor, &f, &reason), 1);
	assert_int_equal(f.type, PP_FIXED32);
	assert_int_equal(f.value, 0x04030201);
	assert_int_equal(pp_cursor_next(&cursor, &f, &reason), 1);
	assert_int_equal(f.type, PP_FIXED64);
	assert_true(f.value == UINT64_C(0x0807060504030201));
	assert_int_equal(pp_cursor_next(&cursor, &f, &reason), 1);
	assert_int_equal(f.number, 536870911);
	assert_true(f.value == UINT64_MAX);
	assert_int_equal(pp_cursor_next(&cursor, &f, &reason), 1);
	assert_int_equal(f.n, 0);
	assert_int_equal(pp_cursor_next(&cursor, &f, &reason), 0);
	assert_int_equal(pp_cursor_next(&cursor, &f, &reason), 0);
}

static void broken_fields_are_refused(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{"1:1 !80", "the tag is not a varint"},
		{"1:1 !00", "the field number is not valid"},
		{"1:1 !8080808010", "the field number is not valid"}, /* 2^29 */
		{"1:1 !0b", "the wire type"},                         /* 3: a group */
		{"1:1 !0c", "the wire type"},
		{"1:1 !0e", "the wire type"},
		{"1:1 !0f", "the wire type"},
		{"1:1 !08", "the value is not a varint"},
		{"1:1 !0880", "the value is not a varint"},
		{"1:1 !088080808080808080808000", "the value is not a varint"},
		{"1:1 !0d010203", "the value is cut off"},
		{"1:1 !0901020304050607", "the value is cut off"},
		{"1:1 !0a", "the length is not a varint"},
		{"1:1 !0a05aaaaaaaa", "beyond the end"},
		{"1:1 !0affffffffffffffffff01aa", "beyond the end"}, /* 2^64 - 1 */
		{"1:1 !0affffffffffffffff7faa", "beyond the end"},   /* 2^63 - 1 */
	};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct wire_bytes bytes = {.n = 0};
		struct pp_cursor cursor;
		struct pp_field f;
		const char *reason = "";

		wire_add(&bytes, cases[i].text);
		cursor = cursor_over(&bytes);
		assert_int_equal(pp_cursor_next(&cursor, &f, &reason), 1);
		assert_int_equal(pp_cursor_next(&cursor, &f, &reason), -1);
		assert_int_equal(f.offset, 1002);
		assert_int_equal(pp_cursor_offset(&cursor), 1002);
		if (!strstr(reason, cases[i].reason))
			fail_msg("%s: '%s'", cases[i].text, reason);
	}
}

/* A source of n bytes that are head and then zeros, step bytes at once. */
struct long_input {
	struct pp_source source;
	const struct wire_bytes *head;
	size_t n, at, step, reads;
};

static int64_t read_long(void *context, void *buf, size_t n, struct pp_error *err)
{
	struct long_input *in = context;
	unsigned char *out = buf;

	(void)err;
	in->reads++;
	n = n < in->step ? n : in->step;
	n = n < in->n - in->at ? n : in->n - in->at;
	for (size_t i = 0; i < n; i++, in->at++)
		out[i] = in->at < in->head->n ? in->head->at[in->at] : 0;
	return (int64_t)n;
}

static void an_input_is_walked_however_it_arrives(void **state)
{
	struct wire_bytes bytes = {.n = 0};
	struct pp_limits limits = PP_LIMITS_DEFAULT;

	(void)state;
	for (int i = 0; i < 100; i++)
		wire_add(&bytes, "1:300 2\"some text\" 3#4 4#8 5{1:1 2:2}");
	for (size_t step = 1; step < 40; step += 3) {
		struct pp_error err = PP_ERROR_INIT;
		struct long_input in = {{read_long, &in}, &bytes, bytes.n, 0, step, 0};
		struct pp_wire *wire = pp_wire_new(&in.source, &limits, &err);
		struct pp_field f;
		size_t fields = 0, at = 0;

		while (pp_wire_next(wire, &f, &err) > 0) {
			assert_int_equal(f.number, fields % 5 + 1);
			assert_int_equal(f.offset, at);
			at += f.whole_n;
			fields++;
			assert_int_equal(pp_wire_offset(wire), at);
		}
		assert_int_equal(err.code, PP_OK);
		assert_int_equal(fields, 500);
		assert_int_equal(at, bytes.n);
		assert_false(pp_wire_ended_early(wire));
		pp_wire_free(wire);
	}
}

static void a_long_record_arrives_byte_by_byte(void **state)
{
	const size_t n = 8u << 20; /* moved or parsed anew for each byte, this would take hours */
	struct wire_bytes head = {.n = 0};
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct long_input in;
	struct pp_wire *wire;
	struct pp_field f;

	(void)state;
	wire_add(&head, "1:1 !12");
	wire_put_varint(&head, n);
	in = (struct long_input){{read_long, &in}, &head, head.n + n, 0, 1, 0};
	wire = pp_wire_new(&in.source, &limits, &err);
	assert_int_equal(pp_wire_next(wire, &f, &err), 1);
	assert_int_equal(pp_wire_next(wire, &f, &err), 1);
	assert_int_equal(f.n, n);
	assert_int_equal(f.bytes[n - 1], 0);
	assert_int_equal(pp_wire_next(wire, &f, &err), 0);
	assert_int_equal(in.reads, in.n + 1);
	pp_wire_free(wire);
}

static void a_length_that_lies_costs_nothing(void **state)
{
	struct wire_bytes head = {.n = 0};
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct long_input in;
	struct pp_wire *wire;
	struct pp_field f;

	(void)state;
	wire_add(&head, "!12");
	wire_put_varint(&head, limits.record_bytes - 100);
	in = (struct long_input){{read_long, &in}, &head, 1000, 0, SIZE_MAX, 0};
	wire = pp_wire_new(&in.source, &limits, &err);
	assert_int_equal(pp_wire_next(wire, &f, &err), -1);
	assert_int_equal(err.code, PP_EFORMAT);
	assert_int_equal(err.offset, 0);
	assert_string_equal(err.text, "the input ends inside a field, after 1000 bytes");
	assert_true(pp_wire_ended_early(wire));
	assert_int_equal(pp_wire_offset(wire), 0);
	pp_wire_free(wire);
}

static void long_records_are_refused_unread(void **state)
{
	static const char *const lengths[] = {"!12e807", "!1289d69df001", "!12ffffffffffffffffff01"};
	struct pp_limits limits = PP_LIMITS_DEFAULT;

	(void)state;
	limits.record_bytes = 1000;
	for (size_t i = 0; i < PP_COUNT(lengths); i++)
		for (size_t step = 1; step <= 4096; step *= 64) {
			struct wire_bytes head = {.n = 0};
			struct pp_error err = PP_ERROR_INIT;
			struct long_input in;
			struct pp_wire *wire;
			struct pp_field f;

			wire_add(&head, lengths[i]); /* 1000 and more, and a tag */
			in = (struct long_input){{read_long, &in}, &head, 5000, 0, step, 0};
			wire = pp_wire_new(&in.source, &limits, &err);
			assert_int_equal(pp_wire_next(wire, &f, &err), -1);
			assert_int_equal(err.code, PP_ELIMIT);
			assert_int_equal(err.offset, 0);
			assert_false(pp_wire_ended_early(wire));
			assert_true(step > 1 || in.reads <= head.n);
			pp_wire_free(wire);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varints_hold_all_64_bits),
		cmocka_unit_test(odd_varints_are_read_or_refused),
		cmocka_unit_test(fields_of_every_wire_type_are_read),
		cmocka_unit_test(broken_fields_are_refused),
		cmocka_unit_test(an_input_is_walked_however_it_arrives),
		cmocka_unit_test(a_long_record_arrives_byte_by_byte),
		cmocka_unit_test(a_length_that_lies_costs_nothing),
		cmocka_unit_test(long_records_are_refused_unread),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
