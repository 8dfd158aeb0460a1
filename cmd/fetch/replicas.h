/* The replicas of a side of a case: which label tells them apart, which of them have profiles in the window, and how
 * their windows are covered. */
#ifndef FETCH_REPLICAS_H
#define FETCH_REPLICAS_H

#include "cmd/fetch/fetch.h"
#include "cmd/fetch/series.h"

struct replicas {
	const char *label;      /* NULL: none was found; there is one line, of all */
	char *found;            /* private: the label, when it was asked for */
	struct series series;   /* a line a replica, the largest first */
	int64_t step_ms;
	int64_t slice_ms;       /* of the window; a whole number of steps; the last slice has the rest */
	uint32_t slices;
};

/* Asks. label: of the options, or NULL. slices at least 1. CLI_EMPTY when the window holds no profile; failures are said, that
 * is not. Release in any case. */
enum cli_status replicas_find(struct server *server, const struct question *question, const char *label, uint32_t slices,
                              struct replicas *replicas);
void replicas_release(struct replicas *replicas);

/* The name of a replica: the value of the label, or "" for profiles without it. */
const char *replicas_name(const struct replicas *replicas, size_t index);
/* Slices begin a millisecond after the one before ends, as points do. */
struct window replicas_slice(const struct replicas *replicas, const struct window *window, uint32_t slice);
/* What the points of a replica say about a slice of the window: its coverage, and its sum. */
double replicas_cover(const struct replicas *replicas, size_t index, const struct window *window, uint32_t slice,
                      struct series_coverage *coverage);

#endif
