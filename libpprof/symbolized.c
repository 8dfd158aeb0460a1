/* Symbolized raw files, as gperftools' pprof --raw, jeprof --raw, PHP's memprof and ClickHouse write them:
 *   --- symbol
 *   binary=PROGRAM
 *   0xADDRESS CALLER--INLINED
 *   ---
 *   --- heap           (or profile, growth, contention; some leave this line out)
 * and then a profile as it would be without this head. */
#include <string.h>

#include "libpprof/legacy.h"

static int no_memory(struct pp_legacy *l)
{
	return pp_fail(l->err, pp_arena_over(l->arena) ? PP_ELIMIT : PP_ENOMEM, PP_NO_OFFSET,
	               "the symbols need more memory than there is");
}

/* ---- the head ---- */

static int add_symbol(struct pp_legacy *l, uint64_t address, struct pp_str names)
{
	struct pp_legacy_symbols *s = l->symbols;
	bool is_new;
	uint32_t i = pp_intern_put(s->addresses, &address, sizeof(address), &is_new);
	if (i == PP_NONE)
		return no_memory(l);
	if (!is_new)
		return 0;
	names = pp_legacy_copy(l, names);
	if (!names.ptr || pp_legacy_room(l, &s->names, &s->names_capacity, (size_t)i + 1, sizeof(*s->names)) < 0)
		return -1;
	s->names[i] = names;
	if (address > s->highest)
		s->highest = address;
	return 0;
}

static int read_head_line(struct pp_legacy *l)
{
	struct pp_str text = l->line;
	uint64_t address;
	if (l->line.len == 0)
		return 0;
	if (pp_take(&text, "0x")) {
		if (!pp_take_hex(&text, &address) || !pp_take_blanks(&text) || text.len == 0)
			return pp_legacy_bad_line(l, "not '0xADDRESS NAMES'");
		return add_symbol(l, address, text);
	}
	if (pp_take(&text, "binary=")) {
		l->symbols->binary = pp_legacy_copy(l, pp_legacy_trim(text));
		return l->symbols->binary.ptr ? 0 : -1;
	}
	return memchr(text.ptr, '=', text.len) ? 0 : pp_legacy_bad_line(l, "not '0xADDRESS NAMES' nor 'name=value'");
}

/* "--- heap": the line that says what follows, which is there or not and not part of it. Heads of profiles have
 * more than one word. */
static bool is_kind_line(const unsigned char *bytes, size_t n)
{
	static const char mark[] = "--- ";
	size_t at = sizeof(mark) - 1;
	if (n <= at || memcmp(bytes, mark, at) != 0)
		return false;
	while (at < n && bytes[at] >= 'a' && bytes[at] <= 'z')
		at++;
	return at > sizeof(mark) - 1 && at < n && (bytes[at] == '\n' || bytes[at] == '\r');
}

static int recognise(struct pp_legacy *l, enum pp_format *inner)
{
	const unsigned char *bytes;
	int64_t n = pp_legacy_peek(l, &bytes);
	if (n > 0 && is_kind_line(bytes, (size_t)n) && (pp_legacy_next(l) < 0 || (n = pp_legacy_peek(l, &bytes)) < 0))
		return -1;
	if (n < 0)
		return -1;
	if (n == 0)
		return pp_fail(l->err, PP_EFORMAT, pp_legacy_offset(l), "no profile behind the symbols");
	if (bytes[0] == 0) { /* memprof's head of a CPU profile has a period of 0, which is no such head elsewhere */
		*inner = PP_FORMAT_CPU;
		return 0;
	}
	struct pp_error why = PP_ERROR_INIT;
	if (pp_sniff(bytes, (size_t)n, n < PP_SNIFF_BYTES, inner, &why) < 0)
		return pp_fail(l->err, why.code, pp_legacy_offset(l), "behind the symbols: %s", why.text);
	return 0;
}

int pp_legacy_symbol_head(struct pp_legacy *l, enum pp_format *inner)
{
	int more = pp_legacy_next(l);
	l->symbols = pp_arena_alloc(l->arena, sizeof(*l->symbols));
	if (!l->symbols)
		return no_memory(l);
	*l->symbols = (struct pp_legacy_symbols){.addresses = pp_intern_new(l->arena), .binary = {"", 0}};
	if (!l->symbols->addresses)
		return no_memory(l);
	while (more > 0 && (more = pp_legacy_next(l)) > 0 && !pp_legacy_begins(l->line, "---"))
		if (read_head_line(l) < 0)
			return -1;
	if (more < 0)
		return -1;
	return recognise(l, inner);
}

bool pp_legacy_has_made_up_addresses(const struct pp_legacy_symbols *symbols)
{
	return symbols->highest == pp_intern_count(symbols->addresses);
}

/* ---- names for locations ---- */

static const struct pp_str *find_names(const struct pp_legacy *l, uint64_t address)
{
	uint32_t i = pp_intern_find(l->symbols->addresses, &address, sizeof(address));
	return i == PP_NONE ? NULL : &l->symbols->names[i];
}

/* Newer writers name the calls (the address in a stack minus 1), older ones and those that make
 * addresses up name the very number in the stack. What finds more names is what was meant. */
static bool names_are_of_calls(const struct pp_legacy *l)
{
	size_t calls = 0, numbers = 0;
	for (uint32_t i = 0; i < pp_intern_count(l->addresses); i++) {
		const struct pp_legacy_location *location = &l->locations[i];
		if (!location->is_call)
			continue;
		calls += find_names(l, location->address) != NULL;
		numbers += find_names(l, location->address + 1) != NULL;
	}
	return calls > numbers || (calls == numbers && calls > 0 && !pp_legacy_has_made_up_addresses(l->symbols));
}

static int add_function(struct pp_legacy *l, struct pp_intern *functions, struct pp_str name, struct pp_line *line)
{
	bool is_new;
	struct pp_function function = {.name = pp_build_string(l->build, name)};
	function.system_name = function.name;
	*line = (struct pp_line){.function = pp_intern_put(functions, name.ptr, name.len, &is_new)};
	if (line->function == PP_NONE)
		return no_memory(l);
	if (is_new)
		(void)pp_build_function(l->build, &function);
	return 0;
}

/* gperftools' own pprof adds its address in the file to a name from the symbol table: "main<00000000000024ae>".
 * Template arguments have no such zeros in front. */
static struct pp_str without_address(struct pp_str name)
{
	uint64_t address;
	for (size_t n = 8; n <= 16; n += 8) {
		if (name.len <= n + 2)
			break;
		struct pp_str suffix = {name.ptr + name.len - n - 2, n + 2};
		if (pp_take(&suffix, "<0") && pp_take_hex(&suffix, &address) && suffix.len == 1 && pp_take(&suffix, ">"))
			name.len -= n + 2;
	}
	return name;
}

/* The last "--" in the text, where a name begins; 0 when there is none. */
static size_t last_name(struct pp_str names)
{
	for (size_t i = names.len; i > 2; i--)
		if (names.ptr[i - 1] == '-' && names.ptr[i - 2] == '-')
			return i;
	return 0;
}

static int name_location(struct pp_legacy *l, struct pp_intern *functions, struct pp_legacy_location *location,
                         struct pp_str names)
{
	struct pp_line line;
	size_t first = l->source_lines_n;
	for (size_t begin = 1; begin > 0; ) {
		begin = last_name(names);
		const struct pp_str name = without_address((struct pp_str){names.ptr + begin, names.len - begin});
		if (name.len > 0 && !pp_str_eq(name, PP_LIT("??")) && (add_function(l, functions, name, &line) < 0 ||
		                     pp_legacy_symbolize(l, location, &line, 1) < 0))
			return -1;
		names.len = begin ? begin - 2 : 0;
	}
	location->line_first = first;
	location->lines_n = (uint32_t)(l->source_lines_n - first);
	return 0;
}

static int apply(struct pp_legacy *l, struct pp_intern *functions)
{
	bool of_calls = names_are_of_calls(l);
	for (uint32_t i = 0; i < pp_intern_count(l->addresses); i++) {
		struct pp_legacy_location *location = &l->locations[i];
		if (!of_calls && location->is_call)
			location->address++;
		const struct pp_str *names = find_names(l, location->address);
		/* Of the leaf, too, jeprof names the call, and ClickHouse does not. */
		if (!names && of_calls && location->is_call)
			names = find_names(l, location->address + 1);
		if (names && name_location(l, functions, location, *names) < 0)
			return -1;
	}
	if (!of_calls)
		l->may_hold_handler = l->may_repeat_leaf = false;
	return 0;
}

int pp_legacy_apply_symbols(struct pp_legacy *l)
{
	struct pp_intern *functions = pp_intern_new(l->arena);
	if (!functions)
		return no_memory(l);
	int result = apply(l, functions);
	pp_intern_free(functions);
	return result;
}
