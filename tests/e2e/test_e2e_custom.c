/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_custom.c - operators of a host's, from the public header alone: they are read from text
 * and built, calibrated, quantized, interpreted, emitted, and the emitted C gives the
 * interpreter's bytes. */
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
#include "runtime/fixed.h"

/* Code that is compiled here and text that is emitted, from one source. */
#define BOTH(name, ...)                                                                            \
	__VA_ARGS__                                                                                \
	static const char name##_text[] = #__VA_ARGS__;

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
		*why = "blend takes signed codes of 8 bits";
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

/* ---- test.flip: the last axis in reverse; moves codes ---- */

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
	*why = "flip takes codes of 8 bits";
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
	 .fixed_scale = 1.0 / 256,
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

static void
show(const qn_ctx *ctx)
{
	for (size_t i = 0; i < qn_diag_count(ctx); i++)
		print_message("%s: %s [%s]\n", qn_diag_get(ctx, i).place,
			      qn_diag_get(ctx, i).message, qn_diag_get(ctx, i).id);
}

static qn_array *
samples_of(qn_ctx *ctx)
{
	float x[SAMPLES * ROWS * COLUMNS];
	qn_array *out;

	for (int i = 0; i < SAMPLES * ROWS * COLUMNS; i++)
		x[i] = 0.25f * (float)(i * 7 % 41 - 17);
	assert_int_equal(
		qn_array_new(ctx, "f32", 2, (const int64_t[]){SAMPLES * ROWS, COLUMNS}, x, &out),
		QN_OK);
	return out;
}

/* blend(softsign(x), flip(softsign(x))), flip of that. */
static qn_model *
build(qn_ctx *ctx)
{
	qn_model *m;

	assert_int_equal(qn_model_new(ctx, "host", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", "tensor<3x5xf32>");
	qn_id s = qn_add_op(g, "test.softsign", "s", 1, &x, "gain=0.5", NULL);
	qn_id f = qn_add_op(g, "test.flip", "f", 1, &s, NULL, NULL);
	qn_id y = qn_add_op(g, "test.blend", "y", 2, (qn_id[]){x, f}, "w=0.25", NULL);
	qn_id z = qn_add_op(g, "test.flip", "z", 1, &y, NULL, NULL);
	assert_int_equal(qn_add_output(g, "z", z), QN_OK);
	return m;
}

static void
run(const char *format, const char *folder)
{
	char command[1000];

	(void)snprintf(command, sizeof command, format, folder);
	if (system(command) != 0)
		fail_msg("%s", command);
}

static void
compiles_to_c(void **state)
{
	static const char *const ways[] = {
		/* in parentheses: clang takes texts in a list for ones that lack a comma */
		("cd %s && cc -std=c99 -O1 -g -fsanitize=address,undefined "
		 "-fno-sanitize-recover=all -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror "
		 "-DHOST_SELFTEST_MAIN -DHOST_TRACE -o t *.c && ./t > log"),
		"cd %s && cc -std=c99 -O3 -DHOST_SELFTEST_MAIN -o t *.c && ./t > log",
		("cd %s && { ! command -v g++ > /dev/null || { g++ -std=c++11 -x c++ -O2 "
		 "-DHOST_SELFTEST_MAIN -o t *.c && ./t > log; }; }"),
	};
	char folder[] = "/tmp/quern-custom-XXXXXX";
	qn_ctx *ctx = open_with_operators();
	qn_model *m = build(ctx);
	qn_array *x = samples_of(ctx);
	const qn_compile_opts opts = {.calib = &x, .ncalib = 1};
	const qn_emit_opts emit = {.test = &x, .ntest = 1};

	(void)state;
	qn_status s = qn_compile(m, &opts);
	if (s == QN_OK && mkdtemp(folder) != NULL)
		s = qn_emit(m, folder, &emit, NULL);
	show(ctx);
	assert_int_equal(s, QN_OK);
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		run(ways[i], folder);
	run("rm -r %s", folder);
	qn_close(ctx);
}

/* The codes stand for what the float functions give, to two steps of the output. */
static void
stays_close_to_float(void **state)
{
	qn_ctx *ctx = open_with_operators();
	qn_model *m = build(ctx);
	qn_array *x = samples_of(ctx), *real, *codes;
	const qn_compile_opts opts = {.calib = &x, .ncalib = 1};

	(void)state;
	assert_int_equal(qn_run(m, 1, &x, 1, 1, &real), QN_OK);
	assert_int_equal(qn_compile(m, &opts), QN_OK);
	assert_int_equal(qn_run(m, 1, &x, 1, 1, &codes), QN_OK);
	const float *want = qn_array_data(real), *have = qn_array_data(codes);
	float low = want[0], high = want[0];
	for (int i = 0; i < SAMPLES * ROWS * COLUMNS; i++) {
		low = want[i] < low ? want[i] : low;
		high = want[i] > high ? want[i] : high;
	}
	for (int i = 0; i < SAMPLES * ROWS * COLUMNS; i++) {
		float error = want[i] - have[i];

		assert_true((error < 0.0f ? -error : error) <= 2.0f * (high - low) / 255.0f);
	}
	assert_true(high - low > 1.0f);
	qn_close(ctx);
}

/* Saved in both forms and read again, it is the same model. */
static void
prints_and_parses(void **state)
{
	static const char *const names[] = {"m.qir", "m.json"};
	char folder[] = "/tmp/quern-custom-XXXXXX", path[100];

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < 2; i++) {
		qn_ctx *ctx = open_with_operators();
		qn_model *m = build(ctx), *again;

		(void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		assert_int_equal(i == 0 ? qn_save_text(m, path) : qn_save(m, path, 0), QN_OK);
		qn_status s = qn_load(ctx, path, &again);
		show(ctx);
		assert_int_equal(s, QN_OK);
		qn_graph *g = qn_model_main(again);
		qn_id y = qn_value_find(g, "y");
		assert_string_equal(qn_value(g, y).op, "test.blend");
		assert_string_equal(qn_value_attrs(g, y), "w=0.25");
		qn_close(ctx);
		/* Without the operators the file names what is missing. */
		ctx = qn_open(NULL);
		assert_int_equal(qn_load(ctx, path, &again), QN_EINVALID);
		assert_string_equal(qn_diag_get(ctx, 0).id, "op.unknown");
		qn_close(ctx);
	}
	run("rm -r %s", folder);
}

static void
names_what_has_no_integer_form(void **state)
{
	static const char *const ops[] = {"test.gate", "test.probe"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		qn_ctx *ctx = open_with_operators();
		qn_array *x = samples_of(ctx), *y;
		const qn_compile_opts opts = {.calib = &x, .ncalib = 1};
		qn_model *m;

		assert_int_equal(qn_model_new(ctx, "m", &m), QN_OK);
		qn_graph *g = qn_model_main(m);
		qn_id v = qn_add_input(g, "x", "tensor<3x5xf32>");
		v = qn_add_op(g, ops[i], "mine", 1, &v, NULL, NULL);
		assert_int_equal(qn_add_output(g, "y", v), QN_OK);
		assert_int_equal(qn_run(m, 1, &x, 1, 1, &y), QN_OK);
		assert_int_equal(qn_compile(m, &opts), QN_EUNSUPPORTED);
		assert_non_null(strstr(qn_diag_get(ctx, 0).message, ops[i]));
		assert_non_null(strstr(qn_diag_get(ctx, 0).message, "mine"));
		qn_close(ctx);
	}
}

static void
checks_what_it_is_given(void **state)
{
	qn_ctx *ctx = open_with_operators();
	qn_op_desc bad[] = {operators[0], operators[0], operators[0], operators[0],
			    operators[1], operators[1], operators[3], operators[4]};
	const size_t n = sizeof bad / sizeof bad[0];

	(void)state;
	for (size_t i = 1; i < n; i++)
		bad[i].name = "test.other"; /* bad[0]: the name is taken */
	bad[1].name = "softsign";
	bad[2].run_float = NULL;
	bad[3].max_inputs = 2;
	bad[4].integer_name = "other";
	bad[5].run_integer = NULL;
	bad[6].fixed_scale = 0;
	bad[7].min_inputs = 2;
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(qn_op_register(ctx, &bad[i]), QN_EUSAGE);
		assert_int_equal(qn_diag_count(ctx), i + 1);
		assert_string_equal(qn_diag_get(ctx, i).id, "op.register");
	}
	qn_diag_clear(ctx);
	qn_model *m;
	assert_int_equal(qn_model_new(ctx, "m", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", "tensor<2x3x5xf32>");
	assert_int_equal(qn_add_op(g, "test.gate", "g", 1, &x, NULL, NULL), 0);
	assert_string_equal(qn_diag_get(ctx, 0).id, "shape.custom");
	assert_int_equal(qn_add_op(g, "test.blend", "b", 2, (qn_id[]){x, x}, NULL, NULL), 0);
	assert_string_equal(qn_diag_get(ctx, 1).id, "attr.missing");
	assert_int_equal(qn_add_op(g, "custom", "c", 1, &x, NULL, NULL), 0);
	assert_string_equal(qn_diag_get(ctx, 2).id, "op.unknown");
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiles_to_c),
		cmocka_unit_test(stays_close_to_float),
		cmocka_unit_test(prints_and_parses),
		cmocka_unit_test(names_what_has_no_integer_form),
		cmocka_unit_test(checks_what_it_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
