#include "libpprof/split.h"

#include <stdlib.h>
#include <string.h>

#include "libpprof/hash.h"
#include "libpprof/sink.h"
#include "libpprof/tagfilter.h"

struct splitter {
	const struct pp_profile *profile;
	struct pp_str key;
	struct pp_str *units;     /* of label keys */
	struct pp_intern *values; /* "" is those without the label, others begin with a byte that goes */
	uint32_t *value_of;       /* by label list: of values */
	struct pp_buf text;
};

static int no_memory(const struct pp_split *split, struct pp_error *err)
{
	if (split->arena && pp_arena_over(split->arena))
		return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "the values of the label need more memory than is allowed");
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to split a profile");
}

/* Appends the values of one kind: texts, or numbers. */
static int append_values(struct splitter *s, const struct pp_label_list *list, bool numbers, struct pp_error *err)
{
	struct pp_sink sink = pp_buf_sink(&s->text);
	for (uint32_t i = 0; i < list->n; i++) {
		const struct pp_label *label = &list->labels[i];
		if ((label->str == 0) != numbers || !pp_label_counts(label) || !pp_str_eq(pp_string(s->profile, label->key), s->key))
			continue;
		const struct pp_str text = numbers ? s->units[label->key] : pp_string(s->profile, label->str);
		if (pp_sink_str(&sink, s->text.n == 0 ? "=" : ",", err) != 0 ||
		    (numbers && pp_sink_i64(&sink, label->num, err) != 0) || pp_sink_bytes(&sink, text.ptr, text.len, err) != 0)
			return -1;
	}
	return 0;
}

static int find_values(struct splitter *s, struct pp_split *split, uint32_t parts_max, struct pp_error *err)
{
	for (uint32_t l = 0; l < s->profile->label_lists_n; l++) {
		const struct pp_label_list *list = &s->profile->label_lists[l];
		s->text.n = 0;
		if (append_values(s, list, false, err) != 0 || append_values(s, list, true, err) != 0)
			return -1;
		s->value_of[l] = pp_intern_put(s->values, s->text.n > 0 ? s->text.bytes : "", s->text.n, NULL);
		if (s->value_of[l] == PP_NONE)
			return no_memory(split, err);
		if (pp_intern_count(s->values) > parts_max)
			return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "the label has more than %lu values", (unsigned long)parts_max);
	}
	return 0;
}

struct ordered_value {
	struct pp_str text;
	uint32_t value;
};

static int compare_values(const void *left, const void *right)
{
	return pp_str_cmp(((const struct ordered_value *)left)->text, ((const struct ordered_value *)right)->text);
}

/* Values that samples have become parts, in order. */
static int make_parts(const struct splitter *s, struct pp_split *split, struct pp_error *err)
{
	const uint32_t values_n = pp_intern_count(s->values);
	struct ordered_value *ordered = malloc(((size_t)values_n + 1) * sizeof *ordered);
	uint32_t *samples_n = calloc((size_t)values_n + 1, sizeof *samples_n);
	uint32_t *part = calloc((size_t)values_n + 1, sizeof *part);

	split->parts = pp_arena_alloc(split->arena, ((size_t)values_n + 1) * sizeof *split->parts);
	split->part_of = pp_arena_alloc(split->arena, ((size_t)s->profile->samples_n + 1) * sizeof *split->part_of);
	const bool ready = ordered && samples_n && part && split->parts && split->part_of;
	for (uint32_t i = 0; ready && i < s->profile->samples_n; i++)
		samples_n[s->value_of[s->profile->sample_labels[i]]]++;
	for (uint32_t v = 0; ready && v < values_n; v++)
		ordered[v] = (struct ordered_value){pp_intern_at(s->values, v), v};
	if (ready)
		qsort(ordered, values_n, sizeof *ordered, compare_values);
	for (uint32_t i = 0; ready && i < values_n; i++) {
		const struct pp_str text = ordered[i].text;
		if (samples_n[ordered[i].value] == 0)
			continue;
		part[ordered[i].value] = split->parts_n;
		split->parts[split->parts_n++] = (struct pp_split_part){
			text.len > 0 ? (struct pp_str){text.ptr + 1, text.len - 1} : PP_LIT(""), text.len == 0,
			samples_n[ordered[i].value]};
	}
	for (uint32_t i = 0; ready && i < s->profile->samples_n; i++)
		split->part_of[i] = part[s->value_of[s->profile->sample_labels[i]]];
	free(ordered);
	free(samples_n);
	free(part);
	return ready ? 0 : no_memory(split, err);
}

int pp_split_by_label(const struct pp_profile *profile, struct pp_str key, uint32_t parts_max,
                      const struct pp_limits *limits, struct pp_split *split, struct pp_error *err)
{
	struct splitter s = {.profile = profile, .key = key, .text = PP_BUF_INIT};
	int status = -1;

	*split = (struct pp_split){.arena = pp_arena_new(limits->model_bytes)};
	s.values = split->arena ? pp_intern_new(split->arena) : NULL;
	s.value_of = calloc((size_t)profile->label_lists_n + 1, sizeof *s.value_of);
	if (!s.values || !s.value_of)
		no_memory(split, err);
	else if (pp_label_units(profile, &s.units, err) == 0 && find_values(&s, split, parts_max, err) == 0)
		status = make_parts(&s, split, err);
	pp_buf_release(&s.text);
	pp_intern_free(s.values);
	free(s.value_of);
	free(s.units);
	return status;
}

void pp_split_release(struct pp_split *split)
{
	pp_arena_free(split->arena);
	*split = (struct pp_split){.arena = NULL};
}

int pp_split_add(struct pp_merge *merge, const struct pp_profile *profile, const struct pp_split *split, uint32_t part,
                 struct pp_error *err)
{
	const struct pp_merge_some some = {split->part_of, part};
	return pp_merge_add_some(merge, profile, &some, err);
}
