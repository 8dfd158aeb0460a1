#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/casefile.h"
#include "libdiff/utctime.h"

static void facts_are_read(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	struct pd_facts *facts =
		pd_facts_parse(PP_LIT("# a case\nquestion\tWhy?\r\n\nservice\tshop\\tfront\nempty\t\n"), &err);

	assert_non_null(facts);
	assert_int_equal(facts->facts_n, 3);
	assert_string_equal(pd_facts_get(facts, "question"), "Why?");
	assert_string_equal(pd_facts_get(facts, "service"), "shop\tfront");
	assert_int_equal(facts->facts[1].line, 4);
	assert_null(pd_facts_get(facts, "empty"));
	assert_null(pd_facts_get(facts, "lens"));
	assert_null(pd_facts_get(NULL, "lens"));
	pd_facts_free(facts);
}

static void facts_name_the_line(void **state)
{
	(void)state;
	const struct {
		struct pp_str text;
		const char *says;
	} cases[] = {
		{PP_LIT("a\tb\nlonely\n"), "line 2: expected key and value, found 1 column"},
		{PP_LIT("a\tb\tc\n"), "line 1: expected key and value, found 3 columns"},
		{PP_LIT("# x\nA key\tb\n"), "line 2: not a key: 'A key'"},
		{PP_LIT("a\tb\n\na\tc\n"), "line 3: 'a' was given on line 1 already"},
		{PP_LIT("a\tb\\q\n"), "line 1: column 2: "},
		{PP_LIT("a\tb\\x00\n"), "line 1: a NUL byte"},
	};

	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct pp_error err = PP_ERROR_INIT;
		assert_null(pd_facts_parse(cases[i].text, &err));
		assert_int_equal(err.code, PP_EFORMAT);
		assert_memory_equal(err.text, cases[i].says, strlen(cases[i].says));
	}
}

static void times_are_exact(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns;
		const char *back;
	} good[] = {
		{"1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"},
		{"2026-11-25T14:00:00Z", INT64_C(1795615200000000000), "2026-11-25T14:00:00Z"},
		{"2024-02-29T23:59:59.25+01:30", INT64_C(1709245799250000000), "2024-02-29T22:29:59.25Z"},
		{"2000-03-01t00:00:00.000000001z", INT64_C(951868800000000001), "2000-03-01T00:00:00.000000001Z"},
	};
	static const char *const bad[] = {"", "2026-11-25", "2026-11-25T14:00:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
	                                  "2026-11-25T24:00:00Z", "2026-11-25T14:00:00Zx", "2026-11-25T14:00:00.Z",
	                                  "9999-01-01T00:00:00Z", "2026-11-25T14:00:00+0100"};
	char out[64];
	int64_t ns;

	for (size_t i = 0; i < PP_COUNT(good); i++) {
		assert_true(pd_time_parse(good[i].text, &ns));
		assert_true(ns == good[i].ns);
		assert_string_equal(pd_time_text(out, sizeof(out), ns), good[i].back);
	}
	for (size_t i = 0; i < PP_COUNT(bad); i++)
		assert_false(pd_time_parse(bad[i], &ns));
}

static void windows_want_both_ends(void **state)
{
	(void)state;
	const struct {
		struct pp_str text;
		const char *says;
	} cases[] = {
		{PP_LIT("incident_from\t2026-11-25T14:00:00Z\n"), "line 1: incident_from is given without incident_to"},
		{PP_LIT("incident_to\tnoon\n"), "line 1: incident_to is not a time such as"},
		{PP_LIT("incident_to\t2026-11-25T14:00:00Z\nincident_from\t2026-11-25T14:00:00Z\n"),
	     "line 2: incident_from is not before incident_to"},
	};
	struct pd_window window;

	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct pp_error err = PP_ERROR_INIT;
		struct pd_facts *facts = pd_facts_parse(cases[i].text, &err);
		assert_non_null(facts);
		assert_int_equal(pd_facts_window(facts, "incident", &window, &err), -1);
		assert_memory_equal(err.text, cases[i].says, strlen(cases[i].says));
		pd_facts_free(facts);
	}
	struct pp_error err = PP_ERROR_INIT;
	struct pd_facts *facts =
		pd_facts_parse(PP_LIT("baseline_from\t1970-01-01T00:00:01Z\nbaseline_to\t1970-01-01T00:00:02Z\n"), &err);
	assert_int_equal(pd_facts_window(facts, "baseline", &window, &err), 0);
	assert_true(window.given && window.from_ns == 1000000000 && window.to_ns == 2000000000);
	assert_int_equal(pd_facts_window(facts, "incident", &window, &err), 0);
	assert_false(window.given);
	pd_facts_free(facts);
}

static void load_is_read(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	struct pd_load *load = pd_load_parse(
		PP_LIT("side\tpod\twindow_s\trequests\t/a\t/b\nbaseline\tshop-1\t10.5\t30\t10\t20\nbaseline\tshop-11\t10\t5\t5\t0\n"
	           "incident\tshop-1\t10\t7\t7\t0\n"), &err);

	assert_non_null(load);
	assert_string_equal(load->denominator, "requests");
	assert_int_equal(load->values_n, 2);
	assert_string_equal(load->values[1], "/b");
	assert_int_equal(load->rows_n, 3);
	assert_true(load->rows[0].window_s == 10.5 && load->rows[0].total == 30 && load->rows[0].by_value[1] == 20);
	assert_ptr_equal(pd_load_find(load, PD_LOAD_BASELINE, "shop-1.cpu.pb.gz", 2), &load->rows[0]);
	assert_ptr_equal(pd_load_find(load, PD_LOAD_BASELINE, "shop-11.cpu.pb.gz", 2), &load->rows[1]);
	assert_ptr_equal(pd_load_find(load, PD_LOAD_INCIDENT, "shop-1", 1), &load->rows[2]);
	assert_null(pd_load_find(load, PD_LOAD_INCIDENT, "shop-2.pb", 1));
	assert_null(pd_load_find(load, PD_LOAD_CONTROL, "shop-1.pb", 1));
	assert_null(pd_load_find(NULL, PD_LOAD_CONTROL, "shop-1.pb", 1));
	pd_load_free(load);
}

static void a_side_without_pods_is_for_its_only_file(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	struct pd_load *load = pd_load_parse(PP_LIT("requests\tside\n5\tbaseline\n"), &err);

	assert_null(load);
	assert_string_equal(err.text, "line 1: column 'side' stands after the denominator");
	err = (struct pp_error)PP_ERROR_INIT;
	load = pd_load_parse(PP_LIT("side\trequests\nbaseline\t5\n"), &err);
	assert_non_null(load);
	assert_ptr_equal(pd_load_find(load, PD_LOAD_BASELINE, "any.pb", 1), &load->rows[0]);
	assert_null(pd_load_find(load, PD_LOAD_BASELINE, "any.pb", 2));
	pd_load_free(load);
}

static void load_names_the_line(void **state)
{
	(void)state;
	const struct {
		struct pp_str text;
		const char *says;
	} cases[] = {
		{PP_LIT(""), "no header row"},
		{PP_LIT("pod\trequests\n"), "line 1: no column 'side'"},
		{PP_LIT("side\tpod\n"), "line 1: no column with a denominator"},
		{PP_LIT("side\tr\tr\n"), "line 1: two columns are named 'r'"},
		{PP_LIT("side\tr\nbaseline\n"), "line 2: 1 columns, the header has 2"},
		{PP_LIT("side\tr\nbefore\t1\n"), "line 2: side is not baseline, incident or control: 'before'"},
		{PP_LIT("side\tr\nbaseline\t-1\n"), "line 2: column 2: not a number: '-1'"},
		{PP_LIT("side\tr\nbaseline\t1e5\n"), "line 2: column 2: not a number: '1e5'"},
		{PP_LIT("side\tpod\tr\nbaseline\tp\t1\nbaseline\tp\t1\n"), "line 3: baseline p was given on line 2 already"},
	};

	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct pp_error err = PP_ERROR_INIT;
		assert_null(pd_load_parse(cases[i].text, &err));
		assert_memory_equal(err.text, cases[i].says, strlen(cases[i].says));
	}
}

static void symptoms_are_read(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	struct pd_symptoms *symptoms =
		pd_symptoms_parse(PP_LIT("source\tclaim\tbearing\tlink\nalert\tCPU up\tsupports\thttp://x\nlog\tno errors\tcontradicts\n"),
	                      &err);

	assert_non_null(symptoms);
	assert_int_equal(symptoms->rows_n, 2);
	assert_int_equal(symptoms->rows[0].bearing, PD_SUPPORTS);
	assert_string_equal(symptoms->rows[0].link, "http://x");
	assert_int_equal(symptoms->rows[1].bearing, PD_CONTRADICTS);
	assert_string_equal(symptoms->rows[1].link, "");
	pd_symptoms_free(symptoms);
	assert_null(pd_symptoms_parse(PP_LIT("alert\tCPU up\tmaybe\n"), &err));
	assert_string_equal(err.text, "line 1: not supports, contradicts or context: 'maybe'");
}

static void changed_names_match_by_their_ends(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	struct pd_changed *changed = pd_changed_parse(PP_LIT("shop/price.go\nmain.render\n"), &err);

	assert_non_null(changed);
	assert_int_equal(pd_changed_find(changed, PP_LIT("main.f"), PP_LIT("/src/shop/price.go")), 0);
	assert_int_equal(pd_changed_find(changed, PP_LIT("main.f"), PP_LIT("price.go")), 0);
	assert_int_equal(pd_changed_find(changed, PP_LIT("example.com/main.render"), PP_LIT("x.go")), 1);
	assert_true(pd_changed_find(changed, PP_LIT("main.render2"), PP_LIT("/src/shop/xprice.go")) == SIZE_MAX);
	assert_true(pd_changed_find(changed, PP_LIT(""), PP_LIT("")) == SIZE_MAX);
	assert_true(pd_changed_find(NULL, PP_LIT("a"), PP_LIT("b")) == SIZE_MAX);
	pd_changed_free(changed);
	assert_null(pd_changed_parse(PP_LIT("a\nb\tc\n"), &err));
	assert_string_equal(err.text, "line 2: more than one column");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_are_read),
		cmocka_unit_test(facts_name_the_line),
		cmocka_unit_test(times_are_exact),
		cmocka_unit_test(windows_want_both_ends),
		cmocka_unit_test(load_is_read),
		cmocka_unit_test(a_side_without_pods_is_for_its_only_file),
		cmocka_unit_test(load_names_the_line),
		cmocka_unit_test(symptoms_are_read),
		cmocka_unit_test(changed_names_match_by_their_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
