#include "libdiff/stats.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define HALF_LOG_2PI 0.91893853320467274178

/* Above this, for both parameters, the uniform expansion is exact to more digits than anyone reads,
 * and the continued fraction begins to cost. */
#define EXPANSION_FROM 1e5

/* ln n! minus Stirling's ln(sqrt(2 pi n) (n/e)^n); n > 0 (Loader 2000, "Fast and accurate computation
 * of binomial probabilities"). */
static double stirling_error(double n)
{
	if (n <= 15)
		return lgamma(n + 1) - (n + 0.5) * log(n) + n - HALF_LOG_2PI;
	double nn = n * n;
	return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / nn) / nn) / nn) / nn) / n;
}

/* The deviance x ln(x / m) + m - x without cancellation near x = m; x >= 0, m > 0 (ibid.). */
static double deviance(double x, double m)
{
	if (x == 0)
		return m;
	if (fabs(x - m) >= 0.1 * (x + m))
		return x * log(x / m) + m - x;
	double v = (x - m) / (x + m), sum = (x - m) * v, term = 2 * x * v;
	for (int j = 1; j < 1000; j++) {
		term *= v * v;
		double next = sum + term / (2 * j + 1);
		if (next == sum)
			break;
		sum = next;
	}
	return sum;
}

/* ln of Gamma(n+1) / (Gamma(x+1) Gamma(n-x+1)) p^x q^(n-x), p + q = 1, real 0 <= x <= n (ibid.). */
static double log_binomial(double x, double n, double p, double q)
{
	if (n == 0)
		return 0;
	if (x == 0)
		return n * (p < 0.5 ? log1p(-p) : log(q));
	if (x == n)
		return n * (q < 0.5 ? log1p(-q) : log(p));
	double y = n - x;
	return stirling_error(n) - stirling_error(x) - stirling_error(y) - deviance(x, n * p) -
	       deviance(y, n * q) - HALF_LOG_2PI - 0.5 * (log(x) + log(y / n));
}

/* The continued fraction of I_x(a, b), DLMF 8.17.22, by the modified Lentz method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double h = d;
	for (int m = 1; m < 100000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double factor = 1;
		for (int half = 0; half < 2; half++) {
			double term = half ? odd : even;
			d = 1 + term * d;
			c = 1 + term / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			factor = d * c;
			h *= factor;
		}
		if (fabs(factor - 1) < 4 * DBL_EPSILON)
			break;
	}
	return h;
}

/* I_x(a, b) for large a and b: DLMF 8.18.9 with its first correction. */
static double beta_expansion(double a, double b, double x, double y)
{
	double n = a + b, x0 = a / n, y0 = b / n, root = sqrt(x0 * y0);
	double half_square = deviance(a, n * x) + deviance(b, n * y); /* n eta^2 / 2 */
	double eta = copysign(sqrt(2 * half_square / n), x - x0);
	double c0 = fabs(eta) < 1e-5 ? (1 - 2 * x0) / (3 * root) : 1 / eta - root / (x - x0);
	return 0.5 * erfc(-copysign(sqrt(half_square), eta)) + exp(-half_square) * c0 / sqrt(2 * PI * n);
}

/* I_x(a, b) where y = 1 - x is known better than by subtraction. */
static double beta_inc(double a, double b, double x, double y)
{
	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	if (a > EXPANSION_FROM && b > EXPANSION_FROM)
		return fmin(1, fmax(0, beta_expansion(a, b, x, y)));
	double term = exp(log_binomial(a, a + b, x, y)) / (a + b);
	if (x < (a + 1) / (a + b + 2))
		return term * b * beta_fraction(a, b, x);
	return fmax(0, 1 - term * a * beta_fraction(b, a, y));
}

double pd_beta_inc(double a, double b, double x)
{
	return beta_inc(a, b, x, 1 - x);
}

/* P(X >= k) and P(X <= k) for X ~ Bin(n, p), q = 1 - p. */
static double binomial_upper(double k, double n, double p, double q)
{
	return k <= 0 ? 1 : k > n ? 0 : beta_inc(k, n - k + 1, p, q);
}
static double binomial_lower(double k, double n, double p, double q)
{
	return k < 0 ? 0 : k >= n ? 1 : beta_inc(n - k, k + 1, q, p);
}

/* The first k above the mean whose probability is no more than that of x, which is below the mean.
 * Probabilities fall from the mean on, so halving finds it; k = n + 1 when there is none. */
static double opposite_bound(double x, double n, double p, double q)
{
	double at_most = log_binomial(x, n, p, q) + 1e-7; /* equal likelihoods must survive rounding */
	double low = ceil(n * p) - 1, high = n + 1;
	for (int step = 0; step < 64 && high - low > 1; step++) {
		double middle = floor(low + (high - low) / 2);
		if (log_binomial(middle, n, p, q) <= at_most)
			high = middle;
		else
			low = middle;
	}
	return high;
}

double pd_poisson_ratio_p(double count_a, double exposure_a, double count_b, double exposure_b)
{
	double a = floor(count_a), b = floor(count_b), n = a + b;
	if (n <= 0)
		return 1;
	/* One orientation for both orders of the sides, so that exchanging them changes no bit. */
	if (a < b || (a == b && exposure_a < exposure_b)) {
		double count = a, exposure = exposure_a;
		a = b, exposure_a = exposure_b;
		b = count, exposure_b = exposure;
	}
	double p = exposure_b / (exposure_a + exposure_b), q = exposure_a / (exposure_a + exposure_b);
	double sum;
	if (b == n * p)
		return 1;
	if (b < n * p)
		sum = binomial_lower(b, n, p, q) + binomial_upper(opposite_bound(b, n, p, q), n, p, q);
	else
		sum = binomial_lower(a, n, q, p) + binomial_upper(opposite_bound(a, n, q, p), n, q, p);
	return fmin(1, sum);
}

/* The x with I_x(a, b) = target, by Newton steps kept inside a shrinking bracket. */
static double beta_quantile(double a, double b, double target)
{
	double low = 0, high = 1, mean = a / (a + b);
	/* A small quantile is about two standard deviations down. */
	double x = fmax(mean - 2 * sqrt(mean * (1 - mean) / (a + b + 1)), mean / 8);
	for (int step = 0; step < 100; step++) {
		double error = beta_inc(a, b, x, 1 - x) - target;
		if (error > 0)
			high = x;
		else
			low = x;
		/* density: x^(a-1) (1-x)^(b-1) / B(a, b) */
		double density = exp(log_binomial(a, a + b, x, 1 - x)) * a * b / ((a + b) * x * (1 - x));
		double next = x - error / density;
		if (!(next > low && next < high))
			next = low + (high - low) / 2;
		if (fabs(next - x) <= 1e-9 * x)
			return next;
		x = next;
	}
	return x;
}

void pd_poisson_ratio_ci(double count_a, double exposure_a, double count_b, double exposure_b,
                         double alpha, double *low, double *high)
{
	double a = floor(count_a), b = floor(count_b), scale = exposure_a / exposure_b;
	double p_low = b > 0 ? beta_quantile(b, a + 1, alpha / 2) : 0;
	*low = p_low / (1 - p_low) * scale;
	if (a <= 0) {
		*high = INFINITY;
		return;
	}
	double q_high = beta_quantile(a, b + 1, alpha / 2); /* 1 - p_high */
	*high = (1 - q_high) / q_high * scale;
}

struct ranked {
	double p;
	size_t at;
};

static int by_p(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	return (a->p > b->p) - (a->p < b->p);
}

int pd_bh(const double *p, double *q, size_t n)
{
	struct ranked *ranked = n ? malloc(n * sizeof(*ranked)) : NULL;
	if (n && !ranked)
		return -1;
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		if (isnan(p[i]))
			q[i] = NAN;
		else
			ranked[m++] = (struct ranked){p[i], i};
	}
	if (m)
		qsort(ranked, m, sizeof(*ranked), by_p);
	double least = 1;
	for (size_t k = m; k > 0; k--) {
		least = fmin(least, ranked[k - 1].p * (double)m / (double)k);
		q[ranked[k - 1].at] = least;
	}
	free(ranked);
	return 0;
}
