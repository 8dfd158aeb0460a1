#include "libpprof/folded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/samples.h"
#include "libpprof/samples_private.h"
#include "libpprof/tsv.h"
#include "libpprof/utf8.h"

/* What stands for the stack of samples without locations, and a frame that has that very name. */
#define NO_STACK "(no stack)"
#define NO_STACK_FRAME "\\x28no stack)"

/* ---- escaping. Names with backslashes (PHP, Windows) are common in folded stacks and other tools do
 * not escape them, so a backslash stands for itself unless it begins \xHH. ---- */

static bool is_hex_escape(const char *text, size_t n)
{
	return n >= 4 && text[0] == '\\' && text[1] == 'x' && pp_hex_byte(text + 2) >= 0;
}

/* Does the byte at `at` have to be escaped? Blanks are, where a reader trims. */
static bool must_escape(struct pp_str name, size_t at)
{
	unsigned char c = (unsigned char)name.ptr[at];
	if (c == ' ')
		return at == 0 || at == name.len - 1;
	if (c == '\\')
		return is_hex_escape(name.ptr + at, name.len - at);
	return c < 0x20 || c == 0x7f || c == ';' || (c >= 0x80 && pp_utf8_length(name.ptr + at, name.len - at) == 0);
}

static int append_name(struct pp_buf *out, struct pp_str name, struct pp_error *err)
{
	for (size_t at = 0; at < name.len;) {
		char escape[PP_ESCAPE_MAX];
		size_t n = must_escape(name, at) ? 0 : pp_utf8_length(name.ptr + at, name.len - at);
		if (n ? pp_buf_append(out, name.ptr + at, n, err) < 0
		      : pp_buf_append(out, escape, pp_hex_escape((unsigned char)name.ptr[at], escape), err) < 0)
			return -1;
		at += n ? n : 1;
	}
	return 0;
}

static int parse_name(char *text, size_t n, struct pp_text_frame *frame, struct pp_error *err)
{
	size_t out = 0;
	for (size_t at = 0; at < n;) {
		unsigned char c = (unsigned char)text[at];
		bool escape = is_hex_escape(text + at, n - at);
		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "a control byte");
		text[out++] = escape ? (char)pp_hex_byte(text + at + 2) : text[at];
		at += escape ? PP_ESCAPE_MAX : 1;
	}
	frame->name = (struct pp_str){text, out};
	return 0;
}

/* ---- reading ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Splits "stack count" at the last blanks; false when the last word is not a decimal integer. */
static bool split_count(char *line, size_t *n, int64_t *count)
{
	size_t end = *n, begin;
	while (end > 0 && is_blank(line[end - 1]))
		end--;
	for (begin = end; begin > 0 && !is_blank(line[begin - 1]);)
		begin--;
	struct pp_str word = {line + begin, end - begin};
	if (memchr(word.ptr, 'x', word.len) || !pp_parse_i64(word, count))
		return false;
	while (begin > 0 && is_blank(line[begin - 1]))
		begin--;
	*n = begin;
	return true;
}

struct reader {
	const struct pp_read_options *options;
	struct pp_error *err;
	struct pp_build *build;
	struct pp_text_frames frames;
	uint64_t line, offset;
};

static int read_line(struct reader *r, char *line, size_t n)
{
	struct pp_error why = PP_ERROR_INIT;
	int64_t count;
	uint32_t stack;

	for (; n > 0 && is_blank(*line); n--)
		line++;
	if (n == 0)
		return 0;
	if (!split_count(line, &n, &count))
		return pp_fail(r->err, PP_EFORMAT, r->offset, "line %" PRIu64 ": does not end in an integer count", r->line);
	if (n == sizeof(NO_STACK) - 1 && memcmp(line, NO_STACK, n) == 0)
		n = 0;
	else if (n == 0)
		return pp_fail(r->err, PP_EFORMAT, r->offset, "line %" PRIu64 ": a count without a stack", r->line);
	if (pp_text_stack(&r->frames, line, n, parse_name, &stack, &why) < 0)
		return pp_fail(r->err, why.code, r->offset, "line %" PRIu64 ": %s", r->line, why.text);
	(void)pp_build_sample(r->build, stack, 0, &count);
	return 0;
}

static int read_line_as_asked(struct reader *r, char *line, size_t n)
{
	if (read_line(r, line, n) == 0)
		return pp_build_error(r->build) ? -1 : 0;
	if (r->options->strictness == PP_STRICT || r->err->code != PP_EFORMAT)
		return -1;
	*r->err = (struct pp_error)PP_ERROR_INIT;
	return pp_build_note(r->build, r->offset, "a line that is not a stack and a count; dropped");
}

static int read_all(struct reader *r, struct pp_source *source)
{
	struct pp_lines *lines = pp_lines_new(source, &r->options->limits, r->err);
	char *line;
	size_t n;
	int more = lines ? 1 : -1;

	while (more > 0 && (more = pp_lines_next(lines, &line, &n, &r->offset, r->err)) > 0) {
		r->line = pp_lines_number(lines);
		if (read_line_as_asked(r, line, n) < 0)
			more = -1;
	}
	pp_lines_free(lines);
	return more;
}

struct pp_profile *pp_folded_read(struct pp_source *source, const struct pp_read_options *options,
                                  const char *type, const char *unit, struct pp_error *err)
{
	struct reader r = {.options = options, .err = err, .build = pp_build_new(&options->limits, err)};
	struct pp_profile *profile = NULL;

	if (!r.build)
		return NULL;
	pp_build_sample_type(r.build, (struct pp_value_type){pp_build_string(r.build, pp_str_of(type)),
	                                                     pp_build_string(r.build, pp_str_of(unit))});
	if (pp_text_frames_init(&r.frames, r.build, &options->limits, err) == 0 &&
	    (read_all(&r, source) == 0 || pp_build_error(r.build)))
		profile = pp_build_finish(r.build, err);
	pp_text_frames_release(&r.frames);
	pp_build_free(r.build);
	return profile;
}

/* ---- writing ---- */

/* A distinct stack: its names, root first. */
struct folded {
	const uint32_t *names;
	size_t n;
	int64_t sum;
	const struct pp_intern *texts; /* of the names, for the comparison */
};

struct writer {
	const struct pp_profile *p;
	struct pp_error *err;
	struct pp_arena *arena;
	struct pp_intern *texts;  /* escaped names of frames */
	struct pp_intern *stacks; /* lists of indices in texts */
	uint32_t *line_name;      /* by index in lines[]; then by location, for those without lines */
	uint32_t no_stack;        /* in texts */
	uint32_t *names;          /* scratch: one stack */
	size_t names_capacity;
	struct folded *rows;
	size_t rows_capacity;
};

static int no_memory(struct writer *w)
{
	return w->arena && pp_arena_over(w->arena)
	               ? pp_fail(w->err, PP_ELIMIT, PP_NO_OFFSET, "folded stacks need more memory than is allowed")
	               : pp_fail(w->err, PP_ENOMEM, PP_NO_OFFSET, "no memory for folded stacks");
}

static int intern_text(struct writer *w, struct pp_str text, uint32_t *name)
{
	if (pp_str_eq(text, PP_LIT(NO_STACK)))
		text = PP_LIT(NO_STACK_FRAME);
	*name = pp_intern_put(w->texts, text.ptr, text.len, NULL);
	return *name == PP_NONE ? no_memory(w) : 0;
}

static int name_frame(struct writer *w, uint32_t location, uint32_t line, uint32_t *name)
{
	struct pp_buf raw = PP_BUF_INIT, text = PP_BUF_INIT;
	int result = pp_view_frame(w->p, location, line, false, &raw, w->err);
	if (result == 0)
		result = append_name(&text, (struct pp_str){raw.bytes, raw.n}, w->err);
	if (result == 0)
		result = intern_text(w, (struct pp_str){text.bytes, text.n}, name);
	pp_buf_release(&raw);
	pp_buf_release(&text);
	return result;
}

/* A named function has one text, however many lines are in it. */
static int name_line(struct writer *w, uint32_t location, uint32_t line, uint32_t *function_name)
{
	const struct pp_line *l = &w->p->lines[w->p->locations[location].line_first + line];
	uint32_t *name = &w->line_name[l - w->p->lines];
	bool named = l->function != PP_NONE && pp_string(w->p, w->p->functions[l->function].name).len > 0;

	if (!named)
		return name_frame(w, location, line, name);
	if (function_name[l->function] == PP_NONE && name_frame(w, location, line, &function_name[l->function]) < 0)
		return -1;
	*name = function_name[l->function];
	return 0;
}

static int name_all(struct writer *w)
{
	size_t n = (size_t)w->p->lines_n + w->p->locations_n, functions_n = w->p->functions_n;
	uint32_t *function_name = pp_arena_alloc(w->arena, functions_n * sizeof(*function_name));
	w->line_name = pp_arena_alloc(w->arena, n * sizeof(*w->line_name));
	if (!function_name || !w->line_name)
		return no_memory(w);
	memset(function_name, 0xff, functions_n * sizeof(*function_name)); /* PP_NONE */
	for (uint32_t i = 0; i < w->p->locations_n; i++) {
		uint32_t lines_n = w->p->locations[i].lines_n;
		for (uint32_t j = 0; j < lines_n; j++)
			if (name_line(w, i, j, function_name) < 0)
				return -1;
		if (lines_n == 0 && name_frame(w, i, 0, &w->line_name[w->p->lines_n + i]) < 0)
			return -1;
	}
	w->no_stack = pp_intern_put(w->texts, NO_STACK, sizeof(NO_STACK) - 1, NULL);
	return w->no_stack == PP_NONE ? no_memory(w) : 0;
}

static int push_name(struct writer *w, size_t *n, uint32_t name)
{
	void *names = w->names;
	if (pp_arena_reserve(w->arena, &names, &w->names_capacity, *n + 1, sizeof(*w->names)) < 0)
		return no_memory(w);
	w->names = names;
	w->names[(*n)++] = name;
	return 0;
}

static int stack_names(struct writer *w, const struct pp_stack *stack, size_t *n)
{
	*n = 0;
	for (uint32_t i = stack->n; i-- > 0;) {
		uint32_t location = stack->locations[i];
		const struct pp_location *l = &w->p->locations[location];
		for (uint32_t j = l->lines_n; j-- > 0;)
			if (push_name(w, n, w->line_name[l->line_first + j]) < 0)
				return -1;
		if (l->lines_n == 0 && push_name(w, n, w->line_name[w->p->lines_n + location]) < 0)
			return -1;
	}
	return *n == 0 ? push_name(w, n, w->no_stack) : 0;
}

static int overflow(struct writer *w)
{
	return pp_fail(w->err, PP_EOVERFLOW, PP_NO_OFFSET, "the sum of a stack's values does not fit 64 bits");
}

/* Adds to the row of the stack's names. */
static int add_stack(struct writer *w, const struct pp_stack *stack, int64_t value)
{
	bool is_new;
	size_t n;
	void *rows = w->rows;
	if (pp_check_text_frames(w->p, stack, w->err) < 0 || stack_names(w, stack, &n) < 0)
		return -1;
	uint32_t row = pp_intern_put(w->stacks, w->names, n * sizeof(*w->names), &is_new);
	if (row == PP_NONE || pp_arena_reserve(w->arena, &rows, &w->rows_capacity, (size_t)row + 1, sizeof(*w->rows)) < 0)
		return no_memory(w);
	w->rows = rows;
	if (is_new)
		w->rows[row] = (struct folded){(const void *)pp_intern_at(w->stacks, row).ptr, n, 0, w->texts};
	return pp_add_i64(w->rows[row].sum, value, &w->rows[row].sum) ? 0 : overflow(w);
}

/* Each stack is named once, however many samples have it. */
static int add_all(struct writer *w, uint32_t column)
{
	uint32_t stacks_n = w->p->stacks_n;
	int64_t *sums = pp_arena_alloc(w->arena, stacks_n * sizeof(*sums));
	if (!sums)
		return no_memory(w);
	memset(sums, 0, stacks_n * sizeof(*sums));
	for (uint32_t s = 0; s < w->p->samples_n; s++) {
		int64_t *sum = &sums[w->p->sample_stack[s]];
		if (!pp_add_i64(*sum, pp_value(w->p, s, column), sum))
			return overflow(w);
	}
	for (uint32_t i = 0; i < stacks_n; i++)
		if (sums[i] != 0 && add_stack(w, &w->p->stacks[i], sums[i]) < 0)
			return -1;
	return 0;
}

/* A stack's text from a frame on, walked byte by byte without being put together. */
struct walk {
	const struct folded *row;
	size_t frame, at;
};

static int next_byte(struct walk *walk)
{
	if (walk->frame >= walk->row->n)
		return -1;
	struct pp_str text = pp_intern_at(walk->row->texts, walk->row->names[walk->frame]);
	if (walk->at < text.len)
		return (unsigned char)text.ptr[walk->at++];
	walk->frame++;
	walk->at = 0;
	return walk->frame < walk->row->n ? ';' : -1;
}

/* Bytewise order of the texts. */
static int compare_rows(const void *a, const void *b)
{
	struct walk x = {a, 0, 0}, y = {b, 0, 0};
	int c, d;
	while (x.frame < x.row->n && x.frame < y.row->n && x.row->names[x.frame] == y.row->names[x.frame])
		x.frame++;
	y.frame = x.frame;
	if (x.frame == x.row->n || y.frame == y.row->n) /* one is the begin of the other */
		return (x.row->n > y.row->n) - (x.row->n < y.row->n);
	do {
		c = next_byte(&x);
		d = next_byte(&y);
	} while (c == d && c >= 0);
	return (c > d) - (c < d);
}

static int write_row(const struct folded *row, struct pp_sink *sink, struct pp_error *err)
{
	for (size_t i = 0; i < row->n; i++) {
		struct pp_str text = pp_intern_at(row->texts, row->names[i]);
		if ((i > 0 && pp_sink_str(sink, ";", err) < 0) || pp_sink_bytes(sink, text.ptr, text.len, err) < 0)
			return -1;
	}
	return pp_sink_printf(sink, err, " %" PRId64 "\n", row->sum);
}

static int write_rows(struct writer *w, uint32_t column, struct pp_sink *sink)
{
	if (name_all(w) < 0 || add_all(w, column) < 0)
		return -1;
	size_t n = pp_intern_count(w->stacks);
	if (n > 1)
		qsort(w->rows, n, sizeof(*w->rows), compare_rows);
	for (size_t i = 0; i < n; i++)
		if (w->rows[i].sum != 0 && write_row(&w->rows[i], sink, w->err) < 0)
			return -1;
	return 0;
}

int pp_folded_write(const struct pp_profile *profile, uint32_t column, struct pp_sink *sink, struct pp_error *err)
{
	/* What is kept follows the profile, except for a long mapping name that many locations repeat. */
	const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct writer w = {.p = profile, .err = err, .arena = pp_arena_new(limits.model_bytes)};
	int result = -1;

	w.texts = w.arena ? pp_intern_new(w.arena) : NULL;
	w.stacks = w.arena ? pp_intern_new(w.arena) : NULL;
	if (!w.texts || !w.stacks)
		no_memory(&w);
	else
		result = write_rows(&w, column, sink);
	pp_intern_free(w.texts);
	pp_intern_free(w.stacks);
	pp_arena_free(w.arena);
	return result;
}
