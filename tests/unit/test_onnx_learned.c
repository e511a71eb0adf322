/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_learned.c - the domain ai.onnx.ml, as scikit-learn's models are exported, with numbers computed by hand. */
#include "tests/unit/onnx_rig.h"

#include <string.h>

static void
learned(const char *op, const char *in, const char *out)
{
	file->domain = "ai.onnx.ml";
	onx_node(file, op, in, out);
	file->domain = NULL;
}

static void
test_features(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,2");
	onx_reals(file, "offset", 2, (const float[]){1, 2});
	onx_reals(file, "scale", 2, (const float[]){2, 0.5f});
	learned("Scaler", "x", "y");
	onx_output(file, "y");
	import(17);
	GIVES(V(3, 4), 0, 4, 1);

	another_file();
	onx_input(file, "x", ONX_INT64, "1,2");
	onx_reals(file, "offset", 1, (const float[]){0.5f});
	onx_reals(file, "scale", 1, (const float[]){2});
	learned("Scaler", "x", "y");
	onx_output(file, "y");
	import(17);
	GIVES(V(3, 4), 0, 5, 7);

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,3");
	onx_real(file, "threshold", 0.5f);
	learned("Binarizer", "x", "y");
	onx_output(file, "y");
	import(17);
	GIVES(V(0.5, 0.75, -1), 0, 0, 1, 0);
}

static void
test_normalizer(void **state)
{
	static const struct {
		const char *norm;
		double x[2], want[2];
	} rows[] = {{"L1", {1, -3}, {0.25, -0.75}}, {"L1", {0, 0}, {0, 0}},
		    {"L2", {3, -4}, {0.6, -0.8}},   {"L2", {0, 0}, {0, 0}},
		    {"MAX", {1, 4}, {0.25, 1}},     {"MAX", {-1, -2}, {1, 2}},
		    {"MAX", {0, -2}, {0, -2}},      {NULL, {1, 4}, {0.25, 1}}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,2");
		if (rows[i].norm != NULL)
			onx_string(file, "norm", rows[i].norm);
		learned("Normalizer", "x", "y");
		onx_output(file, "y");
		import(17);
		near(rows[i].want, run1(rows[i].x), 2, 1e-6);
	}
}

static void
test_extractor(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2,3");
	onx_ints64(file, "at", "1,2", (const int64_t[]){2, 0});
	learned("ArrayFeatureExtractor", "x,at", "y");
	onx_output(file, "y");
	import(17);
	output_is("tensor<2x2xf32>");
	GIVES(V(1, 2, 3, 4, 5, 6), 0, 3, 1, 6, 4);

	another_file();
	onx_input(file, "x", ONX_FLOAT, "3");
	onx_ints64(file, "at", "1", (const int64_t[]){1});
	learned("ArrayFeatureExtractor", "x,at", "y");
	onx_output(file, "y");
	import(17);
	output_is("tensor<1x1xf32>");
	GIVES(V(1, 2, 3), 0, 2);
}

static void
test_regressor(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,2");
	onx_reals(file, "coefficients", 4, (const float[]){1, 2, 3, -4});
	onx_reals(file, "intercepts", 2, (const float[]){10, 20});
	onx_int(file, "targets", 2);
	learned("LinearRegressor", "x", "y");
	onx_output(file, "y");
	import(17);
	GIVES(V(5, 6), 0, 27, 11);

	another_file();
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_reals(file, "coefficients", 2, (const float[]){1, 2});
	learned("LinearRegressor", "x", "y");
	onx_output(file, "y");
	import(17);
	output_is("tensor<1x1xf32>");
	GIVES(V(5, 6), 0, 17);
}

/* Scores x and 1 - x of one feature, or the score of the second class. */
static void
test_classifier(void **state)
{
	static const struct {
		const char *how;
		int rows;
		double want[3]; /* label, numbers */
	} rows[] = {{"NONE", 2, {7, 0, 1}},
		    {"SOFTMAX", 2, {7, 0.2689414214, 0.7310585786}},
		    {"LOGISTIC", 2, {7, 0.5, 0.7310585786}},
		    {"LOGISTIC", 1, {3, 0.5, 0.5}}};

	(void)state;
	for (size_t i = 0; i < 2 * QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,1");
		onx_reals(file, "coefficients", rows[i / 2].rows, (const float[]){1, -1});
		onx_reals(file, "intercepts", rows[i / 2].rows, (const float[]){0, 1});
		onx_list(file, "classlabels_ints", 2, (const int64_t[]){3, 7});
		onx_string(file, "post_transform", rows[i / 2].how);
		learned("LinearClassifier", "x", "label,p");
		learned("ZipMap", "p", "map");
		onx_output(file, i % 2 == 0 ? "label" : "map");
		import(17);
		output_is(i % 2 == 0 ? "tensor<1xi64>" : "tensor<1x2xf32>");
		near(rows[i / 2].want + i % 2, run1(V(0)), 1 + (int64_t)(i % 2), 1e-6);
	}

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,1");
	onx_reals(file, "coefficients", 3, (const float[]){1, -1, 2});
	onx_strings(file, "classlabels_strings", 3, (const char *const[]){"ant", "bee", "cat"});
	learned("LinearClassifier", "x", "label,p");
	onx_output(file, "label");
	import(17);
	GIVES(V(3), 0, 2);
}

/* y: the label of the larger of two values, as a float on the way. */
static void
label(const char *x, int elem, const void *classes)
{
	onx_int(file, "axis", 1);
	onx_node(file, "ArgMax", x, "k");
	onx_tensor(file, "classes", elem, "2", classes, elem == ONX_INT64 ? 16 : 8);
	learned("ArrayFeatureExtractor", "classes,k", "c");
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "c", "f");
	onx_ints64(file, "shape", "1", (const int64_t[]){-1});
	onx_node(file, "Reshape", "f,shape", "r");
	onx_int(file, "to", ONX_INT64);
	onx_node(file, "Cast", "r", "y");
	onx_output(file, "y");
}

/* Whether a value is f32 that is not the input or what stands for it, which has two elements. */
static bool
has_float_label(void)
{
	bool has = false;

	for (qn_id id = 1; id < rg->g->n; id++) {
		const qn_type *t = qn_graph_node(rg->g, id)->type;

		has = has || (qn_type_is_f32(t) && qn_type_count(t) != 2);
	}
	return has;
}

/* The label of a classifier is a float value on the way only where f32 does not have it. */
static void
test_labels(void **state)
{
	static const struct {
		int64_t classes[2];
		bool floats;
	} rows[] = {{{5, 16777216}, false}, {{5, 16777217}, true}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,2");
		label("x", ONX_INT64, rows[i].classes);
		import(17);
		output_is("tensor<1xi64>");
		GIVES(V(1, 2), 0, 16777216);
		assert_int_equal(has_float_label(), rows[i].floats);
	}
	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,2");
	onx_floats(file, "s", "", (const float[]){0.5f});
	onx_node(file, "QuantizeLinear", "x,s", "q");
	onx_node(file, "DequantizeLinear", "q,s", "d");
	label("d", ONX_INT32, (const int32_t[]){5, 9});
	import(17);
	GIVES(V(1, 2), 0, 9);
	assert_false(has_float_label());
}

static void
test_refused(void **state)
{
	static const struct {
		const char *op;
		int numbers;
		const char *how, *text;
	} rows[] = {{"Scaler", 3, "NONE", "offset has 3 numbers, the input 2 features"},
		    {"LinearRegressor", 3, "NONE", "3 coefficients and 0 intercepts"},
		    {"LinearRegressor", 2, "PROBIT", "post_transform is PROBIT"},
		    {"LinearClassifier", 6, "NONE", "3 rows of coefficients for 2 classes"},
		    {"LinearClassifier", 2, "NONE", "not LOGISTIC"}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,2");
		onx_reals(file, strcmp(rows[i].op, "Scaler") == 0 ? "offset" : "coefficients",
			  rows[i].numbers, (const float[6]){1});
		onx_list(file, "classlabels_ints", 2, (const int64_t[]){3, 7});
		onx_string(file, "post_transform", rows[i].how);
		learned(rows[i].op, "x", "y");
		onx_output(file, "y");
		import_fails(17, "import.attr", rows[i].text);
	}
}

/* An input without dimensions has no features. */
static void
test_single_number(void **state)
{
	static const char *const ops[] = {"Scaler", "Normalizer", "LinearRegressor",
					  "LinearClassifier"};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(ops); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "");
		onx_reals(file, i == 0 ? "offset" : "coefficients", 2, (const float[]){1, 2});
		onx_list(file, "classlabels_ints", 2, (const int64_t[]){3, 7});
		learned(ops[i], "x", "y");
		onx_output(file, "y");
		import_fails(17, "import.input", "a single number, not a row of features");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_features),  TEST(test_single_number), TEST(test_normalizer),
		TEST(test_extractor), TEST(test_regressor),     TEST(test_classifier),
		TEST(test_labels),    TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
