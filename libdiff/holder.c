#include "libdiff/holder.h"

#include <string.h>

#include "libdiff/appframe.h"
#include "libdiff/canonical.h"

/* Names that go on the screen: nothing of what people wrote themselves is taken from them. */
#define HOLDER_RULES                                                                                              \
	(1u << PD_RULE_FRAME_KIND | 1u << PD_RULE_ELF | 1u << PD_RULE_JAVA_LAMBDA | 1u << PD_RULE_JAVA_GENERATED |    \
	 1u << PD_RULE_CPP_CLONES | 1u << PD_RULE_RUST_HASH | 1u << PD_RULE_RUST_CLOSURE | 1u << PD_RULE_GO_TYPEARGS | \
	 1u << PD_RULE_GO_WRAPPERS | 1u << PD_RULE_GO_CLOSURE)

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Without text at the end; a name that is nothing else stays. */
static size_t without_end(const char *name, size_t n, const char *text)
{
	size_t length = strlen(text);
	return n > length && memcmp(name + n - length, text, length) == 0 ? n - length : n;
}

static size_t without_closures(const char *name, size_t n)
{
	size_t before;
	do {
		before = n;
		n = without_end(name, n, ".{closure}");
		n = without_end(name, n, "::{closure}");
	} while (n < before);
	return n;
}

/* Removes every "[...]" but one at the start. */
static size_t without_typeargs(char *name, size_t n)
{
	size_t out = 0;
	for (size_t i = 0; i < n; i++)
		if (out > 0 && n - i >= 5 && memcmp(name + i, "[...]", 5) == 0)
			i += 4;
		else
			name[out++] = name[i];
	return out;
}

/* Dotted names, up to where type arguments begin: not C++ or Rust, where brackets mean arrays. */
static bool go_or_java(struct pp_str name)
{
	const char *bracket = name.len ? memchr(name.ptr, '[', name.len) : NULL;
	size_t n = bracket ? (size_t)(bracket - name.ptr) : name.len;

	return n > 0 && memchr(name.ptr, '.', n) && !memchr(name.ptr, ' ', n) && !memchr(name.ptr, ':', n);
}

/* The JVM's closures: "a.B.$anonfun$run$2" and "a.B.lambda$run$0" are "a.B.run". */
static size_t without_lambda(char *name, size_t n)
{
	static const char *const closures[] = {"$anonfun$", "lambda$", NULL};
	size_t end = n, part = n;

	while (end > 0 && digit(name[end - 1]))
		end--;
	if (end > 1 && end < n && name[end - 1] == '$' && name[end - 2] != '$' && name[end - 2] != '.')
		n = part = end - 1;
	while (part > 0 && name[part - 1] != '.' && name[part - 1] != '/')
		part--;
	for (const char *const *c = closures; *c; c++) {
		size_t length = strlen(*c);
		if (n - part > length && memcmp(name + part, *c, length) == 0) {
			memmove(name + part, name + part + length, n - part - length);
			return n - length;
		}
	}
	return n;
}

size_t pd_holder(struct pp_str name, char *out)
{
	unsigned applied;
	name = pd_script_function(name);
	size_t n = pd_canonical(name, PP_LIT(""), HOLDER_RULES, out, &applied);
	n = without_typeargs(out, without_closures(out, n));
	return go_or_java(name) ? without_lambda(out, n) : n;
}

static const char nameless[] = "(anonymous:L#"; /* and where it stands: "(anonymous:L#12:C#5)" */

bool pd_frame_anonymous(struct pp_str held)
{
	static const char *const names[] = {"(anonymous)", "<anonymous>", "anonymous", "<lambda>", "<listcomp>", "<dictcomp>",
	                                    "<setcomp>", "<genexpr>", NULL};

	for (const char *const *name = names; *name; name++)
		if (pp_str_eq(held, pp_str_of(*name)))
			return true;
	return held.len >= sizeof(nameless) - 1 && memcmp(held.ptr, nameless, sizeof(nameless) - 1) == 0;
}

/* The end of the function part that begins at from: "f" or "(*T).f". */
static size_t part_end(const char *name, size_t n, size_t from)
{
	size_t at = from;

	if (name[at] == '(') {
		while (at < n && name[at] != ')')
			at++;
		at += at + 1 < n && name[at + 1] == '.' ? 2 : 0;
	}
	while (at < n && name[at] != '.')
		at++;
	return at;
}

/* ".func1" somewhere in it. */
static bool go_closure(struct pp_str name)
{
	for (size_t i = 0; i + 6 <= name.len; i++)
		if (memcmp(name.ptr + i, ".func", 5) == 0 && digit(name.ptr[i + 5]))
			return true;
	return false;
}

size_t pd_closure_inlined(struct pp_str name, char *held, size_t *n, char *outer)
{
	size_t package = 0, last, end;

	if (!go_closure(name))
		return 0;
	for (size_t i = 0; i < *n; i++)
		if (held[i] == '/')
			package = i;
	while (package < *n && held[package] != '.')
		package++;
	if (package + 1 >= *n)
		return 0;
	last = package + 1;
	size_t first_end = end = part_end(held, *n, last);
	if (first_end >= *n)
		return 0;
	while (end < *n) {
		last = end + 1;
		end = last < *n ? part_end(held, *n, last) : *n;
	}
	memcpy(outer, held, first_end);
	if (held[package + 1] == '(' || held[last] == '(') {
		memmove(held + package + 1, held + last, *n - last);
		*n -= last - package - 1;
	}
	return first_end;
}
