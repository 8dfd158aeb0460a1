/* pprof-merge: the sum of any number of profiles. One is read at a time, so that memory follows the
 * distinct stacks and not the number of files. */
#include "cmd/cli.h"
#include "cmd/input.h"
#include "cmd/profileout.h"

static enum cli_status add_profile(struct pp_merge *merge, const struct input *input, const char *name)
{
	enum cli_status status;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *profile = input_load(input, name, true, NULL, &status);
	if (profile && pp_merge_add(merge, profile, 1, NULL, &err) != 0)
		status = cli_report(name, &err);
	pp_profile_free(profile);
	return status;
}

/* NULL, with *status, after saying what failed. */
static struct pp_profile *sum(const struct input *input, const struct input_names *names, bool common_types,
                              enum cli_status *status)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_limits limits = input_limits(input);
	struct pp_profile *profile = NULL;
	struct pp_merge *merge = pp_merge_new(&limits, &err);
	*status = merge ? CLI_OK : cli_report(NULL, &err);
	if (merge && common_types)
		pp_merge_take_common(merge);
	for (size_t i = 0; *status == CLI_OK && i < names->n; i++)
		*status = add_profile(merge, input, names->names[i]);
	if (*status == CLI_OK) {
		profile = pp_merge_finish(merge, &err);
		if (!profile)
			*status = cli_report(NULL, &err);
	}
	pp_merge_free(merge);
	return profile;
}

int main(int argc, char **argv)
{
	struct input input = {0};
	struct profileout output = PROFILEOUT_INIT;
	static const char *const types[] = {"same", "common", NULL};
	enum { TYPES_SAME, TYPES_COMMON };
	int which_types = TYPES_SAME;
	const struct cli_option options[] = {
		PROFILEOUT_OPTIONS(&output),
		{"types", 0, CLI_CHOICE, &which_types, "WHICH", "sample types that differ: refuse, or keep what all have", 0, 0, types},
		INPUT_OPTIONS(&input),
	};
	const struct cli_command command = {"pprof-merge", "[FILE | FOLDER | @LIST]...",
	                                    "Add profiles up into one.", options, PP_COUNT(options)};
	struct cli_list operands;
	struct input_names names = {0};
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	const struct pp_limits limits = input_limits(&input);
	struct pp_profile *profile = NULL;
	status = input_expand(&operands, &names);
	if (status == CLI_OK && names.n == 0)
		status = cli_usage("the list of names is empty");
	if (status == CLI_OK)
		profile = sum(&input, &names, which_types == TYPES_COMMON, &status);
	if (profile)
		status = profileout_write(&output, profile, &limits);

	pp_profile_free(profile);
	profileout_release(&output);
	input_names_release(&names);
	cli_list_release(&operands);
	return (int)status;
}
