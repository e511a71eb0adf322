/* SPDX-License-Identifier: Apache-2.0 */
/* mask.c - which values are masks, and how far their ranges go (mask.h).
 *
 * Scores of a row differ by at most e^16 = 8.9e6 as far as a quantized softmax can show: e^-16 is
 * 2^-23, and 1/512 or 1/65536 is half a step.  Masked scores saturate 16 below the least of the others.  A
 * mask is added to scores whose spread is not known here: one of zeros alone loses nothing by a
 * wide range, and goes to -1024; one that holds other terms (a bias by position) goes 64 below the
 * least of them, for scores that spread over up to 48.
 *
 * Log_softmax leaves masked scores as far below the others as they were; what reads its result does not matter.
 *
 * Whether a mask leaves out a whole row is computed by greater(reduce_max(mask), -inf).  A value with
 * this use is still a mask; -inf becomes -32 there, which is above where masks end. */
#include "ir/mask.h"

#include <math.h>

enum { BELOW_SCORES = 16, BELOW_LIMIT = 32, BELOW_OPERAND = 64, BELOW_ZEROS = 1024 };

/* Whether a value is the number -inf, or what it has become, the lowest quantized value. */
static bool
is_lowest(const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);

	while (n->op == QN_OP_quantize || n->op == QN_OP_dequantize)
		n = qn_graph_node(g, n->in[0]);
	if (n->op != QN_OP_const || qn_type_count(n->type) != 1)
		return false;
	return qn_elem_is_quant(n->type->elem) ? qn_tensor_i64(n->value, 0) == n->type->elem->qmin
					       : qn_tensor_f64(n->value, 0) <= -HUGE_VAL;
}

/* What operand k of n becomes, when the result is a mask of kind `of`. */
static qn_mask
through(const qn_graph *g, const qn_node *n, uint32_t k, qn_mask of)
{
	switch ((int)n->op) {
	case QN_OP_softmax:
	case QN_OP_log_softmax:
		return QN_MASK_SCORES;
	case QN_OP_add:
		return of != QN_MASK_NONE && of != QN_MASK_FACTOR ? QN_MASK_OPERAND : QN_MASK_NONE;
	case QN_OP_mul:
		return of != QN_MASK_NONE ? QN_MASK_FACTOR : QN_MASK_NONE;
	case QN_OP_where:
		return k > 0 ? of : QN_MASK_NONE;
	case QN_OP_greater:
		if (!is_lowest(g, n->in[1]))
			return QN_MASK_NONE;
		return k == 0 ? QN_MASK_OPERAND : QN_MASK_LIMIT;
	case QN_OP_reduce_max:
	case QN_OP_quantize:
	case QN_OP_dequantize:
	case QN_OP_requantize:
	case QN_OP_minimum:
	case QN_OP_maximum:
	case QN_OP_clip:
	case QN_OP_concat:
	case QN_OP_trace:
	case QN_OP_stats:
	case QN_OP_stats_ref:
	case QN_OP_coupled_ref:
	case QN_OP_reshape:
	case QN_OP_flatten:
	case QN_OP_transpose:
	case QN_OP_squeeze:
	case QN_OP_expand_dims:
	case QN_OP_slice:
	case QN_OP_expand:
	case QN_OP_tile:
	case QN_OP_pad:
	case QN_OP_trilu:
		return of;
	default:
		return QN_MASK_NONE;
	}
}

/* Whether a value is a result of log_softmax, moved or quantized at most. */
static bool
is_log_softmax(const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);

	while (n->nin == 1 && (n->op == QN_OP_quantize || n->op == QN_OP_dequantize ||
			       qn_opinfo_of(n)->behaviour == QN_SAME))
		n = qn_graph_node(g, n->in[0]);
	return n->op == QN_OP_log_softmax;
}

const qn_mask *
qn_mask_values(const qn_graph *g, qn_arena *a)
{
	qn_mask *kind = QN_NEW(a, qn_mask, g->n);
	bool *used = QN_NEW(a, bool, g->n);

	for (size_t i = 0; i < g->noutput; i++)
		used[g->output[i].value] = true; /* seen as it is */
	for (qn_id id = g->n; id-- > 1;) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t k = 0; k < n->nin; k++) {
			const qn_mask as = through(g, n, k, kind[id]);
			qn_mask *of = &kind[n->in[k]];

			*of = !used[n->in[k]] || as < *of ? as : *of;
			used[n->in[k]] = true;
		}
	}
	for (qn_id id = 1; id < g->n; id++)
		if (is_log_softmax(g, id))
			kind[id] = QN_MASK_SCORES;
	return kind;
}

bool
qn_mask_leaves_out(qn_mask kind, double v)
{
	return kind >= QN_MASK_OPERAND && v <= (double)QN_MASKED;
}

size_t
qn_mask_drop(const float *x, size_t n, float *to)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (!(x[i] <= QN_MASKED)) /* NaN stays, and is an error */
			to[count++] = x[i];
	return count;
}

double
qn_mask_end(qn_mask kind, double least, bool only_zeros)
{
	if (kind == QN_MASK_SCORES)
		return least - BELOW_SCORES;
	if (kind == QN_MASK_LIMIT)
		return least - BELOW_LIMIT;
	return least - (only_zeros ? BELOW_ZEROS : BELOW_OPERAND);
}

void
qn_mask_widen(qn_mask kind, double *lo, double *hi, bool seen)
{
	if (!seen)
		*lo = *hi = 0;
	*lo = qn_mask_end(kind, *lo, !(*lo < 0 || *hi > 0));
}

const qn_tensor *
qn_mask_bounded(qn_arena *a, const qn_tensor *from, qn_mask kind)
{
	const int64_t n = qn_type_count(from->type);
	double least = 0, most = 0, end = QN_MASK_LEAST_FACTOR;
	void *data;

	for (int64_t i = 0; i < n; i++) {
		const double v = qn_tensor_f64(from, i);

		least = v > (double)QN_MASKED ? fmin(least, v) : least;
		most = fmax(most, v);
	}
	if (kind == QN_MASK_OPERAND)
		end = qn_mask_end(kind, least, !(least < 0 || most > 0));
	qn_tensor *to = qn_tensor_new(a, from->type, &data);
	for (int64_t i = 0; i < n; i++) {
		const double v = qn_tensor_f64(from, i);

		qn_store_f64(data, from->type->elem->plain, i,
			     v <= (double)QN_MASKED ? fmax(v, end)
						    : v); /* NaN stays, and is an error */
	}
	return to;
}
