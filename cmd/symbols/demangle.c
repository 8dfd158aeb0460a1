#include "cmd/symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#define NAME_BYTES ((size_t)64 << 10)

/* libiberty prints through a callback that cannot say stop, and some names print for ever. So the callback
 * leaves it by a jump. libiberty's callback interface allocates nothing that this would lose. */
struct print {
	struct pp_buf *out;
	jmp_buf too_long;
};

static void append(const char *bytes, size_t n, void *context)
{
	struct print *print = context;
	struct pp_error err = PP_ERROR_INIT;

	if (print->out->n + n > NAME_BYTES || pp_buf_append(print->out, bytes, n, &err) != 0)
		longjmp(print->too_long, 1);
}

static bool demangle_rust(const char *mangled, struct pp_buf *out)
{
	struct print print = {.out = out};

	return setjmp(print.too_long) == 0 && rust_demangle_callback(mangled, DMGL_NO_OPTS, append, &print) != 0;
}

static bool demangle_cxx(const char *mangled, int options, struct pp_buf *out)
{
	struct print print = {.out = out};

	return setjmp(print.too_long) == 0 && cplus_demangle_v3_callback(mangled, options, append, &print) != 0;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* The byte after the bracket that closes the one at text, or NULL. '<' and '>' within other brackets are
 * comparisons and arrows. */
static const char *after_bracket(const char *text)
{
	const bool angle = *text == '<';
	const char open = *text, close = angle ? '>' : *text == '(' ? ')' : '}';
	size_t angles = 0, others = 0;

	for (const char *at = text; *at != '\0'; at++) {
		if (angle && others == 0) {
			angles += *at == open;
			if (*at == close && (at == text || at[-1] != '-') && --angles == 0)
				return at + 1;
		}
		if (*at == '(' || *at == '[' || *at == '{')
			others++;
		if ((*at == ')' || *at == ']' || *at == '}') && others > 0 && --others == 0 && !angle)
			return at + 1;
	}
	return NULL;
}

/* The length of an operator's name at text, "operator" included, where its sign is brackets; else 0. */
static size_t operator_length(const char *text)
{
	static const char *const names[] = {"operator()", "operator<=>", "operator<<=", "operator>>=", "operator->*",
	                                    "operator<<", "operator>>", "operator<=", "operator>=", "operator->",
	                                    "operator<", "operator>"};

	for (size_t i = 0; i < PP_COUNT(names); i++)
		if (begins(text, names[i]))
			return strlen(names[i]);
	return 0;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
}

/* What may stand behind the parameters of a member function. */
static const char *after_qualifiers(const char *text)
{
	static const char *const words[] = {" const", " volatile", " &&", " &"};

	for (size_t i = 0; i < PP_COUNT(words); i++)
		if (begins(text, words[i]) && !is_word(text[strlen(words[i])]))
			return after_qualifiers(text + strlen(words[i]));
	return text;
}

/* Parameters of the functions that enclose a local name, and template arguments unless they are wanted. In
 * place: what remains is shorter. */
static void simplify_cxx(struct pp_buf *name, bool templates)
{
	char *to = name->bytes;
	const char *from = name->bytes;

	while (*from != '\0') {
		const char *next = from + 1;
		const size_t sign = operator_length(from);
		if (sign > 0 && (from == name->bytes || !is_word(from[-1])))
			next = from + sign;
		else if (*from == '{' && (next = after_bracket(from)) == NULL)
			next = from + 1;
		else if (*from == '(' && begins(from, "(anonymous namespace)"))
			next = from + strlen("(anonymous namespace)");
		else if (*from == '(' && to > name->bytes && after_bracket(from)) {
			from = after_qualifiers(after_bracket(from));
			continue;
		} else if (*from == '<' && after_bracket(from)) {
			if (!templates) {
				from = after_bracket(from);
				to -= to > name->bytes && to[-1] == ' '; /* of "operator<< <int>" */
				continue;
			}
			next = after_bracket(from);
		}
		while (from < next)
			*to++ = *from++;
	}
	*to = '\0';
	name->n = (size_t)(to - name->bytes);
}

/* Generic arguments, "::<…>" and "Vec<…>"; "<T as Trait>" stays, without those within. */
static void simplify_rust(struct pp_buf *name)
{
	char *to = name->bytes;

	for (const char *from = name->bytes; *from != '\0';) {
		const bool turbofish = begins(from, "::<");
		const char *bracket = turbofish ? from + 2 : from;
		const bool generic = turbofish || (*from == '<' && from > name->bytes && is_word(from[-1]));
		if (generic && after_bracket(bracket))
			from = after_bracket(bracket);
		else
			*to++ = *from++;
	}
	*to = '\0';
	name->n = (size_t)(to - name->bytes);
}

/* Where a name begins behind its return type: the last place outside of brackets that begins as bare does,
 * which is the same name without any return types. */
static size_t name_start(const char *name, const char *bare)
{
	const size_t n = strcspn(bare, "<(");
	size_t start = 0;

	for (const char *at = name; *at != '\0';) {
		if ((at == name || at[-1] == ' ') && strncmp(at, bare, n) == 0)
			start = (size_t)(at - name);
		const size_t sign = operator_length(at);
		const char *after = sign == 0 && (*at == '<' || *at == '(' || *at == '{') ? after_bracket(at) : NULL;
		at = after ? after : at + (sign > 0 ? sign : 1);
	}
	return start;
}

/* libiberty leaves out the return type of the function together with all those within template arguments. */
static bool drop_return_type(const char *mangled, struct pp_buf *out)
{
	struct pp_buf bare = PP_BUF_INIT;
	const bool done = demangle_cxx(mangled, DMGL_ANSI | DMGL_RET_DROP, &bare) && bare.n > 0 &&
	                  demangle_cxx(mangled, DMGL_ANSI, out) && out->n > 0;

	if (done) {
		const size_t start = name_start(out->bytes, bare.bytes);
		out->n -= start;
		memmove(out->bytes, out->bytes + start, out->n + 1);
	}
	pp_buf_release(&bare);
	return done;
}

static bool cxx_name(const char *mangled, enum demangle_mode mode, struct pp_buf *out)
{
	bool done;

	if (mode == DEMANGLE_FULL)
		return demangle_cxx(mangled, DMGL_PARAMS | DMGL_ANSI, out);
	done = mode == DEMANGLE_TEMPLATES ? drop_return_type(mangled, out)
	                                     : demangle_cxx(mangled, DMGL_ANSI | DMGL_RET_DROP, out);
	if (done && out->n > 0)
		simplify_cxx(out, mode == DEMANGLE_TEMPLATES);
	return done;
}

/* Without the suffix of a clone: no identifier of C++ holds a dot. */
static bool demangle_itanium(const char *mangled, enum demangle_mode mode, struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf plain = PP_BUF_INIT;
	const size_t n = strcspn(mangled, ".");
	const bool done = n <= NAME_BYTES && pp_buf_append(&plain, mangled, n, &err) == 0 &&
	                  cxx_name(plain.bytes, mode, out);

	pp_buf_release(&plain);
	return done;
}

bool demangle(const char *mangled, enum demangle_mode mode, struct pp_buf *out)
{
	out->n = 0;
	if (mode == DEMANGLE_NONE)
		return false;
	if (begins(mangled, "__Z") || begins(mangled, "__R")) /* as macOS links them */
		mangled++;
	if (begins(mangled, "_R")) {
		if (!demangle_rust(mangled, out))
			return false;
		if (mode == DEMANGLE_SIMPLE)
			simplify_rust(out);
		return out->n > 0;
	}
	if (!begins(mangled, "_Z"))
		return false;
	if (demangle_rust(mangled, out))
		return out->n > 0;
	out->n = 0;
	return demangle_itanium(mangled, mode, out) && out->n > 0;
}
