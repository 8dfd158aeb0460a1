/* The samples of a profile as rows, and what its labels add up to. */
#ifndef LABELS_H
#define LABELS_H

#include "cmd/table.h"
#include "cmd/view.h"

/* A row a sample, a label, a frame. The values of samples are in shown, unless that is "". */
int labels_print_traces(const struct viewed *viewed, const struct view_rows *rows, struct pp_str shown,
                        enum pp_granularity by, struct table *table, struct pp_error *err) PP_MUSTUSE;
extern const struct table_column labels_trace_columns[];
extern const size_t labels_trace_columns_n;

/* A row a value of a label: keys by name, values by size of their sum, then by text. */
int labels_print_tags(const struct viewed *viewed, const struct view_rows *rows, struct table *table,
                      struct pp_error *err) PP_MUSTUSE;
enum { LABELS_TAG_COLUMNS = 7 };
void labels_tag_columns(const struct viewed *viewed, struct table_column columns[LABELS_TAG_COLUMNS]);

/* A row a comment. */
int labels_print_comments(const struct viewed *viewed, struct table *table, struct pp_error *err) PP_MUSTUSE;
extern const struct table_column labels_comment_columns[];
extern const size_t labels_comment_columns_n;

#endif
