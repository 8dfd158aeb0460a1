#include "cmd/test/standin/call.h"

#include "cmd/fetch/pbjson.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct si_method methods[] = {
	{"GetProfileStats", &pyro__get_profile_stats_request__descriptor, si_profile_stats},
	{"ProfileTypes", &pyro__profile_types_request__descriptor, si_profile_types},
	{"LabelNames", &pyro__label_names_request__descriptor, si_label_names},
	{"LabelValues", &pyro__label_values_request__descriptor, si_label_values},
	{"Series", &pyro__series_request__descriptor, si_series},
	{"SelectMergeProfile", &pyro__select_merge_profile_request__descriptor, si_merge_profile},
	{"SelectMergeStacktraces", &pyro__select_merge_stacktraces_request__descriptor, si_merge_stacktraces},
	{"SelectSeries", &pyro__select_series_request__descriptor, si_select_series},
	{"SelectHeatmap", &pyro__select_heatmap_request__descriptor, si_select_heatmap},
};

const struct si_method *si_method_find(struct pp_str name)
{
	for (size_t i = 0; i < PP_COUNT(methods); i++)
		if (pp_str_eq(pp_str_of(methods[i].name), name))
			return &methods[i];
	return NULL;
}

/* ---- refusals ---- */

static int status_of(const char *code)
{
	static const struct {
		const char *code;
		int status;
	} table[] = {{"invalid_argument", 400}, {"unauthenticated", 401}, {"unknown", 500}, {"internal", 500}, {"unimplemented", 501}};

	for (size_t i = 0; i < PP_COUNT(table); i++)
		if (strcmp(table[i].code, code) == 0)
			return table[i].status;
	return 500;
}

bool si_refuse(struct si_call *call, const char *code, const char *format, ...)
{
	va_list args;

	call->status = status_of(code);
	call->code = code;
	va_start(args, format);
	vsnprintf(call->message, sizeof(call->message), format, args);
	va_end(args);
	return false;
}

/* A string as Go writes it: without spaces around, "<", ">" and "&" as escapes. */
static bool write_go_string(const char *text, struct pp_sink *sink, struct pp_error *err)
{
	bool good = pp_sink_str(sink, "\"", err) == 0;

	for (; good && *text; text++) {
		char c[2] = {*text, '\0'};
		if (strchr("<>&", *text) || (unsigned char)*text < ' ')
			good = pp_sink_printf(sink, err, "\\u%04x", (unsigned)*text) == 0;
		else
			good = (!strchr("\"\\", *text) || pp_sink_str(sink, "\\", err) == 0) && pp_sink_str(sink, c, err) == 0;
	}
	return good && pp_sink_str(sink, "\"", err) == 0;
}

/* {"code":…,"message":…} as the servers write it. */
static void write_refusal(const char *code, const char *message, struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink sink = pp_buf_sink(out);

	if (pp_sink_str(&sink, "{\"code\":", &err) != 0 || !write_go_string(code, &sink, &err) ||
	    pp_sink_str(&sink, ",\"message\":", &err) != 0 || !write_go_string(message, &sink, &err) ||
	    pp_sink_str(&sink, "}", &err) != 0)
		out->n = 0;
}

bool si_refuse_deep(struct si_call *call, const char *code, const char *format, ...)
{
	struct pp_buf inner = PP_BUF_INIT;
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (call->mode == SI_V1 || call->mode == SI_OLD) {
		write_refusal(code, message, &inner);
		si_refuse(call, code, "%s", inner.bytes ? inner.bytes : "");
		pp_buf_release(&inner);
		return false;
	}
	return si_refuse(call, code, "%s%s", strcmp(code, "unknown") == 0 ? "rpc error: code = Unknown desc = " : "", message);
}

void *si_array(struct si_call *call, size_t n, size_t bytes)
{
	void *array = pp_arena_alloc(call->arena, n * bytes);

	if (!array)
		si_refuse(call, "internal", "no memory");
	return array;
}

void *si_message(struct si_call *call, const ProtobufCMessageDescriptor *descriptor)
{
	void *message = si_array(call, 1, descriptor->sizeof_message);

	if (message)
		descriptor->message_init(message);
	return message;
}

/* ---- what all methods check ---- */

bool si_bounds(const struct si_call *call, int64_t *oldest_ms, int64_t *newest_ms)
{
	bool any = false;

	for (uint32_t i = 0; i < call->store->pushes_n; i++) {
		const struct si_push *push = &call->store->pushes[i];
		if (!pp_str_eq(push->tenant, call->tenant))
			continue;
		if (!any || push->time_ms < *oldest_ms)
			*oldest_ms = push->time_ms;
		if (!any || push->time_ms > *newest_ms)
			*newest_ms = push->time_ms;
		any = true;
	}
	return any;
}

bool si_is_v1(const struct si_call *call, int64_t end)
{
	int64_t oldest = 0, newest = 0;

	return call->mode == SI_V1 || call->mode == SI_OLD ||
	       (call->mode == SI_DUAL && si_bounds(call, &oldest, &newest) && end < oldest);
}

bool si_is_split(const struct si_call *call, int64_t start)
{
	int64_t oldest = 0, newest = 0;

	return call->mode == SI_DUAL && si_bounds(call, &oldest, &newest) && start < oldest;
}

/* As Go writes durations: "25h0m0s", "24h0m0.001s". */
static const char *go_duration(int64_t ms, char out[64])
{
	int n = snprintf(out, 64, "%" PRIi64 "h%" PRIi64 "m%" PRIi64, ms / 3600000, ms / 60000 % 60, ms / 1000 % 60);

	if (ms % 1000) {
		n += snprintf(out + n, 64 - (size_t)n, ".%03" PRIi64, ms % 1000);
		while (out[n - 1] == '0')
			n--;
	}
	snprintf(out + n, 64 - (size_t)n, "s");
	return out;
}

bool si_check_window(struct si_call *call, int64_t start, int64_t end)
{
	int64_t oldest = 0, newest = 0;
	char text[64];

	if (start == 0 || end == 0)
		return si_refuse(call, "invalid_argument", "missing time range in the query");
	if (start > end || (call->mode == SI_DUAL && si_bounds(call, &oldest, &newest) && start == oldest))
		return si_refuse(call, "invalid_argument", "query start time is after end time");
	if (call->most_ms && end - start > call->most_ms)
		return si_refuse(call, "invalid_argument",
		                 "the query time range exceeds the limit (max_query_length, actual: %s, limit: 1d)",
		                 go_duration(end - start, text));
	return true;
}

bool si_check_type(struct si_call *call, const char *type)
{
	size_t parts = 1;

	for (const char *at = type; *at; at++)
		parts += *at == ':';
	if (parts == 5 || parts == 6)
		return true;
	return si_refuse_deep(call, "invalid_argument",
	                      "profile-type selection must be of the form "
	                      "<name>:<sample-type>:<sample-unit>:<period-type>:<period-unit>(:delta), got(%zu): \"%s\"",
	                      parts, type);
}

struct pp_str si_five_parts(const char *type)
{
	size_t n = 0, colons = 0;

	for (; type[n]; n++)
		if (type[n] == ':' && ++colons == 5)
			break;
	return (struct pp_str){type, n};
}

bool si_read_selector(struct si_call *call, const char *text, struct si_selector *selector)
{
	char why[256];

	if (si_selector_add(selector, text, call->arena, why))
		return true;
	if (call->mode == SI_V1 || call->mode == SI_OLD)
		return si_refuse_deep(call, "invalid_argument", "%s", why);
	return si_refuse(call, "invalid_argument", "parsing label selector \"%s\": %s", text, why);
}

Pyro__LabelPair **si_label_pairs(struct si_call *call, const struct si_label *labels, size_t n)
{
	Pyro__LabelPair **pairs = si_array(call, n + 1, sizeof(Pyro__LabelPair *));

	for (size_t i = 0; pairs && i < n; i++) {
		pairs[i] = si_message(call, &pyro__label_pair__descriptor);
		if (!pairs[i])
			return NULL;
		pairs[i]->name = pp_arena_copy(call->arena, labels[i].name.ptr, labels[i].name.len);
		pairs[i]->value = pp_arena_copy(call->arena, labels[i].value.ptr, labels[i].value.len);
	}
	return pairs;
}

/* ---- messages in and out ---- */

static void *arena_alloc(void *arena, size_t n)
{
	return pp_arena_alloc(arena, n);
}

static void arena_free(void *arena, void *memory)
{
	(void)arena;
	(void)memory;
}

ProtobufCAllocator si_allocator(struct pp_arena *arena)
{
	return (ProtobufCAllocator){arena_alloc, arena_free, arena};
}

/* The request, or NULL with the server's words in why. */
static ProtobufCMessage *decode(const struct si_method *method, struct pp_str body, bool json, struct pp_arena *arena, char why[256])
{
	ProtobufCAllocator allocator = si_allocator(arena);
	struct pp_error err = PP_ERROR_INIT;

	if (!json) {
		ProtobufCMessage *message =
			protobuf_c_message_unpack(method->request, &allocator, body.len, (const uint8_t *)body.ptr);
		snprintf(why, 256, "unmarshal message: proto: cannot parse invalid wire-format data");
		return message;
	}
	if (body.len == 0) {
		snprintf(why, 256, "unmarshal message: zero-length payload is not a valid JSON object");
		return NULL;
	}
	struct pp_json *text = pp_json_parse(body, &err);
	ProtobufCMessage *message = text ? pbjson_message(method->request, pp_json_root(text), &allocator, &err) : NULL;
	pp_json_free(text);
	snprintf(why, 256, "unmarshal message: proto: %.200s", err.text);
	return message;
}

static bool write_json(const ProtobufCMessage *message, struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink sink = pp_buf_sink(out);
	struct pp_json *object = pbjson_object(message);
	bool good = object && pp_json_write(object, 0, &sink, &err) == 0;

	pp_json_free(object);
	return good;
}

static bool write_answer(struct si_call *call, struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;

	if (!call->answer)
		return pp_buf_append(out, call->raw.ptr, call->raw.len, &err) == 0;
	if (call->json)
		return write_json(call->answer, out);
	size_t n = protobuf_c_message_get_packed_size(call->answer);
	uint8_t *bytes = si_array(call, n + 1, 1);
	if (!bytes)
		return false;
	protobuf_c_message_pack(call->answer, bytes);
	return pp_buf_append(out, bytes, n, &err) == 0;
}

bool si_canonical(const struct si_method *method, struct pp_str body, bool json, struct pp_arena *arena, struct pp_buf *out)
{
	char why[256];
	ProtobufCMessage *request = decode(method, body, json, arena, why);

	return request && write_json(request, out);
}

void si_call_run(struct si_call *call, const struct si_method *method, struct pp_str body, struct pp_buf *canonical,
                 struct pp_buf *out)
{
	char why[256];
	ProtobufCMessage *request = decode(method, body, call->json, call->arena, why);

	call->status = 200;
	if (request && canonical && !write_json(request, canonical))
		canonical->n = 0;
	if (!request)
		si_refuse(call, "invalid_argument", "%s", why);
	else if (method->answer(call, request) && !write_answer(call, out))
		si_refuse(call, "internal", "no memory");
	if (call->status != 200) {
		out->n = 0;
		write_refusal(call->code, call->message, out);
	}
}
