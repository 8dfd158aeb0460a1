#include "cmd/fetch/casework.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/fetch/lists.h"

#define REPLICAS_MAX 200 /* --max-replicas */
#define NAME_MAX_BYTES 180

/* One file. */
struct case_job {
	struct casework *work;
	struct case_side *side;
	struct export export;
	struct provenance provenance;
	struct series_coverage coverage;
	double sum;                /* of the points of this replica and slice */
	char *path, *selector;
	bool there;                /* nothing has to be asked: the file is there, or the slice holds nothing */
};

/* ---- names ---- */

/* Appends a name as a part of a file name: letters, digits and ".-_" stay, all else is "_"; not hidden. */
static size_t append_plain(char *out, size_t n, size_t room, const char *name)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";

	for (size_t i = 0; name[i] && n + 1 < room; i++)
		out[n++] = strchr(plain, name[i]) && !(i == 0 && name[i] == '.') ? name[i] : '_';
	out[n] = '\0';
	return n;
}

static bool is_as_it_is(const char *name)
{
	char plain[NAME_MAX_BYTES + 1];

	return append_plain(plain, 0, sizeof(plain), name) == strlen(name) && strcmp(plain, name) == 0;
}

/* "shop-1.cpu.pb.gz", with slices "shop-1.s03.cpu.pb.gz". A name that had to be changed gets its number, so that two never
 * meet in one file. */
static void file_name(char *out, size_t room, const struct replicas *replicas, size_t index, uint32_t slice, const char *type)
{
	const char *name = replicas->label ? replicas_name(replicas, index) : "all";
	struct pp_str lens = type_part(type, 1);
	char part[80];
	size_t n = append_plain(out, 0, NAME_MAX_BYTES, *name ? name : "none");

	if (*name && !is_as_it_is(name))
		n += (size_t)snprintf(out + n, room - n, ".%zu", index + 1);
	if (replicas->slices > 1)
		n += (size_t)snprintf(out + n, room - n, ".s%02u", slice + 1);
	snprintf(part, sizeof(part), ".%.*s", lens.len < 60 ? (int)lens.len : 60, lens.ptr);
	n += (size_t)snprintf(out + n, room - n, ".");
	n = append_plain(out, n, room - 8, part + 1);
	snprintf(out + n, room - n, ".pb.gz");
}

static char *path_of(const char *folder, const char *side, const char *file)
{
	size_t n = strlen(folder) + strlen(side) + strlen(file) + 3;
	char *path = malloc(n);

	if (path)
		snprintf(path, n, "%s/%s%s%s", folder, side, *file ? "/" : "", file);
	return path;
}

static enum cli_status make_folder(const char *folder, const char *side)
{
	char *path = path_of(folder, side, "");
	enum cli_status status = path ? CLI_OK : cli_no_memory();

	if (path && mkdir(path, 0777) != 0 && errno != EEXIST) {
		cli_error("cannot make '%s': %s", path, strerror(errno));
		status = CLI_SYSTEM;
	}
	free(path);
	return status;
}

/* ---- the label that is kept ---- */

static enum cli_status find_values(struct casework *work, struct case_side *side)
{
	const char *label = work->options->keep_label;
	Pyro__LabelValuesRequest request;
	struct rpc_call call = {.method = "LabelValues", .request = &request.base, .response = &pyro__label_values_response__descriptor};
	char *selector = rpc_text(side->question.selector);
	struct lists lists;

	pyro__label_values_request__init(&request);
	request.name = rpc_text(label);
	request.n_matchers = 1;
	request.matchers = &selector;
	request.start = side->question.window.from_ms;
	request.end = side->question.window.to_ms;
	enum cli_status status = lists_ask(&work->server, &call, &request.start, &request.end, &lists);
	size_t n = 0;
	char **names = status == CLI_OK ? lists_names(&lists, &n) : NULL;
	side->keep_values = names ? calloc(n + 1, sizeof(*side->keep_values)) : NULL;
	if (status == CLI_OK && !side->keep_values)
		status = cli_no_memory();
	for (size_t i = 0; status == CLI_OK && i <= n; i++) {
		side->keep_values[i] = strdup(i < n ? names[i] : "");
		side->keep_values_n++;
		if (!side->keep_values[i])
			status = cli_no_memory();
	}
	if (status == CLI_OK && n == 0)
		cli_warn("no values of the label '%s' in %s", label, side->question.selector);
	free(names);
	lists_release(&lists);
	return status;
}

/* ---- jobs ---- */

static void job_done(struct export *export);

static enum cli_status plan_job(struct casework *work, struct case_side *side, const char *name, size_t index, uint32_t slice,
                                struct case_job *job)
{
	const struct replicas *replicas = &side->replicas;
	struct question *question = &job->export.question;
	char file[NAME_MAX_BYTES + 120];

	file_name(file, sizeof(file), replicas, index, slice, side->question.type);
	job->work = work;
	job->side = side;
	job->path = path_of(work->folder, name, file);
	job->selector = replicas->label ? selector_with(side->question.selector, replicas->label, replicas_name(replicas, index))
	                                : strdup(side->question.selector);
	if (!job->path || !job->selector)
		return cli_no_memory();
	*question = side->question;
	question->selector = job->selector;
	question->window = replicas_slice(replicas, &side->question.window, slice);
	job->sum = replicas_cover(replicas, index, &side->question.window, slice, &job->coverage);
	job->export.count_type = work->count_type;
	job->export.keep_label = work->options->keep_label;
	job->export.keep_values = (const char *const *)side->keep_values;
	job->export.keep_values_n = side->keep_values_n;
	job->export.path = job->path;
	job->export.done = job_done;
	job->export.context = job;
	job->provenance = (struct provenance){
		.server = &work->server, .datasource = work->datasource, .question = question, .count_type = work->count_type,
		.keep_label = work->options->keep_label, .mode = work->mode, .export = &job->export, .coverage = &job->coverage,
		.replica_label = replicas->label, .replicas = (uint32_t)replicas->series.lines_n, .warnings = "",
	};
	return CLI_OK;
}

enum cli_status casework_plan(struct casework *work, int index, const char *name)
{
	struct case_side *side = &work->sides[index];
	size_t cap = work->options->max_replicas ? (size_t)work->options->max_replicas : REPLICAS_MAX, lines = side->replicas.series.lines_n;
	uint32_t slices = side->replicas.slices;
	enum cli_status status = lines > 0 ? make_folder(work->folder, name) : CLI_OK;

	if (status != CLI_OK || lines == 0)
		return status;
	side->replicas_n = lines < cap ? lines : cap;
	if (lines == 1 && side->replicas.label && !*replicas_name(&side->replicas, 0))
		cli_warn("%s: no series has the label '%s': all replicas are one profile", name, side->replicas.label);
	if (lines > cap)
		cli_warn("%s: the %zu largest of %zu replicas (--max-replicas)", name, cap, lines);
	if (work->options->keep_label && (status = find_values(work, side)) != CLI_OK)
		return status;
	side->jobs = calloc(side->replicas_n * slices, sizeof(*side->jobs));
	if (!side->jobs)
		return cli_no_memory();
	for (size_t i = 0; i < side->replicas_n; i++)
		for (uint32_t slice = 0; slice < slices; slice++)
			if ((status = plan_job(work, side, name, i, slice, &side->jobs[side->jobs_n++])) != CLI_OK)
				return status;
	return CLI_OK;
}

static void show_progress(const struct casework *work)
{
	char line[80];

	if (!isatty(STDERR_FILENO))
		return;
	int n = snprintf(line, sizeof(line), "\r%zu of %zu profiles%s", work->all - work->left, work->all, work->left ? "" : "\n");
	if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

static void fail(struct casework *work, enum cli_status status)
{
	if (work->status == CLI_OK)
		work->status = status;
}

static const char *warning_of(const struct case_job *job)
{
	bool fits = fabs(job->sum - (double)job->export.total) <= fabs(job->sum) * 1e-12;

	if (!fits && job->export.keep_label)
		return "the values of the label do not add up to the points over time";
	if (!fits)
		return "the points over time do not add up to the profile";
	if (job->export.folded)
		return "the server cuts exports to a number of nodes: the function 'other' stands for the rest";
	return job->export.counts_missing ? "the server has no counts for these values" : "";
}

static void job_done(struct export *export)
{
	struct case_job *job = export->context;
	struct casework *work = job->work;

	work->left--;
	if (export->outcome == CLI_OK) {
		job->provenance.warnings = warning_of(job);
		if (*job->provenance.warnings)
			cli_warn("'%s': %s", job->path, job->provenance.warnings);
		fail(work, provenance_save(&job->provenance, job->path, false));
	} else if (export->outcome == CLI_EMPTY) {
		cli_error("'%s': the points over time have profiles here, the export has none", job->path);
		fail(work, CLI_FAILED);
	} else {
		cli_error("'%s': %s", job->path, export->why);
		fail(work, export->outcome);
	}
	export_release(export);
	show_progress(work);
}

enum cli_status casework_run(struct casework *work)
{
	work->status = CLI_OK;
	work->left = work->all = 0;
	for (int i = 0; i < CASE_SIDES_N; i++)
		for (size_t k = 0; k < work->sides[i].jobs_n; k++) {
			struct case_job *job = &work->sides[i].jobs[k];
			job->there = job->sum == 0 || provenance_holds(&job->provenance, job->path);
			work->all++;
			work->left += !job->there;
		}
	for (int i = 0; i < CASE_SIDES_N; i++)
		for (size_t k = 0; k < work->sides[i].jobs_n; k++)
			if (!work->sides[i].jobs[k].there)
				export_start(&work->server, &work->sides[i].jobs[k].export);
	http_run(work->server.pool);
	return work->status;
}

void casework_release(struct case_side *side)
{
	for (size_t i = 0; i < side->jobs_n; i++) {
		free(side->jobs[i].path);
		free(side->jobs[i].selector);
	}
	free(side->jobs);
	for (size_t i = 0; i < side->keep_values_n; i++)
		free(side->keep_values[i]);
	free(side->keep_values);
	free(side->selector);
}
