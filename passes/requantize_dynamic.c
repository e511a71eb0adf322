/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_dynamic.c - products of values whose scale is computed at run time.
 *
 *   dynamic_fake_quant(dequantize(x))                ->  dynamic_rescale(v, m, e)           v, m, e: dynamic_quantize(x); a float result
 *   dense(dynamic_rescale(v, m, e), dequantize(w), b)  ->  dynamic_rescale(dense(v, w), m, e, b')
 *   add(dynamic_rescale(acc, m, e), b)               ->  dynamic_rescale(acc, m, e, b')
 *   quantize(dynamic_rescale(acc, m, e, b))          ->  dynamic_rescale(acc, m, e, b'')    to the type of the quantize
 *
 * The bias cannot be in the accumulator, whose step is known at run time alone: dynamic_rescale adds it, in parts of
 * a step of its result. */
#include <math.h>

#include "passes/requantize.h"

enum { VALUES, MANTISSA, EXPONENT, NSCALED };

/* Bits of a bias; of a step of the result that it has parts of. */
enum { BIAS_BITS = 30, MOST_FRACTION = 16 };

static bool
is_float(const qn_type *t)
{
	return !t->is_tuple && qn_elem_is_float(t->elem);
}

bool
qn_rqz_is_dynamic(const qn_node *n)
{
	return n->op == QN_OP_dynamic_rescale && is_float(n->type);
}

/* dynamic_fake_quant(dequantize(x)) -> dynamic_rescale of the fields of dynamic_quantize(x) */
qn_id
qn_rqz_dynamic_values(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	const qn_elem *e = qn_rqz_operand_elem(rw, n->in[0]);
	qn_id part[NSCALED];

	if (qn_rqz_skipped(rw, m->root))
		return qn_rw_decline(rw, "it is to stay in float");
	if (e == NULL || !qn_rqz_supports(e))
		return qn_rw_decline(rw, "its operand is not a dequantize of 8- or 16-bit values");
	const qn_id x = qn_rqz_aligned(rw, qn_rqz_operand(rw, n->in[0]));
	if (x == 0)
		return 0;
	n = qn_rw_node(rw, m->root);
	const qn_id q = qn_rw_add(rw, QN_OP_dynamic_quantize, qn_rw_name(rw, m->root), 1, &x,
				  n->attr, NULL);
	for (int i = 0; i < NSCALED; i++) {
		qn_attrs a = {.get = {.index = i}};

		part[i] = q != 0 ? qn_rw_add(rw, QN_OP_get, NULL, 1, &q, &a, NULL) : 0;
		if (part[i] == 0)
			return 0;
	}
	return qn_rw_add(rw, QN_OP_dynamic_rescale, qn_rw_name(rw, m->root), NSCALED, part, NULL,
			 qn_rw_node(rw, m->root)->type);
}

/* ---- data of products ---- */

/* Whether a move of the integers is the move of what they stand for, with one scale, or one for each row. */
static bool
moves_along(const qn_rw *rw, const qn_node *n, bool by_row)
{
	const qn_type *x = qn_rw_node(rw, n->in[0])->type, *y = n->type;
	const bool reshapes = qn_op_keeps_bytes(n->op);

	if (qn_opinfo_of(n)->behaviour != QN_SAME || n->op == QN_OP_clip || n->op == QN_OP_relu6 ||
	    n->op == QN_OP_clamp || x->is_tuple || y->is_tuple)
		return false;
	if (n->op == QN_OP_pad && n->attr->pad.value != 0)
		return false;
	return !by_row || (reshapes && x->rank > 0 && y->rank > 0 &&
			   x->dim[x->rank - 1] == y->dim[y->rank - 1]);
}

/* The dynamic_rescale of values, not of sums, that a float value is, moved or not; 0: it is not one. */
static qn_id
source_of(const qn_rw *rw, qn_id id)
{
	enum { MOST_MOVES = 16 };
	qn_id at = id;

	for (int k = 0; k < MOST_MOVES && !qn_rqz_is_dynamic(qn_rw_node(rw, at)); k++) {
		const qn_node *n = qn_rw_node(rw, at);

		if (qn_opinfo_of(n)->behaviour != QN_SAME)
			return 0;
		at = n->in[0];
	}
	const qn_node *d = qn_rw_node(rw, at);
	if (!qn_rqz_is_dynamic(d) || d->nin != NSCALED ||
	    qn_rw_node(rw, d->in[VALUES])->type->elem->bits > 16)
		return 0;
	const bool by_row = qn_type_count(qn_rw_node(rw, d->in[MANTISSA])->type) != 1;
	for (; id != at; id = qn_rw_node(rw, id)->in[0])
		if (!moves_along(rw, qn_rw_node(rw, id), by_row))
			return 0;
	return at;
}

/* The values of the source with the moves done on them that lead to id; they nest at most MOST_MOVES deep. */
static qn_id
moved_values(qn_rw *rw, qn_id id, qn_id source) /* NOLINT(misc-no-recursion) */
{
	if (id == source)
		return qn_rw_node(rw, id)->in[VALUES];
	const qn_node *n = qn_rw_node(rw, id);
	qn_id *in = QN_NEW(qn_rw_model(rw)->scratch, qn_id, n->nin);
	const uint32_t nin = n->nin;

	for (uint32_t i = 1; i < nin; i++)
		in[i] = n->in[i];
	in[0] = moved_values(rw, n->in[0], source);
	if (in[0] == 0)
		return 0;
	n = qn_rw_node(rw, id);
	return qn_rw_add(rw, n->op, NULL, nin, in, n->attr, NULL);
}

bool
qn_rqz_find_dynamic(qn_rw *rw, const qn_node *product, qn_rqz_run_time *out)
{
	const qn_id id = product->in[0], source = source_of(rw, id);
	const bool layer = product->op == QN_OP_dense ||
			   (product->op == QN_OP_matmul && product->attr->matmul.transpose_a == 0);

	*out = (qn_rqz_run_time){0};
	if (source == 0)
		return false;
	const qn_node *d = qn_rw_node(rw, source);
	*out = (qn_rqz_run_time){.mantissa = d->in[MANTISSA], .exponent = d->in[EXPONENT]};
	if (!layer && qn_type_count(qn_rw_node(rw, out->mantissa)->type) != 1)
		return qn_rw_decline(rw, "a scale for each row is for dense and matmul") != 0;
	out->values = moved_values(rw, id, source);
	return out->values != 0;
}

/* ---- bias ---- */

/* Number i of a constant, float, quantized or dequantized. */
static double
number(const qn_types *t, const qn_tensor *v, int64_t i)
{
	double scale;
	int64_t zp;

	if (!qn_elem_is_quant(v->type->elem))
		return qn_tensor_f64(v, i);
	qn_elem_param(t, v->type->elem, v->type->elem->gran == QN_PER_TENSOR ? 0 : (size_t)i,
		      &scale, &zp);
	return (double)(qn_tensor_i64(v, i) - zp) * scale;
}

/* The constant that b is, dequantized or not, with one number for each of n channels; NULL: it is not one. */
static const qn_tensor *
constant(const qn_rw *rw, qn_id b, int64_t n)
{
	const qn_node *c = qn_rw_node(rw, b);

	if (c->op == QN_OP_dequantize)
		c = qn_rw_node(rw, c->in[0]);
	const qn_type *t = c->type;
	const bool fits = c->op == QN_OP_const && qn_type_count(t) == n && t->rank >= 1 &&
			  t->dim[t->rank - 1] == n &&
			  (!qn_elem_is_quant(t->elem) || t->elem->gran == QN_PER_TENSOR ||
			   (t->elem->gran == QN_PER_AXIS && t->rank == 1));

	return fits ? c->value : NULL;
}

static double
largest(const qn_types *t, const qn_tensor *b)
{
	double most = 0;

	for (int64_t i = 0; i < qn_type_count(b->type); i++)
		most = fmax(most, fabs(number(t, b, i)));
	return most;
}

/* b in steps of `step`, i32. */
static qn_id
bias_in(qn_rw *rw, const char *name, const qn_tensor *b, double step)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const int64_t n = qn_type_count(b->type);
	qn_elem d = qn_elem_desc(32, true);
	const qn_elem *e = NULL;
	void *data;

	d.scale = qn_scale_const(t, step);
	if (qn_elem_make(t, "bias", &d, &e) != QN_OK)
		return 0;
	qn_tensor *to = qn_tensor_new(qn_rw_model(rw)->arena, qn_type_tensor(t, e, 1, &n), &data);
	for (int64_t i = 0; i < n; i++)
		qn_store_i64(data, e->plain, i, (int64_t)rint(number(t, b, i) / step));
	return qn_rw_const(rw, name, to);
}

/* b as a bias of a float result: in steps of a power of two, 2^-30 of the largest number or less. */
static qn_id
fine_bias(qn_rw *rw, qn_id b, int64_t n)
{
	const qn_tensor *v = constant(rw, b, n);
	int power;

	if (v == NULL)
		return qn_rw_decline(rw, "the bias is not a constant with one number per channel");
	const double most = largest(&qn_rw_model(rw)->types, v);
	if (!isfinite(most))
		return qn_rw_decline(rw, "the bias is not finite");
	(void)frexp(most, &power);
	power = power < -90 ? -90 : power;
	return bias_in(rw, qn_rw_name(rw, b), v, ldexp(1, power - BIAS_BITS));
}

/* Sums acc with their scale of run time, and a bias, 0 for none, as floats. */
qn_id
qn_rqz_run_time_result(qn_rw *rw, const char *name, qn_id acc, const qn_rqz_run_time *d, qn_id b)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_type *type = qn_rw_node(rw, acc)->type;
	const int64_t n = type->rank > 0 ? type->dim[type->rank - 1] : 1;
	qn_id in[NSCALED + 1] = {acc, d->mantissa, d->exponent, b != 0 ? fine_bias(rw, b, n) : 0};

	if (b != 0 && in[NSCALED] == 0)
		return 0;
	return qn_rw_add(rw, QN_OP_dynamic_rescale, name, b != 0 ? NSCALED + 1 : NSCALED, in, NULL,
			 qn_type_with_elem(t, type, qn_elem_plain(t, QN_PLAIN_f32)));
}

/* A dynamic_rescale of sums without a bias, under a reshape that does not change the last axis; 0: it is
 * not one, or others read it. */
static qn_id
layer_behind(const qn_rw *rw, qn_id id, qn_id *shape)
{
	const qn_node *n = qn_rw_node(rw, id);

	*shape = 0;
	if (n->op == QN_OP_reshape && qn_rw_uses(rw, id) == 1) {
		*shape = id;
		id = n->in[0];
		n = qn_rw_node(rw, id);
	}
	return qn_rqz_is_dynamic(n) && n->nin == NSCALED && qn_rw_uses(rw, id) == 1 &&
			       qn_opinfo_of(qn_rw_node(rw, n->in[VALUES]))->behaviour == QN_ACC
		       ? id
		       : 0;
}

/* add(dynamic_rescale(acc, m, e), b) -> dynamic_rescale(acc, m, e, b') */
qn_id
qn_rqz_dynamic_bias(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	uint32_t side = 0;
	qn_id shape, at = layer_behind(rw, n->in[0], &shape);

	if (at == 0 && n->op == QN_OP_add)
		at = layer_behind(rw, n->in[side = 1], &shape);
	if (at == 0 || qn_rw_node(rw, n->in[side])->type != n->type)
		return qn_rw_decline(rw, "no layer with a scale of run time is before it");
	const qn_node *d = qn_rw_node(rw, at);
	const qn_rqz_run_time r = {.mantissa = d->in[MANTISSA], .exponent = d->in[EXPONENT]};
	const qn_id b = n->in[1 - side], acc = d->in[VALUES];

	qn_rw_add_origin(rw, acc);
	qn_id y = qn_rqz_run_time_result(rw, qn_rw_name(rw, m->root), acc, &r, b);
	if (y == 0 || shape == 0)
		return y;
	const qn_attrs *a = qn_rw_node(rw, shape)->attr;
	return qn_rw_add(rw, QN_OP_reshape, qn_rw_name(rw, m->root), 1, &y, a, NULL);
}

/* ---- the result ---- */

/* The bias in parts of a step of the result: as small ones as 30 bits hold, at least 2^-16; 0: not even steps. */
static qn_id
bias_of_result(qn_rw *rw, qn_id b, const qn_elem *to)
{
	const qn_types *t = &qn_rw_model(rw)->types;
	const qn_tensor *v = qn_rw_node(rw, b)->value;
	int fraction = MOST_FRACTION;
	double step;
	int64_t zp;

	qn_elem_param(t, to, 0, &step, &zp);
	const double most = largest(t, v);
	while (fraction >= 0 && !(ldexp(most / step, fraction) < 0x1p30))
		fraction--;
	return fraction >= 0 ? bias_in(rw, qn_rw_name(rw, b), v, ldexp(step, -fraction))
			     : qn_rw_decline(rw, "the bias has 2^30 or more steps of the result");
}

/* quantize(dynamic_rescale(acc, m, e, b)) -> dynamic_rescale(acc, m, e, b') of its type */
qn_id
qn_rqz_dynamic_result(qn_rw *rw, const qn_match *m)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_type *to = qn_rw_node(rw, m->root)->type;
	const qn_node *d = qn_rw_node(rw, m->at[OP]);
	const char *name = qn_rw_name(rw, m->at[OP]);
	qn_id in[NSCALED + 1] = {0};

	if (!qn_rqz_is_dynamic(d) || !qn_rqz_supports(to->elem))
		return qn_rw_decline(rw, "it is not a result of 8 or 16 bits");
	const qn_elem *e = qn_rqz_aligned_elem(t, to->elem);
	if (e == NULL)
		return 0;
	const uint32_t nin = d->nin;
	for (uint32_t i = 0; i < nin; i++)
		in[i] = d->in[i];
	if (nin > NSCALED && (in[NSCALED] = bias_of_result(rw, in[NSCALED], e)) == 0)
		return 0;
	qn_id y =
		qn_rw_add(rw, QN_OP_dynamic_rescale, name != NULL ? name : qn_rw_name(rw, m->root),
			  nin, in, NULL, qn_type_with_elem(t, to, e));
	return e == to->elem || y == 0
		       ? y
		       : qn_rw_add(rw, QN_OP_requantize, qn_rw_name(rw, m->root), 1, &y, NULL, to);
}
