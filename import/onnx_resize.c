/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_resize.c - Resize and Upsample.
 *
 *   over axes 2 and 3 as TFLite has it     transpose, resize_nearest or resize_bilinear, transpose
 *   nearest, otherwise                     gather along each axis
 *   linear, cubic, smoothed, cropped       along each axis a product with a constant matrix */
#include "import/onnx_resize.h"
#include "import/onnx_write_op.h"

#include <math.h>
#include <string.h>

#include "ir/buf.h"
#include "ir/diag.h"

enum { MOST_OUT = 1 << 24 }; /* elements of the result along an axis */

typedef struct job {
	qn_resize r;
	qn_resize_axis axis[QN_MAX_RANK];
	int32_t rank;
} job;

/* ---- what the node says ---- */

static bool
read_kind(qn_onnx *o, const qn_onnx_node *n, qn_resize *r)
{
	static const char *const kinds[] = {"nearest", "linear", "cubic"};
	static const char *const places[QN_NPLACE] = {
		"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
		"asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
	static const char *const rounds[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
					     "ceil"};
	bool old = n->version < 11; /* Upsample, and Resize before it had these attributes */
	int32_t kind = strcmp(qn_onnx_string(o, n, "mode", "nearest"), "bilinear") == 0
			       ? QN_RESIZE_LINEAR
			       : qn_onnx_choice(o, n, "mode", "nearest", QN_COUNT(kinds), kinds);
	int32_t place = qn_onnx_choice(o, n, "coordinate_transformation_mode",
				       old ? "asymmetric" : "half_pixel", QN_NPLACE, places);
	int32_t rounding = old ? QN_ROUND_OLD
			       : qn_onnx_choice(o, n, "nearest_mode", "round_prefer_floor",
						QN_COUNT(rounds), rounds);

	*r = (qn_resize){.kind = (qn_resize_kind)kind,
			 .place = (qn_resize_position)place,
			 .round = (qn_resize_round)rounding,
			 .cubic_a = qn_onnx_float(o, n, "cubic_coeff_a", -0.75),
			 .outside = qn_onnx_float(o, n, "extrapolation_value", 0),
			 .exclude_outside = qn_onnx_int(o, n, "exclude_outside", 0) != 0,
			 .antialias = qn_onnx_int(o, n, "antialias", 0) != 0};
	return kind >= 0 && place >= 0 && rounding >= 0;
}

/* Numbers of a constant input: how many, 0 when it is left out or empty, -1 after a report. */
static int32_t
reals(qn_onnx *o, const qn_onnx_node *n, uint32_t i, int32_t most, double *v)
{
	qn_id x = qn_onnx_in(n, i);
	const qn_tensor *value = qn_importer_known(&o->im, x);

	if (x == 0 || qn_type_count(qn_onnx_type(o, x)) == 0)
		return 0;
	if (value == NULL || qn_type_count(value->type) > most) {
		(void)qn_importer_refuse(&o->im, value == NULL ? "import.constant" : "import.input",
					 "input %u must be a constant of at most %d numbers", i,
					 (int)most);
		return -1;
	}
	for (int64_t k = 0; k < qn_type_count(value->type); k++)
		v[k] = qn_tensor_f64(value, k);
	return (int32_t)qn_type_count(value->type);
}

/* Which axes the lists are about: all, or those of the attribute. */
static int32_t
read_axes(qn_onnx *o, const qn_onnx_node *n, int32_t rank, int32_t *axes)
{
	int64_t given[QN_MAX_RANK] = {0};
	int32_t count = qn_onnx_has(o, n, "axes") ? qn_onnx_ints(o, n, "axes", rank, given) : rank;

	for (int32_t i = 0; i < count; i++) {
		axes[i] = i;
		if (qn_onnx_has(o, n, "axes") && !qn_onnx_axis(o, given[i], rank, &axes[i]))
			return -1;
	}
	return count;
}

/* One scale for all axes: the smallest or the largest of those that the sizes ask for. */
static void
keep_ratio(qn_onnx *o, const qn_onnx_node *n, int32_t count, const int32_t *axes, job *j)
{
	const char *policy = qn_onnx_string(o, n, "keep_aspect_ratio_policy", "stretch");
	bool smaller = strcmp(policy, "not_larger") == 0;
	double scale = 0;

	if (!smaller && strcmp(policy, "not_smaller") != 0)
		return;
	for (int32_t i = 0; i < count; i++) {
		double s = j->axis[axes[i]].scale;
		if (i == 0 || (smaller ? s < scale : s > scale))
			scale = s;
	}
	for (int32_t i = 0; i < count; i++) {
		qn_resize_axis *a = &j->axis[axes[i]];
		double out = floor(scale * (double)a->in + 0.5);

		a->scale = scale;
		a->out = out <= MOST_OUT ? (int64_t)out : 0; /* 0 is refused */
	}
}

/* For a message. */
static double
rounded(double v)
{
	return floor(1e4 * v + 0.5) / 1e4;
}

/* Corners are aligned for a length of scale * in, as ONNX's own tests have it; PyTorch and ONNX Runtime take the length
 * of the result, which is whole. */
static void
warn_of_corners(qn_onnx *o, const job *j)
{
	for (int32_t i = 0; j->r.place == QN_PLACE_ALIGN_CORNERS && i < j->rank; i++) {
		const qn_resize_axis *a = &j->axis[i];
		const double length = a->scale * (double)a->in, whole = (double)a->out;

		if (a->in > 1 && a->out > 1 && fabs(length - whole) > 1e-3)
			qn_warn(o->im.m->env, "import.corners", qn_importer_place(&o->im),
				"corners are aligned for %lld * %g = %g elements, as ONNX defines "
				"it, where PyTorch and ONNX Runtime align them for %lld; positions "
				"differ by up to %g: give sizes instead of scales, [.., %lld, ..]",
				(long long)a->in, rounded(a->scale), rounded(length),
				(long long)a->out,
				rounded((double)(a->in - 1) * fabs((whole - 1) / (length - 1) - 1)),
				(long long)a->out);
	}
}

/* Numbers that the lists give for the axes; false after a report. */
static bool
read_sizes(qn_onnx *o, const qn_onnx_node *n, job *j)
{
	bool first = n->version < 11 && n->nin < 3; /* x, scales */
	double scales[QN_MAX_RANK], sizes[QN_MAX_RANK], roi[2 * QN_MAX_RANK];
	int32_t axes[QN_MAX_RANK], count = read_axes(o, n, j->rank, axes);
	int32_t nscale = n->nin == 1 ? qn_onnx_floats(o, n, "scales", QN_MAX_RANK, scales)
				     : reals(o, n, first ? 1 : 2, QN_MAX_RANK, scales);
	int32_t nsize = first ? 0 : reals(o, n, 3, QN_MAX_RANK, sizes);
	int32_t nroi = j->r.place == QN_PLACE_TF_CROP ? reals(o, n, 1, 2 * QN_MAX_RANK, roi) : 0;

	if (count < 0 || nscale < 0 || nsize < 0 || nroi < 0)
		return false;
	bool by_size = nsize == count && nscale == 0;
	bool ok = by_size || (nscale == count && nsize == 0);
	for (int32_t i = 0; ok && i < count; i++) {
		qn_resize_axis *a = &j->axis[axes[i]];
		double s = by_size ? sizes[i] / (double)a->in : scales[i];
		double out = by_size ? sizes[i] : floor((double)((float)a->in * (float)s));
		ok = s > 0 && out >= 1 && out <= MOST_OUT;
		if (!ok)
			break;
		a->out = (int64_t)out;
		a->scale = s;
		if (nroi == 2 * count) {
			a->begin = roi[i];
			a->end = roi[count + i];
		}
	}
	if (ok && !by_size)
		warn_of_corners(o, j);
	if (ok && by_size)
		keep_ratio(o, n, count, axes, j);
	for (int32_t i = 0; ok && i < count; i++) {
		ok = j->axis[axes[i]].out >= 1;
		if (j->axis[axes[i]].out != j->axis[axes[i]].in &&
		    !qn_importer_take(&o->im, 16 * (uint64_t)j->axis[axes[i]].out))
			return false; /* each position is computed separately */
	}
	if (!ok)
		(void)qn_importer_refuse(&o->im, "import.input",
					 "scales or sizes must be given, one per axis, and the "
					 "result must have elements");
	return ok;
}

/* ---- as one operator ---- */

/* Whether the positions are those of the operator's mode, whose scale is out / in. */
static bool
fits_mode(const job *j, int32_t mode)
{
	static const qn_resize_position places[] = {QN_PLACE_HALF_PIXEL, QN_PLACE_ALIGN_CORNERS,
						    QN_PLACE_ASYMMETRIC};
	qn_resize like = {.kind = j->r.kind, .place = places[mode]};
	bool outside;

	for (int32_t k = 2; k < 4; k++) {
		qn_resize_axis a = j->axis[k];
		a.scale = (double)a.out / (double)a.in;
		for (int64_t i = 0; i < a.out; i++) {
			double at = qn_resize_at(&j->r, &j->axis[k], i, &outside);
			double there = qn_resize_at(&like, &a, i, &outside);
			if (j->r.kind == QN_RESIZE_LINEAR) {
				if (fabs(at - there) > 1e-5)
					return false;
				continue;
			}
			/* TFLite rounds down; with aligned corners to the nearest, up. */
			like.round = mode == QN_COORDINATES_align_corners ? QN_ROUND_PREFER_CEIL
									  : QN_ROUND_FLOOR;
			if (mode == QN_COORDINATES_half_pixel)
				like.place = QN_PLACE_TF_HALF_PIXEL_NN;
			if (qn_resize_index(&j->r, &j->axis[k], i) != qn_resize_index(&like, &a, i))
				return false;
		}
	}
	return true;
}

/* 0: it is not a supported image operator. */
static qn_id
as_image(qn_onnx *o, qn_id x, const job *j)
{
	qn_op op = j->r.kind == QN_RESIZE_NEAREST ? QN_OP_resize_nearest : QN_OP_resize_bilinear;
	qn_attrs a = qn_importer_attrs(op);

	if (j->rank != 4 || j->r.kind == QN_RESIZE_CUBIC || j->r.antialias ||
	    j->r.exclude_outside || j->r.place == QN_PLACE_TF_CROP ||
	    j->axis[0].out != j->axis[0].in || j->axis[1].out != j->axis[1].in)
		return 0;
	a.resize.size[0] = j->axis[2].out;
	a.resize.size[1] = j->axis[3].out;
	for (a.resize.mode = 0; a.resize.mode < 3; a.resize.mode++)
		if (fits_mode(j, a.resize.mode)) {
			x = qn_importer_channels_last(&o->im, x);
			return qn_importer_channels_first(
				&o->im, qn_importer_op(&o->im, op, 1, &x, &a, NULL));
		}
	return 0;
}

/* ---- along one axis ---- */

static qn_id
pick(qn_onnx *o, qn_id x, int32_t axis, const qn_resize *r, const qn_resize_axis *along)
{
	int64_t *index = QN_NEW(o->im.scratch, int64_t, (size_t)along->out);
	qn_attrs a = {0};

	for (int64_t i = 0; i < along->out; i++)
		index[i] = qn_resize_index(r, along, i);
	a.gather.axis = axis;
	qn_id in[] = {x, qn_importer_i64s(&o->im, (int32_t)along->out, index)};
	return qn_importer_op(&o->im, QN_OP_gather, 2, in, &a, NULL);
}

/* The matrix [out, in], and in `outside` 1 for each row that has no weights. */
static float *
weights(qn_onnx *o, const qn_resize *r, const qn_resize_axis *along, float *outside, bool *any)
{
	size_t in = (size_t)along->in;
	float *m = QN_NEW(o->im.scratch, float, (size_t)along->out *in);
	double *row = QN_NEW(o->im.scratch, double, in);

	for (int64_t i = 0; i < along->out; i++) {
		memset(row, 0, in * sizeof *row);
		outside[i] = qn_resize_row(r, along, i, row) ? 0 : 1;
		*any = *any || outside[i] > 0;
		for (size_t k = 0; outside[i] <= 0 && k < in; k++)
			m[(size_t)i * in + k] = (float)row[k];
	}
	return m;
}

static qn_id
f32_const(qn_onnx *o, int32_t rank, const int64_t *dim, const float *v)
{
	const qn_type *type = qn_type_plain(&o->im.m->types, QN_PLAIN_f32, rank, dim);

	return qn_importer_const(&o->im, NULL, qn_tensor_of(o->im.m->arena, type, v));
}

/* x as [before, in, after]; the matrix times each of its matrices. */
static qn_id
mix(qn_onnx *o, qn_id x, int32_t axis, const qn_resize *r, const qn_resize_axis *along)
{
	const qn_type *t = qn_onnx_type(o, x);
	int64_t three[3] = {1, along->in, 1}, result[QN_MAX_RANK];
	bool any = false;

	/* The matrix as it is made and as a constant; bounded, so that no product overflows. */
	if (along->in > INT32_MAX || along->out > INT32_MAX ||
	    !qn_importer_take(&o->im, 8 * (uint64_t)along->in * (uint64_t)along->out))
		return 0;
	for (int32_t i = 0; i < t->rank; i++) {
		three[i < axis ? 0 : i == axis ? 1 : 2] *= i == axis ? 1 : t->dim[i];
		result[i] = i == axis ? along->out : t->dim[i];
	}
	int32_t rank = t->rank;
	float *outside = QN_NEW(o->im.scratch, float, (size_t)along->out);
	float *m = weights(o, r, along, outside, &any);
	qn_id w = f32_const(o, 2, (int64_t[]){along->out, along->in}, m);
	x = qn_importer_reshape(&o->im, x, 3, three);
	x = qn_importer_binary(&o->im, QN_OP_matmul, w, x);
	for (int64_t i = 0; any && i < along->out; i++)
		outside[i] *= (float)r->outside;
	if (any)
		x = qn_importer_binary(&o->im, QN_OP_add, x,
				       f32_const(o, 2, (int64_t[]){along->out, 1}, outside));
	return qn_importer_reshape(&o->im, x, rank, result);
}

/* As f32, and back: quantized values keep their parameters, integers are cut off. */
static qn_id
real_of(qn_onnx *o, qn_id x)
{
	return qn_elem_is_quant(qn_onnx_type(o, x)->elem)
		       ? qn_importer_op_unfolded(&o->im, QN_OP_dequantize, 1, &x, NULL, NULL)
		       : qn_importer_cast(&o->im, x, QN_PLAIN_f32);
}

static qn_id
stored_as(qn_onnx *o, qn_id x, const qn_elem *e)
{
	if (x == 0 || !qn_elem_is_quant(e))
		return qn_importer_cast(&o->im, x, e->plain);
	return qn_importer_op_unfolded(&o->im, QN_OP_quantize, 1, &x, NULL,
				       qn_type_with_elem(&o->im.m->types, qn_onnx_type(o, x), e));
}

static void
resize(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	job j = {0};

	if (!qn_onnx_need(o, n, 1) || !read_kind(o, n, &j.r))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	j.rank = t->rank;
	for (int32_t i = 0; i < t->rank; i++)
		j.axis[i] = (qn_resize_axis){t->dim[i], t->dim[i], 1, 0, 1};
	if (qn_type_count(t) == 0) {
		(void)qn_importer_refuse(&o->im, "import.input", "its input has no elements");
		return;
	}
	if (!read_sizes(o, n, &j))
		return;
	bool pick_only = j.r.kind == QN_RESIZE_NEAREST && j.r.place != QN_PLACE_TF_CROP;
	qn_id x = pick_only ? n->in[0] : real_of(o, n->in[0]);
	qn_id image = as_image(o, x, &j);
	for (int32_t i = 0; image == 0 && i < j.rank && x != 0; i++) {
		const qn_resize_axis *a = &j.axis[i];
		bool whole = a->begin <= 0 && a->begin >= 0 && a->end <= 1 && a->end >= 1;
		if (a->out == a->in && fabs(a->scale - 1) < 1e-9 &&
		    (whole || j.r.place != QN_PLACE_TF_CROP))
			continue;
		x = pick_only ? pick(o, x, i, &j.r, a) : mix(o, x, i, &j.r, a);
	}
	x = image != 0 ? image : x;
	out[0] = pick_only ? x : stored_as(o, x, t->elem);
}

const qn_onnx_row qn_onnx_resizes[] = {
	QN_ONNX_BOTH("Resize", 10, resize, qn_onnx_write_resize, 0, FIRST, QN_OP_resize_nearest,
		     QN_OP_resize_bilinear),
	{.domain = "", .op = "Upsample", .min = 7, .max = 9, .read = resize},
	{0},
};
