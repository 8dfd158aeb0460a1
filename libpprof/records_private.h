/* The inside of the records view: kinds of rows and their columns, which the writer, the reader and
 * pprof-tsv(5) follow, and what the reader gathers before it builds. New columns go to the right;
 * readers ignore what they do not know there. */
#ifndef PP_RECORDS_PRIVATE_H
#define PP_RECORDS_PRIVATE_H

#include "libpprof/build.h"
#include "libpprof/hash.h"
#include "libpprof/records.h"

#define PP_RECORDS_VERSION "1"
#define PP_RECORD_COLUMNS_MAX 11

enum pp_row_kind {
	PP_ROW_PROFILE,
	PP_ROW_SAMPLE_TYPE,
	PP_ROW_COMMENT,
	PP_ROW_MAPPING,
	PP_ROW_FUNCTION,
	PP_ROW_LOCATION,
	PP_ROW_LINE,
	PP_ROW_SAMPLE,
	PP_ROW_LABEL,
	PP_ROW_UNKNOWN,
	PP_ROW_KINDS
};

struct pp_row_format {
	const char *name;
	unsigned columns_n;
	const char *columns[PP_RECORD_COLUMNS_MAX];
};

extern const struct pp_row_format pp_row_formats[PP_ROW_KINDS];

/* What the first column of an unknown row says, by enum pp_record. */
extern const char *const pp_record_names[];
#define PP_RECORD_NAMES_N 9

/* ---- reading: rows come in any order, so all are gathered first, each with the key that places it;
 * then each kind is sorted by key and built, the named before those that name them ---- */

struct pp_row_place {
	uint64_t offset, line;
};

/* What every gathered row begins with. */
struct pp_row_head {
	uint64_t key[3]; /* sorted by; unique within a kind */
	struct pp_row_place place;
	uint32_t built; /* index in the profile, or PP_NONE: dropped */
};

struct pp_type_row {
	struct pp_row_head head;
	struct pp_value_type type;
};
struct pp_comment_row {
	struct pp_row_head head;
	uint32_t text;
};
struct pp_mapping_row {
	struct pp_row_head head;
	struct pp_mapping mapping;
};
struct pp_function_row {
	struct pp_row_head head;
	struct pp_function function;
};
struct pp_location_row {
	struct pp_row_head head;
	struct pp_location location;
	uint64_t mapping_id;
};
struct pp_line_row {
	struct pp_row_head head; /* key: location id, index */
	struct pp_line line;
	uint64_t function_id;
};
struct pp_sample_row {
	struct pp_row_head head;
	uint32_t stack;  /* in stacks: the text of the field, unresolved */
	uint32_t values; /* in values: the bytes of the numbers */
};
struct pp_label_row {
	struct pp_row_head head; /* key: sample, index */
	struct pp_label label;
};
struct pp_unknown_row {
	struct pp_row_head head; /* key: record, element, part */
	struct pp_str bytes;
};

struct pp_row_table {
	void *rows;
	size_t n, capacity, row_bytes;
};

struct pp_records_reader {
	const struct pp_read_options *options;
	struct pp_error *err;
	struct pp_build *build;
	struct pp_arena *arena; /* of the gathered rows */
	struct pp_row_table tables[PP_ROW_KINDS];
	struct pp_intern *stacks, *values;
	struct pp_intern *mapping_ids, *function_ids, *location_ids; /* id → index in the profile */
	uint32_t *stack_built; /* by index in stacks; PP_NONE: not yet */
	int64_t *numbers;      /* scratch for one list of values */
	size_t numbers_capacity;
	uint32_t *locations;   /* scratch for one stack */
	size_t locations_capacity;
	bool profile_seen;
	/* The row at hand. */
	struct pp_row_place place;
	const struct pp_row_format *format;
	struct pp_str fields[PP_RECORD_COLUMNS_MAX + 1];
};

/* Fills err: over the budget of the rows, or no memory. */
int pp_records_no_memory(struct pp_records_reader *r);

/* A field as a list, and the next element of a list "1,2,3", which moves behind it; false at the end. */
struct pp_str pp_records_list(struct pp_str field);
bool pp_records_next(struct pp_str *list, struct pp_str *element);

/* records_build.c: all that was gathered, into the builder. */
int pp_records_build(struct pp_records_reader *r);

#endif
