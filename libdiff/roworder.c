#include "libdiff/roworder.h"

#include <stdlib.h>

struct ordered {
	const struct pd_comparison *comparison;
	uint64_t flat, cum; /* |delta| */
	struct pd_row row;
};

int pd_row_cmp(const struct pd_comparison *a, const struct pd_row *row, const struct pd_comparison *b,
               const struct pd_row *other)
{
	const struct pp_frame *f = pp_frames_at(a->frames, row->frame), *g = pp_frames_at(b->frames, other->frame);
	int order = pp_str_cmp(pp_frames_label(a->frames, row->frame), pp_frames_label(b->frames, other->frame));

	if (order != 0 || (order = pp_str_cmp(f->file, g->file)) != 0)
		return order;
	if (f->line != g->line)
		return f->line < g->line ? -1 : 1;
	if (f->column != g->column)
		return f->column < g->column ? -1 : 1;
	if (f->address != g->address)
		return f->address < g->address ? -1 : 1;
	return pp_str_cmp(f->mapping, g->mapping);
}

static int by_identity(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;
	return pd_row_cmp(a->comparison, &a->row, b->comparison, &b->row);
}

/* Of two names the lesser, so that exchanging the sides exchanges no rows. */
static struct pp_str lesser_name(const struct ordered *ordered)
{
	const struct pp_frames *frames = ordered->comparison->frames;
	struct pp_str name = pp_frames_label(frames, ordered->row.frame);
	if (ordered->row.state != PD_RENAMED)
		return name;
	struct pp_str other = pp_frames_label(frames, ordered->row.other);
	return pp_str_cmp(other, name) < 0 ? other : name;
}

static int by_change(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;
	if (a->flat != b->flat)
		return a->flat > b->flat ? -1 : 1;
	if (a->cum != b->cum)
		return a->cum > b->cum ? -1 : 1;
	int order = pp_str_cmp(lesser_name(a), lesser_name(b));
	return order ? order : by_identity(left, right);
}

static int sort_rows(struct pd_comparison *c, int (*compare)(const void *, const void *), struct pp_error *err)
{
	struct ordered *ordered = malloc((c->rows_n + 1) * sizeof(*ordered));
	if (!ordered)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the comparison");
	for (size_t i = 0; i < c->rows_n; i++) {
		const struct pd_row *row = &c->rows[i];
		ordered[i] = (struct ordered){c, pp_abs_i64(row->flat[1] - row->flat[0]),
		                              pp_abs_i64(row->cum[1] - row->cum[0]), *row};
	}
	qsort(ordered, c->rows_n, sizeof(*ordered), compare);
	for (size_t i = 0; i < c->rows_n; i++)
		c->rows[i] = ordered[i].row;
	free(ordered);
	return 0;
}

int pd_sort_by_identity(struct pd_comparison *c, struct pp_error *err)
{
	return sort_rows(c, by_identity, err);
}

int pd_sort_by_change(struct pd_comparison *c, struct pp_error *err)
{
	return sort_rows(c, by_change, err);
}
