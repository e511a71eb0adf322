/* SPDX-License-Identifier: Apache-2.0 */
/* log_mel.h - arguments of the integer kernels of log_mel and mfcc, whose tables are the numbers of mel.h, rounded. */
#ifndef QN_RUNTIME_LOG_MEL_H
#define QN_RUNTIME_LOG_MEL_H

#include "runtime/impls.h"
#include "runtime/kernels/log_mel.h"
#include "runtime/kernels/mfcc.h"

typedef struct qn_features_call {
	qn_features_args args;
	int64_t *work; /* working memory of a run */
} qn_features_call;

/* NULL after a report. */
void *qn_log_mel_prepare(const qn_graph *g, const qn_node *n, qn_arena *a);
void *qn_mfcc_prepare(const qn_graph *g, const qn_node *n, qn_arena *a);
/* Bytes of working memory. */
size_t qn_features_work(const void *args);

#endif
