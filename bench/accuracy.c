/* SPDX-License-Identifier: Apache-2.0 */
/* accuracy.c - what quantization costs: float models, Quern's integer models made from them, and the integer files that
 * other tools made of the same networks, on the same samples.
 *
 *   accuracy FOLDER [method[:…] [max|mse]]       FOLDER holds models/ and samples/
 *
 *   | model | metric | float | Quern int8 | other int8 | weights, bytes | … |
 *
 * The first samples calibrate, the others are measured.  Then one network layer by layer: what it costs when one of them
 * has a single scale for its weights; all of them with weights of 4 bits and in blocks; and with the storage that qn_tune
 * finds for 60 % of the bytes that int8's weights have, decided on the samples that calibrate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quern/graph.h"
#include "quern/tune.h"

enum { MOST_PATH = 1024, LAYERS_OF = 5 /* that is shown layer by layer */ };

typedef struct network {
	const char *name, *real,
		*quantized;           /* files in models/; quantized NULL: nobody quantized it */
	const char *samples, *labels; /* files in samples/; labels NULL: there are none */
	double zero, scale;           /* a sample's real value is (value - zero) * scale */
	size_t calib;                 /* samples that calibrate */
	const char *metric,
		*score; /* metric: of the rows; labels or the float model are the reference */
} network;

static const network networks[] = {
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

/* Samples first, first + 1 … of an array, as real values. */
typedef struct part {
	const qn_array *x;
	size_t first, each; /* elements of a sample */
	double zero, scale;
} part;

typedef struct session {
	qn_ctx *ctx;
	const char *folder;
	qn_compile_opts how;
} session;

static int
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

static qn_model *
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

typedef struct wanted {
	const char *metric;
	double value;
	const char *unit;
} wanted;

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

static void
print_figure(const wanted *w)
{
	if (w->unit[0] != '\0')
		printf(" %.2f %s |", w->value, w->unit);
	else
		printf(" %.6f |", w->value);
}

typedef struct figures {
	wanted real, made, other;
	qn_emit_info made_info, other_info;
} figures;

/* A model, its integer form and another tool's, on the samples behind the first. */
static int
measure(const session *s, const network *n, qn_array *calib, qn_array *test, const qn_array *labels,
	figures *f)
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
	how.calib = &calib;
	how.ncalib = 1;
	if (reference == NULL || made == NULL || (models == 3 && other == NULL))
		return fail(s, n->real);
	if (qn_compile(made, &how) != QN_OK || (models == 3 && qn_compile(other, NULL) != QN_OK))
		return fail(s, n->name);
	for (size_t i = labels != NULL ? 0 : 1; i < models; i++)
		if (qn_measure(m[i], 1, &test, &o, keep, to[i]) != QN_OK)
			return fail(s, n->name);
	if (qn_emit_to(made, &emit, discard, NULL, &f->made_info) != QN_OK ||
	    (models == 3 && qn_emit_to(other, &emit, discard, NULL, &f->other_info) != QN_OK))
		return fail(s, n->name);
	for (size_t i = 0; i < models; i++)
		qn_model_free(m[i]);
	return 0;
}

/* The parts of a network's samples. */
typedef struct parts {
	part first, rest;
	qn_array *calib, *test, *labels; /* labels NULL: there are none */
	size_t count;                    /* of test */
} parts;

static int
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

static int
row(const session *s, const network *n)
{
	parts p;
	figures f;

	if (load_parts(s, n, &p) != 0 || measure(s, n, p.calib, p.test, p.labels, &f) != 0)
		return 1;
	printf("| %s | %s | %zu, %zu |", n->name, n->metric, n->calib, p.count);
	if (p.labels != NULL)
		print_figure(&f.real);
	else
		printf(" |");
	print_figure(&f.made);
	if (n->quantized != NULL) {
		print_figure(&f.other);
		printf(" %zu | %zu |\n", f.made_info.weight_bytes, f.other_info.weight_bytes);
	} else {
		printf(" | %zu | |\n", f.made_info.weight_bytes);
	}
	return fflush(stdout) == 0 ? 0 : 1;
}

/* ---- layer by layer ---- */

/* A row: the autoencoder with these rules, against the float model. */
static int
row_of_rules(session *s, const network *n, const parts *p, const char *what, const char *rules)
{
	figures f;

	s->how.recipe = rules;
	int code = measure(s, n, p->calib, p->test, NULL, &f);
	s->how.recipe = NULL;
	if (code != 0)
		return code;
	printf("| %s |", what);
	print_figure(&f.made);
	printf(" %zu |\n", f.made_info.weight_bytes);
	return 0;
}

static int
layers(session *s, const network *n)
{
	parts p;
	qn_model *m = load_model(s, n->real);

	if (m == NULL || load_parts(s, n, &p) != 0)
		return fail(s, n->real);
	printf("\n| %s: change | %s | weights, bytes |\n|---|---|---|\n", n->name, n->metric);
	if (row_of_rules(s, n, &p, "none", "{\"rules\": []}") != 0 ||
	    row_of_rules(s, n, &p, "16-bit activations",
			 "{\"rules\": [{\"activations\": \"i16\"}]}") != 0 ||
	    row_of_rules(s, n, &p, "one scale for the weights of every layer",
			 "{\"rules\": [{\"granularity\": \"per-tensor\"}]}") != 0)
		return 1;
	qn_graph *g = qn_model_main(m);
	for (qn_id v = 1, k = 0; v <= qn_graph_size(g); v++) {
		qn_value_info info = qn_value(g, v);
		char rules[MOST_PATH];
		char what[128];

		if (info.op == NULL || strcmp(info.op, "dense") != 0)
			continue;
		qn_value_info w = qn_value(g, info.in[1]);
		(void)snprintf(rules, sizeof rules,
			       "{\"rules\": [{\"name\": \"%s\", \"granularity\": \"per-tensor\"}]}",
			       info.name);
		(void)snprintf(what, sizeof what, "… of dense %u alone, %lld to %lld", ++k,
			       (long long)w.shape[1], (long long)w.shape[0]);
		if (row_of_rules(s, n, &p, what, rules) != 0)
			return 1;
	}
	return 0;
}

/* ---- storage of weights ---- */

/* A cell: the network's metric, or its SQNR against float, with the weights that s->how says. */
static int
cell(const session *s, const network *n, const parts *p, const char *metric, size_t *bytes)
{
	const int sqnr = strcmp(metric, "sqnr") == 0;
	network one = *n;
	figures f;

	one.metric = metric;
	one.quantized = NULL;
	if (measure(s, &one, p->calib, p->test, sqnr ? NULL : p->labels, &f) != 0)
		return 1;
	*bytes = f.made_info.weight_bytes;
	print_figure(&f.made);
	return 0;
}

enum { I8 = 0, I4 = 3 }; /* rows of the table below */

/* A cell of qn_tune's: bytes of all constants are those of int8 but for 40 % of those of its weights, which are twice
 * what i4 saves. */
static int
tuned(session *s, const network *n, const parts *p, const size_t *bytes)
{
	const size_t weights = 2 * (bytes[I8] - bytes[I4]);
	const qn_measure_opts by = {.size = sizeof by, .score = n->score};
	qn_compile_opts how = s->how;
	qn_model *m = load_model(s, n->real);
	size_t used = 0;
	qn_tuned out;

	how.calib = &p->calib;
	how.ncalib = 1;
	how.weights_type = QN_WEIGHTS_I8;
	how.weight_block = 0;
	how.bias_correction = how.equalize = 1;
	how.weight_rounding = QN_WEIGHTS_ADAPTIVE;
	const qn_tune_opts opts = {.size = sizeof opts,
				   .compile = &how,
				   .measure = &by,
				   .max_weight_bytes = bytes[I8] - weights * 2 / 5};
	if (m == NULL || qn_tune(m, &opts, NULL, NULL, &out) != QN_OK || out.recipe == NULL)
		return fail(s, n->name);
	const qn_compile_opts before = s->how;
	s->how = how;
	s->how.recipe = out.recipe; /* which has the repairs */
	s->how.bias_correction = s->how.equalize = 0;
	s->how.weight_rounding = QN_WEIGHTS_NEAREST;
	printf("| %s | tuned at 60 %% of the weights' bytes | %s |", n->name, n->metric);
	const int code = cell(s, n, p, n->metric, &used) != 0 || cell(s, n, p, "sqnr", &used) != 0;
	s->how = before;
	printf(" %zu |\n", used);
	fprintf(stderr, "%s: %s\n", n->name, out.recipe);
	qn_model_free(m);
	return code;
}

static int
storage(session *s)
{
	static const struct {
		const char *name;
		qn_weights_type type;
		int block, repaired;
		qn_activations activations;
	} rows[] = {
		{"i8 per channel", QN_WEIGHTS_I8, 0, 0, QN_ACTIVATIONS_I8},
		{"i8 per channel, repaired", QN_WEIGHTS_I8, 0, 1, QN_ACTIVATIONS_I8},
		{"i8 block 32", QN_WEIGHTS_I8, 32, 0, QN_ACTIVATIONS_I8},
		{"i4 per channel", QN_WEIGHTS_I4, 0, 0, QN_ACTIVATIONS_I8},
		{"i4 per channel, repaired", QN_WEIGHTS_I4, 0, 1, QN_ACTIVATIONS_I8},
		{"i4 block 64", QN_WEIGHTS_I4, 64, 0, QN_ACTIVATIONS_I8},
		{"i4 block 32", QN_WEIGHTS_I4, 32, 0, QN_ACTIVATIONS_I8},
		{"i4 block 32, repaired", QN_WEIGHTS_I4, 32, 1, QN_ACTIVATIONS_I8},
		{"i4 block 16", QN_WEIGHTS_I4, 16, 0, QN_ACTIVATIONS_I8},
		{"i4 block 16, repaired", QN_WEIGHTS_I4, 16, 1, QN_ACTIVATIONS_I8},
		{"i2 block 16, repaired", QN_WEIGHTS_I2, 16, 1, QN_ACTIVATIONS_I8},
		{"i8 per channel, 16-bit activations", QN_WEIGHTS_I8, 0, 0, QN_ACTIVATIONS_I16}};
	size_t bytes[sizeof rows / sizeof rows[0]];
	int code = 0;

	printf("\n| network | weights | metric | value | SQNR | weights, bytes |\n"
	       "|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof networks / sizeof networks[0] && code == 0; i++) {
		const network *n = &networks[i];
		parts p;

		if (i > 0 && strcmp(n->name, n[-1].name) == 0)
			continue; /* another metric of it */
		code = load_parts(s, n, &p);
		for (size_t k = 0; k < sizeof rows / sizeof rows[0] && code == 0; k++) {
			s->how.weights_type = rows[k].type;
			s->how.weight_block = rows[k].block;
			s->how.activations = rows[k].activations;
			s->how.bias_correction = rows[k].repaired;
			s->how.weight_rounding =
				rows[k].repaired != 0 ? QN_WEIGHTS_ADAPTIVE : QN_WEIGHTS_NEAREST;
			printf("| %s | %s | %s |", n->name, rows[k].name, n->metric);
			code = cell(s, n, &p, n->metric, &bytes[k]) != 0 ||
			       cell(s, n, &p, "sqnr", &bytes[k]) != 0;
			printf(" %zu |\n", bytes[k]);
		}
		s->how.activations = QN_ACTIVATIONS_I8;
		if (code == 0)
			code = tuned(s, n, &p, bytes);
	}
	return code;
}

int
main(int argc, char **argv)
{
	session s = {.folder = argc > 1 ? argv[1] : "."};
	int code = 0;

	if (argc < 2 || argc > 4) {
		fprintf(stderr, "usage: accuracy FOLDER [METHOD [max|mse]]\n");
		return 2;
	}
	s.ctx = qn_open(&(qn_config){.threads = 2});
	s.how.method = argc > 2 ? argv[2] : NULL;
	s.how.weight_method =
		argc > 3 && strcmp(argv[3], "mse") == 0 ? QN_WEIGHTS_BY_MSE : QN_WEIGHTS_BY_MAX;
	if (s.ctx == NULL)
		return 1;
	printf("| network | metric | samples: calibrate, measure | float | Quern int8 | TFLite's "
	       "int8 | "
	       "weights, bytes | TFLite's |\n|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof networks / sizeof networks[0] && code == 0; i++)
		code = row(&s, &networks[i]);
	if (code == 0)
		code = layers(&s, &networks[LAYERS_OF]);
	if (code == 0)
		code = storage(&s);
	qn_close(s.ctx);
	return code;
}
