/* The records view: what is read is written so that it reads back as the same text. */
#include "libpprof/fuzz/fuzz.h"
#include "libpprof/records.h"

bool fuzz_seed(unsigned i, struct pp_buf *out)
{
	return seed_records(i, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	for (int lenient = 0; lenient < 2; lenient++) {
		struct pp_profile *profile = fuzz_read(pp_records_read, (struct pp_str){(const char *)bytes, n},
		                                       lenient ? PP_LENIENT : PP_STRICT);
		if (profile)
			fuzz_round_trip(profile, pp_records_write, pp_records_read);
		pp_profile_free(profile);
	}
	return 0;
}
