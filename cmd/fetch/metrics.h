/* Values over time, for the commands that show them. */
#ifndef FETCH_METRICS_H
#define FETCH_METRICS_H

#include "cmd/fetch/fetch.h"
#include "cmd/fetch/series.h"

/* Asks, and proves the scope. CLI_OK with the series, CLI_EMPTY, or a failure; said. Release in any case. */
enum cli_status metrics_ask(struct fetch *fetch, const struct cli_list *group_by, int64_t step_ms, struct series *series);
/* {stepSeconds, series: [{labels, points}], sum}; NULL without memory. */
struct pp_json *metrics_json(const struct series *series, int64_t step_ms) PP_MUSTUSE;

#endif
