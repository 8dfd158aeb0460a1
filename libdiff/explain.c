#include "libdiff/explain_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES ((uint64_t)8 << 30)

const char *pd_verdict_name(enum pd_verdict verdict)
{
	static const char *const names[] = {"code", "runtime", "moved", "mix", "load", "none", "inconclusive"};

	return names[verdict];
}

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
}

void *ex_alloc(struct pp_arena *arena, size_t n, size_t bytes, struct pp_error *err)
{
	size_t size;
	void *block = pp_mul_size(n, bytes, &size) ? pp_arena_alloc(arena, size) : NULL;

	if (!block)
		no_memory(err);
	else
		memset(block, 0, size);
	return block;
}

/* ---- frames ---- */

static int new_frame(struct pd_explain *ex, const char *name, size_t name_n, struct pp_str file, enum pd_frame_class class_,
                     struct pp_error *err)
{
	if (pp_arena_reserve(ex->arena, (void **)&ex->frames, &ex->frames_cap, ex->frames_n + 1, sizeof(*ex->frames)))
		return no_memory(err);
	struct ex_frame *frame = &ex->frames[ex->frames_n];
	memset(frame, 0, sizeof(*frame));
	frame->name = pp_arena_copy(ex->arena, name, name_n);
	frame->file = pp_arena_copy(ex->arena, file.ptr, file.len);
	frame->class_ = class_;
	frame->anonymous = pd_frame_anonymous((struct pp_str){name, name_n});
	if (!frame->name || !frame->file)
		return no_memory(err);
	ex->frames_n++;
	return 0;
}

static bool qualified(const char *name, size_t n)
{
	return memchr(name, '.', n) || memchr(name, ':', n) || memchr(name, '/', n);
}

static int classify(struct pd_explain *ex, struct pp_str name, struct pp_str file, struct pp_str mapping, bool scripts,
                    enum pd_frame_class *class_, struct pp_error *err)
{
	bool matches = false;

	if (ex->app && pp_regex_match(ex->app, name, &matches, err))
		return -1;
	*class_ = matches ? PD_FRAME_APP : pd_frame_classify(name, file, mapping);
	/* Among scripts, what has neither file nor mapping is built into the engine. */
	if (!matches && scripts && *class_ == PD_FRAME_APP && !file.len && !mapping.len)
		*class_ = PD_FRAME_RUNTIME;
	return 0;
}

/* The frame of a function, closures folded. Names that say no package are told apart by file. */
static uint32_t frame_of(struct pd_explain *ex, struct pp_str name, struct pp_str file, struct pp_str mapping, bool scripts,
                         char **key, size_t *key_cap, struct pp_error *err)
{
	size_t want = name.len + file.len + mapping.len + 16, n;
	enum pd_frame_class class_;
	bool is_new;

	if (want > *key_cap) {
		char *larger = realloc(*key, want * 2);
		if (!larger) {
			no_memory(err);
			return PP_NONE;
		}
		*key = larger;
		*key_cap = want * 2;
	}
	if (name.len)
		n = pd_frame_fold(name, *key);
	else
		memcpy(*key, mapping.ptr, n = mapping.len);
	size_t name_n = n;
	if (name.len && !qualified(*key, n)) {
		(*key)[n++] = '\0';
		memcpy(*key + n, file.ptr, file.len);
		n += file.len;
	}
	uint32_t id = pp_intern_put(ex->frame_ids, *key, n, &is_new);
	if (id == PP_NONE) {
		no_memory(err);
		return PP_NONE;
	}
	if (!is_new)
		return id + EX_PSEUDO_N;
	if (classify(ex, name, file, mapping, scripts, &class_, err) ||
	    new_frame(ex, name_n ? *key : "(unknown)", name_n ? name_n : 9, file, class_, err))
		return PP_NONE;
	return id + EX_PSEUDO_N;
}

/* The frames of all locations of a profile: those of location l are frame[first[l] … first[l + 1]),
 * innermost first. */
struct location_frames {
	uint32_t *first, *frame;
};

static int map_locations(struct pd_explain *ex, const struct pp_profile *p, struct location_frames *map,
                         struct pp_error *err)
{
	static const struct pp_str nothing = {"", 0};
	char *key = NULL;
	size_t key_cap = 0;
	uint32_t at = 0;
	bool scripts = false;
	int rc = -1;

	for (uint32_t f = 0; f < p->functions_n && !scripts; f++)
		scripts = pd_file_is_script(pp_string(p, p->functions[f].filename));
	map->first = malloc(((size_t)p->locations_n + 1) * sizeof(*map->first));
	map->frame = malloc(((size_t)p->locations_n + p->lines_n + 1) * sizeof(*map->frame));
	if (!map->first || !map->frame) {
		no_memory(err);
		goto done;
	}
	for (uint32_t l = 0; l < p->locations_n; l++) {
		const struct pp_location *location = &p->locations[l];
		struct pp_str mapping =
			location->mapping == PP_NONE ? nothing : pp_string(p, p->mappings[location->mapping].filename);
		map->first[l] = at;
		for (uint32_t i = 0; i < location->lines_n || i == 0; i++) {
			uint32_t function = location->lines_n ? p->lines[location->line_first + i].function : PP_NONE;
			struct pp_str name = nothing, file = nothing;
			if (function != PP_NONE) {
				name = pp_string(p, p->functions[function].name);
				file = pp_string(p, p->functions[function].filename);
			}
			map->frame[at] = frame_of(ex, name, file, mapping, scripts, &key, &key_cap, err);
			if (map->frame[at++] == PP_NONE)
				goto done;
		}
	}
	map->first[p->locations_n] = at;
	rc = 0;
done:
	free(key);
	return rc;
}

/* ---- contexts and what lies below them ---- */

static uint32_t context_put(struct pd_explain *ex, uint32_t parent, uint32_t frame, struct pp_error *err)
{
	uint32_t id;

	if (pp_arena_reserve(ex->arena, (void **)&ex->contexts, &ex->contexts_cap, ex->contexts_n + 1, sizeof(*ex->contexts))) {
		no_memory(err);
		return PP_NONE;
	}
	if (pd_pairs_put(&ex->context_ids, parent, frame, ex->contexts, sizeof(*ex->contexts), &id, err))
		return PP_NONE;
	if (id != PP_NONE)
		return id;
	ex->contexts[ex->contexts_n] = (struct ex_context){parent, frame, {0, 0}};
	return (uint32_t)ex->contexts_n++;
}

static int below_add(struct pd_explain *ex, uint32_t owner, uint32_t frame, enum pd_side side, double value, uint32_t depth,
                     struct pp_error *err)
{
	uint32_t id;

	if (pp_arena_reserve(ex->arena, (void **)&ex->below, &ex->below_cap, ex->below_n + 1, sizeof(*ex->below)))
		return no_memory(err);
	if (pd_pairs_put(&ex->below_ids, owner, frame, ex->below, sizeof(*ex->below), &id, err))
		return -1;
	if (id == PP_NONE) {
		id = (uint32_t)ex->below_n++;
		ex->below[id] = (struct ex_below){.owner = owner, .frame = frame};
	}
	ex->below[id].value[side] += value;
	ex->below[id].depth += fabs(value) * depth;
	return 0;
}

/* Marks of what a stack was charged for already, so that recursion counts once. */
struct seen {
	uint32_t *stack_of; /* by frame: the last stack + 1 that charged it */
	size_t n;
};

static int seen_grow(struct seen *seen, size_t frames_n, struct pp_error *err)
{
	uint32_t *larger = realloc(seen->stack_of, frames_n * sizeof(*larger));

	if (!larger)
		return no_memory(err);
	seen->stack_of = larger;
	memset(larger + seen->n, 0, (frames_n - seen->n) * sizeof(*larger));
	seen->n = frames_n;
	return 0;
}

/* The frames of a stack, root first, in *out (room for all); returns how many. */
static size_t unroll(const struct pp_stack *stack, const struct location_frames *map, uint32_t *out)
{
	size_t n = 0;

	for (uint32_t i = stack->n; i-- > 0;)
		for (uint32_t k = map->first[stack->locations[i] + 1]; k-- > map->first[stack->locations[i]];)
			out[n++] = map->frame[k];
	return n;
}

/* The frame that stands for the application frame at this place of a stack: itself, or for a closure
 * without a name the function of the same file that called it, without a library in between. */
static size_t named(const struct pd_explain *ex, const uint32_t *frames, size_t at)
{
	const char *file = ex->frames[frames[at]].file;

	if (!ex->frames[frames[at]].anonymous)
		return at;
	for (size_t i = at; i-- > 0;) {
		const struct ex_frame *frame = &ex->frames[frames[i]];
		if (frame->class_ == PD_FRAME_LIBRARY || (frame->class_ == PD_FRAME_APP && strcmp(frame->file, file) != 0))
			return at;
		if (frame->class_ == PD_FRAME_APP && !frame->anonymous)
			return i;
	}
	return at;
}

/* Where this function was entered first: recursion and closures called back by a library are within it. */
static size_t outermost(const uint32_t *frames, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (frames[i] == frames[at])
			return i;
	return at;
}

/* Charges one stack: its frames' self and cumulative values, its context, and the frames below. */
static int charge_stack(struct pd_explain *ex, enum pd_side side, const uint32_t *frames, size_t n, int64_t value,
                        struct seen *seen, uint32_t mark, uint32_t *context, struct pp_error *err)
{
	size_t app = n, collector = n;

	for (size_t i = 0; i < n; i++) {
		struct ex_frame *frame = &ex->frames[frames[i]];
		if (frame->class_ == PD_FRAME_APP)
			app = i;
		if (frame->class_ == PD_FRAME_COLLECTOR && collector == n)
			collector = i;
		if (seen->stack_of[frames[i]] != mark && !pp_add_i64(frame->cum[side], value, &frame->cum[side]))
			return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the cumulative sum of a function does not fit 64 bits");
		seen->stack_of[frames[i]] = mark;
	}
	if (n && !pp_add_i64(ex->frames[frames[n - 1]].self[side], value, &ex->frames[frames[n - 1]].self[side]))
		return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the sum of a function does not fit 64 bits");

	if (app < n)
		app = outermost(frames, named(ex, frames, app));
	uint32_t owner = collector < n ? EX_COLLECTOR : app < n ? frames[app] : EX_FRAMELESS;
	size_t below = collector < n ? collector : app < n ? app + 1 : 0;
	*context = PP_NONE;
	if (owner >= EX_PSEUDO_N) {
		for (size_t i = 0; i <= app; i++) {
			if (i > 0 && frames[i] == frames[i - 1])
				continue;
			*context = context_put(ex, *context, frames[i], err);
			if (*context == PP_NONE)
				return -1;
		}
	} else {
		*context = context_put(ex, PP_NONE, owner, err);
		if (*context == PP_NONE)
			return -1;
	}
	ex->contexts[*context].value[side] += (double)value;
	/* A second mark for "charged below", by the highest bit. */
	for (size_t i = below; i < n; i++) {
		if (seen->stack_of[frames[i]] == (mark | UINT32_C(0x80000000)))
			continue;
		seen->stack_of[frames[i]] = mark | UINT32_C(0x80000000);
		if (frames[i] != owner && below_add(ex, owner, frames[i], side, (double)value, (uint32_t)(i - below), err))
			return -1;
	}
	return 0;
}

/* ---- one profile ---- */

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
	return ex->label_key ? 0 : no_memory(err);
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
			return *value == PP_NONE ? no_memory(err) : keep_label_key(ex, key, err);
		}
	return 0;
}

/* By label list: which label value it holds, or PP_NONE. */
static uint32_t *map_labels(struct pd_explain *ex, const struct pp_profile *p, struct pp_error *err)
{
	bool known = ex->options.load && ex->options.load->values_n;
	uint32_t *value = malloc((size_t)p->label_lists_n * sizeof(*value) + 1);

	if (!value) {
		no_memory(err);
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

static int by_context_label(const void *a, const void *b)
{
	const struct ex_cell *x = a, *y = b;

	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return x->label < y->label ? -1 : x->label > y->label;
}

/* Sorts cells and adds up equal ones. */
static size_t fold_cells(struct ex_cell *cells, size_t n)
{
	size_t out = 0;

	qsort(cells, n, sizeof(*cells), by_context_label);
	for (size_t i = 0; i < n; i++) {
		if (out > 0 && by_context_label(&cells[out - 1], &cells[i]) == 0)
			cells[out - 1].value += cells[i].value;
		else
			cells[out++] = cells[i];
	}
	return out;
}

static int add_samples(struct pd_explain *ex, struct ex_replicate *replicate, const struct pp_profile *p, uint32_t column,
                       struct pp_error *err)
{
	struct location_frames map = {NULL, NULL};
	struct seen seen = {NULL, 0};
	int64_t *stack_value = calloc((size_t)p->stacks_n + 1, sizeof(*stack_value));
	uint32_t *context = malloc(((size_t)p->stacks_n + 1) * sizeof(*context)), *label = map_labels(ex, p, err);
	uint32_t *frames = NULL;
	size_t frames_cap = 0;
	struct ex_cell *cells = malloc(((size_t)p->samples_n + 1) * sizeof(*cells));
	struct pp_count_rule rule;
	int rc = -1;

	if (!stack_value || !context || !label || !cells) {
		no_memory(err);
		goto done;
	}
	pp_count_rule_for(p, column, &rule);
	for (uint32_t s = 0; s < p->samples_n; s++) {
		int64_t value = pp_value(p, s, column), *sum = &stack_value[p->sample_stack[s]];
		if (!pp_add_i64(*sum, value, sum) || !pp_add_i64(ex->total[replicate->side], value, &ex->total[replicate->side])) {
			pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the sum of the samples does not fit 64 bits");
			goto done;
		}
		replicate->value += (double)value;
		if (value && rule.method != PP_COUNT_NOT_MEASURED)
			replicate->count += pp_sample_count(p, &rule, s);
	}
	if (map_locations(ex, p, &map, err) || seen_grow(&seen, ex->frames_n, err))
		goto done;
	for (uint32_t s = 0; s < p->stacks_n; s++) {
		size_t n = 0;
		if (!stack_value[s])
			continue;
		for (uint32_t i = 0; i < p->stacks[s].n; i++)
			n += map.first[p->stacks[s].locations[i] + 1] - map.first[p->stacks[s].locations[i]];
		if (n > frames_cap) {
			free(frames);
			frames_cap = n * 2;
			frames = malloc(frames_cap * sizeof(*frames));
			if (!frames) {
				no_memory(err);
				goto done;
			}
		}
		n = unroll(&p->stacks[s], &map, frames);
		if (charge_stack(ex, replicate->side, frames, n, stack_value[s], &seen, s + 1, &context[s], err))
			goto done;
	}
	size_t n = 0;
	for (uint32_t s = 0; s < p->samples_n; s++)
		if (stack_value[p->sample_stack[s]] && pp_value(p, s, column))
			cells[n++] = (struct ex_cell){context[p->sample_stack[s]], label[p->sample_labels[s]],
			                              (double)pp_value(p, s, column)};
	replicate->cells_n = fold_cells(cells, n);
	replicate->cells = ex_alloc(ex->arena, replicate->cells_n + 1, sizeof(*cells), err);
	if (!replicate->cells)
		goto done;
	memcpy(replicate->cells, cells, replicate->cells_n * sizeof(*cells));
	rc = 0;
done:
	free(map.first);
	free(map.frame);
	free(seen.stack_of);
	free(stack_value);
	free(context);
	free(label);
	free(frames);
	free(cells);
	return rc;
}

int pd_explain_add(struct pd_explain *ex, enum pd_side side, const struct pp_profile *profile, uint32_t column,
                   const struct pd_load_row *row, struct pp_error *err)
{
	if (pp_arena_reserve(ex->arena, (void **)&ex->replicates, &ex->replicates_cap, ex->replicates_n + 1,
	                     sizeof(*ex->replicates)))
		return no_memory(err);
	struct ex_replicate *replicate = &ex->replicates[ex->replicates_n];
	*replicate = (struct ex_replicate){.side = side, .row = row};
	replicate->seconds = profile->duration_ns > 0 ? (double)profile->duration_ns / 1e9 : 0;
	if (row && row->window_s > 0)
		replicate->seconds = row->window_s;
	if (add_samples(ex, replicate, profile, column, err))
		return -1;
	ex->replicates_n++;
	ex->side_n[side]++;
	return 0;
}

/* ---- life ---- */

struct pd_explain *pd_explain_new(const struct pd_explain_options *options, struct pp_error *err)
{
	struct pp_arena *arena = pp_arena_new(ARENA_BYTES);
	struct pd_explain *ex = arena ? ex_alloc(arena, 1, sizeof(*ex), err) : NULL;

	if (!ex) {
		pp_arena_free(arena);
		no_memory(err);
		return NULL;
	}
	ex->arena = arena;
	ex->options = *options;
	ex->frame_ids = pp_intern_new(arena);
	ex->label_ids = pp_intern_new(arena);
	if (!ex->label_ids || !ex->frame_ids) {
		no_memory(err);
		goto failed;
	}
	if (options->app) {
		ex->app = pp_regex_new(pp_str_of(options->app), false, err);
		if (!ex->app)
			goto failed;
	}
	if (new_frame(ex, "(garbage collection)", 20, pp_str_of(""), PD_FRAME_COLLECTOR, err) ||
	    new_frame(ex, "(no application frame)", 22, pp_str_of(""), PD_FRAME_RUNTIME, err))
		goto failed;
	return ex;
failed:
	pd_explain_free(ex);
	return NULL;
}

void pd_explain_free(struct pd_explain *ex)
{
	if (!ex)
		return;
	pp_regex_free(ex->app);
	pp_intern_free(ex->frame_ids);
	pd_pairs_release(&ex->context_ids);
	pd_pairs_release(&ex->below_ids);
	pp_intern_free(ex->label_ids);
	pp_arena_free(ex->arena);
}

void pd_explanation_free(struct pd_explanation *explanation)
{
	if (explanation)
		pp_arena_free(explanation->arena);
}
