/* The readers of legacy formats, each on anything: the first byte picks one. */
#include "libpprof/fuzz/fuzz.h"
#include "libpprof/legacy.h"
#include "libpprof/records.h"

#define FORMATS (PP_FORMAT_SYMBOLIZED - PP_FORMAT_CPU + 1)

static enum pp_format format;

static struct pp_profile *read_legacy(struct pp_source *source, const struct pp_read_options *options,
                                      struct pp_error *err)
{
	return pp_legacy_read(format, source, options, err);
}

bool fuzz_seed(unsigned i, struct pp_buf *out)
{
	struct pp_buf bytes = PP_BUF_INIT;
	struct pp_error err = PP_ERROR_INIT;
	bool there = seed_legacy(i / FORMATS, &bytes);
	const char pick = (char)(i % FORMATS);
	FUZZ_CHECK(!there || (pp_buf_append(out, &pick, 1, &err) == 0 && pp_buf_append(out, bytes.bytes, bytes.n, &err) == 0));
	pp_buf_release(&bytes);
	return there;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const enum pp_strictness all[] = {PP_STRICT, PP_LENIENT, PP_SALVAGE};
	if (n == 0)
		return 0;
	format = (enum pp_format)(PP_FORMAT_CPU + bytes[0] % FORMATS);
	for (size_t i = 0; i < PP_COUNT(all); i++) {
		struct pp_profile *profile = fuzz_read(read_legacy, (struct pp_str){(const char *)bytes + 1, n - 1}, all[i]);
		if (profile)
			fuzz_round_trip(profile, pp_records_write, pp_records_read);
		pp_profile_free(profile);
	}
	return 0;
}
