#include "cmd/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const table_format_names[] = {"tsv", "table", "json", "markdown", NULL};

/* A cell for people is cut at this length; programs get all of it. */
enum { CELL_MAX = 4096 };

struct table {
	enum table_format format;
	const struct table_column *columns;
	size_t columns_n;
	struct pp_sink *sink;
	uint64_t rows;
	struct pp_str unit; /* to show values in; "": their own */
	char **names;       /* by column: NAME:UNIT of those that are shown in it, else NULL */
	/* TABLE_ALIGNED holds everything back until widths are known: NUL-terminated cells in reading
	 * order, the headings first. */
	struct pp_buf held;
	size_t *widths; /* by column */
	/* The columns that people see, in their order. */
	size_t *shown, shown_n;
};

enum table_format table_format_for(enum table_format asked, const struct output *output)
{
	if (asked != TABLE_AUTO)
		return asked;
	return output_is_terminal(output) ? TABLE_ALIGNED : TABLE_TSV;
}

static bool is_number(const struct table_column *column)
{
	return column->type != TABLE_TEXT;
}

/* Whether a column of table, which may be NULL, is shown in the unit of the table. */
static bool is_converted(const struct table *table, size_t i)
{
	return table && table->names[i];
}

/* The number of a converted cell, for programs. */
static const char *decimal(char *out, size_t out_n, const struct table *table, const struct table_column *column,
                           const union table_cell *cell)
{
	return column->type == TABLE_INTEGER ? pp_unit_decimal(out, out_n, cell->i, column->unit, table->unit)
	                                     : pp_unit_decimal_real(out, out_n, cell->real, column->unit, table->unit);
}

/* ---- TSV ---- */

static int real_text(char *out, size_t out_n, const struct table_column *column, double value)
{
	if (!isfinite(value))
		return snprintf(out, out_n, "%s", "");
	/* Adding 0 turns -0 into 0. */
	return snprintf(out, out_n, column->type == TABLE_SHARE ? "%.6g" : "%.10g", value + 0.0);
}

static int tsv_cell(struct table *table, size_t i, const union table_cell *cell, struct pp_error *err)
{
	const struct table_column *column = &table->columns[i];
	char text[64];
	if (is_converted(table, i) && (column->type == TABLE_INTEGER || isfinite(cell->real)))
		return pp_sink_str(table->sink, decimal(text, sizeof text, table, column, cell), err);
	switch (column->type) {
	case TABLE_INTEGER:
		return pp_sink_i64(table->sink, cell->i, err);
	case TABLE_SHARE:
	case TABLE_REAL:
		real_text(text, sizeof text, column, cell->real);
		return pp_sink_str(table->sink, text, err);
	case TABLE_DECIMAL:
	case TABLE_TEXT:
		break;
	}
	return pp_escape(table->sink, cell->text, 0, err);
}

static int tsv_row(struct table *table, const union table_cell *cells, struct pp_error *err)
{
	for (size_t i = 0; i < table->columns_n; i++) {
		if (i > 0 && pp_sink_str(table->sink, "\t", err) != 0)
			return -1;
		if (tsv_cell(table, i, &cells[i], err) != 0)
			return -1;
	}
	return pp_sink_str(table->sink, "\n", err);
}

static const char *name_of(const struct table *table, size_t i)
{
	return is_converted(table, i) ? table->names[i] : table->columns[i].name;
}

static int tsv_header(struct table *table, struct pp_error *err)
{
	for (size_t i = 0; i < table->columns_n; i++)
		if ((i > 0 && pp_sink_str(table->sink, "\t", err) != 0) ||
		    pp_escape(table->sink, pp_str_of(name_of(table, i)), 0, err) != 0)
			return -1;
	return pp_sink_str(table->sink, "\n", err);
}

/* ---- JSON ---- */

/* What pp_unit_decimal wrote: a whole number stays one. */
static void json_decimal(struct pp_json *row, const char *name, const char *text)
{
	errno = 0;
	const long long whole = strtoll(text, NULL, 10);
	if (errno == 0 && !strchr(text, '.'))
		pp_json_i64(row, name, whole);
	else
		pp_json_real(row, name, strtod(text, NULL));
}

static void json_cell(struct pp_json *row, const struct table_column *column, const union table_cell *cell)
{
	char text[64];
	switch (column->type) {
	case TABLE_INTEGER:
		pp_json_i64(row, column->name, cell->i);
		break;
	case TABLE_SHARE:
	case TABLE_REAL:
		/* By way of the text, so that both formats hold the same number. */
		if (real_text(text, sizeof text, column, cell->real) > 0)
			pp_json_real(row, column->name, strtod(text, NULL));
		else
			pp_json_null(row, column->name);
		break;
	case TABLE_DECIMAL:
		json_decimal(row, column->name, cell->text.ptr);
		break;
	case TABLE_TEXT:
		pp_json_str(row, column->name, cell->text);
		break;
	}
}

struct pp_json *table_row_json(const struct table_column *columns, size_t columns_n, const union table_cell *cells)
{
	struct pp_json *row = pp_json_object();
	for (size_t i = 0; i < columns_n; i++)
		json_cell(row, &columns[i], &cells[i]);
	return row;
}

static int json_row(struct table *table, const union table_cell *cells, struct pp_error *err)
{
	struct pp_json *row = pp_json_object();
	char text[64];
	for (size_t i = 0; i < table->columns_n; i++) {
		const struct table_column *column = &table->columns[i];
		if (!is_converted(table, i))
			json_cell(row, column, &cells[i]);
		else if (column->type == TABLE_REAL && !isfinite(cells[i].real))
			pp_json_null(row, table->names[i]);
		else
			json_decimal(row, table->names[i], decimal(text, sizeof text, table, column, &cells[i]));
	}
	int result = pp_sink_str(table->sink, table->rows > 0 ? ",\n" : "\n", err);
	if (result == 0)
		result = pp_json_write(row, 0, table->sink, err);
	pp_json_free(row);
	return result;
}

/* ---- for people ---- */

static bool has_family(struct pp_str unit)
{
	double factor;
	return pp_unit_find(unit, &factor) != PP_UNIT_NONE;
}

/* A value with its unit: that of the table, or the one that fits. */
static const char *value_text(char *out, size_t out_n, const struct table *table, size_t i, int64_t value)
{
	return is_converted(table, i) ? pp_unit_label(out, out_n, value, table->columns[i].unit, table->unit)
	                              : pp_unit_human(out, out_n, value, table->columns[i].unit);
}

static void human_cell(char *out, size_t out_n, const struct table *table, size_t i, const union table_cell *cell)
{
	const struct table_column *column = &table->columns[i];
	char text[CELL_MAX];
	switch (column->type) {
	case TABLE_INTEGER:
		snprintf(out, out_n, "%s%s", column->signs && cell->i > 0 ? "+" : "",
		         value_text(text, sizeof text, table, i, cell->i));
		break;
	case TABLE_SHARE:
		if (!isfinite(cell->real))
			snprintf(out, out_n, "-");
		else
			snprintf(out, out_n, column->signs ? "%+.2f%%" : "%.2f%%", 100 * cell->real + 0.0);
		break;
	case TABLE_REAL:
		if (!isfinite(cell->real))
			snprintf(out, out_n, "-");
		else if (has_family(column->unit) && fabs(cell->real) < 0x1p62)
			value_text(out, out_n, table, i, (int64_t)llround(cell->real));
		else
			snprintf(out, out_n, "%.4g", cell->real + 0.0);
		break;
	case TABLE_DECIMAL:
	case TABLE_TEXT:
		pp_printable(out, out_n, cell->text.ptr, cell->text.len);
		break;
	}
}

/* Code points, which is what a terminal shows of most names. */
static size_t display_width(const char *text)
{
	size_t width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static int hold_cell(struct table *table, size_t column, const char *text, struct pp_error *err)
{
	size_t width = display_width(text);
	if (width > table->widths[column])
		table->widths[column] = width;
	return pp_buf_append(&table->held, text, strlen(text) + 1, err);
}

static int spaces(struct pp_sink *sink, size_t n, struct pp_error *err)
{
	static const char blank[] = "                                ";
	for (; n > sizeof blank - 1; n -= sizeof blank - 1)
		if (pp_sink_bytes(sink, blank, sizeof blank - 1, err) != 0)
			return -1;
	return pp_sink_bytes(sink, blank, n, err);
}

static int aligned_cell(struct table *table, size_t i, const char *text, struct pp_error *err)
{
	bool right = is_number(&table->columns[i]);
	size_t padding = table->widths[i] - display_width(text);
	if ((right && spaces(table->sink, padding, err) != 0) || pp_sink_str(table->sink, text, err) != 0)
		return -1;
	if (i == table->shown[table->shown_n - 1])
		return pp_sink_str(table->sink, "\n", err);
	return spaces(table->sink, (right ? 0 : padding) + 2, err);
}

static int aligned_flush(struct table *table, struct pp_error *err)
{
	const char *text = table->held.bytes, *end = text + table->held.n;
	while (text < end)
		for (size_t k = 0; k < table->shown_n; k++) {
			if (aligned_cell(table, table->shown[k], text, err) != 0)
				return -1;
			text += strlen(text) + 1;
		}
	return 0;
}

/* A cell in which Markdown sees nothing but text. */
static int markdown_cell(struct table *table, const char *text, struct pp_error *err)
{
	for (; *text; text++)
		if ((strchr("\\|`*_<>[]&#~", *text) && pp_sink_str(table->sink, "\\", err) != 0) ||
		    pp_sink_bytes(table->sink, text, 1, err) != 0)
			return -1;
	return pp_sink_str(table->sink, " |", err);
}

static int human_row(struct table *table, const union table_cell *cells, struct pp_error *err)
{
	char text[CELL_MAX + 1];
	bool markdown = table->format == TABLE_MARKDOWN;
	if (markdown && pp_sink_str(table->sink, "|", err) != 0)
		return -1;
	for (size_t k = 0; k < table->shown_n; k++) {
		size_t i = table->shown[k];
		const char *title = table->columns[i].title;
		if (cells)
			human_cell(text, sizeof text, table, i, &cells[i]);
		else
			pp_printable(text, sizeof text, title, strlen(title));
		if (markdown && (pp_sink_str(table->sink, " ", err) != 0 || markdown_cell(table, text, err) != 0))
			return -1;
		if (!markdown && hold_cell(table, i, text, err) != 0)
			return -1;
	}
	return markdown ? pp_sink_str(table->sink, "\n", err) : 0;
}

static int markdown_rule(struct table *table, struct pp_error *err)
{
	for (size_t k = 0; k < table->shown_n; k++)
		if (pp_sink_str(table->sink, is_number(&table->columns[table->shown[k]]) ? "|--:" : "|---", err) != 0)
			return -1;
	return pp_sink_str(table->sink, "|\n", err);
}

/* ---- the table ---- */

static int begin(struct table *table, struct pp_error *err)
{
	switch (table->format) {
	case TABLE_TSV:
		return tsv_header(table, err);
	case TABLE_JSON:
		return pp_sink_str(table->sink, "[", err);
	case TABLE_MARKDOWN:
		if (human_row(table, NULL, err) != 0)
			return -1;
		return markdown_rule(table, err);
	case TABLE_ALIGNED:
	case TABLE_AUTO:
		break;
	}
	return human_row(table, NULL, err);
}

static void show_columns(struct table *table, bool numbers)
{
	for (size_t i = 0; i < table->columns_n; i++)
		if (table->columns[i].title && is_number(&table->columns[i]) == numbers)
			table->shown[table->shown_n++] = i;
}

/* Names the columns that can be shown in the unit of the table. False without memory. */
static bool name_converted(struct table *table)
{
	struct pp_str same;
	for (size_t i = 0; i < table->columns_n && table->unit.len > 0; i++) {
		const struct table_column *column = &table->columns[i];
		const size_t n = strlen(column->name) + 1;
		if (column->type > TABLE_REAL || pp_unit_choose(column->unit, table->unit, &same) != 0)
			continue;
		table->names[i] = malloc(n + table->unit.len + 1);
		if (!table->names[i])
			return false;
		memcpy(table->names[i], column->name, n - 1);
		table->names[i][n - 1] = ':';
		memcpy(table->names[i] + n, table->unit.ptr, table->unit.len);
		table->names[i][n + table->unit.len] = '\0';
	}
	return true;
}

struct table *table_new(enum table_format format, const struct table_column *columns, size_t columns_n,
                        struct pp_sink *sink, struct pp_error *err)
{
	return table_new_in(PP_LIT(""), format, columns, columns_n, sink, err);
}

struct table *table_new_in(struct pp_str unit, enum table_format format, const struct table_column *columns,
                           size_t columns_n, struct pp_sink *sink, struct pp_error *err)
{
	struct table *table = calloc(1, sizeof *table);
	if (!table) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
		return NULL;
	}
	*table = (struct table){.format = format, .columns = columns, .columns_n = columns_n, .sink = sink, .unit = unit};
	table->names = calloc(columns_n + 1, sizeof *table->names);
	table->widths = calloc(columns_n, sizeof *table->widths);
	table->shown = calloc(columns_n, sizeof *table->shown);
	if (!table->names || !table->widths || !table->shown || !name_converted(table)) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	} else {
		show_columns(table, true);
		show_columns(table, false);
		if (begin(table, err) == 0)
			return table;
	}
	table_free(table);
	return NULL;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	pp_buf_release(&table->held);
	for (size_t i = 0; i < table->columns_n && table->names; i++)
		free(table->names[i]);
	free(table->names);
	free(table->widths);
	free(table->shown);
	free(table);
}

int table_row(struct table *table, const union table_cell *cells, struct pp_error *err)
{
	int result = table->format == TABLE_TSV    ? tsv_row(table, cells, err)
	             : table->format == TABLE_JSON ? json_row(table, cells, err)
	                                           : human_row(table, cells, err);
	table->rows++;
	return result;
}

int table_end(struct table *table, struct pp_error *err)
{
	if (table->format == TABLE_ALIGNED)
		return aligned_flush(table, err);
	return table->format == TABLE_JSON ? pp_sink_str(table->sink, table->rows > 0 ? "\n]\n" : "]\n", err) : 0;
}
