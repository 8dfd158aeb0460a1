#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/arena.h"

enum { BIG = 100 * 1024 };

static void pieces_are_aligned_and_apart(void **state)
{
	struct pp_arena *arena = pp_arena_new(1 << 20);
	char *pieces[100];

	(void)state;
	for (size_t i = 0; i < PP_COUNT(pieces); i++) {
		pieces[i] = pp_arena_alloc(arena, i);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % 8, 0);
		memset(pieces[i], (int)i, i);
	}
	for (size_t i = 0; i < PP_COUNT(pieces); i++)
		for (size_t j = 0; j < i; j++)
			assert_int_equal(pieces[i][j], i);
	pp_arena_free(arena);
	pp_arena_free(NULL);
}

static void copies_end_with_nul(void **state)
{
	struct pp_arena *arena = pp_arena_new(1 << 20);

	(void)state;
	assert_memory_equal(pp_arena_copy(arena, "a\0b", 3), "a\0b\0", 4);
	assert_memory_equal(pp_arena_copy(arena, NULL, 0), "", 1);
	pp_arena_free(arena);
}

static void the_budget_holds(void **state)
{
	struct pp_arena *arena = pp_arena_new(3 * BIG);

	(void)state;
	assert_non_null(pp_arena_alloc(arena, BIG));
	assert_non_null(pp_arena_alloc(arena, BIG));
	assert_false(pp_arena_over(arena));
	assert_null(pp_arena_alloc(arena, BIG + 1));
	assert_true(pp_arena_over(arena));
	assert_int_equal(pp_arena_used(arena), 2 * BIG);
	assert_non_null(pp_arena_alloc(arena, 16)); /* small ones may still fit */
	for (int i = 0; i < BIG && pp_arena_alloc(arena, 64); i++)
		assert_true(pp_arena_used(arena) <= 3 * BIG);
	assert_null(pp_arena_alloc(arena, SIZE_MAX));
	pp_arena_free(arena);
}

static void arrays_grow_and_keep_what_they_hold(void **state)
{
	struct pp_arena *arena = pp_arena_new(UINT64_C(1) << 30);
	void *array = NULL;
	size_t capacity = 0;

	(void)state;
	for (size_t n = 0; n < 100000; n++) { /* from small pieces to large ones */
		assert_int_equal(pp_arena_reserve(arena, &array, &capacity, n + 1, sizeof(uint32_t)), 0);
		assert_true(capacity > n);
		((uint32_t *)array)[n] = (uint32_t)n;
	}
	for (size_t n = 0; n < 100000; n++)
		assert_int_equal(((uint32_t *)array)[n], n);
	assert_true(pp_arena_used(arena) < 700 * 1024); /* 512 KiB now, 64 KiB of small ones before */
	pp_arena_free(arena);
}

static void a_failed_reserve_changes_nothing(void **state)
{
	static const size_t sizes[] = {8, BIG}; /* small and large arrays */

	(void)state;
	for (size_t i = 0; i < PP_COUNT(sizes); i++) {
		struct pp_arena *arena = pp_arena_new(300 * 1024);
		void *array = NULL, *before;
		size_t capacity = 0, capacity_before;
		uint64_t used;

		assert_int_equal(pp_arena_reserve(arena, &array, &capacity, sizes[i], 1), 0);
		memset(array, 'x', capacity);
		before = array, capacity_before = capacity, used = pp_arena_used(arena);
		assert_int_equal(pp_arena_reserve(arena, &array, &capacity, 10 * BIG, 1), -1);
		assert_int_equal(pp_arena_reserve(arena, &array, &capacity, SIZE_MAX, 1), -1);
		assert_int_equal(pp_arena_reserve(arena, &array, &capacity, SIZE_MAX / 4, 8), -1);
		assert_ptr_equal(array, before);
		assert_int_equal(capacity, capacity_before);
		assert_int_equal(pp_arena_used(arena), used);
		assert_int_equal(((char *)array)[capacity - 1], 'x');
		pp_arena_free(arena);
	}
}

static void tails_and_arrays_are_given_back(void **state)
{
	struct pp_arena *arena = pp_arena_new(UINT64_C(1) << 30);
	void *array = NULL, *other = NULL;
	size_t capacity = 0, other_capacity = 0;
	uint64_t used;

	(void)state;
	assert_int_equal(pp_arena_reserve(arena, &other, &other_capacity, 3 * BIG, 1), 0);
	used = pp_arena_used(arena);
	assert_int_equal(pp_arena_reserve(arena, &array, &capacity, 4 * BIG, 1), 0);
	memset(array, 'y', capacity);
	pp_arena_trim(arena, &array, &capacity, BIG, 1);
	assert_int_equal(capacity, BIG);
	assert_int_equal(pp_arena_used(arena), used + BIG);
	assert_int_equal(((char *)array)[BIG - 1], 'y');
	pp_arena_trim(arena, &array, &capacity, 10, 1); /* would become small: stays */
	assert_int_equal(capacity, BIG);
	assert_int_equal(pp_arena_reserve(arena, &array, &capacity, BIG + 1, 1), 0);
	assert_int_equal(((char *)array)[BIG - 1], 'y');
	pp_arena_free(arena);
}

static void a_cleared_arena_is_as_new(void **state)
{
	struct pp_arena *arena = pp_arena_new(3 * BIG);

	(void)state;
	pp_arena_clear(arena);
	for (int round = 0; round < 100; round++) {
		void *big = pp_arena_alloc(arena, BIG), *small = pp_arena_alloc(arena, 60 * 1024);

		assert_non_null(big);
		assert_non_null(small);
		memset(small, round, 60 * 1024);
		assert_null(pp_arena_alloc(arena, 3 * BIG));
		assert_true(pp_arena_over(arena));
		pp_arena_clear(arena);
		assert_false(pp_arena_over(arena));
		assert_true(pp_arena_used(arena) <= 64 * 1024);
	}
	pp_arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_aligned_and_apart),
		cmocka_unit_test(copies_end_with_nul),
		cmocka_unit_test(the_budget_holds),
		cmocka_unit_test(arrays_grow_and_keep_what_they_hold),
		cmocka_unit_test(a_failed_reserve_changes_nothing),
		cmocka_unit_test(tails_and_arrays_are_given_back),
		cmocka_unit_test(a_cleared_arena_is_as_new),
	};

	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
