/* Kinds of requests where the samples bear no label that tells them: the handler, the application
 * function near the root that the service enters for one kind of request, plays its part. */
#include "libdiff/explain_parts.h"

#include <ctype.h>
#include <string.h>

#define DISPATCH_SHARE 0.8 /* of its caller's cost: a function with more is passed through */
#define HANDLER_SHARE 0.01 /* of the dispatcher's cost */
#define HANDLER_LARGE 0.05 /* at least two must have this */
#define HANDLERS_SHARE 0.5 /* of all application cost, that the handlers must have together */
#define HANDLERS_MAX 64
#define DESCENT_MAX 40

/* Where a search stands: the function whose callees are looked at, and their cost. */
struct level {
	uint32_t frame;  /* PP_NONE: before the outermost application frame */
	double *weight;  /* by frame */
	double all;
};

/* The next application frame below the outermost call of frame on the path of a context; EX_FRAMELESS:
 * none, the path ends there; PP_NONE: the path does not pass frame. */
static uint32_t next_below(const struct pd_explain *ex, uint32_t context, uint32_t frame)
{
	uint32_t below = EX_FRAMELESS, found = PP_NONE;

	for (uint32_t c = context; c != PP_NONE; c = ex->contexts[c].parent) {
		uint32_t here = ex->contexts[c].frame;
		if (here == frame)
			found = below;
		else if (ex->frames[here].class_ == PD_FRAME_APP)
			below = here;
	}
	return frame == PP_NONE ? below : found;
}

/* Both sides count alike, whatever they cost. */
static double weight_of(const struct pd_explain *ex, uint32_t context)
{
	const struct ex_context *c = &ex->contexts[context];
	double weight = 0;

	for (int side = 0; side < 2; side++)
		if (ex->total[side] > 0)
			weight += c->value[side] / (double)ex->total[side];
	return c->frame < EX_PSEUDO_N ? 0 : weight;
}

static void look(const struct pd_explain *ex, struct level *level)
{
	memset(level->weight, 0, ex->frames_n * sizeof(*level->weight));
	level->all = 0;
	for (uint32_t c = 0; c < ex->contexts_n; c++) {
		double weight = weight_of(ex, c);
		uint32_t next = weight > 0 ? next_below(ex, c, level->frame) : PP_NONE;
		if (next == PP_NONE)
			continue;
		level->weight[next] += weight;
		level->all += weight;
	}
}

static uint32_t heaviest(const struct pd_explain *ex, const struct level *level)
{
	uint32_t best = EX_FRAMELESS;

	for (uint32_t f = EX_PSEUDO_N; f < ex->frames_n; f++)
		if (level->weight[f] > level->weight[best])
			best = f;
	return best;
}

/* Goes down from the root while one function has nearly all; what its callees are then are the handlers. */
static size_t find_handlers(const struct pd_explain *ex, struct level *level, uint32_t *handlers)
{
	double app = 0, covered = 0;
	size_t n = 0, large = 0;

	level->frame = PP_NONE;
	look(ex, level);
	app = level->all;
	for (int step = 0; step < DESCENT_MAX; step++) {
		uint32_t best = heaviest(ex, level);
		if (best == EX_FRAMELESS || level->weight[best] < DISPATCH_SHARE * level->all)
			break;
		level->frame = best;
		look(ex, level);
	}
	for (uint32_t f = EX_PSEUDO_N; f < ex->frames_n && n < HANDLERS_MAX; f++) {
		if (!(level->weight[f] >= HANDLER_SHARE * level->all) || !(level->all > 0))
			continue;
		large += level->weight[f] >= HANDLER_LARGE * level->all;
		covered += level->weight[f];
		handlers[n++] = f;
	}
	return large >= 2 && covered >= HANDLERS_SHARE * app ? n : 0;
}

/* Letters and digits of the last word of a route or a name, in lower case: "checkout" of "/v1/checkout",
 * of "main.(*Shop).checkout" and of "orders::App::check_out". */
static size_t last_word(const char *name, char *out, size_t out_n)
{
	size_t n = 0;

	for (const char *at = name; *at; at++) {
		if (strchr("/.:#!$", *at) && at[1])
			n = 0;
		else if (isalnum((unsigned char)*at) && n < out_n)
			out[n++] = (char)tolower((unsigned char)*at);
	}
	return n;
}

/* How well a function's name fits a route: 2 the same word, 1 the word within ("handleCheckout"), 0 not. */
static int name_fit(const char *function, const char *route)
{
	char a[100], b[100];
	size_t a_n = last_word(function, a, sizeof(a)), b_n = last_word(route, b, sizeof(b));

	if (b_n < 3 || a_n < b_n)
		return 0;
	if (a_n == b_n)
		return memcmp(a, b, a_n) == 0 ? 2 : 0;
	for (size_t i = 0; i + b_n <= a_n; i++)
		if (memcmp(a + i, b, b_n) == 0)
			return 1;
	return 0;
}

/* By handler: the value of load.tsv that its name fits best and no other handler better; or PP_NONE. */
static void match_names(const struct pd_explain *ex, const uint32_t *handlers, size_t n, uint32_t *value)
{
	const struct pd_load *load = ex->options.load;

	for (size_t h = 0; h < n; h++)
		value[h] = PP_NONE;
	for (uint32_t v = 0; v < load->values_n; v++) {
		size_t best = n, ties = 0;
		int most = 0;
		for (size_t h = 0; h < n; h++) {
			int fit = name_fit(ex->frames[handlers[h]].name, load->values[v]);
			ties = fit > most ? 1 : ties + (fit == most);
			if (fit > most)
				most = fit, best = h;
		}
		if (most > 0 && ties == 1)
			value[best] = v;
	}
}

/* The outermost handler on the path of a context, as its label value; PP_NONE: none. */
static uint32_t label_of(const struct pd_explain *ex, uint32_t context, const uint32_t *label_of_frame)
{
	uint32_t label = PP_NONE;

	for (uint32_t c = context; c != PP_NONE; c = ex->contexts[c].parent)
		if (label_of_frame[ex->contexts[c].frame] != PP_NONE)
			label = label_of_frame[ex->contexts[c].frame];
	return label;
}

static int set_labels(struct pd_explain *ex, const uint32_t *label_of_frame, struct pp_error *err)
{
	uint32_t *label = ex_alloc(ex->arena, ex->contexts_n + 1, sizeof(*label), err);

	if (!label)
		return -1;
	for (uint32_t c = 0; c < ex->contexts_n; c++)
		label[c] = label_of(ex, c, label_of_frame);
	for (size_t j = 0; j < ex->replicates_n; j++)
		for (size_t i = 0; i < ex->replicates[j].cells_n; i++)
			ex->replicates[j].cells[i].label = label[ex->replicates[j].cells[i].context];
	return 0;
}

int ex_label_by_handler(struct pd_explain *ex, bool named, bool *labelled, struct pp_error *err)
{
	struct level level = {.weight = ex_alloc(ex->arena, ex->frames_n, sizeof(double), err)};
	uint32_t *label = ex_alloc(ex->arena, ex->frames_n, sizeof(*label), err), handlers[HANDLERS_MAX], value[HANDLERS_MAX];

	*labelled = false;
	if (!level.weight || !label)
		return -1;
	size_t n = find_handlers(ex, &level, handlers), known = 0;
	memset(label, 0xff, ex->frames_n * sizeof(*label)); /* PP_NONE */
	if (named) {
		match_names(ex, handlers, n, value);
	} else {
		pp_intern_free(ex->label_ids);
		ex->label_ids = pp_intern_new(ex->arena);
	}
	for (size_t h = 0; h < n; h++) {
		const char *name = ex->frames[handlers[h]].name;
		label[handlers[h]] = named ? value[h] : ex->label_ids ? pp_intern_put(ex->label_ids, name, strlen(name), NULL) : PP_NONE;
		known += label[handlers[h]] != PP_NONE;
	}
	if (!named && known < n)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	*labelled = known >= 2;
	ex->label_key = *labelled ? EX_HANDLER_KEY : ex->label_key;
	return *labelled ? set_labels(ex, label, err) : 0;
}
