#include "cmd/fetch/scope.h"

#include <stdlib.h>
#include <string.h>

static const char hex[] = "0123456789abcdefABCDEF";

static bool is_hex(const char *text, size_t n)
{
	return strlen(text) == n && strspn(text, hex) == n;
}

/* Groups of 8, 4, 4, 4 and 12 digits. */
static bool is_uuid(const char *text)
{
	if (strlen(text) != 36)
		return false;
	for (int i = 0; i < 36; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		if (dash ? text[i] != '-' : !strchr(hex, text[i]))
			return false;
	}
	return true;
}

enum cli_status scope_check(const struct scope *scope)
{
	for (size_t i = 0; i < scope->profiles.n; i++)
		if (!is_uuid(scope->profiles.items[i]))
			return cli_usage("--profile-id must be a valid UUID (got \"%s\")", scope->profiles.items[i]);
	for (size_t i = 0; i < scope->spans.n; i++)
		if (!is_hex(scope->spans.items[i], 16))
			return cli_usage("--span-id must be a 16-character hex span ID (got \"%s\")", scope->spans.items[i]);
	for (size_t i = 0; i < scope->traces.n; i++)
		if (!is_hex(scope->traces.items[i], 32))
			return cli_usage("--trace-id must be a 32-character hex trace ID (got \"%s\")", scope->traces.items[i]);
	if (scope->spans.n > 0 && scope->traces.n > 0)
		return cli_usage("--trace-id and --span-id cannot be used together");
	return CLI_OK;
}

bool scope_is_all(const struct scope *scope)
{
	return scope->profiles.n == 0 && scope->spans.n == 0 && scope->traces.n == 0 && scope->functions.n == 0;
}

void scope_release(struct scope *scope)
{
	cli_list_release(&scope->profiles);
	cli_list_release(&scope->spans);
	cli_list_release(&scope->traces);
	cli_list_release(&scope->functions);
}

Pyro__StackTraceSelector *scope_stack_make(const struct scope *scope, struct scope_stack *stack, bool *failed)
{
	size_t n = scope->functions.n;

	*stack = (struct scope_stack){.sites = NULL};
	*failed = false;
	if (n == 0)
		return NULL;
	stack->sites = calloc(n, sizeof(*stack->sites));
	stack->site_pointers = calloc(n, sizeof(*stack->site_pointers));
	if (!stack->sites || !stack->site_pointers) {
		*failed = true;
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		pyro__location__init(&stack->sites[i]);
		stack->sites[i].name = rpc_text(scope->functions.items[i]);
		stack->site_pointers[i] = &stack->sites[i];
	}
	pyro__stack_trace_selector__init(&stack->selector);
	stack->selector.n_call_site = n;
	stack->selector.call_site = stack->site_pointers;
	return &stack->selector;
}

void scope_stack_release(struct scope_stack *stack)
{
	free(stack->sites);
	free(stack->site_pointers);
}

void scope_fill_stacktraces(const struct question *question, Pyro__ProfileFormat format, Pyro__SelectMergeStacktracesRequest *request,
                            struct scope_stack *stack, bool *failed)
{
	const struct scope *scope = &question->scope;

	pyro__select_merge_stacktraces_request__init(request);
	request->profile_typeid = rpc_text(question->type);
	request->label_selector = rpc_text(question->selector);
	request->start = question->window.from_ms;
	request->end = question->window.to_ms;
	request->max_nodes = (int64_t)question->max_nodes;
	request->format = format;
	request->stack_trace_selector = scope_stack_make(scope, stack, failed);
	request->n_profile_id_selector = scope->profiles.n;
	request->profile_id_selector = rpc_texts(&scope->profiles);
	request->n_trace_id_selector = scope->traces.n;
	request->trace_id_selector = rpc_texts(&scope->traces);
	request->n_span_selector = scope->spans.n;
	request->span_selector = rpc_texts(&scope->spans);
}

/* ---- the proof ---- */

struct part {
	const char *option, *nothing;
	size_t offset; /* of its list in struct scope */
};

static const struct part parts[] = {
	{"--profile-id", SCOPE_NO_PROFILE, offsetof(struct scope, profiles)},
	{"--span-id", SCOPE_NO_SPAN, offsetof(struct scope, spans)},
	{"--trace-id", SCOPE_NO_TRACE, offsetof(struct scope, traces)},
	{"--stacktrace-selector", SCOPE_NO_FUNCTION, offsetof(struct scope, functions)},
};

static struct cli_list *list_of(struct scope *scope, const struct part *part)
{
	return (struct cli_list *)(void *)((char *)scope + part->offset);
}

static enum cli_status prove_part(struct server *server, const struct question *question, const struct part *part,
                                  scope_ask *ask)
{
	struct question control = *question;
	const char *nothing = part->nothing;
	int64_t total = 0;

	*list_of(&control.scope, part) = (struct cli_list){&nothing, 1};
	enum cli_status status = ask(server, &control, &total);
	if (status == CLI_EMPTY)
		return CLI_OK;
	if (status != CLI_OK)
		return status;
	cli_error("this server ignores %s here: asked for one that nothing has, it answered with %lld all the same",
	          part->option, (long long)total);
	return CLI_UNSUPPORTED;
}

enum cli_status scope_prove(struct server *server, const struct question *question, int64_t scoped_total, scope_ask *ask)
{
	struct question whole = *question;
	int64_t total = 0;

	for (size_t i = 0; i < PP_COUNT(parts); i++) {
		if (list_of(&whole.scope, &parts[i])->n == 0)
			continue;
		enum cli_status status = prove_part(server, question, &parts[i], ask);
		if (status != CLI_OK)
			return status;
	}
	whole.scope = (struct scope){.profiles = {NULL, 0}};
	enum cli_status status = ask(server, &whole, &total);
	if (status != CLI_OK && status != CLI_EMPTY) {
		cli_warn("without the scope the query fails, so its share of the whole is not known");
		return CLI_OK;
	}
	if (scoped_total <= total)
		return CLI_OK;
	cli_error("the scoped total %lld is more than the whole, %lld: the server's answers do not fit together",
	          (long long)scoped_total, (long long)total);
	return CLI_UNSUPPORTED;
}
