#include "cmd/fetch/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/fetch/files.h"
#include "cmd/fetch/recast.h"
#include "cmd/fetch/selector.h"

#define PARTS_MAX 100000 /* calls of one export */
#define NODES_MAX 1048576 /* the most that servers allow unless told otherwise */

/* One call of an export: a type, a piece of the window, a value of the label that is kept. */
struct export_part {
	struct export *export;
	struct rpc_call call;
	struct question question;
	uint32_t column;           /* of the sum */
	const char *keep_value;    /* NULL: no label to put back */
	bool is_guard;             /* must bring nothing */
	char *selector;            /* owned, when a label value narrows it down */
	char *kept_path;           /* of the piece, while it waits for the others; NULL: it is not kept */
	union {
		Pyro__SelectMergeProfileRequest profile;
		Pyro__SelectMergeStacktracesRequest stacktraces;
	} request;
	struct scope_stack stack;
};

static const struct pp_limits limits = PP_LIMITS_DEFAULT;

static uint32_t columns_of(const struct export *export)
{
	return export->count_type ? 2 : 1;
}

/* The first failure of an export is the one that is told. */
static void fail(struct export *export, enum cli_status outcome, const char *what, const char *why)
{
	if (export->outcome != CLI_OK)
		return;
	export->outcome = outcome;
	snprintf(export->why, sizeof(export->why), "%s%s%s", what, *what ? ": " : "", why);
}

/* ---- the calls ---- */

/* With span ids only SelectMergeStacktraces will do; everywhere else SelectMergeProfile knows more servers. */
static void ask_for_spans(struct export_part *part)
{
	Pyro__SelectMergeStacktracesRequest *request = &part->request.stacktraces;
	bool failed;

	scope_fill_stacktraces(&part->question, PYRO__PROFILE_FORMAT__PROFILE_FORMAT_PPROF, request, &part->stack, &failed);
	part->call.method = "SelectMergeStacktraces";
	part->call.request = &request->base;
	part->call.response = &pyro__select_merge_stacktraces_response__descriptor;
	if (failed)
		fail(part->export, CLI_SYSTEM, "", "no memory");
}

static void ask_for_profile(struct export_part *part)
{
	const struct question *question = &part->question;
	Pyro__SelectMergeProfileRequest *request = &part->request.profile;
	bool failed;

	pyro__select_merge_profile_request__init(request);
	request->profile_typeid = rpc_text(question->type);
	request->label_selector = rpc_text(question->selector);
	request->start = question->window.from_ms;
	request->end = question->window.to_ms;
	request->max_nodes = (int64_t)question->max_nodes;
	request->stack_trace_selector = scope_stack_make(&question->scope, &part->stack, &failed);
	request->n_profile_id_selector = question->scope.profiles.n;
	request->profile_id_selector = rpc_texts(&question->scope.profiles);
	request->n_trace_id_selector = question->scope.traces.n;
	request->trace_id_selector = rpc_texts(&question->scope.traces);
	part->call.method = "SelectMergeProfile";
	part->call.request = &request->base;
	part->call.wants_export = true;
	if (failed)
		fail(part->export, CLI_SYSTEM, "", "no memory");
}

static void release_part(struct export_part *part)
{
	rpc_release(&part->call);
	scope_stack_release(&part->stack);
	free(part->selector);
	free(part->kept_path);
	part->selector = part->kept_path = NULL;
	part->stack = (struct scope_stack){.sites = NULL};
}

static void release_parts(struct export *export)
{
	for (size_t i = 0; i < export->parts_n; i++)
		release_part(&export->parts[i]);
	free(export->parts);
	export->parts = NULL;
	export->parts_n = 0;
}

/* ---- answers → the sum ---- */

static int add_profile(struct export_part *part, const struct pp_profile *profile, struct pp_error *err)
{
	struct export *export = part->export;
	const char *types[2] = {export->count_type ? export->count_type : export->question.type, export->question.type};
	struct pp_str names[2][2];
	struct recast_columns columns = {(const struct pp_str(*)[2])names, columns_of(export), part->column, 0};
	struct pp_merge_label label = {export->keep_label, part->keep_value};
	struct pp_str type = type_part(part->question.type, 1), unit = type_part(part->question.type, 2);

	if (profile->sample_types_n != 1 || !pp_str_eq(pp_sample_type_name(profile, 0), type) ||
	    !pp_str_eq(pp_sample_type_unit(profile, 0), unit))
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "the server answered with another type than %s", part->question.type);
	for (uint32_t i = 0; i < columns.columns_n; i++) {
		names[i][0] = type_part(types[i], 1);
		names[i][1] = type_part(types[i], 2);
	}
	struct pp_profile *wide = recast_columns(profile, &columns, err);
	int result = wide ? pp_merge_add(export->sum, wide, 1, part->keep_value && *part->keep_value ? &label : NULL, err) : -1;
	pp_profile_free(wide);
	return result;
}

/* All the shapes of "no data" have no samples: no bytes, a header, or an empty message. */
static int add_export(struct export_part *part, struct pp_str bytes, struct pp_error *err)
{
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	struct pp_memory_source memory;

	if (bytes.len == 0)
		return 0;
	pp_memory_source_init(&memory, bytes.ptr, bytes.len);
	struct pp_profile *profile = pp_read(&memory.source, &options, err);
	if (!profile)
		return -1;
	part->export->seen_values |= profile->samples_n > 0 && part->column == columns_of(part->export) - 1 && !part->is_guard;
	int result = 0;
	if (profile->samples_n > 0 && part->is_guard)
		result = pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "the window begins where the server's storages meet, with profiles "
		                 "just before it: it cannot be told what belongs to it");
	else if (profile->samples_n > 0)
		result = add_profile(part, profile, err);
	pp_profile_free(profile);
	return result;
}

/* Whether it could be read and added. */
static bool add_answer(struct export_part *part)
{
	struct rpc_call *call = &part->call;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_str bytes = call->export;

	if (!call->wants_export) {
		const Pyro__SelectMergeStacktracesResponse *answer = (const void *)call->answer;
		/* A server that does not know the format, and so perhaps not the spans, sends a flame graph. */
		if (!answer->pprof && answer->flamegraph) {
			fail(part->export, CLI_UNSUPPORTED, call->method, "this server does not know --span-id with an export");
			return false;
		}
		bytes = answer->pprof ? (struct pp_str){(const char *)answer->pprof->profile.data, answer->pprof->profile.len} : PP_LIT("");
	}
	if (add_export(part, bytes, &err) == 0)
		return true;
	fail(part->export, err.code == PP_ENOMEM ? CLI_SYSTEM : CLI_FAILED, call->method, err.text);
	return false;
}

/* ---- the sum → the result ---- */

/* The period that explains every value by its count, or 0. */
static int64_t measured_period(const struct pp_profile *profile, int64_t total, int64_t count_total)
{
	int64_t period = count_total > 0 && total % count_total == 0 ? total / count_total : 0, value;

	for (uint32_t i = 0; period && i < profile->samples_n; i++)
		if (__builtin_mul_overflow(pp_value(profile, i, 0), period, &value) || value != pp_value(profile, i, 1))
			return 0;
	return period;
}

/* Sets the header: the window, and a period only where it means something. Servers put in 1 s for CPU, which is
 * not so; for memory the usual rate of Go; else 1. */
static struct pp_profile *with_header(struct export *export, const struct pp_profile *profile, struct pp_error *err)
{
	const struct question *question = &export->question;
	struct recast_header header = {
		.time_ns = question->window.from_ms * 1000000,
		.duration_ns = (question->window.to_ms - question->window.from_ms) * 1000000,
		.default_type = type_part(question->type, 1),
	};
	bool timed = pp_str_eq(type_part(question->type, 2), PP_LIT("nanoseconds"));
	bool memory = pp_str_eq(type_part(question->type, 0), PP_LIT("memory"));

	if (timed && export->count_type)
		header.period = measured_period(profile, export->total, export->count_total);
	else if (memory)
		header.period = 524288;
	export->period_measured = timed && header.period > 0;
	if (header.period > 0) {
		header.period_type = type_part(question->type, 3);
		header.period_unit = type_part(question->type, 4);
		header.period_unit.len = strcspn(header.period_unit.ptr, ":");
	}
	return recast_header(profile, &header, err);
}

static int column_total(const struct pp_profile *profile, uint32_t column, int64_t *total, struct pp_error *err)
{
	*total = 0;
	for (uint32_t i = 0; i < profile->samples_n; i++)
		if (!pp_add_i64(*total, pp_value(profile, i, column), total))
			return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the total does not fit 64 bits");
	return 0;
}

static bool lacks_counts(const struct pp_profile *profile)
{
	for (uint32_t i = 0; i < profile->samples_n; i++)
		if (pp_value(profile, i, 0) == 0 && pp_value(profile, i, 1) != 0)
			return true;
	return false;
}

/* A server with a limit of nodes for exports puts what it cuts away into a function without a file or line. */
static bool is_folded(const struct pp_profile *profile)
{
	for (uint32_t i = 0; i < profile->locations_n; i++) {
		const struct pp_location *location = &profile->locations[i];
		const struct pp_line *line = &profile->lines[location->line_first];
		if (location->lines_n != 1 || line->line != 0 || line->function == PP_NONE)
			continue;
		const struct pp_function *function = &profile->functions[line->function];
		if (function->filename == 0 && pp_str_eq(pp_string(profile, function->name), PP_LIT("other")))
			return true;
	}
	return false;
}

static int hash_parts(struct export *export, struct pp_error *err)
{
	struct pp_content_hash *asked = pp_content_hash_new(), *answered = pp_content_hash_new();
	int result = asked && answered ? 0 : pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");

	for (size_t i = 0; result == 0 && i < export->parts_n; i++) {
		const struct rpc_call *call = &export->parts[i].call;
		pp_content_hash_add(asked, call->request_hash, PP_CONTENT_HASH_N - 1);
		pp_content_hash_add(answered, call->answer_hash, PP_CONTENT_HASH_N - 1);
	}
	if (result == 0) {
		pp_content_hash_hex(asked, export->request_hash);
		pp_content_hash_hex(answered, export->answer_hash);
	}
	pp_content_hash_free(asked);
	pp_content_hash_free(answered);
	return result;
}

static int make_result(struct export *export, struct pp_error *err)
{
	uint32_t value_column = columns_of(export) - 1;
	struct pp_profile *sum;

	if (hash_parts(export, err) != 0 || !(sum = pp_merge_finish(export->sum, err)))
		return -1;
	int result = column_total(sum, value_column, &export->total, err);
	if (result == 0 && value_column == 1) {
		result = column_total(sum, 0, &export->count_total, err);
		export->counts_missing = lacks_counts(sum);
	}
	export->folded = !export->question.max_nodes && is_folded(sum);
	if (result == 0) {
		export->profile = with_header(export, sum, err);
		result = export->profile ? 0 : -1;
	}
	pp_profile_free(sum);
	return result;
}

/* Without counts for its values a joined profile would say that nothing was sampled: the value stands alone. */
static int drop_counts(struct export *export, struct pp_error *err)
{
	struct pp_str names[1][2] = {{type_part(export->question.type, 1), type_part(export->question.type, 2)}};
	struct recast_columns columns = {(const struct pp_str(*)[2])names, 1, 0, 1};
	struct pp_profile *bare = recast_columns(export->profile, &columns, err), *named;

	if (!bare)
		return -1;
	export->count_type = NULL;
	export->count_total = 0;
	named = with_header(export, bare, err);
	pp_profile_free(bare);
	if (!named)
		return -1;
	pp_profile_free(export->profile);
	export->profile = named;
	return 0;
}

static bool start_parts(struct export *export);

/* The pieces are in the sum, which is on its way to its place, or useless. */
static void forget_pieces(const struct export *export)
{
	for (size_t i = 0; i < export->parts_n; i++)
		if (export->parts[i].kept_path)
			unlink(export->parts[i].kept_path);
}

/* All calls are done. */
static void finish(struct export *export)
{
	struct pp_error err = PP_ERROR_INIT;

	if (export->outcome == CLI_OK && export->again && start_parts(export))
		return;
	if (export->outcome == CLI_OK && !export->seen_values)
		fail(export, CLI_EMPTY, "", "no samples");
	if (export->outcome == CLI_OK &&
	    (make_result(export, &err) != 0 || (export->counts_missing && drop_counts(export, &err) != 0)))
		fail(export, err.code == PP_ENOMEM ? CLI_SYSTEM : CLI_FAILED, "", err.text);
	if (export->outcome == CLI_OK && export->folded && !export->nodes) {
		export->nodes = NODES_MAX;
		export_release(export);
		if (start_parts(export))
			return;
	}
	pp_merge_free(export->sum);
	export->sum = NULL;
	if (export->outcome == CLI_OK || export->outcome == CLI_EMPTY)
		forget_pieces(export);
	release_parts(export);
	if (export->done)
		export->done(export);
}

/* ---- pieces that wait for the others ---- */

#define HASH_N (PP_CONTENT_HASH_N - 1)

/* The answer's hash, which of JSON is not that of the export; the export's hash, and its bytes. A file that cannot be
 * written only means that it is asked for again. */
static void keep_piece(const struct export_part *part)
{
	struct pp_buf export = PP_BUF_INIT, bytes = PP_BUF_INIT;
	struct pp_error err = PP_ERROR_INIT;
	char hash[PP_CONTENT_HASH_N];

	if (pp_buf_append(&export, part->call.export.ptr, part->call.export.len, &err) == 0 && files_hash(&export, hash, &err) == 0 &&
	    pp_buf_append(&bytes, part->call.answer_hash, HASH_N, &err) == 0 && pp_buf_append(&bytes, hash, HASH_N, &err) == 0 &&
	    pp_buf_append(&bytes, export.bytes, export.n, &err) == 0)
		(void)files_save(part->kept_path, &bytes, false);
	pp_buf_release(&export);
	pp_buf_release(&bytes);
}

/* Whether the piece is there from a run before, and whole; it is then added. */
static bool take_kept(struct export_part *part)
{
	struct pp_buf bytes = PP_BUF_INIT;
	struct pp_error err = PP_ERROR_INIT;
	char hash[PP_CONTENT_HASH_N];
	bool good = files_read(part->kept_path, &bytes) && bytes.n >= 2 * HASH_N;

	if (good) {
		struct pp_buf export = {bytes.bytes + 2 * HASH_N, bytes.n - 2 * HASH_N, 0};
		good = files_hash(&export, hash, &err) == 0 && memcmp(hash, bytes.bytes + HASH_N, HASH_N) == 0;
		if (good && add_export(part, (struct pp_str){export.bytes, export.n}, &err) != 0)
			fail(part->export, err.code == PP_ENOMEM ? CLI_SYSTEM : CLI_FAILED, part->call.method, err.text);
		memcpy(part->call.answer_hash, bytes.bytes, HASH_N);
		part->call.answer_hash[HASH_N] = '\0';
	}
	pp_buf_release(&bytes);
	return good;
}

static void start_part(struct export_part *part)
{
	struct export *export = part->export;
	struct pp_error err = PP_ERROR_INIT;
	char ending[PP_CONTENT_HASH_N + 8];

	if (export->path && export->pieces > 1 && part->call.wants_export && rpc_hash(&part->call, &err) == 0) {
		snprintf(ending, sizeof(ending), "%s.piece", part->call.request_hash);
		part->kept_path = files_hidden(export->path, ending);
	}
	if (!part->kept_path || !take_kept(part)) {
		rpc_start(export->server, &part->call);
		return;
	}
	rpc_release(&part->call);
	if (--export->left == 0)
		finish(export);
}

/* ---- answers ---- */

/* The number in "max flamegraph nodes limit 1048576 is greater than allowed 100". */
static bool allowed_nodes(const char *why, uint64_t *nodes)
{
	static const char words[] = "is greater than allowed ";
	const char *at = strstr(why, "max flamegraph nodes limit");

	at = at ? strstr(at, words) : NULL;
	if (!at)
		return false;
	at += sizeof(words) - 1;
	return pp_parse_u64((struct pp_str){at, strspn(at, "0123456789")}, nodes) && *nodes > 0;
}

static void part_done(struct rpc_call *call)
{
	struct export_part *part = call->context;
	struct export *export = part->export;
	int64_t longest = 0;
	uint64_t nodes = 0;

	if (call->outcome == CLI_OK && !export->again) {
		if (add_answer(part) && part->kept_path)
			keep_piece(part);
	} else if (call->outcome == CLI_FAILED && allowed_nodes(call->why, &nodes) && nodes <= export->nodes) {
		export->nodes = nodes;
		export->again = true;
	} else if (rpc_is_border(call) && (export->again || !export->at_border)) {
		export->at_border = export->again = true;
	} else if (call->outcome == CLI_FAILED && when_limit(call->why, &longest) &&
	           longest < part->question.window.to_ms - part->question.window.from_ms) {
		export->server->longest_ms = longest;
		export->again = true;
	} else if (call->outcome != CLI_OK) {
		fail(export, call->outcome, call->method, call->why);
	}
	/* The bytes are no longer needed, the hashes are. */
	rpc_release(call);
	if (--export->left == 0)
		finish(export);
}

/* ---- the start ---- */

/* What would begin where the storages meet begins a millisecond earlier: a guard sees to it that this adds nothing. */
static struct window asked_window(const struct export *export)
{
	const struct window *window = &export->question.window;

	return (struct window){window->from_ms - export->at_border, window->to_ms};
}

static size_t pieces_of(const struct export *export)
{
	struct window window = asked_window(export);
	int64_t longest = export->server->longest_ms;

	return longest && window.to_ms > window.from_ms ? (size_t)((window.to_ms - window.from_ms - 1) / longest) + 1 : 1;
}

/* Piece i of the window: both ends are inside, so a piece ends a millisecond before the next begins. None but a
 * whole window is one millisecond long, in which v1 finds nothing: the last piece is as long as allowed instead. */
static struct window piece_at(const struct export *export, size_t i)
{
	struct window piece = asked_window(export);
	int64_t longest = export->server->longest_ms;

	if (longest) {
		piece.from_ms += (int64_t)i * longest;
		if (piece.to_ms - piece.from_ms > longest)
			piece.to_ms = piece.from_ms + longest - 1;
	}
	return piece;
}

static void prepare(struct export_part *part, struct export *export, size_t index, size_t pieces)
{
	size_t values = export->keep_label ? export->keep_values_n : 1;
	size_t value = index % values, piece = index / values % pieces;

	part->export = export;
	if (index == export->parts_n - 1 && export->at_border) {
		part->is_guard = true;
		index = 0;
		piece = value = 0;
	}
	part->column = (uint32_t)(index / values / pieces);
	part->question = export->question;
	part->question.window = piece_at(export, piece);
	if (!part->question.max_nodes)
		part->question.max_nodes = export->nodes;
	if (part->is_guard)
		part->question.window = (struct window){export->question.window.from_ms - 2, export->question.window.from_ms - 1};
	if (export->count_type && part->column == 0)
		part->question.type = export->count_type;
	if (export->keep_label) {
		part->keep_value = export->keep_values[value];
		part->selector = selector_with(export->question.selector, export->keep_label, part->keep_value);
		part->question.selector = part->selector;
		if (!part->selector)
			fail(export, CLI_SYSTEM, "", "no memory");
	}
	part->call.done = part_done;
	part->call.context = part;
	if (part->question.scope.spans.n > 0)
		ask_for_spans(part);
	else
		ask_for_profile(part);
}

/* Begins, or begins again in pieces. False when that failed; the failure is then in the export. */
static bool start_parts(struct export *export)
{
	struct pp_error err = PP_ERROR_INIT;
	size_t pieces = pieces_of(export), n;

	forget_pieces(export); /* what is asked again is asked in another way */
	release_parts(export);
	pp_merge_free(export->sum);
	export->again = export->seen_values = false;
	export->pieces = (uint32_t)pieces;
	export->sum = pp_merge_new(&limits, &err);
	if (__builtin_mul_overflow(pieces, columns_of(export) * (export->keep_label ? export->keep_values_n : 1), &n) || n > PARTS_MAX) {
		fail(export, CLI_USAGE, "", "the window is too long for this server, which allows only short ones");
		return false;
	}
	n += export->at_border;
	export->parts = export->sum ? calloc(n, sizeof(*export->parts)) : NULL;
	if (!export->parts) {
		fail(export, CLI_SYSTEM, "", "no memory");
		return false;
	}
	export->parts_n = export->left = n;
	for (size_t i = 0; i < n; i++)
		prepare(&export->parts[i], export, i, pieces);
	if (export->outcome != CLI_OK)
		return false;
	/* The last call that is done may free the parts; it is not done before it was started. */
	for (size_t i = 0; i < n; i++)
		start_part(&export->parts[i]);
	return true;
}

void export_start(struct server *server, struct export *export)
{
	export->server = server;
	export->outcome = CLI_OK;
	export->why[0] = '\0';
	export->profile = NULL;
	export->total = export->count_total = 0;
	export->period_measured = export->counts_missing = export->at_border = export->folded = false;
	export->nodes = 0;
	export->parts = NULL;
	export->parts_n = 0;
	export->sum = NULL;
	if (!start_parts(export))
		finish(export);
}

enum cli_status export_wait(struct server *server, struct export *export)
{
	export_start(server, export);
	http_run(server->pool);
	return export->outcome;
}

void export_release(struct export *export)
{
	pp_profile_free(export->profile);
	export->profile = NULL;
}

enum cli_status export_total(struct server *server, const struct question *question, int64_t *total)
{
	struct export export = {.question = *question};
	enum cli_status status = export_wait(server, &export);

	if (status != CLI_OK && status != CLI_EMPTY)
		cli_error("%s", export.why);
	*total = export.total;
	export_release(&export);
	return status;
}
