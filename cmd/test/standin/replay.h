/* Recorded exchanges, answered byte by byte to the same question. */
#ifndef STANDIN_REPLAY_H
#define STANDIN_REPLAY_H

#include "cmd/test/standin/call.h"
#include "cmd/test/standin/request.h"

struct si_recording {
	struct pp_str server, name, method; /* "v2", "metric-total", "SelectSeries" */
	struct pp_str type, tenant;    /* of the question */
	struct pp_str question;        /* as JSON text, fields in order */
	struct pp_str answer_type, answer_encoding, answer_file;
	int status;
};
struct si_recordings {
	struct pp_arena *arena;
	char *folder;
	struct si_recording *at;
	size_t n, capacity;
};

/* Reads manifest.tsv of a folder and the questions that it names. Prints what is wrong. */
bool si_recordings_read(struct si_recordings *recordings, const char *folder);
void si_recordings_release(struct si_recordings *recordings);

/* The reply to a question of a server, in the type in which it was asked, and the name of the recording; NULL where none
 * was made. */
const char *si_replay(const struct si_recordings *recordings, struct pp_str server, const struct si_method *method, bool json,
               struct pp_str tenant, struct pp_str question, struct si_reply *reply);

#endif
