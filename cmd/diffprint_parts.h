/* What the parts of diffprint share. */
#ifndef DIFFPRINT_PARTS_H
#define DIFFPRINT_PARTS_H

#include "cmd/diffprint.h"

#define DIFFPRINT_SIGNIFICANT PD_CHANGED_Q

/* What mathematical libraries agree on everywhere: six digits. NAN and infinities stay. */
double diffprint_six_digits(double value);

/* What the tests know of noise, in words. */
const char *diffprint_noise(const struct pd_comparison *comparison);

/* Rows with a change come first, so those to print are a prefix: so many. */
size_t diffrows_n(const struct diffprint *what);
/* The unit that rows are shown in: "" is their own. */
struct pp_str diffrows_unit(const struct diffprint *what);
bool diffrows_any_change(const struct pd_comparison *comparison);

int diffrows_print(const struct diffprint *what, enum table_format format, struct pp_sink *sink,
                   struct pp_error *err) PP_MUSTUSE;
struct pp_json *diffrows_json(const struct diffprint *what) PP_MUSTUSE;

/* The same for paths of calls: callers before callees. */
int difftree_print(const struct diffprint *what, enum table_format format, struct pp_sink *sink,
                   struct pp_error *err) PP_MUSTUSE;
struct pp_json *difftree_json(const struct diffprint *what) PP_MUSTUSE;
/* Paths on or below which something changed; where that is not tested, those with any change. */
bool difftree_changed(const struct pd_comparison *comparison, const struct pd_path *path);

/* The columns of rows, for other tables that begin with them. */
enum { DIFFROWS_COLUMNS_N = 45, DIFFROWS_DELTA_FLAT = 2, DIFFROWS_NAME = 8 };
struct diffrows_text { /* what cells point to */
	char line[32], address[32];
};
void diffrows_columns(struct table_column columns[DIFFROWS_COLUMNS_N], const struct pd_comparison *comparison);
void diffrows_cells(union table_cell cells[DIFFROWS_COLUMNS_N], const struct pd_comparison *comparison,
                    const struct pd_row *row, struct diffrows_text *text);

/* The outcome as one paragraph, cut at n bytes. */
void diffsummary(char *out, size_t n, const struct diffprint *what);
int diffwords_print(const struct diffprint *what, bool markdown, struct pp_sink *sink,
                    struct pp_error *err) PP_MUSTUSE;
int diffjson_print(const struct diffprint *what, struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;

#endif
