#include "libpprof/prune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/build_private.h"
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

/* Tables are copied as they are, so that every index but those of lines stays what it was. */
static void copy_tables(struct pp_build *build, const struct pruner *pruner)
{
	const struct pp_profile *p = pruner->profile;
	struct pp_profile *to = pp_build_profile(build);

	for (uint32_t i = 0; i < p->strings_n; i++)
		pp_build_string_append(build, p->strings[i]);
	for (uint32_t i = 0; i < p->sample_types_n; i++)
		pp_build_sample_type(build, p->sample_types[i]);
	for (uint32_t i = 0; i < p->mappings_n; i++)
		pp_build_mapping(build, &p->mappings[i]);
	for (uint32_t i = 0; i < p->functions_n; i++)
		pp_build_function(build, &p->functions[i]);
	for (uint32_t i = 0; i < p->locations_n; i++) {
		const struct pp_location *l = &p->locations[i];
		const uint32_t gone = pruner->first_kept[i];
		pp_build_location(build, l, l->lines_n > 0 ? &p->lines[l->line_first + gone] : NULL, l->lines_n - gone);
	}
	for (uint32_t i = 0; i < p->comments_n; i++)
		if (pp_build_comment(build, p->comments[i]) != 0)
			return;
	to->drop_frames = p->drop_frames;
	to->keep_frames = p->keep_frames;
	to->time_ns = p->time_ns;
	to->duration_ns = p->duration_ns;
	to->period_type = p->period_type;
	to->period = p->period;
	to->default_sample_type = p->default_sample_type;
	to->doc_url = p->doc_url;
}

/* Unknown fields of lines stay with their lines; those of lines that went go too. */
static void copy_unknowns(struct pp_build *build, const struct pruner *pruner)
{
	const struct pp_profile *p = pruner->profile;
	uint32_t location = 0, gone = 0; /* lines that went, in locations up to this one */

	for (uint32_t i = 0; i < p->unknowns_n; i++) {
		const struct pp_unknown *u = &p->unknowns[i];
		uint32_t index = u->index;
		if (u->record == PP_RECORD_LINE) {
			const struct pp_location *l = &p->locations[location];
			while (l->line_first + l->lines_n <= index) {
				gone += pruner->first_kept[location];
				l = &p->locations[++location];
			}
			if (index < l->line_first + pruner->first_kept[location])
				continue;
			index -= gone + pruner->first_kept[location];
		}
		if (pp_build_unknown(build, u->record, index, u->label, u->bytes) != 0)
			return;
	}
}

static int copy_samples(struct pp_build *build, const struct pruner *pruner, struct pp_error *err)
{
	const struct pp_profile *p = pruner->profile;
	uint32_t *stacks = malloc(((size_t)p->stacks_n + 1) * sizeof *stacks);

	if (!stacks)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to prune %u stacks", p->stacks_n);
	for (uint32_t s = 0; s < p->stacks_n; s++) {
		const uint32_t gone = leaves_to_cut(pruner, &p->stacks[s]);
		stacks[s] = pp_build_stack(build, p->stacks[s].locations + gone, p->stacks[s].n - gone);
	}
	for (uint32_t s = 0; s < p->samples_n && !pp_build_error(build); s++) {
		const struct pp_label_list *labels = pp_sample_labels(p, s);
		pp_build_sample(build, stacks[p->sample_stack[s]], pp_build_label_list(build, labels->labels, labels->n),
		                &p->values[(size_t)s * p->sample_types_n]);
	}
	free(stacks);
	return 0;
}

static struct pp_profile *copy_pruned(const struct pruner *pruner, const struct pp_limits *limits,
                                      struct pp_error *err)
{
	struct pp_build *build = pp_build_new(limits, err);
	struct pp_profile *made = NULL;

	if (!build)
		return NULL;
	copy_tables(build, pruner);
	copy_unknowns(build, pruner);
	if (copy_samples(build, pruner, err) == 0)
		made = pp_build_finish(build, err);
	pp_build_free(build);
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

int pp_prune(const struct pp_profile *profile, const struct pp_limits *limits, struct pp_profile **out,
             char *warning, size_t warning_n, struct pp_error *err)
{
	struct pruner pruner = {.profile = profile};
	struct pp_profile *made = NULL;
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
	pruner.cuts = calloc((size_t)profile->locations_n + 1, sizeof *pruner.cuts);
	pruner.first_kept = calloc((size_t)profile->locations_n + 1, sizeof *pruner.first_kept);
	pruner.matched = malloc((size_t)profile->functions_n + 1);
	if (!pruner.cuts || !pruner.first_kept || !pruner.matched) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to prune a profile");
		goto done;
	}
	memset(pruner.matched, -1, profile->functions_n);
	if (cut_locations(&pruner, &any, err) != 0)
		goto done;
	if (any) {
		made = copy_pruned(&pruner, limits, err);
		if (!made)
			goto done;
	}
	*out = made;
	status = 0;
done:
	pp_regex_free(pruner.drop);
	pp_regex_free(pruner.keep);
	free(pruner.cuts);
	free(pruner.first_kept);
	free(pruner.matched);
	return status;
}
