/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_merge.c - pairs of casts become one, or nothing.
 *
 *   quantize(dequantize(x))                                       ->  requantize(x)
 *   requantize(requantize(x)), requantize(quantize(x))            ->  the outer one, where the values in between cannot saturate;
 *                                                                     not where x is a graph input, which has its own parameters
 *   requantize(x) of equal types, relu on codes that are >= 0     ->  x */
#include "passes/requantize.h"
#include "runtime/forms.h"

/* quantize(dequantize(x)) -> requantize(x) */
qn_id
qn_rqz_join(qn_rw *rw, const qn_match *m)
{
	const qn_type *to = qn_rw_node(rw, m->root)->type;
	const char *name = qn_rw_name(rw, m->at[DQ]);

	if (qn_rw_node(rw, m->at[X])->type == to)
		return m->at[X];
	return qn_rw_add(rw, QN_OP_requantize, name != NULL ? name : qn_rw_name(rw, m->root), 1,
			 &m->at[X], NULL, to);
}

/* Real values that a per-tensor type can hold. */
static void
real_range(const qn_types *t, const qn_elem *e, double *lo, double *hi)
{
	double scale;
	int64_t zp;

	qn_elem_param(t, e, 0, &scale, &zp);
	*lo = (double)(e->qmin - zp) * scale;
	*hi = (double)(e->qmax - zp) * scale;
}

bool
qn_rqz_limits(const qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	return n->op == QN_OP_requantize &&
	       (n->attr->clamp.lo > n->type->elem->qmin || n->attr->clamp.hi < n->type->elem->qmax);
}

/* Limits that are written, be they those of the type: the model means this very rounding, as one
 * that came already quantized does. */
static bool
is_meant(const qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	return n->op == QN_OP_requantize &&
	       (n->attr->clamp.lo > INT32_MIN || n->attr->clamp.hi < INT32_MAX);
}

/* requantize(requantize(x)) or requantize(quantize(x)) -> the outer from x: only where the type in
 * between holds all real values that the outer one does, so that it does not saturate earlier.  Its
 * steps may be coarser: then the result is closer to x than that of the chain. */
qn_id
qn_rqz_merge(qn_rw *rw, const qn_match *m)
{
	const qn_types *t = &qn_rw_model(rw)->types;
	const qn_rqz *s = qn_rw_user(rw);
	const qn_node *outer = qn_rw_node(rw, m->root);
	const qn_node *inner = qn_rw_node(rw, m->at[OP]);
	const qn_elem *mid = inner->type->elem;
	const qn_elem *last = outer->type->elem;
	double mid_lo, mid_hi, last_lo, last_hi;

	/* an input keeps its own parameters: others may read it over another range */
	if (inner->op == QN_OP_quantize && qn_rw_node(rw, inner->in[0])->op == QN_OP_input)
		return qn_rw_decline(rw, "an input keeps its own parameters");
	if (is_meant(rw, m->at[OP]) || (is_meant(rw, m->root) && inner->op == QN_OP_quantize))
		return qn_rw_decline(rw, "one of them has limits of its own");
	if (mid->gran != QN_PER_TENSOR || last->gran != QN_PER_TENSOR)
		return qn_rw_decline(rw, "the codes in between have several scales");
	real_range(t, mid, &mid_lo, &mid_hi);
	real_range(t, last, &last_lo, &last_hi);
	if (!s->opts->merge_always && mid->bits < last->bits)
		return qn_rw_decline(rw, "the codes in between are narrower");
	if (!s->opts->merge_always && (mid_lo > last_lo || mid_hi < last_hi))
		return qn_rw_decline(rw, "the codes in between saturate earlier");
	return qn_rw_add(rw, inner->op, qn_rw_name(rw, m->root), 1, &inner->in[0],
			 inner->op == QN_OP_requantize ? outer->attr : NULL, outer->type);
}

qn_id
qn_rqz_drop_identity(qn_rw *rw, const qn_match *m)
{
	if (qn_rqz_limits(rw, m->root) ||
	    qn_rw_node(rw, m->at[X])->type != qn_rw_node(rw, m->root)->type)
		return qn_rw_decline(rw, "it changes the parameters, or clamps");
	return m->at[X];
}

/* relu, relu6, clip whose bounds the type has anyway */
qn_id
qn_rqz_drop_clamp(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	int64_t lo, hi;

	if ((n->op != QN_OP_relu && n->op != QN_OP_relu6 && n->op != QN_OP_clip) ||
	    !qn_rqz_narrow(n->type->elem))
		return qn_rw_decline(rw, "it is no clamp of 8- or 16-bit codes");
	qn_clamp_range(qn_rw_graph(rw), n, &lo, &hi);
	if (lo > n->type->elem->qmin || hi < n->type->elem->qmax)
		return qn_rw_decline(rw, "its bounds lie inside of the codes");
	return n->in[0];
}
