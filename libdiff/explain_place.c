/* Whose rise it is: of the function that costs more, of its one caller that calls it more often, or of what
 * many functions call alike. */
#include "libdiff/explain_parts.h"

#include <math.h>
#include <string.h>

#define CALLER_BASE 0.15    /* of a function's baseline cost, that the other callers must have */
#define CALLER_SHARE 0.85   /* of its rise, that one caller must carry */
#define CALLER_STEADY 1.2   /* the other callers' cost may grow by this */
#define CALLER_COUNT 10.0   /* baseline samples under the other callers */
#define ALIKE_COUNT 15.0    /* samples expected of what is to have risen like a function, */
#define ALIKE_RATIO 1.3     /* by this at least, */
#define ALIKE_Z 2.33        /* and so many standard errors below it, */
#define REST_Z 3.0          /* or beside it, */
#define ALIKE_LEAST 0.6     /* and on logarithms by this of the function's own rise; of a new one's, */
#define ALIKE_CERTAIN_Z 1.645 /* the lower end of its one-sided 95 % interval */
#define ALIKE_GROUPS 2      /* functions that it calls, each with */
#define PART_COUNT 5.0      /* so many samples */
#define DISPATCHER_SHARE 0.5 /* of the incident's cost: a caller with more serves all kinds of requests, whose numbers are known */
#define RELATIVE_SHARE 0.5  /* of a function's cost, for the one that calls it to be its caller */
#define FALLEN_Z 2.0        /* standard errors, to have fallen */
#define MECHANISM_SHARE 0.5 /* of a function's rise, for a frame below to be its mechanism */
#define SHARED_TOP 0.6      /* of a mechanism's rise: with more under one function it is that function's */
#define SHARED_RATIO 0.5    /* of its relative rise there: the others must rise by this at least */
#define SHARED_OWNERS 3
#define SHARED_COUNT 20.0   /* baseline samples of the mechanism under the others */

#define COMMON_RATIO 1.5    /* growth of a mechanism beside the rest, below which nothing is said */
#define COMMON_SHARE 0.05   /* and of the incident's cost */
#define COMMON_Z 4.0        /* and how many standard errors: there are hundreds of frames */
#define COMMON_CV2 0.014    /* between the sides, of both parts */

/* Routines that all code calls for memory, and whose cost a setting of the process may change. Others of the
 * runtime rise everywhere when the machine is busy: preemption, locks, system calls. */
static bool serves_memory(const struct ex_frame *frame)
{
	static const char *const whole[] = {
		"runtime.mallocgc", "runtime.memmove", "runtime.memclrNoHeapPointers", "runtime.growslice", "malloc", "calloc", "realloc",
		"free", "cfree", "_int_malloc", "_int_free", "malloc_consolidate", "sysmalloc", "memcpy", "memmove", "memset",
		"operator new", "operator delete", "__rust_alloc", "__rust_dealloc", "__rust_realloc", "__rdl_alloc", "__rdl_dealloc",
		"__rdl_realloc", "mallocx", "sdallocx", NULL};
	static const char *const starts[] = {"je_", "mi_", "tc_", "_rjem_", "tcmalloc::", "alloc::alloc::", "__memmove_", "__memcpy_",
	                                     "__memset_", NULL};

	if (frame->class_ != PD_FRAME_RUNTIME && frame->class_ != PD_FRAME_LIBRARY)
		return false;
	for (const char *const *name = whole; *name; name++)
		if (strcmp(frame->name, *name) == 0)
			return true;
	for (const char *const *name = starts; *name; name++)
		if (strncmp(frame->name, *name, strlen(*name)) == 0)
			return true;
	return false;
}

static double count_of(const struct ex_fit *fit, double value)
{
	double kappa = 0;

	for (size_t j = 0; j < fit->pods_n; j++)
		kappa += fit->kappa[j] / (double)fit->pods_n;
	return value * kappa;
}

/* The application function above the outermost call of the context's function; PP_NONE: none. */
static uint32_t caller_in(const struct pd_explain *ex, uint32_t context)
{
	for (uint32_t c = ex->contexts[context].parent; c != PP_NONE; c = ex->contexts[c].parent)
		if (ex->frames[ex->contexts[c].frame].class_ == PD_FRAME_APP)
			return ex->contexts[c].frame;
	return PP_NONE;
}

int ex_caller_that_rose(struct pd_explain *ex, const struct ex_fit *fit, const struct ex_group *group, double scale,
                        uint32_t *caller, struct pp_error *err)
{
	double *side[2] = {ex_alloc(ex->arena, ex->frames_n, sizeof(double), err), ex_alloc(ex->arena, ex->frames_n, sizeof(double), err)};
	double all[2] = {0, 0}, most = 0;
	uint32_t best = PP_NONE;

	*caller = PP_NONE;
	if (!side[0] || !side[1])
		return -1;
	if (group->frame < EX_PSEUDO_N || group->renamed_from != PP_NONE)
		return 0;
	for (uint32_t c = 0; c < ex->contexts_n; c++) {
		uint32_t above = ex->contexts[c].frame == group->frame ? caller_in(ex, c) : PP_NONE;
		for (int s = 0; s < 2 && above != PP_NONE; s++) {
			side[s][above] += ex->contexts[c].value[s];
			all[s] += ex->contexts[c].value[s];
		}
	}
	for (uint32_t f = EX_PSEUDO_N; f < ex->frames_n; f++) {
		double rise = side[1][f] - scale * side[0][f];
		if (rise > most)
			most = rise, best = f;
	}
	if (best == PP_NONE || most < CALLER_SHARE * (all[1] - scale * all[0]))
		return 0;
	double others = all[0] - side[0][best];
	bool steady = all[1] - side[1][best] <= CALLER_STEADY * scale * others;
	if (others >= CALLER_BASE * all[0] && steady &&
	    count_of(fit, others) >= CALLER_COUNT)
		*caller = best;
	return 0;
}

/* What a function and all below it cost without one group: as expected and on the incident side. */
struct part {
	double expected, incident;
	size_t groups; /* how many have a share to speak of */
	bool *within;  /* by context */
	double *by_group;
};

static void sum_part(const struct pd_explain *ex, const struct ex_fit *fit, const struct ex_group *without, uint32_t function,
                     double scale, struct part *part)
{
	part->expected = part->incident = 0;
	part->groups = 0;
	memset(part->by_group, 0, fit->groups_n * sizeof(*part->by_group));
	for (size_t c = 0; c < ex->contexts_n; c++) {
		const struct ex_context *context = &ex->contexts[c];
		uint32_t g = fit->group_of[context->frame];
		/* Parents have smaller indices. */
		part->within[c] = context->frame == function || (context->parent != PP_NONE && part->within[context->parent]);
		if (!part->within[c] || g == PP_NONE || &fit->groups[g] == without)
			continue;
		double expected = context->value[0] * (fit->groups[g].base > 0 ? fit->groups[g].expected / fit->groups[g].base : scale);
		part->expected += expected;
		part->by_group[g] += expected;
		part->incident += context->value[1];
	}
	for (size_t g = 0; g < fit->groups_n; g++)
		part->groups += count_of(fit, part->by_group[g]) >= PART_COUNT;
}

/* Whether a part of the cost rose beyond noise, and much as the group did. */
static bool rose_alike(const struct ex_fit *fit, const struct ex_group *group, const struct part *part, double z)
{
	double expected = count_of(fit, part->expected), incident = count_of(fit, part->incident), ratio = log(incident / expected);
	double error = sqrt(1 / expected + 1 / incident + fit->side_cv2 + fit->factor_cv2);

	double own = group->expected > 0 ? group->log_ratio : group->log_ratio - ALIKE_CERTAIN_Z * group->log_ratio_se;

	return expected >= ALIKE_COUNT && ratio >= log(ALIKE_RATIO) && ratio >= z * error && ratio >= ALIKE_LEAST * own;
}

/* The application function above nearly all of a group's cost; PP_NONE: there is none. */
static uint32_t only_caller(const struct pd_explain *ex, const struct ex_group *group, double *value)
{
	double all = 0;

	for (uint32_t c = 0; c < ex->contexts_n; c++) {
		uint32_t above = ex->contexts[c].frame == group->frame ? caller_in(ex, c) : PP_NONE;
		all += ex->contexts[c].frame == group->frame ? ex->contexts[c].value[1] : 0;
		if (above != PP_NONE)
			value[above] += ex->contexts[c].value[1];
	}
	for (uint32_t f = EX_PSEUDO_N; f < ex->frames_n; f++)
		if (value[f] >= CALLER_SHARE * all && all > 0)
			return f;
	return PP_NONE;
}

int ex_caller_that_does_more(struct pd_explain *ex, const struct ex_fit *fit, const struct ex_group *group, double scale,
                             uint32_t *caller, const char **why, struct pp_error *err)
{
	double *value = ex_alloc(ex->arena, ex->frames_n, sizeof(double), err);
	struct part part = {.within = ex_alloc(ex->arena, ex->contexts_n + 1, sizeof(bool), err),
	                    .by_group = ex_alloc(ex->arena, fit->groups_n + 1, sizeof(double), err)};

	*caller = PP_NONE;
	if (!value || !part.within || !part.by_group)
		return -1;
	if (group->frame < EX_PSEUDO_N || group->renamed_from != PP_NONE || ex->options.snapshot)
		return 0;
	uint32_t only = only_caller(ex, group, value);
	if (only == PP_NONE)
		return 0;
	struct part below = part;
	sum_part(ex, fit, group, group->frame, scale, &below);
	bool called_more = below.groups >= ALIKE_GROUPS && rose_alike(fit, group, &below, ALIKE_Z);
	sum_part(ex, fit, group, only, scale, &part);
	if (part.incident + group->incident > DISPATCHER_SHARE * (double)ex->total[PD_INCIDENT])
		return 0;
	part.expected -= below.expected;
	part.incident -= below.incident;
	if (called_more || rose_alike(fit, group, &part, REST_Z)) {
		*caller = only;
		*why = called_more ? "all that it calls rose alike" : "what else this does rose, too";
	}
	return 0;
}

int ex_fallen_beside(struct pd_explain *ex, const struct ex_fit *fit, const struct ex_group *group, double *fallen, struct pp_error *err)
{
	double *above = ex_alloc(ex->arena, ex->frames_n, sizeof(double), err); /* by frame: of the group's cost, what it calls */
	double *below = ex_alloc(ex->arena, ex->frames_n, sizeof(double), err); /* of its own cost, what the group calls */
	double *all = ex_alloc(ex->arena, ex->frames_n, sizeof(double), err);

	*fallen = 0;
	if (!above || !below || !all)
		return -1;
	for (uint32_t c = 0; c < ex->contexts_n; c++) {
		uint32_t frame = ex->contexts[c].frame, caller = caller_in(ex, c);
		double value = ex->contexts[c].value[0] + ex->contexts[c].value[1];
		all[frame] += value;
		if (caller != PP_NONE && frame == group->frame)
			above[caller] += value;
		if (caller == group->frame)
			below[frame] += value;
	}
	for (size_t g = 0; g < fit->groups_n; g++) {
		const struct ex_group *other = &fit->groups[g];
		uint32_t frame = other->frame;
		bool near = above[frame] > RELATIVE_SHARE * all[group->frame] || below[frame] > RELATIVE_SHARE * all[frame];
		if (other != group && frame >= EX_PSEUDO_N && near && other->tested && other->rise < 0 &&
		    other->log_ratio < -FALLEN_Z * other->log_ratio_se)
			*fallen -= other->rise;
	}
	return 0;
}

/* How a frame's cost rose below one group, and below all others. */
struct spread {
	double base[2], rise[2]; /* [0] below the group, [1] below others */
	size_t owners;           /* others below which it rose */
};

static struct spread spread_of(const struct pd_explain *ex, const struct ex_fit *fit, const struct ex_group *group, uint32_t frame)
{
	struct spread spread = {{0, 0}, {0, 0}, 0};

	for (size_t b = 0; b < ex->below_n; b++) {
		const struct ex_below *below = &ex->below[b];
		uint32_t g = below->frame == frame ? fit->group_of[below->owner] : PP_NONE;
		if (g == PP_NONE || fit->groups[g].frame < EX_PSEUDO_N || !(fit->groups[g].base > 0))
			continue;
		bool other = &fit->groups[g] != group;
		double expected = below->value[0] * fit->groups[g].expected / fit->groups[g].base;
		spread.base[other] += expected;
		spread.rise[other] += below->value[1] - expected;
		spread.owners += other && below->value[1] > expected;
	}
	return spread;
}

uint32_t ex_shared_mechanism(const struct pd_explain *ex, const struct ex_fit *fit, const struct ex_group *group)
{
	uint32_t best = PP_NONE;
	double most = 0;

	for (size_t b = 0; b < ex->below_n; b++) {
		const struct ex_below *below = &ex->below[b];
		double rise = below->value[1] - below->value[0] * group->expected / (group->base > 0 ? group->base : 1);
		if (below->owner != group->frame || !serves_memory(&ex->frames[below->frame]) ||
		    rise < MECHANISM_SHARE * group->rise || rise < most)
			continue;
		struct spread s = spread_of(ex, fit, group, below->frame);
		if (s.owners < SHARED_OWNERS || count_of(fit, s.base[1]) < SHARED_COUNT || !(s.base[0] > 0) ||
		    s.rise[0] > SHARED_TOP * (s.rise[0] + s.rise[1]) || s.rise[1] / s.base[1] < SHARED_RATIO * s.rise[0] / s.base[0])
			continue;
		if (rise > most || best == PP_NONE || ex_frame_cmp(ex, below->frame, best) < 0)
			best = below->frame, most = rise;
	}
	return best;
}

/* What a routine for memory cost below all functions, and the functions with it. */
struct common {
	double cost[2], largest, rise;
	size_t owners;
};

static void sum_common(const struct pd_explain *ex, double scale, struct common *by_frame)
{
	for (size_t b = 0; b < ex->below_n; b++) {
		const struct ex_below *below = &ex->below[b];
		struct common *c = &by_frame[below->frame];
		double rise = below->value[1] - scale * below->value[0];
		if (below->owner < EX_PSEUDO_N || !serves_memory(&ex->frames[below->frame]))
			continue;
		c->cost[0] += scale * below->value[0];
		c->cost[1] += below->value[1];
		c->rise += rise > 0 ? rise : 0;
		c->largest = rise > c->largest ? rise : c->largest;
		c->owners += below->value[0] > 0 && rise > 0;
	}
}

/* How sure it is that a frame rose beside the rest of the cost: the log of the two growths by its standard
 * error, sampling noise and the variation of replicates together. */
static double sureness(const struct ex_fit *fit, const struct common *c, const double *total, double cv2, double *ratio)
{
	double rest[2] = {total[0] - c->cost[0], total[1] - c->cost[1]};
	double n0 = count_of(fit, c->cost[0]), n1 = count_of(fit, c->cost[1]);

	if (!(c->cost[0] > 0) || !(rest[0] > 0) || !(rest[1] > 0) || n0 < SHARED_COUNT)
		return 0;
	*ratio = c->cost[1] / c->cost[0] / (rest[1] / rest[0]);
	return log(*ratio) / sqrt(1 / n0 + 1 / n1 + cv2);
}

int ex_common_mechanism(struct pd_explain *ex, const struct ex_fit *fit, uint32_t *frame, double *ratio, struct pp_error *err)
{
	struct common *by_frame = ex_alloc(ex->arena, ex->frames_n, sizeof(*by_frame), err);
	double scale = ex_scale(ex), total[2] = {scale * (double)ex->total[0], (double)ex->total[1]}, most = COMMON_Z;
	double cv2 = COMMON_CV2 + ex->options.assumed_cv2 * (1 / (double)ex->side_n[0] + 1 / (double)ex->side_n[1]);

	*frame = PP_NONE;
	if (!by_frame)
		return -1;
	sum_common(ex, scale, by_frame);
	for (uint32_t f = EX_PSEUDO_N; f < ex->frames_n; f++) {
		const struct common *c = &by_frame[f];
		double r = 0, z = sureness(fit, c, total, cv2, &r);
		if (c->owners < SHARED_OWNERS + 1 || c->largest > SHARED_TOP * c->rise ||
		    c->cost[1] - c->cost[0] < COMMON_SHARE * total[1] || r < COMMON_RATIO || z < most ||
		    (z == most && *frame != PP_NONE && ex_frame_cmp(ex, f, *frame) > 0))
			continue;
		most = z;
		*frame = f;
		*ratio = r;
	}
	return 0;
}
