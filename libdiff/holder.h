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
 * library in between, stands for it where it was written in that function. */
bool pd_frame_anonymous(struct pp_str held);

/* Go names a closure by the function that it was written in, after the one that this was inlined into: held, of
 * "main.(*Shop).list.byRank.func1", is "main.(*Shop).list.byRank". Where it is such a name, brings held to what it was
 * written in, "main.byRank", writes the other, "main.(*Shop).list", to outer, which has room for *n bytes, and returns
 * its length; else 0. "main.a.b" may also be a method b of a type a: then held stays. */
size_t pd_closure_inlined(struct pp_str name, char *held, size_t *n, char *outer);

#endif
