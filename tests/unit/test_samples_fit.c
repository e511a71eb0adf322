/* SPDX-License-Identifier: Apache-2.0 */
/* test_samples_fit.c - which samples an input takes, by their shape and type, and as which batches. */
#include "tests/unit/run_util.h"

#include "calibrate/dataset.h"

typedef struct row {
	const char *input, *samples, *id; /* id NULL: taken */
	bool channels_last;               /* the message says how to turn them */
} row;

static const row rows[] = {
	{"tensor<1x3x4x5xf32>", "tensor<6x3x4x5xf32>", NULL, false},
	{"tensor<1x3x4x5xf32>", "tensor<6x4x5x3xf32>", "data.shape", true},
	{"tensor<1x3x4x5xf32>", "tensor<6x5x4x3xf32>", "data.shape", false},
	{"tensor<1x3x4x5xf32>", "tensor<6x4x3x5xf32>", "data.shape", false},
	{"tensor<1x3x4x5xf32>", "tensor<6x4x5x2xf32>", "data.shape", false},
	{"tensor<1x3x4x5xf32>", "tensor<6x4x2x3xf32>", "data.shape", false},
	{"tensor<1x3x4x5xf32>", "tensor<6x2x5x3xf32>", "data.shape", false},
	{"tensor<1x3x4x5x1xf32>", "tensor<6x4x5x3xf32>", "data.shape", false},
	{"tensor<1x3x4xf32>", "tensor<6x4x3xf32>", "data.shape", false},
	{"tensor<1x2xf32>", "tensor<0x2xf32>", "data.empty", false},
	{"tensor<2x2xf32>", "tensor<3x2xf32>", "data.remainder", false},
	{"tensor<2x2xf32>", "tensor<4x2xf32>", NULL, false},
	{"tensor<1x2xf32>", "tensor<4x2xf64>", NULL, false},
	{"tensor<1x2xf32>", "tensor<4x2xi8>", "data.type", false},
	{"tensor<1x2xi32>", "tensor<4x2xi32>", NULL, false},
	{"tensor<1x2xi32>", "tensor<4x2xf32>", "data.type", false},
	{"tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<4x2xf32>", NULL, false},
	{"tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<4x2xf64>", NULL, false},
	{"tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<4x2xi8>", NULL, false},
	{"tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<4x2xu8>", "data.type", false},
	{"tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<4x2xi32>", "data.type", false},
};

static void
test_rows(void **state)
{
	static const double zeros[6 * 3 * 4 * 5] = {0};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		const row *r = &rows[i];
		const char *name = "x";
		qn_dataset *d;

		rig_teardown(state);
		rig_setup(state);
		output(input("x", r->input));
		const qn_tensor *x = tensor(type(r->samples), zeros);
		const qn_status status = qn_dataset_arrays(rg->g, &rg->arena, 1, &x, &name, &d);
		const char *id = rg->diags.n > 0 ? rg->diags.item[0].id : "none";
		if ((status == QN_OK) != (r->id == NULL) ||
		    (r->id != NULL && strcmp(id, r->id) != 0))
			fail_msg("%s of %s: %s", r->samples, r->input, id);
		if (r->id != NULL)
			assert_int_equal(strstr(rg->diags.item[0].message, "transpose") != NULL,
					 r->channels_last);
	}
}

/* Batch i has the samples from i times the batch on, in any order of asking; real values become those of the input. */
static void
test_order(void **state)
{
	static const struct {
		const char *input, *samples;
		double scale, zp; /* of what comes in, of what went in */
	} kinds[] = {{"tensor<2x2xf32>", "tensor<6x2xf32>", 1, 0},
		     {"tensor<2x2xf32>", "tensor<6x2xf64>", 1, 0},
		     {"tensor<2x2xi32>", "tensor<6x2xi32>", 1, 0},
		     {"tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<6x2xi8>", 1, 0},
		     {"tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<6x2xf32>", 2, 3}};
	static const size_t order[] = {2, 0, 1, 2};
	double v[12];

	for (int i = 0; i < 12; i++)
		v[i] = i - 4;
	for (size_t k = 0; k < QN_COUNT(kinds); k++) {
		const char *name = "x";
		qn_dataset *d;

		rig_teardown(state);
		rig_setup(state);
		output(input("x", kinds[k].input));
		const qn_tensor *x = tensor(type(kinds[k].samples), v);
		assert_int_equal(qn_dataset_arrays(rg->g, &rg->arena, 1, &x, &name, &d), QN_OK);
		assert_int_equal(d->nbatch, 3);
		for (size_t o = 0; o < QN_COUNT(order); o++) {
			const qn_tensor *const *in;

			assert_int_equal(d->get(d, order[o], &rg->arena, &in), QN_OK);
			for (int i = 0; i < 4; i++)
				assert_true(qn_tensor_f64(in[0], i) ==
					    v[4 * order[o] + (size_t)i] * kinds[k].scale +
						    kinds[k].zp);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_order, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
