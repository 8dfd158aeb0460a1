/* Exit, qualification of the baseline, conclusion, confidence: written rules, in rca-report(1). */
#include "libdiff/report_parts.h"

#include <math.h>
#include <string.h>

static const char *words(const struct rp_findings *f, struct rp_text *text)
{
	const char *taken = rp_take(text, f->arena);

	return taken ? taken : "no memory";
}

/* What the files of a side are that the lens did not take, for a reason. */
static void say_uses(const struct rp_coverage *coverage, struct rp_text *text)
{
	static const char *const names[RP_USES_N] = {
		[RP_OTHER_KIND] = "of other kinds", [RP_OTHER_PERIOD] = "of another period type",
		[RP_OUTSIDE] = "outside the window", [RP_DUPLICATE] = "the same as another", [RP_BROKEN] = "not readable"};
	bool any = false;

	for (int use = 0; use < RP_USES_N; use++)
		if (names[use] && coverage->uses[use]) {
			rp_say(text, "%s%zu %s", any ? ", " : "", coverage->uses[use], names[use]);
			any = true;
		}
	if (!any)
		rp_say(text, "no files");
}

/* ---- exits ---- */

static void exit_c(struct rp_findings *f, const struct pd_window *window)
{
	const struct rp_coverage *coverage = &f->coverage[PD_LOAD_INCIDENT];
	struct rp_text text = {PP_BUF_INIT, false};

	f->exit = 'C';
	rp_say(&text, "the incident is not covered: the window ");
	rp_range(&text, window->from_ns, window->to_ns);
	rp_say(&text, " has no overlap with the %zu incident profile%s of the lens, which cover ", coverage->uses[RP_OUTSIDE],
	       coverage->uses[RP_OUTSIDE] == 1 ? "" : "s");
	rp_range(&text, coverage->from_ns, coverage->to_ns);
	f->exit_reason = words(f, &text);
}

static void exit_d(struct rp_findings *f)
{
	const struct rp_coverage *coverage = &f->coverage[PD_LOAD_INCIDENT];
	struct rp_text text = {PP_BUF_INIT, false};

	f->exit = 'D';
	if (coverage->used) {
		rp_say(&text, "no usable incident profiles: the %zu profile%s of the lens hold no cost", coverage->used,
		       coverage->used == 1 ? "" : "s");
	} else {
		rp_say(&text, "no usable incident profiles: none is of the lens (");
		say_uses(coverage, &text);
		rp_say(&text, ")");
	}
	rp_say(&text, "; this is a gap in coverage or instrumentation, not proof of zero cost");
	f->exit_reason = words(f, &text);
}

static void find_exit(struct rp_findings *f)
{
	const struct pd_reporter *reporter = f->reporter;
	const struct rp_coverage *coverage = &f->coverage[PD_LOAD_INCIDENT];
	const char *reason = pd_facts_get(reporter->known.facts, "exit_reason");
	struct rp_text text = {PP_BUF_INIT, false};

	f->exit = '-';
	if (reporter->stated_exit) {
		f->exit = reporter->stated_exit;
		rp_say(&text, "%s: %s", f->exit == 'A' ? "profiling unavailable" : "no ingestion reported",
		       reason ? reason : "case.tsv gives no exit_reason");
		f->exit_reason = words(f, &text);
	} else if (coverage->used == 0 && coverage->uses[RP_OUTSIDE] > 0) {
		exit_c(f, &reporter->windows[PD_LOAD_INCIDENT]);
	} else if (coverage->used == 0 || coverage->empty == coverage->used || f->explanation->total[PD_INCIDENT] == 0) {
		exit_d(f);
	} else {
		f->exit_reason = reporter->windows[PD_LOAD_INCIDENT].given
		                     ? "profiles of the lens overlap the incident window"
		                     : "there are profiles of the lens; the incident window is not given";
	}
}

/* ---- the baseline ---- */

static void find_qualification(struct rp_findings *f)
{
	const struct rp_coverage *coverage = &f->coverage[PD_LOAD_BASELINE];
	struct rp_text text = {PP_BUF_INIT, false};

	f->unqualified = NULL;
	if (coverage->used == 0) {
		rp_say(&text, "no profile of the lens%s (",
		       f->reporter->windows[PD_LOAD_BASELINE].given ? " within the baseline window" : "");
		say_uses(coverage, &text);
		rp_say(&text, ")");
		f->unqualified = words(f, &text);
	} else if (coverage->empty == coverage->used || (f->explanation && f->explanation->total[PD_BASELINE] == 0)) {
		f->unqualified = "the baseline profiles hold no cost";
	}
}

/* ---- the conclusion ---- */

static bool is_claim(const struct pd_cause *cause)
{
	return cause->verdict != PD_VERDICT_NONE && cause->verdict != PD_VERDICT_INCONCLUSIVE;
}

/* Mechanism in evidence: a rise with a chain of frames that carries it; load and mix are their own,
 * where load.tsv measured them. */
static bool mechanism_known(const struct pd_explanation *e, const struct pd_cause *cause)
{
	return cause->verdict == PD_VERDICT_LOAD || (cause->verdict == PD_VERDICT_MIX && !e->estimated) ||
	       (cause->verdict == PD_VERDICT_CODE && cause->mechanism) ||
	       (cause->verdict == PD_VERDICT_RUNTIME && cause->mechanism);
}

/* The same rise in the control, which the incident spared. */
static const struct pd_cause *find_in_control(const struct rp_findings *f)
{
	for (size_t i = 0; f->control && f->cause && i < f->control->causes_n; i++) {
		const struct pd_cause *cause = &f->control->causes[i];
		bool same_place = cause->location && f->cause->location ? strcmp(cause->location, f->cause->location) == 0
		                                                        : cause->location == f->cause->location;
		if (cause->verdict == f->cause->verdict && same_place)
			return cause;
	}
	return NULL;
}

void rp_judge(struct rp_findings *f)
{
	const struct pd_symptoms *symptoms = f->reporter->known.symptoms;

	for (size_t i = 0; symptoms && i < symptoms->rows_n; i++) {
		f->supports_n += symptoms->rows[i].bearing == PD_SUPPORTS;
		f->contradicts_n += symptoms->rows[i].bearing == PD_CONTRADICTS;
	}
	find_exit(f);
	find_qualification(f);
	f->conclusion = PD_INCONCLUSIVE;
	if (f->exit != '-')
		return;
	if (f->unqualified) {
		if (f->explanation->hot_n)
			f->conclusion = PD_COST_LOCATION;
		return;
	}
	if (!is_claim(&f->explanation->causes[0]))
		return;
	f->cause = &f->explanation->causes[0];
	f->control_cause = find_in_control(f);
	bool replicated = f->explanation->replicates_n[0] >= 2 && f->explanation->replicates_n[1] >= 2;
	bool connected = f->supports_n > 0 && f->contradicts_n == 0 && !f->control_cause;
	f->conclusion = mechanism_known(f->explanation, f->cause) && connected && replicated ? PD_ESTABLISHED_CAUSE : PD_SUSPECTED_CAUSE;
}

/* What collection allows at most, as far as the provenance tells: 2 high, 1 medium, 0 low; why is NULL for 2. */
static int collection_allows(const struct rp_findings *f, const char **why)
{
	const struct rp_coverage *c = f->coverage;
	bool compared = !f->unqualified, measured = c[1].measured && (!compared || c[0].measured);
	size_t off = c[1].beyond + c[1].other_type + c[1].cut + c[1].scoped;

	*why = NULL;
	if (compared)
		off += c[0].beyond + c[0].other_type + c[0].cut + c[0].scoped;
	for (int side = compared ? 0 : 1; side < 2; side++)
		if (c[side].measured && c[side].mean < RP_COVERAGE_LEAST) {
			*why = "most of a window was not collected";
			return 0;
		}
	for (int side = compared ? 0 : 1; side < 2; side++)
		if (c[side].measured && c[side].mean < RP_COVERAGE_GOOD)
			*why = "collection has gaps";
	if (compared && measured && fabs(c[0].mean - c[1].mean) > RP_COVERAGE_DIFFERS)
		*why = "collection differs between the sides";
	if (off)
		*why = "profiles are of another window, type or part than the case's";
	return *why ? 1 : 2;
}

void rp_confidence(const struct rp_findings *f, struct rp_text *text)
{
	const struct pd_explanation *e = f->explanation;

	if (f->exit != '-') {
		rp_say(text, "low — exit %c: nothing was measured that could answer the question", f->exit);
		return;
	}
	bool three = e->replicates_n[1] >= 3 && (f->unqualified || e->replicates_n[0] >= 3);
	bool two = e->replicates_n[1] >= 2 && (f->unqualified || e->replicates_n[0] >= 2);
	bool known = e->by_request || pd_lens_snapshot(&f->reporter->lens);
	const char *gaps;
	int allowed = collection_allows(f, &gaps);
	if (f->conclusion == PD_COST_LOCATION) {
		rp_say(text, "%s — %zu incident profile%s, ", three && allowed > 0 ? "medium" : "low", e->replicates_n[1],
		       e->replicates_n[1] == 1 ? "" : "s");
		if (gaps)
			rp_say(text, "%s, ", gaps);
		if (isnan(e->count[1]))
			rp_say(text, "sample counts not measured");
		else
			rp_say(text, "%.0f samples", e->count[1]);
		rp_say(text, "; it is about where cost is, not about what changed");
		return;
	}
	bool strong = f->cause && (isnan(f->cause->q) || f->cause->q < 0.01);
	const char *level = "low";
	if (f->conclusion == PD_ESTABLISHED_CAUSE && three && known && strong && allowed == 2)
		level = "high";
	else if (allowed > 0 && (f->cause || e->causes[0].verdict == PD_VERDICT_NONE) && two && known && f->contradicts_n == 0 &&
	         !f->control_cause)
		level = "medium";
	rp_say(text, "%s — %zu against %zu profiles, %s", level, e->replicates_n[0], e->replicates_n[1],
	       e->by_request ? "requests measured" : known ? "snapshots, which need no requests" : "requests not measured");
	if (gaps)
		rp_say(text, ", %s", gaps);
	if (f->cause && !isnan(f->cause->q))
		rp_say(text, ", q = %.2g", f->cause->q);
	if (f->control_cause)
		rp_say(text, ", the control changed alike");
	if (f->supports_n || f->contradicts_n)
		rp_say(text, ", symptoms: %zu support, %zu contradict", f->supports_n, f->contradicts_n);
	else
		rp_say(text, ", no symptom evidence");
}
