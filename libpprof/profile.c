#include "libpprof/profile.h"

#include "libpprof/arena.h"

void pp_profile_free(struct pp_profile *profile)
{
	if (profile)
		pp_arena_free(profile->arena); /* the struct itself lives there too */
}
