#include "cmd/listing.h"

#include <stdlib.h>
#include <string.h>

/* ---- values by frame, of one granularity ---- */

/* Both sides over one set of frames. */
struct sides {
	struct pp_rollup profile, baseline;
};

static int roll_up(const struct viewed *viewed, struct pp_frames *frames, struct pp_rollup *rollup,
                   struct pp_error *err)
{
	struct pp_frame_map map;
	if (pp_frames_map(frames, viewed->profile, &map, err) != 0)
		return -1;
	int result = pp_rollup_make(viewed->profile, frames, &map, viewed->column, NULL, NULL, rollup, err);
	pp_frame_map_release(&map);
	return result;
}

static int roll_up_sides(const struct viewed *profile, const struct viewed *baseline, struct pp_frames *frames,
                         struct sides *sides, struct pp_error *err)
{
	if (roll_up(profile, frames, &sides->profile, err) != 0)
		return -1;
	return baseline ? roll_up(baseline, frames, &sides->baseline, err) : 0;
}

static void release_sides(struct sides *sides)
{
	pp_rollup_release(&sides->profile);
	pp_rollup_release(&sides->baseline);
}

static int64_t at(const int64_t *values, uint32_t n, uint32_t frame)
{
	return frame < n ? values[frame] : 0;
}

static int values_of(const struct sides *sides, uint32_t frame, struct listing_values *values,
                     struct pp_error *err)
{
	const struct pp_rollup *p = &sides->profile, *b = &sides->baseline;
	values->baseline_flat = at(b->flat, b->frames_n, frame);
	values->baseline_cum = at(b->cum, b->frames_n, frame);
	if (__builtin_sub_overflow(at(p->flat, p->frames_n, frame), values->baseline_flat, &values->flat) ||
	    __builtin_sub_overflow(at(p->cum, p->frames_n, frame), values->baseline_cum, &values->cum))
		return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "a difference does not fit 64 bits");
	return 0;
}

static bool is_nothing(const struct listing_values *values)
{
	return values->flat == 0 && values->cum == 0 && values->baseline_flat == 0 && values->baseline_cum == 0;
}

/* ---- functions and lines that match ---- */

/* A frame of the answer, before lines stand below their functions. */
struct match {
	struct pp_str name, file;
	struct listing_line line;
};

static int compare_matches(const void *a, const void *b)
{
	const struct match *x = a, *y = b;
	int order = pp_str_cmp(x->name, y->name);
	if (order == 0)
		order = pp_str_cmp(x->file, y->file);
	return order ? order : (x->line.line > y->line.line) - (x->line.line < y->line.line);
}

/* The frames that match and have a value, sorted; *matches is for free(). */
static int find_matches(const struct pp_frames *frames, const struct sides *sides, struct pp_regex *regex,
                        struct match **matches, size_t *n, struct pp_error *err)
{
	const uint32_t frames_n = pp_frames_count(frames);
	*n = 0;
	*matches = malloc(((size_t)frames_n + 1) * sizeof **matches);
	if (!*matches)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	for (uint32_t i = 0; i < frames_n; i++) {
		const struct pp_frame *frame = pp_frames_at(frames, i);
		struct match *match = &(*matches)[*n];
		bool matched = false;
		*match = (struct match){frame->name, frame->file, {.line = frame->line, .start_line = frame->start_line}};
		if (frame->kind != PP_FRAME_CODE || values_of(sides, i, &match->line.values, err) != 0 ||
		    is_nothing(&match->line.values) || pp_regex_match(regex, frame->name, &matched, err) != 0) {
			if (err->code)
				return -1;
			continue;
		}
		*n += matched;
	}
	if (*n > 1)
		qsort(*matches, *n, sizeof **matches, compare_matches);
	return 0;
}

/* Each function with the lines that follow each other in the sorted ones. */
static int assemble(struct listing *listing, const struct match *functions, size_t functions_n,
                    const struct match *lines, size_t lines_n, struct pp_error *err)
{
	size_t next = 0;
	listing->routines = calloc(functions_n + 1, sizeof *listing->routines);
	listing->lines = calloc(lines_n + 1, sizeof *listing->lines);
	if (!listing->routines || !listing->lines)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	for (size_t i = 0; i < functions_n; i++) {
		struct listing_routine *routine = &listing->routines[listing->routines_n++];
		*routine = (struct listing_routine){functions[i].name, functions[i].file, functions[i].line.values,
		                                    listing->lines + next, 0};
		for (; next < lines_n && pp_str_eq(lines[next].name, routine->name) &&
		       pp_str_eq(lines[next].file, routine->file); next++)
			listing->lines[next] = lines[next].line;
		routine->lines_n = (size_t)(listing->lines + next - routine->lines);
	}
	return 0;
}

static int find_routines(struct listing *listing, const struct viewed *profile, const struct viewed *baseline,
                         struct pp_regex *regex, struct pp_error *err)
{
	struct sides functions = {.profile = {0}}, lines = {.profile = {0}};
	struct match *function_matches = NULL, *line_matches = NULL;
	size_t functions_n, lines_n;
	int result = -1;
	listing->by_function = pp_frames_new(PP_BY_FILEFUNCTIONS, err);
	listing->by_line = pp_frames_new(PP_BY_LINES, err);
	if (listing->by_function && listing->by_line &&
	    roll_up_sides(profile, baseline, listing->by_function, &functions, err) == 0 &&
	    roll_up_sides(profile, baseline, listing->by_line, &lines, err) == 0 &&
	    find_matches(listing->by_function, &functions, regex, &function_matches, &functions_n, err) == 0 &&
	    find_matches(listing->by_line, &lines, regex, &line_matches, &lines_n, err) == 0)
		result = assemble(listing, function_matches, functions_n, line_matches, lines_n, err);
	free(function_matches);
	free(line_matches);
	release_sides(&functions);
	release_sides(&lines);
	return result;
}

/* ---- the whole ---- */

static int check_types(const struct viewed *profile, const struct viewed *baseline, struct pp_error *err)
{
	if (pp_str_eq(pp_sample_type_name(profile->profile, profile->column),
	              pp_sample_type_name(baseline->profile, baseline->column)) &&
	    pp_str_eq(pp_sample_type_unit(profile->profile, profile->column),
	              pp_sample_type_unit(baseline->profile, baseline->column)))
		return 0;
	return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET, "the baseline has another sample type");
}

int listing_make(const struct viewed *profile, const struct viewed *baseline, const char *pattern,
                 struct listing *listing, struct pp_error *err)
{
	*listing = (struct listing){.unit = pp_sample_type_unit(profile->profile, profile->column),
	                            .total = view_total(baseline ? baseline : profile, false)};
	if (baseline && check_types(profile, baseline, err) != 0)
		return -1;
	if (listing->total == 0)
		listing->total = view_total(profile, false);
	struct pp_regex *regex = pp_regex_new(pp_str_of(pattern), false, err);
	int result = regex ? find_routines(listing, profile, baseline, regex, err) : -1;
	pp_regex_free(regex);
	if (result == 0 && listing->routines_n == 0)
		return pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "no function matches '%s'", pattern);
	return result;
}

void listing_release(struct listing *listing)
{
	free(listing->routines);
	free(listing->lines);
	pp_frames_free(listing->by_line);
	pp_frames_free(listing->by_function);
}
