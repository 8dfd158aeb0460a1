#include "libpprof/hash.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct pp_content_hash {
	XXH3_state_t *state; /* from XXH3_createState: it wants 64-byte alignment */
};

struct pp_content_hash *pp_content_hash_new(void)
{
	struct pp_content_hash *hash = malloc(sizeof(*hash));

	if (!hash)
		return NULL;
	hash->state = XXH3_createState();
	if (!hash->state || XXH3_128bits_reset(hash->state) != XXH_OK) {
		pp_content_hash_free(hash);
		return NULL;
	}
	return hash;
}

void pp_content_hash_add(struct pp_content_hash *hash, const void *bytes, size_t n)
{
	/* Cannot fail: the state is valid and bytes are only NULL when n is 0. */
	if (n)
		(void)XXH3_128bits_update(hash->state, bytes, n);
}

void pp_content_hash_hex(const struct pp_content_hash *hash, char out[PP_CONTENT_HASH_N])
{
	static const char hex[] = "0123456789abcdef";
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash->state));
	for (size_t i = 0; i < sizeof(canonical.digest); i++) {
		out[2 * i] = hex[canonical.digest[i] >> 4];
		out[2 * i + 1] = hex[canonical.digest[i] & 15];
	}
	out[PP_CONTENT_HASH_N - 1] = '\0';
}

void pp_content_hash_free(struct pp_content_hash *hash)
{
	if (!hash)
		return;
	XXH3_freeState(hash->state);
	free(hash);
}

uint64_t pp_hash64(const void *bytes, size_t n)
{
	return XXH3_64bits(bytes, n);
}

/* 32 bits of the hash give the place and skip most byte comparisons, so that growing reads no key. */
struct slot {
	uint32_t hash;
	uint32_t entry; /* index + 1; 0 is empty */
};

struct pp_intern {
	struct pp_arena *arena; /* of the bytes; the rest goes with the table */
	struct pp_str *entries;
	size_t entries_n;
	uint32_t count;
	struct slot *slots;
	size_t slots_n; /* a power of two, at most three quarters full */
	uint64_t seed;  /* names are chosen by strangers: the place of the table makes collisions hard to plan */
};

struct pp_intern *pp_intern_new(struct pp_arena *arena)
{
	struct pp_intern *table = calloc(1, sizeof(*table));
	uintptr_t place = (uintptr_t)table;

	if (!table)
		return NULL;
	table->arena = arena;
	table->slots_n = 64;
	table->seed = XXH3_64bits(&place, sizeof(place));
	table->slots = calloc(table->slots_n, sizeof(*table->slots));
	if (!table->slots) {
		free(table);
		return NULL;
	}
	return table;
}

void pp_intern_free(struct pp_intern *table)
{
	if (!table)
		return;
	free(table->entries);
	free(table->slots);
	free(table);
}

/* The slot that holds these bytes, or the empty one where they would go. */
static size_t probe(const struct pp_intern *table, const void *bytes, size_t n, uint32_t hash)
{
	size_t mask = table->slots_n - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		const struct slot *slot = &table->slots[i];
		const struct pp_str *entry;

		if (!slot->entry)
			return i;
		if (slot->hash != hash)
			continue;
		entry = &table->entries[slot->entry - 1];
		if (entry->len == n && (n == 0 || memcmp(entry->ptr, bytes, n) == 0))
			return i;
	}
}

static int grow_slots(struct pp_intern *table)
{
	size_t old_n = table->slots_n;
	struct slot *old = table->slots;
	struct slot *slots = calloc(old_n * 2, sizeof(*slots));

	if (!slots)
		return -1;
	table->slots = slots;
	table->slots_n = old_n * 2;
	for (size_t i = 0; i < old_n; i++) {
		size_t at = old[i].hash & (table->slots_n - 1);

		if (!old[i].entry)
			continue;
		while (slots[at].entry)
			at = (at + 1) & (table->slots_n - 1);
		slots[at] = old[i];
	}
	free(old);
	return 0;
}

static int grow_entries(struct pp_intern *table)
{
	size_t room = table->entries_n ? table->entries_n * 2 : 32;
	struct pp_str *moved = realloc(table->entries, room * sizeof(*moved));

	if (!moved)
		return -1;
	table->entries = moved;
	table->entries_n = room;
	return 0;
}

static uint32_t hash_of(const struct pp_intern *table, const void *bytes, size_t n)
{
	return (uint32_t)XXH3_64bits_withSeed(bytes, n, table->seed);
}

uint32_t pp_intern_put(struct pp_intern *table, const void *bytes, size_t n, bool *is_new)
{
	uint32_t hash = hash_of(table, bytes, n);
	size_t at = probe(table, bytes, n, hash);
	char *copy;

	if (is_new)
		*is_new = false;
	if (table->slots[at].entry)
		return table->slots[at].entry - 1;
	if (table->count >= PP_NONE - 1)
		return PP_NONE;
	if (table->count >= table->slots_n - table->slots_n / 4) {
		if (grow_slots(table))
			return PP_NONE;
		at = probe(table, bytes, n, hash);
	}
	if (table->count == table->entries_n && grow_entries(table))
		return PP_NONE;
	copy = pp_arena_copy(table->arena, bytes, n);
	if (!copy)
		return PP_NONE;
	table->entries[table->count] = (struct pp_str){copy, n};
	table->slots[at] = (struct slot){hash, table->count + 1};
	if (is_new)
		*is_new = true;
	return table->count++;
}

uint32_t pp_intern_find(const struct pp_intern *table, const void *bytes, size_t n)
{
	size_t at = probe(table, bytes, n, hash_of(table, bytes, n));

	return table->slots[at].entry ? table->slots[at].entry - 1 : PP_NONE;
}

struct pp_str pp_intern_at(const struct pp_intern *table, uint32_t index)
{
	return table->entries[index];
}

uint32_t pp_intern_count(const struct pp_intern *table)
{
	return table->count;
}
