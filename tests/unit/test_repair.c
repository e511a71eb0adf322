/* SPDX-License-Identifier: Apache-2.0 */
/* test_repair.c - what the pass that repairs weights and biases does to a small network. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/base.h"
#include "quern/measure.h"
#include "tests/unit/repair_draw.h"

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
		cmocka_unit_test(test_repairs),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
