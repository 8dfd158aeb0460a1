#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/gz.h"

/* A source that gives at most step bytes at once. */
struct slow {
	struct pp_source source;
	const char *bytes;
	size_t n, at, step;
};

static int64_t read_slowly(void *context, void *buf, size_t n, struct pp_error *err)
{
	struct slow *slow = context;
	size_t left = slow->n - slow->at;

	(void)err;
	n = n < slow->step ? n : slow->step;
	n = n < left ? n : left;
	memcpy(buf, slow->bytes + slow->at, n);
	slow->at += n;
	return (int64_t)n;
}

/* Appends one gzip member that holds the bytes. */
static void add_member(struct pp_buf *out, const void *bytes, size_t n)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink sink = pp_buf_sink(out);
	struct pp_gz_writer *writer = pp_gz_writer_new(&sink, 6, &err);
	struct pp_sink unpacked = pp_gz_writer_sink(writer);

	assert_int_equal(pp_sink_bytes(&unpacked, bytes, n, &err), 0);
	assert_int_equal(pp_gz_writer_finish(writer, &err), 0);
	pp_gz_writer_free(writer);
}

/* What came of reading packed bytes to the end. */
struct result {
	struct pp_buf raw;
	struct pp_error err;
	struct pp_gz_summary summary;
};

static struct result read_packed(const void *packed, size_t n, size_t step, const struct pp_limits *limits, bool salvage)
{
	struct slow slow = {{read_slowly, &slow}, packed, n, 0, step};
	struct result result = {PP_BUF_INIT, PP_ERROR_INIT, {0}};
	struct pp_limits usual = PP_LIMITS_DEFAULT;
	struct pp_gz_reader *reader;
	struct pp_source source;
	char piece[777];
	int64_t got;

	reader = pp_gz_reader_new(&slow.source, limits ? limits : &usual, salvage, &result.err);
	assert_non_null(reader);
	source = pp_gz_reader_source(reader);
	while ((got = source.read(source.context, piece, sizeof(piece), &result.err)) > 0)
		assert_int_equal(pp_buf_append(&result.raw, piece, (size_t)got, &result.err), 0);
	assert_int_equal(got < 0, result.err.code != PP_OK);
	pp_gz_reader_summary(reader, &result.summary);
	pp_gz_reader_free(reader);
	return result;
}

static void hash_of(const void *bytes, size_t n, char out[PP_CONTENT_HASH_N])
{
	struct pp_content_hash *hash = pp_content_hash_new();

	pp_content_hash_add(hash, bytes, n);
	pp_content_hash_hex(hash, out);
	pp_content_hash_free(hash);
}

static void bytes_without_the_magic_pass_through(void **state)
{
	static const char *const texts[] = {"", "x", "\x1f", "\x1f\x8a", "plain text"};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(texts); i++) {
		struct result r = read_packed(texts[i], strlen(texts[i]), 1, NULL, false);

		assert_int_equal(r.err.code, PP_OK);
		assert_int_equal(r.raw.n, strlen(texts[i]));
		if (r.raw.n)
			assert_memory_equal(r.raw.bytes, texts[i], r.raw.n);
		assert_false(r.summary.gzip);
		pp_buf_release(&r.raw);
	}
}

static void members_are_joined_wherever_the_input_is_cut(void **state)
{
	struct pp_buf packed = PP_BUF_INIT;
	char hash[PP_CONTENT_HASH_N];

	(void)state;
	add_member(&packed, "one ", 4);
	add_member(&packed, "", 0);
	add_member(&packed, "two", 3);
	hash_of(packed.bytes, packed.n, hash);
	for (size_t step = 1; step <= packed.n; step++) {
		struct result r = read_packed(packed.bytes, packed.n, step, NULL, false);

		assert_int_equal(r.err.code, PP_OK);
		assert_string_equal(r.raw.bytes, "one two");
		assert_true(r.summary.gzip);
		assert_int_equal(r.summary.members, 3);
		assert_int_equal(r.summary.raw_bytes, 7);
		assert_int_equal(r.summary.packed_bytes, packed.n);
		assert_true(r.summary.trailing_offset == PP_NO_OFFSET);
		assert_string_equal(r.summary.content_hash, hash);
		pp_buf_release(&r.raw);
	}
	pp_buf_release(&packed);
}

static void what_is_written_is_read_and_the_same_each_time(void **state)
{
	struct pp_buf first = PP_BUF_INIT, second = PP_BUF_INIT;
	const size_t n = 1 << 20;
	unsigned char *bytes = malloc(n);
	uint32_t x = 1;
	struct result r;

	(void)state;
	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)((x = x * 1664525 + 1013904223) >> 26); /* six bits of eight */
	add_member(&first, bytes, n);
	add_member(&second, bytes, n);
	assert_int_equal(first.n, second.n);
	assert_memory_equal(first.bytes, second.bytes, first.n);
	assert_memory_equal(first.bytes + 4, "\0\0\0\0", 4); /* no time */
	r = read_packed(first.bytes, first.n, 5000, NULL, false);
	assert_int_equal(r.raw.n, n);
	assert_memory_equal(r.raw.bytes, bytes, n);
	pp_buf_release(&r.raw);
	pp_buf_release(&first);
	pp_buf_release(&second);
	free(bytes);
}

static void trailing_bytes_are_ignored_and_located(void **state)
{
	static const char *const tails[] = {"\0", "garbage", "\x1f", "\x1f\x8a"};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(tails); i++) {
		struct pp_buf packed = PP_BUF_INIT;
		struct pp_error err = PP_ERROR_INIT;
		char hash[PP_CONTENT_HASH_N];
		size_t end, tail_n = tails[i][0] ? strlen(tails[i]) : 1;

		add_member(&packed, "body", 4);
		end = packed.n;
		assert_int_equal(pp_buf_append(&packed, tails[i], tail_n, &err), 0);
		hash_of(packed.bytes, packed.n, hash);
		for (size_t step = 1; step <= packed.n; step++) {
			struct result r = read_packed(packed.bytes, packed.n, step, NULL, false);

			assert_int_equal(r.err.code, PP_OK);
			assert_string_equal(r.raw.bytes, "body");
			assert_int_equal(r.summary.trailing_offset, end);
			assert_string_equal(r.summary.content_hash, hash); /* of all that there was */
			pp_buf_release(&r.raw);
		}
		pp_buf_release(&packed);
	}
}

static void a_cut_is_refused_or_salvaged(void **state)
{
	struct pp_buf packed = PP_BUF_INIT;

	(void)state;
	add_member(&packed, "first first first ", 18);
	add_member(&packed, "second", 6);
	for (size_t n = 2; n < packed.n; n++) {
		struct result r = read_packed(packed.bytes, n, 7, NULL, false);
		struct result s = read_packed(packed.bytes, n, 7, NULL, true);
		bool between = r.err.code == PP_OK; /* the cut is between the members, or one byte into the magic */

		assert_true(between == (r.raw.n == 18 && r.summary.members == 1 && !s.summary.truncated));
		if (!between) {
			assert_int_equal(r.err.code, PP_EFORMAT);
			assert_int_equal(r.err.offset, n);
			assert_true(s.summary.truncated);
			assert_true(strlen(s.summary.truncated_text) > 0);
		}
		assert_int_equal(s.err.code, PP_OK);
		assert_int_equal(s.raw.n, r.raw.n); /* all that could be unpacked, both times */
		if (s.raw.n)
			assert_memory_equal(s.raw.bytes, "first first first second", s.raw.n);
		pp_buf_release(&r.raw);
		pp_buf_release(&s.raw);
	}
	pp_buf_release(&packed);
}

static void broken_data_is_named(void **state)
{
	struct pp_buf packed = PP_BUF_INIT;
	char hash[PP_CONTENT_HASH_N];
	struct result r;

	(void)state;
	add_member(&packed, "some bytes", 10);
	packed.bytes[packed.n - 6] ^= 1; /* in the checksum */
	add_member(&packed, "more", 4);
	r = read_packed(packed.bytes, packed.n, 5, NULL, false);
	assert_int_equal(r.err.code, PP_EFORMAT);
	assert_non_null(strstr(r.err.text, "gzip: incorrect data check (10 bytes could be unpacked)"));
	pp_buf_release(&r.raw);
	r = read_packed(packed.bytes, packed.n, 5, NULL, true);
	assert_int_equal(r.err.code, PP_OK);
	assert_string_equal(r.raw.bytes, "some bytes");
	assert_true(r.summary.truncated);
	hash_of(packed.bytes, packed.n, hash);
	assert_string_equal(r.summary.content_hash, hash); /* of all bytes, also those that were given up */
	pp_buf_release(&r.raw);
	pp_buf_release(&packed);
}

static void limits_hold_while_unpacking(void **state)
{
	struct pp_buf packed = PP_BUF_INIT;
	const size_t n = 20u << 20;
	char *zeros = calloc(1, n);
	static const struct {
		struct pp_limits limits;
		const char *text;
	} cases[] = {
		{{.packed_bytes = 1000, .raw_bytes = UINT64_MAX, .ratio = UINT64_MAX}, "packed bytes"},
		{{.packed_bytes = UINT64_MAX, .raw_bytes = 1 << 20, .ratio = UINT64_MAX}, "more than 1048576 bytes"},
		{{.packed_bytes = UINT64_MAX, .raw_bytes = UINT64_MAX, .ratio = 400}, "more than 400 times"},
		{{.packed_bytes = UINT64_MAX, .raw_bytes = UINT64_MAX, .ratio = 0}, "more than 0 times"},
	};

	(void)state;
	add_member(&packed, zeros, n);
	assert_true(n / packed.n > 400);
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct result r = read_packed(packed.bytes, packed.n, SIZE_MAX, &cases[i].limits, true);

		assert_int_equal(r.err.code, PP_ELIMIT); /* salvage or not */
		assert_non_null(strstr(r.err.text, cases[i].text));
		assert_true(r.raw.n < n);
		pp_buf_release(&r.raw);
	}
	pp_buf_release(&packed);
	free(zeros);
}

static void a_high_ratio_of_little_is_fine(void **state)
{
	struct pp_buf packed = PP_BUF_INIT;
	const size_t n = 4u << 20;
	char *zeros = calloc(1, n);
	struct result r;

	(void)state;
	add_member(&packed, zeros, n);
	r = read_packed(packed.bytes, packed.n, SIZE_MAX, NULL, false);
	assert_true(n / packed.n > 400);
	assert_int_equal(r.err.code, PP_OK);
	assert_int_equal(r.raw.n, n);
	pp_buf_release(&r.raw);
	pp_buf_release(&packed);
	free(zeros);
}

static void a_peek_consumes_nothing(void **state)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf packed = PP_BUF_INIT;
	struct pp_memory_source memory;
	struct pp_gz_reader *reader;
	struct pp_source source;
	const unsigned char *bytes;
	char out[16];

	(void)state;
	add_member(&packed, "abc", 3);
	add_member(&packed, "defgh", 5);
	pp_memory_source_init(&memory, packed.bytes, packed.n);
	reader = pp_gz_reader_new(&memory.source, &limits, false, &err);
	source = pp_gz_reader_source(reader);
	assert_int_equal(pp_gz_reader_peek(reader, &bytes, 2, &err), 2);
	assert_memory_equal(bytes, "ab", 2);
	assert_int_equal(source.read(source.context, out, 1, &err), 1);
	assert_int_equal(out[0], 'a');
	assert_int_equal(pp_gz_reader_peek(reader, &bytes, 4, &err), 4);
	assert_memory_equal(bytes, "bcde", 4);
	assert_int_equal(pp_gz_reader_peek(reader, &bytes, 100, &err), 7);
	assert_memory_equal(bytes, "bcdefgh", 7);
	assert_int_equal(source.read(source.context, out, sizeof(out), &err), 7);
	assert_int_equal(source.read(source.context, out, sizeof(out), &err), 0);
	assert_int_equal(pp_gz_reader_peek(reader, &bytes, 1, &err), 0);
	pp_gz_reader_free(reader);
	pp_buf_release(&packed);
}

static int64_t fail_read(void *context, void *buf, size_t n, struct pp_error *err)
{
	(void)context, (void)buf, (void)n;
	return pp_fail(err, PP_EIO, PP_NO_OFFSET, "input/output error");
}

static int fail_write(void *context, const void *bytes, size_t n, struct pp_error *err)
{
	(void)context, (void)bytes, (void)n;
	return pp_fail(err, PP_EIO, PP_NO_OFFSET, "no space left on device");
}

static void failures_of_source_and_sink_are_passed_on(void **state)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_source broken = {fail_read, NULL};
	struct pp_sink full = {fail_write, NULL};
	struct pp_gz_reader *reader = pp_gz_reader_new(&broken, &limits, true, &err);
	struct pp_source source = pp_gz_reader_source(reader);
	struct pp_gz_writer *writer = pp_gz_writer_new(&full, 1, &err);
	char byte;

	(void)state;
	assert_int_equal(source.read(source.context, &byte, 1, &err), -1);
	assert_int_equal(err.code, PP_EIO);
	err = (struct pp_error)PP_ERROR_INIT;
	assert_int_equal(pp_gz_writer_finish(writer, &err), -1);
	assert_int_equal(err.code, PP_EIO);
	pp_gz_reader_free(reader);
	pp_gz_writer_free(writer);
	pp_gz_reader_free(NULL);
	pp_gz_writer_free(NULL);
}

static void a_finished_writer_takes_no_more(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf packed = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&packed), unpacked;
	struct pp_gz_writer *writer = pp_gz_writer_new(&sink, 9, &err);

	(void)state;
	unpacked = pp_gz_writer_sink(writer);
	assert_int_equal(pp_gz_writer_finish(writer, &err), 0);
	assert_int_equal(pp_sink_str(&unpacked, "late", &err), -1);
	assert_int_equal(err.code, PP_EUSAGE);
	pp_gz_writer_free(writer);
	pp_buf_release(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_without_the_magic_pass_through),
		cmocka_unit_test(members_are_joined_wherever_the_input_is_cut),
		cmocka_unit_test(what_is_written_is_read_and_the_same_each_time),
		cmocka_unit_test(trailing_bytes_are_ignored_and_located),
		cmocka_unit_test(a_cut_is_refused_or_salvaged),
		cmocka_unit_test(broken_data_is_named),
		cmocka_unit_test(limits_hold_while_unpacking),
		cmocka_unit_test(a_high_ratio_of_little_is_fine),
		cmocka_unit_test(a_peek_consumes_nothing),
		cmocka_unit_test(failures_of_source_and_sink_are_passed_on),
		cmocka_unit_test(a_finished_writer_takes_no_more),
	};

	return cmocka_run_group_tests_name("gz", tests, NULL, NULL);
}
