/* Profiles in the formats of other viewers. None of them knows values below 0, which differences have, so
 * each gets increases and decreases apart, where there are any. */
#ifndef EXPORT_H
#define EXPORT_H

#include "cmd/view.h"

/* callgrind.c: Callgrind's format, for KCachegrind: functions, lines and addresses with their own costs, and
 * calls with theirs, in the unit of the profile. A second event "TYPE_decrease" holds stacks that are below 0.
 * tree: each path from a root is a function of its own; those of one name are numbered, "name [1/2]". */
int export_callgrind(const struct viewed *viewed, bool tree, struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;

/* speedscope.c: the file format of speedscope: stacks with weights. What is below 0 is a second profile
 * in the file, "TYPE (decrease)". title: what the file is called there. */
int export_speedscope(const struct viewed *viewed, const char *title, struct pp_sink *sink,
                      struct pp_error *err) PP_MUSTUSE;

/* firefox.c: the processed format, version 47, of the Firefox Profiler; it takes older versions for good. Each
 * distinct stack is a sample with a weight. What is below 0 is a second thread, "TYPE (decrease)". title: what the
 * process is called there. */
int export_firefox(const struct viewed *viewed, const char *title, struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;

/* exportstacks.c: the sums of stacks in the viewed column, by number in the profile; with sides[0] the total of
 * those above 0, and sides[1] the size of those below. To be released in any case. */
struct export_sums {
	int64_t *of;
	int64_t sides[2];
};
int export_sums_make(const struct viewed *viewed, struct export_sums *sums, struct pp_error *err) PP_MUSTUSE;
void export_sums_release(struct export_sums *sums);

/* What the last two are made of: stacks with their frames. To be released in any case. */
struct export_stacks {
	struct pp_frames *frames;
	struct pp_frame_map map;
	struct export_sums sums;
};
int export_stacks_make(const struct viewed *viewed, struct export_stacks *stacks, struct pp_error *err) PP_MUSTUSE;
void export_stacks_release(struct export_stacks *stacks);

#endif
