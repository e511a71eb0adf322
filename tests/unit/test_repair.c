/* SPDX-License-Identifier: Apache-2.0 */
/* test_repair.c - patches against the interpreter's layers, rounding against exhaustive search, and what the pass does to
 * small networks. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "calibrate/products.h"
#include "calibrate/weight_rounding.h"
#include "graph_fixture.h"
#include "quern/measure.h"
#include "quern/patterns.h"
#include "runtime/interp.h"

static uint32_t seed = 1;

/* -1 … 1 */
static double
draw(void)
{
	seed = seed * 1664525u + 1013904223u;
	return (double)(seed >> 8) / 8388608.0 - 1;
}

/* ---- patches ---- */

typedef struct layer {
	const char *text, *name; /* the node is called y */
} layer;

static const layer layers[] = {
	{"graph @main(%x: tensor<2x7x9x4xf32>) {\n"
	 "  %w = const : tensor<6x3x2x2xf32> rand 3\n  %b = const : tensor<6xf32> rand 4\n"
	 "  %y = conv2d %x, %w, %b {stride=[2,3], pad=[1,2,0,1], dilation=[2,1], groups=2}\n"
	 "  return %y\n}\n",
	 "conv2d with everything"},
	{"graph @main(%x: tensor<1x5x5x3xf32>) {\n"
	 "  %w = const : tensor<3x3x3x1xf32> rand 3\n  %b = const : tensor<3xf32> rand 4\n"
	 "  %y = conv2d %x, %w, %b {padding=same, groups=3}\n  return %y\n}\n",
	 "depthwise"},
	{"graph @main(%x: tensor<2x11x3xf32>) {\n"
	 "  %w = const : tensor<4x3x3xf32> rand 3\n  %b = const : tensor<4xf32> rand 4\n"
	 "  %y = conv1d %x, %w, %b {stride=2, pad=[2,1]}\n  return %y\n}\n",
	 "conv1d"},
	{"graph @main(%x: tensor<1x4x5x6x2xf32>) {\n"
	 "  %w = const : tensor<3x2x3x2x2xf32> rand 3\n  %b = const : tensor<3xf32> rand 4\n"
	 "  %y = conv3d %x, %w, %b {stride=[1,2,1], pad=[1,0,1,1,0,1]}\n  return %y\n}\n",
	 "conv3d"},
	{"graph @main(%x: tensor<1x4x3x4xf32>) {\n"
	 "  %w = const : tensor<6x3x2x2xf32> rand 3\n  %b = const : tensor<6xf32> rand 4\n"
	 "  %y = conv2d_transpose %x, %w, %b {stride=[2,3], pad=[1,0,0,1], dilation=[1,2], "
	 "groups=2}\n  return %y\n}\n",
	 "conv2d_transpose"},
	{"graph @main(%x: tensor<3x5xf32>) {\n"
	 "  %w = const : tensor<4x5xf32> rand 3\n  %b = const : tensor<4xf32> rand 4\n"
	 "  %y = dense %x, %w, %b\n  return %y\n}\n",
	 "dense"},
	{"graph @main(%x: tensor<2x3x5xf32>) {\n  %w = const : tensor<5x4xf32> rand 3\n"
	 "  %y = matmul %x, %w\n  return %y\n}\n",
	 "matmul"},
	{"graph @main(%x: tensor<2x3x5xf32>) {\n  %w = const : tensor<4x5xf32> rand 3\n"
	 "  %y = matmul %x, %w {transpose_b=1}\n  return %y\n}\n",
	 "matmul by rows"},
};

static void
check_patches(fixture *f, const layer *l)
{
	const float *w, *b = NULL;
	qn_interp *in;
	qn_product p;
	void *data;

	assert_int_equal(parse(f, l->text), QN_OK);
	const qn_graph *g = qn_model_entry(&f->m);
	const qn_node *y = qn_graph_node(g, qn_graph_find(g, "y"));
	const qn_type *type = qn_graph_node(g, y->in[0])->type;
	qn_tensor *x = qn_tensor_new(&f->arena, type, &data);
	double *real = QN_NEW(&f->arena, double, (size_t)qn_type_count(type));
	for (int64_t i = 0; i < qn_type_count(type); i++) {
		((float *)data)[i] = (float)draw();
		real[i] = (double)((float *)data)[i];
	}
	assert_int_equal(qn_interp_new(g, &f->arena, &in), QN_OK);
	const qn_tensor *inputs[] = {x};
	assert_int_equal(qn_interp_run(in, inputs, NULL, NULL), QN_OK);
	const float *wanted = qn_interp_output(in, 0)->data;
	assert_true(qn_product_of(g, y, &p));
	assert_int_equal(p.positions * p.outputs, qn_type_count(y->type));
	w = qn_tensor_as_f32(&f->arena, qn_graph_node(g, y->in[1])->value);
	if (y->nin == 3)
		b = qn_tensor_as_f32(&f->arena, qn_graph_node(g, y->in[2])->value);
	double *patch = QN_NEW(&f->arena, double, (size_t)p.taps);
	for (int64_t at = 0; at < p.positions; at++)
		for (int64_t o = 0; o < p.outputs; o++) {
			double sum = b != NULL ? (double)b[o] : 0;

			qn_product_patch(&p, real, at, o / p.rows, patch);
			for (int64_t k = 0; k < p.taps; k++)
				sum += patch[k] * (double)w[o * p.output_step + k * p.tap_step];
			if (fabs(sum - (double)wanted[at * p.outputs + o]) > 1e-5)
				fail_msg("%s: position %d, output %d is %g, not %g", l->name,
					 (int)at, (int)o, sum, (double)wanted[at * p.outputs + o]);
		}
}

static void
test_patches(void **state)
{
	for (size_t i = 0; i < QN_COUNT(layers); i++) {
		close_model(*state);
		open_model(*state);
		check_patches(*state, &layers[i]);
	}
}

/* ---- rounding ---- */

enum { N = 5, LO = -2, HI = 2, SEEDS = 200 };

typedef struct problem {
	double h[N * N], damped[N * N], w[N], step[N];
} problem;

/* Patches that are correlated, or are not. */
static problem
draw_problem(bool correlated)
{
	problem p = {0};
	double trace = 0;

	for (int s = 0; s < 40; s++) {
		const double common = correlated ? 2 * draw() : 0;
		double x[N];

		for (int i = 0; i < N; i++)
			x[i] = common + draw();
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				p.h[i * N + j] += (correlated || i == j ? x[i] * x[j] : 0) / 40;
	}
	for (int i = 0; i < N; i++) {
		trace += p.h[i * N + i];
		p.w[i] = draw();
		p.step[i] = 0.4 + 0.05 * i;
	}
	memcpy(p.damped, p.h, sizeof p.h);
	for (int i = 0; i < N; i++)
		p.damped[i * N + i] += 0.01 * trace / N;
	return p;
}

static double
plain_cost(const problem *p, const double *q)
{
	double sum = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			sum += (p->w[i] - q[i] * p->step[i]) * p->damped[i * N + j] *
			       (p->w[j] - q[j] * p->step[j]);
	return sum;
}

static double
best_cost(const problem *p)
{
	double least = HUGE_VAL, q[N];

	for (int code = 0; code < 5 * 5 * 5 * 5 * 5; code++) {
		for (int i = 0, rest = code; i < N; i++, rest /= 5)
			q[i] = LO + rest % 5;
		least = fmin(least, plain_cost(p, q));
	}
	return least;
}

static double
nearest_cost(const problem *p, double *q)
{
	for (int i = 0; i < N; i++)
		q[i] = fmin(fmax(rint(p->w[i] / p->step[i]), LO), HI);
	return plain_cost(p, q);
}

static void
test_rounding(void **state)
{
	fixture *f = *state;
	double sum[4] = {0}, q[N], nearest[N];
	int optimal = 0;

	for (int s = 0; s < SEEDS; s++) {
		const problem p = draw_problem(true);
		qn_rounder *r = qn_rounder_new(N, p.h, &f->arena);
		const double best = best_cost(&p), plain = nearest_cost(&p, q);
		const double gptq = qn_round_weights(r, p.w, p.step, LO, HI, false, q);

		assert_true(fabs(gptq - plain_cost(&p, q)) < 1e-9);
		assert_true(fabs(gptq - qn_rounding_cost(r, p.w, p.step, q)) < 1e-9);
		const double adaptive = qn_round_weights(r, p.w, p.step, LO, HI, true, q);
		assert_true(fabs(adaptive - plain_cost(&p, q)) < 1e-9);
		for (int i = 0; i < N; i++)
			assert_true(q[i] >= LO && q[i] <= HI && !(fabs(q[i] - rint(q[i])) > 0));
		assert_true(adaptive <= gptq + 1e-12 && adaptive >= best - 1e-12);
		optimal += adaptive < best + 1e-9;
		sum[0] += plain;
		sum[1] += gptq;
		sum[2] += adaptive;
		sum[3] += best;
	}
	print_message("mean cost: nearest %.4f, one after the other %.4f, then changed %.4f, least "
		      "%.4f (%d of %d)\n",
		      sum[0] / SEEDS, sum[1] / SEEDS, sum[2] / SEEDS, sum[3] / SEEDS, optimal,
		      SEEDS);
	assert_true(sum[1] < 0.5 * sum[0] && sum[2] < 1.3 * sum[3] && optimal > SEEDS / 2);
	for (int s = 0; s < SEEDS; s++) { /* nothing makes up for anything */
		const problem p = draw_problem(false);
		qn_rounder *r = qn_rounder_new(N, p.h, &f->arena);

		(void)nearest_cost(&p, nearest);
		(void)qn_round_weights(r, p.w, p.step, LO, HI, true, q);
		assert_memory_equal(q, nearest, sizeof q);
	}
}

/* Taps that are always 0, and one that always is what another is. */
static void
test_singular(void **state)
{
	fixture *f = *state;
	double h[9] = {1, 1, 0, 1, 1, 0, 0, 0, 0}, q[3];
	const double w[3] = {0.5, 0.5, 0.9}, step[3] = {1, 1, 1};

	qn_rounder *r = qn_rounder_new(3, h, &f->arena);
	(void)qn_round_weights(r, w, step, -7, 7, true, q);
	assert_true(fabs(q[0] + q[1] - 1) < 1e-9 && fabs(q[2] - 1) < 1e-9);
	memset(h, 0, sizeof h);
	r = qn_rounder_new(3, h, &f->arena);
	(void)qn_round_weights(r, w, step, -7, 7, true, q);
	assert_true(fabs(q[2] - 1) < 1e-9);
}

/* ---- the pass ---- */

enum { SAMPLES = 64, CLASSES = 5, TEXT = 1 << 17 };

/* A chain of layers of several kinds, the second of which has no bias. */
static const char network[] =
	"graph @main(%x: tensor<1x6x6x2xf32>) {\n"
	"  %w1 = const : tensor<8x3x3x2xf32> rand 11\n  %b1 = const : tensor<8xf32> rand 12\n"
	"  %c1 = conv2d %x, %w1, %b1 {padding=same}\n  %r1 = relu %c1\n"
	"  %w2 = const : tensor<8x3x3x1xf32> rand 13\n"
	"  %c2 = conv2d %r1, %w2 {groups=8}\n  %r2 = relu %c2\n"
	"  %w3 = const : tensor<6x2x2x8xf32> rand 14\n  %b3 = const : tensor<6xf32> rand 15\n"
	"  %t3 = conv2d_transpose %r2, %w3, %b3 {stride=[2,2]}\n"
	"  %f = reshape %t3 {shape=[1,384]}\n"
	"  %w4 = const : tensor<5x384xf32> rand 16\n  %b4 = const : tensor<5xf32> rand 17\n"
	"  %y = dense %f, %w4, %b4\n  return %y\n}\n";

typedef struct rig {
	qn_ctx *ctx;
	qn_array *x;
	qn_model *m;
} rig;

static char folder[] = "/tmp/quern-repair-XXXXXX"; /* of the files that the tests write */

static int
enter(void **state)
{
	(void)state;
	return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int
leave(void **state)
{
	(void)state;
	(void)remove("repair.qir");
	(void)remove("repair.json");
	(void)remove("repair.safetensors");
	return chdir("/") != 0 || rmdir(folder) != 0;
}

static rig
make(int threads, int64_t samples)
{
	static float data[SAMPLES * 72];
	const int64_t shape[] = {samples, 6, 6, 2};
	rig r = {.ctx = qn_open(&(qn_config){.threads = threads})};
	FILE *f = fopen("repair.qir", "w");

	assert_non_null(f);
	assert_true(fputs(network, f) >= 0 && fclose(f) == 0);
	seed = 5;
	for (int i = 0; i < SAMPLES * 72; i++)
		data[i] = (float)(0.3 + draw());
	assert_int_equal(qn_array_new(r.ctx, "f32", 4, shape, data, &r.x), QN_OK);
	assert_int_equal(qn_load(r.ctx, "repair.qir", &r.m), QN_OK);
	return r;
}

static qn_status
quantize(rig *r, qn_compile_opts o)
{
	o.calib = &r->x;
	o.ncalib = 1;
	o.stop_after = o.stop_after != NULL ? o.stop_after : "bind";
	return qn_compile(r->m, &o);
}

static int
append(void *user, const char *s, size_t n)
{
	char *text = user;
	const size_t have = strlen(text);

	assert_true(have + n < TEXT);
	memcpy(text + have, s, n);
	text[have + n] = '\0';
	return 0;
}

/* Sum of squared errors against the float network, on the samples that calibrate. */
static double
error_of(qn_compile_opts o, char *text)
{
	rig r = make(1, SAMPLES);
	qn_array *real, *y;
	double error = 0;

	assert_int_equal(qn_run(r.m, 1, &r.x, 1, 1, &real), QN_OK);
	assert_int_equal(quantize(&r, o), QN_OK);
	assert_int_equal(qn_run(r.m, 1, &r.x, 1, 1, &y), QN_OK);
	const float *a = qn_array_data(real), *b = qn_array_data(y);
	for (int i = 0; i < SAMPLES * CLASSES; i++)
		error += pow((double)a[i] - (double)b[i], 2);
	text[0] = '\0';
	assert_int_equal(qn_print(r.m, QN_FORMAT_IR, append, text), QN_OK);
	qn_close(r.ctx);
	return error;
}

static int
lines_with(const char *text, const char *begin, const char *word)
{
	int n = 0;

	for (const char *at = strstr(text, begin); at != NULL; at = strstr(at + 1, begin)) {
		const char *end = strchr(at, '\n'), *found = strstr(at, word);

		n += found != NULL && found < end;
	}
	return n;
}

/* Every repair brings the network much nearer to the float one, for weights of each granularity. */
static void
test_repairs(void **state)
{
	static char text[TEXT];
	static const qn_compile_opts ways[] = {
		{.weights_type = QN_WEIGHTS_I4},
		{.weights_type = QN_WEIGHTS_I4, .weights = QN_WEIGHTS_PER_TENSOR},
		{.weights_type = QN_WEIGHTS_I4, .weight_block = 8},
		{.weights_type = QN_WEIGHTS_I2},
		{.weights_type = QN_WEIGHTS_I4, .activations = QN_ACTIVATIONS_I16},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(ways); i++) {
		qn_compile_opts o = ways[i];
		const double plain = error_of(o, text);
		assert_int_equal(lines_with(text, "repaired ", "dB"), 0);
		o.bias_correction = 1;
		const double bias = error_of(o, text);
		assert_true(lines_with(text, "repaired ", "bias") > 0);
		assert_int_equal(lines_with(text, "repaired ", "weights"), 0);
		o.weight_rounding = QN_WEIGHTS_ADAPTIVE;
		const double both = error_of(o, text);
		assert_int_equal(lines_with(text, "repaired ", "dB"), 4);
		assert_true(lines_with(text, "repaired ", "weights") > 0);
		o.weight_rounding = QN_WEIGHTS_GPTQ;
		o.bias_correction = 0;
		const double gptq = error_of(o, text);
		assert_int_equal(lines_with(text, "repaired ", "bias"), 0);
		print_message("error %.3g: with biases %.3g, weights %.3g, both %.3g\n", plain,
			      bias, gptq, both);
		assert_true(bias < 0.8 * plain && gptq < 0.6 * plain && both < 0.6 * plain);
	}
}

/* The text of a repaired graph is read as it was written, and other threads or a second run give it again. */
static void
test_same(void **state)
{
	static char first[TEXT], second[TEXT];
	const qn_compile_opts o = {.weights_type = QN_WEIGHTS_I4,
				   .weight_rounding = QN_WEIGHTS_ADAPTIVE,
				   .bias_correction = 1};

	(void)state;
	(void)error_of(o, first);
	for (int threads = 1; threads <= 3; threads++) {
		rig r = make(threads, SAMPLES);

		assert_int_equal(quantize(&r, o), QN_OK);
		second[0] = '\0';
		assert_int_equal(qn_print(r.m, QN_FORMAT_IR, append, second), QN_OK);
		assert_string_equal(first, second);
		assert_int_equal(qn_save(r.m, "repair.json", 1), QN_OK);
		qn_close(r.ctx);
	}
	rig r = make(1, SAMPLES);
	assert_int_equal(qn_load(r.ctx, "repair.json", &r.m), QN_OK);
	second[0] = '\0';
	assert_int_equal(qn_print(r.m, QN_FORMAT_IR, append, second), QN_OK);
	assert_string_equal(first, second);
	qn_close(r.ctx);
}

/* Few samples serve both ends; none is an error. */
static void
test_samples(void **state)
{
	(void)state;
	rig r = make(1, 3);
	qn_compile_opts o = {.bias_correction = 1, .weight_rounding = QN_WEIGHTS_GPTQ};

	assert_int_equal(quantize(&r, o), QN_OK);
	qn_close(r.ctx);
	r = make(1, SAMPLES);
	assert_int_equal(quantize(&r, (qn_compile_opts){.stop_after = "calibrate"}), QN_OK);
	assert_int_equal(qn_compile(r.m, &o), QN_EUSAGE);
	assert_string_equal(qn_diag_get(r.ctx, 0).id, "repair.no-data");
	qn_close(r.ctx);
	r = make(1, SAMPLES);
	assert_int_equal(quantize(&r, (qn_compile_opts){0}), QN_OK);
	assert_int_equal(quantize(&r, o), QN_EUSAGE);
	assert_string_equal(qn_diag_get(r.ctx, 0).id, "option.late");
	qn_close(r.ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_patches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rounding, setup, teardown),
		cmocka_unit_test_setup_teardown(test_singular, setup, teardown),
		cmocka_unit_test(test_repairs),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
