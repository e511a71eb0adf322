/* SPDX-License-Identifier: Apache-2.0 */
/* layout_quantizer_stored.c - quantizers as tensors of planes, as archives hold them.
 *
 *   StaticScaledQuantizer    scale, rscale, optional offset: one, or one for each index of an axis
 *                            dtype "int8", axis 0, disable_saturate true
 *   DynamicScaledQuantizer   no planes; dtype "int8" */
#include <math.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/layout_impl.h"
#include "ir/layout_quantizer.h"

static const qn_plane_row static_planes[] = {
	{.name = "scale"}, {.name = "rscale"}, {.name = "offset", .optional = true}};

static qn_status check(qn_env *env, const char *place, const qn_layout_tensor *t);

/* A quantizer has no values. */
static void
no_values(const qn_layout_tensor *t, float *out)
{
	(void)t;
	*out = NAN;
}

static const qn_layout_row rows[] = {
	{.name = "StaticScaledQuantizer",
	 .help = "scales that values are multiplied with",
	 .nplane = (int32_t)QN_COUNT(static_planes),
	 .plane = static_planes,
	 .check = check,
	 .dequant = no_values},
	{.name = "DynamicScaledQuantizer",
	 .help = "a scale from the values",
	 .check = check,
	 .dequant = no_values},
};

const qn_layout_row *
qn_quantizer_row(const char *name)
{
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

bool
qn_layout_is_quantizer(const qn_layout_tensor *t)
{
	return t->layout == &rows[0] || t->layout == &rows[1];
}

/* ---- reading ---- */

/* "int8" of the metadata; NULL: unknown or missing. */
static const qn_dtype *
dtype_of(const qn_layout_tensor *t)
{
	const char *json = qn_layout_meta(t, "dtype");
	char name[32] = {0};
	const size_t n = json != NULL ? strlen(json) : 0;

	if (n < 3 || n - 2 >= sizeof name || json[0] != '"')
		return NULL;
	memcpy(name, json + 1, n - 2);
	return qn_dtype_by_torch(name);
}

/* QN_NO_AXIS: there is none; QN_MAX_RANK: it is not one. */
static int32_t
axis_of(const qn_layout_tensor *t)
{
	const char *json = qn_layout_meta(t, "axis");
	const int32_t v = qn_layout_meta_int(t, "axis", QN_MAX_RANK - 1);

	return json == NULL || strcmp(json, "null") == 0 ? QN_NO_AXIS : v < 0 ? QN_MAX_RANK : v;
}

static qn_status
check_scales(qn_env *env, const char *place, const qn_layout_tensor *t)
{
	const int32_t axis = axis_of(t);

	for (int32_t i = 0; i < t->nplane; i++)
		if (t->plane[i].rank != (axis == QN_NO_AXIS ? 0 : 1) ||
		    t->plane[i].bytes / t->plane[i].dtype->bytes !=
			    t->plane[0].bytes / t->plane[0].dtype->bytes)
			return qn_report(env, QN_EINVALID, "layout.shape", place,
					 "plane '%s' of %s does not have one number%s",
					 t->plane[i].name, t->layout->name,
					 axis == QN_NO_AXIS ? "" : " for each index of the axis");
	return QN_OK;
}

static qn_status
check(qn_env *env, const char *place, const qn_layout_tensor *t)
{
	if (dtype_of(t) == NULL)
		return qn_report(env, QN_EINVALID, "layout.meta", place,
				 "metadata dtype is %s (expected \"int8\" or another type)",
				 qn_layout_meta(t, "dtype") != NULL ? qn_layout_meta(t, "dtype")
								    : "missing");
	if (axis_of(t) == QN_MAX_RANK)
		return qn_report(env, QN_EINVALID, "layout.meta", place,
				 "metadata axis is %s (expected 0 to 7)",
				 qn_layout_meta(t, "axis"));
	return check_scales(env, place, t);
}

static float *
numbers(qn_arena *a, const qn_plane *p)
{
	const int64_t n = qn_layout_count(p->rank, p->dim, 1);
	float *v = QN_NEW(a, float, (size_t)n + 1);

	for (int64_t i = 0; i < n; i++)
		v[i] = (float)qn_dtype_load(p->dtype, p->data, i);
	return v;
}

void
qn_quantizer_load(qn_arena *a, const qn_layout_tensor *t, qn_scaled_quantizer *out)
{
	const qn_plane *scale = qn_layout_plane(t, "scale"), *offset = qn_layout_plane(t, "offset");
	const char *flag = qn_layout_meta(t, "disable_saturate");

	*out = (qn_scaled_quantizer){.dtype = dtype_of(t),
				     .dynamic = scale == NULL,
				     .axis = axis_of(t),
				     .no_saturation = flag != NULL && strcmp(flag, "true") == 0};
	if (scale == NULL)
		return;
	out->n = qn_layout_count(scale->rank, scale->dim, 1);
	out->scale = numbers(a, scale);
	out->rscale = numbers(a, qn_layout_plane(t, "rscale"));
	if (offset == NULL)
		return;
	double *v = QN_NEW(a, double, (size_t)out->n + 1);
	for (int64_t i = 0; i < out->n; i++)
		v[i] = qn_dtype_load(offset->dtype, offset->data, i);
	out->offset = v;
}

/* ---- writing ---- */

static void
put(qn_arena *a, qn_layout_tensor *t, const char *name, const qn_dtype *dtype, int32_t rank,
    int64_t n, const float *v, const double *w)
{
	qn_plane *p = &t->plane[t->nplane++];
	uint8_t *data = QN_NEW(a, uint8_t, (size_t)n * dtype->bytes);

	for (int64_t i = 0; i < n; i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): one of both is there */
		qn_dtype_store(dtype, data, i, v != NULL ? (double)v[i] : w[i]);
	*p = (qn_plane){.name = name,
			.dtype = dtype,
			.rank = rank,
			.dim = {n},
			.data = data,
			.bytes = (size_t)n * dtype->bytes};
}

qn_layout_tensor
qn_quantizer_store(qn_arena *a, const qn_scaled_quantizer *q)
{
	const qn_dtype *f32 = qn_dtype_by_name("f32");
	const int32_t rank = q->axis == QN_NO_AXIS ? 0 : 1;
	qn_layout_tensor t = {.layout = &rows[q->dynamic ? 1 : 0]};
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "\"%s\"", q->dtype->torch);
	qn_layout_set_meta(&t, "dtype", qn_buf_str(&b));
	if (q->axis != QN_NO_AXIS) {
		qn_buf_init(&b, a);
		qn_buff(&b, "%d", q->axis);
		qn_layout_set_meta(&t, "axis", qn_buf_str(&b));
	}
	if (q->no_saturation)
		qn_layout_set_meta(&t, "disable_saturate", "true");
	if (q->dynamic)
		return t;
	float *rscale = QN_NEW(a, float, (size_t)q->n);
	for (int64_t i = 0; i < q->n; i++)
		rscale[i] = q->rscale != NULL ? q->rscale[i] : 1 / q->scale[i];
	put(a, &t, "scale", f32, rank, q->n, q->scale, NULL);
	put(a, &t, "rscale", f32, rank, q->n, rscale, NULL);
	if (q->offset != NULL)
		put(a, &t, "offset", q->dtype, rank, q->n, NULL, q->offset);
	return t;
}
