/* The replicate test: against edgeR on real counts where they exist, and against what must hold. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/quasi.h"
#include "libdiff/sizefactor.h"
#include "libdiff/special.h"
#include "libdiff/stats.h"

#define GOLDENS "../shared/goldens/edger"
enum { COLUMNS = 10, FRAMES_MAX = 1000, NAME_N = 400 };

/* cmocka's own comparison is of floats. */
static void assert_near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.17g is not within %g of %.17g", a, tolerance, b);
}

static void special_functions_have_their_known_values(void **state)
{
	(void)state;
	assert_near(pd_digamma(1), -0.57721566490153286, 1e-13);
	assert_near(pd_digamma(0.5), -1.9635100260214235, 1e-13);
	assert_near(pd_trigamma(1), 1.6449340668482264, 1e-13);
	assert_near(pd_trigamma(2.5), 0.49035775610023486, 1e-13);
	assert_near(pd_tetragamma(1), -2.4041138063191886, 1e-12);
	for (double x = 0.01; x < 1000; x *= 3)
		assert_near(pd_trigamma_inverse(pd_trigamma(x)) / x, 1, 1e-8);
	assert_near(pd_t_quantile(0.975, INFINITY), 1.959963984540054, 1e-9);
	assert_near(pd_t_quantile(0.975, 8), 2.306004135204166, 1e-9);
	assert_near(pd_t_quantile(0.025, 8), -2.306004135204166, 1e-9);
	assert_near(pd_f1_upper(3.8414588206941236, INFINITY), 0.05, 1e-9);
	assert_near(pd_f1_upper(5.317655071578714, 8), 0.05, 1e-9);
}

/* One matrix of counts with what edgeR found in it. */
struct matrix {
	char name[FRAMES_MAX][NAME_N];
	double count[FRAMES_MAX * COLUMNS];
	size_t n;
	double library[COLUMNS];
	double p[FRAMES_MAX], q[FRAMES_MAX]; /* edgeR's; NAN where it did not test */
};

static bool next_line(FILE *file, char *line, size_t n)
{
	if (!fgets(line, (int)n, file))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

static void read_counts(struct matrix *m, const char *file_name, bool cumulative)
{
	char path[600], line[8192];
	FILE *file;

	snprintf(path, sizeof(path), "%s/counts/%s", GOLDENS, file_name);
	file = fopen(path, "r");
	assert_non_null(file);
	memset(m, 0, sizeof(*m));
	assert_true(next_line(file, line, sizeof(line)));
	while (next_line(file, line, sizeof(line))) {
		char *at = strchr(line, '\t');

		assert_true(m->n < FRAMES_MAX && at);
		snprintf(m->name[m->n], NAME_N, "%.*s", (int)(at - line), line);
		for (size_t j = 0; j < COLUMNS; j++) {
			double value = strtod(at + 1, &at);

			m->count[m->n * COLUMNS + j] = value;
			if (!cumulative)
				m->library[j] += value;
			else if (strcmp(m->name[m->n], "main.run.func1.1") == 0)
				m->library[j] = value;
		}
		m->p[m->n] = m->q[m->n] = NAN;
		m->n++;
	}
	fclose(file);
}

static void read_results(struct matrix *m, const char *file_name)
{
	char path[600], line[8192];
	FILE *file;

	snprintf(path, sizeof(path), "%s/results/%s", GOLDENS, file_name);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(next_line(file, line, sizeof(line)));
	while (next_line(file, line, sizeof(line))) {
		char *at = strchr(line, '\t');
		size_t i = 0;

		*at = '\0';
		while (i < m->n && strcmp(m->name[i], line) != 0)
			i++;
		assert_true(i < m->n);
		(void)strtod(at + 1, &at);
		(void)strtod(at + 1, &at);
		m->p[i] = strtod(at + 1, &at);
		m->q[i] = strtod(at + 1, &at);
	}
	fclose(file);
}

/* Keeps the frames that edgeR tested. */
static void keep_tested(struct matrix *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->n; i++) {
		if (isnan(m->p[i]))
			continue;
		memmove(m->count + kept * COLUMNS, m->count + i * COLUMNS, COLUMNS * sizeof(double));
		memmove(m->name[kept], m->name[i], NAME_N);
		m->p[kept] = m->p[i];
		m->q[kept] = m->q[i];
		kept++;
	}
	m->n = kept;
}

static double rank_of(const double *values, size_t n, size_t i)
{
	double rank = 0.5;

	for (size_t j = 0; j < n; j++)
		rank += values[j] < values[i] ? 1 : values[j] == values[i] ? 0.5 : 0;
	return rank;
}

static double spearman(const double *a, const double *b, size_t n)
{
	double mean = ((double)n + 1) / 2, ab = 0, aa = 0, bb = 0;

	for (size_t i = 0; i < n; i++) {
		double x = rank_of(a, n, i) - mean, y = rank_of(b, n, i) - mean;

		ab += x * y;
		aa += x * x;
		bb += y * y;
	}
	return ab / sqrt(aa * bb);
}

static void agrees_with_edger(void **state)
{
	static struct matrix m;
	static const unsigned char incident[COLUMNS] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
	DIR *folder = opendir(GOLDENS "/counts");
	size_t both = 0, either = 0, matrices = 0;
	const struct dirent *entry;

	(void)state;
	if (!folder)
		skip();
	while ((entry = readdir(folder))) {
		struct pp_error err = PP_ERROR_INIT;
		struct pd_quasi_fit fit;
		static struct pd_quasi_row rows[FRAMES_MAX];
		static double p[FRAMES_MAX], q[FRAMES_MAX];
		double exposure[COLUMNS];
		struct pd_counts counts = {0, COLUMNS, m.count, incident, exposure, false};

		if (!strstr(entry->d_name, ".tsv"))
			continue;
		read_counts(&m, entry->d_name, strstr(entry->d_name, ".cum.") != NULL);
		read_results(&m, entry->d_name);
		keep_tested(&m);
		counts.frames_n = m.n;
		assert_int_equal(pd_tmm(m.count, m.n, COLUMNS, m.library, exposure, &err), 0);
		for (size_t j = 0; j < COLUMNS; j++)
			exposure[j] *= m.library[j];
		assert_int_equal(pd_quasi_test(&counts, 0, &fit, rows, &err), 0);
		for (size_t i = 0; i < m.n; i++)
			p[i] = rows[i].p;
		assert_int_equal(pd_bh(p, q, m.n), 0);
		for (size_t i = 0; i < m.n; i++) {
			both += q[i] < 0.05 && m.q[i] < 0.05;
			either += q[i] < 0.05 || m.q[i] < 0.05;
		}
		print_message("# %-26s n %3zu spearman %.4f dispersion %.4f prior df %.1f\n", entry->d_name, m.n,
		              spearman(p, m.p, m.n), fit.dispersion, fit.prior_df);
		assert_true(spearman(p, m.p, m.n) >= 0.95);
		matrices++;
	}
	closedir(folder);
	print_message("# %zu matrices, jaccard %zu/%zu = %.3f\n", matrices, both, either, (double)both / (double)either);
	assert_true(matrices >= 38);
	assert_true((double)both >= 0.9 * (double)either);
}

static void exchanging_the_sides_changes_signs_only(void **state)
{
	const double count[] = {30, 41, 28, 60, 75, 66, 5, 9, 4, 6, 3, 8, 100, 90, 110, 105, 95, 99, 0, 0, 0, 4, 7, 3};
	const double exposure[] = {1, 1.2, 0.9, 1.1, 1, 1};
	const unsigned char forth[] = {0, 0, 0, 1, 1, 1}, back[] = {1, 1, 1, 0, 0, 0};
	struct pd_counts a = {4, 6, count, forth, exposure, false}, b = {4, 6, count, back, exposure, false};
	struct pd_quasi_row x[4], y[4];
	struct pd_quasi_fit fit;
	struct pp_error err = PP_ERROR_INIT;

	(void)state;
	assert_int_equal(pd_quasi_test(&a, 0, &fit, x, &err), 0);
	assert_int_equal(pd_quasi_test(&b, 0, &fit, y, &err), 0);
	for (size_t i = 0; i < 4; i++) {
		double low[2], high[2], t = pd_t_quantile(0.975, x[i].df);

		assert_near(x[i].p, y[i].p, 1e-12);
		assert_near(x[i].log_ratio, -y[i].log_ratio, 1e-12);
		pd_quasi_difference(&x[i], t, &low[0], &high[0]);
		pd_quasi_difference(&y[i], t, &low[1], &high[1]);
		assert_near(low[0], -high[1], 1e-9);
		assert_near(high[0], -low[1], 1e-9);
		assert_true(low[0] <= x[i].rate[1] - x[i].rate[0] && x[i].rate[1] - x[i].rate[0] <= high[0]);
		assert_true(pd_quasi_detectable(&x[i], t, pd_t_quantile(0.8, x[i].df)) > 1);
	}
	assert_true(x[0].p < 0.01);
	assert_true(x[2].p > 0.3);
}

static void exposures_may_differ_by_frame(void **state)
{
	const double count[] = {10, 12, 20, 24}, exposure[] = {1, 1, 2, 2};
	const unsigned char incident[] = {0, 0, 1, 1};
	struct pd_counts counts = {1, 4, count, incident, exposure, true};
	struct pd_quasi_row row;
	struct pd_quasi_fit fit;
	struct pp_error err = PP_ERROR_INIT;

	(void)state;
	assert_int_equal(pd_quasi_test(&counts, 0, &fit, &row, &err), 0);
	assert_near(row.rate[0], row.rate[1], 1e-9);
	assert_true(row.p > 0.99);
}

static void one_against_one_uses_the_assumed_dispersion(void **state)
{
	const double count[] = {400, 500, 0, 0}, exposure[] = {1, 1};
	const unsigned char incident[] = {0, 1};
	struct pd_counts counts = {2, 2, count, incident, exposure, false};
	struct pd_quasi_row poisson[2], spread[2];
	struct pd_quasi_fit fit;
	struct pp_error err = PP_ERROR_INIT;

	(void)state;
	assert_int_equal(pd_quasi_test(&counts, 0, &fit, poisson, &err), 0);
	assert_int_equal(pd_quasi_test(&counts, 0.02, &fit, spread, &err), 0);
	assert_near(fit.residual_df, 0, 0);
	assert_true(poisson[0].p < 0.01);
	assert_true(spread[0].p > 0.1);
	assert_true(isnan(spread[1].p));
}

static void median_of_ratios_is_not_moved_by_one_frame(void **state)
{
	/* the second column is twice the first, but for a frame that grew ten times */
	const double count[] = {10, 20, 100, 200, 30, 60, 50, 1000, 7, 14};
	double factor[2];
	size_t used;
	struct pp_error err = PP_ERROR_INIT;

	(void)state;
	assert_int_equal(pd_median_of_ratios(count, 5, 2, factor, &used, &err), 0);
	assert_int_equal(used, 5);
	assert_near(factor[1] / factor[0], 2, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(special_functions_have_their_known_values),
		cmocka_unit_test(exchanging_the_sides_changes_signs_only),
		cmocka_unit_test(exposures_may_differ_by_frame),
		cmocka_unit_test(one_against_one_uses_the_assumed_dispersion),
		cmocka_unit_test(median_of_ratios_is_not_moved_by_one_frame),
		cmocka_unit_test(agrees_with_edger),
	};

	return cmocka_run_group_tests_name("quasi", tests, NULL, NULL);
}
