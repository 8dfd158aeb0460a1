/* pprof-list: source code with what each line costs. */
#include "cmd/cli.h"
#include "cmd/listing.h"
#include "cmd/output.h"
#include "cmd/sourcefile.h"
#include "cmd/table.h"

#include <string.h>

#define MARGIN 5 /* lines of source before the first and after the last that costs something */

struct request {
	struct input input;
	struct output output;
	struct view view;
	const char *baseline;
	struct cli_list folders; /* --source */
	const char *unit;        /* of --unit */
	int format;              /* enum table_format */
};

/* ---- which lines ---- */

/* A walk over the lines of one function: those of the source from its start to a little behind the last
 * that costs something, or without source those that cost something. */
struct walk {
	const struct listing_routine *routine;
	const struct source_file *source;
	size_t next;   /* of the lines with values */
	int64_t line, end;
};

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static struct walk walk_of(const struct listing_routine *routine, const struct source_file *source)
{
	struct walk walk = {.routine = routine, .source = source, .line = INT64_MAX};
	for (size_t i = 0; i < routine->lines_n; i++) {
		const struct listing_line *line = &routine->lines[i];
		if (line->line < 1)
			continue;
		walk.line = smaller(walk.line, line->start_line > 0 ? line->start_line : line->line - MARGIN);
		walk.end = smaller(line->line, INT64_MAX - MARGIN) + MARGIN;
	}
	if (walk.line < 1)
		walk.line = 1;
	walk.end = smaller(walk.end, (int64_t)source->lines_n);
	return walk;
}

/* The next line to print; false at the end. */
static bool walk_next(struct walk *walk, struct listing_line *line)
{
	const struct listing_routine *routine = walk->routine;
	const struct listing_line *valued = walk->next < routine->lines_n ? &routine->lines[walk->next] : NULL;
	bool in_source = walk->line <= walk->end;
	if (valued && (!in_source || valued->line <= walk->line)) {
		*line = *valued;
		walk->next++;
		walk->line += in_source && valued->line == walk->line;
		return true;
	}
	*line = (struct listing_line){.line = walk->line};
	walk->line += in_source;
	return in_source;
}

/* ---- text ---- */

/* How values are written. */
struct style {
	struct pp_str unit, shown; /* of the profile; of --unit */
	bool signs;
};

static const char *value_text(char *out, size_t out_n, int64_t value, const struct style *style)
{
	if (value == 0)
		return ".";
	out[0] = '+';
	view_value_text(out + 1, out_n - 1, value, style->unit, style->shown);
	return style->signs && value > 0 ? out : out + 1;
}

/* Tabs stay; other control bytes are masked. */
static int print_code(struct pp_sink *sink, struct pp_str code, struct pp_error *err)
{
	char masked[1024];
	while (code.len > 0) {
		size_t n = 0;
		while (n < code.len && n < sizeof masked / 4 && code.ptr[n] != '\t')
			n++;
		while (n > 0 && n < code.len && ((unsigned char)code.ptr[n] & 0xc0) == 0x80) /* within a character */
			n--;
		bool tab = n == 0 && *code.ptr == '\t';
		n = n ? n : 1;
		if (pp_sink_printf(sink, err, "%s", tab ? "\t" : pp_printable(masked, sizeof masked, code.ptr, n)) != 0)
			return -1;
		code = (struct pp_str){code.ptr + n, code.len - n};
	}
	return pp_sink_str(sink, "\n", err);
}

static int print_values(struct pp_sink *sink, const struct listing_values *values, const struct style *style,
                        struct pp_error *err)
{
	char flat[64], cum[64];
	return pp_sink_printf(sink, err, "%10s %10s ", value_text(flat, sizeof flat, values->flat, style),
	                      value_text(cum, sizeof cum, values->cum, style));
}

static int print_lines(struct pp_sink *sink, const struct listing_routine *routine, const struct source_file *source,
                       const struct style *style, struct pp_error *err)
{
	struct walk walk = walk_of(routine, source);
	struct listing_line line;
	while (walk_next(&walk, &line)) {
		if (print_values(sink, &line.values, style, err) != 0)
			return -1;
		if (line.line > 0 ? pp_sink_printf(sink, err, "%6lld:", (long long)line.line) != 0
		                  : pp_sink_str(sink, "     ?:", err) != 0)
			return -1;
		if (print_code(sink, source_line(source, line.line), err) != 0)
			return -1;
	}
	return 0;
}

static int print_routine(struct pp_sink *sink, const struct listing *listing,
                         const struct listing_routine *routine, const struct source_file *source,
                         const struct style *style, struct pp_error *err)
{
	char name[2000], file[2000], path[2000], share[40];
	pp_printable(name, sizeof name, routine->name.ptr, routine->name.len);
	pp_printable(file, sizeof file, routine->file.len ? routine->file.ptr : "an unnamed file",
	             routine->file.len ? routine->file.len : 15);
	if (pp_sink_printf(sink, err, "ROUTINE ======================== %s in %s\n", name, file) != 0 ||
	    print_values(sink, &routine->values, style, err) != 0 ||
	    pp_sink_printf(sink, err, "(flat, cum) %s of Total\n",
	                   pp_percent(share, sizeof share, routine->values.cum, listing->total)) != 0)
		return -1;
	if (source->path)
		pp_printable(path, sizeof path, source->path, strlen(source->path));
	if (pp_sink_printf(sink, err, "Source: %s\n", source->path ? path : "not found") != 0)
		return -1;
	return print_lines(sink, routine, source, style, err);
}

static int print_heading(struct pp_sink *sink, const struct listing *listing, const struct style *style, struct pp_error *err)
{
	char total[64];
	view_value_text(total, sizeof total, listing->total, style->unit, style->shown);
	return pp_sink_printf(sink, err, "Total: %s%s\n", total, style->signs ? " in the baseline; values are changes" : "");
}

/* ---- table ---- */

enum { FLAT, CUM, LINE, SOURCE, FILE_NAME, NAME, BASELINE_FLAT, BASELINE_CUM, COLUMNS_N };

static int add_lines(struct table *table, const struct listing_routine *routine, const struct source_file *source,
                     struct pp_error *err)
{
	struct walk walk = walk_of(routine, source);
	struct listing_line line;
	while (walk_next(&walk, &line)) {
		const union table_cell cells[COLUMNS_N] = {
			[FLAT] = {.i = line.values.flat}, [CUM] = {.i = line.values.cum}, [LINE] = {.i = line.line},
			[SOURCE] = {.text = source_line(source, line.line)}, [FILE_NAME] = {.text = routine->file},
			[NAME] = {.text = routine->name}, [BASELINE_FLAT] = {.i = line.values.baseline_flat},
			[BASELINE_CUM] = {.i = line.values.baseline_cum},
		};
		if (table_row(table, cells, err) != 0)
			return -1;
	}
	return 0;
}

/* ---- the command ---- */

static void choose_unit(const char *asked, const struct listing *listing, struct pp_str *shown)
{
	int64_t least = 0;
	for (size_t i = 0; i < listing->routines_n; i++)
		for (size_t l = 0; l < listing->routines[i].lines_n; l++) {
			const struct listing_values *values = &listing->routines[i].lines[l].values;
			view_take_least(&least, values->flat, values->cum);
		}
	view_unit(asked, listing->unit, least, listing->total, shown);
}

static int print_all(const struct request *request, const struct listing *listing, struct source_files *files,
                     enum table_format format, struct pp_sink *sink, struct pp_error *err)
{
	const bool difference = request->baseline != NULL, people = format == TABLE_ALIGNED;
	const struct table_column columns[COLUMNS_N] = {
		[FLAT] = {"flat", "flat", TABLE_INTEGER, listing->unit, difference},
		[CUM] = {"cum", "cum", TABLE_INTEGER, listing->unit, difference},
		[LINE] = {"line", "line", TABLE_INTEGER, {0}, false},
		[SOURCE] = {"source", "source", TABLE_TEXT, {0}, false},
		[FILE_NAME] = {"file", "file", TABLE_TEXT, {0}, false},
		[NAME] = {"name", "name", TABLE_TEXT, {0}, false},
		[BASELINE_FLAT] = {"baseline_flat", "baseline flat", TABLE_INTEGER, listing->unit, false},
		[BASELINE_CUM] = {"baseline_cum", "baseline cum", TABLE_INTEGER, listing->unit, false},
	};
	const size_t columns_n = difference ? COLUMNS_N : BASELINE_FLAT;
	struct style style = {listing->unit, PP_LIT(""), difference};
	choose_unit(request->unit, listing, &style.shown);
	struct table *table = people ? NULL : table_new_in(style.shown, format, columns, columns_n, sink, err);
	int result = people ? print_heading(sink, listing, &style, err) : table ? 0 : -1;
	for (size_t i = 0; result == 0 && i < listing->routines_n; i++) {
		const struct source_file *source = source_find(files, listing->routines[i].file);
		if (!source)
			result = pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "out of memory");
		else if (people)
			result = print_routine(sink, listing, &listing->routines[i], source, &style, err);
		else
			result = add_lines(table, &listing->routines[i], source, err);
	}
	if (result == 0 && table)
		result = table_end(table, err);
	table_free(table);
	return result;
}

static enum cli_status print(struct request *request, const struct listing *listing)
{
	struct pp_error err = PP_ERROR_INIT;
	struct source_files *files = source_files_new(&request->folders);
	enum cli_status status = files ? output_open(&request->output, false) : CLI_SYSTEM;
	if (status == CLI_OK) {
		enum table_format format = table_format_for((enum table_format)request->format, &request->output);
		struct pp_sink sink = output_sink(&request->output);
		if (print_all(request, listing, files, format, &sink, &err) != 0)
			status = cli_report(NULL, &err);
		status = output_finish(&request->output, status);
		source_warn_missing(files);
	}
	source_files_free(files);
	return status;
}

static enum cli_status list(struct request *request, const char *pattern, const char *name)
{
	struct pp_error err = PP_ERROR_INIT;
	struct viewed profile = {.column = PP_NONE}, baseline = {.column = PP_NONE};
	struct listing listing = {.routines = NULL};
	enum cli_status status = view_open(&request->view, &request->input, name, NULL, &profile);
	if (status == CLI_OK && request->baseline)
		status = view_open(&request->view, &request->input, request->baseline, NULL, &baseline);
	const struct viewed *against = request->baseline ? &baseline : NULL;
	if (status == CLI_OK && listing_make(&profile, against, pattern, &listing, &err) != 0)
		status = cli_report(name, &err);
	if (status == CLI_OK)
		status = print(request, &listing);
	listing_release(&listing);
	viewed_release(&profile);
	viewed_release(&baseline);
	return status;
}

int main(int argc, char **argv)
{
	struct request request = {.output = OUTPUT_INIT, .view = VIEW_INIT, .format = TABLE_AUTO};
	const struct cli_option options[] = {
		{"source", 0, CLI_LIST, &request.folders, "DIR", "where source files are; else the current folder", 0, 0, NULL},
		{"baseline", 0, CLI_STRING, &request.baseline, "FILE", "show what changed against this profile", 0, 0, NULL},
		VIEW_OPTIONS(&request.view),
		VIEW_UNIT_OPTION(&request.unit),
		TABLE_FORMAT_OPTION(&request.format),
		OUTPUT_OPTIONS(&request.output),
		INPUT_OPTIONS(&request.input),
		INPUT_FRAME_OPTIONS(&request.input),
	};
	const struct cli_command command = {"pprof-list", "REGEX [FILE]", "Print source code with what each line costs.",
	                                    options, PP_COUNT(options)};
	struct cli_list operands;
	const char *name;
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	if (operands.n == 0) {
		status = cli_usage("which functions? give a regular expression");
	} else {
		struct cli_list files = {operands.items + 1, operands.n - 1};
		status = input_one(&files, &name);
	}
	if (status == CLI_OK && request.baseline)
		status = input_check_stdin((size_t)input_is_stdin(name) + input_is_stdin(request.baseline));
	if (status == CLI_OK)
		status = list(&request, operands.items[0], name);

	cli_list_release(&request.folders);
	cli_list_release(&operands);
	return (int)status;
}
