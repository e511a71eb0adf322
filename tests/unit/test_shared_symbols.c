/* SPDX-License-Identifier: Apache-2.0 */
/* test_shared_symbols.c - quantizes that share a symbol: what all of them take counts, by every
 * method, in shards and beside constants.
 *
 *   quantize %a : $s   quantize %b : $s     has the parameters of     quantize (concat %a, %b) : $s */
#include "tests/unit/shared_rig.h"

static void
test_methods(void **state)
{
	(void)state;
	for (size_t i = 0; qn_method_row(i) != NULL; i++) {
		const char *name = qn_method_row(i)->name;

		if (qn_method_row(i)->search != NULL)
			continue; /* needs partitions */
		const qn_symbol parts = calibrated(HEAD PARTS, name);
		const qn_symbol both = calibrated(HEAD BOTH, name);
		same(&parts, &both, name);
	}
}

/* Constants lie inside of the range, by whatever quantize they come. */
static void
test_constant(void **state)
{
	static const char text[] =
		"model \"m\" stage symbolic\n"
		"symbol $s : asym\n"
		"graph @main(%x: tensor<1x4xf32>) {\n"
		"  %c = const : tensor<1x4xf32> [-17.0, 3.0, 0.5, 2.0]\n"
		"  %d = const : tensor<1x4xf32> [17.0, 3.0, 0.5, 34.0]\n"
		"  %qc = quantize %c : tensor<1x4x!quant.uniform<i8:f32, $s:$s>>\n"
		"  %qd = quantize %d : tensor<1x4x!quant.uniform<i8:f32, $s:$s>>\n"
		"  %qx = quantize %x : tensor<1x4x!quant.uniform<i8:f32, $s:$s>>\n"
		"  %dc = dequantize %qc\n  %dd = dequantize %qd\n  %dx = dequantize %qx\n"
		"  %a = add %dc, %dd\n  %y = add %a, %dx\n  return %y\n}\n";

	(void)state;
	const qn_symbol s = calibrated(text, "minmax");
	assert_true(s.scale == (double)0.2f && s.zp == -43); /* -17 to 34 */
}

/* A method that finds a scale itself keeps it, unless a constant lies outside of its quantized values. */
static void
test_constant_beside_pair(void **state)
{
	static const struct {
		const char *constant;
		double scale;
		int64_t zp;
	} rows[] = {
		{"[-2.0, 1.984375]", 1.0 / 64, 0}, /* the least and the largest value of i8 */
		{"[-2.5, 1.0]", (2.5 + 127.0 / 64) / 255, 14},
		{"[-1.0, 3.0]", 5.0 / 255, -26},
		{"[-2.5, 3.0]", 5.5 / 255, -12},
	};
	const char *name = "x";
	qn_calib_opts o = {0};
	qn_dataset *d;
	qn_buf b;

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		rig_teardown(NULL);
		rig_setup(NULL);
		qn_buf_init(&b, &rg->arena);
		qn_buff(&b,
			"model \"m\" stage symbolic\nsymbol $s : asym\n"
			"graph @main(%%x: tensor<1x2xf32>) {\n"
			"  %%c = const : tensor<1x2xf32> %s\n"
			"  %%qc = quantize %%c : tensor<1x2x!quant.uniform<i8:f32, $s:$s>>\n"
			"  %%qx = quantize %%x : tensor<1x2x!quant.uniform<i8:f32, $s:$s>>\n"
			"  %%dc = dequantize %%qc\n  %%dx = dequantize %%qx\n"
			"  %%y = add %%dc, %%dx\n  return %%y\n}\n",
			rows[i].constant);
		assert_int_equal(qn_model_parse(&rg->m, "test", qn_buf_str(&b), b.n), QN_OK);
		assert_int_equal(qn_method_parse(&rg->env, &rg->arena, "avgmax_pr", &o.method),
				 QN_OK);
		const qn_tensor *all = tensor(type("tensor<1x2xf32>"), (const double[]){-2.0, 2.0});
		assert_int_equal(
			qn_dataset_arrays(qn_model_entry(&rg->m), &rg->arena, 1, &all, &name, &d),
			QN_OK);
		assert_int_equal(qn_calibrate_model(&rg->m, d, &o), QN_OK);
		const qn_symbol want = {.scale = (double)(float)rows[i].scale, .zp = rows[i].zp};
		same(qn_symbol_find(&rg->m.types, "s"), &want, rows[i].constant);
	}
}

/* Weights that share a symbol: the largest of both, row by row. */
static void
test_weights(void **state)
{
	static const char text[] =
		"model \"m\" stage symbolic\n"
		"symbol $w : sym, len 2\n"
		"graph @main(%x: tensor<1x2xf32>) {\n"
		"  %v = const : tensor<2x2xf32> [1.0, 2.0, 0.5, -0.25]\n"
		"  %w = const : tensor<2x2xf32> [1.0, -1.5, 0.5, 5.0]\n"
		"  %qv = quantize %v : tensor<2x2x!quant.uniform<i8<-127:127>:f32:0, $w>>\n"
		"  %qw = quantize %w : tensor<2x2x!quant.uniform<i8<-127:127>:f32:0, $w>>\n"
		"  %dv = dequantize %qv\n  %dw = dequantize %qw\n"
		"  %a = dense %x, %dv\n  %y = dense %a, %dw\n  return %y\n}\n";

	(void)state;
	read_model(text);
	assert_int_equal(qn_calibrate_model(&rg->m, NULL, NULL), QN_OK);
	no_errors();
	const qn_symbol *w = qn_symbol_find(&rg->m.types, "w");
	assert_true(w->vec->scale[0] == (double)(float)(2.0 / 127));
	assert_true(w->vec->scale[1] == (double)(float)(5.0 / 127));
}

/* Statistics of another model: of another content, or with a value that differs in one thing. */
static void
check_mismatches(const qn_calibration *c, const qn_statistics *s)
{
	const qn_value_stats *v = &s->value[0];
	qn_value_stats other[5] = {*v, *v, *v, *v, *v};

	other[0].name = "t";
	other[1].symmetric = !v->symmetric;
	other[2].qmin++;
	other[3].qmax--;
	assert_int_equal(qn_calibration_check(c, 1, s), QN_EINVALID);
	for (size_t i = 0; i < 5; i++) {
		qn_statistics t = *s;

		t.value = &other[i];
		t.n = i < 4 ? 1 : 0;
		assert_int_equal(qn_calibration_check(c, 0, &t), QN_EINVALID);
		assert_string_equal(rg->diags.item[0].id, "stats.mismatch");
		qn_diags_clear(&rg->env, &rg->diags);
	}
	qn_diags_clear(&rg->env, &rg->diags);
}

/* Shards of the samples, merged: one value a symbol, and the same parameters. */
static void
test_shards(void **state)
{
	const qn_symbol whole = calibrated(HEAD BOTH, "ema");
	qn_calib_opts o = {0};
	qn_statistics *part[2];
	qn_calibration *c;
	qn_finding *f;
	double scale;
	int64_t zp;

	(void)state;
	read_model(HEAD PARTS);
	assert_int_equal(qn_method_parse(&rg->env, &rg->arena, "ema", &o.method), QN_OK);
	qn_dataset *d = data();
	assert_int_equal(qn_calibration_new(&rg->m, &c), QN_OK);
	for (int i = 0; i < 2; i++) {
		part[i] = qn_calibration_start(c, &o.method, d, NULL, true);
		assert_int_equal(part[i]->n, 1);
		assert_string_equal(part[i]->value[0].name, "s");
		assert_int_equal(
			qn_calibration_observe(
				c, d, (qn_span){i == 0 ? 0 : 2, i == 0 ? 2 : BATCHES}, part[i]),
			QN_OK);
		assert_int_equal(part[i]->value[0].o.n, (i == 0 ? 2 : 4) * 2 * WIDTH);
	}
	assert_int_equal(qn_statistics_merge(&rg->env, &rg->arena, part[1], "b", part[0]), QN_OK);
	check_mismatches(c, part[1]);
	assert_int_equal(qn_calibration_check(c, 0, part[1]), QN_OK);
	assert_int_equal(qn_calibration_find(c, part[1], &f), QN_OK);
	qn_finding_params(&c->watch[0], &f[0], &scale, &zp);
	same(&(qn_symbol){.scale = scale, .zp = zp}, &whole, "shards");
}

/* One pair cannot be that of two storages. */
static void
test_storages(void **state)
{
	static const char text[] =
		HEAD "  %qx = quantize %x : tensor<1x4x!quant.uniform<i8:f32, $s:$s>>\n"
		     "  %qb = quantize %b : tensor<1x4x!quant.uniform<u8:f32, $s:$s>>\n"
		     "  %dx = dequantize %qx\n  %db = dequantize %qb\n"
		     "  %y = add %dx, %db\n  return %y\n}\n";

	(void)state;
	read_model(text);
	assert_int_equal(qn_calibrate_model(&rg->m, data(), NULL), QN_EINVALID);
	assert_string_equal(rg->diags.item[0].id, "calibrate.shared");
	assert_string_equal(rg->diags.item[0].place, "qb");
	assert_non_null(strstr(rg->diags.item[0].message, "'qx'"));
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_methods), TEST(test_constant), TEST(test_weights),
		TEST(test_shards),  TEST(test_storages), TEST(test_constant_beside_pair),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
