/* What the writer and the reader of the samples view, and folded stacks, share. */
#ifndef PP_SAMPLES_PRIVATE_H
#define PP_SAMPLES_PRIVATE_H

#include "libpprof/build.h"
#include "libpprof/hash.h"

/* The names of columns: "label:KEY", "numlabel:KEY:UNIT", "stack"; anything else is "TYPE:UNIT". */
#define PP_SAMPLES_LABEL "label:"
#define PP_SAMPLES_NUMLABEL "numlabel:"
#define PP_SAMPLES_STACK "stack"

/* More columns of labels than this are refused: with them the view would be mostly empty fields. */
#define PP_SAMPLES_LABELS_MAX 4096
/* And of all columns, when reading. */
#define PP_SAMPLES_COLUMNS_MAX 65536
/* Frames of one stack in text, inlined ones included: few locations that share many lines would make
 * endless text of a small profile. */
#define PP_TEXT_FRAMES_MAX 1000000

/* Refuses (PP_ELIMIT) a stack of more than PP_TEXT_FRAMES_MAX frames. */
int pp_check_text_frames(const struct pp_profile *profile, const struct pp_stack *stack, struct pp_error *err);

/* Takes "function (file:line)" apart: returns the length of the function, and *file_n, the length of the
 * file that begins two bytes behind it; n when the text does not end so. */
size_t pp_frame_place(const char *text, size_t n, size_t *file_n);

/* Locations made of frames that are only text: a function for each name and file, a location for each
 * function and line, made on first use. */
struct pp_text_frames {
	struct pp_build *build;
	struct pp_arena *arena;
	struct pp_intern *texts, *functions, *locations;
	uint32_t *location_of_text;
	size_t texts_capacity;
	uint32_t *stack; /* scratch */
	size_t stack_capacity;
	uint32_t depth_max;
};

struct pp_text_frame {
	struct pp_str name, file;
	int64_t line;
};

/* Reads one frame; may change the text, into which *frame may point. */
typedef int pp_text_frame_parser(char *text, size_t n, struct pp_text_frame *frame, struct pp_error *err);

int pp_text_frames_init(struct pp_text_frames *frames, struct pp_build *build, const struct pp_limits *limits,
                        struct pp_error *err) PP_MUSTUSE;
void pp_text_frames_release(struct pp_text_frames *frames);

/* The stack of frames joined by ';', root first; the empty text is the empty stack. A failure of the
 * builder sticks to it and gives PP_NONE in *stack. */
int pp_text_stack(struct pp_text_frames *frames, char *text, size_t n, pp_text_frame_parser *parse,
                  uint32_t *stack, struct pp_error *err) PP_MUSTUSE;

#endif
