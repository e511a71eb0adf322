/* SPDX-License-Identifier: Apache-2.0 */
/* test_evaluate.c - values of batches on request: the same as a whole run gives, with no more nodes run
 * than they need, and a symbol without a value is named. */
#include "tests/unit/run_util.h"

#include "calibrate/evaluate.h"

#include <math.h>

enum { BATCHES = 4, WIDTH = 3 };

static const char text[] = "model \"m\" stage symbolic\n"
			   "symbol $a : asym = 0.5:3\n"
			   "symbol $b : sym\n"
			   "graph @main(%x: tensor<1x3xf32>) {\n"
			   "  %r = relu %x\n"
			   "  %q = quantize %r : tensor<1x3x!quant.uniform<i8:f32, $a:$a>>\n"
			   "  %d = dequantize %q\n"
			   "  %s = add %d, %x\n"
			   "  %t = quantize %s : tensor<1x3x!quant.uniform<i8:f32, $b>>\n"
			   "  %u = dequantize %t\n"
			   "  return %u\n"
			   "}\n";

static qn_evaluator *
evaluator(size_t budget)
{
	static const int64_t shape[] = {BATCHES, WIDTH};
	float *x = QN_NEW(&rg->arena, float, BATCHES *WIDTH);
	qn_dataset *data;

	assert_int_equal(qn_model_parse(&rg->m, "m.qir", text, sizeof text - 1), QN_OK);
	for (int i = 0; i < BATCHES * WIDTH; i++)
		x[i] = 0.4f * (float)(i - 5);
	const qn_tensor *all =
		qn_tensor_view(&rg->arena, qn_type_plain(&rg->m.types, QN_PLAIN_f32, 2, shape), x);
	const char *name = "x";
	assert_int_equal(
		qn_dataset_arrays(qn_model_entry(&rg->m), &rg->arena, 1, &all, &name, &data),
		QN_OK);
	return qn_evaluator_new(qn_model_entry(&rg->m), data, budget, &rg->arena);
}

static qn_id
value(const char *name)
{
	return qn_graph_find(qn_model_entry(&rg->m), name);
}

/* relu, to half steps, plus x. */
static float
expected(size_t batch, int i)
{
	float x = 0.4f * (float)((int)batch * WIDTH + i - 5);
	float r = x > 0.0f ? x : 0.0f;

	return 0.5f * (float)(int)(r / 0.5f + 0.5f) + x;
}

static void
check_sums(qn_evaluator *e)
{
	const qn_id s = value("s");
	const qn_tensor *y;

	for (size_t b = BATCHES; b-- > 0;) {
		assert_int_equal(qn_evaluator_run(e, 1, &s, b, &y), QN_OK);
		for (int i = 0; i < WIDTH; i++)
			assert_true(((const float *)y->data)[i] == expected(b, i));
	}
}

static void
test_values(void **state)
{
	qn_evaluator *e = evaluator(0);

	(void)state;
	check_sums(e);
	/* Without room every batch runs relu, quantize, dequantize, add. */
	assert_int_equal(qn_evaluator_runs(e), 4 * BATCHES);
	const qn_id r = value("r");
	assert_int_equal(qn_evaluator_cache(e, 1, &r), QN_OK);
	assert_int_equal(qn_evaluator_runs(e), 4 * BATCHES);
	check_sums(e);
	assert_int_equal(qn_evaluator_runs(e), 8 * BATCHES);
}

static void
test_kept(void **state)
{
	qn_evaluator *e = evaluator(BATCHES * WIDTH * sizeof(float));
	const qn_id d = value("d"), r = value("r");

	(void)state;
	assert_int_equal(qn_evaluator_cache(e, 1, &d), QN_OK);
	assert_int_equal(qn_evaluator_runs(e), 3 * BATCHES);
	check_sums(e);
	assert_int_equal(qn_evaluator_runs(e), 4 * BATCHES); /* add alone */
	/* The budget is used up, and what is kept is not computed again. */
	assert_int_equal(qn_evaluator_cache(e, 1, &r), QN_OK);
	assert_int_equal(qn_evaluator_cache(e, 1, &d), QN_OK);
	assert_int_equal(qn_evaluator_runs(e), 4 * BATCHES);
}

static void
test_several(void **state)
{
	qn_evaluator *e = evaluator(0);
	const qn_id want[] = {value("x"), value("q"), value("r")};
	const qn_tensor *y[3];

	(void)state;
	assert_int_equal(qn_evaluator_run(e, 3, want, 2, y), QN_OK);
	assert_true(((const float *)y[0]->data)[0] == 0.4f);
	assert_int_equal(((const int8_t *)y[1]->data)[2], 5); /* 1.2 / 0.5 + 3 */
	assert_true(((const float *)y[2]->data)[2] == 0.4f * 3.0f);
	assert_int_equal(qn_evaluator_runs(e), 2);
}

/* A plan that begins at values of the chosen batches is not that of the others. */
static void
test_chosen(void **state)
{
	static const size_t chosen[] = {1, 3};
	qn_evaluator *e = evaluator(2 * WIDTH * sizeof(float));
	const qn_id d = value("d"), r = value("r");

	(void)state;
	qn_evaluator_choose(e, 2, chosen);
	assert_int_equal(qn_evaluator_cache(e, 1, &d), QN_OK);
	assert_int_equal(qn_evaluator_runs(e), 3 * 2);
	check_sums(e);
	assert_int_equal(qn_evaluator_runs(e), 3 * 2 + 2 * 1 + 2 * 4);
	/* There is room again for as many batches, not for more. */
	qn_evaluator_forget(e);
	assert_int_equal(qn_evaluator_cache(e, 1, &r), QN_OK);
	assert_int_equal(qn_evaluator_runs(e), 3 * 2 + 2 * 1 + 2 * 4 + 2);
	assert_int_equal(qn_evaluator_cache(e, 1, &d), QN_OK);
	assert_int_equal(qn_evaluator_runs(e), 3 * 2 + 2 * 1 + 2 * 4 + 2);
}

/* Of fewer values than before, no more is run than they need. */
static void
test_fewer(void **state)
{
	qn_evaluator *e = evaluator(0);
	const qn_id want[] = {value("r"), value("s")};
	const qn_tensor *y[2];

	(void)state;
	assert_int_equal(qn_evaluator_run(e, 2, want, 0, y), QN_OK);
	assert_int_equal(qn_evaluator_runs(e), 4);
	assert_int_equal(qn_evaluator_run(e, 1, want, 0, y), QN_OK);
	assert_int_equal(qn_evaluator_runs(e), 5);
}

static void
test_future(void **state)
{
	qn_evaluator *e = evaluator(0);
	const qn_id u = value("u");
	const qn_tensor *y;
	const double scale = 0.25;

	(void)state;
	assert_int_equal(qn_evaluator_run(e, 1, &u, 0, &y), QN_EINVALID);
	assert_string_equal(rg->diags.item[0].id, "calibrate.future");
	assert_non_null(strstr(rg->diags.item[0].message, "$b"));
	assert_int_equal(qn_symbol_bind(&rg->m.types, "", "b", 1, &scale, NULL), QN_OK);
	qn_evaluator_changed(e);
	assert_int_equal(qn_evaluator_run(e, 1, &u, 3, &y), QN_OK);
	assert_true(((const float *)y->data)[0] == 3.0f); /* 1.5 + 1.6, to quarters */
}

/* With r replaced, what comes after it is run, whatever is kept; and is as it was without. */
static void
test_replaced(void **state)
{
	qn_evaluator *e = evaluator(1 << 20);
	const qn_id s = value("s"), r = value("r"), kept[] = {value("d"), s};
	const float twos[WIDTH] = {2, 2, 2};
	const void *data = twos;
	const qn_tensor *y;

	(void)state;
	assert_int_equal(qn_evaluator_cache(e, 2, kept), QN_OK);
	for (size_t b = 0; b < BATCHES; b++) {
		assert_int_equal(
			qn_evaluator_run_with(e, &(qn_replaced){1, &r, &data}, 1, &s, b, &y),
			QN_OK);
		for (int i = 0; i < WIDTH; i++)
			assert_true(((const float *)y->data)[i] ==
				    2 + 0.4f * (float)((int)b * WIDTH + i - 5));
	}
	check_sums(e);
}

/* ---- states ---- */

static const char stateful[] = "model \"m\" stage symbolic\n"
			       "symbol $a : asym\n"
			       "graph @main(%x: tensor<1x3xf32>, %h: tensor<1x3xf32> state) {\n"
			       "  %q = quantize %x : tensor<1x3x!quant.uniform<i8:f32, $a:$a>>\n"
			       "  %d = dequantize %q\n"
			       "  %s = add %d, %h\n"
			       "  %t = sub %h, %s\n"
			       "  return %t, %s to %h\n"
			       "}\n";

/* Before each batch a state is what the float network leaves, whatever is evaluated, and in which order: here the sum
 * of the samples since the sequence began, of which `t` is the last one's negative. */
static void
test_states(void **state)
{
	static const int64_t shape[] = {2 * BATCHES, WIDTH};
	float x[2 * BATCHES * WIDTH];
	const char *name = "x";
	qn_dataset *data;
	const qn_tensor *y[2];

	(void)state;
	assert_int_equal(qn_model_parse(&rg->m, "m.qir", stateful, sizeof stateful - 1), QN_OK);
	for (int i = 0; i < 2 * BATCHES * WIDTH; i++)
		x[i] = (float)(i * i % 17 - 8);
	const qn_tensor *all =
		qn_tensor_view(&rg->arena, qn_type_plain(&rg->m.types, QN_PLAIN_f32, 2, shape), x);
	assert_int_equal(
		qn_dataset_arrays(qn_model_entry(&rg->m), &rg->arena, 1, &all, &name, &data),
		QN_OK);
	data->sequence = BATCHES;
	qn_evaluator *e = qn_evaluator_new(qn_model_entry(&rg->m), data, 0, &rg->arena);
	const qn_id h = value("h");
	for (size_t b = 2 * BATCHES; b-- > 0;) {
		assert_int_equal(qn_evaluator_run(e, 1, &h, b, y), QN_OK);
		for (size_t i = 0; i < WIDTH; i++) {
			float sum = 0;

			for (size_t k = b / BATCHES * BATCHES; k < b; k++)
				sum += x[k * WIDTH + i];
			assert_true(((const float *)y[0]->data)[i] == sum);
		}
	}
	/* coarse steps: what they do to one batch does not reach the next */
	assert_int_equal(qn_symbol_bind(&rg->m.types, "m", "a", 1, (double[]){4}, (int64_t[]){0}),
			 QN_OK);
	qn_evaluator_changed(e);
	const qn_id two[] = {value("t"), h};
	for (size_t b = 0; b < 2 * BATCHES; b++) {
		assert_int_equal(qn_evaluator_run(e, 2, two, b, y), QN_OK);
		for (size_t i = 0; i < WIDTH; i++)
			assert_true(fabsf(((const float *)y[0]->data)[i] + x[b * WIDTH + i]) <= 2);
	}
}

/* A state that is quantized itself has no float network's values. */
static void
test_quantized_state(void **state)
{
	static const char net[] = "model \"m\" stage calibrated\n"
				  "graph @main(%x: tensor<1x3x!quant.uniform<i8:f32, 0.5>>,\n"
				  "  %h: tensor<1x3x!quant.uniform<i8:f32, 0.5>> state) {\n"
				  "  %s = maximum %x, %h\n"
				  "  return %x, %s to %h\n"
				  "}\n";
	static const int64_t shape[] = {2, WIDTH};
	const float x[2 * WIDTH] = {0};
	const char *name = "x";
	const qn_tensor *y;
	qn_dataset *data;

	(void)state;
	assert_int_equal(qn_model_parse(&rg->m, "m.qir", net, sizeof net - 1), QN_OK);
	const qn_tensor *all =
		qn_tensor_view(&rg->arena, qn_type_plain(&rg->m.types, QN_PLAIN_f32, 2, shape), x);
	assert_int_equal(
		qn_dataset_arrays(qn_model_entry(&rg->m), &rg->arena, 1, &all, &name, &data),
		QN_OK);
	qn_evaluator *e = qn_evaluator_new(qn_model_entry(&rg->m), data, 0, &rg->arena);
	const qn_id s = value("s");
	assert_int_equal(qn_evaluator_run(e, 1, &s, 0, &y), QN_EUNSUPPORTED);
	assert_string_equal(rg->diags.item[0].id, "calibrate.state");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_values, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_kept, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_several, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_chosen, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_fewer, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_future, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_replaced, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_states, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_quantized_state, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
