#include "cmd/fetch/replicas.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/fetch/lists.h"

#define COVERAGE_STEPS 60 /* of a window, at least */

/* Labels that tell replicas apart, by the customs of collectors; the first that the series have. */
static const char *const customs[] = {
	"pod", "pod_name", "k8s_pod_name", "k8s.pod.name", "kubernetes_pod_name", "service_instance_id", "service.instance.id",
	"instance", "hostname", "host", "host_name", "node",
};

/* CLI_OK with *label malloc'ed, or NULL when the series have none of them. */
static enum cli_status find_label(struct server *server, const struct question *question, char **label)
{
	Pyro__LabelNamesRequest request;
	struct rpc_call call = {.method = "LabelNames", .request = &request.base, .response = &pyro__label_names_response__descriptor};
	char *selector = rpc_text(question->selector);
	struct lists lists;
	size_t n = 0;

	*label = NULL;
	pyro__label_names_request__init(&request);
	request.n_matchers = 1;
	request.matchers = &selector;
	request.start = question->window.from_ms;
	request.end = question->window.to_ms;
	enum cli_status status = lists_ask(server, &call, &request.start, &request.end, &lists);
	char **names = status == CLI_OK ? lists_names(&lists, &n) : NULL;
	for (size_t i = 0; names && !*label && i < PP_COUNT(customs); i++)
		for (size_t k = 0; !*label && k < n; k++)
			if (strcmp(names[k], customs[i]) == 0)
				*label = strdup(customs[i]);
	free(names);
	lists_release(&lists);
	return status;
}

enum cli_status replicas_find(struct server *server, const struct question *question, const char *label, uint32_t slices,
                              struct replicas *replicas)
{
	int64_t length = question->window.to_ms - question->window.from_ms;
	int64_t steps = (COVERAGE_STEPS + slices - 1) / slices;
	enum cli_status status = CLI_OK;

	*replicas = (struct replicas){.label = label, .slices = slices};
	replicas->step_ms = length / slices / steps > 0 ? length / slices / steps : 1;
	replicas->slice_ms = replicas->step_ms * steps;
	if (!label)
		status = find_label(server, question, &replicas->found);
	if (status != CLI_OK)
		return status;
	if (!label)
		replicas->label = replicas->found;
	const struct cli_list group_by = {&replicas->label, replicas->label ? 1 : 0};
	return series_fetch(server, question, &group_by, replicas->step_ms, &replicas->series);
}

void replicas_release(struct replicas *replicas)
{
	series_release(&replicas->series);
	free(replicas->found);
	replicas->found = NULL;
}

const char *replicas_name(const struct replicas *replicas, size_t index)
{
	const struct series_line *line = &replicas->series.lines[index];

	return line->labels_n > 0 ? line->labels[0].value : "";
}

/* Where a slice begins, which is a point of the grid and belongs to the slice before, and where it ends. */
static struct window grid_of(const struct replicas *replicas, const struct window *window, uint32_t slice)
{
	struct window part = {window->from_ms + (int64_t)slice * replicas->slice_ms, window->to_ms};

	if (slice + 1 < replicas->slices)
		part.to_ms = part.from_ms + replicas->slice_ms;
	return part;
}

struct window replicas_slice(const struct replicas *replicas, const struct window *window, uint32_t slice)
{
	struct window part = grid_of(replicas, window, slice);

	part.from_ms += slice > 0;
	return part;
}

double replicas_cover(const struct replicas *replicas, size_t index, const struct window *window, uint32_t slice,
                      struct series_coverage *coverage)
{
	const struct series_line *line = &replicas->series.lines[index];
	struct window grid = grid_of(replicas, window, slice);
	double sum = 0;

	series_cover(line, 1, &grid, replicas->step_ms, coverage);
	for (size_t i = 0; i < line->points_n; i++)
		if (line->points[i].time_ms > grid.from_ms && line->points[i].time_ms <= grid.to_ms)
			sum += line->points[i].value;
	return sum;
}
