#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/folded.h"
#include "libpprof/records.h"

static struct pp_profile *read_text(const char *text, enum pp_strictness strictness, struct pp_error *err)
{
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	struct pp_memory_source memory;

	options.strictness = strictness;
	pp_memory_source_init(&memory, text, strlen(text));
	return pp_folded_read(&memory.source, &options, "samples", "count", err);
}

static void assert_folded(const struct pp_profile *profile, const char *text)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&buf);

	assert_int_equal(pp_folded_write(profile, 0, &sink, &err), 0);
	assert_string_equal(buf.bytes ? buf.bytes : "", text);
	pp_buf_release(&buf);
}

/* Reads one text and writes the other. */
static void assert_becomes(const char *in, const char *out)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *p = read_text(in, PP_STRICT, &err);
	if (!p)
		fail_msg("%s", err.text);
	assert_folded(p, out);
	pp_profile_free(p);
}

static void reads_stacks_and_counts(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *p = read_text("main;a b;c 3\n\n  main 12 \r\nmain\t-5", PP_STRICT, &err);
	(void)state;

	assert_non_null(p);
	assert_int_equal(p->samples_n, 3);
	assert_int_equal(p->stacks[0].n, 3);
	assert_int_equal(pp_value(p, 0, 0), 3);
	assert_int_equal(pp_value(p, 1, 0), 12);
	assert_int_equal(pp_value(p, 2, 0), -5);
	assert_string_equal(pp_string(p, p->sample_types[0].type).ptr, "samples");
	assert_string_equal(pp_string(p, p->sample_types[0].unit).ptr, "count");
	pp_profile_free(p);
}

static void sorts_and_sums(void **state)
{
	(void)state;
	assert_becomes("b 1\na;b 2\na 3\na;b 4\na b 5\na;a;c 1\n", "a 3\na b 5\na;a;c 1\na;b 6\nb 1\n");
	assert_becomes("a 3\na -3\nb 1\n", "b 1\n");
	assert_becomes("b\xc3\xa4 1\nb 2\nb! 3\n", "b 2\nb! 3\nb\xc3\xa4 1\n");
}

static void escapes_so_that_it_reads_back(void **state)
{
	static const char text[] =
		"(no stack) 7\n"
		"App\\Http\\Kernel;new\\x5cx41;\\x20blank\\x20;a\\x3bb;line\\x0abreak;\\xff 1\n"
		"\\x28no stack) 2\n";
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *p = read_text(text, PP_STRICT, &err);
	(void)state;

	assert_non_null(p);
	assert_int_equal(p->stacks[0].n, 0);
	assert_folded(p, text);
	/* The frames are what they stand for. */
	static const char *const names[] = {"\xff", "line\nbreak", "a;b", " blank ", "new\\x41", "App\\Http\\Kernel"};
	for (size_t i = 0; i < PP_COUNT(names); i++) {
		const struct pp_location *l = &p->locations[p->stacks[1].locations[i]];
		struct pp_str name = pp_string(p, p->functions[p->lines[l->line_first].function].name);
		assert_string_equal(name.ptr, names[i]);
	}
	pp_profile_free(p);
}

static void names_the_line(void **state)
{
	static const char *const bad[] = {
		"a 1\nnonsense\n", "a 1\na;b 1.5\n", "a 1\na 0x10\n", "a 1\n12\n", "a 1\na 99999999999999999999\n",
		"a 1\na\x01 1\n",
	};
	(void)state;

	for (size_t i = 0; i < PP_COUNT(bad); i++) {
		struct pp_error err = PP_ERROR_INIT;
		assert_null(read_text(bad[i], PP_STRICT, &err));
		assert_int_equal(err.code, PP_EFORMAT);
		assert_int_equal(err.offset, 4);
		assert_non_null(strstr(err.text, "line 2: "));

		err = (struct pp_error)PP_ERROR_INIT;
		struct pp_profile *p = read_text(bad[i], PP_LENIENT, &err);
		assert_non_null(p);
		assert_int_equal(p->samples_n, 1);
		assert_int_equal(p->notes_n, 1);
		pp_profile_free(p);
	}
}

static void refuses_sums_that_do_not_fit(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *p = read_text("a 9223372036854775807\na 1\n", PP_STRICT, &err);
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&buf);
	(void)state;

	assert_non_null(p);
	assert_int_equal(pp_folded_write(p, 0, &sink, &err), -1);
	assert_int_equal(err.code, PP_EOVERFLOW);
	pp_buf_release(&buf);
	pp_profile_free(p);
}

/* Inlined lines are frames of their own; code without a name is known by its place. */
static void folds_every_kind_of_location(void **state)
{
	static const char text[] =
		"#pprof-records\t1\n"
		"sample_type\t0\tcpu\tns\n"
		"mapping\t0\t1\t0x1000\t0x2000\t0\t/lib/x.so\t\t0\t0\t0\t0\n"
		"function\t0\t1\tf\t\t\t0\n"
		"function\t1\t2\tg\t\t\t0\n"
		"function\t2\t3\t\t\t\t0\n"
		"location\t0\t1\t1\t0x1010\t0\n"
		"location\t1\t2\t1\t0x1020\t0\n"
		"location\t2\t3\t1\t0x1030\t0\n"
		"line\t1\t0\t1\t0\t0\n"
		"line\t1\t1\t2\t0\t0\n"
		"line\t3\t0\t3\t0\t0\n"
		"sample\t0\t1,2,3\t5\n";
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_memory_source memory;
	(void)state;

	pp_memory_source_init(&memory, text, sizeof(text) - 1);
	struct pp_profile *p = pp_records_read(&memory.source, &options, &err);
	assert_non_null(p);
	assert_folded(p, "x.so+0x30;x.so+0x20;g;f 5\n");
	pp_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_stacks_and_counts),
		cmocka_unit_test(sorts_and_sums),
		cmocka_unit_test(escapes_so_that_it_reads_back),
		cmocka_unit_test(names_the_line),
		cmocka_unit_test(refuses_sums_that_do_not_fit),
		cmocka_unit_test(folds_every_kind_of_location),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
