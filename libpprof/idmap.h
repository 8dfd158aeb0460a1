/* From a file's ids, which may be sparse or near 2^64, to dense indices in order of first sight. */
#ifndef PP_IDMAP_H
#define PP_IDMAP_H

#include "libpprof/base.h"

struct pp_idmap {
	struct pp_idmap_slot *slots;
	size_t slots_n; /* a power of two */
	uint32_t count;
	uint64_t seed;
	uint32_t *small; /* index + 1 of ids below small_n: most files number from 1 */
	size_t small_n;
};

/* The index of id where a look is enough to tell, else PP_NONE: ask pp_idmap_put. */
static inline uint32_t pp_idmap_peek(const struct pp_idmap *map, uint64_t id)
{
	return id < map->small_n ? map->small[id] - 1 : PP_NONE; /* 0 - 1 is PP_NONE */
}

void pp_idmap_init(struct pp_idmap *map);
void pp_idmap_release(struct pp_idmap *map);
/* The index of id, a new one if it was not seen; PP_NONE without memory or beyond 2^32 - 2 ids. */
uint32_t pp_idmap_put(struct pp_idmap *map, uint64_t id, bool *is_new);

#endif
