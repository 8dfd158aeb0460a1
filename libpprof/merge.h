/* Sum of profiles, as the reference merges: samples with equal stack and labels are added, tables
 * are united by content, ids renumbered in order of first use.
 *
 * Identity: a function by (start_line, name, system_name, filename); a mapping by (size rounded up
 * to 4096, offset, build id or else file name); a location by (address - mapping start, mapping,
 * lines with their columns, is_folded); labels compared as sorted lists.
 * Header: sample types must agree by name and in unit family, the finest unit wins; period is the
 * largest, duration the sum, time the earliest that is given, comments the union in order, the
 * rest from the first profile that has it. Samples that sum to all zero are left out.
 * Merging is associative and, up to the order of rows, commutative. */
#ifndef PP_MERGE_H
#define PP_MERGE_H

#include "libpprof/error.h"
#include "libpprof/limits.h"
#include "libpprof/profile.h"

/* One profile at a time, so that memory follows the distinct stacks and not the number of files. */
struct pp_merge;
struct pp_merge *pp_merge_new(const struct pp_limits *limits, struct pp_error *err) PP_MUSTUSE;
void pp_merge_free(struct pp_merge *merge);

/* Adds sign * profile (sign is 1 or -1). PP_EINCOMPAT names what differs, PP_EOVERFLOW a sum that
 * does not fit. extra labels every sample of this profile with key=value (NULL for none), as the
 * reference marks base samples of a difference with pprof::base=true. */
struct pp_merge_label {
	const char *key, *value;
};
int pp_merge_add(struct pp_merge *merge, const struct pp_profile *profile, int sign,
                 const struct pp_merge_label *extra, struct pp_error *err) PP_MUSTUSE;
struct pp_profile *pp_merge_finish(struct pp_merge *merge, struct pp_error *err) PP_MUSTUSE;

/* The sum of n ≥ 1 profiles. */
struct pp_profile *pp_merge_all(const struct pp_profile *const *profiles, size_t n,
                                const struct pp_limits *limits, struct pp_error *err) PP_MUSTUSE;

#endif
