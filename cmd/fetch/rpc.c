#include "cmd/fetch/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory that one answer may take as messages. */
#define MESSAGE_BYTES (UINT64_C(4) << 30)
#define WORDS_MAX 400
#define NO_METHOD "there is no such method"

static const char binary_type[] = "application/proto", json_type[] = "application/json";

static void *arena_alloc(void *arena, size_t n)
{
	return pp_arena_alloc(arena, n);
}
static void arena_free(void *arena, void *memory)
{
	(void)arena;
	(void)memory;
}

static ProtobufCAllocator allocator_of(struct pp_arena *arena)
{
	return (ProtobufCAllocator){arena_alloc, arena_free, arena};
}

char *rpc_text(const char *text)
{
	char *same;

	memcpy(&same, &text, sizeof(same));
	return same;
}

char **rpc_texts(const struct cli_list *list)
{
	char **same;

	memcpy(&same, &list->items, sizeof(same));
	return same;
}

/* ---- errors ---- */

/* The words of an error: "message" of the object, else "error" (Grafana has either), else the text. v1 sends
 * the whole error object of a deeper layer as the message: the innermost words are what it has to say. */
static void find_words(struct pp_str body, int depth, char *code, size_t code_n, char *words, size_t words_n)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_json *json = depth < 4 && body.len > 0 && body.ptr[0] == '{' ? pp_json_parse(body, &err) : NULL;

	if (!json) {
		while (body.len > 0 && strchr(" \r\n\t", body.ptr[body.len - 1]))
			body.len--;
		pp_printable(words, words_n, body.ptr, body.len);
		return;
	}
	const struct pp_json_value *root = pp_json_root(json);
	struct pp_str message = pp_json_text(pp_json_get(root, "message")), name = pp_json_text(pp_json_get(root, "code"));
	if (name.len > 0)
		pp_printable(code, code_n, name.ptr, name.len);
	if (message.len == 0)
		message = pp_json_text(pp_json_get(root, "error"));
	find_words(message, depth + 1, code, code_n, words, words_n);
	pp_json_free(json);
}

static bool holds(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

void rpc_explain(int status, const char *type, struct pp_str body, enum cli_status *outcome, char *why, size_t n)
{
	char code[40] = "", words[WORDS_MAX] = "";

	if (strcmp(type, "text/html") == 0)
		snprintf(words, sizeof(words), "an HTML page; is the address right?");
	else
		find_words(body, 0, code, sizeof(code), words, sizeof(words));
	if (status == 404 && holds(words, "404 page not found"))
		snprintf(words, sizeof(words), NO_METHOD ": a wrong address, or a server that is too old for it");
	*outcome = CLI_FAILED;
	/* Grafana turns the data source's own 401 into a 400 with this text. */
	if (status == 401 || status == 403 || status == 407 || strcmp(code, "unauthenticated") == 0 ||
	    strcmp(code, "permission_denied") == 0 || holds(words, "Authentication to data source failed"))
		*outcome = CLI_REFUSED;
	else if (status == 501 || strcmp(code, "unimplemented") == 0)
		*outcome = CLI_UNSUPPORTED;
	snprintf(why, n, "HTTP %d%s%s%s%s", status, code[0] ? " " : "", code, words[0] ? ": " : "", words);
}

/* ---- out ---- */

static void fail(struct rpc_call *call, enum cli_status outcome, const char *words)
{
	call->outcome = outcome;
	snprintf(call->why, sizeof(call->why), "%s", words);
}

static int write_request(struct rpc_call *call, bool as_json, struct pp_error *err)
{
	call->body.n = 0;
	if (as_json) {
		struct pp_json *object = pbjson_object(call->request);
		struct pp_sink sink = pp_buf_sink(&call->body);
		if (!object)
			return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
		int result = pp_json_write(object, 0, &sink, err);
		pp_json_free(object);
		return result;
	}
	size_t n = protobuf_c_message_get_packed_size(call->request);
	uint8_t *bytes = malloc(n + 1);
	int result = bytes ? 0 : pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	if (bytes) {
		protobuf_c_message_pack(call->request, bytes);
		result = pp_buf_append(&call->body, bytes, n, err);
	}
	free(bytes);
	return result;
}

static int hash_of(struct pp_str a, struct pp_str b, char out[PP_CONTENT_HASH_N], struct pp_error *err)
{
	struct pp_content_hash *hash = pp_content_hash_new();

	if (!hash)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	pp_content_hash_add(hash, a.ptr, a.len);
	pp_content_hash_add(hash, b.ptr, b.len);
	pp_content_hash_hex(hash, out);
	pp_content_hash_free(hash);
	return 0;
}

static struct pp_str bytes_of(const struct pp_buf *buf)
{
	return (struct pp_str){buf->bytes ? buf->bytes : "", buf->n};
}

int rpc_hash(struct rpc_call *call, struct pp_error *err)
{
	if (write_request(call, false, err) != 0)
		return -1;
	return hash_of(pp_str_of(call->method), bytes_of(&call->body), call->request_hash, err);
}

static void completed(struct http_exchange *exchange);

static void send(struct rpc_call *call)
{
	struct pp_error err = PP_ERROR_INIT;

	call->as_json = call->server->json;
	if (rpc_hash(call, &err) != 0 || (call->as_json && write_request(call, true, &err) != 0)) {
		fail(call, CLI_SYSTEM, err.text);
		if (call->done)
			call->done(call);
		return;
	}
	call->exchange = (struct http_exchange){
		.url = call->url, .post = true, .content_type = call->as_json ? json_type : binary_type,
		.body = bytes_of(&call->body), .done = completed, .context = call,
	};
	http_start(call->server->pool, &call->exchange);
}

void rpc_start(struct server *server, struct rpc_call *call)
{
	static const char path[] = "/querier.v1.QuerierService/";
	size_t n = strlen(server->base) + sizeof(path) + strlen(call->method);

	call->server = server;
	call->outcome = CLI_OK;
	call->why[0] = '\0';
	call->answer = NULL;
	call->export = PP_LIT("");
	call->arena = NULL;
	call->exchange = (struct http_exchange){.url = NULL};
	call->url = malloc(n);
	if (!call->url) {
		fail(call, CLI_SYSTEM, "no memory");
		if (call->done)
			call->done(call);
		return;
	}
	snprintf(call->url, n, "%s%s%s", server->base, path, call->method);
	send(call);
}

/* ---- back ---- */

static void unreadable(struct rpc_call *call, const char *reason)
{
	call->outcome = CLI_FAILED;
	snprintf(call->why, sizeof(call->why), "the answer cannot be read: %s", reason);
}

/* A message in JSON as binary, in the arena. */
static int pack_json(struct rpc_call *call, const ProtobufCMessageDescriptor *descriptor, const struct pp_json_value *root,
                     ProtobufCAllocator *allocator, struct pp_str *out, struct pp_error *err)
{
	ProtobufCMessage *message = pbjson_message(descriptor, root, allocator, err);

	if (!message)
		return -1;
	size_t n = protobuf_c_message_get_packed_size(message);
	uint8_t *bytes = pp_arena_alloc(call->arena, n);
	if (!bytes)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	protobuf_c_message_pack(message, bytes);
	*out = (struct pp_str){(const char *)bytes, n};
	return 0;
}

/* The JSON of a SelectMergeStacktraces answer has its export as an object, not as bytes: it is made into
 * what the binary answer would hold. */
static int stacktraces_from_json(struct rpc_call *call, const struct pp_json_value *root, ProtobufCAllocator *allocator,
                                 struct pp_error *err)
{
	struct pp_str bytes;

	if (pack_json(call, &pyro__select_merge_stacktraces_profile__descriptor, root, allocator, &bytes, err) != 0)
		return -1;
	call->answer = protobuf_c_message_unpack(call->response, allocator, bytes.len, (const uint8_t *)bytes.ptr);
	return call->answer ? 0 : pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
}

static int read_json(struct rpc_call *call, struct pp_str body, struct pp_error *err)
{
	ProtobufCAllocator allocator = allocator_of(call->arena);
	struct pp_json *json = pp_json_parse(body, err);
	int result;

	if (!json)
		return -1;
	const struct pp_json_value *root = pp_json_root(json);
	if (call->wants_export) {
		result = pack_json(call, &pyro__profile__descriptor, root, &allocator, &call->export, err);
	} else if (pp_json_get(root, "pprof")) {
		result = stacktraces_from_json(call, root, &allocator, err);
	} else {
		call->answer = pbjson_message(call->response, root, &allocator, err);
		result = call->answer ? 0 : -1;
	}
	pp_json_free(json);
	return result;
}

static int read_binary(struct rpc_call *call, struct pp_str body, struct pp_error *err)
{
	ProtobufCAllocator allocator = allocator_of(call->arena);

	if (call->wants_export) {
		call->export = body;
		return 0;
	}
	call->answer = protobuf_c_message_unpack(call->response, &allocator, body.len, (const uint8_t *)body.ptr);
	if (call->answer)
		return 0;
	return pp_arena_over(call->arena) ? pp_fail(err, PP_ELIMIT, PP_NO_OFFSET, "it needs more than %llu bytes of memory", (unsigned long long)MESSAGE_BYTES)
	                                  : pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "not the protobuf message of %s", call->method);
}

static void read_answer(struct rpc_call *call)
{
	struct http_exchange *exchange = &call->exchange;
	struct pp_str body = bytes_of(&exchange->answer);
	struct pp_error err = PP_ERROR_INIT;
	bool json = strcmp(exchange->answer_type, json_type) == 0;
	char reason[160];

	if (!json && strcmp(exchange->answer_type, binary_type) != 0) {
		snprintf(reason, sizeof(reason), "it is '%s', not '%s'; is the address right?", exchange->answer_type,
		         call->as_json ? json_type : binary_type);
		unreadable(call, reason);
		return;
	}
	call->arena = pp_arena_new(MESSAGE_BYTES);
	if (!call->arena) {
		fail(call, CLI_SYSTEM, "no memory");
		return;
	}
	if (hash_of(body, PP_LIT(""), call->answer_hash, &err) != 0 ||
	    (json ? read_json(call, body, &err) : read_binary(call, body, &err)) != 0) {
		if (err.code == PP_ENOMEM)
			fail(call, CLI_SYSTEM, err.text);
		else
			unreadable(call, err.text);
	}
}

static void completed(struct http_exchange *exchange)
{
	struct rpc_call *call = exchange->context;

	if (exchange->err.code == PP_OK && exchange->status == 415 && !call->as_json) {
		http_release(exchange);
		call->server->json = true;
		send(call);
		return;
	}
	if (exchange->err.code != PP_OK)
		fail(call, exchange->err.code == PP_ENOMEM ? CLI_SYSTEM : CLI_FAILED, exchange->err.text);
	else if (exchange->status != 200)
		rpc_explain(exchange->status, exchange->answer_type, bytes_of(&exchange->answer), &call->outcome, call->why,
		            sizeof(call->why));
	else
		read_answer(call);
	if (call->done)
		call->done(call);
}

enum cli_status rpc_wait(struct server *server, struct rpc_call *call)
{
	rpc_start(server, call);
	http_run(server->pool);
	return call->outcome;
}

bool rpc_is_border(const struct rpc_call *call)
{
	/* Whether a window really ends before it begins is checked before anything is asked. */
	return call->outcome == CLI_FAILED && holds(call->why, "query start time is after end time");
}

enum cli_status rpc_wait_from(struct server *server, struct rpc_call *call, int64_t *start)
{
	enum cli_status status = rpc_wait(server, call);

	if (!rpc_is_border(call))
		return status;
	rpc_release(call);
	--*start;
	return rpc_wait(server, call);
}

enum cli_status rpc_wait_new(struct server *server, struct rpc_call *call, int64_t *start)
{
	Pyro__LabelNamesRequest request;
	struct rpc_call other = {.method = "LabelNames", .request = &request.base, .response = &pyro__label_names_response__descriptor};

	if (rpc_wait_from(server, call, start) != CLI_FAILED || !holds(call->why, NO_METHOD))
		return call->outcome;
	/* Whatever it says of an empty question, it knows the method. */
	pyro__label_names_request__init(&request);
	rpc_wait(server, &other);
	if (other.exchange.err.code == PP_OK && other.exchange.status != 404 && other.outcome != CLI_REFUSED)
		fail(call, CLI_UNSUPPORTED, "HTTP 404: " NO_METHOD ": this server is too old for it");
	rpc_release(&other);
	return call->outcome;
}

enum cli_status rpc_report(const struct rpc_call *call)
{
	if (call->outcome != CLI_OK)
		cli_error("%s: %s", call->method, call->why);
	return call->outcome;
}

void rpc_release(struct rpc_call *call)
{
	http_release(&call->exchange);
	pp_arena_free(call->arena);
	pp_buf_release(&call->body);
	free(call->url);
	call->arena = NULL;
	call->url = NULL;
}
