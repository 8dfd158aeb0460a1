/* Where a function belongs: the package, module, namespace or class that its name begins with. */
#ifndef PD_PACKAGE_H
#define PD_PACKAGE_H

#include "libpprof/pprof.h"

/* How many bytes of a function's name are its package: "x.io/a" of Go's "x.io/a.(*T).f", "com.a" of Java's
 * "com.a.B.f", "a::b" of "a::b::f", "./a.js" of "./a.js:f". 0: the name tells none, as that of most scripts'
 * and C's functions; there the file is what they belong to. Pure. */
size_t pd_package_end(struct pp_str name, struct pp_str file);

/* Whether paths of packages go on after this byte: '/', '.', ':' and PHP's '\'. */
bool pd_package_separator(char c);

/* Removes from the end of both what parts they have in common: "x.io/a/sub" and "y.io/b/sub" become "x.io/a"
 * and "y.io/b". What was written before the first name, as '<' of Rust, is removed where both have it. */
void pd_package_roots(struct pp_str *a, struct pp_str *b);

#endif
