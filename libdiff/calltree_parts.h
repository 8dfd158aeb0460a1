/* What the files of calltree share. Private to them. */
#ifndef PD_CALLTREE_PARTS_H
#define PD_CALLTREE_PARTS_H

#include "libdiff/calltree.h"
#include "libdiff/pairs.h"

/* A frame called at the end of another path. The pair comes first: see pairs.h. */
struct ct_path {
	uint32_t parent, frame; /* parent PP_NONE: outermost */
};

struct pd_calltree {
	struct ct_path *paths; /* callers before callees */
	size_t paths_n, capacity, paths_max;
	size_t rows_max; /* how many may become rows */
	struct pd_pairs pairs;
};

/* calltree.c. Gives paths the frames that comparison->identity counts theirs as; the leaves follow. */
int ct_join_renamed(struct pd_calltree *tree, struct pd_comparison *comparison, struct pp_error *err) PP_MUSTUSE;
/* Leaves only the paths that become rows, those with path_min_count samples; the leaves of others move to callers. PP_ELIMIT. */
int ct_prune_small(struct pd_calltree *tree, struct pd_comparison *comparison, struct pp_error *err) PP_MUSTUSE;

#endif
