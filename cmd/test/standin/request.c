#include "cmd/test/standin/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *find(const char *at, const char *end, const char *what)
{
	size_t n = strlen(what);

	for (; at + n <= end; at++)
		if (memcmp(at, what, n) == 0)
			return at;
	return NULL;
}

struct pp_str si_header(const struct si_request *request, const char *name)
{
	for (size_t i = 0; i < request->headers_n; i++)
		if (request->headers[i].name.len == strlen(name) &&
		    strncasecmp(request->headers[i].name.ptr, name, strlen(name)) == 0)
			return request->headers[i].value;
	return PP_LIT("");
}

/* "POST /path HTTP/1.1"; a proxy is sent a whole address in place of the path. */
static bool parse_first_line(struct si_request *request, const char *line, const char *end)
{
	const char *space = find(line, end, " "), *last = space ? find(space + 1, end, " HTTP/1.") : NULL;

	if (!last)
		return false;
	request->method = (struct pp_str){line, (size_t)(space - line)};
	request->target = (struct pp_str){space + 1, (size_t)(last - space - 1)};
	if (request->target.len > 7 && memcmp(request->target.ptr, "http://", 7) == 0) {
		const char *path = find(request->target.ptr + 7, last, "/");
		request->is_proxied = true;
		request->target = path ? (struct pp_str){path, (size_t)(last - path)} : PP_LIT("/");
	}
	return request->target.len > 0 && request->target.ptr[0] == '/';
}

static bool parse_header(struct si_request *request, const char *line, const char *end)
{
	const char *colon = find(line, end, ":");

	if (!colon || request->headers_n == SI_HEADERS_MAX)
		return false;
	struct pp_str value = {colon + 1, (size_t)(end - colon - 1)};
	while (value.len && (*value.ptr == ' ' || *value.ptr == '\t'))
		value = (struct pp_str){value.ptr + 1, value.len - 1};
	request->headers[request->headers_n].name = (struct pp_str){line, (size_t)(colon - line)};
	request->headers[request->headers_n++].value = value;
	return true;
}

/* Joins chunks; the position after them, or NULL when some are missing. */
static const char *join_chunks(struct si_request *request, const char *at, const char *end, struct pp_arena *arena)
{
	char *body = pp_arena_alloc(arena, (size_t)(end - at) + 1);
	size_t n = 0;

	while (body) {
		const char *line_end = find(at, end, "\r\n");
		if (!line_end)
			return NULL;
		size_t chunk = strtoul(at, NULL, 16);
		at = line_end + 2;
		if (chunk > (size_t)(end - at) || (size_t)(end - at) - chunk < 2)
			return NULL;
		memcpy(body + n, at, chunk);
		n += chunk;
		at += chunk + 2;
		if (chunk == 0)
			break;
	}
	request->body = (struct pp_str){body ? body : "", n};
	return at;
}

enum si_parsed si_request_parse(struct si_request *request, char *bytes, size_t n, struct pp_arena *arena)
{
	const char *end = bytes + n, *head_end = find(bytes, end, "\r\n\r\n");

	*request = (struct si_request){.used = 0};
	if (!head_end)
		return n > 65536 ? SI_BROKEN : SI_INCOMPLETE;
	const char *line_end = find(bytes, end, "\r\n");
	if (!parse_first_line(request, bytes, line_end))
		return SI_BROKEN;
	while (line_end < head_end) {
		const char *line = line_end + 2;
		line_end = find(line, end, "\r\n");
		if (!parse_header(request, line, line_end))
			return SI_BROKEN;
	}
	struct pp_str host = si_header(request, "Host"), length = si_header(request, "Content-Length");
	snprintf(request->host, sizeof(request->host), "%.*s", (int)host.len, host.ptr);
	const char *body = head_end + 4, *after;
	if (si_header(request, "Transfer-Encoding").len) {
		after = join_chunks(request, body, end, arena);
	} else {
		request->body = (struct pp_str){body, length.len ? strtoul(length.ptr, NULL, 10) : 0};
		after = request->body.len <= (size_t)(end - body) ? body + request->body.len : NULL;
	}
	if (!after)
		return si_header(request, "Expect").len && body == end ? SI_WANTS_CONTINUE : SI_INCOMPLETE;
	request->used = (size_t)(after - bytes);
	return SI_COMPLETE;
}

bool si_request_body(const struct si_request *request, struct pp_arena *arena, struct pp_str *body)
{
	static const struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_memory_source memory;
	struct pp_buf text = PP_BUF_INIT;
	char piece[4096];
	int64_t n = 0;

	*body = request->body;
	if (!pp_str_eq(si_header(request, "Content-Encoding"), PP_LIT("gzip")))
		return true;
	pp_memory_source_init(&memory, request->body.ptr, request->body.len);
	struct pp_gz_reader *reader = pp_gz_reader_new(&memory.source, &limits, false, &err);
	struct pp_source source = reader ? pp_gz_reader_source(reader) : memory.source;
	bool good = reader && request->body.len > 2 && memcmp(request->body.ptr, "\x1f\x8b", 2) == 0;
	while (good && (n = source.read(source.context, piece, sizeof(piece), &err)) > 0)
		good = pp_buf_append(&text, piece, (size_t)n, &err) == 0;
	*body = (struct pp_str){pp_arena_copy(arena, text.bytes ? text.bytes : "", text.n), text.n};
	pp_buf_release(&text);
	pp_gz_reader_free(reader);
	return good && n == 0 && body->ptr;
}

bool si_gzip(struct pp_str text, struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink sink = pp_buf_sink(out);
	struct pp_gz_writer *writer = pp_gz_writer_new(&sink, 1, &err);
	struct pp_sink in = writer ? pp_gz_writer_sink(writer) : sink;
	bool good = writer && pp_sink_bytes(&in, text.ptr, text.len, &err) == 0 && pp_gz_writer_finish(writer, &err) == 0;

	pp_gz_writer_free(writer);
	return good;
}

/* ---- the answer ---- */

static const char *phrase_of(int status)
{
	return status == 200 ? "OK" : status < 400 ? "Moved" : "Refused";
}

#define CHUNKED_OVER 2048

bool si_reply_write(const struct si_reply *reply, struct pp_buf *out)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_sink sink = pp_buf_sink(out);
	const struct pp_buf *body = &reply->body;
	bool chunked = body->n > CHUNKED_OVER && reply->delivery != SI_SHORT;
	size_t n = reply->delivery == SI_CUT ? body->n / 2 : body->n;

	if (reply->delivery == SI_CLOSE || reply->delivery == SI_RESET)
		return true;
	if (pp_sink_printf(&sink, &err, "HTTP/1.1 %d %s\r\n", reply->status, phrase_of(reply->status)) != 0 ||
	    (reply->type && pp_sink_printf(&sink, &err, "Content-Type: %s\r\n", reply->type) != 0) ||
	    (reply->packed && pp_sink_str(&sink, "Content-Encoding: gzip\r\n", &err) != 0) ||
	    pp_sink_str(&sink, reply->headers, &err) != 0)
		return false;
	if (reply->delivery == SI_ENDLESS)
		return pp_sink_str(&sink, "Transfer-Encoding: chunked\r\n\r\n", &err) == 0;
	if (!chunked)
		return pp_sink_printf(&sink, &err, "Content-Length: %zu\r\n\r\n",
		                      reply->delivery == SI_SHORT ? body->n / 2 : body->n) == 0 &&
		       pp_sink_bytes(&sink, body->bytes, n, &err) == 0;
	return pp_sink_printf(&sink, &err, "Transfer-Encoding: chunked\r\n\r\n%zx\r\n", body->n) == 0 &&
	       pp_sink_bytes(&sink, body->bytes, n, &err) == 0 &&
	       (n < body->n || pp_sink_str(&sink, "\r\n0\r\n\r\n", &err) == 0);
}
