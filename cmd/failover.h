/* A gate for CI: fails a comparison when a rise is certain to be over a bound. */
#ifndef FAILOVER_H
#define FAILOVER_H

#include "cmd/cli.h"
#include "libdiff/compare.h"

struct failover {
	bool asked, total; /* total: of the total, not of single rows */
	bool relative;     /* bound is a share of what rose, not an amount */
	double bound;      /* relative: 0.05 for 5 %; else in unit, or in the comparison's */
	char unit[24];     /* "" */
	const char *text;  /* as the user wrote it */
};

/* "5%", "50ms", "10MB", "1000", each also after "total:". */
enum cli_status failover_parse(const char *text, struct failover *failover);

/* CLI_CHANGED, with a line on stderr for each rise over the bound: one whose 95 % interval lies above it and,
 * of a row, whose q is below 0.05. CLI_INPUT, said, where there are no intervals. */
enum cli_status failover_judge(const struct failover *failover, const struct pd_comparison *comparison);

#endif
