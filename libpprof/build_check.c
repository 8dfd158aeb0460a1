#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/build_private.h"

static int dangling(struct pp_error *err, const char *what, uint32_t index, const char *field,
                    const char *table, uint32_t to)
{
	return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "%s[%" PRIu32 "].%s: no %s has index %" PRIu32, what,
	               index, field, table, to);
}

static int check_string(const struct pp_profile *p, struct pp_error *err, const char *what, uint32_t index,
                        const char *field, uint32_t string)
{
	return string < p->strings_n ? 0 : dangling(err, what, index, field, "string", string);
}

static int check_header(const struct pp_profile *p, struct pp_error *err)
{
	for (uint32_t i = 0; i < p->sample_types_n; i++)
		if (check_string(p, err, "sample_type", i, "type", p->sample_types[i].type) ||
		    check_string(p, err, "sample_type", i, "unit", p->sample_types[i].unit))
			return -1;
	for (uint32_t i = 0; i < p->comments_n; i++)
		if (check_string(p, err, "comment", i, "string", p->comments[i]))
			return -1;
	if (check_string(p, err, "profile", 0, "drop_frames", p->drop_frames) ||
	    check_string(p, err, "profile", 0, "keep_frames", p->keep_frames) ||
	    check_string(p, err, "profile", 0, "period_type.type", p->period_type.type) ||
	    check_string(p, err, "profile", 0, "period_type.unit", p->period_type.unit) ||
	    check_string(p, err, "profile", 0, "default_sample_type", p->default_sample_type) ||
	    check_string(p, err, "profile", 0, "doc_url", p->doc_url))
		return -1;
	if (p->samples_n && !p->sample_types_n)
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "there are samples but no sample type");
	return 0;
}

static int check_tables(const struct pp_profile *p, struct pp_error *err)
{
	for (uint32_t i = 0; i < p->mappings_n; i++)
		if (check_string(p, err, "mapping", i, "filename", p->mappings[i].filename) ||
		    check_string(p, err, "mapping", i, "build_id", p->mappings[i].build_id))
			return -1;
	for (uint32_t i = 0; i < p->functions_n; i++)
		if (check_string(p, err, "function", i, "name", p->functions[i].name) ||
		    check_string(p, err, "function", i, "system_name", p->functions[i].system_name) ||
		    check_string(p, err, "function", i, "filename", p->functions[i].filename))
			return -1;
	for (uint32_t i = 0; i < p->locations_n; i++)
		if (p->locations[i].mapping != PP_NONE && p->locations[i].mapping >= p->mappings_n)
			return dangling(err, "location", i, "mapping", "mapping", p->locations[i].mapping);
	for (uint32_t i = 0; i < p->lines_n; i++)
		if (p->lines[i].function != PP_NONE && p->lines[i].function >= p->functions_n)
			return dangling(err, "line", i, "function", "function", p->lines[i].function);
	return 0;
}

static int check_samples(const struct pp_profile *p, struct pp_error *err)
{
	for (uint32_t s = 0; s < p->stacks_n; s++)
		for (uint32_t i = 0; i < p->stacks[s].n; i++)
			if (p->stacks[s].locations[i] >= p->locations_n)
				return dangling(err, "stack", s, "location", "location", p->stacks[s].locations[i]);
	for (uint32_t l = 0; l < p->label_lists_n; l++)
		for (uint32_t i = 0; i < p->label_lists[l].n; i++)
			if (check_string(p, err, "label_list", l, "key", p->label_lists[l].labels[i].key) ||
			    check_string(p, err, "label_list", l, "str", p->label_lists[l].labels[i].str) ||
			    check_string(p, err, "label_list", l, "num_unit", p->label_lists[l].labels[i].num_unit))
				return -1;
	for (uint32_t s = 0; s < p->samples_n; s++) {
		if (p->sample_stack[s] >= p->stacks_n)
			return dangling(err, "sample", s, "stack", "stack", p->sample_stack[s]);
		if (p->sample_labels[s] >= p->label_lists_n)
			return dangling(err, "sample", s, "labels", "label list", p->sample_labels[s]);
	}
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Ids of one table, elements being stride bytes apart and beginning with their id, are distinct. */
static int check_ids(struct pp_error *err, const char *what, const void *table, size_t n, size_t stride)
{
	const char *element = table;
	uint64_t *ids;
	bool ascending = true;
	int result = 0;

	if (n < 2)
		return 0;
	ids = malloc(n * sizeof(*ids));
	if (!ids)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	for (size_t i = 0; i < n; i++, element += stride) {
		memcpy(&ids[i], element, sizeof(ids[i]));
		if (i && ids[i] <= ids[i - 1])
			ascending = false;
	}
	if (!ascending)
		qsort(ids, n, sizeof(*ids), compare_ids);
	for (size_t i = 1; i < n && !result; i++)
		if (ids[i] == ids[i - 1])
			result = pp_fail(err, PP_EFORMAT, PP_NO_OFFSET,
			                 "multiple %ss with same id: %" PRIu64, what, ids[i]);
	free(ids);
	return result;
}

_Static_assert(offsetof(struct pp_mapping, id) == 0, "check_ids reads ids at the start of an element");
_Static_assert(offsetof(struct pp_function, id) == 0, "check_ids reads ids at the start of an element");
_Static_assert(offsetof(struct pp_location, id) == 0, "check_ids reads ids at the start of an element");

int pp_build_check(const struct pp_profile *p, struct pp_error *err)
{
	if (check_header(p, err) || check_tables(p, err) || check_samples(p, err) ||
	    check_ids(err, "mapping", p->mappings, p->mappings_n, sizeof(*p->mappings)) ||
	    check_ids(err, "function", p->functions, p->functions_n, sizeof(*p->functions)))
		return -1;
	return check_ids(err, "location", p->locations, p->locations_n, sizeof(*p->locations));
}
