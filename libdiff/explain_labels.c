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

static int by_label(const void *a, const void *b)
{
	const struct ex_cell *x = a, *y = b;

	return x->label < y->label ? -1 : x->label > y->label;
}

/* Sorts the cells of one context by label, adds up equal ones, and appends them at out; returns how many. */
static size_t fold_run(struct ex_cell *run, size_t n, struct ex_cell *out)
{
	size_t kept = 0;

	if (n > 1)
		qsort(run, n, sizeof(*run), by_label);
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && out[kept - 1].label == run[i].label)
			out[kept - 1].value += run[i].value;
		else
			out[kept++] = run[i];
	}
	return kept;
}

int ex_make_cells(struct pd_explain *ex, struct ex_replicate *replicate, const struct pp_profile *p, uint32_t column,
                  int64_t multiple, const uint32_t *context, struct pp_error *err)
{
	uint32_t *label = map_labels(ex, p, err), *end = calloc(ex->contexts_n + 1, sizeof(*end));
	struct ex_cell *cells = malloc(((size_t)p->samples_n + 1) * sizeof(*cells));
	size_t n = 0;
	int rc = -1;

	if (!label || !end || !cells) {
		ex_no_memory(err);
		goto done;
	}
	/* By context: counted, then placed. A stack whose values cancel out has no context. */
	for (uint32_t s = 0; s < p->samples_n; s++)
		if (context[p->sample_stack[s]] != PP_NONE && pp_value(p, s, column))
			end[context[p->sample_stack[s]]]++;
	for (size_t c = 0, sum = 0; c < ex->contexts_n; c++) {
		size_t here = end[c];
		end[c] = (uint32_t)sum;
		sum += here;
	}
	for (uint32_t s = 0; s < p->samples_n; s++) {
		uint32_t c = context[p->sample_stack[s]];
		if (c != PP_NONE && pp_value(p, s, column))
			cells[end[c]++] = (struct ex_cell){c, label[p->sample_labels[s]], (double)pp_value(p, s, column) * (double)multiple};
	}
	for (size_t c = 0, from = 0; c < ex->contexts_n; c++) {
		n += fold_run(cells + from, end[c] - from, cells + n);
		from = end[c];
	}
	replicate->cells_n = n;
	replicate->cells = ex_alloc(ex->arena, n + 1, sizeof(*cells), err);
	if (!replicate->cells)
		goto done;
	memcpy(replicate->cells, cells, n * sizeof(*cells));
	rc = 0;
done:
	free(label);
	free(end);
	free(cells);
	return rc;
}
