/* The end of explain: hot functions, the model, and what is said about the whole. */
#include "libdiff/explain_parts.h"
#include "libdiff/special.h"

#include <math.h>
#include <string.h>

#define HOT_MAX 20
#define Z_POWER 0.8416 /* normal quantile of 80 % */

static int hot_order(const struct pd_hot *a, const struct pd_hot *b)
{
	if (a->group[1] != b->group[1])
		return a->group[1] > b->group[1] ? -1 : 1;
	int order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->file, b->file);
}

static int find_hot(struct pd_explain *ex, struct pd_explanation *out, struct pp_error *err)
{
	double *group[2];

	out->hot = ex_alloc(out->arena, HOT_MAX, sizeof(*out->hot), err);
	for (int side = 0; side < 2; side++) {
		group[side] = ex_alloc(ex->arena, ex->frames_n, sizeof(double), err);
		for (size_t c = 0; group[side] && c < ex->contexts_n; c++)
			group[side][ex->contexts[c].frame] += ex->contexts[c].value[side];
	}
	if (!out->hot || !group[0] || !group[1])
		return -1;
	for (uint32_t f = EX_PSEUDO_N; f < ex->frames_n; f++) {
		const struct ex_frame *frame = &ex->frames[f];
		if (frame->class_ != PD_FRAME_APP || !(group[1][f] > 0))
			continue;
		struct pd_hot hot = {.name = frame->name, .file = frame->file, .path = NULL, .self = {frame->self[0], frame->self[1]},
		                     .cum = {frame->cum[0], frame->cum[1]}, .group = {group[0][f], group[1][f]}};
		size_t at = out->hot_n;
		while (at > 0 && hot_order(&hot, &out->hot[at - 1]) < 0)
			at--;
		if (at == HOT_MAX)
			continue;
		if (out->hot_n < HOT_MAX)
			out->hot_n++;
		memmove(out->hot + at + 1, out->hot + at, (out->hot_n - at - 1) * sizeof(hot));
		hot.path = NULL;
		out->hot[at] = hot;
	}
	/* Names belong to the explanation, which outlives what is under construction. */
	for (size_t i = 0; i < out->hot_n; i++) {
		for (uint32_t f = EX_PSEUDO_N; f < ex->frames_n && !out->hot[i].path; f++)
			if (ex->frames[f].name == out->hot[i].name)
				out->hot[i].path = ex_path(ex, f, 0, out->arena);
		out->hot[i].name = ex_words(out->arena, "%s", out->hot[i].name);
		out->hot[i].file = ex_words(out->arena, "%s", out->hot[i].file);
	}
	return 0;
}

/* L/R of FBDetect (Yoon et al., SOSP 2024): of the whole change, what lies in stacks that pass what changed. */
static double changed_share(const struct pd_explain *ex)
{
	double touched[2] = {0, 0};

	if (!ex->options.changed || ex->side_n[PD_BASELINE] == 0 || ex->side_n[PD_INCIDENT] == 0)
		return NAN;
	for (int side = 0; side < 2; side++)
		for (size_t f = 0; f < ex->frames_n; f++)
			touched[side] += ex->frames[f].touched[side];
	double scale = ex_scale(ex), whole = (double)ex->total[1] - scale * (double)ex->total[0];
	return whole != 0 ? (touched[1] - scale * touched[0]) / whole : NAN;
}

static void summarise(const struct pd_explain *ex, struct pd_explanation *out)
{
	for (int side = 0; side < 2; side++) {
		out->replicates_n[side] = ex->side_n[side];
		out->total[side] = ex->total[side];
		out->factor[side][0] = INFINITY;
		out->factor[side][1] = 0;
	}
	for (size_t j = 0; j < ex->replicates_n; j++) {
		const struct ex_replicate *replicate = &ex->replicates[j];
		out->count[replicate->side] += replicate->count > 0 || replicate->value == 0 ? replicate->count : NAN;
		out->requests[replicate->side] += replicate->row ? replicate->row->total : NAN;
		out->seconds[replicate->side] += replicate->seconds > 0 ? replicate->seconds : NAN;
	}
	out->changed_share = changed_share(ex);
	out->dispersion = out->detectable = out->rate_ratio = out->mix_distance = NAN;
	out->test = "none";
}

/* Smallest detectable rise at 80 % power, of one function among those tested: exp((z_level + z.8) * se of the log ratio)
 * - 1, with the variance of a mean count under the model of the test, and no less than Poisson's, and what sides differ
 * by. */
static double detectable(const struct pd_explain *ex, const struct ex_fit *fit, const double *count, size_t tested_n)
{
	double variance = fit->side_cv2 + fit->factor_cv2, level = fit->level / (double)(tested_n ? tested_n : 1);

	for (int side = 0; side < 2; side++) {
		double poisson = 1 / (0.05 * count[side]);
		double model = fit->quasi.prior_scale * (poisson + fit->quasi.dispersion / (double)ex->side_n[side]);
		if (!(count[side] > 0) || isnan(model))
			return NAN;
		variance += model > poisson ? model : poisson;
	}
	return exp((pd_t_quantile(1 - level, INFINITY) + Z_POWER) * sqrt(variance)) - 1;
}

/* How many of the moves, which stand in order of cost, are large enough to be said. */
static size_t noteworthy(const struct pd_explain *ex, const struct ex_move *moves, size_t moves_n)
{
	size_t n = 0;

	while (n < moves_n && moves[n].cost >= ex->options.min_share * (double)ex->total[PD_INCIDENT])
		n++;
	return n;
}

struct pd_explanation *pd_explain_finish(struct pd_explain *ex, struct pp_error *err)
{
	struct pp_arena *arena = pp_arena_new(UINT64_C(1) << 30);
	struct pd_explanation *out = arena ? ex_alloc(arena, 1, sizeof(*out), err) : NULL;
	struct ex_move *moves = NULL;
	struct ex_fit fit;
	size_t moves_n = 0;

	if (!out) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
		pp_arena_free(arena);
		return NULL;
	}
	out->arena = arena;
	summarise(ex, out);
	if (ex->side_n[PD_INCIDENT] == 0) {
		pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "no incident profiles");
		goto failed;
	}
	if (find_hot(ex, out, err))
		goto failed;
	if (ex->side_n[PD_BASELINE] == 0) {
		out->causes = ex_alloc(arena, 1, sizeof(*out->causes), err);
		if (!out->causes)
			goto failed;
		ex_add_cause(out, PD_VERDICT_INCONCLUSIVE, "no baseline: nothing to compare with");
		return out;
	}
	if (ex_find_moves(ex, ex_scale(ex), &moves, &moves_n, err) || ex_fit_make(ex, moves, moves_n, &fit, err) ||
	    ex_test(ex, &fit, err) || ex_find_slices(ex, out, err))
		goto failed;
	for (size_t j = 0; j < ex->replicates_n; j++) {
		double *range = out->factor[ex->replicates[j].side];
		range[0] = fit.factor[j] < range[0] ? fit.factor[j] : range[0];
		range[1] = fit.factor[j] > range[1] ? fit.factor[j] : range[1];
	}
	out->rate_ratio = fit.load_ratio;
	out->mix_distance = fit.mix_distance;
	out->by_request = fit.requests;
	out->by_label = fit.by_label;
	out->estimated = fit.estimated;
	out->label_key = ex->label_key ? ex_words(arena, "%s", ex->label_key) : NULL;
	out->labelled_share = fit.labelled_share;
	out->dispersion = ex_replicated(ex) ? fit.quasi.dispersion : NAN;
	out->groups_n = fit.groups_n;
	for (size_t g = 0; g < fit.groups_n; g++)
		out->tested_n += fit.groups[g].tested;
	out->detectable = detectable(ex, &fit, out->count, out->tested_n);
	out->test = !fit.counted      ? "none: sample counts not measured"
	            : ex_replicated(ex)  ? "quasi-likelihood F test over replicates, shrunken dispersion, Benjamini-Hochberg"
	                              : "the same test with an assumed variation between replicates, Benjamini-Hochberg";
	if (ex_causes(ex, &fit, moves, noteworthy(ex, moves, moves_n), out, err))
		goto failed;
	return out;
failed:
	pd_explanation_free(out);
	return NULL;
}
