#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/callgraph_private.h"
#include "libpprof/hash.h"
#include "libpprof/tagfilter.h"
#include "libpprof/unit.h"

/* As the reference: at most so many labels at a function, and so many groups of numbers at each. */
enum { SHOWN_MAX = 4 };

/* What samples with these labels add up to at a place. */
struct entry {
	uint32_t place;
	uint32_t strings; /* index of all string labels together, 0: none */
	uint32_t number;  /* index of the number, PP_NONE: of the strings alone */
	int64_t flat[2], cum[2];
};

struct number {
	int64_t value;
	struct pp_str unit;
};

/* Labels of one list: its strings, and numbers[first … first + n). */
struct tags {
	uint32_t strings, first, n;
};

struct pp_graph_labels {
	const struct pp_graph_side *sides;
	size_t sides_n;
	const struct pp_graph_tree *tree;
	struct pp_arena *arena;
	struct pp_intern *strings, *number_texts, *keys;
	struct pp_str *units;
	struct tags *tags; /* by label list */
	uint32_t *numbers; /* indices of number_texts */
	size_t numbers_n, numbers_capacity;
	struct number *number; /* by index of number_texts: the first of that text */
	size_t number_capacity;
	struct entry *entries; /* by index of keys; sorted by place when all are there */
	size_t entries_n, entries_capacity;
	uint32_t *first; /* by place: entries[first[f] … first[f + 1]) */
	struct pp_buf text;
};

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the labels of a call graph");
}

static int compare_text(const void *left, const void *right)
{
	const struct pp_str *a = left, *b = right;

	return pp_str_cmp(*a, *b);
}

/* "key:value" of every string label, sorted, a line each. */
static int join_strings(struct pp_graph_labels *labels, const struct pp_label_list *list, struct pp_error *err)
{
	const struct pp_profile *p = labels->sides[0].profile;
	struct pp_str *parts = malloc(((size_t)list->n + 1) * sizeof *parts);
	size_t n = 0;

	if (!parts)
		return no_memory(err);
	for (uint32_t i = 0; i < list->n; i++) {
		const struct pp_label *label = &list->labels[i];
		const struct pp_str key = pp_string(p, label->key), value = pp_string(p, label->str);
		char *text;
		if (label->str == 0 || pp_str_eq(key, PP_LIT("pprof::base")))
			continue;
		text = pp_arena_alloc(labels->arena, key.len + value.len + 1);
		if (!text) {
			free(parts);
			return no_memory(err);
		}
		memcpy(text, key.ptr, key.len);
		text[key.len] = ':';
		memcpy(text + key.len + 1, value.ptr, value.len);
		parts[n++] = (struct pp_str){text, key.len + value.len + 1};
	}
	qsort(parts, n, sizeof *parts, compare_text);
	labels->text.n = 0;
	int status = 0;
	for (size_t i = 0; i < n && status == 0; i++)
		if ((i > 0 && pp_buf_append(&labels->text, "\n", 1, err) != 0) ||
		    pp_buf_append(&labels->text, parts[i].ptr, parts[i].len, err) != 0)
			status = -1;
	free(parts);
	return status;
}

/* Numbers are known by how they read. */
static int add_number(struct pp_graph_labels *labels, const struct pp_label *label, struct pp_error *err)
{
	const struct pp_str unit = labels->units[label->key];
	char text[128];
	bool is_new;
	void *array = labels->numbers;

	pp_unit_label(text, sizeof text, label->num, unit, PP_LIT("minimum"));
	const uint32_t index = pp_intern_put(labels->number_texts, text, strlen(text), &is_new);
	if (index == PP_NONE || pp_arena_reserve(labels->arena, &array, &labels->numbers_capacity,
	                                         labels->numbers_n + 1, sizeof *labels->numbers) != 0)
		return no_memory(err);
	labels->numbers = array;
	labels->numbers[labels->numbers_n++] = index;
	if (!is_new)
		return 0;
	array = labels->number;
	if (pp_arena_reserve(labels->arena, &array, &labels->number_capacity, (size_t)index + 1,
	                     sizeof *labels->number) != 0)
		return no_memory(err);
	labels->number = array;
	labels->number[index] = (struct number){label->num, unit};
	return 0;
}

static int read_list(struct pp_graph_labels *labels, uint32_t l, struct pp_error *err)
{
	const struct pp_profile *p = labels->sides[0].profile;
	const struct pp_label_list *list = &p->label_lists[l];
	struct tags *tags = &labels->tags[l];

	if (join_strings(labels, list, err) != 0)
		return -1;
	tags->strings = pp_intern_put(labels->strings, labels->text.n > 0 ? labels->text.bytes : "", labels->text.n, NULL);
	if (tags->strings == PP_NONE)
		return no_memory(err);
	tags->first = (uint32_t)labels->numbers_n;
	for (uint32_t i = 0; i < list->n; i++)
		if (list->labels[i].str == 0 && pp_label_counts(&list->labels[i]) &&
		    pp_str_eq(pp_string(p, list->labels[i].key), PP_LIT("bytes")) &&
		    add_number(labels, &list->labels[i], err) != 0)
			return -1;
	tags->n = (uint32_t)labels->numbers_n - tags->first;
	return 0;
}

/* What the samples of one label list add up to at a place. */
struct sums {
	int64_t flat[2], cum[2];
	uint32_t list, sample; /* of the last addition, plus 1 */
};

struct collector {
	struct pp_graph_labels *labels;
	const unsigned char *kept;
	struct sums *sums; /* by place */
	uint32_t *touched; /* places with sums of the list at hand */
	uint32_t touched_n;
};

static int add_entry(struct pp_graph_labels *labels, uint32_t place, uint32_t strings, uint32_t number,
                     const struct sums *sums, struct pp_error *err)
{
	const uint32_t key[3] = {place, strings, number};
	bool is_new;
	const uint32_t index = pp_intern_put(labels->keys, key, sizeof key, &is_new);
	void *array = labels->entries;

	if (index == PP_NONE || pp_arena_reserve(labels->arena, &array, &labels->entries_capacity, (size_t)index + 1,
	                                         sizeof *labels->entries) != 0)
		return no_memory(err);
	labels->entries = array;
	if (is_new) {
		labels->entries[index] = (struct entry){place, strings, number, {0, 0}, {0, 0}};
		labels->entries_n = (size_t)index + 1;
	}
	/* No sum is over the total, which fits. */
	for (size_t i = 0; i < 2; i++) {
		labels->entries[index].flat[i] += sums->flat[i];
		labels->entries[index].cum[i] += sums->cum[i];
	}
	return 0;
}

static void add_at(struct collector *collector, uint32_t place, uint32_t s, uint32_t list, const int64_t values[2],
                   bool is_leaf)
{
	struct sums *sums = &collector->sums[place];

	if (!collector->kept[place])
		return;
	if (sums->list != list + 1) {
		*sums = (struct sums){{0, 0}, {0, 0}, list + 1, 0};
		collector->touched[collector->touched_n++] = place;
	}
	for (size_t k = 0; k < 2; k++) {
		sums->flat[k] += is_leaf ? values[k] : 0;
		sums->cum[k] += sums->sample != s + 1 ? values[k] : 0;
	}
	sums->sample = s + 1;
}

static void add_sample(struct collector *collector, uint32_t s, uint32_t list)
{
	const struct pp_graph_labels *labels = collector->labels;
	const struct pp_profile *p = labels->sides[0].profile;
	const struct pp_frame_map *map = labels->sides[0].map;
	const struct pp_stack *stack = pp_sample_stack(p, s);
	const int64_t values[2] = {pp_value(p, s, labels->sides[0].column),
	                           labels->sides_n > 1 ? pp_value(p, s, labels->sides[1].column) : 0};

	if (values[0] == 0 && values[1] == 0)
		return;
	if (labels->tree) {
		const uint32_t leaf = stack->n > 0 ? pp_graph_tree_leaf(labels->tree, p->sample_stack[s]) : PP_NONE;
		for (uint32_t at = leaf; at != PP_NONE; at = pp_graph_tree_parent(labels->tree, at))
			add_at(collector, at, s, list, values, at == leaf);
		return;
	}
	for (uint32_t i = 0; i < stack->n; i++)
		for (uint32_t f = map->first[stack->locations[i]]; f < map->first[stack->locations[i] + 1]; f++) {
			const bool is_leaf = i == 0 && f == map->first[stack->locations[0]];
			add_at(collector, map->frame[f], s, list, values, is_leaf);
		}
}

/* The sums of a list count for its strings, and for each of its numbers. */
static int end_list(struct collector *collector, const struct tags *tags, struct pp_error *err)
{
	struct pp_graph_labels *labels = collector->labels;

	for (uint32_t t = 0; t < collector->touched_n; t++) {
		const uint32_t place = collector->touched[t];
		if (tags->strings != 0 &&
		    add_entry(labels, place, tags->strings, PP_NONE, &collector->sums[place], err) != 0)
			return -1;
		for (uint32_t i = 0; i < tags->n; i++)
			if (add_entry(labels, place, tags->strings, labels->numbers[tags->first + i],
			              &collector->sums[place], err) != 0)
				return -1;
	}
	collector->touched_n = 0;
	return 0;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	const uint32_t ka[] = {a->place, a->strings, a->number}, kb[] = {b->place, b->strings, b->number};

	for (size_t i = 0; i < 3; i++)
		if (ka[i] != kb[i])
			return ka[i] < kb[i] ? -1 : 1;
	return 0;
}

/* Leaves out what is light, and lists entries by place. */
static int finish(struct pp_graph_labels *labels, uint32_t places_n, uint64_t cut, struct pp_error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < labels->entries_n; i++)
		if (pp_abs_i64(labels->entries[i].flat[0]) >= cut || pp_abs_i64(labels->entries[i].cum[0]) >= cut)
			labels->entries[n++] = labels->entries[i];
	labels->entries_n = n;
	if (n > 0)
		qsort(labels->entries, n, sizeof *labels->entries, compare_entries);
	labels->first = calloc((size_t)places_n + 2, sizeof *labels->first);
	if (!labels->first)
		return no_memory(err);
	for (size_t i = 0; i < n; i++)
		labels->first[labels->entries[i].place + 1]++;
	for (uint32_t f = 0; f < places_n; f++)
		labels->first[f + 1] += labels->first[f];
	return 0;
}

/* Samples by label list: those of list l are by_list[first[l] … first[l + 1]). */
static void sort_samples(const struct pp_profile *p, uint32_t *first, uint32_t *by_list)
{
	for (uint32_t s = 0; s < p->samples_n; s++)
		first[p->sample_labels[s] + 2]++;
	for (uint32_t l = 0; l < p->label_lists_n; l++)
		first[l + 2] += first[l + 1];
	for (uint32_t s = 0; s < p->samples_n; s++)
		by_list[first[p->sample_labels[s] + 1]++] = s;
}

static int collect_lists(struct collector *collector, const uint32_t *first, const uint32_t *by_list,
                         struct pp_error *err)
{
	struct pp_graph_labels *labels = collector->labels;
	const unsigned char *keep = labels->sides[0].keep;

	for (uint32_t l = 0; l < labels->sides[0].profile->label_lists_n; l++) {
		if (read_list(labels, l, err) != 0)
			return -1;
		if (labels->tags[l].strings == 0 && labels->tags[l].n == 0)
			continue;
		for (uint32_t i = first[l]; i < first[l + 1]; i++)
			if (!keep || keep[by_list[i]])
				add_sample(collector, by_list[i], l);
		if (end_list(collector, &labels->tags[l], err) != 0)
			return -1;
	}
	return 0;
}

static int collect(struct pp_graph_labels *labels, const unsigned char *kept, uint32_t places_n, uint64_t cut,
                   struct pp_error *err)
{
	const struct pp_profile *p = labels->sides[0].profile;
	struct collector collector = {labels, kept, calloc((size_t)places_n + 1, sizeof *collector.sums),
	                              malloc(((size_t)places_n + 1) * sizeof *collector.touched), 0};
	uint32_t *first = calloc((size_t)p->label_lists_n + 3, sizeof *first);
	uint32_t *by_list = malloc(((size_t)p->samples_n + 1) * sizeof *by_list);
	int status = -1;

	if (!collector.sums || !collector.touched || !first || !by_list) {
		no_memory(err);
	} else {
		sort_samples(p, first, by_list);
		status = collect_lists(&collector, first, by_list, err);
	}
	free(collector.sums);
	free(collector.touched);
	free(first);
	free(by_list);
	return status == 0 ? finish(labels, places_n, cut, err) : -1;
}

struct pp_graph_labels *pp_graph_labels_new(const struct pp_graph_maker *maker, uint64_t cut, struct pp_error *err)
{
	const struct pp_profile *p = maker->sides[0].profile;
	const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_graph_labels *labels = calloc(1, sizeof *labels);

	if (!labels) {
		no_memory(err);
		return NULL;
	}
	labels->sides = maker->sides;
	labels->sides_n = maker->sides_n;
	labels->tree = maker->tree;
	labels->arena = pp_arena_new(limits.model_bytes);
	labels->strings = labels->arena ? pp_intern_new(labels->arena) : NULL;
	labels->number_texts = labels->arena ? pp_intern_new(labels->arena) : NULL;
	labels->keys = labels->arena ? pp_intern_new(labels->arena) : NULL;
	labels->tags = calloc((size_t)p->label_lists_n + 1, sizeof *labels->tags);
	if (!labels->strings || !labels->number_texts || !labels->keys || !labels->tags ||
	    pp_intern_put(labels->strings, "", 0, NULL) != 0)
		no_memory(err);
	else if (pp_label_units(p, &labels->units, err) == 0 &&
	         collect(labels, maker->kept, maker->places_n, cut, err) == 0)
		return labels;
	pp_graph_labels_free(labels);
	return NULL;
}

void pp_graph_labels_free(struct pp_graph_labels *labels)
{
	if (!labels)
		return;
	pp_intern_free(labels->strings);
	pp_intern_free(labels->number_texts);
	pp_intern_free(labels->keys);
	pp_arena_free(labels->arena);
	free(labels->units);
	free(labels->tags);
	free(labels->first);
	pp_buf_release(&labels->text);
	free(labels);
}

uint32_t pp_graph_labels_count(const struct pp_graph_labels *labels, uint32_t place)
{
	uint32_t n = 0;

	for (uint32_t i = labels->first[place]; i < labels->first[place + 1]; i++)
		n += labels->entries[i].flat[0] != 0;
	return n < SHOWN_MAX ? n : SHOWN_MAX;
}

/* ---- what is shown of them ---- */

/* An entry, or a group of numbers. */
struct shown {
	struct pp_str text;
	uint32_t strings;                       /* of the entry */
	const struct number *seed, *low, *high; /* of a group: its first, its least and largest */
	int64_t flat[2], cum[2];
	bool by_flat;
};

static int compare_shown(const void *left, const void *right)
{
	const struct shown *a = left, *b = right;
	const uint64_t flat[] = {pp_abs_i64(a->flat[0]), pp_abs_i64(b->flat[0])};
	const uint64_t cum[] = {pp_abs_i64(a->cum[0]), pp_abs_i64(b->cum[0])};

	if (!a->by_flat && cum[0] != cum[1])
		return cum[0] > cum[1] ? -1 : 1;
	if (flat[0] != flat[1])
		return flat[0] > flat[1] ? -1 : 1;
	return pp_str_cmp(a->text, b->text);
}

static int64_t mean(const int64_t v[2])
{
	return v[1] == 0 || (v[1] == -1 && v[0] == INT64_MIN) ? v[0] : v[0] / v[1];
}

static double in_unit(const struct number *number, const struct number *of)
{
	struct pp_str unit;

	return pp_unit_scale(number->value, number->unit, of->unit, &unit);
}

/* Adds a number to the group whose first is nearest. */
static void join_group(struct shown *groups, const struct shown *one)
{
	size_t nearest = 0;
	double distance = 0;

	for (size_t g = 0; g < SHOWN_MAX; g++) {
		const double d = fabs(in_unit(one->seed, groups[g].seed) - (double)groups[g].seed->value);
		if (g == 0 || d < distance) {
			nearest = g;
			distance = d;
		}
	}
	struct shown *group = &groups[nearest];
	if (in_unit(one->seed, group->low) < (double)group->low->value)
		group->low = one->seed;
	if (in_unit(one->seed, group->high) > (double)group->high->value)
		group->high = one->seed;
	for (size_t i = 0; i < 2; i++) {
		group->flat[i] += one->flat[i];
		group->cum[i] += one->cum[i];
	}
}

/* A growing list of what hangs at functions, in the arena of the graph. */
struct hanger {
	const struct pp_graph_labels *labels;
	struct pp_callgraph *graph;
	const uint32_t *places; /* by node */
	size_t capacity;
};

/* Text is copied. */
static int hang(struct hanger *hanger, uint32_t node, uint32_t parent, const struct shown *shown, int64_t value,
                bool partial, struct pp_error *err)
{
	struct pp_callgraph *graph = hanger->graph;
	void *array = graph->labels;
	char *text = pp_arena_copy(graph->arena, shown->text.ptr, shown->text.len);

	if (!text || pp_arena_reserve(graph->arena, &array, &hanger->capacity, (size_t)graph->labels_n + 1,
	                              sizeof *graph->labels) != 0)
		return no_memory(err);
	graph->labels = array;
	graph->labels[graph->labels_n++] =
		(struct pp_nodelet){node, parent, {text, shown->text.len}, value, partial};
	return 0;
}

/* "12kB..64kB" of a group of several. */
static void name_group(struct shown *group, char *text, size_t text_n)
{
	char low[128], high[128];

	if (group->low == group->seed && group->high == group->seed) {
		pp_unit_label(text, text_n, group->seed->value, group->seed->unit, PP_LIT("auto"));
	} else {
		pp_unit_label(low, sizeof low, group->low->value, group->low->unit, PP_LIT("auto"));
		pp_unit_label(high, sizeof high, group->high->value, group->high->unit, PP_LIT("auto"));
		snprintf(text, text_n, "%s..%s", low, high);
	}
	group->text = pp_str_of(text);
}

/* The numbers that come with some strings: the largest, and others in the groups of the nearest of them. */
static int hang_numbers(struct hanger *hanger, uint32_t node, uint32_t parent, struct shown *numbers, size_t n,
                        struct pp_error *err)
{
	char texts[SHOWN_MAX][300];

	qsort(numbers, n, sizeof *numbers, compare_shown);
	if (n > SHOWN_MAX) {
		for (size_t i = SHOWN_MAX; i < n; i++)
			join_group(numbers, &numbers[i]);
		n = SHOWN_MAX;
		for (size_t g = 0; g < n; g++)
			name_group(&numbers[g], texts[g], sizeof texts[g]);
		qsort(numbers, n, sizeof *numbers, compare_shown);
	}
	for (size_t i = 0; i < n; i++) {
		const bool whole = numbers[i].by_flat || mean(numbers[i].flat) == mean(numbers[i].cum);
		const int64_t value = whole ? mean(numbers[i].flat) : mean(numbers[i].cum);
		if (value != 0 && hang(hanger, node, parent, &numbers[i], value, !whole, err) != 0)
			return -1;
	}
	return 0;
}

/* The entries of a place, strings alone or numbers with these strings. */
static size_t select_entries(const struct pp_graph_labels *labels, uint32_t place, bool numbers, uint32_t strings,
                             bool by_flat, struct shown *out)
{
	size_t n = 0;

	for (uint32_t i = labels->first[place]; i < labels->first[place + 1]; i++) {
		const struct entry *e = &labels->entries[i];
		if ((e->number != PP_NONE) != numbers || (numbers && e->strings != strings))
			continue;
		out[n] = (struct shown){.strings = e->strings, .flat = {e->flat[0], e->flat[1]},
		                        .cum = {e->cum[0], e->cum[1]}, .by_flat = by_flat};
		out[n].text = numbers ? pp_intern_at(labels->number_texts, e->number)
		                      : pp_intern_at(labels->strings, e->strings);
		if (numbers)
			out[n].seed = out[n].low = out[n].high = &labels->number[e->number];
		n++;
	}
	return n;
}

static int hang_all(struct hanger *hanger, uint32_t node, bool by_flat, struct shown *strings, struct shown *numbers,
                    struct pp_error *err)
{
	const struct pp_graph_labels *labels = hanger->labels;
	const uint32_t place = hanger->places[node];
	size_t n = select_entries(labels, place, false, 0, by_flat, strings);

	if (n > 0)
		qsort(strings, n, sizeof *strings, compare_shown);
	for (size_t i = 0; i < n && i < SHOWN_MAX; i++) {
		const int64_t value = by_flat ? mean(strings[i].flat) : mean(strings[i].cum);
		if (value == 0)
			continue;
		const uint32_t parent = hanger->graph->labels_n;
		if (hang(hanger, node, PP_NONE, &strings[i], value, false, err) != 0)
			return -1;
		const size_t numbers_n = select_entries(labels, place, true, strings[i].strings, by_flat, numbers);
		if (numbers_n > 0 && hang_numbers(hanger, node, parent, numbers, numbers_n, err) != 0)
			return -1;
	}
	n = select_entries(labels, place, true, 0, by_flat, numbers);
	return n > 0 ? hang_numbers(hanger, node, PP_NONE, numbers, n, err) : 0;
}

int pp_graph_labels_attach(const struct pp_graph_labels *labels, const uint32_t *places,
                           struct pp_callgraph *graph, struct pp_error *err)
{
	const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct hanger hanger = {labels, graph, places, 0};
	unsigned char *calls = calloc((size_t)graph->nodes_n + graph->ghosts_n + 1, 1);
	struct shown *shown = malloc((2 * labels->entries_n + 2) * sizeof *shown);
	int status = -1;

	graph->arena = pp_arena_new(limits.model_bytes);
	if (!calls || !shown || !graph->arena) {
		no_memory(err);
		goto done;
	}
	for (uint32_t e = 0; e < graph->edges_n; e++)
		calls[graph->edges[e].from] = 1;
	status = 0;
	for (uint32_t n = 0; n < graph->nodes_n && status == 0; n++)
		status = hang_all(&hanger, n, calls[n], shown, shown + labels->entries_n + 1, err);
done:
	free(calls);
	free(shown);
	return status;
}
