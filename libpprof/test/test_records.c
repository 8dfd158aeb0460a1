#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/records.h"

/* Every kind of row, with what is easily lost: huge ids, empty strings, labels that are entirely zero,
 * negative numbers, unknown fields of every record, a sample without locations. */
static const char full[] =
	"#pprof-records\t1\n"
	"#profile\ttime_ns\tduration_ns\tperiod_type\tperiod_unit\tperiod\tdefault_sample_type\tdrop_frames\t"
	"keep_frames\tdoc_url\n"
	"profile\t1700000000000000001\t10\tcpu\tnanoseconds\t-5\tcpu\tdrop\\\\.x\tkeep\thttps://doc.example/\n"
	"#sample_type\tindex\ttype\tunit\n"
	"sample_type\t0\tsamples\tcount\n"
	"sample_type\t1\tcpu\t\n"
	"#comment\tindex\ttext\n"
	"comment\t0\t\n"
	"comment\t1\ttwo\\nlines\n"
	"#mapping\tindex\tid\tstart\tlimit\toffset\tfilename\tbuild_id\thas_functions\thas_filenames\t"
	"has_line_numbers\thas_inline_frames\n"
	"mapping\t0\t18446744073709551615\t0xffffffff81000000\t0xffffffff82000000\t0x0\t/bin/\\xff\tabc\t1\t0\t1\t0\n"
	"mapping\t1\t2\t0x0\t0x0\t0x10\t\t\t0\t1\t0\t1\n"
	"#function\tindex\tid\tname\tsystem_name\tfilename\tstart_line\n"
	"function\t0\t9\tmain\t_main\tm.c\t12\n"
	"function\t1\t7\t\t\t\t-1\n"
	"#location\tindex\tid\tmapping\taddress\tis_folded\n"
	"location\t0\t5\t18446744073709551615\t0xffffffff81000010\t0\n"
	"location\t1\t3\t0\t0x0\t1\n"
	"#line\tlocation\tindex\tfunction\tline\tcolumn\n"
	"line\t5\t0\t7\t-3\t4\n"
	"line\t5\t1\t9\t20\t0\n"
	"#sample\tindex\tlocations\tvalues\n"
	"sample\t0\t3,5\t1,-9223372036854775808\n"
	"sample\t1\t\t0,0\n"
	"sample\t2\t3,5\t1,9223372036854775807\n"
	"#label\tsample\tindex\tkey\tstr\tnum\tnum_unit\n"
	"label\t0\t0\tendpoint\t/a b\t0\t\n"
	"label\t0\t1\t\t\t0\t\n"
	"label\t2\t0\tbytes\t\t-16\tbytes\n"
	"#unknown\trecord\telement\tpart\tbytes\n"
	"unknown\tprofile\t0\t0\t8206023132\n"
	"unknown\tsample_type\t1\t0\t800101\n"
	"unknown\tperiod_type\t0\t0\t800102\n"
	"unknown\tsample\t2\t0\t800103\n"
	"unknown\tlabel\t0\t1\t800104\n"
	"unknown\tmapping\t2\t0\t800105\n"
	"unknown\tlocation\t3\t0\t800106\n"
	"unknown\tline\t5\t1\t800107\n"
	"unknown\tfunction\t9\t0\t800108\n";

static struct pp_profile *read_text(const char *text, enum pp_strictness strictness, struct pp_error *err)
{
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	struct pp_memory_source memory;

	options.strictness = strictness;
	pp_memory_source_init(&memory, text, strlen(text));
	return pp_records_read(&memory.source, &options, err);
}

static void assert_writes(const struct pp_profile *profile, const char *text)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&buf);

	assert_int_equal(pp_records_write(profile, &sink, &err), 0);
	assert_string_equal(buf.bytes, text);
	pp_buf_release(&buf);
}

static struct pp_profile *must_read(const char *text, enum pp_strictness strictness)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *profile = read_text(text, strictness, &err);

	if (!profile)
		fail_msg("%s", err.text);
	return profile;
}

static void loses_nothing(void **state)
{
	struct pp_profile *p = must_read(full, PP_STRICT);
	(void)state;

	assert_int_equal(p->samples_n, 3);
	assert_int_equal(p->stacks_n, 2);
	assert_true(p->mappings[0].id == UINT64_MAX);
	assert_int_equal(p->locations[1].mapping, PP_NONE);
	assert_int_equal(p->lines[0].column, 4);
	assert_true(pp_value(p, 0, 1) == INT64_MIN);
	assert_int_equal(p->unknowns_n, 9);
	assert_int_equal(p->notes_n, 0);
	assert_writes(p, full);
	pp_profile_free(p);
}

/* Rows in reverse order, column heads gone. */
static void takes_rows_in_any_order(void **state)
{
	size_t n = sizeof(full) - 1, out = 0, end = n - 1;
	char *text = malloc(n + 1);
	const char *rows = strchr(full, '\n') + 1;
	(void)state;

	out = (size_t)(rows - full);
	memcpy(text, full, out);
	while (full + end > rows) {
		size_t begin = end;
		while (full + begin > rows && full[begin - 1] != '\n')
			begin--;
		if (full[begin] != '#') {
			memcpy(text + out, full + begin, end - begin + 1);
			out += end - begin + 1;
		}
		end = begin - 1;
	}
	text[out] = '\0';
	struct pp_profile *p = must_read(text, PP_STRICT);
	assert_writes(p, full);
	pp_profile_free(p);
	free(text);
}

static void ignores_columns_to_the_right_and_gaps_between_indices(void **state)
{
	struct pp_profile *p = must_read("#pprof-records\t1\tmore\n"
	                                 "# a remark\n\n"
	                                 "sample_type\t10\tcpu\tms\tnew column\n"
	                                 "sample\t7\t\t5\tnew\n"
	                                 "sample\t3\t\t4\n", PP_STRICT);
	(void)state;
	assert_int_equal(p->samples_n, 2);
	assert_int_equal(pp_value(p, 0, 0), 4);
	assert_int_equal(pp_value(p, 1, 0), 5);
	pp_profile_free(p);
}

#define HEAD "#pprof-records\t1\nsample_type\t0\tcpu\tms\n"

static void names_what_is_broken(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{"", "empty input"},
		{"sample\t0\n", "line 1: "},
		{HEAD "sampel\t0\n", "line 3: 'sampel' is not a kind of row"},
		{HEAD "sample\t0\n", "line 3: sample: the column locations is missing"},
		{HEAD "sample\t0\t\tx\n", "line 3: sample.values: 'x' is not a list of integers"},
		{HEAD "sample\t0\t\t1,2\n", "line 3: sample.values: 2 values where there are 1 sample types"},
		{HEAD "sample\t0\t99\t1\n", "line 3: sample.locations: no location has id 99"},
		{HEAD "sample\t0\t,\t1\n", "line 3: sample.locations[0]: is not an id"},
		{HEAD "sample\t0\t\t1\nsample\t0\t\t2\n", "line 4: sample: line 3 has the same index"},
		{HEAD "label\t5\t0\tk\tv\t0\t\n", "line 3: label.sample: no sample has index 5"},
		{HEAD "location\t0\t0\t0\t0\t0\n", "line 3: location.id: '0' is not an id"},
		{HEAD "location\t0\t1\t0\t0\t2\n", "line 3: location.is_folded: '2' is not 0 or 1"},
		{HEAD "location\t0\t1\t0\t0\t0\nlocation\t1\t1\t0\t0\t0\n", "line 4: location.id: multiple locations with id 1"},
		{HEAD "location\t0\t1\t0\t0\t0\nline\t1\t0\t8\t1\t0\n", "line 4: line.function: no function has id 8"},
		{HEAD "line\t1\t0\t8\t1\t0\n", "line 3: line.location: no location has id 1"},
		{HEAD "comment\t0\ta\\q\n", "line 3: comment.text: '\\q' is not an escape"},
		{HEAD "unknown\tnothing\t0\t0\tff\n", "line 3: unknown.record: 'nothing' is not"},
		{HEAD "unknown\tsample\t4\t0\t800101\n", "line 3: unknown.element: no record is numbered 4"},
		{HEAD "unknown\tprofile\t0\t0\tfff\n", "line 3: unknown.bytes: 'fff' is not"},
		{HEAD "unknown\tprofile\t0\t0\t0801\n", "line 3: unknown.bytes: are not whole protobuf fields"},
		{HEAD "unknown\tprofile\t0\t0\t82060231\n", "line 3: unknown.bytes: are not whole protobuf fields"},
		{HEAD "profile\t0\t0\t\t\t0\t\t\t\t\nprofile\t0\t0\t\t\t0\t\t\t\t\n", "line 4: a second profile row"},
		{"#pprof-records\t1\nsample\t0\t\t\n", "there are samples but no sample type"},
	};
	(void)state;

	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct pp_error err = PP_ERROR_INIT;
		assert_null(read_text(cases[i].text, PP_STRICT, &err));
		assert_int_equal(err.code, PP_EFORMAT);
		if (!strstr(err.text, cases[i].reason))
			fail_msg("case %zu: '%s' does not hold '%s'", i, err.text, cases[i].reason);
	}
	struct pp_error err = PP_ERROR_INIT;
	assert_null(read_text("#pprof-records\t2\n", PP_STRICT, &err));
	assert_int_equal(err.code, PP_EUNSUPPORTED);
}

static void drops_and_counts_when_lenient(void **state)
{
	struct pp_profile *p = must_read(HEAD
	                                 "location\t0\t1\t0\t0\t0\n"
	                                 "line\t1\t0\t8\t1\t0\n"
	                                 "sample\t0\t1,99\t1\n"
	                                 "sample\t1\t1,98\t1\n"
	                                 "sample\t2\t1\t1,2\n"
	                                 "label\t7\t0\tk\tv\t0\t\n", PP_LENIENT);
	(void)state;

	assert_int_equal(p->samples_n, 2);
	assert_int_equal(p->stacks_n, 1);
	assert_int_equal(p->stacks[0].n, 1);
	assert_int_equal(p->lines[0].function, PP_NONE);
	assert_int_equal(p->notes_n, 4);
	for (uint32_t i = 0; i < p->notes_n; i++)
		if (strstr(p->notes[i].text, "sample.locations"))
			assert_int_equal(p->notes[i].count, 2);
	pp_profile_free(p);
}

static void keeps_limits(void **state)
{
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	struct pp_memory_source memory;
	struct pp_error err = PP_ERROR_INIT;
	(void)state;

	options.limits.samples = 2;
	pp_memory_source_init(&memory, full, sizeof(full) - 1);
	assert_null(pp_records_read(&memory.source, &options, &err));
	assert_int_equal(err.code, PP_ELIMIT);

	err = (struct pp_error)PP_ERROR_INIT;
	options = (struct pp_read_options)PP_READ_OPTIONS_DEFAULT;
	options.limits.depth = 1;
	pp_memory_source_init(&memory, full, sizeof(full) - 1);
	assert_null(pp_records_read(&memory.source, &options, &err));
	assert_int_equal(err.code, PP_ELIMIT);

	err = (struct pp_error)PP_ERROR_INIT;
	options = (struct pp_read_options)PP_READ_OPTIONS_DEFAULT;
	options.limits.model_bytes = 8000;
	pp_memory_source_init(&memory, full, sizeof(full) - 1);
	assert_null(pp_records_read(&memory.source, &options, &err));
	assert_int_equal(err.code, PP_ELIMIT);
}

static void writes_json(void **state)
{
	struct pp_profile *p = must_read(full, PP_STRICT);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&buf);
	(void)state;

	assert_int_equal(pp_records_write_json(p, &sink, &err), 0);
	assert_non_null(strstr(buf.bytes, "\"sample_type\": [\n{\"index\": 0, \"type\": \"samples\", \"unit\": \"count\"},\n"));
	assert_non_null(strstr(buf.bytes, "{\"index\": 0, \"id\": \"18446744073709551615\", \"start\": \"0xffffffff81000000\","));
	assert_non_null(strstr(buf.bytes, "{\"index\": 0, \"locations\": [3, 5], \"values\": [1, -9223372036854775808]}"));
	assert_non_null(strstr(buf.bytes, "{\"record\": \"function\", \"element\": 9, \"part\": 0, \"bytes\": \"800108\"}]}\n"));
	pp_buf_release(&buf);
	pp_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loses_nothing),
		cmocka_unit_test(takes_rows_in_any_order),
		cmocka_unit_test(ignores_columns_to_the_right_and_gaps_between_indices),
		cmocka_unit_test(names_what_is_broken),
		cmocka_unit_test(drops_and_counts_when_lenient),
		cmocka_unit_test(keeps_limits),
		cmocka_unit_test(writes_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
