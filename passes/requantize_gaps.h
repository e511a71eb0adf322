/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_gaps.h - what the rules for values without parameters share: those of constants (requantize_gaps.c) and
 * those of sums (requantize_sums.c). */
#ifndef QN_PASSES_REQUANTIZE_GAPS_H
#define QN_PASSES_REQUANTIZE_GAPS_H

#include "passes/requantize.h"

static inline const qn_elem *
elem_of(const qn_rw *rw, qn_id id)
{
	return qn_rw_node(rw, id)->type->elem;
}

static inline void
params_of(const qn_rw *rw, const qn_elem *e, double *scale, double *lo, double *hi)
{
	int64_t zp;

	qn_elem_param(&qn_rw_model(rw)->types, e, 0, scale, &zp);
	*lo = (double)(e->qmin - zp) * *scale;
	*hi = (double)(e->qmax - zp) * *scale;
}

/* Not where Quern itself has chosen what to quantize. */
static inline bool
fills(const qn_rw *rw)
{
	const qn_rqz *s = qn_rw_user(rw);

	return s->open != NULL;
}

static inline bool
is_float_const(const qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	return n->op == QN_OP_const && qn_type_is_f32(n->type) && qn_type_count(n->type) > 0;
}

static inline bool
is_all_zero(const qn_tensor *c)
{
	for (int64_t i = 0; i < qn_type_count(c->type); i++)
		if (qn_tensor_f64(c, i) != 0)
			return false;
	return true;
}

/* The node again with other operands. */
static inline qn_id
again(qn_rw *rw, qn_id id, const qn_id *in)
{
	const qn_node *n = qn_rw_node(rw, id);

	return qn_rw_add(rw, n->op, qn_rw_name(rw, id), n->nin, in, n->attr, NULL);
}

#endif
