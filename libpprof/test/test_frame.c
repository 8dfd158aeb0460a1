#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/pprof.h"

static const struct pp_limits limits = PP_LIMITS_DEFAULT;

static uint32_t text(struct pp_build *b, const char *s)
{
	return pp_build_string(b, pp_str_of(s));
}

static uint32_t function(struct pp_build *b, const char *name, const char *file, int64_t start_line)
{
	const struct pp_function f = {.name = text(b, name), .filename = text(b, file), .start_line = start_line};

	return pp_build_function(b, &f);
}

static struct pp_build *begin(void)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *b = pp_build_new(&limits, &err);

	assert_non_null(b);
	pp_build_sample_type(b, (struct pp_value_type){text(b, "cpu"), text(b, "nanoseconds")});
	return b;
}

/* A profile with one location a frame to look at; mapping may be NULL. */
static struct pp_profile *one(const struct pp_mapping *mapping, const char *map_file, uint64_t address,
                              const char *name, const char *file, int64_t line)
{
	struct pp_build *b = begin();
	struct pp_error err = PP_ERROR_INIT;
	struct pp_location location = {.address = address, .mapping = PP_NONE};
	struct pp_line lines = {.function = PP_NONE, .line = line, .column = 3};
	const int64_t value = 1;
	struct pp_profile *p;

	if (mapping) {
		struct pp_mapping m = *mapping;
		m.filename = text(b, map_file);
		location.mapping = pp_build_mapping(b, &m);
	}
	if (name)
		lines.function = function(b, name, file, 7);
	const uint32_t l = pp_build_location(b, &location, &lines, name ? 1 : 0);
	pp_build_sample(b, pp_build_stack(b, &l, 1), 0, &value);
	p = pp_build_finish(b, &err);
	pp_build_free(b);
	assert_non_null(p);
	return p;
}

/* Checks the label and kind of the only frame of a profile; frees the profile. */
static void expect(struct pp_profile *p, enum pp_granularity by, const char *label, enum pp_frame_kind kind)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_frames *set = pp_frames_new(by, &err);
	struct pp_frame_map map;

	assert_non_null(set);
	assert_int_equal(pp_frames_map(set, p, &map, &err), 0);
	assert_int_equal(map.first[0], 0);
	assert_int_equal(map.first[1], 1);
	assert_int_equal(map.frame[0], 0);
	assert_int_equal(map.no_stack, PP_NONE);
	assert_string_equal(pp_frames_label(set, 0).ptr, label);
	assert_int_equal(pp_frames_label(set, 0).len, strlen(label));
	assert_int_equal(pp_frames_at(set, 0)->kind, kind);
	pp_frame_map_release(&map);
	pp_frames_free(set);
	pp_profile_free(p);
}

static void test_granularity_names(void **state)
{
	(void)state;
	assert_string_equal(pp_granularity_name(PP_BY_FRAMES), "frames");
	assert_string_equal(pp_granularity_name(PP_BY_FILEFUNCTIONS), "filefunctions");
	assert_string_equal(pp_granularity_name(PP_BY_MAPPINGS), "mappings");
}

static void test_reference_labels(void **state)
{
	const struct pp_mapping m = {.start = 0x1000, .limit = 0x9000, .offset = 0x400};

	(void)state;
	expect(one(&m, "/bin/app", 0x2345, "f", "./d//../x.c", 12), PP_BY_FUNCTIONS, "f", PP_FRAME_CODE);
	expect(one(&m, "/bin/app", 0x2345, "f", "./d//../x.c", 12), PP_BY_FILEFUNCTIONS, "f x.c", PP_FRAME_CODE);
	expect(one(&m, "/bin/app", 0x2345, "f", "./d//../x.c", 12), PP_BY_FILES, "x.c", PP_FRAME_CODE);
	expect(one(&m, "/bin/app", 0x2345, "f", "./d//../x.c", 12), PP_BY_LINES, "f x.c:12", PP_FRAME_CODE);
	expect(one(&m, "/bin/app", 0x2345, "f", "x.c", 12), PP_BY_COLUMNS, "f x.c:12:3", PP_FRAME_CODE);
	expect(one(&m, "/bin/app", 0x2345, "f", "x.c", 12), PP_BY_ADDRESSES, "0000000000002345 f x.c:12:3", PP_FRAME_CODE);
	expect(one(&m, "/bin/app", 0x2345, "f", "", 0), PP_BY_LINES, "f", PP_FRAME_CODE);
	expect(one(&m, "/bin/app", 0x2345, NULL, NULL, 0), PP_BY_FUNCTIONS, "[app]", PP_FRAME_UNSYMBOLIZED);
	expect(one(&m, "[vdso]", 0x2345, NULL, NULL, 0), PP_BY_LINES, "[[vdso]]", PP_FRAME_UNSYMBOLIZED);
	expect(one(&m, "/bin/app", 0x2345, NULL, NULL, 0), PP_BY_ADDRESSES, "0000000000002345 [app]",
	       PP_FRAME_UNSYMBOLIZED);
	expect(one(NULL, NULL, 0x2345, NULL, NULL, 0), PP_BY_FUNCTIONS, "<unknown>", PP_FRAME_UNSYMBOLIZED);
	expect(one(NULL, NULL, 0, "", "", 0), PP_BY_FUNCTIONS, "<unknown>", PP_FRAME_UNSYMBOLIZED);
	expect(one(&m, "/bin/app", 0x2345, "f", "x.c", 1), PP_BY_MAPPINGS, "/bin/app", PP_FRAME_CODE);
	expect(one(NULL, NULL, 0x2345, "f", "x.c", 1), PP_BY_MAPPINGS, "<unknown>", PP_FRAME_UNSYMBOLIZED);
}

static void test_frames_labels(void **state)
{
	const struct pp_mapping m = {.start = 0x1000, .limit = 0x9000, .offset = 0x400};

	(void)state;
	expect(one(&m, "/bin/app", 0x2345, "f", "x.c", 12), PP_BY_FRAMES, "f", PP_FRAME_CODE);
	expect(one(&m, "/bin/app", 0x2345, NULL, NULL, 0), PP_BY_FRAMES, "app+0x1745", PP_FRAME_UNSYMBOLIZED);
	expect(one(&m, "/bin/app", 0x2345, "", "x.c", 0), PP_BY_FRAMES, "app+0x1745", PP_FRAME_UNSYMBOLIZED);
	expect(one(&m, "", 0x2345, NULL, NULL, 0), PP_BY_FRAMES, "0x2345", PP_FRAME_UNSYMBOLIZED);
	expect(one(NULL, NULL, 0x2345, NULL, NULL, 0), PP_BY_FRAMES, "0x2345", PP_FRAME_UNSYMBOLIZED);
	expect(one(&m, "/bin/app", 0x10, NULL, NULL, 0), PP_BY_FRAMES, "0x10", PP_FRAME_UNSYMBOLIZED);
	expect(one(&m, "/bin/app", 0, NULL, NULL, 0), PP_BY_FRAMES, "[app]", PP_FRAME_UNSYMBOLIZED);
	expect(one(NULL, NULL, 0, NULL, NULL, 0), PP_BY_FRAMES, "??", PP_FRAME_UNSYMBOLIZED);
	expect(one(NULL, NULL, 0, "", "", 0), PP_BY_FRAMES, "??", PP_FRAME_CODE);
}

static void test_clean_paths(void **state)
{
	static const char *const paths[][2] = {
		{"/proc/self/cwd/a/b", "a/b"}, {"/proc/self/cwd/./b", "b"}, {"/proc/self/cwda", "/proc/self/cwda"},
		{"/a/b", "/a/b"}, {"a//b/./c", "a/b/c"}, {"./dir//../src/x.c", "src/x.c"}, {"..", ".."},
		{"../../a", "../../a"}, {"a/../..", ".."}, {"/../a", "/a"}, {"a/..", "."}, {"/", "/"},
		{"a/", "a"}, {"/a/b/../../..", "/"}, {"..a/.b", "..a/.b"}, {"a/b/../../c", "c"},
	};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(paths); i++)
		expect(one(NULL, NULL, 0, "", paths[i][0], 0), PP_BY_FILES, paths[i][1], PP_FRAME_CODE);
}

/* Adds both profiles to one set and tells whether their frames are the same. */
static bool same(struct pp_profile *a, struct pp_profile *b, enum pp_granularity by)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_frames *set = pp_frames_new(by, &err);
	struct pp_frame_map ma, mb;
	bool equal;

	assert_int_equal(pp_frames_map(set, a, &ma, &err), 0);
	assert_int_equal(pp_frames_map(set, b, &mb, &err), 0);
	equal = ma.frame[0] == mb.frame[0];
	pp_frame_map_release(&ma);
	pp_frame_map_release(&mb);
	pp_frames_free(set);
	pp_profile_free(a);
	pp_profile_free(b);
	return equal;
}

static void test_identity(void **state)
{
	const struct pp_mapping low = {.start = 0x1000, .limit = 0x9000, .offset = 0x400};
	const struct pp_mapping high = {.start = 0x71000, .limit = 0x79000, .offset = 0x400};

	(void)state;
	/* Code without a name keeps its identity when the mapping moves or lies in another folder. */
	assert_true(same(one(&low, "/bin/app", 0x2000, NULL, NULL, 0), one(&high, "/opt/app", 0x72000, NULL, NULL, 0),
	                 PP_BY_FRAMES));
	assert_false(same(one(&low, "/bin/app", 0x2000, NULL, NULL, 0), one(&low, "/bin/app", 0x2001, NULL, NULL, 0),
	                  PP_BY_FRAMES));
	/* The address of code with a name does not count, its file does. */
	assert_true(same(one(NULL, NULL, 1, "f", "x.c", 1), one(NULL, NULL, 2, "f", "./x.c", 9), PP_BY_FRAMES));
	assert_false(same(one(NULL, NULL, 1, "f", "x.c", 1), one(NULL, NULL, 1, "f", "y.c", 1), PP_BY_FRAMES));
	assert_true(same(one(NULL, NULL, 1, "f", "x.c", 1), one(NULL, NULL, 1, "f", "y.c", 1), PP_BY_FUNCTIONS));
	assert_false(same(one(NULL, NULL, 1, "f", "x.c", 1), one(NULL, NULL, 1, "f", "x.c", 2), PP_BY_LINES));
	assert_true(same(one(NULL, NULL, 1, "f", "x.c", 1), one(NULL, NULL, 1, "f", "x.c", 2), PP_BY_FILEFUNCTIONS));
	/* As in the reference: without a name the binary counts, by its whole path. */
	assert_false(same(one(&low, "/bin/app", 1, "", "x.c", 0), one(&low, "/opt/app", 1, "", "x.c", 0), PP_BY_FILES));
}

static void test_map_of_inlined_lines_and_no_stack(void **state)
{
	struct pp_build *b = begin();
	struct pp_error err = PP_ERROR_INIT;
	const struct pp_line lines[] = {{function(b, "inner", "x.c", 1), 1, 0}, {function(b, "outer", "x.c", 9), 9, 0}};
	const struct pp_location location = {.address = 1, .mapping = PP_NONE};
	const uint32_t l = pp_build_location(b, &location, lines, 2);
	const int64_t value = 1;
	struct pp_frame_map map;

	(void)state;
	pp_build_sample(b, pp_build_stack(b, &l, 1), 0, &value);
	pp_build_sample(b, pp_build_stack(b, NULL, 0), 0, &value);
	struct pp_profile *p = pp_build_finish(b, &err);
	struct pp_frames *set = pp_frames_new(PP_BY_FRAMES, &err);
	assert_int_equal(pp_frames_map(set, p, &map, &err), 0);
	assert_int_equal(map.first[1], 2);
	assert_string_equal(pp_frames_label(set, map.frame[0]).ptr, "inner");
	assert_string_equal(pp_frames_label(set, map.frame[1]).ptr, "outer");
	assert_int_equal(pp_frames_at(set, map.frame[1])->start_line, 9);
	assert_int_equal(pp_frames_at(set, map.no_stack)->kind, PP_FRAME_NO_STACK);
	assert_string_equal(pp_frames_label(set, map.no_stack).ptr, "(no stack)");
	pp_frame_map_release(&map);
	pp_frames_free(set);
	pp_profile_free(p);
	pp_build_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_granularity_names),
		cmocka_unit_test(test_reference_labels),
		cmocka_unit_test(test_frames_labels),
		cmocka_unit_test(test_clean_paths),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_map_of_inlined_lines_and_no_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
