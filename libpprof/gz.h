/* gzip in and out. The only file that knows zlib. */
#ifndef PP_GZ_H
#define PP_GZ_H

#include "libpprof/hash.h"
#include "libpprof/limits.h"
#include "libpprof/source.h"

/* A source of unpacked bytes over a source of packed ones: gzip members are concatenated; anything
 * that does not begin with the gzip magic passes through as it is. Bytes after the last member are
 * ignored and remembered. Enforces packed_bytes, raw_bytes and ratio while it unpacks. */
struct pp_gz_reader;
struct pp_gz_reader *pp_gz_reader_new(struct pp_source *packed, const struct pp_limits *limits,
                                      bool salvage, struct pp_error *err) PP_MUSTUSE;
void pp_gz_reader_free(struct pp_gz_reader *reader);
struct pp_source pp_gz_reader_source(struct pp_gz_reader *reader);

/* Looks at the next unpacked bytes without consuming them: *bytes is valid until the next read.
 * Returns how many there are (fewer than n only at the end), or -1. n at most 4096. */
int64_t pp_gz_reader_peek(struct pp_gz_reader *reader, const unsigned char **bytes, size_t n,
                          struct pp_error *err);

struct pp_gz_summary {
	bool gzip;
	uint64_t packed_bytes, raw_bytes; /* so far */
	uint64_t members;
	uint64_t trailing_offset; /* packed offset of ignored bytes after the last member, or PP_NO_OFFSET */
	bool truncated;           /* salvage: the packed data ended early; text says where */
	char truncated_text[200];
	char content_hash[PP_CONTENT_HASH_N]; /* of the packed bytes; complete once the end was read */
};
void pp_gz_reader_summary(struct pp_gz_reader *reader, struct pp_gz_summary *summary);

/* A sink that packs into one gzip member written to another sink: no time stamp, no name, so equal
 * input gives equal bytes for one zlib version. level 1…9. finish writes the trailer. */
struct pp_gz_writer;
struct pp_gz_writer *pp_gz_writer_new(struct pp_sink *packed, int level, struct pp_error *err) PP_MUSTUSE;
struct pp_sink pp_gz_writer_sink(struct pp_gz_writer *writer);
int pp_gz_writer_finish(struct pp_gz_writer *writer, struct pp_error *err) PP_MUSTUSE;
void pp_gz_writer_free(struct pp_gz_writer *writer);

/* The CRC-32 of gzip, which debug files are known by too. Begin with 0; goes on from an earlier result. */
uint32_t pp_crc32(uint32_t crc, const void *bytes, size_t n);

#endif
