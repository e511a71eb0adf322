/* SPDX-License-Identifier: Apache-2.0 */
/* layout_constant.c - a stored tensor as the constant of a graph: blocks become a quantized type with a
 * scale for each of them, whose products are computed in integers.
 *
 *   q8_0 [N,K]   ─▶  tensor<NxKx!quant.uniform<i8:f32:{0:1,1:32}, …>>
 *   q4_0 [N,K]   ─▶  tensor<NxKx!quant.uniform<u4:f32:{0:1,1:32}, …>>      zero points 8, or 7
 *   q4_1 [N,K]   ─▶  tensor<NxKx!quant.uniform<u4:f32:{0:1,1:32}, f32:i64.40 …>>      zero points -m / d
 *
 * Scales of types are above 0, those of files have a sign.  Under one below 0 the quantized values and
 * the zero point change sides, q becomes min + max - q, which stands for the same value: (q - z) * d ==
 * ((min + max - q) - (min + max - z)) * -d.  Offsets become zero points with a fraction, whose 40 bits leave an
 * error of 2^-41 of a scale. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/layout.h"

enum {
	FRACTION = 40,
	MOST_ZERO_BITS = 21
}; /* of zero points with a fraction, which have 64 bits */

typedef struct maker {
	qn_types *types;
	qn_arena *a;
	const char *place;
	const qn_layout_tensor *from; /* as it is stored */
	qn_layout_tensor blocks;      /* with one byte for each value */
	const qn_plane *d, *q, *m;    /* m NULL: no offsets */
	int64_t n, block, row;        /* blocks in all, elements of one, blocks of a row */
	uint8_t bits;
	int64_t lo, hi; /* of the quantized values in the type */
	int64_t add;    /* to those of the file: u4 stores signed values of 4 bits */
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
	k->m = qn_layout_plane(&k->blocks, "m");
	if (k->q->dtype->bytes != 1 || qn_dtype_is_float(k->q->dtype) ||
	    k->q->dtype->plain == QN_PLAIN_bool)
		return refuse(k, "its quantized values are not i8 or u8; convert it with quern "
				 "convert --to q8_0");
	return QN_OK;
}

/* Values of 8 bits with offsets: in 2 or 4 bits where these hold them, else moved to around 0, so that sums of
 * them are small. */
static void
take_offset_range(maker *k)
{
	double least = 0, most = 0;

	for (int64_t i = 0; i < k->n * k->block; i++) {
		const double q = qn_dtype_load(k->q->dtype, k->q->data, i);

		least = i == 0 ? q : fmin(least, q);
		most = i == 0 ? q : fmax(most, q);
	}
	if (least >= 0 && most <= 15)
		k->bits = most <= 3 ? 2 : 4;
	else if (k->q->dtype->plain == QN_PLAIN_i8)
		k->add = -(int64_t)floor((least + most + 1) / 2);
}

/* Elements of 4 bits are those whose form has no others. */
static void
take_range(maker *k)
{
	const qn_layout_row *form = k->from->layout;
	const char *planar = form->packed != NULL ? form->packed->planar : form->name;
	const char *sign = qn_layout_meta(k->from, "signed");
	const bool is_signed = k->q->dtype->plain == QN_PLAIN_i8;

	k->bits = strcmp(planar, "BlockScaledLayout") == 0 ? 8 : 4;
	if (k->bits == 8 && k->m != NULL)
		take_offset_range(k);
	else if (k->bits == 4 &&
		 (form->packed != NULL ? k->m == NULL : sign != NULL && strcmp(sign, "true") == 0))
		k->add = 8;
	k->lo = k->bits == 8 && is_signed ? -128 : 0;
	k->hi = k->bits < 8 ? (1 << k->bits) - 1 : is_signed ? 127 : 255;
}

/* The zero point of block i: of scale > 0, d or, where that is below 0, -d. */
static qn_status
set_zero_point(maker *k, int64_t i, double d)
{
	const double m = k->m != NULL ? qn_dtype_load(k->m->dtype, k->m->data, i) : 0;
	const int64_t whole = d < 0 ? k->lo + k->hi - k->add : k->add;

	if (!isfinite(m) || fabs(m) > (double)FLT_MAX)
		return qn_report(k->types->arena->env, QN_EINVALID, "layout.value", k->place,
				 "the offset of block %lld is %g, not a finite f32", (long long)i,
				 m);
	/* So far from 0 that all values of the block are about the same. */
	k->scale[i] = fmax(k->scale[i], (double)(float)ldexp(fabs(m), -MOST_ZERO_BITS));
	k->zp[i] = k->m == NULL ? whole
				: (int64_t)rint(ldexp((double)whole - m / k->scale[i], FRACTION));
	return QN_OK;
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
		if (!isfinite(k->scale[i]))
			return qn_report(
				k->types->arena->env, QN_EINVALID, "layout.value", k->place,
				"the scale of block %lld is %g, not a finite f32", (long long)i, d);
		most = fmax(most, k->scale[i]);
	}
	for (int64_t i = first; i < first + k->row; i++) {
		if (k->scale[i] <= 0)
			k->scale[i] = most > 0 ? most : 1.0;
		QN_TRY(set_zero_point(k, i, qn_dtype_load(k->d->dtype, k->d->data, i)));
	}
	return QN_OK;
}

static void
store_block(const maker *k, int64_t i, uint8_t *to)
{
	const double d = qn_dtype_load(k->d->dtype, k->d->data, i);

	for (int64_t e = i * k->block; e < (i + 1) * k->block; e++) {
		int64_t q = (int64_t)qn_dtype_load(k->q->dtype, k->q->data, e) + k->add;

		if (fabs((double)(float)d) < k->scale[i]) /* all values are its offset */
			q = k->add;
		if (d < 0)
			q = k->lo + k->hi - q;
		to[e] = (uint8_t)(q & 255);
	}
}

static qn_status
type_of(const maker *k, const qn_type **out)
{
	const qn_layout_tensor *t = k->from;
	qn_elem desc = qn_elem_desc(k->bits, k->lo < 0);
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
	if (k->m != NULL) {
		desc.zp_bits = 64;
		desc.zp_signed = true;
		desc.zp_fraction = FRACTION;
	}
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
	k->block = k->q->dim[k->q->rank - 1];
	k->row = t->dim[t->rank - 1] / k->block;
	k->n = qn_layout_elements(t) / k->block;
	if (k->n == 0)
		return refuse(k, "it has no elements");
	take_range(k);
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

bool
qn_layout_is_constant(const qn_layout_tensor *t)
{
	return qn_layout_is_plain(t) ? t->plane[0].dtype->small == QN_SMALL_NONE
				     : qn_layout_block(t) > 1;
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
