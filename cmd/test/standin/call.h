/* One call of the query service: a message in, a message or the server's refusal out. */
#ifndef STANDIN_CALL_H
#define STANDIN_CALL_H

#include "cmd/test/standin/stacks.h"

#include "cmd/fetch/querier.pb-c.h"

/* In whose manner: storage v1, v1-v2-dual, v2; SI_OLD knows neither formats nor scopes and says nothing. */
enum si_mode { SI_V2, SI_DUAL, SI_V1, SI_OLD };

struct si_call {
	const struct si_store *store;
	struct pp_arena *arena;       /* of the answer */
	enum si_mode mode;
	struct pp_str tenant;
	int64_t most_ms, most_nodes;  /* of a window and of a graph; 0: no limit, and the servers' own */
	bool json;                    /* the answer will be JSON */

	/* Out: a refusal (status is not 200), or one of these. */
	int status;
	const char *code;
	char message[1024];
	ProtobufCMessage *answer;
	struct pp_str raw;            /* an answer that is a profile.proto */
};

/* Fill in a refusal; false, for `return`. A deep one comes from behind the front, which v1 and v2 wrap. */
bool si_refuse(struct si_call *call, const char *code, const char *format, ...) PP_PRINTF(3, 4);
bool si_refuse_deep(struct si_call *call, const char *code, const char *format, ...) PP_PRINTF(3, 4);

/* A new message of the call's arena, to be filled; NULL after a refusal. */
void *si_message(struct si_call *call, const ProtobufCMessageDescriptor *descriptor);
/* n elements of bytes each, or NULL after a refusal. */
void *si_array(struct si_call *call, size_t n, size_t bytes);

/* Memory of an arena, for messages that are unpacked. */
ProtobufCAllocator si_allocator(struct pp_arena *arena);

/* The time of the oldest and newest profile of the tenant; false if there is none. */
bool si_bounds(const struct si_call *call, int64_t *oldest_ms, int64_t *newest_ms);
/* What all methods ask of a window. */
bool si_check_window(struct si_call *call, int64_t start, int64_t end);
bool si_check_type(struct si_call *call, const char *type);
/* A checked type without its sixth part, which servers take and do not look at. */
struct pp_str si_five_parts(const char *type);
/* Whether v1 answers: the mode v1, or a dual-mode server before its oldest profile. */
bool si_is_v1(const struct si_call *call, int64_t end);
/* A dual-mode server that has to ask both of its halves. */
bool si_is_split(const struct si_call *call, int64_t start);
/* The selector of a Select… method. */
bool si_read_selector(struct si_call *call, const char *text, struct si_selector *selector);
/* Labels as the messages hold them; the names' order is kept. */
Pyro__LabelPair **si_label_pairs(struct si_call *call, const struct si_label *labels, size_t n);

/* The methods. The request has the type that the table of call.c says. */
bool si_profile_stats(struct si_call *call, const void *request);
bool si_profile_types(struct si_call *call, const void *request);
bool si_label_names(struct si_call *call, const void *request);
bool si_label_values(struct si_call *call, const void *request);
bool si_series(struct si_call *call, const void *request);
bool si_merge_profile(struct si_call *call, const void *request);
bool si_merge_stacktraces(struct si_call *call, const void *request);
bool si_select_series(struct si_call *call, const void *request);
bool si_select_heatmap(struct si_call *call, const void *request);

struct si_method {
	const char *name;
	const ProtobufCMessageDescriptor *request;
	bool (*answer)(struct si_call *call, const void *request);
};
const struct si_method *si_method_find(struct pp_str name);

/* Decodes the body, calls, encodes. canonical, which may be NULL, gets the request as JSON text, whatever it came
 * as; the answer's bytes are appended to out. */
void si_call_run(struct si_call *call, const struct si_method *method, struct pp_str body, struct pp_buf *canonical,
                 struct pp_buf *out);
/* The request as JSON text; false when it is none. */
bool si_canonical(const struct si_method *method, struct pp_str body, bool json, struct pp_arena *arena, struct pp_buf *out);

#endif
