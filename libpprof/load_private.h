/* The recognition of formats by their first bytes. */
#ifndef PP_LOAD_PRIVATE_H
#define PP_LOAD_PRIVATE_H

#include "libpprof/error.h"

enum pp_format { PP_FORMAT_PPROF, PP_FORMAT_RECORDS, PP_FORMAT_SAMPLES, PP_FORMAT_FOLDED };

#define PP_SNIFF_BYTES 4096

/* What the n > 0 unpacked bytes at the start of an input (whole: all of it) are. A format that is
 * recognised and not read fails with PP_EUNSUPPORTED and its name (gzip inside gzip with PP_EFORMAT);
 * what is nothing known fails with PP_EFORMAT. */
int pp_sniff(const unsigned char *bytes, size_t n, bool whole, enum pp_format *format, struct pp_error *err) PP_MUSTUSE;

#endif
