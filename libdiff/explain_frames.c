/* Which frames a profile's locations are. */
#include "libdiff/explain_parts.h"

#include <stdlib.h>
#include <string.h>

#include "libdiff/canonical.h"
#include "libdiff/holder.h"

int ex_new_frame(struct pd_explain *ex, const char *name, size_t name_n, struct pp_str file, enum pd_frame_class class_,
                 struct pp_error *err)
{
	if (ex->frames_n == EX_RUN >> EX_CODE_SHIFT)
		return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "more than %u functions", EX_RUN >> EX_CODE_SHIFT);
	if (pp_arena_reserve(ex->arena, (void **)&ex->frames, &ex->frames_cap, ex->frames_n + 1, sizeof(*ex->frames)))
		return ex_no_memory(err);
	struct ex_frame *frame = &ex->frames[ex->frames_n];
	memset(frame, 0, sizeof(*frame));
	frame->name = pp_arena_copy(ex->arena, name, name_n);
	frame->file = pp_arena_copy(ex->arena, file.ptr, file.len);
	frame->class_ = class_;
	frame->changed = pd_changed_find(ex->options.changed, (struct pp_str){name, name_n}, file) != SIZE_MAX;
	frame->anonymous = pd_frame_anonymous((struct pp_str){name, name_n});
	if (!frame->name || !frame->file)
		return ex_no_memory(err);
	ex->frames_n++;
	return 0;
}

static bool qualified(const char *name, size_t n)
{
	if (pd_frame_anonymous((struct pp_str){name, n}))
		return false;
	return memchr(name, '.', n) || memchr(name, ':', n) || memchr(name, '/', n);
}

static int classify(struct pd_explain *ex, struct pp_str name, struct pp_str file, struct pp_str mapping, bool scripts,
                    enum pd_frame_class *class_, struct pp_error *err)
{
	bool matches = false;

	if (ex->app && pp_regex_match(ex->app, name, &matches, err))
		return -1;
	*class_ = matches ? PD_FRAME_APP : pd_frame_classify(name, file, mapping);
	/* Among scripts, what has neither file nor mapping is built into the engine. */
	if (!matches && scripts && *class_ == PD_FRAME_APP && !file.len && !mapping.len)
		*class_ = PD_FRAME_RUNTIME;
	return 0;
}

/* What finding frames needs: room for keys, and by function of the profile what is known already. */
struct cache {
	char *key, *outer_key;
	size_t key_cap;
	struct ex_function *functions; /* frame PP_NONE: not yet */
	bool scripts;
};

static int make_room(struct cache *cache, size_t want, struct pp_error *err)
{
	if (want <= cache->key_cap)
		return 0;
	free(cache->key);
	free(cache->outer_key);
	cache->key_cap = 2 * want;
	cache->key = malloc(cache->key_cap);
	cache->outer_key = malloc(cache->key_cap);
	return cache->key && cache->outer_key ? 0 : ex_no_memory(err);
}

/* The frame by the name in key, which has room for the file. Names that say no package are told apart by file. name:
 * as the profile has it. */
static uint32_t frame_by_key(struct pd_explain *ex, char *key, size_t n, struct pp_str name, struct pp_str file,
                             struct pp_str mapping, bool scripts, struct pp_error *err)
{
	size_t name_n = n;
	enum pd_frame_class class_;
	bool is_new;

	if (name.len && !qualified(key, n)) {
		key[n++] = '\0';
		memcpy(key + n, file.ptr, file.len);
		n += file.len;
	}
	uint32_t id = pp_intern_put(ex->frame_ids, key, n, &is_new);
	if (id == PP_NONE) {
		ex_no_memory(err);
		return PP_NONE;
	}
	if (!is_new)
		return id + EX_PSEUDO_N;
	if (classify(ex, name, file, mapping, scripts, &class_, err) ||
	    ex_new_frame(ex, name_n ? key : "(unknown)", name_n ? name_n : 9, file, class_, err))
		return PP_NONE;
	return id + EX_PSEUDO_N;
}

/* The frame of a function, closures folded. */
static int make_function(struct pd_explain *ex, struct pp_str name, struct pp_str file, struct pp_str mapping,
                         struct cache *cache, struct ex_function *made, struct pp_error *err)
{
	size_t n, outer_n = 0;

	*made = (struct ex_function){PP_NONE, PP_NONE};
	if (make_room(cache, PD_CANONICAL_MAX(name.len) + 1 + file.len + mapping.len, err))
		return -1;
	if (name.len) {
		n = pd_holder(name, cache->key);
		outer_n = pd_closure_inlined(name, cache->key, &n, cache->outer_key);
	} else {
		memcpy(cache->key, mapping.ptr, n = mapping.len);
	}
	if (outer_n) {
		made->outer = frame_by_key(ex, cache->outer_key, outer_n, name, file, mapping, cache->scripts, err);
		if (made->outer == PP_NONE)
			return -1;
	}
	made->frame = frame_by_key(ex, cache->key, n, name, file, mapping, cache->scripts, err);
	return made->frame == PP_NONE ? -1 : 0;
}

/* The same for one with a name, looked up under the name and file that the profile gives: to fold a closure takes
 * longer, and most functions are in all profiles. A function with a name is one frame wherever it is mapped. */
static int find_function(struct pd_explain *ex, struct pp_str name, struct pp_str file, struct pp_str mapping,
                         struct cache *cache, struct ex_function *found, struct pp_error *err)
{
	size_t n = name.len + 1 + file.len;
	bool is_new;

	if (make_room(cache, n, err))
		return -1;
	memcpy(cache->key, name.ptr, name.len);
	cache->key[name.len] = '\0';
	memcpy(cache->key + name.len + 1, file.ptr, file.len);
	uint32_t id = pp_intern_put(ex->function_ids, cache->key, n, &is_new);
	if (id == PP_NONE || pp_arena_reserve(ex->arena, (void **)&ex->functions, &ex->functions_cap, (size_t)id + 1,
	                                      sizeof(*ex->functions)))
		return ex_no_memory(err);
	if (is_new && make_function(ex, name, file, mapping, cache, &ex->functions[id], err))
		return -1;
	*found = ex->functions[id];
	return 0;
}

static int function_in(struct pd_explain *ex, const struct pp_profile *p, uint32_t function, struct pp_str mapping,
                       struct cache *cache, struct ex_function *found, struct pp_error *err)
{
	struct pp_str name = {"", 0}, file = {"", 0};

	if (function != PP_NONE) {
		*found = cache->functions[function];
		if (found->frame != PP_NONE)
			return 0;
		name = pp_string(p, p->functions[function].name);
		file = pp_string(p, p->functions[function].filename);
	}
	if (!name.len)
		return make_function(ex, name, file, mapping, cache, found, err);
	if (find_function(ex, name, file, mapping, cache, found, err))
		return -1;
	cache->functions[function] = *found;
	return 0;
}

/* The first line that is known of a function. */
static void note_line(struct ex_frame *frame, const struct pp_profile *p, const struct pp_line *line)
{
	int64_t here = line->line;

	if (line->function != PP_NONE && p->functions[line->function].start_line > 0)
		here = p->functions[line->function].start_line;
	if (here > 0 && (frame->line == 0 || here < frame->line))
		frame->line = here;
}

static uint32_t code_of(const struct pd_explain *ex, struct ex_function function)
{
	const struct ex_frame *frame = &ex->frames[function.frame];
	uint32_t code = function.frame << EX_CODE_SHIFT;

	code |= frame->class_ == PD_FRAME_APP ? EX_APP : 0;
	code |= frame->class_ == PD_FRAME_COLLECTOR ? EX_COLLECTED : 0;
	code |= frame->changed ? EX_CHANGED : 0;
	return code | (function.outer != PP_NONE && frame->class_ == PD_FRAME_APP ? EX_INNER : 0);
}

/* The codes of a location's frames at run, outermost first; returns where they end, NULL on failure. */
static uint32_t *fill_run(struct pd_explain *ex, const struct pp_profile *p, const struct pp_location *location,
                          struct cache *cache, uint32_t *run, struct pp_error *err)
{
	const struct pp_line *lines = &p->lines[location->line_first];
	uint32_t n = location->lines_n, *last = run;
	struct pp_str mapping = {"", 0};
	struct ex_function function;

	if (location->mapping != PP_NONE)
		mapping = pp_string(p, p->mappings[location->mapping].filename);
	for (uint32_t i = 0; i + 1 < n; i++) /* first, so that frames are numbered from the innermost on */
		if (function_in(ex, p, lines[i].function, mapping, cache, &function, err))
			return NULL;
	for (uint32_t i = n ? n : 1; i-- > 0;) {
		if (function_in(ex, p, n ? lines[i].function : PP_NONE, mapping, cache, &function, err))
			return NULL;
		last = run;
		*run++ = code_of(ex, function);
		if (*last & EX_INNER)
			*run++ = function.outer;
		if ((*last & EX_APP) && n)
			note_line(&ex->frames[function.frame], p, &lines[i]);
	}
	*last |= EX_LAST;
	return run;
}

static int fill_map(struct pd_explain *ex, const struct pp_profile *p, struct ex_map *map, struct cache *cache,
                    struct pp_error *err)
{
	uint32_t *run = map->runs;

	for (uint32_t l = 0; l < p->locations_n; l++) {
		if (run - map->runs >= (ptrdiff_t)EX_RUN)
			return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "more than %u inlined frames", EX_RUN / 2);
		uint32_t *end = fill_run(ex, p, &p->locations[l], cache, run, err);
		if (!end)
			return -1;
		map->codes[l] = end == run + 1 ? *run : EX_RUN | (uint32_t)(run - map->runs);
		run = end == run + 1 ? run : end;
	}
	return 0;
}

int ex_map_locations(struct pd_explain *ex, const struct pp_profile *p, struct ex_map *map, struct pp_error *err)
{
	struct cache cache = {.functions = malloc(((size_t)p->functions_n + 1) * sizeof(*cache.functions))};
	int rc = -1;

	map->codes = malloc(((size_t)p->locations_n + 1) * sizeof(*map->codes));
	/* At most two codes a frame; few of them are used. */
	map->runs = malloc(2 * ((size_t)p->locations_n + p->lines_n + 1) * sizeof(*map->runs));
	if (!cache.functions || !map->codes || !map->runs) {
		ex_no_memory(err);
		goto done;
	}
	memset(cache.functions, 0xff, (size_t)p->functions_n * sizeof(*cache.functions)); /* PP_NONE */
	for (uint32_t f = 0; f < p->functions_n && !cache.scripts; f++)
		cache.scripts = pd_file_is_script(pp_string(p, p->functions[f].filename));
	rc = fill_map(ex, p, map, &cache, err);
done:
	free(cache.key);
	free(cache.outer_key);
	free(cache.functions);
	return rc;
}

void ex_map_release(struct ex_map *map)
{
	free(map->codes);
	free(map->runs);
}
