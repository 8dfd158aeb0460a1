/* Paths of calls: sums, order, and tests from callers down. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/compare.h"
#include "libdiff/hierarchy.h"

/* ---- the procedure ---- */

static bool is(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
}

static void a_chain_of_one_cost_pays_nothing(void **state)
{
	const uint32_t parent[] = {PD_TREE_ROOT, 0, 1, 2};
	double flat[] = {NAN, NAN, NAN, NAN}, cum[] = {0.01, 0.01, 0.01, 0.01}, within[4];
	(void)state;
	assert_int_equal(pd_tree_q(parent, 4, NAN, flat, cum, within), 0);
	for (int i = 0; i < 4; i++)
		assert_true(is(cum[i], 0.02) && is(within[i], 0.02) && isnan(flat[i]));
}

static void what_moves_between_callees_is_found_below_a_caller_that_stays(void **state)
{
	const uint32_t parent[] = {PD_TREE_ROOT, 0, 0, 0};
	double flat[] = {NAN, NAN, NAN, NAN}, cum[] = {0.9, 0.001, 0.001, 0.8}, within[4];
	(void)state;
	/* The family of the root: 0.9, 0.001, 0.001, 0.8; Simes says 0.002. */
	assert_int_equal(pd_tree_q(parent, 4, NAN, flat, cum, within), 0);
	assert_true(is(within[0], 0.004) && is(cum[0], 1));
	assert_true(is(cum[1], 0.004) && is(cum[2], 0.004) && cum[3] > 0.8);
}

static void siblings_are_corrected_for_and_other_families_are_not(void **state)
{
	const uint32_t parent[] = {PD_TREE_ROOT, 0, 0, 1, 2, 2, 2, 2};
	double flat[8], cum[] = {1e-6, 0.02, 0.5, 0.02, 0.5, 0.001, 0.6, 0.7}, within[8];
	(void)state;
	for (int i = 0; i < 8; i++)
		flat[i] = NAN;
	assert_int_equal(pd_tree_q(parent, 8, NAN, flat, cum, within), 0);
	/* 2 and what it calls are five: Simes 0.005. The root and its two: 1e-6, 0.02, 0.005. */
	assert_true(is(within[2], 0.015) && is(within[1], 0.04));
	assert_true(is(cum[5], 0.015)); /* 0.005 in its family, but no surer than that 2 has something */
	assert_true(is(cum[1], 0.04) && is(cum[3], 0.04));
}

static void nothing_is_surer_than_what_stands_above(void **state)
{
	const uint32_t parent[] = {PD_TREE_ROOT, PD_TREE_ROOT, 1};
	double flat[] = {0.001, NAN, NAN}, cum[] = {0.002, NAN, 0.3}, within[3];
	(void)state;
	assert_int_equal(pd_tree_q(parent, 3, 0.04, flat, cum, within), 0);
	assert_true(is(flat[0], 0.04) && is(cum[0], 0.04) && is(within[0], 0.04));
	assert_true(isnan(cum[1]) && is(within[1], 0.6) && is(cum[2], 0.6));
	assert_int_equal(pd_tree_q(parent, 0, NAN, flat, cum, within), 0);
}

/* A small generator (Park & Miller 1988): the same numbers everywhere. */
static double uniform(uint32_t *seed)
{
	*seed = (uint32_t)((uint64_t)*seed * 16807 % 2147483647);
	return *seed / 2147483647.0;
}

/* Independent p-values of nothing, over trees of all shapes: as q are doubled, 2.5 % of the trees have any q < 0.05. */
static void nothing_is_seldom_found(void **state)
{
	enum { NODES = 60, TREES = 4000 };
	uint32_t seed = 20260101;
	int found = 0;
	(void)state;
	for (int t = 0; t < TREES; t++) {
		uint32_t parent[NODES];
		double flat[NODES], cum[NODES], within[NODES], least = 1;
		for (uint32_t i = 0; i < NODES; i++) {
			parent[i] = i == 0 ? PD_TREE_ROOT : (uint32_t)(uniform(&seed) * i);
			cum[i] = uniform(&seed);
			flat[i] = uniform(&seed);
		}
		assert_int_equal(pd_tree_q(parent, NODES, NAN, flat, cum, within), 0);
		for (int i = 0; i < NODES; i++)
			least = fmin(least, fmin(flat[i], cum[i]));
		found += least < 0.05;
	}
	/* 100 are expected, with a standard deviation of 10. */
	assert_in_range(found, 60, 140);
}

/* ---- comparisons ---- */

struct stack {
	const char *frames; /* "main;f;g" */
	int64_t count[2];   /* by side */
};

static uint32_t location(struct pp_build *build, const char *name, size_t len)
{
	struct pp_function function = {.name = pp_build_string(build, (struct pp_str){name, len}),
	                               .filename = pp_build_string(build, PP_LIT("/src/x.go"))};
	struct pp_line line = {pp_build_function(build, &function), 0, 0};
	struct pp_location made = {.mapping = PP_NONE};
	return pp_build_location(build, &made, &line, 1);
}

/* A profile of one side; pods differ a little around its counts. */
static struct pp_profile *make(const struct stack *stacks, size_t n, int side, int pod, bool backwards)
{
	static const int wobble[] = {-6, 3, 5, -2};
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = pp_build_new(&limits, &err);
	pp_build_sample_type(build, (struct pp_value_type){pp_build_string(build, PP_LIT("samples")),
	                                                   pp_build_string(build, PP_LIT("count"))});
	for (size_t k = 0; k < n; k++) {
		const struct stack *s = &stacks[backwards ? n - 1 - k : k];
		int64_t count = s->count[side] + s->count[side] * wobble[(pod + (int)(s - stacks)) % 4] / 200;
		uint32_t path[20];
		uint32_t depth = 0;
		for (const char *at = s->frames + strlen(s->frames); at > s->frames; at -= at > s->frames) {
			const char *end = at;
			while (at > s->frames && at[-1] != ';')
				at--;
			path[depth++] = location(build, at, (size_t)(end - at));
		}
		if (count)
			pp_build_sample(build, pp_build_stack(build, path, depth), 0, &count);
	}
	struct pp_profile *profile = pp_build_finish(build, &err);
	if (!profile)
		fail_msg("%s", err.text);
	pp_build_free(build);
	return profile;
}

static struct pd_comparison *compare(const struct stack *stacks, size_t n, int pods, bool backwards)
{
	struct pd_options options = PD_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	options.call_tree = true;
	options.min_count = 1;
	struct pd_compare *compare = pd_compare_new(&options, &err);
	assert_non_null(compare);
	for (int i = 0; i < 2 * pods; i++) {
		int at = backwards ? 2 * pods - 1 - i : i, side = at >= pods;
		struct pp_origin origin = {.format = "pprof"};
		struct pp_profile *profile = make(stacks, n, side, at % pods, backwards);
		snprintf(origin.content_hash, sizeof(origin.content_hash), "%02d", at);
		assert_int_equal(pd_compare_add(compare, (enum pd_side)side, "x", profile, &origin, NAN, &err), 0);
		pp_profile_free(profile);
	}
	struct pd_comparison *c = pd_compare_finish(compare, &err);
	if (!c)
		fail_msg("%s", err.text);
	pd_compare_free(compare);
	return c;
}

/* The path of these frames. */
static const struct pd_path *path_of(const struct pd_comparison *c, const char *frames)
{
	char stack[16][40];
	for (size_t i = 0; i < c->paths_n; i++) {
		const struct pd_path *path = &c->paths[i];
		struct pp_str label = pp_frames_label(c->frames, path->row.frame);
		char whole[700] = "";
		assert_true(path->depth < 16);
		assert_int_equal(path->depth, path->parent == PP_NONE ? 0 : c->paths[path->parent].depth + 1);
		snprintf(stack[path->depth], sizeof(stack[0]), "%.*s", (int)label.len, label.ptr);
		for (uint32_t d = 0; d <= path->depth; d++)
			snprintf(whole + strlen(whole), sizeof(whole) - strlen(whole), "%s%s", d ? ";" : "", stack[d]);
		if (strcmp(whole, frames) == 0)
			return path;
	}
	fail_msg("no path '%s'", frames);
	return NULL;
}

static const struct stack shop[] = {
	{"main;login;hash", {400, 800}}, /* what grew, under one caller */
	{"main;login;parse", {300, 300}},
	{"main;search;hash", {500, 500}},
	{"main;search;rank", {600, 300}}, /* what went from rank to sort */
	{"main;search;sort", {0, 300}},
	{"main;search", {350, 350}},
	{"main;search;rank;search;rank", {40, 40}},
};

static void a_path_is_found_under_the_caller_that_grew(void **state)
{
	struct pd_comparison *c = compare(shop, PP_COUNT(shop), 4, false);
	const struct pd_path *login = path_of(c, "main;login;hash"), *search = path_of(c, "main;search;hash");
	(void)state;
	assert_true(login->row.q_cum < 0.05 && login->deepest);
	assert_true(search->row.q_cum > 0.05 && !search->deepest);
	assert_true(path_of(c, "main;login")->row.q_cum < 0.05 && !path_of(c, "main;login")->deepest);
	assert_true(path_of(c, "main;login;parse")->q_within > 0.05);
	/* search costs what it did; below it something moved. */
	const struct pd_path *caller = path_of(c, "main;search");
	assert_int_equal(caller->row.cum[0] > 0, 1);
	assert_true(caller->q_within < 0.05 && caller->row.q_cum > 0.05 && caller->row.q_flat > 0.05);
	assert_true(path_of(c, "main;search;rank")->row.q_cum < 0.05 && path_of(c, "main;search;sort")->deepest);
	assert_int_equal(path_of(c, "main;search;sort")->row.state, PD_NEW);
	pd_comparison_free(c);
}

static void paths_add_up_to_rows(void **state)
{
	struct pd_comparison *c = compare(shop, PP_COUNT(shop), 1, false);
	int64_t flat[2] = {0, 0};
	(void)state;
	for (size_t i = 0; i < c->rows_n; i++) {
		int64_t own[2] = {0, 0};
		for (size_t k = 0; k < c->paths_n; k++)
			for (int side = 0; side < 2; side++)
				own[side] += c->paths[k].row.frame == c->rows[i].frame ? c->paths[k].row.flat[side] : 0;
		assert_true(own[0] == c->rows[i].flat[0] && own[1] == c->rows[i].flat[1]);
		flat[0] += own[0];
		flat[1] += own[1];
	}
	assert_true(flat[0] == c->total[0] && flat[1] == c->total[1]);
	assert_true(c->paths[0].row.cum[0] == c->total[0] && c->paths[0].row.cum[1] == c->total[1]);
	assert_int_equal(path_of(c, "main;search;rank;search;rank")->row.cum[0], 41); /* recursion stays visible */
	pd_comparison_free(c);
}

static void the_order_of_files_and_samples_does_not_show(void **state)
{
	struct pd_comparison *a = compare(shop, PP_COUNT(shop), 4, false), *b = compare(shop, PP_COUNT(shop), 4, true);
	(void)state;
	assert_int_equal(a->paths_n, b->paths_n);
	for (size_t i = 0; i < a->paths_n; i++) {
		const struct pd_path *p = &a->paths[i], *q = &b->paths[i];
		assert_true(pp_str_eq(pp_frames_label(a->frames, p->row.frame), pp_frames_label(b->frames, q->row.frame)));
		assert_true(p->parent == q->parent && p->row.cum[0] == q->row.cum[0] && p->row.cum[1] == q->row.cum[1]);
		assert_memory_equal(&p->q_within, &q->q_within, sizeof(double));
		assert_memory_equal(&p->row.q_cum, &q->row.q_cum, sizeof(double));
		assert_memory_equal(&p->row.cum_estimate, &q->row.cum_estimate, sizeof(p->row.cum_estimate));
	}
	pd_comparison_free(a);
	pd_comparison_free(b);
}

static void renamed_frames_are_one_path(void **state)
{
	const struct stack closures[] = {
		{"main;main.run.func1;work", {400, 0}},
		{"main;main.run.func2;work", {0, 400}},
		{"main;other", {300, 300}},
	};
	struct pd_comparison *c = compare(closures, PP_COUNT(closures), 1, false);
	(void)state;
	assert_int_equal(c->paths_n, 4);
	const struct pd_path *path = path_of(c, "main;main.run.func2;work");
	assert_true(path->row.cum[0] > 380 && path->row.cum[1] > 380 && path->row.state == PD_COMMON);
	path = path_of(c, "main;main.run.func2");
	assert_int_equal(path->row.state, PD_RENAMED);
	assert_true(path->row.other != PP_NONE);
	pd_comparison_free(c);
}

static void without_the_option_there_is_no_tree(void **state)
{
	struct pd_options options = PD_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pd_compare *compare = pd_compare_new(&options, &err);
	(void)state;
	for (int side = 0; side < 2; side++) {
		struct pp_profile *profile = make(shop, PP_COUNT(shop), side, 0, false);
		assert_int_equal(pd_compare_add(compare, (enum pd_side)side, "x", profile, NULL, NAN, &err), 0);
		pp_profile_free(profile);
	}
	struct pd_comparison *c = pd_compare_finish(compare, &err);
	assert_non_null(c);
	assert_int_equal(c->paths_n, 0);
	pd_comparison_free(c);
	pd_compare_free(compare);
}

static void a_tree_without_end_is_refused(void **state)
{
	struct pd_options options = PD_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	options.call_tree = true;
	options.limits.model_bytes = 512; /* eight paths */
	struct pd_compare *compare = pd_compare_new(&options, &err);
	struct pp_profile *profile = make(shop, PP_COUNT(shop), 0, 0, false);
	(void)state;
	if (compare) {
		assert_int_not_equal(pd_compare_add(compare, PD_BASELINE, "x", profile, NULL, NAN, &err), 0);
		assert_true(err.code == PP_ELIMIT || err.code == PP_ENOMEM);
	}
	pd_compare_free(compare);
	pp_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_of_one_cost_pays_nothing),
		cmocka_unit_test(what_moves_between_callees_is_found_below_a_caller_that_stays),
		cmocka_unit_test(siblings_are_corrected_for_and_other_families_are_not),
		cmocka_unit_test(nothing_is_surer_than_what_stands_above),
		cmocka_unit_test(nothing_is_seldom_found),
		cmocka_unit_test(a_path_is_found_under_the_caller_that_grew),
		cmocka_unit_test(paths_add_up_to_rows),
		cmocka_unit_test(the_order_of_files_and_samples_does_not_show),
		cmocka_unit_test(renamed_frames_are_one_path),
		cmocka_unit_test(without_the_option_there_is_no_tree),
		cmocka_unit_test(a_tree_without_end_is_refused),
	};

	return cmocka_run_group_tests_name("calltree", tests, NULL, NULL);
}
