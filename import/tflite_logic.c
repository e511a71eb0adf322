/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_logic.c - truth values, integers, and indices: LOGICAL_AND …, FLOOR_DIV, FLOOR_MOD,
 * BITWISE_XOR, TOPK_V2, ONE_HOT. */
#include "import/tflite.h"

static void
plain(qn_tfl_op *o)
{
	qn_tfl_set_result(o, 0, qn_importer_op(o->im, o->op, o->nin, o->in, NULL, NULL));
}

/* The sign is that of the divisor. */
static void
floor_mod(qn_tfl_op *o)
{
	qn_attrs a = {.mod = {0}};

	qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_mod, 2, o->in, &a, NULL));
}

/* The k largest along the last axis, and where they were. */
static void
top_k(qn_tfl_op *o)
{
	qn_attrs a, g = {.gather = {-1}};
	qn_id x = qn_tfl_moved(o, 0), in[2];

	qn_attrs_default(QN_ATTRS(top_k), &a);
	if (qn_tfl_ints(o, 1, 1, &a.top_k.k) != 1 || x == 0)
		return;
	o->im->node = o->to[1]->name;
	in[0] = x;
	in[1] = qn_importer_op(o->im, QN_OP_top_k_indices, 1, &x, &a, NULL);
	qn_tfl_set_result(o, 1, in[1]);
	o->im->node = o->to[0]->name;
	qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_gather_elements, 2, in, &g, NULL));
}

/* depth, the value where an index points, and elsewhere are inputs. */
static void
one_hot(qn_tfl_op *o)
{
	static const int64_t single = 1;
	qn_attrs a = {.one_hot = {qn_tfl_option(o, 0, 0), 0}};
	qn_attrs first = {.axis = {0}};
	qn_id off_on[2], in[2] = {o->in[0], 0};

	if (qn_tfl_ints(o, 1, 1, &a.one_hot.depth) != 1)
		return;
	off_on[0] = qn_importer_reshape(o->im, qn_tfl_moved(o, 3), 1, &single);
	off_on[1] = qn_importer_reshape(o->im, qn_tfl_moved(o, 2), 1, &single);
	in[1] = qn_importer_op(o->im, QN_OP_concat, 2, off_on, &first, NULL);
	qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_one_hot, 2, in, &a, NULL));
}

const qn_tfl_row qn_tfl_logic_rows[] = {
	{QN_TFL_LOGICAL_AND, plain, QN_OP_logical_and, 2, 2, 1, 0},
	{QN_TFL_LOGICAL_OR, plain, QN_OP_logical_or, 2, 2, 1, 0},
	{QN_TFL_LOGICAL_NOT, plain, QN_OP_logical_not, 1, 1, 1, 0},
	{QN_TFL_BITWISE_XOR, plain, QN_OP_bitwise_xor, 2, 2, 1, 0},
	{QN_TFL_RIGHT_SHIFT, plain, QN_OP_shift_right, 2, 2, 1, 0},
	{QN_TFL_FLOOR_DIV, plain, QN_OP_floor_div, 2, 2, 1, 0},
	{QN_TFL_FLOOR_MOD, floor_mod, 0, 2, 2, 1, 0},
	{QN_TFL_TOPK_V2, top_k, 0, 2, 2, 2, 0},
	{QN_TFL_ONE_HOT, one_hot, 0, 4, 4, 1, 0},
	{0},
};
