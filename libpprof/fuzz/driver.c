/* Runs a fuzz target: first its own inputs and the files given, then inputs that are made of those by
 * mutation. The same seed gives the same inputs.
 *   fuzz_NAME [-runs=N] [-seed=N] [-seconds=N] [-keep=FILE] [-write=FOLDER] [FILE…]
 * -keep writes every input to FILE before it runs, so that the one that failed is left there; -write
 * writes the target's own inputs into a folder, for libFuzzer, and ends. */
#include "libpprof/fuzz/fuzz.h"

#include <string.h>
#include <time.h>

#define INPUT_MAX 65536

struct corpus {
	struct pp_buf *inputs;
	size_t n;
};

struct settings {
	unsigned long runs, seconds;
	uint64_t random; /* state */
	const char *keep, *write;
};

#ifndef PP_LIBFUZZER

static void *must(void *pointer)
{
	if (!pointer) {
		fprintf(stderr, "no memory\n");
		exit(4);
	}
	return pointer;
}

static void append(struct pp_buf *buf, const void *bytes, size_t n)
{
	struct pp_error err = PP_ERROR_INIT;
	if (pp_buf_append(buf, bytes, n, &err) < 0)
		must(NULL);
}

static void write_file(const char *path, const struct pp_buf *input)
{
	FILE *file = fopen(path, "wb");
	if (!file || fwrite(input->bytes ? input->bytes : "", 1, input->n, file) != input->n || fclose(file) != 0) {
		fprintf(stderr, "cannot write '%s'\n", path);
		exit(4);
	}
}

/* ---- inputs ---- */

static struct pp_buf *add(struct corpus *corpus)
{
	corpus->inputs = must(realloc(corpus->inputs, (corpus->n + 1) * sizeof(*corpus->inputs)));
	corpus->inputs[corpus->n] = (struct pp_buf)PP_BUF_INIT;
	return &corpus->inputs[corpus->n++];
}

static void add_seeds(struct corpus *corpus)
{
	unsigned i = 0;
	struct pp_buf *input = add(corpus); /* the empty input */
	do
		input = add(corpus);
	while (fuzz_seed(i++, input));
}

static void add_file(struct corpus *corpus, const char *path)
{
	FILE *file = fopen(path, "rb");
	char part[4096];
	size_t n;
	if (!file) {
		fprintf(stderr, "cannot open '%s'\n", path);
		exit(4);
	}
	struct pp_buf *input = add(corpus);
	while ((n = fread(part, 1, sizeof(part), file)) > 0)
		append(input, part, n);
	fclose(file);
}

/* ---- mutation ---- */

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t next_random(struct settings *s)
{
	uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static size_t below(struct settings *s, size_t n)
{
	return n ? (size_t)(next_random(s) % n) : 0;
}

/* Replaces cut bytes at `at` by n others. */
static void splice(struct pp_buf *input, size_t at, size_t cut, const void *bytes, size_t n)
{
	struct pp_buf made = PP_BUF_INIT;
	append(&made, input->bytes, at);
	append(&made, bytes, n);
	append(&made, input->bytes + at + cut, input->n - at - cut);
	pp_buf_release(input);
	*input = made;
	if (input->n > INPUT_MAX)
		input->n = INPUT_MAX;
}

/* Bytes and words that mean something to one of the formats. */
static void splice_token(struct settings *s, struct pp_buf *input, size_t at)
{
	static const char *const tokens[] = {
		"\t", "\n", "\r\n", ";", ",", ":", " ", "\\", "\\x3b", "\\x", "(", ")", " (a:1)", "-", "0", "1", "-1", "#",
		"9223372036854775807", "-9223372036854775808", "18446744073709551615", "0xffffffffffffffff",
		"\x0a", "\x12", "\x22", "\x2a", "\x32", "\x0a\x02\x01\x02", "\x80", "\xff\xff\xff\xff\x0f",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x1f\x8b", "\xc3\xa4", "stack", "label:", "numlabel:",
	};
	const char *token = tokens[below(s, PP_COUNT(tokens))];
	splice(input, at, 0, token, strlen(token));
}

static void mutate_once(struct settings *s, const struct corpus *corpus, struct pp_buf *input)
{
	const struct pp_buf *other = &corpus->inputs[below(s, corpus->n)];
	size_t at = below(s, input->n + 1), rest = input->n - at, n = below(s, rest < 64 ? rest + 1 : 64);
	size_t from = below(s, other->n + 1), other_n = below(s, other->n - from + 1);
	unsigned char byte = (unsigned char)next_random(s);
	const char *piece = other->n > 0 ? other->bytes + from : "";

	switch (below(s, 8)) {
	case 0: splice(input, at, 0, &byte, 1); break;
	case 1: splice(input, at, rest > 0, &byte, rest > 0); break;
	case 2: splice(input, at, n, "", 0); break;
	case 3: splice_token(s, input, at); break;
	case 4: splice(input, at, n, piece, other_n < 256 ? other_n : 256); break;
	case 5: splice(input, at, rest, piece, other_n); break;
	case 6:
		if (rest > 0)
			input->bytes[at] = (char)(input->bytes[at] ^ 1 << below(s, 8));
		break;
	default:
		if (rest > 0)
			input->bytes[at] = (char)(input->bytes[at] + (byte & 1 ? 1 : -1));
	}
}

static void mutate(struct settings *s, const struct corpus *corpus, struct pp_buf *input)
{
	const struct pp_buf *base = &corpus->inputs[below(s, corpus->n)];
	append(input, base->bytes, base->n);
	for (size_t i = 1 + below(s, 6); i > 0; i--)
		mutate_once(s, corpus, input);
}

/* ---- running ---- */

static void run(const struct settings *s, const struct pp_buf *input)
{
	/* A copy of the very size, so that a read past its end is one that memory checkers see. */
	unsigned char *copy = must(malloc(input->n ? input->n : 1));
	if (s->keep)
		write_file(s->keep, input);
	if (input->n)
		memcpy(copy, input->bytes, input->n);
	LLVMFuzzerTestOneInput(copy, input->n);
	free(copy);
}

static bool number_option(const char *argument, const char *name, unsigned long *value)
{
	size_t n = strlen(name);
	if (strncmp(argument, name, n) != 0)
		return false;
	*value = strtoul(argument + n, NULL, 10);
	return true;
}

static void parse(int argc, char **argv, struct settings *s, struct corpus *corpus)
{
	unsigned long seed;
	for (int i = 1; i < argc; i++)
		if (number_option(argv[i], "-seed=", &seed))
			s->random = seed;
		else if (strncmp(argv[i], "-keep=", 6) == 0)
			s->keep = argv[i] + 6;
		else if (strncmp(argv[i], "-write=", 7) == 0)
			s->write = argv[i] + 7;
		else if (!number_option(argv[i], "-runs=", &s->runs) && !number_option(argv[i], "-seconds=", &s->seconds))
			add_file(corpus, argv[i]);
}

static void write_corpus(const struct corpus *corpus, const char *folder)
{
	for (size_t i = 0; i < corpus->n; i++) {
		char path[4096];
		snprintf(path, sizeof(path), "%s/seed-%zu", folder, i);
		write_file(path, &corpus->inputs[i]);
	}
}

int main(int argc, char **argv)
{
	struct settings s = {.runs = 1000, .seconds = 3600, .random = 1};
	struct corpus corpus = {0};
	time_t begin = time(NULL);
	unsigned long runs = 0;

	add_seeds(&corpus);
	parse(argc, argv, &s, &corpus);
	if (s.write) {
		write_corpus(&corpus, s.write);
		s.runs = 0;
	}
	for (size_t i = 0; i < corpus.n; i++)
		run(&s, &corpus.inputs[i]);
	for (; runs < s.runs && (unsigned long)(time(NULL) - begin) < s.seconds; runs++) {
		struct pp_buf input = PP_BUF_INIT;
		mutate(&s, &corpus, &input);
		run(&s, &input);
		pp_buf_release(&input);
	}
	printf("%zu inputs and %lu mutations\n", corpus.n, runs);
	for (size_t i = 0; i < corpus.n; i++)
		pp_buf_release(&corpus.inputs[i]);
	free(corpus.inputs);
	return 0;
}

#endif
