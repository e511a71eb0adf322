/* SPDX-License-Identifier: Apache-2.0 */
/* infer_dense.c - type of dense: x [N,K]   w [O,K]   bias [O]   ->   [N,O] */
#include "ir/infer.h"

static int64_t
dim(const qn_type *t, int32_t axis)
{
	return t->rank == 2 ? t->dim[axis] : QN_DYNAMIC;
}

const qn_type *
qn_infer_dense(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_acc_as(g, n, 1, declared);

	if (e == NULL)
		return NULL;
	bool ok = qn_infer_rank(g, n, 0, 2);
	ok = qn_infer_rank(g, n, 1, 2) && ok;
	if (!ok)
		return NULL;
	const qn_type *x = qn_infer_in(g, n, 0);
	const qn_type *w = qn_infer_in(g, n, 1);
	if (!qn_dim_fits(dim(x, 1), dim(w, 1)))
		ok = qn_infer_error(g, n, "shape.channels",
				    "the data has %lld features, the weights '%s' take %lld%s",
				    (long long)dim(x, 1), qn_graph_node(g, n->in[1])->name,
				    (long long)dim(w, 1),
				    dim(x, 1) == dim(w, 0)
					    ? ": weights are [outputs, inputs]; transpose them"
					    : "");
	if (n->nin == 3)
		ok = qn_infer_vector(g, n, 2, dim(w, 0)) && ok;
	qn_shape y = {2, {dim(x, 0), dim(w, 0)}};
	return ok ? qn_infer_result(g, n, e, &y) : NULL;
}
