/* Regular expressions of the reference's kind (RE2 syntax), matched without backtracking. The only
 * file that knows pcre2: patterns run through its breadth-first matcher with a bound on work and
 * memory, and constructs that RE2 does not have (look-around, back references, atomic groups) are
 * refused by name. Bytes that are not UTF-8 are matched as U+FFFD, as Go does.
 *
 * Known differences from RE2: a repeat of an assertion ("^*", "\b+") is refused; "\s" also matches a
 * vertical tab, "\v" any vertical white space. */
#ifndef PP_REGEX_H
#define PP_REGEX_H

#include "libpprof/error.h"

struct pp_regex;

/* anchored: the whole subject must match. PP_EUSAGE with the pattern, position and reason. */
struct pp_regex *pp_regex_new(struct pp_str pattern, bool anchored, struct pp_error *err) PP_MUSTUSE;
void pp_regex_free(struct pp_regex *regex);

/* *matches tells whether subject matches somewhere (or, anchored, as a whole); PP_ELIMIT when the
 * expression costs too much on this subject. */
int pp_regex_match(struct pp_regex *regex, struct pp_str subject, bool *matches,
                   struct pp_error *err) PP_MUSTUSE;

#endif
