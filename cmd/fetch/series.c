#include "cmd/fetch/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/fetch/flame.h"

#define VALUES_MAX 9e18 /* of all points together, so that every sum is an integer of 64 bits */
#define CALLS_MAX 600 /* where storages meet, the window is halved until the parts fit together */

struct fetch {
	struct server *server;
	const struct question *question;
	const struct cli_list *group_by;
	int64_t step_ms;
	struct series *series;
	double magnitude; /* sum of all |values| */
	uint32_t calls;
	bool checked; /* the server is of the mode in which sums must be compared */
};

/* ---- the lines ---- */

static size_t labels_key(Pyro__LabelPair **labels, size_t n, struct pp_buf *key)
{
	struct pp_error err = PP_ERROR_INIT;
	int result = 0;

	key->n = 0;
	for (size_t i = 0; i < n && result == 0; i++) {
		result = pp_buf_append(key, labels[i]->name, strlen(labels[i]->name) + 1, &err);
		if (result == 0)
			result = pp_buf_append(key, labels[i]->value, strlen(labels[i]->value) + 1, &err);
	}
	return result == 0 ? key->n : SIZE_MAX;
}

static struct series_line *new_line(struct series *series, Pyro__LabelPair **labels, size_t n)
{
	void *lines = series->lines;
	struct series_label *copies = pp_arena_alloc(series->arena, n * sizeof(*copies));

	if (!copies || pp_arena_reserve(series->arena, &lines, &series->lines_room, series->lines_n + 1, sizeof(*series->lines)) != 0)
		return NULL;
	series->lines = lines;
	for (size_t i = 0; i < n; i++) {
		copies[i].name = pp_arena_copy(series->arena, labels[i]->name, strlen(labels[i]->name));
		copies[i].value = pp_arena_copy(series->arena, labels[i]->value, strlen(labels[i]->value));
		if (!copies[i].name || !copies[i].value)
			return NULL;
	}
	struct series_line *line = &series->lines[series->lines_n++];
	*line = (struct series_line){.labels = copies, .labels_n = n};
	return line;
}

static struct series_line *line_of(struct series *series, Pyro__LabelPair **labels, size_t n, struct pp_buf *key)
{
	bool is_new;

	if (labels_key(labels, n, key) == SIZE_MAX)
		return NULL;
	uint32_t index = pp_intern_put(series->keys, key->bytes ? key->bytes : "", key->n, &is_new);
	if (index == PP_NONE)
		return NULL;
	return is_new ? new_line(series, labels, n) : &series->lines[index];
}

/* The time of the user's grid that a point belongs to. */
static int64_t on_grid(const struct fetch *fetch, int64_t time_ms)
{
	const struct window *window = &fetch->question->window;
	int64_t steps = (time_ms - window->from_ms + fetch->step_ms - 1) / fetch->step_ms;

	if (steps < 1)
		steps = 1;
	int64_t grid = window->from_ms + steps * fetch->step_ms;
	return grid < window->to_ms ? grid : window->to_ms;
}

static bool add_point(struct fetch *fetch, struct series_line *line, int64_t time_ms, double value)
{
	void *points = line->points;
	int64_t grid = on_grid(fetch, time_ms);

	fetch->magnitude += fabs(value);
	line->sum += value;
	fetch->series->sum += value;
	if (line->points_n > 0 && line->points[line->points_n - 1].time_ms == grid) {
		line->points[line->points_n - 1].value += value;
		return true;
	}
	if (pp_arena_reserve(fetch->series->arena, &points, &line->points_room, line->points_n + 1, sizeof(*line->points)) != 0)
		return false;
	line->points = points;
	line->points[line->points_n++] = (struct series_point){grid, value};
	return true;
}

/* ---- one call ---- */

struct span {
	int64_t after_ms, to_ms, step_ms; /* (after, to] */
};

/* Asks for a span whose step divides it. *answer lives in the call. */
static enum cli_status ask(struct fetch *fetch, const struct span *span, struct rpc_call *call,
                           Pyro__SelectSeriesRequest *request, struct scope_stack *stack)
{
	bool failed;

	pyro__select_series_request__init(request);
	request->profile_typeid = rpc_text(fetch->question->type);
	request->label_selector = rpc_text(fetch->question->selector);
	request->start = span->after_ms;
	request->end = span->to_ms;
	request->step = (double)span->step_ms / 1000;
	request->n_group_by = fetch->group_by->n;
	request->group_by = rpc_texts(fetch->group_by);
	request->stack_trace_selector = scope_stack_make(&fetch->question->scope, stack, &failed);
	*call = (struct rpc_call){.method = "SelectSeries", .request = &request->base,
	                          .response = &pyro__select_series_response__descriptor};
	if (failed)
		return cli_no_memory();
	fetch->calls++;
	return rpc_wait(fetch->server, call);
}

/* Whether all points stand where they were asked for; and what is in the span, and at its open end. */
static bool points_fit(const Pyro__SelectSeriesResponse *answer, const struct span *span, double *sum, bool *at_start)
{
	*sum = 0;
	*at_start = false;
	for (size_t i = 0; i < answer->n_series; i++)
		for (size_t k = 0; k < answer->series[i]->n_points; k++) {
			const Pyro__Point *point = answer->series[i]->points[k];
			if (!(fabs(point->value) < VALUES_MAX) || point->timestamp > span->to_ms ||
			    (point->timestamp >= span->after_ms && (point->timestamp - span->after_ms) % span->step_ms != 0))
				return false;
			*at_start |= point->timestamp == span->after_ms;
			if (point->timestamp > span->after_ms)
				*sum += point->value;
		}
	return true;
}

static enum cli_status add_answer(struct fetch *fetch, const Pyro__SelectSeriesResponse *answer, const struct span *span)
{
	struct pp_buf key = PP_BUF_INIT;
	bool good = true;

	for (size_t i = 0; good && i < answer->n_series; i++) {
		const Pyro__Series *from = answer->series[i];
		for (size_t k = 0; good && k < from->n_points; k++) {
			if (from->points[k]->timestamp <= span->after_ms)
				continue;
			struct series_line *line = line_of(fetch->series, from->labels, from->n_labels, &key);
			good = line && add_point(fetch, line, from->points[k]->timestamp, from->points[k]->value);
		}
	}
	pp_buf_release(&key);
	if (good && !(fetch->magnitude < VALUES_MAX)) {
		cli_error("SelectSeries: the sum of the points does not fit 64 bits");
		return CLI_FAILED;
	}
	return good ? CLI_OK : cli_no_memory();
}

static bool equal(double a, double b)
{
	return fabs(a - b) <= fabs(a) * 1e-12;
}

/* Whether the points of the whole window add up to the total of its profiles. Only servers of the mode dual may fail in
 * that; the question tells the mode as well. */
static bool window_fits(struct fetch *fetch, const struct window *window, double sum)
{
	struct question question = *fetch->question;
	int64_t total = 0;

	question.window = *window;
	fetch->series->mode = mode_find(fetch->server, &question, &total);
	return fetch->series->mode != MODE_DUAL || equal((double)total, sum);
}

/* The same of a span, on a server that is known to be of that mode. */
static bool span_fits(struct fetch *fetch, const struct span *span, double sum)
{
	struct question question = *fetch->question;
	int64_t total = 0;

	/* A millisecond cannot be asked for in smaller parts. */
	if (span->to_ms - span->after_ms <= 1)
		return true;
	question.window = (struct window){span->after_ms + 1, span->to_ms};
	question.max_nodes = 1;
	fetch->calls++;
	enum cli_status status = flame_total(fetch->server, &question, &total);
	return (status == CLI_OK || status == CLI_EMPTY) && equal((double)total, sum);
}

/* ---- spans that are asked until they fit ---- */

static enum cli_status fill(struct fetch *fetch, const struct span *span);

static enum cli_status fill_halves(struct fetch *fetch, const struct span *span)
{
	int64_t length = span->to_ms - span->after_ms, middle;
	bool on_steps = length > span->step_ms;

	if (length <= 1 || fetch->calls > CALLS_MAX) {
		cli_error("SelectSeries: the points of this server do not add up to the total of its profiles");
		return CLI_FAILED;
	}
	middle = on_steps ? length / span->step_ms / 2 * span->step_ms : length / 2;
	struct span first = {span->after_ms, span->after_ms + middle, on_steps ? span->step_ms : middle};
	struct span second = {first.to_ms, span->to_ms, on_steps ? span->step_ms : length - middle};
	enum cli_status status = fill(fetch, &first);
	return status == CLI_OK ? fill(fetch, &second) : status;
}

/* A span that begins where the storages meet is refused: its first millisecond by itself, the rest of its first step, and
 * the other steps. */
static enum cli_status fill_past_border(struct fetch *fetch, const struct span *span)
{
	struct span rest = {span->after_ms + 1, span->after_ms + span->step_ms, span->step_ms - 1};
	struct span steps = {rest.to_ms, span->to_ms, span->step_ms};
	Pyro__SelectSeriesRequest request;
	struct scope_stack stack;
	struct rpc_call call;
	struct span first = {span->after_ms + 1, span->after_ms + 1, 1};
	enum cli_status status = ask(fetch, &first, &call, &request, &stack);

	if (status == CLI_OK) {
		struct span from_before = {span->after_ms, span->after_ms + 1, 1};
		status = add_answer(fetch, (const void *)call.answer, &from_before);
	} else {
		rpc_report(&call);
	}
	rpc_release(&call);
	scope_stack_release(&stack);
	if (status == CLI_OK && rest.step_ms > 0)
		status = fill(fetch, &rest);
	return status == CLI_OK && steps.to_ms > steps.after_ms ? fill(fetch, &steps) : status;
}

static enum cli_status fill(struct fetch *fetch, const struct span *span)
{
	Pyro__SelectSeriesRequest request;
	struct scope_stack stack;
	struct rpc_call call;
	double sum;
	bool at_start, fits = false;
	enum cli_status status = ask(fetch, span, &call, &request, &stack);

	if (status == CLI_OK) {
		fits = points_fit((const void *)call.answer, span, &sum, &at_start) &&
		       (!fetch->checked || span_fits(fetch, span, sum));
		if (fits)
			status = add_answer(fetch, (const void *)call.answer, span);
	}
	int64_t longest;
	bool border = rpc_is_border(&call);
	/* The refusal of a border may have hidden that the window is also longer than the server allows. */
	bool too_long = status == CLI_FAILED && when_limit(call.why, &longest);
	if (status != CLI_OK && !border && !too_long)
		rpc_report(&call);
	rpc_release(&call);
	scope_stack_release(&stack);
	if (border)
		return fill_past_border(fetch, span);
	return too_long || (status == CLI_OK && !fits) ? fill_halves(fetch, span) : status;
}

/* ---- the window ---- */

/* What one piece of the window brought, before it is known to be right. */
struct attempt {
	struct rpc_call call, tail_call;
	Pyro__SelectSeriesRequest request, tail_request;
	struct scope_stack stack, tail_stack;
	struct span span, tail;
};

/* The steps of a piece, and what is left over behind them; either may be nothing. */
static void plan(struct attempt *attempt, const struct window *piece, int64_t step_ms)
{
	int64_t length = piece->to_ms - piece->from_ms, whole = length / step_ms * step_ms;

	attempt->span = (struct span){piece->from_ms, piece->from_ms + whole, step_ms};
	attempt->tail = (struct span){piece->from_ms + whole, piece->to_ms, length - whole};
}

/* The recorded way: a call for the whole steps and one for the tail. CLI_OK with *fits false: to be asked in
 * smaller parts. */
static enum cli_status attempt_piece(struct fetch *fetch, struct attempt *attempt, double *sum, bool *at_start, bool *fits)
{
	double tail_sum = 0;
	bool tail_start = false;
	enum cli_status status = CLI_OK;

	*sum = 0;
	*at_start = false;
	*fits = true;
	if (attempt->span.to_ms > attempt->span.after_ms) {
		status = ask(fetch, &attempt->span, &attempt->call, &attempt->request, &attempt->stack);
		if (status == CLI_OK)
			*fits = points_fit((const void *)attempt->call.answer, &attempt->span, sum, at_start);
	}
	if (status == CLI_OK && attempt->tail.step_ms > 0) {
		status = ask(fetch, &attempt->tail, &attempt->tail_call, &attempt->tail_request, &attempt->tail_stack);
		if (status == CLI_OK)
			*fits &= points_fit((const void *)attempt->tail_call.answer, &attempt->tail, &tail_sum, &tail_start);
		if (attempt->span.to_ms == attempt->span.after_ms)
			*at_start = tail_start;
		*sum += tail_sum;
	}
	const struct rpc_call *failed = attempt->tail_call.outcome != CLI_OK ? &attempt->tail_call : &attempt->call;
	if (rpc_is_border(failed)) {
		*fits = false;
		return CLI_OK;
	}
	return status;
}

static void release_attempt(struct attempt *attempt)
{
	rpc_release(&attempt->call);
	rpc_release(&attempt->tail_call);
	scope_stack_release(&attempt->stack);
	scope_stack_release(&attempt->tail_stack);
}

static enum cli_status fill_piece(struct fetch *fetch, const struct window *piece, bool first)
{
	struct attempt attempt = {.stack = {.sites = NULL}};
	struct span edge = {piece->from_ms - 1, piece->from_ms, 1};
	double sum = 0, edge_before = fetch->series->sum;
	bool at_start = false, fits = true;
	enum cli_status status;

	plan(&attempt, piece, fetch->step_ms);
	status = attempt_piece(fetch, &attempt, &sum, &at_start, &fits);
	if (status != CLI_OK) {
		int64_t longest;
		const struct rpc_call *failed = attempt.tail_call.outcome != CLI_OK ? &attempt.tail_call : &attempt.call;
		if (status == CLI_FAILED && when_limit(failed->why, &longest))
			fetch->server->longest_ms = longest;
		else
			rpc_report(failed);
		goto done;
	}
	/* A profile in the window's first millisecond is in the point before the window, with others. */
	if (first && (at_start || !fits || piece->from_ms == piece->to_ms)) {
		status = fill(fetch, &edge);
		if (status != CLI_OK)
			goto done;
	}
	sum += fetch->series->sum - edge_before;
	if (fits && scope_is_all(&fetch->question->scope)) {
		struct window inside = {piece->from_ms + !first, piece->to_ms};
		fits = window_fits(fetch, &inside, sum);
	}
	/* With a scope there is nothing to compare with: that it was obeyed is proven elsewhere. */
	fetch->checked |= !fits && scope_is_all(&fetch->question->scope);
	if (attempt.span.to_ms > attempt.span.after_ms)
		status = fits ? add_answer(fetch, (const void *)attempt.call.answer, &attempt.span) : fill(fetch, &attempt.span);
	if (status == CLI_OK && attempt.tail.step_ms > 0)
		status = fits ? add_answer(fetch, (const void *)attempt.tail_call.answer, &attempt.tail) : fill(fetch, &attempt.tail);
done:
	release_attempt(&attempt);
	return status;
}

/* Pieces of whole steps no longer than the server allows; their open ends meet. */
static enum cli_status fill_window(struct fetch *fetch)
{
	const struct window *window = &fetch->question->window;
	int64_t longest = fetch->server->longest_ms ? fetch->server->longest_ms : INT64_MAX / 2;
	int64_t length = longest >= fetch->step_ms ? longest / fetch->step_ms * fetch->step_ms : longest;
	struct window piece = {window->from_ms, window->to_ms};
	bool first = true;

	do {
		piece.to_ms = window->to_ms - piece.from_ms > length ? piece.from_ms + length : window->to_ms;
		enum cli_status status = fill_piece(fetch, &piece, first);
		if (status != CLI_OK)
			return status;
		first = false;
		piece.from_ms = piece.to_ms;
	} while (piece.to_ms < window->to_ms);
	return CLI_OK;
}

static int compare_points(const void *a, const void *b)
{
	const struct series_point *x = a, *y = b;

	return (x->time_ms > y->time_ms) - (x->time_ms < y->time_ms);
}

static int compare_lines(const void *a, const void *b)
{
	const struct series_line *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	for (size_t i = 0; i < x->labels_n && i < y->labels_n; i++) {
		int order = strcmp(x->labels[i].name, y->labels[i].name);
		if (order == 0)
			order = strcmp(x->labels[i].value, y->labels[i].value);
		if (order != 0)
			return order;
	}
	return (x->labels_n > y->labels_n) - (x->labels_n < y->labels_n);
}

/* Points by time, those of one time added up; lines by size. */
static void put_in_order(struct series *series)
{
	for (size_t i = 0; i < series->lines_n; i++) {
		struct series_line *line = &series->lines[i];
		size_t kept = 0;
		qsort(line->points, line->points_n, sizeof(*line->points), compare_points);
		for (size_t k = 0; k < line->points_n; k++) {
			if (kept > 0 && line->points[kept - 1].time_ms == line->points[k].time_ms)
				line->points[kept - 1].value += line->points[k].value;
			else
				line->points[kept++] = line->points[k];
		}
		line->points_n = kept;
	}
	if (series->lines_n > 0)
		qsort(series->lines, series->lines_n, sizeof(*series->lines), compare_lines);
}

static bool begin(struct series *series)
{
	series_release(series);
	series->arena = pp_arena_new(UINT64_C(4) << 30);
	series->keys = series->arena ? pp_intern_new(series->arena) : NULL;
	return series->keys != NULL;
}

enum cli_status series_fetch(struct server *server, const struct question *question, const struct cli_list *group_by,
                             int64_t step_ms, struct series *series)
{
	struct fetch fetch = {.server = server, .question = question, .group_by = group_by, .step_ms = step_ms, .series = series};

	*series = (struct series){.lines = NULL};
	if (!begin(series))
		return cli_no_memory();
	int64_t known = server->longest_ms;
	enum cli_status status = fill_window(&fetch);
	if (status == CLI_FAILED && server->longest_ms != known) { /* refused as too long: now in pieces */
		if (!begin(series))
			return cli_no_memory();
		status = fill_window(&fetch);
	}
	put_in_order(series);
	if (status == CLI_OK && series->lines_n == 0)
		return CLI_EMPTY;
	return status;
}

void series_release(struct series *series)
{
	pp_intern_free(series->keys);
	pp_arena_free(series->arena);
	*series = (struct series){.lines = NULL};
}

static bool has_point(const struct series_line *line, int64_t time_ms)
{
	struct series_point wanted = {time_ms, 0};

	return line->points_n > 0 && bsearch(&wanted, line->points, line->points_n, sizeof(wanted), compare_points);
}

void series_cover(const struct series_line *lines, size_t lines_n, const struct window *window, int64_t step_ms,
                  struct series_coverage *coverage)
{
	*coverage = (struct series_coverage){.step_ms = step_ms};
	for (int64_t at = window->from_ms; at < window->to_ms; at += step_ms) {
		int64_t end = at + step_ms;
		bool any = false;
		/* The last step may be cut short, by the end of the window or by a millisecond before the next piece. */
		for (size_t i = 0; !any && i < lines_n; i++)
			any = has_point(&lines[i], end) || (end > window->to_ms && has_point(&lines[i], window->to_ms));
		coverage->steps++;
		coverage->covered += any;
		if (any && !coverage->first_ms)
			coverage->first_ms = end < window->to_ms ? end : window->to_ms;
		if (any)
			coverage->last_ms = end < window->to_ms ? end : window->to_ms;
	}
}
