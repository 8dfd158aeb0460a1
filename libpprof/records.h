/* The records view: a profile as lossless text, one element a line. pprof-tsv(5) documents the rows.
 * Reading what was written gives a profile equal field by field, ids and unknown fields included. */
#ifndef PP_RECORDS_H
#define PP_RECORDS_H

#include "libpprof/read.h"
#include "libpprof/sink.h"

#define PP_RECORDS_MAGIC "#pprof-records"

int pp_records_write(const struct pp_profile *profile, struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;
/* The same rows as one JSON object: an array of objects a kind. Addresses and ids above INT64_MAX are strings. */
int pp_records_write_json(const struct pp_profile *profile, struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;

/* Rows may come in any order after the first line; each names its place. Errors name the line. */
struct pp_profile *pp_records_read(struct pp_source *source, const struct pp_read_options *options,
                                   struct pp_error *err) PP_MUSTUSE;

#endif
