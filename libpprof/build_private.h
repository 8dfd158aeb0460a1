/* The inside of building. What only the reader of profile.proto asks of a builder: a file's string
 * table is kept as it is, and a file's samples come before the locations that they name. */
#ifndef PP_BUILD_PRIVATE_H
#define PP_BUILD_PRIVATE_H

#include "libpprof/build.h"

/* Appends a string without looking for an equal one. The first must be "". A builder takes its
 * strings in this way or through pp_build_string, never both. */
uint32_t pp_build_string_append(struct pp_build *build, struct pp_str bytes);

/* Replaces location index i by new_index[i] in all stacks. new_index must be one to one, and is
 * indexed by all that was given to pp_build_stack. Stacks are complete from then on:
 * pp_build_stack may not be called again. */
void pp_build_remap_locations(struct pp_build *build, const uint32_t *new_index);

/* Whether all cross references of a profile hold and its ids are distinct; PP_EFORMAT names what is
 * broken by table and index. Part of pp_build_finish. */
int pp_build_check(const struct pp_profile *profile, struct pp_error *err) PP_MUSTUSE;

#endif
