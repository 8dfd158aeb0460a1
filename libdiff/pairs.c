#include "libdiff/pairs.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 1024

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t hash_of(uint32_t a, uint32_t b)
{
	uint64_t z = ((uint64_t)a << 32 | b) + UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void read_pair(const void *array, size_t bytes, uint32_t index, uint32_t pair[2])
{
	memcpy(pair, (const char *)array + (size_t)index * bytes, 2 * sizeof(*pair));
}

static int grow(struct pd_pairs *pairs, const void *array, size_t bytes, struct pp_error *err)
{
	size_t capacity = pairs->capacity ? pairs->capacity * 2 : FIRST_CAPACITY;
	uint64_t *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	for (size_t i = 0; i < pairs->capacity; i++) {
		uint32_t pair[2];
		if (!pairs->slots[i])
			continue;
		read_pair(array, bytes, (uint32_t)pairs->slots[i] - 1, pair);
		size_t at = hash_of(pair[0], pair[1]) & (capacity - 1);
		while (slots[at])
			at = (at + 1) & (capacity - 1);
		slots[at] = pairs->slots[i];
	}
	free(pairs->slots);
	pairs->slots = slots;
	pairs->capacity = capacity;
	return 0;
}

int pd_pairs_put(struct pd_pairs *pairs, uint32_t a, uint32_t b, const void *array, size_t bytes, uint32_t *index,
                 struct pp_error *err)
{
	uint64_t hash = hash_of(a, b), tag = hash & UINT64_C(0xffffffff00000000);

	if (pairs->n >= PP_NONE - 1)
		return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "more than %lu distinct pairs of frames", (unsigned long)pairs->n);
	if (pairs->n * 4 >= pairs->capacity * 3 && grow(pairs, array, bytes, err))
		return -1;
	for (size_t at = hash & (pairs->capacity - 1);; at = (at + 1) & (pairs->capacity - 1)) {
		uint64_t slot = pairs->slots[at];
		uint32_t pair[2];
		if (!slot) {
			pairs->slots[at] = tag | (pairs->n + 1);
			pairs->n++;
			*index = PP_NONE;
			return 0;
		}
		if ((slot & UINT64_C(0xffffffff00000000)) != tag)
			continue;
		read_pair(array, bytes, (uint32_t)slot - 1, pair);
		if (pair[0] == a && pair[1] == b) {
			*index = (uint32_t)slot - 1;
			return 0;
		}
	}
}

void pd_pairs_release(struct pd_pairs *pairs)
{
	free(pairs->slots);
	*pairs = (struct pd_pairs){NULL, 0, 0};
}
