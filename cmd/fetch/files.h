/* Small files that appear whole: written beside their place under a hidden name that stays the same, so that a run
 * that is cut off leaves nothing that the next does not take up. */
#ifndef FETCH_FILES_H
#define FETCH_FILES_H

#include "cmd/cli.h"

/* Says what fails. sync: on the disk when this returns. */
enum cli_status files_save(const char *path, const struct pp_buf *bytes, bool sync);
/* The same of a file and the text beside it: none is without the other. */
enum cli_status files_save_with(const char *beside, const struct pp_buf *text, const char *path, const struct pp_buf *bytes, bool sync);
/* Appends the whole file; false when there is none, and for anything that is wrong with it. */
bool files_read(const char *path, struct pp_buf *bytes);
/* "folder/name" → "folder/.name.ENDING", malloc'ed. */
char *files_hidden(const char *path, const char *ending) PP_MUSTUSE;
int files_hash(const struct pp_buf *bytes, char out[PP_CONTENT_HASH_N], struct pp_error *err) PP_MUSTUSE;

#endif
