#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/hash.h"

enum { KEYS = 200000 };

static void indices_are_dense_in_order_of_arrival(void **state)
{
	struct pp_arena *arena = pp_arena_new(UINT64_C(1) << 30);
	struct pp_intern *table = pp_intern_new(arena);
	bool is_new;

	(void)state;
	assert_int_equal(pp_intern_find(table, "b", 1), PP_NONE);
	assert_int_equal(pp_intern_put(table, "b", 1, &is_new), 0);
	assert_true(is_new);
	assert_int_equal(pp_intern_put(table, NULL, 0, &is_new), 1); /* the empty key is a key */
	assert_true(is_new);
	assert_int_equal(pp_intern_put(table, "b\0", 2, NULL), 2); /* bytes, not C strings */
	assert_int_equal(pp_intern_put(table, "b", 1, &is_new), 0);
	assert_false(is_new);
	assert_int_equal(pp_intern_find(table, "", 0), 1);
	assert_int_equal(pp_intern_count(table), 3);
	assert_int_equal(pp_intern_at(table, 2).len, 2);
	assert_memory_equal(pp_intern_at(table, 0).ptr, "b", 2); /* a NUL behind it */
	pp_intern_free(table);
	pp_intern_free(NULL);
	pp_arena_free(arena);
}

static void many_keys_keep_their_indices(void **state)
{
	struct pp_arena *arena = pp_arena_new(UINT64_C(1) << 30);
	struct pp_intern *table = pp_intern_new(arena);
	bool is_new;

	(void)state;
	/* 32 bits of a hash tell keys apart until bytes are compared: some five pairs of these share them. */
	for (uint32_t key = 0; key < KEYS; key++) {
		assert_int_equal(pp_intern_put(table, &key, sizeof(key), &is_new), key);
		assert_true(is_new);
	}
	for (uint32_t key = 0; key < KEYS; key++) {
		assert_int_equal(pp_intern_find(table, &key, sizeof(key)), key);
		assert_memory_equal(pp_intern_at(table, key).ptr, &key, sizeof(key));
	}
	pp_intern_free(table);
	pp_arena_free(arena);
}

static void a_full_arena_refuses_new_keys_and_keeps_the_old(void **state)
{
	struct pp_arena *arena = pp_arena_new(16 * 1024);
	struct pp_intern *table = pp_intern_new(arena);
	uint32_t key = 0, n;

	(void)state;
	while (pp_intern_put(table, &key, sizeof(key), NULL) != PP_NONE)
		key++;
	assert_true(pp_arena_over(arena));
	n = pp_intern_count(table);
	assert_int_equal(n, key);
	assert_true(n > 100);
	assert_int_equal(pp_intern_put(table, &key, sizeof(key), NULL), PP_NONE);
	for (key = 0; key < n; key++)
		assert_int_equal(pp_intern_put(table, &key, sizeof(key), NULL), key);
	pp_intern_free(table);
	pp_arena_free(arena);
}

/* The values that `xxhsum -H2` prints: reports keep them, so they may never change. */
static void content_hashes_are_known_values(void **state)
{
	struct pp_content_hash *hash = pp_content_hash_new();
	char out[PP_CONTENT_HASH_N];

	(void)state;
	pp_content_hash_hex(hash, out);
	assert_string_equal(out, "99aa06d3014798d86001c324468d497f");
	pp_content_hash_add(hash, "a", 1);
	pp_content_hash_add(hash, NULL, 0);
	pp_content_hash_add(hash, "bc", 2);
	pp_content_hash_hex(hash, out);
	assert_string_equal(out, "06b05ab6733a618578af5f94892f3950");
	pp_content_hash_free(hash);
	pp_content_hash_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(indices_are_dense_in_order_of_arrival),
		cmocka_unit_test(many_keys_keep_their_indices),
		cmocka_unit_test(a_full_arena_refuses_new_keys_and_keeps_the_old),
		cmocka_unit_test(content_hashes_are_known_values),
	};

	return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
