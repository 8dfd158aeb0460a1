#include "cmd/test/standin/store.h"

#include "cmd/cli.h"
#include "cmd/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 32

/* The columns of the TSV and one line of it. */
struct table {
	struct pp_str names[COLUMNS_MAX], cells[COLUMNS_MAX];
	size_t columns, cells_n;
	const char *path;
	uint64_t line;
};

static struct pp_str keep(struct si_store *store, struct pp_str text)
{
	char *copy = pp_arena_copy(store->arena, text.ptr, text.len);
	return copy ? (struct pp_str){copy, text.len} : PP_LIT("");
}

static struct pp_str cell(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->columns && i < table->cells_n; i++)
		if (pp_str_eq(table->names[i], pp_str_of(name)))
			return table->cells[i];
	return PP_LIT("");
}

static bool complain(const struct table *table, const char *what)
{
	cli_error("'%s': line %llu: %s", table->path, (unsigned long long)table->line, what);
	return false;
}

/* Days since 1970-01-01 of a date of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month <= 2 ? year - 1 : year, era = y / 400, of_era = y - era * 400;
	int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool parse_time(struct pp_str text, int64_t *ms)
{
	int year, month, day, hour, minute, second, used = 0;

	if (sscanf(text.ptr, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &year, &month, &day, &hour, &minute, &second, &used) == 6 &&
	    (size_t)used == text.len) {
		*ms = (days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second) * 1000;
		return true;
	}
	return pp_parse_i64(text, ms);
}

struct pp_str si_label_of(const struct si_row *row, struct pp_str name)
{
	for (uint32_t i = 0; i < row->labels_n; i++)
		if (pp_str_eq(row->labels[i].name, name))
			return row->labels[i].value;
	return PP_LIT("");
}

struct pp_str si_sample_label(const struct pp_profile *profile, uint32_t sample, const char *key)
{
	const struct pp_label_list *list = pp_sample_labels(profile, sample);

	for (uint32_t i = 0; i < list->n; i++)
		if (list->labels[i].str && pp_str_eq(pp_string(profile, list->labels[i].key), pp_str_of(key)))
			return pp_string(profile, list->labels[i].str);
	return PP_LIT("");
}

/* ---- rows ---- */

static int by_name(const void *a, const void *b)
{
	return pp_str_cmp(((const struct si_label *)a)->name, ((const struct si_label *)b)->name);
}

/* Sets a label; one that is there is replaced. */
static void set_label(struct si_row *row, struct pp_str name, struct pp_str value)
{
	for (uint32_t i = 0; i < row->labels_n; i++)
		if (pp_str_eq(row->labels[i].name, name)) {
			row->labels[i].value = value;
			return;
		}
	row->labels[row->labels_n++] = (struct si_label){name, value};
}

static struct pp_str joined(struct si_store *store, const struct pp_str *parts, size_t n)
{
	char text[1024];
	size_t at = 0;

	for (size_t i = 0; i < n && at + parts[i].len + 1 < sizeof(text); i++) {
		if (i)
			text[at++] = ':';
		memcpy(text + at, parts[i].ptr, parts[i].len);
		at += parts[i].len;
	}
	return keep(store, (struct pp_str){text, at});
}

static bool is_label_column(struct pp_str name)
{
	return !pp_str_eq(name, PP_LIT("file")) && !pp_str_eq(name, PP_LIT("time")) && !pp_str_eq(name, PP_LIT("id")) &&
	       !pp_str_eq(name, PP_LIT("tenant"));
}

/* Whether a label of a sample becomes one of the series. */
static bool is_series_label(const struct pp_profile *p, const struct pp_label *label)
{
	struct pp_str key = pp_string(p, label->key);

	return label->str && !pp_str_eq(key, PP_LIT("span_id")) && !pp_str_eq(key, PP_LIT("trace_id"));
}

static bool fill_labels(struct si_store *store, struct si_row *row, const struct table *table, uint32_t list)
{
	const struct pp_profile *p = row->push->profile;
	const struct pp_value_type *value = &p->sample_types[row->column];
	const struct pp_label_list *own = &p->label_lists[list];
	struct pp_str parts[] = {cell(table, "__name__"), pp_string(p, value->type), pp_string(p, value->unit),
	                         pp_string(p, p->period_type.type), pp_string(p, p->period_type.unit)};

	row->labels = pp_arena_alloc(store->arena, (COLUMNS_MAX + own->n + 8) * sizeof(row->labels[0]));
	if (!row->labels)
		return false;
	row->type = joined(store, parts, PP_COUNT(parts));
	for (uint32_t i = 0; i < own->n; i++)
		if (is_series_label(p, &own->labels[i]))
			set_label(row, pp_string(p, own->labels[i].key), pp_string(p, own->labels[i].str));
	for (size_t i = 0; i < table->columns && i < table->cells_n; i++)
		if (is_label_column(table->names[i]) && table->cells[i].len)
			set_label(row, keep(store, table->names[i]), keep(store, table->cells[i]));
	set_label(row, PP_LIT("__profile_type__"), row->type);
	set_label(row, PP_LIT("__type__"), parts[1]);
	set_label(row, PP_LIT("__unit__"), parts[2]);
	set_label(row, PP_LIT("__period_type__"), parts[3]);
	set_label(row, PP_LIT("__period_unit__"), parts[4]);
	set_label(row, PP_LIT("__service_name__"), keep(store, cell(table, "service_name")));
	qsort(row->labels, row->labels_n, sizeof(row->labels[0]), by_name);
	return true;
}

static bool has_label(const struct pp_profile *p, const struct pp_label_list *list, const struct pp_label *label)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (is_series_label(p, &list->labels[i]) && pp_str_eq(pp_string(p, list->labels[i].key), pp_string(p, label->key)) &&
		    pp_str_eq(pp_string(p, list->labels[i].str), pp_string(p, label->str)))
			return true;
	return false;
}

static bool has_all(const struct pp_profile *p, const struct pp_label_list *list, const struct pp_label_list *of)
{
	for (uint32_t i = 0; i < of->n; i++)
		if (is_series_label(p, &of->labels[i]) && !has_label(p, list, &of->labels[i]))
			return false;
	return true;
}

/* Whether two lists of sample labels, in any order, make the same labels of a series. */
static bool same_series(const struct pp_profile *p, uint32_t a, uint32_t b)
{
	return a == b || (has_all(p, &p->label_lists[a], &p->label_lists[b]) && has_all(p, &p->label_lists[b], &p->label_lists[a]));
}

/* What a push drops: samples without a stack, with a negative value, or with nothing but zeros. */
static bool is_kept(const struct pp_profile *p, uint32_t sample)
{
	bool any = false;

	for (uint32_t c = 0; c < p->sample_types_n; c++) {
		if (pp_value(p, sample, c) < 0)
			return false;
		any |= pp_value(p, sample, c) != 0;
	}
	return any && pp_sample_stack(p, sample)->n > 0;
}

/* The rows of a push with the labels that this list of sample labels makes. */
static bool add_rows_of(struct si_store *store, const struct si_push *push, const struct table *table, uint32_t list)
{
	const struct pp_profile *p = push->profile;
	uint32_t *samples = pp_arena_alloc(store->arena, p->samples_n * sizeof(samples[0])), n = 0;

	if (!samples)
		return false;
	for (uint32_t s = 0; s < p->samples_n; s++)
		if (is_kept(p, s) && same_series(p, p->sample_labels[s], list))
			samples[n++] = s;
	for (uint32_t column = 0; n > 0 && column < p->sample_types_n; column++) {
		if (pp_arena_reserve(store->arena, (void **)&store->rows, &store->rows_capacity, store->rows_n + 1,
		                     sizeof(store->rows[0])) != 0)
			return false;
		struct si_row *row = &store->rows[store->rows_n++];
		*row = (struct si_row){.push = push, .column = column, .samples = samples, .samples_n = n};
		if (!fill_labels(store, row, table, list))
			return false;
	}
	return true;
}

static bool add_rows(struct si_store *store, const struct si_push *push, const struct table *table)
{
	for (uint32_t list = 0; list < push->profile->label_lists_n; list++) {
		bool first = true;
		for (uint32_t before = 0; before < list; before++)
			first &= !same_series(push->profile, before, list);
		if (first && !add_rows_of(store, push, table, list))
			return complain(table, "no memory");
	}
	return true;
}

/* ---- the file ---- */

/* The profile of a file of the folder that the TSV is in; read once. names[i] is the file of profiles[i]. */
static struct pp_profile *profile_of(struct si_store *store, const struct table *table, struct pp_str file, struct pp_str *names)
{
	static const struct input as_is;
	const char *slash = strrchr(table->path, '/');
	char path[4096];
	enum cli_status status;

	for (uint32_t i = 0; i < store->profiles_n; i++)
		if (pp_str_eq(names[i], file))
			return store->profiles[i];
	snprintf(path, sizeof(path), "%.*s%s", slash && file.ptr[0] != '/' ? (int)(slash - table->path + 1) : 0, table->path,
	         file.ptr);
	struct pp_profile *profile = input_load(&as_is, path, true, NULL, &status);
	if (profile) {
		names[store->profiles_n] = keep(store, file);
		store->profiles[store->profiles_n++] = profile;
	}
	return profile;
}

static bool add_push(struct si_store *store, const struct table *table, struct pp_str *names)
{
	struct si_push *push = &store->pushes[store->pushes_n];
	struct pp_str time = cell(table, "time"), id = cell(table, "id");
	char made[64];

	snprintf(made, sizeof(made), "5a5a5a5a-0000-4000-8000-%012u", store->pushes_n + 1);
	push->profile = profile_of(store, table, cell(table, "file"), names);
	if (!push->profile)
		return false;
	push->time_ms = push->profile->time_ns / 1000000;
	if (time.len && !parse_time(time, &push->time_ms))
		return complain(table, "the time is neither as 2026-03-11T14:05:00Z nor milliseconds");
	push->id = keep(store, id.len ? id : pp_str_of(made));
	push->tenant = keep(store, cell(table, "tenant"));
	store->pushes_n++;
	return add_rows(store, push, table);
}

static uint32_t lines_of(const char *text)
{
	uint32_t n = 1;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

bool si_store_read(struct si_store *store, const char *path)
{
	struct table table = {.path = path};
	char *text = NULL;
	size_t text_n = 0;

	*store = (struct si_store){.arena = pp_arena_new(UINT64_C(1) << 30)};
	if (input_text(path, (size_t)1 << 24, &text, &text_n) != CLI_OK)
		return false;
	uint32_t most = lines_of(text);
	store->pushes = calloc(most, sizeof(store->pushes[0]));
	store->profiles = calloc(most, sizeof(store->profiles[0]));
	struct pp_str *names = calloc(most, sizeof(names[0]));
	bool good = store->arena && store->pushes && store->profiles && names;
	for (char *line = text, *next; good && *line; line = next) {
		size_t n = strcspn(line, "\n");
		next = line + n + (line[n] == '\n');
		line[n] = '\0';
		if (++table.line == 1) {
			table.columns = pp_split_tabs(line, n, table.names, COLUMNS_MAX);
			good = table.columns <= COLUMNS_MAX || complain(&table, "too many columns");
		} else if (n > 0) {
			table.cells_n = pp_split_tabs(line, n, table.cells, COLUMNS_MAX);
			good = table.cells_n <= table.columns ? add_push(store, &table, names)
			                                      : complain(&table, "more cells than columns");
		}
	}
	free(names);
	free(text);
	return good;
}

void si_store_release(struct si_store *store)
{
	for (uint32_t i = 0; i < store->profiles_n; i++)
		pp_profile_free(store->profiles[i]);
	free(store->profiles);
	free(store->pushes);
	pp_arena_free(store->arena);
}
