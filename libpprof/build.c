#include "libpprof/build_private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/arena.h"
#include "libpprof/hash.h"

struct pp_build {
	struct pp_profile *profile; /* NULL once finished */
	struct pp_limits limits;
	struct pp_error err; /* the first failure */

	struct pp_intern *strings, *stacks, *label_lists, *notes;
	bool appends_strings; /* pp_build_string_append was used */
	bool types_complete;  /* a sample was made with one value per sample type */
	uint32_t row_n;       /* values of every sample */

	struct pp_label *packed; /* scratch: a label list without indeterminate padding */
	size_t packed_n;

	size_t strings_cap, sample_types_cap, mappings_cap, functions_cap, locations_cap, lines_cap;
	size_t stacks_cap, label_lists_cap, sample_stack_cap, sample_labels_cap, values_cap;
	size_t comments_cap, unknowns_cap, notes_cap;
};

static bool failed(const struct pp_build *build)
{
	return build->err.code != PP_OK;
}

static int fail_memory(struct pp_build *build)
{
	if (pp_arena_over(build->profile->arena))
		return pp_fail(&build->err, PP_ELIMIT, PP_NO_OFFSET,
		               "the model needs more than %" PRIu64 " bytes", build->limits.model_bytes);
	return pp_fail(&build->err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
}

/* True when *field, a pointer to an array in the arena, has room for want elements. Indices are 32
 * bits wide, and the largest is PP_NONE, so what is an index stays below it. */
static bool room(struct pp_build *build, void *field, size_t *capacity, size_t want, size_t element_bytes)
{
	void *array;

	if (failed(build))
		return false;
	if (want <= *capacity)
		return true;
	memcpy(&array, field, sizeof(array));
	if (pp_arena_reserve(build->profile->arena, &array, capacity, want, element_bytes)) {
		fail_memory(build);
		return false;
	}
	memcpy(field, &array, sizeof(array));
	return true;
}

/* The same for an array whose elements have dense indices. */
static bool room_for_index(struct pp_build *build, void *field, size_t *capacity, size_t want,
                           size_t element_bytes)
{
	if (want < PP_NONE)
		return room(build, field, capacity, want, element_bytes);
	pp_fail(&build->err, PP_ELIMIT, PP_NO_OFFSET, "a table has more than %" PRIu32 " elements", PP_NONE - 1);
	return false;
}

/* ---- life ---- */

static struct pp_profile *profile_new(uint64_t budget_bytes, struct pp_error *err)
{
	struct pp_arena *arena = pp_arena_new(budget_bytes);
	struct pp_profile *profile;

	if (!arena)
		return NULL;
	profile = pp_arena_alloc(arena, sizeof(*profile));
	if (!profile) {
		if (pp_arena_over(arena))
			pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "the model needs more than %" PRIu64 " bytes", budget_bytes);
		pp_arena_free(arena);
		return NULL;
	}
	memset(profile, 0, sizeof(*profile));
	profile->arena = arena;
	return profile;
}

struct pp_build *pp_build_new(const struct pp_limits *limits, struct pp_error *err)
{
	struct pp_build *build = calloc(1, sizeof(*build));
	struct pp_arena *arena;

	if (!build)
		goto fail;
	build->limits = *limits;
	build->profile = profile_new(limits->model_bytes, err);
	if (!build->profile)
		goto fail;
	arena = build->profile->arena;
	build->strings = pp_intern_new(arena);
	build->stacks = pp_intern_new(arena);
	build->label_lists = pp_intern_new(arena);
	build->notes = pp_intern_new(arena);
	if (!build->strings || !build->stacks || !build->label_lists || !build->notes)
		goto fail;
	if (pp_build_string(build, PP_LIT("")) != 0 || pp_build_label_list(build, NULL, 0) != 0)
		goto fail;
	return build;
fail:
	if (build && failed(build))
		*err = build->err;
	else
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	pp_build_free(build);
	return NULL;
}

static void free_tables(struct pp_build *build)
{
	pp_intern_free(build->strings);
	pp_intern_free(build->stacks);
	pp_intern_free(build->label_lists);
	pp_intern_free(build->notes);
	build->strings = build->stacks = build->label_lists = build->notes = NULL;
}

void pp_build_free(struct pp_build *build)
{
	if (!build)
		return;
	free_tables(build);
	pp_profile_free(build->profile);
	free(build->packed);
	free(build);
}

struct pp_profile *pp_build_profile(struct pp_build *build)
{
	return build->profile;
}

const struct pp_error *pp_build_error(const struct pp_build *build)
{
	return failed(build) ? &build->err : NULL;
}

/* ---- strings ---- */

static uint32_t push_string(struct pp_build *build, struct pp_str string)
{
	struct pp_profile *p = build->profile;

	if (!room_for_index(build, &p->strings, &build->strings_cap, (size_t)p->strings_n + 1, sizeof(*p->strings)))
		return PP_NONE;
	p->strings[p->strings_n] = string;
	return p->strings_n++;
}

uint32_t pp_build_string(struct pp_build *build, struct pp_str bytes)
{
	bool is_new;
	uint32_t index;

	if (failed(build))
		return PP_NONE;
	index = pp_intern_put(build->strings, bytes.ptr, bytes.len, &is_new);
	if (index == PP_NONE) {
		fail_memory(build);
		return PP_NONE;
	}
	return is_new ? push_string(build, pp_intern_at(build->strings, index)) : index;
}

uint32_t pp_build_string_append(struct pp_build *build, struct pp_str bytes)
{
	struct pp_str copy;

	if (failed(build))
		return PP_NONE;
	if (!build->appends_strings) {
		build->appends_strings = true; /* "" is there already */
		if (bytes.len == 0)
			return 0;
		pp_fail(&build->err, PP_EFORMAT, PP_NO_OFFSET, "the first string is not empty");
		return PP_NONE;
	}
	copy.ptr = bytes.len ? pp_arena_copy(build->profile->arena, bytes.ptr, bytes.len) : "";
	copy.len = bytes.len;
	if (!copy.ptr) {
		fail_memory(build);
		return PP_NONE;
	}
	return push_string(build, copy);
}

/* ---- tables ---- */

uint32_t pp_build_sample_type(struct pp_build *build, struct pp_value_type type)
{
	struct pp_profile *p = build->profile;

	if (build->types_complete) {
		pp_fail(&build->err, PP_EFORMAT, PP_NO_OFFSET, "a sample type comes after a sample");
		return PP_NONE;
	}
	if (!room_for_index(build, &p->sample_types, &build->sample_types_cap, (size_t)p->sample_types_n + 1,
	                    sizeof(*p->sample_types)))
		return PP_NONE;
	p->sample_types[p->sample_types_n] = type;
	return p->sample_types_n++;
}

uint32_t pp_build_mapping(struct pp_build *build, const struct pp_mapping *mapping)
{
	struct pp_profile *p = build->profile;
	uint32_t index = p->mappings_n;

	if (!room_for_index(build, &p->mappings, &build->mappings_cap, (size_t)index + 1, sizeof(*p->mappings)))
		return PP_NONE;
	p->mappings[index] = *mapping;
	if (!mapping->id)
		p->mappings[index].id = (uint64_t)index + 1;
	p->mappings_n++;
	return index;
}

uint32_t pp_build_function(struct pp_build *build, const struct pp_function *function)
{
	struct pp_profile *p = build->profile;
	uint32_t index = p->functions_n;

	if (!room_for_index(build, &p->functions, &build->functions_cap, (size_t)index + 1, sizeof(*p->functions)))
		return PP_NONE;
	p->functions[index] = *function;
	if (!function->id)
		p->functions[index].id = (uint64_t)index + 1;
	p->functions_n++;
	return index;
}

uint32_t pp_build_location(struct pp_build *build, const struct pp_location *location,
                           const struct pp_line *lines, uint32_t lines_n)
{
	struct pp_profile *p = build->profile;
	uint32_t index = p->locations_n;

	if (!room_for_index(build, &p->locations, &build->locations_cap, (size_t)index + 1, sizeof(*p->locations)) ||
	    !room_for_index(build, &p->lines, &build->lines_cap, (size_t)p->lines_n + lines_n, sizeof(*p->lines)))
		return PP_NONE;
	p->locations[index] = *location;
	if (!location->id)
		p->locations[index].id = (uint64_t)index + 1;
	p->locations[index].line_first = p->lines_n;
	p->locations[index].lines_n = lines_n;
	if (lines_n)
		memcpy(p->lines + p->lines_n, lines, lines_n * sizeof(*lines));
	p->lines_n += lines_n;
	p->locations_n++;
	return index;
}

/* ---- samples ---- */

uint32_t pp_build_stack(struct pp_build *build, const uint32_t *locations, uint32_t n)
{
	struct pp_profile *p = build->profile;
	bool is_new;
	uint32_t index;

	if (failed(build))
		return PP_NONE;
	if (n > build->limits.depth) {
		pp_fail(&build->err, PP_ELIMIT, PP_NO_OFFSET, "a stack has %" PRIu32 " locations, more than %" PRIu32,
		        n, build->limits.depth);
		return PP_NONE;
	}
	index = pp_intern_put(build->stacks, locations, n * sizeof(*locations), &is_new);
	if (index == PP_NONE) {
		fail_memory(build);
		return PP_NONE;
	}
	if (!is_new)
		return index;
	if (!room_for_index(build, &p->stacks, &build->stacks_cap, (size_t)index + 1, sizeof(*p->stacks)))
		return PP_NONE;
	p->stacks[index].locations = (const uint32_t *)(const void *)pp_intern_at(build->stacks, index).ptr;
	p->stacks[index].n = n;
	p->stacks_n++;
	return index;
}

int pp_build_remap_locations(struct pp_build *build, const uint32_t *new_index, uint64_t *dropped)
{
	return failed(build) ? -1 : pp_repair_stacks(build->profile, new_index, dropped, &build->err);
}

int pp_build_unite_label_lists(struct pp_build *build)
{
	return failed(build) ? -1 : pp_repair_label_lists(build->profile, &build->err);
}

/* Copies labels to scratch memory with all padding zero, so that equal lists are equal bytes. */
static const struct pp_label *pack_labels(struct pp_build *build, const struct pp_label *labels, uint32_t n)
{
	if (n > build->packed_n) {
		size_t bytes;
		void *packed = pp_mul_size(n, 2 * sizeof(*labels), &bytes) ? realloc(build->packed, bytes) : NULL;

		if (!packed) {
			pp_fail(&build->err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
			return NULL;
		}
		build->packed = packed;
		build->packed_n = (size_t)n * 2;
	}
	if (n)
		memset(build->packed, 0, n * sizeof(*labels));
	for (uint32_t i = 0; i < n; i++) {
		build->packed[i].key = labels[i].key;
		build->packed[i].str = labels[i].str;
		build->packed[i].num_unit = labels[i].num_unit;
		build->packed[i].num = labels[i].num;
	}
	return build->packed;
}

uint32_t pp_build_label_list(struct pp_build *build, const struct pp_label *labels, uint32_t n)
{
	struct pp_profile *p = build->profile;
	const struct pp_label *packed;
	bool is_new;
	uint32_t index;

	if (failed(build))
		return PP_NONE;
	packed = pack_labels(build, labels, n);
	if (failed(build))
		return PP_NONE;
	index = pp_intern_put(build->label_lists, packed, n * sizeof(*packed), &is_new);
	if (index == PP_NONE) {
		fail_memory(build);
		return PP_NONE;
	}
	if (!is_new)
		return index;
	if (!room_for_index(build, &p->label_lists, &build->label_lists_cap, (size_t)index + 1,
	                    sizeof(*p->label_lists)))
		return PP_NONE;
	p->label_lists[index].labels =
		(const struct pp_label *)(const void *)pp_intern_at(build->label_lists, index).ptr;
	p->label_lists[index].n = n;
	p->label_lists_n++;
	return index;
}

uint32_t pp_build_row(struct pp_build *build, uint32_t stack, uint32_t label_list, const int64_t *values,
                      uint32_t n)
{
	struct pp_profile *p = build->profile;
	uint32_t index = p->samples_n;
	size_t first = (size_t)index * n;

	if (failed(build))
		return PP_NONE;
	if (index >= build->limits.samples) {
		pp_fail(&build->err, PP_ELIMIT, PP_NO_OFFSET, "more than %" PRIu32 " samples", build->limits.samples);
		return PP_NONE;
	}
	if (!room_for_index(build, &p->sample_stack, &build->sample_stack_cap, (size_t)index + 1,
	                    sizeof(*p->sample_stack)) ||
	    !room_for_index(build, &p->sample_labels, &build->sample_labels_cap, (size_t)index + 1,
	                    sizeof(*p->sample_labels)) ||
	    !room(build, &p->values, &build->values_cap, first + n, sizeof(*p->values)))
		return PP_NONE;
	build->row_n = n;
	p->sample_stack[index] = stack;
	p->sample_labels[index] = label_list;
	if (n)
		memcpy(p->values + first, values, n * sizeof(*values));
	p->samples_n++;
	return index;
}

uint32_t pp_build_sample(struct pp_build *build, uint32_t stack, uint32_t label_list, const int64_t *values)
{
	build->types_complete = true;
	return pp_build_row(build, stack, label_list, values, build->profile->sample_types_n);
}

/* ---- the rest ---- */

int pp_build_comment(struct pp_build *build, uint32_t comment)
{
	struct pp_profile *p = build->profile;

	if (!room_for_index(build, &p->comments, &build->comments_cap, (size_t)p->comments_n + 1, sizeof(*p->comments)))
		return -1;
	p->comments[p->comments_n++] = comment;
	return 0;
}

int pp_build_unknown(struct pp_build *build, enum pp_record record, uint32_t index, uint32_t label,
                     struct pp_str bytes)
{
	struct pp_profile *p = build->profile;
	struct pp_unknown unknown = {record, index, label, {NULL, bytes.len}};

	if (!room_for_index(build, &p->unknowns, &build->unknowns_cap, (size_t)p->unknowns_n + 1, sizeof(*p->unknowns)))
		return -1;
	unknown.bytes.ptr = pp_arena_copy(p->arena, bytes.ptr, bytes.len);
	if (!unknown.bytes.ptr)
		return fail_memory(build);
	p->unknowns[p->unknowns_n++] = unknown;
	return 0;
}

static int add_note(struct pp_build *build, uint64_t offset, uint64_t times, const char *text)
{
	struct pp_profile *p = build->profile;
	char printable[400];
	bool is_new;
	uint32_t index;

	if (failed(build))
		return -1;
	pp_printable(printable, sizeof(printable), text, strlen(text));
	index = pp_intern_put(build->notes, printable, strlen(printable), &is_new);
	if (index == PP_NONE)
		return fail_memory(build);
	if (!is_new) {
		p->notes[index].count += times;
		return 0;
	}
	if (!room_for_index(build, &p->notes, &build->notes_cap, (size_t)index + 1, sizeof(*p->notes)))
		return -1;
	p->notes[index] = (struct pp_note){offset, times, pp_intern_at(build->notes, index).ptr};
	p->notes_n++;
	return 0;
}

int pp_build_note(struct pp_build *build, uint64_t offset, const char *format, ...)
{
	char text[400];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return add_note(build, offset, 1, n < 0 ? "" : text);
}

int pp_build_note_times(struct pp_build *build, uint64_t offset, uint64_t times, const char *format, ...)
{
	char text[400];
	va_list args;
	int n;

	if (times == 0)
		return failed(build) ? -1 : 0;
	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return add_note(build, offset, times, n < 0 ? "" : text);
}

/* ---- finish ---- */

static int compare_places(const struct pp_unknown *a, const struct pp_unknown *b)
{
	if (a->record != b->record)
		return a->record < b->record ? -1 : 1;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return (a->label > b->label) - (a->label < b->label);
}

/* Order of place, and of arrival among those of one place. */
struct arrival {
	struct pp_unknown unknown;
	uint32_t number;
};

static int compare_arrivals(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;
	int order = compare_places(&x->unknown, &y->unknown);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int sort_unknowns(struct pp_build *build)
{
	struct pp_profile *p = build->profile;
	struct arrival *arrivals;
	uint32_t i;

	for (i = 1; i < p->unknowns_n && compare_places(&p->unknowns[i - 1], &p->unknowns[i]) <= 0; i++)
		;
	if (i >= p->unknowns_n)
		return 0;
	arrivals = calloc(p->unknowns_n, sizeof(*arrivals));
	if (!arrivals)
		return pp_fail(&build->err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	for (i = 0; i < p->unknowns_n; i++)
		arrivals[i] = (struct arrival){p->unknowns[i], i};
	qsort(arrivals, p->unknowns_n, sizeof(*arrivals), compare_arrivals);
	for (i = 0; i < p->unknowns_n; i++)
		p->unknowns[i] = arrivals[i].unknown;
	free(arrivals);
	return 0;
}

static void trim(struct pp_build *build, void *field, size_t *capacity, size_t used, size_t element_bytes)
{
	void *array;

	memcpy(&array, field, sizeof(array));
	pp_arena_trim(build->profile->arena, &array, capacity, used, element_bytes);
	memcpy(field, &array, sizeof(array));
}

/* Small arrays and rare ones are not worth the call. */
static void trim_all(struct pp_build *build)
{
	struct pp_profile *p = build->profile;

	trim(build, &p->strings, &build->strings_cap, p->strings_n, sizeof(*p->strings));
	trim(build, &p->functions, &build->functions_cap, p->functions_n, sizeof(*p->functions));
	trim(build, &p->locations, &build->locations_cap, p->locations_n, sizeof(*p->locations));
	trim(build, &p->lines, &build->lines_cap, p->lines_n, sizeof(*p->lines));
	trim(build, &p->stacks, &build->stacks_cap, p->stacks_n, sizeof(*p->stacks));
	trim(build, &p->label_lists, &build->label_lists_cap, p->label_lists_n, sizeof(*p->label_lists));
	trim(build, &p->sample_stack, &build->sample_stack_cap, p->samples_n, sizeof(*p->sample_stack));
	trim(build, &p->sample_labels, &build->sample_labels_cap, p->samples_n, sizeof(*p->sample_labels));
	trim(build, &p->values, &build->values_cap, (size_t)p->samples_n * p->sample_types_n, sizeof(*p->values));
}

static int check_rows(struct pp_build *build)
{
	const struct pp_profile *p = build->profile;

	if (p->samples_n == 0 || build->row_n == p->sample_types_n)
		return 0;
	return pp_fail(&build->err, PP_EFORMAT, PP_NO_OFFSET,
	               "samples have %" PRIu32 " values, but there are %" PRIu32 " sample types", build->row_n,
	               p->sample_types_n);
}

struct pp_profile *pp_build_finish(struct pp_build *build, struct pp_error *err)
{
	struct pp_profile *profile = build->profile;

	if (failed(build) || check_rows(build) || pp_build_check(profile, &build->err) || sort_unknowns(build)) {
		if (err->code == PP_OK)
			*err = build->err;
		return NULL;
	}
	free_tables(build);
	trim_all(build);
	build->profile = NULL;
	return profile;
}
