/* One way to print rows: TSV for programs, an aligned table with human units for people, JSON (an
 * array of objects) and Markdown. People see numbers first and names last, whatever the order in TSV. */
#ifndef TABLE_H
#define TABLE_H

#include "cmd/cli.h"
#include "cmd/output.h"

enum table_format { TABLE_TSV, TABLE_ALIGNED, TABLE_JSON, TABLE_MARKDOWN, TABLE_AUTO };
extern const char *const table_format_names[]; /* for CLI_CHOICE: tsv, table, json, markdown */
/* int *format, AUTO at first. */
#define TABLE_FORMAT_OPTION(format)                                                                        \
	{"format", 0, CLI_CHOICE, (format), "FORMAT", "table on a terminal, else tsv", 0, 0, table_format_names}
/* AUTO becomes ALIGNED on a terminal, TSV elsewhere. */
enum table_format table_format_for(enum table_format asked, const struct output *output);

enum table_type {
	TABLE_INTEGER, /* i; TSV: raw, in the base unit; people: with unit, signed where signs is set */
	TABLE_SHARE,   /* real, 1 = all; TSV, JSON: 6 significant digits; people: percent */
	TABLE_REAL,    /* real; TSV, JSON: 10 significant digits. NAN: nothing in TSV, null in JSON, "-" for people */
	TABLE_DECIMAL, /* text, a number as pp_unit_decimal writes it */
	TABLE_TEXT     /* text, raw bytes: escaped in TSV, masked for people */
};

struct table_column {
	const char *name;   /* the TSV and JSON name: a promise to scripts */
	const char *title;  /* the heading for people; NULL: not shown to people */
	enum table_type type;
	struct pp_str unit; /* INTEGER, REAL: for people; a REAL in bytes or of time is rounded */
	bool signs;         /* INTEGER, SHARE: people see + as well as - */
};

union table_cell {
	int64_t i;
	double real;
	struct pp_str text;
};

struct table;
/* columns and sink must outlive the table; cells are only read during the call. */
struct table *table_new(enum table_format format, const struct table_column *columns, size_t columns_n,
                        struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;
/* The same, with the values of all columns whose unit can be converted in this one: "" is none. In TSV and JSON, numbers
 * are those of pp_unit_decimal and the columns are called NAME:UNIT. */
struct table *table_new_in(struct pp_str unit, enum table_format format, const struct table_column *columns,
                           size_t columns_n, struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;
void table_free(struct table *table);
int table_row(struct table *table, const union table_cell *cells, struct pp_error *err) PP_MUSTUSE;
int table_end(struct table *table, struct pp_error *err) PP_MUSTUSE; /* flushes what alignment held back */

/* One row as a JSON object, for results that hold rows beside other things. */
struct pp_json *table_row_json(const struct table_column *columns, size_t columns_n, const union table_cell *cells) PP_MUSTUSE;

#endif
