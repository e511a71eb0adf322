/* SPDX-License-Identifier: Apache-2.0 */
/* test_measure.c - figures against vectors computed by hand, and what is refused. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#endif

#include "tests/unit/samples_rig.h"

#include <math.h>
#include <string.h>

#include "driver/context.h"
#include "driver/metric.h"
#include "quern/graph.h"

enum { MOST_FIGURES = 32 };

typedef struct figures {
	qn_metric of[MOST_FIGURES];
	size_t n;
} figures;

static void
keep(void *user, const qn_metric *m)
{
	figures *f = user;

	assert_true(f->n < MOST_FIGURES);
	f->of[f->n++] = *m;
}

static const qn_metric *
find(const figures *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->of[i].name, name) == 0)
			return &f->of[i];
	return NULL;
}

static void
is_near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

static void
value_is(const figures *f, const char *name, double want)
{
	const qn_metric *m = find(f, name);

	if (m == NULL)
		fail_msg("no figure '%s'", name);
	else
		is_near(m->value, want);
}

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

/* y = op(x), or add(x, x), of one input of this type. */
static qn_model *
small(world *w, const char *op, const char *type)
{
	qn_model *m;

	assert_int_equal(qn_model_new(w->ctx, op, &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", type);
	bool two = strcmp(op, "add") == 0;
	qn_id y = qn_add_op(g, op, "y", two ? 2 : 1, (qn_id[]){x, x}, NULL, NULL);
	assert_int_equal(qn_add_output(g, "y", y), QN_OK);
	return m;
}

static qn_array *
floats(world *w, int64_t n, int64_t each, const float *v)
{
	qn_array *x;

	assert_int_equal(qn_array_new(w->ctx, "f32", 2, (int64_t[]){n, each}, v, &x), QN_OK);
	return x;
}

static qn_array *
classes(world *w, int64_t n, const int64_t *v)
{
	qn_array *x;

	assert_int_equal(qn_array_new(w->ctx, "i64", 1, &n, v, &x), QN_OK);
	return x;
}

static qn_status
measure(qn_model *m, qn_array *x, const qn_measure_opts *o, figures *f)
{
	f->n = 0;
	return qn_measure(m, 1, &x, o, keep, f);
}

static const float four[] = {1, 5, 3, /* */ 7, -2, 6, /* */ -1, -1, -2, /* */ 0, 4, 4};

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
		T(counts_the_largest),
		T(compares_with_values),
		T(compares_with_a_model),
		T(compares_states),
		T(compares_numbers),
		T(scores_windows),
		T(losses),
		T(takes_integers_and_threads),
		T(refuses),
		cmocka_unit_test(the_table_has_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
