/* What there is: types, labels, series. Servers answer these by the blocks that a window touches, not by the
 * profiles in it. */
#include "cmd/test/standin/call.h"

#include <stdlib.h>
#include <string.h>

#define HOUR_MS 3600000

/* Blocks of v1 hold a clock hour of data. */
static bool in_hour_block(const struct si_call *call, const struct si_row *row, int64_t start, int64_t end)
{
	int64_t hour = row->push->time_ms / HOUR_MS, first = row->push->time_ms, last = first;

	for (uint32_t i = 0; i < call->store->pushes_n; i++) {
		int64_t ms = call->store->pushes[i].time_ms;
		if (ms / HOUR_MS != hour || !pp_str_eq(call->store->pushes[i].tenant, call->tenant))
			continue;
		first = ms < first ? ms : first;
		last = ms > last ? ms : last;
	}
	return first <= end && last >= start;
}

/* Whether a window lists the row. All of v2 is one block, as what was pushed at once; grace_ms is how much longer
 * than its data it is found. */
static bool is_listed(const struct si_call *call, const struct si_row *row, int64_t start, int64_t end, int64_t grace_ms)
{
	int64_t oldest = 0, newest = 0;

	if (!pp_str_eq(row->push->tenant, call->tenant))
		return false;
	if (call->mode == SI_V1 || call->mode == SI_OLD)
		return (start == 0 && end == 0) || in_hour_block(call, row, start, end);
	return si_bounds(call, &oldest, &newest) && oldest <= end && newest + grace_ms >= start;
}

/* v1 makes differences of these between profiles of a series, and has no first one to begin with. */
static bool is_hidden(const struct si_call *call, const struct si_row *row)
{
	return call->mode == SI_V1 && row->type.len > 13 && memcmp(row->type.ptr, "memory:alloc_", 13) == 0;
}

static bool check_range(struct si_call *call, int64_t start, int64_t end)
{
	return ((call->mode == SI_V1 || call->mode == SI_OLD) && start == 0 && end == 0) || si_check_window(call, start, end);
}

bool si_profile_stats(struct si_call *call, const void *request)
{
	Pyro__GetProfileStatsResponse *answer = si_message(call, &pyro__get_profile_stats_response__descriptor);

	(void)request;
	if (!answer)
		return false;
	answer->data_ingested = si_bounds(call, &answer->oldest_profile_time, &answer->newest_profile_time);
	call->answer = &answer->base;
	return true;
}

/* ---- sets of texts ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts, and drops what is there twice. */
static size_t sort_texts(char **texts, size_t n)
{
	size_t kept = 0;

	qsort(texts, n, sizeof(texts[0]), by_text);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || strcmp(texts[kept - 1], texts[i]) != 0)
			texts[kept++] = texts[i];
	return kept;
}

static char *copy(struct si_call *call, struct pp_str text)
{
	return pp_arena_copy(call->arena, text.ptr, text.len);
}

/* ---- types ---- */

static Pyro__ProfileType *type_of(struct si_call *call, const char *id)
{
	Pyro__ProfileType *type = si_message(call, &pyro__profile_type__descriptor);
	char *part[5], *text = copy(call, pp_str_of(id));

	if (!type || !text)
		return NULL;
	for (size_t i = 0; i < 5; i++) {
		size_t n = strcspn(text, ":");
		part[i] = text;
		text += n + (text[n] != '\0');
		part[i][n] = '\0';
	}
	type->id = copy(call, pp_str_of(id));
	type->name = part[0];
	type->sample_type = part[1];
	type->sample_unit = part[2];
	type->period_type = part[3];
	type->period_unit = part[4];
	return type;
}

bool si_profile_types(struct si_call *call, const void *request)
{
	const Pyro__ProfileTypesRequest *ask = request;
	Pyro__ProfileTypesResponse *answer = si_message(call, &pyro__profile_types_response__descriptor);
	char **ids = si_array(call, call->store->rows_n + 1, sizeof(ids[0]));
	size_t n = 0;

	/* Without a range, v2 looks at what came in just now: nothing. */
	bool recent = call->mode != SI_V1 && call->mode != SI_OLD && ask->start == 0 && ask->end == 0;
	if (!answer || !ids || (!recent && !check_range(call, ask->start, ask->end)))
		return false;
	for (size_t i = 0; i < call->store->rows_n && !recent; i++)
		if (is_listed(call, &call->store->rows[i], ask->start, ask->end, 0) && !is_hidden(call, &call->store->rows[i]))
			ids[n++] = copy(call, call->store->rows[i].type);
	n = sort_texts(ids, n);
	answer->profile_types = si_array(call, n + 1, sizeof(answer->profile_types[0]));
	for (size_t i = 0; answer->profile_types && i < n; i++)
		answer->profile_types[answer->n_profile_types++] = type_of(call, ids[i]);
	call->answer = &answer->base;
	return answer->profile_types != NULL;
}

/* ---- labels ---- */

/* Several matchers: v1 gives what any of them selects, the others what all select. */
static bool read_matchers(struct si_call *call, char *const *texts, size_t n, struct si_selector *selectors, size_t *selectors_n)
{
	bool any_of = call->mode == SI_V1 || call->mode == SI_OLD;
	char why[256];

	*selectors_n = any_of && n > 0 ? n : 1;
	for (size_t i = 0; i < n; i++) {
		if (si_selector_add(&selectors[any_of ? i : 0], texts[i], call->arena, why))
			continue;
		if (any_of)
			return si_refuse_deep(call, "unknown", "%s", why);
		return si_refuse(call, "invalid_argument", "parsing label selector \"%s\": %s", texts[i], why);
	}
	return true;
}

/* The rows that a question of discovery is about; NULL after a refusal. */
static const struct si_row **listed_rows(struct si_call *call, char *const *matchers, size_t matchers_n, int64_t start,
                                         int64_t end, size_t *n)
{
	struct si_selector selectors[SI_MATCHERS_MAX] = {{.n = 0}};
	const struct si_row **rows = si_array(call, call->store->rows_n + 1, sizeof(struct si_row *));
	size_t selectors_n = 0;
	bool good = rows && check_range(call, start, end) &&
	            (matchers_n <= SI_MATCHERS_MAX || si_refuse(call, "invalid_argument", "too many matchers")) &&
	            read_matchers(call, matchers, matchers_n, selectors, &selectors_n);

	*n = 0;
	for (size_t i = 0; good && i < call->store->rows_n; i++) {
		const struct si_row *row = &call->store->rows[i];
		bool wanted = false;
		for (size_t k = 0; k < selectors_n; k++)
			wanted |= si_selects(&selectors[k], row);
		if (wanted && is_listed(call, row, start, end, HOUR_MS) && !is_hidden(call, row))
			rows[(*n)++] = row;
	}
	for (size_t k = 0; k < SI_MATCHERS_MAX; k++)
		si_selector_release(&selectors[k]);
	return good ? rows : NULL;
}

bool si_label_names(struct si_call *call, const void *request)
{
	const Pyro__LabelNamesRequest *ask = request;
	Pyro__LabelNamesResponse *answer = si_message(call, &pyro__label_names_response__descriptor);
	size_t rows_n, most = 0;
	const struct si_row **rows = listed_rows(call, ask->matchers, ask->n_matchers, ask->start, ask->end, &rows_n);

	for (size_t i = 0; rows && i < rows_n; i++)
		most += rows[i]->labels_n;
	char **names = rows && answer ? si_array(call, most + 1, sizeof(names[0])) : NULL;
	if (!names)
		return false;
	for (size_t i = 0; i < rows_n; i++)
		for (uint32_t k = 0; k < rows[i]->labels_n; k++)
			names[answer->n_names++] = copy(call, rows[i]->labels[k].name);
	answer->n_names = sort_texts(names, answer->n_names);
	answer->names = names;
	call->answer = &answer->base;
	return true;
}

bool si_label_values(struct si_call *call, const void *request)
{
	const Pyro__LabelValuesRequest *ask = request;
	Pyro__LabelValuesResponse *answer = si_message(call, &pyro__label_values_response__descriptor);
	size_t rows_n;

	if (!*ask->name)
		return si_refuse(call, "invalid_argument", "name is required");
	const struct si_row **rows = listed_rows(call, ask->matchers, ask->n_matchers, ask->start, ask->end, &rows_n);
	char **values = rows && answer ? si_array(call, rows_n + 1, sizeof(values[0])) : NULL;
	if (!values)
		return false;
	for (size_t i = 0; i < rows_n; i++) {
		struct pp_str value = si_label_of(rows[i], pp_str_of(ask->name));
		if (value.len)
			values[answer->n_names++] = copy(call, value);
	}
	answer->n_names = sort_texts(values, answer->n_names);
	answer->names = values;
	call->answer = &answer->base;
	return true;
}

/* ---- series ---- */

static int by_labels(const void *a, const void *b)
{
	const Pyro__Labels *x = *(Pyro__Labels *const *)a, *y = *(Pyro__Labels *const *)b;

	for (size_t i = 0; i < x->n_labels && i < y->n_labels; i++) {
		int name = strcmp(x->labels[i]->name, y->labels[i]->name), value = strcmp(x->labels[i]->value, y->labels[i]->value);
		if (name || value)
			return name ? name : value;
	}
	return x->n_labels < y->n_labels ? -1 : x->n_labels > y->n_labels;
}

/* The labels of a row that are asked for: all without names. */
static Pyro__Labels *labels_of(struct si_call *call, const struct si_row *row, char *const *names, size_t names_n)
{
	Pyro__Labels *set = si_message(call, &pyro__labels__descriptor);
	struct si_label *kept = si_array(call, row->labels_n + 1, sizeof(kept[0]));

	if (!set || !kept)
		return NULL;
	for (uint32_t i = 0; i < row->labels_n; i++) {
		bool wanted = names_n == 0;
		for (size_t k = 0; k < names_n; k++)
			wanted |= pp_str_eq(pp_str_of(names[k]), row->labels[i].name);
		if (wanted)
			kept[set->n_labels++] = row->labels[i];
	}
	set->labels = si_label_pairs(call, kept, set->n_labels);
	return set->labels ? set : NULL;
}

bool si_series(struct si_call *call, const void *request)
{
	const Pyro__SeriesRequest *ask = request;
	Pyro__SeriesResponse *answer = si_message(call, &pyro__series_response__descriptor);
	size_t rows_n, n = 0;
	const struct si_row **rows = listed_rows(call, ask->matchers, ask->n_matchers, ask->start, ask->end, &rows_n);
	Pyro__Labels **sets = rows && answer ? si_array(call, rows_n + 1, sizeof(Pyro__Labels *)) : NULL;

	if (!sets)
		return false;
	for (size_t i = 0; i < rows_n; i++) {
		Pyro__Labels *set = labels_of(call, rows[i], ask->label_names, ask->n_label_names);
		if (!set)
			return false;
		/* A series without any of the names: v1 lists an empty one. */
		if (set->n_labels > 0 || call->mode == SI_V1 || call->mode == SI_OLD)
			sets[n++] = set;
	}
	qsort(sets, n, sizeof(sets[0]), by_labels);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || by_labels(&sets[i - 1], &sets[i]) != 0)
			sets[answer->n_labels_set++] = sets[i];
	answer->labels_set = sets;
	call->answer = &answer->base;
	return true;
}
