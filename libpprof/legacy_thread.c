/* gperftools' threads: "--- threadz N ---", then for each thread "--- Thread HEX (name: NAME/ID) stack: ---"
 * and lines with addresses, or that it is where the one before is. */
#include "libpprof/legacy.h"

static bool is_thread_head(struct pp_str line)
{
	return pp_legacy_holds(line, "--- Thread ") && pp_legacy_holds(line, " (name: ") &&
	       pp_legacy_holds(line, ") stack: ---");
}

static bool is_end(struct pp_str line)
{
	return pp_legacy_is_map_head(line) || pp_legacy_begins(line, "---- no stack trace for");
}

/* Passes over the text before the first thread. */
static int read_head(struct pp_legacy *l)
{
	int more;
	while ((more = pp_legacy_next(l)) > 0 && pp_legacy_blank(l))
		;
	if (more <= 0 || !pp_legacy_begins(l->line, "--- threadz "))
		return more;
	while ((more = pp_legacy_next(l)) > 0 && !pp_legacy_begins(l->line, "-") && !pp_legacy_is_map_head(l->line))
		;
	return more;
}

/* The lines of one thread, up to the next "---": as pp_legacy_next for that line. */
static int read_thread(struct pp_legacy *l)
{
	static const int64_t one = 1;
	bool is_same = false;
	int more;
	while ((more = pp_legacy_next(l)) > 0 && !pp_legacy_begins(l->line, "---")) {
		if (pp_legacy_holds(l->line, "same as previous thread"))
			is_same = true;
		else if (pp_legacy_frames(l, l->line, false) < 0)
			return -1;
	}
	if (more < 0)
		return -1;
	if (l->depth > 0 && !is_same)
		return pp_legacy_sample(l, &one, NULL) < 0 ? -1 : more;
	pp_legacy_forget(l);
	if (l->samples_n > 0)
		l->samples[l->samples_n - 1].values[0]++;
	return more;
}

int pp_legacy_threads(struct pp_legacy *l)
{
	static const char *const types[][2] = {{"thread", "count"}};
	int more = read_head(l);
	pp_legacy_types(l, types, 1);
	pp_legacy_period(l, "thread", "count", 1);
	l->may_repeat_leaf = true;
	while (more > 0 && !is_end(l->line)) {
		if (!is_thread_head(l->line))
			return pp_legacy_fail(l, PP_EFORMAT, "not '--- Thread … (name: …) stack: ---'");
		more = read_thread(l);
	}
	if (more == 0 && l->options->strictness == PP_STRICT)
		return pp_fail(l->err, PP_EFORMAT, pp_legacy_offset(l),
		               "the input ends within the threads, without a memory map");
	return more < 0 ? -1 : pp_legacy_find_map(l);
}
