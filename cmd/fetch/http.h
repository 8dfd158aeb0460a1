/* HTTP: exchanges, several at once, over one pool of connections. The only file that knows libcurl. It knows
 * nothing of what is asked: a body goes out, a status and a body come back.
 *
 * An answer counts when it is complete: gzip is undone and checked, sizes are capped while bytes arrive.
 * 429, 502, 503, 504 and broken connections are tried again, three times at most, after what Retry-After says;
 * that is safe as all that is sent are questions. Credentials go to the origin (scheme, host, port) of the base
 * address and nowhere else, and into no message. */
#ifndef FETCH_HTTP_H
#define FETCH_HTTP_H

#include "libpprof/pprof.h"

/* All strings are borrowed and must outlive the pool; NULL: not given. */
struct http_settings {
	const char *origin;            /* an address whose origin may see the credentials */
	const char *token;             /* bearer */
	const char *user, *password;   /* basic; the token wins */
	bool netrc;                    /* look credentials up in netrc_file, or ~/.netrc */
	const char *netrc_file;
	const char *tenant;            /* X-Scope-OrgID */
	const char *ca_file, *cert_file, *key_file;
	uint64_t timeout_s;            /* of one exchange, from connecting to the last byte */
	uint64_t max_bytes;            /* of an answer, packed as well as unpacked */
	uint32_t parallel;             /* connections */
	bool verbose;                  /* a line on stderr for each request and answer */
};

struct http_pool;
struct http_pool *http_pool_new(const struct http_settings *settings, struct pp_error *err) PP_MUSTUSE;
void http_pool_free(struct http_pool *pool);

struct http_exchange {
	/* The question. Stays where it is, with what it points to, until done is called. */
	const char *url;
	bool post;
	const char *content_type;
	struct pp_str body;
	void (*done)(struct http_exchange *exchange); /* may start others; may be NULL */
	void *context;

	/* What came back, when done is called. Release with http_release(). */
	struct pp_error err;       /* not PP_OK: no complete answer. PP_EIO (network), PP_ELIMIT, PP_EFORMAT, PP_ENOMEM */
	int status;
	char answer_type[80];      /* without parameters, lower case */
	struct pp_buf answer;      /* unpacked */
	uint32_t retries;

	struct http_job *job;      /* private */
};
void http_start(struct http_pool *pool, struct http_exchange *exchange);
/* Goes on until every exchange that was started, and those that they start, is done. */
void http_run(struct http_pool *pool);
void http_release(struct http_exchange *exchange);

/* An address as given → without credentials, query, fragment and slashes at the end; user and password
 * percent-decoded, or NULL. All malloc'ed. PP_EUSAGE for anything but http and https. */
struct http_address {
	char *base, *user, *password;
};
int http_address_parse(const char *text, struct http_address *address, struct pp_error *err) PP_MUSTUSE;
void http_address_release(struct http_address *address);

#endif
