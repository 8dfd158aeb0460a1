/* Selectors of labels as servers read them, and what of the store a question is about. */
#ifndef STANDIN_SELECT_H
#define STANDIN_SELECT_H

#include "cmd/test/standin/store.h"

enum si_op { SI_EQUAL, SI_NOT_EQUAL, SI_MATCH, SI_NOT_MATCH };
struct si_matcher {
	struct pp_str name, value;
	enum si_op op;
	struct pp_regex *regex; /* of SI_MATCH and SI_NOT_MATCH */
};
#define SI_MATCHERS_MAX 32
struct si_selector {
	struct si_matcher matchers[SI_MATCHERS_MAX];
	size_t n;
};

/* Appends the matchers of `{name="value",…}` to a selector that was empty at first, so that several make an
 * intersection. False with the server's words in why ("1:15: parse error: …"). Release also after a failure. */
bool si_selector_add(struct si_selector *selector, const char *text, struct pp_arena *arena, char why[256]);
void si_selector_release(struct si_selector *selector);
bool si_selects(const struct si_selector *selector, const struct si_row *row);

/* What samples count: those of rows that all of this fits. Pointers are borrowed. */
struct si_scope {
	struct pp_str tenant;
	const struct si_selector *selector;
	struct pp_str type;          /* empty: any */
	int64_t from_ms, to_ms;      /* both inclusive */
	char **profile_ids, **span_ids, **trace_ids, **callers; /* callers: names from the root on */
	size_t profile_ids_n, span_ids_n, trace_ids_n, callers_n;
};
bool si_in_scope(const struct si_scope *scope, const struct si_row *row);
bool si_sample_in_scope(const struct si_scope *scope, const struct pp_profile *profile, uint32_t sample);
/* The sum of the row's samples that are in scope; *any, which may be NULL, tells whether there are some. */
int64_t si_row_value(const struct si_scope *scope, const struct si_row *row, bool *any);

#endif
