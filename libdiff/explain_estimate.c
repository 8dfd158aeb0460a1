/* What was served by label value, where nobody counted it: from the functions under each value. One
 * changed function cannot move a median over functions; what moves all functions of a value together
 * is taken for requests. */
#include "libdiff/explain_parts.h"

#include <math.h>
#include <string.h>

#define GROUP_COUNT 4.0  /* mean samples of a group under a value, to take part */
#define GROUPS_MIN 3     /* fewer take the value's whole cost, and then no change in it is code */
#define LONE_RATIO 1.3   /* growth of such a value beside the others that is worth a word */
#define LONE_P 0.01
#define PI 3.14159265358979324
#define LONE_Z 2.0       /* the rest's growth is taken this many standard errors higher */
#define LONE_COUNT 8.0   /* baseline samples that the rest must have */
#define VALUE_SHARE 0.05 /* of the baseline's cost, for a value to speak about the mix */

/* Values of one replicate, [group * labels_n + label], in sums, which is cleared first. */
static void replicate_sums(const struct pd_explain *ex, const struct ex_fit *fit, size_t j, double *sums)
{
	memset(sums, 0, fit->groups_n * fit->labels_n * sizeof(*sums));
	for (size_t c = 0; c < ex->replicates[j].cells_n; c++) {
		const struct ex_cell *cell = &ex->replicates[j].cells[c];
		size_t label = cell->label < fit->labels_n - 1 ? cell->label : fit->labels_n - 1;
		sums[fit->group_of[ex->contexts[cell->context].frame] * fit->labels_n + label] += cell->value;
	}
}

/* How much one replicate served of a label value, beside the mean baseline replicate. */
static double served(const struct pd_explain *ex, struct ex_fit *fit, size_t j, size_t label, const double *base,
                     const double *sums, double *ratios)
{
	double n_base = (double)ex->side_n[PD_BASELINE], all = 0, all_base = 0;
	size_t n = 0;

	for (size_t g = 0; g < fit->groups_n; g++) {
		double mean = base[g * fit->labels_n + label] / n_base, value = sums[g * fit->labels_n + label];
		if (fit->groups[g].frame < EX_PSEUDO_N)
			continue;
		all += value;
		all_base += mean;
		if (mean * fit->kappa[j] >= GROUP_COUNT)
			ratios[n++] = (value * fit->kappa[j] + 0.5) / (mean * fit->kappa[j] + 0.5);
	}
	if (n >= GROUPS_MIN)
		return ex_median(ratios, n);
	fit->lone[label] = true;
	return all_base > 0 ? all / all_base : 0;
}

/* Samples without a value follow all requests: the mean of the values that could be estimated, by their
 * baseline cost. Returns whether none could. */
static bool serve_rest(const struct ex_fit *fit, const double *weights)
{
	bool all_lone = true;

	for (size_t l = 0; l + 1 < fit->labels_n; l++)
		all_lone = all_lone && fit->lone[l];
	for (size_t j = 0; j < fit->pods_n; j++) {
		double sum = 0, weight = 0;
		for (size_t l = 0; l + 1 < fit->labels_n; l++) {
			if (fit->lone[l] && !all_lone)
				continue;
			sum += weights[l] * fit->served[j * fit->labels_n + l];
			weight += weights[l];
		}
		fit->served[j * fit->labels_n + fit->labels_n - 1] = weight > 0 ? sum / weight : 1;
	}
	return all_lone;
}

/* A value with too few functions for a median, of which one has most of the cost: the rest of its cost says
 * how many requests there were, at most. Beyond that, the one function's growth is its own. */
static void bound_lone(const struct pd_explain *ex, struct ex_fit *fit, size_t label, const double *side[2])
{
	double value[2] = {0, 0}, count[2] = {0, 0}, most = 0;
	size_t top = SIZE_MAX, rest = fit->labels_n - 1;

	for (size_t g = 0; g < fit->groups_n; g++) {
		double v = side[0][g * fit->labels_n + label] + side[1][g * fit->labels_n + label];
		if (fit->groups[g].frame >= EX_PSEUDO_N && v > most)
			most = v, top = g;
	}
	for (size_t g = 0; g < fit->groups_n; g++)
		for (int s = 0; s < 2 && g != top; s++)
			value[s] += fit->groups[g].frame >= EX_PSEUDO_N ? side[s][g * fit->labels_n + label] : 0;
	double trend[2] = {0, 0}, kappa = 0;
	for (size_t j = 0; j < fit->pods_n; j++) {
		trend[ex->replicates[j].side] += fit->served[j * fit->labels_n + rest];
		kappa += fit->kappa[j] / (double)fit->pods_n;
	}
	for (int s = 0; s < 2; s++)
		count[s] = value[s] * kappa;
	if (top == SIZE_MAX || count[0] < LONE_COUNT || !(trend[0] > 0) || !(trend[1] > 0))
		return;
	double growth = (count[1] + 0.5) / (count[0] + 0.5) * trend[0] / trend[1];
	double bound = growth * exp(LONE_Z * sqrt(1 / (count[0] + 0.5) + 1 / (count[1] + 0.5)));
	for (size_t j = 0; j < fit->pods_n; j++)
		fit->served[j * fit->labels_n + label] =
			fit->served[j * fit->labels_n + rest] * (ex->replicates[j].side == PD_INCIDENT ? bound : 1);
	fit->lone_group[label] = (uint32_t)top;
}

/* How wrong the estimates are for each group: it is compared with the rest of its label values, whose counts
 * are noisy, too; a median is less sure than a mean by pi / 2. */
static void measure_error(struct ex_fit *fit, const double *side[2], double *totals)
{
	double kappa = 0;

	for (size_t j = 0; j < fit->pods_n; j++)
		kappa += fit->kappa[j] / (double)fit->pods_n;
	memset(totals, 0, 2 * fit->labels_n * sizeof(*totals));
	for (size_t i = 0; i < fit->groups_n * fit->labels_n; i++)
		for (int s = 0; s < 2; s++)
			totals[(size_t)s * fit->labels_n + i % fit->labels_n] +=
				fit->groups[i / fit->labels_n].frame >= EX_PSEUDO_N ? side[s][i] : 0;
	for (size_t g = 0; g < fit->groups_n; g++) {
		struct ex_group *group = &fit->groups[g];
		for (size_t l = 0; l + 1 < fit->labels_n && group->base + group->incident > 0; l++) {
			const double own[2] = {side[0][g * fit->labels_n + l], side[1][g * fit->labels_n + l]};
			double share = (own[0] + own[1]) / (group->base + group->incident), variance = 0;
			for (size_t s = 0; s < 2; s++)
				variance += PI / 2 / ((totals[s * fit->labels_n + l] - own[s]) * kappa + 0.5);
			if (fit->lone_group[l] != g)
				group->error_cv2 += share * share * variance;
		}
	}
}

/* What replicates served of a value, or of several: value j is at[j * stride]. */
struct series {
	const double *at;
	size_t stride;
};

static struct series label_series(const struct ex_fit *fit, size_t label)
{
	return (struct series){fit->served + label, fit->labels_n};
}

/* Growth from side to side, as the difference of mean logarithms; NAN when some replicate served none. */
static double growth_of(const struct pd_explain *ex, struct series series)
{
	double sum[2] = {0, 0};

	for (size_t j = 0; j < ex->replicates_n; j++)
		sum[ex->replicates[j].side] += series.at[j * series.stride] > 0 ? log(series.at[j * series.stride]) : NAN;
	return sum[1] / (double)ex->side_n[1] - sum[0] / (double)ex->side_n[0];
}

/* p of equal growth of two series. */
static double ratio_p(const struct pd_explain *ex, struct series a, struct series b, double *ratios)
{
	size_t n[2] = {0, 0}, pods_n = ex->replicates_n;

	for (size_t j = 0; j < pods_n; j++) {
		enum pd_side side = ex->replicates[j].side;
		ratios[side * pods_n + n[side]++] = a.at[j * a.stride] / b.at[j * b.stride];
	}
	return ex_log_t(ratios, n[0], ratios + pods_n, n[1]);
}

/* What the values with too few functions served together, by their baseline cost. Returns that cost. */
static double sum_lone(const struct ex_fit *fit, const double *weights, double *together)
{
	double weight = 0;

	for (size_t l = 0; l + 1 < fit->labels_n; l++) {
		weight += fit->lone[l] ? weights[l] : 0;
		for (size_t j = 0; j < fit->pods_n && fit->lone[l]; j++)
			together[j] += weights[l] * fit->served[j * fit->labels_n + l];
	}
	return weight;
}

/* The values that grew most and least, and whether their ratio differs between the sides. Those with
 * too few functions are apart: what one of them grew by may be mix or code; but all of them together may be what grew
 * least. */
static int measure_mix(struct pd_explain *ex, struct ex_fit *fit, const double *weights, struct pp_error *err)
{
	double *ratios = ex_alloc(ex->arena, 2 * fit->pods_n, sizeof(*ratios), err), total = 0, high = -INFINITY, low = INFINITY;
	double *together = ex_alloc(ex->arena, fit->pods_n, sizeof(*together), err);
	size_t rest = fit->labels_n - 1;

	if (!ratios || !together)
		return -1;
	struct series least = {together, 1};
	for (size_t l = 0; l < rest; l++)
		total += weights[l];
	if (sum_lone(fit, weights, together) >= VALUE_SHARE * total)
		low = growth_of(ex, least);
	low = isnan(low) ? INFINITY : low;
	for (size_t l = 0; l < rest; l++) {
		double growth = growth_of(ex, label_series(fit, l));
		if (isnan(growth) || weights[l] < VALUE_SHARE * total || fit->lone[l])
			continue;
		if (growth > high)
			high = growth, fit->mix_label = (uint32_t)l;
		if (growth < low)
			low = growth, least = label_series(fit, l);
	}
	if (high > low && isfinite(low)) {
		fit->mix_ratio = exp(high - low);
		fit->mix_p = ratio_p(ex, label_series(fit, fit->mix_label), least, ratios);
	}
	double beside = growth_of(ex, label_series(fit, rest));
	for (size_t l = 0; l < rest; l++) {
		double growth = growth_of(ex, label_series(fit, l)) - beside;
		if (!fit->lone[l] || !(growth > log(LONE_RATIO)) || !(exp(growth) > fit->lone_ratio) ||
		    !(ratio_p(ex, label_series(fit, l), label_series(fit, rest), ratios) < LONE_P))
			continue;
		fit->lone_label = (uint32_t)l;
		fit->lone_ratio = exp(growth);
	}
	return 0;
}

int ex_estimate_served(struct pd_explain *ex, struct ex_fit *fit, const double *side[2], struct pp_error *err)
{
	const double *base = side[PD_BASELINE];
	double *sums = ex_alloc(ex->arena, fit->groups_n * fit->labels_n, sizeof(*sums), err);
	double *ratios = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*ratios), err);
	double *weights = ex_alloc(ex->arena, fit->labels_n, sizeof(*weights), err);
	double *totals = ex_alloc(ex->arena, 2 * fit->labels_n, sizeof(*totals), err);

	fit->lone = ex_alloc(ex->arena, fit->labels_n, sizeof(*fit->lone), err);
	fit->lone_group = ex_alloc(ex->arena, fit->labels_n, sizeof(*fit->lone_group), err);
	if (!sums || !ratios || !weights || !totals || !fit->lone || !fit->lone_group)
		return -1;
	memset(fit->lone_group, 0xff, fit->labels_n * sizeof(*fit->lone_group)); /* PP_NONE */
	for (size_t g = 0; g < fit->groups_n; g++)
		for (size_t l = 0; l + 1 < fit->labels_n; l++)
			weights[l] += fabs(base[g * fit->labels_n + l]);
	for (size_t j = 0; j < fit->pods_n; j++) {
		replicate_sums(ex, fit, j, sums);
		for (size_t l = 0; l + 1 < fit->labels_n; l++)
			fit->served[j * fit->labels_n + l] = served(ex, fit, j, l, base, sums, ratios);
	}
	bool all_lone = serve_rest(fit, weights);
	if (measure_mix(ex, fit, weights, err))
		return -1;
	for (size_t l = 0; l + 1 < fit->labels_n && !all_lone; l++)
		if (fit->lone[l])
			bound_lone(ex, fit, l, side);
	measure_error(fit, side, totals);
	return 0;
}
