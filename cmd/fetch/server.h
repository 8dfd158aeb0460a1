/* Where the questions go, and as whom: options, environment and files → a base address and a pool of
 * connections. No credential is taken from an argument, which others can see. */
#ifndef FETCH_SERVER_H
#define FETCH_SERVER_H

#include "cmd/cli.h"
#include "cmd/fetch/http.h"

struct server_options {
	const char *url, *datasource, *tenant, *token_file, *user, *password_file, *netrc_file;
	const char *ca_file, *cert_file, *key_file;
	bool netrc, json, verbose;
	uint64_t timeout_s, max_bytes, parallel; /* set before parsing, SERVER_DEFAULTS */
};
#define SERVER_DEFAULTS {.timeout_s = 60, .max_bytes = UINT64_C(1) << 30, .parallel = 16}
#define SERVER_OPTIONS(s)                                                                                  \
	{"url", 0, CLI_STRING, &(s)->url, "URL", "Pyroscope, or with --datasource Grafana; else PYROSCOPE_URL or GRAFANA_SERVER", 0, 0, NULL}, \
	{"datasource", 'd', CLI_STRING, &(s)->datasource, "UID", "go through Grafana's proxy of this data source", 0, 0, NULL}, \
	{"tenant", 0, CLI_STRING, &(s)->tenant, "ID", "tenant (X-Scope-OrgID); else PYROSCOPE_TENANT", 0, 0, NULL}, \
	{"token-file", 0, CLI_STRING, &(s)->token_file, "FILE", "bearer token; else PYROSCOPE_TOKEN or GRAFANA_TOKEN", 0, 0, NULL}, \
	{"user", 0, CLI_STRING, &(s)->user, "NAME", "user of basic authentication; else PYROSCOPE_USER or GRAFANA_USER", 0, 0, NULL}, \
	{"password-file", 0, CLI_STRING, &(s)->password_file, "FILE", "its password; else PYROSCOPE_PASSWORD or GRAFANA_PASSWORD", 0, 0, NULL}, \
	{"netrc", 0, CLI_FLAG, &(s)->netrc, NULL, "take user and password from ~/.netrc", 0, 0, NULL},      \
	{"netrc-file", 0, CLI_STRING, &(s)->netrc_file, "FILE", "take user and password from FILE", 0, 0, NULL}, \
	{"cacert", 0, CLI_STRING, &(s)->ca_file, "FILE", "trust these certificate authorities (PEM)", 0, 0, NULL}, \
	{"cert", 0, CLI_STRING, &(s)->cert_file, "FILE", "client certificate (PEM)", 0, 0, NULL},           \
	{"key", 0, CLI_STRING, &(s)->key_file, "FILE", "its key (PEM)", 0, 0, NULL},                        \
	{"timeout", 0, CLI_COUNT, &(s)->timeout_s, "SECONDS", "longest wait for one answer (60)", 1, 86400, NULL}, \
	{"max-answer", 0, CLI_COUNT, &(s)->max_bytes, "BYTES", "longest answer (1 GiB)", 1024, UINT64_MAX / 4, NULL}, \
	{"parallel", 0, CLI_COUNT, &(s)->parallel, "N", "connections at once (16)", 1, 256, NULL},          \
	{"json-wire", 0, CLI_FLAG, &(s)->json, NULL, "speak JSON to the server instead of protobuf", 0, 0, NULL}, \
	{"verbose", 'v', CLI_FLAG, &(s)->verbose, NULL, "show requests and answers on stderr, without credentials", 0, 0, NULL}

struct server {
	struct http_pool *pool;
	char *base;            /* of the query service, without credentials: "http://host:4040" */
	bool through_grafana;
	bool json;             /* speak JSON; rpc sets it when the server does not take protobuf */
	const char *tenant;    /* borrowed, or NULL */
	int64_t longest_ms;    /* of a window, once the server has refused a longer one; else 0 */
	struct http_address address; /* private: what secrets live in */
	char *token, *password;
};

/* with_datasource false: the address of Grafana itself, for the list of its data sources. Says what is
 * missing; close also after a failure. */
enum cli_status server_open(const struct server_options *options, bool with_datasource, struct server *server);
void server_close(struct server *server);

#endif
