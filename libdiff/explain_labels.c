/* Which kind of request a sample served, by its labels; and what a replicate spent by context and kind. */
#include "libdiff/explain_parts.h"

#include <stdlib.h>
#include <string.h>

#define LABELS_MAX 64 /* values of a label that tells kinds of requests apart: more are ids of single requests */

size_t ex_labels_n(const struct pd_explain *ex)
{
	const struct pd_load *load = ex->options.load;

	if (load && load->values_n)
		return load->values_n;
	return pp_intern_count(ex->label_ids) <= LABELS_MAX ? pp_intern_count(ex->label_ids) : 0;
}

const char *ex_label(const struct pd_explain *ex, uint32_t label)
{
	const struct pd_load *load = ex->options.load;

	return load && load->values_n ? load->values[label] : pp_intern_at(ex->label_ids, label).ptr;
}

static int keep_label_key(struct pd_explain *ex, struct pp_str key, struct pp_error *err)
{
	if (!ex->label_key)
		ex->label_key = pp_arena_copy(ex->arena, key.ptr, key.len);
	return ex->label_key ? 0 : ex_no_memory(err);
}

/* The value of load.tsv that a list of labels holds, whatever its key. */
static int known_label(struct pd_explain *ex, const struct pp_profile *p, const struct pp_label_list *list, uint32_t *value,
                       struct pp_error *err)
{
	const struct pd_load *load = ex->options.load;

	for (uint32_t i = 0; i < list->n; i++)
		for (uint32_t v = 0; v < load->values_n && list->labels[i].str; v++)
			if (pp_str_eq(pp_string(p, list->labels[i].str), pp_str_of(load->values[v]))) {
				*value = v;
				return keep_label_key(ex, pp_string(p, list->labels[i].key), err);
			}
	return 0;
}

/* Without load.tsv: the value of a label whose key says that it names a kind of request. */
static int request_label(struct pd_explain *ex, const struct pp_profile *p, const struct pp_label_list *list,
                         uint32_t *value, struct pp_error *err)
{
	static const char *const keys[] = {"endpoint", "route", "handler", "http.route", "http_route", "http.target", "http_path",
	                                   "path", "url", "uri", "operation", "span_name", "rpc", "rpc_method", "grpc_method",
	                                   "action", "trace endpoint"};

	for (size_t k = 0; k < PP_COUNT(keys); k++)
		for (uint32_t i = 0; i < list->n; i++) {
			struct pp_str key = pp_string(p, list->labels[i].key);
			if (!list->labels[i].str || !pp_str_eq(key, pp_str_of(keys[k])) ||
			    (ex->label_key && !pp_str_eq(key, pp_str_of(ex->label_key))))
				continue;
			struct pp_str text = pp_string(p, list->labels[i].str);
			*value = pp_intern_put(ex->label_ids, text.ptr, text.len, NULL);
			return *value == PP_NONE ? ex_no_memory(err) : keep_label_key(ex, key, err);
		}
	return 0;
}

/* By label list: which label value it holds, or PP_NONE; to be freed. */
static uint32_t *map_labels(struct pd_explain *ex, const struct pp_profile *p, struct pp_error *err)
{
	bool known = ex->options.load && ex->options.load->values_n;
	uint32_t *value = malloc((size_t)p->label_lists_n * sizeof(*value) + 1);

	if (!value) {
		ex_no_memory(err);
		return NULL;
	}
	for (uint32_t l = 0; l < p->label_lists_n; l++) {
		value[l] = PP_NONE;
		if (known ? known_label(ex, p, &p->label_lists[l], &value[l], err)
		          : request_label(ex, p, &p->label_lists[l], &value[l], err)) {
			free(value);
			return NULL;
		}
	}
	return value;
}

/* Counts, by index, to where each begins when all stand one after the other. */
static void begin_each(uint32_t *counts, size_t n)
{
	for (size_t i = 0, sum = 0; i < n; i++) {
		uint32_t here = counts[i];
		counts[i] = (uint32_t)sum;
		sum += here;
	}
}

/* What is spent by sample, to be sorted without comparing: label and context are small numbers. */
struct spent {
	const struct pp_profile *p;
	uint32_t column;
	const uint32_t *context; /* by stack */
	const uint32_t *label;   /* by label list */
	uint32_t *samples;       /* those with a value and a context, by label, those without one last */
	size_t n;
};

/* A stack whose values cancel out has no context. */
static bool counts(const struct spent *spent, uint32_t s)
{
	return spent->context[spent->p->sample_stack[s]] != PP_NONE && pp_value(spent->p, s, spent->column);
}

static int sort_by_label(struct spent *spent, struct pp_error *err)
{
	const struct pp_profile *p = spent->p;
	uint32_t none = 0; /* the place of samples without a label */

	for (uint32_t l = 0; l < p->label_lists_n; l++)
		if (spent->label[l] != PP_NONE && spent->label[l] >= none)
			none = spent->label[l] + 1;
	uint32_t *places = calloc((size_t)none + 1, sizeof(*places));
	spent->samples = malloc(((size_t)p->samples_n + 1) * sizeof(*spent->samples));
	if (!places || !spent->samples) {
		free(places);
		return ex_no_memory(err);
	}
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t s = 0; s < p->samples_n; s++) {
			uint32_t label = spent->label[p->sample_labels[s]];
			uint32_t *place = &places[label == PP_NONE ? none : label];
			if (!counts(spent, s))
				continue;
			if (pass)
				spent->samples[*place] = s;
			++*place;
		}
		if (!pass)
			begin_each(places, (size_t)none + 1);
	}
	spent->n = places[none];
	free(places);
	return 0;
}

/* By context then, which keeps the order by label. */
static int sort_by_context(struct spent *spent, size_t contexts_n, struct pp_error *err)
{
	uint32_t *places = calloc(contexts_n + 1, sizeof(*places)), *samples = malloc((spent->n + 1) * sizeof(*samples));

	if (!places || !samples) {
		free(places);
		free(samples);
		return ex_no_memory(err);
	}
	for (size_t i = 0; i < spent->n; i++)
		places[spent->context[spent->p->sample_stack[spent->samples[i]]]]++;
	begin_each(places, contexts_n);
	for (size_t i = 0; i < spent->n; i++)
		samples[places[spent->context[spent->p->sample_stack[spent->samples[i]]]]++] = spent->samples[i];
	free(places);
	free(spent->samples);
	spent->samples = samples;
	return 0;
}

/* One cell for each context and label; cells may be NULL. Returns how many. */
static size_t fold(const struct spent *spent, double multiple, struct ex_cell *cells)
{
	const struct pp_profile *p = spent->p;
	struct ex_cell last = {PP_NONE, PP_NONE, 0};
	size_t n = 0;

	for (size_t i = 0; i < spent->n; i++) {
		uint32_t s = spent->samples[i], context = spent->context[p->sample_stack[s]], label = spent->label[p->sample_labels[s]];
		if (n == 0 || context != last.context || label != last.label) {
			last = (struct ex_cell){context, label, 0};
			n++;
		}
		last.value += (double)pp_value(p, s, spent->column) * multiple;
		if (cells)
			cells[n - 1] = last;
	}
	return n;
}

int ex_make_cells(struct pd_explain *ex, struct ex_replicate *replicate, const struct pp_profile *p, uint32_t column,
                  int64_t multiple, const uint32_t *context, struct pp_error *err)
{
	uint32_t *label = map_labels(ex, p, err);
	struct spent spent = {.p = p, .column = column, .context = context, .label = label};
	int rc = -1;

	if (!label || sort_by_label(&spent, err) || sort_by_context(&spent, ex->contexts_n, err))
		goto done;
	replicate->cells_n = fold(&spent, (double)multiple, NULL);
	replicate->cells = ex_alloc(ex->arena, replicate->cells_n + 1, sizeof(*replicate->cells), err);
	if (!replicate->cells)
		goto done;
	fold(&spent, (double)multiple, replicate->cells);
	rc = 0;
done:
	free(label);
	free(spent.samples);
	return rc;
}
