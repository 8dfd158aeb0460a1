/* pprof-diff: what changed between two groups of profiles, frame by frame. */
#include "cmd/cli.h"
#include "cmd/diffprint.h"
#include "cmd/diffsides.h"
#include "cmd/input.h"
#include "cmd/output.h"
#include "cmd/table.h"

#include <math.h>

#include "libdiff/compare.h"
#include "libdiff/explain.h"
#include "libdiff/subtract.h"

enum { FORMAT_PPROF = TABLE_AUTO, FORMAT_AUTO }; /* after the formats of tables */
static const char *const formats[] = {"tsv", "table", "json", "markdown", "pprof", NULL};
static const char *const normalizations[] = {"raw", "duration", "total", "exposure", "robust", "robust_median", NULL};

struct request {
	struct input input;
	struct output output;
	struct cli_list side[2]; /* operands, by enum pd_side */
	const char *sample_type, *load, *folder;
	int by, normalization, format;
	bool all, exit_code;
	double min_samples;
	uint64_t limit;
};

/* ---- input ---- */

/* Two operands are baseline and incident; else both come by options. Options that need each other are
 * checked here as well. */
static enum cli_status choose_sides(const struct request *request, const struct cli_list *operands,
                                    struct cli_list sides[2])
{
	if (request->format == FORMAT_PPROF && request->normalization != PD_RAW)
		return cli_usage("--format pprof writes values as measured: it does not go with --normalize");
	if (request->normalization == PD_EXPOSURE && !request->load && !request->folder)
		return cli_usage("--normalize exposure needs --load");
	bool by_options = request->side[PD_BASELINE].n || request->side[PD_INCIDENT].n;
	if (request->folder)
		return operands->n || by_options || request->load
		               ? cli_usage("--case has the sides and load.tsv: it does not go with others")
		               : CLI_OK;
	if (!by_options && operands->n == 2) {
		for (int side = 0; side < 2; side++)
			sides[side] = (struct cli_list){operands->items + side, 1};
		return CLI_OK;
	}
	if (operands->n)
		return cli_usage(by_options ? "operands and --baseline or --incident do not go together"
		                            : "needs two operands, a baseline and an incident");
	for (int side = 0; side < 2; side++) {
		if (request->side[side].n == 0)
			return cli_usage("needs a baseline and an incident");
		sides[side] = request->side[side];
	}
	return CLI_OK;
}

/* Whatever a profile is handed to, one at a time. */
struct work {
	const struct request *request;
	struct diffsides *sides;
	struct pd_compare *compare;
	struct pd_explain *explain;  /* made with the first profile; only for formats that print verdicts */
	struct pp_merge *difference; /* instead of both, for --format pprof */
	uint64_t baseline_samples;
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
	if (!work->explain && !(work->explain = pd_explain_new(&options, err)))
		return -1;
	return pd_explain_add(work->explain, side, profile, column, diffsides_row(work->sides, side, i), err);
}

static int use_profile(struct work *work, enum pd_side side, size_t i, const struct pp_profile *profile,
                       const struct pp_origin *origin, struct pp_error *err)
{
	work->baseline_samples += side == PD_BASELINE ? profile->samples_n : 0;
	if (work->difference)
		return pd_subtract_add(work->difference, side, profile, err);
	if (pd_compare_add(work->compare, side, work->sides->names[side].names[i], profile, origin, NAN, err) != 0)
		return -1;
	return wants_verdicts(work->request) ? explain_profile(work, side, i, profile, err) : 0;
}

/* A case folder may hold profiles of other lenses beside those in question. */
static bool is_of_case(const struct diffsides *sides, const struct pp_profile *profile)
{
	struct pp_error err = PP_ERROR_INIT;
	uint32_t column;
	char warning[400];
	return !sides->sample_type ||
	       pp_sample_type_find(profile, sides->sample_type, &column, warning, sizeof(warning), &err) == 0;
}

static enum cli_status read_side(struct work *work, enum pd_side side)
{
	struct input_names *names = &work->sides->names[side];
	enum cli_status status = CLI_OK;
	for (size_t i = 0; status == CLI_OK && i < names->n;) {
		struct pp_error err = PP_ERROR_INIT;
		struct pp_origin origin;
		struct pp_profile *profile =
			input_load(&work->request->input, names->names[i], work->difference, &origin, &status);
		if (profile && !is_of_case(work->sides, profile))
			diffsides_drop(work->sides, side, i);
		else if (profile && use_profile(work, side, i, profile, &origin, &err) != 0)
			status = cli_report(names->names[i], &err);
		else
			i++;
		pp_profile_free(profile);
	}
	return status;
}

/* Exposures are shared between the files of one pod, so they are known once all have been read. */
static enum cli_status read_profiles(struct work *work)
{
	size_t added = 0;
	enum cli_status status = read_side(work, PD_BASELINE);
	if (status == CLI_OK)
		status = read_side(work, PD_INCIDENT);
	for (int side = 0; side < 2 && status == CLI_OK && work->compare; side++)
		for (size_t i = 0; i < work->sides->names[side].n; i++)
			pd_compare_set_exposure(work->compare, added++,
			                        diffsides_exposure(work->sides, (enum pd_side)side, i));
	return status;
}

/* ---- output ---- */

static enum cli_status print(const struct request *request, const struct pd_comparison *comparison,
                             const struct pd_explanation *explanation, struct pp_sink *sink)
{
	struct pp_error err = PP_ERROR_INIT;
	const struct diffprint what = {comparison, explanation, (enum pp_granularity)request->by, request->all,
	                               request->limit};
	if (diffprint(&what, (enum table_format)request->format, sink, &err) != 0)
		return cli_report(NULL, &err);
	return request->exit_code && diffprint_changed(comparison) ? CLI_CHANGED : CLI_OK;
}

static enum cli_status compare_and_print(const struct request *request, struct diffsides *sides,
                                         struct pp_sink *sink)
{
	struct pd_options options = PD_OPTIONS_DEFAULT;
	struct work work = {.request = request, .sides = sides};
	struct pp_error err = PP_ERROR_INIT;
	struct pd_comparison *comparison = NULL;
	struct pd_explanation *explanation = NULL;
	enum cli_status status = CLI_OK;

	options.granularity = (enum pp_granularity)request->by;
	options.normalization = (enum pd_normalization)request->normalization;
	options.sample_type = request->sample_type;
	options.min_count = request->min_samples;
	work.compare = pd_compare_new(&options, &err);
	if (work.compare)
		status = read_profiles(&work);
	if (status == CLI_OK && work.compare && (comparison = pd_compare_finish(work.compare, &err)) &&
	    (!work.explain || (explanation = pd_explain_finish(work.explain, &err))))
		status = print(request, comparison, explanation, sink);
	else if (status == CLI_OK)
		status = cli_report(NULL, &err);
	pd_explanation_free(explanation);
	pd_comparison_free(comparison);
	pd_explain_free(work.explain);
	pd_compare_free(work.compare);
	return status;
}

static enum cli_status subtract_and_write(struct request *request, struct diffsides *sides)
{
	const struct pp_limits limits = PP_LIMITS_DEFAULT;
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
	struct request request = {.output = OUTPUT_INIT, .by = PP_BY_FRAMES, .normalization = PD_RAW,
	                          .format = FORMAT_AUTO, .limit = UINT64_MAX};
	const struct cli_option options[] = {
		{"baseline", 0, CLI_OPERANDS, &request.side[PD_BASELINE], "FILE...", "profiles of the baseline", 0, 0, NULL},
		{"incident", 0, CLI_OPERANDS, &request.side[PD_INCIDENT], "FILE...", "profiles of the incident", 0, 0, NULL},
		{"case", 0, CLI_STRING, &request.folder, "DIR", "a case folder: its sides, load.tsv and lens", 0, 0, NULL},
		INPUT_SAMPLE_TYPE_OPTION(&request.sample_type),
		INPUT_BY_OPTION(&request.by),
		{"normalize", 0, CLI_CHOICE, &request.normalization, "BY", "what the sides are divided by; raw: nothing", 0, 0, normalizations},
		{"load", 0, CLI_STRING, &request.load, "FILE", "what each side served: side, pod, requests", 0, 0, NULL},
		{"min-samples", 0, CLI_REAL, &request.min_samples, "N", "test frames from this many samples on; 20, one against one 10", 1, UINT64_MAX, NULL},
		{"all", 'a', CLI_FLAG, &request.all, NULL, "print unchanged rows too", 0, 0, NULL},
		{"limit", 'n', CLI_COUNT, &request.limit, "N", "print the first N rows", 0, UINT64_MAX, NULL},
		{"format", 0, CLI_CHOICE, &request.format, "FORMAT", "table on a terminal, else tsv", 0, 0, formats},
		{"exit-code", 0, CLI_FLAG, &request.exit_code, NULL, "exit 1 when something changed beyond noise", 0, 0, NULL},
		OUTPUT_OPTIONS(&request.output),
		OUTPUT_FORCE_OPTION(&request.output),
		INPUT_OPTIONS(&request.input),
		INPUT_FRAME_OPTIONS(&request.input),
	};
	const struct cli_command command = {"pprof-diff", "BASELINE INCIDENT | --baseline FILE... --incident FILE... | --case DIR",
	                                    "Show what changed between two groups of profiles.", options,
	                                    PP_COUNT(options)};
	struct cli_list operands, side_operands[2];
	struct diffsides sides = DIFFSIDES_INIT;
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	status = choose_sides(&request, &operands, side_operands);
	if (status == CLI_OK)
		status = request.folder ? diffsides_open_case(&sides, request.folder)
		                        : diffsides_open(&sides, side_operands, request.load);
	if (!request.sample_type)
		request.sample_type = sides.sample_type;
	if (status == CLI_OK)
		status = run(&request, &sides);

	diffsides_release(&sides);
	cli_list_release(&request.side[PD_BASELINE]);
	cli_list_release(&request.side[PD_INCIDENT]);
	cli_list_release(&operands);
	return (int)status;
}
