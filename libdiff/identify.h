/* Brings the frames of both sides together where a rebuild renamed them. Private to the comparison.
 *
 * While profiles are added, what frames have in common and who calls whom is noted; at the end renamed
 * frames are found, and the replicates' sums are moved as if they had had one name from the start. */
#ifndef PD_IDENTIFY_H
#define PD_IDENTIFY_H

#include "libdiff/compare.h"

struct pd_identify;
struct pd_identify *pd_identify_new(const struct pd_options *options, struct pp_error *err) PP_MUSTUSE;
void pd_identify_free(struct pd_identify *identify); /* NULL is fine */

/* Notes what one replicate's profile tells; map is its frame map in frames. Fills replicate->overlaps. */
int pd_identify_add(struct pd_identify *identify, struct pd_replicate *replicate, const struct pp_profile *profile,
                    uint32_t column, const struct pp_frames *frames, const struct pp_frame_map *map,
                    struct pp_error *err) PP_MUSTUSE;

/* Finds what was renamed, fills c->identity, and joins: the rollups of the replicates, which are in one
 * unit, lose frames whose cost goes to those of other names. */
int pd_identify_finish(struct pd_identify *identify, struct pd_comparison *c, struct pp_error *err) PP_MUSTUSE;

/* With the rows made: their states and other names, and what share of the cost was matched how. */
int pd_identify_mark(struct pd_comparison *c, struct pp_error *err) PP_MUSTUSE;

#endif
