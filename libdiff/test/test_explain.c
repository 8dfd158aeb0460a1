#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/test/service.h"

static void nothing_changed_is_none(void **state)
{
	(void)state;
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, NULL, 5, load_of(100, 80, 100, 80), true, false, NULL});

	assert_int_equal(e->causes_n, 1);
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_NONE);
	assert_null(e->causes[0].location);
	assert_true(e->detectable > 0 && e->detectable < 1);
	assert_int_equal(e->replicates_n[0], 5);
	assert_true(e->count[0] > 8000 && e->requests[1] == 900);
	pd_explanation_free(e);
}

static void what_fell_is_named_where_nothing_rose(void **state)
{
	(void)state;
	static const double times[] = {1, 1, 0.4, 1, 1, 1, 1};
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, times, 5, load_of(100, 80, 100, 80), true, false, NULL});

	assert_int_equal(e->causes_n, 1);
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_NONE);
	assert_non_null(strstr(e->causes[0].reason, "nothing rose beyond noise; main.store fell most, to 0.4"));
	pd_explanation_free(e);
}

static void a_function_that_costs_more_is_code(void **state)
{
	(void)state;
	static const double times[] = {1, 1, 1.6, 1, 1, 1, 1};
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, times, 5, load_of(100, 80, 100, 80), true, false, NULL});

	assert_int_equal(e->causes_n, 1);
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
	assert_string_equal(e->causes[0].location, "main.store");
	assert_string_equal(e->causes[0].path, "main.main;main.serve;main.cart;main.store");
	assert_string_equal(e->causes[0].mechanism, "encoding/json.Marshal");
	assert_true(fabs(e->causes[0].ratio - 1.6) < 0.1);
	assert_true(e->causes[0].share > 0.5);
	assert_true(e->causes[0].q < 0.01);
	pd_explanation_free(e);
}

/* Beyond sampling noise, but no more than one hour differs from another. */
static void a_seventh_in_one_place_is_no_code(void **state)
{
	(void)state;
	static const double times[] = {1, 1, 1.14, 1, 1, 1, 1};
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, times, 5, load_of(100, 80, 100, 80), true, false, NULL});

	assert_int_equal(e->causes[0].verdict, PD_VERDICT_NONE);
	pd_explanation_free(e);
}

static void more_requests_are_load(void **state)
{
	(void)state;
	static const double twice[] = {2, 2, 2, 2, 2, 2, 2};
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, twice, 5, load_of(100, 80, 200, 160), true, false, NULL});

	assert_int_equal(e->causes_n, 1);
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_LOAD);
	assert_true(fabs(e->causes[0].ratio - 2) < 1e-9);
	assert_true(e->causes[0].share > 0.9);
	pd_explanation_free(e);
}

static void other_requests_are_mix(void **state)
{
	(void)state;
	static const double shifted[] = {0.4, 0.4, 0.4, 1.75, 1.75, 1.75, 1};
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, shifted, 5, load_of(100, 80, 40, 140), true, false, NULL});

	assert_int_equal(e->causes_n, 1);
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_MIX);
	pd_explanation_free(e);
}

static void a_mix_shift_without_labels_is_no_code(void **state)
{
	(void)state;
	static const double shifted[] = {0.4, 0.4, 0.4, 1.75, 1.75, 1.75, 1};
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, shifted, 5, load_of(100, 80, 40, 140), false, false, NULL});

	for (size_t i = 0; i < e->causes_n; i++)
		assert_int_not_equal(e->causes[i].verdict, PD_VERDICT_CODE);
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_MIX);
	pd_explanation_free(e);
}

/* The same work without functions that serve one endpoint each. */
static void without_requests_a_rise_is_inconclusive(void **state)
{
	(void)state;
	static const char *const flat[USUAL_N] = {"main.main;main.price", "main.main;main.tax", "main.main;main.store;encoding/json.Marshal",
	                                          "main.main;main.match", "main.main;main.rank;sort.Slice",
	                                          "main.main;main.page;fmt.Sprintf", "runtime.gcBgMarkWorker;runtime.gcDrain"};
	static const double times[] = {1, 1, 3, 1, 1, 1, 1}, twice[] = {2, 2, 2, 2, 2, 2, 2};
	struct work work[USUAL_N];

	memcpy(work, usual, sizeof(work));
	for (size_t i = 0; i < USUAL_N; i++)
		work[i].stack = flat[i];
	struct pd_explanation *e =
		explain(&(struct question){.baseline = work, .incident = work, .incident_n = USUAL_N, .times = times, .pods = 5});
	for (size_t i = 0; i < e->causes_n; i++)
		assert_int_not_equal(e->causes[i].verdict, PD_VERDICT_CODE);
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(e->causes[0].reason, "mix or code"));
	pd_explanation_free(e);
	e = explain(&(struct question){.baseline = work, .incident = work, .incident_n = USUAL_N, .times = twice, .pods = 5});
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(e->causes[0].reason, "load"));
	pd_explanation_free(e);
}

static void handlers_stand_in_for_labels(void **state)
{
	(void)state;
	static const double times[] = {1, 1, 3, 1, 1, 1, 1}, shifted[] = {0.4, 0.4, 0.4, 1.75, 1.75, 1.75, 1};
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, times, 5, NULL, false, false, NULL});

	assert_true(e->estimated);
	assert_string_equal(e->label_key, "handler");
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
	assert_string_equal(e->causes[0].location, "main.store");
	assert_string_equal(e->causes[0].slice, "main.cart");
	pd_explanation_free(e);
	e = explain(&(struct question){usual, USUAL_N, shifted, 5, NULL, false, false, NULL});
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_MIX);
	assert_string_equal(e->causes[0].slice, "main.find");
	pd_explanation_free(e);
}

static void handlers_are_known_by_the_names_of_their_routes(void **state)
{
	(void)state;
	static const double both[] = {0.4, 0.4, 0.4, 1.75, 5.25, 1.75, 1};
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, both, 5, load_of(100, 80, 40, 140), false, false, NULL});

	assert_true(e->by_label && !e->estimated);
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
	assert_string_equal(e->causes[0].location, "main.rank");
	assert_string_equal(e->causes[0].slice, "/find");
	assert_int_equal(e->causes[1].verdict, PD_VERDICT_MIX);
	pd_explanation_free(e);
}

static void labels_stand_in_for_requests(void **state)
{
	(void)state;
	static const double times[] = {1, 1, 3, 1, 1, 1, 1}, shifted[] = {0.4, 0.4, 0.4, 1.75, 1.75, 1.75, 1};
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, times, 5, NULL, true, false, NULL});

	assert_true(e->estimated);
	assert_string_equal(e->label_key, "endpoint");
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
	assert_string_equal(e->causes[0].location, "main.store");
	assert_string_equal(e->causes[0].slice, "/cart");
	pd_explanation_free(e);
	e = explain(&(struct question){usual, USUAL_N, shifted, 5, NULL, true, false, NULL});
	assert_int_equal(e->causes_n, 1);
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_MIX);
	assert_string_equal(e->causes[0].slice, "/find");
	pd_explanation_free(e);
}

static void the_collector_alone_is_runtime(void **state)
{
	(void)state;
	static const double times[] = {1, 1, 1, 1, 1, 1, 6};
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, times, 5, load_of(100, 80, 100, 80), true, false, NULL});

	assert_int_equal(e->causes[0].verdict, PD_VERDICT_RUNTIME);
	assert_null(e->causes[0].location);
	assert_string_equal(e->causes[0].mechanism, "runtime.gcBgMarkWorker;runtime.gcDrain");
	pd_explanation_free(e);
}

/* However many samples say so, and whatever is assumed between sides. */
static void a_sure_rise_stays_sure(void **state)
{
	(void)state;
	static const double times[] = {1, 1, 1.6, 1, 1, 1, 1};
	struct work work[USUAL_N];

	memcpy(work, usual, sizeof(work));
	for (size_t i = 0; i < USUAL_N; i++)
		work[i].samples *= 100;
	struct pd_explanation *e = explain(&(struct question){.baseline = work, .incident = work, .incident_n = USUAL_N, .times = times,
	                                                      .pods = 5, .load = load_of(100, 80, 100, 80), .labels = true});
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
	assert_string_equal(e->causes[0].location, "main.store");
	assert_true(e->causes[0].q < 0.001);
	pd_explanation_free(e);
}

static void labels_tell_where_the_change_is(void **state)
{
	(void)state;
	static const double times[] = {1, 1, 1, 2, 2, 2, 1};
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, times, 5, load_of(100, 80, 100, 80), true, false, NULL});

	assert_int_equal(e->slices_n, 1);
	assert_string_equal(e->slices[0].key, "endpoint");
	assert_string_equal(e->slices[0].value, "/find");
	assert_true(fabs(e->slices[0].power - 1) < 0.05);
	assert_true(e->slices[0].surprise > 0.002);
	assert_true(isnan(e->changed_share));
	pd_explanation_free(e);
}

static struct pp_profile *in_unit(const char *unit, int64_t store)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = pp_build_new(&limits, &err);
	int64_t other = strcmp(unit, "milliseconds") == 0 ? 500 : 500000000;

	pp_build_sample_type(build, (struct pp_value_type){text(build, "cpu"), text(build, unit)});
	pp_build_sample(build, stack_of(build, "main.main;main.store;json.Marshal"), 0, &store);
	pp_build_sample(build, stack_of(build, "main.main;main.price"), 0, &other);

	struct pp_profile *profile = pp_build_finish(build, &err);
	pp_build_free(build);
	return profile;
}

static void units_of_a_family_are_one_and_changed_stacks_are_measured(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	struct pd_explain_options options = PD_EXPLAIN_OPTIONS_DEFAULT;
	struct pd_changed *changed = pd_changed_parse(PP_LIT("Marshal\n"), &err);
	struct pp_profile *coarse = in_unit("milliseconds", 100), *fine = in_unit("nanoseconds", 300000000);

	options.changed = changed;
	for (int turn = 0; turn < 2; turn++) { /* the finer unit last, then first */
		struct pd_explain *explain = pd_explain_new(&options, &err);
		assert_int_equal(pd_explain_add(explain, PD_BASELINE, turn ? fine : coarse, 0, NULL, &err), 0);
		assert_int_equal(pd_explain_add(explain, PD_INCIDENT, turn ? coarse : fine, 0, NULL, &err), 0);
		struct pd_explanation *e = pd_explain_finish(explain, &err);
		assert_non_null(e);
		assert_int_equal(e->total[turn ? 1 : 0], 600000000);
		assert_int_equal(e->total[turn ? 0 : 1], 800000000);
		assert_true(fabs(e->changed_share - 1) < 1e-9);
		pd_explanation_free(e);
		pd_explain_free(explain);
	}
	pp_profile_free(coarse);
	pp_profile_free(fine);
	pd_changed_free(changed);
}

static void a_dearer_allocator_is_runtime(void **state)
{
	(void)state;
	static const char *const stacks[] = {
		"main.main;main.serve;main.cart;main.price;runtime.mallocgc", "main.main;main.serve;main.cart;main.tax;runtime.mallocgc",
		"main.main;main.serve;main.cart;main.store;runtime.mallocgc", "main.main;main.serve;main.find;main.match;runtime.mallocgc",
		"main.main;main.serve;main.find;main.rank;runtime.mallocgc"};
	struct work work[USUAL_N + PP_COUNT(stacks)];
	static const double times[] = {1, 1, 1, 1, 1, 1, 1, 4, 4, 4, 4, 4};

	memcpy(work, usual, sizeof(usual));
	for (size_t i = 0; i < PP_COUNT(stacks); i++)
		work[USUAL_N + i] = (struct work){stacks[i], i < 3 ? "/cart" : "/find", 60};
	struct pd_explanation *e = explain(&(struct question){.baseline = work, .incident = work, .incident_n = PP_COUNT(work),
	                                                      .times = times, .pods = 5, .load = load_of(100, 80, 100, 80)});
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_RUNTIME);
	assert_string_equal(e->causes[0].mechanism, "runtime.mallocgc");
	assert_null(e->causes[0].location);
	pd_explanation_free(e);
}

static void one_against_one_claims_only_what_no_replicate_could_hide(void **state)
{
	(void)state;
	static const double some[] = {1, 1, 1.5, 1, 1, 1, 1}, much[] = {1, 1, 12, 1, 1, 1, 1};
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, some, 1, load_of(100, 80, 100, 80), true, false, NULL});

	assert_int_equal(e->causes[0].verdict, PD_VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(e->causes[0].reason, "three or more profiles"));
	pd_explanation_free(e);
	e = explain(&(struct question){usual, USUAL_N, much, 1, load_of(100, 80, 100, 80), true, false, NULL});
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
	pd_explanation_free(e);
}

static void snapshots_are_not_divided_by_requests(void **state)
{
	(void)state;
	static const double times[] = {1, 1, 3, 1, 1, 1, 1};
	struct pd_explanation *e = explain(&(struct question){usual, USUAL_N, times, 5, load_of(100, 80, 300, 240), true, true, NULL});

	assert_int_equal(e->causes_n, 1);
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
	assert_string_equal(e->causes[0].location, "main.store");
	pd_explanation_free(e);
}

static void without_a_baseline_costs_are_still_named(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	struct pd_explain_options options = PD_EXPLAIN_OPTIONS_DEFAULT;
	struct pd_explain *explain = pd_explain_new(&options, &err);

	assert_null(pd_explain_finish(explain, &err));
	assert_int_equal(err.code, PP_EUSAGE);
	err = (struct pp_error)PP_ERROR_INIT;
	struct pp_profile *profile = make(usual, USUAL_N, NULL, 0, true);
	assert_int_equal(pd_explain_add(explain, PD_INCIDENT, profile, 0, NULL, &err), 0);
	pp_profile_free(profile);
	struct pd_explanation *e = pd_explain_finish(explain, &err);
	assert_non_null(e);
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_INCONCLUSIVE);
	assert_string_equal(e->hot[0].name, "main.match");
	assert_string_equal(e->hot[0].path, "main.main;main.serve;main.find;main.match");
	assert_int_equal(e->hot_n, 6);
	pd_explanation_free(e);
	pd_explain_free(explain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changed_is_none),
		cmocka_unit_test(what_fell_is_named_where_nothing_rose),
		cmocka_unit_test(a_function_that_costs_more_is_code),
		cmocka_unit_test(a_seventh_in_one_place_is_no_code),
		cmocka_unit_test(more_requests_are_load),
		cmocka_unit_test(other_requests_are_mix),
		cmocka_unit_test(a_mix_shift_without_labels_is_no_code),
		cmocka_unit_test(without_requests_a_rise_is_inconclusive),
		cmocka_unit_test(handlers_stand_in_for_labels),
		cmocka_unit_test(handlers_are_known_by_the_names_of_their_routes),
		cmocka_unit_test(labels_stand_in_for_requests),
		cmocka_unit_test(the_collector_alone_is_runtime),
		cmocka_unit_test(a_sure_rise_stays_sure),
		cmocka_unit_test(labels_tell_where_the_change_is),
		cmocka_unit_test(units_of_a_family_are_one_and_changed_stacks_are_measured),
		cmocka_unit_test(a_dearer_allocator_is_runtime),
		cmocka_unit_test(one_against_one_claims_only_what_no_replicate_could_hide),
		cmocka_unit_test(snapshots_are_not_divided_by_requests),
		cmocka_unit_test(without_a_baseline_costs_are_still_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
