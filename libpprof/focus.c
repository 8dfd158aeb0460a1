#include "libpprof/focus.h"

#include <stdlib.h>
#include <string.h>

#include "libpprof/copy.h"
#include "libpprof/regex.h"

/* One expression, asked once a string. */
struct matcher {
	const struct pp_profile *profile;
	struct pp_regex *regex; /* NULL: the option is not set */
	signed char *known;     /* by string: -1 not asked yet */
};

struct filter {
	const struct pp_profile *profile;
	struct matcher focus, ignore, hide, show, show_from;
	unsigned char *line_gone, *location_gone, *stack_gone;
	enum { PLAIN, FOCUSED, IGNORED } *verdict; /* by location */
	unsigned char *from; /* by location: show_from matches */
	uint32_t *root_gone;
};

void pp_unmatched_add(struct pp_unmatched *unmatched, const char *option)
{
	if (unmatched->n < PP_COUNT(unmatched->option))
		unmatched->option[unmatched->n++] = option;
}

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to filter a profile");
}

static int open_matcher(struct matcher *matcher, const struct pp_profile *profile, const char *pattern,
                        struct pp_error *err)
{
	matcher->profile = profile;
	if (!pattern || !*pattern)
		return 0;
	matcher->regex = pp_regex_new(pp_str_of(pattern), false, err);
	if (!matcher->regex)
		return -1;
	matcher->known = malloc((size_t)profile->strings_n + 1);
	if (!matcher->known)
		return no_memory(err);
	memset(matcher->known, -1, profile->strings_n);
	return 0;
}

static void close_matcher(struct matcher *matcher)
{
	pp_regex_free(matcher->regex);
	free(matcher->known);
}

static int match_string(struct matcher *matcher, uint32_t string, bool *matches, struct pp_error *err)
{
	if (matcher->known[string] < 0) {
		if (pp_regex_match(matcher->regex, pp_string(matcher->profile, string), matches, err) != 0)
			return -1;
		matcher->known[string] = *matches;
	}
	*matches = matcher->known[string] != 0;
	return 0;
}

static int match_line(struct matcher *matcher, uint32_t line, bool *matches, struct pp_error *err)
{
	const uint32_t function = matcher->profile->lines[line].function;

	*matches = false;
	if (function == PP_NONE)
		return 0;
	if (match_string(matcher, matcher->profile->functions[function].name, matches, err) != 0)
		return -1;
	return *matches ? 0 : match_string(matcher, matcher->profile->functions[function].filename, matches, err);
}

static int match_binary(struct matcher *matcher, const struct pp_location *location, bool *matches,
                        struct pp_error *err)
{
	*matches = false;
	if (location->mapping == PP_NONE)
		return 0;
	return match_string(matcher, matcher->profile->mappings[location->mapping].filename, matches, err);
}

static int match_location(struct matcher *matcher, const struct pp_location *location, bool *matches,
                          struct pp_error *err)
{
	*matches = false;
	for (uint32_t i = 0; i < location->lines_n && !*matches; i++)
		if (match_line(matcher, location->line_first + i, matches, err) != 0)
			return -1;
	return *matches ? 0 : match_binary(matcher, location, matches, err);
}

static int judge(struct filter *filter, uint32_t l, struct pp_error *err)
{
	const struct pp_location *location = &filter->profile->locations[l];
	bool matches = false;

	if (filter->ignore.regex && match_location(&filter->ignore, location, &matches, err) != 0)
		return -1;
	if (matches) {
		filter->verdict[l] = IGNORED;
		return 0;
	}
	if (filter->focus.regex && match_location(&filter->focus, location, &matches, err) != 0)
		return -1;
	filter->verdict[l] = matches || !filter->focus.regex ? FOCUSED : PLAIN;
	return 0;
}

/* The function of a line is known. Lines without one are neither hidden nor kept back. */
static bool has_function(const struct filter *filter, uint32_t line)
{
	return filter->profile->lines[line].function != PP_NONE;
}

/* Takes lines out that match (hide) or that do not (show); *touched tells whether the option had an effect
 * worth the name, *left how many lines remain. */
static int thin(struct filter *filter, struct matcher *matcher, bool hide, uint32_t l, bool *touched,
                struct pp_error *err)
{
	const struct pp_location *location = &filter->profile->locations[l];
	bool binary, line;
	uint32_t left = 0, gone = 0;

	if (match_binary(matcher, location, &binary, err) != 0)
		return -1;
	for (uint32_t i = location->line_first; i < location->line_first + location->lines_n; i++) {
		if (filter->line_gone[i])
			continue;
		if (match_line(matcher, i, &line, err) != 0)
			return -1;
		if (hide ? binary || line : !binary && !line && has_function(filter, i)) {
			filter->line_gone[i] = 1;
			gone++;
		} else {
			left++;
		}
	}
	const bool hit = hide ? gone > 0 || binary : left > 0;
	*touched |= hit;
	/* A location that hide does not touch may have had no lines to begin with. */
	if (left == 0 && (hit || !hide))
		filter->location_gone[l] = 1;
	return 0;
}

static int judge_all(struct filter *filter, struct pp_unmatched *unmatched, struct pp_error *err)
{
	bool focused = false, ignored = false, hidden = false, shown = false;

	for (uint32_t l = 0; l < filter->profile->locations_n; l++) {
		if (judge(filter, l, err) != 0 ||
		    (filter->hide.regex && thin(filter, &filter->hide, true, l, &hidden, err) != 0) ||
		    (filter->show.regex && thin(filter, &filter->show, false, l, &shown, err) != 0))
			return -1;
		focused |= filter->verdict[l] == FOCUSED;
		ignored |= filter->verdict[l] == IGNORED;
	}
	if (filter->focus.regex && !focused)
		pp_unmatched_add(unmatched, "focus");
	if (filter->ignore.regex && !ignored)
		pp_unmatched_add(unmatched, "ignore");
	if (filter->hide.regex && !hidden)
		pp_unmatched_add(unmatched, "hide");
	if (filter->show.regex && !shown)
		pp_unmatched_add(unmatched, "show");
	return 0;
}

/* Of a location that matches by a line, the lines around that one go. */
static int show_from(struct filter *filter, struct pp_unmatched *unmatched, struct pp_error *err)
{
	bool any = false, matches;

	for (uint32_t l = 0; l < filter->profile->locations_n; l++) {
		const struct pp_location *location = &filter->profile->locations[l];
		uint32_t i = location->line_first + location->lines_n;
		if (match_binary(&filter->show_from, location, &matches, err) != 0)
			return -1;
		while (!matches && i-- > location->line_first)
			if (!filter->line_gone[i] && match_line(&filter->show_from, i, &matches, err) != 0)
				return -1;
		if (!matches)
			continue;
		filter->from[l] = 1;
		any = true;
		if (i < location->line_first + location->lines_n)
			memset(filter->line_gone + i + 1, 1, location->line_first + location->lines_n - i - 1);
	}
	if (!any)
		pp_unmatched_add(unmatched, "show-from");
	return 0;
}

static bool focused_and_not_ignored(const struct filter *filter, const struct pp_stack *stack)
{
	bool focused = false;

	for (uint32_t i = 0; i < stack->n; i++) {
		if (filter->verdict[stack->locations[i]] == IGNORED)
			return false;
		focused |= filter->verdict[stack->locations[i]] == FOCUSED;
	}
	return focused;
}

static bool by_names(const struct filter *filter)
{
	return filter->focus.regex || filter->ignore.regex || filter->hide.regex || filter->show.regex;
}

/* Decides over a stack: false when it goes. */
static bool keep_stack(struct filter *filter, uint32_t s)
{
	const struct pp_stack *stack = &filter->profile->stacks[s];
	uint32_t left = 0, i = stack->n;

	if (by_names(filter) && !focused_and_not_ignored(filter, stack))
		return false;
	if (filter->show_from.regex) {
		while (i > 0 && (filter->location_gone[stack->locations[i - 1]] || !filter->from[stack->locations[i - 1]]))
			i--;
		filter->root_gone[s] = stack->n - i;
		if (i == 0)
			return false;
	}
	for (uint32_t k = 0; k < i; k++)
		left += !filter->location_gone[stack->locations[k]];
	return left > 0;
}

static int open_filter(struct filter *filter, const struct pp_focus *focus, struct pp_error *err)
{
	const struct pp_profile *p = filter->profile;

	if (open_matcher(&filter->focus, p, focus->focus, err) != 0 ||
	    open_matcher(&filter->ignore, p, focus->ignore, err) != 0 ||
	    open_matcher(&filter->hide, p, focus->hide, err) != 0 ||
	    open_matcher(&filter->show, p, focus->show, err) != 0 ||
	    open_matcher(&filter->show_from, p, focus->show_from, err) != 0)
		return -1;
	filter->line_gone = calloc((size_t)p->lines_n + 1, 1);
	filter->location_gone = calloc((size_t)p->locations_n + 1, 1);
	filter->stack_gone = calloc((size_t)p->stacks_n + 1, 1);
	filter->verdict = calloc((size_t)p->locations_n + 1, sizeof *filter->verdict);
	filter->from = calloc((size_t)p->locations_n + 1, 1);
	filter->root_gone = calloc((size_t)p->stacks_n + 1, sizeof *filter->root_gone);
	if (!filter->line_gone || !filter->location_gone || !filter->stack_gone || !filter->verdict ||
	    !filter->from || !filter->root_gone)
		return no_memory(err);
	return 0;
}

static void close_filter(struct filter *filter)
{
	close_matcher(&filter->focus);
	close_matcher(&filter->ignore);
	close_matcher(&filter->hide);
	close_matcher(&filter->show);
	close_matcher(&filter->show_from);
	free(filter->line_gone);
	free(filter->location_gone);
	free(filter->stack_gone);
	free(filter->verdict);
	free(filter->from);
	free(filter->root_gone);
}

int pp_focus(const struct pp_profile *profile, const struct pp_focus *focus, const struct pp_limits *limits,
             struct pp_unmatched *unmatched, struct pp_profile **out, struct pp_error *err)
{
	struct filter filter = {.profile = profile};
	int status = -1;

	*out = NULL;
	if (open_filter(&filter, focus, err) != 0)
		goto done;
	status = 0;
	if (!by_names(&filter) && !filter.show_from.regex)
		goto done;
	status = -1;
	if ((by_names(&filter) && judge_all(&filter, unmatched, err) != 0) ||
	    (filter.show_from.regex && show_from(&filter, unmatched, err) != 0))
		goto done;
	for (uint32_t s = 0; s < profile->stacks_n; s++)
		filter.stack_gone[s] = !keep_stack(&filter, s);
	const struct pp_copy copy = {.profile = profile, .line_gone = filter.line_gone,
	                             .location_gone = filter.location_gone, .root_gone = filter.root_gone,
	                             .stack_gone = filter.stack_gone};
	*out = pp_copy_make(&copy, limits, err);
	status = *out ? 0 : -1;
done:
	close_filter(&filter);
	return status;
}
