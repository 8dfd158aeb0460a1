#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/symbols/demangle.h"

static void becomes(const char *mangled, enum demangle_mode mode, const char *want)
{
	struct pp_buf name = PP_BUF_INIT;

	assert_true(demangle(mangled, mode, &name));
	assert_string_equal(name.bytes, want);
	assert_int_equal(name.n, strlen(want));
	pp_buf_release(&name);
}

static void stays(const char *mangled, enum demangle_mode mode)
{
	struct pp_buf name = PP_BUF_INIT;

	assert_false(demangle(mangled, mode, &name));
	pp_buf_release(&name);
}

/* The names that the reference makes in each of its modes. */
static void test_cxx(void **state)
{
	static const struct {
		const char *mangled, *simple, *templates, *full;
	} names[] = {
		{"_Z3fooIiEvT_", "foo", "foo<int>", "void foo<int>(int)"},
		{"_ZN12_GLOBAL__N_13bazERKSs.cold", "(anonymous namespace)::baz", "(anonymous namespace)::baz",
		 "(anonymous namespace)::baz(std::string const&)"},
		{"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()", "main::{lambda()#1}::operator()",
		 "main::{lambda()#1}::operator()() const"},
		{"_ZZN3foo3barEiENKUlT_E_clIiEEDaS0_", "foo::bar::{lambda(auto:1)#1}::operator()",
		 "foo::bar::{lambda(auto:1)#1}::operator()<int>",
		 "auto foo::bar(int)::{lambda(auto:1)#1}::operator()<int>(int) const"},
		{"_ZNKSt8functionIFbiEEclEv", "std::function::operator()", "std::function<bool (int)>::operator()",
		 "std::function<bool (int)>::operator()() const"},
		{"_ZN1A4makeISt8functionIFbiEEEET_v", "A::make", "A::make<std::function<bool (int)> >",
		 "std::function<bool (int)> A::make<std::function<bool (int)> >()"},
		{"_ZNK3FooltERKS_", "Foo::operator<", "Foo::operator<", "Foo::operator<(Foo const&) const"},
		{"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c", "std::operator<<",
		 "std::operator<< <std::char_traits<char> >",
		 "std::basic_ostream<char, std::char_traits<char> >& std::operator<< <std::char_traits<char> >"
		 "(std::basic_ostream<char, std::char_traits<char> >&, char)"},
		{"_ZN3FoocvbEv", "Foo::operator bool", "Foo::operator bool", "Foo::operator bool()"},
		{"_ZN3Foo1fB5cxx11Ev", "Foo::f[abi:cxx11]", "Foo::f[abi:cxx11]", "Foo::f[abi:cxx11]()"},
		{"__ZN3Foo1fEv", "Foo::f", "Foo::f", "Foo::f()"},
	};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(names); i++) {
		becomes(names[i].mangled, DEMANGLE_SIMPLE, names[i].simple);
		becomes(names[i].mangled, DEMANGLE_TEMPLATES, names[i].templates);
		becomes(names[i].mangled, DEMANGLE_FULL, names[i].full);
		stays(names[i].mangled, DEMANGLE_NONE);
	}
}

static void test_rust(void **state)
{
	static const char legacy[] =
		"_ZN4core3ptr46drop_in_place$LT$alloc..vec..Vec$LT$u8$GT$$GT$17h0123456789abcdefE.llvm.12";
	static const char v0[] = "_RNvMNtCsgDsz1fFZ8Xd_4core6optionINtB2_6OptionjE3mapCs1234_5crate";

	(void)state;
	becomes(legacy, DEMANGLE_SIMPLE, "core::ptr::drop_in_place<alloc::vec::Vec<u8>>");
	becomes(legacy, DEMANGLE_FULL, "core::ptr::drop_in_place<alloc::vec::Vec<u8>>");
	becomes(v0, DEMANGLE_SIMPLE, "<core::option::Option>::map");
	becomes(v0, DEMANGLE_TEMPLATES, "<core::option::Option<usize>>::map");
	becomes(v0, DEMANGLE_FULL, "<core::option::Option<usize>>::map");
}

static void test_not_mangled(void **state)
{
	static const char *const names[] = {"", "main", "main.(*T).f", "_Z", "_R", "_ZN", "_Zzz", "_RNv", "std::x<int>"};

	(void)state;
	for (size_t i = 0; i < PP_COUNT(names); i++) {
		stays(names[i], DEMANGLE_SIMPLE);
		stays(names[i], DEMANGLE_FULL);
	}
}

/* Each type argument is two of the one before: 2^40 names in 300 bytes. */
static void test_name_that_doubles(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char mangled[1000] = "_Z1f1AIiiE";
	size_t n = strlen(mangled);

	(void)state;
	for (size_t i = 0; i < 35; i++)
		n += (size_t)snprintf(mangled + n, sizeof mangled - n, "S_IS%c_S%c_E", digits[i], digits[i]);
	stays(mangled, DEMANGLE_FULL);
	becomes("_Z1f1AIiiES_IS0_S0_E", DEMANGLE_FULL, "f(A<int, int>, A<A<int, int>, A<int, int> >)");
}

/* Brackets of any depth, and names as long as they may be. */
static void test_deep(void **state)
{
	static char mangled[200000];
	struct pp_buf name = PP_BUF_INIT;
	size_t n;

	(void)state;
	n = (size_t)snprintf(mangled, sizeof mangled, "_Z1f");
	memset(mangled + n, 'P', sizeof mangled - n - 2);
	mangled[sizeof mangled - 2] = 'i';
	if (demangle(mangled, DEMANGLE_FULL, &name))
		assert_true(name.n <= 65536);
	for (size_t i = n; i + 3 < sizeof mangled; i += 3)
		memcpy(mangled + i, "1AI", 3);
	if (demangle(mangled, DEMANGLE_SIMPLE, &name))
		assert_true(name.n <= 65536);
	pp_buf_release(&name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cxx),      cmocka_unit_test(test_rust),
		cmocka_unit_test(test_not_mangled), cmocka_unit_test(test_name_that_doubles),
		cmocka_unit_test(test_deep),
	};
	return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
