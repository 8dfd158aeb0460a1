/* The front door: bytes of any readable format → model. Recognises by content, never by name:
 * gzip (any number of members) around, or without it, profile.proto, the records view, the samples
 * view, folded stacks, or a legacy profile: of gperftools (CPU, heap, growth, fragmentation, contention,
 * threads), Go (text, with the names in its comments), Java agents or jemalloc, perhaps with symbols in front (pprof --raw). Formats
 * that are recognised and not read (OTLP profiles, JFR, perf.data, gzip inside gzip, JSON, HTML, an archive)
 * are refused by their names with PP_EUNSUPPORTED or PP_EFORMAT. */
#ifndef PP_LOAD_H
#define PP_LOAD_H

#include "libpprof/read.h"
#include "libpprof/hash.h"

/* What the input was, and what it is called in reports. */
struct pp_origin {
	char content_hash[PP_CONTENT_HASH_N]; /* of the source's bytes as they came, packed */
	uint64_t packed_bytes, raw_bytes;
	const char *format; /* "pprof", "records", "samples", "folded", "legacy heap", …; constant */
	bool gzip;
};

/* Reads the whole source. origin may be NULL; filled on success. */
struct pp_profile *pp_load(struct pp_source *source, const struct pp_read_options *options,
                           struct pp_origin *origin, struct pp_error *err) PP_MUSTUSE;

#endif
