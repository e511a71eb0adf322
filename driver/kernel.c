/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - the public side of kernels that a host registers for built-in operators. */
#include <string.h>

#include "codegen/kernel_table.h"
#include "driver/context.h"
#include "driver/host_struct.h"
#include "ir/nearest.h"
#include "runtime/override.h"
#include "quern/kernels.h"

typedef struct kernel_call {
	qn_ctx *ctx;
	const qn_kernel_desc *desc;
	const char *name;
} kernel_call;

/* Ops whose steps are calls of one node: none that holds, groups or passes on values, nor of loops. */
static bool
has_kernel(qn_op op)
{
	const qn_op_kernels *k = qn_op_kernels_get(op);

	return op != QN_OP_custom && (op < QN_OP_loop || op > QN_OP_loop_last) && !k->alias &&
	       k->nkernel > 0;
}

static qn_status
add(void *arg, qn_arena *scratch)
{
	const kernel_call *c = arg;
	qn_env *env = &c->ctx->env;
	const char *name = c->desc->op != NULL ? c->desc->op : "";
	const qn_op op = qn_op_find(name);

	(void)scratch;
	QN_TRY(qn_host_list(env, "in", c->desc->nin, c->desc->in));
	if (op == QN_NOP || !has_kernel(op))
		return qn_report(env, QN_EUSAGE, "kernel.register",
				 c->desc->name != NULL ? c->desc->name : "",
				 "'%s' is not a built-in op that one kernel computes", name);
	return qn_override_register(env, &c->ctx->arena, op, c->desc);
}

qn_status
qn_kernel_register(qn_ctx *ctx, const qn_kernel_desc *desc)
{
	qn_kernel_desc known;

	QN_TRY(QN_GIVEN(ctx, desc));
	QN_TRY(QN_TAKE(&ctx->env, qn_kernel_desc, desc, &known));
	return qn_guard(ctx, add, &(kernel_call){.ctx = ctx, .desc = &known});
}

static qn_status
take_away(void *arg, qn_arena *scratch)
{
	const kernel_call *c = arg;
	qn_env *env = &c->ctx->env;
	const char *const name = c->name;
	size_t n = 0;

	if (qn_override_remove(env, name))
		return QN_OK;
	for (const qn_override *o = env->overrides; o != NULL; o = o->next)
		n++;
	const char **known = QN_NEW(scratch, const char *, n + 1);
	n = 0;
	for (const qn_override *o = env->overrides; o != NULL; o = o->next)
		known[n++] = o->desc.name;
	const char *best = qn_nearest_name(name, n, known);
	return qn_report(env, QN_EUSAGE, "kernel.unknown", name,
			 "no kernel '%s' is registered" QN_DID_YOU_MEAN, name, QN_SUGGEST(best));
}

qn_status
qn_kernel_unregister(qn_ctx *ctx, const char *name)
{
	QN_TRY(QN_GIVEN(ctx, name));
	return qn_guard(ctx, take_away, &(kernel_call){.ctx = ctx, .name = name});
}

qn_status
qn_kernel_rules_set(qn_ctx *ctx, const qn_kernel_rules *rules)
{
	qn_kernel_rules known;

	if (ctx == NULL)
		return QN_EUSAGE;
	QN_TRY(QN_TAKE(&ctx->env, qn_kernel_rules, rules, &known));
	ctx->env.allow_dequantize = known.allow_dequantize != 0;
	ctx->env.interpreter_only = known.interpreter_only != 0;
	return QN_OK;
}
