/* SPDX-License-Identifier: Apache-2.0 */
/* layout_scaled.c - plain tensors, TensorScaledLayout, BlockScaledLayout and BlockScaledI4Layout:
 * what their planes must be, and the formulas.
 *
 *   TensorScaled   (qs - m) * d     in the type of d; d of no dimension, or shaped to broadcast
 *   BlockScaled    d * qs + m       in f32: the sign and the unit of m differ from the above */
#include <string.h>

#include "ir/diag.h"
#include "ir/layout_impl.h"

static bool
same_dims(int32_t rank, const int64_t *a, const int64_t *b)
{
	return rank == 0 || memcmp(a, b, (size_t)rank * sizeof *a) == 0;
}

static qn_status
bad_shape(qn_env *env, const char *place, const qn_layout_tensor *t, const qn_plane *p,
	  const char *expected)
{
	return qn_report(env, QN_EINVALID, "layout.shape", place,
			 "plane '%s' of %s does not fit the tensor's shape (expected %s)", p->name,
			 t->layout->name, expected);
}

/* ---- plain ---- */

qn_status
qn_layout_check_plain(qn_env *env, const char *place, const qn_layout_tensor *t)
{
	const qn_plane *p = &t->plane[0];

	if (p->rank != t->rank || !same_dims(t->rank, p->dim, t->dim))
		return bad_shape(env, place, t, p, "the same dimensions");
	return QN_OK;
}

void
qn_layout_dequant_plain(const qn_layout_tensor *t, float *out)
{
	const int64_t n = qn_layout_elements(t);

	for (int64_t i = 0; i < n; i++)
		out[i] = (float)qn_dtype_load(t->plane[0].dtype, t->plane[0].data, i);
}

/* ---- scales and offsets ---- */

static qn_status
check_types(qn_env *env, const char *place, const qn_layout_tensor *t)
{
	const qn_plane *d = qn_layout_plane(t, "d"), *m = qn_layout_plane(t, "m");
	const qn_plane *qs = qn_layout_plane(t, "qs");

	if (!qn_dtype_is_float(d->dtype))
		return qn_report(env, QN_EINVALID, "layout.dtype", place,
				 "plane 'd' of %s has the type %s (expected a float type)",
				 t->layout->name, d->dtype->name);
	if (m == NULL)
		return QN_OK;
	if (m->dtype != d->dtype && m->dtype != qs->dtype)
		return qn_report(env, QN_EINVALID, "layout.dtype", place,
				 "plane 'm' of %s has the type %s (expected that of d, %s, or of "
				 "qs, %s)",
				 t->layout->name, m->dtype->name, d->dtype->name, qs->dtype->name);
	if (m->rank != d->rank || !same_dims(d->rank, m->dim, d->dim))
		return bad_shape(env, place, t, m, "that of d");
	return QN_OK;
}

/* ---- TensorScaled ---- */

/* The type of the result: metadata, else that of d; NULL: unknown. */
static const qn_dtype *
result_type(const qn_layout_tensor *t)
{
	const char *json = qn_layout_meta(t, "dtype");
	char name[32] = {0};
	size_t n = json != NULL ? strlen(json) : 0;

	if (json == NULL)
		return qn_layout_plane(t, "d")->dtype;
	if (n < 3 || n - 2 >= sizeof name || json[0] != '"')
		return NULL;
	memcpy(name, json + 1, n - 2);
	return qn_dtype_by_torch(name);
}

qn_status
qn_layout_check_scaled(qn_env *env, const char *place, const qn_layout_tensor *t)
{
	const qn_plane *d = qn_layout_plane(t, "d"), *qs = qn_layout_plane(t, "qs");

	QN_TRY(check_types(env, place, t));
	if (qs->rank != t->rank || !same_dims(t->rank, qs->dim, t->dim))
		return bad_shape(env, place, t, qs, "the same dimensions");
	if (d->rank > t->rank)
		return bad_shape(env, place, t, d, "at most its dimensions");
	for (int32_t i = 0; i < d->rank; i++)
		if (d->dim[i] != 1 && d->dim[i] != t->dim[t->rank - d->rank + i])
			return bad_shape(env, place, t, d, "each dimension 1 or the tensor's");
	if (result_type(t) == NULL)
		return qn_report(env, QN_EINVALID, "layout.meta", place,
				 "metadata dtype is %s (expected \"float32\" or another type)",
				 qn_layout_meta(t, "dtype"));
	return QN_OK;
}

/* Which element of d belongs to element i of the tensor. */
static int64_t
broadcast(const qn_layout_tensor *t, const qn_plane *d, int64_t i)
{
	int64_t at = 0, step = 1;

	for (int32_t k = t->rank; k-- > 0 && d->rank - (t->rank - k) >= 0;) {
		const int64_t its = d->dim[d->rank - (t->rank - k)];

		at += its == 1 ? 0 : i % t->dim[k] * step;
		step *= its;
		i /= t->dim[k];
	}
	return at;
}

void
qn_layout_dequant_scaled(const qn_layout_tensor *t, float *out)
{
	const qn_plane *d = qn_layout_plane(t, "d"), *m = qn_layout_plane(t, "m");
	const qn_plane *qs = qn_layout_plane(t, "qs");
	const qn_dtype *type = result_type(t);
	const int64_t n = qn_layout_elements(t);

	/* A sum or product of two values of f32 or less is exact in double, or rounded twice
	 * without harm (53 >= 2 * 24 + 2 bits). */
	for (int64_t i = 0; i < n; i++) {
		const int64_t k = d->rank == 0 ? 0 : broadcast(t, d, i);
		double v = qn_dtype_round(d->dtype, qn_dtype_load(qs->dtype, qs->data, i));

		if (m != NULL)
			v = qn_dtype_round(
				d->dtype,
				v - qn_dtype_round(d->dtype, qn_dtype_load(m->dtype, m->data, k)));
		v = qn_dtype_round(d->dtype, v * qn_dtype_load(d->dtype, d->data, k));
		out[i] = (float)qn_dtype_round(type, v);
	}
}

/* ---- blocks ---- */

static qn_status
check_block_planes(qn_env *env, const char *place, const qn_layout_tensor *t, int64_t per_element)
{
	const qn_plane *d = qn_layout_plane(t, "d"), *qs = qn_layout_plane(t, "qs");
	const int32_t last = t->rank - 1;

	QN_TRY(check_types(env, place, t));
	if (t->rank < 1 || qs->rank != t->rank + 1 || !same_dims(last, qs->dim, t->dim) ||
	    qn_layout_count(2, qs->dim + last, per_element) != t->dim[last])
		return bad_shape(env, place, t, qs,
				 "its leading dimensions, then blocks that make up its last one");
	if (d->rank != qs->rank || !same_dims(t->rank, d->dim, qs->dim) || d->dim[t->rank] != 1)
		return bad_shape(env, place, t, d, "one for each block");
	return QN_OK;
}

qn_status
qn_layout_check_blocks(qn_env *env, const char *place, const qn_layout_tensor *t)
{
	return check_block_planes(env, place, t, 1);
}

qn_status
qn_layout_check_blocks_i4(qn_env *env, const char *place, const qn_layout_tensor *t)
{
	const char *sign = qn_layout_meta(t, "signed");
	const qn_plane *qs = qn_layout_plane(t, "qs");

	if (qs->dtype->plain != QN_PLAIN_u8 || qs->dtype->small != QN_SMALL_NONE)
		return qn_report(env, QN_EINVALID, "layout.dtype", place,
				 "plane 'qs' of %s has the type %s (expected u8, two values in "
				 "each)",
				 t->layout->name, qs->dtype->name);
	if (sign == NULL || (strcmp(sign, "true") != 0 && strcmp(sign, "false") != 0))
		return qn_report(env, QN_EINVALID, "layout.meta", place,
				 "metadata signed of %s is %s (expected true or false)",
				 t->layout->name, sign != NULL ? sign : "missing");
	return check_block_planes(env, place, t, 2);
}

bool
qn_layout_is_signed(const qn_layout_tensor *t)
{
	const char *sign = qn_layout_meta(t, "signed");

	return sign != NULL && strcmp(sign, "true") == 0;
}

int32_t
qn_nibble(const uint8_t *data, int64_t i, bool is_signed)
{
	const int32_t v = i % 2 == 0 ? data[i / 2] & 15 : data[i / 2] >> 4;

	return is_signed && v >= 8 ? v - 16 : v;
}

void
qn_layout_dequant_blocks(const qn_layout_tensor *t, float *out)
{
	const qn_plane *d = qn_layout_plane(t, "d"), *m = qn_layout_plane(t, "m");
	const qn_plane *qs = qn_layout_plane(t, "qs");
	const int64_t n = qn_layout_elements(t), block = qn_layout_block(t);
	const bool nibbles = t->layout->check == qn_layout_check_blocks_i4;
	const bool is_signed = qn_layout_is_signed(t), wide = d->dtype->plain == QN_PLAIN_f64;

	for (int64_t i = 0; i < n; i++) {
		const double q = nibbles ? qn_nibble(qs->data, i, is_signed)
					 : qn_dtype_load(qs->dtype, qs->data, i);
		const double scale = qn_dtype_load(d->dtype, d->data, i / block);
		const double offset = m != NULL ? qn_dtype_load(m->dtype, m->data, i / block) : 0;
		const float product = (float)scale * (float)q;

		if (wide)
			out[i] = (float)(m != NULL ? scale * q + offset : scale * q);
		else
			out[i] = m != NULL ? product + (float)offset : product;
	}
}
