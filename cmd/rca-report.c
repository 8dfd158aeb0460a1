/* rca-report: a case folder in, the report of the investigation out. */
#include "cmd/casefolder.h"
#include "cmd/output.h"
#include "cmd/readahead.h"
#include "libdiff/report.h"

struct request {
	struct input input;
	struct output output;
	const char *app;
	int format;
	bool exit_code;
	uint64_t threads;
};

static const char *const formats[] = {"text", "markdown", "json", "tsv", NULL}; /* by enum pd_report_format */

/* One profile into the report. A broken one ends the command, unless --lenient asks to go on without it. */
static enum cli_status add_profile(const struct request *request, struct readahead *ahead, struct pd_reporter *reporter,
                                   enum pd_load_side side, const char *name, size_t files_n)
{
	const char *relative = casefolder_relative(name);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_origin origin;
	enum cli_status status;
	struct pp_profile *profile = readahead_take(ahead, false, &origin, &status);

	if (!profile && status == CLI_INPUT && (request->input.lenient || request->input.salvage))
		return pd_reporter_add_broken(reporter, side, relative, "not readable even leniently", &err) ? cli_report(name, &err)
		                                                                                           : CLI_OK;
	if (!profile)
		return status;
	struct pd_provenance provenance;
	struct pd_facts *facts = casefolder_provenance(name, origin.content_hash, &provenance);
	if (pd_reporter_add(reporter, side, relative, files_n, profile, &origin, facts ? &provenance : NULL, &err))
		status = cli_report(name, &err);
	pd_facts_free(facts);
	pp_profile_free(profile);
	return status;
}

static enum cli_status add_profiles(const struct request *request, const struct casefolder *folder,
                                    struct pd_reporter *reporter)
{
	enum cli_status status = CLI_OK;

	for (int side = 0; status == CLI_OK && side < CASEFOLDER_SIDES_N; side++) {
		const struct input_names *files = &folder->profiles[side];
		const char *const *names = (const char *const *)files->names;
		struct readahead *ahead = readahead_new(&request->input, names, files->n, request->threads);
		status = ahead ? CLI_OK : CLI_SYSTEM;
		for (size_t i = 0; status == CLI_OK && i < files->n; i++)
			status = add_profile(request, ahead, reporter, (enum pd_load_side)side, names[i], files->n);
		readahead_free(ahead);
	}
	return status;
}

static enum cli_status print(struct request *request, const struct pd_report *report)
{
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status = output_open(&request->output, false);

	if (status != CLI_OK)
		return status;
	struct pp_sink sink = output_sink(&request->output);
	if (pd_report_print(report, (enum pd_report_format)request->format, &sink, &err))
		status = cli_report(NULL, &err);
	else if (request->exit_code && report->regression)
		status = CLI_CHANGED;
	return output_finish(&request->output, status);
}

static enum cli_status investigate(struct request *request, const char *path)
{
	struct casefolder folder;
	struct pd_reporter *reporter = NULL;
	struct pd_report *report = NULL;
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status = casefolder_open(path, &folder);

	if (status != CLI_OK)
		goto done;
	const struct pd_report_case known = {folder.facts, folder.load, folder.symptoms, folder.changed, request->app,
	                                     folder.profiles[PD_LOAD_CONTROL].n > 0};
	reporter = pd_reporter_new(&known, &err);
	if (!reporter) {
		status = cli_report("case.tsv", &err);
		goto done;
	}
	status = add_profiles(request, &folder, reporter);
	if (status != CLI_OK)
		goto done;
	report = pd_reporter_finish(reporter, &err);
	status = report ? print(request, report) : cli_report(path, &err);
done:
	pd_report_free(report);
	pd_reporter_free(reporter);
	casefolder_release(&folder);
	return status;
}

int main(int argc, char **argv)
{
	struct request request = {.output = OUTPUT_INIT, .threads = 1};
	const struct cli_option options[] = {
		{"format", 0, CLI_CHOICE, &request.format, "FORMAT", "text, markdown, json or tsv", 0, 0, formats},
		OUTPUT_OPTIONS(&request.output),
		{"exit-code", 0, CLI_FLAG, &request.exit_code, NULL, "exit 1 when a regression is claimed", 0, 0, NULL},
		{"app", 0, CLI_STRING, &request.app, "REGEX", "functions that belong to the application, whatever their files", 0, 0,
	     NULL},
		READAHEAD_OPTION(&request.threads),
		INPUT_OPTIONS(&request.input),
		INPUT_FRAME_OPTIONS(&request.input),
	};
	const struct cli_command command = {"rca-report", "DIR", "report what a case folder's profiles show", options,
	                                    PP_COUNT(options)};
	struct cli_list operands;
	enum cli_status status;

	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;
	status = operands.n == 1 ? investigate(&request, operands.items[0])
	                         : cli_usage(operands.n ? "one case folder at a time" : "which case folder?");
	cli_list_release(&operands);
	return (int)status;
}
