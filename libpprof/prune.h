/* Applies a profile's own drop_frames and keep_frames, as the reference does before any report:
 * below the first user frame, the outermost location whose function matches drop and not keep is
 * cut off with everything it calls. Names are compared without their argument lists. */
#ifndef PP_PRUNE_H
#define PP_PRUNE_H

#include "libpprof/error.h"
#include "libpprof/limits.h"
#include "libpprof/profile.h"

/* Returns a new profile, or *out = NULL when there is nothing to prune (no expressions, or nothing
 * matches): use the original then. An expression that is not valid is not an error: *warning (of at
 * least 300 bytes) tells it, with the pattern and the position, and is "" otherwise. Notes are not copied. */
int pp_prune(const struct pp_profile *profile, const struct pp_limits *limits,
             struct pp_profile **out, char *warning, size_t warning_n, struct pp_error *err) PP_MUSTUSE;

/* The option prune_from: in each stack, the match nearest the leaf becomes the leaf. A function matches by
 * its name without arguments, somewhere in it. *out is NULL when nothing matches. */
int pp_prune_from(const struct pp_profile *profile, struct pp_str pattern, const struct pp_limits *limits,
                  struct pp_profile **out, struct pp_error *err) PP_MUSTUSE;

#endif
