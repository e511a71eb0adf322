/* SPDX-License-Identifier: Apache-2.0 */
/* infer_l2_norm.c - types of l2_norm, which divides by the length of the vectors along an axis, and
 * of lrn, which divides by a power of the squares of neighbouring channels: that of the input. */
#include "ir/infer.h"

const qn_type *
qn_infer_l2_norm(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_mix(g, n, declared);
	bool ok = qn_infer_epsilon(g, n, n->attr->l2_norm.epsilon) && e != NULL;
	int32_t axis = 0;

	if (!ok)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x.rank >= 0 && !qn_infer_axis(g, n, n->attr->l2_norm.axis, x.rank, &axis))
		return NULL;
	return qn_infer_result(g, n, e, &x);
}

static bool
is_finite(const qn_graph *g, const qn_node *n, const char *attr, double v)
{
	return v - v == 0 ||
	       qn_infer_error(g, n, "attr.value", "%s is %g, must be finite", attr, v);
}

const qn_type *
qn_infer_lrn(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_lrn *a = &n->attr->lrn;
	const qn_elem *e = qn_infer_real(g, n);
	bool ok = qn_infer_range(g, n, "size", 1, &a->size, 1) && e != NULL;

	(void)declared;
	ok = is_finite(g, n, "alpha", a->alpha) && ok;
	ok = is_finite(g, n, "beta", a->beta) && ok;
	ok = is_finite(g, n, "bias", a->bias) && ok;
	if (!ok)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x.rank == 0) {
		(void)qn_infer_error(g, n, "shape.rank",
				     "the data is a scalar and has no channels");
		return NULL;
	}
	return qn_infer_result(g, n, e, &x);
}
