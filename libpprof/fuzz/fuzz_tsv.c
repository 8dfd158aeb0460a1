/* Escaping is undone exactly, whatever the bytes; undoing anything else only fails. Lines are all there. */
#include "libpprof/fuzz/fuzz.h"

#include <string.h>

#include "libpprof/tsv.h"

bool fuzz_seed(unsigned i, struct pp_buf *out)
{
	return seed_samples(i, out);
}

static void check_escape(struct pp_str bytes, char also)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf text = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&text);

	FUZZ_CHECK(pp_escape(&sink, bytes, also, &err) == 0);
	FUZZ_CHECK(text.n == 0 || (!memchr(text.bytes, '\t', text.n) && !memchr(text.bytes, '\n', text.n)));
	FUZZ_CHECK(text.n == 0 || !also || !memchr(text.bytes, also, text.n));
	if (text.n) {
		FUZZ_CHECK(pp_unescape(text.bytes, text.n, 0, &err) == (int64_t)bytes.len);
		FUZZ_CHECK(memcmp(text.bytes, bytes.ptr, bytes.len) == 0);
	}
	pp_buf_release(&text);
}

static void check_unescape(struct pp_str bytes)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf copy = PP_BUF_INIT;
	FUZZ_CHECK(pp_buf_append(&copy, bytes.ptr, bytes.len, &err) == 0);
	int64_t n = pp_unescape(copy.bytes, bytes.len, 0, &err);
	FUZZ_CHECK(n < 0 ? err.code == PP_EFORMAT && err.offset < bytes.len : (uint64_t)n <= bytes.len);
	pp_buf_release(&copy);
}

static void check_lines(struct pp_str bytes)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_read_options options = fuzz_options(PP_STRICT);
	struct pp_memory_source memory;
	char *line;
	size_t n, newlines = 0;
	uint64_t offset;
	int more;

	options.limits.record_bytes = bytes.len;
	pp_memory_source_init(&memory, bytes.ptr, bytes.len);
	struct pp_lines *lines = pp_lines_new(&memory.source, &options.limits, &err);
	FUZZ_CHECK(lines);
	while ((more = pp_lines_next(lines, &line, &n, &offset, &err)) > 0) {
		struct pp_str fields[4];
		FUZZ_CHECK(offset + n <= bytes.len && memcmp(line, bytes.ptr + offset, n) == 0);
		FUZZ_CHECK(pp_split_tabs(line, n, fields, PP_COUNT(fields)) >= 1);
	}
	FUZZ_CHECK(more == 0);
	for (size_t i = 0; i < bytes.len; i++)
		newlines += bytes.ptr[i] == '\n';
	FUZZ_CHECK(pp_lines_number(lines) == newlines + (bytes.len > 0 && bytes.ptr[bytes.len - 1] != '\n'));
	pp_lines_free(lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct pp_str input = {(const char *)bytes, n};
	check_escape(input, 0);
	check_escape(input, ';');
	check_unescape(input);
	check_lines(input);
	return 0;
}
