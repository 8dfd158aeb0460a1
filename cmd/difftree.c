/* The call tree of a comparison: a row a path of calls, callers before callees. */
#include "cmd/diffprint_parts.h"

#include <stdlib.h>
#include <string.h>

/* The promised columns of rows, then those of paths, then the other ones of rows. */
enum { LEADING_N = DIFFROWS_NAME + 1, DEPTH = LEADING_N, Q_WITHIN, DEEPEST, REST, COLUMNS_N = DIFFROWS_COLUMNS_N + REST - LEADING_N };

bool difftree_changed(const struct pd_comparison *c, const struct pd_path *path)
{
	const struct pd_row *row = &path->row;
	if (c->noise == PD_NOISE_UNKNOWN)
		return row->flat[0] != row->flat[1] || row->cum[0] != row->cum[1];
	return path->q_within < DIFFPRINT_SIGNIFICANT;
}

/* People see what a path costs in all first, and of itself the change alone. */
static void set_columns(struct table_column columns[COLUMNS_N], const struct pd_comparison *c)
{
	struct table_column of_rows[DIFFROWS_COLUMNS_N];
	diffrows_columns(of_rows, c);
	memcpy(columns, of_rows, LEADING_N * sizeof(*columns));
	memcpy(columns + REST, of_rows + LEADING_N, (DIFFROWS_COLUMNS_N - LEADING_N) * sizeof(*columns));
	columns[DEPTH] = (struct table_column){"depth", NULL, TABLE_INTEGER, {0}, false};
	columns[Q_WITHIN] = (struct table_column){"q_within", NULL, TABLE_REAL, {0}, false};
	columns[DEEPEST] = (struct table_column){"deepest", NULL, TABLE_TEXT, {0}, false};
	for (int i = REST; i < COLUMNS_N; i++)
		columns[i].title = NULL;
	for (int i = 0; i < DIFFROWS_DELTA_FLAT; i++)
		columns[i].title = NULL;
}

static void set_cells(union table_cell cells[COLUMNS_N], const struct pd_comparison *c, const struct pd_path *path,
                      struct diffrows_text *text)
{
	union table_cell of_row[DIFFROWS_COLUMNS_N];
	diffrows_cells(of_row, c, &path->row, text);
	memcpy(cells, of_row, LEADING_N * sizeof(*cells));
	memcpy(cells + REST, of_row + LEADING_N, (DIFFROWS_COLUMNS_N - LEADING_N) * sizeof(*cells));
	cells[DEPTH].i = path->depth;
	cells[Q_WITHIN].real = diffprint_six_digits(path->q_within);
	cells[DEEPEST].text = path->deepest ? PP_LIT("deepest") : PP_LIT("");
}

/* Names for people: a mark for the deepest, and a blank a caller. *indented holds the last one. */
static int indent(union table_cell *cell, const struct pd_path *path, char **indented, struct pp_error *err)
{
	size_t before = 2 + (size_t)path->depth;
	char *text = realloc(*indented, before + cell->text.len + 1);
	if (!text)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a name");
	memset(text, ' ', before);
	text[0] = path->deepest ? '*' : ' ';
	if (cell->text.len)
		memcpy(text + before, cell->text.ptr, cell->text.len);
	cell->text = (struct pp_str){text, before + cell->text.len};
	*indented = text;
	return 0;
}

static bool is_wanted(const struct diffprint *what, const struct pd_path *path)
{
	return what->all || difftree_changed(what->comparison, path);
}

int difftree_print(const struct diffprint *what, enum table_format format, struct pp_sink *sink, struct pp_error *err)
{
	const struct pd_comparison *c = what->comparison;
	struct table_column columns[COLUMNS_N];
	char *indented = NULL;
	uint64_t printed = 0;
	set_columns(columns, c);
	struct table *table = table_new_in(diffrows_unit(what), format, columns, COLUMNS_N, sink, err);
	int result = table ? 0 : -1;
	for (size_t i = 0; result == 0 && i < c->paths_n && printed < what->limit; i++) {
		union table_cell cells[COLUMNS_N];
		struct diffrows_text text;
		if (!is_wanted(what, &c->paths[i]))
			continue;
		set_cells(cells, c, &c->paths[i], &text);
		if (format != TABLE_TSV)
			result = indent(&cells[DIFFROWS_NAME], &c->paths[i], &indented, err);
		if (result == 0)
			result = table_row(table, cells, err);
		printed++;
	}
	if (result == 0)
		result = table_end(table, err);
	free(indented);
	table_free(table);
	return result;
}

struct pp_json *difftree_json(const struct diffprint *what)
{
	const struct pd_comparison *c = what->comparison;
	struct table_column columns[COLUMNS_N];
	struct pp_json *paths = pp_json_array();
	uint64_t printed = 0;
	set_columns(columns, c);
	for (size_t i = 0; i < c->paths_n && printed < what->limit; i++) {
		union table_cell cells[COLUMNS_N];
		struct diffrows_text text;
		if (!is_wanted(what, &c->paths[i]))
			continue;
		set_cells(cells, c, &c->paths[i], &text);
		pp_json_add(paths, NULL, table_row_json(columns, COLUMNS_N, cells));
		printed++;
	}
	return paths;
}
