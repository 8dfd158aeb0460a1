/* What a row of a report is: a function, file, line, address or mapping, recognised across profiles.
 *
 * A frame set interns frames by the identity that its granularity asks for, so that the same function
 * in two profiles is the same dense index whatever the ids, addresses and string tables. */
#ifndef PP_FRAME_H
#define PP_FRAME_H

#include "libpprof/error.h"
#include "libpprof/limits.h"
#include "libpprof/profile.h"
#include "libpprof/sink.h"

enum pp_granularity {
	PP_BY_FRAMES,        /* default: function and file; unsymbolised code by mapping file and offset */
	PP_BY_FUNCTIONS,     /* function name only, as the reference */
	PP_BY_FILEFUNCTIONS, /* name and file */
	PP_BY_FILES,
	PP_BY_LINES,         /* name, file and line */
	PP_BY_COLUMNS,       /* and the column in the line */
	PP_BY_ADDRESSES,     /* everything, and the address */
	PP_BY_MAPPINGS       /* the binary or library */
};

/* "frames", "functions", … */
const char *pp_granularity_name(enum pp_granularity granularity);

enum pp_frame_kind {
	PP_FRAME_CODE,         /* has a name, or a file, as the granularity asks for */
	PP_FRAME_UNSYMBOLIZED, /* known only by mapping and address */
	PP_FRAME_NO_STACK      /* the pseudo frame "(no stack)" of samples without locations */
};

/* Fields that the granularity does not use are empty or 0. Borrowed from the frame set. */
struct pp_frame {
	enum pp_frame_kind kind;
	struct pp_str name;     /* function; may be "" */
	struct pp_str file;     /* cleaned lexically: "./dir//../src/x.c" is "src/x.c" */
	int64_t line, column;   /* column: by columns and by addresses only */
	bool line_is_relative;   /* line counts from the first line of the function */
	uint64_t address;       /* by addresses: as in the profile; unsymbolised frames: mapping file offset */
	struct pp_str mapping;  /* file name of the mapping, where it is part of the identity */
	struct pp_str build_id; /* informative: of the first profile that had it; not identity */
	int64_t start_line;     /* likewise */
};

/* What pp_frames_at and pp_frames_map point to stays where it is until the set grows or is freed;
 * the bytes of names and labels until it is freed. */
struct pp_frames;
struct pp_frames *pp_frames_new(enum pp_granularity granularity, struct pp_error *err) PP_MUSTUSE;
void pp_frames_free(struct pp_frames *frames);
/* For comparing builds, before the first profile: code that moved stays the same frame. By lines and columns, a line
 * is known by its distance from the first line of its function, where that is given (label
 * "f x.go:+5"); by files, the binary and the functions' lines do not matter; binaries are known by
 * their base names. */
void pp_frames_compare_builds(struct pp_frames *frames);
uint32_t pp_frames_count(const struct pp_frames *frames);
const struct pp_frame *pp_frames_at(const struct pp_frames *frames, uint32_t frame);

/* The text that the reference prints for the frame at this granularity: "main.f", "main.f x.go:12",
 * "[libc.so]", "<unknown>"; for PP_BY_FRAMES the function name, "binary+0x1a2b" for unsymbolised
 * code, "(no stack)". Borrowed from the set; raw bytes, not escaped. */
struct pp_str pp_frames_label(const struct pp_frames *frames, uint32_t frame);

/* A total order of the frames of a set by what they are: label, file, line, column, address, mapping,
 * first line of the function. 0 only for a frame and itself. */
int pp_frames_cmp(const struct pp_frames *frames, uint32_t a, uint32_t b);

/* Frames of every location of one profile: those of location l are
 * frame[first[l] … first[l + 1]), innermost first, at least one. */
struct pp_frame_map {
	uint32_t *first; /* locations_n + 1 */
	uint32_t *frame;
	uint32_t no_stack; /* the frame of samples without locations, or PP_NONE when there are none */
};
/* Adds the frames of a profile to the set. The caller releases the map. */
int pp_frames_map(struct pp_frames *frames, const struct pp_profile *profile,
                  struct pp_frame_map *map, struct pp_error *err) PP_MUSTUSE;
void pp_frame_map_release(struct pp_frame_map *map);

#endif
