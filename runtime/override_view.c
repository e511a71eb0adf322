/* SPDX-License-Identifier: Apache-2.0 */
/* override_view.c - operands as the host's kernels see them: numbers and planes.
 *
 *   i8 block 32 [2,64]     qs i8 [2,64]   d f64 [2,2]   zp i64 [2,2]   mantissa i16 [2,2] */
#include <string.h>

#include "ir/block_scales.h"
#include "ir/custom.h"
#include "runtime/override.h"

enum { MOST_PLANES = 5 };

static bool
in_blocks(const qn_elem *e)
{
	return e->kind == QN_ELEM_UNIFORM && e->gran == QN_SUB_CHANNEL;
}

static const char *
form_of(const qn_type *type, qn_arena *a)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "%s", qn_plain_table[type->elem->plain].name);
	if (!in_blocks(type->elem))
		return qn_buf_str(&b);
	for (int32_t i = 0; i + 1 < type->rank; i++)
		if (qn_block_along(type, i) != 1) {
			qn_buf_puts(&b, " block *");
			return qn_buf_str(&b);
		}
	qn_buff(&b, " block %lld", (long long)qn_block_along(type, type->rank - 1));
	return qn_buf_str(&b);
}

static void
add_plane(qn_kernel_operand *v, qn_plane_view *p, const char *name, const char *dtype, int rank,
	  const int64_t *dim, const void *data, size_t each)
{
	qn_plane_view *to = &p[v->nplane++];

	*to = (qn_plane_view){
		.name = name, .dtype = dtype, .rank = rank, .data = data, .bytes = each};
	for (int i = 0; i < rank; i++) {
		to->dim[i] = dim[i];
		to->bytes *= (size_t)dim[i];
	}
}

/* Scales and zero points: of rank 0, [channels], or the number of blocks along each axis. */
static void
add_scales(const qn_types *t, const qn_type *type, qn_kernel_operand *v, qn_plane_view *p,
	   qn_arena *a)
{
	const qn_elem *e = type->elem;
	const size_t n = qn_elem_nparams(e);
	double *scale = QN_NEW(a, double, n);
	int64_t *zp = QN_NEW(a, int64_t, n);
	int64_t dim[QN_MAX_RANK] = {(int64_t)n};
	int rank = e->gran == QN_PER_TENSOR ? 0 : 1;

	for (size_t i = 0; i < n; i++)
		qn_elem_param(t, e, i, &scale[i], &zp[i]);
	if (in_blocks(e)) {
		rank = type->rank;
		for (int32_t i = 0; i < rank; i++) {
			const int64_t along = qn_block_along(type, i);

			dim[i] = along > 0 ? (type->dim[i] + along - 1) / along : 0;
		}
	}
	add_plane(v, p, "d", "f64", rank, dim, scale, sizeof *scale);
	add_plane(v, p, "zp", "i64", rank, dim, zp, sizeof *zp);
}

/* What the products of weights in blocks are computed with. */
static void
add_mantissas(const qn_types *t, const qn_type *type, qn_kernel_operand *v, qn_plane_view *p,
	      qn_arena *a)
{
	qn_block_scales b;

	if (!in_blocks(type->elem) || type->rank < 2 || !qn_block_scales_find(t, type, a, &b))
		return;
	int64_t dim[QN_MAX_RANK] = {b.channels};
	for (int32_t i = 1; i < type->rank; i++)
		dim[i] = b.count[i];
	add_plane(v, p, "mantissa", "i16", type->rank, dim, b.mantissa, sizeof(int16_t));
	if (b.offset != NULL)
		add_plane(v, p, "offset", "i16", type->rank, dim, b.offset, sizeof(int16_t));
}

qn_kernel_operand *
qn_override_view(const qn_types *t, const qn_type *type, const qn_tensor *value, qn_arena *a)
{
	const qn_elem *e = type->elem;
	const bool quantized = e->kind == QN_ELEM_UNIFORM && !qn_elem_has_symbol(e);
	qn_kernel_operand *v = QN_NEW(a, qn_kernel_operand, 1);
	qn_plane_view *p = QN_NEW(a, qn_plane_view, MOST_PLANES);
	qn_buf text;

	qn_buf_init(&text, a);
	qn_type_print(&text, type);
	*v = (qn_kernel_operand){.size = sizeof *v,
				 .form = form_of(type, a),
				 .type = qn_buf_str(&text),
				 .numbers = qn_custom_view(t, type, a),
				 .is_constant = value != NULL,
				 .plane = p};
	add_plane(v, p, quantized ? "qs" : "", qn_plain_table[e->plain].name, type->rank, type->dim,
		  value != NULL ? value->data : NULL, qn_elem_bytes(e));
	if (!quantized)
		return v;
	add_scales(t, type, v, p, a);
	add_mantissas(t, type, v, p, a);
	return v;
}
