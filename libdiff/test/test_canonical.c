#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/canonical.h"

static const char *canonical(const char *name, const char *file, unsigned rules, unsigned *applied)
{
	static char out[4000];
	assert_true(PD_CANONICAL_MAX(strlen(name)) < sizeof(out));
	size_t n = pd_canonical(pp_str_of(name), pp_str_of(file), rules, out, applied);
	assert_true(n <= PD_CANONICAL_MAX(strlen(name)));
	out[n] = '\0';
	return out;
}

/* Names as compilers and run times wrote them, most of them from public issues. */
static const struct {
	const char *rule, *name, *file, *canonical;
} cases[] = {
	{"frame-kind", "java/util/HashMap.get_[j]", "", "java/util/HashMap.get"},
	{"frame-kind", "do_sys_poll_[k]", "", "do_sys_poll"},
	{"elf", "malloc@plt", "", "malloc"},
	{"elf", "memcpy@@GLIBC_2.14", "", "memcpy"},
	{"elf", "pthread_cond_wait@GLIBC_2.3.2", "", "pthread_cond_wait"},
	{"kernel", "__x64_sys_epoll_wait", "", "sys_epoll_wait"},
	{"kernel", "__arm64_sys_epoll_wait", "", "sys_epoll_wait"},
	{"libc-ifunc", "__memmove_avx_unaligned_erms", "", "memmove"},
	{"libc-ifunc", "__memmove_evex_unaligned_erms", "", "memmove"},
	{"libc-ifunc", "__strlen_asimd", "", "strlen"},
	{"v8", "LazyCompile:*render /app/src/cart.js:44:13", "", "render"},
	{"v8", "LazyCompile:~render /app/src/cart.js:44:13", "", "render"},
	{"v8", "*render", "/app/src/cart.js", "render"},
	{"v8", "./src/cart.js:render:44", "", "./src/cart.js:render"},
	{"v8", "~Widget", "widget.cc", "~Widget"},
	{"java-lambda", "com.company.project.pkg.Class$InnerClass$$Lambda$469/0x00007fb8a5acdd00.call", "",
     "com.company.project.pkg.Class$InnerClass$$Lambda.call"},
	{"java-lambda", "org.gradle.A$$Lambda$12.34.run", "", "org.gradle.A$$Lambda.run"},
	{"java-lambda", "org/eclipse/jetty/A$$Lambda.0x0000000800c8f440.run", "", "org/eclipse/jetty/A$$Lambda.run"},
	{"java-lambda", "a.B$$Lambda/0x000079e8d8001000.apply", "", "a.B$$Lambda.apply"},
	{"java-generated", "jdk.internal.reflect.GeneratedMethodAccessor57.invoke", "",
     "jdk.internal.reflect.GeneratedMethodAccessor.invoke"},
	{"java-generated", "jdk.proxy2.$Proxy31.save", "", "jdk.proxy.$Proxy.save"},
	{"java-generated", "java.lang.invoke.LambdaForm$MH/0x0000000800c1.invoke", "", "java.lang.invoke.LambdaForm$MH.invoke"},
	{"java-generated", "a.Orders$$EnhancerBySpringCGLIB$$1a2b3c4d.find", "", "a.Orders$$EnhancerBySpringCGLIB$$.find"},
	{"java-closure", "com.acme.Shop.lambda$total$0", "", "com.acme.Shop.lambda$total$"},
	{"java-closure", "kafka/log/UnifiedLog.$anonfun$append$2", "", "kafka/log/UnifiedLog.$anonfun$append$"},
	{"java-closure", "scala/collection/Iterator$$anon$11.hasNext", "", "scala/collection/Iterator$$anon$.hasNext"},
	{"hex", "frame 0x7f12ab:x 0x1", "", "frame 0x*:x 0x*"},
	{"hex", "0xyz", "", "0xyz"},
	{"cpp-clones", "parse.constprop.0.isra.0", "", "parse"},
	{"cpp-clones", "foo.llvm.12345678901234", "", "foo"},
	{"cpp-clones", "foo.__uniq.8796.llvm.123.cold.1", "", "foo"},
	{"cpp-clones", "foo.part.3 [clone .cold]", "", "foo"},
	{"cpp-clones", "ns::name[abi:cxx11]", "", "ns::name"},
	{"cpp-clones", "coro.resume", "", "coro.resume"},
	{"cpp-clones", "coro.destroy", "", "coro.destroy"},
	{"cpp-clones", "pkg.cold", "/src/a.go", "pkg.cold"},
	{"cpp-args", "ns::f(int, std::vector<int> const&) const", "", "ns::f"},
	{"cpp-args", "(anonymous namespace)::f(int)", "", "(anonymous namespace)::f(int)"},
	{"cpp-args", "ns::(anonymous namespace)::f(int)", "", "ns::(anonymous namespace)::f"},
	{"cpp-args", "ns::F::operator()(int)", "", "ns::F::operator()"},
	{"cpp-args", "main.(*Shop).total", "", "main.(*Shop).total"},
	{"rust-hash", "core::slice::sort::recurse::h0123456789abcdef", "", "core::slice::sort::recurse"},
	{"rust-hash", "shop[846f0a7b5c1d2e3f]::total", "", "shop::total"},
	{"rust-hash", "shop::hash", "", "shop::hash"},
	{"rust-closure", "shop::serve::{{closure}}", "", "shop::serve::{closure}"},
	{"rust-closure", "shop::serve::{closure#1}::{closure#0}", "", "shop::serve::{closure}::{closure}"},
	{"go-module", "github.com/go-chi/chi/v5.(*Mux).ServeHTTP", "", "github.com/go-chi/chi.(*Mux).ServeHTTP"},
	{"go-module", "github.com/a/b/v2/c.F", "", "github.com/a/b/c.F"},
	{"go-module", "github.com/a/b/v1/c.F", "", "github.com/a/b/v1/c.F"},
	{"go-module", "acme.io/shop/vendor/github.com/lib/pq.Open", "", "github.com/lib/pq.Open"},
	{"go-module", "vendor/golang.org/x/net/http2/hpack.Encode", "", "golang.org/x/net/http2/hpack.Encode"},
	{"go-typeargs", "main.foo[go.shape.int64]", "", "main.foo[...]"},
	{"go-typeargs", "main.foo[...]", "", "main.foo[...]"},
	{"go-typeargs", "main.Map[go.shape.struct { A []int; B map[string]int }].func1", "", "main.Map[...].func1"},
	{"go-typeargs", "github.com/bufbuild/connect-go.NewUnaryHandler[go.shape.struct { a/b.c int },go.shape.int].func2", "",
     "github.com/bufbuild/connect-go.NewUnaryHandler[...].func2"},
	{"go-typeargs", "ns::operator[]", "", "ns::operator[]"},
	{"go-wrappers", "main.f.gowrap1", "", "main.f.{closure}"},
	{"go-wrappers", "main.f.deferwrap2", "", "main.f.{closure}"},
	{"go-wrappers", "main.(*Shop).Serve-fm", "", "main.(*Shop).Serve"},
	{"go-wrappers", "main.f-range1", "", "main.f"},
	{"go-wrappers", "github.com/grafana/pyroscope/pkg/phlare.glob..func1.1", "",
     "github.com/grafana/pyroscope/pkg/phlare.init.func1.1"},
	{"go-wrappers", "main.init.0", "", "main.init"},
	/* golang/go #71835: by 1.23, and by 1.24 */
	{"go-closure", "main.foo.func1", "", "main.foo.{closure}"},
	{"go-closure", "main.foo.func1.1", "", "main.foo.{closure}"},
	{"go-closure", "main.foo.func1.1.2", "", "main.foo.{closure}"},
	{"go-closure", "main.foo.foo.func1.func2", "", "main.foo.foo.{closure}"},
	{"go-closure", "main.foo.foo.func1.foo.foo.func1.func2.func3", "", "main.foo.foo.func1.foo.foo.{closure}"},
	{"go-closure", "github.com/grafana/dskit/middleware.(*Instrument).Wrap.Instrument.Wrap.func1.2", "",
     "github.com/grafana/dskit/middleware.(*Instrument).Wrap.Instrument.Wrap.{closure}"},
	{"go-closure", "main.func1", "", "main.func1"},
	{"go-closure", "func1", "", "func1"},
	{"go-closure", "gopkg.in/yaml.v3.Decode", "", "gopkg.in/yaml.v3.Decode"},
	{"go-closure", "Object.func1", "/app/a.js", "Object.func1"},
};

static void every_rule_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		unsigned rule, applied;
		struct pp_str unknown;
		assert_int_equal(pd_rules_parse(cases[i].rule, &rule, &unknown), 0);
		assert_string_equal(canonical(cases[i].name, cases[i].file, rule, &applied), cases[i].canonical);
		assert_int_equal(applied, strcmp(cases[i].name, cases[i].canonical) ? rule : 0);
		assert_string_equal(canonical(cases[i].name, cases[i].file, 0, &applied), cases[i].name);
		assert_int_equal(applied, 0);
	}
}

/* What is one function in two builds comes together with all rules. */
static void builds_meet(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
	} pairs[] = {
		{"main.f.func1", "main.main.f.func1"}, /* golang/go #60324 */
		{"main.foo.func1.1", "main.foo.foo.func1.func2"},
		{"main.foo.func1.1.1", "main.foo.foo.func1.foo.foo.func1.func2.func3"},
		{"github.com/grafana/pyroscope/pkg/phlare.glob..func1.1", "github.com/grafana/pyroscope/pkg/phlare.init.func1.1"},
		{"main.f.func1", "main.f.gowrap1"},
		{"main.Map[...].func2", "main.Map[go.shape.int].func1"},
		{"github.com/a/b/v2.(*T).M.func1", "github.com/a/b/v3.(*T).M.func2"},
		{"a::f::{{closure}}::h0123456789abcdef", "a[0123456789]::f::{closure#0}"},
		{"a.B$$Lambda$12/0x08.run", "a.B$$Lambda.0x0000000800c8f440.run"},
		{"ns::f(int) [clone .isra.0]", "ns::f(int)"},
	};
	for (size_t i = 0; i < PP_COUNT(pairs); i++) {
		char first[400];
		unsigned applied;
		strcpy(first, canonical(pairs[i].a, "", PD_RULES_ALL, &applied));
		assert_string_equal(first, canonical(pairs[i].b, "", PD_RULES_ALL, &applied));
	}
}

static void files_without_folders_and_hashes(void **state)
{
	(void)state;
	static const struct {
		const char *file, *canonical;
	} files[] = {
		{"/src/shop/shop.go", "shop.go"},
		{"github.com/lib/pq@v1.10.9/conn.go", "conn.go"},
		{"dist/main.3f2a1b9c.js", "main.js"},
		{"dist/cart-4ab19c77.mjs", "cart.mjs"},
		{"dist/decade.js", "decade.js"},
		{"C:\\shop\\Pricing.cs", "Pricing.cs"},
		{"", ""},
	};
	for (size_t i = 0; i < PP_COUNT(files); i++) {
		char out[100];
		unsigned applied;
		out[pd_canonical_file(pp_str_of(files[i].file), PD_RULES_ALL, out, &applied)] = '\0';
		assert_string_equal(out, files[i].canonical);
	}
}

/* Any bytes: no rule writes more than it may, and what is canonical stays. */
static void any_bytes(void **state)
{
	(void)state;
	static const char *const parts[] = {"main", ".", "func", "1", "$$Lambda", "$", "/", "0x", "ab", "[", "]", "::", "h", "(",
	                                    ")", "-range", "-fm", ".cold", "{closure#", "}", "/v2", "glob..", "@", "_[j]", "<",
	                                    ">", "operator", " ", "[clone ", "{{closure}}", ".init.", "__mem", "_avx", "js:", ":"};
	uint32_t seed = 1;
	for (int round = 0; round < 20000; round++) {
		char text[400];
		size_t n = 0;
		unsigned applied;
		while (n < 60) {
			seed = seed * 1664525u + 1013904223u;
			const char *part = parts[(seed >> 8) % PP_COUNT(parts)];
			n += strlen(strcpy(text + n, part));
			if ((seed >> 24) % 16 == 0)
				break;
		}
		char *name = malloc(n), *out = malloc(PD_CANONICAL_MAX(n)); /* exact sizes, for checkers of memory */
		memcpy(name, text, n);
		size_t out_n = pd_canonical((struct pp_str){name, n}, PP_LIT(""), PD_RULES_ALL, out, &applied);
		assert_in_range(out_n, 1, PD_CANONICAL_MAX(n));
		free(name);
		free(out);
	}
}

static void rules_have_names(void **state)
{
	(void)state;
	for (int i = 0; i < PD_RULES_N; i++) {
		unsigned mask;
		struct pp_str unknown;
		assert_int_equal(pd_rules_parse(pd_rule_name((enum pd_rule)i), &mask, &unknown), 0);
		assert_int_equal(mask, 1u << i);
	}
	assert_true(pd_rule_folds(PD_RULE_GO_TYPEARGS));
	assert_false(pd_rule_folds(PD_RULE_GO_CLOSURE));
	assert_false(pd_rule_folds(PD_RULE_GO_MODULE)); /* two versions may be in one program */
	assert_false(pd_rule_needs_evidence(PD_RULE_GO_MODULE));
	assert_true(pd_rule_needs_evidence(PD_RULE_GO_CLOSURE));
}

static void lists_of_rules(void **state)
{
	(void)state;
	struct pp_str unknown;
	unsigned rules;
	assert_int_equal(pd_rules_parse("none", &rules, &unknown), 0);
	assert_int_equal(rules, 0);
	assert_int_equal(pd_rules_parse("all", &rules, &unknown), 0);
	assert_int_equal(rules, PD_RULES_ALL);
	assert_int_equal(pd_rules_parse("hex,file", &rules, &unknown), 0);
	assert_int_equal(rules, 1u << PD_RULE_HEX | 1u << PD_RULE_FILE);
	assert_int_equal(pd_rules_parse("-hex,-file", &rules, &unknown), 0);
	assert_int_equal(rules, PD_RULES_ALL & ~(1u << PD_RULE_HEX | 1u << PD_RULE_FILE));
	assert_int_equal(pd_rules_parse("hex,magic", &rules, &unknown), -1);
	assert_true(pp_str_eq(unknown, PP_LIT("magic")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rule_alone),
		cmocka_unit_test(builds_meet),
		cmocka_unit_test(files_without_folders_and_hashes),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(rules_have_names),
		cmocka_unit_test(lists_of_rules),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
