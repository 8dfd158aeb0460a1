/* Hashing, and tables from byte strings to dense indices. The only file that knows xxhash. */
#ifndef PP_HASH_H
#define PP_HASH_H

#include "libpprof/arena.h"
#include "libpprof/sink.h"

/* The content hash by which reports name their inputs: XXH3, 128 bits, canonical form, as 32 lower
 * case hex digits and a NUL. Not cryptographic: it finds mistakes, not forgers. */
#define PP_CONTENT_HASH_N 33
struct pp_content_hash; /* running state */
struct pp_content_hash *pp_content_hash_new(void) PP_MUSTUSE;
void pp_content_hash_add(struct pp_content_hash *hash, const void *bytes, size_t n);
void pp_content_hash_hex(const struct pp_content_hash *hash, char out[PP_CONTENT_HASH_N]);
void pp_content_hash_free(struct pp_content_hash *hash);

/* A set of byte strings with dense indices 0, 1, 2… in order of first insertion. Equality is by
 * bytes, never by hash alone. The bytes are copied into the arena of the table. */
struct pp_intern;
struct pp_intern *pp_intern_new(struct pp_arena *arena) PP_MUSTUSE; /* freed with free below, not by the arena */
void pp_intern_free(struct pp_intern *table);

/* The index of these bytes, inserted if new (*is_new, which may be NULL, tells); PP_NONE when memory
 * or budget ran out. */
uint32_t pp_intern_put(struct pp_intern *table, const void *bytes, size_t n, bool *is_new);
/* The index of these bytes, or PP_NONE. */
uint32_t pp_intern_find(const struct pp_intern *table, const void *bytes, size_t n);
struct pp_str pp_intern_at(const struct pp_intern *table, uint32_t index);
uint32_t pp_intern_count(const struct pp_intern *table);

/* 64-bit hash for private tables that keep their own keys. Never persisted. */
uint64_t pp_hash64(const void *bytes, size_t n);

#endif
