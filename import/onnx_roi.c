/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_roi.c - RoiAlign(x [N,C,H,W], boxes [R,4], image indices [R]) with constant boxes: means of samples
 * between the elements.  Samples are in rows and columns, so that both directions are products with
 * constant matrices:
 *
 *   y[r] = a[r] [h,H]  x[image of r] [C,H,W]  b[r] [W,w] */
#include "import/onnx.h"

#include <math.h>

typedef struct boxes {
	const qn_tensor *box, *picture;
	int64_t n;
	double scale;
	int64_t samples; /* in each direction of a cell; 0: one for each element of it */
	bool half_pixel;
} boxes;

/* Begin and length of box r along an axis, 0: y. */
static double
extent(const boxes *b, int64_t r, int axis, double *length)
{
	double offset = b->half_pixel ? 0.5 : 0;
	double from = qn_tensor_f64(b->box, r * 4 + (axis == 0 ? 1 : 0)) * b->scale - offset;
	double to = qn_tensor_f64(b->box, r * 4 + (axis == 0 ? 3 : 2)) * b->scale - offset;

	*length = to - from;
	if (!b->half_pixel && !(*length >= 1))
		*length = 1;
	return from;
}

/* Adds to row[size] the weights of a sample; none where it lies more than an element outside. */
static void
add_sample(double *row, int64_t size, double at, double weight)
{
	if (!(at >= -1 && at <= (double)size))
		return;
	at = at < 0 ? 0 : at;
	int64_t low = (int64_t)at;
	if (low >= size - 1) {
		row[size - 1] += weight;
		return;
	}
	row[low] += weight * (1 - (at - (double)low));
	row[low + 1] += weight * (at - (double)low);
}

/* The weights of `cells` cells of box r over an axis of this size, into row k * size …; false after a report. */
static bool
add_cells(qn_onnx *o, const boxes *b, int64_t r, int axis, int64_t cells, int64_t size,
	  double *rows)
{
	double length, from = extent(b, r, axis, &length), cell = length / (double)cells;
	double count = b->samples > 0 ? (double)b->samples : ceil(cell);

	if (!(fabs(from) < 1e9 && fabs(length) < 1e9 && count <= 4096)) {
		(void)qn_importer_refuse(&o->im, "import.input",
					 "box %lld begins at %g, is %g long and has %g samples",
					 (long long)r, from, length, count);
		return false;
	}
	if (count > 0 && !qn_importer_may_compare(&o->im, (uint64_t)cells * (uint64_t)count))
		return false;
	for (int64_t k = 0; k < cells; k++)
		for (int64_t i = 0; i < (int64_t)count; i++)
			add_sample(rows + k * size, size,
				   from + (double)k * cell + ((double)i + 0.5) * cell / count,
				   1 / count);
	return true;
}

/* [R,1,cells,size], or transposed; 0 after a report. */
static qn_id
matrices(qn_onnx *o, const boxes *b, int axis, int64_t cells, int64_t size)
{
	int64_t dim[] = {b->n, 1, axis == 0 ? cells : size, axis == 0 ? size : cells};
	void *data;

	const qn_type *type = qn_type_plain(&o->im.m->types, QN_PLAIN_f32, 4, dim);
	if (!qn_importer_dims_fit(4, dim) || !qn_importer_take_type(&o->im, type) ||
	    !qn_importer_take(&o->im, (uint64_t)(cells * size) * sizeof(double)))
		return 0;
	qn_tensor *x = qn_tensor_new(o->im.m->arena, type, &data);
	double *rows = QN_NEW(o->im.scratch, double, (size_t)(cells * size) + 1);
	for (int64_t r = 0; r < b->n; r++) {
		for (int64_t i = 0; i < cells * size; i++)
			rows[i] = 0;
		if (!add_cells(o, b, r, axis, cells, size, rows))
			return 0;
		for (int64_t i = 0; i < cells * size; i++)
			qn_store_f64(data, QN_PLAIN_f32,
				     r * cells * size +
					     (axis == 0 ? i : i % size * cells + i / size),
				     rows[i]);
	}
	return qn_importer_const(&o->im, NULL, x);
}

static bool
boxes_ok(qn_onnx *o, const qn_onnx_node *n, boxes *b)
{
	const qn_type *x = qn_onnx_type(o, n->in[0]), *t = qn_onnx_type(o, n->in[1]);

	b->box = qn_importer_known(&o->im, n->in[1]);
	b->picture = qn_importer_known(&o->im, n->in[2]);
	if (b->box == NULL || b->picture == NULL) {
		(void)qn_importer_refuse(&o->im, "import.constant",
					 "boxes and the indices of their images must be constants");
		return false;
	}
	b->n = t->rank == 2 ? t->dim[0] : 0;
	bool ok = x->rank == 4 && b->n > 0 && t->dim[1] == 4 && x->dim[2] > 0 && x->dim[3] > 0 &&
		  qn_type_count(b->picture->type) == b->n;
	for (int64_t i = 0; ok && i < b->n; i++) {
		int64_t k = qn_tensor_i64(b->picture, i);
		ok = k >= 0 && k < x->dim[0];
	}
	if (!ok)
		(void)qn_importer_refuse(
			&o->im, "import.input",
			"its inputs must be [N, C, H, W], boxes [R, 4] and [R] indices of images");
	return ok;
}

static void
roi_align(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	static const char *const modes[] = {"avg"}, *const places[] = {"half_pixel",
								       "output_half_pixel"};
	qn_importer *im = &o->im;
	qn_attrs a = {0};
	bool old = n->version < 16;
	boxes b = {.scale = qn_onnx_float(o, n, "spatial_scale", 1),
		   .samples = qn_onnx_int(o, n, "sampling_ratio", 0)};
	int32_t mode = qn_onnx_choice(o, n, "mode", "avg", QN_COUNT(modes), modes);
	int32_t place = qn_onnx_choice(o, n, "coordinate_transformation_mode", places[old],
				       QN_COUNT(places), places);
	int64_t high = qn_onnx_int(o, n, "output_height", 1);
	int64_t wide = qn_onnx_int(o, n, "output_width", 1);

	if (mode < 0 || place < 0 || !qn_onnx_need(o, n, 3) || !boxes_ok(o, n, &b))
		return;
	if (high < 1 || wide < 1 || high > 4096 || wide > 4096) {
		(void)qn_importer_refuse(im, "import.attr", "a result of %lld by %lld",
					 (long long)high, (long long)wide);
		return;
	}
	b.half_pixel = place == 0;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	qn_id x = qn_importer_op(im, QN_OP_gather, 2, (qn_id[]){n->in[0], n->in[2]}, &a, NULL);
	qn_id rows = matrices(o, &b, 0, high, t->dim[2]);
	qn_id columns = rows != 0 ? matrices(o, &b, 1, wide, t->dim[3]) : 0;
	x = qn_importer_binary(im, QN_OP_matmul, rows, x);
	out[0] = qn_importer_binary(im, QN_OP_matmul, x, columns);
}

const qn_onnx_row qn_onnx_rois[] = {
	QN_ONNX_READ("", "RoiAlign", 10, roi_align, 0),
	{0},
};
