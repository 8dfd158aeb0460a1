#include "libpprof/load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/arena.h"
#include "libpprof/folded.h"
#include "libpprof/gz.h"
#include "libpprof/legacy.h"
#include "libpprof/records.h"
#include "libpprof/samples.h"

static const char *const format_names[] = {
	[PP_FORMAT_PPROF] = "pprof", [PP_FORMAT_RECORDS] = "records",
	[PP_FORMAT_SAMPLES] = "samples", [PP_FORMAT_FOLDED] = "folded",
	[PP_FORMAT_CPU] = "legacy cpu", [PP_FORMAT_HEAP] = "legacy heap",
	[PP_FORMAT_JEMALLOC] = "jemalloc heap", [PP_FORMAT_COUNT] = "legacy count",
	[PP_FORMAT_THREADS] = "legacy threads", [PP_FORMAT_CONTENTION] = "legacy contention",
	[PP_FORMAT_JAVA] = "legacy java", [PP_FORMAT_SYMBOLIZED] = "symbolized",
};

/* Notes of a finished profile: what only the unpacking knows. */
static int add_note(struct pp_profile *p, uint64_t offset, const char *text, struct pp_error *err)
{
	struct pp_note *notes = pp_arena_alloc(p->arena, (p->notes_n + (size_t)1) * sizeof(*notes));
	char *copy = pp_arena_copy(p->arena, text, strlen(text));
	if (!notes || !copy)
		return pp_arena_over(p->arena)
		               ? pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "the profile needs more memory than is allowed")
		               : pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a note");
	if (p->notes_n)
		memcpy(notes, p->notes, p->notes_n * sizeof(*notes));
	notes[p->notes_n++] = (struct pp_note){offset, 1, copy};
	p->notes = notes;
	return 0;
}

static int add_gzip_notes(struct pp_profile *p, const struct pp_gz_summary *summary, struct pp_error *err)
{
	if (summary->trailing_offset != PP_NO_OFFSET) {
		struct pp_error text = PP_ERROR_INIT; /* only for its formatting and masking */
		pp_fail(&text, PP_EFORMAT, PP_NO_OFFSET, "bytes after the last gzip member, from packed byte %" PRIu64
		        " on, are ignored", summary->trailing_offset);
		if (add_note(p, PP_NO_OFFSET, text.text, err) < 0)
			return -1;
	}
	return summary->truncated ? add_note(p, PP_NO_OFFSET, summary->truncated_text, err) : 0;
}

static struct pp_profile *read_format(enum pp_format format, struct pp_source *source,
                                      const struct pp_read_options *options, struct pp_error *err)
{
	switch (format) {
	case PP_FORMAT_PPROF: return pp_read(source, options, err);
	case PP_FORMAT_RECORDS: return pp_records_read(source, options, err);
	case PP_FORMAT_SAMPLES: return pp_samples_read(source, options, err);
	case PP_FORMAT_FOLDED:
		return pp_folded_read(source, options, options->folded_type ? options->folded_type : "samples",
		                      options->folded_unit ? options->folded_unit : "count", err);
	default: return pp_legacy_read(format, source, options, err);
	}
}

/* Readers stop where their format ends; content hash and gzip trailer are known at the very end. */
static int drain(struct pp_source *source, struct pp_error *err)
{
	char rest[4096];
	int64_t n;
	do
		n = source->read(source->context, rest, sizeof(rest), err);
	while (n > 0);
	return n < 0 ? -1 : 0;
}

static int sniff(struct pp_gz_reader *gz, enum pp_format *format, struct pp_error *err)
{
	const unsigned char *bytes;
	struct pp_gz_summary summary;
	int64_t n = pp_gz_reader_peek(gz, &bytes, PP_SNIFF_BYTES, err);
	if (n < 0)
		return -1;
	pp_gz_reader_summary(gz, &summary);
	if (n == 0 && summary.truncated) /* salvage found nothing to save */
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "empty input: %s", summary.truncated_text);
	if (n == 0)
		return pp_fail(err, PP_EFORMAT, 0, "empty input%s", summary.gzip ? ": gzip of nothing" : "");
	return pp_sniff(bytes, (size_t)n, n < PP_SNIFF_BYTES, format, err);
}

struct pp_profile *pp_load(struct pp_source *source, const struct pp_read_options *options,
                           struct pp_origin *origin, struct pp_error *err)
{
	struct pp_gz_reader *gz = pp_gz_reader_new(source, &options->limits, options->strictness == PP_SALVAGE, err);
	struct pp_profile *profile = NULL;
	struct pp_gz_summary summary;
	enum pp_format format;
	int result = -1;

	if (!gz || sniff(gz, &format, err) < 0)
		goto done;
	struct pp_source unpacked = pp_gz_reader_source(gz);
	profile = read_format(format, &unpacked, options, err);
	if (!profile || drain(&unpacked, err) < 0)
		goto done;
	pp_gz_reader_summary(gz, &summary);
	result = add_gzip_notes(profile, &summary, err);
	if (result == 0 && origin) {
		*origin = (struct pp_origin){.packed_bytes = summary.packed_bytes, .raw_bytes = summary.raw_bytes,
		                             .format = format_names[format], .gzip = summary.gzip};
		memcpy(origin->content_hash, summary.content_hash, sizeof(origin->content_hash));
	}
done:
	pp_gz_reader_free(gz);
	if (result < 0) {
		pp_profile_free(profile);
		return NULL;
	}
	return profile;
}
