/* The lists: what speaks for it, what against it, and what could not be seen. */
#include "libdiff/report_parts.h"

#include <math.h>
#include <string.h>

static const char *const side_names[RP_SIDES_N] = {"baseline", "incident", "control"};

static void separate(struct rp_text *text, size_t before)
{
	if (text->buf.n > before)
		rp_say(text, "; ");
}

static void say_symptoms(const struct rp_findings *f, enum pd_bearing bearing, const char *verb, struct rp_text *text,
                         size_t before)
{
	const struct pd_symptoms *symptoms = f->reporter->known.symptoms;

	for (size_t i = 0; symptoms && i < symptoms->rows_n; i++) {
		const struct pd_symptom *row = &symptoms->rows[i];
		if (row->bearing != bearing)
			continue;
		separate(text, before);
		rp_say(text, "%s %s: %s", row->source, verb, row->claim);
		if (row->link[0])
			rp_say(text, " [%s]", row->link);
	}
}

static void say_inputs(const struct rp_findings *f, struct rp_text *text, size_t before)
{
	size_t with_provenance = 0, used = 0;

	separate(text, before);
	rp_say(text, "inputs by content hash (XXH3-128):");
	for (size_t i = 0; i < f->reporter->files_n; i++) {
		const struct rp_file *file = &f->reporter->files[i];
		if (file->use != RP_USED)
			continue;
		rp_say(text, "%s %s %s", used++ ? "," : "", file->name, file->content_hash);
		with_provenance += file->has_provenance;
	}
	if (!used)
		rp_say(text, " none used");
	rp_say(text, "; provenance beside %zu of %zu", with_provenance, used);
}

void rp_evidence(const struct rp_findings *f, struct rp_text *text)
{
	const struct pd_explanation *e = f->exit == '-' ? f->explanation : NULL;
	size_t before = text->buf.n;

	if (e && !f->unqualified) {
		rp_say(text, "%s over %zu of %zu groups", e->test, e->tested_n, e->groups_n);
		if (!isnan(e->dispersion))
			rp_say(text, ", squared variation between replicates %.3f", e->dispersion);
		if (f->cause && !isnan(f->cause->q))
			rp_say(text, "; %s in %zu of %zu incident profiles, p = %.2g, q = %.2g", "beyond expectation", f->cause->risen_in,
			       e->replicates_n[1], f->cause->p, f->cause->q);
	}
	for (int side = 0; e && side < 2; side++) {
		if (e->replicates_n[side] == 0)
			continue;
		separate(text, before);
		if (isnan(e->count[side]))
			rp_say(text, "%s samples not measured", side_names[side]);
		else
			rp_say(text, "%s %.0f samples", side_names[side], e->count[side]);
	}
	const char *deployment = pd_facts_get(f->reporter->known.facts, "deployment");
	if (deployment) {
		separate(text, before);
		rp_say(text, "deployment (a correlation): %s", deployment);
	}
	say_symptoms(f, PD_SUPPORTS, "supports", text, before);
	say_symptoms(f, PD_CONTEXT, "says", text, before);
	say_inputs(f, text, before);
}

static const struct pd_cause *find_cause(const struct pd_explanation *e, enum pd_verdict verdict)
{
	for (size_t i = 0; i < e->causes_n; i++)
		if (e->causes[i].verdict == verdict)
			return &e->causes[i];
	return NULL;
}

/* The alternatives to the first cause and what was found about each. */
static void say_alternatives(const struct rp_findings *f, struct rp_text *text, size_t before)
{
	const struct pd_explanation *e = f->explanation;
	bool snapshot = pd_lens_snapshot(&f->reporter->lens);

	separate(text, before);
	if (snapshot)
		rp_say(text, "load and mix: not applicable to snapshots");
	else if (!e->by_request)
		rp_say(text, "load: not checked, requests are not known");
	else
		rp_say(text, "load: %.2f times the requests a second and profile", e->rate_ratio);
	if (!snapshot) {
		if (e->estimated)
			rp_say(text, "; mix: taken out as estimated from the functions under each %s", e->label_key);
		else if (isnan(e->mix_distance))
			rp_say(text, "; mix: not checked, requests by endpoint are not known");
		else
			rp_say(text, "; mix: request shares differ by %.1f %%%s", 100 * e->mix_distance,
			       e->by_label ? ", taken out by the label" : "");
		rp_say(text, "; machine: factors %.2f to %.2f in the baseline, %.2f to %.2f in the incident", e->factor[0][0],
		       e->factor[0][1], e->factor[1][0], e->factor[1][1]);
	}
	const struct pd_cause *moved = find_cause(e, PD_VERDICT_MOVED);
	rp_say(text, "; moved or renamed: %s", moved ? moved->location : "none found");
	if (!find_cause(e, PD_VERDICT_RUNTIME) && !find_cause(e, PD_VERDICT_CODE))
		rp_say(text, "; runtime: nothing beyond noise");
	for (size_t i = 1; i < e->causes_n && i < 6; i++)
		if (e->causes[i].location && e->causes[i].verdict == PD_VERDICT_CODE)
			rp_say(text, "; also %s: %s", e->causes[i].location, e->causes[i].reason);
}

void rp_counterevidence(const struct rp_findings *f, struct rp_text *text)
{
	size_t before = text->buf.n;

	say_symptoms(f, PD_CONTRADICTS, "contradicts", text, before);
	if (f->control_cause) {
		separate(text, before);
		rp_say(text, "the control, which the incident spared, changed in the same way");
	}
	if (f->exit != '-') {
		separate(text, before);
		rp_say(text, "not checked: exit %c", f->exit);
	} else if (f->unqualified) {
		separate(text, before);
		rp_say(text, "not checked: there is no baseline that qualifies");
	} else {
		say_alternatives(f, text, before);
	}
}

/* ---- limitations ---- */

static void say_coverage(const struct rp_findings *f, enum pd_load_side side, struct rp_text *text, size_t before)
{
	const struct rp_coverage *c = &f->coverage[side];

	if (c->used && !f->reporter->windows[side].given && side != PD_LOAD_CONTROL) {
		separate(text, before);
		rp_say(text, "%s window not given", side_names[side]);
	}
	if (c->used && !isnan(c->covered) && c->covered < 0.999 && !pd_lens_snapshot(&f->reporter->lens)) {
		separate(text, before);
		rp_say(text, "profiles cover ");
		rp_part(text, c->covered);
		rp_say(text, " of the %s window; what is said holds for that part", side_names[side]);
	}
	if (c->used && c->times_unknown) {
		separate(text, before);
		rp_say(text, "%zu %s profile%s without a time: coverage unknown", c->times_unknown, side_names[side],
		       c->times_unknown == 1 ? "" : "s");
	}
	if (c->partly) {
		separate(text, before);
		rp_say(text, "%zu %s profile%s reach beyond the window", c->partly, side_names[side], c->partly == 1 ? "" : "s");
	}
	if (c->used && c->uses[RP_OUTSIDE]) {
		separate(text, before);
		rp_say(text, "%zu %s profile%s outside the window left out", c->uses[RP_OUTSIDE], side_names[side],
		       c->uses[RP_OUTSIDE] == 1 ? "" : "s");
	}
	if (c->uses[RP_DUPLICATE]) {
		separate(text, before);
		rp_say(text, "%zu %s profile%s the same as another, left out", c->uses[RP_DUPLICATE], side_names[side],
		       c->uses[RP_DUPLICATE] == 1 ? "" : "s");
	}
}

static void say_count(struct rp_text *text, size_t before, size_t n, enum pd_load_side side, const char *what)
{
	if (!n)
		return;
	separate(text, before);
	rp_say(text, "%zu %s profile%s %s", n, side_names[side], n == 1 ? "" : "s", what);
}

/* What the texts beside the profiles tell of gaps and cuts. */
static void say_provenance(const struct rp_findings *f, enum pd_load_side side, struct rp_text *text, size_t before)
{
	const struct rp_coverage *c = &f->coverage[side];

	if (c->measured && c->mean < 1) {
		separate(text, before);
		rp_say(text, "the server lacks profiles in ");
		rp_part(text, 1 - c->mean);
		rp_say(text, " of the steps of the %s%s: what was not collected is not zero cost", side_names[side],
		       c->measured > 1 ? ", on average" : "");
	}
	say_count(text, before, c->beyond, side, "asked for beyond the window of case.tsv");
	say_count(text, before, c->other_type, side, "of another profile type than the lens, as the text beside it says");
	say_count(text, before, c->cut, side, "cut to the largest nodes by the server: small functions are missing");
	say_count(text, before, c->scoped, side, "of some requests or stacks only");
}

static void say_warnings(const struct rp_findings *f, struct rp_text *text, size_t before)
{
	for (size_t i = 0; i < f->reporter->files_n; i++) {
		const struct rp_file *file = &f->reporter->files[i];
		if (file->use != RP_USED || !file->provenance.warnings)
			continue;
		separate(text, before);
		rp_say(text, "%s came with a warning: %s", file->name, file->provenance.warnings);
	}
}

static void say_files(const struct rp_findings *f, struct rp_text *text, size_t before)
{
	size_t repaired = 0, no_load = 0, used = 0;

	for (size_t i = 0; i < f->reporter->files_n; i++) {
		const struct rp_file *file = &f->reporter->files[i];
		if (file->use == RP_BROKEN) {
			separate(text, before);
			rp_say(text, "%s could not be read (%s)", file->name, file->why);
		}
		used += file->use == RP_USED && file->side != PD_LOAD_CONTROL;
		repaired += file->use == RP_USED && file->repaired;
		no_load += file->use == RP_USED && !file->has_load && file->side != PD_LOAD_CONTROL;
	}
	if (repaired) {
		separate(text, before);
		rp_say(text, "%zu profile%s read with notes, see the warnings", repaired, repaired == 1 ? "" : "s");
	}
	if (f->reporter->known.load && no_load && used) {
		separate(text, before);
		rp_say(text, "load.tsv has no row for %zu of %zu profiles", no_load, used);
	}
}

static void say_checks(const struct rp_findings *f, struct rp_text *text, size_t before)
{
	static const char *const said_elsewhere[] = {"durations", "replicates", "counts"};

	for (size_t i = 0; f->comparison && i < f->comparison->checks_n; i++) {
		const struct pd_check *check = &f->comparison->checks[i];
		bool skip = check->outcome == PD_PASS;
		for (size_t k = 0; k < PP_COUNT(said_elsewhere); k++)
			skip = skip || strcmp(check->name, said_elsewhere[k]) == 0;
		if (skip)
			continue;
		separate(text, before);
		rp_say(text, "%s: %s", check->name, check->text);
	}
}

void rp_limitations(const struct rp_findings *f, struct rp_text *text)
{
	const struct pd_explanation *e = f->exit == '-' ? f->explanation : NULL;
	size_t before = text->buf.n;

	rp_say(text, "%s", pd_lens_limits(f->reporter->lens_known ? f->reporter->lens.kind : PD_LENS_OTHER));
	if (e)
		rp_say(text, "; cumulative costs of callers overlap and do not add up; what these profiles do not show may still be in "
		             "the service");
	if (!f->reporter->lens_given) {
		separate(text, before);
		rp_say(text, "the lens is not given%s", f->reporter->lens_known ? ": that of the first profile is used" : "");
	}
	for (int side = 0; side < RP_SIDES_N; side++)
		say_coverage(f, (enum pd_load_side)side, text, before);
	for (int side = 0; side < RP_SIDES_N; side++)
		say_provenance(f, (enum pd_load_side)side, text, before);
	if (f->coverage[0].measured && f->coverage[1].measured && fabs(f->coverage[0].mean - f->coverage[1].mean) > RP_COVERAGE_DIFFERS) {
		separate(text, before);
		rp_say(text, "collection differs: the server has profiles of ");
		rp_part(text, f->coverage[0].mean);
		rp_say(text, " of the baseline's steps and of ");
		rp_part(text, f->coverage[1].mean);
		rp_say(text, " of the incident's");
	}
	say_warnings(f, text, before);
	if (f->unqualified && f->exit == '-') {
		separate(text, before);
		rp_say(text, "no baseline: %s", f->unqualified);
	}
	if (e && !f->unqualified) {
		if (e->replicates_n[0] < 2 || e->replicates_n[1] < 2)
			rp_say(text, "; one profile on a side: the variation between replicates is assumed, not measured");
		if (!e->by_request && !pd_lens_snapshot(&f->reporter->lens))
			rp_say(text, "; requests are not known: more work and dearer work%s look alike",
			       e->estimated ? " of a whole endpoint" : "");
		if (!isnan(e->detectable))
			rp_say(text, "; a rise below %.0f %% in a function with 5 %% of the cost could have been missed", 100 * e->detectable);
		if (!pd_facts_get(f->reporter->known.facts, "control"))
			rp_say(text, "; case.tsv does not say why the baseline is comparable");
		say_checks(f, text, before);
	}
	say_files(f, text, before);
	if (e)
		rp_say(text, "; lines are not reported: no revision is verified");
}
