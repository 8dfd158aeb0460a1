/* The front door, on anything: what loads goes out in every form, and each comes back. */
#include "libpprof/fuzz/fuzz.h"
#include "libpprof/load.h"
#include "libpprof/records.h"
#include "libpprof/samples.h"
#include "libpprof/write.h"

bool fuzz_seed(unsigned i, struct pp_buf *out)
{
	static bool (*const forms[])(unsigned, struct pp_buf *) = {seed_protobuf, seed_records, seed_samples, seed_folded,
	                                                      seed_legacy};
	struct pp_buf raw = PP_BUF_INIT;
	unsigned packed = i % 2, left = i / 2;
	bool there = false;
	for (size_t form = 0; form < PP_COUNT(forms) && !there; form++) {
		unsigned n = 0;
		struct pp_buf counted = PP_BUF_INIT;
		while (forms[form](n, &counted))
			n++;
		pp_buf_release(&counted);
		if (left < n)
			there = forms[form](left, packed ? &raw : out);
		else
			left -= n;
	}
	if (there && packed)
		seed_gzip((struct pp_str){raw.bytes, raw.n}, out);
	pp_buf_release(&raw);
	return there;
}

static struct pp_profile *load(struct pp_source *source, const struct pp_read_options *options, struct pp_error *err)
{
	struct pp_origin origin;
	struct pp_profile *profile = pp_load(source, options, &origin, err);
	if (profile)
		FUZZ_CHECK(origin.format && origin.content_hash[PP_CONTENT_HASH_N - 1] == '\0');
	return profile;
}

static void write_json(const struct pp_profile *profile)
{
	const struct pp_samples_options options = {.json = true};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf out = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&out);
	FUZZ_CHECK(pp_records_write_json(profile, &sink, &err) == 0);
	FUZZ_CHECK(pp_samples_write(profile, &options, &sink, &err) == 0 || err.code == PP_ELIMIT);
	pp_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const enum pp_strictness all[] = {PP_STRICT, PP_LENIENT, PP_SALVAGE};
	for (size_t i = 0; i < PP_COUNT(all); i++) {
		struct pp_profile *profile = fuzz_read(load, (struct pp_str){(const char *)bytes, n}, all[i]);
		if (profile) {
			fuzz_round_trip(profile, pp_write, pp_read);
			fuzz_round_trip(profile, pp_records_write, pp_records_read);
			fuzz_round_trip(profile, fuzz_write_samples, pp_samples_read);
			fuzz_round_trip(profile, fuzz_write_lines, pp_samples_read);
			fuzz_round_trip(profile, fuzz_write_folded, fuzz_read_folded);
			write_json(profile);
		}
		pp_profile_free(profile);
	}
	return 0;
}
