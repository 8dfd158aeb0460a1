#include "cmd/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The name that diagnostics begin with, set by cli_parse. */
static const char *tool_name = "pprof-tools";

/* ---- diagnostics ---- */

static void write_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, bytes, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return; /* nowhere left to complain */
		bytes += done;
		n -= (size_t)done;
	}
}

static void say(const char *kind, const char *ending, const char *format, va_list args)
	PP_PRINTF(3, 0);
static void say(const char *kind, const char *ending, const char *format, va_list args)
{
	char text[2048], masked[2048], line[2304];
	if (vsnprintf(text, sizeof text, format, args) < 0)
		text[0] = '\0';
	pp_printable(masked, sizeof masked, text, strlen(text));
	int n = snprintf(line, sizeof line, "%.64s: %s%s%s\n", tool_name, kind, masked, ending);
	if (n > 0)
		write_all(STDERR_FILENO, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

void cli_error(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say("", "", format, args);
	va_end(args);
}

void cli_warn(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say("warning: ", "", format, args);
	va_end(args);
}

enum cli_status cli_usage(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say("", " (try --help)", format, args);
	va_end(args);
	return CLI_USAGE;
}

enum cli_status cli_status_of(enum pp_code code)
{
	switch (code) {
	case PP_OK:
		return CLI_OK;
	case PP_EUSAGE:
		return CLI_USAGE;
	case PP_ENOMEM:
	case PP_EIO:
		return CLI_SYSTEM;
	case PP_EFORMAT:
	case PP_EUNSUPPORTED:
	case PP_ELIMIT:
	case PP_EOVERFLOW:
	case PP_EINCOMPAT:
		break;
	}
	return CLI_INPUT;
}

enum cli_status cli_no_memory(void)
{
	cli_error("no memory");
	return CLI_SYSTEM;
}

enum cli_status cli_report(const char *subject, const struct pp_error *err)
{
	char at[40] = "";
	if (err->offset != PP_NO_OFFSET)
		snprintf(at, sizeof at, "byte %llu: ", (unsigned long long)err->offset);
	if (subject)
		cli_error("'%s': %s%s", subject, at, err->text);
	else
		cli_error("%s%s", at, err->text);
	return cli_status_of(err->code);
}

/* ---- the process ---- */

/* Descriptors 0 to 2 must be open, or the first file that is opened would become one of them. A missing
 * one is opened the wrong way round, so that using it fails instead of losing data. */
static void open_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
			_exit(CLI_SYSTEM);
}

static void reset_pipe_signal(void)
{
	sigset_t set;
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- help, version, completion ---- */

static int print_option(struct pp_sink *sink, const struct cli_option *option, struct pp_error *err)
{
	char left[64];
	snprintf(left, sizeof left, "  %c%c%c --%s%s%s", option->letter ? '-' : ' ',
	         option->letter ? option->letter : ' ', option->letter ? ',' : ' ', option->name,
	         option->argument ? " " : "", option->argument ? option->argument : "");
	if (pp_sink_printf(sink, err, "%-28s %s", left, option->help) != 0)
		return -1;
	for (size_t i = 0; option->choices && option->choices[i]; i++)
		if (pp_sink_printf(sink, err, "%s%s", i == 0 ? ": " : ", ", option->choices[i]) != 0)
			return -1;
	return pp_sink_str(sink, "\n", err);
}

static const struct cli_option common_options[] = {
	{"help", 0, CLI_FLAG, NULL, NULL, "print this help", 0, 0, NULL},
	{"version", 0, CLI_FLAG, NULL, NULL, "print the version", 0, 0, NULL},
};

static int print_help(const struct cli_command *command, struct pp_sink *sink, struct pp_error *err)
{
	if (pp_sink_printf(sink, err, "Usage: %s [OPTION]...%s%s\n%s\n\n", command->name,
	                   command->operands && command->operands[0] ? " " : "",
	                   command->operands ? command->operands : "", command->purpose) != 0)
		return -1;
	for (size_t i = 0; i < command->options_n; i++)
		if (print_option(sink, &command->options[i], err) != 0)
			return -1;
	for (size_t i = 0; i < PP_COUNT(common_options); i++)
		if (print_option(sink, &common_options[i], err) != 0)
			return -1;
	return 0;
}

/* A line an option: the option, its argument's name, and the values it may have. */
static int print_words(const struct cli_option *options, size_t n, struct pp_sink *sink, struct pp_error *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct cli_option *option = &options[i];
		const char *gap = option->argument ? " " : "", *argument = option->argument ? option->argument : "";
		if (option->letter && pp_sink_printf(sink, err, "-%c%s%s\n", option->letter, gap, argument) != 0)
			return -1;
		if (pp_sink_printf(sink, err, "--%s%s%s", option->name, gap, argument) != 0)
			return -1;
		for (size_t k = 0; option->choices && option->choices[k]; k++)
			if (pp_sink_printf(sink, err, " %s", option->choices[k]) != 0)
				return -1;
		if (pp_sink_str(sink, "\n", err) != 0)
			return -1;
	}
	return 0;
}

/* Answers --help and its like on stdout. True if name was one of them. */
static bool answer(const struct cli_command *command, const char *name, enum cli_status *status)
{
	struct pp_buf text = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&text);
	struct pp_error err = PP_ERROR_INIT;
	int result;
	if (strcmp(name, "help") == 0) {
		result = print_help(command, &sink, &err);
	} else if (strcmp(name, "version") == 0) {
		result = pp_sink_printf(&sink, &err, "%s %s\n", command->name, VERSION);
	} else if (strcmp(name, "completion-words") == 0) {
		result = print_words(command->options, command->options_n, &sink, &err);
		if (result == 0)
			result = print_words(common_options, PP_COUNT(common_options), &sink, &err);
	} else {
		return false;
	}
	*status = CLI_OK;
	if (result != 0)
		*status = cli_report(NULL, &err);
	for (size_t done = 0; result == 0 && done < text.n;) {
		ssize_t n = write(STDOUT_FILENO, text.bytes + done, text.n - done);
		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			result = -2;
	}
	if (result == 0 && close(STDOUT_FILENO) != 0)
		result = -2;
	if (result == -2) {
		cli_error("cannot write standard output: %s", strerror(errno));
		*status = CLI_SYSTEM;
	}
	pp_buf_release(&text);
	return true;
}

/* ---- arguments ---- */

static bool list_add(struct cli_list *list, const char *item)
{
	/* Grows at powers of two. */
	if ((list->n & (list->n - 1)) == 0) {
		size_t want = list->n ? list->n * 2 : 1;
		const char **items = realloc(list->items, want * sizeof *items);
		if (!items) {
			cli_error("out of memory");
			return false;
		}
		list->items = items;
	}
	list->items[list->n++] = item;
	return true;
}

void cli_list_release(struct cli_list *list)
{
	free(list->items);
	*list = (struct cli_list){NULL, 0};
}

static bool parse_count(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	uint64_t sum = 0;
	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || __builtin_mul_overflow(sum, UINT64_C(10), &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(*text - '0'), &sum))
			return false;
	}
	*value = sum;
	return sum >= min && sum <= max;
}

/* Commands never call setlocale(), so strtod() reads the C locale's numbers. */
static bool parse_real(const char *text, uint64_t min, uint64_t max, double *value)
{
	char *end;
	if (!*text || text[strspn(text, "0123456789.eE+-")])
		return false;
	*value = strtod(text, &end);
	if (*end || !isfinite(*value))
		return false;
	return (min == 0 && max == 0) || (*value >= (double)min && *value <= (double)max);
}

static bool parse_choice(const char *text, const char *const *choices, int *value)
{
	for (int i = 0; choices[i]; i++)
		if (strcmp(choices[i], text) == 0) {
			*value = i;
			return true;
		}
	return false;
}

static enum cli_status wrong_choice(const struct cli_option *option, const char *text)
{
	char list[512];
	size_t n = 0;
	list[0] = '\0';
	for (size_t i = 0; option->choices[i] && n < sizeof list - 1; i++) {
		int more = snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", option->choices[i]);
		n += more > 0 ? (size_t)more : 0;
	}
	return cli_usage("option '--%s' must be one of %s, not '%s'", option->name, list, text);
}

static enum cli_status wrong_number(const struct cli_option *option, const char *text, const char *what)
{
	unsigned long long min = option->min, max = option->max;
	if (min == 0 && max == 0)
		return cli_usage("option '--%s' must be %s, not '%s'", option->name, what, text);
	if (max == UINT64_MAX)
		return cli_usage("option '--%s' must be %s of at least %llu, not '%s'", option->name, what, min, text);
	return cli_usage("option '--%s' must be %s from %llu to %llu, not '%s'", option->name, what, min, max, text);
}

/* Stores an option's argument. */
static enum cli_status store(const struct cli_option *option, const char *text)
{
	switch (option->kind) {
	case CLI_FLAG:
		*(bool *)option->target = true;
		return CLI_OK;
	case CLI_STRING:
		*(const char **)option->target = text;
		return CLI_OK;
	case CLI_COUNT: {
		uint64_t value;
		if (!parse_count(text, option->min, option->max, &value))
			return wrong_number(option, text, "a whole number");
		*(uint64_t *)option->target = value;
		return CLI_OK;
	}
	case CLI_REAL: {
		double value;
		if (!parse_real(text, option->min, option->max, &value))
			return wrong_number(option, text, "a number");
		*(double *)option->target = value;
		return CLI_OK;
	}
	case CLI_CHOICE:
		return parse_choice(text, option->choices, option->target) ? CLI_OK : wrong_choice(option, text);
	case CLI_OPERANDS:
	case CLI_LIST:
		break;
	}
	return list_add(option->target, text) ? CLI_OK : CLI_SYSTEM;
}

/* ---- parsing ---- */

struct parser {
	const struct cli_command *command;
	int argc, at; /* at: the next argument */
	char **argv;
	struct cli_list *sink; /* where operands go now */
};

static const struct cli_option *find_long(const struct cli_command *command, const char *name, size_t n)
{
	for (size_t i = 0; i < command->options_n; i++)
		if (strlen(command->options[i].name) == n && strncmp(command->options[i].name, name, n) == 0)
			return &command->options[i];
	return NULL;
}

static const struct cli_option *find_letter(const struct cli_command *command, char letter)
{
	for (size_t i = 0; i < command->options_n; i++)
		if (command->options[i].letter == letter)
			return &command->options[i];
	return NULL;
}

/* Takes an option whose argument is inline_argument, or else the next word. An option that collects
 * operands takes its first one in the same way. */
static enum cli_status take(struct parser *parser, const struct cli_option *option, const char *inline_argument)
{
	const char *argument = inline_argument;
	if (option->kind == CLI_FLAG)
		return inline_argument ? cli_usage("option '--%s' takes no argument", option->name) : store(option, NULL);
	if (!argument) {
		if (parser->at >= parser->argc)
			return cli_usage("option '--%s' needs an argument, %s", option->name, option->argument);
		argument = parser->argv[parser->at++];
	}
	if (option->kind == CLI_OPERANDS)
		parser->sink = option->target;
	return store(option, argument);
}

/* "--name" or "--name=argument". True in *done when the command has answered. */
static enum cli_status take_long(struct parser *parser, const char *word, bool *done)
{
	const char *name = word + 2, *equals = strchr(name, '=');
	const struct cli_option *option = find_long(parser->command, name, equals ? (size_t)(equals - name) : strlen(name));
	if (option)
		return take(parser, option, equals ? equals + 1 : NULL);
	enum cli_status status;
	if (!equals && answer(parser->command, name, &status)) {
		*done = true;
		return status;
	}
	return cli_usage("unknown option '%.*s'", equals ? (int)(equals - word) : (int)strlen(word), word);
}

/* "-abc": flags, the last of which may take an argument, attached or not. */
static enum cli_status take_letters(struct parser *parser, const char *word)
{
	for (const char *at = word + 1; *at; at++) {
		const struct cli_option *option = find_letter(parser->command, *at);
		if (!option)
			return at == word + 1 ? cli_usage("unknown option '%s'", word)
			                      : cli_usage("unknown option '-%c' in '%s'", *at, word);
		if (option->kind != CLI_FLAG)
			return take(parser, option, at[1] ? at + 1 : NULL);
		store(option, NULL);
	}
	return CLI_OK;
}

bool cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_list *operands,
               enum cli_status *status)
{
	struct parser parser = {command, argc, 1, argv, operands};
	bool done = false, options_ended = false;
	*operands = (struct cli_list){NULL, 0};
	*status = CLI_OK;
	tool_name = command->name;
	open_standard_descriptors();
	reset_pipe_signal();
	while (!done && *status == CLI_OK && parser.at < parser.argc) {
		const char *word = parser.argv[parser.at++];
		if (options_ended || word[0] != '-' || !word[1])
			*status = list_add(parser.sink, word) ? CLI_OK : CLI_SYSTEM;
		else if (strcmp(word, "--") == 0)
			options_ended = true;
		else if (word[1] == '-')
			*status = take_long(&parser, word, &done);
		else
			*status = take_letters(&parser, word);
	}
	if (!done && *status == CLI_OK)
		return true;
	cli_list_release(operands);
	for (size_t i = 0; i < command->options_n; i++)
		if (command->options[i].kind == CLI_OPERANDS || command->options[i].kind == CLI_LIST)
			cli_list_release(command->options[i].target);
	return false;
}
