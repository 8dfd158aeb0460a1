#include "libpprof/frame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/arena.h"
#include "libpprof/filepath.h"
#include "libpprof/hash.h"

static const char *const granularity_names[] = {
	[PP_BY_FRAMES] = "frames", [PP_BY_FUNCTIONS] = "functions", [PP_BY_FILEFUNCTIONS] = "filefunctions",
	[PP_BY_FILES] = "files",   [PP_BY_LINES] = "lines",         [PP_BY_ADDRESSES] = "addresses",
	[PP_BY_COLUMNS] = "columns", [PP_BY_MAPPINGS] = "mappings",
};

/* How a frame is known; finer than the public kind, because labels differ. */
enum form {
	FORM_CODE,
	FORM_DISTANCE, /* code, its line counted from the first line of the function */
	FORM_OFFSET,  /* mapping and offset in its file */
	FORM_ADDRESS, /* an address outside any named mapping */
	FORM_BINARY,  /* mapping alone, or nothing at all */
	FORM_NO_STACK
};

/* The identity of a frame. Interned as bytes, so there is no padding. Strings are indices into the
 * set's own string table, whose index 0 is "". */
struct key {
	uint64_t address;
	int64_t line, column, start_line;
	uint32_t name, file, mapping, form;
};

struct pp_frames {
	enum pp_granularity granularity;
	bool compare_builds;
	struct pp_arena *arena;
	struct pp_intern *strings, *keys;
	struct pp_frame *frame; /* by index of the key */
	struct pp_str *label;
	size_t frame_capacity, label_capacity;
	struct pp_buf scratch; /* labels and cleaned paths in the making */
};

/* What the walk over one profile remembers: ids in the set of the profile's functions and mappings. */
struct named {
	uint32_t name, file;
};
struct walk {
	struct pp_frames *set;
	const struct pp_profile *profile;
	struct named *functions;
	uint32_t *mappings;
};

const char *pp_granularity_name(enum pp_granularity granularity)
{
	return granularity_names[granularity];
}

struct pp_frames *pp_frames_new(enum pp_granularity granularity, struct pp_error *err)
{
	const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_frames *set = calloc(1, sizeof *set);

	if (!set)
		goto fail;
	set->granularity = granularity;
	set->arena = pp_arena_new(limits.model_bytes);
	if (!set->arena)
		goto fail;
	set->strings = pp_intern_new(set->arena);
	set->keys = pp_intern_new(set->arena);
	if (!set->strings || !set->keys || pp_intern_put(set->strings, "", 0, NULL) != 0)
		goto fail;
	return set;
fail:
	pp_frames_free(set);
	pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for frames");
	return NULL;
}

void pp_frames_free(struct pp_frames *set)
{
	if (!set)
		return;
	pp_intern_free(set->strings);
	pp_intern_free(set->keys);
	pp_arena_free(set->arena);
	pp_buf_release(&set->scratch);
	free(set);
}

void pp_frames_compare_builds(struct pp_frames *set)
{
	set->compare_builds = true;
}

uint32_t pp_frames_count(const struct pp_frames *set)
{
	return pp_intern_count(set->keys);
}

const struct pp_frame *pp_frames_at(const struct pp_frames *set, uint32_t frame)
{
	return &set->frame[frame];
}

struct pp_str pp_frames_label(const struct pp_frames *set, uint32_t frame)
{
	return set->label[frame];
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Every field that can tell two frames apart comes before the index, so that the order in which
 * profiles came never shows. */
int pp_frames_cmp(const struct pp_frames *set, uint32_t a, uint32_t b)
{
	const struct pp_frame *left = &set->frame[a], *right = &set->frame[b];
	int order = pp_str_cmp(set->label[a], set->label[b]);

	if (order == 0)
		order = pp_str_cmp(left->file, right->file);
	if (order == 0)
		order = compare_i64(left->line, right->line);
	if (order == 0)
		order = compare_i64(left->column, right->column);
	if (order == 0)
		order = compare_u64(left->address, right->address);
	if (order == 0)
		order = pp_str_cmp(left->mapping, right->mapping);
	if (order == 0)
		order = compare_i64(left->start_line, right->start_line);
	return order != 0 ? order : compare_u64(a, b);
}

static int fail_memory(const struct pp_frames *set, struct pp_error *err)
{
	if (pp_arena_over(set->arena))
		return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "names of frames take too much memory");
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for frames");
}

static int intern(struct pp_frames *set, struct pp_str s, uint32_t *id, struct pp_error *err)
{
	*id = pp_intern_put(set->strings, s.ptr, s.len, NULL);
	return *id == PP_NONE ? fail_memory(set, err) : 0;
}

static int intern_path(struct pp_frames *set, struct pp_str path, uint32_t *id, struct pp_error *err)
{
	path = pp_path_without_build(path);
	set->scratch.n = 0;
	if (pp_buf_append(&set->scratch, path.ptr, path.len, err) != 0)
		return -1;
	if (path.len == 0) {
		*id = 0;
		return 0;
	}
	const size_t n = pp_path_clean(path, set->scratch.bytes); /* never longer than what it reads */
	return intern(set, (struct pp_str){set->scratch.bytes, n}, id, err);
}

/* Ids of a function's name and file, each only where the granularity asks for it. */
static int function_names(struct walk *walk, uint32_t function, struct named *named, struct pp_error *err)
{
	static const bool wants_name[] = {
		[PP_BY_FRAMES] = true, [PP_BY_FUNCTIONS] = true, [PP_BY_FILEFUNCTIONS] = true,
		[PP_BY_LINES] = true,  [PP_BY_COLUMNS] = true,   [PP_BY_ADDRESSES] = true, [PP_BY_MAPPINGS] = false,
	};
	static const bool wants_file[] = {
		[PP_BY_FRAMES] = true, [PP_BY_FILES] = true,     [PP_BY_FILEFUNCTIONS] = true,
		[PP_BY_LINES] = true,  [PP_BY_COLUMNS] = true,   [PP_BY_ADDRESSES] = true, [PP_BY_MAPPINGS] = false,
	};
	struct named *known = &walk->functions[function];
	const struct pp_function *f = &walk->profile->functions[function];
	const enum pp_granularity by = walk->set->granularity;

	if (known->name == PP_NONE) {
		struct named fresh = {0, 0};
		if (wants_name[by] && intern(walk->set, pp_string(walk->profile, f->name), &fresh.name, err) != 0)
			return -1;
		if (wants_file[by] &&
		    intern_path(walk->set, pp_string(walk->profile, f->filename), &fresh.file, err) != 0)
			return -1;
		*known = fresh;
	}
	*named = *known;
	return 0;
}

/* The id of a mapping's file: its base name by frames and between builds (the folder differs between
 * machines), whole else; 0 without one. */
static int mapping_name(struct walk *walk, uint32_t mapping, uint32_t *id, struct pp_error *err)
{
	*id = 0;
	if (mapping == PP_NONE)
		return 0;
	if (walk->mappings[mapping] == PP_NONE) {
		struct pp_str file = pp_string(walk->profile, walk->profile->mappings[mapping].filename);
		if (walk->set->granularity == PP_BY_FRAMES || walk->set->compare_builds)
			file = pp_path_base(file);
		if (intern(walk->set, file, &walk->mappings[mapping], err) != 0)
			return -1;
	}
	*id = walk->mappings[mapping];
	return 0;
}

/* By frames, code without a name: mapping and offset in its file, which stays when the mapping moves. */
static int place_key(struct walk *walk, const struct pp_location *location, struct key *key,
                     struct pp_error *err)
{
	if (mapping_name(walk, location->mapping, &key->mapping, err) != 0)
		return -1;
	key->form = FORM_BINARY;
	if (location->address == 0)
		return 0;
	if (key->mapping != 0) {
		const struct pp_mapping *mapping = &walk->profile->mappings[location->mapping];
		if (location->address >= mapping->start) {
			key->form = FORM_OFFSET;
			key->address = location->address - mapping->start + mapping->offset;
			return 0;
		}
		key->mapping = 0;
	}
	key->form = FORM_ADDRESS;
	key->address = location->address;
	return 0;
}

/* line is NULL for a location without lines. */
static int frames_key(struct walk *walk, const struct pp_location *location, const struct pp_line *line,
                      struct key *key, struct pp_error *err)
{
	struct named named = {0, 0};

	if (!line)
		return place_key(walk, location, key, err);
	if (line->function == PP_NONE) {
		key->form = FORM_CODE; /* a broken reference is one frame "??", wherever it stands */
		return 0;
	}
	if (function_names(walk, line->function, &named, err) != 0)
		return -1;
	if (named.name == 0 && location->address != 0)
		return place_key(walk, location, key, err);
	key->form = FORM_CODE;
	key->name = named.name;
	key->file = named.file;
	return 0;
}

/* The reference blanks what the granularity does not ask for and compares the rest; the binary and
 * the first line of a function count only where its name is empty. */
static int reference_key(struct walk *walk, const struct pp_location *location,
                         const struct pp_line *line, struct key *key, struct pp_error *err)
{
	const enum pp_granularity by = walk->set->granularity;
	struct named named = {0, 0};

	if (by == PP_BY_ADDRESSES)
		key->address = location->address;
	key->form = FORM_BINARY;
	if (!line || line->function == PP_NONE)
		return mapping_name(walk, location->mapping, &key->mapping, err);
	if (function_names(walk, line->function, &named, err) != 0)
		return -1;
	key->name = named.name;
	key->file = named.file;
	if (by == PP_BY_LINES || by == PP_BY_COLUMNS || by == PP_BY_ADDRESSES)
		key->line = line->line;
	if (by == PP_BY_COLUMNS || by == PP_BY_ADDRESSES)
		key->column = line->column;
	if (named.name != 0 || named.file != 0)
		key->form = FORM_CODE;
	const int64_t start_line = walk->profile->functions[line->function].start_line;
	if (walk->set->compare_builds && (by == PP_BY_LINES || by == PP_BY_COLUMNS) && named.name != 0 && start_line > 0 &&
	    line->line >= start_line) {
		key->form = FORM_DISTANCE;
		key->line = line->line - start_line;
	}
	if (named.name != 0 || (walk->set->compare_builds && named.file != 0))
		return 0;
	key->start_line = walk->set->compare_builds ? 0 : start_line;
	return mapping_name(walk, location->mapping, &key->mapping, err);
}

static int mappings_key(struct walk *walk, const struct pp_location *location, struct key *key,
                        struct pp_error *err)
{
	if (mapping_name(walk, location->mapping, &key->mapping, err) != 0)
		return -1;
	key->form = key->mapping != 0 ? FORM_CODE : FORM_BINARY;
	return 0;
}

/* Appends text to the label in scratch, after a space if there is something before it. */
static int label_part(struct pp_frames *set, struct pp_str text, struct pp_error *err)
{
	if (set->scratch.n > 0 && pp_buf_append(&set->scratch, " ", 1, err) != 0)
		return -1;
	return pp_buf_append(&set->scratch, text.ptr, text.len, err);
}

/* Address, name, place; else the binary; else "<unknown>". */
static int reference_label(struct pp_frames *set, const struct pp_frame *frame, struct pp_error *err)
{
	struct pp_sink sink = pp_buf_sink(&set->scratch);

	if (frame->address != 0 && pp_sink_printf(&sink, err, "%016" PRIx64, frame->address) != 0)
		return -1;
	if (frame->name.len > 0 && label_part(set, frame->name, err) != 0)
		return -1;
	if (frame->line != 0 || frame->line_is_relative) {
		if (label_part(set, frame->file, err) != 0 ||
		    pp_sink_printf(&sink, err, frame->line_is_relative ? ":+%" PRId64 : ":%" PRId64, frame->line) != 0)
			return -1;
		return frame->column == 0 ? 0 : pp_sink_printf(&sink, err, ":%" PRId64, frame->column);
	}
	if (frame->file.len > 0)
		return label_part(set, frame->file, err);
	if (frame->name.len > 0)
		return 0;
	if (frame->mapping.len == 0)
		return label_part(set, PP_LIT("<unknown>"), err);
	if (label_part(set, PP_LIT("["), err) != 0)
		return -1;
	const struct pp_str base = pp_path_base(frame->mapping);
	return pp_buf_append(&set->scratch, base.ptr, base.len, err) != 0 ? -1
	                                                                  : pp_buf_append(&set->scratch, "]", 1, err);
}

static int place_label(struct pp_frames *set, const struct pp_frame *frame, enum form form,
                       struct pp_error *err)
{
	struct pp_sink sink = pp_buf_sink(&set->scratch);

	if (form == FORM_ADDRESS)
		return pp_sink_printf(&sink, err, "0x%" PRIx64, frame->address);
	if (frame->mapping.len == 0)
		return label_part(set, PP_LIT("??"), err);
	if (form == FORM_OFFSET) {
		if (label_part(set, frame->mapping, err) != 0)
			return -1;
		return pp_sink_printf(&sink, err, "+0x%" PRIx64, frame->address);
	}
	if (label_part(set, PP_LIT("["), err) != 0 ||
	    pp_buf_append(&set->scratch, frame->mapping.ptr, frame->mapping.len, err) != 0)
		return -1;
	return pp_buf_append(&set->scratch, "]", 1, err);
}

/* Labels that are a string of the set are borrowed; others are composed and copied. */
static int make_label(struct pp_frames *set, const struct pp_frame *frame, enum form form,
                      struct pp_str *label, struct pp_error *err)
{
	const enum pp_granularity by = set->granularity;
	char *copy;

	if (form == FORM_NO_STACK) {
		*label = PP_LIT("(no stack)");
		return 0;
	}
	if (by == PP_BY_MAPPINGS) {
		*label = frame->mapping.len > 0 ? frame->mapping : PP_LIT("<unknown>");
		return 0;
	}
	if (by == PP_BY_FRAMES && form == FORM_CODE) {
		*label = frame->name.len > 0 ? frame->name : PP_LIT("??");
		return 0;
	}
	if (by == PP_BY_FUNCTIONS && form == FORM_CODE) {
		*label = frame->name;
		return 0;
	}
	set->scratch.n = 0;
	if (by == PP_BY_FRAMES ? place_label(set, frame, form, err) : reference_label(set, frame, err))
		return -1;
	copy = pp_arena_copy(set->arena, set->scratch.bytes, set->scratch.n);
	if (!copy)
		return fail_memory(set, err);
	*label = (struct pp_str){copy, set->scratch.n};
	return 0;
}

/* The index of the frame with this key, made if new. */
static int put_frame(struct pp_frames *set, const struct key *key, uint32_t *index, struct pp_error *err)
{
	static const enum pp_frame_kind kinds[] = {
		[FORM_CODE] = PP_FRAME_CODE,
		[FORM_DISTANCE] = PP_FRAME_CODE,
		[FORM_OFFSET] = PP_FRAME_UNSYMBOLIZED,
		[FORM_ADDRESS] = PP_FRAME_UNSYMBOLIZED,
		[FORM_BINARY] = PP_FRAME_UNSYMBOLIZED,
		[FORM_NO_STACK] = PP_FRAME_NO_STACK,
	};
	const size_t want = (size_t)pp_intern_count(set->keys) + 1;
	struct pp_frame frame = {0};
	bool is_new;
	void *array;

	array = set->frame;
	if (pp_arena_reserve(set->arena, &array, &set->frame_capacity, want, sizeof *set->frame) != 0)
		return fail_memory(set, err);
	set->frame = array;
	array = set->label;
	if (pp_arena_reserve(set->arena, &array, &set->label_capacity, want, sizeof *set->label) != 0)
		return fail_memory(set, err);
	set->label = array;

	*index = pp_intern_put(set->keys, key, sizeof *key, &is_new);
	if (*index == PP_NONE)
		return fail_memory(set, err);
	if (!is_new)
		return 0;
	frame.kind = kinds[key->form];
	frame.name = pp_intern_at(set->strings, key->name);
	frame.file = pp_intern_at(set->strings, key->file);
	frame.line = key->line;
	frame.line_is_relative = key->form == FORM_DISTANCE;
	frame.column = key->column;
	frame.address = key->address;
	frame.mapping = pp_intern_at(set->strings, key->mapping);
	frame.start_line = key->start_line;
	set->frame[*index] = frame;
	set->label[*index] = PP_LIT("");
	return make_label(set, &frame, (enum form)key->form, &set->label[*index], err);
}

/* Fills what is informative and not known yet. */
static int note_details(struct walk *walk, const struct pp_location *location, const struct pp_line *line,
                        uint32_t index, struct pp_error *err)
{
	const struct pp_profile *profile = walk->profile;
	struct pp_frame *frame = &walk->set->frame[index];

	if (frame->start_line == 0 && line && line->function != PP_NONE && walk->set->granularity != PP_BY_MAPPINGS)
		frame->start_line = profile->functions[line->function].start_line;
	if (frame->build_id.len == 0 && location->mapping != PP_NONE) {
		const struct pp_str build_id = pp_string(profile, profile->mappings[location->mapping].build_id);
		uint32_t id;
		if (build_id.len == 0)
			return 0;
		if (intern(walk->set, build_id, &id, err) != 0)
			return -1;
		frame->build_id = pp_intern_at(walk->set->strings, id);
	}
	return 0;
}

static int map_line(struct walk *walk, const struct pp_location *location, const struct pp_line *line,
                    uint32_t *frame, struct pp_error *err)
{
	struct key key = {0};
	int bad;

	if (walk->set->granularity == PP_BY_FRAMES)
		bad = frames_key(walk, location, line, &key, err);
	else if (walk->set->granularity == PP_BY_MAPPINGS)
		bad = mappings_key(walk, location, &key, err);
	else
		bad = reference_key(walk, location, line, &key, err);
	if (bad || put_frame(walk->set, &key, frame, err) != 0)
		return -1;
	return note_details(walk, location, line, *frame, err);
}

static int map_locations(struct walk *walk, struct pp_frame_map *map, struct pp_error *err)
{
	const struct pp_profile *profile = walk->profile;
	uint32_t at = 0;

	for (uint32_t l = 0; l < profile->locations_n; l++) {
		const struct pp_location *location = &profile->locations[l];
		map->first[l] = at;
		if (location->lines_n == 0 && map_line(walk, location, NULL, &map->frame[at++], err) != 0)
			return -1;
		for (uint32_t i = 0; i < location->lines_n; i++)
			if (map_line(walk, location, &profile->lines[location->line_first + i],
			             &map->frame[at++], err) != 0)
				return -1;
	}
	map->first[profile->locations_n] = at;
	return 0;
}

static int map_no_stack(struct walk *walk, struct pp_frame_map *map, struct pp_error *err)
{
	const struct key key = {.form = FORM_NO_STACK};

	map->no_stack = PP_NONE;
	for (uint32_t s = 0; s < walk->profile->stacks_n; s++)
		if (walk->profile->stacks[s].n == 0)
			return put_frame(walk->set, &key, &map->no_stack, err);
	return 0;
}

/* One frame a line, and one for each location that has none. */
static uint64_t frames_of(const struct pp_profile *profile)
{
	uint64_t n = 0;

	for (uint32_t l = 0; l < profile->locations_n; l++)
		n += profile->locations[l].lines_n > 0 ? profile->locations[l].lines_n : 1;
	return n;
}

int pp_frames_map(struct pp_frames *set, const struct pp_profile *profile, struct pp_frame_map *map,
                  struct pp_error *err)
{
	struct walk walk = {.set = set, .profile = profile};
	struct pp_frame_map made = {0};
	const uint64_t n = frames_of(profile);
	int status = -1;

	if (n >= PP_NONE) {
		pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "too many frames: %" PRIu64, n);
		return -1;
	}
	made.first = malloc(((size_t)profile->locations_n + 1) * sizeof *made.first);
	made.frame = malloc(((size_t)n + 1) * sizeof *made.frame);
	walk.functions = malloc(((size_t)profile->functions_n + 1) * sizeof *walk.functions);
	walk.mappings = malloc(((size_t)profile->mappings_n + 1) * sizeof *walk.mappings);
	if (!made.first || !made.frame || !walk.functions || !walk.mappings) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the frames of a profile");
		goto done;
	}
	memset(walk.functions, 0xff, (size_t)profile->functions_n * sizeof *walk.functions);
	memset(walk.mappings, 0xff, (size_t)profile->mappings_n * sizeof *walk.mappings);
	if (map_locations(&walk, &made, err) != 0 || map_no_stack(&walk, &made, err) != 0)
		goto done;
	*map = made;
	made = (struct pp_frame_map){0};
	status = 0;
done:
	pp_frame_map_release(&made);
	free(walk.functions);
	free(walk.mappings);
	return status;
}

void pp_frame_map_release(struct pp_frame_map *map)
{
	free(map->first);
	free(map->frame);
	*map = (struct pp_frame_map){NULL, NULL, PP_NONE};
}
