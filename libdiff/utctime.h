/* Times of RFC 3339 as nanoseconds since 1970. */
#ifndef PD_UTCTIME_H
#define PD_UTCTIME_H

#include "libpprof/pprof.h"

/* "2026-11-25T14:00:00Z", with optional fraction, and Z or an offset such as +01:00; years 1970-2261. */
bool pd_time_parse(const char *text, int64_t *time_ns);
/* The inverse, in UTC, without a fraction when it is 0. Returns out (≥ 32 bytes). */
const char *pd_time_text(char *out, size_t out_n, int64_t time_ns);

#endif
