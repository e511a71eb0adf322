/* SPDX-License-Identifier: Apache-2.0 */
/* test_calibrate_data.c - data sets, and what observers keep of the values they see. */
#include "tests/unit/calibrate_rig.h"

#include <math.h>

#include "calibrate/observer.h"

/* ---- observers ---- */

static qn_observer *
observer(void)
{
	qn_observer *o = QN_NEW(&rg->arena, qn_observer, 1);

	o->bin = QN_NEW(&rg->arena, uint64_t, QN_HIST_BINS);
	return o;
}

static void
same_observer(const qn_observer *a, const qn_observer *b)
{
	assert_int_equal(a->n, b->n);
	assert_true(a->min >= b->min && a->min <= b->min && a->max >= b->max && a->max <= b->max);
	assert_int_equal(a->has_grid, b->has_grid);
	assert_int_equal(a->exponent, b->exponent);
	assert_memory_equal(a->bin, b->bin, QN_HIST_BINS * sizeof *a->bin);
}

static float *
samples(size_t n, double scale)
{
	float *v = QN_NEW(&rg->arena, float, n);

	for (size_t i = 0; i < n; i++)
		v[i] = (float)(real() * scale);
	return v;
}

/* The grid is that of the values whatever their order, and a merge of parts is the whole. */
static void
test_observer_order(void **state)
{
	enum { N = 5000 };
	(void)state;
	for (int round = 0; round < 20; round++) {
		float *v = samples(N, ldexp(1.0, (int)pick(-20, 20)));
		qn_observer *whole = observer(), *back = observer(),
			    *part[2] = {observer(), observer()};

		v[pick(0, N - 1)] *= 1000.0f; /* one value that makes the grid coarser on the way */
		v[pick(0, N - 1)] = 0.0f;
		qn_observer_add(whole, 0, v, N);
		for (int i = N; i-- > 0;)
			qn_observer_add(back, 0, &v[i], 1);
		size_t cut = (size_t)pick(0, N);
		qn_observer_add(part[0], 0, v, cut);
		qn_observer_add(part[1], 0, v + cut, N - cut);
		qn_observer_merge(part[1], part[0]);
		same_observer(whole, back);
		same_observer(whole, part[1]);
	}
}

static void
test_observer_edges(void **state)
{
	const float minus_two_powers[] = {-2048.0f, -1.0f};
	const float tiny[] = {1e-45f, -1e-45f, 3e38f, -3e38f};
	qn_observer *o = observer();

	(void)state;
	qn_observer_add(o, 0, minus_two_powers, 2);
	assert_int_equal(o->exponent, 0); /* -2048 is bin -2048 of width 1 */
	assert_int_equal(o->bin[0], 1);
	o = observer();
	qn_observer_add(o, 0, tiny, 4);
	assert_int_equal(o->n, 4);
	uint64_t total = 0;
	for (int i = 0; i < QN_HIST_BINS; i++)
		total += o->bin[i];
	assert_int_equal(total, 4);
}

/* ---- data sets ---- */

static void
expect_bad_data(const char *type_text, const double *v, const char *id)
{
	const qn_tensor *x[1] = {tensor(type(type_text), v)};
	const char *names[1] = {"samples.npy"};
	qn_dataset *d;

	assert_int_equal(qn_dataset_arrays(qn_model_entry(&rg->m), &rg->arena, 1, x, names, &d),
			 QN_EINVALID);
	assert_string_equal(rg->diags.item[0].id, id);
	assert_string_equal(rg->diags.item[0].place, "samples.npy");
	qn_diags_clear(&rg->env, &rg->diags);
}

static void
test_dataset_errors(void **state)
{
	const double v[8] = {0, 1, 2, 3, 4, (double)NAN, 6, 7};
	const char text[] = "graph @main(%x: tensor<2x2xf32>) {\n  %y = relu %x\n  return %y\n}\n";

	(void)state;
	assert_int_equal(qn_model_parse(&rg->m, "test", text, strlen(text)), QN_OK);
	expect_bad_data("tensor<2x2xi8>", v, "data.type");
	expect_bad_data("tensor<2x3xf32>", v, "data.shape");
	expect_bad_data("tensor<4xf32>", v, "data.shape");
	expect_bad_data("tensor<0x2xf32>", v, "data.empty");
	expect_bad_data("tensor<3x2xf32>", v, "data.remainder");
	expect_bad_data("tensor<4x2xf32>", v, "data.nonfinite");
}

static void
test_dataset_doubles(void **state)
{
	const double v[4] = {0.1, 1, 2, 3};
	const char text[] = "graph @main(%x: tensor<1x2xf32>) {\n  %y = relu %x\n  return %y\n}\n";
	const qn_tensor *const *x;

	(void)state;
	assert_int_equal(qn_model_parse(&rg->m, "test", text, strlen(text)), QN_OK);
	qn_dataset *d = data("tensor<2x2xf64>", v);
	assert_int_equal(d->nbatch, 2);
	assert_int_equal(d->get(d, 0, &rg->arena, &x), QN_OK);
	assert_true(qn_tensor_f64(x[0], 0) == (double)0.1f);
	assert_int_equal(d->get(d, 1, &rg->arena, &x), QN_OK);
	assert_true(qn_tensor_f64(x[0], 0) == 2.0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_observer_order),
		TEST(test_observer_edges),
		TEST(test_dataset_errors),
		TEST(test_dataset_doubles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
