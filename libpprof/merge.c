#include "libpprof/merge_private.h"

#include <stdlib.h>
#include <string.h>

#include "libpprof/build.h"
#include "libpprof/transform.h"

int pp_merge_fail_memory(const struct pp_merge *merge, struct pp_error *err)
{
	if (pp_arena_over(merge->arena))
		return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "the sum needs more than %llu bytes",
		               (unsigned long long)merge->limits.model_bytes);
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
}

uint32_t pp_merge_string(struct pp_merge *merge, struct pp_str bytes, struct pp_error *err)
{
	uint32_t index = pp_intern_put(merge->strings, bytes.ptr, bytes.len, NULL);

	if (index == PP_NONE)
		pp_merge_fail_memory(merge, err);
	return index;
}

struct pp_merge *pp_merge_new(const struct pp_limits *limits, struct pp_error *err)
{
	struct pp_merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		goto fail;
	merge->limits = *limits;
	merge->arena = pp_arena_new(limits->model_bytes);
	if (!merge->arena)
		goto fail;
	merge->strings = pp_intern_new(merge->arena);
	merge->functions = pp_intern_new(merge->arena);
	merge->mappings = pp_intern_new(merge->arena);
	merge->locations = pp_intern_new(merge->arena);
	merge->stacks = pp_intern_new(merge->arena);
	merge->label_lists = pp_intern_new(merge->arena);
	merge->samples = pp_intern_new(merge->arena);
	merge->comments = pp_intern_new(merge->arena);
	merge->kinds = pp_intern_new(merge->arena);
	merge->orders = pp_intern_new(merge->arena);
	if (!merge->strings || !merge->functions || !merge->mappings || !merge->locations || !merge->stacks ||
	    !merge->label_lists || !merge->samples || !merge->comments || !merge->kinds || !merge->orders ||
	    pp_merge_string(merge, PP_LIT(""), err) != 0)
		goto fail;
	return merge;
fail:
	pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	pp_merge_free(merge);
	return NULL;
}

void pp_merge_free(struct pp_merge *merge)
{
	if (!merge)
		return;
	pp_intern_free(merge->strings);
	pp_intern_free(merge->functions);
	pp_intern_free(merge->mappings);
	pp_intern_free(merge->locations);
	pp_intern_free(merge->stacks);
	pp_intern_free(merge->label_lists);
	pp_intern_free(merge->samples);
	pp_intern_free(merge->comments);
	pp_intern_free(merge->kinds);
	pp_intern_free(merge->orders);
	pp_arena_free(merge->arena);
	free(merge);
}

void pp_merge_take_common(struct pp_merge *merge)
{
	merge->takes_common = true;
}

/* ---- header ---- */

/* Keeps the smaller of two strings that are given. */
static int join_string(struct pp_merge *merge, uint32_t *sum, struct pp_str string, struct pp_error *err)
{
	if (!string.len || (*sum && pp_str_cmp(pp_intern_at(merge->strings, *sum), string) <= 0))
		return 0;
	*sum = pp_merge_string(merge, string, err);
	return *sum == PP_NONE ? -1 : 0;
}

/* drop_frames and keep_frames belong together: the smaller pair of those given. */
static int join_frames(struct pp_merge *merge, const struct pp_profile *p, struct pp_error *err)
{
	struct pp_str drop = pp_string(p, p->drop_frames), keep = pp_string(p, p->keep_frames);
	int order;

	if (!drop.len && !keep.len)
		return 0;
	order = pp_str_cmp(drop, pp_intern_at(merge->strings, merge->drop_frames));
	if (!order)
		order = pp_str_cmp(keep, pp_intern_at(merge->strings, merge->keep_frames));
	if (order >= 0 && (merge->drop_frames || merge->keep_frames))
		return 0;
	merge->drop_frames = pp_merge_string(merge, drop, err);
	merge->keep_frames = pp_merge_string(merge, keep, err);
	return err->code ? -1 : 0;
}

/* The union; whether the lists differ decides how it is ordered. Profiles without comments, and
 * repeated ones, do not count; nor do totals, which are those of one profile. */
static int join_comments(struct pp_merge *merge, const struct pp_profile *p, struct pp_error *err)
{
	uint32_t before = pp_intern_count(merge->comments);
	uint32_t next = 0; /* comment of the sum that would come next if the lists are equal */

	for (uint32_t i = 0; i < p->comments_n; i++) {
		struct pp_str comment = pp_string(p, p->comments[i]);
		if (pp_is_total(comment))
			continue;
		uint32_t index = pp_intern_put(merge->comments, comment.ptr, comment.len, NULL);

		if (index == PP_NONE)
			return pp_merge_fail_memory(merge, err);
		if (index == next)
			next++;
		else if (index > next)
			merge->comments_differ = true;
	}
	if (before && next && next != before)
		merge->comments_differ = true;
	return 0;
}

/* Some exporters write a date where the duration belongs. That must not keep values from being added, so
 * this sum stops at the largest number. */
static void join_duration(struct pp_merge *merge, int64_t duration_ns)
{
	if (pp_add_i64(merge->duration_ns, duration_ns, &merge->duration_ns))
		return;
	merge->duration_ns = duration_ns < 0 ? INT64_MIN : INT64_MAX;
	merge->duration_is_cut = true;
}

static int join_header(struct pp_merge *merge, const struct pp_profile *p, struct pp_error *err)
{
	if (p->time_ns && (!merge->time_ns || p->time_ns < merge->time_ns))
		merge->time_ns = p->time_ns;
	join_duration(merge, p->duration_ns);
	if (p->unknowns_n)
		merge->has_unknown_fields = true;
	if (join_frames(merge, p, err) || join_comments(merge, p, err) ||
	    join_string(merge, &merge->default_sample_type, pp_string(p, p->default_sample_type), err))
		return -1;
	return join_string(merge, &merge->doc_url, pp_string(p, p->doc_url), err);
}

static int compare_strings(const void *a, const void *b)
{
	return pp_str_cmp(*(const struct pp_str *)a, *(const struct pp_str *)b);
}

static int emit_comments(const struct pp_merge *merge, struct pp_build *build, struct pp_error *err)
{
	uint32_t n = pp_intern_count(merge->comments);
	struct pp_str *comments = calloc((size_t)n + 1, sizeof(*comments));

	if (!comments)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	for (uint32_t i = 0; i < n; i++)
		comments[i] = pp_intern_at(merge->comments, i);
	if (merge->comments_differ)
		qsort(comments, n, sizeof(*comments), compare_strings);
	for (uint32_t i = 0; i < n; i++)
		(void)pp_build_comment(build, pp_build_string(build, comments[i]));
	free(comments);
	return 0;
}

static uint32_t emit_string(const struct pp_merge *merge, struct pp_build *build, uint32_t string)
{
	return pp_build_string(build, pp_intern_at(merge->strings, string));
}

static int emit_header(const struct pp_merge *merge, struct pp_build *build, struct pp_error *err)
{
	struct pp_profile *p = pp_build_profile(build);

	p->time_ns = merge->time_ns;
	p->duration_ns = merge->duration_ns;
	p->drop_frames = emit_string(merge, build, merge->drop_frames);
	p->keep_frames = emit_string(merge, build, merge->keep_frames);
	p->default_sample_type = emit_string(merge, build, merge->default_sample_type);
	p->doc_url = emit_string(merge, build, merge->doc_url);
	p->period = merge->has_period ? merge->period : merge->bare_period;
	p->period_type.type = pp_build_string(build, merge->period_type.name);
	p->period_type.unit = pp_build_string(build, merge->period_type.unit);
	if (merge->duration_is_cut)
		pp_build_note(build, PP_NO_OFFSET, "the durations do not add up within 64 bits");
	if (merge->has_unknown_fields)
		pp_build_note(build, PP_NO_OFFSET, "fields that this version does not know are not merged");
	return emit_comments(merge, build, err);
}

/* ---- the whole ---- */

static int add(struct pp_merge *merge, const struct pp_profile *profile, int sign, const struct pp_merge_label *extra,
               const struct pp_merge_some *some, struct pp_error *err)
{
	struct pp_merge_columns columns = {NULL, NULL};
	int result = pp_merge_join_types(merge, profile, &columns, err);

	if (!result)
		result = join_header(merge, profile, err);
	if (!result)
		result = pp_merge_add_samples(merge, profile, &columns, sign, extra, some, err);
	pp_merge_columns_release(&columns);
	merge->profiles_n++;
	return result;
}

int pp_merge_add(struct pp_merge *merge, const struct pp_profile *profile, int sign,
                 const struct pp_merge_label *extra, struct pp_error *err)
{
	return add(merge, profile, sign, extra, NULL, err);
}

int pp_merge_add_some(struct pp_merge *merge, const struct pp_profile *profile, const struct pp_merge_some *some,
                      struct pp_error *err)
{
	return add(merge, profile, 1, NULL, some, err);
}

struct pp_profile *pp_merge_finish(struct pp_merge *merge, struct pp_error *err)
{
	struct pp_build *build = pp_build_new(&merge->limits, err);
	struct pp_profile *sum = NULL;

	if (!build)
		return NULL;
	if (!pp_merge_settle_common(merge, err) && !pp_merge_emit(merge, build, err) && !emit_header(merge, build, err))
		sum = pp_build_finish(build, err);
	pp_build_free(build);
	return sum;
}

struct pp_profile *pp_merge_all(const struct pp_profile *const *profiles, size_t n,
                                const struct pp_limits *limits, struct pp_error *err)
{
	struct pp_merge *merge = pp_merge_new(limits, err);
	struct pp_profile *sum = NULL;
	size_t i;

	if (!merge)
		return NULL;
	for (i = 0; i < n && !pp_merge_add(merge, profiles[i], 1, NULL, err); i++)
		;
	if (i == n)
		sum = pp_merge_finish(merge, err);
	pp_merge_free(merge);
	return sum;
}
