/* Model → profile.proto, as the reference's encoder lays it out: fields by number, tables in order,
 * ids as stored, strings numbered by first use, repeated scalars packed from three on. Equal
 * profiles give equal bytes. Unknown fields come after the known ones of their record. */
#ifndef PP_WRITE_H
#define PP_WRITE_H

#include "libpprof/profile.h"
#include "libpprof/sink.h"

/* Unpacked bytes; wrap the sink in a pp_gz_writer for the usual gzip form. */
int pp_write(const struct pp_profile *profile, struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;

#endif
