/* Values over time, or summed over the window (--top), by labels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/fetch/metrics.h"


/* A value as an integer where it is one: sums of integers come as doubles. */
static void put_value(struct pp_json *object, const char *key, double value)
{
	if (value == floor(value) && fabs(value) < 9007199254740992.0)
		pp_json_i64(object, key, (int64_t)value);
	else
		pp_json_real(object, key, value);
}

static struct pp_json *labels_json(const struct series_line *line)
{
	struct pp_json *array = pp_json_array();

	for (size_t i = 0; array && i < line->labels_n; i++) {
		struct pp_json *pair = pp_json_object();
		if (pair) {
			pp_json_str(pair, "name", pp_str_of(line->labels[i].name));
			pp_json_str(pair, "value", pp_str_of(line->labels[i].value));
		}
		pp_json_add(array, NULL, pair);
	}
	return array;
}

struct pp_json *metrics_json(const struct series *series, int64_t step_ms)
{
	struct pp_json *object = pp_json_object(), *lines = pp_json_array();

	if (!object || !lines)
		goto done;
	put_value(object, "stepSeconds", (double)step_ms / 1000);
	for (size_t i = 0; i < series->lines_n; i++) {
		const struct series_line *line = &series->lines[i];
		struct pp_json *one = pp_json_object(), *points = pp_json_array();
		for (size_t k = 0; one && points && k < line->points_n; k++) {
			struct pp_json *point = pp_json_object();
			if (point) {
				put_value(point, "value", line->points[k].value);
				pp_json_i64(point, "timestamp", line->points[k].time_ms);
			}
			pp_json_add(points, NULL, point);
		}
		if (one) {
			pp_json_add(one, "labels", labels_json(line));
			pp_json_add(one, "points", points);
		}
		pp_json_add(lines, NULL, one);
	}
	put_value(object, "sum", series->sum);
done:
	if (object)
		pp_json_add(object, "series", lines);
	return object;
}

/* ---- tables ---- */

/* The labels that were asked for, each once, in the order of the question whatever the server's is; borrowed. */
static const char **label_names(const struct cli_list *group_by, size_t *n)
{
	const char **names = malloc((group_by->n + 1) * sizeof(*names));

	*n = 0;
	for (size_t i = 0; names && i < group_by->n; i++) {
		size_t at = 0;
		while (at < *n && strcmp(names[at], group_by->items[i]) != 0)
			at++;
		if (at == *n && *group_by->items[i])
			names[(*n)++] = group_by->items[i];
	}
	return names;
}

static struct pp_str value_of(const struct series_line *line, const char *name)
{
	for (size_t i = 0; i < line->labels_n; i++)
		if (strcmp(line->labels[i].name, name) == 0)
			return pp_str_of(line->labels[i].value);
	return PP_LIT("");
}

/* Columns that are fixed, and one a label. */
struct layout {
	const char **names;
	size_t names_n, fixed_n;
	struct table_column *columns;
	union table_cell *cells;
	char *titles; /* "label:pod" … */
};

static bool make_layout(struct layout *layout, const struct cli_list *group_by, const struct table_column *fixed, size_t fixed_n)
{
	size_t bytes = 0;

	layout->names = label_names(group_by, &layout->names_n);
	layout->fixed_n = fixed_n;
	layout->columns = calloc(fixed_n + layout->names_n, sizeof(*layout->columns));
	layout->cells = calloc(fixed_n + layout->names_n, sizeof(*layout->cells));
	for (size_t i = 0; layout->names && i < layout->names_n; i++)
		bytes += strlen(layout->names[i]) + sizeof("label:");
	layout->titles = malloc(bytes + 1);
	if (!layout->names || !layout->columns || !layout->cells || !layout->titles)
		return false;
	memcpy(layout->columns, fixed, fixed_n * sizeof(*fixed));
	char *at = layout->titles;
	for (size_t i = 0; i < layout->names_n; i++) {
		size_t n = strlen(layout->names[i]) + sizeof("label:");
		snprintf(at, n, "label:%s", layout->names[i]);
		layout->columns[fixed_n + i] = (struct table_column){at, layout->names[i], TABLE_TEXT, {NULL, 0}, false};
		at += n;
	}
	return true;
}

static void release_layout(struct layout *layout)
{
	free(layout->names);
	free(layout->columns);
	free(layout->cells);
	free(layout->titles);
}

static void set_labels(struct layout *layout, const struct series_line *line)
{
	for (size_t i = 0; i < layout->names_n; i++)
		layout->cells[layout->fixed_n + i].text = value_of(line, layout->names[i]);
}

static int print_points(struct table *table, struct layout *layout, const struct series *series, struct pp_error *err)
{
	char text[40];

	for (size_t i = 0; i < series->lines_n; i++) {
		const struct series_line *line = &series->lines[i];
		set_labels(layout, line);
		for (size_t k = 0; k < line->points_n; k++) {
			layout->cells[0].i = (int64_t)i + 1;
			layout->cells[1].i = line->points[k].time_ms;
			layout->cells[2].text = pp_str_of(when_text(text, sizeof(text), line->points[k].time_ms));
			layout->cells[3].i = (int64_t)llround(line->points[k].value);
			if (table_row(table, layout->cells, err) != 0)
				return -1;
		}
	}
	return 0;
}

static int print_totals(struct table *table, struct layout *layout, const struct series *series, size_t limit, struct pp_error *err)
{
	for (size_t i = 0; i < series->lines_n && i < limit; i++) {
		set_labels(layout, &series->lines[i]);
		layout->cells[0].i = (int64_t)i + 1;
		layout->cells[1].i = (int64_t)llround(series->lines[i].sum);
		layout->cells[2].real = series->sum != 0 ? series->lines[i].sum / series->sum : 0;
		if (table_row(table, layout->cells, err) != 0)
			return -1;
	}
	return 0;
}

static enum cli_status print_table(struct fetch *fetch, const struct series *series, const struct cli_list *group_by, size_t limit,
                                   struct pp_sink *sink)
{
	struct pp_str unit = type_part(fetch->options->type, 2);
	bool top = fetch->options->top;
	const struct table_column points[] = {
		{"series", NULL, TABLE_INTEGER, {NULL, 0}, false}, {"time_ms", NULL, TABLE_INTEGER, {NULL, 0}, false},
		{"time", "TIME", TABLE_TEXT, {NULL, 0}, false}, {"value", "VALUE", TABLE_INTEGER, unit, false},
	};
	const struct table_column totals[] = {
		{"rank", "RANK", TABLE_INTEGER, {NULL, 0}, false}, {"total", "TOTAL", TABLE_INTEGER, unit, false},
		{"share", "SHARE", TABLE_SHARE, {NULL, 0}, false},
	};
	struct layout layout;
	struct pp_error err = PP_ERROR_INIT;
	struct table *table = NULL;
	int result = -1;

	if (!make_layout(&layout, group_by, top ? totals : points, top ? PP_COUNT(totals) : PP_COUNT(points)))
		pp_fail(&err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	else
		table = table_new(fetch_table_format(fetch), layout.columns, layout.fixed_n + layout.names_n, sink, &err);
	if (table)
		result = top ? print_totals(table, &layout, series, limit, &err) : print_points(table, &layout, series, &err);
	if (result == 0)
		result = table_end(table, &err);
	table_free(table);
	release_layout(&layout);
	return result == 0 ? CLI_OK : cli_report(NULL, &err);
}

static struct pp_json *totals_json(const struct fetch *fetch, const struct series *series, const struct cli_list *group_by, size_t limit)
{
	struct pp_json *object = pp_json_object(), *lines = pp_json_array(), *groups = pp_json_array();

	for (size_t i = 0; groups && i < group_by->n; i++)
		pp_json_str(groups, NULL, pp_str_of(group_by->items[i]));
	for (size_t i = 0; lines && i < series->lines_n && i < limit; i++) {
		struct pp_json *one = pp_json_object(), *labels = pp_json_object();
		for (size_t k = 0; labels && k < series->lines[i].labels_n; k++)
			pp_json_str(labels, series->lines[i].labels[k].name, pp_str_of(series->lines[i].labels[k].value));
		if (one) {
			pp_json_i64(one, "rank", (int64_t)i + 1);
			pp_json_add(one, "labels", labels);
			put_value(one, "total", series->lines[i].sum);
		}
		pp_json_add(lines, NULL, one);
	}
	if (object) {
		pp_json_str(object, "profileType", pp_str_of(fetch->options->type));
		pp_json_add(object, "groupBy", groups);
		pp_json_add(object, "series", lines);
		put_value(object, "sum", series->sum);
		pp_json_i64(object, "groups", (int64_t)series->lines_n);
	}
	return object;
}

/* ---- the question ---- */

/* A scope_ask over time series. Integers up to 2^53 are exact in it. */
static enum cli_status series_total(struct server *server, const struct question *question, int64_t *total)
{
	const struct cli_list none = {NULL, 0};
	struct series series;
	int64_t length = question->window.to_ms - question->window.from_ms;
	enum cli_status status = series_fetch(server, question, &none, length > 0 ? length : 1, &series);

	*total = status == CLI_OK ? (int64_t)llround(series.sum) : 0;
	/* v1 sends points without a value where nothing matches. */
	if (status == CLI_OK && series.sum == 0)
		status = CLI_EMPTY;
	series_release(&series);
	return status;
}

enum cli_status metrics_ask(struct fetch *fetch, const struct cli_list *group_by, int64_t step_ms, struct series *series)
{
	struct question question = fetch_question(fetch);
	enum cli_status status;

	question.max_nodes = 0;
	status = series_fetch(&fetch->server, &question, group_by, step_ms, series);
	if (status == CLI_OK && series->sum == 0)
		status = CLI_EMPTY;
	if (status == CLI_EMPTY)
		return fetch_empty(fetch, "profiles");
	if (status == CLI_OK && !scope_is_all(&question.scope))
		status = scope_prove(&fetch->server, &question, (int64_t)llround(series->sum), series_total);
	return status;
}

static enum cli_status print(struct fetch *fetch, const struct series *series, const struct cli_list *group_by, int64_t step_ms)
{
	bool top = fetch->options->top;
	size_t limit = fetch->options->limit ? (size_t)fetch->options->limit : SIZE_MAX;
	struct pp_sink sink;
	enum cli_status status = fetch_open_text(fetch, &sink);

	if (status != CLI_OK)
		return status;
	if (series->lines_n > limit)
		cli_warn("the first %zu of %zu groups", limit, series->lines_n);
	if (top && type_is_snapshot(fetch->options->type))
		cli_warn("%s counts what there is at a moment: its sum over a window depends on how many profiles were taken", fetch->options->type);
	if (fetch_wants_json(fetch))
		return fetch_write_json(top ? totals_json(fetch, series, group_by, limit) : metrics_json(series, step_ms), &sink);
	return print_table(fetch, series, group_by, limit, &sink);
}

enum cli_status fetch_metrics(struct fetch *fetch)
{
	const struct fetch_options *options = fetch->options;
	struct fetch_names group_by;
	struct series series = {.lines = NULL};
	int64_t step_ms = fetch->window.to_ms - fetch->window.from_ms;
	enum cli_status status = type_check(options->type);

	if (status == CLI_OK && options->aggregation == FETCH_AVERAGE) {
		cli_error("--aggregation average: no server averages over profiles (v2 ignores it, v1 divides by stored rows), "
		          "and the number of profiles is not known here");
		return CLI_UNSUPPORTED;
	}
	if (status == CLI_OK && options->scope.profiles.n + options->scope.spans.n + options->scope.traces.n > 0)
		status = cli_usage("values over time have no --profile-id, --span-id and --trace-id");
	if (status == CLI_OK && !options->top)
		status = fetch_step(fetch, &step_ms);
	if (status == CLI_OK)
		status = fetch_names(&options->group_by, &group_by);
	if (status != CLI_OK)
		return status;
	status = metrics_ask(fetch, &group_by.list, step_ms > 0 ? step_ms : 1, &series);
	if (status == CLI_OK && !options->top && options->limit > 0 && series.lines_n > options->limit) {
		cli_warn("the first %llu of %zu series", (unsigned long long)options->limit, series.lines_n);
		series.lines_n = (size_t)options->limit;
	}
	if (status == CLI_OK)
		status = print(fetch, &series, &group_by.list, step_ms);
	series_release(&series);
	fetch_names_release(&group_by);
	return status;
}
