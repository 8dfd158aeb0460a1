/* NAME.tsv beside a profile NAME: key and value, what was asked of whom, and what came back. Enough to ask again, to
 * judge coverage, and to see that the file is what was fetched. No clock, no credential: the same answers
 * give the same bytes. */
#ifndef FETCH_PROVENANCE_H
#define FETCH_PROVENANCE_H

#include "cmd/fetch/export.h"
#include "cmd/fetch/series.h"

struct provenance {
	/* The question: known before anything is asked. */
	const struct server *server;
	const char *datasource;            /* UID, or NULL */
	const struct question *question;
	const char *count_type, *keep_label;
	/* What was found out. */
	enum mode mode;
	const struct export *export;
	const struct series_coverage *coverage; /* NULL: not asked for */
	const char *replica_label;         /* NULL: not asked for */
	uint32_t replicas;
	const char *warnings;              /* "" or sentences parted by "; " */
};

/* Whether the profile at path is what this question brought: its NAME.tsv begins with the question, and holds the
 * content hash of the file. */
bool provenance_holds(const struct provenance *provenance, const char *path);

/* Writes NAME.tsv and then the profile, each under a name that ends in .partial until it is complete. sync: on the disk
 * when this returns. Says what fails. */
enum cli_status provenance_save(const struct provenance *provenance, const char *path, bool sync);

#endif
