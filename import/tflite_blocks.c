/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_blocks.c - BlockwiseQuantization: the scales of a tensor, and maybe its zero points, are another tensor
 * of the file.
 *
 *   weights [O,K], block_size 32, scales [O,K/32]    ->    <i4:f32:{0:1, 1:32}, {{…}}>
 *
 * Along each axis a block is as long as the dimensions of both tensors say; scales of another rank are blocks of the
 * last axis. */
#include "import/tflite.h"

/* The values of the tensor that a field names, as many as n; NULL: none (optional), or reported. */
static const qn_tensor *
parameters(qn_tfl *f, const qn_tfl_tensor *t, const char *what, int64_t index)
{
	qn_tfl_tensor *p =
		index >= 0 && (uint64_t)index < f->now->ntensor ? &f->now->tensor[index] : NULL;

	if (p == NULL || p == t) {
		(void)qn_importer_refuse(
			&f->im, "import.type",
			"tensor '%s' is quantized in blocks, but its %s are tensor "
			"%lld, and the file has %zu",
			t->name, what, (long long)index, f->now->ntensor);
		return NULL;
	}
	return qn_tfl_type(f, p) != NULL ? qn_tfl_constant(f, p) : NULL;
}

/* Blocks along all axes, and how many; false after a report. */
static bool
shape_of(qn_tfl *f, const qn_tfl_tensor *t, const qn_tensor *scale, int64_t size, qn_elem *d,
	 int64_t *count)
{
	const qn_type *s = scale->type;
	int32_t *axis = QN_NEW(f->im.scratch, int32_t, QN_MAX_RANK);
	int64_t *block = QN_NEW(f->im.scratch, int64_t, QN_MAX_RANK), n = 1;
	const bool same = s->rank == t->rank;
	bool ok = t->rank >= 1 && size >= 1;

	for (int32_t i = 0; ok && i < t->rank; i++) {
		const bool last = i == t->rank - 1;

		axis[i] = i;
		if (same)
			count[i] = s->dim[i];
		else
			count[i] = last ? (t->dim[i] + size - 1) / size : t->dim[i];
		ok = count[i] >= 1 && t->dim[i] >= 1 && t->dim[i] % count[i] == 0;
		block[i] = ok ? t->dim[i] / count[i] : 1;
		ok = ok && (!last || block[i] == size || block[i] == 1 || count[i] == 1);
		n *= count[i];
	}
	d->naxis = t->rank;
	d->axis = axis;
	d->block = block;
	if (ok && n == qn_type_count(s))
		return true;
	return qn_importer_refuse(
		       &f->im, "import.type",
		       "tensor '%s' is quantized in blocks of %lld, which do not fit its "
		       "shape and the %lld scales",
		       t->name, (long long)size, (long long)qn_type_count(s)) != 0;
}

const qn_elem *
qn_tfl_blocks(qn_tfl *f, const qn_tfl_tensor *t, const qn_flat_table *q,
	      const qn_plain_info *storage)
{
	const qn_flat_table b = qn_flat_table_in(q, QN_TFL_FIELD_quantization_details);
	const int64_t zeros = qn_flat_int(&b, QN_TFL_FIELD_blockwise_zero_points, QN_FLAT_I32, -1);
	const int64_t size = qn_flat_int(&b, QN_TFL_FIELD_blockwise_block_size, QN_FLAT_I32, 0);
	const qn_tensor *scale = parameters(
		f, t, "scales", qn_flat_int(&b, QN_TFL_FIELD_blockwise_scales, QN_FLAT_I32, 0));
	const qn_tensor *zp =
		scale != NULL && zeros > 0 ? parameters(f, t, "zero points", zeros) : NULL;
	qn_elem d = qn_elem_desc(storage->bits, storage->is_signed);
	int64_t count[QN_MAX_RANK];
	const qn_params *p = NULL;
	const qn_elem *e = NULL;

	if (scale == NULL || (zeros > 0 && zp == NULL) || !shape_of(f, t, scale, size, &d, count))
		return NULL;
	const int64_t n = qn_type_count(scale->type);
	if (zp != NULL && qn_type_count(zp->type) != n) {
		(void)qn_importer_refuse(&f->im, "import.type",
					 "tensor '%s' has %lld scales and %lld zero points",
					 t->name, (long long)n, (long long)qn_type_count(zp->type));
		return NULL;
	}
	if (!qn_tfl_take(f, 16 * (uint64_t)n))
		return NULL;
	double *s = QN_NEW(f->im.scratch, double, (size_t)n);
	int64_t *z = QN_NEW(f->im.scratch, int64_t, (size_t)n);
	for (int64_t i = 0; i < n; i++) {
		s[i] = qn_tensor_f64(scale, i);
		z[i] = zp != NULL ? qn_tensor_i64(zp, i) : 0;
	}
	d.kind = QN_ELEM_UNIFORM;
	d.gran = QN_SUB_CHANNEL;
	if (qn_params_intern(&f->im.m->types, t->name, NULL, (size_t)n, t->rank, count, s,
			     zp != NULL ? z : NULL, &p) == QN_OK) {
		d.scale = qn_scale_vec(&f->im.m->types, p);
		if (qn_elem_make(&f->im.m->types, t->name, &d, &e) == QN_OK)
			return e;
	}
	f->im.problems++;
	return NULL;
}
