/* The samples view: a header row and a row a sample: one column a sample type ("cpu:nanoseconds"), one
 * a label key ("label:endpoint"; numeric labels "numlabel:bytes:bytes", key then unit), last "stack":
 * frames joined by ';', root first. Rows keep the order of the profile. */
#ifndef PP_SAMPLES_H
#define PP_SAMPLES_H

#include "libpprof/read.h"
#include "libpprof/sink.h"

struct pp_samples_options {
	bool lines; /* frames as "function (file:line)" */
};

int pp_samples_write(const struct pp_profile *profile, const struct pp_samples_options *options,
                     struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;
/* Reads the view back; "function (file:line)" is taken apart again. */
struct pp_profile *pp_samples_read(struct pp_source *source, const struct pp_read_options *options,
                                   struct pp_error *err) PP_MUSTUSE;

/* Names of the frames of a location as the views print them: a function's name, else
 * "binary+0xoffset", else "0xaddress", else "??". innermost first; line is an index within the location. */
int pp_view_frame(const struct pp_profile *profile, uint32_t location, uint32_t line, bool lines,
                  struct pp_buf *out, struct pp_error *err) PP_MUSTUSE;

#endif
