#include "libdiff/quasi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libdiff/special.h"

/* Below this the negative binomial is the Poisson distribution to all digits that matter. */
#define DISPERSION_MIN 1e-5
#define DISPERSION_MAX 2.0
/* More frames than this teach nothing new about one common number. */
#define DISPERSION_FRAMES 1000
#define MEAN_MIN 1e-10
/* Samples a column from which on a frame shows whether it varies more than others do. The spread of frames is
 * learned from those that show it, so that a frame that varies much is not taken for one of the many that are
 * too small to tell; the small ones share what all have. */
#define TELLING_MEAN 40
#define TELLING_FRAMES 10 /* fewer teach nothing about a spread */

/* The part of one frame that belongs to one side. */
struct cells {
	const double *count, *exposure;
	const unsigned char *incident;
	size_t n;
	unsigned side;
};

static struct cells cells_of(const struct pd_counts *counts, size_t frame, unsigned side)
{
	return (struct cells){
		.count = counts->count + frame * counts->columns_n,
		.exposure = counts->exposure + (counts->exposure_by_frame ? frame * counts->columns_n : 0),
		.incident = counts->incident,
		.n = counts->columns_n,
		.side = side,
	};
}

static const unsigned BOTH = 2; /* a side that holds all columns: the model without a difference */

static bool belongs(const struct cells *c, size_t column)
{
	return c->side == BOTH || c->incident[column] == c->side;
}

/* Maximum likelihood rate at a known dispersion: the zero of sum (y - r e) / (1 + phi r e). */
static double fit_rate(const struct cells *c, double phi)
{
	double count = 0, exposure = 0, rate;

	for (size_t j = 0; j < c->n; j++)
		if (belongs(c, j)) {
			count += c->count[j];
			exposure += c->exposure[j];
		}
	rate = exposure > 0 ? count / exposure : 0;
	if (phi <= 0 || rate <= 0)
		return rate;
	for (int i = 0; i < 100; i++) {
		double top = 0, bottom = 0, next;

		for (size_t j = 0; j < c->n; j++)
			if (belongs(c, j)) {
				double weight = 1 / (1 + phi * rate * c->exposure[j]);

				top += weight * c->count[j];
				bottom += weight * c->exposure[j];
			}
		next = top / bottom;
		if (fabs(next - rate) <= 1e-12 * rate)
			return next;
		rate = next;
	}
	return rate;
}

static double mean_of(const struct cells *c, size_t column, double rate)
{
	double mean = rate * c->exposure[column];

	return mean > MEAN_MIN ? mean : MEAN_MIN;
}

/* Sum of unit deviances of the negative binomial (phi = 0: Poisson). */
static double deviance(const struct cells *c, double rate, double phi)
{
	double sum = 0;

	for (size_t j = 0; j < c->n; j++) {
		double y = c->count[j], mean, d;

		if (!belongs(c, j))
			continue;
		mean = mean_of(c, j, rate);
		d = y > 0 ? y * log(y / mean) : 0;
		if (phi > 0)
			d -= (y + 1 / phi) * log1p(phi * (y - mean) / (1 + phi * mean));
		else
			d -= y - mean;
		if (d > 0)
			sum += 2 * d;
	}
	return sum;
}

/* Fisher information of the log rate. */
static double information(const struct cells *c, double rate, double phi)
{
	double sum = 0;

	for (size_t j = 0; j < c->n; j++)
		if (belongs(c, j)) {
			double mean = mean_of(c, j, rate);

			sum += mean / (1 + phi * mean);
		}
	return sum;
}

/* Log likelihood of one side of a frame, less half the log information (Cox & Reid). */
static double adjusted_likelihood(const struct cells *c, double phi)
{
	double rate = fit_rate(c, phi), shape = 1 / phi, sum = 0;

	if (rate <= 0)
		return 0;
	for (size_t j = 0; j < c->n; j++)
		if (belongs(c, j)) {
			double y = c->count[j], mean = mean_of(c, j, rate);

			sum += lgamma(y + shape) - lgamma(shape) + y * log(phi * mean / (1 + phi * mean)) -
			       log1p(phi * mean) * shape;
		}
	return sum - 0.5 * log(information(c, rate, phi));
}

struct total {
	double count;
	size_t frame;
};

static int by_count(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static double likelihood(const struct pd_counts *counts, const struct total *frames, size_t n, double log_phi)
{
	double sum = 0;

	/* Both sides are added up before the sum, so that exchanging them changes no bit. */
	for (size_t i = 0; i < n; i++) {
		struct cells a = cells_of(counts, frames[i].frame, 0), b = cells_of(counts, frames[i].frame, 1);

		sum += adjusted_likelihood(&a, exp(log_phi)) + adjusted_likelihood(&b, exp(log_phi));
	}
	return sum;
}

/* The common dispersion that makes the counts of the most frequent frames likeliest: golden section on
 * its logarithm, where the likelihood has one peak. */
static int common_dispersion(const struct pd_counts *counts, double *dispersion, struct pp_error *err)
{
	const double golden = 0.61803398874989484;
	double low = log(DISPERSION_MIN), high = log(DISPERSION_MAX);
	double a = high - golden * (high - low), b = low + golden * (high - low), at_a, at_b;
	struct total *frames = calloc(counts->frames_n, sizeof(*frames));
	size_t n = counts->frames_n < DISPERSION_FRAMES ? counts->frames_n : DISPERSION_FRAMES;

	if (!frames)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	for (size_t i = 0; i < counts->frames_n; i++) {
		frames[i].frame = i;
		for (size_t j = 0; j < counts->columns_n; j++)
			frames[i].count += counts->count[i * counts->columns_n + j];
	}
	qsort(frames, counts->frames_n, sizeof(*frames), by_count);
	at_a = likelihood(counts, frames, n, a);
	at_b = likelihood(counts, frames, n, b);
	while (high - low > 1e-3) {
		if (at_a > at_b) {
			high = b;
			b = a;
			at_b = at_a;
			a = high - golden * (high - low);
			at_a = likelihood(counts, frames, n, a);
		} else {
			low = a;
			a = b;
			at_a = at_b;
			b = low + golden * (high - low);
			at_b = likelihood(counts, frames, n, b);
		}
	}
	free(frames);
	*dispersion = exp((low + high) / 2);
	if (*dispersion < 1.01 * DISPERSION_MIN)
		*dispersion = 0;
	return 0;
}

/* A frame's own scale: residual deviance over its degrees of freedom. A side without any count fits
 * exactly and tells nothing. */
struct scale {
	double value, df;
};

static struct scale scale_of(const struct pd_counts *counts, size_t frame, double phi)
{
	struct scale scale = {0, 0};
	double sum = 0;

	for (unsigned side = 0; side < 2; side++) {
		struct cells c = cells_of(counts, frame, side);
		double rate = fit_rate(&c, phi);
		double n = 0;

		if (rate <= 0)
			continue;
		for (size_t j = 0; j < c.n; j++)
			n += belongs(&c, j);
		scale.df += n - 1;
		sum += deviance(&c, rate, phi);
	}
	if (scale.df > 0)
		scale.value = sum / scale.df;
	return scale;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Prior scale and its degrees of freedom from the spread of the frames' scales: the method of moments on
 * their logarithms (Smyth 2004, section 6.2). */
static int fit_prior(const struct scale *scales, size_t n, struct pd_quasi_fit *fit, struct pp_error *err)
{
	double *sorted = malloc((n ? n : 1) * sizeof(*sorted));
	double floor, mean = 0, variance = 0, expected = 0;
	size_t usable = 0;

	if (!sorted)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	for (size_t i = 0; i < n; i++)
		if (scales[i].df > 0)
			sorted[usable++] = scales[i].value;
	fit->prior_df = 0;
	fit->prior_scale = 1;
	if (usable < 2)
		goto done;
	qsort(sorted, usable, sizeof(*sorted), ascending);
	floor = 1e-5 * sorted[usable / 2];
	if (floor <= 0)
		floor = 1e-10;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < n; i++) {
			double half = scales[i].df / 2, e;

			if (scales[i].df <= 0)
				continue;
			e = log(scales[i].value > floor ? scales[i].value : floor) - pd_digamma(half) + log(half);
			if (pass == 0) {
				mean += e / (double)usable;
			} else {
				variance += (e - mean) * (e - mean) / (double)(usable - 1);
				expected += pd_trigamma(half) / (double)usable;
			}
		}
	if (variance > expected) {
		double half = pd_trigamma_inverse(variance - expected);

		fit->prior_df = 2 * half;
		fit->prior_scale = exp(mean + pd_digamma(half) - log(half));
	} else {
		fit->prior_df = INFINITY;
		fit->prior_scale = exp(mean);
	}
done:
	free(sorted);
	return 0;
}

static double shrink(const struct pd_quasi_fit *fit, struct scale own)
{
	if (isinf(fit->prior_df))
		return fit->prior_scale;
	if (fit->prior_df + own.df <= 0)
		return 1;
	return (fit->prior_df * fit->prior_scale + own.df * own.value) / (fit->prior_df + own.df);
}

/* Would the fitted variance be below that of Poisson noise for some cell? */
static bool below_poisson(const struct cells *c, double rate, double phi, double scale)
{
	for (size_t j = 0; j < c->n; j++)
		if (belongs(c, j) && scale * (1 + phi * mean_of(c, j, rate)) < 1)
			return true;
	return false;
}

static double poisson_p(const struct pd_counts *counts, size_t frame)
{
	struct cells a = cells_of(counts, frame, 0), b = cells_of(counts, frame, 1), all = cells_of(counts, frame, BOTH);

	return pd_f1_upper(deviance(&all, fit_rate(&all, 0), 0) -
	                           (deviance(&a, fit_rate(&a, 0), 0) + deviance(&b, fit_rate(&b, 0), 0)), INFINITY);
}

/* The log ratio and its standard error, with half a count added to each side so that a side without any
 * has both, and no less noise than Poisson's. */
static void estimate(const struct pd_counts *counts, size_t frame, double phi, double scale,
                     struct pd_quasi_row *row)
{
	double log_rate[2], variance[2];

	for (unsigned side = 0; side < 2; side++) {
		struct cells c = cells_of(counts, frame, side);
		double rate, poisson;

		row->exposure[side] = 0;
		for (size_t j = 0; j < c.n; j++)
			if (belongs(&c, j))
				row->exposure[side] += c.exposure[j];
		row->rate[side] = fit_rate(&c, phi);
		rate = row->rate[side] + 0.5 / row->exposure[side];
		poisson = 1 / information(&c, rate, 0);
		variance[side] = scale / information(&c, rate, phi);
		if (variance[side] < poisson)
			variance[side] = poisson;
		log_rate[side] = log(rate);
	}
	row->log_rate_se[0] = sqrt(variance[0]);
	row->log_rate_se[1] = sqrt(variance[1]);
	row->log_ratio = log_rate[1] - log_rate[0];
	row->log_ratio_se = sqrt(variance[0] + variance[1]);
}

static void test_frame(const struct pd_counts *counts, size_t frame, const struct pd_quasi_fit *fit,
                       struct scale own, double total_df, struct pd_quasi_row *row)
{
	double phi = fit->dispersion, scale = shrink(fit, own), f;
	struct cells a = cells_of(counts, frame, 0), b = cells_of(counts, frame, 1), all = cells_of(counts, frame, BOTH);
	double rate_all = fit_rate(&all, phi);

	estimate(counts, frame, phi, scale, row);
	row->df = fit->prior_df + own.df;
	if (row->df > total_df && !isinf(row->df))
		row->df = total_df;
	if (row->df < 1)
		row->df = 1;
	if (rate_all <= 0) {
		row->p = NAN;
		return;
	}
	f = (deviance(&all, rate_all, phi) - (deviance(&a, row->rate[0], phi) + deviance(&b, row->rate[1], phi))) / scale;
	row->p = pd_f1_upper(f, row->df);
	if (below_poisson(&a, row->rate[0], phi, scale) || below_poisson(&b, row->rate[1], phi, scale)) {
		double bound = poisson_p(counts, frame);

		if (bound > row->p)
			row->p = bound;
	}
}

static bool is_telling(const struct pd_counts *counts, size_t frame)
{
	double sum = 0;

	for (size_t j = 0; j < counts->columns_n; j++)
		sum += counts->count[frame * counts->columns_n + j];
	return sum >= TELLING_MEAN * (double)counts->columns_n;
}

/* The prior of the telling frames; that of all where they are few. */
static int fit_telling_prior(const struct pd_counts *counts, const struct scale *scales, struct pd_quasi_fit *fit,
                             struct pp_error *err)
{
	struct scale *telling = calloc(counts->frames_n + 1, sizeof(*telling));
	size_t n = 0;
	int result = 0;

	if (!telling)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	for (size_t i = 0; i < counts->frames_n; i++)
		if (is_telling(counts, i))
			telling[n++] = scales[i];
	if (n >= TELLING_FRAMES)
		result = fit_prior(telling, n, fit, err);
	free(telling);
	return result;
}

int pd_quasi_test(const struct pd_counts *counts, double assumed_dispersion, struct pd_quasi_fit *fit,
                  struct pd_quasi_row *rows, struct pp_error *err)
{
	struct scale *scales = calloc(counts->frames_n ? counts->frames_n : 1, sizeof(*scales));
	struct pd_quasi_fit telling;
	double total_df = 0;
	int result = -1;

	if (!scales)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	*fit = (struct pd_quasi_fit){assumed_dispersion, (double)counts->columns_n - 2, INFINITY, 1};
	if (counts->columns_n > 2) {
		if (common_dispersion(counts, &fit->dispersion, err))
			goto done;
		for (size_t i = 0; i < counts->frames_n; i++) {
			scales[i] = scale_of(counts, i, fit->dispersion);
			total_df += scales[i].df;
		}
		if (fit_prior(scales, counts->frames_n, fit, err))
			goto done;
	}
	telling = *fit;
	if (counts->columns_n > 2 && fit_telling_prior(counts, scales, &telling, err))
		goto done;
	for (size_t i = 0; i < counts->frames_n; i++)
		test_frame(counts, i, is_telling(counts, i) ? &telling : fit, scales[i], total_df, &rows[i]);
	result = 0;
done:
	free(scales);
	return result;
}

void pd_quasi_ratio(const struct pd_quasi_row *row, double t, double *low, double *high)
{
	double width = t * row->log_ratio_se;

	*low = exp(row->log_ratio - width);
	*high = exp(row->log_ratio + width);
}

double pd_quasi_detectable(const struct pd_quasi_row *row, double t, double t_power)
{
	return exp((t + t_power) * row->log_ratio_se);
}

void pd_quasi_difference(const struct pd_quasi_row *row, double t, double *low, double *high)
{
	double below[2], above[2];

	for (unsigned side = 0; side < 2; side++) {
		double rate = row->rate[side], centre = rate + 0.5 / row->exposure[side];

		below[side] = rate - centre * exp(-t * row->log_rate_se[side]);
		above[side] = centre * exp(t * row->log_rate_se[side]) - rate;
		if (below[side] < 0)
			below[side] = 0;
	}
	*low = row->rate[1] - row->rate[0] - hypot(below[1], above[0]);
	*high = row->rate[1] - row->rate[0] + hypot(above[1], below[0]);
}
