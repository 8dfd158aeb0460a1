#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/records.h"
#include "libpprof/samples.h"

/* Locations: 1 main at m.c:3; 2 an inlined callee in a function; 3 without lines in a mapping; 4 an address
 * alone; 5 nothing; 6 a name that looks like one with a place; 7 a name with what must be escaped. */
static const char records[] =
	"#pprof-records\t1\n"
	"sample_type\t0\tsamples\tcount\n"
	"sample_type\t1\tlabel\tx:y\n"
	"mapping\t0\t1\t0x400000\t0x500000\t0x1000\t/usr/lib/libc.so\t\t0\t0\t0\t0\n"
	"function\t0\t1\tmain\t\tm.c\t0\n"
	"function\t1\t2\touter\t\tdir (x86)/o.c\t0\n"
	"function\t2\t3\tinlined\t\t\t0\n"
	"function\t3\t4\tf (g.c:12)\t\t\t0\n"
	"function\t4\t5\ta;b\\n\t\t\t0\n"
	"location\t0\t1\t1\t0x400010\t0\n"
	"location\t1\t2\t1\t0x400020\t0\n"
	"location\t2\t3\t1\t0x400030\t0\n"
	"location\t3\t4\t0\t0x99\t0\n"
	"location\t4\t5\t0\t0\t0\n"
	"location\t5\t6\t0\t0\t0\n"
	"location\t6\t7\t0\t0\t0\n"
	"line\t1\t0\t1\t3\t0\n"
	"line\t2\t0\t3\t0\t0\n"
	"line\t2\t1\t2\t7\t0\n"
	"line\t6\t0\t4\t0\t0\n"
	"line\t7\t0\t5\t-4\t0\n"
	"sample\t0\t2,1\t1,-2\n"
	"sample\t1\t5,4,3,1\t3,4\n"
	"sample\t2\t7,6\t5,6\n"
	"sample\t3\t\t7,8\n"
	"label\t0\t0\tz\tone;two\t0\t\n"
	"label\t0\t1\tz\tthree\t0\t\n"
	"label\t0\t2\tsize\t\t64\tbytes\n"
	"label\t0\t3\t\t\t0\t\n"
	"label\t1\t0\tsize\t\t-1\t\n"
	"label\t1\t1\ta:b\tv\t0\t\n"
	"label\t3\t0\tsize\t\t0\tbytes\n";

static const char plain[] =
	"samples:count\t\\x6cabel:x\\x3ay\tlabel:a:b\tlabel:z\tnumlabel:size:\tnumlabel:size:bytes\tstack\n"
	"1\t-2\t\tone\\x3btwo;three\t\t64\tmain;outer;inlined\n"
	"3\t4\tv\t\t-1\t\tmain;libc.so+0x1030;0x99;??\n"
	"5\t6\t\t\t\t\tf (g.c:12\\x29;a\\x3bb\\n\n"
	"7\t8\t\t\t\t0\t\n";

static const char with_lines[] =
	"samples:count\t\\x6cabel:x\\x3ay\tlabel:a:b\tlabel:z\tnumlabel:size:\tnumlabel:size:bytes\tstack\n"
	"1\t-2\t\tone\\x3btwo;three\t\t64\tmain (m.c:3);outer (dir \\x28x86)/o.c:7);inlined\n"
	"3\t4\tv\t\t-1\t\tmain (m.c:3);libc.so+0x1030;0x99;??\n"
	"5\t6\t\t\t\t\tf (g.c:12\\x29;a\\x3bb\\n (:-4)\n"
	"7\t8\t\t\t\t0\t\n";

typedef struct pp_profile *reader(struct pp_source *, const struct pp_read_options *, struct pp_error *);

static struct pp_profile *read_text(reader *read, const char *text, enum pp_strictness strictness, struct pp_error *err)
{
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	struct pp_memory_source memory;

	options.strictness = strictness;
	pp_memory_source_init(&memory, text, strlen(text));
	return read(&memory.source, &options, err);
}

static struct pp_profile *must_read(reader *read, const char *text)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *profile = read_text(read, text, PP_STRICT, &err);
	if (!profile)
		fail_msg("%s", err.text);
	return profile;
}

static void assert_view(const struct pp_profile *profile, bool lines, bool json, const char *text)
{
	const struct pp_samples_options options = {.lines = lines, .json = json};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&buf);

	assert_int_equal(pp_samples_write(profile, &options, &sink, &err), 0);
	assert_string_equal(buf.bytes, text);
	pp_buf_release(&buf);
}

static void writes_rows(void **state)
{
	struct pp_profile *p = must_read(pp_records_read, records);
	(void)state;
	assert_view(p, false, false, plain);
	assert_view(p, true, false, with_lines);
	pp_profile_free(p);
}

static void reads_back_what_it_wrote(void **state)
{
	struct pp_profile *p = must_read(pp_samples_read, plain);
	(void)state;
	assert_view(p, false, false, plain);
	pp_profile_free(p);

	p = must_read(pp_samples_read, with_lines);
	assert_view(p, true, false, with_lines);
	assert_view(p, false, false, plain);
	assert_int_equal(p->functions_n, 8); /* main once */
	pp_profile_free(p);
}

static void writes_json(void **state)
{
	struct pp_profile *p = must_read(pp_samples_read,
	                                 "cpu:ns\tlabel:k\tnumlabel:n:\tstack\n"
	                                 "1\ta;b\t2\tmain;f\\x3b\\xff\n"
	                                 "3\t\t\t\n");
	(void)state;
	assert_view(p, false, true,
	            "[\n"
	            "{\"cpu:ns\": 1, \"label:k\": [\"a\", \"b\"], \"numlabel:n:\": 2, \"stack\": [\"main\", \"f;\xef\xbf\xbd\"]},\n"
	            "{\"cpu:ns\": 3, \"label:k\": null, \"numlabel:n:\": null, \"stack\": []}]\n");
	pp_profile_free(p);
}

static void names_line_and_column(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{"", "empty input"},
		{"cpu:ns\tstacks\n", "line 1: the last column is not 'stack'"},
		{"cpu\tstack\n", "line 1: column 'cpu': is not a column"},
		{"numlabel:x\tstack\n", "line 1: column 'numlabel:x': is not a column"},
		{"cp\\u:ns\tstack\n", "line 1: column 'cp\\u:ns': '\\u' is not an escape"},
		{"cpu:ns\tstack\n1\ta\textra\n", "line 2: 3 fields where the header has 2"},
		{"cpu:ns\tstack\n\n1\n", "line 3: 1 fields where the header has 2"},
		{"cpu:ns\tstack\n1.5\ta\n", "line 2: cpu:ns: '1.5' is not an integer of 64 bits"},
		{"cpu:ns\tstack\n1\ta;b\\q\n", "line 2: stack: '\\q' is not an escape"},
		{"cpu:ns\tnumlabel:n:\tstack\n1\tx\ta\n", "line 2: numlabel:n:: 'x' is not an integer"},
		{"cpu:ns\tstack\n1\tf (x:99999999999999999999)\n", "line 2: stack: line number '99999999999999999999'"},
		{"stack\nmain\n", "there are samples but no sample type"},
	};
	(void)state;

	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct pp_error err = PP_ERROR_INIT;
		assert_null(read_text(pp_samples_read, cases[i].text, PP_STRICT, &err));
		assert_int_equal(err.code, PP_EFORMAT);
		if (!strstr(err.text, cases[i].reason))
			fail_msg("case %zu: '%s' does not hold '%s'", i, err.text, cases[i].reason);
	}
}

static void drops_and_counts_rows_when_lenient(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *p = read_text(pp_samples_read, "cpu:ns\tstack\nx\ta\n1\ta\n\ta\n", PP_LENIENT, &err);
	(void)state;
	assert_non_null(p);
	assert_int_equal(p->samples_n, 1);
	assert_int_equal(p->notes_n, 1);
	assert_int_equal(p->notes[0].count, 2);
	pp_profile_free(p);
}

/* A profile without samples, and one without types, still have a header. */
static void keeps_headers_of_nothing(void **state)
{
	struct pp_profile *p = must_read(pp_samples_read, "a:b\tc:d\tstack\n");
	(void)state;
	assert_view(p, false, false, "a:b\tc:d\tstack\n");
	assert_view(p, false, true, "[]\n");
	pp_profile_free(p);
	p = must_read(pp_samples_read, "stack\n");
	assert_view(p, false, false, "stack\n");
	pp_profile_free(p);
}

static void refuses_too_many_label_columns(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf text = PP_BUF_INIT, out = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&text), null = pp_buf_sink(&out);
	const struct pp_samples_options options = {0};
	(void)state;

	assert_int_equal(pp_sink_str(&sink, "#pprof-records\t1\nsample_type\t0\ta\tb\nsample\t0\t\t1\n", &err), 0);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(pp_sink_printf(&sink, &err, "label\t0\t%d\tk%d\tv\t0\t\n", i, i), 0);
	struct pp_profile *p = must_read(pp_records_read, text.bytes);
	assert_int_equal(pp_samples_write(p, &options, &null, &err), -1);
	assert_int_equal(err.code, PP_ELIMIT);
	pp_profile_free(p);
	pp_buf_release(&text);
	pp_buf_release(&out);
}

/* A few rows of records that would print as a million frames and more. */
static void refuses_endless_stacks(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf text = PP_BUF_INIT, out = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&text), null = pp_buf_sink(&out);
	const struct pp_samples_options options = {0};
	(void)state;

	assert_int_equal(pp_sink_str(&sink, "#pprof-records\t1\nsample_type\t0\ta\tb\nfunction\t0\t1\tf\t\t\t0\n"
	                             "location\t0\t1\t0\t0\t0\n", &err), 0);
	for (int i = 0; i < 1001; i++)
		assert_int_equal(pp_sink_printf(&sink, &err, "line\t1\t%d\t1\t0\t0\n", i), 0);
	assert_int_equal(pp_sink_str(&sink, "sample\t0\t1", &err), 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(pp_sink_str(&sink, ",1", &err), 0);
	assert_int_equal(pp_sink_str(&sink, "\t1\n", &err), 0);
	struct pp_profile *p = must_read(pp_records_read, text.bytes);
	assert_int_equal(pp_samples_write(p, &options, &null, &err), -1);
	assert_int_equal(err.code, PP_ELIMIT);
	pp_profile_free(p);
	pp_buf_release(&text);
	pp_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_rows),
		cmocka_unit_test(reads_back_what_it_wrote),
		cmocka_unit_test(writes_json),
		cmocka_unit_test(names_line_and_column),
		cmocka_unit_test(drops_and_counts_rows_when_lenient),
		cmocka_unit_test(keeps_headers_of_nothing),
		cmocka_unit_test(refuses_too_many_label_columns),
		cmocka_unit_test(refuses_endless_stacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
