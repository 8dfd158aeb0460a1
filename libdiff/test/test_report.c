#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/report.h"

#define SECOND INT64_C(1000000000)
#define WINDOWS                                                                                            \
	"baseline_from\t1970-01-01T01:00:00Z\nbaseline_to\t1970-01-01T02:00:00Z\n"                             \
	"incident_from\t1970-01-02T01:00:00Z\nincident_to\t1970-01-02T02:00:00Z\n"
#define CPU "lens\tprocess_cpu:cpu:nanoseconds:cpu:nanoseconds\n"
#define BEFORE (3700 * SECOND)
#define DURING ((86400 + 3700) * SECOND)

/* A file of a case: ten seconds of two functions, "main.work" and "main.other". */
struct file {
	enum pd_load_side side;
	int64_t time_ns, work, other; /* in samples */
	const char *provenance;       /* the text beside it, or NULL */
};

static struct pp_profile *make(const struct file *file)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = pp_build_new(&limits, &err);
	const char *names[] = {"main.work", "main.other"};
	int64_t samples[] = {file->work, file->other};
	struct pp_value_type cpu = {pp_build_string(build, PP_LIT("cpu")), pp_build_string(build, PP_LIT("nanoseconds"))};

	pp_build_sample_type(build, cpu);
	for (int i = 0; i < 2; i++) {
		struct pp_function function = {.name = pp_build_string(build, pp_str_of(names[i]))};
		struct pp_line line = {pp_build_function(build, &function), 1, 0};
		struct pp_location location = {.mapping = PP_NONE};
		uint32_t index = pp_build_location(build, &location, &line, 1);
		int64_t value = samples[i] * 10000000;
		pp_build_sample(build, pp_build_stack(build, &index, 1), 0, &value);
	}
	struct pp_profile *header = pp_build_profile(build);
	header->period_type = cpu;
	header->period = 10000000;
	header->time_ns = file->time_ns;
	header->duration_ns = 10 * SECOND;
	struct pp_profile *profile = pp_build_finish(build, &err);
	assert_non_null(profile);
	pp_build_free(build);
	return profile;
}

static struct pd_report *report_on(const char *facts_text, const char *load_text, const struct file *files, size_t n)
{
	static const char *const sides[] = {"baseline", "incident", "control"};
	struct pp_error err = PP_ERROR_INIT;
	struct pd_facts *facts = pd_facts_parse(pp_str_of(facts_text), &err);
	struct pd_load *load = load_text ? pd_load_parse(pp_str_of(load_text), &err) : NULL;
	struct pd_reporter *reporter = pd_reporter_new(&(struct pd_report_case){facts, load, NULL, NULL, NULL, false}, &err);

	if (!reporter)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < n; i++) {
		char name[40];
		struct pp_origin origin = {.format = "pprof"};
		struct pp_profile *profile = make(&files[i]);
		snprintf(name, sizeof(name), "%s/p%zu.cpu", sides[files[i].side], i);
		snprintf(origin.content_hash, sizeof(origin.content_hash), "%032zu", i);
		struct pd_provenance provenance;
		struct pd_facts *beside = files[i].provenance ? pd_facts_parse(pp_str_of(files[i].provenance), &err) : NULL;
		if (beside && pd_provenance_read(beside, &provenance, &err) != 0)
			fail_msg("%s", err.text);
		assert_int_equal(pd_reporter_add(reporter, files[i].side, name, n, profile, &origin, beside ? &provenance : NULL, &err), 0);
		pp_profile_free(profile);
		pd_facts_free(beside);
	}
	struct pd_report *report = pd_reporter_finish(reporter, &err);
	if (!report)
		fail_msg("%s", err.text);
	for (int field = 0; field < PD_FIELDS_N; field++)
		assert_true(strlen(report->values[field]) > 3);
	pd_reporter_free(reporter);
	pd_facts_free(facts);
	pd_load_free(load);
	return report;
}

static bool begins(const struct pd_report *report, enum pd_field field, const char *text)
{
	return strncmp(report->values[field], text, strlen(text)) == 0;
}

static void no_files_at_all_is_exit_d(void **state)
{
	(void)state;
	struct pd_report *report = report_on(CPU WINDOWS, NULL, NULL, 0);

	assert_int_equal(report->exit, 'D');
	assert_int_equal(report->conclusion, PD_INCONCLUSIVE);
	assert_null(report->explanation);
	assert_false(report->regression);
	pd_report_free(report);
	report = report_on("", NULL, NULL, 0);
	assert_int_equal(report->exit, 'D');
	assert_true(begins(report, PD_FIELD_LENS, "unknown: "));
	pd_report_free(report);
}

static void an_incident_elsewhere_in_time_is_exit_c(void **state)
{
	(void)state;
	static const struct file files[] = {{PD_LOAD_BASELINE, BEFORE, 50, 50, NULL}, {PD_LOAD_INCIDENT, BEFORE, 500, 50, NULL}};
	struct pd_report *report = report_on(CPU WINDOWS, NULL, files, 2);

	assert_int_equal(report->exit, 'C');
	assert_int_equal(report->conclusion, PD_INCONCLUSIVE);
	assert_non_null(strstr(report->values[PD_FIELD_EXIT], "1970-01-02T01:00:00Z to 1970-01-02T02:00:00Z"));
	assert_non_null(strstr(report->values[PD_FIELD_EXIT], "1970-01-01T01:01:40Z to 1970-01-01T01:01:50Z"));
	pd_report_free(report);
}

static void the_edges_of_a_window_are_exact(void **state)
{
	(void)state;
	/* Ten seconds that end where the window begins, or begin where it ends, do not overlap it. */
	static const int64_t from = (86400 + 3600) * SECOND, to = (86400 + 7200) * SECOND;
	static const struct {
		int64_t time_ns;
		char exit;
	} cases[] = {{from - 10 * SECOND, 'C'}, {from - 10 * SECOND + 1, '-'}, {to, 'C'}, {to - 1, '-'}};

	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct file file = {PD_LOAD_INCIDENT, cases[i].time_ns, 50, 50, NULL};
		struct pd_report *report = report_on(CPU WINDOWS, NULL, &file, 1);
		assert_int_equal(report->exit, cases[i].exit);
		pd_report_free(report);
	}
}

static void a_baseline_elsewhere_in_time_is_none(void **state)
{
	(void)state;
	static const struct file files[] = {{PD_LOAD_BASELINE, DURING, 50, 50, NULL}, {PD_LOAD_INCIDENT, DURING, 500, 50, NULL}};
	struct pd_report *report = report_on(CPU WINDOWS, NULL, files, 2);

	assert_int_equal(report->conclusion, PD_COST_LOCATION);
	assert_false(report->regression);
	assert_true(begins(report, PD_FIELD_BASELINE, "unavailable: "));
	assert_true(begins(report, PD_FIELD_LOCATION, "main.work"));
	assert_string_equal(report->values[PD_FIELD_COUNTEREVIDENCE], "not checked: there is no baseline that qualifies");
	pd_report_free(report);
}

static void a_rise_in_all_replicates_is_claimed(void **state)
{
	(void)state;
	static const struct file files[] = {
		{PD_LOAD_BASELINE, BEFORE, 100, 300, NULL}, {PD_LOAD_BASELINE, BEFORE, 104, 310, NULL}, {PD_LOAD_BASELINE, BEFORE, 98, 296, NULL},
		{PD_LOAD_INCIDENT, DURING, 400, 305, NULL}, {PD_LOAD_INCIDENT, DURING, 410, 299, NULL}, {PD_LOAD_INCIDENT, DURING, 395, 302, NULL}};
	static const char load[] = "side\tpod\trequests\t/a\nbaseline\tp0\t9\t9\nbaseline\tp1\t9\t9\nbaseline\tp2\t9\t9\n"
							   "incident\tp3\t9\t9\nincident\tp4\t9\t9\nincident\tp5\t9\t9\n";
	struct pd_report *report = report_on(CPU WINDOWS, load, files, PP_COUNT(files));

	assert_int_equal(report->conclusion, PD_SUSPECTED_CAUSE);
	assert_true(report->regression);
	assert_true(begins(report, PD_FIELD_LOCATION, "main.work, by main.work; "));
	assert_true(begins(report, PD_FIELD_CONFIDENCE, "medium — 3 against 3 profiles"));
	assert_true(begins(report, PD_FIELD_SHARE, "main.work: incident self 57."));
	pd_report_free(report);
}

static void nearly_all_of_a_window_is_no_power_of_ten(void **state)
{
	(void)state;
	static const struct {
		const char *to, *said;
	} cases[] = {{"01:01:50Z", ", 100 % of the window"}, {"01:01:50.001Z", ", 99.9 % of the window"}, {"01:01:50.03Z", ", 99.7 % of the window"},
	             {"01:01:51Z", ", 91 % of the window"}, {"01:10:00Z", ", 2 % of the window"}};
	static const struct file file = {PD_LOAD_INCIDENT, BEFORE, 50, 50, NULL};

	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		char facts[300];
		snprintf(facts, sizeof(facts), CPU "incident_from\t1970-01-01T01:01:40Z\nincident_to\t1970-01-01T%s\n", cases[i].to);
		struct pd_report *report = report_on(facts, NULL, &file, 1);
		if (!strstr(report->values[PD_FIELD_INCIDENT], cases[i].said) || strstr(report->values[PD_FIELD_LIMITATIONS], "e+"))
			fail_msg("%s: %s", cases[i].to, report->values[PD_FIELD_INCIDENT]);
		pd_report_free(report);
	}
}

/* ---- what the texts beside the profiles say ---- */

#define BEFORE_WINDOW "from\t1970-01-01T01:00:00Z\nto\t1970-01-01T02:00:00Z\n"
#define DURING_WINDOW "from\t1970-01-02T01:00:00Z\nto\t1970-01-02T02:00:00Z\n"
#define STEPS(covered) "coverage\t0.5\ncoverage_steps\t240\ncoverage_covered\t" covered "\n"

/* The rise in all replicates, with these texts beside the profiles of the sides. */
static struct pd_report *with_provenance(const char *baseline, const char *incident)
{
	const struct file files[] = {
		{PD_LOAD_BASELINE, BEFORE, 100, 300, baseline}, {PD_LOAD_BASELINE, BEFORE, 104, 310, baseline},
		{PD_LOAD_BASELINE, BEFORE, 98, 296, baseline},  {PD_LOAD_INCIDENT, DURING, 400, 305, incident},
		{PD_LOAD_INCIDENT, DURING, 410, 299, incident}, {PD_LOAD_INCIDENT, DURING, 395, 302, incident}};
	static const char load[] = "side\tpod\trequests\t/a\nbaseline\tp0\t9\t9\nbaseline\tp1\t9\t9\nbaseline\tp2\t9\t9\n"
							   "incident\tp3\t9\t9\nincident\tp4\t9\t9\nincident\tp5\t9\t9\n";
	return report_on(CPU WINDOWS, load, files, PP_COUNT(files));
}

static void gaps_in_collection_weaken_the_report(void **state)
{
	static const struct {
		const char *baseline, *incident, *level, *limit, *observed; /* NULL: not said */
	} cases[] = {
		{BEFORE_WINDOW STEPS("240"), DURING_WINDOW STEPS("240"), "medium — 3 against 3 profiles, requests measured, q", NULL,
	     "; the server has profiles of 100 % of the steps"},
		{BEFORE_WINDOW STEPS("239"), DURING_WINDOW STEPS("240"), "medium — 3 against 3 profiles, requests measured, q",
	     "the server lacks profiles in 0.42 % of the steps of the baseline, on average: what was not collected is not zero cost",
	     "; the server has profiles of 100 % of the steps"},
		{BEFORE_WINDOW STEPS("204"), DURING_WINDOW STEPS("204"), "medium — 3 against 3 profiles, requests measured, collection has gaps",
	     "the server lacks profiles in 15 % of the steps of the incident", "; the server has profiles of 85 % of the steps"},
		{BEFORE_WINDOW STEPS("240"), DURING_WINDOW STEPS("180"), "medium — 3 against 3 profiles, requests measured, collection differs between the sides",
	     "collection differs: the server has profiles of 100 % of the baseline's steps and of 75 % of the incident's",
	     "; the server has profiles of 75 % of the steps"},
		{BEFORE_WINDOW STEPS("60"), DURING_WINDOW STEPS("240"), "low — 3 against 3 profiles, requests measured, most of a window was not collected",
	     "the server lacks profiles in 75 % of the steps of the baseline", NULL},
		{BEFORE_WINDOW, "from\t1970-01-02T00:59:00Z\nto\t1970-01-02T02:00:00Z\n", "medium — 3 against 3 profiles, requests measured, profiles are of another window",
	     "3 incident profiles asked for beyond the window of case.tsv", NULL},
		{BEFORE_WINDOW "max_nodes\t100\n", DURING_WINDOW, "medium — 3 against 3 profiles, requests measured, profiles are of another window, type or part",
	     "3 baseline profiles cut to the largest nodes by the server", NULL},
		{BEFORE_WINDOW, DURING_WINDOW "trace_id\tabc\n", "medium — 3 against 3 profiles, requests measured, profiles are of another",
	     "3 incident profiles of some requests or stacks only", NULL},
		{BEFORE_WINDOW "profile_type\tmemory:x:y:z:w\n", DURING_WINDOW, "medium — 3 against 3 profiles, requests measured, profiles are of another",
	     "3 baseline profiles of another profile type than the lens", NULL},
		{BEFORE_WINDOW "warnings\t2 of 5 shards failed\n", DURING_WINDOW, "medium — 3 against 3 profiles, requests measured, q",
	     "baseline/p0.cpu came with a warning: 2 of 5 shards failed", NULL},
	};
	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct pd_report *report = with_provenance(cases[i].baseline, cases[i].incident);
		if (!begins(report, PD_FIELD_CONFIDENCE, cases[i].level))
			fail_msg("case %zu: %s", i, report->values[PD_FIELD_CONFIDENCE]);
		if (cases[i].limit ? !strstr(report->values[PD_FIELD_LIMITATIONS], cases[i].limit)
		                   : strstr(report->values[PD_FIELD_LIMITATIONS], "the server lacks") != NULL)
			fail_msg("case %zu: %s", i, report->values[PD_FIELD_LIMITATIONS]);
		if (cases[i].observed && !strstr(report->values[PD_FIELD_INCIDENT], cases[i].observed))
			fail_msg("case %zu: %s", i, report->values[PD_FIELD_INCIDENT]);
		pd_report_free(report);
	}
}

/* Servers send profiles without a time: then the window that was asked for says when. */
static void a_profile_without_a_time_has_that_of_its_window(void **state)
{
	(void)state;
	static const struct file inside = {PD_LOAD_INCIDENT, 0, 50, 50, DURING_WINDOW}, outside = {PD_LOAD_INCIDENT, 0, 50, 50, BEFORE_WINDOW},
	                         unknown = {PD_LOAD_INCIDENT, 0, 50, 50, NULL};
	struct pd_report *report = report_on(CPU WINDOWS, NULL, &inside, 1);

	assert_int_equal(report->exit, '-');
	assert_non_null(strstr(report->values[PD_FIELD_INCIDENT], "1970-01-02T01:00:00Z to 1970-01-02T02:00:00Z, 100 % of the window"));
	pd_report_free(report);
	report = report_on(CPU WINDOWS, NULL, &outside, 1);
	assert_int_equal(report->exit, 'C');
	pd_report_free(report);
	report = report_on(CPU WINDOWS, NULL, &unknown, 1);
	assert_int_equal(report->exit, '-');
	assert_non_null(strstr(report->values[PD_FIELD_INCIDENT], "times unknown"));
	pd_report_free(report);
}

static void senseless_provenance_is_named_by_line(void **state)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{"url\tx\nfrom\tyesterday\n", "line 2: from is no time: 'yesterday'"},
		{"from\t1970-01-01T02:00:00Z\nto\t1970-01-01T01:00:00Z\n", "line 2: to is before from"},
		{"coverage\t1.5\n", "line 1: coverage is no number that makes sense: '1.5'"},
		{"coverage_steps\t5\ncoverage_covered\t6\n", "line 2: coverage_covered is no number that makes sense: '6'"},
		{"max_nodes\t-1\n", "line 1: max_nodes is no number that makes sense: '-1'"},
	};
	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct pp_error err = PP_ERROR_INIT;
		struct pd_provenance provenance;
		struct pd_facts *facts = pd_facts_parse(pp_str_of(cases[i].text), &err);
		assert_int_equal(pd_provenance_read(facts, &provenance, &err), -1);
		if (strncmp(err.text, cases[i].said, strlen(cases[i].said)) != 0)
			fail_msg("%s", err.text);
		pd_facts_free(facts);
	}
}

static void one_against_one_claims_no_small_rise(void **state)
{
	(void)state;
	static const struct file files[] = {{PD_LOAD_BASELINE, BEFORE, 100, 300, NULL}, {PD_LOAD_INCIDENT, DURING, 150, 300, NULL}};
	struct pd_report *report = report_on(CPU WINDOWS, NULL, files, 2);

	assert_int_equal(report->conclusion, PD_INCONCLUSIVE);
	assert_false(report->regression);
	pd_report_free(report);
}

static void markdown_and_tsv_are_escaped(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	struct pd_report *report = report_on("service\ta*b\\tc<d>\n", NULL, NULL, 0);
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&buf);

	assert_true(strstr(report->values[PD_FIELD_SCOPE], "service a*b\\x09c<d>") != NULL);
	assert_int_equal(pd_report_print(report, PD_REPORT_MARKDOWN, &sink, &err), 0);
	assert_non_null(strstr(buf.bytes, "service a\\*b\\\\x09c\\<d\\>\n"));
	buf.n = 0;
	assert_int_equal(pd_report_print(report, PD_REPORT_TSV, &sink, &err), 0);
	assert_non_null(strstr(buf.bytes, "service a*b\\\\x09c<d>\n"));
	pp_buf_release(&buf);
	pd_report_free(report);
}

static void names_and_keys_belong_together(void **state)
{
	(void)state;
	for (int field = 0; field < PD_FIELDS_N; field++) {
		const char *name = pd_field_name((enum pd_field)field), *key = pd_field_key((enum pd_field)field);
		assert_int_equal(strlen(name), strlen(key));
		for (size_t i = 0; name[i]; i++)
			assert_int_equal(key[i], name[i] == ' ' ? '_' : i == 0 ? name[i] - 'A' + 'a' : name[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_files_at_all_is_exit_d),
		cmocka_unit_test(an_incident_elsewhere_in_time_is_exit_c),
		cmocka_unit_test(the_edges_of_a_window_are_exact),
		cmocka_unit_test(a_baseline_elsewhere_in_time_is_none),
		cmocka_unit_test(a_rise_in_all_replicates_is_claimed),
		cmocka_unit_test(nearly_all_of_a_window_is_no_power_of_ten),
		cmocka_unit_test(gaps_in_collection_weaken_the_report),
		cmocka_unit_test(a_profile_without_a_time_has_that_of_its_window),
		cmocka_unit_test(senseless_provenance_is_named_by_line),
		cmocka_unit_test(one_against_one_claims_no_small_rise),
		cmocka_unit_test(markdown_and_tsv_are_escaped),
		cmocka_unit_test(names_and_keys_belong_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
