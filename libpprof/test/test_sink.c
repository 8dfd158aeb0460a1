#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/sink.h"

static void numbers_and_text_are_written(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&buf);

	(void)state;
	assert_int_equal(pp_sink_u64(&sink, 0, &err), 0);
	assert_int_equal(pp_sink_str(&sink, " ", &err), 0);
	assert_int_equal(pp_sink_u64(&sink, UINT64_MAX, &err), 0);
	assert_int_equal(pp_sink_bytes(&sink, " x\0y", 2, &err), 0);
	assert_int_equal(pp_sink_i64(&sink, INT64_MIN, &err), 0);
	assert_int_equal(pp_sink_i64(&sink, INT64_MAX, &err), 0);
	assert_int_equal(pp_sink_printf(&sink, &err, "|%-3s|", "a"), 0);
	assert_string_equal(buf.bytes, "0 18446744073709551615 x-92233720368547758089223372036854775807|a  |");
	assert_int_equal(buf.n, strlen(buf.bytes));
	pp_buf_release(&buf);
	assert_null(buf.bytes);
	assert_int_equal(buf.n, 0);
}

static void a_formatted_text_has_a_limit(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&buf);

	(void)state;
	assert_int_equal(pp_sink_printf(&sink, &err, "%4095d", 1), 0);
	assert_int_equal(buf.n, 4095);
	assert_int_equal(pp_sink_printf(&sink, &err, "%4096d", 1), -1);
	assert_int_equal(err.code, PP_EUSAGE);
	assert_int_equal(buf.n, 4095);
	pp_buf_release(&buf);
}

static void bytes_grow_and_stay_terminated(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf buf = PP_BUF_INIT;

	(void)state;
	for (size_t i = 0; i < 10000; i++) {
		char byte = (char)('a' + i % 26);

		assert_int_equal(pp_buf_append(&buf, &byte, 1, &err), 0);
		assert_int_equal(buf.bytes[buf.n], '\0');
	}
	for (size_t i = 0; i < 10000; i++)
		assert_int_equal(buf.bytes[i], 'a' + i % 26);
	assert_int_equal(pp_buf_append(&buf, NULL, 0, &err), 0);
	assert_int_equal(pp_buf_append(&buf, "x", SIZE_MAX - 5, &err), -1);
	assert_int_equal(err.code, PP_ENOMEM);
	assert_int_equal(buf.n, 10000);
	pp_buf_release(&buf);
}

static int fail_write(void *context, const void *bytes, size_t n, struct pp_error *err)
{
	(void)context, (void)bytes, (void)n;
	return pp_fail(err, PP_EIO, PP_NO_OFFSET, "no space left on device");
}

static void failures_of_a_sink_are_passed_on(void **state)
{
	struct pp_sink sink = {fail_write, NULL};
	struct pp_error err = PP_ERROR_INIT;

	(void)state;
	assert_int_equal(pp_sink_bytes(&sink, "", 0, &err), 0); /* nothing to write */
	assert_int_equal(pp_sink_i64(&sink, -1, &err), -1);
	assert_int_equal(err.code, PP_EIO);
	assert_int_equal(pp_sink_printf(&sink, &err, "x"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_text_are_written),
		cmocka_unit_test(a_formatted_text_has_a_limit),
		cmocka_unit_test(bytes_grow_and_stay_terminated),
		cmocka_unit_test(failures_of_a_sink_are_passed_on),
	};

	return cmocka_run_group_tests_name("sink", tests, NULL, NULL);
}
