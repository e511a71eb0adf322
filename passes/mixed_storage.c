/* SPDX-License-Identifier: Apache-2.0 */
/* mixed_storage.c - layers between values of 8 and of 16 bits compute on values of 16 bits.
 *
 *   requantize(conv2d(x: i16)): i8    ->  requantize(requantize(conv2d(x)): i16): i8          same scale: every byte stays
 *   requantize(conv2d(x: i8)): i16    ->  requantize(conv2d(requantize(x): i16)): i16       same scale, or 2^-k of it
 *
 * Kernels that rescale their sums at once write the storage type that they read.  Any other layer stores its sums, of 32 or
 * 64 bits for each value, and is computed by the slowest kernel.  Values of 8 bits less their zero point are values of 16
 * bits of the same scale, and those of 16 bits clamped to an 8-bit range are values of 8 bits, less the zero point.
 *
 * The second rule applies where the 16-bit data takes at most as many bytes as the accumulators, in graphs that Quern
 * quantized: multipliers of 64-bit accumulators have 15 bits (runtime/fixed.h), so 16-bit results can differ by one from
 * those of 32-bit accumulators, which a quantized file may specify.
 *
 * requires: an integer graph.   leaves: an integer graph. */
#include <math.h>

#include "passes/passes.h"
#include "patterns/rewrite.h"
#include "runtime/family.h"
#include "runtime/impls.h"

enum { ROOT, SUMS };
enum { NARROW = 8, WIDE = 16, SUM = 32, WIDE_SUM = 64 };
enum { MOST_UP = 7 }; /* 255 * 2^7 < 2^15 */
/* Multipliers of 64-bit accumulators are below this (runtime/impl_cast.c). */
#define MOST_OF_64 0x1p7
/* Multipliers from here on are not for kernels of 16 bits with the DSP extension. */
#define LEAST_LARGE 0.25

/* The element type of this scale with other bits, signed and of zero point 0; NULL after an error. */
static const qn_elem *
with_bits(qn_rw *rw, const char *name, const qn_elem *e, const qn_scale *scale, uint8_t bits)
{
	qn_elem d = qn_elem_desc(bits, true);
	const qn_elem *made = NULL;

	d.expressed = e->expressed;
	d.gran = e->gran;
	d.naxis = e->naxis;
	d.axis = e->axis;
	d.scale = scale;
	const qn_status status = qn_elem_make(&qn_rw_model(rw)->types, name, &d, &made);
	if (status != QN_OK)
		qn_rw_fail(rw, status);
	return made;
}

/* What a requantize clamps to, of the values that its type stores. */
static qn_attrs
limits(const qn_node *n)
{
	const qn_elem *e = n->type->elem;
	const bool clamps = n->op == QN_OP_requantize;
	qn_attrs a = {.requantize = {.lo = e->qmin, .hi = e->qmax}};

	if (clamps && n->attr->requantize.lo > a.requantize.lo)
		a.requantize.lo = n->attr->requantize.lo;
	if (clamps && n->attr->requantize.hi < a.requantize.hi)
		a.requantize.hi = n->attr->requantize.hi;
	return a;
}

/* Values of 16 bits: those of 8 bits, which the node stores, less their zero point, times 2^up. */
static qn_id
widened(qn_rw *rw, const char *name, qn_id x, const qn_node *n, int up)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_elem *from = n->type->elem;
	const qn_scale *scale = up == 0 ? from->scale
					: qn_scale_op(t, QN_SCALE_MUL, from->scale,
						      qn_scale_const(t, ldexp(1.0, -up)));
	const qn_elem *e = with_bits(rw, name, from, scale, WIDE);
	qn_attrs a = limits(n);

	if (e == NULL)
		return 0;
	a.requantize.lo = (a.requantize.lo - from->zp) * (1 << up);
	a.requantize.hi = (a.requantize.hi - from->zp) * (1 << up);
	return qn_rw_add(rw, QN_OP_requantize, name, 1, &x, &a, qn_type_with_elem(t, n->type, e));
}

/* Whether these are values with one scale and zero point, of so many bits. */
static bool
is_stored_in(const qn_type *t, int bits)
{
	return !t->is_tuple && qn_elem_is_quant(t->elem) && t->elem->bits == bits &&
	       t->elem->gran == QN_PER_TENSOR;
}

/* Whether nothing but the matched requantize reads sums of so many bits, of an op that has kernels for 16 bits. */
static bool
has_sums(const qn_rw *rw, const qn_match *m, int bits)
{
	const qn_node *n = qn_rw_node(rw, m->at[SUMS]);

	return !n->type->is_tuple && n->type->elem->bits == bits &&
	       qn_rw_uses(rw, m->at[SUMS]) == 1 && qn_impl_takes_family(n->op, QN_FAMILY_s16) &&
	       qn_rw_node(rw, m->root)->attr->requantize.align == 0;
}

/* The type of what the matched layer reads. */
static const qn_type *
data_of(const qn_rw *rw, const qn_match *m)
{
	return qn_rw_node(rw, qn_rw_node(rw, m->at[SUMS])->in[0])->type;
}

/* requantize(sums of i16): i8 */
static qn_id
narrow_result(qn_rw *rw, const qn_match *m)
{
	const qn_node *root = qn_rw_node(rw, m->root);

	if (!is_stored_in(root->type, NARROW) || !has_sums(rw, m, WIDE_SUM) ||
	    !is_stored_in(data_of(rw, m), WIDE)) /* those of weights in blocks have 64 bits, too */
		return qn_rw_decline(rw, "it does not make 8 bits of sums of 16 bits");
	const qn_type *type = root->type;
	qn_id y = widened(rw, qn_rw_derived_name(rw, m->root, "i16"), m->at[SUMS], root, 0);
	return y != 0 ? qn_rw_add(rw, QN_OP_requantize, qn_rw_name(rw, m->root), 1, &y, NULL, type)
		      : 0;
}

/* The largest multiplier that turns sums of x and w into y. */
static double
largest_multiplier(const qn_rw *rw, const qn_elem *x, const qn_elem *w, const qn_elem *y)
{
	const qn_types *t = &qn_rw_model(rw)->types;
	double data, weight, result, most = 0;
	int64_t zp;

	qn_elem_param(t, x, 0, &data, &zp);
	qn_elem_param(t, y, 0, &result, &zp);
	for (size_t i = 0; i < qn_elem_nparams(w); i++) {
		qn_elem_param(t, w, i, &weight, &zp);
		most = fmax(most, data * weight / result);
	}
	return most;
}

/* How far data is shifted to the left so that no multiplier of the layer is large: the sums grow, and the multipliers
 * shrink. */
static int
shift_of(double most)
{
	int up = 0;

	while (up < MOST_UP && ldexp(most, -up) >= LEAST_LARGE)
		up++;
	return up;
}

/* A bias of 32 bits as one of 64, times 2^up, for data x and weights w; 0 after an error. */
static qn_id
wide_bias(qn_rw *rw, qn_id bias, qn_id x, qn_id w, int up)
{
	const qn_node *c = qn_rw_node(rw, bias);
	qn_model *model = qn_rw_model(rw);
	const qn_scale *scale =
		qn_scale_op(&model->types, QN_SCALE_MUL, qn_rw_node(rw, x)->type->elem->scale,
			    qn_rw_node(rw, w)->type->elem->scale);
	const qn_elem *e = with_bits(rw, c->name, c->type->elem, scale, WIDE_SUM);
	void *data;

	if (e == NULL)
		return 0;
	qn_tensor *t =
		qn_tensor_new(model->arena, qn_type_with_elem(&model->types, c->type, e), &data);
	for (int64_t i = 0; i < qn_type_count(c->type); i++)
		((int64_t *)data)[i] = qn_tensor_i64(c->value, i) * (1 << up);
	return qn_rw_const(rw, qn_rw_derived_name(rw, bias, "i64"), t);
}

/* Whether a layer multiplies values of 8 bits with constant weights, and adds a constant bias or none. */
static bool
is_layer(const qn_rw *rw, const qn_node *n)
{
	const qn_node *w = qn_rw_node(rw, n->in[1]);

	return n->op != QN_OP_matmul && is_stored_in(qn_rw_node(rw, n->in[0])->type, NARROW) &&
	       w->op == QN_OP_const && w->type->elem->gran != QN_SUB_CHANNEL &&
	       (n->nin < 3 || qn_rw_node(rw, n->in[2])->op == QN_OP_const);
}

/* requantize(sums of i8): i16 */
static qn_id
widen_data(qn_rw *rw, const qn_match *m)
{
	const qn_node *root = qn_rw_node(rw, m->root), *sums = qn_rw_node(rw, m->at[SUMS]);

	if (!qn_rw_model(rw)->quantized_here || !is_stored_in(root->type, WIDE) ||
	    !has_sums(rw, m, SUM) || !is_layer(rw, sums))
		return qn_rw_decline(rw, "it does not make 16 bits of a layer's sums of 32 bits");
	if (SUM * qn_type_count(root->type) < WIDE * qn_type_count(data_of(rw, m)))
		return qn_rw_decline(rw, "its data of 16 bits would be larger than its sums");
	const qn_type *type = root->type;
	const qn_attrs *attr = root->attr, *of_sums = sums->attr;
	const qn_op op = sums->op;
	const uint32_t nin = sums->nin;
	qn_id in[3] = {sums->in[0], sums->in[1], nin > 2 ? sums->in[2] : 0};

	const qn_node *x = qn_rw_node(rw, in[0]);
	const double most = largest_multiplier(rw, x->type->elem, qn_rw_node(rw, in[1])->type->elem,
					       type->elem);
	const int up = shift_of(most);

	if (ldexp(most, -up) >= MOST_OF_64)
		return qn_rw_decline(rw, "its multiplier is too large for sums of 64 bits");
	in[0] = widened(rw, qn_rw_derived_name(rw, in[0], "i16"), in[0], x, up);
	if (in[0] != 0 && nin > 2)
		in[2] = wide_bias(rw, in[2], in[0], in[1], up);
	if (in[0] == 0 || (nin > 2 && in[2] == 0))
		return 0;
	qn_rw_add_origin(rw, m->at[SUMS]);
	qn_id y = qn_rw_add(rw, op, qn_rw_name(rw, m->at[SUMS]), nin, in, of_sums, NULL);
	return y != 0 ? qn_rw_add(rw, QN_OP_requantize, qn_rw_name(rw, m->root), 1, &y, attr, type)
		      : 0;
}

static const qn_rule rules[] = {
	{"narrow-result", QN_P_OP(requantize, ROOT, QN_P_ARGS(QN_P_CLASS(QN_ACC, SUMS))),
	 narrow_result},
	{"widen-data", QN_P_OP(requantize, ROOT, QN_P_ARGS(QN_P_CLASS(QN_ACC, SUMS))), widen_data},
};

qn_status
qn_mixed_storage(qn_model *m)
{
	qn_graph *g;

	QN_TRY(qn_rewrite(m, qn_model_entry(m), rules, QN_COUNT(rules), NULL, &g));
	qn_model_set_graph(m, g);
	return QN_OK;
}
