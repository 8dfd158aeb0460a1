#include "libpprof/place.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

int pp_place_fail(struct pp_error *err, enum pp_code code, const struct pp_place *place, const char *format, ...)
{
	char index[16] = "", inner[64] = "", text[sizeof(err->text)];
	va_list args;

	va_start(args, format);
	if (vsnprintf(text, sizeof(text), format, args) < 0)
		text[0] = '\0';
	va_end(args);
	if (place->index != PP_NONE)
		snprintf(index, sizeof(index), "[%" PRIu32 "]", place->index);
	if (place->inner)
		snprintf(inner, sizeof(inner), ".%s[%" PRIu32 "]", place->inner, place->inner_index);
	return pp_fail(err, code, place->offset, "%s%s%s%s%s: %s", place->record, index, inner,
	               place->field ? "." : "", place->field ? place->field : "", text);
}
