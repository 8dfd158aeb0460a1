#include "libpprof/tagframe.h"

#include <stdlib.h>
#include <string.h>

#include "libpprof/build_private.h"
#include "libpprof/copy.h"
#include "libpprof/hash.h"
#include "libpprof/tagfilter.h"
#include "libpprof/unit.h"

/* Keys on a command line; each puts a frame on every sample. */
enum { KEYS_MAX = 64 };

struct keys {
	struct pp_str key[KEYS_MAX];
	uint32_t string[KEYS_MAX]; /* in the new profile */
	uint32_t n;
	bool matched;
};

struct framer {
	const struct pp_profile *profile;
	struct pp_build *build;
	struct keys root, leaf;
	struct pp_arena *arena;
	struct pp_intern *made; /* key and text, of the frames that were made */
	uint32_t *location;     /* by index in made */
	size_t location_capacity;
	uint64_t next_function, next_location; /* ids */
	uint32_t *frames;       /* by label list: leaf.n + root.n locations, or PP_NONE first: not made yet */
	struct pp_buf text;
};

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for frames of labels");
}

static int split_keys(const char *text, struct keys *keys, struct pp_error *err)
{
	while (text && *text) {
		const size_t n = strcspn(text, ",");
		if (n > 0 && keys->n == KEYS_MAX)
			return pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "more than %d label keys", KEYS_MAX);
		if (n > 0)
			keys->key[keys->n++] = (struct pp_str){text, n};
		text += n + (text[n] == ',');
	}
	return 0;
}

static int add_value(struct framer *framer, const struct pp_label *label, bool first, struct pp_error *err)
{
	const struct pp_profile *p = framer->profile;
	char number[160];
	struct pp_str text;

	if (label->str != 0)
		text = pp_string(p, label->str);
	else
		text = pp_str_of(pp_unit_label(number, sizeof number, label->num, pp_string(p, label->num_unit),
		                               PP_LIT("minimum")));
	if (!first && pp_buf_append(&framer->text, ",", 1, err) != 0)
		return -1;
	return pp_buf_append(&framer->text, text.ptr, text.len, err);
}

/* The values of a key, joined, into framer->text after the key's number. */
static int join_values(struct framer *framer, const struct pp_label_list *list, struct pp_str key, bool *any,
                       struct pp_error *err)
{
	*any = false;
	for (int numbers = 0; numbers < 2; numbers++)
		for (uint32_t i = 0; i < list->n; i++) {
			const struct pp_label *label = &list->labels[i];
			if ((label->str == 0) != (numbers == 1) || !pp_label_counts(label) ||
			    !pp_str_eq(pp_string(framer->profile, label->key), key))
				continue;
			if (add_value(framer, label, !*any, err) != 0)
				return -1;
			*any = true;
		}
	return 0;
}

/* A location with one line, of a function of this name in the file `key`. */
static uint32_t make_location(struct framer *framer, uint32_t key, struct pp_str name)
{
	const struct pp_function function = {.id = framer->next_function++, .filename = key,
	                                     .name = name.len > 0 ? pp_build_string_append(framer->build, name) : 0};
	const struct pp_line line = {.function = pp_build_function(framer->build, &function)};
	const struct pp_location location = {.id = framer->next_location++, .mapping = PP_NONE};

	return pp_build_location(framer->build, &location, &line, 1);
}

static int frame_of(struct framer *framer, const struct pp_label_list *list, struct keys *keys, uint32_t k,
                    uint32_t *location, struct pp_error *err)
{
	const uint32_t key = keys->string[k];
	bool any, is_new;
	void *array = framer->location;

	framer->text.n = 0;
	if (pp_buf_append(&framer->text, &key, sizeof key, err) != 0 ||
	    join_values(framer, list, keys->key[k], &any, err) != 0)
		return -1;
	keys->matched |= any;
	const uint32_t index = pp_intern_put(framer->made, framer->text.bytes, framer->text.n, &is_new);
	if (index == PP_NONE || pp_arena_reserve(framer->arena, &array, &framer->location_capacity, (size_t)index + 1,
	                                         sizeof *framer->location) != 0)
		return no_memory(err);
	framer->location = array;
	if (is_new)
		framer->location[index] = make_location(framer, key, (struct pp_str){framer->text.bytes + sizeof key,
		                                                                     framer->text.n - sizeof key});
	*location = framer->location[index];
	return 0;
}

/* Leaf frames, then root frames, of a label list, each leaf first: the last key comes first. */
static int frames_of_list(struct framer *framer, uint32_t list, struct pp_error *err)
{
	uint32_t *out = &framer->frames[(size_t)list * (framer->leaf.n + framer->root.n)];
	struct keys *both[] = {&framer->leaf, &framer->root};

	for (size_t side = 0; side < 2; side++)
		for (uint32_t k = both[side]->n; k > 0; k--)
			if (frame_of(framer, &framer->profile->label_lists[list], both[side], k - 1, out++, err) != 0)
				return -1;
	return 0;
}

static int add_samples(struct framer *framer, struct pp_error *err)
{
	const struct pp_profile *p = framer->profile;
	const struct pp_copy same = {.profile = p};
	const size_t added = (size_t)framer->leaf.n + framer->root.n;
	struct pp_buf stack = PP_BUF_INIT;
	int status = 0;

	for (uint32_t s = 0; s < p->samples_n && status == 0 && !pp_build_error(framer->build); s++) {
		const uint32_t list = p->sample_labels[s];
		const struct pp_stack *old = pp_sample_stack(p, s);
		const uint32_t *frames = &framer->frames[list * added];
		stack.n = 0;
		if ((frames[0] == PP_NONE && frames_of_list(framer, list, err) != 0) ||
		    pp_buf_append(&stack, frames, framer->leaf.n * sizeof *frames, err) != 0 ||
		    pp_buf_append(&stack, old->locations, old->n * sizeof *frames, err) != 0 ||
		    pp_buf_append(&stack, frames + framer->leaf.n, framer->root.n * sizeof *frames, err) != 0)
			status = -1;
		else
			pp_build_sample(framer->build,
			                pp_build_stack(framer->build, (const uint32_t *)(const void *)stack.bytes,
			                               (uint32_t)(old->n + added)),
			                pp_copy_labels(framer->build, &same, s), &p->values[(size_t)s * p->sample_types_n]);
	}
	pp_buf_release(&stack);
	return status;
}

static int start(struct framer *framer, const struct pp_limits *limits, struct pp_error *err)
{
	const struct pp_profile *p = framer->profile;
	const struct pp_copy same = {.profile = p};
	const size_t frames_n = (size_t)p->label_lists_n * (framer->leaf.n + framer->root.n);

	framer->build = pp_copy_begin(&same, limits, err);
	if (!framer->build)
		return -1;
	framer->arena = pp_arena_new(limits->model_bytes);
	framer->made = framer->arena ? pp_intern_new(framer->arena) : NULL;
	framer->frames = malloc((frames_n + 1) * sizeof *framer->frames);
	if (!framer->made || !framer->frames)
		return no_memory(err);
	memset(framer->frames, 0xff, frames_n * sizeof *framer->frames);
	for (uint32_t i = 0; i < p->functions_n; i++)
		if (p->functions[i].id > framer->next_function)
			framer->next_function = p->functions[i].id;
	for (uint32_t i = 0; i < p->locations_n; i++)
		if (p->locations[i].id > framer->next_location)
			framer->next_location = p->locations[i].id;
	if (framer->next_function > UINT64_MAX - PP_NONE || framer->next_location > UINT64_MAX - PP_NONE)
		return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "no ids are left for frames of labels");
	framer->next_function++;
	framer->next_location++;
	for (uint32_t k = 0; k < framer->root.n; k++)
		framer->root.string[k] = pp_build_string_append(framer->build, framer->root.key[k]);
	for (uint32_t k = 0; k < framer->leaf.n; k++)
		framer->leaf.string[k] = pp_build_string_append(framer->build, framer->leaf.key[k]);
	return 0;
}

int pp_tagframe(const struct pp_profile *profile, const char *tagroot, const char *tagleaf,
                const struct pp_limits *limits, struct pp_unmatched *unmatched, struct pp_profile **out,
                struct pp_error *err)
{
	struct framer framer = {.profile = profile};
	int status = -1;

	*out = NULL;
	if (split_keys(tagroot, &framer.root, err) != 0 || split_keys(tagleaf, &framer.leaf, err) != 0)
		return -1;
	if (framer.root.n + framer.leaf.n == 0)
		return 0;
	if (start(&framer, limits, err) == 0 && add_samples(&framer, err) == 0) {
		*out = pp_build_finish(framer.build, err);
		status = *out ? 0 : -1;
	}
	if (framer.root.n > 0 && !framer.root.matched)
		pp_unmatched_add(unmatched, "tagroot");
	if (framer.leaf.n > 0 && !framer.leaf.matched)
		pp_unmatched_add(unmatched, "tagleaf");
	pp_build_free(framer.build);
	pp_intern_free(framer.made);
	pp_arena_free(framer.arena);
	free(framer.frames);
	pp_buf_release(&framer.text);
	return status;
}
