/* The rows of a comparison: its columns, and what stands in them. */
#include "cmd/diffprint_parts.h"
#include "cmd/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BASELINE_FLAT, INCIDENT_FLAT, DELTA_FLAT, BASELINE_CUM, INCIDENT_CUM, DELTA_CUM, Q_FLAT, Q_CUM, NAME, STATE,
	BASELINE_FLAT_SHARE, INCIDENT_FLAT_SHARE, BASELINE_CUM_SHARE, INCIDENT_CUM_SHARE,
	FLAT_RATIO, FLAT_RATIO_LOW, FLAT_RATIO_HIGH, CUM_RATIO, CUM_RATIO_LOW, CUM_RATIO_HIGH,
	BASELINE_FLAT_SAMPLES, INCIDENT_FLAT_SAMPLES, BASELINE_CUM_SAMPLES, INCIDENT_CUM_SAMPLES,
	P_FLAT, P_CUM, FILE_NAME, LINE, MAPPING, ADDRESS,
	DELTA_FLAT_LOW, DELTA_FLAT_HIGH, DELTA_CUM_LOW, DELTA_CUM_HIGH, MDC_FLAT, MDC_CUM,
	BEYOND_FLAT, BEYOND_FLAT_LOW, BEYOND_FLAT_HIGH, Q_BEYOND_FLAT,
	BEYOND_CUM, BEYOND_CUM_LOW, BEYOND_CUM_HIGH, Q_BEYOND_CUM, OTHER_NAME, COLUMNS_N
};
_Static_assert((int)COLUMNS_N == (int)DIFFROWS_COLUMNS_N && (int)NAME == (int)DIFFROWS_NAME &&
               (int)DELTA_FLAT == (int)DIFFROWS_DELTA_FLAT, "diffprint_parts.h says where columns are");

void diffrows_columns(struct table_column columns[COLUMNS_N], const struct pd_comparison *c)
{
	const struct pp_str unit = pp_str_of(c->unit);
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
		[DELTA_FLAT_LOW] = {"delta_flat_low", "flat low", TABLE_REAL, unit, false},
		[DELTA_FLAT_HIGH] = {"delta_flat_high", "flat high", TABLE_REAL, unit, false},
		[DELTA_CUM_LOW] = {"delta_cum_low", NULL, TABLE_REAL, unit, false},
		[DELTA_CUM_HIGH] = {"delta_cum_high", NULL, TABLE_REAL, unit, false},
		[MDC_FLAT] = {"mdc_flat", NULL, TABLE_SHARE, {0}, false},
		[MDC_CUM] = {"mdc_cum", NULL, TABLE_SHARE, {0}, false},
		[BEYOND_FLAT] = {"beyond_flat_ratio", NULL, TABLE_REAL, {0}, false},
		[BEYOND_FLAT_LOW] = {"beyond_flat_low", NULL, TABLE_REAL, {0}, false},
		[BEYOND_FLAT_HIGH] = {"beyond_flat_high", NULL, TABLE_REAL, {0}, false},
		[Q_BEYOND_FLAT] = {"q_beyond_flat", NULL, TABLE_REAL, {0}, false},
		[BEYOND_CUM] = {"beyond_cum_ratio", NULL, TABLE_REAL, {0}, false},
		[BEYOND_CUM_LOW] = {"beyond_cum_low", NULL, TABLE_REAL, {0}, false},
		[BEYOND_CUM_HIGH] = {"beyond_cum_high", NULL, TABLE_REAL, {0}, false},
		[Q_BEYOND_CUM] = {"q_beyond_cum", NULL, TABLE_REAL, {0}, false},
		[OTHER_NAME] = {"other_name", NULL, TABLE_TEXT, {0}, false},
	};
	memcpy(columns, all, sizeof(all));
}

/* What mathematical libraries agree on everywhere: six digits. NAN and infinities stay. */
double diffprint_six_digits(double value)
{
	char text[40];
	snprintf(text, sizeof(text), "%.6g", value);
	return strtod(text, NULL);
}

static double quotient(int64_t value, double by)
{
	return by > 0 ? diffprint_six_digits((double)value / by) : (double)NAN;
}

static double ratio(const int64_t value[2])
{
	return value[0] > 0 && value[1] >= 0 ? diffprint_six_digits((double)value[1] / (double)value[0]) : (double)NAN;
}

static void set_place(union table_cell cells[COLUMNS_N], const struct pp_frame *frame, struct diffrows_text *text)
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

static void set_beyond(union table_cell *cells, const struct pd_beyond *beyond)
{
	cells[0].real = diffprint_six_digits(beyond->ratio);
	cells[1].real = diffprint_six_digits(beyond->low);
	cells[2].real = diffprint_six_digits(beyond->high);
	cells[3].real = diffprint_six_digits(beyond->q);
}

void diffrows_cells(union table_cell cells[COLUMNS_N], const struct pd_comparison *c, const struct pd_row *row,
                    struct diffrows_text *text)
{
	const double *total = c->factors[PD_TOTAL].exposure;
	cells[BASELINE_FLAT].i = row->flat[0];
	cells[INCIDENT_FLAT].i = row->flat[1];
	cells[DELTA_FLAT].i = row->flat[1] - row->flat[0];
	cells[BASELINE_CUM].i = row->cum[0];
	cells[INCIDENT_CUM].i = row->cum[1];
	cells[DELTA_CUM].i = row->cum[1] - row->cum[0];
	cells[Q_FLAT].real = diffprint_six_digits(row->q_flat);
	cells[Q_CUM].real = diffprint_six_digits(row->q_cum);
	cells[NAME].text = pp_frames_label(c->frames, row->frame);
	cells[STATE].text = pp_str_of(pd_state_name(row->state));
	cells[FLAT_RATIO].real = ratio(row->flat);
	cells[CUM_RATIO].real = ratio(row->cum);
	cells[P_FLAT].real = diffprint_six_digits(row->p_flat);
	cells[P_CUM].real = diffprint_six_digits(row->p_cum);
	for (int i = 0; i < 2; i++) { /* by side, or from low to high */
		cells[BASELINE_FLAT_SHARE + i].real = quotient(row->raw_flat[i], total[i]);
		cells[BASELINE_CUM_SHARE + i].real = quotient(row->raw_cum[i], total[i]);
		cells[FLAT_RATIO_LOW + i].real = diffprint_six_digits(row->flat_estimate.ratio[i]);
		cells[CUM_RATIO_LOW + i].real = diffprint_six_digits(row->cum_estimate.ratio[i]);
		cells[DELTA_FLAT_LOW + i].real = diffprint_six_digits(row->flat_estimate.delta[i]);
		cells[DELTA_CUM_LOW + i].real = diffprint_six_digits(row->cum_estimate.delta[i]);
		cells[BASELINE_FLAT_SAMPLES + i].real = c->counts_measured ? row->flat_count[i] : (double)NAN;
		cells[BASELINE_CUM_SAMPLES + i].real = c->counts_measured ? row->cum_count[i] : (double)NAN;
	}
	cells[MDC_FLAT].real = row->flat_estimate.detectable;
	cells[MDC_CUM].real = row->cum_estimate.detectable;
	set_beyond(cells + BEYOND_FLAT, &row->flat_beyond);
	set_beyond(cells + BEYOND_CUM, &row->cum_beyond);
	cells[OTHER_NAME].text = row->other == PP_NONE ? PP_LIT("") : pp_frames_label(c->frames, row->other);
	set_place(cells, pp_frames_at(c->frames, row->frame), text);
}

static bool row_changed(const struct pd_row *row)
{
	return row->flat[0] != row->flat[1] || row->cum[0] != row->cum[1];
}

/* Rows with a change come first, so those to print are a prefix. */
size_t diffrows_n(const struct diffprint *what)
{
	const struct pd_comparison *c = what->comparison;
	size_t n = 0;
	while (n < c->rows_n && n < what->limit && (what->all || row_changed(&c->rows[n])))
		n++;
	return n;
}

bool diffrows_any_change(const struct pd_comparison *c)
{
	return c->rows_n > 0 && row_changed(&c->rows[0]);
}

struct pp_str diffrows_unit(const struct diffprint *what)
{
	const struct pd_comparison *c = what->comparison;
	struct pp_str unit;
	int64_t least = 0;
	for (size_t i = 0, n = diffrows_n(what); i < n; i++)
		for (int side = 0; side < 2; side++)
			view_take_least(&least, c->rows[i].flat[side], c->rows[i].cum[side]);
	view_unit(what->unit, pp_str_of(c->unit), least, c->total[0] > c->total[1] ? c->total[0] : c->total[1], &unit);
	return unit;
}

int diffrows_print(const struct diffprint *what, enum table_format format, struct pp_sink *sink, struct pp_error *err)
{
	const struct pd_comparison *c = what->comparison;
	struct table_column columns[COLUMNS_N];
	diffrows_columns(columns, c);
	struct table *table = table_new_in(diffrows_unit(what), format, columns, COLUMNS_N, sink, err);
	int result = table ? 0 : -1;
	for (size_t i = 0, n = diffrows_n(what); result == 0 && i < n; i++) {
		union table_cell cells[COLUMNS_N];
		struct diffrows_text text;
		diffrows_cells(cells, c, &c->rows[i], &text);
		result = table_row(table, cells, err);
	}
	if (result == 0)
		result = table_end(table, err);
	table_free(table);
	return result;
}

struct pp_json *diffrows_json(const struct diffprint *what)
{
	const struct pd_comparison *c = what->comparison;
	struct table_column columns[COLUMNS_N];
	struct pp_json *rows = pp_json_array();
	diffrows_columns(columns, c);
	for (size_t i = 0, n = diffrows_n(what); i < n; i++) {
		union table_cell cells[COLUMNS_N];
		struct diffrows_text text;
		diffrows_cells(cells, c, &c->rows[i], &text);
		pp_json_add(rows, NULL, table_row_json(columns, COLUMNS_N, cells));
	}
	return rows;
}
