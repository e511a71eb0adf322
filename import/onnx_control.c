/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_control.c - operators with bodies: Loop and Scan (onnx_repeat.h), and
 *
 *   If(c)    the branch that a condition known while reading chooses; with another one
 *            where(c, the nodes of one branch, those of the other): both run */
#include "import/onnx_repeat.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

/* The results of a branch; false after a report. */
static bool
run_branch(qn_onnx *o, const qn_onnx_node *n, const char *name, qn_id *out)
{
	const Onnx__GraphProto *g = qn_onnx_graph(o, n, name);

	if (g == NULL)
		return qn_importer_refuse(&o->im, "import.attr", "the branch %s is missing",
					  name) != 0;
	qn_onnx_body(o, g, 0, NULL, n->nout, out);
	return true;
}

/* Result k where the condition is true and where it is not; 0 after a report, or where one has no result. */
static qn_id
chosen(qn_onnx *o, uint32_t k, qn_id condition, qn_id yes, qn_id no)
{
	if (yes == 0 || no == 0)
		return 0;
	if (qn_onnx_is_list(o, yes) || qn_onnx_is_list(o, no))
		return qn_importer_refuse(
			&o->im, "import.type",
			"result %u is a sequence, which needs a condition that is "
			"known before a run",
			k);
	if (qn_onnx_type(o, yes) != qn_onnx_type(o, no))
		return qn_importer_refuse(
			&o->im, "import.type",
			"the shape or the type of result %u depends on a condition "
			"that is known at run time only; fix the inputs that it "
			"depends on (--input-value NAME=VALUE)",
			k);
	return qn_importer_op(&o->im, QN_OP_where, 3, (qn_id[]){condition, yes, no}, NULL, NULL);
}

static void
both_branches(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_id *yes = QN_NEW(o->im.scratch, qn_id, n->nout + 1);
	qn_id *no = QN_NEW(o->im.scratch, qn_id, n->nout + 1);
	const qn_importer before = o->im;

	if (!run_branch(o, n, "then_branch", yes) || !run_branch(o, n, "else_branch", no))
		return;
	qn_importer_at(&o->im, before.node, before.op, before.version);
	const qn_id condition = qn_importer_reshape(&o->im, n->in[0], 0, NULL);
	for (uint32_t k = 0; k < n->nout; k++)
		if (n->proto->output[k][0] != '\0')
			out[k] = chosen(o, k, condition, yes[k], no[k]);
}

static void
if_node(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 1))
		return;
	const qn_tensor *known = qn_importer_known(&o->im, n->in[0]);
	const qn_type *type = qn_onnx_type(o, n->in[0]);

	if (qn_type_count(type) != 1 || type->elem->plain != QN_PLAIN_bool)
		(void)qn_importer_refuse(&o->im, "import.input",
					 "the condition is not one truth value");
	else if (known != NULL)
		(void)run_branch(o, n, qn_tensor_i64(known, 0) != 0 ? "then_branch" : "else_branch",
				 out);
	else
		both_branches(o, n, out);
}

const qn_onnx_row qn_onnx_control[] = {
	QN_ONNX_READ("", "If", 1, if_node, 0),
	QN_ONNX_READ("", "Loop", 1, qn_onnx_loop, 0),
	QN_ONNX_READ("", "Scan", 9, qn_onnx_scan, 0),
	{0},
};
