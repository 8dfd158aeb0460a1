#include "cmd/failover.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNIFICANT 0.05
#define LINES_MAX 20

static const char total_prefix[] = "total:";

enum cli_status failover_parse(const char *text, struct failover *f)
{
	const char *at = text;
	char *end;

	*f = (struct failover){.text = text};
	if (!text)
		return CLI_OK;
	f->asked = true;
	f->total = strncmp(at, total_prefix, strlen(total_prefix)) == 0;
	at += f->total ? strlen(total_prefix) : 0;
	f->bound = strtod(at, &end);
	f->relative = strcmp(end, "%") == 0;
	if (f->relative)
		f->bound /= 100;
	if (end == at || !isfinite(f->bound) || f->bound < 0 || strlen(end) >= sizeof(f->unit))
		return cli_usage("--fail-over takes a share or an amount, such as 5%%, total:5%% or 50ms, not '%s'", text);
	if (!f->relative)
		memcpy(f->unit, end, strlen(end) + 1);
	return CLI_OK;
}

/* An amount in the comparison's unit. */
static enum cli_status convert(const struct failover *f, const struct pd_comparison *c, double *bound)
{
	double from, to;

	*bound = f->bound;
	if (f->relative || !f->unit[0] || strcmp(f->unit, c->unit) == 0)
		return CLI_OK;
	enum pp_unit_family family = pp_unit_find(pp_str_of(f->unit), &from);
	if (family == PP_UNIT_NONE || family != pp_unit_find(pp_str_of(c->unit), &to)) {
		cli_error("--fail-over '%s': values are in %s", f->text, c->unit);
		return CLI_INPUT;
	}
	*bound *= from / to;
	return CLI_OK;
}

static bool is_over(const struct failover *f, const struct pd_estimate *e, double bound)
{
	return f->relative ? e->ratio[0] > 1 + bound : e->delta[0] > bound;
}

static void say(const struct failover *f, const struct pd_comparison *c, const char *what, const char *kind,
                const int64_t value[2], const struct pd_estimate *e)
{
	char delta[64], least[64], share[64] = "";
	struct pp_str unit = pp_str_of(c->unit);

	if (value[0] > 0)
		snprintf(share, sizeof(share), ", or %+.2f%%, at least %+.2f%%",
		         100 * ((double)value[1] - (double)value[0]) / (double)value[0], 100 * (e->ratio[0] - 1));
	pp_unit_human(delta, sizeof(delta), value[1] - value[0], unit);
	pp_unit_human(least, sizeof(least), (int64_t)llround(fmax(fmin(e->delta[0], 0x1p62), -0x1p62)), unit);
	cli_error("over %s: '%s': %s rose by %s, at least %s%s", f->text, what, kind, delta, least, share);
}

static enum cli_status judge_rows(const struct failover *f, const struct pd_comparison *c, double bound)
{
	size_t over = 0;

	for (size_t i = 0; i < c->rows_n; i++) {
		const struct pd_row *row = &c->rows[i];
		bool flat = row->q_flat < SIGNIFICANT && is_over(f, &row->flat_estimate, bound);
		bool cum = row->q_cum < SIGNIFICANT && is_over(f, &row->cum_estimate, bound);
		struct pp_str label = pp_frames_label(c->frames, row->frame);
		char name[300];

		if (!flat && !cum)
			continue;
		snprintf(name, sizeof(name), "%.*s", label.len < 299 ? (int)label.len : 299, label.ptr ? label.ptr : "");
		if (over++ < LINES_MAX)
			say(f, c, name, flat ? "flat" : "cumulative", flat ? row->flat : row->cum,
			    flat ? &row->flat_estimate : &row->cum_estimate);
	}
	if (over > LINES_MAX)
		cli_error("over %s: %zu more", f->text, over - LINES_MAX);
	return over ? CLI_CHANGED : CLI_OK;
}

enum cli_status failover_judge(const struct failover *f, const struct pd_comparison *c)
{
	double bound;

	if (!f->asked)
		return CLI_OK;
	if (c->noise == PD_NOISE_UNKNOWN) {
		cli_error("--fail-over '%s': samples are not counted, so no rise is certain", f->text);
		return CLI_INPUT;
	}
	enum cli_status status = convert(f, c, &bound);
	if (status != CLI_OK || !f->total)
		return status != CLI_OK ? status : judge_rows(f, c, bound);
	if (!is_over(f, &c->total_estimate, bound))
		return CLI_OK;
	say(f, c, c->type, "the total", c->total, &c->total_estimate);
	return CLI_CHANGED;
}
