#include "libpprof/legacy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct pp_legacy *l)
{
	return pp_arena_over(l->arena)
	               ? pp_fail(l->err, PP_ELIMIT, PP_NO_OFFSET, "the profile needs more memory than is allowed")
	               : pp_fail(l->err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a profile");
}

int pp_legacy_room(struct pp_legacy *l, void *array_pointer, size_t *room, size_t want, size_t element_bytes)
{
	void *array;
	if (want <= *room)
		return 0;
	memcpy(&array, array_pointer, sizeof(array));
	if (pp_arena_reserve(l->arena, &array, room, want, element_bytes) < 0)
		return no_memory(l);
	memcpy(array_pointer, &array, sizeof(array));
	return 0;
}

struct pp_str pp_legacy_copy(struct pp_legacy *l, struct pp_str text)
{
	struct pp_str copy = {pp_arena_copy(l->arena, text.ptr, text.len), text.len};
	if (!copy.ptr)
		no_memory(l);
	return copy;
}

/* ---- what is collected ---- */

static uint32_t string(struct pp_legacy *l, const char *text)
{
	return pp_build_string(l->build, pp_str_of(text));
}

void pp_legacy_types(struct pp_legacy *l, const char *const (*types)[2], uint32_t n)
{
	l->values_n = n;
	for (uint32_t i = 0; i < n; i++)
		(void)pp_build_sample_type(l->build, (struct pp_value_type){string(l, types[i][0]), string(l, types[i][1])});
}

void pp_legacy_period(struct pp_legacy *l, const char *type, const char *unit, int64_t period)
{
	struct pp_profile *p = pp_build_profile(l->build);
	p->period_type = (struct pp_value_type){string(l, type), string(l, unit)};
	p->period = period;
}

int pp_legacy_frame(struct pp_legacy *l, uint64_t address, bool after_call)
{
	/* In a symbolized file addresses may be mere numbers, of which neighbours have nothing in common. */
	const uint64_t key[2] = {address - after_call, l->symbols && after_call};
	bool is_new;
	uint32_t i = pp_intern_put(l->addresses, key, sizeof(key), &is_new);
	if (i == PP_NONE)
		return no_memory(l);
	if (pp_legacy_room(l, &l->locations, &l->locations_room, (size_t)i + 1, sizeof(*l->locations)) < 0 ||
	    pp_legacy_room(l, &l->stacks, &l->stacks_room, l->stacks_n + 1, sizeof(*l->stacks)) < 0)
		return -1;
	if (is_new)
		l->locations[i] = (struct pp_legacy_location){.address = key[0], .is_call = after_call,
		                                              .mapping = PP_NONE, .index = PP_NONE};
	if (l->depth >= l->options->limits.depth)
		return pp_fail(l->err, PP_ELIMIT, l->line_offset, "a stack of more than %u frames",
		               (unsigned)l->options->limits.depth);
	l->stacks[l->stacks_n++] = i;
	l->depth++;
	return 0;
}

int pp_legacy_frames(struct pp_legacy *l, struct pp_str text, bool leaf_after_call)
{
	while (text.len > 1) {
		const char *x = memchr(text.ptr + 1, 'x', text.len - 1);
		if (!x)
			break;
		struct pp_str rest = {x + 1, text.len - (size_t)(x + 1 - text.ptr)};
		struct pp_str digits = rest;
		uint64_t address;
		if (x[-1] == '0' && pp_take_hex(&rest, &address)) {
			if (pp_legacy_frame(l, address, l->depth > 0 || leaf_after_call) < 0)
				return -1;
		} else if (x[-1] == '0' && digits.len >= 16 && strspn(digits.ptr, "0123456789abcdefABCDEF") > 16) {
			pp_legacy_forget(l);
			return pp_legacy_bad_line(l, "an address of more than 64 bits") < 0 ? -1 : 1;
		}
		text = rest;
	}
	return 0;
}

void pp_legacy_forget(struct pp_legacy *l)
{
	l->stacks_n -= l->depth;
	l->depth = 0;
}

int pp_legacy_sample(struct pp_legacy *l, const int64_t *values, const int64_t *block_bytes)
{
	if (l->samples_n >= l->options->limits.samples)
		return pp_fail(l->err, PP_ELIMIT, PP_NO_OFFSET, "more than %u samples", (unsigned)l->options->limits.samples);
	if (pp_legacy_room(l, &l->samples, &l->samples_room, l->samples_n + 1, sizeof(*l->samples)) < 0)
		return -1;
	struct pp_legacy_sample *sample = &l->samples[l->samples_n++];
	*sample = (struct pp_legacy_sample){.first = l->stacks_n - l->depth, .n = (uint32_t)l->depth,
	                                    .has_block_bytes = block_bytes != NULL,
	                                    .block_bytes = block_bytes ? *block_bytes : 0};
	memcpy(sample->values, values, l->values_n * sizeof(*values));
	l->depth = 0;
	return 0;
}

int pp_legacy_symbolize(struct pp_legacy *l, struct pp_legacy_location *location, const struct pp_line *lines,
                        uint32_t n)
{
	if (pp_legacy_room(l, &l->source_lines, &l->source_lines_room, l->source_lines_n + n, sizeof(*lines)) < 0)
		return -1;
	memcpy(l->source_lines + l->source_lines_n, lines, n * sizeof(*lines));
	location->line_first = l->source_lines_n;
	location->lines_n = n;
	l->source_lines_n += n;
	return 0;
}

int pp_legacy_unsample(struct pp_legacy *l, int64_t rate, int64_t *objects, int64_t *bytes)
{
	if (*objects == 0 || *bytes == 0) {
		*objects = *bytes = 0;
		return 0;
	}
	if (rate <= 1)
		return 0;
	double mean = (double)*bytes / (double)*objects;
	double scale = 1 / (1 - exp(-mean / (double)rate));
	double scaled[2] = {(double)*objects * scale, (double)*bytes * scale};
	for (int i = 0; i < 2; i++)
		if (!(fabs(scaled[i]) < 0x1p63))
			return pp_legacy_fail(l, PP_EOVERFLOW, "the memory that this stands for does not fit 64 bits");
	*objects = (int64_t)scaled[0];
	*bytes = (int64_t)scaled[1];
	return 0;
}

/* ---- frames of the profiler itself ---- */

static void remove_second_frame(const struct pp_legacy *l, struct pp_legacy_sample *sample)
{
	uint32_t *stack = l->stacks + sample->first;
	memmove(stack + 1, stack + 2, (sample->n - 2) * sizeof(*stack));
	sample->n--;
}

/* The address that most samples have behind their leaf; PP_NONE without samples of two frames. */
static uint32_t likely_second_frame(const struct pp_legacy *l)
{
	uint32_t candidate = PP_NONE;
	size_t votes = 0;
	for (size_t i = 0; i < l->samples_n; i++) {
		if (l->samples[i].n < 2)
			continue;
		uint32_t second = l->stacks[l->samples[i].first + 1];
		if (votes == 0)
			candidate = second;
		if (second == candidate)
			votes++;
		else
			votes--;
	}
	return candidate;
}

/* A handler of the signal that samples leaves a frame between the leaf, which comes from the registers, and
 * its caller. It is there in nearly all samples (one in 32 may be otherwise), up to twice. */
static void remove_handler_frames(const struct pp_legacy *l)
{
	for (int round = 0; round < 2; round++) {
		uint32_t handler = likely_second_frame(l);
		size_t n = 0;
		for (size_t i = 0; i < l->samples_n; i++)
			n += l->samples[i].n > 1 && l->stacks[l->samples[i].first + 1] == handler;
		if (n == 0 || n < l->samples_n - l->samples_n / 32)
			return;
		for (size_t i = 0; i < l->samples_n; i++)
			if (l->samples[i].n > 1 && l->stacks[l->samples[i].first + 1] == handler)
				remove_second_frame(l, &l->samples[i]);
	}
}

/* The leaf is in some stacks twice: from the registers and, as if it were behind a call, from unwinding. */
static void remove_repeated_leaves(const struct pp_legacy *l)
{
	for (size_t i = 0; i < l->samples_n; i++) {
		const uint32_t *stack = l->stacks + l->samples[i].first;
		if (l->samples[i].n > 1 && l->locations[stack[0]].address == l->locations[stack[1]].address + 1)
			remove_second_frame(l, &l->samples[i]);
	}
}

/* ---- making the profile ---- */

static void number_locations(const struct pp_legacy *l, uint32_t *order, uint32_t *n)
{
	*n = 0;
	for (size_t i = 0; i < l->samples_n; i++)
		for (uint32_t k = 0; k < l->samples[i].n; k++) {
			uint32_t at = l->stacks[l->samples[i].first + k];
			if (l->locations[at].index != PP_NONE)
				continue;
			l->locations[at].index = *n;
			order[(*n)++] = at;
		}
}

static void build_mappings(const struct pp_legacy *l)
{
	for (size_t i = 0; i < l->mappings_n; i++) {
		const struct pp_legacy_mapping *m = &l->mappings[i];
		struct pp_mapping mapping = {.start = m->start, .limit = m->limit, .offset = m->offset,
		                             .filename = pp_build_string(l->build, m->file),
		                             .build_id = pp_build_string(l->build, m->build_id),
		                             .has_functions = m->named_n > 0 && m->unnamed_n == 0};
		mapping.has_filenames = mapping.has_line_numbers = mapping.has_functions && l->comments;
		(void)pp_build_mapping(l->build, &mapping);
	}
}

static void build_locations(const struct pp_legacy *l, const uint32_t *order, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct pp_legacy_location *from = &l->locations[order[i]];
		struct pp_location location = {.mapping = from->mapping, .address = l->has_addresses ? from->address : 0};
		(void)pp_build_location(l->build, &location, l->source_lines + from->line_first, from->lines_n);
	}
}

static void build_samples(const struct pp_legacy *l)
{
	uint32_t bytes = string((struct pp_legacy *)(uintptr_t)l, "bytes");
	for (size_t i = 0; i < l->samples_n; i++) {
		const struct pp_legacy_sample *sample = &l->samples[i];
		struct pp_label label = {.key = bytes, .num = sample->block_bytes};
		for (uint32_t k = 0; k < sample->n; k++)
			l->stacks[sample->first + k] = l->locations[l->stacks[sample->first + k]].index;
		uint32_t stack = pp_build_stack(l->build, l->stacks + sample->first, sample->n);
		uint32_t labels = sample->has_block_bytes ? pp_build_label_list(l->build, &label, 1) : sample->label_list;
		(void)pp_build_sample(l->build, stack, labels, sample->values);
	}
}

static int build(struct pp_legacy *l)
{
	uint32_t *order = pp_arena_alloc(l->arena, ((size_t)pp_intern_count(l->addresses) + 1) * sizeof(*order)), n;
	if (!order)
		return no_memory(l);
	if ((l->symbols && pp_legacy_apply_symbols(l) < 0) || (l->comments && pp_legacy_apply_comments(l) < 0))
		return -1;
	if (l->may_hold_handler)
		remove_handler_frames(l);
	number_locations(l, order, &n);
	if (pp_legacy_assign_mappings(l) < 0 || pp_legacy_frame_rules(l) < 0)
		return -1;
	if (l->may_repeat_leaf)
		remove_repeated_leaves(l);
	build_mappings(l);
	build_locations(l, order, n);
	build_samples(l);
	return 0;
}

/* ---- reading ---- */

static int read_format(struct pp_legacy *l, enum pp_format format)
{
	switch (format) {
	case PP_FORMAT_CPU: return pp_legacy_cpu(l);
	case PP_FORMAT_HEAP: return pp_legacy_heap(l);
	case PP_FORMAT_JEMALLOC: return pp_legacy_jemalloc(l);
	case PP_FORMAT_COUNT: return pp_legacy_count(l);
	case PP_FORMAT_THREADS: return pp_legacy_threads(l);
	case PP_FORMAT_CONTENTION: return pp_legacy_contention(l);
	case PP_FORMAT_JAVA: return pp_legacy_java(l);
	default:
		return pp_fail(l->err, PP_EFORMAT, pp_legacy_offset(l),
		               "is not a legacy profile behind a head of symbols");
	}
}

static int read_all(struct pp_legacy *l, enum pp_format format, struct pp_source *source)
{
	l->build = pp_build_new(&l->options->limits, l->err);
	l->arena = pp_arena_new(l->options->limits.model_bytes);
	if (!l->build || !l->arena)
		return pp_fail(l->err, PP_ENOMEM, PP_NO_OFFSET, "no memory to read a profile");
	l->addresses = pp_intern_new(l->arena);
	if (!l->addresses)
		return no_memory(l);
	if (pp_legacy_open(l, source) < 0)
		return -1;
	if (format == PP_FORMAT_SYMBOLIZED && pp_legacy_symbol_head(l, &format) < 0)
		return -1;
	return read_format(l, format) < 0 || build(l) < 0 ? -1 : 0;
}

struct pp_profile *pp_legacy_read(enum pp_format format, struct pp_source *source,
                                  const struct pp_read_options *options, struct pp_error *err)
{
	struct pp_legacy l = {.options = options, .err = err, .has_addresses = true};
	struct pp_profile *profile = NULL;

	if (read_all(&l, format, source) == 0 || (l.build && pp_build_error(l.build)))
		profile = pp_build_finish(l.build, err);
	pp_legacy_close(&l);
	if (l.symbols)
		pp_intern_free(l.symbols->addresses);
	if (l.comments) {
		pp_intern_free(l.comments->addresses);
		pp_intern_free(l.comments->functions);
	}
	pp_intern_free(l.addresses);
	pp_arena_free(l.arena);
	pp_build_free(l.build);
	return profile;
}
