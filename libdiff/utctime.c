#include "libdiff/utctime.h"

#include <stdio.h>

/* Days from 1970-01-01 of a civil date (Howard Hinnant, chrono-compatible low-level date algorithms). */
static int64_t days_from_civil(int64_t y, int64_t m, int64_t d)
{
	y -= m <= 2;
	int64_t era = y / 400, yoe = y - era * 400;
	int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void civil_from_days(int64_t days, int64_t *y, int64_t *m, int64_t *d)
{
	days += 719468;
	int64_t era = (days >= 0 ? days : days - 146096) / 146097, doe = days - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;

	*d = doy - (153 * mp + 2) / 5 + 1;
	*m = mp < 10 ? mp + 3 : mp - 9;
	*y = yoe + era * 400 + (*m <= 2);
}

/* Exactly n digits at *at. */
static bool digits(const char **at, int n, int64_t *value)
{
	*value = 0;
	for (int i = 0; i < n; i++, (*at)++) {
		if (**at < '0' || **at > '9')
			return false;
		*value = *value * 10 + (**at - '0');
	}
	return true;
}

static bool literal(const char **at, char c)
{
	return **at == c && (++*at, true);
}

static bool zone(const char **at, int64_t *offset_s)
{
	int64_t sign, hours, minutes;

	*offset_s = 0;
	if (literal(at, 'Z') || literal(at, 'z'))
		return true;
	sign = **at == '-' ? -1 : 1;
	if (!literal(at, '+') && !literal(at, '-'))
		return false;
	if (!digits(at, 2, &hours) || !literal(at, ':') || !digits(at, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*offset_s = sign * (hours * 3600 + minutes * 60);
	return true;
}

bool pd_time_parse(const char *text, int64_t *time_ns)
{
	static const int64_t month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t y, mo, d, h, mi, s, fraction = 0, offset_s;

	if (!digits(&text, 4, &y) || !literal(&text, '-') || !digits(&text, 2, &mo) || !literal(&text, '-') ||
	    !digits(&text, 2, &d) || (*text != 'T' && *text != 't' && *text != ' '))
		return false;
	text++;
	if (!digits(&text, 2, &h) || !literal(&text, ':') || !digits(&text, 2, &mi) || !literal(&text, ':') ||
	    !digits(&text, 2, &s))
		return false;
	if (literal(&text, '.')) {
		int64_t unit = 100000000;
		if (*text < '0' || *text > '9')
			return false;
		for (; *text >= '0' && *text <= '9'; text++, unit /= 10)
			fraction += (*text - '0') * unit;
	}
	if (!zone(&text, &offset_s) || *text)
		return false;
	bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
	if (y < 1970 || y > 2261 || mo < 1 || mo > 12 || d < 1 || h > 23 || mi > 59 || s > 59 ||
	    d > month_days[mo - 1] + (mo == 2 && leap))
		return false;
	*time_ns = (days_from_civil(y, mo, d) * 86400 + h * 3600 + mi * 60 + s - offset_s) * 1000000000 + fraction;
	return true;
}

const char *pd_time_text(char *out, size_t out_n, int64_t time_ns)
{
	int64_t seconds = time_ns / 1000000000, fraction = time_ns % 1000000000, y, m, d;

	if (fraction < 0)
		fraction += 1000000000, seconds--;
	int64_t days = seconds / 86400, rest = seconds % 86400;
	if (rest < 0)
		rest += 86400, days--;
	civil_from_days(days, &y, &m, &d);
	int n = snprintf(out, out_n, "%04d-%02d-%02dT%02d:%02d:%02d", (int)y, (int)m, (int)d, (int)(rest / 3600),
	                 (int)(rest / 60 % 60), (int)(rest % 60));
	if (fraction && n > 0 && (size_t)n < out_n) {
		n += snprintf(out + n, out_n - (size_t)n, ".%09d", (int)fraction);
		while (n > 0 && (size_t)n < out_n && out[n - 1] == '0')
			out[--n] = '\0';
	}
	if (n > 0 && (size_t)n < out_n)
		snprintf(out + n, out_n - (size_t)n, "Z");
	return out;
}
