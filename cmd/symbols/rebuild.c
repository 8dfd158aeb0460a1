#include "cmd/symbols/rebuild.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for symbols");
}

/* The name for people of a linked one, as an index of the copy. */
static uint32_t demangled(struct rebuild *rebuild, struct pp_str name, uint32_t as_it_is)
{
	if (memchr(name.ptr, '\0', name.len) || !demangle(name.ptr, rebuild->demangle, &rebuild->scratch))
		return as_it_is;
	return pp_build_string(rebuild->build, (struct pp_str){rebuild->scratch.bytes, rebuild->scratch.n});
}

/* A function of the profile: its name is made new where it is none yet, or again. */
static void copy_function(struct rebuild *rebuild, uint32_t index)
{
	const struct pp_profile *p = rebuild->profile;
	const struct pp_function *from = &p->functions[index];
	const struct pp_str name = pp_string(p, from->name), system_name = pp_string(p, from->system_name);
	const struct pp_str mangled = system_name.len > 0 ? system_name : name;
	struct pp_function to = {0, rebuild->strings[from->name], rebuild->strings[from->system_name],
	                         rebuild->strings[from->filename], from->start_line};

	if (name.len == 0 || pp_str_eq(name, mangled) || rebuild->again) {
		const uint32_t linked = pp_build_string(rebuild->build, mangled);
		to.name = demangled(rebuild, mangled, linked);
		if (to.name != linked)
			to.system_name = linked;
	}
	pp_build_function(rebuild->build, &to);
}

int rebuild_open(struct rebuild *rebuild, const struct pp_profile *profile, const struct pp_limits *limits,
                 struct pp_error *err)
{
	const struct pp_profile *p = profile;

	rebuild->profile = p;
	rebuild->build = pp_build_new(limits, err);
	if (!rebuild->build)
		return -1;
	rebuild->arena = pp_arena_new(limits->model_bytes);
	rebuild->functions = rebuild->arena ? pp_intern_new(rebuild->arena) : NULL;
	rebuild->strings = malloc(p->strings_n * sizeof *rebuild->strings);
	rebuild->mappings = malloc(((size_t)p->mappings_n + 1) * sizeof *rebuild->mappings);
	rebuild->lines = calloc((size_t)p->locations_n + 1, sizeof *rebuild->lines);
	if (!rebuild->functions || !rebuild->strings || !rebuild->mappings || !rebuild->lines)
		return no_memory(err);
	for (uint32_t i = 0; i < p->strings_n; i++)
		rebuild->strings[i] = pp_build_string(rebuild->build, p->strings[i]);
	for (uint32_t i = 0; i < p->functions_n; i++)
		copy_function(rebuild, i);
	if (p->mappings_n > 0)
		memcpy(rebuild->mappings, p->mappings, p->mappings_n * sizeof *rebuild->mappings);
	return 0;
}

void rebuild_release(struct rebuild *rebuild)
{
	pp_build_free(rebuild->build);
	pp_intern_free(rebuild->functions);
	pp_arena_free(rebuild->arena);
	free(rebuild->strings);
	free(rebuild->mappings);
	free(rebuild->lines);
	pp_buf_release(&rebuild->scratch);
}

uint32_t rebuild_function(struct rebuild *rebuild, const char *system_name, const char *file, int64_t start_line)
{
	const struct pp_str name = pp_str_of(system_name);
	const struct pp_function function = {0, 0, pp_build_string(rebuild->build, name),
	                                     pp_build_string(rebuild->build, pp_str_of(file)), start_line};
	const struct { int64_t start_line; uint32_t name, file; } key = {start_line, function.system_name,
	                                                                  function.filename};
	bool is_new = false;
	const uint32_t index = pp_intern_put(rebuild->functions, &key, sizeof key, &is_new);

	if (index == PP_NONE)
		return PP_NONE;
	if (is_new) {
		struct pp_function made = function;
		made.name = demangled(rebuild, name, function.system_name);
		pp_build_function(rebuild->build, &made);
	}
	return rebuild->profile->functions_n + index;
}

static uint32_t string(const struct rebuild *rebuild, uint32_t index)
{
	return rebuild->strings[index];
}

static struct pp_value_type value_type(const struct rebuild *rebuild, struct pp_value_type type)
{
	return (struct pp_value_type){string(rebuild, type.type), string(rebuild, type.unit)};
}

static void copy_header(struct rebuild *rebuild)
{
	const struct pp_profile *p = rebuild->profile;
	struct pp_profile *to = pp_build_profile(rebuild->build);

	for (uint32_t i = 0; i < p->sample_types_n; i++)
		pp_build_sample_type(rebuild->build, value_type(rebuild, p->sample_types[i]));
	for (uint32_t i = 0; i < p->comments_n; i++)
		pp_build_comment(rebuild->build, string(rebuild, p->comments[i]));
	to->drop_frames = string(rebuild, p->drop_frames);
	to->keep_frames = string(rebuild, p->keep_frames);
	to->time_ns = p->time_ns;
	to->duration_ns = p->duration_ns;
	to->period_type = value_type(rebuild, p->period_type);
	to->period = p->period;
	to->default_sample_type = string(rebuild, p->default_sample_type);
	to->doc_url = string(rebuild, p->doc_url);
}

static void copy_mappings(struct rebuild *rebuild)
{
	for (uint32_t i = 0; i < rebuild->profile->mappings_n; i++) {
		struct pp_mapping to = rebuild->mappings[i];
		to.filename = string(rebuild, to.filename);
		to.build_id = string(rebuild, to.build_id);
		pp_build_mapping(rebuild->build, &to);
	}
}

/* Locations and, with each line, the fields of it that this version does not know. */
static void copy_locations(struct rebuild *rebuild)
{
	const struct pp_profile *p = rebuild->profile;
	const struct pp_unknown *unknown = p->unknowns, *end = p->unknowns + p->unknowns_n;
	uint32_t lines_n = 0;

	for (; unknown < end && unknown->record < PP_RECORD_LINE; unknown++)
		pp_build_unknown(rebuild->build, unknown->record, unknown->index, unknown->label, unknown->bytes);
	for (uint32_t i = 0; i < p->locations_n; i++) {
		struct pp_location location = p->locations[i];
		const struct new_lines *new_lines = &rebuild->lines[i];
		if (new_lines->n > 0) {
			location.is_folded = false;
			pp_build_location(rebuild->build, &location, new_lines->lines, new_lines->n);
			lines_n += new_lines->n;
			continue;
		}
		pp_build_location(rebuild->build, &location, p->lines + location.line_first, location.lines_n);
		for (uint32_t k = location.line_first; k < location.line_first + location.lines_n; k++, lines_n++) {
			while (unknown < end && unknown->record == PP_RECORD_LINE && unknown->index < k)
				unknown++;
			for (; unknown < end && unknown->record == PP_RECORD_LINE && unknown->index == k; unknown++)
				pp_build_unknown(rebuild->build, PP_RECORD_LINE, lines_n, 0, unknown->bytes);
		}
	}
	for (; unknown < end; unknown++)
		if (unknown->record > PP_RECORD_LINE)
			pp_build_unknown(rebuild->build, unknown->record, unknown->index, unknown->label, unknown->bytes);
}

static int copy_label_lists(struct rebuild *rebuild, uint32_t *new_index, struct pp_error *err)
{
	const struct pp_profile *p = rebuild->profile;
	struct pp_label *labels = NULL;
	uint32_t most = 0;

	for (uint32_t i = 0; i < p->label_lists_n; i++)
		most = p->label_lists[i].n > most ? p->label_lists[i].n : most;
	labels = malloc(((size_t)most + 1) * sizeof *labels);
	if (!labels)
		return no_memory(err);
	for (uint32_t i = 0; i < p->label_lists_n; i++) {
		const struct pp_label_list *list = &p->label_lists[i];
		for (uint32_t k = 0; k < list->n; k++)
			labels[k] = (struct pp_label){string(rebuild, list->labels[k].key),
			                              string(rebuild, list->labels[k].str),
			                              string(rebuild, list->labels[k].num_unit), list->labels[k].num};
		new_index[i] = pp_build_label_list(rebuild->build, labels, list->n);
	}
	free(labels);
	return 0;
}

static int copy_samples(struct rebuild *rebuild, struct pp_error *err)
{
	const struct pp_profile *p = rebuild->profile;
	uint32_t *stacks = malloc(((size_t)p->stacks_n + 1) * sizeof *stacks);
	uint32_t *lists = malloc(((size_t)p->label_lists_n + 1) * sizeof *lists);
	int result = -1;

	if (!stacks || !lists) {
		no_memory(err);
		goto done;
	}
	if (copy_label_lists(rebuild, lists, err) != 0)
		goto done;
	for (uint32_t i = 0; i < p->stacks_n; i++)
		stacks[i] = pp_build_stack(rebuild->build, p->stacks[i].locations, p->stacks[i].n);
	for (uint32_t s = 0; s < p->samples_n && !pp_build_error(rebuild->build); s++)
		pp_build_sample(rebuild->build, stacks[p->sample_stack[s]], lists[p->sample_labels[s]],
		                p->values + (size_t)s * p->sample_types_n);
	result = 0;
done:
	free(lists);
	free(stacks);
	return result;
}

struct pp_profile *rebuild_finish(struct rebuild *rebuild, struct pp_error *err)
{
	copy_header(rebuild);
	copy_mappings(rebuild);
	copy_locations(rebuild);
	return copy_samples(rebuild, err) == 0 ? pp_build_finish(rebuild->build, err) : NULL;
}
