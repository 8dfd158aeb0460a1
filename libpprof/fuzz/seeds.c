#include "libpprof/fuzz/fuzz.h"

#include <string.h>

#include "libpprof/folded.h"
#include "libpprof/gz.h"
#include "libpprof/records.h"
#include "libpprof/samples.h"
#include "libpprof/write.h"

static const char *const records[] = {
	"#pprof-records\t1\n",
	/* everything there is */
	"#pprof-records\t1\n"
	"profile\t1700000000000000001\t10\tcpu\tnanoseconds\t-5\tcpu\tdrop\tkeep\thttps://doc.example/\n"
	"sample_type\t0\tsamples\tcount\n"
	"sample_type\t1\tcpu\tnanoseconds\n"
	"comment\t0\ttwo\\nlines\n"
	"mapping\t0\t18446744073709551615\t0xffffffff81000000\t0xffffffff82000000\t0x0\t/bin/\\xff\tabc\t1\t0\t1\t0\n"
	"mapping\t1\t2\t0x0\t0x0\t0x10\t\t\t0\t1\t0\t1\n"
	"function\t0\t9\tmain\t_main\tm.c\t12\n"
	"function\t1\t7\ta;b (c:1)\t\t(d)\t-1\n"
	"location\t0\t5\t18446744073709551615\t0xffffffff81000010\t0\n"
	"location\t1\t3\t0\t0x0\t1\n"
	"line\t5\t0\t7\t-3\t4\n"
	"line\t5\t1\t9\t20\t0\n"
	"sample\t0\t3,5\t1,-9223372036854775808\n"
	"sample\t1\t\t0,0\n"
	"sample\t2\t3,5\t1,9223372036854775807\n"
	"label\t0\t0\tendpoint\t/a;b\t0\t\n"
	"label\t0\t1\t\t\t0\t\n"
	"label\t2\t0\tbytes\t\t-16\tbytes\n"
	"unknown\tprofile\t0\t0\t8206023132\n"
	"unknown\tsample\t2\t0\t800103\n"
	"unknown\tlabel\t0\t1\t800104\n"
	"unknown\tline\t5\t1\t800107\n",
	/* recursion, one stack twice */
	"#pprof-records\t1\n"
	"sample_type\t0\tinuse_space\tbytes\n"
	"function\t0\t1\tf\t\tf.go\t1\n"
	"location\t0\t1\t0\t0x10\t0\n"
	"location\t1\t2\t0\t0x20\t0\n"
	"line\t1\t0\t1\t2\t0\n"
	"line\t2\t0\t1\t3\t0\n"
	"sample\t0\t1,2,1,2,1\t512\n"
	"sample\t1\t1,2,1,2,1\t1024\n",
};

static const char *const samples[] = {
	"stack\n",
	"cpu:nanoseconds\tlabel:endpoint\tnumlabel:size:bytes\tstack\n10\t/a;/b\t5\tmain;f\\x3b\n20\t\t\tmain (m.c:3);g (:4)\n",
	"\\x6cabel:x\\x3ay\ta:b\tstack\n-1\t9223372036854775807\t\n1\t2\tf (g.c:12\\x29;??\n",
};

static const char *const folded[] = {
	"main;a 1\nmain;b 2\nmain 3\n",
	"App\\Http\\Kernel;\\x5cx41;\\x20blank\\x20 9223372036854775807\n(no stack) -4\n\\x28no stack) 5\n",
};

#define BYTES(s) {(s), sizeof(s) - 1}
static const struct pp_str legacy[] = {
	BYTES("\0\0\0\0\3\0\0\0\0\0\0\0\x10\x27\0\0\0\0\0\0" /* 32 bits, 10 ms */
	      "\2\0\0\0\3\0\0\0\x10\0\1\0\x20\0\1\0\x30\0\1\0"
	      "\1\0\0\0\3\0\0\0\x10\0\1\0\x11\0\1\0\x30\0\1\0"
	      "\0\0\0\0\1\0\0\0\0\0\0\0"
	      "build=/srv/shop\n00010000-00020000 r-xp 00000000 03:01 12 $build/shop\n"),
	BYTES("\0\0\0\0\0\0\0\3\0\0\0\1\0\0\x27\x10\0\0\0\0" /* Java, big endian */
	      "\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\0\0\0\0\1\0\0\0\0"
	      "0x3 shop.Cart.add (Cart.java:12)\n 0x4 GC\n"),
	BYTES("heap profile: 3: 96 [5: 160] @ heap_v2/524288\n1: 32 [2: 64] @ 0x10010 0x10020\n2: 64 [3: 96] @ 0x10030\n"
	      "MAPPED_LIBRARIES:\n10000-20000: /srv/shop (@400) abc123\n20000-30000 r--p 00000000 00:00 0\n"),
	BYTES("heap profile: 1: 96 [1: 96] @ growthz\n1: 96 [1: 96] @ 0x10 0x20\n"),
	BYTES("goroutine profile: total 3\n2 @ 0x11 0x20\n# labels: {\"a\":\"b\"}\n#\t0x10\tmain+0x1\tm.go:7\n\n1 @ 0x30\n"),
	BYTES("--- threadz 1 ---\n\n--- Thread 7f00 (name: main/1) stack: ---\n  PC: 0x10 f\n 0x20: main\n"
	      "--- Thread 7f01 (name: a/2) stack: ---\n  [same as previous thread]\n--- Memory map: ---\n 10-40: x\n"),
	BYTES("--- contentionz 1 ---\ncycles/second = 2000000000\nsampling period = 100\nms since reset = 5\n"
	      " 4000 2 @ 0x10 0x20\n--- Memory map: ---\nI01 x.cc:1] 10-40: x\n"),
	BYTES("--- heapz 1 ---\nformat = java\nresolution = bytes\n 64 2 @ 0x1 0x2\n 0x1 f (a.java:1)\n 0x2 g (/lib/x.so)\n"),
	BYTES("heap_v2/524288\n  t*: 3: 96 [0: 0]\n  t0: 3: 96 [0: 0]\n@ 0x10010 0x10020\n  t*: 3: 96 [0: 0]\n"
	      "  t0: 3: 96 [0: 0]\n\nMAPPED_LIBRARIES:\n10000-20000 r-xp 00000000 03:01 12 /srv/shop\n"),
	BYTES("--- symbol\nbinary=/srv/shop\n0x000010 f--g\n0x20 main\n---\n--- heap\n"
	      "heap profile: 1: 9 [1: 9] @ heapprofile\n1: 9 [1: 9] @ 0x10 0x20\n"),
};

static bool give(const char *const *texts, size_t texts_n, unsigned i, struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;
	if (i >= texts_n)
		return false;
	FUZZ_CHECK(pp_buf_append(out, texts[i], strlen(texts[i]), &err) == 0);
	return true;
}

bool seed_records(unsigned i, struct pp_buf *out)
{
	return give(records, PP_COUNT(records), i, out);
}

bool seed_samples(unsigned i, struct pp_buf *out)
{
	return give(samples, PP_COUNT(samples), i, out);
}

bool seed_folded(unsigned i, struct pp_buf *out)
{
	return give(folded, PP_COUNT(folded), i, out);
}

bool seed_legacy(unsigned i, struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;
	if (i >= PP_COUNT(legacy))
		return false;
	FUZZ_CHECK(pp_buf_append(out, legacy[i].ptr, legacy[i].len, &err) == 0);
	return true;
}

bool seed_protobuf(unsigned i, struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink sink = pp_buf_sink(out);
	if (i >= PP_COUNT(records))
		return false;
	struct pp_profile *profile = fuzz_read(pp_records_read, pp_str_of(records[i]), PP_STRICT);
	FUZZ_CHECK(profile);
	FUZZ_CHECK(pp_write(profile, &sink, &err) == 0);
	pp_profile_free(profile);
	return true;
}

void seed_gzip(struct pp_str bytes, struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink packed = pp_buf_sink(out);
	struct pp_gz_writer *gz = pp_gz_writer_new(&packed, 6, &err);
	FUZZ_CHECK(gz);
	struct pp_sink sink = pp_gz_writer_sink(gz);
	FUZZ_CHECK(pp_sink_bytes(&sink, bytes.ptr, bytes.len, &err) == 0 && pp_gz_writer_finish(gz, &err) == 0);
	pp_gz_writer_free(gz);
}

struct pp_read_options fuzz_options(enum pp_strictness strictness)
{
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	options.limits = (struct pp_limits){
		.packed_bytes = 1 << 20, .raw_bytes = 1 << 22, .ratio = 1100, .model_bytes = 1 << 24,
		.record_bytes = 1 << 16, .samples = 10000, .depth = 1000,
	};
	options.strictness = strictness;
	return options;
}

struct pp_profile *fuzz_read(fuzz_reader *read, struct pp_str bytes, enum pp_strictness strictness)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_read_options options = fuzz_options(strictness);
	struct pp_memory_source memory;
	pp_memory_source_init(&memory, bytes.ptr, bytes.len);
	struct pp_profile *profile = read(&memory.source, &options, &err);
	if (profile)
		FUZZ_CHECK(err.code == PP_OK);
	else
		FUZZ_CHECK((err.code == PP_EFORMAT || err.code == PP_EUNSUPPORTED || err.code == PP_ELIMIT ||
		            err.code == PP_EOVERFLOW) && err.text[0] != '\0');
	return profile;
}

/* false: a sum did not fit, or a limit was met. */
static bool write_all(const struct pp_profile *profile, fuzz_writer *write, struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink sink = pp_buf_sink(out);
	if (write(profile, &sink, &err) == 0)
		return true;
	FUZZ_CHECK(err.code == PP_EOVERFLOW || err.code == PP_ELIMIT);
	return false;
}

void fuzz_round_trip(const struct pp_profile *profile, fuzz_writer *write, fuzz_reader *read)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT; /* text is larger than what it was made of */
	struct pp_memory_source memory;
	struct pp_buf once = PP_BUF_INIT, twice = PP_BUF_INIT;

	if (write_all(profile, write, &once)) {
		options.strictness = PP_LENIENT; /* a lenient profile may have lines without a function */
		pp_memory_source_init(&memory, once.bytes ? once.bytes : "", once.n);
		struct pp_profile *again = read(&memory.source, &options, &err);
		if (!again)
			fprintf(stderr, "%s\n", err.text);
		FUZZ_CHECK(again);
		FUZZ_CHECK(again->samples_n <= profile->samples_n);
		FUZZ_CHECK(write_all(again, write, &twice));
		FUZZ_CHECK(once.n == twice.n && (once.n == 0 || memcmp(once.bytes, twice.bytes, once.n) == 0));
		pp_profile_free(again);
	}
	pp_buf_release(&once);
	pp_buf_release(&twice);
}

int fuzz_write_samples(const struct pp_profile *profile, struct pp_sink *sink, struct pp_error *err)
{
	const struct pp_samples_options options = {0};
	return pp_samples_write(profile, &options, sink, err);
}

int fuzz_write_lines(const struct pp_profile *profile, struct pp_sink *sink, struct pp_error *err)
{
	const struct pp_samples_options options = {.lines = true};
	return pp_samples_write(profile, &options, sink, err);
}

int fuzz_write_folded(const struct pp_profile *profile, struct pp_sink *sink, struct pp_error *err)
{
	return profile->sample_types_n ? pp_folded_write(profile, 0, sink, err) : 0;
}

struct pp_profile *fuzz_read_folded(struct pp_source *source, const struct pp_read_options *options,
                                    struct pp_error *err)
{
	return pp_folded_read(source, options, "samples", "count", err);
}
