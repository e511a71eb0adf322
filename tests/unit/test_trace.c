/* SPDX-License-Identifier: Apache-2.0 */
/* test_trace.c - qn_run_traced: what a hook of a host is told of the values of trace ops, in which
 * order, and how it ends a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "quern/measure.h"

enum { SAMPLES = 3, MOST = 32 };

typedef struct seen {
	char key[MOST][16];
	uint64_t run[MOST];
	float first[MOST];
	size_t n, stop_at; /* stop_at: the value at which the run ends; 0: none */
} seen;

static int
look(void *user, const qn_traced *v)
{
	seen *s = user;

	assert_true(s->n < MOST && v->size == sizeof *v);
	(void)snprintf(s->key[s->n], sizeof s->key[0], "%s", v->key);
	s->run[s->n] = v->run;
	if (strcmp(v->dtype, "f32") == 0)
		s->first[s->n] = *(const float *)v->data;
	return ++s->n == s->stop_at;
}

static qn_model *
load(qn_ctx *ctx, const char *text)
{
	qn_model *m;

	assert_int_equal(qn_file_add(ctx, "m.qir", text, strlen(text)), QN_OK);
	assert_int_equal(qn_load(ctx, "m.qir", &m), QN_OK);
	return m;
}

static const char chain[] = "model \"m\" stage float\n"
			    "graph @main(%x: tensor<1x2xf32>) {\n"
			    "  %a = trace %x {key=\"a\"}\n"
			    "  %n = neg %a\n"
			    "  %b = trace %n {key=\"b\"}\n"
			    "  %unread = trace %n {key=\"unread\"}\n"
			    "  return %b\n}\n";

static qn_array *
samples(qn_ctx *ctx)
{
	static const float data[SAMPLES][2] = {{1, 2}, {3, 4}, {5, 6}};
	qn_array *x;

	assert_int_equal(qn_array_new(ctx, "f32", 2, (const int64_t[]){SAMPLES, 2}, data, &x),
			 QN_OK);
	return x;
}

/* All values of a batch before those of the next, whatever the number of threads.  What nobody reads
 * is there until a pass copies the graph. */
static void
comes_in_order(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 3; threads += 2) {
		static const char *const keys[] = {"a", "b", "unread"};
		qn_config config = {.size = sizeof config, .threads = threads};
		qn_ctx *ctx = qn_open(&config);
		qn_model *m = load(ctx, chain);
		qn_array *x = samples(ctx), *y;
		seen s = {.n = 0};

		assert_int_equal(qn_run_traced(m, 1, &x, 0, 1, &y, look, &s), QN_OK);
		assert_int_equal(s.n, 3 * SAMPLES);
		for (size_t i = 0; i < s.n; i++) {
			const float value = (float)(2 * (i / 3) + 1);

			assert_string_equal(s.key[i], keys[i % 3]);
			assert_int_equal(s.run[i], i / 3);
			assert_true(s.first[i] == (i % 3 == 0 ? value : -value));
		}
		assert_int_equal(qn_array_dim(y, 0), SAMPLES);
		assert_int_equal(qn_run_traced(m, 1, &x, 0, 1, &y, NULL, NULL), QN_OK);
		qn_close(ctx);
	}
}

static void
ends_the_run(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m = load(ctx, chain);
	qn_array *x = samples(ctx), *y;
	seen s = {.stop_at = 5};

	(void)state;
	assert_int_equal(qn_run_traced(m, 1, &x, 0, 1, &y, look, &s), QN_ECANCELLED);
	assert_null(y);
	assert_int_equal(s.n, 5);
	assert_int_equal(qn_diag_count(ctx), 1);
	assert_string_equal(qn_diag_get(ctx, 0).id, "cancelled");
	assert_non_null(strstr(qn_diag_get(ctx, 0).message, "run 1 at trace 'b'"));
	qn_close(ctx);
}

static int
look_at_channels(void *user, const qn_traced *v)
{
	const int8_t *q = v->data;

	assert_string_equal(v->key, "channels");
	assert_string_equal(v->name, "t");
	assert_string_equal(v->dtype, "i8");
	assert_string_equal(v->type, "tensor<2x2x!quant.uniform<i8:f32:0, "
				     "{5.000000e-01:1,2.500000e-01:-2}>>");
	assert_int_equal(v->rank, 2);
	assert_int_equal(v->shape[0], 2);
	assert_int_equal(v->shape[1], 2);
	assert_int_equal(v->axis, 0);
	assert_int_equal(v->nscales, 2);
	assert_true(v->scales[0] == 0.5 && v->scales[1] == 0.25);
	assert_int_equal(v->zero_points[0], 1);
	assert_int_equal(v->zero_points[1], -2);
	assert_int_equal(v->bytes, 4);
	assert_int_equal(q[0], 3);
	++*(int *)user;
	return 0;
}

static void
tells_of_quantization(void **state)
{
	static const int8_t data[] = {3, 1, 2, -4};
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m = load(
		ctx, "model \"m\" stage integer\n"
		     "graph @main(%x: tensor<2x2x!quant.uniform<i8:f32:0, {0.5:1, 0.25:-2}>>) {\n"
		     "  %t = trace %x {key=\"channels\"}\n  return %t\n}\n");
	qn_array *x, *y;
	int calls = 0;

	(void)state;
	assert_int_equal(qn_array_new(ctx, "i8", 2, (const int64_t[]){2, 2}, data, &x), QN_OK);
	assert_int_equal(qn_run_traced(m, 1, &x, 0, 1, &y, look_at_channels, &calls), QN_OK);
	assert_int_equal(calls, 1);
	qn_close(ctx);
}

/* A composite is run in place, and so are its traces. */
static void
enters_graphs(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m = load(ctx, "model \"m\" stage float\n"
				"graph @part(%v: tensor<1x2xf32>) {\n"
				"  %t = trace %v {key=\"inside\"}\n  return %t\n}\n"
				"graph @main(%x: tensor<1x2xf32>) {\n"
				"  %a = call @part %x\n  %n = neg %a\n  %b = call @part %n\n"
				"  return %b\n}\n");
	qn_array *x = samples(ctx), *y;
	seen s = {.n = 0};

	(void)state;
	assert_int_equal(qn_run_traced(m, 1, &x, 0, 1, &y, look, &s), QN_OK);
	assert_int_equal(s.n, 2 * SAMPLES);
	for (size_t i = 0; i < s.n; i++) {
		assert_string_equal(s.key[i], "inside");
		assert_true(s.first[i] == (float)(i / 2 * 2 + 1) * (i % 2 == 0 ? 1.0f : -1.0f));
	}
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_in_order),
		cmocka_unit_test(ends_the_run),
		cmocka_unit_test(tells_of_quantization),
		cmocka_unit_test(enters_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
