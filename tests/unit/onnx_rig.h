/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_rig.h - reads a file of onnx_writer.h into the model of a test and runs it.
 *
 *   import(13);                                of operator set 13, no problems
 *   GIVES(V(1, 2), 0, 3, 4);                   a run on 1, 2 gives 3, 4, exactly
 *   import_fails(13, "import.op", "Loop"); */
#ifndef TESTS_UNIT_ONNX_RIG_H
#define TESTS_UNIT_ONNX_RIG_H

#include "tests/unit/run_util.h"

#include "import/import.h"
#include "tests/unit/onnx_writer.h"

static onx *file;
static qn_import_how how;

static inline int
onnx_setup(void **state)
{
	file = calloc(1, sizeof *file);
	how = (qn_import_how){0};
	onx_begin(file);
	return rig_setup(state);
}

static inline int
onnx_teardown(void **state)
{
	free(file);
	return rig_teardown(state);
}

static inline void
another_file(void)
{
	onx_begin(file);
	(void)rig_teardown(NULL);
	(void)rig_setup(NULL);
}

static inline qn_status
import_from(const char *folder, int64_t version)
{
	size_t n;
	const uint8_t *bytes = onx_end(file, version, &n);
	void *copy = qn_arena_copy(&rg->arena, bytes, n);
	qn_status status = qn_onnx_read(&rg->m, "f.onnx", folder, copy, n, &how);

	if (status == QN_OK)
		status = qn_model_verify(&rg->m);
	if (status == QN_OK)
		rg->g = qn_model_entry(&rg->m);
	return status;
}

static inline void
import(int64_t version)
{
	qn_status status = import_from(NULL, version);

	no_errors();
	assert_int_equal(status, QN_OK);
}

static inline void
import_fails(int64_t version, const char *id, const char *text)
{
	assert_int_not_equal(import_from(NULL, version), QN_OK);
	for (size_t i = 0; i < rg->diags.n; i++)
		if (strcmp(rg->diags.item[i].id, id) == 0 &&
		    (strstr(rg->diags.item[i].message, text) != NULL ||
		     strstr(rg->diags.item[i].place, text) != NULL)) {
			qn_diags_clear(&rg->env, &rg->diags);
			return;
		}
	assert_true(rg->diags.n > 0);
	fail_msg("no %s with '%s' but %s: %s: %s", id, text, rg->diags.item[0].id,
		 rg->diags.item[0].place, rg->diags.item[0].message);
}

static inline void
input_is(size_t k, const char *text)
{
	assert_ptr_equal(qn_graph_node(rg->g, rg->g->input[k])->type, type(text));
}

static inline void
output_is(const char *text)
{
	assert_ptr_equal(qn_graph_node(rg->g, rg->g->output[0].value)->type, type(text));
}

#define GIVES(x, bound, ...)                                                                       \
	near((const double[]){__VA_ARGS__}, run1(x),                                               \
	     (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), bound)
#define V(...) ((const double[]){__VA_ARGS__})

#define TEST(f) cmocka_unit_test_setup_teardown(f, onnx_setup, onnx_teardown)

#endif
