/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_leaky.c - a leaky relu of what has more than 8 bits is rounded once, to its result.
 *
 *   quantize(leaky_relu {alpha}(v)) : T    ->    maximum(quantize(v) : T, scast(quantize(v) : T / alpha))
 *
 * leaky_relu(v) is max(v, alpha * v) for an alpha of at most 1, beyond it the minimum; rounding and saturation rise
 * with v, so that they may come first.  alpha * v in steps of T is v in steps of T / alpha: the same integers under
 * another scale.  A table of 16 bits would round v, its entries and its result. */
#include "passes/requantize_gaps.h"

/* e with the scale divided by alpha; NULL: not a valid scale. */
static const qn_elem *
divided(qn_types *t, const qn_elem *e, double alpha)
{
	const qn_elem *made = NULL;
	qn_elem d = *e;
	double scale;
	int64_t zp;

	qn_elem_param(t, e, 0, &scale, &zp);
	scale /= alpha;
	if (!(scale > 0x1p-100 && scale < 0x1p100))
		return NULL;
	d.scale = qn_scale_const(t, scale);
	return qn_elem_make(t, "leaky", &d, &made) == QN_OK ? made : NULL;
}

/* Whether v has so many bits that a table does not have an entry for each of its values. */
static bool
is_wide(const qn_rw *rw, qn_id v)
{
	const qn_elem *e = qn_rqz_operand_elem(rw, v);

	return e == NULL || !qn_rqz_narrow(e) || e->bits > 8;
}

qn_id
qn_rqz_leaky(qn_rw *rw, const qn_match *m)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_elem *e = qn_rw_node(rw, m->root)->type->elem;
	const char *name = qn_rw_name(rw, m->at[OP]);
	const qn_node *op = qn_rw_node(rw, m->at[OP]);
	const double alpha = (double)(float)op->attr->leaky_relu.alpha;
	const qn_id v = op->in[0];

	if (!fills(rw) || !qn_rqz_narrow(e) || qn_rqz_skipped(rw, m->at[OP]))
		return qn_rw_decline(rw,
				     "its result has several scales, or it is to stay in float");
	if (!is_wide(rw, v))
		return qn_rw_decline(rw, "a table has an entry for each value of its operand");
	if (!(alpha > 0) || !qn_rqz_ends(rw, v))
		return qn_rw_decline(rw, "it is decreasing, or no quantized values are before it");
	const qn_elem *steps = divided(t, e, alpha);
	if (steps == NULL || qn_rqz_plain_elem(t, e) == NULL)
		return qn_rw_decline(rw, "its result has no storage, or no scale, for that");
	qn_id in[2] = {qn_rqz_quantize(rw, v, e, name), 0};
	if (in[0] != 0)
		in[1] = qn_rqz_relabel(rw, qn_rqz_quantize(rw, v, steps, NULL), e);
	return in[1] == 0 ? 0
			  : qn_rw_add(rw, alpha <= 1 ? QN_OP_maximum : QN_OP_minimum, name, 2, in,
				      NULL, NULL);
}
