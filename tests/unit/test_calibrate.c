/* SPDX-License-Identifier: Apache-2.0 */
/* test_calibrate.c - calibration of a small graph: the scales that its symbols get, and what is refused. */
#include "tests/unit/calibrate_rig.h"

#include <math.h>
#include <stdio.h>

#include "patterns/quantizer.h"

static void
make_symbolic(const char *text)
{
	assert_int_equal(qn_model_parse(&rg->m, "test", text, strlen(text)), QN_OK);
	assert_int_equal(qn_partition(&rg->m, &(qn_quant_opts){0}), QN_OK);
	assert_int_equal(qn_quantize_model(&rg->m, &(qn_quant_opts){0}), QN_OK);
	no_errors();
}

static const char dense[] = "graph @main(%x: tensor<1x2xf32>) {\n"
			    "  %w = const : tensor<2x2xf32> [1.27, 0.0, -0.5, 0.25]\n"
			    "  %b = const : tensor<2xf32> [1.0, -1.0]\n"
			    "  %fc = dense %x, %w\n"
			    "  %y = bias_add %fc, %b\n"
			    "  return %y\n"
			    "}\n";

static void
test_calibrate_dense(void **state)
{
	const double x[6] = {0.0, 1.0, 2.55, 0.5, 0.0, 0.25};
	const qn_symbol *s;

	(void)state;
	make_symbolic(dense);
	assert_int_equal(qn_calibrate_model(&rg->m, data("tensor<3x2xf32>", x), NULL), QN_OK);
	no_errors();
	s = qn_symbol_find(&rg->m.types, "fc.x"); /* 0 .. 2.55 in 256 codes */
	assert_true(s->bound && s->scale == (double)0.01f && s->zp == -128);
	s = qn_symbol_find(&rg->m.types, "fc.w"); /* largest |w| of each row over 127 */
	assert_true(s->bound && s->vec->scale[0] == (double)0.01f &&
		    s->vec->scale[1] == (double)(float)(0.5 / 127));
	s = qn_symbol_find(&rg->m.types, "y.output"); /* -2.15 .. 4.2385 */
	assert_true(s->bound && fabs(s->scale - 6.3885 / 255) < 1e-4);
}

static void
test_calibrate_needs_data(void **state)
{
	(void)state;
	make_symbolic(dense);
	assert_int_equal(qn_calibrate_model(&rg->m, NULL, NULL), QN_EINVALID);
	assert_string_equal(rg->diags.item[0].id, "calibrate.no-data");
}

static void
test_calibrate_zero_range(void **state)
{
	const double x[2] = {0.0, 0.0};

	(void)state;
	make_symbolic(dense);
	assert_int_equal(qn_calibrate_model(&rg->m, data("tensor<1x2xf32>", x), NULL), QN_OK);
	assert_int_equal(rg->diags.item[0].severity, QN_WARNING);
	assert_string_equal(rg->diags.item[0].id, "calibrate.zero-range");
	assert_true(qn_symbol_find(&rg->m.types, "fc.x")->scale == 1.0);
}

/* Zeros that are added to something have its scale, also through sums of zeros: with 1 its bits would be lost. */
static void
test_calibrate_zeros_beside(void **state)
{
	const double x[2] = {0.0, 0.001};

	(void)state;
	make_symbolic("graph @main(%x: tensor<1x2xf32>) {\n"
		      "  %z = sub %x, %x\n"
		      "  %two = add %z, %z\n"
		      "  %y = add %two, %x\n"
		      "  %alone = sub %two, %two\n"
		      "  return %y, %alone\n"
		      "}\n");
	assert_int_equal(qn_calibrate_model(&rg->m, data("tensor<1x2xf32>", x), NULL), QN_OK);
	const double beside = qn_symbol_find(&rg->m.types, "y.b")->scale;
	assert_true(beside < 1e-5);
	for (size_t i = 0; i < 3; i++) {
		static const char *const zero[] = {"y.a", "two.a", "two.b"};

		assert_true(qn_symbol_find(&rg->m.types, zero[i])->scale == beside);
	}
	assert_true(qn_symbol_find(&rg->m.types, "alone.a")->scale == 1.0);
}

/* A bias that is huge against its channel's weights gets room: its code is at most 2^30. */
static void
test_calibrate_widens_for_bias(void **state)
{
	const double x[2] = {0.0, 1.0};

	(void)state;
	make_symbolic("graph @main(%x: tensor<1x2xf32>) {\n"
		      "  %w = const : tensor<2x2xf32> [1e-9, 0.0, -0.5, 0.25]\n"
		      "  %b = const : tensor<2xf32> [1000.0, -1.0]\n"
		      "  %fc = dense %x, %w\n"
		      "  %y = bias_add %fc, %b\n"
		      "  return %y\n"
		      "}\n");
	assert_int_equal(qn_calibrate_model(&rg->m, data("tensor<1x2xf32>", x), NULL), QN_OK);
	const qn_symbol *w = qn_symbol_find(&rg->m.types, "fc.w");
	double sx = qn_symbol_find(&rg->m.types, "fc.x")->scale;
	double code = 1000.0 / (sx * w->vec->scale[0]);
	assert_true(code > 0.99 * 1073741824.0 && code < 1.01 * 1073741824.0);
	assert_true(w->vec->scale[1] == (double)(float)(0.5 / 127));
}

/* The scale of the one weight of a dense layer over [0, 255/256], 127/1024, with this bias. */
static double
scale_beside(double bias)
{
	const double x[1] = {255.0 / 256};
	char text[256];

	rig_teardown(NULL);
	rig_setup(NULL);
	snprintf(text, sizeof text,
		 "graph @main(%%x: tensor<1x1xf32>) {\n"
		 "  %%w = const : tensor<1x1xf32> [0.1240234375]\n"
		 "  %%b = const : tensor<1xf32> [%.17g]\n"
		 "  %%fc = dense %%x, %%w\n"
		 "  %%y = bias_add %%fc, %%b\n"
		 "  return %%y\n"
		 "}\n",
		 bias);
	make_symbolic(text);
	assert_int_equal(qn_calibrate_model(&rg->m, data("tensor<1x1xf32>", x), NULL), QN_OK);
	assert_true(qn_symbol_find(&rg->m.types, "fc.x")->scale == 0x1p-8);
	return qn_symbol_find(&rg->m.types, "fc.w")->vec->scale[0];
}

/* 2^30 itself fits; the next bias of f32 is the first that does not. */
static void
test_calibrate_bias_limit(void **state)
{
	(void)state;
	assert_true(scale_beside(4096) == 0x1p-10);
	assert_true(scale_beside(-4096) == 0x1p-10);
	assert_true(scale_beside(4096 * (1 + 0x1p-23)) == 0x1p-10 * (1 + 0x1p-23));
	assert_true(qn_bias_min_weight_scale(0x1p10, 0x1p-20, 32) == 1.0);
	assert_true(qn_bias_min_weight_scale(-0x1p19, 0x1p-20, 64) == 1.0);
}

/* Values that overflow on the way are an error, by any method, and leave no symbol bound. */
static void
test_calibrate_overflow(void **state)
{
	const double x[2] = {1e30, 1.0};

	(void)state;
	for (size_t i = 0; qn_method_row(i) != NULL; i++) {
		qn_calib_opts o = {0};

		if (qn_method_row(i)->passes == 0)
			continue;
		rig_teardown(NULL);
		rig_setup(NULL);
		make_symbolic("graph @main(%x: tensor<1x2xf32>) {\n"
			      "  %a = mul %x, %x\n"
			      "  %y = relu %a\n"
			      "  return %y\n"
			      "}\n");
		assert_int_equal(
			qn_method_parse(&rg->env, &rg->arena, qn_method_row(i)->name, &o.method),
			QN_OK);
		assert_int_equal(qn_calibrate_model(&rg->m, data("tensor<1x2xf32>", x), &o),
				 QN_EINVALID);
		assert_string_equal(rg->diags.item[0].id, "calibrate.nonfinite");
	}
}

/* The method that needs no samples takes none; a zero point needs a symbol that can have one. */
static void
test_calibrate_global(void **state)
{
	qn_calib_opts o = {0};

	(void)state;
	make_symbolic(dense);
	assert_int_equal(
		qn_method_parse(&rg->env, &rg->arena, "global:zero=3,scale=0.5", &o.method), QN_OK);
	assert_int_equal(qn_calibrate_model(&rg->m, NULL, &o), QN_OK);
	no_errors();
	const qn_symbol *s = qn_symbol_find(&rg->m.types, "fc.x");
	assert_true(s->bound && s->scale == 0.5 && s->zp == 3);
	assert_true(qn_symbol_find(&rg->m.types, "fc.w")->vec->scale[0] == (double)0.01f);
	rig_teardown(NULL);
	rig_setup(NULL);
	make_symbolic(dense);
	assert_int_equal(qn_method_parse(&rg->env, &rg->arena, "global:zero=200", &o.method),
			 QN_OK);
	assert_int_equal(qn_calibrate_model(&rg->m, NULL, &o), QN_EINVALID);
	assert_string_equal(rg->diags.item[0].id, "calibrate.zero-point");
}

/* The zero points at the ends of the type, and one beyond; of a symmetric symbol 0 alone. */
static void
test_calibrate_zero_points(void **state)
{
	static const struct {
		const char *symbol, *scale, *method, *why; /* why: of the error */
	} rows[] = {
		{"asym", "$s:$s", "global:scale=0.5,zero=127", NULL},
		{"asym", "$s:$s", "global:scale=0.5,zero=128", "it is outside the storage range"},
		{"asym", "$s:$s", "global:scale=0.5,zero=-128", NULL},
		{"asym", "$s:$s", "global:scale=0.5,zero=-129", "it is outside the storage range"},
		{"sym", "$s", "global:scale=0.5", NULL},
		{"sym", "$s", "global:scale=0.5,zero=1", "it is symmetric"}};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_calib_opts o = {0};
		qn_buf b;

		rig_teardown(state);
		rig_setup(state);
		qn_buf_init(&b, &rg->arena);
		qn_buff(&b,
			"model \"m\" stage symbolic\nsymbol $s : %s\n"
			"graph @main(%%x: tensor<1x2xf32>) {\n"
			"  %%q = quantize %%x : tensor<1x2x!quant.uniform<i8:f32, %s>>\n"
			"  %%y = dequantize %%q\n  return %%y\n}\n",
			rows[i].symbol, rows[i].scale);
		assert_int_equal(qn_model_parse(&rg->m, "m.qir", qn_buf_str(&b), b.n), QN_OK);
		assert_int_equal(qn_method_parse(&rg->env, &rg->arena, rows[i].method, &o.method),
				 QN_OK);
		const qn_status status = qn_calibrate_model(&rg->m, NULL, &o);
		if (rows[i].why == NULL) {
			assert_int_equal(status, QN_OK);
			continue;
		}
		assert_int_equal(status, QN_EINVALID);
		assert_string_equal(rg->diags.item[0].id, "calibrate.zero-point");
		assert_non_null(strstr(rg->diags.item[0].message, rows[i].why));
	}
}

/* One large weight among small ones: its error is worth the resolution of the others.  The range
 * of a row is that of the candidate with the least error, computed here one by one. */
static void
test_calibrate_mse_weights(void **state)
{
	enum { N = 3000 };
	double *w = QN_NEW(&rg->arena, double, N), best = 0, least = 1e30;
	qn_buf b;
	qn_calib_opts o = {.method.mse_weights = true};

	(void)state;
	qn_buf_init(&b, &rg->arena);
	qn_buf_puts(&b, "graph @main(%x: tensor<1x3000xf32>) {\n"
			"  %w = const : tensor<1x3000xf32> [");
	for (int i = 0; i < N; i++) {
		w[i] = (double)(float)(i == 7 ? 1.0 : (i % 201 - 100) / 800.0);
		qn_buff(&b, "%s%g", i > 0 ? ", " : "", w[i]);
	}
	qn_buf_puts(&b, "]\n  %y = dense %x, %w\n  return %y\n}\n");
	for (int k = 0; k < 80; k++) {
		double t = 0.3 + 0.7 * k / 79, sum = 0;

		for (int i = 0; i < N; i++) {
			double c = rint(w[i] * 127 / t);

			c = c > 127 ? 127 : c;
			sum += pow(w[i] - c * t / 127, 2);
		}
		if (sum < least) {
			least = sum;
			best = t;
		}
	}
	make_symbolic(qn_buf_str(&b));
	assert_int_equal(qn_calibrate_model(&rg->m, data("tensor<1x3000xf32>", w), &o), QN_OK);
	const qn_symbol *s = qn_symbol_find(&rg->m.types, "y.w");
	assert_true(fabs(s->vec->scale[0] - best / 127) < 1e-9);
	assert_true(best < 1.0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_calibrate_dense),           TEST(test_calibrate_needs_data),
		TEST(test_calibrate_zero_range),      TEST(test_calibrate_zeros_beside),
		TEST(test_calibrate_widens_for_bias), TEST(test_calibrate_bias_limit),
		TEST(test_calibrate_overflow),        TEST(test_calibrate_zero_points),
		TEST(test_calibrate_global),          TEST(test_calibrate_mse_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
