/* SPDX-License-Identifier: Apache-2.0 */
/* open_written.c - what quantize writes in a form of its own, in a file of a quantized graph that leaves it in float, with
 * symbols that samples give values:
 *
 *   lrn                         ops that have integer arithmetic (patterns/lrn.c)
 *   what a loop carries         quantize before it and at its end, dequantize in it (patterns/quantize_loops.c)
 *
 * requires: a calibrated graph.   leaves: a symbolic graph where there was one, else the graph as it is. */
#include "ir/loops.h"
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
	return qn_storage_like(n->op == QN_OP_dequantize ? qn_graph_node(g, n->in[0])->type->elem
							 : NULL);
}

static qn_id
write_out(qn_model *m, const qn_graph *g, const qn_match *match, qn_graph *dst, const qn_id *map)
{
	const qn_quant_opts opts = {.activations = storage_of(g, qn_graph_node(g, match->root))};
	qn_quantizing b = {
		.m = m, .dst = dst, .opts = &opts, .composite = g, .inside = match, .arg = map};

	return qn_quantize_lrn(NULL, &b, match);
}

bool *
qn_rqz_find_multiplied(const qn_graph *g, qn_arena *a)
{
	bool *multiplied = QN_NEW(a, bool, g->n);

	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);
		const bool here = qn_opinfo_of(n)->behaviour == QN_ACC ||
				  (multiplied[id] && qn_rqz_moves(g, n));

		for (uint32_t i = 0; here && i < n->nin; i++)
			multiplied[n->in[i]] = true;
	}
	return multiplied;
}

/* Values of 8 bits are what products take; what is added up from step to step has 16. */
static qn_id
carry(qn_model *m, const qn_graph *g, qn_id id, qn_graph *dst, const qn_id *map, bool multiplied)
{
	const qn_quant_opts opts = {.activations = multiplied ? QN_STORAGE_I8 : QN_STORAGE_I16};

	return qn_quantize_carried(m, g, id, dst, map, NULL, &opts);
}

static bool
is_open_carry(const qn_node *n)
{
	return n->op == QN_OP_loop_carry && qn_type_is_f32(n->type);
}

qn_status
qn_open_written(qn_model *m, size_t *nopened)
{
	qn_graph *g = qn_model_entry(m);

	QN_TRY(qn_carried_types(m, g, false, &g));
	const bool *multiplied = qn_rqz_find_multiplied(g, m->scratch);
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
		*nopened += is_open_lrn(g, &n, &match) || is_open_carry(&n);
		if (is_open_lrn(g, &n, &match))
			map[id] = write_out(m, g, &match, dst, map);
		else if (qn_carries(n.op))
			map[id] = carry(m, g, id, dst, map, multiplied[id]);
		else {
			n.in = in;
			map[id] = qn_graph_add(dst, &n);
		}
		if (map[id] == 0)
			return QN_EINVALID;
	}
	if (*nopened == 0)
		return QN_OK;
	qn_graph_copy_outputs(dst, g, map);
	QN_TRY(qn_loops_gather(&dst, m->scratch, NULL)); /* first values are quantized before */
	qn_model_set_graph(m, dst);
	m->stage = QN_STAGE_SYMBOLIC;
	return QN_OK;
}
