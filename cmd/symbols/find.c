#include "cmd/symbols/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEBUG_ROOT "/usr/lib/debug"

enum cli_status find_open(struct find *find)
{
	find->named = calloc(find->binaries.n + 1, sizeof(struct object *));
	if (!find->named) {
		cli_error("no memory");
		return CLI_SYSTEM;
	}
	for (size_t i = 0; i < find->binaries.n; i++) {
		struct pp_error err = PP_ERROR_INIT;
		find->named[i] = object_open(find->binaries.items[i], &err);
		if (!find->named[i])
			return cli_report(find->binaries.items[i], &err);
	}
	return CLI_OK;
}

void find_release(struct find *find)
{
	for (size_t i = 0; find->named && i < find->binaries.n; i++)
		object_free(find->named[i]);
	free(find->named);
	cli_list_release(&find->binaries);
	cli_list_release(&find->debug_dirs);
}

/* The strings in a row, malloc'ed; NULL without memory, or for a name that is no C string. */
static char *join(const struct pp_str *parts, size_t n)
{
	size_t total = 1;
	char *text, *to;

	for (size_t i = 0; i < n; i++) {
		if (memchr(parts[i].ptr, '\0', parts[i].len))
			return NULL;
		total += parts[i].len;
	}
	to = text = malloc(total);
	for (size_t i = 0; text && i < n; i++) {
		memcpy(to, parts[i].ptr, parts[i].len);
		to += parts[i].len;
	}
	if (text)
		*to = '\0';
	return text;
}

#define JOIN(...) join((const struct pp_str[]){__VA_ARGS__}, PP_COUNT(((const struct pp_str[]){__VA_ARGS__})))

static struct pp_str base_of(struct pp_str path)
{
	for (size_t i = path.len; i > 0; i--)
		if (path.ptr[i - 1] == '/')
			return (struct pp_str){path.ptr + i, path.len - i};
	return path;
}

/* With its slash; "" for a name without folders. */
static struct pp_str folder_of(struct pp_str path)
{
	return (struct pp_str){path.ptr, path.len - base_of(path).len};
}

static char lower(char c)
{
	return c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
}

static bool same_id(struct pp_str wanted, const char *id)
{
	if (wanted.len != strlen(id))
		return false;
	for (size_t i = 0; i < wanted.len; i++)
		if (lower(wanted.ptr[i]) != id[i])
			return false;
	return true;
}

/* Whether a file may stand for a mapping with this build id; fills why when not. */
static bool is_build(const struct find *find, const struct object *object, struct pp_str wanted, struct found *found)
{
	const char *id = object_build_id(object);

	if (wanted.len == 0 || same_id(wanted, id))
		return true;
	if (id[0] == '\0') {
		snprintf(found->note, sizeof found->note, "has no build id to compare with the profile's");
		return true;
	}
	if (find->any_build) {
		snprintf(found->note, sizeof found->note, "is another build than the profile's");
		return true;
	}
	pp_fail(&found->why, PP_EINCOMPAT, PP_NO_OFFSET, "'%s' is another build: its build id is %s, the profile's %.*s",
	        object_path(object), id, (int)(wanted.len < 100 ? wanted.len : 100), wanted.ptr);
	return false;
}

static void take(struct found *found, struct object *code, bool borrowed)
{
	found->code = code;
	found->borrowed = borrowed;
}

static void try_named(const struct find *find, struct pp_str file, struct pp_str build_id, bool main,
                      struct found *found)
{
	for (size_t i = 0; i < find->binaries.n; i++)
		if (build_id.len > 0 && same_id(build_id, object_build_id(find->named[i]))) {
			take(found, find->named[i], true);
			return;
		}
	for (size_t i = 0; i < find->binaries.n && !found->code; i++) {
		const bool same_name = pp_str_eq(base_of(pp_str_of(find->binaries.items[i])), base_of(file));
		if ((same_name || (main && file.len == 0 && find->binaries.n == 1)) &&
		    is_build(find, find->named[i], build_id, found))
			take(found, find->named[i], true);
	}
}

static void try_path(const struct find *find, struct pp_str file, struct pp_str build_id, struct found *found)
{
	char *path = JOIN(pp_str_of(find->sysroot), file);
	struct pp_error err = PP_ERROR_INIT;
	struct object *object = path ? object_open(path, &err) : NULL;

	free(path);
	if (object && is_build(find, object, build_id, found)) {
		take(found, object, false);
		return;
	}
	object_free(object);
	if (!object)
		pp_fail(&found->why, err.code ? err.code : PP_EIO, PP_NO_OFFSET, "%s",
		        err.code ? err.text : "no such name");
}

/* The file with this build id, else NULL. Takes path. */
static struct object *open_build(char *path, struct pp_str build_id)
{
	struct pp_error err = PP_ERROR_INIT;
	struct object *object = path ? object_open_part(path, &err) : NULL;

	free(path);
	if (object && same_id(build_id, object_build_id(object)))
		return object;
	object_free(object);
	return NULL;
}

/* DIR/.build-id/xx/yyyy and the suffix, which must have that build id. */
static struct object *open_by_id(struct pp_str root, struct pp_str dir, struct pp_str build_id, struct pp_str suffix)
{
	char id[200];

	if (build_id.len < 3 || build_id.len >= sizeof id || memchr(build_id.ptr, '/', build_id.len))
		return NULL;
	for (size_t i = 0; i < build_id.len; i++)
		id[i] = lower(build_id.ptr[i]);
	char *path = JOIN(root, dir, PP_LIT("/.build-id/"), {id, 2}, PP_LIT("/"), {id + 2, build_id.len - 2},
	                  suffix);
	return open_build(path, build_id);
}

/* A debug file has the suffix ".debug", a program none. */
static struct object *find_by_id(const struct find *find, struct pp_str build_id, struct pp_str suffix)
{
	struct object *object = NULL;

	for (size_t i = 0; i < find->debug_dirs.n && !object; i++)
		object = open_by_id(PP_LIT(""), pp_str_of(find->debug_dirs.items[i]), build_id, suffix);
	return object ? object : open_by_id(pp_str_of(find->sysroot), PP_LIT(DEBUG_ROOT), build_id, suffix);
}

/* A file that .gnu_debuglink may mean: known by its build id or, without one, by its CRC. Takes path. */
static struct object *open_link(const struct object *code, char *path, uint32_t crc)
{
	struct pp_error err = PP_ERROR_INIT;
	struct object *object = path ? object_open(path, &err) : NULL;
	const char *id = object_build_id(code);
	uint32_t sum;
	bool same = false;

	free(path);
	if (!object)
		return NULL;
	if (id[0] != '\0' && object_build_id(object)[0] != '\0')
		same = strcmp(id, object_build_id(object)) == 0;
	else
		same = object_crc(object, &sum, &err) == 0 && sum == crc;
	if (same && object_has_dwarf(object))
		return object;
	object_free(object);
	return NULL;
}

/* Beside the file, in .debug beside it, and in the debug folders under the same path and alone. file is the
 * name without the sysroot. */
static struct object *find_by_link(const struct find *find, const struct object *code, struct pp_str file)
{
	uint32_t crc;
	const char *link = object_debug_link(code, &crc);
	const struct pp_str name = pp_str_of(link), beside = folder_of(pp_str_of(object_path(code)));
	const struct pp_str root = pp_str_of(find->sysroot), folder = folder_of(file);
	struct object *object;

	if (name.len == 0 || memchr(name.ptr, '/', name.len))
		return NULL;
	object = open_link(code, JOIN(beside, name), crc);
	if (!object)
		object = open_link(code, JOIN(beside, PP_LIT(".debug/"), name), crc);
	for (size_t i = 0; i < find->debug_dirs.n && !object; i++) {
		const struct pp_str dir = pp_str_of(find->debug_dirs.items[i]);
		object = open_link(code, JOIN(dir, PP_LIT("/"), folder, name), crc);
		if (!object)
			object = open_link(code, JOIN(dir, PP_LIT("/"), name), crc);
	}
	return object ? object : open_link(code, JOIN(root, PP_LIT(DEBUG_ROOT "/"), folder, name), crc);
}

static void find_debug(const struct find *find, struct pp_str file, struct found *found)
{
	if (object_has_dwarf(found->code)) {
		found->debug = found->code;
		return;
	}
	found->debug = find_by_id(find, pp_str_of(object_build_id(found->code)), PP_LIT(".debug"));
	if (!found->debug)
		found->debug = find_by_link(find, found->code, file);
}

/* A file by dwz, under its name from the debug file on, which may be one below /usr/lib/debug, or by its build id. */
static struct object *find_alt(const struct find *find, const struct object *debug, struct pp_str link,
                               struct pp_str build_id)
{
	const bool is_absolute = link.len > 0 && link.ptr[0] == '/';
	const size_t root_n = sizeof(DEBUG_ROOT) - 1;
	struct object *alt = open_build(is_absolute ? JOIN(pp_str_of(find->sysroot), link)
	                                            : JOIN(folder_of(pp_str_of(object_path(debug))), link), build_id);

	if (link.len > root_n && memcmp(link.ptr, DEBUG_ROOT "/", root_n + 1) == 0)
		for (size_t i = 0; i < find->debug_dirs.n && !alt; i++)
			alt = open_build(JOIN(pp_str_of(find->debug_dirs.items[i]), {link.ptr + root_n, link.len - root_n}),
			                 build_id);
	return alt ? alt : find_by_id(find, build_id, PP_LIT(".debug"));
}

static void find_shared(const struct find *find, struct found *found)
{
	const char *build_id, *link = found->debug ? object_alt_link(found->debug, &build_id) : NULL;

	if (!link)
		return;
	found->alt = find_alt(find, found->debug, pp_str_of(link), pp_str_of(build_id));
	if (!found->alt && found->note[0] == '\0')
		snprintf(found->note, sizeof found->note, "shares debug information with '%.200s', which was not found: "
		         "names, folders and inlined calls are missing", link);
}

void find_code(const struct find *find, struct pp_str file, struct pp_str build_id, bool main, struct found *found)
{
	*found = (struct found){.why = PP_ERROR_INIT};
	try_named(find, file, build_id, main, found);
	if (!found->code && file.len > 0)
		try_path(find, file, build_id, found);
	if (!found->code)
		take(found, find_by_id(find, build_id, PP_LIT("")), false);
	if (!found->code)
		take(found, find_by_id(find, build_id, PP_LIT(".debug")), false);
	if (found->code) {
		find_debug(find, file, found);
		find_shared(find, found);
	} else {
		pp_fail(&found->why, PP_EIO, PP_NO_OFFSET, "the mapping has no file name");
	}
}

void found_release(struct found *found)
{
	object_free(found->alt);
	if (found->debug != found->code)
		object_free(found->debug);
	if (!found->borrowed)
		object_free(found->code);
	found->code = found->debug = found->alt = NULL;
}
