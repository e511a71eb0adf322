/* SPDX-License-Identifier: Apache-2.0 */
/* theta_write.c - tensors of planes as plain arrays and two JSON texts (theta.c reads them). */
#include <string.h>

#include "formats/theta_impl.h"
#include "ir/diag.h"
#include "ir/layout_quantizer.h"
#include "ir/layout_split.h"

/* "w:qs", of a part of a split tensor "w.shard.1", of a plain one its own. */
static const char *
global_name(qn_arena *a, const char *name, const qn_layout_tensor *t, const char *plane)
{
	qn_buf b;

	qn_buf_init(&b, a);
	if (qn_layout_is_split(t)) {
		qn_buff(&b, "%s.shard.%s", name, plane[0] != '\0' ? plane : "0");
		return qn_buf_str(&b);
	}
	qn_buff(&b, "%s%s%s", name, plane[0] != '\0' ? ":" : "", plane);
	return qn_buf_str(&b);
}

static void
put_dims(qn_json_out *o, const char *key, int32_t rank, const int64_t *dim)
{
	qn_json_open(o, key, '[', QN_JSON_FLAT);
	for (int32_t i = 0; i < rank; i++)
		qn_json_put_i64(o, NULL, dim[i]);
	qn_json_close(o);
}

static void
describe(qn_json_out *o, qn_arena *a, const qn_named_tensor *n, const qn_layout_tensor *t)
{
	const bool plain = qn_layout_is_plain(t), split = qn_layout_is_split(t);
	const bool own_name = split || qn_layout_is_quantizer(t);

	qn_json_open(o, n->name, '{', QN_JSON_FLAT);
	qn_json_put_string(o, "type_name",
			   plain      ? qn_theta_plain
			   : own_name ? t->layout->name
				      : qn_theta_planar);
	qn_json_open(o, "raw_tensors", '{', QN_JSON_FLAT);
	for (int32_t i = 0; i < t->nplane; i++)
		qn_json_put_string(o, t->plane[i].name,
				   global_name(a, n->name, t, t->plane[i].name));
	qn_json_close(o);
	for (int32_t i = 0; own_name && i < t->nmeta; i++)
		qn_json_put_raw(o, t->meta[i].key, t->meta[i].json, strlen(t->meta[i].json));
	if (split && t->nplane > 1)
		put_dims(o, "shape", t->rank, t->dim);
	if (!plain && !own_name) {
		put_dims(o, "shape", t->rank, t->dim);
		qn_json_put_string(o, "layout_type", t->layout->name);
		qn_json_open(o, "layout_metadata", '{', QN_JSON_FLAT);
		for (int32_t i = 0; i < t->nmeta; i++)
			qn_json_put_raw(o, t->meta[i].key, t->meta[i].json,
					strlen(t->meta[i].json));
		qn_json_close(o);
	}
	qn_json_close(o);
}

static qn_status
put_planes(qn_env *env, const char *place, qn_archive_data *out, const char *name,
	   const qn_layout_tensor *t)
{
	for (int32_t i = 0; i < t->nplane; i++) {
		const qn_plane *p = &t->plane[i];
		const char *global = global_name(out->arena, name, t, p->name);
		const qn_layout_tensor array = qn_layout_plain(p->dtype, p->rank, p->dim, p->data);

		if (!qn_archive_put(out, global, &array))
			return qn_report(env, QN_EINVALID, "theta.name",
					 qn_archive_at(out->arena, place, "tensor", name),
					 "its plane would be '%s', which is a tensor too", global);
	}
	return QN_OK;
}

/* Types of numbers that a reader of the JSON would not choose. */
static void
put_types(qn_json_out *o, qn_arena *a, const qn_archive_data *d)
{
	bool open = false;

	for (size_t i = 0; i < d->nproperty; i++) {
		const qn_property *p = &d->property[i];
		const char *json = qn_property_json(a, p);
		qn_json_doc doc;

		if ((qn_value_bytes(p->type) == 0 &&
		     !(p->type == QN_VALUE_STRING && p->array && p->n == 0)) ||
		    qn_json_tree(a, p->key, json, strlen(json), NULL, &doc) != QN_OK)
			continue;
		if (qn_property_of_json(a, p->key, doc.root).type == p->type)
			continue;
		if (!open)
			qn_json_open(o, qn_theta_types_key, '{', QN_JSON_FLAT);
		open = true;
		qn_json_put_string(o, p->key, qn_value_name(p->type));
	}
	if (open)
		qn_json_close(o);
}

static const char *
properties_text(qn_env *env, qn_arena *a, const qn_archive_data *d)
{
	qn_json_out o;
	qn_buf b;

	qn_buf_init(&b, a);
	qn_json_out_init(&o, &b);
	qn_json_open(&o, NULL, '{', QN_JSON_LINES);
	qn_json_put_i64(&o, qn_theta_version, 1);
	for (size_t i = 0; i < d->nproperty; i++)
		if (qn_property_put(&o, d->property[i].key, &d->property[i]) > 0)
			qn_warn(env, "archive.property",
				qn_archive_at(a, d->place, "key", d->property[i].key),
				"it holds bytes that are not text in UTF-8: they become U+FFFD");
	put_types(&o, a, d);
	qn_json_close(&o);
	return qn_buf_str(&b);
}

/* Names are keys of JSON objects, in which bytes that are not text would end the file. */
static qn_status
check_names(qn_env *env, qn_arena *a, const qn_archive_data *d)
{
	static const char why[] = "the name is not UTF-8, as the JSON in this format must be; "
				  "rename it, or convert to .gguf";

	for (size_t i = 0; i < d->n; i++)
		if (!qn_is_utf8(d->tensor[i].name))
			return qn_report(env, QN_EINVALID, "archive.name",
					 qn_archive_at(a, d->place, "tensor", d->tensor[i].name),
					 "%s", why);
	for (size_t i = 0; i < d->nproperty; i++)
		if (!qn_is_utf8(d->property[i].key))
			return qn_report(env, QN_EINVALID, "archive.name",
					 qn_archive_at(a, d->place, "key", d->property[i].key),
					 "%s", why);
	return QN_OK;
}

qn_status
qn_theta_prepare(qn_env *env, qn_arena *a, const qn_archive_data *d, qn_archive_data *out,
		 qn_theta_texts *texts)
{
	qn_json_out o;
	qn_buf b;

	QN_TRY(check_names(env, a, d));
	qn_archive_init(out, a, d->format, d->place);
	qn_buf_init(&b, a);
	qn_json_out_init(&o, &b);
	qn_json_open(&o, NULL, '{', QN_JSON_LINES);
	*texts = (qn_theta_texts){0};
	for (size_t i = 0; i < d->n; i++) {
		const qn_named_tensor *n = &d->tensor[i];
		qn_layout_tensor planar;

		QN_TRY(qn_layout_to_planar(env, a, qn_archive_at(a, d->place, "tensor", n->name),
					   &n->t, &planar));
		QN_TRY(put_planes(env, d->place, out, n->name, &planar));
		texts->quantized = texts->quantized || !qn_layout_is_plain(&planar);
		describe(&o, a, n, &planar);
	}
	qn_json_close(&o);
	texts->tensors = qn_buf_str(&b);
	texts->dataset = properties_text(env, a, d);
	return QN_OK;
}
