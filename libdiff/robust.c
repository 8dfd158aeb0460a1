#include "libdiff/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libdiff/sizefactor.h"

/* Share of the biggest row from which on a row is part of the trunk. */
#define TRUNK 0.98

static double sum_of(const double *row, size_t n)
{
	double sum = 0;

	for (size_t j = 0; j < n; j++)
		sum += row[j];
	return sum;
}

/* The rows that are big enough, one after another; returns how many. */
static size_t select_rows(const struct pd_matrix *m, const double *cells, double min_count, double *counts)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->rows_n; i++) {
		const double *row = cells + i * m->columns_n;
		double sum = sum_of(row, m->columns_n);

		if (sum > 0 && sum >= min_count)
			memcpy(counts + kept++ * m->columns_n, row, m->columns_n * sizeof(*row));
	}
	return kept;
}

/* What shares refer to: all samples, or, for cumulative values, the end of the call tree's trunk: of the rows
 * that have nearly as much as the biggest, the last but one. Rows above it hold more than all and say nothing;
 * the last has nearly the same samples, weighs most, and ties sizes to what the trunk has. A column without
 * any has the total. */
static const double *library_of(const struct pd_matrix *m, bool cumulative, const double *counts, size_t rows_n)
{
	const double *last = NULL, *before = NULL;
	double most = 0, least = INFINITY, second = INFINITY;

	for (size_t i = 0; i < rows_n && cumulative; i++)
		most = fmax(most, sum_of(counts + i * m->columns_n, m->columns_n));
	for (size_t i = 0; i < rows_n && cumulative; i++) {
		const double *row = counts + i * m->columns_n;
		double sum = sum_of(row, m->columns_n);

		if (sum < TRUNK * most)
			continue;
		if (sum < least) {
			before = last;
			second = least;
			last = row;
			least = sum;
		} else if (sum < second) {
			before = row;
			second = sum;
		}
	}
	const double *library = before ? before : last ? last : m->total;
	for (size_t j = 0; j < m->columns_n; j++)
		if (!(library[j] > 0))
			return m->total;
	return library;
}

/* Whether some row has samples on both sides, or in every column, so that there is something to compare. */
static bool share_a_row(const struct pd_matrix *m, const double *counts, size_t rows_n, bool every_column)
{
	for (size_t i = 0; i < rows_n; i++) {
		size_t with[2] = {0, 0};

		for (size_t j = 0; j < m->columns_n; j++)
			with[m->incident[j]] += counts[i * m->columns_n + j] > 0;
		if (every_column ? with[0] + with[1] == m->columns_n : with[0] && with[1])
			return true;
	}
	return false;
}

static const char *obstacle(const struct pd_matrix *m)
{
	if (m->negative)
		return "values are negative";
	for (size_t j = 0; j < m->columns_n; j++)
		if (!(m->total[j] > 0))
			return "a profile has no cost at all";
	return NULL;
}

int pd_robust_sizes(const struct pd_matrix *m, enum pd_normalization which, bool cumulative, double min_count,
                    double *size, const char **reason, struct pp_error *err)
{
	double *counts = malloc((m->rows_n * m->columns_n + 1) * sizeof(*counts));
	const double *library;
	size_t rows_n, used;
	int result = -1;

	for (size_t j = 0; j < m->columns_n; j++)
		size[j] = 0;
	*reason = obstacle(m);
	if (!counts) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for size factors");
		goto done;
	}
	result = 0;
	if (*reason)
		goto done;
	rows_n = select_rows(m, cumulative ? m->cum : m->flat, min_count, counts);
	if (!share_a_row(m, counts, rows_n, which == PD_ROBUST_MEDIAN)) {
		*reason = which == PD_ROBUST_MEDIAN ? "no frame has samples enough in every profile"
		                                    : "no frame has samples enough on both sides";
		goto done;
	}
	library = library_of(m, cumulative, counts, rows_n);
	result = which == PD_ROBUST ? pd_tmm(counts, rows_n, m->columns_n, library, size, err)
	                            : pd_median_of_ratios(counts, rows_n, m->columns_n, size, &used, err);
	if (which == PD_ROBUST) {
		for (size_t j = 0; j < m->columns_n; j++)
			size[j] *= library[j];
	} else {
		double mean_log = 0; /* a size of about the total */

		for (size_t j = 0; j < m->columns_n; j++)
			mean_log += log(m->total[j]) / (double)m->columns_n;
		for (size_t j = 0; j < m->columns_n; j++)
			size[j] *= exp(mean_log);
	}
done:
	free(counts);
	return result;
}
