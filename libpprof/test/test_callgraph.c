#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/pprof.h"

#define DEPTH_MAX 30

/* Rows "abc value", root first. The letters are functions; an upper-case letter is inlined into the
 * function before it. */
struct row {
	const char *stack;
	int64_t value;
};

static struct pp_profile *make(const struct row *rows)
{
	const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *b = pp_build_new(&limits, &err);
	uint32_t function[26];

	pp_build_sample_type(b, (struct pp_value_type){pp_build_string(b, PP_LIT("samples")),
	                                               pp_build_string(b, PP_LIT("count"))});
	for (int c = 0; c < 26; c++) {
		const char name[] = {(char)('a' + c), '\0'};
		const struct pp_function f = {.name = pp_build_string(b, pp_str_of(name))};
		function[c] = pp_build_function(b, &f);
	}
	for (; rows->stack; rows++) {
		uint32_t stack[DEPTH_MAX], n = 0;
		for (size_t i = strlen(rows->stack); i > 0; i--) {
			struct pp_line lines[DEPTH_MAX];
			uint32_t lines_n = 0;
			const struct pp_location location = {.mapping = PP_NONE};
			for (; rows->stack[i - 1] < 'a'; i--)
				lines[lines_n++] = (struct pp_line){.function = function[rows->stack[i - 1] - 'A']};
			lines[lines_n++] = (struct pp_line){.function = function[rows->stack[i - 1] - 'a']};
			stack[n++] = pp_build_location(b, &location, lines, lines_n);
		}
		pp_build_sample(b, pp_build_stack(b, stack, n), 0, &rows->value);
	}
	struct pp_profile *p = pp_build_finish(b, &err);
	pp_build_free(b);
	assert_non_null(p);
	return p;
}

/* The graph as text: "a 1/6" a node, "a>b 5" an edge, with "~" when residual and "i" when inlined;
 * of a comparison, both sides after a comma. */
static void graph_text(const struct pp_callgraph *g, const struct pp_frames *frames, size_t sides_n, char *out,
                       size_t out_n)
{
	size_t n = 0;

	for (uint32_t i = 0; i < g->nodes_n; i++) {
		const struct pp_node *node = &g->nodes[i];
		n += (size_t)snprintf(out + n, out_n - n, "%s %d/%d", pp_frames_label(frames, node->frame).ptr,
		                      (int)node->flat[0], (int)node->cum[0]);
		if (sides_n > 1)
			n += (size_t)snprintf(out + n, out_n - n, ",%d/%d", (int)node->flat[1], (int)node->cum[1]);
		n += (size_t)snprintf(out + n, out_n - n, "; ");
	}
	for (uint32_t i = 0; i < g->edges_n; i++) {
		const struct pp_edge *e = &g->edges[i];
		n += (size_t)snprintf(out + n, out_n - n, "%s>%s %d",
		                      pp_frames_label(frames, g->nodes[e->from].frame).ptr,
		                      pp_frames_label(frames, g->nodes[e->to].frame).ptr, (int)e->weight[0]);
		if (sides_n > 1)
			n += (size_t)snprintf(out + n, out_n - n, ",%d", (int)e->weight[1]);
		n += (size_t)snprintf(out + n, out_n - n, "%s%s; ", e->residual ? "~" : "", e->inlined ? "i" : "");
	}
	assert_true(n < out_n);
	out[n >= 2 ? n - 2 : 0] = '\0';
}

/* old is NULL for the graph of one profile. Counters of what was dropped go to *counters if asked for. */
static void expect(const struct row *now, const struct row *old, const struct pp_callgraph_options *options,
                   const char *wanted, struct pp_callgraph *counters)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_frames *frames = pp_frames_new(PP_BY_FRAMES, &err);
	struct pp_profile *p[2] = {make(now), old ? make(old) : NULL};
	struct pp_frame_map map[2];
	struct pp_graph_side sides[2];
	struct pp_callgraph graph;
	const size_t n = old ? 2 : 1;
	char text[1000];

	for (size_t s = 0; s < n; s++) {
		assert_int_equal(pp_frames_map(frames, p[s], &map[s], &err), 0);
		sides[s] = (struct pp_graph_side){p[s], &map[s], 0, 1, NULL};
	}
	assert_int_equal(pp_callgraph_make(frames, sides, n, options, &graph, &err), 0);
	graph_text(&graph, frames, n, text, sizeof text);
	assert_string_equal(text, wanted);
	if (counters)
		*counters = graph;
	pp_callgraph_release(&graph);
	for (size_t s = 0; s < n; s++) {
		pp_frame_map_release(&map[s]);
		pp_profile_free(p[s]);
	}
	pp_frames_free(frames);
}

static const struct pp_callgraph_options everything = {0, 0, 0, PP_GRAPH_BY_IMPORTANCE, false, false, false, false};

static void test_nodes_and_edges(void **state)
{
	static const struct row rows[] = {{"abc", 3}, {"ab", 2}, {"ac", 4}, {"ad", 0}, {NULL, 0}};

	(void)state;
	expect(rows, NULL, &everything, "c 7/7; a 0/9; b 2/5; a>b 5; a>c 4; b>c 3", NULL);
}

static void test_each_edge_counts_once_a_sample(void **state)
{
	static const struct row rows[] = {{"ababab", 5}, {"aab", 1}, {NULL, 0}};

	(void)state;
	expect(rows, NULL, &everything, "b 6/6; a 0/6; a>b 6; b>a 5", NULL);
}

static const struct pp_callgraph_options tree = {0, 0, 0, PP_GRAPH_BY_IMPORTANCE, false, false, false, true};

static void test_tree_has_a_node_a_path(void **state)
{
	static const struct row rows[] = {{"abc", 3}, {"adc", 2}, {"aa", 4}, {"b", 1}, {NULL, 0}};
	static const struct row shuffled[] = {{"b", 1}, {"adc", 2}, {"aa", 4}, {"abc", 3}, {NULL, 0}};
	const char *wanted = "a 0/9; a 4/4; c 3/3; c 2/2; b 1/1; b 0/3; d 0/2; a>a 4; a>b 3; b>c 3; a>d 2; d>c 2";

	(void)state;
	expect(rows, NULL, &tree, wanted, NULL);
	expect(shuffled, NULL, &tree, wanted, NULL);
}

static void test_tree_splices_out_what_is_cut(void **state)
{
	static const struct row rows[] = {{"aBCD", 5}, {"aBe", 90}, {"afg", 5}, {"h", 1}, {"hi", 2}, {NULL, 0}};
	struct pp_callgraph_options options = tree;

	(void)state;
	options.node_fraction = 0.03;
	expect(rows, NULL, &options,
	       "e 90/90; a 0/100; b 0/95; d 5/5; g 5/5; h 1/3; c 0/5; f 0/5; "
	       "a>b 95i; b>e 90; a>f 5; b>c 5i; c>d 5i; f>g 5", NULL);
	options.node_limit = 5;
	expect(rows, NULL, &options, "e 90/90; a 0/100; b 0/95; d 5/5; g 5/5; a>b 95i; b>e 90; a>g 5~; b>d 5~i", NULL);
}

static void test_tree_of_two_sides(void **state)
{
	static const struct row now[] = {{"abc", 3}, {"ac", 2}, {NULL, 0}};
	static const struct row old[] = {{"abc", 1}, {"dc", 2}, {NULL, 0}};

	(void)state;
	expect(now, old, &tree,
	       "a 0/5,0/1; b 0/3,0/1; c 3/3,1/1; c 2/2,0/0; c 0/0,2/2; d 0/0,0/2; a>b 3,1; b>c 3,1; a>c 2,0; d>c 0,2", NULL);
}

static void test_inlined_calls(void **state)
{
	static const struct row all[] = {{"aB", 5}, {NULL, 0}};
	static const struct row some[] = {{"aB", 5}, {"ab", 1}, {NULL, 0}};

	(void)state;
	expect(all, NULL, &everything, "b 5/5; a 0/5; a>b 5i", NULL);
	expect(some, NULL, &everything, "b 6/6; a 0/6; a>b 6", NULL);
}

static void test_small_nodes_leave_residual_edges(void **state)
{
	static const struct row rows[] = {{"ax", 90}, {"abx", 4}, {"acd", 6}, {NULL, 0}};
	const struct pp_callgraph_options options = {0, 0.05, 0, PP_GRAPH_BY_IMPORTANCE, false, false, false, false};
	struct pp_callgraph counters;

	(void)state;
	/* b is cut: its samples reach x all the same. */
	expect(rows, NULL, &options, "x 94/94; a 0/100; d 6/6; c 0/6; a>x 94~; a>c 6; c>d 6", &counters);
	assert_int_equal(counters.nodes_all_n, 5);
	assert_int_equal(counters.nodes_dropped_n, 1);
}

static void test_flat_of_a_cut_leaf_goes_to_nobody(void **state)
{
	static const struct row rows[] = {{"abl", 4}, {"ab", 96}, {NULL, 0}};
	const struct pp_callgraph_options options = {0, 0.05, 0, PP_GRAPH_BY_IMPORTANCE, false, false, false, false};

	(void)state;
	expect(rows, NULL, &options, "b 96/100; a 0/100; a>b 100", NULL);
}

static void test_light_edges_are_dropped(void **state)
{
	static const struct row rows[] = {{"ab", 95}, {"acb", 5}, {NULL, 0}};
	const struct pp_callgraph_options options = {0, 0, 0.06, PP_GRAPH_BY_IMPORTANCE, false, false, false, false};
	struct pp_callgraph counters;

	(void)state;
	expect(rows, NULL, &options, "b 100/100; a 0/100; c 0/5; a>b 95", &counters);
	assert_int_equal(counters.edges_dropped_n, 2);
}

static void test_node_limit_keeps_what_fans_out(void **state)
{
	/* The chain b, c, d only hands on; a, and the leaves, say something. */
	static const struct row rows[] = {{"abcde", 50}, {"af", 50}, {NULL, 0}};
	const struct pp_callgraph_options options = {3, 0, 0, PP_GRAPH_BY_IMPORTANCE, false, false, false, false};

	(void)state;
	expect(rows, NULL, &options, "a 0/100; e 50/50; f 50/50; a>e 50~; a>f 50", NULL);
}

static void test_redundant_residual_edges_go(void **state)
{
	/* With x cut, a>c is residual and light, and a>b>c is there anyway. */
	static const struct row rows[] = {{"abc", 50}, {"axc", 3}, {NULL, 0}};
	const struct pp_callgraph_options options = {0, 0.1, 0, PP_GRAPH_BY_IMPORTANCE, false, false, false, false};

	(void)state;
	expect(rows, NULL, &options, "c 53/53; a 0/53; b 0/50; a>b 50; b>c 50", NULL);
}

static void test_comparison_keeps_what_vanished(void **state)
{
	static const struct row now[] = {{"ab", 10}, {"ac", 5}, {NULL, 0}};
	static const struct row old[] = {{"ab", 10}, {"ad", 7}, {NULL, 0}};

	(void)state;
	expect(now, old, &everything,
	       "d 0/0,7/7; c 5/5,0/0; a 0/15,0/17; b 10/10,10/10; a>b 10,10; a>d 0,7; a>c 5,0", NULL);
}

static void test_no_stack_is_a_node(void **state)
{
	static const struct row rows[] = {{"", 3}, {"a", 1}, {NULL, 0}};

	(void)state;
	expect(rows, NULL, &everything, "(no stack) 3/3; a 1/1", NULL);
}

static void test_negative_values_make_numbers(void **state)
{
	/* a>b comes to nothing, and b with it. */
	static const struct row rows[] = {{"ab", 5}, {"abd", -5}, {"ac", -3}, {NULL, 0}};

	(void)state;
	expect(rows, NULL, &everything, "d -5/-5; c -3/-3; b 5/0; a 0/-3; b>d -5; a>c -3", NULL);
}

static void test_scale_and_keep(void **state)
{
	static const struct row rows[] = {{"a", 1}, {"a", 2}, {"b", 4}, {NULL, 0}};
	static const unsigned char keep[] = {1, 1, 0};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_frames *frames = pp_frames_new(PP_BY_FRAMES, &err);
	struct pp_profile *p = make(rows);
	struct pp_frame_map map;
	struct pp_callgraph graph;

	(void)state;
	assert_int_equal(pp_frames_map(frames, p, &map, &err), 0);
	struct pp_graph_side side = {p, &map, 0, 0.5, NULL};
	assert_int_equal(pp_callgraph_make(frames, &side, 1, &everything, &graph, &err), 0);
	assert_int_equal(graph.total[0], 4);
	assert_int_equal(graph.nodes[1].cum[0], 2); /* the sum, 3, is halved, and rounded away from zero */
	pp_callgraph_release(&graph);
	side = (struct pp_graph_side){p, &map, 0, -1, keep};
	assert_int_equal(pp_callgraph_make(frames, &side, 1, &everything, &graph, &err), 0);
	assert_int_equal(graph.nodes_n, 1);
	assert_int_equal(graph.nodes[0].flat[0], -3);
	assert_int_equal(graph.total[0], 3);
	pp_callgraph_release(&graph);
	side = (struct pp_graph_side){p, &map, 0, 1, NULL};
	side.scale = 1e300;
	assert_int_equal(pp_callgraph_make(frames, &side, 1, &everything, &graph, &err), -1);
	assert_int_equal(err.code, PP_EOVERFLOW);
	pp_frame_map_release(&map);
	pp_profile_free(p);
	pp_frames_free(frames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes_and_edges),
		cmocka_unit_test(test_each_edge_counts_once_a_sample),
		cmocka_unit_test(test_tree_has_a_node_a_path),
		cmocka_unit_test(test_tree_splices_out_what_is_cut),
		cmocka_unit_test(test_tree_of_two_sides),
		cmocka_unit_test(test_inlined_calls),
		cmocka_unit_test(test_small_nodes_leave_residual_edges),
		cmocka_unit_test(test_flat_of_a_cut_leaf_goes_to_nobody),
		cmocka_unit_test(test_light_edges_are_dropped),
		cmocka_unit_test(test_node_limit_keeps_what_fans_out),
		cmocka_unit_test(test_redundant_residual_edges_go),
		cmocka_unit_test(test_comparison_keeps_what_vanished),
		cmocka_unit_test(test_no_stack_is_a_node),
		cmocka_unit_test(test_negative_values_make_numbers),
		cmocka_unit_test(test_scale_and_keep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
