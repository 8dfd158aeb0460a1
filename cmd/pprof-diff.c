/* pprof-diff: what changed between two groups of profiles, frame by frame. */
#include "cmd/cli.h"
#include "cmd/diffprint.h"
#include "cmd/diffsides.h"
#include "cmd/failover.h"
#include "cmd/input.h"
#include "cmd/output.h"
#include "cmd/readahead.h"
#include "cmd/table.h"
#include "cmd/view.h"

#include <math.h>
#include <stdlib.h>

#include "libdiff/compare.h"
#include "libdiff/control.h"
#include "libdiff/explain.h"
#include "libdiff/subtract.h"

enum { FORMAT_PPROF = TABLE_AUTO, FORMAT_AUTO }; /* after the formats of tables */
static const char *const formats[] = {"tsv", "table", "json", "markdown", "pprof", NULL};
static const char *const normalizations[] = {"raw", "duration", "total", "exposure", "robust", "robust_median", NULL};

struct request {
	struct input input;
	struct output output;
	struct cli_list group[DIFF_GROUPS_N]; /* operands */
	const char *sample_type, *load, *folder, *fail_over, *app;
	struct pp_view filters;
	const char *unit; /* of --unit */
	struct failover failover;
	int by, normalization, format;
	bool all, exit_code, no_fuzzy, fold_renamed, call_tree;
	const char *rule_list;
	unsigned rules; /* those of rule_list */
	double min_samples;
	uint64_t limit, threads;
};

/* ---- input ---- */

/* Options that need each other, or that do not go together. */
static enum cli_status check_options(const struct request *request)
{
	bool control = request->group[DIFF_CONTROL].n > 0;
	if (request->format == FORMAT_PPROF && request->normalization != PD_RAW)
		return cli_usage("--format pprof writes values as measured: it does not go with --normalize");
	if (request->format == FORMAT_PPROF && (control || request->fail_over))
		return cli_usage("--format pprof does not go with --control or --fail-over");
	if (request->call_tree && (control || request->format == FORMAT_PPROF))
		return cli_usage("--call-tree does not go with --control or --format pprof");
	if (request->unit && (request->format == FORMAT_PPROF || request->format == TABLE_JSON))
		return cli_usage("--unit is for rows: it does not go with --format %s", formats[request->format]);
	if (request->normalization == PD_EXPOSURE && !request->load && !request->folder)
		return cli_usage("--normalize exposure needs --load");
	if (request->group[DIFF_CONTROL_BASELINE].n && !control)
		return cli_usage("--control-baseline needs --control");
	if (request->failover.total && request->normalization == PD_TOTAL)
		return cli_usage("--fail-over total does not go with --normalize total, which makes totals equal");
	return CLI_OK;
}

/* Two operands are baseline and incident; else both come by options. */
static enum cli_status choose_sides(const struct request *request, const struct cli_list *operands,
                                    struct cli_list groups[DIFF_GROUPS_N])
{
	bool by_options = request->group[DIFF_BASELINE].n || request->group[DIFF_INCIDENT].n;
	for (int group = 0; group < DIFF_GROUPS_N; group++)
		groups[group] = request->group[group];
	if (request->folder)
		return operands->n || by_options || request->load || request->group[DIFF_CONTROL].n
		               ? cli_usage("--case has the sides and load.tsv: it does not go with others")
		               : CLI_OK;
	if (!by_options && operands->n == 2) {
		for (int side = 0; side < 2; side++)
			groups[side] = (struct cli_list){operands->items + side, 1};
		return CLI_OK;
	}
	if (operands->n)
		return cli_usage(by_options ? "operands and --baseline or --incident do not go together"
		                            : "needs two operands, a baseline and an incident");
	if (!groups[DIFF_BASELINE].n || !groups[DIFF_INCIDENT].n)
		return cli_usage("needs a baseline and an incident");
	return CLI_OK;
}

static enum cli_status choose_rules(struct request *request)
{
	struct pp_str unknown;
	char word[40];
	if (pd_rules_parse(request->rule_list, &request->rules, &unknown) == 0)
		return CLI_OK;
	return cli_usage("--rules: '%s' is no rule; see pprof-diff(1)", pp_printable(word, sizeof(word), unknown.ptr, unknown.len));
}

/* Whatever a profile is handed to, one at a time. */
struct work {
	const struct request *request;
	struct diffsides *sides;
	struct readahead *ahead;
	struct pd_compare *compare;
	struct pd_compare *control;  /* NULL without one */
	struct pd_explain *explain;  /* made with the first profile; only for formats that print verdicts */
	struct pp_merge *difference; /* instead of both, for --format pprof */
	uint64_t baseline_samples;
	struct pp_unmatched unmatched; /* by no profile so far */
	bool any_filtered;
};

static bool wants_verdicts(const struct request *request)
{
	return request->format != TABLE_TSV && request->format != FORMAT_PPROF;
}

static int explain_profile(struct work *work, enum pd_side side, size_t i, const struct pp_profile *profile,
                           struct pp_error *err)
{
	struct pd_explain_options options = PD_EXPLAIN_OPTIONS_DEFAULT;
	uint32_t column;
	char warning[400]; /* the comparison has it, too */
	if (pp_sample_type_find(profile, work->request->sample_type, &column, warning, sizeof(warning), err) != 0)
		return -1;
	options.snapshot = pd_is_snapshot(pp_sample_type_name(profile, column).ptr);
	options.load = work->sides->load;
	options.app = work->request->app;
	if (!work->explain && !(work->explain = pd_explain_new(&options, err)))
		return -1;
	return pd_explain_add(work->explain, side, profile, column, diffsides_row(work->sides, side, i), err);
}

/* Whether the control is compared with the baseline of the comparison. */
static bool shares_baseline(const struct diffsides *sides)
{
	return sides->names[DIFF_CONTROL_BASELINE].n == 0;
}

static int use_in_control(struct work *work, int group, const char *name, const struct pp_profile *profile,
                          const struct pp_origin *origin, struct pp_error *err)
{
	if (!work->control || group == DIFF_INCIDENT || (group == DIFF_BASELINE && !shares_baseline(work->sides)))
		return 0;
	return pd_compare_add(work->control, group == DIFF_CONTROL ? PD_INCIDENT : PD_BASELINE, name, profile, origin, NAN,
	                      err);
}

static int use_profile(struct work *work, int group, size_t i, const struct pp_profile *profile,
                       const struct pp_origin *origin, struct pp_error *err)
{
	const char *name = work->sides->names[group].names[i];
	enum pd_side side = (enum pd_side)group;

	work->baseline_samples += group == DIFF_BASELINE ? profile->samples_n : 0;
	if (work->difference)
		return pd_subtract_add(work->difference, side, profile, err);
	if (use_in_control(work, group, name, profile, origin, err) != 0)
		return -1;
	if (group > DIFF_INCIDENT)
		return 0;
	if (pd_compare_add(work->compare, side, name, profile, origin, NAN, err) != 0)
		return -1;
	return wants_verdicts(work->request) ? explain_profile(work, side, i, profile, err) : 0;
}

/* What the filters leave of a profile. */
static enum cli_status filter_profile(struct work *work, const char *name, struct pp_profile **profile)
{
	const struct pp_limits limits = input_limits(&work->request->input);
	struct pp_unmatched unmatched = {{NULL}, 0};
	if (!view_is_set(&work->request->filters))
		return CLI_OK;
	enum cli_status status = view_filter(&work->request->filters, &limits, name, &unmatched, profile);
	if (work->any_filtered)
		view_join_unmatched(&work->unmatched, &unmatched);
	else
		work->unmatched = unmatched;
	work->any_filtered = true;
	return status;
}

static enum cli_status add_profile(struct work *work, int group, size_t i, struct pp_profile **profile,
                                   const struct pp_origin *origin)
{
	const char *name = work->sides->names[group].names[i];
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status = filter_profile(work, name, profile);
	if (status == CLI_OK && use_profile(work, group, i, *profile, origin, &err) != 0)
		status = cli_report(name, &err);
	return status;
}

static enum cli_status read_group(struct work *work, int group)
{
	/* A difference keeps all frames for who reads it, unless filters are to see what reports do. */
	const bool keep_all = work->difference && !view_is_set(&work->request->filters);
	struct input_names *names = &work->sides->names[group];
	enum cli_status status = CLI_OK;
	for (size_t i = 0; status == CLI_OK && i < names->n;) {
		struct pp_origin origin;
		struct pp_profile *profile = readahead_take(work->ahead, keep_all, &origin, &status);
		if (profile && !diffsides_is_of_case(work->sides, names->names[i], profile)) /* of another lens */
			diffsides_drop(work->sides, group, i);
		else if (profile)
			status = add_profile(work, group, i++, &profile, &origin);
		pp_profile_free(profile);
	}
	return status;
}

/* Exposures are shared between the files of one pod, so they are known once all have been read. */
static void set_exposures(const struct work *work)
{
	size_t added = 0, added_control = 0;
	for (int group = 0; group < DIFF_GROUPS_N; group++)
		for (size_t i = 0; i < work->sides->names[group].n; i++) {
			double exposure = diffsides_exposure(work->sides, group, i);
			if (group <= DIFF_INCIDENT)
				pd_compare_set_exposure(work->compare, added++, exposure);
			if (work->control && group != DIFF_INCIDENT &&
			    (group != DIFF_BASELINE || shares_baseline(work->sides)))
				pd_compare_set_exposure(work->control, added_control++, exposure);
		}
}

/* The names of all groups that are read, in that order; borrowed. NULL without memory. */
static const char **names_to_read(const struct work *work, int groups_n, size_t *n)
{
	size_t all = 0;
	for (int group = 0; group < groups_n; group++)
		all += work->sides->names[group].n;
	const char **names = calloc(all + 1, sizeof(*names));
	*n = 0;
	for (int group = 0; group < groups_n && names; group++)
		for (size_t i = 0; i < work->sides->names[group].n; i++)
			names[(*n)++] = work->sides->names[group].names[i];
	return names;
}

static enum cli_status read_profiles(struct work *work)
{
	int groups_n = work->control ? DIFF_GROUPS_N : DIFF_INCIDENT + 1;
	size_t n;
	const char **names = names_to_read(work, groups_n, &n);
	enum cli_status status = CLI_SYSTEM;
	if (!names)
		cli_error("out of memory");
	else if ((work->ahead = readahead_new(&work->request->input, names, n, work->request->threads)))
		status = CLI_OK;
	for (int group = 0; group < groups_n && status == CLI_OK; group++)
		status = read_group(work, group);
	if (status == CLI_OK && work->compare)
		set_exposures(work);
	for (size_t i = 0; status == CLI_OK && i < work->unmatched.n; i++)
		cli_warn("--%s matched nothing in any profile", work->unmatched.option[i]);
	readahead_free(work->ahead);
	free(names);
	return status;
}

/* ---- output ---- */

/* All results of reading; each may be NULL. */
struct results {
	struct pd_comparison *comparison, *control;
	struct pd_explanation *explanation;
};

static enum cli_status print(const struct request *request, const struct diffsides *sides, const struct results *results,
                             struct pp_sink *sink)
{
	struct pp_error err = PP_ERROR_INIT;
	const struct diffprint what = {results->comparison, results->control, shares_baseline(sides), results->explanation,
	                               (enum pp_granularity)request->by, request->call_tree, request->all, request->limit,
	                               request->unit};
	if (diffprint(&what, (enum table_format)request->format, sink, &err) != 0)
		return cli_report(NULL, &err);
	enum cli_status status = failover_judge(&request->failover, results->comparison);
	if (status == CLI_OK && request->exit_code && diffprint_changed(results->comparison))
		status = CLI_CHANGED;
	return status;
}

static int finish(struct work *work, struct results *results, struct pp_error *err)
{
	if (!(results->comparison = pd_compare_finish(work->compare, err)))
		return -1;
	if (work->explain && !(results->explanation = pd_explain_finish(work->explain, err)))
		return -1;
	if (!work->control)
		return 0;
	if (!(results->control = pd_compare_finish(work->control, err)))
		return -1;
	return pd_control_apply(results->comparison, results->control, shares_baseline(work->sides), err);
}

static enum cli_status compare_and_print(const struct request *request, struct diffsides *sides,
                                         struct pp_sink *sink)
{
	struct pd_options options = PD_OPTIONS_DEFAULT;
	struct work work = {.request = request, .sides = sides};
	struct pp_error err = PP_ERROR_INIT;
	struct results results = {NULL, NULL, NULL};
	enum cli_status status = CLI_OK;

	options.granularity = (enum pp_granularity)request->by;
	options.normalization = (enum pd_normalization)request->normalization;
	options.sample_type = request->sample_type;
	options.limits = input_limits(&request->input);
	options.min_count = request->min_samples;
	options.rules = request->rules;
	options.match = !request->no_fuzzy;
	options.fold_matches = request->fold_renamed;
	options.call_tree = request->call_tree;
	bool controlled = sides->names[DIFF_CONTROL].n > 0;
	work.compare = pd_compare_new(&options, &err);
	if (controlled && work.compare)
		work.control = pd_compare_new(&options, &err);
	bool ready = work.compare && (!controlled || work.control);
	if (ready)
		status = read_profiles(&work);
	if (status == CLI_OK && ready && finish(&work, &results, &err) == 0)
		status = print(request, sides, &results, sink);
	else if (status == CLI_OK)
		status = cli_report(NULL, &err);
	pd_explanation_free(results.explanation);
	pd_comparison_free(results.comparison);
	pd_comparison_free(results.control);
	pd_explain_free(work.explain);
	pd_compare_free(work.compare);
	pd_compare_free(work.control);
	return status;
}

static enum cli_status subtract_and_write(struct request *request, struct diffsides *sides)
{
	const struct pp_limits limits = input_limits(&request->input);
	struct work work = {.request = request, .sides = sides};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *difference = NULL;
	enum cli_status status = CLI_OK;

	work.difference = pp_merge_new(&limits, &err);
	if (work.difference)
		status = read_profiles(&work);
	if (status == CLI_OK && work.difference && work.baseline_samples == 0)
		pp_fail(&err, PP_EINCOMPAT, PP_NO_OFFSET, "no baseline: it has no samples");
	if (status == CLI_OK && (err.code != PP_OK || !(difference = pp_merge_finish(work.difference, &err)) ||
	                         output_profile(&request->output, difference, false, &err) != 0))
		status = cli_report(NULL, &err);
	pp_profile_free(difference);
	pp_merge_free(work.difference);
	return status;
}

/* The output is opened first: the format may depend on whether it is a terminal. */
static enum cli_status run(struct request *request, struct diffsides *sides)
{
	enum cli_status status = output_open(&request->output, request->format == FORMAT_PPROF);
	if (status != CLI_OK)
		return status;
	struct pp_sink sink = output_sink(&request->output);
	if (request->format == FORMAT_AUTO)
		request->format = (int)table_format_for(TABLE_AUTO, &request->output);
	status = request->format == FORMAT_PPROF ? subtract_and_write(request, sides)
	                                         : compare_and_print(request, sides, &sink);
	return output_finish(&request->output, status);
}

/* ---- the command ---- */

int main(int argc, char **argv)
{
	struct request request = {.output = OUTPUT_INIT, .filters = PP_VIEW_ALL, .by = PP_BY_FRAMES, .normalization = PD_RAW,
	                          .format = FORMAT_AUTO, .limit = UINT64_MAX, .rule_list = "all", .threads = 1};
	const struct cli_option options[] = {
		{"baseline", 0, CLI_OPERANDS, &request.group[DIFF_BASELINE], "FILE...", "profiles of the baseline", 0, 0, NULL},
		{"incident", 0, CLI_OPERANDS, &request.group[DIFF_INCIDENT], "FILE...", "profiles of the incident", 0, 0, NULL},
		{"control", 0, CLI_OPERANDS, &request.group[DIFF_CONTROL], "FILE...", "profiles of what the incident spared, at its time", 0, 0, NULL},
		{"control-baseline", 0, CLI_OPERANDS, &request.group[DIFF_CONTROL_BASELINE], "FILE...", "the same before; otherwise the baseline", 0, 0, NULL},
		{"case", 0, CLI_STRING, &request.folder, "DIR", "a case folder: its sides, load.tsv and lens", 0, 0, NULL},
		INPUT_SAMPLE_TYPE_OPTION(&request.sample_type),
		VIEW_FILTER_OPTIONS(&request.filters),
		VIEW_UNIT_OPTION(&request.unit),
		INPUT_BY_OPTION(&request.by),
		{"normalize", 0, CLI_CHOICE, &request.normalization, "BY", "what the sides are divided by; raw: nothing", 0, 0, normalizations},
		{"app", 0, CLI_STRING, &request.app, "REGEX", "functions that belong to the application, whatever their files", 0, 0, NULL},
		{"load", 0, CLI_STRING, &request.load, "FILE", "what each side served: side, pod, requests", 0, 0, NULL},
		{"min-samples", 0, CLI_REAL, &request.min_samples, "N", "test frames from this many samples on; 20, one against one 10", 1, UINT64_MAX, NULL},
		{"rules", 0, CLI_STRING, &request.rule_list, "LIST", "by which renamed frames are joined; none, or -RULE: all but", 0, 0, NULL},
		{"no-fuzzy", 0, CLI_FLAG, &request.no_fuzzy, NULL, "do not look for renamed functions by callers and callees", 0, 0, NULL},
		{"fold-renamed", 0, CLI_FLAG, &request.fold_renamed, NULL, "join what callers and callees say is renamed, too", 0, 0, NULL},
		{"call-tree", 0, CLI_FLAG, &request.call_tree, NULL, "rows are paths of calls, tested from callers down", 0, 0, NULL},
		{"all", 'a', CLI_FLAG, &request.all, NULL, "print unchanged rows too", 0, 0, NULL},
		{"limit", 'n', CLI_COUNT, &request.limit, "N", "print the first N rows", 0, UINT64_MAX, NULL},
		{"format", 0, CLI_CHOICE, &request.format, "FORMAT", "table on a terminal, else tsv", 0, 0, formats},
		{"exit-code", 0, CLI_FLAG, &request.exit_code, NULL, "exit 1 when something changed beyond noise", 0, 0, NULL},
		{"fail-over", 0, CLI_STRING, &request.fail_over, "BOUND", "exit 1 when a rise is certainly over it: 5%, total:5%, 50ms", 0, 0, NULL},
		READAHEAD_OPTION(&request.threads),
		OUTPUT_OPTIONS(&request.output),
		OUTPUT_FORCE_OPTION(&request.output),
		INPUT_OPTIONS(&request.input),
		INPUT_FRAME_OPTIONS(&request.input),
	};
	const struct cli_command command = {"pprof-diff", "BASELINE INCIDENT | --baseline FILE... --incident FILE... | --case DIR",
	                                    "Show what changed between two groups of profiles.", options,
	                                    PP_COUNT(options)};
	struct cli_list operands, group_operands[DIFF_GROUPS_N];
	struct diffsides sides = DIFFSIDES_INIT;
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	status = failover_parse(request.fail_over, &request.failover);
	if (status == CLI_OK)
		status = check_options(&request);
	if (status == CLI_OK)
		status = choose_sides(&request, &operands, group_operands);
	if (status == CLI_OK)
		status = choose_rules(&request);
	if (status == CLI_OK)
		status = request.folder ? diffsides_open_case(&sides, request.folder)
		                        : diffsides_open(&sides, group_operands, request.load);
	if (!request.sample_type)
		request.sample_type = sides.sample_type;
	if (status == CLI_OK)
		status = run(&request, &sides);

	diffsides_release(&sides);
	for (int group = 0; group < DIFF_GROUPS_N; group++)
		cli_list_release(&request.group[group]);
	cli_list_release(&operands);
	return (int)status;
}
