#include "cmd/symbols/symbolize.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/symbols/debuginfo.h"
#include "cmd/symbols/rebuild.h"

#define WARNINGS_MAX 20

/* An address of one file, and the location that it is of. */
struct target {
	uint64_t own;
	uint32_t location;
};

/* Locations whose mappings are of one file. */
struct group {
	uint32_t mapping; /* the first */
	const uint32_t *locations;
	uint32_t n;
};

struct work {
	const struct symbolize *how;
	const struct pp_profile *profile;
	struct rebuild rebuild;
	uint64_t wanted, resolved, warnings;
	struct pp_error err;
};

static int no_memory(struct work *work)
{
	return pp_fail(&work->err, PP_ENOMEM, PP_NO_OFFSET, "no memory for symbols");
}

static const char *file_of(const struct work *work, const struct group *group)
{
	return pp_string(work->profile, work->profile->mappings[group->mapping].filename).ptr;
}

/* What is behind these names is no file: the kernel's own code, and memory without a file. As the reference. */
static bool has_no_file(struct pp_str file)
{
	const char *slash = strrchr(file.ptr, '/');
	const char *base = slash ? slash + 1 : file.ptr;

	return base[0] == '[' || strncmp(base, "linux-vdso", 10) == 0 || strncmp(file.ptr, "/dev/dri/", 9) == 0 ||
	       strcmp(file.ptr, "//anon") == 0 || strncmp(file.ptr, "/memfd:", 7) == 0;
}

static void warn(struct work *work, const struct group *group, const char *why)
{
	if (++work->warnings <= WARNINGS_MAX)
		cli_warn("'%s': %s; %" PRIu32 " %s without names", file_of(work, group), why, group->n,
		         group->n == 1 ? "location stays" : "locations stay");
}

static int compare_targets(const void *left, const void *right)
{
	const struct target *a = left, *b = right;

	if (a->own != b->own)
		return a->own < b->own ? -1 : 1;
	return a->location < b->location ? -1 : a->location > b->location;
}

/* The locations of a group whose addresses are in the file, by address. */
static uint32_t find_targets(const struct work *work, const struct group *group, const struct object *code,
                             struct target *targets)
{
	const struct pp_profile *p = work->profile;
	uint32_t n = 0;

	for (uint32_t i = 0; i < group->n; i++) {
		const struct pp_location *location = &p->locations[group->locations[i]];
		const struct pp_mapping *mapping = &p->mappings[location->mapping];
		const struct mapped mapped = {mapping->start, mapping->limit, mapping->offset};
		if (object_address(code, &mapped, location->address, &targets[n].own))
			targets[n++].location = group->locations[i];
	}
	qsort(targets, n, sizeof *targets, compare_targets);
	return n;
}

/* The name of a function that is not inlined. Where debug information does not say how it is linked, the symbol
 * at its beginning says more; where it knows no function, the symbol that holds the address. The debug file comes
 * first, since programs are stripped of symbols. */
static int name_of(struct work *work, const struct found *found, const struct target *target,
                   const struct code_frame *frame, const char **name)
{
	const uint64_t bias = found->debug ? object_bias(found->code, found->debug) : 0;
	const bool begins = frame->entry != 0;
	const uint64_t own = begins ? frame->entry - bias : target->own;
	const char *symbol = "";

	*name = frame->name;
	if (frame->linked)
		return 0;
	if (found->debug && object_symbol(found->debug, own + bias, begins, &symbol, &work->err) != 0)
		return -1;
	if (symbol[0] == '\0' && object_symbol(found->code, own, begins, &symbol, &work->err) != 0)
		return -1;
	if (symbol[0] != '\0')
		*name = symbol;
	return 0;
}

/* Gives a location its lines. */
static int fill(struct work *work, const struct found *found, const struct target *target, const struct code *code)
{
	struct pp_mapping *mapping = &work->rebuild.mappings[work->profile->locations[target->location].mapping];
	const struct code_frame bare = {.name = "", .file = ""};
	const struct code_frame *frames = code->n > 0 ? code->frames : &bare;
	const uint32_t n = code->n > 0 ? code->n : 1;
	const char *outer;

	if (name_of(work, found, target, &frames[n - 1], &outer) != 0)
		return -1;
	if (code->n == 0 && outer[0] == '\0')
		return 0;
	struct pp_line *lines = pp_arena_alloc(work->rebuild.arena, n * sizeof *lines);
	if (!lines)
		return no_memory(work);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = i + 1 == n ? outer : frames[i].name;
		lines[i] = (struct pp_line){rebuild_function(&work->rebuild, name, frames[i].file, frames[i].start_line),
		                            frames[i].line, frames[i].column};
		if (lines[i].function == PP_NONE)
			return no_memory(work);
		mapping->has_functions |= name[0] != '\0';
		mapping->has_filenames |= frames[i].file[0] != '\0';
		mapping->has_line_numbers |= frames[i].line > 0;
	}
	mapping->has_inline_frames |= code->n > 0;
	work->rebuild.lines[target->location] = (struct new_lines){lines, n};
	work->resolved++;
	return 0;
}

/* Asks the debug information for the distinct addresses among targets. Without it, or where it is broken, all
 * that is left are symbols. code[i] is of target i. */
static int read_debuginfo(struct work *work, const struct group *group, const struct found *found,
                          const struct target *targets, uint32_t n, struct debuginfo **info, struct code *code)
{
	struct pp_error err = PP_ERROR_INIT;
	const uint64_t bias = object_bias(found->code, found->debug);
	uint64_t *addresses = malloc(((size_t)n + 1) * sizeof *addresses);
	uint32_t distinct = 0;
	int result = 0;

	if (!addresses)
		return no_memory(work);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || targets[i].own != targets[i - 1].own)
			addresses[distinct++] = targets[i].own + bias;
	*info = debuginfo_open(found->debug, found->alt, &err);
	if (!*info || debuginfo_resolve(*info, addresses, code, distinct, &err) != 0) {
		if (err.code == PP_ENOMEM)
			result = pp_fail(&work->err, err.code, PP_NO_OFFSET, "%s", err.text);
		else if (++work->warnings <= WARNINGS_MAX)
			cli_warn("'%s': %s", file_of(work, group), err.text);
	}
	free(addresses);
	for (uint32_t i = n, k = distinct; i-- > 0;) { /* from distinct addresses to targets, from the end on */
		k -= i + 1 == n || targets[i].own != targets[i + 1].own;
		code[i] = code[k];
	}
	return result;
}

static void warn_of_split(struct work *work, const struct found *found, const struct debuginfo *info)
{
	const char *name;
	const uint32_t missing = info ? debuginfo_split_missing(info, &name) : 0;

	if (missing > 0 && ++work->warnings <= WARNINGS_MAX)
		cli_warn("'%s': debug information that was split off was not found ('%s'%s); inlined calls are missing",
		         object_path(found->code), name, missing > 1 ? " and others" : "");
}

static int resolve_found(struct work *work, const struct group *group, const struct found *found)
{
	struct target *targets = malloc(((size_t)group->n + 1) * sizeof *targets);
	struct code *code = calloc((size_t)group->n + 1, sizeof *code);
	struct debuginfo *info = NULL;
	const uint64_t before = work->resolved;
	int result = -1;

	if (!targets || !code) {
		no_memory(work);
		goto done;
	}
	const uint32_t n = find_targets(work, group, found->code, targets);
	if (found->debug && read_debuginfo(work, group, found, targets, n, &info, code) != 0)
		goto done;
	for (uint32_t i = 0; i < n; i++)
		if (fill(work, found, &targets[i], &code[i]) != 0)
			goto done;
	warn_of_split(work, found, info);
	if (found->note[0] != '\0' && ++work->warnings <= WARNINGS_MAX)
		cli_warn("'%s': %s", object_path(found->code), found->note);
	if (work->resolved == before)
		warn(work, group, n == 0         ? "no address is in the code of the file"
		                  : found->debug ? "the file has nothing on these addresses"
		                                 : "the file has no symbols and no debug file was found");
	else if (work->how->verbose)
		cli_error("'%s': %" PRIu64 " of %" PRIu32 " locations; %s%s", object_path(found->code),
		          work->resolved - before, group->n, found->debug ? "lines from " : "names alone, no debug file",
		          found->debug ? object_path(found->debug) : "");
	result = 0;
done:
	debuginfo_close(info);
	free(code);
	free(targets);
	return result;
}

static int resolve_group(struct work *work, const struct group *group)
{
	const struct pp_mapping *mapping = &work->profile->mappings[group->mapping];
	const struct pp_str file = pp_string(work->profile, mapping->filename);
	struct found found;
	int result = 0;

	work->wanted += group->n;
	if (file.len > 0 && has_no_file(file)) {
		if (work->how->verbose)
			cli_error("'%s': no file; %" PRIu32 " locations skipped", file.ptr, group->n);
		return 0;
	}
	find_code(&work->how->find, file, pp_string(work->profile, mapping->build_id), group->mapping == 0, &found);
	if (found.code)
		result = resolve_found(work, group, &found);
	else
		warn(work, group, found.why.text);
	found_release(&found);
	return result;
}

/* The file that each mapping is of, as a dense number; PP_NONE in the count without memory. */
static uint32_t number_files(const struct work *work, struct pp_intern *files, uint32_t *file_of_mapping,
                             uint32_t *first)
{
	const struct pp_profile *p = work->profile;
	struct pp_buf key = PP_BUF_INIT;
	struct pp_error err = PP_ERROR_INIT;

	for (uint32_t i = 0; i < p->mappings_n; i++) {
		const struct pp_str file = pp_string(p, p->mappings[i].filename), id = pp_string(p, p->mappings[i].build_id);
		bool is_new = false;
		key.n = 0;
		if (pp_buf_append(&key, file.ptr, file.len + 1, &err) != 0 || pp_buf_append(&key, id.ptr, id.len, &err) != 0)
			break;
		file_of_mapping[i] = pp_intern_put(files, key.bytes, key.n, &is_new);
		if (file_of_mapping[i] == PP_NONE)
			pp_fail(&err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
		else if (is_new)
			first[file_of_mapping[i]] = i;
	}
	pp_buf_release(&key);
	return err.code ? PP_NONE : pp_intern_count(files);
}

/* The file that a location asks for, or PP_NONE. */
static uint32_t file_wanted(const struct work *work, const uint32_t *file_of_mapping, uint32_t location)
{
	const struct pp_location *l = &work->profile->locations[location];
	const bool open = l->mapping != PP_NONE && (l->lines_n == 0 || work->how->again);

	return open ? file_of_mapping[l->mapping] : PP_NONE;
}

/* Sorts the locations by file, files in the order of their first mapping, and resolves each group. */
static int resolve_files(struct work *work, uint32_t *file_of_mapping, uint32_t *first, uint32_t files_n)
{
	const uint32_t locations_n = work->profile->locations_n;
	uint32_t *end = calloc((size_t)files_n + 1, sizeof *end); /* end[f]: where the locations of file f end */
	uint32_t *sorted = malloc(((size_t)locations_n + 1) * sizeof *sorted);
	int result = -1;

	if (!end || !sorted) {
		no_memory(work);
		goto done;
	}
	for (uint32_t i = 0; i < locations_n; i++) {
		const uint32_t file = file_wanted(work, file_of_mapping, i);
		if (file != PP_NONE)
			end[file + 1]++;
	}
	for (uint32_t f = 0; f < files_n; f++)
		end[f + 1] += end[f];
	for (uint32_t i = 0; i < locations_n; i++) {
		const uint32_t file = file_wanted(work, file_of_mapping, i);
		if (file != PP_NONE)
			sorted[end[file]++] = i;
	}
	for (uint32_t f = 0; f < files_n; f++) {
		const uint32_t start = f > 0 ? end[f - 1] : 0;
		const struct group group = {first[f], sorted + start, end[f] - start};
		if (group.n > 0 && resolve_group(work, &group) != 0)
			goto done;
	}
	result = 0;
done:
	free(sorted);
	free(end);
	return result;
}

static int resolve_all(struct work *work)
{
	const size_t mappings_n = work->profile->mappings_n;
	struct pp_intern *files = pp_intern_new(work->rebuild.arena);
	uint32_t *file_of_mapping = malloc((mappings_n + 1) * sizeof *file_of_mapping);
	uint32_t *first = malloc((mappings_n + 1) * sizeof *first);
	uint32_t files_n = PP_NONE;
	int result = -1;

	if (files && file_of_mapping && first)
		files_n = number_files(work, files, file_of_mapping, first);
	if (files_n == PP_NONE)
		no_memory(work);
	else
		result = resolve_files(work, file_of_mapping, first, files_n);
	free(first);
	free(file_of_mapping);
	pp_intern_free(files);
	return result;
}

/* Locations that belong to no mapping, and have no lines. */
static uint64_t count_homeless(const struct pp_profile *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->locations_n; i++)
		n += p->locations[i].mapping == PP_NONE && p->locations[i].lines_n == 0;
	return n;
}

static void sum_up(const struct work *work, const char *name)
{
	const uint64_t homeless = count_homeless(work->profile);

	if (work->warnings > WARNINGS_MAX)
		cli_warn("'%s': %" PRIu64 " more warnings of this kind", name, work->warnings - WARNINGS_MAX);
	if (homeless > 0)
		cli_warn("'%s': %" PRIu64 " %s no mapping, and cannot be resolved", name, homeless,
		         homeless == 1 ? "location has" : "locations have");
	if (work->how->verbose)
		cli_error("'%s': %" PRIu64 " of %" PRIu64 " locations resolved", name, work->resolved, work->wanted);
}

struct pp_profile *symbolize(const struct symbolize *how, const struct pp_profile *profile,
                             const struct pp_limits *limits, const char *name, enum cli_status *status)
{
	struct work work = {.how = how, .profile = profile, .err = PP_ERROR_INIT};
	struct pp_profile *made = NULL;

	work.rebuild.demangle = (enum demangle_mode)how->demangle;
	work.rebuild.again = how->again;
	if (rebuild_open(&work.rebuild, profile, limits, &work.err) == 0 && resolve_all(&work) == 0)
		made = rebuild_finish(&work.rebuild, &work.err);
	if (made)
		sum_up(&work, name);
	else
		*status = cli_report(name, &work.err);
	rebuild_release(&work.rebuild);
	return made;
}
