/* Functions that changed their name or their place. Who is who is judged as in the comparison of frames (rename.h), by the same rules
 * and the same likeness, from what is known here: the paths to application functions and what lies below them. */
#include "libdiff/explain_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "libdiff/rename.h"
#include "libdiff/rename_groups.h"

#define GROWTH_FUNCTIONS 5 /* that both sides have, each */
#define GROWTH_COUNT 8.0   /* with so many samples, to tell how much all grew */
#define VERTICALS 200      /* moves between a function and its caller, at most */
#define LEAST_COUNT 8.0    /* samples on each side: not to see it on the other by chance has p = e^-8 */

/* The frames of an explanation as frames of a set. Arrays are by frame of the set, n long. */
struct moving {
	const struct pd_explain *ex;
	struct pp_frames *set;
	uint32_t *of;              /* by frame of ex: which of the set */
	uint32_t *back;            /* and the other way round */
	struct pd_calls *calls;
	struct pd_groups *groups;
	uint32_t *group;
	unsigned *applied;
	size_t n;
};

/* ---- frames ---- */

/* A profile with a location for each frame, in their order: what a set of frames is made of. */
static struct pp_profile *profile_of_frames(const struct pd_explain *ex, struct pp_error *err)
{
	const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_build *build = pp_build_new(&limits, err);
	struct pp_profile *profile = NULL;

	if (!build)
		return NULL;
	for (size_t f = 0; f < ex->frames_n; f++) {
		struct pp_function function = {.name = pp_build_string(build, pp_str_of(ex->frames[f].name)),
		                               .filename = pp_build_string(build, pp_str_of(ex->frames[f].file))};
		struct pp_line line = {pp_build_function(build, &function), 0, 0};
		struct pp_location location = {.address = f + 1, .mapping = PP_NONE};
		pp_build_location(build, &location, &line, 1);
	}
	profile = pp_build_finish(build, err);
	pp_build_free(build);
	return profile;
}

static int make_set(struct pd_explain *ex, struct moving *m, struct pp_error *err)
{
	struct pp_profile *profile = profile_of_frames(ex, err);
	struct pp_frame_map map = {NULL, NULL, PP_NONE};
	int rc = -1;

	m->set = pp_frames_new(PP_BY_FRAMES, err);
	if (!profile || !m->set || pp_frames_map(m->set, profile, &map, err))
		goto done;
	m->n = pp_frames_count(m->set);
	m->of = ex_alloc(ex->arena, ex->frames_n, sizeof(*m->of), err);
	m->back = ex_alloc(ex->arena, m->n, sizeof(*m->back), err);
	if (!m->of || !m->back)
		goto done;
	for (size_t f = ex->frames_n; f-- > 0;)
		m->back[m->of[f] = map.frame[map.first[f]]] = (uint32_t)f;
	rc = 0;
done:
	pp_frame_map_release(&map);
	pp_profile_free(profile);
	return rc;
}

static int make_groups(struct pd_explain *ex, struct moving *m, struct pp_error *err)
{
	m->groups = pd_groups_new(PD_RULES_ALL, (uint64_t)1 << 32);
	m->group = ex_alloc(ex->arena, m->n, sizeof(*m->group), err);
	m->applied = ex_alloc(ex->arena, m->n, sizeof(*m->applied), err);
	if (!m->groups || !m->group || !m->applied)
		return ex_no_memory(err);
	for (uint32_t f = 0; f < m->n; f++)
		if (pd_groups_put(m->groups, pp_frames_at(m->set, f), &m->group[f], &m->applied[f]))
			return ex_no_memory(err);
	return 0;
}

/* ---- calls ---- */

static uint64_t weight_of(double value)
{
	return (uint64_t)fmin(fabs(value), 1e19);
}

double *ex_context_cums(struct pd_explain *ex, enum pd_side side, struct pp_error *err)
{
	double *cum = ex_alloc(ex->arena, ex->contexts_n + 1, sizeof(*cum), err);

	for (size_t c = ex->contexts_n; cum && c-- > 0;) {
		cum[c] += ex->contexts[c].value[side];
		if (ex->contexts[c].parent != PP_NONE)
			cum[ex->contexts[c].parent] += cum[c];
	}
	return cum;
}

/* Callers by the paths; callees by the paths and by all that lies below, where no paths are kept. */
static int note_calls(struct pd_explain *ex, struct moving *m, enum pd_side side, struct pp_error *err)
{
	const double *cum = ex_context_cums(ex, side, err);

	if (!cum)
		return -1;
	for (size_t c = 0; c < ex->contexts_n; c++) {
		uint32_t parent = ex->contexts[c].parent;
		struct pd_call call = {parent == PP_NONE ? PP_NONE : m->of[ex->contexts[parent].frame], m->of[ex->contexts[c].frame],
		                       {weight_of(cum[c]), weight_of(cum[c])}};
		if (pd_calls_put(m->calls, side, &call, err))
			return -1;
	}
	for (size_t b = 0; b < ex->below_n; b++) {
		struct pd_call call = {m->of[ex->below[b].owner], m->of[ex->below[b].frame], {weight_of(ex->below[b].value[side]), 0}};
		if (pd_calls_put(m->calls, side, &call, err))
			return -1;
	}
	for (size_t f = EX_PSEUDO_N; f < ex->frames_n; f++)
		if (pd_calls_put_self(m->calls, side, m->of[f], weight_of((double)ex->frames[f].self[side]), err))
			return -1;
	pd_calls_put_total(m->calls, side, weight_of((double)ex->total[side]));
	return 0;
}

/* ---- who is who ---- */

double ex_count_by_value(const struct pd_explain *ex, enum pd_side side)
{
	double count = 0, value = 0;

	for (size_t j = 0; j < ex->replicates_n; j++)
		if (ex->replicates[j].side == side)
			count += ex->replicates[j].count, value += ex->replicates[j].value;
	return value > 0 ? count / value : 0;
}

/* What the frames cost. Only of application functions is it known what they do, so of others only that they
 * are there; the pseudo frames are on both sides. */
static int note_costs(struct pd_explain *ex, const struct moving *m, struct pd_renames *r, struct pp_error *err)
{
	double by_value[2] = {ex_count_by_value(ex, PD_BASELINE), ex_count_by_value(ex, PD_INCIDENT)};
	bool counted = by_value[0] > 0 && by_value[1] > 0;

	for (int side = 0; side < 2; side++) {
		r->present[side] = ex_alloc(ex->arena, m->n, 1, err);
		r->cost[side] = ex_alloc(ex->arena, m->n, sizeof(*r->cost[side]), err);
		r->count[side] = counted ? ex_alloc(ex->arena, m->n, sizeof(*r->count[side]), err) : NULL;
		r->to[side] = ex_alloc(ex->arena, m->n, sizeof(*r->to[side]), err);
		if (!r->present[side] || !r->cost[side] || (counted && !r->count[side]) || !r->to[side])
			return -1;
		r->total[side] = (double)ex->total[side];
		for (size_t f = 0; f < ex->frames_n; f++) {
			uint32_t of = m->of[f];
			double cost = ex->frames[f].class_ == PD_FRAME_APP ? fabs((double)ex->frames[f].cum[side]) : 0;
			r->present[side][of] |= f < EX_PSEUDO_N || ex->frames[f].cum[side] != 0;
			r->cost[side][of] += cost;
			if (counted)
				r->count[side][of] += cost * by_value[side];
		}
	}
	return 0;
}

static int find_renames(struct pd_explain *ex, struct moving *m, struct pd_renames *r, struct pp_error *err)
{
	if (make_set(ex, m, err) || make_groups(ex, m, err) || !(m->calls = pd_calls_new(err)))
		return -1;
	for (int side = 0; side < 2; side++)
		if (note_calls(ex, m, (enum pd_side)side, err))
			return -1;
	*r = (struct pd_renames){.frames = m->set, .calls = m->calls, .frames_n = m->n, .groups_n = pd_groups_count(m->groups),
	                         .rules = PD_RULES_ALL, .least_count = LEAST_COUNT, .match = true, .group = m->group, .applied = m->applied};
	r->fold_to = ex_alloc(ex->arena, r->groups_n + 1, sizeof(*r->fold_to), err);
	return !r->fold_to || note_costs(ex, m, r, err) ? -1 : pd_find_renames(r, err);
}

/* ---- moves ---- */

/* What is charged to each function on either side. */
static int charged(struct pd_explain *ex, double *value[2], struct pp_error *err)
{
	for (int side = 0; side < 2; side++) {
		value[side] = ex_alloc(ex->arena, ex->frames_n, sizeof(double), err);
		if (!value[side])
			return -1;
		for (size_t c = 0; c < ex->contexts_n; c++)
			value[side][ex->contexts[c].frame] += ex->contexts[c].value[side];
	}
	return 0;
}

/* By how much what most functions cost grew, as one that was only renamed did too: the median over those that both
 * sides have; where they are few, what exposure says. */
static int common_growth(struct pd_explain *ex, double *const value[2], double otherwise, double *growth, struct pp_error *err)
{
	double *ratios = ex_alloc(ex->arena, ex->frames_n, sizeof(*ratios), err);
	size_t n = 0;

	if (!ratios)
		return -1;
	for (uint32_t f = EX_PSEUDO_N; f < ex->frames_n; f++)
		if (value[0][f] * ex_count_by_value(ex, PD_BASELINE) >= GROWTH_COUNT &&
		    value[1][f] * ex_count_by_value(ex, PD_INCIDENT) >= GROWTH_COUNT)
			ratios[n++] = value[1][f] / value[0][f];
	*growth = n >= GROWTH_FUNCTIONS && !ex->options.snapshot ? ex_median(ratios, n) : otherwise;
	return 0;
}

static bool is_move(const struct pd_explain *ex, uint32_t from, uint32_t to)
{
	const struct ex_frame *a = &ex->frames[from], *b = &ex->frames[to];

	return a->class_ == PD_FRAME_APP && b->class_ == PD_FRAME_APP && a->cum[PD_BASELINE] > 0 && a->cum[PD_INCIDENT] == 0 &&
	       b->cum[PD_INCIDENT] > 0 && b->cum[PD_BASELINE] == 0;
}

/* "has its name by rule package", or what the likeness rests on. */
static const char *how(struct pp_arena *arena, unsigned rules)
{
	char text[400] = "";
	size_t n = 0;

	if (!rules)
		return "has its callers, its callees";
	for (int rule = 0; rule < PD_RULES_N && n < sizeof(text); rule++)
		if (rules & (1u << rule))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "", pd_rule_name((enum pd_rule)rule));
	return ex_words(arena, "has its name by rule %s", text);
}

struct sortable {
	const struct pd_explain *ex;
	struct ex_move move;
};
static int by_cost(const void *left, const void *right)
{
	const struct sortable *a = left, *b = right;

	if (a->move.cost != b->move.cost)
		return a->move.cost > b->move.cost ? -1 : 1;
	int order = ex_frame_cmp(a->ex, a->move.to, b->move.to);
	return order ? order : ex_frame_cmp(a->ex, a->move.from, b->move.from);
}

static int sort_moves(struct pd_explain *ex, struct ex_move *moves, size_t n, struct pp_error *err)
{
	struct sortable *sorted = ex_alloc(ex->arena, n + 1, sizeof(*sorted), err);

	if (!sorted)
		return -1;
	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct sortable){ex, moves[i]};
	qsort(sorted, n, sizeof(*sorted), by_cost);
	for (size_t i = 0; i < n; i++)
		moves[i] = sorted[i].move;
	return 0;
}

/* From here on paths bear the new name on both sides: callers and handlers are then the same, too. */
static int rename_paths(struct pd_explain *ex, const struct ex_move *moves, size_t moves_n, struct pp_error *err)
{
	uint32_t *to = ex_alloc(ex->arena, ex->frames_n, sizeof(*to), err);

	if (!to)
		return -1;
	for (uint32_t f = 0; f < ex->frames_n; f++)
		to[f] = f;
	for (size_t i = 0; i < moves_n; i++)
		to[moves[i].from] = moves[i].to;
	for (size_t c = 0; c < ex->contexts_n; c++)
		ex->contexts[c].frame = to[ex->contexts[c].frame];
	for (size_t b = 0; b < ex->below_n; b++) {
		ex->below[b].owner = to[ex->below[b].owner];
		ex->below[b].frame = to[ex->below[b].frame];
	}
	return 0;
}

int ex_find_moves(struct pd_explain *ex, double scale, struct ex_move **moves, size_t *moves_n, struct pp_error *err)
{
	struct moving m = {.ex = ex};
	struct pd_renames r = {.frames = NULL};
	double *value[2];
	int rc = -1;

	*moves_n = 0;
	if (find_renames(ex, &m, &r, err) || !(*moves = ex_alloc(ex->arena, r.found_n + VERTICALS, sizeof(**moves), err)))
		goto done;
	for (size_t i = 0; i < r.found_n; i++) {
		uint32_t from = m.back[r.found[i].other], to = m.back[r.found[i].frame];
		if (is_move(ex, from, to))
			(*moves)[(*moves_n)++] = (struct ex_move){from, to, EX_RENAMED, how(ex->arena, r.found[i].rules), NAN,
			                                          (double)ex->frames[to].cum[PD_INCIDENT]};
	}
	if (rename_paths(ex, *moves, *moves_n, err) || charged(ex, value, err) || common_growth(ex, value, scale, &scale, err))
		goto done;
	for (size_t i = 0; i < *moves_n; i++)
		(*moves)[i].ratio = (*moves)[i].cost / ((double)ex->frames[(*moves)[i].from].cum[PD_BASELINE] * scale);
	if (ex_find_verticals(ex, value, scale, *moves, moves_n, r.found_n + VERTICALS, err) || sort_moves(ex, *moves, *moves_n, err))
		goto done;
	rc = 0;
done:
	free(r.found);
	pd_groups_free(m.groups);
	pd_calls_free(m.calls);
	pp_frames_free(m.set);
	return rc;
}
