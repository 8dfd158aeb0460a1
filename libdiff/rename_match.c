/* Renamed functions that no rule knows: by what calls them and what they call, round by round. */
#include "libdiff/rename_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 8 /* of matching: each knows the neighbours that those before have found */

/* The orphans with most cost, in order of cost, then names. */
static size_t pick_orphans(struct search *s, int side, struct keyed *keyed, uint32_t *list)
{
	size_t n = 0;
	for (uint32_t f = 0; f < s->r->frames_n; f++)
		if (rn_is_orphan(s, side, f) && s->wanted[side][f] && rn_enough(s, side, f))
			keyed[n++] = (struct keyed){s->r->frames, {0}, UINT64_MAX - (uint64_t)fmin(s->r->cost[side][f], 1e19), f};
	qsort(keyed, n, sizeof(*keyed), rn_compare_keyed);
	n = n < PD_MATCH_MAX ? n : PD_MATCH_MAX;
	for (size_t i = 0; i < n; i++)
		list[i] = keyed[i].frame;
	return n;
}

/* Pairs what is most alike, as far as neighbours are known by the names in same. */
static int match_round(struct search *s, struct keyed *keyed, uint32_t *const same[2], struct pd_pair *pairs, size_t *pairs_n,
                       struct pp_error *err)
{
	uint32_t lists[2][PD_MATCH_MAX];
	size_t n[2];
	for (int side = 0; side < 2; side++)
		n[side] = pick_orphans(s, side, keyed, lists[side]);
	return pd_matcher_pair(s->matcher, (const uint32_t *const[2]){same[0], same[1]}, (const uint32_t *const[2]){lists[0], lists[1]},
	                       n, LEAST_SCORE, pairs, pairs_n, err);
}

/* The same with all that is still unmatched taken for one neighbour: where a function and one that it
 * calls were both renamed, neither is known without the other. They must call something in common, though. */
static int match_hopefully(struct search *s, struct keyed *keyed, struct pd_pair *pairs, size_t *pairs_n, struct pp_error *err)
{
	uint32_t *hope[2] = {NULL, NULL}, any = PP_NONE;
	size_t bytes = (s->r->frames_n + 1) * sizeof(*hope[0]);
	int status = -1;
	for (int side = 0; side < 2; side++) {
		if (!(hope[side] = malloc(bytes))) {
			pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for renamed functions");
			goto done;
		}
		memcpy(hope[side], s->same[side], bytes);
		for (uint32_t f = 0; f < s->r->frames_n; f++)
			if (rn_is_orphan(s, side, f))
				hope[side][f] = any = any == PP_NONE ? f : any;
	}
	status = match_round(s, keyed, hope, pairs, pairs_n, err);
	size_t kept = 0;
	for (size_t i = 0; status == 0 && i < *pairs_n; i++) {
		struct pd_likeness known;
		if (rn_compare(s, pairs[i].frame[0], pairs[i].frame[1], &known) && known.callees_shared > 0)
			pairs[kept++] = pairs[i];
	}
	*pairs_n = kept;
done:
	free(hope[0]);
	free(hope[1]);
	return status;
}

/* Those of the pairs that are alike by what was found since; likeness becomes that. Whether any went. */
static bool verify(struct search *s, struct pd_pair *pairs, size_t *n)
{
	size_t kept = 0, before = *n;
	for (size_t i = 0; i < before; i++) {
		struct pd_pair *pair = &pairs[i];
		pd_matcher_compare(s->matcher, (const uint32_t *const[2]){s->same[0], s->same[1]}, pair->frame[0], pair->frame[1],
		                   &pair->likeness);
		if (pair->likeness.score >= LEAST_SCORE) {
			pairs[kept++] = *pair;
			continue;
		}
		s->same[0][pair->frame[0]] = pair->frame[0];
		s->joined[0][pair->frame[0]] = s->joined[1][pair->frame[1]] = 0;
	}
	*n = kept;
	return kept < before;
}

int rn_match_structure(struct search *s, struct keyed *keyed, struct pp_error *err)
{
	struct pd_pair found[PD_MATCH_MAX], pairs[PD_MATCH_MAX];
	size_t n = 0, pairs_n = 0;
	if (!s->r->match || !s->matcher)
		return 0;
	for (int round = 0; round < ROUNDS; round++) {
		if (match_round(s, keyed, s->same, pairs, &pairs_n, err) != 0 ||
		    (pairs_n == 0 && match_hopefully(s, keyed, pairs, &pairs_n, err) != 0))
			return -1;
		for (size_t i = 0; i < pairs_n && n < PD_MATCH_MAX; i++) {
			s->joined[0][pairs[i].frame[0]] = s->joined[1][pairs[i].frame[1]] = 1;
			s->same[0][pairs[i].frame[0]] = pairs[i].frame[1];
			found[n++] = pairs[i];
		}
		if (pairs_n == 0)
			break;
	}
	while (verify(s, found, &n))
		;
	for (size_t i = 0; i < n; i++)
		if (rn_join(s, found[i].frame[0], found[i].frame[1], 0, &found[i].likeness, err) != 0)
			return -1;
	return 0;
}

