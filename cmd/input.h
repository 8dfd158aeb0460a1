/* Profiles from operands: files, "-", folders, "@list". The only file of the commands that opens inputs. */
#ifndef INPUT_H
#define INPUT_H

#include "cmd/cli.h"

/* Options that all readers share; INPUT_OPTIONS(&input) puts them into a command's option table. */
struct input {
	bool lenient, salvage;
	bool all_frames;  /* do not apply the profile's drop_frames and keep_frames */
	uint64_t max_raw_bytes, max_model_bytes; /* 0: default limits */
	const char *folded_type, *folded_unit;   /* NULL: samples, count */
};
#define INPUT_OPTIONS(in)                                                                                  \
	{"lenient", 0, CLI_FLAG, &(in)->lenient, NULL, "drop broken elements of a profile and count them", 0, 0, NULL}, \
	{"salvage", 0, CLI_FLAG, &(in)->salvage, NULL, "also read what is complete of a truncated profile", 0, 0, NULL}, \
	{"max-raw", 0, CLI_COUNT, &(in)->max_raw_bytes, "BYTES", "refuse inputs that unpack to more", 1, UINT64_MAX, NULL}, \
	{"max-memory", 0, CLI_COUNT, &(in)->max_model_bytes, "BYTES", "refuse profiles that need more memory", 4096, UINT64_MAX, NULL}
/* What these options say of limits: for all that a command makes of a profile, too. */
struct pp_limits input_limits(const struct input *input);
/* For commands that report on frames, beside INPUT_OPTIONS. */
#define INPUT_FRAME_OPTIONS(in)                                                                            \
	{"all-frames", 0, CLI_FLAG, &(in)->all_frames, NULL, "ignore the profile's drop_frames and keep_frames", 0, 0, NULL}

#define INPUT_SAMPLE_TYPE_OPTION(name)                                                                     \
	{"sample-type", 's', CLI_STRING, (name), "NAME", "sample type, by name or index; else the profile's default", 0, 0, NULL}
/* What a row is: int *by becomes an enum pp_granularity. */
extern const char *const input_granularities[];
#define INPUT_BY_OPTION(by)                                                                                \
	{"by", 0, CLI_CHOICE, (by), "WHAT", "what a row is", 0, 0, input_granularities}

/* Replaces folders by the files in them (regular, not hidden, not *.tsv or *.txt, which stand beside
 * profiles in a case folder; sorted bytewise, not recursive) and "@file" by the names in it, one a
 * line ("@-": stdin), which may be folders again. No operands give one "-", unless stdin is a terminal
 * (CLI_USAGE). A folder without profiles is CLI_INPUT. names are malloc'ed, for input_names_release()
 * also after a failure. Prints what fails. */
struct input_names {
	char **names;
	size_t n;
	size_t stdin_n; /* how often they take stdin: as an input, or as a list */
};
enum cli_status input_expand(const struct cli_list *operands, struct input_names *names);
/* Adds the profiles of one folder; none is no failure here. */
enum cli_status input_folder(const char *folder, struct input_names *names);
void input_names_release(struct input_names *names);
/* Stdin can be one input only: CLI_USAGE, said, when it is asked for more often; as input_expand does within one list
 * of operands. */
enum cli_status input_check_stdin(size_t times);
bool input_is_stdin(const char *name);

/* The input of a command that takes one: its operand, or "-". More than one, or none while stdin is a
 * terminal, is a mistake: CLI_USAGE, said. */
enum cli_status input_one(const struct cli_list *operands, const char **name);

/* Reads one profile ("-" is stdin), whatever its format, prunes it unless keep_all or all_frames, and
 * prints its notes as warnings. NULL, with *status, after saying what failed. origin may be NULL. */
struct pp_profile *input_load(const struct input *input, const char *name, bool keep_all,
                              struct pp_origin *origin, enum cli_status *status);

/* The same in two steps, of which the first prints nothing and may run in any thread (readahead.h). A result
 * that is not taken has its profile to be freed. */
struct input_result {
	struct pp_profile *profile; /* NULL: open_errno or err says why not */
	struct pp_origin origin;
	struct pp_error err;
	int open_errno;
};
void input_read(const struct input *input, const char *name, struct input_result *result);
struct pp_profile *input_take(const struct input *input, const char *name, bool keep_all, struct input_result *result,
                              struct pp_origin *origin, enum cli_status *status);

/* A source over an opened file, or stdin for "-". Must stay where it is while the source is in use. */
struct input_file {
	struct pp_source source;
	int fd;
};
enum cli_status input_open(const char *name, struct input_file *file);
void input_close(struct input_file *file);
/* The whole of a small text file, NUL-terminated, malloc'ed; CLI_INPUT over max_bytes. */
enum cli_status input_text(const char *name, size_t max_bytes, char **text, size_t *n);

#endif
