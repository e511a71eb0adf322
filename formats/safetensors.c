/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors.c - named tensors in one file (huggingface.co/docs/safetensors, "Format").
 *
 *   4e 00 00 00 00 00 00 00   {"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}   data
 *   length of the header      JSON, padded with blanks so that the data is aligned to 8   offsets count from here
 *
 * All of the header is checked when the file is opened; a tensor is then a view of the bytes. */
#include "formats/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "formats/dtype.h"
#include "formats/file.h"
#include "formats/json_out.h"
#include "formats/json_tree.h"
#include "ir/diag.h"
#include "ir/nearest.h"

enum { PREFIX = 8, MAX_HEADER = 100 * 1000 * 1000 };

static const struct {
	const char *text;
	qn_plain plain;
} dtypes[] = {
	{"BOOL", QN_PLAIN_bool}, {"I8", QN_PLAIN_i8},     {"U8", QN_PLAIN_u8},
	{"I16", QN_PLAIN_i16},   {"U16", QN_PLAIN_u16},   {"I32", QN_PLAIN_i32},
	{"U32", QN_PLAIN_u32},   {"I64", QN_PLAIN_i64},   {"U64", QN_PLAIN_u64},
	{"F16", QN_PLAIN_f16},   {"BF16", QN_PLAIN_bf16}, {"F32", QN_PLAIN_f32},
	{"F64", QN_PLAIN_f64},
};

struct qn_safetensors {
	qn_map names;      /* name -> qn_tensor */
	const char **name; /* in the order of the file */
	size_t n;
};

/* Where a tensor's bytes are, for the search for overlaps. */
typedef struct range {
	int64_t begin, end;
	const char *name;
} range;

typedef struct reader {
	qn_types *types;
	qn_arena *a;
	const qn_json_doc *doc;
	const char *data; /* after the header */
	size_t n;
	qn_safetensors *s;
	range *ranges;
	size_t nrange;
} reader;

static qn_status
bad(const reader *r, const qn_json *v, const char *id, const char *what)
{
	return qn_report(r->a->env, QN_EINVALID, id, qn_json_place(r->doc, r->doc->arena, v), "%s",
			 what);
}

static qn_status
read_dtype(const reader *r, const qn_json *v, qn_plain *out)
{
	const qn_json *dtype = qn_json_find(v, "dtype");

	if (dtype == NULL || dtype->kind != QN_JSON_STRING)
		return bad(r, v, "safetensors.header", "missing key 'dtype' (expected a string)");
	for (size_t i = 0; i < QN_COUNT(dtypes); i++)
		if (strcmp(dtypes[i].text, dtype->string) == 0) {
			*out = dtypes[i].plain;
			return QN_OK;
		}
	return qn_report(r->a->env, QN_EUNSUPPORTED, "safetensors.dtype",
			 qn_json_place(r->doc, r->doc->arena, dtype),
			 "unsupported dtype '%s' (expected BOOL, I8 … U64, F16, BF16, F32 or F64)",
			 dtype->string);
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
read_offsets(const reader *r, const qn_json *v, range *out)
{
	const qn_json *o = qn_json_find(v, "data_offsets");

	if (o == NULL || o->kind != QN_JSON_ARRAY || o->n != 2 ||
	    !qn_json_i64(&o->child[0], &out->begin) || !qn_json_i64(&o->child[1], &out->end))
		return bad(r, v, "safetensors.header",
			   "'data_offsets' is not an array of two integers");
	if (out->begin < 0 || out->end < out->begin)
		return bad(r, o, "safetensors.offset", "the offsets do not ascend from 0");
	if ((uint64_t)out->end > r->n)
		return qn_report(r->a->env, QN_EINVALID, "safetensors.truncated",
				 qn_json_place(r->doc, r->doc->arena, o),
				 "the data ends at %zu, the tensor at %lld", r->n,
				 (long long)out->end);
	out->name = v->key;
	return QN_OK;
}

static qn_status
read_metadata(const reader *r, const qn_json *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->kind != QN_JSON_OBJECT || v->child[i].kind != QN_JSON_STRING)
			return bad(r, v, "safetensors.header",
				   "__metadata__ is not a map from strings to strings");
	return v->kind == QN_JSON_OBJECT ? QN_OK
					 : bad(r, v, "safetensors.header",
					       "__metadata__ is not a map from strings to strings");
}

static qn_status
read_tensor(reader *r, const qn_json *v)
{
	qn_plain plain = QN_PLAIN_f32;
	int64_t dim[QN_MAX_RANK];
	int32_t rank = 0;
	range at = {0};

	if (v->kind != QN_JSON_OBJECT)
		return bad(r, v, "safetensors.header", "a tensor's entry is not an object");
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->child[i].key, "dtype") != 0 &&
		    strcmp(v->child[i].key, "shape") != 0 &&
		    strcmp(v->child[i].key, "data_offsets") != 0)
			return bad(r, &v->child[i], "safetensors.header",
				   "unknown key (expected dtype, shape or data_offsets)");
	QN_TRY(read_dtype(r, v, &plain));
	QN_TRY(read_shape(r, v, dim, &rank));
	QN_TRY(read_offsets(r, v, &at));
	const qn_type *type = qn_type_plain(r->types, plain, rank, dim);
	int64_t count = qn_type_count(type);
	if (count < 0 || count * qn_plain_table[plain].bytes != at.end - at.begin)
		return bad(r, v, "safetensors.offset",
			   "the size of the data does not match dtype and shape");
	r->ranges[r->nrange++] = at;
	r->s->name[r->s->n++] = qn_arena_str(r->a, v->key);
	qn_map_puts(&r->s->names, v->key, qn_tensor_view_file(r->a, type, r->data + at.begin));
	return QN_OK;
}

static int
by_begin(const void *left, const void *right)
{
	const range *a = left;
	const range *b = right;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return strcmp(a->name, b->name);
}

static qn_status
check_overlap(reader *r)
{
	qn_status status = QN_OK;

	qsort(r->ranges, r->nrange, sizeof *r->ranges, by_begin);
	for (size_t i = 1; i < r->nrange; i++)
		if (r->ranges[i].begin < r->ranges[i - 1].end)
			status = qn_report(r->a->env, QN_EINVALID, "safetensors.overlap",
					   r->doc->file, "the tensors '%s' and '%s' share bytes",
					   r->ranges[i - 1].name, r->ranges[i].name);
	return status;
}

static qn_status
read_header(reader *r)
{
	const qn_json *root = r->doc->root;
	qn_status status = QN_OK;

	if (root->kind != QN_JSON_OBJECT)
		return bad(r, root, "safetensors.header", "the header is not an object");
	r->ranges = QN_NEW(r->doc->arena, range, root->n);
	r->s->name = QN_NEW(r->a, const char *, root->n);
	for (size_t i = 0; i < root->n; i++) {
		const qn_json *v = &root->child[i];
		qn_status s = strcmp(v->key, "__metadata__") == 0 ? read_metadata(r, v)
								  : read_tensor(r, v);

		status = s != QN_OK ? s : status;
	}
	return status != QN_OK ? status : check_overlap(r);
}

qn_status
qn_safetensors_parse(qn_types *t, qn_arena *a, const char *place, const char *data, size_t n,
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
		    .n = n - PREFIX - (size_t)length};
	r.s = QN_NEW(a, qn_safetensors, 1);
	qn_map_init(&r.s->names, a);
	qn_status status = qn_json_tree(tmp, place, data + PREFIX, (size_t)length, &ids, &doc);
	if (status == QN_OK)
		status = read_header(&r);
	qn_arena_release(tmp);
	*out = r.s;
	return status;
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

/* ---- writing ---- */

static const char *
dtype_text(const qn_elem *e)
{
	for (size_t i = 0; i < QN_COUNT(dtypes); i++)
		if (dtypes[i].plain == qn_dtype_of(e))
			return dtypes[i].text;
	return "U8";
}

void
qn_safetensors_print(qn_buf *b, size_t n, const char *const *name, const qn_tensor *const *x)
{
	char prefix[PREFIX];
	int64_t offset = 0;
	qn_json_out o;
	qn_buf head;

	qn_buf_init(&head, b->arena);
	qn_json_out_init(&o, &head);
	qn_json_open(&o, NULL, '{', QN_JSON_FLAT);
	for (size_t i = 0; i < n; i++) {
		qn_json_open(&o, name[i], '{', QN_JSON_FLAT);
		qn_json_put_string(&o, "dtype", dtype_text(x[i]->type->elem));
		qn_json_open(&o, "shape", '[', QN_JSON_FLAT);
		for (int32_t k = 0; k < x[i]->type->rank; k++)
			qn_json_put_i64(&o, NULL, x[i]->type->dim[k]);
		qn_json_close(&o);
		qn_json_open(&o, "data_offsets", '[', QN_JSON_FLAT);
		qn_json_put_i64(&o, NULL, offset);
		offset += (int64_t)x[i]->bytes;
		qn_json_put_i64(&o, NULL, offset);
		qn_json_close(&o);
		qn_json_close(&o);
	}
	qn_json_close(&o);
	head.n--; /* the newline; readers of this format expect blanks */
	while (head.n % 8 != 0)
		qn_buf_putc(&head, ' ');
	for (int i = 0; i < PREFIX; i++)
		prefix[i] = (char)(unsigned char)((uint64_t)head.n >> 8 * i & 255);
	qn_buf_put(b, prefix, sizeof prefix);
	qn_buf_pass(b, head.data, head.n);
	for (size_t i = 0; i < n; i++)
		qn_buf_pass(b, qn_tensor_file_bytes(b->arena, x[i]), x[i]->bytes);
}
