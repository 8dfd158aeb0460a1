/* Names that a C++ or Rust compiler mangled → names for people. The only file that knows libiberty. */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include "libpprof/pprof.h"

/* What is left of a name: the modes of the reference. f<int>(int, A::B) is */
enum demangle_mode {
	DEMANGLE_SIMPLE,    /* f: neither parameters nor template arguments */
	DEMANGLE_TEMPLATES, /* f<int>: no parameters */
	DEMANGLE_FULL,      /* int f<int>(int, A::B) */
	DEMANGLE_NONE       /* as it is linked: _Z1fIiEiiN1A1BE */
};

/* Itanium C++ names, and Rust's in both manglings (the hash of the older one is left out). Suffixes that
 * compilers give to clones of a function (".cold") are left out. Sets *out to the bytes and returns true; false
 * when the name is not mangled, is broken, or would be longer than 64 KiB (names can double with each byte), or
 * without memory: then it stays as it is. mangled ends with a NUL. */
bool demangle(const char *mangled, enum demangle_mode mode, struct pp_buf *out) PP_MUSTUSE;

#endif
