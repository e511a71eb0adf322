/* SPDX-License-Identifier: Apache-2.0 */
/* property.c - see property.h. */
#include "formats/property.h"

#include <math.h>
#include <string.h>

#include "ir/dtypes.h"

static const struct {
	const char *name;
	const char *dtype; /* NULL: not a number */
} types[QN_NVALUE_TYPES] = {
	[QN_VALUE_U8] = {"u8", "u8"},         [QN_VALUE_I8] = {"i8", "i8"},
	[QN_VALUE_U16] = {"u16", "u16"},      [QN_VALUE_I16] = {"i16", "i16"},
	[QN_VALUE_U32] = {"u32", "u32"},      [QN_VALUE_I32] = {"i32", "i32"},
	[QN_VALUE_F32] = {"f32", "f32"},      [QN_VALUE_BOOL] = {"bool", "bool"},
	[QN_VALUE_STRING] = {"string", NULL}, [QN_VALUE_ARRAY] = {"array", NULL},
	[QN_VALUE_U64] = {"u64", "u64"},      [QN_VALUE_I64] = {"i64", "i64"},
	[QN_VALUE_F64] = {"f64", "f64"},      [QN_VALUE_JSON] = {"json", NULL},
};

size_t
qn_value_bytes(qn_value_type t)
{
	return types[t].dtype != NULL ? qn_dtype_by_name(types[t].dtype)->bytes : 0;
}

const char *
qn_value_name(qn_value_type t)
{
	return types[t].name;
}

static bool
is_signed(qn_value_type t)
{
	return t == QN_VALUE_I8 || t == QN_VALUE_I16 || t == QN_VALUE_I32 || t == QN_VALUE_I64;
}

static bool
is_real(qn_value_type t)
{
	return t == QN_VALUE_F32 || t == QN_VALUE_F64;
}

/* Element i, of a signed type extended to 64 bits. */
static uint64_t
bits_at(const qn_property *p, uint64_t i)
{
	const size_t each = qn_value_bytes(p->type);
	const uint64_t bits = qn_little_get(p->data + i * each, each);
	const uint64_t sign = UINT64_C(1) << (8 * each - 1);

	return is_signed(p->type) && each < 8 && (bits & sign) != 0 ? bits | ~(sign | (sign - 1))
								    : bits;
}

static int64_t
as_signed(uint64_t bits)
{
	int64_t v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

qn_property
qn_property_element(const qn_property *p, uint64_t i)
{
	const size_t each = qn_value_bytes(p->type);

	return (qn_property){
		.key = p->key, .type = p->type, .n = 1, .data = p->data + i * each, .bytes = each};
}

bool
qn_property_u64(const qn_property *p, uint64_t *out)
{
	if (p->array || qn_value_bytes(p->type) == 0 || is_real(p->type))
		return false;
	*out = bits_at(p, 0);
	return !is_signed(p->type) || as_signed(*out) >= 0;
}

bool
qn_property_f64(const qn_property *p, double *out)
{
	if (p->array || types[p->type].dtype == NULL || p->type == QN_VALUE_BOOL)
		return false;
	*out = qn_dtype_load(qn_dtype_by_name(types[p->type].dtype), p->data, 0);
	return true;
}

bool
qn_property_string(const qn_property *p, const char **s, size_t *n)
{
	if (p->array || p->type != QN_VALUE_STRING)
		return false;
	*s = (const char *)p->data + 8;
	*n = p->bytes - 8;
	return true;
}

bool
qn_property_is_null(const qn_property *p)
{
	return p->type == QN_VALUE_JSON && p->bytes == 4 && memcmp(p->data, "null", 4) == 0;
}

/* ---- as JSON ---- */

/* The length of the UTF-8 sequence at s, 0: there is none. */
static size_t
sequence(const uint8_t *s, size_t n)
{
	const size_t length = s[0] < 0x80   ? 1
			      : s[0] < 0xC2 ? 0
			      : s[0] < 0xE0 ? 2
			      : s[0] < 0xF0 ? 3
			      : s[0] < 0xF5 ? 4
					    : 0;

	if (length == 0 || length > n || s[0] == 0)
		return 0;
	for (size_t i = 1; i < length; i++)
		if (s[i] >> 6 != 2)
			return 0;
	/* the shortest form, no surrogates, up to U+10FFFF */
	if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
	    (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
		return 0;
	return length;
}

bool
qn_is_utf8(const char *s)
{
	const size_t n = strlen(s);

	for (size_t i = 0; i < n;) {
		const size_t length = sequence((const uint8_t *)s + i, n - i);

		if (length == 0)
			return false;
		i += length;
	}
	return true;
}

/* A string that JSON can hold; 1: it has changed. */
static size_t
put_text(qn_json_out *o, const char *key, const uint8_t *s, size_t n)
{
	bool changed = false;
	qn_buf b;

	qn_buf_init(&b, o->b->arena);
	for (size_t i = 0; i < n;) {
		const size_t length = sequence(s + i, n - i);

		qn_buf_put(&b, length > 0 ? (const char *)s + i : "\xEF\xBF\xBD",
			   length > 0 ? length : 3);
		changed = changed || length == 0;
		i += length > 0 ? length : 1;
	}
	qn_json_put_string(o, key, qn_buf_str(&b));
	return changed;
}

static void
put_number(qn_json_out *o, const char *key, const qn_property *p, uint64_t i)
{
	const uint64_t bits = bits_at(p, i);

	if (p->type == QN_VALUE_F32)
		qn_json_put_f32(o, key,
				(float)qn_dtype_load(qn_dtype_by_name("f32"), p->data, (int64_t)i));
	else if (p->type == QN_VALUE_F64)
		qn_json_put_f64(o, key,
				qn_dtype_load(qn_dtype_by_name("f64"), p->data, (int64_t)i));
	else if (p->type == QN_VALUE_BOOL)
		qn_json_put_bool(o, key, bits != 0);
	else if (is_signed(p->type))
		qn_json_put_i64(o, key, as_signed(bits));
	else
		qn_json_put_u64(o, key, bits);
}

size_t
qn_property_put(qn_json_out *o, const char *key, const qn_property *p)
{
	const uint8_t *at = p->data;
	size_t changed = 0;

	if (p->type == QN_VALUE_JSON) {
		qn_json_put_raw(o, key, (const char *)p->data, p->bytes);
		return 0;
	}
	if (p->array)
		qn_json_open(o, key, '[', QN_JSON_FLAT);
	for (uint64_t i = 0; i < p->n; i++) {
		const char *name = p->array ? NULL : key;

		if (p->type == QN_VALUE_STRING) {
			const size_t length = (size_t)qn_little_get(at, 8);

			changed += put_text(o, name, at + 8, length);
			at += 8 + length;
		} else {
			put_number(o, name, p, i);
		}
	}
	if (p->array)
		qn_json_close(o);
	return changed;
}

const char *
qn_property_json(qn_arena *a, const qn_property *p)
{
	qn_json_out o;
	qn_buf b;

	qn_buf_init(&b, a);
	qn_json_out_init(&o, &b);
	(void)qn_property_put(&o, NULL, p);
	while (b.n > 0 && b.data[b.n - 1] == '\n')
		b.data[--b.n] = '\0';
	return qn_buf_str(&b);
}

/* ---- from JSON ---- */

static qn_property
make(const char *key, qn_value_type type, uint64_t n, const void *data, size_t bytes)
{
	return (qn_property){.key = key, .type = type, .n = n, .data = data, .bytes = bytes};
}

static void
put_string(qn_buf *b, const char *s, size_t n)
{
	uint8_t length[8];

	qn_little_put(length, 8, n);
	qn_buf_put(b, (const char *)length, 8);
	qn_buf_put(b, s, n);
}

qn_property
qn_property_of_string(qn_arena *a, const char *key, const char *s, size_t n)
{
	qn_buf b;

	qn_buf_init(&b, a);
	put_string(&b, s, n);
	return make(key, QN_VALUE_STRING, 1, b.data, b.n);
}

qn_property
qn_property_of_bits(qn_arena *a, const char *key, qn_value_type t, uint64_t bits)
{
	const size_t bytes = qn_value_bytes(t);
	uint8_t *data = QN_NEW(a, uint8_t, bytes);

	qn_little_put(data, bytes, bits);
	return make(key, t, 1, data, bytes);
}

/* The type of a value, or of the elements of an array; JSON: none. */
static qn_value_type
type_of(const qn_json *v)
{
	int64_t i;

	if (v->kind == QN_JSON_BOOL)
		return QN_VALUE_BOOL;
	if (v->kind == QN_JSON_STRING)
		return QN_VALUE_STRING;
	if (v->kind != QN_JSON_NUMBER)
		return QN_VALUE_JSON;
	if (!qn_json_i64(v, &i) || (i == 0 && signbit(v->number) != 0))
		return (double)(float)v->number == v->number ? QN_VALUE_F32 : QN_VALUE_F64;
	return i >= 0 && i <= UINT32_MAX          ? QN_VALUE_U32
	       : i >= INT32_MIN && i <= INT32_MAX ? QN_VALUE_I32
	       : i >= 0                           ? QN_VALUE_U64
						  : QN_VALUE_I64;
}

/* A type for elements of both; JSON: none. */
static qn_value_type
common(qn_value_type a, qn_value_type b)
{
	const bool numbers = qn_value_bytes(a) > 0 && qn_value_bytes(b) > 0 && a != QN_VALUE_BOOL &&
			     b != QN_VALUE_BOOL;

	if (a == b)
		return a;
	if (!numbers)
		return QN_VALUE_JSON;
	if (is_real(a) || is_real(b))
		return QN_VALUE_F64;
	return is_signed(a) || is_signed(b) ? QN_VALUE_I64 : QN_VALUE_U64;
}

static void
put_element(qn_buf *b, qn_value_type t, const qn_json *v)
{
	uint8_t bytes[8];
	int64_t i = 0;

	if (t == QN_VALUE_STRING) {
		put_string(b, v->string, strlen(v->string));
		return;
	}
	if (t == QN_VALUE_BOOL)
		qn_little_put(bytes, 1, v->truth ? 1 : 0);
	else if (is_real(t))
		qn_dtype_store(qn_dtype_by_name(types[t].dtype), bytes, 0, v->number);
	else if (qn_json_i64(v, &i))
		qn_little_put(bytes, qn_value_bytes(t), (uint64_t)i);
	qn_buf_put(b, (const char *)bytes, qn_value_bytes(t));
}

qn_property
qn_property_of_json(qn_arena *a, const char *key, const qn_json *v)
{
	const bool array = v->kind == QN_JSON_ARRAY && v->n > 0;
	const size_t n = array ? v->n : 1;
	const qn_json *element = array ? v->child : v;
	qn_value_type t = type_of(&element[0]);
	qn_buf b;

	for (size_t i = 1; i < n; i++)
		t = common(t, type_of(&element[i]));
	qn_buf_init(&b, a);
	if (t == QN_VALUE_JSON) {
		qn_json_out o;

		qn_json_out_init(&o, &b);
		qn_json_put_tree(&o, NULL, v);
		while (b.n > 0 && b.data[b.n - 1] == '\n')
			b.data[--b.n] = '\0';
		return make(key, t, 1, b.data, b.n);
	}
	for (size_t i = 0; i < n; i++)
		put_element(&b, t, &element[i]);
	qn_property p = make(key, t, n, b.data, b.n);
	p.array = array;
	return p;
}

/* One number of the type; false: the type cannot hold v. */
static bool
put_as(qn_buf *b, qn_value_type t, const qn_json *v)
{
	const size_t each = qn_value_bytes(t);
	uint8_t bytes[8];
	uint64_t bits = 0;
	int64_t i = 0;
	double real = 0;

	if (t == QN_VALUE_BOOL) {
		bytes[0] = v->truth;
		qn_buf_put(b, (const char *)bytes, 1);
		return v->kind == QN_JSON_BOOL;
	}
	if (is_real(t)) {
		if (!qn_json_f64(v, &real))
			return false;
		qn_dtype_store(qn_dtype_by_name(types[t].dtype), bytes, 0, real);
		qn_buf_put(b, (const char *)bytes, each);
		return true;
	}
	if (qn_json_i64(v, &i))
		bits = (uint64_t)i;
	else if (t != QN_VALUE_U64 || !qn_json_u64(v, &bits))
		return false;
	qn_little_put(bytes, each, bits);
	qn_buf_put(b, (const char *)bytes, each);
	const qn_property one = {.type = t, .n = 1, .data = bytes, .bytes = each};
	return bits_at(&one, 0) == bits && (is_signed(t) || i >= 0);
}

bool
qn_property_as(qn_arena *a, const char *key, const qn_json *v, qn_value_type t, qn_property *out)
{
	const bool array = v->kind == QN_JSON_ARRAY;
	const size_t n = array ? v->n : 1;
	qn_buf b;

	if (qn_value_bytes(t) == 0 && !(t == QN_VALUE_STRING && array && n == 0))
		return false;
	qn_buf_init(&b, a);
	for (size_t i = 0; i < n; i++)
		if (!put_as(&b, t, array ? &v->child[i] : v))
			return false;
	*out = make(key, t, n, b.data, b.n);
	out->array = array;
	return true;
}
