#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/idmap.h"

static void ids_of_any_size_get_dense_indices(void **state)
{
	static const uint64_t ids[] = {5, UINT64_MAX, 0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, UINT64_MAX - 1,
	                               UINT64_C(0xffffffff00000001), 1023, 1024};
	struct pp_idmap map;
	bool is_new;

	(void)state;
	pp_idmap_init(&map);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < PP_COUNT(ids); i++) {
			if (round == 0)
				assert_int_equal(pp_idmap_peek(&map, ids[i]), PP_NONE);
			assert_int_equal(pp_idmap_put(&map, ids[i], &is_new), i);
			assert_int_equal(is_new, round == 0);
		}
	assert_int_equal(map.count, PP_COUNT(ids));
	assert_int_equal(pp_idmap_peek(&map, 5), 0);
	assert_int_equal(pp_idmap_peek(&map, 6), PP_NONE);
	pp_idmap_release(&map);
}

static void many_sparse_ids_stay_apart(void **state)
{
	struct pp_idmap map;
	bool is_new;

	(void)state;
	pp_idmap_init(&map);
	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(pp_idmap_put(&map, i << 40 | 1 << 20, &is_new), i); /* equal low bits */
	for (uint64_t i = 0; i < 100000; i++) {
		assert_int_equal(pp_idmap_put(&map, i << 40 | 1 << 20, &is_new), i);
		assert_false(is_new);
	}
	assert_int_equal(map.small_n, 0); /* a large id makes no table by position */
	pp_idmap_release(&map);
}

static void one_id_costs_at_most_four_mebibytes(void **state)
{
	struct pp_idmap map;
	bool is_new;

	(void)state;
	pp_idmap_init(&map);
	assert_int_equal(pp_idmap_put(&map, (1 << 20) - 1, &is_new), 0);
	assert_int_equal(map.small_n, 1 << 20);
	assert_int_equal(map.slots_n, 0);
	pp_idmap_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_of_any_size_get_dense_indices),
		cmocka_unit_test(many_sparse_ids_stay_apart),
		cmocka_unit_test(one_id_costs_at_most_four_mebibytes),
	};

	return cmocka_run_group_tests_name("idmap", tests, NULL, NULL);
}
