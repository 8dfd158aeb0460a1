/* What the files of report share. Private to them. */
#ifndef PD_REPORT_PARTS_H
#define PD_REPORT_PARTS_H

#include "libdiff/compare.h"
#include "libdiff/lens.h"
#include "libdiff/provenance.h"
#include "libdiff/report.h"

#define RP_SIDES_N 3 /* enum pd_load_side */
/* Collection, by the share of steps of which the server has profiles. */
#define RP_COVERAGE_GOOD 0.9     /* on each side, for high confidence */
#define RP_COVERAGE_LEAST 0.5    /* for more than low confidence */
#define RP_COVERAGE_DIFFERS 0.1  /* between the sides: more, and confidence is not high */

/* What became of a file. */
enum rp_use {
	RP_USED,
	RP_OTHER_KIND,   /* other sample type: not what the case asks about */
	RP_OTHER_PERIOD, /* the sample type, of another period type */
	RP_OUTSIDE,      /* of the window of its side */
	RP_DUPLICATE,    /* of a file before it */
	RP_BROKEN,
	RP_USES_N
};

struct rp_file {
	enum pd_load_side side;
	enum rp_use use;
	const char *name, *why; /* why: BROKEN, DUPLICATE */
	char content_hash[PP_CONTENT_HASH_N];
	int64_t time_ns, duration_ns; /* time 0: not known */
	int64_t period;
	const char *kind;       /* "cpu nanoseconds" */
	bool partly;            /* goes beyond the window */
	bool empty;             /* no cost in the column */
	bool repaired;          /* read leniently, with something dropped */
	bool has_load, has_provenance;
	struct pd_provenance provenance;
};

struct rp_coverage {
	size_t used, uses[RP_USES_N], times_unknown, partly, empty;
	int64_t from_ns, to_ns; /* of the used files with times, or of those outside when none is used */
	double covered;         /* share of the window on which some used file was taken; NAN */
	/* By the provenance of the used files: how many were asked for beyond the window, in another profile type, cut to
	 * the largest nodes, in part only; and the shares of their windows that the server had profiles of. */
	size_t beyond, other_type, cut, scoped, measured;
	double least, most, mean; /* NAN: not measured */
};

struct pd_reporter {
	struct pp_arena *arena;
	struct pd_report_case known;
	struct pd_window windows[RP_SIDES_N];
	struct pd_lens lens;
	bool lens_given, lens_known;
	struct rp_file *files;
	size_t files_n, files_cap;
	struct pd_explain *explain;
	struct pd_explain *control; /* the control against the baseline; NULL without one */
	struct pd_compare *compare;
	bool compare_failed;
	char stated_exit;         /* of case.tsv: 'A' or 'B'; 0 */
};

/* Everything the fields are written from. */
struct rp_findings {
	const struct pd_reporter *reporter;
	struct pp_arena *arena;   /* of the report */
	struct rp_coverage coverage[RP_SIDES_N];
	char exit;
	const char *exit_reason;
	const char *unqualified;  /* why there is no baseline; NULL: it qualifies */
	const struct pd_explanation *explanation;
	const struct pd_comparison *comparison; /* or NULL */
	const struct pd_explanation *control;   /* of the control's profiles against the baseline; or NULL */
	const struct pd_cause *control_cause;   /* what rose there as cause did; or NULL */
	const struct pd_cause *cause;           /* the first, when it is a claim; else NULL */
	size_t supports_n, contradicts_n;
	enum pd_conclusion conclusion;
	struct pp_str unit;
};

/* Text of a field, growing. Failures are kept until taken. */
struct rp_text {
	struct pp_buf buf;
	bool failed;
};
void rp_say(struct rp_text *text, const char *format, ...) PP_PRINTF(2, 3);
/* The text, printable, in the arena; the buffer is released. NULL without memory. */
const char *rp_take(struct rp_text *text, struct pp_arena *arena);
void rp_amount(struct rp_text *text, int64_t value, struct pp_str unit); /* "120000000 nanoseconds (120ms)" */
void rp_percent(struct rp_text *text, double share);                    /* "12.3 %" */
void rp_part(struct rp_text *text, double share); /* of a whole, in two digits: "0.28 %", "28 %"; "100 %" is all of it */
void rp_range(struct rp_text *text, int64_t from_ns, int64_t to_ns);
void rp_path(struct rp_text *text, const char *path);                    /* "a;b;c" as "a > b > c" */

/* report_fields.c: fills values. */
int rp_write_fields(const struct rp_findings *findings, const char **values, struct pp_error *err) PP_MUSTUSE;
/* report_judge.c: exit, qualification, conclusion. */
void rp_judge(struct rp_findings *findings);
/* Confidence: "high", "medium" or "low", and what it rests on. */
void rp_confidence(const struct rp_findings *findings, struct rp_text *text);
/* The lists of evidence; report_evidence.c. */
void rp_evidence(const struct rp_findings *findings, struct rp_text *text);
void rp_counterevidence(const struct rp_findings *findings, struct rp_text *text);
void rp_limitations(const struct rp_findings *findings, struct rp_text *text);

#endif
