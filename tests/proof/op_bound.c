/* SPDX-License-Identifier: Apache-2.0 */
/* op_bound.c - what an op adds of its own to the difference of a value behind the requantizer: sums and products in f32
 * before, kernels of integers behind. */
#include "tests/proof/bound_parts.h"

double
average_error(const qn_node *n, double range)
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
double
codes_product_error(const qn_graph *g, const qn_node *n, const qn_type *q)
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

const qn_node *
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

double
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
double
squared_error(const qn_graph *g, const qn_node *n)
{
	const qn_type *x = codes_type(g, n, 0), *y = codes_type(g, n, 1);
	double s = scale_of(g, x), t = scale_of(g, y), e = (s > t ? s : t) / 64;

	return 2 * (range_of(x) * s + range_of(y) * t) * e + e * e;
}
