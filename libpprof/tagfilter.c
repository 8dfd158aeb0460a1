#include "libpprof/tagfilter.h"

#include <stdlib.h>
#include <string.h>

#include "libpprof/copy.h"
#include "libpprof/regex.h"
#include "libpprof/sink.h"
#include "libpprof/unit.h"

/* One tagfocus or tagignore. */
struct tag_match {
	bool set, has_key;
	struct pp_str key;

	bool is_range, has_low, has_high;
	double low, high;
	struct pp_str unit;

	struct pp_regex **regexes;
	size_t regexes_n;
};

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to filter labels");
}

static bool is_key(const struct pp_profile *p, const struct pp_label *label, struct pp_str key)
{
	return pp_str_eq(pp_string(p, label->key), key);
}

/* ---- units ---- */

int pp_label_units(const struct pp_profile *p, struct pp_str **units, struct pp_error *err)
{
	struct pp_str *made = calloc((size_t)p->strings_n + 1, sizeof *made);
	unsigned char *given = calloc((size_t)p->strings_n + 1, 1); /* 1: numeric, 2: with a unit */
	unsigned char *done = calloc((size_t)p->label_lists_n + 1, 1);

	if (!made || !given || !done) {
		free(made);
		free(given);
		free(done);
		return no_memory(err);
	}
	for (uint32_t i = 0; i < p->strings_n; i++)
		made[i] = PP_LIT("");
	for (uint32_t s = 0; s < p->samples_n; s++) {
		const struct pp_label_list *list = pp_sample_labels(p, s);
		if (done[p->sample_labels[s]])
			continue;
		done[p->sample_labels[s]] = 1;
		for (uint32_t i = 0; i < list->n; i++) {
			const struct pp_label *label = &list->labels[i];
			if (label->str != 0 || !pp_label_counts(label) || given[label->key] == 2)
				continue;
			const struct pp_str unit = pp_string(p, label->num_unit), key = pp_string(p, label->key);
			given[label->key] = unit.len > 0 ? 2 : 1;
			made[label->key] = unit.len > 0 ? unit
			                   : pp_str_eq(key, PP_LIT("request")) || pp_str_eq(key, PP_LIT("alignment"))
			                           ? PP_LIT("bytes")
			                           : key;
		}
	}
	free(given);
	free(done);
	*units = made;
	return 0;
}

/* ---- ranges ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A number with its unit at *at; false when there is none, or it does not fit 64 bits. */
static bool take_number(const char **at, int64_t *value, struct pp_str *unit)
{
	const char *p = *at;
	const bool negative = *p == '-';
	int64_t sum = 0;

	if (*p == '+' || *p == '-')
		p++;
	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, negative ? '0' - *p : *p - '0', &sum))
			return false;
	unit->ptr = p;
	while (is_letter(*p))
		p++;
	unit->len = (size_t)(p - unit->ptr);
	*value = sum;
	*at = p;
	return true;
}

/* Reads a range; false when the text is none, and is an expression then. */
static bool read_range(const char *text, struct tag_match *match)
{
	int64_t value;
	struct pp_str unit;

	if (*text == ':') {
		text++;
		if (!take_number(&text, &value, &unit) || *text)
			return false;
		match->high = pp_unit_scale(value, unit, unit, &match->unit);
		match->has_high = true;
		return true;
	}
	if (!take_number(&text, &value, &unit))
		return false;
	match->low = pp_unit_scale(value, unit, unit, &match->unit);
	match->has_low = true;
	if (!*text) {
		match->high = match->low;
		match->has_high = true;
		return true;
	}
	if (*text++ != ':')
		return false;
	if (!*text)
		return true;
	if (!take_number(&text, &value, &unit) || *text)
		return false;
	match->high = pp_unit_scale(value, unit, match->unit, &unit);
	match->has_high = true;
	return pp_str_eq(unit, match->unit);
}

static bool in_range(const struct tag_match *match, const struct pp_label *label, struct pp_str label_unit)
{
	struct pp_str unit;
	const double value = pp_unit_scale(label->num, label_unit, match->unit, &unit);

	return pp_str_eq(unit, match->unit) && (!match->has_low || value >= match->low) &&
	       (!match->has_high || value <= match->high);
}

/* ---- matching ---- */

static int add_regex(struct tag_match *match, struct pp_str pattern, struct pp_error *err)
{
	struct pp_regex **grown = realloc(match->regexes, (match->regexes_n + 1) * sizeof *grown);

	if (!grown)
		return no_memory(err);
	match->regexes = grown;
	match->regexes[match->regexes_n] = pp_regex_new(pattern, false, err);
	return match->regexes[match->regexes_n++] ? 0 : -1;
}

static int open_match(struct tag_match *match, const char *text, struct pp_error *err)
{
	if (!text || !*text)
		return 0;
	match->set = true;
	const char *equals = strchr(text, '=');
	if (equals) {
		/* An empty key is as none. */
		match->has_key = equals > text;
		match->key = (struct pp_str){text, (size_t)(equals - text)};
		text = equals + 1;
	}
	match->is_range = read_range(text, match);
	while (!match->is_range) {
		const size_t n = strcspn(text, ",");
		if (add_regex(match, (struct pp_str){text, n}, err) != 0)
			return -1;
		if (!text[n])
			break;
		text += n + 1;
	}
	return 0;
}

static void close_match(struct tag_match *match)
{
	for (size_t i = 0; i < match->regexes_n; i++)
		pp_regex_free(match->regexes[i]);
	free(match->regexes);
}

/* Whether an expression matches a value of the key, or without a key, a "key:value". */
static int match_any(const struct tag_match *match, struct pp_regex *regex, const struct pp_profile *p,
                     const struct pp_label_list *list, struct pp_buf *text, bool *matches, struct pp_error *err)
{
	*matches = false;
	for (uint32_t i = 0; i < list->n && !*matches; i++) {
		const struct pp_label *label = &list->labels[i];
		const struct pp_str key = pp_string(p, label->key), value = pp_string(p, label->str);
		if (label->str == 0 || (match->has_key && !is_key(p, label, match->key)))
			continue;
		text->n = 0;
		if (!match->has_key && (pp_buf_append(text, key.ptr, key.len, err) != 0 ||
		                        pp_buf_append(text, ":", 1, err) != 0))
			return -1;
		if (pp_buf_append(text, value.ptr, value.len, err) != 0 ||
		    pp_regex_match(regex, (struct pp_str){text->bytes, text->n}, matches, err) != 0)
			return -1;
	}
	return 0;
}

static int match_list(const struct tag_match *match, const struct pp_profile *p, const struct pp_str *units,
                      const struct pp_label_list *list, struct pp_buf *text, bool *matches, struct pp_error *err)
{
	*matches = false;
	if (match->is_range) {
		for (uint32_t i = 0; i < list->n && !*matches; i++) {
			const struct pp_label *label = &list->labels[i];
			if (label->str == 0 && pp_label_counts(label) &&
			    (!match->has_key || is_key(p, label, match->key)))
				*matches = in_range(match, label, units[label->key]);
		}
		return 0;
	}
	for (size_t i = 0; i < match->regexes_n; i++) {
		if (match_any(match, match->regexes[i], p, list, text, matches, err) != 0)
			return -1;
		if (*matches == match->has_key)
			break; /* with a key one is enough, without all are needed */
	}
	return 0;
}

/* A byte a label list: 1 where the sample goes. */
static int judge_lists(const struct pp_profile *p, const struct tag_match *focus, const struct tag_match *ignore,
                       unsigned char *gone, struct pp_unmatched *unmatched, struct pp_error *err)
{
	struct pp_buf text = PP_BUF_INIT;
	struct pp_str *units = NULL;
	bool any_focused = false, any_ignored = false;
	int status = pp_label_units(p, &units, err);

	for (uint32_t l = 0; l < p->label_lists_n && status == 0; l++) {
		bool focused = true, ignored = false;
		if (focus->set)
			status = match_list(focus, p, units, &p->label_lists[l], &text, &focused, err);
		if (ignore->set && status == 0)
			status = match_list(ignore, p, units, &p->label_lists[l], &text, &ignored, err);
		gone[l] = !focused || ignored;
		any_focused |= focused;
		any_ignored |= ignored;
	}
	if (focus->set && !any_focused)
		pp_unmatched_add(unmatched, "tagfocus");
	if (ignore->set && !any_ignored)
		pp_unmatched_add(unmatched, "tagignore");
	free(units);
	pp_buf_release(&text);
	return status;
}

/* ---- keys ---- */

/* A byte a string: 1 where a key does not match show, or matches hide. */
static int judge_keys(const struct pp_profile *p, const struct pp_tagfilter *filter, unsigned char *gone,
                      struct pp_unmatched *unmatched, struct pp_error *err)
{
	const char *const patterns[] = {filter->tagshow, filter->taghide};
	static const char *const names[] = {"tagshow", "taghide"};

	for (size_t k = 0; k < PP_COUNT(patterns); k++) {
		bool any = false;
		if (!patterns[k] || !*patterns[k])
			continue;
		struct pp_regex *regex = pp_regex_new(pp_str_of(patterns[k]), false, err);
		if (!regex)
			return -1;
		unsigned char *asked = calloc((size_t)p->strings_n + 1, 1);
		int status = asked ? 0 : no_memory(err);
		for (uint32_t l = 0; l < p->label_lists_n && status == 0; l++)
			for (uint32_t i = 0; i < p->label_lists[l].n && status == 0; i++) {
				const uint32_t key = p->label_lists[l].labels[i].key;
				bool matches = false;
				if (asked[key])
					continue;
				asked[key] = 1;
				status = pp_regex_match(regex, pp_string(p, key), &matches, err);
				gone[key] |= matches == (k == 1);
				any |= matches;
			}
		free(asked);
		pp_regex_free(regex);
		if (status != 0)
			return -1;
		if (!any)
			pp_unmatched_add(unmatched, names[k]);
	}
	return 0;
}

static bool is_set(const char *option)
{
	return option && *option;
}

int pp_tagfilter(const struct pp_profile *profile, const struct pp_tagfilter *filter,
                 const struct pp_limits *limits, struct pp_unmatched *unmatched, struct pp_profile **out,
                 struct pp_error *err)
{
	struct tag_match focus = {0}, ignore = {0};
	unsigned char *list_gone = NULL, *sample_gone = NULL, *key_gone = NULL;
	int status = -1;

	*out = NULL;
	if (!is_set(filter->tagfocus) && !is_set(filter->tagignore) && !is_set(filter->tagshow) &&
	    !is_set(filter->taghide))
		return 0;
	list_gone = calloc((size_t)profile->label_lists_n + 1, 1);
	sample_gone = calloc((size_t)profile->samples_n + 1, 1);
	key_gone = calloc((size_t)profile->strings_n + 1, 1);
	if (!list_gone || !sample_gone || !key_gone) {
		no_memory(err);
		goto done;
	}
	if (open_match(&focus, filter->tagfocus, err) != 0 || open_match(&ignore, filter->tagignore, err) != 0)
		goto done;
	if ((focus.set || ignore.set) && judge_lists(profile, &focus, &ignore, list_gone, unmatched, err) != 0)
		goto done;
	if (judge_keys(profile, filter, key_gone, unmatched, err) != 0)
		goto done;
	for (uint32_t s = 0; s < profile->samples_n; s++)
		sample_gone[s] = list_gone[profile->sample_labels[s]];
	const struct pp_copy copy = {.profile = profile, .sample_gone = sample_gone, .key_gone = key_gone};
	*out = pp_copy_make(&copy, limits, err);
	status = *out ? 0 : -1;
done:
	close_match(&focus);
	close_match(&ignore);
	free(list_gone);
	free(sample_gone);
	free(key_gone);
	return status;
}
