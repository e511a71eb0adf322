/* SPDX-License-Identifier: Apache-2.0 */
/* test_info.c - what calibration callbacks see of their partitions: two dense layers, the second of
 * which has the first one's quantized output as input. */
#include "tests/unit/info_rig.h"

#include <math.h>

static void
set(qn_info *i, const char *symbol, double scale)
{
	const qn_symbol_value v = {.symbol = symbol, .n = 1, .scale = &scale};

	assert_int_equal(qn_info_store(i, &v), QN_OK);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
