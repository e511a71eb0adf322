/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_constant.c - constants of a TFLite file, and the float values of quantized ones.
 *
 *   INT8 under a float operator              ->    the same numbers in f32
 *
 * Bytes of constants stay where the file has them. */
#include "import/tflite.h"

#include "ir/diag.h"

/* The bytes of a buffer, which may follow the tables; NULL: none (*bytes 0), or reported. */
static const void *
buffer_bytes(qn_tfl *f, const qn_tfl_tensor *t, size_t *bytes)
{
	size_t index = (size_t)qn_flat_int(&t->t, QN_TFL_FIELD_tensor_buffer, QN_FLAT_U32, 0);
	qn_flat_table b = qn_flat_table_at(&f->buffers, index);
	qn_flat_vector data = qn_flat_vector_in(&b, QN_TFL_FIELD_buffer_data, 1);
	int64_t at = qn_flat_int(&b, QN_TFL_FIELD_buffer_offset, QN_FLAT_U64, 0);
	int64_t size = qn_flat_int(&b, QN_TFL_FIELD_buffer_size, QN_FLAT_U64, 0);

	*bytes = data.n;
	if (data.n > 0)
		return f->flat.data + data.at;
	if (at <= 1 || size <= 0)
		return NULL;
	if ((uint64_t)at > f->flat.n || (uint64_t)size > f->flat.n - (uint64_t)at) {
		qn_importer_failed(
			&f->im,
			qn_importer_damaged(&f->im,
					    "tensor '%s' is %lld bytes at %lld of the file, "
					    "which has %zu; the file is truncated",
					    t->name, (long long)size, (long long)at, f->flat.n));
		*bytes = (size_t)size;
		return NULL;
	}
	*bytes = (size_t)size;
	return f->flat.data + at;
}

/* Two 4-bit values per byte, the first in the lower half, become one per byte. */
static const void *
unpacked(qn_tfl *f, const uint8_t *data, size_t n)
{
	int8_t *quantized = QN_NEW(f->im.m->arena, int8_t, n + 1);

	for (size_t i = 0; i < n; i++) {
		int32_t half = data[i / 2] >> (i % 2 * 4) & 15;

		quantized[i] = (int8_t)(half >= 8 ? half - 16 : half);
	}
	return quantized;
}

/* The elements of a constant, one after the other; NULL after a report. */
static const void *
elements(qn_tfl *f, const qn_tfl_tensor *t, const qn_type *type, const void *data, size_t bytes)
{
	qn_flat_table sparsity = qn_flat_table_in(&t->t, QN_TFL_FIELD_tensor_sparsity);
	size_t count = (size_t)qn_type_count(type), want = qn_type_bytes(type);
	bool halves = t->elem->bits == 4 ||
		      (t->elem->kind == QN_ELEM_PLAIN && t->elem->plain == QN_PLAIN_i4);

	if (sparsity.at != 0 && !halves)
		return qn_tfl_dense_bytes(f, t, &sparsity, data, bytes, qn_elem_bytes(t->elem),
					  (int64_t)count);
	if (bytes != (halves ? (count + 1) / 2 : want) || sparsity.at != 0) {
		(void)qn_importer_refuse(&f->im, "import.file",
					 "tensor '%s' has %zu bytes, its shape and type need %zu",
					 t->name, bytes, halves ? (count + 1) / 2 : want);
		if (sparsity.at == 0)
			qn_importer_failed(&f->im, QN_EINVALID);
		return NULL;
	}
	return halves ? qn_tfl_take(f, count) ? unpacked(f, data, count) : NULL : data;
}

bool
qn_tfl_is_variable(const qn_tfl_tensor *t)
{
	return qn_flat_int(&t->t, QN_TFL_FIELD_tensor_is_variable, QN_FLAT_U8, 0) != 0;
}

const qn_tensor *
qn_tfl_constant(qn_tfl *f, qn_tfl_tensor *t)
{
	size_t bytes = 0;

	if (qn_tfl_is_variable(t)) {
		(void)qn_importer_refuse(&f->im, "import.op",
					 "tensor '%s' is a variable that lasts from run to run; "
					 "models with state are not supported",
					 t->name);
		return NULL;
	}
	const void *data = buffer_bytes(f, t, &bytes);
	const qn_type *type = qn_type_tensor(&f->im.m->types, t->elem, t->rank, t->dim);
	int64_t count = qn_type_count(type);
	if (data == NULL && (bytes > 0 || f->flat.damage != NULL)) /* the reader reports damage */
		return NULL;
	if (data == NULL && count == 0)
		data = f->flat.data;
	if (data == NULL || count < 0) {
		(void)qn_importer_refuse(
			&f->im, "import.input",
			"tensor '%s' is not a result of an operator, not an input and has no data",
			t->name);
		return NULL;
	}
	data = elements(f, t, type, data, bytes);
	return data != NULL ? qn_tensor_view_file(f->im.m->arena, type, data) : NULL;
}

/* Any constant in f32; NULL after a report. */
static const qn_tensor *
real_tensor(qn_tfl *f, const qn_tensor *x)
{
	const qn_types *types = &f->im.m->types;
	const qn_type *type = qn_type_with_elem(&f->im.m->types, x->type,
						qn_elem_plain(&f->im.m->types, QN_PLAIN_f32));

	if (!qn_tfl_take(f, 4 * (uint64_t)qn_type_count(type)))
		return NULL;
	if (qn_elem_is_quant(x->type->elem))
		return qn_tensor_dequantize(types, f->im.m->arena, x, type);
	return qn_tensor_view(f->im.m->arena, type, qn_tensor_as_f32(f->im.m->arena, x));
}

qn_id
qn_tfl_value(qn_tfl *f, qn_tfl_tensor *t)
{
	const qn_type *type;
	const qn_tensor *x;

	if (t->id != 0 || t->is_made)
		return t->id;
	t->is_made = true; /* reported at most once */
	if ((type = qn_tfl_type(f, t)) == NULL || (x = qn_tfl_constant(f, t)) == NULL)
		return 0;
	if (type->elem != t->elem && (x = real_tensor(f, x)) == NULL)
		return 0;
	t->id = qn_importer_const(&f->im, t->name, x);
	qn_tfl_add_name(f, t, t->id, t->id);
	return t->id;
}

qn_id
qn_tfl_real(qn_tfl_op *o, uint32_t i)
{
	qn_tfl_tensor *t = i < o->nin ? o->from[i] : NULL;
	qn_importer *im = o->im;

	if (t == NULL)
		return 0;
	if (t->real != 0)
		return t->real;
	const qn_tensor *known = qn_importer_known(im, o->in[i]);
	const qn_type *type = qn_importer_type(im, o->in[i]);
	if (qn_type_is_f32(type)) {
		t->real = o->in[i];
	} else if (known != NULL) {
		const qn_tensor *x = real_tensor(o->f, known);

		t->real = x != NULL ? qn_importer_const(im, t->name, x) : 0;
		qn_tfl_add_name(o->f, t, t->real, t->real);
	} else if (qn_elem_is_quant(type->elem)) {
		t->real = qn_importer_unary(im, QN_OP_dequantize, o->in[i]);
	} else {
		t->real = qn_importer_cast(im, o->in[i], QN_PLAIN_f32);
	}
	return t->real;
}
