/* Writes a big profile, always the same bytes for the same arguments, to standard output: about
 * 80 MB of profile.proto with half a million distinct stacks of some 40 frames, 30,000 functions,
 * two sample types and two labels. Only for measuring: the wire is written by hand, so that the
 * library that is measured has no part in it.
 *
 * usage: make-big [SEED [STACKS]]     SEED (1) changes values and leaves out other stacks, one in
 *                                     twenty; it changes no stack. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS 30000u
#define LOCATIONS 120000u /* call sites; functions take turns */
#define CALLEES 10u       /* of each location: the digits of a stack's number pick among them */
#define ENDPOINTS 40u
#define DEPTH_MIN 32u
#define DEPTH_SPAN 21u
#define PERIOD_NS 10000000u

/* string_table: the fixed strings, then endpoints, then a name and a file a function. */
enum { S_EMPTY, S_SAMPLES, S_COUNT, S_CPU, S_NANOSECONDS, S_ENDPOINT, S_THREAD, S_BINARY, S_ENDPOINT_0 };
#define S_FUNCTION_0 (S_ENDPOINT_0 + ENDPOINTS)

/* SplitMix64: one addition and a mixing function (Steele, Lea, Flood 2014). */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

struct message {
	size_t n;
	unsigned char bytes[1024]; /* the largest is a sample: 52 locations of 3 bytes and two labels */
};

static void put_varint(struct message *m, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		m->bytes[m->n++] = (unsigned char)(v | 0x80);
	m->bytes[m->n++] = (unsigned char)v;
}

static void put_field(struct message *m, unsigned field, uint64_t v)
{
	put_varint(m, field << 3);
	put_varint(m, v);
}

static void put_bytes(struct message *m, unsigned field, const void *bytes, size_t n)
{
	put_varint(m, field << 3 | 2);
	put_varint(m, n);
	for (size_t i = 0; i < n; i++)
		m->bytes[m->n++] = ((const unsigned char *)bytes)[i];
}

/* A field of the profile itself. */
static void emit(unsigned field, const void *bytes, size_t n)
{
	struct message head = {0};
	put_varint(&head, field << 3 | 2);
	put_varint(&head, n);
	fwrite(head.bytes, 1, head.n, stdout);
	fwrite(bytes, 1, n, stdout);
}

static void emit_value_type(unsigned field, uint64_t type, uint64_t unit)
{
	struct message m = {0};
	put_field(&m, 1, type);
	put_field(&m, 2, unit);
	emit(field, m.bytes, m.n);
}

static uint32_t callee(uint32_t location, uint32_t digit)
{
	return (location * CALLEES + digit + 1) % LOCATIONS;
}

/* Frames from the root in path[from..depth). The last six are picked by the digits of `number`, so no
 * two numbers below a million have the same stack; those before are a walk that prefers low digits. */
static void walk(uint32_t *path, uint32_t from, uint32_t depth, uint32_t number, uint64_t *random)
{
	for (uint32_t i = from; i < depth; i++) {
		uint32_t digit = 0;
		if (depth - i <= 6) {
			digit = number % CALLEES;
			number /= CALLEES;
		} else {
			for (uint64_t r = draw(random); digit < CALLEES - 1 && (r & 1); r >>= 1)
				digit++;
		}
		path[i] = i == 0 ? 0 : callee(path[i - 1], digit);
	}
}

static void emit_sample(const uint32_t *path, uint32_t depth, uint64_t count, uint64_t *random)
{
	struct message m = {0}, part = {0};
	for (uint32_t i = depth; i-- > 0;)
		put_varint(&part, path[i] + 1);
	put_bytes(&m, 1, part.bytes, part.n);
	part.n = 0;
	put_varint(&part, count);
	put_varint(&part, count * PERIOD_NS);
	put_bytes(&m, 2, part.bytes, part.n);
	part.n = 0;
	put_field(&part, 1, S_ENDPOINT);
	put_field(&part, 2, S_ENDPOINT_0 + draw(random) % ENDPOINTS);
	put_bytes(&m, 3, part.bytes, part.n);
	part.n = 0;
	put_field(&part, 1, S_THREAD);
	put_field(&part, 3, 1000 + draw(random) % 64);
	put_bytes(&m, 3, part.bytes, part.n);
	emit(2, m.bytes, m.n);
}

static void emit_samples(uint64_t seed, uint32_t stacks)
{
	uint64_t shape = 42, value = seed;
	uint32_t path[DEPTH_MIN + DEPTH_SPAN], depth = 0;
	for (uint32_t number = 0; number < stacks; number++) {
		/* As in a call tree, a stack shares its outer frames with the one before. */
		uint32_t kept = depth ? (uint32_t)(draw(&shape) % (depth - 6)) : 0;
		depth = DEPTH_MIN + (uint32_t)(draw(&shape) % DEPTH_SPAN);
		walk(path, kept < depth - 6 ? kept : depth - 6, depth, number, &shape);
		uint64_t labels = shape, r = draw(&value);
		if (r % 20 != 0)
			emit_sample(path, depth, 1 + (r >> 32) % 8 * ((r >> 40) % 5), &labels);
	}
}

static void emit_tables(void)
{
	struct message m = {0};
	put_field(&m, 1, 1);
	put_field(&m, 2, 0x400000);
	put_field(&m, 3, 0x4000000);
	put_field(&m, 5, S_BINARY);
	put_field(&m, 7, 1);
	put_field(&m, 8, 1);
	put_field(&m, 9, 1);
	emit(3, m.bytes, m.n);
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		struct message line = {0};
		put_field(&line, 1, i % FUNCTIONS + 1);
		put_field(&line, 2, 10 + i / FUNCTIONS * 7);
		m.n = 0;
		put_field(&m, 1, i + 1);
		put_field(&m, 2, 1);
		put_field(&m, 3, 0x400000 + i * 16);
		put_bytes(&m, 4, line.bytes, line.n);
		emit(4, m.bytes, m.n);
	}
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		m.n = 0;
		put_field(&m, 1, i + 1);
		put_field(&m, 2, S_FUNCTION_0 + 2 * i);
		put_field(&m, 3, S_FUNCTION_0 + 2 * i);
		put_field(&m, 4, S_FUNCTION_0 + 2 * i + 1);
		put_field(&m, 5, 5);
		emit(5, m.bytes, m.n);
	}
}

static void emit_strings(void)
{
	static const char *const fixed[] = {"", "samples", "count", "cpu", "nanoseconds", "endpoint", "thread", "/srv/big"};
	char text[128];
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		emit(6, text, (size_t)snprintf(text, sizeof(text), "%s", fixed[i]));
	for (uint32_t i = 0; i < ENDPOINTS; i++)
		emit(6, text, (size_t)snprintf(text, sizeof(text), "/endpoint/%" PRIu32, i));
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		emit(6, text, (size_t)snprintf(text, sizeof(text), "example.com/big/package%" PRIu32 ".(*Type%" PRIu32 ").Method%" PRIu32,
		                               i % 300, i % 3000, i));
		emit(6, text, (size_t)snprintf(text, sizeof(text), "example.com/big/package%" PRIu32 "/file%" PRIu32 ".go", i % 300, i % 3000));
	}
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint32_t stacks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 570000;
	if (seed == 0 || stacks == 0 || stacks > 1000000) {
		fputs("usage: make-big [SEED [STACKS]]   SEED from 1, STACKS from 1 to 1000000\n", stderr);
		return 2;
	}
	emit_value_type(1, S_SAMPLES, S_COUNT);
	emit_value_type(1, S_CPU, S_NANOSECONDS);
	emit_samples(seed, stacks);
	emit_tables();
	emit_strings();
	struct message m = {0};
	put_field(&m, 9, UINT64_C(1773151500000000000)); /* 2026-03-10T14:05:00Z */
	put_field(&m, 10, UINT64_C(60000000000));
	fwrite(m.bytes, 1, m.n, stdout);
	emit_value_type(11, S_CPU, S_NANOSECONDS);
	m.n = 0;
	put_field(&m, 12, PERIOD_NS);
	fwrite(m.bytes, 1, m.n, stdout);
	if (fflush(stdout) || ferror(stdout)) {
		perror("make-big: cannot write");
		return 4;
	}
	return 0;
}
