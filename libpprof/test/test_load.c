#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/gz.h"
#include "libpprof/load.h"
#include "libpprof/write.h"

static struct pp_profile *load(struct pp_str bytes, enum pp_strictness strictness, struct pp_origin *origin,
                               struct pp_error *err)
{
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	struct pp_memory_source memory;

	options.strictness = strictness;
	pp_memory_source_init(&memory, bytes.ptr, bytes.len);
	return pp_load(&memory.source, &options, origin, err);
}

static struct pp_str str_of(const struct pp_buf *buf)
{
	return (struct pp_str){buf->bytes, buf->n};
}

/* Packs bytes behind what is in out. */
static void pack(struct pp_str bytes, struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink packed = pp_buf_sink(out);
	struct pp_gz_writer *gz = pp_gz_writer_new(&packed, 6, &err);
	struct pp_sink sink = pp_gz_writer_sink(gz);

	assert_int_equal(pp_sink_bytes(&sink, bytes.ptr, bytes.len, &err), 0);
	assert_int_equal(pp_gz_writer_finish(gz, &err), 0);
	pp_gz_writer_free(gz);
}

static void make_protobuf(struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink sink = pp_buf_sink(out);
	struct pp_profile *p = load(PP_LIT("main;a 3\nmain 1\n"), PP_STRICT, NULL, &err);

	assert_non_null(p);
	assert_int_equal(pp_write(p, &sink, &err), 0);
	pp_profile_free(p);
}

static void assert_loads(struct pp_str bytes, const char *format, bool gzip, uint32_t samples)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_origin origin;
	struct pp_profile *p = load(bytes, PP_STRICT, &origin, &err);

	if (!p)
		fail_msg("%s", err.text);
	assert_string_equal(origin.format, format);
	assert_int_equal(origin.gzip, gzip);
	assert_int_equal(origin.packed_bytes, bytes.len);
	assert_int_equal(strlen(origin.content_hash), PP_CONTENT_HASH_N - 1);
	assert_int_equal(p->samples_n, samples);
	assert_int_equal(p->notes_n, 0);
	pp_profile_free(p);
}

static void recognises_by_content(void **state)
{
	static const struct {
		const char *text, *format;
		uint32_t samples;
	} texts[] = {
		{"main;work 3\nmain;idle 1\n", "folded", 2},
		{"\n\n  [unknown];f 3\n", "folded", 1},
		{"<module>;f 3\n", "folded", 1},
		{"caf\xe9;f 3\n", "folded", 1},
		{"#pprof-records\t1\nsample_type\t0\ta\tb\nsample\t0\t\t1\n", "records", 1},
		{"cpu:ns\tstack\n1\ta;b\n", "samples", 1},
		{"cpu:ns\tstack\r\n1\ta;b\r\n", "samples", 1},
		{"heap profile: 1: 2 [ 3: 4] @ heapprofile\n1: 2 [3: 4] @ 0x1\n", "legacy heap", 1},
		{"# text\n\ngoroutine profile: total 5\n5 @ 0x1\n", "legacy count", 1},
		{"heap_v2/524288\n  t*: 1: 2 [0: 0]\n@ 0x1\n  t*: 1: 2 [0: 0]\n", "jemalloc heap", 1},
		{"--- heapz 1 ---\nformat = java\nresolution = bytes\n  8 1 @ 0x1\n", "legacy java", 1},
		{"--- contentionz 1 ---\nformat = java\nresolution = ms\n8 1 @ 0x1\n", "legacy java", 1},
		{"--- contentionz 1 ---\ncycles/second = 3\n8 1 @ 0x1\n", "legacy contention", 1},
		{"--- mutex:\n8 1 @ 0x1\n", "legacy contention", 1},
		{"--- threadz 1 ---\n--- Memory map: ---\n", "legacy threads", 0},
		{"--- symbol\n---\ngoroutine profile: total 5\n5 @ 0x1\n", "symbolized", 1},
	};
	struct pp_buf raw = PP_BUF_INIT, packed = PP_BUF_INIT;
	(void)state;

	for (size_t i = 0; i < PP_COUNT(texts); i++) {
		assert_loads(pp_str_of(texts[i].text), texts[i].format, false, texts[i].samples);
		packed.n = 0;
		pack(pp_str_of(texts[i].text), &packed);
		assert_loads(str_of(&packed), texts[i].format, true, texts[i].samples);
	}
	make_protobuf(&raw);
	assert_loads(str_of(&raw), "pprof", false, 2);
	packed.n = 0;
	pack(str_of(&raw), &packed);
	assert_loads(str_of(&packed), "pprof", true, 2);
	pp_buf_release(&raw);
	pp_buf_release(&packed);
}

/* The first line alone is longer than what recognition looks at. */
static void recognises_long_first_lines(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf folded = PP_BUF_INIT, samples = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&folded), samples_sink = pp_buf_sink(&samples);
	(void)state;

	for (int i = 0; i < 1000; i++) {
		assert_int_equal(pp_sink_printf(&sink, &err, "%sframe%d", i ? ";" : "[", i), 0);
		assert_int_equal(pp_sink_printf(&samples_sink, &err, "type%d:unit\t", i), 0);
	}
	assert_int_equal(pp_sink_str(&sink, " 1\n", &err), 0);
	assert_int_equal(pp_sink_str(&samples_sink, "stack\n", &err), 0);
	assert_loads(str_of(&folded), "folded", false, 1);
	assert_loads(str_of(&samples), "samples", false, 0);
	pp_buf_release(&folded);
	pp_buf_release(&samples);
}

static void assert_refused(struct pp_str bytes, enum pp_code code, const char *name)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *p = load(bytes, PP_STRICT, NULL, &err);

	assert_null(p);
	if (!strstr(err.text, name))
		fail_msg("'%s' does not name '%s'", err.text, name);
	assert_int_equal(err.code, code);
}

/* PP_LIT as a constant initializer. */
#define BYTES(s) {(s), sizeof(s) - 1}

static void refuses_by_name(void **state)
{
	static const struct {
		struct pp_str bytes;
		const char *name;
	} cases[] = {
		{BYTES("FLR\0\0\2"), "JFR"},
		{BYTES("PERFILE2\x68"), "perf.data"},
		{BYTES("PK\x03\x04..."), "zip"},
		{BYTES("\x28\xb5\x2f\xfd."), "zstd"},
		{BYTES("\xff\xfem\0a\0"), "UTF-16"},
		{BYTES("{\"flamebearer\": {}}"), "JSON"},
		{BYTES("[\n  1, 2\n]\n"), "JSON"},
		{BYTES("<!DOCTYPE html>\n<p>"), "HTML"},
		{BYTES("<?xml version=\"1.0\"?>\n"), "XML"},
		{BYTES("\x0a\x0c\x0a\x0a\x0a\x08\x0a\x01k\x12\x03\x0a\x01v\0"), "OTLP"},
		{BYTES("\x0a\x06\x12\x04\x0a\x02\x0a\0"), "OTLP"},
	};
	struct pp_buf packed = PP_BUF_INIT;
	(void)state;

	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		assert_refused(cases[i].bytes, PP_EUNSUPPORTED, cases[i].name);
		packed.n = 0;
		pack(cases[i].bytes, &packed);
		assert_refused(str_of(&packed), PP_EUNSUPPORTED, cases[i].name);
	}
	pp_buf_release(&packed);
}

static void refuses_what_is_nothing_known(void **state)
{
	struct pp_buf once = PP_BUF_INIT, twice = PP_BUF_INIT, nothing = PP_BUF_INIT;
	(void)state;

	assert_refused(PP_LIT(""), PP_EFORMAT, "empty input");
	assert_refused(PP_LIT("  \n\n"), PP_EFORMAT, "empty input");
	assert_refused(PP_LIT("some prose.\n"), PP_EFORMAT, "is not a profile");
	assert_refused(PP_LIT("\x89PNG\r\n\x1a\n"), PP_EFORMAT, "is not a profile");
	pack(PP_LIT(""), &nothing);
	assert_refused(str_of(&nothing), PP_EFORMAT, "empty input");
	pack(PP_LIT("main 1\n"), &once);
	pack(str_of(&once), &twice);
	assert_refused(str_of(&twice), PP_EFORMAT, "gzip inside gzip");
	pp_buf_release(&once);
	pp_buf_release(&twice);
	pp_buf_release(&nothing);
}

static void notes_what_it_ignored(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf packed = PP_BUF_INIT;
	char wanted[40];
	(void)state;

	pack(PP_LIT("main 1\n"), &packed);
	snprintf(wanted, sizeof(wanted), "from packed byte %zu", packed.n);
	assert_int_equal(pp_buf_append(&packed, "junk", 4, &err), 0);
	struct pp_profile *p = load(str_of(&packed), PP_STRICT, NULL, &err);
	assert_non_null(p);
	assert_int_equal(p->notes_n, 1);
	assert_non_null(strstr(p->notes[0].text, wanted));
	pp_profile_free(p);
	pp_buf_release(&packed);
}

static void salvages_what_was_cut(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf packed = PP_BUF_INIT;
	(void)state;

	pack(PP_LIT("main 1\n"), &packed);
	packed.n -= 3;
	assert_refused(str_of(&packed), PP_EFORMAT, "unexpected end");
	struct pp_profile *p = load(str_of(&packed), PP_SALVAGE, NULL, &err);
	assert_non_null(p);
	assert_int_equal(p->samples_n, 1);
	assert_int_equal(p->notes_n, 1);
	assert_non_null(strstr(p->notes[0].text, "unexpected end"));
	pp_profile_free(p);

	packed.n = 10;
	err = (struct pp_error)PP_ERROR_INIT;
	assert_null(load(str_of(&packed), PP_SALVAGE, NULL, &err));
	assert_int_equal(err.code, PP_EFORMAT);
	pp_buf_release(&packed);
}

static void names_the_type_of_folded_stacks(void **state)
{
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_memory_source memory;
	(void)state;

	options.folded_type = "cpu";
	options.folded_unit = "nanoseconds";
	pp_memory_source_init(&memory, "main 1\n", 7);
	struct pp_profile *p = pp_load(&memory.source, &options, NULL, &err);
	assert_non_null(p);
	assert_string_equal(pp_string(p, p->sample_types[0].type).ptr, "cpu");
	assert_string_equal(pp_string(p, p->sample_types[0].unit).ptr, "nanoseconds");
	pp_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recognises_by_content),
		cmocka_unit_test(recognises_long_first_lines),
		cmocka_unit_test(refuses_by_name),
		cmocka_unit_test(refuses_what_is_nothing_known),
		cmocka_unit_test(notes_what_it_ignored),
		cmocka_unit_test(salvages_what_was_cut),
		cmocka_unit_test(names_the_type_of_folded_stacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
