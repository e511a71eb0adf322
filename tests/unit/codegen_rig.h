/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_rig.h - for tests of code generation without a compiler: graphs and their plans. */
#ifndef TESTS_UNIT_CODEGEN_RIG_H
#define TESTS_UNIT_CODEGEN_RIG_H

#include "tests/e2e/build.h"

#include "codegen/emit.h"
#include "codegen/kernel_text.h"

#define Q(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.5:3>>"

static inline qn_id
dense(builder *b, const char *name, qn_id x, int k, int o)
{
	char w[96], y[96], full[64];

	snprintf(w, sizeof(w), "tensor<%dx%dx!quant.uniform<i8:f32, 0.25>>", o, k);
	snprintf(y, sizeof(y), Q("1x%d"), o);
	snprintf(full, sizeof(full), "%s.w", name);
	qn_id acc = build_op(b, QN_OP_dense, name, IDS(x, build_const(b, full, w, -127, 127)), NULL,
			     NULL);
	snprintf(full, sizeof(full), "%s.q", name);
	return build_op(b, QN_OP_requantize, full, IDS(acc), NULL, y);
}

static inline qn_plan *
plan_for(builder *b, qn_optimize goal)
{
	const qn_plan_opts opts = {.target = qn_target_at(0), .optimize = goal};
	qn_plan *p = NULL;

	build_check(b, qn_plan_make(b->g, b->model.name, &opts, &b->arena, &p) == QN_OK);
	return p;
}

static inline qn_plan *
plan(builder *b)
{
	return plan_for(b, QN_OPTIMIZE_BALANCED);
}

static inline qn_id
clamp(builder *b, const char *name, qn_id x, int64_t lo, int64_t hi)
{
	qn_attrs a = build_attrs(QN_OP_clamp);

	a.clamp.lo = lo;
	a.clamp.hi = hi;
	return build_op(b, QN_OP_clamp, name, IDS(x), &a, NULL);
}

#endif
