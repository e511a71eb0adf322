/* SPDX-License-Identifier: Apache-2.0 */
/* kept.h - how a value is stored for what reads it, where that differs from what its own options say. */
#ifndef QN_PATTERNS_KEPT_H
#define QN_PATTERNS_KEPT_H

#include "patterns/quantizer.h"

/* In ascending order of what takes precedence. */
typedef enum qn_kept_storage {
	QN_KEPT_OWN,         /* as the options say */
	QN_KEPT_WIDE_RESULT, /* in 16 bits, but for a graph input, whose type the caller's arrays have */
	QN_KEPT_WIDE,        /* in 16 bits */
	QN_KEPT_PCM,         /* as PCM samples */
	QN_KEPT_NOISE        /* as the noise of log_mel */
} qn_kept_storage;

typedef struct qn_kept {
	qn_kept_storage storage;
	const qn_node *sound; /* QN_KEPT_NOISE: the log_mel, whose result has the same parameters */
	/* a composite that has 16 bits: it adds up what a loop or a state holds (accumulate.h), or computes elements of
	 * 16 bits from such */
	bool accumulates;
} qn_kept;

/* By value of g, a partitioned graph. */
const qn_kept *qn_kept_of(const qn_graph *g, qn_arena *a, const qn_quant_opts *opts);
/* The options of a composite: of its rules, or 16 bits where it accumulates and no rule of its op or name
 * says otherwise. */
qn_quant_opts qn_kept_options(const qn_kept *k, const qn_quant_opts *opts,
			      const qn_graph *composite);
/* Whether one of n values accumulates. */
bool qn_kept_accumulate(const qn_kept *k, size_t n);
/* Whether a result, or what a loop or a state holds, is to have 16 bits. */
bool qn_kept_wide(const qn_kept *k);

#endif
