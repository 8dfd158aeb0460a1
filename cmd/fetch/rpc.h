/* One call of the query service: a message out, a message back (Connect unary), as binary protobuf, or as JSON
 * where a server insists. What comes of it is one of four outcomes that are never mixed up; "empty" is for the
 * caller to see in the message. */
#ifndef FETCH_RPC_H
#define FETCH_RPC_H

#include "cmd/fetch/pbjson.h"
#include "cmd/fetch/querier.pb-c.h"
#include "cmd/fetch/server.h"

struct rpc_call {
	/* The question. Stays where it is, with what it points to, until done is called. */
	const char *method;                            /* "SelectSeries" */
	const ProtobufCMessage *request;
	const ProtobufCMessageDescriptor *response;
	/* The answer is an export of SelectMergeProfile: it comes as bytes, in `export`. */
	bool wants_export;
	void (*done)(struct rpc_call *call);           /* may start others; may be NULL */
	void *context;

	/* What came of it. For rpc_release(). */
	enum cli_status outcome;   /* CLI_OK; CLI_UNSUPPORTED, CLI_FAILED, CLI_REFUSED; CLI_SYSTEM, CLI_USAGE */
	char why[600];             /* unless CLI_OK: "HTTP 400 invalid_argument: " and the server's own words */
	ProtobufCMessage *answer;  /* of kind `response` */
	struct pp_str export;      /* wants_export: profile.proto, without gzip; may be empty */
	char request_hash[PP_CONTENT_HASH_N], answer_hash[PP_CONTENT_HASH_N]; /* of method and binary message; of the unpacked body */

	/* private */
	struct server *server;
	struct http_exchange exchange;
	struct pp_arena *arena;
	char *url;
	struct pp_buf body;
	bool as_json;
};

/* Fills request_hash of a call that is not started. */
int rpc_hash(struct rpc_call *call, struct pp_error *err) PP_MUSTUSE;
/* Starts the call; http_run(server->pool) goes on until it is done. */
void rpc_start(struct server *server, struct rpc_call *call);
/* Starts it and waits. Returns the outcome; says nothing. */
enum cli_status rpc_wait(struct server *server, struct rpc_call *call);
/* In the mode v1-v2-dual a window that begins where the storages meet is refused with words that are not true of
 * it. */
bool rpc_is_border(const struct rpc_call *call);
/* As rpc_wait; a window refused for that is asked for from a millisecond earlier: for questions where that
 * changes nothing. *start is the field of the request. */
enum cli_status rpc_wait_from(struct server *server, struct rpc_call *call, int64_t *start);
/* As rpc_wait_from, for a method that came late: where it is not known, another one is asked for, and a server that
 * knows that one does not support this; else the address is wrong. */
enum cli_status rpc_wait_new(struct server *server, struct rpc_call *call, int64_t *start);
/* Says "METHOD: why" and returns the outcome. */
enum cli_status rpc_report(const struct rpc_call *call);
void rpc_release(struct rpc_call *call);

/* Strings for a request: protobuf-c has no constant ones, and does not write to those that it packs. */
char *rpc_text(const char *text);
char **rpc_texts(const struct cli_list *list);

/* What an HTTP error means, for exchanges that are not calls: fills *outcome and why (of size n). type is the
 * answer's content type. */
void rpc_explain(int status, const char *type, struct pp_str body, enum cli_status *outcome, char *why, size_t n);

#endif
