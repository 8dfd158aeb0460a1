/* Units of values: families, conversion, numbers for people. No locale. Follows the reference's
 * tables, plus "μs" in both encodings. */
#ifndef PP_UNIT_H
#define PP_UNIT_H

#include "libpprof/base.h"

enum pp_unit_family { PP_UNIT_NONE, PP_UNIT_TIME, PP_UNIT_MEMORY, PP_UNIT_GCU };

/* The family of a unit name ("ns", "nanoseconds", "bytes", "kB" …) and how many base units
 * (nanoseconds, bytes, nano-GCU) one of it is; PP_UNIT_NONE and 1 for other names. */
enum pp_unit_family pp_unit_find(struct pp_str name, double *factor);

/* value of unit `unit` as people read it, in the unit that fits: "1.50s", "12.34MB", "42". Writes a
 * NUL-terminated text to out and returns it. 32 bytes are always enough but for long unknown units,
 * which are left off. */
const char *pp_unit_human(char *out, size_t out_n, int64_t value, struct pp_str unit);

/* value, given in unit from, in unit to, as the reference converts for filters and labels: *unit becomes the
 * name of what the result is in. to: a unit of the same family; "auto" or "minimum", which is the largest
 * unit that leaves at least 1; anything else gives the default unit of the family (s, B, GCU). Without a
 * family the value stays, and *unit is to. */
double pp_unit_scale(int64_t value, struct pp_str from, struct pp_str to, struct pp_str *unit);

/* The same as a label: at most two decimals, then the unit; "0" without one. */
const char *pp_unit_label(char *out, size_t out_n, int64_t value, struct pp_str from, struct pp_str to);

/* value / total as the reference prints a share, but signed: "-12.50%"; "0%" when total is 0. */
const char *pp_percent(char *out, size_t out_n, int64_t value, int64_t total);

#endif
