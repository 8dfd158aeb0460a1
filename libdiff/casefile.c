#include "libdiff/casefile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libdiff/utctime.h"

#define COLUMNS_MAX 4096
#define ROWS_MAX 65536  /* of symptoms.tsv and changed.txt */
#define UNIQUE_MAX 4096 /* of rows that are compared with each other */
#define ARENA_BYTES ((uint64_t)256 << 20)

/* The rows of a text, one at a time, unescaped. */
struct rows {
	struct pp_memory_source memory;
	struct pp_lines *lines;
	struct pp_arena *arena;
	struct pp_str fields[COLUMNS_MAX];
	size_t n;
	uint32_t line;
};

static int rows_open(struct rows *rows, struct pp_str text, struct pp_arena *arena, struct pp_error *err)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;

	limits.record_bytes = PD_CASE_MAX_BYTES;
	pp_memory_source_init(&rows->memory, text.ptr, text.len);
	rows->arena = arena;
	rows->lines = pp_lines_new(&rows->memory.source, &limits, err);
	return rows->lines ? 0 : -1;
}

static int bad_line(uint32_t line, struct pp_error *err, const char *what)
{
	return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: %s", line, what);
}

/* The next row that is neither empty nor a comment: 1, 0 at the end, -1. Fields live in the arena. */
static int rows_next(struct rows *rows, struct pp_error *err)
{
	char *line;
	size_t n;
	uint64_t offset;
	int got;

	while ((got = pp_lines_next(rows->lines, &line, &n, &offset, err)) == 1) {
		rows->line = (uint32_t)pp_lines_number(rows->lines);
		if (n > 0 && line[n - 1] == '\r')
			line[--n] = '\0';
		if (n == 0 || line[0] == '#')
			continue;
		char *copy = pp_arena_copy(rows->arena, line, n);
		if (!copy)
			return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
		rows->n = pp_split_tabs(copy, n, rows->fields, COLUMNS_MAX);
		if (rows->n > COLUMNS_MAX)
			return bad_line(rows->line, err, "too many columns");
		for (size_t i = 0; i < rows->n; i++) {
			struct pp_str *field = &rows->fields[i];
			char *bytes = copy + (field->ptr - copy);
			struct pp_error why = PP_ERROR_INIT;
			int64_t length = pp_unescape(bytes, field->len, 0, &why);
			if (length < 0)
				return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: column %zu: %s", rows->line, i + 1,
				               why.text);
			if (memchr(bytes, '\0', (size_t)length))
				return bad_line(rows->line, err, "a NUL byte");
			bytes[length] = '\0';
			field->len = (size_t)length;
		}
		return 1;
	}
	return got;
}

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
}

/* Makes room for one more element, up to max. */
static int grow(struct pp_arena *arena, void **array, size_t *capacity, size_t n, size_t bytes, size_t max,
                struct pp_error *err)
{
	if (n >= max)
		return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "more than %zu rows", max);
	return pp_arena_reserve(arena, array, capacity, n + 1, bytes) ? no_memory(err) : 0;
}

/* An object of n bytes whose first member is the arena it lives in; NULL without memory. */
static void *object_new(size_t n, struct pp_error *err)
{
	struct pp_arena *arena = pp_arena_new(ARENA_BYTES);
	void *object = arena ? pp_arena_alloc(arena, n) : NULL;

	if (!object) {
		no_memory(err);
		pp_arena_free(arena);
		return NULL;
	}
	memset(object, 0, n);
	memcpy(object, &arena, sizeof(arena));
	return object;
}

/* Adds one row to an object; state is what the reader of a kind of file keeps between rows. */
typedef int (*row_fn)(void *object, const struct rows *rows, void *state, struct pp_error *err);

/* A new object of n bytes, with all rows of the text added; NULL with *err. */
static void *parse_rows(struct pp_str text, size_t n, row_fn add, void *state, struct pp_error *err)
{
	void *object = object_new(n, err);
	struct rows *rows = calloc(1, sizeof(*rows));
	struct pp_arena *arena = NULL;
	int got = -1;

	if (object)
		memcpy(&arena, object, sizeof(arena));
	if (!object || !rows)
		no_memory(err);
	else if (rows_open(rows, text, arena, err) == 0)
		while ((got = rows_next(rows, err)) == 1 && add(object, rows, state, err) == 0)
			;
	if (rows)
		pp_lines_free(rows->lines);
	free(rows);
	if (got == 0)
		return object;
	pp_arena_free(arena);
	return NULL;
}

/* ---- key, value ---- */

static bool is_key(struct pp_str text)
{
	if (text.len == 0)
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_.-", text.ptr[i]))
			return false;
	return true;
}

/* state: the capacity of the array. */
static int add_fact(void *object, const struct rows *rows, void *state, struct pp_error *err)
{
	struct pd_facts *facts = object;

	if (rows->n != 2)
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: expected key and value, found %zu column%s", rows->line,
		               rows->n, rows->n == 1 ? "" : "s");
	if (!is_key(rows->fields[0]))
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: not a key: '%s'", rows->line, rows->fields[0].ptr);
	for (size_t i = 0; i < facts->facts_n; i++)
		if (strcmp(facts->facts[i].key, rows->fields[0].ptr) == 0)
			return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: '%s' was given on line %u already", rows->line,
			               rows->fields[0].ptr, facts->facts[i].line);
	if (grow(facts->arena, (void **)&facts->facts, state, facts->facts_n, sizeof(*facts->facts), UNIQUE_MAX, err))
		return -1;
	facts->facts[facts->facts_n++] = (struct pd_fact){rows->fields[0].ptr, rows->fields[1].ptr, rows->line};
	return 0;
}

struct pd_facts *pd_facts_parse(struct pp_str text, struct pp_error *err)
{
	size_t capacity = 0;

	return parse_rows(text, sizeof(struct pd_facts), add_fact, &capacity, err);
}

void pd_facts_free(struct pd_facts *facts)
{
	if (facts)
		pp_arena_free(facts->arena);
}

static const struct pd_fact *find_fact(const struct pd_facts *facts, const char *key)
{
	for (size_t i = 0; facts && i < facts->facts_n; i++)
		if (strcmp(facts->facts[i].key, key) == 0)
			return &facts->facts[i];
	return NULL;
}

const char *pd_facts_get(const struct pd_facts *facts, const char *key)
{
	const struct pd_fact *fact = find_fact(facts, key);

	return fact && fact->value[0] ? fact->value : NULL;
}

uint32_t pd_facts_line(const struct pd_facts *facts, const char *key)
{
	const struct pd_fact *fact = find_fact(facts, key);

	return fact ? fact->line : 0;
}

int pd_facts_adopt(struct pd_facts *facts, const struct pd_facts *from, const char *key, struct pp_error *err)
{
	const struct pd_fact *fact = find_fact(from, key);

	if (!fact || find_fact(facts, key))
		return 0;
	struct pd_fact *all = pp_arena_alloc(facts->arena, (facts->facts_n + 1) * sizeof(*all));
	struct pd_fact added = {pp_arena_copy(facts->arena, fact->key, strlen(fact->key)),
	                        pp_arena_copy(facts->arena, fact->value, strlen(fact->value)), fact->line};
	if (!all || !added.key || !added.value)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	if (facts->facts_n > 0)
		memcpy(all, facts->facts, facts->facts_n * sizeof(*all));
	all[facts->facts_n++] = added;
	facts->facts = all;
	return 0;
}

int pd_facts_window(const struct pd_facts *facts, const char *name, struct pd_window *window, struct pp_error *err)
{
	static const char *const ends[] = {"from", "to"};
	int64_t at[2] = {0, 0};
	const struct pd_fact *fact[2];

	*window = (struct pd_window){false, 0, 0};
	for (int i = 0; i < 2; i++) {
		char key[64];
		snprintf(key, sizeof(key), "%s_%s", name, ends[i]);
		fact[i] = find_fact(facts, key);
		if (fact[i] && !fact[i]->value[0])
			fact[i] = NULL;
		if (fact[i] && !pd_time_parse(fact[i]->value, &at[i]))
			return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: %s is not a time such as 2026-01-31T14:00:00Z: '%s'",
			               fact[i]->line, key, fact[i]->value);
	}
	if (!fact[0] && !fact[1])
		return 0;
	if (!fact[0] || !fact[1])
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: %s is given without %s_%s", fact[fact[0] ? 0 : 1]->line,
		               fact[fact[0] ? 0 : 1]->key, name, ends[fact[0] ? 1 : 0]);
	if (at[0] >= at[1])
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: %s is not before %s", fact[0]->line, fact[0]->key,
		               fact[1]->key);
	*window = (struct pd_window){true, at[0], at[1]};
	return 0;
}

/* ---- load.tsv ---- */

/* Which columns of load.tsv are what; -1: not there. */
struct load_columns {
	int side, pod, version, window, total;
	size_t n;
	bool read;       /* the header row was */
	size_t capacity; /* of the rows */
};

static int load_header(struct pd_load *load, const struct rows *rows, struct load_columns *columns, struct pp_error *err)
{
	*columns = (struct load_columns){-1, -1, -1, -1, -1, rows->n, true, 0};
	for (size_t i = 0; i < rows->n; i++) {
		const char *name = rows->fields[i].ptr;
		int *known = strcmp(name, "side") == 0      ? &columns->side
		             : strcmp(name, "pod") == 0      ? &columns->pod
		             : strcmp(name, "version") == 0  ? &columns->version
		             : strcmp(name, "window_s") == 0 ? &columns->window
		                                             : NULL;
		for (size_t k = 0; k < i; k++)
			if (strcmp(rows->fields[k].ptr, name) == 0)
				return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: two columns are named '%s'", rows->line, name);
		if (!name[0])
			return bad_line(rows->line, err, "a column without a name");
		if (columns->total >= 0 && known)
			return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: column '%s' stands after the denominator", rows->line,
			               name);
		if (known)
			*known = (int)i;
		else if (columns->total < 0)
			columns->total = (int)i;
	}
	if (columns->side < 0)
		return bad_line(rows->line, err, "no column 'side'");
	if (columns->total < 0)
		return bad_line(rows->line, err, "no column with a denominator, such as 'requests'");
	load->denominator = rows->fields[columns->total].ptr;
	load->values_n = rows->n - (size_t)columns->total - 1;
	load->values = pp_arena_alloc(load->arena, load->values_n * sizeof(*load->values));
	if (!load->values)
		return no_memory(err);
	for (size_t i = 0; i < load->values_n; i++)
		load->values[i] = rows->fields[(size_t)columns->total + 1 + i].ptr;
	return 0;
}

bool pd_amount_parse(struct pp_str text, double *value)
{
	double v = 0, unit = 1;
	size_t i = 0, seen = 0;

	if (text.len > 40)
		return false;
	for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++, seen++)
		v = v * 10 + (text.ptr[i] - '0');
	if (i < text.len && text.ptr[i] == '.')
		for (i++; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++, seen++)
			v = v * 10 + (text.ptr[i] - '0'), unit *= 10;
	*value = v / unit;
	return seen > 0 && i == text.len;
}

static int load_number(const struct rows *rows, size_t column, double *value, struct pp_error *err)
{
	if (pd_amount_parse(rows->fields[column], value))
		return 0;
	return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: column %zu: not a number: '%s'", rows->line, column + 1,
	               rows->fields[column].ptr);
}

static int add_load_row(struct pd_load *load, const struct rows *rows, struct load_columns *columns, struct pp_error *err)
{
	static const char *const sides[] = {"baseline", "incident", "control"};
	struct pd_load_row row = {.pod = "", .version = "", .line = rows->line};
	double *by_value = pp_arena_alloc(load->arena, load->values_n * sizeof(*by_value));
	size_t side = 0;

	if (!by_value)
		return no_memory(err);
	if (rows->n != columns->n)
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: %zu columns, the header has %zu", rows->line, rows->n,
		               columns->n);
	while (side < PP_COUNT(sides) && strcmp(sides[side], rows->fields[columns->side].ptr) != 0)
		side++;
	if (side == PP_COUNT(sides))
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: side is not baseline, incident or control: '%s'",
		               rows->line, rows->fields[columns->side].ptr);
	row.side = (enum pd_load_side)side;
	if (columns->pod >= 0)
		row.pod = rows->fields[columns->pod].ptr;
	if (columns->version >= 0)
		row.version = rows->fields[columns->version].ptr;
	if (columns->window >= 0 && load_number(rows, (size_t)columns->window, &row.window_s, err))
		return -1;
	if (load_number(rows, (size_t)columns->total, &row.total, err))
		return -1;
	for (size_t i = 0; i < load->values_n; i++)
		if (load_number(rows, (size_t)columns->total + 1 + i, &by_value[i], err))
			return -1;
	row.by_value = by_value;
	for (size_t i = 0; i < load->rows_n; i++)
		if (load->rows[i].side == row.side && strcmp(load->rows[i].pod, row.pod) == 0 && row.pod[0])
			return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: %s %s was given on line %u already", rows->line,
			               sides[side], row.pod, load->rows[i].line);
	if (grow(load->arena, (void **)&load->rows, &columns->capacity, load->rows_n, sizeof(*load->rows), UNIQUE_MAX, err))
		return -1;
	load->rows[load->rows_n++] = row;
	return 0;
}

static int add_load(void *object, const struct rows *rows, void *state, struct pp_error *err)
{
	struct load_columns *columns = state;

	return columns->read ? add_load_row(object, rows, columns, err) : load_header(object, rows, columns, err);
}

struct pd_load *pd_load_parse(struct pp_str text, struct pp_error *err)
{
	struct load_columns columns = {.read = false};
	struct pd_load *load = parse_rows(text, sizeof(*load), add_load, &columns, err);

	if (!load || columns.read)
		return load;
	pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "no header row");
	pd_load_free(load);
	return NULL;
}

void pd_load_free(struct pd_load *load)
{
	if (load)
		pp_arena_free(load->arena);
}

/* Whether a file name is that of a pod: the pod's name, and then nothing or a sign that ends a word. */
static bool begins_with_pod(const char *file_name, const char *pod)
{
	size_t n = strlen(pod);

	return n > 0 && strncmp(file_name, pod, n) == 0 && (!file_name[n] || strchr("._-@+ ", file_name[n]));
}

const struct pd_load_row *pd_load_find(const struct pd_load *load, enum pd_load_side side, const char *file_name,
                                       size_t files_n)
{
	const struct pd_load_row *best = NULL, *nameless = NULL;
	size_t nameless_n = 0;

	for (size_t i = 0; load && i < load->rows_n; i++) {
		const struct pd_load_row *row = &load->rows[i];
		if (row->side != side)
			continue;
		if (!row->pod[0])
			nameless = row, nameless_n++;
		else if (begins_with_pod(file_name, row->pod) && (!best || strlen(row->pod) > strlen(best->pod)))
			best = row;
	}
	if (!best && nameless_n == 1 && files_n == 1)
		return nameless;
	return best;
}

/* ---- symptoms.tsv ---- */

struct symptom_rows {
	bool any;        /* a row was read: the next is no header */
	size_t capacity;
};

static int add_symptom(void *object, const struct rows *rows, void *state, struct pp_error *err)
{
	static const char *const bearings[] = {"supports", "contradicts", "context"};
	struct pd_symptoms *symptoms = object;
	struct symptom_rows *read = state;
	size_t bearing = 0;
	bool header = !read->any && rows->n >= 2 && strcmp(rows->fields[0].ptr, "source") == 0 &&
	              strcmp(rows->fields[1].ptr, "claim") == 0;

	read->any = true;
	if (header)
		return 0;
	if (rows->n < 3 || rows->n > 4)
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: expected source, claim, supports or contradicts, link; "
		               "found %zu column%s", rows->line, rows->n, rows->n == 1 ? "" : "s");
	while (bearing < PP_COUNT(bearings) && strcmp(bearings[bearing], rows->fields[2].ptr) != 0)
		bearing++;
	if (bearing == PP_COUNT(bearings))
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: not supports, contradicts or context: '%s'", rows->line,
		               rows->fields[2].ptr);
	if (!rows->fields[0].len || !rows->fields[1].len)
		return bad_line(rows->line, err, "source and claim must not be empty");
	if (grow(symptoms->arena, (void **)&symptoms->rows, &read->capacity, symptoms->rows_n, sizeof(*symptoms->rows), ROWS_MAX,
	         err))
		return -1;
	symptoms->rows[symptoms->rows_n++] =
		(struct pd_symptom){rows->fields[0].ptr, rows->fields[1].ptr, rows->n > 3 ? rows->fields[3].ptr : "",
	                            (enum pd_bearing)bearing, rows->line};
	return 0;
}

struct pd_symptoms *pd_symptoms_parse(struct pp_str text, struct pp_error *err)
{
	struct symptom_rows read = {.any = false};

	return parse_rows(text, sizeof(struct pd_symptoms), add_symptom, &read, err);
}

void pd_symptoms_free(struct pd_symptoms *symptoms)
{
	if (symptoms)
		pp_arena_free(symptoms->arena);
}

/* ---- changed.txt ---- */

/* state: the capacity of the array. */
static int add_changed(void *object, const struct rows *rows, void *state, struct pp_error *err)
{
	struct pd_changed *changed = object;

	if (rows->n != 1)
		return bad_line(rows->line, err, "more than one column");
	if (grow(changed->arena, (void **)&changed->names, state, changed->names_n, sizeof(*changed->names), ROWS_MAX, err))
		return -1;
	changed->names[changed->names_n++] = rows->fields[0].ptr;
	return 0;
}

struct pd_changed *pd_changed_parse(struct pp_str text, struct pp_error *err)
{
	size_t capacity = 0;

	return parse_rows(text, sizeof(struct pd_changed), add_changed, &capacity, err);
}

void pd_changed_free(struct pd_changed *changed)
{
	if (changed)
		pp_arena_free(changed->arena);
}

/* Whether long ends with short, from its start or after one of the signs. */
static bool ends_with(struct pp_str whole, struct pp_str part, const char *signs)
{
	return part.len > 0 && part.len <= whole.len && memcmp(whole.ptr + whole.len - part.len, part.ptr, part.len) == 0 &&
	       (part.len == whole.len || strchr(signs, whole.ptr[whole.len - part.len - 1]));
}

size_t pd_changed_find(const struct pd_changed *changed, struct pp_str name, struct pp_str file)
{
	for (size_t i = 0; changed && i < changed->names_n; i++) {
		struct pp_str entry = pp_str_of(changed->names[i]);
		if (ends_with(name, entry, "./:") || ends_with(file, entry, "/") || ends_with(entry, file, "/"))
			return i;
	}
	return SIZE_MAX;
}
