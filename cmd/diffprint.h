/* A comparison → rows for programs, words and rows for people, or one JSON object. */
#ifndef DIFFPRINT_H
#define DIFFPRINT_H

#include "cmd/table.h"
#include "libdiff/explain.h"

struct diffprint {
	const struct pd_comparison *comparison;
	const struct pd_comparison *control;      /* what the rows' "beyond" refers to; NULL without one */
	bool same_baseline;                       /* the control was compared with the comparison's baseline */
	const struct pd_explanation *explanation; /* for words and JSON; NULL for TSV */
	enum pp_granularity by;
	bool call_tree; /* paths of calls instead of frames; JSON has both */
	bool all;       /* also rows without any change */
	uint64_t limit; /* print the first so many rows */
	const char *unit; /* to show rows in, as view_unit takes it; not in JSON */
};

/* Writes it in the format (not AUTO). */
int diffprint(const struct diffprint *what, enum table_format format, struct pp_sink *sink,
              struct pp_error *err) PP_MUSTUSE;

/* Whether something changed beyond sampling noise (some q < 0.05, of a frame or a path) or, where samples are not counted,
 * at all. */
bool diffprint_changed(const struct pd_comparison *comparison);

#endif
