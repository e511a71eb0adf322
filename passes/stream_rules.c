/* SPDX-License-Identifier: Apache-2.0 */
/* stream_rules.c - how the rows of an op's result follow from those of its operands.
 *
 *   conv2d, max_pool, pad, slice …     rows i * stride - before … (qn_reads)
 *   softmax, concat, transpose …       the same rows, maybe on another axis
 *   flatten, reduce_mean over them     none: it follows from the whole window */
#include "ir/reduce.h"
#include "ir/slice.h"
#include "ir/window.h"
#include "passes/stream_flow.h"

/* Element by element of the first operand; the others have other elements. */
static bool
of_data(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	return qn_flow_only_data(s, n) && qn_flow_same(x, x->axis, out);
}

/* ---- products and windows ---- */

static bool
global_pool(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	(void)s;
	return x->axis > 0 && x->axis < n->type->rank - 1 ? qn_flow_from_window(out)
							  : qn_flow_same(x, x->axis, out);
}

static bool
dense(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	if (!qn_flow_only_data(s, n))
		return false;
	return x->axis == qn_flow_type(s, n, 0)->rank - 1 ? qn_flow_from_window(out)
							  : qn_flow_same(x, x->axis, out);
}

static bool
matmul(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const int32_t rank = qn_flow_type(s, n, 0)->rank, more = n->type->rank - rank;
	const bool turned = n->attr->matmul.transpose_a != 0;

	if (!qn_flow_only_data(s, n))
		return false;
	if (rank < 2 || x->axis == (turned ? rank - 2 : rank - 1))
		return qn_flow_from_window(out);
	if (x->axis < rank - 2 && !qn_flow_has_no_rows(s, n, 1, x->axis + more))
		return false;
	return qn_flow_same(x, more + (x->axis == rank - 1 ? rank - 2 : x->axis), out);
}

static bool
features(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const qn_attrs_mfcc *a = &n->attr->mfcc;

	if (x->axis != qn_flow_type(s, n, 0)->rank - 1)
		return qn_flow_same(x, x->axis, out);
	return qn_flow_windows(s, n, x, (qn_reads){a->hop, 0, a->window}, n->type->dim[x->axis],
			       out);
}

/* The noise of a frame follows from all frames before it.  A graph that takes the noise as an operand has no window. */
static bool
noisy_features(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	if (!qn_flow_only_data(s, n))
		return false;
	if (x->axis != qn_flow_type(s, n, 0)->rank - 1)
		return qn_flow_same(x, x->axis, out);
	return qn_flow_all_rows(s, n,
				"its noise reduction reads all frames before each (a network that "
				"takes the features of a hop streams with --front-end "
				"log_mel:stream)");
}

/* ---- along an axis ---- */

static int32_t
counted(int64_t axis, int32_t rank)
{
	return (int32_t)(axis < 0 ? axis + rank : axis);
}

static bool
is_top_k(const qn_node *n)
{
	return n->op == QN_OP_top_k || n->op == QN_OP_top_k_indices;
}

/* softmax, cumsum and others that compute along one axis. */
static bool
along_axis(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const int64_t axis = n->op == QN_OP_cumsum    ? n->attr->cumsum.axis
			     : n->op == QN_OP_l2_norm ? n->attr->l2_norm.axis
			     : is_top_k(n)            ? n->attr->top_k.axis
						      : n->attr->axis.axis;

	return counted(axis, qn_flow_type(s, n, 0)->rank) == x->axis
		       ? qn_flow_all_rows(s, n, "it computes along the rows")
		       : qn_flow_same(x, x->axis, out);
}

/* layer_norm and rms_norm: from an axis to the last one. */
static bool
from_axis(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	if (!qn_flow_only_data(s, n))
		return false;
	return x->axis >= counted(n->attr->layer_norm.axis, n->type->rank)
		       ? qn_flow_all_rows(s, n, "it normalizes over the rows")
		       : qn_flow_same(x, x->axis, out);
}

static bool
reduce(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const qn_attrs_reduce *a = &n->attr->reduce;
	const uint32_t mask = qn_reduce_mask(&a->axes, qn_flow_type(s, n, 0)->rank);
	int32_t before = 0;

	if ((mask >> x->axis & 1) != 0)
		return qn_flow_from_window(out);
	for (int32_t i = 0; i < x->axis; i++)
		before += (mask >> i & 1) != 0;
	return qn_flow_same(x, x->axis - (a->keepdims != 0 ? 0 : before), out);
}

static bool
argmax(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const qn_attrs_argmax *a = &n->attr->argmax;
	const int32_t axis = counted(a->axis, qn_flow_type(s, n, 0)->rank);

	if (axis == x->axis)
		return qn_flow_from_window(out);
	return qn_flow_same(x, x->axis - (a->keepdims == 0 && axis < x->axis ? 1 : 0), out);
}

static bool
concat(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	if (!qn_flow_elementwise(s, n, x, out))
		return false;
	return counted(n->attr->axis.axis, n->type->rank) != out->axis ||
	       qn_flow_all_rows(s, n, "it puts rows after rows");
}

static bool
split(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	return counted(n->attr->split.axis, qn_flow_type(s, n, 0)->rank) == x->axis
		       ? qn_flow_all_rows(s, n, "it splits the rows")
		       : qn_flow_same(x, x->axis, out);
}

/* ---- moves ---- */

static bool
transpose(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	int32_t axis = 0;

	(void)s;
	while (n->attr->perm.perm.v[axis] != x->axis)
		axis++;
	return qn_flow_same(x, axis, out);
}

/* The axis of the result with the same elements before it takes the rows, or groups of them; where they are put together
 * with other elements, the result follows from the window. */
static bool
reshape(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const qn_type *t = qn_flow_type(s, n, 0);
	int64_t want = 1, before = 1, each = 0;

	for (int32_t i = 0; i < x->axis; i++)
		want *= t->dim[i];
	for (int32_t i = 0; i < n->type->rank && before <= want; i++) {
		const int64_t dim = n->type->dim[i];

		if (before == want && dim > 1) {
			if (x->n % dim != 0)
				break;
			each = x->n / dim;
			if (!qn_flow_windows(s, n, x, (qn_reads){each, 0, each}, dim, out))
				return false;
			out->axis = i;
			return true;
		}
		before *= dim;
	}
	return qn_flow_from_window(out);
}

static bool
slice(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const qn_attrs_slice *a = &n->attr->slice;
	const int64_t step = qn_slice_step(a, x->axis);
	int64_t first, count;

	qn_slice_resolve(x->n, a->begin.v[x->axis], a->end.v[x->axis], step, &first, &count);
	if (step < 0)
		return qn_flow_all_rows(s, n, "it reverses the rows");
	return qn_flow_windows(s, n, x, (qn_reads){step, -first, 1}, count, out);
}

static bool
reverse(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const qn_list *axes = &n->attr->axes.axes;

	for (int32_t i = 0; i < axes->n; i++)
		if (counted(axes->v[i], n->type->rank) == x->axis)
			return qn_flow_all_rows(s, n, "it reverses the rows");
	return qn_flow_same(x, x->axis, out);
}

/* Along another axis, by indices that stay the same. */
static bool
gather(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const int32_t axis = counted(n->attr->gather.axis, qn_flow_type(s, n, 0)->rank);

	if (!qn_flow_only_data(s, n))
		return false;
	if (axis == x->axis)
		return qn_flow_all_rows(s, n, "it takes rows in another order");
	return qn_flow_same(x, axis < x->axis ? x->axis + qn_flow_type(s, n, 1)->rank - 1 : x->axis,
			    out);
}

/* Elements of rows by indices of the same rows. */
static bool
gather_elements(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	if (counted(n->attr->gather.axis, n->type->rank) == x->axis)
		return qn_flow_all_rows(s, n, "it takes rows in another order");
	return qn_flow_elementwise(s, n, x, out);
}

static bool
tile(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	return n->type->dim[x->axis] == x->n ? qn_flow_same(x, x->axis, out)
					     : qn_flow_all_rows(s, n, "it repeats the rows");
}

static bool
pad(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	const qn_attrs_pad *a = &n->attr->pad;
	const int64_t before = a->before.v[x->axis], after = a->after.v[x->axis];

	if (a->mode != QN_PAD_constant && (before != 0 || after != 0))
		return qn_flow_all_rows(s, n, "it pads with rows of the window");
	return qn_flow_windows(s, n, x, (qn_reads){1, before, 1}, x->n + before + after, out);
}

static bool
field(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	(void)s;
	(void)n;
	return qn_flow_same(x, x->axis, out);
}

static bool
scaled_at_once(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out)
{
	(void)x;
	(void)out;
	return qn_flow_all_rows(s, n, "its scales follow from the values of all rows (--dynamic)");
}

/* ---- the rules ---- */

qn_flow_fn *const qn_flow_rules[QN_NOP] = {
#define FUNCTION(name, attributes, behaviour, types, value, facts)                                 \
	[QN_OP_##name] = qn_flow_elementwise,
#include "ir/ops.def"
	[QN_OP_quantize] = qn_flow_elementwise,
	[QN_OP_dequantize] = qn_flow_elementwise,
	[QN_OP_requantize] = qn_flow_elementwise,
	[QN_OP_scast] = qn_flow_elementwise,
	[QN_OP_cast] = qn_flow_elementwise,
	[QN_OP_trace] = qn_flow_elementwise,
	[QN_OP_bias_add] = qn_flow_elementwise,
	[QN_OP_batch_norm] = qn_flow_elementwise,
	[QN_OP_add] = qn_flow_elementwise,
	[QN_OP_sub] = qn_flow_elementwise,
	[QN_OP_mul] = qn_flow_elementwise,
	[QN_OP_div] = qn_flow_elementwise,
	[QN_OP_mod] = qn_flow_elementwise,
	[QN_OP_floor_div] = qn_flow_elementwise,
	[QN_OP_minimum] = qn_flow_elementwise,
	[QN_OP_maximum] = qn_flow_elementwise,
	[QN_OP_squared_difference] = qn_flow_elementwise,
	[QN_OP_equal] = qn_flow_elementwise,
	[QN_OP_not_equal] = qn_flow_elementwise,
	[QN_OP_less] = qn_flow_elementwise,
	[QN_OP_less_equal] = qn_flow_elementwise,
	[QN_OP_greater] = qn_flow_elementwise,
	[QN_OP_greater_equal] = qn_flow_elementwise,
	[QN_OP_logical_and] = qn_flow_elementwise,
	[QN_OP_logical_or] = qn_flow_elementwise,
	[QN_OP_logical_xor] = qn_flow_elementwise,
	[QN_OP_logical_not] = qn_flow_elementwise,
	[QN_OP_where] = qn_flow_elementwise,
	[QN_OP_relu] = qn_flow_elementwise,
	[QN_OP_relu6] = qn_flow_elementwise,
	[QN_OP_clip] = qn_flow_elementwise,
	[QN_OP_clamp] = qn_flow_elementwise,
	[QN_OP_pow] = qn_flow_elementwise,
	[QN_OP_prelu] = qn_flow_elementwise,
	[QN_OP_table] = of_data,
	[QN_OP_get] = field,
	[QN_OP_conv1d] = qn_flow_convolution,
	[QN_OP_conv2d] = qn_flow_convolution,
	[QN_OP_conv3d] = qn_flow_convolution,
	[QN_OP_conv2d_transpose] = qn_flow_transposed,
	[QN_OP_resize_nearest] = qn_flow_resize,
	[QN_OP_resize_bilinear] = qn_flow_resize,
	[QN_OP_max_pool] = qn_flow_pool,
	[QN_OP_avg_pool] = qn_flow_pool,
	[QN_OP_max_pool3d] = qn_flow_pool,
	[QN_OP_avg_pool3d] = qn_flow_pool,
	[QN_OP_global_avg_pool] = global_pool,
	[QN_OP_dense] = dense,
	[QN_OP_matmul] = matmul,
	[QN_OP_mfcc] = features,
	[QN_OP_log_mel] = noisy_features,
	[QN_OP_softmax] = along_axis,
	[QN_OP_log_softmax] = along_axis,
	[QN_OP_cumsum] = along_axis,
	[QN_OP_l2_norm] = along_axis,
	[QN_OP_top_k] = along_axis,
	[QN_OP_top_k_indices] = along_axis,
	[QN_OP_layer_norm] = from_axis,
	[QN_OP_rms_norm] = from_axis,
	[QN_OP_reduce_mean] = reduce,
	[QN_OP_reduce_sum] = reduce,
	[QN_OP_reduce_max] = reduce,
	[QN_OP_reduce_min] = reduce,
	[QN_OP_reduce_prod] = reduce,
	[QN_OP_argmax] = argmax,
	[QN_OP_argmin] = argmax,
	[QN_OP_concat] = concat,
	[QN_OP_split] = split,
	[QN_OP_transpose] = transpose,
	[QN_OP_reshape] = reshape,
	[QN_OP_flatten] = reshape,
	[QN_OP_squeeze] = reshape,
	[QN_OP_expand_dims] = reshape,
	[QN_OP_slice] = slice,
	[QN_OP_pad] = pad,
	[QN_OP_reverse] = reverse,
	[QN_OP_gather] = gather,
	[QN_OP_gather_elements] = gather_elements,
	[QN_OP_tile] = tile,
	[QN_OP_dynamic_quantize] = scaled_at_once,
	[QN_OP_dynamic_fake_quant] = scaled_at_once,
};
