/* SPDX-License-Identifier: Apache-2.0 */
/* emit_cast.c - requantize on its own, and scast, which changes no byte. */
#include "codegen/emitter.h"
#include "runtime/channels.h"
#include "runtime/form_args.h"

/* The kernel by what it reads; what it writes is the step's family. */
static const char *
kernel_of(const qn_emitter *e, const qn_step *s)
{
	/* the families, the step's own, sums of 32 and of 64 bits */
	static const char *const from[2][QN_NFAMILY + 3] = {
		{"qn_requantize_from_s8_q", "qn_requantize_from_u8_q", "qn_requantize_from_s16_q",
		 "qn_requantize_q", "qn_requantize_s32_q", "qn_requantize_s64_q"},
		{"qn_requantize_axis_from_s8_q", "qn_requantize_axis_from_u8_q",
		 "qn_requantize_axis_from_s16_q", "qn_requantize_axis_q",
		 "qn_requantize_axis_s32_q", "qn_requantize_axis_s64_q"},
	};
	const char *const *by = from[qn_zero_points_differ(e->g, qn_graph_node(e->g, s->node))];
	const qn_elem *in = qn_graph_node(e->g, s->in[0])->type->elem;

	if (in->bits >= 32)
		return by[QN_NFAMILY + in->bits / 32];
	return by[qn_family_of(in) == qn_step_family(e, s) ? QN_NFAMILY : qn_family_of(in)];
}

static void
emit_axis(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_requantize_axis_args *r = args;
	const char *zero =
		qn_emit_table(e, s, "zero", QN_PLAIN_i32, 2 * (int64_t)r->channels, r->zero);
	const char *mult = qn_emit_table(e, s, "mult", QN_PLAIN_i32, r->channels, r->mult);
	const char *shift = qn_emit_table(e, s, "shift", QN_PLAIN_i8, r->channels, r->shift);

	qn_emit_open(e, s, "qn_requantize_axis_args", 0);
	qn_emit_args(e, args, (const char *const[]){zero, mult, shift});
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, kernel_of(e, s), symbol, QN_OWN, 1, false);
}

static void
emit_requantize(qn_emitter *e, const qn_step *s, const void *args)
{
	if (qn_zero_points_differ(e->g, qn_graph_node(e->g, s->node))) {
		emit_axis(e, s, args);
		return;
	}
	const qn_requantize_args *r = args;
	const char *mult = qn_emit_table(e, s, "mult", QN_PLAIN_i32, r->mult_n, r->mult);
	const char *shift = qn_emit_table(e, s, "shift", QN_PLAIN_i8, r->mult_n, r->shift);

	qn_emit_open(e, s, "qn_requantize_args", 0);
	qn_emit_args(e, args, (const char *const[]){mult, shift});
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, kernel_of(e, s), symbol, QN_OWN, 1, false);
}

const qn_emit_form qn_emit_op_quantize = {.why = "it reads real numbers; emitted code has none"};
const qn_emit_form qn_emit_op_dequantize = {.why = "it leaves real numbers; emitted code has none"};
const qn_emit_form qn_emit_op_requantize = {.in_place = 1, .emit = emit_requantize};
const qn_emit_form qn_emit_op_scast = {.alias = true};
