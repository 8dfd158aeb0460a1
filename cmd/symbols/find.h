/* The files behind a mapping: its program or library, and that one's debug file. */
#ifndef FIND_H
#define FIND_H

#include "cmd/cli.h"
#include "cmd/symbols/object.h"

/* Where to look. */
struct find {
	struct cli_list binaries;   /* --binary */
	struct cli_list debug_dirs; /* --debug-dir, each as /usr/lib/debug is */
	const char *sysroot;        /* --sysroot: before every name that a profile gives; NULL for none */
	bool any_build;             /* --any-build: build ids need not be equal */
	/* private */
	struct object **named; /* binaries, opened */
};

/* Opens the --binary files; says which one fails. Release in any case. */
enum cli_status find_open(struct find *find);
void find_release(struct find *find);

/* What was found. code NULL: nothing, and why says so. debug may be NULL. */
struct found {
	struct object *code;  /* the file that was mapped, or a debug file that stands for it */
	struct object *debug; /* with DWARF; may be the same */
	struct object *alt;   /* what the debug file shares with others by dwz; NULL: nothing, or not found */
	bool borrowed;        /* code belongs to struct find */
	struct pp_error why;
	char note[400];       /* something doubtful about what was found, or "" */
};

/* Looks for a mapping's file: a --binary with its build id, a --binary with its base name (main: or any when
 * there is one and the mapping has no name), its own name, a program or debug file that is filed under its build id.
 * Where both have a build id they must be equal. file and build_id are as in the profile. */
void find_code(const struct find *find, struct pp_str file, struct pp_str build_id, bool main, struct found *found);
void found_release(struct found *found);

#endif
