#include <string.h>

#include "libpprof/samples_private.h"

static int no_memory(const struct pp_text_frames *frames, struct pp_error *err)
{
	return frames->arena && pp_arena_over(frames->arena)
	               ? pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "the frames need more memory than is allowed")
	               : pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for frames");
}

int pp_text_frames_init(struct pp_text_frames *frames, struct pp_build *build, const struct pp_limits *limits,
                        struct pp_error *err)
{
	*frames = (struct pp_text_frames){.build = build, .depth_max = limits->depth};
	frames->arena = pp_arena_new(limits->model_bytes);
	if (!frames->arena)
		return no_memory(frames, err);
	frames->texts = pp_intern_new(frames->arena);
	frames->functions = pp_intern_new(frames->arena);
	frames->locations = pp_intern_new(frames->arena);
	return frames->texts && frames->functions && frames->locations ? 0 : no_memory(frames, err);
}

void pp_text_frames_release(struct pp_text_frames *frames)
{
	pp_intern_free(frames->texts);
	pp_intern_free(frames->functions);
	pp_intern_free(frames->locations);
	pp_arena_free(frames->arena);
}

/* Equal bytes are one string of the builder, so indices stand for names. */
static int location_of(struct pp_text_frames *frames, const struct pp_text_frame *frame, uint32_t *location,
                       struct pp_error *err)
{
	struct pp_function function = {.name = pp_build_string(frames->build, frame->name),
	                               .filename = pp_build_string(frames->build, frame->file)};
	uint32_t function_key[2] = {function.name, function.filename};
	bool is_new;

	uint32_t f = pp_intern_put(frames->functions, function_key, sizeof(function_key), &is_new);
	if (f == PP_NONE)
		return no_memory(frames, err);
	if (is_new)
		(void)pp_build_function(frames->build, &function);
	int64_t location_key[2] = {f, frame->line};
	*location = pp_intern_put(frames->locations, location_key, sizeof(location_key), &is_new);
	if (*location == PP_NONE)
		return no_memory(frames, err);
	struct pp_location made = {.mapping = PP_NONE};
	struct pp_line line = {.function = f, .line = frame->line};
	if (is_new)
		(void)pp_build_location(frames->build, &made, &line, 1);
	return 0;
}

static int frame_location(struct pp_text_frames *frames, char *text, size_t n, pp_text_frame_parser *parse,
                          uint32_t *location, struct pp_error *err)
{
	bool is_new;
	void *grown = frames->location_of_text;
	uint32_t index = pp_intern_put(frames->texts, text, n, &is_new);
	if (index == PP_NONE || pp_arena_reserve(frames->arena, &grown, &frames->texts_capacity, (size_t)index + 1,
	                                         sizeof(*frames->location_of_text)) < 0)
		return no_memory(frames, err);
	frames->location_of_text = grown;
	if (is_new) {
		struct pp_text_frame frame = {{"", 0}, {"", 0}, 0};
		if (parse(text, n, &frame, err) < 0 || location_of(frames, &frame, location, err) < 0)
			return -1;
		frames->location_of_text[index] = *location;
	}
	*location = frames->location_of_text[index];
	return 0;
}

int pp_text_stack(struct pp_text_frames *frames, char *text, size_t n, pp_text_frame_parser *parse,
                  uint32_t *stack, struct pp_error *err)
{
	size_t depth = 0;
	/* From the end: stacks are leaf first. */
	for (size_t end = n; n > 0;) {
		size_t begin = end;
		void *grown = frames->stack;
		while (begin > 0 && text[begin - 1] != ';')
			begin--;
		if (depth >= frames->depth_max)
			return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "a stack of more than %u frames", (unsigned)frames->depth_max);
		if (pp_arena_reserve(frames->arena, &grown, &frames->stack_capacity, depth + 1, sizeof(*frames->stack)) < 0)
			return no_memory(frames, err);
		frames->stack = grown;
		if (frame_location(frames, text + begin, end - begin, parse, &frames->stack[depth++], err) < 0)
			return -1;
		if (begin == 0)
			break;
		end = begin - 1;
	}
	*stack = pp_build_stack(frames->build, frames->stack, (uint32_t)depth);
	return 0;
}
