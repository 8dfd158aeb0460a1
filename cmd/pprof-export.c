/* pprof-export: a profile as a file of another viewer. */
#include "cmd/cli.h"
#include "cmd/export.h"
#include "cmd/output.h"

enum format { FORMAT_CALLGRIND, FORMAT_SPEEDSCOPE, FORMAT_FIREFOX };

struct request {
	struct input input;
	struct output output;
	struct view view;
	bool call_tree;
	int format; /* enum format; -1: not given */
};

static int write_format(const struct request *request, const struct viewed *viewed, const char *name,
                        struct pp_sink *sink, struct pp_error *err)
{
	switch ((enum format)request->format) {
	case FORMAT_CALLGRIND: return export_callgrind(viewed, request->call_tree, sink, err);
	case FORMAT_SPEEDSCOPE: return export_speedscope(viewed, name, sink, err);
	case FORMAT_FIREFOX: return export_firefox(viewed, name, sink, err);
	}
	return -1;
}

static enum cli_status export(struct request *request, const char *name)
{
	struct pp_error err = PP_ERROR_INIT;
	struct viewed viewed = {.column = PP_NONE};
	enum cli_status status = view_open(&request->view, &request->input, name, NULL, &viewed);
	if (status == CLI_OK)
		status = output_open(&request->output, false);
	if (status == CLI_OK) {
		struct pp_sink sink = output_sink(&request->output);
		if (write_format(request, &viewed, name, &sink, &err) != 0)
			status = cli_report(err.code == PP_EIO ? NULL : name, &err);
		status = output_finish(&request->output, status);
	}
	viewed_release(&viewed);
	return status;
}

int main(int argc, char **argv)
{
	static const char *const formats[] = {
		[FORMAT_CALLGRIND] = "callgrind", [FORMAT_SPEEDSCOPE] = "speedscope", [FORMAT_FIREFOX] = "firefox", NULL,
	};
	struct request request = {.output = OUTPUT_INIT, .view = VIEW_INIT, .format = -1};
	const struct cli_option options[] = {
		{"format", 0, CLI_CHOICE, &request.format, "FORMAT", "which viewer it is for", 0, 0, formats},
		{"call-tree", 0, CLI_FLAG, &request.call_tree, NULL, "callgrind: a function for each way to it", 0, 0, NULL},
		VIEW_OPTIONS(&request.view),
		OUTPUT_OPTIONS(&request.output),
		INPUT_OPTIONS(&request.input),
		INPUT_FRAME_OPTIONS(&request.input),
	};
	const struct cli_command command = {"pprof-export", "[FILE]", "Write a profile for another viewer.", options,
	                                    PP_COUNT(options)};
	struct cli_list operands;
	const char *name;
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	if (request.format < 0)
		status = cli_usage("which viewer is it for? give --format");
	else if (request.call_tree && request.format != FORMAT_CALLGRIND)
		status = cli_usage("--call-tree is for --format callgrind");
	else
		status = input_one(&operands, &name);
	if (status == CLI_OK)
		status = export(&request, name);

	cli_list_release(&operands);
	return (int)status;
}
