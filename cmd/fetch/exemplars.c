/* Exemplars: single profiles, or spans, that stand for the large values of a window. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/fetch/fetch.h"

#define TOP_N_DEFAULT 100

/* Borrowed from the answers. */
struct exemplar {
	const Pyro__Exemplar *from;
	Pyro__LabelPair **line; /* labels of its series */
	size_t line_n;
};

struct found {
	struct exemplar *items;
	size_t n, room;
	size_t points; /* with a value, in the window */
	bool failed;
};

static void add(struct found *found, const struct fetch *fetch, Pyro__Exemplar *const *exemplars, size_t n,
                Pyro__LabelPair **line, size_t line_n)
{
	for (size_t i = 0; i < n && !found->failed; i++) {
		if (exemplars[i]->timestamp < fetch->window.from_ms || exemplars[i]->timestamp > fetch->window.to_ms)
			continue;
		if (found->n == found->room) {
			size_t room = found->room ? found->room * 2 : 64;
			struct exemplar *items = realloc(found->items, room * sizeof(*items));
			found->failed = !items;
			if (!items)
				return;
			found->items = items;
			found->room = room;
		}
		found->items[found->n++] = (struct exemplar){exemplars[i], line, line_n};
	}
}

static int compare(const void *a, const void *b)
{
	const Pyro__Exemplar *x = ((const struct exemplar *)a)->from, *y = ((const struct exemplar *)b)->from;
	int order;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	if (x->timestamp != y->timestamp)
		return x->timestamp > y->timestamp ? 1 : -1;
	if ((order = strcmp(x->profile_id, y->profile_id)) || (order = strcmp(x->span_id, y->span_id)))
		return order;
	return strcmp(x->trace_id, y->trace_id);
}

/* ---- labels ---- */

static bool is_internal(const char *name)
{
	return strncmp(name, "__", 2) == 0;
}

/* The value of a label: the exemplar's own, else its series'; NULL when neither has it. */
static const char *label_of(const struct exemplar *exemplar, const char *name)
{
	for (size_t i = 0; i < exemplar->from->n_labels; i++)
		if (strcmp(exemplar->from->labels[i]->name, name) == 0)
			return exemplar->from->labels[i]->value;
	for (size_t i = 0; i < exemplar->line_n; i++)
		if (strcmp(exemplar->line[i]->name, name) == 0)
			return exemplar->line[i]->value;
	return NULL;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of all labels but internal ones, sorted, each once; malloc'ed. */
static const char **label_names(const struct found *found, size_t *n)
{
	size_t all = 0, kept = 0;

	for (size_t i = 0; i < found->n; i++)
		all += found->items[i].from->n_labels + found->items[i].line_n;
	const char **names = malloc((all + 1) * sizeof(*names));
	if (!names)
		return NULL;
	all = 0;
	for (size_t i = 0; i < found->n; i++) {
		const struct exemplar *one = &found->items[i];
		for (size_t k = 0; k < one->from->n_labels; k++)
			names[all++] = one->from->labels[k]->name;
		for (size_t k = 0; k < one->line_n; k++)
			names[all++] = one->line[k]->name;
	}
	qsort(names, all, sizeof(*names), compare_names);
	for (size_t i = 0; i < all; i++)
		if (!is_internal(names[i]) && (kept == 0 || strcmp(names[kept - 1], names[i]) != 0))
			names[kept++] = names[i];
	*n = kept;
	return names;
}

/* ---- output ---- */

static enum cli_status print_json(struct fetch *fetch, const struct found *found, const char **names, size_t names_n,
                                  struct pp_sink *sink)
{
	struct pp_json *object = pp_json_object(), *array = pp_json_array();
	char text[40];

	if (!object || !array) {
		pp_json_free(array);
		pp_json_free(object);
		return fetch_write_json(NULL, sink);
	}
	pp_json_str(object, "from", pp_str_of(when_text(text, sizeof(text), fetch->window.from_ms)));
	pp_json_str(object, "to", pp_str_of(when_text(text, sizeof(text), fetch->window.to_ms)));
	pp_json_str(object, "profileType", pp_str_of(fetch->options->type));
	for (size_t i = 0; i < found->n; i++) {
		const struct exemplar *one = &found->items[i];
		struct pp_json *row = pp_json_object(), *labels = pp_json_object();
		if (row && *one->from->profile_id)
			pp_json_str(row, "profileId", pp_str_of(one->from->profile_id));
		if (row && *one->from->span_id)
			pp_json_str(row, "spanId", pp_str_of(one->from->span_id));
		if (row && *one->from->trace_id)
			pp_json_str(row, "traceId", pp_str_of(one->from->trace_id));
		for (size_t k = 0; labels && k < names_n; k++) {
			const char *value = label_of(one, names[k]);
			if (value)
				pp_json_str(labels, names[k], pp_str_of(value));
		}
		if (row) {
			pp_json_str(row, "timestamp", pp_str_of(when_text(text, sizeof(text), one->from->timestamp)));
			pp_json_i64(row, "value", one->from->value);
			pp_json_add(row, "labels", labels);
		}
		pp_json_add(array, NULL, row);
	}
	pp_json_add(object, "exemplars", array);
	return fetch_write_json(object, sink);
}

enum { VALUE, TIME_MS, TIME, PROFILE_ID, SPAN_ID, TRACE_ID, FIXED_N };

static int print_row(struct table *table, const struct exemplar *one, const char **names, size_t names_n,
                     union table_cell *cells, struct pp_error *err)
{
	char text[40];

	cells[VALUE].i = one->from->value;
	cells[TIME_MS].i = one->from->timestamp;
	cells[TIME].text = pp_str_of(when_text(text, sizeof(text), one->from->timestamp));
	cells[PROFILE_ID].text = pp_str_of(one->from->profile_id);
	cells[SPAN_ID].text = pp_str_of(one->from->span_id);
	cells[TRACE_ID].text = pp_str_of(one->from->trace_id);
	for (size_t i = 0; i < names_n; i++)
		cells[FIXED_N + i].text = pp_str_of(label_of(one, names[i]));
	return table_row(table, cells, err);
}

static enum cli_status print_table(struct fetch *fetch, const struct found *found, bool spans, const char **names, size_t names_n,
                                   struct pp_sink *sink)
{
	const struct table_column fixed[FIXED_N] = {
		[VALUE] = {"value", "VALUE", TABLE_INTEGER, type_part(fetch->options->type, 2), false},
		[TIME_MS] = {"time_ms", NULL, TABLE_INTEGER, {NULL, 0}, false},
		[TIME] = {"time", "TIME", TABLE_TEXT, {NULL, 0}, false},
		[PROFILE_ID] = {"profile_id", spans ? NULL : "PROFILE ID", TABLE_TEXT, {NULL, 0}, false},
		[SPAN_ID] = {"span_id", spans ? "SPAN ID" : NULL, TABLE_TEXT, {NULL, 0}, false},
		[TRACE_ID] = {"trace_id", spans ? "TRACE ID" : NULL, TABLE_TEXT, {NULL, 0}, false},
	};
	struct table_column *columns = calloc(FIXED_N + names_n, sizeof(*columns));
	union table_cell *cells = calloc(FIXED_N + names_n, sizeof(*cells));
	struct pp_buf titles = PP_BUF_INIT;
	struct pp_error err = PP_ERROR_INIT;
	struct table *table = NULL;
	int result = columns && cells ? 0 : pp_fail(&err, PP_ENOMEM, PP_NO_OFFSET, "no memory");

	/* All titles one behind the other, and then where each begins. */
	for (size_t i = 0; result == 0 && i < names_n; i++)
		if ((result = pp_buf_append(&titles, "label:", 6, &err)) == 0)
			result = pp_buf_append(&titles, names[i], strlen(names[i]) + 1, &err);
	if (result == 0) {
		const char *at = titles.bytes;
		memcpy(columns, fixed, sizeof(fixed));
		for (size_t i = 0; i < names_n; i++, at += strlen(at) + 1)
			columns[FIXED_N + i] = (struct table_column){at, names[i], TABLE_TEXT, {NULL, 0}, false};
		table = table_new(fetch_table_format(fetch), columns, FIXED_N + names_n, sink, &err);
		result = table ? 0 : -1;
	}
	for (size_t i = 0; result == 0 && i < found->n; i++)
		result = print_row(table, &found->items[i], names, names_n, cells, &err);
	if (result == 0)
		result = table_end(table, &err);
	table_free(table);
	pp_buf_release(&titles);
	free(columns);
	free(cells);
	return result == 0 ? CLI_OK : cli_report(NULL, &err);
}

static enum cli_status print(struct fetch *fetch, struct found *found, bool spans, size_t top_n)
{
	struct pp_sink sink;
	size_t names_n = 0;

	qsort(found->items, found->n, sizeof(*found->items), compare);
	if (found->n > top_n) {
		cli_warn("the first %zu of %zu exemplars", top_n, found->n);
		found->n = top_n;
	}
	const char **names = label_names(found, &names_n);
	enum cli_status status = names ? fetch_open_text(fetch, &sink) : CLI_SYSTEM;
	if (!names)
		cli_error("no memory");
	if (status == CLI_OK)
		status = fetch_wants_json(fetch) ? print_json(fetch, found, names, names_n, &sink)
		                                 : print_table(fetch, found, spans, names, names_n, &sink);
	free(names);
	return status;
}

/* ---- the questions ---- */

static int64_t step_for(const struct window *window, uint64_t top_n)
{
	int64_t step = (window->to_ms - window->from_ms) / (int64_t)top_n;

	return step < 1000 ? 1000 : step;
}

/* One exemplar a point: the windows' whole steps, and the rest that a server would leave out. */
static void ask_profiles(struct fetch *fetch, int64_t step_ms, struct rpc_call calls[2], Pyro__SelectSeriesRequest requests[2])
{
	int64_t from = fetch->window.from_ms, length = fetch->window.to_ms - from, whole = length / step_ms * step_ms;
	const struct window windows[2] = {{from, from + whole}, {from + whole, fetch->window.to_ms}};

	for (int i = 0; i < 2; i++) {
		int64_t part = windows[i].to_ms - windows[i].from_ms;
		pyro__select_series_request__init(&requests[i]);
		requests[i].profile_typeid = rpc_text(fetch->options->type);
		requests[i].label_selector = rpc_text(fetch->selector);
		requests[i].start = windows[i].from_ms;
		requests[i].end = windows[i].to_ms;
		requests[i].step = (double)(i == 0 ? step_ms : part) / 1000;
		requests[i].exemplar_type = PYRO__EXEMPLAR_TYPE__EXEMPLAR_TYPE_INDIVIDUAL;
		calls[i] = (struct rpc_call){.method = "SelectSeries", .request = &requests[i].base,
		                             .response = &pyro__select_series_response__descriptor};
		/* Exemplars have times of their own: those from outside are left out. */
		if (part > 0)
			rpc_wait_from(&fetch->server, &calls[i], &requests[i].start);
	}
}

static void collect_profiles(struct fetch *fetch, const struct rpc_call *call, struct found *found)
{
	const Pyro__SelectSeriesResponse *answer = (const void *)call->answer;

	for (size_t i = 0; answer && i < answer->n_series; i++)
		for (size_t k = 0; k < answer->series[i]->n_points; k++) {
			const Pyro__Point *point = answer->series[i]->points[k];
			found->points += point->timestamp > fetch->window.from_ms;
			add(found, fetch, point->exemplars, point->n_exemplars, answer->series[i]->labels, answer->series[i]->n_labels);
		}
}

static enum cli_status exemplars_profile(struct fetch *fetch, uint64_t top_n)
{
	struct rpc_call calls[2];
	Pyro__SelectSeriesRequest requests[2];
	struct found found = {.items = NULL};
	enum cli_status status = CLI_OK;

	ask_profiles(fetch, step_for(&fetch->window, top_n), calls, requests);
	for (int i = 0; i < 2 && status == CLI_OK; i++) {
		status = rpc_report(&calls[i]);
		collect_profiles(fetch, &calls[i], &found);
	}
	if (status == CLI_OK && found.failed) {
		status = cli_no_memory();
	} else if (status == CLI_OK && found.n == 0 && found.points > 0) {
		cli_error("this server has profiles in the window and sends no exemplars of them (mode v1)");
		status = CLI_UNSUPPORTED;
	} else if (status == CLI_OK && found.n == 0) {
		status = fetch_empty(fetch, "profiles");
	} else if (status == CLI_OK) {
		if (found.n < found.points)
			cli_warn("%zu of %zu points have no exemplar", found.points - found.n, found.points);
		status = print(fetch, &found, false, (size_t)top_n);
	}
	free(found.items);
	rpc_release(&calls[0]);
	rpc_release(&calls[1]);
	return status;
}

static void collect_spans(struct fetch *fetch, const struct rpc_call *call, struct found *found)
{
	const Pyro__SelectHeatmapResponse *answer = (const void *)call->answer;
	size_t kept = 0;

	for (size_t i = 0; i < answer->n_series; i++)
		for (size_t k = 0; k < answer->series[i]->n_slots; k++) {
			const Pyro__HeatmapSlot *slot = answer->series[i]->slots[k];
			add(found, fetch, slot->exemplars, slot->n_exemplars, answer->series[i]->labels, answer->series[i]->n_labels);
		}
	for (size_t i = 0; i < found->n; i++)
		if (*found->items[i].from->span_id)
			found->items[kept++] = found->items[i];
	found->n = kept;
}

static enum cli_status exemplars_span(struct fetch *fetch, uint64_t top_n)
{
	Pyro__SelectHeatmapRequest request;
	struct rpc_call call = {.method = "SelectHeatmap", .request = &request.base,
	                        .response = &pyro__select_heatmap_response__descriptor};
	struct found found = {.items = NULL};

	if (fetch->window.from_ms == fetch->window.to_ms)
		return cli_usage("a heat map needs a window that is longer than a millisecond");
	pyro__select_heatmap_request__init(&request);
	request.profile_typeid = rpc_text(fetch->options->type);
	request.label_selector = fetch->selector;
	request.start = fetch->window.from_ms;
	request.end = fetch->window.to_ms;
	request.step = (double)step_for(&fetch->window, top_n) / 1000;
	request.query_type = PYRO__HEATMAP_QUERY_TYPE__HEATMAP_QUERY_TYPE_SPAN;
	request.exemplar_type = PYRO__EXEMPLAR_TYPE__EXEMPLAR_TYPE_SPAN;
	request.limit = (int64_t)top_n;
	enum cli_status status = rpc_wait_new(&fetch->server, &call, &request.start);
	if (status != CLI_OK)
		rpc_report(&call);
	else
		collect_spans(fetch, &call, &found);
	if (status == CLI_OK && found.failed) {
		status = cli_no_memory();
	} else if (status == CLI_OK) {
		status = found.n > 0 ? print(fetch, &found, true, (size_t)top_n) : fetch_empty(fetch, "spans");
	}
	free(found.items);
	rpc_release(&call);
	return status;
}

enum cli_status fetch_exemplars(struct fetch *fetch)
{
	const char *kind = fetch->operands->n > 0 ? fetch->operands->items[0] : "";
	uint64_t top_n = fetch->options->top_n ? fetch->options->top_n : TOP_N_DEFAULT;
	enum cli_status status = type_check(fetch->options->type);

	if (status != CLI_OK)
		return status;
	if (strcmp(kind, "profile") == 0)
		return exemplars_profile(fetch, top_n);
	if (strcmp(kind, "span") == 0)
		return exemplars_span(fetch, top_n);
	return cli_usage("exemplars of what? 'profile' or 'span'");
}
