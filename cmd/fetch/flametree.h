/* A flame graph made here, of an exact profile, in the form in which servers send them: for windows that a server does not
 * take in one piece. */
#ifndef FETCH_FLAMETREE_H
#define FETCH_FLAMETREE_H

#include "cmd/fetch/querier.pb-c.h"
#include "libpprof/pprof.h"

/* By function name, inlined calls too; every stack, nothing folded. Siblings are in byte order of their names, names are
 * listed once, the root is "total". The graph is the arena's. NULL with *err. */
const Pyro__FlameGraph *flametree_make(const struct pp_profile *profile, uint32_t column, struct pp_arena *arena,
                                       struct pp_error *err) PP_MUSTUSE;

#endif
