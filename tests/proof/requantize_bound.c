/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_bound.c - how many codes a value may differ behind the requantizer, derived from the
 * roundings of both sides (docs/quantization.md has the same table).
 *
 *   before   codes -> real, in f32 -> op in f32 -> / s, rounded to nearest          1/2 code + f32
 *   after    codes -> integer op -> multiplier, rounded once or twice               1/2 or 3/4 code + the op's own
 *
 * Both are codes, so the difference is at most floor(after + 1/2 + real / s + slack). */
#include "tests/proof/real_graph.h"

#include <math.h>

/* Roundings in codes.  A multiplier in mode double rounds to nearest twice, the second time with
 * at least one bit behind the point: 1/2 + 1/4. */
#define NEAREST 0.5
#define MULTIPLIER 0.75
/* One of a sum of 64 bits has 15 bits and rounds once: it is off by 2^-15. */
#define MULTIPLIER_64(range) (0.5 + (range)*0x1p-16)
/* f32 before: relative errors of 2^-24, up to 2^6 of them, of a code inside the range. */
#define SLACK(range) ((range)*0x1p-18)

static const qn_type *
type_of(const qn_graph *g, qn_id id)
{
	return qn_graph_node(g, id)->type;
}

static double
scale_of(const qn_graph *g, const qn_type *t)
{
	double scale;
	int64_t zp;

	qn_elem_param(&g->model->types, t->elem, 0, &scale, &zp);
	return scale;
}

/* The smallest scale of a type, and the largest. */
static double
least_scale(const qn_graph *g, const qn_type *t, double *most)
{
	double least = HUGE_VAL, scale;
	int64_t zp;

	*most = 0;
	for (size_t i = 0; i < qn_elem_nparams(t->elem); i++) {
		qn_elem_param(&g->model->types, t->elem, i, &scale, &zp);
		least = fmin(least, scale);
		*most = fmax(*most, scale);
	}
	return least;
}

/* The operand's type: of the codes that the dequantize reads. */
static const qn_type *
codes_type(const qn_graph *g, const qn_node *n, uint32_t i)
{
	return type_of(g, qn_graph_node(g, n->in[i])->in[0]);
}

static bool
is_wide(const qn_type *t)
{
	return t->elem->bits > 8;
}

/* How many codes there are. */
static double
range_of(const qn_type *t)
{
	return is_wide(t) ? 65536 : 256;
}

/* The rounding of a requantize of x with the result q. */
static double
multiplier(const qn_type *x, const qn_type *q)
{
	return x->elem->bits == 64 ? MULTIPLIER_64(range_of(q)) : MULTIPLIER;
}

/* A step to which additions and comparisons round an operand, as a part of the larger scale. */
static double
step(const qn_type *x)
{
	return is_wide(x) ? 2 * 0x1p-15 : 2 * 0x1p-20;
}

static bool
moves(const qn_node *n)
{
	qn_behaviour behaviour = qn_opinfo_of(n)->behaviour;

	return behaviour == QN_SAME || behaviour == QN_JOIN || n->op == QN_OP_get ||
	       n->op == QN_OP_split;
}

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

/* ---- what an op adds, as a real number ---- */

static double
average(const qn_node *n, double range)
{
	double position = 0;

	/* a position is i times a step rounded to 1/1024, and itself rounded down to 1/1024; the
	 * value follows it by at most the range from one pixel to the next */
	for (int i = 1; n->op == QN_OP_resize_bilinear && i <= 2; i++)
		position += (0.5 * (double)n->type->dim[i] + 1.5) / 1024;
	return NEAREST + (range - 1) * position;
}

/* Sums of m terms in f32: each addition is off by 2^-24 of at most m ranges. */
static double
sum_in_float(const qn_graph *g, const qn_node *n, double s)
{
	double m = (double)qn_type_count(type_of(g, n->in[0])) / (double)qn_type_count(n->type);

	return m * 0x1p-24 * range_of(codes_type(g, n, 0)) * s *
	       (n->op == QN_OP_reduce_sum ? m : 1);
}

/* A product of m codes: each step multiplies what is off by up to the range of a code, adds half a step, and
 * 2^-14 of the value for the multiplier of 15 bits; in f32 2^-24 of it.  In codes of the result. */
static double
product_of_codes(const qn_graph *g, const qn_node *n, const qn_type *q)
{
	const int64_t m = qn_type_count(type_of(g, n->in[0])) / qn_type_count(n->type);
	const double root = pow(scale_of(g, q), 1.0 / (double)m);
	double step = scale_of(g, codes_type(g, n, 0)) / root;
	double value = range_of(codes_type(g, n, 0)), range = value, off = 0;

	for (int64_t k = 1; k <= m; k++) {
		double factor = k < m ? range * step : step;

		value *= factor;
		off = off * factor + NEAREST + value * (0x1p-14 + 0x1p-23);
	}
	return off;
}

/* D / sqrt(V) in f32: differences from a mean that is off by 2^-23 for each of the m terms of up to
 * its range of steps s, over a deviation of at least s / sqrt(2 m) or, where all are equal, sqrt(eps). */
static double
normalize_in_float(const qn_graph *g, const qn_node *n, double s)
{
	const qn_type *x = type_of(g, n->in[0]);
	double m = 1, eps, noise;

	if (n->op != QN_OP_instance_norm) {
		m = (double)qn_type_count(type_of(g, n->in[1]));
		eps = n->attr->layer_norm.epsilon;
	} else {
		for (int32_t i = 1; i < x->rank - 1; i++)
			m *= (double)x->dim[i];
		eps = n->attr->instance_norm.epsilon;
	}
	noise = (m + 4) * 0x1p-23 * range_of(codes_type(g, n, 0)) * s;
	noise = noise / (s / sqrt(2 * m)) + noise / sqrt(eps);
	if (!(noise <
	      2 * sqrt(m))) /* epsilon 0, all equal: noise by noise, but never more than this */
		noise = 2 * sqrt(m);
	return noise * range_of(codes_type(g, n, 1)) * scale_of(g, codes_type(g, n, 1));
}

/* The product of dequantized operands that the node is, or that a bias is added to; NULL: neither. */
static const qn_node *
product_of(const qn_graph *g, const qn_node *n)
{
	if (qn_opinfo_of(n)->behaviour == QN_ACC)
		return n;
	for (uint32_t i = 0;
	     (n->op == QN_OP_add || n->op == QN_OP_bias_add || n->op == QN_OP_batch_norm) &&
	     i < n->nin;
	     i++)
		if (qn_opinfo_of(qn_graph_node(g, n->in[i]))->behaviour == QN_ACC)
			return qn_graph_node(g, n->in[i]);
	return NULL;
}

/* The dynamic_fake_quant that the data of a product comes from; NULL: it has a scale of its own. */
static const qn_node *
dynamic_of(const qn_graph *g, const qn_node *n)
{
	const qn_node *x = qn_graph_node(g, n->in[0]);

	while (moves(x))
		x = qn_graph_node(g, x->in[0]);
	return x->op == QN_OP_dynamic_fake_quant ? x : NULL;
}

/* Data with a scale of run time is of 127 steps of it, at most the reach of what it is made from; in f32 each value
 * may be another one of the two next to a half. */
static double
dynamic_error(const qn_graph *g, const qn_type *x, double k, double weight)
{
	const double step = 65536 * scale_of(g, x) / 127;

	return k * 128 * weight * step + k * k * 0x1p-24 * 128 * 128 * weight * step;
}

/* Sums of k products in f32, each addition off by 2^-24 of at most k of them, and the rounding of a bias to
 * the accumulator's step. */
static double
product_error(const qn_graph *g, const qn_node *n)
{
	const qn_node *d = dynamic_of(g, n);
	const qn_type *x = codes_type(g, d != NULL ? d : n, 0), *w = codes_type(g, n, 1);
	double k = (double)qn_type_count(w), most = 0, s;
	int64_t zp;

	for (size_t i = 0; i < qn_elem_nparams(w->elem); i++) {
		qn_elem_param(&g->model->types, w->elem, i, &s, &zp);
		most = s > most ? s : most;
	}
	if (d != NULL)
		return dynamic_error(g, x, k, most);
	s = most * scale_of(g, x);
	return s * NEAREST + k * k * 0x1p-24 * range_of(x) * range_of(w) * s;
}

/* The largest factor of a batch norm; 1 of other ops. */
static double
factor_of(const qn_graph *g, const qn_node *n)
{
	double most = 1;

	for (int64_t k = 0; n->op == QN_OP_batch_norm && k < qn_type_count(type_of(g, n->in[1]));
	     k++)
		most = fmax(most, fabs(qn_tensor_f64(qn_graph_node(g, n->in[1])->value, k)) /
					  sqrt(qn_tensor_f64(qn_graph_node(g, n->in[4])->value, k) +
					       n->attr->batch_norm.epsilon));
	return most;
}

static double
own_error(const qn_graph *g, const qn_node *n)
{
	if (product_of(g, n) != NULL)
		return factor_of(g, n) * product_error(g, product_of(g, n));
	double s, t = 0;

	(void)least_scale(g, codes_type(g, n, 0), &s);
	if (n->nin > 1)
		(void)least_scale(g, codes_type(g, n, 1), &t);
	switch ((int)n->op) {
	case QN_OP_add:
	case QN_OP_sub:
	case QN_OP_bias_add: /* each operand is rounded to one of the steps */
		return 2 * step(codes_type(g, n, 0)) * (s > t ? s : t);
	case QN_OP_global_avg_pool:
	case QN_OP_reduce_mean:
	case QN_OP_reduce_sum:
		return sum_in_float(g, n, s);
	case QN_OP_softmax: /* each exponential is rounded to 2^-19 of a sum of at least 1 */
	case QN_OP_log_softmax:
		return (double)n->type->dim[n->type->rank - 1] * 0x1p-19;
	case QN_OP_layer_norm:
	case QN_OP_rms_norm:
	case QN_OP_instance_norm: /* the kernel is within one code of real arithmetic */
		return normalize_in_float(g, n, s);
	default:
		return 0;
	}
}

/* The difference d is off by e, for each operand is rounded to a step of 2^-7 of twice the larger
 * scale: (d + e)^2 - d^2 = 2 d e + e^2. */
static double
squared_error(const qn_graph *g, const qn_node *n)
{
	const qn_type *x = codes_type(g, n, 0), *y = codes_type(g, n, 1);
	double s = scale_of(g, x), t = scale_of(g, y), e = (s > t ? s : t) / 64;

	return 2 * (range_of(x) * s + range_of(y) * t) * e + e * e;
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
			return codes(g, MULTIPLIER, aligned + average(n, range_of(x)) * most, q);
		if (x->elem == q->elem) /* the average is the result */
			return codes(g, average(n, range_of(x)), 0, q);
		return codes(g, MULTIPLIER, average(n, range_of(x)) * scale_of(g, x), q);
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
	/* tables of i16 are interpolated: how far that is from the function depends on the function */
	if (is_wide(q) &&
	    (qn_opinfo_of(n)->behaviour == QN_LUT || qn_opinfo_of(n)->behaviour == QN_FIXED))
		return (int64_t)range_of(q);
	/* Differences are Q5.26 numbers of at least 2^30, so the kernel's end of the range lies
	 * between -31 and -15.5; what is below becomes -128 and was at most 127 - 16 * 15.5. */
	if (n->op == QN_OP_log_softmax && qn_has_fixed_output(&g->model->types, n, q->elem))
		return 127 - 248 + 128;
	if (n->op == QN_OP_log_softmax) /* two multipliers in 256th parts of a code */
		return codes(g, NEAREST + 2 * MULTIPLIER / 256, own_error(g, n), q);
	if (n->op == QN_OP_l2_norm) /* the root has five steps */
		return codes(g, 1 + NEAREST, 0, q);
	if (n->op == QN_OP_layer_norm || n->op == QN_OP_rms_norm || n->op == QN_OP_instance_norm)
		return codes(g, is_wide(q) ? normalize_wide(g, n, q) : 1 + NEAREST, own_error(g, n),
			     q);
	if (n->op == QN_OP_reduce_prod)
		return codes(g, product_of_codes(g, n, q), 0, q);
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
