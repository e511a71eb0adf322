/* SPDX-License-Identifier: Apache-2.0 */
/* open_lrn.c - an lrn that a file of a quantized graph leaves in float is written out in ops that have integer
 * arithmetic, as one of a float model is (patterns/lrn.c), with symbols that samples give values.
 *
 * requires: a calibrated graph.   leaves: a symbolic graph where there was one, else the graph as it is. */
#include "passes/passes.h"
#include "passes/requantize.h"
#include "patterns/quantizing.h"
#include "patterns/standard.h"

static bool
is_open_lrn(const qn_graph *g, const qn_node *n, const qn_match *m)
{
	const char *reason;

	return n->op == QN_OP_lrn && qn_accept_lrn(NULL, g, m, &reason);
}

/* As what it normalizes is stored. */
static qn_storage
storage_of(const qn_graph *g, const qn_node *n)
{
	n = qn_graph_node(g, n->in[0]);
	while (n->nin == 1 && qn_rqz_moves(g, n))
		n = qn_graph_node(g, n->in[0]);
	if (n->op != QN_OP_dequantize)
		return QN_STORAGE_I8;
	const qn_elem *e = qn_graph_node(g, n->in[0])->type->elem;
	if (e->bits > 8)
		return QN_STORAGE_I16;
	return e->is_signed ? QN_STORAGE_I8 : QN_STORAGE_U8;
}

static qn_id
write_out(qn_model *m, const qn_graph *g, const qn_match *match, qn_graph *dst, const qn_id *map)
{
	const qn_quant_opts opts = {.activations = storage_of(g, qn_graph_node(g, match->root))};
	qn_quantizing b = {
		.m = m, .dst = dst, .opts = &opts, .composite = g, .inside = match, .arg = map};

	return qn_quantize_lrn(NULL, &b, match);
}

qn_status
qn_open_lrn(qn_model *m, size_t *nopened)
{
	const qn_graph *g = qn_model_entry(m);
	qn_graph *dst = qn_graph_new(m, g->name);
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);

	*nopened = 0;
	qn_graph_copy_facts(dst, g);
	for (qn_id id = 1; id < g->n; id++) {
		qn_node n = *qn_graph_node(g, id);
		qn_id *in = QN_NEW(m->scratch, qn_id, n.nin);
		qn_match match = {.root = id};

		for (uint32_t i = 0; i < n.nin; i++)
			in[i] = map[n.in[i]];
		n.in = in;
		if (is_open_lrn(g, &n, &match)) {
			map[id] = write_out(m, g, &match, dst, map);
			++*nopened;
		} else {
			map[id] = qn_graph_add(dst, &n);
		}
		if (map[id] == 0)
			return QN_EINVALID;
	}
	if (*nopened == 0)
		return QN_OK;
	qn_graph_copy_outputs(dst, g, map);
	qn_model_set_graph(m, dst);
	m->stage = QN_STAGE_SYMBOLIC;
	return QN_OK;
}
