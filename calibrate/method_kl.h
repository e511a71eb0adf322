/* SPDX-License-Identifier: Apache-2.0 */
/* method_kl.h - what the methods share that compare distributions (method_kl.c, method_kl_bins.c). */
#ifndef QN_CALIBRATE_METHOD_KL_H
#define QN_CALIBRATE_METHOD_KL_H

#include "ir/arena.h"

/* Sums over the first bins of a histogram: of the counts, and of those that are not empty. */
typedef struct qn_kl_sums {
	uint64_t mass;
	size_t used;
} qn_kl_sums;

/* Of the bins [begin, end). */
uint64_t qn_kl_mass(const qn_kl_sums *s, size_t begin, size_t end);
size_t qn_kl_used(const qn_kl_sums *s, size_t begin, size_t end);
/* n + 1 of them, in the arena. */
qn_kl_sums *qn_kl_sums_of(const uint64_t *hist, size_t n, qn_arena *scratch);
/* Steps of so many candidates, each with a number of levels and its counts. */
uint64_t qn_kl_cost(size_t candidates, size_t levels);

#endif
