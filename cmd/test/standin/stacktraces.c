/* Exports and flame graphs: SelectMergeProfile and SelectMergeStacktraces. */
#include "cmd/test/standin/call.h"

#include <stdio.h>
#include <string.h>

/* What both methods ask for, and which scopes this server sees. */
struct ask {
	const char *type, *selector;
	int64_t start, end, max_nodes;
	const Pyro__StackTraceSelector *stack;
	char **profile_ids, **trace_ids, **span_ids;
	size_t profile_ids_n, trace_ids_n, span_ids_n;
};

/* ---- checks ---- */

static bool check_nodes(struct si_call *call, int64_t max_nodes, int64_t most)
{
	if (max_nodes < 0)
		return si_refuse(call, "invalid_argument", "max flamegraph nodes limit must be set (max allowed %lld)", (long long)most);
	if (max_nodes > most)
		return si_refuse(call, "invalid_argument", "max flamegraph nodes limit %lld is greater than allowed %lld",
		                 (long long)max_nodes, (long long)most);
	return true;
}

static size_t hex_digits(const char *id)
{
	size_t n = 0;

	for (; *id; id++)
		n += *id != '-';
	return n;
}

static bool check_ids(struct si_call *call, const struct ask *ask)
{
	for (size_t i = 0; i < ask->profile_ids_n && call->mode != SI_V1; i++)
		if (hex_digits(ask->profile_ids[i]) != 32)
			return si_refuse_deep(call, "unknown", "invalid UUID length: %zu", strlen(ask->profile_ids[i]));
	for (size_t i = 0; i < ask->trace_ids_n; i++)
		if (strlen(ask->trace_ids[i]) != 32)
			return si_refuse_deep(call, "unknown", "invalid trace id length: \"%s\"", ask->trace_ids[i]);
	for (size_t i = 0; i < ask->span_ids_n; i++)
		if (strlen(ask->span_ids[i]) != 16)
			return si_refuse_deep(call, "unknown", "invalid span id length: \"%s\"", ask->span_ids[i]);
	return true;
}

/* Scopes that cannot be put together, or that this storage does not have. */
static bool check_scopes(struct si_call *call, const struct ask *ask)
{
	bool v1 = si_is_v1(call, ask->end);

	if (ask->trace_ids_n && (v1 || si_is_split(call, ask->start)))
		return si_refuse(call, "unimplemented", "trace_id_selector is only supported with the v2 query backend");
	if (ask->span_ids_n && ask->trace_ids_n)
		return si_refuse(call, "invalid_argument", "span_selector and trace_id_selector cannot be combined");
	if (v1 && ask->span_ids_n && (ask->profile_ids_n || ask->stack))
		return si_refuse(call, "unimplemented", "span_selector cannot be combined with other selectors");
	return true;
}

/* An old server has no such fields: whatever they hold is not seen. */
static void forget_scopes(struct ask *ask)
{
	ask->stack = NULL;
	ask->profile_ids_n = ask->trace_ids_n = ask->span_ids_n = 0;
}

static bool read_scope(struct si_call *call, struct ask *ask, bool for_export, struct si_selector *selector, struct si_scope *scope)
{
	bool v1 = si_is_v1(call, ask->end);

	if (!si_check_window(call, ask->start, ask->end) || !check_scopes(call, ask) || !si_check_type(call, ask->type) ||
	    !si_read_selector(call, ask->selector, selector) || !check_ids(call, ask))
		return false;
	*scope = (struct si_scope){.tenant = call->tenant, .selector = selector, .type = si_five_parts(ask->type),
	                           .from_ms = ask->start, .to_ms = ask->end};
	if (v1 && ask->start == ask->end) /* v1 finds nothing in a window of one millisecond */
		scope->to_ms = ask->start - 1;
	if (!v1) {
		scope->profile_ids = ask->profile_ids;
		scope->profile_ids_n = ask->profile_ids_n;
	}
	scope->trace_ids = ask->trace_ids;
	scope->trace_ids_n = ask->trace_ids_n;
	scope->span_ids = ask->span_ids;
	scope->span_ids_n = ask->span_ids_n;
	if (ask->stack && (!v1 || for_export)) {
		scope->callers = si_array(call, ask->stack->n_call_site + 1, sizeof(char *));
		for (size_t i = 0; scope->callers && i < ask->stack->n_call_site; i++)
			scope->callers[scope->callers_n++] = ask->stack->call_site[i]->name;
	}
	return true;
}

/* ---- exports ---- */

/* Whether v2 finds a block at all: else an export is nothing, not even a head. */
static bool any_block(const struct si_call *call, const struct si_scope *scope)
{
	struct si_scope blocks = *scope;
	int64_t oldest = 0, newest = 0;

	if (!si_bounds(call, &oldest, &newest) || oldest > scope->to_ms || newest < scope->from_ms)
		return false;
	blocks.type = PP_LIT("");
	blocks.from_ms = INT64_MIN;
	blocks.to_ms = INT64_MAX;
	blocks.profile_ids_n = 0;
	for (size_t i = 0; i < call->store->rows_n; i++)
		if (si_in_scope(&blocks, &call->store->rows[i]))
			return true;
	return false;
}

static struct pp_profile *merged(struct si_call *call, const struct si_scope *scope, const struct ask *ask, int64_t max_nodes)
{
	struct pp_error err = PP_ERROR_INIT;
	bool v1 = call->mode == SI_V1 || call->mode == SI_OLD, names_only = call->mode == SI_V1 && scope->span_ids_n > 0;
	struct si_head head = {.time_ns = ask->end * 1000000, .names_only = names_only,
	                       .duration_ns = v1 && !names_only ? (ask->end - ask->start) * 1000000 : 0};
	struct pp_profile *profile = si_export(call->store, scope, &head, &err);

	if (profile && max_nodes > 0 && profile->samples_n > 0) {
		struct pp_profile *cut = si_cut(profile, max_nodes, &err);
		pp_profile_free(profile);
		profile = cut;
	}
	if (!profile)
		si_refuse(call, "internal", "%s", err.text);
	return profile;
}

/* The export as bytes of the call's arena, in the shape that this server gives to "no data". */
static bool export_bytes(struct si_call *call, const struct si_scope *scope, const struct ask *ask, struct pp_str *bytes)
{
	static const char dummy[] = {0x0a, 0x00, 0x32, 0x00, 0x5a, 0x00};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&buf);
	struct pp_profile *profile = merged(call, scope, ask, ask->max_nodes);

	if (!profile)
		return false;
	if (profile->samples_n == 0 && (si_is_v1(call, ask->end) || si_is_split(call, ask->start)))
		*bytes = (struct pp_str){dummy, sizeof(dummy)};
	else if (profile->samples_n == 0 && !any_block(call, scope))
		*bytes = PP_LIT("");
	else if (pp_write(profile, &sink, &err) != 0)
		si_refuse(call, "internal", "%s", err.text);
	else
		*bytes = (struct pp_str){pp_arena_copy(call->arena, buf.bytes, buf.n), buf.n};
	pp_buf_release(&buf);
	pp_profile_free(profile);
	return bytes->ptr != NULL;
}

/* For JSON, where an export is an object like any other. */
static Pyro__Profile *as_message(struct si_call *call, struct pp_str bytes)
{
	ProtobufCAllocator allocator = si_allocator(call->arena);

	return pyro__profile__unpack(&allocator, bytes.len, (const uint8_t *)bytes.ptr);
}

bool si_merge_profile(struct si_call *call, const void *request)
{
	const Pyro__SelectMergeProfileRequest *r = request;
	struct ask ask = {.type = r->profile_typeid, .selector = r->label_selector, .start = r->start, .end = r->end,
	                  .max_nodes = r->max_nodes, .stack = r->stack_trace_selector,
	                  .profile_ids = r->profile_id_selector, .profile_ids_n = r->n_profile_id_selector,
	                  .trace_ids = r->trace_id_selector, .trace_ids_n = r->n_trace_id_selector};
	struct si_selector selector = {.n = 0};
	struct si_scope scope;
	struct pp_str bytes = {NULL, 0};

	if (call->mode == SI_OLD)
		forget_scopes(&ask);
	if (call->most_nodes && ask.max_nodes == 0)
		ask.max_nodes = call->most_nodes;
	bool good = (!call->most_nodes || check_nodes(call, ask.max_nodes, call->most_nodes)) &&
	            read_scope(call, &ask, true, &selector, &scope) && export_bytes(call, &scope, &ask, &bytes);
	si_selector_release(&selector);
	call->raw = bytes;
	if (good && call->json) {
		Pyro__Profile *profile = as_message(call, bytes);
		call->answer = profile ? &profile->base : NULL;
	}
	return good;
}

/* ---- flame graphs and other forms ---- */

static size_t put_varint(uint8_t *out, size_t value)
{
	size_t n = 0;

	for (; value >= 128; value >>= 7)
		out[n++] = (uint8_t)((value & 127) | 128);
	out[n++] = (uint8_t)value;
	return n;
}

/* The export as field 1 of field 5. By hand, as even an export of no bytes is there, which says that the format is
 * known. */
static bool wrap_pprof(struct si_call *call, struct pp_str bytes)
{
	uint8_t head[16], *text = si_array(call, bytes.len + 32, 1);
	size_t n = 0, head_n = 1;

	if (!text)
		return false;
	head[0] = 0x0a;
	head_n += put_varint(head + 1, bytes.len);
	text[n++] = 0x2a;
	n += put_varint(text + n, head_n + bytes.len);
	memcpy(text + n, head, head_n);
	n += head_n;
	if (bytes.len)
		memcpy(text + n, bytes.ptr, bytes.len);
	call->raw = (struct pp_str){(const char *)text, n + bytes.len};
	return true;
}

static bool answer_pprof(struct si_call *call, const struct si_scope *scope, const struct ask *ask)
{
	struct pp_str bytes = {NULL, 0};

	if (!export_bytes(call, scope, ask, &bytes))
		return false;
	if (!call->json)
		return wrap_pprof(call, bytes);
	Pyro__SelectMergeStacktracesProfile *answer = si_message(call, &pyro__select_merge_stacktraces_profile__descriptor);
	Pyro__PprofProfile *pprof = si_message(call, &pyro__pprof_profile__descriptor);
	if (!answer || !pprof)
		return false;
	pprof->profile = as_message(call, bytes);
	answer->pprof = pprof;
	call->answer = &answer->base;
	return true;
}

/* What goes with every flame graph of a dual-mode server: bytes of its own making. */
static void add_tree(struct si_call *call, Pyro__SelectMergeStacktracesResponse *answer)
{
	static uint8_t tree[] = {0x10, 't', 'r', 'e', 'e', 0x00};

	if (call->mode == SI_DUAL)
		answer->tree = (ProtobufCBinaryData){sizeof(tree), tree};
}

static bool answer_graph(struct si_call *call, const struct si_scope *scope, const struct ask *ask, Pyro__ProfileFormat format)
{
	Pyro__SelectMergeStacktracesResponse *answer = si_message(call, &pyro__select_merge_stacktraces_response__descriptor);
	struct pp_profile *profile = answer ? merged(call, scope, ask, 0) : NULL;

	if (!profile)
		return false;
	if (format == PYRO__PROFILE_FORMAT__PROFILE_FORMAT_DOT && call->mode == SI_V2) {
		char *dot = si_dot(profile, ask->max_nodes, call->arena);
		if (dot)
			answer->dot = dot;
	} else {
		answer->flamegraph = si_flamegraph(profile, ask->max_nodes ? ask->max_nodes : 8192, call->arena);
		if (!answer->flamegraph)
			si_refuse(call, "internal", "no memory");
		add_tree(call, answer);
	}
	pp_profile_free(profile);
	call->answer = &answer->base;
	return call->status == 200;
}

bool si_merge_stacktraces(struct si_call *call, const void *request)
{
	const Pyro__SelectMergeStacktracesRequest *r = request;
	struct ask ask = {.type = r->profile_typeid, .selector = r->label_selector, .start = r->start, .end = r->end,
	                  .max_nodes = r->max_nodes, .stack = r->stack_trace_selector,
	                  .profile_ids = r->profile_id_selector, .profile_ids_n = r->n_profile_id_selector,
	                  .trace_ids = r->trace_id_selector, .trace_ids_n = r->n_trace_id_selector,
	                  .span_ids = r->span_selector, .span_ids_n = r->n_span_selector};
	Pyro__ProfileFormat format = call->mode == SI_OLD ? PYRO__PROFILE_FORMAT__PROFILE_FORMAT_UNSPECIFIED : r->format;
	bool pprof = format == PYRO__PROFILE_FORMAT__PROFILE_FORMAT_PPROF;
	int64_t most = call->most_nodes ? call->most_nodes : 1048576;
	struct si_selector selector = {.n = 0};
	struct si_scope scope;

	if (call->mode == SI_OLD)
		forget_scopes(&ask);
	if (format == PYRO__PROFILE_FORMAT__PROFILE_FORMAT_DOT && call->mode != SI_DUAL && si_is_v1(call, ask.end))
		return si_refuse(call, "unimplemented", "dot format is only supported with the v2 query backend");
	bool good = (pprof || check_nodes(call, ask.max_nodes, most)) && read_scope(call, &ask, pprof, &selector, &scope) &&
	            (pprof ? answer_pprof(call, &scope, &ask) : answer_graph(call, &scope, &ask, format));
	si_selector_release(&selector);
	return good;
}
