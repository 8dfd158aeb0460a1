/* What a fuzz target is made of. A target is a file fuzz_NAME.c that defines the first two functions; it
 * runs under driver.c (stand-alone, deterministic) or under libFuzzer (make fuzz). */
#ifndef PP_FUZZ_H
#define PP_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "libpprof/limits.h"
#include "libpprof/profile.h"
#include "libpprof/read.h"
#include "libpprof/sink.h"

/* Runs one input; ends the process when a property does not hold. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
/* Fills out, empty, with the target's own input number i; false when there are no more. */
bool fuzz_seed(unsigned i, struct pp_buf *out);

#define FUZZ_CHECK(property)                                                                       \
	do {                                                                                       \
		if (!(property)) {                                                                 \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #property); \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* seeds.c: inputs by form. */
bool seed_records(unsigned i, struct pp_buf *out);
bool seed_samples(unsigned i, struct pp_buf *out);
bool seed_folded(unsigned i, struct pp_buf *out);
bool seed_legacy(unsigned i, struct pp_buf *out);
bool seed_protobuf(unsigned i, struct pp_buf *out);
void seed_gzip(struct pp_str bytes, struct pp_buf *out);

/* Small limits, so that an input of some kilobytes meets them. */
struct pp_read_options fuzz_options(enum pp_strictness strictness);

/* Reads bytes and writes a profile, as two-sided text forms do. */
typedef struct pp_profile *fuzz_reader(struct pp_source *, const struct pp_read_options *, struct pp_error *);
typedef int fuzz_writer(const struct pp_profile *, struct pp_sink *, struct pp_error *);

/* NULL when refused; then *err says why, and that has to be a reason that an input can give. */
struct pp_profile *fuzz_read(fuzz_reader *read, struct pp_str bytes, enum pp_strictness strictness);
/* write(profile) is read back by read, and writing that again gives the same bytes. A sum that does not fit
 * and a limit are the only excuses. */
void fuzz_round_trip(const struct pp_profile *profile, fuzz_writer *write, fuzz_reader *read);
/* The writers of the text forms, as fuzz_writers and fuzz_readers. */
int fuzz_write_samples(const struct pp_profile *profile, struct pp_sink *sink, struct pp_error *err);
int fuzz_write_lines(const struct pp_profile *profile, struct pp_sink *sink, struct pp_error *err);
int fuzz_write_folded(const struct pp_profile *profile, struct pp_sink *sink, struct pp_error *err);
struct pp_profile *fuzz_read_folded(struct pp_source *source, const struct pp_read_options *options,
                                    struct pp_error *err);

#endif
