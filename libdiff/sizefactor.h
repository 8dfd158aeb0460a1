/* Size factors of profiles from the profiles themselves: how much bigger one is than another, judged by
 * frames that did not change, so that one frame that did cannot make all the rest look changed. */
#ifndef PD_SIZEFACTOR_H
#define PD_SIZEFACTOR_H

#include "libpprof/pprof.h"

/* counts[frame * columns_n + column] ≥ 0; library[column] > 0: the total that a share refers to. factor
 * gets one number a column, with geometric mean 1 over the columns of library * factor where that is
 * said. 0, or -1 with PP_ENOMEM. */

/* Trimmed mean of M values (Robinson & Oshlack 2010): 30 % of the log ratios and 5 % of the abundances are
 * trimmed, the rest weighted by inverse variance, against the column whose upper quartile is nearest to the
 * mean one; of fewer than ten frames in common the median is taken. factor multiplies the library;
 * its geometric mean is 1. */
int pd_tmm(const double *counts, size_t frames_n, size_t columns_n, const double *library, double *factor,
           struct pp_error *err) PP_MUSTUSE;

/* Median of ratios to the geometric mean over columns (Anders & Huber 2010), over frames that occur in all
 * columns. factor is the size itself, geometric mean 1; *used is how many frames it rests on, and with
 * none all factors are 1. */
int pd_median_of_ratios(const double *counts, size_t frames_n, size_t columns_n, double *factor, size_t *used,
                        struct pp_error *err) PP_MUSTUSE;

#endif
