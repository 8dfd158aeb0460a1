/* Selectors {service_name="shop"} and profile type ids process_cpu:cpu:nanoseconds:cpu:nanoseconds. */
#ifndef FETCH_SELECTOR_H
#define FETCH_SELECTOR_H

#include "cmd/cli.h"

/* The selector as the server wants it: with braces, which may be left off. malloc'ed; NULL without memory. */
char *selector_whole(const char *text) PP_MUSTUSE;
/* The selector (whole) with one matcher more: label="value". Both are quoted as needed. malloc'ed. */
char *selector_with(const char *selector, const char *label, const char *value) PP_MUSTUSE;

/* Says what is wrong with a profile type id: CLI_USAGE. NULL is wrong too. */
enum cli_status type_check(const char *id);
/* Part 0 to 4 of an id that was checked: name, sample type, sample unit, period type, period unit. */
struct pp_str type_part(const char *id, int part);
/* Whether the type counts states at one moment (heap in use, goroutines), which must not be summed over time. */
bool type_is_snapshot(const char *id);
/* The type that counts what this one measures (cpu: samples, delay: contentions, *_space: *_objects), malloc'ed;
 * NULL when there is none by that custom. *failed: no memory. */
char *type_of_counts(const char *id, bool *failed) PP_MUSTUSE;

#endif
