#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/build.h"
#include "libpprof/prune.h"

#define DEPTH_MAX 8

static const struct pp_limits limits = PP_LIMITS_DEFAULT;

/* A profile of one sample. frames are leaf first, up to a NULL; "inner|outer" is one location with an
 * inlined line. */
static struct pp_profile *make(const char *const *frames, const char *drop, const char *keep)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *b = pp_build_new(&limits, &err);
	uint32_t stack[DEPTH_MAX], n = 0;
	const int64_t value = 5;

	pp_build_sample_type(b, (struct pp_value_type){pp_build_string(b, PP_LIT("cpu")), 0});
	for (; frames[n]; n++) {
		const struct pp_location location = {.address = n + 1, .mapping = PP_NONE};
		struct pp_line lines[2];
		uint32_t lines_n = 0;
		for (const char *p = frames[n], *end; p; p = end ? end + 1 : NULL) {
			end = strchr(p, '|');
			const struct pp_str name = {p, end ? (size_t)(end - p) : strlen(p)};
			const struct pp_function f = {.name = pp_build_string(b, name)};
			lines[lines_n++] = (struct pp_line){.function = pp_build_function(b, &f)};
		}
		stack[n] = pp_build_location(b, &location, lines, lines_n);
	}
	pp_build_sample(b, pp_build_stack(b, stack, n), 0, &value);
	pp_build_profile(b)->drop_frames = pp_build_string(b, pp_str_of(drop));
	pp_build_profile(b)->keep_frames = pp_build_string(b, pp_str_of(keep));
	pp_build_profile(b)->period = 77;
	struct pp_profile *p = pp_build_finish(b, &err);
	pp_build_free(b);
	assert_non_null(p);
	return p;
}

/* The frames of the only sample, leaf first, in the notation of make with ';' between. */
static void stack_text(const struct pp_profile *p, char *out, size_t out_n)
{
	const struct pp_stack *stack = pp_sample_stack(p, 0);
	size_t n = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < stack->n; i++) {
		const struct pp_location *l = &p->locations[stack->locations[i]];
		for (uint32_t k = 0; k < l->lines_n; k++) {
			const struct pp_str name =
				pp_string(p, p->functions[p->lines[l->line_first + k].function].name);
			assert_true(n + name.len + 2 < out_n);
			if (n > 0)
				out[n++] = k > 0 ? '|' : ';';
			memcpy(out + n, name.ptr, name.len + 1);
			n += name.len;
		}
	}
}

/* wanted is NULL when nothing is to be pruned. */
static void expect(const char *const *frames, const char *drop, const char *keep, const char *wanted)
{
	struct pp_profile *p = make(frames, drop, keep), *pruned;
	struct pp_error err = PP_ERROR_INIT;
	char warning[300], got[200];

	assert_int_equal(pp_prune(p, &limits, &pruned, warning, sizeof warning, &err), 0);
	assert_string_equal(warning, "");
	if (!wanted) {
		assert_null(pruned);
	} else {
		assert_non_null(pruned);
		stack_text(pruned, got, sizeof got);
		assert_string_equal(got, wanted);
		assert_int_equal(pp_value(pruned, 0, 0), 5);
		assert_int_equal(pruned->period, 77);
	}
	pp_profile_free(pruned);
	pp_profile_free(p);
}

static void test_drop_and_keep(void **state)
{
	static const char *const stack[] = {"x", "malloc", "work", "main", NULL};

	(void)state;
	expect(stack, "malloc", "", "work;main");
	expect(stack, "mal.*", "malloc", NULL);
	expect(stack, "alloc", "", NULL); /* the whole name must match */
	expect(stack, "", "", NULL);
	expect(stack, "x|malloc|work", "work", "work;main");
	expect(stack, "other", "", NULL);
}

static void test_nothing_goes_before_the_first_user_frame(void **state)
{
	static const char *const all[] = {"deep", "malloc", NULL};
	static const char *const again[] = {"malloc", "work", "malloc", NULL};

	(void)state;
	expect(all, "malloc", "", "deep;malloc");
	expect(again, "malloc", "", "work;malloc");
}

static void test_inlined_lines(void **state)
{
	static const char *const inner[] = {"leaf", "malloc|caller", "main", NULL};
	static const char *const outer[] = {"leaf", "callee|malloc", "main", NULL};

	(void)state;
	expect(inner, "malloc", "", "caller;main");
	expect(outer, "malloc", "", "main");
}

static void test_names_are_simplified(void **state)
{
	static const char *const arguments[] = {"operator new(unsigned long)", "main", NULL};
	static const char *const dot[] = {".malloc", "main", NULL};
	static const char *const anonymous[] = {"a::(anonymous namespace)::f(int)", "main", NULL};
	static const char *const call[] = {"a::operator()(int)", "main", NULL};

	(void)state;
	expect(arguments, "operator new", "", "main");
	expect(dot, "malloc", "", "main");
	expect(anonymous, "a::.*::f", "", "main");
	expect(anonymous, "a::(anonymous namespace)::f", "", "main");
	expect(anonymous, "a::\\(anonymous namespace\\)::f", "", "main");
	expect(call, "a::operator\\(\\)", "", "main");
}

static void test_bad_expression_is_a_warning(void **state)
{
	static const char *const stack[] = {"malloc", "main", NULL};
	struct pp_profile *p = make(stack, "a(", ""), *pruned;
	struct pp_error err = PP_ERROR_INIT;
	char warning[300];

	(void)state;
	assert_int_equal(pp_prune(p, &limits, &pruned, warning, sizeof warning, &err), 0);
	assert_null(pruned);
	assert_string_equal(warning,
	                    "drop_frames is not applied: expression 'a(': position 2: missing closing parenthesis");
	pp_profile_free(p);
	p = make(stack, "malloc", "[");
	assert_int_equal(pp_prune(p, &limits, &pruned, warning, sizeof warning, &err), 0);
	assert_null(pruned);
	assert_non_null(strstr(warning, "keep_frames is not applied: expression '['"));
	pp_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drop_and_keep),
		cmocka_unit_test(test_nothing_goes_before_the_first_user_frame),
		cmocka_unit_test(test_inlined_lines),
		cmocka_unit_test(test_names_are_simplified),
		cmocka_unit_test(test_bad_expression_is_a_warning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
