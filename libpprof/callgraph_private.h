/* The inside of making call graphs. */
#ifndef PP_CALLGRAPH_PRIVATE_H
#define PP_CALLGRAPH_PRIVATE_H

#include <math.h>

#include "libpprof/callgraph.h"

struct pp_graph_labels;
struct pp_graph_tree;

/* What becomes a node is a place: a frame, or, in a call tree, a path from the root to a frame. */

/* An edge in the making: ends are places, and `seen` is the last stack that counted it. */
struct pp_graph_edge {
	struct pp_edge e;
	uint64_t seen;
};

struct pp_graph_maker {
	const struct pp_frames *frames;
	const struct pp_graph_side *sides;
	size_t sides_n;
	size_t judged_n; /* how many of the sides decide what is important */
	const struct pp_callgraph_options *options;
	struct pp_graph_tree *tree; /* NULL: places are frames */
	uint32_t places_n;

	int64_t *load[2];      /* by stack of the side: the sum of its samples */
	unsigned char *used[2]; /* by stack: some sample of it is not 0 */
	int64_t total[2];
	int64_t whole[2]; /* what fractions are of */
	struct pp_node *all;   /* by place */
	uint32_t *rank;        /* by place: where it is in the order of names */
	unsigned char *kept;   /* by place */
	uint64_t *seen;        /* by place: the last stack that counted it */
	int64_t *score;        /* by place: one side only */
	struct pp_graph_labels *labels; /* NULL: not wanted */
	uint32_t *list;        /* kept places, by importance */
	uint32_t list_n;

	struct pp_graph_edge *edges;
	size_t edges_n, edges_capacity;
	uint32_t *slots; /* hash of (from, to): index into edges plus 1, or 0 */
	size_t slots_n;  /* a power of 2 */
};

/* A sum of a side as it counts. */
static inline int64_t pp_graph_scaled(const struct pp_graph_maker *maker, size_t s, int64_t sum)
{
	const double scale = maker->sides[s].scale;

	if (scale == 1 || scale == -1)
		return scale < 0 ? -sum : sum;
	return llround((double)sum * scale);
}

/* A number for a stack that no other stack of either side has, from 1. */
static inline uint64_t pp_graph_stamp(const struct pp_graph_maker *maker, size_t s, uint32_t stack)
{
	return (s == 0 ? 0 : (uint64_t)maker->sides[0].profile->stacks_n) + stack + 1;
}

/* The larger size of the sides that decide. */
static inline uint64_t pp_graph_magnitude(const struct pp_graph_maker *maker, const int64_t v[2])
{
	const uint64_t a = pp_abs_i64(v[0]), b = maker->judged_n > 1 ? pp_abs_i64(v[1]) : 0;

	return a > b ? a : b;
}

/* Mixes the ends of an edge or of a path. */
static inline uint64_t pp_graph_hash(uint32_t from, uint32_t to)
{
	uint64_t h = ((uint64_t)from << 32 | to) * UINT64_C(0x9e3779b97f4a7c15);

	h ^= h >> 29;
	return h * UINT64_C(0xbf58476d1ce4e5b9);
}

/* Finds the edges between kept places and puts them into their order, by weight and names. By importance,
 * those that come to nothing are left out. */
int pp_graph_collect_edges(struct pp_graph_maker *maker, struct pp_error *err) PP_MUSTUSE;

/* Takes residual edges away that repeat a path that is drawn anyway: from the last node to the first,
 * its lightest in-edges first, and never one that is heavier than a direct call of that node. Nodes
 * and edges must be in their final order. */
int pp_callgraph_remove_redundant(struct pp_callgraph *graph, struct pp_error *err) PP_MUSTUSE;

/* Finds all paths that have values, of both sides; loads must be there. Sets places_n. PP_ELIMIT: too many. */
int pp_graph_tree_make(struct pp_graph_maker *maker, struct pp_error *err) PP_MUSTUSE;
void pp_graph_tree_free(struct pp_graph_tree *tree);
uint32_t pp_graph_tree_frame(const struct pp_graph_tree *tree, uint32_t path);
/* The path of the caller, or PP_NONE. */
uint32_t pp_graph_tree_parent(const struct pp_graph_tree *tree, uint32_t path);
/* The path of a stack of the first side; the second, if it counts, is of the same profile. */
uint32_t pp_graph_tree_leaf(const struct pp_graph_tree *tree, uint32_t stack);
/* Puts paths, which come in the order of their frames' names, into that of the whole paths, callers first. */
int pp_graph_tree_sort(const struct pp_graph_tree *tree, uint32_t *order, struct pp_error *err) PP_MUSTUSE;
/* Sums a side's flat and cumulative values, not scaled. */
void pp_graph_tree_roll(struct pp_graph_maker *maker, size_t s);
/* Adds the edges between kept paths: paths that are not kept are spliced out. */
int pp_graph_tree_edges(struct pp_graph_maker *maker, struct pp_error *err) PP_MUSTUSE;

/* What samples with a label add up to at each kept place; labels of which neither value reaches the cut are
 * left out. sides[1], if any, divides. */
struct pp_graph_labels *pp_graph_labels_new(const struct pp_graph_maker *maker, uint64_t cut,
                                            struct pp_error *err) PP_MUSTUSE;
void pp_graph_labels_free(struct pp_graph_labels *labels);
/* How many there are with a flat value at a place, but no more than are drawn. */
uint32_t pp_graph_labels_count(const struct pp_graph_labels *labels, uint32_t place);
/* Fills labels of a graph whose nodes and edges are final; places are those of its nodes. */
int pp_graph_labels_attach(const struct pp_graph_labels *labels, const uint32_t *places,
                           struct pp_callgraph *graph, struct pp_error *err) PP_MUSTUSE;

#endif
