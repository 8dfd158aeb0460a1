/* The call graph of one profile, or of two that are compared: frames as nodes, calls as edges, cut to
 * a size that can be drawn. Both sides are counted over the union of nodes, so that what vanished
 * stays visible. */
#ifndef PP_CALLGRAPH_H
#define PP_CALLGRAPH_H

#include "libpprof/rollup.h"

struct pp_node {
	uint32_t frame;
	int64_t flat[2], cum[2]; /* [0] the profile, or the incident side; [1] the baseline, 0 without one */
};

struct pp_edge {
	uint32_t from, to; /* indices of kept nodes: caller, callee */
	int64_t weight[2]; /* cumulative through this call, counted once a sample */
	bool residual;     /* frames between the two were cut */
	bool inlined;      /* every contribution is an inlined call */
};

enum pp_graph_order {
	PP_GRAPH_BY_IMPORTANCE, /* for a drawing: what a reader should see first */
	PP_GRAPH_BY_FLAT,       /* for a text, as pp_rollup_order */
	PP_GRAPH_BY_CUM
};

/* Shares are of the sum of all nodes' flat values, as in the reference; of each side's total where two are
 * compared. */
struct pp_callgraph_options {
	uint32_t node_limit;    /* keep at most so many nodes; 0 = all */
	double node_fraction;   /* drop nodes with |cum| below this share, on both sides */
	double edge_fraction;   /* drop edges below this share */
	enum pp_graph_order order;
	bool drop_negative;     /* drop nodes below 0 */
	bool divisor;           /* sides[1] is not compared with: it only counts, to divide sides[0] by */
	bool labels;            /* of one side, by importance: with labels, each of which counts as a node */
	bool tree;              /* a node for each path from a root, so that each has one caller at most */
};
#define PP_CALLGRAPH_OPTIONS_DEFAULT {80, 0.005, 0.001, PP_GRAPH_BY_IMPORTANCE, false, false, false, false}

/* Labels of samples at a function, or at other labels: as the reference, all strings of a sample together
 * ("key:value", a line each), and of numbers those with the key "bytes", in up to four groups. */
struct pp_nodelet {
	uint32_t node;
	uint32_t parent; /* index of the label at which this one hangs; PP_NONE: the function */
	struct pp_str text;
	int64_t value;   /* flat where the function calls others in the graph, else cumulative */
	bool partial;    /* some of the value is spent in functions that are not in the graph */
};

/* By flat and by cum, edges that repeat a path and edges of weight 0 stay, and so do calls of functions
 * that come to nothing, unless others were dropped: those are nodes after the first nodes_n. */
struct pp_callgraph {
	struct pp_node *nodes; /* in order */
	uint32_t nodes_n, ghosts_n;
	struct pp_edge *edges; /* |weight| descending, then labels of caller and callee */
	uint32_t edges_n;
	int64_t total[2];       /* sum of |value| a side */
	struct pp_nodelet *labels; /* parents come first */
	uint32_t labels_n;
	struct pp_arena *arena; /* owns labels and their texts */
	uint32_t nodes_all_n;   /* before cutting */
	uint32_t nodes_dropped_n, edges_dropped_n;
};

/* One side of the graph: a profile with its map into the common frame set. Its sums are multiplied by
 * scale and rounded half away from zero. keep, if not NULL, has a byte a sample: rows with 0 are left
 * out. */
struct pp_graph_side {
	const struct pp_profile *profile;
	const struct pp_frame_map *map;
	uint32_t column;
	double scale;
	const unsigned char *keep;
};

/* sides: one, or incident then baseline. With two, a node's importance is its change. PP_ELIMIT: a call tree
 * with too many paths, or more edges than can be counted. */
int pp_callgraph_make(const struct pp_frames *frames, const struct pp_graph_side *sides,
                      size_t sides_n, const struct pp_callgraph_options *options,
                      struct pp_callgraph *graph, struct pp_error *err) PP_MUSTUSE;
void pp_callgraph_release(struct pp_callgraph *graph);

#endif
