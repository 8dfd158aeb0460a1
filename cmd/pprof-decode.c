/* pprof-decode: a profile as text: a row a sample, lossless records, folded stacks, JSON. */
#include "cmd/cli.h"
#include "cmd/input.h"
#include "cmd/output.h"

enum { FORMAT_TSV, FORMAT_JSON };
static const char *const format_names[] = {"tsv", "json", NULL};

struct request {
	struct input input;
	struct output output;
	bool records, lines, folded, check;
	int format;
	const char *sample_type;
};

static int write_folded(const struct request *request, const struct pp_profile *profile, const char *name,
                        struct pp_sink *sink, struct pp_error *err)
{
	char warning[400];
	uint32_t column;
	if (pp_sample_type_find(profile, request->sample_type, &column, warning, sizeof warning, err) != 0)
		return -1;
	if (warning[0])
		cli_warn("'%s': %s", name, warning);
	return pp_folded_write(profile, column, sink, err);
}

static int write_text(const struct request *request, const struct pp_profile *profile, const char *name,
                      struct pp_sink *sink, struct pp_error *err)
{
	struct pp_samples_options options = {.lines = request->lines, .json = request->format == FORMAT_JSON};
	if (request->folded)
		return write_folded(request, profile, name, sink, err);
	if (!request->records)
		return pp_samples_write(profile, &options, sink, err);
	return options.json ? pp_records_write_json(profile, sink, err) : pp_records_write(profile, sink, err);
}

static enum cli_status decode(struct request *request, const struct pp_profile *profile, const char *name)
{
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status = output_open(&request->output, false);
	if (status != CLI_OK)
		return status;
	struct pp_sink sink = output_sink(&request->output);
	if (write_text(request, profile, name, &sink, &err) != 0)
		status = cli_report(err.code == PP_EIO ? NULL : name, &err); /* a sink names itself */
	return output_finish(&request->output, status);
}

static enum cli_status check_request(const struct request *request)
{
	if (request->folded + request->records > 1)
		return cli_usage("--folded and --records exclude each other");
	if (request->lines && (request->folded || request->records))
		return cli_usage("--lines belongs to the samples view");
	if (request->folded && request->format == FORMAT_JSON)
		return cli_usage("folded stacks have no JSON form");
	if (request->sample_type && !request->folded)
		return cli_usage("--sample-type belongs to --folded: the views hold every type");
	return CLI_OK;
}

int main(int argc, char **argv)
{
	struct request request = {.output = OUTPUT_INIT};
	const struct cli_option options[] = {
		{"records", 'r', CLI_FLAG, &request.records, NULL, "every field of the profile, lossless", 0, 0, NULL},
		{"lines", 'l', CLI_FLAG, &request.lines, NULL, "frames with file and line", 0, 0, NULL},
		{"folded", 0, CLI_FLAG, &request.folded, NULL, "folded stacks of one sample type", 0, 0, NULL},
		INPUT_SAMPLE_TYPE_OPTION(&request.sample_type),
		{"format", 0, CLI_CHOICE, &request.format, "FORMAT", "how rows are written", 0, 0, format_names},
		{"check", 0, CLI_FLAG, &request.check, NULL, "only read and check; write nothing", 0, 0, NULL},
		OUTPUT_OPTIONS(&request.output),
		INPUT_OPTIONS(&request.input),
	};
	const struct cli_command command = {"pprof-decode", "[FILE]", "Write a profile as text.", options,
	                                    PP_COUNT(options)};
	struct cli_list operands;
	struct pp_profile *profile = NULL;
	const char *name = NULL;
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	status = check_request(&request);
	if (status == CLI_OK)
		status = input_one(&operands, &name);
	if (status == CLI_OK)
		profile = input_load(&request.input, name, true, NULL, &status);
	if (profile && !request.check)
		status = decode(&request, profile, name);

	pp_profile_free(profile);
	cli_list_release(&operands);
	return (int)status;
}
