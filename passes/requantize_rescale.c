/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_rescale.c - a product of quantized values and a number has another scale, a sum with a number of steps
 * another zero point.
 *
 *   mul(dequantize(x : <i8, s:z>), k)      ->  dequantize(scast(x) : <i8, s k:z>)      div likewise; k above 0
 *   sub(dequantize(x : <i8, s:z>), s i)    ->  dequantize(scast(x) : <i8, s:z + i>)    add likewise
 *
 * It costs nothing and is exact.  Files have it where quantized values are dequantized by Cast, Sub and Mul. */
#include <math.h>

#include "passes/requantize_gaps.h"

/* The one number of a constant that leaves the shape of the other operand; NaN: it is not one. */
static double
number(const qn_rw *rw, const qn_node *n, uint32_t i)
{
	const qn_node *c = qn_rw_node(rw, n->in[i]), *x = qn_rw_node(rw, n->in[1 - i]);

	if (!is_float_const(rw, n->in[i]) || qn_type_count(c->type) != 1 || x->op == QN_OP_const ||
	    n->type != x->type)
		return (double)NAN;
	return qn_tensor_f64(c->value, 0);
}

/* The parameters of op(x, v), or of op(v, x) where v is operand 0: whether they are parameters. */
static bool
rescaled(qn_op op, uint32_t at, double v, double *scale, int64_t *zp)
{
	const double steps = v / *scale, whole = rint(steps);

	switch ((int)op) {
	case QN_OP_mul:
		*scale *= v;
		return v > 0;
	case QN_OP_div:
		*scale /= v;
		return v > 0 && at == 1;
	case QN_OP_add:
	case QN_OP_sub:
		if (!(fabs(steps - whole) <= 0x1p-22 * fabs(whole)) || !(fabs(whole) < 0x1p16))
			return false;
		*zp += op == QN_OP_add ? -(int64_t)whole : (int64_t)whole;
		return op == QN_OP_add || at == 1;
	default:
		return false;
	}
}

/* e with those parameters; NULL: not a valid type, or not supported by kernels. */
static const qn_elem *
elem_with(qn_types *t, const qn_elem *e, double scale, int64_t zp)
{
	const qn_elem *made = NULL;
	qn_elem d = *e;

	if (!(scale > 0x1p-100 && scale < 0x1p100) || zp < e->qmin || zp > e->qmax ||
	    (e->bits > 8 && zp != 0))
		return NULL;
	d.scale = qn_scale_const(t, scale);
	d.zp = zp;
	return qn_elem_make(t, "rescaled", &d, &made) == QN_OK ? made : NULL;
}

qn_id
qn_rqz_rescale(qn_rw *rw, const qn_match *m)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *n = qn_rw_node(rw, m->root);
	const qn_elem *e = NULL;
	uint32_t at = 0;
	double scale, v = (double)NAN;
	int64_t zp;

	if (!fills(rw) || n->nin != 2 || !qn_type_is_f32(n->type) || qn_rqz_skipped(rw, m->root))
		return qn_rw_decline(rw, "it is not a product or sum of an already quantized file");
	for (uint32_t i = 0; i < 2 && isnan(v); i++)
		v = number(rw, n, at = i);
	if (!isnan(v))
		e = qn_rqz_operand_elem(rw, n->in[1 - at]);
	if (e == NULL || !qn_rqz_narrow(e) || qn_rqz_plain_elem(t, e) == NULL)
		return qn_rw_decline(rw, "its operands are not quantized values and a number");
	qn_elem_param(t, e, 0, &scale, &zp);
	if (!rescaled(n->op, at, v, &scale, &zp) || (e = elem_with(t, e, scale, zp)) == NULL)
		return qn_rw_decline(rw, "kernels do not support its values as parameters");
	qn_id x = qn_rqz_relabel(rw, qn_rqz_operand(rw, n->in[1 - at]), e);
	return x != 0 ? qn_rw_add(rw, QN_OP_dequantize, qn_rw_name(rw, m->root), 1, &x, NULL, NULL)
		      : 0;
}
