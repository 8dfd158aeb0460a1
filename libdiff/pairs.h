/* From pairs of indices to dense indices: a table over an array whose elements begin with the pair, as two
 * uint32_t. Smaller and faster than interning the pair's bytes. Private to libdiff. */
#ifndef PD_PAIRS_H
#define PD_PAIRS_H

#include "libpprof/pprof.h"

struct pd_pairs {
	uint64_t *slots; /* high: half of the hash; low: index + 1; 0: free */
	size_t capacity; /* a power of two, or 0 */
	size_t n;
};

/* The index of (a, b) in the array of n elements of `bytes` each, or PP_NONE when it is not there: then
 * the caller appends it as element n, and has to. -1 (with *err) without memory. */
int pd_pairs_put(struct pd_pairs *pairs, uint32_t a, uint32_t b, const void *array, size_t bytes, uint32_t *index,
                 struct pp_error *err) PP_MUSTUSE;
void pd_pairs_release(struct pd_pairs *pairs);

#endif
