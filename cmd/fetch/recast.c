#include "cmd/fetch/recast.h"

#include <stdlib.h>

/* Tables in their order, so that indices stay: strings are interned, and keep their bytes. */
struct copy {
	const struct pp_profile *from;
	struct pp_build *build;
};

static uint32_t string_of(const struct copy *copy, uint32_t index)
{
	return pp_build_string(copy->build, pp_string(copy->from, index));
}

static void copy_tables(const struct copy *copy)
{
	const struct pp_profile *from = copy->from;

	for (uint32_t i = 0; i < from->mappings_n; i++) {
		struct pp_mapping mapping = from->mappings[i];
		mapping.filename = string_of(copy, mapping.filename);
		mapping.build_id = string_of(copy, mapping.build_id);
		pp_build_mapping(copy->build, &mapping);
	}
	for (uint32_t i = 0; i < from->functions_n; i++) {
		struct pp_function function = from->functions[i];
		function.name = string_of(copy, function.name);
		function.system_name = string_of(copy, function.system_name);
		function.filename = string_of(copy, function.filename);
		pp_build_function(copy->build, &function);
	}
	for (uint32_t i = 0; i < from->locations_n; i++) {
		const struct pp_location *location = &from->locations[i];
		pp_build_location(copy->build, location, from->lines + location->line_first, location->lines_n);
	}
	for (uint32_t i = 0; i < from->comments_n; i++)
		pp_build_comment(copy->build, string_of(copy, from->comments[i]));
}

static uint32_t copy_labels(const struct copy *copy, const struct pp_label_list *list)
{
	struct pp_label few[16] = {{0, 0, 0, 0}}, *labels = list->n <= PP_COUNT(few) ? few : malloc(list->n * sizeof(*labels));
	uint32_t index = PP_NONE;

	if (!labels)
		return PP_NONE;
	for (uint32_t i = 0; i < list->n; i++) {
		labels[i] = list->labels[i];
		labels[i].key = string_of(copy, labels[i].key);
		labels[i].str = string_of(copy, labels[i].str);
		labels[i].num_unit = string_of(copy, labels[i].num_unit);
	}
	index = pp_build_label_list(copy->build, labels, list->n);
	if (labels != few)
		free(labels);
	return index;
}

static void copy_sample(const struct copy *copy, uint32_t sample, const int64_t *values)
{
	const struct pp_stack *stack = pp_sample_stack(copy->from, sample);
	uint32_t labels = copy_labels(copy, pp_sample_labels(copy->from, sample));

	pp_build_sample(copy->build, pp_build_stack(copy->build, stack->locations, stack->n), labels, values);
}

/* Ends a copy: the profile, or NULL. */
static struct pp_profile *end_copy(struct copy *copy, struct pp_error *err)
{
	struct pp_profile *profile = pp_build_finish(copy->build, err);

	pp_build_free(copy->build);
	return profile;
}

struct pp_profile *recast_columns(const struct pp_profile *profile, const struct recast_columns *columns,
                                  struct pp_error *err)
{
	static const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct copy copy = {profile, pp_build_new(&limits, err)};
	int64_t *values = calloc(columns->columns_n, sizeof(*values));

	if (!copy.build || !values) {
		free(values);
		pp_build_free(copy.build);
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
		return NULL;
	}
	for (uint32_t i = 0; i < columns->columns_n; i++)
		pp_build_sample_type(copy.build, (struct pp_value_type){pp_build_string(copy.build, columns->types[i][0]),
		                                                        pp_build_string(copy.build, columns->types[i][1])});
	copy_tables(&copy);
	for (uint32_t i = 0; i < profile->samples_n; i++) {
		values[columns->into] = pp_value(profile, i, columns->column);
		copy_sample(&copy, i, values);
	}
	free(values);
	return end_copy(&copy, err);
}

struct pp_profile *recast_header(const struct pp_profile *profile, const struct recast_header *header,
                                 struct pp_error *err)
{
	static const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct copy copy = {profile, pp_build_new(&limits, err)};

	if (!copy.build)
		return NULL;
	for (uint32_t i = 0; i < profile->sample_types_n; i++)
		pp_build_sample_type(copy.build, (struct pp_value_type){string_of(&copy, profile->sample_types[i].type),
		                                                        string_of(&copy, profile->sample_types[i].unit)});
	copy_tables(&copy);
	for (uint32_t i = 0; i < profile->samples_n; i++)
		copy_sample(&copy, i, profile->values + (size_t)i * profile->sample_types_n);
	struct pp_profile *made = pp_build_profile(copy.build);
	made->time_ns = header->time_ns;
	made->duration_ns = header->duration_ns;
	made->period = header->period;
	made->period_type = (struct pp_value_type){pp_build_string(copy.build, header->period_type),
	                                           pp_build_string(copy.build, header->period_unit)};
	made->default_sample_type = pp_build_string(copy.build, header->default_type);
	made->drop_frames = string_of(&copy, profile->drop_frames);
	made->keep_frames = string_of(&copy, profile->keep_frames);
	return end_copy(&copy, err);
}
