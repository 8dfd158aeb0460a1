#include "libdiff/package.h"

#include <string.h>

static bool upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool word(char c)
{
	return (c >= 'a' && c <= 'z') || upper(c) || (c >= '0' && c <= '9') || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

bool pd_package_separator(char c)
{
	return c == '/' || c == '.' || c == ':' || c == '\\';
}

static bool ends(struct pp_str text, const char *end)
{
	size_t n = strlen(end);
	return text.len > n && memcmp(text.ptr + text.len - n, end, n) == 0;
}

/* Languages whose functions bear the names that stand in the file, without the module. */
static bool by_file(struct pp_str file)
{
	static const char *const suffixes[] = {".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".jsx", ".tsx", ".py", ".rb", ".lua", ".pl",
	                                       ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".S"};
	for (size_t i = 0; i < PP_COUNT(suffixes); i++)
		if (ends(file, suffixes[i]))
			return true;
	return false;
}

/* The last "::" that stands in no brackets and before the argument list; SIZE_MAX: none. */
static size_t last_colons(struct pp_str name)
{
	size_t found = SIZE_MAX, depth = 0;
	for (size_t i = 0; i + 1 < name.len; i++) {
		char c = name.ptr[i];
		if (depth == 0 && name.len - i >= 8 && memcmp(name.ptr + i, "operator", 8) == 0)
			break; /* its signs are no brackets */
		if (depth == 0 && c == '(' && i > 0 && word(name.ptr[i - 1]))
			break;
		depth += c == '<' || c == '(' || c == '[' || c == '{';
		depth -= depth > 0 && (c == '>' || c == ')' || c == ']' || c == '}') && (c != '>' || i == 0 || name.ptr[i - 1] != '-');
		if (depth > 0 || i == 0 || c != ':' || name.ptr[i + 1] != ':')
			continue;
		if (i + 2 < name.len && name.ptr[i + 2] == '{')
			break; /* a closure is no part of another package than its function */
		found = i++;
	}
	return found;
}

/* "./src/cart.js:render", as exporters for Node.js write it: where the file ends. */
static size_t script_colon(struct pp_str name)
{
	for (size_t i = name.len; i-- > 1;)
		if (name.ptr[i] == ':' && by_file((struct pp_str){name.ptr, i}))
			return i;
	return SIZE_MAX;
}

/* Dotted names from at on: before the first part that is a class by its capital; where all have capitals (.NET),
 * before class and method; where none has, as in Go, at the first dot. */
static size_t dotted(const char *name, size_t at, size_t n)
{
	size_t first = 0, dots[2] = {0, 0};
	for (size_t i = at; i < n; i++) {
		if (name[i] != '.')
			continue;
		if (i > at && i + 1 < n && upper(name[i + 1]) && !upper(name[at]))
			return i;
		first = first ? first : i;
		dots[0] = dots[1];
		dots[1] = i;
	}
	return at < n && upper(name[at]) ? dots[0] : first;
}

size_t pd_package_end(struct pp_str name, struct pp_str file)
{
	size_t colons = last_colons(name);
	if (colons != SIZE_MAX)
		return colons;
	size_t script = script_colon(name);
	if (script != SIZE_MAX)
		return script;
	if (by_file(file))
		return 0;
	size_t end = 0, slash = 0;
	while (end < name.len && !strchr("([<{ ", name.ptr[end]))
		slash = name.ptr[end++] == '/' ? end : slash;
	if (slash > 1 && slash < end && upper(name.ptr[slash]))
		return memchr(name.ptr + slash, '.', end - slash) ? slash - 1 : 0; /* "com/a/B.f" */
	if (slash > 1) {
		const char *dot = memchr(name.ptr + slash, '.', end - slash);
		return dot ? (size_t)(dot - name.ptr) : 0;
	}
	return dotted(name.ptr, 0, end);
}

void pd_package_roots(struct pp_str *a, struct pp_str *b)
{
	size_t common = 0, least = a->len < b->len ? a->len : b->len, skip = 0;
	for (size_t i = 1; i <= least && a->ptr[a->len - i] == b->ptr[b->len - i]; i++) {
		/* A part ends here when a separator stands before it, or nothing, on both sides. */
		bool ends_a = i == a->len || pd_package_separator(a->ptr[a->len - i - 1]);
		bool ends_b = i == b->len || pd_package_separator(b->ptr[b->len - i - 1]);
		common = ends_a && ends_b ? i : common;
	}
	a->len -= common;
	b->len -= common;
	while (skip < a->len && skip < b->len && a->ptr[skip] == b->ptr[skip] && !word(a->ptr[skip]) && !pd_package_separator(a->ptr[skip]))
		skip++;
	*a = (struct pp_str){a->ptr + skip, a->len - skip};
	*b = (struct pp_str){b->ptr + skip, b->len - skip};
	while (a->len && pd_package_separator(a->ptr[a->len - 1]))
		a->len--;
	while (b->len && pd_package_separator(b->ptr[b->len - 1]))
		b->len--;
}
