/* The inside of a merge. merge.c: life and header fields; merge_types.c: columns, periods and their
 * units; merge_common.c: columns that all have; merge_tables.c: what profiles have, united by content; merge_order.c: the sum in an order
 * that does not depend on how it came about. */
#ifndef PP_MERGE_PRIVATE_H
#define PP_MERGE_PRIVATE_H

#include "libpprof/arena.h"
#include "libpprof/build.h"
#include "libpprof/hash.h"
#include "libpprof/merge.h"
#include "libpprof/unit.h"

/* A value type of the sum. Strings belong to the merge. */
struct pp_merge_type {
	struct pp_str name, unit;
	enum pp_unit_family family;
	double factor; /* base units in one of the unit */
};

/* Keys of the tables: content, as bytes without padding. References are indices into other tables of
 * the merge. */
struct pp_merge_function {
	int64_t start_line;
	uint32_t name, system_name, filename, zero;
};
struct pp_merge_mapping_key {
	uint64_t size, offset;
	uint32_t name, zero; /* the build id, or else the file name */
};
/* A location is words: address less the mapping's start; mapping | is_folded << 32; then three words a
 * line: function, line, column. */
enum { PP_MERGE_HEAD_WORDS = 2, PP_MERGE_LINE_WORDS = 3 };
struct pp_merge_sample {
	uint32_t stack, label_list;
};

/* The fields that stand for all mappings of one key: of the smallest by file name, build id, start and
 * limit, a name that is given being smaller than none; what they all have. */
struct pp_merge_mapping {
	struct pp_mapping fields; /* strings are the merge's */
	/* A candidate for the main binary: 2 when a profile that is added has it first, 1 when only one that is
	 * subtracted has, so that a difference is named after what it explains. */
	int leads;
};

struct pp_merge {
	struct pp_limits limits;
	struct pp_arena *arena;
	uint64_t profiles_n;

	/* Columns, in order of name and unit, and the order in which they are shown: shown[position] is a
	 * column. Of the orders that the profiles have, the smallest. */
	struct pp_merge_type *types;
	uint32_t *shown;
	uint32_t types_n;

	bool takes_common, left_out;      /* types that not all have; there were some */
	struct pp_intern *kinds, *orders; /* then: types seen; orders of types seen, as indices of kinds */

	struct pp_intern *strings, *functions, *mappings, *locations, *stacks, *label_lists, *samples;
	struct pp_merge_mapping *mapping_fields; /* by mapping */
	size_t mapping_fields_capacity;
	int64_t *values; /* by sample and column */
	size_t values_capacity;

	/* Header. Strings are the merge's, 0 where none was given. */
	struct pp_merge_type period_type; /* both names "": none was given */
	int64_t period;                   /* the largest of those with a type, in the type's unit */
	int64_t bare_period;              /* the largest of those without */
	bool has_period, has_bare_period;
	int64_t time_ns, duration_ns;
	bool duration_is_cut, has_unknown_fields;
	uint32_t drop_frames, keep_frames, default_sample_type, doc_url;
	struct pp_intern *comments; /* distinct, the first list that is not empty before all others */
	bool comments_differ;       /* profiles have different lists: the union is sorted */
};

/* Fills *err for an allocation from the merge's arena that failed. Always -1. */
int pp_merge_fail_memory(const struct pp_merge *merge, struct pp_error *err);

/* The index of a string in the merge's table; PP_NONE with *err. */
uint32_t pp_merge_string(struct pp_merge *merge, struct pp_str bytes, struct pp_error *err);

/* An array of n indices, all PP_NONE, for free(); NULL without memory. */
uint32_t *pp_merge_no_indices(uint32_t n) PP_MUSTUSE;

/* A column of one profile, for matching it with the columns of the sum. */
struct pp_merge_column {
	struct pp_merge_type type;
	uint32_t position;
};

/* Order of name, then kind of unit. Types that compare equal can be added. */
int pp_merge_compare_kinds(const struct pp_merge_type *a, const struct pp_merge_type *b);

/* Leaves out the types of the sum and of the *n sorted columns that the other does not have. */
void pp_merge_keep_common(struct pp_merge *merge, struct pp_merge_column *sorted, uint32_t *n);
/* Remembers the order of the columns of a profile. */
int pp_merge_note_order(struct pp_merge *merge, const struct pp_merge_column *sorted, uint32_t n,
                        struct pp_error *err) PP_MUSTUSE;
/* Makes shown[] the smallest of the orders that the profiles have for the types that all have; and sees to
 * the default sample type. */
int pp_merge_settle_common(struct pp_merge *merge, struct pp_error *err) PP_MUSTUSE;

/* How the columns of one profile go into the sum. */
struct pp_merge_columns {
	uint32_t *source; /* by column of the sum: the column of the profile */
	int64_t *scale;   /* by column of the sum: what to multiply by */
};
void pp_merge_columns_release(struct pp_merge_columns *columns);

/* Makes the sum and a profile agree in types, period and units: sums so far are scaled when the profile
 * has a finer unit. PP_EINCOMPAT, PP_EOVERFLOW. */
int pp_merge_join_types(struct pp_merge *merge, const struct pp_profile *profile,
                        struct pp_merge_columns *columns, struct pp_error *err) PP_MUSTUSE;

/* Adds the samples of a profile, or some, and what they use. */
int pp_merge_add_samples(struct pp_merge *merge, const struct pp_profile *profile,
                         const struct pp_merge_columns *columns, int sign,
                         const struct pp_merge_label *extra, const struct pp_merge_some *some,
                         struct pp_error *err) PP_MUSTUSE;

/* Appends the sum to a builder, tables in their final order. The merge's tables are used up. */
int pp_merge_emit(struct pp_merge *merge, struct pp_build *build, struct pp_error *err) PP_MUSTUSE;

#endif
