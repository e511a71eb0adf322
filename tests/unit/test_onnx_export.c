/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_export.c - graphs that are written to ONNX and read back compute the same: every operator of the
 * writer, in real numbers and in codes. */
#include "tests/unit/onnx_export_rig.h"

#include <stdlib.h>

#include "formats/file.h"
#include "passes/passes.h"

/* Takes the key away under which the file holds the graph itself. */
static void
forget(qn_buf *b)
{
	static const char key[] = "quern.graph";
	size_t found = 0;

	for (size_t i = 0; i + sizeof key < b->n; i++)
		if (memcmp(b->data + i, key, sizeof key - 1) == 0) {
			b->data[i] = 'Q';
			found++;
		}
	assert_int_equal(found, 1);
}

/* Writes the graph and reads the operators of the file into a model of its own, which becomes the test's. */
static void
through_onnx(void)
{
	qn_buf b = written();

	forget(&b);
	qn_model *back = read_back(&b);
	assert_int_equal(qn_axes(back), QN_OK);
	rg->m = *back;
	qn_status status = qn_model_verify(&rg->m);
	no_errors();
	assert_int_equal(status, QN_OK);
	rg->g = qn_model_entry(&rg->m);
}

/* All outputs one after the other, on inputs of small numbers. */
static double *
results(int64_t *n)
{
	const qn_tensor *x[4];
	qn_interp *in = interp();
	double *y = QN_NEW(&rg->arena, double, 1 << 16);

	rg->seed = 5;
	*n = 0;
	for (size_t i = 0; i < rg->g->ninput; i++) {
		const qn_type *t = qn_graph_node(rg->g, rg->g->input[i])->type;
		int64_t count = qn_type_count(t);

		x[i] = tensor(t, qn_elem_is_float(t->elem) ? reals(count) : codes(count, 0, 100));
	}
	assert_int_equal(qn_interp_run(in, x, NULL, NULL), QN_OK);
	for (size_t k = 0; k < rg->g->noutput; k++) {
		const qn_tensor *t = qn_interp_output(in, k);

		for (int64_t i = 0; i < qn_type_count(t->type); i++)
			y[(*n)++] = qn_tensor_f64(t, i);
	}
	return y;
}

static void
keeps(const char *text, double bound)
{
	int64_t n, again;

	read_text(text);
	is_the_same();
	const double *want = results(&n);
	size_t noutput = rg->g->noutput;
	const char *const first = rg->g->output[0].name;
	through_onnx();
	assert_int_equal(rg->g->noutput, noutput);
	assert_string_equal(rg->g->output[0].name, first);
	const double *have = results(&again);
	assert_int_equal(n, again);
	near(want, have, n, bound);
}

/* The graphs of tests/export, which scripts/check-onnxruntime takes too: every operator that is written. */
static const struct {
	const char *name;
	double bound; /* of quantized values, where there are some */
} files[] = {
	{"elements", 1e-5}, {"integers", 0},     {"moves", 1e-6},   {"norms", 1e-5},
	{"places", 0},      {"scatter18", 0},    {"dynamic", 1e-6}, {"set20", 1e-5},
	{"windows", 1e-5},  {"quantized", 0},    {"sums", 0},       {"wide", 0},
	{"order", 1e-5},    {"order_end", 1e-5},
};

static const char *
file_text(const char *name)
{
	const char *text;
	qn_buf path;
	size_t n;

	qn_buf_init(&path, &rg->arena);
	qn_buff(&path, "%s/tests/export/%s.qir", getenv("QUERN_SOURCE"), name);
	assert_int_equal(qn_file_map(&rg->arena, qn_buf_str(&path), &text, &n), QN_OK);
	return qn_arena_strn(&rg->arena, text, n);
}

static void
test_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(files); i++) {
		print_message("%s\n", files[i].name);
		keeps(file_text(files[i].name), files[i].bound);
	}
}

/* Element-wise functions, by their rows in ir/ops.def. */
static const struct {
	qn_op op;
	const char *name;
} functions[] = {
#define FUNCTION(name, attributes, behaviour, types, value, facts) {QN_OP_##name, #name},
#include "ir/ops.def"
};

static void
test_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(functions); i++) {
		qn_buf b;

		print_message("%s\n", functions[i].name);
		qn_buf_init(&b, &rg->arena);
		qn_buff(&b,
			"model \"test\" stage float\ngraph @main(%%x: tensor<1x4xf32>) {\n"
			"  %%y = %s %%x\n  return %%y\n}\n",
			functions[i].name);
		if (qn_onnx_out_how(functions[i].op).name != NULL)
			keeps(qn_buf_str(&b), 1e-6);
	}
}

/* Every operator of ir/ops.def either is written with one of ONNX, and a test above has it, or there is a reason. */
static void
test_every_op(void **state)
{
	bool seen[QN_NOP] = {0};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(files); i++) {
		read_text(file_text(files[i].name));
		for (qn_id id = 1; id < rg->g->n; id++)
			seen[qn_graph_node(rg->g, id)->op] = true;
	}
	for (size_t i = 0; i < QN_COUNT(functions); i++)
		seen[functions[i].op] = true;
	for (int op = 0; op < QN_NOP; op++) {
		const qn_onnx_export_row how = qn_onnx_out_how((qn_op)op);

		if ((how.name != NULL) == (how.why != NULL))
			fail_msg("%s: a row in import/onnx_*.c, or a reason in onnx_write_op.c",
				 qn_opinfo_get((qn_op)op)->name);
		if (how.name != NULL && !seen[op])
			fail_msg("%s: a node in a file of tests/export",
				 qn_opinfo_get((qn_op)op)->name);
	}
}

static void
test_refused(void **state)
{
	qn_buf b;

	(void)state;
	read_text("graph @main(%x: tensor<2x3xi8>) {\n"
		  "  %t = const : tensor<i8> [2]\n  %s = shift_left %x, %t\n  return %s\n}\n");
	qn_buf_init(&b, &rg->arena);
	assert_int_equal(qn_onnx_write(&rg->m, &b), QN_EUNSUPPORTED);
	assert_string_equal(rg->diags.item[0].id, "export.op");
	assert_non_null(strstr(rg->diags.item[0].message, "shift_left 's'"));
	assert_non_null(strstr(rg->diags.item[0].message, "unsigned"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_files),
		TEST(test_functions),
		TEST(test_every_op),
		TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
