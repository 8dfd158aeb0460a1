/* The only way to make a profile: append its parts in any order that names parts before use, then
 * finish. Errors are sticky: after the first, every call returns PP_NONE or -1 and finish reports
 * it, so a caller may append freely and check once.
 *
 * Memory: one arena, bounded by limits.model_bytes; stacks and label lists are interned. */
#ifndef PP_BUILD_H
#define PP_BUILD_H

#include "libpprof/error.h"
#include "libpprof/limits.h"
#include "libpprof/profile.h"

struct pp_build;

/* limits are copied. NULL (with *err) without memory. */
struct pp_build *pp_build_new(const struct pp_limits *limits, struct pp_error *err) PP_MUSTUSE;
void pp_build_free(struct pp_build *build); /* NULL is fine; also after a failed finish */

/* The string with these bytes, made if new. "" is always index 0. */
uint32_t pp_build_string(struct pp_build *build, struct pp_str bytes);

/* Appends; the index of the new element. Ids: 0 in .id means "number it for me" (index + 1). Ids of
 * a kind must be all given or all 0. location's line_first and lines_n are ignored: lines are
 * copied from the argument. */
uint32_t pp_build_sample_type(struct pp_build *build, struct pp_value_type type);
uint32_t pp_build_mapping(struct pp_build *build, const struct pp_mapping *mapping);
uint32_t pp_build_function(struct pp_build *build, const struct pp_function *function);
uint32_t pp_build_location(struct pp_build *build, const struct pp_location *location,
                           const struct pp_line *lines, uint32_t lines_n);

/* Interned: equal arguments give the same index. locations are leaf first. */
uint32_t pp_build_stack(struct pp_build *build, const uint32_t *locations, uint32_t n);
uint32_t pp_build_label_list(struct pp_build *build, const struct pp_label *labels, uint32_t n);

/* Appends a sample with one value per sample type; all sample types must be there by then. Returns
 * its index. */
uint32_t pp_build_sample(struct pp_build *build, uint32_t stack, uint32_t label_list,
                         const int64_t *values);

int pp_build_comment(struct pp_build *build, uint32_t comment);
int pp_build_unknown(struct pp_build *build, enum pp_record record, uint32_t index, uint32_t label,
                     struct pp_str bytes);
/* Records something a person should know; equal texts are counted as one note. */
int pp_build_note(struct pp_build *build, uint64_t offset, const char *format, ...) PP_PRINTF(3, 4);

/* The header fields and, for passes over what is built so far, the tables: scalar header fields
 * (drop_frames … doc_url, but comments) may be written through this pointer until finish. */
struct pp_profile *pp_build_profile(struct pp_build *build);

/* What went wrong first, or NULL. */
const struct pp_error *pp_build_error(const struct pp_build *build);

/* Checks every cross reference and returns the profile; the builder is then empty and only good for
 * pp_build_free. NULL with *err: the sticky error, or PP_EFORMAT naming the broken reference. */
struct pp_profile *pp_build_finish(struct pp_build *build, struct pp_error *err) PP_MUSTUSE;

#endif
