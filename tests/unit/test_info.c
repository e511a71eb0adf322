/* SPDX-License-Identifier: Apache-2.0 */
/* test_info.c - what calibration callbacks see of their partitions: two dense layers, the second of
 * which has the first one's quantized output as input. */
#include "tests/unit/run_util.h"

#include <math.h>

#include "calibrate/calibrate.h"
#include "calibrate/callback.h"
#include "calibrate/method.h"
#include "patterns/quantizer.h"

enum { BATCHES = 3 };

static const char text[] = "model \"m\" stage float\n"
			   "graph @main(%x: tensor<1x2xf32>) {\n"
			   "  %w = const : tensor<2x2xf32> [1.0, 0.5, -1.0, 0.25]\n"
			   "  %b = const : tensor<2xf32> [0.125, -0.5]\n"
			   "  %f = dense %x, %w, %b\n"
			   "  %r = relu %f\n"
			   "  %v = const : tensor<1x2xf32> [1.0, -1.0]\n"
			   "  %g = dense %r, %v\n"
			   "  return %g\n"
			   "}\n";

static const float samples[BATCHES][2] = {{1.0f, 2.0f}, {-0.5f, 0.25f}, {0.75f, -1.5f}};

static qn_info_graphs graphs;

static void
begin(void)
{
	const qn_quant_opts opts = {.per_tensor_weights = true};
	static const int64_t shape[] = {BATCHES, 2};
	const char *name = "x";
	qn_dataset *data;
	qn_graph *real;
	qn_id *map;

	assert_int_equal(qn_model_parse(&rg->m, "m.qir", text, sizeof text - 1), QN_OK);
	assert_int_equal(qn_partition(&rg->m, &opts), QN_OK);
	assert_int_equal(qn_quantize_model(&rg->m, &opts), QN_OK);
	const qn_graph *g = qn_model_entry(&rg->m);
	const qn_tensor *all = qn_tensor_view(
		&rg->arena, qn_type_plain(&rg->m.types, QN_PLAIN_f32, 2, shape), samples);
	assert_int_equal(qn_dataset_arrays(g, &rg->arena, 1, &all, &name, &data), QN_OK);
	assert_int_equal(qn_erase_quantization(&rg->m, g, true, &real, &map), QN_OK);
	qn_info_graphs_init(&graphs, &rg->m, g, real, map, data, 1 << 20, &rg->arena);
	const double scale = 1.0 / 64;
	const int64_t zp = 0;
	assert_int_equal(qn_symbol_bind(&rg->m.types, "", "x.input", 1, &scale, &zp), QN_OK);
}

static qn_info *
info_of(const char *out)
{
	const qn_part *p = qn_model_entry(&rg->m)->parts;
	qn_info *i;

	while (p != NULL && strcmp(p->out, out) != 0)
		p = p->next;
	assert_non_null(p);
	assert_int_equal(qn_info_new(&graphs, p, &rg->arena, &i), QN_OK);
	return i;
}

static float
get(qn_info *i, qn_info_value what, size_t k, size_t batch, int at)
{
	const qn_tensor *y;

	assert_int_equal(qn_info_get(i, what, k, batch, 0, NULL, &y), QN_OK);
	return (float)qn_tensor_f64(y, at);
}

static void
set(qn_info *i, const char *symbol, double scale)
{
	const qn_symbol_value v = {.symbol = symbol, .n = 1, .scale = &scale};

	assert_int_equal(qn_info_store(i, &v), QN_OK);
}

static const char *
last_id(void)
{
	return rg->diags.n > 0 ? rg->diags.item[rg->diags.n - 1].id : "";
}

static void
test_values(void **state)
{
	(void)state;
	begin();
	assert_string_equal(qn_model_entry(&rg->m)->parts->out, "f");
	assert_string_equal(qn_model_entry(&rg->m)->parts->next->out, "g");
	assert_null(qn_model_entry(&rg->m)->parts->next->next);
	qn_info *f = info_of("f");
	assert_string_equal(f->part->pattern, "dense_bias");
	assert_int_equal(f->npair, 2); /* $f.x, $f.w; the bias is in units of both */
	assert_int_equal(f->nin, 3);
	assert_true(get(f, QN_INFO_FLOAT_INPUT, 0, 2, 1) == -1.5f);
	assert_true(get(f, QN_INFO_FLOAT_INPUT, 2, 0, 1) == -0.5f); /* the bias */
	assert_true(get(f, QN_INFO_FLOAT_OUTPUT, 0, 0, 0) == 1.0f + 1.0f + 0.125f);
	assert_true(get(f, QN_INFO_INPUT, 0, 1, 1) == 0.25f);
	set(f, "f.x", 0.25);
	assert_true(get(f, QN_INFO_QUANTIZED, 0, 1, 0) == -2.0f);
	set(f, "f.w", 0.5);
	/* Weights to halves: 1, 0.5, -1, 0 (0.25 is half of a step: to even); the bias in eighths. */
	assert_true(get(f, QN_INFO_OUTPUT, 0, 2, 0) == 0.75f - 0.75f + 0.125f);
	assert_true(get(f, QN_INFO_OUTPUT, 0, 2, 1) == -0.75f - 0.5f);
	assert_int_equal(qn_info_end(f), QN_OK);
	/* The second layer's input is the first one's quantized output behind the relu. */
	qn_info *g = info_of("g");
	assert_true(get(g, QN_INFO_INPUT, 0, 2, 0) == 0.125f);
	assert_true(get(g, QN_INFO_INPUT, 0, 2, 1) == 0.0f);
	assert_true(get(g, QN_INFO_FLOAT_OUTPUT, 0, 0, 0) == 2.125f);
	assert_int_equal(rg->diags.n, 0);
}

/* A trial changes one evaluation and nothing else. */
static void
test_trials(void **state)
{
	const double fine = 0.125, coarse = 1.0;
	const qn_symbol_value trial = {.symbol = "f.w", .n = 1, .scale = &fine};
	const qn_symbol_value other = {.symbol = "g.v", .n = 1, .scale = &coarse};
	const qn_tensor *y;

	(void)state;
	begin();
	qn_info *f = info_of("f");
	set(f, "f.x", 0.25);
	set(f, "f.w", 0.5);
	assert_int_equal(qn_info_get(f, QN_INFO_OUTPUT, 0, 0, 1, &trial, &y), QN_OK);
	assert_true(qn_tensor_f64(y, 1) == -1.0 + 0.25 * 2.0 - 0.5);
	assert_true(get(f, QN_INFO_OUTPUT, 0, 0, 1) == -1.0f - 0.5f);
	assert_false(qn_symbol_find(&rg->m.types, "f.w")->bound);
	assert_int_equal(qn_info_get(f, QN_INFO_OUTPUT, 0, 0, 1, &other, &y), QN_EINVALID);
	assert_string_equal(last_id(), "calibrate.extra");
}

static void
test_rules(void **state)
{
	const double scale = 0.5;
	const qn_symbol_value foreign = {.symbol = "g.w", .n = 1, .scale = &scale};
	const qn_tensor *y;

	(void)state;
	begin();
	qn_info *f = info_of("f"), *g = info_of("g");
	assert_int_equal(qn_info_get(f, QN_INFO_OUTPUT, 0, 0, 0, NULL, &y), QN_EINVALID);
	assert_string_equal(last_id(), "calibrate.future");
	assert_int_equal(qn_info_store(f, &foreign), QN_EINVALID);
	assert_string_equal(last_id(), "calibrate.extra");
	set(f, "f.x", 0.25);
	assert_int_equal(qn_info_end(f), QN_EINVALID);
	assert_string_equal(last_id(), "calibrate.missing");
	assert_non_null(strstr(rg->diags.item[rg->diags.n - 1].message, "$f.w"));
	/* The second one cannot be looked at before the first one is done. */
	assert_int_equal(qn_info_get(g, QN_INFO_INPUT, 0, 0, 0, NULL, &y), QN_EINVALID);
	assert_string_equal(last_id(), "calibrate.future");
	assert_int_equal(qn_info_get(f, QN_INFO_INPUT, 9, 0, 0, NULL, &y), QN_EUSAGE);
	assert_int_equal(qn_info_get(f, QN_INFO_INPUT, 0, BATCHES, 0, NULL, &y), QN_EUSAGE);
}

/* A search over a partition runs its own nodes alone: quantize x and w, dense, dequantize. */
static void
test_cost(void **state)
{
	const qn_tensor *y;

	(void)state;
	begin();
	qn_info *f = info_of("f");
	set(f, "f.x", 0.25);
	set(f, "f.w", 0.5);
	assert_int_equal(qn_info_end(f), QN_OK);
	qn_info *g = info_of("g");
	set(g, "g.x", 0.25);
	set(g, "g.w", 0.5);
	assert_int_equal(qn_info_get(g, QN_INFO_OUTPUT, 0, 0, 0, NULL, &y), QN_OK);
	uint64_t before = qn_evaluator_runs(graphs.quantized);
	for (int k = 0; k < 10; k++) {
		const double scale = 0.1 * (k + 1);
		const qn_symbol_value trial = {.symbol = "g.x", .n = 1, .scale = &scale};

		for (size_t b = 0; b < BATCHES; b++)
			assert_int_equal(qn_info_get(g, QN_INFO_OUTPUT, 0, b, 1, &trial, &y),
					 QN_OK);
	}
	assert_int_equal(qn_evaluator_runs(graphs.quantized) - before, 10 * BATCHES * 4);
}

/* Numbers of inputs, symbols and batches end where they end; an output has no number. */
static void
test_limits(void **state)
{
	const qn_tensor *y;

	(void)state;
	begin();
	qn_info *f = info_of("f");
	set(f, "f.x", 0.25);
	set(f, "f.w", 0.5);
	const struct {
		qn_info_value what;
		size_t k;
		qn_status status;
	} rows[] = {
		{QN_INFO_FLOAT_INPUT, f->nin - 1, QN_OK}, {QN_INFO_FLOAT_INPUT, f->nin, QN_EUSAGE},
		{QN_INFO_INPUT, f->nin - 1, QN_OK},       {QN_INFO_INPUT, f->nin, QN_EUSAGE},
		{QN_INFO_QUANTIZED, f->npair - 1, QN_OK}, {QN_INFO_QUANTIZED, f->npair, QN_EUSAGE},
		{QN_INFO_FLOAT_OUTPUT, 99, QN_OK},        {QN_INFO_OUTPUT, 99, QN_OK},
	};
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (qn_info_get(f, rows[i].what, rows[i].k, 0, 0, NULL, &y) != rows[i].status)
			fail_msg("row %zu", i);
	assert_string_equal(last_id(), "calibrate.value");
}

/* Each of two trials gives its own quantized values, also when the zero point alone differs. */
static void
test_trials_in_turn(void **state)
{
	static const struct {
		double scale;
		int64_t zp;
		double want;
	} rows[] = {{0.25, 0, 4}, {0.25, 10, 14}, {0.5, 10, 12}, {0.5, 0, 2}, {0.25, 0, 4}};
	const qn_tensor *y;

	(void)state;
	begin();
	qn_info *f = info_of("f");
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		const qn_symbol_value trial = {"f.x", 1, &rows[i].scale, &rows[i].zp};

		assert_int_equal(qn_info_get(f, QN_INFO_QUANTIZED, 0, 0, 1, &trial, &y), QN_OK);
		assert_true(qn_tensor_f64(y, 0) == rows[i].want); /* of 1.0 */
	}
}

static void
test_ranges(void **state)
{
	static const double wrong[][2] = {
		{1, -1}, {-HUGE_VAL, 1}, {-1, HUGE_VAL}, {-HUGE_VAL, HUGE_VAL}, {(double)NAN, 1}};
	const double half = 0.5;
	const int64_t three = 3;

	(void)state;
	begin();
	qn_info *f = info_of("f");
	for (size_t i = 0; i < QN_COUNT(wrong); i++) {
		assert_int_equal(qn_info_store_range(f, 0, wrong[i][0], wrong[i][1]), QN_EUSAGE);
		assert_string_equal(last_id(), "calibrate.range");
	}
	assert_int_equal(qn_info_store_range(f, f->npair, -1, 1), QN_EUSAGE);
	assert_string_equal(last_id(), "calibrate.value");
	assert_int_equal(qn_info_store_default(f, f->npair), QN_EUSAGE);
	assert_string_equal(last_id(), "calibrate.value");
	assert_int_equal(qn_info_store_default(f, 0), QN_EINVALID); /* no method is set */
	assert_string_equal(last_id(), "calibrate.method");
	/* symmetric, so that it has no zero point: nothing is set */
	assert_int_equal(qn_info_store(f, &(qn_symbol_value){"f.w", 1, &half, &three}),
			 QN_EINVALID);
	assert_int_equal(qn_info_store_range(f, 0, 1, 1), QN_OK); /* 0 to 1 */
	assert_int_equal(qn_info_store_range(f, 0, -1, 3), QN_OK);
	assert_int_equal(qn_info_end(f), QN_EINVALID);
	assert_string_equal(last_id(), "calibrate.missing");
	set(f, "f.w", 0.5);
	assert_int_equal(qn_info_end(f), QN_OK);
	const qn_symbol *x = qn_symbol_find(&rg->m.types, "f.x");
	assert_true(x->scale == (double)(float)(4.0 / 255) && x->zp == -64);
}

/* ---- callbacks ---- */

static bool
method(const void *user, const qn_symbol *sym, double *scale, int64_t *zp)
{
	(void)user;
	(void)sym;
	*scale = 0.5;
	*zp = 0;
	return true;
}

typedef struct record {
	char names[64];
	bool fail, forget;
} record;

static qn_status
take_defaults(void *user, qn_info *i)
{
	record *r = user;

	(void)strcat(r->names, i->part->out);
	if (r->fail)
		return QN_EUNSUPPORTED;
	for (size_t k = 0; k < i->npair && !r->forget; k++)
		if (!i->pair[k].set)
			assert_int_equal(qn_info_store_range(i, k, -2.0, 2.0), QN_OK);
	return QN_OK;
}

static void
bind_weights(double scale)
{
	assert_int_equal(qn_symbol_bind(&rg->m.types, "", "f.w", 1, &scale, NULL), QN_OK);
	assert_int_equal(qn_symbol_bind(&rg->m.types, "", "g.w", 1, &scale, NULL), QN_OK);
}

static void
test_callbacks(void **state)
{
	record r = {.names = ""};
	qn_calib_callback list[] = {{"dense", take_defaults, &r, NULL},
				    {NULL, take_defaults, &r, NULL}};

	(void)state;
	begin();
	bind_weights(0.25);
	assert_int_equal(qn_callbacks_run(&graphs, 2, list, &rg->arena), QN_OK);
	assert_string_equal(r.names, "fg"); /* in the order of the graph */
	assert_true(qn_symbol_find(&rg->m.types, "f.x")->bound);
	qn_map found;
	const qn_symbol *g = qn_symbol_find(&rg->m.types, "g.x");
	const qn_symbol *f = qn_symbol_find(&rg->m.types, "f.x"); /* of a dense_bias */
	assert_int_equal(qn_callback_symbols(&graphs, 1, list, &rg->arena, &found), QN_OK);
	assert_non_null(qn_map_get(&found, &g, sizeof g));
	assert_null(qn_map_get(&found, &f, sizeof f));
}

/* A row for a pattern wins wherever it stands; one for every pattern takes the partitions of its method. */
static void
test_row_of_partition(void **state)
{
	static const qn_calib_callback list[] = {{NULL, NULL, NULL, NULL},
						 {"conv2d", NULL, NULL, "kl"},
						 {"dense", NULL, NULL, NULL},
						 {NULL, NULL, NULL, "kl"}};
	static const struct {
		const char *pattern, *method;
		int row; /* -1: none */
	} cases[] = {
		{"dense", NULL, 2}, {"dense", "kl", 2}, {"conv2d", NULL, 1}, {"conv2d", "mse", 1},
		{"add", NULL, 0},   {"add", "kl", 3},   {"add", "mse", -1},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(cases); i++) {
		const qn_part part = {.pattern = cases[i].pattern, .method = cases[i].method};
		const qn_calib_callback *row = qn_callback_of(QN_COUNT(list), list, &part);

		assert_int_equal(row != NULL ? row - list : -1, cases[i].row);
		assert_null(qn_callback_of(0, list, &part));
	}
}

/* A chain of additions, each a partition: nodes that are looked at to find the symbols of all callbacks, and
 * bytes that this takes. */
static uint64_t
looked_at(int n, size_t *bytes)
{
	const qn_quant_opts opts = {.per_tensor_weights = true};
	const qn_calib_callback list[] = {{NULL, take_defaults, NULL, NULL}};
	static const int64_t shape[] = {BATCHES, 2};
	const char *name = "x";
	qn_dataset *data;
	qn_graph *real;
	qn_map found;
	qn_id *map;
	qn_buf b;

	rig_teardown(NULL);
	rig_setup(NULL);
	qn_buf_init(&b, &rg->arena);
	qn_buf_puts(&b, "model \"m\" stage float\ngraph @main(%r0: tensor<1x2xf32>) {\n");
	for (int i = 0; i < n; i++)
		qn_buff(&b, "  %%r%d = add %%r%d, %%r0\n", i + 1, i);
	qn_buff(&b, "  return %%r%d\n}\n", n);
	assert_int_equal(qn_model_parse(&rg->m, "m.qir", qn_buf_str(&b), b.n), QN_OK);
	assert_int_equal(qn_partition(&rg->m, &opts), QN_OK);
	assert_int_equal(qn_quantize_model(&rg->m, &opts), QN_OK);
	assert_int_equal(qn_erase_quantization(&rg->m, qn_model_entry(&rg->m), true, &real, &map),
			 QN_OK);
	const qn_tensor *all = qn_tensor_view(
		&rg->arena, qn_type_plain(&rg->m.types, QN_PLAIN_f32, 2, shape), samples);
	assert_int_equal(
		qn_dataset_arrays(qn_model_entry(&rg->m), &rg->arena, 1, &all, &name, &data),
		QN_OK);
	qn_info_graphs_init(&graphs, &rg->m, qn_model_entry(&rg->m), real, map, data, 1 << 20,
			    &rg->arena);
	*bytes = rg->arena.used;
	assert_int_equal(qn_callback_symbols(&graphs, 1, list, &rg->arena, &found), QN_OK);
	*bytes = rg->arena.used - *bytes;
	return *graphs.looked;
}

/* Twice the nodes take twice the work. */
static void
test_work(void **state)
{
	size_t bytes, more_bytes;

	(void)state;
	const uint64_t some = looked_at(500, &bytes);
	const uint64_t more = looked_at(1000, &more_bytes);
	assert_true(some >= 500 && some <= 2500);
	assert_in_range(more, 2 * some - 10, 2 * some + 10);
	assert_true(more_bytes < 3 * bytes);
}

/* What a callback reports itself is not reported again. */
static qn_status
report_own(void *user, qn_info *i)
{
	(void)user;
	return qn_info_store_range(i, 7, -1.0, 1.0);
}

static void
test_callbacks_that_fail(void **state)
{
	record r = {.names = "", .fail = true};
	const qn_calib_callback list[] = {{NULL, take_defaults, &r, NULL}};
	const qn_calib_callback own[] = {{NULL, report_own, NULL, NULL}};
	const qn_calib_callback none[] = {{"conv2d", report_own, NULL, NULL}};
	const size_t before = rg->diags.n;

	(void)state;
	begin();
	bind_weights(0.25);
	assert_int_equal(qn_callbacks_run(&graphs, 1, list, &rg->arena), QN_EUNSUPPORTED);
	assert_string_equal(last_id(), "calibrate.callback");
	assert_string_equal(r.names, "f");
	assert_int_equal(rg->diags.n, before + 1);
	assert_int_equal(qn_callbacks_run(&graphs, 1, own, &rg->arena), QN_EUSAGE);
	assert_string_equal(last_id(), "calibrate.value");
	assert_int_equal(rg->diags.n, before + 2);
	assert_int_equal(qn_callbacks_run(&graphs, 1, none, &rg->arena), QN_OK);
	r.fail = false;
	r.forget = true;
	assert_int_equal(qn_callbacks_run(&graphs, 1, list, &rg->arena), QN_EINVALID);
	assert_string_equal(last_id(), "calibrate.missing");
}

/* Of a partition's output, which has so many elements. */
static double
error_of(const char *out, int n)
{
	qn_info *f = info_of(out);
	double error = 0;

	for (size_t b = 0; b < BATCHES; b++)
		for (int k = 0; k < n; k++) {
			double d = (double)get(f, QN_INFO_FLOAT_OUTPUT, 0, b, k) -
				   (double)get(f, QN_INFO_OUTPUT, 0, b, k);

			error += d * d;
		}
	return error;
}

/* The search is never worse than where it begins, and finds a better scale where there is one. */
static void
test_search(void **state)
{
	static const char *const methods[] = {"output:steps=16,least=0.25",
					      "output:steps=16,least=0.25,cosine=1"};
	qn_method_opts opts;
	const qn_calib_callback list[] = {{NULL, qn_search_output_of, &opts, NULL}};
	const double start = 0.5;

	(void)state;
	for (int round = 0; round < 2; round++) {
		rig_teardown(NULL);
		rig_setup(NULL);
		begin();
		graphs.method = method;
		bind_weights(0.25);
		assert_int_equal(qn_symbol_bind(&rg->m.types, "", "f.x", 1, &start, NULL), QN_OK);
		double before = error_of("f", 2);
		rig_teardown(NULL);
		rig_setup(NULL);
		begin();
		graphs.method = method;
		bind_weights(0.25);
		assert_int_equal(qn_method_parse(&rg->env, &rg->arena, methods[round], &opts),
				 QN_OK);
		assert_int_equal(qn_callbacks_run(&graphs, 1, list, &rg->arena), QN_OK);
		assert_true(round == 1 || error_of("f", 2) < 0.5 * before);
		assert_true(qn_symbol_find(&rg->m.types, "f.x")->scale <= 0.5);
	}
	assert_int_equal(rg->diags.n, 0);
}

/* An output of one element: its error counts. */
static void
test_search_of_one(void **state)
{
	qn_method_opts opts;
	const qn_calib_callback list[] = {{"dense", qn_search_output_of, &opts, NULL}};
	const double fine = 1.0 / 64, start = 0.5;
	const int64_t zp = 0;
	double before = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		rig_teardown(NULL);
		rig_setup(NULL);
		begin();
		graphs.method = method;
		bind_weights(0.25);
		assert_int_equal(qn_symbol_bind(&rg->m.types, "", "f.x", 1, &fine, &zp), QN_OK);
		assert_int_equal(
			qn_method_parse(&rg->env, &rg->arena, "output:steps=16,least=0.25", &opts),
			QN_OK);
		if (round == 0) {
			assert_int_equal(qn_symbol_bind(&rg->m.types, "", "g.x", 1, &start, &zp),
					 QN_OK);
			before = error_of("g", 1);
			continue;
		}
		assert_int_equal(qn_callbacks_run(&graphs, 1, list, &rg->arena), QN_OK);
		assert_true(error_of("g", 1) < 0.5 * before);
		assert_true(qn_symbol_find(&rg->m.types, "g.x")->scale < 0.5);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_values, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_trials, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_rules, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_limits, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_trials_in_turn, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_ranges, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_cost, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_callbacks, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_row_of_partition, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_work, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_callbacks_that_fail, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_search, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_search_of_one, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
