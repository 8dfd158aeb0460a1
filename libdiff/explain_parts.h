/* What the files of explain share. Private to them. */
#ifndef PD_EXPLAIN_PARTS_H
#define PD_EXPLAIN_PARTS_H

#include "libdiff/appframe.h"
#include "libdiff/explain.h"
#include "libdiff/pairs.h"
#include "libdiff/quasi.h"

/* A function, the same in every build. */
struct ex_frame {
	const char *name, *file;
	enum pd_frame_class class_;
	bool anonymous, changed; /* changed: changed.txt names it */
	int64_t line;            /* the first that is known of an application function; 0: none */
	int64_t self[2], cum[2];
	double touched[2];       /* charged to it, in stacks that pass a changed frame */
};

/* Which frame a function is. */
struct ex_function {
	uint32_t frame, outer; /* outer: the function that a closure was inlined into; PP_NONE */
};

/* A node of the tree of paths from the root to the deepest application frame. */
struct ex_context {
	uint32_t parent; /* PP_NONE: the root; parents have smaller indices */
	uint32_t frame;
	double value[2];
};

/* Cost below an application frame: of one frame in the stacks whose deepest application frame it is. */
struct ex_below {
	uint32_t owner, frame; /* owner: a frame, or one of the pseudo owners */
	double value[2];
	double depth;          /* sum of value * depth below the owner */
};

/* What one replicate spent in one context under one label value. */
struct ex_cell {
	uint32_t context, label; /* label: index of the label value, or PP_NONE */
	double value;
};

/* A label's key and value and what samples with it cost. */
struct ex_slice {
	const char *key, *value;
	double cost[2];
};

struct ex_replicate {
	enum pd_side side;
	const struct pd_load_row *row;
	double seconds;
	double value, count; /* totals; count 0: not measured */
	struct ex_cell *cells;
	size_t cells_n;
};

/* Contexts with these frames stand for samples that belong to no application frame. */
#define EX_COLLECTOR 0u
#define EX_FRAMELESS 1u
#define EX_ELSEWHERE 2u /* the root of paths that are not kept; no group */
#define EX_PSEUDO_N 3u

struct pd_explain {
	struct pp_arena *arena;
	struct pd_explain_options options;
	struct pp_regex *app;
	struct pp_intern *frame_ids;
	struct pp_intern *function_ids; /* names and files as profiles give them */
	struct ex_function *functions;  /* by index of function_ids */
	size_t functions_cap;
	struct pd_pairs context_ids, below_ids;
	struct ex_frame *frames;       /* pseudo frames, then real ones */
	double unit_factor;            /* base units that a value is */
	struct ex_context *contexts;
	struct ex_below *below;
	struct ex_replicate *replicates;
	struct ex_slice *slices;       /* by index of slice_ids */
	struct pp_intern *slice_ids;
	size_t slices_n, slices_cap;
	size_t frames_n, frames_cap, contexts_n, contexts_cap, below_n, below_cap, replicates_n, replicates_cap;
	size_t side_n[2];
	int64_t total[2];
	const char *label_key;         /* of the samples' labels that tell requests apart; NULL: not seen */
	struct pp_intern *label_ids;   /* their values, where load.tsv does not name them */
};

/* One group: a frame (or several that are one function renamed) and its numbers. */
struct ex_group {
	uint32_t frame;        /* the frame on the incident side */
	uint32_t renamed_from; /* PP_NONE, or the frame on the baseline side */
	double base, incident; /* values, summed */
	double count;          /* samples, both sides */
	double rise;           /* value beyond what was expected on the incident side */
	double expected;       /* with machine factors, on the incident side */
	double error_cv2;      /* squared relative error of expected, where requests are estimated */
	double ratio, p, q;
	double log_ratio, log_ratio_se, df; /* as tested */
	double sampling_p, sampling_cv2; /* two-sided p, and squared standard error of log_ratio, by sampling alone */
	double certain;        /* value of the rise, at the lower end of its one-sided 95 % interval */
	bool tested, rose;
};

/* Groups by replicates. Matrices are [group * replicates_n + replicate]. */
struct ex_fit {
	struct ex_group *groups;
	size_t groups_n, pods_n;
	uint32_t *group_of;    /* by frame; PP_NONE: never the deepest */
	double *observed, *expected; /* values */
	double *factor;        /* by replicate: the machine's */
	double factor_cv2;     /* squared relative standard error of the ratio of the sides' factors */
	double *kappa;         /* by replicate: samples a unit of value */
	struct pd_quasi_fit quasi; /* dispersion NAN: nothing was tested */
	double level;          /* false discovery rate below which rises count */
	double side_cv2;       /* squared variation between the sides at equal code, beyond quasi's */
	bool counted;          /* sample counts are known on all replicates */
	bool requests;         /* the exposure is requests */
	bool by_label;         /* expectations are by label value */
	bool estimated;        /* what was served by label value is estimated from the functions themselves */
	size_t labels_n;       /* label values, and one more for samples without */
	bool *lone;            /* by label: too few functions for an estimate */
	uint32_t *lone_group;  /* by label: the group that has nearly all of it, when the rest bounds the requests; PP_NONE */
	double *served;        /* [replicate * labels_n + label]: requests, or in proportion to them */
	uint32_t mix_label;    /* estimated: the value that grew most; PP_NONE */
	uint32_t lone_label;   /* estimated: a value that grew, with too few functions to tell mix from code; PP_NONE */
	double lone_ratio;     /* by how much, beside the other values */
	double growth;         /* of requests a second as far as they are known or estimated; else 1 */
	double load_ratio, load_p;  /* requests a second and replicate, incident to baseline; NAN */
	double mix_distance;   /* total variation distance of the request mix; NAN */
	double mix_ratio;      /* estimated: how far apart the label values grew */
	double mix_p;          /* of an equal mix: of shares of requests, or estimated of that ratio */
	double mix_noise;      /* largest distance of a replicate from its own side */
	double labelled_share; /* of cost on labelled samples */
	double load_change, mix_change; /* value that load and mix account for, on the incident side */
};

/* A function that changed its name or its place. */
enum ex_move_kind {
	EX_RENAMED,  /* from is gone, to is new, and they are alike */
	EX_INLINED,  /* from is gone, and its caller to costs as much more */
	EX_EXTRACTED /* to is new, and its caller from costs as much less */
};
struct ex_move {
	uint32_t from, to; /* frames */
	enum ex_move_kind kind;
	const char *how;   /* EX_RENAMED: what it was recognised by: "has its callers, its callees" */
	double ratio;      /* of the cost that moved, normalised */
	double cost;       /* moved value, incident side */
};

/* The frames of all locations of a profile, as codes: a frame and what it is. A location with several frames, or with
 * one that says more, has an index into runs instead, where they stand from the outermost to the one with EX_LAST. */
struct ex_map {
	uint32_t *codes; /* by location */
	uint32_t *runs;
};
#define EX_APP 1u
#define EX_COLLECTED 2u /* of the collector */
#define EX_CHANGED 4u
#define EX_INNER 8u     /* a closure of the application that was inlined into the function whose frame comes next */
#define EX_LAST 16u
#define EX_CODE_SHIFT 5 /* of the frame */
#define EX_RUN (1u << 31)

/* explain_frames.c */
int ex_new_frame(struct pd_explain *explain, const char *name, size_t name_n, struct pp_str file,
                 enum pd_frame_class class_, struct pp_error *err) PP_MUSTUSE;
int ex_map_locations(struct pd_explain *explain, const struct pp_profile *p, struct ex_map *map, struct pp_error *err) PP_MUSTUSE;
void ex_map_release(struct ex_map *map);

/* explain_charge.c: charges the stacks of a profile, value by stack; *context by stack, PP_NONE where the
 * value is 0. */
int ex_charge(struct pd_explain *explain, enum pd_side side, const struct pp_profile *p, const struct ex_map *map,
              const int64_t *value, uint32_t *context, struct pp_error *err) PP_MUSTUSE;

/* explain_below.c: charges frames below functions, of one profile. */
#define EX_TAIL_MAX 13u /* a function and frames below it */
struct ex_tails;
struct ex_tails *ex_tails_new(struct pd_explain *explain, enum pd_side side, struct pp_error *err) PP_MUSTUSE;
void ex_tails_free(struct ex_tails *tails); /* NULL is fine */
/* A function and 1 to EX_TAIL_MAX - 1 frames below it, root first, each counted where it is nearest to the leaf. */
int ex_tails_add(struct ex_tails *tails, const uint32_t *frames, uint32_t n, int64_t value, struct pp_error *err) PP_MUSTUSE;
/* Any number of frames below a function, each counted where it is nearest to the function. */
int ex_below_add(struct ex_tails *tails, uint32_t owner, const uint32_t *frames, size_t n, int64_t value,
                 struct pp_error *err) PP_MUSTUSE;
/* Charges what ex_tails_add has put off. */
int ex_tails_finish(struct ex_tails *tails, struct pp_error *err) PP_MUSTUSE;

/* explain_labels.c: fills the cells of a replicate; values are multiplied by multiple. */
int ex_make_cells(struct pd_explain *explain, struct ex_replicate *replicate, const struct pp_profile *p, uint32_t column,
                  int64_t multiple, const uint32_t *context, struct pp_error *err) PP_MUSTUSE;

/* explain_slices.c: what samples cost by label, and which values carry the change. */
int ex_add_slices(struct pd_explain *explain, enum pd_side side, const struct pp_profile *p, uint32_t column,
                  int64_t multiple, struct pp_error *err) PP_MUSTUSE;
int ex_find_slices(struct pd_explain *explain, struct pd_explanation *out, struct pp_error *err) PP_MUSTUSE;

/* explain_moved.c: pairs of functions that are one, or between which cost moved, the largest cost first. scale
 * brings baseline values to the incident's exposure. Paths bear the new names on both sides from then on. *moves is in
 * the arena. */
int ex_find_moves(struct pd_explain *explain, double scale, struct ex_move **moves, size_t *moves_n,
                  struct pp_error *err) PP_MUSTUSE;
double *ex_context_cums(struct pd_explain *explain, enum pd_side side, struct pp_error *err); /* cumulative values of contexts */
double ex_count_by_value(const struct pd_explain *explain, enum pd_side side); /* samples by value; 0: not measured */
/* explain_vertical.c: adds the moves of cost between a function and its caller to moves, which has room for most.
 * value: what is charged to frames, by side. */
int ex_find_verticals(struct pd_explain *explain, double *const value[2], double scale, struct ex_move *moves, size_t *moves_n,
                      size_t most, struct pp_error *err) PP_MUSTUSE;

/* explain_fit.c: groups, expectations, factors. The fit lives in the arena. */
int ex_fit_make(struct pd_explain *explain, const struct ex_move *moves, size_t moves_n, struct ex_fit *fit,
                struct pp_error *err) PP_MUSTUSE;
/* explain_factor.c: fills fit->factor. */
int ex_machine_factors(struct pd_explain *explain, struct ex_fit *fit, struct pp_error *err) PP_MUSTUSE;
/* explain_estimate.c: fills fit->served by label value from the groups' own values, and what that says
 * about the mix. side: the values of both sides, [group * labels_n + label]. */
int ex_estimate_served(struct pd_explain *explain, struct ex_fit *fit, const double *side[2], struct pp_error *err) PP_MUSTUSE;
/* explain_handlers.c: where samples bear no label: gives every cell the handler on its path as label value;
 * named: those handlers whose names fit values of load.tsv. *labelled: some were found. */
#define EX_HANDLER_KEY "handler"
int ex_label_by_handler(struct pd_explain *explain, bool named, bool *labelled, struct pp_error *err) PP_MUSTUSE;
/* By how much the baseline's values are multiplied to stand beside the incident's. */
double ex_scale(const struct pd_explain *explain);

/* explain_test.c: p and q of every group; rises. */
int ex_test(struct pd_explain *explain, struct ex_fit *fit, struct pp_error *err) PP_MUSTUSE;
/* Two-sided p of Student's t for the difference of two means of logs; NAN with fewer than two each. */
double ex_log_t(const double *a, size_t a_n, const double *b, size_t b_n);

double ex_median(double *values, size_t n); /* moves them; 0 when n is 0 */

/* explain_place.c: the one caller under which alone a function rose, though others call it too; PP_NONE: none. */
int ex_caller_that_rose(struct pd_explain *explain, const struct ex_fit *fit, const struct ex_group *group, double scale,
                        uint32_t *caller, struct pp_error *err) PP_MUSTUSE;
/* The one caller of a function that rose, when it does not do more itself but is called more often: all that it calls
 * rose alike, or all that its caller does; *why says which. PP_NONE: not so. */
int ex_caller_that_does_more(struct pd_explain *explain, const struct ex_fit *fit, const struct ex_group *group, double scale,
                             uint32_t *caller, const char **why, struct pp_error *err) PP_MUSTUSE;
/* What a group's caller and the functions that it calls cost less than expected, beyond noise. */
int ex_fallen_beside(struct pd_explain *explain, const struct ex_fit *fit, const struct ex_group *group, double *fallen,
                     struct pp_error *err) PP_MUSTUSE;
/* The routine for memory that carries a group's rise and rose below the other functions alike; PP_NONE. */
uint32_t ex_shared_mechanism(const struct pd_explain *explain, const struct ex_fit *fit, const struct ex_group *group);

/* Where no function stands out: a routine for memory that rose beside all else, below many functions alike, and by
 * how much; PP_NONE: none. */
int ex_common_mechanism(struct pd_explain *explain, const struct ex_fit *fit, uint32_t *frame, double *ratio,
                        struct pp_error *err) PP_MUSTUSE;

/* explain_verdict.c: causes from the fit. */
bool ex_replicated(const struct pd_explain *explain); /* two or more on each side */
struct pd_cause *ex_add_cause(struct pd_explanation *out, enum pd_verdict verdict, const char *reason);
int ex_causes(struct pd_explain *explain, struct ex_fit *fit, const struct ex_move *moves, size_t moves_n,
              struct pd_explanation *out, struct pp_error *err) PP_MUSTUSE;

/* Orders two contexts by the names of their frames, root first, whatever their indices. */
int ex_context_cmp(const struct pd_explain *explain, uint32_t a, uint32_t b);
/* Frames by class, name and file: an order that does not depend on how profiles were read. */
int ex_frame_cmp(const struct pd_explain *explain, uint32_t a, uint32_t b);

/* explain_words.c: names, paths and mechanisms; in the arena of the explanation. */
const char *ex_words(struct pp_arena *arena, const char *format, ...) PP_PRINTF(2, 3);
const char *ex_path(const struct pd_explain *explain, uint32_t frame, double scale, struct pp_arena *arena);
/* rise: the change of the group that the mechanism is to carry. */
const char *ex_mechanism(const struct pd_explain *explain, const struct ex_group *group, double scale,
                         struct pp_arena *arena);

size_t ex_labels_n(const struct pd_explain *explain); /* label values known */
const char *ex_label(const struct pd_explain *explain, uint32_t label); /* in the arena of the value's owner */
int ex_no_memory(struct pp_error *err);
void *ex_alloc(struct pp_arena *arena, size_t n, size_t bytes, struct pp_error *err); /* cleared */

#endif
