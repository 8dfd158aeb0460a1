/* A comparison as one JSON object. */
#include "cmd/diffprint_parts.h"

#include <math.h>
#include <string.h>

static struct pp_json *pair_json(const double values[2])
{
	struct pp_json *pair = pp_json_object();
	pp_json_real(pair, "baseline", values[0]);
	pp_json_real(pair, "incident", values[1]);
	return pair;
}

static struct pp_json *normalization_json(const struct pd_comparison *c)
{
	struct pp_json *json = pp_json_object(), *factors = pp_json_array();
	pp_json_str(json, "method", pp_str_of(pd_normalization_name(c->normalization)));
	for (size_t i = 0; i < PP_COUNT(c->factors); i++) {
		const struct pd_factor *factor = &c->factors[i];
		struct pp_json *one = pp_json_object();
		pp_json_str(one, "method", pp_str_of(factor->name));
		pp_json_bool(one, "applies", factor->applies);
		if (factor->applies) {
			pp_json_add(one, "exposure", pair_json(factor->exposure));
			pp_json_add(one, "scale", pair_json(factor->scale));
		} else {
			pp_json_str(one, "reason", pp_str_of(factor->reason));
		}
		pp_json_add(factors, NULL, one);
	}
	pp_json_add(json, "factors", factors);
	return json;
}

static struct pp_json *qualification_json(const struct pd_comparison *c)
{
	struct pp_json *json = pp_json_object(), *checks = pp_json_array();
	enum pd_outcome worst = PD_PASS;
	for (size_t i = 0; i < c->checks_n; i++) {
		struct pp_json *check = pp_json_object();
		pp_json_str(check, "name", pp_str_of(c->checks[i].name));
		pp_json_str(check, "outcome", pp_str_of(pd_outcome_name(c->checks[i].outcome)));
		pp_json_str(check, "text", pp_str_of(c->checks[i].text));
		pp_json_add(checks, NULL, check);
		worst = c->checks[i].outcome > worst ? c->checks[i].outcome : worst;
	}
	pp_json_str(json, "outcome", pp_str_of(pd_outcome_name(worst)));
	pp_json_add(json, "checks", checks);
	return json;
}

static struct pp_json *rules_json(unsigned rules)
{
	struct pp_json *json = pp_json_array();
	for (int i = 0; i < PD_RULES_N; i++)
		if (rules & (1u << i))
			pp_json_str(json, NULL, pp_str_of(pd_rule_name((enum pd_rule)i)));
	return json;
}

static struct pp_json *identity_json(const struct pd_comparison *c)
{
	const struct pd_identity *identity = &c->identity;
	struct pp_json *json = pp_json_object(), *applied = pp_json_object(), *cost = pp_json_object();
	for (int i = 0; i < PD_RULES_N; i++)
		if (identity->applied[i])
			pp_json_i64(applied, pd_rule_name((enum pd_rule)i), (int64_t)identity->applied[i]);
	for (int i = 0; i < PD_MATCHED_N; i++)
		pp_json_add(cost, pd_matched_name((enum pd_matched)i),
		            pair_json((const double[2]){identity->cost[0][i], identity->cost[1][i]}));
	pp_json_add(json, "rules", rules_json(identity->rules));
	pp_json_bool(json, "fuzzy", identity->match);
	pp_json_add(json, "applied", applied);
	pp_json_add(json, "cost_matched_by", cost);
	return json;
}

static struct pp_json *renames_json(const struct pd_comparison *c)
{
	struct pp_json *json = pp_json_array();
	for (size_t i = 0; i < c->identity.renames_n; i++) {
		const struct pd_rename *rename = &c->identity.renames[i];
		struct pp_json *one = pp_json_object(), *cum = pp_json_object();
		pp_json_str(one, "baseline_name", pp_frames_label(c->frames, rename->other));
		pp_json_str(one, "incident_name", pp_frames_label(c->frames, rename->frame));
		pp_json_bool(one, "joined", rename->joined);
		pp_json_add(one, "rules", rules_json(rename->rules));
		pp_json_i64(one, "names", (int64_t)rename->names_n);
		pp_json_real(one, "similarity", diffprint_six_digits(rename->score));
		pp_json_real(one, "callers", diffprint_six_digits(rename->callers));
		pp_json_real(one, "callees", diffprint_six_digits(rename->callees));
		pp_json_i64(cum, "baseline", rename->cum[0]);
		pp_json_i64(cum, "incident", rename->cum[1]);
		pp_json_add(one, "raw_cum", cum);
		pp_json_add(json, NULL, one);
	}
	return json;
}

static struct pp_json *total_json(const int64_t total[2])
{
	struct pp_json *json = pp_json_object();
	pp_json_i64(json, "baseline", total[0]);
	pp_json_i64(json, "incident", total[1]);
	pp_json_i64(json, "delta", total[1] - total[0]);
	return json;
}

static struct pp_json *fit_json(const struct pd_quasi_fit *fit)
{
	struct pp_json *json = pp_json_object();
	pp_json_real(json, "dispersion", diffprint_six_digits(fit->dispersion));
	pp_json_real(json, "residual_df", fit->residual_df);
	pp_json_real(json, "prior_df", diffprint_six_digits(fit->prior_df));
	pp_json_real(json, "prior_scale", diffprint_six_digits(fit->prior_scale));
	return json;
}

/* A prior_df of null pulls every frame's own scale all the way to the common one. */
static struct pp_json *noise_json(const struct pd_comparison *c)
{
	static const char *const models[] = {"none", "sampling", "replicates"};
	struct pp_json *json = pp_json_object();
	pp_json_str(json, "model", pp_str_of(models[c->noise]));
	if (c->noise == PD_NOISE_REPLICATES) {
		pp_json_add(json, "flat", fit_json(&c->flat_fit));
		pp_json_add(json, "cum", fit_json(&c->cum_fit));
	}
	return json;
}

/* Of the change of the total, normalised; null where it is not tested. */
static struct pp_json *interval_json(const struct pd_comparison *c)
{
	const struct pd_estimate *e = &c->total_estimate;
	struct pp_json *json = pp_json_object();
	pp_json_real(json, "delta_low", diffprint_six_digits(e->delta[0]));
	pp_json_real(json, "delta_high", diffprint_six_digits(e->delta[1]));
	pp_json_real(json, "ratio_low", diffprint_six_digits(e->ratio[0]));
	pp_json_real(json, "ratio_high", diffprint_six_digits(e->ratio[1]));
	pp_json_real(json, "p", diffprint_six_digits(c->total_p));
	pp_json_real(json, "mdc", diffprint_six_digits(e->detectable));
	return json;
}

static struct pp_json *totals_json(const struct pd_comparison *c)
{
	const double unmeasured[2] = {NAN, NAN};
	struct pp_json *json = pp_json_object();
	pp_json_add(json, "normalized", total_json(c->total));
	pp_json_add(json, "raw", total_json(c->raw_total));
	pp_json_add(json, "samples", pair_json(c->counts_measured ? c->total_count : unmeasured));
	pp_json_add(json, "interval", interval_json(c));
	return json;
}

static void add_inputs(struct pp_json *inputs, const struct pd_comparison *c, const char *const sides[2])
{
	for (size_t i = 0; i < c->replicates_n; i++) {
		const struct pd_replicate *replicate = &c->replicates[i];
		if (!sides[replicate->side])
			continue;
		struct pp_json *input = pp_json_object();
		pp_json_str(input, "side", pp_str_of(sides[replicate->side]));
		pp_json_str(input, "name", pp_str_of(replicate->name));
		pp_json_str(input, "content_hash", pp_str_of(replicate->origin.content_hash));
		pp_json_add(inputs, NULL, input);
	}
}

static struct pp_json *inputs_json(const struct diffprint *what)
{
	const char *const own[2] = {"baseline", "incident"};
	const char *const others[2] = {what->same_baseline ? NULL : "control_baseline", "control"};
	struct pp_json *inputs = pp_json_array();
	add_inputs(inputs, what->comparison, own);
	if (what->control)
		add_inputs(inputs, what->control, others);
	return inputs;
}

/* What the control did; null without one. */
static void control_json(struct pp_json *json, const struct diffprint *what)
{
	const struct pd_comparison *control = what->control;
	if (!control) {
		pp_json_null(json, "control");
		return;
	}
	struct pp_json *one = pp_json_object();
	pp_json_str(one, "baseline", what->same_baseline ? PP_LIT("that of the comparison") : PP_LIT("its own"));
	pp_json_add(one, "totals", totals_json(control));
	pp_json_str(one, "noise", pp_str_of(diffprint_noise(control)));
	pp_json_real(one, "any_change_p", diffprint_six_digits(control->any_p));
	pp_json_add(json, "control", one);
}

int diffjson_print(const struct diffprint *what, struct pp_sink *sink, struct pp_error *err)
{
	const struct pd_comparison *c = what->comparison;
	struct pp_json *json = pp_json_object();
	pp_json_str(json, "sample_type", pp_str_of(c->type));
	pp_json_str(json, "unit", pp_str_of(c->unit));
	pp_json_str(json, "by", pp_str_of(pp_granularity_name(what->by)));
	pp_json_add(json, "verdicts", pd_explanation_json(what->explanation));
	pp_json_add(json, "slices", pd_slices_json(what->explanation));
	pp_json_add(json, "normalization", normalization_json(c));
	pp_json_add(json, "qualification", qualification_json(c));
	pp_json_add(json, "totals", totals_json(c));
	pp_json_add(json, "identity", identity_json(c));
	pp_json_add(json, "renames", renames_json(c));
	pp_json_str(json, "noise", pp_str_of(diffprint_noise(c)));
	pp_json_add(json, "noise_model", noise_json(c));
	pp_json_real(json, "tests", c->tests_n);
	pp_json_real(json, "any_change_p", diffprint_six_digits(c->any_p));
	control_json(json, what);
	pp_json_add(json, "inputs", inputs_json(what));
	pp_json_add(json, "rows", diffrows_json(what));
	if (what->call_tree)
		pp_json_add(json, "call_tree", difftree_json(what));
	int result = pp_json_write(json, 1, sink, err);
	pp_json_free(json);
	return result;
}
