#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/package.h"

static void packages_by_language(void **state)
{
	static const struct {
		const char *name, *file, *package;
	} cases[] = {
		{"github.com/a/x.(*T).f", "x.go", "github.com/a/x"},
		{"github.com/a/x.f.func1", "x.go", "github.com/a/x"},
		{"github.com/a/x.Map[github.com/b/y.T]", "x.go", "github.com/a/x"},
		{"gopkg.in/yaml%2ev3.f", "", "gopkg.in/yaml%2ev3"},
		{"main.(*T).f", "main.go", "main"},
		{"main.Cart.Total", "main.go", "main"},
		{"runtime.mallocgc", "", "runtime"},
		{"com.shop.cart.Cart.total", "Cart.java", "com.shop.cart"},
		{"com.shop.Cart$Item.total", "", "com.shop"},
		{"com/shop/Cart.total", "", "com/shop"},
		{"Shop.Web.Cart.Total", "", "Shop.Web"},
		{"Cart.total", "Cart.java", ""},
		{"shop::cart::total", "", "shop::cart"},
		{"shop::cart::total::{closure}", "", "shop::cart"},
		{"<shop::Cart as core::fmt::Display>::fmt", "", "<shop::Cart as core::fmt::Display>"},
		{"shop::Vec<a::T, b::U>::push", "a.cc", "shop::Vec<a::T, b::U>"},
		{"shop::f(a::T const&)::{lambda(int)#1}::operator()", "a.cc", "shop"},
		{"shop::T::operator<", "a.cc", "shop::T"},
		{"(anonymous namespace)::f", "a.cc", "(anonymous namespace)"},
		{"App\\Cart\\Cart::total", "Cart.php", "App\\Cart\\Cart"},
		{"./src/cart.js:total", "", "./src/cart.js"},
		{"node:internal/timers.js:listOnTimeout", "", "node:internal/timers.js"},
		{"total", "src/cart.js", ""},
		{"Cart.total", "shop/cart.py", ""},
		{"parse", "src/parse.c", ""},
		{"a.b.c", "src/parse.c", ""},
		{"", "", ""},
		{".", "", ""},
		{"::", "", ""},
		{"/", "", ""},
		{"a::", "", "a"},
		{"<<<(((", "", ""},
	};
	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		size_t n = pd_package_end(pp_str_of(cases[i].name), pp_str_of(cases[i].file));
		if (n != strlen(cases[i].package) || strncmp(cases[i].name, cases[i].package, n) != 0)
			fail_msg("'%s': %zu bytes, not '%s'", cases[i].name, n, cases[i].package);
	}
}

static void roots(void **state)
{
	static const struct {
		const char *a, *b, *root_a, *root_b;
	} cases[] = {
		{"x.io/a/sub", "y.io/b/sub", "x.io/a", "y.io/b"},
		{"x.io/a", "x.io/a/v2", "x.io/a", "x.io/a/v2"},
		{"x.io/sub/asub", "x.io/sub/bsub", "x.io/sub/asub", "x.io/sub/bsub"},
		{"cart", "shop/cart", "", "shop"},
		{"com.a.cart", "org.a.cart", "com", "org"},
		{"a::T", "b::T", "a", "b"},
		{"<a::T as X>", "<b::T as X>", "a", "b"},
		{"same", "same", "", ""},
	};
	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct pp_str a = pp_str_of(cases[i].a), b = pp_str_of(cases[i].b);
		pd_package_roots(&a, &b);
		if (!pp_str_eq(a, pp_str_of(cases[i].root_a)) || !pp_str_eq(b, pp_str_of(cases[i].root_b)))
			fail_msg("'%s', '%s': '%.*s', '%.*s'", cases[i].a, cases[i].b, (int)a.len, a.ptr, (int)b.len, b.ptr);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packages_by_language),
		cmocka_unit_test(roots),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
