/* Hierarchical testing on a tree of calls: q-values of hypotheses that are nested. Private to the comparison. */
#ifndef PD_HIERARCHY_H
#define PD_HIERARCHY_H

#include <stddef.h>
#include <stdint.h>

#define PD_TREE_ROOT UINT32_MAX

/* The n nodes of a forest, callers first: parent[i] < i, or PD_TREE_ROOT. cum[i] is the p-value of "the cost at
 * and below node i did not change", flat[i] of "the cost of node i itself did not": NAN where not tested, as flat
 * is where it is the same question as cum. Both become q-values. within[i] becomes the q-value of "nothing at or
 * below node i changed", the largest of its callers' and its own; NAN where nothing was tested.
 *
 * The method is that of Yekutieli (2008, "Hierarchical false discovery rate-controlling methodology"): a node and
 * the subtrees of what it calls are one family, corrected by Benjamini & Hochberg (1995), and counts only below a
 * node that was found. A subtree's p-value is that of Simes (1986) for its family, as in Bogomolov, Peterson,
 * Benjamini & Sabatti (2021, "Hypotheses on a tree"): what moved from one callee to another is found though their
 * caller's own sum stayed. q-values are twice what families say, so that they hold for the whole tree. all_p is the p-value of what stands above the roots; no q is below it: with NAN the
 * roots stand alone. -1 without memory. */
int pd_tree_q(const uint32_t *parent, size_t n, double all_p, double *flat, double *cum, double *within);

#endif
