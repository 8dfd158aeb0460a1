/* Profiles in the formats of other viewers. None of them knows values below 0, which differences have, so
 * each gets increases and decreases apart, where there are any. */
#ifndef EXPORT_H
#define EXPORT_H

#include "cmd/view.h"

/* callgrind.c: Callgrind's format, for KCachegrind: functions, lines and addresses with their own costs, and
 * calls with theirs, in the unit of the profile. A second event "TYPE_decrease" holds what is below 0. */
int export_callgrind(const struct viewed *viewed, struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;

/* speedscope.c: the file format of speedscope: stacks with weights. What is below 0 is a second profile
 * in the file, "TYPE (decrease)". title: what the file is called there. */
int export_speedscope(const struct viewed *viewed, const char *title, struct pp_sink *sink,
                      struct pp_error *err) PP_MUSTUSE;

#endif
