/* Debug information: addresses → functions, files and lines, inlined calls included. */
#ifndef DEBUGINFO_H
#define DEBUGINFO_H

#include "cmd/symbols/object.h"

/* One function at an address. Strings are borrowed from the struct debuginfo, "" when not known. */
struct code_frame {
	const char *name;     /* as linked (mangled), or as in the source where there is no such name */
	bool linked;          /* name is known to be as linked */
	const char *file;     /* of the line */
	int64_t line, column; /* 0: not known */
	int64_t start_line;   /* of the function; 0 where that is not known, or is in another file */
	uint64_t entry;       /* its first address, 0 when not known or inlined */
};

/* What is at one address: the innermost inlined function first, last the one that is there. */
struct code {
	const struct code_frame *frames;
	uint32_t n; /* 0: not known */
};

struct debuginfo;

/* Reads the debug information of an object, which must outlive it, as alt must: a file by dwz that it refers to, or
 * NULL. PP_EFORMAT, PP_ENOMEM. */
struct debuginfo *debuginfo_open(struct object *object, struct object *alt, struct pp_error *err) PP_MUSTUSE;
void debuginfo_close(struct debuginfo *info); /* NULL is fine */

/* Units with addresses that were asked for whose functions are in another file (-gsplit-dwarf) that was not found;
 * name: of the first such file, "" when not known. Its lines are known all the same. */
uint32_t debuginfo_split_missing(const struct debuginfo *info, const char **name);

/* Fills code[i] for n addresses of the object, sorted and distinct. Each compilation unit that holds one is
 * walked once. Names, files and lines are those that addr2line -i prints. Broken parts are left out. PP_ENOMEM;
 * PP_ELIMIT where overlapping ranges would take for ever. */
int debuginfo_resolve(struct debuginfo *info, const uint64_t *addresses, struct code *code, uint32_t n,
                  struct pp_error *err) PP_MUSTUSE;

#endif
