/* SPDX-License-Identifier: Apache-2.0 */
/* emit_elementwise.c - add, sub, bias_add and mul, with broadcasting.  The result may lie where an
 * operand of its size lies: only an operand that is not repeated has this size. */
#include "codegen/emitter.h"
#include "runtime/channels.h"
#include "runtime/form_args.h"

static void
emit_aligned(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_add_aligned_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_add_aligned_q", symbol, QN_OWN, 2, false);
}

static void
emit_add(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_add_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_add_q", symbol, QN_OWN, 2, false);
}

static void
emit_add_axis(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_add_axis_args *d = args;
	const char *table =
		qn_emit_table(e, s, "channels", QN_PLAIN_i32, (int64_t)d->channels * 9, d->table);

	qn_emit_open(e, s, "qn_add_axis_args", 0);
	qn_emit_args(e, args, (const char *const[]){table});
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_add_axis_q", symbol, QN_OWN, 2, false);
}

static void
emit_mul_axis(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_mul_axis_args *d = args;
	const char *table =
		qn_emit_table(e, s, "channels", QN_PLAIN_i32, (int64_t)d->channels * 5, d->table);

	qn_emit_open(e, s, "qn_mul_axis_args", 0);
	qn_emit_args(e, args, (const char *const[]){table});
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_mul_axis_q", symbol, QN_OWN, 2, false);
}

static void
emit_sum(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_node *n = qn_graph_node(e->g, s->node);

	if (qn_by_channel(e->g, n))
		emit_add_axis(e, s, args);
	else if (n->attr->sum.align != 0)
		emit_aligned(e, s, args);
	else
		emit_add(e, s, args);
}

static void
emit_mul(qn_emitter *e, const qn_step *s, const void *args)
{
	if (qn_by_channel(e->g, qn_graph_node(e->g, s->node))) {
		emit_mul_axis(e, s, args);
		return;
	}
	qn_emit_open(e, s, "qn_mul_args", 0);
	qn_family from = qn_family_of(qn_graph_node(e->g, s->in[0])->type->elem);

	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, from == qn_step_family(e, s) ? "qn_mul_q" : "qn_mul_from_s16_q", symbol,
		     QN_OWN, 2, false);
}

const qn_emit_form qn_emit_op_add = {.in_place = 3, .emit = emit_sum};
const qn_emit_form qn_emit_op_bias_add = {.in_place = 3, .emit = emit_sum};
const qn_emit_form qn_emit_op_sub = {.in_place = 3, .emit = emit_sum};
const qn_emit_form qn_emit_op_mul = {.in_place = 3, .emit = emit_mul};
