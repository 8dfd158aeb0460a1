#include "cmd/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names are written once, as "(1) name", and then as "(1)". */
enum { OBJECTS, FILES, FUNCTIONS, KINDS_N };

/* In a tree: which of the functions of this name, from 1. */
struct namesake {
	uint32_t number, of;
};

struct writer {
	const struct viewed *viewed;
	struct pp_sink *sink;
	struct pp_error *err;
	struct pp_frames *frames;
	struct pp_callgraph graph;
	struct pp_str *objects; /* by frame: the binary */
	bool tree;
	struct namesake *namesakes; /* by node, of a tree; else NULL */
	struct pp_buf text;     /* of a name in the making */
	struct pp_arena *arena; /* of the names */
	struct pp_intern *names[KINDS_N];
	uint32_t *edges;   /* indices, by caller, in order of weight within */
	uint32_t *first;   /* by node: where its edges begin */
	struct export_sums sums;
	unsigned char *keep[2]; /* by sample: whether its stack is on this side; NULL where none is below 0 */
};

static int no_memory(struct writer *w)
{
	if (w->arena && pp_arena_over(w->arena))
		return pp_fail(w->err, PP_ELIMIT, PP_NO_OFFSET, "needs more memory to write than is allowed");
	return pp_fail(w->err, PP_ENOMEM, PP_NO_OFFSET, "no memory to write callgrind's format");
}

/* ---- what to write ---- */

/* The binaries that frames are in: of several, the first. */
static int find_objects(struct writer *w, const struct pp_frame_map *map)
{
	const struct pp_profile *p = w->viewed->profile;
	w->objects = calloc((size_t)pp_frames_count(w->frames) + 1, sizeof *w->objects);
	if (!w->objects)
		return no_memory(w);
	for (uint32_t l = 0; l < p->locations_n; l++)
		for (uint32_t i = map->first[l]; i < map->first[l + 1] && p->locations[l].mapping != PP_NONE; i++)
			if (!w->objects[map->frame[i]].ptr)
				w->objects[map->frame[i]] = pp_string(p, p->mappings[p->locations[l].mapping].filename);
	return 0;
}

static bool has_decreases(const struct writer *w)
{
	return w->sums.sides[1] != 0;
}

/* Costs on the way to what went down must not be made less by what went up: each side is a graph of its own. */
static int split_sides(struct writer *w)
{
	const struct pp_profile *p = w->viewed->profile;
	if (export_sums_make(w->viewed, &w->sums, w->err) != 0)
		return -1;
	for (int side = 0; side < 2 && has_decreases(w); side++) {
		w->keep[side] = malloc((size_t)p->samples_n + 1);
		if (!w->keep[side])
			return no_memory(w);
		for (uint32_t s = 0; s < p->samples_n; s++)
			w->keep[side][s] = (w->sums.of[p->sample_stack[s]] < 0) == (side == 1);
	}
	return 0;
}

static int make_graph(struct writer *w)
{
	struct pp_callgraph_options options = PP_CALLGRAPH_OPTIONS_DEFAULT;
	struct pp_frame_map map;
	options.node_limit = 0;
	options.node_fraction = options.edge_fraction = 0;
	options.order = PP_GRAPH_BY_FLAT;
	options.tree = w->tree;
	w->frames = pp_frames_new(PP_BY_ADDRESSES, w->err);
	if (!w->frames || pp_frames_map(w->frames, w->viewed->profile, &map, w->err) != 0)
		return -1;
	const struct pp_graph_side sides[2] = {
		{w->viewed->profile, &map, w->viewed->column, 1, w->keep[0]},
		{w->viewed->profile, &map, w->viewed->column, -1, w->keep[1]},
	};
	int result = find_objects(w, &map);
	if (result == 0)
		result = pp_callgraph_make(w->frames, sides, has_decreases(w) ? 2 : 1, &options, &w->graph, w->err);
	pp_frame_map_release(&map);
	return result;
}

/* Edges by caller; the graph has them by weight. */
static int sort_edges(struct writer *w)
{
	const struct pp_callgraph *g = &w->graph;
	const size_t nodes_n = (size_t)g->nodes_n + g->ghosts_n;
	w->first = calloc(nodes_n + 2, sizeof *w->first);
	w->edges = calloc((size_t)g->edges_n + 1, sizeof *w->edges);
	if (!w->first || !w->edges)
		return no_memory(w);
	for (uint32_t i = 0; i < g->edges_n; i++)
		w->first[g->edges[i].from + 2]++;
	for (size_t i = 2; i < nodes_n + 2; i++)
		w->first[i] += w->first[i - 1];
	for (uint32_t i = 0; i < g->edges_n; i++)
		w->edges[w->first[g->edges[i].from + 1]++] = i;
	return 0;
}

static const struct pp_frame *frame_of(const struct writer *w, uint32_t node)
{
	return pp_frames_at(w->frames, w->graph.nodes[node].frame);
}

/* ---- a tree ---- */

/* What namesakes are told apart with: by id, in the order of nodes. */
struct counter {
	struct pp_intern *texts, *names, *functions;
	uint32_t *caller;   /* by node, or PP_NONE */
	uint32_t *names_n;  /* by name and file: functions of that name */
	uint32_t *number;   /* by function */
};

static uint32_t put_text(struct counter *counter, struct pp_str text)
{
	return pp_intern_put(counter->texts, text.len > 0 ? text.ptr : "", text.len, NULL);
}

/* A function is a name and a file below one path, at however many addresses. */
static int count_function(struct writer *w, struct counter *counter, uint32_t node)
{
	const struct pp_frame *frame = frame_of(w, node);
	const uint32_t texts[] = {put_text(counter, frame->name), put_text(counter, frame->file)};
	bool is_new;
	if (texts[0] == PP_NONE || texts[1] == PP_NONE)
		return no_memory(w);
	const uint32_t name = pp_intern_put(counter->names, texts, sizeof texts, NULL);
	const uint32_t key[] = {name, counter->caller[node]};
	const uint32_t function = name == PP_NONE ? PP_NONE : pp_intern_put(counter->functions, key, sizeof key, &is_new);
	if (function == PP_NONE)
		return no_memory(w);
	if (is_new)
		counter->number[function] = ++counter->names_n[name];
	w->namesakes[node] = (struct namesake){counter->number[function], name};
	return 0;
}

static int count_functions(struct writer *w, struct counter *counter, uint32_t nodes_n)
{
	if (!counter->texts || !counter->names || !counter->functions || !counter->caller || !counter->names_n ||
	    !counter->number || !w->namesakes)
		return no_memory(w);
	for (uint32_t i = 0; i < nodes_n; i++)
		counter->caller[i] = PP_NONE;
	for (uint32_t i = 0; i < w->graph.edges_n; i++)
		counter->caller[w->graph.edges[i].to] = w->graph.edges[i].from;
	for (uint32_t i = 0; i < nodes_n; i++)
		if (count_function(w, counter, i) != 0)
			return -1;
	for (uint32_t i = 0; i < nodes_n; i++)
		w->namesakes[i].of = counter->names_n[w->namesakes[i].of];
	return 0;
}

/* Functions are known by name and file: those that are reached on several paths get a number. */
static int find_namesakes(struct writer *w)
{
	const uint32_t nodes_n = w->graph.nodes_n + w->graph.ghosts_n;
	const size_t n = (size_t)nodes_n + 1;
	struct counter counter = {pp_intern_new(w->arena), pp_intern_new(w->arena), pp_intern_new(w->arena),
	                          calloc(n, sizeof *counter.caller), calloc(n, sizeof *counter.names_n),
	                          calloc(n, sizeof *counter.number)};
	w->namesakes = calloc(n, sizeof *w->namesakes);
	int result = count_functions(w, &counter, nodes_n);
	pp_intern_free(counter.texts);
	pp_intern_free(counter.names);
	pp_intern_free(counter.functions);
	free(counter.caller);
	free(counter.names_n);
	free(counter.number);
	return result;
}

/* ---- lines ---- */

static int write_name(struct writer *w, const char *field, int kind, struct pp_str name)
{
	bool is_new;
	char text[4000];
	if (name.len == 0)
		name = PP_LIT("???");
	uint32_t i = pp_intern_put(w->names[kind], name.ptr, name.len, &is_new);
	if (i == PP_NONE)
		return no_memory(w);
	if (!is_new)
		return pp_sink_printf(w->sink, w->err, "%s=(%u)\n", field, (unsigned)i + 1);
	return pp_sink_printf(w->sink, w->err, "%s=(%u) %s\n", field, (unsigned)i + 1,
	                      pp_printable(text, sizeof text, name.ptr, name.len));
}

/* Code without a name is a function by its address. */
static struct pp_str function_name(const struct pp_frame *frame, char *out, size_t out_n)
{
	if (frame->name.len > 0 || frame->address == 0)
		return frame->name;
	struct pp_str prefix = PP_LIT("0x");
	size_t n = prefix.len;
	uint64_t rest = frame->address;
	int digits = 1;
	while (rest >>= 4)
		digits++;
	memcpy(out, prefix.ptr, n);
	for (int i = digits - 1; i >= 0 && n < out_n; i--)
		out[n++] = "0123456789abcdef"[frame->address >> (4 * i) & 15];
	return (struct pp_str){out, n};
}

static int write_function(struct writer *w, const char *field, uint32_t node)
{
	char address[32], number[32];
	struct pp_str name = function_name(frame_of(w, node), address, sizeof address);
	if (!w->namesakes || w->namesakes[node].of < 2)
		return write_name(w, field, FUNCTIONS, name);
	if (name.len == 0)
		name = PP_LIT("???");
	snprintf(number, sizeof number, " [%u/%u]", (unsigned)w->namesakes[node].number, (unsigned)w->namesakes[node].of);
	w->text.n = 0;
	if (pp_buf_append(&w->text, name.ptr, name.len, w->err) != 0 ||
	    pp_buf_append(&w->text, number, strlen(number), w->err) != 0)
		return -1;
	return write_name(w, field, FUNCTIONS, (struct pp_str){w->text.bytes, w->text.n});
}

/* Lines below 0 would be read as relative to the line before. */
static int write_position(struct writer *w, const char *before, const struct pp_frame *frame)
{
	return pp_sink_printf(w->sink, w->err, "%s0x%llx %lld", before, (unsigned long long)frame->address,
	                      frame->line > 0 ? (long long)frame->line : 0LL);
}

/* The end of a line: a cost for each event. */
static int write_costs(struct writer *w, const int64_t costs[2])
{
	if (!has_decreases(w))
		return pp_sink_printf(w->sink, w->err, " %lld\n", (long long)costs[0]);
	return pp_sink_printf(w->sink, w->err, " %lld %lld\n", (long long)costs[0], (long long)costs[1]);
}

static int write_call(struct writer *w, const struct pp_frame *caller, const struct pp_edge *edge)
{
	const struct pp_frame *callee = frame_of(w, edge->to);
	if (write_name(w, "cob", OBJECTS, w->objects[w->graph.nodes[edge->to].frame]) != 0 ||
	    write_name(w, "cfl", FILES, callee->file) != 0 ||
	    write_function(w, "cfn", edge->to) != 0 ||
	    write_position(w, "calls=0 ", callee) != 0 || pp_sink_str(w->sink, "\n", w->err) != 0)
		return -1;
	return write_position(w, "", caller) != 0 ? -1 : write_costs(w, edge->weight);
}

static int write_node(struct writer *w, uint32_t node)
{
	const struct pp_frame *frame = frame_of(w, node);
	if (pp_sink_str(w->sink, "\n", w->err) != 0 ||
	    write_name(w, "ob", OBJECTS, w->objects[w->graph.nodes[node].frame]) != 0 ||
	    write_name(w, "fl", FILES, frame->file) != 0 ||
	    write_function(w, "fn", node) != 0 ||
	    write_position(w, "", frame) != 0 || write_costs(w, w->graph.nodes[node].flat) != 0)
		return -1;
	for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++)
		if (write_call(w, frame, &w->graph.edges[w->edges[i]]) != 0)
			return -1;
	return 0;
}

/* "cpu(nanoseconds)": one word. */
static int write_event(struct writer *w, const char *suffix)
{
	struct pp_str parts[] = {pp_sample_type_name(w->viewed->profile, w->viewed->column),
	                         pp_sample_type_unit(w->viewed->profile, w->viewed->column)};
	char text[2][400];
	for (int i = 0; i < 2; i++) {
		pp_printable(text[i], sizeof text[i], parts[i].ptr, parts[i].len);
		for (char *c = text[i]; *c; c++)
			if (*c == ' ')
				*c = '_';
	}
	return pp_sink_printf(w->sink, w->err, " %s%s(%s)", text[0], suffix, text[1]);
}

static int write_head(struct writer *w)
{
	if (pp_sink_str(w->sink, "# callgrind format\nversion: 1\ncreator: pprof-export " VERSION "\n", w->err) != 0 ||
	    pp_sink_str(w->sink, "positions: instr line\nevents:", w->err) != 0 ||
	    write_event(w, "") != 0 || (has_decreases(w) && write_event(w, "_decrease") != 0))
		return -1;
	return pp_sink_str(w->sink, "\nsummary:", w->err) != 0 ? -1 : write_costs(w, w->sums.sides);
}

static int write_all(struct writer *w)
{
	w->arena = pp_arena_new(w->viewed->limits.model_bytes);
	for (int i = 0; i < KINDS_N; i++)
		if (!w->arena || !(w->names[i] = pp_intern_new(w->arena)))
			return no_memory(w);
	if (split_sides(w) != 0 || make_graph(w) != 0 || sort_edges(w) != 0 || (w->tree && find_namesakes(w) != 0))
		return -1;
	if (write_head(w) != 0)
		return -1;
	for (uint32_t i = 0; i < w->graph.nodes_n + w->graph.ghosts_n; i++)
		if (write_node(w, i) != 0)
			return -1;
	return 0;
}

int export_callgrind(const struct viewed *viewed, bool tree, struct pp_sink *sink, struct pp_error *err)
{
	struct writer w = {.viewed = viewed, .tree = tree, .sink = sink, .err = err, .text = PP_BUF_INIT};
	int result = write_all(&w);
	for (int i = 0; i < KINDS_N; i++)
		pp_intern_free(w.names[i]);
	pp_arena_free(w.arena);
	export_sums_release(&w.sums);
	free(w.keep[0]);
	free(w.keep[1]);
	free(w.objects);
	free(w.namesakes);
	pp_buf_release(&w.text);
	free(w.edges);
	free(w.first);
	pp_callgraph_release(&w.graph);
	pp_frames_free(w.frames);
	return result;
}
