/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_control.c - operators with bodies: If is taken where its condition is known while reading, so is
 * what chooses by shapes or by constants. */
#include "import/onnx.h"

#include <onnx/onnx.pb-c.h>

static void
if_known(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	double condition;

	if (!qn_onnx_need(o, n, 1) || !qn_onnx_const_real(o, n, 0, 0, &condition))
		return;
	const Onnx__GraphProto *g =
		qn_onnx_graph(o, n, condition != 0 ? "then_branch" : "else_branch");
	if (g == NULL)
		(void)qn_importer_refuse(&o->im, "import.attr", "the branch to take is missing");
	else
		qn_onnx_body(o, g, n->nout, out);
}

static void
loop(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	(void)out;
	(void)qn_importer_refuse(&o->im, "import.op",
				 "%s repeats a body; export the model with its loops unrolled",
				 n->op);
}

const qn_onnx_row qn_onnx_control[] = {
	{"", "If", 1, QN_ONNX_NEWEST, if_known, 0},
	{"", "Loop", 1, QN_ONNX_NEWEST, loop, QN_ONNX_REFUSED},
	{"", "Scan", 1, QN_ONNX_NEWEST, loop, QN_ONNX_REFUSED},
	{0},
};
