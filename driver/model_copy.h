/* SPDX-License-Identifier: Apache-2.0 */
/* model_copy.h - models that begin as another one is now, for what compiles it in several ways.
 *
 *   qn_model_source s = qn_model_source_of(m, a);     its text and its constants
 *   qn_model_copy(&s, &one);   qn_compile(one, …);   qn_model_free(one);
 *   qn_model_copy(&s, &two);   … */
#ifndef QN_DRIVER_MODEL_COPY_H
#define QN_DRIVER_MODEL_COPY_H

#include "driver/context.h"
#include "ir/buf.h"

/* A model as its files would be; it lives as long as the arena, and longer than the copies. */
typedef struct qn_model_source {
	qn_ctx *ctx;
	const char *name;     /* of the model */
	qn_buf json, weights; /* what qn_save writes */
} qn_model_source;

qn_model_source qn_model_source_of(qn_model *m, qn_arena *a);
/* A new model of the context. */
qn_status qn_model_copy(const qn_model_source *s, qn_model **out) QN_MUST_CHECK;

#endif
