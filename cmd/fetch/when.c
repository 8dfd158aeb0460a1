#include "cmd/fetch/when.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libdiff/utctime.h"

#define MS_PER_S INT64_C(1000)
#define HOUR_MS (3600 * MS_PER_S)
#define DAY_MS (24 * HOUR_MS)
#define TIME_MAX_MS INT64_C(9000000000000) /* the year 2255: nanoseconds of it still fit */

static const struct unit {
	const char *name;
	int64_t ms;
} units[] = { /* largest first */
	{"y", 365 * DAY_MS}, {"w", 7 * DAY_MS}, {"d", DAY_MS}, {"h", HOUR_MS}, {"m", 60 * MS_PER_S}, {"s", MS_PER_S}, {"ms", 1},
};

/* Reads digits; how many, or 0. */
static size_t digits(const char *text, int64_t *value)
{
	size_t n = 0;

	for (*value = 0; text[n] >= '0' && text[n] <= '9'; n++)
		if (__builtin_mul_overflow(*value, 10, value) || !pp_add_i64(*value, text[n] - '0', value))
			return 0;
	return n;
}

bool when_duration(const char *text, int64_t *ms)
{
	size_t unit = 0;

	*ms = 0;
	if (strcmp(text, "0") == 0)
		return true;
	for (bool first = true; *text || first; first = false) {
		int64_t value, part;
		size_t n = digits(text, &value), letters = 0;
		if (n == 0)
			return false;
		text += n;
		while (text[letters] >= 'a' && text[letters] <= 'z')
			letters++;
		while (unit < PP_COUNT(units) && (strlen(units[unit].name) != letters || strncmp(units[unit].name, text, letters) != 0))
			unit++;
		if (unit == PP_COUNT(units) || __builtin_mul_overflow(value, units[unit].ms, &part) || !pp_add_i64(*ms, part, ms))
			return false;
		text += letters;
		unit++;
	}
	return *ms <= TIME_MAX_MS;
}

bool when_limit(const char *words, int64_t *ms)
{
	const char *at = strstr(words, "max_query_length");
	char text[32];
	size_t n;

	at = at ? strstr(at, "limit: ") : NULL;
	if (!at)
		return false;
	at += strlen("limit: ");
	n = strspn(at, "0123456789ywdhms");
	if (n >= sizeof(text))
		return false;
	memcpy(text, at, n);
	text[n] = '\0';
	return when_duration(text, ms) && *ms > 1;
}

const char *when_text(char *out, size_t out_n, int64_t time_ms)
{
	/* A server may say any number. */
	if (time_ms > INT64_MAX / 1000000 || time_ms < INT64_MIN / 1000000) {
		snprintf(out, out_n, "%" PRIi64 "ms", time_ms);
		return out;
	}
	return pd_time_text(out, out_n, time_ms * 1000000);
}

/* "now", "now-1h", "now+30m", with the units s m h d w M (30 days) y (365). */
static bool relative(const char *text, int64_t now_ms, int64_t *ms)
{
	static const struct unit relative_units[] = {{"s", MS_PER_S}, {"m", 60 * MS_PER_S}, {"h", HOUR_MS}, {"d", DAY_MS},
	                                             {"w", 7 * DAY_MS}, {"M", 30 * DAY_MS}, {"y", 365 * DAY_MS}};
	int64_t value, part;
	size_t n;

	*ms = now_ms;
	if (!*text)
		return true;
	if ((*text != '-' && *text != '+') || (n = digits(text + 1, &value)) == 0)
		return false;
	for (size_t i = 0; i < PP_COUNT(relative_units); i++)
		if (strcmp(text + 1 + n, relative_units[i].name) == 0)
			return !__builtin_mul_overflow(value, relative_units[i].ms, &part) &&
			       pp_add_i64(now_ms, *text == '-' ? -part : part, ms);
	return false;
}

static bool instant(const char *text, int64_t now_ms, int64_t *ms)
{
	int64_t ns;

	if (strncmp(text, "now", 3) == 0)
		return relative(text + 3, now_ms, ms);
	if (*text && !text[strspn(text, "0123456789.")]) {
		char *end;
		double seconds = strtod(text, &end);
		*ms = seconds < 9e9 ? (int64_t)llround(seconds * 1000) : 0;
		return !*end && seconds < 9e9;
	}
	if (!pd_time_parse(text, &ns))
		return false;
	*ms = ns / 1000000;
	return true;
}

static int64_t wall_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

enum cli_status when_window(const struct when_options *options, struct window *window)
{
	int64_t now = wall_ms(), since = HOUR_MS;

	window->to_ms = now;
	if (options->since && options->from)
		return cli_usage("--since is mutually exclusive with --from");
	if (options->to && !options->from && !options->since)
		return cli_usage("--from is required when --to is set");
	if (options->from && !options->to)
		return cli_usage("--to is required when --from is set");
	if (options->to && !instant(options->to, now, &window->to_ms))
		return cli_usage("invalid --to time: '%s' is not RFC 3339, Unix seconds before 2255, now or now-1h", options->to);
	if (options->since && !when_duration(options->since, &since))
		return cli_usage("invalid --since duration: '%s'", options->since);
	if (since <= 0)
		return cli_usage("--since must be greater than 0");
	if (!options->from)
		window->from_ms = window->to_ms - since;
	else if (!instant(options->from, now, &window->from_ms))
		return cli_usage("invalid --from time: '%s' is not RFC 3339, Unix seconds before 2255, now or now-1h", options->from);
	if (window->from_ms > window->to_ms)
		return cli_usage("query start time is after end time");
	if (window->from_ms < 1 || window->to_ms > TIME_MAX_MS)
		return cli_usage("the window is outside of the years 1970 to 2255");
	return CLI_OK;
}
