/* Changes of a profile that take no sample away. Each gives a new profile. */
#ifndef PP_TRANSFORM_H
#define PP_TRANSFORM_H

#include "libpprof/frame.h"
#include "libpprof/limits.h"
#include "libpprof/profile.h"

enum pp_rounding { PP_ROUND_NEAREST /* halves away from zero */, PP_ROUND_TO_ZERO };

/* Multiplies each column by its factor. PP_EOVERFLOW when a product does not fit 64 bits. */
struct pp_profile *pp_scale(const struct pp_profile *profile, const double *factors, enum pp_rounding rounding,
                            const struct pp_limits *limits, struct pp_error *err) PP_MUSTUSE;

/* Leaves of each location only the function that physically holds the code. */
struct pp_profile *pp_without_inlines(const struct pp_profile *profile, const struct pp_limits *limits,
                                      struct pp_error *err) PP_MUSTUSE;

/* Cuts the first of these folders ("A:B:…", and /proc/self/cwd) that a source file is under off its name. One that
 * begins with a star and a slash may have any folders above it; the first place where the name has it counts. */
struct pp_profile *pp_trim_paths(const struct pp_profile *profile, const char *folders,
                                 const struct pp_limits *limits, struct pp_error *err) PP_MUSTUSE;

/* Blanks what rows of this granularity do not tell apart: names, files, lines, columns, addresses. Code without
 * symbols keeps its addresses by frames. Samples and locations stay apart; a sum unites them. */
struct pp_profile *pp_blank(const struct pp_profile *profile, enum pp_granularity by, const struct pp_limits *limits,
                            struct pp_error *err) PP_MUSTUSE;

/* The sum of |value| of a column, to which shares refer: in a difference, of the baseline's samples (label
 * pprof::base=true) alone, if those are not all 0. */
int pp_total(const struct pp_profile *profile, uint32_t column, int64_t *total, struct pp_error *err) PP_MUSTUSE;

/* The same with the signs of the values. */
int pp_total_signed(const struct pp_profile *profile, uint32_t column, int64_t *total, struct pp_error *err) PP_MUSTUSE;

/* Totals outlive filters: one that was taken before samples went is kept as a comment of the profile,
 * "#total before filters: TYPE/UNIT N". False when there is none. Sums of profiles have none. */
bool pp_total_recorded(const struct pp_profile *profile, uint32_t column, int64_t *total);
/* A copy with these totals, by column, in place of others (NULL: without any), and with this column's type
 * as the default (PP_NONE: as it was). */
struct pp_profile *pp_record_totals(const struct pp_profile *profile, const int64_t *totals, uint32_t default_column,
                                    const struct pp_limits *limits, struct pp_error *err) PP_MUSTUSE;
/* Whether a comment is such a record. */
bool pp_is_total(struct pp_str comment);

/* A copy with these comments, NUL-terminated, behind those that are there. */
struct pp_profile *pp_add_comments(const struct pp_profile *profile, const char *const *comments, size_t n,
                                   const struct pp_limits *limits, struct pp_error *err) PP_MUSTUSE;

#endif
