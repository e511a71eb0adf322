/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_bound.c - how many codes a value may differ behind the requantizer, derived from the
 * roundings of both sides (docs/quantization.md has the same table).
 *
 *   before   codes -> real, in f32 -> op in f32 -> / s, rounded to nearest          1/2 code + f32
 *   after    codes -> integer op -> multiplier, rounded once or twice               1/2 or 3/4 code + the op's own
 *
 * Both are codes, so the difference is at most floor(after + 1/2 + real / s + slack). */
#include "tests/proof/bound_parts.h"

static void
ends(const qn_graph *g, const qn_elem *e, double end[2])
{
	double s;
	int64_t z;

	qn_elem_param(&g->model->types, e, 0, &s, &z);
	end[0] = -(double)(e->qmin - z) * s;
	end[1] = (double)(e->qmax - z) * s;
}

/* What comes before the casts: beyond each end, 0 where it is not known. */
static void
ends_of_source(const qn_graph *g, const qn_node *n, double end[2])
{
	end[0] = end[1] = HUGE_VAL;
	while (n->nin == 1 && (n->op == QN_OP_dequantize || moves(n)) && n->op != QN_OP_relu &&
	       n->op != QN_OP_relu6 && n->op != QN_OP_clip)
		n = qn_graph_node(g, n->in[0]);
	if (n->type->is_tuple) /* of top_k, from which a get takes a field */
		return;
	if (qn_elem_is_quant(n->type->elem) && n->type->elem->gran == QN_PER_TENSOR)
		ends(g, n->type->elem, end);
	if (n->op == QN_OP_requantize && n->type->elem->gran == QN_PER_TENSOR) {
		double s;
		int64_t z;

		qn_elem_param(&g->model->types, n->type->elem, 0, &s, &z);
		end[0] = fmin(end[0], (double)(z - n->attr->clamp.lo) * s);
		end[1] = fmin(end[1], (double)(n->attr->clamp.hi - z) * s);
	}
	if (n->op == QN_OP_relu || n->op == QN_OP_relu6 || n->op == QN_OP_softmax ||
	    n->op == QN_OP_sigmoid || n->op == QN_OP_square || n->op == QN_OP_abs ||
	    n->op == QN_OP_hard_sigmoid)
		end[0] = fmin(end[0], 0);
	if (n->op == QN_OP_softmax || n->op == QN_OP_sigmoid || n->op == QN_OP_hard_sigmoid ||
	    n->op == QN_OP_tanh)
		end[1] = fmin(end[1], 1);
	if (n->op == QN_OP_tanh)
		end[0] = fmin(end[0], 1);
	if (n->op == QN_OP_relu6)
		end[1] = fmin(end[1], 6);
	if (n->op == QN_OP_clip) {
		end[0] = fmin(end[0], -n->attr->clip.min);
		end[1] = fmin(end[1], n->attr->clip.max);
	}
}

/* Whether the middle type saturates nothing that the last one would hold: then the rules may
 * merge. */
static bool
holds(const qn_graph *g, const qn_node *source, const qn_elem *mid, const qn_elem *last)
{
	double from[2], middle[2], to[2];

	if (mid->gran != QN_PER_TENSOR || last->gran != QN_PER_TENSOR)
		return false;
	ends_of_source(g, source, from);
	ends(g, mid, middle);
	ends(g, last, to);
	return (from[0] <= middle[0] || middle[0] >= to[0]) &&
	       (from[1] <= middle[1] || middle[1] >= to[1]);
}

/* Real difference that comes of a cast x being left out: its own rounding. */
static double
merged(const qn_graph *g, qn_id x, const qn_type *last)
{
	const qn_node *n = qn_graph_node(g, x);

	if ((n->op != QN_OP_requantize && n->op != QN_OP_quantize) ||
	    !holds(g, qn_graph_node(g, n->in[0]), n->type->elem, last->elem))
		return 0;
	return multiplier(type_of(g, n->in[0]), n->type) * scale_of(g, n->type);
}

/* ---- one value ---- */

static int64_t
codes(const qn_graph *g, double after, double real, const qn_type *q)
{
	double most;
	double off = floor(after + NEAREST + real / least_scale(g, q, &most) + SLACK(range_of(q)));

	return (int64_t)fmin(off, ldexp(1, q->elem->bits)); /* no two codes are further apart */
}

/* The kernel of i16 against real arithmetic; no code is more than 2^15 away from 0. */
static double
normalize_wide(const qn_graph *g, const qn_node *n, const qn_type *q)
{
	return 0.5 + 0x1p-6 + 0x1p-7 * scale_of(g, codes_type(g, n, 1)) / scale_of(g, q) + 1;
}

/* Functions that over a wide range have more jumps or turns than a table of i16 has points for. */
static bool
is_wild(qn_op op)
{
	return op == QN_OP_ceil || op == QN_OP_floor || op == QN_OP_round || op == QN_OP_tan ||
	       op == QN_OP_sin || op == QN_OP_cos;
}

static int64_t bound_of(const qn_graph *g, qn_id id, const qn_type *q);

/* A move: no more than its operands, and the codes of a bound or pad value, which are rounded half
 * away instead of half even.  Choosing and clamping do not spread a difference. */
static int64_t
bound_of_move(const qn_graph *g, const qn_node *n, const qn_type *q)
{
	bool value = n->op == QN_OP_relu6 || n->op == QN_OP_clip || n->op == QN_OP_pad;
	int64_t most = value ? 1 : 0;

	for (uint32_t i = 0; i < n->nin; i++) {
		int64_t b = 0;

		if (n->in[i] != 0 && (type_of(g, n->in[i])->is_tuple ||
				      qn_elem_is_float(type_of(g, n->in[i])->elem)))
			b = bound_of(g, n->in[i], q);
		most = b > most ? b : most;
	}
	return most;
}

/* quantize(id) of type q. */
static int64_t
bound_of(const qn_graph *g, qn_id id, const qn_type *q)
{
	const qn_node *n = qn_graph_node(g, id);

	if (n->op == QN_OP_const || n->op == QN_OP_input)
		return 0;
	const double aligned = aligned_error(g, n, q);
	if (n->op == QN_OP_dequantize)
		return type_of(g, n->in[0])->elem == q->elem
			       ? 0
			       : codes(g, multiplier(type_of(g, n->in[0]), q),
				       merged(g, n->in[0], q), q);
	if (moves(n))
		return bound_of_move(g, n, q);
	/* computed in i16, with tables that are interpolated */
	if (aligned > 0 &&
	    (qn_opinfo_of(n)->behaviour == QN_LUT || qn_opinfo_of(n)->behaviour == QN_FIXED))
		return (int64_t)range_of(q);
	if (qn_opinfo_of(n)->behaviour == QN_MEAN) {
		const qn_type *x = codes_type(g, n, 0);

		double most;

		(void)least_scale(g, x, &most);
		if (aligned > 0)
			return codes(g, MULTIPLIER, aligned + average_error(n, range_of(x)) * most,
				     q);
		if (x->elem == q->elem) /* the average is the result */
			return codes(g, average_error(n, range_of(x)), 0, q);
		return codes(g, MULTIPLIER, average_error(n, range_of(x)) * scale_of(g, x), q);
	}
	/* the larger one of two results, of which the second has the other steps */
	if (n->op == QN_OP_leaky_relu &&
	    (qn_graph_node(g, n->in[0])->op != QN_OP_dequantize ||
	     codes_type(g, n, 0)->elem->bits > 8) &&
	    n->attr->leaky_relu.alpha > 0)
		return (int64_t)ceil((double)bound_of(g, n->in[0], q) *
				     fmax(1, n->attr->leaky_relu.alpha));
	/* sums in i16, each step of which is at most half of one of the result, as is the error of a table between two
	 * entries */
	if (type_of(g, qn_graph_node(g, n->in[0])->in[0])->elem->bits > 16 &&
	    product_of(g, n) == NULL)
		return codes(g, MULTIPLIER + 2 * NEAREST, 0, q);
	/* tables of i16 that TFLite has are interpolated: how far that is from the function depends on the function */
	const bool any_log =
		n->op == QN_OP_log_softmax && !qn_has_fixed_output(&g->model->types, n, q->elem);
	if (is_wide(q) && (is_wild(n->op) || (qn_opinfo_of(n)->behaviour == QN_FIXED && !any_log)))
		return (int64_t)range_of(q);
	/* the line, the points of which are rounded, and its result */
	if (is_wide(q) && qn_opinfo_of(n)->behaviour == QN_LUT)
		return codes(g, 3 * NEAREST, 0, q);
	/* Differences are Q5.26 numbers of at least 2^30, so the kernel's end of the range lies
	 * between -31 and -15.5; what is below becomes -128 and was at most 127 - 16 * 15.5. */
	if (n->op == QN_OP_log_softmax && !any_log)
		return 127 - 248 + 128;
	if (any_log) /* two multipliers in 256th parts of a code */
		return codes(g, NEAREST + 2 * MULTIPLIER / 256, own_error(g, n), q);
	if (n->op == QN_OP_l2_norm) /* the root has five steps */
		return codes(g, 1 + NEAREST, 0, q);
	if (n->op == QN_OP_layer_norm || n->op == QN_OP_rms_norm || n->op == QN_OP_instance_norm)
		return codes(g, is_wide(q) ? normalize_wide(g, n, q) : 1 + NEAREST, own_error(g, n),
			     q);
	if (n->op == QN_OP_reduce_prod)
		return codes(g, codes_product_error(g, n, q), 0, q);
	if (n->op == QN_OP_squared_difference)
		return codes(g, is_wide(q) ? MULTIPLIER_64(range_of(q)) : MULTIPLIER,
			     squared_error(g, n), q);
	return codes(g, MULTIPLIER, own_error(g, n) + aligned, q);
}

/* The error of a result with several scales that is computed in one: of the move, or of one further up, to which its
 * quantize went. */
static double
aligned_move(const qn_graph *g, const qn_node *n, const qn_type *q)
{
	double most = 0;

	if (!moves(n) || qn_type_count(n->type) < 0)
		return 0;
	most = aligned_error(g, n, q);
	for (uint32_t i = 0; i < n->nin; i++)
		if (n->in[i] != 0 && !type_of(g, n->in[i])->is_tuple)
			most = fmax(most, aligned_move(g, qn_graph_node(g, n->in[i]), q));
	return most;
}

int64_t
requantize_bound(const qn_graph *g, qn_id id, qn_op after)
{
	const qn_node *n = qn_graph_node(g, id);
	const qn_node *in = n->nin > 0 ? qn_graph_node(g, n->in[0]) : NULL;

	if (n->op == QN_OP_requantize && (in->op == QN_OP_requantize || in->op == QN_OP_quantize))
		return merged(g, n->in[0], n->type) > 0
			       ? codes(g, multiplier(type_of(g, in->in[0]), n->type) + 0.25,
				       merged(g, n->in[0], n->type), n->type)
			       : 0;
	if (n->op != QN_OP_quantize)
		return 0; /* an op on codes stays what it is */
	if (after == QN_OP_quantize && in->op != QN_OP_dequantize)
		return 0; /* so does a quantize that finds no codes */
	int64_t aligned = 0;

	if ((after == QN_OP_requantize || after == QN_OP_scast) && aligned_move(g, in, n->type) > 0)
		aligned = codes(g, MULTIPLIER, aligned_move(g, in, n->type), n->type);
	const int64_t own = bound_of(g, n->in[0], n->type);
	return own > aligned ? own : aligned;
}

double
compare_bound(const qn_graph *g, const qn_node *n)
{
	double s = scale_of(g, codes_type(g, n, 0)), t = scale_of(g, codes_type(g, n, 1));
	double most = s > t ? s : t, least = s > t ? t : s;
	int e;

	/* equal parameters, and scales a power of 2 apart, are compared exactly */
	if (frexp(most / least, &e) == 0.5)
		return 0;
	/* two operands, each off by a step, and f32 before */
	return 2 * step(codes_type(g, n, 0)) * most +
	       range_of(codes_type(g, n, 0)) * most * 0x1p-22;
}
