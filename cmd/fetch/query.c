/* One profile: exported, ranked, as a flame graph or as a call graph. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/dotfile.h"
#include "cmd/fetch/export.h"
#include "cmd/fetch/fetch.h"
#include "cmd/fetch/flame.h"
#include "cmd/fetch/flametree.h"
#include "cmd/fetch/metrics.h"
#include "cmd/fetch/provenance.h"

#define COVERAGE_STEPS 60
static const char folded_text[] = "the server cuts exports to a number of nodes: the function 'other' stands for the rest";

#define GRAPH_BYTES (UINT64_C(4) << 30)
#define NODES_DEFAULT 80 /* of a graph made here, as pprof-dot */

/* ---- the export ---- */

/* The exact profile, its scope proven. Says what fails, or that it is empty. Release in any case. */
static enum cli_status get_export(struct fetch *fetch, struct export *export)
{
	const struct fetch_options *options = fetch->options;

	*export = (struct export){.question = fetch_question(fetch), .count_type = fetch->count_type,
	                          .path = fetch->options->pprof_path};
	enum cli_status status = export_wait(&fetch->server, export);
	if (status == CLI_EMPTY)
		fetch_empty(fetch, "profile data");
	else if (status != CLI_OK)
		cli_error("%s", export->why);
	else if (!scope_is_all(&options->scope))
		status = scope_prove(&fetch->server, &export->question, export->total, export_total);
	if (status == CLI_OK && export->counts_missing)
		cli_warn("the server has no counts for these values");
	if (status == CLI_OK && export->folded)
		cli_warn("%s", folded_text);
	if (export->pieces > 1 && status == CLI_OK)
		cli_warn("asked for in %u windows, as the server allows no longer ones, and added up", export->pieces);
	return status;
}

/* Coverage of the window by points over time; and the check that they add up to the profile. */
static enum cli_status cover(struct fetch *fetch, const struct export *export, enum mode *mode, struct series_coverage *coverage,
                             struct pp_buf *warnings)
{
	static const char mismatch[] = "the points over time do not add up to the profile";
	const struct cli_list none = {NULL, 0};
	struct pp_error err = PP_ERROR_INIT;
	struct question question = fetch_question(fetch);
	int64_t step_ms = (question.window.to_ms - question.window.from_ms + COVERAGE_STEPS - 1) / COVERAGE_STEPS;
	struct series series;

	question.scope = (struct scope){.profiles = {NULL, 0}};
	question.max_nodes = 0;
	step_ms = step_ms > 0 ? step_ms : 1;
	enum cli_status status = series_fetch(&fetch->server, &question, &none, step_ms, &series);
	if (status == CLI_OK || status == CLI_EMPTY) {
		series_cover(series.lines, series.lines_n, &question.window, step_ms, coverage);
		if (scope_is_all(&fetch->options->scope) && fabs(series.sum - (double)export->total) > fabs(series.sum) * 1e-12) {
			cli_warn("%s: %.0f and %lld", mismatch, series.sum, (long long)export->total);
			if (pp_buf_append(warnings, mismatch, sizeof(mismatch) - 1, &err) != 0)
				status = cli_report(NULL, &err);
		}
	}
	series_release(&series);
	*mode = mode_find(&fetch->server, &question, NULL);
	return status == CLI_EMPTY ? CLI_OK : status;
}

static enum cli_status save_export(struct fetch *fetch, const struct export *export, const char *path)
{
	struct series_coverage coverage;
	struct pp_buf warnings = PP_BUF_INIT;
	struct provenance provenance = {
		.server = &fetch->server, .datasource = fetch->options->server.datasource, .question = &export->question,
		.count_type = fetch->count_type, .export = export, .coverage = &coverage,
	};
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status = cover(fetch, export, &provenance.mode, &coverage, &warnings);

	if (export->folded && ((warnings.n && pp_buf_append(&warnings, "; ", 2, &err) != 0) ||
	                       pp_buf_append(&warnings, folded_text, sizeof(folded_text) - 1, &err) != 0))
		status = cli_report(NULL, &err);

	provenance.warnings = warnings.n ? warnings.bytes : "";
	if (status == CLI_OK)
		status = provenance_save(&provenance, path, true);
	pp_buf_release(&warnings);
	return status;
}

static enum cli_status query_pprof(struct fetch *fetch)
{
	const char *path = fetch->options->pprof_path;
	struct pp_error err = PP_ERROR_INIT;
	struct export export;
	struct stat st;

	/* A terminal is refused before anything is asked. */
	if (!path) {
		enum cli_status opened = output_open(&fetch->output, true);
		if (opened != CLI_OK)
			return opened;
		fetch->opened = true;
	} else if (!fetch->options->pprof_overwrite && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
		return cli_usage("%s already exists; use --pprof-overwrite to overwrite", path);
	}
	enum cli_status status = get_export(fetch, &export);
	if (status == CLI_OK && path)
		status = save_export(fetch, &export, path);
	else if (status == CLI_OK && output_profile(&fetch->output, export.profile, false, &err) != 0)
		status = cli_report(NULL, &err);
	export_release(&export);
	return status;
}

/* ---- the table ---- */

static int print_functions(const struct pp_frames *frames, const struct pp_rollup *rollup, const uint32_t *order, uint32_t n,
                           struct table *table, struct pp_error *err)
{
	for (uint32_t i = 0; i < n; i++) {
		double total = rollup->total ? (double)rollup->total : 1;
		const union table_cell cells[] = {
			{.i = rollup->flat[order[i]]}, {.real = (double)rollup->flat[order[i]] / total},
			{.i = rollup->cum[order[i]]}, {.real = (double)rollup->cum[order[i]] / total},
			{.text = pp_frames_label(frames, order[i])},
		};
		if (table_row(table, cells, err) != 0)
			return -1;
	}
	return 0;
}

/* Functions by what they cost, as pprof-top ranks them. */
static int rank(struct fetch *fetch, const struct export *export, struct pp_sink *sink, struct pp_error *err)
{
	const struct pp_profile *profile = export->profile;
	uint32_t column = profile->sample_types_n - 1, *order = NULL, n = 0;
	struct pp_str unit = pp_sample_type_unit(profile, column);
	const struct table_column columns[] = {
		{"flat", "flat", TABLE_INTEGER, unit, false}, {"flat_share", "flat%", TABLE_SHARE, {NULL, 0}, false},
		{"cum", "cum", TABLE_INTEGER, unit, false},   {"cum_share", "cum%", TABLE_SHARE, {NULL, 0}, false},
		{"name", "name", TABLE_TEXT, {NULL, 0}, false},
	};
	struct pp_frames *frames = pp_frames_new(PP_BY_FUNCTIONS, err);
	struct pp_frame_map map = {NULL, NULL, PP_NONE};
	struct pp_rollup rollup = {.frames_n = 0};
	struct pp_count_rule rule;
	struct table *table = NULL;
	int result = -1;

	pp_count_rule_for(profile, column, &rule);
	if (frames && pp_frames_map(frames, profile, &map, err) == 0 &&
	    pp_rollup_make(profile, frames, &map, column, &rule, NULL, &rollup, err) == 0 &&
	    pp_rollup_order(&rollup, frames, false, &order, &n, err) == 0)
		table = table_new(fetch_table_format(fetch), columns, PP_COUNT(columns), sink, err);
	if (table)
		result = print_functions(frames, &rollup, order, n, table, err);
	if (result == 0)
		result = table_end(table, err);
	table_free(table);
	free(order);
	pp_rollup_release(&rollup);
	pp_frame_map_release(&map);
	pp_frames_free(frames);
	return result;
}

static int print_heading(const struct export *export, struct pp_sink *sink, struct pp_error *err)
{
	char total[80], type[200];
	struct pp_str unit = type_part(export->question.type, 2);

	return pp_sink_printf(sink, err, "Profile type: %s\nTotal: %s, %u stacks\n\n",
	                      pp_printable(type, sizeof(type), export->question.type, strlen(export->question.type)),
	                      pp_unit_human(total, sizeof(total), export->total, unit), export->profile->samples_n);
}

static enum cli_status print_ranking(struct fetch *fetch, const struct export *export)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink sink;
	enum cli_status status = fetch_open_text(fetch, &sink);

	if (status != CLI_OK)
		return status;
	enum table_format format = fetch_table_format(fetch);
	if ((format == TABLE_ALIGNED || format == TABLE_MARKDOWN) && print_heading(export, &sink, &err) != 0)
		return cli_report(NULL, &err);
	return rank(fetch, export, &sink, &err) == 0 ? CLI_OK : cli_report(NULL, &err);
}

static enum cli_status query_table(struct fetch *fetch)
{
	struct export export;
	enum cli_status status = get_export(fetch, &export);

	if (status == CLI_OK)
		status = print_ranking(fetch, &export);
	export_release(&export);
	return status;
}

/* ---- the flame graph ---- */

/* The server's, or one that is made here. */
struct picture {
	struct flame flame;
	struct pp_arena *arena;
	const Pyro__FlameGraph *graph;
};

static void release_picture(struct picture *picture)
{
	flame_release(&picture->flame);
	pp_arena_free(picture->arena);
}

static struct pp_json *flame_object(const struct fetch *fetch, const Pyro__FlameGraph *graph)
{
	char from[40], to[40];
	struct pp_json *object = pp_json_object();

	if (!object)
		return NULL;
	pp_json_str(object, "profileType", pp_str_of(fetch->options->type));
	pp_json_str(object, "selector", pp_str_of(fetch->selector));
	pp_json_str(object, "from", pp_str_of(when_text(from, sizeof(from), fetch->window.from_ms)));
	pp_json_str(object, "to", pp_str_of(when_text(to, sizeof(to), fetch->window.to_ms)));
	pp_json_i64(object, "total", graph->total);
	pp_json_add(object, "flamegraph", flame_json(graph));
	return object;
}

/* Of a window that is too long for a server to make a flame graph of it. */
static enum cli_status make_flame(struct fetch *fetch, struct picture *picture)
{
	struct pp_error err = PP_ERROR_INIT;
	struct export export;
	enum cli_status status = get_export(fetch, &export);

	if (status == CLI_OK) {
		cli_warn("%s: the flame graph is made here, from the exact profile", picture->flame.call.why);
		picture->arena = pp_arena_new(GRAPH_BYTES);
		if (picture->arena)
			picture->graph = flametree_make(export.profile, export.profile->sample_types_n - 1, picture->arena, &err);
		else
			pp_fail(&err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
		if (!picture->graph)
			status = cli_report(NULL, &err);
	}
	export_release(&export);
	return status;
}

/* CLI_OK with a graph. Says the rest. */
static enum cli_status get_flame(struct fetch *fetch, struct picture *picture)
{
	struct question question = fetch_question(fetch);
	int64_t longest;
	enum cli_status status = flame_ask(&fetch->server, &question, PYRO__PROFILE_FORMAT__PROFILE_FORMAT_UNSPECIFIED, &picture->flame);

	picture->arena = NULL;
	picture->graph = picture->flame.graph;
	if (status == CLI_EMPTY)
		return fetch_empty(fetch, "profile data");
	if (status == CLI_FAILED && when_limit(picture->flame.call.why, &longest))
		return make_flame(fetch, picture);
	if (status != CLI_OK)
		return rpc_report(&picture->flame.call);
	return scope_is_all(&question.scope) ? CLI_OK : scope_prove(&fetch->server, &question, picture->graph->total, flame_total);
}

static enum cli_status query_json(struct fetch *fetch)
{
	struct picture picture;
	struct pp_sink sink;
	enum cli_status status = get_flame(fetch, &picture);

	if (status == CLI_OK)
		status = fetch_open_text(fetch, &sink);
	if (status == CLI_OK)
		status = fetch_write_json(flame_object(fetch, picture.graph), &sink);
	release_picture(&picture);
	return status;
}

/* ---- the call graph ---- */

static int draw(const struct fetch *fetch, const struct export *export, struct pp_sink *sink, struct pp_error *err)
{
	const struct pp_profile *profile = export->profile;
	uint32_t column = profile->sample_types_n - 1;
	struct pp_callgraph_options options = PP_CALLGRAPH_OPTIONS_DEFAULT;
	struct pp_frames *frames = pp_frames_new(PP_BY_FRAMES, err);
	struct pp_frame_map map = {NULL, NULL, PP_NONE};
	struct pp_callgraph graph = {.nodes = NULL};
	int result = -1;

	options.node_limit = fetch->options->max_nodes ? (uint32_t)fetch->options->max_nodes : NODES_DEFAULT;
	if (frames && pp_frames_map(frames, profile, &map, err) == 0) {
		const struct pp_graph_side side = {profile, &map, column, 1, NULL};
		result = pp_callgraph_make(frames, &side, 1, &options, &graph, err);
	}
	if (result == 0) {
		const struct view_rows rows = VIEW_ROWS_INIT;
		const struct dotfile dot = {.frames = frames, .graph = &graph, .unit = pp_sample_type_unit(profile, column),
		                            .rows = &rows, .title = fetch->options->type};
		result = dotfile_write(&dot, sink, err);
	}
	pp_callgraph_release(&graph);
	pp_frame_map_release(&map);
	pp_frames_free(frames);
	return result;
}

/* The graph made here, of the exact profile. */
static enum cli_status draw_export(struct fetch *fetch, const char *reason)
{
	struct pp_error err = PP_ERROR_INIT;
	struct export export;
	struct pp_sink sink;
	struct fetch whole = *fetch;
	struct fetch_options options = *fetch->options;

	/* The limit is for the graph, not for the profile that it is made of. */
	options.max_nodes = 0;
	whole.options = &options;
	enum cli_status status = get_export(&whole, &export);
	if (status == CLI_OK) {
		cli_warn("%s: the graph is made here, from the exact profile", reason);
		status = fetch_open_text(fetch, &sink);
	}
	if (status == CLI_OK && draw(fetch, &export, &sink, &err) != 0)
		status = cli_report(NULL, &err);
	export_release(&export);
	return status;
}

static enum cli_status query_dot(struct fetch *fetch)
{
	struct question question = fetch_question(fetch);
	struct pp_error err = PP_ERROR_INIT;
	struct flame flame;
	struct pp_sink sink;
	int64_t longest;

	if (!scope_is_all(&question.scope))
		return draw_export(fetch, "a scope is proven on exports");
	enum cli_status status = flame_ask(&fetch->server, &question, PYRO__PROFILE_FORMAT__PROFILE_FORMAT_DOT, &flame);
	if (status == CLI_OK && flame.dot) {
		status = fetch_open_text(fetch, &sink);
		if (status == CLI_OK && (pp_sink_str(&sink, flame.dot, &err) != 0 || pp_sink_str(&sink, "\n", &err) != 0))
			status = cli_report(NULL, &err);
	} else if (status == CLI_EMPTY) {
		status = fetch_empty(fetch, "profile data");
	} else if (status == CLI_OK) {
		status = draw_export(fetch, "the server answered with a flame graph instead of DOT (mode v1-v2-dual)");
	} else if (status == CLI_UNSUPPORTED || rpc_is_border(&flame.call) || when_limit(flame.call.why, &longest) ||
	           strstr(flame.call.why, "max flamegraph nodes")) {
		status = draw_export(fetch, flame.call.why);
	} else {
		rpc_report(&flame.call);
	}
	flame_release(&flame);
	return status;
}

/* ---- both kinds ---- */

/* For people: one table below the other. */
static enum cli_status print_both(struct fetch *fetch)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink sink;
	enum cli_status status = query_table(fetch);

	if (status == CLI_OK)
		status = fetch_open_text(fetch, &sink);
	if (status == CLI_OK && pp_sink_str(&sink, "\n", &err) != 0)
		status = cli_report(NULL, &err);
	return status == CLI_OK ? fetch_metrics(fetch) : status;
}

static enum cli_status query_both(struct fetch *fetch)
{
	struct fetch_names group_by;
	struct series series = {.lines = NULL};
	struct picture picture;
	struct pp_sink sink;
	int64_t step_ms = 1;
	enum cli_status status;

	if (fetch->options->format == FETCH_TABLE || fetch->options->format == FETCH_MARKDOWN)
		return print_both(fetch);
	if (fetch->options->format != FETCH_JSON)
		return cli_usage("--kind both needs -o json, table or markdown");
	if ((status = fetch_step(fetch, &step_ms)) != CLI_OK || (status = fetch_names(&fetch->options->group_by, &group_by)) != CLI_OK)
		return status;
	status = get_flame(fetch, &picture);
	if (status == CLI_OK)
		status = metrics_ask(fetch, &group_by.list, step_ms, &series);
	if (status == CLI_OK)
		status = fetch_open_text(fetch, &sink);
	if (status == CLI_OK) {
		struct pp_json *object = pp_json_object();
		if (object) {
			pp_json_str(object, "query_type", PP_LIT("both"));
			pp_json_add(object, "profile", flame_object(fetch, picture.graph));
			pp_json_add(object, "metrics", metrics_json(&series, step_ms));
		}
		status = fetch_write_json(object, &sink);
	}
	release_picture(&picture);
	series_release(&series);
	fetch_names_release(&group_by);
	return status;
}

enum cli_status fetch_query(struct fetch *fetch)
{
	enum cli_status status = type_check(fetch->options->type);

	if (status == CLI_OK)
		status = scope_check(&fetch->options->scope);
	if (status == CLI_OK && fetch->options->counts) {
		bool failed;
		fetch->count_type = type_of_counts(fetch->options->type, &failed);
		if (!fetch->count_type)
			status = failed ? CLI_SYSTEM : cli_usage("%s has no type of counts beside it", fetch->options->type);
	}
	if (status != CLI_OK)
		return status;
	if (fetch->options->kind == FETCH_METRICS)
		return fetch_metrics(fetch);
	if (fetch->options->kind == FETCH_BOTH)
		return query_both(fetch);
	switch ((enum fetch_format)fetch->options->format) {
	case FETCH_PPROF:
		return query_pprof(fetch);
	case FETCH_JSON:
		return query_json(fetch);
	case FETCH_DOT:
		return query_dot(fetch);
	default:
		return query_table(fetch);
	}
}
