/* pprof-fetch: profiles out of Pyroscope, with their provenance. The only tool that knows a network. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/fetch/fetch.h"

#define EXEMPLARS_TYPE "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

/* Bits of the commands, for the options that are theirs. */
enum {
	DATASOURCES = 1, DATA_RANGE = 2, TYPES = 4, LABELS = 8, SERIES = 16, METRICS = 32, QUERY = 64, EXEMPLARS = 128, CASE = 256,
	WINDOWED = TYPES | LABELS | SERIES | METRICS | QUERY | EXEMPLARS
};

static const struct command {
	const char *name;
	int bit;
	enum cli_status (*run)(struct fetch *fetch);
	size_t words;       /* operands before the selector */
	bool may_select, must_select;
} commands[] = {
	{"datasources", DATASOURCES, fetch_datasources, 0, false, false},
	{"data-range", DATA_RANGE, fetch_data_range, 0, false, false},
	{"types", TYPES, fetch_types, 0, false, false},
	{"labels", LABELS, fetch_labels, 0, true, false},
	{"series", SERIES, fetch_series, 0, true, false},
	{"metrics", METRICS, fetch_metrics, 0, true, true},
	{"query", QUERY, fetch_query, 0, true, true},
	{"exemplars", EXEMPLARS, fetch_exemplars, 1, true, true},
	{"case", CASE, fetch_case, 1, false, false},
};

/* Options that not every command has. */
static const struct {
	const char *option;
	int commands;
} owners[] = {
	{"from", WINDOWED}, {"to", WINDOWED}, {"since", WINDOWED},
	{"expr", LABELS | SERIES | METRICS | QUERY | EXEMPLARS},
	{"profile-type", METRICS | QUERY | EXEMPLARS},
	{"label", LABELS}, {"match", SERIES}, {"label-name", SERIES},
	{"group-by", METRICS | QUERY}, {"step", METRICS | QUERY}, {"top", METRICS}, {"limit", METRICS}, {"aggregation", METRICS},
	{"stacktrace-selector", METRICS | QUERY},
	{"profile-id", QUERY}, {"span-id", QUERY}, {"trace-id", QUERY}, {"max-nodes", QUERY}, {"kind", QUERY}, {"counts", QUERY},
	{"pprof-path", QUERY}, {"pprof-overwrite", QUERY},
	{"top-n", EXEMPLARS},
	{"by", CASE}, {"slices", CASE}, {"keep-label", CASE}, {"no-counts", CASE}, {"max-replicas", CASE},
	{"output", WINDOWED | DATASOURCES | DATA_RANGE}, {"format", WINDOWED | DATASOURCES | DATA_RANGE},
};

static const char *const formats[] = {"tsv", "table", "json", "markdown", "pprof", "dot", NULL};
static const char *const kinds[] = {"profile", "metrics", "both", NULL};
static const char *const aggregations[] = {"sum", "average", NULL};

/* Whether an option was given, seen by its target. Choices that have a default do not tell. */
static bool was_given(const struct cli_option *option)
{
	switch (option->kind) {
	case CLI_FLAG:
		return *(const bool *)option->target;
	case CLI_STRING:
		return *(const char *const *)option->target != NULL;
	case CLI_COUNT:
		return *(const uint64_t *)option->target != 0;
	case CLI_CHOICE:
		return *(const int *)option->target != 0 && *(const int *)option->target != FETCH_AUTO;
	case CLI_LIST:
		return ((const struct cli_list *)option->target)->n > 0;
	case CLI_REAL:
	case CLI_OPERANDS:
		break;
	}
	return false;
}

static enum cli_status check_options(const struct command *command, const struct cli_option *options, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < PP_COUNT(owners); k++)
			if (strcmp(options[i].name, owners[k].option) == 0 && !(owners[k].commands & command->bit) && was_given(&options[i]))
				return cli_usage("'%s' has no option '--%s'", command->name, options[i].name);
	return CLI_OK;
}

static enum cli_status check_format(const struct command *command, const struct fetch_options *options)
{
	bool is_profile = options->format == FETCH_PPROF || options->format == FETCH_DOT;

	if (is_profile && (command->bit != QUERY || options->kind != FETCH_PROFILE))
		return cli_usage("only profiles that 'query' asks for can be written as %s", formats[options->format]);
	if (options->pprof_path && options->format != FETCH_PPROF)
		return cli_usage("--pprof-path and --pprof-overwrite require -o pprof");
	return CLI_OK;
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < PP_COUNT(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* The selector: the operand behind the command's words, or --expr. */
static enum cli_status find_selector(const struct command *command, struct fetch *fetch)
{
	const struct cli_list *operands = fetch->operands;
	const char *text = operands->n > command->words ? operands->items[command->words] : NULL;

	if (operands->n > command->words + command->may_select)
		return cli_usage("'%s' takes no operand '%s'", command->name, operands->items[operands->n - 1]);
	if (text && fetch->options->expr)
		return cli_usage("provide the expression as a positional argument or via --expr, not both");
	if (!text)
		text = fetch->options->expr;
	if (!text)
		return command->must_select ? cli_usage("expression is required: provide it as a positional argument or via --expr") : CLI_OK;
	/* A variable of a script that is not set must not become a question for everything. */
	if (!text[strspn(text, " \t\n")])
		return cli_usage("the selector is empty: '{}' is everything");
	fetch->selector = selector_whole(text);
	if (fetch->selector)
		return CLI_OK;
	return cli_no_memory();
}

static enum cli_status run(const struct command *command, struct fetch *fetch, struct fetch_options *options)
{
	enum cli_status status = find_selector(command, fetch);

	if (command->bit == EXEMPLARS && !options->type)
		options->type = EXEMPLARS_TYPE;
	if (status == CLI_OK && (command->bit & WINDOWED))
		status = when_window(&options->when, &fetch->window);
	if (status == CLI_OK && (command->bit & (METRICS | QUERY | EXEMPLARS)))
		status = type_check(options->type);
	if (status == CLI_OK && command->bit != CASE) /* which may find its data source in the case */
		status = server_open(&options->server, command->bit != DATASOURCES, &fetch->server);
	if (status == CLI_OK)
		status = command->run(fetch);
	if (fetch->opened)
		status = output_finish(&fetch->output, status);
	server_close(&fetch->server);
	free(fetch->selector);
	free(fetch->count_type);
	return status;
}

/* A profile that goes to a file has its provenance beside it, whichever option names the file. Beside stdout, a device
 * or a pipe there is no place for one; those, and a folder, which cannot be written, are left to output.h. */
static void choose_destination(struct fetch_options *options, struct output *output)
{
	const char *path = options->pprof_path ? options->pprof_path : output->path;
	struct stat st;

	if (options->format != FETCH_PPROF || !path)
		return;
	if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) {
		output->path = path;
		options->pprof_path = NULL;
		return;
	}
	options->pprof_overwrite |= !options->pprof_path;
	options->pprof_path = path;
	output->path = NULL;
}

static void release_lists(struct fetch_options *options)
{
	scope_release(&options->scope);
	cli_list_release(&options->matches);
	cli_list_release(&options->label_names);
	cli_list_release(&options->group_by);
}

int main(int argc, char **argv)
{
	struct fetch_options o = {.server = SERVER_DEFAULTS, .format = FETCH_AUTO};
	struct output output = OUTPUT_INIT;
	const struct cli_option options[] = {
		SERVER_OPTIONS(&o.server),
		WHEN_OPTIONS(&o.when),
		{"format", 'o', CLI_CHOICE, &o.format, "FORMAT", "table on a terminal, else tsv", 0, 0, formats},
		{"output", 0, CLI_STRING, &output.path, "FILE", "write to FILE, whole or not at all", 0, 0, NULL},
		OUTPUT_FORCE_OPTION(&output),
		{"expr", 0, CLI_STRING, &o.expr, "SELECTOR", "the selector, instead of as an operand", 0, 0, NULL},
		{"profile-type", 0, CLI_STRING, &o.type, "ID", "NAME:TYPE:UNIT:PERIOD:UNIT, as 'types' lists them", 0, 0, NULL},
		SCOPE_OPTIONS(&o.scope),
		{"max-nodes", 0, CLI_COUNT, &o.max_nodes, "N", "fold small nodes of the profile into 'other'", 1, INT64_MAX, NULL},
		{"kind", 0, CLI_CHOICE, &o.kind, "KIND", "what query asks for", 0, 0, kinds},
		{"counts", 0, CLI_FLAG, &o.counts, NULL, "join the counts of the samples to their values", 0, 0, NULL},
		{"pprof-path", 0, CLI_STRING, &o.pprof_path, "FILE", "write the profile to FILE and its provenance to FILE.tsv", 0, 0, NULL},
		{"pprof-overwrite", 0, CLI_FLAG, &o.pprof_overwrite, NULL, "even if there is one", 0, 0, NULL},
		{"label", 'l', CLI_STRING, &o.label, "NAME", "list the values of this label", 0, 0, NULL},
		{"match", 0, CLI_LIST, &o.matches, "SELECTOR", "list series that match; repeatable", 0, 0, NULL},
		{"label-name", 0, CLI_LIST, &o.label_names, "NAME", "list only these labels of series; repeatable", 0, 0, NULL},
		{"group-by", 0, CLI_LIST, &o.group_by, "LABEL", "a series for each value of these labels; repeatable", 0, 0, NULL},
		{"step", 0, CLI_STRING, &o.step, "STEP", "of points over time: seconds, or 10m", 0, 0, NULL},
		{"top", 0, CLI_FLAG, &o.top, NULL, "rank groups by their sum over the window", 0, 0, NULL},
		{"limit", 0, CLI_COUNT, &o.limit, "N", "only the first N groups", 1, INT64_MAX, NULL},
		{"aggregation", 0, CLI_CHOICE, &o.aggregation, "HOW", "of the profiles in a step", 0, 0, aggregations},
		{"top-n", 0, CLI_COUNT, &o.top_n, "N", "exemplars at most (100)", 1, 100000, NULL},
		{"by", 0, CLI_STRING, &o.by, "LABEL", "the label that tells replicas apart; else found by asking", 0, 0, NULL},
		{"slices", 0, CLI_COUNT, &o.slices, "N", "cut the windows of a case into N", 1, 1000, NULL},
		{"keep-label", 0, CLI_STRING, &o.keep_label, "LABEL", "put this label of the samples back into the profiles of a case", 0, 0, NULL},
		{"no-counts", 0, CLI_FLAG, &o.no_counts, NULL, "profiles of a case without the counts of the samples", 0, 0, NULL},
		{"max-replicas", 0, CLI_COUNT, &o.max_replicas, "N", "replicas of a side at most (200)", 1, 100000, NULL},
	};
	const struct cli_command command = {"pprof-fetch",
	                                    "datasources | data-range | types | labels | series | metrics | query | exemplars [SELECTOR], case DIR",
	                                    "Get profiles, and what there is, from Pyroscope.", options, PP_COUNT(options)};
	struct cli_list operands;
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	const struct command *what = operands.n > 0 ? find_command(operands.items[0]) : NULL;
	struct cli_list rest = {operands.items + 1, operands.n > 0 ? operands.n - 1 : 0};
	struct fetch fetch = {.options = &o, .operands = &rest, .output = output};
	if (operands.n == 0)
		status = cli_usage("what is to be fetched?");
	else if (!what)
		status = cli_usage("there is no command '%s'", operands.items[0]);
	else if ((status = check_options(what, options, PP_COUNT(options))) == CLI_OK && (status = check_format(what, &o)) == CLI_OK) {
		choose_destination(&o, &fetch.output);
		status = run(what, &fetch, &o);
	}
	release_lists(&o);
	cli_list_release(&operands);
	return (int)status;
}
