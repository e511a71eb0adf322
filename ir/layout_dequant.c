/* SPDX-License-Identifier: Apache-2.0 */
/* layout_dequant.c - the values of a tensor in blocks, and its blocks with one byte for each
 * quantized value. */
#include <string.h>

#include "ir/diag.h"
#include "ir/layout_impl.h"
#include "quern/layout.h"

static void
values_of(const qn_packed *p, const qn_unpacked *u, int32_t block, float *out)
{
	for (int32_t e = 0; e < block; e++) {
		const float product = u->d[e / p->sub] * (float)u->q[e];

		out[e] = p->offset ? product + u->m[e / p->sub] : product;
	}
}

/* The planes of a SuperBlockOffsetScaled_4_6_Layout in the order of its row. */
static void
super_planes(const qn_layout_tensor *t, const uint8_t *plane[7])
{
	for (int k = 0; k < 7; k++)
		plane[k] = qn_layout_plane(t, t->layout->plane[k].name)->data;
}

/* How the blocks of t are unpacked; NULL: they are not. */
static const qn_packed *
blocks_of(const qn_layout_tensor *t)
{
	if (t->layout->packed != NULL)
		return t->layout->packed;
	return t->layout->dequant == qn_layout_dequant_super ? &qn_packed_q4_K : NULL;
}

/* d and dmin of a super-block may be of other types than f16: their products follow from them. */
static void
unpack_super(const qn_layout_tensor *t, int64_t i, qn_unpacked *out)
{
	const uint8_t *plane[7];
	const qn_plane *d = qn_layout_plane(t, "d"), *dmin = qn_layout_plane(t, "dmin");
	uint8_t block[144] = {0}; /* without d and dmin */

	super_planes(t, plane);
	qn_super_from_planes(plane, i, block);
	qn_packed_q4_K.unpack(block, out);
	const qn_scales_6 s = qn_scales_6_get(block + 4);
	for (int k = 0; k < 8; k++) {
		out->d[k] = (float)qn_dtype_load(d->dtype, d->data, i) * (float)s.scale[k];
		out->m[k] =
			-((float)qn_dtype_load(dmin->dtype, dmin->data, i) * (float)s.offset[k]);
	}
}

static void
unpack_block(const qn_layout_tensor *t, int64_t i, qn_unpacked *out)
{
	const qn_packed *p = t->layout->packed;

	if (p != NULL)
		p->unpack(t->plane[0].data + i * p->bytes, out);
	else
		unpack_super(t, i, out);
}

void
qn_layout_dequant(const qn_layout_tensor *t, float *out)
{
	const int64_t n = qn_layout_elements(t), block = qn_layout_block(t);
	qn_unpacked u;

	if (t->layout->dequant != NULL) {
		t->layout->dequant(t, out);
		return;
	}
	for (int64_t i = 0; i * block < n; i++) {
		unpack_block(t, i, &u);
		values_of(t->layout->packed, &u, (int32_t)block, out + i * block);
	}
}

void
qn_layout_dequant_super(const qn_layout_tensor *t, float *out)
{
	const int64_t n = qn_layout_elements(t);
	qn_unpacked u;

	for (int64_t i = 0; i * QN_K < n; i++) {
		unpack_super(t, i, &u);
		values_of(&qn_packed_q4_K, &u, QN_K, out + i * QN_K);
	}
}

void
qn_layout_dequant_host(const qn_layout_tensor *t, float *out)
{
	const struct qn_layout_desc *h = t->layout->host;
	const int64_t n = qn_layout_elements(t);
	const void *at[QN_PLANES];

	for (int64_t i = 0; i * h->block < n; i++) {
		for (int32_t k = 0; k < t->layout->nplane; k++) {
			const qn_plane *p = qn_layout_plane(t, t->layout->plane[k].name);

			at[k] = p->data + (size_t)i * (p->bytes / (size_t)(n / h->block));
		}
		h->dequant(h->user, at, out + i * h->block);
	}
}

/* ---- unpack ---- */

/* A new plane [leading dims of t…, blocks, each]. */
static uint8_t *
add_plane(qn_arena *a, qn_layout_tensor *t, const char *name, const char *dtype, int64_t block,
	  int64_t each)
{
	qn_plane *p = &t->plane[t->nplane++];

	*p = (qn_plane){.name = name, .dtype = qn_dtype_by_name(dtype), .rank = t->rank + 1};
	memcpy(p->dim, t->dim, (size_t)t->rank * sizeof *t->dim);
	p->dim[t->rank - 1] /= block;
	p->dim[t->rank] = each;
	p->bytes = (size_t)qn_layout_count(p->rank, p->dim, p->dtype->bytes);
	uint8_t *data = QN_NEW(a, uint8_t, p->bytes);
	p->data = data;
	return data;
}

static qn_layout_tensor
as_layout(qn_env *env, const char *name, const qn_layout_tensor *t)
{
	qn_layout_tensor to = {.rank = t->rank};
	qn_status ok = qn_layout_find(env, "", name, &to.layout);

	(void)ok; /* a built-in name */
	memcpy(to.dim, t->dim, sizeof to.dim);
	return to;
}

static qn_status
no_room(qn_env *env, const char *place, const qn_layout_tensor *t)
{
	return qn_report(env, QN_EUNSUPPORTED, "layout.unpack", place,
			 "%s of %d dimensions cannot be unpacked: planes of blocks have one more, "
			 "at most %d",
			 t->layout->name, t->rank, QN_MAX_RANK);
}

/* The nibbles of BlockScaledI4 as bytes; its other planes are views. */
static void
unpack_nibbles(qn_env *env, qn_arena *a, const qn_layout_tensor *t, qn_layout_tensor *out)
{
	const int64_t n = qn_layout_elements(t), block = qn_layout_block(t);
	const qn_plane *m = qn_layout_plane(t, "m");
	qn_layout_tensor to = as_layout(env, "BlockScaledLayout", t);

	to.plane[to.nplane++] = *qn_layout_plane(t, "d");
	uint8_t *q = add_plane(a, &to, "qs", "i8", block, block);
	for (int64_t i = 0; i < n; i++)
		q[i] = (uint8_t)(qn_nibble(qn_layout_plane(t, "qs")->data, i,
					   qn_layout_is_signed(t)) &
				 255);
	if (m != NULL)
		to.plane[to.nplane++] = *m;
	*out = to;
}

qn_status
qn_layout_unpack(qn_env *env, qn_arena *a, const char *place, const qn_layout_tensor *t,
		 qn_layout_tensor *out)
{
	const qn_packed *p = blocks_of(t);
	const int64_t n = qn_layout_elements(t), block = qn_layout_block(t);
	const qn_dtype *half = qn_dtype_by_name("f16"), *f32 = qn_dtype_by_name("f32");
	qn_unpacked u;

	QN_TRY(qn_layout_readable(env, place, t));
	if (t->layout->dequant == qn_layout_dequant_blocks && t->layout->twin != NULL) {
		*out = *t;
		if (t->layout->check == qn_layout_check_blocks_i4)
			unpack_nibbles(env, a, t, out);
		return QN_OK;
	}
	if (p == NULL)
		return qn_report(env, QN_EUNSUPPORTED, "layout.unpack", place,
				 "%s has no blocks that can be unpacked", t->layout->name);
	if (t->rank >= QN_MAX_RANK)
		return no_room(env, place, t);
	qn_layout_tensor to = as_layout(env, "BlockScaledLayout", t);
	const qn_dtype *type = p->exact_half ? half : f32;
	uint8_t *d = add_plane(a, &to, "d", type->name, p->sub, 1);
	uint8_t *q = add_plane(a, &to, "qs", "i8", p->sub, p->sub);
	uint8_t *m = p->offset ? add_plane(a, &to, "m", type->name, p->sub, 1) : NULL;
	for (int64_t i = 0; i * block < n; i++) {
		const int64_t subs = block / p->sub;

		unpack_block(t, i, &u);
		memcpy(q + i * block, u.q, (size_t)block);
		for (int64_t k = 0; k < subs; k++) {
			qn_dtype_store(type, d, i * subs + k, (double)u.d[k]);
			if (m != NULL)
				qn_dtype_store(type, m, i * subs + k, (double)u.m[k]);
		}
	}
	*out = to;
	return QN_OK;
}

/* ---- to planar ---- */

static void
pack_nibbles(qn_arena *a, const qn_layout_tensor *blocks, bool is_signed, qn_env *env,
	     qn_layout_tensor *out)
{
	const int64_t n = qn_layout_elements(blocks), block = qn_layout_block(blocks);
	const uint8_t *q = qn_layout_plane(blocks, "qs")->data;
	const qn_plane *m = qn_layout_plane(blocks, "m");
	qn_layout_tensor to = as_layout(env, "BlockScaledI4Layout", blocks);

	to.plane[to.nplane++] = *qn_layout_plane(blocks, "d");
	uint8_t *qs = add_plane(a, &to, "qs", "u8", block, block / 2);
	for (int64_t i = 0; i < n; i += 2)
		qs[i / 2] = (uint8_t)((q[i] & 15) | (q[i + 1] & 15) << 4);
	if (m != NULL)
		to.plane[to.nplane++] = *m;
	qn_layout_set_meta(&to, "signed", is_signed ? "true" : "false");
	*out = to;
}

static void
super_planar(qn_env *env, qn_arena *a, const qn_layout_tensor *t, qn_layout_tensor *out)
{
	const int64_t n = qn_layout_elements(t) / QN_K;
	qn_layout_tensor to = as_layout(env, t->layout->packed->planar, t);
	uint8_t *plane[7];

	for (int k = 0; k < 7; k++) {
		const qn_plane_row *row = &to.layout->plane[k];
		const char *dtype = row->dtype != NULL ? row->dtype : "f16";
		qn_plane *p = &to.plane[k];

		plane[k] = add_plane(a, &to, row->name, dtype, QN_K,
				     row->tail[0] * (row->tail[1] > 0 ? row->tail[1] : 1));
		if (row->tail[1] > 0) {
			p->dim[p->rank - 1] = row->tail[0];
			p->dim[p->rank++] = row->tail[1];
		}
	}
	for (int64_t i = 0; i < n; i++)
		qn_super_to_planes(t->plane[0].data + i * t->layout->packed->bytes, plane, i);
	*out = to;
}

qn_status
qn_layout_to_planar(qn_env *env, qn_arena *a, const char *place, const qn_layout_tensor *t,
		    qn_layout_tensor *out)
{
	const qn_packed *p = t->layout->packed;

	*out = *t;
	if (p == NULL)
		return qn_layout_readable(env, place, t);
	if (p == &qn_packed_q4_K) {
		if (t->rank + 2 > QN_MAX_RANK)
			return no_room(env, place, t);
		super_planar(env, a, t, out);
		return QN_OK;
	}
	QN_TRY(qn_layout_unpack(env, a, place, t, out));
	if (strcmp(p->planar, "BlockScaledI4Layout") == 0)
		pack_nibbles(a, out, !p->offset, env, out);
	return QN_OK;
}
