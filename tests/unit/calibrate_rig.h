/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_rig.h - samples of one array for the model of a test. */
#ifndef TESTS_UNIT_CALIBRATE_RIG_H
#define TESTS_UNIT_CALIBRATE_RIG_H

#include "tests/unit/run_util.h"

#include "calibrate/calibrate.h"

static inline qn_dataset *
data(const char *type_text, const double *v)
{
	const qn_tensor *x[1] = {tensor(type(type_text), v)};
	const char *names[1] = {"samples"};
	qn_dataset *d;

	assert_int_equal(qn_dataset_arrays(qn_model_entry(&rg->m), &rg->arena, 1, x, names, &d),
			 QN_OK);
	return d;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

#endif
