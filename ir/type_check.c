/* SPDX-License-Identifier: Apache-2.0 */
/* type_check.c - the rules about a quantized element in a tensor of a certain shape.
 *
 *     per axis     axis < rank, dim(axis) == number of scales
 *     sub-channel  scale dim i == dim i / block i; 1 where the axis is not listed
 *
 * Dynamic dims and unranked tensors skip what cannot be known. */
#include <string.h>

#include "ir/type_impl.h"

static qn_status
check_per_axis(qn_where *w, const qn_elem *e, int32_t rank, const int64_t *dim)
{
	const int32_t axis = e->axis[0];
	const long long n = (long long)qn_elem_nparams(e);

	if (rank == 0)
		return QN_FAIL(qn_where_part(w, QN_PART_AXIS), "type.axis.scalar",
			       "a type with an axis on a scalar; use one scale");
	if (axis >= rank)
		return QN_FAIL(qn_where_part(w, QN_PART_AXIS), "type.axis.rank",
			       "axis %d of a tensor of rank %d", axis, rank);
	if (dim[axis] != QN_DYNAMIC && dim[axis] != n)
		return QN_FAIL(qn_where_part(w, QN_PART_AXIS), "type.axis.size",
			       "%lld scales for axis %d, which has %lld elements", n, axis,
			       (long long)dim[axis]);
	return QN_OK;
}

static qn_status
check_blocks(qn_where *w, const qn_elem *e, int32_t rank, const int64_t *dim)
{
	for (int32_t i = 0; i < e->naxis; i++)
		if (e->axis[i] >= rank)
			return QN_FAIL(qn_where_part(w, QN_PART_AXIS + i), "type.block.rank",
				       "axis %d of a tensor of rank %d", e->axis[i], rank);
	for (int32_t i = 0; i < e->naxis; i++) {
		const long long n = (long long)dim[e->axis[i]];
		const long long block = (long long)e->block[i];

		if (n == QN_DYNAMIC)
			continue;
		if (!e->partial && n % block != 0)
			return QN_FAIL(
				qn_where_part(w, QN_PART_BLOCK + i), "type.block.divide",
				"blocks of %lld do not divide axis %d, which has %lld elements",
				block, e->axis[i], n);
		if (e->partial && n > 0 && block > n)
			return QN_FAIL(
				qn_where_part(w, QN_PART_BLOCK + i), "type.block.size",
				"a block of %lld is larger than axis %d, which has %lld elements",
				block, e->axis[i], n);
	}
	for (int32_t i = 0; i < rank; i++)
		if (dim[i] == 0)
			return QN_FAIL(qn_where_part(w, QN_PART_AXIS), "type.block.zero_dim",
				       "dimension %d is 0: it has no blocks", i);
	return QN_OK;
}

/* Number of scales along dim i, -1 when the dim is dynamic. */
static int64_t
scale_dim(const qn_elem *e, const int64_t *dim, int32_t i)
{
	const int64_t block = qn_elem_block(e, i);

	if (block == 0)
		return 1;
	return dim[i] == QN_DYNAMIC ? -1 : (dim[i] - 1) / block + 1;
}

static qn_status
check_vector_shape(qn_where *w, const qn_elem *e, int32_t rank, const int64_t *dim)
{
	const qn_params *p = qn_scale_params(e->scale);

	if (p->rank != rank)
		return QN_FAIL(qn_where_part(w, QN_PART_SCALE), "type.block.scale_rank",
			       "scales of rank %d for a tensor of rank %d", p->rank, rank);
	for (int32_t i = 0; i < rank; i++) {
		const int64_t want = scale_dim(e, dim, i);

		if (want >= 0 && p->shape[i] != want)
			return QN_FAIL(qn_where_part(w, QN_PART_SCALE), "type.block.scale_dim",
				       "%lld scales along dimension %d, which needs %lld",
				       (long long)p->shape[i], i, (long long)want);
	}
	return QN_OK;
}

/* A symbol has no shape, only a length. */
static qn_status
check_symbol_len(qn_where *w, const qn_elem *e, int32_t rank, const int64_t *dim)
{
	const int64_t len = e->scale->len;
	int64_t n = 1;

	for (int32_t i = 0; i < rank && n <= len; i++) {
		const int64_t k = scale_dim(e, dim, i);

		if (k < 0)
			return QN_OK;
		n = k <= len ? n * k : len + 1;
	}
	if (n != len)
		return QN_FAIL(qn_where_part(w, QN_PART_SCALE), "type.block.scale_dim",
			       "%lld scales, but the tensor has another number of blocks",
			       (long long)len);
	return QN_OK;
}

qn_status
qn_elem_check_shape(qn_where *w, const qn_elem *e, int32_t rank, const int64_t *dim)
{
	if (rank < -1 || rank > QN_MAX_RANK)
		return QN_FAIL(w, "type.rank", "rank %d; a tensor has at most %d dimensions", rank,
			       QN_MAX_RANK);
	for (int32_t i = 0; i < rank; i++)
		if (dim[i] < QN_DYNAMIC)
			return QN_FAIL(w, "type.dim", "dimension %d is %lld; use 0 or more, or ?",
				       i, (long long)dim[i]);
	if (e->kind != QN_ELEM_UNIFORM || rank < 0 || e->gran == QN_PER_TENSOR)
		return QN_OK;
	if (e->gran == QN_PER_AXIS)
		return check_per_axis(w, e, rank, dim);
	if (rank == 0)
		return QN_FAIL(qn_where_part(w, QN_PART_AXIS), "type.block.scalar",
			       "a type with blocks on a scalar; use one scale");
	QN_TRY(check_blocks(w, e, rank, dim));
	if (qn_scale_params(e->scale) != NULL)
		return check_vector_shape(w, e, rank, dim);
	return check_symbol_len(w, e, rank, dim);
}

static qn_status
check(qn_where *w, const qn_type *type)
{
	if (!type->is_tuple)
		return qn_elem_check_shape(w, type->elem, type->rank, type->dim);
	for (uint32_t i = 0; i < type->nfield; i++)
		QN_TRY(check(w, type->field[i]));
	return QN_OK;
}

qn_status
qn_type_check(const qn_types *t, const char *place, const qn_type *type)
{
	qn_where w = qn_where_place(t, place);

	return check(&w, type);
}

static int64_t
elements_before(const qn_type *t, int32_t axis)
{
	int64_t n = 1;

	for (int32_t k = 0; k < axis; k++)
		n *= t->dim[k];
	return n;
}

int32_t
qn_type_same_axis(const qn_type *from, int32_t axis, const qn_type *to)
{
	for (int32_t k = 0; k < to->rank; k++)
		if (to->dim[k] == from->dim[axis] &&
		    elements_before(to, k) == elements_before(from, axis))
			return k;
	return -1;
}

size_t
qn_type_param_index(const qn_type *type, const int64_t *idx)
{
	const qn_elem *e = type->elem;
	size_t index = 0;

	if (type->is_tuple || e->kind != QN_ELEM_UNIFORM || e->gran == QN_PER_TENSOR ||
	    type->rank < 1)
		return 0;
	if (e->gran == QN_PER_AXIS)
		return e->axis[0] < type->rank ? (size_t)idx[e->axis[0]] : 0;
	const qn_params *p = qn_scale_params(e->scale);
	for (int32_t i = 0; i < type->rank; i++) {
		const int64_t block = qn_elem_block(e, i);
		int64_t n = scale_dim(e, type->dim, i);

		if (n < 0) /* dynamic: only the vector knows */
			n = p != NULL && p->rank == type->rank ? p->shape[i] : 1;
		if (block > 0)
			index = index * (size_t)n + (size_t)(idx[i] / block);
	}
	return index;
}
