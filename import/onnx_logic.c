/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_logic.c - truth values, bits, remainders, and what kind of number an element is.
 *
 *   And(a, b)                        logical_and
 *   BitShift(a, b) {direction=LEFT}  shift_left
 *   Mod(a, b) {fmod=1}               mod {fmod=1} */
#include "import/onnx_write_op.h"

#include <string.h>

static void
unary(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (qn_onnx_need(o, n, 1))
		out[0] = qn_importer_unary(&o->im, (qn_op)n->arg, n->in[0]);
}

static void
shift(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const char *direction = qn_onnx_string(o, n, "direction", "");
	bool left = strcmp(direction, "LEFT") == 0;

	if (!left && strcmp(direction, "RIGHT") != 0)
		(void)qn_importer_refuse(&o->im, "import.attr",
					 "direction is '%s'; it must be LEFT or RIGHT", direction);
	else if (qn_onnx_need(o, n, 2))
		out[0] = qn_importer_binary(&o->im, left ? QN_OP_shift_left : QN_OP_shift_right,
					    n->in[0], n->in[1]);
}

static void
remainder_of(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = qn_importer_attrs(QN_OP_mod);

	a.mod.fmod = qn_onnx_int(o, n, "fmod", 0) != 0;
	if (qn_onnx_need(o, n, 2))
		out[0] = qn_importer_op(&o->im, QN_OP_mod, 2, n->in, &a, NULL);
}

static void
is_inf(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = qn_importer_attrs(QN_OP_is_inf);

	a.is_inf.detect_negative = qn_onnx_int(o, n, "detect_negative", 1) != 0;
	a.is_inf.detect_positive = qn_onnx_int(o, n, "detect_positive", 1) != 0;
	if (qn_onnx_need(o, n, 1))
		out[0] = qn_importer_op(&o->im, QN_OP_is_inf, 1, n->in, &a, NULL);
}

const qn_onnx_row qn_onnx_logic[] = {
	QN_ONNX_BOTH("And", 1, qn_onnx_binary, qn_onnx_write_plain, 0, EACH, QN_OP_logical_and),
	QN_ONNX_BOTH("Or", 1, qn_onnx_binary, qn_onnx_write_plain, 0, EACH, QN_OP_logical_or),
	QN_ONNX_BOTH("Xor", 1, qn_onnx_binary, qn_onnx_write_plain, 0, EACH, QN_OP_logical_xor),
	QN_ONNX_BOTH("Not", 1, unary, qn_onnx_write_plain, 0, EACH, QN_OP_logical_not),
	QN_ONNX_BOTH("BitwiseAnd", 1, qn_onnx_binary, qn_onnx_write_plain, 18, EACH,
		     QN_OP_bitwise_and),
	QN_ONNX_BOTH("BitwiseOr", 1, qn_onnx_binary, qn_onnx_write_plain, 18, EACH,
		     QN_OP_bitwise_or),
	QN_ONNX_BOTH("BitwiseXor", 1, qn_onnx_binary, qn_onnx_write_plain, 18, EACH,
		     QN_OP_bitwise_xor),
	QN_ONNX_BOTH("BitwiseNot", 1, unary, qn_onnx_write_plain, 18, EACH, QN_OP_bitwise_not),
	QN_ONNX_BOTH("BitShift", 1, shift, qn_onnx_write_shift, 0, EACH, QN_OP_shift_left,
		     QN_OP_shift_right),
	QN_ONNX_BOTH("Mod", 1, remainder_of, qn_onnx_write_remainder_of, 0, EACH, QN_OP_mod),
	QN_ONNX_BOTH("IsNaN", 1, unary, qn_onnx_write_plain, 0, EACH, QN_OP_is_nan),
	QN_ONNX_BOTH("IsInf", 1, is_inf, qn_onnx_write_is_inf, 0, EACH, QN_OP_is_inf),
	{0},
};
