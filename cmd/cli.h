/* What every command shares: one option table that feeds parsing, --help and completion; diagnostics;
 * the exit status. */
#ifndef CLI_H
#define CLI_H

#include "libpprof/pprof.h"

enum cli_status {
	CLI_OK = 0,
	CLI_CHANGED = 1, /* the answer is "changed" or "regressed", only under --exit-code */
	CLI_USAGE = 2,
	CLI_INPUT = 3,   /* malformed, unsupported, over a limit, not comparable */
	CLI_SYSTEM = 4,  /* open, read, write, memory */
	/* pprof-fetch alone: */
	CLI_EMPTY = 5,       /* the query succeeded, and there is nothing */
	CLI_UNSUPPORTED = 6, /* this backend cannot do it */
	CLI_FAILED = 7,      /* the query failed */
	CLI_REFUSED = 8      /* access was refused */
};

enum cli_kind {
	CLI_FLAG,     /* bool *target becomes true */
	CLI_STRING,   /* const char **target */
	CLI_COUNT,    /* uint64_t *target, min … max */
	CLI_REAL,     /* double *target, finite, min … max as numbers; both 0: any */
	CLI_CHOICE,   /* int *target becomes the index in choices */
	CLI_OPERANDS, /* struct cli_list *target takes the operands that follow, up to the next such option */
	CLI_LIST      /* struct cli_list *target; repeatable, one argument each */
};

struct cli_list {
	const char **items; /* borrowed from argv */
	size_t n;
};

struct cli_option {
	const char *name;     /* long, without dashes */
	char letter;          /* 0: none */
	enum cli_kind kind;
	void *target;
	const char *argument; /* "FILE", "N"; NULL for flags */
	const char *help;     /* one line, no full stop */
	uint64_t min, max;
	const char *const *choices; /* NULL-terminated */
};

struct cli_command {
	const char *name;     /* "pprof-top" */
	const char *operands; /* "[FILE]", for the synopsis */
	const char *purpose;  /* one line */
	const struct cli_option *options; /* without help and version, which every command has */
	size_t options_n;
};

/* Parses argv, first thing in main: also sees to it that descriptors 0 to 2 are open and that a closed
 * pipe ends the process. Options and operands may be mixed, "--" ends options, "--x=y" and "--x y" are
 * the same, a lone "-" is an operand, prefixes of options are not taken. Operands go to *operands;
 * that and the lists of options are to be released after true. Returns true to go on; else the command ends now with *status (0 after --help, --version
 * and --completion-words, which print to stdout; CLI_USAGE after a mistake, said in one line on stderr). */
bool cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_list *operands,
               enum cli_status *status);
void cli_list_release(struct cli_list *list);

/* "tool: text" on stderr in one write, control bytes masked. */
void cli_error(const char *format, ...) PP_PRINTF(1, 2);
void cli_warn(const char *format, ...) PP_PRINTF(1, 2); /* "tool: warning: text" */
/* "tool: text (try --help)"; returns CLI_USAGE. */
enum cli_status cli_usage(const char *format, ...) PP_PRINTF(1, 2);
/* "tool: 'subject': byte N: reason", and the status that belongs to the code. subject NULL: the reason
 * alone, for failures that name their subject themselves, such as those of output_sink(). */
enum cli_status cli_report(const char *subject, const struct pp_error *err);
enum cli_status cli_status_of(enum pp_code code);
enum cli_status cli_no_memory(void); /* "tool: no memory"; returns CLI_SYSTEM */

#endif
