/* SPDX-License-Identifier: Apache-2.0 */
/* test_lint_model.c - the warnings about samples that do not look like those of the training
 * (calibrate/lint_model.c): which layer is looked at, and from which numbers on it tells.
 *
 *   samples -1, 1   batch norm of mean 3, variance 1: nothing;   of mean 3.25: data.statistics */
#include "tests/unit/run_util.h"

#include <stdio.h>

#include "calibrate/lint.h"

enum { SAMPLES = 8, MOST = 16 };

/* Runs the warnings on a graph of one input %x : [1,n], sample i of which is i's row of v, or its number times n. */
static void
lint(const char *body, size_t n, const double *v, size_t samples)
{
	const char *name = "x";
	qn_dataset *d;
	char of[64];
	qn_buf b;

	rig_teardown(NULL);
	rig_setup(NULL);
	qn_buf_init(&b, &rg->arena);
	qn_buff(&b,
		"model \"m\" stage float\ngraph @main(%%x: tensor<1x%zuxf32>) {\n%s  return "
		"%%y\n}\n",
		n, body);
	assert_int_equal(qn_model_parse(&rg->m, "test", qn_buf_str(&b), b.n), QN_OK);
	snprintf(of, sizeof of, "tensor<%zux%zuxf32>", samples, n);
	const qn_tensor *x = tensor(type(of), v);
	const qn_graph *g = qn_model_entry(&rg->m);
	assert_int_equal(qn_dataset_arrays(g, &rg->arena, 1, &x, &name, &d), QN_OK);
	assert_int_equal(qn_lint_model(d, g, &rg->arena), QN_OK);
}

/* The one warning, or none where `want` is NULL. */
static void
expect(const char *what, const char *id, const char *want)
{
	const qn_diags *d = &rg->diags;

	if (d->n != (want != NULL))
		fail_msg("%s: %zu warnings", what, d->n);
	if (want == NULL)
		return;
	assert_string_equal(d->item[0].id, id);
	if (strstr(d->item[0].message, want) == NULL)
		fail_msg("%s: %s", what, d->item[0].message);
}

/* Means and variances of three channels of -1 and 1 against what the batch norm holds. */
static void
test_numbers(void **state)
{
	static const struct {
		const char *mean, *variance, *epsilon, *want;
	} rows[] = {
		{"0.0, 0.0, 0.0", "1.0, 1.0, 1.0", "0.0", NULL},
		{"3.0, -3.0, 3.0", "1.0, 1.0, 1.0", "0.0", NULL},
		{"-3.25, 3.25, 0.0", "1.0, 1.0, 1.0", "0.0",
		 "mean of these samples is 3.25 stored deviations away and their deviation 1.0 "
		 "times the stored one (median of 3 channels); the samples go from -1.0 to 1.0:"},
		{"9.0, 0.0, 0.0", "1.0, 1.0, 1.0", "0.0", NULL}, /* one channel of three */
		{"6.5, 6.5, 6.5", "4.0, 4.0, 4.0", "0.0",
		 "is 3.25 stored deviations away and their deviation 0.5 times"},
		{"0.0, 0.0, 0.0", "0.0625, 0.0625, 0.0625", "0.0", NULL}, /* 4 times */
		{"0.0, 0.0, 0.0", "0.04, 0.04, 1.0", "0.0",
		 "is 0.0 stored deviations away and their deviation 5.0 times"},
		{"0.0, 0.0, 0.0", "16.0, 16.0, 16.0", "0.0", NULL},
		{"0.0, 0.0, 0.0", "25.0, 1.0, 25.0", "0.0", "deviation 0.2 times"},
		/* both deviations with epsilon: sqrt(1 + 15) against sqrt(65 + 15), 1 + 15 and 100 */
		{"0.0, 0.0, 0.0", "65.0, 65.0, 65.0", "15.0", NULL},
		{"40.0, 40.0, 40.0", "85.0, 85.0, 85.0", "15.0",
		 "is 4.0 stored deviations away and their deviation 0.4 times"},
	};
	double v[3 * SAMPLES];
	char body[512];

	(void)state;
	for (int i = 0; i < 3 * SAMPLES; i++)
		v[i] = i / 3 % 2 == 0 ? 1 : -1;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		snprintf(body, sizeof body,
			 "  %%one = const : tensor<3xf32> [1.0, 1.0, 1.0]\n"
			 "  %%m = const : tensor<3xf32> [%s]\n  %%v = const : tensor<3xf32> [%s]\n"
			 "  %%y = batch_norm %%x, %%one, %%one, %%m, %%v {epsilon=%s}\n",
			 rows[i].mean, rows[i].variance, rows[i].epsilon);
		lint(body, 3, v, SAMPLES);
		expect(body, "data.statistics", rows[i].want);
		lint(body, 3, v, SAMPLES - 1); /* a trial: not looked at */
		expect(body, "data.statistics", NULL);
	}
}

#define NORM(of)                                                                                   \
	"  %one = const : tensor<2xf32> [1.0, 1.0]\n"                                              \
	"  %far = const : tensor<2xf32> [900.0, 900.0]\n"                                          \
	"  %y = batch_norm %" of ", %one, %one, %far, %one\n"
#define DENSE(y, x)                                                                                \
	"  %w" y " = const : tensor<2x2xf32> [1.0, 0.0, 0.0, 1.0]\n  %" y " = dense %" x ", %w" y  \
	"\n"
#define CONST "  %c = const : tensor<2xf32> [1.0, 2.0]\n"

/* From which values a batch norm is near enough to the input to tell of the samples. */
static void
test_near(void **state)
{
	static const struct {
		const char *body;
		bool tells;
	} rows[] = {
		{NORM("x"), true},
		{DENSE("a", "x") NORM("a"), true},
		{DENSE("a", "x") DENSE("b", "a") NORM("b"), false},
		{"  %a = relu %x\n" NORM("a"), false},
		{DENSE("a", "x") "  %b = relu %a\n" NORM("b"), false},
		{CONST "  %a = add %x, %c\n" DENSE("b", "a") NORM("b"), true},
		{CONST "  %a = add %c, %x\n" NORM("a"), true},
		{CONST "  %a = sub %x, %c\n" NORM("a"), true},
		{CONST "  %a = mul %x, %c\n" NORM("a"), true},
		{CONST "  %a = div %x, %c\n" NORM("a"), true},
		{"  %a = add %x, %x\n" NORM("a"), false},
		{CONST "  %a = maximum %x, %c\n" NORM("a"), false},
		{CONST DENSE("a", "x") "  %b = bias_add %a, %c\n" NORM("b"), true},
		{"  %a = reshape %x {shape=[2,1]}\n  %b = transpose %a {perm=[1,0]}\n" NORM("b"),
		 true},
		{"  %a = expand_dims %x {axes=[1]}\n  %b = squeeze %a {axes=[1]}\n" NORM("b"),
		 true},
		{"  %a = pad %x {before=[0,0], after=[0,0]}\n" NORM("a"), true},
		{"  %k = const : tensor<2x1x1xf32> [1.0, 1.0]\n  %t = reshape %x {shape=[1,2,1]}\n"
		 "  %a = conv1d %t, %k\n" NORM("a"),
		 true},
		{"  %k = const : tensor<2x1x1x1xf32> [1.0, 1.0]\n  %t = reshape %x "
		 "{shape=[1,2,1,1]}\n"
		 "  %a = conv2d %t, %k\n" NORM("a"),
		 true},
		{"  %k = const : tensor<2x1x1x1x1xf32> [1.0, 1.0]\n  %t = reshape %x "
		 "{shape=[1,2,1,1,1]}\n"
		 "  %a = conv3d %t, %k\n" NORM("a"),
		 true},
		{"  %k = const : tensor<2x1x1x1xf32> [1.0, 1.0]\n  %t = reshape %x "
		 "{shape=[1,2,1,1]}\n"
		 "  %a = conv2d_transpose %t, %k\n" NORM("a"),
		 true},
		/* statistics that are computed say nothing */
		{"  %one = const : tensor<2xf32> [1.0, 1.0]\n  %far = const : tensor<2xf32> "
		 "[900.0, 900.0]\n"
		 "  %v = reshape %x {shape=[2]}\n  %y = batch_norm %x, %one, %one, %far, %v\n",
		 false},
		{"  %one = const : tensor<2xf32> [1.0, 1.0]\n  %far = const : tensor<2xf32> "
		 "[900.0, 900.0]\n"
		 "  %v = reshape %x {shape=[2]}\n  %y = batch_norm %x, %one, %one, %v, %far\n",
		 false},
	};
	double v[2 * SAMPLES];

	(void)state;
	for (int i = 0; i < 2 * SAMPLES; i++)
		v[i] = i / 2 % 2 == 0 ? 0.5 : -0.5;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		lint(rows[i].body, 2, v, SAMPLES);
		expect(rows[i].body, "data.statistics", rows[i].tells ? "deviations away" : NULL);
	}
}

/* Without a batch norm: whole numbers as pixels have them, of which the first layer makes large values. */
static void
test_pixels(void **state)
{
	static const struct {
		double low, high;
		const char
			*weight; /* of the layer, in which the square mean of the samples is seen */
		const char *want;
	} rows[] = {
		{0, 255, "1.0",
		 "integers from 0.0 to 255.0, and the first layer 'y' computes values of 180.31 "},
		{0, 64, "1.0",
		 "from 0.0 to 64.0, and the first layer 'y' computes values of 45.25 "},
		{0, 63, "1.0", NULL},
		{0, 256, "1.0", NULL},
		{0, 510, "1.0", "multiples of 255 from 0.0 to 510.0"}, /* --input-scale 255 */
		{255, 65025, "1.0", "multiples of 255 from 255.0 to 65025.0"},
		{254, 65025, "1.0", NULL},
		{-255, 65025, "1.0", NULL},
		{-1, 255, "1.0", NULL},
		{64, 64, "0.5", NULL}, /* 32 */
		{64, 64, "0.515625", "computes values of 33.0 "},
		{0, 254.5, "1.0", NULL},
		{0.5, 255, "1.0", NULL},
	};
	double v[2 * SAMPLES];
	char body[256];

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		for (int k = 0; k < 2 * SAMPLES; k++)
			v[k] = k / 2 % 2 == 0 ? rows[i].low : rows[i].high;
		snprintf(body, sizeof body,
			 "  %%w = const : tensor<2x2xf32> [%s, 0.0, 0.0, %s]\n"
			 "  %%y = dense %%x, %%w\n",
			 rows[i].weight, rows[i].weight);
		lint(body, 2, v, SAMPLES);
		expect(rows[i].want != NULL ? rows[i].want : body, "data.range", rows[i].want);
	}
	v[0] = 255;
	lint("  %y = relu %x\n", 2, v, SAMPLES); /* no layer to look at */
	assert_int_equal(rg->diags.n, 0);
}

/* Of many samples some are run, from the first to the last quarter: what half of them are counts half. */
static void
test_many(void **state)
{
	enum { MANY = 4 * QN_LINT_BATCHES };
	static double v[2 * MANY];

	(void)state;
	for (int i = 0; i < 2 * MANY; i++)
		v[i] = i < MANY ? 800 : 900;
	lint(NORM("x"), 2, v, MANY);
	expect("many", "data.statistics",
	       "is 50.0 stored deviations away and their deviation 50.0 times");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_numbers, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_near, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_pixels, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_many, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
