/* The work of `case`: which files a side gets, and the jobs that fill them, many at once. */
#ifndef FETCH_CASEWORK_H
#define FETCH_CASEWORK_H

#include "cmd/fetch/export.h"
#include "cmd/fetch/provenance.h"
#include "cmd/fetch/replicas.h"

enum { CASE_BASELINE, CASE_INCIDENT, CASE_CONTROL, CASE_SIDES_N };

struct case_side {
	struct question question;   /* selector NULL: the case has no such side */
	char *selector;             /* its memory */
	struct replicas replicas;
	size_t replicas_n;          /* that are fetched: not more than the cap */
	struct case_job *jobs;
	size_t jobs_n;
	char **keep_values;         /* of the label that is kept; the last is "", for samples without it */
	size_t keep_values_n;
};

struct casework {
	const struct fetch_options *options;
	const char *folder, *datasource;
	struct server server;
	struct case_side sides[CASE_SIDES_N];
	char *count_type;           /* NULL: none */
	enum mode mode;
	int ingested;               /* 1, 0, or -1: not known */
	bool known_range;
	struct window range;
	char exit;                  /* 'A' to 'D' of the report, or 0 */
	char exit_reason[600];
	size_t left, all;           /* jobs */
	enum cli_status status;     /* of the first job that failed */
};

/* Lists the jobs of a side, makes its folder, and asks for the values of the label that is kept. */
enum cli_status casework_plan(struct casework *work, int side, const char *name);
/* Runs what is not there yet. A job that fails does not stop the others; the first failure is the outcome. */
enum cli_status casework_run(struct casework *work);
void casework_release(struct case_side *side);

#endif
