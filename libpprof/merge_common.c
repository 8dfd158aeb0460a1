#include "libpprof/merge_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- what to leave out ---- */

/* Moves the sums of the columns in kept[] to the front of each row. */
static void keep_columns(struct pp_merge *merge, const uint32_t *kept, uint32_t n)
{
	uint32_t old = merge->types_n;

	if (n == old)
		return;
	for (uint32_t s = 0; s < pp_intern_count(merge->samples); s++)
		for (uint32_t c = 0; c < n; c++)
			merge->values[(size_t)s * n + c] = merge->values[(size_t)s * old + kept[c]];
	for (uint32_t c = 0; c < n; c++)
		merge->types[c] = merge->types[kept[c]];
	merge->types_n = n;
	merge->left_out = true;
}

void pp_merge_keep_common(struct pp_merge *merge, struct pp_merge_column *sorted, uint32_t *n)
{
	uint32_t *kept = merge->shown; /* it is settled at the end */
	uint32_t common = 0, mine = 0, others = 0;

	while (mine < merge->types_n && others < *n) {
		int order = pp_merge_compare_kinds(&merge->types[mine], &sorted[others].type);
		if (order == 0) {
			kept[common] = mine;
			sorted[common++] = sorted[others];
		}
		mine += order <= 0;
		others += order >= 0;
	}
	merge->left_out |= common < *n;
	*n = common;
	keep_columns(merge, kept, common);
}

/* ---- the order in which columns are shown ---- */

/* Which kind of type this is, by number; PP_NONE with *err. */
static uint32_t kind_of(struct pp_merge *merge, const struct pp_merge_type *type, struct pp_error *err)
{
	const uint32_t key[3] = {
		pp_merge_string(merge, type->name, err), (uint32_t)type->family,
		type->family == PP_UNIT_NONE ? pp_merge_string(merge, type->unit, err) : 0,
	};
	uint32_t kind = err->code ? PP_NONE : pp_intern_put(merge->kinds, key, sizeof(key), NULL);

	if (kind == PP_NONE)
		pp_merge_fail_memory(merge, err);
	return kind;
}

int pp_merge_note_order(struct pp_merge *merge, const struct pp_merge_column *sorted, uint32_t n,
                        struct pp_error *err)
{
	uint32_t *order = malloc(((size_t)n + 1) * sizeof(*order));

	if (!order)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	for (uint32_t c = 0; c < n; c++)
		order[sorted[c].position] = kind_of(merge, &sorted[c].type, err);
	if (!err->code && pp_intern_put(merge->orders, order, n * sizeof(*order), NULL) == PP_NONE)
		pp_merge_fail_memory(merge, err);
	free(order);
	return err->code ? -1 : 0;
}

/* The columns of one kind: first … first + n - 1, of which `used` have a place. */
struct kind {
	uint32_t first, n, used;
};

static bool is_smaller(const uint32_t *a, const uint32_t *b, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i < n && a[i] < b[i];
}

/* The columns of the sum in one of the orders. */
static void columns_in_order(struct pp_str order, struct kind *kinds, uint32_t kinds_n, uint32_t *columns)
{
	uint32_t kind, n = 0;

	for (uint32_t k = 0; k < kinds_n; k++)
		kinds[k].used = 0;
	for (size_t at = 0; at < order.len; at += sizeof(kind)) {
		memcpy(&kind, order.ptr + at, sizeof(kind));
		if (kinds[kind].used < kinds[kind].n)
			columns[n++] = kinds[kind].first + kinds[kind].used++;
	}
}

static void settle_order(struct pp_merge *merge, struct kind *kinds, uint32_t *columns, struct pp_error *err)
{
	for (uint32_t c = merge->types_n; c-- > 0; ) {
		uint32_t kind = kind_of(merge, &merge->types[c], err);
		if (err->code)
			return;
		kinds[kind].first = c;
		kinds[kind].n++;
	}
	for (uint32_t i = 0; i < pp_intern_count(merge->orders); i++) {
		columns_in_order(pp_intern_at(merge->orders, i), kinds, pp_intern_count(merge->kinds), columns);
		if (i == 0 || is_smaller(columns, merge->shown, merge->types_n))
			memcpy(merge->shown, columns, merge->types_n * sizeof(*columns));
	}
}

/* Where the default is none of the types that are left, it is the first of them. */
static int settle_default(struct pp_merge *merge, struct pp_error *err)
{
	struct pp_str name = pp_intern_at(merge->strings, merge->default_sample_type);

	for (uint32_t c = 0; c < merge->types_n; c++)
		if (pp_str_eq(name, merge->types[c].name))
			return 0;
	if (!merge->left_out || merge->types_n == 0)
		return 0;
	merge->default_sample_type = pp_merge_string(merge, merge->types[merge->shown[0]].name, err);
	return merge->default_sample_type == PP_NONE ? -1 : 0;
}

int pp_merge_settle_common(struct pp_merge *merge, struct pp_error *err)
{
	if (!merge->takes_common || merge->profiles_n == 0)
		return 0;
	struct kind *kinds = calloc((size_t)pp_intern_count(merge->kinds) + 1, sizeof(*kinds));
	uint32_t *columns = malloc(((size_t)merge->types_n + 1) * sizeof(*columns));

	if (!kinds || !columns)
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
	else
		settle_order(merge, kinds, columns, err);
	free(kinds);
	free(columns);
	return err->code ? -1 : settle_default(merge, err);
}
