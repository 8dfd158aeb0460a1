/* pprof-merge: the sum of any number of profiles. One is in memory at a time, or as many as threads read
 * ahead, so that memory follows the distinct stacks and not the number of files. */
#include "cmd/cli.h"
#include "cmd/input.h"
#include "cmd/profileout.h"
#include "cmd/readahead.h"

enum { TYPES_SAME, TYPES_COMMON };
static const char *const types[] = {[TYPES_SAME] = "same", [TYPES_COMMON] = "common", NULL};

struct request {
	struct input input;
	struct profileout output;
	int types; /* TYPES_SAME, TYPES_COMMON */
	bool keep_going;
	uint64_t threads;
};

/* Adds the profiles up. With keep_going those that cannot be read are left out, as long as there are others. */
static enum cli_status add_all(const struct request *request, struct pp_merge *merge, struct readahead *ahead,
                               const struct input_names *names)
{
	enum cli_status status = CLI_OK;
	size_t unread = 0;
	for (size_t i = 0; i < names->n; i++) {
		struct pp_error err = PP_ERROR_INIT;
		struct pp_profile *profile = readahead_take(ahead, true, NULL, &status);
		if (profile && pp_merge_add(merge, profile, 1, NULL, &err) != 0) {
			pp_profile_free(profile);
			return cli_report(names->names[i], &err);
		}
		unread += !profile;
		if (!profile && (!request->keep_going || unread == names->n))
			return status;
		pp_profile_free(profile);
	}
	if (unread > 0)
		cli_warn("%zu of %zu profiles are left out of the sum", unread, names->n);
	return CLI_OK;
}

/* NULL, with *status, after saying what failed. */
static struct pp_profile *sum(const struct request *request, const struct input_names *names, enum cli_status *status)
{
	struct pp_error err = PP_ERROR_INIT;
	const struct pp_limits limits = input_limits(&request->input);
	const char *const *all = (const char *const *)names->names;
	struct readahead *ahead = readahead_new(&request->input, all, names->n, request->threads);
	struct pp_profile *profile = NULL;
	struct pp_merge *merge = ahead ? pp_merge_new(&limits, &err) : NULL;
	*status = merge ? CLI_OK : ahead ? cli_report(NULL, &err) : CLI_SYSTEM;
	if (merge && request->types == TYPES_COMMON)
		pp_merge_take_common(merge);
	if (*status == CLI_OK)
		*status = add_all(request, merge, ahead, names);
	if (*status == CLI_OK) {
		profile = pp_merge_finish(merge, &err);
		if (!profile)
			*status = cli_report(NULL, &err);
	}
	pp_merge_free(merge);
	readahead_free(ahead);
	return profile;
}

int main(int argc, char **argv)
{
	struct request request = {.output = PROFILEOUT_INIT, .types = TYPES_SAME, .threads = 1};
	const struct cli_option options[] = {
		PROFILEOUT_OPTIONS(&request.output),
		{"types", 0, CLI_CHOICE, &request.types, "WHICH", "sample types that differ: refuse, or keep what all have", 0, 0, types},
		{"keep-going", 'k', CLI_FLAG, &request.keep_going, NULL, "leave out profiles that cannot be read", 0, 0, NULL},
		READAHEAD_OPTION(&request.threads),
		INPUT_OPTIONS(&request.input),
	};
	const struct cli_command command = {"pprof-merge", "[FILE | FOLDER | @LIST]...",
	                                    "Add profiles up into one.", options, PP_COUNT(options)};
	struct cli_list operands;
	struct input_names names = {0};
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	const struct pp_limits limits = input_limits(&request.input);
	struct pp_profile *profile = NULL;
	status = input_expand(&operands, &names);
	if (status == CLI_OK && names.n == 0)
		status = cli_usage("the list of names is empty");
	if (status == CLI_OK)
		profile = sum(&request, &names, &status);
	if (profile)
		status = profileout_write(&request.output, profile, &limits);

	pp_profile_free(profile);
	profileout_release(&request.output);
	input_names_release(&names);
	cli_list_release(&operands);
	return (int)status;
}
