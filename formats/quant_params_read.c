/* SPDX-License-Identifier: Apache-2.0 */
/* quant_params_read.c - the arrays and layers of quant_params.json, checked. */
#include <math.h>
#include <string.h>

#include "formats/quant_params_read.h"
#include "ir/diag.h"

qn_status
qn_params_bad(const qn_params_text *r, const qn_json *v, const char *id, const char *what)
{
	return qn_report(r->env, QN_EINVALID, id, qn_json_place(&r->doc, r->a, v), "%s", what);
}

qn_status
qn_params_text_read(qn_params_text *r, const char *place, const char *text, size_t n)
{
	static const qn_json_ids ids = {"quant-params.json", "quant-params.json"};

	QN_TRY(qn_json_tree(r->a, place, text, n, &ids, &r->doc));
	return r->doc.root->kind == QN_JSON_OBJECT
		       ? QN_OK
		       : qn_params_bad(r, r->doc.root, "quant-params.json",
				       "it is not an object of layers");
}

/* ---- keys ---- */

static const qn_json *
key_with(const qn_params_text *r, const qn_json *object, const char *key, const char *end)
{
	qn_buf b;

	qn_buf_init(&b, r->a);
	qn_buff(&b, "%s%s", key, end);
	return qn_json_find(object, qn_buf_str(&b));
}

static qn_status
read_shape(const qn_params_text *r, const qn_json *object, const char *key, qn_params_array *out)
{
	const qn_json *shape = key_with(r, object, key, "_shape");

	out->rank = out->n == 1 ? 0 : 1;
	out->dim[0] = out->n;
	if (shape == NULL)
		return QN_OK;
	if (shape->kind != QN_JSON_ARRAY || shape->n > QN_MAX_RANK)
		return qn_params_bad(r, shape, "quant-params.shape",
				     "it is not an array of integers");
	out->rank = (int32_t)shape->n;
	for (size_t i = 0; i < shape->n; i++)
		if (!qn_json_i64(&shape->child[i], &out->dim[i]) || out->dim[i] < 0)
			return qn_params_bad(r, shape, "quant-params.shape",
					     "it is not an array of integers");
	if (qn_layout_count(out->rank, out->dim, 1) != out->n)
		return qn_report(r->env, QN_EINVALID, "quant-params.shape",
				 qn_json_place(&r->doc, r->a, shape),
				 "the shape has %lld elements, '%s' has %lld",
				 (long long)qn_layout_count(out->rank, out->dim, 1), key,
				 (long long)out->n);
	return QN_OK;
}

qn_status
qn_params_array_read(const qn_params_text *r, const qn_json *object, const char *key,
		     qn_params_array *out)
{
	const qn_json *v = qn_json_find(object, key);

	*out = (qn_params_array){0};
	if (v == NULL || v->kind == QN_JSON_NULL)
		return QN_OK;
	const bool list = v->kind == QN_JSON_ARRAY;
	float *x = QN_NEW(r->a, float, list ? v->n + 1 : 1);
	out->n = list ? (int64_t)v->n : 1;
	for (int64_t i = 0; i < out->n; i++) {
		double d = 0;

		if (!qn_json_f64(list ? &v->child[i] : v, &d) || !isfinite((float)d))
			return qn_params_bad(r, v, "quant-params.json",
					     "it is not an array of numbers");
		x[i] = (float)d;
	}
	out->v = x;
	return read_shape(r, object, key, out);
}

/* "torch.int8"; `otherwise` where there is none. */
static qn_status
read_dtype(const qn_params_text *r, const qn_json *object, const char *key, const char *otherwise,
	   const qn_dtype **out)
{
	const qn_json *v = qn_json_find(object, key);

	*out = otherwise != NULL ? qn_dtype_by_torch(otherwise) : NULL;
	if (v == NULL)
		return QN_OK;
	if (v->kind == QN_JSON_STRING)
		*out = qn_dtype_by_torch(strncmp(v->string, "torch.", 6) == 0 ? v->string + 6
									      : v->string);
	if (v->kind != QN_JSON_STRING || *out == NULL || (*out)->plain == QN_PLAIN_bool ||
	    (*out)->bytes > 4)
		return qn_params_bad(r, v, "quant-params.json",
				     "unknown element type (expected \"torch.int8\" or another)");
	return QN_OK;
}

bool
qn_params_zero(const qn_params_array *x)
{
	for (int64_t i = 0; i < x->n; i++)
		if (x->v[i] != 0.0F)
			return false;
	return true;
}

bool
qn_params_positive(const qn_params_array *x)
{
	for (int64_t i = 0; i < x->n; i++)
		if (!(x->v[i] > 0.0F) || !isfinite(1 / x->v[i]))
			return false;
	return true;
}

/* ---- one layer ---- */

static bool
ends(const char *s, const char *end)
{
	const size_t n = strlen(s), k = strlen(end);

	return n >= k && strcmp(s + n - k, end) == 0;
}

/* The names that a layer's tensors get: its own, or those of the parts that its weight is split into. */
static void
name_parts(const qn_params_text *r, const char *name, qn_params_layer *l)
{
	static const char *const parts[] = {"to_q", "to_k", "to_v"};
	const bool kv = ends(name, ".to_kv"), qkv = ends(name, ".to_qkv");
	const size_t stem = strlen(name) - (kv ? 5 : 6);

	l->parts = !l->quantized ? 1 : kv ? 2 : qkv ? 3 : 1;
	l->part[0] = name;
	for (int i = 0; l->parts > 1 && i < l->parts; i++) {
		qn_buf b;

		qn_buf_init(&b, r->a);
		qn_buf_put(&b, name, stem);
		qn_buf_puts(&b, parts[kv ? i + 1 : i]);
		l->part[i] = qn_buf_str(&b);
	}
}

static bool
in_range(const qn_params_array *x, const qn_dtype *dtype)
{
	double min, max, epsilon;

	qn_dtype_range(dtype, &min, &max, &epsilon);
	for (int64_t i = 0; i < x->n; i++)
		if (x->v[i] != rintf(x->v[i]) || (double)x->v[i] < min || (double)x->v[i] > max)
			return false;
	return true;
}

static qn_status
check_layer(const qn_params_text *r, const qn_params_layer *l)
{
	qn_params_array zp;

	QN_TRY(qn_params_array_read(r, l->json, "input_zp", &zp));
	if (zp.v != NULL && !qn_params_zero(&zp))
		return qn_params_bad(
			r, qn_json_find(l->json, "input_zp"), "quant-params.zp",
			"the zero points of inputs are not all 0, which is not supported");
	if (l->input_scale.v == NULL || l->weight_scale.v == NULL)
		return qn_params_bad(r, l->json, "quant-params.missing",
				     l->input_scale.v == NULL
					     ? "'weight_scale' needs 'input_scale'"
					     : "'input_scale' needs 'weight_scale'");
	if (l->input_scale.rank != 0)
		return qn_params_bad(
			r, qn_json_find(l->json, "input_scale"), "quant-params.shape",
			"the scale of inputs is not one number (expected the shape [])");
	if (!in_range(&l->weight_zp, l->weight_dtype))
		return qn_params_bad(r, qn_json_find(l->json, "weight_zp"), "quant-params.zp",
				     "a zero point is not an integer of its type");
	if (!qn_params_positive(&l->input_scale) || !qn_params_positive(&l->weight_scale))
		return qn_params_bad(r, l->json, "quant-params.json", "a scale is not positive");
	return QN_OK;
}

/* An output of attention: one quantizer, and no weight. */
static qn_status
read_attention(const qn_params_text *r, qn_params_layer *l)
{
	static const char *const names[] = {"output_softmax_quant", "out_q", "out_k", "out_v"};
	qn_params_array scale;

	QN_TRY(qn_params_array_read(r, l->json, "act_scale", &scale));
	for (size_t i = 0; i < QN_COUNT(names); i++)
		l->attention = l->attention || (scale.v != NULL && ends(l->json->key, names[i]));
	if (!l->attention)
		return QN_OK;
	l->output_scale = scale;
	return read_dtype(r, l->json, "act_zp_dtype", "int8", &l->output_dtype);
}

qn_status
qn_params_layer_read(const qn_params_text *r, const qn_json *json, qn_params_layer *l)
{
	qn_params_array zp;

	*l = (qn_params_layer){.json = json};
	if (json->kind != QN_JSON_OBJECT)
		return qn_params_bad(r, json, "quant-params.json", "a layer is not an object");
	QN_TRY(read_attention(r, l));
	if (l->attention)
		return QN_OK;
	QN_TRY(qn_params_array_read(r, json, "input_scale", &l->input_scale));
	QN_TRY(qn_params_array_read(r, json, "weight_scale", &l->weight_scale));
	QN_TRY(qn_params_array_read(r, json, "weight_zp", &l->weight_zp));
	QN_TRY(qn_params_array_read(r, json, "output_scale", &l->output_scale));
	QN_TRY(qn_params_array_read(r, json, "smoothquant_mul", &l->premul));
	QN_TRY(qn_params_array_read(r, json, "input_zp", &zp));
	QN_TRY(read_dtype(r, json, "input_zp_dtype", "int8", &l->input_dtype));
	QN_TRY(read_dtype(r, json, "weight_zp_dtype", "int8", &l->weight_dtype));
	QN_TRY(read_dtype(r, json, "output_zp_dtype", NULL, &l->output_dtype));
	l->quantized = l->input_scale.v != NULL || l->weight_scale.v != NULL ||
		       l->weight_zp.v != NULL || zp.v != NULL;
	name_parts(r, json->key, l);
	return l->quantized ? check_layer(r, l) : QN_OK;
}

/* ---- values ---- */

qn_status
qn_params_codes(const qn_params_text *r, const char *place, const qn_params_coding *c, int64_t n,
		int64_t inner, const float *v, uint8_t *out)
{
	double min, max, epsilon;

	qn_dtype_range(c->dtype, &min, &max, &epsilon);
	for (int64_t i = 0; i < n; i++) {
		const int64_t k = i / inner % c->nscale;
		const float quotient = v[i] / c->s[k];
		const float sum = c->zp != NULL ? quotient + c->zp[k] : quotient;
		double x = qn_dtype_is_float(c->dtype) ? (double)sum : (double)rintf(sum);

		if (isnan(x) || (!c->saturate && !(x >= min && x <= max)))
			return qn_report(r->env, QN_EINVALID, "quant-params.overflow", place,
					 "element %lld becomes %g, beyond the range of %s",
					 (long long)i, x, c->dtype->name);
		x = x < min ? min : x;
		qn_dtype_store(c->dtype, out, i, x > max ? max : x);
	}
	return QN_OK;
}
