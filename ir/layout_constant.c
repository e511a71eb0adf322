/* SPDX-License-Identifier: Apache-2.0 */
/* layout_constant.c - a stored tensor as the constant of a graph: blocks become a quantized type with a
 * scale for each of them, whose products are computed in integers.
 *
 *   q8_0 [N,K]   ─▶  tensor<NxKx!quant.uniform<i8:f32:{0:1,1:32}, …>>
 *   q4_0 [N,K]   ─▶  tensor<NxKx!quant.uniform<u4:f32:{0:1,1:32}, …>>      zero points 8, or 7
 *
 * Scales of types are above 0, those of files have a sign.  Under one below 0 the quantized values and
 * the zero point change sides, q becomes min + max - q, which stands for the same value: (q - z) * d ==
 * ((min + max - q) - (min + max - z)) * -d. */
#include <math.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/layout.h"

typedef struct maker {
	qn_types *types;
	qn_arena *a;
	const char *place;
	const qn_layout_tensor *from; /* as it is stored */
	qn_layout_tensor blocks;      /* with one byte for each value */
	const qn_plane *d, *q;
	int64_t n, block, row; /* blocks in all, elements of one, blocks of a row */
	bool narrow;           /* 4 bits */
	int64_t lo, hi;        /* of the quantized values in the type */
	int64_t add;           /* to those of the file: u4 stores signed values of 4 bits */
	double *scale;
	int64_t *zp;
} maker;

static qn_status
refuse(const maker *k, const char *why)
{
	return qn_report(k->types->arena->env, QN_EUNSUPPORTED, "layout.constant", k->place,
			 "%s cannot be a constant of a graph as it is stored: %s",
			 k->from->layout->name, why);
}

/* Blocks of integers with a scale each, and nothing else. */
static qn_status
take_planes(maker *k)
{
	const qn_layout_tensor *t = k->from;

	if (qn_layout_block(t) <= 1)
		return refuse(k, "it has no blocks; give the constant an f32 type, which takes its "
				 "values");
	QN_TRY(qn_layout_unpack(k->types->arena->env, k->a, k->place, t, &k->blocks));
	k->d = qn_layout_plane(&k->blocks, "d");
	k->q = qn_layout_plane(&k->blocks, "qs");
	if (qn_layout_plane(&k->blocks, "m") != NULL)
		return refuse(k, "its blocks have offsets, which are not multiples of their "
				 "scales; convert it with quern convert --to q8_0, or give the "
				 "constant an f32 type, which takes its values");
	if (k->q->dtype->bytes != 1 || qn_dtype_is_float(k->q->dtype) ||
	    k->q->dtype->plain == QN_PLAIN_bool)
		return refuse(k, "its quantized values are not i8 or u8; convert it with quern "
				 "convert --to q8_0");
	return QN_OK;
}

/* Elements of 4 bits are those whose form has no others. */
static void
take_range(maker *k)
{
	const char *form = k->from->layout->packed != NULL ? k->from->layout->packed->planar
							   : k->from->layout->name;
	const char *sign = qn_layout_meta(k->from, "signed");
	const bool is_signed = k->q->dtype->plain == QN_PLAIN_i8;

	k->narrow = strcmp(form, "BlockScaledI4Layout") == 0;
	k->lo = !k->narrow && is_signed ? -128 : 0;
	k->hi = k->narrow ? 15 : is_signed ? 127 : 255;
	k->add = k->narrow && (k->from->layout->packed != NULL ||
			       (sign != NULL && strcmp(sign, "true") == 0))
			 ? 8
			 : 0;
}

/* The scales of one row, without their signs: of a block of zeros the largest of the others, so that the
 * steps of the row's sums do not depend on it. */
static qn_status
scales_of_row(maker *k, int64_t first)
{
	double most = 0;

	for (int64_t i = first; i < first + k->row; i++) {
		const double d = qn_dtype_load(k->d->dtype, k->d->data, i);

		k->scale[i] = fabs((double)(float)d);
		k->zp[i] = d < 0 ? k->lo + k->hi - k->add : k->add;
		if (!isfinite(k->scale[i]))
			return qn_report(
				k->types->arena->env, QN_EINVALID, "layout.value", k->place,
				"the scale of block %lld is %g, not a finite f32", (long long)i, d);
		most = fmax(most, k->scale[i]);
	}
	for (int64_t i = first; i < first + k->row; i++)
		if (k->scale[i] == 0)
			k->scale[i] = most > 0 ? most : 1.0;
	return QN_OK;
}

static void
store_block(const maker *k, int64_t i, uint8_t *to)
{
	const double d = qn_dtype_load(k->d->dtype, k->d->data, i);

	for (int64_t e = i * k->block; e < (i + 1) * k->block; e++) {
		int64_t q = (int64_t)qn_dtype_load(k->q->dtype, k->q->data, e) + k->add;

		if ((float)d == 0)
			q = k->zp[i];
		else if (d < 0)
			q = k->lo + k->hi - q;
		to[e] = (uint8_t)(q & 255);
	}
}

static qn_status
type_of(const maker *k, const qn_type **out)
{
	const qn_layout_tensor *t = k->from;
	qn_elem desc = qn_elem_desc(k->narrow ? 4 : 8, k->lo < 0);
	int64_t shape[QN_MAX_RANK], block[QN_MAX_RANK];
	int32_t axis[QN_MAX_RANK];
	const qn_params *p;
	const qn_elem *elem;

	for (int32_t i = 0; i < t->rank; i++) {
		axis[i] = i;
		shape[i] = i + 1 < t->rank ? t->dim[i] : k->row;
		block[i] = i + 1 < t->rank ? 1 : k->block;
	}
	QN_TRY(qn_params_intern(k->types, k->place, NULL, (size_t)k->n, t->rank, shape, k->scale,
				k->zp, &p));
	desc.gran = QN_SUB_CHANNEL;
	desc.naxis = t->rank;
	desc.axis = axis;
	desc.block = block;
	desc.scale = qn_scale_vec(k->types, p);
	QN_TRY(qn_elem_make(k->types, k->place, &desc, &elem));
	*out = qn_type_tensor(k->types, elem, t->rank, t->dim);
	return qn_type_check(k->types, k->place, *out);
}

static qn_status
of_blocks(maker *k, const qn_tensor **out)
{
	const qn_layout_tensor *t = k->from;
	const qn_type *type;
	void *data;

	QN_TRY(take_planes(k));
	take_range(k);
	k->block = k->q->dim[k->q->rank - 1];
	k->row = t->dim[t->rank - 1] / k->block;
	k->n = qn_layout_elements(t) / k->block;
	if (k->n == 0)
		return refuse(k, "it has no elements");
	k->scale = QN_NEW(k->a, double, (size_t)k->n);
	k->zp = QN_NEW(k->a, int64_t, (size_t)k->n);
	for (int64_t i = 0; i < k->n; i += k->row)
		QN_TRY(scales_of_row(k, i));
	QN_TRY(type_of(k, &type));
	qn_tensor *x = qn_tensor_new(k->a, type, &data);
	for (int64_t i = 0; i < k->n; i++)
		store_block(k, i, data);
	*out = x;
	return QN_OK;
}

qn_status
qn_layout_constant(qn_types *types, qn_arena *a, const char *place, const qn_layout_tensor *t,
		   const qn_tensor **out)
{
	maker k = {.types = types, .a = a, .place = place, .from = t};

	if (!qn_layout_is_plain(t))
		return of_blocks(&k, out);
	if (t->plane[0].dtype->small != QN_SMALL_NONE)
		return refuse(&k, "its elements are floats of 8 bits; give the constant an f32 "
				  "type, which takes its values");
	*out = qn_tensor_view_file(a,
				   qn_type_plain(types, t->plane[0].dtype->plain, t->rank, t->dim),
				   t->plane[0].data);
	return QN_OK;
}

const qn_tensor *
qn_layout_values(qn_types *types, qn_arena *a, const qn_layout_tensor *t)
{
	void *data;
	qn_tensor *x = qn_tensor_new(a, qn_type_plain(types, QN_PLAIN_f32, t->rank, t->dim), &data);

	qn_layout_dequant(t, data);
	return x;
}
