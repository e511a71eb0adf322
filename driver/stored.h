/* SPDX-License-Identifier: Apache-2.0 */
/* stored.h - the public handles of tensors with layouts. */
#ifndef QN_DRIVER_STORED_H
#define QN_DRIVER_STORED_H

#include "driver/context.h"
#include "formats/vocabulary.h"
#include "ir/layout.h"
#include "quern/layout.h"

struct qn_stored {
	qn_arena arena;
	qn_layout_tensor t;
	const char *name;
	qn_ctx *ctx;
	bool of_archive; /* which frees it */
	struct qn_stored *next;
};

/* A new handle of the context with an empty tensor (call inside qn_guard). */
struct qn_stored *qn_stored_alloc(qn_ctx *ctx, const char *name);
/* Runs fn(call), which sets *made, in qn_guard; frees that when it fails. */
qn_status qn_stored_make(qn_ctx *ctx, qn_guarded_fn *fn, void *call, struct qn_stored **made,
			 struct qn_stored **out) QN_MUST_CHECK;
qn_ctx *qn_archive_ctx(const struct qn_archive *x);
/* A copy of s that lives as long as the archive. */
const char *qn_archive_text(struct qn_archive *x, const char *s);
/* The tokens that an archive describes, which are read once. */
qn_status qn_archive_tokens(struct qn_archive *x, const qn_token_table **out) QN_MUST_CHECK;
/* layout.values: a quantizer has none. */
qn_status qn_stored_has_values(const struct qn_stored *t) QN_MUST_CHECK;

#endif
