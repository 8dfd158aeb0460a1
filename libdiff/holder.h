/* The function that holds a closure, an instance or a clone: under its name all of them are counted where
 * a change is to be explained. */
#ifndef PD_HOLDER_H
#define PD_HOLDER_H

#include "libpprof/pprof.h"

/* The name of the function that this code was written in, the same in every build: "main.f.func1" is in
 * "main.f", "main.Map[go.shape.int]" is "main.Map", "a.B.lambda$run$0" is in "a.B.run". Writes at most
 * PD_CANONICAL_MAX(name.len) bytes (canonical.h) to out and returns how many. */
size_t pd_holder(struct pp_str name, char *out);

/* A closure that has no name of its own: the function that called it, in the same file and without a
 * library in between, stands for it. */
bool pd_frame_anonymous(struct pp_str held);

#endif
