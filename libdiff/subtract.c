#include "libdiff/subtract.h"

int pd_subtract_add(struct pp_merge *difference, enum pd_side side, const struct pp_profile *profile,
                    struct pp_error *err)
{
	static const struct pp_merge_label base = {PD_BASE_KEY, PD_BASE_VALUE};

	if (side == PD_BASELINE)
		return pp_merge_add(difference, profile, -1, &base, err);
	return pp_merge_add(difference, profile, 1, NULL, err);
}
