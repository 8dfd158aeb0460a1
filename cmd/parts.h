/* One sum as many profiles: a folder that appears whole, with a file a part and index.tsv, which says what they are. */
#ifndef PARTS_H
#define PARTS_H

#include "cmd/profileout.h"

enum { PARTS_MAX = 10000 }; /* files are made of what profiles say */

struct parts;
/* dir must not exist, or be empty. what: what parts are told apart by, a heading of the index. out: its path is not
 * used. dir, what and out must outlive the parts. NULL, with *status, after saying what failed. */
struct parts *parts_open(const char *dir, const char *what, struct profileout *out, const struct pp_limits *limits,
                         enum cli_status *status);

/* The name of a file for any bytes: letters, digits, ".", "_" and "-" stay, others become %XX; what is long is cut and
 * ends in ~NUMBER. prefix is put before. malloc'ed; NULL after saying that there is no memory. */
char *parts_name(const char *prefix, struct pp_str value, uint32_t number) PP_MUSTUSE;

/* Writes a part. name: that of the file, without an ending. profiles_n: of how many it is the sum. */
enum cli_status parts_add(struct parts *parts, const char *name, struct pp_str value, size_t profiles_n,
                          const struct pp_profile *profile);

/* On CLI_OK makes the folder appear, else removes what was written. Returns status, or what failed. Frees the parts. */
enum cli_status parts_finish(struct parts *parts, enum cli_status status);

#endif
