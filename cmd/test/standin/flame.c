/* Flame graphs, and call graphs as DOT. */
#include "cmd/test/standin/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A tree by function name that is being written out. */
struct flame {
	struct si_tree tree;
	struct pp_intern *names;   /* keys of the tree */
	int64_t threshold;
	uint32_t *name_index;      /* by key: index in the answer, or PP_NONE */
	uint32_t other_index;
	struct pp_arena *arena;
	Pyro__FlameGraph *graph;
};

/* What a row of the answer holds: a node of the tree (PP_NONE: "other") and where its box begins. */
struct box {
	uint32_t node;
	int64_t x, total;
};
struct boxes {
	struct box *at;
	size_t n;
};

static uint32_t key_of(struct flame *f, struct pp_str name)
{
	return pp_intern_put(f->names, name.ptr, name.len, NULL);
}

static bool add_sample(struct flame *f, const struct pp_profile *p, uint32_t sample)
{
	const struct pp_stack *stack = pp_sample_stack(p, sample);
	size_t n = 0, most = 0;

	for (uint32_t i = 0; i < stack->n; i++)
		most += p->locations[stack->locations[i]].lines_n;
	uint32_t *keys = pp_arena_alloc(f->arena, (most + 1) * sizeof(keys[0]));
	for (uint32_t i = stack->n; keys && i-- > 0;) {
		const struct pp_location *location = &p->locations[stack->locations[i]];
		for (uint32_t l = location->lines_n; l-- > 0;)
			keys[n++] = key_of(f, pp_string(p, p->functions[p->lines[location->line_first + l].function].name));
	}
	return keys && si_tree_add(&f->tree, keys, n, pp_value(p, sample, 0));
}

static bool grow_tree(struct flame *f, const struct pp_profile *p, int64_t max_nodes)
{
	bool good = f->names && si_tree_new(&f->tree, f->arena);

	for (uint32_t s = 0; good && s < p->samples_n; s++)
		good = add_sample(f, p, s);
	f->threshold = good ? si_tree_threshold(&f->tree, max_nodes) : 0;
	return good;
}

/* The children of a box that stay, by name, then "other". */
static size_t children_of(struct flame *f, uint32_t node, struct box *out)
{
	const struct si_node *nodes = f->tree.nodes;
	int64_t folded = 0;
	size_t n = 0;

	if (node == PP_NONE)
		return 0;
	for (uint32_t c = nodes[node].child; c != PP_NONE; c = nodes[c].next) {
		if (nodes[c].total < f->threshold) {
			folded += nodes[c].total;
			continue;
		}
		size_t at = n++;
		for (; at > 0 && pp_str_cmp(pp_intern_at(f->names, nodes[out[at - 1].node].key),
		                            pp_intern_at(f->names, nodes[c].key)) > 0; at--)
			out[at] = out[at - 1];
		out[at] = (struct box){.node = c, .total = nodes[c].total};
	}
	if (folded)
		out[n++] = (struct box){.node = PP_NONE, .total = folded};
	return n;
}

static bool add_name(struct flame *f, struct pp_str name)
{
	f->graph->names[f->graph->n_names] = pp_arena_copy(f->arena, name.ptr, name.len);
	return f->graph->names[f->graph->n_names++];
}

/* Names are numbered as a walk meets them that takes the last child first. */
static bool number_names(struct flame *f)
{
	uint32_t *todo = pp_arena_alloc(f->arena, (2 * f->tree.n + 2) * sizeof(todo[0]));
	struct box *children = pp_arena_alloc(f->arena, (f->tree.n + 1) * sizeof(children[0]));
	size_t n = 1;

	if (!todo || !children)
		return false;
	todo[0] = 0;
	while (n > 0) {
		uint32_t node = todo[--n], key = node == PP_NONE ? PP_NONE : f->tree.nodes[node].key;
		uint32_t *index = node == PP_NONE ? &f->other_index : node ? &f->name_index[key] : NULL;
		if (index && *index == PP_NONE) {
			*index = (uint32_t)f->graph->n_names;
			if (!add_name(f, node == PP_NONE ? PP_LIT("other") : pp_intern_at(f->names, key)))
				return false;
		}
		size_t children_n = children_of(f, node, children);
		for (size_t i = 0; i < children_n; i++)
			todo[n++] = children[i].node;
	}
	return true;
}

static bool add_level(struct flame *f, const struct boxes *boxes)
{
	Pyro__Level *level = pp_arena_alloc(f->arena, sizeof(*level));
	int64_t edge = 0, *values = pp_arena_alloc(f->arena, boxes->n * 4 * sizeof(values[0]));

	if (!level || !values)
		return false;
	pyro__level__init(level);
	level->values = values;
	for (size_t i = 0; i < boxes->n; i++) {
		const struct box *box = &boxes->at[i];
		const struct si_node *node = box->node == PP_NONE ? NULL : &f->tree.nodes[box->node];
		int64_t self = node ? node->self : box->total;
		values[level->n_values++] = box->x - edge;
		values[level->n_values++] = box->total;
		values[level->n_values++] = self;
		values[level->n_values++] = !node ? f->other_index : box->node ? f->name_index[node->key] : 0;
		edge = box->x + box->total;
		if (self > f->graph->max_self)
			f->graph->max_self = self;
	}
	f->graph->levels[f->graph->n_levels++] = level;
	return true;
}

static bool write_levels(struct flame *f)
{
	struct boxes now = {NULL, 1}, next = {NULL, 0};
	size_t most = 2 * f->tree.n + 2;

	now.at = pp_arena_alloc(f->arena, most * sizeof(now.at[0]));
	next.at = pp_arena_alloc(f->arena, most * sizeof(next.at[0]));
	if (!now.at || !next.at)
		return false;
	now.at[0] = (struct box){.node = 0, .total = f->tree.nodes[0].total};
	while (now.n > 0) {
		if (!add_level(f, &now))
			return false;
		next.n = 0;
		for (size_t i = 0; i < now.n; i++) {
			size_t n = children_of(f, now.at[i].node, next.at + next.n);
			int64_t x = now.at[i].x + (now.at[i].node == PP_NONE ? 0 : f->tree.nodes[now.at[i].node].self);
			for (size_t k = 0; k < n; k++) {
				next.at[next.n + k].x = x;
				x += next.at[next.n + k].total;
			}
			next.n += n;
		}
		struct boxes swap = now;
		now = next;
		next = swap;
	}
	return true;
}

Pyro__FlameGraph *si_flamegraph(const struct pp_profile *profile, int64_t max_nodes, struct pp_arena *arena)
{
	struct flame f = {.names = pp_intern_new(arena), .arena = arena, .other_index = PP_NONE};
	bool good = grow_tree(&f, profile, max_nodes);

	f.graph = pp_arena_alloc(arena, sizeof(*f.graph));
	if (good && f.graph) {
		size_t names_n = pp_intern_count(f.names);
		pyro__flame_graph__init(f.graph);
		f.graph->names = pp_arena_alloc(arena, (names_n + 2) * sizeof(f.graph->names[0]));
		f.graph->levels = pp_arena_alloc(arena, (f.tree.n + 2) * sizeof(f.graph->levels[0]));
		f.name_index = pp_arena_alloc(arena, (names_n + 1) * sizeof(f.name_index[0]));
		good = f.graph->names && f.graph->levels && f.name_index;
		if (good) {
			memset(f.name_index, 0xff, (names_n + 1) * sizeof(f.name_index[0]));
			f.graph->total = f.tree.nodes[0].total;
			good = add_name(&f, PP_LIT("total")) && number_names(&f) && write_levels(&f);
		}
	}
	pp_intern_free(f.names);
	return good ? f.graph : NULL;
}

/* ---- DOT ---- */

/* Enough of the server's text for a client to tell nodes and edges. */
static int write_dot(const struct pp_callgraph *graph, const struct pp_frames *frames, struct pp_sink *out, struct pp_error *err)
{
	bool bad = pp_sink_str(out, "digraph \"unnamed\" {\nnode [style=filled fillcolor=\"#f8f8f8\"]\n", err) != 0;

	for (uint32_t i = 0; !bad && i < graph->nodes_n; i++) {
		struct pp_str name = pp_frames_label(frames, graph->nodes[i].frame);
		bad = pp_sink_printf(out, err, "N%" PRIu32 " [label=\"%.*s\\n%" PRIi64 " of %" PRIi64
		                     "\" id=\"node%" PRIu32 "\" shape=box tooltip=\"%.*s\"]\n", i + 1, (int)name.len, name.ptr,
		                     graph->nodes[i].flat[0], graph->nodes[i].cum[0], i + 1, (int)name.len, name.ptr) != 0;
	}
	for (uint32_t i = 0; !bad && i < graph->edges_n; i++)
		bad = pp_sink_printf(out, err, "N%" PRIu32 " -> N%" PRIu32 " [label=\" %" PRIi64 "\"]\n", graph->edges[i].from + 1,
		                     graph->edges[i].to + 1, graph->edges[i].weight[0]) != 0;
	return bad || pp_sink_str(out, "}\n", err) != 0 ? -1 : 0;
}

char *si_dot(const struct pp_profile *profile, int64_t max_nodes, struct pp_arena *arena)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_frames *frames = pp_frames_new(PP_BY_FUNCTIONS, &err);
	struct pp_callgraph_options options = {.node_limit = max_nodes > 0 ? (uint32_t)max_nodes : 100};
	struct pp_frame_map map;
	struct pp_callgraph graph;
	struct pp_buf text = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&text);
	char *dot = NULL;

	if (profile->samples_n > 0 && frames && pp_frames_map(frames, profile, &map, &err) == 0) {
		struct pp_graph_side side = {.profile = profile, .map = &map, .scale = 1};
		if (pp_callgraph_make(frames, &side, 1, &options, &graph, &err) == 0) {
			if (write_dot(&graph, frames, &sink, &err) == 0)
				dot = pp_arena_copy(arena, text.bytes, text.n);
			pp_callgraph_release(&graph);
		}
		pp_frame_map_release(&map);
	}
	pp_buf_release(&text);
	pp_frames_free(frames);
	return dot;
}
