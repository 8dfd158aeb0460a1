/* Memory of one object: allocated piece by piece, freed at once, bounded by a budget. */
#ifndef PP_ARENA_H
#define PP_ARENA_H

#include "libpprof/base.h"

struct pp_arena;

/* A new arena that hands out at most budget_bytes in all; NULL when the system has no memory. */
struct pp_arena *pp_arena_new(uint64_t budget_bytes) PP_MUSTUSE;
void pp_arena_free(struct pp_arena *arena); /* NULL is fine */

/* Ends all pieces. The arena is as new, and keeps some memory for what comes. */
void pp_arena_clear(struct pp_arena *arena);

/* n bytes aligned to 8, not cleared; NULL over budget or without memory (pp_arena_over
 * tells which). n == 0 gives a valid pointer. */
void *pp_arena_alloc(struct pp_arena *arena, size_t n) PP_MUSTUSE;

/* A copy of n bytes followed by a NUL. */
char *pp_arena_copy(struct pp_arena *arena, const void *bytes, size_t n) PP_MUSTUSE;

/* Makes room for at least want elements in the growable array *array of *capacity elements.
 * Doubles; blocks of 64 KiB and more are moved by the system and returned to it, so growing wastes
 * nothing. On failure -1, and *array is as before. *array must be NULL or come from this arena. */
int pp_arena_reserve(struct pp_arena *arena, void **array, size_t *capacity, size_t want,
                     size_t element_bytes) PP_MUSTUSE;

/* Gives back the unused tail of an array made by pp_arena_reserve. */
void pp_arena_trim(struct pp_arena *arena, void **array, size_t *capacity, size_t used,
                   size_t element_bytes);


uint64_t pp_arena_used(const struct pp_arena *arena); /* bytes charged to the budget */
bool pp_arena_over(const struct pp_arena *arena);     /* an allocation failed for the budget */

#endif
