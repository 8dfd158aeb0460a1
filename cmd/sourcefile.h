/* Source files on disk, found by the names that profiles have for them. Profiles are hostile, so only what
 * lies in the folders that the user named is opened. */
#ifndef SOURCEFILE_H
#define SOURCEFILE_H

#include "cmd/cli.h"

struct source_files;
/* folders are borrowed; none is the current folder. NULL without memory. */
struct source_files *source_files_new(const struct cli_list *folders);
void source_files_free(struct source_files *files);

/* One file: read once, kept until source_files_free. */
struct source_file {
	char *path;     /* where it was found; NULL: nowhere */
	char *text;
	size_t *lines;  /* lines_n + 1 offsets */
	size_t lines_n;
};
/* The file that a profile calls `name`: the first of FOLDER/a/b/c, FOLDER/b/c, FOLDER/c that is a regular
 * file, in the order of the folders, longer ends of the name first. Names with ".." are not
 * looked for. NULL after saying that there is no memory. */
const struct source_file *source_find(struct source_files *files, struct pp_str name);
/* Says, in one line, what was looked for and not found. */
void source_warn_missing(const struct source_files *files);
/* Line `number`, from 1, without its end; "" behind the last one. */
struct pp_str source_line(const struct source_file *file, int64_t number);

#endif
