/* Times and windows as people give them. A window holds both of its ends, as the servers' do. */
#ifndef FETCH_WHEN_H
#define FETCH_WHEN_H

#include "cmd/cli.h"

struct window {
	int64_t from_ms, to_ms; /* UTC since the epoch */
};

struct when_options {
	const char *from, *to, *since;
};
#define WHEN_OPTIONS(w)                                                                                    \
	{"from", 0, CLI_STRING, &(w)->from, "TIME", "RFC 3339, Unix seconds, now, now-1h", 0, 0, NULL},      \
	{"to", 0, CLI_STRING, &(w)->to, "TIME", "likewise", 0, 0, NULL},                                     \
	{"since", 0, CLI_STRING, &(w)->since, "DURATION", "from so long before --to, or now: 1h30m, 7d", 0, 0, NULL}

/* The window that the options mean; the last hour if they say nothing. Mistakes are said: CLI_USAGE. */
enum cli_status when_window(const struct when_options *options, struct window *window);

/* "1h30m", "7d", "500ms", "0": largest unit first (y w d h m s ms), each at most once. */
bool when_duration(const char *text, int64_t *ms);
/* The longest window that a server allows, from its refusal "… (max_query_length, actual: …, limit: 1d)";
 * false for other words. */
bool when_limit(const char *words, int64_t *ms);
/* RFC 3339 in UTC. Returns out (≥ 32 bytes). */
const char *when_text(char *out, size_t out_n, int64_t time_ms);

#endif
