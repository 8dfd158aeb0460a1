/* Values over time, exactly: every profile of the window is in one point, none from outside. Servers add a point
 * from before the window, lose what a step does not divide, and in the mode v1-v2-dual use a wrong grid where the
 * storages meet; none of it is let through. */
#ifndef FETCH_SERIES_H
#define FETCH_SERIES_H

#include "cmd/fetch/mode.h"

struct series_label {
	const char *name, *value;
};
struct series_point {
	int64_t time_ms; /* covers the step up to and with it; the first also the window's first millisecond */
	double value;
};
struct series_line {
	const struct series_label *labels;
	size_t labels_n;
	struct series_point *points; /* by time; only where there was a profile */
	size_t points_n, points_room;
	double sum;
};
struct series {
	struct series_line *lines; /* sum descending, then by labels */
	size_t lines_n, lines_room;
	double sum;
	enum mode mode;
	struct pp_arena *arena;
	struct pp_intern *keys;
};

/* step_ms at least 1; group_by may be empty. CLI_EMPTY when there is no point. Failures are said. Release in any
 * case. With CLI_OK all sums fit 64 bits. */
enum cli_status series_fetch(struct server *server, const struct question *question, const struct cli_list *group_by,
                             int64_t step_ms, struct series *series);
void series_release(struct series *series);

/* How a window is covered by points of these lines: of how many steps, and in how many is a point of any line. The
 * window begins on the grid of the points, whose step is step_ms. */
struct series_coverage {
	uint32_t steps, covered;
	int64_t step_ms, first_ms, last_ms; /* times of the first and last such point; 0 without */
};
void series_cover(const struct series_line *lines, size_t lines_n, const struct window *window, int64_t step_ms,
                  struct series_coverage *coverage);

#endif
