/* pprof-encode: text (both views of pprof-decode, folded stacks), or a profile, as pprof. */
#include "cmd/cli.h"
#include "cmd/input.h"
#include "cmd/output.h"

static enum cli_status encode(struct output *output, const struct pp_profile *profile, bool raw)
{
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status = output_open(output, true);
	if (status != CLI_OK)
		return status;
	if (output_profile(output, profile, raw, &err) != 0)
		status = cli_report(NULL, &err);
	return output_finish(output, status);
}

int main(int argc, char **argv)
{
	struct input input = {0};
	struct output output = OUTPUT_INIT;
	bool raw = false;
	const struct cli_option options[] = {
		{"type", 't', CLI_STRING, &input.folded_type, "NAME", "sample type of folded stacks; else samples", 0, 0, NULL},
		{"unit", 'u', CLI_STRING, &input.folded_unit, "UNIT", "unit of folded stacks; else count", 0, 0, NULL},
		{"raw", 0, CLI_FLAG, &raw, NULL, "write without gzip", 0, 0, NULL},
		OUTPUT_OPTIONS(&output),
		OUTPUT_FORCE_OPTION(&output),
		INPUT_OPTIONS(&input),
	};
	const struct cli_command command = {"pprof-encode", "[FILE]", "Write text, or a profile, as pprof.", options,
	                                    PP_COUNT(options)};
	struct cli_list operands;
	struct pp_profile *profile = NULL;
	const char *name = NULL;
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	status = input_one(&operands, &name);
	if (status == CLI_OK)
		profile = input_load(&input, name, true, NULL, &status);
	if (profile)
		status = encode(&output, profile, raw);

	pp_profile_free(profile);
	cli_list_release(&operands);
	return (int)status;
}
