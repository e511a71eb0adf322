/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_sums.c - values that a file of a quantized graph leaves without parameters, where these follow from the
 * values around them.
 *
 *   quantize(silu(dequantize(acc)))               acc in i16, over the range outside of which the result is the same
 *   quantize(add(dequantize(acc), dequantize(y))) likewise
 *   mul(y, sigmoid(y))                            silu(y), a table
 *   softmax(dequantize(x)), not quantized         the parameters that its arithmetic prefers
 *
 * acc is the sum of a convolution or a product, whose range is known from its weights.  In i16 it has 2^16 steps: a
 * rule declines where one of them moves the result by more than half a step. */
#include <math.h>

#include "passes/requantize_gaps.h"
#include "runtime/math.h"
#include "runtime/unary.h"

enum { POINTS = 4096, LINES = 512, LINE = 128, PARTS = 8, MOST_MOVES = 16 };

/* ---- ranges of sums ---- */

/* The sum of products that a value stands for, moves aside; 0: none with constant weights. */
static qn_id
sum_of(const qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	for (int i = 0; i < MOST_MOVES && n->nin == 1 && n->op != QN_OP_dequantize &&
			n->op != QN_OP_pad && qn_rqz_moves(qn_rw_graph(rw), n);
	     i++)
		n = qn_rw_node(rw, n->in[0]);
	if (n->op != QN_OP_dequantize || elem_of(rw, n->in[0])->bits < 32)
		return 0;
	const qn_node *acc = qn_rw_node(rw, n->in[0]);
	return qn_opinfo_of(acc)->behaviour == QN_ACC && acc->op != QN_OP_matmul &&
			       qn_rw_node(rw, acc->in[1])->op == QN_OP_const &&
			       (acc->nin < 3 || qn_rw_node(rw, acc->in[2])->op == QN_OP_const)
		       ? n->in[0]
		       : 0;
}

bool
qn_rqz_may_fill(const qn_rw *rw, qn_id id)
{
	const qn_rqz *s = qn_rw_user(rw);

	return fills(rw) && (is_float_const(rw, id) || sum_of(rw, id) != 0 ||
			     (s->ends[id] && qn_rqz_reach(rw, id) > 0));
}

/* The largest distance of a quantized value from its zero point. */
static double
farthest(const qn_elem *e, int64_t zp)
{
	return fmax((double)(e->qmax - zp), (double)(zp - e->qmin));
}

/* Weights whose blocks have scales of their own, as float values; NULL: one scale for each sum. */
static const float *
blocked(const qn_rw *rw, const qn_node *w)
{
	const qn_model *m = qn_rw_model(rw);
	float *real;

	if (w->type->elem->gran != QN_SUB_CHANNEL)
		return NULL;
	real = QN_NEW(m->scratch, float, (size_t)qn_type_count(w->type));
	qn_dequantize_into(&m->types, w->value, QN_PLAIN_f32, real);
	return real;
}

/* The largest absolute value of a sum. */
static double
largest(const qn_rw *rw, qn_id acc)
{
	const qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *n = qn_rw_node(rw, acc), *w = qn_rw_node(rw, n->in[1]);
	const int64_t channels = w->type->dim[0];
	const int64_t each = channels > 0 ? qn_type_count(w->type) / channels : 0;
	const float *real = blocked(rw, w);
	double data, scale, most = 0;
	int64_t zp;

	qn_elem_param(t, elem_of(rw, n->in[0]), 0, &data, &zp);
	const double reach = farthest(elem_of(rw, n->in[0]), zp);
	for (int64_t o = 0; o < channels; o++) {
		double sum =
			n->nin > 2 ? fabs(qn_tensor_f64(qn_rw_node(rw, n->in[2])->value, o)) : 0;
		double apart = 0; /* of blocks, as a float value */

		for (int64_t i = o * each; i < (o + 1) * each && real == NULL; i++)
			sum += fabs(qn_tensor_f64(w->value, i)) * reach;
		for (int64_t i = o * each; i < (o + 1) * each && real != NULL; i++)
			apart += fabs((double)real[i]) * reach * data;
		qn_elem_param(t, n->type->elem,
			      n->type->elem->gran == QN_PER_TENSOR ? 0 : (size_t)o, &scale, &zp);
		most = fmax(most, sum * scale + apart);
	}
	return most;
}

double
qn_rqz_largest_sum(const qn_rw *rw, qn_id id)
{
	const qn_id acc = sum_of(rw, id);

	return acc != 0 ? largest(rw, acc) : 0;
}

/* ---- functions of a sum ---- */

static double
code_at(const qn_rw *rw, const qn_node *n, double x, const qn_elem *e)
{
	double scale, lo, hi, y = qn_unary_value(n, x);

	params_of(rw, e, &scale, &lo, &hi);
	return rint(fmin(fmax(y, lo), hi) / scale);
}

/* How far from 0 x need reach: outside of it the quantized result is that of its end. */
static double
needed(const qn_rw *rw, const qn_node *n, double most, const qn_elem *e)
{
	const double below = code_at(rw, n, -most, e), above = code_at(rw, n, most, e);
	int i = POINTS;

	while (i > 1 && code_at(rw, n, -most * (i - 1) / POINTS, e) == below &&
	       code_at(rw, n, most * (i - 1) / POINTS, e) == above)
		i--;
	return most * i / POINTS;
}

static double
limited(double y, double lo, double hi)
{
	return fmin(fmax(y, lo), hi);
}

/* Whether a table of i16 with that many steps gives the function within half a step of the result: its
 * entries are results of i16 (qn_rqz_wide_elem), and results in between lie on straight lines. */
static bool
is_smooth(const qn_rw *rw, const qn_node *n, double step, const qn_elem *e)
{
	const double h = LINE * step;
	const qn_elem *entry = e->bits > 8 ? e : qn_rqz_wide_elem(&qn_rw_model(rw)->types, e);
	double scale, lo, hi, least, most;

	params_of(rw, entry, &scale, &least, &most);
	params_of(rw, e, &scale, &lo, &hi);
	for (int i = -LINES / 2; i < LINES / 2; i++) {
		const double x = i * h, first = limited(qn_unary_value(n, x), least, most);
		const double last = limited(qn_unary_value(n, x + h), least, most);

		for (int k = 1; k < PARTS; k++) {
			const double line = first + (last - first) * k / PARTS;
			const double y = qn_unary_value(n, x + h * k / PARTS);

			if (!(fabs(limited(line, lo, hi) - limited(y, lo, hi)) <= scale / 2))
				return false;
		}
	}
	return true;
}

/* The step of i16 for operand i, a sum of at most `most`; 0: none is fine enough. */
static double
step_of(const qn_rw *rw, const qn_node *op, uint32_t i, double most, const qn_elem *e)
{
	double scale, lo, hi, a, b, s, limit;

	params_of(rw, e, &scale, &lo, &hi);
	if (op->nin == 1 && qn_unary_of(op->op) != NULL) {
		const double step = needed(rw, op, most, e) / INT16_MAX;

		return is_smooth(rw, op, step, e) ? step : 0;
	}
	if (op->nin == 1) {
		limit = op->op == QN_OP_global_avg_pool || op->op == QN_OP_reduce_mean ||
					qn_opinfo_of(op)->behaviour == QN_MEAN
				? scale / 2
				: 0;
		return most / INT16_MAX <= limit ? most / INT16_MAX : 0;
	}
	const qn_elem *other = qn_rqz_operand_elem(rw, op->in[1 - i]);
	if (op->nin != 2)
		return 0;
	if (other != NULL && qn_rqz_narrow(other))
		params_of(rw, other, &s, &a, &b);
	else if ((b = qn_rqz_reach(rw, op->in[1 - i])) > 0)
		a = -b;
	else
		return 0;
	if (op->op == QN_OP_add || op->op == QN_OP_sub) /* beyond, the result is an end anyway */
		most = fmin(most, fmax(fabs(lo), fabs(hi)) + fmax(fabs(a), fabs(b)));
	else if (op->op == QN_OP_mul)
		scale /= fmax(fabs(a), fabs(b));
	else if (op->op == QN_OP_prelu && i == 0)
		scale /= fmax(1, fmax(fabs(a), fabs(b)));
	else
		return 0;
	limit = e->bits > 8 ? scale : scale / 2;
	return most / INT16_MAX <= limit ? most / INT16_MAX : 0;
}

/* The type of 16 bits for operand i; NULL: none is fine enough. */
static const qn_elem *
wide_for(qn_rw *rw, const qn_node *op, uint32_t i, const qn_elem *e)
{
	const double sum = qn_rqz_largest_sum(rw, op->in[i]);
	const double most = sum > 0 ? sum : qn_rqz_reach(rw, op->in[i]);
	const double step = most > 0 ? step_of(rw, op, i, most, e) : 0;
	qn_elem d = qn_elem_desc(16, true);
	bool exact = false;
	const qn_elem *wide = sum > 0 ? NULL : qn_rqz_derived(rw, op->in[i], &exact);

	if (!(step > 0x1p-100))
		return NULL;
	if (exact)
		return wide;
	if (sum == 0 && ((const qn_rqz *)qn_rw_user(rw))->opts->measured)
		return NULL;
	d.scale = qn_scale_const(&qn_rw_model(rw)->types, (double)(float)step);
	return qn_elem_make(&qn_rw_model(rw)->types, "sum", &d, &wide) == QN_OK ? wide : NULL;
}

qn_id
qn_rqz_whole_sum(qn_rw *rw, qn_id id)
{
	const double most = fills(rw) ? qn_rqz_largest_sum(rw, id) : 0;
	qn_types *t = &qn_rw_model(rw)->types;
	qn_elem d = qn_elem_desc(16, true);
	const qn_elem *wide;

	if (!(most > 0x1p-80 && most < 0x1p100))
		return 0;
	d.scale = qn_scale_const(t, (double)(float)(most / INT16_MAX));
	return qn_elem_make(t, "sum", &d, &wide) == QN_OK
		       ? qn_rqz_quantize(rw, id, wide, qn_rw_name(rw, id))
		       : 0;
}

/* Whether an operand has no parameters, and may get some. */
static bool
is_gap(const qn_rw *rw, qn_id id)
{
	const qn_elem *e = qn_rqz_operand_elem(rw, id);

	return sum_of(rw, id) != 0 ||
	       ((e == NULL || !qn_rqz_narrow(e)) && !is_float_const(rw, id) &&
		qn_rqz_ends(rw, id) && qn_rqz_reach(rw, id) > 0);
}

qn_id
qn_rqz_widen(qn_rw *rw, const qn_match *m)
{
	const qn_elem *e = elem_of(rw, m->root);
	const uint32_t nin = qn_rw_node(rw, m->at[OP])->nin;
	qn_id *in = QN_NEW(qn_rw_model(rw)->scratch, qn_id, nin);
	bool any = false;

	if (!fills(rw) || !qn_rqz_narrow(e) || qn_rqz_skipped(rw, m->at[OP]))
		return qn_rw_decline(rw,
				     "its result has several scales, or it is to stay in float");
	for (uint32_t i = 0; i < nin; i++) {
		const qn_node *op = qn_rw_node(rw, m->at[OP]);

		if (!is_gap(rw, in[i] = op->in[i]))
			continue;
		const qn_elem *wide = wide_for(rw, op, i, e);
		if (wide == NULL)
			return qn_rw_decline(rw, "16 bits are too coarse for its range");
		in[i] = qn_rqz_quantize(rw, in[i], wide, qn_rw_name(rw, in[i]));
		in[i] = qn_rw_add(rw, QN_OP_dequantize, NULL, 1, &in[i], NULL, NULL);
		any = true;
	}
	if (!any)
		return qn_rw_decline(rw, "no operand has a range that follows from its own");
	qn_id y = again(rw, m->at[OP], in);
	return y != 0 ? qn_rqz_quantize(rw, y, e, qn_rw_name(rw, m->root)) : 0;
}

/* mul(y, sigmoid(y)) -> silu(y) */
qn_id
qn_rqz_gate(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);

	for (uint32_t i = 0; fills(rw) && i < 2 && qn_type_is_f32(n->type); i++) {
		const qn_node *gate = qn_rw_node(rw, n->in[1 - i]);

		if (gate->op == QN_OP_sigmoid && gate->in[0] == n->in[i])
			return qn_rw_add(rw, QN_OP_silu, qn_rw_name(rw, m->root), 1, &n->in[i],
					 NULL, NULL);
	}
	return qn_rw_decline(rw, "it is not a product of a value and its own sigmoid");
}

/* softmax(dequantize(x)) -> dequantize(quantize(softmax(dequantize(x)))), where nothing else quantizes it */
qn_id
qn_rqz_prefer(qn_rw *rw, const qn_match *m)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_rqz *s = qn_rw_user(rw);
	const qn_node *n = qn_rw_node(rw, m->root);
	const char *name = qn_rw_name(rw, m->root);
	const qn_elem *x = qn_rqz_operand_elem(rw, n->in[0]), *e = NULL;
	double scale;

	if (!s->prefer || name == NULL || s->open == NULL || qn_map_gets(s->open, name) == NULL)
		return qn_rw_decline(rw, "something quantizes its result");
	if (x == NULL || !qn_rqz_narrow(x) || qn_rqz_skipped(rw, m->root))
		return qn_rw_decline(rw, "its operand is not a dequantize of 8- or 16-bit values");
	qn_elem d = qn_elem_desc(x->bits > 8 ? 16 : 8, x->is_signed);
	qn_fixed_output(n, &d, &scale, &d.zp);
	if (!qn_has_fixed_range(n)) { /* log_softmax: it reaches as far down as x is wide */
		double lo, hi;

		params_of(rw, x, &scale, &lo, &hi);
		qn_range_to_params(lo - hi - qn_ln((double)n->type->dim[n->type->rank - 1]), 0, &d,
				   d.bits > 8, &scale, &d.zp);
	}
	d.scale = qn_scale_const(t, scale);
	if (qn_elem_make(t, "result", &d, &e) != QN_OK)
		return 0;
	qn_id y = qn_rqz_quantize(rw, m->root, e, name);
	return y != 0 ? qn_rw_add(rw, QN_OP_dequantize, name, 1, &y, NULL, NULL) : 0;
}
