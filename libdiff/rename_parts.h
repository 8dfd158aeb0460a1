/* What the files of rename share. Private to them. */
#ifndef PD_RENAME_PARTS_H
#define PD_RENAME_PARTS_H

#include "libdiff/rename.h"

#define LEAST_SCORE 0.7 /* to be recognised by structure */
#define MEMBERS_MAX PD_MATCH_MAX

/* Frames of one group, or of one name, by side; sorted by name. */
struct members {
	uint32_t only[2][MEMBERS_MAX]; /* that the other side lacks and that are not joined yet */
	size_t only_n[2];
	uint32_t both[MEMBERS_MAX];
	size_t both_n;
	bool too_many;
};

struct search {
	struct pd_renames *r;
	struct pd_matcher *matcher;    /* NULL: calls are not known */
	unsigned char *wanted[2];      /* by frame: the matcher knows it */
	unsigned char *joined[2];      /* by frame: is in some rename already */
	uint32_t *same[2];             /* as to, as it was when the pass began: the order of groups must not show */
	uint32_t *order;               /* frames, sorted for the pass at hand */
	size_t order_n;
	struct members *members;
	const struct rn_packages *packages; /* of rename_moved.c, in its passes: names are compared with packages replaced; else NULL */
};

/* Sorting by a key, then by the frame's own order: the order of profiles never shows. */
struct keyed {
	const struct pp_frames *frames;
	struct pp_str key;
	uint64_t number;
	uint32_t frame;
};
int rn_compare_keyed(const void *left, const void *right);

/* rename.c. After a pass: what it found counts from now on. */
void rn_end_pass(struct search *search);
/* Sorts the first search->order_n of keyed, and search->order with them. */
void rn_sort_keyed(struct search *search, struct keyed *keyed);
/* Calls fn for every run of several equal keys. */
typedef int (*rn_run)(struct search *search, size_t from, size_t to, struct pp_error *err);
int rn_each_run(struct search *search, const struct keyed *keyed, rn_run fn, struct pp_error *err) PP_MUSTUSE;
/* Makes search->members of the frames order[from … to). */
void rn_gather(struct search *search, size_t from, size_t to);
uint64_t rn_hash_of_basename(struct pp_str path);
/* The rules that bring names to canonical form, but for go-inline, which says little. */
unsigned rn_name_rules(const struct search *search);

/* rename_pairs.c. Only this side has the frame, and it is not joined yet. */
bool rn_is_orphan(const struct search *search, int side, uint32_t frame);
/* It was seen often enough on this side to say what it does. */
bool rn_enough(const struct search *search, int side, uint32_t frame);
/* The canonical form of name and file, into PD_CANONICAL_MAX(name.len) + 1 + file.len bytes. */
size_t rn_canonical_key(const struct pp_frame *frame, unsigned rules, char *out);
/* How alike two frames are by what was known when the pass began; false when the matcher does not know them. */
bool rn_compare(const struct search *search, uint32_t baseline, uint32_t incident, struct pd_likeness *likeness);

/* Records a rename, joined if by rules (or asked for); likeness may be NULL. */
int rn_join(struct search *search, uint32_t baseline, uint32_t incident, unsigned rules, const struct pd_likeness *likeness,
            struct pp_error *err) PP_MUSTUSE;
/* The same for two of search->members, which they leave; the rules that were needed are found. */
int rn_join_members(struct search *search, uint32_t baseline, uint32_t incident, unsigned rules,
                    const struct pd_likeness *likeness, struct pp_error *err) PP_MUSTUSE;
/* Pairs members that a side lacks, by lines, by structure, and where but one of each side is left. */
int rn_pair_members(struct search *search, unsigned rules, struct pp_error *err) PP_MUSTUSE;
int rn_pair_the_last(struct search *search, unsigned rules, struct pp_error *err) PP_MUSTUSE;
int rn_exchange_closures(struct search *search, unsigned rules, struct pp_error *err) PP_MUSTUSE;
/* Whether the frames order[from … to) are to be one row; and makes them one. */
bool rn_folds(const struct search *search, size_t from, size_t to, unsigned applied);
int rn_fold(struct search *search, size_t from, size_t to, unsigned applied, struct pp_error *err) PP_MUSTUSE;

/* rename_moved.c: finds packages that moved, and joins their functions. */
int rn_join_packages(struct search *search, struct keyed *keyed, struct pp_error *err) PP_MUSTUSE;
/* A name, canonical or not, with each package that moved replaced by what stands for it and for the package that
 * it became, into RN_PACKAGE_KEY_MAX(name.len) bytes. *replaced: there was one. */
#define RN_PACKAGE_KEY_MAX(n) (3 * (n) + 8)
size_t rn_package_key(const struct rn_packages *packages, int side, struct pp_str name, struct pp_str file, char *out, bool *replaced);

/* rename_match.c: looks for renames by structure among what is left. keyed is scratch, one a frame. */
int rn_match_structure(struct search *search, struct keyed *keyed, struct pp_error *err) PP_MUSTUSE;

#endif
