/* Frames by what rules make of their names: those of one group may be one function. Private to the comparison. */
#ifndef PD_RENAME_GROUPS_H
#define PD_RENAME_GROUPS_H

#include "libdiff/canonical.h"

struct pd_groups;
/* go-inline, which says little, makes no groups, whether it is among the rules or not. */
struct pd_groups *pd_groups_new(unsigned rules, uint64_t budget_bytes) PP_MUSTUSE; /* NULL: no memory */
void pd_groups_free(struct pd_groups *groups); /* NULL is fine */

/* The group of a frame: dense, from 0 on; PP_NONE: in none, for it has no name or there are no rules. *applied
 * are the rules that changed something. -1: no memory. */
int pd_groups_put(struct pd_groups *groups, const struct pp_frame *frame, uint32_t *group, unsigned *applied) PP_MUSTUSE;
uint32_t pd_groups_count(const struct pd_groups *groups);

#endif
