/* The comments in Go's profiles in text. Below a stack stand lines
 *   # labels: {"key":"value"}
 *   #	0xADDRESS	function+0xOFFSET	file:line
 * the addresses being those of the stack minus 1. */
#include <stdlib.h>
#include <string.h>

#include "libpprof/json.h"
#include "libpprof/legacy.h"

static int no_memory(struct pp_legacy *l)
{
	return pp_fail(l->err, pp_arena_over(l->arena) ? PP_ELIMIT : PP_ENOMEM, PP_NO_OFFSET,
	               "the names need more memory than there is");
}

/* ---- names ---- */

static int start_comments(struct pp_legacy *l)
{
	if (l->comments)
		return 0;
	struct pp_legacy_comments *c = pp_arena_alloc(l->arena, sizeof(*c));
	if (!c)
		return no_memory(l);
	*c = (struct pp_legacy_comments){.addresses = pp_intern_new(l->arena), .functions = pp_intern_new(l->arena)};
	l->comments = c;
	return c->addresses && c->functions ? 0 : no_memory(l);
}

/* The text up to the next tab; *text goes on behind the tabs there. */
static struct pp_str next_cell(struct pp_str *text)
{
	const char *tab = text->len ? memchr(text->ptr, '\t', text->len) : NULL;
	struct pp_str cell = {text->ptr, tab ? (size_t)(tab - text->ptr) : text->len};
	*text = (struct pp_str){text->ptr + cell.len, text->len - cell.len};
	pp_take_blanks(text);
	return cell;
}

/* Cuts off what stands behind the last mark; false when there is no mark. */
static bool cut_at(struct pp_str *text, char mark, struct pp_str *rest)
{
	size_t n = text->len;
	while (n > 0 && text->ptr[n - 1] != mark)
		n--;
	if (n == 0)
		return false;
	*rest = (struct pp_str){text->ptr + n, text->len - n};
	text->len = n - 1;
	return true;
}

static int add_name(struct pp_legacy *l, uint64_t address, struct pp_str name, struct pp_str file, int64_t number)
{
	struct pp_legacy_comments *c = l->comments;
	struct pp_function function = {.name = pp_build_string(l->build, name),
	                               .filename = pp_build_string(l->build, file)};
	const uint32_t key[2] = {function.name, function.filename};
	bool is_new;
	uint32_t i = pp_intern_put(c->addresses, &address, sizeof(address), &is_new);
	if (i == PP_NONE)
		return no_memory(l);
	if (!is_new)
		return 0;
	struct pp_line line = {.function = pp_intern_put(c->functions, key, sizeof(key), &is_new), .line = number};
	if (line.function == PP_NONE)
		return no_memory(l);
	function.system_name = function.name;
	if (is_new)
		(void)pp_build_function(l->build, &function);
	if (pp_legacy_room(l, &c->lines, &c->lines_room, (size_t)i + 1, sizeof(*c->lines)) < 0)
		return -1;
	c->lines[i] = line;
	return 0;
}

/* Anything else is a comment like any. */
static int read_name(struct pp_legacy *l, struct pp_str text)
{
	struct pp_str name, offset, number;
	uint64_t address;
	int64_t line;
	if (!pp_take_hex(&text, &address) || !pp_take_blanks(&text))
		return 0;
	name = next_cell(&text);
	if (!cut_at(&name, '+', &offset) || name.len == 0 || !pp_legacy_begins(offset, "0x"))
		return 0;
	struct pp_str file = text;
	if (!cut_at(&file, ':', &number) || !pp_take_number(&number, &line) || number.len > 0)
		return 0;
	return start_comments(l) < 0 ? -1 : add_name(l, address, name, file, line);
}

static int name_locations(struct pp_legacy *l)
{
	for (uint32_t i = 0; i < pp_intern_count(l->addresses); i++) {
		struct pp_legacy_location *location = &l->locations[i];
		if (location->lines_n > 0)
			continue;
		uint32_t at = pp_intern_find(l->comments->addresses, &location->address, sizeof(location->address));
		if (at != PP_NONE && pp_legacy_symbolize(l, location, &l->comments->lines[at], 1) < 0)
			return -1;
	}
	return 0;
}

/* What Go left out of the comments of a stack. */
static int name_hidden(struct pp_legacy *l, uint32_t at, struct pp_str name)
{
	struct pp_function function = {.name = pp_build_string(l->build, name)};
	const uint32_t key[2] = {function.name, 0};
	bool is_new;
	if (l->locations[at].lines_n > 0)
		return 0;
	l->locations[at].is_hidden = true;
	struct pp_line line = {.function = pp_intern_put(l->comments->functions, key, sizeof(key), &is_new)};
	if (line.function == PP_NONE)
		return no_memory(l);
	function.system_name = function.name;
	if (is_new)
		(void)pp_build_function(l->build, &function);
	return pp_legacy_symbolize(l, &l->locations[at], &line, 1);
}

static bool is_named(const struct pp_legacy *l, uint32_t at)
{
	return l->locations[at].lines_n > 0 && !l->locations[at].is_hidden;
}

/* Go names no functions of its runtime at the leaf, as long as it names others, and never the one that every
 * goroutine begins in. */
static int name_hidden_of(struct pp_legacy *l, const struct pp_legacy_sample *sample)
{
	const uint32_t *stack = l->stacks + sample->first;
	uint32_t first = 0, end = sample->n;
	while (first < end && !is_named(l, stack[first]))
		first++;
	while (end > first && !is_named(l, stack[end - 1]))
		end--;
	if (first == end)
		return 0;
	for (uint32_t i = 0; i < first; i++)
		if (name_hidden(l, stack[i], PP_LIT("runtime.?")) < 0)
			return -1;
	for (uint32_t i = end; i < sample->n; i++)
		if (name_hidden(l, stack[i], PP_LIT("runtime.goexit")) < 0)
			return -1;
	return 0;
}

int pp_legacy_apply_comments(struct pp_legacy *l)
{
	if (name_locations(l) < 0)
		return -1;
	for (size_t i = 0; i < l->samples_n; i++)
		if (name_hidden_of(l, &l->samples[i]) < 0)
			return -1;
	return 0;
}

/* ---- labels ---- */

#define LABELS_MAX 1000

struct text_label {
	const char *key;
	struct pp_str value;
};

static int compare_labels(const void *a, const void *b)
{
	const struct text_label *x = a, *y = b;
	return strcmp(x->key, y->key);
}

static void add_labels(struct pp_legacy *l, struct text_label *texts, uint32_t n)
{
	struct pp_label labels[LABELS_MAX];
	if (n == 0)
		return;
	qsort(texts, n, sizeof(*texts), compare_labels);
	for (uint32_t i = 0; i < n; i++)
		labels[i] = (struct pp_label){.key = pp_build_string(l->build, pp_str_of(texts[i].key)),
		                              .str = pp_build_string(l->build, texts[i].value)};
	l->samples[l->samples_n - 1].label_list = pp_build_label_list(l->build, labels, n);
}

/* Labels of the last sample. What is no JSON object of texts is a comment like any. */
static void read_labels(struct pp_legacy *l, struct pp_str text)
{
	struct pp_error ignored = PP_ERROR_INIT;
	struct pp_json *json = pp_json_parse(text, &ignored);
	const struct pp_json_value *object = json ? pp_json_root(json) : NULL, *value;
	struct text_label labels[LABELS_MAX];
	const char *key = NULL;
	uint32_t n = 0;
	while (n < LABELS_MAX && (value = pp_json_next(object, &key)))
		if (pp_json_kind_of(value) == PP_JSON_STRING)
			labels[n++] = (struct text_label){key, pp_json_text(value)};
	add_labels(l, labels, n);
	pp_json_free(json);
}

int pp_legacy_skip(struct pp_legacy *l)
{
	struct pp_str text = l->line;
	if (!pp_legacy_blank(l))
		return 0;
	if (pp_take(&text, "# labels: ")) {
		if (l->samples_n > 0)
			read_labels(l, text);
	} else if (pp_take(&text, "#\t0x") && read_name(l, text) < 0) {
		return -1;
	}
	return 1;
}
