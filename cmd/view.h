/* What of a profile a command looks at: the options that all viewing tools share, and the profile that they
 * leave. `pprof-filter OPTIONS X | TOOL` is `TOOL OPTIONS X`. */
#ifndef VIEW_H
#define VIEW_H

#include "cmd/input.h"

struct view {
	struct pp_view filters;
	const char *sample_type;
	bool relative; /* shares refer to what the filters leave */
};
#define VIEW_INIT {PP_VIEW_ALL, NULL, false}
/* struct pp_view *: the filters alone. */
#define VIEW_FILTER_OPTIONS(f)                                                                             \
	{"focus", 0, CLI_STRING, &(f)->names.focus, "REGEX", "keep stacks with a frame that matches", 0, 0, NULL}, \
	{"ignore", 0, CLI_STRING, &(f)->names.ignore, "REGEX", "drop stacks with a frame that matches", 0, 0, NULL}, \
	{"hide", 0, CLI_STRING, &(f)->names.hide, "REGEX", "cut out frames that match", 0, 0, NULL},         \
	{"show", 0, CLI_STRING, &(f)->names.show, "REGEX", "keep only frames that match", 0, 0, NULL},       \
	{"show-from", 0, CLI_STRING, &(f)->names.show_from, "REGEX", "drop what is above the outermost match", 0, 0, NULL}, \
	{"prune-from", 0, CLI_STRING, &(f)->prune_from, "REGEX", "drop what is below the innermost match", 0, 0, NULL}, \
	{"tagfocus", 0, CLI_STRING, &(f)->tags.tagfocus, "[KEY=]WHAT", "keep samples whose labels match: regexes, or a range", 0, 0, NULL}, \
	{"tagignore", 0, CLI_STRING, &(f)->tags.tagignore, "[KEY=]WHAT", "drop samples whose labels match", 0, 0, NULL}, \
	{"tagshow", 0, CLI_STRING, &(f)->tags.tagshow, "REGEX", "keep only labels whose key matches", 0, 0, NULL}, \
	{"taghide", 0, CLI_STRING, &(f)->tags.taghide, "REGEX", "drop labels whose key matches", 0, 0, NULL}, \
	{"tagroot", 0, CLI_STRING, &(f)->tagroot, "KEY,...", "labels as frames at the root", 0, 0, NULL},    \
	{"tagleaf", 0, CLI_STRING, &(f)->tagleaf, "KEY,...", "labels as frames at the leaf", 0, 0, NULL},    \
	{"noinlines", 0, CLI_FLAG, &(f)->no_inlines, NULL, "give inlined code to the function that holds it", 0, 0, NULL}, \
	{"trim-path", 0, CLI_STRING, &(f)->trim_path, "DIR[:DIR]...", "cut these folders off file names", 0, 0, NULL}, \
	{"scale", 0, CLI_REAL, &(f)->scale, "FACTOR", "multiply values, rounding to the nearest", 0, 0, NULL}
#define VIEW_OPTIONS(v)                                                                                    \
	INPUT_SAMPLE_TYPE_OPTION(&(v)->sample_type),                                                       \
	VIEW_FILTER_OPTIONS(&(v)->filters),                                                                \
	{"relative-percentages", 0, CLI_FLAG, &(v)->relative, NULL, "shares of what the filters leave", 0, 0, NULL}

/* For a command that has no use for columns and shares: whether there is any filter; and what they leave, in place of
 * *profile. *unmatched gets the options that matched nothing. Says what fails. */
bool view_is_set(const struct pp_view *filters);
enum cli_status view_filter(const struct pp_view *filters, const struct pp_limits *limits, const char *name,
                            struct pp_unmatched *unmatched, struct pp_profile **profile);
/* Leaves in *all what is in *one, too: options that matched nothing in any profile. */
void view_join_unmatched(struct pp_unmatched *all, const struct pp_unmatched *one);

/* What viewing tools do with rows, beside VIEW_OPTIONS. */
struct view_rows {
	bool mean;            /* values are divided by those of the first sample type */
	bool drop_negative;   /* rows below 0 go */
	double divide_by;     /* shown values are, rounded to 0; shares stay */
	double node_fraction; /* rows of less than this share of the sum go */
	uint64_t node_count;  /* rows after so many go; 0 is all */
	const char *unit;     /* to show values in: see view_unit */
};
#define VIEW_ROWS_INIT {false, false, 1, 0, 0, NULL}
#define VIEW_UNIT_OPTION(name)                                                                             \
	{"unit", 0, CLI_STRING, (name), "UNIT", "show values in this unit; minimum: that of the smallest row", 0, 0, NULL}
#define VIEW_ROW_OPTIONS(r)                                                                                \
	VIEW_UNIT_OPTION(&(r)->unit),                                                                      \
	{"mean", 0, CLI_FLAG, &(r)->mean, NULL, "divide values by those of the first sample type", 0, 0, NULL}, \
	{"divide-by", 0, CLI_REAL, &(r)->divide_by, "N", "divide the values shown, rounding to 0", 0, 0, NULL}, \
	{"drop-negative", 0, CLI_FLAG, &(r)->drop_negative, NULL, "leave out rows below 0", 0, 0, NULL}, \
	{"nodecount", 0, CLI_COUNT, &(r)->node_count, "N", "leave out rows after so many; 0 is all", 0, UINT32_MAX, NULL}, \
	{"nodefraction", 0, CLI_REAL, &(r)->node_fraction, "SHARE", "leave out rows below this share of the sum", 0, 1, NULL}

/* A profile seen through these options. */
struct viewed {
	struct pp_profile *profile;
	struct pp_limits limits; /* of what is made of it */
	uint32_t column;
	int64_t *totals; /* by column: what shares refer to; -1 where it does not fit */
	int64_t mean_of; /* what a mean total is divided by: the sum of the first column */
	bool recorded;   /* the totals are not those of the profile as it is now */
};

/* Reads a profile and applies the options. origin may be NULL. Says what fails, and which options matched
 * nothing. *viewed is to be released in any case. */
enum cli_status view_open(const struct view *view, const struct input *input, const char *name,
                          struct pp_origin *origin, struct viewed *viewed);
/* Applies them to viewed->profile, which is there already, with its limits; of name, for messages. */
enum cli_status view_apply(const struct view *view, const char *name, struct viewed *viewed);
/* What shares of the chosen column refer to; with mean, a mean. */
int64_t view_total(const struct viewed *viewed, bool mean);
/* value as it is shown: divided by `of`, unless that is 0, for a mean. */
int64_t view_mean(int64_t value, int64_t of);
/* value * 1/divide_by, without its fraction. */
int64_t view_divided(const struct view_rows *rows, int64_t value);
/* The unit that --unit asks for, of values in unit from: "" where nothing is asked for, or auto: programs get values as
 * they are, people each in the unit that fits. For minimum, it is pp_unit_of_report of the smallest size among the rows
 * shown but 0, and of the total. A unit that does not fit becomes the family's default, with a warning that names those
 * that do. */
void view_unit(const char *asked, struct pp_str from, int64_t least, int64_t total, struct pp_str *unit);
/* Takes a row into the smallest size: its flat value, or where that is 0 the cumulative one. */
void view_take_least(int64_t *least, int64_t flat, int64_t cum);
/* value as people read it: in unit, or the one that fits. */
const char *view_value_text(char *out, size_t out_n, int64_t value, struct pp_str from, struct pp_str unit);
enum cli_status view_check_rows(const struct view_rows *rows);
void viewed_release(struct viewed *viewed);

#endif
