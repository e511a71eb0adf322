/* SPDX-License-Identifier: Apache-2.0 */
/* transform_weights.c - what the pass transform quantizes constant weights to, from their elements.
 *
 *   %w of 20x5, as patterns give it     ->   i8<-127:127>, a scale for each of 20 outputs; or one; or blocks */
#include <math.h>

#include "ir/block_scales.h"
#include "passes/transform_impl.h"
#include "patterns/quantizer.h"

/* The axis of the weights along which each index has a scale, -1: one for all. */
static int32_t
weight_axis(const transform *t, const qn_node *n)
{
	const int32_t rank = qn_graph_node(t->g, n->in[1])->type->rank;

	if (t->opts->per_tensor_weights || (n->op == QN_OP_matmul && rank != 2))
		return -1;
	return n->op == QN_OP_matmul && n->attr->matmul.transpose_b == 0 ? 1 : 0;
}

/* The blocks of the weights of a product; false: there are none. */
static bool
weight_blocks(const transform *t, const qn_node *n, qn_blocks *out)
{
	const qn_type *w = qn_graph_node(t->g, n->in[1])->type;
	const int64_t each = t->opts->weight_block;

	if (n->op != QN_OP_matmul)
		return qn_weight_blocks(w, each, 2 * each, out);
	if (w->rank != 2)
		return false;
	if (n->attr->matmul.transpose_b != 0)
		return qn_weight_blocks(w, each, 2 * each, out);
	const int64_t turned[2] = {w->dim[1], w->dim[0]};
	if (!qn_weight_blocks(qn_type_plain(&t->m->types, QN_PLAIN_f32, 2, turned), each, 2 * each,
			      out))
		return false;
	out->block[1] = out->block[0];
	out->block[0] = each < w->dim[0] ? each : w->dim[0];
	return true;
}

static uint8_t
weight_bits(const transform *t)
{
	const uint8_t bits = t->opts->weight_bits;

	return bits == 2 || bits == 4 ? bits : 8;
}

/* Scales of the largest absolute values of n groups of elements of w, by the type that says which they are. */
static double *
group_scales(const transform *t, const qn_node *w, const qn_type *groups, size_t n)
{
	double *scale = QN_NEW(t->m->scratch, double, n);
	int64_t idx[QN_MAX_RANK] = {0}, zp;

	for (int64_t i = 0; i < qn_type_count(w->type); i++) {
		const double v = fabs(qn_tensor_f64(w->value, i));
		const size_t k = qn_type_param_index(groups, idx);

		scale[k] = v > scale[k] ? v : scale[k];
		for (int32_t d = w->type->rank - 1; d >= 0 && ++idx[d] == w->type->dim[d]; d--)
			idx[d] = 0;
	}
	for (size_t k = 0; k < n; k++)
		qn_range_to_params(-scale[k], scale[k], groups->elem, true, &scale[k], &zp);
	return scale;
}

/* The same elem with these scales, n of them in the given shape; NULL: all are 1. */
static qn_status
with_scales(const transform *t, const qn_node *w, qn_elem d, size_t n, const int64_t *shape,
	    const double *scale, const qn_elem **out)
{
	const char *name = scale != NULL ? w->name : NULL;
	double *ones = QN_NEW(t->m->scratch, double, n);
	const int32_t rank = d.gran == QN_SUB_CHANNEL ? w->type->rank : 1;
	const qn_params *vec;

	for (size_t k = 0; k < n; k++)
		ones[k] = 1;
	QN_TRY(qn_params_intern(&t->m->types, w->name, name, n, rank,
				d.gran == QN_SUB_CHANNEL ? shape : NULL,
				scale != NULL ? scale : ones, NULL, &vec));
	d.scale = qn_scale_vec(&t->m->types, vec);
	return qn_elem_make(&t->m->types, w->name, &d, out);
}

/* In blocks, with scales as integers of one unit for each output channel (ir/block_scales.h). */
static qn_status
block_elem(const transform *t, const qn_node *n, const qn_node *w, const qn_blocks *blocks,
	   const qn_elem **out)
{
	qn_elem d = qn_elem_desc(weight_bits(t), true);
	int64_t shape[QN_MAX_RANK];

	d.qmin++;
	d.gran = QN_SUB_CHANNEL;
	d.naxis = w->type->rank;
	d.axis = blocks->axis;
	d.block = blocks->block;
	d.partial = blocks->partial;
	for (int32_t k = 0; k < w->type->rank; k++)
		shape[k] = (w->type->dim[k] + blocks->block[k] - 1) / blocks->block[k];
	QN_TRY(with_scales(t, w, d, (size_t)blocks->n, shape, NULL, out));
	const qn_type *groups = qn_type_with_elem(&t->m->types, w->type, *out);
	double *scale = group_scales(t, w, groups, (size_t)blocks->n);
	if (n->op != QN_OP_matmul) /* whose columns are turned first */
		qn_block_scales_make(groups, (size_t)blocks->n, scale);
	return with_scales(t, w, d, (size_t)blocks->n, shape, scale, out);
}

qn_status
qn_transform_weights(const transform *t, const qn_node *n, const qn_node *w, const qn_elem **out)
{
	const int32_t axis = weight_axis(t, n);
	qn_elem d = qn_elem_desc(weight_bits(t), true);
	qn_blocks blocks;

	if (weight_blocks(t, n, &blocks))
		return block_elem(t, n, w, &blocks, out);
	d.qmin++;
	d.scale = qn_scale_const(&t->m->types, 1);
	QN_TRY(qn_elem_make(&t->m->types, w->name, &d, out));
	if (axis < 0) {
		d.scale = qn_scale_const(
			&t->m->types,
			group_scales(t, w, qn_type_with_elem(&t->m->types, w->type, *out), 1)[0]);
		return qn_elem_make(&t->m->types, w->name, &d, out);
	}
	const size_t count = (size_t)w->type->dim[axis];
	d.gran = QN_PER_AXIS;
	d.naxis = 1;
	d.axis = &axis;
	QN_TRY(with_scales(t, w, d, count, NULL, NULL, out));
	return with_scales(
		t, w, d, count, NULL,
		group_scales(t, w, qn_type_with_elem(&t->m->types, w->type, *out), count), out);
}
