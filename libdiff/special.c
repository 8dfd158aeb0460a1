#include "libdiff/special.h"

#include <math.h>

#include "libdiff/stats.h"

/* The series below are good to double precision from here on. */
#define SERIES_FROM 10.0

double pd_digamma(double x)
{
	double shift = 0, r;

	for (; x < SERIES_FROM; x++)
		shift -= 1 / x;
	r = 1 / (x * x);
	return shift + log(x) - 0.5 / x -
	       r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r / 132))));
}

double pd_trigamma(double x)
{
	double shift = 0, r;

	for (; x < SERIES_FROM; x++)
		shift += 1 / (x * x);
	r = 1 / (x * x);
	return shift + 1 / x + r / 2 +
	       r / x * (1.0 / 6 - r * (1.0 / 30 - r * (1.0 / 42 - r * (1.0 / 30 - r * 5 / 66))));
}

double pd_tetragamma(double x)
{
	double shift = 0, r;

	for (; x < SERIES_FROM; x++)
		shift -= 2 / (x * x * x);
	r = 1 / (x * x);
	return shift - r * (1 + 1 / x + r * (0.5 - r * (1.0 / 6 - r * (1.0 / 6 - r * (3.0 / 10 - r * 5 / 6)))));
}

double pd_trigamma_inverse(double y)
{
	double x = 0.5 + 1 / y;

	if (y > 1e7)
		return 1 / sqrt(y);
	if (y < 1e-6)
		return 1 / y;
	for (int i = 0; i < 50; i++) {
		double trigamma = pd_trigamma(x);
		double step = trigamma * (1 - trigamma / y) / pd_tetragamma(x);

		x += step;
		if (-step / x < 1e-10)
			break;
	}
	return x;
}

double pd_f1_upper(double f, double df)
{
	if (!(f > 0))
		return 1;
	if (isinf(df))
		return erfc(sqrt(f / 2));
	return pd_beta_inc(df / 2, 0.5, df / (df + f));
}

double pd_t_quantile(double probability, double df)
{
	double tail = probability < 0.5 ? probability : 1 - probability;
	double low = 0, high = 1;

	while (pd_f1_upper(high * high, df) / 2 > tail && high < 1e8)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (pd_f1_upper(middle * middle, df) / 2 > tail)
			low = middle;
		else
			high = middle;
	}
	return probability < 0.5 ? -(low + high) / 2 : (low + high) / 2;
}
