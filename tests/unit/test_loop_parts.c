/* SPDX-License-Identifier: Apache-2.0 */
/* test_loop_parts.c - values of loops for repairs and analyses: all steps, as the interpreter shows them one by one; and what a
 * loop without carried values gives is what the same layers give for all rows at once. */
#include <math.h>
#include <stdio.h>

#include "tests/unit/run_util.h"

#include "calibrate/evaluate.h"
#include "quern/measure.h"
#include "runtime/interp.h"

/* ---- values of all steps ---- */

/* A loop in a loop: rows of x, in each of which elements are added one after the other. */
static const char nested[] = "model \"m\" stage float\ngraph @main(%x: tensor<1x3x4xf32>) {\n"
			     "  %zero = const : tensor<1xf32> [0.0]\n"
			     "  %i = loop {count=3}\n"
			     "  %row = loop_slice %x, %i {axis=1}\n"
			     "  %c = loop_carry %zero, %i {index=0}\n"
			     "  %j = loop %i {count=4}\n"
			     "  %v = loop_slice %row, %j {axis=1}\n"
			     "  %h = loop_carry %c, %j {index=0}\n"
			     "  %s = add %h, %v\n"
			     "  %f = loop_end %j, %s\n"
			     "  %last = loop_last %s, %f\n"
			     "  %twice = add %last, %last\n"
			     "  %e = loop_end %i, %twice\n"
			     "  %y = loop_stack %last, %e {axis=1, length=3}\n"
			     "  return %y\n}\n";

enum { BATCHES = 3, MOST = 64 };

static qn_evaluator *
evaluator(const char *text, qn_dataset **data)
{
	static const int64_t shape[] = {BATCHES, 3, 4};
	float *x = QN_NEW(&rg->arena, float, BATCHES * 12);
	const char *name = "x";

	assert_int_equal(qn_model_parse(&rg->m, "m.qir", text, strlen(text)), QN_OK);
	for (int i = 0; i < BATCHES * 12; i++)
		x[i] = 0.25f * (float)(i * i % 23 - 9);
	const qn_tensor *all =
		qn_tensor_view(&rg->arena, qn_type_plain(&rg->m.types, QN_PLAIN_f32, 3, shape), x);
	assert_int_equal(
		qn_dataset_arrays(qn_model_entry(&rg->m), &rg->arena, 1, &all, &name, data), QN_OK);
	return qn_evaluator_new(qn_model_entry(&rg->m), *data, 1 << 20, &rg->arena);
}

typedef struct seen {
	qn_id id;
	size_t n;
	float value[MOST];
} seen;

static qn_status
note(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	seen *s = user;

	(void)g;
	if (id == s->id)
		s->value[s->n++] = *(const float *)value->data;
	return QN_OK;
}

static void
check_steps(qn_evaluator *e, qn_dataset *data, const char *name, int32_t rank, size_t steps)
{
	const qn_graph *g = qn_model_entry(&rg->m);
	const qn_id id = qn_graph_find(g, name);
	qn_interp *in;

	assert_int_equal(qn_interp_new(g, &rg->arena, &in), QN_OK);
	for (size_t b = 0; b < BATCHES; b++) {
		seen s = {.id = id};
		const qn_tensor *const *x;
		const qn_tensor *y;

		assert_int_equal(data->get(data, b, &rg->arena, &x), QN_OK);
		assert_int_equal(qn_interp_run(in, x, note, &s), QN_OK);
		assert_int_equal(qn_evaluator_run(e, 1, &id, b, &y), QN_OK);
		assert_int_equal(y->type->rank, rank);
		assert_int_equal(qn_type_count(y->type), steps);
		assert_int_equal(s.n, steps);
		assert_memory_equal(y->data, s.value, steps * sizeof(float));
	}
}

static void
test_steps(void **state)
{
	qn_dataset *data;
	qn_evaluator *e = evaluator(nested, &data);

	(void)state;
	qn_evaluator_stack(e);
	check_steps(e, data, "s", 3, 12); /* 3 steps of 4: one element each */
	check_steps(e, data, "h", 3, 12);
	check_steps(e, data, "twice", 2, 3);
	const qn_id s = qn_graph_find(qn_model_entry(&rg->m), "s");
	assert_int_equal(qn_evaluator_cache(e, 1, &s), QN_OK); /* it is not kept */
	check_steps(e, data, "s", 3, 12);
}

/* Who does not ask for all steps gets none; what stands before and after a loop is a value like others. */
static void
test_refused(void **state)
{
	qn_dataset *data;
	qn_evaluator *e = evaluator(nested, &data);
	const qn_graph *g = qn_model_entry(&rg->m);
	const qn_id s = qn_graph_find(g, "s"), y = qn_graph_find(g, "y");
	const qn_tensor *out;
	const float one = 1;
	const void *with = &one;

	(void)state;
	assert_int_equal(qn_evaluator_run(e, 1, &y, 0, &out), QN_OK);
	assert_int_equal(qn_evaluator_run(e, 1, &s, 0, &out), QN_EUNSUPPORTED);
	assert_string_equal(rg->diags.item[0].id, "calibrate.loop");
	qn_evaluator_stack(e);
	assert_int_equal(qn_evaluator_run_with(e, &(qn_replaced){1, &s, &with}, 1, &y, 0, &out),
			 QN_EUNSUPPORTED);
}

/* The values of all steps are no more than the limit of one value allows. */
static void
test_limit(void **state)
{
	qn_dataset *data;
	qn_evaluator *e = evaluator(nested, &data);
	const qn_id s = qn_graph_find(qn_model_entry(&rg->m), "s");
	const qn_tensor *y;

	(void)state;
	qn_evaluator_stack(e);
	rg->env.limits.bytes = 47; /* 12 steps of 4 bytes */
	assert_int_equal(qn_evaluator_run(e, 1, &s, 0, &y), QN_EBUDGET);
	assert_string_equal(rg->diags.item[0].id, "limit.bytes");
	rg->env.limits.bytes = 48;
	assert_int_equal(qn_evaluator_run(e, 1, &s, 0, &y), QN_OK);
}

/* ---- layers in loops and out of them ---- */

#define LAYERS                                                                                     \
	"  %d = dense %s, %w, %b\n  %r = relu %d\n"                                                \
	"  %w2 = const : tensor<4x8xf32> rand 13\n  %d2 = dense %r, %w2\n"
#define CONSTANTS "  %w = const : tensor<8x6xf32> rand 11\n  %b = const : tensor<8xf32> rand 12\n"

static const char looped[] =
	"graph @main(%x: tensor<1x5x6xf32>) {\n" CONSTANTS
	"  %i = loop {count=5}\n  %s = loop_slice %x, %i {axis=1}\n" LAYERS "  %e = loop_end %i\n"
	"  %y = loop_stack %d2, %e {axis=1, length=5}\n  return %y\n}\n";
static const char flat[] = "graph @main(%x: tensor<1x5x6xf32>) {\n" CONSTANTS
			   "  %s = reshape %x {shape=[5,6]}\n" LAYERS
			   "  %y = reshape %d2 {shape=[1,5,4]}\n  return %y\n}\n";
/* A recurrent one, of whose layers one has no bias. */
static const char carried[] =
	"graph @main(%x: tensor<1x5x6xf32>) {\n" CONSTANTS
	"  %u = const : tensor<8x8xf32> rand 14\n"
	"  %h0 = const : tensor<1x8xf32> [0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]\n"
	"  %i = loop {count=5}\n  %s = loop_slice %x, %i {axis=1}\n"
	"  %h = loop_carry %h0, %i {index=0}\n"
	"  %d = dense %s, %w, %b\n  %d2 = dense %h, %u\n  %a = add %d, %d2\n  %t = tanh %a\n"
	"  %e = loop_end %i, %t\n"
	"  %y = loop_stack %t, %e {axis=1, length=5}\n  return %y\n}\n";

enum { SAMPLES = 48, IN = 30, OUT = 40, LAYERS_MOST = 8 };

typedef struct host {
	qn_ctx *ctx;
	qn_array *x;
	qn_model *m;
} host;

static host
open_host(const char *text)
{
	static float data[SAMPLES * IN];
	const int64_t shape[] = {SAMPLES, 5, 6};
	uint32_t seed = 7;
	host r = {.ctx = qn_open(&(qn_config){.threads = 1})};

	for (int i = 0; i < SAMPLES * IN; i++) {
		seed = seed * 1664525u + 1013904223u;
		data[i] = (float)(seed >> 8) / 8388608.0f - 0.6f;
	}
	assert_int_equal(qn_array_new(r.ctx, "f32", 3, shape, data, &r.x), QN_OK);
	assert_int_equal(qn_file_add(r.ctx, "net.qir", text, strlen(text)), QN_OK);
	assert_int_equal(qn_load(r.ctx, "net.qir", &r.m), QN_OK);
	return r;
}

static void
compile(host *r, qn_compile_opts o)
{
	o.calib = &r->x;
	o.ncalib = 1;
	assert_int_equal(qn_compile(r->m, &o), QN_OK);
}

/* The results of the network that is made with these options, and their squared error against the float one. */
static double
results(const char *text, qn_compile_opts o, float *y)
{
	host r = open_host(text);
	qn_array *real, *got;
	double error = 0;

	o.stop_after = "bind";
	assert_int_equal(qn_run(r.m, 1, &r.x, 1, 1, &real), QN_OK);
	compile(&r, o);
	assert_int_equal(qn_run(r.m, 1, &r.x, 1, 1, &got), QN_OK);
	const size_t n = SAMPLES * 5 * (size_t)qn_array_dim(got, 2);
	memcpy(y, qn_array_data(got), n * sizeof *y);
	for (size_t i = 0; i < n; i++)
		error += pow((double)y[i] - (double)((const float *)qn_array_data(real))[i], 2);
	qn_close(r.ctx);
	return error;
}

static const qn_compile_opts repairs[] = {
	{.weights_type = QN_WEIGHTS_I4},
	{.weights_type = QN_WEIGHTS_I4, .bias_correction = 1},
	{.weights_type = QN_WEIGHTS_I4, .weight_rounding = QN_WEIGHTS_ADAPTIVE},
	{.weights_type = QN_WEIGHTS_I2, .weight_rounding = QN_WEIGHTS_GPTQ, .bias_correction = 1},
	{.weights_type = QN_WEIGHTS_I4, .narrow_ranges = 1},
	{.weights_type = QN_WEIGHTS_I4, .equalize = 1},
	{.activations = QN_ACTIVATIONS_AUTO},
};

/* The steps of the loop are the rows of the other network, in the same order. */
static void
test_like_rows(void **state)
{
	static float in_loop[SAMPLES * OUT], at_once[SAMPLES * OUT];

	(void)state;
	for (size_t i = 0; i < QN_COUNT(repairs); i++) {
		(void)results(looped, repairs[i], in_loop);
		(void)results(flat, repairs[i], at_once);
		assert_memory_equal(in_loop, at_once, SAMPLES * 20 * sizeof(float));
	}
}

/* Layers whose operands the loop carries are repaired, and the loop stays one. */
static void
test_carried(void **state)
{
	static float y[SAMPLES * OUT];
	qn_compile_opts o = {.weights_type = QN_WEIGHTS_I2};
	const double plain = results(carried, o, y);

	(void)state;
	o.weight_rounding = QN_WEIGHTS_ADAPTIVE;
	o.bias_correction = 1;
	const double repaired = results(carried, o, y);
	print_message("error %.3g, repaired %.3g\n", plain, repaired);
	assert_true(repaired < 0.6 * plain);
	host r = open_host(carried);
	compile(&r, o);
	assert_true(qn_model_describe(r.m).nodes < 30);
	qn_close(r.ctx);
}

/* What a loop carries keeps its scale, and the message says that there is nothing to scale, not that samples are few. */
static void
test_no_groups(void **state)
{
	host r = open_host(carried);
	bool told = false;

	(void)state;
	compile(&r, (qn_compile_opts){.equalize = 1});
	for (size_t i = 0; i < qn_diag_count(r.ctx); i++)
		told = told || strstr(qn_diag_get(r.ctx, i).message, "no layer is read") != NULL;
	assert_true(told);
	qn_close(r.ctx);
}

typedef struct table {
	size_t n;
	qn_layer_cost row[LAYERS_MOST];
} table;

static void
take(void *user, const qn_layer_cost *layer)
{
	table *t = user;

	assert_true(t->n < LAYERS_MOST && layer->index < LAYERS_MOST);
	t->row[layer->index] = *layer;
	t->n++;
}

static table
analyze(const char *text)
{
	host r = open_host(text);
	table t = {0};
	qn_analysis all = {0};

	compile(&r, (qn_compile_opts){.weights_type = QN_WEIGHTS_I4, .stop_after = "calibrate"});
	assert_int_equal(qn_analyze(r.m, 1, &r.x, NULL, take, &t, &all), QN_OK);
	qn_close(r.ctx);
	return t;
}

static void
test_analysis(void **state)
{
	const table a = analyze(looped), b = analyze(flat), c = analyze(carried);

	(void)state;
	assert_int_equal(a.n, b.n);
	for (size_t i = 0; i < a.n; i++) {
		const qn_layer_cost *x = &a.row[i], *y = &b.row[i];

		assert_int_equal(x->macs, y->macs);
		assert_true(x->alone == y->alone && x->weights_alone == y->weights_alone);
		assert_true(x->here == y->here && x->gain == y->gain && x->used == y->used);
		assert_int_equal(x->outliers, y->outliers);
		assert_true(x->worst_outlier == y->worst_outlier && x->range_gain == y->range_gain);
	}
	for (size_t i = 0; i < c.n; i++) /* each costs something, and is what it costs once */
		assert_true(c.row[i].alone > 5 && c.row[i].alone < 60);
	assert_int_equal(c.row[0].macs, 5 * 8 * 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_steps, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_refused, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_limit, rig_setup, rig_teardown),
		cmocka_unit_test(test_like_rows),
		cmocka_unit_test(test_carried),
		cmocka_unit_test(test_no_groups),
		cmocka_unit_test(test_analysis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
