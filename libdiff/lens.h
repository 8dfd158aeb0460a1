/* Which profiles a question is about, and what such profiles cannot say. */
#ifndef PD_LENS_H
#define PD_LENS_H

#include "libpprof/pprof.h"

enum pd_lens_kind {
	PD_LENS_CPU,
	PD_LENS_WALL,
	PD_LENS_ALLOC,     /* allocated since a start: a flow */
	PD_LENS_INUSE,     /* heap in use: a state */
	PD_LENS_MUTEX,
	PD_LENS_BLOCK,
	PD_LENS_GOROUTINE, /* goroutines or threads: a state */
	PD_LENS_OTHER
};

/* Either Pyroscope's five-part id, "name:type:unit:period type:period unit", or a sample type alone;
 * parts that are not given are "". Parts are borrowed from the text. */
struct pd_lens {
	const char *text;
	struct pp_str name, type, unit, period_type, period_unit;
	enum pd_lens_kind kind;
};

/* PP_EUSAGE when text has colons and is not of five parts. */
int pd_lens_parse(const char *text, struct pd_lens *lens, struct pp_error *err) PP_MUSTUSE;

/* Whether values are states, which are never divided by seconds or requests. */
bool pd_lens_snapshot(const struct pd_lens *lens);

/* How a profile fits the lens. Mutex and block profiles of Go are alike inside: they are told apart by the
 * word "mutex" or "block" in the file name, where one stands. */
enum pd_fit {
	PD_FIT_YES,
	PD_FIT_OTHER_TYPE,  /* no such sample type or unit */
	PD_FIT_OTHER_PERIOD /* the sample type, of another period type */
};
enum pd_fit pd_lens_fit(const struct pd_lens *lens, const struct pp_profile *profile, const char *file_name,
                        uint32_t *column);

/* What profiles of this kind do not show, as one sentence or more. */
const char *pd_lens_limits(enum pd_lens_kind kind);

#endif
