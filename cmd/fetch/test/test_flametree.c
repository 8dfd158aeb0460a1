#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/fetch/flametree.h"

static struct pp_profile *folded(const char *text)
{
	struct pp_memory_source memory;
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;

	pp_memory_source_init(&memory, text, strlen(text));
	return pp_load(&memory.source, &options, NULL, &err);
}

/* "offset,total,self,name …" of a level. */
static void expect_level(const Pyro__FlameGraph *graph, size_t level, const char *wanted)
{
	char text[400] = "";
	size_t n = 0;

	for (size_t i = 0; i < graph->levels[level]->n_values; i += 4) {
		const int64_t *quad = graph->levels[level]->values + i;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%lld,%lld,%lld,%s", i ? " " : "", (long long)quad[0], (long long)quad[1],
		                      (long long)quad[2], graph->names[quad[3]]);
	}
	assert_string_equal(text, wanted);
}

/* Offsets count from the right end of the node before. */
static void stacks_become_levels(void **state)
{
	(void)state;
	struct pp_profile *profile = folded("main;b;x 4\nmain;a 1\nmain;a;z 2\nmain 8\nother;b 16\nmain;b;b 32\n");
	struct pp_arena *arena = pp_arena_new(1 << 20);
	struct pp_error err = PP_ERROR_INIT;
	const Pyro__FlameGraph *graph = flametree_make(profile, 0, arena, &err);

	assert_non_null(graph);
	assert_int_equal(graph->n_levels, 4);
	assert_int_equal(graph->total, 63);
	assert_int_equal(graph->max_self, 32);
	expect_level(graph, 0, "0,63,0,total");
	expect_level(graph, 1, "0,47,8,main 0,16,0,other");
	expect_level(graph, 2, "8,3,1,a 0,36,0,b 0,16,16,b");
	expect_level(graph, 3, "9,2,2,z 0,32,32,b 0,4,4,x");
	assert_int_equal(graph->n_names, 7);
	pp_arena_free(arena);
	pp_profile_free(profile);
}

static void memory_is_bounded(void **state)
{
	(void)state;
	struct pp_profile *profile = folded("main;b;x 4\nmain;a 1\nmain;a;z 2\n");
	struct pp_arena *arena = pp_arena_new(200);
	struct pp_error err = PP_ERROR_INIT;

	assert_null(flametree_make(profile, 0, arena, &err));
	assert_int_equal(err.code, PP_ENOMEM);
	pp_arena_free(arena);
	pp_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_become_levels),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
