#include "cmd/export.h"

#include <stdlib.h>

/* Few locations that share many lines would make endless text of a small profile. */
#define FRAMES_MAX 1000000

static int check_depths(const struct viewed *viewed, const struct export_stacks *stacks, struct pp_error *err)
{
	const struct pp_profile *p = viewed->profile;
	for (uint32_t s = 0; s < p->stacks_n; s++) {
		uint64_t frames = 0;
		for (uint32_t i = 0; i < p->stacks[s].n; i++) {
			const uint32_t location = p->stacks[s].locations[i];
			frames += stacks->map.first[location + 1] - stacks->map.first[location];
		}
		if (frames > FRAMES_MAX)
			return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "a stack of more than %d frames", FRAMES_MAX);
	}
	return 0;
}

/* No part of the sums overflows where the sizes of all values add up. */
int export_sums_make(const struct viewed *viewed, struct export_sums *sums, struct pp_error *err)
{
	const struct pp_profile *p = viewed->profile;
	uint64_t total = 0;
	*sums = (struct export_sums){.of = calloc((size_t)p->stacks_n + 1, sizeof *sums->of)};
	if (!sums->of)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the sums of stacks");
	for (uint32_t s = 0; s < p->samples_n; s++) {
		const int64_t value = pp_value(p, s, viewed->column);
		total += pp_abs_i64(value);
		if (total > INT64_MAX)
			return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the values add up to more than 63 bits");
		sums->of[p->sample_stack[s]] += value;
	}
	for (uint32_t i = 0; i < p->stacks_n; i++)
		sums->sides[sums->of[i] < 0] += (int64_t)pp_abs_i64(sums->of[i]);
	return 0;
}

void export_sums_release(struct export_sums *sums)
{
	free(sums->of);
}

int export_stacks_make(const struct viewed *viewed, struct export_stacks *stacks, struct pp_error *err)
{
	*stacks = (struct export_stacks){.frames = pp_frames_new(PP_BY_FRAMES, err)};
	if (!stacks->frames || pp_frames_map(stacks->frames, viewed->profile, &stacks->map, err) != 0)
		return -1;
	return check_depths(viewed, stacks, err) != 0 ? -1 : export_sums_make(viewed, &stacks->sums, err);
}

void export_stacks_release(struct export_stacks *stacks)
{
	pp_frame_map_release(&stacks->map);
	pp_frames_free(stacks->frames);
	export_sums_release(&stacks->sums);
}
