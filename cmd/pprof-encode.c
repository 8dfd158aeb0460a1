/* pprof-encode: text (both views of pprof-decode, folded stacks), or a profile, as pprof. */
#include "cmd/cli.h"
#include "cmd/input.h"
#include "cmd/profileout.h"

int main(int argc, char **argv)
{
	struct input input = {0};
	struct profileout output = PROFILEOUT_INIT;
	const struct cli_option options[] = {
		{"type", 't', CLI_STRING, &input.folded_type, "NAME", "sample type of folded stacks; else samples", 0, 0, NULL},
		{"unit", 'u', CLI_STRING, &input.folded_unit, "UNIT", "unit of folded stacks; else count", 0, 0, NULL},
		PROFILEOUT_OPTIONS(&output),
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

	const struct pp_limits limits = input_limits(&input);
	status = input_one(&operands, &name);
	if (status == CLI_OK)
		profile = input_load(&input, name, true, NULL, &status);
	if (profile)
		status = profileout_write(&output, profile, &limits);

	pp_profile_free(profile);
	profileout_release(&output);
	cli_list_release(&operands);
	return (int)status;
}
