#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/holder.h"

static void functions_hold_closures(void **state)
{
	(void)state;
	static const struct {
		const char *name, *holder;
	} cases[] = {
		{"main.f", "main.f"},
		{"main.f.func1", "main.f"},
		{"main.run.func1.1", "main.run"},
		{"main.(*Shop).rank.func2", "main.(*Shop).rank"},
		{"main.(*Shop).Serve-fm", "main.(*Shop).Serve"},
		{"main.f.gowrap1", "main.f"},
		{"main.Map[go.shape.int]", "main.Map"},
		{"main.Map[go.shape.struct { a int }].func1", "main.Map"},
		{"gopkg.in/yaml.v3.Decode", "gopkg.in/yaml.v3.Decode"},
		{"shop::total::h0123456789abcdef", "shop::total"},
		{"shop::serve::{{closure}}::{{closure}}", "shop::serve"},
		{"parse.constprop.0", "parse"},
		{"parse.part.3.cold", "parse"},
		{"com.acme.Shop$$Lambda$123/0x00000008.apply", "com.acme.Shop$$Lambda.apply"},
		{"kafka/log/UnifiedLog.$anonfun$append$2", "kafka/log/UnifiedLog.append"},
		{"com.acme.Shop.lambda$total$0", "com.acme.Shop.total"},
		{"com.acme.Shop.callback$1", "com.acme.Shop.callback"},
		{"./src/cart.js:render:44", "render"},
		{":execute:131", "execute"},
		{"pkg.glob..func1", "pkg.init"},
		{"main.foo.foo.func1.func2", "main.foo.foo"},
		{"parse_[k]", "parse"},
		{"ns::f(int)", "ns::f(int)"},
		{"$1", "$1"},
		{"func1", "func1"},
		{"(anonymous)", "(anonymous)"},
		{"(anonymous:L#12:C#5)", "(anonymous:L#12:C#5)"},
		{"main.(*Shop).list.byRank.func1", "main.(*Shop).list.byRank"},
		{"", ""},
	};
	char out[200];

	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		size_t n = pd_holder(pp_str_of(cases[i].name), out);
		out[n] = '\0';
		assert_string_equal(out, cases[i].holder);
	}
}

static void some_closures_have_no_name(void **state)
{
	(void)state;
	assert_true(pd_frame_anonymous(PP_LIT("(anonymous)")));
	assert_true(pd_frame_anonymous(PP_LIT("<lambda>")));
	assert_true(pd_frame_anonymous(PP_LIT("(anonymous:L#12:C#5)")));
	assert_false(pd_frame_anonymous(PP_LIT("main.f")));
}

static void closures_of_inlined_functions(void **state)
{
	(void)state;
	static const struct {
		const char *name, *held, *outer;
	} cases[] = {
		{"main.(*Shop).list.byRank.func1", "main.byRank", "main.(*Shop).list"},
		{"a/b.New.(*Shop).retry.func2.1", "a/b.(*Shop).retry", "a/b.New"},
		{"main.run.work.func1", "main.run.work", "main.run"},
		{"main.(*Shop).list.func1", "main.(*Shop).list", ""},
		{"main.(*Shop).list", "main.(*Shop).list", ""},
		{"main.(", "main.(", ""},
		{"a::b::{{closure}}", "a::b", ""},
	};
	char held[200], outer[200];

	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		size_t n = pd_holder(pp_str_of(cases[i].name), held);
		outer[pd_closure_inlined(pp_str_of(cases[i].name), held, &n, outer)] = '\0';
		held[n] = '\0';
		assert_string_equal(held, cases[i].held);
		assert_string_equal(outer, cases[i].outer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_hold_closures),
		cmocka_unit_test(some_closures_have_no_name),
		cmocka_unit_test(closures_of_inlined_functions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
