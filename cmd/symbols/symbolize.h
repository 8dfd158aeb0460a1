/* A profile of addresses → the same with functions, files and lines. */
#ifndef SYMBOLIZE_H
#define SYMBOLIZE_H

#include "cmd/symbols/demangle.h"
#include "cmd/symbols/find.h"

struct symbolize {
	struct find find;
	int demangle; /* enum demangle_mode: of new names, and of those in the profile that are still mangled */
	bool again;   /* locations that have lines are resolved again, and names are demangled again */
	bool verbose; /* say what became of each mapping */
};

/* A new profile. Says what could not be resolved, and why, as warnings. NULL, with *status, after saying what
 * failed. name is the profile's, for messages. */
struct pp_profile *symbolize(const struct symbolize *how, const struct pp_profile *profile,
                             const struct pp_limits *limits, const char *name, enum cli_status *status);

#endif
