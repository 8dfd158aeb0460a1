#include "cmd/fetch/mode.h"

#include <string.h>

const char *mode_name(enum mode mode)
{
	static const char *const names[] = {"unknown", "v1", "v1-v2-dual", "v2"};

	return names[mode];
}

enum mode mode_find(struct server *server, const struct question *question, int64_t *total)
{
	Pyro__SelectMergeStacktracesRequest request;
	struct rpc_call call = {.method = "SelectMergeStacktraces", .request = &request.base,
	                        .response = &pyro__select_merge_stacktraces_response__descriptor};
	enum mode mode = MODE_UNKNOWN;

	pyro__select_merge_stacktraces_request__init(&request);
	request.profile_typeid = rpc_text(question->type);
	request.label_selector = rpc_text(question->selector);
	request.start = question->window.from_ms;
	request.end = question->window.to_ms;
	if (server->longest_ms && request.end - request.start > server->longest_ms)
		request.start = request.end - server->longest_ms;
	request.max_nodes = 1;
	request.format = PYRO__PROFILE_FORMAT__PROFILE_FORMAT_DOT;
	enum cli_status status = rpc_wait_from(server, &call, &request.start);
	if (status == CLI_OK) {
		const Pyro__SelectMergeStacktracesResponse *answer = (const void *)call.answer;
		mode = answer->flamegraph ? MODE_DUAL : MODE_V2;
		if (total && answer->flamegraph)
			*total = answer->flamegraph->total;
	} else if (status == CLI_UNSUPPORTED && strstr(call.why, "v2 query backend")) {
		mode = MODE_V1;
	}
	rpc_release(&call);
	return mode;
}
