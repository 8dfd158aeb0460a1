#include "libpprof/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KIB 1024.0
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)
#define PIB (1024 * TIB)

/* Units from small to large within a family. Names of the lower-cased input, without a plural "s"
 * where that leaves at least two bytes. */
static const struct unit {
	enum pp_unit_family family;
	const char *shown;
	double factor;
	const char *names[5];
} units[] = {
	{PP_UNIT_TIME, "ns", 1, {"ns", "nanosecond"}},
	{PP_UNIT_TIME, "us", 1e3, {"us", "\xce\xbcs", "\xc2\xb5s", "microsecond"}}, /* Greek mu, micro sign */
	{PP_UNIT_TIME, "ms", 1e6, {"ms", "millisecond"}},
	{PP_UNIT_TIME, "s", 1e9, {"s", "sec", "second"}},
	{PP_UNIT_TIME, "hrs", 3.6e12, {"hour", "hr"}},
	{PP_UNIT_MEMORY, "B", 1, {"b", "byte"}},
	{PP_UNIT_MEMORY, "kB", KIB, {"kb", "kbyte", "kilobyte"}},
	{PP_UNIT_MEMORY, "MB", MIB, {"mb", "mbyte", "megabyte"}},
	{PP_UNIT_MEMORY, "GB", GIB, {"gb", "gbyte", "gigabyte"}},
	{PP_UNIT_MEMORY, "TB", TIB, {"tb", "tbyte", "terabyte"}},
	{PP_UNIT_MEMORY, "PB", PIB, {"pb", "pbyte", "petabyte"}},
	{PP_UNIT_GCU, "n*GCU", 1, {"nanogcu", "n*gcu"}},
	{PP_UNIT_GCU, "u*GCU", 1e3, {"microgcu", "u*gcu"}},
	{PP_UNIT_GCU, "m*GCU", 1e6, {"milligcu", "m*gcu"}},
	{PP_UNIT_GCU, "GCU", 1e9, {"gcu"}},
	{PP_UNIT_GCU, "k*GCU", 1e12, {"kilogcu", "k*gcu"}},
	{PP_UNIT_GCU, "M*GCU", 1e15, {"megagcu"}},
	{PP_UNIT_GCU, "G*GCU", 1e18, {"gigagcu", "g*gcu"}},
	{PP_UNIT_GCU, "T*GCU", 1e21, {"teragcu", "t*gcu"}},
	{PP_UNIT_GCU, "P*GCU", 1e24, {"petagcu", "p*gcu"}},
};

static bool named(const struct unit *unit, const char *name)
{
	for (size_t i = 0; i < PP_COUNT(unit->names) && unit->names[i]; i++)
		if (strcmp(unit->names[i], name) == 0)
			return true;
	return false;
}

static const struct unit *find_exact(const char *name)
{
	for (size_t i = 0; i < PP_COUNT(units); i++)
		if (named(&units[i], name))
			return &units[i];
	return NULL;
}

static const struct unit *find(struct pp_str name)
{
	char lower[24];
	const struct unit *unit;

	if (name.len == 0 || name.len >= sizeof lower)
		return NULL;
	for (size_t i = 0; i < name.len; i++) {
		const char c = name.ptr[i];
		lower[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
	lower[name.len] = '\0';
	if (strlen(lower) != name.len)
		return NULL;
	unit = find_exact(lower);
	if (!unit && name.len > 2 && lower[name.len - 1] == 's') {
		lower[name.len - 1] = '\0';
		unit = find_exact(lower);
	}
	return unit;
}

enum pp_unit_family pp_unit_find(struct pp_str name, double *factor)
{
	const struct unit *unit = find(name);

	*factor = unit ? unit->factor : 1;
	return unit ? unit->family : PP_UNIT_NONE;
}

/* Units that say no more than that things were counted: numbers stand alone. */
static bool is_plain(struct pp_str unit)
{
	static const char *const plain[] = {"", "count", "sample", "unit", "minimum", "auto"};

	for (size_t i = 0; i < PP_COUNT(plain); i++)
		if (pp_str_eq(unit, pp_str_of(plain[i])))
			return true;
	return false;
}

/* Two decimals, or none when both are 0. Returns the length, 0 when out is too small. */
static size_t print_real(char *out, size_t out_n, double value)
{
	int n = snprintf(out, out_n, "%.2f", value);

	if (n < 0 || (size_t)n >= out_n)
		return 0;
	if (n > 3 && strcmp(out + n - 3, ".00") == 0) {
		n -= 3;
		out[n] = '\0';
	}
	return (size_t)n;
}

/* The largest unit of the family of which base units make at least one; the smallest below that. */
static const struct unit *fitting(enum pp_unit_family family, double base)
{
	const struct unit *best = NULL;

	for (size_t i = 0; i < PP_COUNT(units); i++)
		if (units[i].family == family && (!best || base / units[i].factor >= 1))
			best = &units[i];
	return best;
}

const char *pp_unit_human(char *out, size_t out_n, int64_t value, struct pp_str unit)
{
	const struct unit *known = find(unit);
	size_t n;

	if (value == 0) {
		snprintf(out, out_n, "0");
		return out;
	}
	if (!known) {
		const int written = snprintf(out, out_n, "%lld", (long long)value);
		if (written > 0 && !is_plain(unit) && (size_t)written + unit.len < out_n &&
		    !memchr(unit.ptr, '\0', unit.len)) {
			memcpy(out + written, unit.ptr, unit.len);
			out[(size_t)written + unit.len] = '\0';
		}
		return out;
	}
	const double base = (double)value * known->factor;
	const struct unit *shown = fitting(known->family, fabs(base));
	n = print_real(out, out_n, base / shown->factor);
	if (n + strlen(shown->shown) < out_n)
		memcpy(out + n, shown->shown, strlen(shown->shown) + 1);
	return out;
}

static bool is_automatic(struct pp_str unit)
{
	return pp_str_eq(unit, PP_LIT("auto")) || pp_str_eq(unit, PP_LIT("minimum"));
}

static const struct unit *family_default(enum pp_unit_family family)
{
	return find_exact(family == PP_UNIT_TIME ? "s" : family == PP_UNIT_MEMORY ? "b" : "gcu");
}

double pp_unit_scale(int64_t value, struct pp_str from, struct pp_str to, struct pp_str *unit)
{
	const struct unit *known = find(from), *wanted = find(to);

	if (!known) {
		*unit = is_plain(to) ? PP_LIT("") : to;
		return (double)value;
	}
	const double base = (double)value * known->factor;
	if (is_automatic(to))
		wanted = fabs(base) < 1 ? NULL : fitting(known->family, fabs(base));
	if (!wanted || wanted->family != known->family)
		wanted = family_default(known->family);
	*unit = pp_str_of(wanted->shown);
	return base / wanted->factor;
}

const char *pp_unit_label(char *out, size_t out_n, int64_t value, struct pp_str from, struct pp_str to)
{
	struct pp_str unit;
	const double scaled = pp_unit_scale(value, from, to, &unit);
	char number[400];

	/* A number without a family stays what it is, however large. */
	if (!find(from))
		snprintf(number, sizeof number, "%lld", (long long)value);
	else
		print_real(number, sizeof number, scaled);
	if (strcmp(number, "0") == 0 || strcmp(number, "-0") == 0)
		unit = PP_LIT("");
	snprintf(out, out_n, "%s%.*s", strcmp(number, "-0") == 0 ? "0" : number, (int)(unit.len < 64 ? unit.len : 64),
	         unit.ptr);
	return out;
}

int pp_unit_choose(struct pp_str from, struct pp_str asked, struct pp_str *chosen)
{
	const struct unit *known = find(from), *wanted = find(asked);

	if (known && wanted && known->family == wanted->family) {
		*chosen = pp_str_of(wanted->shown);
		return 0;
	}
	*chosen = from;
	return !known && from.len > 0 && pp_str_eq(from, asked) ? 0 : -1;
}

const char *pp_unit_names(char *out, size_t out_n, struct pp_str from)
{
	const struct unit *known = find(from);
	size_t at = 0;

	snprintf(out, out_n, "%.*s", (int)(from.len < 64 ? from.len : 64), known ? "" : from.ptr);
	for (size_t i = 0; known && i < PP_COUNT(units) && at < out_n; i++)
		if (units[i].family == known->family) {
			const int n = snprintf(out + at, out_n - at, "%s%s", at > 0 ? ", " : "", units[i].shown);
			at += n > 0 ? (size_t)n : 0;
		}
	return out;
}

struct pp_str pp_unit_of_report(int64_t least, int64_t total, struct pp_str from)
{
	struct pp_str of_least, of_total;

	if (!find(from))
		return from;
	if (least == 0)
		least = total;
	(void)pp_unit_scale(least, from, PP_LIT("minimum"), &of_least);
	(void)pp_unit_scale(total, from, PP_LIT("minimum"), &of_total);
	if (!pp_str_eq(of_least, of_total) && least < total / 100 + (total % 100 != 0))
		(void)pp_unit_scale(100 * least, from, PP_LIT("minimum"), &of_least);
	return of_least;
}

/* The exponent of "1.5e-07". */
static int exponent_of(const char *scientific)
{
	const char *e = strchr(scientific, 'e');
	int exponent = 0;

	for (const char *digit = e ? e + 2 : ""; *digit; digit++)
		exponent = 10 * exponent + (*digit - '0');
	return e && e[1] == '-' ? -exponent : exponent;
}

/* Plain decimals of so many significant digits, without zeros at the end. */
static const char *print_decimal(char *out, size_t out_n, double value, int digits)
{
	char scientific[64];

	snprintf(scientific, sizeof scientific, "%.*e", digits - 1, value);
	const int decimals = digits - 1 - exponent_of(scientific);
	snprintf(out, out_n, "%.*f", decimals > 0 ? decimals : 0, value);
	if (strchr(out, '.')) {
		size_t n = strlen(out);
		while (out[n - 1] == '0')
			n--;
		out[out[n - 1] == '.' ? n - 1 : n] = '\0';
	}
	if (strcmp(out, "-0") == 0)
		snprintf(out, out_n, "0");
	return out;
}

/* How many `to` one of `from` is, or by how many a value is to be divided: one of the two is 1, so that no digit is
 * lost twice. */
static double ratio(struct pp_str from, struct pp_str to, double *divisor)
{
	double a, b;

	pp_unit_find(from, &a);
	pp_unit_find(to, &b);
	*divisor = a < b ? b / a : 1;
	return a < b ? 1 : a / b;
}

const char *pp_unit_decimal(char *out, size_t out_n, int64_t value, struct pp_str from, struct pp_str to)
{
	double divisor;
	const double factor = ratio(from, to, &divisor);
	int64_t whole;

	if (divisor == 1 && factor < 0x1p62 && !__builtin_mul_overflow(value, (int64_t)factor, &whole)) {
		snprintf(out, out_n, "%lld", (long long)whole);
		return out;
	}
	return print_decimal(out, out_n, (double)value * factor / divisor, 15);
}

const char *pp_unit_decimal_real(char *out, size_t out_n, double value, struct pp_str from, struct pp_str to)
{
	double divisor;
	const double factor = ratio(from, to, &divisor);

	return print_decimal(out, out_n, value * factor / divisor, 10);
}

const char *pp_percent(char *out, size_t out_n, int64_t value, int64_t total)
{
	const double share = total == 0 ? 0 : fabs((double)value / (double)total) * 100;
	const char *sign = (value < 0) != (total < 0) && share > 0 ? "-" : "";

	if (share >= 99.95 && share <= 100.05)
		snprintf(out, out_n, "%s100%%", sign);
	else if (share >= 1)
		snprintf(out, out_n, "%s%.2f%%", sign, share);
	else
		snprintf(out, out_n, "%s%.2g%%", sign, share);
	return out;
}
