/* SPDX-License-Identifier: Apache-2.0 */
/* batch_norm.c - see batch_norm.h. */
#include "passes/batch_norm.h"

#include <math.h>

enum { GAMMA = 1, BETA, MEAN, VAR, INPUTS };

void
qn_batch_norm_affine(const qn_rw *rw, const qn_node *bn, int64_t channels, double *factor,
		     double *offset)
{
	const qn_tensor *v[INPUTS];

	for (int i = GAMMA; i < INPUTS; i++)
		v[i] = qn_rw_node(rw, bn->in[i])->value;
	for (int64_t c = 0; c < channels; c++) {
		factor[c] = qn_tensor_f64(v[GAMMA], c) /
			    sqrt(qn_tensor_f64(v[VAR], c) + bn->attr->batch_norm.epsilon);
		offset[c] = qn_tensor_f64(v[BETA], c) - qn_tensor_f64(v[MEAN], c) * factor[c];
	}
}

qn_id
qn_batch_norm_bias(qn_rw *rw, const char *name, qn_id b, int64_t channels, const double *factor,
		   const double *offset)
{
	qn_model *m = qn_rw_model(rw);
	const qn_type *type = qn_type_plain(&m->types, QN_PLAIN_f32, 1, &channels);
	void *data;
	qn_tensor *out = qn_tensor_new(m->arena, type, &data);

	for (int64_t c = 0; c < channels; c++) {
		double old = b == 0 ? 0.0 : qn_tensor_f64(qn_rw_node(rw, b)->value, c);

		qn_store_f64(data, QN_PLAIN_f32, c, old * factor[c] + offset[c]);
	}
	return qn_rw_const(rw, name, out);
}

static qn_id
weights(qn_rw *rw, const char *name, int64_t channels, const double *factor)
{
	const int64_t dim[4] = {channels, 1, 1, 1};
	qn_model *m = qn_rw_model(rw);
	void *data;
	qn_tensor *w =
		qn_tensor_new(m->arena, qn_type_plain(&m->types, QN_PLAIN_f32, 4, dim), &data);

	for (int64_t c = 0; c < channels; c++)
		qn_store_f64(data, QN_PLAIN_f32, c, factor[c]);
	return qn_rw_const(rw, name, w);
}

qn_id
qn_batch_norm_conv(qn_rw *rw, qn_id id)
{
	const qn_node *bn = qn_rw_node(rw, id);
	qn_arena *scratch = qn_rw_model(rw)->scratch;
	const qn_type *t = bn->type;
	const int64_t channels = t->dim[t->rank - 1];
	const int64_t image[4] = {1, 1, qn_type_count(t) / channels, channels};
	double *factor = QN_NEW(scratch, double, (size_t)channels);
	double *offset = QN_NEW(scratch, double, (size_t)channels);
	qn_id x = bn->in[0];
	qn_attrs conv;

	qn_batch_norm_affine(rw, bn, channels, factor, offset);
	qn_attrs_default(QN_ATTRS(conv2d), &conv);
	conv.conv2d.groups = channels;
	if (t->rank != 4)
		x = qn_rw_reshape(rw, NULL, x, 4, image);
	const qn_id in[2] = {x, weights(rw, qn_rw_derived_name(rw, id, "scale"), channels, factor)};
	qn_id y =
		qn_rw_add(rw, QN_OP_conv2d, qn_rw_derived_name(rw, id, "conv"), 2, in, &conv, NULL);
	const qn_id out[2] = {y, qn_batch_norm_bias(rw, qn_rw_derived_name(rw, id, "bias"), 0,
						    channels, factor, offset)};
	y = qn_rw_add(rw, QN_OP_bias_add, qn_rw_name(rw, id), 2, out, NULL, NULL);
	return t->rank != 4 ? qn_rw_reshape(rw, NULL, y, t->rank, t->dim) : y;
}
