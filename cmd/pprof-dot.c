/* pprof-dot: the call graph of a profile, of a difference, or of two sides that are compared, as DOT. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli.h"
#include "cmd/dotfile.h"
#include "cmd/output.h"
#include "cmd/readahead.h"
#include "cmd/view.h"
#include "libdiff/compare.h"

static const char *const normalizations[] = {"raw", "duration", "total", NULL}; /* as enum pd_normalization */

struct options {
	struct input input;
	struct output output;
	struct cli_list baseline, incident;
	struct view view;
	struct view_rows rows;
	int by, normalization;
	double edge_fraction;
	bool call_tree;
	uint64_t threads;
};

/* Lines of the legend. */
struct notes {
	char text[24][400];
	const char *line[24];
	size_t n;
};

/* One side of the picture: all its files as one profile. */
struct side {
	struct input_names names;
	struct pp_profile *profile;
	int64_t total; /* what shares refer to */
	char content_hash[PP_CONTENT_HASH_N]; /* of the first file */
};

static void note(struct notes *notes, const char *format, ...) PP_PRINTF(2, 3);
static void note(struct notes *notes, const char *format, ...)
{
	va_list arguments;

	if (notes->n == PP_COUNT(notes->text))
		return;
	va_start(arguments, format);
	vsnprintf(notes->text[notes->n], sizeof notes->text[0], format, arguments);
	va_end(arguments);
	notes->line[notes->n] = notes->text[notes->n];
	notes->n++;
}

static void note_side(struct notes *notes, const char *what, const struct side *side)
{
	note(notes, "%s %.200s (xxh3 %s)", what, side->names.names[0], side->content_hash);
	if (side->names.n > 1)
		note(notes, "    and %zu more", side->names.n - 1);
}

/* Takes a file of a side, as the options want it seen. */
static struct pp_profile *take_file(const struct options *options, struct readahead *ahead, struct side *side,
                                    const char *name, struct pp_origin *origin, enum cli_status *status)
{
	struct viewed viewed = {.column = PP_NONE, .limits = input_limits(&options->input)};

	viewed.profile = readahead_take(ahead, false, origin, status);
	if (viewed.profile)
		*status = view_apply(&options->view, name, &viewed);
	if (*status == CLI_OK) {
		struct pp_profile *profile = viewed.profile;
		const int64_t total = view_total(&viewed, options->rows.mean);
		if (total > 0 && !pp_add_i64(side->total, total, &side->total))
			side->total = INT64_MAX;
		viewed.profile = NULL;
		viewed_release(&viewed);
		return profile;
	}
	viewed_release(&viewed);
	return NULL;
}

/* Reads the files of a side: one as it is, several as their sum. compare may be NULL. */
static enum cli_status read_side(const struct options *options, struct side *side, struct pd_compare *compare,
                                 enum pd_side which)
{
	const struct pp_limits limits = input_limits(&options->input);
	struct pp_error err = PP_ERROR_INIT;
	struct readahead *ahead = readahead_new(&options->input, (const char *const *)side->names.names, side->names.n,
	                                        options->threads);
	struct pp_merge *merge = NULL;
	enum cli_status status = ahead ? CLI_OK : CLI_SYSTEM;

	if (ahead && side->names.n > 1 && !(merge = pp_merge_new(&limits, &err)))
		status = cli_report(NULL, &err);
	for (size_t i = 0; i < side->names.n && status == CLI_OK; i++) {
		const char *name = side->names.names[i];
		struct pp_origin origin;
		struct pp_profile *profile = take_file(options, ahead, side, name, &origin, &status);
		if (!profile)
			break;
		if (i == 0)
			memcpy(side->content_hash, origin.content_hash, sizeof side->content_hash);
		if ((compare && pd_compare_add(compare, which, name, profile, &origin, NAN, &err) != 0) ||
		    (merge && pp_merge_add(merge, profile, 1, NULL, &err) != 0))
			status = cli_report(name, &err);
		if (merge)
			pp_profile_free(profile);
		else
			side->profile = profile;
	}
	if (status == CLI_OK && merge) {
		side->profile = pp_merge_finish(merge, &err);
		if (!side->profile)
			status = cli_report(NULL, &err);
	}
	pp_merge_free(merge);
	readahead_free(ahead);
	return status;
}

/* A difference as a profile marks its baseline with a label, and holds its values negated. Fills a
 * byte a sample that tells the baseline's; *any tells whether there are such samples. */
static unsigned char *find_base(const struct pp_profile *profile, bool *any)
{
	unsigned char *base = calloc((size_t)profile->samples_n + 1, 1);

	*any = false;
	for (uint32_t s = 0; base && s < profile->samples_n; s++) {
		const struct pp_label_list *list = pp_sample_labels(profile, s);
		for (uint32_t i = 0; i < list->n; i++)
			if (pp_str_eq(pp_string(profile, list->labels[i].key), PP_LIT("pprof::base")) &&
			    pp_str_eq(pp_string(profile, list->labels[i].str), PP_LIT("true")))
				base[s] = 1;
		*any |= base[s] != 0;
	}
	return base;
}

static enum cli_status write_dot(struct options *options, const struct dotfile *dot)
{
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status = output_open(&options->output, false);

	if (status != CLI_OK)
		return status;
	struct pp_sink sink = output_sink(&options->output);
	if (dotfile_write(dot, &sink, &err) != 0)
		status = cli_report(NULL, &err);
	return output_finish(&options->output, status);
}

/* What is drawn, beside the sides themselves. */
struct picture {
	const char *subject; /* for errors */
	int64_t total;       /* of one side: what shares refer to */
	const char *type;
	struct pp_str unit;
	struct notes notes;
};

/* Replaces sums by means: the second side has what they are divided by. */
static void take_means(struct pp_callgraph *graph)
{
	for (uint32_t n = 0; n < graph->nodes_n; n++) {
		struct pp_node *node = &graph->nodes[n];
		node->flat[0] = view_mean(node->flat[0], node->flat[1]);
		node->cum[0] = view_mean(node->cum[0], node->cum[1]);
		node->flat[1] = node->cum[1] = 0;
	}
	for (uint32_t e = 0; e < graph->edges_n; e++) {
		graph->edges[e].weight[0] = view_mean(graph->edges[e].weight[0], graph->edges[e].weight[1]);
		graph->edges[e].weight[1] = 0;
	}
	graph->total[1] = 0;
}

/* The unit that --unit asks for; for minimum, by what is drawn, of both sides. */
static void choose_unit(const struct options *options, const struct pp_frames *frames, const struct pp_callgraph *graph,
                        struct pp_str from, struct pp_str *shown)
{
	const struct view_rows *rows = &options->rows;
	int64_t least = 0, total = graph->total[0] > graph->total[1] ? graph->total[0] : graph->total[1];
	for (uint32_t n = 0; n < graph->nodes_n; n++) {
		const struct pp_node *node = &graph->nodes[n];
		if (pp_frames_at(frames, node->frame)->kind == PP_FRAME_NO_STACK)
			continue;
		view_take_least(&least, node->flat[0], node->cum[0]);
		view_take_least(&least, node->flat[1], node->cum[1]);
	}
	view_unit(rows->unit, from, view_divided(rows, least), view_divided(rows, total), shown);
}

/* Makes the graph of one side, or of incident and baseline, and writes it. */
static enum cli_status draw(struct options *options, const struct pp_frames *frames,
                            const struct pp_graph_side *sides, bool compared, const struct picture *picture)
{
	const bool mean = options->rows.mean;
	const struct pp_callgraph_options cut = {
		(uint32_t)options->rows.node_count, options->rows.node_fraction, options->edge_fraction,
		PP_GRAPH_BY_IMPORTANCE, options->rows.drop_negative, mean, !compared,
		options->call_tree};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_callgraph graph;
	enum cli_status status;
	char title[200];

	if (pp_callgraph_make(frames, sides, compared || mean ? 2 : 1, &cut, &graph, &err) != 0)
		return cli_report(picture->subject, &err);
	if (mean)
		take_means(&graph);
	if (!compared)
		graph.total[0] = picture->total;
	struct pp_str shown;
	choose_unit(options, frames, &graph, picture->unit, &shown);
	snprintf(title, sizeof title, "%.90s, %.90s", picture->type, picture->unit.ptr);
	const struct dotfile dot = {.frames = frames, .graph = &graph, .difference = compared,
	                            .tree = options->call_tree, .unit = picture->unit, .shown = shown,
	                            .rows = &options->rows, .title = title,
	                            .notes = picture->notes.line, .notes_n = picture->notes.n};
	status = write_dot(options, &dot);
	pp_callgraph_release(&graph);
	return status;
}

static void warn_of_negatives(const struct pp_profile *profile, uint32_t column, const char *name)
{
	for (uint32_t s = 0; s < profile->samples_n; s++)
		if (pp_value(profile, s, column) < 0) {
			cli_warn("'%s': negative values in a profile that is not marked as a difference", name);
			return;
		}
}

/* One profile, or a difference that was written as a profile. */
static enum cli_status draw_one(struct options *options, struct side *side)
{
	const char *name = side->names.names[0];
	struct pp_error err = PP_ERROR_INIT;
	struct pp_frame_map map = {NULL, NULL, PP_NONE};
	struct picture picture = {.subject = name, .total = side->total};
	unsigned char *base = NULL, *kept = NULL;
	enum cli_status status = CLI_OK;
	char warning[300];
	uint32_t column;
	bool difference = false;

	struct pp_frames *frames = pp_frames_new((enum pp_granularity)options->by, &err);
	const struct pp_profile *p = side->profile;
	if (!frames || pp_frames_map(frames, p, &map, &err) != 0 ||
	    pp_sample_type_find(p, options->view.sample_type, &column, warning, sizeof warning, &err) != 0) {
		status = cli_report(name, &err);
		goto done;
	}
	base = find_base(p, &difference);
	kept = malloc((size_t)p->samples_n + 1);
	if (!base || !kept) {
		cli_error("no memory");
		status = CLI_SYSTEM;
		goto done;
	}
	for (uint32_t s = 0; s < p->samples_n; s++)
		kept[s] = !base[s];
	if (!difference)
		warn_of_negatives(p, column, name);
	picture.type = pp_sample_type_name(p, column).ptr;
	picture.unit = pp_sample_type_unit(p, column);
	note_side(&picture.notes, difference ? "difference" : "profile", side);
	const struct pp_graph_side sides[] = {
		{p, &map, column, 1, kept},
		difference ? (struct pp_graph_side){p, &map, column, -1, base} : (struct pp_graph_side){p, &map, 0, 1, NULL},
	};
	status = difference && options->rows.mean ? cli_usage("--mean is for one profile")
	                                          : draw(options, frames, sides, difference, &picture);
done:
	free(base);
	free(kept);
	pp_frame_map_release(&map);
	pp_frames_free(frames);
	return status;
}

static uint32_t column_of(const struct pp_profile *profile, const char *type)
{
	for (uint32_t c = 0; c < profile->sample_types_n; c++)
		if (pp_str_eq(pp_sample_type_name(profile, c), pp_str_of(type)))
			return c;
	return PP_NONE;
}

/* What a side's sums are multiplied by: the normalisation, and its unit in that of the comparison. */
static double scale_of(const struct pd_comparison *comparison, enum pd_side side, struct pp_str unit)
{
	double from, to;

	pp_unit_find(unit, &from);
	pp_unit_find(pp_str_of(comparison->unit), &to);
	return comparison->factors[comparison->normalization].scale[side] * from / to;
}

static void note_comparison(struct notes *notes, const struct pd_comparison *comparison, const struct side *sides)
{
	const struct pd_factor *factor = &comparison->factors[comparison->normalization];

	note_side(notes, "incident", &sides[PD_INCIDENT]);
	note_side(notes, "baseline", &sides[PD_BASELINE]);
	if (comparison->normalization == PD_RAW)
		note(notes, "values as measured, not normalised");
	else
		note(notes, "normalised by %s: incident times %.6g, baseline times %.6g",
		     pd_normalization_name(comparison->normalization), factor->scale[PD_INCIDENT],
		     factor->scale[PD_BASELINE]);
	for (size_t i = 0; i < comparison->checks_n; i++) {
		const struct pd_check *check = &comparison->checks[i];
		if (check->outcome == PD_REFUSE) {
			cli_warn("not comparable: %s: %s", check->name, check->text);
			note(notes, "not comparable: %s: %s", check->name, check->text);
		}
	}
}

static enum cli_status draw_both(struct options *options, struct side *sides, const struct pd_comparison *comparison)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_frame_map maps[2] = {{NULL, NULL, PP_NONE}, {NULL, NULL, PP_NONE}};
	struct pp_graph_side graph_sides[2];
	struct picture picture = {.subject = sides[PD_INCIDENT].names.names[0], .type = comparison->type,
	                          .unit = pp_str_of(comparison->unit)};
	enum cli_status status = CLI_OK;

	struct pp_frames *frames = pp_frames_new((enum pp_granularity)options->by, &err);
	if (!frames)
		return cli_report(NULL, &err);
	for (size_t i = 0; i < 2 && status == CLI_OK; i++) {
		const enum pd_side which = i == 0 ? PD_INCIDENT : PD_BASELINE;
		const struct pp_profile *p = sides[which].profile;
		const uint32_t column = column_of(p, comparison->type);
		if (pp_frames_map(frames, p, &maps[i], &err) != 0) {
			status = cli_report(sides[which].names.names[0], &err);
			break;
		}
		graph_sides[i] = (struct pp_graph_side){
			p, &maps[i], column, scale_of(comparison, which, pp_sample_type_unit(p, column)), NULL};
	}
	if (status == CLI_OK) {
		note_comparison(&picture.notes, comparison, sides);
		status = draw(options, frames, graph_sides, true, &picture);
	}
	pp_frame_map_release(&maps[0]);
	pp_frame_map_release(&maps[1]);
	pp_frames_free(frames);
	return status;
}

/* Reads both sides through libdiff, whose factors are those that pprof-diff uses and prints. */
static enum cli_status compare(struct options *options, struct side *sides)
{
	struct pd_options how = PD_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pd_comparison *comparison = NULL;
	enum cli_status status;

	how.granularity = (enum pp_granularity)options->by;
	how.normalization = (enum pd_normalization)options->normalization;
	how.sample_type = options->view.sample_type;
	how.limits = input_limits(&options->input);
	struct pd_compare *making = pd_compare_new(&how, &err);
	if (!making)
		return cli_report(NULL, &err);
	status = read_side(options, &sides[PD_BASELINE], making, PD_BASELINE);
	if (status == CLI_OK)
		status = read_side(options, &sides[PD_INCIDENT], making, PD_INCIDENT);
	if (status == CLI_OK) {
		comparison = pd_compare_finish(making, &err);
		status = comparison ? draw_both(options, sides, comparison) : cli_report(NULL, &err);
	}
	pd_comparison_free(comparison);
	pd_compare_free(making);
	return status;
}

/* Two operands are a baseline and an incident; one is the incident, if there is a baseline. */
static enum cli_status assign_operands(struct options *options, struct cli_list *operands)
{
	const bool named = options->baseline.n > 0 || options->incident.n > 0;

	if (operands->n > (named ? 1 : 2) || (options->incident.n > 0 && operands->n > 0))
		return cli_usage("too many operands");
	if (options->baseline.n > 0 && options->incident.n == 0 && operands->n == 0)
		return cli_usage("--baseline without an incident: name it first, or with --incident");
	if (options->normalization != PD_RAW && options->baseline.n == 0 && operands->n < 2)
		return cli_usage("--normalize is for comparisons");
	if (options->rows.mean && (options->baseline.n > 0 || operands->n > 1))
		return cli_usage("--mean is for one profile");
	return CLI_OK;
}

static enum cli_status run(struct options *options, struct cli_list *operands, struct side *sides)
{
	const struct cli_list first = {operands->items, 1}, second = {operands->items + 1, 1};
	const struct cli_list *baseline = operands->n == 2 ? &first : &options->baseline;
	const struct cli_list *incident = operands->n == 2       ? &second
	                                  : options->incident.n > 0 ? &options->incident
	                                                            : operands;
	enum cli_status status = input_expand(incident, &sides[PD_INCIDENT].names);

	if (status == CLI_OK && baseline->n > 0)
		status = input_expand(baseline, &sides[PD_BASELINE].names);
	if (status == CLI_OK)
		status = input_check_stdin(sides[PD_INCIDENT].names.stdin_n + sides[PD_BASELINE].names.stdin_n);
	if (status != CLI_OK)
		return status;
	if (baseline->n > 0)
		return compare(options, sides);
	status = read_side(options, &sides[PD_INCIDENT], NULL, PD_INCIDENT);
	return status == CLI_OK ? draw_one(options, &sides[PD_INCIDENT]) : status;
}

int main(int argc, char **argv)
{
	const struct pp_callgraph_options cut = PP_CALLGRAPH_OPTIONS_DEFAULT;
	struct options o = {.output = OUTPUT_INIT, .view = VIEW_INIT, .rows = VIEW_ROWS_INIT,
	                    .edge_fraction = cut.edge_fraction, .threads = 1};
	o.rows.node_count = cut.node_limit;
	o.rows.node_fraction = cut.node_fraction;
	const struct cli_option options[] = {
		{"baseline", 0, CLI_OPERANDS, &o.baseline, "FILE", "what to compare with: files, folders, @lists", 0, 0, NULL},
		{"incident", 0, CLI_OPERANDS, &o.incident, "FILE", "what to draw, where operands are not enough", 0, 0, NULL},
		VIEW_OPTIONS(&o.view),
		VIEW_ROW_OPTIONS(&o.rows),
		{"edgefraction", 0, CLI_REAL, &o.edge_fraction, "SHARE", "leave out calls below this share; else 0.001", 0, 1, NULL},
		{"call-tree", 0, CLI_FLAG, &o.call_tree, NULL, "a function for each way to it, instead of one", 0, 0, NULL},
		INPUT_BY_OPTION(&o.by),
		{"normalize", 0, CLI_CHOICE, &o.normalization, "HOW", "what the sides are divided by", 0, 0, normalizations},
		OUTPUT_OPTIONS(&o.output),
		READAHEAD_OPTION(&o.threads),
		INPUT_OPTIONS(&o.input),
		INPUT_FRAME_OPTIONS(&o.input),
	};
	const struct cli_command command = {"pprof-dot", "[BASELINE] [FILE]", "Draw a call graph in DOT.", options,
	                                    PP_COUNT(options)};
	struct cli_list operands;
	struct side sides[2] = {0};
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	status = view_check_rows(&o.rows);
	if (status == CLI_OK)
		status = assign_operands(&o, &operands);
	if (status == CLI_OK)
		status = run(&o, &operands, sides);

	for (size_t i = 0; i < 2; i++) {
		input_names_release(&sides[i].names);
		pp_profile_free(sides[i].profile);
	}
	cli_list_release(&operands);
	cli_list_release(&o.baseline);
	cli_list_release(&o.incident);
	return (int)status;
}
