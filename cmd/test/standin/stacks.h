/* Stacks summed over rows: the export, and its forms cut to a size: flame graph, smaller export, DOT. */
#ifndef STANDIN_STACKS_H
#define STANDIN_STACKS_H

#include "cmd/test/standin/select.h"

#include "cmd/fetch/querier.pb-c.h"

/* What the head of an export says, as the server chose it. */
struct si_head {
	int64_t time_ns, duration_ns;
	bool names_only; /* no files and no lines, as v1 answers for spans */
};

/* The samples in scope of all rows as one profile of one sample type: labels and addresses are gone, the
 * period is invented. Without samples a profile that has none. scope->type is a whole profile type. */
struct pp_profile *si_export(const struct si_store *store, const struct si_scope *scope, const struct si_head *head,
                             struct pp_error *err) PP_MUSTUSE;

/* Stacks as a tree: a node a call path; [0] is the root. */
struct si_node {
	uint32_t key; /* what a node is: an index of a location, or of a name */
	uint32_t parent, child, next; /* indices or PP_NONE */
	int64_t self, total;
};
struct si_tree {
	struct si_node *nodes;
	size_t n, capacity;
	struct pp_arena *arena;
};

/* An export of about max_nodes locations (0: all): what is below is one location "other" a caller. */
struct pp_profile *si_cut(const struct pp_profile *profile, int64_t max_nodes, struct pp_error *err) PP_MUSTUSE;

/* The flame graph of about max_nodes functions (0: all), of memory of arena; NULL without memory. */
Pyro__FlameGraph *si_flamegraph(const struct pp_profile *profile, int64_t max_nodes, struct pp_arena *arena) PP_MUSTUSE;

/* A call graph as text, of about max_nodes functions; NULL without memory or samples. */
char *si_dot(const struct pp_profile *profile, int64_t max_nodes, struct pp_arena *arena) PP_MUSTUSE;

/* tree.c: shared by the above. */
bool si_tree_new(struct si_tree *tree, struct pp_arena *arena);
/* Adds a value at the path of these keys, root first. */
bool si_tree_add(struct si_tree *tree, const uint32_t *keys, size_t n, int64_t value);
/* The total below which nodes are folded away so that about max_nodes stay, the root counted; 0: none. */
int64_t si_tree_threshold(const struct si_tree *tree, int64_t max_nodes);

#endif
