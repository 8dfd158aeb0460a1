/* The outcome of a comparison in a paragraph: what a reader is to know who reads no further. */
#include "cmd/diffprint_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A side with fewer samples can show only very big changes. */
#define FEW_SAMPLES 100

struct text {
	char *out;
	size_t n, used;
};

static void put(struct text *text, const char *format, ...) PP_PRINTF(2, 3);
static void put(struct text *text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text->out + text->used, text->n - text->used, format, args);
	va_end(args);
	if (n > 0)
		text->used = text->used + (size_t)n < text->n ? text->used + (size_t)n : text->n - 1;
}

static const char *signed_value(char out[80], double value, const char *unit)
{
	char text[70];
	if (!isfinite(value) || fabs(value) >= 0x1p62) {
		snprintf(out, 80, "unknown");
		return out;
	}
	pp_unit_human(text, sizeof(text), (int64_t)llround(value), pp_str_of(unit));
	snprintf(out, 80, "%s%s", value >= 0.5 ? "+" : "", text);
	return out;
}

static void put_label(struct text *text, const struct pd_comparison *c, uint32_t frame)
{
	struct pp_str label = pp_frames_label(c->frames, frame);
	put(text, "%.*s", label.len < 200 ? (int)label.len : 200, label.ptr ? label.ptr : "");
}

/* "+190 (+475.00% of its own baseline; 95% interval +150 to +230)"; unseen: what to say where the baseline has nothing */
static void put_change(struct text *text, const struct pd_comparison *c, const int64_t value[2], const char *whose,
                       const char *unseen, const struct pd_estimate *e)
{
	char delta[80], low[80], high[80];
	put(text, "%s", signed_value(delta, (double)(value[1] - value[0]), c->unit));
	if (value[0] > 0)
		put(text, " (%+.2f%% of %s", 100 * (double)(value[1] - value[0]) / (double)value[0] + 0.0, whose);
	else
		put(text, " (%s", unseen);
	if (isfinite(e->delta[0]) && isfinite(e->delta[1]))
		put(text, "; 95%% interval %s to %s", signed_value(low, e->delta[0], c->unit),
		    signed_value(high, e->delta[1], c->unit));
	put(text, ")");
}

/* The change of a row. One that is alike to a function that only the other side has is not called new, and
 * that it may have another name is said. */
static void put_row_change(struct text *text, const struct pd_comparison *c, const struct pd_row *row, const char *link,
                           bool cumulative)
{
	bool renamed = row->state == PD_MAYBE_RENAMED && row->other != PP_NONE;
	put_label(text, c, row->frame);
	put(text, "%s%s ", link, cumulative ? "cumulative" : "flat");
	put_change(text, c, cumulative ? row->cum : row->flat, "its own baseline", renamed ? "not in the baseline" : "new",
	           cumulative ? &row->cum_estimate : &row->flat_estimate);
	if (renamed) {
		put(text, row->raw_cum[PD_BASELINE] ? ", perhaps renamed to " : ", perhaps renamed from ");
		put_label(text, c, row->other);
	}
}

static void put_total(struct text *text, const struct pd_comparison *c)
{
	char a[80], b[80];
	struct pp_str unit = pp_str_of(c->unit);
	const int64_t *total = c->normalization == PD_TOTAL ? c->raw_total : c->total;
	const char *verb = total[1] > total[0] ? "rose" : total[1] < total[0] ? "fell" : "stayed";
	put(text, "%s %s from %s to %s, by ", c->type, verb, pp_unit_human(a, sizeof(a), total[0], unit),
	    pp_unit_human(b, sizeof(b), total[1], unit));
	put_change(text, c, total, "the baseline", "new", &c->total_estimate);
	if (c->normalization == PD_RAW)
		put(text, " as measured. ");
	else if (c->normalization == PD_TOTAL)
		put(text, " as measured; below, shares of the totals are compared. ");
	else
		put(text, ", normalised by %s. ", pd_normalization_name(c->normalization));
}

static void put_few(struct text *text, const struct pd_comparison *c)
{
	static const char *const sides[] = {"baseline", "incident"};
	for (int side = 0; side < 2; side++)
		if (c->counts_measured && c->total_count[side] < FEW_SAMPLES)
			put(text, "The %s has only %.0f samples, so little can be told. ", sides[side], c->total_count[side]);
}

static bool flat_changed(const struct pd_row *row)
{
	return row->q_flat < DIFFPRINT_SIGNIFICANT;
}
static bool cum_changed(const struct pd_row *row)
{
	return row->q_cum < DIFFPRINT_SIGNIFICANT;
}

/* The first row beyond noise by its flat value, or else by its cumulative one; how many in all. */
static const struct pd_row *first_changed(const struct pd_comparison *c, size_t *n)
{
	const struct pd_row *flat = NULL, *cum = NULL;
	*n = 0;
	for (size_t i = 0; i < c->rows_n; i++) {
		const struct pd_row *row = &c->rows[i];
		*n += flat_changed(row) || cum_changed(row);
		if (!flat && flat_changed(row))
			flat = row;
		if (!cum && cum_changed(row))
			cum = row;
	}
	return flat ? flat : cum;
}

static void put_detectable(struct text *text, const struct pd_comparison *c)
{
	const struct pd_row *most = NULL;
	for (size_t i = 0; i < c->rows_n; i++) {
		const struct pd_row *row = &c->rows[i];
		if (isfinite(row->flat_estimate.detectable) &&
		    (!most || row->flat_count[0] + row->flat_count[1] > most->flat_count[0] + most->flat_count[1]))
			most = row;
	}
	if (!most)
		return;
	put(text, "A rise of ");
	if (isfinite(c->total_estimate.detectable))
		put(text, "%.1f%% of the total, or of ", 100 * c->total_estimate.detectable);
	put(text, "%.1f%% of ", 100 * most->flat_estimate.detectable);
	put_label(text, c, most->frame);
	put(text, ", which has the most samples, would have been found 4 times in 5. ");
}

static void put_rows(struct text *text, const struct pd_comparison *c)
{
	size_t n;
	const struct pd_row *row = first_changed(c, &n);
	if (c->noise == PD_NOISE_UNKNOWN) {
		put(text, "Nothing is tested: samples cannot be counted. ");
	} else if (!row) {
		put(text, "Of %.0f frames tested none changed beyond noise. ", c->tests_n);
		put_detectable(text, c);
	} else {
		put(text, "%zu of %zu frames changed beyond noise (q < 0.05), first ", n, c->rows_n);
		put_row_change(text, c, row, ": ", !flat_changed(row));
		put(text, ". ");
	}
}

static void put_verdict(struct text *text, const struct pd_explanation *explanation)
{
	const struct pd_cause *cause = &explanation->causes[0];
	put(text, "Verdict: %s", pd_verdict_name(cause->verdict));
	if (cause->location && cause->verdict != PD_VERDICT_INCONCLUSIVE)
		put(text, " in %.200s", cause->location);
	if (isfinite(cause->share) && cause->verdict != PD_VERDICT_NONE && cause->verdict != PD_VERDICT_INCONCLUSIVE)
		put(text, ", which accounts for %.0f%% of the change", 100 * cause->share);
	put(text, ". ");
}

/* What more profiles would bring. */
static void put_needed(struct text *text, const struct pd_comparison *c)
{
	if (c->noise == PD_NOISE_SAMPLING)
		put(text, "With one profile a side nothing tells how much instances differ: three or more a side would. ");
	for (size_t i = 0; i < c->rows_n && c->noise == PD_NOISE_REPLICATES; i++) {
		const struct pd_row *row = &c->rows[i];
		size_t needed = flat_changed(row) ? 0 : pd_profiles_needed(c, row, false);
		if (flat_changed(row) || isnan(row->q_flat) || row->flat[0] == row->flat[1])
			continue;
		put(text, "The biggest change that may be noise is that of ");
		put_row_change(text, c, row, ", ", false);
		if (needed)
			put(text, ": about %zu profiles a side would find one of this size 4 times in 5. ", needed);
		else
			put(text, ". ");
		return;
	}
}

void diffsummary(char *out, size_t n, const struct diffprint *what)
{
	const struct pd_comparison *c = what->comparison;
	struct text text = {out, n, 0};
	out[0] = '\0';
	put_total(&text, c);
	put_few(&text, c);
	put_rows(&text, c);
	put_verdict(&text, what->explanation);
	put_needed(&text, c);
	while (text.used > 0 && out[text.used - 1] == ' ')
		out[--text.used] = '\0';
}
