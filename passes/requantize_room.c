/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_room.c - quantized weights of a file make room for a bias that its sums have no room for.
 *
 *   conv2d(x, w, b), |b| over 2^31 in units of scale(x) * scale(w)[o]
 *                                       ->  the same with w[o] rounded to the scale where it is 2^30
 *
 * Quantizers give a channel of zeros, which pruning leaves, a tiny scale or none.  Elsewhere the weights are those of
 * the file, bit for bit: what such a channel sums is at most some 2^-16 of its bias for each weight. */
#include "passes/requantize.h"

#define TINY 0x1p-16 /* the scale of weights that are so beside any */

/* The numbers of a constant, dequantized or float; NULL: it is computed. */
static const qn_tensor *
numbers_of(qn_rw *rw, qn_id b)
{
	qn_model *m = qn_rw_model(rw);
	const qn_node *n = qn_rw_node(rw, b);

	if (n->op == QN_OP_dequantize)
		n = qn_rw_node(rw, n->in[0]);
	if (n->op != QN_OP_const)
		return NULL;
	if (!qn_elem_is_quant(n->type->elem))
		return n->value;
	return qn_tensor_dequantize(
		&m->types, m->scratch, n->value,
		qn_type_plain(&m->types, QN_PLAIN_f32, n->type->rank, n->type->dim));
}

/* The scales of weights w for data of scale sx, raised for the channels whose bias has no room; NULL: all have, or none
 * is raised up to the largest of the scales: then it is not the weights that are tiny, but the bias that is huge, as
 * one that hides scores from a softmax. */
static double *
raised(qn_rw *rw, const qn_elem *w, const qn_tensor *bias, double sx, int bits)
{
	qn_model *m = qn_rw_model(rw);
	const size_t n = qn_elem_nparams(w);
	double *scale = QN_NEW(m->scratch, double, n);
	double most = TINY;
	bool any = false;
	int64_t zp;

	for (size_t k = 0; k < n; k++) {
		qn_elem_param(&m->types, w, k, &scale[k], &zp);
		most = scale[k] > most ? scale[k] : most;
	}
	for (int64_t c = 0; c < qn_type_count(bias->type); c++) {
		const size_t k = n > 1 ? (size_t)c : 0;
		const double least = qn_bias_min_weight_scale(qn_tensor_f64(bias, c), sx, bits);

		if (!(least >= 2 * scale[k]) || !(least <= most)) /* up to 2^31, or 2^40, it fits */
			continue;
		scale[k] = least;
		any = true;
	}
	return any ? scale : NULL;
}

bool
qn_rqz_make_room(qn_rw *rw, qn_id in[2], qn_id bias)
{
	qn_model *m = qn_rw_model(rw);
	const qn_node *w = qn_rw_node(rw, in[1]);
	const qn_elem *x = qn_rw_node(rw, in[0])->type->elem, *e = w->type->elem, *wide;
	const size_t n = qn_elem_nparams(e);
	double sx;
	int64_t zp;

	if (w->op != QN_OP_const || x->gran != QN_PER_TENSOR || e->gran == QN_SUB_CHANNEL)
		return true;
	const qn_tensor *b = numbers_of(rw, bias);
	if (b == NULL || (n > 1 && qn_type_count(b->type) != (int64_t)n))
		return true; /* it is not a bias */
	qn_elem_param(&m->types, x, 0, &sx, &zp);
	double *scale = raised(rw, e, b, sx, x->bits <= 8 ? 32 : 64);
	if (scale == NULL)
		return true;
	wide = qn_rqz_with_scales(&m->types, e, scale);
	if (wide == NULL) {
		qn_rw_fail(rw, QN_EINVALID);
		return false;
	}
	const qn_tensor *real = numbers_of(rw, in[1]);
	in[1] = qn_rw_const(rw, qn_rw_name(rw, in[1]),
			    qn_tensor_quantize(&m->types, m->arena, real,
					       qn_type_with_elem(&m->types, real->type, wide)));
	return in[1] != 0;
}
