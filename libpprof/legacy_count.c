/* Go's goroutine and threadcreate profiles with debug=1: "NAME profile: total N", then "N @ 0x… 0x…". */
#include "libpprof/legacy.h"

static int read_head(struct pp_legacy *l)
{
	struct pp_str text = l->line, name;
	int64_t total;
	if (!pp_take_word(&text, &name) || !pp_take(&text, " profile: total ") || !pp_take_number(&text, &total) ||
	    text.len > 0)
		return pp_legacy_fail(l, PP_EFORMAT, "not 'NAME profile: total N'");
	name = pp_legacy_copy(l, name);
	if (!name.ptr)
		return -1;
	const char *const types[][2] = {{name.ptr, "count"}};
	pp_legacy_types(l, types, 1);
	pp_legacy_period(l, name.ptr, "count", 1);
	return 0;
}

static int read_stack(struct pp_legacy *l)
{
	struct pp_str text = l->line;
	int64_t count;
	uint64_t address;
	if (!pp_take_number(&text, &count) || !pp_take(&text, " @") || text.len == 0)
		return pp_legacy_bad_line(l, "not 'N @ addresses'");
	while (pp_take(&text, " 0x")) {
		if (!pp_take_hex(&text, &address))
			break;
		if (pp_legacy_frame(l, address, true) < 0)
			return -1;
	}
	if (text.len > 0) {
		pp_legacy_forget(l);
		return pp_legacy_bad_line(l, "not an address of 64 bits");
	}
	return pp_legacy_sample(l, &count, NULL);
}

int pp_legacy_count(struct pp_legacy *l)
{
	int more;
	while ((more = pp_legacy_next(l)) > 0 && pp_legacy_blank(l))
		;
	if (more < 0 || read_head(l) < 0)
		return -1;
	while ((more = pp_legacy_next(l)) > 0 && !pp_legacy_is_section(l->line)) {
		int skipped = pp_legacy_skip(l);
		if (skipped < 0 || (skipped == 0 && read_stack(l) < 0))
			return -1;
	}
	return more < 0 ? -1 : pp_legacy_find_map(l);
}
