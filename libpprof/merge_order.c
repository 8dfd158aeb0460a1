#include "libpprof/merge_private.h"

#include <stdlib.h>
#include <string.h>

/* Elements on their way into an order that only content decides. Every record holds all that it is
 * compared by; references are the final ones of what was ordered before. */
struct string_order {
	struct pp_str string;
	uint32_t index;
};
struct mapping_order {
	bool is_main;
	uint32_t name; /* rank; "" comes last */
	uint64_t offset, size;
	uint32_t index;
};
struct function_order {
	uint32_t name, filename, system_name; /* ranks */
	int64_t start_line;
	uint32_t index;
};
struct location_order {
	const uint64_t *words;
	size_t n;
	uint32_t index;
};
struct stack_order {
	const uint32_t *locations;
	size_t n;
	uint32_t index;
};
struct list_order {
	const struct pp_label *labels; /* strings are ranks */
	size_t n;
	uint32_t index;
};
struct sample_order {
	uint32_t stack, list; /* final, rank */
	uint32_t index;
};

struct emitting {
	struct pp_merge *merge;
	struct pp_build *build;
	struct pp_error *err;
	uint32_t *ranks, *by_rank; /* of strings */
	uint32_t *built;           /* the builder's strings */
	uint32_t *mappings;        /* in the result, by index in the merge */
	/* The same, but PP_NONE for what is not used. */
	uint32_t *functions, *locations, *stacks;
	uint32_t *lists;      /* the rank of a label list */
	uint32_t *built_list; /* by rank: the builder's index */
};

static int fail_memory(struct emitting *e)
{
	return pp_fail(e->err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
}

static void *new_array(struct emitting *e, size_t n, size_t element_bytes)
{
	void *array = calloc(n + 1, element_bytes);

	if (!array)
		fail_memory(e);
	return array;
}

/* The bytes of a key of the merge, to be rewritten: finishing uses the tables up, and nothing is looked
 * up in a table once its keys are rewritten. */
static void *key_of(struct pp_intern *table, uint32_t index)
{
	return (void *)(uintptr_t)pp_intern_at(table, index).ptr;
}

static int order_of(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* ---- strings ---- */

static int compare_strings(const void *a, const void *b)
{
	const struct string_order *x = a, *y = b;

	return pp_str_cmp(x->string, y->string);
}

static int rank_strings(struct emitting *e)
{
	uint32_t n = pp_intern_count(e->merge->strings);
	struct string_order *order = new_array(e, n, sizeof(*order));

	if (!order)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		order[i] = (struct string_order){pp_intern_at(e->merge->strings, i), i};
	qsort(order, n, sizeof(*order), compare_strings);
	for (uint32_t i = 0; i < n; i++) {
		e->ranks[order[i].index] = i;
		e->by_rank[i] = order[i].index;
	}
	free(order);
	return 0;
}

/* The builder's string for one of the merge. */
static uint32_t string(struct emitting *e, uint32_t index)
{
	if (e->built[index] == PP_NONE)
		e->built[index] = pp_build_string(e->build, pp_intern_at(e->merge->strings, index));
	return e->built[index];
}

/* ---- what is used ---- */

static bool is_zero(const struct pp_merge *merge, uint32_t sample)
{
	const int64_t *values = merge->values + (size_t)sample * merge->types_n;

	for (uint32_t c = 0; c < merge->types_n; c++)
		if (values[c])
			return false;
	return true;
}

static void mark_location(struct emitting *e, uint32_t location)
{
	const uint64_t *words = key_of(e->merge->locations, location);
	size_t n = pp_intern_at(e->merge->locations, location).len / sizeof(*words);

	if (e->locations[location] != PP_NONE)
		return;
	e->locations[location] = 0;
	for (size_t i = PP_MERGE_HEAD_WORDS; i < n; i += PP_MERGE_LINE_WORDS)
		if (words[i] != PP_NONE)
			e->functions[words[i]] = 0;
}

/* Marks what the samples with a value use. */
static void mark_used(struct emitting *e)
{
	const struct pp_merge *merge = e->merge;

	for (uint32_t s = 0; s < pp_intern_count(merge->samples); s++) {
		const struct pp_merge_sample *sample = key_of(merge->samples, s);
		struct pp_str stack = pp_intern_at(merge->stacks, sample->stack);
		const uint32_t *locations = key_of(merge->stacks, sample->stack);

		if (is_zero(merge, s) || e->stacks[sample->stack] != PP_NONE)
			continue;
		e->stacks[sample->stack] = 0;
		for (size_t i = 0; i < stack.len / sizeof(*locations); i++)
			mark_location(e, locations[i]);
	}
}

/* ---- mappings ---- */

static int compare_mappings(const void *a, const void *b)
{
	const struct mapping_order *x = a, *y = b;

	if (x->is_main != y->is_main)
		return x->is_main ? -1 : 1;
	if (x->name != y->name)
		return order_of(x->name, y->name);
	return x->offset != y->offset ? order_of(x->offset, y->offset) : order_of(x->size, y->size);
}

static struct mapping_order order_of_mapping(const struct emitting *e, uint32_t index)
{
	const struct pp_merge_mapping_key *key = key_of(e->merge->mappings, index);

	return (struct mapping_order){.name = key->name ? e->ranks[key->name] : PP_NONE,
	                              .offset = key->offset, .size = key->size, .index = index};
}

/* The main binary: of those that lead most, the smallest; PP_NONE without mappings. */
static uint32_t main_mapping(const struct emitting *e)
{
	struct mapping_order best = {.index = PP_NONE};
	int leads = 0;

	for (uint32_t i = 0; i < pp_intern_count(e->merge->mappings); i++) {
		struct mapping_order order = order_of_mapping(e, i);
		int better = e->merge->mapping_fields[i].leads - leads;

		if (better > 0 || (better == 0 && leads && compare_mappings(&order, &best) < 0)) {
			best = order;
			leads += better;
		}
	}
	return best.index;
}

static void emit_mapping(struct emitting *e, uint32_t index)
{
	struct pp_mapping mapping = e->merge->mapping_fields[index].fields;

	mapping.id = 0;
	mapping.filename = string(e, mapping.filename);
	mapping.build_id = string(e, mapping.build_id);
	e->mappings[index] = pp_build_mapping(e->build, &mapping);
}

static int emit_mappings(struct emitting *e)
{
	uint32_t n = pp_intern_count(e->merge->mappings), main = main_mapping(e);
	struct mapping_order *order = new_array(e, n, sizeof(*order));

	if (!order)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		order[i] = order_of_mapping(e, i);
	if (main != PP_NONE)
		order[main].is_main = true;
	qsort(order, n, sizeof(*order), compare_mappings);
	for (uint32_t i = 0; i < n; i++)
		emit_mapping(e, order[i].index);
	free(order);
	return 0;
}

/* ---- functions ---- */

static int compare_functions(const void *a, const void *b)
{
	const struct function_order *x = a, *y = b;

	if (x->name != y->name)
		return order_of(x->name, y->name);
	if (x->filename != y->filename)
		return order_of(x->filename, y->filename);
	if (x->system_name != y->system_name)
		return order_of(x->system_name, y->system_name);
	return (x->start_line > y->start_line) - (x->start_line < y->start_line);
}

static void emit_function(struct emitting *e, uint32_t index)
{
	const struct pp_merge_function *key = key_of(e->merge->functions, index);
	struct pp_function function = {.name = string(e, key->name), .system_name = string(e, key->system_name),
	                               .filename = string(e, key->filename), .start_line = key->start_line};

	e->functions[index] = pp_build_function(e->build, &function);
}

static int emit_functions(struct emitting *e)
{
	uint32_t n = 0;
	struct function_order *order = new_array(e, pp_intern_count(e->merge->functions), sizeof(*order));

	if (!order)
		return -1;
	for (uint32_t i = 0; i < pp_intern_count(e->merge->functions); i++) {
		const struct pp_merge_function *key = key_of(e->merge->functions, i);

		if (e->functions[i] != PP_NONE)
			order[n++] = (struct function_order){e->ranks[key->name], e->ranks[key->filename],
			                                     e->ranks[key->system_name], key->start_line, i};
	}
	qsort(order, n, sizeof(*order), compare_functions);
	for (uint32_t i = 0; i < n; i++)
		emit_function(e, order[i].index);
	free(order);
	return 0;
}

/* ---- locations ---- */

static int compare_locations(const void *a, const void *b)
{
	const struct location_order *x = a, *y = b;

	for (size_t i = 0; i < x->n && i < y->n; i++)
		if (x->words[i] != y->words[i])
			return order_of(x->words[i], y->words[i]);
	return order_of(x->n, y->n);
}

static struct location_order order_of_location(struct emitting *e, uint32_t index)
{
	uint64_t *words = key_of(e->merge->locations, index);
	size_t n = pp_intern_at(e->merge->locations, index).len / sizeof(*words);
	uint32_t mapping = (uint32_t)words[1];

	if (mapping != PP_NONE)
		words[1] = (words[1] & ~(uint64_t)UINT32_MAX) | e->mappings[mapping];
	for (size_t i = PP_MERGE_HEAD_WORDS; i < n; i += PP_MERGE_LINE_WORDS)
		if (words[i] != PP_NONE)
			words[i] = e->functions[words[i]];
	return (struct location_order){words, n, index};
}

/* lines is scratch, long enough for any location. */
static void emit_location(struct emitting *e, const struct location_order *order, struct pp_line *lines)
{
	const uint64_t *words = order->words;
	struct pp_location location = {.address = words[0], .mapping = (uint32_t)words[1],
	                               .is_folded = words[1] >> 32 != 0};
	uint32_t n = 0;

	if (location.mapping != PP_NONE)
		location.address += pp_build_profile(e->build)->mappings[location.mapping].start;
	for (size_t i = PP_MERGE_HEAD_WORDS; i < order->n; i += PP_MERGE_LINE_WORDS)
		lines[n++] = (struct pp_line){(uint32_t)words[i], (int64_t)words[i + 1], (int64_t)words[i + 2]};
	e->locations[order->index] = pp_build_location(e->build, &location, lines, n);
}

static int emit_locations(struct emitting *e)
{
	uint32_t n = 0;
	size_t words_max = 0;
	struct location_order *order = new_array(e, pp_intern_count(e->merge->locations), sizeof(*order));
	struct pp_line *lines = NULL;

	if (!order)
		return -1;
	for (uint32_t i = 0; i < pp_intern_count(e->merge->locations); i++)
		if (e->locations[i] != PP_NONE) {
			order[n] = order_of_location(e, i);
			words_max = order[n].n > words_max ? order[n].n : words_max;
			n++;
		}
	qsort(order, n, sizeof(*order), compare_locations);
	lines = new_array(e, words_max / PP_MERGE_LINE_WORDS, sizeof(*lines));
	for (uint32_t i = 0; i < n && lines && !pp_build_error(e->build); i++)
		emit_location(e, &order[i], lines);
	free(order);
	free(lines);
	return lines ? 0 : -1;
}

/* ---- stacks ---- */

static int compare_stacks(const void *a, const void *b)
{
	const struct stack_order *x = a, *y = b;

	for (size_t i = 0; i < x->n && i < y->n; i++)
		if (x->locations[i] != y->locations[i])
			return order_of(x->locations[i], y->locations[i]);
	return order_of(x->n, y->n);
}

static struct stack_order order_of_stack(struct emitting *e, uint32_t index)
{
	uint32_t *locations = key_of(e->merge->stacks, index);
	size_t n = pp_intern_at(e->merge->stacks, index).len / sizeof(*locations);

	for (size_t i = 0; i < n; i++)
		locations[i] = e->locations[locations[i]];
	return (struct stack_order){locations, n, index};
}

static int emit_stacks(struct emitting *e)
{
	uint32_t n = 0;
	struct stack_order *order = new_array(e, pp_intern_count(e->merge->stacks), sizeof(*order));

	if (!order)
		return -1;
	for (uint32_t i = 0; i < pp_intern_count(e->merge->stacks); i++)
		if (e->stacks[i] != PP_NONE)
			order[n++] = order_of_stack(e, i);
	qsort(order, n, sizeof(*order), compare_stacks);
	for (uint32_t i = 0; i < n; i++)
		e->stacks[order[i].index] = pp_build_stack(e->build, order[i].locations, (uint32_t)order[i].n);
	free(order);
	return 0;
}

/* ---- labels ---- */

static int compare_lists(const void *a, const void *b)
{
	const struct list_order *x = a, *y = b;

	for (size_t i = 0; i < x->n && i < y->n; i++) {
		const struct pp_label *k = &x->labels[i], *l = &y->labels[i];

		if (k->key != l->key)
			return order_of(k->key, l->key);
		if (k->str != l->str)
			return order_of(k->str, l->str);
		if (k->num != l->num)
			return k->num < l->num ? -1 : 1;
		if (k->num_unit != l->num_unit)
			return order_of(k->num_unit, l->num_unit);
	}
	return order_of(x->n, y->n);
}

static struct list_order order_of_list(struct emitting *e, uint32_t index)
{
	struct pp_label *labels = key_of(e->merge->label_lists, index);
	size_t n = pp_intern_at(e->merge->label_lists, index).len / sizeof(*labels);

	for (size_t i = 0; i < n; i++) {
		labels[i].key = e->ranks[labels[i].key];
		labels[i].str = e->ranks[labels[i].str];
		labels[i].num_unit = e->ranks[labels[i].num_unit];
	}
	return (struct list_order){labels, n, index};
}

static int rank_lists(struct emitting *e, struct list_order **lists)
{
	uint32_t n = pp_intern_count(e->merge->label_lists);
	struct list_order *order = new_array(e, n, sizeof(*order));

	if (!order)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		order[i] = order_of_list(e, i);
	qsort(order, n, sizeof(*order), compare_lists);
	for (uint32_t i = 0; i < n; i++)
		e->lists[order[i].index] = i;
	*lists = order;
	return 0;
}

/* The builder's index of the list with this rank, which is made when the first sample needs it. */
static uint32_t built_list(struct emitting *e, const struct list_order *lists, uint32_t rank)
{
	const struct list_order *list = &lists[rank];
	struct pp_label *labels;

	if (e->built_list[rank] != PP_NONE)
		return e->built_list[rank];
	labels = new_array(e, list->n, sizeof(*labels));
	if (!labels)
		return PP_NONE;
	for (size_t i = 0; i < list->n; i++) {
		labels[i].key = string(e, e->by_rank[list->labels[i].key]);
		labels[i].str = string(e, e->by_rank[list->labels[i].str]);
		labels[i].num_unit = string(e, e->by_rank[list->labels[i].num_unit]);
		labels[i].num = list->labels[i].num;
	}
	e->built_list[rank] = pp_build_label_list(e->build, labels, (uint32_t)list->n);
	free(labels);
	return e->built_list[rank];
}

/* ---- samples ---- */

static int compare_samples(const void *a, const void *b)
{
	const struct sample_order *x = a, *y = b;

	return x->stack != y->stack ? order_of(x->stack, y->stack) : order_of(x->list, y->list);
}

static struct sample_order *order_samples(struct emitting *e, uint32_t *count)
{
	const struct pp_merge *merge = e->merge;
	struct sample_order *order = new_array(e, pp_intern_count(merge->samples), sizeof(*order));
	uint32_t n = 0;

	for (uint32_t s = 0; order && s < pp_intern_count(merge->samples); s++) {
		const struct pp_merge_sample *sample = key_of(merge->samples, s);

		if (!is_zero(merge, s))
			order[n++] = (struct sample_order){e->stacks[sample->stack], e->lists[sample->label_list], s};
	}
	if (order)
		qsort(order, n, sizeof(*order), compare_samples);
	*count = n;
	return order;
}

static int emit_samples(struct emitting *e, const struct list_order *lists)
{
	const struct pp_merge *merge = e->merge;
	uint32_t n;
	struct sample_order *order = order_samples(e, &n);
	int64_t *values = new_array(e, merge->types_n, sizeof(*values));
	int result = order && values ? 0 : -1;

	for (uint32_t i = 0; i < n && !result && !pp_build_error(e->build); i++) {
		const int64_t *sums = merge->values + (size_t)order[i].index * merge->types_n;
		uint32_t list = built_list(e, lists, order[i].list);

		for (uint32_t position = 0; position < merge->types_n; position++)
			values[position] = sums[merge->shown[position]];
		pp_build_sample(e->build, order[i].stack, list, values);
		result = e->err->code ? -1 : 0;
	}
	free(order);
	free(values);
	return result;
}

/* ---- the whole ---- */

static void emit_types(struct emitting *e)
{
	for (uint32_t i = 0; i < e->merge->types_n; i++) {
		const struct pp_merge_type *type = &e->merge->types[e->merge->shown[i]];

		pp_build_sample_type(e->build, (struct pp_value_type){pp_build_string(e->build, type->name),
		                                                      pp_build_string(e->build, type->unit)});
	}
}

static int start(struct emitting *e)
{
	const struct pp_merge *merge = e->merge;

	e->ranks = pp_merge_no_indices(pp_intern_count(merge->strings));
	e->by_rank = pp_merge_no_indices(pp_intern_count(merge->strings));
	e->built = pp_merge_no_indices(pp_intern_count(merge->strings));
	e->functions = pp_merge_no_indices(pp_intern_count(merge->functions));
	e->mappings = pp_merge_no_indices(pp_intern_count(merge->mappings));
	e->locations = pp_merge_no_indices(pp_intern_count(merge->locations));
	e->stacks = pp_merge_no_indices(pp_intern_count(merge->stacks));
	e->lists = pp_merge_no_indices(pp_intern_count(merge->label_lists));
	e->built_list = pp_merge_no_indices(pp_intern_count(merge->label_lists));
	if (!e->ranks || !e->by_rank || !e->built || !e->functions || !e->mappings || !e->locations ||
	    !e->stacks || !e->lists || !e->built_list)
		return fail_memory(e);
	return 0;
}

static void stop(struct emitting *e)
{
	free(e->ranks);
	free(e->by_rank);
	free(e->built);
	free(e->functions);
	free(e->mappings);
	free(e->locations);
	free(e->stacks);
	free(e->lists);
	free(e->built_list);
}

int pp_merge_emit(struct pp_merge *merge, struct pp_build *build, struct pp_error *err)
{
	struct emitting e = {.merge = merge, .build = build, .err = err};
	struct list_order *lists = NULL;
	int result = -1;

	if (start(&e) || rank_strings(&e))
		goto done;
	mark_used(&e);
	emit_types(&e);
	if (emit_mappings(&e) || emit_functions(&e) || emit_locations(&e) || emit_stacks(&e) ||
	    rank_lists(&e, &lists) || emit_samples(&e, lists))
		goto done;
	result = 0;
done:
	free(lists);
	stop(&e);
	return result;
}
