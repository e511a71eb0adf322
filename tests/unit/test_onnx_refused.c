/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_refused.c - nodes of ONNX files that are not read: why, and each said once. */
#include "tests/unit/onnx_rig.h"

/* A file whose graph is none is wrong, it is not beyond what is supported. */
static void
test_dangling(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,3");
	onx_node(file, "Relu", "z", "y");
	onx_output(file, "y");
	assert_int_equal(import_from(NULL, 13), QN_EINVALID);
	qn_diags_clear(&rg->env, &rg->diags);
	onx_begin(file);
	onx_input(file, "x", ONX_FLOAT, "1,3");
	onx_node(file, "Relu", "x", "y");
	onx_output(file, "z");
	assert_int_equal(import_from(NULL, 13), QN_EINVALID);
}

static void
test_refused(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,3");
	onx_node(file, "NoSuchThing", "x", "a");
	onx_node(file, "Relu", "missing", "b");
	file->domain = "far.away";
	onx_node(file, "Relu", "x", "c");
	file->domain = NULL;
	onx_node(file, "Add", "a,b", "y");
	onx_output(file, "y");
	import_fails(13, "import.op", "NoSuchThing");
	/* All problems are listed in one run, and none twice. */
	assert_int_not_equal(import_from(NULL, 13), QN_OK);
	assert_int_equal(rg->diags.n, 4);
	assert_string_equal(rg->diags.item[1].id, "import.input");
	assert_non_null(strstr(rg->diags.item[2].message, "far.away.Relu"));
	assert_string_equal(rg->diags.item[3].id, "import.behind");
	assert_non_null(strstr(rg->diags.item[3].message, "1 node after"));
	qn_diags_clear(&rg->env, &rg->diags);
	onx_begin(file);
	onx_input(file, "x", ONX_STRING, "1,3");
	onx_node(file, "Identity", "x", "y");
	onx_output(file, "y");
	import_fails(13, "import.type", "STRING");
}

/* Why an operator is not read, by its kind, and the version of its operator set. */
static void
test_refused_why(void **state)
{
	static const struct {
		const char *domain, *op, *id, *words;
	} rows[] = {
		{NULL, "Multinomial", "import.op", "random numbers"},
		{NULL, "StringNormalizer", "import.op", "works on strings"},
		{NULL, "NoSuchThing", "import.op",
		 "docs/supported-ops.md, or cut the model before it (--cut x2)"},
		{NULL, "NoSuchThing", "import.op", "version 13 of its operator set"},
		{"ai.onnx", "RandomNormal", "import.op", "make the numbers an input"},
		{"ai.onnx.ml", "Imputer", "import.op", "for trees, maps and texts"},
		{"ai.onnx.ml", "TreeEnsembleClassifier", "import.op", "products of matrices"},
		{"com.microsoft.nchwc", "Conv", "import.op", "level 'extended'"},
		{"ai.onnx.preview.training", "Adam", "import.op", "training"},
		{"com.microsoft", "QAttend", "import.op", "operator of ONNX Runtime"},
		{"com.acme", "MyMagic", "import.op", "export it as a function of the model"},
		{NULL, "Upsample", "import.version", "version 13 of its operator set"},
		{NULL, "Upsample", "import.version", "from 7 on, until a later set"},
		{NULL, "CenterCropPad", "import.version", "from 18 on; convert the model"},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		onnx_teardown(state);
		onnx_setup(state);
		onx_input(file, "x", ONX_FLOAT, "1,3");
		onx_node(file, "Relu", "x", "x2");
		file->domain = rows[i].domain;
		onx_node(file, rows[i].op, "x2", "y");
		file->domain = NULL;
		onx_output(file, "y");
		import_fails(13, rows[i].id, rows[i].words);
	}
}

/* The first node has no value before it at which the model could end. */
static void
test_refused_first(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,3");
	onx_node(file, "NoSuchThing", "x", "y");
	onx_output(file, "y");
	assert_int_not_equal(import_from(NULL, 13), QN_OK);
	assert_int_equal(rg->diags.n, 1);
	assert_null(strstr(rg->diags.item[0].message, "--cut"));
}

/* Each operator is reported once, those in a body that was not read too; what is behind is counted. */
static void
test_refused_once(void **state)
{
	static onx body;

	(void)state;
	onx_begin(&body);
	onx_node(&body, "InTheBody", "a", "t");
	onx_node(&body, "NoSuchThing", "t", "u");
	onx_output(&body, "u");
	onx_input(file, "x", ONX_FLOAT, "1,3");
	onx_node(file, "NoSuchThing", "x", "a");
	onx_node(file, "NoSuchThing", "a", "b");
	onx_node(file, "Relu", "b", "c");
	onx_body(file, "then_branch", &body);
	onx_body(file, "else_branch", &body);
	onx_node(file, "If", "c", "y");
	onx_output(file, "y");
	assert_int_not_equal(import_from(NULL, 13), QN_OK);
	assert_int_equal(rg->diags.n, 3);
	assert_non_null(strstr(rg->diags.item[0].place, "'a' (NoSuchThing, version 13)"));
	assert_non_null(strstr(rg->diags.item[0].message, "4 nodes"));
	assert_non_null(strstr(rg->diags.item[1].place, "'t' (InTheBody, version 13)"));
	assert_non_null(strstr(rg->diags.item[1].message, "2 nodes"));
	assert_non_null(strstr(rg->diags.item[2].message, "2 nodes after"));
	assert_non_null(strstr(rg->diags.item[2].message, "'c'"));
}

/* A branch in which every node reads the result of a refused node adds no error of its own. */
static void
test_body_behind(void **state)
{
	static onx body;

	(void)state;
	onx_begin(&body);
	onx_node(&body, "Relu", "a", "u");
	onx_output(&body, "u");
	onx_input(file, "x", ONX_FLOAT, "1,3");
	onx_node(file, "NoSuchThing", "x", "a");
	onx_int(file, "value_int", 1);
	onx_node(file, "Constant", "", "c");
	onx_body(file, "then_branch", &body);
	onx_body(file, "else_branch", &body);
	onx_node(file, "If", "c", "y");
	onx_output(file, "y");
	assert_int_not_equal(import_from(NULL, 13), QN_OK);
	for (size_t i = 0; i < rg->diags.n; i++)
		assert_string_not_equal(rg->diags.item[i].id, "import.output");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_dangling),      TEST(test_refused),      TEST(test_refused_why),
		TEST(test_refused_first), TEST(test_refused_once), TEST(test_body_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
