/* SPDX-License-Identifier: Apache-2.0 */
/* support.c - which operators have which forms, read from the tables themselves. */
#include "codegen/emitter.h"
#include "driver/context.h"
#include "runtime/family.h"

/* Values without arithmetic: every graph may hold them. */
static bool
is_structure(qn_op op)
{
	return op == QN_OP_input || op == QN_OP_const || op == QN_OP_call || op == QN_OP_tuple ||
	       op == QN_OP_get || op == QN_OP_custom;
}

qn_op_support
qn_supported_op(size_t i)
{
	for (qn_op op = 0; op < QN_NOP; op++) {
		const qn_emit_form *emit = qn_emit_form_get(op);
		bool codes = op != QN_OP_dequantize;

		if (is_structure(op) || i-- > 0)
			continue;
		return (qn_op_support){
			.name = qn_opinfo_get(op)->name,
			.real = qn_float_form(op) != NULL || qn_op_is_plain(op) ||
				op == QN_OP_dequantize,
			.int8 = codes && qn_form_takes_family(op, QN_FAMILY_s8),
			.uint8 = codes && qn_form_takes_family(op, QN_FAMILY_u8),
			.int16 = codes && qn_form_takes_family(op, QN_FAMILY_s16),
			/* A split is written as slices, one for each part that is read, a top_k as
			 * top_places and gather_elements. */
			.emitted =
				op == QN_OP_split || op == QN_OP_top_k || (emit->why == NULL && op != QN_OP_dequantize),
		};
	}
	return (qn_op_support){0};
}
