/* What the files of the profile.proto reader share: read.c walks the input, sample.c the samples,
 * resolve.c puts references right at the end, when all tables are known. Private to libpprof.
 *
 * The tables of a profile may come in any order, so references are first numbered as they are seen
 * ("provisional") and replaced at the end. */
#ifndef PP_READER_H
#define PP_READER_H

#include "libpprof/build_private.h"
#include "libpprof/idmap.h"
#include "libpprof/message.h"
#include "libpprof/read.h"
#include "libpprof/sink.h"
#include "libpprof/wire.h"

/* Where a reference stands, so that an error can name it: "sample[17].label[0].key". */
struct pp_place {
	uint64_t offset;
	const char *record; /* "sample"; constant */
	uint32_t index;     /* PP_NONE: no index */
	const char *inner;  /* "label", or NULL */
	uint32_t inner_index;
	const char *field;  /* "key" */
};
#define PP_PLACE_TEXT 120
const char *pp_place_text(const struct pp_place *place, char out[PP_PLACE_TEXT]);

/* One kind of element that is referred to by id. Arrays are by provisional index. */
struct pp_referents {
	struct pp_idmap ids;
	uint64_t *id;
	uint32_t *table;         /* index in the profile's table, or PP_NONE while not defined */
	uint64_t *payload_hash;  /* of the defining record, to tell a harmless repetition */
	uint64_t *first_offset;  /* where the id was first referred to */
	uint32_t *first_owner, *first_position; /* by which sample or location, at which place in it */
	size_t capacity;
};

struct pp_reader {
	const struct pp_read_options *options;
	struct pp_error *err;
	struct pp_build *build;
	struct pp_profile *profile; /* of the builder */
	struct pp_wire *wire;
	struct pp_message *message;

	struct pp_referents locations, functions, mappings;
	uint32_t samples_seen, mappings_seen, functions_seen, locations_seen, sample_types_seen;
	uint32_t strings_seen, comments_seen;

	uint64_t largest_string; /* the largest string index referred to, as unsigned */
	struct pp_place largest_place;

	uint32_t row_n;          /* values a sample, from the first that is kept */
	bool row_known, row_differs;
	struct pp_place row_place; /* a sample that has another number */
	size_t row_other_n;
	struct pp_place first_row_place;

	bool time_seen;
	uint64_t second_offset;  /* where a second profile seems to begin, or PP_NO_OFFSET */

	/* scratch of the sample at hand */
	uint32_t *stack;
	int64_t *values;
	struct pp_label *labels;
	size_t stack_capacity, values_capacity, labels_capacity;
	struct pp_buf unknown;
};

static inline bool pp_reader_lenient(const struct pp_reader *r)
{
	return r->options->strictness != PP_STRICT;
}

/* Takes a string index as it stands in the file; whether it exists is checked at the end. */
uint32_t pp_reader_string(struct pp_reader *r, int64_t index, const struct pp_place *place);

/* The provisional index of a referred or defined id; PP_NONE, with the error filled, without memory.
 * offset, owner and position say where a reference stands (owner PP_NONE: a definition). */
uint32_t pp_reader_refer(struct pp_reader *r, struct pp_referents *referents, uint64_t id,
                         uint64_t offset, uint32_t owner, uint32_t position);

int pp_reader_sample(struct pp_reader *r, const struct pp_field *field);
int pp_reader_resolve(struct pp_reader *r);

#endif
