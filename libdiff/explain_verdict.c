/* From rises, moves, load and mix to causes, each with its words. */
#include "libdiff/explain_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOAD_RATIO 1.25       /* requests a second: smaller changes are not called load */
#define LOAD_RATIO_ALONE 1.5  /* with one replicate on a side */
#define LOAD_P 0.01
#define MIX_DISTANCE 0.05     /* of the request mix: smaller shifts are not called mix */
#define MIX_RATIO 1.5         /* estimated: how far apart label values must grow */
#define MACHINE_RATIO 1.3     /* every function dearer by this is more than a busy machine here and there */
#define RISE_SHARE 0.25       /* of a whole change that nobody can divide by requests: smaller rises are not called code */
#define UNEXPLAINED_RATIO 2.0 /* all functions together dearer by this is not nothing, whatever the noise */
#define STEPS_UP 4            /* from a function that rose to the caller that calls it more often */
#define FALLEN_SHARE 0.5      /* of a rise, that what stands beside the function on the stack may cost less */
#define DOUBT 0.1             /* of the false discovery rate, for a rise beside another explanation */
#define COUNT_MIN 50.0        /* samples of a side, below which nothing is said */

static double percent(double share)
{
	return 100 * share;
}

struct pd_cause *ex_add_cause(struct pd_explanation *out, enum pd_verdict verdict, const char *reason)
{
	struct pd_cause *cause = &out->causes[out->causes_n++];

	*cause = (struct pd_cause){.verdict = verdict, .share = NAN, .file = "", .expected = NAN, .observed = NAN,
	                           .ratio = NAN, .slice_share = NAN, .changed_share = NAN, .p = NAN, .q = NAN, .reason = reason};
	return cause;
}

static void locate(const struct pd_explain *ex, uint32_t frame, double scale, struct pp_arena *arena, struct pd_cause *cause)
{
	cause->location = ex_words(arena, "%s", ex->frames[frame].name);
	cause->file = ex_words(arena, "%s", ex->frames[frame].file);
	cause->path = ex_path(ex, frame, scale, arena);
	for (int side = 0; side < 2; side++) {
		cause->self[side] = ex->frames[frame].self[side];
		cause->cum[side] = ex->frames[frame].cum[side];
	}
}

static double group_scale(const struct ex_group *group, double otherwise)
{
	return group->base > 0 ? group->expected / group->base : otherwise;
}

/* Which label value carries most of a group's rise, and in how many replicates it rose. */
static int find_slice(struct pd_explain *ex, const struct ex_fit *fit, const struct ex_group *group,
                      struct pd_explanation *out, struct pd_cause *cause, struct pp_error *err)
{
	size_t g = (size_t)(group - fit->groups), labels_n = fit->by_label ? fit->labels_n - 1 : 0;
	double *cost[2], *served[2], up = 0, most = 0;

	for (int side = 0; side < 2; side++) {
		cost[side] = ex_alloc(ex->arena, labels_n + 1, sizeof(double), err);
		served[side] = ex_alloc(ex->arena, labels_n + 1, sizeof(double), err);
		if (!cost[side] || !served[side])
			return -1;
	}
	for (size_t j = 0; j < ex->replicates_n; j++) {
		const struct ex_replicate *replicate = &ex->replicates[j];
		double expected = fit->expected[g * fit->pods_n + j] * fit->factor[j] * (group->base > 0);
		cause->risen_in += replicate->side == PD_INCIDENT && fit->observed[g * fit->pods_n + j] > expected;
		for (size_t l = 0; l < labels_n; l++)
			served[replicate->side][l] += fit->served[j * fit->labels_n + l];
		for (size_t c = 0; labels_n && c < replicate->cells_n; c++)
			if (fit->group_of[ex->contexts[replicate->cells[c].context].frame] == g && replicate->cells[c].label < labels_n)
				cost[replicate->side][replicate->cells[c].label] += replicate->cells[c].value;
	}
	for (size_t l = 0; l < labels_n; l++) {
		double expected = served[0][l] > 0 ? cost[0][l] * served[1][l] / served[0][l] : 0, rise = cost[1][l] - expected;
		up += rise > 0 ? rise : 0;
		if (rise > most) {
			most = rise;
			cause->slice = ex_label(ex, (uint32_t)l);
		}
	}
	cause->slice_share = up > 0 ? most / up : NAN;
	if (cause->slice)
		cause->slice = ex_words(out->arena, "%s", cause->slice);
	return 0;
}

/* Of a group's rise, what lies in stacks that pass a changed function or file; NAN: not asked. */
static double touched_rise(const struct pd_explain *ex, const struct ex_group *group, double scale)
{
	const struct ex_frame *frame = &ex->frames[group->frame];
	double base = frame->touched[0] + (group->renamed_from == PP_NONE ? 0 : ex->frames[group->renamed_from].touched[0]);

	return ex->options.changed && group->rise != 0 ? frame->touched[1] - base * scale : NAN;
}

/* The caller that does more of all, and its caller, if that does, as far up as each rose itself. */
static int find_doer(struct pd_explain *ex, const struct ex_fit *fit, const struct ex_group *group, double scale,
                     uint32_t *caller, const char **why, struct pp_error *err)
{
	uint32_t next;

	*caller = PP_NONE;
	for (int step = 0; step < STEPS_UP; step++) {
		if (ex_caller_that_does_more(ex, fit, group, scale, &next, why, err))
			return -1;
		if (next == PP_NONE)
			return 0;
		*caller = next;
		if (fit->group_of[next] == PP_NONE || !fit->groups[fit->group_of[next]].rose)
			return 0;
		group = &fit->groups[fit->group_of[next]];
	}
	return 0;
}

static int add_rise(struct pd_explain *ex, const struct ex_fit *fit, const struct ex_group *group,
                    enum pd_verdict verdict, double scale, struct pd_explanation *out, struct pp_error *err)
{
	const char *what = fit->estimated ? "beside the other functions of its endpoint" : fit->requests ? "per request" : ex->options.snapshot ? "in all" : "beside the other functions";
	const char *reason =
		group->expected > 0 && isfinite(group->ratio)
			? ex_words(out->arena, "%.2f times the cost %s (q = %.2g)", group->ratio, what, group->q)
			: ex_words(out->arena, "new: the baseline has no cost here (q = %.2g)", group->q);
	struct pd_cause *cause = ex_add_cause(out, verdict, reason);
	double own = group_scale(group, scale);

	const char *why = "no more under its other callers";
	uint32_t caller;

	if (ex_caller_that_rose(ex, fit, group, own, &caller, err))
		return -1;
	if (caller == PP_NONE && find_doer(ex, fit, group, own, &caller, &why, err))
		return -1;
	cause->mechanism = ex_mechanism(ex, group, own, out->arena);
	if (caller != PP_NONE) {
		const char *helper = ex->frames[group->frame].name;
		locate(ex, caller, own, out->arena, cause);
		cause->mechanism = cause->mechanism ? ex_words(out->arena, "%s;%s", helper, cause->mechanism) : ex_words(out->arena, "%s", helper);
		cause->reason = ex_words(out->arena, "%s, which it calls: %s, and %s", helper, cause->reason, why);
	} else if (group->frame >= EX_PSEUDO_N) {
		locate(ex, group->frame, own, out->arena, cause);
	}
	if (group->renamed_from != PP_NONE)
		cause->moved_from = ex_words(out->arena, "%s", ex->frames[group->renamed_from].name);
	cause->expected = group->expected;
	cause->observed = group->incident;
	cause->ratio = group->ratio;
	cause->p = group->p;
	cause->q = group->q;
	cause->share = fabs(group->rise);
	cause->changed_share = touched_rise(ex, group, own) / group->rise;
	return find_slice(ex, fit, group, out, cause, err);
}

static void add_move(const struct pd_explain *ex, const struct ex_move *move, double scale, struct pd_explanation *out)
{
	const char *from = ex->frames[move->from].name;
	struct pd_cause *cause = ex_add_cause(
		out, PD_VERDICT_MOVED,
		move->kind == EX_INLINED ? ex_words(out->arena, "'%s', which it called, is gone, and this costs %.2f times that more", from, move->ratio)
		: move->kind == EX_EXTRACTED
			? ex_words(out->arena, "it is new, and '%s', which calls it, costs less by %.2f times its cost", from, move->ratio)
			: ex_words(out->arena, "'%s' is gone and this %s and %.2f times its cost", from, move->how, move->ratio));

	locate(ex, move->to, scale, out->arena, cause);
	for (int side = 0; side < 2; side++) {
		cause->self[side] = ex->frames[side ? move->to : move->from].self[side];
		cause->cum[side] = ex->frames[side ? move->to : move->from].cum[side];
	}
	cause->moved_from = ex_words(out->arena, "%s", from);
	cause->ratio = move->ratio;
	cause->observed = move->cost;
	cause->expected = move->cost / move->ratio;
	cause->share = move->cost;
}

/* ---- what is known about the whole ---- */

bool ex_replicated(const struct pd_explain *ex)
{
	return ex->side_n[0] >= 2 && ex->side_n[1] >= 2;
}

static bool rate_changed(const struct pd_explain *ex, const struct ex_fit *fit)
{
	double ratio = fit->load_ratio > 1 ? fit->load_ratio : 1 / fit->load_ratio;

	if (isnan(ratio))
		return false;
	return ex_replicated(ex) ? ratio > LOAD_RATIO && fit->load_p < LOAD_P : ratio > LOAD_RATIO_ALONE;
}

static bool mix_changed(const struct pd_explain *ex, const struct ex_fit *fit)
{
	if (fit->estimated)
		return fit->mix_ratio > MIX_RATIO && fit->mix_p < LOAD_P;
	return fit->mix_distance > MIX_DISTANCE &&
	       (ex_replicated(ex) ? fit->mix_p < LOAD_P : fit->mix_distance > 2 * fit->mix_noise);
}

/* The ratio of the machine factors of the sides, where it is more than noise; else 1. */
static double machine_ratio(const struct pd_explain *ex, const struct ex_fit *fit, struct pp_arena *arena)
{
	double *factors = pp_arena_alloc(arena, 2 * ex->replicates_n * sizeof(*factors)), sum[2] = {0, 0};
	size_t n[2] = {0, 0};

	if (!factors)
		return 1;
	for (size_t j = 0; j < ex->replicates_n; j++) {
		enum pd_side side = ex->replicates[j].side;
		factors[side * ex->replicates_n + n[side]++] = fit->factor[j];
		sum[side] += log(fit->factor[j]);
	}
	double ratio = exp(sum[1] / (double)n[1] - sum[0] / (double)n[0]);
	double p = ex_log_t(factors, n[0], factors + ex->replicates_n, n[1]);
	return (ratio > MACHINE_RATIO || ratio < 1 / MACHINE_RATIO) && p < LOAD_P ? ratio : 1;
}

/* Requests are estimated to have changed, and the rises are little beside that. */
static bool all_alike(const struct pd_explain *ex, const struct ex_fit *fit)
{
	double growth = fit->growth > 1 ? fit->growth : 1 / fit->growth, base = 0, incident = 0, risen = 0;

	for (size_t g = 0; g < fit->groups_n; g++) {
		base += fit->groups[g].base;
		incident += fit->groups[g].incident;
		risen += fit->groups[g].rose ? fit->groups[g].rise : 0;
	}
	return growth > LOAD_RATIO && risen < RISE_SHARE * fabs(incident - base * ex_scale(ex));
}

/* Why rises cannot be called code, or NULL. */
static const char *why_not_code(const struct pd_explain *ex, const struct ex_fit *fit)
{
	if (ex->options.snapshot)
		return NULL;
	if (fit->estimated)
		return all_alike(ex, fit) ? "load or code: nearly all of the change is in everything alike, and requests are not known; "
		                            "a load.tsv with the requests of each replicate would settle it" : NULL;
	if (!fit->requests)
		return "mix or code: requests by endpoint are not known; a load.tsv with the requests of each replicate by "
		       "endpoint would settle it";
	if (ex->options.load->values_n == 0)
		return "mix or code: load.tsv does not tell endpoints apart; requests by endpoint would settle it";
	if (!fit->by_label && mix_changed(ex, fit))
		return "mix or code: the request mix shifted and the samples do not say which endpoint they served; profiles "
		       "with an endpoint label would settle it";
	return NULL;
}

/* ---- the list ---- */

/* By what is certain of a rise: noise makes large ones of large functions. */
static int by_rise(const void *a, const void *b)
{
	const struct ex_group *x = *(const struct ex_group *const *)a, *y = *(const struct ex_group *const *)b;

	return x->certain > y->certain ? -1 : x->certain < y->certain;
}

static size_t risen(const struct pd_explain *ex, const struct ex_fit *fit, bool pseudo, const struct ex_group **list)
{
	size_t n = 0;

	for (size_t g = 0; g < fit->groups_n; g++)
		if (fit->groups[g].rose && (fit->groups[g].frame < EX_PSEUDO_N) == pseudo)
			list[n++] = &fit->groups[g];
	qsort(list, n, sizeof(*list), by_rise);
	/* Equal rises: by name. */
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0 && list[k]->certain == list[k - 1]->certain &&
		                   ex_frame_cmp(ex, list[k]->frame, list[k - 1]->frame) < 0; k--) {
			const struct ex_group *swap = list[k];
			list[k] = list[k - 1];
			list[k - 1] = swap;
		}
	return n;
}

/* The label value whose share of the requests grew most. */
static void find_mix_slice(const struct pd_explain *ex, struct pd_explanation *out, struct pd_cause *cause)
{
	double all[2] = {0, 0}, most = 0;

	for (size_t j = 0; j < ex->replicates_n; j++)
		all[ex->replicates[j].side] += ex->replicates[j].row->total;
	for (size_t l = 0; l < ex->options.load->values_n; l++) {
		double share[2] = {0, 0};
		for (size_t j = 0; j < ex->replicates_n; j++)
			share[ex->replicates[j].side] += ex->replicates[j].row->by_value[l] / all[ex->replicates[j].side];
		if (share[1] - share[0] > most) {
			most = share[1] - share[0];
			cause->slice = ex_words(out->arena, "%s", ex->options.load->values[l]);
			cause->slice_share = share[1];
		}
	}
}

/* A label value grew beside the others, and has too few functions to tell more requests from dearer ones. */
static void add_lone(const struct pd_explain *ex, const struct ex_fit *fit, struct pd_explanation *out)
{
	struct pd_cause *cause = ex_add_cause(
		out, PD_VERDICT_INCONCLUSIVE,
		ex_words(out->arena, "mix or code: %s costs %.2f times as much beside the others, in too few functions to tell more "
	             "requests from dearer ones; a load.tsv with the requests of each replicate by endpoint would settle it",
	             ex_label(ex, fit->lone_label), fit->lone_ratio));

	cause->slice = ex_words(out->arena, "%s", ex_label(ex, fit->lone_label));
}

/* Whether the growth of that value is its one function's own. */
static bool lone_explained(const struct ex_fit *fit)
{
	uint32_t group = fit->lone_group[fit->lone_label];

	return group != PP_NONE && fit->groups[group].rose;
}

/* The mix as the functions show it: nobody counted requests. */
static void add_estimated_mix(const struct pd_explain *ex, const struct ex_fit *fit, struct pd_explanation *out)
{
	struct pd_cause *cause =
		ex_add_cause(out, PD_VERDICT_MIX,
	              ex_words(out->arena, "the functions of one endpoint grew %.2f times as much as those of another, all of them "
	                       "alike; requests are not measured, so this is an estimate", fit->mix_ratio));

	cause->share = NAN;
	cause->slice = ex_words(out->arena, "%s", ex_label(ex, fit->mix_label));
}

static void add_mix(const struct pd_explain *ex, const struct ex_fit *fit, struct pd_explanation *out)
{
	struct pd_cause *cause =
		ex_add_cause(out, PD_VERDICT_MIX,
	              ex_words(out->arena, "the request mix shifted by %.1f %% (half the sum of the changes of shares; replicates "
	                       "differ by up to %.1f %%)", percent(fit->mix_distance), percent(fit->mix_noise)));

	cause->share = fabs(fit->mix_change);
	find_mix_slice(ex, out, cause);
}

static void add_load(const struct ex_fit *fit, struct pd_explanation *out)
{
	struct pd_cause *cause =
		ex_add_cause(out, PD_VERDICT_LOAD,
	              ex_words(out->arena, "%.2f times the requests a second and replicate%s", fit->load_ratio,
	                       isnan(fit->load_p) ? "" : ", beyond what replicates differ by"));

	cause->share = fabs(fit->load_change);
	cause->ratio = fit->load_ratio;
}

/* What all application functions together cost beside what was expected of them. */
static double whole_ratio(const struct ex_fit *fit)
{
	double expected = 0, incident = 0;

	for (size_t g = 0; g < fit->groups_n; g++) {
		expected += fit->groups[g].frame >= EX_PSEUDO_N ? fit->groups[g].expected : 0;
		incident += fit->groups[g].frame >= EX_PSEUDO_N ? fit->groups[g].incident : 0;
	}
	return expected > 0 ? incident / expected : 1;
}

/* What fell most, of the functions that cost less beyond noise; "" where none did. */
static const char *words_of_fall(const struct pd_explain *ex, const struct ex_fit *fit, struct pp_arena *arena)
{
	const struct ex_group *most = NULL;
	size_t tested_n = 0;

	for (size_t g = 0; g < fit->groups_n; g++)
		tested_n += !isnan(fit->groups[g].p) && fit->groups[g].frame >= EX_PSEUDO_N;
	for (size_t g = 0; g < fit->groups_n; g++) {
		const struct ex_group *group = &fit->groups[g];
		/* p is of a rise. So few are named that Bonferroni's correction will do. */
		bool fell = group->frame >= EX_PSEUDO_N && (1 - group->p) * (double)tested_n < fit->level && group->rise < 0;
		if (fell && (!most || group->rise < most->rise ||
		             (group->rise == most->rise && ex_frame_cmp(ex, group->frame, most->frame) < 0)))
			most = group;
	}
	return most ? ex_words(arena, "; %s fell most, to %.2f times its cost", ex->frames[most->frame].name, most->ratio) : "";
}

/* What is said when nothing else is: none, or why not even that. */
static void add_rest(const struct pd_explain *ex, const struct ex_fit *fit, struct pd_explanation *out)
{
	double machine = machine_ratio(ex, fit, out->arena), beyond = whole_ratio(fit);
	struct pp_arena *arena = out->arena;

	if (!fit->counted)
		ex_add_cause(out, PD_VERDICT_INCONCLUSIVE,
		          "the number of samples behind the values is not known, so noise cannot be told from change; profiles "
		          "with a period or a column of counts would settle it");
	else if (out->count[0] < COUNT_MIN || out->count[1] < COUNT_MIN)
		ex_add_cause(out, PD_VERDICT_INCONCLUSIVE,
		          ex_words(arena, "too few samples: %.0f in the baseline, %.0f in the incident; longer or more profiles would "
		                   "settle it", out->count[0], out->count[1]));
	else if (!ex->options.snapshot && !fit->requests && rate_changed(ex, fit))
		ex_add_cause(out, PD_VERDICT_INCONCLUSIVE,
		          ex_words(arena, "load or code: the whole costs %.2f times as much and requests are not known; a load.tsv with "
		                   "the requests of each replicate would settle it", fit->load_ratio));
	else if (machine != 1 && fit->requests)
		ex_add_cause(out, PD_VERDICT_INCONCLUSIVE,
		          ex_words(arena, "machine or runtime: every function costs about %.2f times as much per request, none stands "
		                   "out; the same build on both machines would settle it", machine));
	else if (!ex_replicated(ex) && memcmp(&ex->total[0], &ex->total[1], sizeof(ex->total[0])) != 0)
		ex_add_cause(out, PD_VERDICT_INCONCLUSIVE,
		          ex_words(arena, "one replicate on a side: nothing exceeds the variation that must be assumed between "
		                   "replicates (squared coefficient of variation %.2f); three or more profiles a side would settle it",
		                   ex->options.assumed_cv2));
	else if (fit->estimated && (fit->growth > UNEXPLAINED_RATIO || fit->growth < 1 / UNEXPLAINED_RATIO))
		ex_add_cause(out, PD_VERDICT_INCONCLUSIVE,
		          ex_words(arena, "load or code: all functions cost %.2f times as much, and requests are not known; a load.tsv with "
		                   "the requests of each replicate would settle it", fit->growth));
	else if (beyond > UNEXPLAINED_RATIO)
		ex_add_cause(out, PD_VERDICT_INCONCLUSIVE,
		          ex_words(arena, "the whole costs %.2f times as much as what was served explains, but replicates differ too much to "
		                   "tell which function, or whether, beyond noise; more profiles a side would settle it", beyond));
	else if (isnan(out->detectable))
		ex_add_cause(out, PD_VERDICT_NONE, ex_words(arena, "nothing rose beyond noise%s", words_of_fall(ex, fit, arena)));
	else
		ex_add_cause(out, PD_VERDICT_NONE,
		          ex_words(arena, "nothing rose beyond noise%s; a rise of %.0f %% in a function with 5 %% of the cost would have "
		                   "been seen four times in five", words_of_fall(ex, fit, arena), percent(out->detectable)));
}

/* Many functions rose by what they all call: one cause. */
static void add_shared(const struct pd_explain *ex, uint32_t frame, const struct ex_group **list, size_t n,
                       struct pd_explanation *out)
{
	struct pd_cause *cause = ex_add_cause(
		out, PD_VERDICT_RUNTIME, ex_words(out->arena, "%s costs more below many functions alike, first %s: %.2f times the cost (q = %.2g)",
	                                  ex->frames[frame].name, ex->frames[list[0]->frame].name, list[0]->ratio, list[0]->q));

	cause->mechanism = ex_words(out->arena, "%s", ex->frames[frame].name);
	cause->share = cause->expected = cause->observed = 0;
	for (size_t i = 0; i < n; i++) {
		cause->share += list[i]->rise;
		cause->expected += list[i]->expected;
		cause->observed += list[i]->incident;
	}
	cause->ratio = cause->observed / cause->expected;
	cause->p = list[0]->p;
	cause->q = list[0]->q;
}

/* No function stands out, but something that all call. Not for snapshots, whose frames are no work. */
static int add_common(struct pd_explain *ex, const struct ex_fit *fit, struct pd_explanation *out, struct pp_error *err)
{
	uint32_t frame;
	double ratio = NAN;

	if (ex->options.snapshot || !fit->counted)
		return 0;
	if (ex_common_mechanism(ex, fit, &frame, &ratio, err))
		return -1;
	if (frame == PP_NONE)
		return 0;
	struct pd_cause *cause = ex_add_cause(
		out, PD_VERDICT_RUNTIME, ex_words(out->arena, "%s costs %.2f times as much beside all else, below many functions alike",
	                                  ex->frames[frame].name, ratio));
	cause->mechanism = ex_words(out->arena, "%s", ex->frames[frame].name);
	cause->ratio = ratio;
	return 0;
}

/* Absolute changes of the parts become shares of their sum, the unexplained rest included. */
static void make_shares(const struct pd_explain *ex, const struct ex_fit *fit, struct pd_explanation *out)
{
	double scale = ex_scale(ex), base = 0, incident = 0, gross = 0, explained = 0;

	for (size_t g = 0; g < fit->groups_n; g++) {
		base += fit->groups[g].base;
		incident += fit->groups[g].incident;
		if (fit->groups[g].rose)
			explained += fit->groups[g].rise;
	}
	double change = incident - base * scale - fit->mix_change;
	gross = fabs(fit->load_change) + fabs(fit->mix_change) + fabs(change - explained);
	for (size_t g = 0; g < fit->groups_n; g++)
		if (fit->groups[g].rose)
			gross += fabs(fit->groups[g].rise);
	for (size_t i = 0; i < out->causes_n; i++)
		if (out->causes[i].verdict == PD_VERDICT_MOVED)
			gross += out->causes[i].share;
	for (size_t i = 0; i < out->causes_n; i++)
		out->causes[i].share = gross > 0 ? out->causes[i].share / gross : NAN;
}

/* Where something else explains the incident, a rise must be surer to be code: other requests, more of them, another name
 * or a busier collector move the cost of functions a little, too. And what a function costs more while its caller or
 * what it calls costs as much less has only changed its place, as compilers inline now this and now that. */
static int doubt_rises(struct pd_explain *ex, struct ex_fit *fit, size_t moves_n, struct pp_error *err)
{
	bool explained = moves_n > 0 || mix_changed(ex, fit) || (fit->requests && rate_changed(ex, fit));
	double collector = 0, fallen;

	for (size_t g = 0; g < fit->groups_n; g++)
		if (fit->groups[g].rose && fit->groups[g].frame == EX_COLLECTOR)
			collector = fit->groups[g].certain;
	for (size_t g = 0; g < fit->groups_n; g++) {
		struct ex_group *group = &fit->groups[g];
		if (!group->rose || group->frame < EX_PSEUDO_N)
			continue;
		if (ex_fallen_beside(ex, fit, group, &fallen, err))
			return -1;
		if ((fallen > FALLEN_SHARE * group->rise && !fit->estimated) ||
		    (group->q >= DOUBT * fit->level && (explained || group->certain < collector)))
			group->rose = false;
	}
	return 0;
}

int ex_causes(struct pd_explain *ex, struct ex_fit *fit, const struct ex_move *moves, size_t moves_n,
              struct pd_explanation *out, struct pp_error *err)
{
	const struct ex_group **list = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(*list), err);
	double scale = ex_scale(ex);

	out->causes = ex_alloc(out->arena, fit->groups_n + moves_n + 4, sizeof(*out->causes), err);
	if (!list || !out->causes)
		return -1;
	if (ex->total[PD_BASELINE] == 0) {
		ex_add_cause(out, PD_VERDICT_INCONCLUSIVE, "the baseline profiles hold no cost: there is nothing to compare with");
		return 0;
	}
	if (doubt_rises(ex, fit, moves_n, err))
		return -1;
	const char *unsure = why_not_code(ex, fit);
	size_t code_n = risen(ex, fit, false, list);
	uint32_t shared = code_n > 0 && !unsure ? ex_shared_mechanism(ex, fit, list[0]) : PP_NONE;
	if (shared != PP_NONE)
		add_shared(ex, shared, list, code_n, out);
	for (size_t i = 0; i < code_n && !unsure && shared == PP_NONE; i++)
		if (add_rise(ex, fit, list[i], PD_VERDICT_CODE, scale, out, err))
			return -1;
	/* A collector has more to do for a function that does more, where that could not be told from requests. */
	bool lone = fit->lone_label != PP_NONE && !lone_explained(fit);
	size_t runtime_n = code_n == 0 && !lone ? risen(ex, fit, true, list) : 0;
	for (size_t i = 0; i < runtime_n; i++)
		if (add_rise(ex, fit, list[i], PD_VERDICT_RUNTIME, scale, out, err))
			return -1;
	if (code_n == 0 && runtime_n == 0 && !lone && add_common(ex, fit, out, err))
		return -1;
	for (size_t i = 0; i < moves_n; i++)
		if (!ex->frames[moves[i].from].anonymous || !ex->frames[moves[i].to].anonymous)
			add_move(ex, &moves[i], scale, out);
	if (mix_changed(ex, fit) && fit->estimated)
		add_estimated_mix(ex, fit, out);
	else if (fit->requests && mix_changed(ex, fit))
		add_mix(ex, fit, out);
	if (fit->requests && rate_changed(ex, fit) && (fit->load_ratio > 1 || (out->causes_n == 0 && ex_replicated(ex))))
		add_load(fit, out);
	if (unsure && code_n > 0) {
		size_t n = risen(ex, fit, false, list);
		if (add_rise(ex, fit, list[0], PD_VERDICT_INCONCLUSIVE, scale, out, err))
			return -1;
		struct pd_cause *cause = &out->causes[out->causes_n - 1];
		cause->reason = ex_words(out->arena, "%zu function%s rose beside the others: %s", n, n == 1 ? "" : "s", unsure);
	} else if (lone) {
		add_lone(ex, fit, out);
	} else if (out->causes_n == 0) {
		add_rest(ex, fit, out);
	}
	make_shares(ex, fit, out);
	return 0;
}
