/* SPDX-License-Identifier: Apache-2.0 */
/* test_measure_compare.c - metrics of a model: counted, and against values, another model and states. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#endif

#include "tests/unit/measure_rig.h"

#include "driver/metric.h"

static void
counts_the_largest(void **state)
{
	world *w = *state;
	qn_model *m = small(w, "relu", "tensor<1x3xf32>");
	qn_array *x = floats(w, 4, 3, four);
	const size_t top[] = {1, 2, 3};
	figures f;

	/* Ranks: 5 3 1 of label 2: 1; 7 6 0 of label 0: 0; 0 0 0 of label 1: 1; 4 4 0 of label 0: 2. */
	qn_measure_opts o = {
		.labels = classes(w, 4, (int64_t[]){2, 0, 1, 0}), .ntop = 3, .top = top};
	assert_int_equal(measure(m, x, &o, &f), QN_OK);
	value_is(&f, "top1", 25);
	value_is(&f, "top2", 75);
	value_is(&f, "top3", 100);
	assert_int_equal(find(&f, "top2")->hits, 3);
	assert_int_equal(find(&f, "top2")->of, 4);
	assert_string_equal(find(&f, "top2")->output, "y");
	assert_int_equal(f.n, 3);
	o.ntop = 0;
	assert_int_equal(measure(m, x, &o, &f), QN_OK);
	assert_int_equal(f.n, 1);
	value_is(&f, "top1", 25);
	/* One class against the others: element 1 is 5 0 0 4, and the first sample is to be found. */
	o = (qn_measure_opts){.labels = classes(w, 4, (int64_t[]){1, 0, 0, 2}), .score = "value:1"};
	assert_int_equal(measure(m, x, &o, &f), QN_OK);
	value_is(&f, "auc", 1);
	value_is(&f, "score", 9.0 / 4);
}

static void
compares_with_values(void **state)
{
	world *w = *state;
	qn_model *m = small(w, "relu", "tensor<1x2xf32>");
	qn_array *x = floats(w, 2, 2, (float[]){3, 3, -1, 2});
	qn_array *t = floats(w, 2, 2, (float[]){3, 4, 0, 2});
	qn_measure_opts o = {.ntarget = 1, .target = &t};
	figures f;

	/* y 3 3 0 2, w 3 4 0 2 */
	assert_int_equal(measure(m, x, &o, &f), QN_OK);
	value_is(&f, "agreement", 50);
	value_is(&f, "mse", 0.25);
	value_is(&f, "mae", 0.25);
	value_is(&f, "max-diff", 1);
	value_is(&f, "cosine", 25 / sqrt(22.0 * 29.0));
	value_is(&f, "sqnr", 10 * log10(29));
	assert_string_equal(find(&f, "sqnr")->unit, "dB");
	assert_int_equal(f.n, 6);
	/* What it gives itself: no noise. */
	t = floats(w, 2, 2, (float[]){3, 3, 0, 2});
	assert_int_equal(measure(m, x, &o, &f), QN_OK);
	value_is(&f, "cosine", 1);
	value_is(&f, "mse", 0);
	assert_true(isinf(find(&f, "sqnr")->value) && find(&f, "sqnr")->value > 0);
	/* Nothing is there: no direction. */
	t = floats(w, 2, 2, (float[]){0, 0, 0, 0});
	assert_int_equal(measure(m, x, &o, &f), QN_OK);
	value_is(&f, "cosine", 0);
	assert_true(isinf(find(&f, "sqnr")->value) && find(&f, "sqnr")->value < 0);
}

static void
compares_with_a_model(void **state)
{
	world *w = *state;
	qn_array *x = floats(w, 4, 3, four);
	figures f;
	qn_measure_opts o = {.against = small(w, "relu", "tensor<2x3xf32>"), .score = "mse-input"};

	/* y = 2x, w = max(x, 0), which takes two samples at a time */
	assert_int_equal(measure(small(w, "add", "tensor<1x3xf32>"), x, &o, &f), QN_OK);
	value_is(&f, "agreement", 100);
	value_is(&f, "max-diff", 7);
	value_is(&f, "mse", (1 + 25 + 9 + 49 + 16 + 36 + 4 + 4 + 16 + 0 + 16 + 16) / 12.0);
	value_is(&f, "mae", (1 + 5 + 3 + 7 + 4 + 6 + 2 + 2 + 4 + 0 + 4 + 4) / 12.0);
	/* Scores: the mean of x^2, those of the reference the mean of min(x, 0)^2. */
	value_is(&f, "score", (35 + 89 + 6 + 32) / 12.0);
	const double infinite = find(&f, "score-error")->value;
	assert_true(isinf(infinite));
	o.score = "value:0";
	assert_int_equal(measure(small(w, "add", "tensor<1x3xf32>"), x, &o, &f), QN_OK);
	value_is(&f, "score", (2 + 14 - 2 + 0) / 4.0);
}

/* A state [2, N, 1] has not the batch of N in front: it is compared as a whole, batch by batch. */
static void
compares_states(void **state)
{
	static const char text[] = "model \"m\" stage float\n"
				   "graph @main(%x: tensor<4x1xf32>, %h: tensor<2x4x1xf32>) {\n"
				   "  %y = relu %x\n  %n = sqrt %h\n"
				   "  return %y, %n\n}\n";
	const float before[16] = {1, 4, 1, 1, 1, 1, 9, 1, 1, 1, 1, 1, 4, 1, 1, 1};
	float next[16];
	world *w = *state;
	qn_model *m;
	qn_array *x = floats(w, 8, 1, (float[]){1, 2, 3, 4, 5, 6, 7, 8}), *h;
	figures f = {.n = 0};

	write_file(w, "state.qir", text, sizeof text - 1);
	assert_int_equal(qn_load(w->ctx, in_folder(w, "state.qir"), &m), QN_OK);
	assert_int_equal(qn_array_new(w->ctx, "f32", 3, (int64_t[]){4, 4, 1}, before, &h), QN_OK);
	for (int i = 0; i < 16; i++)
		next[i] = sqrtf(before[i]) + (i == 15 ? 2.0f : 0.0f);
	qn_array *want[2] = {x, NULL}, *in[] = {x, h};
	assert_int_equal(qn_array_new(w->ctx, "f32", 3, (int64_t[]){4, 4, 1}, next, &want[1]),
			 QN_OK);
	qn_measure_opts o = {.ntarget = 2, .target = want};
	assert_int_equal(qn_measure(m, 2, in, &o, keep, &f), QN_OK);
	double most[2] = {0}, mae[2] = {0};
	for (size_t i = 0; i < f.n; i++) {
		const int k = strcmp(f.of[i].output, "n") == 0;

		if (strcmp(f.of[i].name, "max-diff") == 0)
			most[k] = f.of[i].value;
		if (strcmp(f.of[i].name, "mae") == 0)
			mae[k] = f.of[i].value;
	}
	assert_true(most[0] == 0 && most[1] == 2 && mae[0] == 0 && mae[1] == 2.0 / 16);
	/* The same against a model, and the first sample of the batch of a value that is none. */
	o = (qn_measure_opts){.against = m};
	f.n = 0;
	assert_int_equal(qn_measure(m, 2, in, &o, keep, &f), QN_OK);
	assert_true(find(&f, "max-diff")->value == 0);
	float bad[16];
	memcpy(bad, before, sizeof bad);
	bad[11] = -1;
	assert_int_equal(qn_array_new(w->ctx, "f32", 3, (int64_t[]){4, 4, 1}, bad, &h), QN_OK);
	qn_array *in_bad[] = {x, h};
	qn_diag_clear(w->ctx);
	f.n = 0;
	assert_int_equal(qn_measure(m, 2, in_bad, &(qn_measure_opts){.score = "value:0"}, keep, &f),
			 QN_EINVALID);
	assert_string_equal(id(w, 0), "eval.nonfinite");
	assert_non_null(strstr(qn_diag_get(w->ctx, 0).message, "sample 4 "));
}

/* A state that comes first, and samples of one number each, which are batches of 4 all the same. */
static void
compares_numbers(void **state)
{
	static const char text[] = "model \"m\" stage float\n"
				   "graph @main(%h: tensor<2x4x1xf32>, %x: tensor<4xf32>) {\n"
				   "  %y = relu %x\n  %n = sqrt %h\n"
				   "  return %y, %n\n}\n";
	const float h[16] = {1, 4, 1, 1, 1, 1, 9, 1, 1, 1, 1, 1, 4, 1, 1, 1};
	world *w = *state;
	qn_model *m;
	qn_array *in[2], *want[2] = {NULL};
	figures f = {.n = 0};

	write_file(w, "state.qir", text, sizeof text - 1);
	assert_int_equal(qn_load(w->ctx, in_folder(w, "state.qir"), &m), QN_OK);
	assert_int_equal(qn_array_new(w->ctx, "f32", 3, (int64_t[]){4, 4, 1}, h, &in[0]), QN_OK);
	assert_int_equal(qn_array_new(w->ctx, "f32", 1, (int64_t[]){8},
				      (float[]){1, 2, 3, 4, 5, 6, 7, 8}, &in[1]),
			 QN_OK);
	assert_int_equal(qn_array_new(w->ctx, "f32", 1, (int64_t[]){8},
				      (float[]){1, 2, 3, 4, 5, 6, 7, 9}, &want[0]),
			 QN_OK);
	float next[16];
	for (int i = 0; i < 16; i++)
		next[i] = sqrtf(h[i]);
	assert_int_equal(qn_array_new(w->ctx, "f32", 3, (int64_t[]){4, 4, 1}, next, &want[1]),
			 QN_OK);
	qn_measure_opts o = {.ntarget = 2, .target = want};
	const qn_status status = qn_measure(m, 2, in, &o, keep, &f);
	show(w);
	assert_int_equal(status, QN_OK);
	for (size_t i = 0; i < f.n; i++)
		if (strcmp(f.of[i].output, "y") == 0 && strcmp(f.of[i].name, "mae") == 0)
			assert_true(f.of[i].value == 1.0 / 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(counts_the_largest), T(compares_with_values), T(compares_with_a_model),
		T(compares_states),    T(compares_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
