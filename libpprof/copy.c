#include "libpprof/copy.h"

#include <stdlib.h>

#include "libpprof/build_private.h"

static bool line_gone(const struct pp_copy *copy, uint32_t line)
{
	return copy->line_gone && copy->line_gone[line];
}

static bool sample_gone(const struct pp_copy *copy, uint32_t sample)
{
	return (copy->sample_gone && copy->sample_gone[sample]) ||
	       (copy->stack_gone && copy->stack_gone[copy->profile->sample_stack[sample]]);
}

static bool label_gone(const struct pp_copy *copy, const struct pp_label *label)
{
	return copy->key_gone && copy->key_gone[label->key];
}

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to copy a profile");
}

static void copy_functions(struct pp_build *build, const struct pp_copy *copy)
{
	const struct pp_profile *p = copy->profile;

	for (uint32_t i = 0; i < p->functions_n; i++) {
		struct pp_function function = copy->functions ? copy->functions[i] : p->functions[i];
		if (copy->filenames && !pp_str_eq(copy->filenames[i], pp_string(p, function.filename)))
			function.filename = pp_build_string_append(build, copy->filenames[i]);
		pp_build_function(build, &function);
	}
}

static int copy_locations(struct pp_build *build, const struct pp_copy *copy, struct pp_error *err)
{
	const struct pp_profile *p = copy->profile;
	const struct pp_line *from = copy->lines ? copy->lines : p->lines;
	struct pp_line *lines = malloc(((size_t)p->lines_n + 1) * sizeof *lines);

	if (!lines)
		return no_memory(err);
	for (uint32_t i = 0; i < p->locations_n; i++) {
		const struct pp_location *l = copy->locations ? &copy->locations[i] : &p->locations[i];
		uint32_t n = 0;
		for (uint32_t k = l->line_first; k < l->line_first + l->lines_n; k++)
			if (!line_gone(copy, k))
				lines[n++] = from[k];
		pp_build_location(build, l, lines, n);
	}
	free(lines);
	return 0;
}

static int copy_tables(struct pp_build *build, const struct pp_copy *copy, struct pp_error *err)
{
	const struct pp_profile *p = copy->profile;
	struct pp_profile *to = pp_build_profile(build);

	for (uint32_t i = 0; i < p->strings_n; i++)
		pp_build_string_append(build, p->strings[i]);
	for (uint32_t i = 0; i < p->sample_types_n; i++)
		pp_build_sample_type(build, p->sample_types[i]);
	for (uint32_t i = 0; i < p->mappings_n; i++)
		pp_build_mapping(build, copy->mappings ? &copy->mappings[i] : &p->mappings[i]);
	copy_functions(build, copy);
	if (copy_locations(build, copy, err) != 0)
		return -1;
	for (uint32_t i = 0; i < p->comments_n; i++)
		if (!copy->comment_gone || !copy->comment_gone[i])
			pp_build_comment(build, p->comments[i]);
	to->drop_frames = p->drop_frames;
	to->keep_frames = p->keep_frames;
	to->time_ns = p->time_ns;
	to->duration_ns = p->duration_ns;
	to->period_type = p->period_type;
	to->period = p->period;
	to->default_sample_type = p->default_sample_type;
	to->doc_url = p->doc_url;
	return 0;
}

/* The place of a label among those that stay, or PP_NONE. */
static uint32_t label_place(const struct pp_copy *copy, uint32_t sample, uint32_t label)
{
	const struct pp_label_list *list = pp_sample_labels(copy->profile, sample);
	uint32_t place = 0;

	if (label >= list->n || label_gone(copy, &list->labels[label]))
		return PP_NONE;
	for (uint32_t i = 0; i < label; i++)
		place += !label_gone(copy, &list->labels[i]);
	return place;
}

/* How many elements went before each index of a table, counted as the unknown fields are gone through:
 * they are sorted by table and index. */
struct passed {
	enum pp_record record;
	uint32_t at, gone;
};

static bool is_gone(const struct pp_copy *copy, enum pp_record record, uint32_t index)
{
	return record == PP_RECORD_LINE ? line_gone(copy, index) : sample_gone(copy, index);
}

static uint32_t new_index(struct passed *passed, const struct pp_copy *copy, enum pp_record record, uint32_t index)
{
	if (passed->record != record)
		*passed = (struct passed){record, 0, 0};
	for (; passed->at < index; passed->at++)
		passed->gone += is_gone(copy, record, passed->at);
	return is_gone(copy, record, index) ? PP_NONE : index - passed->gone;
}

/* Unknown fields stay with what they belong to, and go with it. */
static void copy_unknowns(struct pp_build *build, const struct pp_copy *copy)
{
	const struct pp_profile *p = copy->profile;
	struct passed passed = {PP_RECORD_PROFILE, 0, 0};

	for (uint32_t i = 0; i < p->unknowns_n; i++) {
		const struct pp_unknown *u = &p->unknowns[i];
		uint32_t index = u->index, label = u->label;
		if (u->record == PP_RECORD_LINE || u->record == PP_RECORD_SAMPLE || u->record == PP_RECORD_LABEL)
			index = new_index(&passed, copy, u->record, u->index);
		if (index != PP_NONE && u->record == PP_RECORD_LABEL)
			label = label_place(copy, u->index, u->label);
		if (index != PP_NONE && label != PP_NONE)
			pp_build_unknown(build, u->record, index, label, u->bytes);
	}
}

struct pp_build *pp_copy_begin(const struct pp_copy *copy, const struct pp_limits *limits, struct pp_error *err)
{
	struct pp_build *build = pp_build_new(limits, err);

	if (!build)
		return NULL;
	if (copy_tables(build, copy, err) != 0) {
		pp_build_free(build);
		return NULL;
	}
	copy_unknowns(build, copy);
	return build;
}

static uint32_t copy_stack(struct pp_build *build, const struct pp_copy *copy, uint32_t index, uint32_t *scratch)
{
	const struct pp_stack *stack = &copy->profile->stacks[index];
	const uint32_t leaf = copy->leaf_gone ? copy->leaf_gone[index] : 0;
	const uint32_t root = copy->root_gone ? copy->root_gone[index] : 0;
	uint32_t n = 0;

	for (uint32_t i = leaf; i < stack->n - root; i++)
		if (!copy->location_gone || !copy->location_gone[stack->locations[i]])
			scratch[n++] = stack->locations[i];
	return pp_build_stack(build, scratch, n);
}

static uint32_t deepest(const struct pp_profile *p)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < p->stacks_n; s++)
		n = p->stacks[s].n > n ? p->stacks[s].n : n;
	return n;
}

uint32_t pp_copy_labels(struct pp_build *build, const struct pp_copy *copy, uint32_t sample)
{
	const struct pp_label_list *list = pp_sample_labels(copy->profile, sample);
	struct pp_label *kept;
	uint32_t n = 0, index;

	if (!copy->key_gone || list->n == 0)
		return pp_build_label_list(build, list->labels, list->n);
	kept = malloc(list->n * sizeof *kept);
	if (!kept)
		return PP_NONE;
	for (uint32_t i = 0; i < list->n; i++)
		if (!label_gone(copy, &list->labels[i]))
			kept[n++] = list->labels[i];
	index = pp_build_label_list(build, kept, n);
	free(kept);
	return index;
}

int pp_copy_samples(struct pp_build *build, const struct pp_copy *copy, struct pp_error *err)
{
	const struct pp_profile *p = copy->profile;
	const int64_t *values = copy->values ? copy->values : p->values;
	uint32_t *stacks = malloc(((size_t)p->stacks_n + 1) * sizeof *stacks);
	uint32_t *scratch = malloc(((size_t)deepest(p) + 1) * sizeof *scratch);
	int status = -1;

	if (!stacks || !scratch) {
		no_memory(err);
		goto done;
	}
	for (uint32_t s = 0; s < p->stacks_n; s++)
		stacks[s] = copy->stack_gone && copy->stack_gone[s] ? PP_NONE : copy_stack(build, copy, s, scratch);
	for (uint32_t s = 0; s < p->samples_n && !pp_build_error(build); s++) {
		if (sample_gone(copy, s))
			continue;
		const uint32_t labels = pp_copy_labels(build, copy, s);
		if (labels == PP_NONE && !pp_build_error(build)) {
			no_memory(err);
			goto done;
		}
		pp_build_sample(build, stacks[p->sample_stack[s]], labels, &values[(size_t)s * p->sample_types_n]);
	}
	status = 0;
done:
	free(stacks);
	free(scratch);
	return status;
}

struct pp_profile *pp_copy_make(const struct pp_copy *copy, const struct pp_limits *limits, struct pp_error *err)
{
	struct pp_build *build = pp_copy_begin(copy, limits, err);
	struct pp_profile *made = NULL;

	if (!build)
		return NULL;
	if (pp_copy_samples(build, copy, err) == 0)
		made = pp_build_finish(build, err);
	pp_build_free(build);
	return made;
}
