#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libpprof/build.h"
#include "libpprof/merge.h"
#include "libpprof/split.h"
#include "libpprof/write.h"

static const struct pp_limits limits = PP_LIMITS_DEFAULT;

/* ---- profiles to merge ---- */

static struct pp_build *new_build(void)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = pp_build_new(&limits, &err);

	assert_non_null(build);
	return build;
}

static uint32_t text(struct pp_build *build, const char *s)
{
	return pp_build_string(build, pp_str_of(s));
}

static void add_type(struct pp_build *build, const char *name, const char *unit)
{
	pp_build_sample_type(build, (struct pp_value_type){text(build, name), text(build, unit)});
}

/* A location of one line in a function of this name. */
static uint32_t add_frame(struct pp_build *build, const char *name, uint32_t mapping, uint64_t address)
{
	struct pp_function function = {.name = text(build, name), .filename = text(build, "f.c")};
	struct pp_line line = {pp_build_function(build, &function), 7, 0};
	struct pp_location location = {.mapping = mapping, .address = address};

	return pp_build_location(build, &location, &line, 1);
}

static uint32_t add_mapping(struct pp_build *build, const char *filename, uint64_t start)
{
	struct pp_mapping mapping = {.start = start, .limit = start + 5000, .filename = text(build, filename)};

	return pp_build_mapping(build, &mapping);
}

static void add_sample(struct pp_build *build, uint32_t leaf, uint32_t list, int64_t a, int64_t b)
{
	const int64_t values[2] = {a, b};

	pp_build_sample(build, pp_build_stack(build, &leaf, 1), list, values);
}

static uint32_t add_label(struct pp_build *build, const char *key, const char *value)
{
	struct pp_label label = {.key = text(build, key), .str = text(build, value)};

	return pp_build_label_list(build, &label, 1);
}

static struct pp_profile *finish(struct pp_build *build)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *p = pp_build_finish(build, &err);

	pp_build_free(build);
	if (!p)
		fail_msg("%s", err.text);
	return p;
}

/* One column, one frame "f", one sample. */
static struct pp_profile *simple(const char *type, const char *unit, int64_t value)
{
	struct pp_build *build = new_build();

	add_type(build, type, unit);
	add_sample(build, add_frame(build, "f", PP_NONE, 0), 0, value, 0);
	return finish(build);
}

/* ---- merging ---- */

static struct pp_profile *merged(size_t n, ...)
{
	struct pp_error err = PP_ERROR_INIT;
	const struct pp_profile *profiles[8];
	struct pp_profile *sum;
	va_list args;

	va_start(args, n);
	for (size_t i = 0; i < n; i++)
		profiles[i] = va_arg(args, struct pp_profile *);
	va_end(args);
	sum = pp_merge_all(profiles, n, &limits, &err);
	if (!sum)
		fail_msg("%s", err.text);
	return sum;
}

static void assert_refused(const struct pp_profile *a, const struct pp_profile *b, enum pp_code code, const char *part)
{
	struct pp_error err = PP_ERROR_INIT;
	const struct pp_profile *profiles[2] = {a, b};

	assert_null(pp_merge_all(profiles, 2, &limits, &err));
	assert_int_equal(err.code, code);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
}

static void assert_same_bytes(const struct pp_profile *a, const struct pp_profile *b)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf x = PP_BUF_INIT, y = PP_BUF_INIT;
	struct pp_sink sink_x = pp_buf_sink(&x), sink_y = pp_buf_sink(&y);

	assert_int_equal(pp_write(a, &sink_x, &err), 0);
	assert_int_equal(pp_write(b, &sink_y, &err), 0);
	assert_int_equal(x.n, y.n);
	assert_memory_equal(x.bytes, y.bytes, x.n);
	pp_buf_release(&x);
	pp_buf_release(&y);
}

static const char *string_of(const struct pp_profile *p, uint32_t index)
{
	return pp_string(p, index).ptr;
}

/* ---- tests ---- */

static void one_profile_is_compacted(void **state)
{
	struct pp_build *build = new_build();
	struct pp_profile *p, *sum, *again;
	uint32_t f, f_again, unused;

	(void)state;
	add_type(build, "n", "count");
	add_type(build, "t", "ns");
	add_mapping(build, "unused", 1 << 20);
	f = add_frame(build, "f", PP_NONE, 16);
	f_again = add_frame(build, "f", PP_NONE, 16);
	unused = add_frame(build, "unused", PP_NONE, 16);
	add_sample(build, f, 0, 1, 0);
	add_sample(build, unused, 0, 0, 0);
	add_sample(build, f_again, 0, 2, -3);
	add_sample(build, add_frame(build, "a", PP_NONE, 16), 0, 5, 0);
	add_sample(build, unused, 0, 9, 9);
	add_sample(build, unused, 0, -9, -9);
	p = finish(build);

	sum = merged(1, p);
	assert_int_equal(sum->samples_n, 2);
	assert_int_equal(sum->functions_n, 2);
	assert_int_equal(sum->locations_n, 2);
	assert_string_equal(string_of(sum, sum->functions[0].name), "a");
	assert_int_equal(pp_value(sum, 0, 0), 5);
	assert_int_equal(pp_value(sum, 1, 0), 3);
	assert_int_equal(pp_value(sum, 1, 1), -3);
	assert_int_equal(sum->locations[1].id, 2);
	assert_int_equal(sum->mappings_n, 1); /* mappings stay */

	again = merged(1, sum);
	assert_same_bytes(sum, again);
	pp_profile_free(p);
	pp_profile_free(sum);
	pp_profile_free(again);
}

static void a_profile_less_itself_is_empty(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *p = simple("t", "ns", 5), *sum;
	struct pp_merge *merge = pp_merge_new(&limits, &err);

	(void)state;
	assert_int_equal(pp_merge_add(merge, p, 1, NULL, &err), 0);
	assert_int_equal(pp_merge_add(merge, p, -1, NULL, &err), 0);
	sum = pp_merge_finish(merge, &err);
	assert_non_null(sum);
	assert_int_equal(sum->samples_n, 0);
	assert_int_equal(sum->functions_n, 0);
	assert_int_equal(sum->locations_n, 0);
	assert_int_equal(sum->sample_types_n, 1);
	pp_merge_free(merge);
	pp_profile_free(p);
	pp_profile_free(sum);
}

/* Lists that grow by one, so that room made for one is filled by the next. */
static void the_extra_label_joins_lists_of_any_length(void **state)
{
	const struct pp_merge_label extra = {"pprof::base", "true"};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = new_build();
	(void)state;
	add_type(build, "cpu", "nanoseconds");
	add_type(build, "samples", "count");
	const uint32_t leaf = add_frame(build, "f", PP_NONE, 1);
	add_sample(build, leaf, 0, 1, 1);
	add_sample(build, leaf, add_label(build, "pod", "a"), 2, 1);
	struct pp_profile *p = finish(build);
	struct pp_merge *merge = pp_merge_new(&limits, &err);
	assert_int_equal(pp_merge_add(merge, p, -1, &extra, &err), 0);
	struct pp_profile *sum = pp_merge_finish(merge, &err);
	assert_int_equal(sum->samples_n, 2);
	assert_int_equal(pp_sample_labels(sum, 0)->n + pp_sample_labels(sum, 1)->n, 3);
	pp_profile_free(sum);
	pp_merge_free(merge);
	pp_profile_free(p);
}

static void the_extra_label_replaces_texts_of_its_key(void **state)
{
	const struct pp_merge_label extra = {"pprof::base", "true"};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = new_build();
	struct pp_merge *merge = pp_merge_new(&limits, &err);
	struct pp_profile *p, *sum;
	struct pp_label labels[3] = {{.key = text(build, "pprof::base"), .str = text(build, "no")},
	                             {.key = text(build, "pprof::base"), .num = 4},
	                             {.key = text(build, "z"), .str = text(build, "v")}};
	const struct pp_label_list *list;

	(void)state;
	add_type(build, "t", "ns");
	add_sample(build, add_frame(build, "f", PP_NONE, 0), pp_build_label_list(build, labels, 3), 8, 0);
	p = finish(build);
	assert_int_equal(pp_merge_add(merge, p, -1, &extra, &err), 0);
	sum = pp_merge_finish(merge, &err);
	assert_int_equal(sum->samples_n, 1);
	assert_int_equal(pp_value(sum, 0, 0), -8);
	list = pp_sample_labels(sum, 0);
	assert_int_equal(list->n, 3);
	assert_string_equal(string_of(sum, list->labels[0].key), "pprof::base");
	assert_string_equal(string_of(sum, list->labels[0].str), "true");
	assert_string_equal(string_of(sum, list->labels[1].key), "z");
	assert_int_equal(list->labels[2].num, 4);
	pp_merge_free(merge);
	pp_profile_free(p);
	pp_profile_free(sum);
}

static void sums_that_do_not_fit_are_refused(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *big = simple("t", "ns", INT64_MAX), *small = simple("t", "ns", 1);
	struct pp_profile *least = simple("t", "ns", INT64_MIN), *hours = simple("t", "hours", INT64_MAX / 1000);
	struct pp_merge *merge = pp_merge_new(&limits, &err);

	(void)state;
	assert_refused(big, small, PP_EOVERFLOW, "the sum of t does not fit");
	assert_refused(small, hours, PP_EOVERFLOW, "unit");
	assert_refused(hours, small, PP_EOVERFLOW, "unit");
	assert_int_equal(pp_merge_add(merge, least, -1, NULL, &err), -1);
	assert_int_equal(err.code, PP_EOVERFLOW);
	pp_merge_free(merge);
	pp_profile_free(big);
	pp_profile_free(small);
	pp_profile_free(least);
	pp_profile_free(hours);
}

static void the_finest_unit_wins(void **state)
{
	struct pp_profile *ms = simple("t", "ms", 2), *ns = simple("t", "nanoseconds", 5), *s = simple("t", "s", 1);
	struct pp_profile *all = merged(3, ms, ns, s), *other = merged(3, s, ms, ns);

	(void)state;
	assert_int_equal(pp_value(all, 0, 0), 1002000005);
	assert_string_equal(string_of(all, all->sample_types[0].unit), "nanoseconds");
	assert_same_bytes(all, other);
	pp_profile_free(ms);
	pp_profile_free(ns);
	pp_profile_free(s);
	pp_profile_free(all);
	pp_profile_free(other);
}

static void types_must_be_the_same(void **state)
{
	struct pp_profile *cpu = simple("cpu", "ns", 1), *wall = simple("wall", "ns", 1);
	struct pp_profile *count = simple("cpu", "count", 1);

	(void)state;
	assert_refused(cpu, wall, PP_EINCOMPAT, "sample types differ: wall:ns; others have cpu:ns");
	assert_refused(cpu, count, PP_EINCOMPAT, "cpu:count");
	pp_profile_free(cpu);
	pp_profile_free(wall);
	pp_profile_free(count);
}

static struct pp_profile *two_columns(const char *first, const char *second, int64_t a, int64_t b)
{
	struct pp_build *build = new_build();

	add_type(build, first, "count");
	add_type(build, second, "count");
	add_sample(build, add_frame(build, "f", PP_NONE, 0), 0, a, b);
	return finish(build);
}

static void columns_may_come_in_another_order(void **state)
{
	struct pp_profile *xy = two_columns("x", "y", 1, 2), *yx = two_columns("y", "x", 20, 10);
	struct pp_profile *zz = two_columns("z", "z", 1, 2);
	struct pp_profile *a = merged(2, yx, xy), *b = merged(2, xy, yx);
	struct pp_profile *alone = merged(1, yx), *twice = merged(2, zz, zz);

	(void)state;
	assert_string_equal(string_of(a, a->sample_types[0].type), "x");
	assert_int_equal(pp_value(a, 0, 0), 11);
	assert_int_equal(pp_value(a, 0, 1), 22);
	assert_same_bytes(a, b);
	assert_string_equal(string_of(alone, alone->sample_types[0].type), "y");
	assert_int_equal(pp_value(alone, 0, 0), 20);
	assert_int_equal(pp_value(twice, 0, 0), 2);
	assert_int_equal(pp_value(twice, 0, 1), 4);
	pp_profile_free(xy);
	pp_profile_free(yx);
	pp_profile_free(zz);
	pp_profile_free(a);
	pp_profile_free(b);
	pp_profile_free(alone);
	pp_profile_free(twice);
}

/* One sample with the labels k=v, l=w, k=u and a number, in this order. */
static struct pp_profile *labelled(const char *order)
{
	struct pp_build *build = new_build();
	struct pp_label labels[4];
	uint32_t n = 0;

	add_type(build, "t", "ns");
	for (; *order; order++)
		switch (*order) {
		case 'v':
			labels[n++] = (struct pp_label){.key = text(build, "k"), .str = text(build, "v")};
			break;
		case 'w':
			labels[n++] = (struct pp_label){.key = text(build, "l"), .str = text(build, "w")};
			break;
		case 'u':
			labels[n++] = (struct pp_label){.key = text(build, "k"), .str = text(build, "u")};
			break;
		default:
			labels[n++] = (struct pp_label){.key = text(build, "k"), .num_unit = text(build, "b"),
			                                .num = 3};
		}
	add_sample(build, add_frame(build, "f", PP_NONE, 0), pp_build_label_list(build, labels, n), 1, 0);
	return finish(build);
}

static void the_order_of_keys_does_not_matter(void **state)
{
	struct pp_profile *a = labelled("vwu3"), *b = labelled("3vuw"), *c = labelled("uvw3"), *d = labelled("vwu");
	struct pp_profile *sum = merged(4, a, b, c, d);

	(void)state;
	/* a and b are one; c has the texts of k in another order; d has no number. */
	assert_int_equal(sum->samples_n, 3);
	pp_profile_free(a);
	pp_profile_free(b);
	pp_profile_free(c);
	pp_profile_free(d);
	pp_profile_free(sum);
}

/* A frame at offset 100 of a library that was loaded at this place; the main binary is main. */
static struct pp_profile *loaded_at(uint64_t start, const char *main)
{
	struct pp_build *build = new_build();
	uint32_t library;

	add_type(build, "t", "ns");
	add_mapping(build, main, 1 << 20);
	library = add_mapping(build, "lib.so", start);
	add_sample(build, add_frame(build, "f", library, start + 100), 0, 1, 0);
	return finish(build);
}

static void addresses_count_from_the_start_of_their_mapping(void **state)
{
	struct pp_profile *a = loaded_at(0x7000, "prog"), *b = loaded_at(0x5000, "prog");
	struct pp_profile *ab = merged(2, a, b), *ba = merged(2, b, a);

	(void)state;
	assert_int_equal(ab->samples_n, 1);
	assert_int_equal(pp_value(ab, 0, 0), 2);
	assert_int_equal(ab->mappings_n, 2);
	assert_string_equal(string_of(ab, ab->mappings[0].filename), "prog");
	assert_int_equal(ab->mappings[1].start, 0x5000);
	assert_int_equal(ab->locations[0].address, 0x5064);
	assert_same_bytes(ab, ba);
	pp_profile_free(a);
	pp_profile_free(b);
	pp_profile_free(ab);
	pp_profile_free(ba);
}

static void the_main_binary_is_of_what_is_added(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *old = loaded_at(0x7000, "a-prog"), *new = loaded_at(0x7000, "b-prog"), *sum;
	struct pp_merge *merge = pp_merge_new(&limits, &err);

	(void)state;
	assert_int_equal(pp_merge_add(merge, old, -1, NULL, &err), 0);
	assert_int_equal(pp_merge_add(merge, new, 1, NULL, &err), 0);
	sum = pp_merge_finish(merge, &err);
	assert_string_equal(string_of(sum, sum->mappings[0].filename), "b-prog");
	assert_string_equal(string_of(sum, sum->mappings[1].filename), "a-prog");
	pp_merge_free(merge);
	pp_profile_free(sum);

	sum = merged(2, new, old);
	assert_string_equal(string_of(sum, sum->mappings[0].filename), "a-prog");
	pp_profile_free(old);
	pp_profile_free(new);
	pp_profile_free(sum);
}

static struct pp_profile *inlined(int64_t column)
{
	struct pp_build *build = new_build();
	struct pp_function function = {.name = text(build, "f")};
	struct pp_line lines[2] = {{0, 7, 0}, {0, 8, 2}};
	struct pp_location location = {.mapping = PP_NONE};

	lines[0].column = column;
	add_type(build, "t", "ns");
	pp_build_function(build, &function);
	add_sample(build, pp_build_location(build, &location, lines, 2), 0, 1, 0);
	return finish(build);
}

static void columns_of_inlined_lines_tell_locations_apart(void **state)
{
	struct pp_profile *a = inlined(1), *b = inlined(2), *sum = merged(3, a, b, a);

	(void)state;
	assert_int_equal(sum->samples_n, 2);
	assert_int_equal(sum->locations_n, 2);
	assert_int_equal(pp_value(sum, 0, 0), 2);
	assert_int_equal(sum->lines[0].column, 1);
	pp_profile_free(a);
	pp_profile_free(b);
	pp_profile_free(sum);
}

struct header {
	int64_t time_ns, duration_ns, period;
	const char *period_type, *period_unit, *comment[2], *default_type, *doc_url, *drop, *keep;
};

static struct pp_profile *with_header(const struct header *h)
{
	struct pp_build *build = new_build();
	struct pp_profile *p = pp_build_profile(build);

	add_type(build, "t", "ns");
	p->time_ns = h->time_ns;
	p->duration_ns = h->duration_ns;
	p->period = h->period;
	p->period_type = (struct pp_value_type){text(build, h->period_type), text(build, h->period_unit)};
	for (int i = 0; i < 2; i++)
		if (h->comment[i])
			pp_build_comment(build, text(build, h->comment[i]));
	p->default_sample_type = text(build, h->default_type);
	p->doc_url = text(build, h->doc_url);
	p->drop_frames = text(build, h->drop);
	p->keep_frames = text(build, h->keep);
	return finish(build);
}

static void header_fields_follow_rules_that_know_no_order(void **state)
{
	struct pp_profile *a = with_header(&(struct header){.time_ns = 500, .duration_ns = 1, .period = 10,
		.period_type = "cpu", .period_unit = "ms", .comment = {"z", "b"}, .doc_url = "u2",
		.drop = "b", .keep = "a"});
	struct pp_profile *b = with_header(&(struct header){.duration_ns = 2, .period = 99999999, .default_type = "t"});
	struct pp_profile *c = with_header(&(struct header){.time_ns = 400, .duration_ns = 3, .period = 9000000,
		.period_type = "cpu", .period_unit = "ns", .comment = {"a", "b"}, .doc_url = "u1", .drop = "b"});
	struct pp_profile *sum = merged(3, a, b, c), *other = merged(3, c, b, a), *same = merged(3, a, b, a);

	(void)state;
	assert_int_equal(sum->time_ns, 400);
	assert_int_equal(sum->duration_ns, 6);
	assert_int_equal(sum->period, 10000000);
	assert_string_equal(string_of(sum, sum->period_type.unit), "ns");
	assert_int_equal(sum->comments_n, 3);
	assert_string_equal(string_of(sum, sum->comments[0]), "a");
	assert_string_equal(string_of(sum, sum->comments[2]), "z");
	assert_string_equal(string_of(sum, sum->default_sample_type), "t");
	assert_string_equal(string_of(sum, sum->doc_url), "u1");
	assert_string_equal(string_of(sum, sum->drop_frames), "b");
	assert_string_equal(string_of(sum, sum->keep_frames), "");
	assert_same_bytes(sum, other);
	assert_int_equal(same->comments_n, 2);
	assert_string_equal(string_of(same, same->comments[0]), "z");
	pp_profile_free(a);
	pp_profile_free(b);
	pp_profile_free(c);
	pp_profile_free(sum);
	pp_profile_free(other);
	pp_profile_free(same);
}

static void period_types_must_be_the_same(void **state)
{
	struct pp_profile *cpu = with_header(&(struct header){.period_type = "cpu", .period_unit = "ns"});
	struct pp_profile *space = with_header(&(struct header){.period_type = "space", .period_unit = "bytes"});

	(void)state;
	assert_refused(cpu, space, PP_EINCOMPAT, "period types differ: space:bytes; others have cpu:ns");
	pp_profile_free(cpu);
	pp_profile_free(space);
}

static void dates_in_the_place_of_durations_do_not_stop_a_sum(void **state)
{
	struct pp_profile *a = with_header(&(struct header){.duration_ns = INT64_MAX / 2 + 2});
	struct pp_profile *sum = merged(2, a, a);

	(void)state;
	assert_int_equal(sum->duration_ns, INT64_MAX);
	assert_int_equal(sum->notes_n, 1);
	assert_string_equal(sum->notes[0].text, "the durations do not add up within 64 bits");
	pp_profile_free(a);
	pp_profile_free(sum);
}

static void unknown_fields_are_noted(void **state)
{
	struct pp_build *build = new_build();
	struct pp_profile *p, *sum;

	(void)state;
	pp_build_unknown(build, PP_RECORD_PROFILE, 0, 0, PP_LIT("\x80\x01\x09"));
	p = finish(build);
	sum = merged(1, p);
	assert_int_equal(sum->unknowns_n, 0);
	assert_int_equal(sum->notes_n, 1);
	pp_profile_free(p);
	pp_profile_free(sum);
}

/* The next of a row of arbitrary numbers below n. */
static uint32_t next(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 16) % n;
}

/* A profile that depends on seed alone: a few frames in a few mappings, short stacks, labels, in an order
 * of its own. */
static struct pp_profile *arbitrary(uint32_t seed)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	struct pp_build *build = new_build();
	uint32_t state = seed * 2654435761u + 1, mappings[3], frames[5];

	add_type(build, "t", seed % 2 ? "us" : "ns");
	add_type(build, "n", "count");
	for (int i = 0; i < 3; i++)
		mappings[i] = add_mapping(build, names[next(&state, 3)], UINT64_C(4096) * (1 + next(&state, 9)));
	for (int i = 0; i < 5; i++) {
		uint32_t mapping = mappings[next(&state, 3)];
		uint64_t start = pp_build_profile(build)->mappings[mapping].start;

		frames[i] = add_frame(build, names[next(&state, 5)], mapping, start + next(&state, 2));
	}
	for (int i = 0; i < 30; i++) {
		uint32_t stack[3], n = next(&state, 4);
		uint32_t list = next(&state, 2) ? add_label(build, names[next(&state, 2)], names[next(&state, 2)]) : 0;
		int64_t values[2] = {next(&state, 3), (int64_t)next(&state, 5) - 2};

		for (uint32_t k = 0; k < n; k++)
			stack[k] = frames[next(&state, 5)];
		pp_build_sample(build, pp_build_stack(build, stack, n), list, values);
	}
	pp_build_comment(build, text(build, names[next(&state, 5)]));
	pp_build_profile(build)->time_ns = next(&state, 4);
	return finish(build);
}

static void no_byte_depends_on_order_or_grouping(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 100; seed++) {
		struct pp_profile *a = arbitrary(3 * seed), *b = arbitrary(3 * seed + 1), *c = arbitrary(3 * seed + 2);
		struct pp_profile *all = merged(3, a, b, c), *back = merged(3, c, a, b);
		struct pp_profile *ab = merged(2, a, b), *bc = merged(2, b, c), *ca = merged(2, c, a);
		struct pp_profile *ab_c = merged(2, ab, c), *a_bc = merged(2, a, bc), *b_ca = merged(2, b, ca);

		assert_same_bytes(all, back);
		assert_same_bytes(all, ab_c);
		assert_same_bytes(all, a_bc);
		assert_same_bytes(all, b_ca);
		pp_profile_free(a);
		pp_profile_free(b);
		pp_profile_free(c);
		pp_profile_free(all);
		pp_profile_free(back);
		pp_profile_free(ab);
		pp_profile_free(bc);
		pp_profile_free(ca);
		pp_profile_free(ab_c);
		pp_profile_free(a_bc);
		pp_profile_free(b_ca);
	}
}

static void totals_are_kept(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 20; seed++) {
		struct pp_profile *a = arbitrary(2 * seed), *sum = merged(1, a);
		int64_t totals[2] = {0, 0};

		for (uint32_t s = 0; s < a->samples_n; s++)
			for (uint32_t c = 0; c < 2; c++)
				totals[c] += pp_value(a, s, c);
		for (uint32_t s = 0; s < sum->samples_n; s++)
			for (uint32_t c = 0; c < 2; c++)
				totals[c] -= pp_value(sum, s, c);
		assert_int_equal(totals[0], 0);
		assert_int_equal(totals[1], 0);
		pp_profile_free(a);
		pp_profile_free(sum);
	}
}

static void the_budget_holds(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_limits small = PP_LIMITS_DEFAULT;
	struct pp_profile *p = arbitrary(1);
	const struct pp_profile *profiles[1] = {p};

	(void)state;
	small.model_bytes = 4096;
	assert_null(pp_merge_all(profiles, 1, &small, &err));
	assert_int_equal(err.code, PP_ELIMIT);
	pp_profile_free(p);
}

static void the_parts_of_a_split_add_up_to_the_whole(void **state)
{
	(void)state;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = new_build();
	struct pp_split split;

	add_type(build, "n", "count");
	add_type(build, "m", "count");
	const uint32_t f = add_frame(build, "f", PP_NONE, 0), g = add_frame(build, "g", PP_NONE, 0);
	add_sample(build, f, add_label(build, "k", "b"), 1, 2);
	add_sample(build, g, add_label(build, "k", "a"), 3, 4);
	add_sample(build, f, add_label(build, "other", "a"), 5, 6);
	add_sample(build, g, 0, 7, 8);
	add_sample(build, g, add_label(build, "k", "b"), 9, 10);
	struct pp_profile *p = finish(build), *parts[3], *whole = merged(1, p);

	assert_int_equal(pp_split_by_label(p, PP_LIT("k"), 3, &limits, &split, &err), 0);
	assert_int_equal(split.parts_n, 3);
	assert_true(split.parts[0].without && !split.parts[1].without);
	assert_true(pp_str_eq(split.parts[1].value, PP_LIT("a")) && pp_str_eq(split.parts[2].value, PP_LIT("b")));
	assert_int_equal(split.parts[0].samples_n, 2);
	assert_int_equal(split.parts[1].samples_n, 1);
	assert_int_equal(split.parts[2].samples_n, 2);
	for (uint32_t i = 0; i < 3; i++) {
		struct pp_merge *merge = pp_merge_new(&limits, &err);
		assert_int_equal(pp_split_add(merge, p, &split, i, &err), 0);
		parts[i] = pp_merge_finish(merge, &err);
		assert_int_equal(parts[i]->samples_n, split.parts[i].samples_n);
		pp_merge_free(merge);
	}
	assert_int_equal(parts[1]->functions_n, 1); /* what the part does not use is not in it */
	struct pp_profile *sum = merged(3, parts[2], parts[0], parts[1]);
	sum->duration_ns = whole->duration_ns;
	assert_same_bytes(sum, whole);
	pp_profile_free(sum);
	pp_profile_free(whole);
	for (size_t i = 0; i < 3; i++)
		pp_profile_free(parts[i]);
	pp_split_release(&split);
	assert_int_equal(pp_split_by_label(p, PP_LIT("k"), 2, &limits, &split, &err), -1);
	assert_int_equal(err.code, PP_ELIMIT);
	pp_split_release(&split);
	pp_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_of_a_split_add_up_to_the_whole),
		cmocka_unit_test(one_profile_is_compacted),
		cmocka_unit_test(a_profile_less_itself_is_empty),
		cmocka_unit_test(the_extra_label_joins_lists_of_any_length),
		cmocka_unit_test(the_extra_label_replaces_texts_of_its_key),
		cmocka_unit_test(sums_that_do_not_fit_are_refused),
		cmocka_unit_test(the_finest_unit_wins),
		cmocka_unit_test(types_must_be_the_same),
		cmocka_unit_test(columns_may_come_in_another_order),
		cmocka_unit_test(the_order_of_keys_does_not_matter),
		cmocka_unit_test(addresses_count_from_the_start_of_their_mapping),
		cmocka_unit_test(the_main_binary_is_of_what_is_added),
		cmocka_unit_test(columns_of_inlined_lines_tell_locations_apart),
		cmocka_unit_test(header_fields_follow_rules_that_know_no_order),
		cmocka_unit_test(period_types_must_be_the_same),
		cmocka_unit_test(dates_in_the_place_of_durations_do_not_stop_a_sum),
		cmocka_unit_test(unknown_fields_are_noted),
		cmocka_unit_test(no_byte_depends_on_order_or_grouping),
		cmocka_unit_test(totals_are_kept),
		cmocka_unit_test(the_budget_holds),
	};

	return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
