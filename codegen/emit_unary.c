/* SPDX-License-Identifier: Apache-2.0 */
/* emit_unary.c - functions of one code, as a table among the constants, and prelu.
 *
 *   NET_WEIGHTS_ATTR const int8_t net_act_lut[256] = {…        qn_lut_s8(&net_act_args, …); */
#include "codegen/emitter.h"
#include "runtime/form_args.h"

void
qn_emit_lut(qn_emitter *e, const qn_step *s, const void *args)
{
	const qn_lut *a = args;
	bool curve = a->plain == QN_PLAIN_u16;
	const char *table = qn_emit_table(e, s, "lut", a->plain, a->count, a->table);

	qn_emit_open(e, s, curve ? "qn_sigmoid_args" : "qn_lut_args_o", 0);
	qn_emit_args(e, args, (const char *const[]){table});
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, a->kernel, symbol, QN_OWN, 1, false);
}

static void
emit_prelu(qn_emitter *e, const qn_step *s, const void *args)
{
	qn_emit_open(e, s, "qn_prelu_args", 0);
	qn_emit_args(e, args, NULL);
	const char *symbol = qn_emit_close(e);
	qn_emit_call(e, s, "qn_prelu_q", symbol, QN_OWN, 2, false);
}

#define LUT(name) const qn_emit_form qn_emit_op_##name = {.in_place = 1, .emit = qn_emit_lut};

LUT(leaky_relu)
LUT(elu)
LUT(sigmoid)
LUT(tanh)
LUT(hard_sigmoid)
LUT(hard_swish)
LUT(silu)
LUT(gelu)
LUT(erf)
LUT(exp)
LUT(log)
LUT(sqrt)
LUT(rsqrt)
LUT(abs)
LUT(neg)
LUT(ceil)
LUT(floor)
LUT(round)
LUT(sign)
LUT(reciprocal)
LUT(sin)
LUT(cos)
LUT(tan)
LUT(asin)
LUT(acos)
LUT(atan)
LUT(sinh)
LUT(cosh)
LUT(asinh)
LUT(acosh)
LUT(atanh)
LUT(softplus)
LUT(softsign)
LUT(selu)
LUT(celu)
LUT(mish)
LUT(thresholded_relu)
LUT(shrink)
LUT(swish)
LUT(square)
LUT(pow)
LUT(table)
const qn_emit_form qn_emit_op_prelu = {.in_place = 1, .emit = emit_prelu};
