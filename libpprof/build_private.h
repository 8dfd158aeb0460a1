/* The inside of building. What only the reader of profile.proto asks of a builder: a file's string
 * table is kept as it is, and a file's samples come before the locations that they name. */
#ifndef PP_BUILD_PRIVATE_H
#define PP_BUILD_PRIVATE_H

#include "libpprof/build.h"

/* Appends a string without looking for an equal one. The first must be "". A builder takes its
 * strings in this way or through pp_build_string, never both. */
uint32_t pp_build_string_append(struct pp_build *build, struct pp_str bytes);

/* As pp_build_sample, with n values whatever the sample types are so far: the first row decides how
 * many every row has (another n is a mistake of the caller), and finish wants as many sample types. */
uint32_t pp_build_row(struct pp_build *build, uint32_t stack, uint32_t label_list, const int64_t *values,
                      uint32_t n);

/* Replaces location index i by new_index[i] in all stacks; where that is PP_NONE the location is cut out,
 * and stacks that become equal become one. *dropped counts what was cut out, once a sample. new_index is
 * else one to one, and is indexed by all that was given to pp_build_stack. Stacks are complete from
 * then on: pp_build_stack may not be called again. */
int pp_build_remap_locations(struct pp_build *build, const uint32_t *new_index, uint64_t *dropped);

/* Records a note that stands for `times` occurrences; nothing when that is 0. */
int pp_build_note_times(struct pp_build *build, uint64_t offset, uint64_t times, const char *format, ...)
	PP_PRINTF(4, 5);

/* Label lists that became equal, because their labels were changed in place, become one. Lists are complete
 * from then on. */
int pp_build_unite_label_lists(struct pp_build *build);

/* The work of the two above on the tables themselves. */
int pp_repair_stacks(struct pp_profile *profile, const uint32_t *new_index, uint64_t *dropped,
                     struct pp_error *err) PP_MUSTUSE;
int pp_repair_label_lists(struct pp_profile *profile, struct pp_error *err) PP_MUSTUSE;

/* Whether all cross references of a profile hold and its ids are distinct; PP_EFORMAT names what is
 * broken by table and index. Part of pp_build_finish. */
int pp_build_check(const struct pp_profile *profile, struct pp_error *err) PP_MUSTUSE;

#endif
