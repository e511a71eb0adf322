/* SPDX-License-Identifier: Apache-2.0 */
/* quant_params.c - applies quant_params.json to an archive of float weights.
 *
 *   "fc": {"input_scale": [0.02], "input_scale_shape": [], "weight_scale": [0.1, 0.2], "weight_scale_shape": [2, 1]}
 *
 *   fc.weight   f32 [2,3]  ─▶  TensorScaledLayout, d = weight_scale, m = weight_zp
 *   fc.bias     f32 [2]    ─▶  TensorScaledLayout, i32, d = input_scale * weight_scale
 *                              fc.q_input    StaticScaledQuantizer, scale = 1 / input_scale
 *                              fc.q_output, fc.premul_input   where output_scale, smoothquant_mul are given
 *
 * The scales of the text multiply when dequantizing.  A layer of one matrix for keys and values, or
 * queries, keys and values (…to_kv, …to_qkv), becomes two or three. */
#include "formats/quant_params.h"

#include <stdint.h>
#include <string.h>

#include "formats/quant_params_read.h"
#include "ir/diag.h"
#include "ir/layout_quantizer.h"

/* An application: from the tensors of one archive to those of another. */
typedef struct application {
	qn_params_text p;
	const qn_archive_data *from;
	qn_archive_data *to;
	qn_map layers; /* objects of the text by name */
} application;

/* ---- tensors ---- */

static qn_status
add(const application *x, const char *layer_name, const char *name, const qn_layout_tensor *t)
{
	qn_buf b;

	qn_buf_init(&b, x->p.a);
	qn_buff(&b, "%s.%s", layer_name, name);
	if (!qn_archive_put(x->to, qn_buf_str(&b), t))
		return qn_report(x->p.env, QN_EINVALID, "quant-params.layer", x->p.doc.file,
				 "'%s' would be there twice", qn_buf_str(&b));
	return QN_OK;
}

static qn_status
add_quantizer(const application *x, const char *layer_name, const char *name,
	      const qn_params_array *scale, const qn_dtype *dtype)
{
	float *v = QN_NEW(x->p.a, float, 1);

	if (scale->n != 1 || !qn_params_positive(scale))
		return qn_report(x->p.env, QN_EINVALID, "quant-params.shape", x->p.doc.file,
				 "the scale of '%s' of '%s' is not one positive number", name,
				 layer_name);
	v[0] = 1 / scale->v[0];
	const qn_scaled_quantizer q = {
		.dtype = dtype, .axis = QN_NO_AXIS, .n = 1, .scale = v, .rscale = scale->v};
	const qn_layout_tensor t = qn_quantizer_store(x->p.a, &q);
	return add(x, layer_name, name, &t);
}

static qn_plane
plane_of(const char *name, const qn_dtype *dtype, int32_t rank, const int64_t *dim,
	 const uint8_t *data)
{
	qn_plane p = {.name = name, .dtype = dtype, .rank = rank, .data = data};

	memcpy(p.dim, dim, (size_t)rank * sizeof *dim);
	p.bytes = (size_t)qn_layout_count(rank, dim, dtype->bytes);
	return p;
}

/* Numbers first … first + n - 1 as a plane with dims like the scales. */
static qn_plane
numbers(qn_arena *a, const char *name, const qn_dtype *dtype, const qn_params_array *like,
	int64_t rows, const float *v, int64_t first)
{
	int64_t dim[QN_MAX_RANK] = {0};

	memcpy(dim, like->dim, sizeof dim);
	if (like->rank > 0)
		dim[0] = rows;
	const int64_t n = qn_layout_count(like->rank, dim, 1);
	uint8_t *data = QN_NEW(a, uint8_t, (size_t)n * dtype->bytes);
	for (int64_t i = 0; i < n; i++)
		qn_dtype_store(dtype, data, i, (double)v[first + i]);
	return plane_of(name, dtype, like->rank, dim, data);
}

/* Part p of a tensor of layer l: TensorScaledLayout of f32 values. */
static qn_status
add_codes(const application *x, const qn_params_layer *l, int p, const char *name,
	  const qn_layout_tensor *w, const qn_params_array *scales, const qn_params_coding *c)
{
	const int64_t rows = w->dim[0] / l->parts, inner = qn_layout_elements(w) / w->dim[0];
	const int64_t n = rows * inner, first = c->nscale == 1 ? 0 : p * rows;
	float *v = QN_NEW(x->p.a, float, (size_t)qn_layout_elements(w));
	uint8_t *qs = QN_NEW(x->p.a, uint8_t, (size_t)n * c->dtype->bytes);
	qn_layout_tensor t = {.rank = w->rank, .nplane = c->zp != NULL ? 3 : 2};

	QN_TRY(qn_layout_find(x->p.env, x->p.doc.file, "TensorScaledLayout", &t.layout));
	QN_TRY(qn_layout_readable(x->p.env, qn_archive_at(x->p.a, x->from->place, l->part[p], name),
				  w));
	qn_layout_dequant(w, v);
	memcpy(t.dim, w->dim, sizeof t.dim);
	t.dim[0] = rows;
	qn_params_coding part = *c;
	part.nscale = c->nscale == 1 ? 1 : rows;
	part.s += first;
	part.zp = c->zp != NULL ? c->zp + first : NULL;
	QN_TRY(qn_params_codes(&x->p, qn_archive_at(x->p.a, x->from->place, l->part[p], name),
			       &part, n, inner, v + p * n, qs));
	t.plane[0] = numbers(x->p.a, "d", qn_dtype_by_name("f32"), scales, rows, c->s, first);
	t.plane[1] = plane_of("qs", c->dtype, t.rank, t.dim, qs);
	if (c->zp != NULL)
		t.plane[2] = numbers(x->p.a, "m", c->dtype, scales, rows, c->zp, first);
	qn_layout_set_meta(&t, "dtype", "\"float32\"");
	return add(x, l->part[p], name, &t);
}

/* ---- one layer ---- */

/* Whether the shape is [] or [out, 1, …] for a weight. */
static bool
fits(const qn_params_array *s, const qn_layout_tensor *w)
{
	if (s->rank == 0)
		return true;
	if (s->rank != w->rank || s->dim[0] != w->dim[0])
		return false;
	for (int32_t i = 1; i < s->rank; i++)
		if (s->dim[i] != 1)
			return false;
	return true;
}

static bool
divides(const qn_params_layer *l, const qn_layout_tensor *w)
{
	return w->rank > 0 && w->dim[0] > 0 && w->dim[0] % l->parts == 0;
}

/* The multiplier in the type of the weight. */
static qn_status
add_premul(const application *x, const qn_params_layer *l, int p, const qn_layout_tensor *w)
{
	const qn_dtype *dtype = qn_layout_is_plain(w) && qn_dtype_is_float(w->plane[0].dtype)
					? w->plane[0].dtype
					: qn_dtype_by_name("f32");
	uint8_t *data = QN_NEW(x->p.a, uint8_t, (size_t)l->premul.n * dtype->bytes);

	for (int64_t i = 0; i < l->premul.n; i++)
		qn_dtype_store(dtype, data, i, (double)l->premul.v[i]);
	const qn_layout_tensor t = qn_layout_plain(dtype, l->premul.rank, l->premul.dim, data);
	return add(x, l->part[p], "premul_input", &t);
}

static qn_status
add_weight(const application *x, const qn_params_layer *l, const qn_layout_tensor *w)
{
	const bool offset = l->weight_zp.v != NULL && !qn_params_zero(&l->weight_zp);
	const qn_params_coding c = {.dtype = l->weight_dtype,
				    .nscale = l->weight_scale.n,
				    .s = l->weight_scale.v,
				    .zp = offset ? l->weight_zp.v : NULL,
				    .saturate = true};

	if (l->quantized && (!divides(l, w) || !fits(&l->weight_scale, w) ||
			     (offset && l->weight_zp.n != l->weight_scale.n)))
		return qn_params_bad(&x->p, l->json, "quant-params.shape",
				     "'weight_scale' or 'weight_zp' do not have one number, or one "
				     "for each output channel of the weight");
	for (int p = 0; p < l->parts; p++) {
		QN_TRY(l->quantized ? add_codes(x, l, p, "weight", w, &l->weight_scale, &c)
				    : add(x, l->part[p], "weight", w));
		if (l->premul.v != NULL)
			QN_TRY(add_premul(x, l, p, w));
		if (l->quantized)
			QN_TRY(add_quantizer(x, l->part[p], "q_input", &l->input_scale,
					     l->input_dtype));
		if (l->output_scale.v != NULL)
			QN_TRY(add_quantizer(x, l->part[p], "q_output", &l->output_scale,
					     l->output_dtype != NULL
						     ? l->output_dtype
						     : qn_dtype_by_torch("float8_e4m3fnuz")));
	}
	return QN_OK;
}

static qn_status
add_bias(const application *x, const qn_params_layer *l, const qn_layout_tensor *b)
{
	qn_params_array s = {.n = l->weight_scale.n,
			     .rank = l->weight_scale.rank > 0 ? 1 : 0,
			     .dim = {l->weight_scale.n}};
	float *v = QN_NEW(x->p.a, float, (size_t)s.n + 1);

	if (!l->quantized)
		return add(x, l->json->key, "bias", b);
	for (int64_t i = 0; i < s.n; i++)
		v[i] = l->input_scale.v[0] * l->weight_scale.v[i];
	s.v = v;
	const qn_params_coding c = {.dtype = qn_dtype_by_name("i32"), .nscale = s.n, .s = s.v};
	if (b->rank != 1 || !divides(l, b) || !fits(&s, b))
		return qn_params_bad(&x->p, l->json, "quant-params.shape",
				     "the bias does not have one element for each output channel "
				     "of the weight");
	for (int p = 0; p < l->parts; p++)
		QN_TRY(add_codes(x, l, p, "bias", b, &s, &c));
	return QN_OK;
}

/* ---- all ---- */

/* The layer of a tensor "fc.weight" in the text; NULL: it is not named there. */
static const qn_json *
layer_of(const application *x, const char *tensor, const char *end)
{
	const size_t n = strlen(tensor), k = strlen(end);

	if (n <= k || strcmp(tensor + n - k, end) != 0)
		return NULL;
	return qn_map_get(&x->layers, tensor, n - k);
}

/* Layers without a weight in the archive: outputs of attention; others are mistakes. */
static qn_status
add_outputs(const application *x)
{
	for (size_t i = 0; i < x->p.doc.root->n; i++) {
		const qn_json *v = &x->p.doc.root->child[i];
		qn_params_layer l;
		qn_buf b;

		QN_TRY(qn_params_layer_read(&x->p, v, &l));
		if (l.attention) {
			QN_TRY(add_quantizer(x, v->key, "q_output", &l.output_scale,
					     l.output_dtype));
			continue;
		}
		qn_buf_init(&b, x->p.a);
		qn_buff(&b, "%s.weight", v->key);
		if (qn_archive_named(x->from, qn_buf_str(&b)) == NULL)
			return qn_report(x->p.env, QN_EINVALID, "quant-params.layer",
					 qn_json_place(&x->p.doc, x->p.a, v),
					 "the archive has no tensor '%s'", qn_buf_str(&b));
	}
	return QN_OK;
}

static qn_status
take(const application *x, const qn_named_tensor *n)
{
	const qn_json *weight = layer_of(x, n->name, ".weight");
	const qn_json *bias = layer_of(x, n->name, ".bias");
	qn_params_layer l;

	if (weight == NULL && bias == NULL) {
		if (!qn_archive_put(x->to, n->name, &n->t))
			return qn_report(x->p.env, QN_EINVALID, "quant-params.layer", x->p.doc.file,
					 "'%s' would be there twice", n->name);
		return QN_OK;
	}
	QN_TRY(qn_params_layer_read(&x->p, weight != NULL ? weight : bias, &l));
	return weight != NULL ? add_weight(x, &l, &n->t) : add_bias(x, &l, &n->t);
}

qn_status
qn_quant_params_apply(const qn_archive_data *d, const char *place, const char *text, size_t n,
		      qn_archive_data *out)
{
	application x = {.p = {.env = d->arena->env, .a = d->arena}, .from = d, .to = out};

	qn_archive_init(out, d->arena, d->format, d->place);
	QN_TRY(qn_params_text_read(&x.p, place, text, n));
	qn_map_init(&x.layers, x.p.a);
	for (size_t i = 0; i < x.p.doc.root->n; i++)
		qn_map_puts(&x.layers, x.p.doc.root->child[i].key,
			    (void *)(uintptr_t)&x.p.doc.root->child[i]);
	for (size_t i = 0; i < d->nproperty; i++)
		qn_archive_set(out, &d->property[i]);
	for (size_t i = 0; i < d->n; i++)
		QN_TRY(take(&x, &d->tensor[i]));
	return add_outputs(&x);
}
