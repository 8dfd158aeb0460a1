#include "libpprof/prune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/copy.h"
#include "libpprof/regex.h"
#include "libpprof/sink.h"

/* What happens at a location: nothing; its inner lines go, with all that they call; all of it goes. */
enum cut { CUT_NOT, CUT_BELOW, CUT_ALL };

struct pruner {
	const struct pp_profile *profile;
	struct pp_regex *drop, *keep;
	enum cut *cuts;       /* by location */
	uint32_t *first_kept; /* by location: the first line that stays, within the location */
	signed char *matched; /* by function: -1 not asked yet */
	uint32_t *leaf_gone;  /* by stack: locations that go at its leaf */
};

static bool starts_with(struct pp_str s, size_t at, struct pp_str part)
{
	return s.len - at >= part.len && memcmp(s.ptr + at, part.ptr, part.len) == 0;
}

static const struct pp_str anonymous = {"(anonymous namespace)", 21};

/* A name without its argument list: cut at the first "(" that is not part of the name itself. */
static struct pp_str without_arguments(struct pp_str name)
{
	if (name.len > 0 && name.ptr[0] == '.')
		name = (struct pp_str){name.ptr + 1, name.len - 1};
	for (size_t i = 0; i < name.len; i++) {
		if (starts_with(name, i, anonymous))
			i += anonymous.len - 1;
		else if (starts_with(name, i, PP_LIT("operator()")))
			i += sizeof "operator()" - 2;
		else if (name.ptr[i] == '(')
			return (struct pp_str){name.ptr, i};
	}
	return name;
}

/* Expressions are written with the names in mind: "(anonymous namespace)" means those brackets, and
 * is not the group that it would be otherwise, which matches no name. */
static struct pp_regex *compile(struct pp_str pattern, struct pp_error *err)
{
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_regex *regex = NULL;
	int bad = 0;

	for (size_t i = 0; i < pattern.len && !bad; i++) {
		const bool escaped = i > 0 && pattern.ptr[i - 1] == '\\';
		if (escaped || !starts_with(pattern, i, anonymous)) {
			bad = pp_buf_append(&buf, pattern.ptr + i, 1, err);
			continue;
		}
		bad = pp_buf_append(&buf, "\\(anonymous namespace\\)", anonymous.len + 2, err);
		i += anonymous.len - 1;
	}
	if (!bad)
		regex = pp_regex_new((struct pp_str){buf.n > 0 ? buf.bytes : "", buf.n}, true, err);
	pp_buf_release(&buf);
	return regex;
}

static int function_matches(struct pruner *pruner, uint32_t function, bool *matches, struct pp_error *err)
{
	const struct pp_str name = pp_string(pruner->profile, pruner->profile->functions[function].name);
	bool kept = false;

	if (pruner->matched[function] < 0) {
		const struct pp_str simple = without_arguments(name);
		bool found = false;
		if (name.len > 0 && pp_regex_match(pruner->drop, simple, &found, err) != 0)
			return -1;
		if (found && pruner->keep && pp_regex_match(pruner->keep, simple, &kept, err) != 0)
			return -1;
		pruner->matched[function] = found && !kept;
	}
	*matches = pruner->matched[function] != 0;
	return 0;
}

/* Finds the outermost matching line of every location; *any tells whether there is one at all. */
static int cut_locations(struct pruner *pruner, bool *any, struct pp_error *err)
{
	const struct pp_profile *p = pruner->profile;

	*any = false;
	for (uint32_t l = 0; l < p->locations_n; l++) {
		const struct pp_location *location = &p->locations[l];
		for (uint32_t i = location->lines_n; i > 0; i--) {
			const uint32_t function = p->lines[location->line_first + i - 1].function;
			bool matches = false;
			if (function != PP_NONE && function_matches(pruner, function, &matches, err) != 0)
				return -1;
			if (!matches)
				continue;
			pruner->cuts[l] = i == location->lines_n ? CUT_ALL : CUT_BELOW;
			pruner->first_kept[l] = i == location->lines_n ? 0 : i;
			*any = true;
			break;
		}
	}
	return 0;
}

/* How many leaf-side locations of a stack go: none before the first user frame was seen. */
static uint32_t leaves_to_cut(const struct pruner *pruner, const struct pp_stack *stack)
{
	bool user = false;

	for (uint32_t i = stack->n; i > 0; i--) {
		const enum cut cut = pruner->cuts[stack->locations[i - 1]];
		if (cut == CUT_NOT)
			user = true;
		else if (user)
			return cut == CUT_ALL ? i : i - 1;
	}
	return 0;
}

/* A copy without what is cut. */
static struct pp_profile *copy_pruned(const struct pruner *pruner, const struct pp_limits *limits,
                                      struct pp_error *err)
{
	const struct pp_profile *p = pruner->profile;
	unsigned char *line_gone = calloc((size_t)p->lines_n + 1, 1);
	const struct pp_copy copy = {.profile = p, .line_gone = line_gone, .leaf_gone = pruner->leaf_gone};
	struct pp_profile *made = NULL;

	if (!line_gone) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to prune a profile");
		return NULL;
	}
	for (uint32_t l = 0; l < p->locations_n; l++)
		memset(line_gone + p->locations[l].line_first, 1, pruner->first_kept[l]);
	made = pp_copy_make(&copy, limits, err);
	free(line_gone);
	return made;
}

/* Compiles the profile's expressions. A bad one prunes nothing, and becomes the warning. */
static int compile_both(struct pruner *pruner, char *warning, size_t warning_n, struct pp_error *err)
{
	const struct pp_profile *p = pruner->profile;
	struct pp_error bad = PP_ERROR_INIT;
	const char *field = "drop_frames";

	pruner->drop = compile(pp_string(p, p->drop_frames), &bad);
	if (pruner->drop && p->keep_frames != 0) {
		field = "keep_frames";
		pruner->keep = compile(pp_string(p, p->keep_frames), &bad);
	}
	if (bad.code == PP_EUSAGE) {
		snprintf(warning, warning_n, "%s is not applied: %s", field, bad.text);
		return 0;
	}
	return bad.code == PP_OK ? 0 : pp_fail(err, bad.code, bad.offset, "%s", bad.text);
}

static int allocate(struct pruner *pruner, struct pp_error *err)
{
	const struct pp_profile *p = pruner->profile;

	pruner->cuts = calloc((size_t)p->locations_n + 1, sizeof *pruner->cuts);
	pruner->first_kept = calloc((size_t)p->locations_n + 1, sizeof *pruner->first_kept);
	pruner->matched = malloc((size_t)p->functions_n + 1);
	pruner->leaf_gone = calloc((size_t)p->stacks_n + 1, sizeof *pruner->leaf_gone);
	if (!pruner->cuts || !pruner->first_kept || !pruner->matched || !pruner->leaf_gone)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to prune a profile");
	memset(pruner->matched, -1, p->functions_n);
	return 0;
}

static void release(struct pruner *pruner)
{
	pp_regex_free(pruner->drop);
	pp_regex_free(pruner->keep);
	free(pruner->cuts);
	free(pruner->first_kept);
	free(pruner->matched);
	free(pruner->leaf_gone);
}

int pp_prune(const struct pp_profile *profile, const struct pp_limits *limits, struct pp_profile **out,
             char *warning, size_t warning_n, struct pp_error *err)
{
	struct pruner pruner = {.profile = profile};
	bool any = false;
	int status = -1;

	warning[0] = '\0';
	*out = NULL;
	if (profile->drop_frames == 0 || pp_string(profile, profile->drop_frames).len == 0)
		return 0;
	if (compile_both(&pruner, warning, warning_n, err) != 0)
		goto done;
	if (warning[0] != '\0') {
		status = 0;
		goto done;
	}
	if (allocate(&pruner, err) != 0 || cut_locations(&pruner, &any, err) != 0)
		goto done;
	for (uint32_t s = 0; s < profile->stacks_n; s++)
		pruner.leaf_gone[s] = leaves_to_cut(&pruner, &profile->stacks[s]);
	status = 0;
	if (any) {
		*out = copy_pruned(&pruner, limits, err);
		status = *out ? 0 : -1;
	}
done:
	release(&pruner);
	return status;
}

/* Finds the innermost matching line of every location: it stays, with the lines around it. */
static int cut_inner_lines(struct pruner *pruner, bool *any, struct pp_error *err)
{
	const struct pp_profile *p = pruner->profile;

	for (uint32_t l = 0; l < p->locations_n; l++) {
		const struct pp_location *location = &p->locations[l];
		for (uint32_t i = 0; i < location->lines_n && pruner->cuts[l] == CUT_NOT; i++) {
			const uint32_t function = p->lines[location->line_first + i].function;
			bool matches = false;
			if (function != PP_NONE && function_matches(pruner, function, &matches, err) != 0)
				return -1;
			if (!matches)
				continue;
			pruner->cuts[l] = CUT_BELOW;
			pruner->first_kept[l] = i;
			*any = true;
		}
	}
	return 0;
}

int pp_prune_from(const struct pp_profile *profile, struct pp_str pattern, const struct pp_limits *limits,
                  struct pp_profile **out, struct pp_error *err)
{
	struct pruner pruner = {.profile = profile};
	bool any = false;
	int status = -1;

	*out = NULL;
	pruner.drop = pp_regex_new(pattern, false, err);
	if (!pruner.drop || allocate(&pruner, err) != 0 || cut_inner_lines(&pruner, &any, err) != 0)
		goto done;
	for (uint32_t s = 0; s < profile->stacks_n; s++) {
		const struct pp_stack *stack = &profile->stacks[s];
		uint32_t i = 0;
		while (i < stack->n && pruner.cuts[stack->locations[i]] == CUT_NOT)
			i++;
		pruner.leaf_gone[s] = i < stack->n ? i : 0;
	}
	status = 0;
	if (any) {
		*out = copy_pruned(&pruner, limits, err);
		status = *out ? 0 : -1;
	}
done:
	release(&pruner);
	return status;
}
