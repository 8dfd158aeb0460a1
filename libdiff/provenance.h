/* What is known of how a profile came about, from the text beside it (NAME.tsv), as pprof-fetch writes it. */
#ifndef PD_PROVENANCE_H
#define PD_PROVENANCE_H

#include "libdiff/casefile.h"

struct pd_provenance {
	struct pd_window window;  /* that was asked for; not given: unknown */
	double coverage;          /* share of the window's steps in which the server has a profile; NAN: not measured */
	const char *profile_type; /* NULL: not known; borrowed from the facts */
	int64_t max_nodes;        /* the server kept so many nodes at most; 0: all */
	bool scoped;              /* some profiles, traces, spans or stacks only */
	const char *warnings;     /* that came with it, or NULL; borrowed */
};

/* PP_EFORMAT with "line N: …" where a value makes no sense. Unknown keys mean nothing. */
int pd_provenance_read(const struct pd_facts *facts, struct pd_provenance *provenance, struct pp_error *err) PP_MUSTUSE;

#endif
