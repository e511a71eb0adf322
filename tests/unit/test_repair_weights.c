/* SPDX-License-Identifier: Apache-2.0 */
/* test_repair_weights.c - what a repair of weights is made from: patches of a layer against the interpreter, rounding
 * against exhaustive search. */
#include <math.h>

#include "calibrate/products.h"
#include "calibrate/weight_rounding.h"
#include "graph_fixture.h"
#include "runtime/interp.h"
#include "tests/unit/repair_draw.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_patches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rounding, setup, teardown),
		cmocka_unit_test_setup_teardown(test_singular, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
