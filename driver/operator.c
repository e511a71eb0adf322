/* SPDX-License-Identifier: Apache-2.0 */
/* operator.c - the public side of operators and calibration methods that a host registers. */
#include "calibrate/method.h"
#include "driver/context.h"
#include "driver/host_struct.h"
#include "ir/custom.h"
#include "runtime/fixed.h"
#include "runtime/impls.h"
#include "quern/host_ops.h"

typedef struct op_call {
	qn_ctx *ctx;
	const qn_op_desc *desc;
} op_call;

static qn_status
add(void *arg, qn_arena *scratch)
{
	op_call *c = arg;

	(void)scratch;
	QN_TRY(qn_host_list(&c->ctx->env, "attr", c->desc->nattr, c->desc->attr));
	return qn_custom_register(&c->ctx->env, &c->ctx->arena, c->desc);
}

qn_status
qn_op_register(qn_ctx *ctx, const qn_op_desc *desc)
{
	qn_op_desc known;

	QN_TRY(QN_GIVEN(ctx, desc));
	QN_TRY(QN_TAKE(&ctx->env, qn_op_desc, desc, &known));
	return qn_guard(ctx, add, &(op_call){ctx, &known});
}

typedef struct method_call {
	qn_ctx *ctx;
	const qn_method_desc *desc;
} method_call;

static qn_status
add_method(void *arg, qn_arena *scratch)
{
	method_call *c = arg;

	(void)scratch;
	QN_TRY(qn_host_list(&c->ctx->env, "param", c->desc->nparam, c->desc->param));
	return qn_method_add(&c->ctx->env, &c->ctx->arena, c->desc);
}

qn_status
qn_method_register(qn_ctx *ctx, const qn_method_desc *desc)
{
	qn_method_desc known;

	QN_TRY(QN_GIVEN(ctx, desc));
	QN_TRY(QN_TAKE(&ctx->env, qn_method_desc, desc, &known));
	return qn_guard(ctx, add_method, &(method_call){ctx, &known});
}

qn_status
qn_multiplier_of(double M, int32_t *m, int32_t *s)
{
	if (m == NULL || s == NULL)
		return QN_EUSAGE;
	return qn_multiplier(M, QN_RQ_DOUBLE, m, s) ? QN_OK : QN_EINVALID;
}
