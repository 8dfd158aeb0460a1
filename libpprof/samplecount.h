/* How many times the profiler sampled, behind a value: what every statement about noise rests on.
 * (Sampling error needs counts, not nanoseconds or bytes: research on gprof's sqrt(n) rule.) */
#ifndef PP_SAMPLECOUNT_H
#define PP_SAMPLECOUNT_H

#include "libpprof/error.h"
#include "libpprof/profile.h"

enum pp_count_method {
	PP_COUNT_NOT_MEASURED, /* magnitudes only; reason says why */
	PP_COUNT_COLUMN,       /* a column of counts stands beside the value ("samples/count", "contentions/count") */
	PP_COUNT_PERIOD,       /* value / period: period type and unit equal the column's unit */
	PP_COUNT_SELF,         /* the value is itself a count of things seen (goroutines, samples) */
	PP_COUNT_HEAP          /* Go heap: objects * (1 - exp(-size / period)), the un-scaled hits */
};

struct pp_count_rule {
	enum pp_count_method method;
	uint32_t column;       /* of the counts (COLUMN, SELF) or of the objects (HEAP) */
	uint32_t bytes_column; /* HEAP */
	double divisor;        /* PERIOD, HEAP: the period in the column's unit */
	const char *reason;    /* constant text: how, or why not */
};

void pp_count_rule_for(const struct pp_profile *profile, uint32_t column, struct pp_count_rule *rule);

/* Samples behind row `sample`; 0 when not measured. Never negative. */
double pp_sample_count(const struct pp_profile *profile, const struct pp_count_rule *rule, uint32_t sample);

#endif
