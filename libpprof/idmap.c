#include "libpprof/idmap.h"

#include <stdlib.h>
#include <string.h>

#include "libpprof/hash.h"

/* Ids up to here are looked up by position. The table grows with the ids that are seen, so it costs at
 * most 4 bytes for each id below the largest one. */
enum { SMALL_MAX = 1 << 20 };

struct pp_idmap_slot {
	uint64_t id;
	uint32_t entry; /* index + 1; 0 is empty */
};

void pp_idmap_init(struct pp_idmap *map)
{
	uintptr_t place = (uintptr_t)map;

	memset(map, 0, sizeof(*map));
	map->seed = pp_hash64(&place, sizeof(place));
}

void pp_idmap_release(struct pp_idmap *map)
{
	free(map->slots);
	free(map->small);
	map->slots = NULL;
	map->small = NULL;
}

static bool grow_small(struct pp_idmap *map, uint64_t id)
{
	size_t room = map->small_n ? map->small_n : 1024;
	uint32_t *moved;

	while (room <= id)
		room *= 2;
	moved = realloc(map->small, room * sizeof(*moved));
	if (!moved)
		return false;
	memset(moved + map->small_n, 0, (room - map->small_n) * sizeof(*moved));
	map->small = moved;
	map->small_n = room;
	return true;
}

static size_t probe(const struct pp_idmap *map, uint64_t id)
{
	uint64_t key[2] = {id, map->seed};
	size_t at = (size_t)pp_hash64(key, sizeof(key)) & (map->slots_n - 1);

	while (map->slots[at].entry && map->slots[at].id != id)
		at = (at + 1) & (map->slots_n - 1);
	return at;
}

static bool grow_slots(struct pp_idmap *map)
{
	size_t old_n = map->slots_n;
	struct pp_idmap_slot *old = map->slots;
	struct pp_idmap_slot *slots = calloc(old_n ? old_n * 2 : 64, sizeof(*slots));

	if (!slots)
		return false;
	map->slots = slots;
	map->slots_n = old_n ? old_n * 2 : 64;
	for (size_t i = 0; i < old_n; i++)
		if (old[i].entry)
			map->slots[probe(map, old[i].id)] = old[i];
	free(old);
	return true;
}

uint32_t pp_idmap_put(struct pp_idmap *map, uint64_t id, bool *is_new)
{
	size_t at;

	*is_new = false;
	if (map->count >= PP_NONE - 1)
		return PP_NONE;
	if (id < SMALL_MAX) {
		if (id >= map->small_n && !grow_small(map, id))
			return PP_NONE;
		if (map->small[id])
			return map->small[id] - 1;
		map->small[id] = map->count + 1;
	} else {
		if ((size_t)map->count + 1 > map->slots_n / 2 && !grow_slots(map))
			return PP_NONE;
		at = probe(map, id);
		if (map->slots[at].entry)
			return map->slots[at].entry - 1;
		map->slots[at] = (struct pp_idmap_slot){id, map->count + 1};
	}
	*is_new = true;
	return map->count++;
}
