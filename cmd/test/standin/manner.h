/* How one request is to be answered: the segments that a test puts before the path of an address, so that one server
 * serves a whole test file. The rest of the path is a Pyroscope's or a Grafana's.
 *
 *   /v1 /dual /v2 /old      in whose manner (default v2)
 *   /limits                 windows up to 24 hours, graphs up to 100 nodes
 *   /tenants                X-Scope-OrgID is required
 *   /auth                   "Bearer sesame", or basic "user" with "sesame", is required
 *   /no-proto               binary is refused (415)
 *   /replay/NAME            recorded exchanges of that server, where there is one
 *   /key/TEXT               nothing; keeps the counts of faults of tests apart
 *   /fault/NAME[,times=N][,ms=N][,on=TEXT]   goes wrong: the first N times, and only where path or body hold TEXT */
#ifndef STANDIN_MANNER_H
#define STANDIN_MANNER_H

#include "cmd/test/standin/call.h"
#include "cmd/test/standin/request.h"

struct si_fault {
	struct pp_str name, on; /* empty: none; everywhere */
	uint64_t times, ms;     /* 0: always; the fault's own */
};
#define SI_FAULTS_MAX 4
struct si_manner {
	enum si_mode mode;
	bool limits, tenants, auth, no_proto;
	struct pp_str replay;   /* the recorded server, or "" */
	struct pp_str prefix;   /* all of the segments */
	struct pp_str path;     /* what is left, without the query */
	struct si_fault faults[SI_FAULTS_MAX];
	size_t faults_n;
};
void si_manner_read(struct si_manner *manner, struct pp_str target);

/* How often faults of a prefix have struck. */
struct si_strikes {
	struct { char *key; uint64_t n; } at[1024];
	size_t n;
};
void si_strikes_release(struct si_strikes *strikes);

/* The first fault that strikes this request, or NULL. */
const struct si_fault *si_fault_of(const struct si_manner *manner, const struct si_request *request, struct pp_str body,
                                   struct si_strikes *strikes);
/* Makes the reply of a fault that answers by itself (a status, HTML, …); true: nothing else is to be done. Else the
 * reply's delivery says what is to go wrong with the right answer. */
bool si_fault_reply(const struct si_fault *fault, const struct si_manner *manner, const struct si_request *request,
                    struct si_reply *reply);
/* What is to be done to the right answer: garbage, a gzip that is none. */
void si_fault_spoil(const struct si_fault *fault, struct si_reply *reply);

#endif
