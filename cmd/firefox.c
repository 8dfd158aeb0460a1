#include "cmd/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A node of the tree of all stacks: a frame below its caller. */
struct node {
	uint32_t caller; /* or PP_NONE */
	uint32_t frame;
};

struct writer {
	const struct viewed *viewed;
	const char *title;
	struct pp_sink *sink;
	struct pp_error *err;
	struct export_stacks stacks;
	struct pp_arena *arena; /* of the tree */
	struct pp_intern *tree; /* keys are nodes; callers come first */
	uint32_t *leaf;         /* by stack: its node */
};

static int no_memory(struct writer *w)
{
	if (w->arena && pp_arena_over(w->arena))
		return pp_fail(w->err, PP_ELIMIT, PP_NO_OFFSET, "needs more memory to write than is allowed");
	return pp_fail(w->err, PP_ENOMEM, PP_NO_OFFSET, "no memory to write Firefox's format");
}

/* ---- the tree ---- */

static int add_frame(struct writer *w, uint32_t frame, uint32_t *node)
{
	const struct node key = {*node, frame};
	*node = pp_intern_put(w->tree, &key, sizeof key, NULL);
	return *node == PP_NONE ? no_memory(w) : 0;
}

static int add_stack(struct writer *w, uint32_t s)
{
	const struct pp_stack *stack = &w->viewed->profile->stacks[s];
	const struct pp_frame_map *map = &w->stacks.map;
	uint32_t node = PP_NONE;
	if (stack->n == 0 && add_frame(w, map->no_stack, &node) != 0)
		return -1;
	for (uint32_t i = stack->n; i-- > 0;)
		for (uint32_t k = map->first[stack->locations[i] + 1]; k-- > map->first[stack->locations[i]];)
			if (add_frame(w, map->frame[k], &node) != 0)
				return -1;
	w->leaf[s] = node;
	return 0;
}

static int make_tree(struct writer *w)
{
	const uint32_t n = w->viewed->profile->stacks_n;
	w->arena = pp_arena_new(w->viewed->limits.model_bytes);
	w->tree = w->arena ? pp_intern_new(w->arena) : NULL;
	w->leaf = calloc((size_t)n + 1, sizeof *w->leaf);
	if (!w->tree || !w->leaf)
		return no_memory(w);
	for (uint32_t s = 0; s < n; s++)
		if (w->stacks.sums.of[s] != 0 && add_stack(w, s) != 0)
			return -1;
	return 0;
}

static struct node node_at(const struct writer *w, uint32_t i)
{
	struct pp_str key = pp_intern_at(w->tree, i);
	struct node node;
	memcpy(&node, key.ptr, sizeof node);
	return node;
}

/* ---- columns of tables ---- */

static int text(struct writer *w, const char *bytes)
{
	return pp_sink_str(w->sink, bytes, w->err);
}

/* "NAME":[VALUE,VALUE…], the same one n times. */
static int write_same(struct writer *w, const char *name, const char *value, uint32_t n)
{
	if (pp_sink_printf(w->sink, w->err, "\"%s\":[", name) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (text(w, i ? "," : "") != 0 || text(w, value) != 0)
			return -1;
	return text(w, "],");
}

/* "NAME":[first, first + 1…] */
static int write_counting(struct writer *w, const char *name, uint32_t first, uint32_t n)
{
	if (pp_sink_printf(w->sink, w->err, "\"%s\":[", name) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (pp_sink_printf(w->sink, w->err, "%s%u", i ? "," : "", (unsigned)(first + i)) != 0)
			return -1;
	return text(w, "],");
}

static int write_stack_table(struct writer *w)
{
	const uint32_t n = pp_intern_count(w->tree);
	if (text(w, "\"stackTable\":{\"frame\":[") != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (pp_sink_printf(w->sink, w->err, "%s%u", i ? "," : "", (unsigned)node_at(w, i).frame) != 0)
			return -1;
	if (text(w, "],\"prefix\":[") != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t caller = node_at(w, i).caller;
		if (caller == PP_NONE ? pp_sink_printf(w->sink, w->err, "%snull", i ? "," : "") != 0
		                      : pp_sink_printf(w->sink, w->err, "%s%u", i ? "," : "", (unsigned)caller) != 0)
			return -1;
	}
	if (text(w, "],") != 0 || write_same(w, "category", "0", n) != 0 || write_same(w, "subcategory", "0", n) != 0)
		return -1;
	return pp_sink_printf(w->sink, w->err, "\"length\":%u},\n", (unsigned)n);
}

/* A function a frame, and a frame a function. */
static int write_frame_table(struct writer *w)
{
	static const char *const nothing[] = {"nativeSymbol", "innerWindowID", "implementation", "line", "column"};
	const uint32_t n = pp_frames_count(w->stacks.frames);
	if (text(w, "\"frameTable\":{") != 0 || write_same(w, "address", "-1", n) != 0 ||
	    write_same(w, "inlineDepth", "0", n) != 0 || write_same(w, "category", "0", n) != 0 ||
	    write_same(w, "subcategory", "0", n) != 0 || write_counting(w, "func", 0, n) != 0)
		return -1;
	for (size_t i = 0; i < PP_COUNT(nothing); i++)
		if (write_same(w, nothing[i], "null", n) != 0)
			return -1;
	return pp_sink_printf(w->sink, w->err, "\"length\":%u},\n", (unsigned)n);
}

/* Names are the first half of the strings, files the second. */
static int write_file_names(struct writer *w, uint32_t n)
{
	if (text(w, "\"fileName\":[") != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (pp_frames_at(w->stacks.frames, i)->file.len == 0
		        ? pp_sink_printf(w->sink, w->err, "%snull", i ? "," : "") != 0
		        : pp_sink_printf(w->sink, w->err, "%s%u", i ? "," : "", (unsigned)(n + i)) != 0)
			return -1;
	return text(w, "],");
}

static int write_function_table(struct writer *w)
{
	const uint32_t n = pp_frames_count(w->stacks.frames);
	if (text(w, "\"funcTable\":{") != 0 || write_counting(w, "name", 0, n) != 0 ||
	    write_file_names(w, n) != 0 || write_same(w, "isJS", "false", n) != 0 ||
	    write_same(w, "relevantForJS", "false", n) != 0 || write_same(w, "resource", "-1", n) != 0 ||
	    write_same(w, "lineNumber", "null", n) != 0 || write_same(w, "columnNumber", "null", n) != 0)
		return -1;
	return pp_sink_printf(w->sink, w->err, "\"length\":%u},\n", (unsigned)n);
}

static int write_strings(struct writer *w)
{
	const uint32_t n = pp_frames_count(w->stacks.frames);
	if (text(w, "\"stringArray\":[") != 0)
		return -1;
	for (uint32_t i = 0; i < 2 * n; i++)
		if (text(w, i ? ",\n" : "") != 0 ||
		    pp_json_write_str(i < n ? pp_frames_label(w->stacks.frames, i) : pp_frames_at(w->stacks.frames, i - n)->file,
		                      w->sink, w->err) != 0)
			return -1;
	return text(w, "]");
}

/* ---- samples ---- */

/* How weights are shown, and what they are divided by: time is in milliseconds. */
static const char *weight_type(struct pp_str unit, double *factor)
{
	const enum pp_unit_family family = pp_unit_find(unit, factor);
	if (family == PP_UNIT_TIME) {
		*factor /= 1e6;
		return "tracing-ms";
	}
	if (family == PP_UNIT_MEMORY)
		return "bytes";
	*factor = 1;
	return "samples";
}

/* Stacks of one side, or their weights. */
static int write_list(struct writer *w, bool decreases, bool weights, double factor, uint32_t *n)
{
	*n = 0;
	for (uint32_t s = 0; s < w->viewed->profile->stacks_n; s++) {
		const int64_t sum = w->stacks.sums.of[s];
		if (sum == 0 || (sum < 0) != decreases)
			continue;
		if (text(w, (*n)++ ? "," : "") != 0 ||
		    (weights ? pp_sink_printf(w->sink, w->err, "%.17g", (double)pp_abs_i64(sum) * factor) != 0
		             : pp_sink_printf(w->sink, w->err, "%u", (unsigned)w->leaf[s]) != 0))
			return -1;
	}
	return 0;
}

static int write_samples(struct writer *w, bool decreases)
{
	double factor;
	const char *type = weight_type(pp_sample_type_unit(w->viewed->profile, w->viewed->column), &factor);
	uint32_t n;
	if (text(w, "\"samples\":{\"stack\":[") != 0 || write_list(w, decreases, false, factor, &n) != 0 ||
	    text(w, "],\n\"weight\":[") != 0 || write_list(w, decreases, true, factor, &n) != 0 || text(w, "],\n") != 0 ||
	    write_counting(w, "time", 0, n) != 0)
		return -1;
	return pp_sink_printf(w->sink, w->err, "\"weightType\":\"%s\",\"length\":%u},\n", type, (unsigned)n);
}

/* ---- the whole ---- */

static int write_thread(struct writer *w, bool decreases)
{
	static const char *const head =
		"{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
		"\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"name\":";
	static const char *const empty =
		"\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[],"
		"\"length\":0},\n"
		"\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n"
		"\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},\n";
	const struct pp_str type = pp_sample_type_name(w->viewed->profile, w->viewed->column);
	char name[500], plain[400];
	snprintf(name, sizeof name, "%s%s", pp_printable(plain, sizeof plain, type.ptr, type.len),
	         decreases ? " (decrease)" : "");
	if (text(w, head) != 0 ||
	    pp_json_write_str(pp_str_of(name), w->sink, w->err) != 0 || text(w, ",\"processName\":") != 0 ||
	    pp_json_write_str(pp_str_of(w->title), w->sink, w->err) != 0 ||
	    pp_sink_printf(w->sink, w->err, ",\"isMainThread\":%s,\"pid\":\"1\",\"tid\":%d,\n",
	                   decreases ? "false" : "true", decreases ? 2 : 1) != 0)
		return -1;
	if (write_samples(w, decreases) != 0 || write_stack_table(w) != 0 || write_frame_table(w) != 0 ||
	    write_function_table(w) != 0 || text(w, empty) != 0 || write_strings(w) != 0)
		return -1;
	return text(w, "}");
}

/* Which threads are shown is said because else the viewer hides one with few stacks beside one with many; an end of
 * time, because it fails where there is none. */
static int write_meta(struct writer *w)
{
	static const char *const head =
		"{\"meta\":{\"interval\":1,\"processType\":0,\"product\":\"pprof\",\"importedFrom\":\"pprof\",\"stackwalk\":1,"
		"\"version\":28,\"preprocessedProfileVersion\":47,\"symbolicated\":true,\"markerSchema\":[],"
		"\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		"\"keepProfileThreadOrder\":true,"
		"\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}],\n";
	const struct pp_profile *p = w->viewed->profile;
	const int64_t *sides = w->stacks.sums.sides;
	if (text(w, head) != 0)
		return -1;
	return pp_sink_printf(w->sink, w->err,
	                      "\"startTime\":%lld,\"profilingStartTime\":0,\"profilingEndTime\":%u,"
	                      "\"initialVisibleThreads\":[0%s],\"initialSelectedThreads\":[%d]},\n",
	                      p->time_ns > 0 ? (long long)(p->time_ns / 1000000) : 0LL, (unsigned)p->stacks_n + 1,
	                      sides[1] != 0 ? ",1" : "", sides[0] == 0 && sides[1] != 0 ? 1 : 0);
}

static int write_all(struct writer *w)
{
	if (make_tree(w) != 0 || write_meta(w) != 0 || text(w, "\"libs\":[],\"threads\":[\n") != 0 ||
	    write_thread(w, false) != 0)
		return -1;
	if (w->stacks.sums.sides[1] != 0 && (text(w, ",\n") != 0 || write_thread(w, true) != 0))
		return -1;
	return text(w, "]}\n");
}

int export_firefox(const struct viewed *viewed, const char *title, struct pp_sink *sink, struct pp_error *err)
{
	struct writer w = {.viewed = viewed, .title = title, .sink = sink, .err = err};
	int result = export_stacks_make(viewed, &w.stacks, err);
	if (result == 0)
		result = write_all(&w);
	export_stacks_release(&w.stacks);
	pp_intern_free(w.tree);
	pp_arena_free(w.arena);
	free(w.leaf);
	return result;
}
