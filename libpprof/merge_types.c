#include "libpprof/merge_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct pp_merge_type type_of(const struct pp_profile *p, struct pp_value_type type)
{
	struct pp_merge_type result = {.name = pp_string(p, type.type), .unit = pp_string(p, type.unit)};

	result.family = pp_unit_find(result.unit, &result.factor);
	return result;
}

int pp_merge_compare_kinds(const struct pp_merge_type *a, const struct pp_merge_type *b)
{
	int order = pp_str_cmp(a->name, b->name);

	if (order)
		return order;
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return a->family == PP_UNIT_NONE ? pp_str_cmp(a->unit, b->unit) : 0;
}

static int compare_columns(const void *a, const void *b)
{
	const struct pp_merge_column *x = a, *y = b;
	int order = pp_merge_compare_kinds(&x->type, &y->type);

	return order ? order : (x->position > y->position) - (x->position < y->position);
}

/* Of two units of one kind, whether a is the one for the sum: the finer, among equals the one first by
 * bytes. */
static bool is_preferred(const struct pp_merge_type *a, const struct pp_merge_type *b)
{
	if (a->factor < b->factor || a->factor > b->factor)
		return a->factor < b->factor;
	return pp_str_cmp(a->unit, b->unit) < 0;
}

/* How many `to` one `from` is. Finer units divide coarser ones of their family, so it is whole. */
static int64_t ratio(const struct pp_merge_type *from, const struct pp_merge_type *to, struct pp_error *err)
{
	double r = from->factor / to->factor;

	if (r >= 9e18) {
		pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "%.40s in %.40s does not fit 64 bits", from->unit.ptr,
		        to->unit.ptr);
		return 0;
	}
	return (int64_t)llround(r);
}

static int keep(struct pp_merge *merge, struct pp_str *string, struct pp_error *err)
{
	uint32_t index = pp_merge_string(merge, *string, err);

	if (index == PP_NONE)
		return -1;
	*string = pp_intern_at(merge->strings, index);
	return 0;
}

static int keep_type(struct pp_merge *merge, struct pp_merge_type *to, const struct pp_merge_type *type,
                     struct pp_error *err)
{
	*to = *type;
	return keep(merge, &to->name, err) || keep(merge, &to->unit, err) ? -1 : 0;
}

/* ---- columns ---- */

static int start_columns(struct pp_merge *merge, const struct pp_merge_column *columns, uint32_t n, struct pp_error *err)
{
	merge->types = pp_arena_alloc(merge->arena, n * sizeof(*merge->types));
	merge->shown = pp_arena_alloc(merge->arena, n * sizeof(*merge->shown));
	if (!merge->types || !merge->shown)
		return pp_merge_fail_memory(merge, err);
	merge->types_n = n;
	for (uint32_t c = 0; c < n; c++) {
		merge->shown[columns[c].position] = c;
		if (keep_type(merge, &merge->types[c], &columns[c].type, err))
			return -1;
	}
	return 0;
}

/* Appends "name:unit" to a text that is cut when full. */
static size_t append_type(char *out, size_t out_n, size_t at, struct pp_str name, struct pp_str unit)
{
	const struct pp_str pieces[] = {at ? PP_LIT(", ") : PP_LIT(""), name, PP_LIT(":"), unit};

	for (size_t i = 0; i < PP_COUNT(pieces); i++) {
		size_t n = pieces[i].len < out_n - at ? pieces[i].len : out_n - at;

		if (n)
			memcpy(out + at, pieces[i].ptr, n);
		at += n;
	}
	return at;
}

static int refuse_columns(const struct pp_merge *merge, const struct pp_profile *profile, struct pp_error *err)
{
	char raw[2][130], text[2][160];
	size_t n[2] = {0, 0};

	for (uint32_t i = 0; i < merge->types_n; i++) {
		const struct pp_merge_type *type = &merge->types[merge->shown[i]];
		n[0] = append_type(raw[0], sizeof(raw[0]), n[0], type->name, type->unit);
	}
	for (uint32_t i = 0; i < profile->sample_types_n; i++) {
		struct pp_value_type type = profile->sample_types[i];
		n[1] = append_type(raw[1], sizeof(raw[1]), n[1], pp_string(profile, type.type),
		                   pp_string(profile, type.unit));
	}
	for (int i = 0; i < 2; i++)
		pp_printable(text[i], sizeof(text[i]), n[i] ? raw[i] : "none", n[i] ? n[i] : 4);
	return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET, "sample types differ: %s; others have %s", text[1], text[0]);
}

static int rescale_column(struct pp_merge *merge, uint32_t column, int64_t scale, struct pp_error *err)
{
	if (scale == 1)
		return 0;
	for (uint32_t s = 0; s < pp_intern_count(merge->samples); s++) {
		int64_t *value = &merge->values[(size_t)s * merge->types_n + column];

		if (__builtin_mul_overflow(*value, scale, value))
			return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "a value does not fit 64 bits in a finer unit");
	}
	return 0;
}

/* Makes the unit of one kind that both have the finer one. *scale is for the new values. */
static int join_unit(struct pp_merge *merge, struct pp_merge_type *sum, const struct pp_merge_type *type,
                     int64_t *scale, int64_t *rescale, struct pp_error *err)
{
	bool finer = is_preferred(type, sum);

	*scale = *rescale = 1;
	*(finer ? rescale : scale) = finer ? ratio(sum, type, err) : ratio(type, sum, err);
	if (err->code)
		return -1;
	return finer ? keep_type(merge, sum, type, err) : 0;
}

static int join_columns(struct pp_merge *merge, const struct pp_merge_column *sorted, struct pp_merge_columns *columns,
                        struct pp_error *err)
{
	for (uint32_t c = 0; c < merge->types_n; c++) {
		int64_t rescale;

		columns->source[c] = sorted[c].position;
		if (join_unit(merge, &merge->types[c], &sorted[c].type, &columns->scale[c], &rescale, err) ||
		    rescale_column(merge, c, rescale, err))
			return -1;
	}
	return 0;
}

/* Keeps the smaller of two orders in which columns are shown. shown is scratch. */
static void join_order(struct pp_merge *merge, const struct pp_merge_column *sorted, uint32_t *shown)
{
	uint32_t i = 0;

	for (uint32_t c = 0; c < merge->types_n; c++)
		shown[sorted[c].position] = c;
	while (i < merge->types_n && shown[i] == merge->shown[i])
		i++;
	if (i < merge->types_n && shown[i] < merge->shown[i])
		memcpy(merge->shown, shown, merge->types_n * sizeof(*shown));
}

static bool same_kinds(const struct pp_merge *merge, const struct pp_merge_column *sorted, uint32_t n)
{
	if (n != merge->types_n)
		return false;
	for (uint32_t c = 0; c < n; c++)
		if (pp_merge_compare_kinds(&sorted[c].type, &merge->types[c]))
			return false;
	return true;
}

/* ---- period ---- */

static int larger_period(struct pp_merge *merge, int64_t period, int64_t scale, int64_t rescale, struct pp_error *err)
{
	if (__builtin_mul_overflow(merge->period, rescale, &merge->period) ||
	    __builtin_mul_overflow(period, scale, &period))
		return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the period does not fit 64 bits in a finer unit");
	if (!merge->has_period || period > merge->period)
		merge->period = period;
	merge->has_period = true;
	return 0;
}

static int join_period(struct pp_merge *merge, const struct pp_profile *profile, struct pp_error *err)
{
	struct pp_merge_type type = type_of(profile, profile->period_type);
	int64_t scale = 1, rescale = 1;

	if (!type.name.len && !type.unit.len) {
		if (!merge->has_bare_period || profile->period > merge->bare_period)
			merge->bare_period = profile->period;
		merge->has_bare_period = true;
		return 0;
	}
	if (!merge->has_period) {
		if (keep_type(merge, &merge->period_type, &type, err))
			return -1;
	} else if (pp_merge_compare_kinds(&merge->period_type, &type)) {
		char raw[2][60], text[2][90];

		pp_printable(text[0], sizeof(text[0]), raw[0],
		             append_type(raw[0], sizeof(raw[0]), 0, type.name, type.unit));
		pp_printable(text[1], sizeof(text[1]), raw[1],
		             append_type(raw[1], sizeof(raw[1]), 0, merge->period_type.name, merge->period_type.unit));
		return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET, "period types differ: %s; others have %s", text[0],
		               text[1]);
	} else if (join_unit(merge, &merge->period_type, &type, &scale, &rescale, err)) {
		return -1;
	}
	return larger_period(merge, profile->period, scale, rescale, err);
}

/* ---- both ---- */

void pp_merge_columns_release(struct pp_merge_columns *columns)
{
	free(columns->source);
	free(columns->scale);
}

int pp_merge_join_types(struct pp_merge *merge, const struct pp_profile *profile,
                        struct pp_merge_columns *columns, struct pp_error *err)
{
	uint32_t n = profile->sample_types_n;
	size_t room = (size_t)n + 1; /* so that no allocation is of nothing */
	struct pp_merge_column *sorted = calloc(room, sizeof(*sorted));
	uint32_t *shown = calloc(room, sizeof(*shown));
	int result = -1;

	columns->source = calloc(room, sizeof(*columns->source));
	columns->scale = calloc(room, sizeof(*columns->scale));
	if (!sorted || !shown || !columns->source || !columns->scale) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
		goto done;
	}
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = (struct pp_merge_column){type_of(profile, profile->sample_types[i]), i};
	qsort(sorted, n, sizeof(*sorted), compare_columns);

	if (!merge->profiles_n && start_columns(merge, sorted, n, err))
		goto done;
	if (merge->takes_common) {
		if (pp_merge_note_order(merge, sorted, n, err))
			goto done;
		pp_merge_keep_common(merge, sorted, &n);
		if (n == 0) {
			pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET, "no sample type that the profiles before have too");
			goto done;
		}
	}
	if (!same_kinds(merge, sorted, n)) {
		refuse_columns(merge, profile, err);
		goto done;
	}
	if (join_columns(merge, sorted, columns, err) || join_period(merge, profile, err))
		goto done;
	if (!merge->takes_common)
		join_order(merge, sorted, shown);
	result = 0;
done:
	free(sorted);
	free(shown);
	return result;
}
