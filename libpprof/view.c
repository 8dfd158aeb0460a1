#include "libpprof/view.h"

#include <stdlib.h>

#include "libpprof/prune.h"
#include "libpprof/tagframe.h"
#include "libpprof/transform.h"

/* made, if there is one, instead of *profile. */
static void replace(struct pp_profile **profile, struct pp_profile *made)
{
	if (!made)
		return;
	pp_profile_free(*profile);
	*profile = made;
}

static int scale(double factor, const struct pp_limits *limits, struct pp_profile **profile, struct pp_error *err)
{
	const uint32_t n = (*profile)->sample_types_n;
	double *factors = malloc(((size_t)n + 1) * sizeof *factors);
	struct pp_profile *made;

	if (!factors)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to scale a profile");
	for (uint32_t i = 0; i < n; i++)
		factors[i] = factor;
	made = pp_scale(*profile, factors, PP_ROUND_NEAREST, limits, err);
	free(factors);
	replace(profile, made);
	return made ? 0 : -1;
}

int pp_view_prepare(const struct pp_view *view, const struct pp_limits *limits, struct pp_unmatched *unmatched,
                    struct pp_profile **profile, struct pp_error *err)
{
	struct pp_profile *made;

	if (view->scale != 0 && view->scale != 1 && scale(view->scale, limits, profile, err) != 0)
		return -1;
	if (pp_tagframe(*profile, view->tagroot, view->tagleaf, limits, unmatched, &made, err) != 0)
		return -1;
	replace(profile, made);
	return 0;
}

int pp_view_filter(const struct pp_view *view, const struct pp_limits *limits, struct pp_unmatched *unmatched,
                   struct pp_profile **profile, struct pp_error *err)
{
	struct pp_profile *made;

	if (pp_focus(*profile, &view->names, limits, unmatched, &made, err) != 0)
		return -1;
	replace(profile, made);
	if (pp_tagfilter(*profile, &view->tags, limits, unmatched, &made, err) != 0)
		return -1;
	replace(profile, made);
	if (view->prune_from && *view->prune_from) {
		if (pp_prune_from(*profile, pp_str_of(view->prune_from), limits, &made, err) != 0)
			return -1;
		replace(profile, made);
	}
	if (view->no_inlines) {
		if (!(made = pp_without_inlines(*profile, limits, err)))
			return -1;
		replace(profile, made);
	}
	if (view->trim_path && *view->trim_path) {
		if (!(made = pp_trim_paths(*profile, view->trim_path, limits, err)))
			return -1;
		replace(profile, made);
	}
	return 0;
}
