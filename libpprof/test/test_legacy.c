#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/load.h"
#include "libpprof/sink.h"

static struct pp_profile *load(struct pp_str bytes, enum pp_strictness strictness, struct pp_error *err)
{
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	struct pp_memory_source memory;

	options.strictness = strictness;
	*err = (struct pp_error)PP_ERROR_INIT;
	pp_memory_source_init(&memory, bytes.ptr, bytes.len);
	return pp_load(&memory.source, &options, NULL, err);
}

/* ---- what is read, as text: the types, a line a sample, a line a mapping ---- */

static void print(struct pp_buf *buf, const char *format, ...) PP_PRINTF(2, 3);
static void print(struct pp_buf *buf, const char *format, ...)
{
	struct pp_error err = PP_ERROR_INIT;
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	assert_int_equal(pp_buf_append(buf, text, strlen(text), &err), 0);
}

static void print_location(struct pp_buf *buf, const struct pp_profile *p, const struct pp_location *l)
{
	if (l->lines_n == 0)
		print(buf, " %llx", (unsigned long long)l->address);
	for (uint32_t i = 0; i < l->lines_n; i++) {
		const struct pp_line *line = &p->lines[l->line_first + i];
		const struct pp_function *f = &p->functions[line->function];
		print(buf, "%s%s", i ? "<" : " ", pp_string(p, f->name).ptr);
		if (f->filename)
			print(buf, "(%s:%d)", pp_string(p, f->filename).ptr, (int)line->line);
	}
	if (l->mapping != PP_NONE)
		print(buf, "@%u", (unsigned)l->mapping);
}

static void print_profile(struct pp_buf *buf, const struct pp_profile *p)
{
	for (uint32_t i = 0; i < p->sample_types_n; i++)
		print(buf, "%s/%s ", pp_string(p, p->sample_types[i].type).ptr, pp_string(p, p->sample_types[i].unit).ptr);
	print(buf, "period %lld\n", (long long)p->period);
	for (uint32_t s = 0; s < p->samples_n; s++) {
		const struct pp_stack *stack = pp_sample_stack(p, s);
		const struct pp_label_list *labels = pp_sample_labels(p, s);
		for (uint32_t i = 0; i < p->sample_types_n; i++)
			print(buf, "%s%lld", i ? " " : "", (long long)pp_value(p, s, i));
		print(buf, ":");
		for (uint32_t i = 0; i < stack->n; i++)
			print_location(buf, p, &p->locations[stack->locations[i]]);
		for (uint32_t i = 0; i < labels->n; i++) {
			if (labels->labels[i].str)
				print(buf, " %s=%s", pp_string(p, labels->labels[i].key).ptr,
				      pp_string(p, labels->labels[i].str).ptr);
			else
				print(buf, " %s=%lld", pp_string(p, labels->labels[i].key).ptr,
				      (long long)labels->labels[i].num);
		}
		print(buf, "\n");
	}
	for (uint32_t i = 0; i < p->mappings_n; i++)
		print(buf, "%llx-%llx+%llx %s %s\n", (unsigned long long)p->mappings[i].start,
		      (unsigned long long)p->mappings[i].limit, (unsigned long long)p->mappings[i].offset,
		      pp_string(p, p->mappings[i].filename).ptr, pp_string(p, p->mappings[i].build_id).ptr);
}

static void assert_reads(struct pp_str bytes, enum pp_strictness strictness, const char *text)
{
	struct pp_error err;
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_profile *p = load(bytes, strictness, &err);

	if (!p)
		fail_msg("%s", err.text);
	print_profile(&buf, p);
	assert_string_equal(buf.bytes, text);
	pp_buf_release(&buf);
	pp_profile_free(p);
}
#define READS(bytes, text) assert_reads(PP_LIT(bytes), PP_STRICT, text)

static void assert_refuses(struct pp_str bytes, enum pp_strictness strictness, enum pp_code code, uint64_t offset,
                           const char *text)
{
	struct pp_error err;

	assert_null(load(bytes, strictness, &err));
	if (err.code != code || err.offset != offset || strcmp(err.text, text) != 0)
		fail_msg("%s at %lld: '%s'", pp_code_name(err.code), (long long)err.offset, err.text);
}
#define REFUSES(bytes, offset, text) assert_refuses(PP_LIT(bytes), PP_STRICT, PP_EFORMAT, offset, text)

#define FAKE "0-ffffffffffffffff+0  \n"

/* ---- CPU ---- */

#define CPU_HEAD "\0\0\0\0\3\0\0\0\0\0\0\0\x10\x27\0\0\0\0\0\0"
#define CPU_END "\0\0\0\0\1\0\0\0\0\0\0\0"

static void reads_cpu(void **state)
{
	(void)state;

	READS(CPU_HEAD "\2\0\0\0\2\0\0\0\x10\0\0\0\x20\0\0\0" "\1\0\0\0\1\0\0\0\x30\0\0\0" CPU_END,
	      "samples/count cpu/nanoseconds period 10000000\n2 20000000: 10@0 1f@0\n1 10000000: 30@0\n" FAKE);
	/* without an end; of 64 bits, big endian */
	READS("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0"
	      "\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\0",
	      "samples/count cpu/nanoseconds period 1000\n3 3000: 100000000@0\n" FAKE);
	/* Java */
	READS("\0\0\0\0\0\0\0\3\0\0\0\1\0\0\0\1\0\0\0\0" "\0\0\0\2\0\0\0\3\0\0\0\3\0\0\0\4\0\0\0\5"
	      "\0\0\0\0\0\0\0\1\0\0\0\0" "0x3 shop.add (Cart.java:12)\n\n 0x4  GC\nsome text\n 0x9 x\n",
	      "samples/count cpu/nanoseconds period 1000\n2 2000: shop.add(Cart.java:12) GC 0@0\n" FAKE);
}

/* A frame that nearly all stacks have behind their leaf, and leaves that are there twice. */
static void removes_frames_of_the_profiler(void **state)
{
	(void)state;

	READS(CPU_HEAD "\1\0\0\0\3\0\0\0\x10\0\0\0\x90\0\0\0\x20\0\0\0" "\1\0\0\0\3\0\0\0\x11\0\0\0\x90\0\0\0\x30\0\0\0"
	      CPU_END,
	      "samples/count cpu/nanoseconds period 10000000\n1 10000000: 10@0 1f@0\n1 10000000: 11@0 2f@0\n" FAKE);
	READS(CPU_HEAD "\1\0\0\0\3\0\0\0\x10\0\0\0\x10\0\0\0\x20\0\0\0" "\1\0\0\0\1\0\0\0\x11\0\0\0" CPU_END,
	      "samples/count cpu/nanoseconds period 10000000\n1 10000000: 10@0 1f@0\n1 10000000: 11@0\n" FAKE);
}

static void refuses_broken_cpu(void **state)
{
	static const struct pp_str broken = {CPU_HEAD "\1\0\0\0\1\0\0\0\x10\0\0\0" "\1\0\0\0\3\0\0\0\x10\0\0\0\x90", 41};
	(void)state;

	assert_refuses(broken, PP_STRICT, PP_EFORMAT, 32, "the input ends within a stack");
	assert_refuses(broken, PP_LENIENT, PP_EFORMAT, 32, "the input ends within a stack");
	assert_reads(broken, PP_SALVAGE, "samples/count cpu/nanoseconds period 10000000\n1 10000000: 10@0\n" FAKE);
	assert_refuses(PP_LIT(CPU_HEAD "\1\0\0\0\xff\xff\xff\xff\1\0\0\0"), PP_STRICT, PP_ELIMIT, 20,
	               "a stack of 4294967295 frames, more than 100000");
	assert_refuses(PP_LIT("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	                      "\0\0\0\0\0\0\0\x40\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"),
	               PP_STRICT, PP_EOVERFLOW, 40, "the CPU time of 4611686018427387904 samples does not fit 64 bits");
}

/* ---- memory ---- */

static void reads_heaps(void **state)
{
	(void)state;

	/* 512 KiB are sampled with probability 1 - 1/e: 1.58 times as many there are. */
	READS("heap profile:   2: 1048584 [  2: 1048584] @ heapz_v2/524288\n  1: 524288 [ 1: 524288] @ 0x11 0x21\n"
	      "# text\n\n 1: 8 [1: 8] @ 0x31\n",
	      "objects/count space/bytes period 524288\n1 829411: 10@0 20@0 bytes=524288\n65536 524292: 30@0 bytes=8\n" FAKE);
	/* Go's rate is twice as large; what was allocated comes first. */
	READS("heap profile: 1: 524288 [3: 1572864] @ heap/1048576\n1: 524288 [3: 1572864] @ 0x11\n0: 0 [1: 524288] @ 0x21\n",
	      "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes period 524288\n"
	      "4 2488234 1 829411: 10@0 bytes=524288\n1 829411 0 0: 20@0 bytes=524288\n" FAKE);
	READS("heap profile: 1: 10 [1: 10] @ heapprofile\n3: 10 [3: 10] @ 0x11\n",
	      "objects/count space/bytes period 1\n3 10: 10@0 bytes=3\n" FAKE);
	READS("heap profile: 1: 10 [9: 90] @ growthz/1\n3: 10 [9: 90] @\n", "objects/count space/bytes period 1\n3 10: bytes=3\n");
	READS("heap profile: 1: 10 [9: 90] @ fragmentationz\n3: 10 [9: 90] @ 0x11\n",
	      "objects/count space/bytes period 1\n3 10: 10@0 bytes=3\n" FAKE);
}

static void reads_jemalloc(void **state)
{
	(void)state;

	READS("heap_v2/524288\n  t*: 1: 524288 [0: 0]\n  t3: 1: 524288 [0: 0]\n@ 0x11 0x21\n  t*: 1: 524288 [0: 0]\n"
	      "  t3: 1: 524288 [0: 0]\n@ 0x31\n  t*: 1: 8 [0: 0]\n\nMAPPED_LIBRARIES:\n"
	      "00000010-00000100 r-xp 00000000 08:02 1 /srv/shop\n",
	      "objects/count space/bytes period 524288\n1 829411: 10@0 20@0 bytes=524288\n65536 524292: 30@0 bytes=8\n"
	      "10-100+0 /srv/shop \n");
	READS("heap_v2/1\n t*: 1: 8 [2: 16]\n@ 0x11\n t*: 1: 8 [2: 16]\n",
	      "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes period 1\n2 16 1 8: 10@0 bytes=8\n" FAKE);
	REFUSES("heap_v2/x\n", 0, "line 1: not 'heap_v2/RATE'");
	REFUSES("heap_v2/1\n", 0, "line 1: not the totals 't*: objects: bytes [objects: bytes]'");
	REFUSES("heap_v2/1\n t*: 1: 8 [2: 16]\n t*: 1: 8 [2: 16]\n", 28, "line 3: numbers without a stack");
}

static void refuses_broken_heaps(void **state)
{
	static const struct pp_str row = {"heap profile: 1: 8 [1: 8] @ heap_v2/9\nx\n0: 8 [1: 8] @ 0x1\n1: 8 [1: 8] @ 0x11\n", 77};
	(void)state;

	REFUSES("heap profile: 1: 8 [1: 8]\n", 0, "line 1: not 'heap profile: objects: bytes [objects: bytes] @ kind/rate'");
	REFUSES("heap profile: 1: 8 [1: 8] @ heapprofile\n1: 8 [1: 8] @ 0x12345678901234567\n", 40,
	        "line 2: an address of more than 64 bits");
	assert_refuses(row, PP_STRICT, PP_EFORMAT, 38, "line 2: not 'objects: bytes [objects: bytes] @ addresses'");
	assert_reads(row, PP_LENIENT, "objects/count space/bytes period 9\n1 13: 10@0 bytes=8\n" FAKE);
	assert_refuses(PP_LIT("heap profile: 1: 8 [1: 8] @ heapx/9\n"), PP_STRICT, PP_EUNSUPPORTED, 0,
	               "line 1: a heap profile of kind 'heapx' is not read");
	assert_refuses(PP_LIT("heap profile: 1: 8 [1: 8] @ heap_v2/9223372036854775807\n1: 8 [1: 8] @ 0x1\n"), PP_STRICT,
	               PP_EOVERFLOW, 56, "line 2: the memory that this stands for does not fit 64 bits");
}

/* ---- counts, threads, contention, Java ---- */

static void reads_counts(void **state)
{
	(void)state;

	READS("# text\ngoroutine profile: total 3\n2 @ 0x11 0x21\n#\t0x11\tmain.f+0x1\n\n1 @ 0x31\n",
	      "goroutine/count period 1\n2: 10@0 20@0\n1: 30@0\n" FAKE);
	REFUSES("goroutine profile: total 3\n2 @\n", 27, "line 2: not 'N @ addresses'");
	REFUSES("goroutine profile: total 3\n2 @ 0x11 x\n", 27, "line 2: not an address of 64 bits");
}

static void reads_threads(void **state)
{
	(void)state;

	READS("--- threadz 1 ---\n\ntext\n--- Thread 7f00 (name: main/1) stack: ---\n  PC:  0x10: f\n  0x21: main\n"
	      "--- Thread 7f01 (name: a/2) stack: ---\n  [same as previous thread]\n"
	      "--- Thread 7f02 (name: b/3) stack: ---\n  PC: 0x30\n   creator: 0x41 0x51\n--- Memory map: ---\n",
	      "thread/count period 1\n2: 10@0 20@0\n1: 30@0 40@0 50@0\n" FAKE);
	READS("--- Thread 7f00 (name: main/1) stack: ---\n0x10\n---- no stack trace for thread 3\n",
	      "thread/count period 1\n1: 10@0\n" FAKE);
	REFUSES("--- Thread 7f00 (name: main/1) stack: ---\n0x10\n", 47,
	        "the input ends within the threads, without a memory map");
	REFUSES("--- threadz 1 ---\n--- other\n", 18, "line 2: not '--- Thread … (name: …) stack: ---'");
}

static void reads_contention(void **state)
{
	(void)state;

	READS("--- contentionz 1 ---\ncycles/second = 2000000000\nsampling period = 100\nms since reset = 5\n"
	      "discarded samples = 0\n  4001   27 @ 0x11 0x21\n--- Memory map: ---\n",
	      "contentions/count delay/nanoseconds period 100\n2700 200050: 10@0 20@0\n" FAKE);
	READS("--- mutex:\ncycles/second=1000000000\n7 1 @ 0x11\n",
	      "contentions/count delay/nanoseconds period 1\n1 7: 10@0\n" FAKE);
	REFUSES("--- mutex:\nx = 3\n7 1 @ 0x11\n", 11, "line 2: an attribute that is not known");
	REFUSES("--- mutex:\n7 @ 0x11\n", 11, "line 2: not 'delay count @ addresses'");
}

static void reads_java(void **state)
{
	(void)state;

	READS("--- heapz 1 ---\nformat = java\nresolution = bytes\n  524288 1 @ 0x1 0x2 0x3\n\n\n"
	      " 0x1 shop.f (Cart.java:12)\n 0x2 read (/lib/libc.so)\n 0x3 generated stub/JIT\n 0x4 unused\n",
	      "inuse_objects/count inuse_space/bytes period 0\n1 829411: shop.f(Cart.java:12) read(libc.so:0) STUB bytes=524288\n");
	READS("--- contentionz 1 ---\nformat = java\nresolution = microseconds\nsampling period = 100\n 3 2 @ 0x1\n",
	      "contentions/count delay/microseconds period 100\n200 300: 0@0\n" FAKE);
	REFUSES("--- heapz 1 ---\nformat = java\n 8 1 @ 0x1\n", 30, "line 3: a stack before the attribute 'resolution'");
	REFUSES("--- heapz 1 ---\nformat = cpp\n", 16, "line 2: a format that is not java");
}

/* ---- what Go tells in comments ---- */

static void reads_comments_of_go(void **state)
{
	(void)state;

	/* Functions of the runtime at the leaf are not named, nor the one at the root. */
	READS("goroutine profile: total 3\n2 @ 0x11 0x21 0x31 0x41\n# labels: {\"b\":\"2\", \"a\":\"x\\\"y\", \"c\":3}\n"
	      "#\t0x20\tmain.(*T[go.shape.struct { A int }]).f+0x1\t\t/src/a b.go:7\n#\t0x30\tmain.main+0x2\t/src/c.go:-1\n\n"
	      "1 @ 0x11 0x51\n#\t0x10\tmain.other+0x1\t/src/c.go:9\n#\t0x50\tx+0x1\n# labels: no\n#\t0x50\tx\tf.go:1\n"
	      "1 @ 0x61 0x11 0x21 0x71\n",
	      "goroutine/count period 1\n"
	      "2: main.other(/src/c.go:9)@0 main.(*T[go.shape.struct { A int }]).f(/src/a b.go:7)@0 main.main(/src/c.go:-1)@0"
	      " runtime.goexit@0 a=x\"y b=2\n1: main.other(/src/c.go:9)@0 runtime.goexit@0\n"
	      "1: runtime.?@0 main.other(/src/c.go:9)@0 main.(*T[go.shape.struct { A int }]).f(/src/a b.go:7)@0 runtime.goexit@0\n" FAKE);
	READS("--- mutex:\n7 1 @ 0x11\n#\t0x10\tf+0x1\tf.go:3\n",
	      "contentions/count delay/nanoseconds period 1\n1 7: f(f.go:3)@0\n" FAKE);
	READS("heap profile: 1: 8 [1: 8] @ heap/2\n1: 8 [1: 8] @ 0x11\n#\t0x10\tf+0x1\tf.go:3\n",
	      "objects/count space/bytes period 1\n1 8: f(f.go:3)@0 bytes=8\n" FAKE);
}

/* ---- memory maps ---- */

#define COUNT "x profile: total 1\n1 @ "

static void reads_memory_maps(void **state)
{
	(void)state;

	/* of /proc, with what is not code left out; parts of one file joined; the program first */
	READS(COUNT "0x1011 0x2011 0x9011\n--- Memory map: ---\n"
	      "1000-2000 r-xp 00000000 08:02 1 /lib/libc.so.6\n2000-3000 r-xp 00001000 08:02 1 /lib/libc.so.6\n"
	      "3000-4000 rw-p 00002000 08:02 1 /lib/libc.so.6\n9000-a000 r-xp 00000000 08:02 2 /srv/shop\n",
	      "x/count period 1\n1: 1010@1 2010@1 9010@0\n9000-a000+0 /srv/shop \n1000-3000+0 /lib/libc.so.6 \n");
	/* brief, behind a log's prefix, with names */
	READS(COUNT "0x1011 0x21\nMAPPED_LIBRARIES:\nI0101 12:00 x.cc:12] dir=/srv\n"
	      "I0101 12:00 x.cc:13] 0x1000-0x2000: $dir/shop (@ff00) abc123\nno entry\n",
	      "x/count period 1\n1: 1010@0 20@1\n1000-2000+ff00 /srv/shop abc123\n" FAKE);
	/* the part before the first that is mapped, and the program's usual place */
	READS(COUNT "0x7001011 0x401011\nMAPPED_LIBRARIES:\n401000-402000 r-xp 00001000 08:02 1 /srv/shop\n"
	      "7002000-7003000 r-xp 00001000 08:02 1 /lib/x.so\n",
	      "x/count period 1\n1: 7001010@1 401010@0\n400000-402000+0 /srv/shop \n7001000-7003000+0 /lib/x.so \n");
	/* of two that overlap, the first in the map */
	READS(COUNT "0x1011 0x2011 0x3011\nMAPPED_LIBRARIES:\n2000-3000 r-xp b\n1000-4000 r-xp a\n",
	      "x/count period 1\n1: 1010@1 2010@0 3010@1\n2000-3000+0 b \n1000-4000+0 a \n");
}

/* ---- symbols in front ---- */

static void reads_symbolized(void **state)
{
	(void)state;

	/* Symbols of the calls, inlined ones behind the caller. */
	READS("--- symbol\nbinary=/srv/shop\n0x0000000000000010 f--g\n0x20 main\n---\n--- heap\n"
	      "heap profile: 1: 9 [1: 9] @ heapprofile\n1: 9 [1: 9] @ 0x11 0x21 0x31\n",
	      "objects/count space/bytes period 1\n1 9: g<f@0 main@0 30@0 bytes=9\n0-ffffffffffffffff+0 /srv/shop \n");
	READS("--- symbol\n0x10 f\n---\n--- wall\n--- mutex:\n7 1 @ 0x11\n",
	      "contentions/count delay/nanoseconds period 1\n1 7: f@0\n" FAKE);
	/* Symbols of numbers. */
	READS("--- symbol\n0x1 f\n0x2 main\n---\nx profile: total 1\n1 @ 0x1 0x2\n", "x/count period 1\n1: f@0 main@0\n" FAKE);
	/* PHP's memprof: bytes, in the form of a CPU profile with the period 0 */
	READS("--- symbol\nbinary=todo.php\n0x0000000000000008 root\n0x0000000000000010 f\n---\n--- profile\n"
	      "\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	      "\7\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0",
	      "space/bytes period 1\n7: f@0 root@0\n0-ffffffffffffffff+0 todo.php \n");
	/* The shape of what google-pprof 2.10 --raw writes of a program with a symbol table, also of a heap. */
	READS("--- symbol\nbinary=prog\n0x000055550000139d main<000000000000137e>--f<00000007>::g<0000>\n"
	      "0x0000555500001460 std::array<int, 10000000>\n---\n--- profile\n"
	      "\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	      "\0\20\0\0\0\0\0\0\2\0\0\0\0\0\0\0\x60\x14\0\0\x55\x55\0\0\x9e\x13\0\0\x55\x55\0\0",
	      "value/ period 0\n4096: std::array<int, 10000000>@0 f<00000007>::g<0000><main@0\n"
	      "0-ffffffffffffffff+0 prog \n");
	/* In the shape of what Java libraries write of samples of threads: numbers for frames, each frame on its own. */
	READS("--- symbol\nbinary=Main\n0x0000000000000001 shop.Cart.add(Cart.java:3)\n"
	      "0x0000000000000002 shop.Main.main(Main.java:9)\n---\n--- profile\n"
	      "\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	      "\7\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
	      "\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
	      "samples/count period 0\n7: shop.Cart.add(Cart.java:3)@0 shop.Main.main(Main.java:9)@0\n"
	      "0-ffffffffffffffff+0 Main \n");
	/* ClickHouse writes "??" where it knows no name. */
	READS("--- symbol\n0x10 ??\n0x20 main--??\n---\n--- heap\nheap_v2/1\n t*: 1: 9 [0: 0]\n@ 0x10 0x21\n t*: 1: 9 [0: 0]\n",
	      "objects/count space/bytes period 1\n1 9: f@0 main@0 bytes=9\n" FAKE);
	REFUSES("--- symbol\n0x1 f\n", 17, "no profile behind the symbols");
	REFUSES("--- symbol\n0x1\n---\n", 11, "line 2: not '0xADDRESS NAMES'");
	REFUSES("--- symbol\n---\nmain 1\n", 15, "is not a legacy profile behind a head of symbols");
	REFUSES("--- symbol\n---\n--- symbol \n---\n", 15, "is not a legacy profile behind a head of symbols");
	assert_refuses(PP_LIT("--- symbol\n---\n{}\n"), PP_STRICT, PP_EUNSUPPORTED, 15, "behind the symbols: JSON: not read");
}

static void sets_drop_frames_by_type(void **state)
{
	struct pp_error err;
	struct pp_profile *heap = load(PP_LIT("heap profile: 1: 9 [1: 9] @ heapprofile\n"), PP_STRICT, &err);
	struct pp_profile *locks = load(PP_LIT("--- mutex:\n"), PP_STRICT, &err);
	(void)state;

	assert_non_null(heap);
	assert_non_null(locks);
	assert_non_null(strstr(pp_string(heap, heap->drop_frames).ptr, "|tc_malloc|"));
	assert_string_equal(pp_string(heap, heap->keep_frames).ptr, "runtime\\.panic|runtime\\.reflectcall|runtime\\.call[0-9]*");
	assert_non_null(strstr(pp_string(locks, locks->drop_frames).ptr, "((base::)?Mutex::)?Unlock.*"));
	pp_profile_free(heap);
	pp_profile_free(locks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_cpu),
		cmocka_unit_test(removes_frames_of_the_profiler),
		cmocka_unit_test(refuses_broken_cpu),
		cmocka_unit_test(reads_heaps),
		cmocka_unit_test(reads_jemalloc),
		cmocka_unit_test(refuses_broken_heaps),
		cmocka_unit_test(reads_counts),
		cmocka_unit_test(reads_threads),
		cmocka_unit_test(reads_contention),
		cmocka_unit_test(reads_java),
		cmocka_unit_test(reads_comments_of_go),
		cmocka_unit_test(reads_memory_maps),
		cmocka_unit_test(reads_symbolized),
		cmocka_unit_test(sets_drop_frames_by_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
