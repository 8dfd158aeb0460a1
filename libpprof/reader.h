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
#include "libpprof/place.h"
#include "libpprof/read.h"
#include "libpprof/sink.h"
#include "libpprof/wire.h"

/* Broken elements that a lenient reader passes over: one note each kind, made at the end. */
struct pp_dropped {
	uint64_t n, first_offset;
};

/* An id that was seen, by provisional index. */
struct pp_reference {
	uint64_t id;
	uint64_t payload_hash;              /* of the defining record, to tell a harmless repetition */
	uint64_t first_offset;              /* where it was first referred to, or defined */
	uint32_t first_owner, first_position; /* by which sample or location, at which place in it */
};

/* One kind of element that is referred to by id. */
struct pp_referents {
	const char *kind; /* "location" */
	struct pp_idmap ids;
	struct pp_reference *references;
	uint32_t *table; /* by provisional index: the index in the profile's table, or PP_NONE while not defined */
	size_t references_n, table_n;   /* room */
	struct pp_dropped id_0, repeated;
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
	bool row_known, row_differs, rows_forgotten;
	struct pp_place row_place; /* a sample that has another number */
	uint32_t row_other_n;
	struct pp_place first_row_place;
	struct pp_dropped rows;

	bool types_then_strings; /* the string table began after a sample type */
	uint64_t second_offset;  /* where a second profile may begin, or PP_NO_OFFSET */
	bool second_sure;        /* and it does */

	/* scratch of the record at hand */
	uint32_t *stack;
	int64_t *values;
	struct pp_label *labels;
	struct pp_line *lines;
	size_t stack_room, values_room, labels_room, lines_room;
	struct pp_buf unknown, label_unknown;
};

static inline bool pp_reader_lenient(const struct pp_reader *r)
{
	return r->options->strictness != PP_STRICT;
}

/* Takes a string index as it stands in the file; whether it exists is checked at the end. */
uint32_t pp_reader_string(struct pp_reader *r, int64_t index, const struct pp_place *place);

/* The provisional index of a referred or defined id; PP_NONE, with the error filled, without memory or
 * when the ids alone need more than limits.model_bytes.
 * offset, owner and position say where a reference stands (owner PP_NONE: a definition). */
uint32_t pp_reader_refer(struct pp_reader *r, struct pp_referents *referents, uint64_t id,
                         uint64_t offset, uint32_t owner, uint32_t position);

/* Room for want elements in a scratch array, which it returns, perhaps moved; NULL, with the error filled,
 * without memory. */
void *pp_reader_room(struct pp_reader *r, void *array, size_t *room, size_t want, size_t element_bytes);

static inline void pp_dropped_add(struct pp_dropped *dropped, uint64_t offset)
{
	if (dropped->n++ == 0)
		dropped->first_offset = offset;
}

/* Drops and counts all samples that were kept: their number of values is not that of the types. */
void pp_reader_forget_rows(struct pp_reader *r);

int pp_reader_sample(struct pp_reader *r, const struct pp_field *field);
int pp_reader_resolve(struct pp_reader *r);

#endif
