/* profile.proto: what is read, however leniently, is written so that it reads back as the same. */
#include "libpprof/fuzz/fuzz.h"
#include "libpprof/write.h"

bool fuzz_seed(unsigned i, struct pp_buf *out)
{
	return seed_protobuf(i, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const enum pp_strictness all[] = {PP_STRICT, PP_LENIENT, PP_SALVAGE};
	bool strict_reads = false;
	for (size_t i = 0; i < PP_COUNT(all); i++) {
		struct pp_profile *profile = fuzz_read(pp_read, (struct pp_str){(const char *)bytes, n}, all[i]);
		/* Leniency only ever reads more. */
		FUZZ_CHECK(profile || !strict_reads);
		if (profile && all[i] == PP_STRICT)
			strict_reads = true;
		if (profile)
			fuzz_round_trip(profile, pp_write, pp_read);
		pp_profile_free(profile);
	}
	return 0;
}
