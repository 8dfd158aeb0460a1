/* Parts of a profile by the values of a label. Their sum, with pp_merge, is the profile. */
#ifndef PP_SPLIT_H
#define PP_SPLIT_H

#include "libpprof/arena.h"
#include "libpprof/merge.h"

struct pp_split_part {
	struct pp_str value; /* texts, then numbers with their unit ("2048bytes"), several with commas between */
	bool without;        /* the samples that have no such label; the value is "" */
	uint32_t samples_n;
};

struct pp_split {
	struct pp_arena *arena;
	struct pp_split_part *parts; /* without first, then by value */
	uint32_t parts_n;
	uint32_t *part_of; /* by sample */
};

/* PP_ELIMIT for more than parts_max parts. To be released in any case. */
int pp_split_by_label(const struct pp_profile *profile, struct pp_str key, uint32_t parts_max,
                      const struct pp_limits *limits, struct pp_split *split, struct pp_error *err) PP_MUSTUSE;
void pp_split_release(struct pp_split *split);

/* Adds one part to a sum, as pp_merge_add would a profile of its samples. */
int pp_split_add(struct pp_merge *merge, const struct pp_profile *profile, const struct pp_split *split, uint32_t part,
                 struct pp_error *err) PP_MUSTUSE;

#endif
