/* pprof-filter: a profile with less in it, or seen otherwise: by name, by label, by sample type. */
#include "cmd/cli.h"
#include "cmd/profileout.h"
#include "cmd/view.h"

#include <math.h>
#include <stdlib.h>

struct request {
	struct input input;
	struct profileout output;
	struct view view;
	const char *normalize_to; /* a profile */
	double divide_by;
	int by; /* enum pp_granularity; -1: as it is */
};

/* made, if there is one, instead of *profile. */
static int replace(struct pp_profile **profile, struct pp_profile *made)
{
	if (!made)
		return -1;
	pp_profile_free(*profile);
	*profile = made;
	return 0;
}

/* ---- factors ---- */

static int sum_column(const struct pp_profile *profile, uint32_t column, int64_t *sum, struct pp_error *err)
{
	*sum = 0;
	for (uint32_t s = 0; s < profile->samples_n; s++)
		if (!pp_add_i64(*sum, pp_value(profile, s, column), sum))
			return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the values add up to more than 63 bits");
	return 0;
}

/* What makes each column add up to what it does in the base, which has the same columns. *at_fault: whose error
 * it is. */
static int factors_to(const struct pp_profile *profile, const struct pp_profile *base, double *factors,
                      const struct pp_profile **at_fault, struct pp_error *err)
{
	*at_fault = profile;
	if (base->sample_types_n != profile->sample_types_n)
		return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET, "other sample types than the profile to normalize to");
	for (uint32_t c = 0; c < profile->sample_types_n; c++) {
		int64_t sum, want;
		if (!pp_str_eq(pp_sample_type_name(profile, c), pp_sample_type_name(base, c)) ||
		    !pp_str_eq(pp_sample_type_unit(profile, c), pp_sample_type_unit(base, c)))
			return pp_fail(err, PP_EINCOMPAT, PP_NO_OFFSET,
			               "other sample types than the profile to normalize to");
		if (sum_column(profile, c, &sum, err) != 0)
			return -1;
		if (sum_column(base, c, &want, err) != 0) {
			*at_fault = base;
			return -1;
		}
		factors[c] = sum == 0 ? 0 : (double)want / (double)sum;
	}
	return 0;
}

static double *new_factors(uint32_t n, double factor)
{
	double *factors = malloc(((size_t)n + 1) * sizeof *factors);
	for (uint32_t i = 0; factors && i < n; i++)
		factors[i] = factor;
	if (!factors)
		cli_error("out of memory");
	return factors;
}

static enum cli_status normalize(const struct request *request, const char *name, struct pp_profile **profile)
{
	const struct pp_limits limits = input_limits(&request->input);
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status;
	struct pp_profile *base = input_load(&request->input, request->normalize_to, true, NULL, &status);
	const struct pp_profile *at_fault;
	if (!base)
		return status;
	double *factors = new_factors((*profile)->sample_types_n, 1);
	if (!factors)
		status = CLI_SYSTEM;
	else if (factors_to(*profile, base, factors, &at_fault, &err) != 0)
		status = cli_report(at_fault == base ? request->normalize_to : name, &err);
	else if (replace(profile, pp_scale(*profile, factors, PP_ROUND_NEAREST, &limits, &err)) != 0)
		status = cli_report(name, &err);
	free(factors);
	pp_profile_free(base);
	return status;
}

static enum cli_status divide(double divisor, const char *name, struct viewed *viewed)
{
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status = CLI_OK;
	double *factors = new_factors(viewed->profile->sample_types_n, 1 / divisor);
	if (!factors)
		return CLI_SYSTEM;
	if (replace(&viewed->profile, pp_scale(viewed->profile, factors, PP_ROUND_TO_ZERO, &viewed->limits, &err)) != 0)
		status = cli_report(name, &err);
	for (uint32_t c = 0; status == CLI_OK && c < viewed->profile->sample_types_n; c++) {
		const double total = (double)viewed->totals[c] / divisor;
		viewed->totals[c] = fabs(total) < 9.2e18 ? (int64_t)total : -1;
	}
	free(factors);
	return status;
}

static enum cli_status blank(enum pp_granularity by, const char *name, struct viewed *viewed)
{
	struct pp_error err = PP_ERROR_INIT;
	if (replace(&viewed->profile, pp_blank(viewed->profile, by, &viewed->limits, &err)) != 0)
		return cli_report(name, &err);
	return CLI_OK;
}

/* ---- the command ---- */

/* Where samples went, the total of before stays with the profile; a sample type that was asked for becomes
 * the default. So the next tool prints what it would have printed with the same options. */
static enum cli_status seal(const struct request *request, const char *name, struct viewed *viewed)
{
	struct pp_error err = PP_ERROR_INIT;
	const uint32_t column = request->view.sample_type ? viewed->column : PP_NONE;
	for (uint32_t c = 0; viewed->recorded && c < viewed->profile->sample_types_n; c++)
		if (viewed->totals[c] < 0)
			viewed->recorded = false;
	if (!viewed->recorded && column == PP_NONE && !request->view.relative)
		return CLI_OK;
	const int64_t *totals = viewed->recorded ? viewed->totals : NULL;
	if (replace(&viewed->profile, pp_record_totals(viewed->profile, totals, column, &viewed->limits, &err)) != 0)
		return cli_report(name, &err);
	return CLI_OK;
}

static enum cli_status filter(const struct request *request, const char *name, struct viewed *viewed)
{
	enum cli_status status;
	viewed->limits = input_limits(&request->input);
	viewed->profile = input_load(&request->input, name, false, NULL, &status);
	if (viewed->profile && request->normalize_to)
		status = normalize(request, name, &viewed->profile);
	if (status == CLI_OK)
		status = view_apply(&request->view, name, viewed);
	if (status == CLI_OK && request->by >= 0)
		status = blank((enum pp_granularity)request->by, name, viewed);
	if (status == CLI_OK && request->divide_by > 0 && request->divide_by != 1)
		status = divide(request->divide_by, name, viewed);
	return status == CLI_OK ? seal(request, name, viewed) : status;
}

int main(int argc, char **argv)
{
	struct request request = {.output = PROFILEOUT_INIT, .view = VIEW_INIT, .divide_by = 1, .by = -1};
	const struct cli_option options[] = {
		VIEW_OPTIONS(&request.view),
		{"normalize-to", 0, CLI_STRING, &request.normalize_to, "FILE", "first scale each sample type to its sum in FILE", 0, 0, NULL},
		{"by", 0, CLI_CHOICE, &request.by, "WHAT", "blank what such rows do not show", 0, 0, input_granularities},
		{"divide-by", 0, CLI_REAL, &request.divide_by, "N", "divide values at last, rounding to 0", 0, 0, NULL},
		PROFILEOUT_OPTIONS(&request.output),
		INPUT_OPTIONS(&request.input),
		INPUT_FRAME_OPTIONS(&request.input),
	};
	const struct cli_command command = {"pprof-filter", "[FILE]", "Take out of a profile what is not asked for.",
	                                    options, PP_COUNT(options)};
	struct cli_list operands;
	struct viewed viewed = {.column = PP_NONE};
	const char *name;
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	status = input_one(&operands, &name);
	if (status == CLI_OK && request.divide_by == 0)
		status = cli_usage("cannot divide by 0");
	if (status == CLI_OK && request.normalize_to)
		status = input_check_stdin((size_t)input_is_stdin(name) + input_is_stdin(request.normalize_to));
	if (status == CLI_OK)
		status = filter(&request, name, &viewed);
	if (status == CLI_OK)
		status = profileout_write(&request.output, viewed.profile, &viewed.limits);

	viewed_release(&viewed);
	profileout_release(&request.output);
	cli_list_release(&operands);
	return (int)status;
}
