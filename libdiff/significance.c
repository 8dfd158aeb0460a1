#include "libdiff/significance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libdiff/special.h"
#include "libdiff/stats.h"

#define CONFIDENCE_ALPHA 0.05
#define POWER 0.80
#define NEEDED_MAX 1000

static const struct pd_estimate no_estimate = {{NAN, NAN}, {NAN, NAN}, NAN, NAN, {NAN, NAN}, NAN};

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the tests");
}

/* ---- q ---- */

int pd_hierarchical_q(double *flat, double *cum, size_t n, double *any_p)
{
	double *all = malloc((2 * n + 1) * sizeof(*all));
	int status = all ? 0 : -1;

	*any_p = NAN;
	if (status != 0)
		return -1;
	memcpy(all, flat, n * sizeof(*all));
	memcpy(all + n, cum, n * sizeof(*all));
	status = pd_bh(all, all, 2 * n);
	for (size_t i = 0; i < 2 * n; i++) /* the smallest q is the p-value of Simes (1986) */
		*any_p = fmin(*any_p, all[i]);
	status |= pd_bh(flat, flat, n);
	status |= pd_bh(cum, cum, n);
	for (size_t i = 0; i < n; i++) {
		flat[i] = isnan(flat[i]) ? flat[i] : fmax(flat[i], *any_p);
		cum[i] = isnan(cum[i]) ? cum[i] : fmax(cum[i], *any_p);
	}
	free(all);
	return status;
}

/* ---- t quantiles ---- */

/* Rows have few different degrees of freedom, and a quantile costs more than the rest of a row. */
struct quantiles {
	struct {
		double df, interval, power;
	} known[8];
	size_t n;
};

static void quantiles_of(struct quantiles *q, double df, double *interval, double *power)
{
	size_t i = 0;

	while (i < q->n && q->known[i].df != df)
		i++;
	if (i == q->n) {
		i = q->n < PP_COUNT(q->known) ? q->n++ : 0;
		q->known[i].df = df;
		q->known[i].interval = pd_t_quantile(1 - CONFIDENCE_ALPHA / 2, df);
		q->known[i].power = pd_t_quantile(POWER, df);
	}
	*interval = q->known[i].interval;
	*power = q->known[i].power;
}

/* ---- from a fitted row to an estimate ---- */

/* What a sample stands for, after normalisation: value by fitted samples of both sides. */
static double value_of_sample(const int64_t value[2], const struct pd_quasi_row *fitted)
{
	double rate = fitted->rate[0] + fitted->rate[1];
	return rate > 0 ? ((double)value[0] + (double)value[1]) / rate : 0;
}

static void estimate(const struct pd_quasi_row *fitted, const int64_t value[2], struct quantiles *quantiles,
                     struct pd_estimate *out)
{
	double t, t_power, low, high, unit = value_of_sample(value, fitted);
	double difference = fitted->rate[1] - fitted->rate[0], delta = (double)value[1] - (double)value[0];

	quantiles_of(quantiles, fitted->df, &t, &t_power);
	pd_quasi_ratio(fitted, t, &out->ratio[0], &out->ratio[1]);
	/* The interval is put around the difference as printed: a fitted rate weighs profiles differently. */
	pd_quasi_difference(fitted, t, &low, &high);
	out->delta[0] = delta - (difference - low) * unit;
	out->delta[1] = delta + (high - difference) * unit;
	out->detectable = pd_quasi_detectable(fitted, t, t_power) - 1;
	out->log_ratio = fitted->log_ratio;
	out->log_se[0] = fitted->log_rate_se[0];
	out->log_se[1] = fitted->log_rate_se[1];
	out->df = fitted->df;
}

/* ---- one family: flat or cumulative values of all rows ---- */

struct family {
	size_t *row;           /* of a tested one */
	size_t n;
	double *count, *exposure;
	unsigned char *incident;
	size_t columns_n;
	struct pd_quasi_row *fitted;
};

static void family_release(struct family *f)
{
	free(f->row);
	free(f->count);
	free(f->exposure);
	free(f->incident);
	free(f->fitted);
}

/* Profiles without any exposure (an empty one, under PD_TOTAL) say nothing. */
static bool has_exposure(const struct pd_matrix *m, size_t column)
{
	return m->exposure[column] > 0 && !isinf(m->exposure[column]);
}

/* A row that is all of every profile does not vary under PD_TOTAL, whatever happens. */
static bool is_everything(const struct pd_comparison *c, const struct pd_matrix *m, const double *cells)
{
	bool all = c->normalization == PD_TOTAL;
	for (size_t j = 0; j < m->columns_n; j++)
		all &= cells[j] >= m->total[j];
	return all;
}

static int family_make(struct family *f, const struct pd_comparison *c, const struct pd_matrix *m, const double *cells,
                       double min_count, struct pp_error *err)
{
	*f = (struct family){0};
	f->row = calloc(m->rows_n + 1, sizeof(*f->row));
	f->count = calloc(m->rows_n * m->columns_n + 1, sizeof(*f->count));
	f->exposure = calloc(m->columns_n + 1, sizeof(*f->exposure));
	f->incident = calloc(m->columns_n + 1, sizeof(*f->incident));
	f->fitted = calloc(m->rows_n + 1, sizeof(*f->fitted));
	if (!f->row || !f->count || !f->exposure || !f->incident || !f->fitted)
		return no_memory(err);
	for (size_t j = 0; j < m->columns_n; j++)
		if (has_exposure(m, j)) {
			f->exposure[f->columns_n] = m->exposure[j];
			f->incident[f->columns_n++] = m->incident[j];
		}
	for (size_t i = 0; i < m->rows_n; i++) {
		const double *from = cells + i * m->columns_n;
		double *to = f->count + f->n * f->columns_n, sum = 0;

		for (size_t j = 0; j < m->columns_n; j++)
			sum += from[j];
		if (!(sum >= fmax(min_count, 1)) || is_everything(c, m, from))
			continue;
		for (size_t j = 0; j < m->columns_n; j++)
			if (has_exposure(m, j))
				*to++ = from[j];
		f->row[f->n++] = i;
	}
	return 0;
}

static int family_fit(struct family *f, struct pd_quasi_fit *fit, struct pp_error *err)
{
	const struct pd_counts counts = {f->n, f->columns_n, f->count, f->incident, f->exposure, false};
	return pd_quasi_test(&counts, 0, fit, f->fitted, err);
}

/* One against one: the exact test and its interval stand in for those of the fit. */
static double exact(const struct pd_comparison *c, const double count[2], struct pd_estimate *e)
{
	const double *exposure = c->count_exposure;
	pd_poisson_ratio_ci(count[0], exposure[0], count[1], exposure[1], CONFIDENCE_ALPHA, &e->ratio[0], &e->ratio[1]);
	return pd_poisson_ratio_p(count[0], exposure[0], count[1], exposure[1]);
}

static void estimate_family(struct pd_comparison *c, const struct family *f, bool cumulative)
{
	struct quantiles quantiles = {.n = 0};

	for (size_t k = 0; k < f->n; k++) {
		struct pd_row *row = &c->rows[f->row[k]];
		struct pd_estimate *e = cumulative ? &row->cum_estimate : &row->flat_estimate;
		double p = f->fitted[k].p;

		estimate(&f->fitted[k], cumulative ? row->cum : row->flat, &quantiles, e);
		if (c->noise == PD_NOISE_SAMPLING)
			p = exact(c, cumulative ? row->cum_count : row->flat_count, e);
		*(cumulative ? &row->p_cum : &row->p_flat) = p;
	}
}

static int test_family(struct pd_comparison *c, const struct pd_matrix *m, bool cumulative, struct pp_error *err)
{
	struct pd_quasi_fit *fit = cumulative ? &c->cum_fit : &c->flat_fit;
	struct family f;
	int status = family_make(&f, c, m, cumulative ? m->cum : m->flat, c->min_count, err);

	if (status == 0 && (status = family_fit(&f, fit, err)) == 0)
		estimate_family(c, &f, cumulative);
	/* Intervals are of the values as printed, p of what the cumulative values themselves call unchanged. */
	if (status == 0 && cumulative && c->noise == PD_NOISE_REPLICATES && c->normalization >= PD_ROBUST) {
		memcpy(f.exposure, m->cum_exposure, f.columns_n * sizeof(*f.exposure));
		status = family_fit(&f, fit, err);
		for (size_t k = 0; k < f.n && status == 0; k++)
			c->rows[f.row[k]].p_cum = f.fitted[k].p;
	}
	if (!cumulative)
		c->tests_n = (double)f.n;
	family_release(&f);
	return status;
}

/* ---- the totals ---- */

/* A family of its own with one row, the sums of all profiles: nothing is borrowed from the frames. */
static int test_total(struct pd_comparison *c, const struct pd_matrix *m, struct pp_error *err)
{
	struct quantiles quantiles = {.n = 0};
	struct pd_matrix whole = *m;
	struct pd_quasi_fit fit;
	struct family f;

	if (c->normalization == PD_TOTAL)
		return 0;
	whole.rows_n = 1;
	int status = family_make(&f, c, &whole, m->total, 1, err);
	if (status == 0 && f.n == 1)
		status = family_fit(&f, &fit, err);
	if (status == 0 && f.n == 1) {
		c->total_p = f.fitted[0].p;
		estimate(&f.fitted[0], c->total, &quantiles, &c->total_estimate);
		if (c->noise == PD_NOISE_SAMPLING)
			c->total_p = exact(c, c->total_count, &c->total_estimate);
	}
	family_release(&f);
	return status;
}

/* ---- all ---- */

/* Whether both sides have a profile that says something. */
static bool can_test(const struct pd_comparison *c, const struct pd_matrix *m)
{
	bool with[2] = {false, false};
	for (size_t j = 0; j < m->columns_n; j++)
		with[m->incident[j]] |= has_exposure(m, j);
	return c->counts_measured && with[0] && with[1];
}

/* Rows that call nothing have the same samples flat and cumulative. They are one thing: its noise is that of
 * single functions, which vary more than what stands higher in the tree and adds many up. */
static void join_leaves(struct pd_comparison *c)
{
	for (size_t i = 0; i < c->rows_n; i++) {
		struct pd_row *row = &c->rows[i];
		if (row->flat_count[0] != row->cum_count[0] || row->flat_count[1] != row->cum_count[1])
			continue;
		row->p_cum = fmax(row->p_flat, row->p_cum);
		row->cum_estimate = row->flat_estimate;
	}
}

static int correct(struct pd_comparison *c, struct pp_error *err)
{
	double *flat = malloc((c->rows_n + 1) * sizeof(*flat)), *cum = malloc((c->rows_n + 1) * sizeof(*cum));
	int status = flat && cum ? 0 : no_memory(err);

	for (size_t i = 0; i < c->rows_n && status == 0; i++) {
		flat[i] = c->rows[i].p_flat;
		cum[i] = c->rows[i].p_cum;
	}
	if (status == 0 && pd_hierarchical_q(flat, cum, c->rows_n, &c->any_p) != 0)
		status = no_memory(err);
	for (size_t i = 0; i < c->rows_n && status == 0; i++) {
		c->rows[i].q_flat = flat[i];
		c->rows[i].q_cum = cum[i];
	}
	free(flat);
	free(cum);
	return status;
}

void pd_row_untested(struct pd_row *row)
{
	row->p_flat = row->p_cum = row->q_flat = row->q_cum = NAN;
	row->flat_estimate = row->cum_estimate = no_estimate;
	row->flat_beyond = row->cum_beyond = (struct pd_beyond){NAN, NAN, NAN, NAN, NAN};
}

int pd_test_values(struct pd_comparison *c, const struct pd_matrix *m, struct pp_error *err)
{
	if (test_family(c, m, false, err) != 0 || test_family(c, m, true, err) != 0)
		return -1;
	if (c->noise == PD_NOISE_REPLICATES)
		join_leaves(c);
	return 0;
}

int pd_test_rows(struct pd_comparison *c, const struct pd_matrix *m, struct pp_error *err)
{
	c->any_p = c->total_p = NAN;
	c->total_estimate = no_estimate;
	for (size_t i = 0; i < c->rows_n; i++)
		pd_row_untested(&c->rows[i]);
	if (!can_test(c, m))
		return 0;
	c->noise = c->replicates_n > 2 ? PD_NOISE_REPLICATES : PD_NOISE_SAMPLING;
	return pd_test_values(c, m, err) != 0 || test_total(c, m, err) != 0 ? -1 : correct(c, err);
}

size_t pd_profiles_needed(const struct pd_comparison *c, const struct pd_row *row, bool cumulative)
{
	const struct pd_estimate *e = cumulative ? &row->cum_estimate : &row->flat_estimate;
	double prior_df = c->noise == PD_NOISE_SAMPLING ? INFINITY : (cumulative ? c->cum_fit : c->flat_fit).prior_df;
	double one = 0; /* variance of the log ratio with one profile a side */

	for (int side = 0; side < 2; side++)
		one += e->log_se[side] * e->log_se[side] * (double)c->side_n[side];
	if (!isfinite(one) || !(fabs(e->log_ratio) > 0))
		return 0;
	for (size_t n = 2; n <= NEEDED_MAX; n++) {
		/* Far from enough even with noise known exactly: a cheap look before the costly one. */
		double df = prior_df + 2 * (double)n - 2, se = sqrt(one / (double)n);
		if (fabs(e->log_ratio) < 2.8 * se)
			continue;
		if (fabs(e->log_ratio) >= (pd_t_quantile(1 - CONFIDENCE_ALPHA / 2, df) + pd_t_quantile(POWER, df)) * se)
			return n;
	}
	return 0;
}
