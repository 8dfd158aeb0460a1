#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libdiff/stats.h"

static void assert_near(double got, double wanted, double relative)
{
	if (!(fabs(got - wanted) <= relative * fabs(wanted)))
		fail_msg("got %.17g, wanted %.17g", got, wanted);
}

static void test_beta_of_small_parameters(void **state)
{
	(void)state;
	assert_near(pd_beta_inc(1, 1, 0.37), 0.37, 1e-14);
	assert_near(pd_beta_inc(2, 3, 0.3), 0.3483, 1e-14); /* 6x^2 - 8x^3 + 3x^4 */
	assert_near(pd_beta_inc(7.5, 7.5, 0.5), 0.5, 1e-13);
	assert_near(pd_beta_inc(0.5, 0.5, 0.25), 1.0 / 3, 1e-13); /* 2/pi asin(sqrt x) */
	assert_true(pd_beta_inc(2, 3, 0) == 0 && pd_beta_inc(2, 3, 1) == 1);
}

/* Wanted values: numerical integration with 30 digits. */
static void test_beta_of_large_parameters(void **state)
{
	(void)state;
	assert_near(pd_beta_inc(2e5, 3e5, 0.4005), 0.764785094491661, 1e-9);
	assert_near(pd_beta_inc(2e6, 3e6, 0.399), 2.49073256973153e-6, 1e-7);
	assert_near(pd_beta_inc(1e12, 1e12, 0.5), 0.5, 1e-9);
	/* the two methods meet */
	assert_near(pd_beta_inc(99999, 200001, 0.3333), pd_beta_inc(100001, 200001, 0.3333046), 2e-2);
}

/* R's documentation: poisson.test(c(11, 21), c(800, 3011)). */
static void test_ratio_of_published_example(void **state)
{
	(void)state;
	double low, high;
	assert_near(pd_poisson_ratio_p(21, 3011, 11, 800), 0.07967, 5e-4);
	pd_poisson_ratio_ci(21, 3011, 11, 800, 0.05, &low, &high);
	assert_near(low, 0.8584264, 1e-6);
	assert_near(high, 4.2772659, 1e-6);
}

/* Binomial tails that can be added up by hand. */
static void test_ratio_of_few_counts(void **state)
{
	(void)state;
	assert_near(pd_poisson_ratio_p(0, 1, 5, 1), 2.0 / 32, 1e-12);
	assert_near(pd_poisson_ratio_p(1, 1, 4, 1), 12.0 / 32, 1e-12);
	assert_near(pd_poisson_ratio_p(3, 1, 0, 2), 1.0 / 27, 1e-12); /* only this outcome is so unlikely */
	assert_near(pd_poisson_ratio_p(0, 1, 3, 2), 15.0 / 27, 1e-12); /* 8 + 6 + 1 of 27 */
	assert_near(pd_poisson_ratio_p(4.9, 1, 0.9, 1), 2.0 / 16, 1e-12);
	assert_true(pd_poisson_ratio_p(0, 1, 0, 1) == 1);
	assert_true(pd_poisson_ratio_p(7, 1, 7, 1) == 1);
}

static void test_ratio_is_the_same_for_exchanged_sides(void **state)
{
	(void)state;
	for (int a = 0; a < 40; a++) {
		for (int b = 0; b < 40; b++) {
			assert_true(pd_poisson_ratio_p(a, 3, b, 10) == pd_poisson_ratio_p(b, 10, a, 3));
			double low, high, back_low, back_high;
			pd_poisson_ratio_ci(a, 3, b, 10, 0.05, &low, &high);
			pd_poisson_ratio_ci(b, 10, a, 3, 0.05, &back_low, &back_high);
			assert_near(low, 1 / back_high, 1e-9);
			assert_near(back_low, 1 / high, 1e-9);
		}
	}
}

/* The two statements agree: the interval leaves 1 out where one tail is below 2.5 %. */
static void test_interval_of_extremes(void **state)
{
	(void)state;
	double low, high;
	pd_poisson_ratio_ci(5, 1, 0, 1, 0.05, &low, &high);
	assert_true(low == 0);
	assert_near(high, 1.0912791, 1e-7); /* 0.025^(-1/5) - 1 */
	pd_poisson_ratio_ci(0, 1, 5, 1, 0.05, &low, &high);
	assert_near(low, 1 / 1.0912791, 1e-7);
	assert_true(isinf(high));
	assert_true(pd_poisson_ratio_p(0, 1, 9e18, 1) == 0);
	assert_true(pd_poisson_ratio_p(9e18, 1, 9e18, 1) == 1);
}

static void test_bh(void **state)
{
	(void)state;
	double p[] = {0.04, NAN, 0.01, 0.03, 0.02, 0.9}, q[6];
	assert_int_equal(pd_bh(p, q, 6), 0);
	assert_near(q[0], 0.05, 1e-14);
	assert_true(isnan(q[1]));
	assert_near(q[2], 0.05, 1e-14);
	assert_near(q[5], 0.9, 1e-14);
	double steps[] = {0.005, 0.04, 0.5};
	assert_int_equal(pd_bh(steps, steps, 3), 0);
	assert_near(steps[0], 0.015, 1e-14);
	assert_near(steps[1], 0.06, 1e-14);
	assert_near(steps[2], 0.5, 1e-14);
	assert_int_equal(pd_bh(NULL, NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beta_of_small_parameters),
		cmocka_unit_test(test_beta_of_large_parameters),
		cmocka_unit_test(test_ratio_of_published_example),
		cmocka_unit_test(test_ratio_of_few_counts),
		cmocka_unit_test(test_ratio_is_the_same_for_exchanged_sides),
		cmocka_unit_test(test_interval_of_extremes),
		cmocka_unit_test(test_bh),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
