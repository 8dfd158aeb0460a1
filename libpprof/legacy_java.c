/* Heap and contention profiles of Java agents: attributes, "value count @ addresses", and a table of names:
 * "0xADDRESS function (file:line)". Their addresses are numbers within the file. */
#include <string.h>

#include "libpprof/legacy.h"

#define HEAP_RATE_BYTES 524288 /* the agents sample one in so many bytes */

/* ---- names ---- */

/* Takes "function (file:line)", "function (library)" or "function" apart. */
static void split_place(struct pp_str text, struct pp_str *function, struct pp_str *file, int64_t *line)
{
	size_t open = text.len, colon;
	*function = text;
	*file = (struct pp_str){"", 0};
	*line = 0;
	if (text.len > 0 && text.ptr[text.len - 1] == ')')
		for (open = text.len; open > 1 && !(text.ptr[open - 1] == '(' && text.ptr[open - 2] == ' '); )
			open--;
	if (open < 2 || open >= text.len) {
		if (pp_legacy_holds(text, "generated stub/JIT"))
			*function = PP_LIT("STUB");
		return;
	}
	*function = pp_legacy_trim((struct pp_str){text.ptr, open - 1});
	*file = (struct pp_str){text.ptr + open, text.len - 1 - open};
	for (colon = file->len; colon > 0 && file->ptr[colon - 1] != ':'; )
		colon--;
	struct pp_str number = {file->ptr + colon, file->len - colon};
	int64_t value;
	if (colon > 1 && pp_take_number(&number, &value) && number.len == 0) {
		file->len = colon - 1;
		*line = value > 0 ? value : 0;
		return;
	}
	for (size_t i = file->len; i > 0; i--) /* of a library the name is enough */
		if (file->ptr[i - 1] == '/') {
			*file = (struct pp_str){file->ptr + i, file->len - i};
			break;
		}
}

/* One function a name: the file is the one that came with it first. */
static int name_location(struct pp_legacy *l, struct pp_intern *functions, struct pp_legacy_location *location,
                         struct pp_str text)
{
	struct pp_str name, file;
	struct pp_line line = {0};
	bool is_new;
	split_place(text, &name, &file, &line.line);
	line.function = pp_intern_put(functions, name.ptr, name.len, &is_new);
	if (line.function == PP_NONE)
		return pp_fail(l->err, PP_ELIMIT, PP_NO_OFFSET, "the names need more memory than there is");
	struct pp_function function = {.name = pp_build_string(l->build, name),
	                               .filename = pp_build_string(l->build, file)};
	function.system_name = function.name;
	if (is_new)
		(void)pp_build_function(l->build, &function);
	return pp_legacy_symbolize(l, location, &line, 1);
}

static int read_name(struct pp_legacy *l, struct pp_intern *functions)
{
	struct pp_str text = l->line;
	uint64_t key[2] = {0, 0};
	if (!pp_take(&text, "0x") || !pp_take_hex(&text, &key[0]) || !pp_take_blanks(&text) || text.len == 0)
		return 0;
	uint32_t i = pp_intern_find(l->addresses, key, sizeof(key));
	return i == PP_NONE ? 0 : name_location(l, functions, &l->locations[i], text);
}

/* From the line at hand on. */
static int read_names(struct pp_legacy *l, int more)
{
	struct pp_intern *functions = pp_intern_new(l->arena);
	if (!functions)
		return pp_fail(l->err, PP_ENOMEM, PP_NO_OFFSET, "no memory for names");
	for (; more > 0; more = pp_legacy_next(l))
		if (read_name(l, functions) < 0)
			break;
	pp_intern_free(functions);
	l->has_addresses = false;
	return more == 0 ? 0 : -1;
}

int pp_legacy_java_symbols(struct pp_legacy *l)
{
	return read_names(l, pp_legacy_next(l));
}

/* ---- attributes ---- */

struct java {
	struct pp_legacy *l;
	bool is_heap, has_types;
};

static int name_values(struct java *j, struct pp_str unit)
{
	unit = pp_legacy_copy(j->l, unit);
	if (!unit.ptr)
		return -1;
	const char *const heap[][2] = {{"inuse_objects", "count"}, {"inuse_space", unit.ptr}};
	const char *const contention[][2] = {{"contentions", "count"}, {"delay", unit.ptr}};
	if (j->has_types)
		return pp_legacy_fail(j->l, PP_EFORMAT, "a second resolution");
	pp_legacy_types(j->l, j->is_heap ? heap : contention, 2);
	j->has_types = true;
	return 0;
}

static int read_attribute(struct java *j, struct pp_str name, struct pp_str text)
{
	struct pp_legacy *l = j->l;
	struct pp_profile *p = pp_build_profile(l->build);
	int64_t value;
	if (pp_str_eq(name, PP_LIT("format")))
		return pp_str_eq(text, PP_LIT("java")) ? 0 : pp_legacy_fail(l, PP_EFORMAT, "a format that is not java");
	if (pp_str_eq(name, PP_LIT("resolution")))
		return name_values(j, text);
	bool is_period = !j->is_heap && pp_str_eq(name, PP_LIT("sampling period"));
	if (!is_period && (j->is_heap || !pp_str_eq(name, PP_LIT("ms since reset"))))
		return pp_legacy_bad_line(l, "an attribute that is not known");
	if (!pp_parse_i64(text, &value))
		return pp_legacy_bad_line(l, "not an integer of 64 bits");
	if (is_period)
		pp_legacy_period(l, "contentions", "count", value);
	else if (__builtin_mul_overflow(value, INT64_C(1000000), &p->duration_ns))
		return pp_legacy_fail(l, PP_EOVERFLOW, "the duration does not fit 64 bits");
	return 0;
}

/* Goes on to the first line that is not an attribute: 1, or 0 at the end. */
static int read_attributes(struct java *j)
{
	struct pp_legacy *l = j->l;
	int more;
	while ((more = pp_legacy_next(l)) > 0) {
		const char *equals = memchr(l->line.ptr, '=', l->line.len);
		if (l->line.len == 0)
			continue;
		if (!equals)
			break;
		size_t n = (size_t)(equals - l->line.ptr);
		if (read_attribute(j, pp_legacy_trim((struct pp_str){l->line.ptr, n}),
		                   pp_legacy_trim((struct pp_str){equals + 1, l->line.len - n - 1})) < 0)
			return -1;
	}
	return more;
}

/* ---- stacks ---- */

/* "bytes objects @ addresses" or "delay contentions @ addresses": 1, or 0 for another kind of line. */
static int read_stack(struct java *j)
{
	struct pp_legacy *l = j->l;
	struct pp_str text = l->line;
	int64_t amount, count, block_bytes = 0, period = pp_build_profile(l->build)->period;
	if (!pp_take_number(&text, &amount) || !pp_take_blanks(&text) || !pp_take_number(&text, &count) ||
	    !pp_take_blanks(&text) || !pp_take(&text, "@"))
		return 0;
	if (!j->has_types)
		return pp_legacy_fail(l, PP_EFORMAT, "a stack before the attribute 'resolution'");
	if (j->is_heap && (count == 0 || (count == -1 && amount == INT64_MIN)))
		return pp_legacy_bad_line(l, "bytes of no object") < 0 ? -1 : 1;
	if (j->is_heap) {
		block_bytes = amount / count;
		if (pp_legacy_unsample(l, HEAP_RATE_BYTES, &count, &amount) < 0)
			return -1;
	} else if (period != 0 && (__builtin_mul_overflow(count, period, &count) ||
	                           __builtin_mul_overflow(amount, period, &amount))) {
		return pp_legacy_fail(l, PP_EOVERFLOW, "the waiting that this stands for does not fit 64 bits");
	}
	for (struct pp_str word; pp_take_blanks(&text) && pp_take_word(&text, &word); ) {
		uint64_t address;
		if (!pp_take(&word, "0x") || !pp_take_hex(&word, &address) || word.len > 0) {
			pp_legacy_forget(l);
			return pp_legacy_bad_line(l, "not an address of 64 bits") < 0 ? -1 : 1;
		}
		if (pp_legacy_frame(l, address, false) < 0)
			return -1;
	}
	const int64_t values[] = {count, amount};
	return pp_legacy_sample(l, values, j->is_heap ? &block_bytes : NULL) < 0 ? -1 : 1;
}

int pp_legacy_java(struct pp_legacy *l)
{
	struct java j = {.l = l};
	int more, result = 1;
	do /* the head, which recognition has seen */
		more = pp_legacy_next(l);
	while (more > 0 && l->line.len == 0);
	j.is_heap = pp_legacy_begins(l->line, "--- heapz");
	if (more > 0)
		more = read_attributes(&j);
	while (more > 0 && (l->line.len == 0 || (result = read_stack(&j)) > 0))
		more = pp_legacy_next(l);
	return more < 0 || result < 0 ? -1 : read_names(l, more);
}
