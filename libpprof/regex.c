#include "libpprof/regex.h"

#include <stdlib.h>
#include <string.h>

#include "libpprof/sink.h"
#include "libpprof/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Bytes of a pattern: the drop_frames of real profiles take up to 2 KiB. */
#define PATTERN_MAX 16384
#define REPEAT_MAX 1000 /* as in RE2 */

/* The matcher keeps a list of active states and looks through it for duplicates, so a byte costs at
 * most states² steps. Its workspace bounds the states, and with them the work: a match starts with
 * few states, gets more only if it needs them, and what it might have cost is taken from a budget. */
#define STATES_FIRST 32
#define STATES_MAX 2048
#define STEPS_BUDGET (UINT64_C(50) * 1000 * 1000 * 1000)
#define WORKSPACE(states) (6 * (size_t)(states) + 20) /* ints: two lists of three, and a little */

struct pp_regex {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *context;
	int *workspace;
	size_t states;
	uint64_t steps_left;
	struct pp_buf subject; /* a subject that was not UTF-8, mended */
};

static int refuse(struct pp_str pattern, size_t at, const char *reason, struct pp_error *err)
{
	char shown[120];

	return pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "expression '%s': position %zu: %s",
	               pp_printable(shown, sizeof shown, pattern.ptr, pattern.len), at, reason);
}

/* Why RE2 has no "\c", or NULL when it has. next is the byte after, for octal numbers. */
static const char *escape_problem(char c, char next)
{
	if (c >= '1' && c <= '9')
		return c <= '7' && next >= '0' && next <= '7' ? NULL : "back references are not supported";
	if (c == 'k' || c == 'g')
		return "back references and calls are not supported";
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
		return strchr("afntrvxAbBdDsSwWzpPQE", c) ? NULL : "an escape that RE2 does not have";
	return NULL;
}

/* Why RE2 has no group that starts with "(?" and these n bytes, or NULL when it has. */
static const char *group_problem(const char *p, size_t n)
{
	if (n == 0)
		return "a group that does not end";
	switch (p[0]) {
	case '=':
	case '!':
		return "look-ahead is not supported";
	case '>':
		return "atomic groups are not supported";
	case '(':
		return "conditions are not supported";
	case '#':
		return "comments are not supported";
	case '|':
	case '\'':
	case '*':
		return "a group that RE2 does not have";
	case '<':
		return n > 1 && (p[1] == '=' || p[1] == '!') ? "look-behind is not supported" : NULL;
	case 'P':
		return n > 1 && p[1] == '<' ? NULL : "back references and calls are not supported";
	case '&':
	case 'R':
	case '+':
		return "recursion is not supported";
	}
	for (size_t i = 0; i < n && p[i] != ':' && p[i] != ')'; i++) {
		if (p[i] >= '0' && p[i] <= '9')
			return "recursion is not supported";
		if (!strchr("imsU-", p[i]) || p[i] == '\0')
			return "a flag that RE2 does not have";
	}
	return NULL;
}

/* The length of "{n}", "{n,}" or "{n,m}" at p, or 0 when these bytes stand for themselves. */
static size_t repeat_length(const char *p, size_t n, bool *too_many)
{
	size_t i = 1;
	unsigned value = 0, digits = 0;

	*too_many = false;
	for (; i < n && p[i] != '}'; i++) {
		if (p[i] == ',' && digits > 0) {
			if (memchr(p + 1, ',', i - 1))
				return 0;
			value = 0;
		} else if (p[i] >= '0' && p[i] <= '9') {
			value = value > REPEAT_MAX ? value : value * 10 + (unsigned)(p[i] - '0');
			digits++;
			*too_many |= value > REPEAT_MAX;
		} else {
			return 0;
		}
	}
	return i < n && digits > 0 ? i + 1 : 0;
}

/* The length of a class "[…]" at p. */
static int class_length(struct pp_str pattern, size_t at, size_t *length, struct pp_error *err)
{
	const char *p = pattern.ptr;
	const size_t n = pattern.len;
	size_t i = at + 1;

	if (i < n && p[i] == '^')
		i++;
	if (i < n && p[i] == ']')
		i++;
	for (; i < n && p[i] != ']'; i++) {
		if (p[i] == '\\' && i + 1 < n) {
			const char *problem = escape_problem(p[i + 1], i + 2 < n ? p[i + 2] : '\0');
			if (problem)
				return refuse(pattern, i, problem, err);
			i++;
		} else if (p[i] == '[' && i + 1 < n && p[i + 1] == ':') {
			if (i + 2 < n && (p[i + 2] == '<' || p[i + 2] == '>'))
				return refuse(pattern, i, "a class that RE2 does not have", err);
			const char *end = memchr(p + i + 2, ']', n - i - 2);
			if (end && end[-1] == ':')
				i = (size_t)(end - p);
		}
	}
	if (i == n)
		return refuse(pattern, at, "a class that does not end", err);
	*length = i + 1 - at;
	return 0;
}

static bool is_repeat(char c)
{
	return c == '*' || c == '+' || c == '?';
}

/* What follows a repeat: RE2 takes one "?", but neither the possessive "+" nor another repeat. */
static int check_after_repeat(struct pp_str pattern, size_t *at, struct pp_error *err)
{
	bool too_many;

	if (*at < pattern.len && pattern.ptr[*at] == '+')
		return refuse(pattern, *at, "possessive repeats are not supported", err);
	if (*at < pattern.len && pattern.ptr[*at] == '?')
		++*at;
	if (*at < pattern.len && (is_repeat(pattern.ptr[*at]) ||
	                          (pattern.ptr[*at] == '{' &&
	                           repeat_length(pattern.ptr + *at, pattern.len - *at, &too_many) > 0)))
		return refuse(pattern, *at, "a repeat of a repeat", err);
	return 0;
}

static size_t quoted_length(struct pp_str pattern, size_t at)
{
	for (size_t i = at + 2; i + 1 < pattern.len; i++)
		if (pattern.ptr[i] == '\\' && pattern.ptr[i + 1] == 'E')
			return i + 2 - at;
	return pattern.len - at;
}

/* Refuses what pcre2 would take and RE2 does not have. */
static int check_syntax(struct pp_str pattern, struct pp_error *err)
{
	const char *p = pattern.ptr;
	const size_t n = pattern.len;
	const char *problem;
	bool too_many;
	size_t length = 0;

	for (size_t i = 0; i < n;) {
		if (p[i] == '\\' && i + 1 < n) {
			problem = escape_problem(p[i + 1], i + 2 < n ? p[i + 2] : '\0');
			if (problem)
				return refuse(pattern, i, problem, err);
			i += p[i + 1] == 'Q' ? quoted_length(pattern, i) : 2;
		} else if (p[i] == '[') {
			if (class_length(pattern, i, &length, err) != 0)
				return -1;
			i += length;
		} else if (p[i] == '(' && i + 1 < n && p[i + 1] == '*') {
			return refuse(pattern, i, "verbs are not supported", err);
		} else if (p[i] == '(' && i + 1 < n && p[i + 1] == '?') {
			problem = group_problem(p + i + 2, n - i - 2);
			if (problem)
				return refuse(pattern, i, problem, err);
			i += 2; /* past the "?", which is no repeat */
		} else if (is_repeat(p[i])) {
			i++;
			if (check_after_repeat(pattern, &i, err) != 0)
				return -1;
		} else if (p[i] == '{' && (length = repeat_length(p + i, n - i, &too_many)) > 0) {
			if (too_many)
				return refuse(pattern, i, "a repeat of more than 1000", err);
			i += length;
			if (check_after_repeat(pattern, &i, err) != 0)
				return -1;
		} else {
			i++;
		}
	}
	return 0;
}

static int check_utf8(struct pp_str pattern, struct pp_error *err)
{
	for (size_t i = 0, step; i < pattern.len; i += step) {
		step = pp_utf8_length(pattern.ptr + i, pattern.len - i);
		if (step == 0)
			return refuse(pattern, i, "not UTF-8", err);
	}
	return 0;
}

/* Whether "(?m" is there. The breadth-first matcher lets PCRE2_DOLLAR_ENDONLY overrule it. */
static bool has_multiline_flag(struct pp_str pattern)
{
	for (size_t i = 0; i + 2 < pattern.len; i++) {
		if (pattern.ptr[i] != '(' || pattern.ptr[i + 1] != '?')
			continue;
		for (size_t k = i + 2; k < pattern.len && pattern.ptr[k] != '\0' && strchr("imsU", pattern.ptr[k]); k++)
			if (pattern.ptr[k] == 'm')
				return true;
	}
	return false;
}

/* Both forms start at the start of the subject. To search, any text may stand before: one pass over
 * the subject instead of one from each position. */
static int compile(struct pp_regex *regex, struct pp_str pattern, bool anchored, struct pp_error *err)
{
	const struct pp_str before = anchored ? PP_LIT("(?:") : PP_LIT("(?s:.*)(?:");
	const struct pp_str after = anchored ? PP_LIT(")\\z") : PP_LIT(")");
	struct pp_buf whole = PP_BUF_INIT;
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	PCRE2_SIZE at = 0;
	int code = 0;
	PCRE2_UCHAR reason[120];
	uint32_t options = PCRE2_UTF | PCRE2_ANCHORED | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_POSSESS |
	                   PCRE2_NO_DOTSTAR_ANCHOR;

	if (!has_multiline_flag(pattern))
		options |= PCRE2_DOLLAR_ENDONLY;
	if (!context || pcre2_set_newline(context, PCRE2_NEWLINE_LF) != 0) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for an expression");
		goto done;
	}
	if (pp_buf_append(&whole, before.ptr, before.len, err) != 0 ||
	    pp_buf_append(&whole, pattern.ptr, pattern.len, err) != 0 ||
	    pp_buf_append(&whole, after.ptr, after.len, err) != 0)
		goto done;
	regex->code = pcre2_compile((PCRE2_SPTR)whole.bytes, whole.n, options, &code, &at, context);
	if (!regex->code) {
		at = at < before.len ? 0 : at - before.len;
		if (pcre2_get_error_message(code, reason, sizeof reason) < 0)
			reason[0] = '\0';
		refuse(pattern, at < pattern.len ? at : pattern.len, (const char *)reason, err);
	}
done:
	pcre2_compile_context_free(context);
	pp_buf_release(&whole);
	return regex->code ? 0 : -1;
}

struct pp_regex *pp_regex_new(struct pp_str pattern, bool anchored, struct pp_error *err)
{
	struct pp_regex *regex;

	if (pattern.len > PATTERN_MAX) {
		pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "an expression of %zu bytes; at most %d are read", pattern.len,
		        PATTERN_MAX);
		return NULL;
	}
	if (check_utf8(pattern, err) != 0 || check_syntax(pattern, err) != 0)
		return NULL;
	regex = calloc(1, sizeof *regex);
	if (!regex)
		goto no_memory;
	regex->states = STATES_FIRST;
	regex->steps_left = STEPS_BUDGET;
	regex->workspace = malloc(WORKSPACE(STATES_MAX) * sizeof *regex->workspace);
	regex->match = pcre2_match_data_create(1, NULL);
	regex->context = pcre2_match_context_create(NULL);
	if (!regex->workspace || !regex->match || !regex->context)
		goto no_memory;
	pcre2_set_depth_limit(regex->context, 100);
	pcre2_set_heap_limit(regex->context, 4096); /* KiB */
	if (compile(regex, pattern, anchored, err) != 0)
		goto fail;
	return regex;
no_memory:
	pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for an expression");
fail:
	pp_regex_free(regex);
	return NULL;
}

void pp_regex_free(struct pp_regex *regex)
{
	if (!regex)
		return;
	pcre2_code_free(regex->code);
	pcre2_match_data_free(regex->match);
	pcre2_match_context_free(regex->context);
	free(regex->workspace);
	pp_buf_release(&regex->subject);
	free(regex);
}

/* Makes *subject UTF-8: each byte that is not part of a well-formed character becomes U+FFFD. */
static int mend(struct pp_regex *regex, struct pp_str *subject, struct pp_error *err)
{
	size_t good = 0, step = 0;

	for (; good < subject->len; good += step) {
		step = pp_utf8_length(subject->ptr + good, subject->len - good);
		if (step == 0)
			break;
	}
	if (good == subject->len)
		return 0;
	regex->subject.n = 0;
	for (size_t i = 0; i < subject->len; i += step) {
		step = i < good ? good : pp_utf8_length(subject->ptr + i, subject->len - i);
		const int bad = step > 0 ? pp_buf_append(&regex->subject, subject->ptr + i, step, err)
		                         : pp_buf_append(&regex->subject, "\xef\xbf\xbd", 3, err);
		if (bad)
			return -1;
		step += step == 0;
	}
	*subject = (struct pp_str){regex->subject.bytes, regex->subject.n};
	return 0;
}

/* One attempt, paid for from the budget. */
static int attempt(struct pp_regex *regex, struct pp_str subject, struct pp_error *err)
{
	const uint64_t square = (uint64_t)regex->states * regex->states / 2;
	const uint64_t length = (uint64_t)subject.len + 1;

	if (length > regex->steps_left / square) {
		pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "an expression takes too much work on these names");
		return PCRE2_ERROR_MATCHLIMIT;
	}
	regex->steps_left -= length * square;
	return pcre2_dfa_match(regex->code, (PCRE2_SPTR)subject.ptr, subject.len, 0,
	                       PCRE2_NO_UTF_CHECK | PCRE2_DFA_SHORTEST, regex->match, regex->context,
	                       regex->workspace, WORKSPACE(regex->states));
}

int pp_regex_match(struct pp_regex *regex, struct pp_str subject, bool *matches, struct pp_error *err)
{
	int found;

	if (mend(regex, &subject, err) != 0)
		return -1;
	while ((found = attempt(regex, subject, err)) == PCRE2_ERROR_DFA_WSSIZE && regex->states < STATES_MAX)
		regex->states *= 2;
	if (found == PCRE2_ERROR_NOMEMORY)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for an expression");
	if (found < 0 && found != PCRE2_ERROR_NOMATCH)
		return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "an expression takes too many states on a name");
	*matches = found >= 0; /* 0: matched, with more ways than match data holds */
	return 0;
}
