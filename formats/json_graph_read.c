/* SPDX-License-Identifier: Apache-2.0 */
/* json_graph_read.c - a model from its JSON file: head, parameters, symbols, functions, entry
 * graph.
 *
 *   {"quern": 1, "name": …, "stage": …, "rounding": …, "symbols": […], "params": {…}, "functions": [graph…], "graph": {…}}
 *
 * All sections are read even when an earlier one has errors.  Parameters come before symbols,
 * whatever the order of the file: a bound vector symbol then finds its values stored under the
 * name that the file gives them. */
#include <math.h>
#include <string.h>

#include "formats/file.h"
#include "formats/json_graph.h"
#include "formats/json_read.h"
#include "ir/diag.h"
#include "ir/graph_text.h"
#include "ir/nearest.h"

enum { VERSION = 1 };

/* ---- what the parts share ---- */

const char *
qn_json_at(qn_json_reader *r, const qn_json *v)
{
	return qn_json_place(&r->doc, r->m->arena, v);
}

void
qn_json_error(qn_json_reader *r, const qn_json *v, const char *id, const char *fmt, ...)
{
	qn_buf b;
	va_list args;

	qn_buf_init(&b, r->tmp);
	va_start(args, fmt);
	qn_bufvf(&b, fmt, args);
	va_end(args);
	(void)qn_report(r->m->env, QN_EINVALID, id, qn_json_place(&r->doc, r->tmp, v), "%s",
			qn_buf_str(&b));
}

const qn_type *
qn_json_type(qn_json_reader *r, const qn_json *v)
{
	const qn_type *type = NULL;
	qn_status status = qn_type_parse_str(&r->m->types, qn_json_place(&r->doc, r->tmp, v),
					     v->string, &type);

	return status == QN_OK ? type : NULL;
}

/* ---- head ---- */

/* The index of the string at key in names; 0 when it is absent. */
static int32_t
read_choice(qn_json_reader *r, const char *key, size_t n, const char *const *names)
{
	const qn_json *v = qn_json_want(&r->doc, r->doc.root, key, QN_JSON_STRING);

	if (v == NULL)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], v->string) == 0)
			return (int32_t)i;
	const char *best = qn_nearest_name(v->string, n, names);
	qn_json_error(r, v, "json.value",
		      "invalid value '%s' of '%s' (expected %s)" QN_DID_YOU_MEAN, v->string, key,
		      qn_choices(r->tmp, n, names), QN_SUGGEST(best));
	return 0;
}

static bool
read_version(qn_json_reader *r)
{
	const qn_json *v = NULL;
	int64_t version = 0;

	if (!qn_json_is(&r->doc, r->doc.root, QN_JSON_OBJECT))
		return false;
	v = qn_json_need(&r->doc, r->doc.root, "quern", QN_JSON_NUMBER);
	if (v == NULL)
		return false;
	if (qn_json_i64(v, &version) && version == VERSION)
		return true;
	qn_json_error(r, v, "json.version", "unknown format version %s (expected %d)",
		      qn_json_describe(r->tmp, v), VERSION);
	return false;
}

/* ---- parameters and symbols ---- */

/* Scales and zero points: arrays of equal length, or a number each. */
typedef struct values {
	size_t n;
	double *scale;
	int64_t *zp; /* NULL: none given */
} values;

static const qn_json *
item(const qn_json *v, bool array, size_t i)
{
	return array ? &v->child[i] : v;
}

static bool
read_values(qn_json_reader *r, const qn_json *v, bool array, values *out)
{
	const qn_json *scale = qn_json_find(v, "scale");
	const qn_json *zp = qn_json_find(v, "zero_point");
	bool ok = true;

	if (scale == NULL) {
		qn_json_error(r, v, "json.key.missing", "missing key 'scale'");
		return false;
	}
	if ((array && !qn_json_is(&r->doc, scale, QN_JSON_ARRAY)) ||
	    (zp != NULL && array && !qn_json_is(&r->doc, zp, QN_JSON_ARRAY)))
		return false;
	out->n = array ? scale->n : 1;
	if (zp != NULL && array && zp->n != scale->n) {
		qn_json_error(r, zp, "param.length", "%zu scales, but %zu zero points", scale->n,
			      zp->n);
		return false;
	}
	out->scale = QN_NEW(r->tmp, double, out->n);
	out->zp = zp != NULL ? QN_NEW(r->tmp, int64_t, out->n) : NULL;
	for (size_t i = 0; i < out->n; i++) {
		if (!qn_json_f64(item(scale, array, i), &out->scale[i])) {
			qn_json_error(r, item(scale, array, i), "json.kind",
				      "a scale must be a number");
			ok = false;
		}
		if (zp != NULL && !qn_json_i64(item(zp, array, i), &out->zp[i])) {
			qn_json_error(r, item(zp, array, i), "json.kind",
				      "a zero point must be an integer");
			ok = false;
		}
	}
	return ok;
}

static void
read_symbol(qn_json_reader *r, const qn_json *v)
{
	static const char *const keys[] = {"name", "kind", "len", "scale", "zero_point", "method"};
	const char *place = qn_json_place(&r->doc, r->tmp, v);
	qn_symbol *symbol = NULL;
	int64_t n = 0;
	values at = {0};

	if (!qn_json_is(&r->doc, v, QN_JSON_OBJECT))
		return;
	qn_json_only(&r->doc, v, QN_COUNT(keys), keys);
	const qn_json *name = qn_json_need(&r->doc, v, "name", QN_JSON_STRING);
	const qn_json *kind = qn_json_need(&r->doc, v, "kind", QN_JSON_STRING);
	const qn_json *len = qn_json_find(v, "len");
	if (kind != NULL && strcmp(kind->string, "sym") != 0 && strcmp(kind->string, "asym") != 0) {
		qn_json_error(r, kind, "json.value",
			      "invalid value '%s' of 'kind' (expected sym or asym)", kind->string);
		return;
	}
	if (len != NULL && (!qn_json_i64(len, &n) || n < 1)) {
		qn_json_error(r, len, "symbol.len",
			      "'len' must be an integer from 1; without it the symbol has one "
			      "scale and zero point");
		return;
	}
	if (name == NULL || kind == NULL)
		return;
	if (qn_symbol_declare(&r->m->types, place, name->string,
			      kind->string[0] == 's' ? QN_SYM_SYMMETRIC : QN_SYM_ASYMMETRIC, n,
			      &symbol) != QN_OK)
		return;
	symbol->method = qn_json_text(r, v, "method", false);
	if (qn_json_find(v, "scale") == NULL && qn_json_find(v, "zero_point") == NULL)
		return;
	if (read_values(r, v, n > 0, &at))
		(void)!qn_symbol_bind(&r->m->types, place, name->string, at.n, at.scale, at.zp);
}

static bool
scales_ok(qn_json_reader *r, const qn_json *v, const values *at)
{
	for (size_t i = 0; i < at->n; i++) {
		if (at->scale[i] > 0 && isfinite(at->scale[i]))
			continue;
		qn_json_error(r, &qn_json_find(v, "scale")->child[i], "param.scale",
			      "scale %g of @%s is not finite and positive", at->scale[i], v->key);
		return false;
	}
	return true;
}

/* A list of integers, of at most QN_MAX_RANK dims; -1 after a report. */
static int32_t
read_dims(qn_json_reader *r, const qn_json *shape, int64_t *dim)
{
	for (size_t i = 0; shape != NULL && i < shape->n; i++)
		if (i >= QN_MAX_RANK || !qn_json_i64(&shape->child[i], &dim[i])) {
			qn_json_error(r, &shape->child[i], "type.param.shape",
				      "a shape has at most %d integers", QN_MAX_RANK);
			return -1;
		}
	return shape != NULL ? (int32_t)shape->n : 0;
}

/* Scales of super-blocks, dim, and the integers `times` that they are multiplied by. */
static void
read_super(qn_json_reader *r, const qn_json *v, const values *at, int32_t rank, const int64_t *dim)
{
	const qn_json *times = qn_json_need(&r->doc, v, "times", QN_JSON_ARRAY);
	const qn_json *shape = qn_json_need(&r->doc, v, "times_shape", QN_JSON_ARRAY);
	const qn_json *bits = qn_json_find(v, "times_bits");
	const qn_params *params = NULL;
	int64_t sub_dim[QN_MAX_RANK] = {0}, width = 0, n = 1, supers = 1;

	if (times == NULL || shape == NULL)
		return;
	const int32_t k = read_dims(r, shape, sub_dim);
	for (int32_t i = 0; i < k && k == rank; i++) {
		const bool fits = sub_dim[i] > 0 && sub_dim[i] <= (int64_t)times->n && dim[i] > 0 &&
				  dim[i] <= (int64_t)at->n;

		n = fits ? n * sub_dim[i] : 0;
		supers = fits ? supers * dim[i] : 0;
		n = n <= (int64_t)times->n ? n : 0;
		supers = supers <= (int64_t)at->n ? supers : 0;
	}
	if (k < 1 || k != rank || n != (int64_t)times->n || supers != (int64_t)at->n) {
		qn_json_error(r, v, "type.super.shape",
			      "the values of @%s do not fill their shapes, of equal rank", v->key);
		return;
	}
	double *sub = QN_NEW(r->tmp, double, times->n);
	bool ok = bits != NULL && qn_json_i64(bits, &width) && width >= 0 && width <= UINT8_MAX;
	for (size_t i = 0; ok && i < times->n; i++)
		ok = qn_json_f64(&times->child[i], &sub[i]);
	if (!ok) {
		qn_json_error(r, v, "json.kind", "'times' and 'times_bits' must be integers");
		return;
	}
	const qn_super_desc d = {.name = v->key,
				 .bits = (uint8_t)width,
				 .rank = rank,
				 .shape = sub_dim,
				 .super_shape = dim,
				 .sub = sub,
				 .scale = at->scale};
	(void)!qn_params_super(&r->m->types, qn_json_place(&r->doc, r->tmp, v), &d, &params);
}

static void
read_param(qn_json_reader *r, const qn_json *v)
{
	static const char *const keys[] = {"scale", "zero_point", "shape",
					   "times", "times_bits", "times_shape"};
	const qn_params *params = NULL;
	int64_t dim[QN_MAX_RANK] = {0};
	values at = {0};

	if (!qn_json_is(&r->doc, v, QN_JSON_OBJECT))
		return;
	qn_json_only(&r->doc, v, QN_COUNT(keys), keys);
	const qn_json *shape = qn_json_want(&r->doc, v, "shape", QN_JSON_ARRAY);
	bool ok = read_values(r, v, true, &at);
	const int32_t rank = read_dims(r, shape, dim);
	if (rank < 0)
		return;
	if (qn_json_find(v, "times") != NULL) {
		if (ok)
			read_super(r, v, &at, rank, dim);
		return;
	}
	if (ok && at.n <= QN_INLINE_PARAMS) {
		qn_json_error(r, v, "param.length",
			      "@%s has %zu values; up to %d must be written in the type", v->key,
			      at.n, QN_INLINE_PARAMS);
		return;
	}
	if (ok && scales_ok(r, v, &at))
		(void)!qn_params_intern(&r->m->types, qn_json_place(&r->doc, r->tmp, v), v->key,
					at.n, rank, shape != NULL ? dim : NULL, at.scale, at.zp,
					&params);
}

/* ---- graphs ---- */

static void
read_functions(qn_json_reader *r, const qn_json *array)
{
	for (size_t i = 0; array != NULL && i < array->n; i++) {
		const qn_json *v = &array->child[i];
		const qn_json *name = qn_json_find(v, "name");
		qn_graph *g = qn_json_graph(r, v, NULL);

		if (g != NULL && qn_model_graph(r->m, g->name) != NULL)
			qn_json_error(r, v, "graph.name.duplicate", "duplicate function name '%s'",
				      g->name);
		else if (g != NULL)
			qn_model_add_graph(r->m, g);
		else if (name != NULL && name->kind == QN_JSON_STRING &&
			 qn_map_gets(&r->broken, name->string) == NULL)
			qn_map_puts(&r->broken, name->string, r);
	}
}

static void
read_entry(qn_json_reader *r)
{
	const qn_json *v = qn_json_need(&r->doc, r->doc.root, "graph", QN_JSON_OBJECT);
	qn_graph *g = v != NULL ? qn_json_graph(r, v, "main") : NULL;

	if (g != NULL && qn_model_graph(r->m, g->name) != NULL)
		qn_json_error(r, v, "graph.name.duplicate", "duplicate function name '%s'",
			      g->name);
	else if (g != NULL)
		qn_model_add_graph(r->m, g);
}

static void
read_model(qn_json_reader *r)
{
	static const char *const keys[] = {
		"quern",   "name",    "producer",  "stage",    "after",     "rounding", "options",
		"symbols", "params",  "functions", "graph",    "quantized", "opened",   "clipped",
		"pruned",  "widened", "repaired",  "streamed", "tensors"};
	const qn_json *root = r->doc.root;

	if (!read_version(r))
		return;
	qn_json_only(&r->doc, root, QN_COUNT(keys), keys);
	const qn_json *name = qn_json_want(&r->doc, root, "name", QN_JSON_STRING);
	if (name != NULL)
		r->m->name = qn_arena_str(r->m->arena, name->string);
	(void)qn_json_want(&r->doc, root, "producer", QN_JSON_STRING);
	r->m->stage = (qn_stage)read_choice(r, "stage", QN_COUNT(qn_stage_names), qn_stage_names);
	r->m->rounding = read_choice(r, "rounding", QN_COUNT(qn_rounding_names), qn_rounding_names);
	r->m->after = qn_json_text(r, root, "after", false);
	const qn_json *options = qn_json_want(&r->doc, root, "options", QN_JSON_STRING);
	if (options != NULL)
		r->m->options = qn_arena_str(r->m->arena, options->string);
	qn_json_model_facts(r);
	const qn_json *params = qn_json_want(&r->doc, root, "params", QN_JSON_OBJECT);
	for (size_t i = 0; params != NULL && i < params->n; i++)
		read_param(r, &params->child[i]);
	const qn_json *symbols = qn_json_want(&r->doc, root, "symbols", QN_JSON_ARRAY);
	for (size_t i = 0; symbols != NULL && i < symbols->n; i++)
		read_symbol(r, &symbols->child[i]);
	read_functions(r, qn_json_want(&r->doc, root, "functions", QN_JSON_ARRAY));
	read_entry(r);
}

/* The status of the first error after the first n diagnostics. */
static qn_status
status_since(const qn_diags *d, size_t n, size_t errors)
{
	if (d->nerrors == errors)
		return QN_OK;
	for (size_t i = n; i < d->n; i++)
		if (d->item[i].severity == QN_ERROR)
			return d->item[i].status;
	return QN_EINVALID;
}

qn_status
qn_json_parse(qn_model *m, const char *file, const char *folder, const char *s, size_t n)
{
	const qn_diags *d = m->env->diags;
	size_t before = d->n;
	size_t errors = d->nerrors;
	qn_json_reader r = {.m = m, .tmp = qn_arena_child(m->arena), .folder = folder};

	qn_map_init(&r.files, r.tmp);
	qn_map_init(&r.broken, r.tmp);
	if (qn_json_tree(r.tmp, file, s, n, NULL, &r.doc) == QN_OK)
		read_model(&r);
	qn_arena_release(r.tmp);
	return status_since(d, before, errors);
}

qn_status
qn_json_read(qn_model *m, const char *path)
{
	qn_arena *tmp = qn_arena_child(m->arena);
	const char *data = NULL;
	size_t n = 0;

	qn_status status = qn_file_map(tmp, path, &data, &n);
	if (status == QN_OK)
		status = qn_json_parse(m, qn_path_base(path), qn_path_folder(tmp, path), data, n);
	qn_arena_release(tmp);
	return status;
}
