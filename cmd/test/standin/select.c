#include "cmd/test/standin/select.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct scanner {
	const char *text, *at;
	struct pp_arena *arena;
	char *why;
};

static bool refuse(struct scanner *s, const char *at, const char *what)
{
	snprintf(s->why, 256, "1:%zu: parse error: %.200s", (size_t)(at - s->text) + 1, what);
	return false;
}

static void skip_space(struct scanner *s)
{
	for (;;) {
		s->at += strspn(s->at, " \t\r\n");
		if (*s->at != '#')
			return;
		s->at += strcspn(s->at, "\n");
	}
}

static bool is_name(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

static size_t name_length(const char *at)
{
	size_t n = 0;

	while (is_name(at[n], n == 0))
		n++;
	return n;
}

/* A quoted string; in backquotes nothing is escaped. */
static bool scan_string(struct scanner *s, struct pp_str *out)
{
	char quote = *s->at, text[4096];
	size_t n = 0;

	for (s->at++; *s->at && *s->at != quote; s->at++) {
		char c = *s->at;
		if (c == '\\' && quote != '`' && s->at[1]) {
			c = *++s->at;
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
		}
		if (n == sizeof(text))
			return refuse(s, s->at, "string too long");
		text[n++] = c;
	}
	if (!*s->at)
		return refuse(s, s->at, "unterminated quoted string");
	s->at++;
	*out = (struct pp_str){pp_arena_copy(s->arena, text, n), n};
	return out->ptr || refuse(s, s->at, "no memory");
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

static bool scan_name(struct scanner *s, struct pp_str *name)
{
	size_t n = name_length(s->at);

	if (is_quote(*s->at))
		return scan_string(s, name);
	if (n == 0)
		return refuse(s, s->at, *s->at ? "unexpected character in label matching, expected identifier or \"}\""
		                               : "unexpected end of input inside braces");
	*name = (struct pp_str){pp_arena_copy(s->arena, s->at, n), n};
	s->at += n;
	return name->ptr || refuse(s, s->at, "no memory");
}

static bool scan_op(struct scanner *s, enum si_op *op)
{
	static const char *const texts[] = {"=~", "!~", "!=", "="};
	static const enum si_op ops[] = {SI_MATCH, SI_NOT_MATCH, SI_NOT_EQUAL, SI_EQUAL};

	for (size_t i = 0; i < PP_COUNT(texts); i++)
		if (strncmp(s->at, texts[i], strlen(texts[i])) == 0) {
			*op = ops[i];
			s->at += strlen(texts[i]);
			return true;
		}
	return refuse(s, s->at, "unexpected character in label matching, expected label matching operator");
}

static bool scan_matcher(struct scanner *s, struct si_matcher *m)
{
	struct pp_error err = PP_ERROR_INIT;
	char what[200];

	if (!scan_name(s, &m->name))
		return false;
	skip_space(s);
	if (!scan_op(s, &m->op))
		return false;
	skip_space(s);
	if (!is_quote(*s->at)) {
		size_t n = name_length(s->at);
		snprintf(what, sizeof(what), "unexpected identifier \"%.*s\" in label matching, expected string", (int)n, s->at);
		return refuse(s, s->at, n > 0 ? what : "unexpected character in label matching, expected string");
	}
	if (!scan_string(s, &m->value))
		return false;
	if (m->op == SI_MATCH || m->op == SI_NOT_MATCH) {
		m->regex = pp_regex_new(m->value, true, &err);
		if (!m->regex)
			return refuse(s, s->at, err.text);
	}
	return true;
}

bool si_selector_add(struct si_selector *selector, const char *text, struct pp_arena *arena, char why[256])
{
	struct scanner s = {.text = text, .at = text, .arena = arena, .why = why};

	skip_space(&s);
	if (!*s.at) {
		snprintf(why, 256, "unknown position: parse error: unexpected end of input");
		return false;
	}
	if (*s.at != '{')
		return refuse(&s, s.at, "unexpected character, expected \"{\"");
	s.at++;
	for (skip_space(&s); *s.at != '}'; skip_space(&s)) {
		if (selector->n == SI_MATCHERS_MAX)
			return refuse(&s, s.at, "too many matchers");
		struct si_matcher *m = &selector->matchers[selector->n++];
		*m = (struct si_matcher){.op = SI_EQUAL};
		if (!scan_matcher(&s, m))
			return false;
		skip_space(&s);
		if (*s.at == ',')
			s.at++;
		else if (*s.at != '}')
			return refuse(&s, s.at, *s.at ? "unexpected character in label matching, expected \",\" or \"}\""
			                              : "unexpected end of input inside braces");
	}
	s.at++;
	skip_space(&s);
	return !*s.at || refuse(&s, s.at, "unexpected text after the selector");
}

void si_selector_release(struct si_selector *selector)
{
	for (size_t i = 0; i < selector->n; i++)
		pp_regex_free(selector->matchers[i].regex);
	selector->n = 0;
}

static bool matches(const struct si_matcher *m, struct pp_str value)
{
	struct pp_error err = PP_ERROR_INIT;
	bool yes = false;

	switch (m->op) {
	case SI_EQUAL:
		return pp_str_eq(m->value, value);
	case SI_NOT_EQUAL:
		return !pp_str_eq(m->value, value);
	default:
		return pp_regex_match(m->regex, value, &yes, &err) == 0 && yes == (m->op == SI_MATCH);
	}
}

bool si_selects(const struct si_selector *selector, const struct si_row *row)
{
	for (size_t i = 0; i < selector->n; i++)
		if (!matches(&selector->matchers[i], si_label_of(row, selector->matchers[i].name)))
			return false;
	return true;
}

/* ---- scope ---- */

/* Ids compare without dashes, in either case. */
static bool same_id(const char *a, struct pp_str b)
{
	size_t k = 0;

	for (; *a; a++) {
		if (*a == '-')
			continue;
		while (k < b.len && b.ptr[k] == '-')
			k++;
		if (k == b.len || strncasecmp(a, b.ptr + k, 1) != 0)
			return false;
		k++;
	}
	return k == b.len;
}

static bool one_of(char *const *ids, size_t n, struct pp_str id)
{
	for (size_t i = 0; i < n; i++)
		if (same_id(ids[i], id))
			return true;
	return n == 0;
}

bool si_in_scope(const struct si_scope *scope, const struct si_row *row)
{
	const struct si_push *push = row->push;

	return pp_str_eq(push->tenant, scope->tenant) && push->time_ms >= scope->from_ms && push->time_ms <= scope->to_ms &&
	       (scope->type.len == 0 || pp_str_eq(scope->type, row->type)) &&
	       one_of(scope->profile_ids, scope->profile_ids_n, push->id) && si_selects(scope->selector, row);
}

/* Whether the stack begins, at its root, with these functions. */
static bool begins_with(const struct pp_profile *p, const struct pp_stack *stack, char *const *callers, size_t n)
{
	size_t have = 0;

	for (uint32_t l = stack->n; l-- > 0 && have < n;) {
		const struct pp_location *location = &p->locations[stack->locations[l]];
		for (uint32_t i = location->lines_n; i-- > 0 && have < n;) {
			const struct pp_function *f = &p->functions[p->lines[location->line_first + i].function];
			if (!pp_str_eq(pp_string(p, f->name), pp_str_of(callers[have])))
				return false;
			have++;
		}
	}
	return have == n;
}

bool si_sample_in_scope(const struct si_scope *scope, const struct pp_profile *profile, uint32_t sample)
{
	return (scope->span_ids_n == 0 ||
	        one_of(scope->span_ids, scope->span_ids_n, si_sample_label(profile, sample, "span_id"))) &&
	       (scope->trace_ids_n == 0 ||
	        one_of(scope->trace_ids, scope->trace_ids_n, si_sample_label(profile, sample, "trace_id"))) &&
	       (scope->callers_n == 0 ||
	        begins_with(profile, pp_sample_stack(profile, sample), scope->callers, scope->callers_n));
}

int64_t si_row_value(const struct si_scope *scope, const struct si_row *row, bool *any)
{
	int64_t sum = 0;

	if (any)
		*any = false;
	for (uint32_t i = 0; i < row->samples_n; i++)
		if (si_sample_in_scope(scope, row->push->profile, row->samples[i])) {
			sum += pp_value(row->push->profile, row->samples[i], row->column);
			if (any)
				*any = true;
		}
	return sum;
}
