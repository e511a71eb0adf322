/* SPDX-License-Identifier: Apache-2.0 */
/* theta.c - quantized tensors in archives that hold plain arrays alone: each plane is an array, and two
 * JSON texts say what belongs together, as in sharktank's data sets.
 *
 *   blk.0.w   q4_0 [64,64]   ─▶   blk.0.w:d    f16 [64,2,1]      __SHARK_DATASET__             properties
 *                                 blk.0.w:qs   u8  [64,2,16]     __SHARK_INFERENCE_TENSORS__
 *                                   {"blk.0.w": {"type_name": "PlanarQuantizedTensor",
 *                                                "raw_tensors": {"d": "blk.0.w:d", …},
 *                                                "shape": [64, 64], "layout_type": "BlockScaledI4Layout",
 *                                                "layout_metadata": {"signed": true}}}
 *
 * Tensors are a tree: parts of names between dots are its nodes, so no name is the beginning of
 * another one. */
#include "formats/theta.h"

#include <string.h>

#include "formats/theta_impl.h"
#include "ir/diag.h"
#include "ir/layout_quantizer.h"
#include "ir/layout_split.h"

static const char dataset[] = "__SHARK_DATASET__", tensors[] = "__SHARK_INFERENCE_TENSORS__";

const char qn_theta_version[] = "SHARK_DATASET_VERSION", qn_theta_types_key[] = "_gguf_types";
const char qn_theta_plain[] = "PrimitiveTensor", qn_theta_planar[] = "PlanarQuantizedTensor";

/* ---- names ---- */

qn_status
qn_theta_check(qn_env *env, const qn_archive_data *d)
{
	qn_buf b;

	qn_buf_init(&b, d->arena);
	for (size_t i = 0; i < d->n; i++) {
		const char *name = d->tensor[i].name;

		for (const char *dot = strchr(name, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
			b.n = 0;
			qn_buf_put(&b, name, (size_t)(dot - name));
			if (qn_archive_named(d, qn_buf_str(&b)) != NULL)
				return qn_report(env, QN_EINVALID, "theta.name", d->place,
						 "'%s' is a tensor and the beginning of the name "
						 "'%s': one of them must be renamed",
						 qn_buf_str(&b), name);
		}
	}
	return QN_OK;
}

/* ---- reading ---- */

typedef struct folder {
	qn_env *env;
	qn_arena *a;
	const qn_archive_data *raw;
	qn_archive_data *d;
	qn_json_doc doc;
	qn_map used; /* arrays that belong to a tensor */
} folder;

static qn_status
bad(const folder *f, const qn_json *v, const char *what)
{
	return qn_report(f->env, QN_EINVALID, "theta.tensor", qn_json_place(&f->doc, f->a, v), "%s",
			 what);
}

static qn_status
read_dims(const folder *f, const qn_json *v, qn_layout_tensor *t)
{
	const qn_json *shape = qn_json_find(v, "shape");

	if (shape == NULL || shape->kind != QN_JSON_ARRAY || shape->n > QN_MAX_RANK)
		return bad(f, v, "'shape' is not an array of at most 8 integers");
	for (size_t i = 0; i < shape->n; i++)
		if (!qn_json_i64(&shape->child[i], &t->dim[i]) || t->dim[i] < 0)
			return bad(f, shape,
				   "'shape' has a dimension that is not an integer from 0");
	t->rank = (int32_t)shape->n;
	return QN_OK;
}

/* A member as metadata. */
static void
add_meta(const folder *f, const qn_json *v, qn_layout_tensor *t)
{
	int64_t integer;
	qn_json_out o;
	qn_buf b;

	qn_buf_init(&b, f->d->arena);
	qn_json_out_init(&o, &b);
	if (v->kind == QN_JSON_NUMBER && qn_json_i64(v, &integer))
		qn_json_put_i64(&o, NULL, integer);
	else
		qn_json_put_tree(&o, NULL, v);
	while (b.n > 0 && b.data[b.n - 1] == '\n') /* the newline after a bracket */
		b.data[--b.n] = '\0';
	qn_layout_set_meta(t, qn_arena_str(f->d->arena, v->key), qn_buf_str(&b));
}

/* The scalar members of layout_metadata. */
static qn_status
read_meta(const folder *f, const qn_json *v, qn_layout_tensor *t)
{
	const qn_json *meta = qn_json_find(v, "layout_metadata");

	for (size_t i = 0; meta != NULL && i < meta->n; i++) {
		if (meta->kind != QN_JSON_OBJECT || meta->n > QN_METAS)
			return bad(f, meta, "'layout_metadata' is not an object of at most 4 keys");
		add_meta(f, &meta->child[i], t);
	}
	return QN_OK;
}

static qn_status
read_planes(folder *f, const qn_json *v, qn_layout_tensor *t)
{
	const qn_json *raw = qn_json_find(v, "raw_tensors");

	if (raw == NULL || raw->kind != QN_JSON_OBJECT || raw->n > QN_PLANES)
		return bad(f, v, "'raw_tensors' is not an object of at most 8 keys");
	for (size_t i = 0; i < raw->n; i++) {
		const qn_json *name = &raw->child[i];
		const qn_named_tensor *n = name->kind == QN_JSON_STRING
						   ? qn_archive_named(f->raw, name->string)
						   : NULL;

		if (n == NULL)
			return bad(f, name, "it does not name an array of the archive");
		t->plane[t->nplane] = n->t.plane[0];
		t->plane[t->nplane++].name = qn_arena_str(f->d->arena, name->key);
		if (qn_map_gets(&f->used, name->string) == NULL)
			qn_map_puts(&f->used, name->string, f);
	}
	return QN_OK;
}

static qn_status
add_tensor(folder *f, const qn_json *v, const qn_layout_tensor *t)
{
	QN_TRY(qn_layout_check(f->env, qn_json_place(&f->doc, f->a, v), t));
	if (v->key[0] == '\0' || !qn_archive_put(f->d, v->key, t))
		return bad(f, v, "the name is empty or appears twice");
	return QN_OK;
}

static qn_status
read_quantizer(folder *f, const qn_json *v, const qn_layout_row *row)
{
	static const char *const keys[] = {"dtype", "axis", "disable_saturate"};
	qn_layout_tensor t = {.layout = row};

	QN_TRY(read_planes(f, v, &t));
	for (size_t i = 0; i < QN_COUNT(keys); i++)
		if (qn_json_find(v, keys[i]) != NULL)
			add_meta(f, qn_json_find(v, keys[i]), &t);
	return add_tensor(f, v, &t);
}

/* A split tensor has a shape, a replicated one that of its array. */
static qn_status
read_split(folder *f, const qn_json *v, const qn_layout_row *row)
{
	static const char *const keys[] = {"shard_count", "shard_dim"};
	qn_layout_tensor t = {.layout = row};

	QN_TRY(read_planes(f, v, &t));
	for (size_t i = 0; i < QN_COUNT(keys); i++)
		if (qn_json_find(v, keys[i]) != NULL)
			add_meta(f, qn_json_find(v, keys[i]), &t);
	if (row->nplane > 1) {
		QN_TRY(read_dims(f, v, &t));
	} else if (t.nplane == 1) {
		t.rank = t.plane[0].rank;
		memcpy(t.dim, t.plane[0].dim, sizeof t.dim);
	}
	return add_tensor(f, v, &t);
}

static qn_status
read_tensor(folder *f, const qn_json *v)
{
	const qn_json *type = qn_json_find(v, "type_name"), *layout;
	qn_layout_tensor t = {0};

	if (type == NULL || type->kind != QN_JSON_STRING)
		return bad(f, v, "missing key 'type_name' (expected a string)");
	if (qn_quantizer_row(type->string) != NULL)
		return read_quantizer(f, v, qn_quantizer_row(type->string));
	if (qn_split_row(type->string) != NULL)
		return read_split(f, v, qn_split_row(type->string));
	if (strcmp(type->string, qn_theta_plain) != 0 &&
	    strcmp(type->string, qn_theta_planar) != 0) {
		qn_warn(f->env, "theta.type", qn_json_place(&f->doc, f->a, v),
			"unknown type of tensors '%s': its arrays are listed as plain tensors",
			type->string);
		return QN_OK;
	}
	QN_TRY(read_planes(f, v, &t));
	if (t.nplane == 0)
		return bad(f, v, "'raw_tensors' is empty");
	if (strcmp(type->string, qn_theta_plain) == 0) {
		t = qn_layout_plain(t.plane[0].dtype, t.plane[0].rank, t.plane[0].dim,
				    t.plane[0].data);
	} else {
		layout = qn_json_find(v, "layout_type");
		if (layout == NULL || layout->kind != QN_JSON_STRING)
			return bad(f, v, "missing key 'layout_type' (expected a string)");
		QN_TRY(qn_layout_find(f->env, qn_json_place(&f->doc, f->a, v), layout->string,
				      &t.layout));
		QN_TRY(read_dims(f, v, &t));
		QN_TRY(read_meta(f, v, &t));
	}
	return add_tensor(f, v, &t);
}

static qn_value_type
type_named(const char *name)
{
	for (int t = 0; t < QN_NVALUE_TYPES; t++)
		if (strcmp(qn_value_name((qn_value_type)t), name) == 0)
			return (qn_value_type)t;
	return QN_VALUE_JSON;
}

static void
read_properties(folder *f, const qn_json *root)
{
	const qn_json *hints = qn_json_find(root, qn_theta_types_key);
	qn_map types;

	qn_map_init(&types, f->a);
	for (size_t i = 0; hints != NULL && hints->kind == QN_JSON_OBJECT && i < hints->n; i++)
		qn_map_puts(&types, hints->child[i].key, (void *)&hints->child[i]);
	for (size_t i = 0; i < root->n; i++) {
		const qn_json *v = &root->child[i];
		const qn_json *hint = qn_map_gets(&types, v->key);

		if (strcmp(v->key, qn_theta_version) == 0 || v == hints || v->key[0] == '\0')
			continue;
		qn_property p = qn_property_of_json(f->d->arena, v->key, v);
		if (hint != NULL && hint->kind == QN_JSON_STRING)
			(void)qn_property_as(f->d->arena, v->key, v, type_named(hint->string), &p);
		qn_archive_set(f->d, &p);
	}
}

static qn_status
parse(folder *f, const char *text, size_t n, const char *name)
{
	static const qn_json_ids ids = {"theta.json", "theta.json"};

	QN_TRY(qn_json_tree(f->a, qn_archive_at(f->a, f->d->place, "text", name), text, n, &ids,
			    &f->doc));
	if (f->doc.root->kind != QN_JSON_OBJECT)
		return qn_report(f->env, QN_EINVALID, "theta.json", f->doc.file,
				 "it is not an object");
	return QN_OK;
}

static bool
is_text(const char *name)
{
	return strcmp(name, dataset) == 0 || strcmp(name, tensors) == 0 ||
	       strcmp(name, "__SHARK_SHARD_RANKS__") == 0;
}

qn_status
qn_theta_fold(const qn_archive_data *raw, qn_archive_data *d)
{
	const qn_named_tensor *about = qn_archive_named(raw, dataset);
	const qn_named_tensor *list = qn_archive_named(raw, tensors);
	folder f = {.env = d->arena->env, .a = d->arena, .raw = raw, .d = d};

	qn_map_init(&f.used, f.a);
	if (about != NULL) {
		const qn_plane *p = &about->t.plane[0];

		QN_TRY(parse(&f, (const char *)p->data, p->bytes, dataset));
		read_properties(&f, f.doc.root);
	}
	if (list != NULL) {
		const qn_plane *p = &list->t.plane[0];

		QN_TRY(parse(&f, (const char *)p->data, p->bytes, tensors));
		for (size_t i = 0; i < f.doc.root->n; i++)
			QN_TRY(read_tensor(&f, &f.doc.root->child[i]));
	}
	for (size_t i = 0; i < raw->n; i++) {
		const qn_named_tensor *n = &raw->tensor[i];

		if (is_text(n->name) || qn_map_gets(&f.used, n->name) != NULL)
			continue;
		if (!qn_archive_put(d, n->name, &n->t))
			return qn_report(f.env, QN_EINVALID, "theta.name", d->place,
					 "the array '%s' has the name of a tensor", n->name);
	}
	return QN_OK;
}
