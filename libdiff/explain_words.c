/* What a cause is called: its path from the root, and the frames that carry it. */
#include "libdiff/explain_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHAIN_MAX 12       /* frames of a mechanism */
#define CHAIN_SHARE 0.5    /* of the rise: two frames with more than half of it each share stacks, so they nest */
#define BESIDE_MAX 4       /* frames shown where none has half */
#define MENTION_SHARE 0.15 /* of the rise: a single frame below this is no mechanism */

const char *ex_words(struct pp_arena *arena, const char *format, ...)
{
	va_list args, again;

	va_start(args, format);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, args);
	char *text = n < 0 ? NULL : pp_arena_alloc(arena, (size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, format, again);
	va_end(again);
	va_end(args);
	return text;
}

int ex_frame_cmp(const struct pd_explain *ex, uint32_t a, uint32_t b)
{
	int order = strcmp(ex->frames[a].name, ex->frames[b].name);

	return order ? order : strcmp(ex->frames[a].file, ex->frames[b].file);
}

static uint32_t context_depth(const struct pd_explain *ex, uint32_t context)
{
	uint32_t depth = 0;

	for (; context != PP_NONE; context = ex->contexts[context].parent)
		depth++;
	return depth;
}

int ex_context_cmp(const struct pd_explain *ex, uint32_t a, uint32_t b)
{
	uint32_t depth_a = context_depth(ex, a), depth_b = context_depth(ex, b);
	int order = 0;

	if (depth_a != depth_b)
		return depth_a < depth_b ? -1 : 1;
	/* Leaf to root: the difference nearest the root is seen last and decides. */
	for (; a != b; a = ex->contexts[a].parent, b = ex->contexts[b].parent) {
		int here = ex_frame_cmp(ex, ex->contexts[a].frame, ex->contexts[b].frame);
		if (here)
			order = here;
	}
	return order;
}

/* The context of a frame whose cost rose most, or PP_NONE. */
static uint32_t risen_context(const struct pd_explain *ex, uint32_t frame, double scale)
{
	uint32_t best = PP_NONE;
	double most = 0;

	for (uint32_t c = 0; c < ex->contexts_n; c++) {
		if (ex->contexts[c].frame != frame)
			continue;
		if (ex->contexts[c].value[0] == 0 && ex->contexts[c].value[1] == 0)
			continue;
		double rise = ex->contexts[c].value[1] - scale * ex->contexts[c].value[0];
		if (best == PP_NONE || rise > most || (rise == most && ex_context_cmp(ex, c, best) < 0))
			best = c, most = rise;
	}
	return best;
}

/* Appends text at the front of what begins at *at; room is the caller's care. */
static void prepend(char **at, const char *text)
{
	size_t n = strlen(text);

	*at -= n;
	memcpy(*at, text, n);
}

const char *ex_path(const struct pd_explain *ex, uint32_t frame, double scale, struct pp_arena *arena)
{
	uint32_t context = risen_context(ex, frame, scale);
	size_t n = 1;

	if (context == PP_NONE)
		return NULL;
	for (uint32_t c = context; c != PP_NONE; c = ex->contexts[c].parent)
		n += strlen(ex->frames[ex->contexts[c].frame].name) + 1;
	char *text = pp_arena_alloc(arena, n), *at = text ? text + n - 1 : NULL;
	if (!text)
		return NULL;
	*at = '\0';
	for (uint32_t c = context; c != PP_NONE; c = ex->contexts[c].parent) {
		if (c != context)
			prepend(&at, ";");
		prepend(&at, ex->frames[ex->contexts[c].frame].name);
	}
	return at;
}

/* A frame below a location and the change that passes it. */
struct link {
	uint32_t frame;
	double rise, depth;
};

/* Inserts into the list of the largest rises. */
static void keep_link(const struct pd_explain *ex, struct link *links, size_t *n, struct link link)
{
	size_t at = *n;

	while (at > 0 && (link.rise > links[at - 1].rise || (link.rise == links[at - 1].rise &&
	                                                     (link.depth < links[at - 1].depth ||
	                                                      (link.depth == links[at - 1].depth &&
	                                                       ex_frame_cmp(ex, link.frame, links[at - 1].frame) < 0)))))
		at--;
	if (at == CHAIN_MAX)
		return;
	if (*n < CHAIN_MAX)
		(*n)++;
	memmove(links + at + 1, links + at, (*n - at - 1) * sizeof(*links));
	links[at] = link;
}

static void sort_by_depth(const struct pd_explain *ex, struct link *links, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct link link = links[i];
		size_t at = i;
		while (at > 0 && (link.depth < links[at - 1].depth || (link.depth == links[at - 1].depth &&
		                                                       ex_frame_cmp(ex, link.frame, links[at - 1].frame) < 0)))
			links[at] = links[at - 1], at--;
		links[at] = link;
	}
}

const char *ex_mechanism(const struct pd_explain *ex, const struct ex_group *group, double scale, struct pp_arena *arena)
{
	struct link links[CHAIN_MAX];
	size_t n = 0, kept = 0, bytes = 1;
	bool pseudo = group->frame < EX_PSEUDO_N;

	for (size_t b = 0; b < ex->below_n; b++) {
		const struct ex_below *below = &ex->below[b];
		if (below->owner != group->frame && below->owner != group->renamed_from)
			continue;
		double rise = below->value[1] - scale * below->value[0], all = below->value[0] + below->value[1];
		if (rise > 0 && all > 0 && (!pseudo || group->frame == EX_FRAMELESS || ex->frames[below->frame].class_ == PD_FRAME_COLLECTOR))
			keep_link(ex, links, &n, (struct link){below->frame, rise, below->depth / all});
	}
	while (kept < n && links[kept].rise >= CHAIN_SHARE * group->rise)
		kept++;
	if (kept == 0 || pseudo) /* side by side, not nested: the largest few */
		for (kept = 0; kept < n && kept < BESIDE_MAX && links[kept].rise >= MENTION_SHARE * group->rise;)
			kept++;
	if (kept == 0)
		return NULL;
	if (!pseudo)
		sort_by_depth(ex, links, kept);
	for (size_t i = 0; i < kept; i++)
		bytes += strlen(ex->frames[links[i].frame].name) + 1;
	char *text = pp_arena_alloc(arena, bytes), *at = text ? text + bytes - 1 : NULL;
	if (!text)
		return NULL;
	*at = '\0';
	for (size_t i = kept; i-- > 0;) {
		prepend(&at, ex->frames[links[i].frame].name);
		if (i > 0)
			prepend(&at, ";");
	}
	return at;
}
