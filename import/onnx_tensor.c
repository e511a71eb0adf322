/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_tensor.c - TensorProto as a tensor: its elements stand in raw_data, in a list of a type that is
 * wide enough, or in a file beside the model.
 *
 *   FLOAT    raw_data                  a view of the file
 *   FLOAT16  raw_data, int32_data      f32
 *   UINT4    raw_data                  two elements per byte, the first one in the low half -> one per byte */
#include "import/onnx.h"

#include <math.h>
#include <onnx/onnx.pb-c.h>
#include <string.h>

#include "import/wire.h"
#include "ir/limits.h"

/* What TensorProto.DataType numbers mean (onnx.proto, and what came after the schema that is compiled in). */
static const struct {
	const char *name;
	bool known;
	qn_plain stored, plain; /* in the file; here */
} types[] = {
	{"UNDEFINED", false, 0, 0},
	{"FLOAT", true, QN_PLAIN_f32, QN_PLAIN_f32},
	{"UINT8", true, QN_PLAIN_u8, QN_PLAIN_u8},
	{"INT8", true, QN_PLAIN_i8, QN_PLAIN_i8},
	{"UINT16", true, QN_PLAIN_u16, QN_PLAIN_u16},
	{"INT16", true, QN_PLAIN_i16, QN_PLAIN_i16},
	{"INT32", true, QN_PLAIN_i32, QN_PLAIN_i32},
	{"INT64", true, QN_PLAIN_i64, QN_PLAIN_i64},
	{"STRING", false, 0, 0},
	{"BOOL", true, QN_PLAIN_bool, QN_PLAIN_bool},
	{"FLOAT16", true, QN_PLAIN_f16, QN_PLAIN_f32},
	{"DOUBLE", true, QN_PLAIN_f64, QN_PLAIN_f32},
	{"UINT32", true, QN_PLAIN_u32, QN_PLAIN_u32},
	{"UINT64", true, QN_PLAIN_u64, QN_PLAIN_u64},
	{"COMPLEX64", false, 0, 0},
	{"COMPLEX128", false, 0, 0},
	{"BFLOAT16", true, QN_PLAIN_bf16, QN_PLAIN_f32},
	{"FLOAT8E4M3FN", false, 0, 0},
	{"FLOAT8E4M3FNUZ", false, 0, 0},
	{"FLOAT8E5M2", false, 0, 0},
	{"FLOAT8E5M2FNUZ", false, 0, 0},
	{"UINT4", true, QN_PLAIN_u4, QN_PLAIN_u4},
	{"INT4", true, QN_PLAIN_i4, QN_PLAIN_i4},
	{"FLOAT4E2M1", false, 0, 0},
	{"FLOAT8E8M0", false, 0, 0},
	{"UINT2", true, QN_PLAIN_u2, QN_PLAIN_u2},
	{"INT2", true, QN_PLAIN_i2, QN_PLAIN_i2},
};

/* Types that only constants have: their bits, as integers, are such floats; of FLOAT8E8M0, which scales have, powers
 * of two. */
static const struct {
	const char *name;
	qn_plain bits;
	qn_small_float small;
} storages[] = {
	{"FLOAT8E4M3FN", QN_PLAIN_u8, QN_SMALL_E4M3},
	{"FLOAT8E4M3FNUZ", QN_PLAIN_u8, QN_SMALL_E4M3FNUZ},
	{"FLOAT8E5M2", QN_PLAIN_u8, QN_SMALL_E5M2},
	{"FLOAT8E5M2FNUZ", QN_PLAIN_u8, QN_SMALL_E5M2FNUZ},
	{"FLOAT4E2M1", QN_PLAIN_u4, QN_SMALL_E2M1},
	{"FLOAT8E8M0", QN_PLAIN_u8, QN_SMALL_NONE},
};

bool
qn_onnx_data_type(int64_t number, qn_plain *plain)
{
	if (number < 0 || (size_t)number >= QN_COUNT(types) || !types[number].known)
		return false;
	*plain = types[number].plain;
	return true;
}

qn_plain
qn_onnx_stored_type(int64_t number)
{
	return types[number].stored;
}

const char *
qn_onnx_type_name(int64_t number)
{
	return number < 0 || (size_t)number >= QN_COUNT(types) ? "unknown" : types[number].name;
}

/* How many elements of a type share a byte in the file, the first one in its lowest bits. */
static uint32_t
in_a_byte(qn_plain p)
{
	return p == QN_PLAIN_bool || qn_plain_table[p].bits >= 8 ? 1 : 8U / qn_plain_table[p].bits;
}

static const char *
name_of(const Onnx__TensorProto *t)
{
	return t->name != NULL ? t->name : "";
}

static const qn_tensor *
damaged(qn_onnx *o, const Onnx__TensorProto *t, const char *what, uint64_t have, uint64_t want)
{
	qn_importer_failed(
		&o->im, qn_importer_damaged(&o->im, "tensor '%s' has %llu %s; its shape needs %llu",
					    name_of(t), (unsigned long long)have, what,
					    (unsigned long long)want));
	return NULL;
}

/* The type with which it is stored; NULL after a report. */
static const qn_type *
stored_type(qn_onnx *o, const Onnx__TensorProto *t, qn_plain stored)
{
	uint64_t bytes = qn_plain_table[stored].bytes;
	uint64_t most = qn_limit(o->im.m->env, QN_LIMIT_BYTES);

	if (t->n_dims > QN_MAX_RANK) {
		(void)qn_importer_refuse(&o->im, "import.rank",
					 "tensor '%s' has %zu dimensions; at most %d are possible",
					 name_of(t), t->n_dims, (int)QN_MAX_RANK);
		return NULL;
	}
	for (size_t i = 0; i < t->n_dims; i++) {
		if (t->dims[i] < 0 || (uint64_t)t->dims[i] > qn_limit(o->im.m->env, QN_LIMIT_DIM) ||
		    (bytes > 0 && (uint64_t)t->dims[i] > most / bytes)) {
			(void)qn_importer_refuse(&o->im, "import.file",
						 "tensor '%s' has a dimension of %lld", name_of(t),
						 (long long)t->dims[i]);
			return NULL;
		}
		bytes *= (uint64_t)t->dims[i];
	}
	if (!qn_importer_dims_fit((int32_t)t->n_dims, t->dims)) {
		(void)qn_importer_refuse(&o->im, "import.file",
					 "tensor '%s' has dimensions of too "
					 "many elements",
					 name_of(t));
		return NULL;
	}
	return qn_type_plain(&o->im.m->types, stored, (int32_t)t->n_dims, t->dims);
}

/* ---- elements in a list ---- */

/* A list as bits of the stored type; data NULL: the list is another one. */
static const qn_tensor *
from_list(qn_onnx *o, const Onnx__TensorProto *t, const qn_type *type)
{
	uint64_t count = (uint64_t)qn_type_count(type);
	qn_plain p = type->elem->plain;
	uint32_t share = in_a_byte(p);
	uint64_t want = (count + share - 1) / share;
	bool wide = p == QN_PLAIN_u32 || p == QN_PLAIN_u64;
	uint64_t have = p == QN_PLAIN_f32   ? t->n_float_data
			: p == QN_PLAIN_f64 ? t->n_double_data
			: p == QN_PLAIN_i64 ? t->n_int64_data
			: wide              ? t->n_uint64_data
					    : t->n_int32_data;
	qn_plain bits = p == QN_PLAIN_f16 || p == QN_PLAIN_bf16 ? QN_PLAIN_u16 : p;
	void *data;

	if (have != want)
		return damaged(o, t, "elements", have, want);
	if (!qn_importer_take_type(&o->im, type))
		return NULL;
	qn_tensor *x = qn_tensor_new(o->im.m->arena, type, &data);
	for (uint64_t k = 0; k < count; k++) {
		int64_t i = (int64_t)k;
		if (p == QN_PLAIN_f32)
			qn_store_f64(data, p, i, (double)t->float_data[k]);
		else if (p == QN_PLAIN_f64)
			qn_store_f64(data, p, i, t->double_data[k]);
		else if (p == QN_PLAIN_i64)
			qn_store_i64(data, p, i, t->int64_data[k]);
		else if (p == QN_PLAIN_u64) /* no i64 holds them all */
			memcpy((uint64_t *)data + k, &t->uint64_data[k], sizeof(uint64_t));
		else if (wide)
			qn_store_i64(data, p, i, (int64_t)t->uint64_data[k]);
		else if (share > 1)
			((uint8_t *)data)[k] =
				(uint8_t)(t->int32_data[k / share] >> (k % share * 8 / share));
		else
			qn_store_i64(data, bits, i, t->int32_data[k]);
	}
	return x;
}

/* ---- elements as bytes ---- */

static const qn_tensor *
from_bytes(qn_onnx *o, const Onnx__TensorProto *t, const qn_type *type)
{
	const size_t count = (size_t)qn_type_count(type), share = in_a_byte(type->elem->plain);
	size_t want = share > 1 ? (count + share - 1) / share : qn_type_bytes(type);
	size_t have = want;
	const uint8_t *data =
		t->has_data_location &&
				t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL
			? qn_onnx_external(o, t, &have)
			: qn_wire_bulk(&t->raw_data, o->data, &have);
	void *bits;

	if (data == NULL && (want > 0 || have > 0))
		return NULL;
	if (have != want)
		return damaged(o, t, "bytes", have, want);
	if (have <= 64 && have > 0) /* few bytes may lie with the messages */
		data = qn_arena_copy(o->im.m->arena, data, have);
	if (share <= 1)
		return qn_tensor_view_file(o->im.m->arena, type, data);
	if (!qn_importer_take_type(&o->im, type))
		return NULL;
	qn_tensor *x = qn_tensor_new(o->im.m->arena, type, &bits);
	for (size_t i = 0; i < count; i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no element without data */
		((uint8_t *)bits)[i] = (uint8_t)(data[i / share] >> (i % share * 8 / share));
	return x;
}

/* ---- the element types that exist here ---- */

/* Elements that shared a byte have one each, with those of others above their bits; bool holds 0 and 1. */
static const qn_tensor *
tidy(qn_onnx *o, const qn_tensor *x, qn_plain stored, qn_plain plain)
{
	const qn_plain_info *info = &qn_plain_table[stored];
	const unsigned sign = info->is_signed ? 1U << (info->bits - 1) % 8 : 0;
	const unsigned mask = (1U << info->bits % 8) - 1;
	int64_t n = qn_type_count(x->type);
	void *data;

	if (stored == plain && in_a_byte(stored) == 1 && stored != QN_PLAIN_bool)
		return x;
	const qn_type *type =
		qn_type_with_elem(&o->im.m->types, x->type, qn_elem_plain(&o->im.m->types, plain));
	if (!qn_importer_take_type(&o->im, type))
		return NULL;
	qn_tensor *y = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t i = 0; i < n; i++) {
		if (stored != plain) {
			qn_store_f64(data, plain, i, qn_tensor_f64(x, i));
			continue;
		}
		uint8_t byte = ((const uint8_t *)x->data)[i];
		((uint8_t *)data)[i] = stored == QN_PLAIN_bool
					       ? byte != 0
					       : (uint8_t)(((byte & mask) ^ sign) - sign);
	}
	return y;
}

/* Floats of few bits as values of scale 1, which DequantizeLinear gives another one. */
static const qn_tensor *
as_small(qn_onnx *o, const qn_tensor *x, qn_small_float small)
{
	qn_elem d = qn_elem_desc(qn_small_table[small].bits, false);
	const qn_elem *e = NULL;

	d.small = small;
	d.scale = qn_scale_const(&o->im.m->types, 1.0);
	if (qn_elem_make(&o->im.m->types, o->im.file, &d, &e) != QN_OK) {
		o->im.problems++;
		return NULL;
	}
	return qn_tensor_view(o->im.m->arena, qn_type_with_elem(&o->im.m->types, x->type, e),
			      x->data);
}

/* Powers of two, which blocks have as scales: bits e stand for 2^(e - 127), 255 for NaN. */
static const qn_tensor *
powers(qn_onnx *o, const qn_tensor *x)
{
	const qn_type *type = qn_type_with_elem(&o->im.m->types, x->type,
						qn_elem_plain(&o->im.m->types, QN_PLAIN_f32));
	void *data;

	if (!qn_importer_take_type(&o->im, type))
		return NULL;
	qn_tensor *y = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t i = 0; i < qn_type_count(type); i++) {
		const int64_t e = qn_tensor_i64(x, i);

		qn_store_f64(data, QN_PLAIN_f32, i,
			     e == 255 ? (double)NAN : ldexp(1, (int)e - 127));
	}
	return y;
}

/* Row of `storages`; their number: it is not one of them. */
static size_t
storage_of(int64_t number)
{
	size_t i = 0;

	while (i < QN_COUNT(storages) && strcmp(storages[i].name, qn_onnx_type_name(number)) != 0)
		i++;
	return i;
}

const qn_tensor *
qn_onnx_read_tensor(qn_onnx *o, const Onnx__TensorProto *t)
{
	const size_t storage = storage_of(t->data_type);
	const bool is_storage = storage < QN_COUNT(storages);
	const qn_tensor *x;
	qn_plain plain, stored;

	if (is_storage) {
		plain = stored = storages[storage].bits;
	} else if (!qn_onnx_data_type(t->data_type, &plain)) {
		(void)qn_importer_refuse(&o->im, "import.type",
					 "tensor '%s' is of type %d (%s), which is not supported",
					 name_of(t), (int)t->data_type,
					 qn_onnx_type_name(t->data_type));
		return NULL;
	}
	if (!is_storage)
		stored = types[t->data_type].stored;
	if (t->segment != NULL) {
		(void)qn_importer_refuse(&o->im, "import.type",
					 "tensor '%s' is a segment of another one", name_of(t));
		return NULL;
	}
	const qn_type *type = stored_type(o, t, stored);
	if (type == NULL)
		return NULL;
	if (t->has_raw_data || (t->has_data_location &&
				t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL))
		x = from_bytes(o, t, type);
	else
		x = from_list(o, t, type);
	x = x != NULL ? tidy(o, x, stored, plain) : NULL;
	if (x == NULL || !is_storage)
		return x;
	return storages[storage].small != QN_SMALL_NONE ? as_small(o, x, storages[storage].small)
							: powers(o, x);
}

/* ---- sparse ---- */

/* Where value k goes, -1: nowhere.  indices: one number per value, or one for each dimension. */
static int64_t
place_of(const Onnx__SparseTensorProto *t, const qn_tensor *indices, int64_t k)
{
	int64_t at = 0;

	if (indices->type->rank == 1)
		return qn_tensor_i64(indices, k);
	for (size_t i = 0; i < t->n_dims; i++) {
		int64_t x = qn_tensor_i64(indices, k * (int64_t)t->n_dims + (int64_t)i);
		if (x < 0 || x >= t->dims[i])
			return -1;
		at = at * t->dims[i] + x;
	}
	return at;
}

const qn_tensor *
qn_onnx_read_sparse(qn_onnx *o, const Onnx__SparseTensorProto *t)
{
	Onnx__TensorProto whole = {.n_dims = t->n_dims, .dims = t->dims};
	void *data;

	if (t->values == NULL || t->indices == NULL) {
		(void)qn_importer_refuse(&o->im, "import.file",
					 "a sparse tensor has no %s; the file is damaged",
					 t->values == NULL ? "values" : "indices");
		return NULL;
	}
	const qn_tensor *values = qn_onnx_read_tensor(o, t->values);
	const qn_tensor *indices = qn_onnx_read_tensor(o, t->indices);
	if (values == NULL || indices == NULL)
		return NULL;
	const qn_type *type = stored_type(o, &whole, values->type->elem->plain);
	if (type == NULL || !qn_importer_take_type(&o->im, type))
		return NULL;
	int64_t n = qn_type_count(values->type), count = qn_type_count(type);
	size_t width = qn_elem_bytes(type->elem);
	qn_tensor *x = qn_tensor_new(o->im.m->arena, type, &data);
	int64_t each = indices->type->rank == 1 ? 1 : (int64_t)t->n_dims;
	bool ok = indices->type->elem->plain == QN_PLAIN_i64 &&
		  qn_type_count(indices->type) == n * each;
	for (int64_t k = 0; ok && k < n; k++) {
		int64_t at = place_of(t, indices, k);
		ok = at >= 0 && at < count;
		if (ok)
			memcpy((char *)data + (size_t)at * width,
			       (const char *)values->data + (size_t)k * width, width);
	}
	if (ok)
		return x;
	(void)qn_importer_refuse(&o->im, "import.file",
				 "a sparse tensor's indices are outside its shape");
	return NULL;
}
