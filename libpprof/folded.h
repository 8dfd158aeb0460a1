/* Folded stacks: "root;caller;leaf 42", as FlameGraph, bpftrace and async-profiler write and read them.
 * The form has no escapes of its own: ';', control bytes, bytes that are not UTF-8, and blanks at the ends
 * of a name are \xHH, and so is a backslash that would begin such an escape; every other backslash stands
 * for itself. "(no stack)" alone is a sample without locations. */
#ifndef PP_FOLDED_H
#define PP_FOLDED_H

#include "libpprof/read.h"
#include "libpprof/sink.h"

/* One line a distinct stack (by names), sorted bytewise; values of `column` added up (PP_EOVERFLOW), sums
 * of 0 left out. */
int pp_folded_write(const struct pp_profile *profile, uint32_t column, struct pp_sink *sink,
                    struct pp_error *err) PP_MUSTUSE;
/* The last word of a line is its count, an integer; blanks around are ignored. type and unit name the one sample type that is made ("samples", "count"). */
struct pp_profile *pp_folded_read(struct pp_source *source, const struct pp_read_options *options,
                                  const char *type, const char *unit, struct pp_error *err) PP_MUSTUSE;

#endif
