/* Where something stands in a profile, so that an error can name it: "sample[17].label[0].key". A place
 * costs nothing until it is printed. */
#ifndef PP_PLACE_H
#define PP_PLACE_H

#include "libpprof/error.h"

struct pp_place {
	uint64_t offset;    /* in the unpacked input */
	const char *record; /* "sample"; constant */
	uint32_t index;     /* PP_NONE: no index */
	const char *inner;  /* "label", or NULL */
	uint32_t inner_index;
	const char *field;  /* "key", or NULL */
};

/* Fills *err, unless it is filled, with the place's offset and "path: text". Returns -1. */
int pp_place_fail(struct pp_error *err, enum pp_code code, const struct pp_place *place, const char *format,
                  ...) PP_PRINTF(4, 5);

#endif
