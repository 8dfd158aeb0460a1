#include "libpprof/arena.h"

#include <stdlib.h>
#include <string.h>

/* Small pieces are cut from chunks; pieces of LARGE bytes and more stand alone in a list, so that they
 * can be grown by realloc, which moves pages and not bytes. */
enum { ALIGN = 8, LARGE = 64 * 1024, CHUNK_MIN = 4 * 1024, CHUNK_MAX = 256 * 1024 };

struct chunk {
	struct chunk *next;
	size_t n; /* bytes behind this header */
};

struct large {
	struct large *prev, *next;
	size_t bytes; /* of the piece behind this header */
	size_t pad;   /* keeps the piece aligned to 16 */
};

struct pp_arena {
	uint64_t budget, used;
	bool over;
	struct chunk *chunks;
	char *free;
	size_t free_n, chunk_n;
	struct large *larges;
};

struct pp_arena *pp_arena_new(uint64_t budget_bytes)
{
	struct pp_arena *arena = calloc(1, sizeof(*arena));

	if (arena) {
		arena->budget = budget_bytes;
		arena->chunk_n = CHUNK_MIN;
	}
	return arena;
}

static void free_chunks(struct chunk *chunk)
{
	while (chunk) {
		struct chunk *next = chunk->next;
		free(chunk);
		chunk = next;
	}
}

static void free_larges(struct large *large)
{
	while (large) {
		struct large *next = large->next;
		free(large);
		large = next;
	}
}

void pp_arena_free(struct pp_arena *arena)
{
	if (!arena)
		return;
	free_chunks(arena->chunks);
	free_larges(arena->larges);
	free(arena);
}

void pp_arena_clear(struct pp_arena *arena)
{
	struct chunk *kept = arena->chunks; /* the newest, so the largest */

	free_larges(arena->larges);
	arena->larges = NULL;
	arena->used = 0;
	arena->over = false;
	if (!kept)
		return;
	free_chunks(kept->next);
	kept->next = NULL;
	arena->free = (char *)(kept + 1);
	arena->free_n = kept->n;
	arena->used = kept->n;
}

static bool charge(struct pp_arena *arena, size_t bytes)
{
	if (bytes > arena->budget - arena->used) {
		arena->over = true;
		return false;
	}
	arena->used += bytes;
	return true;
}

static void link_large(struct pp_arena *arena, struct large *large)
{
	large->prev = NULL;
	large->next = arena->larges;
	if (arena->larges)
		arena->larges->prev = large;
	arena->larges = large;
}

static void unlink_large(struct pp_arena *arena, struct large *large)
{
	if (large->prev)
		large->prev->next = large->next;
	else
		arena->larges = large->next;
	if (large->next)
		large->next->prev = large->prev;
}

static void *alloc_large(struct pp_arena *arena, size_t n)
{
	struct large *large;

	if (n > SIZE_MAX - sizeof(*large) || !charge(arena, n))
		return NULL;
	large = malloc(sizeof(*large) + n);
	if (!large) {
		arena->used -= n;
		return NULL;
	}
	large->bytes = n;
	link_large(arena, large);
	return large + 1;
}

static bool new_chunk(struct pp_arena *arena, size_t at_least)
{
	size_t n = arena->chunk_n > at_least ? arena->chunk_n : at_least;
	struct chunk *chunk;

	if (!charge(arena, n))
		return false;
	chunk = malloc(sizeof(*chunk) + n);
	if (!chunk) {
		arena->used -= n;
		return false;
	}
	chunk->next = arena->chunks;
	chunk->n = n;
	arena->chunks = chunk;
	arena->free = (char *)(chunk + 1);
	arena->free_n = n;
	if (arena->chunk_n < CHUNK_MAX)
		arena->chunk_n *= 2;
	return true;
}

void *pp_arena_alloc(struct pp_arena *arena, size_t n)
{
	void *piece;

	if (n >= LARGE)
		return alloc_large(arena, n);
	n = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (n == 0)
		n = ALIGN;
	if (n > arena->free_n && !new_chunk(arena, n))
		return NULL;
	piece = arena->free;
	arena->free += n;
	arena->free_n -= n;
	return piece;
}

char *pp_arena_copy(struct pp_arena *arena, const void *bytes, size_t n)
{
	char *copy = n < SIZE_MAX ? pp_arena_alloc(arena, n + 1) : NULL;

	if (copy) {
		if (n)
			memcpy(copy, bytes, n);
		copy[n] = '\0';
	}
	return copy;
}

/* Changes a large piece's size; NULL leaves it as it was. */
static void *resize_large(struct pp_arena *arena, void *piece, size_t n)
{
	struct large *old = (struct large *)piece - 1;
	struct large *moved;
	size_t before = old->bytes;

	if (n > before && !charge(arena, n - before))
		return NULL;
	unlink_large(arena, old);
	moved = realloc(old, sizeof(*old) + n);
	if (!moved) {
		link_large(arena, old);
		if (n > before)
			arena->used -= n - before;
		return NULL;
	}
	if (n < before)
		arena->used -= before - n;
	moved->bytes = n;
	link_large(arena, moved);
	return moved + 1;
}

int pp_arena_reserve(struct pp_arena *arena, void **array, size_t *capacity, size_t want,
                     size_t element_bytes)
{
	size_t room = *capacity ? *capacity : 8;
	size_t bytes;
	void *moved;

	if (want <= *capacity)
		return 0;
	while (room < want) {
		if (room > SIZE_MAX / 2)
			return -1;
		room *= 2;
	}
	if (!pp_mul_size(room, element_bytes, &bytes) || bytes > SIZE_MAX - sizeof(struct large))
		return -1;
	if (*capacity * element_bytes >= LARGE) {
		moved = resize_large(arena, *array, bytes);
		if (!moved)
			return -1;
	} else {
		moved = pp_arena_alloc(arena, bytes);
		if (!moved)
			return -1;
		if (*capacity)
			memcpy(moved, *array, *capacity * element_bytes);
	}
	*array = moved;
	*capacity = room;
	return 0;
}

void pp_arena_trim(struct pp_arena *arena, void **array, size_t *capacity, size_t used,
                   size_t element_bytes)
{
	void *moved;

	/* A piece that would become small stays where it is: it could not be told from a cut one. */
	if (used >= *capacity || used * element_bytes < LARGE)
		return;
	moved = resize_large(arena, *array, used * element_bytes);
	if (moved) {
		*array = moved;
		*capacity = used;
	}
}

uint64_t pp_arena_used(const struct pp_arena *arena)
{
	return arena->used;
}

bool pp_arena_over(const struct pp_arena *arena)
{
	return arena->over;
}
