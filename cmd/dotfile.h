/* A call graph as DOT, for `dot -Tsvg`. The only file that knows cgraph; layout is left to dot. */
#ifndef DOTFILE_H
#define DOTFILE_H

#include "cmd/view.h"

struct dotfile {
	const struct pp_frames *frames;
	const struct pp_callgraph *graph;
	bool difference;          /* the graph has two sides */
	bool tree;                /* nodes are paths */
	struct pp_str unit;       /* of the values */
	struct pp_str shown;      /* what they are shown in; "": what fits each */
	const struct view_rows *rows; /* how values are shown */
	const char *title;        /* first line of the legend; any bytes */
	const char *const *notes; /* further lines of the legend */
	size_t notes_n;
};

/* Writes the graph. Nodes are n0, n1, … in the order of the graph. Names are hostile text: cut, masked
 * and escaped here. PP_ENOMEM, or what the sink reports. */
int dotfile_write(const struct dotfile *dot, struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;

#endif
