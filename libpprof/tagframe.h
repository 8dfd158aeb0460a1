/* Labels as frames. */
#ifndef PP_TAGFRAME_H
#define PP_TAGFRAME_H

#include "libpprof/focus.h"

/* Puts a frame for each of the label keys "k1,k2,…" on every stack: at the root, k1 outermost (tagroot),
 * or at the leaf, the last innermost (tagleaf). The frame's function is the values of the key, joined by
 * commas, strings first, numbers in a unit that fits; its file is the key. Samples without the label get a
 * frame without a name. NULL or "" is not set. A new profile in *out, or NULL there when neither is. */
int pp_tagframe(const struct pp_profile *profile, const char *tagroot, const char *tagleaf,
                const struct pp_limits *limits, struct pp_unmatched *unmatched, struct pp_profile **out,
                struct pp_error *err) PP_MUSTUSE;

#endif
