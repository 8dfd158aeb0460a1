/* Values over time: SelectSeries and SelectHeatmap. */
#include "cmd/test/standin/call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_MS 3600000

/* The grid of a question: points at start, start + step, …; a point at t covers (t - step, t]. */
struct grid {
	int64_t start, end, step;
};

/* A row that counts, and where. */
struct mark {
	const struct si_row *row;
	size_t group, bucket;
	int64_t value;
};
struct marks {
	struct mark *at;
	size_t n;
	struct si_label *labels;  /* groups_n * names_n: the labels of a group, those without a value left out */
	size_t *labels_n;         /* of a group */
	size_t names_n, groups_n;
};

static bool read_grid(struct si_call *call, int64_t start, int64_t end, double step_s, struct grid *grid)
{
	int64_t oldest = 0, newest = 0;

	if (!(step_s >= 0.001) || !(step_s < 1e12))
		return si_refuse_deep(call, "invalid_argument", "step must be >= 1ms");
	*grid = (struct grid){start, end, (int64_t)(step_s * 1000 + 1e-6)};
	/* A dual-mode server asks its newer half from the oldest profile on, with a grid that begins there. */
	if (si_is_split(call, start) && si_bounds(call, &oldest, &newest) && end >= oldest)
		grid->start = oldest;
	return true;
}

/* v1 finds the point before the window only where a block of stored data also touches the window. */
static bool reaches_back(const struct si_call *call, const struct grid *grid, int64_t ms)
{
	if (!si_is_v1(call, grid->end) || ms > grid->start)
		return true;
	for (uint32_t i = 0; i < call->store->pushes_n; i++) {
		int64_t other = call->store->pushes[i].time_ms;
		if (other >= grid->start && other / HOUR_MS == ms / HOUR_MS)
			return true;
	}
	return ms == grid->start;
}

/* ---- groups ---- */

static size_t unique_names(struct si_call *call, char *const *names, size_t n, struct pp_str **out)
{
	size_t kept = 0;

	*out = si_array(call, n + 1, sizeof((*out)[0]));
	for (size_t i = 0; *out && i < n; i++) {
		bool seen = !*names[i];
		for (size_t k = 0; k < kept; k++)
			seen |= pp_str_eq((*out)[k], pp_str_of(names[i]));
		size_t at = seen ? 0 : kept++;
		if (seen)
			continue;
		/* v1 sorts them. */
		for (; at > 0 && call->mode == SI_V1 && pp_str_cmp((*out)[at - 1], pp_str_of(names[i])) > 0; at--)
			(*out)[at] = (*out)[at - 1];
		(*out)[at] = pp_str_of(names[i]);
	}
	return kept;
}

static size_t group_of(struct marks *marks, const struct si_row *row, const struct pp_str *names)
{
	struct si_label *mine = &marks->labels[marks->groups_n * (marks->names_n + 1)];
	size_t n = 0;

	for (size_t i = 0; i < marks->names_n; i++) {
		struct pp_str value = si_label_of(row, names[i]);
		if (value.len)
			mine[n++] = (struct si_label){names[i], value};
	}
	for (size_t g = 0; g < marks->groups_n; g++) {
		const struct si_label *other = &marks->labels[g * (marks->names_n + 1)];
		bool same = n == marks->labels_n[g];
		for (size_t i = 0; same && i < n; i++)
			same = pp_str_eq(mine[i].name, other[i].name) && pp_str_eq(mine[i].value, other[i].value);
		if (same)
			return g;
	}
	marks->labels_n[marks->groups_n] = n;
	return marks->groups_n++;
}

/* Every row that is in scope, with its group and bucket. Rows without a sample in scope count where counted_empty. */
static bool mark_rows(struct si_call *call, const struct si_scope *scope, const struct grid *grid, char *const *group_by,
                      size_t group_by_n, bool counted_empty, struct marks *marks)
{
	struct pp_str *names = NULL;
	size_t rows_n = call->store->rows_n;

	*marks = (struct marks){.names_n = unique_names(call, group_by, group_by_n, &names)};
	marks->at = si_array(call, rows_n + 1, sizeof(marks->at[0]));
	marks->labels = si_array(call, (rows_n + 1) * (marks->names_n + 1), sizeof(marks->labels[0]));
	marks->labels_n = si_array(call, rows_n + 1, sizeof(marks->labels_n[0]));
	if (!names || !marks->at || !marks->labels || !marks->labels_n)
		return false;
	for (size_t i = 0; i < rows_n; i++) {
		const struct si_row *row = &call->store->rows[i];
		int64_t ms = row->push->time_ms;
		bool any;
		if (!si_in_scope(scope, row) || !reaches_back(call, grid, ms))
			continue;
		int64_t value = si_row_value(scope, row, &any);
		if (!any && !counted_empty)
			continue;
		marks->at[marks->n++] = (struct mark){
			.row = row, .group = group_of(marks, row, names), .value = value,
			.bucket = ms <= grid->start ? 0 : (size_t)((ms - grid->start + grid->step - 1) / grid->step)};
	}
	return true;
}

/* ---- exemplars ---- */

/* The labels that all marks of one push, group and bucket have in common, but those of the group. */
static bool exemplar_labels(struct si_call *call, const struct marks *marks, const struct mark *of, Pyro__Exemplar *exemplar)
{
	const struct si_label *group = &marks->labels[of->group * (marks->names_n + 1)];
	struct si_label *common = si_array(call, of->row->labels_n + 1, sizeof(common[0]));
	size_t n = 0;

	for (uint32_t i = 0; common && i < of->row->labels_n; i++) {
		const struct si_label *label = &of->row->labels[i];
		bool good = true;
		for (size_t k = 0; k < marks->labels_n[of->group]; k++)
			good &= !pp_str_eq(group[k].name, label->name);
		for (size_t k = 0; good && k < marks->n; k++)
			if (marks->at[k].row->push == of->row->push && marks->at[k].group == of->group)
				good = pp_str_eq(si_label_of(marks->at[k].row, label->name), label->value);
		if (good)
			common[n++] = *label;
	}
	exemplar->labels = common ? si_label_pairs(call, common, n) : NULL;
	exemplar->n_labels = n;
	return exemplar->labels != NULL;
}

/* The largest profile of a group's bucket. */
static Pyro__Exemplar *largest_profile(struct si_call *call, const struct marks *marks, size_t group, size_t bucket)
{
	Pyro__Exemplar *exemplar = si_message(call, &pyro__exemplar__descriptor);
	const struct mark *best = NULL;

	for (size_t i = 0; exemplar && i < marks->n; i++) {
		const struct mark *mark = &marks->at[i];
		int64_t sum = 0;
		if (mark->group != group || mark->bucket != bucket)
			continue;
		for (size_t k = 0; k < marks->n; k++)
			if (marks->at[k].group == group && marks->at[k].row->push == mark->row->push)
				sum += marks->at[k].value;
		if (!best || sum > exemplar->value) {
			best = mark;
			exemplar->value = sum;
		}
	}
	if (!best || !exemplar_labels(call, marks, best, exemplar))
		return NULL;
	exemplar->timestamp = best->row->push->time_ms;
	exemplar->profile_id = pp_arena_copy(call->arena, best->row->push->id.ptr, best->row->push->id.len);
	return exemplar;
}

/* ---- series ---- */

struct ranked {
	Pyro__Series *series;
	double sum;
};

static int by_sum(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	for (size_t i = 0; i < x->series->n_labels && i < y->series->n_labels; i++) {
		int order = strcmp(x->series->labels[i]->value, y->series->labels[i]->value);
		if (order)
			return order;
	}
	return 0;
}

/* The points of a group; those past the last whole step are lost. */
static bool add_points(struct si_call *call, const struct marks *marks, const struct grid *grid, size_t group,
                       const Pyro__SelectSeriesRequest *ask, struct ranked *out)
{
	size_t buckets = (size_t)((grid->end - grid->start) / grid->step) + 1;
	double *sums = si_array(call, buckets, sizeof(sums[0]));
	size_t *counts = si_array(call, buckets, sizeof(counts[0]));
	bool average = si_is_v1(call, grid->end) &&
	               ask->aggregation == PYRO__TIME_SERIES_AGGREGATION_TYPE__TIME_SERIES_AGGREGATION_TYPE_AVERAGE;

	out->series->points = si_array(call, buckets, sizeof(out->series->points[0]));
	if (!sums || !counts || !out->series->points)
		return false;
	memset(sums, 0, buckets * sizeof(sums[0]));
	memset(counts, 0, buckets * sizeof(counts[0]));
	for (size_t i = 0; i < marks->n; i++)
		if (marks->at[i].group == group && marks->at[i].bucket < buckets) {
			sums[marks->at[i].bucket] += (double)marks->at[i].value;
			counts[marks->at[i].bucket]++;
		}
	for (size_t b = 0; b < buckets; b++) {
		if (counts[b] == 0)
			continue;
		Pyro__Point *point = si_message(call, &pyro__point__descriptor);
		if (!point)
			return false;
		point->timestamp = grid->start + (int64_t)b * grid->step;
		point->value = average ? sums[b] / (double)counts[b] : sums[b];
		if (ask->exemplar_type == PYRO__EXEMPLAR_TYPE__EXEMPLAR_TYPE_INDIVIDUAL && !si_is_v1(call, grid->end)) {
			point->exemplars = si_array(call, 1, sizeof(point->exemplars[0]));
			if (!point->exemplars || !(point->exemplars[0] = largest_profile(call, marks, group, b)))
				return false;
			point->n_exemplars = 1;
		}
		out->series->points[out->series->n_points++] = point;
		out->sum += point->value;
	}
	return true;
}

static bool answer_series(struct si_call *call, const struct marks *marks, const struct grid *grid,
                          const Pyro__SelectSeriesRequest *ask)
{
	Pyro__SelectSeriesResponse *answer = si_message(call, &pyro__select_series_response__descriptor);
	struct ranked *ranked = si_array(call, marks->groups_n + 1, sizeof(ranked[0]));
	size_t n = 0;

	for (size_t g = 0; answer && ranked && g < marks->groups_n; g++) {
		Pyro__Series *series = si_message(call, &pyro__series__descriptor);
		if (!series)
			return false;
		series->n_labels = marks->labels_n[g];
		series->labels = si_label_pairs(call, &marks->labels[g * (marks->names_n + 1)], series->n_labels);
		ranked[n] = (struct ranked){.series = series};
		if (!series->labels || !add_points(call, marks, grid, g, ask, &ranked[n]))
			return false;
		n += series->n_points > 0;
	}
	if (!answer || !ranked)
		return false;
	qsort(ranked, n, sizeof(ranked[0]), by_sum);
	if (ask->limit > 0 && n > (uint64_t)ask->limit)
		n = (size_t)ask->limit;
	answer->series = si_array(call, n + 1, sizeof(answer->series[0]));
	for (size_t i = 0; answer->series && i < n; i++)
		answer->series[answer->n_series++] = ranked[i].series;
	call->answer = &answer->base;
	return answer->series != NULL;
}

bool si_select_series(struct si_call *call, const void *request)
{
	const Pyro__SelectSeriesRequest *ask = request;
	struct si_selector selector = {.n = 0};
	struct marks marks;
	struct grid grid;
	bool good = si_check_window(call, ask->start, ask->end) && read_grid(call, ask->start, ask->end, ask->step, &grid) &&
	            si_check_type(call, ask->profile_typeid) && si_read_selector(call, ask->label_selector, &selector);

	if (good && call->mode != SI_V1 && call->mode != SI_OLD &&
	    ask->exemplar_type == PYRO__EXEMPLAR_TYPE__EXEMPLAR_TYPE_SPAN)
		good = si_refuse(call, "unknown", "exemplar type span is not implemented");
	if (good) {
		struct si_scope scope = {.tenant = call->tenant, .selector = &selector, .type = si_five_parts(ask->profile_typeid),
		                         .from_ms = grid.start - grid.step + 1, .to_ms = grid.end};
		bool scoped = call->mode == SI_V1 && ask->stack_trace_selector; /* v2 and dual do not look at it */
		if (scoped) {
			scope.callers = si_array(call, ask->stack_trace_selector->n_call_site + 1, sizeof(char *));
			for (size_t i = 0; scope.callers && i < ask->stack_trace_selector->n_call_site; i++)
				scope.callers[scope.callers_n++] = ask->stack_trace_selector->call_site[i]->name;
		}
		good = mark_rows(call, &scope, &grid, ask->group_by, ask->n_group_by, scoped, &marks) &&
		       answer_series(call, &marks, &grid, ask);
	}
	si_selector_release(&selector);
	return good;
}

/* ---- heat map ---- */

#define VALUE_BUCKETS 20

/* One observation: a profile, or a span in one. */
struct cell {
	int64_t time_ms, value;
	size_t slot;
	struct pp_str span, trace;
	const struct mark *mark;
};

static struct cell *find_cell(struct cell *cells, size_t *n, const struct mark *mark, struct pp_str span, struct pp_str trace)
{
	for (size_t i = 0; i < *n; i++)
		if (cells[i].mark->row->push == mark->row->push && pp_str_eq(cells[i].span, span))
			return &cells[i];
	cells[*n] = (struct cell){.time_ms = mark->row->push->time_ms, .slot = mark->bucket, .span = span, .trace = trace, .mark = mark};
	return &cells[(*n)++];
}

/* Values by profile, or by span within a profile. */
static struct cell *observe(struct si_call *call, const struct marks *marks, bool spans, size_t *n)
{
	size_t most = 1;

	for (size_t i = 0; i < marks->n; i++)
		most += spans ? marks->at[i].row->samples_n : 1;
	struct cell *cells = si_array(call, most, sizeof(cells[0]));
	*n = 0;
	for (size_t i = 0; cells && i < marks->n; i++) {
		const struct mark *mark = &marks->at[i];
		const struct pp_profile *p = mark->row->push->profile;
		if (!spans)
			find_cell(cells, n, mark, PP_LIT(""), PP_LIT(""))->value += mark->value;
		for (uint32_t s = 0; spans && s < mark->row->samples_n; s++) {
			uint32_t sample = mark->row->samples[s];
			struct pp_str span = si_sample_label(p, sample, "span_id");
			if (span.len)
				find_cell(cells, n, mark, span, si_sample_label(p, sample, "trace_id"))->value +=
					pp_value(p, sample, mark->row->column);
		}
	}
	return cells;
}

static size_t value_bucket(int64_t value, int64_t least, int64_t most)
{
	size_t bucket = most > least ? (size_t)((double)(value - least) * VALUE_BUCKETS / (double)(most - least)) : VALUE_BUCKETS - 1;
	return bucket < VALUE_BUCKETS ? bucket : VALUE_BUCKETS - 1;
}

static Pyro__Exemplar *exemplar_of(struct si_call *call, const struct marks *marks, const struct cell *cell)
{
	Pyro__Exemplar *exemplar = si_message(call, &pyro__exemplar__descriptor);

	if (!exemplar || !exemplar_labels(call, marks, cell->mark, exemplar))
		return NULL;
	exemplar->timestamp = cell->time_ms;
	exemplar->value = cell->value;
	if (cell->span.len) {
		exemplar->span_id = pp_arena_copy(call->arena, cell->span.ptr, cell->span.len);
		exemplar->trace_id = pp_arena_copy(call->arena, cell->trace.ptr, cell->trace.len);
	} else {
		exemplar->profile_id = pp_arena_copy(call->arena, cell->mark->row->push->id.ptr, cell->mark->row->push->id.len);
	}
	return exemplar;
}

/* The slot of a time: 20 ranges of values between the least and the most of all, and the largest of each. */
static Pyro__HeatmapSlot *slot_of(struct si_call *call, const struct marks *marks, const struct cell *cells, size_t n, size_t slot,
                                  bool with_exemplars)
{
	Pyro__HeatmapSlot *out = si_message(call, &pyro__heatmap_slot__descriptor);
	const struct cell *largest[VALUE_BUCKETS] = {NULL};
	int64_t least = cells[0].value, most = least;

	for (size_t i = 0; i < n; i++) {
		least = cells[i].value < least ? cells[i].value : least;
		most = cells[i].value > most ? cells[i].value : most;
	}
	if (!out || !(out->y_min = si_array(call, VALUE_BUCKETS, sizeof(double))) ||
	    !(out->counts = si_array(call, VALUE_BUCKETS, sizeof(int32_t))) ||
	    !(out->exemplars = si_array(call, VALUE_BUCKETS, sizeof(out->exemplars[0]))))
		return NULL;
	out->n_y_min = out->n_counts = VALUE_BUCKETS;
	for (size_t b = 0; b < VALUE_BUCKETS; b++) {
		out->y_min[b] = (double)least + (double)(most - least) * (double)b / VALUE_BUCKETS;
		out->counts[b] = 0;
	}
	for (size_t i = 0; i < n; i++) {
		size_t b = value_bucket(cells[i].value, least, most);
		if (cells[i].slot != slot)
			continue;
		out->counts[b]++;
		if (!largest[b] || cells[i].value > largest[b]->value)
			largest[b] = &cells[i];
	}
	for (size_t b = 0; with_exemplars && b < VALUE_BUCKETS; b++)
		if (largest[b] && !(out->exemplars[out->n_exemplars++] = exemplar_of(call, marks, largest[b])))
			return NULL;
	return out;
}

static bool answer_heatmap(struct si_call *call, const struct marks *marks, const struct grid *grid,
                           const Pyro__SelectHeatmapRequest *ask)
{
	Pyro__SelectHeatmapResponse *answer = si_message(call, &pyro__select_heatmap_response__descriptor);
	Pyro__HeatmapSeries *series = si_message(call, &pyro__heatmap_series__descriptor);
	bool spans = ask->query_type == PYRO__HEATMAP_QUERY_TYPE__HEATMAP_QUERY_TYPE_SPAN;
	size_t n = 0, slots_n = (size_t)((grid->end - grid->start + grid->step - 1) / grid->step) + 1;
	struct cell *cells = observe(call, marks, spans, &n);

	if (!answer || !series || !cells)
		return false;
	call->answer = &answer->base;
	if (n == 0)
		return true;
	series->slots = si_array(call, slots_n, sizeof(series->slots[0]));
	for (size_t s = 0; series->slots && s < slots_n; s++) {
		bool any = false;
		for (size_t i = 0; i < n; i++)
			any |= cells[i].slot == s;
		if (!any)
			continue;
		Pyro__HeatmapSlot *slot = slot_of(call, marks, cells, n, s, ask->exemplar_type > PYRO__EXEMPLAR_TYPE__EXEMPLAR_TYPE_NONE);
		if (!slot)
			return false;
		slot->timestamp = grid->start + (int64_t)s * grid->step;
		series->slots[series->n_slots++] = slot;
	}
	answer->series = si_array(call, 1, sizeof(answer->series[0]));
	if (!series->slots || !answer->series)
		return false;
	answer->series[answer->n_series++] = series;
	return true;
}

bool si_select_heatmap(struct si_call *call, const void *request)
{
	const Pyro__SelectHeatmapRequest *ask = request;
	struct si_selector selector = {.n = 0};
	struct marks marks;
	struct grid grid;
	bool spans = ask->query_type == PYRO__HEATMAP_QUERY_TYPE__HEATMAP_QUERY_TYPE_SPAN;
	char why[256];

	if (si_is_v1(call, ask->end) || si_is_split(call, ask->start))
		return si_refuse(call, "unimplemented", "this endpoint is not available in v1 frontend");
	if (!si_check_window(call, ask->start, ask->end) || !read_grid(call, ask->start, ask->end, ask->step, &grid) ||
	    !si_check_type(call, ask->profile_typeid))
		return false;
	if (ask->query_type == PYRO__HEATMAP_QUERY_TYPE__HEATMAP_QUERY_TYPE_UNSPECIFIED)
		return si_refuse_deep(call, "unknown", "valid heatmap query type must be specified");
	if (ask->exemplar_type > PYRO__EXEMPLAR_TYPE__EXEMPLAR_TYPE_NONE &&
	    spans != (ask->exemplar_type == PYRO__EXEMPLAR_TYPE__EXEMPLAR_TYPE_SPAN))
		return si_refuse_deep(call, "unknown", "individual exemplars only available for individual query type");
	bool good = si_selector_add(&selector, ask->label_selector, call->arena, why) || si_refuse_deep(call, "unknown", "%s", why);
	if (good) {
		struct si_scope scope = {.tenant = call->tenant, .selector = &selector, .type = si_five_parts(ask->profile_typeid),
		                         .from_ms = grid.start - grid.step + 1, .to_ms = grid.end};
		good = mark_rows(call, &scope, &grid, NULL, 0, false, &marks) && answer_heatmap(call, &marks, &grid, ask);
	}
	si_selector_release(&selector);
	return good;
}
