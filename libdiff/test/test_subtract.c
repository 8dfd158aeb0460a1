#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/subtract.h"

static const struct pp_limits limits = PP_LIMITS_DEFAULT;

struct frame {
	const char *name;
	int64_t value;
};

/* One column in this unit, one sample a frame. */
static struct pp_profile *profile_of(const char *unit, const struct frame *frames, size_t n)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = pp_build_new(&limits, &err);
	struct pp_profile *p;

	assert_non_null(build);
	pp_build_sample_type(build, (struct pp_value_type){pp_build_string(build, PP_LIT("cpu")),
	                                                   pp_build_string(build, pp_str_of(unit))});
	for (size_t i = 0; i < n; i++) {
		struct pp_function function = {.name = pp_build_string(build, pp_str_of(frames[i].name))};
		struct pp_line line = {pp_build_function(build, &function), 0, 0};
		struct pp_location location = {.mapping = PP_NONE};
		uint32_t leaf = pp_build_location(build, &location, &line, 1);

		pp_build_sample(build, pp_build_stack(build, &leaf, 1), 0, &frames[i].value);
	}
	p = pp_build_finish(build, &err);
	assert_non_null(p);
	pp_build_free(build);
	return p;
}

static struct pp_profile *difference_of(const struct pp_profile *first, enum pd_side first_side,
                                        const struct pp_profile *second, enum pd_side second_side)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_merge *merge = pp_merge_new(&limits, &err);
	struct pp_profile *difference;

	assert_int_equal(pd_subtract_add(merge, first_side, first, &err), 0);
	assert_int_equal(pd_subtract_add(merge, second_side, second, &err), 0);
	difference = pp_merge_finish(merge, &err);
	assert_non_null(difference);
	pp_merge_free(merge);
	return difference;
}

/* The value of the sample of this frame, on the side; 0 without one. */
static int64_t value_of(const struct pp_profile *p, const char *name, enum pd_side side)
{
	for (uint32_t s = 0; s < p->samples_n; s++) {
		const struct pp_location *location = &p->locations[pp_sample_stack(p, s)->locations[0]];
		const struct pp_label_list *list = pp_sample_labels(p, s);
		bool is_base = list->n == 1 && !strcmp(pp_string(p, list->labels[0].key).ptr, "pprof::base") &&
		               !strcmp(pp_string(p, list->labels[0].str).ptr, "true");

		assert_true(is_base || list->n == 0);
		if (is_base == (side == PD_BASELINE) &&
		    !strcmp(pp_string(p, p->functions[p->lines[location->line_first].function].name).ptr, name))
			return pp_value(p, s, 0);
	}
	return 0;
}

static void baseline_samples_are_negated_and_marked(void **state)
{
	struct pp_profile *baseline = profile_of("ns", (struct frame[]){{"f", 10}, {"gone", 5}}, 2);
	struct pp_profile *incident = profile_of("ns", (struct frame[]){{"f", 30}, {"new", 7}}, 2);
	struct pp_profile *difference = difference_of(baseline, PD_BASELINE, incident, PD_INCIDENT);

	(void)state;
	assert_int_equal(difference->samples_n, 4);
	assert_int_equal(value_of(difference, "f", PD_BASELINE), -10);
	assert_int_equal(value_of(difference, "f", PD_INCIDENT), 30);
	assert_int_equal(value_of(difference, "gone", PD_BASELINE), -5);
	assert_int_equal(value_of(difference, "new", PD_INCIDENT), 7);
	pp_profile_free(baseline);
	pp_profile_free(incident);
	pp_profile_free(difference);
}

static void nothing_cancels_between_the_sides(void **state)
{
	struct pp_profile *p = profile_of("ns", (struct frame[]){{"f", 10}}, 1);
	struct pp_profile *difference = difference_of(p, PD_BASELINE, p, PD_INCIDENT);

	(void)state;
	assert_int_equal(difference->samples_n, 2);
	assert_int_equal(value_of(difference, "f", PD_BASELINE) + value_of(difference, "f", PD_INCIDENT), 0);
	pp_profile_free(p);
	pp_profile_free(difference);
}

static void profiles_of_one_side_add_up_and_units_agree(void **state)
{
	struct pp_profile *ns = profile_of("ns", (struct frame[]){{"f", 10}}, 1);
	struct pp_profile *us = profile_of("us", (struct frame[]){{"f", 2}}, 1);
	struct pp_profile *baseline = difference_of(ns, PD_BASELINE, us, PD_BASELINE);
	struct pp_profile *both = difference_of(us, PD_INCIDENT, ns, PD_BASELINE);

	(void)state;
	assert_int_equal(value_of(baseline, "f", PD_BASELINE), -2010);
	assert_int_equal(value_of(both, "f", PD_INCIDENT), 2000);
	assert_int_equal(value_of(both, "f", PD_BASELINE), -10);
	pp_profile_free(ns);
	pp_profile_free(us);
	pp_profile_free(baseline);
	pp_profile_free(both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(baseline_samples_are_negated_and_marked),
		cmocka_unit_test(nothing_cancels_between_the_sides),
		cmocka_unit_test(profiles_of_one_side_add_up_and_units_agree),
	};

	return cmocka_run_group_tests_name("subtract", tests, NULL, NULL);
}
