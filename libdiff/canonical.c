#include "libdiff/canonical.h"

#include <string.h>

/* Names come from hostile files: longer ones stay as they are, and a name is edited so often at most. */
#define NAME_MAX_BYTES 8192
#define EDITS_MAX 256

/* A name in the making; rules cut and replace in place. */
struct name {
	char *s;
	size_t n;
	struct pp_str file;
	size_t edits; /* what changed so far */
};

/* ---- bytes ---- */

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool hex_digit(char c)
{
	return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool word(char c)
{
	return letter(c) || digit(c);
}

/* Whether text stands at this place. */
static bool at(const struct name *name, size_t i, const char *text)
{
	size_t n = strlen(text);
	return i <= name->n && name->n - i >= n && memcmp(name->s + i, text, n) == 0;
}

static bool ends(const struct name *name, const char *text)
{
	size_t n = strlen(text);
	return name->n >= n && at(name, name->n - n, text);
}

/* Where text stands first from i on, or name->n. */
static size_t find(const struct name *name, size_t i, const char *text)
{
	for (; i < name->n; i++) {
		const char *first = memchr(name->s + i, text[0], name->n - i);
		if (!first)
			break;
		i = (size_t)(first - name->s);
		if (at(name, i, text))
			return i;
	}
	return name->n;
}

static bool has(const struct name *name, const char *text)
{
	return find(name, 0, text) < name->n;
}

static bool file_ends(const struct name *name, const char *text)
{
	size_t n = strlen(text);
	return name->file.len >= n && memcmp(name->file.ptr + name->file.len - n, text, n) == 0;
}

/* Leaves the first n bytes; never nothing. */
static void cut(struct name *name, size_t n)
{
	if (n == 0 || n >= name->n)
		return;
	name->n = n;
	name->edits++;
}

/* Puts text in the place of [from, to). */
static void replace(struct name *name, size_t from, size_t to, const char *text)
{
	size_t n = strlen(text);
	bool same = to - from == n && memcmp(name->s + from, text, n) == 0;
	if (same || name->edits > EDITS_MAX || name->n - (to - from) + n == 0)
		return;
	name->edits++;
	memmove(name->s + from + n, name->s + to, name->n - to);
	memcpy(name->s + from, text, n);
	name->n -= to - from;
	name->n += n;
}

static size_t skip(const struct name *name, size_t i, bool (*kind)(char))
{
	while (i < name->n && kind(name->s[i]))
		i++;
	return i;
}

/* The end of "0x" and hexadecimal digits at i, or i. */
static size_t skip_address(const struct name *name, size_t i)
{
	if (!at(name, i, "0x"))
		return i;
	size_t end = skip(name, i + 2, hex_digit);
	return end > i + 2 ? end : i;
}

/* ---- systems ---- */

static void frame_kind(struct name *name)
{
	static const char *const kinds[] = {"_[j]", "_[i]", "_[k]", "_[0]", "_[1]"};
	for (size_t i = 0; i < PP_COUNT(kinds); i++)
		if (name->n > 4 && ends(name, kinds[i])) {
			cut(name, name->n - 4);
			return;
		}
}

static void elf(struct name *name)
{
	size_t sign = find(name, 1, "@");
	if (ends(name, "@plt") || at(name, sign, "@GLIBC") || at(name, sign, "@@"))
		cut(name, sign);
}

static void kernel(struct name *name)
{
	static const char *const entries[] = {"__x64_sys_", "__ia32_sys_", "__arm64_sys_", "__s390x_sys_", "__riscv_sys_"};
	for (size_t i = 0; i < PP_COUNT(entries); i++)
		if (at(name, 0, entries[i])) {
			replace(name, 0, strlen(entries[i]), "sys_");
			break;
		}
	if (name->n > 18 && ends(name, " [kernel.kallsyms]"))
		cut(name, name->n - 18);
}

/* One routine in a version for each processor, picked when the library is loaded. */
static void libc_ifunc(struct name *name)
{
	static const char *const routines[] = {"mem", "str", "wcs", "wmem", "stp", "bcmp"};
	static const char *const versions[] = {"_sse", "_ssse", "_avx", "_evex", "_erms", "_unaligned", "_generic", "_sve",
	                                       "_neon", "_asimd", "_thunderx", "_falkor", "_simd", "_a64fx", "_mops", "_oryon"};
	if (!at(name, 0, "__"))
		return;
	for (size_t r = 0; r < PP_COUNT(routines); r++) {
		if (!at(name, 2, routines[r]))
			continue;
		for (size_t i = 3; i < name->n; i++)
			for (size_t v = 0; v < PP_COUNT(versions); v++)
				if (at(name, i, versions[v])) {
					cut(name, i);
					replace(name, 0, 2, "");
					return;
				}
	}
}

static void hex(struct name *name)
{
	for (size_t i = 0; i < name->n; i++) {
		size_t end = skip_address(name, i);
		if (end > i)
			replace(name, i + 2, end, "*");
	}
}

/* ---- JavaScript ---- */

static bool is_script(const struct name *name)
{
	static const char *const kinds[] = {".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx"};
	for (size_t i = 0; i < PP_COUNT(kinds); i++)
		if (file_ends(name, kinds[i]))
			return true;
	return name->file.len >= 5 && memcmp(name->file.ptr, "node:", 5) == 0;
}

static void v8(struct name *name)
{
	static const char *const compiled[] = {"LazyCompile:", "Function:", "Script:", "Eval:", "RegExp:"};
	bool by_engine = is_script(name);
	for (size_t i = 0; i < PP_COUNT(compiled); i++)
		if (at(name, 0, compiled[i])) {
			replace(name, 0, strlen(compiled[i]), "");
			by_engine = true;
			size_t space = find(name, 1, " ");
			if (space < name->n && has(name, ":"))
				cut(name, space);
			break;
		}
	if (by_engine && name->n > 1 && strchr("*~^+", name->s[0]) && (letter(name->s[1]) || name->s[1] == '$'))
		replace(name, 0, 1, "");
	/* "./src/cart.js:render:44": the line where it begins */
	size_t end = name->n;
	while (end > 0 && digit(name->s[end - 1]))
		end--;
	if (end < name->n && end > 1 && name->s[end - 1] == ':' && (name->s[0] == ':' || has(name, "js:") || has(name, "ts:")))
		cut(name, end - 1);
}

/* ---- the JVM ---- */

/* Removes "$12", "/0x08", ".0x08", ".34" that follow each other at i. */
static void cut_numbers(struct name *name, size_t i)
{
	for (;;) {
		if (i >= name->n || !strchr("$./", name->s[i]))
			return;
		size_t end = skip_address(name, i + 1);
		if (end == i + 1)
			end = skip(name, i + 1, digit);
		if (end == i + 1)
			return;
		replace(name, i, end, "");
	}
}

static void java_lambda(struct name *name)
{
	for (size_t i = find(name, 0, "$$Lambda"); i < name->n; i = find(name, i + 1, "$$Lambda"))
		cut_numbers(name, i + 8);
}

static void java_generated(struct name *name)
{
	static const char *const numbered[] = {"GeneratedMethodAccessor", "GeneratedConstructorAccessor",
	                                       "GeneratedSerializationConstructorAccessor", "$Proxy", "jdk.proxy", "jdk/proxy"};
	static const char *const forms[] = {"LambdaForm$MH", "LambdaForm$DMH", "LambdaForm$BMH", "LambdaForm$VH"};
	for (size_t k = 0; k < PP_COUNT(numbered); k++)
		for (size_t i = find(name, 0, numbered[k]); i < name->n; i = find(name, i + 1, numbered[k]))
			replace(name, i + strlen(numbered[k]), skip(name, i + strlen(numbered[k]), digit), "");
	for (size_t k = 0; k < PP_COUNT(forms); k++)
		for (size_t i = find(name, 0, forms[k]); i < name->n; i = find(name, i + 1, forms[k]))
			cut_numbers(name, i + strlen(forms[k]));
	for (size_t i = find(name, 0, "CGLIB$$"); i < name->n; i = find(name, i + 1, "CGLIB$$"))
		replace(name, i + 7, skip(name, i + 7, hex_digit), "");
}

/* "$" and digits up to ".", "$" or the end: closures and classes without a name. */
static void java_closure(struct name *name)
{
	for (size_t i = find(name, 0, "$"); i < name->n; i = find(name, i + 1, "$")) {
		size_t end = skip(name, i + 1, digit);
		if (end > i + 1 && (end == name->n || name->s[end] == '.' || name->s[end] == '$'))
			replace(name, i + 1, end, "");
	}
}

/* ---- Go ---- */

static bool is_go(const struct name *name)
{
	return file_ends(name, ".go") || (!name->file.len && has(name, ".") && !has(name, "::"));
}

/* Where the package path ends: at the first dot after the last slash, type arguments left aside. */
static size_t go_package(const struct name *name)
{
	size_t dot = name->n, end = find(name, 0, "[");
	for (size_t i = 0; i < end; i++) {
		if (name->s[i] == '/')
			dot = name->n;
		else if (name->s[i] == '.' && dot == name->n)
			dot = i;
	}
	return dot;
}

static void go_module(struct name *name)
{
	if (!is_go(name))
		return;
	size_t package = go_package(name), vendored = 0;
	for (size_t i = find(name, 0, "/vendor/"); i < package; i = find(name, i + 1, "/vendor/"))
		vendored = i + 8;
	if (!vendored && at(name, 0, "vendor/"))
		vendored = 7;
	replace(name, 0, vendored, "");
	package = go_package(name);
	/* Major versions from 2 on, as semantic import versioning writes them. */
	for (size_t i = find(name, 0, "/v"); i < package; i = find(name, i + 1, "/v")) {
		size_t end = skip(name, i + 2, digit);
		bool version = end > i + 2 && name->s[i + 2] != '0' && !(end == i + 3 && name->s[i + 2] == '1');
		if (!version || end >= name->n || (name->s[end] != '.' && name->s[end] != '/'))
			continue;
		replace(name, i, end, "");
		package -= end - i;
	}
}

/* "[go.shape.int]", "[go.shape.struct { A []int }]" and "[...]" are one; brackets match. */
static void go_typeargs(struct name *name)
{
	if (!is_go(name))
		return;
	for (size_t i = find(name, 1, "["); i < name->n; i = find(name, i + 1, "[")) {
		size_t end = i, depth = 0;
		if (!word(name->s[i - 1]) || at(name, i, "[abi:"))
			continue;
		do {
			depth += name->s[end] == '[';
			depth -= name->s[end] == ']';
			end++;
		} while (end < name->n && depth > 0);
		if (depth > 0)
			return;
		if (end > i + 2)
			replace(name, i, end, "[...]");
	}
}

/* The start of the last part of [0, end): after its last dot; dots in brackets do not count. */
static size_t last_part(const struct name *name, size_t end)
{
	size_t depth = 0;
	for (; end > 0; end--) {
		depth += name->s[end - 1] == ']';
		depth -= name->s[end - 1] == '[' && depth > 0;
		if (name->s[end - 1] == '.' && depth == 0)
			return end;
	}
	return 0;
}

/* Whether [from, to) is prefix and at least one digit. */
static bool numbered(const struct name *name, size_t from, size_t to, const char *prefix)
{
	size_t digits = from + strlen(prefix);
	return digits < to && at(name, from, prefix) && skip(name, digits, digit) >= to;
}

static void go_wrappers(struct name *name)
{
	if (!is_go(name))
		return;
	size_t package = go_package(name);
	if (at(name, package, ".glob.."))
		replace(name, package, package + 7, ".init.");
	if (at(name, package, ".init.") && skip(name, package + 6, digit) > package + 6)
		replace(name, package + 5, skip(name, package + 6, digit), "");
	if (ends(name, "-fm"))
		cut(name, name->n - 3);
	for (size_t i = find(name, 1, "-range"); i < name->n; i = find(name, i + 1, "-range"))
		replace(name, i, skip(name, i + 6, digit), "");
	size_t part = last_part(name, name->n);
	if (part > package + 1 && (numbered(name, part, name->n, "gowrap") || numbered(name, part, name->n, "deferwrap")))
		replace(name, part, name->n, "{closure}");
}

/* Closures within closures are numbered in one of three ways, by version of the compiler: the parts
 * "func1", "func1.2", "func1.func2" (golang/go #55980, #60324, #71835). */
static void go_closure(struct name *name)
{
	if (!is_go(name))
		return;
	size_t package = go_package(name), end = name->n, closure = name->n;
	while (end > package + 1) {
		size_t part = last_part(name, end);
		bool named = numbered(name, part, end, "func") || at(name, part, "{closure}");
		if (part <= package + 1 || (!named && !numbered(name, part, end, "")))
			break;
		end = part - 1;
		closure = named ? end : closure;
	}
	if (closure < name->n)
		replace(name, closure, name->n, ".{closure}");
}

/* From Go 1.21 on a closure of a function that was inlined bears the names of those around it:
 * "main.main.f.func1" was "main.f.func1" or "main.main.func1" (golang/go #60324). */
static void go_inline(struct name *name)
{
	size_t package = go_package(name);
	if (!is_go(name) || !ends(name, ".{closure}"))
		return;
	size_t part = last_part(name, name->n - 10);
	if (part > package + 1)
		replace(name, package + 1, part, "");
}

/* ---- C, C++ and Rust ---- */

/* One suffix of a clone at the end: its length, or 0. */
static size_t clone_suffix(const struct name *name)
{
	static const char *const with_number[] = {".isra", ".constprop", ".part", ".cold", ".lto_priv", ".llvm", ".__uniq",
	                                          ".clone", ".specialized", ".localalias"};
	static const char *const alone[] = {".cold", ".warm", ".hot", ".cfi", ".localalias"};
	size_t digits = name->n;
	while (digits > 0 && digit(name->s[digits - 1]))
		digits--;
	bool is_number = digits < name->n && digits > 1 && name->s[digits - 1] == '.';
	for (size_t i = 0; is_number && i < PP_COUNT(with_number); i++) {
		size_t n = strlen(with_number[i]);
		if (digits - 1 > n && at(name, digits - 1 - n, with_number[i]))
			return name->n - (digits - 1 - n);
	}
	for (size_t i = 0; i < PP_COUNT(alone); i++)
		if (name->n > strlen(alone[i]) && ends(name, alone[i]))
			return strlen(alone[i]);
	return 0;
}

/* Coroutines keep ".resume" and ".destroy": those are functions of their own. */
static void cpp_clones(struct name *name)
{
	size_t n;
	if (file_ends(name, ".go") || file_ends(name, ".java") || is_script(name) || at(name, 0, "main."))
		return;
	for (size_t i = find(name, 1, "[abi:"); i < name->n; i = find(name, i + 1, "[abi:"))
		if (find(name, i, "]") < name->n)
			replace(name, i, find(name, i, "]") + 1, "");
	for (size_t i = find(name, 1, " [clone "); i < name->n; i = find(name, i + 1, " [clone "))
		if (find(name, i, "]") < name->n)
			replace(name, i, find(name, i, "]") + 1, "");
	while ((n = clone_suffix(name)) > 0)
		cut(name, name->n - n);
}

/* The argument list is the last pair of parentheses at the top that is no part of a name. */
static void cpp_args(struct name *name)
{
	size_t depth = 0, angle = 0, open = name->n;
	if (file_ends(name, ".go") || has(name, ".(") || is_script(name) || at(name, 0, "("))
		return;
	for (size_t i = 1; i < name->n; i++) {
		bool operator_sign = i >= 8 && at(name, i - 8, "operator");
		if (name->s[i] == '(' && depth++ == 0 && angle == 0 && !operator_sign && !at(name, i, "(anonymous namespace)"))
			open = i;
		depth -= name->s[i] == ')' && depth > 0;
		if (depth == 0 && !operator_sign && !(i >= 9 && at(name, i - 9, "operator"))) {
			angle += name->s[i] == '<';
			angle -= name->s[i] == '>' && angle > 0;
		}
		/* "{lambda(int)#1}::operator()": the name goes on */
		if (depth == 0 && open < i && name->s[i] != ')' && (name->s[i] == ':' || name->s[i] == '#'))
			open = name->n;
	}
	if (open < name->n && depth == 0 && (word(name->s[open - 1]) || strchr(">)~=+-*/<!&|^%]", name->s[open - 1])))
		cut(name, open);
}

static void rust_hash(struct name *name)
{
	if (name->n > 19 && at(name, name->n - 19, "::h") && skip(name, name->n - 16, hex_digit) == name->n)
		cut(name, name->n - 19);
	for (size_t i = find(name, 1, "["); i < name->n; i = find(name, i + 1, "[")) {
		size_t end = skip(name, i + 1, hex_digit);
		if (word(name->s[i - 1]) && end >= i + 5 && at(name, end, "]::"))
			replace(name, i, end + 1, "");
	}
}

static void rust_closure(struct name *name)
{
	for (size_t i = find(name, 0, "{{closure}}"); i < name->n; i = find(name, i + 1, "{{closure}}"))
		replace(name, i, i + 11, "{closure}");
	for (size_t i = find(name, 0, "#"); i < name->n; i = find(name, i + 1, "#")) {
		size_t end = skip(name, i + 1, digit);
		if (end > i + 1 && at(name, end, "}") && !has(name, "{lambda"))
			replace(name, i, end, "");
	}
}

/* ---- the table ---- */

static const struct {
	const char *name;
	void (*apply)(struct name *name);
	bool folds, needs_evidence;
} rules[PD_RULES_N] = {
	[PD_RULE_FILE] = {"file", NULL, false, false}, /* the same name in another folder or file */
	[PD_RULE_FRAME_KIND] = {"frame-kind", frame_kind, true, false}, /* marks of inlined, interpreted and kernel frames */
	[PD_RULE_ELF] = {"elf", elf, true, false}, /* versions of symbols and entries of the linkage table */
	[PD_RULE_KERNEL] = {"kernel", kernel, true, false}, /* system calls of different processors */
	[PD_RULE_LIBC_IFUNC] = {"libc-ifunc", libc_ifunc, true, false}, /* routines of libc in versions for processors */
	[PD_RULE_V8] = {"v8", v8, true, false}, /* marks of V8's compilers, lines in names, hashes of bundles */
	[PD_RULE_JAVA_LAMBDA] = {"java-lambda", java_lambda, true, false}, /* hidden classes of Java lambdas */
	[PD_RULE_JAVA_GENERATED] = {"java-generated", java_generated, true, false}, /* accessors, proxies and forms made at run time */
	[PD_RULE_JAVA_CLOSURE] = {"java-closure", java_closure, false, true}, /* numbers of JVM closures and anonymous classes */
	[PD_RULE_HEX] = {"hex", hex, true, false}, /* addresses in names */
	[PD_RULE_CPP_CLONES] = {"cpp-clones", cpp_clones, true, false}, /* clones and parts that compilers make of a function */
	[PD_RULE_CPP_ARGS] = {"cpp-args", cpp_args, false, true}, /* argument lists of C++ */
	[PD_RULE_RUST_HASH] = {"rust-hash", rust_hash, true, false}, /* hashes in Rust symbols */
	[PD_RULE_RUST_CLOSURE] = {"rust-closure", rust_closure, false, true}, /* numbers of Rust closures */
	[PD_RULE_GO_MODULE] = {"go-module", go_module, false, false}, /* major versions and vendor folders in Go package paths */
	[PD_RULE_GO_TYPEARGS] = {"go-typeargs", go_typeargs, true, false}, /* type arguments of Go */
	[PD_RULE_GO_WRAPPERS] = {"go-wrappers", go_wrappers, false, true}, /* wrappers that the Go compiler makes */
	[PD_RULE_GO_CLOSURE] = {"go-closure", go_closure, false, true}, /* numbers of Go closures */
	[PD_RULE_GO_INLINE] = {"go-inline", go_inline, false, true}, /* Go closures named after what they were inlined into */
	[PD_RULE_PACKAGE] = {"package", NULL, false, false}, /* packages, modules and classes that moved */
};

const char *pd_rule_name(enum pd_rule rule)
{
	return rules[rule].name;
}

int pd_rules_parse(const char *list, unsigned *mask, struct pp_str *unknown)
{
	*mask = list[0] == '-' ? PD_RULES_ALL : 0;
	for (const char *at = list, *end; *at; at = *end ? end + 1 : end) {
		bool less = at[0] == '-';
		at += less;
		end = at + strcspn(at, ",");
		struct pp_str text = {at, (size_t)(end - at)};
		unsigned bits = pp_str_eq(text, PP_LIT("all")) ? PD_RULES_ALL : 0;
		for (int i = 0; i < PD_RULES_N; i++)
			bits |= pp_str_eq(text, pp_str_of(rules[i].name)) ? 1u << i : 0;
		if (bits == 0 && !pp_str_eq(text, PP_LIT("none"))) {
			*unknown = text;
			return -1;
		}
		*mask = less ? *mask & ~bits : *mask | bits;
	}
	return 0;
}

bool pd_rule_folds(enum pd_rule rule)
{
	return rules[rule].folds;
}

bool pd_rule_needs_evidence(enum pd_rule rule)
{
	return rules[rule].needs_evidence;
}

/* The order in which rules apply is that of the enum. */
size_t pd_canonical(struct pp_str text, struct pp_str file, unsigned mask, char *out, unsigned *applied)
{
	struct name name = {.s = out, .n = text.len, .file = file};
	*applied = 0;
	if (text.len)
		memcpy(out, text.ptr, text.len);
	for (int i = 0; i < PD_RULES_N && text.len && text.len <= NAME_MAX_BYTES; i++) {
		size_t before = name.edits;
		if (!(mask & (1u << i)) || !rules[i].apply)
			continue;
		rules[i].apply(&name);
		*applied |= name.edits > before ? 1u << i : 0;
	}
	return name.n;
}

/* Bundlers put a hash of the content between dots or after a dash: six or more hexadecimal digits, one
 * of them a digit. */
static void bundle_hash(struct name *name)
{
	for (size_t i = 1; i < name->n; i++) {
		size_t end = skip(name, i + 1, hex_digit);
		if ((name->s[i] != '.' && name->s[i] != '-') || end < i + 7 || end >= name->n || name->s[end] != '.')
			continue;
		for (size_t k = i + 1; k < end; k++)
			if (digit(name->s[k])) {
				replace(name, i, end, "");
				return;
			}
	}
}

size_t pd_canonical_file(struct pp_str file, unsigned mask, char *out, unsigned *applied)
{
	struct name name = {.s = out, .file = file};
	size_t from = file.len;
	*applied = 0;
	while (from > 0 && file.ptr[from - 1] != '/' && file.ptr[from - 1] != '\\')
		from--;
	name.n = file.len - from;
	if (name.n)
		memcpy(out, file.ptr + from, name.n);
	if ((mask & (1u << PD_RULE_V8)) && name.n <= NAME_MAX_BYTES && is_script(&name))
		bundle_hash(&name);
	*applied = name.edits ? 1u << PD_RULE_V8 : 0;
	return name.n;
}
