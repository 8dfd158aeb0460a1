#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/json.h"

static void assert_text(struct pp_json *json, int indent, const char *text)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&buf);

	assert_int_equal(pp_json_write(json, indent, &sink, &err), 0);
	assert_string_equal(buf.bytes, text);
	pp_buf_release(&buf);
	pp_json_free(json);
}

static void keeps_order_and_integers(void **state)
{
	struct pp_json *object = pp_json_object(), *array = pp_json_array();
	(void)state;

	pp_json_i64(object, "z", INT64_MIN);
	pp_json_i64(object, "a", INT64_MAX);
	pp_json_bool(object, "yes", true);
	pp_json_null(object, "none");
	pp_json_str(array, NULL, PP_LIT("x"));
	pp_json_i64(array, NULL, 1);
	pp_json_add(object, "list", array);
	pp_json_add(object, "missing", NULL);
	assert_text(object, 0,
	            "{\"z\": -9223372036854775808, \"a\": 9223372036854775807, \"yes\": true, \"none\": null, "
	            "\"list\": [\"x\", 1], \"missing\": null}");
}

static void writes_reals_that_read_back(void **state)
{
	struct pp_json *array = pp_json_array();
	(void)state;

	pp_json_real(array, NULL, 0.1);
	pp_json_real(array, NULL, -2.5e300);
	pp_json_real(array, NULL, 3);
	pp_json_real(array, NULL, (double)NAN);
	pp_json_real(array, NULL, -(double)INFINITY);
	assert_text(array, 0, "[0.1, -2.5e300, 3.0, null, null]");
}

static void replaces_what_is_not_utf8(void **state)
{
	struct pp_json *array = pp_json_array();
	(void)state;

	pp_json_str(array, NULL, PP_LIT("a\xff" "b\xc3"));
	pp_json_str(array, NULL, PP_LIT("\0\n\"\\"));
	pp_json_str(array, NULL, (struct pp_str){NULL, 0});
	assert_text(array, 0, "[\"a\xef\xbf\xbd" "b\xef\xbf\xbd\", \"\\u0000\\n\\\"\\\\\", \"\"]");
}

static void indents(void **state)
{
	struct pp_json *object = pp_json_object();
	(void)state;

	pp_json_i64(object, "a", 1);
	assert_text(object, 2, "{\n  \"a\": 1\n}\n");
}

static int refuse(void *context, const void *bytes, size_t n, struct pp_error *err)
{
	(void)context;
	(void)bytes;
	(void)n;
	return pp_fail(err, PP_EIO, PP_NO_OFFSET, "the disk is full");
}

static void reports_the_reason_of_the_sink(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink sink = {refuse, NULL};
	struct pp_json *array = pp_json_array();
	(void)state;

	assert_int_equal(pp_json_write(array, 0, &sink, &err), -1);
	assert_int_equal(err.code, PP_EIO);
	assert_string_equal(err.text, "the disk is full");
	pp_json_free(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_order_and_integers),
		cmocka_unit_test(writes_reals_that_read_back),
		cmocka_unit_test(replaces_what_is_not_utf8),
		cmocka_unit_test(indents),
		cmocka_unit_test(reports_the_reason_of_the_sink),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
