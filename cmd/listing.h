/* What pprof-list prints: functions by name and file, and the values of their lines; of a profile, or of the
 * difference of two. */
#ifndef LISTING_H
#define LISTING_H

#include "cmd/view.h"

struct listing_values {
	int64_t flat, cum;                   /* of the profile, less those of the baseline */
	int64_t baseline_flat, baseline_cum; /* 0 without one */
};

/* One line of a function that has a value on either side. line 0: not known. */
struct listing_line {
	int64_t line, start_line; /* of the function, 0: not given */
	struct listing_values values;
};

/* A function of a file. Strings are borrowed from the listing. cum counts a sample once. */
struct listing_routine {
	struct pp_str name, file;
	struct listing_values values;
	const struct listing_line *lines; /* by number */
	size_t lines_n;
};

struct listing {
	struct listing_routine *routines; /* by name, then by file */
	size_t routines_n;
	struct pp_str unit;
	int64_t total; /* what shares refer to: the baseline's, if there is one */
	/* private */
	struct pp_frames *by_line, *by_function;
	struct listing_line *lines;
};

/* Functions whose names match. baseline may be NULL. The viewed profiles must outlive the listing. PP_EUSAGE for a
 * pattern that is wrong or matches nothing, PP_EINCOMPAT for sample types that differ. To be
 * released in any case. */
int listing_make(const struct viewed *profile, const struct viewed *baseline, const char *pattern,
                 struct listing *listing, struct pp_error *err) PP_MUSTUSE;
void listing_release(struct listing *listing);

#endif
