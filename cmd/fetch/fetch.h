/* The commands of pprof-fetch, and what they share. */
#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include "cmd/fetch/scope.h"
#include "cmd/fetch/selector.h"
#include "cmd/fetch/server.h"
#include "cmd/fetch/when.h"
#include "cmd/output.h"
#include "cmd/table.h"

enum fetch_format { FETCH_TSV, FETCH_TABLE, FETCH_JSON, FETCH_MARKDOWN, FETCH_PPROF, FETCH_DOT, FETCH_AUTO };
enum fetch_kind { FETCH_PROFILE, FETCH_METRICS, FETCH_BOTH };
enum fetch_aggregation { FETCH_SUM, FETCH_AVERAGE };

struct fetch_options {
	struct server_options server;
	struct when_options when;
	struct scope scope;
	const char *type;                      /* --profile-type */
	const char *expr;                      /* --expr: a selector by another name */
	const char *label;                     /* labels */
	struct cli_list matches, label_names;  /* series */
	struct cli_list group_by;              /* metrics; names may be joined by commas, likewise label_names */
	const char *step;
	bool top;
	uint64_t limit, top_n, max_nodes;      /* 0: none, or the default */
	int aggregation, kind, format;
	const char *pprof_path;
	bool pprof_overwrite, counts;
	const char *by, *keep_label;           /* case */
	uint64_t slices, max_replicas;
	bool no_counts;
};

struct fetch {
	const struct fetch_options *options;
	const struct cli_list *operands;       /* behind the command's name */
	struct server server;
	struct window window;
	char *selector;                        /* whole; NULL when none was given */
	char *count_type;                      /* of --counts, or NULL */
	struct output output;
	bool opened;                           /* output is open, and has to be finished */
};

/* Each prints its result to fetch->output, which it opens, and says what fails. */
enum cli_status fetch_datasources(struct fetch *fetch);
enum cli_status fetch_data_range(struct fetch *fetch);
enum cli_status fetch_types(struct fetch *fetch);
enum cli_status fetch_labels(struct fetch *fetch);
enum cli_status fetch_series(struct fetch *fetch);
enum cli_status fetch_metrics(struct fetch *fetch);
enum cli_status fetch_query(struct fetch *fetch);
enum cli_status fetch_exemplars(struct fetch *fetch);
enum cli_status fetch_case(struct fetch *fetch);

/* ---- for the commands ---- */

/* "no profile data from … to …": says that there is nothing, and returns CLI_EMPTY. */
enum cli_status fetch_empty(const struct fetch *fetch, const char *what);
/* The question of the options. */
struct question fetch_question(const struct fetch *fetch);
/* Opens the output for text, if that has not been done, and the sink for it. */
enum cli_status fetch_open_text(struct fetch *fetch, struct pp_sink *sink);
/* AUTO resolved: for people on a terminal. Text forms only. */
enum table_format fetch_table_format(const struct fetch *fetch);
/* Whether text goes out as JSON. */
bool fetch_wants_json(const struct fetch *fetch);
/* Writes the object with an indent and frees it; NULL is a failure of memory. */
enum cli_status fetch_write_json(struct pp_json *object, struct pp_sink *sink);
/* The names of a list, each split at commas, in a list of their own; for fetch_names_release(). */
struct fetch_names {
	struct cli_list list;
	char *text;
};
enum cli_status fetch_names(const struct cli_list *from, struct fetch_names *names);
void fetch_names_release(struct fetch_names *names);
/* --step, or a default that fits the window: at least 15 s, and no more than 240 steps. */
enum cli_status fetch_step(const struct fetch *fetch, int64_t *step_ms);

#endif
