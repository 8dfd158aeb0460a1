/* What a server has: data sources, time range, types, labels, series. */
#include <stdlib.h>
#include <string.h>

#include "cmd/fetch/fetch.h"
#include "cmd/fetch/flame.h"
#include "cmd/fetch/lists.h"

static struct table *new_table(struct fetch *fetch, const struct table_column *columns, size_t n, struct pp_sink *sink,
                               struct pp_error *err)
{
	return table_new(fetch_table_format(fetch), columns, n, sink, err);
}

/* Ends a table that was begun well, if it was. */
static enum cli_status end_table(struct table *table, int result, struct pp_error *err)
{
	if (result == 0)
		result = table_end(table, err);
	table_free(table);
	return result == 0 ? CLI_OK : cli_report(NULL, err);
}

/* Lists come from stored blocks, which reach beyond the window: whether it holds anything is asked for. CLI_OK also
 * where that cannot be found out, with a warning. */
static enum cli_status check_window(struct fetch *fetch, const char *what)
{
	enum cli_status status = flame_any(&fetch->server, fetch->selector, &fetch->window);

	if (status == CLI_EMPTY)
		return fetch_empty(fetch, what);
	if (status != CLI_OK)
		cli_warn("not checked whether the window holds any profile: the list may be of other times");
	return CLI_OK;
}

/* One column of names. */
static enum cli_status print_names(struct fetch *fetch, const char *column, const char *title, char **names, size_t n)
{
	const struct table_column columns[] = {{column, title, TABLE_TEXT, {NULL, 0}, false}};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink sink;
	enum cli_status status = fetch_open_text(fetch, &sink);

	if (status != CLI_OK)
		return status;
	if (fetch_wants_json(fetch)) {
		struct pp_json *object = pp_json_object(), *array = pp_json_array();
		for (size_t i = 0; array && i < n; i++)
			pp_json_str(array, NULL, pp_str_of(names[i]));
		if (object && array)
			pp_json_add(object, "names", array);
		return fetch_write_json(object, &sink);
	}
	struct table *table = new_table(fetch, columns, PP_COUNT(columns), &sink, &err);
	int result = table ? 0 : -1;
	for (size_t i = 0; result == 0 && i < n; i++)
		result = table_row(table, &(union table_cell){.text = pp_str_of(names[i])}, &err);
	return end_table(table, result, &err);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Rows of texts: a table, or in JSON a list of objects. */
struct text_rows {
	struct fetch *fetch;
	struct pp_sink sink;
	const char *const *keys; /* of the objects, by column */
	size_t columns_n;
	unsigned truths;         /* bit by column: "true" or "false", which JSON has words for */
	bool json;
	struct table *table;
	struct pp_json *array;
	int result;
	struct pp_error err;
};

static enum cli_status open_rows(struct text_rows *rows, const struct table_column *columns)
{
	enum cli_status status = fetch_open_text(rows->fetch, &rows->sink);

	if (status != CLI_OK)
		return status;
	rows->err = (struct pp_error)PP_ERROR_INIT;
	rows->json = fetch_wants_json(rows->fetch);
	rows->array = rows->json ? pp_json_array() : NULL;
	rows->table = rows->json ? NULL : new_table(rows->fetch, columns, rows->columns_n, &rows->sink, &rows->err);
	rows->result = rows->json || rows->table ? 0 : -1;
	return CLI_OK;
}

static void add_row(struct text_rows *rows, const union table_cell *cells)
{
	struct pp_json *row = rows->json ? pp_json_object() : NULL;

	if (rows->table && rows->result == 0)
		rows->result = table_row(rows->table, cells, &rows->err);
	for (size_t k = 0; row && k < rows->columns_n; k++)
		if (rows->truths & (1u << k))
			pp_json_bool(row, rows->keys[k], pp_str_eq(cells[k].text, PP_LIT("true")));
		else
			pp_json_str(row, rows->keys[k], cells[k].text);
	if (rows->array && row)
		pp_json_add(rows->array, NULL, row);
	else
		pp_json_free(row);
}

static enum cli_status close_rows(struct text_rows *rows, const char *name)
{
	if (!rows->json)
		return end_table(rows->table, rows->result, &rows->err);
	struct pp_json *object = pp_json_object();
	if (object && rows->array)
		pp_json_add(object, name, rows->array);
	else
		pp_json_free(rows->array);
	return fetch_write_json(object, &rows->sink);
}

/* ---- data sources ---- */

static const char datasource_type[] = "grafana-pyroscope-datasource";

static enum cli_status print_datasources(struct fetch *fetch, const struct pp_json_value *list)
{
	static const char *const keys[] = {"uid", "name", "type", "access", "default"};
	enum { TEXTS_N = PP_COUNT(keys) - 1 };
	const struct table_column columns[PP_COUNT(keys)] = {
		{"uid", "UID", TABLE_TEXT, {NULL, 0}, false}, {"name", "NAME", TABLE_TEXT, {NULL, 0}, false},
		{"type", "TYPE", TABLE_TEXT, {NULL, 0}, false}, {"access", "ACCESS", TABLE_TEXT, {NULL, 0}, false},
		{"default", "DEFAULT", TABLE_TEXT, {NULL, 0}, false},
	};
	struct text_rows rows = {.fetch = fetch, .keys = keys, .columns_n = PP_COUNT(keys), .truths = 1u << TEXTS_N};
	enum cli_status status = open_rows(&rows, columns);

	if (status != CLI_OK)
		return status;
	for (size_t i = 0; i < pp_json_count(list); i++) {
		const struct pp_json_value *one = pp_json_at(list, i);
		union table_cell cells[PP_COUNT(keys)];
		if (!pp_str_eq(pp_json_text(pp_json_get(one, "type")), pp_str_of(datasource_type)))
			continue;
		for (size_t k = 0; k < TEXTS_N; k++)
			cells[k].text = pp_json_text(pp_json_get(one, keys[k]));
		cells[TEXTS_N].text = pp_json_is_true(pp_json_get(one, "isDefault")) ? PP_LIT("true") : PP_LIT("false");
		add_row(&rows, cells);
	}
	return close_rows(&rows, "datasources");
}

static size_t count_datasources(const struct pp_json_value *list)
{
	size_t n = 0;

	for (size_t i = 0; i < pp_json_count(list); i++)
		n += pp_str_eq(pp_json_text(pp_json_get(pp_json_at(list, i), "type")), pp_str_of(datasource_type));
	return n;
}

enum cli_status fetch_datasources(struct fetch *fetch)
{
	static const char path[] = "/api/datasources";
	struct pp_buf url = PP_BUF_INIT;
	struct pp_error err = PP_ERROR_INIT;
	struct http_exchange exchange = {.post = false};
	struct pp_json *json = NULL;
	enum cli_status status = CLI_OK;
	char why[600];

	if (pp_buf_append(&url, fetch->server.base, strlen(fetch->server.base), &err) != 0 ||
	    pp_buf_append(&url, path, sizeof(path) - 1, &err) != 0)
		return cli_no_memory();
	exchange.url = url.bytes;
	http_start(fetch->server.pool, &exchange);
	http_run(fetch->server.pool);
	if (exchange.err.code != PP_OK) {
		cli_error("%s: %s", path, exchange.err.text);
		status = CLI_FAILED;
	} else if (exchange.status != 200) {
		rpc_explain(exchange.status, exchange.answer_type, (struct pp_str){exchange.answer.bytes, exchange.answer.n}, &status,
		            why, sizeof(why));
		cli_error("%s: %s", path, why);
	} else if (!(json = pp_json_parse((struct pp_str){exchange.answer.bytes, exchange.answer.n}, &err)) ||
	           pp_json_kind_of(pp_json_root(json)) != PP_JSON_ARRAY) {
		cli_error("%s: the answer is not a list of data sources; is this Grafana?", path);
		status = CLI_FAILED;
	} else if (count_datasources(pp_json_root(json)) == 0) {
		cli_error("no data source of type %s is visible", datasource_type);
		status = CLI_EMPTY;
	} else {
		status = print_datasources(fetch, pp_json_root(json));
	}
	pp_json_free(json);
	http_release(&exchange);
	pp_buf_release(&url);
	return status;
}

/* ---- the time range ---- */

static enum cli_status print_range(struct fetch *fetch, bool ingested, int64_t oldest_ms, int64_t newest_ms)
{
	const struct table_column columns[] = {
		{"data_ingested", "DATA INGESTED", TABLE_TEXT, {NULL, 0}, false},
		{"oldest_profile_time_ms", NULL, TABLE_INTEGER, {NULL, 0}, false},
		{"newest_profile_time_ms", NULL, TABLE_INTEGER, {NULL, 0}, false},
		{"oldest_profile", "OLDEST PROFILE", TABLE_TEXT, {NULL, 0}, false},
		{"newest_profile", "NEWEST PROFILE", TABLE_TEXT, {NULL, 0}, false},
	};
	char oldest[40] = "-", newest[40] = "-";
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink sink;
	enum cli_status status = fetch_open_text(fetch, &sink);

	if (status != CLI_OK)
		return status;
	if (fetch_wants_json(fetch)) {
		struct pp_json *object = pp_json_object();
		if (object) {
			pp_json_bool(object, "dataIngested", ingested);
			pp_json_i64(object, "oldestProfileTime", oldest_ms);
			pp_json_i64(object, "newestProfileTime", newest_ms);
		}
		return fetch_write_json(object, &sink);
	}
	if (oldest_ms)
		when_text(oldest, sizeof(oldest), oldest_ms);
	if (newest_ms)
		when_text(newest, sizeof(newest), newest_ms);
	const union table_cell cells[] = {{.text = ingested ? PP_LIT("true") : PP_LIT("false")}, {.i = oldest_ms}, {.i = newest_ms},
	                                  {.text = pp_str_of(oldest)}, {.text = pp_str_of(newest)}};
	struct table *table = new_table(fetch, columns, PP_COUNT(columns), &sink, &err);
	return end_table(table, table ? table_row(table, cells, &err) : -1, &err);
}

enum cli_status fetch_data_range(struct fetch *fetch)
{
	Pyro__GetProfileStatsRequest request;
	struct rpc_call call = {.method = "GetProfileStats", .request = &request.base,
	                        .response = &pyro__get_profile_stats_response__descriptor};

	pyro__get_profile_stats_request__init(&request);
	enum cli_status status = rpc_wait(&fetch->server, &call);
	if (status != CLI_OK) {
		rpc_report(&call);
	} else {
		const Pyro__GetProfileStatsResponse *answer = (const void *)call.answer;
		int64_t oldest = answer->oldest_profile_time, newest = answer->newest_profile_time;
		/* v1 sends the largest and the smallest number while it knows of nothing; a time is unknown, not now. */
		bool known = answer->data_ingested && oldest > 0 && oldest <= newest;
		status = print_range(fetch, answer->data_ingested, known ? oldest : 0, known ? newest : 0);
		if (status == CLI_OK && !answer->data_ingested) {
			cli_error("no profile was ever ingested");
			status = CLI_EMPTY;
		}
	}
	rpc_release(&call);
	return status;
}

/* ---- types ---- */

static int compare_types(const void *a, const void *b)
{
	const Pyro__ProfileType *const *x = a, *const *y = b;

	return strcmp((*x)->id, (*y)->id);
}

/* Those of all answers, sorted, each once: the mode dual may repeat one. A malloc'ed array, or NULL, said. */
static Pyro__ProfileType **types_of(const struct lists *lists, size_t *n)
{
	size_t all = 0, kept = 0;

	for (size_t i = 0; i < lists->n; i++)
		all += ((const Pyro__ProfileTypesResponse *)(const void *)lists->calls[i].answer)->n_profile_types;
	Pyro__ProfileType **types = malloc((all + 1) * sizeof(*types));
	if (!types) {
		cli_no_memory();
		return NULL;
	}
	all = 0;
	for (size_t i = 0; i < lists->n; i++) {
		const Pyro__ProfileTypesResponse *answer = (const void *)lists->calls[i].answer;
		for (size_t k = 0; k < answer->n_profile_types; k++)
			types[all++] = answer->profile_types[k];
	}
	qsort(types, all, sizeof(*types), compare_types);
	for (size_t i = 0; i < all; i++)
		if (kept == 0 || strcmp(types[kept - 1]->id, types[i]->id) != 0)
			types[kept++] = types[i];
	*n = kept;
	return types;
}

static enum cli_status print_types(struct fetch *fetch, Pyro__ProfileType **types, size_t n)
{
	const struct table_column columns[] = {
		{"id", "ID", TABLE_TEXT, {NULL, 0}, false},
		{"name", "NAME", TABLE_TEXT, {NULL, 0}, false},
		{"sample_type", "SAMPLE TYPE", TABLE_TEXT, {NULL, 0}, false},
		{"sample_unit", "SAMPLE UNIT", TABLE_TEXT, {NULL, 0}, false},
		{"period_type", NULL, TABLE_TEXT, {NULL, 0}, false},
		{"period_unit", NULL, TABLE_TEXT, {NULL, 0}, false},
	};
	static const char *const keys[] = {"ID", "name", "sampleType", "sampleUnit", "periodType", "periodUnit"};
	struct text_rows rows = {.fetch = fetch, .keys = keys, .columns_n = PP_COUNT(keys)};
	enum cli_status status = open_rows(&rows, columns);

	if (status != CLI_OK)
		return status;
	for (size_t i = 0; i < n; i++) {
		const union table_cell cells[PP_COUNT(keys)] = {
			{.text = pp_str_of(types[i]->id)}, {.text = pp_str_of(types[i]->name)}, {.text = pp_str_of(types[i]->sample_type)},
			{.text = pp_str_of(types[i]->sample_unit)}, {.text = pp_str_of(types[i]->period_type)},
			{.text = pp_str_of(types[i]->period_unit)}};
		add_row(&rows, cells);
	}
	return close_rows(&rows, "profileTypes");
}

enum cli_status fetch_types(struct fetch *fetch)
{
	Pyro__ProfileTypesRequest request;
	struct rpc_call call = {.method = "ProfileTypes", .request = &request.base,
	                        .response = &pyro__profile_types_response__descriptor};
	struct lists lists;

	pyro__profile_types_request__init(&request);
	request.start = fetch->window.from_ms;
	request.end = fetch->window.to_ms;
	enum cli_status status = lists_ask(&fetch->server, &call, &request.start, &request.end, &lists);
	if (status == CLI_OK) {
		size_t n = 0;
		Pyro__ProfileType **types = types_of(&lists, &n);
		status = !types ? CLI_SYSTEM : n > 0 ? check_window(fetch, "profile types") : fetch_empty(fetch, "profile types");
		if (status == CLI_OK)
			status = print_types(fetch, types, n);
		free(types);
	}
	lists_release(&lists);
	return status;
}

/* ---- labels ---- */

static enum cli_status print_label_answer(struct fetch *fetch, char **names, size_t n)
{
	const char *label = fetch->options->label;

	const char *what = label ? "values of the label" : "labels";
	enum cli_status status = n == 0 ? fetch_empty(fetch, what) : check_window(fetch, what);
	if (status != CLI_OK)
		return status;
	return print_names(fetch, label ? "value" : "label", label ? "VALUE" : "LABEL", names, n);
}

enum cli_status fetch_labels(struct fetch *fetch)
{
	Pyro__LabelNamesRequest names;
	Pyro__LabelValuesRequest values;
	bool of_label = fetch->options->label != NULL;
	struct lists lists;
	struct rpc_call call = {
		.method = of_label ? "LabelValues" : "LabelNames",
		.request = of_label ? &values.base : &names.base,
		.response = of_label ? &pyro__label_values_response__descriptor : &pyro__label_names_response__descriptor,
	};

	pyro__label_names_request__init(&names);
	pyro__label_values_request__init(&values);
	names.start = values.start = fetch->window.from_ms;
	names.end = values.end = fetch->window.to_ms;
	names.n_matchers = values.n_matchers = fetch->selector ? 1 : 0;
	names.matchers = values.matchers = &fetch->selector;
	if (of_label)
		values.name = rpc_text(fetch->options->label);
	enum cli_status status = lists_ask(&fetch->server, &call, of_label ? &values.start : &names.start,
	                                   of_label ? &values.end : &names.end, &lists);
	size_t n = 0;
	char **found = status == CLI_OK ? lists_names(&lists, &n) : NULL;
	if (found)
		status = print_label_answer(fetch, found, n);
	else if (status == CLI_OK)
		status = CLI_SYSTEM;
	free(found);
	lists_release(&lists);
	return status;
}

/* ---- series ---- */

static int compare_pairs(const void *a, const void *b)
{
	const Pyro__LabelPair *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);

	return order ? order : strcmp((*x)->value, (*y)->value);
}

static int compare_sets(const void *a, const void *b)
{
	const Pyro__Labels *const *x = a, *const *y = b;

	for (size_t i = 0; i < (*x)->n_labels && i < (*y)->n_labels; i++) {
		int order = compare_pairs(&(*x)->labels[i], &(*y)->labels[i]);
		if (order)
			return order;
	}
	return ((*x)->n_labels > (*y)->n_labels) - ((*x)->n_labels < (*y)->n_labels);
}

/* The names that occur in any set, sorted, borrowed; malloc'ed list. */
static char **names_of_sets(Pyro__Labels **sets, size_t n, size_t *names_n)
{
	size_t all = 0, kept = 0;

	for (size_t i = 0; i < n; i++)
		all += sets[i]->n_labels;
	char **names = malloc((all + 1) * sizeof(*names));
	all = 0;
	for (size_t i = 0; names && i < n; i++)
		for (size_t k = 0; k < sets[i]->n_labels; k++)
			names[all++] = sets[i]->labels[k]->name;
	if (names)
		qsort(names, all, sizeof(*names), compare_names);
	for (size_t i = 0; i < all; i++)
		if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0)
			names[kept++] = names[i];
	*names_n = kept;
	return names;
}

static struct pp_str value_in(const Pyro__Labels *set, const char *name)
{
	for (size_t i = 0; i < set->n_labels; i++)
		if (strcmp(set->labels[i]->name, name) == 0)
			return pp_str_of(set->labels[i]->value);
	return PP_LIT("");
}

static enum cli_status print_sets_table(struct fetch *fetch, Pyro__Labels **sets, size_t n, struct pp_sink *sink)
{
	struct pp_error err = PP_ERROR_INIT;
	size_t names_n = 0;
	char **names = names_of_sets(sets, n, &names_n);
	struct table_column *columns = calloc(names_n + 1, sizeof(*columns));
	union table_cell *cells = calloc(names_n + 1, sizeof(*cells));
	enum cli_status status;

	if (!names || !columns || !cells) {
		status = cli_no_memory();
		goto done;
	}
	for (size_t i = 0; i < names_n; i++)
		columns[i] = (struct table_column){names[i], names[i], TABLE_TEXT, {NULL, 0}, false};
	struct table *table = new_table(fetch, columns, names_n, sink, &err);
	int result = table ? 0 : -1;
	for (size_t i = 0; result == 0 && i < n; i++) {
		for (size_t k = 0; k < names_n; k++)
			cells[k].text = value_in(sets[i], names[k]);
		result = table_row(table, cells, &err);
	}
	status = end_table(table, result, &err);
done:
	free(names);
	free(columns);
	free(cells);
	return status;
}

static enum cli_status print_sets(struct fetch *fetch, Pyro__Labels **sets, size_t n)
{
	struct pp_sink sink;
	enum cli_status status = fetch_open_text(fetch, &sink);

	if (status != CLI_OK)
		return status;
	if (!fetch_wants_json(fetch))
		return print_sets_table(fetch, sets, n, &sink);
	struct pp_json *object = pp_json_object(), *array = pp_json_array();
	for (size_t i = 0; array && i < n; i++)
		pp_json_add(array, NULL, pbjson_object(&sets[i]->base));
	if (object && array)
		pp_json_add(object, "labelsSet", array);
	return fetch_write_json(object, &sink);
}

/* Those of all answers, sorted, each once. Sets without a label say nothing (v1 sends one for a name that nobody
 * has). A malloc'ed array, or NULL, said. */
static Pyro__Labels **sets_of(const struct lists *lists, size_t *n)
{
	size_t all = 0, kept = 0;

	for (size_t i = 0; i < lists->n; i++)
		all += ((const Pyro__SeriesResponse *)(const void *)lists->calls[i].answer)->n_labels_set;
	Pyro__Labels **sets = malloc((all + 1) * sizeof(*sets));
	if (!sets) {
		cli_no_memory();
		return NULL;
	}
	all = 0;
	for (size_t i = 0; i < lists->n; i++) {
		const Pyro__SeriesResponse *answer = (const void *)lists->calls[i].answer;
		for (size_t k = 0; k < answer->n_labels_set; k++) {
			Pyro__Labels *set = answer->labels_set[k];
			if (set->n_labels == 0)
				continue;
			qsort(set->labels, set->n_labels, sizeof(*set->labels), compare_pairs);
			sets[all++] = set;
		}
	}
	qsort(sets, all, sizeof(*sets), compare_sets);
	for (size_t i = 0; i < all; i++)
		if (kept == 0 || compare_sets(&sets[kept - 1], &sets[i]) != 0)
			sets[kept++] = sets[i];
	*n = kept;
	return sets;
}

enum cli_status fetch_series(struct fetch *fetch)
{
	const struct cli_list *matches = &fetch->options->matches;
	Pyro__SeriesRequest request;
	struct rpc_call call = {.method = "Series", .request = &request.base, .response = &pyro__series_response__descriptor};
	struct fetch_names names;
	struct lists lists;
	char **matchers = calloc(matches->n + 1, sizeof(*matchers));
	enum cli_status status = matchers ? fetch_names(&fetch->options->label_names, &names) : cli_no_memory();
	size_t n = matches->n;

	if (status != CLI_OK) {
		free(matchers);
		return status;
	}
	for (size_t i = 0; i < n; i++)
		matchers[i] = rpc_text(matches->items[i]);
	if (fetch->selector)
		matchers[n++] = fetch->selector;
	if (n > 1)
		cli_warn("several selectors: servers of the modes v2 and dual list what matches all of them, v1 what matches any");
	pyro__series_request__init(&request);
	request.n_matchers = n;
	request.matchers = matchers;
	request.n_label_names = names.list.n;
	request.label_names = rpc_texts(&names.list);
	request.start = fetch->window.from_ms;
	request.end = fetch->window.to_ms;
	status = lists_ask(&fetch->server, &call, &request.start, &request.end, &lists);
	if (status == CLI_OK) {
		size_t sets_n = 0;
		Pyro__Labels **sets = sets_of(&lists, &sets_n);
		status = !sets ? CLI_SYSTEM : sets_n > 0 ? check_window(fetch, "series") : fetch_empty(fetch, "series");
		if (status == CLI_OK)
			status = print_sets(fetch, sets, sets_n);
		free(sets);
	}
	lists_release(&lists);
	fetch_names_release(&names);
	free(matchers);
	return status;
}
