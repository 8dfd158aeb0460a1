#include "libdiff/control.h"

#include <math.h>
#include <stdlib.h>

#include "libdiff/roworder.h"
#include "libdiff/significance.h"
#include "libdiff/special.h"

#define CONFIDENCE_ALPHA 0.05

static const struct pd_row no_row = {.frame = PP_NONE};

static const struct pd_estimate *estimate_of(const struct pd_row *row, bool cumulative)
{
	return cumulative ? &row->cum_estimate : &row->flat_estimate;
}

/* The log ratio of a row with too few samples to be tested, or none, by its samples and the common
 * dispersion; half a sample is added to each side as everywhere. */
static struct pd_estimate rough_estimate(const struct pd_comparison *c, const struct pd_row *row, bool cumulative)
{
	const double *count = cumulative ? row->cum_count : row->flat_count;
	double dispersion = c->noise == PD_NOISE_REPLICATES ? (cumulative ? c->cum_fit : c->flat_fit).dispersion : 0;
	struct pd_estimate e = {.df = INFINITY};

	e.log_ratio = log((count[1] + 0.5) / c->count_exposure[1]) - log((count[0] + 0.5) / c->count_exposure[0]);
	for (int side = 0; side < 2; side++)
		e.log_se[side] = sqrt(1 / (count[side] + 0.5) + dispersion / (double)c->side_n[side]);
	return e;
}

static struct pd_beyond beyond(const struct pd_estimate *own, const struct pd_estimate *control, bool same_baseline)
{
	double variance[2] = {0, 0};

	for (int side = same_baseline ? PD_INCIDENT : PD_BASELINE; side <= PD_INCIDENT; side++) {
		variance[0] += own->log_se[side] * own->log_se[side];
		variance[1] += control->log_se[side] * control->log_se[side];
	}
	double sum = variance[0] + variance[1];
	double df = sum * sum / (variance[0] * variance[0] / own->df + variance[1] * variance[1] / control->df);
	double log_ratio = own->log_ratio - control->log_ratio, t = log_ratio / sqrt(sum);
	double width = pd_t_quantile(1 - CONFIDENCE_ALPHA / 2, df) * sqrt(sum);

	return (struct pd_beyond){exp(log_ratio), exp(log_ratio - width), exp(log_ratio + width), pd_f1_upper(t * t, df),
	                          NAN};
}

static void apply_row(const struct pd_comparison *control, const struct pd_row *match, bool cumulative,
                      bool same_baseline, const struct pd_row *row, struct pd_beyond *out)
{
	const struct pd_estimate *own = estimate_of(row, cumulative);
	struct pd_estimate theirs = *estimate_of(match, cumulative);

	if (isnan(own->df))
		return;
	if (match == &no_row || isnan(theirs.df))
		theirs = rough_estimate(control, match, cumulative);
	*out = beyond(own, &theirs, same_baseline);
}

static int correct(struct pd_comparison *c, struct pp_error *err)
{
	double *flat = malloc((c->rows_n + 1) * sizeof(*flat)), *cum = malloc((c->rows_n + 1) * sizeof(*cum)), any;
	int status = flat && cum ? 0 : -1;

	for (size_t i = 0; i < c->rows_n && status == 0; i++) {
		flat[i] = c->rows[i].flat_beyond.p;
		cum[i] = c->rows[i].cum_beyond.p;
	}
	if (status == 0)
		status = pd_hierarchical_q(flat, cum, c->rows_n, &any);
	for (size_t i = 0; i < c->rows_n && status == 0; i++) {
		c->rows[i].flat_beyond.q = flat[i];
		c->rows[i].cum_beyond.q = cum[i];
	}
	free(flat);
	free(cum);
	return status == 0 ? 0 : pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the control");
}

/* ---- the control's row of a row ---- */

/* A row of the control by the name that it has on a side. */
struct entry {
	const struct pd_comparison *comparison;
	int side;
	struct pd_row name; /* its frame is that of the name */
	const struct pd_row *row;
};

static int by_name(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	return a->side != b->side ? a->side - b->side : pd_row_cmp(a->comparison, &a->name, b->comparison, &b->name);
}

static void append(struct entry *entries, size_t *n, const struct pd_comparison *c, int side, uint32_t frame, const struct pd_row *row)
{
	entries[(*n)++] = (struct entry){c, side, {.frame = frame}, row};
}

/* Whether the row's names are instances or clones of one function, added up: it then has its own name on both sides. */
static bool folded(const struct pd_comparison *c, const struct pd_row *row)
{
	for (size_t i = 0; i < c->identity.renames_n; i++) {
		const struct pd_rename *rename = &c->identity.renames[i];
		if (!rename->joined || rename->frame != row->frame)
			continue;
		for (int rule = 0; rule < PD_RULES_N; rule++)
			if ((rename->rules & (1u << rule)) && !pd_rule_folds((enum pd_rule)rule))
				return false;
		return rename->rules != 0;
	}
	return false;
}

/* The names of the control's rows on each side, sorted; entries has room for two a row. */
static size_t name_rows(const struct pd_comparison *control, struct entry *entries)
{
	size_t n = 0;
	for (size_t i = 0; i < control->rows_n; i++) {
		const struct pd_row *row = &control->rows[i];
		bool renamed = row->state == PD_RENAMED && !folded(control, row);
		append(entries, &n, control, PD_BASELINE, renamed ? row->other : row->frame, row);
		append(entries, &n, control, PD_INCIDENT, row->frame, row);
	}
	qsort(entries, n, sizeof(*entries), by_name);
	return n;
}

static const struct pd_row *find(const struct entry *entries, size_t n, const struct pd_comparison *c, int side, uint32_t frame)
{
	struct entry key = {c, side, {.frame = frame}, NULL};
	const struct entry *found = bsearch(&key, entries, n, sizeof(*entries), by_name);
	return found ? found->row : NULL;
}

/* At the time of the baseline both ran the same build, so the name of then comes first: a control that was not
 * deployed has it to the end, and one that was has both. */
static const struct pd_row *match_of(const struct pd_comparison *c, const struct pd_row *row, const struct entry *entries, size_t n)
{
	bool renamed = row->state == PD_RENAMED, fold = renamed && folded(c, row);
	const struct pd_row *match = find(entries, n, c, PD_BASELINE, renamed && !fold ? row->other : row->frame);
	if (!match && fold)
		match = find(entries, n, c, PD_BASELINE, row->other);
	if (!match)
		match = find(entries, n, c, PD_INCIDENT, row->frame);
	return match ? match : &no_row;
}

int pd_control_apply(struct pd_comparison *c, const struct pd_comparison *control, bool same_baseline,
                     struct pp_error *err)
{
	struct entry *entries;

	if (c->noise == PD_NOISE_UNKNOWN || control->noise == PD_NOISE_UNKNOWN)
		return 0;
	if (!(entries = malloc((2 * control->rows_n + 1) * sizeof(*entries))))
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the control");
	size_t n = name_rows(control, entries);
	for (size_t i = 0; i < c->rows_n; i++) {
		struct pd_row *row = &c->rows[i];
		const struct pd_row *match = match_of(c, row, entries, n);

		apply_row(control, match, false, same_baseline, row, &row->flat_beyond);
		apply_row(control, match, true, same_baseline, row, &row->cum_beyond);
	}
	free(entries);
	return correct(c, err);
}
