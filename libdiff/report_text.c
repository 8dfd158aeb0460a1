/* Pieces of text that the fields are made of. */
#include "libdiff/report_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libdiff/utctime.h"

void rp_say(struct rp_text *text, const char *format, ...)
{
	struct pp_error unheard = PP_ERROR_INIT;
	va_list args, again;

	va_start(args, format);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, args);
	char *piece = n < 0 ? NULL : malloc((size_t)n + 1);
	if (piece)
		vsnprintf(piece, (size_t)n + 1, format, again);
	if (!piece || pp_buf_append(&text->buf, piece, (size_t)n, &unheard))
		text->failed = true;
	free(piece);
	va_end(again);
	va_end(args);
}

const char *rp_take(struct rp_text *text, struct pp_arena *arena)
{
	/* A masked byte takes four. */
	size_t room = text->buf.n * 4 + 1;
	char *out = text->failed ? NULL : pp_arena_alloc(arena, room);

	if (out)
		pp_printable(out, room, text->buf.bytes ? text->buf.bytes : "", text->buf.n);
	pp_buf_release(&text->buf);
	*text = (struct rp_text){PP_BUF_INIT, false};
	return out;
}

void rp_amount(struct rp_text *text, int64_t value, struct pp_str unit)
{
	char human[64], plain[32];
	bool count = !unit.len || pp_str_eq(unit, PP_LIT("count"));

	snprintf(plain, sizeof(plain), "%lld", (long long)value);
	rp_say(text, "%s%s%.*s", plain, count ? "" : " ", count ? 0 : (int)unit.len, unit.ptr);
	pp_unit_human(human, sizeof(human), value, unit);
	if (!count && value != 0)
		rp_say(text, " (%s)", human);
}

void rp_percent(struct rp_text *text, double share)
{
	if (isnan(share))
		rp_say(text, "not measured");
	else
		rp_say(text, "%.1f %%", 100 * share);
}

void rp_part(struct rp_text *text, double share)
{
	double percent = 100 * share;

	if (percent >= 99 && percent < 100)
		rp_say(text, "%.1f %%", floor(percent * 10) / 10);
	else
		rp_say(text, percent >= 99 ? "%.0f %%" : "%.2g %%", percent);
}

void rp_range(struct rp_text *text, int64_t from_ns, int64_t to_ns)
{
	char from[64], to[64];

	rp_say(text, "%s to %s", pd_time_text(from, sizeof(from), from_ns), pd_time_text(to, sizeof(to), to_ns));
}

void rp_path(struct rp_text *text, const char *path)
{
	for (const char *at = path; *at;) {
		size_t n = strcspn(at, ";");
		rp_say(text, "%s%.*s", at == path ? "" : " > ", (int)n, at);
		at += n + (at[n] == ';');
	}
}
