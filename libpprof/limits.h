/* How much a hostile input may cost. Every reader takes these; they hold in production. */
#ifndef PP_LIMITS_H
#define PP_LIMITS_H

#include "libpprof/base.h"

struct pp_limits {
	uint64_t packed_bytes; /* bytes taken from the source, before unpacking */
	uint64_t raw_bytes;    /* bytes after unpacking */
	uint64_t ratio;        /* raw/packed, checked once raw exceeds 16 MiB (profiles: 3 to 50; deflate's most: 1032) */
	uint64_t model_bytes;  /* memory of one profile's arena */
	uint64_t record_bytes; /* one top-level record of a profile, or one line of a text */
	uint32_t samples;      /* rows of one profile */
	uint32_t depth;        /* locations of one sample, and as many values or labels */
};

#define PP_LIMITS_DEFAULT                                                                          \
	{                                                                                          \
		.packed_bytes = UINT64_C(2) << 30, .raw_bytes = UINT64_C(4) << 30, .ratio = 400,  \
		.model_bytes = UINT64_C(4) << 30, .record_bytes = UINT64_C(64) << 20,              \
		.samples = UINT32_C(100000000), .depth = 100000                                    \
	}

#endif
