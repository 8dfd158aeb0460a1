/* Memory profiles in text: gperftools' heap, growth and fragmentation, Go's heap with debug=1, and jemalloc's. */
#include <inttypes.h>

#include "libpprof/legacy.h"

/* "objects: bytes [objects: bytes]": in use, and allocated since the start. */
struct row {
	int64_t in_use[2], allocated[2];
};

static bool take_count(struct pp_str *text, int64_t *value)
{
	pp_take_blanks(text);
	return pp_take_number(text, value);
}

static bool take_mark(struct pp_str *text, const char *mark)
{
	pp_take_blanks(text);
	return pp_take(text, mark);
}

static bool take_row(struct pp_str *text, struct row *row)
{
	return take_count(text, &row->in_use[0]) && take_mark(text, ":") && take_count(text, &row->in_use[1]) &&
	       take_mark(text, "[") && take_count(text, &row->allocated[0]) && take_mark(text, ":") &&
	       take_count(text, &row->allocated[1]) && take_mark(text, "]");
}

/* What was allocated tells more than what is in use only where it differs. */
static bool has_allocated(const struct row *total)
{
	return (total->allocated[0] != 0 && total->allocated[0] != total->in_use[0]) ||
	       (total->allocated[1] != 0 && total->allocated[1] != total->in_use[1]);
}

static void name_values(struct pp_legacy *l, bool allocated, int64_t rate)
{
	static const char *const in_use[][2] = {{"objects", "count"}, {"space", "bytes"}};
	static const char *const both[][2] = {{"alloc_objects", "count"}, {"alloc_space", "bytes"},
	                                      {"inuse_objects", "count"}, {"inuse_space", "bytes"}};
	pp_legacy_types(l, allocated ? both : in_use, allocated ? 4 : 2);
	pp_legacy_period(l, "space", "bytes", rate);
}

/* ---- one stack ---- */

struct heap {
	struct pp_legacy *l;
	int64_t rate; /* one in so many bytes is sampled; 0: values are whole */
	bool allocated;
};

/* Values of a pair; *block_bytes is the size of an object, if there is any. 1: the line is dropped. */
static int scale_pair(const struct heap *h, const int64_t pair[2], int64_t out[2], int64_t *block_bytes)
{
	out[0] = pair[0];
	out[1] = pair[1];
	if (pair[0] == 0 && pair[1] != 0)
		return pp_legacy_bad_line(h->l, "bytes of no object") < 0 ? -1 : 1;
	if (pair[0] == 0)
		return 0;
	if (pair[0] == -1 && pair[1] == INT64_MIN)
		return pp_legacy_fail(h->l, PP_EOVERFLOW, "the size of an object does not fit 64 bits");
	*block_bytes = pair[1] / pair[0];
	return h->rate ? pp_legacy_unsample(h->l, h->rate, &out[0], &out[1]) : 0;
}

static int add_sample(const struct heap *h, const struct row *row, struct pp_str addresses)
{
	int64_t values[4], block_bytes = 0;
	int64_t *in_use = h->allocated ? values + 2 : values;
	int result = h->allocated ? scale_pair(h, row->allocated, values, &block_bytes) : 0;
	if (result == 0)
		result = scale_pair(h, row->in_use, in_use, &block_bytes);
	if (result == 0)
		result = pp_legacy_frames(h->l, addresses, true);
	if (result == 0)
		result = pp_legacy_sample(h->l, values, &block_bytes);
	return result < 0 ? -1 : 0;
}

/* ---- gperftools and Go ---- */

static int read_heap_line(const struct heap *h)
{
	struct row row;
	struct pp_str text = h->l->line;
	if (!take_row(&text, &row) || !take_mark(&text, "@"))
		return pp_legacy_bad_line(h->l, "not 'objects: bytes [objects: bytes] @ addresses'");
	return add_sample(h, &row, text);
}

/* "heap profile: … @ kind/rate": Go's rate is twice what it samples by. */
static int read_heap_head(struct heap *h)
{
	struct row total;
	struct pp_str text = h->l->line, kind;
	int64_t rate = 0;
	if (!pp_take(&text, "heap profile:") || !take_row(&text, &total) || !take_mark(&text, "@"))
		return pp_legacy_fail(h->l, PP_EFORMAT, "not 'heap profile: objects: bytes [objects: bytes] @ kind/rate'");
	pp_take_blanks(&text);
	size_t n = 0;
	while (n < text.len && text.ptr[n] != '/' && text.ptr[n] != ' ')
		n++;
	kind = (struct pp_str){text.ptr, n};
	text = (struct pp_str){text.ptr + n, text.len - n};
	if (pp_take(&text, "/") && text.len > 0 && !pp_take_number(&text, &rate))
		return pp_legacy_fail(h->l, PP_EFORMAT, "the sampling rate is not a number of 63 bits");
	if (pp_legacy_begins(kind, "growth") || pp_legacy_begins(kind, "fragmentation")) {
		name_values(h->l, false, 1);
		return 0;
	}
	h->allocated = has_allocated(&total);
	if (pp_str_eq(kind, PP_LIT("heap_v2")) || pp_str_eq(kind, PP_LIT("heapz_v2")))
		h->rate = rate;
	else if (pp_str_eq(kind, PP_LIT("heap")))
		h->rate = rate / 2;
	else if (!pp_str_eq(kind, PP_LIT("heapprofile")))
		return pp_legacy_fail(h->l, PP_EUNSUPPORTED, "a heap profile of kind '%.*s' is not read",
		                      (int)(kind.len > 40 ? 40 : kind.len), kind.ptr);
	name_values(h->l, h->allocated, pp_str_eq(kind, PP_LIT("heapprofile")) ? 1 : h->rate);
	if (h->rate < 2)
		h->rate = 1;
	if (pp_str_eq(kind, PP_LIT("heapprofile")))
		h->rate = 0;
	return 0;
}

int pp_legacy_heap(struct pp_legacy *l)
{
	struct heap h = {.l = l};
	int more;
	do
		more = pp_legacy_next(l);
	while (more > 0 && l->line.len == 0);
	if (more < 0 || read_heap_head(&h) < 0)
		return -1;
	while ((more = pp_legacy_next(l)) > 0 && !pp_legacy_is_map_head(l->line)) {
		int skipped = pp_legacy_skip(l);
		if (skipped < 0 || (skipped == 0 && read_heap_line(&h) < 0))
			return -1;
	}
	return more < 0 ? -1 : pp_legacy_find_map(l);
}

/* ---- jemalloc. "heap_v2/RATE", the totals, then for each stack a line "@ addresses" and below it
 * "t*: objects: bytes [objects: bytes]" for all threads, and one such line for each thread. ---- */

/* "t*:" of all threads. */
static bool take_all_threads(struct pp_str *text)
{
	return pp_take(text, "t*:");
}

static bool is_one_thread(struct pp_str text)
{
	int64_t thread;
	return pp_take(&text, "t") && pp_take_number(&text, &thread) && pp_take(&text, ":");
}

static int read_jemalloc_head(struct heap *h)
{
	struct pp_legacy *l = h->l;
	struct pp_str text = l->line;
	struct row total = {{0, 0}, {0, 0}};
	if (!pp_take(&text, "heap_v2/") || !pp_take_number(&text, &h->rate) || text.len > 0)
		return pp_legacy_fail(l, PP_EFORMAT, "not 'heap_v2/RATE'");
	int more = pp_legacy_next(l);
	if (more < 0)
		return -1;
	text = l->line;
	if (more == 0 || !take_all_threads(&text) || !take_row(&text, &total))
		return pp_legacy_fail(l, PP_EFORMAT, "not the totals 't*: objects: bytes [objects: bytes]'");
	h->allocated = has_allocated(&total);
	name_values(l, h->allocated, h->rate);
	if (h->rate < 1)
		h->rate = 1;
	return 0;
}

/* Text at a stack whose numbers are still to come. */
static int read_jemalloc_line(const struct heap *h, struct pp_str *stack)
{
	struct pp_legacy *l = h->l;
	struct pp_str text = l->line;
	struct row row;
	if (pp_take(&text, "@")) {
		*stack = pp_legacy_copy(l, text);
		return stack->ptr ? 0 : -1;
	}
	if (is_one_thread(text))
		return 0;
	if (!take_all_threads(&text) || !take_row(&text, &row))
		return pp_legacy_bad_line(l, "not '@ addresses' nor 't*: objects: bytes [objects: bytes]'");
	if (!stack->ptr)
		return pp_legacy_bad_line(l, "numbers without a stack");
	text = *stack;
	stack->ptr = NULL;
	return add_sample(h, &row, text);
}

int pp_legacy_jemalloc(struct pp_legacy *l)
{
	struct heap h = {.l = l};
	struct pp_str stack = {NULL, 0};
	int more = pp_legacy_next(l);
	l->is_jemalloc = true;
	if (more < 0 || read_jemalloc_head(&h) < 0)
		return -1;
	while ((more = pp_legacy_next(l)) > 0 && !pp_legacy_is_map_head(l->line))
		if (!pp_legacy_blank(l) && read_jemalloc_line(&h, &stack) < 0)
			return -1;
	return more < 0 ? -1 : pp_legacy_find_map(l);
}
