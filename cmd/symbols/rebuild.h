/* A copy of a profile whose locations get lines. */
#ifndef REBUILD_H
#define REBUILD_H

#include "cmd/symbols/demangle.h"

/* The lines of one location; n is 0 where it keeps what it has. */
struct new_lines {
	struct pp_line *lines; /* functions are indices of the copy */
	uint32_t n;
};

struct rebuild {
	const struct pp_profile *profile;
	struct pp_build *build;
	struct pp_arena *arena; /* lines, names of new functions */
	enum demangle_mode demangle;
	bool again;                 /* demangle also what has another name already */
	struct pp_mapping *mappings; /* as the profile's; what they have (has_functions …) may be changed */
	struct new_lines *lines;     /* by location, to be filled */
	/* private */
	uint32_t *strings; /* by string of the profile */
	struct pp_intern *functions;
	struct pp_buf scratch;
};

/* Begins a copy: strings and functions. Release in any case. */
int rebuild_open(struct rebuild *rebuild, const struct pp_profile *profile, const struct pp_limits *limits,
                 struct pp_error *err) PP_MUSTUSE;
void rebuild_release(struct rebuild *rebuild);

/* The index of a function by its linked name, file and first line; PP_NONE without memory. */
uint32_t rebuild_function(struct rebuild *rebuild, const char *system_name, const char *file, int64_t start_line);

/* Copies the rest. The caller owns the result. */
struct pp_profile *rebuild_finish(struct rebuild *rebuild, struct pp_error *err) PP_MUSTUSE;

#endif
