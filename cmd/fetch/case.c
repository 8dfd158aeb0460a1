/* case DIR: the profiles of an investigation. Reads case.tsv; fills baseline/, incident/ and, where it has a window,
 * control/ with a profile a replica and slice of time. What is there, with the right provenance, stays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/casefolder.h"
#include "cmd/fetch/casework.h"

static const char *const side_names[CASE_SIDES_N] = {"baseline", "incident", "control"};

/* ---- case.tsv ---- */

static const char *side_fact(const struct pd_facts *facts, const char *side, const char *what)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_%s", side, what);
	return pd_facts_get(facts, key);
}

/* The question of one side; not given (selector NULL) when the case has no window for it. */
static enum cli_status read_side(const struct pd_facts *facts, const char *side, const char *type, struct case_side *into)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pd_window window;
	const char *selector = side_fact(facts, side, "selector"), *service = pd_facts_get(facts, "service");

	into->question.type = type;
	if (pd_facts_window(facts, side, &window, &err) != 0)
		return cli_report("case.tsv", &err);
	if (!window.given)
		return CLI_OK;
	if (!selector && !service) {
		cli_error("'case.tsv': neither %s_selector nor service says what to ask for", side);
		return CLI_INPUT;
	}
	into->question.window = (struct window){window.from_ns / 1000000, window.to_ns / 1000000};
	into->selector = selector ? selector_whole(selector) : selector_with("{}", "service_name", service);
	into->question.selector = into->selector;
	return into->selector ? CLI_OK : cli_no_memory();
}

static enum cli_status read_case(const struct pd_facts *facts, struct casework *work)
{
	const char *lens = pd_facts_get(facts, "lens");
	enum cli_status status;

	if (!lens) {
		cli_error("'case.tsv': lens, the profile type, is not given");
		return CLI_INPUT;
	}
	if ((status = type_check(lens)) != CLI_OK)
		return status;
	for (int i = 0; i < CASE_SIDES_N; i++)
		if ((status = read_side(facts, side_names[i], lens, &work->sides[i])) != CLI_OK)
			return status;
	if (!work->sides[CASE_INCIDENT].question.selector) {
		cli_error("'case.tsv': incident_from and incident_to are not given");
		return CLI_INPUT;
	}
	return CLI_OK;
}

/* ---- what can be known before ---- */

static void set_exit(struct casework *work, char letter, const char *reason)
{
	if (work->exit)
		return;
	work->exit = letter;
	snprintf(work->exit_reason, sizeof(work->exit_reason), "%s", reason);
	cli_warn("exit %c: %s", letter, reason);
}

/* The tenant's range: no ingestion is exit B, an incident outside of it exit C. Missing stats stop nothing. */
static enum cli_status check_range(struct casework *work)
{
	Pyro__GetProfileStatsRequest request;
	struct rpc_call call = {.method = "GetProfileStats", .request = &request.base,
	                        .response = &pyro__get_profile_stats_response__descriptor};
	const struct window *incident = &work->sides[CASE_INCIDENT].question.window;

	pyro__get_profile_stats_request__init(&request);
	enum cli_status status = rpc_wait(&work->server, &call);
	if (status == CLI_REFUSED) {
		rpc_report(&call);
		set_exit(work, 'A', call.why);
	} else if (status != CLI_OK) {
		cli_warn("%s: %s; going on without the range of the data", call.method, call.why);
		status = CLI_OK;
	} else {
		const Pyro__GetProfileStatsResponse *stats = (const void *)call.answer;
		work->known_range = stats->data_ingested && stats->oldest_profile_time > 0 &&
		                    stats->oldest_profile_time <= stats->newest_profile_time;
		work->range = (struct window){stats->oldest_profile_time, stats->newest_profile_time};
		work->ingested = stats->data_ingested ? 1 : 0;
		if (!stats->data_ingested)
			set_exit(work, 'B', "the server says that no profile was ever ingested");
		else if (work->known_range && (incident->to_ms < work->range.from_ms || incident->from_ms > work->range.to_ms))
			set_exit(work, 'C', "the incident lies outside of the times that the server has profiles of");
		else if (work->known_range && (incident->from_ms < work->range.from_ms || incident->to_ms > work->range.to_ms))
			cli_warn("the server has profiles of only a part of the incident's window");
		status = work->exit ? CLI_EMPTY : CLI_OK;
	}
	rpc_release(&call);
	return status;
}

/* ---- fetch.tsv ---- */

static int write_side(const struct case_side *side, const char *name, struct pp_sink *sink, struct pp_error *err)
{
	if (!side->question.selector)
		return 0;
	if (side->replicas.label && pp_sink_printf(sink, err, "%s_replica_label\t%s\n", name, side->replicas.label) != 0)
		return -1;
	if (pp_sink_printf(sink, err, "%s_replicas\t%zu\n%s_replicas_fetched\t%zu\n", name, side->replicas.series.lines_n, name,
	                   side->replicas_n) != 0)
		return -1;
	return pp_sink_printf(sink, err, "%s_profiles\t%zu\n%s_total\t%.0f\n", name, side->jobs_n, name, side->replicas.series.sum);
}

static int write_summary(const struct casework *work, struct pp_sink *sink, struct pp_error *err)
{
	char from[40], to[40];

	if (pp_sink_printf(sink, err, "tool\tpprof-fetch %s\nserver_mode\t%s\n", VERSION, mode_name(work->mode)) != 0)
		return -1;
	if (work->ingested >= 0 && pp_sink_printf(sink, err, "data_ingested\t%s\n", work->ingested ? "true" : "false") != 0)
		return -1;
	if (work->known_range &&
	    pp_sink_printf(sink, err, "oldest_profile\t%s\nnewest_profile\t%s\n", when_text(from, sizeof(from), work->range.from_ms),
	                   when_text(to, sizeof(to), work->range.to_ms)) != 0)
		return -1;
	for (int i = 0; i < CASE_SIDES_N; i++)
		if (write_side(&work->sides[i], side_names[i], sink, err) != 0)
			return -1;
	if (!work->exit)
		return 0;
	if (pp_sink_printf(sink, err, "exit\t%c\nexit_reason\t", work->exit) != 0 ||
	    pp_escape(sink, pp_str_of(work->exit_reason), 0, err) != 0)
		return -1;
	return pp_sink_str(sink, "\n", err);
}

/* What was found out about the whole case, for the report. */
static enum cli_status save_summary(const struct casework *work)
{
	struct output output = OUTPUT_INIT;
	struct pp_error err = PP_ERROR_INIT;
	size_t n = strlen(work->folder) + sizeof("/fetch.tsv");
	char *path = malloc(n);

	if (!path)
		return cli_no_memory();
	snprintf(path, n, "%s/fetch.tsv", work->folder);
	output.path = path;
	enum cli_status status = output_open(&output, false);
	if (status == CLI_OK) {
		struct pp_sink sink = output_sink(&output);
		if (write_summary(work, &sink, &err) != 0)
			status = cli_report(NULL, &err);
		status = output_finish(&output, status);
	}
	free(path);
	return status;
}

/* ---- the command ---- */

static enum cli_status find_replicas(struct casework *work, int index)
{
	struct case_side *side = &work->sides[index];
	const struct fetch_options *options = work->options;
	uint32_t slices = options->slices ? (uint32_t)options->slices : 1;
	char from[40], to[40];
	enum cli_status status;

	if (!side->question.selector)
		return CLI_OK;
	status = replicas_find(&work->server, &side->question, options->by, slices, &side->replicas);
	if (status == CLI_EMPTY) {
		cli_warn("%s: no profiles of %s from %s to %s", side_names[index], side->question.selector,
		         when_text(from, sizeof(from), side->question.window.from_ms), when_text(to, sizeof(to), side->question.window.to_ms));
		if (index == CASE_INCIDENT)
			set_exit(work, 'D', "the incident's window, selector and lens have no profiles");
		return CLI_OK;
	}
	if (status == CLI_REFUSED)
		set_exit(work, 'A', "access to the profiles was refused");
	if (status == CLI_OK && !side->replicas.label)
		cli_warn("%s: no label tells replicas apart (--by): one profile of all", side_names[index]);
	return status;
}

static void release_work(struct casework *work)
{
	for (int i = 0; i < CASE_SIDES_N; i++) {
		replicas_release(&work->sides[i].replicas);
		casework_release(&work->sides[i]);
	}
	free(work->count_type);
	server_close(&work->server);
}

static enum cli_status fill_sides(struct casework *work)
{
	enum cli_status status = CLI_OK, saved;

	for (int i = 0; i < CASE_SIDES_N && status == CLI_OK; i++)
		status = find_replicas(work, i);
	if (status == CLI_OK)
		work->mode = mode_find(&work->server, &work->sides[CASE_INCIDENT].question, NULL);
	for (int i = 0; i < CASE_SIDES_N && status == CLI_OK; i++)
		if (work->sides[i].question.selector)
			status = casework_plan(work, i, side_names[i]);
	if (status == CLI_OK)
		status = casework_run(work);
	saved = save_summary(work);
	if (status == CLI_OK)
		status = saved;
	return status == CLI_OK && work->exit ? CLI_EMPTY : status;
}

enum cli_status fetch_case(struct fetch *fetch)
{
	struct casework work = {.options = fetch->options, .ingested = -1};
	struct server_options where = fetch->options->server;
	struct casefolder folder;
	enum cli_status status;
	bool failed = false;

	if (fetch->operands->n != 1)
		return cli_usage("'case' takes a case folder");
	work.folder = fetch->operands->items[0];
	status = casefolder_open(work.folder, &folder);
	if (status == CLI_OK)
		status = read_case(folder.facts, &work);
	if (status == CLI_OK && !fetch->options->no_counts) {
		work.count_type = type_of_counts(pd_facts_get(folder.facts, "lens"), &failed);
		status = failed ? cli_no_memory() : CLI_OK;
	}
	/* The case knows its data source, where Grafana's address is given. */
	if (!where.datasource && !where.url && !getenv("PYROSCOPE_URL") && getenv("GRAFANA_SERVER"))
		where.datasource = pd_facts_get(folder.facts, "datasource_uid");
	work.datasource = where.datasource;
	if (status == CLI_OK)
		status = server_open(&where, true, &work.server);
	if (status == CLI_OK) {
		status = check_range(&work);
		if (status == CLI_OK)
			status = fill_sides(&work);
		else
			(void)save_summary(&work);
	}
	release_work(&work);
	casefolder_release(&folder);
	return status;
}
