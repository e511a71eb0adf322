/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_function.c - operators that the standard defines by others.
 *
 *   NegativeLogLikelihoodLoss(x [N,C,D], t [N,D])    -x at [n, t, d], times weights of the classes, then their mean
 *   SoftmaxCrossEntropyLoss(x, t)                    the same of log_softmax over the classes
 *   TensorScatter(cache, update, indices)            scatter_elements: steps of each batch from its index on
 *   CausalConvWithState(x [N,C,L], w [C,1,k])        a depthwise convolution, after the k - 1 steps before */
#include "import/onnx_attention.h"

#include <string.h>

/* ---- losses ---- */

/* x as [N, C, the rest], or of targets [N, the rest]; 0 after a report. */
static qn_id
flat(qn_onnx *o, qn_id x, int32_t kept)
{
	int64_t dim[3] = {1, 1, 1};

	if (x == 0)
		return 0;
	const qn_type *t = qn_onnx_type(o, x);
	for (int32_t i = 0; i < t->rank; i++)
		dim[i < kept ? i : kept] *= t->dim[i];
	return qn_importer_reshape(&o->im, x, kept + 1, dim);
}

static qn_id
pick(qn_onnx *o, qn_id cond, qn_id yes, qn_id no)
{
	return qn_importer_op(&o->im, QN_OP_where, 3, (qn_id[]){cond, yes, no}, NULL, NULL);
}

static qn_id
total(qn_onnx *o, qn_id x, qn_op op)
{
	const int64_t axes[] = {0, 1};

	return qn_importer_reduce(&o->im, op, x, 2, axes, false);
}

/* The sum of y over that of the counts. */
static qn_id
mean(qn_onnx *o, qn_id y, qn_id counts)
{
	const qn_id n = total(o, counts, QN_OP_reduce_sum);

	return qn_importer_binary(&o->im, QN_OP_div, total(o, y, QN_OP_reduce_sum), n);
}

/* [N, D] of one loss each, and in *counts what the mean divides by, 0: their number. */
static qn_id
losses(qn_onnx *o, const qn_onnx_node *n, qn_id x, qn_id target, qn_id *counts)
{
	qn_importer *im = &o->im;
	bool ignores = qn_onnx_has(o, n, "ignore_index");
	int64_t ignored = qn_onnx_int(o, n, "ignore_index", 0);
	qn_attrs at = {0}, row = {0};
	qn_id zero = qn_importer_f32(im, 0), skip = 0, weight = qn_onnx_in(n, 2);

	target = qn_importer_cast(im, target, QN_PLAIN_i64);
	if (ignores) {
		qn_id none = qn_importer_i64s(im, 1, &ignored);
		skip = qn_importer_binary(im, QN_OP_equal, target, none);
		target = pick(o, skip, qn_importer_i64s(im, 1, (int64_t[]){0}), target);
	}
	at.gather.axis = 1;
	qn_id y = qn_importer_op(im, QN_OP_gather_elements, 2,
				 (qn_id[]){x, qn_importer_expand_dim(im, target, 1)}, &at, NULL);
	y = qn_importer_unary(im, QN_OP_neg, qn_importer_drop_dim(im, y, 1));
	*counts = 0;
	if (weight != 0)
		*counts =
			qn_importer_op(im, QN_OP_gather, 2, (qn_id[]){weight, target}, &row, NULL);
	if (skip != 0)
		y = pick(o, skip, zero, y);
	if (skip != 0)
		*counts = pick(o, skip, zero, weight != 0 ? *counts : qn_importer_f32(im, 1));
	return weight != 0 ? qn_importer_binary(im, QN_OP_mul, y, *counts) : y;
}

/* arg 1: of softmax. */
static void
loss(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const char *reduction = qn_onnx_string(o, n, "reduction", "mean");
	qn_attrs a = qn_importer_attrs(QN_OP_log_softmax);
	qn_id counts, x;

	if (!qn_onnx_need(o, n, 2))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]), *target = qn_onnx_type(o, n->in[1]);
	bool ok = t->rank >= 2 && target->rank == t->rank - 1 && t->dim[0] == target->dim[0];
	for (int32_t i = 2; ok && i < t->rank; i++)
		ok = t->dim[i] == target->dim[i - 1];
	if (!ok) {
		(void)qn_importer_refuse(&o->im, "import.input",
					 "scores must be [N, C, …], targets [N, …]");
		return;
	}
	a.axis.axis = 1;
	x = flat(o, n->in[0], 2);
	if (n->arg == 1 && x != 0)
		x = qn_importer_op(&o->im, QN_OP_log_softmax, 1, &x, &a, NULL);
	if (n->arg == 1 && n->nout > 1)
		out[1] = qn_importer_reshape(&o->im, x, t->rank, t->dim);
	qn_id y = losses(o, n, x, flat(o, n->in[1], 1), &counts);
	if (strcmp(reduction, "none") == 0)
		out[0] = qn_importer_reshape(&o->im, y, target->rank, target->dim);
	else if (strcmp(reduction, "sum") == 0)
		out[0] = total(o, y, QN_OP_reduce_sum);
	else if (strcmp(reduction, "mean") != 0)
		(void)qn_importer_refuse(&o->im, "import.attr", "reduction is '%s'", reduction);
	else if (counts == 0)
		out[0] = total(o, y, QN_OP_reduce_mean);
	else
		out[0] = mean(o, y, counts);
}

/* ---- moves ---- */

static void
tensor_scatter(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_importer *im = &o->im;
	bool circular = strcmp(qn_onnx_string(o, n, "mode", "linear"), "circular") == 0;
	qn_attrs wide = {0}, at = {0};
	int64_t dim[QN_MAX_RANK];
	int32_t axis;

	if (!qn_onnx_need(o, n, 2))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]), *u = qn_onnx_type(o, n->in[1]);
	if (!qn_onnx_axis(o, qn_onnx_int(o, n, "axis", -2), t->rank, &axis))
		return;
	bool ok = u->rank == t->rank && axis > 0;
	for (int32_t i = 0; ok && i < t->rank; i++) {
		ok = i == axis ? u->dim[i] <= t->dim[i] : u->dim[i] == t->dim[i];
		dim[i] = i == 0 ? t->dim[0] : 1;
	}
	if (!ok) {
		(void)qn_importer_refuse(im, "import.input",
					 "an update must have the dimensions of what it updates, "
					 "and at most as many steps");
		return;
	}
	qn_id index = qn_onnx_ramp(o, u->dim[axis], 0, 1, t->rank, axis);
	if (qn_onnx_in(n, 2) != 0) {
		qn_id first = qn_importer_reshape(im, n->in[2], t->rank, dim);
		index = qn_importer_binary(im, QN_OP_add, qn_importer_cast(im, first, QN_PLAIN_i64),
					   index);
	}
	if (circular)
		index = qn_importer_binary(im, QN_OP_mod, index,
					   qn_importer_i64s(im, 1, &t->dim[axis]));
	wide.shape.shape.n = t->rank;
	memcpy(wide.shape.shape.v, u->dim, (size_t)t->rank * sizeof u->dim[0]);
	index = qn_importer_op(im, QN_OP_expand, 1, &index, &wide, NULL);
	at.scatter_elements.axis = axis;
	out[0] = qn_importer_op(im, QN_OP_scatter_elements, 3, (qn_id[]){n->in[0], index, n->in[1]},
				&at, NULL);
}

/* The bits of constants: f32 as integers of 32 bits, integers as f32, f16, bf16 and f64.  `to`: a number of
 * TensorProto.DataType, of the width of x.  0: no such form. */
static qn_id
bits_of(qn_onnx *o, qn_id x, qn_plain from, int64_t number, qn_plain to)
{
	const qn_tensor *v = qn_importer_known(&o->im, x);
	const qn_plain stored = qn_onnx_stored_type(number);
	const int bits = qn_plain_table[stored].bits;
	const bool real = qn_plain_table[from].is_float;
	void *data;

	/* f64 and halves are f32 here: only the bits of f32 are those of the file */
	if (v == NULL || real == qn_plain_table[to].is_float ||
	    bits != (int)qn_plain_table[from].bits || (real && bits != 32))
		return 0;
	const qn_type *type =
		qn_type_with_elem(&o->im.m->types, v->type, qn_elem_plain(&o->im.m->types, to));
	if (!qn_importer_take_type(&o->im, type))
		return 0;
	qn_tensor *y = qn_tensor_new(o->im.m->arena, type, &data);
	const float *f = real ? qn_tensor_as_f32(o->im.scratch, v) : NULL;
	for (int64_t i = 0; i < qn_type_count(type); i++) {
		const int64_t k = real ? 0 : qn_tensor_bits64(v, i);
		uint32_t word = (uint32_t)k;
		double wide;
		float one;

		if (real) {
			memcpy(&word, &f[i], sizeof word);
			qn_store_i64(data, to, i,
				     qn_plain_table[to].is_signed ? (int32_t)word : (int64_t)word);
			continue;
		}
		memcpy(&one, &word, sizeof one);
		memcpy(&wide, &k, sizeof wide);
		qn_store_f64(data, to, i,
			     bits == 64   ? wide
			     : bits == 32 ? (double)one
					  : qn_half_value(stored, (uint16_t)k));
	}
	return qn_importer_const(&o->im, o->im.node, y);
}

/* Integers of one width have the same bits; so have constants.  Computed floats are quantized, so that
 * their bits are not known. */
static void
bit_cast(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_plain to;

	if (!qn_onnx_need(o, n, 1))
		return;
	qn_plain from = qn_onnx_plain(o, n->in[0]);
	int64_t number = qn_onnx_int(o, n, "to", 0);
	if (qn_onnx_data_type(number, &to) && !qn_plain_table[from].is_float &&
	    !qn_plain_table[to].is_float && from != QN_PLAIN_bool && to != QN_PLAIN_bool &&
	    qn_plain_table[from].bits == qn_plain_table[to].bits)
		out[0] = qn_importer_cast(&o->im, n->in[0], to);
	else if (qn_onnx_data_type(number, &to) && from == to && (number == 1 || number == 11))
		out[0] = n->in[0];
	else if (!qn_onnx_data_type(number, &to) ||
		 (out[0] = bits_of(o, n->in[0], from, number, to)) == 0)
		(void)qn_importer_refuse(&o->im, "import.type",
					 "bits of %s as %s; supported are integers of one width, "
					 "and for constants f32 as integers and integers as floats",
					 qn_plain_table[from].name, qn_onnx_type_name(number));
}

/* ---- CausalConvWithState, SwiGLU ---- */

static void
causal_conv(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_importer *im = &o->im;
	const char *activation = qn_onnx_string(o, n, "activation", "none");
	bool none = strcmp(activation, "none") == 0 || activation[0] == '\0';
	qn_attrs pad = qn_importer_attrs(QN_OP_pad), a = qn_importer_attrs(QN_OP_conv1d);
	qn_id x, bias = qn_onnx_in(n, 2), past = qn_onnx_in(n, 3);

	if (!qn_onnx_need(o, n, 2))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]), *w = qn_onnx_type(o, n->in[1]);
	if (t->rank != 3 || w->rank != 3 || w->dim[0] != t->dim[1] || w->dim[1] != 1 ||
	    w->dim[2] < 1) {
		(void)qn_importer_refuse(im, "import.input",
					 "its inputs must be [N, C, L] and [C, 1, k]");
		return;
	}
	if (!none && strcmp(activation, "silu") != 0 && strcmp(activation, "swish") != 0) {
		(void)qn_importer_refuse(im, "import.attr", "activation is '%s'", activation);
		return;
	}
	int64_t before = w->dim[2] - 1;
	const qn_type *p = past != 0 ? qn_onnx_type(o, past) : NULL;
	if (p != NULL && (p->rank != 3 || p->dim[2] != before)) {
		(void)qn_importer_refuse(im, "import.input",
					 "the past state must be [N, C, %lld], as many steps as "
					 "the kernel looks back",
					 (long long)before);
		return;
	}
	pad.pad.before.n = pad.pad.after.n = 3;
	pad.pad.before.v[2] = before;
	x = past != 0 ? qn_importer_join(im, 2, (qn_id[]){past, n->in[0]}, 2)
		      : qn_importer_op(im, QN_OP_pad, 1, n->in, &pad, NULL);
	a.conv1d.groups = t->dim[1];
	qn_id in[] = {qn_importer_channels_last(im, x), qn_importer_channels_last(im, n->in[1]),
		      bias};
	qn_id y = qn_importer_op(im, QN_OP_conv1d, bias != 0 ? 3 : 2, in, &a, NULL);
	y = none ? y : qn_importer_unary(im, QN_OP_silu, y);
	out[0] = qn_importer_channels_first(im, y);
	int64_t all = x != 0 ? qn_onnx_type(o, x)->dim[2] : 0;
	if (n->nout > 1)
		out[1] = qn_importer_slice(im, x, 2, all - before, all);
}

static void
swiglu(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = qn_importer_attrs(QN_OP_swish);

	a.swish.alpha = qn_onnx_float(o, n, "alpha", 1);
	if (qn_onnx_need(o, n, 2))
		out[0] = qn_importer_binary(&o->im, QN_OP_mul,
					    qn_importer_op(&o->im, QN_OP_swish, 1, n->in, &a, NULL),
					    n->in[1]);
}

const qn_onnx_row qn_onnx_functions[] = {
	QN_ONNX_READ("", "NegativeLogLikelihoodLoss", 12, loss, 0),
	QN_ONNX_READ("", "SoftmaxCrossEntropyLoss", 12, loss, 1),
	QN_ONNX_READ("", "TensorScatter", 24, tensor_scatter, 0),
	QN_ONNX_READ("", "BitCast", 26, bit_cast, 0),
	QN_ONNX_READ("", "CausalConvWithState", 27, causal_conv, 0),
	QN_ONNX_READ("", "SwiGLU", 28, swiglu, 0),
	{0},
};
