/* A service and what an incident does to it, and the explanation of the two. Include after cmocka.h. */
#ifndef PD_TEST_SERVICE_H
#define PD_TEST_SERVICE_H

#include <stdio.h>
#include <string.h>

#include "libdiff/explain.h"

/* A service with two endpoints and six functions of its own, each a leaf or calling the library: what
 * each costs in samples a replicate. Replicates differ by a fixed wobble. */
struct work {
	const char *stack; /* root first */
	const char *endpoint;
	int samples;
};
static const struct work usual[] = {
	{"main.main;main.serve;main.cart;main.price", "/cart", 300},
	{"main.main;main.serve;main.cart;main.tax", "/cart", 200},
	{"main.main;main.serve;main.cart;main.store;encoding/json.Marshal", "/cart", 250},
	{"main.main;main.serve;main.find;main.match", "/find", 400},
	{"main.main;main.serve;main.find;main.rank;sort.Slice", "/find", 220},
	{"main.main;main.serve;main.find;main.page;fmt.Sprintf", "/find", 180},
	{"runtime.gcBgMarkWorker;runtime.gcDrain", NULL, 90},
};
#define USUAL_N PP_COUNT(usual)

static inline uint32_t text(struct pp_build *build, const char *s)
{
	return pp_build_string(build, pp_str_of(s));
}

static inline uint32_t stack_of(struct pp_build *build, const char *stack)
{
	uint32_t locations[16], n = 0;
	char copy[300];

	snprintf(copy, sizeof(copy), "%s", stack);
	for (char *at = copy; *at;) {
		size_t length = strcspn(at, ";");
		char *next = at + length + (at[length] == ';');
		at[length] = '\0';
		struct pp_function function = {.name = text(build, at)};
		struct pp_line line = {pp_build_function(build, &function), 1, 0};
		struct pp_location location = {.mapping = PP_NONE};
		memmove(locations + 1, locations, n * sizeof(*locations));
		locations[0] = pp_build_location(build, &location, &line, 1);
		n++;
		at = next;
	}
	return pp_build_stack(build, locations, n);
}

static inline struct pp_profile *make(const struct work *work, size_t n, const double *times, int replicate, bool labels)
{
	static const int wobble[] = {0, 3, -4, 2, -1};
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = pp_build_new(&limits, &err);

	pp_build_sample_type(build, (struct pp_value_type){text(build, "cpu"), text(build, "nanoseconds")});
	for (size_t i = 0; i < n; i++) {
		double samples = work[i].samples * (times ? times[i] : 1);
		int64_t value = (int64_t)(samples * (100 + wobble[(replicate + (int)i) % 5]) / 100) * 10000000;
		struct pp_label label = {.key = text(build, "endpoint")};
		if (work[i].endpoint)
			label.str = text(build, work[i].endpoint);
		if (value)
			pp_build_sample(build, stack_of(build, work[i].stack),
			                labels && work[i].endpoint ? pp_build_label_list(build, &label, 1) : 0, &value);
	}
	struct pp_profile *header = pp_build_profile(build);
	header->period_type = (struct pp_value_type){text(build, "cpu"), text(build, "nanoseconds")};
	header->period = 10000000;
	header->duration_ns = 10000000000;
	struct pp_profile *profile = pp_build_finish(build, &err);
	assert_non_null(profile);
	pp_build_free(build);
	return profile;
}

/* load.tsv with cart and find requests of each side, alike in every replicate. */
static inline struct pd_load *load_of(int base_cart, int base_find, int cart, int find)
{
	char tsv[2000];
	struct pp_error err = PP_ERROR_INIT;
	int at = snprintf(tsv, sizeof(tsv), "side\tpod\twindow_s\trequests\t/cart\t/find\n");

	for (int side = 0; side < 2; side++)
		for (int pod = 0; pod < 5; pod++) {
			int c = side ? cart : base_cart, f = side ? find : base_find;
			at += snprintf(tsv + at, sizeof(tsv) - (size_t)at, "%s\tp%d\t10\t%d\t%d\t%d\n", side ? "incident" : "baseline",
			               pod, c + f, c, f);
		}
	struct pd_load *load = pd_load_parse((struct pp_str){tsv, strlen(tsv)}, &err);
	assert_non_null(load);
	return load;
}

/* One question: what the incident side does instead, and what is known about the load. */
struct question {
	const struct work *incident;
	size_t incident_n;
	const double *times;   /* of the incident's work */
	int pods;
	struct pd_load *load;  /* freed by explain */
	bool labels;
	bool snapshot;
	const struct work *baseline; /* as many as the incident's; NULL: as usual */
};

static inline struct pd_explanation *explain(const struct question *q)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pd_explain_options options = PD_EXPLAIN_OPTIONS_DEFAULT;

	options.load = q->load;
	options.snapshot = q->snapshot;
	struct pd_explain *explain = pd_explain_new(&options, &err);
	assert_non_null(explain);
	for (int side = 0; side < 2; side++)
		for (int pod = 0; pod < q->pods; pod++) {
			char name[20];
			snprintf(name, sizeof(name), "p%d.cpu", pod);
			struct pp_profile *profile = side ? make(q->incident, q->incident_n, q->times, pod + 2, q->labels)
			                                  : make(q->baseline ? q->baseline : usual, q->baseline ? q->incident_n : USUAL_N, NULL, pod, q->labels);
			assert_int_equal(pd_explain_add(explain, (enum pd_side)side, profile, 0,
			                                pd_load_find(q->load, (enum pd_load_side)side, name, (size_t)q->pods), &err), 0);
			pp_profile_free(profile);
		}
	struct pd_explanation *explanation = pd_explain_finish(explain, &err);
	if (!explanation)
		fail_msg("%s", err.text);
	pd_explain_free(explain);
	pd_load_free(q->load);
	return explanation;
}

#endif
