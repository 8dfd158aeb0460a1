#include "cmd/input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A list of names longer than this is not a list of names. */
enum { LIST_MAX_BYTES = 256 << 20 };
/* More warnings of one profile than a person reads. */
enum { NOTES_MAX = 10 };

const char *const input_granularities[] = {
	[PP_BY_FRAMES] = "frames",
	[PP_BY_FUNCTIONS] = "functions",
	[PP_BY_FILEFUNCTIONS] = "filefunctions",
	[PP_BY_FILES] = "files",
	[PP_BY_LINES] = "lines",
	[PP_BY_COLUMNS] = "columns",
	[PP_BY_ADDRESSES] = "addresses",
	[PP_BY_MAPPINGS] = "mappings",
	[PP_BY_MAPPINGS + 1] = NULL,
};

/* ---- files ---- */

static enum cli_status open_failed(const char *name)
{
	cli_error("cannot open '%s': %s", name, strerror(errno));
	return CLI_SYSTEM;
}

static int64_t read_file(void *context, void *buf, size_t n, struct pp_error *err)
{
	const struct input_file *file = context;
	for (;;) {
		ssize_t got = read(file->fd, buf, n);
		if (got >= 0)
			return got;
		if (errno != EINTR)
			return pp_fail(err, PP_EIO, PP_NO_OFFSET, "cannot read: %s", strerror(errno));
	}
}

/* Opens without a word: 0, or -1 with errno. */
static int open_input(const char *name, struct input_file *file)
{
	*file = (struct input_file){{read_file, file}, STDIN_FILENO};
	if (input_is_stdin(name))
		return 0;
	file->fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (file->fd < 0)
		return -1;
	struct stat st;
	if (fstat(file->fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		input_close(file);
		errno = EISDIR;
		return -1;
	}
	return 0;
}

enum cli_status input_open(const char *name, struct input_file *file)
{
	return open_input(name, file) == 0 ? CLI_OK : open_failed(name);
}

void input_close(struct input_file *file)
{
	if (file->fd > STDERR_FILENO)
		close(file->fd);
	file->fd = -1;
}

/* Appends what the source gives until its end; PP_ELIMIT past max_bytes. */
static int read_all(struct pp_source *source, size_t max_bytes, struct pp_buf *text, struct pp_error *err)
{
	char block[1 << 14];
	for (;;) {
		int64_t got = source->read(source->context, block, sizeof block, err);
		if (got < 0)
			return -1;
		if ((uint64_t)got > max_bytes - text->n)
			return pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "longer than %zu bytes", max_bytes);
		/* Also for 0 bytes: makes the empty text a string. */
		if (pp_buf_append(text, block, (size_t)got, err) != 0)
			return -1;
		if (got == 0)
			return 0;
	}
}

enum cli_status input_text(const char *name, size_t max_bytes, char **text, size_t *n)
{
	struct input_file file;
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status = input_open(name, &file);
	if (status != CLI_OK)
		return status;
	if (read_all(&file.source, max_bytes, &buf, &err) == 0) {
		*text = buf.bytes;
		*n = buf.n;
	} else {
		status = cli_report(name, &err);
		pp_buf_release(&buf);
	}
	input_close(&file);
	return status;
}

/* ---- names ---- */

bool input_is_stdin(const char *name)
{
	return strcmp(name, "-") == 0;
}

enum cli_status input_check_stdin(size_t times)
{
	return times > 1 ? cli_usage("stdin can be one input only, and is named more than once") : CLI_OK;
}

static enum cli_status out_of_memory(void)
{
	cli_error("out of memory");
	return CLI_SYSTEM;
}

/* Takes name over. */
static enum cli_status add_name(struct input_names *names, char *name)
{
	if (!name)
		return out_of_memory();
	/* Grows at powers of two. */
	if ((names->n & (names->n - 1)) == 0) {
		char **grown = realloc(names->names, (names->n ? names->n * 2 : 1) * sizeof *grown);
		if (!grown) {
			free(name);
			return out_of_memory();
		}
		names->names = grown;
	}
	names->names[names->n++] = name;
	names->stdin_n += input_is_stdin(name);
	return CLI_OK;
}

void input_names_release(struct input_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct input_names){NULL, 0, 0};
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t n = strlen(name), suffix_n = strlen(suffix);
	return n >= suffix_n && strcmp(name + n - suffix_n, suffix) == 0;
}

static char *join_path(const char *folder, const char *name)
{
	size_t folder_n = strlen(folder), name_n = strlen(name);
	char *path = malloc(folder_n + name_n + 2);
	if (!path)
		return NULL;
	memcpy(path, folder, folder_n);
	if (folder_n == 0 || folder[folder_n - 1] != '/')
		path[folder_n++] = '/';
	memcpy(path + folder_n, name, name_n + 1);
	return path;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum cli_status add_entry(const char *folder, const char *entry, struct input_names *names)
{
	if (entry[0] == '.' || ends_with(entry, ".tsv") || ends_with(entry, ".txt"))
		return CLI_OK;
	char *path = join_path(folder, entry);
	struct stat st;
	if (path && stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		free(path);
		return CLI_OK;
	}
	return add_name(names, path); /* one that stat cannot reach is reported when it is opened */
}

enum cli_status input_folder(const char *folder, struct input_names *names)
{
	DIR *dir = opendir(folder);
	if (!dir)
		return open_failed(folder);
	size_t first = names->n;
	enum cli_status status = CLI_OK;
	for (;;) {
		errno = 0;
		const struct dirent *entry = readdir(dir);
		if (!entry && errno != 0) {
			cli_error("cannot read '%s': %s", folder, strerror(errno));
			status = CLI_SYSTEM;
		}
		if (!entry || status != CLI_OK)
			break;
		status = add_entry(folder, entry->d_name, names);
	}
	closedir(dir);
	if (names->n > first)
		qsort(names->names + first, names->n - first, sizeof *names->names, compare_names);
	return status;
}

/* A file as it is, a folder as its profiles. */
static enum cli_status add_path(const char *path, struct input_names *names)
{
	struct stat st;
	if (input_is_stdin(path) || stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return add_name(names, strdup(path));
	size_t before = names->n;
	enum cli_status status = input_folder(path, names);
	if (status == CLI_OK && names->n == before) {
		cli_error("no profiles in the folder '%s'", path);
		status = CLI_INPUT;
	}
	return status;
}

/* The names in a list, one a line; empty lines count for nothing. */
static enum cli_status add_list(const char *list, struct input_names *names)
{
	char *text;
	size_t n;
	enum cli_status status = input_text(list, LIST_MAX_BYTES, &text, &n);
	if (status != CLI_OK)
		return status;
	names->stdin_n += input_is_stdin(list);
	if (memchr(text, '\0', n)) {
		cli_error("'%s': not a list of names: it holds a NUL byte", list);
		status = CLI_INPUT;
	}
	for (char *line = text; status == CLI_OK && line < text + n;) {
		size_t line_n = strcspn(line, "\n");
		line[line_n] = '\0';
		if (line_n > 0)
			status = add_path(line, names);
		line += line_n + 1;
	}
	free(text);
	return status;
}

/* No operand is stdin, but nobody types a profile. */
static enum cli_status check_not_terminal(void)
{
	return isatty(STDIN_FILENO) ? cli_usage("no input: name a file, or - to read the terminal") : CLI_OK;
}

enum cli_status input_expand(const struct cli_list *operands, struct input_names *names)
{
	enum cli_status status = CLI_OK;
	*names = (struct input_names){NULL, 0, 0};
	if (operands->n == 0) {
		status = check_not_terminal();
		return status == CLI_OK ? add_name(names, strdup("-")) : status;
	}
	for (size_t i = 0; status == CLI_OK && i < operands->n; i++) {
		const char *operand = operands->items[i];
		status = operand[0] == '@' ? add_list(operand + 1, names) : add_path(operand, names);
	}
	return status == CLI_OK ? input_check_stdin(names->stdin_n) : status;
}

enum cli_status input_one(const struct cli_list *operands, const char **name)
{
	if (operands->n > 1)
		return cli_usage("one profile at a time, and '%s' is a second one", operands->items[1]);
	*name = operands->n == 1 ? operands->items[0] : "-";
	return operands->n == 1 ? CLI_OK : check_not_terminal();
}

/* ---- profiles ---- */

static void print_notes(const char *name, const struct pp_profile *profile)
{
	for (uint32_t i = 0; i < profile->notes_n && i < NOTES_MAX; i++) {
		const struct pp_note *note = &profile->notes[i];
		char at[40] = "", times[40] = "";
		if (note->offset != PP_NO_OFFSET)
			snprintf(at, sizeof at, "byte %llu: ", (unsigned long long)note->offset);
		if (note->count > 1)
			snprintf(times, sizeof times, " (%llu times)", (unsigned long long)note->count);
		cli_warn("'%s': %s%s%s", name, at, note->text, times);
	}
	if (profile->notes_n > NOTES_MAX)
		cli_warn("'%s': and %lu more kinds of notes", name, (unsigned long)(profile->notes_n - NOTES_MAX));
}

/* Replaces *profile by what its drop_frames and keep_frames leave. */
static int prune(struct pp_profile **profile, const struct pp_limits *limits, const char *name, struct pp_error *err)
{
	char warning[400];
	struct pp_profile *pruned;
	if (pp_prune(*profile, limits, &pruned, warning, sizeof warning, err) != 0)
		return -1;
	if (warning[0])
		cli_warn("'%s': %s", name, warning);
	if (pruned) {
		pp_profile_free(*profile);
		*profile = pruned;
	}
	return 0;
}

struct pp_limits input_limits(const struct input *input)
{
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	if (input->max_raw_bytes)
		limits.raw_bytes = input->max_raw_bytes;
	if (input->max_model_bytes)
		limits.model_bytes = input->max_model_bytes;
	return limits;
}

void input_read(const struct input *input, const char *name, struct input_result *result)
{
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	struct input_file file;
	options.strictness = input->salvage ? PP_SALVAGE : input->lenient ? PP_LENIENT : PP_STRICT;
	options.limits = input_limits(input);
	options.folded_type = input->folded_type;
	options.folded_unit = input->folded_unit;

	*result = (struct input_result){.err = PP_ERROR_INIT};
	if (open_input(name, &file) != 0) {
		result->open_errno = errno;
		return;
	}
	result->profile = pp_load(&file.source, &options, &result->origin, &result->err);
	input_close(&file);
}

struct pp_profile *input_take(const struct input *input, const char *name, bool keep_all, struct input_result *result,
                              struct pp_origin *origin, enum cli_status *status)
{
	const struct pp_limits limits = input_limits(input);
	struct pp_profile *profile = result->profile;
	result->profile = NULL;
	*status = CLI_OK;
	if (result->open_errno) {
		errno = result->open_errno;
		*status = open_failed(name);
		return NULL;
	}
	if (profile) {
		if (origin)
			*origin = result->origin;
		print_notes(name, profile);
		if (keep_all || input->all_frames || prune(&profile, &limits, name, &result->err) == 0)
			return profile;
		pp_profile_free(profile);
	}
	*status = cli_report(name, &result->err);
	return NULL;
}

struct pp_profile *input_load(const struct input *input, const char *name, bool keep_all,
                              struct pp_origin *origin, enum cli_status *status)
{
	struct input_result result;
	input_read(input, name, &result);
	return input_take(input, name, keep_all, &result, origin, status);
}
