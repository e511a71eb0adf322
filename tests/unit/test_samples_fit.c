/* SPDX-License-Identifier: Apache-2.0 */
/* test_samples_fit.c - which samples an input takes: their shape and type, each a row. */
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
