/* What becomes of the header in a merge: sample types and their units, period, times, comments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libpprof/test/merging.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_finest_unit_wins),
		cmocka_unit_test(types_must_be_the_same),
		cmocka_unit_test(columns_may_come_in_another_order),
		cmocka_unit_test(header_fields_follow_rules_that_know_no_order),
		cmocka_unit_test(period_types_must_be_the_same),
		cmocka_unit_test(dates_in_the_place_of_durations_do_not_stop_a_sum),
		cmocka_unit_test(unknown_fields_are_noted),
	};

	return cmocka_run_group_tests_name("merge header", tests, NULL, NULL);
}
