/* SPDX-License-Identifier: Apache-2.0 */
/* specialize.c - a graph whose shapes are open, for inputs of known shapes.
 *
 *   graph @main(%x: tensor<?x4xf32>)   with x: tensor<2x4xf32>   ->   graph @main(%x: tensor<2x4xf32>)
 *     %y = relu %x : tensor<?x4xf32>                                    %y = relu %x : tensor<2x4xf32>
 *
 * Shapes follow from the inputs by the rules of the ops; elements stay as they are declared.
 *
 * requires: any graph; types of its inputs with the same elements.   leaves: a new graph, for the time of the call. */
#include "ir/infer.h"
#include "passes/passes.h"

/* A type for the rules that want one: the elements of n in the shape of its first operand, which is that of
 * the result of a cast; other rules take only the elements from it. */
static const qn_type *
declared(const qn_graph *to, const qn_node *n)
{
	if (n->nin == 0 || n->type->is_tuple || qn_infer_in(to, n, 0)->is_tuple)
		return n->nin == 0 ? n->type : NULL;
	return qn_type_with_elem(&to->model->types, qn_infer_in(to, n, 0), n->type->elem);
}

static qn_id
copy_node(qn_graph *to, const qn_node *like, const qn_id *map)
{
	qn_node n = *like;
	qn_id *in = QN_NEW(to->model->scratch, qn_id, n.nin + 1);

	for (uint32_t i = 0; i < n.nin; i++)
		in[i] = map[n.in[i]];
	n.in = in;
	n.type = qn_infer_type(to, &n, declared(to, &n));
	if (n.type == NULL ||
	    qn_type_check(&to->model->types, qn_node_place(to, &n), n.type) != QN_OK)
		return 0;
	return qn_graph_add(to, &n);
}

qn_status
qn_specialize(const qn_graph *g, const qn_type *const *input, qn_graph **out)
{
	qn_model *m = g->model;
	qn_graph *to = qn_graph_new_in(m, g->name, m->scratch);
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);

	qn_graph_copy_facts(to, g);
	for (size_t k = 0; k < g->ninput; k++) {
		qn_node x = *qn_graph_node(g, g->input[k]);

		x.type = input[k];
		QN_TRY(qn_type_check(&m->types, qn_node_place(g, &x), x.type));
		if ((map[g->input[k]] = qn_graph_add(to, &x)) == 0)
			return QN_EINVALID;
	}
	for (qn_id id = 1; id < g->n; id++)
		if (map[id] == 0 && (map[id] = copy_node(to, qn_graph_node(g, id), map)) == 0)
			return QN_EINVALID;
	qn_graph_copy_outputs(to, g, map);
	*out = to;
	return QN_OK;
}
