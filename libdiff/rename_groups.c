#include "libdiff/rename_groups.h"

#include <stdlib.h>
#include <string.h>

struct pd_groups {
	unsigned rules;
	struct pp_arena *arena;
	struct pp_intern *keys;
	char *key; /* scratch */
	size_t key_n, key_capacity;
};

struct pd_groups *pd_groups_new(unsigned rules, uint64_t budget_bytes)
{
	struct pd_groups *groups = calloc(1, sizeof(*groups));
	if (!groups)
		return NULL;
	groups->rules = rules & ~(1u << PD_RULE_GO_INLINE);
	groups->arena = pp_arena_new(budget_bytes);
	groups->keys = groups->arena ? pp_intern_new(groups->arena) : NULL;
	if (groups->keys)
		return groups;
	pd_groups_free(groups);
	return NULL;
}

void pd_groups_free(struct pd_groups *groups)
{
	if (!groups)
		return;
	pp_intern_free(groups->keys);
	pp_arena_free(groups->arena);
	free(groups->key);
	free(groups);
}

/* The key of a frame's group: canonical name, file, line. */
static int make_key(struct pd_groups *groups, const struct pp_frame *frame, unsigned *applied)
{
	size_t want = PD_CANONICAL_MAX(frame->name.len) + 1 + frame->file.len + sizeof(frame->line), n;
	unsigned by_file = 0;
	if (want > groups->key_capacity) {
		char *larger = realloc(groups->key, want * 2);
		if (!larger)
			return -1;
		groups->key = larger;
		groups->key_capacity = want * 2;
	}
	n = pd_canonical(frame->name, frame->file, groups->rules, groups->key, applied);
	groups->key[n++] = '\0';
	if (groups->rules & (1u << PD_RULE_FILE)) {
		n += pd_canonical_file(frame->file, groups->rules, groups->key + n, &by_file);
	} else if (frame->file.len) {
		memcpy(groups->key + n, frame->file.ptr, frame->file.len);
		n += frame->file.len;
	}
	*applied |= by_file;
	memcpy(groups->key + n, &frame->line, sizeof(frame->line));
	groups->key_n = n + sizeof(frame->line);
	return 0;
}

int pd_groups_put(struct pd_groups *groups, const struct pp_frame *frame, uint32_t *group, unsigned *applied)
{
	*group = PP_NONE;
	*applied = 0;
	if (frame->kind != PP_FRAME_CODE || frame->name.len == 0 || groups->rules == 0)
		return 0;
	if (make_key(groups, frame, applied) != 0)
		return -1;
	*group = pp_intern_put(groups->keys, groups->key, groups->key_n, NULL);
	return *group == PP_NONE ? -1 : 0;
}

uint32_t pd_groups_count(const struct pd_groups *groups)
{
	return pp_intern_count(groups->keys);
}
