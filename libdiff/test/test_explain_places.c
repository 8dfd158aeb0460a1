/* Whose a change is: of a caller, of the function around a closure, of one that was renamed or moved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/test/service.h"

static void closures_count_as_their_function(void **state)
{
	(void)state;
	struct work incident[USUAL_N];
	static const double times[] = {1, 1, 1, 2, 1, 1, 1};

	memcpy(incident, usual, sizeof(usual));
	incident[3].stack = "main.main;main.serve;main.find;main.match.func2";
	struct pd_explanation *e =
		explain(&(struct question){incident, USUAL_N, times, 5, load_of(100, 80, 100, 80), true, false, NULL});
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
	assert_string_equal(e->causes[0].location, "main.match");
	assert_null(e->causes[0].moved_from);
	pd_explanation_free(e);
}

static void a_helper_called_more_often_is_its_callers(void **state)
{
	(void)state;
	struct work work[USUAL_N + 2];
	static const double times[] = {1, 1, 1, 1, 1, 1, 1, 6, 1};

	memcpy(work, usual, sizeof(usual));
	work[USUAL_N] = (struct work){"main.main;main.serve;main.cart;main.check;crypto/hmac.Equal", "/cart", 60};
	work[USUAL_N + 1] = (struct work){"main.main;main.serve;main.find;main.check;crypto/hmac.Equal", "/find", 60};
	struct pd_explanation *e = explain(&(struct question){.baseline = work, .incident = work, .incident_n = USUAL_N + 2,
	                                                      .times = times, .pods = 5, .load = load_of(100, 80, 100, 80)});
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
	assert_string_equal(e->causes[0].location, "main.cart");
	assert_string_equal(e->causes[0].mechanism, "main.check;crypto/hmac.Equal");
	pd_explanation_free(e);
}

static void a_renamed_function_is_moved(void **state)
{
	(void)state;
	struct work incident[USUAL_N];

	memcpy(incident, usual, sizeof(usual));
	incident[1].stack = "main.main;main.serve;main.cart;main.dutyAndTax";
	struct pd_explanation *e =
		explain(&(struct question){incident, USUAL_N, NULL, 5, load_of(100, 80, 100, 80), true, false, NULL});
	assert_int_equal(e->causes_n, 1);
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_MOVED);
	assert_string_equal(e->causes[0].location, "main.dutyAndTax");
	assert_string_equal(e->causes[0].moved_from, "main.tax");
	pd_explanation_free(e);
}

/* A function that became part of its caller, and one that came out of it: nothing costs more. */
static void a_change_of_place_is_moved(void **state)
{
	(void)state;
	static const struct work inlined[] = {
		{"main.main;main.serve;main.cart", "/cart", 300},
		{"main.main;main.serve;main.cart;main.tax", "/cart", 200},
		{"main.main;main.serve;main.cart;main.store;encoding/json.Marshal", "/cart", 250},
		{"main.main;main.serve;main.find;main.match", "/find", 400},
		{"main.main;main.serve;main.find;main.rank;sort.Slice", "/find", 220},
		{"main.main;main.serve;main.find;main.page;fmt.Sprintf", "/find", 180},
		{"runtime.gcBgMarkWorker;runtime.gcDrain", NULL, 90},
	};
	struct pd_explanation *e = explain(&(struct question){inlined, PP_COUNT(inlined), NULL, 5, load_of(100, 80, 100, 80), true, false, NULL});

	assert_int_equal(e->causes[0].verdict, PD_VERDICT_MOVED);
	assert_string_equal(e->causes[0].location, "main.cart");
	assert_string_equal(e->causes[0].moved_from, "main.price");
	pd_explanation_free(e);
	e = explain(&(struct question){usual, USUAL_N, NULL, 5, load_of(100, 80, 100, 80), true, false, inlined});
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_MOVED);
	assert_string_equal(e->causes[0].location, "main.price");
	assert_string_equal(e->causes[0].moved_from, "main.cart");
	pd_explanation_free(e);
}

/* What a caller does in person today, and has done for it tomorrow, is one cost. */
static void a_rise_beside_an_equal_fall_is_no_code(void **state)
{
	(void)state;
	struct work before[USUAL_N], after[USUAL_N];

	memcpy(before, usual, sizeof(usual));
	before[1].stack = "main.main;main.serve;main.cart";
	before[1].samples = 500;
	memcpy(after, before, sizeof(before));
	after[0].samples = 600;
	after[1].samples = 200;
	struct pd_explanation *e = explain(&(struct question){after, USUAL_N, NULL, 5, load_of(100, 80, 100, 80), true, false, before});

	assert_int_equal(e->causes[0].verdict, PD_VERDICT_NONE);
	pd_explanation_free(e);
	after[1].samples = 500;
	e = explain(&(struct question){after, USUAL_N, NULL, 5, load_of(100, 80, 100, 80), true, false, before});
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
	assert_string_equal(e->causes[0].location, "main.price");
	pd_explanation_free(e);
}

/* A loop that goes round more often: its body and all that this calls cost more alike, and nothing else does. */
static void what_is_called_more_often_is_its_callers(void **state)
{
	(void)state;
	static const struct work before[] = {
		{"main.main;main.serve;main.cart;main.item", "/cart", 100},
		{"main.main;main.serve;main.cart;main.item;main.price", "/cart", 150},
		{"main.main;main.serve;main.cart;main.item;main.tax", "/cart", 120},
		{"main.main;main.serve;main.find;main.match", "/find", 800},
		{"main.main;main.serve;main.find;main.rank;sort.Slice", "/find", 820},
		{"main.main;main.serve;main.find;main.page;fmt.Sprintf", "/find", 880},
		{"main.main;main.serve;main.cart;main.store;encoding/json.Marshal", "/cart", 300},
		{"main.main;main.serve;main.cart;main.sign", "/cart", 300},
	};
	static const double times[] = {2.5, 2.5, 2.5, 1, 1, 1, 1, 1};
	struct pd_explanation *e =
		explain(&(struct question){before, PP_COUNT(before), times, 5, load_of(100, 80, 100, 80), true, false, before});

	assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
	assert_string_equal(e->causes[0].location, "main.cart");
	assert_non_null(strstr(e->causes[0].reason, "rose alike"));
	pd_explanation_free(e);
}

/* Go names a comparison by where it was inlined: it is part of the function that sorts, not one of its own. */
static void an_inlined_closure_counts_where_it_was_inlined(void **state)
{
	(void)state;
	struct work work[USUAL_N];

	memcpy(work, usual, sizeof(work));
	work[4] = (struct work){"main.main;main.serve;main.find;main.rank;sort.Slice;main.rank.byPrice.func1", "/find", 700};
	struct pd_explanation *e = explain(&(struct question){work, PP_COUNT(work), NULL, 5, load_of(100, 80, 100, 80), true, false, NULL});

	assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
	assert_string_equal(e->causes[0].location, "main.rank");
	pd_explanation_free(e);
}

/* The usual work with all but main in a package; handlers too are known by other names then. */
static void in_package(struct work out[USUAL_N], char stacks[USUAL_N][300], const char *package)
{
	memcpy(out, usual, sizeof(usual));
	for (size_t i = 0; i + 1 < USUAL_N; i++) {
		size_t n = 0;
		for (const char *at = usual[i].stack; *at; at++) {
			bool moves = strncmp(at, "main.", 5) == 0 && strncmp(at, "main.main", 9) != 0;
			n += (size_t)snprintf(stacks[i] + n, 300 - n, "%s", moves ? package : (const char[]){*at, '\0'});
			at += moves ? 3 : 0;
		}
		out[i].stack = stacks[i];
	}
}

static void a_package_that_moved_is_no_code(void **state)
{
	static const double dearer[] = {3, 1, 1, 1, 1, 1, 1};
	struct work baseline[USUAL_N], incident[USUAL_N];
	char stacks[2][USUAL_N][300];

	(void)state;
	in_package(baseline, stacks[0], "x.io/a");
	in_package(incident, stacks[1], "x.io/b");
	for (int labels = 0; labels < 2; labels++) {
		struct pd_explanation *e = explain(&(struct question){.baseline = baseline, .incident = incident, .incident_n = USUAL_N,
		                                                      .pods = 5, .labels = labels});
		for (size_t i = 0; i < e->causes_n; i++)
			assert_int_equal(e->causes[i].verdict, PD_VERDICT_MOVED);
		assert_string_equal(e->causes[0].location, "x.io/b.serve");
		assert_non_null(strstr(e->causes[0].reason, "by rule package"));
		pd_explanation_free(e);
		e = explain(&(struct question){.baseline = baseline, .incident = incident, .incident_n = USUAL_N, .times = dearer, .pods = 5,
		                               .labels = labels});
		assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
		assert_string_equal(e->causes[0].location, "x.io/b.price");
		assert_string_equal(e->causes[0].moved_from, "x.io/a.price");
		assert_int_equal(e->causes[1].verdict, PD_VERDICT_MOVED);
		pd_explanation_free(e);
	}
}

static void a_dearer_successor_is_code(void **state)
{
	(void)state;
	struct work incident[USUAL_N];
	static const double times[] = {1, 4, 1, 1, 1, 1, 1};

	memcpy(incident, usual, sizeof(usual));
	incident[1].stack = "main.main;main.serve;main.cart;main.dutyAndTax";
	struct pd_explanation *e =
		explain(&(struct question){incident, USUAL_N, times, 5, load_of(100, 80, 100, 80), true, false, NULL});
	assert_int_equal(e->causes[0].verdict, PD_VERDICT_CODE);
	assert_string_equal(e->causes[0].location, "main.dutyAndTax");
	pd_explanation_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closures_count_as_their_function),
		cmocka_unit_test(a_helper_called_more_often_is_its_callers),
		cmocka_unit_test(a_renamed_function_is_moved),
		cmocka_unit_test(a_change_of_place_is_moved),
		cmocka_unit_test(a_rise_beside_an_equal_fall_is_no_code),
		cmocka_unit_test(what_is_called_more_often_is_its_callers),
		cmocka_unit_test(an_inlined_closure_counts_where_it_was_inlined),
		cmocka_unit_test(a_package_that_moved_is_no_code),
		cmocka_unit_test(a_dearer_successor_is_code),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
