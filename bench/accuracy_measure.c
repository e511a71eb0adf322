/* SPDX-License-Identifier: Apache-2.0 */
/* accuracy_measure.c - the networks of the benchmark of accuracy, their samples, and figures of them. */
#include "accuracy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATH = 1024 };

const network networks[] = {
	{"keyword spotting (DS-CNN)", "kws_hybrid_float.tflite", "kws_int8.tflite", "kws_x.npy",
	 "kws_y.npy", 83, 0.5847029, 100, "top1", NULL},
	{"digits (MNIST CNN)", "mnist_valid_float.tflite", "mnist_valid_int8.tflite", "mnist_x.npy",
	 "mnist_y.npy", 0, 1.0 / 255, 200, "top1", NULL},
	{"digits (ONNX model zoo's)", "mnist_cntk.onnx", NULL, "mnist_x.npy", "mnist_y.npy", 0, 1,
	 200, "top1", NULL},
	{"images (ResNet-8)", "resnet8_float.tflite", "resnet8_int8.tflite", "cifar_x.npy", NULL, 0,
	 1, 100, "agreement", NULL},
	{"images (ResNet-8)", "resnet8_float.tflite", "resnet8_int8.tflite", "cifar_x.npy", NULL, 0,
	 1, 100, "cosine", NULL},
	{"anomalies (autoencoder)", "ad_float.tflite", "ad_int8.tflite", "ad_x.npy", NULL, 0, 1, 98,
	 "score-error", "mse-input"},
	{"anomalies (autoencoder)", "ad_float.tflite", "ad_int8.tflite", "ad_x.npy", NULL, 0, 1, 98,
	 "sqnr", NULL},
};
const size_t nnetworks = sizeof networks / sizeof networks[0];

int
is_repeated(size_t i)
{
	return i > 0 && strcmp(networks[i].name, networks[i - 1].name) == 0;
}

int
fail(const session *s, const char *what)
{
	fprintf(stderr, "accuracy: %s\n", what);
	for (size_t i = 0; i < qn_diag_count(s->ctx); i++) {
		qn_diagnostic d = qn_diag_get(s->ctx, i);

		fprintf(stderr, "%s: %s [%s]\n", d.place, d.message, d.id);
	}
	return 1;
}

static qn_array *
load_array(const session *s, const char *name)
{
	char path[MOST_PATH];
	qn_array *x = NULL;

	(void)snprintf(path, sizeof path, "%s/samples/%s", s->folder, name);
	return qn_array_load(s->ctx, path, &x) == QN_OK ? x : NULL;
}

qn_model *
load_model(const session *s, const char *name)
{
	char path[MOST_PATH];
	qn_model *m = NULL;

	(void)snprintf(path, sizeof path, "%s/models/%s", s->folder, name);
	return qn_load(s->ctx, path, &m) == QN_OK ? m : NULL;
}

/* ---- parts of an array ---- */

static double
element(const qn_array *x, size_t i)
{
	const unsigned char *data = qn_array_data(x);
	float f;

	if (strcmp(qn_array_dtype(x), "f32") != 0)
		return strcmp(qn_array_dtype(x), "i8") == 0 ? (double)(signed char)data[i]
							    : data[i];
	memcpy(&f, data + i * sizeof f, sizeof f);
	return (double)f;
}

static int
get_sample(void *user, size_t index, void *dst)
{
	const part *p = user;

	for (size_t i = 0; i < p->each; i++) {
		float v = (float)((element(p->x, (p->first + index) * p->each + i) - p->zero) *
				  p->scale);

		memcpy((char *)dst + i * sizeof v, &v, sizeof v);
	}
	return 0;
}

/* n samples from p->first on, in the shape that the model's input has. */
static qn_array *
take(const session *s, qn_model *m, part *p, size_t n)
{
	int64_t shape[8];
	int rank = qn_array_rank(p->x);
	qn_graph *g = qn_model_main(m);
	qn_value_info input = qn_value(g, qn_value_find(g, qn_model_input_name(m, 0)));
	qn_array *out = NULL;

	p->each = 1;
	for (int i = 1; i < rank; i++)
		p->each *= (size_t)qn_array_dim(p->x, i);
	for (int i = 1; i < input.rank; i++)
		shape[i] = input.shape[i];
	shape[0] = (int64_t)n;
	return qn_samples_new(s->ctx, "f32", input.rank, shape, NULL, get_sample, p, &out) == QN_OK
		       ? out
		       : NULL;
}

/* ---- figures ---- */

static void
keep(void *user, const qn_metric *m)
{
	wanted *w = user;

	if (strcmp(m->name, w->metric) == 0) {
		w->value = m->value;
		w->unit = m->unit;
	}
}

static int
discard(void *user, const char *name, const char *text, size_t n)
{
	(void)user, (void)name, (void)text, (void)n;
	return 0;
}

void
print_figure(const wanted *w)
{
	if (w->unit[0] != '\0')
		printf(" %.2f %s |", w->value, w->unit);
	else
		printf(" %.6f |", w->value);
}

int
measure(const session *s, const network *n, const parts *p, const qn_array *labels, figures *f)
{
	qn_model *reference = load_model(s, n->real);
	qn_model *made = load_model(s, n->real);
	qn_model *other = n->quantized != NULL ? load_model(s, n->quantized) : NULL;
	size_t models = n->quantized != NULL ? 3 : 2;
	qn_measure_opts o = {
		.labels = labels, .against = labels == NULL ? reference : NULL, .score = n->score};
	qn_compile_opts how = s->how;
	const qn_emit_opts emit = {0};
	wanted *const to[] = {&f->real, &f->made, &f->other};
	qn_model *const m[] = {reference, made, other};

	for (size_t i = 0; i < 3; i++)
		*to[i] = (wanted){n->metric, 0, ""};
	how.calib = &p->calib;
	how.ncalib = 1;
	if (reference == NULL || made == NULL || (models == 3 && other == NULL))
		return fail(s, n->real);
	if (qn_compile(made, &how) != QN_OK || (models == 3 && qn_compile(other, NULL) != QN_OK))
		return fail(s, n->name);
	for (size_t i = labels != NULL ? 0 : 1; i < models; i++)
		if (qn_measure(m[i], 1, &p->test, &o, keep, to[i]) != QN_OK)
			return fail(s, n->name);
	if (qn_emit_to(made, &emit, discard, NULL, &f->made_info) != QN_OK ||
	    (models == 3 && qn_emit_to(other, &emit, discard, NULL, &f->other_info) != QN_OK))
		return fail(s, n->name);
	for (size_t i = 0; i < models; i++)
		qn_model_free(m[i]);
	return 0;
}

int
load_parts(const session *s, const network *n, parts *p)
{
	qn_array *x = load_array(s, n->samples);
	qn_array *y = n->labels != NULL ? load_array(s, n->labels) : NULL;

	qn_model *m = load_model(s, n->real);

	*p = (parts){0};
	if (x == NULL || m == NULL || (n->labels != NULL && y == NULL))
		return fail(s, n->samples);
	p->count = (size_t)qn_array_dim(x, 0) - n->calib;
	p->first = (part){.x = x, .zero = n->zero, .scale = n->scale};
	p->rest = p->first;
	p->rest.first = n->calib;
	p->calib = take(s, m, &p->first, n->calib);
	p->test = take(s, m, &p->rest, p->count);
	if (y != NULL &&
	    qn_array_new(s->ctx, "i64", 1, &(int64_t){(int64_t)p->count},
			 (const int64_t *)qn_array_data(y) + n->calib, &p->labels) != QN_OK)
		return fail(s, n->labels);
	qn_model_free(m);
	return p->calib != NULL && p->test != NULL ? 0 : fail(s, n->samples);
}

/* ---- storage that is found ---- */

const char *
find_recipe(session *s, const network *n, const parts *p, size_t int8_bytes, size_t int4_bytes)
{
	const size_t weights = 2 * (int8_bytes - int4_bytes);
	const qn_measure_opts by = {.size = sizeof by, .score = n->score};
	const qn_compile_opts how = {.size = sizeof how,
				     .calib = &p->calib,
				     .ncalib = 1,
				     .method = s->how.method,
				     .weight_method = s->how.weight_method,
				     .weight_rounding = QN_WEIGHTS_ADAPTIVE,
				     .bias_correction = 1,
				     .equalize = 1};
	const qn_tune_opts opts = {.size = sizeof opts,
				   .compile = &how,
				   .measure = &by,
				   .max_weight_bytes = int8_bytes - weights * 2 / 5};
	qn_model *m = load_model(s, n->real);
	qn_tuned out = {0};

	/* the recipe lives as long as the model */
	if (m == NULL || qn_tune(m, &opts, NULL, NULL, &out) != QN_OK || out.recipe == NULL)
		(void)fail(s, n->name);
	else
		fprintf(stderr, "%s: %s\n", n->name, out.recipe);
	return out.recipe;
}
