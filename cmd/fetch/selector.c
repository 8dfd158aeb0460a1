#include "cmd/fetch/selector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

char *selector_whole(const char *text)
{
	text += strspn(text, blanks);
	bool braces = *text == '{';
	size_t n = strlen(text) + 3;
	char *whole = malloc(n);

	if (whole)
		snprintf(whole, n, braces ? "%s" : "{%s}", text);
	return whole;
}

/* Writes a quoted string as the server reads it; at most 2 * strlen + 2 bytes. */
static char *quote(char *out, const char *text)
{
	*out++ = '"';
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			*out++ = '\\';
		if (*text == '\n') {
			*out++ = '\\';
			*out++ = 'n';
			continue;
		}
		*out++ = *text;
	}
	*out++ = '"';
	return out;
}

static bool is_bare_name(const char *label)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

	return *label && !label[strspn(label, letters)] && !(*label >= '0' && *label <= '9');
}

char *selector_with(const char *selector, const char *label, const char *value)
{
	size_t label_n = strlen(label), rest_n = strlen(selector + 1);
	char *out = malloc(2 * label_n + 2 * strlen(value) + rest_n + 8), *at = out;

	if (!out)
		return NULL;
	*at++ = '{';
	if (is_bare_name(label)) {
		memcpy(at, label, label_n);
		at += label_n;
	} else {
		at = quote(at, label);
	}
	*at++ = '=';
	at = quote(at, value);
	if (selector[1 + strspn(selector + 1, blanks)] != '}')
		*at++ = ',';
	memcpy(at, selector + 1, rest_n + 1);
	return out;
}

static int parts_of(const char *id)
{
	int n = 1;

	for (; *id; id++)
		n += *id == ':';
	return n;
}

enum cli_status type_check(const char *id)
{
	if (!id)
		return cli_usage("--profile-type is required ('pprof-fetch types' lists them)");
	int n = parts_of(id);
	if (n == 5 || n == 6)
		return CLI_OK;
	return cli_usage("profile-type selection must be of the form "
	                 "<name>:<sample-type>:<sample-unit>:<period-type>:<period-unit>(:delta), got(%d): \"%s\"", n, id);
}

struct pp_str type_part(const char *id, int part)
{
	for (; part > 0; part--)
		id = strchr(id, ':') + 1;
	return (struct pp_str){id, strcspn(id, ":")};
}

bool type_is_snapshot(const char *id)
{
	struct pp_str name = type_part(id, 0), type = type_part(id, 1);

	return (type.len >= 6 && memcmp(type.ptr, "inuse_", 6) == 0) || pp_str_eq(type, PP_LIT("goroutine")) ||
	       pp_str_eq(type, PP_LIT("goroutines")) || pp_str_eq(name, PP_LIT("threadcreate"));
}

char *type_of_counts(const char *id, bool *failed)
{
	static const struct {
		const char *value, *unit, *count;
	} pairs[] = {
		{"cpu", "nanoseconds", "samples"},          {"delay", "nanoseconds", "contentions"},
		{"alloc_space", "bytes", "alloc_objects"},  {"inuse_space", "bytes", "inuse_objects"},
	};
	struct pp_str name = type_part(id, 0), type = type_part(id, 1), unit = type_part(id, 2);

	*failed = false;
	for (size_t i = 0; i < PP_COUNT(pairs); i++) {
		if (!pp_str_eq(type, pp_str_of(pairs[i].value)) || !pp_str_eq(unit, pp_str_of(pairs[i].unit)))
			continue;
		size_t n = strlen(id) + strlen(pairs[i].count) + strlen("count") + 3;
		char *out = malloc(n);
		*failed = !out;
		if (out)
			snprintf(out, n, "%.*s:%s:count:%s", (int)name.len, name.ptr, pairs[i].count, type_part(id, 3).ptr);
		return out;
	}
	return NULL;
}
