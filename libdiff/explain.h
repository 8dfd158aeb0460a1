/* What kind of change it is, and where: from two groups of profiles and what they served.
 *
 * Every sample belongs to one group: its deepest application frame, closures counted as the function
 * that holds them; or the collector; or no application frame. Groups do not overlap, so their changes
 * add up. What a group should have cost on the incident side follows from the baseline's cost by
 * request and label value, times the requests served, times one robust factor a replicate for a slow
 * or busy machine; what is beyond that and beyond the replicates' noise is a rise of the group. Without
 * requests by label value, but with samples that bear a label such as "endpoint", what each value
 * served is estimated as the median growth of the functions under it.
 *
 * Profiles are handed in one at a time and not kept. */
#ifndef PD_EXPLAIN_H
#define PD_EXPLAIN_H

#include "libdiff/casefile.h"
#include "libdiff/compare.h"

/* In the order in which verdicts are listed. */
enum pd_verdict {
	PD_VERDICT_CODE,         /* a path costs more per request */
	PD_VERDICT_RUNTIME,      /* the runtime costs more and no application path accounts for it */
	PD_VERDICT_MOVED,        /* cost changed its name or place */
	PD_VERDICT_MIX,          /* other requests, same cost each */
	PD_VERDICT_LOAD,         /* more requests, same cost each */
	PD_VERDICT_NONE,         /* nothing rose beyond noise */
	PD_VERDICT_INCONCLUSIVE  /* cannot be told from what is given */
};
const char *pd_verdict_name(enum pd_verdict verdict); /* "code", … */

struct pd_explain_options {
	bool snapshot;               /* values are states (heap in use, goroutines): never per request or second */
	const struct pd_load *load;  /* borrowed until finish; NULL: requests are not known */
	const char *app;             /* RE2: functions that are application frames whatever the rules say; NULL */
	const struct pd_changed *changed; /* what the deployment touched; borrowed until finish; NULL */
	double q;                    /* rises count below this false discovery rate; half of it with one replicate, and half where samples are few */
	double min_share;            /* and from this share of the incident's total */
	double assumed_cv2;          /* squared variation between replicates, assumed where there are none */
};
#define PD_EXPLAIN_OPTIONS_DEFAULT {false, NULL, NULL, NULL, 0.02, 0.005, 0.05}

struct pd_cause {
	enum pd_verdict verdict;
	double share;           /* of the total change: of the sum of the absolute changes of all parts; NAN */
	const char *location;   /* full function name, or NULL */
	const char *file;       /* of the location, "" when not known */
	const char *mechanism;  /* frames below the location that carry its change, outermost first, joined by ';'; or NULL */
	const char *path;       /* frames from the root to the location, joined by ';'; or NULL */
	const char *moved_from; /* MOVED: what it was called; else NULL */
	double expected, observed; /* cost on the incident side in the sample type's unit; NAN when not applicable */
	double ratio;              /* observed to expected, the baseline's own ratio taken out */
	double p, q;               /* NAN: not tested */
	int64_t self[2], cum[2];   /* of the location by side, as measured: [PD_BASELINE], [PD_INCIDENT] */
	const char *slice;         /* label value that carries most of the rise, or of a shift of the mix; or NULL */
	double slice_share;        /* of the rise; MIX: its share of the requests on the incident side */
	double changed_share;      /* of its change, in stacks that pass a function or file of changed.txt; NAN: not asked, no change */
	size_t risen_in;           /* incident replicates above expectation */
	const char *reason;        /* in words, with numbers; for INCONCLUSIVE also what would settle it */
};

/* A label value that carries the change. */
struct pd_slice {
	const char *key, *value;
	double base, incident; /* as measured */
	double power;          /* its part of the whole change, at equal exposure; all values of a key add up to 1 */
	double surprise;       /* in nats: how far its share of the whole moved */
};

/* An application function and what it costs, whatever changed. */
struct pd_hot {
	const char *name, *file, *path;
	int64_t self[2], cum[2]; /* as measured */
	double group[2];         /* charged to it: its samples and those of what it calls outside the application */
};

struct pd_explanation {
	struct pp_arena *arena;
	struct pd_cause *causes; /* at least one; ordered by verdict class, then by how much is certain */
	size_t causes_n;
	struct pd_hot *hot;      /* by group cost on the incident side, at most 20 */
	size_t hot_n;
	struct pd_slice *slices; /* of the one label key whose values tell the change apart best, by surprise */
	size_t slices_n;
	double changed_share;    /* of the whole change at equal exposure, in stacks that pass what changed.txt names (L/R); NAN */
	size_t replicates_n[2];
	int64_t total[2];        /* as measured */
	double count[2];         /* samples behind them; NAN: not measured */
	double requests[2], seconds[2];  /* sums; NAN when a replicate lacks it */
	double rate_ratio;       /* incident to baseline, a second and replicate: requests, or cost where those are not known; NAN */
	double mix_distance;     /* half the sum of the changes of shares of requests; NAN: not known */
	bool by_request, by_label; /* what expectations were made from */
	bool estimated;          /* what was served by label value is estimated from its functions, not measured */
	const char *label_key;   /* the label that tells kinds of requests apart, or NULL */
	double labelled_share;   /* of the incident's cost, on samples with such a label */
	double factor[2][2];     /* machine factors: [side][lowest, highest] */
	double dispersion;       /* squared coefficient of variation between replicates, that all groups share; NAN: not measured */
	double detectable;       /* smallest rise of a group with 5 % of the cost that would have been seen; NAN */
	size_t groups_n, tested_n;
	const char *test;        /* which test was used, in words */
};

struct pd_explain; /* under construction */
struct pd_explain *pd_explain_new(const struct pd_explain_options *options, struct pp_error *err) PP_MUSTUSE;
void pd_explain_free(struct pd_explain *explain); /* NULL is fine */

/* Adds the column of one profile as one replicate; all columns are of one type and unit. The order of
 * adding shows in the last digits of sums only; add in a fixed order. row is what it served, from options.load, or NULL. */
int pd_explain_add(struct pd_explain *explain, enum pd_side side, const struct pp_profile *profile,
                   uint32_t column, const struct pd_load_row *row, struct pp_error *err) PP_MUSTUSE;

/* With an empty baseline the one cause is INCONCLUSIVE, and hot is filled. The incident side must not
 * be empty (PP_EUSAGE). */
struct pd_explanation *pd_explain_finish(struct pd_explain *explain, struct pp_error *err) PP_MUSTUSE;
void pd_explanation_free(struct pd_explanation *explanation);

/* Label values that carry the change, as JSON: objects with key, value, power and more. NULL without memory. */
struct pp_json *pd_slices_json(const struct pd_explanation *explanation) PP_MUSTUSE;

/* The causes as JSON: objects with verdict, share, location, mechanism, path and more. NULL without memory. */
struct pp_json *pd_explanation_json(const struct pd_explanation *explanation) PP_MUSTUSE;

#endif
