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

/* Which unit values of unit from are shown in, when `asked` is what somebody wants: the short name of one of the same
 * family, or from itself where it has none and is asked for. -1 for any other. */
int pp_unit_choose(struct pp_str from, struct pp_str asked, struct pp_str *chosen) PP_MUSTUSE;
/* The names that pp_unit_choose takes, as "ns, us, ms". Returns out. */
const char *pp_unit_names(char *out, size_t out_n, struct pp_str from);
/* One unit for a whole report, as the reference chooses it: that which fits the smallest value, or where that is small
 * beside the total, 100 times the smallest. least and total in unit from; least 0: there is none. */
struct pp_str pp_unit_of_report(int64_t least, int64_t total, struct pp_str from);

/* value, given in unit from, in unit to of the same family, for programs: plain decimals, never with an exponent; exact
 * where it is whole and fits 64 bits, else of 15 significant digits (of a real number 10); no zeros at the end. 64
 * bytes are always enough. */
const char *pp_unit_decimal(char *out, size_t out_n, int64_t value, struct pp_str from, struct pp_str to);
const char *pp_unit_decimal_real(char *out, size_t out_n, double value, struct pp_str from, struct pp_str to);

/* value / total as the reference prints a share, but signed: "-12.50%"; "0%" when total is 0. */
const char *pp_percent(char *out, size_t out_n, int64_t value, int64_t total);

#endif
