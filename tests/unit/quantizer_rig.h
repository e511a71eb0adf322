/* SPDX-License-Identifier: Apache-2.0 */
/* quantizer_rig.h - for tests of quantizer patterns of a host: texts and a model of two layers. */
#ifndef TESTS_UNIT_QUANTIZER_RIG_H
#define TESTS_UNIT_QUANTIZER_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "quern/patterns.h"

enum { TEXT = 1 << 16 };

typedef struct text {
	char s[TEXT];
	size_t n;
} text;

static inline int
append(void *user, const char *s, size_t n)
{
	text *t = user;

	assert_true(t->n + n < TEXT);
	memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
	return 0;
}

static inline qn_array *
ramp(qn_ctx *ctx, int rank, const int64_t *shape)
{
	static float data[1024];
	int64_t n = 1;
	qn_array *x;

	for (int i = 0; i < rank; i++)
		n *= shape[i];
	for (int64_t i = 0; i < n; i++)
		data[i] = (float)((i * 7) % 13 - 6) / 8;
	assert_int_equal(qn_array_new(ctx, "f32", rank, shape, data, &x), QN_OK);
	return x;
}

/* relu(bias_add(conv2d(x))), then a convolution with the bias inside. */
static inline qn_model *
two_layers(qn_ctx *ctx)
{
	qn_model *m;

	assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", "tensor<1x4x4x2xf32>");
	qn_id w = qn_add_const(g, "w", ramp(ctx, 4, (int64_t[]){3, 3, 3, 2}));
	qn_id b = qn_add_const(g, "b", ramp(ctx, 1, (int64_t[]){3}));
	qn_id c = qn_add_op(g, "conv2d", "c", 2, (qn_id[]){x, w}, "padding=same", NULL);
	qn_id y = qn_add_op(g, "bias_add", "y", 2, (qn_id[]){c, b}, NULL, NULL);
	qn_id r = qn_add_op(g, "relu", "r", 1, &y, NULL, NULL);
	qn_id v = qn_add_const(g, "v", ramp(ctx, 4, (int64_t[]){3, 1, 1, 3}));
	qn_id z = qn_add_op(g, "conv2d", "z", 3, (qn_id[]){r, v, b}, NULL, NULL);
	assert_int_equal(qn_add_output(g, "out", z), QN_OK);
	return m;
}

static inline void
print_to(qn_model *m, text *t)
{
	t->n = 0;
	assert_int_equal(qn_print(m, QN_FORMAT_IR, append, t), QN_OK);
}

/* add(x, mul(x, 0.5)) in a quantized type of its own: 6 bits, unsigned, then an op on real values. */
static inline qn_id
scaled_sum(void *user, qn_quantizing *q, const qn_match *m)
{
	const qn_quant_type six_bits = {.bits = 6, .symmetric = 0};
	qn_graph *g = qn_quantizing_graph(q);
	qn_id x = qn_quantize_symbol(q, qn_match_get(m, "x"), "sum", "x", &six_bits);
	qn_id in[2];

	(void)user;
	in[0] = qn_dequantize(q, x, NULL);
	in[1] = qn_match_get(m, "k"); /* a constant inside of the match */
	in[1] = qn_add_op(g, "mul", NULL, 2, in, NULL, NULL);
	qn_id y = qn_add_op(g, "add", NULL, 2, in, NULL, NULL);
	y = qn_quantize_fixed(q, y, NULL, &(qn_quant_type){.bits = 8, .is_signed = 1}, 0.125, 3);
	return qn_dequantize(q, y, "sum");
}

static const char scaled_text[] = "add(x, mul(x, k=const))";

static inline qn_model *
scaled_model(qn_ctx *ctx)
{
	qn_model *m;

	assert_int_equal(qn_model_new(ctx, "sum", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", "tensor<1x4xf32>");
	qn_id k = qn_add_const(g, "k", ramp(ctx, 1, (int64_t[]){4}));
	qn_id p = qn_add_op(g, "mul", "p", 2, (qn_id[]){x, k}, NULL, NULL);
	qn_id y = qn_add_op(g, "add", "y", 2, (qn_id[]){x, p}, NULL, NULL);
	assert_int_equal(qn_add_output(g, "out", y), QN_OK);
	return m;
}

static inline qn_id
half_of(void *user, qn_quantizing *q, const qn_match *m)
{
	qn_id x = qn_match_get(m, "x");

	(void)user;
	return qn_add_op(qn_quantizing_graph(q), "relu6", NULL, 1, &x, NULL, NULL);
}

#endif
