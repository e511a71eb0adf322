/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_fused.c - a host's operator that is a whole layer: its quantizer pattern stores weights with a scale for each
 * channel and a bias in the scale of the sum, and its integer function sees both as they are. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "quern/graph.h"
#include "quern/host_ops.h"
#include "quern/measure.h"
#include "quern/patterns.h"
#include "runtime/fixed.h"
#include "tests/e2e/both.h"

enum { SAMPLES = 64, IN = 32, OUT = 16, HEAD = 7 };

/* p: rows, inputs, outputs, zero points of data and result, least and greatest result, multipliers, shifts */
BOTH(
	fc_relu, static void fc_relu(const int32_t *p, const void *const *in, void *out) {
		const int8_t *x = (const int8_t *)in[0];
		const int8_t *w = (const int8_t *)in[1];
		const int32_t *b = (const int32_t *)in[2];
		int8_t *y = (int8_t *)out;
		int32_t n, o, k, sum;

		for (n = 0; n < p[0]; n++)
			for (o = 0; o < p[2]; o++) {
				sum = b[o];
				for (k = 0; k < p[1]; k++)
					sum += (x[n * p[1] + k] - p[3]) * w[o * p[1] + k];
				sum = qn_apply(sum, p[7 + o], p[7 + p[2] + o], QN_RQ_DOUBLE) + p[4];
				y[n * p[2] + o] = (int8_t)qn_clamp32(sum, p[5], p[6]);
			}
	})

static int
layer_shape(void *user, const qn_op_call *c, int64_t dim[8], const char **why)
{
	(void)user, (void)why;
	dim[0] = c->in[0]->shape[0];
	dim[1] = c->in[1]->shape[0];
	return 2;
}

static void
layer_float(void *user, const qn_op_call *c, const float *const *in, float *out)
{
	const int64_t rows = c->in[0]->shape[0], inputs = c->in[1]->shape[1],
		      outputs = c->in[1]->shape[0];

	(void)user;
	for (int64_t n = 0; n < rows; n++)
		for (int64_t o = 0; o < outputs; o++) {
			float sum = in[2][o];

			for (int64_t k = 0; k < inputs; k++)
				sum += in[0][n * inputs + k] * in[1][o * inputs + k];
			out[n * outputs + o] = sum > 0.0f ? sum : 0.0f;
		}
}

static int
layer_prepare(void *user, const qn_op_call *c, int32_t *p, int cap, const char **why)
{
	const qn_op_type *x = c->in[0], *w = c->in[1], *b = c->in[2];
	const int outputs = (int)w->shape[0];

	(void)user;
	*why = "it wants data of i8, weights with a scale for each row, and a bias of i32";
	if (x->bits != 8 || w->bits != 8 || w->axis != 0 || b->bits != 32 ||
	    cap < HEAD + 2 * outputs)
		return -1;
	p[0] = (int32_t)x->shape[0];
	p[1] = (int32_t)w->shape[1];
	p[2] = outputs;
	p[3] = (int32_t)x->zero_point;
	p[4] = (int32_t)c->out->zero_point;
	p[5] = (int32_t)(c->out->lo > c->out->zero_point ? c->out->lo : c->out->zero_point);
	p[6] = (int32_t)c->out->hi;
	for (int o = 0; o < outputs; o++)
		if (qn_multiplier_of(x->scale * w->scales[o] / c->out->scale, &p[HEAD + o],
				     &p[HEAD + outputs + o]) != 0)
			return -1;
	return HEAD + 2 * outputs;
}

static qn_id
layer_form(void *user, qn_quantizing *q, const qn_match *m)
{
	const qn_match *before = qn_quantizing_match(q);
	const char *name = qn_value(qn_quantizing_before(q), qn_match_get(before, "layer")).name;
	const qn_id x = qn_quantize_activation(q, qn_match_get(m, "x"), name, "x");
	const qn_id w = qn_quantize_weights(q, qn_match_get(m, "w"), name, "w", 0);
	const qn_id b = qn_quantize_bias(q, qn_match_get(m, "b"), "b", x, w);
	const qn_id in[3] = {qn_dequantize(q, x, NULL), qn_dequantize(q, w, NULL),
			     qn_dequantize(q, b, NULL)};

	(void)user;
	return qn_add_op(qn_quantizing_graph(q), "test.fc_relu", name, 3, in, NULL, NULL);
}

static qn_array *
wave(qn_ctx *ctx, int rank, const int64_t *shape, int step, double scale)
{
	static float v[SAMPLES * IN];
	int64_t n = 1;
	qn_array *x;

	for (int i = 0; i < rank; i++)
		n *= shape[i];
	for (int64_t i = 0; i < n; i++)
		v[i] = (float)(scale * (double)(i * step % 61 - 30) / 30);
	assert_int_equal(qn_array_new(ctx, "f32", rank, shape, v, &x), QN_OK);
	return x;
}

static qn_model *
two_layers(qn_ctx *ctx)
{
	qn_model *m;

	assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id in[3] = {qn_add_input(g, "x", "tensor<1x32xf32>"),
		       qn_add_const(g, "w1", wave(ctx, 2, (const int64_t[]){OUT, IN}, 17, 0.3)),
		       qn_add_const(g, "b1", wave(ctx, 1, (const int64_t[]){OUT}, 7, 0.5))};
	const qn_id d = qn_add_op(g, "dense", "fc1", 3, in, NULL, NULL);
	in[0] = qn_add_op(g, "relu", "r", 1, &d, NULL, NULL);
	in[1] = qn_add_const(g, "w2", wave(ctx, 2, (const int64_t[]){4, OUT}, 13, 0.3));
	assert_int_equal(qn_add_output(g, "y", qn_add_op(g, "dense", "fc2", 2, in, NULL, NULL)),
			 QN_OK);
	return m;
}

static void
take_sqnr(void *user, const qn_metric *m)
{
	if (strcmp(m->name, "sqnr") == 0)
		*(double *)user = m->value;
}

static void
is_one_step(void **state)
{
	static const qn_op_desc op = {.name = "test.fc_relu",
				      .min_inputs = 3,
				      .max_inputs = 3,
				      .behaviour = QN_OP_MIX,
				      .shape = layer_shape,
				      .run_float = layer_float,
				      .prepare = layer_prepare,
				      .run_integer = fc_relu,
				      .integer_name = "fc_relu",
				      .integer_text = fc_relu_text};
	char folder[] = "/tmp/quern-fused-XXXXXX", command[400];
	qn_ctx *ctx = qn_open(NULL);
	qn_array *x = wave(ctx, 2, (const int64_t[]){SAMPLES, IN}, 37, 1);
	const qn_quantizer layer = {.name = "test.layer",
				    .text = "relu(layer=dense(x, w=const, b=const))",
				    .quantize = layer_form};
	const qn_compile_opts opts = {
		.calib = &x, .ncalib = 1, .quantizers = &layer, .nquantizers = 1};
	const qn_emit_opts emit = {.test = &x, .ntest = 1};
	double sqnr = 0;

	(void)state;
	assert_int_equal(qn_op_register(ctx, &op), QN_OK);
	qn_model *m = two_layers(ctx);
	assert_int_equal(qn_compile(m, &opts), QN_OK);
	assert_int_equal(qn_measure(m, 1, &x, &(qn_measure_opts){.against = two_layers(ctx)},
				    take_sqnr, &sqnr),
			 QN_OK);
	assert_true(sqnr > 30);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(qn_emit(m, folder, &emit, NULL), QN_OK);
	(void)snprintf(
		command, sizeof command,
		"cd %s && cc -std=c99 -O1 -fsanitize=address,undefined -Wall -Wextra -Werror "
		"-DNET_SELFTEST_MAIN -DNET_TRACE *.c -o t && ./t && rm -r %s",
		folder, folder);
	assert_int_equal(system(command), 0);
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(is_one_step)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
