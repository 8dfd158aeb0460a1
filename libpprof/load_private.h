/* The recognition of formats by their first bytes. */
#ifndef PP_LOAD_PRIVATE_H
#define PP_LOAD_PRIVATE_H

#include "libpprof/error.h"

enum pp_format {
	PP_FORMAT_PPROF,
	PP_FORMAT_RECORDS,
	PP_FORMAT_SAMPLES,
	PP_FORMAT_FOLDED,
	/* legacy.h */
	PP_FORMAT_CPU, /* of gperftools or Java */
	PP_FORMAT_HEAP, /* of gperftools or Go; growth and fragmentation too */
	PP_FORMAT_JEMALLOC,
	PP_FORMAT_COUNT, /* of Go: goroutine, threadcreate */
	PP_FORMAT_THREADS,
	PP_FORMAT_CONTENTION, /* of gperftools or Go */
	PP_FORMAT_JAVA, /* heap or contention */
	PP_FORMAT_SYMBOLIZED
};

#define PP_SNIFF_BYTES 4096

/* Whether bytes begin with the head of a CPU profile in words of this size and order: 0, 3, version 0 or 1,
 * period, 0. Fills head. There must be five words. */
bool pp_cpu_head(const unsigned char *bytes, size_t size, bool big_endian, uint64_t head[5]);

/* What the n > 0 unpacked bytes at the start of an input (whole: all of it) are. A format that is
 * recognised and not read fails with PP_EUNSUPPORTED and its name (gzip inside gzip with PP_EFORMAT);
 * what is nothing known fails with PP_EFORMAT. */
int pp_sniff(const unsigned char *bytes, size_t n, bool whole, enum pp_format *format, struct pp_error *err) PP_MUSTUSE;

#endif
