/* gzip: unpacking anything keeps the limits; what was packed comes back. */
#include "libpprof/fuzz/fuzz.h"

#include <string.h>

#include "libpprof/gz.h"

bool fuzz_seed(unsigned i, struct pp_buf *out)
{
	struct pp_buf raw = PP_BUF_INIT;
	bool there = seed_protobuf(i / 2, &raw);
	if (there) {
		seed_gzip((struct pp_str){raw.bytes, raw.n}, out);
		if (i % 2) /* a second member */
			seed_gzip((struct pp_str){raw.bytes, raw.n}, out);
	}
	pp_buf_release(&raw);
	return there;
}

/* Unpacks all of it; false when refused. */
static bool unpack(struct pp_str packed, bool salvage, struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_read_options options = fuzz_options(PP_STRICT);
	struct pp_memory_source memory;
	struct pp_gz_summary summary;
	const unsigned char *peeked;
	char part[1000];
	int64_t n;

	pp_memory_source_init(&memory, packed.ptr, packed.len);
	struct pp_gz_reader *gz = pp_gz_reader_new(&memory.source, &options.limits, salvage, &err);
	FUZZ_CHECK(gz);
	struct pp_source source = pp_gz_reader_source(gz);
	n = pp_gz_reader_peek(gz, &peeked, 100, &err);
	while (n >= 0 && (n = source.read(source.context, part, sizeof(part), &err)) > 0)
		FUZZ_CHECK(pp_buf_append(out, part, (size_t)n, &err) == 0);
	pp_gz_reader_summary(gz, &summary);
	FUZZ_CHECK(out->n <= options.limits.raw_bytes);
	FUZZ_CHECK(n < 0 || (summary.raw_bytes == out->n && summary.packed_bytes == packed.len));
	FUZZ_CHECK(n == 0 || err.code == PP_EFORMAT || err.code == PP_ELIMIT);
	FUZZ_CHECK(n == 0 || !salvage || err.code == PP_ELIMIT);
	pp_gz_reader_free(gz);
	return n == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct pp_str input = {(const char *)bytes, n};
	struct pp_buf packed = PP_BUF_INIT, out = PP_BUF_INIT;

	(void)unpack(input, false, &out);
	out.n = 0;
	(void)unpack(input, true, &out);
	out.n = 0;
	seed_gzip(input, &packed);
	FUZZ_CHECK(unpack((struct pp_str){packed.bytes, packed.n}, false, &out));
	FUZZ_CHECK(out.n == n && (n == 0 || memcmp(out.bytes, bytes, n) == 0));
	pp_buf_release(&packed);
	pp_buf_release(&out);
	return 0;
}
