/* SPDX-License-Identifier: Apache-2.0 */
/* test_cut.c - models that end where the caller says: files of ONNX and TFLite, of which the rest is not read, and
 * graphs. */
#include "tests/unit/onnx_rig.h"

#include "passes/passes.h"
#include "tests/unit/tflite_writer.h"

static void
cut_at(size_t n, const char *const *name)
{
	how.cut = name;
	how.ncut = n;
}

/* ---- ONNX ---- */

/* y = NoSuchThing(b, z), behind a = Relu(x) and b = Neg(a), in an order of its own. */
static void
whole(void)
{
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_input(file, "z", ONX_FLOAT, "2");
	onx_node(file, "NoSuchThing", "b,z", "y");
	onx_node(file, "Neg", "a", "b");
	onx_node(file, "Relu", "x", "a");
	onx_output(file, "y");
}

static void
test_onnx(void **state)
{
	(void)state;
	whole();
	import_fails(13, "import.op", "or cut the model before it (--cut b)");
	another_file();
	whole();
	cut_at(1, (const char *const[]){"b"});
	import(13);
	assert_int_equal(rg->g->noutput, 1);
	assert_string_equal(rg->g->output[0].name, "b");
	assert_int_equal(qn_cut(&rg->m, "f", 1, how.cut), QN_OK);
	rg->g = qn_model_entry(&rg->m);
	assert_int_equal(rg->g->ninput, 1); /* z only served y */
	near(V(-3, 0), run1(V(3, -1)), 2, 0);
}

static void
test_onnx_several(void **state)
{
	(void)state;
	whole();
	cut_at(3, (const char *const[]){"b", "x", "a"});
	import(13);
	assert_int_equal(rg->g->noutput, 3);
	assert_string_equal(rg->g->output[2].name, "a");
	assert_string_equal(qn_graph_node(rg->g, rg->g->output[1].value)->name, "x");
}

static void
test_onnx_refused(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Relu", "x", "hidden");
	onx_output(file, "hidden");
	cut_at(1, (const char *const[]){"hiden"});
	import_fails(13, "import.cut", "did you mean 'hidden'?");
}

/* ---- TFLite ---- */

/* The status of a file RELU, then CUSTOM. */
static qn_status
read_tflite(void)
{
	tfl_file *t = tfl_begin();
	size_t n;
	const int x = tfl_tensor(t, "x", TFL_FLOAT32, DIMS(2), NULL, 0);
	const int a = tfl_tensor(t, "a", TFL_FLOAT32, DIMS(2), NULL, 0);
	const int z = tfl_tensor(t, "z", TFL_FLOAT32, DIMS(2), NULL, 0);
	const int y = tfl_tensor(t, "y", TFL_FLOAT32, DIMS(2), NULL, 0);

	tfl_op(t, QN_TFL_RELU, INTS(x), INTS(a));
	tfl_op(t, QN_TFL_CUSTOM, INTS(a, z), INTS(y));
	t->custom = "Detect";
	const uint8_t *bytes = tfl_end(t, INTS(x, z), INTS(y), &n);
	const qn_status status =
		qn_tflite_read(&rg->m, "f.tflite", qn_arena_copy(&rg->arena, bytes, n), n, &how);
	free(t);
	return status;
}

static void
test_tflite(void **state)
{
	(void)state;
	assert_int_not_equal(read_tflite(), QN_OK);
	another_file();
	cut_at(1, (const char *const[]){"a"});
	assert_int_equal(read_tflite(), QN_OK);
	assert_int_equal(qn_cut(&rg->m, "f", 1, how.cut), QN_OK);
	rg->g = qn_model_entry(&rg->m);
	assert_int_equal(rg->g->ninput, 1);
	near(V(3, 0), run1(V(3, -1)), 2, 0);
	another_file();
	cut_at(1, (const char *const[]){"aa"});
	assert_int_not_equal(read_tflite(), QN_OK);
	assert_string_equal(rg->diags.item[0].id, "import.cut");
}

/* ---- graphs ---- */

static const char graph[] =
	"model \"m\" graph @main(%x: tensor<2xf32>, %z: tensor<2xf32>, %h: tensor<2xf32> state) {\n"
	"  %a = relu %x\n"
	"  %n = add %h, %a\n"
	"  %b = add %n, %z\n"
	"  %parts = split %a {axis=0, sizes=[1, 1]}\n"
	"  return %b as \"y\", %n as \"hn\" to %h\n"
	"}\n";

static void
parse(void)
{
	another_file();
	if (qn_model_parse(&rg->m, "t", graph, sizeof graph - 1) != QN_OK)
		fail_msg("%s", rg->diags.item[0].message);
}

static void
refuses(size_t n, const char *const *name, const char *text)
{
	parse();
	assert_int_equal(qn_cut(&rg->m, "f", n, name), QN_EUSAGE);
	assert_string_equal(rg->diags.item[0].id, "import.cut");
	if (strstr(rg->diags.item[0].message, text) == NULL)
		fail_msg("no '%s' in '%s'", text, rg->diags.item[0].message);
}

static void
test_graphs(void **state)
{
	(void)state;
	parse();
	assert_int_equal(qn_cut(&rg->m, "f", 1, (const char *const[]){"a"}), QN_OK);
	const qn_graph *g = qn_model_entry(&rg->m);
	assert_int_equal(qn_model_verify(&rg->m), QN_OK);
	assert_int_equal(qn_graph_fed(g), 1); /* z only served y; the state stays */
	assert_int_equal(g->nstate, 1);
	assert_int_equal(qn_graph_given(g), 1);
	assert_string_equal(g->output[0].name, "a");
	assert_int_equal(qn_graph_find(g, "b"), 0);
	parse(); /* by the name of an output */
	assert_int_equal(qn_cut(&rg->m, "f", 1, (const char *const[]){"y"}), QN_OK);
	assert_int_equal(qn_graph_fed(qn_model_entry(&rg->m)), 2);
	refuses(1, (const char *const[]){"c"}, "no value is called 'c'");
	refuses(2, (const char *const[]){"a", "a"}, "'a' is there twice");
	refuses(1, (const char *const[]){"parts"}, "several results");
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, onnx_setup, onnx_teardown)
	const struct CMUnitTest tests[] = {T(test_onnx), T(test_onnx_several), T(test_onnx_refused),
					   T(test_tflite), T(test_graphs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
