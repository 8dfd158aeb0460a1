#include "libdiff/matrix.h"

#include <stdlib.h>
#include <string.h>

/* Rows times replicates: some 1 GB of counts and what is computed from them. 30,000 frames of 1,000
 * profiles are fewer. */
#define CELLS_MAX ((size_t)40 << 20)

struct column {
	const struct pd_replicate *replicate;
	size_t at;
};

static int by_content(const void *left, const void *right)
{
	const struct column *a = left, *b = right;
	int order = strcmp(a->replicate->origin.content_hash, b->replicate->origin.content_hash);

	if (!order)
		order = strcmp(a->replicate->name, b->replicate->name);
	return order ? order : (a->at > b->at) - (a->at < b->at);
}

int pd_matrix_cells(size_t rows_n, size_t columns_n, size_t *cells, struct pp_error *err)
{
	if (rows_n > CELLS_MAX / (columns_n + 1))
		return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "%zu frames of %zu profiles are too many to test one by one: "
		               "add profiles up with pprof-merge first", rows_n, columns_n);
	*cells = rows_n * columns_n + 1;
	return 0;
}

static int allocate(struct pd_matrix *m, struct pp_error *err)
{
	size_t cells = 0;

	if (pd_matrix_cells(m->rows_n, m->columns_n, &cells, err) != 0)
		return -1;
	m->flat = calloc(cells, sizeof(*m->flat));
	m->cum = calloc(cells, sizeof(*m->cum));
	m->total = calloc(m->columns_n, sizeof(*m->total));
	m->cost = calloc(m->columns_n, sizeof(*m->cost));
	m->replicate = calloc(m->columns_n, sizeof(*m->replicate));
	m->incident = calloc(m->columns_n, sizeof(*m->incident));
	m->exposure = calloc(m->columns_n, sizeof(*m->exposure));
	m->cum_exposure = calloc(m->columns_n, sizeof(*m->cum_exposure));
	if (!m->flat || !m->cum || !m->total || !m->cost || !m->replicate || !m->incident || !m->exposure ||
	    !m->cum_exposure)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the counts of replicates");
	return 0;
}

static void fill_column(struct pd_matrix *m, size_t column, const struct pd_replicate *r, const uint32_t *row_of,
                        bool counted)
{
	const struct pp_rollup *rollup = &r->rollup;

	for (uint32_t f = 0; f < rollup->frames_n; f++) {
		if (row_of[f] == PP_NONE)
			continue;
		size_t cell = row_of[f] * m->columns_n + column;
		m->flat[cell] += counted ? rollup->flat_count[f] : (double)rollup->flat[f];
		m->cum[cell] += counted ? rollup->cum_count[f] : (double)rollup->cum[f];
	}
	m->total[column] = counted ? rollup->total_count : (double)rollup->total;
	m->cost[column] = (double)rollup->total;
	m->incident[column] = r->side == PD_INCIDENT;
	m->negative |= rollup->negative;
}

int pd_matrix_make(struct pd_matrix *m, const struct pd_comparison *c, const uint32_t *row_of, struct pp_error *err)
{
	struct column *columns = calloc(c->replicates_n, sizeof(*columns));
	int result = -1;

	*m = (struct pd_matrix){.rows_n = c->rows_n, .columns_n = c->replicates_n};
	if (!columns) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the counts of replicates");
		goto done;
	}
	if (allocate(m, err) != 0)
		goto done;
	for (size_t i = 0; i < c->replicates_n; i++)
		columns[i] = (struct column){&c->replicates[i], i};
	qsort(columns, c->replicates_n, sizeof(*columns), by_content);
	for (size_t j = 0; j < m->columns_n; j++) {
		m->replicate[j] = columns[j].at;
		fill_column(m, j, columns[j].replicate, row_of, c->counts_measured);
	}
	result = 0;
done:
	free(columns);
	return result;
}

void pd_matrix_release(struct pd_matrix *m)
{
	free(m->flat);
	free(m->cum);
	free(m->total);
	free(m->cost);
	free(m->replicate);
	free(m->incident);
	free(m->exposure);
	free(m->cum_exposure);
	*m = (struct pd_matrix){0};
}
