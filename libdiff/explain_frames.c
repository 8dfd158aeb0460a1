/* Which frames a profile's locations are. */
#include "libdiff/explain_parts.h"

#include <stdlib.h>
#include <string.h>

#include "libdiff/canonical.h"
#include "libdiff/holder.h"

int ex_new_frame(struct pd_explain *ex, const char *name, size_t name_n, struct pp_str file, enum pd_frame_class class_,
                 struct pp_error *err)
{
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
	uint32_t *frame; /* PP_NONE: not yet */
	uint32_t *outer; /* the function that a closure was inlined into; PP_NONE: none */
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

/* The frame of a function, closures folded. *outer: the function that it was inlined into, or PP_NONE. */
static uint32_t frame_of(struct pd_explain *ex, struct pp_str name, struct pp_str file, struct pp_str mapping,
                         struct cache *cache, uint32_t *outer, struct pp_error *err)
{
	size_t n, outer_n = 0;

	*outer = PP_NONE;
	if (make_room(cache, PD_CANONICAL_MAX(name.len) + 1 + file.len + mapping.len, err))
		return PP_NONE;
	if (name.len) {
		n = pd_holder(name, cache->key);
		outer_n = pd_closure_inlined(name, cache->key, &n, cache->outer_key);
	} else {
		memcpy(cache->key, mapping.ptr, n = mapping.len);
	}
	if (outer_n) {
		*outer = frame_by_key(ex, cache->outer_key, outer_n, name, file, mapping, cache->scripts, err);
		if (*outer == PP_NONE)
			return PP_NONE;
	}
	return frame_by_key(ex, cache->key, n, name, file, mapping, cache->scripts, err);
}

/* A function with a name is one frame wherever it is mapped. */
static uint32_t frame_in(struct pd_explain *ex, const struct pp_profile *p, uint32_t function, struct pp_str mapping,
                         struct cache *cache, uint32_t *outer, struct pp_error *err)
{
	struct pp_str name = {"", 0}, file = {"", 0};

	if (function != PP_NONE) {
		*outer = cache->outer[function];
		if (cache->frame[function] != PP_NONE)
			return cache->frame[function];
		name = pp_string(p, p->functions[function].name);
		file = pp_string(p, p->functions[function].filename);
	}
	uint32_t frame = frame_of(ex, name, file, mapping, cache, outer, err);
	if (name.len) {
		cache->frame[function] = frame;
		cache->outer[function] = *outer;
	}
	return frame;
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

static int fill_map(struct pd_explain *ex, const struct pp_profile *p, struct ex_map *map, struct cache *cache,
                    struct pp_error *err)
{
	uint32_t at = 0;

	for (uint32_t l = 0; l < p->locations_n; l++) {
		const struct pp_location *location = &p->locations[l];
		struct pp_str mapping = {"", 0};
		if (location->mapping != PP_NONE)
			mapping = pp_string(p, p->mappings[location->mapping].filename);
		map->first[l] = at;
		for (uint32_t i = 0; i < location->lines_n || i == 0; i++) {
			uint32_t function = location->lines_n ? p->lines[location->line_first + i].function : PP_NONE;
			uint32_t frame = map->frame[at] = frame_in(ex, p, function, mapping, cache, &map->outer[at], err);
			at++;
			if (frame == PP_NONE)
				return -1;
			if (ex->frames[frame].class_ == PD_FRAME_APP && location->lines_n)
				note_line(&ex->frames[frame], p, &p->lines[location->line_first + i]);
			if (ex->frames[frame].class_ == PD_FRAME_APP)
				map->has[l] |= EX_HAS_APP;
			if (ex->frames[frame].class_ == PD_FRAME_COLLECTOR)
				map->has[l] |= EX_HAS_COLLECTOR;
			if (ex->frames[frame].changed)
				map->has[l] |= EX_HAS_CHANGED;
		}
	}
	map->first[p->locations_n] = at;
	return 0;
}

int ex_map_locations(struct pd_explain *ex, const struct pp_profile *p, struct ex_map *map, struct pp_error *err)
{
	struct cache cache = {.frame = malloc(((size_t)p->functions_n + 1) * sizeof(*cache.frame)),
	                      .outer = malloc(((size_t)p->functions_n + 1) * sizeof(*cache.outer))};
	int rc = -1;

	map->first = malloc(((size_t)p->locations_n + 1) * sizeof(*map->first));
	map->frame = malloc(((size_t)p->locations_n + p->lines_n + 1) * sizeof(*map->frame));
	map->outer = malloc(((size_t)p->locations_n + p->lines_n + 1) * sizeof(*map->outer));
	map->has = calloc((size_t)p->locations_n + 1, 1);
	if (!cache.frame || !cache.outer || !map->outer || !map->first || !map->frame || !map->has) {
		ex_no_memory(err);
		goto done;
	}
	memset(cache.frame, 0xff, (size_t)p->functions_n * sizeof(*cache.frame)); /* PP_NONE */
	memset(cache.outer, 0xff, (size_t)p->functions_n * sizeof(*cache.outer));
	for (uint32_t f = 0; f < p->functions_n && !cache.scripts; f++)
		cache.scripts = pd_file_is_script(pp_string(p, p->functions[f].filename));
	rc = fill_map(ex, p, map, &cache, err);
done:
	free(cache.key);
	free(cache.outer_key);
	free(cache.frame);
	free(cache.outer);
	return rc;
}

void ex_map_release(struct ex_map *map)
{
	free(map->first);
	free(map->frame);
	free(map->outer);
	free(map->has);
}
