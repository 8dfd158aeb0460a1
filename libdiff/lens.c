#include "libdiff/lens.h"

#include <string.h>

static bool begins(struct pp_str text, const char *prefix)
{
	size_t n = strlen(prefix);

	return text.len >= n && memcmp(text.ptr, prefix, n) == 0;
}

static bool is(struct pp_str text, const char *word)
{
	return pp_str_eq(text, pp_str_of(word));
}

static enum pd_lens_kind kind_of(const struct pd_lens *lens)
{
	if (begins(lens->type, "inuse_"))
		return PD_LENS_INUSE;
	if (begins(lens->type, "alloc_") || begins(lens->type, "alloc-"))
		return PD_LENS_ALLOC;
	if (is(lens->name, "mutex") || begins(lens->type, "mutex_") || begins(lens->type, "lock_"))
		return PD_LENS_MUTEX;
	if (is(lens->name, "block") || begins(lens->type, "block_"))
		return PD_LENS_BLOCK;
	if (begins(lens->type, "goroutine") || begins(lens->type, "thread"))
		return PD_LENS_GOROUTINE;
	if (begins(lens->type, "wall"))
		return PD_LENS_WALL;
	if (begins(lens->type, "cpu") || begins(lens->name, "process_cpu"))
		return PD_LENS_CPU;
	return PD_LENS_OTHER;
}

int pd_lens_parse(const char *text, struct pd_lens *lens, struct pp_error *err)
{
	struct pp_str parts[5] = {{"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}};
	size_t n = 0;

	for (const char *at = text;; n++) {
		size_t length = strcspn(at, ":");
		if (n == PP_COUNT(parts))
			return pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "'%s' has more than five parts", text);
		parts[n] = (struct pp_str){at, length};
		if (!at[length])
			break;
		at += length + 1;
	}
	*lens = (struct pd_lens){.text = text, .name = PP_LIT(""), .type = parts[0], .unit = PP_LIT(""),
	                         .period_type = PP_LIT(""), .period_unit = PP_LIT("")};
	if (n > 0) {
		if (n != 4)
			return pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "'%s' is not name:type:unit:period type:period unit", text);
		*lens = (struct pd_lens){text, parts[0], parts[1], parts[2], parts[3], parts[4], PD_LENS_OTHER};
	}
	lens->kind = kind_of(lens);
	return 0;
}

bool pd_lens_snapshot(const struct pd_lens *lens)
{
	return lens->kind == PD_LENS_INUSE || lens->kind == PD_LENS_GOROUTINE;
}

/* Whether a word stands alone in a file name. */
static bool has_word(const char *name, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = strstr(name, word); at; at = strstr(at + 1, word))
		if ((at == name || strchr("._-/", at[-1])) && (!at[n] || strchr("._-", at[n])))
			return true;
	return false;
}

/* Go writes "contentions", "count" for both, Pyroscope the name of the kind. */
static bool contention_period(const struct pd_lens *lens, struct pp_str type, struct pp_str unit)
{
	return (lens->kind == PD_LENS_MUTEX || lens->kind == PD_LENS_BLOCK) && is(type, "contentions") && is(unit, "count");
}

enum pd_fit pd_lens_fit(const struct pd_lens *lens, const struct pp_profile *p, const char *file_name, uint32_t *column)
{
	struct pp_str type = pp_string(p, p->period_type.type), unit = pp_string(p, p->period_type.unit);

	*column = PP_NONE;
	for (uint32_t c = 0; c < p->sample_types_n && *column == PP_NONE; c++)
		if (pp_str_eq(pp_sample_type_name(p, c), lens->type) &&
		    (!lens->unit.len || pp_str_eq(pp_sample_type_unit(p, c), lens->unit)))
			*column = c;
	if (*column == PP_NONE)
		return PD_FIT_OTHER_TYPE;
	if ((lens->kind == PD_LENS_MUTEX && has_word(file_name, "block")) ||
	    (lens->kind == PD_LENS_BLOCK && has_word(file_name, "mutex")))
		return PD_FIT_OTHER_TYPE;
	if (!lens->name.len || (pp_str_eq(type, lens->period_type) && pp_str_eq(unit, lens->period_unit)) ||
	    contention_period(lens, type, unit))
		return PD_FIT_YES;
	return PD_FIT_OTHER_PERIOD;
}

const char *pd_lens_limits(enum pd_lens_kind kind)
{
	switch (kind) {
	case PD_LENS_CPU:
		return "CPU time is not request latency, scheduling delay or throttling; samples in futex or lock functions are "
		       "time on the CPU, not time asleep";
	case PD_LENS_WALL:
		return "wall time holds waiting as well as work; it is not CPU use";
	case PD_LENS_ALLOC:
		return "allocations are churn, not retained heap and not a leak";
	case PD_LENS_INUSE:
		return "heap in use is a snapshot: not process memory, not native memory; stacks name where memory was allocated, not "
		       "what keeps it";
	case PD_LENS_MUTEX:
		return "mutex profiles point at the holder that made others wait, at its unlock, not at the waiter; delay is not CPU "
		       "time";
	case PD_LENS_BLOCK:
		return "block profiles point at the waiter, not at what it waited for; delay is not CPU time";
	case PD_LENS_GOROUTINE:
		return "goroutine and thread counts are snapshots; growth alone does not prove leaked work";
	case PD_LENS_OTHER:
		break;
	}
	return "what this sample type leaves out is not known here";
}
