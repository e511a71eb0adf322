/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_merge.c - pairs of casts become one, or nothing.
 *
 *   quantize(dequantize(x))                                       ->  requantize(x)
 *   requantize(requantize(x)), requantize(quantize(x))            ->  the outer one, where the values in between cannot saturate;
 *                                                                     not where x is a graph input, which has its own parameters
 *   scast(scast(x)) back to the type of x                         ->  x
 *   requantize(x) of equal types, relu on values that are >= 0    ->  x */
#include <math.h>

#include "passes/requantize.h"
#include "runtime/impls.h"

/* quantize(dequantize(x)) -> requantize(x) */
qn_id
qn_rqz_join(qn_rw *rw, const qn_match *m)
{
	const qn_type *to = qn_rw_node(rw, m->root)->type;
	const char *name = qn_rw_name(rw, m->at[DQ]);

	if (qn_rw_node(rw, m->at[X])->type == to)
		return m->at[X];
	qn_id x = qn_rqz_stored_constant(rw, m->at[X], to->elem);
	if (x != 0)
		return x;
	x = qn_rqz_between(rw, m->root, m->at[X], to);
	return x == 0 ? 0
		      : qn_rw_add(rw, QN_OP_requantize,
				  name != NULL ? name : qn_rw_name(rw, m->root), 1, &x, NULL, to);
}

/* Float values that a per-tensor type can hold. */
static void
real_range(const qn_types *t, const qn_elem *e, double *lo, double *hi)
{
	double scale;
	int64_t zp;

	qn_elem_param(t, e, 0, &scale, &zp);
	*lo = (double)(e->qmin - zp) * scale;
	*hi = (double)(e->qmax - zp) * scale;
}

enum { MOST_MOVES = 16 }; /* that the range of a value is looked for above */

/* The value that x only moves or casts; x itself when it does more. */
static qn_id
moved(const qn_rw *rw, qn_id x)
{
	for (int k = 0; k < MOST_MOVES; k++) {
		const qn_node *n = qn_rw_node(rw, x);

		if (!qn_op_keeps_bytes(n->op) && n->op != QN_OP_dequantize &&
		    n->op != QN_OP_transpose && n->op != QN_OP_slice)
			break;
		x = n->in[0];
	}
	return x;
}

/* What the function of a float op can be. */
static void
float_range(const qn_node *n, double *lo, double *hi)
{
	switch ((int)n->op) {
	case QN_OP_relu:
	case QN_OP_abs:
	case QN_OP_square:
		*lo = 0;
		break;
	case QN_OP_relu6:
		*lo = 0;
		*hi = 6;
		break;
	case QN_OP_clip:
		*lo = n->attr->clip.min;
		*hi = n->attr->clip.max;
		break;
	case QN_OP_softmax:
	case QN_OP_sigmoid:
	case QN_OP_hard_sigmoid:
		*lo = 0;
		*hi = 1;
		break;
	case QN_OP_tanh:
		*lo = -1;
		*hi = 1;
		break;
	default:
		break;
	}
}

/* Float values that x can have, as far as its type, a clamp or its op limits them. */
static void
source_range(const qn_rw *rw, qn_id x, double *lo, double *hi)
{
	const qn_node *n = qn_rw_node(rw, moved(rw, x));
	const qn_elem *e = n->type->elem;
	double scale;
	int64_t zp;

	*lo = -HUGE_VAL;
	*hi = HUGE_VAL;
	if (n->type->is_tuple)
		return;
	if (e->kind != QN_ELEM_UNIFORM) {
		float_range(n, lo, hi);
		return;
	}
	if (e->gran != QN_PER_TENSOR)
		return;
	real_range(&qn_rw_model(rw)->types, e, lo, hi);
	if (n->op != QN_OP_requantize)
		return;
	qn_elem_param(&qn_rw_model(rw)->types, e, 0, &scale, &zp);
	*lo = fmax(*lo, ((double)n->attr->clamp.lo - (double)zp) * scale);
	*hi = fmin(*hi, ((double)n->attr->clamp.hi - (double)zp) * scale);
}

/* Whether what lies between saturates a value that the last type would hold: at an end that the
 * source reaches beyond and the last type, too. */
static bool
saturates(const qn_rw *rw, qn_id source, const qn_elem *mid, const qn_elem *last)
{
	const qn_types *t = &qn_rw_model(rw)->types;
	double lo, hi, mid_lo, mid_hi, last_lo, last_hi;

	source_range(rw, source, &lo, &hi);
	real_range(t, mid, &mid_lo, &mid_hi);
	real_range(t, last, &last_lo, &last_hi);
	return (lo < mid_lo && mid_lo > last_lo) || (hi > mid_hi && mid_hi < last_hi);
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
 * between saturates nothing that the outer one would keep.  Its steps may be coarser, its storage
 * narrower: then the result is closer to x than that of the chain. */
qn_id
qn_rqz_merge(qn_rw *rw, const qn_match *m)
{
	const qn_rqz *s = qn_rw_user(rw);
	const qn_node *outer = qn_rw_node(rw, m->root);
	const qn_node *inner = qn_rw_node(rw, m->at[OP]);
	const qn_elem *mid = inner->type->elem;
	const qn_elem *last = outer->type->elem;

	/* an input has its own parameters: others may read it over another range */
	if (inner->op == QN_OP_quantize && qn_rw_node(rw, inner->in[0])->op == QN_OP_input)
		return qn_rw_decline(rw, "an input has its own parameters");
	if (is_meant(rw, m->at[OP]) || (is_meant(rw, m->root) && inner->op == QN_OP_quantize))
		return qn_rw_decline(rw, "one of them has its own limits");
	if (mid->gran != QN_PER_TENSOR || last->gran != QN_PER_TENSOR)
		return qn_rw_decline(rw, "the values in between have several scales");
	if (!qn_rqz_reaches(&qn_rw_model(rw)->types, qn_rw_node(rw, inner->in[0])->type->elem,
			    last))
		return qn_rw_decline(rw, "the steps of the result are too small for a 64-bit sum");
	if (!s->opts->merge_always && s->open != NULL && mid->bits <= 8 && last->bits > 8)
		return qn_rw_decline(rw,
				     "the file rounds to 8 bits there, which 16 bits would not");
	if (!s->opts->merge_always && saturates(rw, inner->in[0], mid, last))
		return qn_rw_decline(rw, "the values in between saturate earlier");
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

/* scast(scast(x)) -> x */
qn_id
qn_rqz_scast_back(qn_rw *rw, const qn_match *m)
{
	const qn_id x = qn_rw_node(rw, m->at[OP])->in[0];

	if (qn_rw_node(rw, x)->type != qn_rw_node(rw, m->root)->type)
		return qn_rw_decline(rw, "it does not lead back to the type before");
	return x;
}

/* relu, relu6, clip whose bounds the type has anyway */
qn_id
qn_rqz_drop_clamp(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	int64_t lo, hi;

	if ((n->op != QN_OP_relu && n->op != QN_OP_relu6 && n->op != QN_OP_clip) ||
	    !qn_rqz_narrow(n->type->elem))
		return qn_rw_decline(rw, "it is not a clamp of 8- or 16-bit values");
	qn_clamp_range(qn_rw_graph(rw), n, &lo, &hi);
	if (lo > n->type->elem->qmin || hi < n->type->elem->qmax)
		return qn_rw_decline(rw, "its bounds are inside the storage range");
	return n->in[0];
}
