/* SPDX-License-Identifier: Apache-2.0 */
/* infer_fixed_point.c - types of fixed-point arithmetic: plain signed integers of 8 to 64 bits.
 *
 *   rounding_divide_by_pot  i32 [4] {exponent=3}                 ->  i32 [4]
 *   saturating_add          i8 [2,1] + i8 [3]                    ->  i8 [2,3]
 *   fixed_multiply          i32 [4,3] {3 multipliers, axis=1}    ->  i32 [4,3]
 *   integer_dense           i32 [4,8], i32 [3,8], i32 [3]        ->  i32 [4,3] */
#include "ir/infer.h"

#define MULTIPLIER_MIN (INT64_C(1) << 30) /* of m * 2^(s-31); or 0 */
enum { MOST_EXPONENT = 31, LEAST_SHIFT = -31, MOST_SHIFT = 30, MOST_SHIFT_64 = 7 };

/* All inputs are signed integers of one type. */
static bool
are_signed(const qn_graph *g, const qn_node *n)
{
	const qn_type *first = qn_infer_in(g, n, 0);
	bool ok = true;

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_type *t = qn_infer_in(g, n, i);
		const bool fits = !t->is_tuple && t->elem->kind == QN_ELEM_PLAIN &&
				  qn_plain_table[t->elem->plain].is_signed &&
				  !qn_elem_is_float(t->elem) && t->elem->bits >= 8 &&
				  (first->is_tuple || t->elem == first->elem);

		if (!fits)
			ok = qn_infer_error(g, n, "type.element",
					    "input %u ('%s') is %s; %s takes i8, i16, i32 or i64, "
					    "all inputs of one type; scast reads quantized values "
					    "as integers",
					    i, qn_graph_node(g, n->in[i])->name,
					    qn_infer_type_text(g, t), qn_opinfo_of(n)->name);
	}
	return ok;
}

const qn_type *
qn_infer_rounding_divide_by_pot(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const int64_t exponent = n->attr->divide_by_pot.exponent;
	bool ok = are_signed(g, n);

	(void)declared;
	if (exponent < 0 || exponent > MOST_EXPONENT)
		ok = qn_infer_error(g, n, "attr.value", "exponent = %lld; it must be 0 to %d",
				    (long long)exponent, MOST_EXPONENT);
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	return ok ? qn_infer_result(g, n, qn_infer_in(g, n, 0)->elem, &x) : NULL;
}

const qn_type *
qn_infer_saturating_add(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_saturating_add *a = &n->attr->saturating_add;
	qn_shape y;

	(void)declared;
	if (!are_signed(g, n) || !qn_infer_broadcast(g, n, &y))
		return NULL;
	const qn_elem *e = qn_infer_in(g, n, 0)->elem;
	if (a->clamp_min > a->clamp_max || a->clamp_min > e->qmax || a->clamp_max < e->qmin) {
		(void)qn_infer_error(g, n, "attr.value", "no %s is in %lld..%lld",
				     qn_infer_elem_text(g, e), (long long)a->clamp_min,
				     (long long)a->clamp_max);
		return NULL;
	}
	return qn_infer_result(g, n, e, &y);
}

static bool
multipliers_ok(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_fixed_multiply *a = &n->attr->fixed_multiply;
	const int most = qn_infer_in(g, n, 0)->elem->bits == 64 ? MOST_SHIFT_64 : MOST_SHIFT;

	if (a->multiplier.n == 0 || a->multiplier.n != a->shift.n)
		return qn_infer_error(g, n, "attr.value",
				      "%zu multipliers and %zu shifts; there must be one shift for "
				      "each multiplier",
				      a->multiplier.n, a->shift.n);
	for (size_t i = 0; i < a->multiplier.n; i++) {
		const int64_t m = a->multiplier.v[i], s = a->shift.v[i];

		if (m != 0 && (m < MULTIPLIER_MIN || m >= 2 * MULTIPLIER_MIN))
			return qn_infer_error(g, n, "attr.value",
					      "multiplier %lld; it must be 0, or 2^30 to 2^31 - 1",
					      (long long)m);
		if (s < LEAST_SHIFT || s > most)
			return qn_infer_error(g, n, "attr.value", "shift %lld; it must be %d to %d",
					      (long long)s, LEAST_SHIFT, most);
	}
	return true;
}

const qn_type *
qn_infer_fixed_multiply(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_fixed_multiply *a = &n->attr->fixed_multiply;

	(void)declared;
	if (!are_signed(g, n) || !multipliers_ok(g, n))
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	const bool known = x.rank >= 0, one = a->axis == -1 && a->multiplier.n == 1;
	if (!one && (a->axis < 0 || a->axis >= (known ? x.rank : QN_MAX_RANK) ||
		     (known && !qn_dim_fits(x.dim[a->axis], (int64_t)a->multiplier.n)))) {
		(void)qn_infer_error(g, n, "attr.value",
				     "%zu multipliers along axis %lld; there must be one for each "
				     "index of an axis counted from 0, or one without an axis",
				     a->multiplier.n, (long long)a->axis);
		return NULL;
	}
	return qn_infer_result(g, n, qn_infer_in(g, n, 0)->elem, &x);
}

const qn_type *
qn_infer_integer_dense(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	if (!are_signed(g, n))
		return NULL;
	const qn_elem *e = qn_infer_in(g, n, 0)->elem;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	qn_shape w = qn_infer_shape_of_rank(g, n, 1, 2);
	bool ok = qn_infer_rank(g, n, 1, 2);
	if (e->bits < 32)
		ok = qn_infer_error(g, n, "type.element", "sums need i32 or i64, not %s",
				    qn_infer_elem_text(g, e));
	if (x.rank == 0)
		ok = qn_infer_error(g, n, "shape.rank", "the input is a scalar");
	if (ok && x.rank > 0 && !qn_dim_fits(x.dim[x.rank - 1], w.dim[1]))
		ok = qn_infer_error(g, n, "shape.channels",
				    "the input has %lld channels, the weights take %lld",
				    (long long)x.dim[x.rank - 1], (long long)w.dim[1]);
	if (n->nin > 2)
		ok = qn_infer_vector(g, n, 2, w.dim[0]) && ok;
	if (ok && x.rank > 0)
		x.dim[x.rank - 1] = w.dim[0];
	return ok ? qn_infer_result(g, n, e, &x) : NULL;
}
