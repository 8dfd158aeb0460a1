#include "cmd/parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES_MAX = 180 }; /* file systems take 255 */

struct parts {
	const char *dir, *what;
	struct profileout *out;
	struct pp_limits limits;
	char *folder; /* beside dir, until all is written */
	char **files; /* names within */
	size_t files_n;
	struct pp_buf index;
};

static enum cli_status failed(const char *verb, const char *path)
{
	cli_error("cannot %s '%s': %s", verb, path, strerror(errno));
	return CLI_SYSTEM;
}

static char *join(const char *folder, const char *name, const char *ending)
{
	const size_t n = strlen(folder) + strlen(name) + strlen(ending) + 2;
	char *path = malloc(n);
	if (path)
		snprintf(path, n, "%s/%s%s", folder, name, ending);
	else
		cli_no_memory();
	return path;
}

/* ---- the folder ---- */

/* A folder that is there already may hold nothing: files of another run would stand among these. */
static enum cli_status check_empty(const char *dir)
{
	DIR *there = opendir(dir);
	const struct dirent *entry;
	bool empty = true;
	if (!there)
		return errno == ENOENT ? CLI_OK : failed("open", dir);
	while ((entry = readdir(there)))
		empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	closedir(there);
	if (empty)
		return CLI_OK;
	cli_error("cannot write into '%s': the folder is not empty", dir);
	return CLI_SYSTEM;
}

/* "dir/" → "dir.XXXXXX", made. */
static enum cli_status make_folder(struct parts *parts)
{
	size_t n = strlen(parts->dir);
	while (n > 1 && parts->dir[n - 1] == '/')
		n--;
	parts->folder = malloc(n + sizeof ".XXXXXX");
	if (!parts->folder)
		return cli_no_memory();
	memcpy(parts->folder, parts->dir, n);
	memcpy(parts->folder + n, ".XXXXXX", sizeof ".XXXXXX");
	if (!mkdtemp(parts->folder)) {
		enum cli_status status = failed("make", parts->folder);
		free(parts->folder);
		parts->folder = NULL;
		return status;
	}
	const mode_t mask = umask(0);
	umask(mask);
	return chmod(parts->folder, 0777 & ~mask) == 0 ? CLI_OK : failed("make", parts->folder);
}

static enum cli_status start_index(struct parts *parts)
{
	struct pp_sink sink = pp_buf_sink(&parts->index);
	struct pp_error err = PP_ERROR_INIT;
	if (pp_sink_str(&sink, "file\t", &err) != 0 || pp_escape(&sink, pp_str_of(parts->what), 0, &err) != 0 ||
	    pp_sink_str(&sink, "\tprofiles\tsamples\ttype\tunit\tsum\n", &err) != 0)
		return cli_report(NULL, &err);
	return CLI_OK;
}

struct parts *parts_open(const char *dir, const char *what, struct profileout *out, const struct pp_limits *limits,
                         enum cli_status *status)
{
	struct parts *parts = calloc(1, sizeof *parts);
	if (!parts) {
		*status = cli_no_memory();
		return NULL;
	}
	*parts = (struct parts){.dir = dir, .what = what, .out = out, .limits = *limits, .index = PP_BUF_INIT};
	*status = check_empty(dir);
	if (*status == CLI_OK)
		*status = make_folder(parts);
	if (*status == CLI_OK)
		*status = start_index(parts);
	if (*status == CLI_OK)
		return parts;
	(void)parts_finish(parts, *status);
	return NULL;
}

static void remove_all(struct parts *parts)
{
	for (size_t i = 0; i < parts->files_n; i++) {
		char *path = join(parts->folder, parts->files[i], "");
		if (path)
			unlink(path);
		free(path);
	}
	rmdir(parts->folder);
}

static enum cli_status write_index(struct parts *parts)
{
	struct output output = OUTPUT_INIT;
	struct pp_error err = PP_ERROR_INIT;
	char *path = join(parts->folder, "index", ".tsv");
	enum cli_status status = CLI_SYSTEM;
	output.path = path;
	if (path && (status = output_open(&output, false)) == CLI_OK) {
		struct pp_sink sink = output_sink(&output);
		if (pp_sink_bytes(&sink, parts->index.bytes, parts->index.n, &err) != 0)
			status = cli_report(NULL, &err);
		status = output_finish(&output, status);
	}
	if (status == CLI_OK && rename(parts->folder, parts->dir) != 0) {
		status = failed("write", parts->dir);
		unlink(path);
	}
	free(path);
	return status;
}

enum cli_status parts_finish(struct parts *parts, enum cli_status status)
{
	if (!parts)
		return status;
	if (status == CLI_OK)
		status = write_index(parts);
	if (status != CLI_OK && parts->folder)
		remove_all(parts);
	for (size_t i = 0; i < parts->files_n; i++)
		free(parts->files[i]);
	free(parts->files);
	free(parts->folder);
	pp_buf_release(&parts->index);
	free(parts);
	return status;
}

/* ---- parts ---- */

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

char *parts_name(const char *prefix, struct pp_str value, uint32_t number)
{
	const size_t prefix_n = strlen(prefix);
	char *name = malloc(prefix_n + NAME_BYTES_MAX + 20);
	size_t n = prefix_n;
	if (!name) {
		cli_no_memory();
		return NULL;
	}
	memcpy(name, prefix, prefix_n);
	for (size_t i = 0; i < value.len; i++) {
		if (n > NAME_BYTES_MAX) {
			n += (size_t)snprintf(name + n, 16, "~%lu", (unsigned long)number);
			break;
		}
		if (is_plain(value.ptr[i]) && (n > 0 || value.ptr[i] != '.'))
			name[n++] = value.ptr[i];
		else
			n += (size_t)snprintf(name + n, 4, "%%%02X", (unsigned char)value.ptr[i]);
	}
	name[n] = '\0';
	return name;
}

/* A row a sample type, with the sum of its values. */
static int add_rows(struct parts *parts, const char *file, struct pp_str value, size_t profiles_n,
                    const struct pp_profile *p, struct pp_error *err)
{
	struct pp_sink sink = pp_buf_sink(&parts->index);
	for (uint32_t c = 0; c < p->sample_types_n; c++) {
		int64_t sum = 0;
		for (uint32_t s = 0; s < p->samples_n; s++)
			if (!pp_add_i64(sum, pp_value(p, s, c), &sum))
				return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the values add up to more than 63 bits");
		if (pp_escape(&sink, pp_str_of(file), 0, err) != 0 || pp_sink_str(&sink, "\t", err) != 0 ||
		    pp_escape(&sink, value, 0, err) != 0 ||
		    pp_sink_printf(&sink, err, "\t%zu\t%lu\t", profiles_n, (unsigned long)p->samples_n) != 0 ||
		    pp_escape(&sink, pp_sample_type_name(p, c), 0, err) != 0 || pp_sink_str(&sink, "\t", err) != 0 ||
		    pp_escape(&sink, pp_sample_type_unit(p, c), 0, err) != 0 || pp_sink_str(&sink, "\t", err) != 0 ||
		    pp_sink_i64(&sink, sum, err) != 0 || pp_sink_str(&sink, "\n", err) != 0)
			return -1;
	}
	return 0;
}

static enum cli_status remember(struct parts *parts, char *file)
{
	char **grown = file ? realloc(parts->files, (parts->files_n + 1) * sizeof *grown) : NULL;
	if (!grown) {
		free(file);
		return cli_no_memory();
	}
	parts->files = grown;
	parts->files[parts->files_n++] = file;
	return CLI_OK;
}

enum cli_status parts_add(struct parts *parts, const char *name, struct pp_str value, size_t profiles_n,
                          const struct pp_profile *profile)
{
	struct profileout one = *parts->out;
	struct pp_error err = PP_ERROR_INIT;
	char *path = join(parts->folder, name, one.raw ? ".pb" : ".pb.gz");
	enum cli_status status = path ? remember(parts, strdup(path + strlen(parts->folder) + 1)) : CLI_SYSTEM;
	if (status == CLI_OK && add_rows(parts, parts->files[parts->files_n - 1], value, profiles_n, profile, &err) != 0)
		status = cli_report(name, &err);
	one.output.path = path;
	if (status == CLI_OK)
		status = profileout_write(&one, profile, &parts->limits);
	free(path);
	return status;
}
