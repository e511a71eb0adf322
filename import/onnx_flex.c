/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_flex.c - FlexAttention(q, k, v): an attention of lib/attention.qir with bodies of the file between its parts.
 *
 *   s = score_mod(q k^T * scale)      p = prob_mod(softmax(s))      y = p v */
#include "import/importer_lib.h"
#include "import/onnx.h"

/* x through a body of the node, which may be left out. */
static qn_id
through_body(qn_onnx *o, const qn_onnx_node *n, const char *body, qn_id x)
{
	const struct Onnx__GraphProto *g = qn_onnx_graph(o, n, body);
	qn_id y = g == NULL ? x : 0;

	if (x != 0 && g != NULL)
		qn_onnx_body(o, g, 1, &x, 1, &y);
	return y;
}

static void
flex_attention(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const qn_lib_attr scale = {"scale", qn_item_real(qn_onnx_float(o, n, "scale", 0))};
	qn_attrs last = qn_importer_attrs(QN_OP_softmax);
	qn_id s = 0;

	if (!qn_onnx_need(o, n, 3) || !qn_importer_call(&o->im,
							&(qn_lib_call){.graph = "attention_scores",
								       .nin = 3,
								       .in = n->in,
								       .nout = 1,
								       .nattr = 1,
								       .attr = &scale},
							&s))
		return;
	s = through_body(o, n, "score_mod", s);
	last.axis.axis = 3;
	qn_id p = s != 0 ? qn_importer_op(&o->im, QN_OP_softmax, 1, &s, &last, NULL) : 0;
	p = through_body(o, n, "prob_mod", p);
	if (p != 0)
		(void)qn_importer_call(&o->im,
				       &(qn_lib_call){.graph = "attention_result",
						      .nin = 2,
						      .in = (qn_id[]){p, n->in[2]},
						      .nout = 1},
				       out);
}

const qn_onnx_row qn_onnx_flexes[] = {
	QN_ONNX_READ("ai.onnx.preview", "FlexAttention", 1, flex_attention, 0),
	{0},
};
