#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/pprof.h"

#define STACK_MAX 8

/* A profile of one column from rows "a;b;c value", root first. The letters are functions. */
struct row {
	const char *stack;
	int64_t value;
};

static struct pp_profile *make(const struct row *rows, size_t n)
{
	const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *b = pp_build_new(&limits, &err);
	uint32_t location[26];

	pp_build_sample_type(b, (struct pp_value_type){pp_build_string(b, PP_LIT("samples")),
	                                               pp_build_string(b, PP_LIT("count"))});
	for (int c = 0; c < 26; c++) {
		const char name[] = {(char)('a' + c), '\0'};
		const struct pp_function f = {.name = pp_build_string(b, pp_str_of(name))};
		const struct pp_line line = {.function = pp_build_function(b, &f)};
		const struct pp_location l = {.mapping = PP_NONE};
		location[c] = pp_build_location(b, &l, &line, 1);
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t leaf_first[STACK_MAX];
		const size_t depth = strlen(rows[i].stack);
		for (size_t k = 0; k < depth; k++)
			leaf_first[k] = location[rows[i].stack[depth - 1 - k] - 'a'];
		pp_build_sample(b, pp_build_stack(b, leaf_first, (uint32_t)depth), 0, &rows[i].value);
	}
	struct pp_profile *p = pp_build_finish(b, &err);
	pp_build_free(b);
	assert_non_null(p);
	return p;
}

struct rolled {
	struct pp_profile *profile;
	struct pp_frames *frames;
	struct pp_frame_map map;
	struct pp_rollup rollup;
	int status;
	struct pp_error err;
};

static void roll(struct rolled *r, const struct row *rows, size_t n, const unsigned char *keep)
{
	struct pp_count_rule rule;

	*r = (struct rolled){.err = PP_ERROR_INIT};
	r->profile = make(rows, n);
	r->frames = pp_frames_new(PP_BY_FRAMES, &r->err);
	assert_int_equal(pp_frames_map(r->frames, r->profile, &r->map, &r->err), 0);
	pp_count_rule_for(r->profile, 0, &rule);
	r->status = pp_rollup_make(r->profile, r->frames, &r->map, 0, &rule, keep, &r->rollup, &r->err);
}

static void unroll(struct rolled *r)
{
	pp_rollup_release(&r->rollup);
	pp_frame_map_release(&r->map);
	pp_frames_free(r->frames);
	pp_profile_free(r->profile);
}

static void expect(const struct rolled *r, const char *label, int64_t flat, int64_t cum)
{
	for (uint32_t f = 0; f < r->rollup.frames_n; f++) {
		if (!pp_str_eq(pp_frames_label(r->frames, f), pp_str_of(label)))
			continue;
		assert_int_equal(r->rollup.flat[f], flat);
		assert_int_equal(r->rollup.cum[f], cum);
		return;
	}
	fail_msg("no row %s", label);
}

static void test_flat_and_cumulative(void **state)
{
	static const struct row rows[] = {{"abc", 3}, {"ab", 2}, {"abc", 4}, {"ac", 1}};
	struct rolled r;

	(void)state;
	roll(&r, rows, PP_COUNT(rows), NULL);
	assert_int_equal(r.status, 0);
	expect(&r, "a", 0, 10);
	expect(&r, "b", 2, 9);
	expect(&r, "c", 8, 8);
	assert_int_equal(r.rollup.total, 10);
	assert_int_equal(r.rollup.net, 10);
	assert_true(r.rollup.total_count == 10);
	assert_false(r.rollup.negative);
	unroll(&r);
}

static void test_recursion_counts_once(void **state)
{
	static const struct row rows[] = {{"ababa", 5}};
	struct rolled r;

	(void)state;
	roll(&r, rows, PP_COUNT(rows), NULL);
	expect(&r, "a", 5, 5);
	expect(&r, "b", 0, 5);
	unroll(&r);
}

static void test_no_stack_has_a_row(void **state)
{
	static const struct row rows[] = {{"", 5}, {"a", 1}};
	struct rolled r;

	(void)state;
	roll(&r, rows, PP_COUNT(rows), NULL);
	expect(&r, "(no stack)", 5, 5);
	expect(&r, "a", 1, 1);
	unroll(&r);
}

static void test_negative_values(void **state)
{
	static const struct row rows[] = {{"ab", 5}, {"ac", -7}};
	struct rolled r;

	(void)state;
	roll(&r, rows, PP_COUNT(rows), NULL);
	expect(&r, "a", 0, -2);
	assert_int_equal(r.rollup.total, 12);
	assert_int_equal(r.rollup.net, -2);
	assert_true(r.rollup.negative);
	assert_true(r.rollup.total_count == 5);
	unroll(&r);
}

static void test_keep(void **state)
{
	static const struct row rows[] = {{"ab", 5}, {"ab", 7}};
	static const unsigned char keep[] = {0, 1};
	struct rolled r;

	(void)state;
	roll(&r, rows, PP_COUNT(rows), keep);
	expect(&r, "b", 7, 7);
	assert_int_equal(r.rollup.total, 7);
	unroll(&r);
}

static void test_overflow_is_an_error(void **state)
{
	static const struct row two[] = {{"a", INT64_C(1) << 62}, {"b", INT64_C(1) << 62}};
	static const struct row lowest[] = {{"a", INT64_MIN}};
	static const struct row largest[] = {{"a", INT64_MAX}};
	struct rolled r;

	(void)state;
	roll(&r, two, PP_COUNT(two), NULL);
	assert_int_equal(r.status, -1);
	assert_int_equal(r.err.code, PP_EOVERFLOW);
	unroll(&r);
	roll(&r, lowest, PP_COUNT(lowest), NULL);
	assert_int_equal(r.err.code, PP_EOVERFLOW);
	unroll(&r);
	roll(&r, largest, PP_COUNT(largest), NULL);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.rollup.total, INT64_MAX);
	unroll(&r);
}

static void expect_order(const struct rolled *r, bool by_cum, const char *wanted)
{
	struct pp_error err = PP_ERROR_INIT;
	char got[STACK_MAX + 1] = "";
	uint32_t *order, n;

	assert_int_equal(pp_rollup_order(&r->rollup, r->frames, by_cum, &order, &n, &err), 0);
	assert_true(n <= STACK_MAX);
	for (uint32_t i = 0; i < n; i++)
		got[i] = pp_frames_label(r->frames, order[i]).ptr[0];
	got[n] = '\0';
	assert_string_equal(got, wanted);
	free(order);
}

static void test_order(void **state)
{
	/* d and c tie in flat and go by name; b is 0 in flat; z appears nowhere. */
	static const struct row rows[] = {{"bd", 2}, {"bc", 2}, {"a", -3}, {"e", 0}};
	struct rolled r;

	(void)state;
	roll(&r, rows, PP_COUNT(rows), NULL);
	expect_order(&r, false, "acdb");
	expect_order(&r, true, "bacd");
	unroll(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flat_and_cumulative),
		cmocka_unit_test(test_recursion_counts_once),
		cmocka_unit_test(test_no_stack_has_a_row),
		cmocka_unit_test(test_negative_values),
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_overflow_is_an_error),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
