/* An exact profile: the export of a window of any length, one or two types (values beside their counts, joined
 * stack by stack), and optionally a label put back that exports drop. One job may need many calls; several jobs
 * may run at once. */
#ifndef FETCH_EXPORT_H
#define FETCH_EXPORT_H

#include "cmd/fetch/scope.h"

struct export {
	/* The question; borrowed until done is called. */
	struct question question;
	const char *count_type;      /* its counts are joined; NULL: none */
	const char *keep_label;      /* asked for value by value, and put on the samples; NULL: none */
	const char *const *keep_values;
	size_t keep_values_n;
	const char *path;            /* where the profile will stand: pieces of a long window are kept there, hidden, until all
	                              * are there, so that a run that failed goes on; NULL: they are not */
	void (*done)(struct export *export); /* may be NULL */
	void *context;

	/* What came of it. For export_release(). */
	enum cli_status outcome;     /* CLI_OK with a profile; CLI_EMPTY; or a failure */
	char why[700];               /* of a failure: "SelectMergeProfile: HTTP 400 …" */
	struct pp_profile *profile;  /* with the window as its time and duration */
	int64_t total, count_total;  /* sums of the columns; count_total 0 without counts */
	bool period_measured;        /* every value is its count times the period */
	bool counts_missing;         /* counts were asked for, and there are none, or not for the same stacks */
	bool folded;                 /* the server cut small nodes away, into a function "other", though not asked to */
	uint32_t pieces;             /* windows that it was asked in */
	char request_hash[PP_CONTENT_HASH_N], answer_hash[PP_CONTENT_HASH_N];

	/* private */
	struct server *server;
	struct export_part *parts;
	size_t parts_n, left;
	struct pp_merge *sum;
	bool seen_values, again, at_border;
	uint64_t nodes;              /* a limit to ask for where the server has one anyway; 0: none */
};

void export_start(struct server *server, struct export *export);
enum cli_status export_wait(struct server *server, struct export *export);
void export_release(struct export *export);

/* A scope_ask over exports: the total of a question. */
enum cli_status export_total(struct server *server, const struct question *question, int64_t *total);

#endif
