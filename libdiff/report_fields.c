/* The fields, in their order. */
#include "libdiff/report_parts.h"

#include <math.h>
#include <string.h>

static const char *fact(const struct rp_findings *f, const char *key)
{
	return pd_facts_get(f->reporter->known.facts, key);
}

static bool exited(const struct rp_findings *f)
{
	return f->exit != '-';
}

/* "not measured: exit D", where nothing of the profiles counts; true when said. */
static bool said_exit(const struct rp_findings *f, struct rp_text *text)
{
	if (exited(f))
		rp_say(text, "not measured: exit %c", f->exit);
	return exited(f);
}

/* The location that the report is about: of the first cause, or the first of the hot functions. */
static const char *subject(const struct rp_findings *f)
{
	if (f->cause)
		return f->cause->location;
	return f->unqualified && f->explanation->hot_n ? f->explanation->hot[0].name : NULL;
}

/* ---- what the question is ---- */

static void say_cause(const struct pd_cause *cause, struct rp_text *text)
{
	if (cause->verdict != PD_VERDICT_NONE && cause->verdict != PD_VERDICT_INCONCLUSIVE)
		rp_say(text, "%s: ", pd_verdict_name(cause->verdict));
	if (cause->location)
		rp_say(text, "%s: ", cause->location);
	else if (cause->verdict == PD_VERDICT_RUNTIME)
		rp_say(text, "no application path accounts for it: ");
	rp_say(text, "%s", cause->reason);
	if (!isnan(cause->share)) {
		rp_say(text, ", ");
		rp_percent(text, cause->share);
		rp_say(text, " of the change");
	}
}

static void write_conclusion(const struct rp_findings *f, struct rp_text *text)
{
	const char *question = fact(f, "question");

	rp_say(text, "%s — ", pd_conclusion_name(f->conclusion));
	if (question)
		rp_say(text, "%s ", question);
	if (exited(f)) {
		rp_say(text, "Not answered: exit %c.", f->exit);
	} else if (f->unqualified) {
		if (f->conclusion == PD_COST_LOCATION)
			rp_say(text, "Most of the cost in the incident is charged to %s; without a baseline nothing is said about what changed.",
			       f->explanation->hot[0].name);
		else
			rp_say(text, "No application function was found in the incident profiles, and there is no baseline.");
	} else {
		size_t n = 0;
		for (size_t i = 0; i < f->explanation->causes_n && n < 3; i++)
			if (!f->cause || f->explanation->causes[i].verdict != PD_VERDICT_INCONCLUSIVE) {
				rp_say(text, "%s", n++ ? "; " : "");
				say_cause(&f->explanation->causes[i], text);
			}
		rp_say(text, ".");
	}
}

static void write_exit(const struct rp_findings *f, struct rp_text *text)
{
	if (exited(f))
		rp_say(text, "%c — %s", f->exit, f->exit_reason);
	else
		rp_say(text, "none — %s", f->exit_reason);
}

static void write_scope(const struct rp_findings *f, struct rp_text *text)
{
	static const char *const keys[] = {"context", "datasource_uid", "service"};
	static const char *const names[] = {"context", "datasource UID", "service"};

	for (size_t i = 0; i < PP_COUNT(keys); i++) {
		const char *value = fact(f, keys[i]);
		rp_say(text, "%s%s %s", i ? ", " : "", names[i], value ? value : "unknown (not in case.tsv)");
	}
}

static void write_lens(const struct rp_findings *f, struct rp_text *text)
{
	const struct pd_lens *lens = &f->reporter->lens;

	if (!f->reporter->lens_known) {
		rp_say(text, "unknown: case.tsv has no lens and there is no profile");
		return;
	}
	rp_say(text, "%s", lens->text);
	if (lens->unit.len)
		rp_say(text, " (%.*s in %.*s)", (int)lens->type.len, lens->type.ptr, (int)lens->unit.len, lens->unit.ptr);
	if (!f->reporter->lens_given)
		rp_say(text, ", taken from the first profile: case.tsv has no lens");
}

static void say_window(const struct rp_findings *f, enum pd_load_side side, struct rp_text *text)
{
	static const char *const selectors[] = {"baseline_selector", "incident_selector", "control_selector"};
	const struct pd_window *window = &f->reporter->windows[side];
	const struct rp_coverage *c = &f->coverage[side];
	const char *selector = fact(f, selectors[side]);

	if (window->given)
		rp_range(text, window->from_ns, window->to_ns);
	else
		rp_say(text, "window unknown (not in case.tsv)");
	rp_say(text, "; selector %s", selector ? selector : "unknown (not in case.tsv)");
	rp_say(text, "; observed: %zu profile%s of the lens", c->used, c->used == 1 ? "" : "s");
	if (c->used && c->from_ns <= c->to_ns) {
		rp_say(text, ", ");
		rp_range(text, c->from_ns, c->to_ns);
		if (!isnan(c->covered) && !pd_lens_snapshot(&f->reporter->lens) && c->to_ns > c->from_ns) {
			rp_say(text, ", ");
			rp_part(text, c->covered);
			rp_say(text, " of the window");
		}
	} else if (c->used) {
		rp_say(text, ", times unknown");
	}
	if (c->measured) {
		rp_say(text, "; the server has profiles of ");
		rp_part(text, c->least);
		if (c->most > c->least) {
			rp_say(text, " to ");
			rp_part(text, c->most);
		}
		rp_say(text, " of the steps");
		if (c->measured < c->used)
			rp_say(text, " (known of %zu)", c->measured);
	}
	if (c->uses[RP_OTHER_KIND] + c->uses[RP_OTHER_PERIOD])
		rp_say(text, "; %zu of other kinds", c->uses[RP_OTHER_KIND] + c->uses[RP_OTHER_PERIOD]);
	if (c->uses[RP_OUTSIDE])
		rp_say(text, "; %zu outside the window", c->uses[RP_OUTSIDE]);
}

static void write_incident(const struct rp_findings *f, struct rp_text *text)
{
	say_window(f, PD_LOAD_INCIDENT, text);
}

static void write_baseline(const struct rp_findings *f, struct rp_text *text)
{
	if (f->unqualified) {
		rp_say(text, "unavailable: %s", f->unqualified);
		if (f->reporter->windows[PD_LOAD_BASELINE].given) {
			rp_say(text, "; the window was ");
			rp_range(text, f->reporter->windows[PD_LOAD_BASELINE].from_ns, f->reporter->windows[PD_LOAD_BASELINE].to_ns);
		}
		return;
	}
	say_window(f, PD_LOAD_BASELINE, text);
}

/* Difference in differences: the cause's ratio over that of the control. */
static void say_beyond_control(const struct rp_findings *f, struct rp_text *text)
{
	if (!f->control)
		rp_say(text, ", not compared");
	else if (!f->cause)
		rp_say(text, ", compared with the baseline");
	else if (!f->control_cause && f->control->causes[0].verdict == PD_VERDICT_INCONCLUSIVE)
		rp_say(text, ", compared with the baseline, inconclusive: %s", f->control->causes[0].reason);
	else if (!f->control_cause)
		rp_say(text, ", compared with the baseline: what changed in the incident did not change there beyond noise");
	else if (isnan(f->cause->ratio) || isnan(f->control_cause->ratio))
		rp_say(text, ", compared with the baseline: the same changed there");
	else
		rp_say(text, ", compared with the baseline: the same changed there %.2f times, so the incident's change beyond the control is "
		       "%.2f times", f->control_cause->ratio, f->cause->ratio / f->control_cause->ratio);
}

static void write_control(const struct rp_findings *f, struct rp_text *text)
{
	const char *control = fact(f, "control");
	const struct rp_coverage *peer = &f->coverage[PD_LOAD_CONTROL];

	if (f->unqualified) {
		rp_say(text, "not applicable: there is no baseline that qualifies");
	} else {
		rp_say(text, "%s", control ? control : "unknown: case.tsv does not say why the baseline is comparable");
		for (size_t i = 0; f->comparison && i < f->comparison->checks_n; i++)
			if (strcmp(f->comparison->checks[i].name, "period") == 0 || strcmp(f->comparison->checks[i].name, "instances") == 0)
				rp_say(text, "; %s: %s", f->comparison->checks[i].name, f->comparison->checks[i].text);
		rp_say(text, "; profiles: %zu against %zu", f->coverage[0].used, f->coverage[1].used);
	}
	if (peer->used)
		rp_say(text, "; control/ holds %zu profile%s of the lens", peer->used, peer->used == 1 ? "" : "s");
	if (peer->used)
		say_beyond_control(f, text);
}

/* ---- what was found ---- */

/* The label values that carry the change, by their numbers. */
static void say_slices(const struct pd_explanation *e, struct rp_text *text)
{
	for (size_t i = 0; i < e->slices_n && i < 4; i++)
		rp_say(text, "%s%s=%s carries %.1f %% of the whole change (surprise %.3f)", i ? ", " : "; by labels ", e->slices[i].key,
		       e->slices[i].value, 100 * e->slices[i].power, e->slices[i].surprise);
}

static void write_slice(const struct rp_findings *f, struct rp_text *text)
{
	const struct pd_explanation *e = f->explanation;
	const char *key = !exited(f) && e->label_key ? e->label_key : "label";

	if (said_exit(f, text))
		return;
	if (f->unqualified) {
		rp_say(text, "unknown: there is no baseline to tell slices apart");
	} else if (f->cause && f->cause->slice && f->cause->verdict == PD_VERDICT_MIX) {
		rp_say(text, "%s=%s", key, f->cause->slice);
		if (!isnan(f->cause->slice_share))
			rp_say(text, ", now %.1f %% of the requests", 100 * f->cause->slice_share);
	} else if (f->cause && f->cause->slice) {
		rp_say(text, "%s=%s, ", key, f->cause->slice);
		rp_percent(text, f->cause->slice_share);
		rp_say(text, " of the rise; in %zu of %zu incident profiles", f->cause->risen_in, e->replicates_n[1]);
	} else if (f->cause && f->cause->risen_in) {
		rp_say(text, "whole service: in %zu of %zu incident profiles; by label unknown, the samples carry no label value of load.tsv",
		       f->cause->risen_in, e->replicates_n[1]);
	} else if (f->cause) {
		rp_say(text, "whole service: no part was told apart");
	} else {
		rp_say(text, "not applicable: no change is claimed");
	}
	if (f->cause)
		say_slices(e, text);
}

static void say_changed(const struct rp_findings *f, const char *name, const char *file, struct rp_text *text)
{
	const struct pd_changed *changed = f->reporter->known.changed;
	size_t i = pd_changed_find(changed, pp_str_of(name), pp_str_of(file));

	if (!changed)
		return;
	if (i == SIZE_MAX)
		rp_say(text, "; not in changed.txt");
	else
		rp_say(text, "; in changed.txt as %s", changed->names[i]);
	if (!f->cause)
		return;
	if (!isnan(f->cause->changed_share))
		rp_say(text, "; %.1f %% of its change is in stacks that pass what changed.txt names", 100 * f->cause->changed_share);
	if (!isnan(f->explanation->changed_share))
		rp_say(text, "; %.1f %% of the whole change", 100 * f->explanation->changed_share);
}

static void say_hot(const struct rp_findings *f, struct rp_text *text)
{
	const struct pd_explanation *e = f->explanation;

	for (size_t i = 0; i < e->hot_n && i < 3; i++) {
		rp_say(text, "%s", i ? "; then " : "");
		if (i == 0 && e->hot[i].path)
			rp_path(text, e->hot[i].path);
		else
			rp_say(text, "%s", e->hot[i].name);
		if (e->hot[i].file[0])
			rp_say(text, " (file %s, as the profile says)", e->hot[i].file);
	}
}

static void write_location(const struct rp_findings *f, struct rp_text *text)
{
	if (said_exit(f, text))
		return;
	if (f->unqualified && f->explanation->hot_n) {
		say_hot(f, text);
	} else if (f->cause && f->cause->location) {
		rp_say(text, "%s", f->cause->location);
		if (f->cause->path) {
			rp_say(text, ", by ");
			rp_path(text, f->cause->path);
		}
		if (f->cause->file[0])
			rp_say(text, "; file %s, as the profile says; line and revision not verified", f->cause->file);
		else
			rp_say(text, "; file unknown: the profile does not say");
		say_changed(f, f->cause->location, f->cause->file, text);
	} else if (f->cause) {
		rp_say(text, "not applicable: %s",
		       f->cause->verdict == PD_VERDICT_RUNTIME ? "the runtime, below no application function"
		                                               : "no path changed its cost per request");
	} else {
		rp_say(text, "unknown: no change is attributed to a path");
	}
}

static void say_two(const struct rp_findings *f, const int64_t *values, struct rp_text *text)
{
	rp_amount(text, values[PD_INCIDENT], f->unit);
	rp_say(text, " vs ");
	rp_amount(text, values[PD_BASELINE], f->unit);
}

static void write_cost(const struct rp_findings *f, struct rp_text *text)
{
	const struct pd_explanation *e = f->explanation;
	const char *about = exited(f) ? NULL : subject(f);

	if (said_exit(f, text))
		return;
	if (f->unqualified) {
		rp_say(text, "incident: total ");
		rp_amount(text, e->total[PD_INCIDENT], f->unit);
		for (size_t i = 0; i < e->hot_n && i < 3; i++) {
			rp_say(text, "; %s self ", e->hot[i].name);
			rp_amount(text, e->hot[i].self[PD_INCIDENT], f->unit);
			rp_say(text, ", cumulative ");
			rp_amount(text, e->hot[i].cum[PD_INCIDENT], f->unit);
		}
		rp_say(text, "; sum over %zu profile%s; baseline: not measured", e->replicates_n[PD_INCIDENT],
		       e->replicates_n[PD_INCIDENT] == 1 ? "" : "s");
		return;
	}
	rp_say(text, "incident vs baseline, as measured: total ");
	say_two(f, e->total, text);
	if (about) {
		rp_say(text, "; %s self ", about);
		say_two(f, f->cause->self, text);
		rp_say(text, ", cumulative ");
		say_two(f, f->cause->cum, text);
	}
	if (f->cause && !isnan(f->cause->expected) && fabs(f->cause->observed) < 9e18 && fabs(f->cause->expected) < 9e18) {
		rp_say(text, "; charged to it with what it calls outside the application ");
		rp_amount(text, (int64_t)f->cause->observed, f->unit);
		rp_say(text, " where ");
		rp_amount(text, (int64_t)f->cause->expected, f->unit);
		rp_say(text, " was expected");
	}
	rp_say(text, "; sums over %zu and %zu profiles", e->replicates_n[PD_INCIDENT], e->replicates_n[PD_BASELINE]);
}

static void say_share_of(const struct rp_findings *f, const int64_t *self, const int64_t *cum, enum pd_side side,
                         struct rp_text *text)
{
	double total = (double)f->explanation->total[side];

	rp_say(text, "self ");
	rp_percent(text, total != 0 ? (double)self[side] / total : NAN);
	rp_say(text, ", cumulative ");
	rp_percent(text, total != 0 ? (double)cum[side] / total : NAN);
}

static void write_share(const struct rp_findings *f, struct rp_text *text)
{
	const struct pd_explanation *e = f->explanation;
	const char *about = exited(f) ? NULL : subject(f);

	if (said_exit(f, text))
		return;
	if (!about) {
		rp_say(text, "not applicable: no location");
		return;
	}
	rp_say(text, "%s: incident ", about);
	if (f->unqualified) {
		say_share_of(f, e->hot[0].self, e->hot[0].cum, PD_INCIDENT, text);
		rp_say(text, " of the incident's ");
		rp_amount(text, e->total[PD_INCIDENT], f->unit);
		rp_say(text, "; baseline not measured");
		return;
	}
	say_share_of(f, f->cause->self, f->cause->cum, PD_INCIDENT, text);
	rp_say(text, " of ");
	rp_amount(text, e->total[PD_INCIDENT], f->unit);
	rp_say(text, "; baseline ");
	say_share_of(f, f->cause->self, f->cause->cum, PD_BASELINE, text);
	rp_say(text, " of ");
	rp_amount(text, e->total[PD_BASELINE], f->unit);
}

static void write_normalization(const struct rp_findings *f, struct rp_text *text)
{
	const struct pd_explanation *e = f->explanation;
	const struct pd_load *load = f->reporter->known.load;

	if (exited(f))
		rp_say(text, "not applied: exit %c", f->exit);
	else if (f->unqualified)
		rp_say(text, "not applied: nothing is compared");
	else if (pd_lens_snapshot(&f->reporter->lens))
		rp_say(text, "not applied: snapshots are states, compared as means over profiles, never by seconds or requests");
	else if (e->estimated)
		rp_say(text, "by what each value of the label %s served, estimated as the median growth of the functions under it; %s not "
		       "measured by label value: %s", e->label_key, load ? load->denominator : "requests",
		       load ? "load.tsv lacks them" : "no load.tsv");
	else if (e->by_request)
		rp_say(text, "by %s of load.tsv%s: incident %.0f, baseline %.0f; then one robust factor a profile, %.2f to %.2f, for the "
		       "machine", load->denominator, e->by_label ? " and label value" : "", e->requests[1], e->requests[0],
		       fmin(e->factor[0][0], e->factor[1][0]), fmax(e->factor[0][1], e->factor[1][1]));
	else if (!isnan(e->seconds[0] + e->seconds[1]))
		rp_say(text, "by seconds: incident %.3f, baseline %.3f; then one robust factor a profile; requests not measured: %s",
		       e->seconds[1], e->seconds[0], load ? "load.tsv lacks a row for some profiles" : "no load.tsv");
	else
		rp_say(text, "by number of profiles: %zu and %zu; seconds and requests not measured", e->replicates_n[1],
		       e->replicates_n[0]);
}

static void write_mechanism(const struct rp_findings *f, struct rp_text *text)
{
	if (said_exit(f, text))
		return;
	if (!f->cause) {
		rp_say(text, "%s", f->unqualified ? "unknown: costs alone show no mechanism" : "unknown: no change is claimed");
		return;
	}
	rp_say(text, "%s", f->conclusion == PD_ESTABLISHED_CAUSE ? "supported: " : "hypothesis: ");
	switch (f->cause->verdict) {
	case PD_VERDICT_LOAD:
		rp_say(text, "more requests at the same cost each");
		break;
	case PD_VERDICT_MIX:
		rp_say(text, "other requests at the same cost each");
		break;
	case PD_VERDICT_MOVED:
		rp_say(text, "%s became %s; the cost stayed", f->cause->moved_from, f->cause->location);
		break;
	default:
		if (f->cause->mechanism) {
			rp_say(text, "the change is carried by ");
			rp_path(text, f->cause->mechanism);
		} else {
			rp_say(text, "the function's own code; no frame below it carries the change");
		}
	}
}

static void write_next(const struct rp_findings *f, struct rp_text *text)
{
	if (f->exit == 'A' || f->exit == 'B')
		rp_say(text, "%s", f->exit == 'A' ? "restore access to profiles, or export them by other means"
		                                  : "find out why nothing is ingested for this service");
	else if (f->exit == 'C')
		rp_say(text, "export profiles that overlap the incident window");
	else if (f->exit == 'D')
		rp_say(text, "export incident profiles of the lens, or check the selector and the instrumentation");
	else if (f->unqualified)
		rp_say(text, "export a baseline of the same lens from a window of expected behaviour, three profiles or more");
	else if (f->conclusion == PD_ESTABLISHED_CAUSE)
		rp_say(text, "none");
	else if (f->contradicts_n)
		rp_say(text, "resolve what contradicts it in symptoms.tsv");
	else if (f->cause && f->supports_n)
		rp_say(text, "%s", f->explanation->replicates_n[0] < 2 || f->explanation->replicates_n[1] < 2
		                       ? "repeat with three or more profiles a side"
		                       : "confirm the mechanism in the source of the deployed revision");
	else if (f->cause)
		rp_say(text, "does the symptom follow this change in time and place? record the answer in symptoms.tsv");
	else
		rp_say(text, "%s", f->explanation->causes[0].verdict == PD_VERDICT_NONE
		                       ? "look at another lens, or at evidence outside profiles"
		                       : "supply what the conclusion names as missing");
}

static void write_confidence(const struct rp_findings *f, struct rp_text *text)
{
	rp_confidence(f, text);
}

int rp_write_fields(const struct rp_findings *findings, const char **values, struct pp_error *err)
{
	static void (*const write[PD_FIELDS_N])(const struct rp_findings *, struct rp_text *) = {
		[PD_FIELD_CONCLUSION] = write_conclusion, [PD_FIELD_EXIT] = write_exit, [PD_FIELD_SCOPE] = write_scope,
		[PD_FIELD_LENS] = write_lens, [PD_FIELD_INCIDENT] = write_incident, [PD_FIELD_BASELINE] = write_baseline,
		[PD_FIELD_CONTROL] = write_control, [PD_FIELD_SLICE] = write_slice, [PD_FIELD_LOCATION] = write_location,
		[PD_FIELD_COST] = write_cost, [PD_FIELD_SHARE] = write_share, [PD_FIELD_NORMALIZATION] = write_normalization,
		[PD_FIELD_MECHANISM] = write_mechanism, [PD_FIELD_EVIDENCE] = rp_evidence,
		[PD_FIELD_COUNTEREVIDENCE] = rp_counterevidence, [PD_FIELD_CONFIDENCE] = write_confidence,
		[PD_FIELD_LIMITATIONS] = rp_limitations, [PD_FIELD_NEXT_ACTION] = write_next};

	for (int field = 0; field < PD_FIELDS_N; field++) {
		struct rp_text text = {PP_BUF_INIT, false};
		write[field](findings, &text);
		values[field] = rp_take(&text, findings->arena);
		if (!values[field])
			return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	}
	return 0;
}
