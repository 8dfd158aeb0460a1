/* Groups, what each should have cost, and the machine factors. */
#include "libdiff/explain_parts.h"
#include "libdiff/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979324
#define ROUNDS_MAX 64       /* of a search for a median: unlucky values are sorted then */
#define REQUEST_CV2 1.0     /* squared variation of the cost of single requests of a kind, as of waiting times */
#define LABELLED_SHARE 0.5  /* of the cost, on each side, for expectations by label value */

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Moves values so that the one of rank k, from 0, stands at k, smaller ones before it (Hoare 1961, "FIND"). */
static void select_rank(double *values, size_t n, size_t k)
{
	ptrdiff_t low = 0, high = (ptrdiff_t)n - 1, rank = (ptrdiff_t)k;

	for (int round = 0; low < high; round++) {
		ptrdiff_t i = low, j = high;
		double pivot = values[rank];
		if (round == ROUNDS_MAX) {
			qsort(values + low, (size_t)(high - low + 1), sizeof(*values), ascending);
			return;
		}
		while (i <= j) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i > j)
				break;
			double swapped = values[i];
			values[i++] = values[j];
			values[j--] = swapped;
		}
		low = j < rank ? i : low;
		high = rank < i ? j : high;
	}
}

double ex_median(double *values, size_t n)
{
	if (n == 0)
		return 0;
	select_rank(values, n, n / 2);
	double median = values[n / 2], below = values[0];
	for (size_t i = 1; i < n / 2; i++)
		below = values[i] > below ? values[i] : below;
	return n % 2 ? median : (below + median) / 2;
}

/* Sum of a measure over the replicates of a side; NAN when one lacks it. */
static double side_sum(const struct pd_explain *ex, enum pd_side side, double (*measure)(const struct ex_replicate *))
{
	double sum = 0;

	for (size_t j = 0; j < ex->replicates_n; j++)
		if (ex->replicates[j].side == side)
			sum += measure(&ex->replicates[j]);
	return sum;
}

static double requests_of(const struct ex_replicate *replicate)
{
	return replicate->row && replicate->row->total > 0 ? replicate->row->total : NAN;
}

static double seconds_of(const struct ex_replicate *replicate)
{
	return replicate->seconds > 0 ? replicate->seconds : NAN;
}

static double one(const struct ex_replicate *replicate)
{
	(void)replicate;
	return 1;
}

/* What the values of a replicate are divided by: the first of requests, seconds, one that all have. */
static double (*exposure_for(const struct pd_explain *ex))(const struct ex_replicate *)
{
	double requests = side_sum(ex, PD_BASELINE, requests_of) + side_sum(ex, PD_INCIDENT, requests_of);
	double seconds = side_sum(ex, PD_BASELINE, seconds_of) + side_sum(ex, PD_INCIDENT, seconds_of);

	if (ex->options.snapshot)
		return one;
	return requests > 0 ? requests_of : seconds > 0 ? seconds_of : one;
}

double ex_scale(const struct pd_explain *ex)
{
	double (*exposure)(const struct ex_replicate *) = exposure_for(ex);

	return side_sum(ex, PD_INCIDENT, exposure) / side_sum(ex, PD_BASELINE, exposure);
}

/* ---- groups ---- */

static int make_groups(struct pd_explain *ex, const struct ex_move *moves, size_t moves_n, struct ex_fit *fit,
                       struct pp_error *err)
{
	fit->group_of = ex_alloc(ex->arena, ex->frames_n, sizeof(*fit->group_of), err);
	fit->groups = ex_alloc(ex->arena, ex->frames_n, sizeof(*fit->groups), err);
	if (!fit->group_of || !fit->groups)
		return -1;
	for (size_t f = 0; f < ex->frames_n; f++)
		fit->group_of[f] = PP_NONE;
	for (size_t m = 0; m < moves_n; m++) {
		fit->groups[fit->groups_n] = (struct ex_group){.frame = moves[m].to, .renamed_from = moves[m].from};
		fit->group_of[moves[m].from] = fit->group_of[moves[m].to] = (uint32_t)fit->groups_n++;
	}
	for (size_t j = 0; j < ex->replicates_n; j++)
		for (size_t c = 0; c < ex->replicates[j].cells_n; c++) {
			uint32_t frame = ex->contexts[ex->replicates[j].cells[c].context].frame;
			if (fit->group_of[frame] != PP_NONE)
				continue;
			fit->groups[fit->groups_n] = (struct ex_group){.frame = frame, .renamed_from = PP_NONE};
			fit->group_of[frame] = (uint32_t)fit->groups_n++;
		}
	return 0;
}

/* ---- expectations ---- */

/* Values of the groups by label value: [group * labels_n + label], the last label being "none". */
static double *by_label_sums(struct pd_explain *ex, const struct ex_fit *fit, size_t labels_n, enum pd_side side,
                             struct pp_error *err)
{
	double *sums = ex_alloc(ex->arena, fit->groups_n * labels_n, sizeof(*sums), err);

	for (size_t j = 0; sums && j < ex->replicates_n; j++) {
		const struct ex_replicate *replicate = &ex->replicates[j];
		for (size_t c = 0; replicate->side == side && c < replicate->cells_n; c++) {
			uint32_t group = fit->group_of[ex->contexts[replicate->cells[c].context].frame];
			uint32_t label = replicate->cells[c].label;
			sums[group * labels_n + (label < labels_n - 1 ? label : labels_n - 1)] += replicate->cells[c].value;
		}
	}
	return sums;
}

/* Share of what application functions cost on a side, |value|, that stands under label values. */
static double labelled(const struct ex_fit *fit, const double *sums)
{
	size_t labels_n = fit->labels_n;
	double with = 0, all = 0;

	for (size_t i = 0; i < fit->groups_n * labels_n; i++) {
		if (fit->groups[i / labels_n].frame < EX_PSEUDO_N)
			continue;
		all += fabs(sums[i]);
		if (i % labels_n != labels_n - 1)
			with += fabs(sums[i]);
	}
	return all > 0 ? with / all : 0;
}

/* What each replicate served: requests by label value, or one exposure for all. What runs under no label may run by
 * the clock: where requests became fewer it cannot be told from cost that they keep, and time is its exposure. */
static void fill_served(const struct pd_explain *ex, struct ex_fit *fit)
{
	double (*exposure)(const struct ex_replicate *) = exposure_for(ex);
	double seconds = side_sum(ex, PD_INCIDENT, seconds_of) / side_sum(ex, PD_BASELINE, seconds_of);

	if (fit->by_label && ex_scale(ex) < seconds)
		exposure = seconds_of;
	for (size_t j = 0; j < fit->pods_n; j++)
		for (size_t l = 0; l < fit->labels_n; l++)
			fit->served[j * fit->labels_n + l] = l + 1 < fit->labels_n && fit->requests && ex->replicates[j].row
			                                         ? ex->replicates[j].row->by_value[l]
			                                         : exposure(&ex->replicates[j]);
}

/* Fills expected[] with what each group costs in each replicate at the baseline's cost by what was
 * served. A group that the baseline lacks takes its distribution from both sides. */
static int expect(struct pd_explain *ex, struct ex_fit *fit, const double *base, const double *incident,
                  struct pp_error *err)
{
	size_t labels_n = fit->labels_n;
	double *served = ex_alloc(ex->arena, labels_n, sizeof(*served), err);
	double *served_all = ex_alloc(ex->arena, labels_n, sizeof(*served), err);

	if (!served || !served_all)
		return -1;
	for (size_t j = 0; j < ex->replicates_n; j++)
		for (size_t l = 0; l < labels_n; l++) {
			served_all[l] += fit->served[j * labels_n + l];
			served[l] += ex->replicates[j].side == PD_BASELINE ? fit->served[j * labels_n + l] : 0;
		}
	for (size_t g = 0; g < fit->groups_n; g++) {
		bool is_new = !(fit->groups[g].base > 0);
		for (size_t l = 0; l < labels_n; l++) {
			double cost = base[g * labels_n + l] + (is_new ? incident[g * labels_n + l] : 0);
			size_t label = fit->by_label ? l : labels_n - 1;
			double n = is_new ? served_all[label] : served[label];
			if (!(n > 0)) /* costs without requests of their kind follow all requests */
				label = labels_n - 1, n = is_new ? served_all[label] : served[label];
			for (size_t j = 0; j < ex->replicates_n && cost != 0; j++)
				fit->expected[g * fit->pods_n + j] += cost * fit->served[j * labels_n + label] / n;
		}
	}
	return 0;
}

/* Sums by group and label value on both sides, and whether labels have enough of the cost of both. */
struct labelled_sums {
	const double *side[2];
	bool enough;
};

static int sum_labels(struct pd_explain *ex, struct ex_fit *fit, bool named, struct labelled_sums *sums, struct pp_error *err)
{
	fit->labels_n = (named && !fit->requests ? 0 : ex_labels_n(ex)) + 1;
	for (int side = 0; side < 2; side++) {
		sums->side[side] = by_label_sums(ex, fit, fit->labels_n, (enum pd_side)side, err);
		if (!sums->side[side])
			return -1;
	}
	fit->labelled_share = labelled(fit, sums->side[PD_INCIDENT]);
	sums->enough = fit->labels_n > 1 && fit->labelled_share >= LABELLED_SHARE &&
	               labelled(fit, sums->side[PD_BASELINE]) >= LABELLED_SHARE;
	return 0;
}

/* How far the requests that a group serves were like one another is not known, only how many they were: the cost of
 * one varies by REQUEST_CV2, and the mean of few with it. */
static void request_error(const struct pd_explain *ex, struct ex_fit *fit, const double *const side[2])
{
	for (size_t l = 0; l + 1 < fit->labels_n && fit->by_label && !fit->estimated; l++) {
		double served[2] = {0, 0};
		for (size_t j = 0; j < fit->pods_n; j++)
			served[ex->replicates[j].side] += fit->served[j * fit->labels_n + l];
		for (size_t g = 0; g < fit->groups_n; g++) {
			double own = side[0][g * fit->labels_n + l] + side[1][g * fit->labels_n + l];
			double share = own / (fit->groups[g].base + fit->groups[g].incident);
			if (own > 0 && served[0] > 0 && served[1] > 0)
				fit->groups[g].error_cv2 += share * share * REQUEST_CV2 * (1 / served[0] + 1 / served[1]);
		}
	}
}

static int expectations(struct pd_explain *ex, struct ex_fit *fit, struct pp_error *err)
{
	bool named = ex->options.load && ex->options.load->values_n, by_handler = false;
	struct labelled_sums sums;

	fit->requests = exposure_for(ex) == requests_of;
	if (sum_labels(ex, fit, named, &sums, err))
		return -1;
	if (!sums.enough && !ex->options.snapshot && (fit->requests || !named) &&
	    (ex_label_by_handler(ex, named, &by_handler, err) || (by_handler && sum_labels(ex, fit, named, &sums, err))))
		return -1;
	fit->served = ex_alloc(ex->arena, fit->pods_n * fit->labels_n, sizeof(double), err);
	if (!fit->served)
		return -1;
	fit->estimated = sums.enough && !named && !ex->options.snapshot;
	fit->by_label = fit->estimated || (sums.enough && named && fit->requests);
	fill_served(ex, fit);
	if (fit->estimated && ex_estimate_served(ex, fit, sums.side, err))
		return -1;
	request_error(ex, fit, sums.side);
	return expect(ex, fit, sums.side[PD_BASELINE], sums.side[PD_INCIDENT], err);
}

/* ---- load and mix ---- */

/* Distance between two distributions over label values: half the sum of the differences of shares. */
static double distance(const double *a, const double *b, size_t n)
{
	double sum_a = 0, sum_b = 0, d = 0;

	for (size_t i = 0; i < n; i++)
		sum_a += a[i], sum_b += b[i];
	if (!(sum_a > 0) || !(sum_b > 0))
		return NAN;
	for (size_t i = 0; i < n; i++)
		d += fabs(a[i] / sum_a - b[i] / sum_b);
	return d / 2;
}

/* The distance that chance alone makes between two draws of requests, in the mean: half the sum of the mean
 * absolute differences of shares, each nearly normal. */
static double chance_distance(const double *a, const double *b, size_t n)
{
	double sum_a = 0, sum_b = 0, d = 0;

	for (size_t i = 0; i < n; i++)
		sum_a += a[i], sum_b += b[i];
	for (size_t i = 0; i < n; i++) {
		double p = (a[i] + b[i]) / (sum_a + sum_b);
		d += sqrt(2 / PI * p * (1 - p) * (1 / sum_a + 1 / sum_b));
	}
	return d / 2;
}

/* Sum of (observed - expected)² / expected over label values; *df grows by the values that there are, less one. */
static double chi_square(const double *counts, const double *of, size_t n, double *df)
{
	double sum = 0, sum_of = 0, x = 0;

	for (size_t v = 0; v < n; v++)
		sum += counts[v], sum_of += of[v];
	for (size_t v = 0; v < n && sum > 0; v++) {
		double expected = sum * of[v] / sum_of;
		x += expected > 0 ? (counts[v] - expected) * (counts[v] - expected) / expected : 0;
		*df += expected > 0;
	}
	*df -= sum > 0;
	return x;
}

/* p of equal shares of requests on both sides: chi-square between the sides by that of replicates within them, which
 * is no less than its mean for draws of single requests. sums: by side and value. */
static double mix_p(const struct pd_explain *ex, const double *sums, size_t n, double *all)
{
	double between = 0, within = 0, between_df = 0, within_df = 0;

	for (size_t v = 0; v < n; v++)
		all[v] = sums[v] + sums[n + v];
	for (size_t side = 0; side < 2; side++)
		between += chi_square(sums + side * n, all, n, &between_df);
	for (size_t j = 0; j < ex->replicates_n; j++)
		within += chi_square(ex->replicates[j].row->by_value, sums + ex->replicates[j].side * n, n, &within_df);
	between_df /= 2;
	within_df -= 2 * between_df;
	if (!(between_df > 0) || !(within_df > 0))
		return 1;
	double f = between / between_df / fmax(within / within_df, 1);
	return pd_beta_inc(within_df / 2, between_df / 2, within_df / (within_df + between_df * f));
}

static int measure_mix(struct pd_explain *ex, struct ex_fit *fit, struct pp_error *err)
{
	const struct pd_load *load = ex->options.load;
	size_t n = load ? load->values_n : 0;
	double *sums = ex_alloc(ex->arena, 3 * n + 1, sizeof(*sums), err);

	if (!sums)
		return -1;
	fit->mix_distance = NAN;
	if (!fit->requests || n == 0 || fit->estimated)
		return 0;
	for (size_t j = 0; j < ex->replicates_n; j++)
		for (size_t v = 0; v < n; v++)
			sums[ex->replicates[j].side * n + v] += ex->replicates[j].row->by_value[v];
	fit->mix_distance = distance(sums, sums + n, n);
	fit->mix_noise = isnan(fit->mix_distance) ? 0 : chance_distance(sums, sums + n, n);
	for (size_t j = 0; j < ex->replicates_n; j++) {
		double d = distance(ex->replicates[j].row->by_value, sums + ex->replicates[j].side * n, n);
		if (d > fit->mix_noise)
			fit->mix_noise = d;
	}
	fit->mix_p = mix_p(ex, sums, n, sums + 2 * n);
	return 0;
}

/* Requests a second, incident to baseline, as all label values together show them. */
static double estimated_growth(const struct pd_explain *ex, const struct ex_fit *fit)
{
	double rate[2] = {0, 0};

	for (size_t j = 0; j < fit->pods_n; j++)
		rate[ex->replicates[j].side] += fit->served[j * fit->labels_n + fit->labels_n - 1] /
		                                (ex->replicates[j].seconds > 0 ? ex->replicates[j].seconds : 1) /
		                                (double)ex->side_n[ex->replicates[j].side];
	return rate[1] / rate[0];
}

/* The rates of requests (or, not known, of cost) by second and replicate. */
static int measure_load(struct pd_explain *ex, struct ex_fit *fit, struct pp_error *err)
{
	double *rates = ex_alloc(ex->arena, 2 * ex->replicates_n, sizeof(*rates), err);
	double sum[2] = {0, 0};
	size_t n[2] = {0, 0};

	if (!rates)
		return -1;
	for (size_t j = 0; j < ex->replicates_n; j++) {
		const struct ex_replicate *replicate = &ex->replicates[j];
		double what = fit->requests ? replicate->row->total : replicate->value;
		double rate = ex->options.snapshot ? replicate->value : what / seconds_of(replicate);
		sum[replicate->side] += rate;
		rates[replicate->side * ex->replicates_n + n[replicate->side]++] = rate;
	}
	fit->load_ratio = sum[1] / (double)n[1] / (sum[0] / (double)n[0]);
	fit->growth = fit->estimated ? estimated_growth(ex, fit) : fit->requests ? fit->load_ratio : 1;
	fit->load_p = ex_log_t(rates, n[0], rates + ex->replicates_n, n[1]);
	return 0;
}

/* How much of the change on the incident side load and mix account for. */
static void split_change(const struct pd_explain *ex, struct ex_fit *fit)
{
	double seconds = side_sum(ex, PD_INCIDENT, seconds_of) / side_sum(ex, PD_BASELINE, seconds_of);
	double base = 0, expected = 0;

	if (!fit->requests)
		return;
	if (!(seconds > 0))
		seconds = (double)ex->side_n[PD_INCIDENT] / (double)ex->side_n[PD_BASELINE];
	for (size_t g = 0; g < fit->groups_n; g++) {
		if (!(fit->groups[g].base > 0))
			continue;
		base += fit->groups[g].base;
		for (size_t j = 0; j < fit->pods_n; j++)
			if (ex->replicates[j].side == PD_INCIDENT)
				expected += fit->expected[g * fit->pods_n + j];
	}
	double loaded = base * ex_scale(ex);
	fit->load_change = loaded - base * seconds;
	if (!fit->estimated)
		fit->mix_change = expected - loaded;
}

int ex_fit_make(struct pd_explain *ex, const struct ex_move *moves, size_t moves_n, struct ex_fit *fit,
                struct pp_error *err)
{
	*fit = (struct ex_fit){
		.pods_n = ex->replicates_n, .counted = true, .mix_ratio = 1, .mix_p = 1, .mix_label = PP_NONE,
		.lone_label = PP_NONE};
	if (make_groups(ex, moves, moves_n, fit, err))
		return -1;
	fit->observed = ex_alloc(ex->arena, fit->groups_n * fit->pods_n, sizeof(double), err);
	fit->expected = ex_alloc(ex->arena, fit->groups_n * fit->pods_n, sizeof(double), err);
	fit->factor = ex_alloc(ex->arena, fit->pods_n, sizeof(double), err);
	fit->kappa = ex_alloc(ex->arena, fit->pods_n, sizeof(double), err);
	if (!fit->observed || !fit->expected || !fit->factor || !fit->kappa)
		return -1;
	for (size_t j = 0; j < ex->replicates_n; j++) {
		const struct ex_replicate *replicate = &ex->replicates[j];
		fit->kappa[j] = replicate->count > 0 && replicate->value > 0 ? replicate->count / replicate->value : 0;
		if (replicate->value != 0 && !(fit->kappa[j] > 0))
			fit->counted = false;
		for (size_t c = 0; c < replicate->cells_n; c++) {
			uint32_t g = fit->group_of[ex->contexts[replicate->cells[c].context].frame];
			double value = replicate->cells[c].value;
			fit->observed[g * fit->pods_n + j] += value;
			*(replicate->side == PD_BASELINE ? &fit->groups[g].base : &fit->groups[g].incident) += value;
			fit->groups[g].count += value * fit->kappa[j];
		}
	}
	if (expectations(ex, fit, err) || ex_machine_factors(ex, fit, err) || measure_mix(ex, fit, err) ||
	    measure_load(ex, fit, err))
		return -1;
	split_change(ex, fit);
	return 0;
}
