#include "cmd/fetch/fetch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MIN_MS 15000
#define STEPS_MAX 240

enum cli_status fetch_empty(const struct fetch *fetch, const char *what)
{
	char from[40], to[40];

	cli_error("no %s from %s to %s", what, when_text(from, sizeof(from), fetch->window.from_ms),
	          when_text(to, sizeof(to), fetch->window.to_ms));
	return CLI_EMPTY;
}

struct question fetch_question(const struct fetch *fetch)
{
	const struct fetch_options *options = fetch->options;

	return (struct question){options->type, fetch->selector, fetch->window, options->scope, options->max_nodes};
}

enum cli_status fetch_open_text(struct fetch *fetch, struct pp_sink *sink)
{
	enum cli_status status = fetch->opened ? CLI_OK : output_open(&fetch->output, false);

	if (status != CLI_OK)
		return status;
	fetch->opened = true;
	*sink = output_sink(&fetch->output);
	return CLI_OK;
}

enum table_format fetch_table_format(const struct fetch *fetch)
{
	static const enum table_format formats[] = {
		[FETCH_TSV] = TABLE_TSV, [FETCH_TABLE] = TABLE_ALIGNED, [FETCH_JSON] = TABLE_JSON, [FETCH_MARKDOWN] = TABLE_MARKDOWN,
		[FETCH_PPROF] = TABLE_AUTO, [FETCH_DOT] = TABLE_AUTO, [FETCH_AUTO] = TABLE_AUTO,
	};

	return table_format_for(formats[fetch->options->format], &fetch->output);
}

bool fetch_wants_json(const struct fetch *fetch)
{
	return fetch->options->format == FETCH_JSON;
}

enum cli_status fetch_write_json(struct pp_json *object, struct pp_sink *sink)
{
	struct pp_error err = PP_ERROR_INIT;

	if (!object)
		pp_fail(&err, PP_ENOMEM, PP_NO_OFFSET, "no memory for JSON");
	else if (pp_json_write(object, 2, sink, &err) == 0)
		err.code = PP_OK;
	pp_json_free(object);
	return err.code == PP_OK ? CLI_OK : cli_report(NULL, &err);
}

/* ---- names ---- */

static size_t commas_in(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == ',';
	return n;
}

enum cli_status fetch_names(const struct cli_list *from, struct fetch_names *names)
{
	size_t bytes = 1, n = 0;

	for (size_t i = 0; i < from->n; i++) {
		bytes += strlen(from->items[i]) + 1;
		n += commas_in(from->items[i]) + 1;
	}
	names->text = malloc(bytes);
	names->list = (struct cli_list){calloc(n + 1, sizeof(*names->list.items)), 0};
	if (!names->text || !names->list.items) {
		fetch_names_release(names);
		return cli_no_memory();
	}
	char *at = names->text;
	for (size_t i = 0; i < from->n; i++) {
		for (const char *word = from->items[i]; *word;) {
			size_t length = strcspn(word, ",");
			if (length > 0)
				names->list.items[names->list.n++] = at;
			memcpy(at, word, length);
			at += length;
			*at++ = '\0';
			word += length + (word[length] == ',');
		}
	}
	return CLI_OK;
}

void fetch_names_release(struct fetch_names *names)
{
	cli_list_release(&names->list);
	free(names->text);
	names->text = NULL;
}

/* ---- steps ---- */

enum cli_status fetch_step(const struct fetch *fetch, int64_t *step_ms)
{
	const char *text = fetch->options->step;
	int64_t length = fetch->window.to_ms - fetch->window.from_ms;

	if (!text) {
		*step_ms = STEP_MIN_MS;
		while (length / *step_ms >= STEPS_MAX + 1)
			*step_ms *= 2;
		return CLI_OK;
	}
	if (*text && !text[strspn(text, "0123456789.")]) {
		char *end;
		double seconds = strtod(text, &end);
		if (*end || !(seconds >= 0.001) || seconds > 1e9)
			return cli_usage("--step must be at least 0.001 seconds, not '%s'", text);
		*step_ms = (int64_t)floor(seconds * 1000 + 1e-6);
		return CLI_OK;
	}
	if (!when_duration(text, step_ms) || *step_ms < 1)
		return cli_usage("--step must be seconds or a duration such as 10m, not '%s'", text);
	return CLI_OK;
}
