/* A comparison in words: one paragraph that says the outcome, then what was compared and how. */
#include "cmd/diffprint_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct words {
	struct pp_sink *sink;
	struct pp_error *err;
	const char *lead, *end; /* around a line: "" and newline, or those of a Markdown list */
	int result;
};

static void say(struct words *words, const char *format, ...) PP_PRINTF(2, 3);
static void say(struct words *words, const char *format, ...)
{
	char text[1700], printable[1800];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pp_printable(printable, sizeof(printable), text, strlen(text));
	if (words->result == 0)
		words->result = pp_sink_printf(words->sink, words->err, "%s%s\n", words->lead, printable);
}

static void say_totals(struct words *words, const char *what, const int64_t total[2], const char *unit)
{
	char a[80], b[80], delta[80], share[40] = "";
	struct pp_str u = pp_str_of(unit);
	int64_t change = total[1] - total[0];
	if (total[0] > 0)
		snprintf(share, sizeof(share), " (%+.2f%%)", 100 * (double)change / (double)total[0] + 0.0);
	say(words, "%s: baseline %s, incident %s, change %s%s%s", what, pp_unit_human(a, sizeof(a), total[0], u),
	    pp_unit_human(b, sizeof(b), total[1], u), change > 0 ? "+" : "",
	    pp_unit_human(delta, sizeof(delta), change, u), share);
}

static void say_normalization(struct words *words, const struct pd_comparison *c)
{
	const struct pd_factor *used = &c->factors[c->normalization];
	if (c->normalization == PD_RAW)
		say(words, "Normalised by: nothing (raw): values as measured");
	else
		say(words, "Normalised by: %s: baseline times %.6g, incident times %.6g", pd_normalization_name(c->normalization),
		    used->scale[0], used->scale[1]);
}

static void say_fit(struct words *words, const char *what, const struct pd_quasi_fit *fit)
{
	char prior[120];
	if (isinf(fit->prior_df))
		snprintf(prior, sizeof(prior), "one scale (%.3g) for all frames", fit->prior_scale);
	else
		snprintf(prior, sizeof(prior), "scales of single frames shrunk to %.3g with %.3g prior degrees of freedom",
		         fit->prior_scale, fit->prior_df);
	say(words, "Noise of %s values: dispersion %.3g (%.3g%% from profile to profile), %s", what, fit->dispersion,
	    100 * sqrt(fit->dispersion), prior);
}

static void say_noise(struct words *words, const struct pd_comparison *c)
{
	if (c->noise == PD_NOISE_UNKNOWN)
		return;
	say(words, "Noise: %s; q of %.0f tests, of frames with at least %.0f samples", diffprint_noise(c), c->tests_n,
	    c->min_count);
	if (c->noise == PD_NOISE_REPLICATES) {
		say_fit(words, "flat", &c->flat_fit);
		say_fit(words, "cumulative", &c->cum_fit);
	}
}

/* The alternatives, so that a reader sees what the choice does. */
static void say_factors(struct words *words, const struct pd_comparison *c)
{
	char text[600];
	size_t at = 0;
	for (size_t i = PD_DURATION; i < PP_COUNT(c->factors); i++) {
		const struct pd_factor *factor = &c->factors[i];
		int n = factor->applies ? snprintf(text + at, sizeof(text) - at, "%s%s %.4g", at ? ", " : "", factor->name,
		                                   factor->scale[1] / factor->scale[0])
		                        : snprintf(text + at, sizeof(text) - at, "%s%s - (%s)", at ? ", " : "",
		                                   factor->name, factor->reason);
		at += n > 0 && (size_t)n < sizeof(text) - at ? (size_t)n : 0;
	}
	say(words, "Incident by baseline, each normalisation multiplies with: %s", text);
}

static void say_checks(struct words *words, const struct pd_comparison *c)
{
	for (size_t i = 0; i < c->checks_n; i++)
		if (c->checks[i].outcome != PD_PASS)
			say(words, "%s %s: %s", c->checks[i].outcome == PD_WARN ? "Warning" : "No claim about single frames:",
			    c->checks[i].name, c->checks[i].text);
}

/* The first row that changed beyond the control; how many did. */
static const struct pd_row *first_beyond(const struct pd_comparison *c, size_t *n)
{
	const struct pd_row *first = NULL;
	*n = 0;
	for (size_t i = 0; i < c->rows_n; i++) {
		const struct pd_row *row = &c->rows[i];
		bool changed = row->flat_beyond.q < DIFFPRINT_SIGNIFICANT || row->cum_beyond.q < DIFFPRINT_SIGNIFICANT;
		*n += changed;
		if (changed && (!first || (row->flat_beyond.q < DIFFPRINT_SIGNIFICANT &&
		                           !(first->flat_beyond.q < DIFFPRINT_SIGNIFICANT))))
			first = row;
	}
	return first;
}

static void say_control(struct words *words, const struct diffprint *what)
{
	if (!what->control)
		return;
	char text[500] = "nothing changed beyond it";
	size_t n;
	const struct pd_row *row = first_beyond(what->comparison, &n);
	if (row) {
		bool flat = row->flat_beyond.q < DIFFPRINT_SIGNIFICANT;
		const struct pd_beyond *b = flat ? &row->flat_beyond : &row->cum_beyond;
		struct pp_str label = pp_frames_label(what->comparison->frames, row->frame);
		snprintf(text, sizeof(text),
		         "%zu frames changed beyond it, first %.*s: %s %.3g times what the control did (95%% interval %.3g to %.3g)",
		         n, label.len < 200 ? (int)label.len : 200, label.ptr ? label.ptr : "", flat ? "flat" : "cumulative",
		         b->ratio, b->low, b->high);
	}
	say_totals(words, what->same_baseline ? "Control, against the same baseline" : "Control, against its own baseline",
	           what->control->total, what->control->unit);
	say(words, "Beyond the control: %s", text);
}

static void say_verdicts(struct words *words, const struct pd_explanation *explanation)
{
	for (size_t i = 0; i < explanation->causes_n; i++) {
		const struct pd_cause *cause = &explanation->causes[i];
		say(words, "Verdict: %s%s%s: %s", pd_verdict_name(cause->verdict), cause->location ? ": " : "",
		    cause->location ? cause->location : "", cause->reason);
	}
}

/* How many were joined by which rules; and the largest of those that only look alike. */
static void say_renames(struct words *words, const struct pd_comparison *c)
{
	const struct pd_identity *identity = &c->identity;
	char by[400] = "";
	size_t joined = 0, n = 0, said = 0;
	for (size_t i = 0; i < identity->renames_n; i++)
		joined += identity->renames[i].joined;
	for (int i = 0; i < PD_RULES_N; i++)
		if (identity->applied[i])
			n += (size_t)snprintf(by + n, sizeof(by) - n, "%s%s %zu", n ? ", " : "", pd_rule_name((enum pd_rule)i), identity->applied[i]);
	if (joined)
		say(words, "Renamed: %zu, joined%s%s", joined, n ? " by " : "", by);
	for (size_t i = 0; i < identity->renames_n && said < 5; i++) {
		const struct pd_rename *rename = &identity->renames[i];
		if (rename->joined)
			continue;
		struct pp_str from = pp_frames_label(c->frames, rename->other), to = pp_frames_label(c->frames, rename->frame);
		say(words, "Renamed? %.*s -> %.*s (similarity %.2f, callees %u/%u)", from.len < 300 ? (int)from.len : 300, from.ptr,
		    to.len < 300 ? (int)to.len : 300, to.ptr, rename->score, rename->callees_shared, rename->callees_n);
		said++;
	}
	if (identity->renames_n - joined > said)
		say(words, "Renamed? %zu more", identity->renames_n - joined - said);
}

static void say_result(struct words *words, const struct diffprint *what)
{
	const struct pd_comparison *c = what->comparison;
	int64_t a = c->raw_total[0], b = c->raw_total[1];
	size_t shown = diffrows_n(what);
	if (!diffrows_any_change(c) && c->normalization != PD_RAW && a > 0 && b > 0)
		say(words, "No change: the shape is the same; the total as measured is %.2f times the baseline's",
		    (double)b / (double)a);
	else if (!diffrows_any_change(c))
		say(words, "No change");
	else
		say(words, "Rows: %zu of %zu%s", shown, c->rows_n, what->all ? "" : "; unchanged ones need --all");
}

static void say_tree(struct words *words, const struct pd_comparison *c)
{
	size_t changed = 0, deepest = 0;
	for (size_t i = 0; i < c->paths_n; i++) {
		changed += difftree_changed(c, &c->paths[i]);
		deepest += c->paths[i].deepest;
	}
	if (c->noise == PD_NOISE_UNKNOWN)
		say(words, "Paths of calls: %zu of %zu changed; samples are not counted, so none is tested", changed, c->paths_n);
	else if (changed == 0)
		say(words, "Paths of calls: no change on any of the %zu with at least %.0f samples", c->paths_n, c->path_min_count);
	else
		say(words, "Paths of calls: on or below %zu of the %zu with at least %.0f samples something changed; "
		    "* marks the deepest that did: %zu", changed, c->paths_n, c->path_min_count, deepest);
}

int diffwords_print(const struct diffprint *what, bool markdown, struct pp_sink *sink, struct pp_error *err)
{
	const struct pd_comparison *c = what->comparison;
	struct words words = {sink, err, markdown ? "- " : "", "", 0};
	const struct pd_check *counts = &c->checks[0];
	for (size_t i = 0; i < c->checks_n; i++)
		if (strcmp(c->checks[i].name, "counts") == 0)
			counts = &c->checks[i];
	char summary[1600];
	diffsummary(summary, sizeof(summary), what);
	say(&words, "%s", summary);
	say(&words, "Compared: %s in %s by %s, baseline against incident, %zu against %zu profiles", c->type, c->unit,
	    pp_granularity_name(what->by), c->side_n[0], c->side_n[1]);
	say_normalization(&words, c);
	say_factors(&words, c);
	say_totals(&words, "Total", c->total, c->unit);
	if (c->normalization != PD_RAW)
		say_totals(&words, "As measured", c->raw_total, c->unit);
	say(&words, "Samples: %s", counts->text);
	say_noise(&words, c);
	say_control(&words, what);
	say_renames(&words, c);
	say_checks(&words, c);
	say_verdicts(&words, what->explanation);
	if (what->call_tree)
		say_tree(&words, c);
	else
		say_result(&words, what);
	return words.result ? words.result : pp_sink_str(sink, "\n", err);
}
