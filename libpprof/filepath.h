/* Names of files as text: nothing here looks at a disk. Private to libpprof. */
#ifndef PP_FILEPATH_H
#define PP_FILEPATH_H

#include "libpprof/base.h"

/* What is behind the last slash, other than one at the end. */
struct pp_str pp_path_base(struct pp_str path);

/* Cleans a path lexically: no "." and no empty component, ".." takes the component before it away.
 * out has room for path.len + 1 bytes; returns the length. The rules of Plan 9's cleanname. */
size_t pp_path_clean(struct pp_str path, char *out);

/* Bazel and its like build in a folder that programs see as /proc/self/cwd; the reference leaves it out too. */
struct pp_str pp_path_without_build(struct pp_str path);

#endif
