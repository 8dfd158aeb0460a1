/* pprof-tree: who calls whom, and what for: callers and callees of every function; or the samples of a
 * profile one by one, its labels, its comments. */
#include "cmd/cli.h"
#include "cmd/labels.h"
#include "cmd/output.h"
#include "cmd/table.h"
#include "cmd/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
	struct input input;
	struct output output;
	struct view view;
	struct view_rows rows;
	int by, format; /* enum pp_granularity, enum table_format */
	bool by_cum, tree, traces, tags, comments;
	const char *peek;
	double edge_fraction;
};

/* ---- the tree ---- */

/* A graph with the edges of each node: those into node n are edges in[in_first[n] … in_first[n + 1]). */
struct tree {
	struct pp_frames *frames;
	struct pp_callgraph graph;
	uint32_t *in, *in_first, *out, *out_first;
	int64_t total;
	struct pp_regex *peek; /* NULL: every node */
	struct pp_str unit;    /* of --unit */
	double sum;            /* of flat values so far */
};

/* Lists the edges of every node in the order of all edges. end is 0 for callers, 1 for callees. */
static int list_edges(const struct pp_callgraph *graph, int end, uint32_t **list, uint32_t **first,
                      struct pp_error *err)
{
	const uint32_t nodes_n = graph->nodes_n + graph->ghosts_n;
	uint32_t *at = calloc((size_t)nodes_n + 2, sizeof *at);
	*list = malloc(((size_t)graph->edges_n + 1) * sizeof **list);
	*first = at;
	if (!at || !*list)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a tree");
	for (uint32_t e = 0; e < graph->edges_n; e++)
		at[(end == 0 ? graph->edges[e].from : graph->edges[e].to) + 2]++;
	for (uint32_t n = 0; n < nodes_n; n++)
		at[n + 2] += at[n + 1];
	for (uint32_t e = 0; e < graph->edges_n; e++)
		(*list)[at[(end == 0 ? graph->edges[e].from : graph->edges[e].to) + 1]++] = e;
	return 0;
}

static int make_tree(const struct viewed *viewed, const struct request *request, struct tree *tree,
                     struct pp_error *err)
{
	const bool mean = request->rows.mean;
	const struct pp_callgraph_options options = {
		request->peek ? 0 : (uint32_t)request->rows.node_count,
		request->peek ? 0 : request->rows.node_fraction,
		request->peek ? 0 : request->edge_fraction,
		request->by_cum ? PP_GRAPH_BY_CUM : PP_GRAPH_BY_FLAT,
		request->rows.drop_negative,
		mean,
		false,
		false,
	};
	struct pp_frame_map map = {NULL, NULL, PP_NONE};
	int status = -1;
	tree->total = view_total(viewed, mean);
	tree->frames = pp_frames_new((enum pp_granularity)request->by, err);
	if (tree->frames && pp_frames_map(tree->frames, viewed->profile, &map, err) == 0) {
		const struct pp_graph_side sides[] = {{viewed->profile, &map, viewed->column, 1, NULL},
		                                      {viewed->profile, &map, 0, 1, NULL}};
		status = pp_callgraph_make(tree->frames, sides, mean ? 2 : 1, &options, &tree->graph, err);
	}
	pp_frame_map_release(&map);
	if (status == 0 && (list_edges(&tree->graph, 0, &tree->out, &tree->out_first, err) != 0 ||
	                    list_edges(&tree->graph, 1, &tree->in, &tree->in_first, err) != 0))
		status = -1;
	if (status == 0 && request->peek && !(tree->peek = pp_regex_new(pp_str_of(request->peek), false, err)))
		status = -1;
	return status;
}

static void release(struct tree *tree)
{
	pp_callgraph_release(&tree->graph);
	pp_frames_free(tree->frames);
	pp_regex_free(tree->peek);
	free(tree->in);
	free(tree->in_first);
	free(tree->out);
	free(tree->out_first);
}

/* ---- its rows ---- */

enum { NAME, RELATION, OTHER, FLAT, FLAT_SHARE, SUM_SHARE, CUM, CUM_SHARE, INLINED, RESIDUAL, TREE_COLUMNS };

struct printer {
	const struct request *request;
	const struct tree *tree;
	struct table *table;
	bool for_people; /* one text a row */
	struct pp_buf text;
};

static int64_t value_of(const struct view_rows *rows, const int64_t value[2])
{
	return rows->mean ? view_mean(value[0], value[1]) : value[0];
}

static void choose_unit(const struct viewed *viewed, const struct view_rows *rows, struct tree *tree)
{
	int64_t least = 0;
	for (uint32_t n = 0; n < tree->graph.nodes_n; n++) {
		const struct pp_node *node = &tree->graph.nodes[n];
		if (pp_frames_at(tree->frames, node->frame)->kind != PP_FRAME_NO_STACK)
			view_take_least(&least, value_of(rows, node->flat), value_of(rows, node->cum));
	}
	view_unit(rows->unit, pp_sample_type_unit(viewed->profile, viewed->column), view_divided(rows, least),
	          view_divided(rows, tree->total), &tree->unit);
}

static double share(int64_t value, int64_t total)
{
	return total != 0 ? (double)value / (double)total : 0;
}

static int print_edge(struct printer *printer, const struct pp_node *node, const struct pp_edge *edge, bool is_caller,
                      struct pp_error *err)
{
	const struct tree *tree = printer->tree;
	const struct pp_node *other_node = &tree->graph.nodes[is_caller ? edge->from : edge->to];
	const struct pp_str other = pp_frames_label(tree->frames, other_node->frame);
	const int64_t weight = value_of(&printer->request->rows, edge->weight);
	struct pp_str name = pp_frames_label(tree->frames, node->frame);
	if (printer->for_people) {
		const char *arrow = is_caller ? "    from " : "    to ";
		printer->text.n = 0;
		if (pp_buf_append(&printer->text, arrow, strlen(arrow), err) != 0 ||
		    pp_buf_append(&printer->text, other.ptr, other.len, err) != 0)
			return -1;
		name = (struct pp_str){printer->text.bytes, printer->text.n};
	}
	const union table_cell cells[TREE_COLUMNS] = {
		[NAME] = {.text = name},
		[RELATION] = {.text = is_caller ? PP_LIT("caller") : PP_LIT("callee")},
		[OTHER] = {.text = other},
		[FLAT_SHARE] = {.real = (double)NAN},
		[SUM_SHARE] = {.real = (double)NAN},
		[CUM] = {.i = view_divided(&printer->request->rows, weight)},
		[CUM_SHARE] = {.real = share(weight, value_of(&printer->request->rows, node->cum))},
		[INLINED] = {.i = edge->inlined},
		[RESIDUAL] = {.i = edge->residual},
	};
	return table_row(printer->table, cells, err);
}

static int print_self(struct printer *printer, const struct pp_node *node, double sum, struct pp_error *err)
{
	const struct tree *tree = printer->tree;
	const int64_t flat = value_of(&printer->request->rows, node->flat), cum = value_of(&printer->request->rows, node->cum);
	const union table_cell cells[TREE_COLUMNS] = {
		[NAME] = {.text = pp_frames_label(tree->frames, node->frame)},
		[RELATION] = {.text = PP_LIT("self")},
		[OTHER] = {.text = PP_LIT("")},
		[FLAT] = {.i = view_divided(&printer->request->rows, flat)},
		[FLAT_SHARE] = {.real = share(flat, tree->total)},
		[SUM_SHARE] = {.real = tree->total != 0 ? sum / (double)tree->total : 0},
		[CUM] = {.i = view_divided(&printer->request->rows, cum)},
		[CUM_SHARE] = {.real = share(cum, tree->total)},
	};
	return table_row(printer->table, cells, err);
}

static int print_node(struct printer *printer, uint32_t n, double sum, struct pp_error *err)
{
	const struct tree *tree = printer->tree;
	const struct pp_node *node = &tree->graph.nodes[n];
	for (uint32_t i = tree->in_first[n]; i < tree->in_first[n + 1]; i++)
		if (print_edge(printer, node, &tree->graph.edges[tree->in[i]], true, err) != 0)
			return -1;
	if (print_self(printer, node, sum, err) != 0)
		return -1;
	for (uint32_t i = tree->out_first[n]; i < tree->out_first[n + 1]; i++)
		if (print_edge(printer, node, &tree->graph.edges[tree->out[i]], false, err) != 0)
			return -1;
	return 0;
}

/* Prints the nodes; *printed tells how many. */
static int print_tree(struct printer *printer, uint32_t *printed, struct pp_error *err)
{
	const struct tree *tree = printer->tree;
	double sum = 0;
	*printed = 0;
	for (uint32_t n = 0; n < tree->graph.nodes_n; n++) {
		const struct pp_node *node = &tree->graph.nodes[n];
		bool wanted = true;
		if (tree->peek && pp_regex_match(tree->peek, pp_frames_label(tree->frames, node->frame), &wanted, err) != 0)
			return -1;
		if (!wanted)
			continue;
		sum += (double)value_of(&printer->request->rows, node->flat);
		++*printed;
		if (print_node(printer, n, sum, err) != 0)
			return -1;
	}
	return 0;
}

/* ---- output ---- */

static void tree_columns(const struct viewed *viewed, bool for_people, struct table_column columns[TREE_COLUMNS])
{
	const struct pp_str unit = pp_sample_type_unit(viewed->profile, viewed->column);
	const struct table_column made[TREE_COLUMNS] = {
		[NAME] = {"name", for_people ? "function, its callers and callees" : "name", TABLE_TEXT, {0}, false},
		[RELATION] = {"relation", NULL, TABLE_TEXT, {0}, false},
		[OTHER] = {"other", NULL, TABLE_TEXT, {0}, false},
		[FLAT] = {"flat", "flat", TABLE_INTEGER, unit, false},
		[FLAT_SHARE] = {"flat_share", "flat%", TABLE_SHARE, {0}, false},
		[SUM_SHARE] = {"sum_share", "sum%", TABLE_SHARE, {0}, false},
		[CUM] = {"cum", "cum", TABLE_INTEGER, unit, false},
		[CUM_SHARE] = {"cum_share", "cum%", TABLE_SHARE, {0}, false},
		[INLINED] = {"inlined", NULL, TABLE_INTEGER, {0}, false},
		[RESIDUAL] = {"residual", NULL, TABLE_INTEGER, {0}, false},
	};
	memcpy(columns, made, sizeof made);
}

static int write_tree(const struct viewed *viewed, const struct request *request, enum table_format format,
                      struct pp_sink *sink, struct pp_error *err)
{
	struct tree tree = {0};
	struct printer printer = {request, &tree, NULL, format == TABLE_ALIGNED || format == TABLE_MARKDOWN, PP_BUF_INIT};
	struct table_column columns[TREE_COLUMNS];
	uint32_t printed = 0;
	int status = make_tree(viewed, request, &tree, err);
	tree_columns(viewed, printer.for_people, columns);
	if (status == 0)
		choose_unit(viewed, &request->rows, &tree);
	if (status == 0 && !(printer.table = table_new_in(tree.unit, format, columns, TREE_COLUMNS, sink, err)))
		status = -1;
	if (status == 0)
		status = print_tree(&printer, &printed, err);
	if (status == 0 && request->peek && printed == 0)
		status = pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "nothing matches --peek '%.200s'", request->peek);
	if (status == 0)
		status = table_end(printer.table, err);
	table_free(printer.table);
	pp_buf_release(&printer.text);
	release(&tree);
	return status;
}

/* Lists have no common unit that would fit all, as in the reference: minimum is as auto. */
static void list_unit(const struct viewed *viewed, const struct view_rows *rows, struct pp_str *unit)
{
	const bool minimum = rows->unit && strcmp(rows->unit, "minimum") == 0;
	view_unit(minimum ? NULL : rows->unit, pp_sample_type_unit(viewed->profile, viewed->column), 0, 0, unit);
}

static int write_list(const struct viewed *viewed, const struct request *request, enum table_format format,
                      struct pp_sink *sink, struct pp_error *err)
{
	struct table_column tags[LABELS_TAG_COLUMNS];
	const struct table_column *columns = request->traces ? labels_trace_columns
	                                     : request->tags ? tags
	                                                     : labels_comment_columns;
	const size_t columns_n = request->traces ? labels_trace_columns_n
	                         : request->tags ? LABELS_TAG_COLUMNS
	                                         : labels_comment_columns_n;
	struct pp_str unit;
	list_unit(viewed, &request->rows, &unit);
	labels_tag_columns(viewed, tags);
	struct table *table = table_new_in(unit, format, columns, columns_n, sink, err);
	int status = table ? 0 : -1;
	if (status == 0 && request->traces)
		status = labels_print_traces(viewed, &request->rows, unit, (enum pp_granularity)request->by, table, err);
	else if (status == 0 && request->tags)
		status = labels_print_tags(viewed, &request->rows, table, err);
	else if (status == 0)
		status = labels_print_comments(viewed, table, err);
	if (status == 0)
		status = table_end(table, err);
	table_free(table);
	return status;
}

static enum cli_status write_all(const struct viewed *viewed, const char *name, struct request *request)
{
	const bool is_list = request->traces || request->tags || request->comments;
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status = output_open(&request->output, false);
	if (status != CLI_OK)
		return status;
	const enum table_format format = table_format_for((enum table_format)request->format, &request->output);
	struct pp_sink sink = output_sink(&request->output);
	if ((is_list ? write_list : write_tree)(viewed, request, format, &sink, &err) != 0)
		status = cli_report(err.code == PP_EIO ? NULL : name, &err);
	return output_finish(&request->output, status);
}

/* ---- the command ---- */

static enum cli_status check(const struct request *request)
{
	if ((request->peek != NULL) + request->tree + request->traces + request->tags + request->comments > 1)
		return cli_usage("one of --tree, --peek, --traces, --tags and --comments at a time");
	return view_check_rows(&request->rows);
}

int main(int argc, char **argv)
{
	struct request request = {.output = OUTPUT_INIT, .view = VIEW_INIT, .rows = VIEW_ROWS_INIT, .by = PP_BY_FRAMES,
	                          .format = TABLE_AUTO};
	const struct cli_option options[] = {
		{"tree", 0, CLI_FLAG, &request.tree, NULL, "callers and callees of every function: the default", 0, 0, NULL},
		{"peek", 0, CLI_STRING, &request.peek, "REGEX", "callers and callees of functions that match", 0, 0, NULL},
		{"traces", 0, CLI_FLAG, &request.traces, NULL, "every sample, with its labels and frames", 0, 0, NULL},
		{"tags", 0, CLI_FLAG, &request.tags, NULL, "what the samples with each label add up to", 0, 0, NULL},
		{"comments", 0, CLI_FLAG, &request.comments, NULL, "the comments in the profile", 0, 0, NULL},
		VIEW_OPTIONS(&request.view),
		VIEW_ROW_OPTIONS(&request.rows),
		{"edgefraction", 0, CLI_REAL, &request.edge_fraction, "SHARE", "leave out calls below this share of the sum", 0, 1, NULL},
		INPUT_BY_OPTION(&request.by),
		{"cum", 0, CLI_FLAG, &request.by_cum, NULL, "sort by cumulative value", 0, 0, NULL},
		TABLE_FORMAT_OPTION(&request.format),
		OUTPUT_OPTIONS(&request.output),
		INPUT_OPTIONS(&request.input),
		INPUT_FRAME_OPTIONS(&request.input),
	};
	const struct cli_command command = {"pprof-tree", "[FILE]", "Show who calls whom, or every sample, or labels.",
	                                    options, PP_COUNT(options)};
	struct cli_list operands;
	struct viewed viewed = {.column = PP_NONE};
	const char *name;
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	status = input_one(&operands, &name);
	if (status == CLI_OK)
		status = check(&request);
	if (status == CLI_OK)
		status = view_open(&request.view, &request.input, name, NULL, &viewed);
	if (status == CLI_OK)
		status = write_all(&viewed, name, &request);

	viewed_release(&viewed);
	cli_list_release(&operands);
	return (int)status;
}
