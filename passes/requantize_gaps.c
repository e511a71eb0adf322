/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_gaps.c - constants that a file of a quantized graph leaves without parameters.
 *
 *   mul(dequantize(x), const)                     the constant gets a range of its own
 *   conv2d(dequantize(x), const w)                weights get a scale for each output channel, exact if one is
 *   matmul(const a, dequantize(x))                a range, as for mul
 *   return const                                  return dequantize(const), of 16 bits
 *
 * Sums and other values: requantize_sums.c. */
#include <math.h>

#include "passes/requantize_gaps.h"

enum { LEAST_ON_GRID = 4 }; /* weights other than 0: of fewer, multiples are chance */

static void
extremes(const qn_tensor *v, double *min, double *max)
{
	*min = *max = qn_tensor_f64(v, 0);
	for (int64_t i = 1; i < qn_type_count(v->type); i++) {
		*min = fmin(*min, qn_tensor_f64(v, i));
		*max = fmax(*max, qn_tensor_f64(v, i));
	}
}

/* The constant as dequantized values of one scale.  A lone number is one of them exactly. */
static qn_id
dequantized(qn_rw *rw, qn_id c, int bits, bool is_signed)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *n = qn_rw_node(rw, c);
	qn_elem d = qn_elem_desc((uint8_t)bits, is_signed);
	const qn_elem *e = NULL;
	double min, max, scale;

	extremes(n->value, &min, &max);
	if (!(fabs(min) < 0x1p100 && fabs(max) < 0x1p100))
		return 0;
	qn_range_to_params(min, max, &d, bits > 8, &scale, &d.zp);
	/* value 1 or -1; in 16 bits large, as products are scaled down */
	if (min >= max && max != 0) {
		scale = bits > 8 ? fabs(max) / (1 << 14) : fabs(max);
		d.zp = is_signed ? 0 : 128;
	}
	d.scale = qn_scale_const(t, scale);
	if (qn_elem_make(t, "constant", &d, &e) != QN_OK)
		return 0;
	qn_id q = qn_rqz_quantize(rw, c, e, qn_rw_name(rw, c));
	return q != 0 ? qn_rw_add(rw, QN_OP_dequantize, qn_rw_name(rw, c), 1, &q, NULL, NULL) : 0;
}

/* How far the result moves when operand `other` is not what it is by 1, over its step. */
static double
gain(const qn_rw *rw, const qn_node *op, uint32_t other, double step)
{
	double scale, lo, hi;
	const qn_elem *e = qn_rqz_operand_elem(rw, op->in[other]);

	if (op->op == QN_OP_add || op->op == QN_OP_sub)
		return 1 / step;
	if (op->op != QN_OP_mul || e == NULL || !qn_rqz_narrow(e))
		return HUGE_VAL;
	params_of(rw, e, &scale, &lo, &hi);
	return fmax(fabs(lo), fabs(hi)) / step;
}

/* 8 bits where they move the result by at most a quarter of a step, or are exact, else 16; so are all operands of a result
 * of 16 bits, but for lone numbers that are not factors. */
static int
bits_of(const qn_rw *rw, const qn_node *op, uint32_t i, const qn_elem *result)
{
	double min, max, step, lo, hi;

	extremes(qn_rw_node(rw, op->in[i])->value, &min, &max);
	if (min >= max && (op->op != QN_OP_mul || result->bits <= 8))
		return 8;
	if (result->bits > 8)
		return 16;
	if (op->nin != 2 || op->op == QN_OP_prelu || op->op == QN_OP_bias_add ||
	    qn_opinfo_of(op)->behaviour == QN_LUT)
		return 8;
	params_of(rw, result, &step, &lo, &hi);
	const double half = (fmax(max, 0) - fmin(min, 0)) / 510;
	return half * gain(rw, op, 1 - i, step) <= 0.25 ? 8 : 16;
}

static bool
has_quantized(const qn_rw *rw, qn_id id)
{
	const qn_elem *e = qn_rqz_operand_elem(rw, id);

	return e != NULL && qn_elem_is_quant(e);
}

/* The operands, constants dequantized; NULL: there are none, or an operand is neither. */
static qn_id *
filled(qn_rw *rw, qn_id id, const qn_elem *result)
{
	const uint32_t nin = qn_rw_node(rw, id)->nin;
	qn_id *in = QN_NEW(qn_rw_model(rw)->scratch, qn_id, nin);
	bool any = false, data = false;

	for (uint32_t i = 0; i < nin; i++) {
		in[i] = qn_rw_node(rw, id)->in[i];
		any = any || is_float_const(rw, in[i]);
		data = data || has_quantized(rw, in[i]);
		if (!is_float_const(rw, in[i]) && !has_quantized(rw, in[i]))
			return NULL;
	}
	for (uint32_t i = 0; any && data && i < nin; i++)
		if (is_float_const(rw, in[i])) {
			int bits = bits_of(rw, qn_rw_node(rw, id), i, result);

			in[i] = dequantized(rw, in[i], bits, bits > 8 || result->is_signed);
			any = in[i] != 0;
		}
	return any && data ? in : NULL;
}

qn_id
qn_rqz_fill(qn_rw *rw, const qn_match *m)
{
	const qn_type *type = qn_rw_node(rw, m->root)->type;

	if (!fills(rw) || !qn_rqz_narrow(type->elem) || qn_rqz_skipped(rw, m->at[OP]))
		return qn_rw_decline(rw,
				     "its result has several scales, or it is to stay in float");
	const qn_id *in = filled(rw, m->at[OP], type->elem);
	if (in == NULL)
		return qn_rw_decline(rw, "its operands are not quantized values and constants");
	qn_id y = again(rw, m->at[OP], in);
	return y != 0 ? qn_rqz_quantize(rw, y, type->elem, qn_rw_name(rw, m->root)) : 0;
}

static bool
is_narrow(const qn_rw *rw, qn_id id)
{
	const qn_elem *e = qn_rqz_operand_elem(rw, id);

	return e != NULL && qn_rqz_narrow(e);
}

/* Quantized values of 32 bits and more, which a file has beside others of 8: as biases are stored. */
static bool
is_wide_const(const qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	return n->op == QN_OP_dequantize && qn_type_is_f32(n->type) &&
	       qn_rw_node(rw, n->in[0])->op == QN_OP_const && elem_of(rw, n->in[0])->bits > 16;
}

/* add(dequantize(x), dequantize(const i32)) -> add(dequantize(x), const f32), which gets a range of its own */
qn_id
qn_rqz_wide_constant(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	qn_model *model = qn_rw_model(rw);
	const uint32_t at = n->nin == 2 && is_wide_const(rw, n->in[1]) ? 1 : 0;

	if (!fills(rw) || n->nin != 2 || !is_wide_const(rw, n->in[at]) ||
	    !is_narrow(rw, n->in[1 - at]) || qn_rqz_skipped(rw, m->root))
		return qn_rw_decline(rw,
				     "it is not a value of 8 or 16 bits and a constant of more");
	qn_id in[2] = {n->in[0], n->in[1]};
	const qn_node *dq = qn_rw_node(rw, in[at]);
	void *real;
	qn_tensor *x = qn_tensor_new(model->arena, dq->type, &real);
	qn_dequantize_into(&model->types, qn_rw_node(rw, dq->in[0])->value, QN_PLAIN_f32, real);
	in[at] = qn_rw_const(rw, qn_rw_name(rw, in[at]), x);
	return in[at] != 0 ? again(rw, m->root, in) : 0;
}

/* Which axis of the weights is that of the output channels. */
static int32_t
channels_of(const qn_node *n, const qn_type *w)
{
	if (n->op != QN_OP_matmul)
		return 0;
	if (w->rank != 2)
		return -1;
	return n->attr->matmul.transpose_b == 0 ? 1 : 0;
}

/* The channel k of `count` of weights, of which every `each` elements lie together. */
typedef struct channel {
	const qn_tensor *w;
	int64_t k, count, each;
} channel;

static double
element(const channel *c, int64_t i)
{
	return qn_tensor_f64(c->w, (i / c->each * c->count + c->k) * c->each + i % c->each);
}

static bool
is_on_grid(const channel *c, int64_t n, double step)
{
	for (int64_t i = 0; i < n; i++) {
		const double v = element(c, i) / step;

		if (!(fabs(v - rint(v)) < 0x1p-12))
			return false;
	}
	return true;
}

/* The scale of a channel of largest absolute value `most`: training with quantized weights leaves whole multiples of a
 * step, which are exact in a part of it.  The finest scale in which 127 steps suffice: the bias is rounded to one, times
 * that of the data. */
static double
channel_scale(const channel *c, double most)
{
	const int64_t n = qn_type_count(c->w->type) / c->count;
	int64_t different = 0;
	double least = most;

	for (int64_t i = 0; i < n; i++) {
		const double v = fabs(element(c, i));

		different += v != 0;
		least = v != 0 && v < least ? v : least;
	}
	for (int k = 1; different >= LEAST_ON_GRID && k * most < 127.5 * least; k++) {
		const double multiples = rint(most / least * k);

		if (is_on_grid(c, n, least / k))
			return most / (multiples * floor(127 / multiples));
	}
	return most / 127;
}

/* i8 along one axis, each scale that of a channel; NULL after an error. */
static const qn_elem *
weights_elem(qn_rw *rw, qn_id w, int32_t axis)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *n = qn_rw_node(rw, w);
	const qn_type *type = n->type;
	qn_elem d = qn_elem_desc(8, true);
	const qn_elem *e = NULL;
	const qn_params *vec = NULL;
	int64_t each = 1, count = type->dim[axis];
	double *scale = QN_NEW(qn_rw_model(rw)->scratch, double, (size_t)count);

	for (int32_t k = axis + 1; k < type->rank; k++)
		each *= type->dim[k];
	for (int64_t i = 0; i < qn_type_count(type); i++) {
		const int64_t k = i / each % count;

		scale[k] = fmax(scale[k], fabs(qn_tensor_f64(n->value, i)));
	}
	for (int64_t k = 0; k < count; k++)
		scale[k] = scale[k] < 0x1p-52
				   ? 1
				   : (double)(float)channel_scale(
					     &(channel){n->value, k, count, each}, scale[k]);
	d.qmin = -127;
	d.gran = QN_PER_AXIS;
	d.naxis = 1;
	d.axis = &axis;
	if (qn_params_intern(t, "weights", NULL, (size_t)count, 1, NULL, scale, NULL, &vec) !=
	    QN_OK)
		return NULL;
	d.scale = qn_scale_vec(t, vec);
	return qn_elem_make(t, "weights", &d, &e) == QN_OK ? e : NULL;
}

/* matmul(const a, dequantize(x)), as of a resize whose weights are a matrix: 16 bits, in which sums of a few taps are
 * exact to a step of x. */
static qn_id
fill_first(qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);
	qn_id in[2] = {n->in[0], n->in[1]};

	in[0] = dequantized(rw, in[0], 16, true);
	return in[0] != 0 ? again(rw, id, in) : 0;
}

/* A constant [1, 1, K, N] as [K, N] where it multiplies values of as many dimensions, whose result stays the same. */
static qn_id
as_matrix(qn_rw *rw, const qn_node *n)
{
	const qn_type *t = qn_rw_node(rw, n->in[1])->type;
	const bool fits = qn_rw_node(rw, n->in[0])->type->rank >= t->rank;

	if (n->op != QN_OP_matmul || t->rank <= 2 || !fits ||
	    qn_type_count(t) != t->dim[t->rank - 2] * t->dim[t->rank - 1])
		return n->in[1];
	qn_types *types = &qn_rw_model(rw)->types;
	const qn_tensor *w = qn_rw_node(rw, n->in[1])->value;
	return qn_rw_const(rw, qn_rw_name(rw, n->in[1]),
			   qn_tensor_of(qn_rw_model(rw)->arena,
					qn_type_plain(types, QN_PLAIN_f32, 2, &t->dim[t->rank - 2]),
					w->data));
}

/* product(dequantize(x), const w) */
qn_id
qn_rqz_fill_weights(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	const char *name = qn_rw_name(rw, n->in[1]);
	qn_id *in = qn_arena_copy(qn_rw_model(rw)->scratch, n->in, n->nin * sizeof *in);

	if (n->op == QN_OP_matmul && fills(rw) && is_float_const(rw, n->in[0]) &&
	    has_quantized(rw, n->in[1]) && !qn_rqz_skipped(rw, m->root))
		return fill_first(rw, m->root);
	if (!fills(rw) || !is_float_const(rw, n->in[1]) || !has_quantized(rw, n->in[0]) ||
	    qn_rqz_skipped(rw, m->root))
		return qn_rw_decline(rw, "it is not a product of quantized values and a constant");
	in[1] = as_matrix(rw, n);
	n = qn_rw_node(rw, m->root);
	const int32_t axis = in[1] != 0 ? channels_of(n, qn_rw_node(rw, in[1])->type) : -1;
	if (axis < 0) { /* a matrix for each of a batch: one scale */
		in[1] = in[1] != 0 ? dequantized(rw, in[1], 8, true) : 0;
		return in[1] != 0 ? again(rw, m->root, in) : 0;
	}
	const qn_elem *e = weights_elem(rw, in[1], axis);
	if (e == NULL)
		return 0;
	in[1] = qn_rqz_quantize(rw, in[1], e, name);
	in[1] = qn_rw_add(rw, QN_OP_dequantize, name, 1, &in[1], NULL, NULL);
	return again(rw, m->root, in);
}

/* const -> dequantize(const), where it is an output that nothing else reads */
qn_id
qn_rqz_constant_output(qn_rw *rw, const qn_match *m)
{
	const qn_rqz *s = qn_rw_user(rw);
	qn_model *model = qn_rw_model(rw);
	const char *name = qn_rw_name(rw, m->root);

	if (!fills(rw) || !is_float_const(rw, m->root))
		return qn_rw_decline(rw,
				     "it is not a constant that a quantized file leaves in float");
	if (name == NULL || qn_map_gets(&s->last, name) == NULL)
		return qn_rw_decline(rw, "it is not an output alone");
	const qn_id y = dequantized(rw, m->root, 16, true);
	if (y == 0)
		return qn_rw_decline(rw, "it has infinite numbers");
	const qn_node *q = qn_rw_node(rw, qn_rw_node(rw, y)->in[0]);
	const qn_id c = qn_rw_const(rw, name,
				    qn_tensor_quantize(&model->types, model->arena,
						       qn_rw_node(rw, m->root)->value, q->type));
	return c != 0 ? qn_rw_add(rw, QN_OP_dequantize, name, 1, &c, NULL, NULL) : 0;
}
