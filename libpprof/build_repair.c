/* Stacks and label lists whose elements changed after they were interned: those that became equal become
 * one again. */
#include <inttypes.h>
#include <stdlib.h>

#include "libpprof/arena.h"
#include "libpprof/build_private.h"
#include "libpprof/hash.h"

static int fail_memory(const struct pp_profile *p, struct pp_error *err)
{
	if (pp_arena_over(p->arena))
		return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "repairing the model needs more bytes than it may have");
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
}

static struct pp_str stack_bytes(const struct pp_profile *p, uint32_t index)
{
	const struct pp_stack *stack = &p->stacks[index];

	return (struct pp_str){(const char *)stack->locations, stack->n * sizeof(*stack->locations)};
}

static struct pp_str list_bytes(const struct pp_profile *p, uint32_t index)
{
	const struct pp_label_list *list = &p->label_lists[index];

	return (struct pp_str){(const char *)list->labels, list->n * sizeof(*list->labels)};
}

/* For each of n elements, the number of the first that is equal to it, counting distinct ones: an array
 * to be freed, or NULL. */
static uint32_t *number_distinct(const struct pp_profile *p, uint32_t n,
                                 struct pp_str (*bytes_of)(const struct pp_profile *, uint32_t),
                                 struct pp_error *err)
{
	struct pp_intern *distinct = pp_intern_new(p->arena);
	uint32_t *same = calloc((size_t)n + 1, sizeof(*same));
	bool done = distinct && same;

	for (uint32_t i = 0; done && i < n; i++) {
		struct pp_str bytes = bytes_of(p, i);

		same[i] = pp_intern_put(distinct, bytes.ptr, bytes.len, NULL);
		done = same[i] != PP_NONE;
	}
	pp_intern_free(distinct);
	if (done)
		return same;
	free(same);
	fail_memory(p, err);
	return NULL;
}

static int unite_stacks(struct pp_profile *p, struct pp_error *err)
{
	uint32_t *same = number_distinct(p, p->stacks_n, stack_bytes, err);
	uint32_t distinct_n = 0;

	if (!same)
		return -1;
	for (uint32_t i = 0; i < p->stacks_n; i++)
		if (same[i] == distinct_n) /* never beyond i: nothing is lost */
			p->stacks[distinct_n++] = p->stacks[i];
	p->stacks_n = distinct_n;
	for (uint32_t i = 0; i < p->samples_n; i++)
		p->sample_stack[i] = same[p->sample_stack[i]];
	free(same);
	return 0;
}

int pp_repair_label_lists(struct pp_profile *p, struct pp_error *err)
{
	uint32_t *same = number_distinct(p, p->label_lists_n, list_bytes, err);
	uint32_t distinct_n = 0;

	if (!same)
		return -1;
	for (uint32_t i = 0; i < p->label_lists_n; i++)
		if (same[i] == distinct_n)
			p->label_lists[distinct_n++] = p->label_lists[i];
	p->label_lists_n = distinct_n;
	for (uint32_t i = 0; i < p->samples_n; i++)
		p->sample_labels[i] = same[p->sample_labels[i]];
	free(same);
	return 0;
}

/* Cuts PP_NONE out of a stack and returns how many there were. */
static uint32_t compact_stack(struct pp_stack *stack)
{
	uint32_t *locations = (uint32_t *)(uintptr_t)stack->locations; /* the builder's own memory */
	uint32_t kept = 0, n = stack->n;

	for (uint32_t i = 0; i < n; i++)
		if (locations[i] != PP_NONE)
			locations[kept++] = locations[i];
	stack->n = kept;
	return n - kept;
}

static int cut_out(struct pp_profile *p, uint64_t *dropped, struct pp_error *err)
{
	uint32_t *missing = calloc((size_t)p->stacks_n + 1, sizeof(*missing));

	if (!missing)
		return fail_memory(p, err);
	for (uint32_t s = 0; s < p->stacks_n; s++)
		missing[s] = compact_stack(&p->stacks[s]);
	for (uint32_t i = 0; i < p->samples_n; i++)
		*dropped += missing[p->sample_stack[i]];
	free(missing);
	return unite_stacks(p, err);
}

int pp_repair_stacks(struct pp_profile *p, const uint32_t *new_index, uint64_t *dropped, struct pp_error *err)
{
	bool all_there = true;

	*dropped = 0;
	for (uint32_t s = 0; s < p->stacks_n; s++) {
		/* The memory is the builder's; only readers see it as constant. */
		uint32_t *locations = (uint32_t *)(uintptr_t)p->stacks[s].locations;

		for (uint32_t i = 0; i < p->stacks[s].n; i++) {
			locations[i] = new_index[locations[i]];
			all_there = all_there && locations[i] != PP_NONE;
		}
	}
	return all_there ? 0 : cut_out(p, dropped, err);
}
