/* What the stand-in server answers from: profiles with labels, as a Pyroscope keeps them after a push. The
 * string labels of samples (but ids of spans and traces) have become labels of series, so that one profile is
 * several rows. */
#ifndef STANDIN_STORE_H
#define STANDIN_STORE_H

#include "libpprof/pprof.h"

struct si_label {
	struct pp_str name, value;
};

/* One profile that was pushed. */
struct si_push {
	struct pp_str id, tenant;
	int64_t time_ms;
	struct pp_profile *profile; /* shared by pushes of the same file */
};

/* The samples of one push with one sample type and one set of labels. */
struct si_row {
	const struct si_push *push;
	uint32_t column;
	struct pp_str type;        /* "process_cpu:cpu:nanoseconds:cpu:nanoseconds" */
	struct si_label *labels;   /* by name; those of the server's own ("__type__", …) too */
	uint32_t labels_n;
	const uint32_t *samples;   /* of the profile */
	uint32_t samples_n;
};

struct si_store {
	struct pp_arena *arena;
	struct pp_profile **profiles; /* one a file */
	uint32_t profiles_n;
	struct si_push *pushes;
	uint32_t pushes_n;
	struct si_row *rows;
	size_t rows_n, rows_capacity;
};

/* Reads a TSV with a row a push. Columns: file (relative to the TSV), time (UTC as 2026-03-11T14:05:00Z, or
 * milliseconds; empty: the profile's own), id and tenant (may be missing or empty); every other column is a
 * label of the push, which wins over one of its samples, empty where it does not have it; __name__ is the first part of the profile type. Prints what is wrong. */
bool si_store_read(struct si_store *store, const char *path);
void si_store_release(struct si_store *store);

/* "" for a label that the row does not have. */
struct pp_str si_label_of(const struct si_row *row, struct pp_str name);
/* The text of a sample's label of this key, or "". */
struct pp_str si_sample_label(const struct pp_profile *profile, uint32_t sample, const char *key);

#endif
