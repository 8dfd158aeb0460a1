/* A request in, a reply out: Pyroscope's query service, or Grafana in front of it. */
#ifndef STANDIN_RESPOND_H
#define STANDIN_RESPOND_H

#include "cmd/test/standin/manner.h"
#include "cmd/test/standin/replay.h"

struct si_server {
	struct si_store store;
	struct si_recordings recordings;
	struct si_strikes strikes;
	struct pp_arena *arena;    /* of the request at hand */
};

/* Fills a reply that is all zeros; the caller releases its body. canonical gets the question as JSON text, where it is
 * one, and note what the log says besides. */
void si_respond(struct si_server *server, const struct si_request *request, struct si_reply *reply, struct pp_buf *canonical,
                char note[64]);

#endif
