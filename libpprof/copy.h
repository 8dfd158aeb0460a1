/* Copies of a profile with changes: the last step of every filter. Private. */
#ifndef PP_COPY_H
#define PP_COPY_H

#include "libpprof/build.h"

/* What a copy changes. Tables are copied as they are, so that indices of strings, functions, locations and
 * mappings stay what they were; what no sample uses any more stays too, as in the reference. Arrays that
 * are NULL change nothing. */
struct pp_copy {
	const struct pp_profile *profile;
	const unsigned char *line_gone;     /* by line: not 0, the location loses it */
	const unsigned char *location_gone; /* by location: stacks lose it */
	const uint32_t *leaf_gone;          /* by stack: how many locations go at the leaf's end */
	const uint32_t *root_gone;          /* by stack: how many at the root's; at most n with leaf_gone */
	const unsigned char *stack_gone;    /* by stack: its samples go */
	const unsigned char *sample_gone;   /* by sample */
	const unsigned char *key_gone;      /* by string: labels with this key go */
	const struct pp_str *filenames;     /* by function: its file */
	const struct pp_mapping *mappings;   /* tables in place of the profile's, of the same lengths and ids */
	const struct pp_function *functions;
	const struct pp_location *locations;
	const struct pp_line *lines;
	const int64_t *values;              /* as profile->values */
	const unsigned char *comment_gone;  /* by comment */
};

/* A new profile; notes are not copied. NULL with *err. */
struct pp_profile *pp_copy_make(const struct pp_copy *copy, const struct pp_limits *limits,
                                struct pp_error *err) PP_MUSTUSE;

/* The same in three steps, for those who add something between them: header and tables; samples; finish.
 * New strings are added with pp_build_string_append. */
struct pp_build *pp_copy_begin(const struct pp_copy *copy, const struct pp_limits *limits,
                               struct pp_error *err) PP_MUSTUSE;
int pp_copy_samples(struct pp_build *build, const struct pp_copy *copy, struct pp_error *err) PP_MUSTUSE;

/* The new index of a sample's label list. */
uint32_t pp_copy_labels(struct pp_build *build, const struct pp_copy *copy, uint32_t sample);

#endif
