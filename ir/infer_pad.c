/* SPDX-License-Identifier: Apache-2.0 */
/* infer_pad.c - the type of pad.
 *
 *   pad {before=[0,1], after=[0,2]}      [2,3] -> [2,6]
 *   [a b c]  constant  [0 a b c 0 0]     reflect  [b a b c b a]       edge  [a a b c c c]
 *                                        symmetric  [a a b c c b]     wrap  [c a b c a b] */
#include "ir/infer.h"

/* Reflected positions must exist: the edge itself is not repeated, but by symmetric. */
static bool
mode_fits(const qn_graph *g, const qn_node *n, const qn_shape *x)
{
	const qn_attrs_pad *a = &n->attr->pad;
	bool ok = true;

	for (int32_t i = 0; a->mode != QN_PAD_constant && i < x->rank; i++) {
		int64_t most = a->before.v[i] > a->after.v[i] ? a->before.v[i] : a->after.v[i];

		if (x->dim[i] == QN_DYNAMIC || most == 0)
			continue;
		if (a->mode == QN_PAD_reflect     ? most >= x->dim[i]
		    : a->mode == QN_PAD_symmetric ? most > x->dim[i]
						  : x->dim[i] == 0)
			ok = qn_infer_error(g, n, "shape.pad",
					    "dimension %d of the input is %lld, too short to be "
					    "padded by %lld in mode %s",
					    (int)i, (long long)x->dim[i], (long long)most,
					    qn_enum_table[QN_ENUM_pad_mode].names[a->mode]);
	}
	return ok;
}

const qn_type *
qn_infer_pad(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_pad *a = &n->attr->pad;
	const qn_elem *e = qn_infer_same(g, n);
	bool ok = e != NULL;

	(void)declared;
	ok = qn_infer_range(g, n, "before", a->before.n, a->before.v, 0) && ok;
	ok = qn_infer_range(g, n, "after", a->after.n, a->after.v, 0) && ok;
	if (a->before.n != a->after.n)
		ok = qn_infer_error(g, n, "attr.value", "before has %d numbers, after %d",
				    (int)a->before.n, (int)a->after.n);
	if (e != NULL && a->code != INT32_MIN &&
	    (!qn_elem_is_quant(e) || a->code < e->qmin || a->code > e->qmax))
		ok = qn_infer_error(g, n, "attr.value",
				    "value %lld is outside the range of the input's type",
				    (long long)a->code);
	if (a->value != a->value)
		ok = qn_infer_error(g, n, "attr.value", "value is not a number");
	if (!ok)
		return NULL;
	qn_shape y = qn_shape_of(qn_infer_in(g, n, 0));
	if (y.rank >= 0 && y.rank != a->before.n) {
		(void)qn_infer_error(g, n, "attr.value",
				     "before has %d numbers, the input %d dimensions",
				     (int)a->before.n, (int)y.rank);
		return NULL;
	}
	if (y.rank < 0)
		for (int32_t i = 0; i < a->before.n; i++)
			y.dim[i] = QN_DYNAMIC;
	y.rank = a->before.n;
	if (!mode_fits(g, n, &y))
		return NULL;
	for (int32_t i = 0; i < y.rank; i++)
		if (y.dim[i] != QN_DYNAMIC)
			y.dim[i] += a->before.v[i] + a->after.v[i];
	return qn_infer_result(g, n, e, &y);
}
