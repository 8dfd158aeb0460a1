/* Many tests together, and controls. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/control.h"
#include "libdiff/significance.h"

static void the_root_holds_back_both_families(void **state)
{
	(void)state;
	/* Alone, 0.03 would be q = 0.03 of one flat test; among all five the root's p is 0.15. */
	double flat[] = {0.03, NAN, NAN, NAN}, cum[] = {0.5, 0.9, 0.8, 0.7}, any;
	assert_int_equal(pd_hierarchical_q(flat, cum, 4, &any), 0);
	assert_true(fabs(any - 0.15) < 1e-12);
	assert_true(fabs(flat[0] - 0.15) < 1e-12);
	assert_true(isnan(flat[1]));
	assert_true(cum[0] >= 0.9 - 1e-12);
}

static void a_strong_family_opens_the_root(void **state)
{
	(void)state;
	double flat[] = {0.03, NAN}, cum[] = {1e-9, 1e-8}, any;
	assert_int_equal(pd_hierarchical_q(flat, cum, 2, &any), 0);
	assert_true(any < 1e-8);
	assert_true(fabs(flat[0] - 0.03) < 1e-12); /* corrected within its own family only */
	assert_true(fabs(cum[0] - 3e-9) < 1e-18 && fabs(cum[1] - 1e-8) < 1e-18);
}

static void nothing_tested_is_nothing_known(void **state)
{
	(void)state;
	double flat[] = {NAN}, cum[] = {NAN}, any;
	assert_int_equal(pd_hierarchical_q(flat, cum, 1, &any), 0);
	assert_true(isnan(any) && isnan(flat[0]) && isnan(cum[0]));
}

/* Profiles of functions f0, f1, …, each a stack of its own. */
static struct pp_profile *make(const int64_t *counts, size_t n)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = pp_build_new(&limits, &err);

	pp_build_sample_type(build, (struct pp_value_type){pp_build_string(build, PP_LIT("samples")),
	                                                   pp_build_string(build, PP_LIT("count"))});
	for (size_t i = 0; i < n; i++) {
		char name[20];
		snprintf(name, sizeof(name), "f%zu", i);
		struct pp_function function = {.name = pp_build_string(build, pp_str_of(name))};
		struct pp_line line = {pp_build_function(build, &function), 0, 0};
		struct pp_location location = {.mapping = PP_NONE};
		uint32_t at = pp_build_location(build, &location, &line, 1);
		if (counts[i])
			pp_build_sample(build, pp_build_stack(build, &at, 1), 0, &counts[i]);
	}
	struct pp_profile *profile = pp_build_finish(build, &err);
	if (!profile)
		fail_msg("%s", err.text);
	pp_build_free(build);
	return profile;
}

enum { FUNCTIONS = 8, PODS = 4 };

/* Pods that differ a little around the means of each side. */
static struct pd_comparison *compare(const int64_t baseline[FUNCTIONS], const int64_t incident[FUNCTIONS])
{
	static const int wobble[PODS] = {-6, 3, 5, -2}; /* thousandths; each function gets another order */
	struct pd_options options = PD_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pd_compare *compare = pd_compare_new(&options, &err);
	assert_non_null(compare);
	for (int i = 0; i < 2 * PODS; i++) {
		const int64_t *mean = i < PODS ? baseline : incident;
		struct pp_origin origin = {.format = "pprof"};
		int64_t counts[FUNCTIONS];
		for (int f = 0; f < FUNCTIONS; f++)
			counts[f] = mean[f] + mean[f] * wobble[(i + f) % PODS] / 200;
		struct pp_profile *profile = make(counts, FUNCTIONS);
		snprintf(origin.content_hash, sizeof(origin.content_hash), "%d", i);
		assert_int_equal(pd_compare_add(compare, i < PODS ? PD_BASELINE : PD_INCIDENT, "x", profile, &origin, NAN, &err), 0);
		pp_profile_free(profile);
	}
	struct pd_comparison *c = pd_compare_finish(compare, &err);
	if (!c)
		fail_msg("%s", err.text);
	pd_compare_free(compare);
	return c;
}

static const struct pd_row *row_of(const struct pd_comparison *c, const char *name)
{
	for (size_t i = 0; i < c->rows_n; i++)
		if (pp_str_eq(pp_frames_label(c->frames, c->rows[i].frame), pp_str_of(name)))
			return &c->rows[i];
	fail_msg("no row '%s'", name);
	return NULL;
}

static void a_control_takes_off_what_changed_there_too(void **state)
{
	const int64_t before[FUNCTIONS] = {400, 600, 0, 500, 300, 700, 450, 800};
	const int64_t after[FUNCTIONS] = {800, 1200, 200, 500, 300, 700, 450, 800};
	const int64_t elsewhere[FUNCTIONS] = {800, 600, 0, 500, 300, 700, 450, 800};
	(void)state;
	for (int same_baseline = 0; same_baseline < 2; same_baseline++) {
		struct pd_comparison *c = compare(before, after), *control = compare(before, elsewhere);
		struct pp_error err = PP_ERROR_INIT;
		assert_int_equal(pd_control_apply(c, control, same_baseline, &err), 0);
		const struct pd_beyond *both = &row_of(c, "f0")->flat_beyond, *own = &row_of(c, "f1")->flat_beyond;
		const struct pd_beyond *new = &row_of(c, "f2")->flat_beyond; /* the control has no such row */
		assert_true(row_of(c, "f0")->q_flat < 0.05 && both->q > 0.5 && both->low < 1 && both->high > 1);
		assert_true(own->q < 0.05 && own->low > 1 && own->low < 2 && own->high > 2 && fabs(own->ratio - 2) < 0.1);
		assert_true(new->q < 0.05 && new->low > 1 && isfinite(new->high));
		pd_comparison_free(c);
		pd_comparison_free(control);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_root_holds_back_both_families),
		cmocka_unit_test(a_strong_family_opens_the_root),
		cmocka_unit_test(nothing_tested_is_nothing_known),
		cmocka_unit_test(a_control_takes_off_what_changed_there_too),
	};

	return cmocka_run_group_tests_name("significance", tests, NULL, NULL);
}
