/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_export_rig.h - writes the graph of a test to ONNX and reads it back.
 *
 *   read_text("graph @main(…) {…}");
 *   qn_buf b = written();             the file
 *   qn_model *back = read_back(&b);
 *   is_the_same();                    both steps: nothing was lost on the way */
#ifndef TESTS_UNIT_ONNX_EXPORT_RIG_H
#define TESTS_UNIT_ONNX_EXPORT_RIG_H

#include "tests/unit/run_util.h"

#include "import/import.h"
#include "import/onnx_write.h"

static inline void
read_text(const char *text)
{
	qn_model_init(&rg->m, &rg->env, &rg->arena, "test");
	qn_status status = qn_model_parse(&rg->m, "test", text, strlen(text));

	no_errors();
	assert_int_equal(status, QN_OK);
	rg->g = qn_model_entry(&rg->m);
}

/* The file of the graph. */
static inline qn_buf
written(void)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_status status = qn_onnx_write(&rg->m, &b);
	no_errors();
	assert_int_equal(status, QN_OK);
	return b;
}

static inline qn_model *
read_back(const qn_buf *b)
{
	const qn_import_how how = {0};
	qn_model *back = QN_NEW(&rg->arena, qn_model, 1);

	qn_model_init(back, &rg->env, &rg->arena, "test");
	qn_status status = qn_onnx_read(back, "back.onnx", NULL, b->data, b->n, &how);
	no_errors();
	assert_int_equal(status, QN_OK);
	return back;
}

static inline const char *
text_of(const qn_graph *g)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_graph_print(&b, g);
	return qn_buf_str(&b);
}

/* What is read is what was written: names, order, types and values. */
static inline void
is_the_same(void)
{
	const qn_buf b = written();
	qn_model *back = read_back(&b);
	const qn_graph *g = qn_onnx_out_graph(&rg->m);

	assert_string_equal(text_of(qn_model_entry(back)), text_of(g));
	assert_true(qn_graph_equal(qn_model_entry(back), g));
	assert_int_equal(back->stage, rg->m.stage);
	assert_int_equal(back->rounding, rg->m.rounding);
	assert_string_equal(back->options, rg->m.options);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

#endif
