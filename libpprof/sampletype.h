/* Which column of a profile a question is about. */
#ifndef PP_SAMPLETYPE_H
#define PP_SAMPLETYPE_H

#include "libpprof/error.h"
#include "libpprof/profile.h"

/* The column that request names: NULL or "" is the profile's default type, or the last column;
 * digits are an index from 0; else a type name, also without "inuse_", and also "type:unit".
 * PP_EUSAGE lists the types there are. When default_sample_type names no type, the last column is
 * taken and warning (≥ 300 bytes, "" otherwise) says so and lists the types; it also says when the
 * column has no name. */
int pp_sample_type_find(const struct pp_profile *profile, const char *request, uint32_t *column,
                        char *warning, size_t warning_n, struct pp_error *err) PP_MUSTUSE;

/* Pyroscope's five-part id "process_cpu:cpu:nanoseconds:cpu:nanoseconds" (name, type, unit, period
 * type, period unit) names a column too: the one of its type and unit, else PP_NONE. */
uint32_t pp_sample_type_of_lens(const struct pp_profile *profile, const char *lens);

/* Type and unit of a column. */
struct pp_str pp_sample_type_name(const struct pp_profile *profile, uint32_t column);
struct pp_str pp_sample_type_unit(const struct pp_profile *profile, uint32_t column);

#endif
