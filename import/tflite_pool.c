/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_pool.c - windows and resizes of images: AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D,
 * RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR. */
#include "import/tflite.h"

static void
pool_attrs(const qn_tfl_op *o, qn_attrs *a)
{
	bool same = qn_tfl_flag(o, 0, QN_TFL_PADDING_SAME) == QN_TFL_PADDING_SAME;

	qn_attrs_default(QN_ATTRS(pool), a);
	a->pool.padding = same ? QN_PADDING_same : QN_PADDING_valid;
	a->pool.stride[1] = qn_tfl_option(o, 1, 0);
	a->pool.stride[0] = qn_tfl_option(o, 2, 0);
	a->pool.kernel[1] = qn_tfl_option(o, 3, 0);
	a->pool.kernel[0] = qn_tfl_option(o, 4, 0);
}

static void
pool(qn_tfl_op *o)
{
	qn_attrs a;

	pool_attrs(o, &a);
	qn_tfl_set_activated(o, qn_tfl_node(o, o->op, &a), qn_tfl_flag(o, 5, QN_TFL_ACT_NONE));
}

/* The root of the mean of squares. */
static void
l2_pool_2d(qn_tfl_op *o)
{
	qn_attrs a;
	qn_id x = qn_importer_unary(o->im, QN_OP_square, qn_tfl_real(o, 0));

	pool_attrs(o, &a);
	x = qn_importer_op(o->im, QN_OP_avg_pool, 1, &x, &a, NULL);
	qn_tfl_set_activated(o, qn_importer_unary(o->im, QN_OP_sqrt, x),
			     qn_tfl_flag(o, 5, QN_TFL_ACT_NONE));
}

/* The options of RESIZE_BILINEAR begin with the size, which is an input now. */
static void
resize(qn_tfl_op *o)
{
	const uint32_t field = o->op == QN_OP_resize_bilinear ? 2 : 0;
	bool corners = qn_tfl_flag(o, field, 0) != 0, half = qn_tfl_flag(o, field + 1, 0) != 0;
	qn_attrs a = {0};
	int64_t size[2];
	int32_t n = qn_tfl_dims(o, 1, 1, 2, size);

	if (n < 0)
		return;
	if (n != 2 || (corners && half)) {
		(void)qn_importer_refuse(o->im, "import.attr",
					 "a size of %d numbers, must be 2; align_corners %d and "
					 "half_pixel_centers %d, must not both be set",
					 (int)n, corners, half);
		return;
	}
	a.resize.size[0] = size[0];
	a.resize.size[1] = size[1];
	a.resize.mode = corners ? QN_COORDINATES_align_corners
			: half  ? QN_COORDINATES_half_pixel
				: QN_COORDINATES_asymmetric;
	qn_id x = qn_tfl_result_is_quantized(o) ? o->in[0] : qn_tfl_real(o, 0);
	qn_tfl_set_result(o, 0, qn_tfl_op_of(o, o->op, 1, &x, &a));
}

const qn_tfl_row qn_tfl_pool_rows[] = {
	{QN_TFL_AVERAGE_POOL_2D, pool, QN_OP_avg_pool, 1, 1, 1, 0},
	{QN_TFL_MAX_POOL_2D, pool, QN_OP_max_pool, 1, 1, 1, 0},
	{QN_TFL_L2_POOL_2D, l2_pool_2d, 0, 1, 1, 1, 0},
	{QN_TFL_RESIZE_BILINEAR, resize, QN_OP_resize_bilinear, 2, 2, 1, 0},
	{QN_TFL_RESIZE_NEAREST_NEIGHBOR, resize, QN_OP_resize_nearest, 2, 2, 1, 0},
	{0},
};
