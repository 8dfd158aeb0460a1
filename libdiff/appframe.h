/* Which frames belong to the application, and which are how it works: libraries, the language's
 * runtime, the collector. By function name, file and mapping; Go, Java and other JVM languages, .NET,
 * Node.js, Python, C, C++ and Rust. */
#ifndef PD_APPFRAME_H
#define PD_APPFRAME_H

#include "libpprof/pprof.h"

enum pd_frame_class {
	PD_FRAME_APP,       /* written by the people who own the service */
	PD_FRAME_LIBRARY,   /* written by others, or generated: derived traits, serialisers */
	PD_FRAME_RUNTIME,   /* of the language or the system */
	PD_FRAME_COLLECTOR, /* garbage collection */
	PD_FRAME_UNKNOWN    /* nothing known about it: no name */
};

/* Any of the three may be "". Pure: the same arguments give the same class. */
enum pd_frame_class pd_frame_classify(struct pp_str name, struct pp_str file, struct pp_str mapping);

/* Node.js profilers write "./src/cart.js:render:44" and ":(idle):0": the name alone. */
struct pp_str pd_script_function(struct pp_str name);

/* Whether a file is JavaScript or TypeScript, or Node.js itself. */
bool pd_file_is_script(struct pp_str file);

#endif
