/* profile.proto → model. The bytes are already unpacked (see gz.h); load.h is the front door that
 * recognises formats. Memory follows the model: the input is walked through a small window.
 *
 * Checks what the reference checks (types against values, ids, string table) and names what is
 * broken by byte offset and field path: "sample[17].location_id[3]: no location has id 99". */
#ifndef PP_READ_H
#define PP_READ_H

#include "libpprof/error.h"
#include "libpprof/limits.h"
#include "libpprof/profile.h"
#include "libpprof/source.h"

enum pp_strictness {
	PP_STRICT,  /* refuse what the reference refuses */
	PP_LENIENT, /* drop only the broken elements; a note counts each kind */
	PP_SALVAGE  /* lenient, and keep the complete records of an input that ends early */
};

struct pp_read_options {
	struct pp_limits limits;
	enum pp_strictness strictness;
	const char *folded_type, *folded_unit; /* what the counts of folded stacks are; NULL: samples, count */
};
#define PP_READ_OPTIONS_DEFAULT {PP_LIMITS_DEFAULT, PP_STRICT, NULL, NULL}

/* Reads one profile from unpacked protobuf bytes. Errors: PP_EFORMAT, PP_ELIMIT, PP_ENOMEM, and
 * what the source reports. The caller frees the profile. */
struct pp_profile *pp_read(struct pp_source *unpacked, const struct pp_read_options *options,
                           struct pp_error *err) PP_MUSTUSE;

#endif
