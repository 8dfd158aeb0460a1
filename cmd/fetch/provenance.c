#include "cmd/fetch/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/fetch/files.h"

#define TEXT_MAX_BYTES ((size_t)1 << 20)

/* ---- the text ---- */

static int fact(struct pp_sink *sink, const char *key, const char *value, struct pp_error *err)
{
	if (pp_sink_str(sink, key, err) != 0 || pp_sink_str(sink, "\t", err) != 0 ||
	    pp_escape(sink, pp_str_of(value), 0, err) != 0)
		return -1;
	return pp_sink_str(sink, "\n", err);
}

static int number(struct pp_sink *sink, const char *key, int64_t value, struct pp_error *err)
{
	return pp_sink_printf(sink, err, "%s\t%lld\n", key, (long long)value);
}

static int moment(struct pp_sink *sink, const char *key, int64_t time_ms, struct pp_error *err)
{
	char text[40];

	return fact(sink, key, when_text(text, sizeof(text), time_ms), err);
}

/* Ids or functions of a scope, one fact, parted by spaces; functions are escaped as all values. */
static int list(struct pp_sink *sink, const char *key, const struct cli_list *items, struct pp_error *err)
{
	int result = items->n > 0 ? pp_sink_str(sink, key, err) : 0;

	for (size_t i = 0; result == 0 && i < items->n; i++) {
		result = pp_sink_str(sink, i == 0 ? "\t" : "; ", err);
		if (result == 0)
			result = pp_escape(sink, pp_str_of(items->items[i]), ';', err);
	}
	return result == 0 && items->n > 0 ? pp_sink_str(sink, "\n", err) : result;
}

static int write_question(const struct provenance *p, struct pp_sink *sink, struct pp_error *err)
{
	const struct question *question = p->question;
	const struct scope *scope = &question->scope;

	if (fact(sink, "url", p->server->base, err) != 0 ||
	    (p->datasource && fact(sink, "datasource_uid", p->datasource, err) != 0) ||
	    (p->server->tenant && fact(sink, "tenant", p->server->tenant, err) != 0) ||
	    fact(sink, "profile_type", question->type, err) != 0 ||
	    (p->count_type && fact(sink, "count_type", p->count_type, err) != 0) ||
	    fact(sink, "selector", question->selector, err) != 0 || moment(sink, "from", question->window.from_ms, err) != 0 ||
	    moment(sink, "to", question->window.to_ms, err) != 0)
		return -1;
	if (scope_is_all(scope) && fact(sink, "scope", "all", err) != 0)
		return -1;
	if (list(sink, "profile_id", &scope->profiles, err) != 0 || list(sink, "span_id", &scope->spans, err) != 0 ||
	    list(sink, "trace_id", &scope->traces, err) != 0 || list(sink, "stacktrace_selector", &scope->functions, err) != 0)
		return -1;
	if (p->keep_label && fact(sink, "keep_label", p->keep_label, err) != 0)
		return -1;
	return question->max_nodes ? number(sink, "max_nodes", (int64_t)question->max_nodes, err) : 0;
}

static int write_coverage(const struct series_coverage *coverage, struct pp_sink *sink, struct pp_error *err)
{
	if (pp_sink_printf(sink, err, "coverage\t%.6g\n", coverage->steps ? (double)coverage->covered / coverage->steps : 0.0) != 0 ||
	    number(sink, "coverage_step_ms", coverage->step_ms, err) != 0 || number(sink, "coverage_steps", coverage->steps, err) != 0 ||
	    number(sink, "coverage_covered", coverage->covered, err) != 0)
		return -1;
	if (!coverage->covered)
		return 0;
	if (moment(sink, "coverage_first", coverage->first_ms, err) != 0)
		return -1;
	return moment(sink, "coverage_last", coverage->last_ms, err);
}

static const char *period_source(const struct provenance *p)
{
	if (p->export->period_measured)
		return "measured: every value is its count times the period";
	return p->export->profile->period ? "what the server puts in: not measured" : "not known";
}

static int write_result(const struct provenance *p, const char *content_hash, struct pp_sink *sink, struct pp_error *err)
{
	const struct export *export = p->export;

	if (fact(sink, "tool", "pprof-fetch " VERSION, err) != 0 ||
	    fact(sink, "server_kind", p->server->through_grafana ? "grafana proxy" : "pyroscope", err) != 0 ||
	    fact(sink, "server_mode", mode_name(p->mode), err) != 0 || number(sink, "windows_asked", export->pieces, err) != 0 ||
	    fact(sink, "request_hash", export->request_hash, err) != 0 || fact(sink, "response_hash", export->answer_hash, err) != 0 ||
	    fact(sink, "content_hash", content_hash, err) != 0 || number(sink, "samples", export->profile->samples_n, err) != 0 ||
	    number(sink, "total", export->total, err) != 0)
		return -1;
	if (export->count_type && number(sink, "count_total", export->count_total, err) != 0)
		return -1;
	if (number(sink, "period", export->profile->period, err) != 0 || fact(sink, "period_source", period_source(p), err) != 0)
		return -1;
	if (p->coverage && write_coverage(p->coverage, sink, err) != 0)
		return -1;
	if (p->replica_label &&
	    (fact(sink, "replica_label", p->replica_label, err) != 0 || number(sink, "replicas", p->replicas, err) != 0))
		return -1;
	return *p->warnings ? fact(sink, "warnings", p->warnings, err) : 0;
}

/* ---- files ---- */

static char *tsv_name(const char *path)
{
	size_t n = strlen(path) + sizeof(".tsv");
	char *out = malloc(n);

	if (out)
		snprintf(out, n, "%s.tsv", path);
	return out;
}

static int pack_profile(const struct pp_profile *profile, struct pp_buf *bytes, struct pp_error *err)
{
	struct pp_sink out = pp_buf_sink(bytes);
	struct pp_gz_writer *writer = pp_gz_writer_new(&out, 6, err);

	if (!writer)
		return -1;
	struct pp_sink in = pp_gz_writer_sink(writer);
	int result = pp_write(profile, &in, err);
	if (result == 0)
		result = pp_gz_writer_finish(writer, err);
	pp_gz_writer_free(writer);
	return result;
}

bool provenance_holds(const struct provenance *provenance, const char *path)
{
	struct pp_buf wanted = PP_BUF_INIT, text = PP_BUF_INIT, profile = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&wanted);
	struct pp_error err = PP_ERROR_INIT;
	char hash[PP_CONTENT_HASH_N], line[PP_CONTENT_HASH_N + 20];
	char *tsv = tsv_name(path);
	bool same = tsv && write_question(provenance, &sink, &err) == 0 && files_read(tsv, &text) && files_read(path, &profile) &&
	            text.n < TEXT_MAX_BYTES && text.n >= wanted.n && memcmp(text.bytes, wanted.bytes, wanted.n) == 0 &&
	            files_hash(&profile, hash, &err) == 0;

	if (same) {
		snprintf(line, sizeof(line), "\ncontent_hash\t%s\n", hash);
		same = strstr(text.bytes, line) != NULL;
	}
	free(tsv);
	pp_buf_release(&wanted);
	pp_buf_release(&text);
	pp_buf_release(&profile);
	return same;
}

enum cli_status provenance_save(const struct provenance *provenance, const char *path, bool sync)
{
	struct pp_buf text = PP_BUF_INIT, profile = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&text);
	struct pp_error err = PP_ERROR_INIT;
	char hash[PP_CONTENT_HASH_N], *tsv = tsv_name(path);
	enum cli_status status = CLI_OK;

	if (!tsv || pack_profile(provenance->export->profile, &profile, &err) != 0 || files_hash(&profile, hash, &err) != 0 ||
	    write_question(provenance, &sink, &err) != 0 || write_result(provenance, hash, &sink, &err) != 0) {
		pp_fail(&err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
		status = cli_report(path, &err);
	}
	if (status == CLI_OK)
		status = files_save_with(tsv, &text, path, &profile, sync);
	free(tsv);
	pp_buf_release(&text);
	pp_buf_release(&profile);
	return status;
}
