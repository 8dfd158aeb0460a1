/* The end of reading: references become indices, and what refers to nothing is refused or repaired. */
#include <inttypes.h>
#include <stdlib.h>

#include "libpprof/reader.h"

static int check_strings(struct pp_reader *r)
{
	if (r->strings_seen == 0 && r->options->strictness != PP_SALVAGE)
		return pp_fail(r->err, PP_EFORMAT, PP_NO_OFFSET, "string_table: the profile has no string table");
	if (r->largest_string < r->profile->strings_n || pp_reader_lenient(r))
		return 0;
	return pp_place_fail(r->err, PP_EFORMAT, &r->largest_place,
	                     "string index %" PRId64 " is outside the table of %" PRIu32 " strings",
	                     (int64_t)r->largest_string, r->profile->strings_n);
}

/* Lenient: an index that is no string's becomes 0, "not given". */
static int repair_strings(struct pp_reader *r)
{
	struct pp_profile *p = r->profile;
	uint64_t repaired = 0, in_tables;

	if (r->largest_string < p->strings_n)
		return 0;
#define REPAIR(index) \
	do { \
		if ((index) >= p->strings_n) { \
			(index) = 0; \
			repaired++; \
		} \
	} while (0)
	for (uint32_t i = 0; i < p->sample_types_n; i++) {
		REPAIR(p->sample_types[i].type);
		REPAIR(p->sample_types[i].unit);
	}
	for (uint32_t i = 0; i < p->mappings_n; i++) {
		REPAIR(p->mappings[i].filename);
		REPAIR(p->mappings[i].build_id);
	}
	for (uint32_t i = 0; i < p->functions_n; i++) {
		REPAIR(p->functions[i].name);
		REPAIR(p->functions[i].system_name);
		REPAIR(p->functions[i].filename);
	}
	in_tables = repaired;
	for (uint32_t l = 0; l < p->label_lists_n; l++) {
		/* The memory is the builder's; only users of a finished profile see it as constant. */
		struct pp_label *labels = (struct pp_label *)(uintptr_t)p->label_lists[l].labels;

		for (uint32_t i = 0; i < p->label_lists[l].n; i++) {
			REPAIR(labels[i].key);
			REPAIR(labels[i].str);
			REPAIR(labels[i].num_unit);
		}
	}
	if (repaired > in_tables && pp_build_unite_label_lists(r->build))
		return -1;
	for (uint32_t i = 0; i < p->comments_n; i++)
		REPAIR(p->comments[i]);
	REPAIR(p->drop_frames);
	REPAIR(p->keep_frames);
	REPAIR(p->period_type.type);
	REPAIR(p->period_type.unit);
	REPAIR(p->default_sample_type);
	REPAIR(p->doc_url);
#undef REPAIR
	return pp_build_note_times(r->build, r->largest_place.offset, repaired,
	                           "string index outside the table, taken as not given");
}

static int check_rows(struct pp_reader *r)
{
	const struct pp_profile *p = r->profile;
	const struct pp_place *place = &r->first_row_place;
	uint32_t n = r->row_n;

	if (!r->row_known)
		return 0;
	if (p->sample_types_n == 0)
		return pp_fail(r->err, PP_EFORMAT, place->offset,
		               "missing sample type information: there are samples but no sample_type");
	if (r->row_n == p->sample_types_n) {
		if (!r->row_differs || pp_reader_lenient(r))
			return 0;
		place = &r->row_place;
		n = r->row_other_n;
	} else if (pp_reader_lenient(r) && !r->second_sure) {
		pp_reader_forget_rows(r);
		return 0;
	}
	return pp_place_fail(r->err, PP_EFORMAT, place, "mismatch: sample has %" PRIu32 " values vs. %" PRIu32 " types",
	                     n, p->sample_types_n);
}

/* The first reference, in order of sight, to an id that nothing defines; PP_NONE when all are defined. */
static uint32_t first_undefined(const struct pp_referents *referents)
{
	for (uint32_t i = 0; i < referents->ids.count; i++)
		if (referents->table[i] == PP_NONE)
			return i;
	return PP_NONE;
}

static int resolve_locations(struct pp_reader *r)
{
	const struct pp_referents *t = &r->locations;
	uint32_t missing = first_undefined(t);
	const struct pp_reference *first = missing == PP_NONE ? NULL : &t->references[missing];
	uint64_t dropped;

	if (first && !pp_reader_lenient(r))
		return pp_fail(r->err, PP_EFORMAT, first->first_offset,
		               "sample[%" PRIu32 "].location_id[%" PRIu32 "]: no location has id %" PRIu64,
		               first->first_owner, first->first_position, first->id);
	if (pp_build_remap_locations(r->build, t->table, &dropped))
		return -1;
	return pp_build_note_times(r->build, first ? first->first_offset : PP_NO_OFFSET, dropped,
	                           "frame dropped: its location does not exist");
}

static int resolve_functions(struct pp_reader *r)
{
	const struct pp_referents *t = &r->functions;
	struct pp_profile *p = r->profile;
	uint32_t missing = first_undefined(t);
	const struct pp_reference *first = missing == PP_NONE ? NULL : &t->references[missing];
	uint64_t nameless = 0;

	if (first && !pp_reader_lenient(r))
		return pp_fail(r->err, PP_EFORMAT, first->first_offset,
		               "location[%" PRIu32 "].line[%" PRIu32 "].function_id: no function has id %" PRIu64,
		               first->first_owner, first->first_position, first->id);
	for (uint32_t i = 0; i < p->lines_n; i++) {
		p->lines[i].function = t->table[p->lines[i].function];
		nameless += p->lines[i].function == PP_NONE;
	}
	return pp_build_note_times(r->build, first ? first->first_offset : PP_NO_OFFSET, nameless,
	                           "frame without a name: its function does not exist");
}

/* A mapping that is not there is no mistake to the reference either. */
static void resolve_mappings(struct pp_reader *r)
{
	struct pp_profile *p = r->profile;

	for (uint32_t i = 0; i < p->locations_n; i++)
		if (p->locations[i].mapping != PP_NONE)
			p->locations[i].mapping = r->mappings.table[p->locations[i].mapping];
}

static int note_definitions(struct pp_reader *r, const struct pp_referents *t)
{
	if (pp_build_note_times(r->build, t->id_0.first_offset, t->id_0.n, "%s dropped: its id is 0", t->kind))
		return -1;
	return pp_build_note_times(r->build, t->repeated.first_offset, t->repeated.n,
	                           "%s dropped: an identical one has the same id", t->kind);
}

/* What a lenient reader has passed over. */
static int note_dropped(struct pp_reader *r)
{
	if (note_definitions(r, &r->mappings) || note_definitions(r, &r->functions) ||
	    note_definitions(r, &r->locations))
		return -1;
	return pp_build_note_times(r->build, r->rows.first_offset, r->rows.n,
	                           "sample dropped: its number of values is not that of the sample types");
}

int pp_reader_resolve(struct pp_reader *r)
{
	if (pp_build_error(r->build))
		return -1;
	if (check_strings(r) || check_rows(r))
		return -1;
	if (note_dropped(r) || repair_strings(r) || resolve_locations(r) || resolve_functions(r))
		return -1;
	resolve_mappings(r);
	return 0;
}
