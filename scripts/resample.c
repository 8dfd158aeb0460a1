/* Makes profiles whose truth is known out of a real one, for calibration: what another pod of the same
 * service might have recorded. Reads one profile, writes one (gzip) to standard output; the same
 * arguments give the same bytes.
 *
 * usage: resample [--seed N] [--keep P] [--thin] [--dispersion A] [--grow FUNCTION=FACTOR] [--raise-period]
 *                 [--drop-labels] FILE
 *
 *   --keep P          expect P times the samples of FILE (1)
 *   --thin            keep each sample with probability P, instead of drawing anew around the expectation
 *   --dispersion A    between pods, the cost of a function varies: gamma with mean 1 and variance A, by
 *                     the leaf's function
 *   --grow F=X        samples whose stack holds function F are X times as many
 *   --raise-period    each kept sample stands for 1/P of the old ones, as if sampled at P times the rate
 *   --drop-labels     without the samples' labels
 *
 * The profile needs a column of counts beside its values, as CPU profiles have. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/input.h"
#include "cmd/output.h"

struct resample {
	uint64_t seed;
	double keep, dispersion;
	bool thin, raise_period, drop_labels;
	const char *grow;
	char grown_function[400];
	double factor;
	uint64_t state; /* of the generator */
};

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static double uniform(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	return ((double)(mix(*state) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(uniform(state)));

	return radius * cos(6.28318530717958648 * uniform(state));
}

/* Gamma with this shape and mean 1 (Marsaglia & Tsang 2000). */
static double gamma_mean_1(double shape, uint64_t *state)
{
	double boost = shape < 1 ? pow(uniform(state), 1 / shape) : 1;
	double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * d);

	for (;;) {
		double x = normal(state), v = 1 + c * x;

		if (v <= 0)
			continue;
		v = v * v * v;
		if (log(uniform(state)) < 0.5 * x * x + d - d * v + d * log(v))
			return boost * d * v / shape;
	}
}

/* Poisson by inversion; a large mean is split, so that exp(-mean) stays a number. */
static int64_t poisson(double mean, uint64_t *state)
{
	int64_t sum = 0;

	while (mean > 0) {
		double part = mean > 200 ? 200 : mean, limit = exp(-part), product = uniform(state);

		for (; product > limit; product *= uniform(state))
			sum++;
		mean -= part;
	}
	return sum;
}

static int64_t binomial(int64_t n, double p, uint64_t *state)
{
	int64_t sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += uniform(state) < p;
	return sum;
}

static struct pp_str function_name(const struct pp_profile *p, uint32_t location, uint32_t line)
{
	const struct pp_location *l = &p->locations[location];

	if (l->lines_n == 0 || p->lines[l->line_first + line].function == PP_NONE)
		return PP_LIT("");
	return pp_string(p, p->functions[p->lines[l->line_first + line].function].name);
}

/* What the expectation of a stack is multiplied by. */
static double multiplier(const struct resample *r, const struct pp_profile *p, const struct pp_stack *stack)
{
	double factor = 1;

	if (r->dispersion > 0 && stack->n) {
		struct pp_str leaf = function_name(p, stack->locations[0], 0);
		uint64_t state = mix(r->seed * UINT64_C(0x9e3779b97f4a7c15) + pp_hash64(leaf.ptr, leaf.len));

		factor = gamma_mean_1(1 / r->dispersion, &state);
	}
	if (!r->grown_function[0])
		return factor;
	for (uint32_t i = 0; i < stack->n; i++)
		for (uint32_t line = 0; line < p->locations[stack->locations[i]].lines_n; line++)
			if (pp_str_eq(function_name(p, stack->locations[i], line), pp_str_of(r->grown_function)))
				return factor * r->factor;
	return factor;
}

static void draw_sample(struct resample *r, struct pp_profile *p, uint32_t sample, uint32_t count_column)
{
	int64_t *values = p->values + (size_t)sample * p->sample_types_n;
	int64_t n = values[count_column], drawn;
	double m = multiplier(r, p, pp_sample_stack(p, sample));

	if (n <= 0)
		return;
	drawn = r->thin ? binomial(n, r->keep, &r->state) : poisson((double)n * r->keep * m, &r->state);
	for (uint32_t column = 0; column < p->sample_types_n; column++)
		if (column != count_column)
			values[column] = (int64_t)llround((double)values[column] / (double)n * (double)drawn /
			                                  (r->raise_period ? r->keep : 1));
	values[count_column] = drawn;
}

/* The profile is this program's alone, so it may be written to. */
static int draw(struct resample *r, struct pp_profile *p)
{
	uint32_t count_column = PP_NONE;

	for (uint32_t i = 0; i < p->sample_types_n; i++)
		if (pp_str_eq(pp_sample_type_unit(p, i), PP_LIT("count")) && count_column == PP_NONE)
			count_column = i;
	if (count_column == PP_NONE) {
		cli_error("the profile has no column of counts");
		return -1;
	}
	r->state = mix(r->seed + 1);
	for (uint32_t s = 0; s < p->samples_n; s++) {
		draw_sample(r, p, s, count_column);
		if (r->drop_labels)
			p->sample_labels[s] = 0;
	}
	if (r->raise_period)
		p->period = (int64_t)llround((double)p->period / r->keep);
	return 0;
}

static bool split_grow(struct resample *r)
{
	const char *equals = r->grow ? strrchr(r->grow, '=') : NULL;

	if (!r->grow)
		return true;
	if (!equals || (size_t)(equals - r->grow) >= sizeof(r->grown_function))
		return false;
	memcpy(r->grown_function, r->grow, (size_t)(equals - r->grow));
	r->factor = strtod(equals + 1, NULL);
	return r->factor > 0;
}

int main(int argc, char **argv)
{
	struct resample r = {.seed = 1, .keep = 1};
	struct input input = {0};
	struct output output = OUTPUT_INIT;
	const struct cli_option options[] = {
		{"seed", 0, CLI_COUNT, &r.seed, "N", "of the random numbers", 0, UINT64_MAX, NULL},
		{"keep", 0, CLI_REAL, &r.keep, "P", "expect P times the samples", 0, 1000, NULL},
		{"thin", 0, CLI_FLAG, &r.thin, NULL, "keep each sample with probability P", 0, 0, NULL},
		{"dispersion", 0, CLI_REAL, &r.dispersion, "A", "variance of functions between pods", 0, 10, NULL},
		{"grow", 0, CLI_STRING, &r.grow, "F=X", "X times the samples below function F", 0, 0, NULL},
		{"raise-period", 0, CLI_FLAG, &r.raise_period, NULL, "a kept sample stands for 1/P", 0, 0, NULL},
		{"drop-labels", 0, CLI_FLAG, &r.drop_labels, NULL, "without labels", 0, 0, NULL},
		OUTPUT_OPTIONS(&output),
	};
	const struct cli_command command = {"resample", "FILE", "make a profile whose truth is known", options,
	                                    PP_COUNT(options)};
	struct cli_list operands = {0};
	enum cli_status status;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *profile = NULL;
	const char *name;

	if (!cli_parse(&command, argc, argv, &operands, &status))
		return status;
	status = split_grow(&r) ? input_one(&operands, &name) : CLI_USAGE;
	if (status == CLI_OK)
		profile = input_load(&input, name, true, NULL, &status);
	if (profile)
		status = draw(&r, profile) ? CLI_INPUT : output_open(&output, true);
	if (profile && status == CLI_OK && output_profile(&output, profile, false, &err))
		status = cli_report("output", &err);
	pp_profile_free(profile);
	cli_list_release(&operands);
	return output_finish(&output, status);
}
