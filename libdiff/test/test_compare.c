#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/compare.h"
#include "libdiff/stats.h"

/* A profile as a test writes it down: "main;foo 100" lines of function names, root first, and a count
 * of samples; values are count * period. */
struct spec {
	const char *stacks[8];
	int64_t counts[8];
	const char *type, *unit; /* of the second column; NULL: "cpu", "nanoseconds" */
	int64_t period, duration_ns, time_ns;
	const char *pod;
	uint64_t address; /* added to every address */
	int64_t line;     /* added to every line and start_line */
};

static uint32_t text(struct pp_build *build, const char *s)
{
	return pp_build_string(build, pp_str_of(s));
}

/* One location a frame of each stack: plenty, but equal names are equal frames. */
static uint32_t add_stack(struct pp_build *build, const struct spec *spec, const char *stack)
{
	uint32_t locations[8], n = 0;
	char copy[200];
	snprintf(copy, sizeof(copy), "%s", stack);
	for (char *at = copy; *at;) {
		size_t length = strcspn(at, ";");
		char *next = at + length + (at[length] == ';');
		at[length] = '\0';
		struct pp_function function = {.name = text(build, at), .filename = text(build, "x.go"),
		                               .start_line = 10 + spec->line};
		struct pp_line line = {pp_build_function(build, &function), 15 + spec->line, 0};
		struct pp_location location = {.address = 0x1000 + spec->address, .mapping = PP_NONE};
		memmove(locations + 1, locations, n * sizeof(*locations));
		locations[0] = pp_build_location(build, &location, &line, 1);
		n++;
		at = next;
	}
	return pp_build_stack(build, locations, n);
}

static struct pp_profile *make(const struct spec *spec)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = pp_build_new(&limits, &err);
	const char *unit = spec->unit ? spec->unit : "nanoseconds";
	int64_t period = spec->period ? spec->period : 10;

	pp_build_sample_type(build, (struct pp_value_type){text(build, "samples"), text(build, "count")});
	pp_build_sample_type(build, (struct pp_value_type){text(build, spec->type ? spec->type : "cpu"), text(build, unit)});
	for (int i = 0; spec->stacks[i]; i++) {
		int64_t values[] = {spec->counts[i], spec->counts[i] * period};
		struct pp_label label = {.key = text(build, "pod"), .str = text(build, spec->pod ? spec->pod : "")};
		uint32_t labels = spec->pod ? pp_build_label_list(build, &label, 1) : 0;
		pp_build_sample(build, add_stack(build, spec, spec->stacks[i]), labels, values);
	}
	struct pp_profile *header = pp_build_profile(build);
	header->period_type = (struct pp_value_type){text(build, "cpu"), text(build, unit)};
	header->period = period;
	header->duration_ns = spec->duration_ns;
	header->time_ns = spec->time_ns;
	struct pp_profile *profile = pp_build_finish(build, &err);
	if (!profile)
		fail_msg("%s", err.text);
	pp_build_free(build);
	return profile;
}

static int add(struct pd_compare *compare, enum pd_side side, const struct spec *spec, double exposure,
               struct pp_error *err)
{
	struct pp_profile *profile = make(spec);
	struct pp_origin origin = {.format = "pprof"};
	/* a stand-in for the content: whatever differs here differs there */
	snprintf(origin.content_hash, sizeof(origin.content_hash), "%lld %lld", (long long)spec->counts[0],
	         (long long)spec->counts[1]);
	int status = pd_compare_add(compare, side, "file.pb.gz", profile, &origin, exposure, err);
	pp_profile_free(profile);
	return status;
}

/* Compares specs, the first a_n of which are the baseline; NULL when it fails. */
static struct pd_comparison *compare_all(const struct pd_options *options, const struct spec *const *specs,
                                         int a_n, int n, struct pp_error *err)
{
	struct pd_compare *compare = pd_compare_new(options, err);
	struct pd_comparison *comparison = NULL;
	int status = 0;
	for (int i = 0; i < n && status == 0; i++)
		status = add(compare, i < a_n ? PD_BASELINE : PD_INCIDENT, specs[i], i < a_n ? 100 : 400, err);
	if (status == 0)
		comparison = pd_compare_finish(compare, err);
	pd_compare_free(compare);
	return comparison;
}

static struct pd_comparison *pair(enum pd_normalization normalization, enum pp_granularity granularity,
                                  const struct spec *a, const struct spec *b)
{
	struct pd_options options = PD_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	options.normalization = normalization;
	options.granularity = granularity;
	struct pd_comparison *c = compare_all(&options, (const struct spec *const[]){a, b}, 1, 2, &err);
	if (!c)
		fail_msg("%s", err.text);
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

static const struct pd_check *check_of(const struct pd_comparison *c, const char *name)
{
	for (size_t i = 0; i < c->checks_n; i++)
		if (strcmp(c->checks[i].name, name) == 0)
			return &c->checks[i];
	fail_msg("no check '%s'", name);
	return NULL;
}

static const struct spec base = {{"main;foo", "main;bar", "main;old"}, {100, 50, 30}, .duration_ns = 1000000000,
                                 .time_ns = 1000000000};
static const struct spec incident = {{"main;foo", "main;bar", "main;fresh"}, {100, 80, 20},
                                     .duration_ns = 2000000000, .time_ns = 2000000000};

static void test_raw_rows(void **state)
{
	(void)state;
	struct pd_comparison *c = pair(PD_RAW, PP_BY_FUNCTIONS, &base, &incident);
	assert_int_equal(c->rows_n, 5);
	assert_int_equal(c->total[0], 1800);
	assert_int_equal(c->total[1], 2000);
	const char *const order[] = {"bar", "old", "fresh", "main", "foo"};
	for (size_t i = 0; i < 5; i++)
		assert_ptr_equal(row_of(c, order[i]), &c->rows[i]);
	assert_int_equal(row_of(c, "fresh")->state, PD_NEW);
	assert_int_equal(row_of(c, "old")->state, PD_GONE);
	assert_int_equal(row_of(c, "main")->cum[1], 2000);
	assert_true(row_of(c, "main")->flat_count[1] == 0 && row_of(c, "main")->cum_count[1] == 200);
	const struct pd_row *bar = row_of(c, "bar");
	assert_true(bar->p_flat == pd_poisson_ratio_p(50, 1, 80, 1));
	assert_true(bar->flat_estimate.ratio[0] < 1.6 && bar->flat_estimate.ratio[1] > 1.6);
	assert_true(c->tests_n == 4); /* main has no samples of its own */
	assert_true(isnan(row_of(c, "main")->p_flat) && !isnan(row_of(c, "main")->p_cum));
	pd_comparison_free(c);
}

static void test_a_profile_does_not_differ_from_itself(void **state)
{
	(void)state;
	for (int n = PD_RAW; n < PD_NORMALIZATIONS_N; n++) {
		if (n == PD_EXPOSURE) /* the sides' are 100 and 400 */
			continue;
		struct pd_comparison *c = pair((enum pd_normalization)n, PP_BY_FRAMES, &incident, &incident);
		for (size_t i = 0; i < c->rows_n; i++) {
			assert_int_equal(c->rows[i].flat[0], c->rows[i].flat[1]);
			assert_int_equal(c->rows[i].cum[0], c->rows[i].cum[1]);
			assert_false(c->rows[i].q_cum < 1);
		}
		pd_comparison_free(c);
	}
}

static void test_exchanged_sides_negate(void **state)
{
	(void)state;
	for (int n = PD_RAW; n < PD_NORMALIZATIONS_N; n++) {
		if (n == PD_EXPOSURE) /* the sides' are not exchanged */
			continue;
		struct pd_comparison *c = pair((enum pd_normalization)n, PP_BY_FRAMES, &base, &incident);
		struct pd_comparison *d = pair((enum pd_normalization)n, PP_BY_FRAMES, &incident, &base);
		int64_t sum = 0;
		assert_int_equal(c->rows_n, d->rows_n);
		for (size_t i = 0; i < c->rows_n; i++) {
			const struct pd_row *x = &c->rows[i], *y = &d->rows[i];
			assert_true(pp_str_eq(pp_frames_label(c->frames, x->frame), pp_frames_label(d->frames, y->frame)));
			for (int side = 0; side < 2; side++) {
				assert_int_equal(x->flat[side], y->flat[1 - side]);
				assert_int_equal(x->cum[side], y->cum[1 - side]);
			}
			assert_true(x->p_flat == y->p_flat || (isnan(x->p_flat) && isnan(y->p_flat)));
			assert_true(x->q_cum == y->q_cum || (isnan(x->q_cum) && isnan(y->q_cum)));
			sum += x->flat[1] - x->flat[0];
		}
		assert_int_equal(sum, c->total[1] - c->total[0]);
		pd_comparison_free(c);
		pd_comparison_free(d);
	}
}

/* Twice everything in twice the time is no change by duration or total. */
static void test_normalised_doubling(void **state)
{
	(void)state;
	struct spec twice = {{"main;foo", "main;bar", "main;old"}, {200, 100, 60}, .duration_ns = 2000000000};
	for (int n = PD_DURATION; n <= PD_TOTAL; n++) {
		struct pd_comparison *c = pair((enum pd_normalization)n, PP_BY_FRAMES, &base, &twice);
		assert_true(c->factors[n].scale[0] == 1.5 && c->factors[n].scale[1] == 0.75);
		assert_int_equal(row_of(c, "foo")->flat[0], 1500);
		assert_int_equal(row_of(c, "foo")->flat[1], 1500);
		assert_int_equal(c->total[0], c->total[1]);
		assert_true(row_of(c, "foo")->p_flat == 1);
		pd_comparison_free(c);
	}
}

/* Exposures of 100 and 400 requests scale to 250. */
static void test_normalised_by_exposure(void **state)
{
	(void)state;
	struct pd_comparison *c = pair(PD_EXPOSURE, PP_BY_FRAMES, &base, &incident);
	assert_int_equal(row_of(c, "foo")->flat[0], 2500);
	assert_int_equal(row_of(c, "foo")->flat[1], 625);
	assert_int_equal(row_of(c, "foo")->raw_flat[1], 1000);
	assert_true(row_of(c, "foo")->p_flat == pd_poisson_ratio_p(100, 100, 100, 400));
	pd_comparison_free(c);
}

static void test_rounding_is_half_away_from_zero(void **state)
{
	(void)state;
	struct spec a = {{"f", "g"}, {1, -1}, .period = 1, .duration_ns = 2}, b = {{"f", "g"}, {1, -1}, .period = 1, .duration_ns = 1};
	struct pd_comparison *c = pair(PD_DURATION, PP_BY_FRAMES, &a, &b);
	assert_int_equal(row_of(c, "f")->flat[0], 1); /* 1 * 1.5 / 2 */
	assert_int_equal(row_of(c, "f")->flat[1], 2); /* 1 * 1.5 / 1 */
	assert_int_equal(row_of(c, "g")->flat[1], -2);
	assert_int_equal(check_of(c, "negative_values")->outcome, PD_WARN);
	pd_comparison_free(c);
}

static void test_moved_code_is_the_same_code(void **state)
{
	(void)state;
	struct spec moved = base;
	moved.address = 0x777000;
	moved.line = 20;
	for (int g = PP_BY_FRAMES; g <= PP_BY_LINES; g++) {
		struct pd_comparison *c = pair(PD_RAW, (enum pp_granularity)g, &base, &moved);
		for (size_t i = 0; i < c->rows_n; i++)
			assert_int_equal(c->rows[i].cum[0], c->rows[i].cum[1]);
		pd_comparison_free(c);
	}
	struct pd_comparison *c = pair(PD_RAW, PP_BY_LINES, &base, &moved);
	assert_int_equal(row_of(c, "foo x.go:+5")->cum[0], 1000);
	pd_comparison_free(c);
	c = pair(PD_RAW, PP_BY_ADDRESSES, &base, &moved);
	assert_int_equal(c->rows[0].state, PD_GONE);
	pd_comparison_free(c);
}

static void test_units_of_a_family_are_converted(void **state)
{
	(void)state;
	struct spec ms = {{"main;foo"}, {3}, .unit = "milliseconds", .period = 2}, ns = {{"main;foo"}, {3}, .period = 1000000};
	struct pd_comparison *c = pair(PD_RAW, PP_BY_FRAMES, &ms, &ns);
	assert_string_equal(c->unit, "nanoseconds");
	assert_true(c->converted);
	assert_int_equal(c->total[0], 6000000);
	assert_int_equal(c->total[1], 3000000);
	assert_int_equal(check_of(c, "period")->outcome, PD_WARN);
	pd_comparison_free(c);
}

/* A tenth of the sampling rate: the same cost from a tenth of the samples is no change. */
static void test_sampling_rate_is_no_change(void **state)
{
	(void)state;
	struct spec often = {{"main;foo"}, {1000}, .period = 1}, seldom = {{"main;foo"}, {100}, .period = 10};
	struct pd_comparison *c = pair(PD_RAW, PP_BY_FRAMES, &often, &seldom);
	assert_int_equal(row_of(c, "foo")->flat[0], row_of(c, "foo")->flat[1]);
	assert_true(row_of(c, "foo")->p_flat > 0.9);
	assert_true(row_of(c, "foo")->flat_estimate.ratio[0] < 1 && row_of(c, "foo")->flat_estimate.ratio[1] > 1);
	pd_comparison_free(c);
}

static void test_replicates_in_any_order(void **state)
{
	(void)state;
	struct spec second = {{"main;late", "main;foo"}, {7, 3}, .pod = "b"};
	struct pd_options options = PD_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	const struct spec *orders[2][4] = {{&base, &second, &incident, &second}, {&second, &base, &second, &incident}};
	struct pd_comparison *c[2];
	for (int i = 0; i < 2; i++)
		assert_non_null(c[i] = compare_all(&options, orders[i], 2, 4, &err));
	assert_int_equal(c[0]->rows_n, c[1]->rows_n);
	for (size_t i = 0; i < c[0]->rows_n; i++) {
		assert_true(pp_str_eq(pp_frames_label(c[0]->frames, c[0]->rows[i].frame),
		                      pp_frames_label(c[1]->frames, c[1]->rows[i].frame)));
		assert_memory_equal(c[0]->rows[i].flat, c[1]->rows[i].flat, sizeof(c[0]->rows[i].flat));
	}
	assert_int_equal(row_of(c[0], "foo")->flat[0], 1030);
	assert_int_equal(check_of(c[0], "replicates")->outcome, PD_PASS);
	assert_string_equal(check_of(c[0], "instances")->text, "1 against 1 labelled instances");
	for (int i = 0; i < 2; i++)
		pd_comparison_free(c[i]);
}

/* Three profiles a side: bar rose steadily, foo only in one of them. */
#define STEADY {"main;foo", "main;bar", "main;big", "main;b", "main;c", "main;d", "main;e"}
static const struct spec three[6] = {
	{STEADY, {100, 200, 900, 500, 310, 800, 400}, .duration_ns = 1000000000},
	{STEADY, {170, 205, 890, 505, 300, 790, 405}, .duration_ns = 1000000000},
	{STEADY, {60, 195, 910, 495, 305, 810, 395}, .duration_ns = 1000000000},
	{STEADY, {90, 400, 905, 502, 306, 805, 401}, .duration_ns = 1000000000},
	{STEADY, {210, 410, 895, 498, 304, 795, 399}, .duration_ns = 1000000000},
	{STEADY, {130, 390, 901, 500, 305, 800, 400}, .duration_ns = 1000000000},
};

static struct pd_comparison *compare_three(enum pd_normalization normalization)
{
	const struct spec *const specs[] = {&three[0], &three[1], &three[2], &three[3], &three[4], &three[5]};
	struct pd_options options = PD_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	options.normalization = normalization;
	struct pd_comparison *c = compare_all(&options, specs, 3, 6, &err);
	if (!c)
		fail_msg("%s", err.text);
	return c;
}

static void test_replicates_tell_noise_from_change(void **state)
{
	(void)state;
	for (int n = PD_RAW; n < PD_NORMALIZATIONS_N; n++) {
		if (n == PD_EXPOSURE || n == PD_TOTAL)
			continue;
		struct pd_comparison *c = compare_three((enum pd_normalization)n);
		const struct pd_row *foo = row_of(c, "foo"), *bar = row_of(c, "bar");
		assert_int_equal(c->noise, PD_NOISE_REPLICATES);
		assert_true(c->min_count == 20);
		assert_true(bar->q_flat < 0.05 && bar->q_cum < 0.05);
		assert_true(foo->q_flat > 0.1);
		assert_true(bar->flat_estimate.ratio[0] > 1 && bar->flat_estimate.delta[0] > 0);
		assert_true(foo->flat_estimate.ratio[0] < 1 && foo->flat_estimate.delta[0] < 0);
		for (size_t i = 0; i < c->rows_n; i++) {
			const struct pd_estimate *e = &c->rows[i].flat_estimate;
			double delta = (double)(c->rows[i].flat[1] - c->rows[i].flat[0]);
			assert_true(isnan(e->delta[0]) || (e->delta[0] <= delta && delta <= e->delta[1]));
			assert_false(c->rows[i].q_flat < c->any_p || c->rows[i].q_cum < c->any_p);
		}
		assert_true(c->total_estimate.delta[0] < c->total_estimate.delta[1]);
		assert_true(pd_profiles_needed(c, foo, false) > 3);
		assert_true(pd_profiles_needed(c, bar, false) <= 3);
		pd_comparison_free(c);
	}
}

/* By share foo and big fell; robustly they stayed, and the rise is bar's alone. */
static void test_robust_is_not_moved_by_one_frame(void **state)
{
	(void)state;
	struct pd_comparison *c = compare_three(PD_TOTAL);
	assert_true(row_of(c, "big")->flat[1] < row_of(c, "big")->flat[0] - 1000);
	assert_true(isnan(row_of(c, "main")->p_cum) && isnan(c->total_p)); /* all of every profile */
	pd_comparison_free(c);
	for (int n = PD_ROBUST; n <= PD_ROBUST_MEDIAN; n++) {
		c = compare_three((enum pd_normalization)n);
		assert_true(llabs(row_of(c, "big")->flat[1] - row_of(c, "big")->flat[0]) < 800);
		pd_comparison_free(c);
	}
	assert_string_equal(pd_normalization_name(PD_ROBUST), "robust");
}

/* A profile without samples has no share of anything; it does not hide the others. */
static void test_an_empty_replicate(void **state)
{
	(void)state;
	struct spec empty = {.stacks = {NULL}, .duration_ns = 1000000000};
	const struct spec *const specs[] = {&three[0], &three[1], &empty, &three[3], &three[4]};
	struct pd_options options = PD_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	options.normalization = PD_TOTAL;
	struct pd_comparison *c = compare_all(&options, specs, 3, 5, &err);
	assert_non_null(c);
	assert_true(row_of(c, "bar")->p_flat < 0.05);
	pd_comparison_free(c);
	options.normalization = PD_ROBUST;
	assert_null(compare_all(&options, specs, 3, 5, &err));
	assert_non_null(strstr(err.text, "a profile has no cost at all"));
}

static void assert_refused(const struct pd_options *options, const struct spec *a, const struct spec *b,
                           const char *part)
{
	struct pp_error err = PP_ERROR_INIT;
	assert_null(compare_all(options, (const struct spec *const[]){a, b}, 1, 2, &err));
	assert_int_equal(err.code, PP_EINCOMPAT);
	if (!strstr(err.text, part))
		fail_msg("'%s' not in '%s'", part, err.text);
}

static void test_refusals(void **state)
{
	(void)state;
	struct pd_options options = PD_OPTIONS_DEFAULT;
	struct spec wall = base, empty = {.stacks = {NULL}}, bytes = base;
	wall.type = "wall";
	bytes.unit = "bytes";
	assert_refused(&options, &base, &wall, "wall/nanoseconds cannot be compared with cpu/nanoseconds");
	assert_refused(&options, &base, &bytes, "cpu/bytes cannot be compared with cpu/nanoseconds");
	assert_refused(&options, &empty, &base, "no baseline");
	options.normalization = PD_DURATION;
	bytes = base;
	bytes.duration_ns = 0;
	assert_refused(&options, &base, &bytes, "cannot normalise by duration: a profile has no duration");
	options.normalization = PD_TOTAL;
	assert_refused(&options, &base, &empty, "cannot normalise by total: a side has no cost");
}

static void test_checks(void **state)
{
	(void)state;
	struct pd_comparison *c = pair(PD_RAW, PP_BY_FRAMES, &incident, &base);
	assert_int_equal(c->checks_n, PD_CHECKS_N);
	assert_int_equal(check_of(c, "durations")->outcome, PD_WARN);
	assert_string_equal(check_of(c, "durations")->text, "baseline 2.00 s, incident 1.00 s in all");
	assert_int_equal(check_of(c, "replicates")->outcome, PD_WARN);
	assert_int_equal(check_of(c, "time_order")->outcome, PD_WARN);
	assert_string_equal(check_of(c, "time_order")->text,
	                    "baseline from 1970-01-01T00:00:02Z, incident from 1970-01-01T00:00:01Z: the baseline is "
	                    "newer than the incident");
	assert_int_equal(check_of(c, "coverage")->outcome, PD_WARN);
	assert_int_equal(check_of(c, "symbolization")->outcome, PD_PASS);
	pd_comparison_free(c);
	struct spec other = {.stacks = {"elsewhere"}, .counts = {10}};
	c = pair(PD_RAW, PP_BY_FRAMES, &base, &other);
	assert_int_equal(check_of(c, "coverage")->outcome, PD_REFUSE);
	pd_comparison_free(c);
}

static void test_sums_that_do_not_fit(void **state)
{
	(void)state;
	struct spec huge = {.stacks = {"f"}, .counts = {INT64_MAX / 10 * 9 / 10}};
	struct pd_options options = PD_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	assert_null(compare_all(&options, (const struct spec *const[]){&huge, &huge, &huge}, 2, 3, &err));
	assert_int_equal(err.code, PP_EOVERFLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw_rows),
		cmocka_unit_test(test_a_profile_does_not_differ_from_itself),
		cmocka_unit_test(test_exchanged_sides_negate),
		cmocka_unit_test(test_normalised_doubling),
		cmocka_unit_test(test_normalised_by_exposure),
		cmocka_unit_test(test_rounding_is_half_away_from_zero),
		cmocka_unit_test(test_moved_code_is_the_same_code),
		cmocka_unit_test(test_units_of_a_family_are_converted),
		cmocka_unit_test(test_sampling_rate_is_no_change),
		cmocka_unit_test(test_replicates_in_any_order),
		cmocka_unit_test(test_replicates_tell_noise_from_change),
		cmocka_unit_test(test_robust_is_not_moved_by_one_frame),
		cmocka_unit_test(test_an_empty_replicate),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_checks),
		cmocka_unit_test(test_sums_that_do_not_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
