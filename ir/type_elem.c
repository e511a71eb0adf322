/* SPDX-License-Identifier: Apache-2.0 */
/* type_elem.c - making element types: every rule that needs no tensor shape, then interning.
 *
 *     desc ── storage ── expressed ── parameters (type_params.c) ──▶ interned
 *
 * The first rule that fails is reported.  Rules about the tensor are in type_check.c. */
#include <math.h>
#include <string.h>

#include "ir/type_impl.h"

const qn_plain_info qn_plain_table[QN_NPLAIN] = {
#define X(name, bytes, bits, is_float, is_signed) {#name, bytes, bits, is_float, is_signed},
	QN_PLAIN_TYPES(X)
#undef X
};

qn_where
qn_where_place(const qn_types *t, const char *place)
{
	return (qn_where){.env = t->arena->env, .place = place != NULL ? place : ""};
}

/* Counting lines is skipped once the list of diagnostics is full: the place will not be read. */
const char *
qn_where_text(qn_where *w)
{
	if (w->text.begin == NULL || w->env->diags->n >= QN_MAX_DIAGS)
		return w->place;
	return qn_text_place(&w->text, w->buf, sizeof w->buf);
}

qn_where *
qn_where_part(qn_where *w, int part)
{
	if (w->part != NULL && w->part[part] != NULL)
		w->text.at = w->part[part];
	return w;
}

/* ---- storage ---- */

void
qn_storage_range(uint8_t bits, bool is_signed, int64_t *qmin, int64_t *qmax)
{
	if (bits == 0) {
		*qmin = *qmax = 0;
	} else if (bits >= 64) {
		*qmin = INT64_MIN;
		*qmax = INT64_MAX;
	} else {
		*qmax = (int64_t)((UINT64_C(1) << (is_signed ? bits - 1 : bits)) - 1);
		*qmin = is_signed ? -*qmax - 1 : 0;
	}
}

/* The narrowest plain type that holds the storage. */
static qn_plain
storage_plain(uint8_t bits, bool is_signed)
{
	static const qn_plain row[][2] = {
		{QN_PLAIN_u2, QN_PLAIN_i2},   {QN_PLAIN_u4, QN_PLAIN_i4},
		{QN_PLAIN_u8, QN_PLAIN_i8},   {QN_PLAIN_u16, QN_PLAIN_i16},
		{QN_PLAIN_u32, QN_PLAIN_i32}, {QN_PLAIN_i64, QN_PLAIN_i64},
	};
	size_t i = 0;

	while (i + 1 < QN_COUNT(row) && qn_plain_table[row[i][0]].bits < bits)
		i++;
	return row[i][is_signed];
}

qn_status
qn_elem_check_storage(qn_where *w, const qn_elem *d)
{
	const char sign = d->is_signed ? 'i' : 'u';
	int64_t lo, hi;

	if (!((d->bits >= 1 && d->bits <= 32) || (d->bits == 64 && d->is_signed)))
		return QN_FAIL(w, "type.storage.width",
			       "storage %c%d: a width is 1 to 32, or 64 and signed", sign, d->bits);
	qn_storage_range(d->bits, d->is_signed, &lo, &hi);
	if (d->qmin < lo)
		return QN_FAIL(qn_where_part(w, QN_PART_MIN), "type.storage.min",
			       "storage minimum %lld is below %lld, that of %c%d",
			       (long long)d->qmin, (long long)lo, sign, d->bits);
	if (d->qmax > hi)
		return QN_FAIL(qn_where_part(w, QN_PART_MAX), "type.storage.max",
			       "storage maximum %lld is above %lld, that of %c%d",
			       (long long)d->qmax, (long long)hi, sign, d->bits);
	if (d->qmin >= d->qmax)
		return QN_FAIL(
			qn_where_part(w, QN_PART_MIN), "type.storage.range",
			"storage range %lld:%lld is empty; the minimum must be below the maximum",
			(long long)d->qmin, (long long)d->qmax);
	return QN_OK;
}

static qn_status
check_expressed(qn_where *w, const qn_elem *d)
{
	if (d->expressed < QN_NPLAIN && qn_plain_table[d->expressed].is_float)
		return QN_OK;
	return QN_FAIL(w, "type.expressed", "the expressed type must be f16, bf16, f32 or f64");
}

/* Copies the axes, ascending, each with its block. */
static void
own_axes(qn_types *t, qn_elem *d)
{
	const int32_t n = d->gran == QN_SUB_CHANNEL ? d->naxis : d->gran == QN_PER_AXIS;
	int32_t *axis = QN_NEW(t->arena, int32_t, (size_t)n + 1);
	int64_t *block = QN_NEW(t->arena, int64_t, (size_t)n + 1);

	for (int32_t i = 0; i < n; i++) {
		int32_t k = i;

		for (; k > 0 && axis[k - 1] > d->axis[i]; k--) {
			axis[k] = axis[k - 1];
			block[k] = block[k - 1];
		}
		axis[k] = d->axis[i];
		block[k] = d->gran == QN_SUB_CHANNEL ? d->block[i] : 0;
	}
	d->naxis = n;
	d->axis = n > 0 ? axis : NULL;
	d->block = n > 0 && d->gran == QN_SUB_CHANNEL ? block : NULL;
	d->partial = d->partial && d->gran == QN_SUB_CHANNEL;
}

/* ---- interning ---- */

static void
push(uint64_t *key, size_t *n, const void *v, size_t bytes)
{
	memcpy(&key[(*n)++], v, bytes);
}

static const qn_elem *
intern(qn_types *t, const qn_elem *e)
{
	uint64_t key[16 + 2 * QN_MAX_RANK] = {
		(uint64_t)e->kind,
		(uint64_t)e->plain,
		e->bits,
		e->is_signed | (uint64_t)e->small << 1,
		e->has_expressed,
		(uint64_t)e->expressed,
		(uint64_t)e->gran,
		e->partial | (uint64_t)e->scale_as << 1 | (uint64_t)e->zp_signed << 8 |
			(uint64_t)e->zp_bits << 16 | (uint64_t)e->zp_fraction << 24,
		(uint64_t)(uint32_t)e->naxis,
	};
	size_t n = 9;

	push(key, &n, &e->qmin, sizeof e->qmin);
	push(key, &n, &e->qmax, sizeof e->qmax);
	push(key, &n, &e->zp, sizeof e->zp);
	push(key, &n, &e->cal_min, sizeof e->cal_min);
	push(key, &n, &e->cal_max, sizeof e->cal_max);
	push(key, &n, &e->scale, sizeof e->scale);
	push(key, &n, &e->zp_sym, sizeof e->zp_sym);
	for (int32_t i = 0; i < e->naxis; i++) {
		push(key, &n, &e->axis[i], sizeof e->axis[i]);
		if (e->block != NULL)
			push(key, &n, &e->block[i], sizeof e->block[i]);
	}
	qn_elem *found = qn_map_get(&t->elems, key, n * sizeof *key);
	if (found == NULL) {
		found = qn_arena_copy(t->arena, e, sizeof *e);
		qn_map_put(&t->elems, key, n * sizeof *key, found);
	}
	return found;
}

const qn_elem *
qn_elem_plain(qn_types *t, qn_plain p)
{
	const qn_plain_info *info = &qn_plain_table[p];
	qn_elem e = {.kind = QN_ELEM_PLAIN,
		     .plain = p,
		     .bits = info->bits,
		     .is_signed = info->is_signed};

	if (p == QN_PLAIN_u64)
		e.qmax = INT64_MAX; /* the true bound is no int64_t */
	else if (!info->is_float)
		qn_storage_range(e.bits, e.is_signed, &e.qmin, &e.qmax);
	return intern(t, &e);
}

qn_elem
qn_elem_desc(uint8_t bits, bool is_signed)
{
	qn_elem e = {.kind = QN_ELEM_UNIFORM, .bits = bits, .is_signed = is_signed};

	e.has_expressed = true;
	e.expressed = QN_PLAIN_f32;
	qn_storage_range(bits, is_signed, &e.qmin, &e.qmax);
	return e;
}

/* ---- making ---- */

static qn_status
make_any(qn_types *t, qn_where *w, const qn_elem *desc, const qn_elem **out)
{
	qn_elem e = {.kind = QN_ELEM_ANY,
		     .bits = desc->bits,
		     .is_signed = desc->is_signed,
		     .qmin = desc->qmin,
		     .qmax = desc->qmax,
		     .has_expressed = desc->has_expressed};

	QN_TRY(qn_elem_check_storage(w, desc));
	if (desc->has_expressed) {
		QN_TRY(check_expressed(w, desc));
		e.expressed = desc->expressed;
	}
	e.plain = storage_plain(e.bits, e.is_signed);
	*out = intern(t, &e);
	return QN_OK;
}

static qn_status
make_calibrated(qn_types *t, qn_where *w, const qn_elem *desc, const qn_elem **out)
{
	QN_TRY(check_expressed(w, desc));
	const qn_plain_info *info = &qn_plain_table[desc->expressed];
	qn_elem e = {.kind = QN_ELEM_CALIBRATED,
		     .plain = desc->expressed,
		     .bits = info->bits,
		     .is_signed = true,
		     .has_expressed = true,
		     .expressed = desc->expressed};

	e.cal_min = qn_round_to(e.expressed, desc->cal_min) + 0.0; /* no -0 */
	e.cal_max = qn_round_to(e.expressed, desc->cal_max) + 0.0;
	if (!isfinite(e.cal_min) || !isfinite(e.cal_max) || !(e.cal_min < e.cal_max))
		return QN_FAIL(qn_where_part(w, QN_PART_MIN), "type.calibrated.range",
			       "calibrated range %g:%g; both must be finite %s, the first below "
			       "the second",
			       desc->cal_min, desc->cal_max, info->name);
	*out = intern(t, &e);
	return QN_OK;
}

/* Floats of few bits have no zero point. */
static qn_status
check_small(qn_where *w, const qn_elem *e)
{
	const bool in_vector = e->scale->kind == QN_SCALE_VEC && e->scale->vec->zp != NULL;

	if (e->small == QN_SMALL_NONE || (e->zp == 0 && e->zp_sym == NULL && !in_vector))
		return QN_OK;
	return QN_FAIL(qn_where_part(w, QN_PART_ZP), "type.zp.range",
		       "values stored as %s have no zero point", qn_small_table[e->small].name);
}

static qn_status
make_uniform(qn_types *t, qn_where *w, const qn_elem *desc, const qn_elem **out)
{
	qn_elem e = *desc;

	e.has_expressed = true;
	e.cal_min = e.cal_max = 0.0;
	QN_TRY(qn_elem_check_storage(w, &e));
	QN_TRY(check_expressed(w, &e));
	QN_TRY(qn_elem_check_params(t, w, &e));
	QN_TRY(check_small(w, &e));
	QN_TRY(qn_elem_check_stored(t, w, &e));
	e.plain = storage_plain(e.bits, e.is_signed);
	own_axes(t, &e);
	*out = intern(t, &e);
	return QN_OK;
}

qn_status
qn_elem_make_at(qn_types *t, qn_where *w, const qn_elem *desc, const qn_elem **out)
{
	switch (desc->kind) {
	case QN_ELEM_PLAIN:
		*out = qn_elem_plain(t, desc->plain);
		return QN_OK;
	case QN_ELEM_ANY:
		return make_any(t, w, desc, out);
	case QN_ELEM_CALIBRATED:
		return make_calibrated(t, w, desc, out);
	case QN_ELEM_UNIFORM:
		break;
	}
	return make_uniform(t, w, desc, out);
}

qn_status
qn_elem_make(qn_types *t, const char *place, const qn_elem *desc, const qn_elem **out)
{
	qn_where w = qn_where_place(t, place);

	return qn_elem_make_at(t, &w, desc, out);
}
