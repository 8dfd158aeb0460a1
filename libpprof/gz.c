#include "libpprof/gz.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { IN_N = 64 * 1024, OUT_N = 64 * 1024, PEEK_N = 4096 };

/* A ratio says nothing about small inputs: a few kilobytes of one repeated name pack very well. */
static const uint64_t RATIO_FROM_BYTES = UINT64_C(16) << 20;

enum state {
	GZ_START,  /* nothing read yet */
	GZ_PLAIN,  /* not gzip: bytes pass through */
	GZ_MEMBER, /* inside a gzip member */
	GZ_END     /* no more unpacked bytes */
};

struct pp_gz_reader {
	struct pp_source *packed;
	struct pp_limits limits;
	bool salvage;
	enum state state;
	z_stream z;
	bool z_ready;
	bool packed_end;
	struct pp_content_hash *hash;
	struct pp_gz_summary summary;
	size_t peek_at, peek_n; /* bytes of peek that were looked at and not yet read */
	unsigned char peek[PEEK_N];
	unsigned char in[IN_N];
};

struct pp_gz_reader *pp_gz_reader_new(struct pp_source *packed, const struct pp_limits *limits,
                                      bool salvage, struct pp_error *err)
{
	struct pp_gz_reader *reader = calloc(1, sizeof(*reader));

	if (reader)
		reader->hash = pp_content_hash_new();
	if (!reader || !reader->hash) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
		pp_gz_reader_free(reader);
		return NULL;
	}
	reader->packed = packed;
	reader->limits = *limits;
	reader->salvage = salvage;
	reader->summary.trailing_offset = PP_NO_OFFSET;
	return reader;
}

void pp_gz_reader_free(struct pp_gz_reader *reader)
{
	if (!reader)
		return;
	if (reader->z_ready)
		(void)inflateEnd(&reader->z);
	pp_content_hash_free(reader->hash);
	free(reader);
}

/* Moves what is left of the packed bytes to the front and reads more behind it. */
static int refill(struct pp_gz_reader *reader, struct pp_error *err)
{
	size_t left = reader->z.avail_in;
	int64_t got;

	if (left)
		memmove(reader->in, reader->z.next_in, left);
	got = reader->packed->read(reader->packed->context, reader->in + left, IN_N - left, err);
	if (got < 0)
		return -1;
	if (got == 0)
		reader->packed_end = true;
	pp_content_hash_add(reader->hash, reader->in + left, (size_t)got);
	reader->summary.packed_bytes += (uint64_t)got;
	if (reader->summary.packed_bytes > reader->limits.packed_bytes)
		return pp_fail(err, PP_ELIMIT, reader->limits.packed_bytes,
		               "the input has more than %" PRIu64 " packed bytes", reader->limits.packed_bytes);
	reader->z.next_in = reader->in;
	reader->z.avail_in = (uInt)(left + (size_t)got);
	return 0;
}

static uint64_t packed_offset(const struct pp_gz_reader *reader)
{
	return reader->summary.packed_bytes - reader->z.avail_in;
}

/* Are the next packed bytes the start of a gzip member? Reads on until two are there. */
static int at_magic(struct pp_gz_reader *reader, bool *magic, struct pp_error *err)
{
	while (reader->z.avail_in < 2 && !reader->packed_end)
		if (refill(reader, err))
			return -1;
	*magic = reader->z.avail_in >= 2 && reader->z.next_in[0] == 0x1f && reader->z.next_in[1] == 0x8b;
	return 0;
}

static int begin(struct pp_gz_reader *reader, struct pp_error *err)
{
	bool magic;

	if (at_magic(reader, &magic, err))
		return -1;
	if (!magic) {
		reader->state = GZ_PLAIN;
		return 0;
	}
	if (inflateInit2(&reader->z, 15 + 16) != Z_OK)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	reader->z_ready = true;
	reader->state = GZ_MEMBER;
	reader->summary.gzip = true;
	reader->summary.members = 1;
	return 0;
}

/* Reads what is left of the packed bytes: the content hash is of all. */
static int drain(struct pp_gz_reader *reader, struct pp_error *err)
{
	while (!reader->packed_end) {
		reader->z.avail_in = 0;
		if (refill(reader, err))
			return -1;
	}
	return 0;
}

/* Broken or cut packed data: the end when salvaging, else a failure. */
static int broken(struct pp_gz_reader *reader, const char *reason, struct pp_error *err)
{
	if (!reader->salvage)
		return pp_fail(err, PP_EFORMAT, packed_offset(reader),
		               "gzip: %s (%" PRIu64 " bytes could be unpacked)", reason,
		               reader->summary.raw_bytes);
	reader->state = GZ_END;
	reader->summary.truncated = true;
	snprintf(reader->summary.truncated_text, sizeof(reader->summary.truncated_text),
	         "gzip: %s at packed byte %" PRIu64 "; %" PRIu64 " bytes were unpacked", reason,
	         packed_offset(reader), reader->summary.raw_bytes);
	return drain(reader, err);
}

/* After a member: another one, the end, or bytes that do not belong to the profile. */
static int next_member(struct pp_gz_reader *reader, struct pp_error *err)
{
	bool magic;

	if (at_magic(reader, &magic, err))
		return -1;
	if (magic) {
		reader->summary.members++;
		(void)inflateReset(&reader->z);
		return 0;
	}
	reader->state = GZ_END;
	if (reader->z.avail_in == 0)
		return 0;
	reader->summary.trailing_offset = packed_offset(reader);
	return drain(reader, err);
}

static int check_raw(const struct pp_gz_reader *reader, struct pp_error *err)
{
	uint64_t raw = reader->summary.raw_bytes;
	uint64_t most;

	if (raw > reader->limits.raw_bytes)
		return pp_fail(err, PP_ELIMIT, reader->limits.raw_bytes,
		               "the input unpacks to more than %" PRIu64 " bytes", reader->limits.raw_bytes);
	if (__builtin_mul_overflow(reader->limits.ratio, reader->summary.packed_bytes, &most))
		most = UINT64_MAX;
	if (raw > RATIO_FROM_BYTES && raw > most)
		return pp_fail(err, PP_ELIMIT, raw, "the input unpacks to more than %" PRIu64
		               " times its size", reader->limits.ratio);
	return 0;
}

/* One step of unpacking into out; *made may be 0 without being at the end. */
static int unpack(struct pp_gz_reader *reader, void *out, size_t n, size_t *made, struct pp_error *err)
{
	int status;

	*made = 0;
	if (reader->z.avail_in == 0 && !reader->packed_end && refill(reader, err))
		return -1;
	reader->z.next_out = out;
	reader->z.avail_out = n > OUT_N * 16 ? OUT_N * 16 : (uInt)n;
	n = reader->z.avail_out;
	status = inflate(&reader->z, Z_NO_FLUSH);
	*made = n - reader->z.avail_out;
	reader->summary.raw_bytes += *made;
	if (check_raw(reader, err))
		return -1;
	switch (status) {
	case Z_STREAM_END:
		return next_member(reader, err);
	case Z_OK:
	case Z_BUF_ERROR:
		if (*made == 0 && reader->z.avail_in == 0 && reader->packed_end)
			return broken(reader, "unexpected end of the packed data", err);
		return 0;
	case Z_MEM_ERROR:
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	default:
		return broken(reader, reader->z.msg ? reader->z.msg : "invalid data", err);
	}
}

static int pass_through(struct pp_gz_reader *reader, void *out, size_t n, size_t *made, struct pp_error *err)
{
	if (reader->z.avail_in == 0 && !reader->packed_end && refill(reader, err))
		return -1;
	*made = n < reader->z.avail_in ? n : reader->z.avail_in;
	if (*made == 0) {
		reader->state = GZ_END;
		return 0;
	}
	memcpy(out, reader->z.next_in, *made);
	reader->z.next_in += *made;
	reader->z.avail_in -= (uInt)*made;
	reader->summary.raw_bytes += *made;
	return check_raw(reader, err);
}

static int64_t read_unpacked(struct pp_gz_reader *reader, void *out, size_t n, struct pp_error *err)
{
	size_t made = 0;

	if (reader->state == GZ_START && begin(reader, err))
		return -1;
	while (made == 0 && n > 0 && reader->state != GZ_END)
		if (reader->state == GZ_PLAIN ? pass_through(reader, out, n, &made, err)
		                              : unpack(reader, out, n, &made, err))
			return -1;
	return (int64_t)made;
}

static int64_t read_source(void *context, void *buf, size_t n, struct pp_error *err)
{
	struct pp_gz_reader *reader = context;

	if (reader->peek_n) {
		if (n > reader->peek_n)
			n = reader->peek_n;
		memcpy(buf, reader->peek + reader->peek_at, n);
		reader->peek_at += n;
		reader->peek_n -= n;
		return (int64_t)n;
	}
	return read_unpacked(reader, buf, n, err);
}

struct pp_source pp_gz_reader_source(struct pp_gz_reader *reader)
{
	return (struct pp_source){read_source, reader};
}

int64_t pp_gz_reader_peek(struct pp_gz_reader *reader, const unsigned char **bytes, size_t n,
                          struct pp_error *err)
{
	if (n > PEEK_N)
		n = PEEK_N;
	if (reader->peek_at) {
		memmove(reader->peek, reader->peek + reader->peek_at, reader->peek_n);
		reader->peek_at = 0;
	}
	while (reader->peek_n < n) {
		int64_t got = read_unpacked(reader, reader->peek + reader->peek_n, n - reader->peek_n, err);

		if (got < 0)
			return -1;
		if (got == 0)
			break;
		reader->peek_n += (size_t)got;
	}
	*bytes = reader->peek;
	return (int64_t)(reader->peek_n < n ? reader->peek_n : n);
}

void pp_gz_reader_summary(struct pp_gz_reader *reader, struct pp_gz_summary *summary)
{
	pp_content_hash_hex(reader->hash, reader->summary.content_hash);
	*summary = reader->summary;
}

struct pp_gz_writer {
	struct pp_sink *packed;
	z_stream z;
	unsigned char out[OUT_N];
};

struct pp_gz_writer *pp_gz_writer_new(struct pp_sink *packed, int level, struct pp_error *err)
{
	struct pp_gz_writer *writer = calloc(1, sizeof(*writer));

	/* zlib's own header has no time, no name and a fixed system byte: nothing of this run. */
	if (!writer || deflateInit2(&writer->z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(writer);
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
		return NULL;
	}
	writer->packed = packed;
	return writer;
}

void pp_gz_writer_free(struct pp_gz_writer *writer)
{
	if (!writer)
		return;
	(void)deflateEnd(&writer->z);
	free(writer);
}

static int pack(struct pp_gz_writer *writer, int flush, struct pp_error *err)
{
	do {
		writer->z.next_out = writer->out;
		writer->z.avail_out = sizeof(writer->out);
		if (deflate(&writer->z, flush) == Z_STREAM_ERROR)
			return pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "gzip: written to after its end");
		if (pp_sink_bytes(writer->packed, writer->out, sizeof(writer->out) - writer->z.avail_out, err))
			return -1;
	} while (writer->z.avail_out == 0);
	return 0;
}

static int write_packed(void *context, const void *bytes, size_t n, struct pp_error *err)
{
	struct pp_gz_writer *writer = context;
	const unsigned char *at = bytes;

	while (n > 0) {
		uInt part = n > (1u << 30) ? (1u << 30) : (uInt)n;

		writer->z.next_in = (z_const Bytef *)(uintptr_t)at; /* zlib does not write to it */
		writer->z.avail_in = part;
		if (pack(writer, Z_NO_FLUSH, err))
			return -1;
		at += part;
		n -= part;
	}
	return 0;
}

struct pp_sink pp_gz_writer_sink(struct pp_gz_writer *writer)
{
	return (struct pp_sink){write_packed, writer};
}

int pp_gz_writer_finish(struct pp_gz_writer *writer, struct pp_error *err)
{
	writer->z.avail_in = 0;
	return pack(writer, Z_FINISH, err);
}

uint32_t pp_crc32(uint32_t crc, const void *bytes, size_t n)
{
	return (uint32_t)crc32_z(crc, bytes, n);
}
