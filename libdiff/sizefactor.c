#include "libdiff/sizefactor.h"

#include <math.h>
#include <stdlib.h>

#define TRIM_RATIO 0.3
#define TRIM_ABUNDANCE 0.05
/* Of fewer, trimming takes off none or nearly none, and one frame that changed moves the mean. */
#define TRIM_FRAMES 10

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Quantile by linear interpolation between order statistics; sorts values. */
static double quantile(double *values, size_t n, double p)
{
	double at = p * (double)(n - 1);
	size_t below = (size_t)at;

	qsort(values, n, sizeof(*values), ascending);
	if (below + 1 >= n)
		return values[n - 1];
	return values[below] + (at - (double)below) * (values[below + 1] - values[below]);
}

/* Scales positive numbers to geometric mean 1. */
static void centre(double *factor, size_t n)
{
	double mean = 0;

	for (size_t j = 0; j < n; j++)
		mean += log(factor[j]) / (double)n;
	for (size_t j = 0; j < n; j++)
		factor[j] /= exp(mean);
}

/* The column to compare with: its upper quartile share is nearest to the mean of all; where most frames
 * are absent from most columns, the one with the largest sum of square roots. */
static size_t reference_column(const double *counts, size_t frames_n, size_t columns_n, const double *library,
                               double *scratch, double *quartile)
{
	double mean = 0, best = INFINITY, largest = -1;
	size_t nearest = 0, biggest = 0;

	for (size_t j = 0; j < columns_n; j++) {
		double roots = 0;

		for (size_t i = 0; i < frames_n; i++) {
			scratch[i] = counts[i * columns_n + j] / library[j];
			roots += sqrt(counts[i * columns_n + j]);
		}
		quartile[j] = quantile(scratch, frames_n, 0.75);
		mean += quartile[j] / (double)columns_n;
		if (roots > largest) {
			largest = roots;
			biggest = j;
		}
	}
	for (size_t j = 0; j < columns_n; j++)
		if (fabs(quartile[j] - mean) < best) {
			best = fabs(quartile[j] - mean);
			nearest = j;
		}
	for (size_t j = 0; j < columns_n; j++)
		scratch[j] = quartile[j];
	return columns_n <= frames_n && quantile(scratch, columns_n, 0.5) < 1e-20 ? biggest : nearest;
}

struct point {
	double ratio, abundance, variance;
};

/* How many of n sorted values are below value, or not above it. */
static size_t count_below(const double *sorted, size_t n, double value, bool equal_too)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (sorted[middle] < value || (equal_too && sorted[middle] == value))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Rank (from 1) of a value among sorted ones, ties sharing their mean rank. */
static double rank_among(const double *sorted, size_t n, double value)
{
	return ((double)count_below(sorted, n, value, false) + 1 + (double)count_below(sorted, n, value, true)) / 2;
}

static double trimmed_mean(const struct point *points, size_t n, double *ratios, double *abundances)
{
	double low_m = floor((double)n * TRIM_RATIO) + 1, high_m = (double)n + 1 - low_m;
	double low_a = floor((double)n * TRIM_ABUNDANCE) + 1, high_a = (double)n + 1 - low_a;
	double sum = 0, weight = 0;

	for (size_t i = 0; i < n; i++) {
		ratios[i] = points[i].ratio;
		abundances[i] = points[i].abundance;
	}
	qsort(ratios, n, sizeof(*ratios), ascending);
	qsort(abundances, n, sizeof(*abundances), ascending);
	for (size_t i = 0; i < n; i++) {
		double rank_m = rank_among(ratios, n, points[i].ratio);
		double rank_a = rank_among(abundances, n, points[i].abundance);

		/* A frame that is all of a library has no variance, and says nothing about it. */
		if (rank_m < low_m || rank_m > high_m || rank_a < low_a || rank_a > high_a || points[i].variance <= 0)
			continue;
		sum += points[i].ratio / points[i].variance;
		weight += 1 / points[i].variance;
	}
	return weight > 0 ? sum / weight : 0;
}

static int by_ratio(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->ratio != y->ratio ? (x->ratio > y->ratio) - (x->ratio < y->ratio)
	                            : (x->variance > y->variance) - (x->variance < y->variance);
}

/* The median; of the two in the middle the surer one. Sorts points. */
static double median_ratio(struct point *points, size_t n)
{
	if (n == 0)
		return 0;
	qsort(points, n, sizeof(*points), by_ratio);
	const struct point *low = &points[(n - 1) / 2], *high = &points[n / 2];
	return high->variance < low->variance ? high->ratio : low->ratio;
}

int pd_tmm(const double *counts, size_t frames_n, size_t columns_n, const double *library, double *factor,
           struct pp_error *err)
{
	size_t room = frames_n > columns_n ? frames_n : columns_n, reference;
	struct point *points = calloc(room + 1, sizeof(*points));
	double *scratch = calloc(2 * room + columns_n + 1, sizeof(*scratch));
	int result = -1;

	for (size_t j = 0; j < columns_n; j++)
		factor[j] = 1;
	if (!points || !scratch) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
		goto done;
	}
	result = 0;
	if (frames_n == 0)
		goto done;
	reference = reference_column(counts, frames_n, columns_n, library, scratch, scratch + 2 * room);
	for (size_t j = 0; j < columns_n; j++) {
		size_t n = 0;

		for (size_t i = 0; i < frames_n; i++) {
			double a = counts[i * columns_n + j], b = counts[i * columns_n + reference];
			double na = library[j], nb = library[reference];

			if (a <= 0 || b <= 0)
				continue;
			points[n++] = (struct point){
				.ratio = log2(a / na) - log2(b / nb),
				.abundance = (log2(a / na) + log2(b / nb)) / 2,
				.variance = (na - a) / na / a + (nb - b) / nb / b,
			};
		}
		factor[j] = exp2(n < TRIM_FRAMES ? median_ratio(points, n)
		                                 : trimmed_mean(points, n, scratch, scratch + room));
	}
	centre(factor, columns_n);
done:
	free(points);
	free(scratch);
	return result;
}

int pd_median_of_ratios(const double *counts, size_t frames_n, size_t columns_n, double *factor, size_t *used,
                        struct pp_error *err)
{
	double *mean = calloc(frames_n + 1, sizeof(*mean));
	double *ratios = calloc(frames_n + 1, sizeof(*ratios));
	int result = -1;

	*used = 0;
	for (size_t j = 0; j < columns_n; j++)
		factor[j] = 1;
	if (!mean || !ratios) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
		goto done;
	}
	for (size_t i = 0; i < frames_n; i++) {
		for (size_t j = 0; j < columns_n; j++)
			mean[i] += log(counts[i * columns_n + j]) / (double)columns_n;
		*used += isfinite(mean[i]);
	}
	for (size_t j = 0; j < columns_n && *used; j++) {
		size_t n = 0;

		for (size_t i = 0; i < frames_n; i++)
			if (isfinite(mean[i]))
				ratios[n++] = log(counts[i * columns_n + j]) - mean[i];
		factor[j] = exp(quantile(ratios, n, 0.5));
	}
	centre(factor, columns_n);
	result = 0;
done:
	free(mean);
	free(ratios);
	return result;
}
