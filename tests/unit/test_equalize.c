/* SPDX-License-Identifier: Apache-2.0 */
/* test_equalize.c - scales of channels that move between layers: the float graph computes the same bits, which groups
 * there are, which biases can move on, and what networks with planted uneven channels or high biases gain. */
#include <math.h>
#include <stdio.h>

#include "driver/context.h"
#include "graph_fixture.h"
#include "passes/equalize.h"
#include "patterns/rewrite.h"
#include "quern/measure.h"
#include "runtime/interp.h"

static uint32_t seed = 1;

/* 0 … n - 1 */
static uint32_t
draw(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* Groups: c1 with all that follows to c2; c2 and d, which are added; dw; and p, whose channels repeat after
 * flatten. Not: what softmax or an output reads, what a clip limits, weights of two layers. */
static const char net[] = "model \"net\" stage float\n"
			  "graph @main(%x: tensor<1x8x8x3xf32>) {\n"
			  "  %w1 = const : tensor<6x3x3x3xf32> rand 1\n"
			  "  %b1 = const : tensor<6xf32> rand 2\n"
			  "  %c1 = conv2d %x, %w1, %b1 {padding=same}\n"
			  "  %r1 = leaky_relu %c1 {alpha=0.125}\n"
			  "  %m1 = max_pool %r1 {kernel=[2,2], stride=[2,2]}\n"
			  "  %w2 = const : tensor<4x1x1x6xf32> rand 3\n"
			  "  %c2 = conv2d %m1, %w2\n"
			  "  %b2 = const : tensor<4xf32> rand 4\n"
			  "  %s2 = bias_add %c2, %b2\n"
			  "  %wd = const : tensor<4x3x3x3xf32> rand 5\n"
			  "  %d = conv2d %x, %wd {stride=[2,2], padding=same}\n"
			  "  %a = add %s2, %d\n"
			  "  %ra = relu %a\n"
			  "  %w3 = const : tensor<4x3x3x1xf32> rand 6\n"
			  "  %dw = conv2d %ra, %w3 {padding=same, groups=4}\n"
			  "  %w4 = const : tensor<6x1x1x2xf32> rand 7\n"
			  "  %p = conv2d %dw, %w4 {groups=2}\n"
			  "  %rp = relu %p\n"
			  "  %v = avg_pool %rp {kernel=[2,2], stride=[2,2]}\n"
			  "  %f = reshape %v {shape=[1,24]}\n"
			  "  %w5 = const : tensor<5x24xf32> rand 8\n"
			  "  %h = dense %f, %w5\n"
			  "  %k = clip %h {min=-0.5, max=0.5}\n"
			  "  %w6 = const : tensor<5x5xf32> rand 9\n"
			  "  %h2 = dense %k, %w6\n"
			  "  %t = relu %h2\n"
			  "  %h3 = dense %t, %w6\n"
			  "  %y = softmax %h3\n"
			  "  return %y, %h3\n"
			  "}\n";

static const char *const groups[] = {"c1", "c2", "dw", "p"};

static void
fill(qn_equalizing *e, uint32_t most)
{
	for (size_t k = 0; k < e->n; k++)
		for (int64_t i = 0; i < e->group[k].channels; i++)
			e->group[k].exponent[i] = (int8_t)((int)draw(2 * most + 1) - (int)most);
}

static const float *
run(qn_arena *a, const qn_graph *g, const float *x, size_t output)
{
	qn_interp *in;
	const qn_type *t = qn_graph_node(g, g->input[0])->type;
	const qn_tensor *inputs[] = {qn_tensor_view(a, t, x)};

	assert_int_equal(qn_interp_new(g, a, &in), QN_OK);
	assert_int_equal(qn_interp_run(in, inputs, NULL, NULL), QN_OK);
	const qn_tensor *y = qn_interp_output(in, output);
	return qn_arena_copy(a, y->data, y->bytes);
}

static void
same_bits(void **state)
{
	enum { TIMES = 20, IN = 192, OUT = 5 };
	fixture *f = *state;
	qn_equalizing e;
	qn_graph *g;
	float x[IN];

	assert_int_equal(parse(f, net), QN_OK);
	const qn_graph *before = qn_model_entry(&f->m);
	qn_equalize_find(before, &f->arena, &e);
	assert_int_equal(e.n, QN_COUNT(groups));
	for (size_t k = 0; k < e.n; k++)
		assert_string_equal(e.group[k].name, groups[k]);
	assert_int_equal(e.group[3].channels, 6);
	for (size_t k = 0; k < e.n; k++) /* leaky_relu, add, no bias, avg_pool */
		assert_null(e.group[k].shift);
	for (int t = 0; t < TIMES; t++) {
		fill(&e, QN_EQUALIZE_MOST);
		for (int i = 0; i < IN; i++)
			x[i] = ((float)draw(1 << 20) - (1 << 19)) / (1 << 17);
		assert_int_equal(qn_equalize_apply(&f->m, &e, &g), QN_OK);
		for (size_t k = 0; k < 2; k++)
			assert_memory_equal(run(&f->arena, before, x, k), run(&f->arena, g, x, k),
					    OUT * sizeof(float));
		/* … while the values between are others */
		const char *const name[] = {"w1", "b1", "w2", "b2", "wd", "w3", "w4", "w5"};
		for (size_t i = 0; i < QN_COUNT(name); i++) {
			const qn_tensor *was =
				qn_graph_node(before, qn_graph_find(before, name[i]))->value;
			const qn_tensor *is = qn_graph_node(g, qn_graph_find(g, name[i]))->value;

			assert_memory_not_equal(was->data, is->data, was->bytes);
		}
		assert_true(qn_graph_node(g, qn_graph_find(g, "w6"))->value ==
			    qn_graph_node(before, qn_graph_find(before, "w6"))->value);
	}
}

/* Largest magnitudes, by channel: c2 reads six of c1, w4 in two groups of two. */
static void
ranges(void **state)
{
	static const char text[] =
		"model \"net\" stage float\n"
		"graph @main(%x: tensor<1x2x2x1xf32>) {\n"
		"  %a = const : tensor<4x1x1x1xf32> [1.0, -2.0, 3.0, 0.5]\n"
		"  %c = conv2d %x, %a\n"
		"  %b = const : tensor<4x1x1x2xf32> [1.0, -5.0, 0.25, 6.0, 7.0, -8.0, 9.0, 1.0]\n"
		"  %d = conv2d %c, %b {groups=2}\n"
		"  return %d\n"
		"}\n";
	static const float rows[] = {1, 2, 3, 0.5f}, columns[] = {1, 6, 9, 8};
	fixture *f = *state;
	qn_equalizing e;

	assert_int_equal(parse(f, text), QN_OK);
	qn_equalize_find(qn_model_entry(&f->m), &f->arena, &e);
	assert_int_equal(e.n, 1);
	qn_equalize_measure(&e, 0, &f->arena);
	assert_memory_equal(e.group[0].rows, rows, sizeof rows);
	assert_memory_equal(e.group[0].columns, columns, sizeof columns);
}

/* ---- high biases ---- */

#define BIASED(padding, pool)                                                                      \
	"model \"net\" stage float\n"                                                              \
	"graph @main(%x: tensor<1x8x8x3xf32>) {\n"                                                 \
	"  %w1 = const : tensor<4x1x1x3xf32> rand 1\n"                                             \
	"  %b1 = const : tensor<4xf32> [40.0, 0.125, 36.5, -0.25]\n"                               \
	"  %c1 = conv2d %x, %w1, %b1\n"                                                            \
	"  %r1 = relu %c1\n"                                                                       \
	"  %m1 = " pool "\n"                                                                       \
	"  %w2 = const : tensor<6x3x3x2xf32> rand 2\n"                                             \
	"  %c2 = conv2d %m1, %w2 {groups=2" padding "}\n"                                          \
	"  %b2 = const : tensor<6xf32> [0.5, -0.25, 1.0, 0.0, -3.0, 2.0]\n"                        \
	"  %a2 = bias_add %c2, %b2\n"                                                              \
	"  return %a2\n"                                                                           \
	"}\n"
#define MAX_POOL "max_pool %r1 {kernel=[2,2], stride=[2,2]}"
#define AVG_POOL "avg_pool %r1 {kernel=[2,2], stride=[2,2]}"

/* Outputs stay, but for rounding, where no value is below c. */
static void
biases_move(void **state)
{
	enum { IN = 192, OUT = 24, TIMES = 10 };
	static const float c[] = {30, 0, 32.5f, 0};
	fixture *f = *state;
	qn_equalizing e;
	qn_graph *g;
	float x[IN];

	assert_int_equal(parse(f, BIASED("", MAX_POOL)), QN_OK);
	const qn_graph *before = qn_model_entry(&f->m);
	qn_equalize_find(before, &f->arena, &e);
	assert_int_equal(e.n, 1);
	assert_non_null(e.group[0].shift);
	memcpy(e.group[0].shift, c, sizeof c);
	for (int t = 0; t < TIMES; t++) {
		fill(&e, 3);
		for (int i = 0; i < IN; i++)
			x[i] = ((float)draw(1 << 20) - (1 << 19)) / (1 << 19);
		assert_int_equal(qn_equalize_apply(&f->m, &e, &g), QN_OK);
		const float *was = run(&f->arena, before, x, 0), *is = run(&f->arena, g, x, 0);
		for (int i = 0; i < OUT; i++)
			assert_float_equal(was[i], is[i], 1e-4);
		const float *b = qn_graph_node(g, qn_graph_find(g, "b1"))->value->data;
		assert_true(b[0] == ldexpf(10, -e.group[0].exponent[0]));
		assert_true(b[1] == ldexpf(0.125f, -e.group[0].exponent[1]));
	}
}

/* Where zeros are read beside the values, or a mean may have values below c in it. */
static void
biases_stay(void **state)
{
	static const char *const nets[] = {BIASED(", padding=same", MAX_POOL), BIASED("", AVG_POOL),
					   BIASED("", "leaky_relu %r1 {alpha=0.5}")};
	fixture *f = *state;
	qn_equalizing e;

	for (size_t i = 0; i < QN_COUNT(nets); i++) {
		if (i > 0) {
			teardown(state);
			setup(state);
			f = *state;
		}
		assert_int_equal(parse(f, nets[i]), QN_OK);
		qn_equalize_find(qn_model_entry(&f->m), &f->arena, &e);
		assert_int_equal(e.n, 1);
		assert_null(e.group[0].shift);
	}
}

/* ---- a network with planted uneven channels ---- */

enum { SAMPLES = 64, EACH = 192 };

static const char plain[] = "model \"net\" stage float\n"
			    "graph @main(%x: tensor<1x8x8x3xf32>) {\n"
			    "  %w1 = const : tensor<16x3x3x3xf32> rand 1\n"
			    "  %c1 = conv2d %x, %w1 {padding=same}\n"
			    "  %r1 = relu %c1\n"
			    "  %w2 = const : tensor<16x3x3x1xf32> rand 2\n"
			    "  %c2 = conv2d %r1, %w2 {padding=same, groups=16}\n"
			    "  %r2 = relu %c2\n"
			    "  %w3 = const : tensor<8x1x1x16xf32> rand 3\n"
			    "  %c3 = conv2d %r2, %w3\n"
			    "  return %c3\n"
			    "}\n";

static void
take_sqnr(void *user, const qn_metric *m)
{
	if (strcmp(m->name, "sqnr") == 0)
		*(double *)user = m->value;
}

/* dB of the integer network; exponents up to `most` are planted first, which the float one does not notice. */
static double
sqnr(const char *net_text, uint32_t most, const qn_compile_opts *like, int threads, char *options)
{
	qn_ctx *ctx = qn_open(&(qn_config){.threads = threads});
	const int64_t shape[] = {SAMPLES, 8, 8, 3};
	float *data = malloc(sizeof(float) * SAMPLES * EACH);
	qn_compile_opts o = *like;
	qn_model *m, *real;
	qn_array *x;
	qn_equalizing e;
	qn_graph *g;
	double db = 0;

	assert_non_null(data);
	seed = 5;
	for (int i = 0; i < SAMPLES * EACH; i++)
		data[i] = ((float)draw(1 << 16) - (1 << 15)) / (1 << 15);
	assert_int_equal(qn_array_new(ctx, "f32", 4, shape, data, &x), QN_OK);
	free(data);
	assert_int_equal(qn_file_add(ctx, "net.qir", net_text, strlen(net_text)), QN_OK);
	assert_int_equal(qn_load(ctx, "net.qir", &m), QN_OK);
	assert_int_equal(qn_load(ctx, "net.qir", &real), QN_OK);
	qn_equalize_find(qn_model_entry(m), m->arena, &e);
	assert_int_equal(e.n, net_text == plain ? 2 : 1);
	fill(&e, most);
	assert_int_equal(qn_equalize_apply(m, &e, &g), QN_OK);
	qn_model_set_graph(m, g);
	o.calib = &x;
	o.ncalib = 1;
	assert_int_equal(qn_compile(m, &o), QN_OK);
	const qn_measure_opts measure = {.against = real};
	assert_int_equal(qn_measure(m, 1, &x, &measure, take_sqnr, &db), QN_OK);
	if (options != NULL)
		(void)snprintf(options, 200, "%s", m->options);
	qn_close(ctx);
	return db;
}

static void
planted(void **state)
{
	static const qn_compile_opts ways[] = {
		{.weights = QN_WEIGHTS_PER_TENSOR},
		{.weights_type = QN_WEIGHTS_I4, .weights = QN_WEIGHTS_PER_TENSOR},
		{.weights = QN_WEIGHTS_PER_CHANNEL}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(ways); i++) {
		qn_compile_opts o = ways[i];
		char options[200], again[200];
		const double even = sqnr(plain, 0, &o, 1, NULL),
			     uneven = sqnr(plain, 4, &o, 1, options);

		assert_null(strstr(options, "equalize="));
		o.equalize = 1;
		const double equal = sqnr(plain, 4, &o, 1, options);
		print_message("even %.2f dB, uneven %.2f dB, equalized %.2f dB: %s\n", even, uneven,
			      equal, options);
		assert_true(equal > uneven + 5);
		assert_true(equal > even - 3);
		assert_non_null(strstr(options, "equalize=2/2:"));
		assert_true(sqnr(plain, 4, &o, 3, again) == equal); /* … with other threads */
		assert_string_equal(options, again);
	}
}

static void
high_biases(void **state)
{
	static const char text[] = BIASED("", MAX_POOL);
	qn_compile_opts o = {.weights = QN_WEIGHTS_PER_CHANNEL};
	char options[200], again[200];
	const double high = sqnr(text, 0, &o, 1, options);

	(void)state;
	assert_null(strstr(options, "absorbed="));
	o.equalize = 1;
	const double moved = sqnr(text, 0, &o, 1, options);
	print_message("high %.2f dB, moved on %.2f dB: %s\n", high, moved, options);
	assert_true(moved > high + 5);
	assert_non_null(strstr(options, " absorbed=1"));
	assert_true(sqnr(text, 0, &o, 3, again) == moved);
	assert_string_equal(options, again);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(same_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(ranges, setup, teardown),
		cmocka_unit_test_setup_teardown(biases_move, setup, teardown),
		cmocka_unit_test_setup_teardown(biases_stay, setup, teardown),
		cmocka_unit_test(planted),
		cmocka_unit_test(high_biases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
