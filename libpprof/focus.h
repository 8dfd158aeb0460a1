/* Filters by the names of functions, files and binaries. */
#ifndef PP_FOCUS_H
#define PP_FOCUS_H

#include "libpprof/error.h"
#include "libpprof/limits.h"
#include "libpprof/profile.h"

/* Expressions, as in regex.h; NULL or "" is not set. A location matches when the function or file of one of
 * its lines does, or its binary. */
struct pp_focus {
	const char *focus;     /* keep stacks with a match */
	const char *ignore;    /* drop stacks with a match; it wins */
	const char *hide;      /* cut out matching lines */
	const char *show;      /* keep matching lines only */
	const char *show_from; /* drop what is above the match nearest the root, and stacks without one */
};

/* Options that matched nothing, by name ("focus", "tagshow"): worth a warning. */
struct pp_unmatched {
	const char *option[12];
	size_t n;
};
void pp_unmatched_add(struct pp_unmatched *unmatched, const char *option);

/* A new profile in *out, or NULL there when no option is set. As in the reference, any option also drops
 * samples without a stack, and show drops code without symbols. PP_EUSAGE names a bad expression. */
int pp_focus(const struct pp_profile *profile, const struct pp_focus *focus, const struct pp_limits *limits,
             struct pp_unmatched *unmatched, struct pp_profile **out, struct pp_error *err) PP_MUSTUSE;

#endif
