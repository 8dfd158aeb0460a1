#include "cmd/diffprint.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNIFICANT 0.05
#define NOISE "sampling noise only (no replicate variance is modelled)"

enum {
	BASELINE_FLAT, INCIDENT_FLAT, DELTA_FLAT, BASELINE_CUM, INCIDENT_CUM, DELTA_CUM, Q_FLAT, Q_CUM, NAME, STATE,
	BASELINE_FLAT_SHARE, INCIDENT_FLAT_SHARE, BASELINE_CUM_SHARE, INCIDENT_CUM_SHARE,
	FLAT_RATIO, FLAT_RATIO_LOW, FLAT_RATIO_HIGH, CUM_RATIO, CUM_RATIO_LOW, CUM_RATIO_HIGH,
	BASELINE_FLAT_SAMPLES, INCIDENT_FLAT_SAMPLES, BASELINE_CUM_SAMPLES, INCIDENT_CUM_SAMPLES,
	P_FLAT, P_CUM, FILE_NAME, LINE, MAPPING, ADDRESS, COLUMNS_N
};

static void set_columns(struct table_column columns[COLUMNS_N], struct pp_str unit)
{
	const struct table_column all[COLUMNS_N] = {
		[BASELINE_FLAT] = {"baseline_flat", "baseline flat", TABLE_INTEGER, unit, false},
		[INCIDENT_FLAT] = {"incident_flat", "incident flat", TABLE_INTEGER, unit, false},
		[DELTA_FLAT] = {"delta_flat", "delta flat", TABLE_INTEGER, unit, true},
		[BASELINE_CUM] = {"baseline_cum", "baseline cum", TABLE_INTEGER, unit, false},
		[INCIDENT_CUM] = {"incident_cum", "incident cum", TABLE_INTEGER, unit, false},
		[DELTA_CUM] = {"delta_cum", "delta cum", TABLE_INTEGER, unit, true},
		[Q_FLAT] = {"q_flat", "q flat", TABLE_REAL, {0}, false},
		[Q_CUM] = {"q_cum", "q cum", TABLE_REAL, {0}, false},
		[NAME] = {"name", "name", TABLE_TEXT, {0}, false},
		[STATE] = {"state", "state", TABLE_TEXT, {0}, false},
		[BASELINE_FLAT_SHARE] = {"baseline_flat_share", NULL, TABLE_SHARE, {0}, false},
		[INCIDENT_FLAT_SHARE] = {"incident_flat_share", NULL, TABLE_SHARE, {0}, false},
		[BASELINE_CUM_SHARE] = {"baseline_cum_share", NULL, TABLE_SHARE, {0}, false},
		[INCIDENT_CUM_SHARE] = {"incident_cum_share", NULL, TABLE_SHARE, {0}, false},
		[FLAT_RATIO] = {"flat_ratio", NULL, TABLE_REAL, {0}, false},
		[FLAT_RATIO_LOW] = {"flat_ratio_low", NULL, TABLE_REAL, {0}, false},
		[FLAT_RATIO_HIGH] = {"flat_ratio_high", NULL, TABLE_REAL, {0}, false},
		[CUM_RATIO] = {"cum_ratio", NULL, TABLE_REAL, {0}, false},
		[CUM_RATIO_LOW] = {"cum_ratio_low", NULL, TABLE_REAL, {0}, false},
		[CUM_RATIO_HIGH] = {"cum_ratio_high", NULL, TABLE_REAL, {0}, false},
		[BASELINE_FLAT_SAMPLES] = {"baseline_flat_samples", NULL, TABLE_REAL, {0}, false},
		[INCIDENT_FLAT_SAMPLES] = {"incident_flat_samples", NULL, TABLE_REAL, {0}, false},
		[BASELINE_CUM_SAMPLES] = {"baseline_cum_samples", NULL, TABLE_REAL, {0}, false},
		[INCIDENT_CUM_SAMPLES] = {"incident_cum_samples", NULL, TABLE_REAL, {0}, false},
		[P_FLAT] = {"p_flat", NULL, TABLE_REAL, {0}, false},
		[P_CUM] = {"p_cum", NULL, TABLE_REAL, {0}, false},
		[FILE_NAME] = {"file", NULL, TABLE_TEXT, {0}, false},
		[LINE] = {"line", NULL, TABLE_TEXT, {0}, false},
		[MAPPING] = {"mapping", NULL, TABLE_TEXT, {0}, false},
		[ADDRESS] = {"address", NULL, TABLE_TEXT, {0}, false},
	};
	memcpy(columns, all, sizeof(all));
}

/* What mathematical libraries agree on everywhere: six digits. NAN and infinities stay. */
static double six_digits(double value)
{
	char text[40];
	snprintf(text, sizeof(text), "%.6g", value);
	return strtod(text, NULL);
}

static double quotient(int64_t value, double by)
{
	return by > 0 ? six_digits((double)value / by) : (double)NAN;
}

static double ratio(const int64_t value[2])
{
	return value[0] > 0 && value[1] >= 0 ? six_digits((double)value[1] / (double)value[0]) : (double)NAN;
}

struct row_text {
	char line[32], address[32];
};

static void set_place(union table_cell cells[COLUMNS_N], const struct pp_frame *frame, struct row_text *text)
{
	text->line[0] = text->address[0] = '\0';
	if (frame->line_is_relative)
		snprintf(text->line, sizeof(text->line), "+%lld", (long long)frame->line);
	else if (frame->line != 0)
		snprintf(text->line, sizeof(text->line), "%lld", (long long)frame->line);
	if (frame->address != 0)
		snprintf(text->address, sizeof(text->address), "0x%llx", (unsigned long long)frame->address);
	cells[FILE_NAME].text = frame->file;
	cells[LINE].text = pp_str_of(text->line);
	cells[MAPPING].text = frame->mapping;
	cells[ADDRESS].text = pp_str_of(text->address);
}

static void set_cells(union table_cell cells[COLUMNS_N], const struct pd_comparison *c, const struct pd_row *row,
                      struct row_text *text)
{
	const double *total = c->factors[PD_TOTAL].exposure;
	cells[BASELINE_FLAT].i = row->flat[0];
	cells[INCIDENT_FLAT].i = row->flat[1];
	cells[DELTA_FLAT].i = row->flat[1] - row->flat[0];
	cells[BASELINE_CUM].i = row->cum[0];
	cells[INCIDENT_CUM].i = row->cum[1];
	cells[DELTA_CUM].i = row->cum[1] - row->cum[0];
	cells[Q_FLAT].real = six_digits(row->q_flat);
	cells[Q_CUM].real = six_digits(row->q_cum);
	cells[NAME].text = pp_frames_label(c->frames, row->frame);
	cells[STATE].text = pp_str_of(pd_state_name(row->state));
	cells[FLAT_RATIO].real = ratio(row->flat);
	cells[CUM_RATIO].real = ratio(row->cum);
	cells[P_FLAT].real = six_digits(row->p_flat);
	cells[P_CUM].real = six_digits(row->p_cum);
	for (int i = 0; i < 2; i++) { /* by side, or from low to high */
		cells[BASELINE_FLAT_SHARE + i].real = quotient(row->raw_flat[i], total[i]);
		cells[BASELINE_CUM_SHARE + i].real = quotient(row->raw_cum[i], total[i]);
		cells[FLAT_RATIO_LOW + i].real = six_digits(row->flat_ratio[i]);
		cells[CUM_RATIO_LOW + i].real = six_digits(row->cum_ratio[i]);
		cells[BASELINE_FLAT_SAMPLES + i].real = c->counts_measured ? row->flat_count[i] : (double)NAN;
		cells[BASELINE_CUM_SAMPLES + i].real = c->counts_measured ? row->cum_count[i] : (double)NAN;
	}
	set_place(cells, pp_frames_at(c->frames, row->frame), text);
}

static bool row_changed(const struct pd_row *row)
{
	return row->flat[0] != row->flat[1] || row->cum[0] != row->cum[1];
}

/* Rows with a change come first, so those to print are a prefix. */
static size_t rows_to_print(const struct diffprint *what)
{
	const struct pd_comparison *c = what->comparison;
	size_t n = 0;
	while (n < c->rows_n && n < what->limit && (what->all || row_changed(&c->rows[n])))
		n++;
	return n;
}

static bool any_change(const struct pd_comparison *c)
{
	return c->rows_n > 0 && row_changed(&c->rows[0]);
}

bool diffprint_changed(const struct pd_comparison *c)
{
	if (!c->counts_measured)
		return any_change(c);
	for (size_t i = 0; i < c->rows_n; i++)
		if (c->rows[i].q_flat < SIGNIFICANT || c->rows[i].q_cum < SIGNIFICANT)
			return true;
	return false;
}

/* ---- rows ---- */

static int print_rows(const struct diffprint *what, enum table_format format, struct pp_sink *sink, struct pp_error *err)
{
	const struct pd_comparison *c = what->comparison;
	struct table_column columns[COLUMNS_N];
	set_columns(columns, pp_str_of(c->unit));
	struct table *table = table_new(format, columns, COLUMNS_N, sink, err);
	int result = table ? 0 : -1;
	for (size_t i = 0, n = rows_to_print(what); result == 0 && i < n; i++) {
		union table_cell cells[COLUMNS_N];
		struct row_text text;
		set_cells(cells, c, &c->rows[i], &text);
		result = table_row(table, cells, err);
	}
	if (result == 0)
		result = table_end(table, err);
	table_free(table);
	return result;
}

/* ---- words ---- */

struct words {
	struct pp_sink *sink;
	struct pp_error *err;
	const char *lead, *end; /* around a line: "" and newline, or those of a Markdown list */
	int result;
};

static void say(struct words *words, const char *format, ...) PP_PRINTF(2, 3);
static void say(struct words *words, const char *format, ...)
{
	char text[1000], printable[1100];
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

static void say_checks(struct words *words, const struct pd_comparison *c)
{
	for (size_t i = 0; i < c->checks_n; i++)
		if (c->checks[i].outcome != PD_PASS)
			say(words, "%s %s: %s", c->checks[i].outcome == PD_WARN ? "Warning" : "No claim about single frames:",
			    c->checks[i].name, c->checks[i].text);
}

static void say_verdicts(struct words *words, const struct pd_explanation *explanation)
{
	for (size_t i = 0; i < explanation->causes_n; i++) {
		const struct pd_cause *cause = &explanation->causes[i];
		say(words, "Verdict: %s%s%s: %s", pd_verdict_name(cause->verdict), cause->location ? ": " : "",
		    cause->location ? cause->location : "", cause->reason);
	}
}

static void say_result(struct words *words, const struct diffprint *what)
{
	const struct pd_comparison *c = what->comparison;
	int64_t a = c->raw_total[0], b = c->raw_total[1];
	size_t shown = rows_to_print(what);
	if (!any_change(c) && c->normalization != PD_RAW && a > 0 && b > 0)
		say(words, "No change: the shape is the same; the total as measured is %.2f times the baseline's",
		    (double)b / (double)a);
	else if (!any_change(c))
		say(words, "No change");
	else
		say(words, "Rows: %zu of %zu%s", shown, c->rows_n, what->all ? "" : "; unchanged ones need --all");
}

static int print_words(const struct diffprint *what, bool markdown, struct pp_sink *sink, struct pp_error *err)
{
	const struct pd_comparison *c = what->comparison;
	struct words words = {sink, err, markdown ? "- " : "", "", 0};
	const struct pd_check *counts = &c->checks[0];
	for (size_t i = 0; i < c->checks_n; i++)
		if (strcmp(c->checks[i].name, "counts") == 0)
			counts = &c->checks[i];
	say(&words, "Compared: %s in %s by %s, baseline against incident, %zu against %zu profiles", c->type, c->unit,
	    pp_granularity_name(what->by), c->side_n[0], c->side_n[1]);
	say_normalization(&words, c);
	say_totals(&words, "Total", c->total, c->unit);
	if (c->normalization != PD_RAW)
		say_totals(&words, "As measured", c->raw_total, c->unit);
	say(&words, "Samples: %s", counts->text);
	if (c->counts_measured)
		say(&words, "Noise: " NOISE "; q of %.0f tests", c->tests_n);
	say_checks(&words, c);
	say_verdicts(&words, what->explanation);
	say_result(&words, what);
	return words.result ? words.result : pp_sink_str(sink, "\n", err);
}

/* ---- JSON ---- */

static struct pp_json *pair_json(const double values[2])
{
	struct pp_json *pair = pp_json_object();
	pp_json_real(pair, "baseline", values[0]);
	pp_json_real(pair, "incident", values[1]);
	return pair;
}

static struct pp_json *normalization_json(const struct pd_comparison *c)
{
	struct pp_json *json = pp_json_object(), *factors = pp_json_array();
	pp_json_str(json, "method", pp_str_of(pd_normalization_name(c->normalization)));
	for (size_t i = 0; i < PP_COUNT(c->factors); i++) {
		const struct pd_factor *factor = &c->factors[i];
		struct pp_json *one = pp_json_object();
		pp_json_str(one, "method", pp_str_of(pd_normalization_name(factor->normalization)));
		pp_json_bool(one, "applies", factor->applies);
		if (factor->applies) {
			pp_json_add(one, "exposure", pair_json(factor->exposure));
			pp_json_add(one, "scale", pair_json(factor->scale));
		} else {
			pp_json_str(one, "reason", pp_str_of(factor->reason));
		}
		pp_json_add(factors, NULL, one);
	}
	pp_json_add(json, "factors", factors);
	return json;
}

static struct pp_json *qualification_json(const struct pd_comparison *c)
{
	struct pp_json *json = pp_json_object(), *checks = pp_json_array();
	enum pd_outcome worst = PD_PASS;
	for (size_t i = 0; i < c->checks_n; i++) {
		struct pp_json *check = pp_json_object();
		pp_json_str(check, "name", pp_str_of(c->checks[i].name));
		pp_json_str(check, "outcome", pp_str_of(pd_outcome_name(c->checks[i].outcome)));
		pp_json_str(check, "text", pp_str_of(c->checks[i].text));
		pp_json_add(checks, NULL, check);
		worst = c->checks[i].outcome > worst ? c->checks[i].outcome : worst;
	}
	pp_json_str(json, "outcome", pp_str_of(pd_outcome_name(worst)));
	pp_json_add(json, "checks", checks);
	return json;
}

static struct pp_json *total_json(const int64_t total[2])
{
	struct pp_json *json = pp_json_object();
	pp_json_i64(json, "baseline", total[0]);
	pp_json_i64(json, "incident", total[1]);
	pp_json_i64(json, "delta", total[1] - total[0]);
	return json;
}

static struct pp_json *totals_json(const struct pd_comparison *c)
{
	const double unmeasured[2] = {NAN, NAN};
	struct pp_json *json = pp_json_object();
	pp_json_add(json, "normalized", total_json(c->total));
	pp_json_add(json, "raw", total_json(c->raw_total));
	pp_json_add(json, "samples", pair_json(c->counts_measured ? c->total_count : unmeasured));
	return json;
}

static struct pp_json *rows_json(const struct diffprint *what)
{
	const struct pd_comparison *c = what->comparison;
	struct table_column columns[COLUMNS_N];
	struct pp_json *rows = pp_json_array();
	set_columns(columns, pp_str_of(c->unit));
	for (size_t i = 0, n = rows_to_print(what); i < n; i++) {
		union table_cell cells[COLUMNS_N];
		struct row_text text;
		set_cells(cells, c, &c->rows[i], &text);
		pp_json_add(rows, NULL, table_row_json(columns, COLUMNS_N, cells));
	}
	return rows;
}

static struct pp_json *inputs_json(const struct pd_comparison *c)
{
	struct pp_json *inputs = pp_json_array();
	for (size_t i = 0; i < c->replicates_n; i++) {
		const struct pd_replicate *replicate = &c->replicates[i];
		struct pp_json *input = pp_json_object();
		pp_json_str(input, "side", replicate->side == PD_BASELINE ? PP_LIT("baseline") : PP_LIT("incident"));
		pp_json_str(input, "name", pp_str_of(replicate->name));
		pp_json_str(input, "content_hash", pp_str_of(replicate->origin.content_hash));
		pp_json_add(inputs, NULL, input);
	}
	return inputs;
}

static int print_json(const struct diffprint *what, struct pp_sink *sink, struct pp_error *err)
{
	const struct pd_comparison *c = what->comparison;
	struct pp_json *json = pp_json_object();
	pp_json_str(json, "sample_type", pp_str_of(c->type));
	pp_json_str(json, "unit", pp_str_of(c->unit));
	pp_json_str(json, "by", pp_str_of(pp_granularity_name(what->by)));
	pp_json_add(json, "verdicts", pd_explanation_json(what->explanation));
	pp_json_add(json, "normalization", normalization_json(c));
	pp_json_add(json, "qualification", qualification_json(c));
	pp_json_add(json, "totals", totals_json(c));
	pp_json_str(json, "noise", c->counts_measured ? PP_LIT(NOISE) : PP_LIT("not measured"));
	pp_json_real(json, "tests", c->tests_n);
	pp_json_add(json, "inputs", inputs_json(c));
	pp_json_add(json, "rows", rows_json(what));
	int result = pp_json_write(json, 1, sink, err);
	pp_json_free(json);
	return result;
}

int diffprint(const struct diffprint *what, enum table_format format, struct pp_sink *sink, struct pp_error *err)
{
	if (format == TABLE_JSON)
		return print_json(what, sink, err);
	if (format != TABLE_TSV && print_words(what, format == TABLE_MARKDOWN, sink, err) != 0)
		return -1;
	return print_rows(what, format, sink, err);
}
