/* The calling-context tree of both sides: every path of calls is compared like a frame, and tested from its
 * callers down. Private to the comparison. */
#ifndef PD_CALLTREE_H
#define PD_CALLTREE_H

#include "libdiff/matrix.h"

struct pd_calltree;
/* max_bytes bounds what is kept of paths. */
struct pd_calltree *pd_calltree_new(uint64_t max_bytes, struct pp_error *err) PP_MUSTUSE;
void pd_calltree_free(struct pd_calltree *tree); /* NULL is fine */

/* Adds the paths of one replicate's profile and fills replicate->leaves; map is its frame map, and its rollup is
 * made. PP_ELIMIT. */
int pd_calltree_add(struct pd_calltree *tree, struct pd_replicate *replicate, const struct pp_profile *profile,
                    uint32_t column, const struct pp_frame_map *map, struct pp_error *err) PP_MUSTUSE;

/* Fills comparison->paths, tested with the exposures of matrix, which is that of the rows; the rows are tested. */
int pd_calltree_finish(struct pd_calltree *tree, struct pd_comparison *comparison, const struct pd_matrix *matrix,
                       struct pp_error *err) PP_MUSTUSE;

#endif
