/* What of a profile is looked at: all filters and changes, in the reference's order. Shares refer to the
 * total that is taken between the two steps (pp_total), or after both with "relative". */
#ifndef PP_VIEW_H
#define PP_VIEW_H

#include "libpprof/focus.h"
#include "libpprof/tagfilter.h"

/* NULL and "" are not set. */
struct pp_view {
	double scale;          /* every value times this; 0 and 1: as it is */
	const char *tagroot, *tagleaf; /* tagframe.h */
	struct pp_focus names;
	struct pp_tagfilter tags;
	const char *prune_from; /* prune.h */
	bool no_inlines;        /* transform.h */
	const char *trim_path;
};
#define PP_VIEW_ALL {.scale = 1}

/* The first step: values, and labels as frames. Replaces *profile, which stays as it is on failure. */
int pp_view_prepare(const struct pp_view *view, const struct pp_limits *limits, struct pp_unmatched *unmatched,
                    struct pp_profile **profile, struct pp_error *err) PP_MUSTUSE;
/* The second: what is kept, by name and then by label, and how it is shown. */
int pp_view_filter(const struct pp_view *view, const struct pp_limits *limits, struct pp_unmatched *unmatched,
                   struct pp_profile **profile, struct pp_error *err) PP_MUSTUSE;

#endif
