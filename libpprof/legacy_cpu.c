/* CPU profiles of gperftools and of Java agents. Words of 32 or 64 bits, in either byte order: the head 0, 3,
 * version (1: Java), period in microseconds, 0; then for each stack its count, its depth and its addresses,
 * leaf first; then 0, 1, 0. Behind that text: the memory map, or for Java the names of the addresses. */
#include <inttypes.h>

#include "libpprof/legacy.h"

#define HEAD_WORDS 5

struct words {
	struct pp_legacy *l;
	size_t size;
	bool big_endian;
	bool cut; /* the input ends within a word */
};

static int next(struct words *w, uint64_t *word)
{
	return pp_legacy_word(w->l, w->size, w->big_endian, word, &w->cut);
}

/* Finds the size and order of words in which the head is one, as the reference does: 32 bits first. */
static int find_shape(struct words *w, uint64_t head[HEAD_WORDS])
{
	const unsigned char *bytes;
	int64_t n = pp_legacy_peek(w->l, &bytes);
	if (n < 0)
		return -1;
	for (unsigned shape = 0; shape < 4; shape++) {
		w->size = shape < 2 ? 4 : 8;
		w->big_endian = shape % 2;
		if ((size_t)n >= HEAD_WORDS * w->size && pp_cpu_head(bytes, w->size, w->big_endian, head) &&
		    (head[3] > 0 || w->l->symbols))
			return 0;
	}
	return pp_fail(w->l->err, PP_EFORMAT, pp_legacy_offset(w->l), "the head of the CPU profile is broken");
}

/* Behind symbols, PHP's memprof writes bytes of memory in this form, with the period 0. With the period 1, Java
 * libraries write samples of threads, and gperftools' own "pprof --raw" the values of profiles of every kind, so
 * that nothing tells what they are. */
static int name_values(struct pp_legacy *l, uint64_t period_us)
{
	static const char *const cpu[][2] = {{"samples", "count"}, {"cpu", "nanoseconds"}};
	static const char *const memory[][2] = {{"space", "bytes"}};
	static const char *const unknown[][2] = {{"value", ""}};
	int64_t period_ns;
	if (period_us == 0) {
		pp_legacy_types(l, memory, 1);
		pp_legacy_period(l, "space", "bytes", 1);
		return 0;
	}
	if (period_us == 1 && l->symbols) {
		pp_legacy_types(l, pp_legacy_has_made_up_addresses(l->symbols) ? cpu : unknown, 1);
		return 0;
	}
	if (period_us > INT64_MAX || __builtin_mul_overflow((int64_t)period_us, INT64_C(1000), &period_ns))
		return pp_fail(l->err, PP_EOVERFLOW, 0, "a period of %" PRIu64 " microseconds does not fit 64 bits",
		               period_us);
	pp_legacy_types(l, cpu, 2);
	pp_legacy_period(l, "cpu", "nanoseconds", period_ns);
	return 0;
}

static int add_sample(struct pp_legacy *l, uint64_t count, uint64_t offset)
{
	int64_t values[2];
	if (count > INT64_MAX)
		return pp_fail(l->err, PP_EFORMAT, offset, "a count of %" PRIu64 " does not fit 63 bits", count);
	values[0] = (int64_t)count;
	if (l->values_n > 1 && __builtin_mul_overflow(values[0], pp_build_profile(l->build)->period, &values[1]))
		return pp_fail(l->err, PP_EOVERFLOW, offset, "the CPU time of %" PRIu64 " samples does not fit 64 bits", count);
	return pp_legacy_sample(l, values, NULL);
}

/* The input ends within a record. */
static int cut(struct pp_legacy *l, uint64_t offset)
{
	pp_legacy_forget(l);
	if (l->options->strictness != PP_SALVAGE)
		return pp_fail(l->err, PP_EFORMAT, offset, "the input ends within a stack");
	return pp_build_note(l->build, offset, "the input ends within a stack; that one is left out");
}

/* One stack: 1; 0 at the end, be it marked or that of the input; -1. */
static int read_stack(struct words *w, bool is_java)
{
	struct pp_legacy *l = w->l;
	uint64_t offset = pp_legacy_offset(l), count, depth, address = 0;
	int more = next(w, &count);
	if (more == 0 && !w->cut)
		return 0;
	if (more > 0 && (more = next(w, &depth)) > 0) {
		if (depth > l->options->limits.depth)
			return pp_fail(l->err, PP_ELIMIT, offset, "a stack of %" PRIu64 " frames, more than %u", depth,
			               (unsigned)l->options->limits.depth);
		for (uint64_t i = 0; i < depth && (more = next(w, &address)) > 0; i++) {
			if (count == 0 && depth == 1 && address == 0)
				return 0;
			if (pp_legacy_frame(l, address, i > 0 && !is_java) < 0)
				return -1;
		}
	}
	if (more <= 0)
		return more < 0 ? -1 : cut(l, offset);
	return add_sample(l, count, offset) < 0 ? -1 : 1;
}

int pp_legacy_cpu(struct pp_legacy *l)
{
	struct words w = {.l = l};
	uint64_t head[HEAD_WORDS], word;
	int more;

	if (find_shape(&w, head) < 0 || name_values(l, head[3]) < 0)
		return -1;
	for (int i = 0; i < HEAD_WORDS; i++)
		if (next(&w, &word) < 0)
			return -1;
	while ((more = read_stack(&w, head[2] == 1)) > 0)
		;
	if (more < 0)
		return -1;
	if (head[2] == 1)
		return pp_legacy_java_symbols(l);
	l->may_hold_handler = l->may_repeat_leaf = !(l->symbols && head[3] <= 1); /* those are clean, or of no CPU */
	return pp_legacy_map(l);
}
