#include "libpprof/merge_private.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

/* A label on its way into the sum, with what it is ordered by. */
struct ordered_label {
	struct pp_str key;
	struct pp_label label; /* strings are the merge's */
	uint32_t place;
};

/* One profile being added. */
struct adding {
	struct pp_merge *merge;
	const struct pp_profile *p;
	struct pp_error *err;
	uint32_t extra_key, extra_value; /* of the merge; 0, 0: none */

	/* The merge's index of every element that was needed so far, by the profile's index. */
	uint32_t *strings, *functions, *mappings, *locations, *stacks, *label_lists;

	/* Scratch. */
	uint64_t *words;
	size_t words_n;
	uint32_t *stack;
	size_t stack_n;
	struct ordered_label *ordered;
	size_t ordered_n;
	struct pp_label *packed;
	size_t packed_n;
	int64_t *values;
};

static int fail_memory(struct adding *a)
{
	return pp_fail(a->err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
}

/* Makes *scratch at least n elements long; what was in it is lost. */
static int scratch(struct adding *a, void *field, size_t *have, size_t n, size_t element_bytes)
{
	void *old, *fresh;
	size_t bytes;

	if (n <= *have)
		return 0;
	if (!pp_mul_size(n, 2 * element_bytes, &bytes))
		return fail_memory(a);
	fresh = malloc(bytes);
	if (!fresh)
		return fail_memory(a);
	memcpy(&old, field, sizeof(old));
	free(old);
	memcpy(field, &fresh, sizeof(fresh));
	*have = 2 * n;
	return 0;
}

/* The index of a key in a table of the merge; PP_NONE with *err. */
static uint32_t put(struct adding *a, struct pp_intern *table, const void *key, size_t n, bool *is_new)
{
	uint32_t index = pp_intern_put(table, key, n, is_new);

	if (index == PP_NONE)
		pp_merge_fail_memory(a->merge, a->err);
	return index;
}

/* ---- elements ---- */

static uint32_t add_string(struct adding *a, uint32_t string)
{
	if (a->strings[string] == PP_NONE)
		a->strings[string] = pp_merge_string(a->merge, pp_string(a->p, string), a->err);
	return a->strings[string];
}

static uint32_t add_function(struct adding *a, uint32_t function)
{
	const struct pp_function *f = &a->p->functions[function];
	struct pp_merge_function key = {.start_line = f->start_line};

	if (a->functions[function] != PP_NONE)
		return a->functions[function];
	key.name = add_string(a, f->name);
	key.system_name = add_string(a, f->system_name);
	key.filename = add_string(a, f->filename);
	if (a->err->code)
		return PP_NONE;
	a->functions[function] = put(a, a->merge->functions, &key, sizeof(key), NULL);
	return a->functions[function];
}

static int compare_names(const struct pp_merge *merge, uint32_t a, uint32_t b)
{
	if (a == b)
		return 0;
	if (!a || !b)
		return a ? -1 : 1;
	return pp_str_cmp(pp_intern_at(merge->strings, a), pp_intern_at(merge->strings, b));
}

static int compare_mapping_fields(const struct pp_merge *merge, const struct pp_mapping *a,
                                  const struct pp_mapping *b)
{
	int order = compare_names(merge, a->filename, b->filename);

	if (!order)
		order = compare_names(merge, a->build_id, b->build_id);
	if (!order)
		order = (a->start > b->start) - (a->start < b->start);
	return order ? order : (a->limit > b->limit) - (a->limit < b->limit);
}

/* Lets one more mapping of a key be among those that the fields stand for. */
static void join_mapping(const struct pp_merge *merge, struct pp_mapping *sum, const struct pp_mapping *mapping)
{
	struct pp_mapping both = compare_mapping_fields(merge, mapping, sum) < 0 ? *mapping : *sum;

	both.has_functions = sum->has_functions && mapping->has_functions;
	both.has_filenames = sum->has_filenames && mapping->has_filenames;
	both.has_line_numbers = sum->has_line_numbers && mapping->has_line_numbers;
	both.has_inline_frames = sum->has_inline_frames && mapping->has_inline_frames;
	*sum = both;
}

static uint32_t put_mapping(struct adding *a, const struct pp_mapping *mapping)
{
	struct pp_merge *merge = a->merge;
	uint64_t size = mapping->limit - mapping->start + PAGE_BYTES - 1; /* a hostile one may wrap */
	struct pp_merge_mapping_key key = {.size = size - size % PAGE_BYTES, .offset = mapping->offset};
	void *fields = merge->mapping_fields;
	bool is_new;
	uint32_t index;

	key.name = mapping->build_id ? mapping->build_id : mapping->filename;
	index = put(a, merge->mappings, &key, sizeof(key), &is_new);
	if (index == PP_NONE)
		return PP_NONE;
	if (!is_new) {
		join_mapping(merge, &merge->mapping_fields[index].fields, mapping);
		return index;
	}
	if (pp_arena_reserve(merge->arena, &fields, &merge->mapping_fields_capacity, (size_t)index + 1,
	                     sizeof(*merge->mapping_fields))) {
		pp_merge_fail_memory(merge, a->err);
		return PP_NONE;
	}
	merge->mapping_fields = fields;
	merge->mapping_fields[index] = (struct pp_merge_mapping){*mapping, 0};
	return index;
}

static uint32_t add_mapping(struct adding *a, uint32_t index)
{
	struct pp_mapping mapping = a->p->mappings[index];

	mapping.filename = add_string(a, mapping.filename);
	mapping.build_id = add_string(a, mapping.build_id);
	if (a->err->code)
		return PP_NONE;
	a->mappings[index] = put_mapping(a, &mapping);
	return a->mappings[index];
}

/* All of them, used or not: what stands for a mapping may not depend on which samples cancel out when. */
static int add_mappings(struct adding *a, int sign)
{
	const int leads = sign > 0 ? 2 : 1;

	for (uint32_t i = 0; i < a->p->mappings_n; i++) {
		uint32_t index = add_mapping(a, i);

		if (index == PP_NONE)
			return -1;
		if (i == 0 && a->merge->mapping_fields[index].leads < leads)
			a->merge->mapping_fields[index].leads = leads;
	}
	return 0;
}

static uint32_t add_location(struct adding *a, uint32_t index)
{
	const struct pp_location *location = &a->p->locations[index];
	size_t n = PP_MERGE_HEAD_WORDS + (size_t)location->lines_n * PP_MERGE_LINE_WORDS;
	uint64_t start = location->mapping == PP_NONE ? 0 : a->p->mappings[location->mapping].start;
	uint64_t *word;

	if (a->locations[index] != PP_NONE)
		return a->locations[index];
	if (scratch(a, &a->words, &a->words_n, n, sizeof(*a->words)))
		return PP_NONE;
	word = a->words;
	*word++ = location->address - start;
	*word++ = (location->mapping == PP_NONE ? PP_NONE : a->mappings[location->mapping]) |
	          (uint64_t)location->is_folded << 32;
	for (uint32_t i = 0; i < location->lines_n; i++) {
		const struct pp_line *line = &a->p->lines[location->line_first + i];

		*word++ = line->function == PP_NONE ? PP_NONE : add_function(a, line->function);
		*word++ = (uint64_t)line->line;
		*word++ = (uint64_t)line->column;
	}
	if (a->err->code)
		return PP_NONE;
	a->locations[index] = put(a, a->merge->locations, a->words, n * sizeof(*a->words), NULL);
	return a->locations[index];
}

static uint32_t add_stack(struct adding *a, uint32_t index)
{
	const struct pp_stack *stack = &a->p->stacks[index];

	if (a->stacks[index] != PP_NONE)
		return a->stacks[index];
	if (scratch(a, &a->stack, &a->stack_n, stack->n, sizeof(*a->stack)))
		return PP_NONE;
	for (uint32_t i = 0; i < stack->n; i++)
		a->stack[i] = add_location(a, stack->locations[i]);
	if (a->err->code)
		return PP_NONE;
	a->stacks[index] = put(a, a->merge->stacks, a->stack, stack->n * sizeof(*a->stack), NULL);
	return a->stacks[index];
}

/* ---- labels ---- */

/* Texts, then numbers, each by key; what is under one key keeps its order, as in the reference. */
static int compare_labels(const void *a, const void *b)
{
	const struct ordered_label *x = a, *y = b;
	int order = (x->label.str == 0) - (y->label.str == 0);

	if (!order)
		order = pp_str_cmp(x->key, y->key);
	return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* Copies the labels that go into the sum to a->ordered; how many. A text that is empty means nothing to
 * the reference either; the extra label takes the place of texts of its key. */
static uint32_t collect_labels(struct adding *a, const struct pp_label_list *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= list->n; i++) {
		struct pp_label label;

		if (i < list->n) {
			label = list->labels[i];
			label.key = add_string(a, label.key);
			if (label.str) {
				label.str = add_string(a, label.str);
				label.num = 0;
				label.num_unit = 0;
				if (!label.str || (a->extra_value && label.key == a->extra_key))
					continue;
			} else {
				label.num_unit = add_string(a, label.num_unit);
			}
		} else if (a->extra_value) {
			label = (struct pp_label){.key = a->extra_key, .str = a->extra_value};
		} else {
			break;
		}
		if (a->err->code)
			break;
		a->ordered[n++] = (struct ordered_label){pp_intern_at(a->merge->strings, label.key), label, i};
	}
	return n;
}

static uint32_t add_label_list(struct adding *a, uint32_t index)
{
	const struct pp_label_list *list = &a->p->label_lists[index];
	uint32_t n;

	if (a->label_lists[index] != PP_NONE)
		return a->label_lists[index];
	if (scratch(a, &a->ordered, &a->ordered_n, (size_t)list->n + 1, sizeof(*a->ordered)) ||
	    scratch(a, &a->packed, &a->packed_n, (size_t)list->n + 1, sizeof(*a->packed)))
		return PP_NONE;
	n = collect_labels(a, list);
	if (a->err->code)
		return PP_NONE;
	qsort(a->ordered, n, sizeof(*a->ordered), compare_labels);
	memset(a->packed, 0, n * sizeof(*a->packed)); /* padding is part of the key */
	for (uint32_t i = 0; i < n; i++) {
		const struct pp_label *label = &a->ordered[i].label;

		a->packed[i].key = label->key;
		a->packed[i].str = label->str;
		a->packed[i].num_unit = label->num_unit;
		a->packed[i].num = label->num;
	}
	a->label_lists[index] = put(a, a->merge->label_lists, a->packed, n * sizeof(*a->packed), NULL);
	return a->label_lists[index];
}

/* ---- samples ---- */

/* The values of a sample as the sum counts them: 1, or 0 when all are zero, or -1. */
static int scaled_values(struct adding *a, uint32_t sample, const struct pp_merge_columns *columns, int sign)
{
	int any = 0;

	for (uint32_t c = 0; c < a->merge->types_n; c++) {
		int64_t value = pp_value(a->p, sample, columns->source[c]);

		if (__builtin_mul_overflow(value, columns->scale[c], &value) ||
		    __builtin_mul_overflow(value, (int64_t)sign, &value))
			return pp_fail(a->err, PP_EOVERFLOW, PP_NO_OFFSET,
			               "sample %u: a value does not fit 64 bits in the unit of the sum", sample);
		a->values[c] = value;
		any |= value != 0;
	}
	return any;
}

static int add_sample(struct adding *a, uint32_t sample)
{
	struct pp_merge *merge = a->merge;
	const uint32_t types_n = merge->types_n;
	void *values = merge->values;
	struct pp_merge_sample key;
	bool is_new;
	uint32_t index;
	int64_t *sums;

	key.stack = add_stack(a, a->p->sample_stack[sample]);
	key.label_list = add_label_list(a, a->p->sample_labels[sample]);
	if (a->err->code)
		return -1;
	index = put(a, merge->samples, &key, sizeof(key), &is_new);
	if (index == PP_NONE)
		return -1;
	if (is_new) {
		if (pp_arena_reserve(merge->arena, &values, &merge->values_capacity,
		                     ((size_t)index + 1) * types_n, sizeof(*merge->values)))
			return pp_merge_fail_memory(merge, a->err);
		merge->values = values;
		memset(merge->values + (size_t)index * types_n, 0, types_n * sizeof(*merge->values));
	}
	sums = merge->values + (size_t)index * types_n;
	for (uint32_t c = 0; c < types_n; c++)
		if (!pp_add_i64(sums[c], a->values[c], &sums[c]))
			return pp_fail(a->err, PP_EOVERFLOW, PP_NO_OFFSET,
			               "the sum of %.100s does not fit 64 bits", merge->types[c].name.ptr);
	return 0;
}

uint32_t *pp_merge_no_indices(uint32_t n)
{
	size_t bytes = ((size_t)n + 1) * sizeof(uint32_t);
	uint32_t *indices = malloc(bytes);

	return indices ? memset(indices, 0xff, bytes) : NULL;
}

static int start(struct adding *a, const struct pp_merge_label *extra)
{
	const struct pp_profile *p = a->p;

	a->strings = pp_merge_no_indices(p->strings_n);
	a->functions = pp_merge_no_indices(p->functions_n);
	a->mappings = pp_merge_no_indices(p->mappings_n);
	a->locations = pp_merge_no_indices(p->locations_n);
	a->stacks = pp_merge_no_indices(p->stacks_n);
	a->label_lists = pp_merge_no_indices(p->label_lists_n);
	a->values = calloc((size_t)a->merge->types_n + 1, sizeof(*a->values));
	if (!a->strings || !a->functions || !a->mappings || !a->locations || !a->stacks || !a->label_lists ||
	    !a->values)
		return fail_memory(a);
	if (extra) {
		a->extra_key = pp_merge_string(a->merge, pp_str_of(extra->key), a->err);
		a->extra_value = pp_merge_string(a->merge, pp_str_of(extra->value), a->err);
	}
	return a->err->code ? -1 : 0;
}

static void stop(struct adding *a)
{
	free(a->strings);
	free(a->functions);
	free(a->mappings);
	free(a->locations);
	free(a->stacks);
	free(a->label_lists);
	free(a->words);
	free(a->stack);
	free(a->ordered);
	free(a->packed);
	free(a->values);
}

int pp_merge_add_samples(struct pp_merge *merge, const struct pp_profile *profile,
                         const struct pp_merge_columns *columns, int sign,
                         const struct pp_merge_label *extra, const struct pp_merge_some *some,
                         struct pp_error *err)
{
	struct adding a = {.merge = merge, .p = profile, .err = err};
	int result = start(&a, extra);

	if (!result)
		result = add_mappings(&a, sign);
	for (uint32_t s = 0; s < profile->samples_n && !result; s++) {
		if (some && some->part_of[s] != some->part)
			continue;
		int any = scaled_values(&a, s, columns, sign);

		result = any > 0 ? add_sample(&a, s) : any;
	}
	stop(&a);
	return result;
}
