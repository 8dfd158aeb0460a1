/* The samples view: a header row and a row a sample: one column a sample type ("cpu:nanoseconds"), one
 * a label key ("label:endpoint"; numeric labels "numlabel:bytes:bytes", key then unit), last "stack":
 * frames joined by ';', root first. Several values of one label are joined by ';' likewise. Within a
 * frame or a value ';' is \x3b. Rows keep the order of the profile. */
#ifndef PP_SAMPLES_H
#define PP_SAMPLES_H

#include "libpprof/read.h"
#include "libpprof/sink.h"

struct pp_samples_options {
	bool lines; /* frames as "function (file:line)" */
	bool json;  /* an array of objects with the columns as keys; stack is an array, root first */
};

int pp_samples_write(const struct pp_profile *profile, const struct pp_samples_options *options,
                     struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;
/* Reads the view back; "function (file:line)" is taken apart again. Errors name line and column. What is
 * not in the view (ids, addresses, mappings, times) is not in the profile. */
struct pp_profile *pp_samples_read(struct pp_source *source, const struct pp_read_options *options,
                                   struct pp_error *err) PP_MUSTUSE;

/* Appends the text of one frame of a location as the views print it, before escaping: a function's name,
 * else "binary+0xoffset", else "0xaddress", else "??". line is an index within the location, 0 the
 * innermost; a location without lines has one frame, 0. */
int pp_view_frame(const struct pp_profile *profile, uint32_t location, uint32_t line, bool lines,
                  struct pp_buf *out, struct pp_error *err) PP_MUSTUSE;

#endif
