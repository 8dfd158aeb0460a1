/* The model of one profile: columns with dense indices, nothing resolved through ids or pointers.
 *
 * A profile is made by pp_build (or by a reader, which uses it) and is constant from then on: read
 * its fields, never write them. Everything in it lives as long as it does. All cross references
 * hold (index < count, or PP_NONE where that is said); there is at least one string, "". */
#ifndef PP_PROFILE_H
#define PP_PROFILE_H

#include "libpprof/base.h"

struct pp_arena;

/* All uint32_t fields named after a string are indices into strings[]. Two indices may hold equal
 * bytes: a file's table is kept as it is. Index 0 is "" and means "not given". */

struct pp_value_type {
	uint32_t type, unit;
};

struct pp_mapping {
	uint64_t id; /* as in the file; unique, not 0 */
	uint64_t start, limit, offset;
	uint32_t filename, build_id;
	bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
};

struct pp_function {
	uint64_t id;
	uint32_t name, system_name, filename;
	int64_t start_line;
};

/* One line of source at a location. The first line of a location is the innermost inlined callee,
 * the last the function that physically holds the code. */
struct pp_line {
	uint32_t function; /* index; PP_NONE only in a profile read leniently: a function that is not there */
	int64_t line, column;
};

struct pp_location {
	uint64_t id;
	uint64_t address;
	uint32_t mapping; /* index or PP_NONE */
	uint32_t line_first, lines_n; /* lines[line_first … line_first + lines_n) */
	bool is_folded;
};

/* A stack: locations, leaf first. Equal stacks are one stack. */
struct pp_stack {
	const uint32_t *locations; /* indices */
	uint32_t n;
};

/* str != 0: a string label; else a numeric one, whose unit may be 0. */
struct pp_label {
	uint32_t key, str, num_unit;
	int64_t num;
};

/* The labels of a sample in the order of the file. Equal lists are one list; list 0 is empty. */
struct pp_label_list {
	const struct pp_label *labels;
	uint32_t n;
};

/* What an unknown field belonged to. */
enum pp_record {
	PP_RECORD_PROFILE,
	PP_RECORD_SAMPLE_TYPE,
	PP_RECORD_PERIOD_TYPE,
	PP_RECORD_SAMPLE,
	PP_RECORD_LABEL, /* index is the sample's: unknown fields of its labels are kept as one */
	PP_RECORD_MAPPING,
	PP_RECORD_LOCATION,
	PP_RECORD_LINE, /* index into lines[] */
	PP_RECORD_FUNCTION
};

/* Fields with numbers that this version does not know, as they came: tag and payload, one or more. */
struct pp_unknown {
	enum pp_record record;
	uint32_t index; /* of the element in its table; 0 for PROFILE and PERIOD_TYPE */
	uint32_t label; /* LABEL only: which label of the sample */
	struct pp_str bytes;
};

/* Something that the reader let pass and that a person should know. */
struct pp_note {
	uint64_t offset;   /* in the unpacked input, or PP_NO_OFFSET */
	uint64_t count;    /* how many times, at least 1; offset is of the first */
	const char *text;  /* printable, lower case, no full stop */
};

struct pp_profile {
	struct pp_arena *arena; /* owns everything below */

	struct pp_str *strings;
	uint32_t strings_n;

	struct pp_value_type *sample_types;
	uint32_t sample_types_n;

	struct pp_mapping *mappings;
	uint32_t mappings_n;
	struct pp_function *functions;
	uint32_t functions_n;
	struct pp_location *locations;
	uint32_t locations_n;
	struct pp_line *lines;
	uint32_t lines_n;

	struct pp_stack *stacks; /* distinct, in order of first use; leniently read, perhaps of no sample */
	uint32_t stacks_n;
	struct pp_label_list *label_lists; /* distinct, [0] is the empty list */
	uint32_t label_lists_n;

	/* Samples, in file order. Sample s has values[s * sample_types_n + column]. */
	uint32_t *sample_stack;
	uint32_t *sample_labels;
	int64_t *values;
	uint32_t samples_n;

	uint32_t drop_frames, keep_frames; /* expressions, see prune.h */
	int64_t time_ns;                   /* UTC since the epoch; 0 = not given */
	int64_t duration_ns;
	struct pp_value_type period_type;
	int64_t period;
	uint32_t *comments;
	uint32_t comments_n;
	uint32_t default_sample_type;
	uint32_t doc_url;

	struct pp_unknown *unknowns; /* sorted by (record, index, label) */
	uint32_t unknowns_n;

	struct pp_note *notes;
	uint32_t notes_n;
};

void pp_profile_free(struct pp_profile *profile); /* NULL is fine */

static inline struct pp_str pp_string(const struct pp_profile *p, uint32_t index)
{
	return p->strings[index];
}
static inline int64_t pp_value(const struct pp_profile *p, uint32_t sample, uint32_t column)
{
	return p->values[(size_t)sample * p->sample_types_n + column];
}
static inline const struct pp_stack *pp_sample_stack(const struct pp_profile *p, uint32_t sample)
{
	return &p->stacks[p->sample_stack[sample]];
}
static inline const struct pp_label_list *pp_sample_labels(const struct pp_profile *p, uint32_t sample)
{
	return &p->label_lists[p->sample_labels[sample]];
}

#endif
