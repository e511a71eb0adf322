/* SPDX-License-Identifier: Apache-2.0 */
/* host_operators.h - operators of a host's: one that becomes a table, one of two operands, one that moves quantized values, one of
 * fixed parameters, one that has its float form alone. */
#ifndef QN_TESTS_HOST_OPERATORS_H
#define QN_TESTS_HOST_OPERATORS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "quern/host_ops.h"
#include "runtime/fixed.h"
#include "tests/e2e/both.h"

enum { SAMPLES = 8, ROWS = 3, COLUMNS = 5 };

/* ---- test.softsign: a table ---- */

static void
softsign(void *user, const qn_op_call *c, const float *const *in, float *out)
{
	size_t n = 1;

	(void)user;
	for (int i = 0; i < c->out->rank; i++)
		n *= (size_t)c->out->shape[i];
	for (size_t i = 0; i < n; i++) {
		float x = in[0][i] * (float)c->attr[0].real;

		out[i] = x / (1.0f + (x < 0.0f ? -x : x));
	}
}

/* ---- test.blend: a * w + b * (1 - w), two operands of one shape ---- */

static void
blend(void *user, const qn_op_call *c, const float *const *in, float *out)
{
	float w = (float)c->attr[0].real;

	(void)user;
	for (int i = 0; i < ROWS * COLUMNS; i++)
		out[i] = in[0][i] * w + in[1][i] * (1.0f - w);
}

static int
blend_prepare(void *user, const qn_op_call *c, int32_t *param, int cap, const char **why)
{
	double w = c->attr[0].real;

	(void)user;
	if (cap < 9 || c->out->bits != 8 || c->in[0]->bits != 8 || !c->out->is_signed) {
		*why = "blend takes signed values of 8 bits";
		return -1;
	}
	if (qn_multiplier_of(c->in[0]->scale * w / c->out->scale, &param[0], &param[1]) != QN_OK ||
	    qn_multiplier_of(c->in[1]->scale * (1.0 - w) / c->out->scale, &param[2], &param[3]) !=
		    QN_OK) {
		*why = "the weight is not within 0 and 1";
		return -1;
	}
	param[4] = (int32_t)c->in[0]->zero_point;
	param[5] = (int32_t)c->in[1]->zero_point;
	param[6] = (int32_t)c->out->zero_point;
	param[7] = (int32_t)c->out->lo;
	param[8] = (int32_t)c->out->hi;
	return 9;
}

BOTH(
	blend_codes, static void blend_codes(const int32_t *p, const void *const *in, void *out) {
		const int8_t *a = (const int8_t *)in[0];
		const int8_t *b = (const int8_t *)in[1];
		int8_t *y = (int8_t *)out;
		int32_t i;

		for (i = 0; i < 15; i++) {
			int32_t v = qn_apply(a[i] - p[4], p[0], p[1], QN_RQ_DOUBLE) +
				    qn_apply(b[i] - p[5], p[2], p[3], QN_RQ_DOUBLE) + p[6];
			y[i] = (int8_t)qn_clamp32(v, p[7], p[8]);
		}
	})

/* ---- test.flip: the last axis in reverse; moves quantized values ---- */

static void
flip(void *user, const qn_op_call *c, const float *const *in, float *out)
{
	int64_t n = c->out->shape[c->out->rank - 1];

	(void)user;
	for (int64_t i = 0; i < ROWS * COLUMNS; i++)
		out[i] = in[0][i / n * n + (n - 1 - i % n)];
}

static int
flip_prepare(void *user, const qn_op_call *c, int32_t *param, int cap, const char **why)
{
	(void)user;
	(void)cap;
	*why = "flip takes quantized values of 8 bits";
	if (c->in[0]->bits != 8)
		return -1;
	param[0] = 1;
	for (int i = 0; i < c->out->rank - 1; i++)
		param[0] *= (int32_t)c->out->shape[i];
	param[1] = (int32_t)c->out->shape[c->out->rank - 1];
	return 2;
}

BOTH(
	flip_codes, static void flip_codes(const int32_t *p, const void *const *in, void *out) {
		const int8_t *x = (const int8_t *)in[0];
		int8_t *y = (int8_t *)out;
		int32_t i;
		int32_t j;

		for (i = 0; i < p[0]; i++)
			for (j = 0; j < p[1]; j++)
				y[i * p[1] + j] = x[i * p[1] + p[1] - 1 - j];
	})

/* ---- test.gate: fixed parameters, a shape of its own, no integer form ---- */

static int
gate_shape(void *user, const qn_op_call *c, int64_t dim[8], const char **why)
{
	(void)user;
	*why = "gate takes matrices";
	if (c->in[0]->rank != 2)
		return -1;
	dim[0] = c->in[0]->shape[0];
	dim[1] = 1;
	return 2;
}

static void
gate(void *user, const qn_op_call *c, const float *const *in, float *out)
{
	(void)user;
	for (int64_t i = 0; i < c->out->shape[0]; i++)
		out[i] = in[0][i * c->in[0]->shape[1]] > 0.0f ? 0.75f : 0.25f;
}

static const qn_op_attr gain[] = {{"gain", 1, "1.0"}};
static const qn_op_attr weight[] = {{"w", 1, NULL}, {"spare", 0, "7"}};

static const qn_op_desc operators[] = {
	{.name = "test.softsign",
	 .min_inputs = 1,
	 .max_inputs = 1,
	 .behaviour = QN_OP_TABLE,
	 .nattr = 1,
	 .attr = gain,
	 .run_float = softsign},
	{.name = "test.blend",
	 .min_inputs = 2,
	 .max_inputs = 2,
	 .behaviour = QN_OP_MIX,
	 .nattr = 2,
	 .attr = weight,
	 .run_float = blend,
	 .prepare = blend_prepare,
	 .run_integer = blend_codes,
	 .integer_name = "blend_codes",
	 .integer_text = blend_codes_text},
	{.name = "test.flip",
	 .min_inputs = 1,
	 .max_inputs = 1,
	 .behaviour = QN_OP_SAME,
	 .run_float = flip,
	 .prepare = flip_prepare,
	 .run_integer = flip_codes,
	 .integer_name = "flip_codes",
	 .integer_text = flip_codes_text},
	{.name = "test.gate",
	 .min_inputs = 1,
	 .max_inputs = 1,
	 .behaviour = QN_OP_FIXED,
	 .fixed_scale = 1.0 / 255,
	 .fixed_zero_point = -128,
	 .shape = gate_shape,
	 .run_float = gate},
	{.name = "test.probe", .min_inputs = 1, .max_inputs = 1, .run_float = flip},
};

static qn_ctx *
open_with_operators(void)
{
	qn_ctx *ctx = qn_open(NULL);

	for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
		assert_int_equal(qn_op_register(ctx, &operators[i]), QN_OK);
	return ctx;
}

#endif
