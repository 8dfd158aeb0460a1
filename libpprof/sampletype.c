#include "libpprof/sampletype.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct pp_str pp_sample_type_name(const struct pp_profile *profile, uint32_t column)
{
	return pp_string(profile, profile->sample_types[column].type);
}

struct pp_str pp_sample_type_unit(const struct pp_profile *profile, uint32_t column)
{
	return pp_string(profile, profile->sample_types[column].unit);
}

static uint32_t find_name(const struct pp_profile *profile, struct pp_str name)
{
	const struct pp_str inuse = PP_LIT("inuse_");
	struct pp_str shorter = name;

	if (name.len > inuse.len && memcmp(name.ptr, inuse.ptr, inuse.len) == 0)
		shorter = (struct pp_str){name.ptr + inuse.len, name.len - inuse.len};
	for (uint32_t c = 0; c < profile->sample_types_n; c++) {
		const struct pp_str type = pp_sample_type_name(profile, c);
		if (pp_str_eq(type, name) || pp_str_eq(type, shorter))
			return c;
	}
	return PP_NONE;
}

static uint32_t find_type_unit(const struct pp_profile *profile, struct pp_str type, struct pp_str unit)
{
	for (uint32_t c = 0; c < profile->sample_types_n; c++)
		if (pp_str_eq(pp_sample_type_name(profile, c), type) &&
		    pp_str_eq(pp_sample_type_unit(profile, c), unit))
			return c;
	return PP_NONE;
}

/* "a, b, c", masked and cut to what fits. */
static void list_types(const struct pp_profile *profile, char *out, size_t out_n)
{
	size_t n = 0;

	out[0] = '\0';
	for (uint32_t c = 0; c < profile->sample_types_n && n + 8 < out_n; c++) {
		const struct pp_str type = pp_sample_type_name(profile, c);
		char name[64];
		const int written = snprintf(out + n, out_n - n, "%s%s", c > 0 ? ", " : "",
		                             type.len > 0 ? pp_printable(name, sizeof name, type.ptr, type.len)
		                                          : "(empty)");
		if (written < 0 || (size_t)written >= out_n - n)
			return;
		n += (size_t)written;
	}
}

static bool is_digits(struct pp_str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] < '0' || s.ptr[i] > '9')
			return false;
	return s.len > 0;
}

static int find_index(const struct pp_profile *profile, struct pp_str digits, uint32_t *column,
                      struct pp_error *err)
{
	uint64_t index = 0;

	for (size_t i = 0; i < digits.len && index < PP_NONE; i++)
		index = index * 10 + (uint64_t)(digits.ptr[i] - '0');
	if (index >= profile->sample_types_n)
		return pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "sample type %.20s is not in 0 to %" PRIu32, digits.ptr,
		               profile->sample_types_n - 1);
	*column = (uint32_t)index;
	return 0;
}

static uint32_t find_default(const struct pp_profile *profile, char *warning, size_t warning_n)
{
	const struct pp_str name = pp_string(profile, profile->default_sample_type);
	const uint32_t last = profile->sample_types_n - 1;
	char types[160], shown[64];

	if (name.len == 0)
		return last;
	const uint32_t found = find_name(profile, name);
	if (found != PP_NONE)
		return found;
	list_types(profile, types, sizeof types);
	snprintf(warning, warning_n, "default sample type '%s' is not one of: %s; the last is taken",
	         pp_printable(shown, sizeof shown, name.ptr, name.len), types);
	return last;
}

static int find(const struct pp_profile *profile, const char *request, uint32_t *column, char *warning,
                size_t warning_n, struct pp_error *err)
{
	const struct pp_str name = pp_str_of(request);
	char types[200];
	uint32_t found;

	if (profile->sample_types_n == 0)
		return pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "the profile has no sample types");
	if (name.len == 0) {
		*column = find_default(profile, warning, warning_n);
		return 0;
	}
	if (is_digits(name))
		return find_index(profile, name, column, err);
	found = find_name(profile, name);
	const char *colon = strchr(name.ptr, ':');
	if (found == PP_NONE && colon)
		found = find_type_unit(profile, (struct pp_str){name.ptr, (size_t)(colon - name.ptr)},
		                       pp_str_of(colon + 1));
	if (found == PP_NONE) {
		list_types(profile, types, sizeof types);
		return pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "sample type '%.100s' is not one of: %s", name.ptr, types);
	}
	*column = found;
	return 0;
}

int pp_sample_type_find(const struct pp_profile *profile, const char *request, uint32_t *column, char *warning,
                        size_t warning_n, struct pp_error *err)
{
	if (warning_n > 0)
		warning[0] = '\0';
	if (find(profile, request, column, warning, warning_n, err) != 0)
		return -1;
	if (warning_n > 0 && warning[0] == '\0' && pp_sample_type_name(profile, *column).len == 0)
		snprintf(warning, warning_n, "sample type %" PRIu32 " has no name", *column);
	return 0;
}

uint32_t pp_sample_type_of_lens(const struct pp_profile *profile, const char *lens)
{
	struct pp_str part[5];
	size_t n = 0;

	for (const char *p = lens;; n++) {
		const char *end = strchr(p, ':');
		if (n == PP_COUNT(part))
			return PP_NONE;
		part[n] = (struct pp_str){p, end ? (size_t)(end - p) : strlen(p)};
		if (!end)
			break;
		p = end + 1;
	}
	return n + 1 == PP_COUNT(part) ? find_type_unit(profile, part[1], part[2]) : PP_NONE;
}
