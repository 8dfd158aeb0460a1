#include "cmd/test/standin/respond.h"

#include <stdio.h>
#include <string.h>

#define SERVICE "/querier.v1.QuerierService/"
#define PROXY "/api/datasources/proxy/uid/"
#define DATASOURCES "/api/datasources"

static bool is(struct pp_str text, const char *word)
{
	return pp_str_eq(text, pp_str_of(word));
}

static bool begins(struct pp_str text, const char *with)
{
	return text.len >= strlen(with) && memcmp(text.ptr, with, strlen(with)) == 0;
}

static struct pp_str after(struct pp_str text, size_t n)
{
	return (struct pp_str){text.ptr + n, text.len - n};
}

static void say(struct si_reply *reply, int status, const char *type, const char *body)
{
	struct pp_error err = PP_ERROR_INIT;

	reply->status = status;
	reply->type = type;
	if (pp_buf_append(&reply->body, body, strlen(body), &err) != 0)
		reply->delivery = SI_CLOSE;
}

static void say_error(struct si_reply *reply, int status, const char *code, const char *message)
{
	char text[512];

	snprintf(text, sizeof(text), "{\"code\":\"%s\",\"message\":\"%s\"}", code, message);
	say(reply, status, "application/json", text);
}

/* ---- Grafana ---- */

static void datasource_list(struct si_reply *reply)
{
	say(reply, 200, "application/json",
	    "[{\"id\":1,\"uid\":\"pyro-uid\",\"orgId\":1,\"name\":\"pyroscope\",\"type\":\"grafana-pyroscope-datasource\","
	    "\"access\":\"proxy\",\"url\":\"http://pyroscope:4040\",\"isDefault\":true,\"jsonData\":{\"minStep\":\"15s\"},\"readOnly\":false},"
	    "{\"id\":2,\"uid\":\"prom-uid\",\"orgId\":1,\"name\":\"prometheus\",\"type\":\"prometheus\","
	    "\"access\":\"proxy\",\"url\":\"http://prometheus:9090\",\"isDefault\":false,\"jsonData\":{},\"readOnly\":false}]");
}

/* The path behind a data source, or "" after an answer. */
static struct pp_str through_grafana(struct pp_str path, struct si_reply *reply)
{
	if (is(path, DATASOURCES)) {
		datasource_list(reply);
	} else if (is(path, DATASOURCES "/uid/pyro-uid")) {
		say(reply, 200, "application/json",
		    "{\"id\":1,\"uid\":\"pyro-uid\",\"name\":\"pyroscope\",\"type\":\"grafana-pyroscope-datasource\",\"jsonData\":{\"minStep\":\"15s\"}}");
	} else if (begins(path, PROXY "pyro-uid/")) {
		return after(path, sizeof(PROXY "pyro-uid") - 1);
	} else if (begins(path, PROXY "prom-uid/")) {
		say(reply, 404, "text/plain; charset=utf-8", "404 page not found\n");
	} else {
		say(reply, 404, "application/json", "{\"message\":\"Data source not found\"}");
	}
	return PP_LIT("");
}

/* ---- Pyroscope ---- */

static bool check_tenant(const struct si_manner *manner, const struct si_request *request, struct si_reply *reply, struct pp_str *tenant)
{
	char text[200];

	*tenant = manner->tenants ? si_header(request, "X-Scope-OrgID") : PP_LIT("");
	if (!manner->tenants)
		return true;
	if (tenant->len == 0)
		say_error(reply, 401, "unauthenticated", "no org id");
	else if (memchr(tenant->ptr, '/', tenant->len)) {
		snprintf(text, sizeof(text), "tenant ID '%.*s' contains unsupported character '/'", (int)tenant->len, tenant->ptr);
		say_error(reply, 401, "unauthenticated", text);
	}
	return reply->status == 0;
}

/* Whether gzip is asked for, by the bare word. */
static bool wants_gzip(const struct si_request *request)
{
	struct pp_str list = si_header(request, "Accept-Encoding");

	for (size_t i = 0; i < list.len;) {
		while (i < list.len && (list.ptr[i] == ' ' || list.ptr[i] == ','))
			i++;
		size_t n = 0;
		while (i + n < list.len && list.ptr[i + n] != ',' && list.ptr[i + n] != ' ')
			n++;
		if (is((struct pp_str){list.ptr + i, n}, "gzip"))
			return true;
		i += n;
	}
	return is(si_header(request, "Content-Encoding"), "gzip");
}

static void pack_reply(const struct si_request *request, struct si_reply *reply)
{
	struct pp_buf packed = PP_BUF_INIT;

	if (reply->status != 200 || !wants_gzip(request))
		return;
	if (!si_gzip((struct pp_str){reply->body.bytes ? reply->body.bytes : "", reply->body.n}, &packed)) {
		pp_buf_release(&packed);
		return;
	}
	pp_buf_release(&reply->body);
	reply->body = packed;
	reply->packed = true;
}

/* A call of the query service: recorded, or worked out. */
static void run_call(struct si_server *server, const struct si_manner *manner, const struct si_request *request, struct pp_str name,
                     struct pp_str body, struct si_reply *reply, struct pp_buf *canonical, char note[64])
{
	const struct si_method *method = si_method_find(name);
	struct si_call call = {.store = &server->store, .arena = server->arena, .mode = manner->mode};
	struct pp_str type = si_header(request, "Content-Type"), tenant;

	if (!method || (manner->mode == SI_OLD && is(name, "SelectHeatmap"))) {
		say(reply, 404, "text/plain; charset=utf-8", "404 page not found\n");
		return;
	}
	call.json = begins(type, "application/json");
	if (!is(request->method, "POST")) {
		reply->status = 405;
		snprintf(reply->headers, sizeof(reply->headers), "Allow: POST\r\n");
		return;
	}
	if ((!call.json && !is(type, "application/proto")) || (!call.json && manner->no_proto)) {
		reply->status = 415;
		return;
	}
	if (manner->replay.len > 0) {
		if (!si_canonical(method, body, call.json, server->arena, canonical))
			canonical->n = 0;
		tenant = si_header(request, "X-Scope-OrgID");
		const char *recorded = si_replay(&server->recordings, manner->replay, method, call.json, tenant,
		                                 (struct pp_str){canonical->bytes ? canonical->bytes : "", canonical->n}, reply);
		if (recorded) {
			snprintf(note, 64, "recorded %s", recorded);
			return;
		}
		canonical->n = 0;
	}
	if (!check_tenant(manner, request, reply, &call.tenant))
		return;
	call.most_ms = manner->limits ? 24 * 3600000 : 0;
	call.most_nodes = manner->limits ? 100 : 0;
	si_call_run(&call, method, body, canonical, &reply->body);
	reply->status = call.status;
	reply->type = call.json || call.status != 200 ? "application/json" : "application/proto";
}

static bool is_let_in(const struct si_request *request)
{
	struct pp_str given = si_header(request, "Authorization");

	return is(given, "Bearer sesame") || is(given, "Basic dXNlcjpzZXNhbWU="); /* user:sesame */
}

/* The right answer. */
static void answer(struct si_server *server, const struct si_manner *manner, const struct si_request *request, struct pp_str body,
                   struct si_reply *reply, struct pp_buf *canonical, char note[64])
{
	struct pp_str path = manner->path;

	if (manner->auth && !is_let_in(request)) {
		if (begins(path, "/api/"))
			say(reply, 401, "application/json", "{\"message\":\"Invalid API key\"}");
		else
			say_error(reply, 401, "unauthenticated", "invalid token");
		return;
	}
	if (begins(path, DATASOURCES))
		path = through_grafana(path, reply);
	if (reply->status)
		return;
	if (begins(path, "//"))
		reply->status = 301;
	else if (begins(path, SERVICE))
		run_call(server, manner, request, after(path, sizeof(SERVICE) - 1), body, reply, canonical, note);
	else
		say(reply, 404, "text/plain; charset=utf-8", "404 page not found\n");
}

void si_respond(struct si_server *server, const struct si_request *request, struct si_reply *reply, struct pp_buf *canonical,
                char note[64])
{
	struct si_manner manner;
	struct pp_str body;

	note[0] = '\0';
	si_manner_read(&manner, request->target);
	if (!si_request_body(request, server->arena, &body)) {
		say_error(reply, 400, "invalid_argument", "the request is not gzip");
		return;
	}
	const struct si_fault *fault = si_fault_of(&manner, request, body, &server->strikes);
	if (fault) {
		snprintf(note, 64, "%.*s", (int)fault->name.len, fault->name.ptr);
		if (si_fault_reply(fault, &manner, request, reply))
			return;
	}
	char said[64] = "";
	answer(server, &manner, request, body, reply, canonical, said);
	if (!begins(pp_str_of(said), "recorded"))
		pack_reply(request, reply);
	if (fault)
		si_fault_spoil(fault, reply);
	else
		memcpy(note, said, sizeof(said));
}
