/* What the files that join packages which moved share. Private to them. */
#ifndef PD_RENAME_PACKAGE_H
#define PD_RENAME_PACKAGE_H

#include "libdiff/package.h"
#include "libdiff/pairs.h"
#include "libdiff/rename_parts.h"

#define RN_NAME_BYTES_MAX 8192 /* longer names are not looked at */

struct package {
	double cost[2];         /* of its orphans */
	unsigned char sides;    /* bit 1 << side: has functions there */
	uint32_t pair;          /* that which was accepted, or PP_NONE */
	bool root;              /* the start of several packages' names, perhaps of no functions itself */
};

/* A function that one side lacks, in a package that it lacks; another rule may have joined it. */
struct orphan {
	struct pp_str rest;     /* its canonical name behind the package's */
	uint32_t package, frame;
	int64_t line;
	int side;
};

struct package_pair {
	uint32_t packages[2];   /* baseline, incident; first, for pd_pairs */
	uint32_t family;
	size_t names_n;         /* that both have */
	double common[2];       /* cost under them */
	bool open, kept;        /* may still be it; is, if its family is accepted */
};

struct family {
	size_t names_n, known_n, agreeing_n;
	double common[2], cost[2];
	bool accepted;
};

/* Two functions that are one if their packages are. */
struct supposed {
	uint32_t frame[2], family;
};

struct rn_packages {
	struct pp_arena *arena;
	struct pp_intern *names, *roots;
	struct package *packages;   /* by index of names; a file as a package has a NUL before its name */
	struct orphan *orphans;
	struct package_pair *pairs;
	struct family *families;    /* by index of roots */
	struct supposed *supposed;
	size_t packages_n, orphans_n, pairs_n, families_n, supposed_n;
	size_t packages_capacity, orphans_capacity, pairs_capacity, families_capacity, supposed_capacity;
	struct pd_pairs pair_ids;
	char *scratch;              /* for a canonical name */
};

/* rename_package.c: finds the pairs of packages that are one; afterwards each package knows its pair. */
int rn_find_packages(struct search *search, struct rn_packages *packages, struct pp_error *err) PP_MUSTUSE;
/* The rules by which names are brought to canonical form here: versions in paths stay, as two may be in one program. */
unsigned rn_package_rules(const struct search *search);
/* The index of the package of this name, which may be new; PP_NONE: no memory. */
uint32_t rn_put_package(struct rn_packages *packages, const char *text, size_t n, struct pp_error *err) PP_MUSTUSE;
/* The name that stands for a file as a package; 0 when it is too long. */
size_t rn_package_of_file(struct pp_str file, char out[RN_NAME_BYTES_MAX]);
/* One pair more, the last. */
int rn_pair_packages(struct rn_packages *packages, uint32_t baseline, uint32_t incident, uint32_t family, struct pp_error *err) PP_MUSTUSE;

#endif
