/* SPDX-License-Identifier: Apache-2.0 */
/* promises.h - what tests of promises need of a graph: a node of an op, the result on one code. */
#ifndef QN_TESTS_PROMISES_H
#define QN_TESTS_PROMISES_H

#include "tests/e2e/build.h"

#include "runtime/interp.h"

static inline const qn_node *
find_op(const qn_graph *g, qn_op op)
{
	qn_id id;

	for (id = 1; id < g->n; id++)
		if (qn_graph_node(g, id)->op == op)
			return qn_graph_node(g, id);
	fail_msg("no %s in the graph", qn_opinfo_get(op)->name);
	return NULL;
}

/* Runs the model on an input of nothing but `code`. */
static inline const qn_tensor *
run_on(builder *b, int64_t code)
{
	const qn_graph *g = qn_model_entry(&b->model);
	const qn_type *type = qn_graph_node(g, g->input[0])->type;
	void *data;
	const qn_tensor *x = qn_tensor_new(&b->arena, type, &data);
	qn_interp *in;
	int64_t i;

	for (i = 0; i < qn_type_count(type); i++)
		qn_store_i64(data, type->elem->plain, i, code);
	build_check(b, qn_interp_new(g, &b->arena, &in) == QN_OK);
	build_check(b, qn_interp_run(in, &x, NULL, NULL) == QN_OK);
	return qn_interp_output(in, 0);
}

#endif
