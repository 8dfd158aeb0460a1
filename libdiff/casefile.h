/* The text files of a case folder → structs. Each function takes the whole text of one file; mistakes
 * are PP_EFORMAT with "line N: …". Rows are tab-separated with the escapes of tsv.h; empty lines and
 * lines that begin with '#' are skipped; a carriage return at a line's end is let pass. */
#ifndef PD_CASEFILE_H
#define PD_CASEFILE_H

#include "libpprof/pprof.h"

#define PD_CASE_MAX_BYTES ((size_t)16 << 20) /* of one text file */

/* key, value: case.tsv, and the provenance beside a profile. Keys are lower case words; a key may be
 * given once. */
struct pd_fact {
	const char *key, *value;
	uint32_t line;
};
struct pd_facts {
	struct pp_arena *arena;
	struct pd_fact *facts; /* in file order */
	size_t facts_n;
};
struct pd_facts *pd_facts_parse(struct pp_str text, struct pp_error *err) PP_MUSTUSE;
void pd_facts_free(struct pd_facts *facts); /* NULL is fine */
/* The value of a key, or NULL when it is not given or empty. facts may be NULL. */
const char *pd_facts_get(const struct pd_facts *facts, const char *key);
uint32_t pd_facts_line(const struct pd_facts *facts, const char *key); /* 0 when it is not given */
/* Takes a fact over from others, if they give it and these do not. */
int pd_facts_adopt(struct pd_facts *facts, const struct pd_facts *from, const char *key, struct pp_error *err) PP_MUSTUSE;

/* A plain decimal number ≥ 0, without locale, sign and exponent; false: it is none. */
bool pd_amount_parse(struct pp_str text, double *value);

/* A window of time, UTC, [from, to). */
struct pd_window {
	bool given;
	int64_t from_ns, to_ns;
};
/* NAME_from and NAME_to; both or neither, from before to. */
int pd_facts_window(const struct pd_facts *facts, const char *name, struct pd_window *window,
                    struct pp_error *err) PP_MUSTUSE;

/* load.tsv: a header row, then a row a replica or window. Columns: side (baseline, incident, control),
 * and optionally pod, version, window_s (seconds); the first other column is the denominator
 * ("requests"), those after it are the same by label value ("/checkout"). Numbers are not negative. */
enum pd_load_side { PD_LOAD_BASELINE, PD_LOAD_INCIDENT, PD_LOAD_CONTROL };
struct pd_load_row {
	enum pd_load_side side;
	const char *pod, *version; /* "" when not given */
	double window_s;           /* 0 when not given */
	double total;              /* of the denominator */
	const double *by_value;    /* values_n */
	uint32_t line;
};
struct pd_load {
	struct pp_arena *arena;
	const char *denominator;   /* "requests" */
	const char **values;       /* label values with a column of their own */
	size_t values_n;
	struct pd_load_row *rows;
	size_t rows_n;
};
struct pd_load *pd_load_parse(struct pp_str text, struct pp_error *err) PP_MUSTUSE;
void pd_load_free(struct pd_load *load);
/* The row of a profile: that side, and the pod whose name the file name begins with ("shop-1" for
 * "shop-1.cpu.pb.gz"; the longest such). A side with one row without a pod has it for all of its files
 * only when the side has one profile (files_n == 1). NULL when there is none. */
const struct pd_load_row *pd_load_find(const struct pd_load *load, enum pd_load_side side,
                                       const char *file_name, size_t files_n);

/* symptoms.tsv: source, claim, "supports", "contradicts" or "context", and optionally a link. A first
 * row "source claim …" is a header. */
enum pd_bearing { PD_SUPPORTS, PD_CONTRADICTS, PD_CONTEXT };
struct pd_symptom {
	const char *source, *claim, *link; /* link may be "" */
	enum pd_bearing bearing;
	uint32_t line;
};
struct pd_symptoms {
	struct pp_arena *arena;
	struct pd_symptom *rows;
	size_t rows_n;
};
struct pd_symptoms *pd_symptoms_parse(struct pp_str text, struct pp_error *err) PP_MUSTUSE;
void pd_symptoms_free(struct pd_symptoms *symptoms);

/* changed.txt: a file or function a line. */
struct pd_changed {
	struct pp_arena *arena;
	const char **names;
	size_t names_n;
};
struct pd_changed *pd_changed_parse(struct pp_str text, struct pp_error *err) PP_MUSTUSE;
void pd_changed_free(struct pd_changed *changed);
/* Whether a frame is one of them: the function's name or its last part, or a path of which one ends
 * with the other at a '/'. The index, or SIZE_MAX. */
size_t pd_changed_find(const struct pd_changed *changed, struct pp_str name, struct pp_str file);

#endif
