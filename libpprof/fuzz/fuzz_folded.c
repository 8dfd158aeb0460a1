/* Folded stacks: what is read is written so that it reads back as the same text. */
#include "libpprof/fuzz/fuzz.h"

bool fuzz_seed(unsigned i, struct pp_buf *out)
{
	return seed_folded(i, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	for (int lenient = 0; lenient < 2; lenient++) {
		struct pp_profile *profile = fuzz_read(fuzz_read_folded, (struct pp_str){(const char *)bytes, n},
		                                       lenient ? PP_LENIENT : PP_STRICT);
		if (profile)
			fuzz_round_trip(profile, fuzz_write_folded, fuzz_read_folded);
		pp_profile_free(profile);
	}
	return 0;
}
