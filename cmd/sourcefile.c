#include "cmd/sourcefile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (64 << 20)
#define NAME_BYTES_MAX 4096
#define NAMES_SAID 3 /* of files that are not found */
#define ARENA_BYTES (UINT64_C(1) << 30)

struct source_files {
	const struct cli_list *folders;
	struct pp_arena *arena; /* of the names */
	struct pp_intern *names;
	struct source_file **files; /* by name */
	size_t files_n;
};

static void *no_memory(void)
{
	cli_error("no memory for source files");
	return NULL;
}

struct source_files *source_files_new(const struct cli_list *folders)
{
	struct source_files *files = calloc(1, sizeof *files);
	if (!files)
		return no_memory();
	files->folders = folders;
	files->arena = pp_arena_new(ARENA_BYTES);
	files->names = files->arena ? pp_intern_new(files->arena) : NULL;
	if (!files->names) {
		source_files_free(files);
		return no_memory();
	}
	return files;
}

void source_files_free(struct source_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->files_n; i++) {
		free(files->files[i]->path);
		free(files->files[i]->text);
		free(files->files[i]->lines);
		free(files->files[i]);
	}
	free(files->files);
	pp_intern_free(files->names);
	pp_arena_free(files->arena);
	free(files);
}

/* ---- finding ---- */

static bool is_safe(struct pp_str name)
{
	if (name.len == 0 || name.len > NAME_BYTES_MAX || memchr(name.ptr, '\0', name.len))
		return false;
	for (size_t i = 0; i + 1 < name.len; i++)
		if (name.ptr[i] == '.' && name.ptr[i + 1] == '.' && (i == 0 || name.ptr[i - 1] == '/') &&
		    (i + 2 == name.len || name.ptr[i + 2] == '/'))
			return false;
	return true;
}

/* A descriptor of a regular file, or -1. Opening does not wait for the writer of a pipe. */
static int open_regular(const char *path, size_t *bytes)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= FILE_BYTES_MAX) {
		*bytes = (size_t)status.st_size;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static char *join(const char *folder, struct pp_str name)
{
	size_t n = strlen(folder);
	char *path = malloc(n + 1 + name.len + 1);
	if (!path)
		return NULL;
	memcpy(path, folder, n);
	if (n > 0 && folder[n - 1] != '/')
		path[n++] = '/';
	memcpy(path + n, name.ptr, name.len);
	path[n + name.len] = '\0';
	return path;
}

/* Tries this end of the name in every folder. */
static int open_in_folders(const struct source_files *files, struct pp_str end, char **path, size_t *bytes)
{
	for (size_t i = 0; i < files->folders->n || i == 0; i++) {
		*path = join(files->folders->n ? files->folders->items[i] : ".", end);
		if (!*path)
			return -1;
		int fd = open_regular(*path, bytes);
		if (fd >= 0)
			return fd;
		free(*path);
		*path = NULL;
	}
	return -1;
}

static int open_source(const struct source_files *files, struct pp_str name, char **path, size_t *bytes)
{
	int fd = -1;
	*path = NULL;
	if (!is_safe(name))
		return -1;
	while (fd < 0) {
		while (name.len > 0 && *name.ptr == '/')
			name = (struct pp_str){name.ptr + 1, name.len - 1};
		if (name.len == 0)
			break;
		fd = open_in_folders(files, name, path, bytes);
		const char *slash = memchr(name.ptr, '/', name.len);
		name = slash ? (struct pp_str){slash, name.len - (size_t)(slash - name.ptr)} : (struct pp_str){NULL, 0};
	}
	return fd;
}

/* ---- reading ---- */

static bool read_text(int fd, struct source_file *file, size_t bytes, size_t *n)
{
	file->text = malloc(bytes + 1);
	*n = 0;
	while (file->text && *n < bytes) {
		ssize_t got = read(fd, file->text + *n, bytes - *n);
		if (got <= 0)
			break;
		*n += (size_t)got;
	}
	return file->text != NULL;
}

static bool index_lines(struct source_file *file, size_t n)
{
	size_t lines = 0;
	for (size_t i = 0; i < n; i++)
		lines += file->text[i] == '\n' || i == n - 1;
	file->lines = malloc((lines + 1) * sizeof *file->lines);
	if (!file->lines)
		return false;
	file->lines[0] = 0;
	for (size_t i = 0; i < n; i++)
		if (file->text[i] == '\n' || i == n - 1)
			file->lines[++file->lines_n] = i + 1;
	return true;
}

static struct source_file *read_source(const struct source_files *files, struct pp_str name)
{
	struct source_file *file = calloc(1, sizeof *file);
	size_t bytes = 0, n;
	int fd = file ? open_source(files, name, &file->path, &bytes) : -1;
	bool read = file && (fd < 0 || (read_text(fd, file, bytes, &n) && index_lines(file, n)));
	if (fd >= 0)
		close(fd);
	if (read)
		return file;
	if (file) {
		free(file->path);
		free(file->text);
	}
	free(file);
	return NULL;
}

const struct source_file *source_find(struct source_files *files, struct pp_str name)
{
	bool is_new;
	uint32_t i = pp_intern_put(files->names, name.ptr, name.len, &is_new);
	if (i == PP_NONE)
		return no_memory();
	if (is_new) {
		struct source_file **grown = realloc(files->files, (files->files_n + 1) * sizeof(struct source_file *));
		if (!grown)
			return no_memory();
		files->files = grown;
		grown[i] = read_source(files, name);
		if (!grown[i])
			return no_memory();
		files->files_n++;
	}
	return files->files[i];
}

/* A name of a file that was not found, in quotes. */
static void append_name(char *out, size_t out_n, struct pp_str name)
{
	const size_t at = strlen(out);
	snprintf(out + at, out_n - at, "%s'%.*s'", at > 0 ? ", " : "", (int)(name.len < 400 ? name.len : 400), name.ptr);
}

void source_warn_missing(const struct source_files *files)
{
	char named[4 * 420] = "";
	size_t missing = 0;
	for (size_t i = 0; i < files->files_n; i++) {
		const struct pp_str name = pp_intern_at(files->names, (uint32_t)i);
		if (name.len > 0 && !files->files[i]->path && missing++ < NAMES_SAID)
			append_name(named, sizeof named, name);
	}
	if (missing == 1)
		cli_warn("no source file %s in the folders of --source", named);
	else if (missing > 1)
		cli_warn("no source for %zu files in the folders of --source: %s%s", missing, named,
		         missing > NAMES_SAID ? ", ..." : "");
}

struct pp_str source_line(const struct source_file *file, int64_t number)
{
	if (number < 1 || (uint64_t)number > file->lines_n)
		return (struct pp_str){"", 0};
	size_t begin = file->lines[number - 1], end = file->lines[number];
	while (end > begin && (file->text[end - 1] == '\n' || file->text[end - 1] == '\r'))
		end--;
	return (struct pp_str){file->text + begin, end - begin};
}
