/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors.c - named tensors in one file (huggingface.co/docs/safetensors, "Format").
 *
 *   4e 00 00 00 00 00 00 00   {"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}   data
 *   length of the header      JSON, padded with blanks so that the data is aligned to 8   offsets count from here
 *
 * All of the header is checked when the file is opened; a tensor is then a view of the bytes. */
#include "formats/safetensors.h"

#include <string.h>

#include "formats/file.h"
#include "formats/json_tree.h"
#include "formats/range.h"
#include "formats/theta.h"
#include "ir/diag.h"
#include "ir/nearest.h"

enum { PREFIX = 8, MAX_HEADER = 100 * 1000 * 1000 };

struct qn_safetensors {
	qn_map names;      /* name -> qn_tensor */
	const char **name; /* in the order of the file */
	const qn_tensor **x;
	const qn_dtype **dtype;
	size_t n;
	size_t nmeta;
	const char **key, **value; /* of __metadata__ */
};

typedef struct reader {
	qn_types *types;
	qn_arena *a;
	const qn_json_doc *doc;
	const char *data; /* after the header */
	size_t n;
	qn_safetensors *s;
	qn_file_range *ranges;
	size_t nrange;
	bool small; /* floats of 8 bits are read, as u8 */
} reader;

static qn_status
bad(const reader *r, const qn_json *v, const char *id, const char *what)
{
	return qn_report(r->a->env, QN_EINVALID, id, qn_json_place(r->doc, r->doc->arena, v), "%s",
			 what);
}

static qn_status
read_dtype(const reader *r, const qn_json *v, const qn_dtype **out)
{
	const qn_json *dtype = qn_json_find(v, "dtype");

	if (dtype == NULL || dtype->kind != QN_JSON_STRING)
		return bad(r, v, "safetensors.header", "missing key 'dtype' (expected a string)");
	*out = qn_dtype_by_safetensors(dtype->string);
	if (*out != NULL && (r->small || (*out)->small == QN_SMALL_NONE))
		return QN_OK;
	return qn_report(
		r->a->env, QN_EUNSUPPORTED, "safetensors.dtype",
		qn_json_place(r->doc, r->doc->arena, dtype),
		"unsupported dtype '%s' (expected BOOL, I8 … U64, F16, BF16, F32 or F64%s)",
		dtype->string, r->small ? ", F8_E4M3 or F8_E5M2" : "");
}

static qn_status
read_shape(const reader *r, const qn_json *v, int64_t *dim, int32_t *rank)
{
	const qn_json *shape = qn_json_find(v, "shape");

	if (shape == NULL || shape->kind != QN_JSON_ARRAY)
		return bad(r, v, "safetensors.header", "missing key 'shape' (expected an array)");
	if (shape->n > QN_MAX_RANK)
		return qn_report(r->a->env, QN_EUNSUPPORTED, "safetensors.header",
				 qn_json_place(r->doc, r->doc->arena, shape),
				 "more than %d dimensions", QN_MAX_RANK);
	for (size_t i = 0; i < shape->n; i++)
		if (!qn_json_i64(&shape->child[i], &dim[i]) || dim[i] < 0)
			return bad(r, &shape->child[i], "safetensors.header",
				   "a dimension is not an integer from 0");
	*rank = (int32_t)shape->n;
	return QN_OK;
}

static qn_status
read_offsets(const reader *r, const qn_json *v, qn_file_range *out)
{
	const qn_json *o = qn_json_find(v, "data_offsets");
	int64_t begin, end;

	if (o == NULL || o->kind != QN_JSON_ARRAY || o->n != 2 ||
	    !qn_json_i64(&o->child[0], &begin) || !qn_json_i64(&o->child[1], &end))
		return bad(r, v, "safetensors.header",
			   "'data_offsets' is not an array of two integers");
	if (begin < 0 || end < begin)
		return bad(r, o, "safetensors.offset", "the offsets do not ascend from 0");
	if ((uint64_t)end > r->n)
		return qn_report(r->a->env, QN_EINVALID, "safetensors.truncated",
				 qn_json_place(r->doc, r->doc->arena, o),
				 "the data ends at %zu, the tensor at %lld", r->n, (long long)end);
	*out = (qn_file_range){(uint64_t)begin, (uint64_t)end, v->key};
	return QN_OK;
}

static qn_status
read_metadata(const reader *r, const qn_json *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->kind != QN_JSON_OBJECT || v->child[i].kind != QN_JSON_STRING)
			return bad(r, v, "safetensors.header",
				   "__metadata__ is not a map from strings to strings");
	if (v->kind != QN_JSON_OBJECT)
		return bad(r, v, "safetensors.header",
			   "__metadata__ is not a map from strings to strings");
	r->s->nmeta = v->n;
	r->s->key = QN_NEW(r->a, const char *, v->n);
	r->s->value = QN_NEW(r->a, const char *, v->n);
	for (size_t i = 0; i < v->n; i++) {
		r->s->key[i] = qn_arena_str(r->a, v->child[i].key);
		r->s->value[i] = qn_arena_str(r->a, v->child[i].string);
	}
	return QN_OK;
}

static qn_status
read_tensor(reader *r, const qn_json *v)
{
	const qn_dtype *dtype = NULL;
	int64_t dim[QN_MAX_RANK];
	int32_t rank = 0;
	qn_file_range at = {0};

	if (v->kind != QN_JSON_OBJECT)
		return bad(r, v, "safetensors.header", "a tensor's entry is not an object");
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->child[i].key, "dtype") != 0 &&
		    strcmp(v->child[i].key, "shape") != 0 &&
		    strcmp(v->child[i].key, "data_offsets") != 0)
			return bad(r, &v->child[i], "safetensors.header",
				   "unknown key (expected dtype, shape or data_offsets)");
	QN_TRY(read_dtype(r, v, &dtype));
	QN_TRY(read_shape(r, v, dim, &rank));
	QN_TRY(read_offsets(r, v, &at));
	const qn_type *type = qn_type_plain(r->types, dtype->plain, rank, dim);
	int64_t count = qn_type_count(type);
	if (count < 0)
		return bad(r, v, "safetensors.offset", "the shape has too many elements");
	const uint64_t bytes = (uint64_t)count * (uint64_t)dtype->bytes, given = at.end - at.begin;
	if (bytes != given)
		return qn_report(r->a->env, QN_EINVALID, "safetensors.offset",
				 qn_json_place(r->doc, r->doc->arena, v),
				 "data_offsets hold %llu bytes, %lld elements of %s take %llu",
				 (unsigned long long)given, (long long)count, dtype->name,
				 (unsigned long long)bytes);
	r->ranges[r->nrange++] = at;
	r->s->x[r->s->n] = qn_tensor_view_file(r->a, type, r->data + (size_t)at.begin);
	r->s->dtype[r->s->n] = dtype;
	qn_map_puts(&r->s->names, v->key, (void *)r->s->x[r->s->n]);
	r->s->name[r->s->n++] = qn_arena_str(r->a, v->key);
	return QN_OK;
}

/* The sorted ranges leave no byte of the data out. */
static qn_status
check_holes(const reader *r)
{
	uint64_t end = 0;

	for (size_t i = 0; i <= r->nrange; i++) {
		const uint64_t next = i < r->nrange ? r->ranges[i].begin : r->n;

		if (next > end)
			return qn_report(r->a->env, QN_EINVALID, "safetensors.hole", r->doc->file,
					 "bytes %llu to %llu of the data belong to no tensor",
					 (unsigned long long)end, (unsigned long long)next);
		end = i < r->nrange && r->ranges[i].end > end ? r->ranges[i].end : end;
	}
	return QN_OK;
}

static qn_status
check_tiling(reader *r)
{
	qn_status status = QN_OK;

	qn_file_ranges_sort(r->ranges, r->nrange);
	for (size_t i = 1; i < r->nrange; i++)
		if (r->ranges[i].begin < r->ranges[i - 1].end)
			status = qn_report(r->a->env, QN_EINVALID, "safetensors.overlap",
					   r->doc->file, "the tensors '%s' and '%s' share bytes",
					   r->ranges[i - 1].name, r->ranges[i].name);
	return status != QN_OK ? status : check_holes(r);
}

static qn_status
read_header(reader *r)
{
	const qn_json *root = r->doc->root;
	qn_status status = QN_OK;

	if (root->kind != QN_JSON_OBJECT)
		return bad(r, root, "safetensors.header", "the header is not an object");
	r->ranges = QN_NEW(r->doc->arena, qn_file_range, root->n);
	r->s->name = QN_NEW(r->a, const char *, root->n);
	r->s->x = QN_NEW(r->a, const qn_tensor *, root->n);
	r->s->dtype = QN_NEW(r->a, const qn_dtype *, root->n);
	for (size_t i = 0; i < root->n; i++) {
		const qn_json *v = &root->child[i];
		qn_status s = strcmp(v->key, "__metadata__") == 0 ? read_metadata(r, v)
								  : read_tensor(r, v);

		status = s != QN_OK ? s : status;
	}
	return status != QN_OK ? status : check_tiling(r);
}

static qn_status
parse(qn_types *t, qn_arena *a, const char *place, const char *data, size_t n, bool small,
      qn_safetensors **out)
{
	static const qn_json_ids ids = {"safetensors.header", "safetensors.duplicate"};
	uint64_t length = 0;

	if (n < PREFIX)
		return qn_report(a->env, QN_EINVALID, "safetensors.truncated", place,
				 "the file has fewer than 8 bytes");
	for (int i = PREFIX - 1; i >= 0; i--)
		length = length << 8 | (unsigned char)data[i];
	if (length > MAX_HEADER)
		return qn_report(a->env, QN_EINVALID, "safetensors.header", place,
				 "the header's length is %llu; at most 100000000 is allowed",
				 (unsigned long long)length);
	if (length > n - PREFIX)
		return qn_report(a->env, QN_EINVALID, "safetensors.truncated", place,
				 "the file ends in its header");
	/* The header's tree is big and short-lived: an arena of its own, which a's release
	 * releases in any case. */
	qn_arena *tmp = qn_arena_child(a);
	qn_json_doc doc;
	reader r = {.types = t,
		    .a = a,
		    .doc = &doc,
		    .data = data + PREFIX + length,
		    .n = n - PREFIX - (size_t)length,
		    .small = small};
	r.s = QN_NEW(a, qn_safetensors, 1);
	qn_map_init(&r.s->names, a);
	qn_status status =
		length > 0 && data[PREFIX] == '{'
			? qn_json_tree(tmp, place, data + PREFIX, (size_t)length, &ids, &doc)
			: qn_report(a->env, QN_EINVALID, "safetensors.header", place,
				    "the header does not begin with '{'");
	if (status == QN_OK)
		status = read_header(&r);
	qn_arena_release(tmp);
	*out = r.s;
	return status;
}

qn_status
qn_safetensors_parse(qn_types *t, qn_arena *a, const char *place, const char *data, size_t n,
		     qn_safetensors **out)
{
	return parse(t, a, place, data, n, false, out);
}

qn_status
qn_safetensors_open(qn_types *t, qn_arena *a, const char *path, qn_safetensors **out)
{
	const char *data = NULL;
	size_t n = 0;

	QN_TRY(qn_file_map(a, path, &data, &n));
	return qn_safetensors_parse(t, a, path, data, n, out);
}

const qn_tensor *
qn_safetensors_find(const qn_safetensors *s, const char *name)
{
	return qn_map_gets(&s->names, name);
}

const char *
qn_safetensors_nearest(const qn_safetensors *s, const char *name)
{
	return qn_nearest_name(name, s->n < QN_MAX_COMPARED ? s->n : QN_MAX_COMPARED, s->name);
}

/* ---- as an archive ---- */

/* The tensors, and properties in `texts`: those of a data set are texts. */
static void
take_arrays(const qn_safetensors *s, qn_archive_data *raw)
{
	for (size_t i = 0; i < s->n; i++) {
		const qn_tensor *x = s->x[i];
		const qn_layout_tensor t = qn_layout_plain(s->dtype[i], x->type->rank, x->type->dim,
							   qn_tensor_file_bytes(raw->arena, x));

		(void)qn_archive_put(raw, s->name[i], &t);
	}
}

static bool
is_text(const char *key)
{
	return strncmp(key, "__SHARK_", 8) == 0;
}

qn_status
qn_safetensors_read(qn_archive_data *d, const char *data, size_t n)
{
	qn_types *types = QN_NEW(d->arena, qn_types, 1);
	qn_archive_data raw;
	qn_safetensors *s = NULL;

	qn_types_init(types, d->arena);
	QN_TRY(parse(types, d->arena, d->place, data, n, true, &s));
	qn_archive_init(&raw, d->arena, d->format, d->place);
	for (size_t i = 0; i < s->nmeta; i++) {
		const int64_t dim[] = {(int64_t)strlen(s->value[i])};
		const qn_layout_tensor text =
			qn_layout_plain(qn_dtype_by_name("u8"), 1, dim, s->value[i]);

		if (is_text(s->key[i]))
			(void)qn_archive_put(&raw, s->key[i], &text);
	}
	take_arrays(s, &raw);
	QN_TRY(qn_theta_fold(&raw, d));
	for (size_t i = 0; i < s->nmeta; i++) {
		const qn_property p = qn_property_of_string(d->arena, s->key[i], s->value[i],
							    strlen(s->value[i]));

		if (!is_text(s->key[i]) && s->key[i][0] != '\0')
			qn_archive_set(d, &p);
	}
	return QN_OK;
}
