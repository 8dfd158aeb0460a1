/* What the readers of legacy profiles share: gperftools, Go, Java, jemalloc and the symbolized raw files.
 * Private to libpprof.
 *
 * They have one shape: a head that says what the values are, stacks of addresses, perhaps names for the
 * addresses, and a memory map at the end. So a reader collects samples over numbered addresses, and
 * pp_legacy_read makes mappings, locations and stacks of all at the end. */
#ifndef PP_LEGACY_H
#define PP_LEGACY_H

#include "libpprof/build.h"
#include "libpprof/hash.h"
#include "libpprof/load_private.h"
#include "libpprof/read.h"
#include "libpprof/tsv.h"

#define PP_LEGACY_VALUES_MAX 4

/* A code address. Where a stack holds the address behind a call, it is that minus 1: on the call. */
struct pp_legacy_location {
	uint64_t address;
	bool is_call;                  /* 1 was subtracted */
	bool is_hidden;                /* its name follows from there being none in the comments */
	uint32_t mapping;              /* or PP_NONE */
	uint32_t index;                /* in the profile, PP_NONE: not used */
	size_t line_first;
	uint32_t lines_n;
};

struct pp_legacy_sample {
	size_t first; /* in stacks[] */
	uint32_t n;
	bool has_block_bytes;
	int64_t block_bytes; /* numeric label "bytes": what one object takes */
	uint32_t label_list; /* of the builder; else */
	int64_t values[PP_LEGACY_VALUES_MAX];
};

struct pp_legacy_mapping {
	uint64_t start, limit, offset;
	struct pp_str file, build_id;
	size_t named_n, unnamed_n; /* locations that are used */
};

/* What stands for an address in the head of a symbolized file: names joined by "--", callers first. */
struct pp_legacy_symbols {
	struct pp_intern *addresses; /* 8 bytes each */
	struct pp_str *names;
	size_t names_capacity;
	uint64_t highest; /* address */
	struct pp_str binary;
};

/* What Go writes as comments below stacks: where addresses are. */
struct pp_legacy_comments {
	struct pp_intern *addresses, *functions;
	struct pp_line *lines; /* by address */
	size_t lines_room;
};

struct pp_legacy {
	const struct pp_read_options *options;
	struct pp_error *err;
	struct pp_build *build;
	struct pp_arena *arena; /* of everything below */

	/* The input: lines and words in turn. The lines never hold more of it than the line at hand. */
	struct pp_source *source, line_source;
	unsigned char *buffer;
	size_t at, end;
	bool at_end;
	struct pp_lines *lines;
	uint64_t word_bytes, line_bytes; /* read as words and as lines, so far */
	struct pp_str line;  /* at hand, without the blanks around it; followed by a NUL */
	uint64_t line_offset;

	uint32_t values_n;
	struct pp_intern *addresses;
	struct pp_legacy_location *locations;
	uint32_t *stacks; /* of all samples, leaf first */
	struct pp_legacy_sample *samples;
	struct pp_legacy_mapping *mappings;
	struct pp_line *source_lines; /* of locations */
	size_t locations_room, stacks_n, stacks_room, samples_n, samples_room, mappings_n, mappings_room;
	size_t source_lines_n, source_lines_room;
	size_t depth; /* of the stack at hand, which is the end of stacks[] */

	bool has_addresses;       /* cleared where addresses are only names within the file */
	bool may_repeat_leaf;     /* the second frame may be the leaf once more */
	bool is_jemalloc;
	bool may_hold_handler;    /* most stacks may share a frame of the profiler behind the leaf */
	struct pp_legacy_symbols *symbols; /* NULL: not a symbolized file */
	struct pp_legacy_comments *comments; /* NULL: there are none */
};

/* ---- the input (legacy_input.c) ---- */

int pp_legacy_open(struct pp_legacy *l, struct pp_source *source);
void pp_legacy_close(struct pp_legacy *l);
/* The next line: 1, 0 at the end (l->line is then empty), -1. */
int pp_legacy_next(struct pp_legacy *l);
/* The next word of 4 or 8 bytes: 1, 0 at the end, -1; 0 too when the input ends within it, and then *cut. */
int pp_legacy_word(struct pp_legacy *l, size_t size, bool big_endian, uint64_t *word, bool *cut);
/* Looks at what comes next, up to PP_SNIFF_BYTES; -1 or how much there is. */
int64_t pp_legacy_peek(struct pp_legacy *l, const unsigned char **bytes);
uint64_t pp_legacy_offset(const struct pp_legacy *l); /* of the next word */

/* ---- one line ---- */

/* Fails with "line N: text" at the line. */
int pp_legacy_fail(struct pp_legacy *l, enum pp_code code, const char *format, ...) PP_PRINTF(3, 4);
/* A line that cannot be read, for this reason: fails, or when lenient counts and drops it. */
int pp_legacy_bad_line(struct pp_legacy *l, const char *reason);
bool pp_legacy_blank(const struct pp_legacy *l); /* nothing, or a comment */
bool pp_legacy_begins(struct pp_str text, const char *prefix);
bool pp_legacy_holds(struct pp_str text, const char *part);
struct pp_str pp_legacy_trim(struct pp_str text);

/* Each takes something from the front of *text, or returns false and leaves it. */
bool pp_take(struct pp_str *text, const char *literal);
bool pp_take_blanks(struct pp_str *text); /* at least one */
bool pp_take_number(struct pp_str *text, int64_t *value); /* decimal digits, perhaps after '-' */
bool pp_take_hex(struct pp_str *text, uint64_t *value);   /* digits without 0x, of either case */
bool pp_take_word(struct pp_str *text, struct pp_str *word); /* up to the next blank, not empty */

/* ---- what is collected (legacy.c) ---- */

/* Names the sample types: pairs of type and unit. The first call; once. */
void pp_legacy_types(struct pp_legacy *l, const char *const (*types)[2], uint32_t n);
void pp_legacy_period(struct pp_legacy *l, const char *type, const char *unit, int64_t period);
/* Appends a frame to the stack at hand, towards the root. after_call: the address is behind a call. */
int pp_legacy_frame(struct pp_legacy *l, uint64_t address, bool after_call);
/* Appends a frame for each 0x… in the text; leaf_after_call as above for the first, the others are. */
int pp_legacy_frames(struct pp_legacy *l, struct pp_str text, bool leaf_after_call);
/* Ends the stack at hand; block_bytes may be NULL. */
int pp_legacy_sample(struct pp_legacy *l, const int64_t *values, const int64_t *block_bytes);
void pp_legacy_forget(struct pp_legacy *l); /* drops the stack at hand */
/* Makes lines (innermost first) those of a location. */
int pp_legacy_symbolize(struct pp_legacy *l, struct pp_legacy_location *location, const struct pp_line *lines,
                        uint32_t n);
/* Copies into the arena; .ptr is NULL, with the error filled, without memory. */
struct pp_str pp_legacy_copy(struct pp_legacy *l, struct pp_str text);
int pp_legacy_room(struct pp_legacy *l, void *array_pointer, size_t *room, size_t want, size_t element_bytes);

/* ---- the readers: each reads all of the input ---- */

int pp_legacy_cpu(struct pp_legacy *l);
int pp_legacy_heap(struct pp_legacy *l);
int pp_legacy_jemalloc(struct pp_legacy *l);
int pp_legacy_count(struct pp_legacy *l);
int pp_legacy_threads(struct pp_legacy *l);
int pp_legacy_contention(struct pp_legacy *l);
int pp_legacy_java(struct pp_legacy *l);
int pp_legacy_java_symbols(struct pp_legacy *l); /* "0xADDRESS function (file:line)" from the next line on */
/* The head of a symbolized file; *inner is what follows. */
int pp_legacy_symbol_head(struct pp_legacy *l, enum pp_format *inner);
int pp_legacy_apply_symbols(struct pp_legacy *l);
/* The addresses are numbers from 1 on, as writers without real ones make them. */
bool pp_legacy_has_made_up_addresses(const struct pp_legacy_symbols *symbols);

/* Passes over an empty line: 1; or a comment, after reading what Go tells in it: names, labels of the last
 * sample. 0 for a line of another kind. */
int pp_legacy_skip(struct pp_legacy *l);
int pp_legacy_apply_comments(struct pp_legacy *l);

/* The number of objects and their bytes that a sample of a heap stands for, where one in `rate` bytes is
 * sampled (a Poisson process): both divided by 1 - exp(-(bytes/objects)/rate), cut off to integers.
 * rate ≤ 1: as they are. */
int pp_legacy_unsample(struct pp_legacy *l, int64_t rate, int64_t *objects, int64_t *bytes);

/* ---- the memory map (legacy_maps.c) ---- */

bool pp_legacy_is_map_head(struct pp_str line);
bool pp_legacy_is_section(struct pp_str line); /* the head of that, or of anything else */
/* Goes on to the head of the memory map, from the line at hand on, and reads the map, to the end. */
int pp_legacy_find_map(struct pp_legacy *l);
/* Reads the memory map from the next line on. */
int pp_legacy_map(struct pp_legacy *l);
/* Tidies mappings as the reference does, and gives the locations that are used theirs. */
int pp_legacy_assign_mappings(struct pp_legacy *l);

/* ---- what is not worth a row (legacy_frames.c) ---- */

/* Sets drop_frames and keep_frames by the sample types. */
int pp_legacy_frame_rules(struct pp_legacy *l);

/* Reads one profile of a legacy format. */
struct pp_profile *pp_legacy_read(enum pp_format format, struct pp_source *source,
                                  const struct pp_read_options *options, struct pp_error *err) PP_MUSTUSE;

#endif
