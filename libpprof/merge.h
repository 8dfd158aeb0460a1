/* Sum of profiles, as the reference merges: samples with equal stack and labels are added, tables
 * are united by content, samples that sum to all zero are left out, and so are the functions and locations
 * that no sample uses.
 *
 * Identity: a function by (start_line, name, system_name, filename); a mapping by (size rounded up
 * to 4096, offset, build id or else file name); a location by (address - mapping start, mapping,
 * lines with their columns, is_folded); labels by key, whatever their order, and for several of one
 * key in order.
 * Header: sample types must be the same by name and kind of unit, in any order, and the finest unit
 * wins; so must period types, where given. period is the largest, duration the sum (which stops at the
 * largest number, with a note), time the earliest that is given; comments are the union.
 *
 * No byte of the sum depends on the order of the profiles, nor on how they were grouped: a sum of sums is
 * the sum of all (but for a sum in between that overflows). Hence rows and tables are sorted by
 * content, and where the reference takes what the first profile says, the smallest by bytes of what is
 * given is taken: default_sample_type, doc_url, drop_frames with keep_frames, the order of columns,
 * and the start, limit and file name of a mapping. A mapping's has_ flags are those that all
 * have. Mappings stay, used or not, and the first is the smallest of those that come first in a
 * profile, one that is added rather than subtracted. Comments keep their order when all profiles have the same, else they are sorted. Ids are
 * 1, 2, 3… Unknown fields are not merged; a note says so. */
#ifndef PP_MERGE_H
#define PP_MERGE_H

#include "libpprof/error.h"
#include "libpprof/limits.h"
#include "libpprof/profile.h"

/* One profile at a time, so that memory follows the distinct stacks and not the number of files. */
struct pp_merge;
struct pp_merge *pp_merge_new(const struct pp_limits *limits, struct pp_error *err) PP_MUSTUSE;
void pp_merge_free(struct pp_merge *merge);

/* Before the first profile: sample types that not all profiles have are left out instead of refused, by name
 * and kind of unit. Samples that then are all 0 go. A default sample type that is left out becomes the
 * first of those that all have, as in the reference. */
void pp_merge_take_common(struct pp_merge *merge);

/* Adds sign * profile (sign is 1 or -1; durations are added all the same, as in the reference).
 * PP_EINCOMPAT names what differs, PP_EOVERFLOW a sum that does not fit; after a failure the merge is
 * only good for pp_merge_free. extra labels every sample of this profile with the text key=value (NULL
 * for none), in place of texts of that key, as the reference marks base samples of a difference with
 * pprof::base=true. */
struct pp_merge_label {
	const char *key, *value;
};
int pp_merge_add(struct pp_merge *merge, const struct pp_profile *profile, int sign,
                 const struct pp_merge_label *extra, struct pp_error *err) PP_MUSTUSE;
/* Adds those samples s alone for which part_of[s] is part, as if the profile had no others. */
struct pp_merge_some {
	const uint32_t *part_of;
	uint32_t part;
};
int pp_merge_add_some(struct pp_merge *merge, const struct pp_profile *profile, const struct pp_merge_some *some,
                      struct pp_error *err) PP_MUSTUSE;
/* The sum; once. The merge is then only good for pp_merge_free. */
struct pp_profile *pp_merge_finish(struct pp_merge *merge, struct pp_error *err) PP_MUSTUSE;

/* The sum of n ≥ 1 profiles. */
struct pp_profile *pp_merge_all(const struct pp_profile *const *profiles, size_t n,
                                const struct pp_limits *limits, struct pp_error *err) PP_MUSTUSE;

#endif
