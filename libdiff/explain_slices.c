/* Which label values carry the change: cost by every key and value of the samples' labels, and of those the
 * elements that explain it, after Adtributor (Bhagwan et al., NSDI 2014): explanatory power is an element's
 * part of the whole change, surprise how much its share of the whole moved. */
#include "libdiff/explain_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLICES_MAX 4096       /* keys and values together: more are ids of single requests */
#define VALUES_MAX 64         /* of one key */
#define CHANGE_MIN 0.02       /* of the baseline's cost: smaller changes are not divided */
#define POWER_ENOUGH 0.67     /* of the change: elements are taken until they have this */
#define POWER_EACH 0.1        /* and each must have this */
#define SURPRISE_MIN 0.002    /* of a key, in nats: what noise does to the shares of some thousand samples */

static int add_label(struct pd_explain *ex, enum pd_side side, struct pp_str key, struct pp_str value, double cost,
                     struct pp_buf *text, struct pp_error *err)
{
	text->n = 0;
	if (pp_buf_append(text, key.ptr, key.len, err) || pp_buf_append(text, "", 1, err) ||
	    pp_buf_append(text, value.ptr, value.len, err))
		return -1;
	uint32_t id = pp_intern_find(ex->slice_ids, text->bytes, text->n);
	if (id == PP_NONE && ex->slices_n < SLICES_MAX) {
		id = pp_intern_put(ex->slice_ids, text->bytes, text->n, NULL);
		if (id == PP_NONE ||
		    pp_arena_reserve(ex->arena, (void **)&ex->slices, &ex->slices_cap, ex->slices_n + 1, sizeof(*ex->slices)))
			return ex_no_memory(err);
		const char *copy = pp_intern_at(ex->slice_ids, id).ptr;
		ex->slices[ex->slices_n++] = (struct ex_slice){copy, copy + key.len + 1, {0, 0}};
	}
	if (id != PP_NONE)
		ex->slices[id].cost[side] += cost;
	return 0;
}

int ex_add_slices(struct pd_explain *ex, enum pd_side side, const struct pp_profile *p, uint32_t column, int64_t multiple,
                  struct pp_error *err)
{
	double *cost = calloc((size_t)p->label_lists_n + 1, sizeof(*cost));
	struct pp_buf text = PP_BUF_INIT;
	int rc = cost ? 0 : ex_no_memory(err);

	for (uint32_t s = 0; s < p->samples_n && cost; s++)
		cost[p->sample_labels[s]] += (double)pp_value(p, s, column) * (double)multiple;
	for (uint32_t l = 0; l < p->label_lists_n && rc == 0; l++)
		for (uint32_t i = 0; i < p->label_lists[l].n && rc == 0 && cost[l] != 0; i++) {
			const struct pp_label *label = &p->label_lists[l].labels[i];
			if (label->str)
				rc = add_label(ex, side, pp_string(p, label->key), pp_string(p, label->str), cost[l], &text, err);
		}
	pp_buf_release(&text);
	free(cost);
	return rc;
}

/* ---- which of them ---- */

/* The whole: baseline at the incident's exposure, and incident. */
struct whole {
	double base, incident, scale;
};

/* An element's part in the divergence of Jensen and Shannon between the shares of the two sides. */
static double surprise(double a, double b)
{
	double sum = a + b, s = 0;

	s += a > 0 ? 0.5 * a * log(2 * a / sum) : 0;
	s += b > 0 ? 0.5 * b * log(2 * b / sum) : 0;
	return s;
}

static struct pd_slice measure(const struct ex_slice *slice, const struct whole *whole)
{
	double base = slice->cost[0] * whole->scale, incident = slice->cost[1];

	return (struct pd_slice){.key = slice->key, .value = slice->value, .base = slice->cost[0], .incident = incident,
	                         .power = (incident - base) / (whole->incident - whole->base),
	                         .surprise = surprise(base / whole->base, incident / whole->incident)};
}

static int by_surprise(const void *a, const void *b)
{
	const struct pd_slice *x = a, *y = b;

	if (x->surprise != y->surprise)
		return x->surprise > y->surprise ? -1 : 1;
	return strcmp(x->value, y->value);
}

static int by_key(const void *a, const void *b)
{
	const struct ex_slice *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : strcmp(x->value, y->value);
}

/* The elements of one key that explain the change, at the front of list; 0: they do not tell it apart. A
 * key whose values all differ between the sides, as a version does, says nothing. */
static size_t elements(const struct ex_slice *slices, size_t n, const struct whole *whole, struct pd_slice *list)
{
	double power = 0, moved = 0;
	size_t kept = 0, shared = 0;

	if (n < 2 || n > VALUES_MAX)
		return 0;
	for (size_t i = 0; i < n; i++) {
		list[i] = measure(&slices[i], whole);
		shared += slices[i].cost[0] != 0 && slices[i].cost[1] != 0;
	}
	if (shared == 0)
		return 0;
	qsort(list, n, sizeof(*list), by_surprise);
	for (size_t i = 0; i < n && power < POWER_ENOUGH; i++) {
		if (list[i].power < POWER_EACH)
			continue;
		power += list[i].power;
		moved += list[i].surprise;
		list[kept++] = list[i];
	}
	return power >= POWER_ENOUGH && moved >= SURPRISE_MIN && 2 * kept <= n ? kept : 0;
}

static double sum_surprise(const struct pd_slice *list, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += list[i].surprise;
	return sum;
}

/* The key whose elements surprise most. */
int ex_find_slices(struct pd_explain *ex, struct pd_explanation *out, struct pp_error *err)
{
	struct whole whole = {(double)ex->total[PD_BASELINE] * ex_scale(ex), (double)ex->total[PD_INCIDENT], ex_scale(ex)};
	struct pd_slice list[VALUES_MAX];

	out->slices = ex_alloc(out->arena, VALUES_MAX, sizeof(*out->slices), err);
	if (!out->slices)
		return -1;
	if (!(whole.base > 0) || !(whole.incident > 0) || !(fabs(whole.incident - whole.base) >= CHANGE_MIN * whole.base) ||
	    ex->slices_n == 0 || ex->slices_n == SLICES_MAX)
		return 0;
	qsort(ex->slices, ex->slices_n, sizeof(*ex->slices), by_key);
	for (size_t from = 0, to; from < ex->slices_n; from = to) {
		for (to = from; to < ex->slices_n && strcmp(ex->slices[to].key, ex->slices[from].key) == 0; to++)
			;
		size_t n = elements(ex->slices + from, to - from, &whole, list);
		if (n == 0 || sum_surprise(list, n) <= sum_surprise(out->slices, out->slices_n))
			continue;
		memcpy(out->slices, list, n * sizeof(*list));
		out->slices_n = n;
	}
	for (size_t i = 0; i < out->slices_n; i++) {
		out->slices[i].key = ex_words(out->arena, "%s", out->slices[i].key);
		out->slices[i].value = ex_words(out->arena, "%s", out->slices[i].value);
	}
	return 0;
}
