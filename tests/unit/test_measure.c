/* SPDX-License-Identifier: Apache-2.0 */
/* test_measure.c - figures against vectors computed by hand, scores, and what is refused. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#endif

#include "tests/unit/measure_rig.h"

#include "driver/metric.h"

/* ---- the arithmetic ---- */

static void
differences(void **state)
{
	const double y[] = {1, 2, 3};
	const double w[] = {1, 4, 2};

	(void)state;
	qn_difference d = qn_difference_of(y, w, 3);
	assert_true(d.square == 5 && d.absolute == 3 && d.most == 2);
	assert_true(d.yy == 14 && d.ww == 21 && d.yw == 15);
	assert_true(d.elements == 3 && d.samples == 1 && d.same == 0);
	qn_difference e = qn_difference_of(y, y, 3);
	qn_difference_add(&d, &e);
	assert_true(d.square == 5 && d.absolute == 3 && d.most == 2);
	assert_true(d.yy == 28 && d.ww == 35 && d.yw == 29);
	assert_true(d.elements == 6 && d.samples == 2 && d.same == 1);
	/* The first of equal elements is the largest one. */
	assert_int_equal(qn_difference_of((double[]){2, 2, 1}, (double[]){5, 5, 5}, 3).same, 1);
	assert_int_equal(qn_difference_of((double[]){1, 2, 2}, (double[]){5, 5, 5}, 3).same, 0);
	assert_true(qn_mean_square(y, w, 3) == 5.0 / 3);
}

static void
ranks(void **state)
{
	const double y[] = {0.1, 0.5, 0.5, 0.2};

	(void)state;
	assert_int_equal(qn_rank_of(y, 4, 1), 0);
	assert_int_equal(qn_rank_of(y, 4, 2), 1);
	assert_int_equal(qn_rank_of(y, 4, 3), 2);
	assert_int_equal(qn_rank_of(y, 4, 0), 3);
}

static void
areas(void **state)
{
	const world *w = *state;
	qn_arena a;

	qn_arena_init(&a, &w->ctx->env);
	is_near(qn_auc(&a, (double[]){0.1, 0.4, 0.35, 0.8}, (bool[]){false, false, true, true}, 4),
		0.75);
	is_near(qn_auc(&a, (double[]){1, 1, 1}, (bool[]){true, false, true}, 3), 0.5);
	is_near(qn_auc(&a, (double[]){0.2, 0.5, 0.5, 0.9}, (bool[]){false, true, false, true}, 4),
		0.875);
	is_near(qn_auc(&a, (double[]){3, 2, 1}, (bool[]){false, false, true}, 3), 0);
	is_near(qn_auc(&a, (double[]){3, 2, 1}, (bool[]){true, false, false}, 3), 1);
	qn_arena_release(&a);
}

/* ---- models ---- */

static void
scores_windows(void **state)
{
	world *w = *state;
	qn_model *m = small(w, "relu", "tensor<1x3xf32>");
	qn_array *x = floats(w, 4, 3, four);
	figures f;

	/* mse-input: 0 4/3 2 0; windows of two: 2/3 1. */
	qn_measure_opts o = {
		.labels = classes(w, 2, (int64_t[]){0, 1}), .score = "mse-input", .window = 2};
	assert_int_equal(measure(m, x, &o, &f), QN_OK);
	value_is(&f, "auc", 1);
	value_is(&f, "score", 5.0 / 6);
	assert_int_equal(f.n, 2);
	/* One element a sample is a score by itself: 5 2 7 1. */
	m = small(w, "relu", "tensor<1x1xf32>");
	x = floats(w, 4, 1, (float[]){5, 2, 7, 1});
	o = (qn_measure_opts){.labels = classes(w, 4, (int64_t[]){1, 1, 0, 0})};
	assert_int_equal(measure(m, x, &o, &f), QN_OK);
	value_is(&f, "auc", 0.5);
}

/* The loss of a label is -ln(e^y[label] / sum of e^y); the perplexity is e to their mean. */
static void
losses(void **state)
{
	world *w = *state;
	qn_model *m = small(w, "relu", "tensor<1x3xf32>");
	const int64_t label[] = {1, 0, 2, 0};
	qn_measure_opts o = {.labels = classes(w, 4, label), .score = "loss"};
	double sum = 0;
	figures f;

	for (int i = 0; i < 4; i++) {
		double all = 0;

		for (int k = 0; k < 3; k++)
			all += exp(fmax((double)four[3 * i + k], 0));
		sum -= log(exp(fmax((double)four[3 * i + (int)label[i]], 0)) / all);
	}
	assert_int_equal(measure(m, floats(w, 4, 3, four), &o, &f), QN_OK);
	value_is(&f, "top1", 50);
	value_is(&f, "score", sum / 4);
	value_is(&f, "perplexity", exp(sum / 4));
	assert_int_equal(f.n, 3);
	/* Logits may be large, and labels all of one class. */
	o.labels = classes(w, 4, (int64_t[]){1, 1, 1, 1});
	assert_int_equal(measure(m, floats(w, 4, 3, (float[12]){3e4F, 3e4F, 0}), &o, &f), QN_OK);
	value_is(&f, "score", (log(2) + 3 * log(3)) / 4);
}

/* Codes are the real values that they stand for, any number of threads sums alike. */
static void
takes_integers_and_threads(void **state)
{
	world *w = *state;
	qn_ctx *one = qn_open(NULL);
	qn_ctx *const ctx[] = {w->ctx, one};
	figures f[2];

	for (size_t i = 0; i < 2; i++) {
		qn_array *x, *y, *labels;
		qn_model *m, *real;

		assert_int_equal(qn_array_load(ctx[i], digits("calib.npy"), &x), QN_OK);
		assert_int_equal(qn_array_load(ctx[i], digits("test_y.npy"), &labels), QN_OK);
		assert_int_equal(qn_load(ctx[i], digits("digits.json"), &m), QN_OK);
		assert_int_equal(qn_load(ctx[i], digits("digits.json"), &real), QN_OK);
		assert_int_equal(qn_compile(m, &(qn_compile_opts){.calib = &x, .ncalib = 1}),
				 QN_OK);
		assert_int_equal(qn_array_load(ctx[i], digits("test_x.npy"), &x), QN_OK);
		assert_int_equal(
			measure(m, x, &(qn_measure_opts){.labels = labels, .against = real}, &f[i]),
			QN_OK);
		assert_true(find(&f[i], "mse")->value > 1e-6);
		assert_true(find(&f[i], "sqnr")->value > 35);
		figures same;
		assert_int_equal(qn_run(m, 1, &x, 1, 1, &y), QN_OK);
		assert_int_equal(
			measure(m, x, &(qn_measure_opts){.ntarget = 1, .target = &y}, &same),
			QN_OK);
		value_is(&same, "max-diff", 0);
	}
	assert_int_equal(f[0].n, f[1].n);
	for (size_t i = 0; i < f[0].n; i++)
		assert_memory_equal(&f[0].of[i].value, &f[1].of[i].value, sizeof(double));
	qn_close(one);
}

static void
refuses(void **state)
{
	world *w = *state;
	qn_model *m = small(w, "relu", "tensor<1x3xf32>");
	qn_array *x = floats(w, 4, 3, four);
	qn_array *short_target = floats(w, 3, 3, four);
	qn_array *two[] = {x, x};
	const size_t four_of_three = 4;
	qn_array *y = classes(w, 4, (int64_t[]){0, 1, 1, 0});
	const struct {
		const char *id, *words;
		qn_measure_opts o;
	} rows[] = {
		{"data.labels", "no classes", {0}},
		{"data.labels", "3 labels", {.labels = classes(w, 3, (int64_t[]){0, 1, 2})}},
		{"data.labels",
		 "sample 3 has label 3",
		 {.labels = classes(w, 4, (int64_t[]){0, 1, 2, 3})}},
		{"data.labels",
		 "has label 2",
		 {.labels = classes(w, 4, (int64_t[]){0, 1, 2, 1}), .score = "mse-input"}},
		{"data.labels",
		 "0 of 4 labels are 1",
		 {.labels = classes(w, 4, (int64_t[]){0, 0, 0, 0}), .score = "mse-input"}},
		{"data.labels",
		 "no classes",
		 {.ntop = 1, .top = &four_of_three, .score = "value:0"}},
		{"eval.top", "top 4", {.labels = y, .ntop = 1, .top = &four_of_three}},
		{"eval.score", "'lost'", {.labels = y, .score = "lost"}},
		{"eval.score", "'loss:1'", {.labels = y, .score = "loss:1"}},
		{"eval.score", "needs a label", {.against = m, .score = "loss"}},
		{"eval.score",
		 "without a window",
		 {.labels = classes(w, 2, (int64_t[]){0, 1}), .score = "loss", .window = 2}},
		{"eval.score", "'value:3'", {.labels = y, .score = "value:3"}},
		{"eval.score", "'value:'", {.labels = y, .score = "value:"}},
		{"eval.score", "'value'", {.labels = y, .score = "value"}},
		{"eval.score", "'mse-input:1'", {.labels = y, .score = "mse-input:1"}},
		{"eval.window", "4 samples", {.labels = y, .score = "mse-input", .window = 3}},
		{"eval.window", "no score", {.labels = y, .window = 2}},
		{"eval.target", "9 elements in 3 samples", {.ntarget = 1, .target = &short_target}},
		{"eval.target", "1 outputs, but", {.ntarget = 2, .target = two}},
		{"eval.target", "not with both", {.ntarget = 1, .target = two, .against = m}},
	};
	figures f;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_diag_clear(w->ctx);
		assert_true(measure(m, x, &rows[i].o, &f) != QN_OK);
		assert_int_equal(f.n, 0);
		assert_string_equal(id(w, 0), rows[i].id);
		if (strstr(qn_diag_get(w->ctx, 0).message, rows[i].words) == NULL)
			fail_msg("%s: no '%s'", qn_diag_get(w->ctx, 0).message, rows[i].words);
	}
	/* A result of no number, at the first sample that has one, whichever thread sees it. */
	m = small(w, "log", "tensor<1x3xf32>");
	qn_diag_clear(w->ctx);
	assert_int_equal(measure(m, floats(w, 4, 3, four), &(qn_measure_opts){.labels = y}, &f),
			 QN_EINVALID);
	assert_string_equal(id(w, 0), "eval.nonfinite");
	assert_non_null(strstr(qn_diag_get(w->ctx, 0).message, "sample 1 "));
	/* A model of constants alone. */
	static const char text[] = "model \"m\" stage float\ngraph @main() {\n"
				   "  %k = const : tensor<1x2xf32> splat 1\n  return %k\n}\n";
	write_file(w, "constant.qir", text, sizeof text - 1);
	assert_int_equal(qn_load(w->ctx, in_folder(w, "constant.qir"), &m), QN_OK);
	qn_diag_clear(w->ctx);
	assert_int_equal(qn_measure(m, 0, NULL, &(qn_measure_opts){.score = "mse-input"}, keep, &f),
			 QN_EINVALID);
	assert_string_equal(id(w, 0), "eval.input");
}

static void
the_table_has_names(void **state)
{
	size_t i = 0;

	(void)state;
	for (; qn_metric_name(i) != NULL; i++)
		assert_true(strlen(qn_metric_help(i)) > 10);
	assert_true(i >= 10);
	assert_null(qn_metric_help(i));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences),
		cmocka_unit_test(ranks),
		T(areas),
		T(scores_windows),
		T(losses),
		T(takes_integers_and_threads),
		T(refuses),
		cmocka_unit_test(the_table_has_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
