/* The comparison of two groups of profiles, frame by frame.
 *
 * Profiles are handed in one at a time and not kept: of each, the flat and cumulative values and the
 * sample counts by frame remain, as one replicate. finish then joins, normalises and tests. */
#ifndef PD_COMPARE_H
#define PD_COMPARE_H

#include "libdiff/canonical.h"
#include "libdiff/quasi.h"
#include "libpprof/pprof.h"

enum pd_side { PD_BASELINE, PD_INCIDENT };

enum pd_normalization {
	PD_RAW,      /* as measured */
	PD_DURATION, /* by the summed durations of a side */
	PD_TOTAL,    /* by the side's total: compares shares */
	PD_EXPOSURE, /* by a measured denominator, such as requests */
	PD_ROBUST,   /* by the total, corrected so that most frames stay the same (TMM): what grew alone cannot
	              * make the others look smaller */
	PD_ROBUST_MEDIAN, /* by the median of ratios to the mean profile: the same purpose */
	PD_NORMALIZATIONS_N
};
const char *pd_normalization_name(enum pd_normalization normalization); /* "raw", "duration", …, "robust_median" */

/* Sample types that are a state and not a flow ("inuse_space", "goroutine"): dividing them by time or
 * requests means nothing. */
bool pd_is_snapshot(const char *type);

struct pd_options {
	enum pp_granularity granularity;
	enum pd_normalization normalization;
	const char *sample_type; /* as for pp_sample_type_find; NULL: each profile's default, which must agree */
	const char *lens;        /* Pyroscope's five-part id; NULL: by sample_type */
	struct pp_limits limits;
	double min_count;        /* frames with fewer samples on both sides together get no test; 0: 10 of one
	                          * profile against one, 20 with replicates. Paths with fewer are left out; 0: also those
	                          * with less than a ten-thousandth of all samples */
	unsigned rules;          /* by which renamed frames are joined: bits of enum pd_rule */
	bool match;              /* look for renamed functions by their callers and callees, too */
	bool fold_matches;       /* and join what is found so */
	bool call_tree;          /* compare paths of calls, too */
};
#define PD_OPTIONS_DEFAULT {PP_BY_FRAMES, PD_RAW, NULL, NULL, PP_LIMITS_DEFAULT, 0, PD_RULES_ALL, true, false, false}

/* Cost that is in the cumulative value of several frames of one canonical form, which are on one stack. */
struct pd_overlap {
	uint32_t group;
	int64_t cum;
	double count;
};

/* What a profile spends at the end of a path of calls; path is of the tree under construction. */
struct pd_leaf {
	uint32_t path;
	bool below;   /* not at its end, but on paths that begin with it and are no rows */
	int64_t value;
	double count;
};

/* One profile of a group, reduced. Arrays are by frame; frames seen only later are 0 and lie beyond
 * frames_n. */
struct pd_replicate {
	char *name;               /* as the user named it */
	struct pp_origin origin;
	enum pd_side side;
	int64_t time_ns, duration_ns, period;
	char *type, *unit, *period_type, *period_unit;
	struct pp_rollup rollup;
	struct pp_count_rule count_rule;
	double exposure;          /* NAN: not given */
	uint32_t samples_n;       /* rows of the file */
	double symbolized_share;  /* of |value|: cost whose leaf has a function name; NAN without cost */
	bool has_inline_frames;
	char *type_warning;       /* what pp_sample_type_find said, or NULL */
	struct pd_overlap *overlaps; /* until renamed frames are joined */
	size_t overlaps_n;
	struct pd_leaf *leaves; /* with options.call_tree: a leaf for each path at which something was spent */
	size_t leaves_n;
};

/* Of a frame, by the sides on which it has any cost. */
enum pd_state {
	PD_COMMON,
	PD_NEW,
	PD_GONE,
	PD_RENAMED,      /* on both, under two names that are one by a rule */
	PD_MAYBE_RENAMED /* on one, and the other has a function that looks the same by callers and callees */
};
const char *pd_state_name(enum pd_state state); /* "common", "new", "gone", "renamed", "renamed?" */

/* A q-value below this is called a change. */
#define PD_CHANGED_Q 0.05

/* What the tests know of noise. */
enum pd_noise {
	PD_NOISE_UNKNOWN,   /* samples are not counted: nothing is tested */
	PD_NOISE_SAMPLING,  /* one profile against one: sampling noise only; exact conditional test */
	PD_NOISE_REPLICATES /* how profiles of a side differ: quasi-likelihood test (quasi.h) */
};

/* What the counts say about one value, beyond p and q. NAN where not tested. */
struct pd_estimate {
	double ratio[2];    /* 95 % interval of incident/baseline, normalised: low, high */
	double delta[2];    /* 95 % interval of the difference, in the comparison's unit */
	double detectable;  /* smallest rise, as a share of the frame's own baseline, that would have been found
	                     * (p < 0.05) with a probability of 80 % */
	double log_ratio;   /* ln of incident/baseline, half a sample added to both */
	double log_se[2];   /* standard errors of the two logarithms */
	double df;          /* their degrees of freedom; INFINITY: noise is known, not estimated */
};

/* A change beyond that of a control: the ratio of the two ratios. NAN where not tested. */
struct pd_beyond {
	double ratio, low, high; /* 95 % interval */
	double p, q;
};

/* All int64 values are in the unit of the comparison, after normalisation: both sides are scaled to
 * the mean of their exposures, by exact fractions rounded half away from zero, so that exchanging the
 * sides changes only signs; under PD_RAW they are the sums as measured. delta = incident - baseline,
 * exactly; no such difference overflows.
 *
 * p, q and the intervals are of sample counts. The exposures of the tests are those of the normalisation
 * (PD_TOTAL and the robust ones: of the counts), times the sampling rate where the periods differ; under
 * PD_RAW a side has 1, in equal parts by profile.
 *
 * q: flat and cumulative values are two families, each corrected by Benjamini & Hochberg (1995), below one
 * root, "nothing changed at all", tested by Simes on all p-values together; no q is below the root's p
 * (hierarchical testing, Yekutieli 2008): where nothing changed, at most 5 % of comparisons have any
 * q < 0.05. */
struct pd_row {
	uint32_t frame;
	uint32_t other;                      /* renamed: the frame of the other name; else PP_NONE */
	enum pd_state state;
	int64_t flat[2], cum[2];             /* [PD_BASELINE], [PD_INCIDENT] */
	int64_t raw_flat[2], raw_cum[2];
	double flat_count[2], cum_count[2];  /* samples behind the raw values */
	double p_flat, p_cum, q_flat, q_cum; /* NAN: not tested */
	struct pd_estimate flat_estimate, cum_estimate;
	struct pd_beyond flat_beyond, cum_beyond; /* set by pd_control_apply (control.h) */
};

/* A path of calls that begins at an outermost frame: a node of the calling-context tree of both sides together.
 * q_flat and q_cum of its row are by hierarchical testing (hierarchy.h) below the comparison's any_p. */
struct pd_path {
	struct pd_row row;  /* what its last frame costs where it was called so */
	uint32_t parent;    /* the path without its last frame, an index below this one; PP_NONE: there is none */
	uint32_t depth;     /* frames before the last */
	double q_within;    /* of "nothing on this path or on one that begins with it changed"; NAN: nothing was tested */
	bool deepest;       /* it changed (some q < 0.05), and of no path that begins with it is that known */
};

/* Two names that are one function, or may be. */
struct pd_rename {
	uint32_t frame, other;  /* its name on the incident side, and on the baseline side: frames of the set */
	unsigned rules;         /* those that were needed: bits of enum pd_rule; 0: found by structure */
	bool joined;            /* in one row; else in two that point to each other */
	size_t names_n;         /* names that became one row: 2, or more where instances of a function were folded */
	double score, callers, callees; /* similarities, 0 to 1; NAN: not needed */
	uint32_t callees_shared, callees_n;
	int64_t cum[2];         /* as measured: [PD_BASELINE] of other, [PD_INCIDENT] of frame; joined: of the row */
};

/* How the frames of the sides were brought together. */
enum pd_matched { PD_BY_NAME, PD_BY_RULE, PD_BY_STRUCTURE, PD_UNMATCHED, PD_MATCHED_N };
const char *pd_matched_name(enum pd_matched matched); /* "name", "rule", "structure", "unmatched" */
struct pd_identity {
	unsigned rules;               /* those in force */
	bool match;
	size_t applied[PD_RULES_N];   /* renames that needed the rule */
	struct pd_rename *renames;    /* larger cost first; joined or not */
	size_t renames_n;
	double cost[2][PD_MATCHED_N]; /* by side: sums of |flat| as measured */
	uint32_t *counted_as[2];      /* by side, by frame: the frame that it became; NULL: all stayed what they are */
	size_t counted_as_n;
};

struct pd_factor { /* what a normalisation does, whether used or not */
	enum pd_normalization normalization;
	const char *name;   /* of the normalisation; PD_ROBUST: "robust_tmm" */
	bool applies;
	double exposure[2]; /* the denominators */
	double scale[2];    /* what values were or would be multiplied by */
	const char *reason; /* why it does not apply; constant text */
};

/* One named check on whether the sides can be compared. */
enum pd_outcome { PD_PASS, PD_WARN, PD_REFUSE }; /* REFUSE: magnitudes, but no claim about frames */
const char *pd_outcome_name(enum pd_outcome outcome); /* "pass", "warn", "refuse" */
#define PD_CHECKS_N 13
struct pd_check {
	/* in this order: sample_type, unit, period, period_type, durations, replicates, instances,
	 * symbolization, inline_frames, coverage, counts, time_order, negative_values; constant */
	const char *name;
	enum pd_outcome outcome;
	char text[300];     /* the measured values, in words; printable */
};

struct pd_comparison {
	struct pp_frames *frames;
	struct pd_replicate *replicates; /* in order of side, then content hash, then name */
	size_t replicates_n, side_n[2];
	uint32_t instances_n[2];         /* distinct values of an instance label ("pod", "instance", …); 0: no such label */
	char *type, *unit;               /* unit: the finest of the replicates'; their rollups are in it */
	bool converted;                  /* some replicate came in another unit of the family */
	enum pd_normalization normalization;
	struct pd_factor factors[PD_NORMALIZATIONS_N];
	struct pd_check checks[PD_CHECKS_N];
	size_t checks_n;
	struct pd_row *rows;             /* |delta_flat| desc, |delta_cum| desc, label, file, line, address, mapping */
	struct pd_identity identity;
	size_t rows_n;                   /* every frame that has cost on either side, also unchanged ones */
	int64_t total[2];                /* sums of the rows' flat: deltas add up to total[1] - total[0] */
	int64_t raw_total[2];
	double total_count[2];
	double count_exposure[2];        /* the exposures of the tests */
	bool counts_measured;            /* on both sides */
	enum pd_noise noise;
	double min_count;                /* samples that a frame needs to be tested */
	double tests_n;                  /* how many p-values q_flat is corrected for */
	struct pd_quasi_fit flat_fit, cum_fit; /* of PD_NOISE_REPLICATES */
	double any_p;                    /* of "nothing changed at all"; NAN: nothing was tested */
	double total_p;                  /* of equal totals; NAN: not tested, or equal by the normalisation */
	struct pd_estimate total_estimate;
	double path_min_count;           /* samples that a path needs to be in paths; none where they are not counted */
	struct pd_path *paths;           /* with options.call_tree: callers first, and right after a path those that
	                                  * begin with it; of one caller by |delta_cum| desc, |delta_flat| desc, frame */
	size_t paths_n;
};

/* How many profiles a side would find a change like this row's (p < 0.05) with a probability of 80 %, as
 * things vary here. 0: not tested, or more than 1000. */
size_t pd_profiles_needed(const struct pd_comparison *comparison, const struct pd_row *row, bool cumulative);

struct pd_compare; /* under construction */
struct pd_compare *pd_compare_new(const struct pd_options *options, struct pp_error *err) PP_MUSTUSE;
void pd_compare_free(struct pd_compare *compare);

/* Adds one profile to a side; nothing of it is kept. exposure is NAN when not known. PP_EINCOMPAT when
 * the profile's sample type is not that of those before it: the text names both types. */
int pd_compare_add(struct pd_compare *compare, enum pd_side side, const char *name,
                   const struct pp_profile *profile, const struct pp_origin *origin, double exposure,
                   struct pp_error *err) PP_MUSTUSE;

/* Gives the added-th profile (from 0, in order of adding) another exposure: for what is known only once
 * all have been read. */
void pd_compare_set_exposure(struct pd_compare *compare, size_t added, double exposure);

/* Normalises, tests, qualifies. PP_EINCOMPAT: a side without profiles, a baseline without samples ("no
 * baseline"), different period types, a normalisation that does not apply. Refused checks are
 * reported, not fatal. Afterwards compare is only good for pd_compare_free. */
struct pd_comparison *pd_compare_finish(struct pd_compare *compare, struct pp_error *err) PP_MUSTUSE;
void pd_comparison_free(struct pd_comparison *comparison);

#endif
