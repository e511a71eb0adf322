/* SPDX-License-Identifier: Apache-2.0 */
/* emit_impl.h - what the files share that emit a model or tell how it would be emitted. */
#ifndef QN_DRIVER_EMIT_IMPL_H
#define QN_DRIVER_EMIT_IMPL_H

#include "codegen/emit.h"
#include "driver/context.h"

typedef struct qn_emit_call {
	qn_model *m;
	const char *folder; /* "" when the files go to fn */
	qn_emit_opts known; /* what the host gave, as this release knows it */
	const qn_emit_opts *opts;
	qn_file_fn *fn;        /* NULL: they are written */
	qn_plan_fn *buffer_fn; /* of a plan alone */
	qn_step_fn *step_fn;
	void *user;
	qn_emit_info info;
} qn_emit_call;

/* Runs fn on the call with what the host gave; info may be NULL. */
qn_status qn_emit_guard(qn_emit_call *c, qn_guarded_fn *fn, const qn_emit_opts *opts,
			qn_emit_info *info) QN_MUST_CHECK;

/* Steps and memory within the budgets. */
qn_status qn_emit_plan(qn_emit_call *c, qn_arena *a, qn_plan **out) QN_MUST_CHECK;

/* The samples of the self-test, with their outputs; what the samples of each input went through: those of the
 * self-test, else those of the calibration (emit_samples.c). */
qn_status qn_emit_make_selftest(const qn_emit_call *c, const qn_plan *p, qn_arena *a,
				qn_selftest *out) QN_MUST_CHECK;
qn_status qn_emit_find_prep(const qn_emit_call *c, const qn_graph *g, qn_arena *a,
			    const qn_prep *const **out) QN_MUST_CHECK;

#endif
