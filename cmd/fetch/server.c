#include "cmd/fetch/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/input.h"

#define SECRET_MAX_BYTES ((size_t)64 << 10)

static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Header values and names must not hold what ends a header. */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

/* A secret from a file, without white space at its end. */
static enum cli_status read_secret(const char *file, char **secret)
{
	size_t n;
	enum cli_status status = input_text(file, SECRET_MAX_BYTES, secret, &n);

	if (status != CLI_OK)
		return status;
	while (n > 0 && ((*secret)[n - 1] == '\n' || (*secret)[n - 1] == '\r' || (*secret)[n - 1] == ' '))
		(*secret)[--n] = '\0';
	if (n == 0 || strlen(*secret) != n || !is_plain(*secret)) {
		cli_error("'%s': empty, or more than a line", file);
		return CLI_INPUT;
	}
	return CLI_OK;
}

static bool is_uid(const char *text)
{
	return *text && !text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")];
}

/* The address that options and environment give. */
static enum cli_status find_address(const struct server_options *options, bool with_datasource, struct server *server)
{
	bool grafana = options->datasource || !with_datasource;
	const char *text = options->url;
	struct pp_error err = PP_ERROR_INIT;

	if (!text)
		text = environment(grafana ? "GRAFANA_SERVER" : "PYROSCOPE_URL");
	if (!text && !grafana && environment("GRAFANA_SERVER"))
		return cli_usage("which data source of GRAFANA_SERVER? give --datasource UID ('pprof-fetch datasources' lists them)");
	if (!text)
		return grafana ? cli_usage("no address of Grafana: give --url or GRAFANA_SERVER")
		               : cli_usage("no address: give --url or PYROSCOPE_URL, or GRAFANA_SERVER and --datasource");
	if (options->datasource && !is_uid(options->datasource))
		return cli_usage("'%s' is not the UID of a data source", options->datasource);
	if (http_address_parse(text, &server->address, &err) != 0) {
		cli_error("'%s': %s", options->url ? "--url" : grafana ? "GRAFANA_SERVER" : "PYROSCOPE_URL", err.text);
		return cli_status_of(err.code);
	}
	if (options->url && (server->address.user || server->address.password))
		return cli_usage("an address with a password is visible to others: use PYROSCOPE_URL, --user with --password-file, or --netrc");
	server->through_grafana = grafana;
	return CLI_OK;
}

static enum cli_status find_base(const struct server_options *options, struct server *server)
{
	static const char path[] = "/api/datasources/proxy/uid/";
	const char *uid = options->datasource ? options->datasource : "";
	size_t n = strlen(server->address.base) + sizeof(path) + strlen(uid);

	server->base = malloc(n);
	if (!server->base)
		return cli_no_memory();
	snprintf(server->base, n, "%s%s%s", server->address.base, *uid ? path : "", uid);
	return CLI_OK;
}

/* One kind of credential: what options name, else the address, else the environment. */
static enum cli_status find_credentials(const struct server_options *options, struct server *server,
                                        struct http_settings *settings)
{
	bool grafana = server->through_grafana;
	enum cli_status status;

	if (options->token_file) {
		status = read_secret(options->token_file, &server->token);
		settings->token = server->token;
		return status;
	}
	if (options->password_file) {
		status = read_secret(options->password_file, &server->password);
		if (status != CLI_OK)
			return status;
	}
	settings->netrc = options->netrc || options->netrc_file;
	settings->netrc_file = options->netrc_file;
	if (settings->netrc)
		return CLI_OK;
	settings->user = options->user ? options->user : server->address.user;
	if (!settings->user)
		settings->user = environment(grafana ? "GRAFANA_USER" : "PYROSCOPE_USER");
	settings->password = server->password ? server->password : server->address.password;
	if (!settings->password)
		settings->password = environment(grafana ? "GRAFANA_PASSWORD" : "PYROSCOPE_PASSWORD");
	if (settings->password && !settings->user)
		return cli_usage("a password without a user: give --user");
	if (settings->user)
		return CLI_OK;
	settings->token = environment(grafana ? "GRAFANA_TOKEN" : "PYROSCOPE_TOKEN");
	if (settings->token && !is_plain(settings->token)) {
		cli_error("the token of the environment holds control characters");
		return CLI_USAGE;
	}
	return CLI_OK;
}

enum cli_status server_open(const struct server_options *options, bool with_datasource, struct server *server)
{
	struct http_settings settings = {
		.ca_file = options->ca_file, .cert_file = options->cert_file, .key_file = options->key_file,
		.timeout_s = options->timeout_s, .max_bytes = options->max_bytes,
		.parallel = (uint32_t)options->parallel, .verbose = options->verbose,
	};
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status;

	*server = (struct server){.json = options->json};
	if ((status = find_address(options, with_datasource, server)) != CLI_OK ||
	    (status = find_base(options, server)) != CLI_OK ||
	    (status = find_credentials(options, server, &settings)) != CLI_OK)
		return status;
	server->tenant = options->tenant ? options->tenant : environment("PYROSCOPE_TENANT");
	if (server->tenant && !is_plain(server->tenant))
		return cli_usage("the tenant holds control characters");
	settings.tenant = server->tenant;
	settings.origin = server->base;
	server->pool = http_pool_new(&settings, &err);
	return server->pool ? CLI_OK : cli_report(NULL, &err);
}

static void forget(char *secret)
{
	if (secret)
		memset(secret, 0, strlen(secret));
	free(secret);
}

void server_close(struct server *server)
{
	http_pool_free(server->pool);
	http_address_release(&server->address);
	forget(server->token);
	forget(server->password);
	free(server->base);
	*server = (struct server){.pool = NULL};
}
