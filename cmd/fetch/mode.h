/* The storage mode of a server, found out by one question: for a graph as DOT v2 sends one, v1-v2-dual sends a
 * flame graph instead, and v1 refuses. */
#ifndef FETCH_MODE_H
#define FETCH_MODE_H

#include "cmd/fetch/scope.h"

enum mode { MODE_UNKNOWN, MODE_V1, MODE_DUAL, MODE_V2 };
const char *mode_name(enum mode mode); /* "unknown", "v1", "v1-v2-dual", "v2" */

/* Asks for the question's type, selector and window, without its scope. On MODE_DUAL, *total (may be NULL) is the total
 * of the flame graph. MODE_UNKNOWN also when the call fails.
 * Of a window that is longer than the server allows, its end is asked for. */
enum mode mode_find(struct server *server, const struct question *question, int64_t *total);

#endif
