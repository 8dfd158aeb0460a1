#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libpprof/split.h"
#include "libpprof/test/merging.h"

static void one_profile_is_compacted(void **state)
{
	struct pp_build *build = new_build();
	struct pp_profile *p, *sum, *again;
	uint32_t f, f_again, unused;

	(void)state;
	add_type(build, "n", "count");
	add_type(build, "t", "ns");
	add_mapping(build, "unused", 1 << 20);
	f = add_frame(build, "f", PP_NONE, 16);
	f_again = add_frame(build, "f", PP_NONE, 16);
	unused = add_frame(build, "unused", PP_NONE, 16);
	add_sample(build, f, 0, 1, 0);
	add_sample(build, unused, 0, 0, 0);
	add_sample(build, f_again, 0, 2, -3);
	add_sample(build, add_frame(build, "a", PP_NONE, 16), 0, 5, 0);
	add_sample(build, unused, 0, 9, 9);
	add_sample(build, unused, 0, -9, -9);
	p = finish(build);

	sum = merged(1, p);
	assert_int_equal(sum->samples_n, 2);
	assert_int_equal(sum->functions_n, 2);
	assert_int_equal(sum->locations_n, 2);
	assert_string_equal(string_of(sum, sum->functions[0].name), "a");
	assert_int_equal(pp_value(sum, 0, 0), 5);
	assert_int_equal(pp_value(sum, 1, 0), 3);
	assert_int_equal(pp_value(sum, 1, 1), -3);
	assert_int_equal(sum->locations[1].id, 2);
	assert_int_equal(sum->mappings_n, 1); /* mappings stay */

	again = merged(1, sum);
	assert_same_bytes(sum, again);
	pp_profile_free(p);
	pp_profile_free(sum);
	pp_profile_free(again);
}

static void a_profile_less_itself_is_empty(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *p = simple("t", "ns", 5), *sum;
	struct pp_merge *merge = pp_merge_new(&limits, &err);

	(void)state;
	assert_int_equal(pp_merge_add(merge, p, 1, NULL, &err), 0);
	assert_int_equal(pp_merge_add(merge, p, -1, NULL, &err), 0);
	sum = pp_merge_finish(merge, &err);
	assert_non_null(sum);
	assert_int_equal(sum->samples_n, 0);
	assert_int_equal(sum->functions_n, 0);
	assert_int_equal(sum->locations_n, 0);
	assert_int_equal(sum->sample_types_n, 1);
	pp_merge_free(merge);
	pp_profile_free(p);
	pp_profile_free(sum);
}

/* Lists that grow by one, so that room made for one is filled by the next. */
static void the_extra_label_joins_lists_of_any_length(void **state)
{
	const struct pp_merge_label extra = {"pprof::base", "true"};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = new_build();
	(void)state;
	add_type(build, "cpu", "nanoseconds");
	add_type(build, "samples", "count");
	const uint32_t leaf = add_frame(build, "f", PP_NONE, 1);
	add_sample(build, leaf, 0, 1, 1);
	add_sample(build, leaf, add_label(build, "pod", "a"), 2, 1);
	struct pp_profile *p = finish(build);
	struct pp_merge *merge = pp_merge_new(&limits, &err);
	assert_int_equal(pp_merge_add(merge, p, -1, &extra, &err), 0);
	struct pp_profile *sum = pp_merge_finish(merge, &err);
	assert_int_equal(sum->samples_n, 2);
	assert_int_equal(pp_sample_labels(sum, 0)->n + pp_sample_labels(sum, 1)->n, 3);
	pp_profile_free(sum);
	pp_merge_free(merge);
	pp_profile_free(p);
}

static void the_extra_label_replaces_texts_of_its_key(void **state)
{
	const struct pp_merge_label extra = {"pprof::base", "true"};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = new_build();
	struct pp_merge *merge = pp_merge_new(&limits, &err);
	struct pp_profile *p, *sum;
	struct pp_label labels[3] = {{.key = text(build, "pprof::base"), .str = text(build, "no")},
	                             {.key = text(build, "pprof::base"), .num = 4},
	                             {.key = text(build, "z"), .str = text(build, "v")}};
	const struct pp_label_list *list;

	(void)state;
	add_type(build, "t", "ns");
	add_sample(build, add_frame(build, "f", PP_NONE, 0), pp_build_label_list(build, labels, 3), 8, 0);
	p = finish(build);
	assert_int_equal(pp_merge_add(merge, p, -1, &extra, &err), 0);
	sum = pp_merge_finish(merge, &err);
	assert_int_equal(sum->samples_n, 1);
	assert_int_equal(pp_value(sum, 0, 0), -8);
	list = pp_sample_labels(sum, 0);
	assert_int_equal(list->n, 3);
	assert_string_equal(string_of(sum, list->labels[0].key), "pprof::base");
	assert_string_equal(string_of(sum, list->labels[0].str), "true");
	assert_string_equal(string_of(sum, list->labels[1].key), "z");
	assert_int_equal(list->labels[2].num, 4);
	pp_merge_free(merge);
	pp_profile_free(p);
	pp_profile_free(sum);
}

static void sums_that_do_not_fit_are_refused(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *big = simple("t", "ns", INT64_MAX), *small = simple("t", "ns", 1);
	struct pp_profile *least = simple("t", "ns", INT64_MIN), *hours = simple("t", "hours", INT64_MAX / 1000);
	struct pp_merge *merge = pp_merge_new(&limits, &err);

	(void)state;
	assert_refused(big, small, PP_EOVERFLOW, "the sum of t does not fit");
	assert_refused(small, hours, PP_EOVERFLOW, "unit");
	assert_refused(hours, small, PP_EOVERFLOW, "unit");
	assert_int_equal(pp_merge_add(merge, least, -1, NULL, &err), -1);
	assert_int_equal(err.code, PP_EOVERFLOW);
	pp_merge_free(merge);
	pp_profile_free(big);
	pp_profile_free(small);
	pp_profile_free(least);
	pp_profile_free(hours);
}

/* One sample with the labels k=v, l=w, k=u and a number, in this order. */
static struct pp_profile *labelled(const char *order)
{
	struct pp_build *build = new_build();
	struct pp_label labels[4];
	uint32_t n = 0;

	add_type(build, "t", "ns");
	for (; *order; order++)
		switch (*order) {
		case 'v':
			labels[n++] = (struct pp_label){.key = text(build, "k"), .str = text(build, "v")};
			break;
		case 'w':
			labels[n++] = (struct pp_label){.key = text(build, "l"), .str = text(build, "w")};
			break;
		case 'u':
			labels[n++] = (struct pp_label){.key = text(build, "k"), .str = text(build, "u")};
			break;
		default:
			labels[n++] = (struct pp_label){.key = text(build, "k"), .num_unit = text(build, "b"),
			                                .num = 3};
		}
	add_sample(build, add_frame(build, "f", PP_NONE, 0), pp_build_label_list(build, labels, n), 1, 0);
	return finish(build);
}

static void the_order_of_keys_does_not_matter(void **state)
{
	struct pp_profile *a = labelled("vwu3"), *b = labelled("3vuw"), *c = labelled("uvw3"), *d = labelled("vwu");
	struct pp_profile *sum = merged(4, a, b, c, d);

	(void)state;
	/* a and b are one; c has the texts of k in another order; d has no number. */
	assert_int_equal(sum->samples_n, 3);
	pp_profile_free(a);
	pp_profile_free(b);
	pp_profile_free(c);
	pp_profile_free(d);
	pp_profile_free(sum);
}

/* A frame at offset 100 of a library that was loaded at this place; the main binary is main. */
static struct pp_profile *loaded_at(uint64_t start, const char *main)
{
	struct pp_build *build = new_build();
	uint32_t library;

	add_type(build, "t", "ns");
	add_mapping(build, main, 1 << 20);
	library = add_mapping(build, "lib.so", start);
	add_sample(build, add_frame(build, "f", library, start + 100), 0, 1, 0);
	return finish(build);
}

static void addresses_count_from_the_start_of_their_mapping(void **state)
{
	struct pp_profile *a = loaded_at(0x7000, "prog"), *b = loaded_at(0x5000, "prog");
	struct pp_profile *ab = merged(2, a, b), *ba = merged(2, b, a);

	(void)state;
	assert_int_equal(ab->samples_n, 1);
	assert_int_equal(pp_value(ab, 0, 0), 2);
	assert_int_equal(ab->mappings_n, 2);
	assert_string_equal(string_of(ab, ab->mappings[0].filename), "prog");
	assert_int_equal(ab->mappings[1].start, 0x5000);
	assert_int_equal(ab->locations[0].address, 0x5064);
	assert_same_bytes(ab, ba);
	pp_profile_free(a);
	pp_profile_free(b);
	pp_profile_free(ab);
	pp_profile_free(ba);
}

static void the_main_binary_is_of_what_is_added(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *old = loaded_at(0x7000, "a-prog"), *new = loaded_at(0x7000, "b-prog"), *sum;
	struct pp_merge *merge = pp_merge_new(&limits, &err);

	(void)state;
	assert_int_equal(pp_merge_add(merge, old, -1, NULL, &err), 0);
	assert_int_equal(pp_merge_add(merge, new, 1, NULL, &err), 0);
	sum = pp_merge_finish(merge, &err);
	assert_string_equal(string_of(sum, sum->mappings[0].filename), "b-prog");
	assert_string_equal(string_of(sum, sum->mappings[1].filename), "a-prog");
	pp_merge_free(merge);
	pp_profile_free(sum);

	sum = merged(2, new, old);
	assert_string_equal(string_of(sum, sum->mappings[0].filename), "a-prog");
	pp_profile_free(old);
	pp_profile_free(new);
	pp_profile_free(sum);
}

static struct pp_profile *inlined(int64_t column)
{
	struct pp_build *build = new_build();
	struct pp_function function = {.name = text(build, "f")};
	struct pp_line lines[2] = {{0, 7, 0}, {0, 8, 2}};
	struct pp_location location = {.mapping = PP_NONE};

	lines[0].column = column;
	add_type(build, "t", "ns");
	pp_build_function(build, &function);
	add_sample(build, pp_build_location(build, &location, lines, 2), 0, 1, 0);
	return finish(build);
}

static void columns_of_inlined_lines_tell_locations_apart(void **state)
{
	struct pp_profile *a = inlined(1), *b = inlined(2), *sum = merged(3, a, b, a);

	(void)state;
	assert_int_equal(sum->samples_n, 2);
	assert_int_equal(sum->locations_n, 2);
	assert_int_equal(pp_value(sum, 0, 0), 2);
	assert_int_equal(sum->lines[0].column, 1);
	pp_profile_free(a);
	pp_profile_free(b);
	pp_profile_free(sum);
}

/* The next of a row of arbitrary numbers below n. */
static uint32_t next(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 16) % n;
}

/* A profile that depends on seed alone: a few frames in a few mappings, short stacks, labels, in an order
 * of its own. */
static struct pp_profile *arbitrary(uint32_t seed)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	struct pp_build *build = new_build();
	uint32_t state = seed * 2654435761u + 1, mappings[3], frames[5];

	add_type(build, "t", seed % 2 ? "us" : "ns");
	add_type(build, "n", "count");
	for (int i = 0; i < 3; i++)
		mappings[i] = add_mapping(build, names[next(&state, 3)], UINT64_C(4096) * (1 + next(&state, 9)));
	for (int i = 0; i < 5; i++) {
		uint32_t mapping = mappings[next(&state, 3)];
		uint64_t start = pp_build_profile(build)->mappings[mapping].start;

		frames[i] = add_frame(build, names[next(&state, 5)], mapping, start + next(&state, 2));
	}
	for (int i = 0; i < 30; i++) {
		uint32_t stack[3], n = next(&state, 4);
		uint32_t list = next(&state, 2) ? add_label(build, names[next(&state, 2)], names[next(&state, 2)]) : 0;
		int64_t values[2] = {next(&state, 3), (int64_t)next(&state, 5) - 2};

		for (uint32_t k = 0; k < n; k++)
			stack[k] = frames[next(&state, 5)];
		pp_build_sample(build, pp_build_stack(build, stack, n), list, values);
	}
	pp_build_comment(build, text(build, names[next(&state, 5)]));
	pp_build_profile(build)->time_ns = next(&state, 4);
	return finish(build);
}

static void no_byte_depends_on_order_or_grouping(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 100; seed++) {
		struct pp_profile *a = arbitrary(3 * seed), *b = arbitrary(3 * seed + 1), *c = arbitrary(3 * seed + 2);
		struct pp_profile *all = merged(3, a, b, c), *back = merged(3, c, a, b);
		struct pp_profile *ab = merged(2, a, b), *bc = merged(2, b, c), *ca = merged(2, c, a);
		struct pp_profile *ab_c = merged(2, ab, c), *a_bc = merged(2, a, bc), *b_ca = merged(2, b, ca);

		assert_same_bytes(all, back);
		assert_same_bytes(all, ab_c);
		assert_same_bytes(all, a_bc);
		assert_same_bytes(all, b_ca);
		pp_profile_free(a);
		pp_profile_free(b);
		pp_profile_free(c);
		pp_profile_free(all);
		pp_profile_free(back);
		pp_profile_free(ab);
		pp_profile_free(bc);
		pp_profile_free(ca);
		pp_profile_free(ab_c);
		pp_profile_free(a_bc);
		pp_profile_free(b_ca);
	}
}

static void totals_are_kept(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 20; seed++) {
		struct pp_profile *a = arbitrary(2 * seed), *sum = merged(1, a);
		int64_t totals[2] = {0, 0};

		for (uint32_t s = 0; s < a->samples_n; s++)
			for (uint32_t c = 0; c < 2; c++)
				totals[c] += pp_value(a, s, c);
		for (uint32_t s = 0; s < sum->samples_n; s++)
			for (uint32_t c = 0; c < 2; c++)
				totals[c] -= pp_value(sum, s, c);
		assert_int_equal(totals[0], 0);
		assert_int_equal(totals[1], 0);
		pp_profile_free(a);
		pp_profile_free(sum);
	}
}

static void the_budget_holds(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_limits small = PP_LIMITS_DEFAULT;
	struct pp_profile *p = arbitrary(1);
	const struct pp_profile *profiles[1] = {p};

	(void)state;
	small.model_bytes = 4096;
	assert_null(pp_merge_all(profiles, 1, &small, &err));
	assert_int_equal(err.code, PP_ELIMIT);
	pp_profile_free(p);
}

static void the_parts_of_a_split_add_up_to_the_whole(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = new_build();
	struct pp_split split;

	add_type(build, "n", "count");
	add_type(build, "m", "count");
	const uint32_t f = add_frame(build, "f", PP_NONE, 0), g = add_frame(build, "g", PP_NONE, 0);
	add_sample(build, f, add_label(build, "k", "b"), 1, 2);
	add_sample(build, g, add_label(build, "k", "a"), 3, 4);
	add_sample(build, f, add_label(build, "other", "a"), 5, 6);
	add_sample(build, g, 0, 7, 8);
	add_sample(build, g, add_label(build, "k", "b"), 9, 10);
	struct pp_profile *p = finish(build), *parts[3], *whole = merged(1, p);

	assert_int_equal(pp_split_by_label(p, PP_LIT("k"), 3, &limits, &split, &err), 0);
	assert_int_equal(split.parts_n, 3);
	assert_true(split.parts[0].without && !split.parts[1].without);
	assert_true(pp_str_eq(split.parts[1].value, PP_LIT("a")) && pp_str_eq(split.parts[2].value, PP_LIT("b")));
	assert_int_equal(split.parts[0].samples_n, 2);
	assert_int_equal(split.parts[1].samples_n, 1);
	assert_int_equal(split.parts[2].samples_n, 2);
	for (uint32_t i = 0; i < 3; i++) {
		struct pp_merge *merge = pp_merge_new(&limits, &err);
		assert_int_equal(pp_split_add(merge, p, &split, i, &err), 0);
		parts[i] = pp_merge_finish(merge, &err);
		assert_int_equal(parts[i]->samples_n, split.parts[i].samples_n);
		pp_merge_free(merge);
	}
	assert_int_equal(parts[1]->functions_n, 1); /* what the part does not use is not in it */
	struct pp_profile *sum = merged(3, parts[2], parts[0], parts[1]);
	sum->duration_ns = whole->duration_ns;
	assert_same_bytes(sum, whole);
	pp_profile_free(sum);
	pp_profile_free(whole);
	for (size_t i = 0; i < 3; i++)
		pp_profile_free(parts[i]);
	pp_split_release(&split);
	assert_int_equal(pp_split_by_label(p, PP_LIT("k"), 2, &limits, &split, &err), -1);
	assert_int_equal(err.code, PP_ELIMIT);
	pp_split_release(&split);
	pp_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_of_a_split_add_up_to_the_whole),
		cmocka_unit_test(one_profile_is_compacted),
		cmocka_unit_test(a_profile_less_itself_is_empty),
		cmocka_unit_test(the_extra_label_joins_lists_of_any_length),
		cmocka_unit_test(the_extra_label_replaces_texts_of_its_key),
		cmocka_unit_test(sums_that_do_not_fit_are_refused),
		cmocka_unit_test(the_order_of_keys_does_not_matter),
		cmocka_unit_test(addresses_count_from_the_start_of_their_mapping),
		cmocka_unit_test(the_main_binary_is_of_what_is_added),
		cmocka_unit_test(columns_of_inlined_lines_tell_locations_apart),
		cmocka_unit_test(no_byte_depends_on_order_or_grouping),
		cmocka_unit_test(totals_are_kept),
		cmocka_unit_test(the_budget_holds),
	};

	return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
