#include "libdiff/hierarchy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libdiff/stats.h"

/* Of what families corrected at level q find in the whole tree, about q (families + found) / (found + 1) is false
 * (Yekutieli 2008; 1.44 times that at the very most), and there is at most one family more than what was found. */
#define WHOLE_TREE 2

/* The forest as lists of children, and of each node what its family says of it. */
struct forest {
	size_t n;
	uint32_t *child, *next; /* child[n] is the first root */
	double *among;          /* by node: Simes' p of its subtree, then corrected among its siblings */
	double *family;         /* scratch: a node's own two, then its callees */
};

static int forest_make(struct forest *f, const uint32_t *parent, size_t n)
{
	*f = (struct forest){.n = n};
	f->child = malloc((n + 1) * sizeof(*f->child));
	f->next = malloc((n + 1) * sizeof(*f->next));
	f->among = malloc((n + 1) * sizeof(*f->among));
	f->family = malloc((n + 2) * sizeof(*f->family));
	if (!f->child || !f->next || !f->among || !f->family)
		return -1;
	memset(f->child, 0xff, (n + 1) * sizeof(*f->child));
	for (size_t i = n; i > 0; i--) {
		uint32_t *head = &f->child[parent[i - 1] == PD_TREE_ROOT ? n : parent[i - 1]];
		f->next[i - 1] = *head;
		*head = (uint32_t)(i - 1);
	}
	return 0;
}

static void forest_release(struct forest *f)
{
	free(f->child);
	free(f->next);
	free(f->among);
	free(f->family);
}

/* Corrects the family of a node whose callees' subtrees are known; *simes gets what it says together. own may be
 * NULL, of what stands above the roots. */
static int correct_family(struct forest *f, size_t node, double *own[2], double *simes)
{
	size_t n = 0;

	for (int i = 0; own && i < 2; i++)
		f->family[n++] = *own[i];
	for (uint32_t c = f->child[node]; c != PD_TREE_ROOT; c = f->next[c])
		f->family[n++] = f->among[c];
	if (pd_bh(f->family, f->family, n) != 0)
		return -1;
	*simes = NAN;
	for (size_t i = 0; i < n; i++) /* the smallest corrected one is Simes' */
		*simes = fmin(*simes, f->family[i]);
	n = 0;
	for (int i = 0; own && i < 2; i++)
		*own[i] = f->family[n++];
	for (uint32_t c = f->child[node]; c != PD_TREE_ROOT; c = f->next[c])
		f->among[c] = f->family[n++];
	return 0;
}

/* From what its family says to a q-value of the whole tree, where there is one. */
static double q_of(double corrected, double above)
{
	return isnan(corrected) ? corrected : fmax(fmin(WHOLE_TREE * corrected, 1), above);
}

int pd_tree_q(const uint32_t *parent, size_t n, double all_p, double *flat, double *cum, double *within)
{
	struct forest f;
	double roots;
	int status = forest_make(&f, parent, n);

	for (size_t i = n; i > 0 && status == 0; i--) {
		double *own[2] = {&flat[i - 1], &cum[i - 1]};
		status = correct_family(&f, i - 1, own, &f.among[i - 1]);
	}
	if (status == 0)
		status = correct_family(&f, n, NULL, &roots);
	for (size_t i = 0; i < n && status == 0; i++) {
		within[i] = q_of(f.among[i], parent[i] == PD_TREE_ROOT ? all_p : within[parent[i]]);
		flat[i] = q_of(flat[i], within[i]);
		cum[i] = q_of(cum[i], within[i]);
	}
	forest_release(&f);
	return status;
}
