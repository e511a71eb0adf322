/* SPDX-License-Identifier: Apache-2.0 */
/* test_scalar_input.c - inputs that are one number, whose samples are arrays of one dimension, and graphs without inputs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "quern/graph.h"
#include "quern/measure.h"

enum { SAMPLES = 4, WIDTH = 3 };

typedef struct net {
	qn_ctx *ctx;
	qn_model *m;
	qn_array *in[2];
	float x[SAMPLES * WIDTH], s[SAMPLES];
} net;

/* y = x + s */
static void
make(net *t, int samples)
{
	for (int i = 0; i < SAMPLES * WIDTH; i++)
		t->x[i] = 0.25f * (float)(i * 7 % 11 - 5);
	for (int i = 0; i < SAMPLES; i++)
		t->s[i] = 0.5f * (float)(i - 1);
	t->ctx = qn_open(NULL);
	assert_non_null(t->ctx);
	assert_int_equal(qn_model_new(t->ctx, "net", &t->m), QN_OK);
	qn_graph *g = qn_model_main(t->m);
	qn_id in[2] = {qn_add_input(g, "x", "tensor<1x3xf32>"),
		       qn_add_input(g, "s", "tensor<f32>")};
	qn_id y = qn_add_op(g, "add", "y", 2, in, NULL, NULL);
	assert_int_equal(qn_add_output(g, "y", y), QN_OK);
	assert_int_equal(
		qn_array_new(t->ctx, "f32", 2, (const int64_t[]){SAMPLES, WIDTH}, t->x, &t->in[0]),
		QN_OK);
	assert_int_equal(
		qn_array_new(t->ctx, "f32", 1, (const int64_t[]){samples}, t->s, &t->in[1]), QN_OK);
}

static void
takes_a_number_a_sample(void **state)
{
	qn_array *out;
	net t;

	(void)state;
	make(&t, SAMPLES);
	assert_int_equal(qn_compile(t.m, &(qn_compile_opts){.calib = t.in, .ncalib = 2}), QN_OK);
	assert_int_equal(qn_run(t.m, 2, t.in, 1, 1, &out), QN_OK);
	assert_int_equal(qn_array_rank(out), 2);
	assert_int_equal(qn_array_dim(out, 0), SAMPLES);
	const float *y = qn_array_data(out);
	for (int i = 0; i < SAMPLES * WIDTH; i++)
		assert_true(fabsf(y[i] - (t.x[i] + t.s[i / WIDTH])) < 0.03f);
	qn_close(t.ctx);
}

static void
counts_the_numbers(void **state)
{
	net t;

	(void)state;
	make(&t, SAMPLES - 1);
	assert_int_equal(qn_compile(t.m, &(qn_compile_opts){.calib = t.in, .ncalib = 2}),
			 QN_EINVALID);
	assert_string_equal(qn_diag_get(t.ctx, 0).id, "data.count");
	qn_close(t.ctx);
}

/* The number of files, and whether one of them is the self-test. */
typedef struct files {
	int test;
} files;

static int
take(void *user, const char *name, const char *text, size_t n)
{
	files *f = user;

	(void)text;
	(void)n;
	f->test = f->test || strcmp(name, "net_selftest.c") == 0;
	return 0;
}

/* What has no inputs gives its results once, and is tested by them. */
static void
needs_no_inputs(void **state)
{
	const int32_t places[4] = {3, 1, -4, 1};
	qn_ctx *ctx = qn_open(NULL);
	qn_array *c, *out, *none = NULL;
	files f = {0};
	qn_model *m;

	(void)state;
	assert_non_null(ctx);
	assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	assert_int_equal(qn_array_new(ctx, "i32", 1, (const int64_t[]){4}, places, &c), QN_OK);
	assert_int_equal(qn_add_output(g, "y", qn_add_const(g, "y", c)), QN_OK);
	assert_int_equal(qn_compile(m, NULL), QN_OK);
	assert_int_equal(qn_run(m, 0, NULL, 1, 1, &out), QN_OK);
	assert_int_equal(qn_array_dim(out, 0), 4);
	assert_memory_equal(qn_array_data(out), places, sizeof places);
	assert_int_equal(qn_emit_to(m, &(qn_emit_opts){.size = 0}, take, &f, NULL), QN_OK);
	assert_int_equal(f.test, 0);
	assert_int_equal(qn_emit_to(m, &(qn_emit_opts){.test = &none}, take, &f, NULL), QN_OK);
	assert_int_equal(f.test, 1);
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_a_number_a_sample),
		cmocka_unit_test(counts_the_numbers),
		cmocka_unit_test(needs_no_inputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
