/* Copies of a profile with other columns or another header: what joins exports, and puts the window and the true
 * period into them. */
#ifndef FETCH_RECAST_H
#define FETCH_RECAST_H

#include "libpprof/pprof.h"

/* The copy has columns_n sample types; the values of `column` stand in `into`, 0 in the others. */
struct recast_columns {
	const struct pp_str (*types)[2]; /* type and unit of each column of the copy */
	uint32_t columns_n, into;
	uint32_t column;                 /* of the profile */
};
struct pp_profile *recast_columns(const struct pp_profile *profile, const struct recast_columns *columns,
                                  struct pp_error *err) PP_MUSTUSE;

struct recast_header {
	int64_t time_ns, duration_ns;
	int64_t period; /* 0: not known */
	struct pp_str period_type, period_unit; /* "" with an unknown period */
	struct pp_str default_type;
};
/* Everything as it is but the header. */
struct pp_profile *recast_header(const struct pp_profile *profile, const struct recast_header *header,
                                 struct pp_error *err) PP_MUSTUSE;

#endif
