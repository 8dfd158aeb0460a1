/* Filters by labels, which the options call tags. */
#ifndef PP_TAGFILTER_H
#define PP_TAGFILTER_H

#include "libpprof/focus.h"

/* NULL or "" is not set. tagfocus and tagignore: "[KEY=]RANGE" or "[KEY=]EXPRESSION,…".
 *
 * A range is N, N:, :N or N:M, bounds included, each N a whole number with an optional unit ("32kb", "-5",
 * "1s:"); it matches a numeric label (of that key) whose value lies in it, in a unit of the same family.
 * Expressions are matched with string labels: with a key, one must match one value of it; without, each
 * must match some "key:value". */
struct pp_tagfilter {
	const char *tagfocus;  /* keep samples that match */
	const char *tagignore; /* drop samples that match; it wins */
	const char *tagshow;   /* an expression: keep labels whose key matches */
	const char *taghide;   /* drop labels whose key matches */
};

/* A new profile in *out, or NULL there when no option is set. */
int pp_tagfilter(const struct pp_profile *profile, const struct pp_tagfilter *filter,
                 const struct pp_limits *limits, struct pp_unmatched *unmatched, struct pp_profile **out,
                 struct pp_error *err) PP_MUSTUSE;

/* Whether a reader of the reference's kind sees the label at all: it forgets numbers that are 0 and have no
 * unit. */
static inline bool pp_label_counts(const struct pp_label *label)
{
	return label->str != 0 || label->num != 0 || label->num_unit != 0;
}

/* The unit of every numeric label key, by string index; others are "". The first unit that is given, else
 * bytes for "request" and "alignment", else the key. malloc'ed, for free(). */
int pp_label_units(const struct pp_profile *profile, struct pp_str **units, struct pp_error *err) PP_MUSTUSE;

#endif
