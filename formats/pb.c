/* SPDX-License-Identifier: Apache-2.0 */
/* pb.c - see pb.h.
 *
 *   08 02   08 03   10 01        4a 18 …              field << 3 | kind of value: 0 varint, 1 eight bytes, 2 length and bytes,
 *   dims 2, dims 3, data_type 1, raw_data, 24 bytes                               5 four bytes
 *
 * Elements are in raw_data, little-endian, or as numbers in the list of their type, packed into one field or one field each.
 * A first sweep finds everything but the numbers, a second one stores these. */
#include "formats/pb.h"

#include <string.h>

#include "formats/file.h"
#include "ir/diag.h"
#include "ir/dtypes.h"

enum { VARINT = 0, EIGHT = 1, BYTES = 2, FOUR = 5 };
enum {
	DIMS = 1,
	DATA_TYPE = 2,
	FLOATS = 4,
	INTS32 = 5,
	INTS64 = 7,
	RAW = 9,
	DOUBLES = 10,
	UINTS64 = 11,
	LOCATION = 14
};

/* By the number of ONNX; list: the field of its numbers. */
static const struct {
	const char *name;
	qn_plain plain;
	int list;
} dtypes[] = {
	{"UNDEFINED", QN_PLAIN_f32, 0},      {"FLOAT", QN_PLAIN_f32, FLOATS},
	{"UINT8", QN_PLAIN_u8, INTS32},      {"INT8", QN_PLAIN_i8, INTS32},
	{"UINT16", QN_PLAIN_u16, INTS32},    {"INT16", QN_PLAIN_i16, INTS32},
	{"INT32", QN_PLAIN_i32, INTS32},     {"INT64", QN_PLAIN_i64, INTS64},
	{"STRING", QN_PLAIN_f32, 0},         {"BOOL", QN_PLAIN_bool, INTS32},
	{"FLOAT16", QN_PLAIN_f16, INTS32},   {"DOUBLE", QN_PLAIN_f64, DOUBLES},
	{"UINT32", QN_PLAIN_u32, UINTS64},   {"UINT64", QN_PLAIN_u64, UINTS64},
	{"COMPLEX64", QN_PLAIN_f32, 0},      {"COMPLEX128", QN_PLAIN_f32, 0},
	{"BFLOAT16", QN_PLAIN_bf16, INTS32},
};

typedef struct reader {
	qn_env *env;
	const char *place;
	const char *at, *end;
} reader;

typedef struct field {
	uint64_t number, value; /* of a varint, or bits */
	int kind;
	const char *data; /* of BYTES */
	size_t n;
} field;

typedef struct tensor {
	int32_t rank;
	int64_t dim[QN_MAX_RANK];
	uint64_t dtype, location;
	const char *raw;
	size_t nraw;
	/* the second sweep */
	void *data;
	int64_t count, stored;
} tensor;

static qn_status
bad(const reader *r, const char *what)
{
	return qn_report(r->env, QN_EINVALID, "pb.syntax", r->place,
			 "not a tensor of ONNX (TensorProto): %s", what);
}

static bool
read_varint(reader *r, uint64_t *v)
{
	*v = 0;
	for (int shift = 0; shift < 64 && r->at < r->end; shift += 7) {
		const uint8_t byte = (uint8_t)*r->at++;

		*v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return true;
	}
	return false;
}

static bool
read_bits(reader *r, size_t bytes, uint64_t *v)
{
	if ((size_t)(r->end - r->at) < bytes)
		return false;
	*v = qn_little_get(r->at, bytes);
	r->at += bytes;
	return true;
}

static bool
read_field(reader *r, field *f)
{
	uint64_t key, n;

	*f = (field){0};
	if (!read_varint(r, &key))
		return false;
	f->number = key >> 3;
	f->kind = (int)(key & 7);
	if (f->kind == VARINT)
		return read_varint(r, &f->value);
	if (f->kind == EIGHT || f->kind == FOUR)
		return read_bits(r, f->kind == EIGHT ? 8 : 4, &f->value);
	if (f->kind != BYTES || !read_varint(r, &n) || n > (uint64_t)(r->end - r->at))
		return false;
	f->data = r->at;
	f->n = (size_t)n;
	r->at += n;
	return true;
}

typedef qn_status number_fn(reader *r, tensor *t, uint64_t bits);

/* The numbers of a list: one, or packed. */
static qn_status
each_number(reader *r, const field *f, int kind, number_fn *fn, tensor *t)
{
	reader packed = {r->env, r->place, f->data, f->data + f->n};
	uint64_t bits;

	if (f->kind == kind)
		return fn(r, t, f->value);
	if (f->kind != BYTES)
		return bad(r, "a number is of another kind than its field");
	while (packed.at < packed.end) {
		if (kind == VARINT ? !read_varint(&packed, &bits)
				   : !read_bits(&packed, kind == EIGHT ? 8 : 4, &bits))
			return bad(r, "a list ends within a number");
		QN_TRY(fn(r, t, bits));
	}
	return QN_OK;
}

static qn_status
add_dim(reader *r, tensor *t, uint64_t bits)
{
	if (t->rank == QN_MAX_RANK)
		return qn_report(r->env, QN_EUNSUPPORTED, "pb.size", r->place,
				 "more than %d dimensions", QN_MAX_RANK);
	if (bits > INT64_MAX)
		return qn_report(r->env, QN_EINVALID, "pb.size", r->place,
				 "dimension %d is negative", (int)t->rank);
	t->dim[t->rank++] = (int64_t)bits;
	return QN_OK;
}

static qn_status
find_parts(reader r, tensor *t)
{
	field f;

	while (r.at < r.end) {
		if (!read_field(&r, &f))
			return bad(&r, "it ends within a field, or has one of an unknown kind");
		if (f.number == DIMS)
			QN_TRY(each_number(&r, &f, VARINT, add_dim, t));
		if (f.number == DATA_TYPE && f.kind == VARINT)
			t->dtype = f.value;
		if (f.number == LOCATION && f.kind == VARINT)
			t->location = f.value;
		if (f.number == RAW && f.kind == BYTES) {
			t->raw = f.data;
			t->nraw = f.n;
		}
	}
	return QN_OK;
}

/* An element; halves are the bits of their floats. */
static qn_status
store(reader *r, tensor *t, uint64_t bits)
{
	const qn_plain plain = dtypes[t->dtype].plain;
	const int64_t v = (int64_t)bits;
	const bool of_bits = qn_plain_table[plain].is_float;
	const size_t width = qn_plain_table[plain].bits;

	if (t->stored == t->count)
		return qn_report(r->env, QN_EINVALID, "pb.size", r->place,
				 "the data has more elements than the %lld of the shape",
				 (long long)t->count);
	const int64_t most = width == 64 ? INT64_MAX : (int64_t)((UINT64_C(1) << width) - 1);
	const bool has_sign = !of_bits && qn_plain_table[plain].is_signed;
	if (width < 64 && (has_sign ? v < -most / 2 - 1 || v > most / 2 : v < 0 || v > most))
		return qn_report(r->env, QN_EINVALID, "pb.value", r->place,
				 "element %lld is %lld, which is outside of its type %s",
				 (long long)t->stored, (long long)v, dtypes[t->dtype].name);
	const size_t bytes = qn_plain_table[plain].bytes;
	qn_little_put((char *)t->data + (size_t)t->stored++ * bytes, bytes, bits);
	return QN_OK;
}

static qn_status
store_lists(reader r, tensor *t)
{
	const int list = dtypes[t->dtype].list;
	field f;

	while (r.at < r.end && read_field(&r, &f))
		if (f.number == (uint64_t)list)
			QN_TRY(each_number(&r, &f,
					   list == FLOATS    ? FOUR
					   : list == DOUBLES ? EIGHT
							     : VARINT,
					   store, t));
	if (t->stored < t->count)
		return qn_report(r.env, QN_EINVALID, "pb.size", r.place,
				 "the data has %lld elements, the shape needs %lld",
				 (long long)t->stored, (long long)t->count);
	return QN_OK;
}

static qn_status
check_dtype(const reader *r, const tensor *t)
{
	const bool known = t->dtype < QN_COUNT(dtypes);

	if (t->dtype == 0)
		return bad(r, "it has no element type");
	if (!known || dtypes[t->dtype].list == 0)
		return qn_report(r->env, QN_EUNSUPPORTED, "pb.dtype", r->place,
				 "unsupported element type %s%snumber %llu of ONNX (expected bool, "
				 "integers of 8 to 64 bits, or floats)",
				 known ? dtypes[t->dtype].name : "", known ? ", " : "",
				 (unsigned long long)t->dtype);
	if (t->location != 0)
		return qn_report(r->env, QN_EUNSUPPORTED, "pb.external", r->place,
				 "its data is in another file; save the tensor with its data");
	return QN_OK;
}

qn_status
qn_pb_parse(qn_types *types, qn_arena *a, const char *place, const char *data, size_t n,
	    qn_tensor **out)
{
	reader r = {a->env, place, data, data + n};
	tensor t = {0};

	QN_TRY(find_parts(r, &t));
	QN_TRY(check_dtype(&r, &t));
	const qn_plain plain = dtypes[t.dtype].plain;
	const qn_type *type = qn_type_plain(types, plain, t.rank, t.dim);
	t.count = qn_type_count(type);
	const size_t bytes = qn_plain_table[plain].bytes;
	/* an element takes a byte or more: nothing is allocated for more than the file can have */
	if (t.count < 0 || (uint64_t)t.count > n ||
	    (t.raw != NULL && t.nraw != (size_t)t.count * bytes))
		return qn_report(a->env, QN_EINVALID, "pb.size", place,
				 "the data does not have the elements that the shape needs");
	if (t.raw == NULL) {
		t.data = qn_arena_alloc(a, (size_t)t.count, bytes);
		QN_TRY(store_lists(r, &t));
	}
	*out = qn_tensor_view_file(a, type, t.raw != NULL ? t.raw : t.data);
	return QN_OK;
}

qn_status
qn_pb_read(qn_types *t, qn_arena *a, const char *path, qn_tensor **out)
{
	const char *data = NULL;
	size_t n = 0;

	QN_TRY(qn_file_map(a, path, &data, &n));
	return qn_pb_parse(t, a, path, data, n, out);
}
