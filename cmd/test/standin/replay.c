#include "cmd/test/standin/replay.h"

#include "cmd/cli.h"
#include "cmd/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVICE "/querier.v1.QuerierService/"
enum { SERVER, NAME, METHOD, PATH, TYPE, HEADERS, FILE_IN, STATUS, ANSWER_TYPE, ANSWER_ENCODING, FILE_OUT, COLUMNS };

static bool read_file(const struct si_recordings *recordings, struct pp_str server, struct pp_str name, struct pp_buf *out)
{
	char path[4096], piece[65536];
	struct pp_error err = PP_ERROR_INIT;
	struct input_file file;
	int64_t n = 0;

	snprintf(path, sizeof(path), "%s/%.*s/%s", recordings->folder, (int)server.len, server.ptr, name.ptr);
	if (input_open(path, &file) != CLI_OK)
		return false;
	while ((n = file.source.read(file.source.context, piece, sizeof(piece), &err)) > 0)
		if (pp_buf_append(out, piece, (size_t)n, &err) != 0)
			break;
	input_close(&file);
	return n == 0;
}

static struct pp_str keep(struct si_recordings *recordings, struct pp_str text)
{
	char *copy = pp_arena_copy(recordings->arena, text.ptr ? text.ptr : "", text.len);
	return copy ? (struct pp_str){copy, text.len} : PP_LIT("");
}

/* The recordings of calls that we know; others are passed over. */
static bool add(struct si_recordings *recordings, const struct pp_str *cells)
{
	static const char tenant_is[] = "X-Scope-OrgID: ";
	struct pp_str path = cells[PATH], headers = cells[HEADERS];
	size_t service_n = sizeof(SERVICE) - 1;
	struct pp_buf body = PP_BUF_INIT, question = PP_BUF_INIT;

	if (path.len <= service_n || memcmp(path.ptr, SERVICE, service_n) != 0)
		return true;
	struct pp_str name = {path.ptr + service_n, path.len - service_n};
	const struct si_method *method = si_method_find(name);
	bool json = pp_str_eq(cells[TYPE], PP_LIT("application/json"));
	if (!method || !pp_str_eq(cells[METHOD], PP_LIT("POST")))
		return true;
	bool good = read_file(recordings, cells[SERVER], cells[FILE_IN], &body) &&
	            pp_arena_reserve(recordings->arena, (void **)&recordings->at, &recordings->capacity, recordings->n + 1,
	                             sizeof(recordings->at[0])) == 0;
	/* What is no message cannot be asked by a client of ours. */
	if (good && si_canonical(method, (struct pp_str){body.bytes ? body.bytes : "", body.n}, json, recordings->arena, &question)) {
		bool has_tenant = headers.len > sizeof(tenant_is) - 1 && memcmp(headers.ptr, tenant_is, sizeof(tenant_is) - 1) == 0;
		recordings->at[recordings->n++] = (struct si_recording){
			.server = keep(recordings, cells[SERVER]), .name = keep(recordings, cells[NAME]), .method = keep(recordings, name), .type = keep(recordings, cells[TYPE]),
			.tenant = has_tenant ? keep(recordings, (struct pp_str){headers.ptr + sizeof(tenant_is) - 1, headers.len - sizeof(tenant_is) + 1}) : PP_LIT(""),
			.question = keep(recordings, (struct pp_str){question.bytes, question.n}),
			.answer_type = keep(recordings, cells[ANSWER_TYPE]), .answer_encoding = keep(recordings, cells[ANSWER_ENCODING]),
			.answer_file = keep(recordings, cells[FILE_OUT]), .status = (int)strtol(cells[STATUS].ptr, NULL, 10)};
	}
	pp_buf_release(&body);
	pp_buf_release(&question);
	return good;
}

bool si_recordings_read(struct si_recordings *recordings, const char *folder)
{
	struct pp_str cells[COLUMNS];
	char path[4096], *text = NULL;
	size_t text_n = 0, line_n = 0;
	bool good = true;

	*recordings = (struct si_recordings){.arena = pp_arena_new(UINT64_C(1) << 28), .folder = strdup(folder)};
	snprintf(path, sizeof(path), "%s/manifest.tsv", folder);
	if (!recordings->arena || !recordings->folder || input_text(path, (size_t)1 << 24, &text, &text_n) != CLI_OK)
		return false;
	for (char *line = text, *next; good && *line; line = next) {
		size_t n = strcspn(line, "\n");
		next = line + n + (line[n] == '\n');
		line[n] = '\0';
		if (line_n++ > 0 && pp_split_tabs(line, n, cells, COLUMNS) == COLUMNS)
			good = add(recordings, cells);
	}
	free(text);
	return good;
}

void si_recordings_release(struct si_recordings *recordings)
{
	free(recordings->folder);
	pp_arena_free(recordings->arena);
}

const char *si_replay(const struct si_recordings *recordings, struct pp_str server, const struct si_method *method, bool json,
               struct pp_str tenant, struct pp_str question, struct si_reply *reply)
{
	struct pp_str type = json ? PP_LIT("application/json") : PP_LIT("application/proto");

	for (size_t i = 0; i < recordings->n; i++) {
		const struct si_recording *r = &recordings->at[i];
		if (!pp_str_eq(r->server, server) || !pp_str_eq(r->method, pp_str_of(method->name)) || !pp_str_eq(r->type, type) ||
		    !pp_str_eq(r->tenant, tenant) || !pp_str_eq(r->question, question))
			continue;
		reply->status = r->status;
		reply->type = r->answer_type.ptr;
		reply->packed = pp_str_eq(r->answer_encoding, PP_LIT("gzip"));
		return read_file(recordings, server, r->answer_file, &reply->body) ? r->name.ptr : NULL;
	}
	return NULL;
}
