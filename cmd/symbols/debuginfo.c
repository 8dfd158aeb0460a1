#include "cmd/symbols/debuginfo.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 128                           /* of nested blocks and inlined calls */
#define STEPS_MAX (UINT64_C(1) << 28)           /* ranges looked at, and frames found in them */
#define ARENA_BYTES ((uint64_t)1 << 30)

/* A function whose range holds an address, and the one that it is inlined in. */
struct link {
	Dwarf_Die die;
	uint32_t outer; /* index or PP_NONE */
	uint32_t depth;
};

/* What was found in the unit at hand for one address. */
struct spot {
	uint64_t unit;       /* the last unit that holds the address */
	uint32_t inner;      /* link or PP_NONE */
	uint64_t root_bytes; /* the range of the function that is there */
	Dwarf_Off root;
};

struct debuginfo {
	Dwarf *debug, *alt;
	uint32_t split_missing;
	const char *split_name; /* of the first that is missing */
	struct pp_arena *arena;
	struct pp_intern *files; /* names that were put together */
	struct pp_buf scratch;
	uint64_t steps;
};

/* The work on one unit. */
struct unit {
	struct debuginfo *info;
	const uint64_t *addresses;
	uint32_t n;
	uint64_t number; /* of this unit, from 1 on */
	uint32_t *hits;  /* the addresses that it holds */
	uint32_t hits_n;
	struct spot *spots; /* by address */
	struct link *links;
	size_t links_n, links_capacity;
	struct pp_arena *arena; /* of links */
	Dwarf_Off function;     /* the subprogram that is being walked */
	Dwarf_Lines *lines;
	size_t lines_n;
	Dwarf_Files *files; /* of the numbers in call_file */
	const char *folder; /* that names of files are relative to; "" when not known */
	struct pp_error *err;
};

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for debug information");
}

struct debuginfo *debuginfo_open(struct object *object, struct object *alt, struct pp_error *err)
{
	struct debuginfo *info = calloc(1, sizeof *info);

	if (info)
		info->arena = pp_arena_new(ARENA_BYTES);
	if (info && info->arena)
		info->files = pp_intern_new(info->arena);
	if (!info || !info->files) {
		no_memory(err);
		debuginfo_close(info);
		return NULL;
	}
	info->debug = dwarf_begin_elf(object_elf(object), DWARF_C_READ, NULL);
	if (!info->debug) {
		pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "debug information: %s%s", dwarf_errmsg(-1),
		        object_is_zstd(object) ? " that this libdw reads: it is compressed with zstd" : "");
		debuginfo_close(info);
		return NULL;
	}
	info->alt = alt ? dwarf_begin_elf(object_elf(alt), DWARF_C_READ, NULL) : NULL;
	if (info->alt)
		dwarf_setalt(info->debug, info->alt);
	return info;
}

void debuginfo_close(struct debuginfo *info)
{
	if (!info)
		return;
	dwarf_end(info->debug);
	dwarf_end(info->alt);
	pp_buf_release(&info->scratch);
	pp_intern_free(info->files);
	pp_arena_free(info->arena);
	free(info);
}

static int step(struct debuginfo *info, struct pp_error *err)
{
	return ++info->steps > STEPS_MAX
	           ? pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "debug information: too many overlapping ranges")
	           : 0;
}

/* The first address that is not below. */
static uint32_t first_from(const uint64_t *addresses, uint32_t n, uint64_t below)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (addresses[middle] < below)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Leaves the functions that do not enclose what is at this depth. */
static void leave(struct unit *unit, struct spot *spot, uint32_t depth)
{
	while (spot->inner != PP_NONE && unit->links[spot->inner].depth >= depth)
		spot->inner = unit->links[spot->inner].outer;
}

static int push(struct unit *unit, struct spot *spot, const Dwarf_Die *die, uint32_t depth)
{
	void *array = unit->links;

	if (unit->links_n >= PP_NONE ||
	    pp_arena_reserve(unit->arena, &array, &unit->links_capacity, unit->links_n + 1, sizeof *unit->links) != 0)
		return no_memory(unit->err);
	unit->links = array;
	unit->links[unit->links_n] = (struct link){*die, spot->inner, depth};
	spot->inner = (uint32_t)unit->links_n++;
	return 0;
}

/* Of functions that overlap the smallest holds an address, and of equals the first. */
static int enter(struct unit *unit, uint32_t i, Dwarf_Die *die, uint64_t bytes, uint32_t depth)
{
	struct spot *spot = &unit->spots[i];

	if (spot->unit != unit->number)
		return 0;
	if (dwarf_tag(die) == DW_TAG_inlined_subroutine) {
		if (spot->inner == PP_NONE || spot->root != unit->function)
			return 0;
		leave(unit, spot, depth);
		return push(unit, spot, die, depth);
	}
	if (spot->inner != PP_NONE && spot->root_bytes <= bytes)
		return 0;
	spot->inner = PP_NONE;
	spot->root = unit->function;
	spot->root_bytes = bytes;
	return push(unit, spot, die, depth);
}

/* Notes a function at every address of its ranges. */
static int take_function(struct unit *unit, Dwarf_Die *die, uint32_t depth)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (dwarf_tag(die) == DW_TAG_subprogram)
		unit->function = dwarf_dieoffset(die);
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (step(unit->info, unit->err) != 0)
			return -1;
		for (uint32_t i = first_from(unit->addresses, unit->n, start);
		     i < unit->n && unit->addresses[i] < end; i++)
			if (step(unit->info, unit->err) != 0 || enter(unit, i, die, end - start, depth) != 0)
				return -1;
	}
	return 0;
}

/* All functions below the unit's entry, outer ones first. */
static int walk(struct unit *unit, Dwarf_Die *root)
{
	Dwarf_Die path[DEPTH_MAX];
	Dwarf_Off function[DEPTH_MAX]; /* that encloses the entries of a depth */
	uint32_t depth = 0;

	unit->function = 0;
	function[0] = 0;
	if (dwarf_child(root, &path[0]) != 0)
		return 0;
	for (;;) {
		Dwarf_Die *die = &path[depth];
		const int tag = dwarf_tag(die);
		unit->function = function[depth];
		if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) && take_function(unit, die, depth) != 0)
			return -1;
		if (depth + 1 < DEPTH_MAX && dwarf_child(die, &path[depth + 1]) == 0) {
			function[++depth] = unit->function;
			continue;
		}
		while (dwarf_siblingof(&path[depth], &path[depth]) != 0)
			if (depth-- == 0)
				return 0;
	}
}

/* The row of the line table that holds an address, or NULL: the last that begins up to it. */
static Dwarf_Line *line_at(const struct unit *unit, uint64_t address)
{
	size_t low = 0, high = unit->lines_n;
	Dwarf_Addr start;
	Dwarf_Line *line;
	bool ends = true;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		line = dwarf_onesrcline(unit->lines, middle);
		if (!line || dwarf_lineaddr(line, &start) != 0)
			return NULL;
		if (start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	line = low > 0 ? dwarf_onesrcline(unit->lines, low - 1) : NULL;
	return line && dwarf_lineendsequence(line, &ends) == 0 && !ends ? line : NULL;
}

static void place_of_line(Dwarf_Line *line, struct code_frame *frame)
{
	const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	int number = 0, column = 0;

	if (!file)
		return;
	frame->file = file;
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		frame->line = number;
	if (frame->line > 0 && dwarf_linecol(line, &column) == 0 && column > 0)
		frame->column = column;
}

static int64_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word word;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &word) != 0 || word > INT32_MAX)
		return 0;
	return (int64_t)word;
}

/* Where an inlined function is called: a place in the function around it. */
static void place_of_call(const struct unit *unit, Dwarf_Die *inlined, struct code_frame *frame)
{
	const int64_t number = number_of(inlined, DW_AT_call_file);
	const char *file = unit->files ? dwarf_filesrc(unit->files, (size_t)number, NULL, NULL) : NULL;

	if (!file)
		return;
	frame->file = file;
	frame->line = number_of(inlined, DW_AT_call_line);
	frame->column = number_of(inlined, DW_AT_call_column);
}

static const char *text_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* Languages whose names are linked as they are written. */
static bool links_names(Dwarf_Die *die)
{
	Dwarf_Die unit;

	switch (dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}

static void name_of(Dwarf_Die *die, struct code_frame *frame)
{
	const char *name = text_of(die, DW_AT_linkage_name);
	const char *file;
	Dwarf_Addr entry;
	int line;

	if (!name)
		name = text_of(die, DW_AT_MIPS_linkage_name);
	frame->linked = name != NULL;
	if (!name) {
		name = text_of(die, DW_AT_name);
		frame->linked = name && links_names(die);
	}
	frame->name = name ? name : "";
	if (dwarf_tag(die) == DW_TAG_subprogram && dwarf_entrypc(die, &entry) == 0)
		frame->entry = entry;
	file = dwarf_decl_file(die);
	if (file && strcmp(file, frame->file) == 0 && dwarf_decl_line(die, &line) == 0 && line > 0)
		frame->start_line = line;
}

/* Makes the name of a file absolute. */
static int complete_file(struct unit *unit, struct code_frame *frame)
{
	struct debuginfo *info = unit->info;
	uint32_t index;

	if (frame->file[0] == '/' || frame->file[0] == '\0' || unit->folder[0] == '\0')
		return 0;
	info->scratch.n = 0;
	if (pp_buf_append(&info->scratch, unit->folder, strlen(unit->folder), unit->err) != 0 ||
	    pp_buf_append(&info->scratch, "/", 1, unit->err) != 0 ||
	    pp_buf_append(&info->scratch, frame->file, strlen(frame->file) + 1, unit->err) != 0)
		return -1;
	index = pp_intern_put(info->files, info->scratch.bytes, info->scratch.n, NULL);
	if (index == PP_NONE)
		return no_memory(unit->err);
	frame->file = pp_intern_at(info->files, index).ptr;
	return 0;
}

/* The frames of one address. Nothing where neither a line nor a function is known. */
static int write_frames(struct unit *unit, uint32_t i, struct code *code)
{
	struct code_frame first = {.name = "", .file = ""};
	uint32_t inner = unit->spots[i].inner, n = inner == PP_NONE;
	struct code_frame *frames;

	place_of_line(line_at(unit, unit->addresses[i]), &first);
	if (inner == PP_NONE && first.file[0] == '\0')
		return 0;
	for (uint32_t at = inner; at != PP_NONE; at = unit->links[at].outer)
		n++;
	frames = pp_arena_alloc(unit->info->arena, n * sizeof *frames);
	if (!frames)
		return no_memory(unit->err);
	frames[0] = first;
	for (uint32_t k = 0, at = inner; at != PP_NONE; k++, at = unit->links[at].outer) {
		name_of(&unit->links[at].die, &frames[k]);
		if (k + 1 < n) {
			frames[k + 1] = (struct code_frame){.name = "", .file = ""};
			place_of_call(unit, &unit->links[at].die, &frames[k + 1]);
		}
	}
	for (uint32_t k = 0; k < n; k++)
		if (complete_file(unit, &frames[k]) != 0)
			return -1;
	*code = (struct code){frames, n};
	return 0;
}

static int hit(struct unit *unit, uint32_t first, uint64_t end)
{
	for (uint32_t i = first; i < unit->n && unit->addresses[i] < end; i++) {
		struct spot *spot = &unit->spots[i];
		if (step(unit->info, unit->err) != 0)
			return -1;
		if (spot->unit == unit->number)
			continue;
		spot->unit = unit->number;
		spot->inner = PP_NONE;
		unit->hits[unit->hits_n++] = i;
	}
	return 0;
}

/* Finds the addresses that a unit holds: all where it does not say. */
static int find_hits(struct unit *unit, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	bool ranges = false;

	unit->number++;
	unit->hits_n = 0;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		ranges = true;
		if (step(unit->info, unit->err) != 0 ||
		    hit(unit, first_from(unit->addresses, unit->n, start), end) != 0)
			return -1;
	}
	return !ranges && at == 0 && dwarf_haschildren(die) == 1 ? hit(unit, 0, UINT64_MAX) : 0;
}

/* One unit: die has its lines, root its functions; they differ where a unit is split in two files. */
static int resolve_unit(struct unit *unit, Dwarf_Die *die, Dwarf_Die *root, struct code *code)
{
	size_t files_n;

	if (find_hits(unit, die) != 0)
		return -1;
	if (unit->hits_n == 0)
		return 0;
	unit->links_n = 0;
	if (dwarf_getsrclines(die, &unit->lines, &unit->lines_n) != 0)
		unit->lines_n = 0;
	if (dwarf_getsrcfiles(root, &unit->files, &files_n) != 0)
		unit->files = NULL;
	unit->folder = text_of(die, DW_AT_comp_dir);
	if (!unit->folder)
		unit->folder = "";
	if (walk(unit, root) != 0)
		return -1;
	for (uint32_t k = 0; k < unit->hits_n; k++) {
		const uint32_t i = unit->hits[k];
		if (code[i].n == 0 && write_frames(unit, i, &code[i]) != 0)
			return -1;
	}
	return 0;
}

static void note_missing(struct debuginfo *info, Dwarf_Die *skeleton)
{
	const char *name = text_of(skeleton, DW_AT_dwo_name);

	if (!name)
		name = text_of(skeleton, DW_AT_GNU_dwo_name);
	if (info->split_missing++ == 0)
		info->split_name = name ? name : "";
}

static int resolve_units(struct unit *unit, struct code *code)
{
	Dwarf_CU *cu = NULL, *next;
	Dwarf_Die die, split;
	uint8_t type;

	while (dwarf_get_units(unit->info->debug, cu, &next, NULL, &type, &die, &split) == 0) {
		cu = next;
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		const bool is_split = type == DW_UT_skeleton;
		if (resolve_unit(unit, &die, is_split && split.cu ? &split : &die, code) != 0)
			return -1;
		if (is_split && !split.cu && unit->hits_n > 0)
			note_missing(unit->info, &die);
	}
	return 0;
}

uint32_t debuginfo_split_missing(const struct debuginfo *info, const char **name)
{
	*name = info->split_name;
	return info->split_missing;
}

int debuginfo_resolve(struct debuginfo *info, const uint64_t *addresses, struct code *code, uint32_t n,
                      struct pp_error *err)
{
	struct unit unit = {.info = info, .addresses = addresses, .n = n, .err = err};
	int result = -1;

	memset(code, 0, n * sizeof *code);
	unit.hits = malloc(((size_t)n + 1) * sizeof *unit.hits);
	unit.spots = calloc((size_t)n + 1, sizeof *unit.spots);
	unit.arena = pp_arena_new(ARENA_BYTES);
	if (!unit.hits || !unit.spots || !unit.arena)
		no_memory(err);
	else
		result = resolve_units(&unit, code);
	pp_arena_free(unit.arena);
	free(unit.spots);
	free(unit.hits);
	return result;
}
