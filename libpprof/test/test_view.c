/* Filters: what becomes of lines, stacks, labels and of the unknown fields that belong to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/build.h"
#include "libpprof/transform.h"
#include "libpprof/view.h"

static const struct pp_limits limits = PP_LIMITS_DEFAULT;

static uint32_t function(struct pp_build *b, const char *name)
{
	const struct pp_function f = {.name = pp_build_string(b, pp_str_of(name))};

	return pp_build_function(b, &f);
}

/* Two samples. The stack of the first is [bin] < inner|outer < main, that of the second is main; the first
 * has labels k=v, n=3. Every line, sample and label has an unknown field, whose bytes tell which. */
static struct pp_profile *make(void)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *b = pp_build_new(&limits, &err);
	const struct pp_mapping mapping = {.filename = pp_build_string(b, PP_LIT("/bin/app"))};
	const struct pp_line two[] = {{.function = function(b, "inner")}, {.function = function(b, "outer")}};
	const struct pp_line one[] = {{.function = function(b, "main")}};
	const struct pp_label labels[] = {
		{.key = pp_build_string(b, PP_LIT("k")), .str = pp_build_string(b, PP_LIT("v"))},
		{.key = pp_build_string(b, PP_LIT("n")), .num = 3},
	};
	struct pp_location location = {.address = 1, .mapping = pp_build_mapping(b, &mapping)};
	uint32_t stack[3];

	pp_build_sample_type(b, (struct pp_value_type){pp_build_string(b, PP_LIT("cpu")), 0});
	stack[0] = pp_build_location(b, &location, NULL, 0);
	location.address = 2;
	location.mapping = PP_NONE;
	stack[1] = pp_build_location(b, &location, two, 2);
	location.address = 3;
	stack[2] = pp_build_location(b, &location, one, 1);
	const int64_t values[] = {5, 7};
	pp_build_sample(b, pp_build_stack(b, stack, 3), pp_build_label_list(b, labels, 2), &values[0]);
	pp_build_sample(b, pp_build_stack(b, stack + 2, 1), 0, &values[1]);
	assert_int_equal(pp_build_unknown(b, PP_RECORD_SAMPLE, 0, 0, PP_LIT("s0")), 0);
	assert_int_equal(pp_build_unknown(b, PP_RECORD_SAMPLE, 1, 0, PP_LIT("s1")), 0);
	assert_int_equal(pp_build_unknown(b, PP_RECORD_LABEL, 0, 0, PP_LIT("k")), 0);
	assert_int_equal(pp_build_unknown(b, PP_RECORD_LABEL, 0, 1, PP_LIT("n")), 0);
	assert_int_equal(pp_build_unknown(b, PP_RECORD_LINE, 0, 0, PP_LIT("inner")), 0);
	assert_int_equal(pp_build_unknown(b, PP_RECORD_LINE, 1, 0, PP_LIT("outer")), 0);
	assert_int_equal(pp_build_unknown(b, PP_RECORD_LINE, 2, 0, PP_LIT("main")), 0);
	struct pp_profile *p = pp_build_finish(b, &err);
	pp_build_free(b);
	assert_non_null(p);
	return p;
}

static size_t put(char *out, size_t n, const char *text)
{
	assert_true(n + strlen(text) < 400);
	strcpy(out + n, text);
	return n + strlen(text);
}

/* A sample as "leaf;inner|outer;… VALUE", value 5 as "5"; all of them with ", " between. */
static void samples_text(const struct pp_profile *p, char *out)
{
	size_t n = 0;

	out[0] = '\0';
	for (uint32_t s = 0; s < p->samples_n; s++) {
		const struct pp_stack *stack = pp_sample_stack(p, s);
		const char digit[] = {' ', (char)('0' + pp_value(p, s, 0) % 10), '\0'};
		n = put(out, n, s > 0 ? ", " : "");
		for (uint32_t i = 0; i < stack->n; i++) {
			const struct pp_location *l = &p->locations[stack->locations[i]];
			n = put(out, n, i > 0 ? ";" : "");
			for (uint32_t k = 0; k < l->lines_n; k++) {
				n = put(out, n, k > 0 ? "|" : "");
				n = put(out, n, pp_string(p, p->functions[p->lines[l->line_first + k].function].name).ptr);
			}
			n = put(out, n, l->lines_n == 0 ? "?" : "");
		}
		n = put(out, n, digit);
	}
}

static struct pp_profile *seen(const struct pp_view *view, const char *wanted)
{
	struct pp_profile *p = make();
	struct pp_unmatched unmatched = {{NULL}, 0};
	struct pp_error err = PP_ERROR_INIT;
	char got[400];

	assert_int_equal(pp_view_prepare(view, &limits, &unmatched, &p, &err), 0);
	assert_int_equal(pp_view_filter(view, &limits, &unmatched, &p, &err), 0);
	samples_text(p, got);
	assert_string_equal(got, wanted);
	return p;
}

static void expect(const struct pp_view *view, const char *wanted)
{
	pp_profile_free(seen(view, wanted));
}

static void test_names(void **state)
{
	(void)state;
	expect(&(struct pp_view)PP_VIEW_ALL, "?;inner|outer;main 5, main 7");
	expect(&(struct pp_view){.names.focus = "app"}, "?;inner|outer;main 5");
	expect(&(struct pp_view){.names.ignore = "inner"}, "main 7");
	expect(&(struct pp_view){.names.hide = "inner|main"}, "?;outer 5");
	expect(&(struct pp_view){.names.hide = "app"}, "inner|outer;main 5, main 7");
	expect(&(struct pp_view){.names.show = "app|outer"}, "outer 5");
	expect(&(struct pp_view){.names.show_from = "inner"}, "?;inner 5");
	expect(&(struct pp_view){.names.show_from = "app"}, "? 5");
	expect(&(struct pp_view){.prune_from = "outer"}, "outer;main 5, main 7");
	expect(&(struct pp_view){.no_inlines = true}, "?;outer;main 5, main 7");
}

static void test_labels(void **state)
{
	(void)state;
	expect(&(struct pp_view){.tags.tagfocus = "n=3"}, "?;inner|outer;main 5");
	expect(&(struct pp_view){.tags.tagfocus = "4:"}, "");
	expect(&(struct pp_view){.tags.tagignore = "k=v"}, "main 7");
	expect(&(struct pp_view){.tagroot = "k,nosuch"}, "?;inner|outer;main;;v 5, main;; 7");
	expect(&(struct pp_view){.tagleaf = "n"}, "3;?;inner|outer;main 5, ;main 7");
	expect(&(struct pp_view){.tagleaf = "n", .names.focus = "^3$"}, "3;?;inner|outer;main 5");
}

static const char *unknown_of(const struct pp_profile *p, enum pp_record record, uint32_t index, uint32_t label)
{
	for (uint32_t i = 0; i < p->unknowns_n; i++)
		if (p->unknowns[i].record == record && p->unknowns[i].index == index && p->unknowns[i].label == label)
			return p->unknowns[i].bytes.ptr;
	return "none";
}

static void test_unknown_fields_stay_with_what_they_belong_to(void **state)
{
	(void)state;
	struct pp_profile *p = seen(&(struct pp_view){.names.hide = "inner", .tags.tagignore = "k=v"}, "main 7");
	assert_memory_equal(unknown_of(p, PP_RECORD_SAMPLE, 0, 0), "s1", 2);
	assert_memory_equal(unknown_of(p, PP_RECORD_LINE, 0, 0), "outer", 5);
	assert_memory_equal(unknown_of(p, PP_RECORD_LINE, 1, 0), "main", 4);
	assert_int_equal(p->unknowns_n, 3);
	pp_profile_free(p);
	p = seen(&(struct pp_view){.tags.taghide = "k"}, "?;inner|outer;main 5, main 7");
	assert_memory_equal(unknown_of(p, PP_RECORD_LABEL, 0, 0), "n", 1);
	assert_int_equal(p->unknowns_n, 6);
	pp_profile_free(p);
}

static void test_totals(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *p = make();
	int64_t total = 0;

	assert_int_equal(pp_total(p, 0, &total, &err), 0);
	assert_int_equal(total, 12);
	assert_false(pp_total_recorded(p, 0, &total));
	total = 40;
	struct pp_profile *recorded = pp_record_totals(p, &total, 0, &limits, &err);
	assert_non_null(recorded);
	total = 0;
	assert_true(pp_total_recorded(recorded, 0, &total));
	assert_int_equal(total, 40);
	assert_string_equal(pp_string(recorded, recorded->default_sample_type).ptr, "cpu");
	struct pp_profile *again = pp_record_totals(recorded, NULL, PP_NONE, &limits, &err);
	assert_non_null(again);
	assert_int_equal(again->comments_n, 0);
	pp_profile_free(again);
	pp_profile_free(recorded);
	pp_profile_free(p);
}

static void test_comments_are_added_behind_others(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	static const char *const texts[] = {"first", "", "first"};
	struct pp_profile *p = make(), *more = pp_add_comments(p, texts, 1, &limits, &err);

	assert_non_null(more);
	struct pp_profile *all = pp_add_comments(more, texts, PP_COUNT(texts), &limits, &err);
	assert_non_null(all);
	assert_int_equal(all->comments_n, 4);
	assert_string_equal(pp_string(all, all->comments[0]).ptr, "first");
	assert_string_equal(pp_string(all, all->comments[1]).ptr, "first");
	assert_string_equal(pp_string(all, all->comments[2]).ptr, "");
	assert_int_equal(all->samples_n, p->samples_n);
	const struct pp_limits little = {.model_bytes = 64, .samples = 10};
	assert_null(pp_add_comments(p, texts, 1, &little, &err));
	assert_int_equal(err.code, PP_ELIMIT);
	pp_profile_free(all);
	pp_profile_free(more);
	pp_profile_free(p);
}

static void test_scale_that_does_not_fit(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *p = make();
	const double huge = 1e19;

	assert_null(pp_scale(p, &huge, PP_ROUND_NEAREST, &limits, &err));
	assert_int_equal(err.code, PP_EOVERFLOW);
	pp_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_unknown_fields_stay_with_what_they_belong_to),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_comments_are_added_behind_others),
		cmocka_unit_test(test_scale_that_does_not_fit),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
