/* Exports: rows summed into one profile, and that profile cut to a size. */
#include "cmd/test/standin/stacks.h"

#include <stdlib.h>
#include <string.h>

/* A profile under construction out of parts of another one. functions and locations hold, by index of the
 * other's, the index of the copy or PP_NONE. */
struct copy {
	const struct pp_profile *from;
	struct pp_build *build;
	uint32_t *functions, *locations, mapping;
	bool names_only;
};

static void copy_end(struct copy *copy)
{
	pp_build_free(copy->build);
	free(copy->functions);
	free(copy->locations);
}

static uint32_t *none(uint32_t n)
{
	uint32_t *array = malloc((n + 1) * sizeof(array[0]));

	if (array)
		memset(array, 0xff, (n + 1) * sizeof(array[0]));
	return array;
}

static bool copy_begin(struct copy *copy, const struct pp_profile *from, bool names_only, struct pp_error *err)
{
	static const struct pp_limits limits = PP_LIMITS_DEFAULT;

	*copy = (struct copy){.from = from, .names_only = names_only};
	copy->build = pp_build_new(&limits, err);
	copy->functions = none(from->functions_n);
	copy->locations = none(from->locations_n);
	if (!copy->build || !copy->functions || !copy->locations) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for an export");
		return false;
	}
	return true;
}

static uint32_t text_of(struct copy *copy, uint32_t string)
{
	return pp_build_string(copy->build, pp_string(copy->from, string));
}

static void copy_mapping(struct copy *copy)
{
	const struct pp_profile *p = copy->from;
	uint32_t file = p->mappings_n && !copy->names_only ? text_of(copy, p->mappings[0].filename) : 0;

	copy->mapping = pp_build_mapping(copy->build, &(struct pp_mapping){.filename = file, .has_functions = true});
}

static uint32_t copy_function(struct copy *copy, uint32_t index)
{
	const struct pp_function *f = &copy->from->functions[index];
	uint32_t name = text_of(copy, f->name), file = copy->names_only ? 0 : text_of(copy, f->filename);

	if (copy->functions[index] == PP_NONE)
		copy->functions[index] = pp_build_function(copy->build, &(struct pp_function){
			.name = name, .system_name = name, .filename = file, .start_line = copy->names_only ? 0 : f->start_line});
	return copy->functions[index];
}

static uint32_t copy_location(struct copy *copy, uint32_t index)
{
	const struct pp_location *l = &copy->from->locations[index];
	struct pp_line lines[64];
	uint32_t n = l->lines_n < PP_COUNT(lines) ? l->lines_n : (uint32_t)PP_COUNT(lines);

	if (copy->locations[index] != PP_NONE)
		return copy->locations[index];
	for (uint32_t i = 0; i < n; i++) {
		const struct pp_line *line = &copy->from->lines[l->line_first + i];
		lines[i] = (struct pp_line){.function = copy_function(copy, line->function), .line = copy->names_only ? 0 : line->line};
	}
	copy->locations[index] = pp_build_location(copy->build, &(struct pp_location){.mapping = copy->mapping}, lines, n);
	return copy->locations[index];
}

static uint32_t copy_stack(struct copy *copy, uint32_t sample)
{
	const struct pp_stack *stack = pp_sample_stack(copy->from, sample);
	uint32_t *locations = malloc((stack->n + 1) * sizeof(locations[0]));

	for (uint32_t i = 0; locations && i < stack->n; i++)
		locations[i] = copy_location(copy, stack->locations[i]);
	uint32_t index = locations ? pp_build_stack(copy->build, locations, stack->n) : PP_NONE;
	free(locations);
	return index;
}

/* What Pyroscope makes up, whatever was pushed. */
static int64_t invented_period(struct pp_str type)
{
	if (type.len > 11 && memcmp(type.ptr, "process_cpu", 11) == 0)
		return 1000000000;
	return type.len > 6 && memcmp(type.ptr, "memory", 6) == 0 ? 524288 : 1;
}

/* "name:type:unit:ptype:punit" → the head of an export. */
static void write_head(struct pp_build *build, struct pp_str type, const struct si_head *head)
{
	struct pp_profile *p = pp_build_profile(build);
	struct pp_str parts[5] = {PP_LIT(""), PP_LIT(""), PP_LIT(""), PP_LIT(""), PP_LIT("")};
	uint32_t texts[5];
	const char *at = type.ptr, *end = type.ptr + type.len;

	for (size_t i = 0; i < 5 && at <= end; i++) {
		const char *colon = memchr(at, ':', (size_t)(end - at));
		parts[i] = (struct pp_str){at, (size_t)((colon ? colon : end) - at)};
		at = colon ? colon + 1 : end + 1;
	}
	for (size_t i = 0; i < 5; i++)
		texts[i] = pp_build_string(build, parts[i]);
	pp_build_sample_type(build, (struct pp_value_type){texts[1], texts[2]});
	p->default_sample_type = texts[1];
	p->period_type = (struct pp_value_type){texts[3], texts[4]};
	p->period = invented_period(type);
	p->time_ns = head->time_ns;
	p->duration_ns = head->duration_ns;
}

/* The samples in scope of one row. */
static struct pp_profile *part_of(const struct si_row *row, const struct si_scope *scope, const struct si_head *head,
                                  struct pp_error *err)
{
	const struct pp_profile *p = row->push->profile;
	struct copy copy;
	struct pp_profile *part = NULL;

	if (copy_begin(&copy, p, head->names_only, err)) {
		write_head(copy.build, scope->type, head);
		copy_mapping(&copy);
		for (uint32_t i = 0; i < row->samples_n; i++) {
			int64_t value = pp_value(p, row->samples[i], row->column);
			if (value != 0 && si_sample_in_scope(scope, p, row->samples[i]))
				pp_build_sample(copy.build, copy_stack(&copy, row->samples[i]), 0, &value);
		}
		part = pp_build_finish(copy.build, err);
	}
	copy_end(&copy);
	return part;
}

static struct pp_profile *nothing(struct pp_str type, const struct si_head *head, struct pp_error *err)
{
	static const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_build *build = pp_build_new(&limits, err);
	struct pp_profile *profile = NULL;

	if (build) {
		write_head(build, type, head);
		profile = pp_build_finish(build, err);
	}
	pp_build_free(build);
	return profile;
}

struct pp_profile *si_export(const struct si_store *store, const struct si_scope *scope, const struct si_head *head,
                             struct pp_error *err)
{
	static const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_merge *merge = pp_merge_new(&limits, err);
	struct si_head rest = *head; /* durations are added up: only the first part has one */
	bool any = false;
	struct pp_profile *sum = NULL;

	for (size_t i = 0; merge && i < store->rows_n; i++) {
		if (!si_in_scope(scope, &store->rows[i]))
			continue;
		struct pp_profile *part = part_of(&store->rows[i], scope, &rest, err);
		if (!part || pp_merge_add(merge, part, 1, NULL, err) != 0) {
			pp_profile_free(part);
			goto out;
		}
		pp_profile_free(part);
		rest.duration_ns = 0;
		any = true;
	}
	if (merge)
		sum = any ? pp_merge_finish(merge, err) : nothing(scope->type, head, err);
out:
	pp_merge_free(merge);
	return sum;
}

/* ---- the cut ---- */

/* The stack of a node, leaf first; a node that is folded away stands for "other". */
static bool add_cut_sample(struct copy *copy, const struct si_tree *tree, uint32_t node, uint32_t other, int64_t value)
{
	size_t depth = 0, n = 0;

	for (uint32_t at = node; at != 0; at = tree->nodes[at].parent)
		depth++;
	uint32_t *locations = malloc((depth + 1) * sizeof(locations[0]));
	if (!locations)
		return false;
	if (other != PP_NONE)
		locations[n++] = other;
	for (uint32_t at = node; at != 0; at = tree->nodes[at].parent)
		locations[n++] = copy_location(copy, tree->nodes[at].key);
	pp_build_sample(copy->build, pp_build_stack(copy->build, locations, (uint32_t)n), 0, &value);
	free(locations);
	return true;
}

static bool fill_cut(struct copy *copy, const struct si_tree *tree, int64_t threshold)
{
	uint32_t name = pp_build_string(copy->build, PP_LIT("other"));
	struct pp_line line = {
		.function = pp_build_function(copy->build, &(struct pp_function){.name = name, .system_name = name})};
	uint32_t other = pp_build_location(copy->build, &(struct pp_location){.mapping = copy->mapping}, &line, 1);

	for (uint32_t i = 0; i < tree->n; i++) {
		int64_t folded = 0;
		if (tree->nodes[i].total < threshold)
			continue;
		if (tree->nodes[i].self && !add_cut_sample(copy, tree, i, PP_NONE, tree->nodes[i].self))
			return false;
		for (uint32_t c = tree->nodes[i].child; c != PP_NONE; c = tree->nodes[c].next)
			folded += tree->nodes[c].total < threshold ? tree->nodes[c].total : 0;
		if (folded && !add_cut_sample(copy, tree, i, other, folded))
			return false;
	}
	return true;
}

static bool location_tree(struct si_tree *tree, const struct pp_profile *p, struct pp_arena *arena)
{
	bool good = si_tree_new(tree, arena);

	for (uint32_t s = 0; good && s < p->samples_n; s++) {
		const struct pp_stack *stack = pp_sample_stack(p, s);
		uint32_t *keys = pp_arena_alloc(arena, (stack->n + 1) * sizeof(keys[0]));
		for (uint32_t i = 0; keys && i < stack->n; i++)
			keys[i] = stack->locations[stack->n - 1 - i];
		good = keys && si_tree_add(tree, keys, stack->n, pp_value(p, s, 0));
	}
	return good;
}

struct pp_profile *si_cut(const struct pp_profile *profile, int64_t max_nodes, struct pp_error *err)
{
	struct pp_arena *arena = pp_arena_new(UINT64_C(1) << 30);
	struct copy copy = {.build = NULL};
	struct si_tree tree;
	struct pp_profile *cut = NULL;

	if (arena && location_tree(&tree, profile, arena) && copy_begin(&copy, profile, false, err)) {
		struct pp_profile *head = pp_build_profile(copy.build);
		const struct pp_value_type *value = &profile->sample_types[0];
		pp_build_sample_type(copy.build, (struct pp_value_type){text_of(&copy, value->type), text_of(&copy, value->unit)});
		head->default_sample_type = text_of(&copy, profile->default_sample_type);
		head->period_type = (struct pp_value_type){text_of(&copy, profile->period_type.type),
		                                           text_of(&copy, profile->period_type.unit)};
		head->period = profile->period;
		head->time_ns = profile->time_ns;
		head->duration_ns = profile->duration_ns;
		copy_mapping(&copy);
		if (fill_cut(&copy, &tree, si_tree_threshold(&tree, max_nodes)))
			cut = pp_build_finish(copy.build, err);
	}
	if (!cut)
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the cut");
	copy_end(&copy);
	pp_arena_free(arena);
	return cut;
}
