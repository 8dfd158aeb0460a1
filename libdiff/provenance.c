#include "libdiff/provenance.h"

#include <math.h>

#include "libdiff/utctime.h"

static int senseless(const struct pd_facts *facts, const char *key, const char *what, struct pp_error *err)
{
	return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: %s is %s: '%s'", pd_facts_line(facts, key), key, what, pd_facts_get(facts, key));
}

static int read_window(const struct pd_facts *facts, struct pd_window *window, struct pp_error *err)
{
	const char *from = pd_facts_get(facts, "from"), *to = pd_facts_get(facts, "to");

	if (from && !pd_time_parse(from, &window->from_ns))
		return senseless(facts, "from", "no time", err);
	if (to && !pd_time_parse(to, &window->to_ns))
		return senseless(facts, "to", "no time", err);
	if (from && to && window->to_ns < window->from_ns)
		return senseless(facts, "to", "before from", err);
	window->given = from && to;
	return 0;
}

/* A number of at least 0 and at most limit; otherwise when it is not given. */
static int read_number(const struct pd_facts *facts, const char *key, double limit, double *value, struct pp_error *err)
{
	const char *text = pd_facts_get(facts, key);

	if (text && (!pd_amount_parse(pp_str_of(text), value) || *value > limit))
		return senseless(facts, key, "no number that makes sense", err);
	return 0;
}

/* As counted, if it is there; the share is rounded. */
static int read_coverage(const struct pd_facts *facts, double *coverage, struct pp_error *err)
{
	double steps = 0, covered = 0;

	if (read_number(facts, "coverage_steps", 1e15, &steps, err) || read_number(facts, "coverage_covered", steps, &covered, err))
		return -1;
	*coverage = steps > 0 ? covered / steps : NAN;
	return steps > 0 ? 0 : read_number(facts, "coverage", 1, coverage, err);
}

int pd_provenance_read(const struct pd_facts *facts, struct pd_provenance *p, struct pp_error *err)
{
	static const char *const scopes[] = {"profile_id", "span_id", "trace_id", "stacktrace_selector"};
	double max_nodes = 0;

	*p = (struct pd_provenance){.coverage = NAN};
	if (read_window(facts, &p->window, err) || read_coverage(facts, &p->coverage, err) ||
	    read_number(facts, "max_nodes", 1e15, &max_nodes, err))
		return -1;
	p->max_nodes = (int64_t)max_nodes;
	for (size_t i = 0; i < PP_COUNT(scopes); i++)
		p->scoped |= pd_facts_get(facts, scopes[i]) != NULL;
	p->profile_type = pd_facts_get(facts, "profile_type");
	p->warnings = pd_facts_get(facts, "warnings");
	return 0;
}
