/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_batch_norm.c - BatchNormalization.
 *
 *   BatchNormalization(x [N,C,…], scale, b, mean, var)     transpose, batch_norm, transpose
 *   {training_mode=1}                                      mean and variance of the input itself, over all axes but 1;
 *                                                          results 1 and 2: mean * 0.9 + that of the input * 0.1 */
#include "import/onnx_write_op.h"

static qn_id
along_channels(qn_onnx *o, qn_id x, int32_t rank)
{
	int64_t dim[QN_MAX_RANK];

	if (x == 0)
		return 0;
	dim[0] = qn_type_count(qn_onnx_type(o, x));
	for (int32_t i = 1; i < rank - 1; i++)
		dim[i] = 1;
	return qn_importer_reshape(&o->im, x, rank - 1, dim);
}

/* The mean over all axes but 1, kept as ones. */
static qn_id
channel_mean(qn_onnx *o, qn_id x)
{
	int64_t axes[QN_MAX_RANK];
	int32_t n = 0;

	if (x == 0)
		return 0;
	for (int32_t i = 0; i < qn_onnx_type(o, x)->rank; i++)
		if (i != 1)
			axes[n++] = i;
	return qn_importer_reduce(&o->im, QN_OP_reduce_mean, x, n, axes, true);
}

/* What was known of all samples before, and what these add to it. */
static qn_id
running(qn_onnx *o, qn_id before, qn_id now, double momentum)
{
	qn_importer *im = &o->im;

	if (before == 0 || now == 0)
		return 0;
	now = qn_importer_reshape(im, now, qn_onnx_type(o, before)->rank,
				  qn_onnx_type(o, before)->dim);
	now = qn_importer_binary(im, QN_OP_mul, now, qn_importer_f32(im, 1 - momentum));
	before = qn_importer_binary(im, QN_OP_mul, before, qn_importer_f32(im, momentum));
	return qn_importer_binary(im, QN_OP_add, before, now);
}

static void
of_this_batch(qn_onnx *o, const qn_onnx_node *n, double epsilon, qn_id *out)
{
	qn_importer *im = &o->im;
	double momentum = qn_onnx_float(o, n, "momentum", 0.9);
	int32_t rank = qn_onnx_type(o, n->in[0])->rank;
	qn_id mean = channel_mean(o, n->in[0]);
	qn_id d = qn_importer_binary(im, QN_OP_sub, n->in[0], mean);
	qn_id var = channel_mean(o, qn_importer_binary(im, QN_OP_mul, d, d));
	qn_id r = qn_importer_binary(im, QN_OP_add, var, qn_importer_f32(im, epsilon));

	d = qn_importer_binary(im, QN_OP_mul, d, qn_importer_unary(im, QN_OP_rsqrt, r));
	d = qn_importer_binary(im, QN_OP_mul, d, along_channels(o, n->in[1], rank));
	out[0] = qn_importer_binary(im, QN_OP_add, d, along_channels(o, n->in[2], rank));
	if (n->nout > 1)
		out[1] = running(o, n->in[3], mean, momentum);
	if (n->nout > 2)
		out[2] = running(o, n->in[4], var, momentum);
}

static void
batch_norm(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};

	if (!qn_onnx_need(o, n, 5))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	if (t->rank < 2) {
		(void)qn_importer_refuse(&o->im, "import.rank",
					 "its input has %d dimensions, not 2 or more",
					 (int)t->rank);
		return;
	}
	a.batch_norm.epsilon = qn_onnx_float(o, n, "epsilon", 1e-5);
	for (uint32_t i = 1; i < 5; i++)
		if (qn_type_count(qn_onnx_type(o, n->in[i])) != t->dim[1]) {
			(void)qn_importer_refuse(&o->im, "import.input",
						 "input %u must have one number per channel", i);
			return;
		}
	if (qn_onnx_int(o, n, "training_mode", 0) != 0) {
		of_this_batch(o, n, a.batch_norm.epsilon, out);
		return;
	}
	qn_id in[] = {qn_importer_channels_last(&o->im, n->in[0]), n->in[1], n->in[2], n->in[3],
		      n->in[4]};
	out[0] = qn_importer_channels_first(
		&o->im, qn_importer_op(&o->im, QN_OP_batch_norm, 5, in, &a, NULL));
}

/* What is read as compositions (lib/norms.qir) is only written here. */
const qn_onnx_row qn_onnx_norm[] = {
	QN_ONNX_BOTH("BatchNormalization", 1, batch_norm, qn_onnx_write_by_channel, 0, FIRST,
		     QN_OP_batch_norm),
	QN_ONNX_WRITE("InstanceNormalization", qn_onnx_write_by_channel, 0, FIRST,
		      QN_OP_instance_norm),
	QN_ONNX_WRITE("LayerNormalization", qn_onnx_write_layer_norm, 17, PLAIN, QN_OP_layer_norm),
	QN_ONNX_WRITE("LRN", qn_onnx_write_by_channel, 0, FIRST, QN_OP_lrn),
	QN_ONNX_WRITE("Softmax", qn_onnx_write_along, 0, ANY, QN_OP_softmax),
	QN_ONNX_WRITE("LogSoftmax", qn_onnx_write_along, 0, ANY, QN_OP_log_softmax),
	{0},
};
