#include "libpprof/rollup.h"

#include <stdlib.h>

/* What the samples of one stack add up to. */
struct load {
	int64_t value;
	double count;
};

/* What a frame has gathered, together so that one visit touches one cache line. */
struct gathered {
	int64_t cum;
	double count;
	uint32_t seen; /* the last stack that counted it, plus 1 */
};

/* Sums the rows of each stack, and checks the total. No sum of some of the rows can overflow once the
 * sum of all |values| fits, so this is the only check. */
static int load_stacks(const struct pp_profile *profile, uint32_t column, const struct pp_count_rule *rule,
                       const unsigned char *keep, struct load *loads, struct pp_rollup *rollup,
                       struct pp_error *err)
{
	const bool counted = rule && rule->method != PP_COUNT_NOT_MEASURED;
	uint64_t total = 0;

	for (uint32_t s = 0; s < profile->samples_n; s++) {
		if (keep && !keep[s])
			continue;
		const int64_t value = pp_value(profile, s, column);
		const double count = counted ? pp_sample_count(profile, rule, s) : 0;
		struct load *load = &loads[profile->sample_stack[s]];

		/* Both terms are at most 2^63, so this cannot wrap. */
		total += pp_abs_i64(value);
		if (total > INT64_MAX)
			return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the values add up to more than 63 bits");
		load->value += value;
		load->count += count;
		rollup->net += value;
		rollup->total_count += count;
		rollup->negative |= value < 0;
	}
	rollup->total = (int64_t)total;
	return 0;
}

static void count_once(struct gathered *g, uint32_t stamp, const struct load *load)
{
	if (g->seen == stamp)
		return;
	g->seen = stamp;
	g->cum += load->value;
	g->count += load->count;
}

static void walk_stacks(const struct pp_profile *profile, const struct pp_frame_map *map,
                        const struct load *loads, struct gathered *gathered, struct pp_rollup *rollup)
{
	for (uint32_t s = 0; s < profile->stacks_n; s++) {
		const struct pp_stack *stack = &profile->stacks[s];
		const struct load *load = &loads[s];

		if (load->value == 0 && load->count == 0)
			continue;
		const uint32_t leaf = stack->n > 0 ? map->frame[map->first[stack->locations[0]]] : map->no_stack;
		rollup->flat[leaf] += load->value;
		rollup->flat_count[leaf] += load->count;
		if (stack->n == 0)
			count_once(&gathered[leaf], s + 1, load);
		for (uint32_t i = 0; i < stack->n; i++) {
			const uint32_t location = stack->locations[i];
			for (uint32_t f = map->first[location]; f < map->first[location + 1]; f++)
				count_once(&gathered[map->frame[f]], s + 1, load);
		}
	}
}

int pp_rollup_make(const struct pp_profile *profile, const struct pp_frames *frames,
                   const struct pp_frame_map *map, uint32_t column, const struct pp_count_rule *rule,
                   const unsigned char *keep, struct pp_rollup *rollup, struct pp_error *err)
{
	struct pp_rollup made = {.frames_n = pp_frames_count(frames)};
	const size_t n = (size_t)made.frames_n + 1; /* never an allocation of nothing */
	struct load *loads = calloc((size_t)profile->stacks_n + 1, sizeof *loads);
	struct gathered *gathered = calloc(n, sizeof *gathered);
	int status = -1;

	made.flat = calloc(n, sizeof *made.flat);
	made.cum = calloc(n, sizeof *made.cum);
	made.flat_count = calloc(n, sizeof *made.flat_count);
	made.cum_count = calloc(n, sizeof *made.cum_count);
	if (!loads || !gathered || !made.flat || !made.cum || !made.flat_count || !made.cum_count) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to add up %u frames", made.frames_n);
		goto done;
	}
	if (load_stacks(profile, column, rule, keep, loads, &made, err) != 0)
		goto done;
	walk_stacks(profile, map, loads, gathered, &made);
	for (uint32_t f = 0; f < made.frames_n; f++) {
		made.cum[f] = gathered[f].cum;
		made.cum_count[f] = gathered[f].count;
	}
	*rollup = made;
	made = (struct pp_rollup){0};
	status = 0;
done:
	pp_rollup_release(&made);
	free(loads);
	free(gathered);
	return status;
}

void pp_rollup_release(struct pp_rollup *rollup)
{
	free(rollup->flat);
	free(rollup->cum);
	free(rollup->flat_count);
	free(rollup->cum_count);
	*rollup = (struct pp_rollup){0};
}

struct ranked {
	uint64_t first, second; /* magnitudes before and after the label */
	const struct pp_frames *frames;
	uint32_t frame;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	int order = (a->first < b->first) - (a->first > b->first);

	if (order == 0)
		order = pp_str_cmp(pp_frames_label(a->frames, a->frame), pp_frames_label(b->frames, b->frame));
	if (order == 0)
		order = (a->second < b->second) - (a->second > b->second);
	return order != 0 ? order : pp_frames_cmp(a->frames, a->frame, b->frame);
}

int pp_rollup_order(const struct pp_rollup *rollup, const struct pp_frames *frames, bool by_cum,
                    uint32_t **order, uint32_t *n, struct pp_error *err)
{
	struct ranked *ranked = malloc(((size_t)rollup->frames_n + 1) * sizeof *ranked);
	uint32_t *made = malloc(((size_t)rollup->frames_n + 1) * sizeof *made);
	uint32_t used = 0;

	if (!ranked || !made) {
		free(ranked);
		free(made);
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to sort %u frames", rollup->frames_n);
	}
	for (uint32_t f = 0; f < rollup->frames_n; f++) {
		const uint64_t flat = pp_abs_i64(rollup->flat[f]), cum = pp_abs_i64(rollup->cum[f]);
		if (flat == 0 && cum == 0)
			continue;
		ranked[used++] = (struct ranked){by_cum ? cum : flat, by_cum ? flat : cum, frames, f};
	}
	qsort(ranked, used, sizeof *ranked, compare_ranked);
	for (uint32_t i = 0; i < used; i++)
		made[i] = ranked[i].frame;
	free(ranked);
	*order = made;
	*n = used;
	return 0;
}
