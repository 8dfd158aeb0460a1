/* pprof-symbolize: gives names, files and lines to the addresses of a profile, from the files of this machine. */
#include "cmd/cli.h"
#include "cmd/input.h"
#include "cmd/profileout.h"
#include "cmd/symbols/symbolize.h"

static const char *const demangle_names[] = {"simple", "templates", "full", "none", NULL}; /* enum demangle_mode */

static enum cli_status run(const struct symbolize *how, const struct input *input, struct profileout *output,
                           const char *name)
{
	const struct pp_limits limits = input_limits(input);
	struct pp_profile *made = NULL;
	enum cli_status status;
	struct pp_profile *profile = input_load(input, name, true, NULL, &status);

	if (!profile)
		return status;
	made = symbolize(how, profile, &limits, name, &status);
	pp_profile_free(profile);
	if (!made)
		return status;
	status = profileout_write(output, made, &limits);
	pp_profile_free(made);
	return status;
}

int main(int argc, char **argv)
{
	struct input input = {0};
	struct profileout output = PROFILEOUT_INIT;
	struct symbolize how = {0};
	const struct cli_option options[] = {
		{"binary", 'b', CLI_LIST, &how.find.binaries, "FILE", "a program or library of the profile; repeatable", 0, 0, NULL},
		{"debug-dir", 0, CLI_LIST, &how.find.debug_dirs, "DIR", "where debug files are, besides /usr/lib/debug; repeatable", 0, 0, NULL},
		{"sysroot", 0, CLI_STRING, &how.find.sysroot, "DIR", "where the files of the profile's machine are", 0, 0, NULL},
		{"any-build", 0, CLI_FLAG, &how.find.any_build, NULL, "take files of another build id too", 0, 0, NULL},
		{"again", 0, CLI_FLAG, &how.again, NULL, "resolve what has names already, too", 0, 0, NULL},
		{"demangle", 0, CLI_CHOICE, &how.demangle, "HOW", "what is left of C++ and Rust names", 0, 0, demangle_names},
		{"verbose", 'v', CLI_FLAG, &how.verbose, NULL, "say what became of each mapping", 0, 0, NULL},
		PROFILEOUT_OPTIONS(&output),
		INPUT_OPTIONS(&input),
	};
	const struct cli_command command = {"pprof-symbolize", "[FILE]", "Give names to the addresses of a profile.",
	                                    options, PP_COUNT(options)};
	struct cli_list operands;
	const char *name;
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	status = input_one(&operands, &name);
	if (status == CLI_OK)
		status = find_open(&how.find);
	if (status == CLI_OK)
		status = run(&how, &input, &output, name);

	find_release(&how.find);
	profileout_release(&output);
	cli_list_release(&operands);
	return (int)status;
}
