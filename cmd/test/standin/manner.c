#include "cmd/test/standin/manner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is(struct pp_str text, const char *word)
{
	return pp_str_eq(text, pp_str_of(word));
}

static bool holds(struct pp_str text, struct pp_str part)
{
	for (size_t i = 0; i + part.len <= text.len; i++)
		if (memcmp(text.ptr + i, part.ptr, part.len) == 0)
			return true;
	return false;
}

/* ---- prefixes ---- */

/* The segment after a slash; empty at the end. */
static struct pp_str segment_at(struct pp_str path, size_t at)
{
	size_t n = 0;

	if (at >= path.len || path.ptr[at] != '/')
		return PP_LIT("");
	while (at + 1 + n < path.len && path.ptr[at + 1 + n] != '/')
		n++;
	return (struct pp_str){path.ptr + at + 1, n};
}

static void read_fault(struct si_manner *manner, struct pp_str spec)
{
	struct si_fault fault = {.name = spec, .on = PP_LIT("")};
	bool first = true;

	for (const char *at = spec.ptr, *end = spec.ptr + spec.len; at <= end; first = false) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		struct pp_str part = {at, (size_t)((comma ? comma : end) - at)};
		if (first)
			fault.name = part;
		else if (part.len > 6 && memcmp(part.ptr, "times=", 6) == 0)
			fault.times = strtoul(part.ptr + 6, NULL, 10);
		else if (part.len > 3 && memcmp(part.ptr, "ms=", 3) == 0)
			fault.ms = strtoul(part.ptr + 3, NULL, 10);
		else if (part.len > 3 && memcmp(part.ptr, "on=", 3) == 0)
			fault.on = (struct pp_str){part.ptr + 3, part.len - 3};
		at = (comma ? comma : end) + 1;
	}
	if (manner->faults_n < SI_FAULTS_MAX)
		manner->faults[manner->faults_n++] = fault;
}

/* One segment, and the next where it takes one; how many bytes of the path they are, 0: it is no prefix. */
static size_t read_prefix(struct si_manner *manner, struct pp_str path, size_t at)
{
	static const struct {
		const char *name;
		enum si_mode mode;
	} modes[] = {{"v1", SI_V1}, {"v2", SI_V2}, {"dual", SI_DUAL}, {"old", SI_OLD}};
	struct pp_str word = segment_at(path, at), next = segment_at(path, at + 1 + word.len);
	size_t one = 1 + word.len, two = one + 1 + next.len;

	for (size_t i = 0; i < PP_COUNT(modes); i++)
		if (is(word, modes[i].name)) {
			manner->mode = modes[i].mode;
			return one;
		}
	if (is(word, "limits"))
		manner->limits = true;
	else if (is(word, "tenants"))
		manner->tenants = true;
	else if (is(word, "auth"))
		manner->auth = true;
	else if (is(word, "no-proto"))
		manner->no_proto = true;
	else if (next.len && is(word, "key"))
		return two;
	else if (next.len && is(word, "replay"))
		manner->replay = next;
	else if (next.len && is(word, "fault"))
		read_fault(manner, next);
	else
		return 0;
	return is(word, "replay") || is(word, "fault") ? two : one;
}

void si_manner_read(struct si_manner *manner, struct pp_str target)
{
	const char *query = memchr(target.ptr, '?', target.len);
	struct pp_str path = {target.ptr, query ? (size_t)(query - target.ptr) : target.len};
	size_t at = 0, n;

	*manner = (struct si_manner){.mode = SI_V2, .replay = PP_LIT("")};
	while ((n = read_prefix(manner, path, at)) > 0)
		at += n;
	manner->prefix = (struct pp_str){path.ptr, at};
	manner->path = (struct pp_str){path.ptr + at, path.len - at};
}

/* ---- faults ---- */

void si_strikes_release(struct si_strikes *strikes)
{
	for (size_t i = 0; i < strikes->n; i++)
		free(strikes->at[i].key);
}

/* Counts a strike of this fault under this prefix; false when it has struck as often as it should. */
static bool strike(struct si_strikes *strikes, struct pp_str prefix, const struct si_fault *fault)
{
	char key[1024];
	size_t i = 0;

	if (fault->times == 0)
		return true;
	snprintf(key, sizeof(key), "%.*s %.*s", (int)prefix.len, prefix.ptr, (int)fault->name.len, fault->name.ptr);
	while (i < strikes->n && strcmp(strikes->at[i].key, key) != 0)
		i++;
	if (i == strikes->n) {
		if (i == PP_COUNT(strikes->at) || !(strikes->at[i].key = strdup(key)))
			return false;
		strikes->at[strikes->n++].n = 0;
	}
	return strikes->at[i].n++ < fault->times;
}

const struct si_fault *si_fault_of(const struct si_manner *manner, const struct si_request *request, struct pp_str body,
                                   struct si_strikes *strikes)
{
	for (size_t i = 0; i < manner->faults_n; i++) {
		const struct si_fault *fault = &manner->faults[i];
		if ((fault->on.len == 0 || holds(body, fault->on) || holds(manner->path, fault->on)) &&
		    strike(strikes, manner->prefix, fault))
			return fault;
	}
	(void)request;
	return NULL;
}

/* Statuses that come with a body of their own. */
static const struct {
	const char *name;
	int status;
	const char *type, *headers, *body;
} answers[] = {
	{"401", 401, "application/json", "", "{\"code\":\"unauthenticated\",\"message\":\"invalid token\"}"},
	{"403", 403, "application/json", "", "{\"code\":\"permission_denied\",\"message\":\"no read permission\"}"},
	{"404", 404, "text/plain; charset=utf-8", "", "404 page not found\n"},
	{"429", 429, "application/json", "Retry-After: 1\r\n", "{\"code\":\"resource_exhausted\",\"message\":\"too many queries\"}"},
	{"429-later", 429, "application/json", "Retry-After: 3600\r\n", "{\"code\":\"resource_exhausted\",\"message\":\"too many queries\"}"},
	{"429-bare", 429, "application/json", "", "{\"code\":\"resource_exhausted\",\"message\":\"too many queries\"}"},
	{"500", 500, "application/json", "", "{\"code\":\"internal\",\"message\":\"disk on fire\"}"},
	{"500-nested", 500, "application/json", "",
	 "{\"code\":\"unknown\",\"message\":\"{\\\"code\\\":\\\"unknown\\\",\\\"message\\\":\\\"the \\\\u003cinner\\\\u003e words\\\"}\"}"},
	{"502", 502, "text/html", "", "<html><body>Bad Gateway</body></html>"},
	{"503", 503, "application/json", "", "{\"code\":\"unavailable\",\"message\":\"not ready\"}"},
	{"504", 504, "application/json", "", "{\"code\":\"deadline_exceeded\",\"message\":\"took too long\"}"},
	{"415", 415, NULL, "", ""},
	{"html", 200, "text/html; charset=utf-8", "", "<!DOCTYPE html><html><body>Please log in</body></html>"},
	{"proto-html", 200, "application/proto", "", "<!DOCTYPE html><html><body>Please log in</body></html>"},
	{"grafana-401", 400, "text/plain; charset=utf-8", "", "Authentication to data source failed\n"},
	{"grafana-403", 403, "application/json", "", "{\"message\":\"Access denied to datasource\"}"},
	{"control", 500, "application/json", "", "{\"code\":\"unknown\",\"message\":\"red \\u001b[31malert\\u0007\\n\"}"},
};

static void redirect(struct si_reply *reply, int status, const char *host, struct pp_str path)
{
	reply->status = status;
	snprintf(reply->headers, sizeof(reply->headers), "Location: http://%s%.*s\r\n", host, (int)path.len, path.ptr);
}

/* The same port of this machine under another name, which is another origin. */
static void other_host(const struct si_request *request, char out[300])
{
	const char *colon = strrchr(request->host, ':');

	snprintf(out, 300, "%s%s", strncmp(request->host, "localhost", 9) == 0 ? "127.0.0.1" : "localhost", colon ? colon : "");
}

/* Packed, n MiB of zeros: a gzip that is small on the wire. */
static void bomb(struct si_reply *reply, size_t mib)
{
	struct pp_buf zeros = PP_BUF_INIT;
	struct pp_error err = PP_ERROR_INIT;
	char piece[65536] = {0};

	for (size_t i = 0; i < mib * 16; i++)
		if (pp_buf_append(&zeros, piece, sizeof(piece), &err) != 0)
			break;
	reply->packed = si_gzip((struct pp_str){zeros.bytes, zeros.n}, &reply->body);
	pp_buf_release(&zeros);
	reply->status = 200;
	reply->type = "application/proto";
}

bool si_fault_reply(const struct si_fault *fault, const struct si_manner *manner, const struct si_request *request,
                    struct si_reply *reply)
{
	static const struct {
		const char *name;
		enum si_delivery delivery;
	} deliveries[] = {{"cut", SI_CUT}, {"short", SI_SHORT}, {"drip", SI_DRIP}, {"endless", SI_ENDLESS}, {"close", SI_CLOSE}, {"reset", SI_RESET}};
	struct pp_error err = PP_ERROR_INIT;
	char host[300];

	reply->delay_ms = (int64_t)fault->ms;
	for (size_t i = 0; i < PP_COUNT(answers); i++)
		if (is(fault->name, answers[i].name)) {
			reply->status = answers[i].status;
			reply->type = answers[i].type;
			snprintf(reply->headers, sizeof(reply->headers), "%s", answers[i].headers);
			return pp_buf_append(&reply->body, answers[i].body, strlen(answers[i].body), &err) == 0;
		}
	for (size_t i = 0; i < PP_COUNT(deliveries); i++)
		if (is(fault->name, deliveries[i].name))
			reply->delivery = deliveries[i].delivery;
	if (is(fault->name, "bomb"))
		bomb(reply, 64);
	other_host(request, host);
	if (is(fault->name, "redirect"))
		redirect(reply, 307, host, manner->path);
	if (is(fault->name, "redirect-301"))
		redirect(reply, 301, host, manner->path);
	if (is(fault->name, "redirect-same"))
		redirect(reply, 307, request->host, manner->path);
	if (is(fault->name, "redirect-loop"))
		redirect(reply, 307, request->host, request->target);
	return reply->status != 0;
}

void si_fault_spoil(const struct si_fault *fault, struct si_reply *reply)
{
	static const char garbage[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff not a message";
	struct pp_error err = PP_ERROR_INIT;

	if (is(fault->name, "garbage") || is(fault->name, "bad-gzip")) {
		reply->body.n = 0;
		reply->packed = is(fault->name, "bad-gzip");
		if (pp_buf_append(&reply->body, garbage, sizeof(garbage) - 1, &err) != 0)
			reply->delivery = SI_CLOSE;
	}
	if (is(fault->name, "cut-gzip") && reply->packed)
		reply->body.n /= 2;
}
