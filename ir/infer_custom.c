/* SPDX-License-Identifier: Apache-2.0 */
/* infer_custom.c - the type of a custom node: the shape from its callback, the element by
 * its behaviour. */
#include "ir/custom.h"
#include "ir/infer.h"

static const qn_elem *
element(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	if (qn_opinfo_of(n)->behaviour == QN_SAME)
		return qn_infer_same(g, n);
	return qn_infer_mix(g, n, declared);
}

static bool
shape_of(const qn_graph *g, const qn_node *n, qn_shape *out)
{
	const qn_op_desc *d = qn_custom_desc(n);
	const char *why = NULL;

	if (d->shape == NULL) {
		*out = qn_shape_of(qn_infer_in(g, n, 0));
		return true;
	}
	qn_node before = *n;
	before.type = NULL; /* not known yet */
	const qn_op_call call = qn_custom_call(g, &before, g->arena);
	out->rank = d->shape(d->user, &call, out->dim, &why);
	if (out->rank < 0)
		return qn_infer_error(g, n, "shape.custom", "%s",
				      why != NULL ? why
						  : "its shape callback rejected the inputs and "
						    "gives no reason");
	if (out->rank > QN_MAX_RANK)
		return qn_infer_error(g, n, "shape.custom",
				      "its shape callback returned rank %d, at most %d is possible",
				      out->rank, QN_MAX_RANK);
	for (int32_t i = 0; i < out->rank; i++)
		if (out->dim[i] < QN_DYNAMIC)
			return qn_infer_error(g, n, "shape.custom",
					      "its shape callback returned the dimension %lld",
					      (long long)out->dim[i]);
	return true;
}

const qn_type *
qn_infer_custom(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e;
	qn_shape shape;

	if (n->attr == NULL) {
		(void)qn_infer_error(g, n, "op.unknown", "'custom' is not an operator by itself");
		return NULL;
	}
	e = element(g, n, declared);
	if (e == NULL || !shape_of(g, n, &shape))
		return NULL;
	return qn_infer_result(g, n, e, &shape);
}
