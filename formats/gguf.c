/* SPDX-License-Identifier: Apache-2.0 */
/* gguf.c - reads GGUF files, versions 2 and 3 (github.com/ggml-org/ggml, docs/gguf.md).
 *
 *   "GGUF" u32 version, u64 tensors, u64 properties
 *   property   string key, u32 type, value                    string: u64 length, bytes
 *   tensor     string name, u32 n, u64 dims[n], u32 type, u64 offset into the data
 *   zeros up to a multiple of general.alignment (32), then the data
 *
 * dims[0] is the length of a row.  All counts are compared with the bytes that are left before
 * anything is allocated; tensors may lie in any order but may not overlap. */
#include <string.h>

#include "formats/archive.h"
#include "formats/range.h"
#include "ir/diag.h"

enum { ALIGNMENT = 32, KEY_MOST = 65535, NAME_MOST = 64, DIMS_MOST = 4 };

typedef struct reader {
	qn_archive_data *d;
	qn_env *env;
	const uint8_t *begin, *at, *end;
	const char *place; /* of the property or tensor that is read */
} reader;

static qn_status
bad(const reader *r, const char *id, const char *what)
{
	return qn_report(r->env, QN_EINVALID, id, r->place, "%s at byte %zu", what,
			 (size_t)(r->at - r->begin));
}

static size_t
left(const reader *r)
{
	return (size_t)(r->end - r->at);
}

static qn_status
number(reader *r, size_t bytes, uint64_t *out)
{
	if (left(r) < bytes)
		return bad(r, "gguf.truncated", "the file ends before a number of its header");
	*out = qn_little_get(r->at, bytes);
	r->at += bytes;
	return QN_OK;
}

/* The bytes of a string stay where they are. */
static qn_status
string(reader *r, const char **s, size_t *n)
{
	uint64_t length = 0;

	QN_TRY(number(r, 8, &length));
	if (length > left(r))
		return qn_report(r->env, QN_EINVALID, "gguf.string", r->place,
				 "a string of %llu bytes, but the file has %zu left",
				 (unsigned long long)length, left(r));
	*s = (const char *)r->at;
	*n = (size_t)length;
	r->at += length;
	return QN_OK;
}

/* A name: 1 … most bytes without NUL, as a text of its own. */
static qn_status
name_of(reader *r, const char *id, size_t most, const char **out)
{
	const char *s = NULL;
	size_t n = 0;

	QN_TRY(string(r, &s, &n));
	if (n == 0 || n > most || memchr(s, '\0', n) != NULL)
		return qn_report(r->env, QN_EINVALID, id, r->place,
				 "a name of %zu bytes%s (expected 1 to %zu without NUL)", n,
				 n > 0 && n <= most ? " with a NUL" : "", most);
	*out = qn_arena_strn(r->d->arena, s, n);
	return QN_OK;
}

/* ---- properties ---- */

static qn_status
check_bools(const reader *r, const uint8_t *data, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (data[i] > 1)
			return qn_report(r->env, QN_EINVALID, "gguf.bool", r->place,
					 "the bool is %u (expected 0 or 1)", (unsigned)data[i]);
	return QN_OK;
}

static qn_status
elements(reader *r, qn_property *p)
{
	const size_t each = qn_value_bytes(p->type);
	const char *s;
	size_t length;

	p->data = r->at;
	if (each > 0) {
		if (p->n > left(r) / each)
			return qn_report(r->env, QN_EINVALID, "gguf.count", r->place,
					 "%llu values of %zu bytes, but the file has %zu left",
					 (unsigned long long)p->n, each, left(r));
		if (p->type == QN_VALUE_BOOL)
			QN_TRY(check_bools(r, r->at, p->n));
		r->at += p->n * each;
	} else {
		if (p->n > left(r) / 8)
			return qn_report(r->env, QN_EINVALID, "gguf.count", r->place,
					 "%llu strings, but the file has %zu bytes left",
					 (unsigned long long)p->n, left(r));
		for (uint64_t i = 0; i < p->n; i++)
			QN_TRY(string(r, &s, &length));
	}
	p->bytes = (size_t)(r->at - p->data);
	return QN_OK;
}

static qn_status
value_type(reader *r, bool array, qn_value_type *out)
{
	uint64_t type = 0;

	QN_TRY(number(r, 4, &type));
	if (type > QN_VALUE_F64 || (array && type == QN_VALUE_ARRAY))
		return qn_report(r->env, QN_EINVALID, "gguf.type", r->place,
				 "unknown type of %s %llu (expected 0 to 12%s)",
				 array ? "elements" : "values", (unsigned long long)type,
				 array ? " but 9: arrays of arrays are not supported" : "");
	*out = (qn_value_type)type;
	return QN_OK;
}

static qn_status
property(reader *r)
{
	qn_property p = {.n = 1};

	r->place = r->d->place;
	QN_TRY(name_of(r, "gguf.key", KEY_MOST, &p.key));
	r->place = qn_archive_at(r->d->arena, r->d->place, "key", p.key);
	if (qn_archive_value(r->d, p.key) != NULL)
		return qn_report(r->env, QN_EINVALID, "gguf.key", r->place,
				 "the key appears twice");
	QN_TRY(value_type(r, false, &p.type));
	p.array = p.type == QN_VALUE_ARRAY;
	if (p.array) {
		QN_TRY(value_type(r, true, &p.type));
		QN_TRY(number(r, 8, &p.n));
	}
	QN_TRY(elements(r, &p));
	qn_archive_set(r->d, &p);
	return QN_OK;
}

/* ---- tensors ---- */

static qn_status
dims(reader *r, qn_layout_tensor *t)
{
	uint64_t n = 0, dim = 0;

	QN_TRY(number(r, 4, &n));
	if (n > DIMS_MOST)
		return qn_report(r->env, QN_EINVALID, "gguf.dims", r->place,
				 "%llu dimensions (expected at most %d)", (unsigned long long)n,
				 DIMS_MOST);
	t->rank = (int32_t)n;
	for (int32_t i = t->rank; i-- > 0;) {
		QN_TRY(number(r, 8, &dim));
		if (dim > INT64_MAX)
			return qn_report(r->env, QN_EINVALID, "gguf.dims", r->place,
					 "a dimension of %llu", (unsigned long long)dim);
		t->dim[i] = (int64_t)dim;
	}
	if (qn_layout_elements(t) < 0)
		return bad(r, "gguf.dims", "the dimensions have more than 2^60 elements");
	return QN_OK;
}

static const char *
known_types(qn_arena *a)
{
	qn_buf b;

	qn_buf_init(&b, a);
	for (size_t i = 0; qn_dtype_row(i) != NULL; i++)
		if (qn_dtype_row(i)->ggml >= 0)
			qn_buff(&b, "%s, ", qn_dtype_row(i)->name);
	for (size_t i = 0; qn_layout_builtin(i) != NULL; i++)
		if (qn_layout_builtin(i)->packed != NULL)
			qn_buff(&b, "%s%s", b.data[b.n - 1] == ' ' ? "" : ", ",
				qn_layout_builtin(i)->name);
	return qn_buf_str(&b);
}

/* The plane of a tensor of that type, without its data. */
static qn_status
typed(reader *r, uint64_t type, qn_layout_tensor *t)
{
	const qn_dtype *dtype = qn_dtype_by_ggml((uint32_t)type);
	const qn_layout_row *known = qn_layout_by_ggml((uint32_t)type),
			    *row = known != NULL ? known : qn_layout_opaque((uint32_t)type);
	const int32_t last = t->rank - 1;
	qn_plane *p = &t->plane[0];

	t->nplane = 1;
	t->layout = row != NULL ? row : qn_layout_builtin(0);
	*p = (qn_plane){.name = "", .dtype = dtype, .rank = t->rank};
	memcpy(p->dim, t->dim, sizeof p->dim);
	if (row == NULL && dtype == NULL)
		return qn_report(r->env, QN_EUNSUPPORTED, "gguf.tensor-type", r->place,
				 "unsupported type %llu (expected %s)", (unsigned long long)type,
				 known_types(r->d->arena));
	if (row != NULL) {
		if (t->rank == 0 || t->dim[last] % row->block != 0)
			return qn_report(r->env, QN_EINVALID, "gguf.row", r->place,
					 "rows of %lld elements are not a multiple of the %d of a "
					 "block of %s",
					 t->rank == 0 ? 1LL : (long long)t->dim[last], row->block,
					 row->name);
		p->dtype = qn_dtype_by_name("u8");
		p->dim[last] /= row->block;
		p->dim[p->rank++] = row->plane[0].tail[0];
	}
	const int64_t bytes = qn_layout_count(p->rank, p->dim, p->dtype->bytes);
	if (bytes < 0)
		return bad(r, "gguf.dims", "the tensor has more than 2^60 bytes");
	p->bytes = (size_t)bytes;
	return QN_OK;
}

/* One entry; its data follows when all have been read. */
static qn_status
tensor(reader *r, qn_file_range *out)
{
	qn_layout_tensor t = {0};
	uint64_t type = 0;
	const char *name = NULL;

	r->place = r->d->place;
	QN_TRY(name_of(r, "gguf.name", NAME_MOST, &name));
	r->place = qn_archive_at(r->d->arena, r->d->place, "tensor", name);
	QN_TRY(dims(r, &t));
	QN_TRY(number(r, 4, &type));
	QN_TRY(number(r, 8, &out->begin));
	QN_TRY(typed(r, type, &t));
	out->end = out->begin + t.plane[0].bytes;
	if (out->end < out->begin)
		return bad(r, "gguf.offset", "offset and size exceed 2^64");
	if (!qn_archive_put(r->d, name, &t))
		return qn_report(r->env, QN_EINVALID, "gguf.name", r->place,
				 "the name appears twice");
	out->name = r->d->tensor[r->d->n - 1].name;
	return QN_OK;
}

static qn_status
place_tensors(reader *r, qn_file_range *at, uint64_t alignment)
{
	const size_t header = (size_t)(r->at - r->begin);
	const size_t padded = (size_t)((header + alignment - 1) / alignment * alignment);
	const size_t all = (size_t)(r->end - r->begin), room = padded < all ? all - padded : 0;

	for (size_t i = 0; i < r->d->n; i++) {
		r->place = qn_archive_at(r->d->arena, r->d->place, "tensor", at[i].name);
		if (at[i].begin % alignment != 0)
			return qn_report(r->env, QN_EINVALID, "gguf.offset", r->place,
					 "offset %llu is not a multiple of the alignment, %llu",
					 (unsigned long long)at[i].begin,
					 (unsigned long long)alignment);
		if (at[i].end > room)
			return qn_report(r->env, QN_EINVALID, "gguf.truncated", r->place,
					 "the data ends at byte %zu, the tensor at %llu; is the "
					 "file complete?",
					 room, (unsigned long long)at[i].end);
		r->d->tensor[i].t.plane[0].data =
			r->begin + (at[i].begin < at[i].end ? padded + (size_t)at[i].begin : 0);
	}
	qn_file_ranges_sort(at, r->d->n);
	for (size_t i = 1; i < r->d->n; i++)
		if (at[i].begin < at[i - 1].end && at[i].begin < at[i].end)
			return qn_report(r->env, QN_EINVALID, "gguf.offset", r->d->place,
					 "the tensors '%s' and '%s' share bytes", at[i - 1].name,
					 at[i].name);
	return QN_OK;
}

/* ---- the file ---- */

static qn_status
version(reader *r)
{
	uint64_t v = 0;

	if (left(r) < 4 || memcmp(r->at, "GGUF", 4) != 0)
		return qn_report(r->env, QN_EINVALID, "gguf.magic", r->place,
				 "the file does not begin with GGUF");
	r->at += 4;
	QN_TRY(number(r, 4, &v));
	if (v != 0 && (v & 0xFFFF) == 0)
		return qn_report(
			r->env, QN_EUNSUPPORTED, "gguf.endian", r->place,
			"the file is big-endian; gguf-py of llama.cpp makes a little-endian "
			"one (gguf_convert_endian.py)");
	if (v != 2 && v != 3)
		return qn_report(r->env, QN_EUNSUPPORTED, "gguf.version", r->place,
				 "version %llu (expected 2 or 3)", (unsigned long long)v);
	return QN_OK;
}

static qn_status
alignment_of(const reader *r, uint64_t *out)
{
	const qn_property *p = qn_archive_value(r->d, "general.alignment");

	*out = ALIGNMENT;
	if (p == NULL)
		return QN_OK;
	if (p->type != QN_VALUE_U32 || !qn_property_u64(p, out) || *out < 8 ||
	    (*out & (*out - 1)) != 0)
		return qn_report(r->env, QN_EINVALID, "gguf.alignment",
				 qn_archive_at(r->d->arena, r->d->place, "key", p->key),
				 "%s is not a u32 that is a power of two from 8",
				 qn_property_json(r->d->arena, p));
	return QN_OK;
}

qn_status
qn_gguf_read(qn_archive_data *d, const char *data, size_t n)
{
	const uint8_t *bytes = (const uint8_t *)data;
	reader r = {.d = d,
		    .env = d->arena->env,
		    .begin = bytes,
		    .at = bytes,
		    .end = bytes + n,
		    .place = d->place};
	uint64_t tensors = 0, properties = 0, alignment = 0;

	QN_TRY(version(&r));
	QN_TRY(number(&r, 8, &tensors));
	QN_TRY(number(&r, 8, &properties));
	/* The least bytes of one: key 1 + 8, type 4, value 1; name 1 + 8, 4 + 4 + 8. */
	if (properties > left(&r) / 14 || tensors > left(&r) / 25)
		return qn_report(r.env, QN_EINVALID, "gguf.count", d->place,
				 "%llu tensors and %llu properties, but the file has %zu bytes "
				 "left",
				 (unsigned long long)tensors, (unsigned long long)properties,
				 left(&r));
	for (uint64_t i = 0; i < properties; i++)
		QN_TRY(property(&r));
	qn_file_range *at = QN_NEW(d->arena, qn_file_range, (size_t)tensors);
	for (uint64_t i = 0; i < tensors; i++)
		QN_TRY(tensor(&r, &at[i]));
	QN_TRY(alignment_of(&r, &alignment));
	return place_tensors(&r, at, alignment);
}
