/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_rig.h - reads a file of tflite_writer.h into the model of a test and runs it.
 *
 *   import(INTS(x), INTS(y));                  no problems
 *   near(want, run1(values), n, 0);            of run_util.h
 *   import_fails(INTS(x), INTS(y), "import.op", "LSTM"); */
#ifndef TESTS_UNIT_TFLITE_RIG_H
#define TESTS_UNIT_TFLITE_RIG_H

#include "tests/unit/run_util.h"

#include "import/import.h"
#include "tests/unit/tflite_writer.h"

static tfl_file *file;
static qn_import_how reading;

static inline int
tflite_setup(void **state)
{
	reading = (qn_import_how){0};
	file = tfl_begin();
	return rig_setup(state);
}

static inline int
tflite_teardown(void **state)
{
	free(file);
	return rig_teardown(state);
}

static inline qn_status
import_bytes(const void *bytes, size_t n)
{
	qn_status status = qn_tflite_read(&rg->m, "f.tflite", bytes, n, &reading);

	if (status == QN_OK)
		status = qn_model_verify(&rg->m);
	if (status == QN_OK)
		rg->g = qn_model_entry(&rg->m);
	return status;
}

static inline void
import(int nin, const int32_t *in, int nout, const int32_t *out)
{
	size_t n;
	const uint8_t *bytes = tfl_end(file, nin, in, nout, out, &n);
	/* behind it nothing can be read unnoticed */
	void *copy = qn_arena_copy(&rg->arena, bytes, n);
	qn_status status = import_bytes(copy, n);

	no_errors();
	assert_int_equal(status, QN_OK);
}

static inline void
import_fails(int nin, const int32_t *in, int nout, const int32_t *out, const char *id,
	     const char *text)
{
	size_t n;
	const uint8_t *bytes = tfl_end(file, nin, in, nout, out, &n);

	assert_int_not_equal(import_bytes(bytes, n), QN_OK);
	assert_true(rg->diags.n > 0);
	for (size_t i = 0; i < rg->diags.n; i++)
		if (strcmp(rg->diags.item[i].id, id) == 0 &&
		    (strstr(rg->diags.item[i].message, text) != NULL ||
		     strstr(rg->diags.item[i].place, text) != NULL)) {
			qn_diags_clear(&rg->env, &rg->diags);
			return;
		}
	fail_msg("no %s with '%s' but %s: %s: %s", id, text, rg->diags.item[0].id,
		 rg->diags.item[0].place, rg->diags.item[0].message);
}

/* Element i of the only output of a run over n outputs, as doubles: compares exactly. */
static inline void
gives(const double *x, int n, const double *want)
{
	near(want, run1(x), n, 0);
}

#define V(...) ((const double[]){__VA_ARGS__})
#define GIVES(x, ...)                                                                              \
	gives(x, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), V(__VA_ARGS__))

#endif
