/* The inside of making call graphs. */
#ifndef PP_CALLGRAPH_PRIVATE_H
#define PP_CALLGRAPH_PRIVATE_H

#include "libpprof/callgraph.h"

/* Takes residual edges away that repeat a path that is drawn anyway: from the last node to the first,
 * its lightest in-edges first, and never one that is heavier than a direct call of that node. Nodes
 * and edges must be in their final order. */
int pp_callgraph_remove_redundant(struct pp_callgraph *graph, struct pp_error *err) PP_MUSTUSE;

#endif
