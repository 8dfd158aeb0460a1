/* The small messages of a profile, one record at a time, through protobuf-c. The only file that knows
 * the code generated from profile.proto. References are as in the file: ids, and string indices that may
 * be negative or too large. */
#ifndef PP_MESSAGE_H
#define PP_MESSAGE_H

#include "libpprof/place.h"
#include "libpprof/wire.h"

/* unknown: the fields that this version does not know, tags and payloads, in order. */
struct pp_raw_value_type {
	int64_t type, unit;
	struct pp_str unknown;
};

struct pp_raw_mapping {
	uint64_t id, start, limit, offset;
	int64_t filename, build_id;
	bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
	struct pp_str unknown;
};

struct pp_raw_function {
	uint64_t id;
	int64_t name, system_name, filename, start_line;
	struct pp_str unknown;
};

struct pp_raw_line {
	uint64_t function_id;
	int64_t line, column;
	struct pp_str unknown;
};

struct pp_raw_location {
	uint64_t id, mapping_id, address;
	bool is_folded;
	const struct pp_raw_line *lines;
	uint32_t lines_n;
	struct pp_str unknown;
};

/* Memory for one decoded record; what it holds is valid until the next call. */
struct pp_message;
struct pp_message *pp_message_new(struct pp_error *err) PP_MUSTUSE;
void pp_message_free(struct pp_message *message);

/* Decode the payload of a field. place names the record in errors. 0, or -1 with PP_EFORMAT at the offset
 * of what is wrong, PP_ELIMIT or PP_ENOMEM. */
int pp_message_value_type(struct pp_message *message, const struct pp_field *field, const struct pp_place *place,
                          struct pp_raw_value_type *out, struct pp_error *err) PP_MUSTUSE;
int pp_message_mapping(struct pp_message *message, const struct pp_field *field, const struct pp_place *place,
                       struct pp_raw_mapping *out, struct pp_error *err) PP_MUSTUSE;
int pp_message_function(struct pp_message *message, const struct pp_field *field, const struct pp_place *place,
                        struct pp_raw_function *out, struct pp_error *err) PP_MUSTUSE;
int pp_message_location(struct pp_message *message, const struct pp_field *field, const struct pp_place *place,
                        struct pp_raw_location *out, struct pp_error *err) PP_MUSTUSE;

#endif
