/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_acc.c - products of dequantized operands, as files of quantized graphs have them,
 * become integer products.
 *
 *   conv2d(dequantize(x), dequantize(w), b)      ->  dequantize(conv2d(x, w', b'))     w' signed and symmetric (requantize_weights.c)
 *   matmul(dequantize(x), dequantize(w [K,N]))   ->  dequantize(dense(x, w' [N,K]))    w a constant; other shapes of x by reshapes
 *   add(dequantize(dense(x, w)), b)              ->  dequantize(dense(x, w, b'))       bias_add likewise
 *
 * Data with a scale for each channel is first brought to one scale (requantize_aligned.c).
 *
 * b is a constant, or a dequantized value: b' has the accumulator's scale; quantized values of
 * that scale stay as they are. */
#include <math.h>

#include "passes/requantize.h"
#include "runtime/interp.h"

/* What i64 accumulators have room for (requantize_constant.c). */
#define MOST_BIAS_64 0x1p40

static const qn_elem *
elem_of(const qn_rw *rw, qn_id id)
{
	return qn_rw_node(rw, id)->type->elem;
}

/* What stands before a dequantize; 0: the value is not dequantized. */
static qn_id
quantized_of(const qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	return n->op == QN_OP_dequantize ? n->in[0] : 0;
}

static bool
is_data(const qn_elem *e)
{
	return qn_rqz_supports(e) && (e->bits <= 8 || e->is_signed);
}

/* ---- weights ---- */

/* The constant with its first two axes swapped. */
static qn_id
turned(qn_rw *rw, qn_id w)
{
	qn_attrs a = {.perm = {.perm = {2, {1, 0}}}};
	qn_arena *scratch = qn_rw_model(rw)->scratch;
	const qn_tensor *from = qn_rw_node(rw, w)->value;
	qn_tensor *to;

	if (from->type->elem->gran == QN_SUB_CHANNEL) {
		const qn_tensor *made =
			qn_rqz_turned_blocks(&qn_rw_model(rw)->types, from, qn_rw_model(rw)->arena);

		return made != NULL ? qn_rw_const(rw, qn_rw_name(rw, w), made) : 0;
	}
	qn_id t = qn_rw_add(rw, QN_OP_transpose, NULL, 1, &w, &a, NULL);

	if (t == 0)
		return 0;
	qn_status status = qn_eval_node(qn_rw_graph(rw), qn_rw_node(rw, t), &from, scratch, &to);
	if (status != QN_OK) {
		qn_rw_fail(rw, status);
		return 0;
	}
	return qn_rw_const(rw, qn_rw_name(rw, w),
			   qn_tensor_of(qn_rw_model(rw)->arena, to->type, to->data));
}

/* ---- bias ---- */

/* The accumulator of data x and weights w, scales along axis 0. */
static const qn_elem *
accumulator(qn_rw *rw, const qn_elem *x, const qn_elem *w)
{
	qn_types *t = &qn_rw_model(rw)->types;
	qn_elem d = qn_elem_desc(x->bits <= 8 ? 32 : 64, true);
	const qn_elem *e = NULL;
	const int32_t first = 0;

	d.expressed = x->expressed;
	d.gran = x->gran == QN_PER_AXIS ? QN_PER_AXIS : w->gran;
	d.naxis = d.gran == QN_PER_AXIS ? 1 : w->naxis;
	d.axis = x->gran == QN_PER_AXIS ? &first : w->axis;
	const qn_scale *data = qn_scale_plain(t, "bias", x->scale);
	if (data == NULL)
		return NULL;
	d.scale = qn_scale_op(t, QN_SCALE_MUL, data, w->scale);
	return qn_elem_make(t, "bias", &d, &e) == QN_OK ? e : NULL;
}

qn_id
qn_rqz_bias_const(qn_rw *rw, const char *name, const qn_tensor *bias, const qn_elem *x,
		  const qn_elem *w)
{
	const qn_elem *acc = accumulator(rw, x, w);
	const qn_id c = acc != NULL ? qn_rw_const(rw, name, bias) : 0;

	return c != 0 ? qn_rqz_quantize(rw, c, acc, name) : 0;
}

/* The elements of b quantized as `to`: the same where the scales are, but for rounding to f32. */
static qn_id
rescaled(qn_rw *rw, qn_id b, const qn_type *to)
{
	const qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *c = qn_rw_node(rw, b);
	const qn_elem *from = c->type->elem;
	void *data;
	qn_tensor *out = qn_tensor_new(qn_rw_model(rw)->arena, to, &data);

	for (int64_t i = 0; i < qn_type_count(to); i++) {
		double s, want;
		int64_t zp, none;

		qn_elem_param(t, from, from->gran == QN_PER_TENSOR ? 0 : (size_t)i, &s, &zp);
		qn_elem_param(t, to->elem, to->elem->gran == QN_PER_TENSOR ? 0 : (size_t)i, &want,
			      &none);
		double code = (double)(qn_tensor_i64(c->value, i) - zp), ratio = s / want;
		if (!(fabs(ratio - 1.0) < 0x1p-20))
			code = rint(code * ratio);
		if (!(fabs(code) < (to->elem->bits == 64 ? MOST_BIAS_64 : 0x1p31)))
			return qn_rw_decline(rw, "the bias does not fit the accumulator");
		qn_store_i64(data, to->elem->plain, i, (int64_t)code);
	}
	return qn_rw_const(rw, qn_rw_name(rw, b), out);
}

qn_id
qn_rqz_bias_of(qn_rw *rw, qn_id b, int64_t n, const qn_elem *acc)
{
	qn_types *t = &qn_rw_model(rw)->types;
	qn_id quantized = quantized_of(rw, b), c = quantized != 0 ? quantized : b;
	const qn_node *node = qn_rw_node(rw, c);
	const qn_type *type = node->type;

	if (node->op != QN_OP_const || acc == NULL || qn_type_count(type) != n || type->rank < 1 ||
	    type->dim[type->rank - 1] != n)
		return qn_rw_decline(rw, "the bias is not a constant with one number per channel");
	const qn_type *to = qn_type_tensor(t, acc, 1, &n);
	if (quantized != 0)
		return rescaled(rw, c, to);
	if (type->rank != 1)
		c = qn_rw_const(rw, qn_rw_name(rw, c),
				qn_tensor_view(qn_rw_model(rw)->arena,
					       qn_type_plain(t, type->elem->plain, 1, &n),
					       node->value->data));
	return c != 0 ? qn_rw_add(rw, QN_OP_quantize, qn_rw_name(rw, b), 1, &c, NULL, to) : 0;
}

/* ---- the rules ---- */

static qn_id
reshaped(qn_rw *rw, const char *name, qn_id x, int32_t rank, const int64_t *dim)
{
	qn_attrs a = {0};

	a.shape.shape.n = rank;
	for (int32_t k = 0; k < rank; k++)
		a.shape.shape.v[k] = dim[k];
	return x != 0 ? qn_rw_add(rw, QN_OP_reshape, name, 1, &x, &a, NULL) : 0;
}

/* x with its last two axes swapped. */
static qn_id
columns_first(qn_rw *rw, qn_id x)
{
	const int32_t rank = qn_rw_node(rw, x)->type->rank;
	qn_attrs a = {0};

	a.perm.perm.n = rank;
	for (int32_t k = 0; k < rank; k++)
		a.perm.perm.v[k] = k < rank - 2 ? k : 2 * rank - 3 - k;
	return rank >= 2 ? qn_rw_add(rw, QN_OP_transpose, NULL, 1, &x, &a, NULL) : 0;
}

/* Sums as floats: dequantized, or with their scale of run time and the bias, which those of fixed scales have
 * already. */
static qn_id
float_result(qn_rw *rw, const char *name, qn_id sums, const qn_rqz_run_time *d, qn_id bias)
{
	if (sums == 0)
		return 0;
	return d->values != 0 ? qn_rqz_run_time_result(rw, name, sums, d, bias)
			      : qn_rw_add(rw, QN_OP_dequantize, name, 1, &sums, NULL, NULL);
}

/* matmul(x, w) with constant weights of 8 bits as a dense layer, which may have their zero points; 0: it
 * is not one. */
static qn_id
layer(qn_rw *rw, const qn_node *n, qn_id root, qn_id x, qn_id w, const qn_rqz_run_time *d)
{
	const qn_node dense = {.op = QN_OP_dense};
	const qn_attrs_matmul *a = &n->attr->matmul;
	const qn_node *wn = qn_rw_node(rw, w);
	const qn_type *y = n->type;
	const char *name = qn_rw_name(rw, root);
	int64_t flat[2] = {1, 0};

	if (wn->op != QN_OP_const || wn->type->elem->bits > 8 || wn->type->rank != 2 ||
	    qn_type_count(y) < 0)
		return 0;
	const bool blocks = wn->type->elem->gran == QN_SUB_CHANNEL;
	if (a->transpose_a != 0 && (x = columns_first(rw, x)) == 0)
		return 0;
	if (a->transpose_b == 0)
		w = turned(rw, w);
	const qn_node *xn = qn_rw_node(rw, x);
	for (int32_t k = 0; k + 1 < xn->type->rank; k++)
		flat[0] *= xn->type->dim[k];
	flat[1] = xn->type->dim[xn->type->rank - 1];
	if (xn->type->rank != 2)
		x = reshaped(rw, NULL, x, 2, flat);
	qn_id in[2] = {x, w}, got;
	if (x == 0 || w == 0)
		return 0;
	if (blocks) {
		const int64_t dim[2] = {flat[0], qn_rw_node(rw, w)->type->dim[0]};
		const qn_node layer = {
			.op = QN_OP_dense,
			.type = qn_type_plain(&qn_rw_model(rw)->types, QN_PLAIN_f32, 2, dim)};

		got = qn_rqz_block_product(rw, name, &layer, x, w, 0);
	} else if (qn_rqz_weights(rw, &dense, in) &&
		   (elem_of(rw, in[1])->gran != QN_PER_AXIS || elem_of(rw, in[1])->axis[0] == 0)) {
		got = qn_rw_add(rw, QN_OP_dense, name, 2, in, NULL, NULL);
	} else {
		return 0;
	}
	got = float_result(rw, name, got, d, 0);
	return got == 0 || y->rank == 2 ? got : reshaped(rw, name, got, y->rank, y->dim);
}

/* matmul of two activations. */
static qn_id
product(qn_rw *rw, const qn_node *n, qn_id root, qn_id x, qn_id w)
{
	const char *name = qn_rw_name(rw, root);

	w = qn_rqz_aligned(rw, w);
	if (w == 0)
		return 0;
	n = qn_rw_node(rw, root);
	const qn_elem *a = elem_of(rw, x), *b = elem_of(rw, w);
	const int bits = a->bits > 8 || b->bits > 8 ? 16 : 8;
	const bool is_signed = bits > 8 || a->is_signed;

	if (!is_data(b))
		return qn_rw_decline(rw, "the right operand has too many bits");
	x = qn_rqz_stored_as(rw, x, bits, is_signed);
	w = qn_rqz_stored_as(rw, w, bits, is_signed);
	if (x == 0 || w == 0)
		return qn_rw_decline(rw, "the operands have no common storage type");
	qn_id y = qn_rw_add(rw, QN_OP_matmul, name, 2, (qn_id[]){x, w}, n->attr, NULL);
	return y != 0 ? qn_rw_add(rw, QN_OP_dequantize, name, 1, &y, NULL, NULL) : 0;
}

/* The operands as quantized values: data in one scale if need be, or with their scale of run time. */
static bool
operands_of(qn_rw *rw, qn_id root, qn_rqz_run_time *d, qn_id *in)
{
	const qn_types *t = &qn_rw_model(rw)->types;

	*d = (qn_rqz_run_time){0};
	in[0] = qn_rqz_operand(rw, qn_rw_node(rw, root)->in[0]);
	if (in[0] == 0 && qn_rqz_find_dynamic(rw, qn_rw_node(rw, root), d))
		in[0] = d->values;
	in[1] = qn_rqz_operand(rw, qn_rw_node(rw, root)->in[1]);
	if (in[0] != 0 && in[1] != 0 &&
	    !qn_takes_channels(t, qn_rw_node(rw, root), qn_rw_node(rw, in[0])->type,
			       qn_rw_node(rw, in[1])->type))
		in[0] = qn_rqz_aligned(rw, in[0]);
	return in[0] != 0 && in[1] != 0 && is_data(elem_of(rw, in[0]));
}

/* matmul as a layer, or of two activations. */
static qn_id
matrix_product(qn_rw *rw, qn_id root, const qn_id *in, const qn_rqz_run_time *d)
{
	const qn_node *n = qn_rw_node(rw, root);
	const qn_id y = layer(rw, n, root, in[0], in[1], d);

	if (y != 0)
		return y;
	if (elem_of(rw, in[1])->gran == QN_SUB_CHANNEL)
		return qn_rw_decline(rw, "weights in blocks are for matmul a constant of two "
					 "dimensions, blocked along them");
	if (d->values != 0)
		return qn_rw_decline(rw, "a scale of run time needs constant weights of two "
					 "dimensions");
	return product(rw, n, root, in[0], in[1]);
}

qn_id
qn_rqz_product(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	const char *name = qn_rw_name(rw, m->root);
	const qn_id bias = n->nin == 3 ? n->in[2] : 0;
	qn_rqz_run_time d;
	qn_id in[3] = {0};

	if (qn_rqz_skipped(rw, m->root))
		return qn_rw_decline(rw, "it is to stay in float");
	if (!operands_of(rw, m->root, &d, in))
		return qn_rw_decline(rw,
				     "its operands are not dequantized values that it supports");
	n = qn_rw_node(rw, m->root);
	if (n->op == QN_OP_matmul)
		return matrix_product(rw, m->root, in, &d);
	if (elem_of(rw, in[1])->gran == QN_SUB_CHANNEL)
		return float_result(
			rw, name,
			qn_rqz_block_product(rw, name, n, in[0], in[1], d.values != 0 ? 0 : bias),
			&d, bias);
	if (!qn_rqz_weights(rw, n, in) || elem_of(rw, in[1])->bits > 8 ||
	    (elem_of(rw, in[1])->gran == QN_PER_AXIS && elem_of(rw, in[1])->axis[0] != 0))
		return qn_rw_decline(rw, "its weights are not a constant of 8 bits, or of signed "
					 "values without a zero point");
	uint32_t nin = 2;
	if (bias != 0 && d.values == 0) {
		if (!qn_rqz_make_room(rw, in, bias))
			return 0;
		in[nin++] = qn_rqz_bias_of(rw, bias, qn_rw_node(rw, in[1])->type->dim[0],
					   accumulator(rw, elem_of(rw, in[0]), elem_of(rw, in[1])));
		if (in[2] == 0)
			return 0;
	}
	const qn_id y = qn_rw_add(rw, n->op, name, nin, in, n->attr, NULL);
	return float_result(rw, name, y, &d, bias);
}

/* The accumulating layer without a bias before a value: under a dequantize, and a reshape, after which what has
 * one number for each channel can be added to the last axis alone.  0: there is none, or others read it. */
static qn_id
layer_behind(const qn_rw *rw, qn_id id, qn_id *shape)
{
	const qn_node *n = qn_rw_node(rw, id);

	*shape = 0;
	if (n->op == QN_OP_reshape && qn_rw_uses(rw, id) == 1) {
		*shape = id;
		id = n->in[0];
	}
	qn_id acc = quantized_of(rw, id);
	const qn_node *a = acc != 0 ? qn_rw_node(rw, acc) : NULL;
	return a != NULL && qn_opinfo_of(a)->behaviour == QN_ACC && a->op != QN_OP_matmul &&
			       a->nin == 2 && qn_rw_uses(rw, id) == 1 && qn_rw_uses(rw, acc) == 1
		       ? acc
		       : 0;
}

qn_id
qn_rqz_bias(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	const char *name = qn_rw_name(rw, m->root);
	qn_id shape;
	uint32_t side = 0;
	qn_id acc = layer_behind(rw, n->in[0], &shape);

	if (acc == 0 && n->op == QN_OP_add)
		acc = layer_behind(rw, n->in[side = 1], &shape);
	if (acc == 0 || qn_rw_node(rw, n->in[side])->type != n->type)
		return qn_rw_decline(rw, "no layer without a bias is before it");
	const qn_node *a = qn_rw_node(rw, acc);
	qn_id in[3] = {a->in[0], a->in[1], 0};
	if (elem_of(rw, in[1])->gran == QN_SUB_CHANNEL) {
		qn_rw_add_origin(rw, acc);
		qn_id y = qn_rqz_block_product(rw, qn_rw_name(rw, acc), a, in[0], in[1],
					       n->in[1 - side]);
		y = y != 0 ? qn_rw_add(rw, QN_OP_dequantize, name, 1, &y, NULL, NULL) : 0;
		return shape == 0 || y == 0 ? y
					    : reshaped(rw, name, y, n->type->rank, n->type->dim);
	}
	if (!qn_rqz_make_room(rw, in, n->in[1 - side]))
		return 0;
	in[2] = qn_rqz_bias_of(rw, n->in[1 - side], qn_rw_node(rw, in[1])->type->dim[0],
			       accumulator(rw, elem_of(rw, in[0]), elem_of(rw, in[1])));
	if (in[2] == 0)
		return 0;
	qn_rw_add_origin(rw, acc);
	qn_id y = qn_rw_add(rw, a->op, qn_rw_name(rw, acc), 3, in, a->attr, NULL);
	y = y != 0 ? qn_rw_add(rw, QN_OP_dequantize, name, 1, &y, NULL, NULL) : 0;
	return shape == 0 ? y : reshaped(rw, name, y, n->type->rank, n->type->dim);
}
