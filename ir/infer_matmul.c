/* SPDX-License-Identifier: Apache-2.0 */
/* infer_matmul.c - type of matmul.
 *
 *   a [..., M, K]   b [..., K, N]   ->   [..., M, N]       leading dims are broadcast
 *   transpose_a: a is [..., K, M]   transpose_b: b is [..., N, K] */
#include "ir/infer.h"

static bool
attributes_ok(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_matmul *a = &n->attr->matmul;

	if ((a->transpose_a == 0 || a->transpose_a == 1) &&
	    (a->transpose_b == 0 || a->transpose_b == 1))
		return true;
	return qn_infer_error(g, n, "attr.value", "transpose_a and transpose_b are 0 or 1");
}

static bool
is_matrix(const qn_graph *g, const qn_node *n, uint32_t i)
{
	const qn_type *t = qn_infer_in(g, n, i);

	return t->rank == -1 || t->rank >= 2 ||
	       qn_infer_error(g, n, "shape.rank",
			      "input %u ('%s') is %s, must have 2 dimensions or more", i,
			      qn_graph_node(g, n->in[i])->name, qn_infer_type_text(g, t));
}

/* The leading dims, aligned at the matrices. */
static bool
batch(const qn_graph *g, const qn_node *n, const qn_shape *a, const qn_shape *b, qn_shape *y)
{
	for (int32_t i = 0; i < y->rank - 2; i++) {
		int32_t ia = i - (y->rank - a->rank), ib = i - (y->rank - b->rank);
		int64_t da = ia >= 0 ? a->dim[ia] : 1, db = ib >= 0 ? b->dim[ib] : 1;

		if (da != 1 && db != 1 && !qn_dim_fits(da, db))
			return qn_infer_error(g, n, "shape.broadcast",
					      "%s and %s do not match in dimension %d",
					      qn_infer_type_text(g, qn_infer_in(g, n, 0)),
					      qn_infer_type_text(g, qn_infer_in(g, n, 1)), (int)i);
		if (da == 1)
			y->dim[i] = db;
		else
			y->dim[i] = db == 1 ? da : qn_dim_merge(da, db);
	}
	return true;
}

const qn_type *
qn_infer_matmul(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_matmul *t = &n->attr->matmul;
	bool ok = attributes_ok(g, n);

	ok = is_matrix(g, n, 0) && ok;
	ok = is_matrix(g, n, 1) && ok;
	if (!ok)
		return NULL;
	qn_shape a = qn_shape_of(qn_infer_in(g, n, 0)), b = qn_shape_of(qn_infer_in(g, n, 1));
	qn_shape y = {.rank = a.rank > b.rank ? a.rank : b.rank};
	if (a.rank < 0 || b.rank < 0)
		y.rank = -1;
	int32_t column = b.rank - (t->transpose_b != 0 ? 2 : 1);
	const qn_elem *e = qn_infer_integers(g, n, false)
				   ? qn_infer_in(g, n, 0)->elem
				   : qn_infer_product(g, n, column, y.rank - 1, declared);
	if (e == NULL || !batch(g, n, &a, &b, &y))
		return NULL;
	if (y.rank < 0)
		return qn_infer_result(g, n, e, &y);
	int64_t ka = a.dim[a.rank - (t->transpose_a != 0 ? 2 : 1)];
	int64_t kb = b.dim[b.rank - (t->transpose_b != 0 ? 1 : 2)];
	if (!qn_dim_fits(ka, kb)) {
		(void)qn_infer_error(g, n, "shape.channels",
				     "%s has %lld columns, %s has %lld rows",
				     qn_graph_node(g, n->in[0])->name, (long long)ka,
				     qn_graph_node(g, n->in[1])->name, (long long)kb);
		return NULL;
	}
	y.dim[y.rank - 2] = a.dim[a.rank - (t->transpose_a != 0 ? 1 : 2)];
	y.dim[y.rank - 1] = b.dim[column];
	return qn_infer_result(g, n, e, &y);
}
