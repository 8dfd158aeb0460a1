#include "cmd/dotfile.h"

#include <graphviz/cgraph.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of text, escaped. cgraph's reader refuses quoted text over 16 KiB. */
#define LABEL_MAX 512
#define TOOLTIP_MAX 4096
#define LINE_WIDTH 36 /* a name is broken after a separator beyond this */

#define REPLACEMENT "\xef\xbf\xbd"
#define ARROW " \xe2\x86\x92 "

/* Orange and blue of a diverging scheme that colour-blind readers can tell apart; every label says
 * the same in signs. Pale for areas, dark for lines. */
struct rgb {
	double r, g, b;
};
static const struct rgb grey_area = {0.945, 0.945, 0.945}, grey_line = {0.60, 0.60, 0.60};
static const struct rgb red_area = {0.957, 0.647, 0.510}, red_line = {0.698, 0.094, 0.169};
static const struct rgb blue_area = {0.573, 0.773, 0.871}, blue_line = {0.129, 0.400, 0.675};

struct writer {
	const struct dotfile *dot;
	Agraph_t *graph;
	Agnode_t **nodes, **labels;
	struct pp_buf text; /* of the attribute in the making */
	uint64_t flat_max;  /* |flat| of any node, on either side */
	uint64_t total;     /* the larger side's, at least 1 */
	struct {
		Agsym_t *label, *tooltip, *shape, *fontsize, *fillcolor, *color, *id;
	} node;
	struct {
		Agsym_t *label, *tooltip, *labeltooltip, *weight, *penwidth, *color, *style;
	} edge;
};

/* cgraph takes texts that it does not change as char *. */
static char *unconst(const char *text)
{
	return (char *)(uintptr_t)text;
}

static int put(struct writer *w, const char *text, struct pp_error *err)
{
	return pp_buf_append(&w->text, text, strlen(text), err);
}

/* One character of a name in the escape language of labels: a backslash is doubled, an ampersand does
 * not start an entity, control bytes and what is not UTF-8 cannot be shown. */
static const char *escaped(const char *p, size_t n, size_t *step, char one[5])
{
	const size_t length = pp_utf8_length(p, n);

	*step = length > 0 ? length : 1;
	if (length == 0)
		return REPLACEMENT;
	if (length == 1 && *p == '\\')
		return "\\\\";
	if (length == 1 && *p == '&')
		return "&amp;";
	if (length == 1 && *p == '\n')
		return "\\n";
	if (length == 1 && *p == '\t')
		return " ";
	if (length == 1 && ((unsigned char)*p < 0x20 || *p == 0x7f))
		return REPLACEMENT;
	memcpy(one, p, length);
	one[length] = '\0';
	return one;
}

static bool is_separator(char c)
{
	return c == ':' || c == '.' || c == '/' || c == ';' || c == ',' || c == ' ' || c == '_' || c == '-';
}

/* Appends a name, cut to max escaped bytes with "..."; lines are broken after separators when broken
 * is true. */
static int put_name(struct writer *w, struct pp_str name, size_t max, bool broken, struct pp_error *err)
{
	const size_t start = w->text.n;
	size_t line = 0, step;
	char one[5];

	for (size_t i = 0; i < name.len; i += step) {
		const char *text = escaped(name.ptr + i, name.len - i, &step, one);
		if (w->text.n - start + strlen(text) + 3 > max)
			return put(w, "...", err);
		if (put(w, text, err) != 0)
			return -1;
		line++;
		const char next = i + step < name.len ? name.ptr[i + step] : ' ';
		if (broken && line >= LINE_WIDTH && is_separator(name.ptr[i]) && !is_separator(next)) {
			if (put(w, "\\n", err) != 0)
				return -1;
			line = 0;
		}
	}
	return 0;
}

static int put_value(struct writer *w, int64_t value, bool sign, struct pp_error *err)
{
	char text[64];

	value = view_divided(w->dot->rows, value);
	if (sign && value > 0 && put(w, "+", err) != 0)
		return -1;
	view_value_text(text, sizeof text, value, w->dot->unit, w->dot->shown);
	return put_name(w, pp_str_of(text), sizeof text, false, err); /* the unit is the profile's text */
}

/* "1.50s (12.50%)" */
static int put_share(struct writer *w, int64_t value, struct pp_error *err)
{
	char text[32];

	if (put_value(w, value, false, err) != 0 || put(w, " (", err) != 0)
		return -1;
	return put(w, pp_percent(text, sizeof text, value, w->dot->graph->total[0]), err) != 0 ? -1 : put(w, ")", err);
}

/* incident - baseline, held within 64 bits. */
static int64_t change(const int64_t v[2])
{
	int64_t out;

	if (__builtin_sub_overflow(v[0], v[1], &out))
		return v[0] < 0 ? INT64_MIN : INT64_MAX;
	return out;
}

/* "1.20s → 2.40s (+1.20s)", baseline first. */
static int put_change(struct writer *w, const int64_t v[2], struct pp_error *err)
{
	if (change(v) == 0)
		return put_value(w, v[0], false, err) != 0 ? -1 : put(w, " (unchanged)", err);
	if (put_value(w, v[1], false, err) != 0 || put(w, ARROW, err) != 0 || put_value(w, v[0], false, err) != 0 ||
	    put(w, " (", err) != 0 || put_value(w, change(v), true, err) != 0)
		return -1;
	return put(w, ")", err);
}

static int set(struct writer *w, void *object, Agsym_t *attribute, struct pp_error *err)
{
	const int bad = agxset(object, attribute, w->text.n > 0 ? w->text.bytes : unconst(""));

	w->text.n = 0;
	return bad ? pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a graph") : 0;
}

static int set_real(struct writer *w, void *object, Agsym_t *attribute, double value, struct pp_error *err)
{
	char text[32];

	snprintf(text, sizeof text, "%.4g", value);
	return put(w, text, err) != 0 ? -1 : set(w, object, attribute, err);
}

/* share in -1 … 1: how much was gained or lost. Small shares show, so that the root is not all. */
static int set_color(struct writer *w, void *object, Agsym_t *attribute, double share, bool area,
                     struct pp_error *err)
{
	const struct rgb from = area ? grey_area : grey_line;
	const struct rgb to = share > 0 ? (area ? red_area : red_line) : (area ? blue_area : blue_line);
	const double t = sqrt(fmin(1, fabs(share)));
	char text[8];

	snprintf(text, sizeof text, "#%02x%02x%02x", (unsigned)lround(255 * (from.r + t * (to.r - from.r))) & 0xffU,
	         (unsigned)lround(255 * (from.g + t * (to.g - from.g))) & 0xffU,
	         (unsigned)lround(255 * (from.b + t * (to.b - from.b))) & 0xffU);
	return put(w, text, err) != 0 ? -1 : set(w, object, attribute, err);
}

static double share_of(const struct writer *w, const int64_t v[2])
{
	return (double)(w->dot->difference ? change(v) : v[0]) / (double)w->total;
}

static uint64_t larger(const int64_t v[2])
{
	const uint64_t a = pp_abs_i64(v[0]), b = pp_abs_i64(v[1]);

	return a > b ? a : b;
}

static int declare(struct writer *w, int kind, const char *name, const char *value, Agsym_t **attribute,
                   struct pp_error *err)
{
	Agsym_t *made = agattr(w->graph, kind, unconst(name), unconst(value));

	if (attribute)
		*attribute = made;
	return made ? 0 : pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a graph");
}

static int declare_all(struct writer *w, struct pp_error *err)
{
	const struct {
		int kind;
		const char *name, *value;
		Agsym_t **attribute;
	} all[] = {
		{AGRAPH, "linelength", "0", NULL}, /* an attribute a line, however long: grep likes it */
		{AGRAPH, "charset", "UTF-8", NULL},
		{AGRAPH, "fontname", "Helvetica", NULL},
		{AGRAPH, "ranksep", "0.4", NULL},
		{AGNODE, "fontname", "Helvetica", NULL},
		{AGNODE, "style", "filled", NULL},
		{AGNODE, "shape", "box", &w->node.shape},
		{AGNODE, "label", "\\N", &w->node.label},
		{AGNODE, "tooltip", "", &w->node.tooltip},
		{AGNODE, "fontsize", "10", &w->node.fontsize},
		{AGNODE, "fillcolor", "#f1f1f1", &w->node.fillcolor},
		{AGNODE, "color", "#999999", &w->node.color},
		{AGNODE, "id", "", &w->node.id},
		{AGEDGE, "fontname", "Helvetica", NULL},
		{AGEDGE, "fontsize", "9", NULL},
		{AGEDGE, "label", "", &w->edge.label},
		{AGEDGE, "tooltip", "", &w->edge.tooltip},
		{AGEDGE, "labeltooltip", "", &w->edge.labeltooltip},
		{AGEDGE, "weight", "1", &w->edge.weight},
		{AGEDGE, "penwidth", "1", &w->edge.penwidth},
		{AGEDGE, "color", "#999999", &w->edge.color},
		{AGEDGE, "style", "solid", &w->edge.style},
	};

	for (size_t i = 0; i < PP_COUNT(all); i++)
		if (declare(w, all[i].kind, all[i].name, all[i].value, all[i].attribute, err) != 0)
			return -1;
	return 0;
}

static int put_node_label(struct writer *w, const struct pp_node *node, struct pp_error *err)
{
	const struct pp_str name = pp_frames_label(w->dot->frames, node->frame);

	if (put_name(w, name, LABEL_MAX, true, err) != 0 || put(w, "\\n", err) != 0)
		return -1;
	if (!w->dot->difference) {
		if (node->flat[0] != 0 && put_share(w, node->flat[0], err) != 0)
			return -1;
		if (node->flat[0] == node->cum[0])
			return 0;
		if (put(w, node->flat[0] != 0 ? "\\nof " : "0 of ", err) != 0)
			return -1;
		return put_share(w, node->cum[0], err);
	}
	if (larger(node->flat) > 0 &&
	    (put(w, "self ", err) != 0 || put_change(w, node->flat, err) != 0 || put(w, "\\n", err) != 0))
		return -1;
	if (put(w, "total ", err) != 0)
		return -1;
	return put_change(w, node->cum, err);
}

static int put_node_tooltip(struct writer *w, const struct pp_node *node, struct pp_error *err)
{
	const struct pp_frame *frame = pp_frames_at(w->dot->frames, node->frame);
	const struct pp_str name = pp_frames_label(w->dot->frames, node->frame);

	if (put_name(w, name, TOOLTIP_MAX, false, err) != 0)
		return -1;
	/* Where the label does not say the file. */
	if (frame->file.len > 0 && name.len == frame->name.len &&
	    (put(w, "\\n", err) != 0 || put_name(w, frame->file, LABEL_MAX, false, err) != 0))
		return -1;
	return 0;
}

static int write_node(struct writer *w, uint32_t index, struct pp_error *err)
{
	const struct pp_node *node = &w->dot->graph->nodes[index];
	char id[24];
	Agnode_t *made;
	double size = 8;

	snprintf(id, sizeof id, "n%u", index);
	made = agnode(w->graph, id, 1);
	if (!made)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a graph");
	w->nodes[index] = made;
	if (w->flat_max > 0)
		size += ceil(16 * sqrt((double)larger(node->flat) / (double)w->flat_max));
	if (put_node_label(w, node, err) != 0 || set(w, made, w->node.label, err) != 0 ||
	    put_node_tooltip(w, node, err) != 0 || set(w, made, w->node.tooltip, err) != 0 ||
	    put(w, id, err) != 0 || set(w, made, w->node.id, err) != 0 ||
	    set_real(w, made, w->node.fontsize, size, err) != 0 ||
	    set_color(w, made, w->node.fillcolor, share_of(w, node->cum), true, err) != 0)
		return -1;
	return set_color(w, made, w->node.color, share_of(w, node->cum), false, err);
}

/* "caller -> callee", with "..." where frames between the two are not drawn. */
static int put_call(struct writer *w, const struct pp_edge *e, struct pp_error *err)
{
	const struct pp_node *nodes = w->dot->graph->nodes;

	if (put_name(w, pp_frames_label(w->dot->frames, nodes[e->from].frame), TOOLTIP_MAX / 2, false, err) != 0 ||
	    put(w, e->residual ? " ... " : " -> ", err) != 0 ||
	    put_name(w, pp_frames_label(w->dot->frames, nodes[e->to].frame), TOOLTIP_MAX / 2, false, err) != 0 ||
	    put(w, "\\n", err) != 0)
		return -1;
	return w->dot->difference ? put_change(w, e->weight, err) : put_value(w, e->weight[0], false, err);
}

static int write_edge(struct writer *w, const struct pp_edge *e, struct pp_error *err)
{
	const double share = fmin(1, (double)larger(e->weight) / (double)w->total);
	const bool changed = w->dot->difference && change(e->weight) != 0;
	Agedge_t *made = agedge(w->graph, w->nodes[e->from], w->nodes[e->to], NULL, 1);

	if (!made)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a graph");
	if (put(w, " ", err) != 0 ||
	    put_value(w, changed ? change(e->weight) : e->weight[0], changed, err) != 0 ||
	    (e->inlined && put(w, "\\n (inline)", err) != 0) || set(w, made, w->edge.label, err) != 0 ||
	    put_call(w, e, err) != 0 || set(w, made, w->edge.tooltip, err) != 0 ||
	    put_call(w, e, err) != 0 || set(w, made, w->edge.labeltooltip, err) != 0 ||
	    set_real(w, made, w->edge.weight, 1 + floor(100 * share), err) != 0 ||
	    set_real(w, made, w->edge.penwidth, 1 + 5 * share, err) != 0 ||
	    set_color(w, made, w->edge.color, share_of(w, e->weight), false, err) != 0)
		return -1;
	return e->residual && (put(w, "dashed", err) != 0 || set(w, made, w->edge.style, err) != 0) ? -1 : 0;
}

/* Labels hang at their function, or at other labels, with what their samples cost there. */
static int write_nodelet(struct writer *w, uint32_t index, struct pp_error *err)
{
	const struct pp_nodelet *label = &w->dot->graph->labels[index];
	Agnode_t *at = label->parent == PP_NONE ? w->nodes[label->node] : w->labels[label->parent];
	char id[48];
	Agnode_t *made;
	Agedge_t *line;

	snprintf(id, sizeof id, "n%u_%u", label->node, index);
	made = agnode(w->graph, id, 1);
	line = made ? agedge(w->graph, at, made, NULL, 1) : NULL;
	if (!line)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a graph");
	w->labels[index] = made;
	if (put_name(w, label->text, LABEL_MAX, false, err) != 0 || set(w, made, w->node.label, err) != 0 ||
	    put_value(w, label->value, false, err) != 0 || set(w, made, w->node.tooltip, err) != 0 ||
	    put(w, "box3d", err) != 0 || set(w, made, w->node.shape, err) != 0 ||
	    put(w, id, err) != 0 || set(w, made, w->node.id, err) != 0 ||
	    set_real(w, made, w->node.fontsize, 8, err) != 0 || put(w, " ", err) != 0 ||
	    put_value(w, label->value, false, err) != 0 || set(w, line, w->edge.label, err) != 0 ||
	    put_value(w, label->value, false, err) != 0 || set(w, line, w->edge.tooltip, err) != 0 ||
	    put_value(w, label->value, false, err) != 0 || set(w, line, w->edge.labeltooltip, err) != 0 ||
	    set_real(w, line, w->edge.weight, 100, err) != 0)
		return -1;
	return label->partial && (put(w, "dotted", err) != 0 || set(w, line, w->edge.style, err) != 0) ? -1 : 0;
}

static int put_line(struct writer *w, const char *text, struct pp_error *err)
{
	return put_name(w, pp_str_of(text), LABEL_MAX, false, err) != 0 ? -1 : put(w, "\\l", err);
}

static int put_totals(struct writer *w, struct pp_error *err)
{
	const struct pp_callgraph *graph = w->dot->graph;

	if (put(w, "total ", err) != 0)
		return -1;
	if (w->dot->difference ? put_change(w, graph->total, err) : put_value(w, graph->total[0], false, err))
		return -1;
	return put(w, "\\l", err);
}

static int write_legend(struct writer *w, struct pp_error *err)
{
	const struct pp_callgraph *graph = w->dot->graph;
	char line[128];
	Agnode_t *legend = agnode(w->graph, unconst("legend"), 1);

	if (!legend)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a graph");
	if (put_line(w, w->dot->title, err) != 0)
		return -1;
	for (size_t i = 0; i < w->dot->notes_n; i++)
		if (put_line(w, w->dot->notes[i], err) != 0)
			return -1;
	if (put_totals(w, err) != 0)
		return -1;
	snprintf(line, sizeof line, "%u of %u %s drawn, %u light calls left out",
	         graph->nodes_n, graph->nodes_all_n,
	         w->dot->tree ? "nodes of the call tree" : "functions", graph->edges_dropped_n);
	if (put_line(w, graph->nodes_all_n > 0 ? line : "no samples", err) != 0)
		return -1;
	if (w->dot->difference && put_line(w, "red grew, blue shrank, grey unchanged", err) != 0)
		return -1;
	if (put_line(w, "dashed: calls through functions that are not drawn", err) != 0 ||
	    set(w, legend, w->node.label, err) != 0)
		return -1;
	return put(w, "note", err) != 0 ? -1 : set(w, legend, w->node.shape, err);
}

static int build(struct writer *w, struct pp_error *err)
{
	const struct pp_callgraph *graph = w->dot->graph;

	if (declare_all(w, err) != 0 || write_legend(w, err) != 0)
		return -1;
	for (uint32_t i = 0; i < graph->nodes_n; i++)
		if (write_node(w, i, err) != 0)
			return -1;
	for (uint32_t i = 0; i < graph->labels_n; i++)
		if (write_nodelet(w, i, err) != 0)
			return -1;
	for (uint32_t i = 0; i < graph->edges_n; i++)
		if (write_edge(w, &graph->edges[i], err) != 0)
			return -1;
	return 0;
}

/* agwrite wants a FILE: memory, so that what fails while writing it out is the sink's to tell. */
static int print(Agraph_t *graph, struct pp_sink *sink, struct pp_error *err)
{
	char *bytes = NULL;
	size_t n = 0;
	FILE *memory = open_memstream(&bytes, &n);
	int bad;

	if (!memory)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a graph");
	bad = agwrite(graph, memory);
	bad |= fclose(memory);
	bad = bad ? pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a graph") : pp_sink_bytes(sink, bytes, n, err);
	free(bytes);
	return bad;
}

int dotfile_write(const struct dotfile *dot, struct pp_sink *sink, struct pp_error *err)
{
	const struct pp_callgraph *graph = dot->graph;
	struct writer w = {.dot = dot, .text = PP_BUF_INIT};
	int status = -1;

	agseterr(AGMAX); /* cgraph prints to stderr by itself */
	w.total = larger(graph->total);
	w.total += w.total == 0;
	for (uint32_t i = 0; i < graph->nodes_n; i++)
		if (larger(graph->nodes[i].flat) > w.flat_max)
			w.flat_max = larger(graph->nodes[i].flat);
	w.nodes = calloc((size_t)graph->nodes_n + 1, sizeof(Agnode_t *));
	w.labels = calloc((size_t)graph->labels_n + 1, sizeof(Agnode_t *));
	w.graph = agopen(unconst("calls"), Agdirected, NULL);
	if (!w.nodes || !w.labels || !w.graph) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a graph");
		goto done;
	}
	if (build(&w, err) == 0)
		status = print(w.graph, sink, err);
done:
	if (w.graph)
		agclose(w.graph);
	free(w.nodes);
	free(w.labels);
	pp_buf_release(&w.text);
	return status;
}
