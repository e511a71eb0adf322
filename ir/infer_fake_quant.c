/* SPDX-License-Identifier: Apache-2.0 */
/* infer_fake_quant.c - type of const_fake_quant: that of its operand, f32.
 *
 *   const_fake_quant {min=-1.0, max=1.0}                        f32 [4,3]  ->  f32 [4,3]
 *   const_fake_quant {min=[…], max=[…] of 3 ranges, axis=1}     f32 [4,3]  ->  f32 [4,3] */
#include <math.h>

#include "ir/infer.h"

enum { LEAST_BITS = 2, MOST_BITS = 16 };

static bool
ranges_ok(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_const_fake_quant *a = &n->attr->const_fake_quant;

	if (a->min.n != a->max.n)
		return qn_infer_error(g, n, "attr.value",
				      "min has %zu values, max %zu; they must have equally many",
				      a->min.n, a->max.n);
	for (size_t i = 0; i < a->min.n; i++)
		if (!isfinite(a->min.v[i]) || !isfinite(a->max.v[i]) || a->min.v[i] > a->max.v[i])
			return qn_infer_error(g, n, "attr.value",
					      "range %zu is %g..%g; both ends must be finite, and "
					      "min at most max",
					      i, a->min.v[i], a->max.v[i]);
	return true;
}

/* One range, or one for each index of the axis. */
static bool
axis_ok(const qn_graph *g, const qn_node *n, const qn_shape *x)
{
	const qn_attrs_const_fake_quant *a = &n->attr->const_fake_quant;
	const bool known = x->rank >= 0;

	if (a->axis < -1 || a->axis >= QN_MAX_RANK || (known && a->axis >= x->rank))
		return qn_infer_error(g, n, "attr.value",
				      "axis = %lld; it must be an axis of the input, counted from "
				      "0, or -1 for one range",
				      (long long)a->axis);
	if (a->axis < 0)
		return a->min.n == 1 ||
		       qn_infer_error(
			       g, n, "attr.value",
			       "%zu ranges without an axis; one range, or an axis, is needed",
			       a->min.n);
	if (a->min.n == 0 || (known && !qn_dim_fits(x->dim[a->axis], (int64_t)a->min.n)))
		return qn_infer_error(
			g, n, "attr.value",
			"%zu ranges along axis %lld; there must be one for each index", a->min.n,
			(long long)a->axis);
	return true;
}

const qn_type *
qn_infer_const_fake_quant(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_const_fake_quant *a = &n->attr->const_fake_quant;
	const qn_elem *e = qn_infer_real(g, n);
	bool ok = qn_infer_flag(g, n, "narrow_range", a->narrow_range);

	(void)declared;
	ok = qn_infer_flag(g, n, "is_signed", a->is_signed) && ok;
	if (a->num_bits < LEAST_BITS || a->num_bits > MOST_BITS)
		ok = qn_infer_error(g, n, "attr.value", "num_bits = %lld; it must be %d to %d",
				    (long long)a->num_bits, LEAST_BITS, MOST_BITS);
	ok = ranges_ok(g, n) && ok;
	if (e == NULL)
		return NULL;
	if (e->plain != QN_PLAIN_f32)
		ok = qn_infer_error(g, n, "type.element", "the input is %s, must be f32",
				    qn_infer_elem_text(g, e));
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	ok = axis_ok(g, n, &x) && ok;
	return ok ? qn_infer_result(g, n, e, &x) : NULL;
}
