#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/compare.h"

/* Profiles as a test writes them down: "main;f@x.go:12 100" lines, root first: names, and where given the
 * file ("a.go" otherwise) and the first line (0 otherwise); then a count of samples of 10 ns. */

static uint32_t text(struct pp_build *build, const char *s, size_t n)
{
	return pp_build_string(build, (struct pp_str){s, n});
}

static uint32_t add_location(struct pp_build *build, const char *frame, size_t n)
{
	const char *file = memchr(frame, '@', n), *end = frame + n, *line = file ? memchr(file, ':', (size_t)(end - file)) : NULL;
	struct pp_function function = {.name = text(build, frame, file ? (size_t)(file - frame) : n),
	                               .filename = file ? text(build, file + 1, (size_t)((line ? line : end) - file - 1))
	                                                : text(build, "a.go", 4),
	                               .start_line = line ? atoi(line + 1) : 0};
	struct pp_line at = {pp_build_function(build, &function), 1, 0};
	struct pp_location location = {.address = 1, .mapping = PP_NONE};
	return pp_build_location(build, &location, &at, 1);
}

static struct pp_profile *make(const char *folded)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = pp_build_new(&limits, &err);
	pp_build_sample_type(build, (struct pp_value_type){text(build, "samples", 7), text(build, "count", 5)});
	pp_build_sample_type(build, (struct pp_value_type){text(build, "cpu", 3), text(build, "nanoseconds", 11)});
	for (const char *at = folded; *at;) {
		size_t length = strcspn(at, "\n"), stack = length;
		while (at[stack - 1] != ' ')
			stack--;
		uint32_t locations[16], n = 0;
		for (size_t i = 0, part; i < stack - 1; i += part + 1) {
			part = strcspn(at + i, ";\n");
			part = i + part < stack - 1 ? part : stack - 1 - i;
			memmove(locations + 1, locations, n * sizeof(*locations));
			locations[0] = add_location(build, at + i, part);
			n++;
		}
		int64_t count = atoi(at + stack), values[] = {count, count * 10};
		pp_build_sample(build, pp_build_stack(build, locations, n), 0, values);
		at += length + (at[length] == '\n');
	}
	pp_build_profile(build)->period = 10;
	pp_build_profile(build)->period_type = (struct pp_value_type){text(build, "cpu", 3), text(build, "nanoseconds", 11)};
	struct pp_profile *profile = pp_build_finish(build, &err);
	if (!profile)
		fail_msg("%s", err.text);
	pp_build_free(build);
	return profile;
}

/* Adds the profiles in the order that first tells: the result must not depend on it. */
static struct pd_comparison *compare_in_order(const struct pd_options *options, const char *const folded[2], int first)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pd_compare *compare = pd_compare_new(options, &err);
	for (int i = 0; i < 2; i++) {
		int side = i ^ first;
		struct pp_profile *profile = make(folded[side]);
		struct pp_origin origin = {.format = "pprof"};
		if (pd_compare_add(compare, (enum pd_side)side, "file", profile, &origin, NAN, &err) != 0)
			fail_msg("%s", err.text);
		pp_profile_free(profile);
	}
	struct pd_comparison *c = pd_compare_finish(compare, &err);
	if (!c)
		fail_msg("%s", err.text);
	pd_compare_free(compare);
	return c;
}

static struct pp_str label(const struct pd_comparison *c, uint32_t frame)
{
	return frame == PP_NONE ? PP_LIT("-") : pp_frames_label(c->frames, frame);
}

/* What a comparison says of rows, as text: "name state other 1 2|" with cumulative counts of samples. */
static void rows_text(const struct pd_comparison *c, char *out, size_t n)
{
	size_t at = 0;
	int64_t flat[2] = {0, 0};
	for (size_t i = 0; i < c->rows_n; i++) {
		const struct pd_row *row = &c->rows[i];
		struct pp_str name = label(c, row->frame), other = label(c, row->other);
		at += (size_t)snprintf(out + at, n - at, "%.*s %s %.*s %lld %lld|", (int)name.len, name.ptr, pd_state_name(row->state),
		                       (int)other.len, other.ptr, (long long)row->raw_cum[0] / 10, (long long)row->raw_cum[1] / 10);
		for (int side = 0; side < 2; side++)
			flat[side] += row->flat[side];
	}
	assert_int_equal(flat[0], c->raw_total[0]);
	assert_int_equal(flat[1], c->raw_total[1]);
	for (int side = 0; side < 2; side++) {
		double sum = 0;
		for (int i = 0; i < PD_MATCHED_N; i++)
			sum += c->identity.cost[side][i];
		assert_true(sum == (double)c->raw_total[side]);
	}
}

/* Whether a row is there with its sides exchanged: values, and names if there are two. */
static bool has_exchanged(const struct pd_comparison *exchanged, const struct pd_comparison *c, const struct pd_row *row)
{
	for (size_t i = 0; i < exchanged->rows_n; i++) {
		const struct pd_row *back = &exchanged->rows[i];
		uint32_t name = row->state == PD_RENAMED && row->frame != row->other ? row->other : row->frame;
		if (back->raw_cum[0] == row->raw_cum[1] && back->raw_cum[1] == row->raw_cum[0] && back->raw_flat[0] == row->raw_flat[1] &&
		    back->raw_flat[1] == row->raw_flat[0] &&
		    (pp_str_eq(label(exchanged, back->frame), label(c, name)) || pp_str_eq(label(exchanged, back->frame), label(c, row->frame))))
			return true;
	}
	return false;
}

static struct pd_comparison *compare_with(const struct pd_options *options, const char *baseline, const char *incident)
{
	char texts[3][2000] = {"", "", ""};
	const char *const sides[2] = {baseline, incident}, *const back[2] = {incident, baseline};
	struct pd_comparison *c = compare_in_order(options, sides, 0), *other = compare_in_order(options, sides, 1),
	                     *exchanged = compare_in_order(options, back, 0);
	rows_text(c, texts[0], sizeof(texts[0]));
	rows_text(other, texts[1], sizeof(texts[1]));
	assert_string_equal(texts[0], texts[1]);
	assert_int_equal(c->identity.renames_n, exchanged->identity.renames_n);
	assert_int_equal(c->rows_n, exchanged->rows_n);
	for (size_t i = 0; i < c->rows_n; i++)
		assert_true(has_exchanged(exchanged, c, &c->rows[i]));
	pd_comparison_free(other);
	pd_comparison_free(exchanged);
	return c;
}

static struct pd_comparison *compare(const char *baseline, const char *incident)
{
	struct pd_options options = PD_OPTIONS_DEFAULT;
	return compare_with(&options, baseline, incident);
}

static const struct pd_row *row_of(const struct pd_comparison *c, const char *name)
{
	for (size_t i = 0; i < c->rows_n; i++)
		if (pp_str_eq(label(c, c->rows[i].frame), pp_str_of(name)))
			return &c->rows[i];
	fail_msg("no row '%s'", name);
	return NULL;
}

#define assert_row(c, name, what, old, before, after)                                 \
	do {                                                                              \
		const struct pd_row *row_ = row_of(c, name);                                  \
		assert_string_equal(pd_state_name(row_->state), what);                        \
		assert_true(pp_str_eq(label(c, row_->other), pp_str_of(old)));                \
		assert_int_equal(row_->raw_cum[0], (before) * 10);                            \
		assert_int_equal(row_->raw_cum[1], (after) * 10);                             \
	} while (0)

static void assert_rules(const struct pd_rename *rename, const char *list)
{
	unsigned rules;
	struct pp_str unknown;
	assert_int_equal(pd_rules_parse(list, &rules, &unknown), 0);
	assert_int_equal(rename->rules, rules);
}

static void a_closure_with_another_number(void **state)
{
	(void)state;
	struct pd_comparison *c = compare("main.main;main.Run.func1;work 40\nmain.main 60", "main.main;main.Run.func2;work 50\nmain.main 50");
	assert_row(c, "main.Run.func2", "renamed", "main.Run.func1", 40, 50);
	assert_int_equal(c->rows_n, 3);
	assert_int_equal(c->identity.renames_n, 1);
	assert_rules(&c->identity.renames[0], "go-closure");
	assert_int_equal(c->identity.applied[PD_RULE_GO_CLOSURE], 1);
	assert_int_equal(c->identity.renames[0].cum[0], 400);
	pd_comparison_free(c);
}

/* Of two samples one was not seen by chance; and two that do different things are two. */
static void closures_that_are_not_one(void **state)
{
	(void)state;
	struct pd_comparison *c = compare("main.main;main.Run.func1;work 2\nmain.main 60", "main.main;main.Run.func2;idle 1\nmain.main 50");
	assert_row(c, "main.Run.func2", "new", "-", 0, 1);
	pd_comparison_free(c);
	c = compare("main.main;main.Run.func1;work 80\nmain.main 60", "main.main;main.Run.func2;idle 80\nmain.main 50");
	assert_row(c, "main.Run.func1", "gone", "-", 80, 0);
	assert_row(c, "main.Run.func2", "new", "-", 0, 80);
	pd_comparison_free(c);
}

static void closures_with_exchanged_numbers(void **state)
{
	(void)state;
	const char *before = "m;main.Run.func1@a.go:2;work 80\nm;main.Run.func2@a.go:5;idle 20";
	struct pd_comparison *c = compare(before, "m;main.Run.func2@a.go:2;work 80\nm;main.Run.func1@a.go:5;idle 20");
	assert_row(c, "main.Run.func2", "renamed", "main.Run.func1", 80, 80);
	assert_row(c, "main.Run.func1", "renamed", "main.Run.func2", 20, 20);
	pd_comparison_free(c);
	/* the same numbers, with less work for one and more for the other, are a change */
	c = compare(before, "m;main.Run.func1@a.go:2;work 20\nm;main.Run.func2@a.go:5;idle 80");
	assert_row(c, "main.Run.func1", "common", "-", 80, 20);
	assert_int_equal(c->identity.renames_n, 0);
	pd_comparison_free(c);
	/* lines that are exchanged while the work stays under its name */
	c = compare(before, "m;main.Run.func1@a.go:5;work 80\nm;main.Run.func2@a.go:2;idle 20");
	assert_row(c, "main.Run.func1", "common", "-", 80, 80);
	pd_comparison_free(c);
}

static void several_closures_by_their_lines(void **state)
{
	(void)state;
	struct pd_comparison *c = compare("m;main.f.func1@a.go:2 20\nm;main.f.func1.1@a.go:4 30\nm;main.f.func1.2@a.go:6 40",
	                                  "m;main.f.func1@a.go:12 20\nm;main.f.func1.func3@a.go:14 30\nm;main.f.func1.func2@a.go:16 40");
	assert_row(c, "main.f.func1", "common", "-", 20, 20);
	assert_row(c, "main.f.func1.func3", "renamed", "main.f.func1.1", 30, 30);
	assert_row(c, "main.f.func1.func2", "renamed", "main.f.func1.2", 40, 40);
	pd_comparison_free(c);
}

/* Instances fold, and what is in two of them at once counts once. */
static void instances_of_a_generic_function(void **state)
{
	(void)state;
	struct pd_comparison *c = compare("main.main;main.Map[go.shape.int];main.Map[go.shape.string] 100\nmain.main;main.Map[go.shape.int] 50",
	                                  "main.main;main.Map[...];main.Map[...] 90\nmain.main;main.Map[...] 60");
	assert_row(c, "main.Map[...]", "renamed", "main.Map[go.shape.int]", 150, 150);
	assert_int_equal(c->rows_n, 2);
	assert_int_equal(c->identity.renames[0].names_n, 3);
	assert_true(c->identity.cost[0][PD_BY_RULE] == 1500);
	assert_true(row_of(c, "main.Map[...]")->cum_count[0] == 150);
	pd_comparison_free(c);
	/* another instance is no other name of those that are there */
	c = compare("main.main;main.Map[go.shape.int] 50", "main.main;main.Map[go.shape.int] 50\nmain.main;main.Map[go.shape.string] 30");
	assert_row(c, "main.Map[go.shape.string]", "new", "-", 0, 30);
	pd_comparison_free(c);
}

/* A new major version of a module; two of them in one program stay two. */
static void versions_of_a_module(void **state)
{
	(void)state;
	struct pd_comparison *c = compare("main.main;x.io/chi/v4.Serve 2\nmain.main 50", "main.main;x.io/chi/v5.Serve 3\nmain.main 50");
	assert_row(c, "x.io/chi/v5.Serve", "renamed", "x.io/chi/v4.Serve", 2, 3);
	assert_rules(&c->identity.renames[0], "go-module");
	pd_comparison_free(c);
	c = compare("main.main;x.io/chi/v4.Serve;a 60\nmain.main;x.io/chi/v3.Serve;b 50", "main.main;x.io/chi/v5.Serve;a 70\nmain.main 50");
	assert_row(c, "x.io/chi/v5.Serve", "renamed", "x.io/chi/v4.Serve", 60, 70);
	assert_row(c, "x.io/chi/v3.Serve", "gone", "-", 50, 0);
	pd_comparison_free(c);
}

static void clones_go_to_their_function(void **state)
{
	(void)state;
	struct pd_comparison *c = compare("main@a.c;parse@a.c 50\nmain@a.c;parse.part.0@a.c 20", "main@a.c;parse@a.c 70");
	assert_row(c, "parse", "renamed", "parse.part.0", 70, 70);
	assert_int_equal(c->rows_n, 2);
	pd_comparison_free(c);
}

static void other_folders(void **state)
{
	(void)state;
	struct pd_comparison *c = compare("main@/ci/1/main.c;run@/ci/1/a/run.c 10\nmain@/ci/1/main.c;run@/ci/1/b/run.c 20",
	                                  "main@/ci/2/main.c;run@/ci/2/b/run.c 21\nmain@/ci/2/main.c;run@/ci/2/a/run.c 11");
	assert_int_equal(c->rows_n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(c->rows[i].state, PD_RENAMED);
		assert_int_equal(c->rows[i].raw_cum[1] - c->rows[i].raw_cum[0], i == 2 ? 20 : 10); /* main, which does nothing itself, last */
	}
	assert_int_equal(c->identity.applied[PD_RULE_FILE], 3);
	pd_comparison_free(c);
}

static const char *const before_rename = "main.main;main.total;runtime.mallocgc 40\nmain.main;main.total;strings.Join 60\nmain.main;main.rest 100";
static const char *const after_rename = "main.main;main.sumUp;runtime.mallocgc 44\nmain.main;main.sumUp;strings.Join 56\nmain.main;main.rest 100";

static void functions_alike_by_what_they_call(void **state)
{
	(void)state;
	struct pd_options options = PD_OPTIONS_DEFAULT;
	struct pd_comparison *c = compare(before_rename, after_rename);
	assert_row(c, "main.total", "renamed?", "main.sumUp", 100, 0);
	assert_row(c, "main.sumUp", "renamed?", "main.total", 0, 100);
	const struct pd_rename *rename = &c->identity.renames[0];
	assert_int_equal(c->identity.renames_n, 1);
	assert_false(rename->joined);
	assert_int_equal(rename->rules, 0);
	assert_int_equal(rename->callees_shared, 2);
	assert_int_equal(rename->callees_n, 2);
	assert_true(rename->callers == 1);
	/* 40 and 60 of 100 against 44 and 56: 0.96 by 1.04 */
	assert_true(fabs(rename->callees - 0.96 / 1.04) < 1e-5);
	assert_int_equal(rename->cum[0], 1000);
	assert_int_equal(rename->cum[1], 1000);
	pd_comparison_free(c);

	options.fold_matches = true;
	c = compare_with(&options, before_rename, after_rename);
	assert_row(c, "main.sumUp", "renamed", "main.total", 100, 100);
	pd_comparison_free(c);

	options.match = false;
	c = compare_with(&options, before_rename, after_rename);
	assert_row(c, "main.sumUp", "new", "-", 0, 100);
	pd_comparison_free(c);
}

/* A whole call path is found from what stays, one step after the other. */
static void renamed_callers_of_renamed_functions(void **state)
{
	(void)state;
	struct pd_comparison *c = compare("main.main;main.load;main.total;strings.Join 100\nmain.main;main.load;os.Open 70\nmain.main 50",
	                                  "main.main;main.fetch;main.sumUp;strings.Join 100\nmain.main;main.fetch;os.Open 70\nmain.main 50");
	assert_row(c, "main.sumUp", "renamed?", "main.total", 0, 100);
	assert_row(c, "main.fetch", "renamed?", "main.load", 0, 170);
	pd_comparison_free(c);
}

static void too_little_to_be_alike(void **state)
{
	(void)state;
	/* 20 samples; two that are equally alike; other work; other cost */
	static const char *const pairs[][2] = {
		{"main.main;main.total;strings.Join 20\nmain.main 100", "main.main;main.sumUp;strings.Join 20\nmain.main 100"},
		{"main.main;main.total;strings.Join 60\nmain.main 100",
         "main.main;main.sum;strings.Join 60\nmain.main;main.add;strings.Join 60\nmain.main 100"},
		{"main.main;main.total;strings.Join 60\nmain.main 100", "main.main;main.sumUp;os.Open 60\nmain.main 100"},
		{"main.main;main.total;strings.Join 100\nmain.main 100", "main.main;main.sumUp;strings.Join 40\nmain.main 160"},
	};
	for (size_t i = 0; i < PP_COUNT(pairs); i++) {
		struct pd_comparison *c = compare(pairs[i][0], pairs[i][1]);
		assert_int_equal(c->identity.renames_n, 0);
		assert_string_equal(pd_state_name(row_of(c, "main.total")->state), "gone");
		pd_comparison_free(c);
	}
}

/* ---- packages that moved ---- */

/* text with every "P" of a package's name replaced. */
static const char *named(char out[4000], const char *text, const char *package)
{
	size_t n = 0;
	for (; *text; text++) {
		const char *piece = *text == 'P' ? package : (const char[]){*text, '\0'};
		n += (size_t)snprintf(out + n, 4000 - n, "%s", piece);
	}
	return out;
}

static size_t joined_by_package(const struct pd_comparison *c)
{
	return c->identity.applied[PD_RULE_PACKAGE];
}

static void moved_packages_change_nothing(void **state)
{
	static const struct {
		const char *folded, *before, *after;
		size_t joined;
	} cases[] = {
		/* Go: methods, closures, what is seen little, packages below it, and types of it elsewhere */
		{"main.main;P.Serve;P.(*T).Load;runtime.mallocgc 100\nmain.main;P.Serve;P.(*T).Save;os.Write 80\n"
		 "main.main;P.Serve.func1;main.Map[P.T];main.cmp 40\nmain.main;P.Serve.func2;P/sub.New 9\nmain.main 100",
		 "github.com/a/x", "gitlab.com/b/y/v2", 6},
		{"a.A.main@A.java;P.Cart.total@Cart.java;P.Cart.tax@Cart.java 100\na.A.main@A.java;P.Item$1.run@Item.java;a.A.b@A.java 90",
		 "com.old.cart", "org.young", 3},
		{"std::main@m;<P::Cart as std::Sum>::sum@m;P::Cart::total@m 100\nstd::main@m;P::item::price@m;std::Vec<P::Item>::push@m 90\n"
		 "std::main@m;P::item::tax@m 50",
		 "shop", "store", 5},
		{"main@main.js;total@P;tax@P 90\nmain@main.js;total@P;price@P 50\nmain@main.js 30", "src/cart.js", "src/basket.js", 3},
		{"main@main.py;total@P;tax@P 90\nmain@main.py;Cart.price@P;tax@P 50\nmain@main.py 30", "shop/cart.py", "store/basket.py", 2} /* and one by its file */,
	};
	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		char before[4000], after[4000];
		struct pd_comparison *c = compare(named(before, cases[i].folded, cases[i].before), named(after, cases[i].folded, cases[i].after));
		for (size_t k = 0; k < c->rows_n; k++) {
			const struct pd_row *row = &c->rows[k];
			if (row->raw_cum[0] != row->raw_cum[1] || (row->state != PD_COMMON && row->state != PD_RENAMED))
				fail_msg("case %zu: '%.*s' %s", i, (int)label(c, row->frame).len, label(c, row->frame).ptr, pd_state_name(row->state));
		}
		assert_int_equal(joined_by_package(c), cases[i].joined);
		pd_comparison_free(c);
	}
}

static const char *const in_a_package = "main.main;P.Serve;P.Load;runtime.mallocgc 100\nmain.main;P.Serve;P.Save;os.Write 80\nmain.main 100";

static void a_moved_package_that_changed(void **state)
{
	(void)state;
	char before[4000];
	/* one function costs more, one is new */
	struct pd_comparison *c = compare(named(before, in_a_package, "x.io/a"),
	                                  "main.main;x.io/b.Serve;x.io/b.Load;runtime.mallocgc 300\nmain.main;x.io/b.Serve;x.io/b.Save;os.Write 82\n"
	                                  "main.main;x.io/b.Serve;x.io/b.Check 50\nmain.main 100");
	assert_row(c, "x.io/b.Load", "renamed", "x.io/a.Load", 100, 300);
	assert_row(c, "x.io/b.Save", "renamed", "x.io/a.Save", 80, 82);
	assert_row(c, "x.io/b.Check", "new", "-", 0, 50);
	assert_rules(&c->identity.renames[0], "package");
	pd_comparison_free(c);
}

static void packages_that_did_not_move(void **state)
{
	static const struct {
		const char *what, *before, *after;
	} cases[] = {
		{"both are there before and after",
		 "main.main;x/a.Serve;x/a.Load 50\nmain.main;x/a.Serve;x/a.Save 40\nmain.main;x/a.stay 5\nmain.main;x/b.stay 5\nmain.main 9",
		 "main.main;x/b.Serve;x/b.Load 50\nmain.main;x/b.Serve;x/b.Save 40\nmain.main;x/a.stay 5\nmain.main;x/b.stay 5\nmain.main 9"},
		{"the old one is still there",
		 "main.main;x/a.Serve;x/a.Load 50\nmain.main;x/a.Serve;x/a.Save 40\nmain.main;x/a.stay 5\nmain.main 9",
		 "main.main;x/b.Serve;x/b.Load 50\nmain.main;x/b.Serve;x/b.Save 40\nmain.main;x/a.stay 5\nmain.main 9"},
		{"two names are too few",
		 "main.main;x/a.Serve;x/a.Load 50\nmain.main 9", "main.main;x/b.Serve;x/b.Load 50\nmain.main 9"},
		{"two may be it",
		 "main.main;x/a.Serve;x/a.Load 50\nmain.main;x/a.Serve;x/a.Save 40\nmain.main 9",
		 "main.main;x/b.Serve;x/b.Load 50\nmain.main;x/b.Serve;x/b.Save 40\nmain.main;x/c.Serve;x/c.Load 50\nmain.main;x/c.Serve;x/c.Save 40\nmain.main 9"},
		{"other callers and callees",
		 "main.main;main.run;x/a.Open;os.Open 50\nmain.main;main.run;x/a.Read;os.Read 40\nmain.main;main.run;x/a.Close;os.Close 45\nmain.main;main.walk;a 9\nmain.main;b 9",
		 "main.main;main.walk;x/b.Open;net.Dial 50\nmain.main;main.walk;x/b.Read;net.Recv 40\nmain.main;main.walk;x/b.Close;net.Shut 45\nmain.main;main.run;a 9\nmain.main;b 9"},
		{"most of the cost is under other names",
		 "main.main;x/a.Open 10\nmain.main;x/a.Read 10\nmain.main;x/a.Close 10\nmain.main;x/a.hash 60\nmain.main 9",
		 "main.main;x/b.Open 10\nmain.main;x/b.Read 10\nmain.main;x/b.Close 10\nmain.main;x/b.sum 60\nmain.main 9"},
		{"one comes with the language",
		 "main.main;encoding/json.Marshal;x 50\nmain.main;encoding/json.Unmarshal;y 40\nmain.main;encoding/json.Valid;z 45\nmain.main 9",
		 "main.main;github.com/a/go.Marshal;x 50\nmain.main;github.com/a/go.Unmarshal;y 40\nmain.main;github.com/a/go.Valid;z 45\nmain.main 9"},
		{"too few samples to know callers and callees",
		 "main.main;x/a.Serve;x/a.Load 5\nmain.main;x/a.Serve;x/a.Save 4\nmain.main 99",
		 "main.main;x/b.Serve;x/b.Load 5\nmain.main;x/b.Serve;x/b.Save 4\nmain.main 99"},
	};
	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct pd_comparison *c = compare(cases[i].before, cases[i].after);
		if (joined_by_package(c) != 0)
			fail_msg("%s: joined", cases[i].what);
		pd_comparison_free(c);
	}
}

static void several_packages_move(void **state)
{
	(void)state;
	struct pd_comparison *c = compare(
		"main.main;x/a/k.New;x/a/k.Get 50\nmain.main;x/a/l.New;x/a/l.Get 40\nmain.main;x/c.New 30\nmain.main;x/c.Get 30\nmain.main;x/c.Put 30\nmain.main 9",
		"main.main;x/b/k.New;x/b/k.Get 50\nmain.main;x/b/l.New;x/b/l.Get 40\nmain.main;y/d.New 30\nmain.main;y/d.Get 30\nmain.main;y/d.Put 30\nmain.main 9");
	assert_row(c, "x/b/k.New", "renamed", "x/a/k.New", 50, 50);
	assert_row(c, "x/b/l.Get", "renamed", "x/a/l.Get", 40, 40);
	assert_row(c, "y/d.Put", "renamed", "x/c.Put", 30, 30); /* that k and l have two of its names no longer matters */
	pd_comparison_free(c);
	/* without the rule */
	struct pd_options options = PD_OPTIONS_DEFAULT;
	char before[4000], after[4000];
	options.rules = PD_RULES_ALL & ~(1u << PD_RULE_PACKAGE);
	options.match = false;
	c = compare_with(&options, named(before, in_a_package, "x/a"), named(after, in_a_package, "x/b"));
	assert_row(c, "x/b.Serve", "new", "-", 0, 180);
	pd_comparison_free(c);
	/* and it alone */
	options.rules = 1u << PD_RULE_PACKAGE;
	c = compare_with(&options, named(before, in_a_package, "x/a"), named(after, in_a_package, "x/b"));
	assert_row(c, "x/b.Serve", "renamed", "x/a.Serve", 180, 180);
	pd_comparison_free(c);
}

static void no_rules(void **state)
{
	(void)state;
	struct pd_options options = PD_OPTIONS_DEFAULT;
	options.rules = 0;
	options.match = false;
	struct pd_comparison *c = compare_with(&options, "m;main.Run.func1;work 40", "m;main.Run.func2;work 40");
	assert_row(c, "main.Run.func2", "new", "-", 0, 40);
	pd_comparison_free(c);
	/* one rule left out */
	options.rules = PD_RULES_ALL & ~(1u << PD_RULE_GO_CLOSURE);
	c = compare_with(&options, "m;main.Run.func1;work 40", "m;main.Run.func2;work 40");
	assert_row(c, "main.Run.func2", "new", "-", 0, 40);
	pd_comparison_free(c);
}

static const struct pd_check *coverage(const struct pd_comparison *c)
{
	for (size_t i = 0; i < c->checks_n; i++)
		if (strcmp(c->checks[i].name, "coverage") == 0)
			return &c->checks[i];
	fail_msg("no check of coverage");
	return NULL;
}

static void coverage_gates_claims(void **state)
{
	(void)state;
	struct pd_comparison *c = compare("m;a 60\nm;b 40", "m;x 60\nm;b 40");
	assert_int_equal(coverage(c)->outcome, PD_REFUSE);
	pd_comparison_free(c);
	c = compare("m;a.f.func1 60\nm;b 40", "m;a.f.func2 60\nm;b 40");
	assert_int_equal(coverage(c)->outcome, PD_PASS);
	assert_non_null(strstr(coverage(c)->text, "by rules 60.0%"));
	pd_comparison_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_closure_with_another_number),
		cmocka_unit_test(closures_that_are_not_one),
		cmocka_unit_test(closures_with_exchanged_numbers),
		cmocka_unit_test(several_closures_by_their_lines),
		cmocka_unit_test(instances_of_a_generic_function),
		cmocka_unit_test(versions_of_a_module),
		cmocka_unit_test(clones_go_to_their_function),
		cmocka_unit_test(other_folders),
		cmocka_unit_test(functions_alike_by_what_they_call),
		cmocka_unit_test(renamed_callers_of_renamed_functions),
		cmocka_unit_test(too_little_to_be_alike),
		cmocka_unit_test(moved_packages_change_nothing),
		cmocka_unit_test(a_moved_package_that_changed),
		cmocka_unit_test(packages_that_did_not_move),
		cmocka_unit_test(several_packages_move),
		cmocka_unit_test(no_rules),
		cmocka_unit_test(coverage_gates_claims),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
