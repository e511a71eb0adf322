/* SPDX-License-Identifier: Apache-2.0 */
/* layout_repack.c - from one layout to another: the same bits where the fields hold them, else
 * quantized from f32 values.
 *
 *   any ─▶ plain                      f32 values
 *   any ─▶ q4_0 … q6_K                the same bits, or the reference's rounding
 *   any ─▶ BlockScaled …              through the packed form of its row (twin), then to planar
 *   any ─▶ TensorScaled               int8, one scale from the largest magnitude */
#include <math.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/layout_impl.h"
#include "ir/layout_quantizer.h"
#include "quern/layout.h"

static qn_layout_tensor
empty(qn_arena *a, const qn_layout_tensor *t, const qn_layout_row *to, uint8_t *data[QN_PLANES])
{
	qn_layout_tensor out = {.layout = to, .rank = t->rank, .nplane = to->nplane};

	memcpy(out.dim, t->dim, sizeof out.dim);
	for (int32_t k = 0; k < to->nplane; k++) {
		const qn_plane_row *row = &to->plane[k];
		qn_plane *p = &out.plane[k];

		*p = (qn_plane){.name = row->name, .dtype = qn_dtype_by_name(row->dtype)};
		memcpy(p->dim, t->dim, (size_t)t->rank * sizeof *t->dim);
		p->rank = t->rank;
		p->dim[p->rank - 1] /= to->block;
		for (int i = 0; i < 2 && row->tail[i] > 0; i++)
			p->dim[p->rank++] = row->tail[i];
		p->bytes = (size_t)qn_layout_count(p->rank, p->dim, p->dtype->bytes);
		data[k] = QN_NEW(a, uint8_t, p->bytes);
		p->data = data[k];
	}
	return out;
}

/* Rows that no block divides, and shapes whose planes would have too many dimensions. */
static qn_status
check_rows(qn_env *env, const char *place, const qn_layout_tensor *t, const qn_layout_row *to)
{
	if (t->rank == 0 || t->dim[t->rank - 1] % to->block != 0)
		return qn_report(env, QN_EUNSUPPORTED, "layout.row", place,
				 "rows of %lld elements are not a multiple of the %d of a block of "
				 "%s",
				 t->rank == 0 ? 1LL : (long long)t->dim[t->rank - 1], to->block,
				 to->name);
	if (t->rank + 2 > QN_MAX_RANK)
		return qn_report(env, QN_EUNSUPPORTED, "layout.row", place,
				 "%d dimensions are too many for %s (expected at most %d)", t->rank,
				 to->name, QN_MAX_RANK - 2);
	return QN_OK;
}

/* ---- the same bits ---- */

static bool
same_block(const qn_packed *p, int32_t block, const qn_unpacked *a, const qn_unpacked *b)
{
	const size_t subs = (size_t)(block / p->sub);

	return memcmp(a->q, b->q, (size_t)block) == 0 &&
	       memcmp(a->d, b->d, subs * sizeof *a->d) == 0 &&
	       (!p->offset || memcmp(a->m, b->m, subs * sizeof *a->m) == 0);
}

/* Block i of planes with 32 elements in each; false: its integers do not fit a byte. */
static bool
load_block(const qn_layout_tensor *t, int64_t i, int32_t block, qn_unpacked *u)
{
	const qn_plane *d = qn_layout_plane(t, "d"), *m = qn_layout_plane(t, "m");
	const qn_plane *qs = qn_layout_plane(t, "qs");
	const bool nibbles = t->layout->check == qn_layout_check_blocks_i4;

	u->d[0] = (float)qn_dtype_load(d->dtype, d->data, i);
	u->m[0] = m != NULL ? (float)qn_dtype_load(m->dtype, m->data, i) : 0;
	for (int32_t e = 0; e < block; e++) {
		const double q =
			nibbles ? qn_nibble(qs->data, i * block + e, qn_layout_is_signed(t))
				: qn_dtype_load(qs->dtype, qs->data, i * block + e);

		if (!(q >= -128 && q <= 127) || q != rint(q))
			return false;
		u->q[e] = (int8_t)q;
	}
	return true;
}

static bool
pack_super(qn_arena *a, const qn_layout_tensor *t, const qn_layout_row *to, qn_layout_tensor *out)
{
	const int64_t n = qn_layout_elements(t) / QN_K;
	const uint8_t *plane[7];
	uint8_t *data[QN_PLANES];

	for (int k = 0; k < 7; k++)
		plane[k] = qn_layout_plane(t, t->layout->plane[k].name)->data;
	if (qn_layout_plane(t, "d")->dtype->plain != QN_PLAIN_f16 ||
	    qn_layout_plane(t, "dmin")->dtype->plain != QN_PLAIN_f16)
		return false;
	*out = empty(a, t, to, data);
	for (int64_t i = 0; i < n; i++) {
		uint8_t *block = data[0] + i * to->packed->bytes;

		memcpy(block, plane[0] + 2 * i, 2);
		memcpy(block + 2, plane[1] + 2 * i, 2);
		qn_super_from_planes(plane, i, block);
	}
	return true;
}

bool
qn_layout_pack(qn_arena *a, const qn_layout_tensor *t, const qn_layout_row *to,
	       qn_layout_tensor *out)
{
	const qn_packed *p = to->packed;
	const bool has_m = qn_layout_plane(t, "m") != NULL;
	uint8_t *data[QN_PLANES];
	qn_unpacked u, back;

	if (t->layout->dequant == qn_layout_dequant_super && p == &qn_packed_q4_K)
		return pack_super(a, t, to, out);
	if (t->layout->dequant != qn_layout_dequant_blocks || p->pack == NULL ||
	    qn_layout_block(t) != to->block || has_m != p->offset)
		return false;
	*out = empty(a, t, to, data);
	for (int64_t i = 0; i * to->block < qn_layout_elements(t); i++) {
		if (!load_block(t, i, to->block, &u))
			return false;
		p->pack(&u, data[0] + i * p->bytes);
		p->unpack(data[0] + i * p->bytes, &back);
		if (!same_block(p, to->block, &u, &back))
			return false;
	}
	return true;
}

/* ---- quantizing ---- */

/* No scale of f16 times integers of 8 and 6 bits reaches this far; sums of squares do not overflow. */
static const float beyond = 3e8F;

static qn_status
too_large(qn_env *env, const char *place, int64_t i, float v, const qn_layout_row *to)
{
	return qn_report(env, QN_EUNSUPPORTED, "layout.value", place,
			 "element %lld is %g: the scale of its block is beyond the range of %s",
			 (long long)i, (double)v, to->name);
}

static qn_status
finite_values(qn_env *env, qn_arena *a, const char *place, const qn_layout_tensor *t,
	      const qn_layout_row *to, float **out)
{
	const int64_t n = qn_layout_elements(t);
	float *x = QN_NEW(a, float, (size_t)n);

	qn_layout_dequant(t, x);
	for (int64_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return qn_report(env, QN_EINVALID, "layout.value", place,
					 "element %lld is %g: only finite values can be quantized",
					 (long long)i, (double)x[i]);
	for (int64_t i = 0; i < n && to->packed != NULL; i++)
		if (fabsf(x[i]) > beyond)
			return too_large(env, place, i, x[i], to);
	*out = x;
	return QN_OK;
}

static void
quantize_blocks(const qn_layout_row *to, const float *x, int64_t blocks, uint8_t *data[QN_PLANES],
		const qn_layout_tensor *out)
{
	void *at[QN_PLANES];

	for (int64_t i = 0; i < blocks; i++) {
		if (to->packed != NULL) {
			to->packed->quantize(x + i * to->block, data[0] + i * to->packed->bytes);
			continue;
		}
		for (int32_t k = 0; k < to->nplane; k++)
			at[k] = data[k] + (size_t)i * (out->plane[k].bytes / (size_t)blocks);
		to->host->quantize(to->host->user, x + i * to->block, at);
	}
}

/* An f16 scale has no room for values of more than about 65504 times the largest integer. */
static qn_status
check_result(qn_env *env, const char *place, const qn_layout_tensor *out, const float *x, float *y)
{
	const int64_t n = qn_layout_elements(out);

	qn_layout_dequant(out, y);
	for (int64_t i = 0; i < n; i++)
		if (!isfinite(y[i]))
			return too_large(env, place, i, x[i], out->layout);
	return QN_OK;
}

static qn_status
quantize_into(qn_env *env, qn_arena *a, const char *place, const qn_layout_tensor *t,
	      const qn_layout_row *to, qn_layout_tensor *out, bool *exact)
{
	uint8_t *data[QN_PLANES];
	float *x = NULL;

	QN_TRY(check_rows(env, place, t, to));
	if (to->packed == NULL && to->host->quantize == NULL)
		return qn_report(env, QN_EUNSUPPORTED, "layout.quantize", place,
				 "layout %s has no function quantize", to->name);
	QN_TRY(finite_values(env, a, place, t, to, &x));
	const int64_t n = qn_layout_elements(t);
	*out = empty(a, t, to, data);
	quantize_blocks(to, x, n / to->block, data, out);
	float *y = QN_NEW(a, float, (size_t)n);
	QN_TRY(check_result(env, place, out, x, y));
	for (int64_t i = 0; i < n && *exact; i++)
		*exact = x[i] == y[i];
	return QN_OK;
}

static qn_status
through_twin(qn_env *env, qn_arena *a, const char *place, const qn_layout_tensor *t,
	     const qn_layout_row *to, bool is_signed, qn_layout_tensor *out, bool *exact)
{
	const bool i4 = to->check == qn_layout_check_blocks_i4;
	const qn_layout_row *twin;
	qn_layout_tensor planar;

	if (t->layout->packed != NULL) { /* its own planes may be what is wanted */
		QN_TRY(qn_layout_to_planar(env, a, place, t, &planar));
		if (planar.layout == to && (!i4 || qn_layout_is_signed(&planar) == is_signed)) {
			*out = planar;
			return QN_OK;
		}
	}
	if (!i4 && to->check == qn_layout_check_blocks &&
	    (t->layout->packed != NULL || t->layout->twin != NULL))
		return qn_layout_unpack(env, a, place, t, out);
	QN_TRY(qn_layout_find(env, place, i4 && !is_signed ? "q4_1" : to->twin, &twin));
	QN_TRY(quantize_into(env, a, place, t, twin, &planar, exact));
	return qn_layout_to_planar(env, a, place, &planar, out);
}

qn_status
qn_layout_repack(qn_env *env, qn_arena *a, const char *place, const qn_layout_tensor *t,
		 const qn_layout_row *to, bool is_signed, qn_layout_tensor *out, bool *exact)
{
	const qn_scaled_quantizer int8 = {
		.dtype = qn_dtype_by_name("i8"), .dynamic = true, .axis = QN_NO_AXIS};
	bool same = true;

	exact = exact != NULL ? exact : &same;
	*exact = true;
	*out = *t;
	if (t->layout == to &&
	    (to->check != qn_layout_check_blocks_i4 || qn_layout_is_signed(t) == is_signed))
		return QN_OK;
	if (to == qn_layout_builtin(0)) {
		float *x = QN_NEW(a, float, (size_t)qn_layout_elements(t));

		qn_layout_dequant(t, x);
		*out = qn_layout_of_f32(a, t->rank, t->dim, x);
		return QN_OK;
	}
	if (to->twin != NULL)
		return through_twin(env, a, place, t, to, is_signed, out, exact);
	if (to->block == 0) {
		*exact = false;
		return qn_scaled_quantize(env, a, place, &int8, t, out);
	}
	if (to->packed != NULL && qn_layout_pack(a, t, to, out))
		return QN_OK;
	return quantize_into(env, a, place, t, to, out, exact);
}
