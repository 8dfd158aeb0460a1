/* HTTP/1.1 as a server reads and writes it. */
#ifndef STANDIN_REQUEST_H
#define STANDIN_REQUEST_H

#include "libpprof/pprof.h"

#define SI_HEADERS_MAX 64
struct si_request {
	struct pp_str method, target;      /* the path and query; of a proxy's request too */
	char host[256];                    /* of the Host line */
	struct { struct pp_str name, value; } headers[SI_HEADERS_MAX];
	size_t headers_n, used;            /* used: bytes of the buffer that this request took */
	struct pp_str body;                /* of the arena: chunks joined, not unpacked */
	bool is_proxied;                   /* the target was a whole address */
};

enum si_parsed { SI_INCOMPLETE, SI_WANTS_CONTINUE, SI_COMPLETE, SI_BROKEN };
/* Reads one request from the begin of a connection's bytes. Everything points into them or into the arena. */
enum si_parsed si_request_parse(struct si_request *request, char *bytes, size_t n, struct pp_arena *arena);
/* "" where there is none; names in any case. */
struct pp_str si_header(const struct si_request *request, const char *name);
/* The body without gzip; false when it says gzip and is not. */
bool si_request_body(const struct si_request *request, struct pp_arena *arena, struct pp_str *body);
bool si_gzip(struct pp_str text, struct pp_buf *out);

/* How an answer goes wrong on its way. */
enum si_delivery {
	SI_WHOLE,
	SI_CUT,     /* half of it, then the connection ends */
	SI_SHORT,   /* the length says less than there is */
	SI_ENDLESS, /* goes on until the client hangs up */
	SI_DRIP,    /* a byte at a time */
	SI_CLOSE,   /* not a byte */
	SI_RESET    /* not a byte, and the connection is reset */
};
struct si_reply {
	int status;
	const char *type;      /* NULL: none */
	struct pp_buf body;
	char headers[1200];    /* more lines, each with its end */
	bool packed;           /* the body is gzip */
	enum si_delivery delivery;
	int64_t delay_ms;
};
/* Head and body as they go on the wire. */
bool si_reply_write(const struct si_reply *reply, struct pp_buf *out);

#endif
