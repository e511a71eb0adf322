/* SPDX-License-Identifier: Apache-2.0 */
/* layout_quantizer.c - see layout_quantizer.h.
 *
 *   one scale      x / rscale + offset       a division, as in sharktank: narrow floats differ
 *   several        x * scale + offset
 *
 * in f32, rounded half to even after the offset is added, then saturated. */
#include "ir/layout_quantizer.h"

#include <math.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/layout_split.h"

/* Which scale an element takes: outer, index, inner. */
typedef struct groups {
	int64_t n, inner;
} groups;

static int64_t
group_of(const groups *g, int64_t i)
{
	return i / g->inner % g->n;
}

static bool
bad_scale(float v)
{
	return !isfinite(v) || v == 0.0F;
}

qn_status
qn_scaled_quantizer_check(qn_env *env, const char *place, const qn_scaled_quantizer *q)
{
	double min, max, epsilon;

	qn_dtype_range(q->dtype, &min, &max, &epsilon);
	if (q->dtype->plain == QN_PLAIN_bool || q->dtype->bytes > 4)
		return qn_report(env, QN_EINVALID, "quantizer.dtype", place,
				 "%s is not a type of quantized values (expected i8, u8, i16 … i32 "
				 "or a float type)",
				 q->dtype->name);
	if (q->dynamic && min == 0)
		return qn_report(env, QN_EINVALID, "quantizer.dtype", place,
				 "a dynamic scale is symmetric: %s is unsigned (expected i8 or "
				 "another signed or float type)",
				 q->dtype->name);
	if (q->axis < QN_NO_AXIS || q->block < 0 || (q->axis != QN_NO_AXIS && q->block > 0))
		return qn_report(env, QN_EINVALID, "quantizer.axis", place,
				 "axis %d with blocks of %lld (expected one of them)", q->axis,
				 (long long)q->block);
	if (!q->dynamic &&
	    (q->n < 1 || q->scale == NULL || (q->axis == QN_NO_AXIS && q->block == 0 && q->n != 1)))
		return qn_report(env, QN_EINVALID, "quantizer.scale", place,
				 "%lld scales without an axis (expected one, or the axis that they "
				 "belong to)",
				 (long long)q->n);
	for (int64_t i = 0; !q->dynamic && i < q->n; i++) {
		if (bad_scale(q->scale[i]) || (q->rscale != NULL && bad_scale(q->rscale[i])))
			return qn_report(env, QN_EINVALID, "quantizer.scale", place,
					 "the scale at index %lld is %g (expected a finite number "
					 "other than 0)",
					 (long long)i, (double)q->scale[i]);
		if (q->offset != NULL && !(q->offset[i] >= min && q->offset[i] <= max))
			return qn_report(env, QN_EINVALID, "quantizer.offset", place,
					 "offset %lld is %g, out of the range of %s", (long long)i,
					 q->offset[i], q->dtype->name);
	}
	return QN_OK;
}

static qn_status
find_groups(qn_env *env, const char *place, const qn_scaled_quantizer *q, const qn_layout_tensor *x,
	    groups *g)
{
	const int64_t n = qn_layout_elements(x);

	*g = (groups){.n = 1, .inner = n > 0 ? n : 1};
	if (q->axis >= x->rank)
		return qn_report(env, QN_EINVALID, "quantizer.axis", place,
				 "axis %d of a tensor with %d dimensions", q->axis, x->rank);
	if (q->block > 0 &&
	    (x->rank == 0 || x->rank >= QN_MAX_RANK || x->dim[x->rank - 1] % q->block != 0))
		return qn_report(env, QN_EINVALID, "quantizer.shape", place,
				 "rows of %lld elements are not a multiple of blocks of %lld",
				 x->rank == 0 ? 1LL : (long long)x->dim[x->rank - 1],
				 (long long)q->block);
	if (q->axis != QN_NO_AXIS) {
		g->n = x->dim[q->axis];
		g->inner = 1;
		for (int32_t i = q->axis + 1; i < x->rank; i++)
			g->inner *= x->dim[i];
	} else if (q->block > 0) {
		g->n = n / q->block;
		g->inner = q->block;
	}
	if (!q->dynamic && q->n != g->n)
		return qn_report(env, QN_EINVALID, "quantizer.shape", place,
				 "%lld scales for %lld of the tensor", (long long)q->n,
				 (long long)g->n);
	return QN_OK;
}

/* ---- dynamic scales ---- */

static void
find_scales(const qn_scaled_quantizer *q, const groups *g, const float *x, int64_t n, float *scale)
{
	double min, max, epsilon;

	qn_dtype_range(q->dtype, &min, &max, &epsilon);
	const float least = qn_dtype_is_float(q->dtype) ? (float)epsilon : 1e-6F;
	for (int64_t i = 0; i < n; i++) {
		float *s = &scale[group_of(g, i)];

		*s = fabsf(x[i]) > *s ? fabsf(x[i]) : *s;
	}
	for (int64_t k = 0; k < g->n; k++)
		scale[k] = (float)max / (scale[k] > least ? scale[k] : least);
}

/* ---- planes ---- */

static uint8_t *
add(qn_arena *a, qn_layout_tensor *t, const char *name, const qn_dtype *dtype, int32_t rank,
    const int64_t *dim)
{
	qn_plane *p = &t->plane[t->nplane++];

	*p = (qn_plane){.name = name, .dtype = dtype, .rank = rank};
	memcpy(p->dim, dim, sizeof p->dim);
	p->bytes = (size_t)qn_layout_count(rank, dim, dtype->bytes);
	uint8_t *data = QN_NEW(a, uint8_t, p->bytes);
	p->data = data;
	return data;
}

/* The shape of d, and of qs. */
static void
plane_dims(const qn_scaled_quantizer *q, const qn_layout_tensor *x, int32_t *d_rank, int64_t *d,
	   int64_t *qs)
{
	memcpy(qs, x->dim, sizeof x->dim);
	*d_rank = 0;
	if (q->block > 0) {
		qs[x->rank - 1] /= q->block;
		memcpy(d, qs, sizeof x->dim);
		qs[x->rank] = q->block;
		d[x->rank] = 1;
		*d_rank = x->rank + 1;
	} else if (q->axis != QN_NO_AXIS) {
		for (int32_t i = 0; i < x->rank; i++)
			d[i] = i == q->axis ? x->dim[i] : 1;
		*d_rank = x->rank;
	}
}

/* v as an integer of the range, or as the float type stores it. */
static qn_status
rounded(qn_env *env, const char *place, const qn_scaled_quantizer *q, int64_t i, float v,
	const double range[2], double *out)
{
	double r = qn_dtype_is_float(q->dtype) ? (double)v : (double)rintf(v);

	if (q->no_saturation && !(r >= range[0] && r <= range[1]))
		return qn_report(
			env, QN_EINVALID, "quantizer.range", place,
			"element %lld becomes %g, beyond the range of %s; allow saturation "
			"or use a larger type",
			(long long)i, r, q->dtype->name);
	r = r < range[0] ? range[0] : r;
	*out = r > range[1] ? range[1] : r;
	return QN_OK;
}

static const char *
source_dtype(qn_arena *a, const qn_layout_tensor *x)
{
	const qn_dtype *t = qn_layout_is_plain(x) && qn_dtype_is_float(x->plane[0].dtype)
				    ? x->plane[0].dtype
				    : qn_dtype_by_name("f32");
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "\"%s\"", t->torch);
	return qn_buf_str(&b);
}

static qn_status
fill(qn_env *env, qn_arena *a, const char *place, const qn_scaled_quantizer *q, const groups *g,
     const qn_layout_tensor *x, const float *v, qn_layout_tensor *out)
{
	const qn_dtype *f32 = qn_dtype_by_name("f32");
	const bool divide = g->n == 1 && !q->dynamic && q->axis == QN_NO_AXIS && q->block == 0;
	int64_t d_dim[QN_MAX_RANK] = {0}, qs_dim[QN_MAX_RANK] = {0};
	int32_t d_rank;
	double range[2], epsilon, stored = 0;

	qn_dtype_range(q->dtype, &range[0], &range[1], &epsilon);
	plane_dims(q, x, &d_rank, d_dim, qs_dim);
	uint8_t *d = add(a, out, "d", f32, d_rank, d_dim);
	uint8_t *qs = add(a, out, "qs", q->dtype, x->rank + (q->block > 0), qs_dim);
	uint8_t *m = q->offset == NULL
			     ? NULL
			     : add(a, out, "m", q->block > 0 ? f32 : q->dtype, d_rank, d_dim);
	for (int64_t k = 0; k < g->n; k++) {
		const float r = q->rscale != NULL ? q->rscale[k] : 1 / q->scale[k];

		qn_dtype_store(f32, d, k, (double)r);
		if (m != NULL && q->block > 0) /* of blocks: in units of values, and added */
			qn_dtype_store(f32, m, k, (double)(-(float)q->offset[k] * r));
		else if (m != NULL)
			qn_dtype_store(q->dtype, m, k, q->offset[k]);
	}
	for (int64_t i = 0; i < qn_layout_elements(x); i++) {
		const int64_t k = group_of(g, i);
		const float r = q->rscale != NULL ? q->rscale[k] : 1 / q->scale[k];
		const float product = divide ? v[i] / r : v[i] * q->scale[k];
		const float sum = q->offset != NULL ? product + (float)q->offset[k] : product;

		QN_TRY(rounded(env, place, q, i, sum, range, &stored));
		qn_dtype_store(q->dtype, qs, i, stored);
	}
	return QN_OK;
}

qn_status
qn_scaled_quantize(qn_env *env, qn_arena *a, const char *place, const qn_scaled_quantizer *q,
		   const qn_layout_tensor *x, qn_layout_tensor *out)
{
	const int64_t n = qn_layout_elements(x);
	qn_scaled_quantizer known = *q;
	groups g;

	QN_TRY(qn_scaled_quantizer_check(env, place, q));
	QN_TRY(find_groups(env, place, q, x, &g));
	if (!qn_layout_is_plain(x) && !qn_layout_is_split(x))
		qn_warn(env, "quantizer.again", place,
			"the tensor is quantized already (%s): it is dequantized first",
			x->layout->name);
	float *v = QN_NEW(a, float, (size_t)n);
	qn_layout_dequant(x, v);
	for (int64_t i = 0; i < n; i++)
		if (!isfinite(v[i]))
			return qn_report(env, QN_EINVALID, "layout.value", place,
					 "element %lld is %g: only finite values can be quantized",
					 (long long)i, (double)v[i]);
	if (q->dynamic) {
		float *scale = QN_NEW(a, float, (size_t)g.n);

		find_scales(q, &g, v, n, scale);
		known.scale = scale;
		known.n = g.n;
	}
	*out = (qn_layout_tensor){.rank = x->rank};
	memcpy(out->dim, x->dim, sizeof x->dim);
	QN_TRY(qn_layout_find(env, place, q->block > 0 ? "BlockScaledLayout" : "TensorScaledLayout",
			      &out->layout));
	if (q->block == 0)
		qn_layout_set_meta(out, "dtype", source_dtype(a, x));
	return fill(env, a, place, &known, &g, x, v, out);
}
