/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_quant.c - reals to codes and back.  The order of the steps is fixed here and nowhere
 * else:
 *
 *     x ── / scale ── round half to even ── + zero point ── clamp ──▶ code
 *     code ── - zero point (integers) ── to float ── * scale ──▶ x
 *
 * A scale that is a leaf divides and multiplies in f32, as every f32 program would; an
 * expression has a value in double, so the division or the product is made in double and rounded
 * once. */
#include <math.h>

#include "ir/tensor.h"

#define ROUND_LIMIT                                                                                \
	0x1p40 /* beyond every 32-bit range; keeps the sum with the zero point in int64 */

static int64_t
add_clamped(int64_t r, int64_t zp, int64_t qmin, int64_t qmax)
{
	int64_t q;

	if (zp > 0 && r > INT64_MAX - zp)
		q = INT64_MAX;
	else if (zp < 0 && r < INT64_MIN - zp)
		q = INT64_MIN;
	else
		q = r + zp;
	return q < qmin ? qmin : q > qmax ? qmax : q;
}

int64_t
qn_quantize_value(double x, double scale, bool leaf_f32, int64_t zp, int64_t qmin, int64_t qmax)
{
	if (isnan(x))
		return add_clamped(0, zp, qmin, qmax);
	double r = rint(leaf_f32 ? (double)((float)x / (float)scale) : x / scale);
	if (isnan(r)) /* inf / inf cannot be: scales are finite */
		r = 0.0;
	r = r > ROUND_LIMIT ? ROUND_LIMIT : r < -ROUND_LIMIT ? -ROUND_LIMIT : r;
	return add_clamped((int64_t)r, zp, qmin, qmax);
}

/* The difference in int64; when that overflows (64-bit storage only) it is taken in double. */
static double
difference(int64_t q, int64_t zp, bool leaf_f32)
{
	if ((zp < 0 && q > INT64_MAX + zp) || (zp > 0 && q < INT64_MIN + zp))
		return (double)q - (double)zp;
	return leaf_f32 ? (double)(float)(q - zp) : (double)(q - zp);
}

double
qn_dequantize_value(int64_t q, double scale, bool leaf_f32, int64_t zp)
{
	const double d = difference(q, zp, leaf_f32);

	return leaf_f32 ? (double)((float)d * (float)scale) : d * scale;
}

/* ---- whole tensors ---- */

typedef struct param {
	double scale;
	int64_t zp;
} param;

typedef struct params {
	const qn_elem *e;
	param *at;
	bool leaf_f32;
} params;

static params
params_of(const qn_types *t, qn_arena *a, const qn_elem *e)
{
	const size_t n = qn_elem_nparams(e);
	params p = {.e = e, .at = QN_NEW(a, param, n)};

	for (size_t i = 0; i < n; i++)
		qn_elem_param(t, e, i, &p.at[i].scale, &p.at[i].zp);
	p.leaf_f32 = e->scale->a == NULL && e->expressed != QN_PLAIN_f64;
	return p;
}

/* The next index in row-major order. */
static void
advance(const qn_type *type, int64_t *idx)
{
	for (int32_t d = type->rank - 1; d >= 0; d--) {
		if (++idx[d] < type->dim[d])
			return;
		idx[d] = 0;
	}
}

qn_tensor *
qn_tensor_quantize(const qn_types *t, qn_arena *a, const qn_tensor *x, const qn_type *to)
{
	const qn_elem *e = to->elem;
	const params p = params_of(t, a, e);
	const int64_t n = qn_type_count(to);
	int64_t idx[QN_MAX_RANK] = {0};
	void *data;
	qn_tensor *out = qn_tensor_new(a, to, &data);

	for (int64_t i = 0; i < n; i++) {
		const param *k = &p.at[e->gran == QN_PER_TENSOR ? 0 : qn_type_param_index(to, idx)];

		qn_store_i64(data, e->plain, i,
			     qn_quantize_value(qn_tensor_f64(x, i), k->scale, p.leaf_f32, k->zp,
					       e->qmin, e->qmax));
		if (e->gran != QN_PER_TENSOR)
			advance(to, idx);
	}
	return out;
}

qn_tensor *
qn_tensor_dequantize(const qn_types *t, qn_arena *a, const qn_tensor *x, const qn_type *to)
{
	const qn_type *from = x->type;
	const params p = params_of(t, a, from->elem);
	const int64_t n = qn_type_count(from);
	int64_t idx[QN_MAX_RANK] = {0};
	void *data;
	qn_tensor *out = qn_tensor_new(a, to, &data);

	for (int64_t i = 0; i < n; i++) {
		const bool one = from->elem->gran == QN_PER_TENSOR;
		const param *k = &p.at[one ? 0 : qn_type_param_index(from, idx)];

		qn_store_f64(data, to->elem->plain, i,
			     qn_dequantize_value(qn_tensor_i64(x, i), k->scale, p.leaf_f32, k->zp));
		if (!one)
			advance(from, idx);
	}
	return out;
}
