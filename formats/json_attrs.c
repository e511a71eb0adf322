/* SPDX-License-Identifier: Apache-2.0 */
/* json_attrs.c - a node's attributes, read and written by the rows of its op's set.
 *
 *   INT 3      INTS, LIST [1, 2]      REAL 0.5 or "inf"      ENUM "same"      TEXT "a"
 *   INTEGERS 3 or [1, 2]              REALS 0.5 or [0.5, 1]  */
#include <math.h>
#include <string.h>

#include "formats/json_read.h"
#include "ir/attr_errors.h"

/* An array of min to max integers. */
static bool
read_ints(const qn_json *v, size_t min, size_t max, int64_t *out)
{
	if (v->kind != QN_JSON_ARRAY || v->n < min || v->n > max)
		return false;
	for (size_t i = 0; i < v->n; i++)
		if (!qn_json_i64(&v->child[i], &out[i]))
			return false;
	return true;
}

static bool
read_enum(const qn_attr_info *info, const qn_json *v, int32_t *out)
{
	*out = v->kind == QN_JSON_STRING ? qn_enum_find(info, v->string) : -1;
	return *out >= 0;
}

/* One number, or an array of them; a list to be copied when the node is added. */
static bool
read_integers(qn_arena *a, const qn_json *v, qn_integers *out)
{
	const size_t n = v->kind == QN_JSON_ARRAY ? v->n : 1;
	int64_t *to = QN_NEW(a, int64_t, n);

	*out = (qn_integers){n, to};
	return v->kind == QN_JSON_ARRAY ? read_ints(v, 0, n, to) : qn_json_i64(v, to);
}

static bool
read_reals(qn_arena *a, const qn_json *v, qn_reals *out)
{
	const bool many = v->kind == QN_JSON_ARRAY;
	const size_t n = many ? v->n : 1;
	double *to = QN_NEW(a, double, n);

	*out = (qn_reals){n, to};
	for (size_t i = 0; i < n; i++)
		if (!qn_json_f64(many ? &v->child[i] : v, &to[i]) || isnan(to[i]))
			return false;
	return true;
}

static bool
read_value(qn_arena *a, const qn_attr_info *info, const qn_json *v, qn_attrs *attrs)
{
	void *at = (char *)attrs + info->offset;

	switch (info->kind) {
	case QN_ATTR_INT:
		return qn_json_i64(v, at);
	case QN_ATTR_INTS:
		return read_ints(v, info->length, info->length, at);
	case QN_ATTR_LIST:
		((qn_list *)at)->n = (int32_t)(v->n <= QN_MAX_RANK ? v->n : 0);
		return read_ints(v, 0, QN_MAX_RANK, ((qn_list *)at)->v);
	case QN_ATTR_REAL:
		return qn_json_f64(v, at) && !isnan(*(double *)at);
	case QN_ATTR_ENUM:
		return read_enum(info, v, at);
	case QN_ATTR_INTEGERS:
		return read_integers(a, v, at);
	case QN_ATTR_REALS:
		return read_reals(a, v, at);
	case QN_ATTR_TEXT:
		*(const char **)at = v->kind == QN_JSON_STRING ? v->string : "";
		return v->kind == QN_JSON_STRING;
	}
	return false;
}

static const char *
place(qn_json_reader *r, const qn_json *v)
{
	return qn_json_place(&r->doc, r->tmp, v);
}

bool
qn_json_attrs(qn_json_reader *r, const qn_json *node, const qn_json *v, const qn_opinfo *op,
	      qn_attrs *out)
{
	const qn_attr_set_info *set = op->attrs;
	bool ok = true;

	qn_attrs_default(set, out);
	for (size_t i = 0; i < set->nattr; i++) {
		const qn_attr_info *info = &set->attr[i];
		const qn_json *value = v != NULL ? qn_json_find(v, info->name) : NULL;

		if (value == NULL && info->default_text[0] == '\0') {
			qn_attr_missing(r->m->env, r->tmp, place(r, v != NULL ? v : node), op->name,
					info);
			ok = false;
		} else if (value != NULL && !read_value(r->tmp, info, value, out)) {
			qn_attr_invalid(r->m->env, r->tmp, place(r, value), op->name, info,
					qn_json_describe(r->tmp, value));
			ok = false;
		}
	}
	for (size_t i = 0; v != NULL && i < v->n; i++) {
		size_t k = 0;

		while (k < set->nattr && strcmp(set->attr[k].name, v->child[i].key) != 0)
			k++;
		if (k == set->nattr && v->child[i].key[0] != '_') {
			qn_attr_unknown(r->m->env, r->tmp, place(r, &v->child[i]), op->name, set,
					v->child[i].key);
			ok = false;
		}
	}
	return ok;
}

/* ---- writing ---- */

static void
put_ints(qn_json_out *o, const char *key, size_t n, const int64_t *v)
{
	qn_json_open(o, key, '[', QN_JSON_FLAT);
	for (size_t i = 0; i < n; i++)
		qn_json_put_i64(o, NULL, v[i]);
	qn_json_close(o);
}

static void
put_reals(qn_json_out *o, const char *key, const qn_reals *r)
{
	qn_json_open(o, key, '[', QN_JSON_FLAT);
	for (size_t i = 0; i < r->n; i++)
		qn_json_put_f64(o, NULL, r->v[i]);
	qn_json_close(o);
}

static void
put_value(qn_json_out *o, const qn_attr_info *info, const qn_attrs *attrs)
{
	const void *at = (const char *)attrs + info->offset;

	switch (info->kind) {
	case QN_ATTR_INT:
		qn_json_put_i64(o, info->name, *(const int64_t *)at);
		break;
	case QN_ATTR_INTS:
		put_ints(o, info->name, info->length, at);
		break;
	case QN_ATTR_LIST:
		put_ints(o, info->name, (size_t)((const qn_list *)at)->n, ((const qn_list *)at)->v);
		break;
	case QN_ATTR_REAL:
		qn_json_put_f64(o, info->name, *(const double *)at);
		break;
	case QN_ATTR_ENUM:
		qn_json_put_string(o, info->name, qn_enum_name(info, *(const int32_t *)at));
		break;
	case QN_ATTR_INTEGERS:
		put_ints(o, info->name, ((const qn_integers *)at)->n, ((const qn_integers *)at)->v);
		break;
	case QN_ATTR_REALS:
		put_reals(o, info->name, at);
		break;
	case QN_ATTR_TEXT:
		qn_json_put_string(o, info->name, *(const char *const *)at);
		break;
	}
}

void
qn_json_put_attrs(qn_json_out *o, const qn_attr_set_info *set, const qn_attrs *attrs)
{
	bool open = false;

	for (size_t i = 0; attrs != NULL && i < set->nattr; i++) {
		if (qn_attr_is_default(set, &set->attr[i], attrs))
			continue;
		if (!open)
			qn_json_open(o, "attrs", '{', QN_JSON_FLAT);
		open = true;
		put_value(o, &set->attr[i], attrs);
	}
	if (open)
		qn_json_close(o);
}

void
qn_json_graph_attrs(qn_json_reader *r, const qn_json *v, qn_graph *g)
{
	for (size_t i = 0; v != NULL && i < v->n; i++) {
		const qn_json *text = &v->child[i];

		if (!qn_json_is(&r->doc, text, QN_JSON_STRING))
			continue;
		if (text->key[0] == '\0' || text->string[0] == '\0')
			qn_json_error(r, text, "attr.value", "keys and values must not be empty");
		else
			qn_graph_add_attr(g, text->key, text->string);
	}
}

void
qn_json_put_graph_attrs(qn_json_out *o, const qn_graph *g)
{
	if (g->nattr == 0)
		return;
	qn_json_open(o, "attrs", '{', QN_JSON_FLAT);
	for (size_t i = 0; i < g->nattr; i++)
		qn_json_put_string(o, g->attr[i].key, g->attr[i].value);
	qn_json_close(o);
}
