/* SPDX-License-Identifier: Apache-2.0 */
/* json_const.c - constants of a model file: numbers in the file itself, or a tensor in another file
 * of the same folder.
 *
 *   {"type": "tensor<2xf32>", "data": [0.5, -1]}
 *   {"file": "digits.safetensors", "tensor": "conv1.w"}          the type comes from the file
 *   {"type": "tensor<2x2xi8>", "file": "w.npy"}                  … and must be this one
 *   {"file": "net.gguf", "tensor": "output.weight"}              a type with blocks (json_archive.c)
 *
 * Float values are finite; quantized values are in their storage range.  Each file is opened once per model. */
#include <math.h>
#include <string.h>

#include "formats/dtype.h"
#include "formats/file.h"
#include "formats/json_read.h"
#include "formats/npy.h"
#include "formats/safetensors.h"
#include "ir/diag.h"
#include "ir/nearest.h"

/* An opened file; all NULL: it could not be read, which has been reported. */
typedef struct source {
	qn_safetensors *safetensors;
	qn_tensor *npy;
	qn_archive_data *archive; /* of safetensors once a name is not that of an array */
	const char *path;
} source;

/* ---- values ---- */

/* The quantized values that an element type allows; u64: those up to INT64_MAX, the rest is checked by
 * its reader. */
static void
code_range(const qn_elem *e, int64_t *lo, int64_t *hi)
{
	const qn_plain_info *p = &qn_plain_table[e->plain];

	*lo = e->qmin;
	*hi = e->qmax;
	if (e->kind != QN_ELEM_PLAIN)
		return;
	unsigned bits = e->plain == QN_PLAIN_bool ? 1 : p->bits;
	*hi = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - p->is_signed)) - 1;
	*lo = p->is_signed ? -*hi - 1 : 0;
}

static bool
store_code(const qn_elem *e, const qn_json *v, void *data, int64_t i)
{
	int64_t lo = 0;
	int64_t hi = 0;
	int64_t code = 0;
	uint64_t wide = 0;

	if (e->kind == QN_ELEM_PLAIN && e->plain == QN_PLAIN_u64) {
		if (!qn_json_u64(v, &wide))
			return false;
		memcpy((char *)data + i * 8, &wide, sizeof wide);
		return true;
	}
	code_range(e, &lo, &hi);
	if (!qn_json_i64(v, &code) || code < lo || code > hi)
		return false;
	qn_store_i64(data, e->plain, i, code);
	return true;
}

static void
error_code(qn_json_reader *r, const qn_json *v, const qn_elem *e, const char *name, long long index)
{
	int64_t lo = 0;
	int64_t hi = 0;

	code_range(e, &lo, &hi);
	qn_json_error(r, v, "tensor.range",
		      "element %lld of '%s' is not an integer from %lld to %lld%s", index, name,
		      (long long)lo, (long long)hi,
		      hi == INT64_MAX ? "; beyond 2^53 write it as a string" : "");
}

static void
error_nonfinite(qn_json_reader *r, const qn_json *v, const char *name, const qn_tensor *x,
		int64_t index)
{
	qn_json_error(r, v, "tensor.nonfinite",
		      "element %lld of '%s' is %g in its type; weights must be finite, unless "
		      "\"nonfinite\": true stands beside them",
		      (long long)index, name, qn_tensor_f64(x, index));
}

/* Whether the constant or state says that its elements may be infinite or NaN. */
static bool
may_be_nonfinite(qn_json_reader *r, const qn_json *v)
{
	const qn_json *said = qn_json_find(v, "nonfinite");

	return said != NULL && qn_json_is(&r->doc, said, QN_JSON_BOOL) && said->truth;
}

const qn_tensor *
qn_json_inline(qn_json_reader *r, const qn_json *v, const char *name, const qn_json *data,
	       const qn_type *type)
{
	int64_t count = qn_type_count(type);
	bool real = count >= 0 && qn_elem_is_float(type->elem);
	void *bytes = NULL;

	if (count < 0 || type->elem->kind == QN_ELEM_CALIBRATED) {
		qn_json_error(r, v, "tensor.type",
			      "the type of a constant must be a tensor with static shape whose "
			      "elements are stored");
		return NULL;
	}
	if ((uint64_t)count != data->n) {
		qn_json_error(r, data, "tensor.size", "'%s' has %zu numbers; its type needs %lld",
			      name, data->n, (long long)count);
		return NULL;
	}
	qn_tensor *x = qn_tensor_new(r->m->arena, type, &bytes);
	for (int64_t i = 0; i < count; i++) {
		const qn_json *item = &data->child[i];
		double value = 0;

		if (real && !qn_json_f64(item, &value)) {
			qn_json_error(r, item, "json.kind", "element %lld of '%s' is not a number",
				      (long long)i, name);
			return NULL;
		}
		if (real) {
			qn_store_f64(bytes, qn_dtype_of(type->elem), i, value);
		} else if (!store_code(type->elem, item, bytes, i)) {
			error_code(r, item, type->elem, name, (long long)i);
			return NULL;
		}
	}
	int64_t bad = real && !may_be_nonfinite(r, v) ? qn_tensor_find_nonfinite(x) : -1;
	if (bad >= 0)
		error_nonfinite(r, &data->child[bad], name, x, bad);
	return bad >= 0 ? NULL : x;
}

/* ---- other files ---- */

static source *
open_source(qn_json_reader *r, const qn_json *v)
{
	const char *name = v->string;
	bool safetensors = qn_path_ends(name, ".safetensors");
	source *s = qn_map_gets(&r->files, name);
	const char *wrong;

	if (s != NULL)
		return s;
	if (!safetensors && !qn_path_ends(name, ".npy") && !qn_json_is_archive(name)) {
		qn_json_error(r, v, "tensor.path",
			      "'%s' is not the name of a .safetensors, .npy, .gguf or .irpa file, "
			      "such as weights/net.safetensors",
			      name);
		return NULL;
	}
	if (r->folder == NULL) {
		qn_json_error(r, v, "tensor.path",
			      "'%s': this model was read from memory and has no folder; write "
			      "its data inline",
			      name);
		return NULL;
	}
	const char *path = qn_path_named(r->tmp, r->folder, r->doc.file, name, &wrong);
	if (path == NULL) {
		qn_json_error(r, v, "tensor.path", "'%s': %s", name, wrong);
		return NULL;
	}
	s = QN_NEW(r->tmp, source, 1);
	s->path = path;
	qn_map_puts(&r->files, name, s);
	const qn_diag_mark mark = qn_diag_mark_now(r->m->env);
	qn_status status =
		safetensors ? qn_safetensors_open(&r->m->types, r->m->arena, path, &s->safetensors)
		: qn_json_is_archive(name) ? qn_json_archive_open(r, path, &s->archive)
					   : qn_npy_read(&r->m->types, r->m->arena, path, &s->npy);
	if (status != QN_OK)
		*s = (source){0};
	if (status == QN_EIO)
		qn_diag_append(r->m->env, mark,
			       "; %s has its constants there, both belong together", r->doc.file);
	return s;
}

/* A model that was saved here knows what its tensors are: those of another save are not taken. */
static bool
is_sealed(qn_json_reader *r, const qn_json *v, const qn_tensor *x)
{
	const qn_json *crc = qn_json_find(v, "crc");
	qn_buf have;

	if (crc == NULL)
		return true;
	if (!qn_json_is(&r->doc, crc, QN_JSON_STRING))
		return false;
	qn_buf_init(&have, r->tmp);
	qn_buff(&have, "%08x", (unsigned)qn_tensor_crc(x));
	if (strcmp(qn_buf_str(&have), crc->string) == 0)
		return true;
	qn_json_error(r, crc, "tensor.crc",
		      "the tensor of '%s' has the checksum %s, not %s: it was saved with another "
		      "model; save both files again, or remove 'crc' if it was changed on purpose",
		      v->key, qn_buf_str(&have), crc->string);
	return false;
}

static const qn_tensor *
find_tensor(qn_json_reader *r, const qn_json *v, const qn_json *file, const qn_type *type)
{
	source *s = open_source(r, file);
	const qn_json *name = qn_json_find(v, "tensor");

	if (name != NULL && !qn_json_is(&r->doc, name, QN_JSON_STRING))
		return NULL;
	if (s == NULL || (s->npy == NULL && s->safetensors == NULL && s->archive == NULL))
		return NULL;
	if (s->npy != NULL) {
		if (name != NULL)
			qn_json_error(r, name, "json.key.unknown",
				      "an .npy file holds one tensor; remove 'tensor'");
		return name == NULL ? s->npy : NULL;
	}
	if (name == NULL) {
		qn_json_error(r, v, "json.key.missing",
			      "missing key 'tensor' (expected a name in %s)", file->string);
		return NULL;
	}
	if (s->safetensors == NULL)
		return qn_json_archive_tensor(r, name, s->archive, type);
	const qn_tensor *x = qn_safetensors_find(s->safetensors, name->string);
	if (x == NULL && s->archive == NULL &&
	    qn_json_archive_open(r, s->path, &s->archive) != QN_OK)
		return NULL;
	if (x == NULL && qn_archive_named(s->archive, name->string) != NULL)
		return qn_json_archive_tensor(r, name, s->archive, type);
	if (x == NULL) {
		const char *best = r->m->env->diags->n < QN_MAX_DIAGS
					   ? qn_safetensors_nearest(s->safetensors, name->string)
					   : NULL;

		qn_json_error(r, name, "tensor.missing",
			      "unknown tensor '%s' of %s" QN_DID_YOU_MEAN, name->string,
			      file->string, QN_SUGGEST(best));
	}
	return x;
}

static bool
values_ok(qn_json_reader *r, const qn_json *v, const qn_tensor *x)
{
	const qn_elem *e = x->type->elem;
	int64_t lo = 0;
	int64_t hi = 0;

	if (qn_elem_is_float(e)) {
		int64_t bad = may_be_nonfinite(r, v) ? -1 : qn_tensor_find_nonfinite(x);

		if (bad >= 0)
			error_nonfinite(r, v, v->key, x, bad);
		return bad < 0;
	}
	if (qn_elem_bytes(e) == 8)
		return true;
	code_range(e, &lo, &hi);
	for (int64_t i = 0, n = qn_type_count(x->type); i < n; i++) {
		int64_t code = qn_tensor_i64(x, i);

		if (code < lo || code > hi) {
			error_code(r, v, e, v->key, (long long)i);
			return false;
		}
	}
	return true;
}

/* Whether the type in a model may be that of a tensor x in another file: the same shape and storage, and
 * of a tensor that is stored quantized its very own. */
static bool
type_fits(const qn_type *type, const qn_tensor *x)
{
	if (type == x->type)
		return true;
	return !qn_elem_is_quant(x->type->elem) && !type->is_tuple &&
	       type->elem->kind != QN_ELEM_CALIBRATED &&
	       qn_dtype_of(type->elem) == x->type->elem->plain && qn_type_same_shape(type, x->type);
}

static const qn_tensor *
read_file(qn_json_reader *r, const qn_json *v, const qn_json *file, const qn_type *type)
{
	const qn_tensor *x = find_tensor(r, v, file, type);

	if (x == NULL)
		return NULL;
	if (!is_sealed(r, v, x))
		return NULL;
	if (type != NULL && !type_fits(type, x)) {
		qn_buf have;

		qn_buf_init(&have, r->tmp);
		qn_type_print(&have, x->type);
		qn_json_error(r, v, "tensor.type", "the type does not match the file's type %s",
			      qn_buf_str(&have));
		return NULL;
	}
	if (type != NULL)
		x = qn_tensor_view(r->m->arena, type, x->data);
	return values_ok(r, v, x) ? x : NULL;
}

const qn_tensor *
qn_json_const(qn_json_reader *r, const qn_json *v)
{
	static const char *const keys[] = {"type",      "data",  "file", "tensor",
					   "nonfinite", "after", "crc"};

	if (!qn_json_is(&r->doc, v, QN_JSON_OBJECT))
		return NULL;
	qn_json_only(&r->doc, v, QN_COUNT(keys), keys);
	const qn_json *data = qn_json_find(v, "data");
	const qn_json *file = qn_json_find(v, "file");
	const qn_json *text = data != NULL ? qn_json_need(&r->doc, v, "type", QN_JSON_STRING)
					   : qn_json_find(v, "type");
	const qn_type *type = text != NULL && qn_json_is(&r->doc, text, QN_JSON_STRING)
				      ? qn_json_type(r, text)
				      : NULL;

	if ((data == NULL) == (file == NULL)) {
		qn_json_error(r, v, data == NULL ? "json.key.missing" : "json.key.unknown",
			      "a constant has either 'data' or 'file'");
		return NULL;
	}
	if (data != NULL && qn_json_find(v, "tensor") != NULL)
		qn_json_error(r, qn_json_find(v, "tensor"), "json.key.unknown",
			      "'tensor' is only allowed with 'file'");
	if (!qn_json_is(&r->doc, data != NULL ? data : file,
			data != NULL ? QN_JSON_ARRAY : QN_JSON_STRING))
		return NULL;
	if (text != NULL && type == NULL)
		return NULL;
	if (data != NULL)
		return type != NULL ? qn_json_inline(r, v, v->key, data, type) : NULL;
	return read_file(r, v, file, type);
}
